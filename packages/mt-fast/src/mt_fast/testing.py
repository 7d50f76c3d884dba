"""The operations of networks that this backend has kernels for, composed of others, with samples.

Whoever defines these operations is a later stage. So there is a composition of each here, as short
as can be, which tests compare the kernels with: value and gradients, in float64 and float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import mt_tensor as mt
from mt_tensor.extending import FUSED, FusedKernel, as_dtype, by_kernel

COMPOSED: dict[str, Callable[..., mt.Tensor]] = {}
"""The operations by name."""


def composed(function: Any) -> Any:
    """Enter a function among the compositions."""
    COMPOSED[function.__name__] = function
    return function


# --- Products and windows -------------------------------------------------------------------------


@composed
def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Return a linear map of the last dimension."""
    return x @ weight.T if bias is None else x @ weight.T + bias


def taps(size: Any, stride: Any, dilation: Any, extents: Any) -> Any:
    """Yield each place in a window, and what all windows see there, as slices."""
    for place in itertools.product(*map(range, size)):
        starts = [at * spread for at, spread in zip(place, dilation, strict=True)]
        yield (
            place,
            tuple(
                slice(start, start + (count - 1) * step + 1, step)
                for start, count, step in zip(starts, extents, stride, strict=True)
            ),
        )


def padded(x: Any, padding: Any, value: Any = 0.0) -> Any:
    """Return images with a margin of one value."""
    above, left = padding
    shape = (*x.shape[:2], x.shape[2] + 2 * above, x.shape[3] + 2 * left)
    out = mt.full(shape, value, dtype=x.dtype)
    out[:, :, above : shape[2] - above, left : shape[3] - left] = x
    return out


