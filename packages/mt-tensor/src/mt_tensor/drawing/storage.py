"""`draw_storage`: a drawing of a storage as a row of cells and of a view of it as grids.

Each row of the view has a color, in the storage and in the grids; cells of the storage outside the
view have none. Each cell of a grid shows its position in the storage, and an arrow for each
dimension shows the distance to the next element.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from mt_autodiff.drawing.svg import Svg, document, text, text_width
from mt_tensor.core.casting import to_float32
from mt_tensor.core.dtypes import Array
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import index_to_position, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.course import to_index

CELL = 54.0  # the width of a cell
HEIGHT = 40.0  # the height of a cell
SPACE = 24.0  # between two parts of the picture
LINE = 18.0  # the height of a line of text
ARC = 22.0  # the height of the arrow of one dimension
COLORS = 6
MAX_CELLS = 24  # of a storage
MAX_ROWS = 8  # of a grid, and as many columns
MAX_GRIDS = 4

STYLE = """
svg:root{color-scheme:light dark}
.mt-storage{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.mt-storage text{fill:light-dark(#1c2733,#e8eef5);text-anchor:middle}
.mt-storage .heading,.mt-storage .note,.mt-storage .step{text-anchor:start}
.mt-storage .heading{font-weight:bold}
.mt-storage .place,.mt-storage .more{fill:light-dark(#5b6b7a,#a3b1bf);font-size:10px}
.mt-storage .long{font-size:9px}
.mt-storage .cell{fill:light-dark(#fff,#14181d);stroke:#66788a;stroke-width:1}
.mt-storage .untouched{stroke-dasharray:3 3}
.mt-storage .row0{fill:light-dark(#cfe2fb,#1d3a63)}
.mt-storage .row1{fill:light-dark(#d3efdb,#1a4a2b)}
.mt-storage .row2{fill:light-dark(#fbe3c4,#5a3d12)}
.mt-storage .row3{fill:light-dark(#ead9f7,#432a5c)}
.mt-storage .row4{fill:light-dark(#fad5da,#5c2530)}
.mt-storage .row5{fill:light-dark(#d2eeee,#174a4a)}
.mt-storage .arrow{stroke:light-dark(#96570a,#f2b866);fill:none}
.mt-storage .arrow{stroke-width:1.5;stroke-linecap:round}
.mt-storage .step{fill:light-dark(#96570a,#f2b866)}
"""


def draw_storage(tensor: Tensor) -> Svg:
    """Draw the storage of a tensor and how its shape, strides and offset address it.

    Write the text to a file, or let a notebook display it. Large tensors are drawn with their first
    and last elements.

    Args:
        tensor: a tensor of any shape, strides and backend.

    Returns:
        A standalone SVG document.

    Raises:
        TypeError: `tensor` is not a tensor.
    """
    require_tensors("draw_storage", tensor)
    return _Picture(_storage(tensor), tensor._tensor).drawn()


def _storage(tensor: Tensor) -> Array:
    """Return the elements of the storage, for device memory only up to the end of the view."""
    data = tensor._tensor
    if isinstance(data.storage, np.ndarray):
        return np.asarray(to_float32(data.storage))
    ends = [step * (length - 1) for length, step in zip(data.shape, data.strides, strict=True)]
    size = 1 + data.offset + sum(end for end in ends if end > 0) if data.size else 0
    return np.asarray(to_float32(tensor.backend.to_host(data.like((size,), (1,), 0))))


@dataclass
class _Picture:
    """A picture that is drawn part by part from top to bottom."""

    values: Array
    data: TensorData
    elements: list[str] = field(default_factory=list)
    width: float = 0.0
    y: float = 0.0
    left: float = 0.0

    def drawn(self) -> Svg:
        """Draw all parts and return the document."""
        data = self.data
        details = f"shape {data.shape}, strides {data.strides}, offset {data.offset}"
        self.say(details, "heading")
        self.say(f"{data.dtype.name} in a storage of {len(self.values)}")
        self.y += SPACE / 2
        words = [_step(dim, data) for dim, *_ in _steps(data)]
        self.left = max(map(text_width, words), default=-SPACE / 2) + SPACE / 2
        self.storage()
        self.grids()
        title = f"A view of a storage: {details}"
        return document("mt-storage", title, (self.width, self.y), STYLE, self.elements)

    def say(self, words: str, kind: str = "note") -> None:
        """Add a line of text below the other parts."""
        length = text_width(words)
        self.y += LINE
        self.elements.append(text(kind, 0.0, self.y - 5, words))
        self.width = max(self.width, length)

    # --- The storage ----------------------------------------------------------------------------

    def storage(self) -> None:
        """Draw the cells of the storage, below arrows that show the strides."""
        size = len(self.values)
        rows = _rows_of_positions(self.data)
        steps = _steps(self.data)
        shown = _shown_positions(size, rows, [end for _, *ends in steps for end in ends])
        x_of = {
            position: self.left + i * CELL
            for i, position in enumerate(shown)
            if position is not None
        }
        steps.sort(key=lambda step: -abs(x_of[step[2]] - x_of[step[1]]))  # arrows do not cross
        bottom = self.y + ARC * len(steps)
        for dim, start, end in steps:
            self.arrow(dim, x_of[start], x_of[end], bottom)
        for i, position in enumerate(shown):
            x = self.left + i * CELL
            if position is None:
                self.elements.append(text("more", x + CELL / 2, self.y + HEIGHT / 2, "…"))
            else:
                self.cell(x, self.y, position, rows.get(position))
        self.width = max(self.width, self.left + CELL * len(shown))
        self.y += HEIGHT + SPACE

    def arrow(self, dim: int, start: float, end: float, bottom: float) -> None:
        """Draw an arrow between the cells of an element and the next one in a dimension."""
        x, target, top = start + CELL / 2, end + CELL / 2, self.y + ARC / 2 - 3
        if start == end:  # next to the arrows that begin in the middle
            x, target = x - 18, x - 7
        path = f"M{x:.1f} {bottom:.1f}V{top:.1f}H{target:.1f}V{bottom - 1:.1f}m-4 -5l4 5l4 -5"
        self.elements.append(f'<path class="arrow" d="{path}"/>')
        self.elements.append(text("step", 0.0, top + 4.5, _step(dim, self.data)))
        self.y += ARC

    def cell(self, x: float, y: float, position: int, row: int | None) -> None:
        """Draw one element with its position; `row` is None for elements outside the view."""
        kind = "cell untouched" if row is None else f"cell row{row % COLORS}"
        words = _written(self.values[position].item())
        self.elements += [
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{CELL}" height="{HEIGHT}"/>',
            text("value" if len(words) <= 6 else "long", x + CELL / 2, y + 18, words),
            text("place", x + CELL / 2, y + 33, f"@{position}"),
        ]

    # --- The view -------------------------------------------------------------------------------

    def grids(self) -> None:
        """Draw the view: a grid of the last two dimensions for each index of the leading ones."""
        *leading, rows, columns = (1,) * (2 - self.data.ndim) + self.data.shape
        if self.data.size == 0:
            self.say("the view has no elements")
            return
        x, bottom, top = self.left, self.y, self.y
        for ordinal in _first_and_last(range(size_of(leading)), MAX_GRIDS):
            self.y = top
            if ordinal is None:
                self.elements.append(text("more", x + CELL / 2, top + HEIGHT, "…"))
                x += CELL + SPACE
                continue
            index = to_index(ordinal, leading)
            if leading:
                words = f"[{', '.join(map(str, index))}]"
                self.elements.append(text("note", x, top + 12, words))
                self.y += LINE
            x += self.grid(x, index, rows, columns) + SPACE
            bottom = max(bottom, self.y)
        self.width = max(self.width, x - SPACE)
        self.y = bottom

    def grid(self, left: float, leading: tuple[int, ...], rows: int, columns: int) -> float:
        """Draw a matrix of the view and return its width."""
        shown = _first_and_last(range(columns), MAX_ROWS)
        for row in _first_and_last(range(rows), MAX_ROWS):
            for number, column in enumerate(shown):
                x = left + number * CELL
                if row is None or column is None:
                    self.elements.append(text("more", x + CELL / 2, self.y + HEIGHT / 2, "…"))
                    continue
                index = (*leading, row, column)[-self.data.ndim :] if self.data.ndim else ()
                position = index_to_position(index, self.data.strides, self.data.offset)
                self.cell(x, self.y, position, row)
            self.y += HEIGHT
        return len(shown) * CELL


def _rows_of_positions(data: TensorData) -> dict[int, int]:
    """Return the positions that a view reads, each with the first row that contains it.

    Only elements that the grids may show are examined.
    """
    found: dict[int, int] = {}
    choices = [
        [i for i in _first_and_last(range(length), MAX_ROWS) if i is not None]
        for length in data.shape
    ]
    for index in itertools.islice(itertools.product(*choices), 4096):
        row = index[-2] if len(index) > 1 else 0
        found.setdefault(index_to_position(index, data.strides, data.offset), row)
    return found


def _steps(data: TensorData) -> list[tuple[int, int, int]]:
    """Return the start and end of the first step of each dimension with more than one element."""
    if data.size == 0:
        return []
    return [
        (dim, data.offset, data.offset + stride)
        for dim, (length, stride) in enumerate(zip(data.shape, data.strides, strict=True))
        if length > 1
    ]


def _step(dim: int, data: TensorData) -> str:
    """Return the label of an arrow."""
    stride = data.strides[dim]
    return f"dimension {dim}: {f'{stride:+d}' if stride else 'stays'}"


def _shown_positions(size: int, touched: dict[int, int], ends: list[int]) -> list[int | None]:
    """Return the positions of a storage to show, with None where some are omitted."""
    if size <= MAX_CELLS:
        return list(range(size))
    required = {0, size - 1, *ends, *sorted(touched)[: MAX_CELLS // 2]}
    required |= set(sorted(touched)[-3:])
    shown: list[int | None] = []
    for position in sorted(required):
        previous = shown[-1] if shown else None
        if previous is not None and position == previous + 2:
            shown.append(position - 1)
        elif previous is not None and position > previous + 2:
            shown.append(None)
        shown.append(position)
    return shown


def _first_and_last(numbers: range, limit: int) -> list[int | None]:
    """Return at most `limit` of the numbers: the first ones, None and the last one if shortened.

    The range is never expanded: sizes may be huge where another size or a stride is 0.
    """
    if len(numbers) <= limit:
        return list(numbers)
    return [*numbers[: limit - 2], None, numbers[-1]]


def _written(value: float) -> str:
    """Format a number, short enough for a cell."""
    if isinstance(value, bool | int):
        return str(value)
    return f"{value:.3g}"
