"""From the text of a kernel to PTX, the assembly language of NVIDIA's GPUs.

The simulator takes a kernel's text as it is; a GPU needs it compiled first. This is the only module
that imports Numba's CUDA. It needs no driver and no GPU, so every kernel can be
compiled and looked at on any machine that has the compiler (`pip install mt-cuda[ptx]`). What is
used of Numba is little: parameters that are pointers and numbers, shared and local arrays,
barriers and atomics.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import math
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import Kernel, Parameter, indented
from mt_tensor.core.dtypes import DTYPES

Capability = tuple[int, int]
"""Compute capability: which instructions a GPU has. 9.0 is Hopper."""

HOPPER: Capability = (9, 0)

NAMES: dict[str, Callable[[], Any]] = {}
"""More names in the text of kernels, with functions that return what they mean to Numba
(`vectors/`)."""

_LOCK = threading.Lock()
_OLD_NAME = "row_stack"
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel in PTX.

    Attributes:
        kernel: what it was made from.
        ptx: the program.
        entry: the name that the kernel has in it.
    """

    kernel: Kernel
    ptx: str
    entry: str


def compile_kernel(kernel: Kernel, capability: Capability = HOPPER) -> Compiled:
    """Compile a kernel.

    Args:
        kernel: the kernel.
        capability: the compute capability of the GPU that shall run it.

    Raises:
        KernelError: Numba CUDA or the compiler is missing, or the kernel does not compile.
    """
    with _LOCK, _old_numpy_names():
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
        raise KernelError(f"kernel {kernel.name}: the compiler made no entry point of it.")
    return Compiled(kernel, text, entry.group(1))


_BFLOAT16 = """\
def float_of_bfloat16(bits):
    return libdevice.int_as_float(int32(uint32(bits) << uint32(16)))

def bfloat16(x):
    wide = float32(x)
    bits = uint32(libdevice.float_as_int(wide))
    if wide != x:  # rounded already, or nan: towards zero instead, and with the last bit set
        bits = uint32(bits - uint32(abs(wide) > abs(x))) | uint32(1)
    rounded = uint32(bits + uint32(0x7FFF) + ((bits >> uint32(16)) & uint32(1)))
    return uint16(rounded >> uint32(16)) if x == x else uint16(0x7FC0)
"""
"""What kernels ask for by these names. Numba's own type would call functions of CUDA's headers."""


class _Numba:
    """Numba CUDA, imported when it is first needed."""

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
        self.names.update({name: make() for name, make in NAMES.items()})

    def type_of(self, parameter: Parameter) -> Any:
        """Return the type of a parameter."""
        named = self.names[parameter.type]
        if parameter.passed == "value":
            return named
        if parameter.passed == "array":
            return self.types.Array(named, 1, "C")
        return self.types.CPointer(named)

    def function(self, kernel: Kernel) -> Callable[..., Any]:
        """Return the kernel as a Python function, for Numba to read."""
        filename, text = f"<kernel {kernel.name}>", kernel.source
        if "bfloat16(" in text:
            head, body = text.split("\n", 1)
            text = "\n".join([head, *indented(_BFLOAT16.splitlines()), body])
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


@contextlib.contextmanager
def _old_numpy_names() -> Iterator[None]:
    """Supply `numpy.row_stack`, which NumPy 2.5 dropped and Numba CUDA still asks for.

    Numba asks when it first compiles. The name is there only meanwhile.
    """
    if hasattr(np, _OLD_NAME):
        yield
        return
    setattr(np, _OLD_NAME, np.vstack)
    try:
        yield
    finally:
        delattr(np, _OLD_NAME)
