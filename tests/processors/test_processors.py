"""The same bits on every processor: code compiled for others, and their ways to compute exp and log.

`NUMBA_CPU_NAME` compiles for another processor. NumPy and the C library choose among several versions of exp, log and
other functions by what the processor can do; variables of the environment make them choose those of an older one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

pytestmark = pytest.mark.processors

PROGRAM = Path(__file__).parent / "digests.py"
#: Processors by LLVM's names, and what this one must have to run code for them.
TARGETS = {
    "haswell": ("avx2", "fma", "bmi2"),
    "skylake-avx512": ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"),
    "x86-64-v2": ("sse4.2", "popcnt"),
    "znver3": ("avx2", "fma", "sse4a", "vaes"),
}
#: Processors for which every objective is compiled, not just `digests.FEW`: without FMA, and with AVX-512.
EVERY = ("x86-64-v2", "skylake-avx512")


def printed(environment, *args):
    """Return what Python prints with these arguments in this environment."""
    env = {**os.environ, **environment}
    done = subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def digests(environment, *args):
    """Return the digests of a process in this environment."""
    return json.loads(printed(environment, str(PROGRAM), *args))


def older():
    """Return the variables that make NumPy, OpenBLAS and the C library compute as for a processor of 2009."""
    umath = np._core._multiarray_umath
    dispatched = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-AVX512F,-FMA4",
        "OPENBLAS_CORETYPE": "Nehalem",
    }


@pytest.fixture(scope="session")
def here():
    """The digests of this processor, for which most kernels have been compiled before."""
    return digests({}, "all")


@pytest.mark.parametrize("target", TARGETS)
def test_bits_are_those_of_another_processor(target, here, tmp_path):
    missing = [name for name in TARGETS[target] if not llvm.get_host_cpu_features().get(name)]
    if missing:
        pytest.skip(f"this processor can't run code for {target}: it lacks {', '.join(missing)}")
    environment = {
        "NUMBA_CPU_NAME": target,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    if target == "x86-64-v2":
        environment |= older()
    found = digests(environment, *(["all"] if target in EVERY else []))
    assert found == {name: here[name] for name in found}


def test_the_test_sees_a_difference():
    """Without our exp and log, and with sums in the compiler's order, processors differ."""
    if not llvm.get_host_cpu_features().get("fma"):
        pytest.skip("this processor computes as the oldest does: it has no FMA")
    code = """
import numpy as np, numba, hashlib
@numba.njit(fastmath=True)
def total(x):
    s = np.float32(0.0)
    for v in x: s += v * v
    return s
x = np.random.default_rng(0).normal(size=1001).astype(np.float32)
print(float(total(x)), hashlib.sha256(np.exp(np.linspace(-3.0, 3.0, 5000)).tobytes()).hexdigest())
"""
    other = {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "", **older()}
    here, there = (printed(environment, "-c", code).split() for environment in ({}, other))
    assert here[0] != there[0] and here[1] != there[1]
