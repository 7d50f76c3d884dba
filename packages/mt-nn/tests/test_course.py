"""The functions of the course: convolution, pooling, max, softmax, dropout."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import course
from mt_tensor.errors import IndexingError


def random_leaf(*shape: int) -> mt.Tensor:
    mt.manual_seed(0)
    return mt.rand(*shape, dtype="float64").requires_grad_()


def test_conv1d_keeps_the_length_of_signals() -> None:
    signal = mt.tensor([[[0.0, 1.0, 2.0, 3.0]]])
    kernel = mt.tensor([[[1.0, 2.0, 3.0]]])
    assert course.conv1d(signal, kernel).tolist() == [[[8.0, 14.0, 8.0, 3.0]]]


def test_conv2d_keeps_the_size_of_images_and_passes_gradcheck() -> None:
    image, kernels = random_leaf(1, 2, 3, 4), random_leaf(2, 2, 2, 3)
    out = course.conv2d(image, kernels)
    assert out.shape == (1, 2, 3, 4)
    last = (image[0, :, 2:, 3:] * kernels[1, :, :1, :1]).sum()
    assert out[0, 1, 2, 3].item() == pytest.approx(last.item())
    assert mt.gradcheck(course.conv2d, [image, kernels])


def test_tile_splits_images_and_avgpool2d_averages_tiles() -> None:
    x = random_leaf(1, 2, 4, 6)
    tiled, height, width = course.tile(x, (2, 3))
    assert (tiled.shape, height, width) == ((1, 2, 2, 2, 6), 2, 2)
    np.testing.assert_array_equal(tiled.detach()[0, 1, 1, 0], x.detach()[0, 1, 2:, :3].flatten())
    np.testing.assert_allclose(
        course.avgpool2d(x, (2, 3)).detach(), nn.functional.avg_pool2d(x, (2, 3)).detach()
    )


def test_maxpool2d_matches_max_pool2d_and_passes_gradcheck() -> None:
    x = random_leaf(1, 2, 4, 6)
    np.testing.assert_array_equal(
        course.maxpool2d(x, (2, 3)).detach(), nn.functional.max_pool2d(x, (2, 3)).detach()
    )
    assert mt.gradcheck(lambda t: course.maxpool2d(t, (2, 3)), [x])


def test_argmax_marks_all_maxima_and_max_propagates_to_them() -> None:
    x = mt.tensor([[1.0, 3.0, 3.0], [5.0, 2.0, 4.0]], requires_grad=True)
    assert course.argmax(x, 1).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert course.argmax(x, 1).dtype == x.dtype
    assert course.max(x, 1).tolist() == [[3], [5]]
    course.max(x, 0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 1]]


def test_softmax_sums_to_1_and_logsoftmax_is_its_logarithm() -> None:
    x = random_leaf(3, 4)
    np.testing.assert_allclose(course.softmax(x, 1).detach().numpy().sum(1), 1.0)
    np.testing.assert_allclose(
        course.logsoftmax(x, 1).exp().detach(), course.softmax(x, 1).detach()
    )


def test_softmax_of_large_scores_does_not_overflow() -> None:
    scores = mt.tensor([[1000.0, 1001.0, -1000.0]])
    second = 1.0 / (1.0 + np.exp(-1.0))
    np.testing.assert_allclose(
        course.softmax(scores, 1).tolist(), [[1.0 - second, second, 0.0]], rtol=1e-6
    )
    np.testing.assert_allclose(
        course.logsoftmax(scores, 1).tolist(),
        [[np.log(second) - 1.0, np.log(second), np.log(second) - 2001.0]],
        rtol=1e-6,
    )


def test_dropout_zeroes_elements_without_scaling() -> None:
    x = mt.ones(1000)
    assert course.dropout(x, 0.0).tolist() == x.tolist()
    assert not course.dropout(x, 1.0).any()
    assert course.dropout(x, 1.0, ignore=True) is x
    assert set(course.dropout(x, 0.5).tolist()) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: course.tile(x, (3, 2)), nn.InputError, "multiples"),
        (lambda x: course.tile(x[0], (2, 2)), nn.InputError, "a batch of images"),
        (lambda x: course.tile(x, (2, 0)), nn.SettingError, "kernel must be"),
        (lambda x: course.conv1d(x, mt.ones(1, 1, 2)), nn.InputError, "of 3 dimensions"),
        (lambda x: course.conv2d(x, mt.ones(1, 3, 2, 2)), nn.InputError, "expects 3 channels"),
        (lambda x: course.max(x, 4), IndexingError, "out of range"),
        (lambda x: course.dropout(x, 2.0), nn.SettingError, "between 0 and 1"),
    ],
)
def test_invalid_argument_raises(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(mt.ones(1, 2, 4, 4))
