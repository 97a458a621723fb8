"""Any objective as a loss for neural networks in PyTorch: `RankingLoss`."""

from typing import TYPE_CHECKING, Any

from rankwood._util import checks

if TYPE_CHECKING:
    from rankwood.neural.torch_loss.loss import RankingLoss

__all__ = ["RankingLoss"]


def __getattr__(name: str) -> Any:
    if name != "RankingLoss":
        raise AttributeError(f"module 'rankwood.torch' has no attribute {name!r}")
    try:
        from rankwood.neural.torch_loss.loss import RankingLoss
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise checks.InputError(
            "rankwood.torch.RankingLoss needs the package torch: pip install 'rankwood[torch]'."
        ) from None
    return RankingLoss
