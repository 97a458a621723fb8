"""What an export has written: a record that prints itself."""

from typing import Any, NamedTuple

from rankwood._util.text import cells_text, plural
from rankwood.forest.export.row_check import Check
from rankwood.render.html import cells_html


class ExportReport(NamedTuple):
    """The result of `Ranker.export`.

    Attributes
    ----------
    format, target : str
        The format, and what reads it.
    path : str
        The file.
    bytes : int
        Its size.
    trees, leaves, features : int
        Numbers of trees and leaves, and of features that splits read.
    shift : float
        What was added to every score; 0 if nothing was.
    exact : str
        What holds for every document.
    notes : tuple of str
        What is different in the target, and what has to be done there.
    upload : str
        The request or command that uses the file.
    check : Check or None
        What the rows of `check=` say.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> ranker.export("m.json", "ltr-plugin").trees
    3
    """

    format: str
    target: str
    path: str
    bytes: int
    trees: int
    leaves: int
    features: int
    shift: float
    exact: str
    notes: tuple[str, ...]
    upload: str
    check: Check | None

    def to_dict(self) -> dict[str, Any]:
        """Return all values, for JSON.

        Returns
        -------
        dict
            The attributes by name; `check` is a dictionary or None.
        """
        check = None if self.check is None else self.check._asdict()
        return {**self._asdict(), "notes": list(self.notes), "check": check}

    def facts(self) -> list[tuple[str, str]]:
        """Return the values as pairs of a name and a text.

        Returns
        -------
        list of (str, str)
            What is printed, line by line.
        """
        size = f"{self.bytes / 1e6:.1f} MB" if self.bytes >= 1e6 else f"{self.bytes / 1e3:.1f} kB"
        model = f"{plural(self.trees, 'tree')}, {self.leaves:,} leaves, {plural(self.features, 'feature')}"
        rows = [("file", f"{self.path}, {size}"), ("model", model), ("exact", self.exact)]
        if self.shift:
            rows.append(
                ("shift", f"{self.shift:.6g} is added to every score, so that none is negative")
            )
        rows += [
            ("check" if i == 0 else "", line) for i, line in enumerate(_check_lines(self.check))
        ]
        rows += [("note" if i == 0 else "", note) for i, note in enumerate(self.notes)]
        return [*rows, ("use", self.upload)]

    def __repr__(self) -> str:
        return f"Export to {self.target}\n{cells_text(self.facts())}"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return cells_html([(f"Export to {self.target}", ""), *self.facts()], head=1)


def _check_lines(check: Check | None) -> list[str]:
    """Return what rows say, for people."""
    if check is None:
        return []
    rows = f"{plural(check.rows, 'row')} of {plural(check.queries, 'query')} by the target's rules"
    most = f"{check.largest_difference:.1e}" if check.largest_difference else "0"
    lines = [f"{rows}: scores differ by at most {most}"]
    ranks = f"{plural(check.other_rank, 'row')} with another rank"
    if check.other_leaf is None:
        return [*lines, ranks]
    leaves = f"{plural(check.other_leaf, 'row')} in another leaf"
    if check.by_float32:
        leaves += f" ({check.by_float32:,} because features are read as float32)"
    return [*lines, f"{leaves}, {ranks}"]
