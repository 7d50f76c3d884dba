"""Stage 3: the same operators, compiled to parallel SIMD loops.

The backend `fast` is found by name (`MT_BACKEND=fast`, `use_backend("fast")`, `backend="fast"`);
nothing here needs to be imported to use it. `source` shows what it compiles, `cache_folder` says
where that is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mt_fast.core import tables as additions

F = TypeVar("F", bound=Callable[..., Any])

__version__ = "0.1.0"

additions.FUNCTIONS.append("mt_fast.vector_math.operators")
additions.KERNELS.append("mt_fast.fused")

__all__ = ["__version__", "cache_folder", "fuse", "source"]


def fuse(function: F) -> F:
    """Return a function of tensors as one loop forward and one backward: `mt_tensor.fuse`."""
    from mt_tensor import fuse

    return fuse(function)


def cache_folder() -> Path | None:
    """Return the folder where compiled kernels are kept from process to process; None if nowhere.

    It is what the environment variable `MT_FAST_CACHE` names, else a folder for this package where
    the user's caches are. With `MT_FAST_CACHE=off`, nothing is kept. The folder may be deleted at
    any time. Nothing is read from one that other users may write to.

    Raises:
        BackendUnavailableError: the one chosen is in the home of a user whom nobody knows.
    """
    from mt_fast.cache.kernels import FOLDER

    return FOLDER.path()


def source(
    operation: str | Callable[..., Any],
    *,
    gradient: tuple[bool, ...] | None = None,
    dtype: str = "float32",
    layout: str = "flat",
    repeats: tuple[bool, ...] | None = None,
) -> str:
    """Return the text of the kernel that the backend compiles for an operator.

    Args:
        operation: the operator's name in the table, or a function made by `mt_tensor.fuse`.
        gradient: for the fused backward, which arguments want a gradient; None for the value.
        dtype: the element type of the arguments.
        layout: the form of the loop, after how the tensors lie: `"flat"` for contiguous tensors,
            `"rows"` for contiguous rows, `"transposed"` for rows too, but of which the first
            argument's are columns; `"fold"` and `"columns"` for the reduction over the last and
            the first dimension, of operators that reduce.
        repeats: for each argument, whether it stays at one element all along a row, as one that is
            broadcast does; None if each has all of its elements.

    Raises:
        UnknownOperatorError: no operator has this name.
        FusionError: the function was not made by `fuse`.
        DTypeError: there is no such element type.
        ValueError: there is no such layout, or it has no such arguments; or kernels do not
            compute in this dtype.
        TracingError: the operator cannot be compiled.
    """
    from mt_fast.inspection.kernel_source import kernel_source

    return kernel_source(operation, gradient, dtype, layout, repeats)
