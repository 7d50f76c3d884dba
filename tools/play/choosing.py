"""Input widgets for an operation and the sizes of its arguments."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mt_operators import OPERATORS
from play.comparison import DTYPES, PRODUCT, REDUCTIONS, Operation
from play.inputs import InputError

MOST_ELEMENTS = 2**20
"""The maximum number of elements of a tensor."""

LONGEST_SIDE = 512
"""The maximum number of rows and columns of a factor in a matrix product."""


def choose_operation(rows: int, columns: int, factors: tuple[int, int, int]) -> Operation:
    """Return the operation that the user selected; further arguments of an operator are one row.

    Args:
        rows: the initial number of rows.
        columns: the initial number of columns.
        factors: the initial sizes of a matrix product: rows of a, columns of a, columns of b.

    Raises:
        InputError: a tensor is too large.
    """
    names = [*OPERATORS, *REDUCTIONS, PRODUCT]
    first, second, *places = st.columns(5)
    name = str(first.selectbox("operation", names, index=names.index("tanh")))
    dtype = str(second.selectbox("dtype", DTYPES))
    if name == PRODUCT:
        labels = ("rows of a", "columns of a", "columns of b")
        n, m, k = (
            _size(place, label, size, LONGEST_SIDE)
            for place, label, size in zip(places, labels, factors, strict=True)
        )
        return Operation(name, ((n, m), (m, k)), dtype)
    height = _size(places[0], "rows", rows, MOST_ELEMENTS)
    width = _size(places[1], "columns", columns, MOST_ELEMENTS)
    if height * width > MOST_ELEMENTS:
        raise InputError(f"a tensor may have at most {MOST_ELEMENTS:,} elements.")
    shape = height, width
    if name in REDUCTIONS:
        over = places[2].selectbox("over the dimension", ("last", "first"))
        return Operation(name, (shape,), dtype, 0 if over == "first" else -1)
    rows_of_others = [(1, width)] * (OPERATORS[name].arity - 1)
    return Operation(name, (shape, *rows_of_others), dtype)


def _size(place: Any, label: str, first: int, most: int) -> int:
    return int(place.number_input(label, 1, most, min(first, most)))
