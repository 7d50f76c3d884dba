"""Elementwise operations compared with torch: values, dtypes, promotion, gradients, errors."""

import itertools
import math
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, mutually_broadcastable_shapes

import mt_tensor as mt
from mt_operators import OPERATORS

torch = pytest.importorskip("torch")
F = torch.nn.functional

INF, NAN = math.inf, math.nan
POINTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 6.0, 20.0, -20.0, 25.0, 1e-3, 90.0]
SPECIAL = [*POINTS, -90.0, 1e-30, 1e30, -1e30, INF, -INF, NAN]
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool")
TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}

TORCH_FUNCTIONS = {
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "id": lambda x: x.clone(),
    "inv": torch.reciprocal,
    "log_sigmoid": F.logsigmoid,
}
NOT_IN_TORCH = {"quick_gelu", "is_close"}
NUMBERS_ONLY_IN_TORCH = {"leaky_relu", "elu", "celu"}
OFF_KINKS = [point + 0.017 for point in POINTS]
TORCH_GRADIENT_FUNCTIONS = {"hardsigmoid": lambda x: F.relu6(x + 3) / 6}
"""torch rounds the derivative of hardsigmoid to float32, and has no second derivative of it."""
NO_GRADIENT_IN_TORCH = {"floor_divide"}
TENSORS_ONLY = {"gcd", "lcm"}
UNARY = [name for name, row in OPERATORS.items() if row.arity == 1 and name not in NOT_IN_TORCH]
BINARY = [
    name
    for name, row in OPERATORS.items()
    if row.arity == 2 and name not in NOT_IN_TORCH | NUMBERS_ONLY_IN_TORCH
]


def torch_function(name: str) -> Callable[..., Any]:
    """Return the function of this name from any module of torch."""
    functions = (getattr(module, name, None) for module in (torch, F, torch.special))
    return TORCH_FUNCTIONS.get(name) or next(filter(None, functions))


def torch_gradient_function(name: str) -> Callable[..., Any]:
    """Return a torch function that equals the named one and has accurate gradients."""
    return TORCH_GRADIENT_FUNCTIONS.get(name) or torch_function(name)


def name_of(dtype: Any) -> str:
    return str(dtype).rsplit(".", 1)[-1].removesuffix("_")


def pair(values: Any, dtype: str) -> tuple[Any, Any]:
    """Return the same tensor in both libraries."""
    array = np.asarray(values)
    if not dtype.startswith("float"):
        array = np.nan_to_num(array, posinf=7, neginf=-7).clip(0 if dtype == "uint8" else -9, 9)
    theirs = torch.tensor(array).to(getattr(torch, dtype))
    return mt.tensor(theirs.numpy(), dtype=dtype), theirs


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare values, dtype and shape."""
    assert name_of(ours.dtype) == name_of(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    tolerance = TOLERANCE.get(name_of(theirs.dtype), 0.0)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            np.array(ours.detach()).astype("f8"),
            theirs.detach().numpy().astype("f8"),
            tolerance,
            tolerance,
        )


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call, or None if it raises."""
    try:
        return call(*args)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return None


def check_call(ours: Callable[..., Any], theirs: Callable[..., Any], *pairs: Any) -> None:
    """Check that a call has torch's result, or raises if torch's raises.

    Where torch rejects integers, the result may be float32 or of the dtype of the first argument.
    """
    result = outcome(ours, *(x for x, _ in pairs))
    expected = outcome(theirs, *(y for _, y in pairs))
    if expected is not None:
        assert result is not None, "torch computes this"
        assert_same(result, expected)
    elif result is not None:
        assert not any(x.is_floating_point() for x, _ in pairs)
        assert result.dtype in {mt.float32, pairs[0][0].dtype}


