"""Sample tables, run on torch, too: the same calls with torch in place of mt_tensor.

Values, dtypes, gradients and exceptions must agree. Where they do not, the reason is given in
the sample or in one of the tables below.
"""

import itertools
import runpy
from functools import partial, partialmethod
from pathlib import Path

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators.testing import SPECIAL, SPECS
from mt_tensor.conformance.compiling import outcome
from mt_tensor.conformance.test_operations import INVALID as INVALID_CALLS_OF_KIT
from mt_tensor.conformance.test_operations import ROWS, SMOOTH
from mt_tensor.testing import FLOATS, INTEGRAL, PROMOTION, arguments
from mt_tensor.testing.libraries import with_library

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore:Tensor.T is deprecated on 0-D",
    "ignore:The use of `x.T` on tensors of dimension other than 2",
    "ignore:Using torch.cross without specifying the dim",
    "ignore:torch.chain_matmul is deprecated",
    "ignore:index_reduce.. is in beta",
    "ignore:indexing with dtype torch.uint8",
)

TABLES = [
    runpy.run_path(str(Path(__file__).with_name(name)))
    for name in ("test_sharing.py", "test_bad_arguments.py")
]
VIEWS, COPIES = TABLES[0]["VIEWS"], TABLES[0]["COPIES"]
INVALID_CALLS = [*INVALID_CALLS_OF_KIT, *TABLES[1]["INVALID_CALLS"]]
"""Calls from other tests, which are run on torch, too."""

DTYPES = list(PROMOTION["same"])
TOLERANCE = {"float16": 4e-3, "float32": 2e-5}

FUNCTIONAL = """
    celu elu gelu glu hardsigmoid hardswish hardtanh leaky_relu mish one_hot pad relu6 silu softmin
    softplus softshrink softsign tanhshrink threshold
"""
FROM_FUNCTIONAL = {name: getattr(torch.nn.functional, name) for name in FUNCTIONAL.split()}
"""Functions that torch has in `torch.nn.functional`; some are also methods here."""


def with_reason(names, dtypes, reason):
    """Return a dictionary from each pair of a name and a dtype to the reason."""
    return dict.fromkeys(itertools.product(names.split(), dtypes), reason)


BOOL = INTEGRAL[:1]
INTEGERS = INTEGRAL[1:]
NOT_IN_TORCH = {
    **with_reason(
        "bmm einsum matmul mm mv tensordot",
        BOOL,
        "torch has products of bool for some shapes only",
    ),
    **with_reason("cdist pdist", FLOATS[:1], "torch has no CPU kernel"),
    **with_reason(
        "cumulative_trapezoid trapezoid", ["uint8"], "torch's negative steps wrap around"
    ),
    **with_reason("vander", ["float16", "bool", "uint16"], "torch's linalg.vander rejects them"),
    **with_reason("kthvalue threshold topk", BOOL, "torch has no CPU kernel"),
    **with_reason(
        "take_along_dim", BOOL, "the sample uses argmax, which neither library has on bool"
    ),
    **with_reason("tanhshrink", BOOL, "torch has no difference of bool and a number"),
    **with_reason(
        "celu elu gelu glu leaky_relu logaddexp2 prelu softplus softshrink",
        INTEGRAL,
        "torch has them on floats only; here integers become float32, as in all other functions",
    ),
    **with_reason(
        "hardshrink",
        INTEGRAL,
        "torch has it on floats only; here integers stay, as in relu",
    ),
    **with_reason(
        "addbmm addcmul addmm addmv baddbmm",
        INTEGERS,
        "torch truncates a fractional factor; here it is an error",
    ),
}
"""Operations and dtypes for which torch differs, with the reason."""

NO_GRADIENT_IN_TORCH = {
    "heaviside": "torch raises; here the gradient with respect to `values` is implemented",
    "vander": "torch changes a saved tensor in place, and raises",
}
"""Operations whose gradients raise in torch only, with the reason."""

