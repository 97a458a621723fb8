"""Bins and trees on documents in plain loops: LightGBM's rules, whole numbers for gradients, no histograms."""

import math
from dataclasses import dataclass, field

ZERO = 1.0000000180025095e-35  # float32(1e-35)


def bounds_of(values, max_bin=255, min_data=3):
    """Upper bounds of the bins of a feature without missing values."""
    values = sorted(float(v) for v in values)
    negative = [v for v in values if v < -ZERO]
    positive = [v for v in values if v > ZERO]
    others = len(negative) + len(positive)
    out = []
    if negative and max_bin > 1:
        share = max(1, int(len(negative) / others * (max_bin - 1)))
        out = greedy(negative, share, min_data)
        out[-1] = math.nextafter(-ZERO, -math.inf)
    left = max_bin - 1 - len(out)
    if positive and left > 0:
        return [*out, ZERO, *greedy(positive, left, min_data)]
    return [*out, math.inf]


def greedy(values, max_bin, min_data):
    """Bounds of one side of zero; the last one is infinite."""
    distinct = sorted(set(values))
    counts = [values.count(v) for v in distinct]
    out = []

    def cut(i):
        bound = math.nextafter((distinct[i] + distinct[i + 1]) / 2, math.inf)
        if not out or bound > math.nextafter(out[-1], math.inf):
            out.append(bound)
            return True
        return False

    if len(distinct) <= max_bin:
        inside = 0
        for i in range(len(distinct) - 1):
            inside += counts[i]
            if inside >= min_data and cut(i):
                inside = 0
        return [*out, math.inf]
    if min_data > 0:
        max_bin = max(1, min(max_bin, len(values) // min_data))
    frequent = len(values) / max_bin
    own = [c >= frequent for c in counts]
    bins_left = max_bin - sum(own)
    left = sum(c for c, o in zip(counts, own, strict=True) if not o)
    mean = left / bins_left if bins_left > 0 else math.inf
    inside = bins = 0
    for i in range(len(distinct) - 1):
        if not own[i]:
            left -= counts[i]
        inside += counts[i]
        if own[i] or inside >= mean or (own[i + 1] and inside >= max(1.0, mean * 0.5)):
            cut(i)
            bins += 1
            if bins >= max_bin - 1:
                break
            inside = 0
            if not own[i]:
                bins_left -= 1
                mean = left / bins_left if bins_left > 0 else math.inf
    return [*out, math.inf]


def bin_of(x, bounds):
    """The number of bounds below x."""
    return sum(b < x for b in bounds[:-1])


def units(values, bits):
    """A power of two such that the largest value is below 2^bits of it."""
    top = max((abs(float(v)) for v in values), default=0.0)
    return 1.0 if top == 0 else 2.0 ** (math.frexp(top)[1] - bits)


def whole(values, unit):
    """Values as whole numbers of units; halves are rounded to even ones."""
    return [round(float(v) / unit) for v in values]


@dataclass
class Params:
    """Parameters of a tree."""

    num_leaves: int = 31
    max_depth: int = -1
    min_data: float = 20
    min_hessian: float = 1e-3
    l1: float = 0.0
    l2: float = 0.0
    max_step: float = 0.0
    min_gain: float = 0.0
    directions: dict = field(default_factory=dict)
    groups: list = field(default_factory=list)


@dataclass
class Leaf:
    """A leaf: its documents, its sums in units, bounds of its value, features above it, and its best split."""

    rows: list
    g: int
    h: int
    depth: int = 0
    low: float = -math.inf
    high: float = math.inf
    above: tuple = ()
    value: float = 0.0
    split: tuple | None = None


class Grower:
    """Grows one tree, leaf by leaf.

    `codes[i][f]` is the bin of document i, None if its value is missing; `bins[f]` the number of bins.
    """

    def __init__(self, codes, bins, grad, hess, params, unused=(), bits=17):
        self.codes, self.bins, self.p = codes, bins, params
        used = [i for i in range(len(codes)) if i not in set(unused)]
        self.ug, self.uh = units(grad, bits), units(hess, bits)
        self.g, self.h = whole(grad, self.ug), whole(hess, self.uh)
        self.l1, self.l2 = params.l1 / self.ug, params.l2 / self.uh
        self.used = used
        #: Splits: feature, bin, missing left, left child, right child, gain.
        self.splits = []

    def leaf_value(self, g, h, leaf):
        size = max(abs(g) - self.l1, 0.0)
        if h + self.l2 <= 0:
            return 0.0
        value = -math.copysign(size, g) / (h + self.l2)
        step = self.p.max_step * self.uh / self.ug or math.inf
        return min(max(min(max(value, -step), step), leaf.low), leaf.high)

    def plain(self):
        return not (self.l1 or self.p.max_step or self.p.directions)

    def gain_of(self, g, h, value):
        t = math.copysign(max(abs(g) - self.l1, 0.0), g)
        return -(2.0 * t * value + (h + self.l2) * value * value)

    def gain(self, gl, hl, leaf, direction):
        """The gain of both sides, None if a side is too small or values move the wrong way."""
        p, G, H = self.p, float(leaf.g), float(leaf.h)
        least = max((p.min_data - 0.5) * (H / max(len(leaf.rows), 1)), p.min_hessian / self.uh, 1.0)
        if not least <= hl <= H - least:
            return None
        gr, hr = G - gl, H - hl
        if self.plain():
            d, e = hl + self.l2, hr + self.l2
            return (gl * gl * e + gr * gr * d) / (d * e)
        left, right = self.leaf_value(gl, hl, leaf), self.leaf_value(gr, hr, leaf)
        if (right - left) * direction < 0:
            return None
        return max(self.gain_of(gl, hl, left) + self.gain_of(gr, hr, right), 0.0)

    def allowed(self, leaf, f):
        if not self.p.groups:
            return True
        open_groups = [g for g in self.p.groups if all(a in g for a in leaf.above)]
        return any(f in g for g in open_groups)

    def find_split(self, leaf):
        """The best split: the first feature of equal ones, missing values left, the largest bin."""
        p, best = self.p, None
        leaf.split = None
        if 0 < p.max_depth <= leaf.depth or len(leaf.rows) < 2 * p.min_data:
            return
        for f in range(len(self.bins)):
            if self.bins[f] is None or not self.allowed(leaf, f):
                continue
            missing = [i for i in leaf.rows if self.codes[i][f] is None]
            for missing_left in (True, False):
                if not missing_left and not any(self.g[i] or self.h[i] for i in missing):
                    continue
                last = self.bins[f] - 1 if missing_left else self.bins[f]
                for b in range(last - 1, -1, -1):
                    left = [i for i in leaf.rows if self.goes_left(i, f, b, missing_left)]
                    gl, hl = sum(self.g[i] for i in left), sum(self.h[i] for i in left)
                    gain = self.gain(float(gl), float(hl), leaf, p.directions.get(f, 0))
                    if gain is not None and (best is None or gain > best[0]):
                        best = gain, f, b, missing_left, gl, hl
        if best is None:
            return
        own = self.gain_of(leaf.g, leaf.h, self.leaf_value(leaf.g, leaf.h, leaf))
        gain = best[0] - own
        if gain > p.min_gain * self.uh / (self.ug * self.ug):
            leaf.split = gain, *best[1:]

    def goes_left(self, i, f, b, missing_left):
        code = self.codes[i][f]
        return missing_left if code is None else code <= b

    def grow(self):
        """Return the splits, the leaves and their values in the caller's units."""
        g, h = sum(self.g[i] for i in self.used), sum(self.h[i] for i in self.used)
        root = Leaf(list(self.used), g, h)
        root.value = self.leaf_value(g, h, root)
        leaves, places = [root], [None]
        self.find_split(root)
        while len(leaves) < self.p.num_leaves:
            able = [k for k, leaf in enumerate(leaves) if leaf.split]
            if not able:
                break
            k = max(able, key=lambda k: (leaves[k].split[0], -k))
            leaf, number = leaves[k], len(self.splits)
            gain, f, b, missing_left, gl, hl = leaf.split
            if places[k] is not None:
                self.splits[places[k][0]][places[k][1]] = number
            self.splits.append([f, b, missing_left, -1 - k, -1 - len(leaves), gain])
            children = self.children(leaf, f, b, missing_left, gl, hl)
            leaves[k] = children[0]
            leaves.append(children[1])
            places[k] = (number, 3)
            places.append((number, 4))
            if len(leaves) < self.p.num_leaves:
                for child in children:
                    self.find_split(child)
        unit = self.ug / self.uh
        return self.splits, leaves, [leaf.value * unit for leaf in leaves]

    def children(self, leaf, f, b, missing_left, gl, hl):
        left_rows = [i for i in leaf.rows if self.goes_left(i, f, b, missing_left)]
        right_rows = [i for i in leaf.rows if not self.goes_left(i, f, b, missing_left)]
        both = []
        for rows, g, h in ((left_rows, gl, hl), (right_rows, leaf.g - gl, leaf.h - hl)):
            child = Leaf(rows, g, h, leaf.depth + 1, leaf.low, leaf.high, (*leaf.above, f))
            child.value = self.leaf_value(g, h, leaf)
            both.append(child)
        left, right = both
        middle = 0.5 * (left.value + right.value)
        if self.p.directions.get(f, 0) > 0:
            left.high, right.low = min(left.high, middle), max(right.low, middle)
        elif self.p.directions.get(f, 0) < 0:
            left.low, right.high = max(left.low, middle), min(right.high, middle)
        return both
