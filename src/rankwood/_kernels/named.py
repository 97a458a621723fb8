"""Names and their parameters: each name is a row of a table, and its text, help and documentation come from the row."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from rankwood._kernels.parts import PARTS
from rankwood._util import checks

#: What a name may look like: "lambdagap-x++".
NAME = r"[A-Za-z][\w+-]*"

#: The checked values of a row's parameters, as attributes.
Values = SimpleNamespace


def as_given(value: Any, name: str) -> Any:
    """Return `value`; the part that it goes to checks it."""
    return value


def choice(known: Iterable[str] | Mapping[str, Any]) -> Callable[[Any, str], Any]:
    """Return a check that takes one of the `known` words; from a mapping it returns what the word stands for.

    Parameters
    ----------
    known : iterable of str, or mapping
        The words.

    Returns
    -------
    callable
        ``check(value, name)``, as `Parameter` takes it.

    Examples
    --------
    >>> from rankwood.extend import choice
    >>> choice(("exact", "shifted"))("exact", "delta")
    'exact'
    """

    def check(value: Any, name: str) -> Any:
        word = checks.one_of(value, known, name)
        return known[word] if isinstance(known, Mapping) else word

    return check


@dataclass(frozen=True)
class Parameter:
    """A parameter that names can have.

    Parameters
    ----------
    name : str
        The keyword.
    default : object
        Its value if none is given.
    check : callable
        Takes a value and the parameter's name; returns the value that compositions use, or raises an `InputError`.
    description : str
        What the parameter means, as a clause.
    required : bool
        Whether a value must be given; the default is None then.
    default_text : str
        The default as documentation shows it, where that differs from its value.
    note : str
        A remark that documentation adds in brackets.

    Examples
    --------
    >>> from rankwood.extend import Parameter, choice
    >>> gain = Parameter("gain", "exp", choice(["exp", "linear"]), "gain of a label")
    >>> gain.check("linear", "gain")
    'linear'
    """

    name: str
    default: Any
    check: Callable[[Any, str], Any] = as_given
    description: str = ""
    required: bool = False
    default_text: str = ""
    note: str = ""


@dataclass(frozen=True)
class Named:
    """One row: a name, its parameters, and the composition that it stands for.

    Calling a row with parameters by keyword returns the composition.

    Parameters
    ----------
    name : str
        The name, as in ``"lambdarank-ndcg"``.
    summary : str
        What it is, in one sentence without a full stop.
    citation : str
        Keys of the bibliography, separated by commas; empty if there is no source.
    parameters : tuple of Parameter
        The parameters, in the order in which help shows them.
    compose : callable
        Takes the checked values of all parameters as attributes of one object; returns a part.
    details : str
        Further sentences, shown by the help of this name only.
    same_as : str
        A simpler name for the same thing; tables that people read omit this row.
    """

    name: str
    summary: str
    citation: str
    parameters: tuple[Parameter, ...]
    compose: Callable[[Values], Any]
    details: str = ""
    same_as: str = ""

    def __post_init__(self) -> None:
        keywords = [
            inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default)
            for p in self.parameters
        ]
        # `inspect.signature` and `help` read these two.
        object.__setattr__(self, "__signature__", inspect.Signature(keywords))
        doc = f"{self.headline}\n\n{self.details}" if self.details else self.headline
        object.__setattr__(self, "__doc__", doc)

    @property
    def headline(self) -> str:
        """The summary with its citation, as a sentence."""
        return f"{self.summary} [{self.citation}]." if self.citation else f"{self.summary}."

    def __call__(self, **given: Any) -> Any:
        """Return the composition for these parameters; the others have their defaults."""
        values = inspect.signature(self).bind(**given)
        values.apply_defaults()
        checked = {p.name: self._checked(p, values.arguments[p.name]) for p in self.parameters}
        return self.compose(Values(**checked))

    def _checked(self, parameter: Parameter, value: Any) -> Any:
        if not parameter.required or value is not None:
            return parameter.check(value, parameter.name)
        if parameter.name == "k":
            raise checks.InputError(
                f"{self.name} needs a cutoff: write {self.name}@10, or give k=10."
            )
        raise checks.InputError(
            f"{self.name} needs {parameter.name}: write {self.name}({parameter.name}=...)."
        )


def register(
    table: dict[str, Named],
    kind: str,
    name: str,
    function: Callable[..., Any],
    parameters: Iterable[Parameter],
    citation: str,
    replace: bool,
) -> None:
    """Add a name to a table of objectives or metrics; the function's signature gives the parameters."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise checks.InputError(
            f"{kind} {name!r} can't be registered: a name starts with a letter, and letters, digits, "
            "'_', '-' and '+' may follow."
        )
    if name in PARTS:
        raise checks.InputError(
            f"{kind} {name!r} can't be registered: there is a part of that name; choose another."
        )
    if name in table and not replace:
        raise checks.InputError(
            f"there is {'an' if kind[0] in 'aeiou' else 'a'} {kind} {name!r} already; choose another name, "
            "or give replace=True."
        )
    known = {parameter.name: parameter for parameter in parameters}
    taken = _taken(function, known, f"{kind} {name!r}")
    summary, _, details = (inspect.getdoc(function) or name).partition("\n\n")
    table[name] = Named(
        name,
        " ".join(summary.split()).removesuffix("."),
        citation,
        taken,
        lambda given: function(**vars(given)),
        details,
    )


def _taken(
    function: Callable[..., Any], known: Mapping[str, Parameter], what: str
) -> tuple[Parameter, ...]:
    """Return the parameters of a function: those that are described in `known`, and the others from its signature."""
    taken = []
    for name, given in inspect.signature(function).parameters.items():
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise checks.InputError(
                f"{what} can't be registered: its function takes {given}, and every parameter must have a name."
            )
        required = given.default is given.empty
        default = None if required else given.default
        taken.append(known.get(name, Parameter(name, default, required=required)))
    for name in known:
        if name not in {parameter.name for parameter in taken}:
            raise checks.InputError(
                f"{what} can't be registered: its function has no parameter {name!r}."
            )
    return tuple(taken)
