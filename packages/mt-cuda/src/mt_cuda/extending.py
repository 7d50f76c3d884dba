"""What machines beyond this package are made with: the border of this stage.

A machine runs kernels: it has memory, compiles the text of a kernel, and launches it. `TunedOps` on
such a machine is a backend. `to_c` writes a kernel as C, for compilers that read it. A `Recorder`
is a machine that writes down what a backend asks of it.
"""

from mt_cuda.errors import KernelError as KernelError
from mt_cuda.kernel import Kernel as Kernel
from mt_cuda.machine import (
    Grid as Grid,
    Machine as Machine,
    Number as Number,
    Size as Size,
)
from mt_cuda.matrix import Tiling as Tiling
from mt_cuda.library.backend import TunedOps as TunedOps
from mt_cuda.library.c.translation import to_c as to_c
from mt_cuda.library.recording import Recorder as Recorder
