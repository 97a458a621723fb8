"""The former place of `rankwood.TwoStage`, kept for one release."""

from rankwood.training.two_stage import TwoStage as TwoStage
