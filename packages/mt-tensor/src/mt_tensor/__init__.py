"""Stage 2: tensors, with operators over strided storage, and the contract that backends fulfil.

`Tensor` has torch's names and rules. A backend holds its elements and runs the loops over them:
`numpy` by default, `simple` to read, others from other packages. The methods of `Tensor` are listed
in `mt_tensor.methods`, the functions here.
"""

from importlib.util import find_spec as _find_spec

from mt_autodiff import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from mt_operators import OPERATORS as _OPERATORS
from mt_operators import Operator as _Operator
from mt_tensor.core.creation import rand, tensor, zeros
from mt_tensor.core.in_place import fuse_in_place
from mt_tensor.core.generator import Generator, default_generator, manual_seed
from mt_tensor.core.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mt_tensor.core.gathering import gather
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.rows import FUNCTIONS as _ROWS
from mt_tensor.core.rows import binary as _binary, unary as _unary
from mt_tensor.core.rows import (
    exp,
    expit,
    isnan,
    log,
    logical_and,
    logical_or,
    maximum,
    relu,
    sigmoid,
    sqrt,
    tanh,
)
from mt_tensor.core.matmul import matmul
from mt_tensor.core.named import fused
from mt_tensor.core.sums import mean, sum as sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.core import methods as _core_methods  # noqa: F401 - registers the methods of `Tensor`
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.registry import current_backend, get_backend, use_backend
from mt_tensor.core.kernels import register_kernels as _register_kernels

