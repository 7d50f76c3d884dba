"""Kernels of a backend for named operations (`mt_tensor.fused`), such as a convolution.

A package that defines an operation may have a kernel of it for a backend that knows nothing of the
operation. It names the module, which is imported at the first lookup of a kernel that is missing.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from importlib import import_module
from typing import Any

_kernels: defaultdict[str, dict[str, Any]] = defaultdict(dict)
_modules: defaultdict[str, list[str]] = defaultdict(list)
"""By the name of the backend: its kernels by operation, and modules that are not imported yet."""

PACKAGES = {"mt_operators", "mt_autodiff", "mt_tensor"}
"""The packages that operations and kernels come from."""

_importing = threading.RLock()


def register_kernels(backend: str, module: str) -> None:
    """Register a module whose `KERNELS` are a backend's kernels by the names of operations."""
    _modules[backend].append(module)
    PACKAGES.add(module.partition(".")[0])


def registered_kernel(backend: str, name: str) -> Any:
    """Return a backend's kernel for an operation, or None."""
    kernels = _kernels[backend]
    if name not in kernels and (modules := _modules[backend]):
        with _importing:  # another thread may be importing
            while name not in kernels and modules:
                kernels.update(import_module(modules[0]).KERNELS)
                del modules[0]
    return kernels.get(name)
