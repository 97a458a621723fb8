"""Folders in every layout are read as they are distributed."""

import gzip
import math
import shutil

import numpy as np
import pytest

import rankwood as rw
from rankwood.datasets import load_splits


def data_set(n_queries=20, features=5, seed=0):
    data = rw.make_ranking(n_queries, documents=(3, 6), seed=seed)
    return rw.RankingData(np.asarray(data.X)[:, :features], data.y, qid=data.qid)


def ids(data):
    return data.groups.ids.tolist()


def write(folder, **parts):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in parts.items():
        rw.save_letor(data, folder / name.replace("__", "."))


def thirds(data):
    """Queries 0 to 9, 10 to 14 and 15 to 19."""
    number = np.arange(20)
    masks = (number < 10, (number >= 10) & (number < 15), number >= 15)
    return [data.select(mask) for mask in masks]


def same(one, other):
    return (
        np.array_equal(one.X, other.X, equal_nan=True)
        and np.array_equal(one.y, other.y)
        and np.array_equal(one.qid, other.qid)
    )


@pytest.mark.parametrize(
    "names",
    [
        ("train.txt", "vali.txt", "test.txt"),
        ("train", "valid", "test"),
        ("train.txt.gz", "validation.txt.gz", "test.txt.gz"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("set1.train.txt", "set1.valid.txt", "set1.test.txt"),
        ("sample/train.txt", "sample/vali.txt", "sample/test.txt"),
        ("MSLR-WEB10K/Fold1/train.txt", "MSLR-WEB10K/Fold1/vali.txt", "MSLR-WEB10K/Fold1/test.txt"),
    ],
)
def test_three_files(tmp_path, names):
    parts = thirds(data_set())
    for name, part in zip(names, parts, strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        rw.save_letor(part, tmp_path / name)
    [split] = load_splits(tmp_path)
    assert all(same(found, part) for found, part in zip(split[1:], parts, strict=True))


def test_folds_are_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        train, valid, test = thirds(data_set(seed=number))
        write(tmp_path / f"Fold{number}", train__txt=train, vali__txt=valid, test__txt=test)
    splits = load_splits(tmp_path)
    assert [split.name for split in splits] == ["Fold1", "Fold2", "Fold10"]
    assert same(splits[2].test, thirds(data_set(seed=10))[2])
    [second] = load_splits(tmp_path, folds=[2])
    assert same(second.train, thirds(data_set(seed=2))[0])
    with pytest.raises(rw.InputError, match="no fold 4: the folder has 3"):
        load_splits(tmp_path, folds=[4])


def test_sections_rotate(tmp_path):
    whole = data_set()
    for i in range(5):
        rw.save_letor(whole.select(np.arange(20) // 4 == i), tmp_path / f"S{i + 1}.txt.gz")
    splits = load_splits(tmp_path)
    query = np.array(ids(whole)).reshape(5, 4).tolist()
    assert [ids(split.test) for split in splits] == [query[(i + 4) % 5] for i in range(5)]
    assert [ids(split.valid) for split in splits] == [query[(i + 3) % 5] for i in range(5)]
    assert ids(splits[3].train) == query[3] + query[4] + query[0]


def test_one_file_is_dealt_out_by_query(tmp_path):
    whole = data_set(23)
    rw.save_letor(whole, tmp_path / "all.txt.gz")
    splits = load_splits(tmp_path)
    assert ids(splits[0].test) == ids(whole)[4::5]
    assert sorted(qid for split in splits for qid in ids(split.test)) == sorted(ids(whole))
    for split in splits:
        parts = [set(ids(part)) for part in split[1:]]
        assert set.union(*parts) == set(ids(whole))
        assert sum(map(len, parts)) == 23
    by_name = load_splits(tmp_path / "all.txt.gz")
    assert all(same(a.train, b.train) for a, b in zip(splits, by_name, strict=True))


def test_validation_data_are_split_off(tmp_path):
    train, _, test = thirds(data_set())
    write(tmp_path / "full", train__txt=train, test__txt=test)
    [split] = load_splits(tmp_path)
    assert len(ids(split.valid)) == 2  # a fifth of ten
    assert sorted(ids(split.train) + ids(split.valid)) == sorted(ids(train))
    assert same(split.test, test)
    assert same(load_splits(tmp_path)[0].valid, split.valid)
    [other] = load_splits(tmp_path, "istella")
    assert len(ids(other.valid)) == 1  # an eighth, as of 23,219


def test_lightgbm_files_of_sizes(tmp_path):
    (tmp_path / "rank.train").write_text("1 1:0.5 3:2\n0 2:1\n2 1:4\n0 3:1\n")
    (tmp_path / "rank.train.query").write_text("1\n1\n2\n")
    (tmp_path / "rank.test").write_text("1 1:0.25\n")
    (tmp_path / "rank.test.query").write_text("1\n")
    [split] = load_splits(tmp_path)
    both = rw.RankingData.concat([split.train, split.valid])
    order = np.argsort(both.qid, kind="stable")
    assert both.X[order].tolist() == [[0.5, 0, 2], [0, 1, 0], [4, 0, 0], [0, 0, 1]]
    assert both.y[order].tolist() == [1, 0, 2, 0]
    assert split.test.X.tolist() == [[0.25, 0, 0]]
    [missing] = load_splits(tmp_path, absent=math.nan)
    assert np.isnan(missing.test.X).tolist() == [[False, True, True]]
    (tmp_path / "rank.test.query").write_text("2\n")
    with pytest.raises(rw.InputError, match=r"rank\.test\.query .* sum to 1, .* sum to 2"):
        load_splits(tmp_path)


def test_parts_have_the_same_features(tmp_path):
    (tmp_path / "train.txt").write_text("1 qid:1 1:1 4:2\n0 qid:2 1:1\n")
    (tmp_path / "vali.txt").write_text("1 qid:3 2:1\n")
    (tmp_path / "test.txt").write_text("1 qid:4 1:1 #a\n")
    [split] = load_splits(tmp_path)
    assert [part.n_features for part in split[1:]] == [4, 4, 4]
    assert split.valid.X.tolist() == [[0, 1, 0, 0]]
    assert split.test.comments[0] == "a"
    [split] = load_splits(tmp_path, absent=math.nan)
    assert np.isnan(split.valid.X[0]).tolist() == [True, False, True, True]


def test_istella_marks_missing_values(tmp_path):
    for name in ("train", "vali", "test"):
        (tmp_path / f"{name}.txt").write_text(
            f"1 qid:{name} 1:1.7976931348623157E308 2:3\n0 qid:{name} 1:0 2:1\n"
        )
    for name in (None, "istella-s"):
        [split] = load_splits(tmp_path, name)
        assert np.isnan(split.train.X[0, 0])
        assert split.train.X[1].tolist() == [0, 1]


def test_fewer_queries_are_a_subset(tmp_path):
    rw.save_letor(data_set(60), tmp_path / "all.txt")
    many, few = (load_splits(tmp_path, queries=n)[0] for n in (9, 4))
    assert [len(ids(part)) for part in many[1:]] == [9, 9, 9]
    assert all(set(ids(a)) < set(ids(b)) for a, b in zip(few[1:], many[1:], strict=True))
    whole = load_splits(tmp_path)[0]
    assert [len(ids(part)) for part in load_splits(tmp_path, queries=999)[0][1:]] == [36, 12, 12]
    position = [ids(whole.train).index(qid) for qid in ids(many.train)]
    assert position == sorted(position)
    other = load_splits(tmp_path, queries=9, seed=1)[0]
    assert ids(other.train) != ids(many.train)


def test_a_name_decides_between_sets(tmp_path):
    for i, name in enumerate(("set1", "set2")):
        train, valid, test = thirds(data_set(seed=i))
        parts = {"train": train, "valid": valid, "test": test}
        write(tmp_path, **{f"{name}__{part}__txt": data for part, data in parts.items()})
    with pytest.raises(rw.InputError, match="several data sets, set1"):
        load_splits(tmp_path)
    [split] = load_splits(tmp_path, "yahoo2")
    assert same(split.test, thirds(data_set(seed=1))[2])
    for i, name in enumerate(("full", "sample")):
        train, valid, test = thirds(data_set(seed=10 + i))
        write(tmp_path / "istella" / name, train__txt=train, vali__txt=valid, test__txt=test)
    with pytest.raises(rw.InputError, match="full and sample"):
        load_splits(tmp_path / "istella")
    [split] = load_splits(tmp_path / "istella", "istella-s")
    assert same(split.train, thirds(data_set(seed=11))[0])


def test_plain_files_win_over_compressed_ones(tmp_path):
    train, valid, test = thirds(data_set())
    write(tmp_path, train__txt=train, vali__txt=valid, test__txt=test)
    with gzip.open(tmp_path / "train.txt.gz", "wb") as file:
        file.write(b"1 qid:1 1:1\n")
    assert same(load_splits(tmp_path)[0].train, train)


def test_other_files_and_another_name_do_not_matter(tmp_path):
    train, valid, test = thirds(data_set())
    write(tmp_path, train__txt=train, vali__txt=valid, test__txt=test)
    (tmp_path / "README.md").write_text("train")
    load_splits(tmp_path, cache=True)
    assert (tmp_path / "train.txt.rankwood.npz").is_file()
    [split] = load_splits(tmp_path, "mslr30k", cache=True)  # another set, under the name of a role
    assert same(split.train, train)
    assert split.train.n_features == 5


def test_errors_say_what_was_expected(tmp_path):
    with pytest.raises(rw.InputError, match="nowhere doesn't exist"):
        load_splits(tmp_path / "nowhere")
    with pytest.raises(rw.InputError, match=r"expected Fold1 to Fold5, S1.txt to S5.txt"):
        load_splits(tmp_path)
    with pytest.raises(rw.InputError, match=r"expected set1.train.txt, set1.valid.txt"):
        load_splits(tmp_path, "yahoo1")
    with pytest.raises(rw.InputError, match="did you mean 'yahoo1' or 'yahoo2'"):
        load_splits(tmp_path, "yahoo")
    with pytest.raises(rw.InputError, match="queries must be at least 1"):
        load_splits(tmp_path, queries=0)
    train, valid, test = thirds(data_set())
    write(tmp_path, train__txt=train, vali__txt=valid)
    with pytest.raises(rw.InputError, match="no test data"):
        load_splits(tmp_path)
    rw.save_letor(test.select([0, 1]), tmp_path / "few.txt")
    with pytest.raises(rw.InputError, match="has 2 queries"):
        load_splits(tmp_path / "few.txt")
    shutil.rmtree(tmp_path)
    (tmp_path / "Fold1").mkdir(parents=True)
    with pytest.raises(rw.InputError, match="Fold1 lacks files"):
        load_splits(tmp_path)
