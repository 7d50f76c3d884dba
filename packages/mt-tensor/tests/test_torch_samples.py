"""Every row of the sample tables, run on torch as well: the same call, with torch for mt_tensor.

Names, arguments and rules are torch's, so most calls of the tables are torch's calls. Values,
element types, gradients and refusals must agree. Where they do not, the reason stands beside the
row, or in one of the short lists below.
"""

import itertools
import runpy
from functools import partial, partialmethod
from pathlib import Path

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators.testing import SPECIAL, SPECS
from mt_tensor.conformance.test_operations import REFUSED as REFUSED_BY_THE_KIT
from mt_tensor.conformance.test_operations import ROWS, SMOOTH
from mt_tensor.testing import FLOATS, PROMOTION, WHOLE, arguments
from mt_tensor.testing.elsewhere import elsewhere

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore:Tensor.T is deprecated on 0-D",
    "ignore:The use of `x.T` on tensors of dimension other than 2",
    "ignore:Using torch.cross without specifying the dim",
    "ignore:torch.chain_matmul is deprecated",
    "ignore:index_reduce.. is in beta",
    "ignore:indexing with dtype torch.uint8",
)

BESIDE = [
    runpy.run_path(str(Path(__file__).with_name(name)))
    for name in ("test_sharing.py", "test_bad_arguments.py")
]
SHARING, APART = BESIDE[0]["SHARING"], BESIDE[0]["APART"]
REFUSED = [*REFUSED_BY_THE_KIT, *BESIDE[1]["REFUSED"]]
"""Calls of other tests, which torch is given, too."""

DTYPES = list(PROMOTION["same"])
TOLERANCE = {"float16": 4e-3, "float32": 2e-5}

FUNCTIONAL = """
    celu elu gelu glu hardsigmoid hardswish hardtanh leaky_relu mish one_hot pad relu6 silu softmin
    softplus softshrink softsign tanhshrink threshold
"""
ELSEWHERE = {name: getattr(torch.nn.functional, name) for name in FUNCTIONAL.split()}
"""Functions, and some of them methods, of mt_tensor that torch has in another module."""


def listed(names, dtypes, reason):
    """Return a reason for each pair of the names and the element types."""
    return dict.fromkeys(itertools.product(names.split(), dtypes), reason)


BOOL = WHOLE[:1]
INTEGERS = WHOLE[1:]
NOT_IN_TORCH = {
    **listed(
        "bmm einsum matmul mm mv tensordot",
        BOOL,
        "it has the product of truth values for some shapes and not for others",
    ),
    **listed("cdist pdist", FLOATS[:1], "its CPU has no kernel"),
    **listed("cumulative_trapezoid trapezoid", ["uint8"], "its steps downwards wrap around"),
    **listed("vander", ["float16", "bool", "uint16"], "its linalg.vander does not take them"),
    **listed("kthvalue threshold topk", BOOL, "its CPU has no kernel"),
    **listed("take_along_dim", BOOL, "the row uses argmax, which neither has"),
    **listed("tanhshrink", BOOL, "it has no difference of a truth value and a number"),
    **listed(
        "celu elu gelu glu leaky_relu logaddexp2 prelu softplus softshrink",
        WHOLE,
        "it has them on floats only; here whole numbers become float32, as for all others",
    ),
    **listed("hardshrink", WHOLE, "it has it on floats only; here whole numbers stay, as in relu"),
    **listed(
        "addbmm addcmul addmm addmv baddbmm",
        INTEGERS,
        "it cuts off the fraction of a factor that does not fit; here that is an error",
    ),
}
"""Element types on which torch differs, with the reason."""

NO_GRADIENT_IN_TORCH = {
    "heaviside": "it raises; here the gradient by the value at zero is known",
    "vander": "it changes in place what its gradient needs, and raises",
}
"""Operations that only torch does not differentiate, with the reason."""

ACCEPTED_BY_TORCH = {
    "p must be a number; 'nuc'": "the nuclear norm is not offered here",
    "a mask with x.bool": "it takes uint8 for bool, and warns of it",
    "single Ellipsis": "a second one means nothing; NumPy refuses it, too",
    "'max' was given": "an old name of amax",
    "integers from 0 to 255": "it wraps a number around that does not fit",
    "with 6 element": "it takes what is left of places beyond the end",
    "takes tensors; 1 of type int": "it makes a tensor of two numbers, in add() alone",
    "value=0.5": "it cuts off the fraction of a factor of integers",
    "beta=0.5": "it cuts off the fraction of a factor of integers",
    "cannot be summed": "it has some sums of bools, and not others",
}
"""Refusals that torch does not share, by the end of their messages, with the reason."""

