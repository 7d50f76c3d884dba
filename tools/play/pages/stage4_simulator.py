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
from play.blocks import array_rows, code_lines, describe_turn, thread_rows
from play.comparison import PRODUCT, REDUCTIONS
from play.inputs import InputError, numbers
from play.showing import show_error
from play.tracing import Launch, TracingSimulator, written

DIGITS = "3 1 4 1 5 9 2 6 5 3 5"
MOST = 64
"""The maximum number of numbers to reduce."""

START = (
    "All threads run the same code. The simulator runs them one after the other, each until it "
    "waits at a barrier, `cuda.syncthreads()`; a GPU runs them in parallel."
)

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
    labels = {"rows of a": 4, "columns of a, rows of b": 3, "columns of b": 5}
    rows, inner, across = (
        int(column.slider(label, 1, 8, first))
        for column, (label, first) in zip(st.columns(3), labels.items(), strict=True)
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
    chosen = 0
    if len(blocks) > 1:
        chosen = st.segmented_control("block", range(len(blocks)), default=0) or 0
    every = [turn for turn in launch.turns if turn.block == blocks[chosen]]
    turns = every[: _turns_done(launch.threads, len(every))]
    now = turns[-1] if turns else None
    st.markdown(describe_turn(now, len(turns)) if now else START)
    shared = {name: np.full(shape, np.nan) for name, shape in launch.shapes.items()}
    for title, arrays in (("Shared memory", shared), ("Global memory", given)):
        st.markdown(f"**{title}**; :orange[written], :blue[read] in this turn")
        with st.container(horizontal=True):
            for name, array in arrays.items():
                with st.container(width="content"):
                    st.markdown(f"`{name}`")
                    st.table(array_rows(name, written(array, name, turns), now), width="content")
    st.markdown("**Threads**, and their variables at the last barrier")
    st.table(thread_rows(turns, launch.threads), hide_index=True)
    st.markdown(f"**The kernel** `{launch.kernel.name}`")
    st.code(code_lines(launch.kernel.source, turns), line_numbers=True)


def _turns_done(threads: int, most: int) -> int:
    """Return the number of turns that the user selected."""
    key = f"simulator.steps.{most}"
    done = st.session_state.get(key, 0)
    columns = st.columns([1, 1, 1, 3])
    steps = {"Back": -1, "Next thread": 1, "To the barrier": threads - done % threads}
    for column, (label, step) in zip(columns, steps.items(), strict=False):
        if column.button(label, width="stretch"):
            st.session_state[key] = min(max(done + step, 0), most)
    return int(st.slider("turns done", 0, most, key=key))
