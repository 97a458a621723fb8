"""A tiny recipe and a tiny data set, for tests of the runner."""

import rankwood as rw
from rankwood.reproduce.recipes import reading

RECIPE = """
[paper]
name = "tiny"
number = "999"
key = "tiny2020"
title = "A tiny paper"
authors = "A. Nobody"
year = 2020
conventions = { ties = "input", empty = 1 }
metrics = ["ndcg@3", "ndcg@5"]
notes = ["Numbers under this <note> are made up."]

[paper.test]
kind = "permutation"
sides = 1
draws = 1000
strict = true
levels = [0.05, 0.01]
marks = ["*", "**"]

[protocols.short]
rounds = 4
stop = "ndcg@{k}"
seeds = [0]

[protocols.short.params]
"*" = { learning_rate = 0.2, num_leaves = 7, subsample = 0.7, subsample_freq = 1 }
mslr10k = { num_leaves = 5 }

[items.table1]
kind = "metrics"
title = "NDCG@k"
roles = ["mslr10k", "mslr30k"]
protocol = "short"
over = { k = [3, 5] }
columns = ["ndcg@{k}"]
baseline = "LambdaMART"
digits = 2
scale = 100

[[items.table1.rows]]
name = "Perfect"
model = "perfect"
printed.mslr10k = [100, 100]

[[items.table1.rows]]
name = "Random"
model = "random"

[[items.table1.rows]]
name = "LambdaMART"
group = "trees"
objective = "lambdarank-ndcg@{k}"
printed.mslr10k = [40, 50]

[[items.table1.rows]]
name = "RankNet"
group = "trees"
objective = "ranknet"
params = { learning_rate = 0.1 }
printed.mslr10k = [41, 52]
marks.mslr10k = ["*", ""]

[[items.table1.rows]]
name = "Network"
group = "networks"
model = "neural"
pending = "neural rankers"
printed.mslr10k = [45, nan]

[items.table2]
kind = "statistics"
title = "The data"
roles = ["mslr10k"]
columns = ["queries", "documents", "features", "documents_median", "label_share_0", "top_pairs", "pairs"]
top = 6
rows = [
  { name = "Train", split = "train", printed = { mslr10k = [120, 2500, 20, 20, 0.5, 1, 2] } },
  { name = "All", split = "all" },
]

[items.table3]
kind = "parameters"
title = "Parameters"
roles = ["mslr10k", "mslr30k"]
of = "table1"
columns = ["num_leaves", "learning_rate"]
rows = [
  { name = "LambdaMART", printed = { mslr10k = [5, 0.2] } },
  { name = "RankNet" },
]

[items.table4]
kind = "times"
title = "Times"
roles = ["mslr10k"]
protocol = "short"
over = { k = [3] }
columns = ["training", "objective call"]
baseline = "LambdaMART"
repeats = 2
rows = [
  { name = "LambdaMART", objective = "lambdarank-ndcg@{k}", printed = { mslr10k = [10, 4] } },
  { name = "RankNet", objective = "ranknet", printed = { mslr10k = [15, 2] } },
]

[items.figure1]
kind = "curves"
title = "NDCG by round"
roles = ["mslr10k"]
protocol = "short"
over = { k = [3, 5] }
curve = "valid"
rows = [{ name = "LambdaMART", objective = "lambdarank-ndcg@{k}" }]

[items.figure2]
kind = "sweep"
title = "NDCG by the rate"
roles = ["mslr10k"]
protocol = "short"
over = { k = [5] }
x = "rate"
values = [0.05, 0.1, 0.2]
metric = "ndcg@{k}"
rows = [
  { name = "LambdaMART", objective = "lambdarank-ndcg@{k}", params = { learning_rate = "{rate}" } },
  { name = "RankNet", objective = "ranknet", params = { learning_rate = 0.1 } },
]

[items.figure3]
kind = "bars"
title = "NDCG as bars"
roles = ["mslr10k"]
protocol = "short"
over = { k = [3, 5] }
columns = ["ndcg@{k}"]
relative = "RankNet"
rows = [
  { name = "LambdaMART", objective = "lambdarank-ndcg@{k}" },
  { name = "RankNet", objective = "ranknet", params = { learning_rate = 0.1 } },
]
"""


def write_recipe(folder, text=RECIPE):
    """Write the recipe into a folder and return its path."""
    folder.mkdir(exist_ok=True)
    path = folder / "tiny.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_data(folder, queries=40):
    """Write the demonstration data, some queries of each part, as train, vali and test files."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, name in (("train", "train"), ("valid", "vali"), ("test", "test")):
        data = rw.load_demo(part)
        data = data.select(range(min(queries, data.groups.ids.size)))
        rw.save_letor(data, folder / f"{name}.txt")
    return folder


def use(monkeypatch, folder, text=RECIPE):
    """Let the package have this one recipe."""
    write_recipe(folder, text)
    monkeypatch.setattr(reading, "_FOLDER", folder)
    reading.load_recipe.cache_clear()
