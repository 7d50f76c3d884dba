"""The convolution page: its sums equal conv2d, and invalid kernels are rejected."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_nn import InputError
from play.expressions import ExpressionError
from play.sliding import Sliding, draw_products, draw_sliding, read_kernel, sum_of
from play.testing import Reader, answers, wait_for


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2))
def test_every_sum_is_an_element_of_the_output(
    rows: int, columns: int, stride: int, padding: int
) -> None:
    random = np.random.default_rng(0)
    image = random.normal(size=(8, 7)).astype(np.float32)
    kernel = random.normal(size=(rows, columns)).astype(np.float32)
    sliding = Sliding(image, kernel, stride, padding)
    output = sliding.output()
    sums = [sliding.products(position).sum() for position in range(output.size)]
    np.testing.assert_allclose(np.reshape(sums, output.shape), output, atol=1e-4)
    assert sliding.place(output.size - 1) == (output.shape[0] - 1, output.shape[1] - 1)


def test_a_kernel_is_written_in_rows() -> None:
    assert read_kernel(" 1, 0 -1\n.5 2e1 nan\n").shape == (2, 3)
    assert np.isnan(read_kernel("nan")).all()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "the kernel is empty"),
        (" \n ", "the kernel is empty"),
        ("1 2\n3", "not 1 and 2"),
        ("1\n\n1", "not 0 and 1"),
        ("1 x", "'x' is not a number"),
        ("1 1 1 1 1 1", "at most 5 x 5 numbers"),
        ("1\n" * 400, "at most 5 x 5 numbers"),
        ("1e300", "a number may be at most"),
        ("__import__('os')", "is not a number"),
    ],
)
def test_an_invalid_kernel_is_an_error(written: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        read_kernel(written)


def test_a_kernel_larger_than_the_image_is_an_error() -> None:
    sliding = Sliding(np.ones((3, 3), np.float32), np.ones((5, 5), np.float32), 1, 0)
    with pytest.raises(InputError):
        sliding.output()


def test_the_pictures_show_every_number_and_only_reached_positions() -> None:
    sliding = Sliding(np.eye(4, dtype=np.float32), np.ones((2, 2), np.float32), 1, 0)
    output = sliding.output()
    first, last = (draw_sliding(sliding, output, each) for each in (0, 8))
    assert first.count('class="number"') == 16 + 1
    assert last.count('class="number"') == 16 + 9
    assert "at row 3, column 3" in last
    assert draw_products(sliding, 0).count('class="number"') == 12


def test_sums_are_written_out() -> None:
    assert sum_of(np.array([[1.0, -2.0], [0.0, 0.5]])) == "1 + (-2) + 0 + 0.5 = -0.5"
    assert sum_of(np.array([[np.nan]])) == "(nan) = nan"


def write_kernel(reader: Reader, written: str) -> None:
    """Write several lines, and leave the field so that they are accepted."""
    reader.write("kernel", written)
    reader.page.press("TAB")
    time.sleep(0.2)  # until the page knows
    reader.settle()


def test_a_reader_steps_and_plays(reader: Reader) -> None:
    reader.open("convolution")
    reader.choose("image", "one point")
    reader.shows("The kernel at row 1, column 1")
    reader.press("Next")
    reader.shows("The kernel at row 1, column 2")
    reader.slide("position", "END")
    reader.sees("0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 = 0")
    reader.shows("The kernel at row 6, column 6")
    reader.press("Play")
    moved = "[...document.images].some(image => /row 1, column [3-6]/.test(image.alt))"
    reader.until(moved)
    reader.press("Play")
    stopped = reader.picture("The kernel at row")
    time.sleep(1.5)
    assert stopped
    assert reader.picture("The kernel at row") == stopped


def test_a_reader_writes_a_kernel_and_sets_stride_and_padding(reader: Reader) -> None:
    reader.open("convolution")
    reader.choose("image", "checkerboard")
    write_kernel(reader, "0 2\n2 0")
    reader.sees("= 64")
    reader.write("stride", "2")
    reader.write("padding", "1")
    wait_for(lambda: "output, 5 x 5" in reader.picture("The kernel at row 1"), "a larger output")
    reader.sees("0 + 0 + 0 + 0 = 0")


def test_the_page_reports_an_invalid_kernel_and_shows_nan(reader: Reader) -> None:
    reader.open("convolution")
    for written, said in (("1 2\n3", "not 1 and 2"), ("a", "'a' is not a number")):
        write_kernel(reader, written)
        reader.sees(said)
    write_kernel(reader, "nan")
    reader.sees("(nan) = nan")
    reader.sees("conv2d returns nan at this position")
    assert answers(reader.address)
