"""Where random numbers come from: generators, one of them the default.

They are *counter-based*: block number n of a sequence is a function of the seed and n, and of
nothing that was drawn before (Philox4x64-10, of Salmon et al., Parallel Random Numbers: As Easy as
1, 2, 3, 2011). So a thousand threads can draw a thousand blocks at once, and a GPU that does gives
the same numbers as NumPy, whose `Philox` draws on the host. All that a generator remembers is its
seed, and how many blocks have been used: every function that draws begins with a fresh one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self
from weakref import WeakSet

import numpy as np

from mt_tensor.checks import as_integer
from mt_tensor.randomness.blocks import begin_block, take_blocks, used_blocks

_ALL: WeakSet[Any] = WeakSet()
"""All generators, to find the one that NumPy's belongs to."""

_sharing = threading.RLock()
"""Held while somebody begins a sequence or draws, for threads may share a generator."""


class Generator:
    """A sequence of random numbers of its own, for the argument `generator=`.

    It begins at a seed that the system chooses; `manual_seed` begins it anew at a known one.
    """

    def __init__(self) -> None:
        self._seed: int | None = None
        self._numbers: np.random.Generator | None = None
        _ALL.add(self)

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator, at the beginning of a block; several threads may draw from it.

        What another thread draws meanwhile may come from the rest of that block: see `drawing`.
        """
        numbers = self._numbers
        if numbers is None:  # made when it is first needed, for NumPy loads slowly
            with _sharing:
                if self._numbers is None:
                    self._numbers = np.random.Generator(np.random.Philox(self.initial_seed()))
                numbers = self._numbers
        begin_block(numbers)
        return numbers

    def manual_seed(self, seed: int) -> Self:
        """Begin the sequence that belongs to `seed`, a non-negative integer, and return self.

        Raises:
            DomainError: the seed is negative.
            TypeError: the seed is no integer.
        """
        with _sharing:
            self._seed = as_integer("a seed", seed, least=0)
            self._numbers = None
        return self

    def seed(self) -> int:
        """Begin a sequence at a seed that the system chooses, and return the seed."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self.initial_seed()

    def initial_seed(self) -> int:
        """Return the seed that the sequence began at."""
        with _sharing:
            return self.seed() if self._seed is None else self._seed

    def get_state(self) -> dict[str, Any]:
        """Return where in its sequence the generator is, for `set_state`."""
        return {"seed": self.initial_seed(), "blocks": used_blocks(self.numpy)}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the place in a sequence that `get_state` has returned."""
        with _sharing:
            self.manual_seed(state["seed"])
            take_blocks(self.numpy, state["blocks"])


default_generator = Generator()
"""What random tensors are drawn from unless another generator is given."""

_chosen: ContextVar[Generator | None] = ContextVar("mt_tensor_generator", default=None)


def current_generator() -> Generator:
    """Return what stands for the default generator here."""
    return _chosen.get() or default_generator


def generator_of(numbers: np.random.Generator) -> Generator | None:
    """Return the generator that NumPy's belongs to; None for the current one.

    Raises:
        LookupError: it belongs to none that is known.
    """
    if current_generator()._numbers is numbers:
        return None
    for each in list(_ALL):
        if each._numbers is numbers:
            return each  # type: ignore[no-any-return]
    raise LookupError("these random numbers belong to no generator.")


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


def manual_seed(seed: int) -> Generator:
    """Begin the default sequence of random numbers that belongs to `seed`; return its generator.

    Raises:
        DomainError: the seed is negative.
        TypeError: the seed is no integer.
    """
    return current_generator().manual_seed(seed)


def seed() -> int:
    """Begin a default sequence at a seed that the system chooses, and return the seed."""
    return current_generator().seed()


@contextmanager
def fork_rng(
    devices: object = None,  # noqa: ARG001 - torch's; all backends share one sequence
    enabled: bool = True,
) -> Iterator[None]:
    """Go back, at the end of a `with` block, to where the default sequence was at its beginning.

    Args:
        devices: changes nothing: there is one sequence of random numbers for all devices.
        enabled: whether to go back.
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def initial_seed() -> int:
    """Return the seed that the default sequence began at."""
    return current_generator().initial_seed()


def get_rng_state() -> dict[str, Any]:
    """Return where in its sequence the default generator is, for `set_rng_state`."""
    return current_generator().get_state()


def set_rng_state(state: Mapping[str, Any]) -> None:
    """Take the default generator to where `get_rng_state` was called."""
    current_generator().set_state(state)


def generator() -> np.random.Generator:
    """Return NumPy's generator behind the default one."""
    return current_generator().numpy


def numbers_of(given: Generator | None) -> np.random.Generator:
    """Return NumPy's generator behind an argument `generator=`.

    Raises:
        TypeError: it is no Generator.
    """
    if given is None:
        return current_generator().numpy
    if not isinstance(given, Generator):
        raise TypeError(f"generator= takes an mt_tensor.Generator; {given!r} was given.")
    return given.numpy


class drawing:  # noqa: N801 - it stands in a `with` statement
    """NumPy's generator behind an argument `generator=`, for nobody else inside a `with` block.

    So threads that share a generator draw what one of them would if it drew for all.
    """

    __slots__ = ("given",)

    def __init__(self, given: Generator | None) -> None:
        self.given = given

    def __enter__(self) -> np.random.Generator:
        _sharing.acquire()
        try:
            return numbers_of(self.given)
        except BaseException:
            _sharing.release()
            raise

    def __exit__(self, *_: object) -> None:
        _sharing.release()
