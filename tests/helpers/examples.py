"""How many examples Hypothesis tries: few, unless a run is to be thorough."""

from hypothesis import settings

QUICK, THOROUGH = 10, 100


def examples(count, **others):
    """Return settings for `count` examples in a thorough run, and for no more than `QUICK` in others."""
    thorough = settings.default.max_examples >= THOROUGH
    return settings(max_examples=count if thorough else min(count, QUICK), **others)