ACCEPTED_BY_TORCH = {
    "p must be a number; 'nuc'": "norm() has no nuclear norm here",
    "a mask with x.bool": "torch takes uint8 as bool, with a warning",
    "single Ellipsis": "torch accepts a second one; NumPy rejects it, too",
    "'max' was given": "an old name of amax",
    "integers from 0 to 255": "torch wraps numbers out of range around",
    "with 6 element": "torch takes the remainder of indices beyond the end",
    "dimension 1 with 3 element": "torch takes the remainder of indices beyond the end",
    "takes tensors; 1 of type int": "torch accepts two numbers, in add() only",
    "value=0.5": "torch truncates fractional factors of integers",
    "beta=0.5": "torch truncates fractional factors of integers",
    "cannot be summed": "torch has some sums of bool",
}
"""Calls that raise here only, by the end of the message, with the reason."""

OTHER_ERRORS = {
    "1-D tensors of equal length": "torch checks the dtype first",
    "by 'a' of type str": "for other invalid indices torch raises our class",
    "'mirror' was given": "torch raises NotImplementedError",
    "as many destinations as sources": "torch takes integers only if both arguments are integers",
}
"""Calls that raise another class in torch, by a part of our message, with the reason."""


class TorchAsMt:
    """A replacement of `mt` in the samples that returns functions of torch."""

    linalg = torch.linalg

    @staticmethod
    def tensor(data, **options):
        options.pop("backend", None)
        return torch.tensor(data, **options)

    def __getattr__(self, name):
        return FROM_FUNCTIONAL[name] if name in FROM_FUNCTIONAL else getattr(torch, name)


def on_torch(call):
    """Return the call with `mt` replaced by torch."""
    return with_library(call, TorchAsMt())


@pytest.fixture(autouse=True)
def attributes_of_torch(monkeypatch):
    """Add `backend`, and methods that torch has as functions only, to torch's tensors."""
    monkeypatch.setattr(torch.Tensor, "backend", None, raising=False)
    for name, function in FROM_FUNCTIONAL.items():
        if not hasattr(torch.Tensor, name):
            monkeypatch.setattr(torch.Tensor, name, partialmethod(_call, function), raising=False)


def _call(input, function, *args, **settings):
    return function(input, *args, **settings)


def torch_call(spec):
    """Return the call of a sample for torch, or None if the sample has a reason for none."""
    return None if isinstance(spec.torch, str) else on_torch(spec.torch or spec.call)


def assert_same(ours, theirs):
    """Check that two outcomes are exceptions of one class, or equal tensors of one dtype."""
    failed = isinstance(theirs, Exception), isinstance(ours, Exception)
    assert failed in {(True, True), (False, False)}, f"torch: {theirs!r}; here: {ours!r}"
    if any(failed):
        assert_same_class(ours, theirs)
    else:
        assert str(theirs.dtype) == f"torch.{ours.dtype.name}"
        assert_close(ours.numpy(), theirs.numpy(), TOLERANCE.get(ours.dtype.name, 1e-12))


def assert_same_class(ours, theirs):
    """Check that our exception is an instance of the class of torch's."""
    expected = RuntimeError if isinstance(theirs, torch.linalg.LinAlgError) else type(theirs)
    known_difference = any(words in str(ours) for words in OTHER_ERRORS)
    assert isinstance(ours, expected) != known_difference, f"torch: {theirs!r}; here: {ours!r}"


def assert_close(ours, theirs, tolerance):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# --- Operations on tensors ----------------------------------------------------------------------


@pytest.mark.parametrize("spec", ROWS)
def test_values_and_dtypes_of_samples_match_torch(spec):
    call = torch_call(spec)
    if call is None:
        return
    for shapes, dtype in itertools.product(spec.samples, DTYPES):
        if (spec.name, dtype) not in NOT_IN_TORCH:
            arrays = arguments(spec, shapes, dtype)
            theirs = outcome(call, *map(torch.tensor, arrays))
            assert_same(outcome(spec.call, *map(mt.tensor, arrays)), theirs)


