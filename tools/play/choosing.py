"""Input widgets for an operation and the shapes of its arguments."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mt_operators import OPERATORS
from mt_tensor.extending import Shape
from play.comparison import DTYPES, MOST_ELEMENTS, PRODUCT, REDUCTIONS, Operation
from play.inputs import as_shape

FIRST = "tanh"


def choose_operation(shape: str, row: str, factors: tuple[str, str]) -> Operation:
    """Return the operation that the user selected.

    Args:
        shape: the initial shape of the first tensor.
        row: the initial shape of further arguments of an operator.
        factors: the initial shapes of a matrix product.

    Raises:
        InputError: a text is not a shape, or the shape is too large.
    """
    names = [*OPERATORS, *REDUCTIONS, PRODUCT]
    left, middle, right = st.columns([2, 2, 1])
    name = str(left.selectbox("operation", names, index=names.index(FIRST)))
    dtype = str(right.selectbox("dtype", DTYPES))
    shapes: tuple[Shape, ...]
    dim = -1
    if name == PRODUCT:
        first, second = middle.columns(2)
        shapes = _shape(first, "shape of a", factors[0]), _shape(second, "shape of b", factors[1])
    elif name in REDUCTIONS:
        first, second = middle.columns(2)
        shapes = (_shape(first, "shape", shape),)
        over = second.selectbox("over the dimension", ("last", "first"))
        dim = 0 if over == "first" else -1
    elif (arity := OPERATORS[name].arity) == 1:
        shapes = (_shape(middle, "shape", shape),)
    else:
        first, second = middle.columns(2)
        sizes, other = _shape(first, "shape", shape), _shape(second, "the others", row)
        shapes = (sizes, *(other for _ in range(arity - 1)))
    return Operation(name, shapes, dtype, dim)


def _shape(place: Any, label: str, first: str) -> Shape:
    return as_shape(place.text_input(label, first, key=f"{label}.{first}"), label, MOST_ELEMENTS)
