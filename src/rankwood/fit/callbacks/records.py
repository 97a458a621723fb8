"""Callbacks that write rounds down: to a logger, or to a CSV file."""

import logging
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood._util.atomic import replacing
from rankwood._util.csv_text import csv_lines, csv_text
from rankwood.fit.callbacks.round_values import flat, place
from rankwood.fit.context import Round


class Log:
    """Write a line per round to a logger of Python's `logging`.

    Parameters
    ----------
    logger : logging.Logger or str, optional
        The logger or its name; default ``"rankwood"``.
    level : int
        The level of the lines.
    every : int
        Write every so many rounds, and the last one.

    Examples
    --------
    >>> import logging, sys
    >>> import rankwood as rw
    >>> from rankwood.callbacks import Log
    >>> logger = logging.getLogger("example")
    >>> logger.setLevel("INFO")
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> ranker = rw.Ranker(n_estimators=4, n_jobs=1)
    >>> _ = ranker.fit(rw.load_demo("train"), callbacks=[Log(logger, every=2)])
    round 2 of 4
    round 4 of 4, the last: rounds
    """

    def __init__(
        self, logger: logging.Logger | str = "rankwood", level: int = logging.INFO, every: int = 1
    ) -> None:
        self._logger = logging.getLogger(logger) if isinstance(logger, str) else logger
        self._level = level
        self._every = checks.at_least(every, 1, "every")

    def __call__(self, done: Round) -> None:
        """Write the number of a round and its metrics.

        Parameters
        ----------
        done : Round
            The round.
        """
        if done.number % self._every and not done.ends:
            return
        where = f"{place(done)}: " if done.stage else ""
        values = "".join(f", {name} {value:.6f}" for name, value in flat(done).items())
        last = f", the last: {done.ends}" if done.ends else ""
        text = f"{where}round {done.number} of {done.rounds}{values}{last}"
        self._logger.log(self._level, text)


class CSV:
    """Write a row per round to a CSV file, which is complete up to the last row at any time.

    The columns are ``round``, ``seconds``, the metrics, such as ``valid ndcg@10``, and in `TwoStage` ``stage`` and
    ``fold``. A file that exists is replaced by the first round.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.callbacks import CSV
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")
    >>> ranker = rw.Ranker("softmax", n_estimators=2, n_jobs=1)
    >>> _ = ranker.fit(train, valid=valid, callbacks=[CSV("rounds.csv")])
    >>> with open("rounds.csv") as file:
    ...     len(file.readlines())  # the head, and two rounds
    3
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise checks.InputError(
                f"{path} can't be written: there is no directory {self.path.parent}."
            )
        self._rows: list[dict[str, Any]] = []
        self._columns: list[str] = []

    def __call__(self, done: Round) -> None:
        """Write a round, and hand it to the system.

        Parameters
        ----------
        done : Round
            The round.
        """
        row: dict[str, Any] = {
            "round": done.number,
            "seconds": round(done.seconds, 6),
            **flat(done),
        }
        if done.stage:
            row = {"stage": done.stage, "fold": done.fold or "", **row}
        self._rows.append(row)
        new = [name for name in row if name not in self._columns]
        try:
            if new or not self.path.exists():  # other columns: the file is replaced as a whole
                self._columns += new
                with replacing(self.path) as file:
                    file.write(csv_text(self._columns, map(self._cells, self._rows)).encode())
            else:
                with open(self.path, "ab", buffering=0) as file:  # one write of one line
                    file.write(csv_lines([self._cells(row)]).encode())
        except OSError as error:
            raise checks.InputError(f"{self.path} can't be written: {error.strerror}.") from None

    def _cells(self, row: dict[str, Any]) -> list[Any]:
        """Return a row by column; other stages have other metrics, whose cells are empty."""
        return [row.get(name, "") for name in self._columns]

    def close(self) -> None:
        """Forget the rows: another run with this object begins the file anew."""
        self._rows, self._columns = [], []
