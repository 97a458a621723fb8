"""Going on with a LightGBM run: the trees so far, and the first round after them."""

from typing import Any

from rankwood.engines import _parameters
from rankwood.engines._errors import not_resumable
from rankwood.engines.base import RunState
from rankwood.engines.lightgbm.network import Backend

with _parameters.passive_threads():
    import lightgbm as lgb

#: Parameters with which LightGBM keeps more from round to round than its trees.
_KEEPS_STATE = (
    "linear_tree",
    "use_quantized_grad",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_feature_coupled",
)


def obstacle(params: dict[str, Any]) -> tuple[str, str] | None:
    """Return what keeps a run from being resumed bit-identically, and why; None if nothing does."""
    boosting = params.get("boosting", "gbdt")
    if boosting not in ("gbdt", "gbrt"):
        return f"boosting={boosting!r}", "later rounds change or depend on earlier trees"
    if params.get("data_sample_strategy", "bagging") != "bagging":
        return "data_sample_strategy='goss'", "it counts rounds from the start of the run"
    if params.get("bagging_freq", 1) not in (0, 1):
        return "bagging_freq above 1", "a sample would have to outlive its round"
    for name in _KEEPS_STATE:
        if params.get(name) not in (None, False, "", 0):
            return name, "its state isn't in the model"
    return None


def check(params: dict[str, Any]) -> None:
    """Raise if a run with these parameters can't be resumed bit-identically."""
    found = obstacle(params)
    if found is not None:
        raise not_resumable(*found)


class Continuation:
    """The first round after those of an earlier run; LightGBM merges the earlier trees into a new booster.

    Parameters
    ----------
    params : dict
        LightGBM's parameters, with the seeds of the round.
    datasets : (Dataset, Dataset or None)
        Training and validation data that no other run has used, as LightGBM adds the scores of earlier trees to them.
    before : RunState
        The earlier run.
    backend : Backend
        Links the processes, if there are several.
    """

    def __init__(
        self,
        params: dict[str, Any],
        datasets: tuple[Any, Any],
        before: RunState,
        backend: Backend,
    ) -> None:
        self._params, self._datasets, self._before = params, datasets, before
        self._backend = backend

    def text(self, rounds: int) -> str:
        """Return the first trees of the earlier run, for a run that adds none."""
        text: str = lgb.Booster(model_str=self._before.text).model_to_string(num_iteration=rounds)
        return text

    def first_round(self, set_booster: Any, objective: Any) -> bool:
        """Grow a tree and return whether it has splits; `set_booster` gets the booster before there are gradients."""
        data, valid = self._datasets

        def keep(env: Any) -> None:
            set_booster(env.model)

        keep.before_iteration = True  # type: ignore[attr-defined]
        earlier = lgb.Booster(model_str=self._before.text)

        def first(more: dict[str, Any]) -> Any:
            return lgb.train(
                {**self._params, **more, "objective": objective},
                data,
                num_boost_round=1,
                valid_sets=None if valid is None else [valid],
                valid_names=None if valid is None else ["valid"],
                init_model=earlier,
                keep_training_booster=True,
                callbacks=[keep],
            )

        booster = self._backend.with_network(first)
        booster.reset_parameter({"num_iterations": 100})  # as in a run without a break
        return bool(booster.num_trees() > earlier.num_trees())
