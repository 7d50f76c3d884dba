"""The cost model of several ranks: its predictions for known links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.bench.cost import RANKS, Cost, Link, hidden_share, link_of

some = st.floats(1e-6, 1.0)


@given(st.floats(1e-7, 1e-3), st.floats(1e6, 1e11), st.integers(2, 64))
def test_a_link_is_found_again_by_its_sums(latency: float, bandwidth: float, ranks: int) -> None:
    link = Link(latency, bandwidth)
    sizes = (0, 2**30)
    found = link_of([(size, link.sum_of(size, ranks)) for size in sizes], ranks)
    assert found.latency == pytest.approx(latency)
    assert found.bandwidth == pytest.approx(bandwidth, rel=1e-4)


def test_a_sum_takes_messages_around_a_ring() -> None:
    link = Link(latency=1.0, bandwidth=10.0)
    assert link.sum_of(80.0, 1) == 0.0
    assert link.sum_of(80.0, 2) == 2 * (1.0 + 4.0)
    assert link.sum_of(80.0, 8) == 14 * (1.0 + 1.0)


@given(some, some, st.floats(0.0, 0.5), st.integers(2, 64))
def test_a_step_is_training_copies_and_sums(
    step: float, copies: float, latency: float, ranks: int
) -> None:
    cost = Cost(step, copies, 2**20, Link(latency, 1e9))
    sums = cost.link.sum_of(2**20, ranks)
    assert cost.with_a_batch_each(ranks) == pytest.approx(step + copies + sums)
    assert cost.with_one_batch(ranks) == pytest.approx(step / ranks + copies + sums)
    assert cost.with_a_batch_each(1) == cost.with_one_batch(1) == step


@pytest.mark.parametrize(
    ("together", "hidden"), [(1.0, 1.0), (1.1, 0.5), (1.2, 0.0), (1.3, 0.0), (0.9, 1.0)]
)
def test_masked_positions_are_hidden(together: float, hidden: float) -> None:
    assert hidden_share(1.0, together, 0.2) == pytest.approx(hidden)


def test_who_talks_fast_may_be_many_and_who_talks_slowly_is_alone() -> None:
    fast = Cost(step=1.0, copies=0.0, size=2**20, link=Link(1e-9, 1e12))
    slow = Cost(step=1.0, copies=0.0, size=2**20, link=Link(1.0, 1e12))
    assert (fast.most_that_pay(), slow.most_that_pay()) == (RANKS[-1], 1)
    assert fast.efficiency(1024) > 0.99
    assert slow.efficiency(1024) < 0.01
