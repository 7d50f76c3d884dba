"""Embedding: rows of a table looked up by number, put together, and learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

from mt_nn import init
from mt_nn.core.arguments import checked
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check
from mt_tensor import Tensor, arange, fused, no_grad, searchsorted, unique, zeros
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
    check("mode", mode, mode in tuple(_OF_BAGS), "'sum', 'mean' or 'max'")
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


# --- Layers ---------------------------------------------------------------------------------------


class _Table(Declared, Module):
    """What both layers share: the table, and how it is used.

    `_weight` is the table; if it is None, one is drawn from the normal distribution.
    """

    num_embeddings: int
    embedding_dim: int

    def _configure(self, settings: dict[str, Any]) -> None:
        weight, freeze, dtype = (settings.pop(name) for name in ("_weight", "_freeze", "dtype"))
        super()._configure(settings)
        self.num_embeddings = rows = integer("num_embeddings", self.num_embeddings, 1)
        self.embedding_dim = width = integer("embedding_dim", self.embedding_dim, 1)
        padding_idx = settings["padding_idx"]
        self.padding_idx = None if padding_idx is None else row_number(padding_idx, rows)
        check_not_sparse(settings["sparse"])
        if weight is not None and weight.shape != (rows, width):
            raise InputError(
                f"a table of shape {(rows, width)} was asked for, and {weight.shape} given."
            )
        table = zeros(rows, width, dtype=dtype) if weight is None else weight
        self.weight = Parameter(table, requires_grad=not freeze)
        if weight is None:
            init.normal_(self.weight)
            if self.padding_idx is not None:
                with no_grad():
                    self.weight[self.padding_idx].zero_()

    def extra_repr(self) -> str:
        """Show the settings that are not the usual ones."""
        names = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "mode")
        usual = dict.fromkeys(names) | {"norm_type": 2.0, "scale_grad_by_freq": False}
        given = ((name, getattr(self, name, None)) for name in names)
        shown = (f", {name}={value!r}" for name, value in given if value != usual[name])
        return f"{self.num_embeddings}, {self.embedding_dim}{''.join(shown)}"


def _rows_and_width(embeddings: Tensor) -> tuple[int, int]:
    """Return the shape of a table.

    Raises:
        InputError: it is none.
    """
    if embeddings.ndim != 2:
        raise InputError(
            f"from_pretrained() takes a table of shape (rows, width); {embeddings.shape} was given."
        )
    rows, width = embeddings.shape
    return rows, width


class Embedding(_Table):
    """A row of a table for each number; see `mt_nn.layers.embedding`.

    Args:
        num_embeddings: how many rows the table has.
        embedding_dim: how wide it is.
        padding_idx: the number of a row that is zeros and not trained; from the end if negative.
        max_norm: rows that are looked up and have a larger norm are scaled to it, in the table.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether the gradient of a row is its mean, not its sum, over the places
            where it was looked up.
        sparse: must be False: gradients are never sparse here.
        dtype: the dtype of the table, float32 if None.

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
    _: KW_ONLY
    dtype: Any = None

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Return a layer around a table, whose memory it shares, and which it does not train.

        Args:
            embeddings: the table, shape (rows, width).
            freeze: whether the table is not trained.
            padding_idx: as for the layer, but the row stays as it is; so for all others.
            max_norm: see the layer.
            norm_type: see the layer.
            scale_grad_by_freq: see the layer.
            sparse: see the layer.

        Raises:
            InputError: the table is no matrix.
        """
        rows, width = _rows_and_width(embeddings)
        settings = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        return cls(rows, width, *settings, embeddings, freeze)

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (*input.shape, embedding_dim)."""
        limit = (self.max_norm, self.norm_type)
        return embedding(input, self.weight, self.padding_idx, *limit, self.scale_grad_by_freq)


class EmbeddingBag(_Table):
    """Rows of a table put together in bags; see `mt_nn.functional.embedding_bag`.

    Args:
        num_embeddings: how many rows the table has.
        embedding_dim: how wide it is.
        max_norm: rows that are looked up and have a larger norm are scaled to it, in the table.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether the gradient of a row is its mean, not its sum, over the places
            where it was looked up; not for "max".
        mode: "sum", "mean" or "max".
        sparse: must be False: gradients are never sparse here.
        include_last_offset: whether the last of the offsets is the end of the last bag.
        padding_idx: the number of a row that is zeros and left out of the bags; from the end if
            negative.
        dtype: the dtype of the table, float32 if None.

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
    dtype: Any = None

    def _check(self) -> None:
        check_mode(self.mode, self.scale_grad_by_freq)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: Mode = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Return a layer around a table, whose memory it shares, and which it does not train.

        Args:
            embeddings: the table, shape (rows, width).
            freeze: whether the table is not trained.
            max_norm: as for the layer; so for all others.
            norm_type: see the layer.
            scale_grad_by_freq: see the layer.
            mode: see the layer.
            sparse: see the layer.
            include_last_offset: see the layer.
            padding_idx: see the layer, but the row stays as it is.

        Raises:
            InputError: the table is no matrix.
        """
        rows, width = _rows_and_width(embeddings)
        settings = (max_norm, norm_type, scale_grad_by_freq, mode, sparse)
        bags = (include_last_offset, padding_idx)
        return cls(rows, width, *settings, embeddings, *bags, _freeze=freeze)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Return shape (bags, embedding_dim)."""
        use = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        bags = (per_sample_weights, self.include_last_offset, self.padding_idx)
        return embedding_bag(input, self.weight, offsets, *use, *bags)
