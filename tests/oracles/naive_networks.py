"""Networks as the published programs compute them, in plain loops over padded lists.

The programs are TF-Ranking (its feed-forward network, groupwise scoring, and document interaction network) and SetRank.
Variables are those of TensorFlow: a dense layer is (kernel, bias) with a kernel of inputs by outputs, a normalisation
is (gamma, beta) or (gamma, beta, moving mean, moving variance), attention has kernels of three dimensions. Lists are
padded to the same length, `valid` says which places have a document, and what stands at the others must not matter.
Dropout does nothing at prediction time.
"""

import math


def apply_dense(layer, x):
    kernel, bias = layer
    y = [float(b) for b in bias]
    for i in range(len(x)):
        for j in range(len(y)):
            y[j] += x[i] * kernel[i][j]
    return y


def rectified(x):
    return [v if v > 0 else 0.0 for v in x]


def keras_batch_norm(layer, x):
    gamma, beta, moving_mean, moving_variance = layer
    y = []
    for i in range(len(x)):
        y.append(
            gamma[i] * (x[i] - moving_mean[i]) / math.sqrt(moving_variance[i] + 0.001) + beta[i]
        )
    return y


def normalised(layer, x, epsilon):
    """Subtract the mean and divide by the standard deviation of one document's units; scale and shift."""
    gamma, beta = layer
    mean = math.fsum(x) / len(x)
    deviation = math.sqrt(math.fsum((v - mean) * (v - mean) for v in x) / len(x) + epsilon)
    return [gamma[i] * ((x[i] - mean) / deviation) + beta[i] for i in range(len(x))]


def feed_forward(net, x):
    """TF-Ranking's tower: inputs may be normalised; per layer dense, batch normalisation, ReLU; dense at the end."""
    if net["input_norm"]:
        x = keras_batch_norm(net["input_norm"], x)
    for layer, norm in net["hidden"]:
        x = apply_dense(layer, x)
        if norm:
            x = keras_batch_norm(norm, x)
        x = rectified(x)
    return apply_dense(net["output"], x)


def dnn(net, features, valid):
    return [feed_forward(net, row)[0] for row, here in zip(features, valid, strict=True) if here]


def gsf(net, features, valid, group, order, differences=False):
    """TF-Ranking's groupwise scoring.

    The documents are put first, in `order`. There is a window at every place of the padded list; indices go round the
    documents, and windows that begin behind the last document are masked. What a window says of a place is added to the
    document there, and divided by the number of such additions. Inputs are by feature, then by member of the group.
    """
    here = [i for i in range(len(valid)) if valid[i]]
    front = [here[i] for i in order]
    total, count = [0.0] * len(valid), [0] * len(valid)
    for start in range(len(valid)):
        if start >= len(front):
            continue
        window = [front[(start + step) % len(front)] for step in range(group)]
        x = [features[member][f] for f in range(len(features[0])) for member in window]
        if differences:
            x += [features[window[0]][f] - features[window[1]][f] for f in range(len(features[0]))]
        for member, score in zip(window, feed_forward(net, x), strict=True):
            total[member] += score
            count[member] += 1
    return [total[i] / count[i] for i in here]


def keras_attention(layer, rows, valid):
    """Keras's MultiHeadAttention of a list to itself; masked places get a very negative number before the softmax."""
    heads, units = len(layer["query"][1]), len(layer["query"][1][0])

    def project(which, row, head):
        kernel, bias = layer[which]
        return [
            bias[head][u] + sum(row[d] * kernel[d][head][u] for d in range(len(row)))
            for u in range(units)
        ]

    kernel, bias = layer["output"]
    found = [[float(b) for b in bias] for _ in rows]
    for head in range(heads):
        query, key, value = (
            [project(which, row, head) for row in rows] for which in ("query", "key", "value")
        )
        for i in range(len(rows)):
            scaled = [q / math.sqrt(units) for q in query[i]]
            logits = [
                sum(scaled[u] * key[j][u] for u in range(units)) + (0.0 if valid[j] else -1e9)
                for j in range(len(rows))
            ]
            highest = max(logits)
            shares = [math.exp(z - highest) for z in logits]
            for u in range(units):
                mean = sum(shares[j] * value[j][u] for j in range(len(rows))) / sum(shares)
                for o in range(len(found[i])):
                    found[i][o] += mean * kernel[head][u][o]
    return found


