"""Memory and number of calls with more shapes than the caches hold."""

import itertools
import random
import sys
import tracemalloc

import pytest

import mt_tensor as mt

BATCH = 1_000
"""The number of shapes per measurement."""


def shapes_in_random_order():
    """Return 100,000 shapes, many times as many as the largest cache holds."""
    shapes = [*itertools.product(range(1, 11), repeat=5)]
    random.Random(0).shuffle(shapes)
    return shapes


def compute(shapes, base, weight, differentiate=True):
    """Run forward, and backward if `differentiate`, with tensors of these shapes."""
    for shape in shapes:
        size = 1
        for length in shape:
            size *= length
        x = base[:size].view(shape)
        y = x * weight + x
        if differentiate:
            y.sum().backward()


def count_calls(function, *arguments):
    """Return the number of Python functions that a call enters."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_memory_and_calls_stay_bounded_for_100_000_shapes(backend):
    shapes = shapes_in_random_order()
    with mt.use_backend(backend):
        base, weight = mt.rand(100_000), mt.tensor(2.0, requires_grad=True)
        compute(shapes[:BATCH], base, weight)
        first = count_calls(compute, shapes[BATCH : 2 * BATCH], base, weight)
        compute(shapes[2 * BATCH : -20 * BATCH], base, weight, differentiate=False)
        tracemalloc.start()
        try:
            compute(shapes[-20 * BATCH : -10 * BATCH], base, weight)
            before, _ = tracemalloc.get_traced_memory()
            compute(shapes[-10 * BATCH : -BATCH], base, weight)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        last = count_calls(compute, shapes[-BATCH:], base, weight)
    # A shape leaves several kilobytes in caches (layouts, plans, keys), so 9,000 shapes would take
    # about 30 MB without a bound. Caches that are cleared when full vary in size.
    assert after - before < 12 * 2**20
    assert last == pytest.approx(first, rel=0.05)
