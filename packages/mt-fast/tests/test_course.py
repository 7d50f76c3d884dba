"""Parallel loops of the course, compared with the loops of `simple`."""

import numpy as np
import pytest

from mt_fast.core import parallel_loops as course
from mt_tensor import TensorData
from mt_tensor.core import simple

SHAPE = (2, 3, 4)


def data(shape=SHAPE, seed=0):
    return TensorData(np.random.default_rng(seed).standard_normal(int(np.prod(shape))), shape)


VIEWS = {
    "contiguous": data(),
    "permuted": data((4, 2, 3)).permute(1, 2, 0),
    "broadcast": data().like(SHAPE, (0, 4, 1), 12),
    "reversed": data().like(SHAPE, (-12, -4, -1), 23),
}


def elements(view):
    return [view.get(index) for index in view.indices()]


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_map_and_zip_match_simple_for_views(view):
    x, y = VIEWS[view], data(seed=1)
    for name, fn, inputs in (
        ("tensor_map", lambda x: x * x - 1.0, (x,)),
        ("tensor_zip", lambda x, y: x - y, (x, y)),
    ):
        outs = []
        for module in (course, simple):
            outs.append(data((4, 2, 3), seed=2).permute(1, 2, 0))
            getattr(module, name)(fn)(*inputs, outs[-1])
        assert elements(outs[0]) == elements(outs[1])


@pytest.mark.parametrize("dim", range(3))
def test_reduce_matches_simple_for_views(dim):
    shape = tuple(1 if d == dim else size for d, size in enumerate(SHAPE))
    for fn in (lambda total, x: total + x, lambda total, x: 10.0 * total + x):
        reduce = course.tensor_reduce(fn, 0.0)
        for x in VIEWS.values():
            ours, expected = (data(shape[::-1]).permute(2, 1, 0) for _ in range(2))
            reduce(x, ours, dim)
            simple.tensor_reduce(fn, 0.0)(x, expected, (dim,))
            np.testing.assert_allclose(elements(ours), elements(expected))


def test_reduce_starts_with_the_start_value():
    total = data((1, 3, 4))
    ones = TensorData(np.ones(24), SHAPE)
    course.tensor_reduce(lambda total, x: total + x, 5.0)(ones, total, 0)
    assert elements(total) == [7.0] * 12


def test_loops_are_compiled_for_all_threads():
    for function in (
        course.tensor_map(lambda x: x),
        course.tensor_zip(lambda x, y: x),
        course.tensor_reduce(lambda x, y: x, 0.0),
        course.tensor_matrix_multiply,
    ):
        assert function.loop.targetoptions["parallel"]


def test_matrix_multiply_matches_numpy():
    a, b = data((2, 3, 5)), data((2, 4, 5), seed=1).permute(0, 2, 1)
    broadcast = data((1, 5, 4)).like((2, 5, 4), (0, 4, 1), 0)
    for right in (b, broadcast):
        out = data((4, 3, 2)).permute(2, 1, 0)
        course.tensor_matrix_multiply(a, right, out)
        factors = [np.reshape(elements(each), each.shape) for each in (a, right)]
        np.testing.assert_allclose(np.reshape(elements(out), (2, 3, 4)), factors[0] @ factors[1])


def test_map_and_reduce_accept_empty_tensors():
    empty = TensorData(np.zeros(0), (0, 3))
    course.tensor_map(lambda x: x)(empty, empty)
    total = TensorData(np.ones(3), (1, 3))
    course.tensor_reduce(lambda x, y: x + y, 0.0)(empty, total, 0)
    assert total.storage.tolist() == [0.0, 0.0, 0.0]
