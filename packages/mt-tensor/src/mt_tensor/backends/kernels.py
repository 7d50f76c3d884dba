"""Kernels for named operations (`mt_tensor.fused`), by the backend that they are for.

Whoever defines an operation may have a kernel for it that suits a backend, which knows nothing of
the operation. The package says in which module the kernels are, and that is imported when the
backend is first asked for one that it lacks. So neither of the two loads the other.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias


class FusedKernel:
    """A backend's own version of a named operation: its value, and the gradient of its tensors.

    Both compute with the elements and record nothing. A gradient that is to be differentiated in
    turn comes from the composed form instead.
    """

    def fits(self, *arguments: Any) -> bool:
        """Whether the kernel can do this case; the composed form does the others."""
        return True

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result, a new tensor, and what `gradient` will want to know beside arguments.

        Args:
            needs: for each argument, whether its gradient will be wanted.
            *arguments: those of the composed form.
        """
        raise NotImplementedError

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Return the gradient for each argument; None where there is none, or none is wanted.

        Each is a new tensor in memory of its own, which becomes `grad` of a leaf as it is; or the
        upstream gradient itself.

        Args:
            grad: the gradient of the result.
            saved: what `value` returned beside the result.
            needs: what `value` was given.
            *arguments: those that `value` was called with.
        """
        raise NotImplementedError


Kernel: TypeAlias = Callable[..., Any] | FusedKernel

_kernels: defaultdict[str, dict[str, Kernel]] = defaultdict(dict)
_modules: defaultdict[str, list[str]] = defaultdict(list)
"""By the name of the backend: its kernels by operation, and the modules that may have more."""

_importing = threading.RLock()


def register_kernels(backend: str, module: str) -> None:
    """Give kernels to a backend.

    Args:
        backend: its name.
        module: what holds them, as `KERNELS`, by the names of their operations.
    """
    _modules[backend].append(module)


def registered_kernel(backend: str, name: str) -> Kernel | None:
    """Return the kernel for an operation that has been given to a backend, or None."""
    kernels = _kernels[backend]
    if name not in kernels and (modules := _modules[backend]):
        with _importing:  # which another thread may have begun
            while name not in kernels and modules:
                kernels.update(import_module(modules[0]).KERNELS)
                del modules[0]
    return kernels.get(name)
