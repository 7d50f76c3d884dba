"""Arguments of operations: torch's names, NumPy scalars, invalid values and their errors."""

import inspect

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError, UnknownBackendError

X = mt.tensor([[1.5, -2.0, 3.0], [0.5, 2.0, -1.0]])
N = mt.tensor([3, -1, 2])

# --- Keyword arguments --------------------------------------------------------------------------

KEYWORD_CALLS = (
    lambda x: x.view(size=(3, 2)),
    lambda x: x.reshape(shape=(3, 2)),
    lambda x: x.permute(dims=(1, 0)),
    lambda x: x.expand(size=(2, 2, 3)),
    lambda x: x.broadcast_to(2, 2, 3),
    lambda x: x.broadcast_to(size=(2, 2, 3)),
    lambda x: x.flip(dims=(1,)),
    lambda x: x.repeat(repeats=(2, 1)),
    lambda x: x.tile(dims=(2,)),
    lambda x: x.sum_to_size(size=(2, 1)),
    lambda x: x[0].dot(tensor=x[1]),
    lambda x: x[0].vdot(other=x[1]),
    lambda x: x.squeeze((0, -1)),
    lambda x: x[:, :1].squeeze(np.int64(1)),
    lambda x: x.narrow(1, -2, 2),
    lambda x: x.round(decimals=1),
    lambda x: (x * 100).round(decimals=-2),
)


@pytest.mark.parametrize("call", KEYWORD_CALLS)
def test_torch_argument_names_and_types_give_torch_results(call):
    torch = pytest.importorskip("torch")
    assert call(X).tolist() == call(torch.tensor(X.tolist())).tolist()


VARIADIC = {"broadcast_to", "flip", "permute", "reshape", "tile"}
"""Operations whose methods take separate sizes, but whose functions take one sequence."""

METHODS_AND_FUNCTIONS = [
    name
    for name, function in inspect.getmembers(mt, inspect.isfunction)
    if getattr(mt.Tensor, name, function) is not function
    and name not in {*VARIADIC, "where"}
    and not name.startswith("_")
]


@pytest.mark.parametrize("name", METHODS_AND_FUNCTIONS)
def test_method_and_function_have_the_same_signature(name):
    """Names may differ by the suffix `_or_sections`, as in torch."""

    def parameters_of(function):
        _, *others = inspect.signature(function).parameters.values()
        return [(p.name.removesuffix("_or_sections"), p.kind, p.default) for p in others]

    assert parameters_of(getattr(mt.Tensor, name)) == parameters_of(getattr(mt, name))


def test_functions_with_special_signatures_match_torch():
    torch = pytest.importorskip("torch")
    for m in (mt, torch):
        x = m.tensor(X.tolist())
        assert m.tensordot(a=x, b=x, dims=2).item() == 20.5
        assert [index.tolist() for index in m.where(x > 2)] == [[0], [2]]
        assert [part.tolist() for part in x[1].tensor_split(m.tensor([1, 2]))] == [[0.5], [2], [-1]]
        assert [len(part) for part in x[1].tensor_split(m.tensor(2))] == [2, 1]
        for make in (m.zeros, m.ones, m.empty, m.rand, m.randn):
            assert make(size=(2, 3)).shape == (2, 3)
        for like in (x.new_zeros, x.new_ones, x.new_empty):
            assert like(size=(2, 3)).shape == (2, 3)
        assert x.new_full(size=(2, 3), fill_value=1.0).shape == (2, 3)


def test_round_in_place_has_zero_gradient():
    x = mt.tensor([1.26, -0.349], requires_grad=True)
    y = x * 1.0
    y.round_(decimals=1).sum().backward()
    assert (y.isclose(mt.tensor([1.3, -0.3])).all(), x.grad.tolist()) == (True, [0, 0])


def test_tensor_and_as_tensor_accept_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in ("float64", "int16", "bool"):
        array = torch.ones(2, 3, dtype=getattr(torch, dtype))
        for converted in (
            mt.tensor(array),
            mt.as_tensor(array),
            mt.tensor(array, dtype="float32").to(dtype),
        ):
            assert (converted.dtype.name, converted.tolist()) == (dtype, array.tolist())


