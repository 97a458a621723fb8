"""Metrics by the names of other programs: what each is here, with the same number, or why there is none.

A name brings its formula. Ties, empty and missing queries are rules of the call: `convention=` has those of programs.
"""

from typing import Any

import numpy as np

from rankwood._util.foreign_names import ROWS, Foreign

_LINEAR, _EXP = {"gain": "linear"}, {"gain": "exp"}
_BY_K, _BY_R = {"divide_by": "k"}, {"divide_by": "relevant"}
_JUDGED = "it tells documents that were judged irrelevant from those that were not judged, and data sets here don't;"
_SETS = "it is computed on a set without an order;"
_INTENTS = "it needs labels for several intents of a query, and labels here have one;"
_COUNTS = "it is a count and says nothing about the order of documents;"
_CWL = "it is one of the user models of cwl_eval;"
_NOT_OF_QUERIES = "it is computed over all rows at once, and metrics here are means over queries;"


def _above(border: float) -> float:
    """Return the smallest label that CatBoost takes for relevant: it keeps labels in single precision."""
    return float(np.nextafter(np.float32(border), np.float32(np.inf)))


def _decimals(digits: str) -> float:
    """Return ranx's ``rbp.95`` as 0.95."""
    return float("0." + digits.replace(".", ""))


_DCG_TYPE: Any = ("gain", {"Base": "linear", "Exp": "exp"})
_DCG_OPTIONS = {
    "top": "k",
    "type": _DCG_TYPE,
    "denominator": ("", {"LogPosition": None}),
    "hints": None,
}
_BORDER = {"top": "k", "border": ("rel", _above), "hints": None}
_HALF = {"rel": _above(0.5)}
_CHANCE = {"gain": "linear", "max_label": 1}

