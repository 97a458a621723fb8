"""The networks of [bivariate2024] with its sizes and learning rates, as a table, and smaller ones for small data."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rankwood._util import checks

#: The training of all networks. A batch of 32 lists of 20 documents has 640.
_COMMON = {
    "optimizer": "adagrad",
    "batch_documents": 640,
    "eval_metric": "ndcg@5",
    # The loss of eq. 8: LightGBM's normalisation is LightGBM's alone.
    "objective": "lambdarank-ndcg@5(norm=False)",
    "momentum": 1e-3,
    "input_norm": True,
}
#: At most 150,000 steps, and 10,000 without an improvement, in epochs of as many steps as there are batches.
_EPOCHS = {
    "web10k": {"epochs": 797, "early_stopping_rounds": 53},
    "web30k": {"epochs": 253, "early_stopping_rounds": 17},
    "yahoo": {"epochs": 240, "early_stopping_rounds": 16},
}
_TOWER = ("learning_rate", "hidden", "dropout")
_ATTENTION = ("layers", "heads", "size", "attention_dropout")
#: Learning rate, sizes of the layers, dropout.
_TOWERS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("dnn", "web10k"): (0.010, (1024, 256, 64), 0.5),
    ("dnn", "web30k"): (0.050, (512, 256, 128, 64), 0.5),
    ("dnn", "yahoo"): (0.050, (1024, 512, 256), 0.5),
    ("gsf-2", "web10k"): (0.005, (1024, 512, 256, 128), 0.5),
    ("gsf-2", "web30k"): (0.010, (4096, 1024, 256, 64), 0.5),
    ("gsf-2", "yahoo"): (0.050, (2048, 1024, 512, 256), 0.5),
    ("gsf-20", "web10k"): (0.050, (512, 256, 128, 64), 0.5),
    ("gsf-20", "web30k"): (0.050, (1024, 512, 256, 128), 0.5),
    ("gsf-20", "yahoo"): (0.050, (1024, 512, 256), 0.25),
    ("attn-din", "web10k"): (0.005, (512, 256, 128, 64), 0.25),
    ("attn-din", "web30k"): (0.050, (512, 128, 32), 0.5),
    ("attn-din", "yahoo"): (0.050, (2048, 1024, 512, 256), 0.25),
}
#: Number of layers, heads, units, dropout.
_LAYERS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("attn-din", "web10k"): (4, 6, 256, 0.25),
    ("attn-din", "web30k"): (1, 4, 256, 0.50),
    ("attn-din", "yahoo"): (6, 1, 128, 0.25),
    ("setrank", "web10k"): (5, 2, 256, 0.50),
    ("setrank", "web30k"): (4, 2, 256, 0.50),
    ("setrank", "yahoo"): (4, 2, 512, 0.25),
}
#: What a name of the table adds to its architecture.
_OWN: dict[str, dict[str, Any]] = {
    "dnn": {"architecture": "dnn"},
    "gsf-2": {"architecture": "gsf", "group_size": 2},
    "gsf-20": {"architecture": "gsf", "group_size": 20},
    "attn-din": {"architecture": "attn-din"},
    "setrank": {
        "architecture": "setrank",
        "learning_rate": 0.05,
        "clip": 5.0,
        "input_norm": False,
        "momentum": 0.1,
    },
}


#: For a few hundred or thousand lists: what networks are trained with in place of the paper's sizes.
_SMALL = {
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "momentum": 0.1,
    "input_norm": False,
    "epochs": 100,
    "early_stopping_rounds": 15,
}
_SMALL_TOWER = {"hidden": (128, 64, 32), "dropout": 0.25}
_SMALL_ATTENTION = {"heads": 2, "size": 64}
_SMALL_OWN: dict[str, dict[str, Any]] = {
    "dnn": _SMALL_TOWER,
    "gsf-2": _SMALL_TOWER,
    "gsf-20": _SMALL_TOWER,
    "attn-din": {**_SMALL_TOWER, **_SMALL_ATTENTION, "layers": 1, "attention_dropout": 0.25},
    # With the rate and the dropout of the others it is at its best after few epochs, and behind them.
    "setrank": {
        **_SMALL_ATTENTION,
        "layers": 2,
        "attention_dropout": 0.5,
        "learning_rate": 1e-4,
    },
}


def _small(name: str) -> Mapping[str, Any]:
    """Return the parameters of a network for small data."""
    return MappingProxyType({**_COMMON, **_OWN[name], **_SMALL, **_SMALL_OWN[name]})


def _preset(name: str, data: str) -> Mapping[str, Any]:
    """Return the parameters of a network for a data set."""
    tower = dict(zip(_TOWER, _TOWERS.get((name, data), ()), strict=False))
    layers = dict(zip(_ATTENTION, _LAYERS.get((name, data), ()), strict=False))
    return MappingProxyType({**_COMMON, **_EPOCHS[data], **tower, **layers, **_OWN[name]})


#: Parameters of `NeuralRanker`, by name of the network and of the data set.
PRESETS: Mapping[tuple[str, str], Mapping[str, Any]] = MappingProxyType(
    {(name, data): _preset(name, data) for name in _OWN for data in _EPOCHS}
    | {(name, "small"): _small(name) for name in _OWN}
)


def find_preset(name: Any, data: Any) -> Mapping[str, Any]:
    """Return the parameters of a network for a data set, or raise if there are none."""
    for value, known, what in ((name, _OWN, "network"), (data, (*_EPOCHS, "small"), "data set")):
        if value not in known:
            near = checks.nearest(str(value), known)
            raise checks.InputError(f"there is no preset of the {what} {value!r}{near}")
    return PRESETS[name, data]
