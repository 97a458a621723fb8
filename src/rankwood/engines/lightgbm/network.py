"""LightGBM's own network, over which the processes of a cluster grow one tree together (`tree_learner=data`).

Every process has some of the rows. They add up their histograms, and each looks for the best split of some features.
"""

import re
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.engines import _parameters
from rankwood.engines.base import RunState
from rankwood.engines.exact_sums import exact
from rankwood.engines.lightgbm.parameters import binning_params
from rankwood.engines.round_seeds import RowDraws
from rankwood.engines.sharing import ClusterMember, Compute
from rankwood.objectives.units import unit_of

with _parameters.passive_threads():
    import lightgbm as lgb

#: Returns a booster, given the parameters of the network.
MakeBooster = Callable[[dict[str, Any]], Any]

_SILENT = 10  # minutes after which LightGBM gives up a silent process
_BINDING = 5.0  # seconds in which a port must be free again
_BAGGING = ("bagging_fraction", "bagging_freq", "bagging_seed")
_LEAF = 20  # LightGBM's default of min_data_in_leaf
#: Lines of a model's parameters that differ between processes or runs, and their defaults.
_DEFAULTS = {
    "machines": "",
    "num_machines": "1",
    "local_listen_port": "12400",
    "time_out": "120",
    "num_threads": "0",
}
_LINES = re.compile(rf"^\[({'|'.join(_DEFAULTS)}): [^\n]*\]$", re.MULTILINE)
#: Parameters that can't be used, and why; others are refused by their value, see `check`.
_REFUSED = {
    "linear_tree": "LightGBM grows linear trees on one machine only",
    "use_quantized_grad": "it rounds gradients by chance, by the number of a row on its worker",
    "interaction_constraints": "LightGBM reads foreign memory with it, if several machines train",
    "forcedsplits_filename": "LightGBM forces splits by the rows of one worker",
    "forcedbins_filename": "the file would have to be on every worker",
    "categorical_feature": "a cluster trains on numbers",
    "cegb_penalty_split": "LightGBM counts these costs by the rows of one worker",
    "cegb_penalty_feature_lazy": "LightGBM counts these costs by the rows of one worker",
    "cegb_penalty_feature_coupled": "LightGBM counts these costs by the rows of one worker",
    **dict.fromkeys(
        ("num_machines", "local_listen_port", "time_out", "machine_list_filename", "pre_partition"),
        "the cluster sets it",
    ),
    **dict.fromkeys(
        ("pos_bagging_fraction", "neg_bagging_fraction"), "rows are drawn whatever their label"
    ),
}
#: Parameters of which a cluster has one value.
_ONLY = {
    "boosting": ("gbdt", "gbrt"),
    "data_sample_strategy": ("bagging",),
    "tree_learner": ("data", "data_parallel"),
    "device_type": ("cpu",),
    "monotone_constraints_method": ("basic",),
}


def check(params: dict[str, Any], objective: Any) -> None:
    """Raise unless several machines can train with these parameters, which have LightGBM's names."""
    if unit_of(objective) != "documents":
        raise checks.InputError(
            "objectives of pairs (bi-...) train on one machine: on a cluster use an objective of documents."
        )
    for name, why in _REFUSED.items():
        if params.get(name) not in (None, False, "", 0):
            raise checks.InputError(f"{name} can't be used on a cluster: {why}. Omit it.")
    if int(params.get("bagging_freq", 1)) > 1:
        raise checks.InputError(
            "bagging_freq above 1 can't be used on a cluster, where each round draws its rows: omit it."
        )
    for name, known in _ONLY.items():
        if name in params and params[name] not in known:
            raise checks.InputError(
                f"{name}={params[name]!r} can't be used on a cluster: omit it, or use {known[0]!r}."
            )


def shared_binning(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of binned data: no feature is omitted because of the number of rows."""
    return binning_params({**params, "feature_pre_filter": False})


def check_goes_on(before: RunState | None, processes: int) -> None:
    """Raise if a checkpoint from one process is resumed on several, or vice versa; leaf counts would differ."""
    if before is None or ("\n[tree_learner: data]\n" in before.text) == (processes > 1):
        return
    earlier, now = ("one worker", "several") if processes > 1 else ("several workers", "one")
    raise checks.InputError(
        f"the checkpoint was made by {earlier}, and {now} can't resume it bit-identically: LightGBM counts the "
        "documents of a leaf otherwise. Use as many workers as before or, if there were several, at least two."
    )


class SingleProcess:
    """A run of one process, which has all rows.

    Parameters
    ----------
    params : dict
        Parameters under LightGBM's names.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.params, self.binning = params, binning_params(params)

    def with_network(self, make: MakeBooster) -> Any:
        """Return the booster that `make` returns, given parameters of the network."""
        return make({})

    def gradients(self, compute: Compute, round_index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians of a round, on the grid."""
        return exact(compute)

    def text(self, text: str) -> str:
        """Return the text of a model without what differs between processes."""
        return text


class DataParallel:
    """The run of one process among others, see `SingleProcess`.

    Rows of a round (`subsample`) are drawn here, by their number among all rows: LightGBM would draw by the number of a
    row on its worker. Those that are omitted have gradients and Hessians of 0. LightGBM counts documents by their
    Hessians, so that all rows are shared out among those that are drawn, and the smallest leaf has to be larger.

    Parameters
    ----------
    params : dict
        Parameters under LightGBM's names.
    member : ClusterMember
        Knows the others.
    """

    def __init__(self, params: dict[str, Any], member: ClusterMember) -> None:
        self._member = member
        bags = bool(params.get("bagging_freq"))
        drawn = float(params.get("bagging_fraction", 1.0)) if bags else 1.0
        self._draws = RowDraws(drawn, int(params.get("seed") or 0), member.rows)
        smallest = round(params.get("min_data_in_leaf", _LEAF) / drawn)
        kept = {name: value for name, value in params.items() if name not in _BAGGING}
        self.params = {
            **kept,
            "min_data_in_leaf": max(1, smallest),  # with 0, empty leaves end the process
            "tree_learner": "data",
            "feature_pre_filter": False,
        }
        self.binning = shared_binning(params)

    def with_network(self, make: MakeBooster) -> Any:
        """Link the processes; try again if another program has taken the port that was free."""
        leaving = self._member.leaving
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
            held.bind(("", 0))
            port = held.getsockname()[1]
            machines = self._member.addresses(port)  # all processes meet here
        network = {
            "machines": ",".join(machines),
            "num_machines": len(machines),
            "local_listen_port": port,
            "time_out": _SILENT,
        }
        leaving.callback(lgb.basic._LIB.LGBM_NetworkFree)
        end = time.monotonic() + _BINDING
        while True:
            try:
                booster = make(network)
                break
            except lgb.basic.LightGBMError as error:
                if "Binding port" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.1)
        # Otherwise it would free the network of the thread that happens to delete it.
        leaving.callback(booster.free_network)
        return booster

    def gradients(self, compute: Compute, round_index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians of the rows of this process, on the grid of all."""
        return self._draws.used(round_index, *exact(compute, self._member))

    def text(self, text: str) -> str:
        """Return the text of a model with the same parameters in every process and every run."""
        return _LINES.sub(lambda found: f"[{found[1]}: {_DEFAULTS[found[1]]}]", text)


#: What trains: one process, or one of several.
Backend = SingleProcess | DataParallel


def backend_for(params: dict[str, Any], member: ClusterMember | None) -> Backend:
    """Return what trains with these parameters."""
    return SingleProcess(params) if member is None else DataParallel(params, member)