def counts(x: Any, size: Any, stride: Any, dilation: Any = (1, 1)) -> Any:
    """Return how many windows there are each way."""
    every = zip(x.shape[2:], size, stride, dilation, strict=True)
    return [(extent - spread * (n - 1) - 1) // step + 1 for extent, n, step, spread in every]


@composed
def conv2d(
    x: Any, kernels: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    """Return a convolution of images."""
    x = padded(x, padding)
    size = kernels.shape[2:]
    extents = counts(x, size, stride, dilation)
    results = []
    for images, weights in zip(x.chunk(groups, 1), kernels.chunk(groups, 0), strict=True):
        sums: Any = 0.0
        for (row, column), (rows, columns) in taps(size, stride, dilation, extents):
            seen = images[:, :, rows, columns]
            sums = sums + mt.einsum("nchw,oc->nohw", seen, weights[:, :, row, column])
        results.append(sums)
    out = mt.cat(results, 1)
    return out if bias is None else out + bias.view(-1, 1, 1)


@composed
def conv_transpose2d(
    x: Any,
    kernels: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    more: Any,
    dilation: Any,
    groups: Any,
) -> Any:
    """Return what the gradient of a convolution makes of images."""
    every = zip(x.shape[2:], kernels.shape[2:], stride, padding, more, dilation, strict=True)
    size = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, k, s, p, m, d in every]
    channels = kernels.shape[1] * groups
    images = mt.zeros(x.shape[0], channels, *size, dtype=x.dtype, requires_grad=True)
    convolved = conv2d(images, kernels, None, stride, padding, dilation, groups)
    (out,) = mt.autograd.grad(convolved, images, grad_outputs=x, create_graph=True)
    return out if bias is None else out + bias.view(-1, 1, 1)


def pooled(x: Any, size: Any, stride: Any, padding: Any, outside: Any) -> Any:
    """Return what each window sees, in a last dimension."""
    x = padded(x, padding, outside)
    windows = [x[:, :, *seen] for _, seen in taps(size, stride, (1, 1), counts(x, size, stride))]
    return mt.stack(windows, -1)


@composed
def avg_pool2d(x: Any, size: Any, stride: Any, padding: Any) -> Any:
    """Return the mean of each window."""
    return pooled(x, size, stride, padding, 0.0).mean(-1)


@composed
def max_pool2d(x: Any, size: Any, stride: Any, padding: Any) -> Any:
    """Return the largest element of each window."""
    return pooled(x, size, stride, padding, -np.inf).max(-1).values


@composed
def pad(x: Any, amounts: Any, mode: Any) -> Any:
    """Return images padded with what they hold."""
    numpys: Any = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    for number, amount in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        dim = x.ndim - 1 - number
        x = x.index_select(dim, mt.tensor(np.pad(np.arange(x.shape[dim]), amount, numpys)))
    return x


@composed
def resample(x: Any, dim: Any, places: Any, weights: Any) -> Any:
    """Return weighted sums of a few elements along a dimension."""
    weights = weights.detach()  # they are settings
    shape = [-1 if each == dim else 1 for each in range(x.ndim)]
    return sum(
        x.index_select(dim, places[:, k]) * weights[:, k].view(shape)
        for k in range(places.shape[1])
    )


# --- Normalization, losses and what else networks do ----------------------------------------------


def normalized(x: Any, dims: Any, eps: Any) -> Any:
    """Return elements with mean 0 and variance 1 over some dimensions."""
    away = x - x.mean(dims, keepdim=True)
    return away / (away.square().mean(dims, keepdim=True) + eps).sqrt()


def scaled(x: Any, weight: Any, bias: Any, shape: Any) -> Any:
    """Return elements times a weight, plus a bias, each of which may be None."""
    x = x if weight is None else x * weight.view(shape)
    return x if bias is None else x + bias.view(shape)


@composed
def layer_norm(x: Any, weight: Any, bias: Any, folded: Any, eps: Any) -> Any:
    """Return the last dimensions normalized."""
    dims = tuple(range(-folded, 0))
    return scaled(normalized(x, dims, eps), weight, bias, x.shape[x.ndim - folded :])


@composed
def rms_norm(x: Any, weight: Any, folded: Any, eps: Any) -> Any:
    """Return the last dimensions by the root of their mean square."""
    dims = tuple(range(-folded, 0))
    y = x / (x.square().mean(dims, keepdim=True) + eps).sqrt()
    return scaled(y, weight, None, x.shape[x.ndim - folded :])


@composed
def batch_norm(x: Any, weight: Any, bias: Any, eps: Any, statistics: Any) -> Any:
    """Return channels normalized; mean and variance go into a list."""
    dims = tuple(dim for dim in range(x.ndim) if dim != 1)
    statistics[:] = x.detach().mean(dims), x.detach().var(dims, unbiased=False)
    return scaled(normalized(x, dims, eps), weight, bias, (-1, *[1] * (x.ndim - 2)))


@composed
def group_norm(x: Any, weight: Any, bias: Any, groups: Any, eps: Any) -> Any:
    """Return groups of channels normalized."""
    y = normalized(x.reshape(x.shape[0], groups, -1), (2,), eps).reshape(x.shape)
    return scaled(y, weight, bias, (-1, *[1] * (x.ndim - 2)))


@composed
def dropout(x: Any, noise: Any, p: Any) -> Any:
    """Return the elements whose noise is at least `p`, scaled."""
    return x * (noise >= p).to(x.dtype) / (1 - p)


@composed
def embedding(table: Any, numbers: Any) -> Any:
    """Return rows of a table."""
    return table[numbers.long()]


@composed
def cross_entropy(scores: Any, classes: Any, ignored: Any, reduction: Any) -> Any:
    """Return the loss of classes, 0 where one is ignored."""
    counted = classes != ignored
    places = classes.masked_fill(~counted, 0).unsqueeze(1)
    losses = (-scores.log_softmax(1).gather(1, places).squeeze(1)).masked_fill(~counted, 0.0)
    if reduction == "mean":
        return losses.sum() / counted.sum()
    return losses if reduction == "none" else losses.sum()


@composed
def glu(x: Any, dim: Any) -> Any:
    """Return the first half of a dimension times the sigmoid of the second."""
    first, gate = x.chunk(2, dim)
    return first * gate.sigmoid()


@composed
def attention(query: Any, key: Any, value: Any, mask: Any, causal: Any, scale: Any) -> Any:
    """Return means of values, weighted by how keys fit queries."""
    scores = scale * (query @ key.transpose(-1, -2))
    scores = scores if mask is None else scores + mask
    if causal:
        seen = mt.ones(*scores.shape[-2:], dtype=mt.bool).tril()
        scores = scores.masked_fill(~seen, -np.inf)
    return scores.softmax(-1) @ value


@composed
def ctc(scores: Any, labels: Any, durations: Any, lengths: Any, blank: Any) -> Any:
    """Return the loss of sequences of labels with blanks around them."""
    losses = []
    for i, states in enumerate(labels.tolist()):
        ways = {-1: mt.tensor(0.0, dtype=scores.dtype)}  # before the first state
        for time in range(int(durations[i])):
            before, ways = ways, {}
            for s, label in enumerate(states[: 2 * int(lengths[i]) + 1]):
                leaps = s == 1 or (s > 1 and label not in (blank, states[s - 2]))
                steps = [s, s - 1, *([s - 2] if leaps else [])]
                come = [before[step] for step in steps if step in before]
                if come:
                    ways[s] = mt.stack(come).logsumexp(0) + scores[time, i, label]
        ends = {2 * int(lengths[i]), max(2 * int(lengths[i]) - 1, -1)} & ways.keys()
        losses.append(-mt.stack([ways[end] for end in ends]).logsumexp(0))
    return mt.stack(losses)


# --- Recurrent networks ---------------------------------------------------------------------------


def recurrence(projected: Any, states: Any, lengths: Any, backwards: Any, step: Any) -> Any:
    """Return the hidden state after each step, and the last states; one that has ended stays."""
    hidden_states: list[Any] = [None] * len(projected)
    for time in range(len(projected))[:: -1 if backwards else 1]:
        after = step(projected[time], *states)
        if lengths is not None:
            goes_on = (lengths > time).unsqueeze(1)
            after = [mt.where(goes_on, a, b) for a, b in zip(after, states, strict=True)]
        states = after
        hidden_states[time] = states[0]
    return mt.stack(hidden_states), states


@composed
def rnn(
    projected: Any, hidden: Any, weight: Any, lengths: Any, backwards: Any, is_relu: Any
) -> Any:
    """Return the states of a plain network."""
    activation = mt.relu if is_relu else mt.tanh

    def step(x: Any, h: Any) -> Any:
        return [activation(x + h @ weight.T)]

    return recurrence(projected, [hidden], lengths, backwards, step)[0]


@composed
def gru(projected: Any, hidden: Any, weight: Any, bias: Any, lengths: Any, backwards: Any) -> Any:
    """Return the states of gated units."""

    def step(x: Any, h: Any) -> Any:
        y = h @ weight.T if bias is None else h @ weight.T + bias
        (r, z, n), (of_r, of_z, of_n) = x.chunk(3, 1), y.chunk(3, 1)
        r, z = (r + of_r).sigmoid(), (z + of_z).sigmoid()
        return [(1 - z) * (n + r * of_n).tanh() + z * h]

    return recurrence(projected, [hidden], lengths, backwards, step)[0]


@composed
def lstm(
    projected: Any, hidden: Any, cell: Any, weight: Any, shrink: Any, lengths: Any, backwards: Any
) -> Any:
    """Return the hidden state after each step, and the cell state after the last, in a row."""

    def step(x: Any, h: Any, c: Any) -> Any:
        i, f, g, o = (x + h @ weight.T).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        output = o.sigmoid() * c.tanh()
        return [output if shrink is None else output @ shrink.T, c]

    hidden_states, (_, last) = recurrence(projected, [hidden, cell], lengths, backwards, step)
    return mt.cat([hidden_states.flatten(), last.flatten()])


@composed
def lstm_cell(x: Any, h: Any, c: Any, of_input: Any, of_state: Any, first: Any, second: Any) -> Any:
    """Return the hidden state after a step, and the cell state."""
    bias = 0 if first is None else first + second
    i, f, g, o = (x @ of_input.T + h @ of_state.T + bias).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return mt.stack([o.sigmoid() * c.tanh(), c])


# --- Samples --------------------------------------------------------------------------------------

FLOAT, HALF = "float64", "float32"


def draw(*shape: Any, dtype: Any = FLOAT) -> Any:
    """Return random numbers, the same for the same shape."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


NUMBERS = np.random.default_rng(1).integers(0, 5, (7, 3, 4))
PLAIN = ((1, 1), (0, 0), (1, 1), 1)
IMAGES = draw(2, 4, 7, 9)
FEW = np.array([2, 5, 1])
SINGLE, STATES = draw(5, 3, 4), draw(3, 4)
STATES_OF_LABELS = np.array([[0, 3, 0, 3, 0, 4, 0], [0, 1, 0, 2, 0, 0, 0]])

SAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "linear": [
        (draw(5, 3), draw(4, 3), draw(4)),
        (draw(2, 6, 3), draw(1, 3), None),
        (draw(3), draw(4, 3), draw(4)),
    ],
    "conv2d": [
        (IMAGES, draw(6, 4, 3, 3), draw(6), *PLAIN),
        (IMAGES, draw(6, 2, 3, 2), draw(6), (2, 1), (1, 0), (1, 3), 2),
        (draw(9, 3, 5, 5), draw(8, 3, 2, 2), None, *PLAIN),
    ],
    "conv_transpose2d": [
        (IMAGES, draw(4, 6, 3, 3), draw(6), (1, 1), (0, 0), (0, 0), (1, 1), 1),
        (IMAGES, draw(4, 3, 3, 2), None, (2, 3), (1, 1), (1, 0), (1, 2), 2),
        (draw(1, 2, 4, 4), draw(2, 3, 2, 2), draw(3), (3, 2), (0, 0), (2, 1), (1, 1), 1),
    ],
    "avg_pool2d": [
        (draw(2, 3, *size), *windows)
        for size in ((8, 8), (7, 21))
        for windows in (
            ((2, 2), (2, 2), (0, 0)),
            ((3, 3), (2, 2), (1, 1)),
            ((2, 3), (3, 1), (1, 0)),
            ((1, 3), (1, 3), (0, 0)),
            ((3, 2), (1, 2), (0, 1)),
            ((3, 3), (1, 1), (1, 1)),
            ((4, 1), (1, 1), (2, 0)),
        )
    ],
    "pad": [
        (draw(2, 3, 5, 7), (2, 3, 4, 1), "reflect"),
        (draw(2, 3, 5, 7), (0, 6, 0, 0), "replicate"),
        (draw(3, 5, 7), (1, 2), "circular"),
        (draw(5, 7), (4, 0, 0, 2), "circular"),
    ],
    "resample": [
        (draw(2, 3, 5, 7), dim, NUMBERS.reshape(-1, shape)[:9] % size, draw(9, shape))
        for dim, size, shape in ((1, 3, 2), (2, 5, 1), (3, 7, 4))
    ],
    "layer_norm": [
        (SINGLE, draw(4), draw(4), 1, 1e-5),
        (SINGLE, draw(3, 4), None, 2, 1e-5),
        (SINGLE + 10, None, draw(4), 1, 0.1),
        (draw(40, 33), draw(33), draw(33), 1, 1e-5),
    ],
    "rms_norm": [
        (SINGLE, draw(4), 1, 1e-5),
        (SINGLE + 10, draw(3, 4), 2, 0.1),
        (draw(40, 33), None, 1, 1e-5),
    ],
    "batch_norm": [
        (draw(6, 3, 4, 5), draw(3), draw(3), 1e-5, []),
        (draw(6, 3, 4) + 10, None, draw(3), 1e-5, []),
        (draw(6, 3, 2), draw(3), draw(3), 1e-5, []),
        (draw(9, 4), draw(4), None, 0.1, []),
        (draw(9, 300), draw(300), draw(300), 0.1, []),
    ],
    "group_norm": [
        (draw(3, 6, 4, 5), draw(6), draw(6), 2, 1e-5),
        (draw(3, 6, 4) + 10, None, draw(6), 6, 1e-5),
        (draw(5, 4), draw(4), None, 1, 0.1),
    ],
    "dropout": [
        (draw(4, 5), np.linspace(0, 1, 20, dtype=HALF).reshape(4, 5), p) for p in (0.25, 0.6)
    ],
    "embedding": [
        (draw(6, 3), NUMBERS[0]),
        (draw(6, 17), NUMBERS[0, 0].astype("int32")),
        (draw(5, 1), np.full(9, 4)),
    ],
    "cross_entropy": [
        (scores, classes, ignored, reduction)
        for reduction in ("mean", "sum", "none")
        for scores, classes, ignored in (
            (9 * draw(7, 5), NUMBERS[:, 0, 0], -100),
            (draw(7, 5, 3, 4), NUMBERS, 2),
        )
    ],
    "attention": [
        (draw(2, 3, 5, 4), draw(2, 3, 7, 4), draw(2, 3, 7, 6), None, False, 0.5),
        (draw(2, 5, 4), draw(2, 7, 4), draw(2, 7, 6), None, True, 2.0),
        (draw(2, 9, 4), draw(2, 7, 4), draw(2, 7, 6), draw(9, 7), True, 1.0),
        (draw(2, 3, 5, 4), draw(2, 3, 7, 4), draw(2, 3, 7, 6), draw(3, 1, 7), False, 0.5),
        (draw(75, 20), draw(70, 20), draw(70, 18), None, True, 0.3),
    ],
    "ctc": [
        (draw(6, 2, 5) - 2, STATES_OF_LABELS, np.array([6, 5]), np.array([3, 2]), 0),
        (draw(6, 2, 5) - 2, STATES_OF_LABELS, np.array([6, 2]), np.array([0, 1]), 0),
        (draw(6, 2, 5) - 2, 2 - STATES_OF_LABELS % 3, np.array([5, 6]), np.array([1, 2]), 2),
    ],
    "rnn": [
        (SINGLE, STATES, draw(4, 4), lengths, backwards, relu)
        for lengths, backwards, relu in (
            (None, False, False),
            (FEW, False, True),
            (FEW, True, False),
        )
    ],
    "gru": [
        (draw(5, 3, 12), STATES, draw(12, 4), draw(12), None, False),
        (draw(5, 3, 12), STATES, draw(12, 4), None, FEW, False),
        (draw(5, 3, 12), STATES, draw(12, 4), draw(12), FEW, True),
    ],
    "lstm": [
        (draw(5, 3, 16), STATES, draw(4, 3).T.reshape(3, 4), draw(16, 4), None, lengths, backwards)
        for lengths, backwards in ((None, False), (FEW, False), (FEW, True), (None, True))
    ],
    "lstm_cell": [
        (draw(3, 5), STATES, draw(4, 3).T, draw(16, 5), draw(16, 4), draw(16), 9 * draw(16)),
        (draw(3, 5), STATES, draw(4, 3).T, draw(16, 5), draw(16, 4), None, None),
    ],
    "glu": [(9 * draw(7, 6), 1), (draw(4, 5), 0), (draw(2, 6, 3), 1)],
    "softmax": [(9 * draw(7, 5), 1), (draw(2, 5, 3), 1)],
    "log_softmax": [(9 * draw(7, 5), 1), (draw(2, 5, 3), 0)],
}
SAMPLES["max_pool2d"] = SAMPLES["avg_pool2d"]
SINGLE_STEPS = {
    name: tuple(x[:1] if place == 0 else x for place, x in enumerate(SAMPLES[name][0]))
    for name in ("rnn", "gru", "lstm")
}
for recurrent, sample in SINGLE_STEPS.items():
    SAMPLES[recurrent].append(sample)


def results(operation: Any, arguments: Any, backend: Any, dtype: Any) -> Any:
    """Return a value and its gradients, and what is in lists among the arguments afterwards."""
    values = [
        mt.tensor(x, dtype=dtype, requires_grad=True, backend=backend)
        if isinstance(x, np.ndarray) and x.dtype == FLOAT
        else mt.tensor(x, backend=backend)
        if isinstance(x, np.ndarray)
        else [*x]
        if isinstance(x, list)
        else x
        for x in arguments
    ]
    with mt.use_backend(backend):
        value = operation(*values)
        upstream = np.cos(np.arange(value.numel())).reshape(value.shape)
        value.backward(mt.tensor(upstream, dtype=dtype))
    from_lists = [x for each in values if isinstance(each, list) for x in each]
    gradients = [x.grad for x in values if isinstance(x, mt.Tensor) and x.requires_grad]
    return [value.detach(), *from_lists, *gradients]


def assert_agrees_with_composition(
    name: str, kernel: Any, arguments: Any, backend: str, reference: str
) -> None:
    """Compare a kernel of a backend with the composition, computed in float64 by a reference."""
    composition = COMPOSED.get(name) or FUSED[name]

    def by_this_kernel(*values: Any) -> Any:
        assert not isinstance(kernel, FusedKernel) or kernel.fits(*values)
        return by_kernel(name, kernel, *values)

    with mock.patch.dict(FUSED, {name: composition}):
        wanted = results(composition, arguments, reference, FLOAT)
        for dtype, tolerance in ((FLOAT, 1e-10), (HALF, 2e-4)):
            outcome = results(by_this_kernel, arguments, backend, dtype)
            for ours, theirs in zip(outcome, wanted, strict=True):
                assert (ours is None) == (theirs is None)
                if ours is not None:
                    assert ours.dtype is as_dtype(dtype)
                    arrays = np.asarray(ours), np.asarray(theirs)
                    np.testing.assert_allclose(*arrays, tolerance, tolerance)
