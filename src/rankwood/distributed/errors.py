"""What can go wrong on a cluster."""


class WorkerLost(RuntimeError):
    """A worker of a cluster was lost while it trained; the message names it.

    Examples
    --------
    >>> from rankwood.distributed import WorkerLost
    >>> str(WorkerLost("worker tcp://10.0.0.7:4000 was lost."))
    'worker tcp://10.0.0.7:4000 was lost.'
    """


class PeerFailed(RuntimeError):
    """Another worker failed, so this one stopped; the error of the other is the one to show."""
