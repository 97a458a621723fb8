"""Forward and backward pass of a batch: as PyTorch does them, or replayed on a GPU from a recording.

A small network on a GPU takes longer to be started, kernel by kernel, than to compute. Batches are the same in each
epoch, so the kernels of a batch are recorded once as two CUDA graphs, and an epoch starts two graphs for each batch.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from rankwood.neural.library import need_torch
from rankwood.neural.loss import BatchGradient


class TrainingBatch(NamedTuple):
    """A batch, which is the same in each epoch: inputs, lists, and the gradient of the objective.

    Attributes
    ----------
    inputs : tensor
        Inputs of the network, on the device.
    fixed : Lists
        The lists, if no order matters.
    gradient : BatchGradient
        Computes the gradient.
    ordered : bool
        Whether the network depends on an order of the documents, which is drawn in each epoch.
    """

    inputs: Any
    fixed: Any
    gradient: BatchGradient
    ordered: bool

    def lists(self, rng: np.random.Generator) -> Any:
        """Return the lists, in an order that is drawn if it matters."""
        if not self.ordered:
            return self.fixed
        from rankwood.neural.architectures.lists import Lists, random_orders

        lengths = self.fixed.lengths
        return Lists(lengths, self.inputs.device, random_orders(lengths, rng, 1))


def half_precision(device: Any, half: bool) -> Any:
    """Return the autocast context of the layers; no cache, as a recording can't use weights converted outside it."""
    torch = need_torch()
    return (
        torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if half else nullcontext()
    )


class PlainPass:
    """Both passes, kernel by kernel."""

    def __init__(self, network: Any, batch: TrainingBatch, half: bool) -> None:
        self._network, self._batch, self._half = network, batch, half
        self._scores: Any = None

    def forward(self, rng: np.random.Generator) -> Any:
        """Return the scores of the batch, in float32."""
        batch = self._batch
        with half_precision(batch.inputs.device, self._half):
            self._scores = self._network(batch.inputs, batch.lists(rng)).float()
        return self._scores.detach()

    def backward(self, gradient: Any) -> None:
        """Set the gradients of the weights, given that of the scores."""
        for weights in self._network.parameters():
            weights.grad = None
        scores, self._scores = self._scores, None
        # Nothing of the graph stays: nodes of weights that belong to this stream would end a recording on another.
        scores.backward(gradient)


def _trained(network: Any) -> list[Any]:
    """Return the weights that have a gradient."""
    return [weights for weights in network.parameters() if weights.requires_grad]


class _Memory(NamedTuple):
    """The memory pool and the stream that recordings share."""

    pool: Any
    stream: Any


@contextmanager
def _recording(graph: Any, memory: _Memory) -> Iterator[None]:
    """Record what is started on the current stream."""
    graph.capture_begin(pool=memory.pool)
    try:
        yield
    finally:
        graph.capture_end()


class RecordedPass:
    """Both passes, recorded as CUDA graphs; those of a run share memory, as one batch comes after the other."""

    def __init__(self, network: Any, batch: TrainingBatch, half: bool, memory: _Memory) -> None:
        torch = need_torch()
        weights = _trained(network)
        self._forward, self._backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        self._gradient = torch.zeros(batch.inputs.shape[0], device=batch.inputs.device)
        with torch.cuda.stream(memory.stream):
            with _recording(self._forward, memory), half_precision(batch.inputs.device, half):
                scores = network(batch.inputs, batch.fixed).float()
            with _recording(self._backward, memory):
                found = torch.autograd.grad(scores, weights, self._gradient)
                torch._foreach_copy_([w.grad for w in weights], list(found))
        self._scores = scores.detach()

    def forward(self, rng: np.random.Generator) -> Any:
        """Return the scores of the batch, in float32."""
        self._forward.replay()
        return self._scores

    def backward(self, gradient: Any) -> None:
        """Set the gradients of the weights, given that of the scores."""
        self._gradient.copy_(gradient)
        self._backward.replay()


def record(network: Any, batches: list[TrainingBatch], half: bool) -> list[RecordedPass] | None:
    """Return recorded passes of all batches, None if they can't be recorded; weights stay as they are.

    An epoch must have been trained before, so that everything that PyTorch makes on first use is there.
    """
    torch = need_torch()
    gc.collect()  # freeing memory during a recording would end it
    before = {name: value.clone() for name, value in network.state_dict().items()}
    memory = _Memory(torch.cuda.graph_pool_handle(), torch.cuda.Stream())
    try:
        memory.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(memory.stream):  # PyTorch sets up some things once for each stream
            for batch in batches[:2]:
                trial = PlainPass(network, batch, half)
                trial.backward(torch.zeros_like(trial.forward(np.random.default_rng(0))))
        torch.cuda.current_stream().wait_stream(memory.stream)
        for weights in _trained(network):
            weights.grad = torch.zeros_like(weights)
        torch.cuda.synchronize()
        return [RecordedPass(network, batch, half, memory) for batch in batches]
    except RuntimeError:
        _forget_recording(network)
        return None
    finally:
        network.load_state_dict(before)


def _forget_recording(network: Any) -> None:
    """Give the device's generator a new state: that of a recording that failed can't be used any more."""
    torch = need_torch()
    device = next(network.parameters()).device
    torch.cuda.synchronize()
    torch.cuda.default_generators[device.index or 0].graphsafe_set_state(torch.Generator(device))
