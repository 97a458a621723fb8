"""The optimisers behind one interface: ask for a trial, and tell its loss.

Every trial belongs to an Optuna study in memory, whichever optimiser proposed its parameters. What an optimiser
proposes depends on the seed, the number of the trial and the finished trials only, so that a study can be resumed.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwood._util import checks
from rankwood.tuning.spaces.dimensions import Choice, Dimension, Float, Integer

TUNERS = ("tpe", "random", "random+gp", "cfo")
_RANDOM_SHARE = 0.2  # of the trials of random+gp: 20 random ones of 100 [which-tricks-2023]
_SMALL = 1000  # points of a space that CFO may leave before it has tried all of them
_MOST_SKIPPED = 200  # times in a row that CFO may propose nothing, before its search has ended


class SearchSettings(NamedTuple):
    """What is searched: dimensions with several values, where to start, and the seed."""

    dimensions: dict[str, Dimension]
    #: Parameters of the first trial; None leaves them to the optimiser.
    start: dict[str, Any] | None
    seed: int
    #: Number of random trials before another optimiser takes over.
    random_trials: int


class Tuner(Protocol):
    """An optimiser."""

    def ask(self, study: Any, number: int) -> Any:
        """Return the next trial of the study, with parameters; None if there is nothing left to try."""

    def tell(self, number: int, loss: float | None) -> None:
        """Take in the loss of a trial; None if it failed."""

    def replay(self, number: int, loss: float | None) -> None:
        """Take in a trial that was finished by an earlier process."""


@contextmanager
def _on_one_thread(sampler: Any) -> Iterator[None]:
    """Let PyTorch use one thread: matrices of a Gaussian process are small, and more threads wait for each other."""
    if type(sampler).__name__ != "GPSampler":  # only this one uses PyTorch
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class OptunaTuner:
    """One of Optuna's samplers, made anew for each trial with a seed of its own.

    Parameters
    ----------
    search : SearchSettings
        What is searched.
    sampler : callable
        Takes the number of a trial and its seed, and returns a sampler.
    """

    def __init__(self, search: SearchSettings, sampler: Callable[[int, int], Any]) -> None:
        self._search = search
        self._sampler = sampler
        self._distributions = distributions(search.dimensions)

    def ask(self, study: Any, number: int) -> Any:
        """Return the next trial; the first has the parameters to start from, if there are any."""
        if number == 0 and self._search.start is not None:
            study.enqueue_trial(self._search.start)
        study.sampler = self._sampler(number, trial_seed(self._search.seed, number))
        with _on_one_thread(study.sampler):
            return study.ask(self._distributions)

    def tell(self, number: int, loss: float | None) -> None:
        """Do nothing: samplers read the study."""

    def replay(self, number: int, loss: float | None) -> None:
        """Do nothing: samplers read the study."""


class CFOTuner:
    """FLAML's CFO, a local search that starts from given parameters; `FLOW2` is its step."""

    def __init__(self, search: SearchSettings) -> None:
        CFO, domain = _flaml()
        self._search = search
        self._distributions = distributions(search.dimensions)
        self._cfo = CFO(
            metric="loss",
            mode="min",
            space={name: domain(one) for name, one in search.dimensions.items()},
            points_to_evaluate=None if search.start is None else [dict(search.start)],
            seed=trial_seed(search.seed, 0) % 2**31,
        )
        self._proposed: dict[int, dict[str, Any]] = {}
        self._losses: list[float] = []

    def ask(self, study: Any, number: int) -> Any:
        """Return the next trial; the first has the parameters to start from, if there are any."""
        config = self._propose(number)
        if config is None:
            params = self._untried(study, number)
            if params is None:
                return None
        else:
            dimensions = self._search.dimensions
            params = {name: one.nearest(_plain(config[name])) for name, one in dimensions.items()}
        study.enqueue_trial((number == 0 and self._search.start) or params)
        return study.ask(self._distributions)

    def replay(self, number: int, loss: float | None) -> None:
        """Repeat a finished trial of an earlier process: ask for it and tell its loss."""
        self._propose(number)
        self.tell(number, loss)

    def _propose(self, number: int) -> dict[str, Any] | None:
        """Return what CFO proposes; None if there is nothing left to try.

        CFO itself returns None for points that it has tried, and when a local search converges.
        """
        for _ in range(_MOST_SKIPPED):
            config = self._cfo.suggest(str(number))
            if config is not None:
                self._proposed[number] = config
                return dict(config)
        return None

    def _untried(self, study: Any, number: int) -> dict[str, Any] | None:
        """Return a random point of a small space that no trial has had; None if there is none.

        CFO steps over choices at random and gives up after points that it knows, often before it has seen all.
        """
        values = [_values(one) for one in self._search.dimensions.values()]
        if None in values or math.prod(len(some) for some in values if some) > _SMALL:
            return None
        names = list(self._search.dimensions)

        def key(params: dict[str, Any]) -> list[str]:
            return [repr(params[name]) for name in names]

        tried = [key(trial.params) for trial in study.get_trials(deepcopy=False)]
        points = (dict(zip(names, point, strict=True)) for point in product(*filter(None, values)))
        left = [point for point in points if key(point) not in tried]
        return left[trial_seed(self._search.seed, number) % len(left)] if left else None

    def tell(self, number: int, loss: float | None) -> None:
        """Take in a loss; a failed trial counts as the worst so far. All cost the same, so that clocks don't matter."""
        if number not in self._proposed:
            return
        if loss is None:
            loss = max(self._losses, default=0.0)
        self._losses.append(loss)
        result = {"loss": loss, "time_total_s": 1.0, "config": self._proposed[number]}
        self._cfo.on_trial_complete(str(number), result)


