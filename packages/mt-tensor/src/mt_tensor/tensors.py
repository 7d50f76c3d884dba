"""`Tensor`: a multi-dimensional array that records how it was computed.

Its names, arguments and rules are torch's. A Tensor holds a `TensorData` (storage, shape and
strides) and the backend that the storage belongs to. It is a `Variable` of stage 1, and is
differentiated by stage 1's `backpropagate`, unchanged. The operations are in the modules beside
this one; the methods here only name them.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mt_autodiff import GradientError, History, NoGradientError, backpropagate, is_grad_enabled
from mt_operators import OPERATORS, Operator
from mt_operators.errors import nearest
from mt_tensor import indexing, movement, reductions
from mt_tensor import matmul as matrix
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.registry import get_backend
from mt_tensor.dtypes import DType, Number, as_dtype, result_type
from mt_tensor.elementwise import LIFTED, elementwise
from mt_tensor.errors import BackendMismatchError, DTypeError, InPlaceError, ShapeError
from mt_tensor.function import Function
from mt_tensor.strides import Shape, normalize_dim, shape_broadcast
from mt_tensor.tensor_data import TensorData

Dims = int | Sequence[int] | None


class Tensor:
    """A multi-dimensional array of one element type; make one with `mt_tensor.tensor(...)`.

    Attributes:
        backend: where the elements live and operations run.
        requires_grad: whether a gradient with respect to this tensor is wanted.
        grad: the gradient that `backward` has accumulated, a tensor of the same shape, or None.
        history: how the tensor was computed; None for a leaf.
    """

    __slots__ = ("__weakref__", "_tensor", "backend", "grad", "history", "name", "requires_grad")

    _tensor: TensorData
    backend: TensorBackend
    grad: Tensor | None
    history: History | None
    name: str | None
    requires_grad: builtins.bool

    def __init__(self, data: Any, dtype: Any = None) -> None:
        from mt_tensor.creation import tensor

        self._become(tensor(data, dtype=dtype))

    def _become(self, other: Tensor) -> None:
        """Take over the elements of another tensor, as a leaf."""
        self._tensor = other._tensor
        self.backend = other.backend
        self.grad = None
        self.history = None
        self.name = None
        self.requires_grad = False

    @staticmethod
    def _make(data: TensorData, backend: TensorBackend) -> Tensor:
        """Return a constant tensor of these elements, without looking at them."""
        result: Tensor = object.__new__(Tensor)
        result._tensor = data
        result.backend = backend
        result.grad = None
        result.history = None
        result.name = None
        result.requires_grad = False
        return result

    def _with(self, data: TensorData) -> Tensor:
        """Return a constant tensor of other elements on the same backend."""
        return Tensor._make(data, self.backend)

    # --- What it is -----------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The extent of each dimension."""
        return self._tensor.shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._tensor.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._tensor.shape)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the extent of one dimension."""
        return self.shape if dim is None else self.shape[normalize_dim(dim, self.ndim)]

    def numel(self) -> int:
        """Return the number of elements."""
        return self._tensor.size

    def stride(self, dim: int | None = None) -> Any:
        """Return how many elements of the storage lie between neighbours in each dimension."""
        strides = self._tensor.strides
        return strides if dim is None else strides[normalize_dim(dim, self.ndim)]

    def storage_offset(self) -> int:
        """Return where in the storage the first element lies."""
        return self._tensor.offset

    def is_contiguous(self) -> builtins.bool:
        """Whether the elements lie in row-major order without gaps."""
        return self._tensor.is_contiguous()

    def is_floating_point(self) -> builtins.bool:
        """Whether the elements are floating-point numbers."""
        return self.dtype.is_floating_point

    def __len__(self) -> int:
        """Return the extent of the first dimension."""
        if not self.shape:
            raise TypeError("a 0-dimensional tensor has no length.")
        return self.shape[0]

    # --- Automatic differentiation (the Variable protocol, and torch's names) -------------------

    @property
    def unique_id(self) -> int:
        """A number that no other living tensor has."""
        return id(self)

    @property
    def parents(self) -> Iterable[Any]:
        """The tensors that this one was computed from."""
        return self.history.inputs if self.history else ()

    @property
    def is_leaf(self) -> builtins.bool:
        """Whether nothing recorded produced this tensor."""
        return self.history is None

    def is_constant(self) -> builtins.bool:
        """Whether no gradient is wanted with respect to this tensor."""
        return not self.requires_grad

    def chain_rule(self, derivative: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield each parent with its share of the gradient.

        Raises:
            GradientError: a share has another shape than its parent.
        """
        if self.history is None:
            return
        name = self.history.name
        for parent, share in self.history.chain_rule(derivative):
            if share.shape != parent.shape:
                raise GradientError(
                    f"the backward of {name!r} returned a gradient of shape {share.shape} for an "
                    f"input of shape {parent.shape}; it must have the shape of the input."
                )
            yield parent, share

    def accumulate_derivative(self, derivative: Tensor) -> None:
        """Add to `grad`, of a leaf."""
        if self.history is not None:
            return
        if self.grad is not None:
            self.grad = self.grad + derivative
        else:  # a copy, for the gradient may share its memory with that of another leaf
            self.grad = derivative if derivative.requires_grad else derivative.clone()

    def free_graph(self) -> None:
        """Forget what was saved for the chain rule."""
        if self.history:
            self.history.free()

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Self:
        """Say whether a gradient is wanted, and return self.

        Raises:
            DTypeError: the elements are no floating-point numbers.
            NoGradientError: recording is to stop at a tensor that was computed.
        """
        if requires_grad and not self.dtype.is_floating_point:
            raise DTypeError(
                f"only floating-point tensors can have a gradient; this one is {self.dtype.name}."
            )
        if not requires_grad and self.history is not None:
            raise NoGradientError(
                "requires_grad_(False) only applies to leaves; use detach() on a tensor that was "
                "computed."
            )
        self.requires_grad = requires_grad
        return self

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
    ) -> None:
        """Add the gradient of this tensor to `grad` of every leaf that it was computed from.

        Args:
            gradient: the weight of each element; may be left out for a tensor of one element.
            retain_graph: whether the graph can be differentiated again.
            create_graph: whether the gradients are recorded, to be differentiated in turn.

        Raises:
            NoGradientError: nothing was recorded, or `gradient` is missing.
            ShapeError: `gradient` has another shape.
            GraphFreedError: an earlier call freed the graph.
        """
        if not self.requires_grad:
            raise NoGradientError(
                "this tensor has no gradient: it was computed from tensors without requires_grad, "
                "or inside no_grad()."
            )
        if gradient is None:
            if self.numel() != 1:
                raise NoGradientError(
                    f"backward() of a tensor of shape {self.shape} needs the weight of each "
                    "element: reduce it first, as in x.sum().backward(), or pass gradient=."
                )
            gradient = self._with(self.backend.full(self.shape, self.dtype, 1))
        if gradient.shape != self.shape:
            raise ShapeError(
                f"gradient has shape {gradient.shape}; it must have the tensor's, {self.shape}."
            )
        backpropagate(self, gradient.to(self.dtype), retain_graph, create_graph)

    def detach(self) -> Tensor:
        """Return a tensor with the same memory and no history."""
        return self._with(self._tensor)

    @property
    def data(self) -> Tensor:
        """A tensor with the same memory and no history."""
        return self.detach()

    # --- To and from elsewhere ------------------------------------------------------------------

    def numpy(self) -> npt.NDArray[Any]:
        """Return the elements as a NumPy array, sharing memory where the backend allows it.

        Raises:
            NoGradientError: the tensor records; use `x.detach().numpy()`.
        """
        if self.requires_grad:
            raise NoGradientError(
                "numpy() of a tensor that requires grad would lose its history: use "
                "x.detach().numpy()."
            )
        return self.backend.as_array(self._tensor)

    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> npt.NDArray[Any]:
        """Let NumPy read the elements."""
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ShapeError: there is not exactly one.
        """
        if self.numel() != 1:
            raise ShapeError(
                f"item() needs exactly one element; shape {self.shape} has {self.numel()}."
            )
        return self.backend.as_array(self._tensor).item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self.backend.as_array(self._tensor).tolist()

    def to(self, target: Any) -> Tensor:
        """Return the tensor as another element type, or on another backend.

        Args:
            target: a DType or what names one, a backend or its name, or a tensor whose element
                type and backend are taken.
        """
        if isinstance(target, Tensor):
            return self.to(target.backend).to(target.dtype)
        if isinstance(target, TensorBackend) or (isinstance(target, str) and not _is_dtype(target)):
            backend = get_backend(target)
            return self if backend is self.backend else Move.apply(self, backend)
        dtype = as_dtype(target)
        return self if dtype is self.dtype else Cast.apply(self, dtype)

    def float(self) -> Tensor:
        """Return the tensor as float32."""
        return self.to("float32")

    def double(self) -> Tensor:
        """Return the tensor as float64."""
        return self.to("float64")

    def half(self) -> Tensor:
        """Return the tensor as float16."""
        return self.to("float16")

    def long(self) -> Tensor:
        """Return the tensor as int64."""
        return self.to("int64")

    def int(self) -> Tensor:
        """Return the tensor as int32."""
        return self.to("int32")

    def bool(self) -> Tensor:
        """Return the tensor as bool."""
        return self.to("bool")

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the element type of another."""
        return self.to(other.dtype)

    def clone(self) -> Tensor:
        """Return a contiguous copy that the gradient flows through."""
        return Cast.apply(self, self.dtype)

    def contiguous(self) -> Tensor:
        """Return the tensor itself if it is contiguous, else a contiguous copy."""
        return self if self.is_contiguous() else self.clone()

    # --- Movement -------------------------------------------------------------------------------

    def view(self, *shape: Any) -> Tensor:
        """Return the same elements in another shape, sharing memory; one extent may be -1.

        Raises:
            ShapeError: the number of elements differs, or the strides would need a copy.
        """
        resolved = movement.resolve_shape(_unpack(shape), self.numel())
        return movement.View.apply(self, resolved, False)

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same elements in another shape, copying only if it must be.

        Raises:
            ShapeError: the number of elements differs.
        """
        resolved = movement.resolve_shape(_unpack(shape), self.numel())
        return movement.View.apply(self, resolved, True)

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Merge the dimensions from `start_dim` to `end_dim` into one."""
        start, end = normalize_dim(start_dim, self.ndim), normalize_dim(end_dim, self.ndim)
        if start > end:
            raise ShapeError(f"flatten() from dimension {start_dim} to {end_dim} runs backwards.")
        return self.reshape(*self.shape[:start], -1 if self.numel() else 0, *self.shape[end + 1 :])

    def permute(self, *order: Any) -> Tensor:
        """Return a view with the dimensions in another order."""
        given = _unpack(order)
        return movement.Permute.apply(self, tuple(normalize_dim(d, self.ndim) for d in given))

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return a view with two dimensions exchanged."""
        order = list(range(self.ndim))
        first, second = normalize_dim(dim0, self.ndim), normalize_dim(dim1, self.ndim)
        if self.ndim:
            order[first], order[second] = order[second], order[first]
        return self.permute(*order)

    @property
    def T(self) -> Tensor:  # noqa: N802 - torch's name
        """The view with all dimensions in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    @property
    def mT(self) -> Tensor:  # noqa: N802 - torch's name
        """The view with the last two dimensions exchanged."""
        return self.transpose(-2, -1)

    def expand(self, *shape: Any) -> Tensor:
        """Return a view in which extents of 1 are repeated; -1 keeps an extent."""
        given = _unpack(shape)
        new = len(given) - self.ndim
        resolved = tuple(
            self.shape[d - new] if extent == -1 and d >= new else extent
            for d, extent in enumerate(given)
        )
        if any(extent < 0 for extent in resolved):
            raise ShapeError(f"expand() was given {tuple(given)} for shape {self.shape}.")
        return self if resolved == self.shape else movement.Expand.apply(self, resolved)

    def broadcast_to(self, shape: Sequence[builtins.int]) -> Tensor:
        """Return a view of another shape in which extents of 1 are repeated."""
        return self.expand(*shape)

    def squeeze(self, dim: Dims = None) -> Tensor:
        """Drop dimensions of extent 1: all of them, or those named that are."""
        named = range(self.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        normal = {normalize_dim(d, self.ndim) for d in named}
        return reductions.squeeze_dims(
            self, tuple(d for d in normal if self.ndim and self.shape[d] == 1)
        )

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """Return a view with a new dimension of extent 1 before `dim`."""
        d = normalize_dim(dim, self.ndim + 1)
        return self.view(*self.shape[:d], 1, *self.shape[d:])

    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """Return a view of `length` elements from `start` on along `dim`."""
        d = normalize_dim(dim, self.ndim)
        if start < 0 or length < 0 or start + length > self.shape[d]:
            raise ShapeError(
                f"narrow() of {length} element(s) from {start} on does not lie in dimension "
                f"{dim} with {self.shape[d]}."
            )
        return self[(slice(None),) * d + (slice(start, start + length),)]

    def flip(self, *dims: Any) -> Tensor:
        """Return a view with the order of elements reversed in some dimensions."""
        reverse = {normalize_dim(d, self.ndim) for d in _unpack(dims)}
        return self[tuple(slice(None, None, -1 if d in reverse else 1) for d in range(self.ndim))]

    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Return windows of `size` elements, `step` apart, as a new last dimension.

        Raises:
            ShapeError: the window is longer than the dimension, or `step` is not positive.
        """
        d = normalize_dim(dimension, self.ndim)
        if not 0 <= size <= self.shape[d] or step < 1:
            raise ShapeError(
                f"unfold() takes a size from 0 to {self.shape[d]} and a positive step; "
                f"{size} and {step} were given."
            )
        return movement.Unfold.apply(self, d, size, step)

    # --- Indexing -------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Tensor:
        """Return the elements that an index names; see `mt_tensor.indexing.get_item`."""
        return indexing.get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Store into the elements that an index names."""
        indexing.set_item(self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the slices of the first dimension."""
        if not self.shape:
            raise TypeError("a 0-dimensional tensor cannot be iterated over.")
        return (self[i] for i in range(len(self)))

    def gather(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return elements read along `dim`; see `mt_tensor.indexing.gather`."""
        return indexing.gather(self, dim, index)

    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """Return a copy with elements added; see `mt_tensor.indexing.scatter_add`."""
        return indexing.scatter_add(self, dim, index, src)

    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the slices along `dim` that a 1-D tensor of indices names."""
        return indexing.index_select(self, dim, index)

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """Return this tensor where the condition holds, and `other` elsewhere."""
        return elementwise("where", condition, self, other)

    def masked_fill(self, mask: Tensor, value: Number) -> Tensor:
        """Return a copy in which the elements under the mask are `value`."""
        return elementwise("where", mask, value, self).to(self.dtype)

    # --- Reductions -----------------------------------------------------------------------------

    def sum(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the sum over dimensions, all of them if none is named."""
        return reductions.sum(self, dim, keepdim)

    def mean(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the mean over dimensions, all of them if none is named.

        Raises:
            DTypeError: the elements are no floating-point numbers.
        """
        return reductions.mean(self, dim, keepdim)

    def var(
        self, dim: Dims = None, correction: builtins.int = 1, keepdim: builtins.bool = False
    ) -> Tensor:
        """Return the variance over dimensions: squared deviations over `n - correction`."""
        return reductions.var(self, dim, correction, keepdim)

    def std(
        self, dim: Dims = None, correction: builtins.int = 1, keepdim: builtins.bool = False
    ) -> Tensor:
        """Return the standard deviation over dimensions."""
        return self.var(dim, correction, keepdim).sqrt()

    def amax(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the largest element over dimensions; equal ones share the gradient."""
        return reductions.extreme("maximum", self, dim, keepdim)

    def amin(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the smallest element over dimensions; equal ones share the gradient."""
        return reductions.extreme("minimum", self, dim, keepdim)

    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the index of the first largest element, as int64."""
        return reductions.arg_extreme("maximum", self, dim, keepdim)

    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the index of the first smallest element, as int64."""
        return reductions.arg_extreme("minimum", self, dim, keepdim)

    def all(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return whether all elements are non-zero."""
        return reductions.logical("logical_and", self, dim, keepdim)

    def any(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return whether any element is non-zero."""
        return reductions.logical("logical_or", self, dim, keepdim)

    def sum_to_size(self, *shape: Any) -> Tensor:
        """Sum over the dimensions along which a tensor of `shape` would be broadcast to this.

        Raises:
            ShapeError: a tensor of `shape` does not broadcast to this one.
        """
        return reductions.sum_to_size(self, tuple(_unpack(shape)))

    def softmax(self, dim: builtins.int) -> Tensor:
        """Return exponentials along `dim`, scaled to add up to 1."""
        return reductions.softmax(self, dim)

    def log_softmax(self, dim: builtins.int) -> Tensor:
        """Return the logarithm of `softmax`, without overflow."""
        return reductions.log_softmax(self, dim)

    # --- Products -------------------------------------------------------------------------------

    def matmul(self, other: Tensor) -> Tensor:
        """Return the matrix product; see `mt_tensor.matmul`."""
        return matrix.matmul(self, other)

    def __matmul__(self, other: Tensor) -> Tensor:
        return _matmul(self, other)

    # --- Python's operators ---------------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _binary("div", other, self)

    def __pow__(self, other: Any) -> Tensor:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _binary("pow", other, self)

    def __neg__(self) -> Tensor:
        return elementwise("neg", self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return elementwise("abs", self)

    def __invert__(self) -> Tensor:
        return self._logical("logical_not")

    def __and__(self, other: Any) -> Tensor:
        return self._logical("logical_and", other)

    def __or__(self, other: Any) -> Tensor:
        return self._logical("logical_or", other)

    def _logical(self, name: str, *others: Any) -> Tensor:
        for operand in (self, *others):
            if isinstance(operand, Tensor) and operand.dtype.kind != "bool":
                raise DTypeError(
                    f"~, & and | work on bool tensors here; {operand.dtype.name} was given. "
                    "Compare first, as in (x > 0) & (y > 0)."
                )
        return elementwise(name, self, *others)

    def __lt__(self, other: Any) -> Tensor:
        return _binary("lt", self, other)

    def __le__(self, other: Any) -> Tensor:
        return _binary("le", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return _binary("gt", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return _binary("eq", self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return _binary("ne", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> builtins.bool:
        if self.numel() != 1:
            raise ShapeError(
                f"the truth of a tensor of shape {self.shape} is not defined: use x.any() or "
                "x.all()."
            )
        return builtins.bool(self.item())

    def __float__(self) -> builtins.float:
        return builtins.float(self.item())

    def __int__(self) -> builtins.int:
        return builtins.int(self.item())

    def __index__(self) -> builtins.int:
        if self.dtype.kind == "float":
            raise TypeError(f"a tensor of {self.dtype.name} cannot be used as an index.")
        return builtins.int(self.item())

    # --- In place -------------------------------------------------------------------------------

    def _check_in_place(self, *others: Any) -> None:
        recorded = is_grad_enabled() and builtins.any(
            isinstance(operand, Tensor) and operand.requires_grad for operand in (self, *others)
        )
        if recorded:
            raise InPlaceError(
                "an in-place change of, or with, a tensor that requires grad would make recorded "
                "gradients wrong: put it under no_grad(), or write x = x + y instead of x += y."
            )
        if 0 in (s for s, e in zip(self.stride(), self.shape, strict=True) if e > 1):
            raise InPlaceError(
                f"this tensor of shape {self.shape} repeats elements (strides {self.stride()}), "
                "so that changing one changes several: clone() it first."
            )

    def copy_(self, source: Any) -> Self:
        """Store the elements of `source`, broadcast and converted, and return self."""
        self._check_in_place(source)
        if not isinstance(source, Tensor):
            source = self._with(self.backend.upload(np.asarray(source)))
        if source.backend is not self.backend:
            source = source.detach().to(self.backend)
        data = self._aliasing_resolved(source)._tensor.expand(self.shape)
        if not _same_view(data, self._tensor):
            self.backend.copy(data, self._tensor)
        return self

    def fill_(self, value: Number) -> Self:
        """Store a number in every element, and return self."""
        return self.copy_(self._with(self.backend.full((), self.dtype, value)))

    def zero_(self) -> Self:
        """Store zero in every element, and return self."""
        return self.fill_(0)

    def _in_place(self, name: str, other: Any) -> Self:
        """Replace this tensor's elements by `operator(self, other)`."""
        self._check_in_place(other)
        dtype = result_type(self, other)
        if dtype.kind != self.dtype.kind or (
            OPERATORS[name].result == "real" and not self.dtype.is_floating_point
        ):
            raise DTypeError(
                f"the result of {name} is {dtype.name if dtype.kind == 'float' else 'float32'} "
                f"and cannot be stored in place in {self.dtype.name}: convert first."
            )
        if not isinstance(other, Tensor):
            other = self._with(self.backend.full((), self.dtype, other))
        if other.backend is not self.backend:
            raise BackendMismatchError(
                f"tensors of backends {self.backend.name!r} and {other.backend.name!r} meet in "
                f"one operation: move one of them, for example with x.to({self.backend.name!r})."
            )
        if shape_broadcast(self.shape, other.shape) != self.shape:
            raise ShapeError(
                f"shape {other.shape} does not broadcast to {self.shape}, the shape of the "
                "tensor that is changed in place."
            )
        data = self._aliasing_resolved(other.detach().to(self.dtype))._tensor.expand(self.shape)
        self.backend.elementwise(OPERATORS[name].value, (self._tensor, data), (self._tensor,))
        return self

    def _aliasing_resolved(self, other: Tensor) -> Tensor:
        """Return `other`, or a copy of it if it overlaps this tensor without being the same."""
        shares = other._tensor.storage is self._tensor.storage
        return (
            other.detach().clone()
            if shares and not _same_view(other._tensor, self._tensor)
            else other
        )

    def add_(self, other: Any, alpha: Number = 1) -> Self:
        """Add `alpha * other` in place, and return self."""
        return self._in_place("add", other if alpha == 1 else other * alpha)

    def sub_(self, other: Any, alpha: Number = 1) -> Self:
        """Subtract `alpha * other` in place, and return self."""
        return self._in_place("sub", other if alpha == 1 else other * alpha)

    def mul_(self, other: Any) -> Self:
        """Multiply in place, and return self."""
        return self._in_place("mul", other)

    def div_(self, other: Any) -> Self:
        """Divide in place, and return self."""
        return self._in_place("div", other)

    __iadd__ = add_
    __isub__ = sub_
    __imul__ = mul_
    __itruediv__ = div_

    # --- Showing --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Show the elements as torch does."""
        body = np.array2string(
            self.backend.as_array(self._tensor), separator=", ", prefix="tensor(", precision=4
        )
        notes = [body]
        if self.dtype.name not in ("float32", "int64", "bool"):
            notes.append(f"dtype={self.dtype!r}")
        if self.history:
            notes.append(f"made by {self.history.name}")
        elif self.requires_grad:
            notes.append("requires_grad=True")
        return f"tensor({', '.join(notes)})"

    if TYPE_CHECKING:  # the table's methods are installed below, for each row of the table

        def __getattr__(self, name: str) -> Callable[..., Tensor]: ...

    else:

        def __getattr__(self, name: str) -> Any:
            # NumPy asks for protocols by such names all the time; a search would cost it dearly.
            hint = "" if name.startswith("__") else nearest(name, dir(type(self)))
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.{hint}")


class Cast(Function):
    """A contiguous copy with another element type, or the same."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dtype: DType) -> Tensor:
        ctx.dtype = x.dtype
        out = x.backend.allocate(x.shape, dtype)
        x.backend.copy(x._tensor, out)
        return x._with(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.to(ctx.dtype), None


class Move(Function):
    """A copy on another backend."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, backend: TensorBackend) -> Tensor:
        ctx.backend = x.backend
        elements = np.array(x.backend.as_array(x._tensor))  # a copy: memory is never shared
        return Tensor._make(backend.upload(elements), backend)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.to(ctx.backend), None


def _same_view(a: TensorData, b: TensorData) -> bool:
    return (
        a.storage is b.storage
        and a.shape == b.shape
        and a.strides == b.strides
        and a.offset == b.offset
        and a.dtype is b.dtype
    )


def _unpack(sizes: tuple[Any, ...]) -> Sequence[int]:
    """Accept `f(2, 3)` as well as `f((2, 3))`."""
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        return sizes[0]
    return sizes


def _is_dtype(name: str) -> bool:
    try:
        as_dtype(name)
    except DTypeError:
        return False
    return True


def _binary(name: str, left: Any, right: Any) -> Tensor:
    """Apply an operator, or leave it to the other operand's type if that is no number."""
    other = right if isinstance(left, Tensor) else left
    if not isinstance(other, Tensor | Number):
        return NotImplemented  # type: ignore[no-any-return]
    return LIFTED[name](left, right)


def _matmul(left: Tensor, right: Any) -> Tensor:
    if not isinstance(right, Tensor):
        return NotImplemented  # type: ignore[no-any-return]
    return matrix.matmul(left, right)


def _install(operator: Operator) -> None:
    """Make a row of the operator table a method, unless the class has its own."""
    if operator.name in Tensor.__dict__:
        return
    name = operator.name

    def method(self: Tensor, *others: Any) -> Tensor:
        return LIFTED[name](self, *others)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = f"Element by element: {operator.note}."
    setattr(Tensor, name, method)


OPERATORS.for_each(_install)
