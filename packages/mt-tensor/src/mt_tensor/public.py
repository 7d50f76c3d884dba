"""How operations become functions in `mt_tensor` and methods of `Tensor`.

`Tensor` is defined, and all that can be done with it is still to come. An operation is a function
whose first argument is the tensor. A decorator says how users call it, by its own name unless the
decorator is given names:

- `@operation`: as `mt.sum(x)` and as `x.sum()`;
- `@function`: as `mt.cat([x, y])` only, and so for classes;
- `@method`: as `x.expand(2, 3)` only, or as what Python asks for, `@method("__getitem__")`;
- `@attribute`: as `x.T`, without a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from mt_tensor.tensor import Tensor

Made = TypeVar("Made", bound=Callable[..., Any])

FUNCTIONS: dict[str, Any] = {}
"""The functions of `mt_tensor`, by name, of the files that have been imported."""

ADAPTERS: list[Callable[[Any], Any]] = []
"""Functions that change each of them before users have it: the library's lets users say `axis`."""


class _Offer:
    """A decorator that offers a function to users."""

    def __init__(self, *, as_function: bool, as_method: bool) -> None:
        self._as_function = as_function
        self._as_method = as_method

    @overload
    def __call__(self, made: Made, /) -> Made: ...
    @overload
    def __call__(self, *names: str, axis: bool = ...) -> Callable[[Made], Made]: ...
    def __call__(self, *arguments: Any, axis: bool = True) -> Any:
        """Offer a function or class, and return it as it is.

        Args:
            arguments: the function itself; or the names that users call it by, of which follows a
                decorator.
            axis: whether users may say `axis` for `dim`; torch refuses it in some functions.
        """
        if arguments and not isinstance(arguments[0], str):
            self._offer(arguments[0], (arguments[0].__name__,), axis)
            return arguments[0]

        def decorator(made: Made) -> Made:
            self._offer(made, arguments or (made.__name__,), axis)
            return made

        return decorator

    def _offer(self, made: Any, names: tuple[str, ...], axis: bool) -> None:
        for adapt in ADAPTERS if axis else ():
            made = adapt(made)
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
