"""Ranking data: RankingData, LETOR, Parquet and TREC files, generated data."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "load_demo":  # its module is a program too, so it must not be imported here
        from rankwood.data.demo import load_demo

        return load_demo
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