def test_sizes_given_positionally_and_by_name_raise():
    for call in (X.view, X.new_zeros, mt.zeros):
        with pytest.raises(TypeError, match="given twice"):
            call(3, 2, size=(3, 2))


# --- NumPy scalars as operands ------------------------------------------------------------------

NUMBER_CALLS = (
    lambda x, n, number: x.add(number),
    lambda x, n, number: x.sub(x, alpha=number),
    lambda x, n, number: x.clamp(number),
    lambda x, n, number: x.clamp(max=number),
    lambda x, n, number: x.atan2(x * number),
    lambda x, n, number: x.maximum(x * 0 + number),
    lambda x, n, number: x.square().pow(number),
    lambda x, n, number: x.ge(number),
    lambda x, n, number: n.add(number),
    lambda x, n, number: x.fill_(number),
    lambda x, n, number: x.masked_fill(x > 0, number),
    lambda x, n, number: x.nan_to_num(number),
    lambda x, n, number: x.norm(number),
    lambda x, n, number: x.sigmoid().logit(number * 0),
)
INTEGER_CALLS = (
    lambda x, n, number: n.bitwise_and(number),
    lambda x, n, number: n.clamp(number),
    lambda x, n, number: n.floor_divide(number),
    lambda x, n, number: x.diff(number),
    lambda x, n, number: x.kthvalue(number)[0],
    lambda x, n, number: x[:, :2].matrix_power(number),
    lambda x, n, number: x.select(number, number),
    lambda x, n, number: x.quantile(number),
)


@pytest.mark.parametrize(
    ("call", "number"),
    [
        *((call, number) for call in NUMBER_CALLS for number in (np.float32(1.5), np.int64(2))),
        *((call, np.int16(1)) for call in INTEGER_CALLS),
    ],
)
def test_numpy_scalar_operand_acts_like_python_number(call, number):
    result, expected = (call(X.clone(), N, value) for value in (number, number.item()))
    assert (result.dtype, result.tolist()) == (expected.dtype, expected.tolist())


def test_result_type_treats_numpy_scalar_as_python_number():
    assert mt.result_type(N, np.float64(1)) is mt.float32
    assert mt.result_type(N.to("int8"), np.int64(1)) is mt.int8


# --- Invalid arguments --------------------------------------------------------------------------

ARRAY = np.array([0, 1])

