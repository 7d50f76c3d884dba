"""The state of the default generator: its seed and its position in the sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from mt_tensor.core.generator import GENERATORS, Generator, current_generator


def generator_of(numbers: np.random.Generator) -> Generator | None:
    """Return the generator that uses a NumPy generator; None for the current one.

    Raises:
        LookupError: no generator uses it.
    """
    if current_generator()._numbers is numbers:
        return None
    for each in list(GENERATORS):
        if each._numbers is numbers:
            return each  # type: ignore[no-any-return]
    raise LookupError("no generator of mt_tensor uses this NumPy generator.")


def seed() -> int:
    """Seed the default generator with entropy from the system, and return the seed."""
    return current_generator().seed()


@contextmanager
def fork_rng(
    devices: object = None,  # noqa: ARG001 - torch's; all backends share one sequence
    enabled: bool = True,
) -> Iterator[None]:
    """Restore the state of the default generator at the end of a `with` block.

    Args:
        devices: has no effect, since all devices share one sequence of random numbers.
        enabled: whether to restore the state.
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def initial_seed() -> int:
    """Return the seed of the default generator."""
    return current_generator().initial_seed()


def get_rng_state() -> dict[str, Any]:
    """Return the state of the default generator, for `set_rng_state`."""
    return current_generator().get_state()


def set_rng_state(state: Mapping[str, Any]) -> None:
    """Restore a state of the default generator that `get_rng_state` returned."""
    current_generator().set_state(state)


def generator() -> np.random.Generator:
    """Return the NumPy generator that the default generator uses."""
    return current_generator().numpy
