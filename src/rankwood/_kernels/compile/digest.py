"""A digest of the sources of kernels: compiled code on disk is used only while they compute the same.

Numba itself notices changes in the file of a kernel only, not in the files of the functions that it calls; and it
notices all changes there, also those of a docstring.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).parents[2]
#: Folders with kernels, or with functions and parts that kernels call.
_FOLDERS = (
    *("_kernels", "metrics", "objectives"),
    *("data/letor", "engines/pairtree", "engines/trees/growth", "forest/score", "stats"),
)
_FILES = (
    *(f"engines/trees/binning/{name}.py" for name in ("bounds", "codes", "tiles")),
    "engines/trees/walking.py",
    *("data/listwise_features.py", "engines/lightgbm/langevin.py"),
    *(
        "engines/model_trees/arrays.py",
        "engines/model_trees/walking.py",
        "forest/explain/shap_kernels.py",
    ),
)
_QUOTES = '"""'


def code_of(source: str) -> str:
    """Return a source without docstrings, comments and empty lines, which no compiled code depends on.

    A docstring begins a line and ends one. All of a file counts that has another string in triple quotes.
    """
    kept: list[str] = []
    inside = False
    for line in source.split(
        "\n"
    ):  # much faster than one regular expression, and every import waits for it
        text = line.strip()
        quotes = line.count(_QUOTES)
        if inside or text.startswith((_QUOTES, f"r{_QUOTES}")):
            if quotes > 1 + (not inside) or (quotes and inside and not text.endswith(_QUOTES)):
                return source
            inside = inside != (quotes == 1)
        elif quotes:
            return source
        elif text and text[0] != "#":
            kept.append(line)
    return source if inside else "\n".join(kept)


def is_ours(path: str) -> bool:
    """Tell whether a file belongs to this package, so that the digest covers its kernels."""
    return Path(path).is_relative_to(_ROOT)


def kernel_files() -> list[Path]:
    """Return the files that the digest covers: compiled code depends on no others of this package."""
    files = [path for name in _FOLDERS for path in _ROOT.glob(f"{name}/**/*.py")]
    return sorted([*files, *(_ROOT / name for name in _FILES)])


def code_digest(files: Iterable[Path]) -> bytes:
    """Return a digest of the code of some files of this package, without docstrings and comments."""
    texts = (f"{path.relative_to(_ROOT)}\n{code_of(path.read_text('utf-8'))}" for path in files)
    return hashlib.sha256("\0".join(texts).encode()).digest()


DIGEST = code_digest(kernel_files())
