"""Embedding: rows of a table looked up by number, and put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mt_nn.core.arguments import checked
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, arange, fused, no_grad, searchsorted, unique
from mt_tensor.extending import as_one_call, check_floating, common_backend
from mt_tensor.linalg import vector_norm

Mode = Literal["sum", "mean", "max"]


@checked
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return a row of a table for each number.

    Args:
        input: numbers of rows, integers of any shape.
        weight: the table, shape (rows, width).
        padding_idx: the number of a row that gets no gradient; from the end if negative.
        max_norm: rows that are looked up and have a larger norm are scaled to it, in the table.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether the gradient of a row is its mean, not its sum, over the places
            where it was looked up.
        sparse: must be False: gradients are never sparse here.

    Returns:
        Shape (*input.shape, width).

    Raises:
        InputError: the input holds no integers, or the table is no matrix.
        SettingError: there is no row `padding_idx`, or `sparse` is set.
        IndexingError: there is no such row.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check("embedding", input, weight, sparse)
    padding = None if padding_idx is None else row_number(padding_idx, weight.shape[0])
    if max_norm is not None:
        _limit(weight, input, max_norm, norm_type)
    rows = _embedding(weight, input)
    if scale_grad_by_freq:
        _scale_gradient(rows, _shares(input, weight))
    if padding is not None:
        _scale_gradient(rows, (input != padding).unsqueeze(-1).to(weight.dtype))
    return rows


@fused("embedding")
def _embedding(weight: Tensor, input: Tensor) -> Tensor:
    """Look up; the arguments are those of `embedding`, checked, the other way round."""
    rows = weight.index_select(0, input.reshape(-1))
    return rows.view(*input.shape, weight.shape[1])


def _scale_gradient(rows: Tensor, factors: Tensor) -> None:
    """Multiply the gradient of some rows, if there will be one, by factors."""
    if rows.requires_grad:
        rows.register_hook(lambda grad: grad * factors)


@as_one_call
def _shares(input: Tensor, weight: Tensor) -> Tensor:
    """Return for each number one divided by how often it is looked up, with a dimension more."""
    counts = input.reshape(-1).bincount(minlength=weight.shape[0]).to(weight.dtype)
    return counts.index_select(0, input.reshape(-1)).reciprocal().view(*input.shape, 1)


@no_grad()
def _limit(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are looked up, in place, so that no norm is above `max_norm`."""
    numbers = unique(input)
    rows = weight.index_select(0, numbers)
    norms = vector_norm(rows, norm_type, 1, keepdim=True)
    scaled = rows * (max_norm / (norms + 1e-7)).clamp_max(1.0)
    weight.index_copy_(0, numbers, scaled)


def row_number(padding_idx: Any, rows: int) -> int:
    """Return `padding_idx` counted from the first row.

    Raises:
        SettingError: it is no integer, or there is no such row.
    """
    number = integer("padding_idx", padding_idx, -rows)
    if number >= rows:
        raise SettingError(f"padding_idx must be one of {rows} rows; got {number}.")
    return number % rows


def _check(name: str, input: Tensor, weight: Tensor, sparse: bool) -> None:
    if weight.ndim != 2 or input.dtype.kind != "integer":
        raise InputError(
            f"{name}() takes integers and a table of shape (rows, width); "
            f"{input.dtype.name} and shape {weight.shape} were given."
        )
    check_not_sparse(sparse)
    common_backend(input, weight)


def check_not_sparse(sparse: bool) -> None:
    """Raise SettingError if a sparse gradient is asked for."""
    if sparse:
        raise SettingError("gradients of tables are never sparse here: leave sparse=False.")


# --- Bags ---------------------------------------------------------------------------------------


