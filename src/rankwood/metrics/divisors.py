"""What a metric is divided by, where definitions differ."""

from rankwood._core.parts import ALL, part


@part
class NoDivisor:
    """Divide by 1: a plain sum."""

    def divisor(self, k, n, relevant):
        return 1.0


@part
class Places:
    """Divide by the number of positions there are, min(k, n)."""

    def divisor(self, k, n, relevant):
        return float(min(k, n))


@part
class Cutoff:
    """Divide by k, even if there are fewer documents; by their number if there is no k."""

    def divisor(self, k, n, relevant):
        return float(n if k == ALL else k)


@part
class Relevant:
    """Divide by R, the number of relevant documents (the sum of gains, if they are graded)."""

    def divisor(self, k, n, relevant):
        return relevant


@part
class Reachable:
    """Divide by the number of relevant documents that fit in the first k, min(R, k)."""

    def divisor(self, k, n, relevant):
        return min(relevant, float(k))
