"""Movements as methods of `Tensor`: `x.roll(1)` is `roll(x, 1)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.arguments import as_integers
from mt_tensor.errors import ShapeError
from mt_tensor.movement import diagonals, rearranging, splitting, turning
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor


class RearrangingMethods(Tensor):
    """The functions of four modules, and what is a method only."""

    __slots__ = ()

    diag = diagonals.diag
    diagonal = diagonals.diagonal
    tril = diagonals.tril
    triu = diagonals.triu

    moveaxis = rearranging.movedim
    movedim = rearranging.movedim
    repeat_interleave = rearranging.repeat_interleave
    roll = rearranging.roll
    swapaxes = rearranging.swapaxes
    swapdims = rearranging.swapdims

    chunk = splitting.chunk
    dsplit = splitting.dsplit
    hsplit = splitting.hsplit
    narrow_copy = splitting.narrow_copy
    split_with_sizes = splitting.split_with_sizes
    tensor_split = splitting.tensor_split
    unbind = splitting.unbind
    unflatten = splitting.unflatten
    vsplit = splitting.vsplit

    adjoint = turning.adjoint
    diag_embed = turning.diag_embed
    diagflat = turning.diagflat
    fliplr = turning.fliplr
    flipud = turning.flipud
    ravel = turning.ravel
    rot90 = turning.rot90
    select = turning.select
    t = turning.t

    @property
    def H(self) -> Tensor:  # noqa: N802 - torch's name
        """The transpose of a matrix: its adjoint, as its elements are real."""
        if self.ndim != 2:
            raise ShapeError(f"H is for matrices; this tensor has shape {self.shape}. Use mH.")
        return self.mT

    @property
    def mH(self) -> Tensor:  # noqa: N802 - torch's name
        """The view with the last two dimensions exchanged."""
        return turning.adjoint(self)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """Return views of pieces along a dimension; see `mt_tensor.split`."""
        return splitting.split(self, split_size, dim)

    def repeat(self, *times: Any, repeats: Any = None) -> Tensor:
        """Return copies laid beside each other, `times[d]` of them along dimension `d`.

        Raises:
            ShapeError: there are fewer numbers than dimensions, or one is negative.
        """
        counts = as_integers(times, repeats)
        new = len(counts) - self.ndim
        if new < 0 or any(count < 0 for count in counts):
            raise ShapeError(
                f"repeat() takes a non-negative number for each of the {self.ndim} dimension(s), "
                f"and may take more in front; {counts} was given."
            )
        shape = (1,) * new + self.shape
        spread = self.reshape(*(e for extent in shape for e in (1, extent)))
        pairs = [e for pair in zip(counts, shape, strict=True) for e in pair]
        total = [count * extent for count, extent in zip(counts, shape, strict=True)]
        return spread.expand(*pairs).clone().reshape(*total)

    def tile(self, *times: Any, dims: Any = None) -> Tensor:
        """Return copies laid beside each other; missing numbers are 1, in front."""
        return rearranging.tile(self, as_integers(times, dims))

    def expand_as(self, other: Tensor) -> Tensor:
        """Return a view expanded to the shape of another tensor."""
        require_tensors("expand_as", other)
        return self.expand(other.shape)

    def view_as(self, other: Tensor) -> Tensor:
        """Return a view in the shape of another tensor."""
        require_tensors("view_as", other)
        return self.view(other.shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        """Return the same elements in the shape of another tensor."""
        require_tensors("reshape_as", other)
        return self.reshape(other.shape)
