"""Tables whose rows are looked up by number, and learnt."""

from __future__ import annotations

from typing import Any, Self

from mt_nn import functional, init
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_nn.functional.embedding import Mode, check_mode, check_not_sparse, row_number
from mt_tensor import Tensor, no_grad, zeros


class _Table(Module):
    """What both layers share: the table, and how it is used.

    The other arguments are those of `Embedding`.

    Args:
        weight: the table, if there is one; otherwise it is drawn from the normal distribution.
        freeze: whether the table is not trained.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
        weight: Tensor | None,
        freeze: bool,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.num_embeddings = rows = integer("num_embeddings", num_embeddings, 1)
        self.embedding_dim = width = integer("embedding_dim", embedding_dim, 1)
        self.padding_idx = None if padding_idx is None else row_number(padding_idx, rows)
        self.max_norm, self.norm_type = max_norm, norm_type
        check_not_sparse(sparse)
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if weight is not None:
            if weight.shape != (rows, width):
                raise InputError(
                    f"a table of shape {(rows, width)} was asked for, and {weight.shape} given."
                )
            self.weight = Parameter(weight, requires_grad=not freeze)
            return
        self.weight = Parameter(zeros(rows, width, dtype=dtype), requires_grad=not freeze)
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    def extra_repr(self) -> str:
        """Show the settings that are not the usual ones."""
        usual = {"norm_type": 2.0, "scale_grad_by_freq": False}
        names = ("padding_idx", "max_norm", *usual, "mode")
        shown = {name: getattr(self, name, None) for name in names}
        return ", ".join(
            [
                f"{self.num_embeddings}, {self.embedding_dim}",
                *(f"{name}={each!r}" for name, each in shown.items() if each != usual.get(name)),
            ]
        )


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
    """A row of a table for each number; see `mt_nn.functional.embedding`.

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

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        *,
        dtype: Any = None,
    ) -> None:
        use = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        super().__init__(num_embeddings, embedding_dim, *use, _weight, _freeze, dtype)

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
        return functional.embedding(
            input, self.weight, self.padding_idx, *limit, self.scale_grad_by_freq
        )


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

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: Mode = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        *,
        _freeze: bool = False,
        dtype: Any = None,
    ) -> None:
        check_mode(mode, scale_grad_by_freq)
        use = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        super().__init__(num_embeddings, embedding_dim, *use, _weight, _freeze, dtype)
        self.mode, self.include_last_offset = mode, include_last_offset

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
        return functional.embedding_bag(input, self.weight, offsets, *use, *bags)
