"""From kernel text to machine code, on one thread and on all.

A kernel does the units from `lo` to `hi`. On one thread it is called for all of them. The parallel
form is a second, small function, which gives each thread an equal share. It is compiled when it is
first needed, because that takes some tenths of a second and most tensors are small. It calls the
kernel by its address; otherwise LLVM would compile the kernel once more within it. Kernels with the
same text are one kernel.
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

from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.source import Source
from mt_fast.core.tables import jit, kept, launch, thread_count


def defined(name: str, text: str, namespace: dict[str, Any]) -> Any:
    """Run the text of a function definition, and make tracebacks show it."""
    namespace["__name__"] = __name__  # the module in which Numba finds the names of a loaded kernel
    filename = f"<mt_fast {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def by_address(names: Sequence[str]) -> Any:
    """Return a function for kernels that calls a compiled one: `call(address, lo, hi, *names)`.

    If a compiled function called another by name, it would contain it, and LLVM would optimize it
    once more.
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

    It counts references to arrays only if it allocates some: all threads share the count of an
    array, and each would wait for the others, again and again. Arguments live as long as the call.

    Attributes:
        source: its text.
        serial: the compiled function; called as `serial(lo, hi, *args)`.
    """

    __slots__ = ("_addresses", "_parallel", "serial", "source")

    def __init__(
        self, source: Source, function: Callable[..., None], allocates: bool = False
    ) -> None:
        self.source = source
        # Whole vectors make a loop that waits for memory a tenth slower.
        compiler = functools.partial(njit, error_model="numpy") if source.is_memory_bound else jit
        compiled = compiler(fastmath=set(source.fastmath) or False, _nrt=allocates)(function)
        self.serial: Callable[..., None] = kept(compiled, source.name, [source.text])
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

        Its own names begin with underscores, because arguments may have any other. The address is
        that of the serial function, compiled for arguments of these types.
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
            self._parallel = kept(compiled, name, [text])
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
        launch(self.parallel, parts, units, self.address(args), *args)

    def address(self, args: tuple[Any, ...]) -> int:
        """Return the address of the serial function for arguments of these types."""
        key: bytes = _dispatcher.compute_fingerprint(args)
        known = self._addresses.get(key)
        return self._compiled_for(args, key) if known is None else known

    def _compiled_for(self, args: tuple[Any, ...], key: bytes) -> int:
        """Compile the serial function, and cache its address."""
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
