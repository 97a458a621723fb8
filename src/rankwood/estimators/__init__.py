"""Estimators: `Ranker`, `NeuralRanker` and `TwoStage`, the faces of `fit` in scikit-learn's manner."""
