"""Compilation: from kernel text to machine code, on one thread and on all.

A kernel does the units from `lo` to `hi`. On one thread it is called for all of them. The parallel
form is a second, tiny function, which gives each thread an equal share; it is compiled when it is
first needed, for compiling takes a tenth of a second and most tensors are small. Kernels with the
same text are one kernel, and what has been compiled once is kept on disk (`cache.py`).
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
from collections.abc import Callable
from typing import Any

import numba
from numba import njit, prange

from mt_fast.cache import kept
from mt_fast.codegen import Source
from mt_fast.spelling import NAMESPACE

inner = njit(  # type: ignore[call-overload]
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)
"""Compiles a function that only kernels call: without what Python would need to call it."""


def start_threads() -> None:
    """Start Numba's threads, which sleep while they wait for work.

    OpenMP's threads would rather spin, and on a machine with other work to do each parallel loop
    then waits for a thread that has lost its processor: a few microseconds become ten milliseconds.
    The setting is read when the threads start, and is put back for libraries loaded later. Whoever
    has set it keeps their choice.
    """
    chosen = "OMP_WAIT_POLICY" in os.environ
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    numba.get_num_threads()
    if not chosen:
        del os.environ["OMP_WAIT_POLICY"]


def defined(name: str, text: str, namespace: dict[str, Any]) -> Any:
    """Run the text of a function definition, and let tracebacks show it."""
    namespace["__name__"] = __name__  # where Numba finds the names of a kernel that it has loaded
    filename = f"<mt_fast {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


class Kernel:
    """A compiled kernel.

    Attributes:
        source: its text.
        serial: the compiled function; called as `serial(lo, hi, *args)`.
    """

    __slots__ = ("_parallel", "serial", "source")

    def __init__(self, source: Source, function: Callable[..., None]) -> None:
        self.source = source
        compiled = njit(error_model="numpy", fastmath=set(source.fastmath) or False)(function)
        self.serial: Callable[..., None] = kept(compiled, source.name, [source.text])
        self._parallel: Callable[..., None] | None = None

    @classmethod
    def of(cls, function: Callable[..., None]) -> Kernel:
        """Return a kernel whose text is that of a Python function, `function(lo, hi, ...)`."""
        arguments = tuple(inspect.signature(function).parameters)[2:]
        return cls(Source(function.__name__, inspect.getsource(function), arguments), function)

    @property
    def parallel(self) -> Callable[..., None]:
        """The function that shares the units between threads: `parallel(parts, units, *args)`."""
        if self._parallel is None:
            name = f"{self.source.name}_parallel"
            arguments = ", ".join(self.source.arguments)
            text = (
                f"def {name}(parts, units, {arguments}):\n"
                f"    for part in prange(parts):\n"
                f"        lo = units * part // parts\n"
                f"        hi = units * (part + 1) // parts\n"
                f"        kernel(lo, hi, {arguments})\n"
            )
            namespace = {"prange": prange, "kernel": self.serial}
            compiled = njit(parallel=True, error_model="numpy")(defined(name, text, namespace))
            texts = [self.source.text, f"# {sorted(self.source.fastmath)}", text]
            self._parallel = kept(compiled, name, texts)
        return self._parallel

    def run(self, units: int, parallel: bool, *args: Any) -> None:
        """Do all units.

        Args:
            units: how many there are.
            parallel: whether to share them between the threads that Numba may use.
            *args: the arguments of the kernel after `lo` and `hi`.
        """
        threads = numba.get_num_threads() if parallel else 1
        if threads > 1 and units > 1:
            self.parallel(min(threads, units), units, *args)
        else:
            self.serial(0, units, *args)


@functools.cache
def compiled(source: Source) -> Kernel:
    """Return the kernel with this text; Numba compiles it when it is first run."""
    return Kernel(source, defined(source.name, source.text, dict(NAMESPACE)))
