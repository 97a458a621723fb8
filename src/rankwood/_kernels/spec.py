"""From text to parts and back: ``"ndcg@10(gain='linear')"``, ``"Lambda(weight=Swap(), pairs=Top(k=10))"``.

Texts are read with `ast`, never executed. The printed form of a part is Python that this module
reads back.
"""

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from rankwood._kernels.named import NAME, Named
from rankwood._kernels.parts import PARTS, is_part
from rankwood._util import checks, literals
from rankwood._util import foreign_names as foreign
from rankwood._util.foreign_names import Reading
from rankwood._util.text import shortened

#: Words that may be typed without quotes, as on a command line, and what they stand for.
_WORDS = {"true": True, "false": False, "none": None}


def split(text: str, kind: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name@k(param=value)"`` into name and parameters."""
    literals.check_length(text, kind)
    head, bracket, inside = text.strip().partition("(")
    name, at, k = (word.strip() for word in head.partition("@"))
    readable = re.fullmatch(NAME, name) and (not bracket or inside.endswith(")"))
    if not readable or bool(at) != bool(re.fullmatch("-?[0-9]{1,40}", k)):
        raise checks.InputError(
            f"{kind} {shortened(text, 200)!r} can't be read; expected a form such as 'name', 'name@10' or "
            "'name@10(param=value)'."
        )
    params = _arguments(bracket + inside, text) if bracket else {}
    if at:
        if "k" in params:
            raise checks.InputError(f"{kind} {shortened(text, 200)!r} gives k twice.")
        params = {"k": int(k), **params}
    return name, params


def read(
    text: str, table: Mapping[str, Named], kind: str, program: str | None = None
) -> Reading | None:
    """Return the name and the parameters of a text, by which another program may call it; None if it is a printed part.

    Our names go first, then those of `program`, then those of any other program.
    """
    literals.check_length(text, kind)
    if _is_printed(text):
        return None
    try:
        name, arguments = split(text, kind)
    except checks.InputError:
        reading = foreign.translate(text, kind, program)
        if reading is not None:
            return reading
        close = foreign.near(text, kind) if ":" in text else ""
        if close:
            raise checks.InputError(f"unknown {kind} {shortened(text, 80)!r}{close}") from None
        raise
    if name in table:
        return Reading(name, arguments, {})
    reading = foreign.translate(text, kind, program)
    if reading is None:
        raise checks.InputError(
            f"unknown {kind} {shortened(name, 80)!r}{checks.nearest(name[:80], table)}"
        )
    return reading


def _is_printed(text: str) -> bool:
    """Return whether a text is the printed form of a part; ``AP(rel=2)@5`` is a metric of ir_measures."""
    start = text.split("(")[0].strip()
    return start in PARTS and text.rstrip().endswith(")")


def build(
    what: Any,
    table: Mapping[str, Named],
    kind: str,
    params: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
) -> Any:
    """Return the part that a text or a part describes; `table` has the rows of the known names.

    `params` go before the parameters in the text, and those before `defaults`, which may have parameters that
    the name doesn't take.
    """
    if is_part(what):
        if params:
            raise checks.InputError(f"parameters go with a name, not with {what!r}.")
        return what
    if isinstance(what, str):
        reading = read(what, table, kind)
        if reading is None:
            return _part(literals.parse_expression(what, what), what)
        what = reading
    if not isinstance(what, Reading):
        raise checks.InputError(f"{kind} must be a name or a composition of parts, got {what!r}.")
    row, arguments = table[what.name], what.given
    about = f"{kind} {what.name!r}"
    arguments = {**arguments, **params}
    names = [parameter.name for parameter in row.parameters]
    for key in arguments:
        if key == "k" and key not in names:
            raise checks.InputError(f"{about} has no cutoff; omit @{arguments[key]}.")
        if not names:
            raise checks.InputError(f"{about} has no parameters; omit {key}=.")
        if key not in names:
            raise checks.InputError(f"{about} has no parameter {key!r}{checks.nearest(key, names)}")
    return row(**{**{k: v for k, v in (defaults or {}).items() if k in names}, **arguments})


def _arguments(inside: str, text: str) -> dict[str, Any]:
    nodes = literals.keyword_arguments(inside, text, "(sigma=2.0)")
    return {name: _value(node, text) for name, node in nodes.items()}


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call):
        return _part(node, text)
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id, node.id)
    return literals.literal_value(node, text)


def _part(node: ast.expr, text: str) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        plain = shortened(ast.unparse(node), 200)
        raise checks.InputError(f"{shortened(text, 200)!r}: {plain!r} is not a part.")
    name = node.func.id
    if name not in PARTS:
        raise checks.InputError(f"unknown part {name!r}{checks.nearest(name, PARTS)}")
    make: Callable[..., Any] = PARTS[name]
    args = [_value(a, text) for a in node.args]
    words = {key: _value(value, text) for key, value in literals.keywords(node, text).items()}
    parameters = inspect.signature(make).parameters
    for key in words:
        if key not in parameters:
            raise checks.InputError(
                f"{name} has no parameter {key!r}{checks.nearest(key, parameters)}"
            )
    try:
        return make(*args, **words)
    except TypeError as error:
        raise checks.InputError(f"{shortened(text, 200)!r}: {error}.") from None
