"""A table of functions for what lies beside the core.

The core implements what most programs do. For the rest, such as changes in place of tensors that
share memory, it looks a function up here by name. `@extends("refresh a view")` above a function
registers it when its file is imported, which `import mt_tensor` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

EXTENSIONS: dict[str, Callable[..., Any]] = {}
"""Functions by name. Each is called in one place of the core; the list is for looking names up:

- `shape for users(shape)`: return a shape as an `mt_tensor.Size`;
- `backend of a device(where, own)`: return the backend that an argument `device=` chooses for
  elements that are on the backend `own` now;
- `error of a backend(name, error)`: return an error that says why a backend cannot be used;
- `nested sequences(data, dtype)`: return the numbers of `tensor(data)` and their common dtype;
  sequences may hold arrays and tensors, and integers must be in range;
- `refresh a view(x)`: give a view a node for what it shows since its memory was changed in place;
- `argument under autocast(name, value)`: convert an argument of the operation called `name`;
- `call under autocast(name, function, args, settings)`: call an operation, all of whose arguments
  are converted; see `BLOCKS`;
- `array on the right(x, operator, other)`, `array on the left(...)`: return the result of an
  operator and an operand that is neither tensor nor number, or NotImplemented;
- `operands of 16 bits(operation, args, operands)`: return the result in a wider dtype, for
  `autocast` or for numbers that 16 bits would round, or None;
- `is exact(value, dtype)`: whether a dtype of 16 bits stores a number without rounding;
- `check of integers(x, name, given, other)`: raise if `x` and `other` have no integer as result;
- `fuse in place(function, changed)`: turn a function under `fuse_in_place` into a single pass over
  memory; without it, the operations of the function run one by one;
- `storage by hand(values, shape, strides, offset)`: return the storage of a `TensorData` that is
  made without a backend, checked, and its dtype;
- `recorded gradients(gradients, node, inputs, saved, grad)`: return the gradients of an operator as
  operations that are recorded, to be differentiated in turn;
- `check of a gradient(x, grad)`: raise if `grad` cannot be the gradient of `x`;
- `backward to inputs(x, start, retain_graph, create_graph, inputs)`: add to `grad` of these inputs;
- `call on tape(backend, name, function, arguments, options)`, `operation on tape(name, function,
  *arguments)`, `backward on tape(walk, *arguments)`: call a method of a backend, an operation, or a
  walk back through the graph, which the active tape sees;
- `elementwise on tape(backend, formula, run)`: return `run`, whose calls the active tape sees;
- `part of a gradient(grad, shape, view, settings)`: return the gradient of a tensor of which a view
  shows a part, as something that becomes a tensor later.
"""


def extends(name: str) -> Callable[[F], F]:
    """Return a decorator that registers a function under a name."""

    def register(function: F) -> F:
        EXTENSIONS[name] = function
        return function

    return register


class Counter:
    """How many blocks of a kind are active, in all threads and tasks."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


BLOCKS = Counter()
"""Blocks of `autocast`. While the count is 0, operations convert no argument for it."""

ACTIVE = Counter()
"""Blocks of tapes. While the count is 0, no call looks for one."""
