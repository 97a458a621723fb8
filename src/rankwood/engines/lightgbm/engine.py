"""Stock LightGBM, with our gradients."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core import checks, threads
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _parameters
from rankwood.engines.base import Gradients, Task
from rankwood.engines.lightgbm import langevin
from rankwood.objectives.bi import Bivariate

with _parameters.passive_threads():
    import lightgbm as lgb

if TYPE_CHECKING:
    from rankwood.engines.lightgbm.stored_pairs import PairsEngine

#: Names that engines share, and what LightGBM calls them.
_SHARED = {
    "learning_rate": "learning_rate",
    "num_leaves": "num_leaves",
    "max_depth": "max_depth",
    "min_child_samples": "min_data_in_leaf",
    "min_child_weight": "min_sum_hessian_in_leaf",
    "reg_alpha": "lambda_l1",
    "reg_lambda": "lambda_l2",
    "subsample": "bagging_fraction",
    "colsample_bytree": "feature_fraction",
    "random_state": "seed",
    "n_jobs": "num_threads",
}
#: Parameters of LightGBM's own ranking objective, which isn't used, and what ours calls them.
_OBJECTIVE = {
    "lambdarank_truncation_level": "truncation",
    "lambdarank_norm": "norm",
    "sigmoid": "sigma",
    "label_gain": "gain",
}
# Ours to decide: the objective, how long to train, and what is printed and measured.
_OURS = {
    "objective": "objective",
    "num_iterations": "n_estimators",
    "metric": "eval_metric",
    "eval_at": "eval_metric",
    "early_stopping_round": "early_stopping_rounds",
    "verbosity": "verbose",
    "seed": "random_state",
    "num_threads": "n_jobs",
}
# LightGBM would take them, and do something else than rank.
_FOREIGN = ("num_class", "task", "data", "valid", "input_model", "output_model", "machines")


class LightGBMEngine:
    """One training run of LightGBM."""

    keeps_rounds: bool
    takes_gradients = True

    def __init__(
        self, params: dict[str, Any], train: RankingData, valid: RankingData | None
    ) -> None:
        names = train.feature_names
        # LightGBM refuses some characters in names; the model file's header keeps the real ones.
        plain = names is not None and all(re.fullmatch(r"[\w.+/-]+", n) for n in names)
        params = dict(params)
        columns = _parameters.whole(params.pop("categorical_feature", None), train)
        self.keeps_rounds = params.get("boosting") != "dart"
        with _plain_errors():
            data = lgb.Dataset(
                train.X,
                train.y,
                feature_name=names if plain else "auto",
                categorical_feature=columns or "auto",
                params=dict(params),
            )
            self._booster = lgb.Booster(dict(params), data)
            if valid is not None:
                seen = data.create_valid(valid.X, valid.y, params=dict(params))
                self._booster.add_valid(seen, "valid")

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""
        with _plain_errors():
            return not self._booster.update(fobj=lambda scores, _: gradients(scores))

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        seen: list[np.ndarray] = []

        def look(scores: np.ndarray, _: Any) -> tuple[str, float, bool]:
            seen.append(scores)
            return "seen", 0.0, True

        self._booster.eval_valid(feval=look)
        return seen[0]

    def model(self, rounds: int) -> "LightGBMModel":
        """Return the ensemble of the first `rounds` trees."""
        return LightGBMModel(self._booster.model_to_string(num_iteration=rounds))


class LangevinEngine(LightGBMEngine):
    """LightGBM with Langevin noise on the gradients and a model that shrinks before each round.

    The booster's trees stay as they were grown; the scores seen outside, and the model at the end, are
    those of the shrunken trees.
    """

    def __init__(self, how: langevin.Langevin, params: dict[str, Any], task: Task) -> None:
        super().__init__(params, task.train, task.valid)
        self._how = how
        self._round = -1
        self._train = langevin.Shrunken()
        self._valid = langevin.Shrunken() if how.rate and task.valid is not None else None

    def update(self, gradients: Gradients) -> bool:
        """Shrink the model and grow a tree; False if there is nothing left to split."""
        how, last, round = self._how, self._round, self._round + 1

        def noisy(sum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            scores = self._train.add(sum, how.factor(last)) if how.rate else sum
            grad, hess = gradients(how.factor(round) * scores)
            return grad + how.noise(round, grad.size) if how.sd else grad, hess

        more = super().update(noisy)
        self._round = round
        if self._valid is not None:
            self._valid.add(super().valid_scores(), how.factor(round))
        return more

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        return super().valid_scores() if self._valid is None else self._valid.scores

    def model(self, rounds: int) -> "LightGBMModel":
        """Return the ensemble of the first `rounds` trees, with leaves as they were after that round."""
        text = super().model(rounds).text
        return LightGBMModel(langevin.scaled(text, self._how.left(rounds)))


class LightGBMModel:
    """A trained LightGBM ensemble; its text is its whole state."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._booster: lgb.Booster | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_booster": None}

    def predict(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per row."""
        return self._loaded().predict(X, num_threads=threads.threads(n_jobs))

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all."""
        return self._loaded().feature_importance("gain")

    def _loaded(self) -> Any:
        if self._booster is None:
            self._booster = lgb.Booster(model_str=self.text)
        return self._booster


def start(params: dict[str, Any], task: Task) -> "LightGBMEngine | PairsEngine":
    """Begin a training run with parameters by the shared names or LightGBM's own."""
    real, how, differences = _asked(params, task.objective)
    if isinstance(task.objective, Bivariate):
        from rankwood.engines.lightgbm.stored_pairs import (
            PairsEngine,
        )  # it is one of ours, with pairs for rows

        return PairsEngine(real, differences, task)
    if how is None:
        return LightGBMEngine(real, task.train, task.valid)
    return LangevinEngine(how, real, task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless an objective can be trained with these parameters."""
    _asked(params, objective)


def _asked(
    params: dict[str, Any], objective: Any
) -> tuple[dict[str, Any], langevin.Langevin | None, Any]:
    """Return LightGBM's parameters, those of Langevin boosting, and the differences that pairs have."""
    ours, params = langevin.split(params)
    paired = "differences" in params
    differences = params.pop("differences", "base")
    real = translate(params)
    how = langevin.asked(ours, real.get("learning_rate", 0.1), real.get("seed"))
    if isinstance(objective, Bivariate):
        if how is not None:
            raise checks.InputError("Langevin boosting is not for models of pairs; leave it out.")
    elif paired:
        raise checks.InputError(
            "differences are features of pairs: they go with an objective bi-..."
        )
    elif how is not None:
        _check_langevin(how, real)
    return real, how, differences


def load(text: str) -> Any:
    """Return the model that `text` holds, or raise if LightGBM can't read it."""
    if text.startswith("{"):
        from rankwood.engines.lightgbm import stored_pairs as lightgbm_pairs

        return lightgbm_pairs.load(text)
    model = LightGBMModel(text)
    with _plain_errors():
        model._booster = lgb.Booster(model_str=text)
    return model


def translate(params: dict[str, Any]) -> dict[str, Any]:
    """Give parameters the names LightGBM takes, with what makes a seed mean the same bits."""
    aliases = _aliases()
    out: dict[str, Any] = {}
    for name, value in params.items():
        if name in _SHARED:
            out[_SHARED[name]] = value
            continue
        real = next((key for key, others in aliases.items() if name == key or name in others), None)
        if aliases and real is None:
            known = {*_SHARED, *langevin.NAMES, *aliases, *(a for o in aliases.values() for a in o)}
            raise _parameters.unknown("LightGBM", name, known)
        _parameters.refuse(name, real, _OURS, _FOREIGN)
        if real == "bagging_by_query" and value:
            raise checks.InputError(
                f"{name} learns nothing in LightGBM when gradients come from outside; leave it out."
            )
        if real in _OBJECTIVE:
            raise checks.InputError(
                f"{name} belongs to LightGBM's own objective, which isn't used; write it into ours, as in "
                f"objective='lambdarank-ndcg@10({_OBJECTIVE[real]}=...)'."
            )
        out[real or name] = value
    out["num_threads"] = threads.threads(out.get("num_threads"))
    if out.get("seed") is None:
        out.pop("seed", None)
    if checks.finite(out.get("bagging_fraction", 1.0), "subsample") < 1.0:
        out.setdefault("bagging_freq", 1)  # else LightGBM ignores the fraction
    # Sums by column are made in one order whatever the number of threads, sums by row are not.
    out.setdefault("deterministic", True)
    if not out.get("force_row_wise"):
        out.setdefault("force_col_wise", True)
    return {**out, "objective": "none", "metric": "None", "verbosity": -1}


def _check_langevin(how: langevin.Langevin, params: dict[str, Any]) -> None:
    """Refuse what can't be shrunk, or what noise would break."""
    boosting = str(params.get("boosting", "gbdt"))
    if boosting in ("dart", "rf", "random_forest"):
        raise checks.InputError(
            f"boosting={boosting!r} weighs its trees itself, so that Langevin boosting and shrinkage of the "
            "model can't be combined with it; use boosting='gbdt'."
        )
    if how.sd and not params.get("min_sum_hessian_in_leaf", 1e-3) and not params.get("lambda_l2"):
        raise checks.InputError(
            "Langevin noise would be divided by 0 in leaves without a hessian; give min_child_weight or "
            "reg_lambda above 0."
        )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn an error of LightGBM into one of ours, without the place in its sources."""
    try:
        yield
    except checks.InputError:
        raise
    except (lgb.basic.LightGBMError, TypeError, ValueError) as error:
        reason = re.sub(r" at \S+, line \d+ \.\s*$", "", str(error)).strip()
        if "num_features" in reason:
            reason = "no feature can split the data; lower min_child_samples or give more documents"
        raise checks.InputError(f"LightGBM can't train: {reason.rstrip('.')}.") from None


def _aliases() -> dict[str, list[str]]:
    """LightGBM's parameters and their other names; empty if this version keeps them elsewhere."""
    try:
        return dict(lgb.basic._ConfigAliases._get_all_param_aliases())
    except AttributeError:
        return {}
