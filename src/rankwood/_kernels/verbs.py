"""Verbs: compiled functions whose body is a method of the part, or record, that comes first.

A kernel calls `weight(objective.weight, a, b)`. Numba chooses the method when it compiles the call, by the type of
`objective.weight`, so dispatch costs nothing at run time.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from rankwood._kernels.compile.jit import INNER, UNCOUNTED

VERBS: dict[str, "Verb"] = {}
_OPTIONS = {
    "inner": INNER,
    "inline": {**INNER, "forceinline": True},
    "uncounted": UNCOUNTED,
    "uncounted inline": {**UNCOUNTED, "forceinline": True},
}


class Verb:
    """What is known about one verb: its signature, its default, and which parts have it."""

    def __init__(
        self,
        stub: Callable[..., Any],
        default: Callable[..., Any] | None,
        forward: Callable[..., Any] | None,
    ) -> None:
        self.name = stub.__name__
        self.parameters = list(inspect.signature(stub).parameters)
        self.default = default
        self.forward = forward

    def method(self, cls: Any) -> Callable[..., Any] | None:
        """Return the body of the verb for a part, its lowered form or a record: its own, its base's, or the default."""
        cls = getattr(cls, "part", cls)
        own = inspect.getattr_static(cls, self.name, None)
        if inspect.isfunction(own):
            return own
        return self.forward if self.forward is not None and _wraps(cls) else self.default

    def able(self, x: Any) -> bool:
        """Tell whether a part has this verb, by itself or through the part that it wraps."""
        cls = x if isinstance(x, type) else type(x)
        if inspect.isfunction(inspect.getattr_static(cls, self.name, None)):
            return True
        return self.forward is not None and _wraps(cls) and x is not cls and self.able(x.base)

    def check_signature(self, cls: type) -> None:
        """Raise unless a part's own method takes what the verb hands over."""
        own = inspect.getattr_static(cls, self.name, None)
        if not inspect.isfunction(own):
            return
        arguments = list(inspect.signature(own).parameters)
        if len(arguments) != len(self.parameters):
            raise TypeError(
                f"{cls.__name__}.{self.name}({', '.join(arguments)}) must take "
                f"(self, {', '.join(self.parameters[1:])})."
            )


def _wraps(cls: Any) -> bool:
    """Tell whether a part wraps another: it has a field `base` of a kind of parts."""
    field = getattr(cls, "__dataclass_fields__", {}).get("base")
    return field is not None and hasattr(getattr(field.type, "__metadata__", [None])[0], "verbs")


def verb(
    stub: Callable[..., Any] | None = None,
    *,
    default: Callable[..., Any] | None = None,
    forward: bool | Callable[..., Any] = False,
    kind: str = "inner",
) -> Any:
    """Make a compiled function whose body is a method of its first argument.

    Parameters
    ----------
    stub : function
        Name, parameters and docstring of the verb; its body is not used.
    default : function, optional
        Body for parts that don't define the method. Without a default, calling the verb on such a part is an error.
    forward : bool or function
        Whether a part with a field `base` that doesn't define the method hands the call on to `base`; or a function
        that does so, if the other arguments have to be unwrapped too.
    kind : {"inner", "inline", "uncounted", "uncounted inline"}
        How bodies are compiled, see `rankwood._kernels.compile.jit`. Bodies of "uncounted" verbs can't allocate arrays.

    Returns
    -------
    function
        The verb; its attribute `verb` tells which parts have it.
    """
    if stub is None:
        return lambda stub: verb(stub, default=default, forward=forward, kind=kind)
    info = Verb(stub, default, None)

    def call(self: Any, *args: Any) -> Any:
        method = info.method(type(self))
        if method is None:
            part = getattr(type(self), "part", type(self)).__name__
            raise TypeError(f"{part} has no method {info.name!r}, which is needed here.")
        return method(self, *args)

    # Numba's messages name a function as it is called now.
    call.__name__, call.__qualname__ = stub.__name__, stub.__qualname__
    call.__doc__, call.__module__ = stub.__doc__, stub.__module__
    call.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]

    @overload(call, jit_options=_OPTIONS[kind], strict=False)
    def choose(self: Any, *args: Any) -> Any:
        return info.method(getattr(self, "instance_class", None))

    info.forward = _forwarding(info, call) if forward is True else (forward or None)
    call.verb = info  # type: ignore[attr-defined]
    VERBS[info.name] = info
    return call


def _forwarding(info: Verb, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that calls a verb on the part inside: spelled out, as Numba takes no *args here."""
    first, *others = info.parameters
    code = f"def forward({', '.join(info.parameters)}): return call({', '.join([f'{first}.base', *others])})"
    scope: dict[str, Any] = {"call": call}
    exec(code, scope)
    return scope["forward"]
