"""A digest of the sources of kernels: compiled code on disk is used only while they compute the same.

Numba itself notices changes in the file of a kernel only, not in the files of the functions that it calls; and it
notices all changes there, also those of a docstring.
"""

import hashlib
import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]
#: Folders with kernels, or with functions and parts that kernels call.
_FOLDERS = (
    *("_kernels", "metrics", "objectives"),
    *("data/letor", "engines/pairtree", "forest/score", "stats"),
)
_FILES = (
    *("data/listwise_features.py", "engines/lightgbm/langevin.py"),
    *("forest/arrays.py", "forest/walking.py", "forest/explain/shap_kernels.py"),
)
# A docstring begins a line; comments on lines of their own, and empty lines.
_PROSE = re.compile(r'^[ \t]*r?""".*?"""[ \t]*$|^[ \t]*#[^\n]*$|^[ \t]*$', re.MULTILINE | re.DOTALL)


def code_of(source: str) -> str:
    """Return a source without docstrings, comments and empty lines, which no compiled code depends on."""
    code = _PROSE.sub("", source)
    # A long string that is no docstring could end where a docstring seems to begin: all of such a file counts.
    return source if '"""' in code else re.sub(r"\n+", "\n", code)


def is_ours(path: str) -> bool:
    """Tell whether a file belongs to this package, so that the digest covers its kernels."""
    return Path(path).is_relative_to(_ROOT)


def kernel_files() -> list[Path]:
    """Return the files that the digest covers: compiled code depends on no others of this package."""
    files = [path for name in _FOLDERS for path in _ROOT.glob(f"{name}/**/*.py")]
    return sorted([*files, *(_ROOT / name for name in _FILES)])


def _package_digest() -> bytes:
    texts = (
        f"{path.relative_to(_ROOT)}\n{code_of(path.read_text('utf-8'))}" for path in kernel_files()
    )
    return hashlib.sha256("\0".join(texts).encode()).digest()


DIGEST = _package_digest()
