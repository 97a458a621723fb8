"""Errors of engines as error messages of ours."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rankwood._util import checks


def plain_errors(
    program: str, kinds: tuple[type[Exception], ...], reason: Callable[[str], str]
) -> Callable[..., AbstractContextManager[None]]:
    """Return a context manager that turns errors of a program into an `InputError`.

    Parameters
    ----------
    program : str
        The program's name, as in "LightGBM can't train: ...".
    kinds : tuple of exception classes
        What the program raises if it can't use its input.
    reason : callable
        Takes the program's message, and returns what is of use to the caller: not the place in its sources.

    Returns
    -------
    callable
        Takes what the program can't do, "train" by default.
    """

    @contextmanager
    def translated(action: str = "train") -> Iterator[None]:
        try:
            yield
        except checks.InputError:
            raise
        except kinds as error:
            why = reason(str(error).strip()).rstrip(".")
            raise checks.InputError(f"{program} can't {action}: {why}.") from None

    return translated


def one_line(text: str) -> str:
    """Return the lines of a message as one, without those that are empty."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def not_resumable(what: str, why: str) -> checks.InputError:
    """Return the error for a run that can't be resumed bit-identically from a checkpoint or from a fitted model."""
    return checks.InputError(
        f"a run with {what} can't be resumed: {why}. Omit it, or omit checkpoint and warm_start."
    )
