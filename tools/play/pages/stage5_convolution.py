"""A convolution sliding: a kernel that you write goes over an image, and sums products on its way.

The output is that of `mt_nn.functional.conv2d`.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from mt_nn import InputError
from mt_tensor.extending import Array
from play.expressions import ExpressionError
from play.lenet import validation
from play.showing import refuse, show_svg
from play.sliding import Sliding, draw_products, draw_sliding, read_kernel, sum_of

KERNELS = {
    "upright edges": "1 0 -1\n1 0 -1\n1 0 -1",
    "level edges": "1 1 1\n0 0 0\n-1 -1 -1",
    "blur": ".1 .1 .1\n.1 .2 .1\n.1 .1 .1",
    "sharpen": "0 -1 0\n-1 5 -1\n0 -1 0",
    "nothing": "0 0 0\n0 1 0\n0 0 0",
}
IMAGES = ("digit", "upright edge", "checkerboard", "one point")
SECONDS = 0.5
"""How long the kernel stays where it is while it slides by itself."""

POSITION = "convolution.position"


def show() -> None:
    """Show what the reader can set, and the convolution, or say why there is none."""
    name = str(st.pills("kernels", list(KERNELS), default=next(iter(KERNELS))))
    left, right = st.columns(2, gap="large")
    with left:
        written = st.text_area(
            "kernel", KERNELS.get(name, "1"), height=130, key=f"kernel.{name}", max_chars=400
        )
    with right:
        image = _image(str(st.selectbox("image", IMAGES)))
        first, second = st.columns(2)
        stride = int(first.number_input("stride", 1, 4, 1))
        padding = int(second.number_input("padding", 0, 2, 0))
    try:
        sliding = Sliding(image, read_kernel(written), stride, padding)
        output = sliding.output()
    except (ExpressionError, InputError) as error:
        refuse(error)
        return
    # Nothing below runs the whole page again: Streamlit's browser side loses its place when a
    # fragment with a timer does so.
    playing = st.toggle("Play")
    st.fragment(_show, run_every=SECONDS if playing else None)(sliding, output, playing)


def _image(name: str) -> Array:
    """Return an image of 8 x 8 points from 0 to 16, as float32."""
    rows, columns = np.indices((8, 8))
    match name:
        case "upright edge":
            image = np.where(columns < 4, 0, 16)
        case "checkerboard":
            image = 16 * ((rows + columns) % 2)
        case "one point":
            image = np.where((rows == 3) & (columns == 4), 16, 0)
        case _:
            image = np.rint(16 * validation()[0][0, 0])
    return image.astype(np.float32)


def _show(sliding: Sliding, output: Array, playing: bool) -> None:
    """Show the kernel where it is; while it plays, move it on first, from the last to the first."""
    last = output.size - 1
    at = min(int(st.session_state.get(POSITION, 0)), last)
    st.session_state[POSITION] = at = (at + playing) % output.size
    back, on = st.columns(2)
    back.button("Back", on_click=_move, args=(-1, last), disabled=at == 0, width="stretch")
    on.button("Next", on_click=_move, args=(1, last), disabled=at == last, width="stretch")
    if last:
        at = int(st.slider("position", 0, last, key=POSITION))
    show_svg(draw_sliding(sliding, output, at), fits=True)
    show_svg(draw_products(sliding, at), fits=True)
    row, column = sliding.place(at)
    st.markdown("**The sum of the products**")
    st.code(sum_of(sliding.products(at)), language=None, wrap_lines=True)
    st.caption(f"`conv2d` gives {output[row, column]:.6g} there.")


def _move(by: int, last: int) -> None:
    """Go on by a position, or back."""
    st.session_state[POSITION] = min(max(st.session_state.get(POSITION, 0) + by, 0), last)
