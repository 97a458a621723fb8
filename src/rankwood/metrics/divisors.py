"""What a metric is divided by, where definitions differ."""

from rankwood._core.jit import ALL, part
from rankwood.metrics import verbs  # noqa: F401  a part joins the verbs that exist when it is defined


@part
class NoDivisor:
    """Divide by 1: a plain sum."""

    def per(self, k, n, relevant):
        return 1.0


@part
class Places:
    """Divide by the places there are, min(k, n)."""

    def per(self, k, n, relevant):
        return float(min(k, n))


@part
class Cutoff:
    """Divide by k, even if there are fewer documents; by their number if there is no k."""

    def per(self, k, n, relevant):
        return float(n if k == ALL else k)


@part
class Relevant:
    """Divide by R, the number of relevant documents (the sum of gains, if graded)."""

    def per(self, k, n, relevant):
        return relevant


@part
class Reachable:
    """Divide by the relevant documents that fit in the first k, min(R, k)."""

    def per(self, k, n, relevant):
        return min(relevant, float(k))
