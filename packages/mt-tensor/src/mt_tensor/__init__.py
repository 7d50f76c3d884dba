"""Stage 2: one operator over strided storage, and the contract that backends fulfil.

`Tensor` has torch's names and rules. Where its elements live, and how loops over them run, is the
business of a backend: `numpy` by default, `simple` to read, others from other packages.
"""

from mt_autodiff import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from mt_tensor.dtypes import (
    DType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    result_type,
    uint8,
)

__version__ = "0.1.0"

# The order below matters: `tensors` pulls in the operations it names.
from mt_tensor.tensors import Tensor  # isort: skip
from mt_tensor import errors  # isort: skip
from mt_tensor.backends import (
    TensorBackend,
    backends,
    current_backend,
    get_backend,
    register_backend,
    use_backend,
)
from mt_tensor.creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from mt_tensor.elementwise import elementwise
from mt_tensor.from_data import as_tensor, from_dlpack, from_numpy, tensor
from mt_tensor.function import Function
from mt_tensor.fused import fused
from mt_tensor.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    set_rng_state,
)
from mt_tensor.gradcheck import gradcheck
from mt_tensor.matmul import matmul
from mt_tensor.movement import cat, pad, stack
from mt_tensor.printing import get_printoptions, printoptions, set_printoptions
from mt_tensor.random import (
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    uniform,
)
from mt_tensor.reductions import log_softmax, softmax
from mt_tensor.sampling import bernoulli, multinomial
from mt_tensor.tensor_data import TensorData

__all__ = [
    "DType",
    "Function",
    "Generator",
    "Tensor",
    "TensorBackend",
    "TensorData",
    "__version__",
    "arange",
    "as_tensor",
    "backends",
    "bernoulli",
    "bool_",
    "cat",
    "current_backend",
    "default_generator",
    "elementwise",
    "empty",
    "empty_like",
    "enable_grad",
    "errors",
    "eye",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "fused",
    "get_backend",
    "get_printoptions",
    "get_rng_state",
    "gradcheck",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "linspace",
    "log_softmax",
    "logspace",
    "manual_seed",
    "matmul",
    "multinomial",
    "no_grad",
    "normal",
    "ones",
    "ones_like",
    "pad",
    "printoptions",
    "promote_types",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "register_backend",
    "result_type",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "softmax",
    "stack",
    "tensor",
    "uint8",
    "uniform",
    "use_backend",
    "where",
    "zeros",
    "zeros_like",
]


def where(condition: Tensor, input: Tensor | float, other: Tensor | float) -> Tensor:
    """Return `input` where the condition holds, and `other` elsewhere, broadcast together."""
    return elementwise("where", condition, input, other)
