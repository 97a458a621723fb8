"""Weights of our networks as the variables of the programs that the oracle of networks computes."""


def dense_of(w, name):
    return w[f"{name}.weight"].T, w[f"{name}.bias"]


def norm_of(w, name):
    return w[f"{name}.weight"], w[f"{name}.bias"]


def batch_norm_of(w, name):
    return (*norm_of(w, name), w[f"{name}.running_mean"], w[f"{name}.running_var"])


def tower_of(w, layers, batch_norm=True, input_norm=False, groups=None):
    """Return a tower; `groups` are documents of a group and features, whose inputs the program has by feature."""
    name = "tower.layers"
    places = sorted({int(key.split(".")[2]) for key in w if key.startswith(name)})
    names = [f"{name}.{place}" for place in places]
    first = batch_norm_of(w, names.pop(0)) if input_norm else None
    hidden = []
    for _ in range(layers):
        layer = dense_of(w, names.pop(0))
        hidden.append((layer, batch_norm_of(w, names.pop(0)) if batch_norm else None))
    if groups is not None:
        members, features = groups
        kernel, bias = hidden[0][0]
        order = [m * features + f for f in range(features) for m in range(members)]
        order += range(len(order), len(kernel))  # differences
        hidden[0] = ((kernel[order], bias), hidden[0][1])
    (last,) = names
    return {"input_norm": first, "hidden": hidden, "output": dense_of(w, last)}


def attn_din_of(w, layers, attention_layers, heads):
    size = w["embed.bias"].size
    attention = []
    for i in range(attention_layers):
        name = f"attention.{i}"
        layer = {"norm": norm_of(w, f"{name}.norm")}
        for which in ("query", "key", "value"):
            kernel, bias = dense_of(w, f"{name}.{which}")
            layer[which] = (kernel.reshape(size, heads, size), bias.reshape(heads, size))
        kernel, bias = dense_of(w, f"{name}.out")
        layer["output"] = (kernel.reshape(heads, size, size), bias)
        attention.append(layer)
    return {
        "projection": dense_of(w, "embed"),
        "attention": attention,
        "tower": tower_of(w, layers),
    }


def _attention_of(w, name):
    layers = {which: dense_of(w, f"{name}.{which}") for which in ("query", "key", "value")}
    return {**layers, "norm": norm_of(w, f"{name}.norm")}


def _forward_of(w, name):
    return {
        "first": dense_of(w, f"{name}.wide"),
        "second": dense_of(w, f"{name}.narrow"),
        "norm": norm_of(w, f"{name}.wide_norm"),
    }


def setrank_of(w, blocks, induced, earlier=False):
    found = []
    for i in range(blocks):
        last = f"blocks.{i}.{'spread' if induced else 'attention'}"
        block = {"attention": _attention_of(w, last), "forward": _forward_of(w, last)}
        if induced:
            gather = f"blocks.{i}.gather"
            block |= {"points": w[f"blocks.{i}.points"], "gather": _attention_of(w, gather)}
            if earlier:
                block["gather_forward"] = _forward_of(w, gather)
        found.append(block)
    return {
        "embedding": [dense_of(w, "embed.0"), dense_of(w, "embed.3")],
        "norms": [norm_of(w, "embed.2"), norm_of(w, "embed.5")],
        "blocks": found,
        "score": dense_of(w, "score"),
    }