def _values(dimension: Dimension) -> list[Any] | None:
    """Return all values of a dimension; None if there are too many."""
    if isinstance(dimension, Choice):
        return list(dimension.values)
    if isinstance(dimension, Integer) and dimension.high - dimension.low < _SMALL:
        return list(range(dimension.low, dimension.high + 1))
    return None


def make_tuner(name: str, search: SearchSettings) -> Tuner:
    """Return an optimiser by name."""
    if name == "cfo":
        return CFOTuner(search)
    from optuna import samplers

    def random_then_gp(number: int, seed: int) -> Any:
        if number < search.random_trials:
            return samplers.RandomSampler(seed=seed)
        return samplers.GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=True)

    makers: dict[str, Callable[[int, int], Any]] = {
        "tpe": lambda number, seed: samplers.TPESampler(seed=seed),
        "random": lambda number, seed: samplers.RandomSampler(seed=seed),
        "random+gp": random_then_gp,
    }
    return OptunaTuner(search, makers[name])


def check_installed(name: str) -> None:
    """Raise unless the packages of an optimiser are installed, and Optuna, which keeps the record."""
    checks.one_of(name, TUNERS, "tuner")
    own = {"cfo": [("flaml", "tune")], "random+gp": [("torch", "gp")]}
    for package, extra in [("optuna", "tune"), *own.get(name, [])]:
        try:
            __import__(package)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            raise checks.InputError(
                f"tuner={name!r} needs the package {package}: pip install 'rankwood[{extra}]'."
            ) from None


def settings(trials: int) -> dict[str, int]:
    """Return what a study keeps to when it is resumed with another number of trials: how many are random."""
    return {"random_trials": max(1, round(_RANDOM_SHARE * trials))}


def trial_seed(seed: int, number: int) -> int:
    """Return the seed of a trial's sampler."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def distributions(dimensions: dict[str, Dimension]) -> dict[str, Any]:
    """Return dimensions as Optuna's distributions."""
    from optuna import distributions as optuna

    kinds: dict[type, Callable[[Any], Any]] = {
        Integer: lambda one: optuna.IntDistribution(one.low, one.high, log=one.log),
        Float: lambda one: optuna.FloatDistribution(one.low, one.high, log=one.log),
        Choice: lambda one: optuna.CategoricalDistribution(one.values),
    }
    return {name: kinds[type(one)](one) for name, one in dimensions.items()}


def _flaml() -> tuple[Any, Callable[[Dimension], Any]]:
    """Return FLAML's class of the optimiser, and a function that turns a dimension into FLAML's."""
    from flaml import CFO, tune

    kinds: dict[tuple[type, bool], Callable[[Any], Any]] = {
        # FLAML excludes the upper bound of whole numbers.
        (Integer, False): lambda one: tune.randint(one.low, one.high + 1),
        (Integer, True): lambda one: tune.lograndint(one.low, one.high + 1),
        (Float, False): lambda one: tune.uniform(one.low, one.high),
        (Float, True): lambda one: tune.loguniform(one.low, one.high),
        (Choice, False): lambda one: tune.choice(list(one.values)),
    }
    return CFO, lambda one: kinds[type(one), getattr(one, "log", False)](one)


def _plain(value: Any) -> Any:
    """Return one of NumPy's scalars as Python's."""
    return value.item() if isinstance(value, np.generic) else value
