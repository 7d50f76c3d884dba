"""What the calls of users pass through, before a function has their arguments.

NumPy's names for arguments, `axis` and `keepdims`, are taken wherever torch takes them; users may
call `dim` and `keepdim` so, and within this package nobody does. And what a function of the
library annotates as a `Tensor` or a `bool` is one: that is looked at here, for all of them.
Functions of the lesson look themselves, and so do those that are methods only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any, TypeVar, cast

from mt_tensor.arguments import check_flags
from mt_tensor.precision import BLOCKS, in_precision
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor

Made = TypeVar("Made")

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""What NumPy calls an argument, and what it is called here."""

KINDS: dict[Any, type] = {"Tensor": Tensor, "bool": bool}
"""What arguments are that are annotated so."""


def for_users(made: Made) -> Made:
    """Return a function that takes NumPy's names, and that refuses what does not fit, if it must.

    Raises:
        TypeError: (the function returned) an argument is no tensor, or neither True nor False; or
            it is given by both its names.
    """
    if not isinstance(made, FunctionType):
        return made
    code = made.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    kinds = {name: KINDS.get(made.__annotations__.get(name), object) for name in parameters}
    is_method = parameters[:1] == ("self",)
    if is_method or not made.__module__.startswith("mt_tensor.library."):
        kinds = dict.fromkeys(parameters, object)
    anything = {*kinds.values()} <= {object}
    if anything and "dim" not in parameters and "keepdim" not in parameters:
        return made
    in_order = () if anything else tuple(kinds.values())[: code.co_argcount]

    name = made.__name__

    @functools.wraps(made)
    def called(*args: Any, **settings: Any) -> Any:
        if in_order:
            for value, kind in zip(args, in_order):  # noqa: B905 - the rest has defaults
                if not isinstance(value, kind):
                    _check(name, zip(parameters, args, strict=False), kinds)
        if BLOCKS.count:
            return in_precision(name, made, args, in_own_words(settings))
        if not settings:
            return made(*args)
        return made(*args, **in_own_words(settings))

    def in_own_words(settings: dict[str, Any]) -> dict[str, Any]:
        """Return arguments by the names that they have here, checked."""
        for other, own in NUMPY.items():
            if other in settings and own in kinds:
                if own in settings:
                    raise TypeError(
                        f"{name}() was given {own} twice: {other} is NumPy's name for it."
                    )
                settings[own] = settings.pop(other)
        _check(name, settings.items(), kinds)
        return settings

    return cast("Made", called)


def _check(name: str, arguments: Iterable[tuple[str, Any]], kinds: dict[str, type]) -> None:
    """Raise TypeError unless all arguments are what they have to be."""
    for label, value in arguments:
        if kinds.get(label) is Tensor:
            require_tensors(name, value)
        elif kinds.get(label) is bool:
            check_flags(**{label: value})
