"""Embedding: look up rows of a learned table by index, and reduce them in bags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

from mt_nn import init
from mt_nn.core.arguments import checked
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.factory import DeclaredLayer
from mt_nn.utils.settings import check
from mt_tensor import Function, Tensor, arange, fused, no_grad, searchsorted, unique, zeros
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
    """Return a row of a table for each index.

    Args:
        input: indices of rows, integers of any shape.
        weight: the table, shape (rows, width).
        padding_idx: index of a row that gets no gradient; negative indices count from the end.
        max_norm: rescale looked-up rows with a larger norm, in place, to this norm.
        norm_type: the p of this norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of its lookups.
        sparse: must be False, since sparse gradients are not supported.

    Returns:
        Shape (*input.shape, width).

    Raises:
        InputError: the input is not an integer tensor, or the table is not a matrix.
        SettingError: `padding_idx` is out of range, or `sparse` is True.
        IndexingError: an index is out of range.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check("embedding", input, weight, sparse)
    padding = None if padding_idx is None else row_index(padding_idx, weight.shape[0])
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    rows = _embedding(weight, input)
    if scale_grad_by_freq:
        rows = _ScaledGradient.apply(rows, _reciprocal_counts(input, weight))
    if padding is not None:
        rows = _ScaledGradient.apply(rows, (input != padding).unsqueeze(-1).to(weight.dtype))
    return rows


@fused("embedding")
def _embedding(weight: Tensor, input: Tensor) -> Tensor:
    """Compute `embedding` for checked arguments, in reverse order."""
    rows = weight.index_select(0, input.reshape(-1))
    return rows.view(*input.shape, weight.shape[1])


class _ScaledGradient(Function):
    """Return rows unchanged, and multiply their gradient by factors."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, factors: Tensor) -> Tensor:
        """Return the rows."""
        ctx.save_for_backward(factors)
        return rows.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradient of the rows."""
        (factors,) = ctx.saved_tensors
        return grad * factors, None


@as_one_call
def _reciprocal_counts(input: Tensor, weight: Tensor) -> Tensor:
    """Return 1 / (number of occurrences) of each index, shape (*input.shape, 1)."""
    counts = input.reshape(-1).bincount(minlength=weight.shape[0]).to(weight.dtype)
    return counts.index_select(0, input.reshape(-1)).reciprocal().view(*input.shape, 1)


@no_grad()
def _limit_norms(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the looked-up rows in place, so that no norm exceeds `max_norm`."""
    indices = unique(input)
    rows = weight.index_select(0, indices)
    norms = vector_norm(rows, norm_type, 1, keepdim=True)
    scaled = rows * (max_norm / (norms + 1e-7)).clamp_max(1.0)
    weight.index_copy_(0, indices, scaled)


def row_index(padding_idx: Any, rows: int) -> int:
    """Return `padding_idx` as a non-negative index.

    Raises:
        SettingError: it is not an integer, or out of range.
    """
    index = integer("padding_idx", padding_idx, -rows)
    if index >= rows:
        raise SettingError(f"padding_idx must be less than the {rows} rows; got {index}.")
    return index % rows


def _check(name: str, input: Tensor, weight: Tensor, sparse: bool) -> None:
    if weight.ndim != 2 or input.dtype.kind != "integer":
        raise InputError(
            f"{name}() takes integers and a table of shape (rows, width); "
            f"{input.dtype.name} and shape {weight.shape} were given."
        )
    check_not_sparse(sparse)
    common_backend(input, weight)


def check_not_sparse(sparse: bool) -> None:
    """Raise SettingError if `sparse` is True."""
    if sparse:
        raise SettingError("sparse gradients are not supported: leave sparse=False.")


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
    """Look up rows of a table, and return the sum, mean or maximum of each bag of them.

    Args:
        input: indices of rows, integers of shape (bags, size); or of shape (total,), with bags of
            consecutive indices.
        weight: the table, shape (rows, width).
        offsets: the start of each bag in an input of one dimension: integers in ascending order,
            the first of which is 0.
        max_norm: rescale looked-up rows with a larger norm, in place, to this norm.
        norm_type: the p of this norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of its lookups;
            not for "max".
        mode: "sum", "mean" or "max".
        sparse: must be False, since sparse gradients are not supported.
        per_sample_weights: factors of the rows, of the shape of the input; for "sum" only.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: index of a row to leave out of the bags; negative indices count from the end.

    Returns:
        Shape (bags, width); zeros for an empty bag. With "max", equal rows share the gradient; in
        torch, the first one gets it.

    Raises:
        InputError: the input is not an integer tensor, or a shape, dtype or offset is invalid.
        SettingError: `mode` or `padding_idx` is invalid, `mode` does not support another setting,
            or `sparse` is True.
        IndexingError: an index is out of range.
        DTypeError: the table is not floating-point.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check("embedding_bag", input, weight, sparse)
    check_floating("embedding_bag", weight)
    check_mode(mode, scale_grad_by_freq)
    padding = None if padding_idx is None else row_index(padding_idx, weight.shape[0])
    _check_weights(input, weight, per_sample_weights, mode)

    def look_up(indices: Tensor, factors: Tensor | None) -> Tensor:
        """Return rows of the table, multiplied by factors."""
        rows = embedding(indices, weight, None, max_norm, norm_type, scale_grad_by_freq)
        return rows if factors is None else rows * factors.unsqueeze(1)

    indices = input.reshape(-1)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if input.ndim == 2 and offsets is None and padding is None and input.shape[1]:
        rows = look_up(indices, factors)
        return _REDUCTIONS[mode](rows.view(*input.shape, weight.shape[1]), 1)
    bag_of, bags = _bags(input, offsets, include_last_offset)
    if padding is not None:
        kept = (indices != padding).argwhere().squeeze(1)
        indices, bag_of = indices.index_select(0, kept), bag_of.index_select(0, kept)
        factors = None if factors is None else factors.index_select(0, kept)
    rows = look_up(indices, factors)
    empty = rows._full((bags, weight.shape[1]), 0.0)
    if mode == "max":
        return empty.index_reduce(0, bag_of, rows, "amax", include_self=False)
    total = empty.index_add(0, bag_of, rows)
    if mode == "sum":
        return total
    sizes = bag_of.bincount(minlength=bags).clamp_min(1).to(weight.dtype)
    return total / sizes.unsqueeze(1)


_REDUCTIONS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "sum": Tensor.sum,
    "mean": Tensor.mean,
    "max": Tensor.amax,
}
"""Reductions of bags of equal size."""


