"""Views of a storage that somebody asks for by typing: shapes, orders, indices, and what they see.

Only whole numbers, slices, `...` and None are read, and a view has a limited number of elements;
everything else is refused here or by `mt_tensor` itself.
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
"""How many elements a storage or a view may have."""

MOST_DIMENSIONS = 6

LONGEST = 80
"""How many characters may be typed."""

LARGEST = 10**15
"""How large a number may be that is typed."""

Entry = int | slice | EllipsisType | None

CHOSEN = """
.mt-storage .chosen{fill:#d1622b;stroke:#7a2f0c;stroke-width:2.5}
.mt-storage .chosen+text,.mt-storage .chosen+text+text{fill:#fff;font-weight:bold}
"""


class ViewError(ValueError):
    """What was typed is no shape or index, or asks for too much; says what can be typed."""


def whole_numbers(text: str, what: str) -> tuple[int, ...]:
    """Return the numbers in a text such as `2, 3`; none of an empty one.

    Args:
        text: what was typed.
        what: what the numbers are, for messages.

    Raises:
        ViewError: there is something else in it, or too much.
    """
    parts = text.strip().strip("()[]").rstrip(", ").split(",") if text.strip("()[] ,") else []
    if len(text) > LONGEST or len(parts) > MOST_DIMENSIONS:
        raise ViewError(f"{what} has at most {MOST_DIMENSIONS} numbers; {len(parts)} were given.")
    for part in parts:
        if not re.fullmatch(r"-?[0-9]{1,15}", part.strip()):
            raise ViewError(
                f"{what} is whole numbers with commas between them, such as 2, 3; "
                f"{part.strip()!r} was given."
            )
    return tuple(int(part) for part in parts)


def as_shape(text: str, what: str = "a shape", most: int = MOST_ELEMENTS) -> Shape:
    """Return the shape in a text, which has not too many elements.

    Raises:
        ViewError: it is none, or has.
    """
    shape = whole_numbers(text, what)
    if any(length < 0 for length in shape):
        raise ViewError(f"{what} has sizes of 0 or more; {shape} was given.")
    _check_size(shape, most)
    return shape


def _check_size(shape: Shape, most: int = MOST_ELEMENTS) -> None:
    if size_of(shape) > most:
        raise ViewError(
            f"at most {most:,} elements can be looked at; shape {shape} has {size_of(shape):,}."
        )


def as_index(text: str) -> tuple[Entry, ...]:
    """Return the index in a text such as `1:, ::2`.

    Raises:
        ViewError: there is something else in it than whole numbers, slices, `...` and None.
    """
    said = f"an index is whole numbers, slices, ... and None, such as 1:, ::2; {text!r} was given."
    if len(text) > LONGEST:
        raise ViewError(f"an index has at most {LONGEST} characters; {len(text)} were given.")
    try:
        subscript = ast.parse(f"x[{text.strip()}]", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ViewError(said) from None
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.value, ast.Name):
        raise ViewError(said)
    inside = subscript.slice
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    try:
        return tuple(_entry(part) for part in parts)
    except ValueError:
        raise ViewError(said) from None


def _entry(node: ast.expr) -> Entry:
    """Return an entry of an index.

    Raises:
        ValueError: it is none.
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
        code: in Python.
        tensor: what came of it.
    """

    code: str
    tensor: mt.Tensor


def views(shape: str, order: str, index: str, expanded: str) -> Iterator[Step]:
    """Yield a tensor of ten times its positions, and the views that are asked for, one of another.

    Args:
        shape: of the first tensor.
        order: in which its dimensions come; empty to leave it.
        index: what is selected then; empty for everything.
        expanded: the shape to which that is broadcast; empty to leave it.

    Raises:
        ViewError: something is none of these, or asks for too much.
        TensorError: it does not fit the tensor.
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


def position_told(tensor: mt.Tensor, index: Sequence[int]) -> tuple[str, int]:
    """Return how the position of an element comes about, and the position."""
    data = tensor._tensor
    terms = [f"{i} × {stride}" for i, stride in zip(index, data.strides, strict=True)]
    return " + ".join([str(data.offset), *terms]), data.index(tuple(index))


def draw_view(tensor: mt.Tensor, position: int | None = None) -> Svg:
    """Draw a storage and a view of it, with one element marked wherever it is seen."""
    picture = draw_storage(tensor)
    if position is None:
        return picture
    cell = re.compile(
        rf'class="cell [\w ]+"(?= [^\n]*\n<text class="(?:value|long)"[^\n]*\n[^\n]*>@{position}<)'
    )
    marked = cell.sub('class="cell chosen"', picture)
    return Svg(marked.replace("</style>", f"{CHOSEN}</style>", 1))


def broadcast(first: str, second: str) -> tuple[mt.Tensor, mt.Tensor]:
    """Return tensors of two shapes, expanded to the shape that both broadcast to.

    Raises:
        ViewError: one is no shape, or there are too many elements.
        TensorError: the shapes do not broadcast.
    """
    shapes = as_shape(first, "the first shape"), as_shape(second, "the second shape")
    target = mt.broadcast_shapes(*shapes)
    _check_size(target)
    made = [(mt.arange(math.prod(shape)) * 10).view(shape).expand(target) for shape in shapes]
    return made[0], made[1]
