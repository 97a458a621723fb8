"""Generated data, and the data set that is shipped."""

import gzip
from importlib.resources import files

import numpy as np
import pytest

import rankwood as rw
from rankwood.data.demo import PARTS, load_demo, make_demo, write_demo
from rankwood.data.synthetic import make_ranking


def same(a, b):
    return (
        np.array_equal(a.X, b.X, equal_nan=True)
        and np.array_equal(a.y, b.y)
        and np.array_equal(a.qid, b.qid)
    )


def test_a_seed_means_the_same_data():
    assert same(make_ranking(30, seed=7), make_ranking(30, seed=7))
    assert not same(make_ranking(30, documents=20, seed=7), make_ranking(30, documents=20, seed=8))


def test_sizes():
    data = make_ranking(40, documents=(3, 9), features=12)
    assert data.X.shape[1] == 12
    assert data.X.dtype == np.float32
    sizes = data.groups.sizes
    assert sizes.size == 40
    assert (sizes.min(), sizes.max()) == (3, 9)
    assert data.groups.ids.tolist() == list(range(1, 41))


def test_labels_are_skewed_as_real_ones_are():
    shares = np.bincount(make_ranking(300).y.astype(int), minlength=5) / len(make_ranking(300))
    assert shares.size == 5
    assert (np.diff(shares) < 0).all()
    assert 0.5 < shares[0] < 0.65
    assert 0.01 < shares[4] < 0.04


def test_some_queries_have_nothing_relevant_and_some_values_are_missing():
    data = make_ranking(300, missing=0.2)
    best = np.maximum.reduceat(data.y, data.groups.ptr[:-1])
    assert 0 < (best == 0).mean() < 0.2
    lacking = np.isnan(data.X).mean(axis=0)
    assert (lacking > 0).sum() == 7
    assert lacking[lacking > 0] == pytest.approx(0.2, abs=0.03)
    assert not np.isnan(make_ranking(20, missing=0).X).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": 0}, "queries must be at least 1"),
        ({"queries": 5, "features": 3}, "features must be at least 9"),
        ({"queries": 5, "documents": (5, 2)}, "documents must be at least 5"),
        ({"queries": 5, "noise": 2}, "noise must be from 0 to 1"),
        ({"queries": 5, "seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(rw.InputError, match=message):
        make_ranking(**arguments)


@pytest.mark.parametrize("part", PARTS)
def test_shipped_data_are_what_the_generator_makes(part):
    assert same(load_demo(part), make_demo(part))


def test_shipped_files_are_what_the_generator_writes(tmp_path):
    write_demo(tmp_path)
    shipped = files("rankwood.data") / "demo_files"
    total = 0
    for part in PARTS:
        name = f"{part}.txt.gz"
        packed = (shipped / name).read_bytes()
        total += len(packed)
        # Compressed bytes depend on the version of zlib, the text doesn't.
        assert gzip.decompress(packed) == gzip.decompress((tmp_path / name).read_bytes())
    assert total < 300_000


def test_parts_share_no_query():
    ids = [set(load_demo(part).groups.ids.tolist()) for part in PARTS]
    assert [len(part) for part in ids] == [120, 40, 40]
    assert len(set.union(*ids)) == 200
    with pytest.raises(rw.InputError, match="part must be one of 'train', 'valid', 'test'"):
        load_demo("dev")
