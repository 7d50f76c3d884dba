"""Samples of joining tensors and of taking them apart, in torch's many ways."""

from __future__ import annotations

import itertools

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import MATRIX, WITH_EMPTY, refused, row, single

# --- Joined -------------------------------------------------------------------------------------

for _name in ("concat", "concatenate"):
    row(
        _name,
        lambda a, b, n=_name: getattr(mt, n)([a, b], -1),
        lambda a, b: np.concatenate([a, b], -1) if b.size else a,
        ((2, 3), (2, 1)),
        ((2,), (3,)),
        ((2,), (0,)),
        ((2, 3), (0,)),
    )
row("row_stack", lambda x, y: mt.row_stack((x, y)), lambda x, y: np.vstack((x, y)), ((3,), (2, 3)))
row(
    "column_stack",
    lambda x, y: mt.column_stack((x, y)),
    lambda x, y: np.column_stack((x, y)),
    ((3,), (3, 2)),
    ((), ()),
    ((0,), (0,)),
)
refused("column_stack", lambda x: mt.column_stack([]), ShapeError, "at least one tensor")
refused("column_stack", lambda x: mt.column_stack([x, x.T]), ShapeError, "equal in all others")
row(
    "dstack",
    lambda x, y: mt.dstack((x, y)),
    lambda x, y: np.dstack((x, y)),
    ((3,), (1, 3)),
    ((), ()),
    ((2, 3), (2, 3, 2)),
)
refused("dstack", lambda x: mt.dstack([x, x[0]]), ShapeError, "equal in all others")
row("atleast_3d", mt.atleast_3d, np.atleast_3d, *WITH_EMPTY)


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
    _block_diag,
    ((2, 3), (1, 2), (2,)),
    ((), (2, 2)),
    ((2, 0), (0, 2), (1, 1)),
)
refused("block_diag", lambda x: mt.block_diag(x[None]), ShapeError, "up to two dimensions")
row(
    "cartesian_prod",
    mt.cartesian_prod,
    lambda *lines: (
        np.array(list(itertools.product(*lines))).reshape(-1, len(lines))
        if len(lines) > 1
        else lines[0]
    ),
    ((3,),),
    ((3,), (2,)),
    ((2,), (1,), (2,)),
    ((2,), (0,)),
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
        lambda x, r=_r, again=_again: np.array(
            list(
                (itertools.combinations_with_replacement if again else itertools.combinations)(x, r)
            )
        ).reshape(-1, r),
        *_CHOICES,
    )
refused("combinations", mt.combinations, ShapeError, "takes a 1-D tensor")
refused("combinations", lambda x: mt.combinations(x[0], -1), DomainError, "-1 was given")

# --- Taken apart --------------------------------------------------------------------------------

row(
    "hsplit",
    lambda x: x.hsplit(2)[1],
    lambda x: np.hsplit(x, 2)[1],
    *single((2, 4), (4,), (3, 2, 1)),
)
refused("hsplit", lambda x: x.hsplit(2), ShapeError, "2 of 3")
refused("hsplit", lambda x: x.hsplit(0), DomainError, "integer from 1 on; 0")
refused("hsplit", lambda x: x.sum().hsplit(1), ShapeError, r"at least 1 dimension\(s\)")
row("hsplit", lambda x: x.hsplit([1, 2])[1], lambda x: np.hsplit(x, [1, 2])[1], *MATRIX)
row("vsplit", lambda x: x.vsplit(2)[1], lambda x: np.vsplit(x, 2)[1], *single((2, 3), (4, 1)))
refused("vsplit", lambda x: x[0].vsplit(1), ShapeError, r"at least 2 dimension\(s\)")
row("dsplit", lambda x: x.dsplit((1,))[1], lambda x: np.dsplit(x, (1,))[1], ((2, 1, 3),))
refused("dsplit", lambda x: x.dsplit(1), ShapeError, r"at least 3 dimension\(s\)")
row(
    "split_with_sizes", lambda x: x.split_with_sizes([1, 0, 2], 1)[2], lambda x: x[:, 1:], ((2, 3),)
)
refused("split_with_sizes", lambda x: x.split_with_sizes([1, 2]), ShapeError, "must add up to 2")
row("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), lambda x: x[-3:-1], *single((4, 2), (3,)))
refused("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), IndexingError, "does not lie in")
row("narrow", lambda x: x.narrow(-1, -2, 2), lambda x: x[..., -2:], *single((4, 2), (3,)))
row(
    "unravel_index",
    lambda x: mt.stack(mt.unravel_index(x.reshape(-1).argsort(), (2, 0 * x.numel() + 3, 4))),
    lambda x: np.stack(np.unravel_index(np.argsort(x, None), (2, 3, 4))),
    *single((2, 3), (5,), (0,)),
    dtypes="index",
)
refused("unravel_index", lambda x: mt.unravel_index(x, (9,)), DTypeError, "integers; float32")
refused(
    "unravel_index", lambda x: mt.unravel_index(x.long(), (2, 3)), IndexingError, "with 6 element"
)
refused("unravel_index", lambda x: mt.unravel_index(x.long(), (2, -3)), ShapeError, "non-negative")
