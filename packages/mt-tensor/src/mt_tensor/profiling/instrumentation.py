"""Putting a function around every operation on tensors, for tools that watch a program run.

Nothing on the way of an operation asks whether somebody watches. To watch, the methods of `Tensor`,
the functions of this package, the kernels of backends and the chain rule of recorded nodes are
replaced, wherever a module or a class has them, those of users included, and are put back
afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from types import FunctionType, ModuleType
from typing import Any

import mt_tensor
from mt_autodiff.core.backpropagation import walk
from mt_tensor.core.elementwise import ElementwiseOperation
from mt_tensor.core.graph import Node
from mt_tensor.core.rows import FUNCTIONS
from mt_tensor.core.tensor import Tensor
from mt_tensor.kernels.fused import FusedKernel
from mt_tensor.pointwise.fusing_in_place import Change
from mt_tensor.recording.functions import Function

Name = Callable[[tuple[Any, ...]], str]
"""What an operation is called, by the arguments of the function that runs it."""

_NO_METHODS_FROM = (
    "mt_tensor.core.accumulation",
    "mt_tensor.recording.aliasing",
    "mt_tensor.recording.parts",
    "mt_tensor.core.tensor",
    "mt_tensor.exchange.printing",
    "mt_tensor.properties",
    "mt_tensor.recording",
)
"""Modules whose methods of `Tensor` are no operations."""

_NO_FUNCTIONS_FROM = (
    "mt_autodiff",
    "mt_tensor.backends",
    "mt_tensor.core.dtypes",
    "mt_tensor.core.registry",
    "mt_tensor.exchange.printing",
    "mt_tensor.core.named",
    "mt_tensor.autograd.gradcheck",
    "mt_tensor.pointwise.fusing",
    "mt_tensor.core.generator",
    "mt_tensor.randomness.state",
)
"""Modules whose public functions are no operations."""


def instrument(
    around: Callable[[Any, Name], Any],
    around_backward: Callable[[Any], Any],
    modules: Iterable[ModuleType] = (),
) -> Callable[[], None]:
    """Replace every function that runs an operation, and return what puts all of them back.

    One operation may run others, whose functions are replaced too.

    Args:
        around: makes a replacement of such a function and of what the operation is called.
        around_backward: makes that of a walk through the graph: what it runs is part of a
            backward.
        modules: whose public functions are operations, beside `mt_tensor` and `mt_tensor.linalg`.
    """
    with ExitStack() as undo:  # of what has been replaced before an error

        def put(owner: Any, name: str, value: Any) -> None:
            undo.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, value)

        for attribute in dir(Tensor):
            method = getattr(Tensor, attribute)
            if isinstance(method, FunctionType) and _is_operation(attribute, method):
                put(Tensor, attribute, around(method, _always(_shown(attribute))))
        for kind, name_of in _CALLED.items():
            put(kind, "__call__", around(kind.__call__, name_of))
        apply = around(Function.apply.__func__, lambda args: args[0].__name__)  # type: ignore[attr-defined]
        put(Function, "apply", classmethod(apply))
        recorded = around(FusedKernel.recorded, lambda args: str(args[1]))
        put(FusedKernel, "recorded", recorded)
        put(Node, "chain_rule", around(Node.chain_rule, lambda args: str(args[0].name)))

        replacements = {
            id(function): around(function, _always(name)) for name, function in _functions(modules)
        }
        replacements[id(walk)] = around_backward(walk)
        for name, function in list(FUNCTIONS.items()):
            replacement = replacements.setdefault(id(function), around(function, _always(name)))
            undo.callback(FUNCTIONS.__setitem__, name, function)
            FUNCTIONS[name] = replacement
        for owner, name, value in _places():
            function = value.__func__ if type(value) is staticmethod else value
            if id(function) in replacements:  # values are not asked what they are: some answer
                new = replacements[id(function)]
                put(owner, name, new if function is value else staticmethod(new))
        return undo.pop_all().close


_CALLED: dict[Any, Name] = {
    ElementwiseOperation: lambda args: args[0].operator.name,
    Change: lambda args: args[0].formula.name,
}
"""Classes whose instances are operations, called like functions."""


def _functions(modules: Iterable[ModuleType]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions that compute with tensors, with their names."""
    for module in (mt_tensor, mt_tensor.linalg, *modules):
        for name in module.__all__:
            function = getattr(module, name)
            if isinstance(function, FunctionType) and not function.__module__.startswith(
                _NO_FUNCTIONS_FROM
            ):
                yield name, function


def _places() -> Iterator[tuple[Any, str, Any]]:
    """Yield what modules hold and the static methods of their classes: owner, name and value."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                yield module, name, value
                if issubclass(type(value), type):
                    for attribute, method in list(vars(value).items()):
                        if type(method) is staticmethod:
                            yield value, attribute, method


def _is_operation(attribute: str, method: FunctionType) -> bool:
    """Whether a method of this name may compute: a public one, or an operator of Python's."""
    if attribute.startswith("_") and not attribute.startswith("__"):
        return False
    return attribute not in ("__hash__", "__bool__") and not method.__module__.startswith(
        _NO_METHODS_FROM
    )


def _shown(attribute: str) -> str:
    """Return what to call a method: `x - 1` and `1 - x` are sub, `x -= 1` is sub_."""
    if not attribute.startswith("__"):
        return attribute
    forward = f"__{attribute.removeprefix('__r')}"  # of __rsub__, __sub__
    method: Any = vars(Tensor).get(forward, vars(Tensor)[attribute])
    name: str = method.__name__
    return name.strip("_") if name.startswith("__") else name


def _always(name: str) -> Name:
    return lambda _: name
