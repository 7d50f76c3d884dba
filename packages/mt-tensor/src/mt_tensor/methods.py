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
from mt_tensor.core.rows import binary, operator_method, reflected_method, unary
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation import formats, from_numbers, from_tensors, sequences  # noqa: F401
from mt_tensor.exchange import (  # noqa: F401
    array_operands,
    copying,
    dlpack,
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
from mt_tensor.movement import bits, diagonals, rearranging, splitting, strided, turning
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
)
from mt_tensor.pointwise.in_place import (
    in_place_of,
    in_place_operator,
    in_place_view_of,
    with_in_place,
)
from mt_tensor.products import added, distances, vectors
from mt_tensor.programs import functions as programs
from mt_tensor.randomness import sampling
from mt_tensor.recording import aliasing, assigning, higher, hooks, view_gradients  # noqa: F401
from mt_tensor.reductions import extremes, norms, statistics, truth
from mt_tensor.reductions import softmax as softmaxes
from mt_tensor.reductions import sums as more_sums

Value = TypeVar("Value")


class settable_attribute(property, Generic[Value]):  # noqa: N801 - used like `property`
    """A property like `attribute`, which can also be assigned to."""

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
    _rebase_history = aliasing._rebase_history
    _replace_node = aliasing._replace_node
    detach_ = aliasing.detach_

    grad_fn = attribute(hooks.grad_fn)
    register_hook = hooks.register_hook
    register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook
    retain_grad = hooks.retain_grad
    retains_grad = attribute(hooks.retains_grad)

    __rmatmul__ = array_operands.__rmatmul__

    # --- Rows of the operator table in `mt_operators/core` ----------------------------------------

    abs, abs_ = absolute, absolute_ = with_in_place(unary("abs"))
    cos, cos_ = with_in_place(unary("cos"))
    eq, eq_ = with_in_place(binary("eq"))
    ge, ge_ = greater_equal, greater_equal_ = with_in_place(binary("ge"))
    gt, gt_ = greater, greater_ = with_in_place(binary("gt"))
    id = unary("id")
    inv, inv_ = reciprocal, reciprocal_ = with_in_place(unary("inv"))
    is_close = binary("is_close")
    isfinite = unary("isfinite")
    isinf = unary("isinf")
    le, le_ = less_equal, less_equal_ = with_in_place(binary("le"))
    lt, lt_ = less, less_ = with_in_place(binary("lt"))
    logical_not, logical_not_ = with_in_place(unary("logical_not"))
    logical_xor, logical_xor_ = with_in_place(binary("logical_xor"))
    minimum = binary("minimum")
    mul = multiply = binary("mul")
    ne, ne_ = not_equal, not_equal_ = with_in_place(binary("ne"))
    neg, neg_ = negative, negative_ = with_in_place(unary("neg"))
    rsqrt, rsqrt_ = with_in_place(unary("rsqrt"))
    sign, sign_ = sgn, sgn_ = with_in_place(unary("sign"))
    sin, sin_ = with_in_place(unary("sin"))

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
    layout = attribute(formats.layout_of_tensor)
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
    index_copy, index_copy_ = with_in_place(filling.index_copy)
    index_fill, index_fill_ = with_in_place(filling.index_fill)
    index_put, index_put_ = with_in_place(filling.index_put)
    masked_scatter, masked_scatter_ = with_in_place(filling.masked_scatter)
    put, put_ = with_in_place(filling.put)
    select_scatter = filling.select_scatter
    slice_scatter = filling.slice_scatter

    index_add = scattering.index_add
    index_reduce, index_reduce_ = with_in_place(scattering.index_reduce)
    scatter, scatter_ = with_in_place(scattering.scatter)
    scatter_add, scatter_add_ = with_in_place(scattering.scatter_add)
    scatter_reduce, scatter_reduce_ = with_in_place(scattering.scatter_reduce)

    # --- Shapes -----------------------------------------------------------------------------------

    broadcast_to = views.expand
    expand_as = shapes.expand_as
    flatten = shapes.flatten
    H = attribute(shapes.H)
    mH = attribute(turning.adjoint)  # noqa: N815
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

    as_strided = strided.as_strided

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
    tril, tril_ = with_in_place(diagonals.tril)
    triu, triu_ = with_in_place(diagonals.triu)

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

    __floordiv__, __rfloordiv__ = operator_method("floor_divide"), reflected_method("floor_divide")
    __mod__, __rmod__ = operator_method("remainder"), reflected_method("remainder")
    __and__, __rand__ = operator_method("bitwise_and"), reflected_method("bitwise_and")
    __or__, __ror__ = operator_method("bitwise_or"), reflected_method("bitwise_or")
    __xor__, __rxor__ = operator_method("bitwise_xor"), reflected_method("bitwise_xor")
    __lshift__ = operator_method("bitwise_left_shift")
    __rlshift__ = reflected_method("bitwise_left_shift")
    __rshift__ = operator_method("bitwise_right_shift")
    __rrshift__ = reflected_method("bitwise_right_shift")
    __invert__ = operator_method("bitwise_not")

    # --- Rows of the operator table in `mt_operators/functions` -----------------------------------

    acos, acos_ = arccos, arccos_ = with_in_place(unary("acos"))
    acosh, acosh_ = arccosh, arccosh_ = with_in_place(unary("acosh"))
    asin, asin_ = arcsin, arcsin_ = with_in_place(unary("asin"))
    asinh, asinh_ = arcsinh, arcsinh_ = with_in_place(unary("asinh"))
    atan, atan_ = arctan, arctan_ = with_in_place(unary("atan"))
    atan2, atan2_ = arctan2, arctan2_ = with_in_place(binary("atan2"))
    atanh, atanh_ = arctanh, arctanh_ = with_in_place(unary("atanh"))
    bitwise_and, bitwise_and_ = with_in_place(binary("bitwise_and"))
    bitwise_left_shift, bitwise_left_shift_ = with_in_place(binary("bitwise_left_shift"))
    bitwise_not, bitwise_not_ = with_in_place(unary("bitwise_not"))
    bitwise_or, bitwise_or_ = with_in_place(binary("bitwise_or"))
    bitwise_right_shift, bitwise_right_shift_ = with_in_place(binary("bitwise_right_shift"))
    bitwise_xor, bitwise_xor_ = with_in_place(binary("bitwise_xor"))
    ceil, ceil_ = with_in_place(unary("ceil"))
    copysign, copysign_ = with_in_place(binary("copysign"))
    cosh, cosh_ = with_in_place(unary("cosh"))
    digamma, digamma_ = with_in_place(unary("digamma"))
    erf, erf_ = with_in_place(unary("erf"))
    erfc, erfc_ = with_in_place(unary("erfc"))
    erfinv, erfinv_ = with_in_place(unary("erfinv"))
    exp2, exp2_ = with_in_place(unary("exp2"))
    expm1, expm1_ = with_in_place(unary("expm1"))
    trunc, trunc_ = fix, fix_ = with_in_place(unary("trunc"))
    floor, floor_ = with_in_place(unary("floor"))
    floor_divide, floor_divide_ = with_in_place(binary("floor_divide"))
    fmod, fmod_ = with_in_place(binary("fmod"))
    gelu_tanh = unary("gelu_tanh")
    hardsigmoid = unary("hardsigmoid")
    hardswish = unary("hardswish")
    hypot, hypot_ = with_in_place(binary("hypot"))
    lgamma, lgamma_ = with_in_place(unary("lgamma"))
    log10, log10_ = with_in_place(unary("log10"))
    log1p, log1p_ = with_in_place(unary("log1p"))
    log2, log2_ = with_in_place(unary("log2"))
    log_sigmoid = logsigmoid = unary("log_sigmoid")
    logaddexp = binary("logaddexp")
    mish = unary("mish")
    ndtr = unary("ndtr")
    quick_gelu = unary("quick_gelu")
    relu6 = unary("relu6")
    remainder, remainder_ = with_in_place(binary("remainder"))
    selu = unary("selu")
    signbit = unary("signbit")
    silu = unary("silu")
    sinc, sinc_ = with_in_place(unary("sinc"))
    sinh, sinh_ = with_in_place(unary("sinh"))
    softsign = unary("softsign")
    tan, tan_ = with_in_place(unary("tan"))
    xlogy, xlogy_ = with_in_place(binary("xlogy"))

    # --- Other elementwise operations -------------------------------------------------------------

    add = functions.add
    addcdiv, addcdiv_ = with_in_place(functions.addcdiv)
    addcmul, addcmul_ = with_in_place(functions.addcmul)
    clamp, clamp_ = clip, clip_ = with_in_place(functions.clamp)
    clamp_max, clamp_max_ = with_in_place(functions.clamp_max)
    clamp_min, clamp_min_ = with_in_place(functions.clamp_min)
    deg2rad, deg2rad_ = with_in_place(functions.deg2rad)
    float_power = functions.float_power
    fmax = functions.fmax
    fmin = functions.fmin
    frac, frac_ = with_in_place(functions.frac)
    heaviside, heaviside_ = with_in_place(functions.heaviside)
    ldexp, ldexp_ = with_in_place(functions.ldexp)
    lerp, lerp_ = with_in_place(functions.lerp)
    logaddexp2 = functions.logaddexp2
    logit, logit_ = with_in_place(functions.logit)
    nan_to_num, nan_to_num_ = with_in_place(functions.nan_to_num)
    nextafter, nextafter_ = with_in_place(functions.nextafter)
    positive = functions.positive
    pow, pow_ = with_in_place(functions.pow)
    rad2deg, rad2deg_ = with_in_place(functions.rad2deg)
    round, round_ = with_in_place(functions.round)
    square, square_ = with_in_place(functions.square)
    sub = subtract = functions.sub

    __divmod__ = integers.__divmod__
    __rdivmod__ = integers.__rdivmod__
    div = divide = integers.div
    gcd, gcd_ = with_in_place(integers.gcd)
    lcm, lcm_ = with_in_place(integers.lcm)
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

    masked_fill, masked_fill_ = with_in_place(choosing.masked_fill)
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
    cumprod, cumprod_ = with_in_place(scans.cumprod)
    cumsum, cumsum_ = with_in_place(scans.cumsum)
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

    addbmm, addbmm_ = with_in_place(added.addbmm)
    addmm, addmm_ = with_in_place(added.addmm)
    addmv, addmv_ = with_in_place(added.addmv)
    addr, addr_ = with_in_place(added.addr)
    baddbmm, baddbmm_ = with_in_place(added.baddbmm)

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
    copy_ = in_place.copy_
    exp_ = in_place_of(rows.exp)
    sigmoid_ = in_place_of(rows.sigmoid)
    expit_ = sigmoid_
    fill_ = in_place.fill_
    fill_diagonal_ = in_place.fill_diagonal_
    float_power_ = in_place.float_power_
    index_add_ = scattering.index_add_
    log_ = in_place_of(rows.log)
    logical_and_ = in_place_of(rows.logical_and)
    logical_or_ = in_place_of(rows.logical_or)
    relu_ = in_place_of(rows.relu)
    sqrt_ = in_place_of(rows.sqrt)
    squeeze_ = in_place_view_of(views.squeeze)
    swapaxes_ = in_place_view_of(rearranging.swapaxes)
    swapdims_ = in_place_view_of(rearranging.swapdims)
    t_ = in_place_view_of(turning.t)
    tanh_ = in_place_of(rows.tanh)
    transpose_ = in_place_view_of(views.transpose)
    unsqueeze_ = in_place_view_of(views.unsqueeze)
    zero_ = in_place.zero_


register_methods(Tensor, Methods)


def _register_row(row: Operator) -> None:
    """Register the methods of a row that a program has added to the operator table."""
    for name in (row.name, *row.aliases):
        if name not in vars(Tensor):
            register_method(Tensor, name, rows.FUNCTIONS[name])
        if dtype_rules_of(row).in_place and f"{name}_" not in vars(Tensor):
            register_method(Tensor, f"{name}_", in_place_of(rows.FUNCTIONS[row.name]))


OPERATORS.for_each(_register_row, is_reserved=vars(Tensor).__contains__)
