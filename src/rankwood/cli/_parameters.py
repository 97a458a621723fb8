"""NAME=VALUE on the command line: parameters without an option of their own."""

import argparse
from collections.abc import Mapping
from typing import Any

from rankwood._core import literals
from rankwood._core.checks import InputError
from rankwood.engines import base


def parse(text: str, taken: Mapping[str, str]) -> tuple[str, Any]:
    """Parse NAME=VALUE; the value may be a number, true, false, none, a list or text.

    `taken` has the options of parameters that must be set by them.
    """
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    if name in taken:
        raise argparse.ArgumentTypeError(f"{name} has an option of its own: {taken[name]}")
    words = {"true": True, "false": False, "none": "none" if name in base.NONE_IS_A_WORD else None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, literals.read(value)
    except InputError:
        return name, value
