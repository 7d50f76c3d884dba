"""What training on many ranks costs: how long a step takes on so many, and where that stops paying.

Gradients of B bytes are added up in a ring: with N ranks, each sends 2 (N - 1) messages of B / N
bytes (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009). A message takes the
latency of the link, and its bytes over the bandwidth. A part of that is hidden behind the rest of
backpropagation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RANKS = tuple(2**exponent for exponent in range(11))
"""The numbers of ranks that are predicted, 1 to 1,024."""


@dataclass(frozen=True)
class Link:
    """What connects ranks.

    Attributes:
        latency: seconds that a message takes, however short.
        bandwidth: bytes a second.
    """

    latency: float
    bandwidth: float

    def sum_of(self, size: float, ranks: int) -> float:
        """Return the seconds in which so many ranks add up an array of `size` bytes."""
        messages = 2 * (ranks - 1)
        return messages * (self.latency + size / ranks / self.bandwidth)


def link_of(measured: Sequence[tuple[int, float]], ranks: int) -> Link:
    """Return the link on which so many ranks add up arrays in these times.

    Args:
        measured: bytes of an array, and seconds; the shortest first, the longest last.
        ranks: how many there are, at least two.
    """
    messages = 2 * (ranks - 1)
    latency = measured[0][1] / messages
    size, seconds = measured[-1]
    return Link(latency, messages * size / ranks / max(seconds - messages * latency, 1e-12))


@dataclass(frozen=True)
class Cost:
    """What a step costs.

    Attributes:
        step: seconds of a step of one rank.
        size: bytes of the gradients.
        link: what connects the ranks.
        hidden: the share of the sums that takes no time of its own, from 0 to 1.
    """

    step: float
    size: float
    link: Link
    hidden: float

    def with_a_batch_each(self, ranks: int) -> float:
        """Return the seconds of a step in which each rank has a batch of its own."""
        return self.step + (1 - self.hidden) * self.link.sum_of(self.size, ranks)

    def with_one_batch(self, ranks: int) -> float:
        """Return the seconds of a step in which ranks share the batch that one has alone."""
        return self.step / ranks + (1 - self.hidden) * self.link.sum_of(self.size, ranks)

    def efficiency(self, ranks: int) -> float:
        """Return the share of a rank's time that trains, with a batch for each."""
        return self.step / self.with_a_batch_each(ranks)

    def most_that_pay(self) -> int:
        """Return how many ranks take the least time for one batch."""
        most: int = min(RANKS, key=self.with_one_batch)
        return most


def hidden_share(step: float, together: float, sums: float) -> float:
    """Return the share of sums that is hidden, given a step alone and one on several ranks."""
    return min(max(1 - (together - step) / sums, 0.0), 1.0) if sums else 1.0
