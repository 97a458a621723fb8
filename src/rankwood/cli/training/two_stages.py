"""``--second`` of `train` and `tune`: a second stage that ranks the best documents of the first again."""

import argparse
from collections.abc import Callable
from typing import Any

from rankwood import objective
from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.cli.shared import arguments
from rankwood.cli.training import neural
from rankwood.cli.training.options import parse_parameter
from rankwood.engines import base

#: Settings of TwoStage that are options, with their defaults.
_SETTINGS = {"top": 20, "folds": 10, "ideal": "full", "serve": "mean"}
#: Where the parser keeps them, if that isn't their name: `tune` has --folds of its own.
_OPTIONS = {"folds": "first_folds"}
# Parameters of the second stage that options set, so that `--second-param` refuses them.
_TAKEN = {
    "objective": "--second",
    "engine": "--second-engine",
    "random_state": "--seed",
    "n_jobs": "--threads",
    "verbose": "--verbose or --quiet",
}


def add_two_stage_options(group: Any, metric: str, *also: str) -> None:
    """Add the options of two stages; `metric` is the option of metrics, `also` another one for --first-folds."""
    group.description = (
        "The options of learning are those of the first stage; --second-param is of the second.\n"
        f"{metric}, --early-stopping-rounds and --seed are of both."
    )
    group.add_argument(
        "--second",
        metavar="NAME",
        help="objective of a second stage, which ranks the best documents of each query again",
    )
    group.add_argument(
        "--second-engine",
        metavar="NAME",
        help="engine of the second stage (default: pairtree for objectives bi-NAME, else lightgbm)",
    )
    group.add_argument(
        "--second-param",
        type=lambda text: parse_parameter(text, _TAKEN),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the second stage, n_estimators for instance; may be repeated",
    )
    arguments.add_number(
        group, "--top", "documents of each query that the second stage ranks (default: 20)"
    )
    group.add_argument(
        *also,
        "--first-folds",
        dest="first_folds",
        type=arguments.integer_at_least(1),
        metavar="N",
        help="first-stage models; each ranks the training queries that it was trained without (default: 10)",
    )
    group.add_argument(
        "--ideal",
        choices=("full", "list"),
        help="whether the second stage knows the labels of the documents below the cut, for the ideal of NDCG, or "
        "those of its list alone (default: full)",
    )
    group.add_argument(
        "--serve",
        choices=("mean", "fold", "refit"),
        help="first-stage scores of new queries: the mean of all first-stage models, the model of a random fold as "
        "in the paper, or one more model of all training queries (default: mean)",
    )


def check_two_stage_options(args: argparse.Namespace) -> list[Any]:
    """Return the objective of the second stage, in a list; raise if options of two stages contradict each other."""
    settings = [_OPTIONS.get(name, name) for name in _SETTINGS]
    names = [name for name in ("second_engine", *settings) if getattr(args, name) is not None]
    names += ["second_param"] if args.second_param else []
    if args.second is None:
        if names:
            option = "--" + names[0].replace("_", "-")
            raise InputError(f"{option} needs --second.")
        return []
    for name in ("record", "record_file"):
        if getattr(args, name, None) is not None:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} can't be combined with --second.")
    second = objective(args.second)
    if last_engine(args) != neural.ENGINE:
        base.check(last_engine(args), second, two_stage_settings(args)["ideal"] == "full")
    return [second]


def last_engine(args: argparse.Namespace) -> str:
    """Return the engine of the second stage, or of the only one."""
    if args.second is None:
        return engine_of(args)
    return args.second_engine or base.default_engine(objective(args.second))


def engine_of(args: argparse.Namespace) -> str:
    """Return the engine of the first stage, or of the only one."""
    return args.engine or base.default_engine(objective(args.objective))


def two_stage_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of TwoStage."""
    values = {name: getattr(args, _OPTIONS.get(name, name)) for name in _SETTINGS}
    return {name: _SETTINGS[name] if value is None else value for name, value in values.items()}


def staged_ranker(
    args: argparse.Namespace,
    make_ranker: Callable[[argparse.Namespace], Any],
    defaults: dict[str, Any],
) -> Any:
    """Return the ranker of the arguments, or a TwoStage of two; `defaults` has the defaults of the options of trees."""
    first = make_ranker(args)
    if args.second is None:
        return first
    from rankwood.estimators.two_stage.estimator import (
        TwoStage,  # slow to import: --help need not wait for it
    )

    engine = last_engine(args)
    params = dict(args.second_param)
    changed = {"objective": args.second, "engine": engine, "architecture": None, "param": []}
    if engine == neural.ENGINE:  # it checks them itself
        changed["param"] = list(params.items())
    second = make_ranker(argparse.Namespace(**{**vars(args), **defaults, **changed}))
    if engine != neural.ENGINE:
        second.set_params(**params)
    rules = {"random_state": args.seed, "verbose": arguments.verbosity(args)}
    return TwoStage(first, second, **two_stage_settings(args), **rules)


def last_stage(ranker: Any) -> Any:
    """Return the fitted second stage, or the only one."""
    return getattr(ranker, "second_", ranker)


def two_stage_summary(args: argparse.Namespace, ranker: Any) -> dict[str, Any] | None:
    """Return facts about two stages; None if there is one."""
    if args.second is None:
        return None
    return {
        "objective": args.second,
        "engine": last_engine(args),
        "composition": repr(ranker.second_.objective_),
        **two_stage_settings(args),
        "first_best_iterations": [model.best_iteration_ for model in ranker.first_],
    }


def summary_rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the summary says about two stages."""
    second = result["second"]
    if second is None:
        return []
    sizes = second["first_best_iterations"]
    unit = neural.round_name(result["engine"])
    spread = (
        plural(sizes[0], unit) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)} {unit}s"
    )
    return [
        ("First stage", f"{plural(len(sizes), 'model')} of {spread}"),
        ("Second stage", f"{second['objective']}, {second['engine']}, top {second['top']}"),
    ]
