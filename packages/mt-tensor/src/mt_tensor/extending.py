"""The extension interface: names for packages that define operations on tensors.

Packages may also use the names that users import: those of `mt_tensor`, its errors,
`mt_tensor.backends`, `mt_tensor.linalg` and `mt_tensor.autograd`, and for their tests
`mt_tensor.testing` and `mt_tensor.conformance`. Everything else may change without notice. Authors
of backends find more in `mt_tensor.backends.extending`.

The interface includes attributes whose names start with an underscore, since users do not need
them.

Attributes of a `Tensor`:
    `_tensor`: its data, a `TensorData`.
    `Tensor._make(data, backend)`: return a new tensor without history.
    `_with(data)`: the same, on this tensor's backend.
    `_full(shape, value, dtype=None)`: return a new tensor filled with a value, on this
        tensor's backend.
    `_numbers()`: return the elements as a NumPy array; bfloat16 becomes float32.
    `_uploaded(elements, dtype=None)`: return a new tensor from a NumPy array, on this
        tensor's backend.
    `_computed(name, *arguments)`: overwrite the tensor with the result of its method `name`, and
        record the change.
    `_become(other)`: become a leaf with the elements of another tensor.
    `backend`: its backend; `backend.kernel(name)` returns the kernel for an operation, or None.
Attributes of a `TensorData`:
    `storage`, `shape`, `strides`, `offset`, `dtype`, `size`: the view; see the contract.
    `array`: the view as a NumPy array, on backends in host memory.
    `layout`: everything except the storage; `layout.row_major` is whether it is row-major.
    `TensorData.of(array, layout)`: return a view of a new contiguous array with the layout
        `row_major(shape, dtype)`.
"""

# Shapes and strides.
from mt_tensor.core.strides import (
    Shape as Shape,
    Strides as Strides,
    reduce_shape as reduce_shape,
    is_integer as is_integer,
    normalize_dims as normalize_dims,
    shape_broadcast as shape_broadcast,
    size_of as size_of,
    strides_from_shape as strides_from_shape,
)

# Dtypes, besides those that `mt_tensor` exports.
from mt_tensor.core.dtypes import (
    DTYPES as DTYPES,
    Array as Array,
    Number as Number,
    as_dtype as as_dtype,
    as_number as as_number,
)

# Argument checks.
from mt_tensor.core.arguments import (
    as_integer as as_integer,
    check_addressable as check_addressable,
    as_integers as as_integers,
    as_shape as as_shape,
    check_flags as check_flags,
    check_floating as check_floating,
)
from mt_tensor.core.operands import (
    common_backend as common_backend,
    require_tensors as require_tensors,
)

# The arguments `backend=` and `device=`.
from mt_tensor.core.registry import Backend as Backend, Device as Device, as_backend as as_backend

# Defining operations, besides `Function`, `fuse` and `fused`: kernels and helpers.
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

# Intercepting backend calls.
from mt_tensor.tape import (
    Call as Call,
    Tape as Tape,
    active_tapes as active_tapes,
    cached_constants as cached_constants,
)
from mt_tensor.programs.storages import storage_key as storage_key
from mt_tensor.movement.copying import copy_if_aliased as copy_if_aliased
from mt_tensor.movement.padding import Embed as Embed
from mt_tensor.core.windows import Fold as Fold
from mt_tensor.pointwise.fusing import operator_of as operator_of
from mt_tensor.reductions.sums import wide as wide

# Active `autocast` blocks.
from mt_tensor.core.extensions import AUTOCAST_BLOCKS as AUTOCAST_BLOCKS

# The computation graph.
from mt_tensor.recording.hooks import RemovableHandle as RemovableHandle
from mt_tensor.core.graph import Node as Node

# Random numbers, besides `Generator` and `manual_seed`.
from mt_tensor.core.generator import (
    drawing as drawing,
    numbers_of as numbers_of,
    use_generator as use_generator,
)
from mt_tensor.randomness.state import fork_rng as fork_rng, generator as generator, seed as seed
