"""The catalogue holds what papers print, and checks compare with it."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.datasets import catalogue, check, find


def test_all_public_sets_are_there():
    names = "mslr10k mslr30k yahoo1 yahoo2 istella istella-s istella-x mq2007 mq2008 ohsumed"
    assert list(catalogue()) == names.split()
    for name, row in catalogue().items():
        assert row.name == name
        assert row.title and row.licence and row.source and row.files and row.references
        assert row.features in row.feature_counts


@pytest.mark.parametrize("name", ["mslr10k", "mslr30k", "yahoo1", "yahoo2", "istella-s"])
def test_parts_sum_to_the_whole(name):
    # The sums are printed by another paper (lambda-ex-2023, table 3) than the parts.
    counts = find(name).counts
    for field in ("queries", "documents"):
        parts = [getattr(counts[part], field) for part in ("train", "valid", "test")]
        assert sum(parts) == getattr(counts["all"], field), field


def test_istella_parts_sum_to_the_whole():
    counts = find("istella").counts
    assert sum(counts[p].queries for p in ("train", "valid", "test")) == counts["all"].queries
    # which-tricks-2023, table 1, prints the documents of three parts.
    assert 5_497_064 + 1_828_561 + counts["test"].documents == counts["all"].documents
    share = find("istella").valid_share
    assert round(share * (20_307 + 2_912)) == 2_912


def test_shares_of_labels_agree_with_the_other_paper():
    # lambdagap-2025, table 2, prints shares to two digits; lambda-ex-2023, table 3, percent of label 0.
    for name in ("mslr30k", "yahoo1", "istella-s"):
        counts = find(name).counts
        parts = [counts[part] for part in ("train", "valid", "test")]
        zero = sum(p.labels[0] * p.documents for p in parts) / counts["all"].documents
        assert 100 * zero == pytest.approx(counts["all"].irrelevant, abs=0.5)
        assert all(sum(p.labels) == pytest.approx(1, abs=0.021) for p in parts)


def test_what_lines_omit_is_missing_in_yahoo_only():
    # lambdagap-2025, section 6.1: about 68 % of the values of Yahoo's set are missing.
    missing = [name for name, row in catalogue().items() if np.isnan(row.absent)]
    assert missing == ["yahoo1", "yahoo2"]


def test_changing_a_copy_changes_nothing():
    catalogue().clear()
    assert find("MSLR30K").counts["train"].lengths == (1, 110, 1251)


@pytest.fixture(scope="module")
def like_mq2008(tmp_path_factory):
    """A folder with as many queries, documents and features as MQ2008."""
    folder = tmp_path_factory.mktemp("mq2008")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (15_211, 46)).astype(np.float32)
    qid = np.sort(np.concatenate([np.arange(784), rng.integers(0, 784, 15_211 - 784)]))
    data = rw.RankingData(X, rng.integers(0, 3, 15_211), qid=qid)
    for i in range(5):
        rw.save_letor(data.select(np.arange(784) % 5 == i), folder / f"S{i + 1}.txt")
    return folder


def test_a_complete_set_agrees(like_mq2008):
    found = check("mq2008", like_mq2008)
    assert found.agrees
    assert found.differences == []
    assert [(row.what, row.found) for row in found.rows][:2] == [
        ("queries", "784"),
        ("documents", "15,211"),
    ]


def test_differences_are_named(like_mq2008):
    found = check("ohsumed", like_mq2008)
    assert not found.agrees
    assert [row.what for row in found.rows if not row.agrees] == [
        "queries",
        "documents",
        "features",
    ]
    assert "'queries' in all is 784, but the published one is 106" in found.differences[0]
    assert "differs" in str(found)


def test_lengths_and_labels_are_compared(tmp_path, monkeypatch):
    from rankwood.datasets import count_check, public_sets, splits

    counts = public_sets.PublishedCounts(
        queries=2, lengths=(1, 2, 3), labels=(0.75, 0.25), irrelevant=75.0
    )
    row = public_sets.DataSet(
        "x", "X", ("f",), 2, 1, "free", "here", {"train": counts}, ("t",), feature_counts=(1, 2)
    )
    (tmp_path / "train.txt").write_text("1 qid:a 1:1\n" + "0 qid:b 1:1\n" * 3)
    (tmp_path / "vali.txt").write_text("1 qid:c 1:1 2:0\n")
    (tmp_path / "test.txt").write_text("1 qid:d 1:1\n")
    monkeypatch.setattr(count_check, "find", lambda name: row)
    monkeypatch.setattr(splits, "find", lambda name: row)
    found = check("x", tmp_path)
    assert found.agrees, found.differences
    wrong = public_sets.PublishedCounts(lengths=(1, 3, 3), labels=(0.7, 0.3), irrelevant=75.1)
    row.counts["train"] = wrong
    assert len(check("x", tmp_path).differences) == 3
