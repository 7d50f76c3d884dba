"""Samples of operations that move elements, join tensors, or take them apart."""

from __future__ import annotations

import itertools

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import ANY, MATRIX, WITH_EMPTY, refused, row, single

# --- Movement -----------------------------------------------------------------------------------

row("view", lambda x: x.view(3, -1), *single((2, 3), (3, 2, 2)))
refused("view", lambda x: x.view(4, 2), ShapeError, "6 element")
refused("view", lambda x: x.view(-1, -1), ShapeError, "one size may be -1")
refused("view", lambda x: x.T.view(6), ShapeError, "without a copy")
row("reshape", lambda x: x.T.reshape(-1), *ANY)
row("flatten", lambda x: x.flatten(1), *MATRIX)
refused("flatten", lambda x: x.flatten(1, 0), ShapeError, "runs backwards")
row("permute", lambda x: x.permute(2, 0, 1), ((2, 3, 4),))
refused("permute", lambda x: x.permute(0, 0), IndexingError, "not a permutation of the 2")
row("transpose", lambda x: x.transpose(0, -1), *MATRIX)
row("T", lambda x: x.T, *ANY)
row("mT", lambda x: x.mT, *MATRIX)
row("expand", lambda x: x.expand(4, -1, 3), *single((2, 1), (2, 3)))
refused("expand", lambda x: x.expand(4, 3), ShapeError, "only sizes of 1")
row("broadcast_to", lambda x: x.broadcast_to((2, 3)), ((3,),))
row("squeeze", lambda x: x.squeeze(), *ANY)
refused("squeeze", lambda x: x.squeeze((0, -2)), IndexingError, "are not distinct")
refused("squeeze", lambda x: x.squeeze(2), IndexingError, "dimension 2 is out of range")
row("squeeze", lambda x: x.squeeze((0, -1)), *single((1, 3, 1), (1, 3)))
row("unsqueeze", lambda x: x.unsqueeze(-1), *WITH_EMPTY)
row("flip", lambda x: x.flip(0), *MATRIX)
row("narrow", lambda x: x.narrow(0, 1, 2), ((4, 2),))
refused("narrow", lambda x: x.narrow(0, 1, 2), IndexingError, "does not lie in")
row("unfold", lambda x: x.unfold(-1, 3, 2), *single((8,), (2, 5)))
refused("unfold", lambda x: x.unfold(1, 4, 1), ShapeError, "size from 0 to 3")
row(
    "pad",
    lambda x: mt.pad(x, (1, 0, -1, 2), value=7.0),
    ((3, 2),),
    oracle=lambda x: np.pad(x, ((0, 2), (1, 0)), constant_values=7.0)[1:],
)
refused("pad", lambda x: mt.pad(x, (1,)), ShapeError, "pairs")
refused("pad", lambda x: mt.pad(x, (-4, 0)), ShapeError, "crops more")
refused("pad", lambda x: mt.pad(x, (1, 1), "mirror"), DomainError, "'mirror' was given")
row("cat", lambda a, b: mt.cat([a, b], 1), ((2, 3), (2, 1)), ((0,), (2, 3)), ((2, 0), (2, 3)))
refused("cat", lambda x: mt.cat([x, x[:1]], 1), ShapeError, "equal in all others")
refused("cat", lambda x: mt.cat([]), ShapeError, "at least one tensor")
refused("cat", lambda x: mt.cat([x, x[:, 0]], 1), ShapeError, "equal in all others")
row("stack", lambda a, b: mt.stack([a, b], -1), ((2, 3), (2, 3)), ((), ()))
refused("stack", lambda x: mt.stack([x, x[0]]), ShapeError, "must all be equal")
row("split", lambda x: x.split(2)[-1], *MATRIX, ((5,),))
refused("split", lambda x: x.split(0), ShapeError, "at least one element; 0")
refused("split", lambda x: x.split((1, 2)), ShapeError, "must add up to 2")
refused("split", lambda x: x.split((3, -1)), ShapeError, "none be negative")
row("split", lambda x: x.split([1, 0, 2], 1)[2], ((2, 3),))
row("chunk", lambda x: x.chunk(2, -1)[0], *MATRIX)
refused("chunk", lambda x: x.chunk(0), DomainError, "positive integer; 0")
row("tensor_split", lambda x: x.tensor_split(2)[1], *MATRIX, ((5,),))
refused("tensor_split", lambda x: x.tensor_split(0), DomainError, "positive integer; 0")
row("tensor_split", lambda x: x.tensor_split([1, 9], 1)[1], ((2, 3),))
row("unbind", lambda x: x.unbind(1)[0], *MATRIX)
refused("unbind", lambda x: x.sum().unbind(), IndexingError, "at least one dimension")
row("unflatten", lambda x: x.unflatten(1, (2, -1)), *single((3, 4), (1, 2, 3)))
refused(
    "unflatten", lambda x: x.unflatten(1, (2, -1)), ShapeError, r"cannot reshape .* to \(2, -1\)"
)
row("roll", lambda x: x.roll((1, -2), (0, -1)), *MATRIX, ((0, 2),))
refused("roll", lambda x: x.roll((1, 2), 0), ShapeError, "a shift for each")
refused("roll", lambda x: x.roll((1, 2)), ShapeError, "takes one shift")
refused("roll", lambda x: x.roll(1.5, 0), TypeError, "are integers")
row("roll", lambda x: x.roll(2), *WITH_EMPTY)
row("repeat", lambda x: x.repeat(2, 1, 3), *single((2, 3), (3,), ()))
refused("repeat", lambda x: x.repeat(2), ShapeError, "each of the 2")
row("tile", lambda x: x.tile(2), *WITH_EMPTY)
row("repeat_interleave", lambda x: x.repeat_interleave(2), *WITH_EMPTY)
row(
    "repeat_interleave",
    lambda x: x.repeat_interleave(mt.tensor([2, 0, 1], backend=x.backend), 1),
    *single((2, 3), (1, 3, 2)),
)
refused("repeat_interleave", lambda x: x.repeat_interleave(-1), ShapeError, "must not be negative")
refused("repeat_interleave", lambda x: x.repeat_interleave(x), DTypeError, "must be int32 or int64")
refused(
    "repeat_interleave",
    lambda x: x.repeat_interleave(x.long(), 0),
    ShapeError,
    "for each of 2 slice",
)
refused(
    "repeat_interleave",
    lambda x: x.repeat_interleave(2, 0, output_size=3),
    ShapeError,
    "gives 4 slices",
)
row("movedim", lambda x: x.movedim((0, -1), (1, 0)), *MATRIX)
refused("movedim", lambda x: x.movedim((0, 1), 0), IndexingError, "the numbers differ")
refused("movedim", lambda x: x.movedim((0, 0), (0, 1)), IndexingError, "are not distinct")
row("swapdims", lambda x: x.swapdims(0, -1), *MATRIX)
row("swapaxes", lambda x: x.swapaxes(0, -1), *MATRIX)
row("expand_as", lambda x, y: x.expand_as(y) * y, ((3,), (2, 3)))
row("view_as", lambda x, y: x.clone().view_as(y) * y, ((6,), (2, 3)))
row("reshape_as", lambda x, y: x.reshape_as(y) * y, ((6,), (2, 3)))
row("broadcast_tensors", lambda x, y: mt.broadcast_tensors(x, y)[0] * y, ((3,), (2, 1)))
for _order in ("ij", "xy"):
    row(
        "meshgrid",
        lambda x, y, order=_order: mt.stack(mt.meshgrid(x, y, indexing=order)),
        ((2,), (3,)),
        ((0,), (3,)),
    )
