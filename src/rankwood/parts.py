"""Every part that a printed composition can contain, in one place.

``from rankwood.parts import *`` is what `repr(rankwood.objective(name))` needs to run as Python.

Examples
--------
>>> import rankwood as rw
>>> from rankwood.parts import NDCG, Lambda, Swap, Top
>>> rw.objective("lambdarank-ndcg@10", norm=False) == Lambda(Swap(NDCG(ideal=10)), Top(10))
True
"""

from rankwood import metrics, objectives
from rankwood.metrics import *  # noqa: F403
from rankwood.objectives import *  # noqa: F403

__all__ = sorted({*objectives.__all__, *metrics.__all__} - {"Ranked"})
