"""Convolution and its gradients, compared with sums over windows in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from mt_fast.convolution import convolve as convolution
from mt_fast.convolution import small_images
from mt_fast.convolution import windows as buffers
from mt_fast.convolution.convolve import Settings
from mt_fast.convolution.small_images import convolve, image_gradient, kernel_gradient

Pair = tuple[int, int]

PLANS: list[Any] = [convolution._forward_plan, convolution._gradient_plan, buffers.plan]
"""Caches of plans for convolutions."""


@dataclass(frozen=True)
class Case:
    """The shapes and settings of a convolution."""

    n: int
    channels: int
    outputs: int
    image: Pair
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    @property
    def settings(self) -> Settings:
        """The last argument of the functions."""
        return Settings(self.stride, self.padding, self.dilation, self.groups)

    def arrays(self, dtype: Any, seed: int = 0) -> tuple[Any, Any, Any]:
        """Return images, kernels and a bias."""
        random = np.random.default_rng(seed)
        images = random.standard_normal((self.n, self.channels, *self.image))
        kernels = random.standard_normal((self.outputs, self.channels // self.groups, *self.kernel))
        bias = random.standard_normal(self.outputs)
        return images.astype(dtype), kernels.astype(dtype), bias.astype(dtype)

    def grad(self, dtype: Any) -> Any:
        """Return a gradient of the result."""
        shape = oracle(self, *self.arrays(np.float64)).shape
        return np.random.default_rng(1).standard_normal(shape).astype(dtype)


# --- The oracle: sums over windows, in float64 ----------------------------------------------------


def windows(case: Case, images: Any) -> Any:
    """Return a view of shape (n, groups, channels, *out, *kernel) of padded images."""
    (down, across), (top, left), (i, j) = case.stride, case.padding, case.dilation
    height, width = case.kernel
    padded = np.pad(images, ((0, 0), (0, 0), (top, top), (left, left)))
    span = (i * (height - 1) + 1, j * (width - 1) + 1)
    windowed = sliding_window_view(padded, span, (2, 3))[:, :, ::down, ::across, ::i, ::j]
    return windowed.reshape(case.n, case.groups, case.channels // case.groups, *windowed.shape[2:])


def grouped(case: Case, kernels: Any) -> Any:
    return kernels.reshape(case.groups, case.outputs // case.groups, *kernels.shape[1:])


def grouped_grad(case: Case, grad: Any) -> Any:
    outputs_per_group = case.outputs // case.groups
    return grad.astype(np.float64).reshape(case.n, case.groups, outputs_per_group, *grad.shape[2:])


def oracle(case: Case, images: Any, kernels: Any, bias: Any) -> Any:
    windowed = windows(case, images.astype(np.float64))
    out = np.einsum("ngchwij,gocij->ngohw", windowed, grouped(case, kernels.astype(np.float64)))
    return out.reshape(case.n, case.outputs, *out.shape[3:]) + bias.reshape(-1, 1, 1)


def kernel_oracle(case: Case, grad: Any, images: Any) -> Any:
    windowed = windows(case, images.astype(np.float64))
    found = np.einsum("ngchwij,ngohw->gocij", windowed, grouped_grad(case, grad))
    return found.reshape(case.outputs, case.channels // case.groups, *case.kernel)


def image_oracle(case: Case, grad: Any, kernels: Any) -> Any:
    """Return the sums of the contributions of all windows to each element."""
    weights = grouped(case, kernels.astype(np.float64))
    (top, left), (height, width) = case.padding, case.image
    padded = np.zeros((case.n, case.channels, height + 2 * top, width + 2 * left))
    contributions = np.einsum("ngohw,gocij->ngchwij", grouped_grad(case, grad), weights)
    contributions = contributions.reshape(case.n, case.channels, *contributions.shape[3:])
    for y, x in np.ndindex(*grad.shape[2:]):
        for i, j in np.ndindex(*case.kernel):
            row = y * case.stride[0] + i * case.dilation[0]
            column = x * case.stride[1] + j * case.dilation[1]
            padded[:, :, row, column] += contributions[:, :, y, x, i, j]
    return padded[:, :, top : top + height, left : left + width]


def assert_close(found: Any, expected: Any, dtype: Any) -> None:
    assert found.dtype == dtype
    assert found.shape == expected.shape
    assert found.flags.c_contiguous
    scale = np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected))
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def check(case: Case, dtype: Any) -> None:
    """Compare convolution and gradients with the oracle; check that arguments are unchanged."""
    images, kernels, bias = case.arrays(dtype)
    grad = case.grad(dtype)
    given_arrays = [array.copy() for array in (images, kernels, bias, grad)]
    expected = oracle(case, images, kernels, bias)
    assert_close(convolve(images, kernels, bias, case.settings), expected, dtype)
    without = oracle(case, images, kernels, 0 * bias)
    assert_close(convolve(images, kernels, None, case.settings), without, dtype)
    found = image_gradient(grad, kernels, case.image, case.settings)
    assert_close(found, image_oracle(case, grad, kernels), dtype)
    found = kernel_gradient(grad, images, case.kernel, case.settings)
    assert_close(found, kernel_oracle(case, grad, images), dtype)
    for before, after in zip(given_arrays, (images, kernels, bias, grad), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Use two threads, if available, for any size."""
    before, threads = convolution.PARALLEL_FROM, numba.get_num_threads()
    convolution.PARALLEL_FROM = 0
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    yield
    numba.set_num_threads(threads)
    convolution.PARALLEL_FROM = before