refused("meshgrid", mt.meshgrid, ShapeError, "takes 1-D tensors")
refused("meshgrid", lambda x: mt.meshgrid(x[0], x[0].long()), DTypeError, "float32, int64")
refused("meshgrid", lambda x: mt.meshgrid(x[0], indexing="yx"), DomainError, "'yx' was given")
row("diagonal", lambda x: x.diagonal(1, -1, 0), *MATRIX, ((3, 0),))
refused("diagonal", lambda x: x.diagonal(0, 1, -1), IndexingError, "are the same")
row("diagonal", lambda x: x.diagonal(-1), *MATRIX, ((4, 2),))
row("diag", lambda x: x.diag(1), *single((3,), (0,), (2, 3), (3, 1)))
refused("diag", lambda x: x.sum().diag(), ShapeError, "1-D or 2-D")
row("tril", lambda x: x.tril(-1), *MATRIX, ((3, 0),))
refused("tril", lambda x: x[0].tril(), ShapeError, "at least two dimensions")
row("triu", lambda x: x.triu(1), *MATRIX)
row("hstack", lambda x, y: mt.hstack((x, y)), ((), (2,)), ((2, 3), (2, 1)))
refused("hstack", lambda x: mt.hstack([]), ShapeError, "at least one tensor")
row("vstack", lambda x, y: mt.vstack((x, y)), ((), (1,)), ((3,), (2, 3)))
refused("vstack", lambda x: mt.vstack([x, x[:, :2]]), ShapeError, "equal in all others")
row("atleast_1d", mt.atleast_1d, *WITH_EMPTY)
row("atleast_2d", mt.atleast_2d, *WITH_EMPTY)
row("clone", lambda x: x.clone(), *WITH_EMPTY)
row("contiguous", lambda x: x.T.contiguous(), *ANY)

