"""collapse: merging dimensions of layouts."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mt_fast.core.loops import collapse
from mt_tensor import float32
from mt_tensor.backends.extending import Layout

STRIDES = st.integers(-3, 3)


def positions(lengths, strides, starts):
    return sorted(
        tuple(
            start + sum(i * step for i, step in zip(index, steps, strict=True))
            for start, steps in zip(starts, strides, strict=True)
        )
        for index in itertools.product(*map(range, lengths))
    )


def collapsed(shape, strides):
    return collapse([Layout(float32, shape, stride) for stride in strides])


@given(st.lists(st.tuples(st.integers(1, 3), STRIDES, STRIDES), max_size=5))
def test_collapsed_layout_visits_the_same_positions(dims):
    shape = tuple(length for length, _, _ in dims)
    strides = tuple(tuple(dim[v] for dim in dims) for v in (1, 2))
    layout = collapsed(shape, strides)
    assert positions(layout.sizes, layout.strides, layout.starts) == positions(
        shape, strides, (0, 0)
    )
    assert len(layout.sizes) <= sum(length > 1 for length in shape)
    assert all(length > 1 for length in layout.sizes)


def test_collapse_merges_contiguous_dimensions():
    assert collapsed((2, 3, 4), ((12, 4, 1), (12, 4, 1))).sizes == (24,)
    assert collapsed((2, 3, 4), ((-12, -4, -1),) * 2).strides == ((1,), (1,))
    assert collapsed((4, 3, 2), ((1, 4, 12),) * 2).sizes == (24,)
    assert collapsed((2, 3), ((0, 0), (3, 1))).strides == ((0,), (1,))
    assert collapsed((2, 3), ((0, 1), (3, 1))).sizes == (2, 3)
    assert collapsed((), ((), ())).sizes == ()
