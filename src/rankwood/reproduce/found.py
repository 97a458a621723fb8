"""What finished cells say about an item, pooled over folds and averaged over seeds."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rankwood.reproduce.cells import Store, unpack
from rankwood.reproduce.plan import Place, Request
from rankwood.reproduce.recipes.recipe import MetricColumn


class Found:
    """The results of the cells of an item, by place.

    Parameters
    ----------
    store : Store
        Where finished cells are.
    requests : iterable of Request
        The cells of the item.
    errors : mapping
        What went wrong with cells that failed, by what they are about.
    """

    def __init__(
        self, store: Store, requests: Iterable[Request], errors: Mapping[str, str] | None = None
    ) -> None:
        self._errors = errors or {}
        self._requests: dict[Place, list[Request]] = {}
        for request in requests:
            self._requests.setdefault(request.place, []).append(request)
        self._read = lru_cache(maxsize=1024)(store.read)

    def results(self, place: Place) -> list[dict[str, Any]]:
        """Return the results of a place: one for each fold and each seed, fold by fold."""
        found = [self._read(request.cell.digest) for request in self._requests.get(place, [])]
        return [result for result in found if result is not None]

    def per_query(self, place: Place, metric: str) -> np.ndarray | None:
        """Return the mean over seeds for each test query, of one fold after the other; None if there is no cell."""
        folds: dict[int, list[np.ndarray]] = {}
        for request in self._requests.get(place, []):
            result = self._read(request.cell.digest)
            if result is None or metric not in result["metrics"]:
                return None
            values = unpack(result["values"])[result["metrics"].index(metric)]
            folds.setdefault(request.data.fold, []).append(values)
        if not folds:
            return None
        return np.concatenate([np.mean(folds[fold], axis=0) for fold in sorted(folds)])

    def mean(self, place: Place, column: MetricColumn) -> float:
        """Return the mean of a column: over test queries, or over folds and seeds for other parts of the data."""
        if column.split == "test":
            values = self.per_query(place, column.metric)
            return float("nan") if values is None else mean_of(values)
        if column.split == "gap":
            train = self.mean(place, MetricColumn(column.metric, "train"))
            return train - self.mean(place, MetricColumn(column.metric))
        results = self.results(place)
        whole = len(results) == len(self._requests.get(place, []))
        means = [_mean_of_part(result, column) for result in results]
        return float(np.mean(means)) if means and whole else float("nan")

    def curve(self, place: Place, name: str) -> np.ndarray | None:
        """Return a curve by round, the mean over folds and seeds as far as all of them go; None if there is none.

        `name` is one of ``Ranker(record=...)``'s curves, or ``"valid"`` or ``"train"`` for the metric that stops.
        """
        curves = [_curve_of(result, name) for result in self.results(place)]
        known = [curve for curve in curves if curve is not None]
        if not known or len(known) < len(self._requests[place]):
            return None
        length = min(map(len, known))
        return np.mean([curve[:length] for curve in known], axis=0)

    def queries(self, role: str) -> int:
        """Return how many test queries of a role were measured, of all folds together; 0 if none was."""
        folds: dict[int, int] = {}
        for place, requests in self._requests.items():
            for request in requests if place.role == role else ():
                result = self._read(request.cell.digest)
                if result is not None and "queries" in result:
                    folds[request.data.fold] = result["queries"]
        return sum(folds.values())

    def cut_lists(self, role: str) -> float | None:
        """Return the share of training lists that were cut for a second stage; None if there is none."""
        places = [place for place in self._requests if place.role == role]
        found = [result.get("cut_lists") for place in places for result in self.results(place)]
        known = [share for share in found if share is not None]
        return float(np.mean(known)) if known else None

    def digests(self) -> set[str]:
        """Return the names of all cells of the item."""
        return {r.cell.digest for requests in self._requests.values() for r in requests}

    def seconds(self) -> float:
        """Return how long the cells of the item took to train, one after the other."""
        found = [self._read(digest) or {} for digest in self.digests()]
        return float(sum(result.get("seconds", {}).get("total", 0.0) for result in found))

    def failed(self) -> dict[str, str]:
        """Return what went wrong with the cells that failed, by what they are about."""
        every = [r.about for requests in self._requests.values() for r in requests]
        return {about: self._errors[about] for about in every if about in self._errors}

    def versions(self) -> dict[str, str]:
        """Return the versions of the programs behind the cells."""
        found: dict[str, str] = {}
        for place in self._requests:
            for result in self.results(place):
                found |= result.get("versions", {})
        return dict(sorted(found.items()))


def mean_of(values: np.ndarray) -> float:
    """Return the mean over the queries that were not skipped."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


def _mean_of_part(result: Mapping[str, Any], column: MetricColumn) -> float:
    value = result["means"].get(column.split, {}).get(column.metric)
    return float("nan") if value is None else float(value)


def _curve_of(result: Mapping[str, Any], name: str) -> list[float] | None:
    if name in ("valid", "train"):
        history = result.get("history" if name == "valid" else "train_history", {})
        return next(iter(history.values()), None)
    found: list[float] | None = result.get("curves", {}).get(name)
    return found
