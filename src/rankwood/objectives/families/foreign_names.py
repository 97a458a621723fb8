"""Objectives by the names of other programs: what each is here, or why there is none and what to type."""

from typing import Any

from rankwood._util.foreign_names import ROWS, Foreign, Renamed

_GAIN: Renamed = ("gain", {"Base": "linear", "Exp": "exp"})
_LOG: Renamed = ("", {"LogPosition": None})
_NOISE: Renamed = ("noise", {"Gumbel": "logistic", "Gauss": "gaussian", "No": "none"})
_NEIGHBOURS: Renamed = ("neighbours", lambda n: "all" if n == -1 else n)
_TOP: Renamed = ("k", lambda k: None if k == -1 else k)
_ALL_PAIRS = {"norm": False}
_CATBOOST, _LINEAR = {"variant": "catboost"}, {"gain": "linear"}

_YETI: dict[str, Renamed] = {
    "top": _TOP,
    "num_neighbors": _NEIGHBOURS,
    "noise": _NOISE,
    "noise_power": "noise_scale",
    "dcg_type": _GAIN,
    "dcg_denominator": _LOG,
    "hints": None,
}
_CLASSIC = {**_YETI, "top": None, "num_neighbors": None, "dcg_type": None, "dcg_denominator": None}
_LAMBDAMART: dict[str, Renamed] = {
    "top": _TOP,
    "type": _GAIN,
    "denominator": _LOG,
    "norm": ("norm", {True: True, False: False}),
    "hints": None,
}
_STOCHASTIC: dict[str, Renamed] = {
    **{"top": _TOP, "type": _GAIN, "denominator": _LOG, "sigma": "noise_scale"},
    **{"num_estimations": "samples", "lambda": "sfa", "hints": None},
}


def _yeti(mode: str, ours: str, given: Any, *others: Any) -> Foreign:
    takes = _CLASSIC if mode == "Classic" else _YETI
    return Foreign("catboost", "YetiRank", ours, given, takes, {"mode": (mode, *others)})


def _lambdamart(metric: str, ours: str, given: Any, *others: Any) -> Foreign:
    row = Foreign("catboost", "LambdaMart", ours, given, _LAMBDAMART)
    return row._replace(when={"metric": (metric, *others)})


def _stochastic(metric: str, ours: str, given: Any) -> Foreign:
    row = Foreign("catboost", "StochasticRank", ours, given, _STOCHASTIC)
    return row._replace(when={"metric": (metric,)})


# fmt: off
_KNOWN = (
    # Algorithms by the names of papers and of RankLib.
    Foreign("ranklib", "LambdaMART", "lambdarank-ndcg"),
    Foreign("ranklib", "LambdaMart", "lambdarank-ndcg"),
    Foreign("ranklib", "lambdamart", "lambdarank-ndcg"),
    Foreign("ranklib", "LambdaRank", "lambdarank-ndcg"),
    Foreign("ranklib", "RankNet", "ranknet"),
    Foreign("ranklib", "ListNet", "listnet"),
    Foreign("ranklib", "MART", "rmse"),
    Foreign("lightgbm", "lambdarank", "lambdarank-ndcg", {"k": 30},
            note="30 is the default of `lambdarank_truncation_level`"),
    *(Foreign("lightgbm", name, "xendcg") for name in ("rank_xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart")),
    *(Foreign("lightgbm", name, "rmse") for name in ("regression", "regression_l2", "l2", "mse")),
    Foreign("xgboost", "reg:squarederror", "rmse"),
    Foreign("xgboost", "rank:ndcg", "lambdarank-ndcg", {"k": 32, "hessian": 2},
            note="32 is the default of `lambdarank_num_pair_per_sample`"),
    Foreign("xgboost", "rank:map", "lambdarank-map", {"truncation": 32, "hessian": 2}),
    Foreign("xgboost", "rank:pairwise", "ranknet", {"hessian": 2},
            note="all pairs; theirs are those with one of the first 32"),
    _yeti("Classic", "yetirank", {}, None),
    _yeti("NDCG", "yetiloss-ndcg", _LINEAR),
    _yeti("DCG", "yetiloss-dcg", _LINEAR),
    _yeti("MRR", "yetiloss-mrr", _CATBOOST),
    _yeti("MAP", "yetiloss-map", _CATBOOST),
    _yeti("ERR", "yetiloss-err", {"max_label": 1}),
    _lambdamart("NDCG", "lambdarank-ndcg", _LINEAR, None),
    _lambdamart("MRR", "lambdarank-mrr", _CATBOOST),
    _lambdamart("MAP", "lambdarank-map", _CATBOOST),
    _lambdamart("ERR", "lambdarank-err", {**_CATBOOST, "max_label": 1}),
    _stochastic("NDCG", "stochasticrank-ndcg", _LINEAR),
    _stochastic("DCG", "stochasticrank-dcg", _LINEAR),
    _stochastic("MRR", "stochasticrank-mrr", {}),
    _stochastic("ERR", "stochasticrank-err", {"max_label": 1}),
    _stochastic("PFound", "stochasticrank-pfound", {"max_label": 1}),
    Foreign("catboost", "PairLogit", "ranknet", _ALL_PAIRS, {"hints": None},
            note="with pairs of your own it is `ranknet-pairs`"),
    Foreign("catboost", "QueryRMSE", "queryrmse", {}, {"hints": None}),
    Foreign("catboost", "RMSE", "rmse", {}, {"hints": None}),
    Foreign("catboost", "QuerySoftMax", "softmax", {}, {"hints": None}, note="theirs adds 0.01 to the Hessian"),
    Foreign("tensorflow_ranking", "approx_ndcg_loss", "approxndcg", {"temperature": 0.1}),
    Foreign("tensorflow_ranking", "softmax_loss", "softmax"),
    Foreign("tensorflow_ranking", "mean_squared_loss", "rmse", note="a mean there, half the sum here"),
    Foreign("tensorflow_ranking", "pairwise_logistic_loss", "ranknet", _ALL_PAIRS),
    # A metric in place of an objective: LambdaRank for it.
    *(Foreign("rankwood", name, "lambdarank-ndcg") for name in ("ndcg", "NDCG", "nDCG")),
    *(Foreign("rankwood", name, "lambdarank-map") for name in ("map", "MAP", "AP")),
    *(Foreign("rankwood", name, "lambdarank-mrr") for name in ("mrr", "MRR", "RR")),
    *(Foreign("rankwood", name, "lambdarank-err") for name in ("err", "ERR")),
    *(Foreign("rankwood", name, "lambdarank-p", cutoff=True) for name in ("p", "P", "precision")),
)


