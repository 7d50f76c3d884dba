"""Storage and views: how shape, strides and offset describe one row of memory.

Only the first tensor is copied on this page: every other one is a view of its storage.
"""

from __future__ import annotations

import streamlit as st

import mt_tensor as mt
from mt_tensor.errors import TensorError
from play.showing import plain, show_error, show_numbers, show_svg
from play.views import ViewError, broadcast, describe_position, draw_view, views


def show() -> None:
    """Show views of one tensor, and broadcasting of two."""
    one, two = st.tabs(["One tensor", "Two that broadcast"])
    with one:
        _show_views()
    with two:
        _show_broadcast()


def _show_views() -> None:
    shape, order, index, expanded = st.columns(4)
    asked = (
        shape.text_input("shape", "3, 4"),
        order.text_input("permute", "1, 0", help="order of the dimensions; empty for no change"),
        index.text_input("index", "1:, ::2", help="numbers, slices, ..., None; empty for all"),
        expanded.text_input("broadcast to", "", help="a shape, as in 2, 3, 2; empty for no change"),
    )
    tensor: mt.Tensor | None = None
    code = []
    try:
        for step in views(*asked):
            code.append(step.code)
            tensor = step.tensor
    except (ViewError, TensorError) as error:
        show_error(error)
    if tensor is not None:
        st.code("\n".join(code), language="python", wrap_lines=True)
        _show_facts(tensor)
        _show_element(tensor, "view")


def _show_facts(tensor: mt.Tensor) -> None:
    show_numbers(
        {
            "shape": str(tuple(tensor.shape)),
            "strides": str(tensor.stride()),
            "offset": str(tensor.storage_offset()),
            "contiguous": "yes" if tensor.is_contiguous() else "no",
        }
    )


def _show_element(tensor: mt.Tensor, key: str) -> None:
    """Let the user select an element, and show its position."""
    sizes = tuple(tensor.shape)
    if 0 in sizes:
        st.info("The view has no elements.")
        show_svg(draw_view(tensor))
        return
    chosen = []
    columns = st.columns(max(len(sizes), 3))
    for column, (dim, size) in zip(columns, enumerate(sizes), strict=False):
        name = f"index in dimension {dim}"
        if size == 1:
            column.text_input(name, "0", disabled=True, key=f"{key}.{sizes}.{dim}")
            chosen.append(0)
        else:
            value = column.slider(name, 0, size - 1, key=f"{key}.{sizes}.{dim}")
            chosen.append(int(value))
    sum_of, position = describe_position(tensor, chosen)
    index, element = ", ".join(map(str, chosen)) or "()", tensor[tuple(chosen)].item()
    st.markdown(
        f"`x[{index}]` is at position {plain(sum_of)} = **{position}** of the storage, and has the "
        f"value **{element}**."
    )
    show_svg(draw_view(tensor, position))
    st.caption(
        "The top row is the storage; @ is a position in it. Cells of one color are one row of the "
        "view, and the arrows are the strides: the distance to the next element of a dimension."
    )


def _show_broadcast() -> None:
    first, second = st.columns(2)
    shapes = first.text_input("first shape", "3, 1"), second.text_input("second shape", "4")
    try:
        both = broadcast(*shapes)
    except (ViewError, TensorError) as error:
        show_error(error)
        return
    sizes = tuple(both[0].shape)
    show_numbers({"common shape": str(sizes)})
    if 0 in sizes:
        st.info("The result has no elements.")
        return
    chosen = []
    columns = st.columns(max(len(sizes), 3))
    for column, (dim, size) in zip(columns, enumerate(sizes), strict=False):
        value = 0
        if size > 1:
            value = column.slider(f"dimension {dim}", 0, size - 1, key=f"both.{sizes}.{dim}")
        chosen.append(int(value))
    for place, name, tensor in zip(st.columns(2), ("first", "second"), both, strict=True):
        sum_of, position = describe_position(tensor, chosen)
        with place:
            st.markdown(f"The {name} is read at {plain(sum_of)} = **{position}**.")
            show_svg(draw_view(tensor, position))
    st.caption("A size of 1 that is broadcast has stride 0: the same element is read again.")