def attn_din(net, features, valid):
    """TF-Ranking's document interaction network: its embedding is a further input of the tower."""
    here = [i for i in range(len(valid)) if valid[i]]
    # Places without a document are filled with the documents of the list, one after the other.
    filled = [features[i] if valid[i] else features[here[i % len(here)]] for i in range(len(valid))]
    embedded = [rectified(apply_dense(net["projection"], row)) for row in filled]
    for layer in net["attention"]:
        change = keras_attention(layer, embedded, valid)
        for i in range(len(embedded)):
            summed = [change[i][u] + embedded[i][u] for u in range(len(change[i]))]
            embedded[i] = normalised(layer["norm"], summed, 1e-12)
    return [feed_forward(net["tower"], [*features[i], *embedded[i]])[0] for i in here]


def set_attention(layer, queries, keys, query_valid, key_valid, heads):
    """SetRank's masked multi-head attention: ReLU projections, heads side by side; residual; layer normalisation."""
    projected_queries = [rectified(apply_dense(layer["query"], row)) for row in queries]
    projected_keys = [rectified(apply_dense(layer["key"], row)) for row in keys]
    values = [rectified(apply_dense(layer["value"], row)) for row in keys]
    width = len(queries[0]) // heads
    found = []
    for i, query in enumerate(projected_queries):
        outputs = []
        for head in range(heads):
            units = range(head * width, head * width + width)
            logits = []
            for j, key in enumerate(projected_keys):
                product = sum(query[u] * key[u] for u in units) / width**0.5
                logits.append(product if key_valid[j] else -(2.0**32) + 1.0)
            shares = [math.exp(z - max(logits)) for z in logits]
            whole = sum(shares)
            masked = [share / whole if query_valid[i] else 0.0 for share in shares]
            outputs += [sum(masked[j] * values[j][u] for j in range(len(keys))) for u in units]
        summed = [outputs[u] + queries[i][u] for u in range(len(outputs))]
        found.append(normalised(layer["norm"], summed, 1e-8))
    return found


def position_wise(layer, rows):
    """SetRank's feed-forward part: two convolutions of width 1, a residual, and layer normalisation."""
    found = []
    for row in rows:
        inner = apply_dense(layer["second"], rectified(apply_dense(layer["first"], row)))
        summed = [inner[u] + row[u] for u in range(len(row))]
        found.append(normalised(layer["norm"], summed, 1e-8))
    return found


def setrank(net, features, valid, heads, earlier=False):
    """SetRank's program with two embedding layers, `multi_abstract`, and with or without inducing points.

    The second embedding layer has no activation, and a block has one feed-forward part, after its last attention.
    `earlier` is what files of Rankwood up to 0.4 hold: a ReLU there, and a feed-forward part after each attention.
    """
    rows = []
    for x in features:
        first = normalised(net["norms"][0], rectified(apply_dense(net["embedding"][0], x)), 1e-8)
        second = apply_dense(net["embedding"][1], first)
        rows.append(normalised(net["norms"][1], rectified(second) if earlier else second, 1e-8))
    for block in net["blocks"]:
        if "points" in block:
            points = [list(point) for point in block["points"]]
            every = [True] * len(points)
            points = set_attention(block["gather"], points, rows, every, valid, heads)
            if earlier:
                points = position_wise(block["gather_forward"], points)
            rows = set_attention(block["attention"], rows, points, valid, every, heads)
        else:
            rows = set_attention(block["attention"], rows, rows, valid, valid, heads)
        rows = position_wise(block["forward"], rows)
    scores = [apply_dense(net["score"], row)[0] for row in rows]
    return [score for score, here in zip(scores, valid, strict=True) if here]
