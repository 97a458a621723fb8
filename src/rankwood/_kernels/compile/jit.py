"""How functions are compiled: kernels that Python calls, and inner functions that kernels call.

Compiled kernels are kept on disk and found by the next process. `docs/numba-notes.md` explains the choices that look
odd: the same bits on every processor, reference counts, alias checks, unsigned indices, literals, inner functions, the
disk cache.
"""

import functools
import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.errors import NumbaError
from numba.extending import overload

from rankwood._kernels.compile.code_cache import protect
from rankwood._kernels.compile.digest import DIGEST
from rankwood._kernels.compile.inner_pipeline import PIPELINE
from rankwood._util.checks import InputError

# Without fast-math: a compiler that may reorder sums, or fuse products with sums, rounds by what the processor can do.
OPTIONS: dict[str, Any] = {
    "fastmath": False,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
# Functions called only from compiled code need no CPython wrapper; skipping it saves compile time.
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, **PIPELINE}
# Functions that allocate nothing and are handed lent arrays: Numba writes no code that counts references.
UNCOUNTED: dict[str, Any] = {**INNER, "_nrt": False}
JIT = not numba.config.DISABLE_JIT

F = TypeVar("F", bound=Callable[..., Any])
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')


class _Mode:
    interpreted = False


@contextmanager
def explaining(what: Any) -> Iterator[None]:
    """Turn Numba's errors while a kernel is compiled into an `InputError` that names the line at fault."""
    try:
        yield
    except NumbaError as error:
        places = [(Path(path), line) for path, line in _PLACE.findall(str(error))]
        # The stranger's own file if there is one, else ours; never a file of Numba.
        own = [place for place in places if not {"numba", "rankwood"} & set(place[0].parts)]
        ours = [place for place in places if "numba" not in place[0].parts]
        path, line = (own or ours or places or [(Path("?"), "?")])[0]
        raise InputError(
            f"{what!r} can't be compiled: Numba stopped at {path.name}, line {line}. A verb of a part works on "
            "the numbers and arrays that it is given, and can't allocate arrays; inside "
            "`with rankwood.testing.interpreted():` it runs as plain Python, for a debugger."
        ) from error


@contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels as plain Python inside a `with` block: the same functions, and nothing to compile.

    Yields
    ------
    None

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.testing import interpreted
    >>> with interpreted():
    ...     rw.gradients("ranknet(norm=False)", [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """
    before, _Mode.interpreted = _Mode.interpreted, True
    try:
        yield
    finally:
        _Mode.interpreted = before


def callable_kernel(kernel: Any, compiled: bool = True) -> Any:
    """Return a kernel, or its plain Python function if it is to be interpreted."""
    if _Mode.interpreted or not compiled:
        return getattr(kernel, "py_func", kernel)
    return kernel


def jit(fn: F) -> F:
    """Compile a kernel without the GIL and keep the result on disk, where some directory is writable.

    Parameters
    ----------
    fn : function
        The kernel: a loop over queries that Python calls.

    Returns
    -------
    function
        The compiled kernel; its attribute `py_func` is the plain one.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True, **OPTIONS)(fn)
    except RuntimeError:  # there is no writable place for a cache: every process compiles
        compiled = numba.njit(nogil=True, **OPTIONS)(fn)
    protect(compiled, DIGEST)
    if JIT:
        compiled.compile = _without_collecting(compiled.compile)
    return compiled


def _without_collecting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that runs without Python's garbage collector: a sixth of the time of compiling is its."""

    @functools.wraps(method)
    def run(*args: Any) -> Any:
        if not gc.isenabled():
            return method(*args)
        gc.disable()
        try:
            return method(*args)
        finally:
            gc.enable()

    return run


def has_cached_code(kernel: Any) -> bool:
    """Tell whether the disk cache has code of a kernel for some arguments; True if there is no cache to fill."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is None:
        return True
    return bool(file._load_index())


def cached_code(kernel: Any) -> tuple[Path | None, list[Path]]:
    """Return the folder of a kernel's disk cache, None if there is no cache, and its files of compiled code."""
    folder = getattr(getattr(kernel, "_cache", None), "cache_path", None)
    return (None, []) if folder is None else (Path(folder), list(Path(folder).glob("*.nb[ic]")))


def inner(fn: F) -> F:
    """Let compiled functions call `fn`, which is compiled with them; in Python it stays a plain function.

    Parameters
    ----------
    fn : function
        A function that verbs of parts share.

    Returns
    -------
    function
        The same function.

    Examples
    --------
    >>> from rankwood.extend import inner
    >>> @inner
    ... def square(x):
    ...     return x * x
    >>> square(3)
    9
    """
    return _callable(fn, INNER)


def inline(fn: F) -> F:
    """Like `inner`, but without a call: for functions that take dozens of arrays and numbers."""
    return _callable(fn, {**INNER, "forceinline": True})


def uncounted(fn: F) -> F:
    """Like `inner`, for functions that allocate nothing: references aren't counted.

    Arrays that such a function returns must have been lent to it, as the arrays in `ranked`, `values` and `room` are:
    its caller would release others.

    Parameters
    ----------
    fn : function
        As in `inner`.

    Returns
    -------
    function
        The same function.

    Examples
    --------
    >>> from rankwood.extend import uncounted
    >>> @uncounted
    ... def first(column):
    ...     return column[0]
    >>> first([3, 4])
    3
    """
    return _callable(fn, UNCOUNTED)


def uncounted_inline(fn: F) -> F:
    """Like `uncounted`, but without a call."""
    return _callable(fn, {**UNCOUNTED, "forceinline": True})


def _callable(fn: F, options: dict[str, Any]) -> F:
    overload(fn, jit_options=options, strict=False)(lambda *args: fn)
    return fn
