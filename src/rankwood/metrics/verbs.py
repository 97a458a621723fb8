"""What a metric can do, as verbs."""

from rankwood._jit import verb


@verb
def gain(g, label):
    """Gain of a document with this label."""


@verb
def worth(m, label, table, out):
    """Fill `out` with what each document is worth, from the labels of its query alone; once per data set."""


@verb
def columns(m, q, worth):
    """Per-rank record that `value` and `delta` read, made anew for each ranking; `worth` is by slot."""


@verb
def value(m, n, own):
    """Metric of a query of n documents whose record is `own`."""


@verb
def delta(m, x, y, a, b):
    """Change of the metric when documents x and y swap ranks; a and b are their parts of the record."""
