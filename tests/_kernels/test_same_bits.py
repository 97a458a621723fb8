"""Results must not depend on the processor: what code may not call, since it is computed differently on some.

`tests/processors` compares bits. This test finds what those tests might not reach.
"""

import ast
from pathlib import Path

import rankwood

ROOT = Path(rankwood.__file__).parent
#: Rooms whose results are promised to be the same on every processor.
ROOMS = (
    "report",
    "_kernels",
    "_util",
    "render",
    "fit",
    "cluster",
    "data",
    "engines",
    "forest",
    "metrics",
    "objectives",
    "stats",
    "training",
)
#: NumPy and the C library choose among several versions of these by processor; BLAS chooses the order of sums.
CHOSEN = {
    *(
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "logaddexp",
        "power",
        "float_power",
        "pow",
    ),
    *(
        "sin",
        "cos",
        "tan",
        "tanh",
        "arctan",
        "arctan2",
        "sinh",
        "cosh",
        "hypot",
        "cbrt",
        "erf",
        "gamma",
    ),
    *(
        "lgamma",
        "dot",
        "vdot",
        "inner",
        "matmul",
        "einsum",
        "tensordot",
        "linalg",
        "polyfit",
        "cov",
    ),
    *("corrcoef", "interp", "fft"),
}
#: Where they may be, and why.
ALLOWED = {
    "data/letor/write.py": "a first guess of the number of digits, which is checked",
    "engines/catboost/parameters.py": "the depth of a tree, a whole number",
    "forest/explain/pictures.py": "the number of digits that a picture shows",
    "render/axis.py": "the ticks of a picture",
    "report/comparison/per_query.py": "the number of bars, which is rounded",
    "stats/sampling.py": "a product of integers",
    "objectives/parts/losses.py": "the loss as pages show it, not that of a kernel",
}


def calls(path):
    """Yield the lines of a file that name one of these functions, multiply matrices or take powers beyond squares."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if named and node.value.id in ("np", "numpy", "math") and node.attr in CHOSEN:
            yield node.lineno, f"{node.value.id}.{node.attr}"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "@"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            exponent = getattr(node.right, "value", None)
            root = isinstance(exponent, float) or (isinstance(exponent, int) and exponent > 2)
            if root and not isinstance(node.left, ast.Constant):
                yield node.lineno, "**"
        if isinstance(node, ast.ImportFrom) and node.module in ("math", "numpy"):
            yield from ((node.lineno, n.name) for n in node.names if n.name in CHOSEN)


def test_no_function_is_left_to_the_processor():
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            if "cuda" not in path.parts and path.name != "cuda.py" and (lines := list(calls(path))):
                found[path.relative_to(ROOT).as_posix()] = lines
    assert found.keys() == ALLOWED.keys(), found


def test_no_kernel_for_a_cpu_is_compiled_with_fast_math():
    from rankwood._kernels.compile.jit import INNER, OPTIONS, UNCOUNTED

    assert not any(options["fastmath"] for options in (OPTIONS, INNER, UNCOUNTED))
    for path in ROOT.rglob("*.py"):
        if "cuda" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "fastmath":
                    assert isinstance(node.value, ast.Constant) and not node.value.value, path
