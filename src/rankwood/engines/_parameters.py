"""What the adapters of engines share: names of parameters, categorical columns, threads."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.source import Source

# Some engines take what a sparse matrix doesn't store for missing values, not for 0.
from rankwood.data.tables.frames import dense as dense
from rankwood.data.tables.frames import sparse_matrix as sparse_matrix
from rankwood.data.tables.schema import numbered_names


@contextmanager
def passive_threads() -> Iterator[None]:
    """Let threads of an OpenMP library that is loaded inside this context wait passively.

    By default, OpenMP's threads spin between two parallel loops of an engine. They would occupy the cores that our
    gradients need, and on a busy machine training can take fifty times as long. The variable is read when the
    library is loaded; a value that the user has set is kept.
    """
    policy = os.environ.get("OMP_WAIT_POLICY")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        yield
    finally:
        if policy is None:
            del os.environ["OMP_WAIT_POLICY"]


#: Features that a model file may claim: an array of so many still fits in memory.
MOST_FEATURES = 10**7
#: Parameters of Ranker, and the names that programs have for them.
_WORDS = {
    "n_estimators": "iterations num_iterations num_iteration n_iter num_tree num_trees num_round num_rounds nrounds "
    "num_boost_round max_iter",
    "learning_rate": "eta shrinkage_rate",
    "num_leaves": "num_leaf max_leaves max_leaf max_leaf_nodes",
    "max_depth": "depth",
    "min_child_samples": "min_data_in_leaf min_data_per_leaf min_data min_samples_leaf",
    "min_child_weight": "min_sum_hessian_in_leaf min_sum_hessian_per_leaf min_sum_hessian min_hessian",
    "reg_alpha": "lambda_l1 l1_regularization alpha",
    "reg_lambda": "lambda_l2 lambda l2_regularization l2_leaf_reg",
    "subsample": "bagging_fraction sub_row bagging",
    "colsample_bytree": "feature_fraction sub_feature rsm",
    "random_state": "seed random_seed",
    "n_jobs": "nthread nthreads num_threads num_thread thread_count",
    "verbose": "verbosity logging_level silent verbose_eval metric_period",
    "objective": "loss_function loss app application objective_type obj fobj",
    "eval_metric": "metric metrics metric_types custom_metric custom_loss eval_at ndcg_eval_at ndcg_at map_eval_at "
    "map_at",
    "early_stopping_rounds": "early_stopping_round early_stopping stopping_rounds n_iter_no_change od_wait od_type",
    "categorical_feature": "cat_features cat_feature categorical_features cat_column categorical_column "
    "enable_categorical",
}
#: Parameters of Ranker by the names that programs have for them.
RANKER_NAMES = {word: ours for ours, words in _WORDS.items() for word in words.split()}
#: Parameters of the ranking objectives of LightGBM and XGBoost, which aren't used, and their names in ours.
_OBJECTIVE_NAMES = {
    "lambdarank_truncation_level": "truncation",
    "lambdarank_pair_method": "truncation",
    "lambdarank_num_pair_per_sample": "truncation",
    "lambdarank_norm": "norm",
    "lambdarank_normalization": "norm",
    "lambdarank_score_normalization": "norm",
    "sigmoid": "sigma",
    "label_gain": "gain",
    "ndcg_exp_gain": "gain",
}


#: Objectives that stand for the default of a parameter of LightGBM: its lists are truncated at 30.
_EXAMPLES = {
    "lambdarank_truncation_level": "'lambdarank-ndcg@30' for a level of 30",
    "label_gain": "'lambdarank-ndcg@30(gain=\"linear\")'; other gains than exp and linear need a part of your own",
}


#: Parameters of Ranker that no engine sees: they may be misspelt too.
_OF_RANKER_ALONE = (
    "early_stopping_rounds",
    "eval_metric",
    "record",
    "shuffle",
    "verbose",
    "warm_start",
)


def unknown(program: str, name: str, known: Iterable[str]) -> checks.InputError:
    """Return the error for a parameter that neither Ranker nor the program has."""
    refuse_objective(name, name, "an objective of another program")
    ours = RANKER_NAMES.get(name)
    near = (
        f"; did you mean {ours!r}?" if ours else checks.nearest(name, {*known, *_OF_RANKER_ALONE})
    )
    return checks.InputError(f"neither Ranker nor {program} has a parameter {name!r}{near}")


def refuse_objective(name: str, real: str | None, whose: str) -> None:
    """Raise if a parameter is one of an objective: ours have it in their names."""
    if real in _OBJECTIVE_NAMES:
        raise checks.InputError(
            f"{name} belongs to {whose}; write it into ours, as in objective={_EXAMPLES.get(real, _other(real))}."
        )


def _other(real: str | None) -> str:
    return f"'lambdarank-ndcg@10({_OBJECTIVE_NAMES[str(real)]}=...)'"


def refuse(name: str, real: str | None, ours: Mapping[str, str], foreign: Collection[str]) -> None:
    """Raise if Ranker sets a parameter itself (`ours`), or if it means nothing to a ranker (`foreign`)."""
    if real is not None and real in ours:
        raise checks.InputError(f"{name} is set by Ranker itself: use {ours[real]}=.")
    if real in foreign:
        raise checks.InputError(f"{name} means nothing to a ranker; omit it.")


def lacks(program: str, name: str, value: Any, default: Any, instead: str) -> None:
    """Raise if the value of a parameter that an engine lacks isn't Ranker's default."""
    if value != default:
        raise checks.InputError(f"{program} has no {name}: {instead}.")


def categorical(columns: Any, train: Source) -> list[int]:
    """Return the numbers of categorical columns; they are given by number or name, in a list or separated by commas.

    Columns that are categorical in the table of the training data are so in any case.
    """
    known = list(getattr(train, "categories", ()))  # rows that are pairs have none
    of_table = column_numbers(known, train.feature_names, train.n_features, "X") if known else []
    return sorted({*of_table, *_given(columns, train)})


def _given(columns: Any, train: Source) -> list[int]:
    """Return the numbers of the columns that are given as `categorical_feature`."""
    if columns is None or (isinstance(columns, str) and columns == "auto"):
        return []
    if isinstance(columns, str):
        columns = [int(c) if c.strip().isdecimal() else c.strip() for c in columns.split(",")]
    columns = columns if isinstance(columns, Iterable) else [columns]
    return column_numbers(columns, train.feature_names, train.n_features, "categorical_feature")


def column_numbers(
    columns: Iterable[Any], names: list[str] | None, n_features: int, parameter: str
) -> list[int]:
    """Return columns given by name or number as sorted numbers; errors name the parameter."""
    found = set()
    for column in columns:
        if isinstance(column, str):
            known = names or numbered_names(n_features)
            if column not in known:
                unnamed = f"; features have no names here, and are f1 to f{n_features}."
                near = checks.nearest(column, known) if names else unnamed
                raise checks.InputError(f"{parameter}: there is no feature {column!r}{near}")
            column = known.index(column)
        column = checks.at_least(column, 0, parameter)
        if column >= n_features:
            raise checks.InputError(
                f"{parameter} must be below {n_features}, the number of features, got {column}."
            )
        found.add(int(column))
    return sorted(found)


def whole(columns: Any, train: Source) -> list[int]:
    """Do as `categorical` does, for an engine that would silently truncate values that aren't whole numbers."""
    found = categorical(columns, train)
    if not found:
        return found
    row, labels = 0, train.schema.labels()
    for X in train.blocks():
        for column in found:
            values = dense(X[:, [column]])[:, 0]
            broken = np.flatnonzero(np.isfinite(values) & (values != np.floor(values)))
            if broken.size:
                raise checks.InputError(
                    f"categorical_feature: values of feature {labels[column]!r} must be whole numbers, got "
                    f"{values[broken[0]]:g} at row {row + broken[0]}; number the categories first."
                )
        row += X.shape[0]
    return found
