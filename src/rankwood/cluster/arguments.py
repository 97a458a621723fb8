"""What `fit` is given for a cluster: data, and the workers that train on it."""

from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood._util.checks import InputError
from rankwood.data.tables.frames import is_lazy
from rankwood.fit.arguments import FitArguments, SourceWords


class OnCluster(NamedTuple):
    """Data for the workers of a cluster; `on_cluster` makes it."""

    X: Any
    cluster: Any = None
    shuffle: bool = False
    retries: int = 0


class Placed(NamedTuple):
    """The arguments of a fit on a cluster."""

    given: FitArguments
    cluster: Any
    shuffle: bool
    retries: int


def on_cluster(
    X: Any, cluster: Any = None, *, shuffle: bool = False, retries: int = 0
) -> OnCluster:
    """Say that `fit` trains on the workers of a Dask cluster.

    Parameters
    ----------
    X : Dask DataFrame or array, list of LETOR files, RankingData, matrix or table
        The training data; `y` and `qid` of `fit` are names of columns of a DataFrame, or Dask arrays chunked alike.
    cluster : distributed.Client or int, optional
        The cluster, or a number of local processes; by default the current client's, or local processes.
    shuffle : bool
        Bring the rows of a query together if they are in several partitions; otherwise that is an error.
    retries : int
        How often to start again if a worker is lost; with a checkpoint, from its last round.

    Returns
    -------
    OnCluster
        For `Ranker.fit`.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.on_cluster(["part-1.txt", "part-2.txt"], 2, retries=1).retries
    1
    """
    return OnCluster(X, cluster, shuffle, retries)


def on_workers(given: FitArguments, words: SourceWords) -> Placed | None:
    """Return the arguments of a fit on a cluster; None if `fit` trains here."""
    if isinstance(given.X, OnCluster):
        if words[1:] != SourceWords()[1:]:
            raise InputError(
                "rw.on_cluster names the cluster already: omit cluster, shuffle_parts and retries of fit."
            )
        X, cluster, shuffle, retries = given.X
        placed = Placed(given._replace(X=X), cluster, shuffle, retries)
    elif words.cluster is not None or is_lazy(given.X):
        placed = Placed(given, words.cluster, words.shuffle_parts, words.retries)
    else:
        for name in ("shuffle_parts", "retries"):
            if getattr(words, name):
                raise InputError(f"{name} is for clusters: give cluster= too, or omit it.")
        return None
    if words.stream:
        raise InputError(
            "stream reads files on one machine, and a cluster has its data in memory: give one of the two."
        )
    checks.at_least(placed.retries, 0, "retries")
    return placed
