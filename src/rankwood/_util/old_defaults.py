"""Defaults of earlier versions: texts in a model file mean what they meant when it was written.

`rankwood._util.old_names` rewrites names; this module spells out what was a default or a reading then.
"""

import ast
import re

from rankwood._util import checks, literals

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
