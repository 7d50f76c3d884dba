"""autograd.func: values compared with torch.func and with formulas; errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.autograd import func
from mt_tensor.errors import DomainError, ShapeError

X = np.array([[0.3, -0.8], [1.2, 0.4], [0.9, -0.5]])
V = np.array([0.7, -0.2])


def loss(w: Any, x: Any, y: Any) -> Any:
    return ((x @ w["v"]).tanh() * w["s"] - y).square().sum()


def weights(library: Any) -> dict[str, Any]:
    return {"v": tensor(library, V), "s": tensor(library, np.array(1.5))}


def tensor(library: Any, values: Any) -> Any:
    return library.tensor(values.tolist(), dtype=library.float64)


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda t, f: f.grad(lambda x: (x * x).sin().sum())(tensor(t, X)),
    "grad with respect to a dictionary": lambda t, f: f.grad(loss)(
        weights(t), tensor(t, X), tensor(t, X[:, 0])
    ),
    "grad with respect to two arguments": lambda t, f: f.grad(lambda x, y: (x * y).sum(), (0, 1))(
        tensor(t, V), tensor(t, X[0])
    ),
    "grad with respect to the last argument": lambda t, f: f.grad(lambda x, y: (x * y).sum(), -1)(
        tensor(t, V), tensor(t, X[0])
    ),
    "grad with an unused argument": lambda t, f: f.grad(lambda x, y: (y * 1).sum())(
        tensor(t, V), tensor(t, V)
    ),
    "grad with has_aux": lambda t, f: f.grad(
        lambda x: ((x * x).sum(), {"double": x * 2}), has_aux=True
    )(tensor(t, V)),
    "grad_and_value": lambda t, f: f.grad_and_value(lambda x: (x**3).sum())(tensor(t, V)),
    "grad_and_value with has_aux": lambda t, f: f.grad_and_value(
        lambda x: ((x**3).sum(), x), has_aux=True
    )(tensor(t, V)),
    "third derivative": lambda t, f: f.grad(f.grad(f.grad(lambda x: x.sin() * x)))(
        tensor(t, np.array(0.4))
    ),
    "grad within grad": lambda t, f: f.grad(
        lambda x: (f.grad(lambda y: (x * y**2).sum())(x.sin()) * x).sum()
    )(tensor(t, V)),
    "jacrev": lambda t, f: f.jacrev(lambda x: x.outer(x).sum(0))(tensor(t, V)),
    "jacrev of containers": lambda t, f: f.jacrev(lambda w: {"p": w["v"] * w["s"], "q": (w["s"],)})(
        weights(t)
    ),
    "jacrev of an empty result": lambda t, f: f.jacrev(lambda x: x[:0])(tensor(t, V)),
    "hessian": lambda t, f: f.hessian(lambda x: (x.prod() * x).sum())(tensor(t, V)),
    "hessian with respect to two arguments": lambda t, f: f.hessian(
        lambda x, y: (x * y**2).sum(), (0, 1)
    )(tensor(t, V), tensor(t, X[0])),
    "vmap": lambda t, f: f.vmap(t.dot)(tensor(t, X), tensor(t, X)),
    "vmap over another dimension": lambda t, f: f.vmap(lambda x, y: x.sum() * y, (1, None), 1)(
        tensor(t, X), tensor(t, V)
    ),
    "vmap of nested arguments": lambda t, f: f.vmap(
        lambda w, pair: (w["a"] * pair[0], pair[1] * w["a"].sum()),
        ({"a": 0, "b": None}, (0, None)),
        (0, 1),
    )({"a": tensor(t, X), "b": 3}, (tensor(t, X), tensor(t, V))),
    "vmap of one tensor, batched and unbatched": lambda t, f: f.vmap(
        lambda x, y: x @ y.T, (0, None)
    )(*[tensor(t, X)] * 2),
    "per-sample gradients": lambda t, f: f.vmap(f.grad(loss), in_dims=(None, 0, 0))(
        weights(t), tensor(t, X), tensor(t, X[:, 0])
    ),
    "batched Jacobians": lambda t, f: f.vmap(f.jacrev(lambda x: x.sin() * x.sum()))(tensor(t, X)),
    "grad of vmap": lambda t, f: f.grad(lambda x: f.vmap(t.dot)(x, x).square().sum())(tensor(t, X)),
}


def to_arrays(value: Any) -> Any:
    """Convert the tensors in nested containers to arrays, and tuples to lists."""
    if isinstance(value, dict):
        return {key: to_arrays(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [to_arrays(each) for each in value]
    return np.array(value.tolist()).reshape(tuple(value.shape))


def assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_close(found[key], expected[key])
    elif isinstance(expected, list):
        for each, other in zip(found, expected, strict=True):
            assert_close(each, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # from torch.func.hessian
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_transforms_match_torch_func(case: Callable[[Any, Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    assert_close(to_arrays(case(mt, func)), to_arrays(case(torch, torch.func)))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_transforms_give_the_same_results_under_no_grad(case: Callable[[Any, Any], Any]) -> None:
    with mt.no_grad():
        found = to_arrays(case(mt, func))
    assert_close(found, to_arrays(case(mt, func)))


def test_vjp_returns_the_gradient_of_each_argument() -> None:
    x, y = tensor(mt, X), tensor(mt, V)
    value, product = func.vjp(lambda x, y: x @ y, x, y)
    cotangent = tensor(mt, np.array([1.0, 2.0, -1.0]))
    of_x, of_y = product(cotangent)
    np.testing.assert_allclose(value, X @ V)
    np.testing.assert_allclose(of_x, np.outer([1.0, 2.0, -1.0], V))
    np.testing.assert_allclose(of_y, X.T @ [1.0, 2.0, -1.0])
    value, product, rest = func.vjp(lambda x: (x * 2, "aux"), y, has_aux=True)
    assert (rest, len(product(y))) == ("aux", 1)


def test_vjp_of_nested_result_takes_one_gradient_for_each_tensor() -> None:
    x = tensor(mt, V)
    value, product = func.vjp(lambda x: {"double": x * 2, "rest": (x.sum(), x.detach())}, x)
    np.testing.assert_allclose(value["rest"][0], V.sum())
    (gradient,) = product({"double": x, "rest": (mt.tensor(10.0), x)})
    np.testing.assert_allclose(gradient, V * 2 + 10, rtol=1e-12)
    with pytest.raises(ShapeError, match=r"vjp\(\) takes one upstream gradient for each of 3"):
        product(x)


def test_per_sample_gradients_sum_to_the_full_gradient() -> None:
    w, x, y = weights(mt), tensor(mt, X), tensor(mt, X[:, 0])
    per_sample = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(w, x, y)
    full = func.grad(loss)(w, x, y)
    for name in w:
        np.testing.assert_allclose(per_sample[name].sum(0), full[name], rtol=1e-12)


def test_grad_is_recorded_if_an_argument_or_free_variable_requires_grad() -> None:
    w = mt.tensor(3.0, requires_grad=True)
    x = mt.tensor(2.0)
    gradient = func.grad(lambda x: x * x * w)(x)
    gradient.backward()
    assert (gradient.item(), w.grad) == (12.0, mt.tensor(4.0))
    assert not func.grad(lambda x: x * x)(x).requires_grad
    assert x.grad is None
    leaf = mt.tensor(2.0, requires_grad=True)
    func.grad(lambda x: x**3)(leaf).backward()
    assert leaf.grad == mt.tensor(12.0)
    with mt.no_grad():
        assert not func.grad(lambda x: x * w)(x).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (func.grad(lambda x: x * 2), ShapeError, "returns a single number"),
        (func.grad(lambda x: x.sum(), 1), DomainError, "argnums is 1, but 1 argument"),
        (func.grad(lambda _: 1), TypeError, "must return tensors; it returned 1 of type int"),
        (lambda _: func.grad(lambda x: x)(3), TypeError, "must be tensors; 3 of type int"),
        (func.vmap(lambda x: x, (0, 0)), DomainError, "for 1 argument"),
        (lambda x: func.vmap(mt.add)(x, x[:1]), ShapeError, r"\[1, 2\] were given"),
        (func.vmap(lambda x: x, None), ShapeError, r"\[\] were given"),
        (lambda x: func.vmap(lambda x: x)(x[:0]), ShapeError, r"\[0\] were given"),
        (func.vmap(lambda _: 1), TypeError, "given to vmap.. must return tensors"),
    ],
    ids=["result not a scalar", "argnums out of range", "result not a tensor",
         "argument not a tensor", "in_dims of another length", "different sizes",
         "nothing to map over", "batch of size 0", "vmap result not a tensor"],
)  # fmt: skip
def test_transforms_reject_unsuitable_functions_and_arguments(
    call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(tensor(mt, V))
