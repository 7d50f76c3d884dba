"""Samples of operations that move elements, or join or split tensors."""

from __future__ import annotations

import itertools

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import IndexingError
from mt_tensor.testing.specs import ANY, MATRIX, WITH_EMPTY, at, bad_call, row, single

# --- Movement -----------------------------------------------------------------------------------

row("view", lambda x: x.view(3, -1), *single((2, 3), (3, 2, 2)))
row("reshape", lambda x: x.T.reshape(-1), *ANY)
row("flatten", lambda x: x.flatten(1), *MATRIX)
row("permute", lambda x: x.permute(2, 0, 1), ((2, 3, 4),))
row("transpose", lambda x: x.transpose(0, -1), *MATRIX)
row("T", lambda x: x.T, *ANY)
row("mT", lambda x: x.mT, *MATRIX)
row("expand", lambda x: x.expand(4, -1, 3), *single((2, 1), (2, 3)))
row("broadcast_to", lambda x: x.broadcast_to((2, 3)), ((3,),))
row("squeeze", lambda x: x.squeeze(), *ANY)
row("squeeze", lambda x: x.squeeze((0, -1)), *single((1, 3, 1), (1, 3)))
row("unsqueeze", lambda x: x.unsqueeze(-1), *WITH_EMPTY)
row("flip", lambda x: x.flip(0), *MATRIX)
row("narrow", lambda x: x.narrow(0, 1, 2), ((4, 2),))
row("unfold", lambda x: x.unfold(-1, 3, 2), *single((8,), (2, 5)))
row(
    "as_strided",
    lambda x: x.contiguous().as_strided((2, 2, 2), (2, 1, 1)),
    *single((5,), (2, 3), (3, 1, 2)),
)
bad_call("as_strided", lambda x: x.as_strided((2, 4), (1, 2)), IndexingError, "of a storage of 6")
row(
    "pad",
    lambda x: mt.pad(x, (1, 0, -1, 2), value=7.0),
    ((3, 2),),
    oracle=lambda x: np.pad(x, ((0, 2), (1, 0)), constant_values=7.0)[1:],
)
row("cat", lambda a, b: mt.cat([a, b], 1), ((2, 3), (2, 1)), ((0,), (2, 3)), ((2, 0), (2, 3)))
row("stack", lambda a, b: mt.stack([a, b], -1), ((2, 3), (2, 3)), ((), ()))
row("split", lambda x: x.split(2)[-1], *MATRIX, ((5,),))
row("split", lambda x: x.split([1, 0, 2], 1)[2], ((2, 3),))
row("chunk", lambda x: x.chunk(2, -1)[0], *MATRIX)
row("tensor_split", lambda x: x.tensor_split(2)[1], *MATRIX, ((5,),))
row("tensor_split", lambda x: x.tensor_split([1, 9], 1)[1], ((2, 3),))
row("unbind", lambda x: x.unbind(1)[0], *MATRIX)
row("unflatten", lambda x: x.unflatten(1, (2, -1)), *single((3, 4), (1, 2, 3)))
row("roll", lambda x: x.roll((1, -2), (0, -1)), *MATRIX, ((0, 2),))
row("roll", lambda x: x.roll(2), *WITH_EMPTY)
row("repeat", lambda x: x.repeat(2, 1, 3), *single((2, 3), (3,), ()))
row("tile", lambda x: x.tile(2), *WITH_EMPTY)
row("repeat_interleave", lambda x: x.repeat_interleave(2), *WITH_EMPTY)
row(
    "repeat_interleave",
    lambda x: x.repeat_interleave(at(x, [2, 0, 1]), 1),
    *single((2, 3), (1, 3, 2)),
)
row("movedim", lambda x: x.movedim((0, -1), (1, 0)), *MATRIX)
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
row("diagonal", lambda x: x.diagonal(1, -1, 0), *MATRIX, ((3, 0),))
row("diagonal", lambda x: x.diagonal(-1), *MATRIX, ((4, 2),))
row("diag", lambda x: x.diag(1), *single((3,), (0,), (2, 3), (3, 1)))
row("tril", lambda x: x.tril(-1), *MATRIX, ((3, 0),))
row("triu", lambda x: x.triu(1), *MATRIX)
row("hstack", lambda x, y: mt.hstack((x, y)), ((), (2,)), ((2, 3), (2, 1)))
row("vstack", lambda x, y: mt.vstack((x, y)), ((), (1,)), ((3,), (2, 3)))
row("atleast_1d", mt.atleast_1d, *WITH_EMPTY)
row("atleast_2d", mt.atleast_2d, *WITH_EMPTY)
row("clone", lambda x: x.clone(), *WITH_EMPTY)
row("contiguous", lambda x: x.T.contiguous(), *ANY)

# --- Mirrors and turns, single slices, diagonals ------------------------------------------------

_FROM_MATRIX = single((2, 3), (3, 1), (2, 0), (2, 3, 2))
row("t", lambda x: x.t(), *single((2, 3), (3,), ()))
row("t_", lambda x: x.detach().t_(), ((2, 3),))
row("H", lambda x: x.H, ((2, 3),))
row("mH", lambda x: x.mH, *_FROM_MATRIX)
row("adjoint", lambda x: x.adjoint(), *_FROM_MATRIX)
row("select", lambda x: x.select(-1, -1), *single((2, 3), (4,), (3, 1, 2)))
row("ravel", lambda x: x.T.ravel(), *WITH_EMPTY)
row("fliplr", lambda x: x.fliplr(), *_FROM_MATRIX)
row("flipud", lambda x: x.flipud(), *_FROM_MATRIX, ((3,),))
for _turns in range(-1, 4):
    row("rot90", lambda x, k=_turns: x.rot90(k, (-1, 0)), *_FROM_MATRIX)
row("diag_embed", lambda x: x.diag_embed(1), *single((3,), (2, 3), (2, 0)))
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
row("dstack", lambda x, y: mt.dstack((x, y)), ((3,), (1, 3)), ((), ()), ((2, 3), (2, 3, 2)))
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

# --- Splitting ----------------------------------------------------------------------------------

row("hsplit", lambda x: x.hsplit(2)[1], *single((2, 4), (4,), (3, 2, 1)))
row("hsplit", lambda x: x.hsplit([1, 2])[1], *MATRIX)
row("vsplit", lambda x: x.vsplit(2)[1], *single((2, 3), (4, 1)))
row("dsplit", lambda x: x.dsplit((1,))[1], ((2, 1, 3),))
row("split_with_sizes", lambda x: x.split_with_sizes([1, 0, 2], 1)[2], ((2, 3),))
row("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), *single((4, 2), (3,)))
row("narrow", lambda x: x.narrow(-1, -2, 2), *single((4, 2), (3,)))
row(
    "unravel_index",
    lambda x: mt.stack(mt.unravel_index(x.reshape(-1).argsort(), (2, 0 * x.numel() + 3, 4))),
    *single((2, 3), (5,), (0,)),
    dtypes="index",
)
bad_call(
    "unravel_index", lambda x: mt.unravel_index(x.long(), (2, 3)), IndexingError, "with 6 element"
)