def _answers(program: str, why: str, nearest: str, *names: str) -> list[Foreign]:
    return [Foreign(program, name, note=f"{why} {nearest}.") for name in names]


_CLASSES = "it classifies each row by itself;"
_UNKNOWN = (
    *_answers("catboost", "its trees see pairs of rows;", "nearest is 'yetirank', or 'bi-lambdarank-ndcg@5' for models "
              "that compare pairs of documents", "YetiRankPairwise"),
    *_answers("catboost", "its trees see pairs of rows;", "nearest is 'ranknet(norm=False)'", "PairLogitPairwise"),
    *_answers("catboost", "it is a cross entropy with a shift of each query;", "nearest is 'softmax'",
              "QueryCrossEntropy", "GroupQuantile"),
    *_answers("catboost", _CLASSES, "nearest is 'rmse'", "Logloss", "CrossEntropy"),
    *_answers("lightgbm", _CLASSES, "nearest is 'rmse'", "binary"),
    *_answers("xgboost", _CLASSES, "nearest is 'rmse'", "binary:logistic"),
    *_answers("ranklib", "it is not boosting by gradients;", "nearest is 'lambdarank-ndcg'",
              "RankBoost", "AdaRank", "Coordinate Ascent", "Random Forests"),
    *_answers("tensorflow_ranking", "it is the likelihood of the whole order;", "nearest are 'listnet' and 'softmax'",
              "list_mle_loss", "ListMLE", "p_list_mle_loss"),
    *_answers("tensorflow_ranking", "it is a softmax that omits documents of the same label;",
              "nearest is 'softmax'", "unique_softmax_loss"),
    *_answers("tensorflow_ranking", "it is an approximation that is not here;", "nearest is 'stochasticrank-mrr'",
              "approx_mrr_loss"),
    *_answers("tensorflow_ranking", "it is 'approxndcg' with Gumbel noise on the scores;",
              "nearest are 'approxndcg' and 'stochasticrank-ndcg'", "gumbel_approx_ndcg_loss"),
    *_answers("tensorflow_ranking", "pairs have the logistic loss here;", "nearest is 'ranknet(norm=False)'",
              "pairwise_hinge_loss", "pairwise_soft_zero_one_loss", "pairwise_mse_loss", "circle_loss"),
    *_answers("tensorflow_ranking", _CLASSES, "nearest is 'rmse'", "sigmoid_cross_entropy_loss", "ordinal_loss"),
    *_answers("tensorflow_ranking", "it is a relaxation of sorting;", "nearest is 'approxndcg'",
              "neural_sort_cross_entropy_loss", "neural_sort_ndcg_loss", "NeuralNDCG"),
    *_answers("rankwood", "it is a metric without an objective of its own;", "nearest is 'lambdarank-p@k'",
              "recall", "success", "hits", "rprec"),
)
# fmt: on
ROWS["objective"][:] = (*_KNOWN, *_UNKNOWN)
