"""NeuralRanker: the scikit-learn estimator of networks."""

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwood._util import checks
from rankwood.data.source import Source
from rankwood.estimators.base import QueryIds, RankingEstimator, Sizes
from rankwood.estimators.fitted import SingleModel
from rankwood.estimators.prediction import documents_to_score, need_groups
from rankwood.fit.context import FitContext
from rankwood.fit.files.model_file import result_of
from rankwood.fit.loop import FitData, fit
from rankwood.fit.result import FitResult, Settings
from rankwood.fit.spec import FitSpec
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import named_metrics
from rankwood.neural.files import load_network
from rankwood.neural.learner import start
from rankwood.neural.parameters import NetworkParams, checked_objective, learning_rate
from rankwood.neural.presets import find_preset
from rankwood.objectives.units import refuse_given_pairs

_ALONE = FitContext()
#: What `stopped_` calls the reasons why training ends.
_STOPPED = {"rounds": "epochs", "": "interrupted"}
#: What the attributes of trees are refused with.
_NO_TREES = {
    "export": "is a network, and export writes trees: give module_ to torch.onnx.export, or serve it by predict.",
    "explanation": (
        "has no trees to take contributions from: permutation_importance and partial_dependence of "
        "rankwood.explanation take any model."
    ),
}


class NeuralRanker(SingleModel, RankingEstimator):
    """Learn to rank with a neural network.

    Parameters
    ----------
    architecture : {"dnn", "gsf", "attn-din", "setrank"}
        A feed-forward network that scores one document at a time; groups of documents that are scored together
        [ai2019]; self-attention before a feed-forward network [pasumarthi2020]; blocks of self-attention [pang2020].
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition of parts: any objective of documents.
    hidden, dropout, batch_norm, momentum, input_norm : list of int, float, bool, float and bool
        Of all networks but setrank: sizes of the layers, share of the units that are dropped in training, batch
        normalisation after each layer, the weight of the newest batch in its running mean and variance, and batch
        normalisation of the inputs. Where an architecture lacks a parameter, any value but the default is an error.
    group_size, shuffles, differences : int, int and bool
        Of gsf: documents of a group, random orders of each list over which scores are averaged at prediction time,
        and, for two documents, whether the differences of their features are inputs too.
    layers, heads, size, attention_dropout : int, int, int and float
        Of attn-din and setrank: number of attention layers, heads of each, units (in attn-din of each head, in
        setrank of all), and dropout of attention weights, of what they give (attn-din) and of the embedding (setrank).
    inducing : int or None
        Of setrank: number of inducing points, or None for attention between all documents.
    transform : str, list of str or None
        Steps that make inputs of features, fitted on the training data: ``"log1p"``, ``"standardise"``,
        ``"quantile"``. Missing values become 0, and indicators of them are further inputs.
    optimizer : {"adagrad", "adam"}
        The optimiser.
    learning_rate : float or None
        None means 0.05 for Adagrad and 0.001 for Adam.
    schedule : {"constant", "linear", "cosine"}
        How the learning rate falls over the epochs.
    weight_decay, clip : float, and float or None
        L2 penalty on the weights, and the norm to which gradients are clipped (None: not at all).
    epochs : int
        Largest number of epochs.
    batch_documents : int
        A batch has whole lists, until it has so many documents.
    eval_metric : str, part, or list of them
        Metrics on the validation data after each epoch; the first one decides early stopping.
    early_stopping_rounds : int or None
        Stop after this many epochs without improvement of the first metric and keep the best; None trains all epochs
        and keeps the last.
    device : str
        ``"auto"`` is a GPU if there is one; ``"cpu"``, ``"cuda"``, ``"cuda:1"``.
    precision : {"auto", "float32", "bfloat16"}
        What layers compute in while training; ``"auto"`` is bfloat16 on a GPU. Scores and weights are float32.
    random_state : int
        Seed of everything random.
    n_jobs : int or None
        Threads of gradients, metrics and predictions; None means every core. Their number changes no bit.
    torch_threads : int
        Threads of PyTorch in training on a CPU. Unlike `n_jobs` it may change the last bits, so it is fixed.
    verbose : bool or None
        Show a progress bar; None means on a terminal.

    Attributes
    ----------
    result_ : FitResult
        The complete result of the last fit, which the other attributes read; docs/after-training.md explains it.
    history_ : dict
        Validation metrics by epoch.
    validation_sets_ : list of str
        Names of the validation sets; the first one decides early stopping.
    best_iteration_ : int
        The epoch that the model is of.
    stopped_ : str
        Why training ended: ``"epochs"``, ``"early stopping"``, ``"callback"``, ``"diverged"`` or ``"interrupted"``.
    seconds_ : dict
        Time spent on compiling, the input transform, training, evaluation and, if there are any, callbacks.
    objective_ : part
        The objective as a composition.
    n_features_in_, feature_names_in_
        Number and, if they have any, names of the features.

    Examples
    --------
    >>> import rankwood as rw
    >>> train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
    >>> ranker = rw.NeuralRanker("dnn", "softmax", hidden=(32, 16), epochs=5, batch_documents=512)
    >>> len(ranker.fit(train, valid=valid).history_["ndcg@10"])
    5
    >>> ranker.score(test) > 0.5
    True
    """

    _kind = "NeuralRanker"
    #: What commands and reports call the program that trained a model.
    engine_: ClassVar[str] = "neural"

    def __init__(
        self,
        architecture: str = "dnn",
        objective: Any = "lambdarank-ndcg@10",
        *,
        hidden: Any = (256, 128, 64),
        dropout: float = 0.1,
        batch_norm: bool = True,
        momentum: float = 0.1,
        input_norm: bool = False,
        group_size: int = 2,
        shuffles: int = 1,
        differences: bool = False,
        layers: int = 2,
        heads: int = 2,
        size: int = 64,
        attention_dropout: float = 0.1,
        inducing: int | None = None,
        transform: Any = ("log1p", "standardise"),
        optimizer: str = "adam",
        learning_rate: float | None = None,
        schedule: str = "constant",
        weight_decay: float = 0.0,
        clip: float | None = None,
        epochs: int = 100,
        batch_documents: int = 2048,
        eval_metric: Any = "ndcg@10",
        early_stopping_rounds: int | None = 10,
        device: str = "auto",
        precision: str = "auto",
        random_state: int = 0,
        n_jobs: int | None = None,
        torch_threads: int = 1,
        verbose: bool | None = None,
    ) -> None:
        self.architecture = architecture
        self.objective = objective
        self.hidden = hidden
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.momentum = momentum
        self.input_norm = input_norm
        self.group_size = group_size
        self.shuffles = shuffles
        self.differences = differences
        self.layers = layers
        self.heads = heads
        self.size = size
        self.attention_dropout = attention_dropout
        self.inducing = inducing
        self.transform = transform
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.clip = clip
        self.epochs = epochs
        self.batch_documents = batch_documents
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.device = device
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.torch_threads = torch_threads
        self.verbose = verbose

    @classmethod
    def preset(cls, name: str, data: str, **other: Any) -> Self:
        """Return a ranker with the sizes and learning rates of [bivariate2024], or with smaller ones.

        Parameters
        ----------
        name : {"dnn", "gsf-2", "gsf-20", "attn-din", "setrank"}
            The network.
        data : {"web10k", "web30k", "yahoo", "small"}
            The data set that they were chosen for; ``"small"`` is for data of a few hundred or thousand lists.
        **other
            Parameters that take the place of the preset's.

        Returns
        -------
        NeuralRanker
            Not fitted.

        Examples
        --------
        >>> import rankwood as rw
        >>> rw.NeuralRanker.preset("attn-din", "web30k").hidden
        (512, 128, 32)
        """
        return cls(**{**find_preset(name, data), **other})

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the default of each parameter."""
        parameters = list(inspect.signature(NeuralRanker.__init__).parameters.values())
        return {parameter.name: parameter.default for parameter in parameters[1:]}

    def _fit(
        self, train: Source, valid: ValidationSets | None, context: FitContext = _ALONE
    ) -> None:
        """Train a model; set nothing before an epoch is done."""
        context = replace(context, fitted=self._with_result)
        fit(self._spec(), FitData(train, valid), context, self._load_model, self._set_result)

    def _spec(self) -> FitSpec:
        """Return what is to be trained."""
        params = self.get_params(deep=False)
        network = NetworkParams(**params)
        objective = self._checked_objective(network)
        chosen = {"learning_rate": learning_rate(network)}
        # Other schedules of the learning rate depend on the number of all epochs.
        epochs = ("epochs",) if self.schedule == "constant" else ()
        return FitSpec(
            settings=Settings(self._kind, "neural", objective, params, chosen),
            start=start,
            params=params,
            metrics=named_metrics(self.eval_metric),
            rounds=self.epochs,
            patience=self.early_stopping_rounds,
            seed=self.random_state,
            n_jobs=self.n_jobs,
            computes_gradients=False,
            free=("early_stopping_rounds", "n_jobs", "verbose", *epochs),
            verbose=self.verbose,
        )

    def _load_model(self, content: dict[str, Any], path: Any) -> Any:
        return load_network(self._defaults(), content, path)

    @property
    def stopped_(self) -> str:
        """Why training ended."""
        ends = self.result_.ends
        return _STOPPED.get(ends, ends)

    def _check(self, unlisted: bool) -> None:
        self._checked_objective(NetworkParams(**self.get_params(deep=False)))

    def _checked_objective(self, params: NetworkParams) -> Any:
        """Return the objective; raise unless the parameters make sense and a network can train it."""
        objective = checked_objective(params, self._defaults())
        refuse_given_pairs(objective, type(self).__name__)
        return objective

    def _check_streamed(self) -> None:
        raise checks.InputError(
            f"{type(self).__name__} needs all features in memory, and a stream has them in files: load the files, or "
            "train a Ranker."
        )

    def _fit_on_cluster(self, placed: Any, context: FitContext) -> None:
        raise checks.InputError(
            f"{type(self).__name__} trains on one machine: omit cluster, or use Ranker(engine='xgboost')."
        )

    def _fill(self, content: Any, path: str | Path) -> None:
        result = result_of(content, path, self._load_model, self._kind)
        self.set_params(**content["params"])
        ends = {word: reason for reason, word in _STOPPED.items()}.get(result.ends, result.ends)
        self._set_result(replace(result, ends=ends))

    def _own_object(self, name: str) -> Any:
        check_is_fitted(self)
        if name != "module":
            raise AttributeError(f"{type(self).__name__} has no {name}_: read module_.")
        return self.result_.model.module  # type: ignore[attr-defined]

    def _trees(self, what: str) -> FitResult:
        if what in _NO_TREES:
            who = "a network" if what == "explanation" else type(self).__name__
            raise checks.InputError(f"{who} {_NO_TREES[what]}")
        return super()._trees(what)

    def predict(self, X: Any, *, qid: QueryIds = None, group: Sizes = None) -> np.ndarray:
        """Score documents: the higher, the better.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents in any order. Columns of a table are matched by name if the model was trained on names.
        qid, group : optional
            Query ids (or the name of a column that has them), or sizes of consecutive queries. All networks but dnn
            compare the documents of a query, and need one of them unless `X` is a RankingData.

        Returns
        -------
        array of float64
            One score per row, in the order of the rows.
        """
        check_is_fitted(self)
        network: Any = self.result_.model
        X, groups = documents_to_score(self.result_.schema, X, qid, group, self._kind)
        if X.shape[0] == 0:
            return np.zeros(0)
        if network.needs_groups:
            groups = need_groups(groups, "network")
        return network.predict(X, groups, self.n_jobs, self.device)
