"""Networks in plain loops over documents, written from the papers; weights are dictionaries of arrays."""

import numpy as np


def dense(w, name, x):
    out = []
    for row, bias in zip(w[f"{name}.weight"], w[f"{name}.bias"], strict=True):
        out.append(sum(a * b for a, b in zip(row, x, strict=True)) + bias)
    return out


def relu(x):
    return [max(v, 0.0) for v in x]


def layer_norm(w, name, x, epsilon):
    mean = sum(x) / len(x)
    variance = sum((v - mean) ** 2 for v in x) / len(x)
    scaled = [(v - mean) / (variance + epsilon) ** 0.5 for v in x]
    return [
        g * v + b for g, v, b in zip(w[f"{name}.weight"], scaled, w[f"{name}.bias"], strict=True)
    ]


def batch_norm(w, name, x, epsilon=1e-3):
    mean, variance = w[f"{name}.running_mean"], w[f"{name}.running_var"]
    return [
        g * (v - m) / (s + epsilon) ** 0.5 + b
        for v, m, s, g, b in zip(
            x, mean, variance, w[f"{name}.weight"], w[f"{name}.bias"], strict=True
        )
    ]


def tower(w, prefix, x, layers, *, norm=True, input_norm=False):
    """Per layer: dense, batch normalisation, ReLU (dropout does nothing at prediction time); dense at the end."""
    place = 0
    if input_norm:
        x = batch_norm(w, f"{prefix}.{place}", x)
        place += 1
    for _ in range(layers):
        x = dense(w, f"{prefix}.{place}", x)
        place += 1
        if norm:
            x = batch_norm(w, f"{prefix}.{place}", x)
            place += 1
        x = relu(x)
        place += 2  # ReLU and dropout
    return dense(w, f"{prefix}.{place}", x)


def dnn(w, documents, layers, **options):
    return [tower(w, "tower.layers", list(x), layers, **options)[0] for x in documents]


def gsf(w, documents, layers, g, order, differences=False):
    """Groups of g neighbours of the list in this order, going round; a document has the mean of its outputs."""
    n = len(documents)
    found = [[] for _ in documents]
    for start in range(n):
        members = [order[(start + j) % n] for j in range(g)]
        x = [v for m in members for v in documents[m]]
        if differences:
            first, second = (documents[m] for m in members)
            x += [a - b for a, b in zip(first, second, strict=True)]
        for member, out in zip(members, tower(w, "tower.layers", x, layers), strict=True):
            found[member].append(out)
    return [sum(values) / len(values) for values in found]


def softmax(x):
    top = max(x)
    e = [np.exp(v - top) for v in x]
    return [v / sum(e) for v in e]


def attention(queries, keys, values, heads):
    """For each query and each head: the mean of the values, weighted by softmax of scaled products."""
    width = len(queries[0]) // heads
    seen = []
    for q in queries:
        out = []
        for h in range(heads):
            own = slice(h * width, (h + 1) * width)
            products = [
                sum(a * b for a, b in zip(q[own], k[own], strict=True)) / width**0.5 for k in keys
            ]
            weights = softmax(products)
            for unit in range(h * width, (h + 1) * width):
                out.append(sum(p * v[unit] for p, v in zip(weights, values, strict=True)))
        seen.append(out)
    return seen


def plus(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def attn_din(w, documents, layers, attention_layers, heads):
    x = [relu(dense(w, "embed", list(d))) for d in documents]
    for i in range(attention_layers):
        name = f"attention.{i}"
        q, k, v = (
            [dense(w, f"{name}.{part}", row) for row in x] for part in ("query", "key", "value")
        )
        seen = [dense(w, f"{name}.out", row) for row in attention(q, k, v, heads)]
        x = [
            layer_norm(w, f"{name}.norm", plus(old, new), 1e-12)
            for old, new in zip(x, seen, strict=True)
        ]
    return [
        tower(w, "tower.layers", [*d, *row], layers)[0] for d, row in zip(documents, x, strict=True)
    ]


def attend_to(w, name, x, keys, heads):
    """Attention with ReLU projections and a feed-forward part, each with residual and layer normalisation."""
    q = [relu(dense(w, f"{name}.query", row)) for row in x]
    k, v = ([relu(dense(w, f"{name}.{part}", row)) for row in keys] for part in ("key", "value"))
    x = [
        layer_norm(w, f"{name}.norm", plus(old, new), 1e-8)
        for old, new in zip(x, attention(q, k, v, heads), strict=True)
    ]
    wide = [dense(w, f"{name}.narrow", relu(dense(w, f"{name}.wide", row))) for row in x]
    return [
        layer_norm(w, f"{name}.wide_norm", plus(old, new), 1e-8)
        for old, new in zip(x, wide, strict=True)
    ]


def setrank(w, documents, blocks, heads, induced):
    x = []
    for d in documents:
        row = layer_norm(w, "embed.2", relu(dense(w, "embed.0", list(d))), 1e-8)
        x.append(layer_norm(w, "embed.5", relu(dense(w, "embed.3", row)), 1e-8))
    for i in range(blocks):
        name = f"blocks.{i}"
        if induced:
            points = [list(row) for row in w[f"{name}.points"]]
            seen = attend_to(w, f"{name}.gather", points, x, heads)
            x = attend_to(w, f"{name}.spread", x, seen, heads)
        else:
            x = attend_to(w, f"{name}.attention", x, x, heads)
    return [dense(w, "score", row)[0] for row in x]
