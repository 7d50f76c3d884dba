"""The model of what several ranks cost: what it says of links that are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.bench.cost import RANKS, Cost, Link, cost_of, link_of

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


@given(some, st.floats(0.0, 0.5), st.integers(2, 64))
def test_what_was_measured_is_predicted(apart: float, more: float, ranks: int) -> None:
    cost = cost_of(apart, apart + more, 2**20, Link(1e-5, 1e9), ranks)
    assert cost.with_a_batch_each(ranks) == pytest.approx(apart + more)
    assert 0.0 <= cost.hidden <= 1.0
    assert cost.with_a_batch_each(1) == apart
    assert cost.with_one_batch(1) == apart


def test_who_talks_fast_may_be_many_and_who_talks_slowly_is_alone() -> None:
    fast = Cost(step=1.0, size=2**20, link=Link(1e-9, 1e12), hidden=0.0, copies=0.0)
    slow = Cost(step=1.0, size=2**20, link=Link(1.0, 1e12), hidden=0.0, copies=0.0)
    assert (fast.most_that_pay(), slow.most_that_pay()) == (RANKS[-1], 1)
    assert fast.efficiency(1024) > 0.99
    assert slow.efficiency(1024) < 0.01
    assert Cost(1.0, 2**20, slow.link, hidden=1.0, copies=0.0).efficiency(1024) == 1.0
