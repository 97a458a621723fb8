"""Compiled code: found on disk by the next process, never stale, vectorised, and the same with JIT off."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels.compile.jit import JIT

pytestmark = pytest.mark.slow

USER_PART = """
import sys
import numpy as np
from rankwood.extend import part
import rankwood as rw
from rankwood.objectives import Lambda
from rankwood.objectives._kernels.pairwise import pairwise_kernel

@part
class Constant:
    def weight(self, a, b):
        return {weight}

if __name__ == "__main__":
    g, _ = rw.gradients(Lambda(weight=Constant()), [1, 0], [0.0, 0.0], n_jobs=1)
    print(g[1], sum(pairwise_kernel.stats.cache_hits.values()))
"""


def run(code, cache, **env):
    done = subprocess.run(
        [sys.executable, *code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


SETS = """
from rankwood.extend import part
from rankwood.metrics import NDCG

@part
class Own:
    def words(self):
        assert "a" in {"b", "c", "a", ("d", "e")}, {1: lambda x: x in {"f", "g", "h"}}

print(NDCG.Lowered.__name__, Own.Lowered.__name__)
"""


def test_names_of_compiled_parts_are_the_same_in_every_process(tmp_path):
    script = tmp_path / "own.py"
    script.write_text(SETS)
    names = {tuple(run([str(script)], tmp_path, PYTHONHASHSEED=seed)) for seed in "123"}
    assert len(names) == 1


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_compiled_code_is_found_on_disk_and_never_stale(tmp_path):
    script, cache = tmp_path / "own.py", tmp_path / "cache"
    script.write_text(USER_PART.format(weight="a.embedded * 0 + 1.0"))
    assert run([str(script)], cache) == ["0.5", "0"]  # compiled
    assert run([str(script)], cache) == ["0.5", "1"]  # found
    script.write_text(USER_PART.format(weight="a.embedded * 0 + 3.0"))
    assert run([str(script)], cache) == ["1.5", "0"]  # an edited part is compiled anew
    # A process that doesn't have the user's part can still read the cache.
    code = "import rankwood as rw; print(rw.gradients('lambdarank-ndcg(norm=False)', [1, 0], [0, 0])[0][1])"
    assert float(run(["-c", code], cache)[0]) == pytest.approx(0.5 * (1 - 1 / np.log2(3)))


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_a_change_in_any_kernel_file_compiles_anew(tmp_path):
    package = tmp_path / "rankwood"
    shutil.copytree(Path(rw.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import rankwood as rw; from rankwood.metrics.kernels import rank_queries\n"
        "print(rw.evaluate('dcg', [1, 0], [0.0, 0.0]).mean()['dcg'], sum(rank_queries.stats.cache_hits.values()))"
    )
    worst = 1 / np.log2(3)
    for hits in (0, 1):
        value, found = run(["-c", code], tmp_path / "cache", PYTHONPATH=str(tmp_path))
        assert float(value) == pytest.approx(worst) and int(found) == hits
    # `rank_queries` calls `sort_down` of another file, which Numba doesn't watch.
    sorts = package / "_kernels" / "numeric" / "sorting.py"
    sorts.write_text(sorts.read_text() + "\nCHANGED = True\n")
    value, found = run(["-c", code], tmp_path / "cache", PYTHONPATH=str(tmp_path))
    assert float(value) == pytest.approx(worst) and int(found) == 0


PROSE = '"""Text of another edition."""'
#: Compiles and runs kernels of metrics and of the parser, and prints how many were found on disk.
TWO_KERNELS = """
import sys
import rankwood as rw
from rankwood.data.letor.parse import parse_lines
from rankwood.metrics.kernels import rank_queries

rw.evaluate("dcg", [1, 0], [0.0, 0.0])
rw.load_letor(sys.argv[1])
print(*(sum(kernel.stats.cache_hits.values()) for kernel in (rank_queries, parse_lines)))
"""


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_prose_compiles_nothing_anew_and_code_does(tmp_path):
    package = tmp_path / "rankwood"
    shutil.copytree(Path(rw.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "data.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    call = ["-c", TWO_KERNELS, str(tmp_path / "data.txt")]
    found = []

    def run_both():
        found.append(run(call, tmp_path / "cache", PYTHONPATH=str(tmp_path)))

    run_both()
    run_both()
    for name in ("data/ranking_data", "data/letor/parse", "metrics/kernels", "metrics/parts/dcg"):
        path = package / f"{name}.py"
        _, _, rest = path.read_text().partition('"""')
        _, _, code = rest.partition('"""')
        path.write_text(f"{PROSE}{code}\n# A comment.\n")
    run_both()
    not_compiled = package / "data" / "ranking_data.py"
    not_compiled.write_text(not_compiled.read_text() + "\nCHANGED = True\n")
    run_both()
    compiled = package / "metrics" / "parts" / "dcg.py"
    compiled.write_text(compiled.read_text() + "\nCHANGED = True\n")
    run_both()
    assert found == [["0", "0"], ["1", "1"], ["1", "1"], ["1", "1"], ["0", "0"]]


