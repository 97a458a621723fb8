"""The engine `rankwood`: boosting with trees of our own, on documents; objectives of pairs have trees on pairs."""

import re
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.source import Source
from rankwood.engines import _errors, _parameters
from rankwood.engines.base import Gradients, Learner, LearnerDefaults, Model, RunState, TrainingTask
from rankwood.engines.lightgbm import langevin, text_check
from rankwood.engines.lightgbm.langevin_learner import LangevinLearner
from rankwood.engines.pairtree import engine as pairs
from rankwood.engines.trees.binning.documents import bin_documents
from rankwood.engines.trees.dart import draw_round
from rankwood.engines.trees.grower import Constraints, GrownTree, TreeGrower
from rankwood.engines.trees.model import TreesModel
from rankwood.engines.trees.model_text import model_text, tree_text
from rankwood.engines.trees.parameters import Parsed, parse
from rankwood.engines.trees.walking import Walker
from rankwood.objectives.units import unit_of


class Scored:
    """Scores of documents, and what adds trees to them.

    Parameters
    ----------
    data : Source
        The documents.
    walker : Walker
        Adds trees to the scores of the documents, query by query.
    """

    def __init__(self, data: Source, walker: Walker) -> None:
        rows = data.groups.rows
        self._rows = None if (rows[1:] > rows[:-1]).all() else rows
        self._data = data
        self.walker = walker
        self.scores = np.zeros(rows.size)

    def by_row(self) -> np.ndarray:
        """Return the scores in the order of rows."""
        if self._rows is None:
            return self.scores
        scores = np.empty(self.scores.size)
        scores[self._rows] = self.scores
        return scores

    def by_query(self, values: np.ndarray) -> np.ndarray:
        """Return float32 numbers of rows in the order of documents here: query by query."""
        values = np.asarray(values, np.float32)
        return np.ascontiguousarray(values if self._rows is None else values[self._rows])

    def start_from(self, model: Model, n_jobs: int | None) -> None:
        """Begin with the scores of earlier trees."""
        parts = [model.predict(X, n_jobs=n_jobs) for X in self._data.blocks()]
        scores = np.concatenate(parts)
        self.scores = scores if self._rows is None else scores[self._rows]


