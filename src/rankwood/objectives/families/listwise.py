"""Regression and listwise losses by name."""

from rankwood._kernels.named import Named
from rankwood.objectives.families.parameters import GAIN, TEMPERATURE
from rankwood.objectives.families.rows import Family
from rankwood.objectives.lists.approx import ApproxNDCG
from rankwood.objectives.lists.pointwise import RMSE, QueryRMSE
from rankwood.objectives.lists.softmax import XENDCG, ListNet, Softmax

# fmt: off
LISTWISE = Family("Regression and listwise losses", (
    Named("rmse", "MART: squared error of the scores as labels, whatever the queries", "friedman2001",
          (), lambda values: RMSE(), "Gradients of a query need not sum to 0, as those of all other objectives do."),
    Named("queryrmse", "QueryRMSE: squared error of the scores as labels, up to a constant in each query",
          "whichtricks2023", (), lambda values: QueryRMSE()),
    Named("softmax", "Softmax loss: cross entropy of labels and the softmax of scores", "bruch2019",
          (), lambda values: Softmax(), "CatBoost calls it QuerySoftMax."),
    Named("listnet", "ListNet, top one: cross entropy of the softmax of labels and that of scores", "cao2007",
          (), lambda values: ListNet()),
    Named("xendcg", "XE-NDCG: cross entropy with targets 2^y - gamma, gamma drawn each round", "bruch2021",
          (), lambda values: XENDCG(), "LightGBM calls it rank_xendcg."),
    Named("approxndcg", "ApproxNDCG: NDCG of ranks that are made smooth by a logistic function", "qin2010",
          (TEMPERATURE, GAIN), lambda values: ApproxNDCG(values.temperature, values.gain),
          "`temperature` is the difference of scores at which two documents begin to look alike."),
))