OTHER_ERRORS = {
    "1-D tensors of equal length": "it checks the dtype first",
    "by 'a' of type str": "other things that are no index raise what ours do",
    "'mirror' was given": "it says that it does not have the mode",
    "as many destinations as sources": "a number is a row of one only if both are",
}
"""Refusals that are of another class in torch, by their messages, with the reason."""


class TorchAsMt:
    """What the table calls `mt`, answered by torch."""

    linalg = torch.linalg

    @staticmethod
    def tensor(data, **options):
        options.pop("backend", None)
        return torch.tensor(data, **options)

    def __getattr__(self, name):
        return ELSEWHERE[name] if name in ELSEWHERE else getattr(torch, name)


def on_torch(call):
    """Return a function of the table that finds torch where it says mt."""
    return elsewhere(call, TorchAsMt())


@pytest.fixture(autouse=True)
def attributes_of_torch(monkeypatch):
    """The table passes `backend=x.backend` on, and calls as methods what torch has as functions."""
    monkeypatch.setattr(torch.Tensor, "backend", None, raising=False)
    for name, function in ELSEWHERE.items():
        if not hasattr(torch.Tensor, name):
            monkeypatch.setattr(torch.Tensor, name, partialmethod(_call, function), raising=False)


def _call(input, function, *args, **settings):
    return function(input, *args, **settings)


def torch_call(spec):
    """Return the call of a row for torch, or None if the row says why there is none."""
    return None if isinstance(spec.torch, str) else on_torch(spec.torch or spec.call)


def outcome(call, *args):
    """Return what a call gives, or the error it raises."""
    try:
        return call(*args)
    except Exception as error:  # noqa: BLE001 - that both refuse is compared, whatever they raise
        return error


def assert_same(ours, theirs):
    """Compare two outcomes: both are errors, or equal tensors of one element type."""
    failed = isinstance(theirs, Exception), isinstance(ours, Exception)
    assert failed in {(True, True), (False, False)}, f"torch: {theirs!r}; here: {ours!r}"
    if any(failed):
        assert_caught_alike(ours, theirs)
    else:
        assert str(theirs.dtype) == f"torch.{ours.dtype.name}"
        assert_close(ours.numpy(), theirs.numpy(), TOLERANCE.get(ours.dtype.name, 1e-12))


def assert_caught_alike(ours, theirs):
    """Whoever catches torch's refusal must catch ours."""
    kind = RuntimeError if isinstance(theirs, torch.linalg.LinAlgError) else type(theirs)
    judged = any(words in str(ours) for words in OTHER_ERRORS)
    assert isinstance(ours, kind) != judged, f"torch: {theirs!r}; here: {ours!r}"


def assert_close(ours, theirs, tolerance):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# --- Operations on tensors ----------------------------------------------------------------------


@pytest.mark.parametrize("spec", ROWS)
def test_values_and_element_types(spec):
    call = torch_call(spec)
    if call is None:
        return
    for shapes, dtype in itertools.product(spec.samples, DTYPES):
        if (spec.name, dtype) not in NOT_IN_TORCH:
            arrays = arguments(spec, shapes, dtype)
            theirs = outcome(call, *map(torch.tensor, arrays))
            assert_same(outcome(spec.call, *map(mt.tensor, arrays)), theirs)