class TreesLearner(LearnerDefaults):
    """One training run on documents.

    Parameters
    ----------
    parsed : Parsed
        The parameters.
    columns : list of int
        Categorical features.
    task : TrainingTask
        The data and the objective.
    """

    def __init__(self, parsed: Parsed, columns: list[int], task: TrainingTask) -> None:
        self._parsed, n_jobs = parsed, parsed.n_jobs
        self.keeps_rounds = parsed.dart is None
        key = parsed.bins, tuple(columns)
        binned = task.once(
            "binned", key, lambda: bin_documents(task.train, parsed.bins, columns, n_jobs)
        )
        self._bins = binned.coder.bins
        constraints = Constraints(parsed.directions, parsed.interactions)
        self._grower = TreeGrower(binned, parsed.trees, parsed.seed, n_jobs, constraints)
        self._train = Scored(task.train, Walker.of_training(binned, n_jobs))
        self._valid: Scored | None = None
        if task.valid is not None:
            valid, coder = task.valid, binned.coder
            lines = task.once("binned valid", key, lambda: coder.all_lines(valid, n_jobs))
            self._valid = Scored(valid, Walker.of_others(lines, n_jobs))
        self._earlier: list[str] = []
        self._trees: list[GrownTree] = []
        self._rates: list[float] = []
        if task.before is not None:
            self._check_resumable()
            self._resume(task.before)

    def _resume(self, before: RunState) -> None:
        """Begin with the trees of an earlier run."""
        self._earlier = list(_trees_of(before.text))
        model = TreesModel(before.text)
        for scored in self._scored():
            scored.start_from(model, self._parsed.n_jobs)

    def _scored(self) -> list[Scored]:
        return [self._train] if self._valid is None else [self._train, self._valid]

    @property
    def _rounds(self) -> int:
        return len(self._earlier) + len(self._trees)

    def step(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""
        parsed, number = self._parsed, self._rounds
        rate, drops = parsed.learning_rate, None
        if parsed.dart is not None:
            drops = draw_round(parsed.dart, parsed.seed, number, self._rates, rate)
            rate = drops.rate
            self._add(drops.dropped, -1.0)
        grad, hess = gradients(self._train.by_row())
        grad, hess = self._train.by_query(grad), self._train.by_query(hess)
        tree = self._grower.grow(grad, hess, self._train.scores, number, rate)
        if self._valid is not None:
            self._valid.walker.add(tree, self._valid.scores)
        self._trees.append(tree)
        self._rates.append(rate)
        if drops is not None:
            for k in drops.dropped:
                self._trees[k] = self._trees[k].scaled(drops.factor)
                self._rates[k] *= drops.factor
            self._add(drops.dropped, 1.0)
        return self._grower.is_random or tree.splits.size > 0

    def _add(self, numbers: list[int], weight: float) -> None:
        """Add trees, times a weight, to all scores."""
        for number in numbers:
            for scored in self._scored():
                scored.walker.add(self._trees[number], scored.scores, weight)

    def state(self, rounds: int) -> RunState:
        """Return the trees of the first `rounds` rounds."""
        self._check_resumable()
        return RunState(rounds, self._text(rounds), {})

    def _check_resumable(self) -> None:
        if self._parsed.dart is not None:
            raise _errors.not_resumable("boosting='dart'", "later rounds change earlier trees")

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        assert self._valid is not None
        return self._valid.by_row()

    def model(self, rounds: int) -> TreesModel:
        """Return the ensemble of the first `rounds` trees."""
        return TreesModel(self._text(rounds))

    def _text(self, rounds: int) -> str:
        grown = zip(self._trees, self._rates, strict=True)
        texts = [*self._earlier, *(tree_text(tree, self._bins, rate) for tree, rate in grown)]
        return model_text(texts[:rounds], self._bins)


def _trees_of(text: str) -> list[str]:
    """Return the lines of each tree of a model's text, after the one with its number."""
    trees = text.partition("\nend of trees")[0] + "\n"
    return re.split(r"^Tree=\d+\n", trees, flags=re.MULTILINE)[1:]


def start(params: dict[str, Any], task: TrainingTask) -> Learner:
    """Begin a training run with parameters by the shared names or LightGBM's."""
    check_params(params, task.objective)
    if unit_of(task.objective) == "pairs":
        return pairs.PairTreeEngine(params, task)
    if task.member is not None:
        raise checks.InputError(
            "engine='rankwood' doesn't train on a cluster: use engine='lightgbm' or 'xgboost'."
        )
    ours, params = langevin.separate_params(params)
    columns = _parameters.whole(params.get("categorical_feature"), task.train)
    parsed = parse(params)
    learner = TreesLearner(parsed, columns, task)
    noise = langevin.parse(ours, parsed.learning_rate, parsed.seed)
    return learner if noise is None else LangevinLearner(noise, learner, task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless an objective can be trained with these parameters."""
    if unit_of(objective) == "pairs":
        pairs.check_params(params, objective)
        return
    ours, params = langevin.separate_params(params)
    parsed = parse(params)
    noise = langevin.parse(ours, parsed.learning_rate, parsed.seed)
    if noise is not None and parsed.dart is not None:
        raise checks.InputError(
            "boosting='dart' weighs its trees itself, so that Langevin boosting and shrinkage of the model can't be "
            "combined with it; use boosting='gbdt'."
        )
    if (
        noise is not None
        and noise.noise_sd
        and not parsed.trees.min_hessian
        and not parsed.trees.l2
    ):
        raise checks.InputError(
            "Langevin noise would be divided by 0 in leaves without a Hessian; give min_child_weight or reg_lambda "
            "above 0."
        )


def load(text: str) -> Model:
    """Return the model that a text holds, or raise if it is damaged."""
    if text.startswith("{"):
        return pairs.load(text)
    text_check.check(text)
    return TreesModel(text)