def check_mode(mode: str, scale_grad_by_freq: bool) -> None:
    """Raise SettingError unless the mode is valid, and supports `scale_grad_by_freq`."""
    check("mode", mode, mode in tuple(_REDUCTIONS), "'sum', 'mean' or 'max'")
    if mode == "max" and scale_grad_by_freq:
        raise SettingError("scale_grad_by_freq is not supported with mode='max'.")


def _check_weights(input: Tensor, weight: Tensor, factors: Tensor | None, mode: Mode) -> None:
    if factors is None:
        return
    if mode != "sum":
        raise SettingError(
            f"embedding_bag() takes per_sample_weights with mode='sum' only; got {mode!r}."
        )
    if factors.shape != input.shape or factors.dtype is not weight.dtype:
        raise InputError(
            "embedding_bag() takes per_sample_weights with the shape of the input, "
            f"{input.shape}, and the dtype of the table, {weight.dtype.name}; {factors.shape} and "
            f"{factors.dtype.name} were given."
        )
    common_backend(input, factors)


def _bags(input: Tensor, offsets: Tensor | None, include_last: bool) -> tuple[Tensor, int]:
    """Return the bag of each index, and the number of bags."""
    if input.ndim == 2 and offsets is None:
        bags, size = input.shape
        rows = arange(bags, backend=input.backend)
        return rows.unsqueeze(1).expand(bags, size).reshape(-1), bags
    if input.ndim != 1 or offsets is None or offsets.ndim != 1 or offsets.dtype.kind != "integer":
        raise InputError(
            "embedding_bag() takes indices of shape (bags, size) and no offsets, or of shape "
            f"(total,) and integers of shape (bags,) as offsets; {input.shape} and "
            f"{'no offsets' if offsets is None else offsets.shape} were given."
        )
    common_backend(input, offsets)
    total = input.shape[0]
    bounds = offsets.tolist() if include_last else [*offsets.tolist(), total]
    if bounds != sorted(bounds) or bounds[:1] != [0] or bounds[-1] != total:
        raise InputError(
            f"embedding_bag(): offsets must start with 0, be in ascending order and end "
            f"{'with' if include_last else 'at most with'} the number of indices, {total}; "
            f"{offsets.tolist()} was given."
        )
    bag_of = searchsorted(offsets, arange(total, backend=input.backend), right=True) - 1
    return bag_of, len(bounds) - 1


# --- Layers ---------------------------------------------------------------------------------------


