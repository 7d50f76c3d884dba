"""Which results share memory with their input, so that in-place changes affect both.

Each call takes a tensor of shape (2, 3), and often leaves its elements unchanged.
`test_torch_samples.py` checks that the same results share memory in torch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

Call = Callable[[Any], Any]

VIEWS: dict[str, Call] = {
    "view": lambda x: x.view(3, 2),
    "view to the same shape": lambda x: x.view(2, 3),
    "view_as": lambda x: x.view_as(x),
    "reshape": lambda x: x.reshape(-1),
    "reshape to the same shape": lambda x: x.reshape(2, 3),
    "flatten": lambda x: x.flatten(),
    "flatten of one dimension": lambda x: x.flatten(0, 0),
    "ravel": lambda x: x.ravel(),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "expand": lambda x: x.expand(4, 2, 3),
    "expand to the same shape": lambda x: x.expand(2, 3),
    "expand_as": lambda x: x.expand_as(x),
    "broadcast_to": lambda x: x.broadcast_to((2, 3)),
    "broadcast_tensors": lambda x: mt.broadcast_tensors(x, x)[0],
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "permute": lambda x: x.permute(1, 0),
    "permute to the same order": lambda x: x.permute(0, 1),
    "transpose": lambda x: x.transpose(0, 0),
    "T": lambda x: x.T,
    "movedim": lambda x: x.movedim(0, 0),
    "contiguous": lambda x: x.contiguous(),
    "to the same dtype": lambda x: x.to(x.dtype),
    "float": lambda x: x.float(),
    "cpu": lambda x: x.cpu(),
    "detach": lambda x: x.detach(),
    "slice": lambda x: x[:],
    "ellipsis": lambda x: x[...],
    "getitem": lambda x: x[1],
    "select": lambda x: x.select(0, 1),
    "narrow": lambda x: x.narrow(0, 0, 2),
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "split": lambda x: x.split(2)[0],
    "chunk": lambda x: x.chunk(1)[0],
    "tensor_split": lambda x: x.tensor_split(1)[0],
    "unbind": lambda x: x.unbind()[0],
    "meshgrid": lambda x: mt.meshgrid(x[0], indexing="ij")[0],
    "atleast_1d": lambda x: mt.atleast_1d(x),  # noqa: PLW0108 - on torch, `mt` is replaced
    "atleast_2d": lambda x: mt.atleast_2d(x),  # noqa: PLW0108
    "einsum": lambda x: mt.einsum("ij->ij", x),
    "einsum of a transpose": lambda x: mt.einsum("ij->ji", x),
    "einsum of a diagonal": lambda x: mt.einsum("ii->i", x[:, :2]),
    "positive": lambda x: x.positive(),
    "sum_to_size": lambda x: x.sum_to_size(2, 3),
    "cartesian_prod": lambda x: mt.cartesian_prod(x[0]),
    "as_tensor": lambda x: mt.as_tensor(x),  # noqa: PLW0108
}
"""Calls whose result shares memory with its argument."""

COPIES: dict[str, Call] = {
    "clone": lambda x: x.clone(),
    "flip, no dimension": lambda x: x.flip(()),
    "flip of one row": lambda x: x[:1].flip(0),
    "flip": lambda x: x.flip(0),
    "fliplr": lambda x: x.fliplr(),
    "flipud": lambda x: x.flipud(),
    "rot90": lambda x: x.rot90(),
    "rot90, k=0": lambda x: x.rot90(0),
    "rot90, k=4": lambda x: x.rot90(4),
    "roll": lambda x: x.roll(0),
    "roll along a dimension": lambda x: x.roll(0, 0),
    "pad": lambda x: mt.pad(x, (0, 0)),
    "pad, no dimension": lambda x: mt.pad(x, ()),
    "pad with a negative width": lambda x: mt.pad(x, (-1, 0)),
    "repeat": lambda x: x.repeat(1, 1),
    "tile": lambda x: x.tile(1),
    "repeat_interleave": lambda x: x.repeat_interleave(1),
    "cat": lambda x: mt.cat([x]),
    "cat with an empty tensor": lambda x: mt.cat([x, x[:0]]),
    "stack": lambda x: mt.stack([x]),
    "hstack": lambda x: mt.hstack([x]),
    "vstack": lambda x: mt.vstack([x]),
    "tril": lambda x: x.tril(5),
    "triu": lambda x: x.triu(-5),
    "abs": lambda x: x.abs(),
    "round": lambda x: x.round(),
    "round to decimals": lambda x: x.round(decimals=0),
    "relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(-9, 9),
    "nan_to_num": lambda x: x.nan_to_num(),
    "hardshrink": lambda x: x.hardshrink(0),
    "threshold": lambda x: x.threshold(-9, 0),
    "pow": lambda x: x**1,
    "mul": lambda x: x * 1,
    "add": lambda x: x.add(x, alpha=0),
    "masked_fill": lambda x: x.masked_fill(x != x, 0),
    "where": lambda x: x.where(x == x, x),
    "masked_select": lambda x: x.masked_select(x == x),
    "index": lambda x: x[[0, 1]],
    "index_select": lambda x: x.index_select(0, mt.tensor([0, 1], backend=x.backend)),
    "index_add with an empty index": lambda x: x.index_add(0, x[0, :0].long(), x[:0]),
    "index_fill with an empty index": lambda x: x.index_fill(0, x[0, :0].long(), 0),
    "scatter with an empty index": lambda x: x.scatter(0, x[:0].long(), x),
    "gather": lambda x: x.gather(0, x.long() * 0),
    "sum of one row": lambda x: x[:1].sum(0),
    "mean of one row": lambda x: x[:1].mean(0),
    "prod of one row": lambda x: x[:1].prod(0),
    "amax of one row": lambda x: x[:1].amax(0),
    "cumsum of one row": lambda x: x[:1].cumsum(0),
    "cumprod of one row": lambda x: x[:1].cumprod(0),
    "cummax of one row": lambda x: x[:1].cummax(0)[0],
    "sort of one row": lambda x: x[:1].sort(0)[0],
    "topk of all": lambda x: x.topk(3)[0],
    "median of one row": lambda x: x[:1].median(0)[0],
    "norm of one row": lambda x: x[:1].norm(dim=0),
    "unique": lambda x: x.unique(),
    "matrix_power": lambda x: mt.linalg.matrix_power(x[:, :2], 1),
    "kron": lambda x: mt.kron(x, x[:1, :1] * 0 + 1),
    "block_diag": lambda x: mt.block_diag(x),  # noqa: PLW0108
    "combinations": lambda x: mt.combinations(x[0], 1),
    "softmax": lambda x: x.softmax(0),
    "lerp": lambda x: mt.lerp(x, x, 0.0),
}
"""Calls whose result is a copy, even if it equals the argument."""


ELEMENTS = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
"""The elements of the argument: integers, so that no call changes them by rounding."""


@pytest.fixture(params=["numpy", "simple"])
def x(request: pytest.FixtureRequest) -> mt.Tensor:
    """Return the argument of the calls, on each built-in backend."""
    return mt.tensor(ELEMENTS, backend=request.param)


def shares_memory(a: mt.Tensor, b: mt.Tensor) -> bool:
    """Return whether two tensors have the same storage."""
    return a.backend.same_memory(a._tensor.storage, b._tensor.storage)


@pytest.mark.parametrize("name", VIEWS)
def test_changing_view_changes_its_base(x: mt.Tensor, name: str) -> None:
    with mt.use_backend(x.backend):
        view = VIEWS[name](x)
    assert shares_memory(view, x)
    if not name.startswith("expand"):
        view.mul_(-1.0)
        assert (np.asarray(x) < 0).any()


@pytest.mark.parametrize("name", COPIES)
def test_changing_copy_leaves_input_unchanged(x: mt.Tensor, name: str) -> None:
    result: Any = COPIES[name](x)
    assert not shares_memory(result, x)
    result.zero_()
    assert np.array_equal(np.asarray(x), ELEMENTS)
