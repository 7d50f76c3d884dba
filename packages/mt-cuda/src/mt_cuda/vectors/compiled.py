"""How Numba compiles the functions that move 16 bytes: `load4(x, i)`, `store4(x, i, values)`."""

from __future__ import annotations

import functools
from typing import Any

from mt_cuda.core.compiler import NAMES


@functools.cache
def functions(count: int) -> tuple[Any, Any]:
    """Return the functions that read and write `count` neighbouring elements, 16 bytes, at once.

    Numba has no such access to a pointer; these write the instruction for it. Of elements of less
    than 32 bits, four words are moved, and taken apart by shifts: LLVM would move vectors of them
    in several instructions.
    """
    from llvmlite import ir
    from numba.cuda import types as known
    from numba.cuda.extending import intrinsic

    types: Any = known
    words = min(count, 4)
    each = count // words  # elements of a word
    bits = 128 // count
    word, narrow = ir.IntType(128 // words), ir.IntType(bits)

    def address(context: Any, builder: Any, arguments: Any, element: Any) -> Any:
        element = context.get_data_type(element)
        vector = ir.VectorType(element if each == 1 else word, words)
        at = builder.gep(arguments[0], [arguments[1]])
        return element, vector, builder.bitcast(at, vector.as_pointer())

    def place(lane: int) -> ir.Constant:
        return ir.Constant(ir.IntType(32), lane)

    @intrinsic
    def load(_: Any, pointer: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            element, _, at = address(context, builder, arguments, pointer.dtype)
            values = builder.load(at, align=16)
            result = ir.Constant(ir.ArrayType(element, count), ir.Undefined)
            for lane in range(count):
                value = builder.extract_element(values, place(lane // each))
                if each > 1:
                    value = builder.lshr(value, ir.Constant(word, lane % each * bits))
                    value = builder.bitcast(builder.trunc(value, narrow), element)
                result = builder.insert_value(result, value, lane)
            return result

        return types.UniTuple(pointer.dtype, count)(pointer, index), generate

    @intrinsic
    def store(_: Any, pointer: Any, index: Any, values: Any) -> Any:  # noqa: ARG001 - typed below
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            _, vector, at = address(context, builder, arguments, pointer.dtype)
            lanes = [builder.extract_value(arguments[2], lane) for lane in range(count)]
            if each > 1:
                parts = [builder.zext(builder.bitcast(x, narrow), word) for x in lanes]
                moved = [
                    builder.shl(part, ir.Constant(word, lane % each * bits))
                    for lane, part in enumerate(parts)
                ]
                lanes = [
                    functools.reduce(builder.or_, moved[k : k + each])
                    for k in range(0, count, each)
                ]
            packed = ir.Constant(vector, ir.Undefined)
            for k, value in enumerate(lanes):
                packed = builder.insert_element(packed, value, place(k))
            builder.store(packed, at, align=16)
            return context.get_dummy_value()

        expected = types.UniTuple(pointer.dtype, count)
        return types.void(pointer, index, expected), generate

    return load, store


def _load(count: int) -> Any:
    return functions(count)[0]


def _store(count: int) -> Any:
    return functions(count)[1]


for _count in (2, 4, 8, 16):
    NAMES[f"load{_count}"] = functools.partial(_load, _count)
    NAMES[f"store{_count}"] = functools.partial(_store, _count)
