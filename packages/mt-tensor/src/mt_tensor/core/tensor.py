"""The class `Tensor`.

A Tensor holds a `TensorData` (storage, shape and strides) and the backend of the storage. It is a
`Variable` of stage 1, and stage 1's `backpropagate` differentiates it unchanged. Names, arguments
and rules are torch's.

Operations are functions in the files that follow, which import `Tensor`; `methods.py` lists those
that are its methods.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, Self

from mt_autodiff import (
    GradientError,
    NoGradientError,
    backpropagate,
)
from mt_autodiff.core.mode import recording
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import DType, Number
from mt_tensor.core.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.core.extensions import ACTIVE_TAPES, EXTENSIONS
from mt_tensor.core.graph import Node
from mt_tensor.core.plans import ADD
from mt_tensor.core.strides import Shape, overlaps
from mt_tensor.core.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.methods import Methods
else:
    Methods = object

_new = object.__new__
_accumulating = threading.RLock()  # held while a thread adds to a `grad`

VIEW = 2
"""The value of `_requires_grad` for a view: "undetermined".

A recorded operation may still change its memory in place, so whether the view requires grad is
determined when it is needed. A `ViewFunction` (`linear.py`) sets it.
"""

CUSTOM_VIEW = 3
"""The value for a result of a user's `Function` that shares the memory of an argument.

