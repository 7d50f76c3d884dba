"""The names of `mt_tensor`, for type checkers; `mt declare` writes this file."""

from mt_autodiff import enable_grad as enable_grad
from mt_autodiff import inference_mode as inference_mode
from mt_autodiff import is_grad_enabled as is_grad_enabled
from mt_autodiff import no_grad as no_grad
from mt_autodiff import set_grad_enabled as set_grad_enabled
from mt_tensor import autograd as autograd
from mt_tensor import cuda as cuda
from mt_tensor import errors as errors
from mt_tensor import linalg as linalg
from mt_tensor.backends import TensorBackend as TensorBackend
from mt_tensor.backends import backends as backends
from mt_tensor.backends import current_backend as current_backend
from mt_tensor.backends import get_backend as get_backend
from mt_tensor.backends import register_backend as register_backend
from mt_tensor.backends import use_backend as use_backend
from mt_tensor.backends.devices import device as device
from mt_tensor.creation.from_data import tensor as tensor
from mt_tensor.creation.from_rules import empty as empty
from mt_tensor.creation.from_rules import full as full
from mt_tensor.creation.from_rules import ones as ones
from mt_tensor.creation.from_rules import zeros as zeros
from mt_tensor.dtypes import DType as DType
from mt_tensor.dtypes import Number
from mt_tensor.dtypes import bfloat16 as bfloat16
from mt_tensor.dtypes import bool_ as _bool_
from mt_tensor.dtypes import bool_ as bool_
from mt_tensor.dtypes import float16 as _float16
from mt_tensor.dtypes import float16 as float16
from mt_tensor.dtypes import float32 as _float32
from mt_tensor.dtypes import float32 as float32
from mt_tensor.dtypes import float64 as _float64
from mt_tensor.dtypes import float64 as float64
from mt_tensor.dtypes import get_default_dtype as get_default_dtype
from mt_tensor.dtypes import int16 as _int16
from mt_tensor.dtypes import int16 as int16
from mt_tensor.dtypes import int32 as _int32
from mt_tensor.dtypes import int32 as int32
from mt_tensor.dtypes import int64 as _int64
from mt_tensor.dtypes import int64 as int64
from mt_tensor.dtypes import int8 as int8
from mt_tensor.dtypes import promote_types as promote_types
from mt_tensor.dtypes import result_type as result_type
from mt_tensor.dtypes import set_default_dtype as set_default_dtype
from mt_tensor.dtypes import uint16 as uint16
from mt_tensor.dtypes import uint32 as uint32
from mt_tensor.dtypes import uint64 as uint64
from mt_tensor.dtypes import uint8 as uint8
from mt_tensor.indexing.gathering import gather as gather
from mt_tensor.library.autocast import autocast as autocast
from mt_tensor.library.autocast import get_autocast_dtype as get_autocast_dtype
from mt_tensor.library.autocast import is_autocast_enabled as is_autocast_enabled
from mt_tensor.library.autograd.gradcheck import grad_central_difference as grad_central_difference
from mt_tensor.library.autograd.gradcheck import grad_check as grad_check
from mt_tensor.library.autograd.gradcheck import gradcheck as gradcheck
from mt_tensor.library.autograd.gradcheck import gradgradcheck as gradgradcheck
from mt_tensor.library.creation.from_arrays import from_numpy as from_numpy
from mt_tensor.library.creation.from_rules import arange as arange
from mt_tensor.library.creation.from_rules import eye as eye
from mt_tensor.library.creation.from_rules import linspace as linspace
from mt_tensor.library.creation.from_rules import logspace as logspace
from mt_tensor.library.creation.from_rules import tril_indices as tril_indices
from mt_tensor.library.creation.from_rules import triu_indices as triu_indices
from mt_tensor.library.creation.from_tensors import empty_like as empty_like
from mt_tensor.library.creation.from_tensors import full_like as full_like
from mt_tensor.library.creation.from_tensors import ones_like as ones_like
from mt_tensor.library.creation.from_tensors import zeros_like as zeros_like
from mt_tensor.library.creation.typed import BFloat16Tensor as BFloat16Tensor
from mt_tensor.library.creation.typed import BoolTensor as BoolTensor
from mt_tensor.library.creation.typed import ByteTensor as ByteTensor
from mt_tensor.library.creation.typed import CharTensor as CharTensor
from mt_tensor.library.creation.typed import DoubleTensor as DoubleTensor
from mt_tensor.library.creation.typed import FloatTensor as FloatTensor
from mt_tensor.library.creation.typed import HalfTensor as HalfTensor
from mt_tensor.library.creation.typed import IntTensor as IntTensor
from mt_tensor.library.creation.typed import LongTensor as LongTensor
from mt_tensor.library.creation.typed import ShortTensor as ShortTensor
from mt_tensor.library.exchange.conversion import as_tensor as as_tensor
from mt_tensor.library.exchange.dlpack import from_dlpack as from_dlpack
from mt_tensor.library.exchange.printing import get_printoptions as get_printoptions
from mt_tensor.library.exchange.printing import printoptions as printoptions
from mt_tensor.library.exchange.printing import set_printoptions as set_printoptions
from mt_tensor.library.fused import fused as fused
from mt_tensor.library.indexing.filling import diagonal_scatter as diagonal_scatter
from mt_tensor.library.indexing.filling import index_copy as index_copy
from mt_tensor.library.indexing.filling import index_fill as index_fill
from mt_tensor.library.indexing.filling import index_put as index_put
from mt_tensor.library.indexing.filling import masked_scatter as masked_scatter
from mt_tensor.library.indexing.filling import put as put
from mt_tensor.library.indexing.filling import select_scatter as select_scatter
from mt_tensor.library.indexing.filling import slice_scatter as slice_scatter
from mt_tensor.library.indexing.finding import argwhere as argwhere
from mt_tensor.library.indexing.finding import masked_select as masked_select
from mt_tensor.library.indexing.finding import nonzero as nonzero
from mt_tensor.library.indexing.finding import take as take
from mt_tensor.library.indexing.finding import take_along_dim as take_along_dim
from mt_tensor.library.indexing.finding import unravel_index as unravel_index
from mt_tensor.library.indexing.finding import where as where
from mt_tensor.library.indexing.scattering import index_add as index_add
from mt_tensor.library.indexing.scattering import index_reduce as index_reduce
from mt_tensor.library.indexing.scattering import one_hot as one_hot
from mt_tensor.library.indexing.scattering import scatter as scatter
from mt_tensor.library.indexing.scattering import scatter_add as scatter_add
from mt_tensor.library.indexing.scattering import scatter_reduce as scatter_reduce
from mt_tensor.library.indexing.slices import index_select as index_select
from mt_tensor.library.limits import finfo as finfo
from mt_tensor.library.limits import iinfo as iinfo
from mt_tensor.library.linalg.products import matrix_power as matrix_power
from mt_tensor.library.linalg.systems import det as det
from mt_tensor.library.linalg.systems import inverse as inverse
from mt_tensor.library.linalg.systems import logdet as logdet
from mt_tensor.library.linalg.systems import pinverse as pinverse
from mt_tensor.library.linalg.systems import slogdet as slogdet
from mt_tensor.library.movement.diagonals import diag as diag
from mt_tensor.library.movement.diagonals import diagonal as diagonal
from mt_tensor.library.movement.diagonals import tril as tril
from mt_tensor.library.movement.diagonals import triu as triu
from mt_tensor.library.movement.functions import broadcast_to as broadcast_to
from mt_tensor.library.movement.functions import clone as clone
from mt_tensor.library.movement.functions import detach as detach
from mt_tensor.library.movement.functions import flatten as flatten
from mt_tensor.library.movement.functions import flip as flip
from mt_tensor.library.movement.functions import masked_fill as masked_fill
from mt_tensor.library.movement.functions import narrow as narrow
from mt_tensor.library.movement.functions import permute as permute
from mt_tensor.library.movement.functions import reshape as reshape
from mt_tensor.library.movement.functions import squeeze as squeeze
from mt_tensor.library.movement.functions import transpose as transpose
from mt_tensor.library.movement.functions import unsqueeze as unsqueeze
from mt_tensor.library.movement.joining import cat as _cat
from mt_tensor.library.movement.joining import cat as cat
from mt_tensor.library.movement.joining import stack as stack
from mt_tensor.library.movement.padding import pad as pad
from mt_tensor.library.movement.rearranging import broadcast_shapes as broadcast_shapes
from mt_tensor.library.movement.rearranging import broadcast_tensors as broadcast_tensors
from mt_tensor.library.movement.rearranging import meshgrid as meshgrid
from mt_tensor.library.movement.rearranging import movedim as _movedim
from mt_tensor.library.movement.rearranging import movedim as movedim
from mt_tensor.library.movement.rearranging import repeat_interleave as repeat_interleave
from mt_tensor.library.movement.rearranging import roll as roll
from mt_tensor.library.movement.rearranging import swapaxes as swapaxes
from mt_tensor.library.movement.rearranging import swapdims as swapdims
from mt_tensor.library.movement.rearranging import tile as tile
from mt_tensor.library.movement.splitting import chunk as chunk
from mt_tensor.library.movement.splitting import dsplit as dsplit
from mt_tensor.library.movement.splitting import hsplit as hsplit
from mt_tensor.library.movement.splitting import narrow_copy as narrow_copy
from mt_tensor.library.movement.splitting import split as split
from mt_tensor.library.movement.splitting import split_with_sizes as split_with_sizes
from mt_tensor.library.movement.splitting import tensor_split as tensor_split
from mt_tensor.library.movement.splitting import unbind as unbind
from mt_tensor.library.movement.splitting import unflatten as unflatten
from mt_tensor.library.movement.splitting import vsplit as vsplit
from mt_tensor.library.movement.stacking import atleast_1d as atleast_1d
from mt_tensor.library.movement.stacking import atleast_2d as atleast_2d
from mt_tensor.library.movement.stacking import atleast_3d as atleast_3d
from mt_tensor.library.movement.stacking import block_diag as block_diag
from mt_tensor.library.movement.stacking import cartesian_prod as cartesian_prod
from mt_tensor.library.movement.stacking import column_stack as column_stack
from mt_tensor.library.movement.stacking import combinations as combinations
from mt_tensor.library.movement.stacking import dstack as dstack
from mt_tensor.library.movement.stacking import hstack as hstack
from mt_tensor.library.movement.stacking import vstack as _vstack
from mt_tensor.library.movement.stacking import vstack as vstack
from mt_tensor.library.movement.turning import adjoint as adjoint
from mt_tensor.library.movement.turning import diag_embed as diag_embed
from mt_tensor.library.movement.turning import diagflat as diagflat
from mt_tensor.library.movement.turning import fliplr as fliplr
from mt_tensor.library.movement.turning import flipud as flipud
from mt_tensor.library.movement.turning import ravel as ravel
from mt_tensor.library.movement.turning import rot90 as rot90
from mt_tensor.library.movement.turning import select as select
from mt_tensor.library.movement.turning import t as t
from mt_tensor.library.order.counting import bincount as bincount
from mt_tensor.library.order.counting import histc as histc
from mt_tensor.library.order.counting import unique as unique
from mt_tensor.library.order.counting import unique_consecutive as unique_consecutive
from mt_tensor.library.order.ranks import diff as diff
from mt_tensor.library.order.ranks import kthvalue as kthvalue
from mt_tensor.library.order.ranks import msort as msort
from mt_tensor.library.order.ranks import nanquantile as nanquantile
from mt_tensor.library.order.ranks import quantile as quantile
from mt_tensor.library.order.scans import cummax as cummax
from mt_tensor.library.order.scans import cummin as cummin
from mt_tensor.library.order.scans import cumprod as cumprod
from mt_tensor.library.order.scans import cumsum as cumsum
from mt_tensor.library.order.scans import logcumsumexp as logcumsumexp
from mt_tensor.library.order.searching import bucketize as bucketize
from mt_tensor.library.order.searching import isin as isin
from mt_tensor.library.order.searching import searchsorted as searchsorted
from mt_tensor.library.order.sorting import argsort as argsort
from mt_tensor.library.order.sorting import median as median
from mt_tensor.library.order.sorting import mode as mode
from mt_tensor.library.order.sorting import nanmedian as nanmedian
from mt_tensor.library.order.sorting import sort as sort
from mt_tensor.library.order.sorting import topk as topk
from mt_tensor.library.order.trapezoids import cumulative_trapezoid as cumulative_trapezoid
from mt_tensor.library.order.trapezoids import trapezoid as _trapezoid
from mt_tensor.library.order.trapezoids import trapezoid as trapezoid
from mt_tensor.library.pointwise.activations import celu as celu
from mt_tensor.library.pointwise.activations import elu as elu
from mt_tensor.library.pointwise.activations import gelu as gelu
from mt_tensor.library.pointwise.activations import glu as glu
from mt_tensor.library.pointwise.activations import hardshrink as hardshrink
from mt_tensor.library.pointwise.activations import hardtanh as hardtanh
from mt_tensor.library.pointwise.activations import leaky_relu as leaky_relu
from mt_tensor.library.pointwise.activations import prelu as prelu
from mt_tensor.library.pointwise.activations import softplus as softplus
from mt_tensor.library.pointwise.activations import softshrink as softshrink
from mt_tensor.library.pointwise.activations import tanhshrink as tanhshrink
from mt_tensor.library.pointwise.activations import threshold as threshold
from mt_tensor.library.pointwise.comparing import allclose as allclose
from mt_tensor.library.pointwise.comparing import equal as equal
from mt_tensor.library.pointwise.comparing import isclose as isclose
from mt_tensor.library.pointwise.comparing import isneginf as isneginf
from mt_tensor.library.pointwise.comparing import isposinf as isposinf
from mt_tensor.library.pointwise.functions import add as add
from mt_tensor.library.pointwise.functions import addcdiv as addcdiv
from mt_tensor.library.pointwise.functions import addcmul as addcmul
from mt_tensor.library.pointwise.functions import clamp as _clamp
from mt_tensor.library.pointwise.functions import clamp as clamp
from mt_tensor.library.pointwise.functions import clamp_max as clamp_max
from mt_tensor.library.pointwise.functions import clamp_min as clamp_min
from mt_tensor.library.pointwise.functions import deg2rad as deg2rad
from mt_tensor.library.pointwise.functions import float_power as float_power
from mt_tensor.library.pointwise.functions import fmax as fmax
from mt_tensor.library.pointwise.functions import fmin as fmin
from mt_tensor.library.pointwise.functions import frac as frac
from mt_tensor.library.pointwise.functions import heaviside as heaviside
from mt_tensor.library.pointwise.functions import ldexp as ldexp
from mt_tensor.library.pointwise.functions import lerp as lerp
from mt_tensor.library.pointwise.functions import logaddexp2 as logaddexp2
from mt_tensor.library.pointwise.functions import logit as logit
from mt_tensor.library.pointwise.functions import nan_to_num as nan_to_num
from mt_tensor.library.pointwise.functions import positive as positive
from mt_tensor.library.pointwise.functions import pow as pow
from mt_tensor.library.pointwise.functions import rad2deg as rad2deg
from mt_tensor.library.pointwise.functions import round as round
from mt_tensor.library.pointwise.functions import square as square
from mt_tensor.library.pointwise.functions import sub as _sub
from mt_tensor.library.pointwise.functions import sub as sub
from mt_tensor.library.pointwise.fusing import fuse as fuse
from mt_tensor.library.pointwise.fusing_in_place import fuse_in_place as fuse_in_place
from mt_tensor.library.pointwise.integers import div as _div
from mt_tensor.library.pointwise.integers import div as div
from mt_tensor.library.pointwise.integers import gcd as gcd
from mt_tensor.library.pointwise.integers import lcm as lcm
from mt_tensor.library.pointwise.integers import true_divide as true_divide
from mt_tensor.library.products.added import addbmm as addbmm
from mt_tensor.library.products.added import addmm as addmm
from mt_tensor.library.products.added import addmv as addmv
from mt_tensor.library.products.added import addr as addr
from mt_tensor.library.products.added import baddbmm as baddbmm
from mt_tensor.library.products.contraction import tensordot as tensordot
from mt_tensor.library.products.distances import cdist as cdist
from mt_tensor.library.products.distances import dist as dist
from mt_tensor.library.products.distances import pairwise_distance as pairwise_distance
from mt_tensor.library.products.distances import pdist as pdist
from mt_tensor.library.products.einsum import einsum as einsum
from mt_tensor.library.products.precision import get_float32_matmul_precision as get_float32_matmul_precision
from mt_tensor.library.products.precision import set_float32_matmul_precision as set_float32_matmul_precision
from mt_tensor.library.products.vectors import bmm as bmm
from mt_tensor.library.products.vectors import chain_matmul as chain_matmul
from mt_tensor.library.products.vectors import cosine_similarity as cosine_similarity
from mt_tensor.library.products.vectors import cross as cross
from mt_tensor.library.products.vectors import dot as dot
from mt_tensor.library.products.vectors import inner as inner
from mt_tensor.library.products.vectors import kron as kron
from mt_tensor.library.products.vectors import mm as mm
from mt_tensor.library.products.vectors import mv as mv
from mt_tensor.library.products.vectors import outer as _outer
from mt_tensor.library.products.vectors import outer as outer
from mt_tensor.library.products.vectors import trace as trace
from mt_tensor.library.products.vectors import vander as vander
from mt_tensor.library.products.vectors import vdot as vdot
from mt_tensor.library.programs.compiling import compile as compile
from mt_tensor.library.programs.lazy import lazy as lazy
from mt_tensor.library.questions import is_complex as is_complex
from mt_tensor.library.questions import is_floating_point as is_floating_point
from mt_tensor.library.questions import is_nonzero as is_nonzero
from mt_tensor.library.questions import is_same_size as is_same_size
from mt_tensor.library.questions import is_signed as is_signed
from mt_tensor.library.questions import is_tensor as is_tensor
from mt_tensor.library.questions import numel as numel
from mt_tensor.library.randomness.generator import Generator as Generator
from mt_tensor.library.randomness.generator import default_generator as default_generator
from mt_tensor.library.randomness.generator import get_rng_state as get_rng_state
from mt_tensor.library.randomness.generator import initial_seed as initial_seed
from mt_tensor.library.randomness.generator import manual_seed as manual_seed
from mt_tensor.library.randomness.generator import set_rng_state as set_rng_state
from mt_tensor.library.randomness.random_tensors import normal as normal
from mt_tensor.library.randomness.random_tensors import rand as rand
from mt_tensor.library.randomness.random_tensors import rand_like as rand_like
from mt_tensor.library.randomness.random_tensors import randint as randint
from mt_tensor.library.randomness.random_tensors import randint_like as randint_like
from mt_tensor.library.randomness.random_tensors import randn as randn
from mt_tensor.library.randomness.random_tensors import randn_like as randn_like
from mt_tensor.library.randomness.random_tensors import randperm as randperm
from mt_tensor.library.randomness.random_tensors import uniform as uniform
from mt_tensor.library.randomness.sampling import bernoulli as bernoulli
from mt_tensor.library.randomness.sampling import multinomial as multinomial
from mt_tensor.library.reductions.extremes import amax as amax
from mt_tensor.library.reductions.extremes import amin as amin
from mt_tensor.library.reductions.extremes import aminmax as aminmax
from mt_tensor.library.reductions.extremes import argmax as argmax
from mt_tensor.library.reductions.extremes import argmin as argmin
from mt_tensor.library.reductions.extremes import max as max
from mt_tensor.library.reductions.extremes import min as min
from mt_tensor.library.reductions.norms import norm as norm
from mt_tensor.library.reductions.softmax import log_softmax as log_softmax
from mt_tensor.library.reductions.softmax import logsumexp as logsumexp
from mt_tensor.library.reductions.softmax import softmax as softmax
from mt_tensor.library.reductions.softmax import softmin as softmin
from mt_tensor.library.reductions.statistics import corrcoef as corrcoef
from mt_tensor.library.reductions.statistics import cov as cov
from mt_tensor.library.reductions.statistics import std as std
from mt_tensor.library.reductions.statistics import std_mean as std_mean
from mt_tensor.library.reductions.statistics import var as var
from mt_tensor.library.reductions.statistics import var_mean as var_mean
from mt_tensor.library.reductions.sums import nanmean as nanmean
from mt_tensor.library.reductions.sums import nansum as nansum
from mt_tensor.library.reductions.sums import prod as prod
from mt_tensor.library.reductions.truth import all as all
from mt_tensor.library.reductions.truth import any as any
from mt_tensor.library.reductions.truth import count_nonzero as count_nonzero
from mt_tensor.pointwise.elementwise import elementwise as elementwise
from mt_tensor.products.matmul import matmul as matmul
from mt_tensor.recording.function import Function as Function
from mt_tensor.reductions.sums import mean as mean
from mt_tensor.reductions.sums import sum as sum
from mt_tensor.size import Size as Size
from mt_tensor.tensor import Tensor as Tensor
from mt_tensor.tensor_data import TensorData as TensorData

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
    "int16",
    "int32",
    "int64",
    "int8",
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
    "log10",
    "log1p",
    "log2",
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
    "uint16",
    "uint32",
    "uint64",
    "uint8",
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
__version__: str

