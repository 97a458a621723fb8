"""What the user may change of a recipe, to make it smaller."""

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.reproduce.recipes.recipe import Item, Row


@dataclass(frozen=True)
class Options:
    """Limits on a reproduction; None leaves what the recipe says.

    Attributes
    ----------
    trees : int or None
        Largest number of trees of a model.
    queries : int or None
        Largest number of queries in each of training, validation and test data.
    seeds : int or None
        How many seeds: 0, 1, 2, ...
    folds : int or None
        How many folds of the data.
    trials : int or None
        Trials of a tuner.
    top : int or None
        Largest number of documents of a list that a second stage ranks.
    rows : str or None
        A pattern such as ``"LambdaGap*"``: only rows with such names, and those that they are compared with. Items
        without such rows are omitted.
    """

    trees: int | None = None
    queries: int | None = None
    seeds: int | None = None
    folds: int | None = None
    trials: int | None = None
    top: int | None = None
    rows: str | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and one.name != "rows":
                checks.at_least(value, 1, one.name)

    def chosen(self, item: Item) -> list[Row]:
        """Return the rows of an item that are wanted."""
        if self.rows is None:
            return list(item.rows)
        needed = {item.baseline, item.extra.get("relative")}
        return [row for row in item.rows if row.name in needed or self._fits(row)]

    def leaves_out(self, item: Item) -> bool:
        """Tell whether an item has rows, and none of them is wanted."""
        return bool(item.rows) and not self.wants_some(item)

    def wants_some(self, item: Item) -> bool:
        """Tell whether rows of an item are wanted."""
        return any(self._fits(row) for row in item.rows)

    def _fits(self, row: Row) -> bool:
        return self.rows is None or fnmatchcase(row.name.lower(), self.rows.lower())

    def in_words(self) -> list[str]:
        """Return what is smaller than in the paper, as phrases."""
        counted = {"trees": "tree", "queries": "query", "folds": "fold", "trials": "trial"}
        parts = []
        for name, word in counted.items():
            value = getattr(self, name)
            if value is not None:
                each = " of each part of the data" if name == "queries" else ""
                parts.append(f"at most {plural(value, word)}{each}")
        if self.top is not None:
            parts.append(f"lists of at most {plural(self.top, 'document')} in the second stage")
        if self.rows is not None:
            parts.append(f"only the rows {self.rows!r}")
        return parts
