"""Gradients against the published expected values, to 1e-9."""

import numpy as np
import pytest

import rankwood as rw

NAMES = {
    "LambdaRank-NDCG": "lambdarank-ndcg",
    "LambdaRank-NDCG@k": "lambdarank-ndcg@{k}",
    "LambdaRank-trueNDCG@k": "lambdarank-ndcg@{k}(discount='truncated')",
}
CASES = ["A", "B", "C_ties", "E_single", "E_all_equal", "E_all_zero", "E_n_le_k", "E_flat_scores"]


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("key", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_gradients_equal_golden_values(golden, case, key, norm):
    given, expected = golden["cases"][case], golden["pairwise"][case][key]
    objective = rw.objective(NAMES[key].format(k=given["k"]), norm=norm)
    grad, hess = rw.gradients(objective, given["y"], given["s"])
    end = "_lgbnorm" if norm else ""
    np.testing.assert_allclose(grad, expected["grad" + end], rtol=0, atol=1e-9)
    np.testing.assert_allclose(hess, expected["hess" + end], rtol=0, atol=1e-9)
