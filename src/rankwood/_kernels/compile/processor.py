"""The processor, and the one that code is compiled for."""

import platform
from typing import NamedTuple

import llvmlite.binding as llvm
import numba

#: Sets of vector instructions by LLVM's names, the widest first.
_VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "neon": "NEON", "sse2": "SSE2"}


class Processor(NamedTuple):
    """A processor by LLVM's name, and the target of the compiler, which NUMBA_CPU_NAME may set."""

    machine: str
    name: str
    vectors: str | None
    compiled_for: str


def processor() -> Processor:
    """Return what this processor is."""
    features, name = llvm.get_host_cpu_features(), llvm.get_host_cpu_name()
    vectors = next((known for feature, known in _VECTORS.items() if features.get(feature)), None)
    return Processor(platform.machine(), name, vectors, numba.config.CPU_NAME or name)
