"""Convolution of arrays, for the `numpy` backend."""

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

    size, stride, padding, dilation, room = (
        each(1, 4),
        each(1, 4),
        each(0, 3),
        each(1, 4),
        each(0, 5),
    )
    every = zip(size, padding, dilation, room, strict=True)
    lengths = [max(d * (s - 1) + 1 - 2 * p, 1) + r for s, p, d, r in every]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    images = rng.normal(size=(n, groups * channels, *lengths))
    kernels = rng.normal(size=(groups * outputs, channels, *size))
    return Case(images, kernels, rng.normal(size=len(kernels)), (stride, padding, dilation, groups))


def _by_definition(case: Case) -> Array:
    """Return the convolution, place by place."""
    images, kernels, bias, (stride, padding, dilation, groups) = case
    padded = np.pad(images, [(0, 0), (0, 0), *((margin, margin) for margin in padding)])
    spans = [d * (s - 1) + 1 for d, s in zip(dilation, kernels.shape[2:], strict=True)]
    places = [
        range(0, length - span + 1, step)
        for length, span, step in zip(padded.shape[2:], spans, stride, strict=True)
    ]
    channels, outputs = kernels.shape[1], len(kernels) // groups
    out = np.empty((len(images), len(kernels), *map(len, places)))
    for at in itertools.product(*map(range, map(len, places))):
        window = tuple(
            slice(where[i], where[i] + span, spread)
            for i, where, span, spread in zip(at, places, spans, dilation, strict=True)
        )
        seen = padded[(slice(None), slice(None), *window)]
        for o, kernel in enumerate(kernels):
            first = o // outputs * channels
            part = seen[:, first : first + channels] * kernel
            out[(slice(None), o, *at)] = part.reshape(len(images), -1).sum(1) + bias[o]
    return out


@settings(deadline=None, max_examples=300)
@given(cases(), st.sampled_from((1, 30, 400, convolution.COLUMNS)))
def test_convolution_and_its_gradients(case: Case, columns: int) -> None:
    """A map that is linear in images and in kernels has the gradients that are adjoint to it."""
    images, kernels, bias, settings = case
    how = Sliding(*settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolution, "COLUMNS", columns)  # of all sizes of blocks
        out = convolve(images, kernels, bias, how)
        np.testing.assert_allclose(out, _by_definition(case), rtol=1e-9, atol=1e-9)
        grad = np.cos(np.arange(out.size)).reshape(out.shape)
        of_images = image_gradient(grad, kernels, images.shape[2:], how)
        of_kernels = kernel_gradient(grad, images, kernels.shape[2:], how)
    assert (of_images.shape, of_kernels.shape) == (images.shape, kernels.shape)
    linear = convolve(images, kernels, None, how)
    value = (linear * grad).sum()
    assert (of_images * images).sum() == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert (of_kernels * kernels).sum() == pytest.approx(value, rel=1e-9, abs=1e-9)
    other = np.sin(np.arange(images.size)).reshape(images.shape)
    along = (convolve(other, kernels, None, how) * grad).sum()
    assert (of_images * other).sum() == pytest.approx(along, rel=1e-9, abs=1e-9)
    other = np.sin(np.arange(kernels.size)).reshape(kernels.shape)
    along = (convolve(images, other, None, how) * grad).sum()
    assert (of_kernels * other).sum() == pytest.approx(along, rel=1e-9, abs=1e-9)


def test_gradient_with_a_stride_longer_than_the_images_is_that_of_one_window() -> None:
    images, kernels = np.ones((1, 1, 6)), np.arange(1.0, 5.0).reshape(1, 1, 4)
    how = Sliding((2**50,), (0,), (1,), 1)
    assert convolve(images, kernels, None, how).tolist() == [[[10.0]]]
    found = image_gradient(np.ones((1, 1, 1)), kernels, (6,), how)
    assert found.tolist() == [[[1.0, 2.0, 3.0, 4.0, 0.0, 0.0]]]


def test_columns_are_computed_in_blocks() -> None:
    """What a large convolution needs beside its result does not grow with the images."""
    images, kernels = np.zeros((2, 3, 90, 1000), np.float32), np.zeros((1, 3, 5, 5), np.float32)
    how = Sliding((1, 1), (0, 0), (1, 1), 1)
    seen = convolution._windows(images, (5, 5), how)
    every = convolution._parts(seen.shape, convolution.COLUMNS)
    parts = [seen[..., images, rows, :].size for images, rows in every]
    assert max(parts) <= convolution.COLUMNS
    assert sum(parts) == seen.size == 2 * math.prod(kernels.shape) * 86 * 996
