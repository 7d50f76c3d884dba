"""out=: results in existing tensors, compared with torch; errors."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError
from mt_tensor.errors import DTypeError, ShapeError

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]])

CASES = {
    "exp": lambda m, x, out: m.exp(x, out=out),
    "maximum": lambda m, x, out: m.maximum(x, -x, out=out),
    "mul by a number": lambda m, x, out: m.mul(x, 3, out=out),
    "pow": lambda m, x, out: m.pow(x, 2, out=out),
    "add": lambda m, x, out: m.add(x, x, alpha=2, out=out),
    "sub": lambda m, x, out: m.sub(x, x * 3, out=out),
    "div": lambda m, x, out: m.div(x, 3, rounding_mode="floor", out=out),
    "clamp": lambda m, x, out: m.clamp(x, -1, 1, out=out),
    "cumsum": lambda m, x, out: m.cumsum(x, 1, out=out),
    "where": lambda m, x, out: m.where(x > 0, x, x * 2, out=out),
    "matmul": lambda m, x, out: m.matmul(x, x.mT @ x, out=out),
    "cat": lambda m, x, out: m.cat([x[:1], x[1:]], out=out),
    "tril": lambda m, x, out: m.tril(x, out=out),
}


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_results_are_stored_in_out(call):
    x = mt.tensor(X)
    expected = call(mt, x, None)
    for out in (mt.zeros(2, 3, dtype="float64"), mt.zeros(3, 2, dtype="float64").mT, mt.empty(0)):
        view = out if not out.numel() else out[:]
        assert call(mt, x, out) is out
        np.testing.assert_allclose(out, expected, rtol=0 if out.dtype is mt.float64 else 1e-6)
        if view is not out:  # the view shares the memory of out
            np.testing.assert_array_equal(view, out)


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_results_in_out_match_torch(call):
    torch = pytest.importorskip("torch")
    out, theirs = mt.zeros(2, 3, dtype="float64"), torch.zeros(2, 3, dtype=torch.float64)
    call(mt, mt.tensor(X), out)
    call(torch, torch.tensor(X), theirs)
    np.testing.assert_allclose(out.numpy(), theirs.numpy(), rtol=1e-12)


def test_out_may_be_an_argument():
    x = mt.tensor(X)
    mt.sub(x.mT.contiguous().mT, x, out=x)
    np.testing.assert_array_equal(x, np.zeros_like(X))
    y = mt.tensor(X)
    mt.cumsum(y, 0, out=y)
    np.testing.assert_array_equal(y, X.cumsum(0))


def test_tuple_of_tensors_as_out_stores_several_results():
    values, indices = mt.empty(2, dtype="float64"), mt.empty(2, dtype="int64")
    found = mt.max(mt.tensor(X), 1, out=(values, indices))
    assert found.values is values
    assert found.indices is indices
    assert (values.tolist(), indices.tolist()) == ([2.0, 3.0], [2, 0])
    with pytest.raises(TypeError, match=r"max\(\) takes a tuple of 2 tensors as out"):
        mt.max(mt.tensor(X), 1, out=values)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (lambda: [1.0], TypeError, r"exp\(\) takes tensors"),
        (lambda: mt.zeros(3, 2), ShapeError, r"shape \(2, 3\); out= has shape \(3, 2\)"),
        (lambda: mt.zeros(2, 3, dtype="int64"), DTypeError, "float32, which out= of int64 cannot"),
        (lambda: mt.zeros(2, 3, requires_grad=True), GradientError, "has no gradient"),
        (lambda: mt.zeros(2, 3, backend="simple"), mt.errors.BackendMismatchError, "backend"),
    ],
    ids=["a list", "another shape", "integers", "a parameter", "another backend"],
)
def test_unsuitable_out_raises(out, error, message):
    with pytest.raises(error, match=message):
        mt.exp(mt.ones(2, 3), out=out())


def test_out_raises_for_arguments_that_require_grad_unless_no_grad():
    x, out = mt.ones(2, requires_grad=True), mt.zeros(2)
    with pytest.raises(GradientError, match=r"exp\(\) with out= has no gradient"):
        mt.exp(x, out=out)
    with mt.no_grad():
        mt.exp(x, out=out)
    assert not out.requires_grad
    np.testing.assert_allclose(out, np.exp([1.0, 1.0]), rtol=1e-6)


def test_backward_raises_if_out_has_overwritten_a_saved_tensor():
    x = mt.ones(2, requires_grad=True)
    saved = mt.ones(2)
    y = (x * saved).sum()
    mt.exp(mt.ones(2), out=saved)
    with pytest.raises(mt.errors.InPlaceError):
        y.backward()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("target", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_out_accepts_the_same_dtypes_as_torch(dtype, target):
    torch = pytest.importorskip("torch")
    ours, theirs = mt.zeros(2, dtype=target), torch.zeros(2, dtype=getattr(torch, target))
    expected = torch.can_cast(getattr(torch, dtype), getattr(torch, target))
    try:
        mt.maximum(mt.ones(2, dtype=dtype), mt.ones(2, dtype=dtype), out=ours)
        stored = True
    except DTypeError:
        stored = False
    assert stored is expected
    if stored:
        torch.maximum(
            torch.ones(2, dtype=getattr(torch, dtype)),
            torch.ones(2, dtype=getattr(torch, dtype)),
            out=theirs,
        )
        assert ours.tolist() == theirs.tolist()