def derivatives(call: Callable[..., Any], leaves: list[Any], library: Any, order: int) -> list[Any]:
    """Return the gradients of a weighted sum and, for order 2, of a function of these gradients."""
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    y = call(*leaves)
    weights = library.tensor(np.cos(np.arange(math.prod(y.shape))).reshape(tuple(y.shape)))
    options = {"create_graph": True, "allow_unused": True}
    first = list(library.autograd.grad((y * weights).sum(), leaves, **options))
    recorded = [g for g in first if g is not None and g.requires_grad]
    second: list[Any] = [None for _ in leaves]
    if recorded and order == 2:
        total = sum((g * (g + 1.0)).sum() for g in recorded)
        second = list(library.autograd.grad(total, leaves, allow_unused=True))
    return [None if g is None else np.array((g.detach() + 0.0).tolist()) for g in (*first, *second)]


def check_gradients(
    ours: Callable[..., Any], theirs: Callable[..., Any], *pairs: Any, order: int = 2
) -> None:
    """Compare the derivatives up to an order wherever torch's are finite."""
    our_results = derivatives(ours, [x for x, _ in pairs], mt, order)
    their_results = derivatives(theirs, [y for _, y in pairs], torch, order)
    for our, their in zip(our_results, their_results, strict=True):
        actual = np.zeros(1) if our is None else our
        actual, expected = np.broadcast_arrays(actual, 0.0 if their is None else their)
        finite = np.isfinite(expected)
        np.testing.assert_allclose(actual[finite], expected[finite], 1e-9, 1e-9)


# --- The operator table -------------------------------------------------------------------------


def test_every_operator_is_a_function_and_a_method() -> None:
    for name, row in OPERATORS.items():
        function = getattr(mt, name)
        assert callable(function)
        assert (
            name in mt.__all__ or name in dir(__builtins__) or hasattr(__import__("builtins"), name)
        )
        assert getattr(mt.Tensor, name) is not None
        if row.arity <= 2 and function.__module__ == "mt_tensor.core.rows":
            assert function.__doc__.startswith("Element by element: ")
            assert not re.search(r"\b[xy]\b", function.__doc__)
            assert getattr(mt.Tensor, name).__doc__ == function.__doc__
    assert mt.lt.__doc__ == "Element by element: input < other."
    for alias, name in OPERATORS.aliases.items():
        assert getattr(mt, alias) is getattr(mt, name)
        assert getattr(mt.Tensor, alias) is getattr(mt.Tensor, name)
        assert torch_function(alias)


