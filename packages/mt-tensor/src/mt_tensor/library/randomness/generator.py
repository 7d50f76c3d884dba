"""Where random numbers come from: generators on the host, one of them the default.

They are NumPy's, so that a seed gives the same numbers on every backend.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np

from mt_tensor.library.arguments import as_integer
from mt_tensor.public import FUNCTIONS, function

_beginning = threading.RLock()
"""Held while a generator begins a sequence, or threads that share it would draw the same."""


@function
class Generator:
    """A sequence of random numbers of its own, for the argument `generator=`.

    It begins at a seed that the system chooses; `manual_seed` begins it anew at a known one.
    """

    def __init__(self) -> None:
        self._seed: int | None = None
        self._numbers: np.random.Generator | None = None

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator, which the numbers are drawn from; several threads may do so."""
        numbers = self._numbers
        if numbers is None:  # made when it is first needed, for NumPy loads slowly
            with _beginning:
                if self._numbers is None:
                    self._numbers = np.random.default_rng(self.initial_seed())
                numbers = self._numbers
        return numbers

    def manual_seed(self, seed: int) -> Self:
        """Begin the sequence that belongs to `seed`, a non-negative integer, and return self.

        Raises:
            DomainError: the seed is negative.
            TypeError: the seed is no integer.
        """
        with _beginning:
            self._seed = as_integer("a seed", seed, least=0)
            self._numbers = None
        return self

    def seed(self) -> int:
        """Begin a sequence at a seed that the system chooses, and return the seed."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self.initial_seed()

    def initial_seed(self) -> int:
        """Return the seed that the sequence began at."""
        with _beginning:
            return self.seed() if self._seed is None else self._seed

    def get_state(self) -> dict[str, Any]:
        """Return where in its sequence the generator is, for `set_state`."""
        return {"seed": self.initial_seed(), "numbers": self.numpy.bit_generator.state}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the place in a sequence that `get_state` has returned."""
        with _beginning:
            self.manual_seed(state["seed"])
            self.numpy.bit_generator.state = state["numbers"]


default_generator = FUNCTIONS["default_generator"] = Generator()
"""What random tensors are drawn from unless another generator is given."""

_chosen: ContextVar[Generator | None] = ContextVar("mt_tensor_generator", default=None)


def _current() -> Generator:
    return _chosen.get() or default_generator


@contextmanager
def use_generator(generator: Generator) -> Iterator[Generator]:
    """Let a generator stand in for the default one inside a `with` block.

    That holds for the thread or task which enters the block, so that what is computed beside it
    neither takes numbers from the generator nor changes them.

    >>> with use_generator(Generator()):
    ...     manual_seed(3) is default_generator
    False
    """
    token = _chosen.set(generator)
    try:
        yield generator
    finally:
        _chosen.reset(token)


@function
def manual_seed(seed: int) -> Generator:
    """Begin the default sequence of random numbers that belongs to `seed`; return its generator.

    Raises:
        DomainError: the seed is negative.
        TypeError: the seed is no integer.
    """
    return _current().manual_seed(seed)


def seed() -> int:
    """Begin a default sequence at a seed that the system chooses, and return the seed."""
    return _current().seed()


@contextmanager
def fork_rng(
    devices: object = None,  # noqa: ARG001 - torch's; all random numbers are drawn on the host
    enabled: bool = True,
) -> Iterator[None]:
    """Go back, at the end of a `with` block, to where the default sequence was at its beginning.

    Args:
        devices: changes nothing: random numbers are drawn on the host, for all devices.
        enabled: whether to go back.
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


@function
def initial_seed() -> int:
    """Return the seed that the default sequence began at."""
    return _current().initial_seed()


@function
def get_rng_state() -> dict[str, Any]:
    """Return where in its sequence the default generator is, for `set_rng_state`."""
    return _current().get_state()


@function
def set_rng_state(state: Mapping[str, Any]) -> None:
    """Take the default generator to where `get_rng_state` was called."""
    _current().set_state(state)


def generator() -> np.random.Generator:
    """Return NumPy's generator behind the default one."""
    return _current().numpy


def numbers_of(given: Generator | None) -> np.random.Generator:
    """Return NumPy's generator behind an argument `generator=`.

    Raises:
        TypeError: it is no Generator.
    """
    if given is None:
        return _current().numpy
    if not isinstance(given, Generator):
        raise TypeError(f"generator= takes an mt_tensor.Generator; {given!r} was given.")
    return given.numpy