Only the Function knows its gradient, so recording or differentiating it after an in-place change is
an error.
"""


class Tensor(Methods):
    """A multi-dimensional array of one dtype; create one with `mt_tensor.tensor(...)`.

    As in torch, `Tensor(2, 3)` is an uninitialized tensor of this shape and the default dtype, and
    `Tensor([2, 3])` has these elements.

    Attributes:
        backend: the backend that holds the elements and runs operations.
        requires_grad: whether `backward` computes the gradient with respect to this tensor.
        grad: the gradient that `backward` has accumulated, a tensor of the same shape, or None.
        name: a name for messages, or None.
    """

    __slots__ = (
        "__dict__",  # for attributes that programs set
        "__weakref__",
        "_base",
        "_grad",
        "_hooks",
        "_node",
        "_node_version",
        "_owned",
        "_requires_grad",
        "_tensor",
        "backend",
        "name",
    )

    _base: Tensor | None  # the tensor of which this is a view
    _grad: Tensor | None
    _hooks: Any  # hooks on its gradient, or None: see `recording/hooks.py`
    _node: Node | None
    _node_version: int  # for a view, the version of its memory that `_node` belongs to
    _owned: bool  # whether it is a gradient that nothing else refers to, which can become `grad`
    _requires_grad: bool | int  # or VIEW, CUSTOM_VIEW, which count as true: see `requires_grad`
    _tensor: TensorData
    backend: TensorBackend
    name: str | None

    __array_priority__ = 1000.0  # `array * tensor` calls `tensor.__rmul__`

    def __init__(self, *sizes_or_data: Any) -> None:
        self._initialize(sizes_or_data)

    @staticmethod
    def _make(data: TensorData, backend: TensorBackend) -> Tensor:
        """Return a tensor of these elements that does not require grad, without checks."""
        result: Tensor = _new(Tensor)
        result._tensor = data
        result.backend = backend
        result._node = result._base = result._grad = result._hooks = result.name = None
        result._requires_grad = result._owned = False
        return result

    def _become(self, other: Tensor) -> None:
        """Become a leaf with the elements of another tensor."""
        self._tensor = other._tensor
        self.backend = other.backend
        self._node = self._base = self._grad = self._hooks = self.name = None
        self._requires_grad = self._owned = False

    def _with(self, data: TensorData) -> Tensor:
        """Return a tensor of these elements on the backend of this one, without grad."""
        return Tensor._make(data, self.backend)

    def _full(self, shape: Shape, value: Number, dtype: DType | None = None) -> Tensor:
        """Return a tensor filled with a number, on the backend and by default of this dtype."""
        data = self.backend.full(shape, self.dtype if dtype is None else dtype, value)
        return Tensor._make(data, self.backend)

    # --- Properties -----------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The size of each dimension, a `Size`."""
        return self._tensor.layout.sizes

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._tensor.layout.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._tensor.layout.shape)

    def numel(self) -> int:
        """Return the number of elements."""
        return self._tensor.layout.size

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Return whether the elements are in row-major order without gaps.

        For another order, pass a memory format of torch.
        """
        if memory_format is not None:
            return EXTENSIONS["order of a memory format"](self, memory_format)  # type: ignore[no-any-return]
        return self._tensor.is_contiguous()

    def is_floating_point(self) -> bool:
        """Return whether the dtype is floating-point."""
        return self._tensor.layout.dtype.is_floating_point

    # --- The computation graph ------------------------------------------------------------------

    @property
    def history(self) -> Node | None:
        """The tensor's node in the computation graph; None for a leaf.

        After an in-place change of its memory, a view gets a new node; results computed from it
        before keep the old one.
        """
        outdated = self._requires_grad > 1 and self._node_version != self._tensor.version
        if outdated and "refresh a view" in EXTENSIONS:
            EXTENSIONS["refresh a view"](self)
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor is not the result of a recorded operation."""
        return self.history is None

    @property
    def variable(self) -> Any:
        """The vertex of the graph that represents this tensor: its node, or itself for a leaf."""
        node = self.history
        return self if node is None else node

    # --- Stage 1's Variable: the methods of a leaf that backpropagation calls --------------------

    unique_id = property(id, doc="A number that no other living tensor has.")

    parents: tuple[()] = ()
    """The variables that this leaf was computed from: none."""

    def is_constant(self) -> bool:
        """Return whether this tensor does not require grad."""
        flag = self._requires_grad
        return not (self.requires_grad if flag > 1 else flag)

    def completed(self, derivative: Any) -> Any:
        """Return the complete gradient, after hooks.

        Raises:
            GradientError: its shape differs, since the tensor's shape was changed in place.
        """
        if derivative._owned is None:  # a `ViewGradient`: see `Node.completed`
            derivative = derivative._dense()
        if derivative._tensor.layout.shape != self._tensor.layout.shape:
            raise GradientError(
                f"a tensor that had shape {derivative.shape} when it was used now has shape "
                f"{self.shape}; do not change its shape in place before backward()."
            )
        return derivative if self._hooks is None else self._hooks.apply(self, derivative)

    def accumulate_derivative(self, derivative: Any) -> Any:
        """Add the gradient to `grad`, if the tensor requires grad, and return the gradient.

        Raises:
            GradientError: the gradient has another shape, as for `completed`.
        """
        if (
            self._hooks is not None
            or derivative._owned is None
            or derivative._tensor.layout.shape != self._tensor.layout.shape
        ):
            derivative = self.completed(derivative)
        if self._requires_grad:
            self._store(derivative)
        return derivative

    def _store(self, derivative: Any) -> None:
        """Add to `grad`, and call the hooks that run afterwards."""
        if self._hooks is None:
            self.add_to_grad(derivative)
        else:
            self._hooks.accumulate(self, derivative)

    def add_to_grad(self, derivative: Tensor) -> None:
        """Add a gradient to `grad`; for a leaf in place, unless the addition is recorded."""
        with _accumulating:
            grad = self._grad
            if grad is not None:
                if self._node is None and not recording.get():
                    _add_in_place(grad, derivative)
                else:
                    self._grad = grad + derivative
            elif recording.get():
                self._grad = derivative.clone()
            elif derivative._owned:
                derivative._owned = False
                self._grad = derivative
            else:  # copy, since the gradient may share its memory with that of another leaf
                data, backend = derivative._tensor, self.backend
                self._grad = Tensor._make(backend.copy(data, data.layout.contiguous), backend)

    def chain_rule(
        self, derivative: Any, needed: Container[Any] | None = None, retain_graph: bool = True
    ) -> Iterable[tuple[Any, Any]]:
        """Return no parents: a leaf has none."""
        return ()

    def is_freed(self) -> bool:
        """Return False: a leaf has no graph that could be freed."""
        return False

    # --- Gradients ------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether `backward` computes the gradient with respect to this tensor."""
        flag = self._requires_grad
        return self.history is not None if flag > 1 else bool(flag)

    @requires_grad.setter
    def requires_grad(self, requires_grad: bool) -> None:
        if not self.is_leaf:
            raise NoGradientError(
                "requires_grad can only be set on leaves; use detach() on a tensor that was "
                "computed."
            )
        self.requires_grad_(requires_grad)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` has accumulated, a tensor of the same shape, or None."""
        return self._grad

    @grad.setter
    def grad(self, grad: Tensor | None) -> None:
        if grad is not None and "check of a gradient" in EXTENSIONS:
            EXTENSIONS["check of a gradient"](self, grad)
        self._grad = grad

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad`, and return self.

        Raises:
            DTypeError: the dtype is not floating-point.
            NoGradientError: the value is False, and the tensor is not a leaf.
            TypeError: `requires_grad` is not a bool.
        """
        check_flags(requires_grad=requires_grad)
        if requires_grad and not self.dtype.is_floating_point:
            raise DTypeError(
                f"only floating-point tensors can have a gradient; this one is {self.dtype.name}."
            )
        if not requires_grad and not self.is_leaf:
            raise NoGradientError(
                "requires_grad_(False) only applies to leaves; use detach() on a tensor that was "
                "computed."
            )
        if requires_grad != self.requires_grad:  # else a view remains a view
            self._requires_grad = requires_grad
            self._base = None  # a leaf, and no longer a view
        return self

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `grad` of every leaf that it was computed from.

        Args:
            gradient: the upstream gradient; may be omitted for a tensor of one element.
            retain_graph: whether to keep the graph for another backward pass; by default the value
                of `create_graph`.
            create_graph: whether to record the gradients, for higher derivatives.
            inputs: the tensors whose `grad` to add to, leaves or not; None for all leaves.

        Raises:
            NoGradientError: nothing was recorded, or `gradient` is missing.
            ShapeError: `gradient` has another shape.
            GraphFreedError: an earlier call freed the graph.
            TypeError: `retain_graph` or `create_graph` is not a bool.
        """
        keep = create_graph if retain_graph is None else retain_graph
        if (keep.__class__, create_graph.__class__) != (bool, bool):
            check_flags(retain_graph=keep, create_graph=create_graph)
        start = self.starting_gradient(gradient)
        if inputs is None:
            arguments = (self.history or self, start, keep, create_graph)
            if ACTIVE_TAPES.count:
                EXTENSIONS["backward on tape"](backpropagate, *arguments)
            else:
                backpropagate(*arguments)
            return
        EXTENSIONS["backward to inputs"](self, start, keep, create_graph, inputs)

    def starting_gradient(self, gradient: Tensor | None) -> Tensor:
        """Return the initial gradient of a backward pass: `gradient`, or 1 if it is None.

        Raises:
            NoGradientError: nothing was recorded, or `gradient` is missing.
            ShapeError: `gradient` has another shape.
        """
        if self._requires_grad is not True and not self.requires_grad:
            raise NoGradientError(
                "this tensor has no gradient: it was computed from tensors without requires_grad, "
                "or inside no_grad()."
            )
        if gradient is None:
            layout, backend = self._tensor.layout, self.backend
            one = Tensor._make(backend.full((), layout.dtype, 1), backend)
            if not layout.shape:
                return one
            if layout.size != 1:
                raise NoGradientError(
                    f"backward() of a tensor of shape {self.shape} needs gradient=, one value per "
                    "element: pass it, or reduce the tensor first, as in x.sum().backward()."
                )
            return one.expand(self.shape)
        if not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradient must be a tensor; {gradient!r} of type {type(gradient).__name__} was "
                "given."
            )
        if gradient.shape != self.shape:
            raise ShapeError(
                f"gradient has shape {gradient.shape}; it must have the tensor's, {self.shape}."
            )
        gradient._owned = False  # the caller refers to it
        return gradient._cast(self.dtype)

    def detach(self) -> Tensor:
        """Return a tensor with the same memory and no history."""
        return self._with(self._tensor)


def _add_in_place(grad: Tensor, derivative: Tensor) -> None:
    """Add a tensor of the same dtype to a gradient in place.

    Raises:
        GradientError: they have different shapes.
        InPlaceError: the gradient has repeated elements, as in `ones(1).expand(3)`.
    """
    data, added, backend = grad._tensor, derivative._tensor, grad.backend
    layout = data.layout
    if layout.shape != added.layout.shape:
        raise GradientError(
            f"grad has shape {layout.shape}, but the tensor, which was changed in place, now has "
            f"shape {added.layout.shape}: set grad to None after such a change."
        )
    if not layout.row_major and overlaps(layout.shape, layout.strides):
        raise InPlaceError(
            f"grad has shape {layout.shape} and strides {layout.strides}, which repeat elements: "
            "it cannot be changed in place. Assign a clone() of it."
        )
    if backend.same_memory(data.storage, added.storage):
        added = backend.copy(added, added.layout.contiguous)
    ADD.change(backend, (data,), data, added)
    data.bump_version()
