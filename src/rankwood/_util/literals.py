"""Values that users type, read with `ast` and never executed; the only error is an `InputError`."""

import ast
from typing import Any

from rankwood._util import checks
from rankwood._util.text import shortened

#: Longest text that is read, in characters, and how deep it may be nested: printed compositions are far below both.
LONGEST, DEEPEST = 10_000, 60
_TOO_LARGE = 2**1023  # such numbers may be infinite as floats; Python can't even print the largest


def check_length(text: str, name: str) -> None:
    """Raise if a text is too long to be read."""
    if len(text) > LONGEST:
        raise checks.InputError(
            f"{name} has {len(text):,} characters, expected at most {LONGEST:,}: {shortened(text, 40)!r}."
        )


def parse_expression(code: str, text: str) -> ast.expr:
    """Return an expression; `text` is what the user typed, for messages."""
    shown = shortened(text, 200)
    check_length(code, "text")
    try:
        node = ast.parse(code.strip(), mode="eval").body
        depth = _depth(node)
    # Besides wrong syntax: zero bytes and surrogates, numbers of thousands of digits, and thousands of signs.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise checks.InputError(f"{shown!r} can't be read as name(param=value, ...).") from None
    if depth > DEEPEST:
        raise checks.InputError(f"{shown!r} is nested {depth} deep, expected at most {DEEPEST}.")
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) is int and part.value >= _TOO_LARGE:
            raise checks.InputError(f"{shown!r} has a number that is too large for a float.")
    return node


def _depth(node: ast.AST) -> int:
    """Return how deep an expression is nested; a loop, since a recursion would be too deep itself."""
    depth, level = 0, [node]
    while level:
        depth, level = depth + 1, [child for part in level for child in ast.iter_child_nodes(part)]
    return depth


def keywords(call: ast.Call, text: str) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call; each may be given once."""
    arguments: dict[str, ast.expr] = {}
    for word in call.keywords:
        if word.arg is None:
            raise checks.InputError(f"{shortened(text, 200)!r}: ** can't be used here.")
        if word.arg in arguments:
            raise checks.InputError(f"{shortened(text, 200)!r} gives {word.arg} twice.")
        arguments[word.arg] = word.value
    return arguments


def keyword_arguments(inside: str, text: str, example: str) -> dict[str, ast.expr]:
    """Return the arguments of "(key=value, ...)"; `text` is what the user typed, for messages."""
    call = parse_expression("f" + inside, text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise checks.InputError(
            f"{shortened(text, 200)!r}: parameters must be given by name, as in {example}."
        )
    return keywords(call, text)


def literal_value(node: ast.expr, text: str) -> Any:
    """Return the value of a literal: a number, a text, True, False, None, or a list, tuple, set or dict of them."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):  # TypeError: {1, [2]}
        plain = shortened(ast.unparse(node), 200)
        raise checks.InputError(
            f"{shortened(text, 200)!r}: {plain!r} is not a plain value."
        ) from None


def read_literal(text: str) -> Any:
    """Return the value of a text that is a literal; raise an `InputError` if it isn't one."""
    return literal_value(parse_expression(text, text), text)
