"""Which files of a folder are training, validation and test data, by their names alone."""

import re
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from rankwood._util.checks import InputError
from rankwood.datasets.public_sets import DataSet

_ENDING = r"(\.(?:txt|dat|letor|svm|libsvm))?(\.gz)?"
_ROLES = {
    "train": "train",
    "training": "train",
    "trainingset": "train",
    "vali": "valid",
    "valid": "valid",
    "validation": "valid",
    "validationset": "valid",
    "test": "test",
    "testset": "test",
}
_PART = re.compile(rf"(?:(?P<prefix>.+)[._-])?(?P<role>{'|'.join(_ROLES)}){_ENDING}")
_FOLD = re.compile(r"fold[ _-]?(\d+)")
_SECTION = re.compile(rf"s([1-5]){_ENDING}")
_WHOLE = re.compile(rf"all{_ENDING}")
_DEPTH = 2  # folders of archives lie in folders of their own
SECTIONS = 5


T = TypeVar("T")


class Fold(NamedTuple, Generic[T]):
    """The files of one fold, or their content; if `valid` is empty, it is split off the training data."""

    name: str
    train: tuple[T, ...]
    valid: tuple[T, ...]
    test: tuple[T, ...]


class FolderLayout(NamedTuple):
    """How the files of a folder belong together: `folds`, or `whole`, one file to make folds of."""

    folder: Path
    folds: tuple[Fold[Path], ...] = ()
    whole: Path | None = None


def find_layout(path: Path, data_set: DataSet | None = None) -> FolderLayout:
    """Return how to read a folder, or a file, in any of the known layouts; `data_set` decides between several sets."""
    if path.is_file():
        return FolderLayout(path.parent, whole=path)
    if not path.is_dir():
        raise InputError(
            f"{path} doesn't exist: give the folder that holds the files of the data set."
        )
    level = [path]
    for _ in range(_DEPTH + 1):
        layouts = [layout for folder in level if (layout := _layout(folder, data_set)) is not None]
        if layouts:
            return _chosen(path, layouts, data_set)
        level = [child for folder in level for child in sorted(folder.iterdir()) if child.is_dir()]
    expected = "Fold1 to Fold5, S1.txt to S5.txt, train.txt and test.txt, or all.txt"
    if data_set is not None:
        expected = ", ".join(data_set.files)
    raise InputError(f"{path} holds no data set in a known layout: expected {expected} (or .gz).")


def _chosen(path: Path, layouts: list[FolderLayout], data_set: DataSet | None) -> FolderLayout:
    """Return the only layout, or the one in the folder of `data_set`."""
    if len(layouts) == 1:
        return layouts[0]
    names = {name.lower() for name in data_set.folders} if data_set else set()
    fitting = [x for x in layouts if names & {part.lower() for part in x.folder.parts}]
    if len(fitting) == 1:
        return fitting[0]
    folders = " and ".join(layout.folder.name for layout in layouts[:4])
    raise InputError(
        f"{path} holds several data sets, in {folders}: give the folder of one of them."
    )


def _layout(folder: Path, data_set: DataSet | None) -> FolderLayout | None:
    """Return the layout of the files directly in a folder, or in its folds; None if there is none."""
    children = sorted(folder.iterdir(), reverse=True)  # reversed, so that plain files win over .gz
    files = _files(children)
    folds = _folds(children, data_set) or _sections(files) or _sets(folder, files, data_set)
    if folds:
        return FolderLayout(folder, tuple(folds))
    whole = [path for name, path in files.items() if _WHOLE.fullmatch(name)]
    return FolderLayout(folder, whole=whole[-1]) if whole else None


def _files(children: list[Path]) -> dict[str, Path]:
    """Return the files among the children of a folder by their names in lower case."""
    return {child.name.lower(): child for child in children if child.is_file()}


def _folds(children: list[Path], data_set: DataSet | None) -> list[Fold[Path]]:
    """Return the folds that lie in folders Fold1, Fold2, and so on."""
    folders = {
        int(match[1]): child
        for child in children
        if child.is_dir() and (match := _FOLD.fullmatch(child.name.lower()))
    }
    folds = []
    for number, folder in sorted(folders.items()):
        files = _files(sorted(folder.iterdir(), reverse=True))
        sets = _sets(folder, files, data_set)
        if not sets:
            raise InputError(
                f"{folder} lacks files of data: expected train.txt, vali.txt and test.txt."
            )
        folds.append(sets[0]._replace(name=f"Fold{number}"))
    return folds


def _sections(files: dict[str, Path]) -> list[Fold[Path]]:
    """Return LETOR's five folds of S1 to S5: three of them train, one validates and one tests."""
    sections = {int(m[1]): path for name, path in files.items() if (m := _SECTION.fullmatch(name))}
    if len(sections) < SECTIONS:
        return []
    return rotated([sections[i] for i in range(1, SECTIONS + 1)])


def rotated(parts: list[T]) -> list[Fold[T]]:
    """Return five folds of five parts: fold i trains on i, i + 1 and i + 2, validates on i + 3 and tests on i + 4."""
    folds = []
    for first in range(SECTIONS):
        *train, valid, test = (parts[(first + step) % SECTIONS] for step in range(SECTIONS))
        folds.append(Fold(f"Fold{first + 1}", tuple(train), (valid,), (test,)))
    return folds


def _sets(folder: Path, files: dict[str, Path], data_set: DataSet | None) -> list[Fold[Path]]:
    """Return the one set of train, valid and test files in a folder; names may share a prefix, as Yahoo's do."""
    sets: dict[str, dict[str, Path]] = {}
    for name, path in files.items():
        match = _PART.fullmatch(name)
        if match:
            sets.setdefault(match["prefix"] or "", {})[_ROLES[match["role"]]] = path
    sets = {prefix: roles for prefix, roles in sets.items() if "train" in roles}
    if data_set is not None and data_set.prefix in sets:
        sets = {data_set.prefix: sets[data_set.prefix]}
    if not sets:
        return []
    if len(sets) > 1:
        names = " and ".join(f"{prefix}.train" for prefix in sorted(sets))
        raise InputError(
            f"{folder} holds several data sets, {names}: give the name of one, such as yahoo1 or yahoo2, "
            "or move them into folders of their own."
        )
    [(prefix, roles)] = sets.items()
    if "test" not in roles:
        raise InputError(f"{folder} has training data, but no test data: expected a file test.txt.")
    valid = (roles["valid"],) if "valid" in roles else ()
    return [Fold(prefix or folder.name, (roles["train"],), valid, (roles["test"],))]