@pytest.mark.parametrize("spec", SMOOTH)
def test_gradients_of_samples_match_torch(spec):
    call = torch_call(spec)
    if call is None or spec.name in NO_GRADIENT_IN_TORCH:
        return
    for shapes in spec.samples:
        arrays = arguments(spec, shapes, "float64")
        grads = [gradients(mt, spec.call, arrays), gradients(torch, call, arrays)]
        for ours, theirs in zip(*grads, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert_close(ours, theirs, 1e-10)


def gradients(library, call, arrays):
    """Return the gradients of a weighted sum of the result, one per argument."""
    leaves = [library.tensor(array, requires_grad=True) for array in arrays]
    result = call(*leaves)
    weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape))
    result.backward(library.tensor(weights))
    return [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


@pytest.mark.parametrize("bad", INVALID_CALLS)
def test_invalid_call_raises_in_torch_too(bad):
    call, message = bad.call, bad.message
    numbers = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    result = outcome(on_torch(call), torch.tensor(numbers))
    accepted = any(message.endswith(end) for end in ACCEPTED_BY_TORCH)
    assert isinstance(result, Exception) != accepted, result
    if not accepted:
        assert_same_class(outcome(call, mt.tensor(numbers)), result)


# --- uint16 --------------------------------------------------------------------------------------


def has_no_kernel(outcome):
    """Return whether torch has no kernel for an unsigned dtype; then ours may have one."""
    return isinstance(outcome, Exception) and "not implemented for 'UInt" in str(outcome)


@pytest.mark.parametrize("spec", ROWS)
def test_uint16_values_match_torch(spec):
    call = torch_call(spec)
    if call is None or (spec.name, "uint16") in NOT_IN_TORCH:
        return
    for shapes in spec.samples:
        arrays = [array % 50000 for array in arguments(spec, shapes, "int64")]
        arrays = [array.astype("uint16") for array in arrays]
        theirs = outcome(call, *map(torch.tensor, arrays))
        if not has_no_kernel(theirs):
            assert_same(outcome(spec.call, *map(mt.tensor, arrays)), theirs)


# --- Shared memory -------------------------------------------------------------------------------


def shared_by(library, result, inputs):
    """Return for each input whether the (first) result shares its memory."""
    while isinstance(result, (tuple, list)):
        result = result[0]
    if library is torch:
        return [
            result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for x in inputs
        ]
    return [x.backend.same_memory(result._tensor.storage, x._tensor.storage) for x in inputs]


@pytest.mark.parametrize("spec", ROWS)
def test_results_of_samples_share_memory_as_in_torch(spec):
    call = torch_call(spec)
    if call is None or spec.torch is not None:
        return  # the call on torch may be another operation
    for shapes in spec.samples:
        arrays = arguments(spec, shapes, "float32")
        inputs = [list(map(library.tensor, arrays)) for library in (torch, mt)]
        results = outcome(call, *inputs[0]), outcome(spec.call, *inputs[1])
        if all(hasattr(result, "numel") and result.numel() for result in results):
            theirs, ours = map(shared_by, (torch, mt), results, inputs)
            assert ours == theirs


@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
def test_views_and_copies_are_the_same_in_torch(name):
    call = VIEWS.get(name) or COPIES[name]
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    assert shared_by(torch, on_torch(call)(x), [x]) == [name in VIEWS]


# --- The operator table -------------------------------------------------------------------------

TESTED_ELSEWHERE = {
    "is_close": "torch does not have it",
    **dict.fromkeys(
        ("celu", "elu", "hardtanh", "leaky_relu"),
        "torch takes their settings as numbers only, tested above and in test_pointwise.py",
    ),
}
"""Operators that torch does not have, or not on two tensors."""

OPERATORS = [
    pytest.param(spec, id=name) for name, spec in SPECS.items() if name not in TESTED_ELSEWHERE
]

PUBLIC = {"clamp": mt.clamp, "lerp": mt.lerp}
"""Functions that convert or check arguments before they call their operator."""

TORCH_OPERATORS = {
    **FROM_FUNCTIONAL,
    "floor_divide": partial(torch.div, rounding_mode="floor"),  # floor_divide has no gradient
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    # torch rounds the derivative of hardsigmoid, 1/6, to float32
    "hardsigmoid": lambda x: torch.nn.functional.relu6(x + 3) / 6,
    "id": torch.clone,
    "inv": torch.reciprocal,
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "ndtr": torch.special.ndtr,
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "sign": lambda x: torch.where(x.isnan(), x, x.sign()),  # torch's sign(nan) is 0
    "softplus": lambda x: torch.nn.functional.softplus(x, threshold=800.0),
}
"""Operators that torch has by another name or in another module."""

ON_FLOATS_ONLY = """
    gelu gelu_tanh hardswish hypot log_sigmoid logaddexp mish selu silu softplus softsign
"""
OTHER_DTYPES = {
    **dict.fromkeys(
        ON_FLOATS_ONLY.split(),
        "torch has them on floats only; here integers become float32, as in all other operators",
    ),
    "square": "torch converts bool to int64; here it stays bool",
    "sub": "torch rejects every bool operand; here bool may be subtracted from a number",
}
"""Operators that accept other dtypes than torch's, with the reason; only floats are compared."""

NAN_IN_TORCH = {
    **dict.fromkeys(
        ("gelu", "gelu_tanh", "hardswish", "mish", "quick_gelu", "silu", "softsign"),
        "torch multiplies or divides infinities",
    ),
    **dict.fromkeys(
        ("atan2", "copysign", "logaddexp"), "torch's formula is infinite for infinite arguments"
    ),
    **dict.fromkeys(("hypot", "xlogy"), "torch divides 0 by 0 at the origin"),
}
"""Operators whose values or derivatives are nan in torch only, with the reason."""

OTHER_GRADIENTS_AT_NAN = {
    **dict.fromkeys(("abs", "sign"), "torch's sign(nan) is 0, so that its gradient is not nan"),
    **dict.fromkeys(
        ("hardsigmoid", "hardswish", "relu6", "selu"),
        "torch's vectorized loop differs from its loop for the remaining elements",
    ),
    "digamma": "at its poles torch divides by the rounding error of a sine",
}
"""Operators whose derivatives differ in torch where the value is nan, with the reason."""

LESS_ACCURATE_IN_TORCH = {"digamma": "torch's trigamma, the derivative, has nine digits in float64"}
"""Operators whose derivatives are less accurate in torch, with the reason."""


def torch_operator(name):
    return TORCH_OPERATORS.get(name) or getattr(torch, name)


def our_operator(name):
    return PUBLIC.get(name, partial(mt.elementwise, name))


def dtype_combinations(spec):
    """Return the dtypes of the operands: each dtype, or pairs of a few."""
    if len(spec.ranges) == 1:
        return [(dtype,) for dtype in DTYPES]
    few = ["float16", "float64", "int64", "int8", "uint8", "bool"]
    mixed = list(itertools.product(few, repeat=2))
    if len(spec.ranges) == 2:
        return mixed
    return [("bool", a, b) if spec.name == "where" else (a, b, a) for a, b in mixed]


@pytest.mark.parametrize("spec", OPERATORS)
def test_operators_on_every_dtype_match_torch(spec):
    rng = np.random.default_rng(0)
    for dtypes in dtype_combinations(spec):
        if spec.name in OTHER_DTYPES and not all(dtype in FLOATS for dtype in dtypes):
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
def test_operators_at_special_values_match_torch(spec, dtype):
    """The arguments are kinks, poles, infinities, nan, and numbers outside of the domain."""
    values = (*SPECIAL, 0.5, -0.5, 2.0, 2.5, -3.0)
    columns = [
        list(c) for c in zip(*itertools.product(values, repeat=len(spec.ranges)), strict=True)
    ]
    if spec.name == "where":
        columns[0] = [value > 0 for value in columns[0]]
    ours, *our_grads = value_and_gradients(mt, our_operator(spec.name), columns, dtype)
    theirs, *their_grads = value_and_gradients(torch, torch_operator(spec.name), columns, dtype)
    left_out = np.isnan(ours) & (spec.name in OTHER_GRADIENTS_AT_NAN)
    nan_in_torch = spec.name in NAN_IN_TORCH
    compared = ~(np.isnan(theirs) & nan_in_torch)
    assert_close(ours[compared], theirs[compared], TOLERANCE.get(dtype, 1e-12))
    for our, their in zip(our_grads, their_grads, strict=True):
        assert (our is None) == (their is None)
        if our is not None:
            compared = ~(left_out | (np.isnan(their) & nan_in_torch))
            tolerance = TOLERANCE.get(dtype, 1e-8 if spec.name in LESS_ACCURATE_IN_TORCH else 1e-12)
            assert_close(our[compared], their[compared], tolerance)


def value_and_gradients(library, operation, columns, dtype):
    """Return the values of an operator, and its gradients, one per argument."""
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
