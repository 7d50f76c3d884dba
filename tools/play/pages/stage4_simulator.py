"""A block, step by step: its threads, the memory they share, and the barriers where they wait.

The simulator of mt-cuda runs the kernel that the backend has chosen; the page shows what its
threads did, which `play.tracing` has written down.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

import mt_tensor as mt
from mt_cuda import CudaOps, SimulationError
from mt_cuda.core.matrix import Tiling
from mt_cuda.core.simulator import SIZE
from mt_tensor.extending import Array
from play.blocks import block_html, code_html, registers_html, told, waiting
from play.comparison import PRODUCT, REDUCTIONS
from play.expressions import ExpressionError, numbers
from play.showing import refuse
from play.tracing import Launch, TracingSimulator, Turn

DIGITS = "3 1 4 1 5 9 2 6 5 3 5"
MOST = 64
"""How many numbers can be folded."""

TILING = Tiling(side=2, each=2, depth=2)
"""How a matrix product is cut up: into tiles of 4 by 4, each by 4 threads."""


def show() -> None:
    """Show one block at one moment, or say why it cannot run."""
    name = str(st.segmented_control("kernel", [*REDUCTIONS, PRODUCT], default="sum") or "sum")
    try:
        launch, given = _product() if name == PRODUCT else _fold(name)
        _show_launch(launch, given)
    except SimulationError as error:
        refuse(error)
        st.markdown(
            "So says the simulator, which knows who has touched each element of shared memory "
            "since the last barrier. A GPU says nothing: its result is wrong now and then."
        )
    except ExpressionError as error:
        refuse(error)


def _machine(threads: int) -> TracingSimulator:
    """Return a simulator as the reader wants it."""
    left, right = st.columns(2)
    backwards = left.toggle("last thread first", help="A correct kernel cannot tell.")
    without = right.toggle("take the barriers out")
    size = replace(SIZE, threads=threads, parallel=1, large=TILING, small=TILING)
    return TracingSimulator(size, "reversed" if backwards else "forward", barriers=not without)


def _fold(method: str) -> tuple[Launch, dict[str, Array]]:
    """Let one block fold the reader's numbers."""
    left, right = st.columns([3, 2])
    text = left.text_input("numbers", DIGITS)
    threads = int(right.select_slider("threads in a block", (2, 4, 8, 16), 8))
    machine = _machine(threads)
    values = np.array(numbers(text, MOST), np.float32)
    x = mt.tensor(values, backend=CudaOps(machine, plain=True))
    getattr(x, method)(0)
    return machine.launches[-1], {"x": values, "y": np.full(1, np.nan)}


def _product() -> tuple[Launch, dict[str, Array]]:
    """Let blocks multiply two matrices of small whole numbers."""
    columns = st.columns(3)
    rows, inner, across = (
        int(column.slider(label, 1, 8, first))
        for column, label, first in zip(
            columns,
            ("rows of a", "columns of a, rows of b", "columns of b"),
            (4, 3, 5),
            strict=True,
        )
    )
    machine = _machine(TILING.threads)
    a = (np.arange(rows * inner, dtype=np.float32).reshape(rows, inner) * 7) % 10
    b = (np.arange(inner * across, dtype=np.float32).reshape(inner, across) * 3 + 1) % 10
    backend = CudaOps(machine, plain=True)
    mt.tensor(a, backend=backend) @ mt.tensor(b, backend=backend)
    return machine.launches[-1], {"a": a, "b": b, "out": np.full((rows, across), np.nan)}


def _show_launch(launch: Launch, given: dict[str, Array]) -> None:
    """Show one block of a launch after as many turns as the reader wants."""
    blocks = list(dict.fromkeys(turn.block for turn in launch.turns))
    block = blocks[0]
    if len(blocks) > 1:
        chosen = st.segmented_control(
            "block", range(len(blocks)), default=0, key=f"simulator.block.{len(blocks)}"
        )
        block = blocks[chosen or 0]
    turns = launch.of_block(block)
    key = f"simulator.steps.{len(turns)}"
    buttons = st.columns([1, 1, 1, 3])
    for button, label, by in zip(
        buttons, ("Back", "Next thread", "To the barrier"), (-1, 1, launch.threads), strict=False
    ):
        ahead = st.session_state.get(key, 0)
        step = by - ahead % launch.threads if by == launch.threads else by
        button.button(label, on_click=_step, args=(key, step, len(turns)), width="stretch")
    done = int(st.slider("turns done", 0, len(turns), key=key))
    _tell(turns, done, launch.threads)
    st.html(block_html(turns, done, launch.threads, given))
    code, registers = st.columns([3, 2], gap="large")
    with code:
        st.markdown(f"#### The kernel\n`{launch.kernel.name}`")
        st.html(code_html(launch.kernel.source, turns, done, launch.threads))
    with registers:
        st.markdown("#### Registers\nThe variables of each thread, as it left them.")
        st.html(registers_html(turns, done, launch.threads))


def _tell(turns: list[Turn], done: int, threads: int) -> None:
    """Say what has just happened."""
    if not done:
        st.markdown(
            f"{threads} threads run the same text. The simulator lets one after the other go on, "
            "each until it waits at a barrier, `cuda.syncthreads()`; a GPU runs them together."
        )
        return
    st.markdown(told(turns[done - 1], done))
    here = len(waiting(turns, done, threads))
    if here:
        st.info(f"{here} of {threads} threads wait at the barrier: the others have yet to come.")
    elif turns[done - 1].stops is not None:
        st.success(f"All {threads} threads have come to the barrier: now they are free to go on.")


def _step(key: str, by: int, most: int) -> None:
    """Go on by some turns, or back."""
    st.session_state[key] = min(max(st.session_state.get(key, 0) + by, 0), most)
