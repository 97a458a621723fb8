"""What a metric is divided by, where definitions differ."""

from rankwood._kernels.parts import ALL, part


@part
class NoDivisor:
    """Divide by 1: a plain sum.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import NoDivisor, Precision
    >>> rw.evaluate([Precision(2, divide_by=NoDivisor())], [1, 1, 0], [3.0, 2.0, 1.0]).mean()
    {'Precision(k=2, divide_by=NoDivisor())': 2.0}
    """

    def divisor(self, k, n, relevant):
        return 1.0


@part
class Places:
    """Divide by the number of positions there are, min(k, n).

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Places, Precision
    >>> rw.evaluate([Precision(4, divide_by=Places())], [1, 0], [2.0, 1.0]).mean()  # the default
    {'Precision(k=4)': 0.5}
    """

    def divisor(self, k, n, relevant):
        return float(min(k, n))


@part
class Cutoff:
    """Divide by k, even if there are fewer documents; by their number if there is no k.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Cutoff, Precision
    >>> rw.evaluate([Precision(4, divide_by=Cutoff())], [1, 0], [2.0, 1.0]).mean()
    {'Precision(k=4, divide_by=Cutoff())': 0.25}
    """

    def divisor(self, k, n, relevant):
        return float(n if k == ALL else k)


@part
class Relevant:
    """Divide by R, the number of relevant documents (the sum of gains, if they are graded).

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import AP, Relevant
    >>> rw.evaluate([AP(1, divide_by=Relevant())], [1, 1], [2.0, 1.0]).mean()
    {'AP(k=1, divide_by=Relevant())': 0.5}
    """

    def divisor(self, k, n, relevant):
        return relevant


@part
class Reachable:
    """Divide by the number of relevant documents that fit in the first k, min(R, k).

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import AP, Reachable
    >>> rw.evaluate([AP(1, divide_by=Reachable())], [1, 1], [2.0, 1.0]).mean()  # the default
    {'AP(k=1)': 1.0}
    """

    def divisor(self, k, n, relevant):
        return min(relevant, float(k))