# --- Settings -------------------------------------------------------------------------------------

CASES = {
    "one element": Case(1, 1, 1, (1, 1), (1, 1)),
    "1 x 1 kernels": Case(3, 5, 7, (6, 5), (1, 1)),
    "1 x 1 kernels with a stride": Case(2, 3, 4, (7, 8), (1, 1), stride=(2, 2)),
    "LeNet": Case(3, 4, 8, (28, 28), (3, 3), padding=(1, 1)),
    "one channel": Case(2, 1, 4, (28, 28), (3, 3), padding=(1, 1)),
    "no padding": Case(2, 6, 16, (14, 14), (5, 5)),
    "stride 2": Case(2, 3, 5, (15, 18), (3, 3), stride=(2, 2), padding=(1, 1)),
    "stride 3 and 4": Case(1, 2, 3, (17, 19), (5, 4), stride=(3, 4), padding=(2, 1)),
    "stride larger than the kernel": Case(1, 2, 2, (11, 13), (2, 2), stride=(3, 3)),
    "dilation": Case(2, 3, 4, (12, 13), (3, 3), padding=(2, 2), dilation=(2, 2)),
    "stride and dilation": Case(2, 2, 3, (21, 20), (3, 3), (2, 4), (2, 3), (3, 2)),
    "dilation equal to the stride": Case(1, 2, 2, (15, 15), (3, 3), (2, 2), (1, 1), (2, 2)),
    "groups": Case(2, 6, 9, (8, 9), (3, 3), padding=(1, 1), groups=3),
    "depthwise": Case(2, 7, 7, (9, 10), (3, 3), padding=(1, 1), groups=7),
    "depthwise, two outputs each": Case(2, 5, 10, (9, 10), (3, 3), (2, 2), (1, 1), groups=5),
    "kernel larger than the image": Case(2, 2, 3, (2, 3), (5, 5), padding=(2, 2)),
    "kernel as large as the image": Case(3, 2, 5, (4, 4), (4, 4)),
    "padding wider than the image": Case(1, 2, 2, (2, 2), (3, 3), padding=(4, 5)),
    "padding wider than the kernel": Case(1, 2, 2, (5, 4), (2, 2), (1, 1), (3, 3)),
    "one row": Case(2, 3, 5, (1, 200), (1, 5), padding=(0, 2)),
    "one row with a stride": Case(2, 3, 5, (1, 101), (1, 4), stride=(1, 3), padding=(0, 1)),
    "one row, padded height": Case(2, 3, 2, (1, 40), (3, 3), padding=(1, 1)),
    "one column": Case(2, 3, 5, (200, 1), (5, 1), padding=(2, 0)),
    "one column with stride and dilation": Case(2, 3, 5, (99, 1), (3, 1), (2, 1), (1, 0), (3, 1)),
    "one long row": Case(1, 2, 3, (1, 70_000), (1, 3)),
    "large images": Case(1, 9, 3, (150, 170), (3, 3), padding=(1, 1)),
    "large images with a stride": Case(1, 3, 9, (120, 130), (7, 7), (2, 2), (3, 3)),
    "many channels": Case(2, 40, 41, (9, 9), (3, 3), padding=(1, 1)),
    "windows as long as a tile": Case(3, 16, 9, (12, 13), (3, 3), padding=(1, 1)),
    "long rows, stride and padding": Case(2, 17, 8, (25, 27), (3, 3), (2, 2), (2, 3)),
    "long rows, groups": Case(2, 38, 6, (14, 19), (2, 3), (1, 2), (0, 1), groups=2),
    "many channels, dilation": Case(1, 50, 10, (15, 17), (3, 2), padding=(1, 0), dilation=(2, 3)),
    "many channels, narrow images": Case(2, 49, 7, (70, 3), (3, 3), padding=(1, 1)),
    "few channels, long rows": Case(1, 5, 3, (16, 40), (3, 11), padding=(0, 5)),
    "channels of large images": Case(1, 32, 4, (130, 90), (3, 3), padding=(1, 1)),
    "many small images": Case(50, 3, 4, (4, 5), (3, 3)),
    "small images of many channels": Case(19, 120, 130, (3, 4), (3, 3), padding=(1, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_convolution_and_gradients_match_sums_over_windows(name: str) -> None:
    check(CASES[name], np.float32)


@pytest.mark.parametrize(
    "name", ["LeNet", "stride and dilation", "groups", "one column", "long rows, groups"]
)
def test_float64_results_have_float64_precision(name: str) -> None:
    check(CASES[name], np.float64)


@st.composite
def cases(draw: Any) -> Case:
    """Draw settings, and images that are large enough for them."""
    ranges = [(1, 4), (1, 3), (0, 3), (1, 3)]
    kernel, stride, padding, dilation = (
        draw(st.tuples(st.integers(low, high), st.integers(low, high))) for low, high in ranges
    )
    image = tuple(
        max(dilation[d] * (kernel[d] - 1) + 1 - 2 * padding[d], 1) + draw(st.integers(0, 20))
        for d in range(2)
    )
    groups = draw(st.integers(1, 3))
    per_group = st.integers(1, 10)
    return Case(
        draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 4)),
        groups * draw(per_group),
        (image[0], image[1]),
        kernel,
        stride,
        padding,
        dilation,
        groups,
    )


@settings(max_examples=60, deadline=None)
@given(cases())
def test_random_settings_match_sums_over_windows(case: Case) -> None:
    check(case, np.float32)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_batched_small_images_match_sums_over_windows(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "MAX_POSITIONS": 2000,
            "MIN_IMAGES": 1,
            "MULTIPLICATIONS": 0,
            "MAX_ROW": 200,
        }.items():
            patch.setattr(small_images, name, value)
        check(case, np.float32)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([2**8, 2**11]))