# --- Mirrors and turns, single slices, diagonals ------------------------------------------------

_FROM_MATRIX = single((2, 3), (3, 1), (2, 0), (2, 3, 2))
row("t", lambda x: x.t(), *single((2, 3), (3,), ()))
refused("t", lambda x: x[None].t(), ShapeError, "up to two dimensions")
row("t_", lambda x: x.detach().t_(), ((2, 3),))
row("H", lambda x: x.H, ((2, 3),))
refused("H", lambda x: x[0].H, ShapeError, "H is for matrices")
row("mH", lambda x: x.mH, *_FROM_MATRIX)
row("adjoint", lambda x: x.adjoint(), *_FROM_MATRIX)
refused("adjoint", lambda x: x[0].adjoint(), ShapeError, r"at least 2 dimension\(s\)")
row("select", lambda x: x.select(-1, -1), *single((2, 3), (4,), (3, 1, 2)))
refused("select", lambda x: x.select(0, 2), IndexingError, "index 2 is out of range")
refused("select", lambda x: x.select(2, 0), IndexingError, "dimension 2 is out of range")
refused("select", lambda x: x.select(0, 1.0), TypeError, "index must be an integer; 1.0")
refused("select", lambda x: x.sum().select(0, 0), IndexingError, "at least one dimension")
row("ravel", lambda x: x.T.ravel(), *WITH_EMPTY)
row("fliplr", lambda x: x.fliplr(), *_FROM_MATRIX)
refused("fliplr", lambda x: x[0].fliplr(), ShapeError, r"at least 2 dimension\(s\)")
row("flipud", lambda x: x.flipud(), *_FROM_MATRIX, ((3,),))
refused("flipud", lambda x: x.sum().flipud(), ShapeError, r"at least 1 dimension\(s\)")
for _turns in range(-1, 4):
    row("rot90", lambda x, k=_turns: x.rot90(k, (-1, 0)), *_FROM_MATRIX)
refused("rot90", lambda x: x[0].rot90(), ShapeError, r"at least 2 dimension\(s\)")
refused("rot90", lambda x: x.rot90(1, (0,)), ShapeError, "two dimensions")
refused("rot90", lambda x: x.rot90(1, (0, -2)), IndexingError, "not distinct")
row(
    "diag_embed",
    lambda x: x.diag_embed(1),
    *single((3,), (2, 3), (2, 0)),
    oracle=lambda x: np.pad(
        x[..., None] * np.eye(x.shape[-1]), [(0, 0)] * (x.ndim - 1) + [(0, 1), (1, 0)]
    ),
)
refused("diag_embed", lambda x: x.diag_embed(0, 1, -2), IndexingError, "are the same")
refused("diag_embed", lambda x: x.sum().diag_embed(), IndexingError, r"at least one dimension")
row("diagflat", lambda x: x.diagflat(-1), *WITH_EMPTY)
row("moveaxis", lambda x: x.moveaxis(0, -1), *MATRIX)
row(
    "view",
    lambda x: x.double().view(mt.int64),
    *WITH_EMPTY,
    dtypes="index",
    optional=True,
    oracle=lambda x: np.asarray(x, order="C").view(np.int64),
)
refused("view", lambda x: x.T.view(mt.int8), ShapeError, r"x.contiguous\(\)")
refused("view", lambda x: x.view(mt.float64), ShapeError, "groups of 2")
refused("view", lambda x: x[:, 1:].view(dtype=mt.int64), ShapeError, "offset 1")
refused("view", lambda x: x.sum().view(mt.int8), ShapeError, "along a last dimension")


# --- Joined -------------------------------------------------------------------------------------

for _name in ("concat", "concatenate"):
    row(
        _name,
        lambda a, b, n=_name: getattr(mt, n)([a, b], -1),
        ((2, 3), (2, 1)),
        ((2,), (3,)),
        ((2,), (0,)),
        ((2, 3), (0,)),
    )
