"""Compile kernel source to PTX, the assembly language of NVIDIA GPUs.

This is the only module that imports Numba CUDA. It needs no driver and no GPU, so the kernels of
the core can be compiled and inspected on any machine that has the compiler
(`pip install mt-cuda[ptx]`). They use few features of Numba: parameters that are pointers and
numbers, shared and local arrays, barriers and atomics. Other kernels need features that only NVRTC
compiles (`cubins/`).
"""

from __future__ import annotations

import functools
import linecache
import math
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import Kernel, Parameter
from mt_tensor.core.dtypes import DTYPES

Capability = tuple[int, int]
"""Compute capability, the instruction set of a GPU. 9.0 is Hopper."""

HOPPER: Capability = (9, 0)

AROUND: dict[str, Callable[[], AbstractContextManager[None]]] = {"compile": nullcontext}
"""The context manager in which kernels are compiled (`compatibility.py`)."""

_LOCK = threading.Lock()
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel compiled to PTX.

    Attributes:
        kernel: the kernel.
        ptx: the PTX.
        entry: the name of the kernel's entry point.
    """

    kernel: Kernel
    ptx: str
    entry: str


def compile_kernel(kernel: Kernel, capability: Capability = HOPPER) -> Compiled:
    """Compile a kernel.

    Args:
        kernel: the kernel.
        capability: the compute capability of the target GPU.

    Raises:
        KernelError: Numba CUDA or the compiler is missing, or the kernel does not compile.
    """
    with _LOCK, AROUND["compile"]():
        numba = _numba()
        signature = numba.void(*(numba.type_of(p) for p in kernel.parameters))
        try:
            ptx, _ = numba.cuda.compile(
                numba.function(kernel),
                signature,
                cc=capability,
                output="ptx",
                device=False,
                abi="numba",
            )
        except Exception as error:
            raise KernelError(
                f"kernel {kernel.name} does not compile ({type(error).__name__}: {error}).\n"
                f"{kernel.source}"
            ) from error
    text = ptx if isinstance(ptx, str) else ptx.decode()
    entry = _ENTRY.search(text)
    if entry is None:
        raise KernelError(f"kernel {kernel.name}: the compiled code has no entry point.")
    return Compiled(kernel, text, entry.group(1))


class _Numba:
    """Numba CUDA, imported on first use."""

    def __init__(self) -> None:
        from numba import cuda
        from numba.cuda import libdevice, types

        self.cuda = cuda
        self.types: Any = types
        self.void = self.types.void
        self.names: dict[str, Any] = {
            **{n: getattr(types, n) for n in DTYPES if n not in ("bool", "bfloat16")},
            "index32": self.types.uint32,
            "cuda": cuda,
            "math": math,
            "libdevice": libdevice,
            "inf": math.inf,
            "nan": math.nan,
        }

    def type_of(self, parameter: Parameter) -> Any:
        """Return the Numba type of a parameter."""
        named = self.names[parameter.type]
        if parameter.passed == "value":
            return named
        if parameter.passed == "array":
            return self.types.Array(named, 1, "C")
        return self.types.CPointer(named)

    def function(self, kernel: Kernel) -> Callable[..., Any]:
        """Return the kernel as a Python function."""
        filename, text = f"<kernel {kernel.name}>", kernel.source
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        namespace = dict(self.names)
        exec(compile(text, filename, "exec"), namespace)
        function: Callable[..., Any] = namespace[kernel.name]
        return function


@functools.cache
def _numba() -> _Numba:
    try:
        return _Numba()
    except ImportError as error:
        raise KernelError(
            f"kernels are compiled by Numba CUDA, which cannot be imported ({error}). Install it "
            "with its compiler: pip install 'mt-cuda[ptx]'."
        ) from error