# fmt: off
_KNOWN = (
    # ir_measures: name(param=value)@k. NDCG, MAP and MRR, which it knows too, are read as RankLib's.
    Foreign("ir_measures", "nDCG", "ndcg", _LINEAR,
            {"dcg": ("gain", {"log2": "linear", "exp-log2": "exp"})}, note="`dcg='exp-log2'` is `ndcg`"),
    Foreign("ir_measures", "AP", "map", _BY_R),
    Foreign("ir_measures", "P", "p", _BY_K, cutoff=True, note="RankLib's `P@k` divides by min(k, n)"),
    Foreign("ir_measures", "Precision", "p", _BY_K),
    Foreign("ir_measures", "R", "recall", cutoff=True),
    Foreign("ir_measures", "Recall", "recall"),
    Foreign("ir_measures", "RR", "mrr"),
    Foreign("ir_measures", "Rprec", "rprec"),
    Foreign("ir_measures", "RPrec", "rprec"),
    Foreign("ir_measures", "Success", "success", cutoff=True),
    Foreign("ir_measures", "ERR", "err", {"gain": "exp", "max_label": 4}, note="CatBoost's is `ERR:top=10`"),
    Foreign("ir_measures", "RBP", "rbp", note="with `rel=`; without it, theirs is graded"),
    Foreign("ir_measures", "NumRelRet", "hits"),
    Foreign("ir_measures", "NumRet", "hits", {}, {"rel": "rel"}, {"rel": (1, 2, 3, 4, 5)}, note="with `rel=`"),
    Foreign("ir_measures", "SetR", "recall"),
    # RankLib: NAME@k, and case variants of ours.
    Foreign("ranklib", "NDCG", "ndcg", note="gains 2^y − 1; linear in ir_measures, and in CatBoost as `NDCG:top=10`"),
    Foreign("ranklib", "DCG", "dcg", note="gains 2^y − 1"),
    Foreign("ranklib", "MAP", "map", note="`map@k` divides by min(R, k); ir_measures' by R, as `AP@k`"),
    Foreign("ranklib", "MRR", "mrr"),
    Foreign("ranklib", "P", "p", note="with `convention=\"ranklib\"`"),
    # trec_eval: name_k or name.k.
    Foreign("trec_eval", "ndcg_cut", "ndcg", _LINEAR, cutoff=True),
    Foreign("trec_eval", "map_cut", "map", _BY_R, cutoff=True),
    Foreign("trec_eval", "P", "p", _BY_K, cutoff=True),
    Foreign("trec_eval", "recall", "recall", cutoff=True),
    Foreign("trec_eval", "success", "success", cutoff=True),
    Foreign("trec_eval", "recip_rank", "mrr"),
    Foreign("trec_eval", "Rprec", "rprec"),
    Foreign("trec_eval", "num_rel_ret", "hits"),
    Foreign("trec_eval", "set_recall", "recall"),
    # LightGBM and XGBoost: name@k; a minus sign behind it means that empty queries count as 0.
    Foreign("lightgbm", "mean_average_precision", "map"),
    Foreign("lightgbm", "lambdarank", "ndcg"),
    Foreign("lightgbm", "rank_xendcg", "ndcg"),
    Foreign("xgboost", "pre", "p"),
    Foreign("xgboost", "ndcg", "ndcg", note="`ndcg@5-`: queries without relevant documents count as 0"),
    Foreign("xgboost", "map", "map", note="`map@5-` likewise"),
    # CatBoost: Name:key=value;key=value.
    Foreign("catboost", "NDCG", "ndcg", _LINEAR, _DCG_OPTIONS, note="without options: as RankLib's"),
    Foreign("catboost", "DCG", "dcg", _LINEAR, _DCG_OPTIONS, note="without options: as RankLib's"),
    Foreign("catboost", "MAP", "map", _HALF, _BORDER),
    Foreign("catboost", "MRR", "mrr", _HALF, _BORDER),
    Foreign("catboost", "PrecisionAt", "p", _HALF, _BORDER),
    Foreign("catboost", "RecallAt", "recall", _HALF, _BORDER),
    Foreign("catboost", "ERR", "err", _CHANCE, {"top": "k", "hints": None}, note="labels are probabilities there"),
    Foreign("catboost", "PFound", "pfound", _CHANCE, {"top": "k", "hints": None},
            note="labels are probabilities there"),
    # ranx: name@k, name@k-l2 for labels of at least 2.
    Foreign("ranx", "hit_rate", "success"),
    Foreign("ranx", "precision", "p", _BY_K),
    Foreign("ranx", "r-precision", "rprec"),
    Foreign("ranx", "recall", "recall", note="`recall@10-l2`: labels of at least 2 are relevant"),
    Foreign("ranx", "map", "map", _BY_R, note="as `map@10-l2`; `map@10` is ours"),
    Foreign("ranx", "mrr", "mrr", note="as `mrr@10-l2`"),
    Foreign("ranx", "hits", "hits", note="as `hits@10-l2`"),
    Foreign("ranx", "rbp", "rbp", _LINEAR, number=("p", _decimals), note="`rbp.95` has `p=0.95`"),
    Foreign("ranx", "ndcg_burges", "ndcg", _EXP),
    Foreign("ranx", "dcg_burges", "dcg", _EXP),
    Foreign("sklearn", "ndcg_score", "ndcg", _LINEAR),
    Foreign("sklearn", "dcg_score", "dcg", _LINEAR),
    Foreign("sklearn", "average_precision_score", "map", note="where no scores tie"),
    Foreign("rankwood", "HR", "success", note="the hit rate of recommender systems"),
    Foreign("rankwood", "HitRate", "success"),
)


def _answers(program: str, why: str, nearest: str, *names: str) -> list[Foreign]:
    return [Foreign(program, name, note=f"{why} {nearest}.") for name in names]


