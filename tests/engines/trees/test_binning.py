"""Bins against an oracle in plain loops and against LightGBM; codes against a search of the bounds."""

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import rankwood as rw
from rankwood.engines.trees.binning import documents
from rankwood.engines.trees.binning.bins import BinRules, bins_of
from rankwood.engines.trees.binning.columns import plan_columns
from rankwood.engines.trees.growth.records import LANES, LINE
from tests.oracles import naive_trees as naive


def odd_columns(n, seed=0):
    """Columns of many kinds, most of which occur in real data."""
    rng = np.random.default_rng(seed)
    zero_heavy = rng.normal(size=n) * (rng.random(n) < 0.1)
    return {
        "normal": rng.normal(size=n),
        "log-normal": np.exp(3 * rng.normal(size=n)),
        "integers": rng.integers(-3, 20, n).astype(float),
        "many integers": rng.integers(0, 2000, n).astype(float),
        "zero-heavy": zero_heavy,
        "positive zero-heavy": np.abs(zero_heavy),
        "negative": -np.abs(rng.normal(size=n)),
        "one value": np.full(n, 2.5),
        "two values": rng.choice([0.0, 1.0], n),
        "one frequent": np.where(rng.random(n) < 0.6, 7.0, rng.normal(size=n)),
        "tiny": rng.normal(size=n) * 1e-36,
        "around tiny": rng.choice([-1e-35, 1e-35, 0.0, 2e-35, -2e-35], n),
        "huge": rng.normal(size=n) * 1e30,
        "infinite": np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
        "both infinities": rng.choice([-np.inf, np.inf, 0.5], n),
        "rare": np.where(rng.random(n) < 0.001, 5.0, 0.0),
        "float64": rng.random(n) + 1e-9 * rng.random(n),
    }


def bounds(values, max_bin=255, min_data=3, missing=False):
    sample = np.array(values, np.float64)[None, :].copy()
    (found,) = bins_of(sample, np.array([missing]), (), BinRules(max_bin, min_data), 1)
    return found


@pytest.mark.parametrize("name", odd_columns(1))
@pytest.mark.parametrize("max_bin", [2, 3, 15, 255])
def test_bounds_of_the_oracle(name, max_bin):
    for kind in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            values = odd_columns(3000)[name].astype(kind).astype(float)
        found = bounds(values, max_bin)
        assert found.bounds.tolist() == naive.bounds_of(values, max_bin)


@given(
    arrays(np.float32, st.integers(0, 60), elements=st.floats(-5, 5, width=32)),
    st.integers(2, 40),
    st.integers(1, 5),
)
def test_bounds_of_any_values(values, max_bin, min_data):
    found = bounds(values, max_bin, min_data)
    assert found.bounds.tolist() == naive.bounds_of(values, max_bin, min_data)
    assert found.bounds[-1] == np.inf and (np.diff(found.bounds) > 0).all()


# LightGBM reads the numbers of two of the columns as zeros before it bins them; we bin them as zeros.
@pytest.mark.parametrize("name", [name for name in odd_columns(1) if "tiny" not in name])
def test_lightgbm_has_as_many_bins(name):
    """LightGBM splits every bin apart if trees are large enough: its thresholds are our bounds."""
    n = 5000
    values = odd_columns(n, 1)[name].astype(np.float32)
    params = {
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0,
        "num_leaves": 400,
        "verbosity": -1,
    }
    params |= {"objective": "none", "feature_pre_filter": False}
    found = bounds(values)
    grad = np.random.default_rng(3).normal(size=n).astype(np.float32)
    data = lgb.Dataset(values[:, None], grad, params=params).construct()
    if found.n_bins == 1:
        assert data.feature_num_bin(0) in (0, 1)
        return
    assert data.feature_num_bin(0) == found.n_bins
    booster = lgb.Booster(params, data)
    booster.update(fobj=lambda *_: (grad, np.ones(n, np.float32)))
    thresholds = booster.trees_to_dataframe()["threshold"].dropna()
    ours = np.minimum(found.bounds, 1e300)
    distance = np.abs(thresholds.to_numpy()[:, None] - ours[None, :]).min(axis=1)
    assert (distance <= 1e-12 * np.abs(thresholds)).all()