@pytest.mark.parametrize("spec", SMOOTH)
def test_gradients(spec):
    call = torch_call(spec)
    if call is None or spec.name in NO_GRADIENT_IN_TORCH:
        return
    for shapes in spec.samples:
        arrays = arguments(spec, shapes, "float64")
        found = [gradients(mt, spec.call, arrays), gradients(torch, call, arrays)]
        for ours, theirs in zip(*found, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert_close(ours, theirs, 1e-10)


def gradients(library, call, arrays):
    """Return the gradient by each argument of a sum whose terms are weighted differently."""
    leaves = [library.tensor(array, requires_grad=True) for array in arrays]
    result = call(*leaves)
    weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape))
    result.backward(library.tensor(weights))
    return [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


@pytest.mark.parametrize("bad", REFUSED)
def test_torch_refuses_what_is_refused_here(bad):
    call, message = bad.call, bad.message
    numbers = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    result = outcome(on_torch(call), torch.tensor(numbers))
    accepted = any(message.endswith(end) for end in ACCEPTED_BY_TORCH)
    assert isinstance(result, Exception) != accepted, result
    if not accepted:
        assert_caught_alike(outcome(call, mt.tensor(numbers)), result)


# --- Unsigned integers of more than eight bits ---------------------------------------------------


def has_no_kernel(outcome):
    """Whether torch refuses what it could compute; here it may be computed."""
    return isinstance(outcome, Exception) and "not implemented for 'UInt" in str(outcome)


@pytest.mark.parametrize("spec", ROWS)
def test_unsigned_integers(spec):
    call = torch_call(spec)
    if call is None or (spec.name, "uint16") in NOT_IN_TORCH:
        return
    for shapes in spec.samples:
        arrays = [array % 50000 for array in arguments(spec, shapes, "int64")]
        arrays = [array.astype("uint16") for array in arrays]
        theirs = outcome(call, *map(torch.tensor, arrays))
        if not has_no_kernel(theirs):
            assert_same(outcome(spec.call, *map(mt.tensor, arrays)), theirs)


# --- Results that share memory -------------------------------------------------------------------


def shared_by(library, result, inputs):
    """Return for each input whether a result, or the first of several, lies in its memory."""
    while isinstance(result, (tuple, list)):
        result = result[0]
    if library is torch:
        return [
            result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for x in inputs
        ]
    return [x.backend.same_memory(result._tensor.storage, x._tensor.storage) for x in inputs]


@pytest.mark.parametrize("spec", ROWS)
def test_results_share_memory_with_what_torchs_share_it_with(spec):
    call = torch_call(spec)
    if call is None or spec.torch is not None:
        return  # calls that are written otherwise may be other operations
    for shapes in spec.samples:
        arrays = arguments(spec, shapes, "float32")
        inputs = [list(map(library.tensor, arrays)) for library in (torch, mt)]
        results = outcome(call, *inputs[0]), outcome(spec.call, *inputs[1])
        if all(hasattr(result, "numel") and result.numel() for result in results):
            theirs, ours = map(shared_by, (torch, mt), results, inputs)
            assert ours == theirs


@pytest.mark.parametrize("name", [*SHARING, *APART])
def test_with_nothing_to_do_results_share_memory_where_torchs_do(name):
    call = SHARING.get(name) or APART[name]
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    assert shared_by(torch, on_torch(call)(x), [x]) == [name in SHARING]


# --- The operator table -------------------------------------------------------------------------

ELSEWHERE_TESTED = {
    "is_close": "it is the course's",
    **dict.fromkeys(
        ("celu", "elu", "hardtanh", "leaky_relu"),
        "torch takes their settings as numbers only: the rows above and test_pointwise.py do so",
    ),
}
"""Operators of the table that torch does not have as such."""

OPERATORS = [
    pytest.param(spec, id=name) for name, spec in SPECS.items() if name not in ELSEWHERE_TESTED
]

PUBLIC = {"clamp": mt.clamp, "lerp": mt.lerp}
"""Functions that convert or refuse arguments before their operator meets them."""

TORCH_OPERATORS = {
    **ELSEWHERE,
    "floor_divide": partial(torch.div, rounding_mode="floor"),  # the other has no derivative
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    # its own derivative is a sixth of float32, whatever the element type
    "hardsigmoid": lambda x: torch.nn.functional.relu6(x + 3) / 6,
    "id": torch.clone,
    "inv": torch.reciprocal,
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "ndtr": torch.special.ndtr,
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "sign": lambda x: torch.where(x.isnan(), x, x.sign()),  # its own of nan is 0
    "softplus": lambda x: torch.nn.functional.softplus(x, threshold=800.0),
}
"""Operators that torch has by another name, or in another place."""

ON_FLOATS_ONLY = """
    gelu gelu_tanh hardswish hypot log_sigmoid logaddexp mish selu silu softplus softsign
"""
OTHER_TYPES = {
    **dict.fromkeys(
        ON_FLOATS_ONLY.split(),
        "torch has them on floats only; here whole numbers become float32, as for all others",
    ),
    "square": "torch makes an integer of a truth value; here it stays one",
    "sub": "torch refuses every truth value; here one may be subtracted from a number",
}
"""Operators that take other element types than torch's, with the reason; floats are compared."""

NUMBERS_HERE = {
    **dict.fromkeys(
        ("gelu", "gelu_tanh", "hardswish", "mish", "quick_gelu", "silu", "softsign"),
        "at infinity it divides or multiplies infinities",
    ),
    **dict.fromkeys(
        ("atan2", "copysign", "logaddexp"), "where an argument is infinite, so is its formula"
    ),
    **dict.fromkeys(("hypot", "xlogy"), "at the origin it divides zero by zero"),
}
"""Operators with values and derivatives at places where torch gives nan, with the reason."""


SLOPES_WITHOUT_A_VALUE = {
    **dict.fromkeys(("abs", "sign"), "its sign of nan is 0, so that no gradient says that it is"),
    **dict.fromkeys(
        ("hardsigmoid", "hardswish", "relu6", "selu"),
        "its vector loop gives something else than the one for what is left over",
    ),
    "digamma": "at its poles it divides by the rounding error of a sine",
}
"""Operators whose derivatives are others in torch where the value is nan, with the reason."""


NINE_DIGITS = {"digamma": "its trigamma, the derivative, has no more in float64 either"}
"""Operators whose derivatives are less accurate in torch, with the reason."""


def torch_operator(name):
    return TORCH_OPERATORS.get(name) or getattr(torch, name)


def our_operator(name):
    return PUBLIC.get(name, partial(mt.elementwise, name))


def combinations(spec):
    """Return the element types to mix: each one alone, and each two of a few."""
    if len(spec.ranges) == 1:
        return [(dtype,) for dtype in DTYPES]
    few = ["float16", "float64", "int64", "int8", "uint8", "bool"]
    mixed = list(itertools.product(few, repeat=2))
    if len(spec.ranges) == 2:
        return mixed
    return [("bool", a, b) if spec.name == "where" else (a, b, a) for a, b in mixed]


@pytest.mark.parametrize("spec", OPERATORS)
def test_operators_on_every_element_type(spec):
    rng = np.random.default_rng(0)
    for dtypes in combinations(spec):
        if spec.name in OTHER_TYPES and not all(dtype in FLOATS for dtype in dtypes):
            continue
        for zero_dimensional in range(len(dtypes) + 1):
            arrays = [
                np.array(rng.integers(0, 4, () if i == zero_dimensional else (3,))).astype(dtype)
                for i, dtype in enumerate(dtypes)
            ]
            theirs = outcome(torch_operator(spec.name), *map(torch.tensor, arrays))
            ours = outcome(our_operator(spec.name), *map(mt.tensor, arrays))
            assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spec", OPERATORS)
def test_operators_at_special_values(spec, dtype):
    """Values and gradients at kinks, poles, infinities and nan, and outside the domain."""
    values = (*SPECIAL, 0.5, -0.5, 2.0, 2.5, -3.0)
    columns = [
        list(c) for c in zip(*itertools.product(values, repeat=len(spec.ranges)), strict=True)
    ]
    if spec.name == "where":
        columns[0] = [value > 0 for value in columns[0]]
    ours, *our_grads = value_and_gradients(mt, our_operator(spec.name), columns, dtype)
    theirs, *their_grads = value_and_gradients(torch, torch_operator(spec.name), columns, dtype)
    left_out = np.isnan(ours) & (spec.name in SLOPES_WITHOUT_A_VALUE)
    more_here = spec.name in NUMBERS_HERE
    compared = ~(np.isnan(theirs) & more_here)
    assert_close(ours[compared], theirs[compared], TOLERANCE.get(dtype, 1e-12))
    for our, their in zip(our_grads, their_grads, strict=True):
        assert (our is None) == (their is None)
        if our is not None:
            compared = ~(left_out | (np.isnan(their) & more_here))
            tolerance = TOLERANCE.get(dtype, 1e-8 if spec.name in NINE_DIGITS else 1e-12)
            assert_close(our[compared], their[compared], tolerance)


def value_and_gradients(library, operation, columns, dtype):
    """Return the values of an operator as an array, and the gradient by each argument."""
    leaves = [
        library.tensor(column, dtype=None if type(column[0]) is bool else getattr(library, dtype))
        for column in columns
    ]
    for leaf in leaves:
        leaf.requires_grad_(leaf.is_floating_point())
    result = operation(*leaves)
    if result.requires_grad:
        result.sum().backward()
    grads = [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    return result.detach().numpy(), *grads
