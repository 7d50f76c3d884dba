"""Import the modules outside of the core, so that they register in the core's tables.

The package imports this module when one of its names is first used.
"""

from __future__ import annotations

# ruff: noqa: F401 - importing registers
import mt_cuda.batching.together  # calls of optimizers, launched together
import mt_cuda.bfloat16  # bfloat16 in the simulator
import mt_cuda.compatibility  # Numba CUDA with new versions of NumPy
import mt_cuda.cubins.cache  # machine code by NVRTC, on disk
import mt_cuda.faults.availability  # errors if there is no GPU
import mt_cuda.faults.lasting  # errors of failed kernels
import mt_cuda.graphs.program  # a compiled program as one CUDA graph
import mt_cuda.indexing.checks  # indices checked on the device
import mt_cuda.integers  # quotients, shifts and powers of integers
import mt_cuda.matrices.multiply  # products by cuBLAS, or at the speed of the hardware
import mt_cuda.memory.exhausted  # out of memory
import mt_cuda.memory.reuse  # caching of freed memory
import mt_cuda.memory.sharing  # memory that other libraries access
import mt_cuda.random_numbers.philox  # random numbers drawn on the device
import mt_cuda.rows.folds  # reductions of short rows by part of a block
import mt_cuda.simulation.races  # race detection in the simulator
import mt_cuda.simulation.slices  # slices in the simulator
import mt_cuda.simulation.vectors  # vector accesses in the simulator
import mt_cuda.transposition  # copies that transpose
import mt_cuda.vectors.elementwise  # 16 bytes at a time
from mt_tensor.extending import register_kernels

OPERATIONS = (
    "attention.operation",
    "batching.total_norm",
    "images.conv2d",
    "images.pooling",
    "indexing.embedding",
    "matrices.linear",
    "normalization.batch_norm",
    "normalization.group_norm",
    "normalization.layer_norm",
    "random_numbers.dropout",
    "recurrent.layers",
    "rows.losses",
    "rows.positions",
    "rows.softmax",
    "scans.operations",
    "sequences",
    "sorting.compaction",
    "sorting.searching",
    "sorting.sorting",
)
"""The modules with `KERNELS` for named operations, such as softmax; imported when needed."""

for _module in OPERATIONS:
    register_kernels("cuda", f"mt_cuda.{_module}")
