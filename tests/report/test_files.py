"""Tables of queries, written and read back."""

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.report import read_evaluation
from rankwood.report.comparison.files import looks_like_evaluation


@pytest.mark.parametrize("ids", [[1, 1, 2, 2], ["007", "007", "x,y", "x,y"], [-3, -3, 10**20, 5]])
def test_there_and_back(tmp_path, ids):
    ids = list(map(str, ids)) if 10**20 in ids else ids
    ev = rw.evaluate(
        ["ndcg@1", "dcg(gain='linear')"], [1, 0, 0, 0], [1, 2, 1, 2], qid=ids, empty="skip"
    )
    ev.to_csv(tmp_path / "q.csv")
    back = read_evaluation(tmp_path / "q.csv")
    assert back.metrics == ev.metrics
    assert back.per_query["qid"].tolist() == ev.per_query["qid"].tolist()
    for metric in ev.metrics:
        assert np.array_equal(back.per_query[metric], ev.per_query[metric], equal_nan=True)
    assert looks_like_evaluation(tmp_path / "q.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a table of queries; expected a first line such as"),
        ("1.5\n2.5\n", "not a table of queries"),
        ("qid\n1\n", "not a table of queries"),
        ("qid,m\n", "has no queries"),
        ("qid,m\n1,2,3\n", "row 2: expected 2 cells as in the first row, got 3"),
        ("qid,m\n1,good\n", "row 2: expected a number as 'm', got 'good'"),
        ("qid,m\n1,0\n2,inf\n", "row 3: expected a number as 'm', got 'inf'"),
        ("qid,m,m\n1,2,3\n", "two columns of the same name"),
        ("\xff\xfe\x00", "is a binary file"),
    ],
)
def test_refused(tmp_path, text, message):
    (tmp_path / "q.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        read_evaluation(tmp_path / "q.csv")


def test_other_programs_tables(tmp_path):
    (tmp_path / "q.csv").write_bytes('\ufeff"qid","m"\r\n1,\r\n\r\n2,0.5\r\n'.encode())
    assert looks_like_evaluation(tmp_path / "q.csv")
    ev = read_evaluation(tmp_path / "q.csv")
    assert ev.per_query["qid"].tolist() == [1, 2]
    assert np.array_equal(ev.per_query["m"], [np.nan, 0.5], equal_nan=True)
    assert not looks_like_evaluation(tmp_path / "absent.csv")
