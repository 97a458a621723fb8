"""Data that fills roles: what it is recognised by, and which folds are taken."""

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.datasets.public_sets import DataSet, PublishedCounts
from rankwood.reproduce import sources
from rankwood.reproduce.sources import DataRef, digest_of, open_source, read_split


@pytest.fixture
def five(tmp_path):
    """A folder of five folds."""
    data = rw.make_ranking(25, features=9, seed=1)
    for i in range(5):
        part = data.select(np.arange(25) % 5 == i)
        rw.save_letor(part, tmp_path / f"S{i + 1}.txt")
    return tmp_path


def published(monkeypatch, absent=0.0, **counts):
    """Let the catalogue have a set "known" with these numbers of queries."""
    made = {part: PublishedCounts(queries=n) for part, n in counts.items()}
    one = DataSet("known", "", (), 9, 4, "", "", made, (), feature_counts=(9,), absent=absent)
    monkeypatch.setattr(sources, "catalogue", lambda: {"known": one})
    monkeypatch.setattr(sources, "load_splits", lambda *a, **k: LOAD(a[0], None, **k))


LOAD = sources.load_splits


def test_other_data_takes_all_folds_and_own_data_the_papers(five, monkeypatch):
    published(monkeypatch, train=15, valid=5, test=5)
    own = open_source("known", five, None, None, 1)
    assert (own.published, len(own.folds), own.all_folds) == (True, 1, 5)
    assert len(open_source("known", five, None, 3, 1).folds) == 3
    other = open_source("unknown", five, None, None, 1)
    assert (other.published, len(other.folds)) == (False, 5)
    assert len(set(other.folds)) == 5
    assert other.folds[0] == own.folds[0]  # the same bits, whatever the role


@pytest.mark.parametrize("counts", [{"train": 16}, {"test": 4}, {"all": 26}])
def test_other_counts_are_other_data(five, monkeypatch, counts):
    published(monkeypatch, **counts)
    assert not open_source("known", five, None, None, 1).published
    published(monkeypatch, all=25)
    sources.read_split.cache_clear()
    assert open_source("known", five, None, None, 1).published


def test_fewer_queries_are_other_bits(five):
    whole, some = (read_split(DataRef(str(five), "x", 0, n)) for n in (None, 4))
    assert [part.groups.ids.size for part in some[1:]] == [4, 4, 4]
    assert digest_of(whole) != digest_of(some)
    assert digest_of(whole) == digest_of(read_split(DataRef(str(five), "x", 0, 100)))


def test_every_bit_counts(five):
    split = read_split(DataRef(str(five), "x", 0, None))
    before = digest_of(split)
    for name in ("X", "y"):
        arrays = {"X": split.test.X.copy(), "y": split.test.y.copy()}
        arrays[name][(0,) * arrays[name].ndim] += 1
        changed = rw.RankingData(**arrays, qid=split.test.qid)
        assert digest_of(split._replace(test=changed)) != before


def test_features_that_lines_omit(tmp_path, monkeypatch):
    for i in range(5):
        lines = [
            f"{j % 3} qid:{5 * i + q} 1:{j + 1} 9:{2 * j + 1}" for q in range(5) for j in range(3)
        ]
        (tmp_path / f"S{i + 1}.txt").write_text("\n".join(lines) + "\n")
    published(monkeypatch, absent=float("nan"), all=25)
    # As the catalogue says of the data, unless the paper's program read it otherwise.
    assert sources.omitted_is_missing("known", None)
    assert not sources.omitted_is_missing("known", 0)
    assert not sources.omitted_is_missing("unknown", None)
    for missing, share in ((True, 7 / 9), (False, 0.0)):
        found = open_source("known", tmp_path, None, None, 1, missing)
        assert (found.published, found.missing) == (True, missing)
        split = read_split(DataRef(found.folder, "known", 0, None, found.missing))
        X = np.asarray(
            split.train.X.todense() if hasattr(split.train.X, "todense") else split.train.X
        )
        assert np.isnan(X).mean() == pytest.approx(share)
    # Other data in the same role keeps its zeros.
    published(monkeypatch, absent=float("nan"), all=26)
    assert not open_source("known", tmp_path, None, None, 1, True).missing


@pytest.mark.parametrize(
    ("paper", "missing"),
    [
        ("lambdagap", True),
        ("lambda-ex", False),
        ("lambdaloss", False),
        ("which-tricks", False),
        ("bivariate", False),
    ],
)
def test_yahoo_is_read_as_the_papers_program_reads_it(paper, missing):
    from rankwood.reproduce.recipes.reading import load_recipe

    absent = load_recipe(paper).paper.absent
    assert sources.omitted_is_missing("yahoo1", absent.get("yahoo1")) == missing


def test_a_wrong_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        open_source("mslr30k", tmp_path / "nowhere", None, None, 1)
    with pytest.raises(InputError, match="known layout"):
        open_source("mslr30k", tmp_path, None, None, 1)
