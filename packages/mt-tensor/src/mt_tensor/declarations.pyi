"""The methods of `Tensor`, for type checkers; `mt declare` writes this file."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from mt_operators import Operator
from mt_tensor.backends.devices import Backend
from mt_tensor.backends.devices import Device
from mt_tensor.backends.devices import device as Place
from mt_tensor.dtypes import Array
from mt_tensor.dtypes import DType
from mt_tensor.dtypes import Number
from mt_tensor.library.autograd.gradients import Tensors
from mt_tensor.library.creation.from_tensors import Options
from mt_tensor.library.indexing.selection import ValuesAndIndices
from mt_tensor.library.linalg.systems import SignAndLogarithm
from mt_tensor.library.movement.rearranging import Ints
from mt_tensor.library.pointwise.integers import RoundingMode
from mt_tensor.library.randomness.generator import Generator
from mt_tensor.library.recording.hooks import Hook
from mt_tensor.library.recording.hooks import RemovableHandle
from mt_tensor.library.reductions.extremes import MinMax
from mt_tensor.pointwise.table_functions import Operand
from mt_tensor.recording.graph import Node
from mt_tensor.recording.linear import ViewFunction
from mt_tensor.reductions.sums import Dims
from mt_tensor.strides import Shape
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData
from typing import Any
from typing import Self
from typing import Unpack
import builtins
import threading

class Methods:
    @property
    def H(self) -> Tensor:
        """The transpose of a matrix: its adjoint, as its elements are real."""
    @property
    def T(self) -> Tensor:
        """The view with all dimensions in reverse order."""
    def __abs__(self) -> Tensor:
        """Element by element: |x|; derivative 0 at 0."""
    def __add__(self, other: Any) -> Tensor:
        """Element by element: x + y."""
    def __and__(self, other: Any) -> Tensor:
        """Element by element: the bits that both have."""
    def __array__(self, dtype: Any = ..., copy: builtins.bool | None = ...) -> Array:
        """Let NumPy read the elements."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Where the elements lie; only there if they can be shared."""
    def __array_wrap__(self, array: Array, context: Any = ..., return_scalar: builtins.bool = ...) -> Tensor:
        """Let what a function of NumPy computes of a tensor become one, on the same backend."""
    def __bool__(self) -> builtins.bool:
        ...
    def __contains__(self, element: Any) -> builtins.bool:
        """Whether any element equals a number, or one of a tensor that is broadcast."""
    def __copy__(self) -> Self:
        """Return a leaf of the same class with the same memory and gradient."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Where the elements lie on an NVIDIA GPU, in version 3; only there if they do."""
    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Self:
        """Return a leaf of the same class, with copies of the elements and of the gradient."""
    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        ...
    def __dlpack__(self, *, stream: Any = ..., max_version: tuple[builtins.int, builtins.int] | None = ..., dl_device: tuple[builtins.int, builtins.int] | None = ..., copy: builtins.bool | None = ...) -> Any:
        """Return a capsule through which another library shares the elements."""
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]:
        """Return DLPack's numbers for the device that the elements are on; (1, 0) is this machine."""
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        """Element by element: x == y; nan equals nothing."""
    def __float__(self) -> builtins.float:
        ...
    def __floordiv__(self, other: Any) -> Tensor:
        """Element by element: x / y rounded down; derivative 0."""
    def __format__(self, spec: str) -> str:
        """Format a 0-dimensional tensor like its number, any other only as a whole."""
    def __ge__(self, other: Any) -> Tensor:
        """Element by element: x >= y."""
    def __getitem__(self, key: Any) -> Tensor:
        """Return the elements that a key names."""
    def __gt__(self, other: Any) -> Tensor:
        """Element by element: x > y."""
    def __iadd__(self, other: Any, alpha: Number = ...) -> Self:
        """Add `alpha * other` in place, and return self."""
    def __iand__(self, other: Any) -> Self:
        """Store the result of `bitwise_and` in place."""
    def __ifloordiv__(self, other: Any) -> Self:
        """Store the result of `floor_divide` in place."""
    def __ilshift__(self, other: Any) -> Self:
        """Store the result of `bitwise_left_shift` in place."""
    def __imod__(self, other: Any) -> Self:
        """Store the result of `remainder` in place."""
    def __imul__(self, other: Any) -> Self:
        """Multiply in place, and return self."""
    def __index__(self) -> builtins.int:
        ...
    def __int__(self) -> builtins.int:
        ...
    def __invert__(self) -> Tensor:
        """Element by element: the bits that x lacks."""
    def __ior__(self, other: Any) -> Self:
        """Store the result of `bitwise_or` in place."""
    def __ipow__(self, other: Any) -> Self:
        """Store the result of `pow` in place."""
    def __irshift__(self, other: Any) -> Self:
        """Store the result of `bitwise_right_shift` in place."""
    def __isub__(self, other: Any, alpha: Number = ...) -> Self:
        """Subtract `alpha * other` in place, and return self."""
    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the slices of the first dimension."""
    def __itruediv__(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Self:
        """Divide in place, rounded if asked for, and return self."""
    def __ixor__(self, other: Any) -> Self:
        """Store the result of `bitwise_xor` in place."""
    def __le__(self, other: Any) -> Tensor:
        """Element by element: x <= y."""
    def __len__(self) -> builtins.int:
        """Return the extent of the first dimension."""
    def __lshift__(self, other: Any) -> Tensor:
        """Element by element: the bits of x moved up by y places."""
    def __lt__(self, other: Any) -> Tensor:
        """Element by element: x < y."""
    def __matmul__(self, other: Tensor) -> Tensor:
        ...
    def __mod__(self, other: Any) -> Tensor:
        """Element by element: the remainder of x / y rounded down, with the sign of y."""
    def __mul__(self, other: Any) -> Tensor:
        """Element by element: x y."""
    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        """Element by element: x != y."""
    def __neg__(self) -> Tensor:
        """Element by element: -x."""
    def __or__(self, other: Any) -> Tensor:
        """Element by element: the bits that either has."""
    def __pos__(self) -> Tensor:
        ...
    def __pow__(self, exponent: Any) -> Self:
        """Element by element: x to the power y; nan for x < 0 unless y is an integer."""
    def __radd__(self, other: Any) -> Tensor:
        ...
    def __rand__(self, other: Any) -> Tensor:
        ...
    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        ...
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle elements and gradient; the backend goes by its name."""
    def __repr__(self) -> str:
        """Show the elements as torch does."""
    def __rfloordiv__(self, other: Any) -> Tensor:
        ...
    def __rlshift__(self, other: Any) -> Tensor:
        ...
    def __rmatmul__(self, other: Any) -> Tensor:
        ...
    def __rmod__(self, other: Any) -> Tensor:
        ...
    def __rmul__(self, other: Any) -> Tensor:
        ...
    def __ror__(self, other: Any) -> Tensor:
        ...
    def __rpow__(self, other: Any) -> Tensor:
        ...
    def __rrshift__(self, other: Any) -> Tensor:
        ...
    def __rshift__(self, other: Any) -> Tensor:
        """Element by element: the bits of x moved down by y places; its sign stays."""
    def __rsub__(self, other: Any) -> Tensor:
        ...
    def __rtruediv__(self, other: Any) -> Tensor:
        ...
    def __rxor__(self, other: Any) -> Tensor:
        ...
    def __setitem__(self, key: Any, value: Any) -> None:
        """Store `value`, broadcast and converted, into the elements that a key names."""
    def __sub__(self, other: Any) -> Tensor:
        """Element by element: x - y."""
    def __truediv__(self, other: Any) -> Tensor:
        """Element by element: x / y; IEEE 754's infinity or nan where y is zero."""
    def __xor__(self, other: Any) -> Tensor:
        """Element by element: the bits that exactly one has."""
    def _advanced_index(self, key: Any) -> Tensor:
        """Return the elements that a key names which holds more than integers, slices and None."""
    def _aliasing_resolved(self, other: Tensor) -> Tensor:
        """Return `other`, or a copy of it if it overlaps this tensor without being the same."""
    def _alone(self) -> threading.RLock:
        """Return what a thread must hold while it changes `_grad`, or the node of a view."""
    def _as_weights(self, gradient: Any) -> Tensor:
        """Return what a backward from this tensor is to start with."""
    def _backward_to(self, inputs: Tensors, gradient: Tensor | None, retain_graph: builtins.bool | None, create_graph: builtins.bool) -> None:
        """Do what `backward` does for some inputs alone."""
    def _become(self, other: Tensor) -> None:
        """Take over the elements of another tensor, as a leaf."""
    def _before_change(self) -> Tensor:
        """Return the tensor as it is now, in memory of its own: gradients may read it later."""
    def _change_is_recorded(self, *others: Any) -> builtins.bool:
        """Return whether a change in place of this tensor, with others, is to be recorded."""
    def _check_gradient(self, grad: Any) -> None:
        """Raise unless a tensor could be the gradient of this one."""
    def _check_in_place(self, *others: Any) -> builtins.bool:
        """Return whether a change in place of this tensor, with others, is to be recorded."""
    def _check_integers(self, name: str, given: Any, other: Tensor) -> None:
        """Raise if the operator `name` of integers would have no integer as result."""
    def _computed(self, name: str, *args: Any, **options: Any) -> Tensor:
        """Replace this tensor's elements by what an operation makes of it, in the promoted dtype."""
    def _directly_with(self, other: Any) -> TensorData | None:
        """Return the other operand, if nothing stands in the way of computing in this memory."""
    def _filled(self, values: Any) -> Tensor:
        ...
    def _in_place(self, name: str, other: Any) -> Tensor:
        """Replace this tensor's elements by `operator(self, other)`."""
    def _index_in(self, base: Tensor) -> Tensor:
        """Return which elements of its base a view shows, as a row of int64."""
    def _initialize(self, sizes_or_data: tuple[Any, ...]) -> None:
        ...
    def _moved_on(self, value: Tensor) -> None:
        """Take note that this tensor now holds the elements of `value`, and its history."""
    def _moved_to(self, node: Node | None) -> None:
        """Let another node stand for this tensor; what keeps its gradient goes along."""
    def _note_base(self, args: Sequence[Any]) -> None:
        """Take note of which argument a function's result is a view of: one whose memory it shares."""
    def _numbers(self) -> Array:
        """Return the elements as an array that NumPy computes with: bfloat16 as float32."""
    def _operate_foreign(self, operator: Operator, other: Any) -> Any:
        """Return what this tensor and, on its right, what is neither tensor nor number give."""
    def _part_of(self, shape: Shape, view: builtins.type[ViewFunction], *settings: Any) -> Any:
        """Return, from the gradient of a view, that of the whole."""
    def _reflect_foreign(self, operator: Operator, other: Any) -> Any:
        """Return what this tensor and, on its left, what is neither tensor nor number give."""
    def _refresh(self) -> None:
        """Give a view a new node if its memory has been changed since it got its last one."""
    def _reinterpreted(self, *shape: Any, size: Any = ..., dtype: Any = ...) -> Tensor:
        """Return a view of the same memory as elements of another type, without history."""
    def _replace(self, value: Tensor) -> Tensor:
        """Store the elements of a tensor of any dtype that broadcasts here, and record that."""
    def _stored(self, name: str, numbers: Iterable[Any]) -> Tensor:
        """Store numbers, row by row."""
    def _summed_in_place(self, name: str, other: Any, alpha: Number) -> Tensor:
        ...
    def _uploaded(self, elements: Array, dtype: DType | None = ...) -> Tensor:
        """Return an array as a constant tensor on the same backend, by default of its own dtype."""
    def abs(self) -> Tensor:
        """Element by element: |x|; derivative 0 at 0."""
    def abs_(self) -> Self:
        """Store the result of `abs` in place, and return self."""
    def absolute(self) -> Tensor:
        """Element by element: |x|; derivative 0 at 0."""
    def absolute_(self) -> Self:
        """Store the result of `abs` in place, and return self."""
    def acos(self) -> Tensor:
        """Element by element: the angle whose cosine is x."""
    def acos_(self) -> Self:
        """Store the result of `acos` in place, and return self."""
    def acosh(self) -> Tensor:
        """Element by element: the number whose hyperbolic cosine is x."""
    def acosh_(self) -> Self:
        """Store the result of `acosh` in place, and return self."""
    def add(self, other: Operand, *, alpha: Number = ...) -> Tensor:
        """Return `input + alpha other`."""
    def add_(self, other: Any, alpha: Number = ...) -> Self:
        """Add `alpha * other` in place, and return self."""
    def add_to_grad(self, derivative: Tensor) -> None:
        """Add a gradient to what is stored: of a leaf in its memory, unless that is recorded."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Tensor:
        """Return `beta * input + alpha * bmm(batch1, batch2).sum(0)`; see `addmm`."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Self:
        """Store the result of `addbmm` in place, and return self."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = ...) -> Tensor:
        """Return `input + value tensor1 / tensor2`."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = ...) -> Self:
        """Store the result of `addcdiv` in place, and return self."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = ...) -> Tensor:
        """Return `input + value tensor1 tensor2`."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = ...) -> Self:
        """Store the result of `addcmul` in place, and return self."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Tensor:
        """Return `beta * input + alpha * (mat1 @ mat2)`."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Self:
        """Store the result of `addmm` in place, and return self."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Tensor:
        """Return `beta * input + alpha * (mat @ vec)`, for shapes (n, m) and (m,); see `addmm`."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Self:
        """Store the result of `addmv` in place, and return self."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Tensor:
        """Return `beta * input + alpha * outer(vec1, vec2)`; see `addmm`."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Self:
        """Store the result of `addr` in place, and return self."""
    def adjoint(self) -> Tensor:
        """Return the view with the last two dimensions exchanged: of real numbers, the adjoint."""
    def all(self, dim: Dims = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return whether all elements over dimensions are non-zero: as bool, but uint8 of uint8."""
    def allclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> builtins.bool:
        """Return whether all elements are close; arguments and errors are those of `isclose`."""
    def amax(self, dim: Dims = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return the largest element over dimensions; equal ones share the gradient."""
    def amin(self, dim: Dims = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return the smallest element over dimensions; equal ones share the gradient."""
    def aminmax(self, *, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> MinMax:
        """Return the smallest and the largest elements along a dimension, or of all."""
    def any(self, dim: Dims = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return whether any element over dimensions is non-zero; arguments are those of `all`."""
    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Replace each element by what a function makes of it, and return self."""
    def arccos(self) -> Tensor:
        """Element by element: the angle whose cosine is x."""
    def arccos_(self) -> Self:
        """Store the result of `acos` in place, and return self."""
    def arccosh(self) -> Tensor:
        """Element by element: the number whose hyperbolic cosine is x."""
    def arccosh_(self) -> Self:
        """Store the result of `acosh` in place, and return self."""
    def arcsin(self) -> Tensor:
        """Element by element: the angle whose sine is x."""
    def arcsin_(self) -> Self:
        """Store the result of `asin` in place, and return self."""
    def arcsinh(self) -> Tensor:
        """Element by element: the number whose hyperbolic sine is x."""
    def arcsinh_(self) -> Self:
        """Store the result of `asinh` in place, and return self."""
    def arctan(self) -> Tensor:
        """Element by element: the angle whose tangent is x."""
    def arctan2(self, other: Any) -> Tensor:
        """Element by element: the angle of the point (x, y), from -pi to pi; derivatives 0 at the origin."""
    def arctan2_(self, other: Any) -> Self:
        """Store the result of `atan2` in place, and return self."""
    def arctan_(self) -> Self:
        """Store the result of `atan` in place, and return self."""
    def arctanh(self) -> Tensor:
        """Element by element: the number whose hyperbolic tangent is x."""
    def arctanh_(self) -> Self:
        """Store the result of `atanh` in place, and return self."""
    def argmax(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return the int64 index of the first largest element, along `dim` or of all in a row."""
    def argmin(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
        """Return the int64 index of the first smallest element, along `dim` or of all in a row."""
    def argsort(self, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool = ...) -> Tensor:
        """Return the int64 indices that sort along `dim`; see `sort`."""
    def argwhere(self) -> Tensor:
        """Return the indices of the elements that are not zero, one a row."""
    def asin(self) -> Tensor:
        """Element by element: the angle whose sine is x."""
    def asin_(self) -> Self:
        """Store the result of `asin` in place, and return self."""
    def asinh(self) -> Tensor:
        """Element by element: the number whose hyperbolic sine is x."""
    def asinh_(self) -> Self:
        """Store the result of `asinh` in place, and return self."""
    def atan(self) -> Tensor:
        """Element by element: the angle whose tangent is x."""
    def atan2(self, other: Any) -> Tensor:
        """Element by element: the angle of the point (x, y), from -pi to pi; derivatives 0 at the origin."""
    def atan2_(self, other: Any) -> Self:
        """Store the result of `atan2` in place, and return self."""
    def atan_(self) -> Self:
        """Store the result of `atan` in place, and return self."""
    def atanh(self) -> Tensor:
        """Element by element: the number whose hyperbolic tangent is x."""
    def atanh_(self) -> Self:
        """Store the result of `atanh` in place, and return self."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Tensor:
        """Return `beta * input + alpha * bmm(batch1, batch2)`; see `addmm`."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = ..., alpha: Number = ...) -> Self:
        """Store the result of `baddbmm` in place, and return self."""
    def bernoulli(self, p: builtins.float | None = ..., *, generator: Generator | None = ...) -> Tensor:
        """Return ones and zeros: each is one with the probability that `input` holds there."""
    def bernoulli_(self, p: Any = ..., *, generator: Generator | None = ...) -> Self:
        """Store ones with probability `p`, a number or a tensor, else zeros; return self."""
    def bfloat16(self) -> Tensor:
        """Return the tensor as bfloat16."""
    def bincount(self, weights: Tensor | None = ..., minlength: builtins.int = ...) -> Tensor:
        """Return how often each of the numbers 0, 1, 2, ... occurs."""
    def bitwise_and(self, other: Any) -> Tensor:
        """Element by element: the bits that both have."""
    def bitwise_and_(self, other: Any) -> Self:
        """Store the result of `bitwise_and` in place, and return self."""
    def bitwise_left_shift(self, other: Any) -> Tensor:
        """Element by element: the bits of x moved up by y places."""
    def bitwise_left_shift_(self, other: Any) -> Self:
        """Store the result of `bitwise_left_shift` in place, and return self."""
    def bitwise_not(self) -> Tensor:
        """Element by element: the bits that x lacks."""
    def bitwise_not_(self) -> Self:
        """Store the result of `bitwise_not` in place, and return self."""
    def bitwise_or(self, other: Any) -> Tensor:
        """Element by element: the bits that either has."""
    def bitwise_or_(self, other: Any) -> Self:
        """Store the result of `bitwise_or` in place, and return self."""
    def bitwise_right_shift(self, other: Any) -> Tensor:
        """Element by element: the bits of x moved down by y places; its sign stays."""
    def bitwise_right_shift_(self, other: Any) -> Self:
        """Store the result of `bitwise_right_shift` in place, and return self."""
    def bitwise_xor(self, other: Any) -> Tensor:
        """Element by element: the bits that exactly one has."""
    def bitwise_xor_(self, other: Any) -> Self:
        """Store the result of `bitwise_xor` in place, and return self."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Return the products of matrices (b, n, m) and (b, m, k), of shape (b, n, k)."""
    def bool(self) -> Tensor:
        """Return the tensor as bool."""
    def broadcast_to(self, *shape: Any, size: Any = ...) -> Tensor:
        """Return a view of another shape in which extents of 1 are repeated."""
    def byte(self) -> Tensor:
        """Return the tensor as uint8."""
    def ceil(self) -> Tensor:
        """Element by element: the smallest integer not below x; derivative 0."""
    def ceil_(self) -> Self:
        """Store the result of `ceil` in place, and return self."""
    def celu(self, alpha: Number = ...) -> Tensor:
        """Return `input` where it is positive, and `alpha (exp(input / alpha) - 1)` elsewhere."""
    def char(self) -> Tensor:
        """Return the tensor as int8."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """Return at most `chunks` views of equal length along a dimension; the last may be shorter."""
    def clamp(self, min: Operand | None = ..., max: Operand | None = ...) -> Tensor:
        """Return `input`, but at least `min` and at most `max`, which wins over `min`."""
    def clamp_(self, min: Operand | None = ..., max: Operand | None = ...) -> Self:
        """Store the result of `clamp` in place, and return self."""
    def clamp_max(self, max: Operand) -> Tensor:
        """Return `input`, but at most `max`; see `clamp`."""
    def clamp_max_(self, max: Operand) -> Self:
        """Store the result of `clamp_max` in place, and return self."""
    def clamp_min(self, min: Operand) -> Tensor:
        """Return `input`, but at least `min`; see `clamp`."""
    def clamp_min_(self, min: Operand) -> Self:
        """Store the result of `clamp_min` in place, and return self."""
    def clip(self, min: Operand | None = ..., max: Operand | None = ...) -> Tensor:
        """Return `input`, but at least `min` and at most `max`, which wins over `min`."""
    def clip_(self, min: Operand | None = ..., max: Operand | None = ...) -> Self:
        """Store the result of `clamp` in place, and return self."""
    def clone(self) -> Tensor:
        """Return a contiguous copy that the gradient flows through."""
    def contiguous(self) -> Tensor:
        """Return the tensor itself if it is contiguous, else a contiguous copy."""
    def copy_(self, source: Any) -> Self:
        """Store the elements of `source`, broadcast and converted, and return self."""
    def copysign(self, other: Any) -> Tensor:
        """Element by element: |x| with the sign of y, of a zero too; derivative 0 where x is 0."""
    def copysign_(self, other: Any) -> Self:
        """Store the result of `copysign` in place, and return self."""
    def corrcoef(self) -> Tensor:
        """Return the correlation coefficients of variables: covariances by standard deviations."""
    def cos(self) -> Tensor:
        """Element by element: cosine, x in radians."""
    def cos_(self) -> Self:
        """Store the result of `cos` in place, and return self."""
    def cosh(self) -> Tensor:
        """Element by element: hyperbolic cosine."""
    def cosh_(self) -> Self:
        """Store the result of `cosh` in place, and return self."""
    def count_nonzero(self, dim: Dims = ...) -> Tensor:
        """Return the number of non-zero elements over dimensions, as int64."""
    def cov(self, *, correction: builtins.float = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ...) -> Tensor:
        """Return the covariances of variables: the mean products of deviations from their means."""
    def cpu(self) -> Tensor:
        """Return the tensor itself if it is in the memory of this machine, else a copy there."""
    def cross(self, other: Tensor, dim: builtins.int | None = ...) -> Tensor:
        """Return the cross products of vectors of three elements, which stand at a right angle to both."""
    def cuda(self, device: Device = ..., non_blocking: builtins.bool = ...) -> Tensor:
        """Return the tensor itself if it is on the GPU, else a copy there."""
    def cummax(self, dim: builtins.int) -> ValuesAndIndices:
        """Return the largest elements so far along `dim`, and their indices as int64."""
    def cummin(self, dim: builtins.int) -> ValuesAndIndices:
        """Return the smallest elements so far along `dim`, and their indices as int64."""
    def cumprod(self, dim: builtins.int, dtype: Any = ...) -> Tensor:
        """Return running products along `dim`, in the shape of the input."""
    def cumprod_(self, dim: builtins.int, dtype: Any = ...) -> Self:
        """Store the result of `cumprod` in place, and return self."""
    def cumsum(self, dim: builtins.int, dtype: Any = ...) -> Tensor:
        """Return running sums along `dim`, in the shape of the input."""
    def cumsum_(self, dim: builtins.int, dtype: Any = ...) -> Self:
        """Store the result of `cumsum` in place, and return self."""
    @property
    def data(self) -> Tensor:
        """A tensor with the same memory and no history; setting it exchanges the elements."""
    @data.setter
    def data(self, data: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """Return the address of the first element, on its device; 0 if there is none."""
    def deg2rad(self) -> Tensor:
        """Return angles in radians from angles in degrees."""
    def deg2rad_(self) -> Self:
        """Store the result of `deg2rad` in place, and return self."""
    def det(self) -> Tensor:
        """Return the determinants of square matrices."""
    def detach_(self) -> Self:
        """Forget how the tensor was computed, and return it, a leaf that does not require grad."""
    @property
    def device(self) -> Place:
        """Where the elements are, by torch's word for it."""
    def diag(self, diagonal: builtins.int = ...) -> Tensor:
        """Return the matrix with a 1-D tensor on a diagonal, or a copy of a diagonal of a matrix."""
    def diag_embed(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """Return matrices whose diagonals are the rows, along the last dimension, of `input`."""
    def diagflat(self, offset: builtins.int = ...) -> Tensor:
        """Return the matrix with all elements of `input` on a diagonal."""
    def diagonal(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """Return a view of a diagonal of two dimensions, as a new last dimension in their place."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """Return a copy of `input` with `src` in place of `input.diagonal(offset, dim1, dim2)`."""
    def diff(self, n: builtins.int = ..., dim: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ...) -> Tensor:
        """Return each element less the one before it along a dimension; of bool, whether they differ."""
    def digamma(self) -> Tensor:
        """Element by element: derivative of lgamma; nan at -1, -2, ..., infinite at 0."""
    def digamma_(self) -> Self:
        """Store the result of `digamma` in place, and return self."""
    def dim(self) -> builtins.int:
        """Return the number of dimensions."""
    def dist(self, other: Tensor, p: builtins.float = ...) -> Tensor:
        """Return the p-norm of `input - other`, a 0-D tensor; both are broadcast together."""
    def div(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Tensor:
        """Return `input / other`, element by element."""
    def div_(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Self:
        """Divide in place, rounded if asked for, and return self."""
    def divide(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Tensor:
        """Return `input / other`, element by element."""
    def divide_(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Self:
        """Divide in place, rounded if asked for, and return self."""
    def dot(self, tensor: Tensor) -> Tensor:
        """Return the sum of the products of two vectors' elements, a 0-D tensor."""
    def double(self) -> Tensor:
        """Return the tensor as float64."""
    def dsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> tuple[Tensor, ...]:
        """Return views in depth, along the third of three dimensions or more; see `hsplit`."""
    def element_size(self) -> builtins.int:
        """Return the number of bytes of one element."""
    def elu(self, alpha: Number = ...) -> Tensor:
        """Return `input` where it is positive, and `alpha (exp(input) - 1)` elsewhere."""
    def eq(self, other: Any) -> Tensor:
        """Element by element: x == y; nan equals nothing."""
    def eq_(self, other: Any) -> Self:
        """Store the result of `eq` in place, and return self."""
    def equal(self, other: Tensor) -> builtins.bool:
        """Return whether two tensors have one shape and equal elements; nan equals nothing."""
    def erf(self) -> Tensor:
        """Element by element: error function: the integral of 2 / sqrt(pi) exp(-t t) from 0 to x."""
    def erf_(self) -> Self:
        """Store the result of `erf` in place, and return self."""
    def erfc(self) -> Tensor:
        """Element by element: 1 - erf(x), exact also where erf(x) is almost 1."""
    def erfc_(self) -> Self:
        """Store the result of `erfc` in place, and return self."""
    def erfinv(self) -> Tensor:
        """Element by element: the number whose error function is y."""
    def erfinv_(self) -> Self:
        """Store the result of `erfinv` in place, and return self."""
    def exp(self) -> Tensor:
        """Element by element: e to the power x."""
    def exp2(self) -> Tensor:
        """Element by element: 2 to the power x."""
    def exp2_(self) -> Self:
        """Store the result of `exp2` in place, and return self."""
    def exp_(self) -> Self:
        """Store the result of `exp` in place, and return self."""
    def expand(self, *shape: Any, size: Any = ...) -> Tensor:
        """Return a view in which extents of 1 are repeated; -1 keeps an extent."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Return a view expanded to the shape of another tensor."""
    def expit(self) -> Tensor:
        """Element by element: 1 / (1 + exp(-x))."""
    def expit_(self) -> Self:
        """Store the result of `sigmoid` in place, and return self."""
    def expm1(self) -> Tensor:
        """Element by element: exp(x) - 1, for small x too."""
    def expm1_(self) -> Self:
        """Store the result of `expm1` in place, and return self."""
    def exponential_(self, lambd: builtins.float = ..., *, generator: Generator | None = ...) -> Self:
        """Store waiting times, on average `1 / lambd`, from the exponential distribution."""
    def fill_(self, value: Number | Tensor) -> Self:
        """Store a number, or that of a 0-D tensor, in every element, and return self."""
    def fill_diagonal_(self, fill_value: Number, wrap: builtins.bool = ...) -> Self:
        """Store a number where all indices are equal, and return self."""
    def fix(self) -> Tensor:
        """Element by element: x without its fraction; derivative 0."""
    def fix_(self) -> Self:
        """Store the result of `trunc` in place, and return self."""
    def flatten(self, start_dim: builtins.int = ..., end_dim: builtins.int = ...) -> Tensor:
        """Merge the dimensions from `start_dim` to `end_dim` into one; return self if it is one."""
    def flip(self, *axes: Any, dims: Any = ...) -> Tensor:
        """Return a copy with the order of elements reversed in some dimensions."""
    def fliplr(self) -> Tensor:
        """Return a copy with the columns, dimension 1, in reverse order."""
    def flipud(self) -> Tensor:
        """Return a copy with the rows, dimension 0, in reverse order."""
    def float(self) -> Tensor:
        """Return the tensor as float32."""
    def float_power(self, exponent: Operand) -> Tensor:
        """Return `input` to the power `exponent`, computed in float64."""
    def float_power_(self, exponent: Any) -> Self:
        """Raise to a power in place, and return self."""
    def floor(self) -> Tensor:
        """Element by element: the largest integer not above x; derivative 0."""
    def floor_(self) -> Self:
        """Store the result of `floor` in place, and return self."""
    def floor_divide(self, other: Any) -> Tensor:
        """Element by element: x / y rounded down; derivative 0."""
    def floor_divide_(self, other: Any) -> Self:
        """Store the result of `floor_divide` in place, and return self."""
    def fmax(self, other: Tensor) -> Tensor:
        """Return the larger, or the one that is no nan; of equal ones `input` has the derivative."""
    def fmin(self, other: Tensor) -> Tensor:
        """Return the smaller, or the one that is no nan; of equal ones `input` has the derivative."""
    def fmod(self, other: Any) -> Tensor:
        """Element by element: the remainder of x / y rounded towards zero, with the sign of x."""
    def fmod_(self, other: Any) -> Self:
        """Store the result of `fmod` in place, and return self."""
    def frac(self) -> Tensor:
        """Return what `input` has after the point, with its sign."""
    def frac_(self) -> Self:
        """Store the result of `frac` in place, and return self."""
    def gather(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return `input[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`."""
    def gcd(self, other: Tensor) -> Tensor:
        """Return the greatest common divisor of integers, not negative."""
    def gcd_(self, other: Tensor) -> Self:
        """Store the result of `gcd` in place, and return self."""
    def ge(self, other: Any) -> Tensor:
        """Element by element: x >= y."""
    def ge_(self, other: Any) -> Self:
        """Store the result of `ge` in place, and return self."""
    def gelu(self, approximate: str = ...) -> Tensor:
        """Return `input` times the share of the normal distribution below it."""
    def gelu_tanh(self) -> Tensor:
        """Element by element: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x x x))) / 2, which is close to gelu."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Return all products of an element of one vector and one of another: shape (n, m)."""
    def glu(self, dim: builtins.int = ...) -> Tensor:
        """Return the first half of a dimension times the sigmoid of the second half."""
    @property
    def grad_fn(self) -> Node | None:
        """The node of the tensor in the recorded graph; None for a leaf."""
    def greater(self, other: Any) -> Tensor:
        """Element by element: x > y."""
    def greater_(self, other: Any) -> Self:
        """Store the result of `gt` in place, and return self."""
    def greater_equal(self, other: Any) -> Tensor:
        """Element by element: x >= y."""
    def greater_equal_(self, other: Any) -> Self:
        """Store the result of `ge` in place, and return self."""
    def gt(self, other: Any) -> Tensor:
        """Element by element: x > y."""
    def gt_(self, other: Any) -> Self:
        """Store the result of `gt` in place, and return self."""
    def half(self) -> Tensor:
        """Return the tensor as float16."""
    def hardshrink(self, lambd: Number = ...) -> Tensor:
        """Return `input`, and 0 where it lies between `-lambd` and `lambd`; nan stays."""
    def hardsigmoid(self) -> Tensor:
        """Element by element: x / 6 + 1/2 between 0 and 1; derivative 0 at the kinks."""
    def hardswish(self) -> Tensor:
        """Element by element: x hardsigmoid(x); derivative 0 at -3 and 1 at 3."""
    def hardtanh(self, min_val: Number = ..., max_val: Number = ...) -> Tensor:
        """Return `input` between two bounds, at which its derivative is 0; see also `clamp`."""
    def heaviside(self, values: Tensor) -> Tensor:
        """Return 0 below zero, 1 above, and `values` at zero; 0 for nan."""
    def heaviside_(self, values: Tensor) -> Self:
        """Store the result of `heaviside` in place, and return self."""
    def histc(self, bins: builtins.int = ..., min: Number = ..., max: Number = ...) -> Tensor:
        """Return how many elements lie in each of equal parts of a range, as numbers of their dtype."""
    def hsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> tuple[Tensor, ...]:
        """Return views side by side: of vectors along their dimension, of others along the second."""
    def hypot(self, other: Any) -> Tensor:
        """Element by element: sqrt(x x + y y), also where squares overflow; derivatives 0 at the origin."""
    def hypot_(self, other: Any) -> Self:
        """Store the result of `hypot` in place, and return self."""
    def id(self) -> Tensor:
        """Element by element: the argument itself."""
    def index_add(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = ...) -> Tensor:
        """Return a copy of `input` with `alpha` times slice `i` of `source` added to slice `index[i]`."""
    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = ...) -> Self:
        """Store the result of `index_add` in place, and return self."""
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """Return a copy of `input` with slice `i` of `source` in place of slice `index[i]`."""
    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Self:
        """Store the result of `index_copy` in place, and return self."""
    def index_fill(self, dim: builtins.int, index: Tensor, value: Number | Tensor) -> Tensor:
        """Return a copy of `input` with a number in the slices that `index` names."""
    def index_fill_(self, dim: builtins.int, index: Tensor, value: Number | Tensor) -> Self:
        """Store the result of `index_fill` in place, and return self."""
    def index_put(self, indices: Sequence[Any], values: Tensor, accumulate: builtins.bool = ...) -> Tensor:
        """Return a copy of `input` with `values` at `input[indices]`."""
    def index_put_(self, indices: Sequence[Any], values: Tensor, accumulate: builtins.bool = ...) -> Self:
        """Store the result of `index_put` in place, and return self."""
    def index_reduce(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: str, *, include_self: builtins.bool = ...) -> Tensor:
        """Return a copy of `input` in which slice `index[i]` is reduced with slice `i` of `source`."""
    def index_reduce_(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: str, *, include_self: builtins.bool = ...) -> Self:
        """Store the result of `index_reduce` in place, and return self."""
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the slices of `input` along `dim` that a 1-D tensor of indices names."""
    def inner(self, other: Tensor) -> Tensor:
        """Return the dot products of all rows, along the last dimensions; of numbers, the product."""
    def int(self) -> Tensor:
        """Return the tensor as int32."""
    def inv(self) -> Tensor:
        """Element by element: 1 / x."""
    def inv_(self) -> Self:
        """Store the result of `inv` in place, and return self."""
    def inverse(self) -> Tensor:
        """Return the inverses of square matrices; see `linalg.inv`."""
    def is_close(self, other: Any) -> Tensor:
        """Element by element: |x - y| < 1/100."""
    def is_complex(self) -> builtins.bool:
        """Whether the elements are complex numbers, which tensors here never have."""
    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the elements are on a GPU of NVIDIA's."""
    def is_nonzero(self) -> builtins.bool:
        """Whether the only element is not zero."""
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape."""
    def is_signed(self) -> builtins.bool:
        """Whether the elements may be negative."""
    def isclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> Tensor:
        """Return whether `|input - other| <= atol + rtol |other|`, or the two are equal, as bool."""
    def isfinite(self) -> Tensor:
        """Element by element: whether x is neither infinite nor nan."""
    def isinf(self) -> Tensor:
        """Element by element: whether x is infinite."""
    def isnan(self) -> Tensor:
        """Element by element: whether x is nan."""
    def isneginf(self) -> Tensor:
        """Return which elements are -infinity, as bool."""
    def isposinf(self) -> Tensor:
        """Return which elements are infinity, as bool."""
    def item(self) -> Any:
        """Return the only element as a Python number."""
    @property
    def itemsize(self) -> builtins.int:
        """The number of bytes of one element."""
    def kron(self, other: Tensor) -> Tensor:
        """Return the Kronecker product: every element of `input` multiplied by all of `other`."""
    def kthvalue(self, k: builtins.int, dim: builtins.int = ..., keepdim: builtins.bool = ...) -> ValuesAndIndices:
        """Return the k-th smallest elements along a dimension, and the int64 indices they come from."""
    def lcm(self, other: Tensor) -> Tensor:
        """Return the least common multiple of integers, not negative; 0 if either is 0."""
    def lcm_(self, other: Tensor) -> Self:
        """Store the result of `lcm` in place, and return self."""
    def ldexp(self, other: Tensor) -> Tensor:
        """Return `input` times 2 to the power `other`."""
    def ldexp_(self, other: Tensor) -> Self:
        """Store the result of `ldexp` in place, and return self."""
    def le(self, other: Any) -> Tensor:
        """Element by element: x <= y."""
    def le_(self, other: Any) -> Self:
        """Store the result of `le` in place, and return self."""
    def leaky_relu(self, negative_slope: Number = ...) -> Tensor:
        """Return `input` where it is positive, and `negative_slope` times it elsewhere."""
    def lerp(self, end: Tensor, weight: Operand) -> Tensor:
        """Return the way from `input` to `end`, of which it goes the share `weight`."""
    def lerp_(self, end: Tensor, weight: Operand) -> Self:
        """Store the result of `lerp` in place, and return self."""
    def less(self, other: Any) -> Tensor:
        """Element by element: x < y."""
    def less_(self, other: Any) -> Self:
        """Store the result of `lt` in place, and return self."""
    def less_equal(self, other: Any) -> Tensor:
        """Element by element: x <= y."""
    def less_equal_(self, other: Any) -> Self:
        """Store the result of `le` in place, and return self."""
    def lgamma(self) -> Tensor:
        """Element by element: logarithm of the size of the gamma function; infinite at its poles 0, -1, -2, ...."""
    def lgamma_(self) -> Self:
        """Store the result of `lgamma` in place, and return self."""
    def log(self) -> Tensor:
        """Element by element: natural logarithm."""
    def log10(self) -> Tensor:
        """Element by element: logarithm to base 10."""
    def log10_(self) -> Self:
        """Store the result of `log10` in place, and return self."""
    def log1p(self) -> Tensor:
        """Element by element: log(1 + x), for small x too."""
    def log1p_(self) -> Self:
        """Store the result of `log1p` in place, and return self."""
    def log2(self) -> Tensor:
        """Element by element: logarithm to base 2."""
    def log2_(self) -> Self:
        """Store the result of `log2` in place, and return self."""
    def log_(self) -> Self:
        """Store the result of `log` in place, and return self."""
    def log_sigmoid(self) -> Tensor:
        """Element by element: log(sigmoid(x)), which would underflow."""
    def log_softmax(self, dim: builtins.int, dtype: Any = ...) -> Tensor:
        """Return `x - log(sum(exp(x)))` along `dim`: the logarithm of `softmax`, without overflow."""
    def logaddexp(self, other: Any) -> Tensor:
        """Element by element: log(exp(x) + exp(y)), which would overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """Return the logarithm to base 2 of `2 ** input + 2 ** other`."""
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """Return the logarithms of running sums of exponentials along `dim`, without overflow."""
    def logdet(self) -> Tensor:
        """Return the logarithms of determinants: nan where one is negative; see `slogdet`."""
    def logical_and(self, other: Any) -> Tensor:
        """Element by element: whether both are non-zero."""
    def logical_and_(self, other: Any) -> Self:
        """Store the result of `logical_and` in place, and return self."""
    def logical_not(self) -> Tensor:
        """Element by element: whether x is zero."""
    def logical_not_(self) -> Self:
        """Store the result of `logical_not` in place, and return self."""
    def logical_or(self, other: Any) -> Tensor:
        """Element by element: whether either is non-zero."""
    def logical_or_(self, other: Any) -> Self:
        """Store the result of `logical_or` in place, and return self."""
    def logical_xor(self, other: Any) -> Tensor:
        """Element by element: whether exactly one is non-zero."""
    def logical_xor_(self, other: Any) -> Self:
        """Store the result of `logical_xor` in place, and return self."""
    def logit(self, eps: builtins.float | None = ...) -> Tensor:
        """Return `log(input / (1 - input))`, the inverse of `sigmoid`."""
    def logit_(self, eps: builtins.float | None = ...) -> Self:
        """Store the result of `logit` in place, and return self."""
    def logsigmoid(self) -> Tensor:
        """Element by element: log(sigmoid(x)), which would underflow."""
    def logsumexp(self, dim: Dims, keepdim: builtins.bool = ...) -> Tensor:
        """Return `log(sum(exp(x)))` over dimensions, with the largest element subtracted first."""
    def long(self) -> Tensor:
        """Return the tensor as int64."""
    def lt(self, other: Any) -> Tensor:
        """Element by element: x < y."""
    def lt_(self, other: Any) -> Self:
        """Store the result of `lt` in place, and return self."""
    @property
    def mH(self) -> Tensor:
        """The view with the last two dimensions exchanged."""
    @property
    def mT(self) -> Tensor:
        """The view with the last two dimensions exchanged."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Self:
        """Replace each element by what a function makes of it and that of a tensor; return self."""
    def masked_fill(self, mask: Tensor, value: Number | Tensor) -> Tensor:
        """Return a copy in which the elements under the mask are `value`, a number or a 0-D tensor."""
    def masked_fill_(self, mask: Tensor, value: Number | Tensor) -> Self:
        """Store the result of `masked_fill` in place, and return self."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return a copy of `input` with the first elements of `source` where the mask holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """Store the result of `masked_scatter` in place, and return self."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements under a mask, as a 1-D copy; both are broadcast together."""
    def matmul(self, other: Tensor) -> Tensor:
        """Multiply as `torch.matmul` does."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """Return square matrices multiplied by themselves, `n` factors in all; 0 gives the identity."""
    def max(self, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Any:
        """Return the largest element, the largest along a dimension, or the larger of two tensors."""
    def maximum(self, other: Any) -> Tensor:
        """Element by element: the larger; nan if either is nan; derivative 1/2 for each of equal arguments."""
    def mean(self, dim: Dims = ..., keepdim: builtins.bool = ..., *, dtype: Any = ...) -> Tensor:
        """Return the sum over dimensions divided by the number of elements; nan of none."""
    def median(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Any:
        """Return the element in the middle of the order; the lower one of two, and nan if there is one."""
    def min(self, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Any:
        """Return the smallest element, the smallest along a dimension, or the smaller of two tensors."""
    def minimum(self, other: Any) -> Tensor:
        """Element by element: the smaller; nan if either is nan; derivative 1/2 for each of equal arguments."""
    def mish(self) -> Tensor:
        """Element by element: x tanh(softplus(x))."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Return the product of matrices (n, m) and (m, k), of shape (n, k)."""
    def mode(self, dim: builtins.int = ..., keepdim: builtins.bool = ...) -> ValuesAndIndices:
        """Return the elements that occur most often along a dimension, and where they stand last."""
    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Return a view with dimensions moved to other places; the rest keep their order."""
    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Return a view with dimensions moved to other places; the rest keep their order."""
    def msort(self) -> Tensor:
        """Return the elements in order along the first dimension."""
    def mul(self, other: Any) -> Tensor:
        """Element by element: x y."""
    def mul_(self, other: Any) -> Self:
        """Multiply in place, and return self."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = ..., *, generator: Generator | None = ...) -> Tensor:
        """Return indices drawn with probabilities in proportion to the weights in each row."""
    def multiply(self, other: Any) -> Tensor:
        """Element by element: x y."""
    def multiply_(self, other: Any) -> Self:
        """Multiply in place, and return self."""
    def mv(self, vec: Tensor) -> Tensor:
        """Return the product of a matrix (n, m) and a vector (m,), of shape (n,)."""
    def nan_to_num(self, nan: Number | None = ..., posinf: Number | None = ..., neginf: Number | None = ...) -> Tensor:
        """Return `input` with numbers for nan and the infinities; of integers, a copy."""
    def nan_to_num_(self, nan: Number | None = ..., posinf: Number | None = ..., neginf: Number | None = ...) -> Self:
        """Store the result of `nan_to_num` in place, and return self."""
    def nanmean(self, dim: Dims = ..., keepdim: builtins.bool = ..., *, dtype: Any = ...) -> Tensor:
        """Return the mean over dimensions of all elements but nan; nan where there is none."""
    def nanmedian(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Any:
        """Return the element in the middle of the order of all but nan; nan where there is none."""
    def nanquantile(self, q: Any, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: str = ...) -> Tensor:
        """Return quantiles of what is not nan; nan where nothing else is."""
    def nansum(self, dim: Dims = ..., keepdim: builtins.bool = ..., *, dtype: Any = ...) -> Tensor:
        """Return the sum over dimensions of all elements but nan; arguments are those of `sum`."""
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """Return a view of `length` elements along `dim`; `start` may count from the end."""
    def narrow_copy(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """Return a copy of `length` elements from `start` on along `dim`: what `narrow` views."""
    @property
    def nbytes(self) -> builtins.int:
        """The number of bytes of all elements, those that strides repeat counted again."""
    def ndimension(self) -> builtins.int:
        """Return the number of dimensions."""
    def ndtr(self) -> Tensor:
        """Element by element: the share of the normal distribution of mean 0 and variance 1 that lies below x."""
    def ne(self, other: Any) -> Tensor:
        """Element by element: x != y."""
    def ne_(self, other: Any) -> Self:
        """Store the result of `ne` in place, and return self."""
    def neg(self) -> Tensor:
        """Element by element: -x."""
    def neg_(self) -> Self:
        """Store the result of `neg` in place, and return self."""
    def negative(self) -> Tensor:
        """Element by element: -x."""
    def negative_(self) -> Self:
        """Store the result of `neg` in place, and return self."""
    def nelement(self) -> builtins.int:
        """Return the number of elements."""
    def new(self, *sizes_or_data: Any) -> Tensor:
        """Return a tensor of sizes or of data, of this element type and on this backend."""
    def new_empty(self, *sizes: Any, size: Any = ..., **options: Unpack[Options]) -> Tensor:
        """Return a tensor with arbitrary elements; see `mt_tensor.empty`."""
    def new_full(self, size: Sequence[builtins.int], fill_value: Any, **options: Unpack[Options]) -> Tensor:
        """Return a tensor in which every element is `fill_value`; see `mt_tensor.full`."""
    def new_ones(self, *sizes: Any, size: Any = ..., **options: Unpack[Options]) -> Tensor:
        """Return a tensor of ones; see `mt_tensor.ones`."""
    def new_tensor(self, data: Any, **options: Unpack[Options]) -> Tensor:
        """Return a new tensor with a copy of `data`; see `mt_tensor.tensor`."""
    def new_zeros(self, *sizes: Any, size: Any = ..., **options: Unpack[Options]) -> Tensor:
        """Return a tensor of zeros; see `mt_tensor.zeros`."""
    def nonzero(self, *, as_tuple: builtins.bool = ...) -> Tensor | tuple[Tensor, ...]:
        """Return where elements are not zero, in row-major order; nan is not zero."""
    def norm(self, p: builtins.float | str | None = ..., dim: Dims = ..., keepdim: builtins.bool = ..., dtype: Any = ...) -> Tensor:
        """Return the p-norm of the elements over dimensions: `sum(abs(x) ** p) ** (1 / p)`."""
    def normal_(self, mean: builtins.float = ..., std: builtins.float = ..., *, generator: Generator | None = ...) -> Self:
        """Store numbers from the normal distribution, and return self."""
    def not_equal(self, other: Any) -> Tensor:
        """Element by element: x != y."""
    def not_equal_(self, other: Any) -> Self:
        """Store the result of `ne` in place, and return self."""
    def numpy(self, *, force: builtins.bool = ...) -> Array:
        """Return the elements as a NumPy array, sharing memory where the backend allows it."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Return all products of an element of one vector and one of another: shape (n, m)."""
    def permute(self, *order: Any, dims: Any = ...) -> Tensor:
        """Return a view with the dimensions in another order."""
    def pinverse(self, rcond: builtins.float = ...) -> Tensor:
        """Return the Moore-Penrose inverses of matrices; see `linalg.pinv`."""
    def positive(self) -> Tensor:
        """Return `input`."""
    def pow(self, exponent: Operand) -> Tensor:
        """Return `input` to the power `exponent`: nan below 0 unless the exponent is whole."""
    def pow_(self, exponent: Operand) -> Self:
        """Store the result of `pow` in place, and return self."""
    def prelu(self, weight: Tensor) -> Tensor:
        """Return `input` where it is positive, and its channel's `weight` times it elsewhere."""
    def prod(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, dtype: Any = ...) -> Tensor:
        """Return the product over one dimension, or of all elements."""
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Tensor:
        """Return a copy of `input` with elements of `source` at places of the flattened tensor."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Self:
        """Store the result of `put` in place, and return self."""
    def quantile(self, q: Any, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: str = ...) -> Tensor:
        """Return the elements below which a share of all others lies; nan if there is a nan."""
    def quick_gelu(self) -> Tensor:
        """Element by element: x sigmoid(1.702 x), which is close to gelu."""
    def rad2deg(self) -> Tensor:
        """Return angles in degrees from angles in radians."""
    def rad2deg_(self) -> Self:
        """Store the result of `rad2deg` in place, and return self."""
    def random_(self, from_: builtins.int | None = ..., to: builtins.int | None = ..., *, generator: Generator | None = ...) -> Self:
        """Store whole numbers drawn evenly, and return self."""
    def ravel(self) -> Tensor:
        """Return all elements in one dimension, copying only if it must be."""
    def realize(self) -> Tensor:
        """Compute the elements if they are still to come, as in `lazy`; return the tensor."""
    def reciprocal(self) -> Tensor:
        """Element by element: 1 / x."""
    def reciprocal_(self) -> Self:
        """Store the result of `inv` in place, and return self."""
    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call a function with this tensor's gradient, each time that it is complete."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call a function with this leaf, each time that a gradient has been added to its `grad`."""
    def relu(self) -> Tensor:
        """Element by element: max(x, 0); derivative 0 at 0."""
    def relu6(self) -> Tensor:
        """Element by element: x between 0 and 6; derivative 0 at both."""
    def relu_(self) -> Self:
        """Store the result of `relu` in place, and return self."""
    def remainder(self, other: Any) -> Tensor:
        """Element by element: the remainder of x / y rounded down, with the sign of y."""
    def remainder_(self, other: Any) -> Self:
        """Store the result of `remainder` in place, and return self."""
    def repeat(self, *times: Any, repeats: Any = ...) -> Tensor:
        """Return copies laid beside each other, `times[d]` of them along dimension `d`."""
    def repeat_interleave(self, repeats: builtins.int | Tensor, dim: builtins.int | None = ..., *, output_size: builtins.int | None = ...) -> Tensor:
        """Return a copy in which each slice along a dimension is repeated, next to itself."""
    def reshape(self, *sizes: Any, shape: Any = ...) -> Tensor:
        """Return the same elements in another shape, copying only if it must be."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Return the same elements in the shape of another tensor."""
    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `grad`, though it is no leaf."""
    @property
    def retains_grad(self) -> builtins.bool:
        """Whether `grad` of this tensor, which is no leaf, is kept."""
    def roll(self, shifts: Ints, dims: Ints | None = ...) -> Tensor:
        """Return a copy with elements moved along dimensions; what leaves at the end enters in front."""
    def rot90(self, k: builtins.int = ..., dims: Any = ...) -> Tensor:
        """Return a copy turned by quarter turns, from the first of two dimensions to the second."""
    def round(self, *, decimals: builtins.int = ...) -> Tensor:
        """Return the nearest number of so many decimals, of two the even one; gradient 0."""
    def round_(self, *, decimals: builtins.int = ...) -> Self:
        """Store the result of `round` in place, and return self."""
    def rsqrt(self) -> Tensor:
        """Element by element: 1 / sqrt(x)."""
    def rsqrt_(self) -> Self:
        """Store the result of `rsqrt` in place, and return self."""
    def scatter(self, dim: builtins.int, index: Tensor, src: Tensor | Number | None = ..., *, value: Number | None = ..., reduce: str | None = ...) -> Tensor:
        """Return a copy of `input` with `src[i][j][k]` at `[i][index[i][j][k]][k]`, for `dim` 1 of 3."""
    def scatter_(self, dim: builtins.int, index: Tensor, src: Tensor | Number | None = ..., *, value: Number | None = ..., reduce: str | None = ...) -> Self:
        """Store the result of `scatter` in place, and return self."""
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """Return a copy of `input` with `src[i][j][k]` added at `[i][index[i][j][k]][k]`."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Self:
        """Store the result of `scatter_add` in place, and return self."""
    def scatter_reduce(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: str, *, include_self: builtins.bool = ...) -> Tensor:
        """Return a copy of `input` in which places along `dim` are reduced with what `src` brings."""
    def scatter_reduce_(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: str, *, include_self: builtins.bool = ...) -> Self:
        """Store the result of `scatter_reduce` in place, and return self."""
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """Return the slice at one index along a dimension, which is dropped, as a view."""
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """Return a copy of `input` with `src` in place of `input.select(dim, index)`."""
    def selu(self) -> Tensor:
        """Element by element: elu scaled so that mean 0 and variance 1 stay; the left derivative at 0."""
    def sgn(self) -> Tensor:
        """Element by element: 1, 0 or -1 as x is positive, zero or negative; derivative 0."""
    def sgn_(self) -> Self:
        """Store the result of `sign` in place, and return self."""
    def short(self) -> Tensor:
        """Return the tensor as int16."""
    def sigmoid(self) -> Tensor:
        """Element by element: 1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Self:
        """Store the result of `sigmoid` in place, and return self."""
    def sign(self) -> Tensor:
        """Element by element: 1, 0 or -1 as x is positive, zero or negative; derivative 0."""
    def sign_(self) -> Self:
        """Store the result of `sign` in place, and return self."""
    def signbit(self) -> Tensor:
        """Element by element: whether x is negative, as -0 is."""
    def silu(self) -> Tensor:
        """Element by element: x sigmoid(x), also called swish."""
    def sin(self) -> Tensor:
        """Element by element: sine, x in radians."""
    def sin_(self) -> Self:
        """Store the result of `sin` in place, and return self."""
    def sinc(self) -> Tensor:
        """Element by element: sin(pi x) / (pi x), and 1 at 0."""
    def sinc_(self) -> Self:
        """Store the result of `sinc` in place, and return self."""
    def sinh(self) -> Tensor:
        """Element by element: hyperbolic sine."""
    def sinh_(self) -> Self:
        """Store the result of `sinh` in place, and return self."""
    def size(self, dim: builtins.int | None = ...) -> Any:
        """Return the shape, or the extent of one dimension."""
    def slice_scatter(self, src: Tensor, dim: builtins.int = ..., start: builtins.int | None = ..., end: builtins.int | None = ..., step: builtins.int = ...) -> Tensor:
        """Return a copy of `input` with `src` in place of its slice from `start` to `end` along `dim`."""
    def slogdet(self) -> SignAndLogarithm:
        """Return the determinants of square matrices as signs, and logarithms of their sizes."""
    def softmax(self, dim: builtins.int, dtype: Any = ...) -> Tensor:
        """Return exponentials along `dim`, scaled to add up to 1."""
    def softplus(self, beta: Number = ..., threshold: Number = ...) -> Tensor:
        """Return `log(1 + exp(beta input)) / beta`, and `input` itself where it hardly differs."""
    def softshrink(self, lambd: Number = ...) -> Tensor:
        """Return `input` moved towards 0 by `lambd`, and 0 where it is nearer."""
    def softsign(self) -> Tensor:
        """Element by element: x / (1 + |x|)."""
    def sort(self, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool | None = ...) -> ValuesAndIndices:
        """Return the elements in order along `dim`, and the int64 indices they come from."""
    def split(self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """Return views of pieces along a dimension; see `mt_tensor.split`."""
    def split_with_sizes(self, split_sizes: Sequence[builtins.int], dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """Return views of pieces of the given lengths along a dimension; see `split`."""
    def sqrt(self) -> Tensor:
        """Element by element: square root."""
    def sqrt_(self) -> Self:
        """Store the result of `sqrt` in place, and return self."""
    def square(self) -> Tensor:
        """Return `input` times itself; of truth values as int64."""
    def square_(self) -> Self:
        """Store the result of `square` in place, and return self."""
    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
        """Drop dimensions of extent 1: all of them, or those named that are."""
    def squeeze_(self, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Self:
        """Become the view that `squeeze` returns, and return self."""
    def std(self, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: builtins.float | None = ...) -> Tensor:
        """Return the standard deviation over dimensions: the square root of the variance."""
    def storage_offset(self) -> builtins.int:
        """Return where in the storage the first element lies."""
    def stride(self, dim: builtins.int | None = ...) -> Any:
        """Return how many elements of the storage lie between neighbours in each dimension."""
    def sub(self, other: Operand, *, alpha: Number = ...) -> Tensor:
        """Return `input - alpha other`; the errors are those of `add`, and bool has no difference."""
    def sub_(self, other: Any, alpha: Number = ...) -> Self:
        """Subtract `alpha * other` in place, and return self."""
    def subtract(self, other: Operand, *, alpha: Number = ...) -> Tensor:
        """Return `input - alpha other`; the errors are those of `add`, and bool has no difference."""
    def subtract_(self, other: Any, alpha: Number = ...) -> Self:
        """Subtract `alpha * other` in place, and return self."""
    def sum(self, dim: Dims = ..., keepdim: builtins.bool = ..., *, dtype: Any = ...) -> Tensor:
        """Return the sum over dimensions."""
    def sum_to_size(self, *shape: Any, size: Any = ...) -> Tensor:
        """Return a tensor of `shape`: the sum over what broadcasting that shape to this one repeats."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Return a view with two dimensions exchanged, like `transpose`."""
    def swapaxes_(self, axis0: builtins.int, axis1: builtins.int) -> Self:
        """Become the view that `swapaxes` returns, and return self."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return a view with two dimensions exchanged, like `transpose`."""
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """Become the view that `swapdims` returns, and return self."""
    def t(self) -> Tensor:
        """Return the transpose of a matrix as a view; what has fewer dimensions as it is."""
    def t_(self) -> Self:
        """Become the view that `t` returns, and return self."""
    def take(self, index: Tensor) -> Tensor:
        """Return the elements at places of the flattened tensor, with the shape of `index`."""
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = ...) -> Tensor:
        """Return elements at positions along `dim`, as `argmax` or `argsort` give them."""
    def tan(self) -> Tensor:
        """Element by element: tangent, x in radians."""
    def tan_(self) -> Self:
        """Store the result of `tan` in place, and return self."""
    def tanh(self) -> Tensor:
        """Element by element: hyperbolic tangent."""
    def tanh_(self) -> Self:
        """Store the result of `tanh` in place, and return self."""
    def tanhshrink(self) -> Tensor:
        """Return `input - tanh(input)`."""
    def tensor_split(self, indices_or_sections: builtins.int | Sequence[builtins.int] | Tensor, dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """Return views along a dimension, cut before each index or into a number of even sections."""
    def threshold(self, threshold: Number, value: Number) -> Tensor:
        """Return `input` where it is above the threshold, and `value` elsewhere; nan stays."""
    def tile(self, *times: Any, dims: Any = ...) -> Tensor:
        """Return copies laid beside each other; missing numbers are 1, in front."""
    def to(self, target: Any = ..., dtype: Any = ..., copy: builtins.bool = ..., *, backend: Backend = ..., device: Device = ..., non_blocking: builtins.bool = ...) -> Tensor:
        """Return the tensor as another element type, in another place, or both."""
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
    def topk(self, k: builtins.int, dim: builtins.int = ..., largest: builtins.bool = ..., sorted: builtins.bool = ...) -> ValuesAndIndices:
        """Return the `k` largest elements along `dim`, and the int64 indices they come from."""
    def trace(self) -> Tensor:
        """Return the sum of a matrix's diagonal; that of integers is int64."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return a view with two dimensions exchanged."""
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """Become the view that `transpose` returns, and return self."""
    def tril(self, diagonal: builtins.int = ...) -> Tensor:
        """Return a copy with zeros above a diagonal of the last two dimensions."""
    def tril_(self, diagonal: builtins.int = ...) -> Self:
        """Store the result of `tril` in place, and return self."""
    def triu(self, diagonal: builtins.int = ...) -> Tensor:
        """Return a copy with zeros below a diagonal of the last two dimensions."""
    def triu_(self, diagonal: builtins.int = ...) -> Self:
        """Store the result of `triu` in place, and return self."""
    def true_divide(self, other: Any) -> Tensor:
        """Return `input / other`, by torch's older name."""
    def true_divide_(self, other: Any, *, rounding_mode: RoundingMode = ...) -> Self:
        """Divide in place, rounded if asked for, and return self."""
    def trunc(self) -> Tensor:
        """Element by element: x without its fraction; derivative 0."""
    def trunc_(self) -> Self:
        """Store the result of `trunc` in place, and return self."""
    def type(self, dtype: Any = ..., non_blocking: builtins.bool = ...) -> Tensor | str:
        """Return the tensor as another element type, or the name of its own if none is given."""
    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the element type of another."""
    def unbind(self, dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """Return views of all slices along a dimension, which they no longer have."""
    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
        """Return a view with one dimension spread over several; one of the sizes may be -1."""
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Return windows of `size` elements, `step` apart, as a new last dimension."""
    def uniform_(self, from_: builtins.float = ..., to: builtins.float = ..., *, generator: Generator | None = ...) -> Self:
        """Store numbers drawn evenly from `from_` (included) to `to` (excluded); return self."""
    def unique(self, sorted: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Any:
        """Return the different elements in order, each once; every nan is one of its own."""
    def unique_consecutive(self, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Any:
        """Return elements, or slices along `dim`, without those that equal the one before them."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """Return a view with a new dimension of extent 1 before `dim`."""
    def unsqueeze_(self, dim: builtins.int) -> Self:
        """Become the view that `unsqueeze` returns, and return self."""
    def var(self, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: builtins.float | None = ...) -> Tensor:
        """Return the variance over dimensions: squared deviations over `n - correction`."""
    def vdot(self, other: Tensor) -> Tensor:
        """Return what `dot` does, which would only differ on complex numbers."""
    def view(self, *shape: Any, size: Any = ..., dtype: DType | None = ...) -> Tensor:
        """Return the same elements in another shape, sharing memory; one extent may be -1."""
    def view_as(self, other: Tensor) -> Tensor:
        """Return a view in the shape of another tensor."""
    def vsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> tuple[Tensor, ...]:
        """Return views below each other, along the first of two dimensions or more; see `hsplit`."""
    def where(self, condition: Tensor, other: Any) -> Tensor:
        """Return this tensor where the condition holds, and `other` elsewhere; see `where`."""
    def xlogy(self, other: Any) -> Tensor:
        """Element by element: x log(y), and 0 where x is 0."""
    def xlogy_(self, other: Any) -> Self:
        """Store the result of `xlogy` in place, and return self."""
    def zero_(self) -> Self:
        """Store zero in every element, and return self."""
