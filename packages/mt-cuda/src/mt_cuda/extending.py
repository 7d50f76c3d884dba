"""The interface for machines outside of this package.

A machine runs kernels: it has memory, compiles the source of a kernel, and launches it. `CudaOps`
on such a machine is a backend. `to_c` translates a kernel to C, for other compilers. A `Recorder`
is a machine that records the calls of a backend.
"""

# Kernels as source, and their errors.
from mt_cuda import CudaOps as CudaOps
from mt_cuda.c.translation import to_c as to_c
from mt_cuda.core.errors import KernelError as KernelError, OutOfMemoryError as OutOfMemoryError
from mt_cuda.core.elements import operand as operand
from mt_cuda.core.kernel import (
    Kernel as Kernel,
    Parameter as Parameter,
    define as define,
    numbers as numbers,
)

# Machines.
from mt_cuda.core.machine import (
    Grid as Grid,
    Machine as Machine,
    Number as Number,
    Size as Size,
)
from mt_cuda.core.matrix import Tiling as Tiling
from mt_cuda.recording import Recorder as Recorder
