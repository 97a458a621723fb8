"""The metrics by name: a row with a composition, its parameters and a citation each."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from rankwood._kernels import named, spec
from rankwood._kernels.named import Named, Parameter, choice
from rankwood._util import checks
from rankwood.metrics import foreign_names  # noqa: F401  (names of other programs are read too)
from rankwood.metrics.parts.binary import AP, Precision, Recall
from rankwood.metrics.parts.cascade import ERR, PFound
from rankwood.metrics.parts.costs import Cost, SwapCost
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.parts.divisors import Cutoff, NoDivisor, Places, Reachable, Relevant
from rankwood.metrics.parts.gains import CHANCES, GAINS, AtLeast
from rankwood.metrics.parts.hits import Hits, RPrecision, Success
from rankwood.metrics.parts.position import ARP, ARPK, RBP, ExpDCG
from rankwood.metrics.parts.reciprocal_rank import RR
from rankwood.metrics.verbs import value

F = TypeVar("F", bound=Callable[..., Any])


def _divide_by(**known: Any) -> Parameter:
    """Return the parameter that chooses a divisor; the first of the `known` words is its default."""
    text = "what the sum is divided by: " + " or ".join(f'"{word}"' for word in known)
    return Parameter("divide_by", next(iter(known)), choice(known), text)


def _no_cutoff(k: Any, name: str) -> None:
    if k is not None:
        raise checks.InputError(
            f"arp has no cutoff, got @{k}: it is about all documents; use arp, or arpk@{k} for how far "
            f"relevant documents are beyond the first {k}."
        )


# Parts check the numbers of metrics themselves.
K = Parameter("k", None, description="cutoff: the first k documents count, or all of them")
NO_K = Parameter("k", None, _no_cutoff, "there is no cutoff")
BEYOND_K = Parameter(
    "k", None, description="cutoff: documents beyond the first k count", required=True
)
GAIN = Parameter(
    "gain", "exp", choice(GAINS), 'gain of a label y: "exp" for 2^y - 1, "linear" for y'
)
LINEAR_GAIN = replace(GAIN, default="linear")
REL = Parameter("rel", 1, description="smallest relevant label")
MAX_LABEL = Parameter("max_label", 4, description="highest label of the data")
CHANCE = Parameter(
    "gain",
    "exp",
    choice(CHANCES),
    'chance that a label y satisfies: "exp" for (2^y - 1) / 2^max_label, "linear" for y / max_label',
)
LINEAR_CHANCE = replace(CHANCE, default="linear")
BASE = Parameter("base", 0.85, description="ratio of the discounts of consecutive positions")
DECAY = Parameter("decay", 0.85, description="chance to go on after an unsatisfying document")
RBP_GAIN = Parameter(
    "gain",
    "binary",
    choice({"binary": None, "linear": GAINS["linear"]}),
    '"binary" for relevant or not, "linear" for the label itself',
)
P = Parameter("p", 0.8, description="chance to go on to the next document")

_OF_PRECISION = """\
It is divided by the places there are, min(k, n); `divide_by="k"` divides by k, as trec_eval does."""
_OF_MAP = """\
It is divided by min(R, k), R being the number of relevant documents; `divide_by="relevant"` divides by R, as
trec_eval does."""
_OF_ERR = """\
A document satisfies with probability (2^y - 1) / 2^max_label, or y / max_label with `gain="linear"`."""
_OF_ARP = """\
`divide_by="relevant"` divides by the sum of labels. There is no cutoff: what is beyond it matters most."""

# fmt: off
_ROWS = (
    Named("ndcg", "Normalised discounted cumulative gain of the first k", "jarvelin2002",
          (K, GAIN), lambda values: NDCG(values.k, values.gain)),
    Named("dcg", "Discounted cumulative gain of the first k", "jarvelin2002",
          (K, GAIN), lambda values: DCG(values.k, values.gain)),
    Named("bndcg", "NDCG of binary labels: a label of at least `rel` has gain 1, any other 0", "jarvelin2002",
          (K, REL), lambda values: NDCG(values.k, AtLeast(values.rel))),
    Named("p", "Precision: share of relevant documents among the first k", "sanderson2010",
          (K, REL, _divide_by(places=Places(), k=Cutoff())),
          lambda values: Precision(values.k, values.rel, values.divide_by), _OF_PRECISION),
    Named("recall", "Recall: share of the relevant documents that are among the first k", "sanderson2010",
          (K, REL), lambda values: Recall(values.k, values.rel)),
    Named("map", "Average precision, whose mean over queries is MAP", "sanderson2010",
          (K, REL, _divide_by(reachable=Reachable(), relevant=Relevant())),
          lambda values: AP(values.k, values.rel, values.divide_by), _OF_MAP),
    Named("mrr", "Reciprocal rank of the first relevant document, 0 if it is beyond k", "voorhees1999",
          (K, REL), lambda values: RR(values.k, values.rel)),
    Named("err", "Expected reciprocal rank", "chapelle2009",
          (K, CHANCE, MAX_LABEL), lambda values: ERR(values.k, values.gain(values.max_label)), _OF_ERR),
    Named("arp", "Average relevance position, a sum of label times position: lower is better", "wang2018",
          (NO_K, LINEAR_GAIN, _divide_by(one=NoDivisor(), relevant=Relevant())),
          lambda values: ARP(values.gain, values.divide_by), _OF_ARP),
    Named("arpk", "Sum of how far relevant documents are beyond the first k: lower is better", "lambdagap2025",
          (BEYOND_K, REL), lambda values: ARPK(values.k, values.rel), "Without a cutoff, it is arp."),
    Named("expdcg", "DCG with discounts 1, b, b^2, ...", "whichtricks2023",
          (K, BASE, LINEAR_GAIN), lambda values: ExpDCG(values.k, values.base, values.gain)),
    Named("pfound", "Chance that a user who may give up after each document finds a satisfying one", "gulin2011",
          (K, MAX_LABEL, DECAY, LINEAR_CHANCE),
          lambda values: PFound(values.k, values.gain(values.max_label), values.decay),
          "A document satisfies with probability y / max_label."),
    Named("rbp", "Rank-biased precision: the user goes on with probability p", "moffat2008",
          (K, P, REL, RBP_GAIN),
          lambda values: RBP(values.k, values.p, values.gain or AtLeast(values.rel))),
    Named("success", "Whether a relevant document is among the first k: 1 or 0; its mean is the hit rate",
          "sanderson2010", (K, REL), lambda values: Success(values.k, values.rel)),
    Named("rprec", "R-precision: precision of the first R, the number of relevant documents", "sanderson2010",
          (REL,), lambda values: RPrecision(values.rel)),
    Named("ndcgcost", "What NDCG lacks to all documents at the first rank: lower is better", "wang2018",
          (K, GAIN), lambda values: Cost(NDCG(values.k, values.gain)), "NDCG-Loss1 and NDCG-Loss2 bound it."),
    Named("lambdarankcost", "What NDCG gains by a swap with each document above: lower is better", "wang2018",
          (K, GAIN), lambda values: SwapCost(NDCG(values.k, values.gain)), "LambdaRank's loss bounds it."),
    Named("hits", "Number of relevant documents among the first k", "sanderson2010",
          (K, REL), lambda values: Hits(values.k, values.rel)),
)
# fmt: on

METRICS: dict[str, Named] = {row.name: row for row in _ROWS}


def metric_text(what: Any) -> Any:
    """Return a measure of ir_measures as text, and anything else as it is."""
    return str(what) if type(what).__module__.startswith("ir_measures.") else what


def metric(name: Any, **params: Any) -> Any:
    """Return the metric of this name, a part that prints itself.

    Parameters
    ----------
    name : str or part
        ``"name@k(param=value)"``, a name of another program such as ``"nDCG@10"`` or ``"ndcg_cut_10"`` (docs/names.md),
        the printed form of a metric, a measure of ir_measures, or a metric, which is returned as it is.
    **params
        Parameters of the name; they replace those in the text.

    Returns
    -------
    part
        A metric such as `rankwood.metrics.NDCG`.

    Raises
    ------
    InputError
        If the text can't be read, or there is no such name, or the name has no such parameter, or a value
        can't be used.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.metric("ndcg@10")
    NDCG(k=10)
    >>> rw.metric("map@10", divide_by="relevant")
    AP(k=10, divide_by=Relevant())
    """
    part = spec.build(metric_text(name), METRICS, "metric", params)
    if not value.verb.able(part):
        raise checks.InputError(f"{name} is not a metric; known are {', '.join(METRICS)}.")
    return part


def register_metric(
    name: str, *, parameters: Iterable[Parameter] = (), citation: str = "", replace: bool = False
) -> Callable[[F], F]:
    """Give a metric a name, by which `rankwood.metric`, `rankwood.evaluate` and the command line know it.

    The result decorates a function that returns a metric. The function's parameters are those of the name, and the
    first paragraph of its docstring describes it.

    Parameters
    ----------
    name : str
        A letter, then letters, digits, ``_``, ``-`` and ``+``.
    parameters : iterable of Parameter
        Checks and descriptions of the function's parameters; those that are omitted have neither.
    citation : str
        Where the metric comes from.
    replace : bool
        Whether an existing name may be replaced.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    InputError
        If the name is taken or can't be read.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.extend import register_metric
    >>> from rankwood.metrics import Precision
    >>> @register_metric("top1")
    ... def top1(rel=1):
    ...     "Whether the first document is relevant."
    ...     return Precision(1, rel)
    >>> rw.evaluate(["top1"], [2, 0], [0.5, 0.3]).mean()
    {'top1': 1.0}
    """

    def decorate(function: F) -> F:
        named.register(METRICS, "metric", name, function, parameters, citation, replace)
        return function

    return decorate
