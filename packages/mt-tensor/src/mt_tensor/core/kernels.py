"""A registry of kernels for named operations (`mt_tensor.fused`), such as convolution.

A package may provide kernels for a backend of another package. It registers the name of a module,
which is imported at the first lookup of a kernel that is not loaded.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from importlib import import_module
from typing import Any

from mt_tensor.core.plans import drop_plans

_kernels: defaultdict[str, dict[str, Any]] = defaultdict(dict)
_modules: defaultdict[str, list[str]] = defaultdict(list)
"""For each backend: its kernels by operation, and the modules that are not imported yet."""

PACKAGES = {"mt_operators", "mt_autodiff", "mt_tensor"}
"""The packages that define operations and kernels."""

_importing = threading.RLock()


def register_kernels(backend: str, module: str) -> None:
    """Register a module whose dictionary `KERNELS` maps names of operations to kernels."""
    _modules[backend].append(module)
    PACKAGES.add(module.partition(".")[0])
    drop_plans()


def registered_kernel(backend: str, name: str) -> Any:
    """Return a backend's kernel for an operation, or None."""
    kernels = _kernels[backend]
    if name not in kernels and (modules := _modules[backend]):
        with _importing:  # another thread may be importing
            while name not in kernels and modules:
                kernels.update(import_module(modules[0]).KERNELS)
                del modules[0]
    return kernels.get(name)
