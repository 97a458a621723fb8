"""TwoStage: its estimator, the cross-fitted first stage, the lists of the second, checks and files."""
