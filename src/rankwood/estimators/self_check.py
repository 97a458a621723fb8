"""Whether this installation computes what every other one does: digests of gradients and of a small trained model.

A digest is made of the bits of a result, and compared with the expected one. Gradients depend on this package alone. A
model also depends on the engine, so its digest is expected only of versions that were tried.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from rankwood._util.versions import version_of
from rankwood.data.groups import group_rows
from rankwood.data.synthetic import make_ranking
from rankwood.objectives.families.registry import objective
from rankwood.objectives.gradients import GradientComputer

#: One kernel serves the gradients and the model: it takes some seconds to compile.
OBJECTIVE = "lambdarank-ndcg@10"
_GRADIENTS_DIGEST = "fb81a3a04230a84b"
_MODEL_DIGEST = "62d3fdd8da3a0520"
#: Versions of LightGBM that were found to train the model with this digest.
_TRIED_LIGHTGBM = ("4.5.0", "4.6.0", "4.7.0")


class DigestCheck(NamedTuple):
    """One comparison.

    `expected` is None if there is nothing to compare with, `found` if the result could not be computed; `error` says
    why.
    """

    name: str
    found: str | None
    expected: str | None
    error: str | None = None

    @property
    def verdict(self) -> str:
        """What a user reads."""
        if self.error is not None:
            return f"can't be computed: {self.error}"
        if self.expected is None:
            return "no expected digest for this version"
        return f"differs from {self.expected}" if self.failed else "as expected"

    @property
    def failed(self) -> bool:
        """Whether there is no digest, or not the expected one."""
        return self.found is None or (self.expected is not None and self.found != self.expected)


def self_check(n_jobs: int | None = None) -> list[DigestCheck]:
    """Compute gradients and train a small model; return their digests beside the expected ones."""
    tried = version_of("lightgbm") in _TRIED_LIGHTGBM
    return [
        _check(f"gradients of {OBJECTIVE}", _gradients, n_jobs, _GRADIENTS_DIGEST),
        _check(f"LightGBM model of {OBJECTIVE}", _scores, n_jobs, _MODEL_DIGEST if tried else None),
    ]


def _check(
    name: str, compute: Callable[[int | None], Any], n_jobs: int | None, expected: str | None
) -> DigestCheck:
    """Compute one result; whatever fails is for the user to read, beside the other facts."""
    try:
        return DigestCheck(name, _digest(compute(n_jobs)), expected)
    except Exception as error:
        return DigestCheck(name, None, expected, f"{type(error).__name__}: {error}")


def _digest(arrays: Iterable[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def _gradients(n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and Hessians of lists of 1 to 140 documents, at scores that are exact numbers."""
    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 140])
    y = rng.integers(0, 5, sizes.sum()).astype(np.float64)
    scores = rng.integers(-2000, 2000, y.size) / 512.0
    groups = group_rows(y.size, group=sizes)
    compute = GradientComputer(objective(OBJECTIVE), y, groups, dtype=np.float32, n_jobs=n_jobs)
    return compute(scores)


def _scores(n_jobs: int | None) -> tuple[np.ndarray]:
    """Return what a model of ten trees predicts for its own training data."""
    from rankwood.estimators.ranker import Ranker  # with LightGBM, which other modules do without

    data = make_ranking(60, seed=1)
    ranker = Ranker(OBJECTIVE, n_estimators=10, n_jobs=n_jobs, verbose=False)
    return (ranker.fit(data).predict(data),)
