"""The objectives by name."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from rankwood._kernels import named, spec
from rankwood._kernels.named import Named, Parameter
from rankwood._util import checks
from rankwood.objectives.families import foreign_names  # noqa: F401  (names of other programs are read too)
from rankwood.objectives.families.lambdaex import LAMBDAEX
from rankwood.objectives.families.lambdagap import LAMBDAGAP
from rankwood.objectives.families.lambdaloss import LAMBDALOSS
from rankwood.objectives.families.lambdarank import LAMBDARANK, RANKNET
from rankwood.objectives.families.listwise import LISTWISE
from rankwood.objectives.families.stochastic import STOCHASTIC
from rankwood.objectives.families.yeti import YETI
from rankwood.objectives.lifted import Bivariate, is_objective

F = TypeVar("F", bound=Callable[..., Any])

FAMILIES = (RANKNET, LAMBDARANK, LAMBDALOSS, LAMBDAGAP, LAMBDAEX, YETI, STOCHASTIC, LISTWISE)
OBJECTIVES: dict[str, Named] = {row.name: row for family in FAMILIES for row in family.rows}
_PAIRS = "bi-"  # before a name: an objective for models that compare pairs of documents


def objective(name: Any, **params: Any) -> Any:
    """Return the objective of this name, a composition of parts that prints itself.

    Parameters
    ----------
    name : str or part
        ``"name@k(param=value)"``, with ``bi-`` before it for models that compare pairs of documents; or a name of
        another program, such as ``"rank:ndcg"`` or ``"YetiRank:mode=NDCG"`` (docs/names.md); or the printed form of a
        composition; or a composition, which is returned as it is.
    **params
        Parameters of the name; they replace those in the text.

    Returns
    -------
    part
        `rankwood.objectives.Lambda` if the objective is made of pairs, or a part such as `QueryRMSE`.

    Raises
    ------
    InputError
        If the text can't be read, a name or parameter is unknown, a value can't be used, or the part is not an
        objective.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.objective("lambdarank-ndcg@10", norm=False)
    Lambda(weight=Swap(metric=NDCG(ideal=10)), pairs=Top(k=10))
    >>> rw.objective("lambdagap-x+", k=5, mu=2.0, norm=False).pairs
    AcrossOrApart(k=5)
    """
    if isinstance(name, str) and name.strip().startswith(_PAIRS):
        inner = name.strip().removeprefix(_PAIRS).strip()
        if inner.startswith(_PAIRS):
            raise checks.InputError(f"objective {name!r} has bi- twice: once is enough, {inner!r}.")
        return Bivariate(objective(inner, **params))
    part = spec.build(name, OBJECTIVES, "objective", params)
    if not is_objective(part):
        raise checks.InputError(
            f"objective must be a name, Lambda(...) or a part that can 'list_gradient', got {part!r}."
        )
    return part


def register_objective(
    name: str, *, parameters: Iterable[Parameter] = (), citation: str = "", replace: bool = False
) -> Callable[[F], F]:
    """Give an objective a name, by which `rankwood.objective`, `Ranker` and the command line know it.

    The result decorates a function that returns an objective. The function's parameters are those of the name, and the
    first paragraph of its docstring describes it. A parameter `k` is the cutoff of ``"name@k"``.

    Parameters
    ----------
    name : str
        A name that doesn't exist yet: a letter, then letters, digits, ``_``, ``-`` and ``+``, without ``bi-`` at
        the start.
    parameters : iterable of Parameter
        Checks and descriptions of the function's parameters; those that are omitted have neither.
    citation : str
        Where the objective comes from.
    replace : bool
        Whether an existing name may be replaced.

    Returns
    -------
    callable
        A decorator that registers a function and returns it.

    Raises
    ------
    InputError
        If the name exists already, or a text with it couldn't be read.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.extend import register_objective
    >>> from rankwood.metrics import RBP
    >>> from rankwood.objectives import Lambda, Swap, Top
    >>> @register_objective("lambdarank-rbp", citation="moffat2008")
    ... def lambdarank_rbp(k=30, p=0.8):
    ...     "LambdaRank for rank-biased precision."
    ...     return Lambda(Swap(RBP(p=p)), Top(k))
    >>> rw.objective("lambdarank-rbp@10(p=0.9)")
    Lambda(weight=Swap(metric=RBP(p=0.9)), pairs=Top(k=10))
    """
    if isinstance(name, str) and name.startswith(_PAIRS):
        raise checks.InputError(
            f"objective {name!r} can't be registered: bi- before a name stands for its form on pairs; "
            f"register {name.removeprefix(_PAIRS)!r}, and {name!r} exists too."
        )

    def decorate(function: F) -> F:
        named.register(OBJECTIVES, "objective", name, function, parameters, citation, replace)
        return function

    return decorate
