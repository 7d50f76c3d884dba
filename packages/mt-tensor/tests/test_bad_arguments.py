"""Invalid arguments that operations reject before they call a backend, and the messages.

Errors that depend on elements, such as an index out of range, are tested by `mt_tensor.testing`.
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


def invalid(name: str, call: Callable[..., Any], error: type[Exception], message: str) -> None:
    """Add a call to `CALLS`."""
    CALLS.append(BadCall(name, call, error, message))


def other_dtype(name: str, call: Callable[..., Any]) -> None:
    """Add a call whose source has another dtype."""
    invalid(name, call, DTypeError, "like the tensor; float64")


def other_shape(name: str, call: Callable[..., Any], message: str) -> None:
    """Add a call whose source has another shape."""
    invalid(name, call, ShapeError, message)


def not_square(name: str, function: str = "") -> None:
    """Add a call of `linalg.name`, or `linalg.function`, with a matrix that is not square."""
    function = function or name
    call = lambda x: getattr(mt.linalg, function)(x)  # noqa: E731, PLW0108 - for the id
    invalid(name, call, ShapeError, "takes square matrices")


def not_floating(name: str, function: str = "") -> None:
    """Add a call of `linalg.name`, or `linalg.function`, with integers."""
    function = function or name
    call = lambda x: getattr(mt.linalg, function)(x.long())  # noqa: E731
    invalid(name, call, DTypeError, "float64; int64 was given")


# --- In-place operations --------------------------------------------------------------------------

invalid("add_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
invalid("add_", lambda x: x.long().add_(1.5), DTypeError, "cannot be stored in place in int64")
invalid("add_", lambda x: x.expand(2, 2, 3).add_(1), InPlaceError, "of its elements share memory")
invalid("add_", lambda x: x[0].add_(x), ShapeError, "does not broadcast to")
invalid(
    "float_power_", lambda x: x.float_power_(2), DTypeError, "cannot be stored in place in float32"
)
invalid("remainder_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
invalid(
    "remainder_",
    lambda x: x.long().exp_(),
    DTypeError,
    "float32 cannot be stored in place in int64",
)
invalid(
    "remainder_",
    lambda x: x.bool().bitwise_or_(2),
    DTypeError,
    "int64 cannot be stored in place in bool",
)
invalid("remainder_", lambda x: x[0].pow_(x), ShapeError, r"shape \(2, 3\) cannot be stored in")
invalid(
    "remainder_", lambda x: x.expand(2, 2, 3).exp_(), InPlaceError, "of its elements share memory"
)
invalid("remainder_", lambda x: x.bitwise_and_(1), DTypeError, "integers and bool")
invalid("fill_diagonal_", lambda x: x[0].fill_diagonal_(1), ShapeError, "needs a matrix")
invalid("apply_", lambda x: x.apply_(str), TypeError, "must be a number; '1.0'")
invalid("apply_", lambda x: x.requires_grad_().apply_(abs), InPlaceError, "requires grad")
invalid(
    "apply_",
    lambda x: x.to(mt.uint8).apply_(lambda value: -value),
    DTypeError,
    "integers from 0 to 255",
)
invalid("map_", lambda x: x.map_(x.double(), max), DTypeError, "one dtype")
invalid("map_", lambda x: x.map_(x.T, max), ShapeError, "sizes of 1")
invalid("map_", lambda x: x.requires_grad_().map_(x, max), InPlaceError, "requires grad")

# --- Indexing -------------------------------------------------------------------------------------

invalid("getitem", lambda x: x[2], IndexingError, "index 2 is out of range for dimension 0")
invalid("getitem", lambda x: x[0, 0, 0], IndexingError, "too many indices: 3")
invalid("getitem", lambda x: x[..., ...], IndexingError, "single Ellipsis")
invalid("getitem", lambda x: x["a"], IndexingError, "cannot be indexed by 'a'")
invalid("getitem", lambda x: x[x], IndexingError, "float32 tensor cannot be an index")
invalid("getitem", lambda x: x[x.to(mt.uint8)], IndexingError, "a mask with x.bool")
invalid("gather", lambda x: x.gather(1, x), DTypeError, "int64")
invalid("gather", lambda x: x.gather(0, mt.zeros(2, 4).long()), ShapeError, "does not fit")
other_dtype("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x.double()))
other_shape("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x[:1]), "at least as large")
invalid("index_select", lambda x: x.index_select(0, mt.tensor([[0]])), IndexingError, "1-D index")
other_dtype("scatter", lambda x: x.scatter(1, x.long() * 0, x.double()))
invalid("scatter", lambda x: x.scatter(1, x, 1.0), DTypeError, "int64")
invalid("scatter", lambda x: x.scatter(1, x.long() * 0), TypeError, "either src")
invalid(
    "scatter_reduce",
    lambda x: x.scatter_reduce(1, x.long() * 0, x, "max"),
    DomainError,
    "'max' was given",
)
invalid(
    "scatter_reduce",
    lambda x: x.bool().scatter_reduce(1, x.long() * 0, x.bool(), "mean"),
    DTypeError,
    "not defined on bool",
)
invalid(
    "index_add",
    lambda x: x.index_add(0, mt.tensor([0], backend=x.backend), x),
    IndexingError,
    r"source of shape \(1, 3\)",
)
invalid("index_add", lambda x: x.index_add(0, x, x), IndexingError, "1-D index")
invalid("one_hot", mt.one_hot, DTypeError, "classes of int64")
invalid("one_hot", lambda x: mt.one_hot(x.long(), -2), DomainError, "integer of at least -1; -2")
invalid("one_hot", lambda x: mt.one_hot(x[:0].long()), ShapeError, "a positive num_classes")
invalid("masked_select", lambda x: x.masked_select(x), DTypeError, "bool mask; float32")
invalid(
    "masked_fill",
    lambda x: x.masked_fill(x, 0),
    DTypeError,
    r"^masked_fill\(\) takes a bool mask; float32",
)
invalid("masked_select", lambda x: x.masked_select(x[:, :2] > 0), IndexingError, "do not broadcast")
invalid("take_along_dim", lambda x: x.take_along_dim(x), DTypeError, "int64 or int32; float32")
invalid(
    "take_along_dim",
    lambda x: x.take_along_dim(x.long(), 1),
    IndexingError,
    r"^take_along_dim\(\): index . is out of range for dimension 1 with 3 element",
)
other_shape("take_along_dim", lambda x: x.take_along_dim(x[0].long(), 0), "as many dimensions")
invalid(
    "index_copy", lambda x: x.index_copy(1, at(x), x), IndexingError, r"source of shape \(2, 2\)"
)
invalid("index_copy", lambda x: x.index_copy(1, x, x), IndexingError, "1-D index")
other_dtype("index_copy", lambda x: x.index_copy(0, at(x) // 2, x.double()))
other_shape("index_fill", lambda x: x.index_fill(1, at(x), x), "a number or a 0-D tensor")
invalid("index_fill", lambda x: x.index_fill(1, at(x), "1"), TypeError, "'1' of type str")
invalid("masked_scatter", lambda x: x.masked_scatter(x, x), DTypeError, "bool mask; float32")
other_dtype("masked_scatter", lambda x: x.masked_scatter(x > 0, x.double()))
invalid("index_put", lambda x: x.index_put(at(x), x), TypeError, "tuple or list of indices")
other_dtype("index_put", lambda x: x.index_put((at(x) // 2,), x.double()))
invalid("index_put", lambda x: x.index_put((at(x) // 2,), x[:, :2]), ShapeError, "expand")
other_shape("select_scatter", lambda x: x.select_scatter(x, 0, 0), r"src of shape \(3,\); \(2, 3\)")
other_shape("slice_scatter", lambda x: x.slice_scatter(x[:1]), r"src of shape \(2, 3\); \(1, 3\)")
other_shape("diagonal_scatter", lambda x: x.diagonal_scatter(x[0]), r"src of shape \(2,\); \(3,\)")
invalid(
    "diagonal_scatter", lambda x: x.diagonal_scatter(x[0], 0, 1, 1), IndexingError, "are the same"
)
invalid("take", lambda x: x.take(x), DTypeError, "index of int64; float32")
invalid(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "sum"), DomainError, "'sum' was given"
)
invalid(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "amax"), IndexingError, r"shape \(2, 2\)"
)
invalid("put", lambda x: x.put(x, x), DTypeError, "index of int64; float32")
invalid("put", lambda x: x.put(x.long(), x[0]), IndexingError, "3 were given for 6")
invalid("put", lambda x: x.put(x.long() - 1, x.double()), DTypeError, "like the tensor; float64")
invalid("scatter", lambda x: x.scatter(1, x.long(), 1.0, reduce="sum"), DomainError, "'sum' was")

# --- Linear algebra -------------------------------------------------------------------------------

not_square("inverse", "inv")
not_floating("inverse", "inv")
invalid("pinv", lambda x: mt.linalg.pinv(x[0]), ShapeError, "takes matrices")
invalid("solve", lambda x: mt.linalg.solve(x @ x.T, x.T), ShapeError, r"A X = B was given A of")
invalid("solve", lambda x: mt.linalg.solve(x @ x.T, x.double()), DTypeError, "float32, float64")
invalid("solve", lambda x: mt.linalg.solve(x, x), ShapeError, "takes square matrices")
invalid(
    "solve",
    lambda x: mt.linalg.solve(x @ x.T, x[:, 0], left=False),
    ShapeError,
    "X A = B was given",
)
for _upper in (True, False):
    _call = lambda x, up=_upper: mt.linalg.solve_triangular(x, x, upper=up)  # noqa: E731
    invalid("solve_triangular", _call, ShapeError, "takes square matrices")
not_square("det")
not_floating("det")
not_square("slogdet")
not_floating("slogdet")
invalid("logdet", lambda x: x.logdet(), ShapeError, "takes square matrices")
invalid("matrix_norm", lambda x: mt.linalg.matrix_norm(x, 3), DomainError, "3 was given")
invalid("matrix_norm", lambda x: mt.linalg.matrix_norm(x[0]), ShapeError, "takes matrices")
invalid(
    "matrix_norm", lambda x: mt.linalg.matrix_norm(x, dim=(0, -2)), IndexingError, "not distinct"
)
invalid("matrix_norm", lambda x: mt.linalg.matrix_norm(x, dim=0), TypeError, "two dimensions")
invalid(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, "fro"),
    TypeError,
    "ord must be a number; 'fro'",
)
invalid(
    "vector_norm", lambda x: mt.linalg.vector_norm(x[:0], np.inf), IndexingError, "order inf needs"
)
invalid("norm", lambda x: mt.linalg.norm(x[None], 2), ShapeError, "one dimension or two")
invalid("norm", lambda x: mt.linalg.norm(x.long()), DTypeError, "int64 was given")
invalid("vecdot", lambda x: mt.linalg.vecdot(x.long(), x.long()), DTypeError, "int64 was given")
invalid("diagonal", lambda x: mt.linalg.diagonal(x, dim2=0), IndexingError, "are the same")
invalid("vander", lambda x: mt.linalg.vander(x, N=1), DomainError, "1 was given")
invalid("vander", lambda x: mt.linalg.vander(x.sum()), IndexingError, "at least one dimension")
not_square("cholesky")
not_floating("cholesky")
not_square("eigh")
not_floating("eigh")
invalid("eigh", lambda x: mt.linalg.eigh(x @ x.T, "M"), DomainError, "'M' was given")
not_square("eigvalsh")
invalid("svd", lambda x: mt.linalg.svd(x[0]), ShapeError, "takes matrices")
not_floating("svd")
not_floating("svdvals")
for _mode in ("reduced", "complete"):
    invalid("qr", lambda x, mode=_mode: mt.linalg.qr(x[0], mode), ShapeError, "takes matrices")
invalid("qr", lambda x: mt.linalg.qr(x, "half"), DomainError, "'half' was given")

# --- Movement -------------------------------------------------------------------------------------

invalid("view", lambda x: x.view(4, 2), ShapeError, "6 element")
invalid("view", lambda x: x.view(-1, -1), ShapeError, "one size may be -1")
invalid("view", lambda x: x.T.view(6), ShapeError, "without a copy")
invalid("flatten", lambda x: x.flatten(1, 0), ShapeError, "start_dim <= end_dim")
invalid("permute", lambda x: x.permute(0, 0), IndexingError, "not a permutation of the 2")
invalid("expand", lambda x: x.expand(4, 3), ShapeError, "only sizes of 1")
invalid("squeeze", lambda x: x.squeeze((0, -2)), IndexingError, "are not distinct")
invalid("squeeze", lambda x: x.squeeze(2), IndexingError, "dimension 2 is out of range")
invalid("narrow", lambda x: x.narrow(0, 1, 2), IndexingError, "is out of range for")
invalid("unfold", lambda x: x.unfold(1, 4, 1), ShapeError, "size from 0 to 3")
invalid("pad", lambda x: mt.pad(x, (1,)), ShapeError, "pairs")
invalid("pad", lambda x: mt.pad(x, (-4, 0)), ShapeError, "cannot crop")
invalid("pad", lambda x: mt.pad(x, (1, 1), "mirror"), DomainError, "'mirror' was given")
invalid("cat", lambda x: mt.cat([x, x[:1]], 1), ShapeError, "must be equal except")
invalid("cat", lambda x: mt.cat([]), ShapeError, "at least one tensor")
invalid("cat", lambda x: mt.cat([x, x[:, 0]], 1), ShapeError, "must be equal except")
invalid("stack", lambda x: mt.stack([x, x[0]]), ShapeError, "must all be equal")
invalid("split", lambda x: x.split(0), ShapeError, "positive length of the pieces; 0")
invalid("split", lambda x: x.split((1, 2)), ShapeError, "must add up to 2")
invalid("split", lambda x: x.split((3, -1)), ShapeError, "must not be negative")
invalid("chunk", lambda x: x.chunk(0), DomainError, "positive integer; 0")
invalid("tensor_split", lambda x: x.tensor_split(0), DomainError, "positive integer; 0")
invalid("unbind", lambda x: x.sum().unbind(), IndexingError, "at least one dimension")
invalid(
    "unflatten", lambda x: x.unflatten(1, (2, -1)), ShapeError, r"cannot reshape .* to \(2, -1\)"
)
invalid("roll", lambda x: x.roll((1, 2), 0), ShapeError, "a shift for each")
invalid("roll", lambda x: x.roll((1, 2)), ShapeError, "takes one shift")
invalid("roll", lambda x: x.roll(1.5, 0), TypeError, "must be integers")
invalid("repeat", lambda x: x.repeat(2), ShapeError, "each of the 2")
invalid("repeat_interleave", lambda x: x.repeat_interleave(-1), ShapeError, "non-negative repeats")
invalid(
    "repeat_interleave",
    lambda x: x.repeat_interleave(x),
    DTypeError,
    "takes repeats of int32 or int64",
)
invalid(
    "repeat_interleave",
    lambda x: x.repeat_interleave(x.long(), 0),
    ShapeError,
    "for each of 2 slice",
)
invalid(
    "repeat_interleave",
    lambda x: x.repeat_interleave(2, 0, output_size=3),
    ShapeError,
    "returns 4 slices",
)
invalid("movedim", lambda x: x.movedim((0, 1), 0), IndexingError, "as many destinations as sources")
invalid("movedim", lambda x: x.movedim((0, 0), (0, 1)), IndexingError, "are not distinct")
invalid("meshgrid", mt.meshgrid, ShapeError, "one or more 1-D tensors")
invalid("meshgrid", lambda x: mt.meshgrid(x[0], x[0].long()), DTypeError, "float32, int64")
invalid("meshgrid", lambda x: mt.meshgrid(x[0], indexing="yx"), DomainError, "'yx' was given")
invalid("diagonal", lambda x: x.diagonal(0, 1, -1), IndexingError, "are the same")
invalid("diag", lambda x: x.sum().diag(), ShapeError, "1-D or 2-D")
invalid("tril", lambda x: x[0].tril(), ShapeError, "at least 2 dimension")
invalid("hstack", lambda x: mt.hstack([]), ShapeError, "at least one tensor")
invalid("hstack", lambda x: mt.hstack([x, x.T]), ShapeError, r"^hstack\(\) .* dimension 1")
invalid("vstack", lambda x: mt.vstack([x, x[:, :2]]), ShapeError, r"^vstack\(\) .* dimension 0")
invalid("t", lambda x: x[None].t(), ShapeError, "at most two dimensions")
invalid("H", lambda x: x[0].H, ShapeError, "H needs a matrix")
invalid("adjoint", lambda x: x[0].adjoint(), ShapeError, r"at least 2 dimension\(s\)")
invalid("select", lambda x: x.select(0, 2), IndexingError, "index 2 is out of range")
invalid("select", lambda x: x.select(2, 0), IndexingError, "dimension 2 is out of range")
invalid("select", lambda x: x.select(0, 1.0), TypeError, "index must be an integer; 1.0")
invalid("select", lambda x: x.sum().select(0, 0), IndexingError, "at least one dimension")
invalid("fliplr", lambda x: x[0].fliplr(), ShapeError, r"at least 2 dimension\(s\)")
invalid("flipud", lambda x: x.sum().flipud(), ShapeError, r"at least 1 dimension\(s\)")
invalid("rot90", lambda x: x[0].rot90(), ShapeError, r"at least 2 dimension\(s\)")
invalid("rot90", lambda x: x.rot90(1, (0,)), ShapeError, "two dimensions")
invalid("rot90", lambda x: x.rot90(1, (0, -2)), IndexingError, "not distinct")
invalid("diag_embed", lambda x: x.diag_embed(0, 1, -2), IndexingError, "are the same")
invalid("diag_embed", lambda x: x.sum().diag_embed(), IndexingError, r"at least one dimension")
invalid("view", lambda x: x.T.view(mt.int8), ShapeError, r"x.contiguous\(\)")
invalid("view", lambda x: x.view(mt.float64), ShapeError, "multiples of 2")
invalid("view", lambda x: x[:, 1:].view(dtype=mt.int64), ShapeError, "offset 1")
invalid("view", lambda x: x.sum().view(mt.int8), ShapeError, "last dimension must be contiguous")
invalid("column_stack", lambda x: mt.column_stack([]), ShapeError, "at least one tensor")
invalid("column_stack", lambda x: mt.column_stack([x, x.T]), ShapeError, r"^column_stack\(\) ")
invalid("dstack", lambda x: mt.dstack([x, x[0]]), ShapeError, r"^dstack\(\) .* dimension 2")
invalid("block_diag", lambda x: mt.block_diag(x[None]), ShapeError, "at most two dimensions")
invalid("cartesian_prod", mt.cartesian_prod, ShapeError, "takes 1-D tensors")
invalid(
    "cartesian_prod",
    lambda x: mt.cartesian_prod(x[0], x[0].long()),
    DTypeError,
    r"^cartesian_prod\(\) .* float32, int64",
)
invalid("combinations", mt.combinations, ShapeError, "takes a 1-D tensor")
invalid("combinations", lambda x: mt.combinations(x[0], -1), DomainError, "-1 was given")
invalid("hsplit", lambda x: x.hsplit(2), ShapeError, "split 3 element")
invalid("hsplit", lambda x: x.hsplit(0), DomainError, "positive integer; 0")
invalid("hsplit", lambda x: x.sum().hsplit(1), ShapeError, r"at least 1 dimension\(s\)")
invalid("vsplit", lambda x: x[0].vsplit(1), ShapeError, r"at least 2 dimension\(s\)")
invalid("dsplit", lambda x: x.dsplit(1), ShapeError, r"at least 3 dimension\(s\)")
invalid("split_with_sizes", lambda x: x.split_with_sizes([1, 2]), ShapeError, "must add up to 2")
invalid("narrow_copy", lambda x: x.narrow_copy(0, -3, 2), IndexingError, "is out of range for")
invalid(
    "unravel_index", lambda x: mt.unravel_index(x, (9,)), DTypeError, "integer indices; float32"
)
invalid("unravel_index", lambda x: mt.unravel_index(x.long(), (2, -3)), ShapeError, "non-negative")

# --- Order ----------------------------------------------------------------------------------------

invalid("cumsum", lambda x: x.cumsum(2), IndexingError, "dimension 2 is out of range")
invalid("cumsum", lambda x: x.cumsum(0, "bool"), DTypeError, "does not support dtype=bool")
invalid("cumprod", lambda x: x.cumprod(0, "bool"), DTypeError, "does not support dtype=bool")
invalid("logcumsumexp", lambda x: x.long().logcumsumexp(0), DTypeError, "int64 was given")
invalid("argsort", lambda x: x.argsort("a"), TypeError, "'a' was given")
invalid("topk", lambda x: x.topk(4), ShapeError, "from 0 to 3; 4")
invalid("topk", lambda x: x.topk(-1), ShapeError, "from 0 to 3; -1")
invalid("topk", lambda x: x.topk(1.0), TypeError, "k must be an integer; 1.0")
invalid("median", lambda x: (x > 0).median(), DTypeError, "bool")
invalid("median", lambda x: x[:0].median(0), IndexingError, "at least one element")
invalid("unique", lambda x: x.unique(dim=2), IndexingError, "dimension 2 is out of range")
invalid("bincount", lambda x: x.bincount(), ShapeError, "takes 1-D tensors")
invalid("bincount", lambda x: x[0].bincount(), DTypeError, "takes integers; float32")
invalid(
    "bincount",
    lambda x: x[0].long().bincount(minlength=-1),
    DomainError,
    "minlength must be a non-negative",
)
invalid("kthvalue", lambda x: x.kthvalue(4), ShapeError, "from 1 to 3; 4")
invalid("kthvalue", lambda x: x.kthvalue(1.0), TypeError, "k must be an integer; 1.0")
invalid("quantile", lambda x: x.quantile(1.5), DomainError, "from 0 to 1; 1.5")
invalid("quantile", lambda x: x.quantile("1"), TypeError, "q must be a number; '1'")
invalid("quantile", lambda x: x.long().quantile(0.5), DTypeError, "int64 was given")
invalid("quantile", lambda x: x.quantile(x[0].double()), DTypeError, "like input; float64")
invalid("quantile", lambda x: x[:0].quantile(0.5), ShapeError, "no elements")
invalid(
    "quantile", lambda x: x.quantile(0.5, interpolation="mean"), DomainError, "'mean' was given"
)
invalid("diff", lambda x: x.sum().diff(), IndexingError, "at least one dimension")
invalid("diff", lambda x: x.diff(-1), DomainError, "-1 was given")
invalid("mode", lambda x: x[:, :0].mode(), IndexingError, r"mode\(\) needs at least one element")
invalid(
    "nanmedian", lambda x: (x > 0).nanmedian(), DTypeError, r"nanmedian\(\) is not defined on bool"
)
invalid("nanmedian", lambda x: x[:0].nanmedian(0), IndexingError, "at least one element")
invalid("nanmedian", lambda x: x.nanmedian(keepdim=True), TypeError, "only together with dim")
invalid("histc", lambda x: x.long().histc(), DTypeError, "int64 was given")
invalid("histc", lambda x: x.histc(0), DomainError, "bins must be a positive integer; 0")
invalid("histc", lambda x: x.histc(3, 2, 1), DomainError, "from 2.0 to 1.0")
for _name in ("trapezoid", "trapz"):
    invalid(_name, lambda x: mt.trapezoid(x.sum()), IndexingError, "at least one dimension")
    invalid(_name, lambda x: mt.trapezoid(x > 0), DTypeError, "not defined on bool")
    invalid(_name, lambda x: mt.trapezoid(x, x[0, :2]), ShapeError, r"each point; \(2,\)")
    invalid(_name, lambda x: mt.trapezoid(x, x.sum()), ShapeError, r"trapezoid\(\) takes x of")
    invalid(_name, lambda x: mt.trapezoid(x, x, dx=1), TypeError, "not both")
invalid("searchsorted", lambda x: mt.searchsorted(x, x[0]), ShapeError, r"\(2, 3\) and \(3,\)")
invalid("searchsorted", lambda x: mt.searchsorted(x > 0, x > 0), DTypeError, "not defined on bool")
invalid("searchsorted", lambda x: mt.searchsorted(x, x, side="up"), DomainError, "'up' was given")
invalid(
    "searchsorted", lambda x: mt.searchsorted(x, x, side="left", right=True), DomainError, "'left'"
)
invalid(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x),
    DTypeError,
    "sorter of int64; float32",
)
invalid(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x[0].long()),
    ShapeError,
    r"\(3,\) was given",
)
invalid("bucketize", lambda x: mt.bucketize(x, x), ShapeError, "takes 1-D boundaries")
invalid("bucketize", lambda x: mt.bucketize(x > 0, x[0] > 0), DTypeError, "not defined on bool")
invalid("isin", lambda x: mt.isin(x > 0, x), DTypeError, "not defined on bool")
invalid("isin", lambda x: mt.isin(1, 2), TypeError, "takes tensors; 2")

# --- Pointwise ------------------------------------------------------------------------------------

invalid("add", lambda x: mt.add(1, 2), TypeError, r"add\(\) takes tensors; 1 of type int")
invalid("add", lambda x: x.add(x, alpha="2"), TypeError, "alpha must be a number; '2' of type str")
invalid(
    "add", lambda x: x.long().add(1, alpha=0.5), DTypeError, "alpha=0.5 does not fit .* integer"
)
invalid("add", lambda x: x.add(x, alpha=True), DTypeError, "alpha=True does not fit .* float")
invalid("add", lambda x: x.half().add(x.half(), alpha=True), DTypeError, "alpha=True .* of float16")
invalid("sub", lambda x: x.half().sub_(x.half(), alpha=True), DTypeError, "alpha=True .* float16")
invalid("sub", lambda x: x.bool().sub(x.bool()), DTypeError, "use ne")
invalid("subtract", lambda x: x.bool().sub(x.bool(), alpha=2), DTypeError, "use ne")
invalid("addcmul", lambda x: x.addcmul(2, x), TypeError, "2 of type int")
invalid(
    "addcmul", lambda x: x.long().addcmul(x.long(), x.long(), value=0.5), DTypeError, "value=0.5"
)
invalid("addcdiv", lambda x: x.addcdiv(x.long(), x.long()), DTypeError, "needs floating-point")
invalid("lerp", lambda x: x.lerp(x.double(), 0.5), DTypeError, "float32, float64 were given")
invalid("lerp", lambda x: x.long().lerp(x.long(), 0.5), DTypeError, "needs floating-point")
invalid("lerp", lambda x: x.lerp(1.0, 0.5), TypeError, "1.0 of type float")
invalid("clamp", lambda x: x.clamp(), DomainError, "needs min, max or both")
invalid("clamp", lambda x: x.clamp("a"), TypeError, "was given 'a' of type str")
invalid("clamp", lambda x: x.bool().clamp(False, True), DTypeError, "not defined on bool")
invalid(
    "clamp", lambda x: x.to("uint8").clamp(min=300), DTypeError, "300 is out of range for uint8"
)
invalid("clamp", lambda x: x.clamp(max=x[:, :2]), IndexingError, "do not broadcast")
invalid("frac", lambda x: x.long().frac(), DTypeError, "needs floating-point elements; int64")
invalid("positive", lambda x: x.bool().positive(), DTypeError, "not defined on bool")
invalid("heaviside", lambda x: x.heaviside(x.double()), DTypeError, "one dtype; float32, float64")
invalid("gelu", lambda x: x.gelu(approximate="erf"), DomainError, "'none', 'tanh'; 'erf' was given")
invalid("prelu", lambda x: x.prelu(x), ShapeError, r"each of 3 channel\(s\); shape \(2, 3\)")
invalid("prelu", lambda x: x.prelu(x[0].double()), DTypeError, "one dtype")
invalid("celu", lambda x: x.celu(0), DomainError, "must not be 0")
invalid("hardtanh", lambda x: x.hardtanh(1, 0), DomainError, "1 and 0 were given")
invalid("hardtanh", lambda x: x.to("uint8").hardtanh(), DTypeError, "-1 is out of range for uint8")
invalid("hardtanh", lambda x: x.bool().hardtanh(), DTypeError, "not defined on bool")
invalid("softshrink", lambda x: x.softshrink(-1), DomainError, "must not be negative; -1 was given")
invalid("glu", lambda x: x.glu(), ShapeError, r"dimension -1 of a tensor of shape \(2, 3\)")
invalid("glu", lambda x: x.sum().glu(), ShapeError, "even size")
invalid("isclose", lambda x: x.isclose(x.double()), DTypeError, "one dtype")
invalid("isclose", lambda x: x.isclose(1.0), TypeError, "1.0 of type float")
invalid(
    "isclose",
    lambda x: x.isclose(x, rtol=-1),
    DomainError,
    "rtol must not be negative or nan; -1 was given",
)
invalid(
    "isclose",
    lambda x: x.isclose(x, atol=np.nan),
    DomainError,
    "atol must not be negative or nan; nan was given",
)
invalid("allclose", lambda x: mt.allclose(x, 1.0), TypeError, "1.0 of type float")
invalid("equal", lambda x: mt.equal(x, 1.0), TypeError, "1.0 of type float")
invalid("div", lambda x: x.div(2, rounding_mode="up"), DomainError, "'up' was given")
invalid("div", lambda x: (x > 0) // (x > 0), DTypeError, r"floor_divide\(\) is not defined on bool")
invalid("bitwise_and", lambda x: x & 1, DTypeError, "integers and bool; float32")
invalid("bitwise_and", lambda x: ~x, DTypeError, "integers and bool; float32")
invalid("gcd", lambda x: mt.gcd(x, x), DTypeError, r"integers; float32 .* with x.long\(\)\.$")
invalid("bitwise_and", lambda x: (x > 0) << (x > 0), DTypeError, "not defined on bool")

# --- Products -------------------------------------------------------------------------------------

invalid("matmul", lambda x: x @ x, ShapeError, r"\(2, 3\) and \(2, 3\): the inner sizes 3 and 2")
invalid("matmul", lambda x: x @ x.sum(), ShapeError, "at least one dimension")
invalid("matmul", lambda x: (x > 0) @ (x > 0).T, DTypeError, "bool")
invalid(
    "matmul",
    lambda x: x.expand(2, 2, 3) @ x.T.expand(3, 3, 2),
    IndexingError,
    r"\(2,\) and \(3,\) do not broadcast",
)
for _name in ("dot", "vdot"):
    invalid(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D tensors")
    invalid(
        _name, lambda x, n=_name: getattr(x[0], n)(x[1, :2]), ShapeError, "sizes 3 and 2 differ"
    )
    invalid(_name, lambda x, n=_name: getattr(x[0], n)(1), TypeError, "takes tensors; 1")
invalid("mv", lambda x: x.mv(x), ShapeError, r"mv\(\) takes 2-D and 1-D")
invalid("mm", lambda x: x.mm(x[0]), ShapeError, r"mm\(\) takes 2-D and 2-D")
invalid("bmm", lambda x: x.bmm(x), ShapeError, "takes 3-D and 3-D")
invalid("bmm", lambda x: x[None].bmm(x.T[None].expand(2, 3, 2)), ShapeError, "equal batch sizes")
invalid("mm", lambda x: x.mm(x), ShapeError, r"^mm\(\) cannot multiply .* sizes 3 and 2 differ")
invalid("mv", lambda x: x.mv(x[0, :2]), ShapeError, r"^mv\(\) cannot multiply")
invalid("dot", lambda x: x[0].dot(x[0, :2]), ShapeError, r"^dot\(\) cannot multiply")
invalid("bmm", lambda x: x[None].bmm(x[None]), ShapeError, r"^bmm\(\) cannot multiply")
invalid("addmv", lambda x: x.addmv(x, x), ShapeError, r"^addmv\(\) takes 2-D and 1-D")
invalid("addr", lambda x: x.addr(x, x), ShapeError, r"^addr\(\) takes 1-D and 1-D")
invalid("baddbmm", lambda x: x.baddbmm(x[None], x[None]), ShapeError, r"^baddbmm\(\) cannot")
invalid("addbmm", lambda x: x.addbmm(x[None], x[None]), ShapeError, r"^addbmm\(\) cannot")
invalid(
    "chain_matmul", lambda x: mt.chain_matmul(x, x), ShapeError, r"^chain_matmul\(\): the inner"
)
invalid("chain_matmul", lambda x: mt.chain_matmul(), ShapeError, "at least one matrix")
invalid(
    "norm",
    lambda x: mt.linalg.norm(x[:0, 0], np.inf),
    IndexingError,
    r"^norm\(\) of order inf needs at least one element",
)
for _name in ("outer", "ger"):
    invalid(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D")
invalid("inner", lambda x: x.inner(x.T), ShapeError, "equal last sizes")
invalid("cross", lambda x: x.cross(x, 0), ShapeError, "needs size 3")
invalid("cross", lambda x: x.cross(x[0]), ShapeError, "equal numbers of dimensions")
invalid("cross", lambda x: x[:, :2].cross(x[:, :2]), ShapeError, "a dimension of size 3")
invalid("cross", lambda x: x.cross(x, 2), IndexingError, "dimension 2 is out of range")
invalid(
    "cosine_similarity",
    lambda x: mt.cosine_similarity(x, x, 2),
    IndexingError,
    "dimension 2 is out of range",
)
invalid("cosine_similarity", lambda x: x.inner(None), TypeError, "takes tensors; None")
invalid("trace", lambda x: x[0].trace(), ShapeError, "takes 2-D tensors")
invalid("trace", lambda x: (x > 0).trace(), DTypeError, "not defined on bool")
invalid("matrix_power", lambda x: x.matrix_power(2), ShapeError, "takes square matrices")
invalid(
    "matrix_power", lambda x: x[:, :2].matrix_power(1.5), TypeError, "n must be an integer; 1.5"
)
invalid("multi_dot", lambda x: mt.linalg.multi_dot([x]), ShapeError, "at least two tensors")
invalid(
    "multi_dot", lambda x: mt.linalg.multi_dot([x, x]), ShapeError, "inner sizes of consecutive"
)
invalid(
    "multi_dot", lambda x: mt.linalg.multi_dot([x, x[0], x]), ShapeError, "vectors only at the ends"
)
invalid("tensordot", lambda x: mt.tensordot(x, x, 1), ShapeError, "pairs dimension 1")
invalid("tensordot", lambda x: mt.tensordot(x, x, 3), ShapeError, "cannot pair 3")
invalid(
    "tensordot", lambda x: mt.tensordot(x, x, ([0], [0, 1])), ShapeError, "dims of equal length"
)
invalid("tensordot", lambda x: mt.tensordot(x, x, "ij"), ShapeError, "'ij' was given")
invalid("tensordot", lambda x: mt.tensordot(x, x, ([0, 0], [0, 1])), IndexingError, "not distinct")
invalid("einsum", lambda x: mt.einsum("ij,jk", x), EquationError, "1 tensor.s. and labels for 2")
invalid("einsum", lambda x: mt.einsum("ijk", x), EquationError, r"3 label\(s\), but shape \(2, 3\)")
invalid("einsum", lambda x: mt.einsum("i", x), EquationError, r"1 label\(s\), but shape \(2, 3\)")
invalid("einsum", lambda x: mt.einsum("ij,jk", x, x), ShapeError, "size 2 for 'j'")
invalid("einsum", lambda x: mt.einsum("ii", x), ShapeError, "size 3 for 'i'")
invalid("einsum", lambda x: mt.einsum("ii", x[:1]), ShapeError, "repeats 'i'")
invalid("einsum", lambda x: mt.einsum("ij->k", x), EquationError, "no operand has the label 'k'")
invalid("einsum", lambda x: mt.einsum("ij->ii", x), EquationError, "repeats the label 'i'")
invalid("einsum", lambda x: mt.einsum("i1", x), EquationError, "contains '1'")
invalid("einsum", lambda x: mt.einsum("i..j", x), EquationError, "contains '.'")
invalid("einsum", lambda x: mt.einsum("...i...", x), EquationError, "more than one ellipsis")
invalid("einsum", lambda x: mt.einsum("ij->......", x), EquationError, "more than one ellipsis")
invalid("einsum", lambda x: mt.einsum("ij", 1), TypeError, "takes tensors; 1")
invalid("einsum", lambda x: mt.einsum(x, "ij"), TypeError, "'ij' was given as a list")
invalid("einsum", lambda x: mt.einsum(x, [0, 1.5]), TypeError, "1.5 was given")
invalid("einsum", lambda x: mt.einsum("ij->i", x > 0), DTypeError, "cannot be summed")
invalid("addmm", lambda x: x.addmm(x, x), ShapeError, r"^addmm\(\) .*sizes 3 and 2 differ")
invalid("addmm", lambda x: x.addmm(x, x.T), ShapeError, "expand")
invalid("addmm", lambda x: x.long().addmm(x.long(), x.long(), beta=0.5), ShapeError, "differ")
invalid(
    "addmm", lambda x: x[0, :2].long().addmm(x.long(), x.T.long(), beta=0.5), DTypeError, "beta=0.5"
)
invalid(
    "addmm", lambda x: x[0, :2].addmm(x, x.T, alpha="2"), TypeError, "alpha must be a number; '2'"
)
invalid("vander", mt.vander, ShapeError, "takes a 1-D tensor")
invalid("vander", lambda x: mt.vander(x[0], -1), DomainError, "-1 was given")
invalid("dist", lambda x: x.long().dist(x.long()), DTypeError, r"^dist\(\) .*int64 was given")
invalid("dist", lambda x: x[:0].dist(x[:0], np.inf), IndexingError, r"^dist\(\) of order inf needs")
invalid("cdist", lambda x: mt.cdist(x, x.T), ShapeError, r"\(2, 3\) and \(3, 2\)")
invalid("cdist", lambda x: mt.cdist(x[0], x), ShapeError, r"\(3,\) and \(2, 3\)")
invalid("cdist", lambda x: mt.cdist(x, x.double()), DTypeError, "one dtype")
invalid("cdist", lambda x: mt.cdist(x.long(), x.long()), DTypeError, "int64 was given")
invalid("cdist", lambda x: mt.cdist(x, x, -1), DomainError, "-1 was given")
invalid("cdist", lambda x: mt.cdist(x, x, 2, "fast"), DomainError, "'fast'")
invalid("pdist", lambda x: mt.pdist(x[0]), ShapeError, "takes a matrix")
invalid("pdist", lambda x: mt.pdist(x.long()), DTypeError, "int64 was given")
invalid("cov", lambda x: x[None].cov(), ShapeError, "at most two dimensions")
invalid("cov", lambda x: (x > 0).cov(), DTypeError, "not defined on bool")
invalid("cov", lambda x: x.cov(fweights=x[0]), DTypeError, "integer fweights; float32")
invalid("cov", lambda x: x.cov(aweights=x[0].long()), DTypeError, "float aweights; int64")
invalid("cov", lambda x: x.cov(aweights=x[0, :2]), ShapeError, r"shape \(3,\); \(2,\)")
invalid("corrcoef", lambda x: x[None].corrcoef(), ShapeError, r"^corrcoef\(\) .*two dimensions")
invalid("corrcoef", lambda x: (x > 0).corrcoef(), DTypeError, r"^corrcoef\(\) .*on bool")

# --- Reductions -----------------------------------------------------------------------------------

invalid("sum", lambda x: x.sum(2), IndexingError, "dimension 2 is out of range")
invalid("sum", lambda x: x.sum((0, -2)), IndexingError, "are not distinct")
invalid("mean", lambda x: x.long().mean(), DTypeError, "int64 was given")
invalid("amax", lambda x: x[:, :0].amax(1), IndexingError, "needs at least one element")
invalid("sum_to_size", lambda x: x.sum_to_size(4), ShapeError, "does not broadcast")
invalid("logsumexp", lambda x: x.logsumexp(0.5), TypeError, "0.5 was given")
invalid("prod", lambda x: x.prod((0, 1)), TypeError, "must be an integer")
invalid("nanmean", lambda x: x.long().nanmean(), DTypeError, "int64 was given")
invalid("max", lambda x: x[:0].max(), IndexingError, r"max\(\) needs at least one element")
invalid("max", lambda x: x.max(keepdim=True), TypeError, "only together with dim")
invalid("max", lambda x: x.max(2.0), TypeError, "2.0 was given")
invalid("max", lambda x: x.max(0, other=x), TypeError, "not both")
invalid("norm", lambda x: x.norm("nuc"), TypeError, "p must be a number; 'nuc'")
invalid("norm", lambda x: x.long().norm(), DTypeError, "int64 was given")
invalid("norm", lambda x: x[:0].norm(np.inf), IndexingError, r"^norm\(\) of order inf needs")

for _reduce in ("add", "multiply"):
    other_dtype(
        "scatter",
        lambda x, r=_reduce: x.scatter(1, x.long() * 0, x.double(), reduce=r),
    )


INVALID_CALLS = [pytest.param(bad, id=sample_id(bad.name, bad.call)) for bad in CALLS]


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("bad", INVALID_CALLS)
def test_invalid_call_raises_error_with_message(bad: BadCall, backend: str) -> None:
    with mt.use_backend(backend):
        x = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        with pytest.raises(bad.error, match=bad.message):
            bad.call(x)


# --- Numbers out of range of a dtype -------------------------------------------------------------

STORING: dict[str, Callable[[mt.Tensor, Any], Any]] = {
    "fill_": lambda x, n: x.fill_(n),
    "full_like": mt.full_like,
    "new_full": lambda x, n: x.new_full((2,), n),
    "new_tensor": lambda x, n: x.new_tensor([n]),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "masked_fill with a tensor": lambda x, n: x.masked_fill(x > 0, mt.tensor(n, backend=x.backend)),
    "setitem": lambda x, n: x.__setitem__(0, n),
    "setitem with a mask": lambda x, n: x.__setitem__(x > 0, n),
    "setitem with indices": lambda x, n: x.__setitem__([0, 1], n),
    "where": lambda x, n: x.where(x > 0, n) if isinstance(n, int) else x.fill_(n),
    "index_fill": lambda x, n: x.index_fill(0, mt.tensor([0], backend=x.backend), n),
    "scatter": lambda x, n: x.scatter(0, mt.tensor([0], backend=x.backend), n),
    "fill_diagonal_": lambda x, n: x[None].clone().fill_diagonal_(n),
    "threshold": lambda x, n: x.threshold(0, n),
    "pad": lambda x, n: mt.pad(x, (1, 0), value=n),
    "pow": lambda x, n: x**n if isinstance(n, int) and n > 0 else x.fill_(n),
}
"""Calls that store a number in a tensor."""


@pytest.mark.parametrize("name", STORING)
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 300), ("int8", -129), ("uint8", 2**40), ("int32", 1e10), ("int64", np.nan)],
)
@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_storing_number_out_of_range_raises_and_changes_nothing(
    backend: str, name: str, dtype: str, number: Any
) -> None:
    x = mt.tensor([1, 0, 1], dtype=dtype, backend=backend)
    with pytest.raises(DTypeError, match="out of range"):
        STORING[name](x, number)
    assert x.tolist() == [1, 0, 1]
