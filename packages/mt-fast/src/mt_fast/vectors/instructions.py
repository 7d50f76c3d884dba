"""Emit vector instructions, for loops that LLVM does not vectorize well by itself.

LLVM vectorizes a loop along one dimension. A product of matrices is fast only if a whole tile of
results stays in registers while its sums grow, which has to be written explicitly: `Vectors` emits
LLVM instructions on vectors as wide as the processor's registers, and `instruction` turns them into
a function for kernels. They are correct on every processor; the width and number of its registers
(`processor.py`) affect only the speed.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.vectors.processor import VECTOR_BYTES

INDEX = ir.IntType(64)
"""The type of positions and counts."""

_LANE = ir.IntType(32)


def index(value: int) -> Any:
    """Return a constant position or count."""
    return ir.Constant(INDEX, value)


class Vectors:
    """Emit instructions on vectors of one floating-point type.

    Attributes:
        builder: emits LLVM's other instructions.
        lanes: the number of elements of a vector.
        zero: a vector of zeros.
    """

    def __init__(self, builder: Any, kind: Any) -> None:
        """Create an emitter for elements of the Numba type `kind`."""
        bits = kind.bitwidth
        self.builder = builder
        self.lanes = 8 * VECTOR_BYTES // bits
        self._element = ir.FloatType() if bits == 32 else ir.DoubleType()
        self._type = ir.VectorType(self._element, self.lanes)
        self.zero = ir.Constant(self._type, [0.0] * self.lanes)
        self._suffix = f"v{self.lanes}f{bits}"

    def load(self, pointer: Any, active: Any = None) -> Any:
        """Return the vector of elements at a pointer, which may be integers.

        Args:
            pointer: the address of the first element.
            active: the number of elements to read, if not all; the others are 0.
        """
        kind, size, suffix = self._elements_at(pointer)
        if active is not None:
            zeros = ir.Constant(kind, None)
            arguments = [self._at(pointer), ir.Constant(_LANE, size), self._first(active), zeros]
            return self._call(f"llvm.masked.load.{suffix}", kind, arguments)
        loaded = self.builder.load(self._at(pointer))
        loaded.align = size
        return loaded

    def store(self, vector: Any, pointer: Any, active: Any = None) -> None:
        """Write a vector to memory at a pointer, or only its first `active` elements."""
        _, size, suffix = self._elements_at(pointer)
        if active is not None:
            arguments = [vector, self._at(pointer), ir.Constant(_LANE, size), self._first(active)]
            self._call(f"llvm.masked.store.{suffix}", ir.VoidType(), arguments)
        else:
            self.builder.store(vector, self._at(pointer)).align = size

    def repeated(self, pointer: Any) -> Any:
        """Return a vector with the element at a pointer in every lane."""
        return self._repeated(self.builder.load(pointer), self._type)

    def every_second(self, first: Any, second: Any, start: int = 0) -> Any:
        """Return every second element, from 0 or 1 on, of two consecutive vectors."""
        kind = ir.VectorType(_LANE, self.lanes)
        mask = ir.Constant(kind, list(range(start, 2 * self.lanes, 2)))
        return self.builder.shuffle_vector(first, second, mask)

    def interleaved(self, first: Any, second: Any) -> tuple[Any, Any]:
        """Return two vectors whose elements alternate between both: undoes `every_second`."""
        lanes = [lane for i in range(self.lanes) for lane in (i, self.lanes + i)]
        kind = ir.VectorType(_LANE, self.lanes)
        halves = lanes[: self.lanes], lanes[self.lanes :]
        low, high = (
            self.builder.shuffle_vector(first, second, ir.Constant(kind, half)) for half in halves
        )
        return low, high

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """Return `x * y + z`, rounded once if the processor supports it."""
        return self._call(f"llvm.fmuladd.{self._suffix}", self._type, [x, y, z])

    def totals(self, vectors: Sequence[Any]) -> Any:
        """Return a vector that starts with the sums of the elements of some vectors.

        Their number is a power of 2, at most the number of elements of a vector.
        """
        for _ in range(self.lanes.bit_length() - 1):  # each step halves the number of terms
            if len(vectors) == 1:
                vectors = [*vectors, *vectors]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._sums_of_pairs(*pair) for pair in pairs]
        return vectors[0]

    def _sums_of_pairs(self, first: Any, second: Any) -> Any:
        """Return the sums of adjacent elements, first of one vector and then of the other."""
        even, odd = (self.every_second(first, second, start) for start in range(2))
        return self.builder.fadd(even, odd)

    def variable(self, vector: Any) -> Any:
        """Return a pointer to a vector, which LLVM keeps in a register if it can."""
        pointer = self.variables(1)
        self.builder.store(vector, pointer)
        return pointer

    def variables(self, count: int) -> Any:
        """Return a pointer to memory for vectors."""
        return cgutils.alloca_once(self.builder, self._type, size=count)  # type: ignore[no-untyped-call]

    def opaque(self, value: Any) -> Any:
        """Return a value of type `INDEX` whose computation is hidden from LLVM.

        Otherwise LLVM would replace `x[i]` and `y[i]` in a loop by pointers that it increments in
        both arrays, and for a tile of many rows these additions would take a fraction of the time
        of the multiplications.
        """
        kind = ir.FunctionType(INDEX, [INDEX])
        return self.builder.asm(kind, "", "=r,0", [value], side_effect=False)

    @contextlib.contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """Emit a loop around the instructions emitted inside, and yield its index.

        LLVM does not unroll or vectorize it: two iterations at once need more registers than exist.
        """
        b = self.builder
        before = b.block
        head, body, after = (b.append_basic_block(name) for name in ("head", "body", "after"))
        b.branch(head)
        b.position_at_end(head)
        counter = b.phi(INDEX)
        counter.add_incoming(index(0), before)
        b.cbranch(b.icmp_signed("<", counter, count), body, after)
        b.position_at_end(body)
        yield counter
        counter.add_incoming(b.add(counter, index(1)), b.block)
        b.branch(head).set_metadata("llvm.loop", self._loop_metadata())
        b.position_at_end(after)

    def for_each_vector(self, count: Any, write: Callable[[Any, Any], None]) -> None:
        """Emit the instructions for each vector of `count` adjacent elements.

        Args:
            count: the number of elements.
            write: takes the start of a vector, and None; or if there is less than one vector, 0 and
                the count. The last vector may overlap the one before.
        """
        b, lanes = self.builder, index(self.lanes)
        with b.if_else(b.icmp_signed("<", count, lanes)) as (active, many):
            with active:
                write(index(0), count)
            with many:
                with self.loop(b.udiv(b.sub(count, index(1)), lanes)) as vector:
                    write(b.mul(vector, lanes), None)
                write(b.sub(count, lanes), None)

    def _loop_metadata(self) -> Any:
        """Return the metadata of a loop that is not to be unrolled or vectorized."""
        module = self.builder.module
        false = ir.Constant(ir.IntType(1), 0)
        options = [
            module.add_metadata(["llvm.loop.unroll.disable"]),
            module.add_metadata(["llvm.loop.vectorize.enable", false]),
        ]
        metadata = ir.MDValue(module, options, name=str(len(module.metadata)))
        metadata.operands = (metadata, *options)  # LLVM requires a reference to itself
        return metadata

    def _first(self, count: Any) -> Any:
        """Return the mask of the first `count` elements."""
        kind = ir.VectorType(INDEX, self.lanes)
        lanes = ir.Constant(kind, list(range(self.lanes)))
        return self.builder.icmp_signed("<", lanes, self._repeated(count, kind))

    def _at(self, pointer: Any) -> Any:
        return self.builder.bitcast(pointer, self._elements_at(pointer)[0].as_pointer())

    def _elements_at(self, pointer: Any) -> tuple[Any, int, str]:
        """Return the vector type at a pointer, bytes per element, and the suffix of intrinsics."""
        element = getattr(pointer.type.pointee, "element", pointer.type.pointee)
        if isinstance(element, ir.IntType):
            bits, letter = element.width, "i"
        else:
            bits, letter = (32 if isinstance(element, ir.FloatType) else 64), "f"
        return ir.VectorType(element, self.lanes), bits // 8, f"v{self.lanes}{letter}{bits}.p0"

    def _repeated(self, scalar: Any, kind: Any) -> Any:
        undefined = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(_LANE, 0))
        everywhere = ir.Constant(ir.VectorType(_LANE, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, everywhere)

    def _call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        module = self.builder.module
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = module.globals.get(name) or ir.Function(module, kind, name)
        return self.builder.call(function, arguments)


def instruction(write: Callable[..., None]) -> Any:
    """Return a function for kernels whose instructions `write` emits.

    Its arguments are arrays of one floating-point type, arrays of integers, and integers. `write`
    receives a `Vectors` of the type of the first array, and then, for each argument, a pointer to
    the first element of an array, or an integer of type `INDEX`.
    """

    def typed(_context: Any, *kinds: Any) -> Any:
        arguments = [kind if isinstance(kind, types.Array) else types.int64 for kind in kinds]
        element = next(kind.dtype for kind in kinds if isinstance(kind, types.Array))

        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            operands = [
                context.make_array(kind)(context, builder, value).data
                if isinstance(kind, types.Array)
                else value
                for kind, value in zip(arguments, values, strict=True)
            ]
            write(Vectors(builder, element), *operands)
            return context.get_dummy_value()

        return templates.signature(types.void, *arguments), generate  # type: ignore[no-untyped-call]

    # Numba binds arguments to parameters by this signature.
    typed.__signature__ = inspect.signature(write)  # type: ignore[attr-defined]
    return intrinsic(typed)


# --- Copying between flat arrays -----------------------------------------------------------------


@instruction
def copy(v: Vectors, target: Any, at: Any, source: Any, start: Any, count: Any) -> None:
    """Copy `count` elements from `start` to `at`; the last vector may overlap the one before."""
    b = v.builder
    target, source = b.gep(target, [at]), b.gep(source, [start])

    def move(position: Any, active: Any) -> None:
        v.store(v.load(b.gep(source, [position]), active), b.gep(target, [position]), active)

    v.for_each_vector(count, move)


@instruction
def copy_from_strided(
    v: Vectors, target: Any, at: Any, source: Any, start: Any, step: Any, count: Any, size: Any
) -> None:
    """Copy `count` elements, `step` apart from `start`, to adjacent elements that start at `at`.

    The last vector may be read and written as a whole, even if the count ends within it; but
    nothing is read beyond the `size` of the source.
    """
    b = v.builder
    vectors = b.udiv(b.add(count, index(v.lanes - 1)), index(v.lanes))
    end = b.add(start, b.mul(vectors, index(2 * v.lanes)))
    target, source = b.gep(target, [at]), b.gep(source, [start])
    by_halves = b.and_(b.icmp_signed("==", step, index(2)), b.icmp_signed("<=", end, size))
    with b.if_else(by_halves) as (halves, others):
        with halves, v.loop(vectors) as vector:
            position = b.mul(vector, index(v.lanes))
            first = b.gep(source, [b.mul(position, index(2))])
            second = b.gep(first, [index(v.lanes)])
            v.store(v.every_second(v.load(first), v.load(second)), b.gep(target, [position]))
        with others, v.loop(count) as i:
            b.store(b.load(b.gep(source, [b.mul(i, step)])), b.gep(target, [i]))


@instruction
def copy_to_strided(
    v: Vectors, target: Any, at: Any, step: Any, source: Any, start: Any, count: Any
) -> None:
    """Copy `count` adjacent elements from `start` to positions `step` apart that start at `at`."""
    b = v.builder
    target, source = b.gep(target, [at]), b.gep(source, [start])
    with v.loop(count) as i:
        b.store(b.load(b.gep(source, [i])), b.gep(target, [b.mul(i, step)]))


@instruction
def clear(v: Vectors, target: Any, at: Any, count: Any) -> None:
    """Set `count` adjacent elements from `at` to 0; the last vector may overlap the one before."""
    b = v.builder
    target = b.gep(target, [at])
    v.for_each_vector(
        count, lambda position, active: v.store(v.zero, b.gep(target, [position]), active)
    )


@instruction
def clear_strided(v: Vectors, target: Any, at: Any, step: Any, count: Any) -> None:
    """Set `count` elements that are `step` apart to 0, the first of them at `at`."""
    b = v.builder
    target = b.gep(target, [at])
    with v.loop(count) as i:
        position = b.gep(target, [b.mul(i, step)])
        b.store(ir.Constant(position.type.pointee, 0.0), position)
