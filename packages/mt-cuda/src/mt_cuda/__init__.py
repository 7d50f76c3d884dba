"""Stage 4: the same operators as GPU kernels.

`import mt_cuda` is fast: it does not look for a GPU or import a compiler. Select the backend by
name, with `use_backend("cuda")`. The functions here show and compile its kernels.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mt_cuda.core.backend import CudaOps, create_backend
    from mt_cuda.core.errors import (
        BarrierError,
        DeviceLostError,
        KernelError,
        OutOfBoundsError,
        OutOfMemoryError,
        RaceError,
        SimulationError,
    )
    from mt_cuda.core.simulator import Simulator
    from mt_cuda.inspection.kernels import compile_cubin, compile_ptx, source

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

_MODULES = {
    "CudaOps": "core.backend",
    "create_backend": "core.backend",
    "compile_cubin": "inspection.kernels",
    "compile_ptx": "inspection.kernels",
    "source": "inspection.kernels",
    "Simulator": "core.simulator",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use, after the extensions of the core have been registered."""
    if name not in __all__:
        raise AttributeError(f"module 'mt_cuda' has no attribute {name!r}")
    if find_spec("mt_cuda.registrations") is not None:
        import_module("mt_cuda.registrations")
    return getattr(import_module(f"mt_cuda.{_MODULES.get(name, 'core.errors')}"), name)