def by_line(table, number):
    """The codes of a column, from the lines: eight words each, but for the last one, which has 1, 2, 4 or 8."""
    codes, line = table.lines.view(np.uint8), number // LINE
    words = min(table.n_columns // LANES - 8 * line, 8)
    width = LANES * min(size for size in (1, 2, 4, 8) if size >= words)
    start = line * LINE * table.n_rows
    return codes[start : start + width * table.n_rows].reshape(-1, width)[:, number % LINE]


def decoded(binned, feature):
    """The bin of each document, from the lines and from the columns."""
    plan = binned.coder.plan
    record = plan.features[feature]
    column = plan.columns[record["column"]]
    number, of_queries = int(record["column"]), record["column"] >= plan.document_columns
    table = binned.queries if of_queries else binned.documents
    number -= plan.document_columns if of_queries else 0
    assert (table.codes[number] == by_line(table, number)).all()
    codes = table.codes[number].astype(int)
    codes = np.where(codes >= column["codes"], column["alias_of"], codes)
    bins = codes // record["divisor"] % (record["bins"] + record["missing"])
    return bins[binned.query_of] if of_queries else bins


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_codes(kind, order):
    n = 3000
    columns = odd_columns(n)
    with np.errstate(over="ignore"):
        X = np.stack(list(columns.values()), axis=1).astype(kind)
    X = np.asarray(X, order=order)
    X[::7, 0] = np.nan
    X[:, 1][np.random.default_rng(1).random(n) < 0.5] = np.nan
    data = rw.RankingData(X, np.zeros(n), qid=np.arange(n) // 10)
    binned = documents.bin_documents(data, BinRules(), (), 2)
    for f, rule in enumerate(binned.coder.bins):
        if rule.n_codes == 1:
            continue
        x = X[:, f].astype(float)
        expected = np.where(
            np.isnan(x), rule.n_bins, np.searchsorted(rule.bounds[:-1], x, side="left")
        )
        assert (decoded(binned, f) == expected).all(), list(columns)[f]
    assert binned.coder.plan.columns["aliases"].max() > 0
    assert binned.coder.plan.columns["features"].max() > 1


def test_codes_of_rows_in_any_order_and_of_sparse_matrices():
    rng = np.random.default_rng(4)
    n = 2000
    X = rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.4)
    qid = rng.permutation(np.arange(n) // 8)
    dense = documents.bin_documents(rw.RankingData(X, np.zeros(n), qid=qid), BinRules(), (), 1)
    rows = rw.RankingData(X, np.zeros(n), qid=qid).groups.rows
    for f, rule in enumerate(dense.coder.bins):
        assert (decoded(dense, f) == np.searchsorted(rule.bounds[:-1], X[rows, f])).all()
    other = rw.RankingData(sparse.csr_matrix(X), np.zeros(n), qid=qid)
    thin = documents.bin_documents(other, BinRules(), (), 1)
    for f in range(9):
        assert thin.coder.bins[f].bounds.tolist() == dense.coder.bins[f].bounds.tolist()
        assert (decoded(thin, f) == decoded(dense, f)).all()


def test_missing_values_of_other_documents():
    """Without missing values in training, they are 0, as in LightGBM; otherwise they have a bin."""
    X = np.array([[-1.0, 1.0], [0.0, np.nan], [2.0, 3.0], [3.0, 4.0]] * 5)
    data = rw.RankingData(X, np.zeros(20), qid=np.arange(20) // 4)
    binned = documents.bin_documents(data, BinRules(min_data_in_bin=1), (), 1)
    first, second = binned.coder.bins
    assert first.missing_code() == np.searchsorted(first.bounds[:-1], 0.0) == 1
    assert second.missing_code() == second.n_bins == 4  # 0 has a bin, though no document has it


def test_categories():
    values = np.array([5, 5, 5, 5, 2, 2, 2, 9, 9, 9, 7, np.nan, -1, 5.7])
    sample = values[None, :].copy()
    (found,) = bins_of(sample, np.array([True]), {0}, BinRules(), 1)
    assert found.categories.tolist() == [
        5,
        2,
        9,
    ]  # 7 is rare, and rare ones have no bin of their own
    numbered = found.numbered(np.array([5, 2, 9, 7, np.nan, -3, 5.9, 1e9]))
    assert np.array_equal(numbered, [0, 1, 2, np.nan, np.nan, np.nan, 0, np.nan], equal_nan=True)
    (two,) = bins_of(sample, np.array([True]), {0}, BinRules(max_bin=3), 1)
    assert two.categories.tolist() == [5, 2]


@given(st.lists(st.integers(1, 256), max_size=40), st.integers(0, 1000))
def test_columns(codes, seed):
    """Codes of a column are different for different bins of its features, and there are at most 256 of them."""
    of_queries = np.random.default_rng(seed).random(len(codes)) < 0.3
    plan = plan_columns(codes, of_queries)
    assert plan.columns.size % LANES == 0 and plan.document_columns % LANES == 0
    for number, column in enumerate(plan.columns):
        members = plan.listed[column["first"] : column["first"] + column["features"]]
        product = int(np.prod([codes[f] for f in members], dtype=object)) if len(members) else 0
        assert column["codes"] == product <= 256
        divisor = 1
        for f in members:
            assert plan.features[f]["column"] == number and plan.features[f]["divisor"] == divisor
            assert of_queries[f] == (number >= plan.document_columns)
            divisor *= codes[f]
    assert sorted(plan.listed.tolist()) == [f for f, count in enumerate(codes) if count > 1]


def test_the_sample_is_a_share_that_knows_no_order():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**63, 50_000).astype(np.uint64)
    chosen = documents.sampled(hashes, 10_000)
    assert 9_500 < chosen.size < 10_500
    order = rng.permutation(hashes.size)
    assert set(order[documents.sampled(hashes[order], 10_000)]) == set(chosen)
    assert documents.sampled(hashes[:10_000], 10_000).size == 10_000


def test_what_a_pass_over_the_documents_tells():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 30, 120)
    query = np.repeat(np.arange(sizes.size), sizes)
    X = rng.normal(size=(query.size, 5))
    X[:, 1] = rng.normal(size=sizes.size)[query]
    X[:, 2] = np.where(rng.random(sizes.size)[query] < 0.5, np.nan, 1.0)
    X[-1, 3] = np.nan
    X[:, 4] = 3.0
    X[query == 60, 4] = np.arange(sizes[60])
    data = rw.RankingData(X, np.zeros(query.size), qid=query)
    (block,) = documents.blocks_of(data)
    for n_jobs in (1, 3):
        seen = documents.survey(block, data.groups.ptr, n_jobs)
        assert seen.missing.tolist() == [False, False, True, True, False]
        assert seen.varies.tolist() == [True, False, False, True, bool(sizes[60] > 1)]
        assert np.unique(seen.hashes).size == np.unique(X, axis=0).shape[0]
