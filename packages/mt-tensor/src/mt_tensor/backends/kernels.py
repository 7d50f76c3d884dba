"""Kernels that another package gives to a backend.

Whoever defines a named operation (`mt_tensor.fused`) may have a kernel for it that suits a backend,
which knows nothing of the operation. The package says in which module such kernels are, and the
backend takes them when it is first asked for one that it lacks. Neither has to be imported before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mt_tensor.fused import FusedKernel

Kernels: TypeAlias = "dict[str, Callable[..., Any] | FusedKernel]"
"""A backend's own versions of operations, by the name of the operation."""

_modules: dict[str, list[str]] = {}
"""The modules that are to be imported, by the name of the backend."""

_importing = threading.RLock()


def register_kernels(backend: str, module: str) -> None:
    """Give kernels to a backend.

    Args:
        backend: its name.
        module: what holds them, as `KERNELS`, by the names of their operations.
    """
    _modules.setdefault(backend, []).append(module)


def take_kernels(backend: str, kernels: Kernels) -> Kernels:
    """Add to a backend's kernels what has been given to it since, and return them."""
    modules = _modules.get(backend)
    if modules:
        with _importing:  # the other threads wait for the kernels
            while modules:
                kernels.update(import_module(modules[0]).KERNELS)
                del modules[0]
    return kernels
