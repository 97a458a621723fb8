"""The small data set that comes with the package; ``python -m rankwood.data.demo`` writes its files."""

from importlib.resources import as_file, files
from pathlib import Path

from rankwood._util import checks
from rankwood.data.letor import load_letor, save_letor
from rankwood.data.ranking_data import RankingData
from rankwood.data.synthetic import make_ranking

#: The queries of each part, by position.
PARTS = {"train": range(0, 120), "valid": range(120, 160), "test": range(160, 200)}
_SEED = 1


def load_demo(part: str) -> RankingData:
    """Return a part of the data set that comes with the package.

    The data is generated (see `make_ranking`): 200 queries of 12 to 30 documents, 20 features, labels from
    0 to 4.

    Parameters
    ----------
    part : {"train", "valid", "test"}
        120, 40 or 40 queries.

    Returns
    -------
    RankingData
        The documents, in the order of the file.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.load_demo("test").groups.ids.size
    40
    """
    checks.one_of(part, PARTS, "part")
    with as_file(files("rankwood.data") / "demo_files" / _name(part)) as path:
        return load_letor(path)


def make_demo(part: str) -> RankingData:
    """Generate the part that `load_demo` reads from a file."""
    checks.one_of(part, PARTS, "part")
    queries = sum(map(len, PARTS.values()))
    everything = make_ranking(queries, documents=(12, 30), features=20, seed=_SEED)
    return everything.select(list(PARTS[part]))


def write_demo(directory: Path) -> None:
    """Write the files of all parts."""
    for part in PARTS:
        save_letor(make_demo(part), directory / _name(part))


def _name(part: str) -> str:
    return f"{part}.txt.gz"


if __name__ == "__main__":
    write_demo(Path(__file__).parent / "demo_files")
