"""Arguments that operations refuse before a backend is called: the error, and what it says.

What depends on elements, such as an index out of range, is for the kit: `mt_tensor.testing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators.testing.ids import sample_id
from mt_tensor.errors import (
    DomainError,
    DTypeError,
    EquationError,
    IndexingError,
    InPlaceError,
    ShapeError,
)
from mt_tensor.testing import BadCall
from mt_tensor.testing.specs import at

CALLS: list[BadCall] = []
"""Calls that must raise an error; an operation may have several."""


def refused(name: str, call: Callable[..., Any], error: type[Exception], message: str) -> None:
    """Add a call to `CALLS`."""
    CALLS.append(BadCall(name, call, error, message))


def other_dtype(name: str, call: Callable[..., Any]) -> None:
    """Refuse a source that would have to be converted."""
    refused(name, call, DTypeError, "like the tensor; float64")


def misfit(name: str, call: Callable[..., Any], message: str) -> None:
    """Refuse a source of another shape."""
    refused(name, call, ShapeError, message)


def not_square(name: str, function: str = "") -> None:
    """Refuse a matrix that is not square, in a function of `linalg` of that name or another."""
    function = function or name
    call = lambda x: getattr(mt.linalg, function)(x)  # noqa: E731, PLW0108 - or another's
    refused(name, call, ShapeError, "takes square matrices")


def not_floating(name: str, function: str = "") -> None:
    """Refuse integers, in a function of `linalg` of that name or another."""
    function = function or name
    call = lambda x: getattr(mt.linalg, function)(x.long())  # noqa: E731
    refused(name, call, DTypeError, "float64; int64 was given")


# --- In place -------------------------------------------------------------------------------------

refused("add_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
refused("add_", lambda x: x.long().add_(1.5), DTypeError, "cannot be stored in place in int64")
refused("add_", lambda x: x.expand(2, 2, 3).add_(1), InPlaceError, "of its elements share memory")
refused("add_", lambda x: x[0].add_(x), ShapeError, "does not broadcast to")
refused(
    "float_power_", lambda x: x.float_power_(2), DTypeError, "cannot be stored in place in float32"
)
refused("remainder_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
refused(
    "remainder_",
    lambda x: x.long().exp_(),
    DTypeError,
    "float32 cannot be stored in place in int64",
)
refused(
    "remainder_",
    lambda x: x.bool().bitwise_or_(2),
    DTypeError,
    "int64 cannot be stored in place in bool",
)
refused("remainder_", lambda x: x[0].pow_(x), ShapeError, r"shape \(2, 3\) cannot be stored in")
refused(
    "remainder_", lambda x: x.expand(2, 2, 3).exp_(), InPlaceError, "of its elements share memory"
)
refused("remainder_", lambda x: x.bitwise_and_(1), DTypeError, "integers and bool")
refused("fill_diagonal_", lambda x: x[0].fill_diagonal_(1), ShapeError, "needs a matrix")
refused("apply_", lambda x: x.apply_(str), TypeError, "must be a number; '1.0'")
refused("apply_", lambda x: x.requires_grad_().apply_(abs), InPlaceError, "requires grad")
refused(
    "apply_",
    lambda x: x.to(mt.uint8).apply_(lambda value: -value),
    DTypeError,
    "integers from 0 to 255",
)
refused("map_", lambda x: x.map_(x.double(), max), DTypeError, "one dtype")
refused("map_", lambda x: x.map_(x.T, max), ShapeError, "sizes of 1")
refused("map_", lambda x: x.requires_grad_().map_(x, max), InPlaceError, "requires grad")

# --- Indexing -------------------------------------------------------------------------------------

refused("getitem", lambda x: x[2], IndexingError, "index 2 is out of range for dimension 0")
refused("getitem", lambda x: x[0, 0, 0], IndexingError, "3 indices were given")
refused("getitem", lambda x: x[..., ...], IndexingError, "single Ellipsis")
refused("getitem", lambda x: x["a"], IndexingError, "cannot be indexed by 'a'")
refused("getitem", lambda x: x[x], IndexingError, "float32 tensor cannot be an index")
refused("getitem", lambda x: x[x.to(mt.uint8)], IndexingError, "a mask with x.bool")
refused("gather", lambda x: x.gather(1, x), DTypeError, "int64")
refused("gather", lambda x: x.gather(0, mt.zeros(2, 4).long()), ShapeError, "does not fit")
other_dtype("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x.double()))
misfit("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x[:1]), "at least as large")
refused("index_select", lambda x: x.index_select(0, mt.tensor([[0]])), IndexingError, "1-D index")
other_dtype("scatter", lambda x: x.scatter(1, x.long() * 0, x.double()))
refused("scatter", lambda x: x.scatter(1, x, 1.0), DTypeError, "int64")
refused("scatter", lambda x: x.scatter(1, x.long() * 0), TypeError, "either src")
refused(
    "scatter_reduce",
    lambda x: x.scatter_reduce(1, x.long() * 0, x, "max"),
    DomainError,
    "'max' was given",
)
refused(
    "scatter_reduce",
    lambda x: x.bool().scatter_reduce(1, x.long() * 0, x.bool(), "mean"),
    DTypeError,
    "not defined on bool",
)
refused(
    "index_add",
    lambda x: x.index_add(0, mt.tensor([0], backend=x.backend), x),
    IndexingError,
    r"source of shape \(1, 3\)",
)
refused("index_add", lambda x: x.index_add(0, x, x), IndexingError, "1-D index")
refused("one_hot", mt.one_hot, DTypeError, "classes of int64")
refused("one_hot", lambda x: mt.one_hot(x.long(), -2), DomainError, "integer of at least -1; -2")
refused("one_hot", lambda x: mt.one_hot(x[:0].long()), ShapeError, "needs num_classes")
refused("masked_select", lambda x: x.masked_select(x), DTypeError, "mask of bool; float32")
refused("masked_select", lambda x: x.masked_select(x[:, :2] > 0), IndexingError, "do not broadcast")
refused("take_along_dim", lambda x: x.take_along_dim(x), DTypeError, "indices of int64; float32")
misfit("take_along_dim", lambda x: x.take_along_dim(x[0].long(), 0), "as many dimensions")
refused(
    "index_copy", lambda x: x.index_copy(1, at(x), x), IndexingError, r"source of shape \(2, 2\)"
)
refused("index_copy", lambda x: x.index_copy(1, x, x), IndexingError, "1-D index")
other_dtype("index_copy", lambda x: x.index_copy(0, at(x) // 2, x.double()))
misfit("index_fill", lambda x: x.index_fill(1, at(x), x), "a number or a 0-D tensor")
refused("index_fill", lambda x: x.index_fill(1, at(x), "1"), TypeError, "'1' of type str")
refused("masked_scatter", lambda x: x.masked_scatter(x, x), DTypeError, "mask of bool; float32")
other_dtype("masked_scatter", lambda x: x.masked_scatter(x > 0, x.double()))
refused("index_put", lambda x: x.index_put(at(x), x), TypeError, "tuple of indices")
other_dtype("index_put", lambda x: x.index_put((at(x) // 2,), x.double()))
refused("index_put", lambda x: x.index_put((at(x) // 2,), x[:, :2]), ShapeError, "expand")
misfit("select_scatter", lambda x: x.select_scatter(x, 0, 0), r"src of shape \(3,\); \(2, 3\)")
misfit("slice_scatter", lambda x: x.slice_scatter(x[:1]), r"src of shape \(2, 3\); \(1, 3\)")
misfit("diagonal_scatter", lambda x: x.diagonal_scatter(x[0]), r"src of shape \(2,\); \(3,\)")
refused(
    "diagonal_scatter", lambda x: x.diagonal_scatter(x[0], 0, 1, 1), IndexingError, "are the same"
)
refused("take", lambda x: x.take(x), DTypeError, "index of int64; float32")
refused(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "sum"), DomainError, "'sum' was given"
)
refused(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "amax"), IndexingError, r"shape \(2, 2\)"
)
refused("put", lambda x: x.put(x, x), DTypeError, "index of int64; float32")
refused("put", lambda x: x.put(x.long(), x[0]), IndexingError, "3 were given for 6")
refused("put", lambda x: x.put(x.long() - 1, x.double()), DTypeError, "like the tensor; float64")
refused("scatter", lambda x: x.scatter(1, x.long(), 1.0, reduce="sum"), DomainError, "'sum' was")

# --- Linear algebra -------------------------------------------------------------------------------

not_square("inverse", "inv")
not_floating("inverse", "inv")
refused("pinv", lambda x: mt.linalg.pinv(x[0]), ShapeError, "takes matrices")
refused("solve", lambda x: mt.linalg.solve(x @ x.T, x.T), ShapeError, r"A X = B was given A of")
refused("solve", lambda x: mt.linalg.solve(x @ x.T, x.double()), DTypeError, "float32, float64")
refused("solve", lambda x: mt.linalg.solve(x, x), ShapeError, "takes square matrices")
refused(
    "solve",
    lambda x: mt.linalg.solve(x @ x.T, x[:, 0], left=False),
    ShapeError,
    "X A = B was given",
)
for _upper in (True, False):
    _call = lambda x, up=_upper: mt.linalg.solve_triangular(x, x, upper=up)  # noqa: E731
    refused("solve_triangular", _call, ShapeError, "takes square matrices")
not_square("det")
not_floating("det")
not_square("slogdet")
not_floating("slogdet")
refused("logdet", lambda x: x.logdet(), ShapeError, "takes square matrices")
refused("matrix_norm", lambda x: mt.linalg.matrix_norm(x, 3), DomainError, "3 was given")
refused("matrix_norm", lambda x: mt.linalg.matrix_norm(x[0]), ShapeError, "takes matrices")
refused(
    "matrix_norm", lambda x: mt.linalg.matrix_norm(x, dim=(0, -2)), IndexingError, "not distinct"
)
refused("matrix_norm", lambda x: mt.linalg.matrix_norm(x, dim=0), TypeError, "two dimensions")
refused(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, "fro"),
    TypeError,
    "ord must be a number; 'fro'",
)
refused(
    "vector_norm", lambda x: mt.linalg.vector_norm(x[:0], np.inf), IndexingError, "order inf is"
)
refused("norm", lambda x: mt.linalg.norm(x[None], 2), ShapeError, "one dimension or two")
refused("norm", lambda x: mt.linalg.norm(x.long()), DTypeError, "int64 was given")
refused("vecdot", lambda x: mt.linalg.vecdot(x.long(), x.long()), DTypeError, "int64 was given")
refused("diagonal", lambda x: mt.linalg.diagonal(x, dim2=0), IndexingError, "are the same")
refused("vander", lambda x: mt.linalg.vander(x, N=1), DomainError, "1 was given")
refused("vander", lambda x: mt.linalg.vander(x.sum()), IndexingError, "at least one dimension")
not_square("cholesky")
not_floating("cholesky")
not_square("eigh")
not_floating("eigh")
refused("eigh", lambda x: mt.linalg.eigh(x @ x.T, "M"), DomainError, "'M' was given")
not_square("eigvalsh")
refused("svd", lambda x: mt.linalg.svd(x[0]), ShapeError, "takes matrices")
not_floating("svd")
not_floating("svdvals")
for _mode in ("reduced", "complete"):
    refused("qr", lambda x, mode=_mode: mt.linalg.qr(x[0], mode), ShapeError, "takes matrices")
refused("qr", lambda x: mt.linalg.qr(x, "half"), DomainError, "'half' was given")

# --- Movement -------------------------------------------------------------------------------------

refused("view", lambda x: x.view(4, 2), ShapeError, "6 element")
refused("view", lambda x: x.view(-1, -1), ShapeError, "one size may be -1")
refused("view", lambda x: x.T.view(6), ShapeError, "without a copy")
refused("flatten", lambda x: x.flatten(1, 0), ShapeError, "start_dim <= end_dim")
refused("permute", lambda x: x.permute(0, 0), IndexingError, "not a permutation of the 2")
refused("expand", lambda x: x.expand(4, 3), ShapeError, "only sizes of 1")
refused("squeeze", lambda x: x.squeeze((0, -2)), IndexingError, "are not distinct")
refused("squeeze", lambda x: x.squeeze(2), IndexingError, "dimension 2 is out of range")
refused("narrow", lambda x: x.narrow(0, 1, 2), IndexingError, "is out of range for")
refused("unfold", lambda x: x.unfold(1, 4, 1), ShapeError, "size from 0 to 3")
refused("pad", lambda x: mt.pad(x, (1,)), ShapeError, "pairs")
refused("pad", lambda x: mt.pad(x, (-4, 0)), ShapeError, "cannot crop")
refused("pad", lambda x: mt.pad(x, (1, 1), "mirror"), DomainError, "'mirror' was given")
refused("cat", lambda x: mt.cat([x, x[:1]], 1), ShapeError, "must be equal except")
refused("cat", lambda x: mt.cat([]), ShapeError, "at least one tensor")
refused("cat", lambda x: mt.cat([x, x[:, 0]], 1), ShapeError, "must be equal except")
refused("stack", lambda x: mt.stack([x, x[0]]), ShapeError, "must all be equal")
refused("split", lambda x: x.split(0), ShapeError, "positive length of the pieces; 0")
refused("split", lambda x: x.split((1, 2)), ShapeError, "must add up to 2")
refused("split", lambda x: x.split((3, -1)), ShapeError, "must not be negative")
refused("chunk", lambda x: x.chunk(0), DomainError, "positive integer; 0")
refused("tensor_split", lambda x: x.tensor_split(0), DomainError, "positive integer; 0")
refused("unbind", lambda x: x.sum().unbind(), IndexingError, "at least one dimension")
refused(
    "unflatten", lambda x: x.unflatten(1, (2, -1)), ShapeError, r"cannot reshape .* to \(2, -1\)"
)
refused("roll", lambda x: x.roll((1, 2), 0), ShapeError, "a shift for each")
refused("roll", lambda x: x.roll((1, 2)), ShapeError, "takes one shift")
refused("roll", lambda x: x.roll(1.5, 0), TypeError, "are integers")
refused("repeat", lambda x: x.repeat(2), ShapeError, "each of the 2")
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
    "returns 4 slices",
)
refused("movedim", lambda x: x.movedim((0, 1), 0), IndexingError, "as many destinations as sources")
refused("movedim", lambda x: x.movedim((0, 0), (0, 1)), IndexingError, "are not distinct")
refused("meshgrid", mt.meshgrid, ShapeError, "one or more 1-D tensors")
refused("meshgrid", lambda x: mt.meshgrid(x[0], x[0].long()), DTypeError, "float32, int64")
refused("meshgrid", lambda x: mt.meshgrid(x[0], indexing="yx"), DomainError, "'yx' was given")
refused("diagonal", lambda x: x.diagonal(0, 1, -1), IndexingError, "are the same")
refused("diag", lambda x: x.sum().diag(), ShapeError, "1-D or 2-D")
refused("tril", lambda x: x[0].tril(), ShapeError, "at least two dimensions")
refused("hstack", lambda x: mt.hstack([]), ShapeError, "at least one tensor")
refused("vstack", lambda x: mt.vstack([x, x[:, :2]]), ShapeError, "must be equal except")
refused("t", lambda x: x[None].t(), ShapeError, "at most two dimensions")
refused("H", lambda x: x[0].H, ShapeError, "H needs a matrix")
refused("adjoint", lambda x: x[0].adjoint(), ShapeError, r"at least 2 dimension\(s\)")
refused("select", lambda x: x.select(0, 2), IndexingError, "index 2 is out of range")
refused("select", lambda x: x.select(2, 0), IndexingError, "dimension 2 is out of range")
refused("select", lambda x: x.select(0, 1.0), TypeError, "index must be an integer; 1.0")
refused("select", lambda x: x.sum().select(0, 0), IndexingError, "at least one dimension")
refused("fliplr", lambda x: x[0].fliplr(), ShapeError, r"at least 2 dimension\(s\)")
refused("flipud", lambda x: x.sum().flipud(), ShapeError, r"at least 1 dimension\(s\)")
refused("rot90", lambda x: x[0].rot90(), ShapeError, r"at least 2 dimension\(s\)")
refused("rot90", lambda x: x.rot90(1, (0,)), ShapeError, "two dimensions")
refused("rot90", lambda x: x.rot90(1, (0, -2)), IndexingError, "not distinct")
refused("diag_embed", lambda x: x.diag_embed(0, 1, -2), IndexingError, "are the same")
refused("diag_embed", lambda x: x.sum().diag_embed(), IndexingError, r"at least one dimension")
refused("view", lambda x: x.T.view(mt.int8), ShapeError, r"x.contiguous\(\)")
refused("view", lambda x: x.view(mt.float64), ShapeError, "multiples of 2")
refused("view", lambda x: x[:, 1:].view(dtype=mt.int64), ShapeError, "offset 1")
refused("view", lambda x: x.sum().view(mt.int8), ShapeError, "last dimension must be contiguous")
refused("column_stack", lambda x: mt.column_stack([]), ShapeError, "at least one tensor")
refused("column_stack", lambda x: mt.column_stack([x, x.T]), ShapeError, "must be equal except")
refused("dstack", lambda x: mt.dstack([x, x[0]]), ShapeError, "must be equal except")
refused("block_diag", lambda x: mt.block_diag(x[None]), ShapeError, "at most two dimensions")
refused("cartesian_prod", mt.cartesian_prod, ShapeError, "takes 1-D tensors")
refused(
    "cartesian_prod", lambda x: mt.cartesian_prod(x[0], x[0].long()), DTypeError, "float32, int64"
)
refused("combinations", mt.combinations, ShapeError, "takes a 1-D tensor")
refused("combinations", lambda x: mt.combinations(x[0], -1), DomainError, "-1 was given")
refused("hsplit", lambda x: x.hsplit(2), ShapeError, "split 3 element")
refused("hsplit", lambda x: x.hsplit(0), DomainError, "positive integer; 0")
refused("hsplit", lambda x: x.sum().hsplit(1), ShapeError, r"at least 1 dimension\(s\)")
refused("vsplit", lambda x: x[0].vsplit(1), ShapeError, r"at least 2 dimension\(s\)")
refused("dsplit", lambda x: x.dsplit(1), ShapeError, r"at least 3 dimension\(s\)")
refused("split_with_sizes", lambda x: x.split_with_sizes([1, 2]), ShapeError, "must add up to 2")
refused("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), IndexingError, "is out of range for")
refused(
    "unravel_index", lambda x: mt.unravel_index(x, (9,)), DTypeError, "integer indices; float32"
)
refused("unravel_index", lambda x: mt.unravel_index(x.long(), (2, -3)), ShapeError, "non-negative")

# --- Order ----------------------------------------------------------------------------------------

refused("cumsum", lambda x: x.cumsum(2), IndexingError, "dimension 2 is out of range")
refused("cumsum", lambda x: x.cumsum(0, "bool"), DTypeError, "does not support dtype=bool")
refused("cumprod", lambda x: x.cumprod(0, "bool"), DTypeError, "does not support dtype=bool")
refused("logcumsumexp", lambda x: x.long().logcumsumexp(0), DTypeError, "int64 was given")
refused("argsort", lambda x: x.argsort("a"), TypeError, "'a' was given")
refused("topk", lambda x: x.topk(4), ShapeError, "from 0 to 3; 4")
refused("topk", lambda x: x.topk(-1), ShapeError, "from 0 to 3; -1")
refused("topk", lambda x: x.topk(1.0), TypeError, "k must be an integer; 1.0")
refused("median", lambda x: (x > 0).median(), DTypeError, "bool")
refused("median", lambda x: x[:0].median(0), IndexingError, "no elements")
refused("unique", lambda x: x.unique(dim=2), IndexingError, "dimension 2 is out of range")
refused("bincount", lambda x: x.bincount(), ShapeError, "takes 1-D tensors")
refused("bincount", lambda x: x[0].bincount(), DTypeError, "takes integers; float32")
refused(
    "bincount",
    lambda x: x[0].long().bincount(minlength=-1),
    DomainError,
    "minlength must be a non-negative",
)
refused("kthvalue", lambda x: x.kthvalue(4), ShapeError, "from 1 to 3; 4")
refused("kthvalue", lambda x: x.kthvalue(1.0), TypeError, "k must be an integer; 1.0")
refused("quantile", lambda x: x.quantile(1.5), DomainError, "from 0 to 1; 1.5")
refused("quantile", lambda x: x.quantile("1"), TypeError, "q must be a number; '1'")
refused("quantile", lambda x: x.long().quantile(0.5), DTypeError, "int64 was given")
refused("quantile", lambda x: x.quantile(x[0].double()), DTypeError, "like input; float64")
refused("quantile", lambda x: x[:0].quantile(0.5), ShapeError, "no elements")
refused(
    "quantile", lambda x: x.quantile(0.5, interpolation="mean"), DomainError, "'mean' was given"
)
refused("diff", lambda x: x.sum().diff(), IndexingError, "at least one dimension")
refused("diff", lambda x: x.diff(-1), DomainError, "-1 was given")
refused(
    "mode", lambda x: x[:, :0].mode(), IndexingError, r"mode\(\) is not defined for no elements"
)
refused(
    "nanmedian", lambda x: (x > 0).nanmedian(), DTypeError, r"nanmedian\(\) is not defined on bool"
)
refused("nanmedian", lambda x: x[:0].nanmedian(0), IndexingError, "no elements")
refused("nanmedian", lambda x: x.nanmedian(keepdim=True), TypeError, "only together with dim")
refused("histc", lambda x: x.long().histc(), DTypeError, "int64 was given")
refused("histc", lambda x: x.histc(0), DomainError, "bins must be a positive integer; 0")
refused("histc", lambda x: x.histc(3, 2, 1), DomainError, "2.0 and 1.0 were given")
for _name in ("trapezoid", "trapz"):
    refused(_name, lambda x: mt.trapezoid(x.sum()), IndexingError, "at least one dimension")
    refused(_name, lambda x: mt.trapezoid(x > 0), DTypeError, "not defined on bool")
    refused(_name, lambda x: mt.trapezoid(x, x[0, :2]), ShapeError, r"each point; \(2,\)")
    refused(_name, lambda x: mt.trapezoid(x, x.sum()), ShapeError, r"trapezoid\(\) takes x of")
    refused(_name, lambda x: mt.trapezoid(x, x, dx=1), TypeError, "not both")
refused("searchsorted", lambda x: mt.searchsorted(x, x[0]), ShapeError, r"\(2, 3\) and \(3,\)")
refused("searchsorted", lambda x: mt.searchsorted(x > 0, x > 0), DTypeError, "not defined on bool")
refused("searchsorted", lambda x: mt.searchsorted(x, x, side="up"), DomainError, "'up' was given")
refused(
    "searchsorted", lambda x: mt.searchsorted(x, x, side="left", right=True), DomainError, "'left'"
)
refused(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x),
    DTypeError,
    "sorter of int64; float32",
)
refused(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x[0].long()),
    ShapeError,
    r"\(3,\) was given",
)
refused("bucketize", lambda x: mt.bucketize(x, x), ShapeError, "takes 1-D boundaries")
refused("bucketize", lambda x: mt.bucketize(x > 0, x[0] > 0), DTypeError, "not defined on bool")
refused("isin", lambda x: mt.isin(x > 0, x), DTypeError, "not defined on bool")
refused("isin", lambda x: mt.isin(1, 2), TypeError, "takes tensors; 2")

# --- Pointwise ------------------------------------------------------------------------------------

refused("add", lambda x: mt.add(1, 2), TypeError, r"add\(\) takes tensors; 1 of type int")
refused("add", lambda x: x.add(x, alpha="2"), TypeError, "alpha must be a number; '2' of type str")
refused(
    "add", lambda x: x.long().add(1, alpha=0.5), DTypeError, "alpha=0.5 does not fit .* integer"
)
refused("add", lambda x: x.add(x, alpha=True), DTypeError, "alpha=True does not fit .* float")
refused("sub", lambda x: x.bool().sub(x.bool()), DTypeError, "use ne")
refused("subtract", lambda x: x.bool().sub(x.bool(), alpha=2), DTypeError, "use ne")
refused("addcmul", lambda x: x.addcmul(2, x), TypeError, "2 of type int")
refused(
    "addcmul", lambda x: x.long().addcmul(x.long(), x.long(), value=0.5), DTypeError, "value=0.5"
)
refused("addcdiv", lambda x: x.addcdiv(x.long(), x.long()), DTypeError, "needs floating-point")
refused("lerp", lambda x: x.lerp(x.double(), 0.5), DTypeError, "float32, float64 were given")
refused("lerp", lambda x: x.long().lerp(x.long(), 0.5), DTypeError, "needs floating-point")
refused("lerp", lambda x: x.lerp(1.0, 0.5), TypeError, "1.0 of type float")
refused("clamp", lambda x: x.clamp(), DomainError, "needs min, max or both")
refused("clamp", lambda x: x.clamp("a"), TypeError, "was given 'a' of type str")
refused("clamp", lambda x: x.bool().clamp(False, True), DTypeError, "not defined on bool")
refused(
    "clamp", lambda x: x.to("uint8").clamp(min=300), DTypeError, "300 is out of range for uint8"
)
refused("clamp", lambda x: x.clamp(max=x[:, :2]), IndexingError, "do not broadcast")
refused("frac", lambda x: x.long().frac(), DTypeError, "needs floating-point elements; int64")
refused("positive", lambda x: x.bool().positive(), DTypeError, "not defined on bool")
refused("heaviside", lambda x: x.heaviside(x.double()), DTypeError, "one dtype; float32, float64")
refused("gelu", lambda x: x.gelu(approximate="erf"), DomainError, "'none', 'tanh'; 'erf' was given")
refused("prelu", lambda x: x.prelu(x), ShapeError, r"each of 3 channel\(s\); shape \(2, 3\)")
refused("prelu", lambda x: x.prelu(x[0].double()), DTypeError, "one dtype")
refused("celu", lambda x: x.celu(0), DomainError, "must not be 0")
refused("hardtanh", lambda x: x.hardtanh(1, 0), DomainError, "1 and 0 were given")
refused("hardtanh", lambda x: x.to("uint8").hardtanh(), DTypeError, "-1 is out of range for uint8")
refused("hardtanh", lambda x: x.bool().hardtanh(), DTypeError, "not defined on bool")
refused("softshrink", lambda x: x.softshrink(-1), DomainError, "must not be negative; -1 was given")
refused("glu", lambda x: x.glu(), ShapeError, r"dimension -1 of a tensor of shape \(2, 3\)")
refused("glu", lambda x: x.sum().glu(), ShapeError, "even size")
refused("isclose", lambda x: x.isclose(x.double()), DTypeError, "one dtype")
refused("isclose", lambda x: x.isclose(1.0), TypeError, "1.0 of type float")
refused(
    "isclose",
    lambda x: x.isclose(x, rtol=-1),
    DomainError,
    "rtol must not be negative or nan; -1 was given",
)
refused(
    "isclose",
    lambda x: x.isclose(x, atol=np.nan),
    DomainError,
    "atol must not be negative or nan; nan was given",
)
refused("allclose", lambda x: mt.allclose(x, 1.0), TypeError, "1.0 of type float")
refused("equal", lambda x: mt.equal(x, 1.0), TypeError, "1.0 of type float")
refused("div", lambda x: x.div(2, rounding_mode="up"), DomainError, "'up' was given")
refused("div", lambda x: (x > 0) // (x > 0), DTypeError, r"floor_divide\(\) is not defined on bool")
refused("bitwise_and", lambda x: x & 1, DTypeError, "integers and bool; float32")
refused("bitwise_and", lambda x: ~x, DTypeError, "integers and bool; float32")
refused("gcd", lambda x: mt.gcd(x, x), DTypeError, r"integers; float32 .* with x.long\(\)\.$")
refused("bitwise_and", lambda x: (x > 0) << (x > 0), DTypeError, "not defined on bool")

# --- Products -------------------------------------------------------------------------------------

refused("matmul", lambda x: x @ x, ShapeError, r"\(2, 3\) and \(2, 3\): the inner sizes 3 and 2")
refused("matmul", lambda x: x @ x.sum(), ShapeError, "at least one dimension")
refused("matmul", lambda x: (x > 0) @ (x > 0).T, DTypeError, "bool")
refused(
    "matmul",
    lambda x: x.expand(2, 2, 3) @ x.T.expand(3, 3, 2),
    IndexingError,
    r"\(2,\) and \(3,\) do not broadcast",
)
for _name in ("dot", "vdot"):
    refused(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D tensors")
    refused(
        _name, lambda x, n=_name: getattr(x[0], n)(x[1, :2]), ShapeError, "sizes 3 and 2 differ"
    )
    refused(_name, lambda x, n=_name: getattr(x[0], n)(1), TypeError, "takes tensors; 1")
refused("mv", lambda x: x.mv(x), ShapeError, r"mv\(\) takes 2-D and 1-D")
refused("mm", lambda x: x.mm(x[0]), ShapeError, r"mm\(\) takes 2-D and 2-D")
refused("bmm", lambda x: x.bmm(x), ShapeError, "takes 3-D and 3-D")
refused("bmm", lambda x: x[None].bmm(x.T[None].expand(2, 3, 2)), ShapeError, "equal batch sizes")
refused("mm", lambda x: x.mm(x), ShapeError, r"^mm\(\) cannot multiply .* sizes 3 and 2 differ")
refused("mv", lambda x: x.mv(x[0, :2]), ShapeError, r"^mv\(\) cannot multiply")
refused("dot", lambda x: x[0].dot(x[0, :2]), ShapeError, r"^dot\(\) cannot multiply")
refused("bmm", lambda x: x[None].bmm(x[None]), ShapeError, r"^bmm\(\) cannot multiply")
refused("addmv", lambda x: x.addmv(x, x), ShapeError, r"^addmv\(\) takes 2-D and 1-D")
refused("addr", lambda x: x.addr(x, x), ShapeError, r"^addr\(\) takes 1-D and 1-D")
refused("baddbmm", lambda x: x.baddbmm(x[None], x[None]), ShapeError, r"^baddbmm\(\) cannot")
refused("addbmm", lambda x: x.addbmm(x[None], x[None]), ShapeError, r"^addbmm\(\) cannot")
refused(
    "chain_matmul", lambda x: mt.chain_matmul(x, x), ShapeError, r"^chain_matmul\(\): the inner"
)
refused("chain_matmul", lambda x: mt.chain_matmul(), ShapeError, "at least one matrix")
refused(
    "norm",
    lambda x: mt.linalg.norm(x[:0, 0], np.inf),
    IndexingError,
    r"^norm\(\) of order inf is not defined for no elements",
)
for _name in ("outer", "ger"):
    refused(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D")
refused("inner", lambda x: x.inner(x.T), ShapeError, "equal last sizes")
refused("cross", lambda x: x.cross(x, 0), ShapeError, "needs size 3")
refused("cross", lambda x: x.cross(x[0]), ShapeError, "equal numbers of dimensions")
refused("cross", lambda x: x[:, :2].cross(x[:, :2]), ShapeError, "a dimension of size 3")
refused("cross", lambda x: x.cross(x, 2), IndexingError, "dimension 2 is out of range")
refused(
    "cosine_similarity",
    lambda x: mt.cosine_similarity(x, x, 2),
    IndexingError,
    "dimension 2 is out of range",
)
refused("cosine_similarity", lambda x: x.inner(None), TypeError, "takes tensors; None")
refused("trace", lambda x: x[0].trace(), ShapeError, "takes 2-D tensors")
refused("trace", lambda x: (x > 0).trace(), DTypeError, "not defined on bool")
refused("matrix_power", lambda x: x.matrix_power(2), ShapeError, "takes square matrices")
refused(
    "matrix_power", lambda x: x[:, :2].matrix_power(1.5), TypeError, "n must be an integer; 1.5"
)
refused("multi_dot", lambda x: mt.linalg.multi_dot([x]), ShapeError, "at least two tensors")
refused(
    "multi_dot", lambda x: mt.linalg.multi_dot([x, x]), ShapeError, "inner sizes of consecutive"
)
refused(
    "multi_dot", lambda x: mt.linalg.multi_dot([x, x[0], x]), ShapeError, "vectors only at the ends"
)
refused("tensordot", lambda x: mt.tensordot(x, x, 1), ShapeError, "pairs dimension 1")
refused("tensordot", lambda x: mt.tensordot(x, x, 3), ShapeError, "cannot pair 3")
refused(
    "tensordot", lambda x: mt.tensordot(x, x, ([0], [0, 1])), ShapeError, "dims of equal length"
)
refused("tensordot", lambda x: mt.tensordot(x, x, "ij"), ShapeError, "'ij' was given")
refused("tensordot", lambda x: mt.tensordot(x, x, ([0, 0], [0, 1])), IndexingError, "not distinct")
refused("einsum", lambda x: mt.einsum("ij,jk", x), EquationError, "1 tensor.s. and labels for 2")
refused("einsum", lambda x: mt.einsum("ijk", x), EquationError, r"3 label\(s\), but shape \(2, 3\)")
refused("einsum", lambda x: mt.einsum("i", x), EquationError, r"1 label\(s\), but shape \(2, 3\)")
refused("einsum", lambda x: mt.einsum("ij,jk", x, x), ShapeError, "size 2 for 'j'")
refused("einsum", lambda x: mt.einsum("ii", x), ShapeError, "size 3 for 'i'")
refused("einsum", lambda x: mt.einsum("ii", x[:1]), ShapeError, "repeats 'i'")
refused("einsum", lambda x: mt.einsum("ij->k", x), EquationError, "no operand has the label 'k'")
refused("einsum", lambda x: mt.einsum("ij->ii", x), EquationError, "repeats the label 'i'")
refused("einsum", lambda x: mt.einsum("i1", x), EquationError, "contains '1'")
refused("einsum", lambda x: mt.einsum("i..j", x), EquationError, "contains '.'")
refused("einsum", lambda x: mt.einsum("...i...", x), EquationError, "more than one ellipsis")
refused("einsum", lambda x: mt.einsum("ij->......", x), EquationError, "more than one ellipsis")
refused("einsum", lambda x: mt.einsum("ij", 1), TypeError, "takes tensors; 1")
refused("einsum", lambda x: mt.einsum(x, "ij"), TypeError, "'ij' was given as a list")
refused("einsum", lambda x: mt.einsum(x, [0, 1.5]), TypeError, "1.5 was given")
refused("einsum", lambda x: mt.einsum("ij->i", x > 0), DTypeError, "cannot be summed")
refused("addmm", lambda x: x.addmm(x, x), ShapeError, r"^addmm\(\) .*sizes 3 and 2 differ")
refused("addmm", lambda x: x.addmm(x, x.T), ShapeError, "expand")
refused("addmm", lambda x: x.long().addmm(x.long(), x.long(), beta=0.5), ShapeError, "differ")
refused(
    "addmm", lambda x: x[0, :2].long().addmm(x.long(), x.T.long(), beta=0.5), DTypeError, "beta=0.5"
)
refused(
    "addmm", lambda x: x[0, :2].addmm(x, x.T, alpha="2"), TypeError, "alpha must be a number; '2'"
)
refused("vander", mt.vander, ShapeError, "takes a 1-D tensor")
refused("vander", lambda x: mt.vander(x[0], -1), DomainError, "-1 was given")
refused("dist", lambda x: x.long().dist(x.long()), DTypeError, r"^dist\(\) .*int64 was given")
refused("dist", lambda x: x[:0].dist(x[:0], np.inf), IndexingError, r"^dist\(\) of order inf is")
refused("cdist", lambda x: mt.cdist(x, x.T), ShapeError, r"\(2, 3\) and \(3, 2\)")
refused("cdist", lambda x: mt.cdist(x[0], x), ShapeError, r"\(3,\) and \(2, 3\)")
refused("cdist", lambda x: mt.cdist(x, x.double()), DTypeError, "one dtype")
refused("cdist", lambda x: mt.cdist(x.long(), x.long()), DTypeError, "int64 was given")
refused("cdist", lambda x: mt.cdist(x, x, -1), DomainError, "-1 was given")
refused("cdist", lambda x: mt.cdist(x, x, 2, "fast"), DomainError, "'fast'")
refused("pdist", lambda x: mt.pdist(x[0]), ShapeError, "takes a matrix")
refused("pdist", lambda x: mt.pdist(x.long()), DTypeError, "int64 was given")
refused("cov", lambda x: x[None].cov(), ShapeError, "at most two dimensions")
refused("cov", lambda x: (x > 0).cov(), DTypeError, "not defined on bool")
refused("cov", lambda x: x.cov(fweights=x[0]), DTypeError, "integer fweights; float32")
refused("cov", lambda x: x.cov(aweights=x[0].long()), DTypeError, "float aweights; int64")
refused("cov", lambda x: x.cov(aweights=x[0, :2]), ShapeError, r"shape \(3,\); \(2,\)")
refused("corrcoef", lambda x: x[None].corrcoef(), ShapeError, r"^corrcoef\(\) .*two dimensions")
refused("corrcoef", lambda x: (x > 0).corrcoef(), DTypeError, r"^corrcoef\(\) .*on bool")

# --- Reductions -----------------------------------------------------------------------------------

refused("sum", lambda x: x.sum(2), IndexingError, "dimension 2 is out of range")
refused("sum", lambda x: x.sum((0, -2)), IndexingError, "are not distinct")
refused("mean", lambda x: x.long().mean(), DTypeError, "int64 was given")
refused("amax", lambda x: x[:, :0].amax(1), IndexingError, "is not defined for no elements")
refused("sum_to_size", lambda x: x.sum_to_size(4), ShapeError, "does not broadcast")
refused("logsumexp", lambda x: x.logsumexp(0.5), TypeError, "0.5 was given")
refused("prod", lambda x: x.prod((0, 1)), TypeError, "must be an integer")
refused("nanmean", lambda x: x.long().nanmean(), DTypeError, "int64 was given")
refused("max", lambda x: x[:0].max(), IndexingError, r"max\(\) is not defined for no elements")
refused("max", lambda x: x.max(keepdim=True), TypeError, "only together with dim")
refused("max", lambda x: x.max(2.0), TypeError, "2.0 was given")
refused("max", lambda x: x.max(0, other=x), TypeError, "not both")
refused("norm", lambda x: x.norm("nuc"), TypeError, "p must be a number; 'nuc'")
refused("norm", lambda x: x.long().norm(), DTypeError, "int64 was given")
refused("norm", lambda x: x[:0].norm(np.inf), IndexingError, r"^norm\(\) of order inf is")

for _reduce in ("add", "multiply"):
    other_dtype(
        "scatter",
        lambda x, r=_reduce: x.scatter(1, x.long() * 0, x.double(), reduce=r),
    )


REFUSED = [pytest.param(bad, id=sample_id(bad.name, bad.call)) for bad in CALLS]


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("bad", REFUSED)
def test_bad_arguments(bad: BadCall, backend: str) -> None:
    with mt.use_backend(backend):
        x = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        with pytest.raises(bad.error, match=bad.message):
            bad.call(x)


# --- Numbers that a dtype cannot hold ------------------------------------------------------------

STORING: dict[str, Callable[[mt.Tensor, Any], Any]] = {
    "fill_": lambda x, n: x.fill_(n),
    "full_like": mt.full_like,
    "new_full": lambda x, n: x.new_full((2,), n),
    "new_tensor": lambda x, n: x.new_tensor([n]),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "masked_fill by a tensor": lambda x, n: x.masked_fill(x > 0, mt.tensor(n, backend=x.backend)),
    "setitem": lambda x, n: x.__setitem__(0, n),
    "setitem under a mask": lambda x, n: x.__setitem__(x > 0, n),
    "setitem by indices": lambda x, n: x.__setitem__([0, 1], n),
    "where": lambda x, n: x.where(x > 0, n) if isinstance(n, int) else x.fill_(n),
    "index_fill": lambda x, n: x.index_fill(0, mt.tensor([0], backend=x.backend), n),
    "scatter": lambda x, n: x.scatter(0, mt.tensor([0], backend=x.backend), n),
    "fill_diagonal_": lambda x, n: x[None].clone().fill_diagonal_(n),
    "threshold": lambda x, n: x.threshold(0, n),
    "pad": lambda x, n: mt.pad(x, (1, 0), value=n),
    "pow": lambda x, n: x**n if isinstance(n, int) and n > 0 else x.fill_(n),
}
"""What puts a number among elements."""


@pytest.mark.parametrize("name", STORING)
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 300), ("int8", -129), ("uint8", 2**40), ("int32", 1e10), ("int64", np.nan)],
)
@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_no_number_out_of_range_is_stored(backend: str, name: str, dtype: str, number: Any) -> None:
    x = mt.tensor([1, 0, 1], dtype=dtype, backend=backend)
    with pytest.raises(DTypeError, match="out of range"):
        STORING[name](x, number)
    assert x.tolist() == [1, 0, 1]