# What lies beside the core. The core works without it: `hatch run core:prove` deletes it.
if _find_spec("mt_tensor.methods") is not None:
    from mt_tensor.size import Size
    from mt_tensor.backends.devices import device
    import mt_tensor.emulation.bfloat16  # each of these registers in the core's tables
    import mt_tensor.emulation.exactness
    import mt_tensor.emulation.narrow
    import mt_tensor.large_arrays.blocks
    import mt_tensor.large_arrays.formulas
    import mt_tensor.large_arrays.updates
    import mt_tensor.pointwise.dtype_rules
    import mt_tensor.reductions.slices
    import mt_tensor.special.erf
    import mt_tensor.tape  # noqa: F401
    from mt_tensor import autograd, cuda, errors, linalg
    from mt_tensor.backends import backends  # the function, which has the name of the folder
    from mt_tensor.backends.listing import register_backend
    from mt_tensor import methods as _methods  # noqa: F401 - registers the methods of `Tensor`
    from mt_autodiff import inference_mode
    from mt_tensor.mixed_precision.autocast import autocast, get_autocast_dtype, is_autocast_enabled
    from mt_tensor.autograd.gradcheck import (
        grad_central_difference,
        grad_check,
        gradcheck,
        gradgradcheck,
    )
    from mt_tensor.creation.default_dtype import set_default_dtype
    from mt_tensor.creation.from_arrays import from_numpy
    from mt_tensor.creation.from_numbers import empty, full, ones
    from mt_tensor.creation.from_rules import (
        arange,
        eye,
        linspace,
        logspace,
        tril_indices,
        triu_indices,
    )
    from mt_tensor.creation.from_tensors import empty_like, full_like, ones_like, zeros_like
    from mt_tensor.creation.typed import (
        BFloat16Tensor,
        BoolTensor,
        ByteTensor,
        CharTensor,
        DoubleTensor,
        FloatTensor,
        HalfTensor,
        IntTensor,
        LongTensor,
        ShortTensor,
    )
    from mt_tensor.exchange.conversion import as_tensor
    from mt_tensor.exchange.dlpack import from_dlpack
    from mt_tensor.exchange.printing import get_printoptions, printoptions, set_printoptions
    from mt_tensor.indexing.filling import (
        diagonal_scatter,
        index_copy,
        index_fill,
        index_put,
        masked_scatter,
        put,
        select_scatter,
        slice_scatter,
    )
    from mt_tensor.indexing.finding import (
        argwhere,
        masked_select,
        nonzero,
        take,
        take_along_dim,
        unravel_index,
        where,
    )
    from mt_tensor.indexing.scattering import (
        index_add,
        index_reduce,
        one_hot,
        scatter,
        scatter_add,
        scatter_reduce,
    )
    from mt_tensor.indexing.slices import index_select
    from mt_tensor.limits import finfo, iinfo
    from mt_tensor.linalg.products import matrix_power
    from mt_tensor.linalg.systems import det, inverse, logdet, pinverse, slogdet
    from mt_tensor.movement.diagonals import diag, diagonal, tril, triu
    from mt_tensor.movement.functions import (
        broadcast_to,
        clone,
        detach,
        flatten,
        flip,
        masked_fill,
        narrow,
        permute,
        reshape,
        squeeze,
        transpose,
        unflatten,
        unsqueeze,
    )
    from mt_tensor.movement.joining import cat, concat, concatenate, stack
    from mt_tensor.movement.padding import pad
    from mt_tensor.movement.rearranging import (
        broadcast_shapes,
        broadcast_tensors,
        meshgrid,
        moveaxis,
        movedim,
        repeat_interleave,
        roll,
        swapaxes,
        swapdims,
        tile,
    )
    from mt_tensor.movement.splitting import (
        chunk,
        dsplit,
        hsplit,
        narrow_copy,
        split,
        split_with_sizes,
        tensor_split,
        unbind,
        vsplit,
    )
    from mt_tensor.movement.stacking import (
        atleast_1d,
        atleast_2d,
        atleast_3d,
        block_diag,
        cartesian_prod,
        column_stack,
        combinations,
        dstack,
        hstack,
        row_stack,
        vstack,
    )
    from mt_tensor.movement.turning import (
        adjoint,
        diag_embed,
        diagflat,
        fliplr,
        flipud,
        ravel,
        rot90,
        select,
        t,
    )
    from mt_tensor.order.counting import bincount, histc, unique, unique_consecutive
    from mt_tensor.order.ranks import diff, kthvalue, msort, nanquantile, quantile
    from mt_tensor.order.scans import cummax, cummin, cumprod, cumsum, logcumsumexp
    from mt_tensor.order.searching import bucketize, isin, searchsorted
    from mt_tensor.order.sorting import argsort, median, mode, nanmedian, sort, topk
    from mt_tensor.order.trapezoids import cumulative_trapezoid, trapezoid, trapz
    from mt_tensor.pointwise.activations import (
        celu,
        elu,
        gelu,
        glu,
        hardshrink,
        hardtanh,
        leaky_relu,
        prelu,
        softplus,
        softshrink,
        tanhshrink,
        threshold,
    )
    from mt_tensor.pointwise.comparing import allclose, equal, isclose, isneginf, isposinf
    from mt_tensor.pointwise.functions import (
        add,
        addcdiv,
        addcmul,
        clamp,
        clamp_max,
        clamp_min,
        clip,
        deg2rad,
        float_power,
        fmax,
        fmin,
        frac,
        heaviside,
        ldexp,
        lerp,
        logaddexp2,
        logit,
        nan_to_num,
        positive,
        pow as pow,
        rad2deg,
        round as round,
        square,
        sub,
        subtract,
    )
    from mt_tensor.pointwise.fusing import fuse
    from mt_tensor.pointwise import fusing_in_place as _fusing_in_place  # noqa: F401 - registers it
    from mt_tensor.pointwise.integers import div, divide, gcd, lcm, true_divide
    from mt_tensor.products.added import addbmm, addmm, addmv, addr, baddbmm
    from mt_tensor.products.contraction import tensordot
    from mt_tensor.products.distances import cdist, dist, pairwise_distance, pdist
    from mt_tensor.products.einsum import einsum
    from mt_tensor.products.precision import (
        get_float32_matmul_precision,
        set_float32_matmul_precision,
    )
    from mt_tensor.products.vectors import (
        bmm,
        chain_matmul,
        cosine_similarity,
        cross,
        dot,
        ger,
        inner,
        kron,
        mm,
        mv,
        outer,
        trace,
        vander,
        vdot,
    )
    from mt_tensor.programs.functions import compile as compile, lazy
    from mt_tensor.properties import (
        is_complex,
        is_floating_point,
        is_nonzero,
        is_same_size,
        is_signed,
        is_tensor,
        numel,
    )
    from mt_tensor.randomness.state import get_rng_state, initial_seed, set_rng_state
    from mt_tensor.randomness.random_tensors import (
        normal,
        rand_like,
        randint,
        randint_like,
        randn,
        randn_like,
        randperm,
        uniform,
    )
    from mt_tensor.randomness.sampling import bernoulli, multinomial
    from mt_tensor.recording.functions import Function
    from mt_tensor.reductions.extremes import (
        amax,
        amin,
        aminmax,
        argmax,
        argmin,
        max as max,
        min as min,
    )
    from mt_tensor.reductions.norms import norm
    from mt_tensor.reductions.softmax import log_softmax, logsumexp, softmax, softmin
    from mt_tensor.reductions.statistics import corrcoef, cov, std, std_mean, var, var_mean
    from mt_tensor.reductions.sums import nanmean, nansum, prod
    from mt_tensor.reductions.truth import all as all, any as any, count_nonzero

    # The rows of the operator table, beside those of the core
    abs = absolute = _unary("abs")
    acos = arccos = _unary("acos")
    acosh = arccosh = _unary("acosh")
    asin = arcsin = _unary("asin")
    asinh = arcsinh = _unary("asinh")
    atan = arctan = _unary("atan")
    atanh = arctanh = _unary("atanh")
    bitwise_not = _unary("bitwise_not")
    ceil = _unary("ceil")
    cos = _unary("cos")
    cosh = _unary("cosh")
    digamma = _unary("digamma")
    erf = _unary("erf")
    erfc = _unary("erfc")
    erfinv = _unary("erfinv")
    exp2 = _unary("exp2")
    expm1 = _unary("expm1")
    floor = _unary("floor")
    gelu_tanh = _unary("gelu_tanh")
    hardsigmoid = _unary("hardsigmoid")
    hardswish = _unary("hardswish")
    id = _unary("id")
    inv = reciprocal = _unary("inv")
    isfinite = _unary("isfinite")
    isinf = _unary("isinf")
    lgamma = _unary("lgamma")
    log10 = _unary("log10")
    log1p = _unary("log1p")
    log2 = _unary("log2")
    log_sigmoid = logsigmoid = _unary("log_sigmoid")
    logical_not = _unary("logical_not")
    mish = _unary("mish")
    ndtr = _unary("ndtr")
    neg = negative = _unary("neg")
    quick_gelu = _unary("quick_gelu")
    relu6 = _unary("relu6")
    rsqrt = _unary("rsqrt")
    selu = _unary("selu")
    sign = sgn = _unary("sign")
    signbit = _unary("signbit")
    silu = _unary("silu")
    sin = _unary("sin")
    sinc = _unary("sinc")
    sinh = _unary("sinh")
    softsign = _unary("softsign")
    tan = _unary("tan")
    trunc = fix = _unary("trunc")
    atan2 = arctan2 = _binary("atan2")
    bitwise_and = _binary("bitwise_and")
    bitwise_left_shift = _binary("bitwise_left_shift")
    bitwise_or = _binary("bitwise_or")
    bitwise_right_shift = _binary("bitwise_right_shift")
    bitwise_xor = _binary("bitwise_xor")
    copysign = _binary("copysign")
    eq = _binary("eq")
    floor_divide = _binary("floor_divide")
    fmod = _binary("fmod")
    ge = greater_equal = _binary("ge")
    gt = greater = _binary("gt")
    hypot = _binary("hypot")
    is_close = _binary("is_close")
    le = less_equal = _binary("le")
    logaddexp = _binary("logaddexp")
    logical_xor = _binary("logical_xor")
    lt = less = _binary("lt")
    minimum = _binary("minimum")
    mul = multiply = _binary("mul")
    ne = not_equal = _binary("ne")
    remainder = _binary("remainder")
    xlogy = _binary("xlogy")

    _register_kernels("numpy", "mt_tensor.kernels.numpy")

