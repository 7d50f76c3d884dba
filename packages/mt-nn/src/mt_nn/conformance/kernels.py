"""Samples of the arguments of kernels, by name of the operation.

The docstring of each function lists the arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from inspect import isgeneratorfunction
from typing import Any

import numpy as np

from mt_nn.conformance.drawing import draw, extreme

Arguments = tuple[Any, ...]


def linear() -> Iterator[Arguments]:
    """Yield inputs, weights and biases."""
    for dtype in ("float32", "float64"):
        yield draw(5, 3, dtype=dtype), draw(4, 3, dtype=dtype), draw(4, dtype=dtype)
        yield draw(2, 6, 3, dtype=dtype), draw(1, 3, dtype=dtype), None
    yield draw(3), draw(4, 3), draw(4)
    yield extreme(6, 4), draw(5, 4), draw(5)
    yield draw(0, 3), draw(4, 3), draw(4)
    yield draw(5, 3), draw(4, 3, dtype="float64"), None


def int8_linear() -> Iterator[Arguments]:
    """Yield inputs, weights, scales and biases."""
    for dtype in ("float32", "float64"):
        for rows, inputs, outputs in ((1, 70, 4), (8, 5, 3), (9, 5, 3)):
            weight = (50.0 * draw(outputs, inputs)).astype("int8")
            x, scale = draw(rows, inputs, dtype=dtype), 0.02 * draw(outputs, dtype=dtype)
            yield x, weight, scale, draw(outputs, dtype=dtype)
            yield x, weight, scale, None
    yield draw(2, 2, 3), np.ones((4, 3), np.int8), draw(4), draw(4)
    yield draw(0, 3), np.ones((4, 3), np.int8), draw(4), draw(4)
    yield extreme(2, 40), np.ones((4, 40), np.int8), draw(4), draw(4)


def conv2d() -> Iterator[Arguments]:
    """Yield images, kernels, biases, stride, padding, dilation and groups."""
    plain = ((1, 1), (0, 0), (1, 1))
    for dtype in ("float32", "float64"):
        x, w, b = draw(2, 4, 7, 9, dtype=dtype), draw(6, 4, 3, 3, dtype=dtype), draw(6, dtype=dtype)
        yield x, w, b, *plain, 1
        yield x, w, None, (2, 3), (1, 2), (1, 1), 1
        yield x, w, b, (1, 2), (3, 0), (2, 2), 1
        yield x, draw(6, 2, 3, 2, dtype=dtype), b, (2, 1), (1, 1), (1, 3), 2
        yield x, draw(8, 1, 3, 3, dtype=dtype), draw(8, dtype=dtype), (1, 1), (1, 1), (1, 1), 4
        yield x, draw(5, 4, 1, 1, dtype=dtype), None, *plain, 1
    yield draw(1, 3, 1, 40), draw(2, 3, 1, 5), draw(2), (1, 2), (0, 2), (1, 1), 1
    yield draw(1, 3, 40, 1), draw(2, 3, 5, 1), None, *plain, 1
    yield draw(3, 1, 2, 2), draw(4, 1, 5, 5), draw(4), (1, 1), (2, 2), (1, 1), 1
    many = draw(33, 17, 3, 3)
    yield 0.1 * draw(1, 17, 5, 4), many, draw(33), (1, 1), (1, 1), (1, 1), 1
    yield draw(0, 2, 5, 5), draw(3, 2, 3, 3), draw(3), *plain, 1
    yield extreme(2, 2, 6, 6), draw(3, 2, 3, 3), draw(3), (1, 1), (1, 1), (1, 1), 1


def conv_transpose2d() -> Iterator[Arguments]:
    """Yield images, kernels, biases, stride, padding, output padding, dilation and groups."""
    none, ones = (0, 0), (1, 1)
    for dtype in ("float32", "float64"):
        x, w, b = draw(2, 4, 5, 3, dtype=dtype), draw(4, 6, 3, 3, dtype=dtype), draw(6, dtype=dtype)
        yield x, w, b, ones, none, none, ones, 1
        yield x, w, None, (2, 3), (1, 2), (1, 0), ones, 1
        yield x, draw(4, 3, 3, 2, dtype=dtype), b, (2, 1), (0, 1), none, (1, 2), 2
        yield x, draw(4, 1, 1, 1, dtype=dtype), None, (2, 2), none, (1, 1), ones, 1
    yield draw(2, 2, 4, 4), draw(2, 3, 2, 2), draw(3), ones, none, (1, 0), (2, 1), 1
    yield draw(1, 17, 2, 2), 0.1 * draw(17, 33, 4, 4), None, (2, 2), (1, 1), none, ones, 1
    yield draw(1, 2, 4, 4), draw(2, 2, 1, 1), draw(2), (3, 3), (1, 1), none, ones, 1
    yield draw(0, 2, 5, 5), draw(2, 3, 3, 3), draw(3), ones, none, none, ones, 1
    yield extreme(2, 2, 4, 4), draw(2, 3, 3, 3), draw(3), ones, none, none, ones, 1


def conv3d() -> Iterator[Arguments]:
    """Yield volumes, kernels, biases, stride, padding, dilation and groups."""
    none, ones = (0, 0, 0), (1, 1, 1)
    for dtype in ("float32", "float64"):
        x, b = draw(2, 4, 5, 6, 7, dtype=dtype), draw(6, dtype=dtype)
        yield x, draw(6, 4, 3, 3, 3, dtype=dtype), b, ones, ones, ones, 1
        yield x, draw(6, 2, 3, 2, 1, dtype=dtype), None, (2, 1, 3), (1, 0, 2), (2, 3, 1), 2
        yield x, draw(4, 1, 1, 2, 3, dtype=dtype), None, (1, 2, 2), none, (1, 1, 2), 4
    yield draw(0, 2, 3, 3, 3), draw(3, 2, 2, 2, 2), draw(3), ones, none, ones, 1
    yield extreme(2, 2, 3, 4, 4), draw(3, 2, 2, 2, 2), draw(3), ones, ones, ones, 1


def conv_transpose3d() -> Iterator[Arguments]:
    """Yield volumes, kernels, biases, stride, padding, output padding, dilation and groups."""
    none, ones = (0, 0, 0), (1, 1, 1)
    for dtype in ("float32", "float64"):
        x, b = draw(2, 4, 3, 4, 5, dtype=dtype), draw(6, dtype=dtype)
        yield x, draw(4, 6, 3, 3, 3, dtype=dtype), b, ones, none, none, ones, 1
        yield x, draw(4, 3, 3, 2, 1, dtype=dtype), b, (2, 1, 3), (1, 0, 0), (1, 0, 2), ones, 2
        yield x, draw(4, 1, 2, 3, 3, dtype=dtype), None, (2, 4, 1), (0, 1, 2), none, (3, 2, 2), 4
    yield draw(1, 2, 3, 3, 3), draw(2, 3, 2, 2, 2), draw(3), ones, none, (1, 0, 0), (2, 1, 1), 1
    yield draw(0, 2, 3, 3, 3), draw(2, 3, 2, 2, 2), draw(3), ones, none, none, ones, 1
    yield extreme(2, 2, 3, 3, 3), draw(2, 3, 2, 2, 2), draw(3), (2, 2, 2), none, none, ones, 1


def avg_pool2d() -> Iterator[Arguments]:
    """Yield images, and the size, stride and padding of windows."""
    settings = [
        ((2, 2), (2, 2), (0, 0)),
        ((3, 3), (2, 2), (1, 1)),
        ((2, 3), (3, 1), (1, 0)),
        ((4, 4), (4, 4), (2, 2)),
        ((1, 1), (2, 3), (0, 0)),
        ((3, 2), (1, 2), (0, 1)),
    ]
    for (height, width), setting in itertools.product(((8, 8), (7, 19)), settings):
        yield draw(2, 3, height, width), *setting
    yield draw(1, 2, 5, 6, dtype="float64"), *settings[1]
    yield np.zeros((1, 2, 6, 6), np.float32), *settings[0]  # ties
    yield draw(1, 1, 6, 6).round(), *settings[1]
    yield extreme(2, 2, 9, 10), *settings[0]
    yield draw(0, 2, 4, 4), *settings[0]


max_pool2d = avg_pool2d


def max_places() -> Iterator[Arguments]:
    """Yield signals, images or volumes, and for each size the indices of window elements."""
    overlapping = np.array([[0, 1, 2], [2, 3, 4], [4, 5, 6]])
    spread, single = np.array([[2, 2, 4], [0, 3, 6]]), np.array([[1]])
    for dtype in ("float32", "float64"):
        yield draw(2, 3, 7, 9, dtype=dtype), (overlapping, spread)
        yield draw(2, 3, 7, dtype=dtype), (spread,)
        yield draw(1, 2, 3, 7, 8, dtype=dtype), (single, overlapping, spread)
    yield np.zeros((2, 1, 7, 7), np.float32), (spread, overlapping)  # ties
    yield np.where(draw(2, 2, 8, 7) > 0.5, np.nan, draw(2, 2, 8, 7)), (overlapping, overlapping)
    yield extreme(2, 2, 7, 7), (overlapping, spread)
    yield draw(1, 1, 2, 2), (single, single)


def pad() -> Iterator[Arguments]:
    """Yield images, the padding before and after the last dimensions, and the mode."""
    modes = ("reflect", "replicate", "circular")
    for mode, dtype in itertools.product(modes, ("float32", "float64")):
        x = draw(2, 3, 5, 7, dtype=dtype)
        yield x, (2, 3, 4, 1), mode
        yield x, (0, 6, 0, 0), mode
        yield x[0], (0, 0, 1, 2), mode
        yield x[0, 0], (4, 0), mode
        yield x[0], (3, 1), mode
        yield x, (-2, 1, 1, -1), mode
        yield x, (1, 0, 2, 1, 1, 1), mode
    yield draw(2, 1, 1, 1), (3, 0, 1, 2), "replicate"
    yield draw(0, 3, 5, 7), (2, 3, 4, 1), "reflect"
    yield extreme(2, 2, 4, 4), (1, 1, 2, 2), "reflect"


def cross_entropy() -> Iterator[Arguments]:
    """Yield scores, classes, `ignore_index` and the reduction."""
    classes = np.random.default_rng(1).integers(0, 5, (7, 2, 3))
    holes = np.where(classes == 1, -100, classes)
    for reduction, dtype in itertools.product(("mean", "sum", "none"), ("float32", "float64")):
        yield draw(7, 5, dtype=dtype), classes[:, 0, 0], -100, reduction
        yield draw(7, 5, 2, 3, dtype=dtype), classes, 2, reduction
        yield draw(7, 5, 2, 3, dtype=dtype), holes, -100, reduction
        yield draw(4, 5, dtype=dtype), np.full(4, 3), 3, reduction
    yield draw(3, 1), np.zeros(3, np.int64), 1, "sum"
    yield 1e30 * draw(7, 5), classes[:, 1, 1], -1, "none"
    yield 1e-30 * draw(6, 5), classes[1:, 1, 1], -1, "none"
    yield extreme(9, 6), np.arange(9) % 6, 7, "none"
    yield draw(0, 5), np.zeros(0, np.int64), -100, "sum"


def ctc() -> Iterator[Arguments]:
    """Yield log-probabilities, labels with blanks around, durations, lengths, and the blank."""
    numbers = np.random.default_rng(5)
    for dtype, blank in itertools.product(("float32", "float64"), (0, 2)):
        scores = np.log(numbers.dirichlet(np.ones(6), (12, 4)) + 1e-3).astype(dtype)
        states = np.full((4, 9), blank)
        states[:, 1::2] = numbers.integers(3, 5, (4, 4))  # some follow themselves
        yield scores, states, np.array([12, 8, 10, 9]), np.array([4, 0, 1, 3]), blank
    yield draw(3, 2, 2), np.full((2, 1), 1), np.array([3, 0]), np.array([0, 0]), 1
    impossible = np.where(np.arange(6) % 3, -1.0, -np.inf) * np.ones((7, 1, 6))
    labels = np.array([[1, 2, 1, 4, 1]])
    yield impossible.astype(np.float32), labels, np.array([7]), np.array([2]), 1
    long = draw(400, 1, 30, dtype="float64") - 4
    yield long, np.arange(41)[None] % 2 * 7, np.array([400]), np.array([20]), 0


def layer_norm() -> Iterator[Arguments]:
    """Yield inputs, weight, bias, the number of normalized dimensions, eps."""
    for dtype in ("float32", "float64"):
        x = draw(5, 3, 4, dtype=dtype)
        yield x, draw(4, dtype=dtype), draw(4, dtype=dtype, seed=1), 1, 1e-5
        yield x, draw(3, 4, dtype=dtype), None, 2, 1e-5
        yield x, None, draw(4, dtype=dtype), 1, 0.1
        yield x + 10, None, None, 3, 1e-5
    yield draw(40, 33), draw(33), draw(33), 1, 1e-5
    yield draw(3, 1), draw(1), draw(1), 1, 1e-5
    yield extreme(9, 8), draw(8), draw(8), 1, 1e-5
    yield draw(0, 4), draw(4), draw(4), 1, 1e-5


def rms_norm() -> Iterator[Arguments]:
    """Yield inputs, weight, the number of normalized dimensions, eps."""
    for dtype in ("float32", "float64"):
        x = draw(5, 3, 4, dtype=dtype)
        yield x, draw(4, dtype=dtype), 1, 1e-5
        yield x, draw(3, 4, dtype=dtype), 2, 0.1
        yield x + 10, None, 3, 1e-5
    yield draw(40, 33), draw(33), 1, 1e-5
    yield draw(3, 1), draw(1), 1, 1e-5
    yield extreme(9, 8), draw(8), 1, 1e-5
    yield draw(0, 4), draw(4), 1, 1e-5


def batch_norm() -> Iterator[Arguments]:
    """Yield inputs, weight, bias, eps, and a list for the statistics."""
    for dtype in ("float32", "float64"):
        x = draw(6, 3, 4, 5, dtype=dtype)
        yield x, draw(3, dtype=dtype), draw(3, dtype=dtype, seed=1), 1e-5, []
        yield x + 10, None, draw(3, dtype=dtype), 1e-5, []
        yield draw(9, 4, dtype=dtype), draw(4, dtype=dtype), None, 0.1, []
    yield draw(5, 2, 7), None, None, 1e-5, []
    yield extreme(8, 3, 4), draw(3), draw(3), 1e-5, []


def group_norm() -> Iterator[Arguments]:
    """Yield inputs, weight, bias, the number of groups, eps."""
    for dtype in ("float32", "float64"):
        x = draw(3, 6, 4, 5, dtype=dtype)
        yield x, draw(6, dtype=dtype), draw(6, dtype=dtype, seed=1), 2, 1e-5
        yield x + 10, None, draw(6, dtype=dtype), 6, 1e-5
        yield draw(5, 4, dtype=dtype), draw(4, dtype=dtype), None, 1, 0.1
    yield draw(2, 9, 37), None, None, 3, 1e-5
    yield extreme(4, 6, 4), draw(6), draw(6), 2, 1e-5


def resample() -> Iterator[Arguments]:
    """Yield inputs, a dimension, taps and weights."""
    numbers = np.random.default_rng(4)
    for dtype, dim in itertools.product(("float32", "float64"), (1, 2, 3)):
        x = draw(2, 3, 5, 7, dtype=dtype)
        for shape in ((9, 2), (4, 1), (x.shape[dim], 4)):
            yield x, dim, numbers.integers(0, x.shape[dim], shape), draw(*shape, dtype=dtype)
    yield draw(2, 3, 1), 2, np.zeros((4, 2), np.int64), draw(4, 2)
    yield extreme(4, 6), 1, numbers.integers(0, 6, (5, 3)), draw(5, 3)


def dropout() -> Iterator[Arguments]:
    """Yield inputs, random numbers from 0 to 1, and the probability of zeroing an element."""
    noise = np.random.default_rng(2).random((4, 5), np.float32)
    for dtype in ("float32", "float64"):
        yield draw(4, 5, dtype=dtype), noise, 0.3
    yield extreme(4, 5), noise, 0.75
    yield draw(0, 5), noise[:0], 0.5


def embedding() -> Iterator[Arguments]:
    """Yield a table, and indices of its rows."""
    numbers = np.random.default_rng(3).integers(0, 6, (4, 5))
    yield draw(6, 3), numbers
    yield draw(6, 17, dtype="float64"), numbers[0].astype(np.int32)
    yield extreme(6, 2), numbers[1:]
    yield draw(9, 4), np.full((40,), 8)
    yield draw(3, 2), np.zeros((0,), np.int64)


def attention() -> Iterator[Arguments]:
    """Yield queries, keys, values, an additive mask, whether attention is causal, and the scale."""
    for dtype in ("float32", "float64"):
        q, k, v = (draw(2, 3, n, 4, dtype=dtype, seed=n) for n in (5, 7, 7))
        yield q, k, v, None, False, 0.5
        yield q, k, v, None, True, 0.5
        yield q, k, v, draw(5, 7, dtype=dtype), False, 1.0
        yield q[0, 0], k[0, 0], v[0, 0], draw(1, 7, dtype=dtype), False, 2.0
    yield draw(1, 4, 2), draw(1, 9, 2), draw(1, 9, 6), None, True, 30.0
    mask = np.where(np.arange(7) < 3, 0, -np.inf).astype(np.float32)
    yield draw(2, 5, 4), draw(2, 7, 4), draw(2, 7, 4), mask, False, 0.5


# Lengths of sequences of at most 5 steps, for recurrent networks.
LENGTHS = np.array([2, 5, 1])


def rnn() -> Iterator[Arguments]:
    """Yield input projections, initial state, weight, lengths, whether to reverse, whether relu."""
    for dtype in ("float32", "float64"):
        given = draw(5, 3, 4, dtype=dtype), draw(3, 4, dtype=dtype), draw(4, 4, dtype=dtype)
        yield *given, None, False, False
        yield *given, None, True, True
        yield *given, LENGTHS, False, True
        yield *given, LENGTHS, True, False
    yield draw(2, 1, 3), draw(1, 3), draw(3, 3), None, False, True
    yield draw(2, 13, 50), draw(13, 50), 0.1 * draw(50, 50), None, False, False


def gru() -> Iterator[Arguments]:
    """Yield input projections, initial state, weight, bias, lengths, whether to reverse."""
    for dtype in ("float32", "float64"):
        x, h = draw(5, 3, 12, dtype=dtype), draw(3, 4, dtype=dtype)
        weight = draw(12, 4, dtype=dtype)
        yield x, h, weight, draw(12, dtype=dtype), None, False
        yield x, h, weight, None, None, True
        yield x, h, weight, None, LENGTHS, False
        yield x, h, weight, draw(12, dtype=dtype), LENGTHS, True
    yield draw(2, 13, 90), draw(13, 30), 0.1 * draw(90, 30), draw(90), None, False


def lstm() -> Iterator[Arguments]:
    """Yield input projections, initial states, weight, projection, lengths, whether to reverse."""
    for dtype in ("float32", "float64"):
        x, c = draw(5, 3, 16, dtype=dtype), draw(3, 4, dtype=dtype, seed=1)
        for lengths, reverse in itertools.product((None, LENGTHS), (False, True)):
            h = draw(3, 4, dtype=dtype)
            yield x, h, c, draw(16, 4, dtype=dtype), None, lengths, reverse
            h, projection = draw(3, 2, dtype=dtype), draw(2, 4, dtype=dtype)
            yield x, h, c, draw(16, 2, dtype=dtype), projection, lengths, reverse
    yield draw(2, 13, 120), draw(13, 30), draw(13, 30), 0.1 * draw(120, 30), None, None, False


def lstm_cell() -> Iterator[Arguments]:
    """Yield an input, hidden state, cell state, both weights, both biases."""
    for dtype in ("float32", "float64"):
        x, h, c = (draw(3, n, dtype=dtype, seed=k) for k, n in enumerate((5, 4, 4)))
        weights = draw(16, 5, dtype=dtype), draw(16, 4, dtype=dtype)
        yield x, h, c, *weights, draw(16, dtype=dtype), draw(16, dtype=dtype, seed=1)
        yield x, h, c, *weights, None, None
    yield draw(5), draw(4), draw(4), draw(16, 5), draw(16, 4), draw(16), draw(16)
    weights = 0.1 * draw(120, 90), 0.1 * draw(120, 30)
    yield draw(13, 90), draw(13, 30), draw(13, 30), *weights, draw(120), draw(120)


def total_norm() -> Iterator[Arguments]:
    """Yield a gradient, other gradients, and the order of the norm."""
    for dtype in ("float32", "float64"):
        some = [draw(5, dtype=dtype), draw(3, 1, 4, dtype=dtype)]
        for order in (2.0, 1.0, float("inf")):
            yield draw(2, 3, dtype=dtype), some, order
        yield draw(300, dtype=dtype), [draw(k, dtype=dtype) for k in range(1, 40)], 2.0
    yield draw(6), [], 2.0
    yield draw(6), [draw(0), draw(2, dtype="float64")], 2.0
    yield extreme(4, 4), [draw(3)], 2.0


SAMPLES: dict[str, Callable[[], Iterator[Arguments]]] = {
    name: samples for name, samples in [*globals().items()] if isgeneratorfunction(samples)
}
"""For the name of each operation, a function that yields arguments, with arrays for tensors."""
