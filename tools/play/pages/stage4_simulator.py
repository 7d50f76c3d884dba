"""A block, step by step: its threads, their shared memory, and the barriers where they wait.

The simulator of mt-cuda runs the kernel that the backend selects, and `play.tracing` records its
threads.
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
from play.blocks import block_html, code_html, describe_turn, registers_html, waiting
from play.comparison import PRODUCT, REDUCTIONS
from play.controls import move
from play.inputs import InputError, numbers
from play.showing import show_error
from play.tracing import Launch, TracingSimulator, Turn

DIGITS = "3 1 4 1 5 9 2 6 5 3 5"
MOST = 64
"""The maximum number of numbers to reduce."""

TILING = Tiling(side=2, each=2, depth=2)
"""The tiling of a matrix product: tiles of 4 by 4, each computed by 4 threads."""


def show() -> None:
    """Show one block at one moment, or why it cannot run."""
    name = str(st.segmented_control("kernel", [*REDUCTIONS, PRODUCT], default="sum") or "sum")
    try:
        launch, given = _product() if name == PRODUCT else _fold(name)
        _show_launch(launch, given)
    except SimulationError as error:
        show_error(error)
        st.markdown(
            "The simulator reports this because it tracks the accesses to each element of shared "
            "memory since the last barrier. A GPU reports nothing: its result is sometimes wrong."
        )
    except InputError as error:
        show_error(error)


def _machine(threads: int) -> TracingSimulator:
    """Return a simulator with the user's settings."""
    left, right = st.columns(2)
    backwards = left.toggle("last thread first", help="A correct kernel gives the same result.")
    without = right.toggle("remove the barriers")
    size = replace(SIZE, threads=threads, parallel=1, large=TILING, small=TILING)
    return TracingSimulator(size, "reversed" if backwards else "forward", barriers=not without)


def _fold(method: str) -> tuple[Launch, dict[str, Array]]:
    """Reduce the user's numbers in one block."""
    left, right = st.columns([3, 2])
    text = left.text_input("numbers", DIGITS)
    threads = int(right.select_slider("threads in a block", (2, 4, 8, 16), 8))
    machine = _machine(threads)
    values = np.array(numbers(text, MOST), np.float32)
    x = mt.tensor(values, backend=CudaOps(machine, plain=True))
    getattr(x, method)(0)
    return machine.launches[-1], {"x": values, "y": np.full(1, np.nan)}


def _product() -> tuple[Launch, dict[str, Array]]:
    """Multiply two matrices of small integers."""
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
    """Show one block of a launch after the turns that the user selected."""
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
        button.button(label, on_click=move, args=(key, step, len(turns)), width="stretch")
    done = int(st.slider("turns done", 0, len(turns), key=key))
    _describe(turns, done, launch.threads)
    st.html(block_html(turns, done, launch.threads, given))
    code, registers = st.columns([3, 2], gap="large")
    with code:
        st.markdown(f"#### The kernel\n`{launch.kernel.name}`")
        st.html(code_html(launch.kernel.source, turns, done, launch.threads))
    with registers:
        st.markdown("#### Registers\nThe variables of each thread after its last turn.")
        st.html(registers_html(turns, done, launch.threads))


def _describe(turns: list[Turn], done: int, threads: int) -> None:
    """Describe the last turn."""
    if not done:
        st.markdown(
            f"{threads} threads run the same code. The simulator runs them one after the other, "
            "each until it waits at a barrier, `cuda.syncthreads()`; a GPU runs them in parallel."
        )
        return
    st.markdown(describe_turn(turns[done - 1], done))
    here = len(waiting(turns, done, threads))
    if here:
        st.info(f"{here} of {threads} threads wait at the barrier for the others.")
    elif turns[done - 1].stops is not None:
        st.success(f"All {threads} threads have arrived at the barrier, and may continue.")
