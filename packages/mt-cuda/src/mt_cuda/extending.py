"""What machines beyond this package are made with: the border of this stage.

A machine runs kernels: it has memory, compiles the text of a kernel, and launches it. `CudaOps` on
such a machine is a backend. `to_c` writes a kernel as C, for compilers that read it. A `Recorder`
is a machine that writes down what a backend asks of it.
"""

# Kernels as text, and what can go wrong with them.
from mt_cuda import CudaOps as CudaOps
from mt_cuda.c.translation import to_c as to_c
from mt_cuda.core.errors import KernelError as KernelError, OutOfMemoryError as OutOfMemoryError
from mt_cuda.core.kernel import (
    Kernel as Kernel,
    Parameter as Parameter,
    define as define,
    numbers as numbers,
    operand as operand,
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