@checked
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: Mode = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Look up rows of a table, and return the sum, the mean or the largest of those in each bag.

    Args:
        input: numbers of rows, integers of shape (bags, size); or of shape (total,), of which each
            bag is a part.
        weight: the table, shape (rows, width).
        offsets: where the bags begin in an input of one dimension: integers that begin with 0 and
            never fall.
        max_norm: rows that are looked up and have a larger norm are scaled to it, in the table.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether the gradient of a row is its mean, not its sum, over the places
            where it was looked up; not for "max".
        mode: "sum", "mean" or "max".
        sparse: must be False: gradients are never sparse here.
        per_sample_weights: what rows are multiplied by, of the input's shape; for "sum" only.
        include_last_offset: whether the last of the offsets is the end of the last bag.
        padding_idx: the number of a row that is left out of the bags; from the end if negative.

    Returns:
        Shape (bags, width); zeros for a bag with nothing in it. Where several rows are largest they
        share the gradient, which in torch the first of them gets.

    Raises:
        InputError: the input holds no integers, or shapes, dtypes or offsets do not fit.
        SettingError: there is no such mode or row `padding_idx`, the mode does not go with another
            setting, or `sparse` is set.
        IndexingError: there is no such row.
        DTypeError: the table holds no floating-point numbers.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check("embedding_bag", input, weight, sparse)
    check_floating("embedding_bag", weight)
    check_mode(mode, scale_grad_by_freq)
    padding = None if padding_idx is None else row_number(padding_idx, weight.shape[0])
    _check_weights(input, weight, per_sample_weights, mode)

    def looked_up(numbers: Tensor, factors: Tensor | None) -> Tensor:
        """Return rows of the table, multiplied by factors."""
        rows = embedding(numbers, weight, None, max_norm, norm_type, scale_grad_by_freq)
        return rows if factors is None else rows * factors.unsqueeze(1)

    numbers = input.reshape(-1)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if input.ndim == 2 and offsets is None and padding is None and input.shape[1]:
        rows = looked_up(numbers, factors)
        return _OF_BAGS[mode](rows.view(*input.shape, weight.shape[1]), 1)
    bag_of, bags = _bags(input, offsets, include_last_offset)
    if padding is not None:
        kept = (numbers != padding).argwhere().squeeze(1)
        numbers, bag_of = numbers.index_select(0, kept), bag_of.index_select(0, kept)
        factors = None if factors is None else factors.index_select(0, kept)
    rows = looked_up(numbers, factors)
    empty = rows._full((bags, weight.shape[1]), 0.0)
    if mode == "max":
        return empty.index_reduce(0, bag_of, rows, "amax", include_self=False)
    total = empty.index_add(0, bag_of, rows)
    if mode == "sum":
        return total
    sizes = bag_of.bincount(minlength=bags).clamp_min(1).to(weight.dtype)
    return total / sizes.unsqueeze(1)


_OF_BAGS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "sum": Tensor.sum,
    "mean": Tensor.mean,
    "max": Tensor.amax,
}
"""What puts together rows of bags that are all of one size."""


def check_mode(mode: str, scale_grad_by_freq: bool) -> None:
    """Raise SettingError unless bags can be put together so."""
    if mode not in ("sum", "mean", "max"):
        raise SettingError(f"mode must be 'sum', 'mean' or 'max'; got {mode!r}.")
    if mode == "max" and scale_grad_by_freq:
        raise SettingError("scale_grad_by_freq does not go with mode='max', which adds nothing up.")


def _check_weights(input: Tensor, weight: Tensor, factors: Tensor | None, mode: Mode) -> None:
    if factors is None:
        return
    if mode != "sum":
        raise SettingError(f"per_sample_weights go with mode='sum' only; got {mode!r}.")
    if factors.shape != input.shape or factors.dtype is not weight.dtype:
        raise InputError(
            f"per_sample_weights have the input's shape, {input.shape}, and the table's dtype, "
            f"{weight.dtype.name}; {factors.shape} and {factors.dtype.name} were given."
        )
    common_backend(input, factors)


def _bags(input: Tensor, offsets: Tensor | None, include_last: bool) -> tuple[Tensor, int]:
    """Return for each number the bag it is in, and how many bags there are."""
    if input.ndim == 2 and offsets is None:
        bags, size = input.shape
        rows = arange(bags, backend=input.backend)
        return rows.unsqueeze(1).expand(bags, size).reshape(-1), bags
    if input.ndim != 1 or offsets is None or offsets.ndim != 1 or offsets.dtype.kind != "integer":
        raise InputError(
            "embedding_bag() takes numbers of shape (bags, size) and no offsets, or of shape "
            f"(total,) and integers of shape (bags,) as offsets; {input.shape} and "
            f"{'no offsets' if offsets is None else offsets.shape} were given."
        )
    common_backend(input, offsets)
    total = input.shape[0]
    bounds = offsets.tolist() if include_last else [*offsets.tolist(), total]
    if bounds != sorted(bounds) or bounds[:1] != [0] or bounds[-1] != total:
        raise InputError(
            f"offsets begin with 0, never fall and end at most at the number of numbers, {total}"
            f"{', or exactly there with include_last_offset' if include_last else ''}; "
            f"{offsets.tolist()} was given."
        )
    bag_of = searchsorted(offsets, arange(total, backend=input.backend), right=True) - 1
    return bag_of, len(bounds) - 1
