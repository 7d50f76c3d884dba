"""Compile kernel source to machine code, for one thread or all.

A kernel processes the work units from `lo` to `hi`; one thread calls it for all of them. The
parallel form is a second, small function, which gives each thread an equal share. It is compiled on
first use, since that takes a few tenths of a second and most tensors are small. It calls the kernel
by address; otherwise LLVM would inline the kernel and compile it again. Kernels with the same text
are compiled once.
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable
from typing import Any

import numba
from numba import _dispatcher, njit, prange, types
from numba.core import cgutils
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.source import Source
from mt_fast.core.tables import call_hooks, jit, launch, thread_count


def defined(name: str, text: str, namespace: dict[str, Any]) -> Any:
    """Execute the source of a function definition, and make it available to tracebacks."""
    namespace["__name__"] = __name__  # where Numba looks up the names of cached kernels
    filename = f"<mt_fast {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


@intrinsic
def call_address(_context: Any, address: Any, *arguments: Any) -> Any:
    """Call a compiled function by address from a kernel: `call_address(address, lo, hi, ...)`.

    A compiled function that calls another by name contains it, and LLVM optimizes it again.
    """

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        kind = context.call_conv.get_function_type(types.none, arguments)
        function = builder.inttoptr(values[0], kind.as_pointer())
        result, error = (
            cgutils.alloca_once(builder, pointer.pointee)  # type: ignore[no-untyped-call]
            for pointer in kind.args[:2]
        )
        unpacked = cgutils.unpack_tuple(builder, values[1])  # type: ignore[no-untyped-call]
        packed = context.get_arg_packer(arguments).as_arguments(builder, unpacked)
        builder.call(function, [result, error, *packed])
        return context.get_dummy_value()

    star_args = types.StarArgTuple.from_types(arguments)  # type: ignore[no-untyped-call]
    return templates.signature(types.none, address, star_args), generate  # type: ignore[no-untyped-call]


class Kernel:
    """A compiled kernel.

    It counts references to arrays only if it allocates some, since all threads would contend for
    the reference count. Arguments stay alive during the call.

    Attributes:
        source: its source.
        serial: the compiled function, called as `serial(lo, hi, *args)`.
    """

    def __init__(
        self, source: Source, function: Callable[..., None], allocates: bool = False
    ) -> None:
        self.source = source
        # Full-width vectors make a memory-bound loop a tenth slower.
        compiler = functools.partial(njit, error_model="numpy") if source.is_memory_bound else jit
        compiled = compiler(fastmath=set(source.fastmath) or False, _nrt=allocates)(function)
        self.serial: Callable[..., None] = call_hooks(compiled, source.name, [source.text])
        self._addresses: dict[bytes, int] = {}

    @classmethod
    def of(cls, function: Callable[..., None], allocates: bool = False) -> Kernel:
        """Return the kernel for a Python function of `lo`, `hi`, ..."""
        arguments = tuple(inspect.signature(function).parameters)[2:]
        source = Source(function.__name__, inspect.getsource(function), arguments)
        return cls(source, function, allocates)

    @functools.cached_property
    def parallel(self) -> Callable[..., None]:
        """The function that distributes the units: `parallel(parts, units, address, *args)`.

        Its variables start with underscores, since arguments may have any other name. `address` is
        the address of the serial function, compiled for arguments of these types.
        """
        name = f"{self.source.name}_parallel"
        arguments = ", ".join(self.source.arguments)
        text = (
            f"def {name}(_parts, _units, _address, {arguments}):\n"
            f"    for _part in prange(_parts):\n"
            f"        lo = _units * _part // _parts\n"
            f"        hi = _units * (_part + 1) // _parts\n"
            f"        call_address(_address, lo, hi, {arguments})\n"
        )
        namespace = {"prange": prange, "call_address": call_address}
        function = njit(parallel=True, error_model="numpy")(defined(name, text, namespace))
        return call_hooks(function, name, [text])  # type: ignore[no-any-return]

    def run(self, units: int, parallel: bool, *args: Any) -> None:
        """Process all units, with `parallel` on all of Numba's threads.

        The remaining arguments are those of the kernel after `lo` and `hi`.
        """
        parts = min(thread_count(), units) if parallel else 1
        if parts == 1:
            self.serial(0, units, *args)
        else:
            launch(self.parallel, parts, units, self.address(args), *args)

    def address(self, args: tuple[Any, ...]) -> int:
        """Return the address of the serial function for arguments of these types."""
        key: bytes = _dispatcher.compute_fingerprint(args)
        if key not in self._addresses:
            serial: Any = self.serial
            signature = (types.int64, types.int64, *map(numba.typeof, args))
            serial.compile(signature)
            overload = serial.overloads[signature]
            name = overload.fndesc.llvm_func_name
            self._addresses[key] = overload.library.get_pointer_to_function(name)
        return self._addresses[key]


@functools.cache
def compiled(source: Source) -> Kernel:
    """Return the cached kernel with this source; Numba compiles it on its first run."""
    return Kernel(source, defined(source.name, source.text, dict(NAMESPACE)))
