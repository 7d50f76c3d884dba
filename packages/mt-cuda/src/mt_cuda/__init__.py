"""Stage 4: the same operators as GPU kernels.

`import mt_cuda` is light: it looks for no GPU and imports no compiler. The backend is found by
name, with `use_backend("cuda")`; here are the means to look at its kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mt_cuda.backend import CudaOps
    from mt_cuda.errors import (
        BarrierError,
        DeviceLostError,
        KernelError,
        OutOfBoundsError,
        OutOfMemoryError,
        RaceError,
        SimulationError,
    )
    from mt_cuda.library.backend import create_backend
    from mt_cuda.library.inspection import compile_cubin, compile_ptx, source
    from mt_cuda.simulator import Simulator

__version__ = "0.1.0"

__all__ = [
    "BarrierError",
    "CudaOps",
    "DeviceLostError",
    "KernelError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "RaceError",
    "SimulationError",
    "Simulator",
    "__version__",
    "compile_cubin",
    "compile_ptx",
    "create_backend",
    "source",
]

_HOME = {
    "CudaOps": "backend",
    "create_backend": "library.backend",
    "compile_cubin": "library.inspection",
    "compile_ptx": "library.inspection",
    "source": "library.inspection",
    "Simulator": "simulator",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'mt_cuda' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"mt_cuda.{_HOME.get(name, 'errors')}"), name)
