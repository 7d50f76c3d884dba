"""Stage 2: tensors over strided storage, and the contract that backends implement.

`Tensor` has torch's names and semantics. A backend stores the elements and runs operations:
`numpy` by default, `simple` for study, others from other packages. `mt_tensor.methods` lists the
methods of `Tensor`, and this module the functions.
"""

# fmt: off
import builtins as _builtins
from importlib.util import find_spec as _find_spec
from types import ModuleType as _ModuleType

from mt_autodiff import (
    enable_grad as enable_grad, is_grad_enabled as is_grad_enabled, no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from mt_operators import OPERATORS as _OPERATORS
from mt_operators import Operator as _Operator
from mt_tensor.core.creation import rand as rand, tensor as tensor, zeros as zeros
from mt_tensor.core.in_place import fuse_in_place as fuse_in_place
from mt_tensor.core.generator import (
    Generator as Generator, default_generator as default_generator, manual_seed as manual_seed,
)
from mt_tensor.core.dtypes import (
    DType as DType, bfloat16 as bfloat16, bool_ as bool_, float16 as float16, float32 as float32,
    float64 as float64, get_default_dtype as get_default_dtype, int8 as int8, int16 as int16,
    int32 as int32, int64 as int64, promote_types as promote_types, result_type as result_type,
    uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64,
)
from mt_tensor.core.gathering import gather as gather
from mt_tensor.core.elementwise import elementwise as elementwise
from mt_tensor.core.rows import FUNCTIONS as _ROWS
from mt_tensor.core.rows import binary as _binary, unary as _unary
from mt_tensor.core.rows import (
    exp as exp, expit as expit, isnan as isnan, log as log, logical_and as logical_and,
    logical_or as logical_or, maximum as maximum, relu as relu, sigmoid as sigmoid, sqrt as sqrt,
    tanh as tanh,
)
from mt_tensor.core.matmul import matmul as matmul
from mt_tensor.core.named import fused as fused
from mt_tensor.core.sums import mean as mean, sum as sum
from mt_tensor.core.tensor import Tensor as Tensor
from mt_tensor.core.tensor_data import TensorData as TensorData
from mt_tensor.core import methods as _core_methods  # noqa: F401 - registers the methods of `Tensor`
from mt_tensor.core.contract import TensorBackend as TensorBackend
from mt_tensor.core.registry import (
    current_backend as current_backend, get_backend as get_backend, use_backend as use_backend,
)
from mt_tensor.core.kernels import register_kernels as _register_kernels

# Optional parts: the core works without them, and `hatch run core:prove` deletes them.
if _find_spec("mt_tensor.methods") is not None:
    from mt_tensor.size import Size as Size
    from mt_tensor.backends.devices import device as device
    import mt_tensor.emulation.bfloat16  # each of these registers in the core's tables
    import mt_tensor.emulation.exactness
    import mt_tensor.emulation.narrow
    import mt_tensor.large_arrays.choices
    import mt_tensor.pointwise.dtype_rules
    import mt_tensor.reductions.slices
    import mt_tensor.special.erf
    import mt_tensor.tape
    if _find_spec("einops") is not None:
        import mt_tensor.exchange.einops  # noqa: F401
    from mt_tensor import autograd as autograd, cuda as cuda, errors as errors, linalg as linalg
    from mt_tensor.backends import backends as backends  # the function, not the folder
    from mt_tensor.backends.listing import register_backend as register_backend
    from mt_tensor import methods as _methods  # noqa: F401 - registers the methods of `Tensor`
    from mt_autodiff import inference_mode as inference_mode
    from mt_tensor.mixed_precision.autocast import (
        autocast as autocast, get_autocast_dtype as get_autocast_dtype,
        is_autocast_enabled as is_autocast_enabled,
    )
    from mt_tensor.autograd.gradcheck import (
        grad_central_difference as grad_central_difference, grad_check as grad_check,
        gradcheck as gradcheck, gradgradcheck as gradgradcheck,
    )
    from mt_tensor.creation.default_dtype import set_default_dtype as set_default_dtype
    from mt_tensor.creation.from_arrays import from_numpy as from_numpy
    from mt_tensor.creation.from_numbers import empty as empty, full as full, ones as ones
    from mt_tensor.creation.from_rules import (
        arange as arange, eye as eye, linspace as linspace, logspace as logspace,
        tril_indices as tril_indices, triu_indices as triu_indices,
    )
    from mt_tensor.creation.from_tensors import (
        empty_like as empty_like, full_like as full_like, ones_like as ones_like,
        zeros_like as zeros_like,
    )
    from mt_tensor.creation.typed import (
        BFloat16Tensor as BFloat16Tensor, BoolTensor as BoolTensor, ByteTensor as ByteTensor,
        CharTensor as CharTensor, DoubleTensor as DoubleTensor, FloatTensor as FloatTensor,
        HalfTensor as HalfTensor, IntTensor as IntTensor, LongTensor as LongTensor,
        ShortTensor as ShortTensor,
    )
    from mt_tensor.exchange.conversion import as_tensor as as_tensor
    from mt_tensor.exchange.dlpack import from_dlpack as from_dlpack
    from mt_tensor.exchange.printing import (
        get_printoptions as get_printoptions, printoptions as printoptions,
        set_printoptions as set_printoptions,
    )
    from mt_tensor.indexing.filling import (
        diagonal_scatter as diagonal_scatter, index_copy as index_copy, index_fill as index_fill,
        index_put as index_put, masked_scatter as masked_scatter, put as put,
        select_scatter as select_scatter, slice_scatter as slice_scatter,
    )
    from mt_tensor.indexing.finding import (
        argwhere as argwhere, masked_select as masked_select, nonzero as nonzero, take as take,
        take_along_dim as take_along_dim, unravel_index as unravel_index, where as where,
    )
    from mt_tensor.indexing.scattering import (
        index_add as index_add, index_reduce as index_reduce, one_hot as one_hot,
        scatter as scatter, scatter_add as scatter_add, scatter_reduce as scatter_reduce,
    )
    from mt_tensor.indexing.slices import index_select as index_select
    from mt_tensor.limits import finfo as finfo, iinfo as iinfo
    from mt_tensor.linalg.lu import lu_unpack as lu_unpack
    from mt_tensor.linalg.products import matrix_power as matrix_power
    from mt_tensor.linalg.systems import (
        det as det, inverse as inverse, logdet as logdet, pinverse as pinverse, slogdet as slogdet,
    )
    from mt_tensor.movement.diagonals import (
        diag as diag, diagonal as diagonal, tril as tril, triu as triu,
    )
    from mt_tensor.movement.functions import (
        broadcast_to as broadcast_to, clone as clone, detach as detach, flip as flip,
        permute as permute, reshape as reshape, squeeze as squeeze, transpose as transpose,
        unflatten as unflatten, unsqueeze as unsqueeze,
    )
    from mt_tensor.movement.joining import (
        cat as cat, concat as concat, concatenate as concatenate, stack as stack,
    )
    from mt_tensor.movement.methods import flatten as flatten
    from mt_tensor.movement.padding import pad as pad
    from mt_tensor.movement.rearranging import (
        broadcast_shapes as broadcast_shapes, broadcast_tensors as broadcast_tensors,
        meshgrid as meshgrid, moveaxis as moveaxis, movedim as movedim,
        repeat_interleave as repeat_interleave, roll as roll, swapaxes as swapaxes,
        swapdims as swapdims, tile as tile,
    )
    from mt_tensor.movement.splitting import (
        chunk as chunk, dsplit as dsplit, hsplit as hsplit, narrow_copy as narrow_copy,
        split as split, split_with_sizes as split_with_sizes, tensor_split as tensor_split,
        unbind as unbind, vsplit as vsplit,
    )
    from mt_tensor.movement.stacking import (
        atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d,
        block_diag as block_diag, cartesian_prod as cartesian_prod, column_stack as column_stack,
        combinations as combinations, dstack as dstack, hstack as hstack, row_stack as row_stack,
        vstack as vstack,
    )
    from mt_tensor.movement.strided import as_strided as as_strided
    from mt_tensor.movement.turning import (
        adjoint as adjoint, diag_embed as diag_embed, diagflat as diagflat, fliplr as fliplr,
        flipud as flipud, narrow as narrow, ravel as ravel, rot90 as rot90, select as select,
        t as t,
    )
    from mt_tensor.order.counting import (
        bincount as bincount, histc as histc, unique as unique,
        unique_consecutive as unique_consecutive,
    )
    from mt_tensor.order.ranks import (
        diff as diff, kthvalue as kthvalue, msort as msort, nanquantile as nanquantile,
        quantile as quantile,
    )
    from mt_tensor.order.scans import (
        cummax as cummax, cummin as cummin, cumprod as cumprod, cumsum as cumsum,
        logcumsumexp as logcumsumexp,
    )
    from mt_tensor.order.searching import (
        bucketize as bucketize, isin as isin, searchsorted as searchsorted,
    )
    from mt_tensor.order.sorting import (
        argsort as argsort, median as median, mode as mode, nanmedian as nanmedian, sort as sort,
        topk as topk,
    )
    from mt_tensor.order.trapezoids import (
        cumulative_trapezoid as cumulative_trapezoid, trapezoid as trapezoid, trapz as trapz,
    )
    from mt_tensor.pointwise.activations import (
        celu as celu, elu as elu, gelu as gelu, glu as glu, hardshrink as hardshrink,
        hardtanh as hardtanh, leaky_relu as leaky_relu, prelu as prelu, softplus as softplus,
        softshrink as softshrink, tanhshrink as tanhshrink, threshold as threshold,
    )
    from mt_tensor.pointwise.choosing import masked_fill as masked_fill
    from mt_tensor.pointwise.comparing import (
        allclose as allclose, equal as equal, isclose as isclose, isneginf as isneginf,
        isposinf as isposinf,
    )
    from mt_tensor.pointwise.functions import (
        add as add, addcdiv as addcdiv, addcmul as addcmul, clamp as clamp, clamp_max as clamp_max,
        clamp_min as clamp_min, clip as clip, deg2rad as deg2rad, float_power as float_power,
        fmax as fmax, fmin as fmin, frac as frac, heaviside as heaviside, ldexp as ldexp,
        lerp as lerp, logaddexp2 as logaddexp2, logit as logit, nan_to_num as nan_to_num,
        nextafter as nextafter, positive as positive, pow as pow, rad2deg as rad2deg,
        round as round, square as square, sub as sub, subtract as subtract,
    )
    from mt_tensor.pointwise.fusing import fuse as fuse
    from mt_tensor.pointwise import fusing_in_place as _fusing_in_place  # noqa: F401 - registers it
    from mt_tensor.pointwise.integers import (
        div as div, divide as divide, gcd as gcd, lcm as lcm, true_divide as true_divide,
    )
    from mt_tensor.products.added import (
        addbmm as addbmm, addmm as addmm, addmv as addmv, addr as addr, baddbmm as baddbmm,
    )
    from mt_tensor.products.contraction import tensordot as tensordot
    from mt_tensor.products.distances import (
        cdist as cdist, dist as dist, pairwise_distance as pairwise_distance, pdist as pdist,
    )
    from mt_tensor.products.einsum import einsum as einsum
    from mt_tensor.products.precision import (
        get_float32_matmul_precision as get_float32_matmul_precision,
        set_float32_matmul_precision as set_float32_matmul_precision,
    )
    from mt_tensor.products.vectors import (
        bmm as bmm, chain_matmul as chain_matmul, cosine_similarity as cosine_similarity,
        cross as cross, dot as dot, ger as ger, inner as inner, kron as kron, mm as mm, mv as mv,
        outer as outer, trace as trace, vander as vander, vdot as vdot,
    )
    from mt_tensor.programs.functions import compile as compile, lazy as lazy
    from mt_tensor.properties import (
        is_complex as is_complex, is_floating_point as is_floating_point, is_nonzero as is_nonzero,
        is_same_size as is_same_size, is_signed as is_signed, is_tensor as is_tensor,
        numel as numel,
    )
    from mt_tensor.randomness.state import (
        get_rng_state as get_rng_state, initial_seed as initial_seed,
        set_rng_state as set_rng_state,
    )
    from mt_tensor.randomness.random_tensors import (
        normal as normal, rand_like as rand_like, randint as randint, randint_like as randint_like,
        randn as randn, randn_like as randn_like, randperm as randperm,
    )
    from mt_tensor.randomness.sampling import bernoulli as bernoulli, multinomial as multinomial
    from mt_tensor.recording.functions import Function as Function
    from mt_tensor.reductions.extremes import (
        amax as amax, amin as amin, aminmax as aminmax, argmax as argmax, argmin as argmin,
        max as max, min as min,
    )
    from mt_tensor.reductions.norms import norm as norm
    from mt_tensor.reductions.softmax import (
        log_softmax as log_softmax, logsumexp as logsumexp, softmax as softmax, softmin as softmin,
    )
    from mt_tensor.reductions.statistics import (
        corrcoef as corrcoef, cov as cov, std as std, std_mean as std_mean, var as var,
        var_mean as var_mean,
    )
    from mt_tensor.reductions.sums import nanmean as nanmean, nansum as nansum, prod as prod
    from mt_tensor.reductions.truth import all as all, any as any, count_nonzero as count_nonzero

    # fmt: on
    # The rows of the operator table outside the core
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
    """Add the functions of a row that a program has added to the operator table."""
    for name in (row.name, *row.aliases):
        globals().setdefault(name, _ROWS[name])


_OPERATORS.for_each(_add_functions)

_MODULES = ("autograd", "cuda", "errors", "linalg")

globals()["__all__"] = [
    name
    for name, value in sorted(globals().items())
    if (name == "__version__" or not name.startswith("_"))
    and not hasattr(_builtins, name)
    and (name in _MODULES or not isinstance(value, _ModuleType))
]
"""The public names above, except those of builtins. Type checkers recognize `x as x` instead."""
