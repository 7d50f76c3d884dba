"""Kernels for named operations (`mt_tensor.fused`), by the backend that they are for.

The part about backends begins with a small dictionary, which a method of the contract,
`TensorBackend.kernel`, looks into. No operation of the lesson needs it: skip it at first. A package
that defines an operation, such as a convolution, may have a kernel for it that suits a backend,
which knows nothing of the operation. The package says in which module its kernels are, and that is
imported when the backend is first asked for one that it lacks.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from importlib import import_module
from typing import Any

_kernels: defaultdict[str, dict[str, Any]] = defaultdict(dict)
_modules: defaultdict[str, list[str]] = defaultdict(list)
"""By the name of the backend: its kernels by operation, and the modules that may have more."""

PACKAGES = {"mt_operators", "mt_autodiff", "mt_tensor"}
"""The packages that operations come from: these, and those that give kernels."""

_importing = threading.RLock()


def register_kernels(backend: str, module: str) -> None:
    """Give kernels to a backend.

    Args:
        backend: its name.
        module: what holds them, as `KERNELS`, by the names of their operations.
    """
    _modules[backend].append(module)
    PACKAGES.add(module.partition(".")[0])


def registered_kernel(backend: str, name: str) -> Any:
    """Return the kernel for an operation that has been given to a backend, or None."""
    kernels = _kernels[backend]
    if name not in kernels and (modules := _modules[backend]):
        with _importing:  # which another thread may have begun
            while name not in kernels and modules:
                kernels.update(import_module(modules[0]).KERNELS)
                del modules[0]
    return kernels.get(name)
