"""Why a document is where it is: SHAP values by query and pair, permutation importance, partial dependence."""

from rankwood.explanation.contributions import Contributions
from rankwood.explanation.dependence import PartialDependence, partial_dependence
from rankwood.explanation.explain import explain
from rankwood.explanation.permutation import PermutationImportance, permutation_importance
from rankwood.explanation.record import Explanation

__all__ = [
    "Contributions",
    "Explanation",
    "PartialDependence",
    "PermutationImportance",
    "explain",
    "partial_dependence",
    "permutation_importance",
]
