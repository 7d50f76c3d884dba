"""Convolution of arrays on the `numpy` backend: definition, gradients, blocks."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt_nn.kernels.numpy import convolution
from mt_nn.kernels.numpy.convolution import (
    Sliding,
    convolve,
    image_gradient,
    kernel_gradient,
)
from mt_tensor.extending import Array

Numbers = tuple[int, ...]


class Case(NamedTuple):
    """Images, kernels, a bias, and stride, padding, dilation and groups."""

    images: Array
    kernels: Array
    bias: Array
    settings: tuple[Numbers, Numbers, Numbers, int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dims = draw(st.integers(1, 3))
    groups = draw(st.sampled_from((1, 1, 2, 3)))
    n, channels, outputs = (draw(st.integers(1, 3)) for _ in range(3))

    def each(low: int, high: int) -> Numbers:
        return tuple(draw(st.integers(low, high)) for _ in range(dims))

    size, stride, padding, dilation, extra = (
        each(1, 4),
        each(1, 4),
        each(0, 3),
        each(1, 4),
        each(0, 5),
    )
    lengths_of = zip(size, padding, dilation, extra, strict=True)
    lengths = [max(d * (s - 1) + 1 - 2 * p, 1) + r for s, p, d, r in lengths_of]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    images = rng.normal(size=(n, groups * channels, *lengths))
    kernels = rng.normal(size=(groups * outputs, channels, *size))
    return Case(images, kernels, rng.normal(size=len(kernels)), (stride, padding, dilation, groups))


def _by_definition(case: Case) -> Array:
    """Return the convolution, computed one output element at a time."""
    images, kernels, bias, (stride, padding, dilation, groups) = case
    padded = np.pad(images, [(0, 0), (0, 0), *((margin, margin) for margin in padding)])
    spans = [d * (s - 1) + 1 for d, s in zip(dilation, kernels.shape[2:], strict=True)]
    starts = [
        range(0, length - span + 1, step)
        for length, span, step in zip(padded.shape[2:], spans, stride, strict=True)
    ]
    channels, outputs = kernels.shape[1], len(kernels) // groups
    out = np.empty((len(images), len(kernels), *map(len, starts)))
    for index in itertools.product(*map(range, map(len, starts))):
        window = tuple(
            slice(positions[i], positions[i] + span, d)
            for i, positions, span, d in zip(index, starts, spans, dilation, strict=True)
        )
        windows = padded[(slice(None), slice(None), *window)]
        for o, kernel in enumerate(kernels):
            first = o // outputs * channels
            part = windows[:, first : first + channels] * kernel
            out[(slice(None), o, *index)] = part.reshape(len(images), -1).sum(1) + bias[o]
    return out


@settings(deadline=None, max_examples=300)
@given(cases(), st.sampled_from((1, 30, 400, convolution.COLUMNS)))
def test_convolution_matches_definition_and_gradients_are_adjoint(case: Case, columns: int) -> None:
    """Convolution is linear in images and in kernels, so that its gradients are adjoint maps."""
    images, kernels, bias, settings = case
    sliding = Sliding(*settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolution, "COLUMNS", columns)  # blocks of several sizes
        out = convolve(images, kernels, bias, sliding)
        np.testing.assert_allclose(out, _by_definition(case), rtol=1e-9, atol=1e-9)
        grad = np.cos(np.arange(out.size)).reshape(out.shape)
        images_grad = image_gradient(grad, kernels, images.shape[2:], sliding)
        kernels_grad = kernel_gradient(grad, images, kernels.shape[2:], sliding)
    assert (images_grad.shape, kernels_grad.shape) == (images.shape, kernels.shape)
    linear = convolve(images, kernels, None, sliding)
    value = (linear * grad).sum()
    assert (images_grad * images).sum() == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert (kernels_grad * kernels).sum() == pytest.approx(value, rel=1e-9, abs=1e-9)
    direction = np.sin(np.arange(images.size)).reshape(images.shape)
    expected = (convolve(direction, kernels, None, sliding) * grad).sum()
    assert (images_grad * direction).sum() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    direction = np.sin(np.arange(kernels.size)).reshape(kernels.shape)
    expected = (convolve(images, direction, None, sliding) * grad).sum()
    assert (kernels_grad * direction).sum() == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_stride_longer_than_the_images_gives_gradient_of_one_window() -> None:
    images, kernels = np.ones((1, 1, 6)), np.arange(1.0, 5.0).reshape(1, 1, 4)
    for stride in (6, 2**50, 2**63 - 1, 2**64):
        sliding = Sliding((stride,), (0,), (1,), 1)
        assert convolve(images, kernels, None, sliding).tolist() == [[[10.0]]]
        grad = image_gradient(np.ones((1, 1, 1)), kernels, (6,), sliding)
        assert grad.tolist() == [[[1.0, 2.0, 3.0, 4.0, 0.0, 0.0]]]


def test_dilation_larger_than_memory_has_no_effect_on_kernel_of_one_tap() -> None:
    images, kernels = np.arange(3.0).reshape(1, 1, 3), np.full((1, 1, 1), 2.0)
    sliding = Sliding((1,), (0,), (2**63 - 1,), 1)
    assert convolve(images, kernels, None, sliding).tolist() == [[[0.0, 2.0, 4.0]]]
    assert image_gradient(np.ones((1, 1, 3)), kernels, (3,), sliding).tolist() == [[[2.0] * 3]]
    assert kernel_gradient(images, np.ones((1, 1, 3)), (1,), sliding).tolist() == [[[3.0]]]


def test_columns_of_large_convolution_are_computed_in_blocks() -> None:
    """The scratch memory of a convolution does not grow with the images."""
    images, kernels = np.zeros((2, 3, 90, 1000), np.float32), np.zeros((1, 3, 5, 5), np.float32)
    sliding = Sliding((1, 1), (0, 0), (1, 1), 1)
    windows = convolution._windows(images, (5, 5), sliding)
    blocks = convolution._parts(windows.shape, convolution.COLUMNS)
    sizes = [windows[..., images, rows, :].size for images, rows in blocks]
    assert max(sizes) <= convolution.COLUMNS
    assert sum(sizes) == windows.size == 2 * math.prod(kernels.shape) * 86 * 996
