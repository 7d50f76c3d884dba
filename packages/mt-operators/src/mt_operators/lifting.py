"""Lifting: run an operator's one source on other kinds of values.

An operator's source is a small Python function whose free names (`exp`, `where`, ...) are the
elementary functions. A stage *lifts* it by binding those names anew:

    >>> from mt_operators.elementary import exp
    >>> def gaussian(x):
    ...     return exp(-x * x)
    >>> lifted = lift(gaussian, {"exp": lambda x: f"exp({x})"})
    >>> lifted(2.0)
    'exp(-4.0)'

`lifted` is the same code, run with another `exp`. Functions that the source calls in turn, or
holds in its closure, are lifted with it. Nothing is parsed or copied: a lifted function shares the
code object of its source, so the mathematics cannot drift apart between the stages.
"""

from __future__ import annotations

import builtins
import dis
import itertools
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from mt_operators.elementary import ELEMENTARY
from mt_operators.errors import LiftingError, nearest

NAMED: dict[Callable[..., Any], str] = {}
"""The functions of the operator table and their names: a spelling may replace them whole."""

Spelling = Mapping[str, Callable[..., Any]]
"""How one stage spells the elementary functions: name to function."""


def lift(function: Callable[..., Any], spelling: Spelling) -> Callable[..., Any]:
    """Return `function` with its elementary functions replaced by those of `spelling`.

    Args:
        function: an elementary function, or a Python function written with them.
        spelling: the replacement for each elementary name. It may also name whole operators
            (`sigmoid`), which are then taken instead of being lifted from their source.

    Raises:
        LiftingError: `function` is not made of Python code, or uses an elementary function
            that `spelling` lacks.
    """
    if not isinstance(function, FunctionType):
        raise LiftingError(
            f"cannot lift {function!r}: an operator's source must be a Python function "
            "written with arithmetic, comparisons and the functions of mt_operators.elementary."
        )
    return Lifting(spelling).function(function)


class Lifting:
    """One walk over a function and what it uses; remembers what is lifted already."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.done: dict[int, Callable[..., Any]] = {}

    def function(self, source: FunctionType) -> Callable[..., Any]:
        """Lift one function, each at most once, so that recursive helpers end."""
        name = source.__name__
        if ELEMENTARY.get(name) is source:
            if name not in self.spelling:
                raise LiftingError(
                    f"this spelling has no {name!r}; it spells {', '.join(sorted(self.spelling))}."
                    f"{nearest(name, self.spelling)}"
                )
            return self.spelling[name]
        if id(source) not in self.done:
            namespace: dict[str, Any] = {
                "__builtins__": builtins,
                "__name__": source.__module__,
            }
            lifted = FunctionType(
                source.__code__,
                namespace,
                name,
                source.__defaults__,
                # Cells start empty: a helper may refer to the function it belongs to.
                tuple(CellType() for _ in source.__closure__ or ()),
            )
            self.done[id(source)] = lifted
            self._bind(source, lifted, namespace)
        return self.done[id(source)]

    def _bind(self, source: FunctionType, lifted: FunctionType, namespace: dict[str, Any]) -> None:
        """Give a lifted function what its source finds outside of itself, lifted as well."""
        _refuse_functions_of_modules(source)
        for name in _free_names(source.__code__):
            if name in source.__globals__:
                namespace[name] = self._value(name, source.__globals__[name])
            elif name != "abs" and isinstance(getattr(builtins, name, None), BuiltinFunctionType):
                raise _foreign(name)
        for name, old, new in zip(
            source.__code__.co_freevars,
            source.__closure__ or (),
            lifted.__closure__ or (),
            strict=True,
        ):
            new.cell_contents = self._value(name, old.cell_contents)

    def _value(self, name: str, value: Any) -> Any:
        """Return what a free name is bound to: functions lifted, plain values as they are."""
        if isinstance(value, FunctionType):
            named = NAMED.get(value, "")
            return self.spelling[named] if named in self.spelling else self.function(value)
        if isinstance(value, tuple):
            return tuple(self._value(name, item) for item in value)
        if callable(value) and not isinstance(value, type):
            raise _foreign(name)
        return value


def _refuse_functions_of_modules(source: FunctionType) -> None:
    """Raise LiftingError if a source calls `math.exp`; `math.pi` is fine."""
    modules = {
        name: value
        for name in _free_names(source.__code__)
        if isinstance(value := source.__globals__.get(name), ModuleType)
    }
    for module, attribute in _attributes(source.__code__) if modules else ():
        if module in modules and callable(getattr(modules[module], attribute, None)):
            raise _foreign(f"{module}.{attribute}")


def _foreign(name: str) -> LiftingError:
    return LiftingError(
        f"an operator's source uses {name!r}, which only works on one kind of number: use the "
        "functions of mt_operators.elementary."
    )


def _attributes(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the global names of which `code` reads an attribute, with the attribute."""
    for before, after in itertools.pairwise(dis.get_instructions(code)):
        if before.opname == "LOAD_GLOBAL" and after.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
            yield before.argval, after.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _attributes(constant)


def _free_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that `code` and the functions nested in it may read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _free_names(constant)
