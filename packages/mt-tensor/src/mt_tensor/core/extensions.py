"""A table of functions that extend the core.

The core implements what most programs need. For the rest, such as in-place changes of tensors that
share memory, it looks up a function by name. `@extends("refresh a view")` registers a function when
its file is imported, which `import mt_tensor` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

EXTENSIONS: dict[str, Callable[..., Any]] = {}
"""Extension functions by name; each is called in one place of the core:

- `shape for users(shape)`: convert a shape to an `mt_tensor.Size`;
- `order of a memory format(x, order)`: return whether the elements are in this order;
- `copy in a memory format(x, order, preserve=True)`: return a copy with the strides of this order,
  which may be that of `x`;
- `options of a new tensor(x, options)`: return the tensor with further options of torch, by name;
- `backend of a device(where, own)`: return the backend for an argument `device=`, given elements
  that are on the backend `own`;
- `error of a backend(name, error)`: return an error that says why a backend cannot be used;
- `nested sequences(data, dtype)`: return the values and the common dtype of `tensor(data)`;
  sequences may hold arrays and tensors, and integers must be in range;
- `refresh a view(x)`: update the node of a view after an in-place change of its memory;
- `argument under autocast(name, value)`: convert an argument of the operation `name`;
- `call under autocast(name, function, args, settings)`: convert all arguments of an operation, and
  call it; see `AUTOCAST_BLOCKS`;
- `result in out(name, function, args, settings)`: call a function, and store its result in the
  tensor `settings["out"]`;
- `array on the right(x, operator, other)`, `array on the left(...)`: return the result of an
  operator for an operand that is neither tensor nor number, or NotImplemented;
- `operands of 16 bits(operation, args, operands)`: return the result in a wider dtype, for
  `autocast` or for numbers that are not exact in 16 bits, or None;
- `is exact(value, dtype)`: return whether a 16-bit dtype stores a number without rounding;
- `check of integers(x, name, given, other)`: raise if the result for `x` and `other` is not an
  integer;
- `fuse in place(function, changed)`: compile a function under `fuse_in_place` to a single pass over
  memory; without it, the operations of the function run one by one;
- `storage by hand(values, shape, strides, offset)`: check the arguments of a `TensorData` that is
  created without a backend, and return its storage and dtype;
- `recorded gradients(gradients, node, inputs, saved, grad)`: compute the gradients of an operator
  with recorded operations, for higher derivatives;
- `check of a gradient(x, grad)`: raise if `grad` cannot be the gradient of `x`;
- `backward to inputs(x, start, retain_graph, create_graph, inputs)`: add to `grad` of these inputs;
- `call on tape(backend, name, function, arguments, options)`, `operation on tape(name, function,
  *arguments)`, `backward on tape(walk, *arguments)`: call a backend's method, an operation, or a
  reverse pass through the graph, under the active tape;
- `elementwise on tape(backend, formula, run)`: wrap `run` so that the active tape sees its calls;
- `gradient of a view(grad, shape, view, settings)`: return the gradient of a tensor, given that of
  a view of it, in a lazy form.
"""


def extends(name: str) -> Callable[[F], F]:
    """Register the decorated function under a name."""

    def register(function: F) -> F:
        EXTENSIONS[name] = function
        return function

    return register


class Counter:
    """The number of active `with` blocks of a kind, in all threads and tasks."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


AUTOCAST_BLOCKS = Counter()
"""Active `autocast` blocks. While the count is 0, operations skip its conversions."""

ACTIVE_TAPES = Counter()
"""Active tapes. While the count is 0, calls do not look for one."""
