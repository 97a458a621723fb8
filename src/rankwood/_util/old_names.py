"""Names in model files of earlier versions: one table, read when a file is read, and nowhere else.

A file holds objectives and metrics as text. `updated` rewrites these texts in today's names, and so that they mean what
they meant when the file was written.
"""

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rankwood._util import checks, literals

#: Parts and their names today.
PARTS = {
    "Across": "AcrossCutoff",
    "Apart": "RanksApart",
    "Beyond": "ReachingBelow",
    "Bi": "Bivariate",
    "Cross": "AcrossCutoff",
    "Gap": "RanksApart",
    "LabelOf": "WinnerLabel",
    "Loss1": "NDCGLoss1",
    "Marked": "Binary",
    "Near": "Neighbours",
    "One": "Uniform",
    "Ordered": "BothDirections",
    "Still": "NoNoise",
    "Times": "Scaled",
    "Undivided": "NoDivisor",
}


class Field(NamedTuple):
    """A parameter of a part or of a name, and what it is called today."""

    #: Parts by the names that they had, and names of metrics and objectives without a cutoff.
    of: tuple[str, ...]
    old: str
    new: str
    #: Values and what they are called today; others stay as they are.
    values: Mapping[str, str] = MappingProxyType({})


_GAPS = tuple(f"lambdagap-{which}{plus}" for plus in ("", "+", "++") for which in "sx")
_EXTENDED = tuple(
    f"{loss}-ex{plus}-{how}{labels}"
    for loss, plus in (("lambdamart", ""), ("lambdaloss", ""), ("lambdaloss", "++"))
    for how in ("static", "random", "all", "all-static", "all-random")
    for labels in ("", "-bin")
)
FIELDS = (
    Field(("AP", "ARP", "Precision", "map", "arp", "p"), "per", "divide_by"),
    Field(("Gap",), "exactly", "exact"),
    Field(("Near",), "h", "distance"),
    Field(("Times",), "by", "factor"),
    Field(_GAPS, "scale", "definition", {"code": "program", "paper": "paper"}),
    Field(("TopMissed", *_EXTENDED), "missed", "definition", {"code": "program", "text": "paper"}),
)


def updated(content: Any, version: Any = None) -> Any:
    """Return an object of a file with today's names in its objectives and metrics, and what they meant then.

    `version` wrote the file; a dictionary may have its own, as the whole file does.
    """
    if isinstance(content, list):
        return [updated(value, version) for value in content]
    if not isinstance(content, dict):
        return content
    version = content.get("rankwood", version)
    return {
        name: _texts(value, version)
        if name in ("objective", "eval_metric")
        else updated(value, version)
        for name, value in content.items()
    }


def _texts(value: Any, version: Any) -> Any:
    if isinstance(value, list):
        return [_texts(item, version) for item in value]
    if not isinstance(value, str):
        return value
    text = current_text(value)
    return as_before_0_5(text) if is_before_0_5(version) else text


def current_text(text: str) -> str:
    """Return the text of an objective or a metric in today's names; texts that can't be read stay as they are."""
    if not _OLD.search(text):
        return text
    head, bracket, inside = text.partition("(")
    name = head.partition("@")[0].strip()
    try:
        call = literals.parse_expression("_" + bracket + inside, text)
        if not isinstance(call, ast.Call):
            return text
        if name.isidentifier() and "@" not in head:
            call.func = ast.Name(name)
            return ast.unparse(_Update().visit(call))
        arguments = _Update().renamed_arguments(name.removeprefix("bi-"), call)
    except (checks.InputError, RecursionError):
        return text  # what reads the text says what is wrong
    return head + ast.unparse(arguments).removeprefix("_")


