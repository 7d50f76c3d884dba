"""What users have: a function in `mt_tensor`, a method of `Tensor`, or both.

`Tensor` is defined; this is how it comes by its operations. An operation is a function whose first
argument is the tensor. A word above its definition says how users call it, by its own name unless
names are given:

- `@operation`: as `mt.sum(x)` and as `x.sum()`;
- `@function`: as `mt.cat([x, y])` alone, and so for classes;
- `@method`: as `x.expand(2, 3)` alone, or as what Python asks for, `@method("__getitem__")`;
- `@attribute`: as `x.T`, of the tensor alone.

Users may call `dim` and `keepdim` by NumPy's names; within this package nobody does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

from mt_tensor.tensor import Tensor

Made = TypeVar("Made", bound=Callable[..., Any])

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""What NumPy calls an argument, and what it is called here."""

FUNCTIONS: dict[str, Any] = {}
"""What `mt_tensor` has of the files that have been imported, by its name there."""


class _Offer:
    """How something is offered to users; a decorator."""

    def __init__(self, *, as_function: bool, as_method: bool) -> None:
        self._as_function = as_function
        self._as_method = as_method

    @overload
    def __call__(self, made: Made, /) -> Made: ...
    @overload
    def __call__(self, *names: str, axis: bool = ...) -> Callable[[Made], Made]: ...
    def __call__(self, *given: Any, axis: bool = True) -> Any:
        """Offer a function or class, and return it as it is.

        Args:
            given: it; or the names that users call it by, to return what takes it.
            axis: whether users may say `axis` for `dim`; torch refuses it in some functions.
        """
        if given and not isinstance(given[0], str):
            self._offer(given[0], (given[0].__name__,), axis)
            return given[0]

        def decorator(made: Made) -> Made:
            self._offer(made, given or (made.__name__,), axis)
            return made

        return decorator

    def _offer(self, made: Any, names: tuple[str, ...], axis: bool) -> None:
        made = with_numpy_names(made) if axis else made
        for name in names:
            if self._as_function:
                FUNCTIONS[name] = made
            if self._as_method:
                setattr(Tensor, name, made)


operation = _Offer(as_function=True, as_method=True)
function = _Offer(as_function=True, as_method=False)
method = _Offer(as_function=False, as_method=True)


def attribute(
    made: Callable[[Tensor], Any], store: Callable[[Tensor, Any], None] | None = None
) -> Callable[[Tensor], Any]:
    """Offer what a function makes of a tensor as an attribute of it, which `store` sets."""
    setattr(Tensor, made.__name__, property(made, store))
    return made


def with_numpy_names(made: Any) -> Any:
    """Return a function that takes NumPy's names for its arguments, too, if it has such."""
    if not isinstance(made, FunctionType):
        return made
    code = made.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if "dim" not in parameters and "keepdim" not in parameters:
        return made

    @functools.wraps(made)
    def renaming(*args: Any, **settings: Any) -> Any:
        if settings:
            for other, own in NUMPY.items():
                if other in settings:
                    if own in settings:
                        raise TypeError(
                            f"{made.__name__}() was given {own} twice: {other} is NumPy's name "
                            "for it."
                        )
                    settings[own] = settings.pop(other)
        return made(*args, **settings)

    return renaming
