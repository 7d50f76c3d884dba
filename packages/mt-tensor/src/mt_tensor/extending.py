"""What later stages, and other people's packages, build operations on tensors with.

It is the border of this stage. Beyond it, a package uses the names that users import: those of
`mt_tensor`, its errors, `mt_tensor.backends`, `mt_tensor.linalg` and `mt_tensor.autograd`, and for
its tests `mt_tensor.testing` and `mt_tensor.conformance`. Everything else may change without
notice. There is more for authors of backends in `mt_tensor.backends.extending`.

Some attributes belong to the border too, though their names begin with an underscore, since users
have no use for them.

Of a `Tensor`:
    `_tensor`: its elements, a `TensorData`.
    `Tensor._make(data, backend)`: a new tensor of elements, which nothing is recorded of.
    `_with(data)`: the same on this tensor's backend.
    `_full(shape, value, dtype=None)`: a new tensor there of one value.
    `_numbers()`: the elements as an array that NumPy computes with: bfloat16 as float32.
    `_uploaded(elements, dtype=None)`: a new tensor there of a NumPy array.
    `_computed(name, *arguments)`: the operator `name` of the table, in place and recorded.
    `_become(other)`: hold the elements of another tensor from now on, as a leaf.
    `backend`: where the elements are; `backend.kernel(name)` is its kernel for an operation.
Of a `TensorData`:
    `storage`, `shape`, `strides`, `offset`, `dtype`, `size`: the view, as the contract says.
    `array`: the view as an array of NumPy, on backends that are in the memory of this machine.
    `layout`: all but the storage; `layout.row_major` says whether elements lie in order.
    `TensorData.of(array, layout)`: a view of a new contiguous array of the layout
        `row_major(shape, dtype)`.
"""

# Shapes and strides.
from mt_tensor.core.strides import (
    Shape as Shape,
    Strides as Strides,
    folded_shape as folded_shape,
    is_integer as is_integer,
    normalize_dims as normalize_dims,
    shape_broadcast as shape_broadcast,
    size_of as size_of,
    strides_from_shape as strides_from_shape,
)

# Element types, beside `DType` and those that `mt_tensor` names.
from mt_tensor.core.dtypes import (
    DTYPES as DTYPES,
    Array as Array,
    Number as Number,
    as_dtype as as_dtype,
    as_number as as_number,
)

# Checking arguments: each question once, with one error and one wording.
from mt_tensor.core.arguments import (
    as_integer as as_integer,
    as_integers as as_integers,
    as_shape as as_shape,
    check_flags as check_flags,
    check_floating as check_floating,
)
from mt_tensor.checks import check_choice as check_choice, check_same_dtype as check_same_dtype
from mt_tensor.core.operands import (
    common_backend as common_backend,
    require_tensors as require_tensors,
)

# Where elements are: the arguments `backend=` and `device=`.
from mt_tensor.core.registry import Backend as Backend, Device as Device, place as place

# Making an operation, beside `Function`, `fuse` and `fused`: kernels, and useful steps.
from mt_tensor.core.kernels import register_kernels as register_kernels
from mt_tensor.core.named import FUSED as FUSED, GRADIENTS as GRADIENTS
from mt_tensor.kernels.fused import (
    FusedKernel as FusedKernel,
    Gradients as Gradients,
    Needs as Needs,
    Saved as Saved,
    by_kernel as by_kernel,
)
from mt_tensor.indexing.slices import gather_unchecked as gather_unchecked
from mt_tensor.recording.one_call import as_one_call as as_one_call

# Seeing what a program asks of backends.
from mt_tensor.tape import Call as Call, Tape as Tape, cached_constants as cached_constants
from mt_tensor.movement.apart import apart as apart
from mt_tensor.movement.padding import Embed as Embed
from mt_tensor.core.windows import Fold as Fold
from mt_tensor.pointwise.fusing import operator_of as operator_of
from mt_tensor.reductions.sums import wide as wide

# The precision that `autocast` asks for, where arguments are looked at.
from mt_tensor.core.extensions import BLOCKS as BLOCKS

# The recorded graph.
from mt_tensor.recording.hooks import RemovableHandle as RemovableHandle
from mt_tensor.core.graph import Node as Node

# Random numbers, beside `Generator` and `manual_seed`.
from mt_tensor.core.generator import numbers_of as numbers_of, use_generator as use_generator
from mt_tensor.randomness.state import fork_rng as fork_rng, generator as generator, seed as seed