_UNKNOWN = (
    *_answers("ir_measures", _JUDGED, "nearest is map", "Bpref", "BPref", "infAP"),
    *_answers("ir_measures", _JUDGED, "nearest is p@k", "Judged"),
    *_answers("ir_measures", "it is precision where recall reaches a level;", "nearest is map", "IPrec"),
    *_answers("ir_measures", _SETS, "nearest is p@k", "SetP", "SetRelP", "SetF", "SetAP"),
    *_answers("ir_measures", _INTENTS, "nearest is ndcg@k", "alpha_DCG", "alpha_nDCG", "α_DCG", "α_nDCG"),
    *_answers("ir_measures", _INTENTS, "nearest is err", "ERR_IA", "nERR_IA", "NRBP", "nNRBP"),
    *_answers("ir_measures", _INTENTS, "nearest is map", "AP_IA", "MAP_IA", "P_IA", "StRecall"),
    *_answers("ir_measures", _CWL, "nearest is rbp(p=0.8)", "BPM", "INST", "INSQ", "Compat"),
    *_answers("ir_measures", _CWL, "nearest is err", "NERR8", "NERR9", "NERR10", "NERR11"),
    *_answers("ir_measures", "it is DCG over that of k documents of the highest label;", "nearest is dcg@k", "SDCG"),
    *_answers("ir_measures", "it counts ordered pairs;", "nearest is arp", "Accuracy"),
    *_answers("ir_measures", _COUNTS, "nearest is hits", "NumQ", "NumRel", "NumRet"),
    *_answers("trec_eval", _JUDGED, "nearest is map", "bpref", "gm_bpref", "infAP"),
    *_answers("trec_eval", "it is a geometric mean over queries;", "nearest is map", "gm_map"),
    *_answers("trec_eval", "it is precision where recall reaches a level;", "nearest is map",
              "iprec_at_recall", "11pt_avg"),
    *_answers("trec_eval", "it is a variant of precision of trec_eval alone;", "nearest is rprec",
              "Rprec_mult", "relative_P"),
    *_answers("trec_eval", _SETS, "nearest is p@k",
              "set_P", "set_relative_P", "set_F", "set_map", "utility"),
    *_answers("trec_eval", "it is a variant of NDCG of trec_eval alone;", "nearest is ndcg(gain='linear')",
              "G", "binG", "Rndcg", "ndcg_rel"),
    *_answers("trec_eval", _COUNTS, "nearest is hits", "num_q", "num_ret", "num_rel", "num_nonrel_judged_ret",
              "relstring", "runid"),
    *_answers("ranx", "it is the harmonic mean of precision and recall;", "nearest is p@k beside recall@k", "f1"),
    *_answers("ranx", _JUDGED, "nearest is map", "bpref"),
    *_answers("lightgbm", _NOT_OF_QUERIES, "nearest is map", "auc", "average_precision"),
    *_answers("lightgbm", _NOT_OF_QUERIES, "nearest is ndcg", "l1", "l2", "rmse", "mae", "binary_logloss"),
    *_answers("xgboost", _NOT_OF_QUERIES, "nearest is map", "aucpr"),
    *_answers("xgboost", _NOT_OF_QUERIES, "nearest is ndcg", "logloss", "error"),
    *_answers("catboost", _NOT_OF_QUERIES, "nearest is map", "AUC", "PRAUC"),
    *_answers("catboost", "it counts ordered pairs;", "nearest is map", "QueryAUC", "PairAccuracy"),
    *_answers("catboost", "it is the mean label of the first documents;", "nearest is p@k", "AverageGain"),
    *_answers("catboost", "it counts documents with a score above 0 only;", "nearest is dcg", "FilteredDCG"),
    *_answers("catboost", "it is a loss, and metrics here are of rankings;", "nearest is ndcg",
              "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy", "PairLogit", "RMSE", "Logloss"),
    *_answers("sklearn", "it counts tied scores in a way of its own;", "nearest is map",
              "label_ranking_average_precision_score"),
    *_answers("sklearn", _NOT_OF_QUERIES, "nearest is map", "roc_auc_score", "top_k_accuracy_score"),
    *_answers("sklearn", "it counts how deep the last relevant label is, or pairs;", "nearest is arp",
              "coverage_error", "label_ranking_loss"),
)
# fmt: on
ROWS["metric"][:] = (*_KNOWN, *_UNKNOWN)
