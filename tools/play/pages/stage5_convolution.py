"""A sliding convolution: a kernel that you write moves over an image, and sums products.

The output is computed by `mt_nn.functional.conv2d`.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from mt_nn import InputError
from mt_tensor.extending import Array
from play.controls import move
from play.expressions import ExpressionError
from play.lenet import validation
from play.showing import show_error, show_svg
from play.sliding import Sliding, draw_products, draw_sliding, read_kernel, sum_of

KERNELS = {
    "vertical edges": "1 0 -1\n1 0 -1\n1 0 -1",
    "horizontal edges": "1 1 1\n0 0 0\n-1 -1 -1",
    "blur": ".1 .1 .1\n.1 .2 .1\n.1 .1 .1",
    "sharpen": "0 -1 0\n-1 5 -1\n0 -1 0",
    "identity": "0 0 0\n0 1 0\n0 0 0",
}
IMAGES = ("digit", "vertical edge", "checkerboard", "one point")
SECONDS = 0.5
"""The time between two positions while playing."""

POSITION = "convolution.position"


def show() -> None:
    """Show the settings and the convolution, or why there is none."""
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
        show_error(error)
        return
    # Nothing below may rerun the whole page: Streamlit's frontend loses its place if a fragment
    # with a timer does so.
    playing = st.toggle("Play")
    st.fragment(_show, run_every=SECONDS if playing else None)(sliding, output, playing)


def _image(name: str) -> Array:
    """Return an image of 8 x 8 points from 0 to 16, as float32."""
    rows, columns = np.indices((8, 8))
    match name:
        case "vertical edge":
            image = np.where(columns < 4, 0, 16)
        case "checkerboard":
            image = 16 * ((rows + columns) % 2)
        case "one point":
            image = np.where((rows == 3) & (columns == 4), 16, 0)
        case _:
            image = np.rint(16 * validation()[0][0, 0])
    return image.astype(np.float32)


def _show(sliding: Sliding, output: Array, playing: bool) -> None:
    """Show the current position of the kernel; while playing, advance it first, cyclically."""
    last = output.size - 1
    at = min(int(st.session_state.get(POSITION, 0)), last)
    st.session_state[POSITION] = at = (at + playing) % output.size
    back, on = st.columns(2)
    back.button("Back", on_click=move, args=(POSITION, -1, last), disabled=at == 0, width="stretch")
    on.button("Next", on_click=move, args=(POSITION, 1, last), disabled=at == last, width="stretch")
    if last:
        at = int(st.slider("position", 0, last, key=POSITION))
    show_svg(draw_sliding(sliding, output, at), fits=True)
    show_svg(draw_products(sliding, at), fits=True)
    row, column = sliding.place(at)
    st.markdown("**The sum of the products**")
    st.code(sum_of(sliding.products(at)), language=None, wrap_lines=True)
    st.caption(f"`conv2d` returns {output[row, column]:.6g} at this position.")
