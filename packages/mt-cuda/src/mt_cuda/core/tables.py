"""Tables that extend the core.

The core is complete without entries. Other folders register entries when `mt_cuda.registrations`
imports them; `CudaOps(machine, plain=True)` uses only the kernels of the core. More tables are
defined next to their use: `TABLES` and `HELPERS` of `device.py`, `NAMES` and `SHARED` of
`simulator.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Faster kernels for special cases of a backend's methods, by name. The first argument, `ops`, is
the backend. Each returns None, or False if the method returns nothing, to fall back to the general
kernel:

- `elementwise(ops, call, layout)`: the kernel of a formula that moves 16 bytes at a time, its
  numbers, and how many elements a thread moves at once (`vectors/`);
- `copy(ops, source, out)`: copies that transpose (`transposition.py`);
- `folds_by_rows(ops, kept, folded)`, `plan_rows(ops, fold, grid, length, numbers)`: short rows,
  folded by a part of a block (`rows/`);
- `matmul(ops, a, b, shape)`: products of floats (`matrices/`);
- `random(ops, generator, shape, dtype)`: random numbers drawn on the device (`random_numbers/`);
- `checked_indices(ops, index, size, where, negative)`: indices checked on the device;
  `download(ops, storage, count)` and `synchronize(ops)` raise the errors (`indexing/`);
- `batch_calls(ops)`: a context in which `ops.thread.queue` is an object whose method `takes(call,
  views, values)` delays a call, and whose method `settle()` launches delayed calls (`batching/`);
- `program(ops, calls)`: the calls of a program as one launch (`graphs/`).
"""

GPU: dict[str, Callable[..., Any]] = {}
"""Extensions of the GPU machine. The argument `gpu` is the machine:

- `check(gpu)`, `try_out(gpu)`: raise an error that says why a GPU cannot be used, before and after
  the machine is initialized (`faults/`);
- `error(gpu, action, reason)`: the error for an action that failed in the driver (`faults/`);
- `allocate_again(gpu, size, count, dtype)`: free cached buffers, and allocate again (`memory/`);
- `release(gpu)`: free memory of graphs, before `allocate_again` allocates (`graphs/`);
- `pool(resource)`: a pool of buffers on top of a memory resource (`memory/`);
- `shared_memory(gpu)`: the interface for other libraries to access the memory (`memory/`);
- `load(gpu, kernel)`: a kernel compiled by NVRTC, or loaded from disk (`cubins/`).
"""
