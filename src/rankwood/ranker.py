"""The former place of `rankwood.Ranker`, kept for one release."""

from rankwood.training.ranker import Ranker as Ranker
