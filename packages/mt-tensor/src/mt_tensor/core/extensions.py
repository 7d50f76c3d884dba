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
"""Functions by name:

- `refresh a view(x)`: give a view a node for what it shows since its memory was changed in place;
- `base of a result(x, args)`: take note of the argument of a Function whose memory a result shares;
- `part of a gradient(grad, shape, view, settings)`: return the gradient of a tensor of which a view
  shows a part, as something that becomes a tensor later.
"""


def extends(name: str) -> Callable[[F], F]:
    """Return a decorator that registers a function under a name."""

    def register(function: F) -> F:
        EXTENSIONS[name] = function
        return function

    return register
