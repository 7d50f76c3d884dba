"""Random number generators, one of which is the default.

They are *counter-based*: block n of a sequence depends only on the seed and n (Philox4x64-10 of
Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011). So a GPU whose threads each
compute one block draws the same numbers as NumPy on the host. The state of a generator is its seed
and the number of used blocks; every function that draws starts a new block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self
from weakref import WeakSet

import numpy as np

from mt_tensor.core.arguments import as_integer

GENERATORS: WeakSet[Any] = WeakSet()
"""All living generators."""

_drawing = threading.RLock()
"""Lock for drawing and seeding, since threads may share a generator."""


class Generator:
    """A sequence of random numbers, for the argument `generator=`.

    Its seed comes from the operating system, unless `manual_seed` sets it.
    """

    def __init__(self) -> None:
        self._seed: int | None = None
        self._numbers: np.random.Generator | None = None
        GENERATORS.add(self)

    def __repr__(self) -> str:
        return f"<mt_tensor.Generator seed={self.initial_seed()}>"

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator at the start of a block; it must not be shared by threads."""
        numbers = self._numbers
        if numbers is None:  # created on first use, since NumPy loads it slowly
            with _drawing:
                if self._numbers is None:
                    self._numbers = np.random.Generator(np.random.Philox(self.initial_seed()))
                numbers = self._numbers
        bits: Any = numbers.bit_generator
        with bits.lock:
            bits.advance(0)  # drop the rest of the last block
        return numbers

    def manual_seed(self, seed: int) -> Self:
        """Restart the sequence with `seed`, a non-negative integer, and return self.

        Raises:
            DomainError: the seed is negative.
            TypeError: the seed is not an integer.
        """
        with _drawing:
            self._seed = as_integer("a seed", seed, minimum=0)
            self._numbers = None
        return self

    def seed(self) -> int:
        """Restart the sequence with a seed from the operating system, and return the seed."""
        self.manual_seed(np.random.SeedSequence().generate_state(1, np.uint64).item())
        return self.initial_seed()

    def initial_seed(self) -> int:
        """Return the seed of the sequence."""
        with _drawing:
            return self.seed() if self._seed is None else self._seed

    def get_state(self) -> dict[str, Any]:
        """Return the position in the sequence, for `set_state`."""
        return {"seed": self.initial_seed(), "blocks": used_blocks(self.numpy)}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore a position returned by `get_state`."""
        with _drawing:
            bits: Any = self.manual_seed(state["seed"]).numpy.bit_generator
            bits.advance(state["blocks"])


def used_blocks(numbers: np.random.Generator) -> int:
    """Return the number of blocks of the sequence that have been used."""
    bits: Any = numbers.bit_generator
    counter: list[int] = bits.state["state"]["counter"].tolist()
    return sum(word << 64 * position for position, word in enumerate(counter))


default_generator = Generator()
"""The generator that random tensors are drawn from by default."""

_chosen: ContextVar[Generator | None] = ContextVar("mt_tensor_generator", default=None)


def current_generator() -> Generator:
    """Return the generator of the innermost `use_generator`, or the default one."""
    return _chosen.get() or default_generator


@contextmanager
def use_generator(generator: Generator) -> Iterator[Generator]:
    """Use another default generator inside a `with` block, in this thread or task only.

    >>> with use_generator(Generator()):
    ...     manual_seed(3) is default_generator
    False
    """
    token = _chosen.set(generator)
    try:
        yield generator
    finally:
        _chosen.reset(token)


def manual_seed(seed: int) -> Generator:
    """Restart the default generator with `seed`, and return it.

    Raises:
        DomainError: the seed is negative.
        TypeError: the seed is not an integer.
    """
    return current_generator().manual_seed(seed)


def numbers_of(given: Generator | None) -> np.random.Generator:
    """Return NumPy's generator for an argument `generator=`; None is the default generator.

    Raises:
        TypeError: the argument is not a Generator.
    """
    if given is None:
        return current_generator().numpy
    if not isinstance(given, Generator):
        raise TypeError(f"generator= takes an mt_tensor.Generator; {given!r} was given.")
    return given.numpy


class drawing:  # noqa: N801 - used in a `with` statement
    """Lock NumPy's generator for an argument `generator=` inside a `with` block."""

    __slots__ = ("given",)

    def __init__(self, given: Generator | None) -> None:
        self.given = given

    def __enter__(self) -> np.random.Generator:
        _drawing.acquire()
        try:
            return numbers_of(self.given)
        except BaseException:
            _drawing.release()
            raise

    def __exit__(self, *_: object) -> None:
        _drawing.release()
