"""A cost model of data-parallel training: the time of a step on N ranks, and its limits.

Gradients of B bytes are summed by a ring all-reduce: with N ranks, each sends 2 (N - 1) messages of
B / N bytes (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009). A message takes the
latency of the link, plus its size divided by the bandwidth. Other costs of synchronization, above
all copies of the gradients, do not depend on the number of ranks. The model ignores that a part of
the all-reduce overlaps with backpropagation, and that ranks wait for the slowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RANKS = tuple(2**exponent for exponent in range(11))
"""The numbers of ranks for predictions, 1 to 1,024."""


@dataclass(frozen=True)
class Link:
    """A connection between ranks.

    Attributes:
        latency: the minimum time of a message, in seconds.
        bandwidth: bytes per second.
    """

    latency: float
    bandwidth: float

    def sum_of(self, size: float, ranks: int) -> float:
        """Return the time of an all-reduce of an array of `size` bytes, in seconds."""
        messages = 2 * (ranks - 1)
        return messages * (self.latency + size / ranks / self.bandwidth)


def link_of(measured: Sequence[tuple[int, float]], ranks: int) -> Link:
    """Return the link that explains the measured times of an all-reduce.

    Args:
        measured: the sizes of arrays in bytes, and the times in seconds; the shortest first.
        ranks: the number of ranks, at least two.
    """
    messages = 2 * (ranks - 1)
    latency = measured[0][1] / messages
    size, seconds = measured[-1]
    return Link(latency, messages * size / ranks / max(seconds - messages * latency, 1e-12))


@dataclass(frozen=True)
class Cost:
    """The cost of a step.

    Attributes:
        step: the time of an independent step, while other ranks run on the machine, in seconds.
        copies: the overhead of synchronization without the all-reduce, in seconds.
        size: the size of the gradients, in bytes.
        link: the connection between the ranks.
    """

    step: float
    copies: float
    size: float
    link: Link

    def with_a_batch_each(self, ranks: int) -> float:
        """Return the time of a step with a batch for each rank (weak scaling), in seconds."""
        return self.step + self._talk(ranks)

    def with_one_batch(self, ranks: int) -> float:
        """Return the time of a step with one batch for all ranks (strong scaling), in seconds."""
        return self.step / ranks + self._talk(ranks)

    def _talk(self, ranks: int) -> float:
        if ranks == 1:
            return 0.0
        return self.copies + self.link.sum_of(self.size, ranks)

    def efficiency(self, ranks: int) -> float:
        """Return the efficiency with a batch for each rank."""
        return self.step / self.with_a_batch_each(ranks)

    def most_that_pay(self) -> int:
        """Return the number of ranks with the shortest time for one batch."""
        most: int = min(RANKS, key=self.with_one_batch)
        return most


def hidden_share(silent: float, together: float, sums: float) -> float:
    """Return the fraction of the all-reduce that overlaps with other work, from 0 to 1.

    Args:
        silent: the time of a step that does everything except sending, in seconds.
        together: the time of a complete step.
        sums: the time of the all-reduce alone.
    """
    return min(max(1 - (together - silent) / sums, 0.0), 1.0)
