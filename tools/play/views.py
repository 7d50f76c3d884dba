"""Views of a storage that users specify by typing shapes, orders and indices.

Only integers, slices, `...` and None are parsed, and the size of views is limited; this module or
`mt_tensor` itself rejects everything else.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import EllipsisType

import mt_tensor as mt
from mt_autodiff.drawing.svg import Svg
from mt_tensor.drawing import draw_storage
from mt_tensor.extending import Shape, size_of

MOST_ELEMENTS = 10_000
"""The maximum number of elements of a storage or a view."""

MOST_DIMENSIONS = 6

LONGEST = 80
"""The maximum number of characters of an input."""

LARGEST = 10**15
"""The maximum number in an input."""

Entry = int | slice | EllipsisType | None

CHOSEN = """
.mt-storage .chosen{fill:#d1622b;stroke:#7a2f0c;stroke-width:2.5}
.mt-storage .chosen+text,.mt-storage .chosen+text+text{fill:#fff;font-weight:bold}
"""


class ViewError(ValueError):
    """Invalid input, or too large a view; the message says what to type."""


def whole_numbers(text: str, what: str) -> tuple[int, ...]:
    """Parse integers such as `2, 3`; an empty text has none.

    Args:
        text: the input.
        what: its meaning, for messages.

    Raises:
        ViewError: it is invalid, or too long.
    """
    parts = text.strip().strip("()[]").rstrip(", ").split(",") if text.strip("()[] ,") else []
    if len(text) > LONGEST or len(parts) > MOST_DIMENSIONS:
        raise ViewError(f"{what} may have at most {MOST_DIMENSIONS} numbers, not {len(parts)}.")
    for part in parts:
        if not re.fullmatch(r"-?[0-9]{1,15}", part.strip()):
            raise ViewError(
                f"{what} must be integers separated by commas, such as 2, 3; found "
                f"{part.strip()!r}."
            )
    return tuple(int(part) for part in parts)


def as_shape(text: str, what: str = "a shape", most: int = MOST_ELEMENTS) -> Shape:
    """Parse a shape.

    Raises:
        ViewError: it is invalid, or has too many elements.
    """
    shape = whole_numbers(text, what)
    if any(length < 0 for length in shape):
        raise ViewError(f"{what} must have sizes of 0 or more, not {shape}.")
    _check_size(shape, most)
    return shape


def _check_size(shape: Shape, most: int = MOST_ELEMENTS) -> None:
    if size_of(shape) > most:
        raise ViewError(f"the limit is {most:,} elements; shape {shape} has {size_of(shape):,}.")


def as_index(text: str) -> tuple[Entry, ...]:
    """Parse an index such as `1:, ::2`.

    Raises:
        ViewError: it has anything except integers, slices, `...` and None.
    """
    message = f"an index may have integers, slices, ... and None, such as 1:, ::2; not {text!r}."
    if len(text) > LONGEST:
        raise ViewError(f"an index may have at most {LONGEST} characters, not {len(text)}.")
    try:
        subscript = ast.parse(f"x[{text.strip()}]", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ViewError(message) from None
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.value, ast.Name):
        raise ViewError(message)
    inside = subscript.slice
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    try:
        return tuple(_entry(part) for part in parts)
    except ValueError:
        raise ViewError(message) from None


def _entry(node: ast.expr) -> Entry:
    """Convert an entry of an index.

    Raises:
        ValueError: it is invalid.
    """
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            ends = [None if end is None else _whole(end) for end in (lower, upper, step)]
            return slice(*ends)
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=value) if value is ...:
            return ...
    return _whole(node)


def _whole(node: ast.expr) -> int:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_whole(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LARGEST:
        return node.value
    raise ValueError


@dataclass(frozen=True)
class Step:
    """A view, and the code that made it.

    Attributes:
        code: the Python code.
        tensor: the result.
    """

    code: str
    tensor: mt.Tensor


def views(shape: str, order: str, index: str, expanded: str) -> Iterator[Step]:
    """Yield a tensor with ten times its positions, and a chain of views of it.

    Args:
        shape: the shape of the first tensor.
        order: the order of its dimensions; empty for no change.
        index: the index to apply next; empty for none.
        expanded: the shape to broadcast the result to; empty for no change.

    Raises:
        ViewError: an input is invalid, or a view too large.
        TensorError: it does not match the tensor.
    """
    lengths = as_shape(shape)
    size = math.prod(lengths)
    tensor = (mt.arange(size) * 10).view(lengths)
    yield Step(f"x = (10 * mt.arange({size})).view({_listed(lengths)})", tensor)
    if order.strip():
        dims = whole_numbers(order, "an order of dimensions")
        tensor = tensor.permute(dims)
        yield Step(f"x = x.permute({_listed(dims)})", tensor)
    if index.strip():
        tensor = tensor[as_index(index)]
        yield Step(f"x = x[{index.strip()}]", tensor)
    if expanded.strip():
        target = as_shape(expanded, "a shape to broadcast to")
        tensor = tensor.expand(target)
        yield Step(f"x = x.expand({_listed(target)})", tensor)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "()"


def describe_position(tensor: mt.Tensor, index: Sequence[int]) -> tuple[str, int]:
    """Return the formula for the position of an element, and its value."""
    data = tensor._tensor
    terms = [f"{i} × {stride}" for i, stride in zip(index, data.strides, strict=True)]
    return " + ".join([str(data.offset), *terms]), data.index(tuple(index))


def draw_view(tensor: mt.Tensor, position: int | None = None) -> Svg:
    """Draw a storage and a view of it, with one element highlighted."""
    picture = draw_storage(tensor)
    if position is None:
        return picture
    cell = re.compile(
        rf'class="cell [\w ]+"(?= [^\n]*\n<text class="(?:value|long)"[^\n]*\n[^\n]*>@{position}<)'
    )
    marked = cell.sub('class="cell chosen"', picture)
    return Svg(marked.replace("</style>", f"{CHOSEN}</style>", 1))


def broadcast(first: str, second: str) -> tuple[mt.Tensor, mt.Tensor]:
    """Return tensors of two shapes, expanded to their common shape.

    Raises:
        ViewError: one is not a shape, or there are too many elements.
        TensorError: the shapes do not broadcast.
    """
    shapes = as_shape(first, "the first shape"), as_shape(second, "the second shape")
    target = mt.broadcast_shapes(*shapes)
    _check_size(target)
    made = [(mt.arange(math.prod(shape)) * 10).view(shape).expand(target) for shape in shapes]
    return made[0], made[1]
