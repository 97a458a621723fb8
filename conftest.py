"""What pytest doesn't import: three modules need numba-cuda, and without it there is nothing to look at."""

from importlib.util import find_spec

_NEEDS_CUDA = ("compiled", "compiled_columns", "launch")
collect_ignore = (
    []
    if find_spec("numba_cuda")
    else [f"src/rankwood/_core/cuda/{name}.py" for name in _NEEDS_CUDA]
)