def test_the_same_numbers_without_compiling(tmp_path):
    code = (
        "import numpy as np, rankwood as rw\n"
        "r = np.random.default_rng(5); y = r.integers(0, 4, 30); s = np.round(r.normal(size=30), 1)\n"
        "q = np.arange(30) // 8\n"
        "g, h = rw.gradients('lambdarank-ndcg@3', y, s, qid=q)\n"
        "e = rw.evaluate(['ndcg@5', 'dcg'], y, s, qid=q, ties='average').mean()\n"
        "print(*g, *h, *e.values())\n"
    )
    compiled = np.array(run(["-c", code], tmp_path, NUMBA_DISABLE_JIT="0"), float)
    plain = np.array(run(["-c", code], tmp_path, NUMBA_DISABLE_JIT="1"), float)
    np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-14)


ASSEMBLY = """
import re, sys
import numpy as np
import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives._kernels.pairwise import pairwise_kernel

y = np.arange(20.0) % 4
GradientComputer(rw.objective("lambdarank-ndcg@10", norm=False), y, group_rows(20), dtype=getattr(np, sys.argv[1]))(y)
(code,) = pairwise_kernel.inspect_asm().values()
print(len(re.findall(sys.argv[2], code)))
"""


@pytest.mark.skipif(not JIT, reason="without compiling there is no machine code")
@pytest.mark.parametrize(
    ("real", "packed"),
    [("float64", r"v?divpd|fdiv\tv\d+\.2d"), ("float32", r"v?divps|fdiv\tv\d+\.4s")],
)
def test_the_pair_loop_is_vectorised(real, packed, tmp_path):
    """Look at the machine code: the four anchors' divisions work on vectors."""
    # In a process of its own with nothing on disk: code that was found there can't be inspected.
    assert int(run(["-c", ASSEMBLY, real, packed], tmp_path)[0]) >= 4


def test_a_cold_cache_directory_that_can_not_be_written(tmp_path):
    # No place for a cache at all: compiled in every process, no exception.
    code = "import rankwood as rw; print(rw.evaluate('dcg', [1], [0.0]).mean()['dcg'])"
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert run(["-c", code], blocked / "under") == ["1.0"]


GONE = """
import sys, types
from collections import namedtuple
import numpy as np

home = types.ModuleType("home")
sys.modules["home"] = home
if sys.argv[1] == "there":
    home.Gone = namedtuple("Gone", "x")
    home.Gone.__module__ = "home"
from kernels import first

print(first(home.Gone(np.ones(2)) if sys.argv[1] == "there" else (np.ones(2),)))
"""


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_an_index_with_classes_that_are_gone_is_no_obstacle(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from rankwood._kernels.compile.jit import jit\n\n@jit\ndef first(record):\n    return record[0][0]\n"
    )
    (tmp_path / "main.py").write_text(GONE)
    for there in ("there", "gone", "there"):
        assert run([str(tmp_path / "main.py"), there], tmp_path / "cache") == ["1.0"]


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "one bit": lambda path: path.write_bytes(flipped(path.read_bytes())),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
}


def flipped(data):
    middle = 2 * len(data) // 3
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


TWICE = """
import sys
from kernels import double

print(double(3.0), double(4), sum(double.stats.cache_hits.values()))
"""


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from rankwood._kernels.compile.jit import jit\n\n@jit\ndef double(x):\n    return 2 * x\n"
    )
    (tmp_path / "main.py").write_text(TWICE)
    return lambda **env: run([str(tmp_path / "main.py")], tmp_path / "cache", **env)


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_a_damaged_cache_is_no_obstacle(kernel, tmp_path):
    assert kernel() == ["6.0", "8", "0"] and kernel() == ["6.0", "8", "2"]
    files = [path for path in (tmp_path / "cache").rglob("*.nb?") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for name, damage in DAMAGES.items():
        for path in files:
            damage(path)
        assert kernel()[:2] == ["6.0", "8"], name
        for path in files:
            if path.is_dir():
                path.rmdir()
    assert kernel()[:2] == ["6.0", "8"]  # written anew
    assert kernel() == ["6.0", "8", "2"]


@pytest.mark.skipif(not JIT, reason="without compiling there is no compiled code to find")
def test_a_full_disk_is_no_obstacle(kernel, tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    # Python 3.11 keeps bytecode that was cut.
    limit += "import sys; sys.dont_write_bytecode = True\n"
    main = tmp_path / "main.py"
    main.write_text(f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{limit}{TWICE}")
    assert kernel() == ["6.0", "8", "0"] and kernel() == ["6.0", "8", "0"]
