"""`rankwood doctor`: what it finds, and what it says if results are not the expected ones."""

import json

import pytest

from rankwood._kernels.compile.processor import processor
from rankwood.cli import main
from rankwood.estimators import self_check


def test_this_machine_computes_what_every_other_one_does(capsys):
    assert main(["doctor", "--json", "--threads", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not found["failed"] and found["threads"] == 2
    assert found["processor"]["compiled_for"] == processor().compiled_for
    gradients, model = found["checks"]
    assert gradients["digest"] == gradients["expected"] and gradients["verdict"] == "as expected"
    known = found["packages"]["lightgbm"] in self_check._TRIED_LIGHTGBM
    assert model["verdict"] == ("as expected" if known else "no expected digest for this version")


def test_people_read_versions_and_verdicts(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for word in ("Rankwood", "Packages", "lightgbm", "Processor", "Threads", "Compiled code"):
        assert word in out
    assert "gradients of lambdarank-ndcg@10" in out and "as expected" in out
    assert "differ" not in out


def test_a_difference_is_named_and_is_a_failure(capsys, monkeypatch):
    monkeypatch.setattr(self_check, "_GRADIENTS_DIGEST", "0123456789abcdef")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "differs from 0123456789abcdef" in out and "Please open an issue" in out


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_digests_are_the_same_for_any_number_of_threads(n_jobs):
    assert not any(check.failed for check in self_check.self_check(n_jobs))


def test_facts_are_shown_though_lightgbm_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(self_check, "_scores", lambda n_jobs: 1 / 0)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "Processor" in out and "as expected" in out
    assert "can't be computed: ZeroDivisionError: division by zero" in out
