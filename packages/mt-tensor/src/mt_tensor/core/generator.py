"""Where random numbers come from: generators, one of which is the default.

They are *counter-based*: block n of a sequence is a function of the seed and n alone (Philox4x64-10
of Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011). So a GPU whose threads each
compute one block draws the same numbers as NumPy on the host. The state of a generator is its seed
and the number of blocks that have been used; every function that draws begins with a new block.
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
"""All generators."""

_drawing = threading.RLock()
"""Held while a thread draws or sets a seed, since threads may share a generator."""


class Generator:
    """A sequence of random numbers, for the argument `generator=`.

    The system chooses its seed, unless `manual_seed` sets it.
    """

    def __init__(self) -> None:
        self._seed: int | None = None
        self._numbers: np.random.Generator | None = None
        GENERATORS.add(self)

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator at the beginning of a block; threads that share it use `drawing`."""
        numbers = self._numbers
        if numbers is None:  # created when it is first needed, since NumPy loads it slowly
            with _drawing:
                if self._numbers is None:
                    self._numbers = np.random.Generator(np.random.Philox(self.initial_seed()))
                numbers = self._numbers
        bits: Any = numbers.bit_generator
        with bits.lock:
            bits.advance(0)  # drop what is left of the last block
        return numbers

    def manual_seed(self, seed: int) -> Self:
        """Begin the sequence that belongs to `seed`, a non-negative integer, and return self.

        Raises:
            DomainError: the seed is negative.
            TypeError: the seed is no integer.
        """
        with _drawing:
            self._seed = as_integer("a seed", seed, least=0)
            self._numbers = None
        return self

    def seed(self) -> int:
        """Begin a sequence at a seed that the system chooses, and return the seed."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self.initial_seed()

    def initial_seed(self) -> int:
        """Return the seed that the sequence began at."""
        with _drawing:
            return self.seed() if self._seed is None else self._seed

    def get_state(self) -> dict[str, Any]:
        """Return the position in the sequence, for `set_state`."""
        return {"seed": self.initial_seed(), "blocks": used_blocks(self.numpy)}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the position that `get_state` has returned."""
        with _drawing:
            bits: Any = self.manual_seed(state["seed"]).numpy.bit_generator
            bits.advance(state["blocks"])


def used_blocks(numbers: np.random.Generator) -> int:
    """Return how many blocks of its sequence have been used."""
    bits: Any = numbers.bit_generator
    counter: list[int] = bits.state["state"]["counter"].tolist()
    return sum(word << 64 * place for place, word in enumerate(counter))


default_generator = Generator()
"""The generator that random tensors are drawn from by default."""

_chosen: ContextVar[Generator | None] = ContextVar("mt_tensor_generator", default=None)


def current_generator() -> Generator:
    """Return the generator of the innermost `use_generator`, or the default one."""
    return _chosen.get() or default_generator


@contextmanager
def use_generator(generator: Generator) -> Iterator[Generator]:
    """Replace the default generator inside a `with` block, in this thread or task only.

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
    """Begin the default sequence of random numbers that belongs to `seed`; return its generator.

    Raises:
        DomainError: the seed is negative.
        TypeError: the seed is no integer.
    """
    return current_generator().manual_seed(seed)


def numbers_of(given: Generator | None) -> np.random.Generator:
    """Return NumPy's generator of an argument `generator=`; None is the default generator.

    Raises:
        TypeError: it is no Generator.
    """
    if given is None:
        return current_generator().numpy
    if not isinstance(given, Generator):
        raise TypeError(f"generator= takes an mt_tensor.Generator; {given!r} was given.")
    return given.numpy


class drawing:  # noqa: N801 - used in a `with` statement
    """NumPy's generator of an argument `generator=`, locked inside a `with` block.

    So threads that share a generator draw what one thread would draw for all of them.
    """

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
