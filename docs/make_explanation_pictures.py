"""Draw the pictures of docs/explain.md: python docs/make_explanation_pictures.py."""

from pathlib import Path

import rankwood as rw
from rankwood.explanation import permutation_importance
from rankwood.report import plots

FOLDER = Path(__file__).parent / "pictures"


def main() -> None:
    """Train the model of the page, and draw a pair and the permutation importance."""
    train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
    ranker = rw.Ranker("lambdarank-ndcg@10", n_estimators=60, num_leaves=15)
    ranker.fit(train, valid=valid)
    pair = ranker.explain(test).pair(17, 4)
    plots.save(pair.plot(top=6), FOLDER / "explain-pair.png")
    found = permutation_importance(ranker, test, metric="ndcg@10", repeats=5)
    plots.save(found.plot(top=10), FOLDER / "explain-permutation.png")


if __name__ == "__main__":
    main()
