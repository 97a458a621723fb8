"""Training on the workers of a cluster (Dask): the same model as on one machine.

`Ranker.fit` comes here if it is given a Dask collection, or ``cluster=``.
"""

from rankwood.cluster.messages import WorkerLost
from rankwood.cluster.scoring import evaluate

__all__ = ["WorkerLost", "evaluate"]