def abs(input: Tensor) -> Tensor:
    """Element by element: |x|; derivative 0 at 0."""
def absolute(input: Tensor) -> Tensor:
    """Element by element: |x|; derivative 0 at 0."""
def acos(input: Tensor) -> Tensor:
    """Element by element: the angle whose cosine is x."""
def acosh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic cosine is x."""
def arccos(input: Tensor) -> Tensor:
    """Element by element: the angle whose cosine is x."""
def arccosh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic cosine is x."""
def arcsin(input: Tensor) -> Tensor:
    """Element by element: the angle whose sine is x."""
def arcsinh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic sine is x."""
def arctan(input: Tensor) -> Tensor:
    """Element by element: the angle whose tangent is x."""
def arctan2(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the angle of the point (x, y), from -pi to pi; derivatives 0 at the origin."""
def arctanh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic tangent is x."""
def asin(input: Tensor) -> Tensor:
    """Element by element: the angle whose sine is x."""
def asinh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic sine is x."""
def atan(input: Tensor) -> Tensor:
    """Element by element: the angle whose tangent is x."""
def atan2(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the angle of the point (x, y), from -pi to pi; derivatives 0 at the origin."""
def atanh(input: Tensor) -> Tensor:
    """Element by element: the number whose hyperbolic tangent is x."""
def bitwise_and(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the bits that both have."""
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the bits of x moved up by y places."""
def bitwise_not(input: Tensor) -> Tensor:
    """Element by element: the bits that x lacks."""
def bitwise_or(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the bits that either has."""
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the bits of x moved down by y places; its sign stays."""
def bitwise_xor(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the bits that exactly one has."""
bool = _bool_
def ceil(input: Tensor) -> Tensor:
    """Element by element: the smallest integer not below x; derivative 0."""
clip = _clamp
concat = _cat
concatenate = _cat
def copysign(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: |x| with the sign of y, of a zero too; derivative 0 where x is 0."""
def cos(input: Tensor) -> Tensor:
    """Element by element: cosine, x in radians."""
def cosh(input: Tensor) -> Tensor:
    """Element by element: hyperbolic cosine."""
def digamma(input: Tensor) -> Tensor:
    """Element by element: derivative of lgamma; nan at -1, -2, ..., infinite at 0."""
divide = _div
double = _float64
def eq(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x == y; nan equals nothing."""
def erf(input: Tensor) -> Tensor:
    """Element by element: error function: the integral of 2 / sqrt(pi) exp(-t t) from 0 to x."""
def erfc(input: Tensor) -> Tensor:
    """Element by element: 1 - erf(x), exact also where erf(x) is almost 1."""
def erfinv(input: Tensor) -> Tensor:
    """Element by element: the number whose error function is y."""
def exp(input: Tensor) -> Tensor:
    """Element by element: e to the power x."""
def exp2(input: Tensor) -> Tensor:
    """Element by element: 2 to the power x."""
def expit(input: Tensor) -> Tensor:
    """Element by element: 1 / (1 + exp(-x))."""
def expm1(input: Tensor) -> Tensor:
    """Element by element: exp(x) - 1, for small x too."""
def fix(input: Tensor) -> Tensor:
    """Element by element: x without its fraction; derivative 0."""
float = _float32
def floor(input: Tensor) -> Tensor:
    """Element by element: the largest integer not above x; derivative 0."""
def floor_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x / y rounded down; derivative 0."""
def fmod(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the remainder of x / y rounded towards zero, with the sign of x."""
def ge(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x >= y."""
def gelu_tanh(input: Tensor) -> Tensor:
    """Element by element: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x x x))) / 2, which is close to gelu."""
ger = _outer
def greater(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x > y."""
def greater_equal(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x >= y."""
def gt(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x > y."""
half = _float16
def hardsigmoid(input: Tensor) -> Tensor:
    """Element by element: x / 6 + 1/2 between 0 and 1; derivative 0 at the kinks."""
def hardswish(input: Tensor) -> Tensor:
    """Element by element: x hardsigmoid(x); derivative 0 at -3 and 1 at 3."""
def hypot(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: sqrt(x x + y y), also where squares overflow; derivatives 0 at the origin."""
def id(input: Tensor) -> Tensor:
    """Element by element: the argument itself."""
int = _int32
def inv(input: Tensor) -> Tensor:
    """Element by element: 1 / x."""
def is_close(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: |x - y| < 1/100."""
def isfinite(input: Tensor) -> Tensor:
    """Element by element: whether x is neither infinite nor nan."""
def isinf(input: Tensor) -> Tensor:
    """Element by element: whether x is infinite."""
def isnan(input: Tensor) -> Tensor:
    """Element by element: whether x is nan."""
def le(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x <= y."""
def less(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x < y."""
def less_equal(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x <= y."""
def lgamma(input: Tensor) -> Tensor:
    """Element by element: logarithm of the size of the gamma function; infinite at its poles 0, -1, -2, ...."""
def log(input: Tensor) -> Tensor:
    """Element by element: natural logarithm."""
def log10(input: Tensor) -> Tensor:
    """Element by element: logarithm to base 10."""
def log1p(input: Tensor) -> Tensor:
    """Element by element: log(1 + x), for small x too."""
def log2(input: Tensor) -> Tensor:
    """Element by element: logarithm to base 2."""
def log_sigmoid(input: Tensor) -> Tensor:
    """Element by element: log(sigmoid(x)), which would underflow."""
def logaddexp(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: log(exp(x) + exp(y)), which would overflow."""
def logical_and(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: whether both are non-zero."""
def logical_not(input: Tensor) -> Tensor:
    """Element by element: whether x is zero."""
def logical_or(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: whether either is non-zero."""
def logical_xor(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: whether exactly one is non-zero."""
def logsigmoid(input: Tensor) -> Tensor:
    """Element by element: log(sigmoid(x)), which would underflow."""
long = _int64
def lt(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x < y."""
def maximum(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the larger; nan if either is nan; derivative 1/2 for each of equal arguments."""
def minimum(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the smaller; nan if either is nan; derivative 1/2 for each of equal arguments."""
def mish(input: Tensor) -> Tensor:
    """Element by element: x tanh(softplus(x))."""
moveaxis = _movedim
def mul(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x y."""
def multiply(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x y."""
def ndtr(input: Tensor) -> Tensor:
    """Element by element: the share of the normal distribution of mean 0 and variance 1 that lies below x."""
def ne(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x != y."""
def neg(input: Tensor) -> Tensor:
    """Element by element: -x."""
def negative(input: Tensor) -> Tensor:
    """Element by element: -x."""
def not_equal(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x != y."""
def quick_gelu(input: Tensor) -> Tensor:
    """Element by element: x sigmoid(1.702 x), which is close to gelu."""
def reciprocal(input: Tensor) -> Tensor:
    """Element by element: 1 / x."""
def relu(input: Tensor) -> Tensor:
    """Element by element: max(x, 0); derivative 0 at 0."""
def relu6(input: Tensor) -> Tensor:
    """Element by element: x between 0 and 6; derivative 0 at both."""
def remainder(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: the remainder of x / y rounded down, with the sign of y."""
row_stack = _vstack
def rsqrt(input: Tensor) -> Tensor:
    """Element by element: 1 / sqrt(x)."""
def selu(input: Tensor) -> Tensor:
    """Element by element: elu scaled so that mean 0 and variance 1 stay; the left derivative at 0."""
def sgn(input: Tensor) -> Tensor:
    """Element by element: 1, 0 or -1 as x is positive, zero or negative; derivative 0."""
short = _int16
def sigmoid(input: Tensor) -> Tensor:
    """Element by element: 1 / (1 + exp(-x))."""
def sign(input: Tensor) -> Tensor:
    """Element by element: 1, 0 or -1 as x is positive, zero or negative; derivative 0."""
def signbit(input: Tensor) -> Tensor:
    """Element by element: whether x is negative, as -0 is."""
def silu(input: Tensor) -> Tensor:
    """Element by element: x sigmoid(x), also called swish."""
def sin(input: Tensor) -> Tensor:
    """Element by element: sine, x in radians."""
def sinc(input: Tensor) -> Tensor:
    """Element by element: sin(pi x) / (pi x), and 1 at 0."""
def sinh(input: Tensor) -> Tensor:
    """Element by element: hyperbolic sine."""
def softsign(input: Tensor) -> Tensor:
    """Element by element: x / (1 + |x|)."""
def sqrt(input: Tensor) -> Tensor:
    """Element by element: square root."""
subtract = _sub
def tan(input: Tensor) -> Tensor:
    """Element by element: tangent, x in radians."""
def tanh(input: Tensor) -> Tensor:
    """Element by element: hyperbolic tangent."""
trapz = _trapezoid
def trunc(input: Tensor) -> Tensor:
    """Element by element: x without its fraction; derivative 0."""
def xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Element by element: x log(y), and 0 where x is 0."""
