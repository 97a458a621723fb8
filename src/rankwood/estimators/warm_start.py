"""More rounds on top of a fitted model: what `warm_start` begins with."""

import warnings

from rankwood._util import checks
from rankwood.engines import base
from rankwood.engines.base import RunState
from rankwood.engines.lightgbm import langevin
from rankwood.fit.files.checkpoint import EarlierRounds
from rankwood.fit.loop import FitData
from rankwood.fit.result import FitResult
from rankwood.fit.spec import FitSpec

_START_OVER = "set warm_start=False to start over."


def rounds_so_far(result: FitResult, spec: FitSpec, data: FitData) -> EarlierRounds:
    """Return the rounds of a fitted model; raise if they can't be added to."""
    engine = spec.settings.learner
    if not base.abilities_of(engine).takes_gradients:
        raise _cannot(f"engine={engine!r}", "it can't be resumed bit-identically")
    if any(spec.params.get(name) for name in langevin.NAMES):
        raise _cannot("Langevin boosting", "the trees of a model are shrunken")
    if result.settings.learner != engine:
        raise checks.InputError(
            f"warm_start: the model was trained by engine={result.settings.learner!r}, and now it is {engine!r}; "
            f"{_START_OVER}"
        )
    text = str(result.model.content().get("model", ""))
    if data.train.schema != result.schema:
        raise checks.InputError(
            f"warm_start: the model was trained on other features, or on other categories of them; {_START_OVER}"
        )
    done = result.rounds
    if spec.rounds < done:
        raise checks.InputError(
            f"warm_start: the model has {done} trees, and n_estimators={spec.rounds} is less: give a larger number, "
            f"or {_START_OVER}"
        )
    if spec.rounds == done:
        warnings.warn(
            f"warm_start adds no trees: the model has {done}, and n_estimators is {spec.rounds}.",
            UserWarning,
            stacklevel=2,
        )
    names = [] if data.valid is None else list(data.valid.by_name)
    digests = [] if data.valid is None else data.valid.fingerprints()
    # A loaded model doesn't know its validation data; sets of other names are refused later.
    if names == result.sets and result.validated_on not in (None, digests):
        raise checks.InputError(
            "warm_start: the rounds so far were evaluated on other validation data, so that no best round can be "
            f"chosen among all; give the same validation data, or {_START_OVER}"
        )
    return EarlierRounds(
        RunState(done, text, {}),
        result,
        "warm_start: the rounds so far have",
        f"; give the same validation sets and metrics, or {_START_OVER}",
    )


def _cannot(what: str, why: str) -> checks.InputError:
    return checks.InputError(f"warm_start can't be used with {what}: {why}.")
