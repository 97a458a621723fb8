"""Everything that a page says, computed and not yet drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankwood.report.page import breakdown, queries, training
from rankwood.report.page.contributions import contributions_of
from rankwood.report.page.documents import documents_of
from rankwood.report.page.outcome import PageOutcome, TrainingMean, outcome_of, training_means
from rankwood.report.page.provenance import Provenance, provenance_of
from rankwood.report.page.scored import ScoredModel


@dataclass(frozen=True)
class Findings:
    """The parts of a page; what can't be known without documents or estimators is None or empty."""

    outcome: PageOutcome
    training_means: list[TrainingMean]
    curves: dict[str, list[training.StageCurve]]
    by_label: breakdown.ByLabel | None
    by_length: list[breakdown.Bin]
    by_relevant: list[breakdown.Bin]
    queries: queries.Queries
    importance: training.Importance | None
    contributions: training.Importance | None
    records: dict[str, list[training.StageCurve]]
    objectives: list[training.ObjectiveUse]
    provenance: Provenance
    n_documents: int | None


def findings_of(
    models: Sequence[ScoredModel],
    test: Any,
    metrics: Sequence[str] | None,
    baseline: str | None,
    rules: dict[str, Any],
) -> Findings:
    """Compute everything that a page says about models."""
    found = outcome_of(models, test, metrics, baseline, rules.get("n_jobs"))
    documents = documents_of(models, test)
    stages = training.stages_of(models)
    by_label: breakdown.ByLabel | None = None
    by_length: list[breakdown.Bin] = []
    by_relevant: list[breakdown.Bin] = []
    if documents is not None:
        at = queries.positions(found, documents)
        by_label = breakdown.by_label(documents, found)
        by_length = breakdown.by_query_kind(documents.groups.sizes[at], found)
        by_relevant = breakdown.by_query_kind(documents.relevant[at], found)
    return Findings(
        outcome=found,
        training_means=training_means(models, found, rules),
        curves=training.learning_curves(stages),
        by_label=by_label,
        by_length=by_length,
        by_relevant=by_relevant,
        queries=queries.queries_of(found, documents),
        importance=training.importance_of(stages),
        contributions=contributions_of(models),
        records=training.stage_records(stages),
        objectives=training.objective_uses(models),
        provenance=provenance_of(models, stages, found, test),
        n_documents=None if documents is None else documents.label.size,
    )
