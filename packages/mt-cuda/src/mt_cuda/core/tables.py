"""Tables by which folders beside the core extend it.

The core is complete without them. A folder beside it adds an entry when `mt_cuda.registrations`
imports it, and the core looks the entry up where it is needed; `CudaOps(machine, plain=True)` uses
the kernels of the core alone. More tables stand where their entries are used: `TABLES` and
`HELPERS` of `device.py`, `NAMES` and `SHARED` of `simulator.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPECIAL_CASES: dict[str, Callable[..., Any]] = {}
"""Faster kernels for special cases of what a backend does, by name. The first argument, `ops`, is
the backend. Each returns None, or False if the method returns nothing, for the cases that the
general kernel must compute:

- `elementwise(ops, call, layout)`: the kernel of a formula that moves 16 bytes at a time, its
  numbers, and how many elements a thread moves at once (`vectors/`);
- `copy(ops, source, out)`: copies in which rows become columns (`transposition.py`);
- `folds_by_rows(kept, folded)`, `plan_rows(ops, fold, grid, length, numbers)`: short rows, folded
  by a part of a block (`rows/`);
- `matmul(ops, a, b, shape)`: products of floats (`matrices/`);
- `random(ops, generator, shape, dtype)`: random numbers drawn on the device (`random_numbers/`);
- `checked_indices(ops, index, size, where, negative)`: indices checked on the device;
  `download(ops, storage, count)` and `synchronize(ops)` raise what was found (`indexing/`);
- `together(ops)`: a block in which `ops.thread.queue` is an object whose method `takes(call, views,
  values)` delays a call, and whose method `settle()` launches what is delayed (`batching/`).
"""

GPU: dict[str, Callable[..., Any]] = {}
"""What the real machine does better than the core alone. The first argument, `gpu`, is the machine:

- `check(gpu)`, `try_out(gpu)`: raise an error that says why a GPU cannot be used, before the
  machine is set up and after it (`faults/`);
- `error(gpu, action, reason)`: the error of an action that the driver refused (`faults/`);
- `allocate_again(gpu, size, count, dtype)`: a buffer, after others were freed (`memory/`);
- `pool(resource)`: a pool of buffers in front of a memory resource (`memory/`);
- `shared_memory(gpu)`: how other libraries reach the memory (`memory/`);
- `load(gpu, kernel)`: a kernel compiled by NVRTC, or read from disk (`cubins/`).
"""
