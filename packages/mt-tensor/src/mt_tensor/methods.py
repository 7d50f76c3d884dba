"""The table of methods of `Tensor` that are defined outside the core.

A method is a function whose first argument is the tensor; `attribute` turns one into a property.
`register_methods` binds all of them to `Tensor`; the core's own methods are in `core/methods.py`.
For type checkers and editors, `Methods` is the base class of `Tensor`. A row that a program adds to
the operator table becomes a method when it is added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mt_autodiff.core.registration import register_method, register_methods
from mt_operators import OPERATORS, Operator
from mt_tensor import properties
from mt_tensor.core import dtypes, rows, views
from mt_tensor.core.dtype_rules import dtype_rules_of
from mt_tensor.core.methods import CoreMethods, attribute
from mt_tensor.core.rows import binary, unary
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation import from_numbers, from_tensors, sequences  # noqa: F401
from mt_tensor.exchange import (  # noqa: F401
    array_operands,
    copying,
    dlpack,
    formats,
    interop,
    numbers,
    printing,
    storages,
)
from mt_tensor.exchange import conversion as more_conversion
from mt_tensor.indexing import filling, finding, scattering, slices
from mt_tensor.indexing import subscripts as more_subscripts
from mt_tensor.linalg import products as matrix_products
from mt_tensor.linalg import systems
from mt_tensor.mixed_precision import operands  # noqa: F401
from mt_tensor.movement import bits, diagonals, rearranging, splitting, turning
from mt_tensor.movement import methods as shapes
from mt_tensor.order import counting, ranks, scans, sorting
from mt_tensor.pointwise import (
    activations,
    calling,
    choosing,
    comparing,
    functions,
    in_place,
    integers,
    operators,
)
from mt_tensor.pointwise.in_place import in_place_of, in_place_operator, in_place_view_of
from mt_tensor.products import added, distances, vectors
from mt_tensor.programs import functions as programs
from mt_tensor.randomness import sampling
from mt_tensor.recording import aliasing, assigning, higher, hooks, parts  # noqa: F401
from mt_tensor.reductions import extremes, norms, statistics, truth
from mt_tensor.reductions import softmax as softmaxes
from mt_tensor.reductions import sums as more_sums

Value = TypeVar("Value")


class settable_attribute(property, Generic[Value]):  # noqa: N801 - used like `property`
    """An `attribute` that can be assigned to."""

    if TYPE_CHECKING:

        def __init__(
            self, fget: Callable[[Tensor], Value], fset: Callable[[Tensor, Value], None]
        ) -> None: ...

        def __get__(  # type: ignore[override]
            self, instance: Any, owner: type | None = None
        ) -> Value: ...

        def __set__(self, instance: Any, value: Value) -> None: ...


class Methods(CoreMethods):
    """The table that `register_methods` reads."""

    __slots__ = ()

    _initialize = from_numbers._initialize

    # --- Construction, in-place changes and hooks -------------------------------------------------

    new = from_tensors.new
    new_empty = from_tensors.new_empty
    new_full = from_tensors.new_full
    new_ones = from_tensors.new_ones
    new_tensor = from_tensors.new_tensor
    new_zeros = from_tensors.new_zeros

    data = settable_attribute(assigning.data, assigning.set_data)

    _before_change = aliasing._before_change
    _change_is_recorded = aliasing._change_is_recorded
    _index_in = aliasing._index_in
    _moved_on = aliasing._moved_on
    _moved_to = aliasing._moved_to
    detach_ = aliasing.detach_

    grad_fn = attribute(hooks.grad_fn)
    register_hook = hooks.register_hook
    register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook
    retain_grad = hooks.retain_grad
    retains_grad = attribute(hooks.retains_grad)

    __rmatmul__ = array_operands.__rmatmul__

    # --- Rows of the operator table in `mt_operators/core` ----------------------------------------

    abs = absolute = unary("abs")
    cos = unary("cos")
    eq = binary("eq")
    ge = greater_equal = binary("ge")
    gt = greater = binary("gt")
    id = unary("id")
    inv = reciprocal = unary("inv")
    is_close = binary("is_close")
    isfinite = unary("isfinite")
    isinf = unary("isinf")
    le = less_equal = binary("le")
    lt = less = binary("lt")
    logical_not = unary("logical_not")
    logical_xor = binary("logical_xor")
    minimum = binary("minimum")
    mul = multiply = binary("mul")
    ne = not_equal = binary("ne")
    neg = negative = unary("neg")
    rsqrt = unary("rsqrt")
    sign = sgn = unary("sign")
    sin = unary("sin")

    # --- Properties -------------------------------------------------------------------------------

    __iter__ = properties.__iter__
    __len__ = properties.__len__
    conj = resolve_conj = to_dense = pin_memory = share_memory_ = properties.itself
    dim = ndimension = properties.dim
    get_device = properties.get_device
    is_meta = is_mkldnn = is_mps = is_mtia = is_nested = attribute(properties.is_unsupported)
    is_quantized = is_sparse = is_vulkan = is_xpu = attribute(properties.is_unsupported)
    is_conj = is_inference = is_neg = is_pinned = is_shared = properties.is_unsupported
    is_complex = properties.is_complex
    is_nonzero = properties.is_nonzero
    is_same_size = properties.is_same_size
    is_signed = properties.is_signed
    nelement = Tensor.numel
    size = properties.size
    storage = properties.storage
    storage_offset = properties.storage_offset
    stride = properties.stride

    # --- Conversion, copies and exchange with other libraries -------------------------------------

    bfloat16 = more_conversion.conversion("bfloat16", dtypes.bfloat16)
    bool = more_conversion.conversion("bool", dtypes.bool_)
    byte = more_conversion.conversion("byte", dtypes.uint8)
    char = more_conversion.conversion("char", dtypes.int8)
    cpu = more_conversion.cpu
    cuda = more_conversion.cuda
    device = attribute(more_conversion.device)
    double = more_conversion.conversion("double", dtypes.float64)
    float = more_conversion.conversion("float", dtypes.float32)
    half = more_conversion.conversion("half", dtypes.float16)
    int = more_conversion.conversion("int", dtypes.int32)
    is_cuda = attribute(more_conversion.is_cuda)
    long = more_conversion.conversion("long", dtypes.int64)
    short = more_conversion.conversion("short", dtypes.int16)
    to = more_conversion.to
    type = more_conversion.type
    type_as = more_conversion.type_as

    __copy__ = copying.__copy__
    __deepcopy__ = copying.__deepcopy__
    __reduce__ = copying.__reduce__

    __bool__ = numbers.__bool__
    __float__ = numbers.__float__
    __index__ = numbers.__index__
    __int__ = numbers.__int__
    __pos__ = numbers.__pos__

    __format__ = printing.__format__
    __repr__ = printing.__repr__

    __array__ = interop.__array__
    __array_interface__ = attribute(interop.__array_interface__)
    __array_wrap__ = interop.__array_wrap__
    __contains__ = interop.__contains__
    __cuda_array_interface__ = attribute(interop.__cuda_array_interface__)
    data_ptr = interop.data_ptr
    element_size = interop.element_size
    itemsize = attribute(interop.element_size)
    layout = attribute(formats.layout_of)
    nbytes = attribute(interop.nbytes)

    __dlpack__ = dlpack.__dlpack__
    __dlpack_device__ = dlpack.__dlpack_device__

    _reinterpreted = bits._reinterpreted

    realize = programs.realize

    # --- Indexing ---------------------------------------------------------------------------------

    __setitem__ = more_subscripts.__setitem__
    _advanced_index = more_subscripts._advanced_index

    index_select = slices.index_select

    argwhere = finding.argwhere
    masked_select = finding.masked_select
    nonzero = finding.nonzero
    take = finding.take
    take_along_dim = finding.take_along_dim

    diagonal_scatter = filling.diagonal_scatter
    index_copy = filling.index_copy
    index_fill = filling.index_fill
    index_put = filling.index_put
    masked_scatter = filling.masked_scatter
    put = filling.put
    select_scatter = filling.select_scatter
    slice_scatter = filling.slice_scatter

    index_add = scattering.index_add
    index_reduce = scattering.index_reduce
    scatter = scattering.scatter
    scatter_add = scattering.scatter_add
    scatter_reduce = scattering.scatter_reduce

    # --- Shapes -----------------------------------------------------------------------------------

    broadcast_to = shapes.broadcast_to
    expand_as = shapes.expand_as
    flatten = shapes.flatten
    H = attribute(shapes.H)
    mH = attribute(shapes.mH)  # noqa: N815
    repeat = shapes.repeat
    reshape_as = shapes.reshape_as
    split = shapes.split
    tile = shapes.tile
    view_as = shapes.view_as

    moveaxis = movedim = rearranging.movedim
    repeat_interleave = rearranging.repeat_interleave
    roll = rearranging.roll
    swapaxes = rearranging.swapaxes
    swapdims = rearranging.swapdims

    adjoint = turning.adjoint
    diag_embed = turning.diag_embed
    diagflat = turning.diagflat
    flip = turning.flip
    fliplr = turning.fliplr
    flipud = turning.flipud
    narrow = turning.narrow
    ravel = turning.ravel
    rot90 = turning.rot90
    select = turning.select
    t = turning.t

    diag = diagonals.diag
    diagonal = diagonals.diagonal
    tril = diagonals.tril
    triu = diagonals.triu

    chunk = splitting.chunk
    dsplit = splitting.dsplit
    hsplit = splitting.hsplit
    narrow_copy = splitting.narrow_copy
    split_with_sizes = splitting.split_with_sizes
    tensor_split = splitting.tensor_split
    unbind = splitting.unbind
    unflatten = splitting.unflatten
    vsplit = splitting.vsplit

    # --- Python's operators -----------------------------------------------------------------------

    __floordiv__ = operators.__floordiv__
    __rfloordiv__ = operators.__rfloordiv__
    __mod__ = operators.__mod__
    __rmod__ = operators.__rmod__
    __and__ = operators.__and__
    __rand__ = operators.__rand__
    __or__ = operators.__or__
    __ror__ = operators.__ror__
    __xor__ = operators.__xor__
    __rxor__ = operators.__rxor__
    __lshift__ = operators.__lshift__
    __rlshift__ = operators.__rlshift__
    __rshift__ = operators.__rshift__
    __rrshift__ = operators.__rrshift__
    __invert__ = operators.__invert__

    # --- Rows of the operator table in `mt_operators/functions` -----------------------------------

    acos = arccos = unary("acos")
    acosh = arccosh = unary("acosh")
    asin = arcsin = unary("asin")
    asinh = arcsinh = unary("asinh")
    atan = arctan = unary("atan")
    atan2 = arctan2 = binary("atan2")
    atanh = arctanh = unary("atanh")
    bitwise_and = binary("bitwise_and")
    bitwise_left_shift = binary("bitwise_left_shift")
    bitwise_not = unary("bitwise_not")
    bitwise_or = binary("bitwise_or")
    bitwise_right_shift = binary("bitwise_right_shift")
    bitwise_xor = binary("bitwise_xor")
    ceil = unary("ceil")
    copysign = binary("copysign")
    cosh = unary("cosh")
    digamma = unary("digamma")
    erf = unary("erf")
    erfc = unary("erfc")
    erfinv = unary("erfinv")
    exp2 = unary("exp2")
    expm1 = unary("expm1")
    trunc = fix = unary("trunc")
    floor = unary("floor")
    floor_divide = binary("floor_divide")
    fmod = binary("fmod")
    gelu_tanh = unary("gelu_tanh")
    hardsigmoid = unary("hardsigmoid")
    hardswish = unary("hardswish")
    hypot = binary("hypot")
    lgamma = unary("lgamma")
    log10 = unary("log10")
    log1p = unary("log1p")
    log2 = unary("log2")
    log_sigmoid = logsigmoid = unary("log_sigmoid")
    logaddexp = binary("logaddexp")
    mish = unary("mish")
    ndtr = unary("ndtr")
    quick_gelu = unary("quick_gelu")
    relu6 = unary("relu6")
    remainder = binary("remainder")
    selu = unary("selu")
    signbit = unary("signbit")
    silu = unary("silu")
    sinc = unary("sinc")
    sinh = unary("sinh")
    softsign = unary("softsign")
    tan = unary("tan")
    xlogy = binary("xlogy")

    # --- Other elementwise operations -------------------------------------------------------------

    add = functions.add
    addcdiv = functions.addcdiv
    addcmul = functions.addcmul
    clamp = clip = functions.clamp
    clamp_max = functions.clamp_max
    clamp_min = functions.clamp_min
    deg2rad = functions.deg2rad
    float_power = functions.float_power
    fmax = functions.fmax
    fmin = functions.fmin
    frac = functions.frac
    heaviside = functions.heaviside
    ldexp = functions.ldexp
    lerp = functions.lerp
    logaddexp2 = functions.logaddexp2
    logit = functions.logit
    nan_to_num = functions.nan_to_num
    positive = functions.positive
    pow = functions.pow
    rad2deg = functions.rad2deg
    round = functions.round
    square = functions.square
    sub = subtract = functions.sub

    __divmod__ = integers.__divmod__
    __rdivmod__ = integers.__rdivmod__
    div = divide = integers.div
    gcd = integers.gcd
    lcm = integers.lcm
    true_divide = integers.true_divide

    celu = activations.celu
    elu = activations.elu
    gelu = activations.gelu
    glu = activations.glu
    hardshrink = activations.hardshrink
    hardtanh = activations.hardtanh
    leaky_relu = activations.leaky_relu
    prelu = activations.prelu
    softplus = activations.softplus
    softshrink = activations.softshrink
    tanhshrink = activations.tanhshrink
    threshold = activations.threshold

    allclose = comparing.allclose
    equal = comparing.equal
    isclose = comparing.isclose
    isneginf = comparing.isneginf
    isposinf = comparing.isposinf

    masked_fill = choosing.masked_fill
    where = choosing.where

    apply_ = calling.apply_
    map_ = calling.map_

    # --- Reductions -------------------------------------------------------------------------------

    nanmean = more_sums.nanmean
    nansum = more_sums.nansum
    prod = more_sums.prod

    amax = extremes.amax
    amin = extremes.amin
    aminmax = extremes.aminmax
    argmax = extremes.argmax
    argmin = extremes.argmin
    max = extremes.max
    min = extremes.min

    corrcoef = statistics.corrcoef
    cov = statistics.cov
    std = statistics.std
    var = statistics.var

    norm = norms.norm

    log_softmax = softmaxes.log_softmax
    logsumexp = softmaxes.logsumexp
    softmax = softmaxes.softmax

    all = truth.all
    any = truth.any
    count_nonzero = truth.count_nonzero

    # --- Sorting, searching and cumulative operations ---------------------------------------------

    argsort = sorting.argsort
    median = sorting.median
    mode = sorting.mode
    nanmedian = sorting.nanmedian
    sort = sorting.sort
    topk = sorting.topk

    diff = ranks.diff
    kthvalue = ranks.kthvalue
    msort = ranks.msort
    nanquantile = ranks.nanquantile
    quantile = ranks.quantile

    cummax = scans.cummax
    cummin = scans.cummin
    cumprod = scans.cumprod
    cumsum = scans.cumsum
    logcumsumexp = scans.logcumsumexp

    bincount = counting.bincount
    histc = counting.histc
    unique = counting.unique
    unique_consecutive = counting.unique_consecutive

    # --- Products and linear algebra --------------------------------------------------------------

    bmm = vectors.bmm
    cross = vectors.cross
    dot = vectors.dot
    ger = outer = vectors.outer
    inner = vectors.inner
    kron = vectors.kron
    mm = vectors.mm
    mv = vectors.mv
    trace = vectors.trace
    vdot = vectors.vdot

    addbmm = added.addbmm
    addmm = added.addmm
    addmv = added.addmv
    addr = added.addr
    baddbmm = added.baddbmm

    dist = distances.dist

    matrix_power = matrix_products.matrix_power

    det = systems.det
    inverse = systems.inverse
    logdet = systems.logdet
    pinverse = systems.pinverse
    slogdet = systems.slogdet

    # --- Random numbers ---------------------------------------------------------------------------

    bernoulli = sampling.bernoulli
    bernoulli_ = sampling.bernoulli_
    exponential_ = sampling.exponential_
    multinomial = sampling.multinomial
    normal_ = sampling.normal_
    random_ = sampling.random_
    uniform_ = sampling.uniform_

    # --- In-place operations ----------------------------------------------------------------------

    __iadd__ = add_ = in_place.add_
    __iand__ = in_place_operator("__iand__", binary("bitwise_and"))
    __ifloordiv__ = in_place_operator("__ifloordiv__", binary("floor_divide"))
    __ilshift__ = in_place_operator("__ilshift__", binary("bitwise_left_shift"))
    __imod__ = in_place_operator("__imod__", binary("remainder"))
    __imul__ = mul_ = multiply_ = in_place.mul_
    __ior__ = in_place_operator("__ior__", binary("bitwise_or"))
    __ipow__ = in_place_operator("__ipow__", functions.pow)
    __irshift__ = in_place_operator("__irshift__", binary("bitwise_right_shift"))
    __isub__ = sub_ = subtract_ = in_place.sub_
    __itruediv__ = div_ = divide_ = true_divide_ = in_place.div_
    __ixor__ = in_place_operator("__ixor__", binary("bitwise_xor"))
    _check_in_place = in_place._check_in_place
    _computed = in_place._computed
    _replace = in_place._replace
    abs_ = in_place_of(unary("abs"))
    absolute_ = abs_
    acos_ = in_place_of(unary("acos"))
    arccos_ = acos_
    acosh_ = in_place_of(unary("acosh"))
    arccosh_ = acosh_
    addbmm_ = in_place_of(added.addbmm)
    addcdiv_ = in_place_of(functions.addcdiv)
    addcmul_ = in_place_of(functions.addcmul)
    addmm_ = in_place_of(added.addmm)
    addmv_ = in_place_of(added.addmv)
    addr_ = in_place_of(added.addr)
    asin_ = in_place_of(unary("asin"))
    arcsin_ = asin_
    asinh_ = in_place_of(unary("asinh"))
    arcsinh_ = asinh_
    atan2_ = in_place_of(binary("atan2"))
    arctan2_ = atan2_
    atan_ = in_place_of(unary("atan"))
    arctan_ = atan_
    atanh_ = in_place_of(unary("atanh"))
    arctanh_ = atanh_
    baddbmm_ = in_place_of(added.baddbmm)
    bitwise_and_ = in_place_of(binary("bitwise_and"))
    bitwise_left_shift_ = in_place_of(binary("bitwise_left_shift"))
    bitwise_not_ = in_place_of(unary("bitwise_not"))
    bitwise_or_ = in_place_of(binary("bitwise_or"))
    bitwise_right_shift_ = in_place_of(binary("bitwise_right_shift"))
    bitwise_xor_ = in_place_of(binary("bitwise_xor"))
    ceil_ = in_place_of(unary("ceil"))
    clamp_ = in_place_of(functions.clamp)
    clip_ = clamp_
    clamp_max_ = in_place_of(functions.clamp_max)
    clamp_min_ = in_place_of(functions.clamp_min)
    copy_ = in_place.copy_
    copysign_ = in_place_of(binary("copysign"))
    cos_ = in_place_of(unary("cos"))
    cosh_ = in_place_of(unary("cosh"))
    cumprod_ = in_place_of(scans.cumprod)
    cumsum_ = in_place_of(scans.cumsum)
    deg2rad_ = in_place_of(functions.deg2rad)
    digamma_ = in_place_of(unary("digamma"))
    eq_ = in_place_of(binary("eq"))
    erf_ = in_place_of(unary("erf"))
    erfc_ = in_place_of(unary("erfc"))
    erfinv_ = in_place_of(unary("erfinv"))
    exp2_ = in_place_of(unary("exp2"))
    exp_ = in_place_of(rows.exp)
    sigmoid_ = in_place_of(rows.sigmoid)
    expit_ = sigmoid_
    expm1_ = in_place_of(unary("expm1"))
    fill_ = in_place.fill_
    fill_diagonal_ = in_place.fill_diagonal_
    trunc_ = in_place_of(unary("trunc"))
    fix_ = trunc_
    float_power_ = in_place.float_power_
    floor_ = in_place_of(unary("floor"))
    floor_divide_ = in_place_of(binary("floor_divide"))
    fmod_ = in_place_of(binary("fmod"))
    frac_ = in_place_of(functions.frac)
    gcd_ = in_place_of(integers.gcd)
    ge_ = in_place_of(binary("ge"))
    greater_equal_ = ge_
    gt_ = in_place_of(binary("gt"))
    greater_ = gt_
    heaviside_ = in_place_of(functions.heaviside)
    hypot_ = in_place_of(binary("hypot"))
    index_add_ = scattering.index_add_
    index_copy_ = in_place_of(filling.index_copy)
    index_fill_ = in_place_of(filling.index_fill)
    index_put_ = in_place_of(filling.index_put)
    index_reduce_ = in_place_of(scattering.index_reduce)
    inv_ = in_place_of(unary("inv"))
    reciprocal_ = inv_
    lcm_ = in_place_of(integers.lcm)
    ldexp_ = in_place_of(functions.ldexp)
    le_ = in_place_of(binary("le"))
    less_equal_ = le_
    lerp_ = in_place_of(functions.lerp)
    lt_ = in_place_of(binary("lt"))
    less_ = lt_
    lgamma_ = in_place_of(unary("lgamma"))
    log10_ = in_place_of(unary("log10"))
    log1p_ = in_place_of(unary("log1p"))
    log2_ = in_place_of(unary("log2"))
    log_ = in_place_of(rows.log)
    logical_and_ = in_place_of(rows.logical_and)
    logical_not_ = in_place_of(unary("logical_not"))
    logical_or_ = in_place_of(rows.logical_or)
    logical_xor_ = in_place_of(binary("logical_xor"))
    logit_ = in_place_of(functions.logit)
    masked_fill_ = in_place_of(choosing.masked_fill)
    masked_scatter_ = in_place_of(filling.masked_scatter)
    nan_to_num_ = in_place_of(functions.nan_to_num)
    ne_ = in_place_of(binary("ne"))
    not_equal_ = ne_
    neg_ = in_place_of(unary("neg"))
    negative_ = neg_
    pow_ = in_place_of(functions.pow)
    put_ = in_place_of(filling.put)
    rad2deg_ = in_place_of(functions.rad2deg)
    relu_ = in_place_of(rows.relu)
    remainder_ = in_place_of(binary("remainder"))
    round_ = in_place_of(functions.round)
    rsqrt_ = in_place_of(unary("rsqrt"))
    scatter_ = in_place_of(scattering.scatter)
    scatter_add_ = in_place_of(scattering.scatter_add)
    scatter_reduce_ = in_place_of(scattering.scatter_reduce)
    sign_ = in_place_of(unary("sign"))
    sgn_ = sign_
    sin_ = in_place_of(unary("sin"))
    sinc_ = in_place_of(unary("sinc"))
    sinh_ = in_place_of(unary("sinh"))
    sqrt_ = in_place_of(rows.sqrt)
    square_ = in_place_of(functions.square)
    squeeze_ = in_place_view_of(views.squeeze)
    swapaxes_ = in_place_view_of(rearranging.swapaxes)
    swapdims_ = in_place_view_of(rearranging.swapdims)
    t_ = in_place_view_of(turning.t)
    tan_ = in_place_of(unary("tan"))
    tanh_ = in_place_of(rows.tanh)
    transpose_ = in_place_view_of(views.transpose)
    tril_ = in_place_of(diagonals.tril)
    triu_ = in_place_of(diagonals.triu)
    unsqueeze_ = in_place_view_of(views.unsqueeze)
    xlogy_ = in_place_of(binary("xlogy"))
    zero_ = in_place.zero_


register_methods(Tensor, Methods)


def _register_row(row: Operator) -> None:
    """Register the methods of a row that a program has added to the operator table."""
    for name in (row.name, *row.aliases):
        if name not in vars(Tensor):
            register_method(Tensor, name, rows.FUNCTIONS[name])
        if dtype_rules_of(row).in_place and f"{name}_" not in vars(Tensor):
            register_method(Tensor, f"{name}_", in_place_of(rows.FUNCTIONS[row.name]))


OPERATORS.for_each(_register_row, taken=vars(Tensor).__contains__)
