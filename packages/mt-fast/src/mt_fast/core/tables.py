"""Tables that extend the core.

The core is complete without entries. Other folders register entries when `mt_fast` imports them.
More tables are defined next to their use: `TABLE` and `NAMESPACE` of `lowering.py`, `TEXTS` of
`reductions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

COMPILER_OPTIONS: dict[str, Any] = {}
"""Options of `numba.njit` for kernels that are not memory-bound (`vectors/`: wider vectors)."""

DISPATCHER_HOOKS: list[Callable[[Any, str, list[str]], Any]] = []
"""Functions called with a Numba dispatcher, its name and its sources before it is compiled
(`cache/`: store machine code on disk)."""

START: list[Callable[[], Any]] = []
"""Functions called when a backend is created (`threads/`: start threads; `cache/`: check the
folder)."""

THREADS: dict[str, Callable[..., Any]] = {
    "count": numba.get_num_threads,
    "launch": lambda function, *arguments: function(*arguments),
}
"""The number of threads that a loop may use now, and the function that calls a parallel function
(`threads/`: support for forked processes and several callers)."""

MEMORY: dict[str, Callable[..., Any]] = {"empty": np.empty, "aligned": lambda array: array}
"""Functions that allocate an array, and that copy an array to aligned memory if necessary
(`memory/`: large arrays start at a cache line)."""

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Faster kernels for special cases of primitives, by name. Each returns None, or False if the
primitive returns nothing, to fall back to the general kernel:

- `small(formula)`: a function with the same results for few elements; `call(plan, out, inputs)`: a
  function that calls a kernel with less overhead (`small/`);
- `copy(source, out, parallel)`: copies by kernels (`transposition/`);
- `update(formula, out, inputs, parallel)`: in-place updates (`in_place/`);
- `gather(source, dim, index, parallel)`, `scatter_add(source, dim, index, out, parallel)`: whole
  slices (`indexing/`);
- `reduce(operator, layout, dims, result, parallel_from)`: a function that reduces elements that
  are not in rows, or few rows (`folds/`);
- `matmul(a, b)`: large products of floats (`gemm/`);
- `random(backend, generator, shape, dtype)`: many random numbers (`random_numbers/`).
"""


def jit(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function; division by zero does not raise an error."""
    return numba.njit(error_model="numpy", **{**COMPILER_OPTIONS, **options})  # type: ignore[no-any-return]


def call_hooks(dispatcher: Any, name: str, texts: list[str]) -> Any:
    """Call the functions of `DISPATCHER_HOOKS` with a Numba dispatcher, and return it."""
    for hook in DISPATCHER_HOOKS:
        hook(dispatcher, name, texts)
    return dispatcher


def thread_count() -> int:
    """Return the number of threads that a loop may use now."""
    return THREADS["count"]()  # type: ignore[no-any-return]


def launch(function: Callable[..., None], *arguments: Any) -> None:
    """Call a parallel function."""
    THREADS["launch"](function, *arguments)


def empty(shape: int | tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return a new uninitialized contiguous array."""
    return MEMORY["empty"](shape, dtype)  # type: ignore[no-any-return]