class _Table(DeclaredLayer):
    """Base class of `Embedding` and `EmbeddingBag`: the table.

    `_weight` is the table; if it is None, one is drawn from the normal distribution.
    """

    num_embeddings: int
    embedding_dim: int

    def _check(self) -> None:
        self.num_embeddings = rows = integer("num_embeddings", self.num_embeddings, 1)
        self.embedding_dim = width = integer("embedding_dim", self.embedding_dim, 1)
        given = self.padding_idx
        self.padding_idx: int | None = None if given is None else row_index(given, rows)
        check_not_sparse(self.sparse)
        weight, freeze = self._weight, self._freeze
        del self._weight, self._freeze
        if weight is not None and weight.shape != (rows, width):
            raise InputError(
                f"{type(self).__name__}: _weight must have shape {(rows, width)}; shape "
                f"{weight.shape} was given."
            )
        table = zeros(rows, width, dtype=self.dtype) if weight is None else weight
        self.weight = Parameter(table, requires_grad=not freeze)
        if weight is None:
            init.normal_(self.weight)
            if self.padding_idx is not None:
                with no_grad():
                    self.weight[self.padding_idx].zero_()

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, *settings: Any, **named: Any
    ) -> Self:
        """Return a layer that shares the memory of a table, and by default does not train it.

        Args:
            embeddings: the table, shape (rows, width).
            freeze: whether to keep the table fixed, so that it does not require grad.
            *settings: further arguments of the class, after the sizes of the table. The row
                `padding_idx` is not set to zero.
            **named: keyword arguments of the class.

        Raises:
            InputError: the table is not a matrix.
        """
        if embeddings.ndim != 2:
            raise InputError(
                "from_pretrained() takes a table of shape (rows, width); "
                f"{embeddings.shape} was given."
            )
        layer: Any = cls  # a subclass, which declares `_weight` and `_freeze`
        return layer(*embeddings.shape, *settings, _weight=embeddings, _freeze=freeze, **named)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """Return the sizes, and the settings that differ from their defaults."""
        names = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "mode")
        defaults = dict.fromkeys(names) | {"norm_type": 2.0, "scale_grad_by_freq": False}
        given = {name: getattr(self, name, None) for name in names}
        shown = (f", {name}={value!r}" for name, value in given.items() if value != defaults[name])
        return f"{self.num_embeddings}, {self.embedding_dim}{''.join(shown)}"


class Embedding(_Table):
    """Look up a row of a table for each index; see `mt_nn.functional.embedding`.

    Args:
        num_embeddings: number of rows of the table.
        embedding_dim: size of a row.
        padding_idx: index of a row that is zero and not trained; negative indices count from the
            end.
        max_norm: rescale looked-up rows with a larger norm, in place, to this norm.
        norm_type: the p of this norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of its lookups.
        sparse: must be False, since sparse gradients are not supported.
        device, dtype: those of the table.

    Attributes:
        weight: the table, shape (num_embeddings, embedding_dim).
    """

    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False
    _weight: Tensor | None = None
    _freeze: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows, shape (*input.shape, embedding_dim)."""
        limit = (self.max_norm, self.norm_type)
        return embedding(input, self.weight, self.padding_idx, *limit, self.scale_grad_by_freq)


class EmbeddingBag(_Table):
    """Look up rows of a table, and reduce bags of them; see `mt_nn.functional.embedding_bag`.

    Args:
        num_embeddings: number of rows of the table.
        embedding_dim: size of a row.
        max_norm: rescale looked-up rows with a larger norm, in place, to this norm.
        norm_type: the p of this norm.
        scale_grad_by_freq: whether to divide the gradient of a row by the number of its lookups;
            not for "max".
        mode: "sum", "mean" or "max".
        sparse: must be False, since sparse gradients are not supported.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: index of a row that is zero and left out of the bags; negative indices count
            from the end.
        device, dtype: those of the table.

    Attributes:
        weight: the table, shape (num_embeddings, embedding_dim).
    """

    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    mode: Mode = "mean"
    sparse: bool = False
    _weight: Tensor | None = None
    include_last_offset: bool = False
    padding_idx: int | None = None
    _: KW_ONLY
    _freeze: bool = False

    def _check(self) -> None:
        check_mode(self.mode, self.scale_grad_by_freq)
        super()._check()

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Return the reduced rows, shape (bags, embedding_dim)."""
        use = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        bags = (per_sample_weights, self.include_last_offset, self.padding_idx)
        return embedding_bag(input, self.weight, offsets, *use, *bags)
