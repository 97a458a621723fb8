"""The networks by name: what each is made of, and which parameters it has."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.neural.library import need_torch

_TOWER = ("hidden", "dropout", "batch_norm", "momentum", "input_norm")
_ATTENTION = ("layers", "heads", "size", "attention_dropout")


class Architecture(NamedTuple):
    """A network: where its class is, the parameters it has, and what it needs to know of the lists."""

    module: str
    kind: str
    params: tuple[str, ...]
    #: Whether a document's score depends on the other documents of its list.
    needs_lists: bool = True
    #: Whether scores depend on an order of the documents, which is drawn at random.
    ordered: bool = False
    #: The class for files of the first revision, if theirs is another network.
    earlier: str | None = None


ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        "dnn": Architecture("dnn", "DNN", _TOWER, needs_lists=False),
        "gsf": Architecture(
            "gsf", "GSF", (*_TOWER, "group_size", "shuffles", "differences"), ordered=True
        ),
        "attn-din": Architecture("attn_din", "AttnDIN", (*_TOWER, *_ATTENTION)),
        "setrank": Architecture(
            "setrank", "SetRank", (*_ATTENTION, "inducing"), earlier="EarlierSetRank"
        ),
    }
)
#: The revision of the networks that are trained. Files say theirs; those up to 0.4 say none, and have the first one.
REVISION = 2
#: Parameters that not every network has.
OWN_PARAMS = tuple(dict.fromkeys(name for row in ARCHITECTURES.values() for name in row.params))
#: Parameters of scoring, which the network itself doesn't know.
_OUTSIDE = ("shuffles",)


def architecture_of(name: Any) -> Architecture:
    """Return the row of a network, or raise if there is none of this name."""
    if not isinstance(name, str) or name not in ARCHITECTURES:
        near = checks.nearest(str(name), ARCHITECTURES)
        raise checks.InputError(f"unknown architecture {name!r}{near}")
    return ARCHITECTURES[name]


def build(name: str, inputs: int, params: Mapping[str, Any], device: str = "cpu") -> Any:
    """Return a new network with so many inputs; weights are drawn by PyTorch's generator, on "meta" there are none.

    It is of the last revision unless `params` have another one.
    """
    row = architecture_of(name)
    kind = row.earlier if row.earlier and params.get("revision", REVISION) == 1 else row.kind
    module = import_module(f"rankwood.neural.architectures.{row.module}")
    given = {p: params[p] for p in row.params if p not in _OUTSIDE}
    shape: tuple[Any, ...] = ()
    if "hidden" in given:
        tower = import_module("rankwood.neural.architectures.tower")
        shape = (tower.TowerShape(**{p: given.pop(p) for p in _TOWER}),)
    with _defaults(device):
        return getattr(module, kind)(inputs, *shape, **given)


@contextmanager
def _defaults(device: str) -> Iterator[None]:
    """Make tensors of float32 on a device, whatever the caller's defaults are."""
    torch = need_torch()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device(device):
            yield
    finally:
        torch.set_default_dtype(before)
