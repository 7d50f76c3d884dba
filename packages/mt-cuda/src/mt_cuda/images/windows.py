"""Windows of images: the source element of a point at each tap, as numbers and as source lines.

A point reads a window of a source image. In a convolution, points are pixels of the result, and the
source is the input. In the gradient of the input, points are pixels of the input, and the source is
the gradient of the result, dilated by the stride. Both read, at tap (r, s), the element at

    row = point's row * step + r * spread + ahead - low

if this row is inside the source and, if rows are dilated by `between`, a multiple of `between`.
`low` and `ahead`, one of which is 0, keep all numbers nonnegative, since indices are unsigned.
Windows are not copied; a kernel reads the source in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import prod

from mt_cuda.core.kernel import Lines, indented
from mt_cuda.core.layout import NARROW_LIMIT
from mt_tensor.extending import Shape

Pair = tuple[int, int]

NOWHERE = 2**30
"""A row outside of any source, even after a smaller number is added."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of points in a source; pairs are (rows, columns).

    Attributes:
        point: the size of the points of an image.
        source: the size of the source.
        tap: the size of the kernel.
        step: the distance between the windows of adjacent points.
        spread: the distance between taps.
        low: the position of the source in padded coordinates.
        ahead: the position of the window of the first point.
        between: the dilation of the source.
    """

    point: Pair
    source: Pair
    tap: Pair
    step: Pair
    spread: Pair
    low: Pair
    ahead: Pair = (0, 0)
    between: Pair = (1, 1)

    @property
    def dilated(self) -> bool:
        """Whether the source is dilated."""
        return self.between != (1, 1)

    def numbers(self) -> dict[str, int]:
        """Return the integer arguments of a kernel that describe these windows, by name."""
        return {
            f"{each.name}_{axis}": number
            for each in fields(self)
            for axis, number in zip(AXES, getattr(self, each.name), strict=True)
        }


AXES = ("rows", "columns")
NUMBERS = tuple(Windows(*[(1, 1)] * 6).numbers())
"""The names of these arguments."""

WORK = ("points", "source_channels", "tap_rows", "tap_columns")
"""The names of the numbers whose product is the work for a channel of the result."""


def forward(
    images: Shape, out: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair
) -> Windows:
    """Return the windows of the points of a convolution's result in the images."""
    return Windows(_pair(out), _pair(images), _pair(taps), stride, dilation, padding)


def backward(
    images: Shape, out: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair
) -> Windows:
    """Return the windows of the images' pixels in the result; taps count from the last one."""
    begins = [
        spread * (size - 1) - margin
        for size, margin, spread in zip(taps, padding, dilation, strict=True)
    ]
    low, ahead = ((max(b, 0) for b in begins), (max(-b, 0) for b in begins))
    return Windows(
        *(_pair(images), _pair(out), _pair(taps)),
        *((1, 1), dilation, _pair(low), _pair(ahead), stride),
    )


def _pair(values: Iterable[int]) -> Pair:
    first, second = values
    return first, second


def convolved_size(images: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    """Return the height and width of a convolution's result."""
    every = zip(images, taps, stride, padding, dilation, strict=True)
    return _pair(
        (length + 2 * margin - spread * (size - 1) - 1) // step + 1
        for length, size, step, margin, spread in every
    )


def countable(images: Shape, kernels: Shape, out: Shape, padding: Pair) -> bool:
    """Return whether 32-bit indices can address images, kernels and results of these shapes."""
    lengths = (*images[2:], *out[2:], *padding)
    return max(map(prod, (images, kernels, out))) < NARROW_LIMIT and max(lengths) < NOWHERE // 4


# --- Lines of a kernel --------------------------------------------------------------------------


def narrowed(*names: str) -> Lines:
    """Return the lines that convert numbers to 32-bit indices, with names `n_...`."""
    return [f"n_{name} = index32({name})" for name in names]


def begin(dilated: bool) -> Lines:
    """Return the first lines of a kernel with windows."""
    lines = narrowed(*(name for name in NUMBERS if not name.startswith("between")))
    lines += narrowed(*(f"between_{axis}" for axis in AXES)) if dilated else []
    return [
        *lines,
        "point_plane = n_point_rows * n_point_columns",
        "source_plane = n_source_rows * n_source_columns",
        "taps = n_tap_rows * n_tap_columns",
        *(
            f"high_{axis} = n_low_{axis} + "
            + (f"(n_source_{axis} - 1) * n_between_{axis} + 1" if dilated else f"n_source_{axis}")
            for axis in AXES
        ),
    ]


def tap_tables(count: int) -> Lines:
    """Return the declarations of shared arrays for the positions of `count` taps."""
    return [f"tap_{name} = cuda.shared.array({count}, index32)" for name in ("at", "down", "right")]


def find_tap(tap: str, exists: str = "") -> Lines:
    """Return the lines that write tap `tap`, counted through all channels, to the tables at `e`.

    Args:
        tap: an expression.
        exists: the condition under which the tap exists; empty if it always does.
    """
    down = "tap // n_tap_columns * n_spread_rows"
    return [
        f"channel = {tap} // taps",
        f"tap = {tap} % taps",
        "tap_at[e] = channel * source_plane",
        "tap_down[e] = " + (f"{down} if {exists} else {NOWHERE}" if exists else down),
        "tap_right[e] = tap % n_tap_columns * n_spread_columns",
    ]


def find_point(point: str, exists: str, i: str = "") -> Lines:
    """Return the lines that find the start of a point's window in the source.

    Args:
        point: the number of the point, counted through all images.
        exists: the condition under which the point exists.
        i: the index of the results `image`, `place`, `top` and `left`, if these are arrays.
    """
    at = f"[{i}]" if i else ""
    return [
        f"image{at} = {point} // point_plane",
        f"place{at} = {point} % point_plane",
        f"row = place{at} // n_point_columns * n_step_rows + n_ahead_rows",
        f"top{at} = row if {exists} else {NOWHERE}",
        f"left{at} = place{at} % n_point_columns * n_step_columns + n_ahead_columns",
    ]


def look(into: str, value: str, tap: str, dilated: bool, i: str = "") -> Lines:
    """Return the lines that set a variable to a point's element at a tap, if it is in the source.

    Args:
        into: the variable.
        value: the expression of the element at `at` of the source, counted from its first channel.
        tap: the position of the tap in the tables.
        dilated: whether the source is dilated.
        i: the index of `top` and `left`, if these are arrays.
    """
    index = f"[{i}]" if i else ""
    inside = [f"({x} >= n_low_{axis}) & ({x} < high_{axis})" for x, axis in COORDINATES]
    back = [f"{x} -= n_low_{axis}" for x, axis in COORDINATES]
    read = [f"at = tap_at[{tap}] + row * n_source_columns + column", f"{into} = {value}"]
    if dilated:
        divides = " & ".join(f"({x} % n_between_{axis} == 0)" for x, axis in COORDINATES)
        undilated = [f"{x} = {x} // n_between_{axis}" for x, axis in COORDINATES]
        read = [f"if {divides}:", *indented([*undilated, *read])]
    return [
        f"row = top{index} + tap_down[{tap}]",
        f"column = left{index} + tap_right[{tap}]",
        f"if {' & '.join(inside)}:",
        *indented([*back, *read]),
    ]


COORDINATES = (("row", "rows"), ("column", "columns"))
"""The coordinates of an element in the source, and their directions."""
