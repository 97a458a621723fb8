"""The way from `Ranker.fit` to the first tree is the one that the architecture page lists."""

import re
import sys
from pathlib import Path

import rankwood as rw
from tests.helpers.source import PACKAGE

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def listed_modules():
    section = PAGE.read_text(encoding="utf-8").split("## From `fit` to the first tree\n")[1]
    return re.findall(r"^\| \d+ \| `([\w/]+\.py)` \|", section, re.MULTILINE)


def module_of(frame):
    path = Path(frame.f_code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def test_the_way_to_the_first_tree():
    entered, stack = set(), []

    def follow(frame, event, argument):
        if event != "call" or stack:
            return
        entered.add(module_of(frame))
        if frame.f_code.co_qualname == "Booster.update":
            while frame is not None:
                stack.append(module_of(frame))
                frame = frame.f_back

    data = rw.make_ranking(20)
    ranker = rw.Ranker("softmax", n_estimators=1, n_jobs=1)
    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        ranker.fit(data)
    finally:
        sys.setprofile(before)
    modules = listed_modules()
    assert 0 < len(modules) <= 8
    # The gradients are computed inside the engine's update.
    assert set(modules) - {"objectives/gradients.py"} <= entered
    on_stack = {module for module in stack if module is not None}
    assert on_stack and on_stack <= set(modules)
