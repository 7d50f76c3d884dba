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
from mt_tensor import autograd, errors, linalg  # isort: skip
from mt_tensor.added_products import addbmm, addmm, addmv, addr, baddbmm
from mt_tensor.backends import (
    TensorBackend,
    backends,
    current_backend,
    get_backend,
    register_backend,
    use_backend,
)
from mt_tensor.contraction import tensordot
from mt_tensor.counting import bincount, unique, unique_consecutive
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
from mt_tensor.diagonals import diag, diagonal, tril, triu
from mt_tensor.einsum import einsum
from mt_tensor.elementwise import elementwise
from mt_tensor.extremes import amax, amin, aminmax, argmax, argmin
from mt_tensor.extremes import max as max
from mt_tensor.extremes import min as min
from mt_tensor.filling import (
    index_copy,
    index_fill,
    index_put,
    masked_scatter,
)
from mt_tensor.finding import masked_select, nonzero, take_along_dim
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
from mt_tensor.gradcheck import (
    grad_central_difference,
    grad_check,
    gradcheck,
    gradgradcheck,
)
from mt_tensor.indexing import gather, index_select, scatter_add
from mt_tensor.integers import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    div,
    divide,
    floor_divide,
    fmod,
    gcd,
    lcm,
    remainder,
    true_divide,
)
from mt_tensor.joining import atleast_1d, atleast_2d, cat, hstack, stack, vstack
from mt_tensor.matmul import matmul
from mt_tensor.movement import pad
from mt_tensor.movement_functions import (
    broadcast_to,
    flatten,
    flip,
    masked_fill,
    narrow,
    permute,
    reshape,
    squeeze,
    transpose,
    unsqueeze,
)
from mt_tensor.norms import norm
from mt_tensor.printing import get_printoptions, printoptions, set_printoptions
from mt_tensor.products import (
    bmm,
    chain_matmul,
    cosine_similarity,
    cross,
    dot,
    ger,
    inner,
    kron,
    matrix_power,
    mm,
    mv,
    outer,
    trace,
    vdot,
)
from mt_tensor.questions import (
    is_complex,
    is_floating_point,
    is_nonzero,
    is_same_size,
    is_signed,
    is_tensor,
    numel,
)
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
from mt_tensor.ranks import diff, kthvalue, msort, nanquantile, quantile
from mt_tensor.rearranging import (
    broadcast_tensors,
    meshgrid,
    movedim,
    repeat_interleave,
    roll,
    swapaxes,
    swapdims,
    tile,
)
from mt_tensor.reductions import mean, nanmean, nansum, prod
from mt_tensor.reductions import sum as sum
from mt_tensor.sampling import bernoulli, multinomial
from mt_tensor.scans import cummax, cummin, cumprod, cumsum, logcumsumexp
from mt_tensor.scattering import index_add, one_hot, scatter, scatter_reduce
from mt_tensor.softmax import log_softmax, logsumexp, softmax
from mt_tensor.sorting import argsort, median, sort, topk
from mt_tensor.splitting import chunk, split, tensor_split, unbind, unflatten
from mt_tensor.statistics import std, std_mean, var, var_mean
from mt_tensor.tensor_data import TensorData
from mt_tensor.truth import all as all
from mt_tensor.truth import any as any
from mt_tensor.truth import count_nonzero
from mt_tensor.turning import (
    adjoint,
    diag_embed,
    diagflat,
    fliplr,
    flipud,
    moveaxis,
    ravel,
    rot90,
    select,
    t,
)

__all__ = [
    "DType",
    "Function",
    "Generator",
    "Tensor",
    "TensorBackend",
    "TensorData",
    "__version__",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "adjoint",
    "amax",
    "amin",
    "aminmax",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "as_tensor",
    "atleast_1d",
    "atleast_2d",
    "autograd",
    "backends",
    "baddbmm",
    "bernoulli",
    "bincount",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bmm",
    "bool_",
    "broadcast_tensors",
    "broadcast_to",
    "cat",
    "chain_matmul",
    "chunk",
    "cosine_similarity",
    "count_nonzero",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "current_backend",
    "default_generator",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diff",
    "div",
    "divide",
    "dot",
    "einsum",
    "elementwise",
    "empty",
    "empty_like",
    "enable_grad",
    "errors",
    "eye",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "floor_divide",
    "fmod",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "fused",
    "gather",
    "gcd",
    "ger",
    "get_backend",
    "get_printoptions",
    "get_rng_state",
    "grad_central_difference",
    "grad_check",
    "gradcheck",
    "gradgradcheck",
    "hstack",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "initial_seed",
    "inner",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "kron",
    "kthvalue",
    "lcm",
    "linalg",
    "linspace",
    "log_softmax",
    "logcumsumexp",
    "logspace",
    "logsumexp",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_power",
    "mean",
    "median",
    "meshgrid",
    "mm",
    "moveaxis",
    "movedim",
    "msort",
    "multinomial",
    "mv",
    "nanmean",
    "nanquantile",
    "nansum",
    "narrow",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "numel",
    "one_hot",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "permute",
    "printoptions",
    "prod",
    "promote_types",
    "quantile",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "register_backend",
    "remainder",
    "repeat_interleave",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "softmax",
    "sort",
    "split",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "swapaxes",
    "swapdims",
    "t",
    "take_along_dim",
    "tensor",
    "tensor_split",
    "tensordot",
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "uint8",
    "unbind",
    "unflatten",
    "uniform",
    "unique",
    "unique_consecutive",
    "unsqueeze",
    "use_backend",
    "var",
    "var_mean",
    "vdot",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]


def where(condition: Tensor, input: Tensor | float, other: Tensor | float) -> Tensor:
    """Return `input` where the condition holds, and `other` elsewhere, broadcast together."""
    return elementwise("where", condition, input, other)
