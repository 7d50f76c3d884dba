"""Tables by which folders beside the core extend it.

The core is complete without them. A folder beside it adds an entry when `mt_fast` imports it, and
the core looks the entry up where it is needed. More tables stand where their entries are used:
`FORMS` of `source.py`, `TABLE` and `NAMESPACE` of `lowering.py`, `TEXTS` of `reductions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

COMPILER_OPTIONS: dict[str, Any] = {}
"""Options of `numba.njit` for every kernel that computes (`vectors/`: wider vectors)."""

KEEP: list[Callable[[Any, str, list[str]], Any]] = []
"""Functions of a compiled function, its name and its texts, called before Numba compiles it
(`cache/`: keep machine code on disk)."""

START: list[Callable[[], Any]] = []
"""Functions that are called when a backend is created (`threads/`: start them; `cache/`: check the
folder)."""

THREADS: dict[str, Callable[..., Any]] = {
    "count": numba.get_num_threads,
    "launch": lambda function, *arguments: function(*arguments),
}
"""How parallel loops use Numba's threads: how many a loop may use now, and what calls a function
whose work they share (`threads/`: forked children, several callers)."""

MEMORY: dict[str, Callable[..., Any]] = {"empty": np.empty, "aligned": lambda array: array}
"""What makes a new array of a shape and dtype, and what moves an array to where vectors are read
fastest (`memory/`: large arrays begin at a cache line)."""

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Faster kernels for special cases of a primitive, by its name. Each returns None, or False if the
primitive returns nothing, for the cases that the general kernel must compute:

- `small(formula)`: a function with the same bits for few elements; `call(plan, out, inputs)`: a
  function that calls a kernel with less Python (`small/`);
- `loop(layout, roles, views, inputs)`: a loop over elements that lie apart; `copy(source,
  out, parallel)`: copies by kernels (`transposition/`);
- `update(formula, out, inputs, parallel)`: results that replace inputs (`in_place/`);
- `gather(source, dim, index, parallel)`, `scatter_add(source, dim, index, out, parallel)`: whole
  slices (`indexing/`);
- `reduce(operator, layout, dims, result, parallel_from)`: the function that reduces elements that
  do not lie in rows, or in only a few (`folds/`);
- `matmul(a, b)`: large products of floats (`gemm/`);
- `random(backend, generator, shape, dtype)`: many random numbers (`random_numbers/`).
"""


def jit(**options: Any) -> Callable[[Any], Any]:
    """Return Numba's compiler for a function that computes; division by zero raises nothing."""
    return numba.njit(error_model="numpy", **{**COMPILER_OPTIONS, **options})  # type: ignore[no-any-return]


def kept(dispatcher: Any, name: str, texts: list[str]) -> Any:
    """Return a function compiled by Numba, after all of `KEEP` have been called with it."""
    for keep in KEEP:
        keep(dispatcher, name, texts)
    return dispatcher


def thread_count() -> int:
    """Return how many threads a loop may use now."""
    return THREADS["count"]()  # type: ignore[no-any-return]


def launch(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function whose work threads share."""
    THREADS["launch"](function, *arguments)


def empty(shape: int | tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return a new contiguous array with arbitrary content."""
    return MEMORY["empty"](shape, dtype)  # type: ignore[no-any-return]