INVALID_CALLS = (
    (lambda: X.sum(ARRAY[:, None]), TypeError, "a dimension must be an integer"),
    (lambda: X.sort(ARRAY), TypeError, "a dimension must be an integer"),
    (lambda: X.view(ARRAY), TypeError, "must be integers"),
    (lambda: X.broadcast_to(1.5), TypeError, "must be integers"),
    (lambda: X.topk(ARRAY), TypeError, "k must be an integer"),
    (lambda: X.chunk((1, 2)), TypeError, "chunks must be an integer"),
    (lambda: X.diag([0, 1]), TypeError, "diagonal must be an integer"),
    (lambda: X.diagonal("a"), TypeError, "offset must be an integer"),
    (lambda: X.rot90((0, 1)), TypeError, "k must be an integer"),
    (lambda: X.unfold(0, 1.5, 1), TypeError, "size must be an integer"),
    (lambda: X.squeeze(1.5), TypeError, "a dimension must be an integer"),
    (lambda: X.squeeze((0, 0)), IndexingError, "not distinct"),
    (lambda: X[0, 0].size(0), IndexingError, "0-dimensional tensor has no dimension 0"),
    (lambda: X[0, 0].stride(-1), IndexingError, "0-dimensional tensor has no dimension -1"),
    (lambda: X[0, 0].unique(dim=0), IndexingError, "at least one dimension"),
    (lambda: X[0, 0].take_along_dim(mt.tensor(0), 0), IndexingError, "at least one dimension"),
    (lambda: mt.glu(X, None), TypeError, "a dimension must be an integer"),
    (lambda: mt.linspace(0, 1, (2, 3)), TypeError, "steps must be an integer"),
    (lambda: mt.arange(10**20), DTypeError, "out of range for int64"),
    (lambda: mt.randperm((2, 3)), TypeError, "n must be an integer"),
    (lambda: mt.is_close(X > 0, True), DTypeError, "not defined on bool"),
    (lambda: mt.is_close(X > 0, X > 1), DTypeError, "not defined on bool"),
    (lambda: mt.promote_types(mt.int8, 3), DTypeError, "unsupported dtype 3"),
    (lambda: mt.gradcheck(lambda x: x, 3), TypeError, "takes tensors; 3"),
    (lambda: mt.gradcheck(lambda x: x, [X, "a"]), TypeError, "takes tensors; 'a'"),
    (lambda: mt.zeros(ARRAY), TypeError, "non-negative integers"),
    (lambda: X.repeat_interleave([]), ShapeError, "a single number"),
    (lambda: X.repeat_interleave(-(10**20)), ShapeError, "takes non-negative repeats"),
    (lambda: mt.ones(3).tensor_split(2**40), ShapeError, "into 1099511627776 pieces"),
    (lambda: mt.ones(3).tensor_split(10**20), ShapeError, "pieces"),
    (lambda: mt.zeros(0).tensor_split(mt.tensor(2**40)), ShapeError, "pieces"),
    (lambda: mt.zeros(0).hsplit(2**40), ShapeError, "pieces"),
    (lambda: mt.zeros(0).chunk(10**20), ShapeError, "pieces"),
    (lambda: mt.zeros(0).chunk(2**40), ShapeError, "pieces"),
    (lambda: X.type_as(3), TypeError, "takes tensors"),
    (lambda: X.clone().fill_(None), TypeError, "None of type NoneType"),
    (lambda: X.clone().fill_(X), ShapeError, "a number or a 0-D tensor"),
    (lambda: X.clone().fill_diagonal_("a"), TypeError, "'a' of type str"),
    (lambda: X.masked_fill(X > 0, [0]), TypeError, "of type list"),
    (lambda: X.masked_fill(X > 0, X), ShapeError, "a number or a 0-D tensor"),
    (lambda: X.nan_to_num("a"), TypeError, "'a' of type str"),
    (lambda: X.logit("a"), TypeError, "eps must be a number"),
    (lambda: X.norm(ARRAY), TypeError, "p must be a number"),
    (lambda: X.add(X, alpha="a"), TypeError, "alpha must be a number"),
    (lambda: mt.hardtanh(X, None), TypeError, "min_val must be a number"),
    (lambda: mt.hardtanh(N, float("nan")), DTypeError, "nan is out of range"),
    (lambda: X.flip((0, -2)), IndexingError, "not distinct"),
    (lambda: X.narrow(1, -4, 2), IndexingError, "out of range for dimension 1"),
    (lambda: X.narrow(1, None, 2), TypeError, "start must be an integer"),
    (lambda: X.round(decimals="a"), TypeError, "decimals must be an integer"),
    (lambda: X.round(decimals=2**31), DomainError, "decimals from -308 to 308"),
    (lambda: N.round(decimals=1), DTypeError, "takes decimals=0"),
    (lambda: X.clone().add_(X, alpha=None), TypeError, "alpha must be a number"),
    (lambda: N.clone().sub_(N, alpha=0.5), DTypeError, "alpha=0.5 does not fit"),
    (lambda: mt.threshold(X, None, 0), TypeError, "threshold must be a number"),
    (lambda: X.isclose(X, None), TypeError, "rtol must be a number"),
    (lambda: mt.tensordot(X[0, 0], X, (0, 1)), ShapeError, "dims of equal length"),
    (lambda: mt.hardshrink(X, None), TypeError, "lambd must be a number"),
    (lambda: mt.softshrink(X, "a"), TypeError, "lambd must be a number"),
    (lambda: mt.softplus(X, None), TypeError, "beta must be a number"),
    (lambda: mt.celu(X, ARRAY), TypeError, "alpha must be a number"),
    (lambda: mt.elu(X, mt.ones(2, requires_grad=True)), TypeError, "alpha must be a number"),
    (lambda: mt.result_type(X, None), TypeError, "not a tensor must be a number; None"),
    (lambda: mt.result_type(X, ARRAY), TypeError, "not a tensor must be a number; array"),
    (lambda: mt.tensor([1], dtype=mt.tensor(1)), DTypeError, "unsupported dtype"),
    (lambda: mt.gelu(X, ARRAY), TypeError, r"'none', 'tanh'; array\(\[0, 1\]\) was given"),
    (lambda: mt.meshgrid(X[0], indexing=ARRAY), TypeError, "indexing must be one of"),
    (lambda: mt.cdist(X, X, compute_mode=ARRAY), TypeError, "compute_mode must be one of"),
    (lambda: X.quantile(0.5, interpolation=ARRAY), TypeError, "interpolation must be one of"),
    (lambda: mt.searchsorted(X[0], X[0], side=ARRAY), TypeError, "side must be one of"),
    (lambda: mt.linalg.eigvalsh(X[:, :2], ARRAY), TypeError, "UPLO must be one of"),
    (lambda: mt.linalg.qr(X, ARRAY), TypeError, "mode must be one of"),
    (lambda: X.scatter_reduce(0, N[None], X, ARRAY), TypeError, "reduce must be one of"),
    (lambda: X.index_reduce(0, N, X, ARRAY), TypeError, "reduce must be one of"),
    (lambda: mt.tensor(X, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.zeros(2, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.ones(2, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.eye(2, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.linspace(0, 1, 2, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.logspace(0, 1, 2, dtype=ARRAY), DTypeError, "unsupported dtype"),
    (lambda: mt.normal(X, X, dtype=ARRAY), TypeError, "which determine shape, dtype"),
    (lambda: mt.ones(1, backend=["numpy"]), UnknownBackendError, "takes a backend or its name"),
    (lambda: X.cov(correction="a"), TypeError, "correction must be a number; 'a'"),
    (lambda: mt.cdist(X, X, p="a"), TypeError, "p must be a number; 'a'"),
    (lambda: mt.addmm(X, X, X.T, beta=None), TypeError, "beta must be a number; None"),
    (lambda: X.select(0, 1.5), TypeError, "index must be an integer; 1.5"),
    (lambda: mt.float_power(2, 3), TypeError, r"float_power\(\) takes tensors"),
    (lambda: mt.inverse(X), ShapeError, r"inverse\(\)"),
    (lambda: mt.linalg.inv(X), ShapeError, r"inv\(\)"),
    (lambda: mt.gradgradcheck(lambda x: x, 3), TypeError, r"gradgradcheck\(\) takes tensors"),
    (lambda: mt.tensordot(X > 0, X.T > 0, 1), DTypeError, r"tensordot\(\) is not defined on bool"),
    (lambda: mt.inner(X > 0, X > 0), DTypeError, r"inner\(\) is not defined on bool"),
    (lambda: mt.autograd.backward([X], [X, X]), ShapeError, r"result\(s\); 2 were given"),
)


@pytest.mark.parametrize(("call", "error", "message"), INVALID_CALLS)
def test_invalid_argument_raises_error_that_names_it(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- NumPy scalars as settings ------------------------------------------------------------------

HALF, TWO = np.float32(0.5), np.int64(2)
SORTED = mt.tensor([0.0, 1.0, 2.0])
NUMPY_SCALAR_CALLS = (
    (lambda n: mt.celu(X, n), HALF),
    (lambda n: mt.ones(50).bernoulli(n, generator=mt.Generator().manual_seed(1)), HALF),
    (lambda n: mt.ones(50).bernoulli_(n, generator=mt.Generator().manual_seed(1)), HALF),
    (lambda n: mt.addmm(X, X, mt.eye(X.shape[1]), beta=n, alpha=n), HALF),
    (lambda n: mt.linalg.vector_norm(X, n), np.float32(3)),
    (X.norm, np.float32(3)),
    (lambda n: mt.cdist(X, X, n), np.float32(3)),
    (lambda n: mt.bucketize(n, SORTED), np.float32(1)),
    (lambda n: mt.searchsorted(SORTED, n), np.float32(1)),
    (lambda n: mt.isin(SORTED, n), np.float32(1)),
    (lambda n: X.var(correction=n), HALF),
    (X.quantile, HALF),
    (lambda n: mt.trapezoid(X, dx=n), HALF),
    (lambda n: mt.full((2,), n), np.float32(1)),
    (lambda n: N & n, TWO),
    (lambda n: n << N, TWO),
    (lambda n: X // n, TWO),
    (lambda n: SORTED.multinomial(n, True, generator=mt.Generator().manual_seed(1)), TWO),
    (lambda n: mt.zeros(9).random_(n, generator=mt.Generator().manual_seed(1)), TWO),
    (X.histc, TWO),
    (lambda n: mt.bincount(mt.tensor([1, 1]), minlength=n), TWO),
    (lambda n: mt.linalg.vander(SORTED, N=n), TWO),
    (lambda n: mt.vander(SORTED, n), TWO),
    (lambda n: mt.matrix_power(mt.ones(2, 2), n), TWO),
    (X.topk, TWO),
    (X.kthvalue, TWO),
    (X.diff, TWO),
    (X.tensor_split, TWO),
    (lambda n: mt.combinations(SORTED, n), TWO),
)


@pytest.mark.parametrize(("call", "number"), NUMPY_SCALAR_CALLS)
def test_numpy_scalar_setting_acts_like_python_number(call, number):
    for result, expected in zip(
        _as_tuple(call(number)), _as_tuple(call(number.item())), strict=True
    ):
        assert result.dtype is expected.dtype
        assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: mt.celu(X, n),
        lambda n: mt.elu(X, n),
        lambda n: mt.softplus(X, n),
        lambda n: mt.hardshrink(X, n),
        lambda n: mt.add(X, X, alpha=n),
        lambda n: mt.addmm(X, X, mt.eye(3), beta=n, alpha=n),
        lambda n: mt.addcmul(X, X, X, value=n),
        lambda n: mt.linalg.vector_norm(X, n),
    ],
)
def test_0d_tensor_setting_acts_like_number_unless_it_requires_grad(call):
    assert np.array_equal(call(mt.tensor(0.5)), call(0.5))
    with pytest.raises(TypeError, match="must be a number; tensor"):
        call(mt.tensor(0.5, requires_grad=True))
    with pytest.raises(TypeError, match="must be a number; tensor"):
        call(mt.tensor([0.5]))


def _as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


FLAGS = [
    (function, name)
    for function in (getattr(mt.Tensor, name) for name in dir(mt.Tensor))
    if inspect.isfunction(function)
    and function.__module__.startswith(
        ("mt_tensor.core.sums", "mt_tensor.reductions", "mt_tensor.order")
    )
    for name, parameter in inspect.signature(function).parameters.items()
    if "bool" in str(parameter.annotation)
]
REQUIRED = {"dim": 0, "k": 1, "q": 0.5}


@pytest.mark.parametrize(
    ("function", "name"), FLAGS, ids=[f"{function.__name__}-{name}" for function, name in FLAGS]
)
@pytest.mark.parametrize("value", [1, "a", ARRAY], ids=["1", "a", "array"])
def test_bool_argument_of_method_rejects_other_types(function, name, value):
    required = {
        key: REQUIRED[key] for key in REQUIRED if key in inspect.signature(function).parameters
    }
    with pytest.raises(TypeError, match=f"{name} must be True or False.*was given"):
        function(X, **required, **{name: value})


SQUARE = mt.eye(2)
LEAF = mt.tensor(2.0, dtype="float64", requires_grad=True)

FLAG_CALLS = (
    (lambda: X.sum(0, None), "keepdim"),
    (lambda: X.max(keepdim=ARRAY), "keepdim"),
    (lambda: mt.amax(X, keepdim=0), "keepdim"),
    (lambda: mt.std_mean(X, 0, keepdim=None), "keepdim"),
    (lambda: mt.linalg.norm(X, 2, keepdim=None), "keepdim"),
    (lambda: mt.searchsorted(X[0], X[0], right=None), "right"),
    (lambda: mt.bucketize(X, X[0], out_int32=ARRAY), "out_int32"),
    (lambda: mt.isin(X, X, invert=1), "invert"),
    (lambda: mt.isclose(X, X, equal_nan=1), "equal_nan"),
    (lambda: X.allclose(X, equal_nan="a"), "equal_nan"),
    (lambda: X.nonzero(as_tuple=None), "as_tuple"),
    (lambda: X.index_put((N,), X[0], accumulate=1), "accumulate"),
    (lambda: X.put(N, X[0], accumulate=ARRAY), "accumulate"),
    (lambda: X.put_(N, X[0], accumulate="a"), "accumulate"),
    (lambda: X.scatter_reduce(0, N[None], X, "sum", include_self=None), "include_self"),
    (lambda: X[0].index_reduce(0, N.abs() - 1, X[0], "prod", include_self=1), "include_self"),
    (lambda: mt.combinations(N, with_replacement=1), "with_replacement"),
    (lambda: mt.vander(N, increasing="a"), "increasing"),
    (lambda: mt.linalg.cholesky(SQUARE, upper=1), "upper"),
    (lambda: mt.linalg.svd(X, full_matrices=None), "full_matrices"),
    (lambda: mt.linalg.solve(SQUARE, SQUARE, left=0), "left"),
    (lambda: mt.linalg.solve_triangular(SQUARE, SQUARE, upper=1), "upper"),
    (lambda: mt.linalg.solve_triangular(SQUARE, SQUARE, upper=True, left=1), "left"),
    (
        lambda: mt.linalg.solve_triangular(SQUARE, SQUARE, upper=True, unitriangular="a"),
        "unitriangular",
    ),
    (lambda: mt.eye(2).fill_diagonal_(1, wrap=1), "wrap"),
    (lambda: X[0].abs().multinomial(1, replacement=1), "replacement"),
    (lambda: X.to("float64", copy=1), "copy"),
    (lambda: X.numpy(force="a"), "force"),
    (lambda: mt.tensor([1.0], requires_grad=1), "requires_grad"),
    (lambda: mt.zeros(2, requires_grad=None), "requires_grad"),
    (lambda: mt.empty(2, requires_grad=ARRAY), "requires_grad"),
    (lambda: mt.arange(2.0, requires_grad="a"), "requires_grad"),
    (lambda: mt.rand(2, requires_grad=0), "requires_grad"),
    (lambda: mt.ones_like(X, requires_grad=1), "requires_grad"),
    (lambda: mt.autograd.grad(LEAF * 2, LEAF, retain_graph=1), "retain_graph"),
    (lambda: mt.autograd.grad(LEAF * 2, LEAF, create_graph=None), "graph"),
    (lambda: mt.autograd.grad(LEAF * 2, LEAF, allow_unused="a"), "allow_unused"),
    (lambda: mt.autograd.grad(LEAF * 2, LEAF, materialize_grads=1), "materialize_grads"),
    (lambda: mt.autograd.backward(LEAF * 2, create_graph=1), "graph"),
    (lambda: (LEAF * 2).sum().backward(create_graph=1), "graph"),
    (lambda: (LEAF * 2).sum().backward(retain_graph="no"), "graph"),
    (lambda: mt.gradcheck(mt.exp, [LEAF], fast_mode=1), "fast_mode"),
)


@pytest.mark.parametrize(("call", "name"), FLAG_CALLS)
def test_bool_argument_rejects_other_types(call, name):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        call()


def test_sort_with_stable_none_is_stable():
    assert X.sort(stable=None).values.equal(X.sort(stable=True).values)


# --- Sizes beyond all limits --------------------------------------------------------------------

TOO_LARGE = (
    lambda: mt.zeros(2**40, 2**40),
    lambda: mt.empty(10**20),
    lambda: X.diag_embed(10**20),
    lambda: mt.ones(1).expand(2**62) + 1,
    lambda: mt.ones(1).expand(2**62).clone(),
    lambda: mt.arange(0.0, 1e20),
    lambda: mt.eye(2**32),
    lambda: mt.rand(0, 10**20),
    lambda: mt.randn(10**20),
    lambda: mt.ones(1).expand(2**40, 2**40).sum(),
    lambda: X.repeat_interleave(10**20),
    lambda: X.repeat_interleave(10**400, 0),
    lambda: X.repeat_interleave([1, 10**20], 0),
    lambda: X.repeat_interleave(2**58),
    lambda: mt.arange(2**63 - 1),
    lambda: mt.vander(X[0], 2**62),
    lambda: X.histc(2**62),
    lambda: X[0].abs().multinomial(2**62, True),
    lambda: mt.ones(16).repeat_interleave(mt.tensor(2**59).expand(16)),
)


@pytest.mark.parametrize("call", TOO_LARGE)
def test_shape_larger_than_address_space_raises(call):
    with pytest.raises(ShapeError, match="more elements than this machine can address"):
        call()


def test_integers_far_beyond_sizes_are_accepted():
    for offset in (10**20, -(10**20)):
        assert mt.triu_indices(2, 3, offset).shape == (2, 6 * (offset < 0))
        assert mt.tril_indices(2, 3, offset).shape == (2, 6 * (offset > 0))
    assert X.diff(10**20).shape == (2, 0)
    assert len(X[0].chunk(10**20)) == 3
    assert len(X[0].tensor_split(1000)) == 1000
    assert X.tril(10**20).equal(X)
    assert X.triu(-(10**20)).equal(X)
    assert X.triu(10**20).equal(mt.zeros(2, 3))
    assert X.tril(-(10**20)).equal(mt.zeros(2, 3))
    assert len(mt.zeros(20_000).split(1)) == 20_000  # in linear time


@pytest.mark.parametrize("ndim", [32, 33, 64])
def test_indexing_and_sorting_work_up_to_64_dimensions(ndim):
    x = mt.tensor([3.0, 1.0, 2.0]).view(*(1,) * (ndim - 1), 3)
    index = mt.tensor([1, 0, 1]).view(x.shape)
    zeros = mt.tensor([0.0, 0.0, 0.0]).view(x.shape)
    assert x.gather(-1, index).flatten().tolist() == [1, 3, 1]
    assert zeros.scatter(-1, index, 5.0).flatten().tolist() == [5, 5, 0]
    assert zeros.scatter_add(-1, index, x).flatten().tolist() == [1, 5, 0]
    assert x.sort().values.flatten().tolist() == [1, 2, 3]
    assert x.transpose(0, -1).argsort(0).flatten().tolist() == [1, 2, 0]
    assert x[..., mt.tensor([2])].flatten().tolist() == [2]


def test_65_dimensions_raise_on_numpy():
    with pytest.raises(ShapeError, match="at most 64"):
        mt.ones((1,) * 65)


# --- Concatenation of empty tensors -------------------------------------------------------------


def test_cat_accepts_empty_1d_tensors_among_others():
    torch = pytest.importorskip("torch")
    for m in (mt, torch):
        empty, rows = m.zeros(0), m.ones((2, 3), dtype=m.int64)
        for dim in (0, 1, -1):
            joined = m.cat([empty, rows, empty, rows], dim)
            assert (joined.dtype, tuple(joined.shape)) == (
                m.float32,
                (4, 3) if dim == 0 else (2, 6),
            )
        assert m.cat([empty, empty]).shape == (0,)
        empty.requires_grad_()
        m.cat([empty, rows], 1).sum().backward()
        assert (empty.grad.shape, empty.grad.dtype) == ((0,), m.float32)
        with pytest.raises((IndexError, ValueError)):
            m.cat([empty, rows], 2)
