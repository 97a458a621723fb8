"""Error messages for lines of LETOR text that can't be read."""

from rankwood._util.checks import InputError
from rankwood.data.letor import parse

_LONGEST = 40  # characters of the file that a message repeats


class TooWide(InputError):
    """A feature index above the number of features; `place` is the file and the line."""

    def __init__(self, place: str, token: str, n_features: int) -> None:
        self.place, self.n_features = place, n_features
        self.feature = f"feature {token.partition(':')[0]} in {quoted(token)}"
        super().__init__(
            f"{place}: {self.feature} is above {n_features}, the number of features expected "
            "here: give another n_features, or the file a model was trained for."
        )


def quoted(token: str) -> str:
    """Return a token in quotes, cut if it is long."""
    return repr(token if len(token) <= _LONGEST else token[:_LONGEST] + "…")


def reason(error: int, token: str) -> str:
    """Return what is wrong with the token at which the parser stopped."""
    shown = quoted(token)
    index = token.partition(":")[0]
    if error == parse.BAD_LABEL:
        return f"the line starts with {shown}, expected a label, a finite number of at least 0."
    if error == parse.NEGATIVE_LABEL:
        return f"the label {shown} is negative, expected a number of at least 0."
    if error == parse.NO_QID:
        word = shown if token else "nothing"
        return f"after the label comes {word}, expected a query id such as 'qid:1'."
    if error == parse.EMPTY_QID:
        return "'qid:' has nothing behind it, expected a query id such as 'qid:1'."
    if error == parse.REPEATED:
        return (
            f"feature {index} comes a second time as {shown}, expected every index once per line."
        )
    return _bad_feature(token)


def _bad_feature(token: str) -> str:
    index, colon, value = token.partition(":")
    if not (colon and index.isascii() and index.isdigit()):
        return f"{quoted(token)} is not a feature, expected 'index:value' such as '3:0.25'."
    if not 1 <= int(index[:20]) <= parse.LARGEST_INDEX:
        return (
            f"the feature index in {quoted(token)} is {quoted(index)}, "
            f"expected 1 to {parse.LARGEST_INDEX}."
        )
    if value.lstrip("+-").lower() in ("inf", "infinity"):
        return (
            f"the value in {quoted(token)} is infinite, expected a finite number, or 'nan' for a "
            "value that is missing."
        )
    hint = (
        f"; if it means that the value is missing, read the file with missing=[{value!r}] "
        f"(--missing {value!r})"
        if value and len(value) <= _LONGEST and not any(char.isdigit() for char in value)
        else ""
    )
    return f"the value in {quoted(token)} is {quoted(value)}, expected a number such as '3:0.25'{hint}."
