"""Functions of the simulator that move 16 bytes: element by element, after an alignment check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_cuda.core.errors import SimulationError
from mt_cuda.core.simulator import NAMES
from mt_cuda.simulation.slices import Rest


def _load_lanes(lanes: int) -> Callable[..., Any]:
    def load(memory: Any, at: int) -> tuple[Any, ...]:
        memory, at = _aligned(memory, at, lanes)
        return tuple([memory[at + lane] for lane in range(lanes)])

    return load


def _store_lanes(lanes: int) -> Callable[..., Any]:
    def store(memory: Any, at: int, values: Sequence[Any]) -> None:
        memory, at = _aligned(memory, at, lanes)
        for lane, value in enumerate(values):
            memory[at + lane] = value

    return store


def _aligned(memory: Any, at: int, lanes: int) -> tuple[Any, int]:
    """Return an array and the position of 16 bytes in it, given the array or a rest of it."""
    if isinstance(memory, Rest):
        memory, at = memory.array, memory.begin + at
    if at % lanes:
        raise SimulationError(
            f"16 bytes from position {at} are not aligned: the position must be a multiple of "
            f"{lanes}."
        )
    return memory, at


for _lanes in (2, 4, 8, 16):
    NAMES[f"load{_lanes}"] = _load_lanes(_lanes)
    NAMES[f"store{_lanes}"] = _store_lanes(_lanes)
