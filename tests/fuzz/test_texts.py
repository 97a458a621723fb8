"""A few thousand hostile texts: LETOR and TREC files, objectives and metrics."""

import pytest

from rankwood import InputError
from tests.fuzz import campaign, generator, letor, specs, worker


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("letor", 200), ("trec", 300)])
def test_files_at_random(kind, count):
    result = worker.batch(kind, 11, 0, count)
    assert result.findings == []
    assert result.accepted > count / 10 and result.refused > count / 10


@pytest.mark.slow
def test_objectives_and_metrics_at_random(tmp_path):
    process = campaign.Process(tmp_path)  # another process, as such a text may take for ever
    try:
        result = process.run("specs", 11, 0, 400)
    finally:
        process.close()
    assert result.findings == []
    assert result.accepted > 40 and result.refused > 40


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"0 qid:1 1:0.1 2:x\n", None),
        (b"0 qid:1 1:1 1:2\n", None),
        (b"1 qid:a 2:-1.5e-3 # c\n", [[0.0, -0.0015]]),
        (b"1 qid: 2:1\n", None),
        (b"-1 qid:3 2:1\n", None),
        (b"1 qid:3 1:1e39\n", None),
    ],
)
def test_the_independent_reader(data, value):
    if value is None:
        with pytest.raises(letor.Refused):
            letor.expected(data)
        with pytest.raises(InputError):
            letor.run(data)
    else:
        assert letor.expected(data).X.tolist() == [pytest.approx(row) for row in value]
        assert letor.run(data) == "accepted"


def test_a_reader_that_is_wrong_is_noticed(monkeypatch):
    real = letor.load_letor

    def wrong(*args, **kwargs):
        data = real(*args, **kwargs)
        data.X[0, 0] += 1
        return data

    monkeypatch.setattr(letor, "load_letor", wrong)
    result = worker.batch("letor", 11, 0, 60)
    assert {finding.what for finding in result.findings} >= {"wrong"}


@pytest.mark.parametrize(
    "text", ["mLambda(weight=\nSwap(metric=NDCG()), pairs=All())", "o\x1b[31mndcg\n"]
)
def test_an_error_is_one_line_whatever_it_quotes(text):
    with pytest.raises(InputError) as error:
        specs.run(text.encode())
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)


def test_inputs_depend_on_their_number_alone():
    made = [letor.make(generator("letor", 3, i)) for i in (5, 6, 5)]
    assert made[0] == made[2] != made[1]


@pytest.mark.slow
def test_signals_hangs_and_foreign_errors_are_counted_and_kept(tmp_path, monkeypatch):
    monkeypatch.setitem(campaign.KINDS, "broken", (1.0, 4))
    monkeypatch.setattr(campaign, "HANG", 0.3)
    run = campaign.Campaign(tmp_path, seed=10)  # its first four inputs are one of each
    run.counts["broken"] = campaign.Count()
    run._next["broken"] = 0
    process = campaign.Process(tmp_path)
    try:
        run._one_batch(process, ["broken"])
    finally:
        process.close()
    count = run.counts["broken"]
    assert (count.tried, count.signals, count.hangs, count.foreign) == (4, 1, 1, 1)
    assert len(list(tmp_path.glob("*.input"))) == 3
    assert campaign.Campaign(tmp_path, seed=10).counts["broken"] == count  # it can go on
    assert "| broken | 4 |" in campaign.table(run.counts)
