"""What a function computes, as text that is the same in every process and changes when the function does."""

import inspect
from types import CodeType, FunctionType
from typing import Any

import numpy as np


def stable_text(function: FunctionType) -> str:
    """Return the code of a function, the values it reads from outside, and the functions it calls."""
    return _function(inspect.unwrap(function), set())


def _function(function: FunctionType, seen: set[int]) -> str:
    """Return the text of a function and of what it refers to, each once."""
    home = (function.__module__ or "").partition(".")[0]
    if id(function) in seen or home in ("rankwood", "numpy", "numba"):
        return function.__qualname__  # the digest of the package covers its own functions
    seen.add(id(function))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = _names(function.__code__)
    outside = [function.__globals__[name] for name in names if name in function.__globals__]
    return _value(function.__code__, seen) + "".join(_value(x, seen) for x in (*cells, *outside))


def _names(code: CodeType) -> list[str]:
    """Return the names that a function and the functions inside it look up."""
    inside = [name for x in code.co_consts if isinstance(x, CodeType) for name in _names(x)]
    return [*code.co_names, *inside]


def _value(value: Any, seen: set[int]) -> str:
    """Return a value as text: code objects print addresses, and sets have any order."""
    if isinstance(value, CodeType):
        names = repr((value.co_code, value.co_names, value.co_varnames))
        return names + _value(value.co_consts, seen)
    if isinstance(value, FunctionType):
        return _function(inspect.unwrap(value), seen)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(_value(x, seen) for x in value)})"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(_value(x, seen) for x in value))}}}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes()!r}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    return type(value).__qualname__