def test_operator_added_later_is_a_function_and_a_method() -> None:
    """The test runs in a subprocess, because operators cannot be removed from the table."""
    program = """
import mt_tensor as mt
from mt_operators import OPERATORS

OPERATORS.add("cube", lambda x: x * x * x, lambda x, out: 3.0 * x * x, note="x * x * x")
OPERATORS.add("blend", lambda x, y, z: x + y * z, *[lambda x, y, z, out: 1.0] * 3, note="x + y z")
x = mt.tensor([2.0, 3.0])
print(mt.cube(input=x).tolist(), x.cube().tolist(), mt.blend(x, 2, x).tolist())
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[8.0, 27.0] [8.0, 27.0] [6.0, 9.0]\n"


@pytest.mark.parametrize("name", UNARY)
def test_unary_operator_matches_torch(name: str) -> None:
    theirs = torch_function(name)
    for dtype in DTYPES:
        check_call(getattr(mt, name), theirs, pair(POINTS, dtype))
        check_call(getattr(mt.Tensor, name), theirs, pair(2.0, dtype))
        check_call(getattr(mt, name), theirs, pair(np.zeros((0, 2)), dtype))
    x, y = pair(SPECIAL, "int64" if OPERATORS[name].result == "integer" else "float64")
    result, expected = getattr(mt, name)(input=x), theirs(y)
    compared = ~np.isnan(expected.numpy().astype("f8"))  # torch has nan for some infinities
    if name in {"sign", "sgn"}:
        compared[-1] = False  # sign(nan) is nan here, as in NumPy, and 0 in torch
    np.testing.assert_allclose(
        np.asarray(result).astype("f8")[compared],
        expected.numpy().astype("f8")[compared],
        1e-12,
        1e-12,
    )
    assert name == "sign" or math.isnan(float(result[-1])) == math.isnan(float(expected[-1]))
    for value in (1.0, np.ones(2), "a", None):
        with pytest.raises(TypeError, match=rf"{name}\(\) takes tensors; .* was given"):
            getattr(mt, name)(value)


@pytest.mark.parametrize(
    "name", [n for n in UNARY if OPERATORS[n].result not in {"bool", "integer"} and n != "id"]
)
def test_unary_operator_gradients_match_torch(name: str) -> None:
    ours, theirs = getattr(mt, name), torch_gradient_function(name)
    low, high = OPERATORS[name].domain[0]
    within = [point for point in SPECIAL if low <= point <= high]
    if name == "digamma":  # at its poles torch divides by the rounding error of a sine
        within = [point for point in within if point >= 0 or point % 1 != 0]
    check_gradients(ours, theirs, pair(within, "float64"), order=1)
    inside = [point for point in (*OFF_KINKS, 0.97, -0.97) if low < point < high]
    check_gradients(ours, theirs, pair(inside, "float64"))


@pytest.mark.parametrize("name", BINARY)
def test_binary_operator_matches_torch(name: str) -> None:
    ours, theirs = getattr(mt, name), torch_function(name)
    left, right = [3.0, 1.0, 0.0, 2.0], [1.0, 1.0, 2.0, 0.0]
    for first, second in itertools.product(DTYPES, repeat=2):
        if name == "sub" and "bool" in (first, second):
            continue  # torch has no 1.0 - mask
        check_call(ours, theirs, pair(left, first), pair(right, second))
        check_call(ours, theirs, pair(left, first), pair(2.0, second))  # 0-dimensional
    x, y = pair([[1.0], [2.0]], "float32")
    two: float = 2.0
    if OPERATORS[name].result == "integer":
        (x, y), two = pair([[1], [2]], "int64"), 2
    names = {
        "pow": "exponent",
        "clamp_min": "min",
        "clamp_max": "max",
        "leaky_relu": "negative_slope",
    }
    keyword = {names.get(name, "alpha" if name in ("elu", "celu") else "other"): two}
    expected = outcome(lambda: theirs(y, **keyword))
    if name in TENSORS_ONLY:
        assert outcome(lambda: ours(x, **keyword)) is expected is None
    else:
        if expected is None:
            expected = theirs(y, torch.full((1,), two))
        assert_same(ours(input=x, **keyword), expected)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes tensors; 1.0 of type float"):
        ours(1.0, 2.0)
    with pytest.raises(TypeError, match=r"'a' of type str"):
        ours(x, "a")


FLOAT_BINARY = [
    name
    for name in BINARY
    if OPERATORS[name].result not in {"bool", "integer"} and name not in NO_GRADIENT_IN_TORCH
]


@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_binary_operator_gradients_match_torch(name: str) -> None:
    numbers = [-2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.5]
    if name in {"pow", "xlogy"}:
        numbers = [0.5, 1.0, 2.5]
    columns = np.array(list(itertools.product(numbers, numbers))).T
    ours, theirs = getattr(mt, name), torch_function(name)
    check_gradients(ours, theirs, *(pair(column, "float64") for column in columns), order=1)
    inside = columns * [[1.0], [1.125]] + 0.017
    check_gradients(ours, theirs, *(pair(column, "float64") for column in inside))


# --- Operations with settings -------------------------------------------------------------------

CALLS: list[tuple[str, dict[str, Any], tuple[tuple[Any, ...], ...]]] = [
    ("gelu", {"approximate": "tanh"}, ((),)),
    ("softplus", {"beta": 3.0, "threshold": 2.0}, ((), (2,), (0.5, 1.0), (-1, 3))),
    ("leaky_relu", {"negative_slope": 0.5}, ((), (0.3,), (0,), (-2.0,))),
    ("elu", {"alpha": 0.5}, ((), (2.5,), (0,), (-1.0,))),
    ("celu", {"alpha": 0.5}, ((), (2.5,), (-1.5,))),
    ("hardtanh", {"min_val": -1.5, "max_val": 0.5}, ((), (-3, 6), (0.5, 0.5))),
    ("threshold", {"threshold": 1, "value": 2}, ((0.5, 7.0), (0, 1))),
    ("hardshrink", {"lambd": 0.25}, ((), (1.0,), (-1,))),
    ("softshrink", {"lambd": 0.25}, ((), (1.0,), (0.0,))),
    ("tanhshrink", {}, ()),
    ("clamp", {"min": 1, "max": 2.5}, ((0,), (None, 1), (-1.5, 2.5), (2, 1), (NAN,))),
    ("clip", {"min": 1, "max": 2.5}, ((0,), (-1.5, 1))),
    ("clamp_min", {"min": 0.5}, ((1,),)),
    ("clamp_max", {"max": 1}, ((1.0,),)),
    ("nan_to_num", {"nan": 1, "posinf": 2, "neginf": 3}, ((), (1.5,), (None, 5, -5))),
    ("logit", {"eps": 0.125}, ((), (0.25,), (1e-6,))),
    ("deg2rad", {}, ()),
    ("rad2deg", {}, ()),
    ("frac", {}, ()),
    ("positive", {}, ()),
    ("square", {}, ()),
    ("float_power", {"exponent": 3}, ((2,), (1.5,))),
    ("pow", {"exponent": 3}, ((2,), (0.5,), (3.0,))),
    ("isposinf", {}, ()),
    ("isneginf", {}, ()),
    ("glu", {"dim": 0}, ((), (-1,))),
    ("add", {"other": 3, "alpha": 2}, ((2,), (1.5,))),
    ("sub", {"other": 3.5, "alpha": 2}, ((2.5,),)),
]
"""Functions with settings as keyword arguments, and with several lists of positional ones."""

SETTINGS = [
    pytest.param(name, args, kwargs, id=f"{name} {args or kwargs or ''}")
    for name, named, calls in CALLS
    for args, kwargs in (*((args, {}) for args in calls), ((), named))
]


@pytest.mark.parametrize(("name", "args", "kwargs"), SETTINGS)
def test_function_with_settings_matches_torch(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    def theirs(x: Any) -> Any:
        return torch_function(name)(x, *args, **kwargs)

    def method(x: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    def function(x: Any) -> Any:
        return getattr(mt, name)(x, *args, **kwargs)

    for dtype in DTYPES:
        for values in (POINTS, 2.0, np.zeros((0, 2))):
            check_call(method, theirs, pair(values, dtype))
            check_call(function, theirs, pair(values, dtype))
    if name not in {"isposinf", "isneginf"}:
        check_gradients(function, theirs, pair(POINTS, "float64"), order=1)
        inside = [0.1, 0.4, 0.6, 0.9] if name == "logit" else OFF_KINKS
        check_gradients(function, theirs, pair(inside, "float64"))
    if name not in {"gelu", "glu", "tanhshrink", "frac"}:  # torch has nan at infinity
        assert_same(function(pair(SPECIAL, "float64")[0]), theirs(pair(SPECIAL, "float64")[1]))


TERNARY = ("addcmul", "addcdiv", "lerp", "clamp")


@pytest.mark.parametrize("name", TERNARY)
def test_ternary_function_matches_torch(name: str) -> None:
    values = ([1.0, -2.0, 0.5, 3.0], [2.0, 1.0, -3.0, 0.5], [0.25, 0.75, 2.0, -1.0])
    ours, theirs = getattr(mt, name), getattr(torch, name)
    for dtypes in itertools.product(("float32", "float64", "int64", "uint8"), repeat=3):
        pairs = [pair(v, d) for v, d in zip(values, dtypes, strict=True)]
        check_call(ours, theirs, *pairs)
        check_call(getattr(mt.Tensor, name), theirs, *pairs)
    check_gradients(ours, theirs, *(pair(v, "float64") for v in values))
    if name.startswith("addc"):
        check_gradients(
            lambda *x: ours(*x, value=-2.5),
            lambda *x: theirs(*x, value=-2.5),
            *(pair(v, "float64") for v in values),
        )
    if name == "lerp":
        check_gradients(
            lambda x, y: x.lerp(y, 0.3),
            lambda x, y: x.lerp(y, 0.3),
            *(pair(v, "float64") for v in values[:2]),
        )


@pytest.mark.parametrize("name", ["fmax", "fmin", "ldexp", "logaddexp2", "heaviside"])
def test_binary_function_matches_torch(name: str) -> None:
    columns = np.array(list(itertools.product([-1.0, 0.0, 0.5, 2.0, NAN, INF, -INF], repeat=2))).T
    ours, theirs = getattr(mt, name), getattr(torch, name)
    for dtype in FLOATS:
        assert_same(
            ours(*(pair(c, dtype)[0] for c in columns)),
            theirs(*(pair(c, dtype)[1] for c in columns)),
        )
    for first, second in itertools.product(DTYPES, repeat=2):
        if name == "ldexp" and second == "bool":
            continue  # torch lacks it for floats
        check_call(ours, theirs, pair([1.0, 2.0, 0.0], first), pair([2.0, 1.0, 1.0], second))
    if name != "heaviside":  # torch has no derivative of it
        finite = columns[:, np.isfinite(columns).all(0)]
        check_gradients(ours, theirs, *(pair(c, "float64") for c in finite))


@pytest.mark.parametrize("dtype", FLOATS)
def test_nextafter_matches_torch_bit_for_bit(dtype: str) -> None:
    ends = [0.0, -0.0, 1.0, -1.0, 1.5, INF, -INF, NAN, torch.finfo(getattr(torch, dtype)).max]
    ends += [5e-324, -5e-324, float(torch.finfo(getattr(torch, dtype)).smallest_normal)]
    (x, a), (y, b) = (
        pair(column, dtype) for column in np.array(list(itertools.product(ends, repeat=2))).T
    )
    a.requires_grad_(), b.requires_grad_()
    result, expected = mt.nextafter(x, y), torch.nextafter(a, b)
    bits = {2: "int16", 4: "int32", 8: "int64"}[x.dtype.itemsize]
    compared = ~expected.isnan()  # the bits of nan may differ
    assert result.isnan().tolist() == expected.isnan().tolist()
    ours = result.view(getattr(mt, bits)).numpy()[compared.numpy()]
    assert ours.tolist() == expected.view(getattr(torch, bits))[compared].tolist()
    x.requires_grad_(), y.requires_grad_()
    mt.nextafter(x, y).backward(mt.ones_like(x))
    expected.backward(torch.ones_like(a))
    assert [each.grad.tolist() for each in (x, y)] == [each.grad.tolist() for each in (a, b)]


def test_nextafter_of_bfloat16_matches_torch() -> None:
    ends = [0.0, -0.0, 1.0, -1.0, 1.5, INF, -INF, NAN, 3e38, 1e-40, -1e-40]
    columns = np.array(list(itertools.product(ends, repeat=2))).T
    result = mt.nextafter(*(mt.tensor(c, dtype="bfloat16") for c in columns))
    expected = torch.nextafter(*(torch.tensor(c).to(torch.bfloat16) for c in columns))
    np.testing.assert_array_equal(result.float().numpy(), expected.float().numpy())
    assert result.dtype is mt.bfloat16


def test_nextafter_promotes_broadcasts_and_works_in_place() -> None:
    x = mt.ones(2, 1)
    assert mt.nextafter(x, mt.zeros(3, dtype="float64")).dtype is mt.float64
    assert mt.nextafter(x, mt.zeros(3)).shape == (2, 3)
    assert x.nextafter_(mt.tensor(2.0)) is x
    assert x.tolist() == [[float(np.nextafter(np.float32(1), np.float32(2)))]] * 2


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), ()])
def test_prelu_matches_torch(shape: tuple[int, ...]) -> None:
    x = pair(np.linspace(-1, 1.125, math.prod(shape)).reshape(shape), "float64")
    weights = [(1,), ()] if len(shape) < 2 else [(1,), (), (3,)]
    for weight in weights:
        w = pair(np.linspace(0.25, 0.5, math.prod(weight)).reshape(weight), "float64")
        assert_same(mt.prelu(x[0], w[0]), F.prelu(x[1], w[1]))
        check_gradients(mt.prelu, F.prelu, x, w)


# --- Comparison ---------------------------------------------------------------------------------


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize(
    ("rtol", "atol"), [(1e-5, 1e-8), (0.0, 0.0), (0.5, 0.1), (0, INF), (INF, 0)]
)
def test_isclose_and_allclose_match_torch(rtol: float, atol: float, equal_nan: bool) -> None:
    numbers = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.5, -1.0, 1e-9, INF, -INF, NAN]
    columns = np.array(list(itertools.product(numbers, repeat=2))).T
    for dtype in DTYPES:
        (a, c), (b, d) = (pair(column, dtype) for column in columns)
        arguments = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
        assert_same(mt.isclose(a, b, **arguments), torch.isclose(c, d, **arguments))
        assert a.allclose(b, **arguments) is torch.allclose(c, d, **arguments)
        assert mt.allclose(a, a, equal_nan=True) is torch.allclose(c, c, equal_nan=True)


def test_equal_matches_torch() -> None:
    cases = ([1.0, 2.0], [1.0, 2.5], [[1.0], [2.0]], [NAN], [], 1.0, [0.0], [-0.0])
    for a, b in itertools.product(cases, repeat=2):
        for first, second in itertools.product(("float32", "int64", "bool"), repeat=2):
            (x, u), (y, v) = pair(a, first), pair(b, second)
            assert mt.equal(x, y) is x.equal(y) is torch.equal(u, v)


# --- Errors -------------------------------------------------------------------------------------

INVALID: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x.clamp(), "needs min, max or both"),
    (lambda x: x.clamp("a"), "'a' of type str"),
    (lambda x: x.bool().clamp(False, True), "not defined on bool"),
    (lambda x: x.byte().clamp(min=300), "out of range for uint8"),
    (lambda x: x.byte().hardtanh() if isinstance(x, mt.Tensor) else F.hardtanh(x.byte()), "-1"),
    (lambda x: x.add(x, alpha="a"), "alpha must be a number"),
    (lambda x: x.long().add(x.long(), alpha=0.5), "alpha=0.5"),
    (lambda x: x.long().sub(x.long(), alpha=True), "alpha=True"),
    (lambda x: x.bool().sub(x.bool()), "use ne"),
    (lambda x: x.addcmul(2, x), "takes tensors"),
    (lambda x: x.long().addcdiv(x.long(), x.long()), "needs floating-point"),
    (lambda x: x.lerp(x.double(), 0.5), "one dtype"),
    (lambda x: x.lerp(1.0, 0.5), "takes tensors"),
    (lambda x: x.long().lerp(x.long(), 0.5), "needs floating-point"),
    (lambda x: x.isclose(x.double()), "one dtype"),
    (lambda x: x.isclose(1.0), "takes tensors"),
    (lambda x: x.isclose(x, rtol=-1), "rtol must not be negative"),
    (lambda x: x.allclose(x, atol=NAN), "atol must not be negative"),
    (lambda x: x.equal(1.0), "takes tensors"),
    (lambda x: x.long().frac(), "needs floating-point"),
    (lambda x: x.bool().positive(), "not defined on bool"),
    (lambda x: x.heaviside(x.double()), "one dtype"),
    (lambda x: x.long().nextafter(x.long()), "needs floating-point"),
    (lambda x: x.nextafter(1.0), "takes tensors"),
    (lambda x: x.softshrink(-1) if isinstance(x, mt.Tensor) else F.softshrink(x, -1), "negative"),
    (lambda x: x.celu(0) if isinstance(x, mt.Tensor) else F.celu(x, 0.0), "must not be 0"),
    (lambda x: x.glu() if isinstance(x, mt.Tensor) else F.glu(x), "even size"),
    (lambda x: x.prelu(x), "a single weight"),
    (lambda x: x.maximum(x[:1, :1].expand(3, 3)), "broadcast"),
]


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_invalid_call_raises_here_and_in_torch(call: Callable[[Any], Any], message: str) -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)
    with pytest.raises(Exception, match=message) as raised:
        call(mt.tensor(x, dtype="float32"))
    assert isinstance(raised.value, mt.errors.TensorError | TypeError)
    assert outcome(call, torch.tensor(x, dtype=torch.float32)) is None


@pytest.mark.parametrize("name", ["celu", "elu", "selu"])
def test_second_derivative_of_exponential_unit_is_zero_at_zero(name: str) -> None:
    x = mt.tensor([-1.0, -0.0, 0.0, 1.0], requires_grad=True)
    (slope,) = mt.autograd.grad(getattr(mt, name)(x).sum(), [x], create_graph=True)
    (curvature,) = mt.autograd.grad(slope.sum(), [x])
    assert curvature.tolist() == [slope[0].item(), 0, 0, 0]


def test_clamp_ignores_out_of_range_bounds_that_change_nothing() -> None:
    """torch silently wraps -1 to 255."""
    x = mt.tensor([1, 200], dtype="uint8")
    assert x.clamp(-1).tolist() == [1, 200]
    assert x.clamp(-5, 300).tolist() == [1, 200]
    assert x.clamp(-5, 100).dtype is mt.uint8
    with pytest.raises(mt.errors.DTypeError, match="-1 is out of range for uint8"):
        x.clamp(max=-1)


# --- Random values and shapes -------------------------------------------------------------------

ACTIVATIONS = [
    "silu",
    "gelu",
    "gelu_tanh",
    "mish",
    "softsign",
    "selu",
    "hardswish",
    "log_sigmoid",
    "erfc",
    "ndtr",
]
ACTIVATIONS += ["hardsigmoid", "relu6", "sigmoid"]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(ACTIVATIONS),
    arrays("f8", st.integers(0, 12), elements=st.floats(-1e3, 1e3)),
    st.sampled_from(["float32", "float64"]),
)
def test_activation_of_random_values_matches_torch(name: str, values: Any, dtype: str) -> None:
    (x, y), theirs = pair(values, dtype), torch_function(name)
    assert_same(getattr(x, name)(), theirs(y))
    check_gradients(
        getattr(mt, name), torch_gradient_function(name), pair(values, "float64"), order=1
    )


@settings(deadline=None, max_examples=60)
@given(mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), st.data())
def test_clamp_with_broadcast_tensor_bounds_matches_torch(shapes: Any, data: st.DataObject) -> None:
    numbers = st.integers(-2, 2).map(float)
    pairs = [
        pair(data.draw(arrays("f8", shape, elements=numbers)), "float64")
        for shape in (shapes.result_shape, *shapes.input_shapes[1:])  # torch fails otherwise
    ]
    bounds = data.draw(st.sampled_from([(0, 1, 2), (0, None, 2), (0, 1, None)]))

    def call(*tensors: Any) -> Any:
        return tensors[0].clamp(*(None if at is None else tensors[at] for at in bounds[1:]))

    assume(all(x.shape for x, _ in pairs))
    assert_same(call(*(x for x, _ in pairs)), call(*(y for _, y in pairs)))
    check_gradients(call, call, *pairs, order=1)
