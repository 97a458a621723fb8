"""What a study is: texts by which its file is recognised, so that nothing else is resumed from it."""

import json
from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood._util.old_names import as_before_0_5, current_text, is_before_0_5
from rankwood.tuning.parameters import as_text, computed_objective, settings_of
from rankwood.tuning.spaces.space import Space
from rankwood.tuning.trials import Task


class StudyIdentity(NamedTuple):
    """What identifies a study.

    Attributes
    ----------
    texts : dict
        Texts by name, which the file keeps.
    tuned : tuple of str
        The names of the tuned parameters.
    """

    texts: dict[str, str]
    tuned: tuple[str, ...] = ()

    def check(self, path: str, kept: dict[str, Any]) -> None:
        """Raise if a file has a study of something else; `kept` is what the file says about its study."""
        if "about" not in kept:
            raise checks.InputError(
                f"{path} has a study that rankwood didn't begin; give another name as storage."
            )
        known = _in_todays_form(kept["about"], kept.get("rankwood", "0.4"), self.tuned)
        names = dict.fromkeys([*self.texts, *known])
        different = [name for name in names if known.get(name) != self.texts.get(name)]
        if different:
            what = ", ".join(different)
            if "ranker" in different:
                what += f" ({_changes(known.get('ranker'), self.texts.get('ranker'))})"
            raise checks.InputError(
                f"{path} has a study with another {what}; give another name as storage, or what that study was begun "
                "with."
            )


def identify(task: Task, space: Space, rules: dict[str, Any]) -> StudyIdentity:
    """Return what identifies a study: its data, its metric, what it trains and how it searches."""
    data = [
        one.fingerprint()
        for pair in task.data
        for one in (pair.train, *pair.valid.by_name.values())
    ]
    metric = task.measure
    texts = {
        "space": repr(space),
        "data": as_text(data),
        "metric": as_text([list(metric.parts.values()), metric.ties, metric.empty, metric.single]),
        "ranker": as_text(settings_of(task.ranker, list(space))),
        **{name: as_text(value) for name, value in rules.items()},
    }
    return StudyIdentity(texts, tuple(space))


def _in_todays_form(known: dict[str, str], version: str, tuned: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of a file; those before 0.5 have the name of an objective, which may have meant something else.

    They don't say where they start either, which was always the same.
    """
    if not is_before_0_5(version):
        return known
    settings = json.loads(known["ranker"])
    objective = as_before_0_5(current_text(settings["objective"]))
    settings["objective"] = computed_objective(objective, tuned)
    return {"start": as_text("own"), **known, "ranker": as_text(settings)}


def _changes(known: str | None, now: str | None) -> str:
    """Return which settings differ, and how."""
    before, after = json.loads(known or "{}"), json.loads(now or "{}")
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return "; ".join(
        f"{name} is {before.get(name, 'absent')} there and {after.get(name, 'absent')} here"
        for name in names
    )
