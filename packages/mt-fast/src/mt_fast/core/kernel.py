"""Compilation: from kernel text to machine code, on one thread and on all.

All before comes together in `Kernel`, which the primitives run. A kernel does the units from `lo`
to `hi`. On one thread it is called for all of them. The parallel form is a second, tiny function,
which gives each thread an equal share; it is compiled when it is first needed, for that takes some
tenths of a second and most tensors are small. It calls the kernel by its address, or LLVM would
compile the kernel once more within it. Kernels with the same text are one kernel, and what has been
compiled once is kept on disk (`cache.py`).
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numba
from numba import _dispatcher, njit, prange, types
from numba.core import cgutils
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.cache.kernels import cached
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.source import Source
from mt_fast.threads.workers import share, thread_count
from mt_fast.vectors.compiler import jit, light_jit

_WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = jit(**_WITHOUT_WRAPPERS, _nrt=False)
"""Compiles a function that only kernels call, and that makes no array.

It lacks what Python would need to call it, and does not count references to arrays. The count of an
array is shared by all threads, of which each would wait for the others, again and again.
"""

inlined = jit(**_WITHOUT_WRAPPERS, _nrt=False, forceinline=True)
"""Compiles a function that becomes a part of those that call it.

To hand over arrays, seven numbers each, takes as long as a third of a small tile of a product.
"""

allocating = jit(**_WITHOUT_WRAPPERS)
"""Compiles a function that only kernels call, and that returns a new array."""


def defined(name: str, text: str, namespace: dict[str, Any]) -> Any:
    """Run the text of a function definition, and let tracebacks show it."""
    namespace["__name__"] = __name__  # where Numba finds the names of a kernel that it has loaded
    filename = f"<mt_fast {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def by_address(names: Sequence[str]) -> Any:
    """Return a function for kernels that calls a compiled one: `call(address, lo, hi, *names)`.

    A compiled function that calls another by name contains it, and LLVM works on all of it again.
    """

    def typed(_context: Any, address: Any, *kinds: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention, none = context.call_conv, types.none
            kind = convention.get_function_type(none, signature.args[1:])
            function = builder.inttoptr(values[0], kind.as_pointer())
            result, error = (
                cgutils.alloca_once(builder, pointer.pointee)  # type: ignore[no-untyped-call]
                for pointer in kind.args[:2]
            )
            packer = context.get_arg_packer(signature.args[1:])
            arguments = packer.as_arguments(builder, values[1:])
            builder.call(function, [result, error, *arguments])
            return context.get_dummy_value()

        return templates.signature(types.none, address, *kinds), generate  # type: ignore[no-untyped-call]

    # Numba binds arguments to parameters by the signature, in which each needs a name.
    parameters = ("context", "address", "lo", "hi", *names)
    typed.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in parameters]
    )
    return intrinsic(typed)


class Kernel:
    """A compiled kernel.

    It counts references to arrays only if it makes some itself, see `inner`. An argument lives as
    long as the call.

    Attributes:
        source: its text.
        serial: the compiled function; called as `serial(lo, hi, *args)`.
    """

    __slots__ = ("_addresses", "_parallel", "serial", "source")

    def __init__(
        self, source: Source, function: Callable[..., None], allocates: bool = False
    ) -> None:
        self.source = source
        compiler = light_jit if source.light else jit
        compiled = compiler(fastmath=set(source.fastmath) or False, _nrt=allocates)(function)
        self.serial: Callable[..., None] = cached(compiled, source.name, [source.text])
        self._parallel: Callable[..., None] | None = None
        self._addresses: dict[bytes, int] = {}

    @classmethod
    def of(cls, function: Callable[..., None], allocates: bool = False) -> Kernel:
        """Return a kernel whose text is that of a Python function.

        Args:
            function: called as `function(lo, hi, ...)`.
            allocates: whether it makes arrays.
        """
        arguments = tuple(inspect.signature(function).parameters)[2:]
        source = Source(function.__name__, inspect.getsource(function), arguments)
        return cls(source, function, allocates)

    @property
    def parallel(self) -> Callable[..., None]:
        """The function that shares the units: `parallel(parts, units, address, *args)`.

        Its own names begin with underscores, for arguments may have any other. The address is that
        of the serial function, compiled for arguments of these types.
        """
        if self._parallel is None:
            name = f"{self.source.name}_parallel"
            arguments = ", ".join(self.source.arguments)
            text = (
                f"def {name}(_parts, _units, _address, {arguments}):\n"
                f"    for _part in prange(_parts):\n"
                f"        lo = _units * _part // _parts\n"
                f"        hi = _units * (_part + 1) // _parts\n"
                f"        kernel(_address, lo, hi, {arguments})\n"
            )
            namespace = {"prange": prange, "kernel": by_address(self.source.arguments)}
            compiled = njit(parallel=True, error_model="numpy")(defined(name, text, namespace))
            self._parallel = cached(compiled, name, [text])
        return self._parallel

    def run(self, units: int, parallel: bool, *args: Any) -> None:
        """Do all units.

        Args:
            units: how many there are.
            parallel: whether to share them between the threads that Numba may use.
            *args: the arguments of the kernel after `lo` and `hi`.
        """
        threads = thread_count() if parallel else 1
        if threads == 1 or units == 1:
            self.serial(0, units, *args)
            return
        parts = min(threads, units)
        share(self.parallel, parts, units, self.address(args), *args)

    def address(self, args: tuple[Any, ...]) -> int:
        """Return where the serial function for arguments of these types is."""
        key: bytes = _dispatcher.compute_fingerprint(args)
        known = self._addresses.get(key)
        return self._compiled_for(args, key) if known is None else known

    def _compiled_for(self, args: tuple[Any, ...], key: bytes) -> int:
        """Compile the serial function, and remember where it is."""
        serial: Any = self.serial
        signature = (types.int64, types.int64, *map(numba.typeof, args))
        serial.compile(signature)
        compiled = serial.overloads[signature]
        name = compiled.fndesc.llvm_func_name
        self._addresses[key] = compiled.library.get_pointer_to_function(name)
        return self._addresses[key]


@functools.cache
def compiled(source: Source) -> Kernel:
    """Return the kernel with this text; Numba compiles it when it is first run."""
    return Kernel(source, defined(source.name, source.text, dict(NAMESPACE)))
