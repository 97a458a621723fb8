"""Progress in a pipe: lines, not too many, and always the last."""

from rankwood._util import progress


def test_lines_in_a_pipe(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    with progress.bar(5, "Training", True, pause=1.0) as advance:
        for i in range(4):
            clock[0] += 0.6
            advance(f"note {i}")
            advance("not a step", 0)
    # After 1.2 and 2.4 seconds, and the last step, which has a line already, has no other.
    assert capsys.readouterr().err == "Training: 2 of 5, note 1\nTraining: 4 of 5, note 3\n"
    with progress.bar(3, "Cells", True, pause=9.0) as advance:
        advance("")
        advance("stops early")
    assert capsys.readouterr().err == "Cells: 2 of 3, stops early\n"


def test_nothing_unless_it_is_wanted(capsys):
    for show in (None, False):
        with progress.bar(1, "Cells", show) as advance:
            advance("done")
    assert capsys.readouterr() == ("", "")