def test_buffers_of_any_size_match_sums_over_windows(case: Case, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "BUFFER", size)
        patch.setattr(convolution, "MIN_CHANNELS", 1)
        for planned in PLANS:
            planned.cache_clear()
        check(case, np.float32)
    for planned in PLANS:
        planned.cache_clear()


@pytest.mark.parametrize("case", [Case(0, 2, 3, (5, 5), (3, 3)), Case(2, 3, 0, (5, 6), (2, 3))])
def test_empty_inputs_give_empty_or_zero_results(case: Case) -> None:
    check(case, np.float32)


# --- Infinity and nan -----------------------------------------------------------------------------

SPECIAL = {
    "padded": Case(2, 3, 9, (7, 8), (3, 3), padding=(1, 1)),
    "no padding, stride 2": Case(2, 3, 5, (9, 8), (3, 2), stride=(2, 2)),
    "groups": Case(2, 4, 4, (6, 21), (3, 3), padding=(1, 2), groups=2),
    "long rows": Case(2, 16, 5, (12, 13), (3, 3), padding=(1, 1)),
}


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("position", [0, -1, 25])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_nan_and_infinity_affect_only_their_windows(value: float, name: str, position: int) -> None:
    case = SPECIAL[name]
    images, kernels, bias = case.arrays(np.float32)
    grad = case.grad(np.float32)
    for original in (images, kernels, grad):
        changed = original.copy()
        changed.reshape(-1)[position] = value
        x, w, g = (changed if array is original else array for array in (images, kernels, grad))
        if original is not grad:
            found = convolve(x, w, bias, case.settings)
            assert_close(found, oracle(case, x, w, bias), np.float32)
        if original is not kernels:
            found = kernel_gradient(g, x, case.kernel, case.settings)
            assert_close(found, kernel_oracle(case, g, x), np.float32)
        if original is grad:  # kernels must be finite
            found = image_gradient(g, w, case.image, case.settings)
            assert_close(found, image_oracle(case, g, w), np.float32)


def test_memory_beyond_the_arrays_is_not_read() -> None:
    case = Case(2, 3, 5, (5, 7), (3, 3))
    images, kernels, bias = case.arrays(np.float32)
    grad = case.grad(np.float32)

    def followed_by_nan(array: Any) -> Any:
        longer = np.full(array.size + 64, np.nan, array.dtype)
        longer[: array.size] = array.reshape(-1)
        return longer[: array.size].reshape(array.shape)

    x, w, b, g = map(followed_by_nan, (images, kernels, bias, grad))
    assert_close(convolve(x, w, b, case.settings), oracle(case, images, kernels, bias), np.float32)
    found = kernel_gradient(g, x, case.kernel, case.settings)
    assert_close(found, kernel_oracle(case, grad, images), np.float32)
    found = image_gradient(g, w, case.image, case.settings)
    assert_close(found, image_oracle(case, grad, kernels), np.float32)


# --- Threads --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    "name",
    [
        *("LeNet", "depthwise", "stride 2", "large images", "many small images", "one row"),
        "small images of many channels",
        *("windows as long as a tile", "long rows, groups", "channels of large images"),
    ],
)
def test_two_threads_match_sums_over_windows(name: str) -> None:
    check(CASES[name], np.float32)


@pytest.mark.usefixtures("two_threads")
def test_convolution_and_gradients_are_deterministic() -> None:
    case = CASES["LeNet"]
    images, kernels, bias = case.arrays(np.float32)
    grad = case.grad(np.float32)

    def run() -> list[bytes]:
        return [
            convolve(images, kernels, bias, case.settings).tobytes(),
            image_gradient(grad, kernels, case.image, case.settings).tobytes(),
            kernel_gradient(grad, images, case.kernel, case.settings).tobytes(),
        ]

    first = run()
    assert all(run() == first for _ in range(5))


def test_phases_of_huge_stride_are_at_most_kernel_size() -> None:
    phases = list(convolution._phases(2, 2**32 + 2, 2**31, 0, 1))
    assert [(phase.first, phase.length) for phase in phases] == [(0, 3), (1, 3)]