__version__ = "0.1.0"

bool, double, float, half, int, long, short = bool_, float64, float32, float16, int32, int64, int16


def _add_functions(row: _Operator) -> None:
    """Make a row that a program adds to the operator table a function of this module, too."""
    for name in (row.name, *row.aliases):
        globals().setdefault(name, _ROWS[name])


_OPERATORS.for_each(_add_functions)

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DType",
    "DoubleTensor",
    "FloatTensor",
    "Function",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "Size",
    "Tensor",
    "TensorBackend",
    "TensorData",
    "__version__",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addr",
    "adjoint",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_tensor",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autocast",
    "autograd",
    "backends",
    "baddbmm",
    "bernoulli",
    "bfloat16",
    "bincount",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "block_diag",
    "bmm",
    "bool_",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "celu",
    "chain_matmul",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "copysign",
    "corrcoef",
    "cos",
    "cosh",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cross",
    "cuda",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "current_backend",
    "default_generator",
    "deg2rad",
    "det",
    "detach",
    "device",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "double",
    "dsplit",
    "dstack",
    "einsum",
    "elementwise",
    "elu",
    "empty",
    "empty_like",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "errors",
    "exp",
    "exp2",
    "expit",
    "expm1",
    "eye",
    "finfo",
    "fix",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "fuse",
    "fuse_in_place",
    "fused",
    "gather",
    "gcd",
    "ge",
    "gelu",
    "gelu_tanh",
    "ger",
    "get_autocast_dtype",
    "get_backend",
    "get_default_dtype",
    "get_float32_matmul_precision",
    "get_printoptions",
    "get_rng_state",
    "glu",
    "grad_central_difference",
    "grad_check",
    "gradcheck",
    "gradgradcheck",
    "greater",
    "greater_equal",
    "gt",
    "half",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "heaviside",
    "histc",
    "hsplit",
    "hstack",
    "hypot",
    "iinfo",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inference_mode",
    "initial_seed",
    "inner",
    "int8",
    "int16",
    "int32",
    "int64",
    "inv",
    "inverse",
    "is_autocast_enabled",
    "is_close",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "kron",
    "kthvalue",
    "lazy",
    "lcm",
    "ldexp",
    "le",
    "leaky_relu",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logsigmoid",
    "logspace",
    "logsumexp",
    "long",
    "lt",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_power",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "minimum",
    "mish",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "nan_to_num",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "ndtr",
    "ne",
    "neg",
    "negative",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "one_hot",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "pairwise_distance",
    "pdist",
    "permute",
    "pinverse",
    "positive",
    "prelu",
    "printoptions",
    "prod",
    "promote_types",
    "put",
    "quantile",
    "quick_gelu",
    "rad2deg",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "reciprocal",
    "register_backend",
    "relu",
    "relu6",
    "remainder",
    "repeat_interleave",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "row_stack",
    "rsqrt",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "select",
    "select_scatter",
    "selu",
    "set_default_dtype",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "sgn",
    "short",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "slice_scatter",
    "slogdet",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "split",
    "split_with_sizes",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "sub",
    "subtract",
    "swapaxes",
    "swapdims",
    "t",
    "take",
    "take_along_dim",
    "tan",
    "tanh",
    "tanhshrink",
    "tensor",
    "tensor_split",
    "tensordot",
    "threshold",
    "tile",
    "topk",
    "trace",
    "transpose",
    "trapezoid",
    "trapz",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unbind",
    "unflatten",
    "uniform",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsqueeze",
    "use_backend",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "zeros",
    "zeros_like",
]
