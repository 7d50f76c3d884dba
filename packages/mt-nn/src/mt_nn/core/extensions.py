"""A table of functions that extend the core with less common settings.

The core implements the settings that most networks use. For others, such as soft targets or worker
threads, it looks up a function by name. `@extends("worker threads")` registers a function when its
file is imported, which `import mt_nn` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mt_nn.core.errors import SettingError

F = TypeVar("F", bound=Callable[..., Any])

EXTENSIONS: dict[str, Callable[..., Any]] = {}
"""Extension functions by name.

Checks, which raise clearer errors than the operations that would fail otherwise:

- `convolution`, `pooling`, `windows`: the shapes and settings of these functions;
- `settings of a convolution(layer)`, `check of padding by name(padding, stride)`;
- `a group of an optimizer`, `parameters of an optimizer`, `settings of an optimizer`;
- `settings of a loader(settings)`, `number of samples(dataset, samples, numbers)`.

Settings that the core does not implement:

- `relu in place(x)`, `other dropout(x, shape, p, inplace)`;
- `padding by name(x, padding, kernel_size, stride, dilation)`: return padded images, and the rest
  of the padding; `padding by mode(layer, x)`: return padded images;
- `max pooling(dims, x, ...)`: dilation, `ceil_mode` and `return_indices`;
- `weights and soft targets(scores, target, ...)`: these arguments of `cross_entropy`;
- `assignment of a state dictionary(module, state)`, `extra state(module, saved)`: saving modules;
- `saving with hooks(module, prefix, ...)`, `loading with hooks(module, state, strict, assign)`;
- `loading the state of an optimizer(optimizer, state)`;
- `sums of data sets(datasets)`, `worker threads(loader, items, make)`;
- `samples of a batch(samples)`, `a sample(sample)`: join samples, or convert one, to tensors;
- `state of a loader(loader)`, `resumption of a loader(loader, state)`.
"""


def extends(name: str) -> Callable[[F], F]:
    """Register the decorated function or class under a name."""

    def register(function: F) -> F:
        EXTENSIONS[name] = function
        return function

    return register


def extension(name: str) -> Callable[..., Any]:
    """Return the function registered under a name.

    Raises:
        SettingError: no function is registered, since only the core is installed.
    """
    if name not in EXTENSIONS:
        raise SettingError(f"{name}: only the core of mt-nn is installed. Reinstall mt-nn.")
    return EXTENSIONS[name]


def check(name: str, *values: Any) -> None:
    """Run the argument check registered under a name, if there is one."""
    if name in EXTENSIONS:
        EXTENSIONS[name](*values)
