"""Everything that a page says, computed and not yet drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankwood.data.ranking_data import RankingData
from rankwood.report.page import breakdown, outcome, provenance, queries, training
from rankwood.report.page.documents import documents_of
from rankwood.report.page.scored import ScoredModel


@dataclass(frozen=True)
class Findings:
    """The parts of a page; what can't be known without documents or estimators is None or empty."""

    outcome: outcome.Outcome
    training_means: list[outcome.TrainingMean]
    curves: dict[str, list[training.Curve]]
    by_label: breakdown.ByLabel | None
    by_length: list[breakdown.Bin]
    by_relevant: list[breakdown.Bin]
    queries: queries.Queries
    importance: training.Importance | None
    records: dict[str, list[training.Curve]]
    objectives: list[training.ObjectiveUse]
    provenance: provenance.Provenance
    n_documents: int | None


def findings_of(
    models: Sequence[ScoredModel],
    test: Any,
    train: RankingData | None,
    metrics: Sequence[str] | None,
    baseline: str | None,
    rules: dict[str, Any],
) -> Findings:
    """Compute everything that a page says about models."""
    found = outcome.outcome_of(models, test, metrics, baseline, rules.get("n_jobs"))
    documents = documents_of(models, test)
    stages = training.stages_of(models)
    by_label, by_length, by_relevant = None, [], []
    if documents is not None:
        place = queries.documents_place(found, documents)
        by_label = breakdown.by_label(documents, found)
        by_length = breakdown.by_query_kind(documents.groups.sizes[place], found)
        by_relevant = breakdown.by_query_kind(documents.relevant[place], found)
    return Findings(
        outcome=found,
        training_means=[] if train is None else outcome.training_means(models, found, train, rules),
        curves=training.learning_curves(stages),
        by_label=by_label,
        by_length=by_length,
        by_relevant=by_relevant,
        queries=queries.queries_of(found, documents),
        importance=training.importance_of(stages),
        records=training.recorded_curves(stages),
        objectives=training.objective_uses(models, train),
        provenance=provenance.provenance_of(models, stages, found, test),
        n_documents=None if documents is None else documents.label.size,
    )