class _Update(ast.NodeTransformer):
    """Renames the parts of an expression, from the inside out."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        node = self.renamed_arguments(name, node)
        rewrite = _REWRITTEN.get(name)
        if rewrite is not None:
            return rewrite(node)
        if name in PARTS:
            node.func = ast.Name(PARTS[name])
        return node

    def renamed_arguments(self, name: str, node: ast.Call) -> ast.Call:
        """Rename the arguments of a part or a name."""
        node.args = [self.visit(argument) for argument in node.args]
        for word in node.keywords:
            word.value = self.visit(word.value)
            _rename(name, word)
        return node


def _rename(name: str, word: ast.keyword) -> None:
    for field in FIELDS:
        if name not in field.of or word.arg != field.old:
            continue
        value = word.value.id if isinstance(word.value, ast.Name) else _constant(word.value)
        if value in field.values:
            word.value = ast.Constant(field.values[value])
        if value in field.values or not field.values:
            word.arg = field.new


def _constant(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _exactly(node: ast.Call) -> ast.AST:
    """Return what Exactly(k) is today."""
    return _expression("RanksApart", node.args, node.keywords, exact=True)


def _either(node: ast.Call) -> ast.AST:
    """Return what Either(Across(k), Apart(k)) or Either(Across(k), Exactly(k)) is today."""
    words = {word.arg: word.value for word in node.keywords}
    across, apart = (_keywords(words.get(name)) for name in ("first", "second"))
    ten = ast.Constant(10)
    if ast.dump(across.get("k", ten)) != ast.dump(apart.get("k", ten)):
        return node  # there was no objective with two cutoffs
    return _expression("AcrossOrApart", [], [ast.keyword(*pair) for pair in apart.items()])


def _keywords(node: ast.expr | None) -> dict[str, ast.expr]:
    words = node.keywords if isinstance(node, ast.Call) else []
    return {str(word.arg): word.value for word in words}


def _loss2(node: ast.Call) -> ast.AST:
    """Return what Loss2 is today: rho times the weight of LambdaRank plus mu times that of NDCG-Loss2."""
    words = {word.arg: word.value for word in node.keywords}
    mu, rho = words.pop("mu", ast.Constant(1.0)), words.pop("rho", ast.Constant(0.0))
    own = [ast.keyword(name, value) for name, value in words.items()]
    loss2 = _expression("NDCGLoss2", node.args, own)
    if _is(rho, 0):
        return loss2 if _is(mu, 1) else _expression("Scaled", [loss2, mu], [])
    swap = _expression("Swap", node.args[:1], [word for word in own if word.arg == "metric"])
    first = swap if _is(rho, 1) else _expression("Scaled", [swap, rho], [])
    return _expression("Sum", [first, loss2, mu], [])


def _is(node: ast.expr, number: float) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _expression(name: str, args: list[ast.expr], words: list[ast.keyword], **more: Any) -> ast.Call:
    added = [ast.keyword(key, ast.Constant(value)) for key, value in more.items()]
    return ast.Call(ast.Name(name), args, [*words, *added])


#: Parts that are written otherwise today, not only under another name.
_REWRITTEN = {"Exactly": _exactly, "Either": _either, "Loss2": _loss2}
_OLD = re.compile(
    rf"\b(?:{'|'.join([*PARTS, *_REWRITTEN])})\(|\b(?:{'|'.join({f.old for f in FIELDS})})="
)

# What was a default or a reading before 0.5, spelled out.

_LAMBDALOSS_EX = re.compile(r"(bi-)?lambdaloss-ex(\+\+)?-")


def is_before_0_5(version: object) -> bool:
    """Tell whether a file was written by a version before 0.5."""
    found = re.match(r"(\d+)\.(\d+)", str(version))
    return found is not None and (int(found[1]), int(found[2])) < (0, 5)


def as_before_0_5(text: str) -> str:
    """Return a text that means today what `text` meant before 0.5.

    The names of LambdaLoss-eX had ``delta="exact"``, and NDCGLoss2 didn't cut the discounts of a metric with a cutoff.
    """
    if _LAMBDALOSS_EX.match(text.strip()) and "delta" not in text:
        head, bracket, inside = text.strip().partition("(")
        return f"{head}(delta='exact'" + (f", {inside}" if bracket else ")")
    if "NDCGLoss2(" not in text:
        return text
    try:
        return ast.unparse(_Uncut().visit(literals.parse_expression(text, text)))
    except (checks.InputError, RecursionError):
        return text  # what reads the text says what is wrong


class _Uncut(ast.NodeTransformer):
    """Takes the cutoff of the discounts from the metric of every NDCGLoss2; that of the ideal stays."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "NDCGLoss2":
            for word in node.keywords:
                if word.arg == "metric" and isinstance(word.value, ast.Call):
                    _take_cutoff(word.value)
        return node


def _take_cutoff(metric: ast.Call) -> None:
    """Change NDCG(k=10) to NDCG(ideal=10), and DCG(k=10) to DCG()."""
    words = {word.arg: word for word in metric.keywords}
    cutoff = words.get("k")
    if cutoff is None or not isinstance(metric.func, ast.Name):
        return
    ideal = words.get("ideal")
    if metric.func.id == "DCG" or (ideal and _number(ideal) <= _number(cutoff)):
        metric.keywords.remove(cutoff)
    elif metric.func.id == "NDCG":
        if ideal is not None:
            metric.keywords.remove(ideal)
        cutoff.arg = "ideal"


def _number(word: ast.keyword) -> float:
    value = word.value.value if isinstance(word.value, ast.Constant) else None
    return float("inf") if not isinstance(value, int) else value
