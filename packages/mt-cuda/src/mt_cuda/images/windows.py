"""Windows of images: what a point sees through each tap of a kernel, as numbers and as lines.

A point looks at a source of images through a window. In a convolution points are pixels of the
result, and its input is the source. In the gradient of the input it is the other way round: points
are pixels of the input, and the source is the gradient of the result, with its rows and columns
moved apart by the stride. Both see, through tap (r, s), the element at

    row = point's row * step + r * spread + ahead - low

if that lies inside of the source; and where rows are `between` apart, if it divides by that. `low`
and `ahead`, of which one is 0, keep all numbers from being negative: indices have no sign.
Nothing is copied into windows; a kernel reads through them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from mt_cuda.core.kernel import Lines, indented
from mt_tensor.extending import Shape

Pair = tuple[int, int]

NOWHERE = 2**30
"""A row that is in no source, also if something less is added."""

LARGEST = 2**31
"""What no tensor may have more elements than: within images indices have 32 bits."""


@dataclass(frozen=True, slots=True)
class Windows:
    """How points see a source; pairs are of rows and columns.

    Attributes:
        points: the lengths of the points of an image.
        source: the lengths of the source.
        taps: the lengths of the kernel.
        step: how far apart the windows of neighbouring points are.
        spread: how far apart taps are.
        low: where the source begins.
        ahead: where the window of the first point begins.
        between: how far apart rows and columns of the source have been moved.
    """

    points: Pair
    source: Pair
    taps: Pair
    step: Pair
    spread: Pair
    low: Pair
    ahead: Pair = (0, 0)
    between: Pair = (1, 1)

    @property
    def apart(self) -> bool:
        """Whether the source has been moved apart."""
        return self.between != (1, 1)

    def numbers(self) -> dict[str, int]:
        """Return the numbers of a kernel that looks through these windows, by name."""
        pairs = {
            "point": self.points,
            "source": self.source,
            "tap": self.taps,
            "step": self.step,
            "spread": self.spread,
            "low": self.low,
            "ahead": self.ahead,
            "between": self.between,
        }
        return {
            f"{name}_{way}": n
            for name, pair in pairs.items()
            for way, n in zip(WAYS, pair, strict=True)
        }


WAYS = ("rows", "columns")
NUMBERS = tuple(Windows(*[(1, 1)] * 6).numbers())
"""The names of the numbers."""

WORK = ("points", "source_channels", "tap_rows", "tap_columns")
"""The names of those whose product is how much a channel of the result takes."""


def forward(
    images: Shape, out: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair
) -> Windows:
    """Return how the points of a convolution's result see the images."""
    return Windows(_pair(out), _pair(images), _pair(taps), stride, dilation, padding)


def backward(
    images: Shape, out: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair
) -> Windows:
    """Return how pixels of the images see the result: taps are counted from the last one."""
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


def transposed_size(
    images: Shape, taps: Shape, stride: Pair, padding: Pair, more: Pair, dilation: Pair
) -> Pair:
    """Return the lengths of the images whose convolution has those of `images`."""
    every = zip(images, taps, stride, padding, more, dilation, strict=True)
    return _pair(
        (length - 1) * step - 2 * margin + spread * (size - 1) + added + 1
        for length, size, step, margin, added, spread in every
    )


def convolved_size(images: Shape, taps: Shape, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    """Return how many windows there are of images of these lengths."""
    every = zip(images, taps, stride, padding, dilation, strict=True)
    return _pair(
        (length + 2 * margin - spread * (size - 1) - 1) // step + 1
        for length, size, step, margin, spread in every
    )


def countable(images: Shape, kernels: Shape, out: Shape, padding: Pair) -> bool:
    """Whether indices of 32 bits suffice for images, kernels and results of such shapes."""
    lengths = (*images[2:], *out[2:], *padding)
    return max(map(prod, (images, kernels, out))) < LARGEST and max(lengths) < NOWHERE // 4


# --- The same, as lines of a kernel -------------------------------------------------------------


def narrowed(*names: str) -> Lines:
    """Return the lines that make indices of 32 bits of numbers, called `n_...`."""
    return [f"n_{name} = index32({name})" for name in names]


def begin(apart: bool) -> Lines:
    """Return the lines that a kernel with windows begins with."""
    lines = narrowed(*(name for name in NUMBERS if not name.startswith("between")))
    lines += narrowed(*(f"between_{way}" for way in WAYS)) if apart else []
    return [
        *lines,
        "point_plane = n_point_rows * n_point_columns",
        "source_plane = n_source_rows * n_source_columns",
        "taps = n_tap_rows * n_tap_columns",
        *(
            f"high_{way} = n_low_{way} + "
            + (f"(n_source_{way} - 1) * n_between_{way} + 1" if apart else f"n_source_{way}")
            for way in WAYS
        ),
    ]


def tap_tables(count: int) -> Lines:
    """Return the shared arrays that say of so many taps, of several channels, where they are."""
    return [f"tap_{name} = cuda.shared.array({count}, index32)" for name in ("at", "down", "right")]


def find_tap(tap: str, exists: str = "") -> Lines:
    """Return the lines that enter tap `tap`, counted through all channels, at `e` in the tables.

    Args:
        tap: an expression.
        exists: the condition that there is such a tap, if it may be that there is none.
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
    """Return the lines that find in the source where the window of a point begins.

    Args:
        point: the number of the point, counted through all images.
        exists: the condition that there is such a point.
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


def look(into: str, value: str, tap: str, apart: bool, i: str = "") -> Lines:
    """Return the lines that set a variable to what a point sees through a tap, if it sees anything.

    Args:
        into: the variable.
        value: the expression of the element at `at` of the source, counted from its first channel.
        tap: where the tap is in the tables.
        apart: whether the source has been moved apart.
        i: the index of `top` and `left`, if these are arrays.
    """
    index = f"[{i}]" if i else ""
    inside = [f"({x} >= n_low_{way}) & ({x} < high_{way})" for x, way in SEEN]
    back = [f"{x} -= n_low_{way}" for x, way in SEEN]
    read = [f"at = tap_at[{tap}] + row * n_source_columns + column", f"{into} = {value}"]
    if apart:
        divides = " & ".join(f"({x} % n_between_{way} == 0)" for x, way in SEEN)
        whole = [f"{x} = {x} // n_between_{way}" for x, way in SEEN]
        read = [f"if {divides}:", *indented([*whole, *read])]
    return [
        f"row = top{index} + tap_down[{tap}]",
        f"column = left{index} + tap_right[{tap}]",
        f"if {' & '.join(inside)}:",
        *indented([*back, *read]),
    ]


SEEN = (("row", "rows"), ("column", "columns"))
"""The coordinates of an element that is seen, and what they count."""
