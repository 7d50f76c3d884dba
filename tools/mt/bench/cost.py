"""What training on many ranks costs: how long a step takes on so many, and where that stops paying.

Gradients of B bytes are added up in a ring: with N ranks, each sends 2 (N - 1) messages of B / N
bytes (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009). A message takes the
latency of the link, and its bytes over the bandwidth. What else it takes to train together, above
all copies of the gradients, takes the same time on any number of ranks. That a part of the sums is
hidden behind the rest of backpropagation is not counted on, nor that ranks wait for the slowest.
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
        step: seconds of a step of a rank that trains for itself, beside others on its machine.
        copies: seconds that it takes longer to train together, but for the sums.
        size: bytes of the gradients.
        link: what connects the ranks.
    """

    step: float
    copies: float
    size: float
    link: Link

    def with_a_batch_each(self, ranks: int) -> float:
        """Return the seconds of a step in which each rank has a batch of its own."""
        return self.step + self._talk(ranks)

    def with_one_batch(self, ranks: int) -> float:
        """Return the seconds of a step in which ranks share the batch that one has alone."""
        return self.step / ranks + self._talk(ranks)

    def _talk(self, ranks: int) -> float:
        if ranks == 1:
            return 0.0
        return self.copies + self.link.sum_of(self.size, ranks)

    def efficiency(self, ranks: int) -> float:
        """Return the share of a rank's time that trains, with a batch for each."""
        return self.step / self.with_a_batch_each(ranks)

    def most_that_pay(self) -> int:
        """Return how many ranks take the least time for one batch."""
        most: int = min(RANKS, key=self.with_one_batch)
        return most


def hidden_share(silent: float, together: float, sums: float) -> float:
    """Return the share of sums that has taken no time of its own, from 0 to 1.

    Args:
        silent: seconds of a step that does everything but send.
        together: the same of one that sends, too.
        sums: seconds of the sums by themselves.
    """
    return min(max(1 - (together - silent) / sums, 0.0), 1.0)
