"""Pooling of arrays on the `numpy` backend, compared with single windows."""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_nn import functional as F
from mt_nn.kernels.numpy.pooling import max_gradient, max_pool, mean_gradient, mean_pool
from mt_tensor.extending import Array
from mt_tensor.large_arrays import blocks

Pair = tuple[int, int]
Case = tuple[Array, Pair, Pair, Pair]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw planes with ties, possibly infinities and nan, and a window size, stride and padding."""

    def pair(low: int, high: Pair) -> Pair:
        return draw(st.integers(low, high[0])), draw(st.integers(low, high[1]))

    size = pair(1, (5, 5))
    padding = pair(0, (size[0] // 2, size[1] // 2))
    height, width = (
        max(length - 2 * margin, 1) + draw(st.integers(0, 6))
        for length, margin in zip(size, padding, strict=True)
    )
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    planes = rng.integers(-2, 3, (draw(st.integers(1, 5)), height, width)).astype(np.float32)
    for special in draw(st.sampled_from(((), (math.inf,), (-math.inf, math.nan)))):
        planes.flat[rng.integers(0, planes.size, 3)] = special
    return planes, size, pair(1, (4, 4)), padding


def _windows(case: Case) -> Iterator[tuple[tuple[slice, int, int], tuple[slice, slice, slice]]]:
    """Yield the index of each window in the result, and its slices of the padded planes."""
    planes, size, stride, padding = case
    lengths = [
        length + 2 * margin for length, margin in zip(planes.shape[1:], padding, strict=True)
    ]
    starts = [range(0, lengths[i] - size[i] + 1, stride[i]) for i in (0, 1)]
    all_planes = slice(None)
    for (i, top), (j, left) in itertools.product(*map(enumerate, starts)):
        yield (
            (all_planes, i, j),
            (all_planes, slice(top, top + size[0]), slice(left, left + size[1])),
        )


def _padded(case: Case, value: float) -> Array:
    planes, _, _, (top, left) = case
    return np.pad(planes, ((0, 0), (top, top), (left, left)), constant_values=value)


def _inside(case: Case, padded: Array) -> Array:
    planes, _, _, (top, left) = case
    return padded[:, top : top + planes.shape[1], left : left + planes.shape[2]]


@settings(deadline=None, max_examples=300)
@given(cases(), st.sampled_from((1, 60, 10_000)))
def test_mean_pooling_and_gradient_match_single_windows(case: Case, block: int) -> None:
    planes, size, stride, padding = case
    padded, expected = _padded(case, 0.0), np.zeros_like(_padded(case, 0.0))
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        out = mean_pool(planes, size, stride, padding)
        grad = np.cos(np.arange(out.size)).reshape(out.shape).astype(np.float32)
        gradient = mean_gradient(grad, planes.shape[1:], size, stride, padding)
        for index, window in _windows(case):
            np.testing.assert_allclose(
                out[index], padded[window].mean((1, 2)), rtol=1e-5, atol=1e-6
            )
            expected[window] += grad[index][:, None, None] / math.prod(size)
    np.testing.assert_allclose(gradient, _inside(case, expected), rtol=1e-5, atol=1e-6)


@settings(deadline=None, max_examples=300)
@given(cases(), st.sampled_from((1, 60, 10_000)))
def test_max_pooling_and_gradient_match_single_windows(case: Case, block: int) -> None:
    """The gradient goes to the first maximum in row-major order, or to the first nan."""
    planes, size, stride, padding = case
    padded, expected = _padded(case, -math.inf), np.zeros_like(_padded(case, 0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        out = max_pool(planes, size, stride, padding)
        grad = np.cos(np.arange(out.size)).reshape(out.shape).astype(np.float32)
        gradient = max_gradient(grad, planes, out, size, stride, padding)
    for index, window in _windows(case):
        windows = padded[window].reshape(len(planes), -1)
        np.testing.assert_array_equal(out[index], windows.max(1))
        for plane, best in enumerate(windows.argmax(1)):
            row, column = divmod(int(best), size[1])
            expected[plane, window[1].start + row, window[2].start + column] += grad[index][plane]
    np.testing.assert_allclose(gradient, _inside(case, expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["simple", "numpy"])
@pytest.mark.parametrize(
    "pool",
    [
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 2),
        lambda x: F.adaptive_max_pool2d(x, 2),
    ],
)
def test_pooled_images_can_be_modified_in_place(
    pool: Callable[[mt.Tensor], mt.Tensor], backend: str
) -> None:
    images = np.random.default_rng(0).standard_normal((1, 2, 4, 4))
    in_place, reference = (mt.tensor(images, backend=backend, requires_grad=True) for _ in range(2))
    pool(in_place).relu_().square().sum().backward()
    pool(reference).relu().square().sum().backward()
    assert in_place.grad is not None
    assert reference.grad is not None
    np.testing.assert_array_equal(in_place.grad.numpy(), reference.grad.numpy())
