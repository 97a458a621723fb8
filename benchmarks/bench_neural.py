"""An epoch of NeuralRanker's dnn against a plain PyTorch loop with padded batches, data on the device for both.

Both train the same network by Adam in the same precision, with as many lists in a batch. The plain loop gets what helps
it, outside of the time: padded inputs, masks, gains and ideal DCGs are on the device, lists of similar length are in a
batch, and it never waits for a value of the loss. Run it on a machine with a GPU: `python -m benchmarks.bench_neural`;
a table in Markdown is printed.
"""

import argparse
import gc
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from rankwood.neural.fitting import fit_network
from torch import nn

import rankwood as rw
from rankwood.fit.context import FitContext
from rankwood.neural.parameters import check_params

HIDDEN = (512, 256, 128)
FEATURES = 136
RATE = 1e-3
BAR = 2.0


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    sizes: np.ndarray


def made(queries: int) -> Data:
    """Return lists of 60 to 180 documents, 120 in the mean, with a signal in ten features."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(60, 181, queries)
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    X = rng.normal(size=(y.size, FEATURES)).astype(np.float32)
    X[:, :10] += 0.1 * y[:, None].astype(np.float32)
    return Data(X, y, sizes)


def ours(data: Data, objective: str, lists: int, device: str) -> Any:
    """Return a function that trains one epoch."""
    ranker = rw.NeuralRanker(
        "dnn",
        objective,
        hidden=HIDDEN,
        transform=None,
        learning_rate=RATE,
        batch_documents=round(lists * data.sizes.mean()),
        epochs=10**6,
        device=device,
        verbose=False,
    )
    train = rw.RankingData(data.X, data.y, group=data.sizes)
    return fit_network(ranker, check_params(ranker), train, None, FitContext(), None).run._epoch


class Padded(NamedTuple):
    """A padded batch on the device."""

    inputs: Any
    label: Any
    gain: Any
    mask: Any


def padded_batches(data: Data, lists: int, device: str) -> list[Padded]:
    """Return batches of lists of similar length."""
    starts, order = np.cumsum(data.sizes) - data.sizes, np.argsort(data.sizes, kind="stable")
    batches = []
    for chosen in np.array_split(order, max(1, round(order.size / lists))):
        shape = chosen.size, int(data.sizes[chosen].max())
        inputs = np.zeros((*shape, FEATURES), np.float32)
        label, gain, mask = (
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, bool),
        )
        for i, q in enumerate(chosen):
            n, rows = data.sizes[q], slice(starts[q], starts[q] + data.sizes[q])
            inputs[i, :n], label[i, :n], mask[i, :n] = data.X[rows], data.y[rows], True
            gains = 2.0 ** data.y[rows] - 1
            ideal = np.sort(gains)[::-1][:10] @ (1 / np.log2(np.arange(2.0, 12.0)))
            gain[i, :n] = gains / max(ideal, 1e-9)
        batches.append(
            Padded(*(torch.from_numpy(x).to(device) for x in (inputs, label, gain, mask)))
        )
    return batches


def lambdarank(scores: Any, batch: Padded, k: int = 10) -> Any:
    """LambdaRank for NDCG over the pairs with a document among the first k, as n × n tensors."""
    with torch.no_grad():
        key = scores.masked_fill(~batch.mask, -torch.inf)
        rank = key.argsort(dim=1, descending=True).argsort(dim=1)
        discount = 1 / torch.log2(rank + 2.0)
        weight = (batch.gain[:, :, None] - batch.gain[:, None, :]).abs()
        weight *= (discount[:, :, None] - discount[:, None, :]).abs()
        weight *= batch.label[:, :, None] > batch.label[:, None, :]
        weight *= (rank[:, :, None] < k) | (rank[:, None, :] < k)
        weight *= batch.mask[:, :, None] & batch.mask[:, None, :]
    difference = scores[:, :, None] - scores[:, None, :]
    return (weight * nn.functional.softplus(-difference)).sum() / scores.shape[0]


def softmax(scores: Any, batch: Padded) -> Any:
    """Softmax cross entropy with the labels."""
    logs = scores.masked_fill(~batch.mask, -torch.inf).log_softmax(1).masked_fill(~batch.mask, 0.0)
    return -(batch.label * logs).sum() / scores.shape[0]


LOSSES = {"lambdarank-ndcg@10(norm=False)": lambdarank, "softmax": softmax}


def plain(data: Data, objective: str, lists: int, device: str) -> Any:
    """Return a function that trains one epoch."""
    layers: list[nn.Module] = []
    for a, b in zip((FEATURES, *HIDDEN), HIDDEN, strict=False):
        layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Dropout(0.1)]
    network = nn.Sequential(*layers, nn.Linear(HIDDEN[-1], 1)).to(device)
    optimiser = torch.optim.Adam(network.parameters(), RATE, fused=device == "cuda")
    batches, loss = padded_batches(data, lists, device), LOSSES[objective]
    rng = np.random.default_rng(0)

    def epoch() -> None:
        network.train()
        for i in rng.permutation(len(batches)).tolist():
            batch = batches[i]
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                flat = network(batch.inputs.flatten(0, 1))
            optimiser.zero_grad()
            loss(flat.float().view(batch.mask.shape), batch).backward()
            optimiser.step()

    return epoch


def seconds_of(epoch: Any, device: str, epochs: int) -> list[float]:
    """Return the seconds of epochs; two before them warm up."""
    found = []
    for i in range(epochs + 2):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        epoch()
        if device == "cuda":
            torch.cuda.synchronize()
        if i > 1:
            found.append(time.perf_counter() - start)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--lists", type=int, nargs="+", default=[32, 64, 128, 256, 512])
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = made(args.queries)
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(
        f"{data.y.size:,} documents of {FEATURES} features, layers of {HIDDEN}, {where}, PyTorch {torch.__version__}\n"
    )
    print(
        "| objective | lists in a batch | ours, million documents a second | plain loop | ratio |"
    )
    print("|---|---|---|---|---|")
    for objective in LOSSES:
        for lists in args.lists:
            speed = []
            for make in (ours, plain):
                epoch = make(data, objective, lists, device)
                speed.append(data.y.size / np.median(seconds_of(epoch, device, args.epochs)) / 1e6)
                del epoch
                gc.collect()
            cells = [
                f"`{objective}`",
                lists,
                f"{speed[0]:.2f}",
                f"{speed[1]:.2f}",
                f"{speed[0] / speed[1]:.2f}",
            ]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
