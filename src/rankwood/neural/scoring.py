"""Scores of a network, batch by batch, and the trained network that a model is."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rankwood._kernels.threads import threads
from rankwood._util import checks
from rankwood.data.groups import Groups, group_rows
from rankwood.fit.files.model_file import params_as_json
from rankwood.neural.architectures.table import architecture_of, build
from rankwood.neural.batches import rows_of, scoring_batches
from rankwood.neural.data import ResidentData, lists_of
from rankwood.neural.library import find_device, need_torch, torch_threads
from rankwood.neural.tensors import prefixed, to_text
from rankwood.neural.transforms import InputTransform

_DOCUMENTS = 8192  # documents of a batch that is scored; fixed, as it may change the last bits


class NetworkScorer:
    """Scores lists by a network in evaluation mode, always in the same batches."""

    def __init__(self, architecture: str, seed: int, shuffles: int) -> None:
        self._row = architecture_of(architecture)
        self._seed, self._shuffles = seed, shuffles

    def __call__(self, network: Any, data: ResidentData, n_jobs: int | None = None) -> np.ndarray:
        """Return scores of our rows, float64.

        Each batch is computed by one thread, so the number of threads changes no bit.
        """
        torch = need_torch()
        network.eval()
        batches = scoring_batches(data.lengths, _DOCUMENTS, self._row.needs_lists)
        scores = np.empty(int(data.ptr[-1]))

        def one(batch: np.ndarray) -> None:
            # A thread of the pool doesn't see the caller's autocast, and no other may.
            with torch.inference_mode(), torch.autocast(data.inputs.device.type, enabled=False):
                rows = rows_of(batch, data.ptr, data.lengths)
                inputs = data.inputs.index_select(0, torch.from_numpy(rows).to(data.inputs.device))
                found = network(inputs, self._lists(data, batch))
                scores[rows] = found.double().cpu().numpy()

        workers = min(threads(n_jobs), len(batches))
        if workers < 2 or data.inputs.device.type != "cpu":
            for batch in batches:
                one(batch)
        else:
            with torch_threads(1), ThreadPoolExecutor(workers) as pool:
                list(pool.map(one, batches))
        return scores

    def _lists(self, data: ResidentData, batch: np.ndarray) -> Any:
        from rankwood.neural.architectures.lists import Lists, fixed_orders

        lengths = data.lengths[batch]
        orders: tuple[np.ndarray, ...] = ()
        if self._row.ordered:
            longest = int(data.lengths.max())
            orders = fixed_orders(lengths, longest, self._seed, self._shuffles)
        return Lists(lengths, data.inputs.device, orders)


class FittedNetwork:
    """A trained network with its input transform; arrays only, so that it can be copied and written anywhere."""

    def __init__(
        self,
        params: Mapping[str, Any],
        transform: InputTransform,
        weights: dict[str, np.ndarray],
    ) -> None:
        self.params, self.transform, self.weights = dict(params), transform, weights
        self._network: Any = None
        self._copy: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_network": None, "_copy": None}

    @property
    def needs_groups(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return architecture_of(self.params["architecture"]).needs_lists

    def importances(self) -> None:
        """Return None: a network has no splits."""

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return self.transform.features

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the network: parameters, and weights in the safetensors format as text."""
        arrays = {
            **prefixed(self.transform.arrays, "transform."),
            **prefixed(self.weights, "network."),
        }
        return {"fitted": params_as_json(self.params), "model": to_text(arrays)}

    @property
    def module(self) -> Any:
        """A copy of the PyTorch module on the CPU, in evaluation mode."""
        if self._copy is None:
            self._copy = self._built().to(find_device("cpu")).eval()
        return self._copy

    def network(self, device: Any) -> Any:
        """Return the network on a device, in evaluation mode."""
        if self._network is None:
            self._network = self._built()
        return self._network.to(device).eval()

    def _built(self) -> Any:
        """Return the network with its weights; nothing is drawn, as another thread may be training."""
        torch = need_torch()
        network = build(self.params["architecture"], self.transform.inputs, self.params, "meta")
        state = {name: torch.from_numpy(a.copy()) for name, a in self.weights.items()}
        network.load_state_dict(state, assign=True)
        return network

    def predict(
        self,
        X: Any,
        groups: Groups | None = None,
        n_jobs: int | None = None,
        device: Any = "auto",
    ) -> np.ndarray:
        """Return a score per row, in the order of the rows."""
        torch = need_torch()
        if groups is None or not self.needs_groups:  # each document alone: any batch will do
            groups = group_rows(X.shape[0], np.arange(X.shape[0]))
        where = find_device(device)
        scorer = NetworkScorer(
            self.params["architecture"], self.params["random_state"], self.params["shuffles"]
        )
        with torch_threads(1):
            inputs = torch.from_numpy(self.transform(X)).to(where)
            data = lists_of(inputs, groups)
            scores = data.in_callers_order(scorer(self.network(where), data, n_jobs))
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise checks.InputError(
                f"the network's score of row {bad[0]} is {scores[bad[0]]}: its features are too large for float32 "
                "after the input transform; check them, or train with 'log1p' or 'quantile' in transform."
            )
        return scores


def weights_of(network: Any) -> dict[str, np.ndarray]:
    """Return copies of the weights of a network as arrays."""
    return {name: t.detach().cpu().numpy().copy() for name, t in network.state_dict().items()}


def check_shapes(
    weights: Mapping[str, np.ndarray], expected: Mapping[str, tuple[int, ...]], path: Any
) -> None:
    """Raise unless the weights of a file are those of a network."""
    for name, shape in expected.items():
        if name not in weights:
            raise checks.InputError(f"{path} is damaged: the weights {name!r} are missing.")
        if tuple(weights[name].shape) != tuple(shape):
            raise checks.InputError(
                f"{path} is damaged: the weights {name!r} have shape {tuple(weights[name].shape)}, and a network "
                f"with its parameters has {tuple(shape)}."
            )
    extra = sorted(set(weights) - set(expected))
    if extra:
        raise checks.InputError(
            f"{path} is damaged: a network with its parameters has no weights {extra[0]!r}."
        )
