"""From text to parts and back: ``"ndcg@10(gain='linear')"``, ``"Lambda(weight=Swap(), pairs=Top(k=10))"``.

Texts are read with `ast`, never executed. The printed form of a part is Python that this module
reads back; printed forms of earlier versions are read by `former.FORMER`.
"""

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from rankwood._core import checks, former
from rankwood._core.named import NAME, Named
from rankwood._core.parts import PARTS, is_part

_TEXT = re.compile(rf"\s*({NAME})\s*(?:@\s*(-?\d+))?\s*(\(.*\))?\s*", re.DOTALL)
#: Words that may be typed without quotes, as on a command line, and what they stand for.
_WORDS = {"true": True, "false": False, "none": None}


def split(text: str, kind: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name@k(param=value)"`` into name and parameters."""
    match = _TEXT.fullmatch(text)
    if not match:
        raise checks.InputError(
            f"{kind} {text!r} can't be read; expected a form such as 'name', 'name@10' or "
            "'name@10(param=value)'."
        )
    name, k, inside = match.groups()
    params = {} if inside is None else _arguments(inside, text)
    if k is not None:
        if "k" in params:
            raise checks.InputError(f"{kind} {text!r} gives k twice.")
        params = {"k": int(k), **params}
    return name, params


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
    if not isinstance(what, str):
        raise checks.InputError(f"{kind} must be a name or a composition of parts, got {what!r}.")
    start = what.split("(")[0].strip()
    if (start in PARTS or start in former.FORMER) and "(" in what:
        return _part(_parse(what, what), what)
    name, given = split(what, kind)
    if name not in table:
        raise checks.InputError(f"unknown {kind} {name!r}{checks.nearest(name, table)}")
    row, what = table[name], f"{kind} {name!r}"
    former_names = {p.former: p.name for p in row.parameters if p.former}
    given = {
        **former.current(given, former_names, what),
        **former.current(params, former_names, what),
    }
    known = [parameter.name for parameter in row.parameters]
    for key in given:
        if key == "k" and key not in known:
            raise checks.InputError(f"{what} has no cutoff; leave out @{given[key]}.")
        if not known:
            raise checks.InputError(f"{what} has no parameters; leave out {key}=.")
        if key not in known:
            raise checks.InputError(f"{what} has no parameter {key!r}{checks.nearest(key, known)}")
    return row(**{**{k: v for k, v in (defaults or {}).items() if k in known}, **given})


def _parse(code: str, text: str) -> ast.expr:
    try:
        return ast.parse(code.strip(), mode="eval").body
    except SyntaxError:
        raise checks.InputError(f"{text!r} can't be read as name(param=value, ...).") from None


def _arguments(inside: str, text: str) -> dict[str, Any]:
    call = _parse("f" + inside, text)
    if not isinstance(call, ast.Call) or call.args:
        raise checks.InputError(f"{text!r}: parameters must be given by name, as in (sigma=2.0).")
    return {str(word.arg): _value(word.value, text) for word in call.keywords}


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call):
        return _part(node, text)
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id, node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise checks.InputError(f"{text!r}: {ast.unparse(node)!r} is not a plain value.") from None


def _part(node: ast.expr, text: str) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise checks.InputError(f"{text!r}: {ast.unparse(node)!r} is not a part.")
    name = node.func.id
    if name not in PARTS and name not in former.FORMER:
        raise checks.InputError(f"unknown part {name!r}{checks.nearest(name, PARTS)}")
    make: Callable[..., Any] = PARTS[name] if name in PARTS else former.FORMER[name].make
    args = [_value(a, text) for a in node.args]
    words = {str(w.arg): _value(w.value, text) for w in node.keywords}
    words = former.current(words, getattr(make, "former_fields", {}), name)
    known = inspect.signature(make).parameters
    for key in words:
        if key not in known:
            raise checks.InputError(f"{name} has no parameter {key!r}{checks.nearest(key, known)}")
    try:
        return make(*args, **words)
    except TypeError as error:
        raise checks.InputError(f"{text!r}: {error}.") from None
