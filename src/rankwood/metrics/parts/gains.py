"""Gains of labels, and the probability that a document of a label satisfies the user."""

import numpy as np

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.numeric.elementary import exp2
from rankwood._kernels.parts import Positive, part
from rankwood._util import checks
from rankwood.metrics.verbs import gain


@inner
def _power(label):
    """Return 2 to the power of a label; most labels are small integers, for which a shift does it."""
    whole = int(label)
    return float(1 << whole) if whole == label and whole < 62 else exp2(label)


@inner
def fill_gains(gains, label, out):
    """Fill `out` with the gains of `label`."""
    for i in range(label.size):
        out[i] = gain(gains, label[i])


@part
class Exp:
    r"""Gain :math:`2^y - 1` of a label :math:`y` [burges2005].

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import DCG, Exp
    >>> rw.evaluate([DCG(k=1, gain=Exp())], [3, 0], [2.0, 1.0]).mean()  # the default
    {'DCG(k=1)': 7.0}
    """

    def gain(self, label):
        return _power(label) - 1.0

    @staticmethod
    def check_labels(y: np.ndarray) -> None:
        """Raise unless `y` holds integers small enough for 2**y."""
        if y.size and y.max() > 1000:
            row = int(np.argmax(y))
            raise checks.InputError(
                f"the gain 2^y - 1 overflows beyond y = 1000, got {y[row]:g} at row {row}; "
                'use gain="linear" for labels of this size.'
            )
        broken = y != y.astype(np.int16)
        if broken.any():
            row = int(np.argmax(broken))
            raise checks.InputError(
                f"the gain 2^y - 1 needs integer labels, got {y[row]:g} at row {row}; "
                'use gain="linear" for fractional ones.'
            )


@part
class Linear:
    """Gain y: the label itself.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import DCG, Linear
    >>> rw.evaluate([DCG(k=1, gain=Linear())], [3, 0], [2.0, 1.0]).mean()
    {'DCG(k=1, gain=Linear())': 3.0}
    """

    def gain(self, label):
        return label

    @staticmethod
    def check_labels(y: np.ndarray) -> None:
        """Accept every label."""


@part
class AtLeast:
    """Gain 1 of a relevant document, and 0 of every other.

    Parameters
    ----------
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import DCG, AtLeast
    >>> rw.evaluate([DCG(k=1, gain=AtLeast(2))], [3, 0], [2.0, 1.0]).mean()
    {'DCG(k=1, gain=AtLeast(rel=2.0))': 1.0}
    """

    rel: Positive = 1.0

    def gain(self, label):
        return 1.0 if label >= self.rel else 0.0


@part
class ExpChance:
    r"""Probability :math:`(2^y - 1) / 2^m` that a document satisfies [chapelle2009].

    Parameters
    ----------
    max_label : float
        Largest label m.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import ERR, ExpChance
    >>> rw.evaluate([ERR(k=1, gain=ExpChance(max_label=2))], [1, 0], [2.0, 1.0]).mean()
    {'ERR(k=1, gain=ExpChance(max_label=2.0))': 0.25}
    """

    max_label: Positive = 4.0

    def check(self) -> None:
        """Raise if the largest label is too large."""
        if self.max_label > 1000:
            raise checks.InputError(
                f"ExpChance.max_label must be at most 1000, beyond which 2^max_label overflows, got {self.max_label:g}."
            )

    def gain(self, label):
        return (_power(label) - 1.0) / _power(self.max_label)

    def check_labels(self, y: np.ndarray) -> None:
        """Raise if a label is above the largest one."""
        _check_largest(y, self.max_label)


@part
class LinearChance:
    r"""Probability :math:`y / m` that a document satisfies [whichtricks2023].

    Parameters
    ----------
    max_label : float
        Largest label m.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import ERR, LinearChance
    >>> rw.evaluate([ERR(k=1, gain=LinearChance(max_label=2))], [1, 0], [2.0, 1.0]).mean()
    {'ERR(k=1, gain=LinearChance(max_label=2.0))': 0.5}
    """

    max_label: Positive = 4.0

    def gain(self, label):
        return label / self.max_label

    def check_labels(self, y: np.ndarray) -> None:
        """Raise if a label is above the largest one."""
        _check_largest(y, self.max_label)


def _check_largest(y: np.ndarray, largest: float) -> None:
    if y.size and y.max() > largest:
        row = int(np.argmax(y))
        raise checks.InputError(
            f"max_label is {largest:g}, but there is a label {y[row]:g} at row {row}; "
            f"give max_label={y[row]:g} or more."
        )


GAINS: dict[str, Exp | Linear] = {"exp": Exp(), "linear": Linear()}
CHANCES: dict[str, type[ExpChance] | type[LinearChance]] = {
    "exp": ExpChance,
    "linear": LinearChance,
}
