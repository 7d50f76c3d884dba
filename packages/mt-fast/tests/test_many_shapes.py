"""A program with more shapes than any cache holds keeps its memory and its speed."""

import itertools
import random
import sys
import tracemalloc

import pytest

import mt_tensor as mt

MEASURED = 1_000
"""The number of shapes to measure at a time."""


def all_shapes():
    """Return 100,000 shapes, in an order that mixes small and large ones."""
    shapes = [*itertools.product(range(1, 11), repeat=5)]
    random.Random(0).shuffle(shapes)
    return shapes


def compute(shapes, base, weight):
    """Compute with tensors of these shapes, forward and backward."""
    for shape in shapes:
        size = 1
        for each in shape:
            size *= each
        x = base[:size].view(shape)
        (x * weight + x).sum().backward()


def calls_of(function, *arguments):
    """Return the number of calls of Python functions in a call."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_a_hundred_thousand_shapes_take_bounded_memory_and_equally_many_calls(backend):
    shapes = all_shapes()
    with mt.use_backend(backend):
        base, weight = mt.rand(100_000), mt.tensor(2.0, requires_grad=True)
        compute(shapes[:MEASURED], base, weight)
        first = calls_of(compute, shapes[MEASURED : 2 * MEASURED], base, weight)
        compute(shapes[2 * MEASURED : -20 * MEASURED], base, weight)
        tracemalloc.start()
        try:
            compute(shapes[-20 * MEASURED : -10 * MEASURED], base, weight)
            before, _ = tracemalloc.get_traced_memory()
            compute(shapes[-10 * MEASURED : -MEASURED], base, weight)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        last = calls_of(compute, shapes[-MEASURED:], base, weight)
    # A shape leaves several kilobytes in caches (layouts, plans, keys): 9,000 without a bound would
    # take some thirty megabytes. Caches that are emptied when they are full are larger or smaller.
    assert after - before < 12 * 2**20
    assert last == pytest.approx(first, rel=0.05)
