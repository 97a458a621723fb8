"""The text of LightGBM's linear trees: counts of features that disagree with what follows are refused."""

import json

import pytest

import rankwood as rw
from rankwood._util import envelope
from tests.helpers.random_lists import random_lists


def test_counts_must_agree_with_the_features(tmp_path, rng):
    X, y, sizes = random_lists(rng, 10, 20)
    path = tmp_path / "m.json"
    ranker = rw.Ranker(n_estimators=2, num_leaves=3, linear_tree=True, n_jobs=1)
    ranker.fit(X, y, group=sizes).save(path)
    content = json.loads(path.read_text())
    old = next(line for line in content["model"].splitlines() if line.startswith("num_features="))
    counts = old.removeprefix("num_features=").split()
    counts[0] = str(int(counts[0]) + 1)
    content["model"] = content["model"].replace(old, "num_features=" + " ".join(counts), 1)
    content["sha256"] = envelope.checksum(content)
    path.write_text(json.dumps(content))
    with pytest.raises(rw.InputError, match="as many numbers as num_features says"):
        rw.Ranker.load(path)
