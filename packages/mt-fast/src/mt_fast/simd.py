"""Vectors of the processor, for the few loops in which LLVM does not find them by itself.

LLVM vectorises a loop along one dimension. A product of matrices is fast only if a whole tile of
results stays in registers while its sums grow, and that has to be written out: `Vectors` writes
LLVM's instructions on vectors, as wide as the processor's registers. What it offers works on every
processor; the width and the number of registers (`VECTOR_BYTES`, `REGISTERS`) decide only how fast.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

INDEX = ir.IntType(64)
"""The type of positions and counts."""


def _registers() -> tuple[int, int]:
    """Return how many bytes a vector register has here, and how many of them there are."""
    chosen = config.CPU_FEATURES  # type: ignore[attr-defined]
    features = (get_host_cpu_features() if chosen is None else chosen).split(",")  # type: ignore[no-untyped-call]
    if "+avx512f" in features:
        return 64, 32
    if "+avx" in features:
        return 32, 16
    return 16, 32 if "+neon" in features else 16


VECTOR_BYTES, REGISTERS = _registers()


def lanes(itemsize: int) -> int:
    """Return how many elements of that many bytes a vector holds."""
    return VECTOR_BYTES // itemsize


class Vectors:
    """Instructions on vectors of one floating-point type.

    Attributes:
        lanes: how many elements a vector has.
        zero: a vector of zeros.
    """

    def __init__(self, builder: Any, kind: Any) -> None:
        """Write for the elements `kind`, a floating-point type of Numba's."""
        self.builder = builder
        self.lanes = lanes(kind.bitwidth // 8)
        self.element = ir.FloatType() if kind == types.float32 else ir.DoubleType()
        self.type = ir.VectorType(self.element, self.lanes)
        self.zero = ir.Constant(self.type, [0.0] * self.lanes)
        self._mask = ir.VectorType(ir.IntType(1), self.lanes)
        self._suffix = f"v{self.lanes}f{kind.bitwidth}"
        self._aligned = ir.Constant(ir.IntType(32), kind.bitwidth // 8)

    def load(self, pointer: Any) -> Any:
        """Return the elements from a pointer on."""
        loaded = self.builder.load(self._at(pointer))
        loaded.align = self._aligned.constant
        return loaded

    def store(self, vector: Any, pointer: Any) -> None:
        """Write the elements from a pointer on."""
        self.builder.store(vector, self._at(pointer)).align = self._aligned.constant

    def first(self, count: Any) -> Any:
        """Return the mask of the first `count` elements."""
        kind = ir.VectorType(INDEX, self.lanes)
        places = ir.Constant(kind, list(range(self.lanes)))
        return self.builder.icmp_signed("<", places, self._repeated(count, kind))

    def load_masked(self, pointer: Any, mask: Any) -> Any:
        """Return the elements from a pointer on; those that the mask leaves out are 0, unread."""
        arguments = [self._at(pointer), self._aligned, mask, self.zero]
        return self._call(f"llvm.masked.load.{self._suffix}.p0", self.type, arguments)

    def store_masked(self, vector: Any, pointer: Any, mask: Any) -> None:
        """Write the elements that a mask selects."""
        arguments = [vector, self._at(pointer), self._aligned, mask]
        self._call(f"llvm.masked.store.{self._suffix}.p0", ir.VoidType(), arguments)

    def repeated(self, pointer: Any) -> Any:
        """Return a vector that has the element at a pointer in every place."""
        return self._repeated(self.builder.load(pointer), self.type)

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """Return `x * y + z`, rounded once where the processor can."""
        return self._call(f"llvm.fmuladd.{self._suffix}", self.type, [x, y, z])

    def even(self, first: Any, second: Any) -> Any:
        """Return every second of the elements of two vectors."""
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), list(range(0, 2 * self.lanes, 2)))
        return self.builder.shuffle_vector(first, second, places)

    def total(self, vector: Any) -> Any:
        """Return the sum of the elements."""
        zero = ir.Constant(self.element, 0.0)
        function = self._function(
            f"llvm.vector.reduce.fadd.{self._suffix}", self.element, [zero, vector]
        )
        return self.builder.call(function, [zero, vector], fastmath=("reassoc",))

    def _at(self, pointer: Any) -> Any:
        return self.builder.bitcast(pointer, self.type.as_pointer())

    def _repeated(self, scalar: Any, kind: Any) -> Any:
        undefined = ir.Constant(kind, ir.Undefined)
        place = ir.IntType(32)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(place, 0))
        everywhere = ir.Constant(ir.VectorType(place, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, everywhere)

    def _call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        return self.builder.call(self._function(name, result, arguments), arguments)

    def _function(self, name: str, result: Any, arguments: list[Any]) -> Any:
        known = self.builder.module.globals.get(name)
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return known or ir.Function(self.builder.module, kind, name)


@intrinsic
def copy(
    _context: Any,
    target: Any,
    target_at: Any,  # noqa: ARG001 - Numba asks for the types
    source: Any,
    source_at: Any,  # noqa: ARG001
    count: Any,  # noqa: ARG001
) -> Any:
    """Copy `count` elements from a place in a flat array to one in another of that dtype."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        to, at, come_from, start, count = args
        to = context.make_array(target)(context, builder, to).data
        come_from = context.make_array(source)(context, builder, come_from).data
        itemsize = target.dtype.bitwidth // 8
        to, come_from = builder.gep(to, [at]), builder.gep(come_from, [start])
        cgutils.raw_memcpy(builder, to, come_from, count, itemsize)
        return context.get_dummy_value()

    place = types.int64
    return types.void(target, place, source, place, place), generate


def every(step: int) -> Any:
    """Return a function for kernels that copies every `step`-th element, 1 or 2, to a row.

    It copies as many as a vector has, from a place in a flat array to one in another of that dtype:
    `target[at + i] = source[start + i * step]`.
    """

    @intrinsic
    def move(
        _context: Any,
        target: Any,
        at: Any,  # noqa: ARG001 - Numba asks for the types
        source: Any,
        start: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            to, at, come_from, start = args
            v = Vectors(builder, target.dtype)
            to = context.make_array(target)(context, builder, to).data
            come_from = context.make_array(source)(context, builder, come_from).data
            first = builder.gep(come_from, [start])
            found = v.load(first)
            if step == 2:
                found = v.even(found, v.load(builder.gep(first, [ir.Constant(INDEX, v.lanes)])))
            v.store(found, builder.gep(to, [at]))
            return context.get_dummy_value()

        place = types.int64
        return types.void(target, place, source, place), generate

    return move