row("row_stack", lambda x, y: mt.row_stack((x, y)), ((3,), (2, 3)))
row("column_stack", lambda x, y: mt.column_stack((x, y)), ((3,), (3, 2)), ((), ()), ((0,), (0,)))
refused("column_stack", lambda x: mt.column_stack([]), ShapeError, "at least one tensor")
refused("column_stack", lambda x: mt.column_stack([x, x.T]), ShapeError, "equal in all others")
row("dstack", lambda x, y: mt.dstack((x, y)), ((3,), (1, 3)), ((), ()), ((2, 3), (2, 3, 2)))
refused("dstack", lambda x: mt.dstack([x, x[0]]), ShapeError, "equal in all others")
row("atleast_3d", mt.atleast_3d, *WITH_EMPTY)


def _block_diag(*blocks: Array) -> Array:
    blocks = tuple(np.atleast_2d(block) for block in blocks)
    out = np.zeros(np.sum([block.shape for block in blocks], 0))
    row = column = 0
    for block in blocks:
        out[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return out


row(
    "block_diag",
    mt.block_diag,
    ((2, 3), (1, 2), (2,)),
    ((), (2, 2)),
    ((2, 0), (0, 2), (1, 1)),
    oracle=_block_diag,
)
refused("block_diag", lambda x: mt.block_diag(x[None]), ShapeError, "up to two dimensions")
row(
    "cartesian_prod",
    mt.cartesian_prod,
    ((3,),),
    ((3,), (2,)),
    ((2,), (1,), (2,)),
    ((2,), (0,)),
    oracle=lambda *lines: (
        np.array(list(itertools.product(*lines))).reshape(-1, len(lines))
        if len(lines) > 1
        else lines[0]
    ),
)
refused("cartesian_prod", mt.cartesian_prod, ShapeError, "takes 1-D tensors")
refused(
    "cartesian_prod", lambda x: mt.cartesian_prod(x[0], x[0].long()), DTypeError, "float32, int64"
)
_CHOICES = single((4,), (2,), (0,))
for _r, _again in ((2, False), (3, True), (1, False), (5, False)):
    row(
        "combinations",
        lambda x, r=_r, again=_again: mt.combinations(x, r, again),
        *_CHOICES,
        oracle=lambda x, r=_r, again=_again: np.array(
            list(
                (itertools.combinations_with_replacement if again else itertools.combinations)(x, r)
            )
        ).reshape(-1, r),
    )
refused("combinations", mt.combinations, ShapeError, "takes a 1-D tensor")
refused("combinations", lambda x: mt.combinations(x[0], -1), DomainError, "-1 was given")

# --- Taken apart --------------------------------------------------------------------------------

row("hsplit", lambda x: x.hsplit(2)[1], *single((2, 4), (4,), (3, 2, 1)))
refused("hsplit", lambda x: x.hsplit(2), ShapeError, "2 of 3")
refused("hsplit", lambda x: x.hsplit(0), DomainError, "positive integer; 0")
refused("hsplit", lambda x: x.sum().hsplit(1), ShapeError, r"at least 1 dimension\(s\)")
row("hsplit", lambda x: x.hsplit([1, 2])[1], *MATRIX)
row("vsplit", lambda x: x.vsplit(2)[1], *single((2, 3), (4, 1)))
refused("vsplit", lambda x: x[0].vsplit(1), ShapeError, r"at least 2 dimension\(s\)")
row("dsplit", lambda x: x.dsplit((1,))[1], ((2, 1, 3),))
refused("dsplit", lambda x: x.dsplit(1), ShapeError, r"at least 3 dimension\(s\)")
row("split_with_sizes", lambda x: x.split_with_sizes([1, 0, 2], 1)[2], ((2, 3),))
refused("split_with_sizes", lambda x: x.split_with_sizes([1, 2]), ShapeError, "must add up to 2")
row("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), *single((4, 2), (3,)))
refused("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), IndexingError, "does not lie in")
row("narrow", lambda x: x.narrow(-1, -2, 2), *single((4, 2), (3,)))
row(
    "unravel_index",
    lambda x: mt.stack(mt.unravel_index(x.reshape(-1).argsort(), (2, 0 * x.numel() + 3, 4))),
    *single((2, 3), (5,), (0,)),
    dtypes="index",
)
refused("unravel_index", lambda x: mt.unravel_index(x, (9,)), DTypeError, "integers; float32")
refused(
    "unravel_index", lambda x: mt.unravel_index(x.long(), (2, 3)), IndexingError, "with 6 element"
)
refused("unravel_index", lambda x: mt.unravel_index(x.long(), (2, -3)), ShapeError, "non-negative")
