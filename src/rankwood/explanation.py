"""Why a document is where it is: SHAP values by query and pair, permutation importance, partial dependence."""

from rankwood.forest.explain.contributions import Contributions
from rankwood.forest.explain.dependence import PartialDependence, partial_dependence
from rankwood.forest.explain.explain import explain
from rankwood.forest.explain.explanation import Explanation
from rankwood.forest.explain.permutation import PermutationImportance, permutation_importance

__all__ = [
    "Contributions",
    "Explanation",
    "PartialDependence",
    "PermutationImportance",
    "explain",
    "partial_dependence",
    "permutation_importance",
]
