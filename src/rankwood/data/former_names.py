"""Names that `RankingData` had for what is called otherwise now."""

import warnings
from typing import TYPE_CHECKING, Any

from rankwood.data.unlisted import UnlistedLabels

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData


class FormerNames:
    """Former names of attributes and methods of `RankingData`."""

    unlisted: UnlistedLabels | None

    @property
    def beyond(self) -> UnlistedLabels | None:
        """The former name of `unlisted`."""
        return self.unlisted

    @beyond.setter
    def beyond(self, labels: UnlistedLabels | None) -> None:
        self.unlisted = labels

    def keep(self, rows: Any) -> "RankingData":
        """Call `cut_to`, its present name; deprecated."""
        warnings.warn("keep is called cut_to now.", DeprecationWarning, stacklevel=2)
        return self.cut_to(rows)  # type: ignore[attr-defined, no-any-return]
