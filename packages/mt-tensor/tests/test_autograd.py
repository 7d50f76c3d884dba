"""Autograd: `grad`, `backward`, gradcheck, functional derivatives and anomaly detection."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_autodiff import GradientError, GraphFreedError, NoGradientError
from mt_tensor.autograd import grad
from mt_tensor.errors import DTypeError, ShapeError

torch = pytest.importorskip("torch")

STEPS: list[Callable[..., Any]] = [
    lambda x, y: x * y,
    lambda x, y: x + y * 2.0,
    lambda x, y: (x - y).tanh(),
    lambda x, y: x.exp() / (1.0 + y * y),
    lambda x, y: (x * x).sum(0) * y,
    lambda x, y: x.reshape(2, 3).transpose(0, 1).reshape(2, 3) + y,
    lambda x, y: x.sigmoid() @ y.transpose(0, 1) @ x,
]


def leaves(seed: int) -> tuple[list[mt.Tensor], list[Any]]:
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((2, 3)) for _ in range(2)]
    return (
        [mt.tensor(a, requires_grad=True) for a in arrays],
        [torch.tensor(a, requires_grad=True) for a in arrays],
    )


def run(program: list[int], x: Any, y: Any) -> Any:
    for step in program:
        x, y = STEPS[step](x, y), x
    return x


def assert_same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(
        np.asarray(ours.detach()), theirs.detach().numpy(), rtol=1e-9, atol=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(STEPS) - 1), min_size=1, max_size=5), st.integers(0, 9))
def test_first_and_second_gradients_of_random_programs_match_torch(
    program: list[int], seed: int
) -> None:
    ours, theirs = leaves(seed)
    a, b = run(program, *ours), run(program, *theirs)
    weights = np.cos(np.arange(6.0)).reshape(2, 3)
    first = grad(a, ours, mt.tensor(weights), create_graph=True, allow_unused=True)
    expected = torch.autograd.grad(
        b, theirs, torch.tensor(weights), create_graph=True, allow_unused=True
    )
    for our_grad, their_grad in zip(first, expected, strict=True):
        assert (our_grad is None) == (their_grad is None)
        if our_grad is not None:
            assert_same(our_grad, their_grad)
    total = sum(g.square().sum() for g in first if g is not None)
    their_total = sum(g.square().sum() for g in expected if g is not None)
    assert total.requires_grad == their_total.requires_grad
    if total.requires_grad:
        second = grad(total, ours, allow_unused=True)
        for our_grad, their_grad in zip(
            second, torch.autograd.grad(their_total, theirs, allow_unused=True), strict=True
        ):
            assert (our_grad is None) == (their_grad is None)
            if our_grad is not None:
                assert_same(our_grad, their_grad)
    assert all(leaf.grad is None for leaf in ours)


def test_second_gradient_of_unread_input_is_none() -> None:
    """The gradient of `x * y` with respect to `x` is `grad * y`, which does not read `x`."""
    (x, y), (u, v) = leaves(0)
    first, _ = grad((x * y).sum(), [x, y], create_graph=True)
    their_first, _ = torch.autograd.grad((u * v).sum(), [u, v], create_graph=True)
    infinite = np.full((2, 3), np.inf)
    grad_x, grad_y = grad(first, [x, y], mt.tensor(infinite), allow_unused=True)
    grad_u, grad_v = torch.autograd.grad(
        their_first, [u, v], torch.tensor(infinite), allow_unused=True
    )
    assert grad_x is grad_u is None
    assert_same(grad_y, grad_v)


def test_zero_derivative_times_infinite_gradient_is_zero() -> None:
    (x, y), (u, v) = leaves(0)
    infinite = np.full((2, 3), np.inf)
    x.copysign(y).backward(mt.tensor(infinite))
    torch.copysign(u, v).backward(torch.tensor(infinite))
    assert_same(x.grad, u.grad)
    assert_same(y.grad, v.grad)


def test_grad_of_several_outputs_is_the_sum_of_their_gradients() -> None:
    (x, y), (u, v) = leaves(0)
    result = grad([(x * y).sum(), x.exp()], [x, y], [None, mt.ones(2, 3).double()])
    expected = torch.autograd.grad(
        [(u * v).sum(), u.exp()], [u, v], [None, torch.ones(2, 3).double()]
    )
    for ours, theirs in zip(result, expected, strict=True):
        assert_same(ours, theirs)


def test_grad_accepts_intermediate_results_as_inputs() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    middle = x * 3.0
    result = (middle * middle).sum()
    grad_middle, grad_result = grad(result, [middle, result])
    assert grad_middle.tolist() == [6.0, 12.0]
    assert grad_result.item() == 1.0


def test_grad_frees_graph_unless_retained() -> None:
    x = mt.tensor(3.0, requires_grad=True)
    y = x * x
    grad(y, x, retain_graph=True)
    grad(y, x)
    with pytest.raises(GraphFreedError):
        grad(y, x)


@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
def test_grad_does_not_free_graph_of_its_inputs(library: str) -> None:
    """Gradient descent without detach differentiates with respect to each step's result."""
    m = pytest.importorskip(library)
    x = first = m.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        x = x - 0.25 * m.autograd.grad((x * x).sum(), x)[0]
    assert x.tolist() == [0.125, 0.25]
    assert m.autograd.grad(x.sum(), first)[0].tolist() == [1.0, 1.0]


def test_grad_raises_for_unused_inputs_and_bad_gradients() -> None:
    x, unused = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    constant = mt.ones(2)
    y = (x * constant).sum()
    with pytest.raises(NoGradientError, match=r"shape \(2,\) does not require grad"):
        grad(y, constant)
    with pytest.raises(NoGradientError, match="no output depends on input 1: pass allow_unused"):
        grad(y, [x, unused], retain_graph=True)
    assert grad(y, [x, unused], allow_unused=True)[1] is None
    with pytest.raises(NoGradientError, match="computed from tensors without requires_grad"):
        grad(constant.sum(), x)
    with pytest.raises(NoGradientError, match="needs gradient=, one value per element"):
        grad(x * 2.0, x)
    with pytest.raises(ShapeError, match=r"gradient has shape \(3,\)"):
        grad(x * 2.0, x, mt.ones(3))
    with pytest.raises(ShapeError, match="1 result.s.; 2 were given"):
        grad(x * 2.0, x, [mt.ones(2), mt.ones(2)])
    with pytest.raises(TypeError, match="inputs must be a tensor or a sequence of tensors; 2.0"):
        grad(y, 2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="gradient must be a tensor; 1.0"):
        (x * 2.0).backward(1.0)  # type: ignore[arg-type]


# --- gradcheck and gradgradcheck ----------------------------------------------------------------


class Wrong(mt.Function):
    """A cube without a second derivative: its backward detaches."""

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        (x,) = ctx.saved_tensors
        return grad * (3.0 * x * x).detach()


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradgradcheck_finds_missing_second_derivative(fast_mode: bool) -> None:
    (x, y), _ = leaves(1)
    for step in STEPS:
        assert mt.gradgradcheck(step, [x, y], fast_mode=fast_mode)
    assert mt.gradgradcheck(lambda x: x.square(), x, fast_mode=fast_mode)
    assert mt.gradcheck(Wrong.apply, [x], fast_mode=fast_mode)
    with pytest.raises(GradientError, match="with respect to input 0"):
        mt.gradgradcheck(Wrong.apply, [x], fast_mode=fast_mode)


def test_gradcheck_fast_mode_finds_one_wrong_element() -> None:
    for index in range(6):
        scale = mt.ones(6, dtype="float64")
        scale[index] = 1.001

        def partly_detached(x: mt.Tensor, scale: mt.Tensor = scale) -> mt.Tensor:
            return x * (2 * scale) - (x * (scale - 1)).detach()  # without a gradient

        x = mt.arange(1.0, 7.0, dtype="float64", requires_grad=True)
        with pytest.raises(
            GradientError, match="along a random direction, the gradient with respect to input 0"
        ):
            mt.gradcheck(partly_detached, x, rtol=1e-5, fast_mode=True)


def backward_method(m: Any, y: Any, x: Any, **options: Any) -> None:
    y.backward(**options)


def backward_with_inputs(m: Any, y: Any, x: Any, **options: Any) -> None:
    y.backward(inputs=[x], **options)


def backward_function(m: Any, y: Any, x: Any, **options: Any) -> None:
    m.autograd.backward([y, y], **options)


def grad_function(m: Any, y: Any, x: Any, **options: Any) -> None:
    m.autograd.grad([y, y], x, **options)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")  # torch's
@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
@pytest.mark.parametrize(
    "backward", [backward_method, backward_with_inputs, backward_function, grad_function]
)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("retain_graph", [None, False, True])
def test_retain_graph_defaults_to_create_graph(
    library: str, backward: Any, create_graph: bool, retain_graph: bool | None
) -> None:
    m = pytest.importorskip(library)
    x = m.tensor([3.0], requires_grad=True)
    y = (x * x).sum()
    backward(m, y, x, retain_graph=retain_graph, create_graph=create_graph)
    if create_graph if retain_graph is None else retain_graph:
        y.backward()
    else:
        with pytest.raises(RuntimeError, match="freed"):
            y.backward()


CORRECT: dict[str, Any] = {
    "square": lambda m, x: x * x,
    "small and large results": lambda m, x: m.stack([x, x * 1e9]),
    "large constant result": lambda m, x: (x * x, (x * 0.0).detach() + 1e12),
    "several results": lambda m, x: (x.exp() * 1e-9, x.sum(), x[:2].prod()),
    "integer results": lambda m, x: x.sort(),
    "independent result": lambda m, x: (x * 2.0, x.detach() * 0.0 + 3.0),
}


@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
@pytest.mark.parametrize("name", CORRECT)
def test_gradcheck_accepts_correct_gradients_of_any_magnitude(library: str, name: str) -> None:
    """The gradcheck of torch accepts the same gradients."""
    m = pytest.importorskip(library)
    x = m.tensor([0.001, 0.002, 0.003, 2000.0], dtype=m.float64, requires_grad=True)
    if name == "several results":
        x = (x.detach() * 1e-3).requires_grad_()
    for fast_mode in (False, True):
        assert m.autograd.gradcheck(lambda x: CORRECT[name](m, x), [x], fast_mode=fast_mode)
    if name in {"square", "several results"}:
        assert m.autograd.gradgradcheck(lambda x: CORRECT[name](m, x), [x])


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_accepts_function_that_changes_saved_tensor(fast_mode: bool) -> None:
    """Each call changes in place a tensor that the gradient reads."""
    calls = mt.zeros(2, dtype="float64")

    def func(x: mt.Tensor, y: mt.Tensor) -> mt.Tensor:
        calls.add_(1.0)
        return x * y * (calls / calls) + 0.0 * x * calls

    x, y = (mt.tensor([2.0, 3.0], dtype="float64", requires_grad=True) for _ in range(2))
    assert mt.gradcheck(func, [x, y], fast_mode=fast_mode)


def test_gradcheck_finds_small_error_next_to_large_result() -> None:
    def func(x: mt.Tensor) -> mt.Tensor:
        return mt.stack([x * 1.1 - x.detach() * 0.1, x * 1e6])

    x = mt.tensor([2.0], dtype="float64", requires_grad=True)
    with pytest.raises(
        GradientError, match=r"of result 0 at index \(0, 0\) with respect to input 0 at index"
    ):
        mt.gradcheck(func, x)
    with pytest.raises(GradientError, match="1 of 2 differ"):
        mt.gradcheck(lambda x: (x, func(x)), x)
    with pytest.raises(GradientError, match=r"of result 1 .* is 0.0, but the .* is 2"):
        mt.gradcheck(lambda x: (x, x.detach() * 2.0), x)


def test_gradcheck_of_function_that_returns_no_tensor_raises() -> None:
    x = mt.ones((), dtype="float64", requires_grad=True)
    for check in (mt.gradcheck, mt.gradgradcheck):
        with pytest.raises(TypeError, match=r"must return tensors; it returned 3.0 of type float"):
            check(lambda x: 3.0, x)


def test_gradcheck_rejects_nonlinear_backward() -> None:
    class Squared(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
            return grad * grad

    x = mt.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    for fast_mode in (False, True):
        with pytest.raises(GradientError, match="with respect to input 0"):
            mt.gradcheck(Squared.apply, x, fast_mode=fast_mode)


def test_gradcheck_accepts_several_outputs_but_not_float32() -> None:
    (x, y), _ = leaves(2)
    assert mt.gradcheck(lambda x, y: (x * y, x.exp().sum()), [x, y])
    for check in (mt.gradcheck, mt.gradgradcheck):
        with pytest.raises(NoGradientError, match="needs an input that requires grad"):
            check(lambda x: x, x.detach())
        with pytest.raises(DTypeError, match="differences in float32 are not precise"):
            check(lambda x: x, x.detach().float().requires_grad_())


def test_course_grad_check_and_central_difference_match_gradients() -> None:
    (x, y), _ = leaves(3)
    value = mt.grad_central_difference(lambda a, b: a * b, x, y, arg=1, ind=(1, 2))
    assert value == pytest.approx(x[1, 2].item())
    large = mt.tensor([0.001, 1e9], dtype="float64")
    value = mt.grad_central_difference(lambda a: a * a, large, ind=0)
    assert value == pytest.approx(0.002)
    mt.grad_check(lambda a, b: (a * b).tanh(), x.float().detach(), y)
    with pytest.raises(GradientError):
        mt.grad_check(lambda a: Wrong.apply(a) + a.detach() ** 2, x)


# --- Inputs of grad and backward ----------------------------------------------------------------


def used_and_unused(m: Any) -> Any:
    used, unused = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    return (used * used).sum(), used, unused


def test_materialize_grads_returns_zeros_for_unused_inputs() -> None:
    for m in (mt, torch):
        y, used, unused = used_and_unused(m)
        gradients = m.autograd.grad(y, [used, unused], materialize_grads=True)
        assert [g.tolist() for g in gradients] == [[2, 4], [0, 0]]
        y, used, unused = used_and_unused(m)
        with pytest.raises(ValueError, match="allow_unused"):
            m.autograd.grad(y, unused, allow_unused=False, materialize_grads=True)


def test_inference_mode_records_no_graph_unless_false() -> None:
    for m in (mt, torch):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        with m.inference_mode():
            assert not (x * x).requires_grad
        with m.no_grad(), m.inference_mode(mode=False):
            assert (x * x).requires_grad
        assert not m.inference_mode(lambda x=x: x * x)().requires_grad


def test_backward_with_inputs_accumulates_only_in_them() -> None:
    for m in (mt, torch):
        x, w = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        y = x * 2
        (y * w).sum().backward(inputs=[y, w])
        assert (x.grad, y.grad.tolist(), w.grad.tolist()) == (None, [1, 2], [2, 4])
        (x * w).sum().backward(inputs=x)
        assert (x.grad.tolist(), w.grad.tolist()) == ([1, 2], [2, 4])
        (x * w).sum().backward(inputs=[x, x])  # a repeated input counts once
        assert x.grad.tolist() == [2, 4]
        with pytest.raises((ValueError, RuntimeError), match="inputs"):
            x.sum().backward(inputs=[])
        with pytest.raises((ValueError, RuntimeError), match="inputs"):
            m.autograd.grad(x.sum(), [])


def test_grad_ignores_new_shape_of_operand_that_it_does_not_need() -> None:
    for m in (mt, torch):
        x, y = m.zeros(2, 1, requires_grad=True), m.zeros(3, requires_grad=True)
        total = x - y
        with m.no_grad():
            x.swapdims_(0, 1)
        (found,) = m.autograd.grad(total.sum(), [y])
        assert found.tolist() == [-2, -2, -2]


def test_backward_of_several_tensors_adds_gradients() -> None:
    for m in (mt, torch):
        x, w = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        shared = x * w
        m.autograd.backward([shared.sum(), shared, w], [None, m.ones(2), m.ones(2)])
        assert (x.grad.tolist(), w.grad.tolist()) == ([2, 4], [3, 5])


# --- Detached tensors, data and custom functions ------------------------------------------------


def test_detach_in_place_makes_leaf_that_shares_memory_with_its_base() -> None:
    for m in (mt, torch):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        assert y.detach_() is y
        assert (y.is_leaf, y.requires_grad) == (True, False)
    base = mt.tensor([1.0, 2.0], requires_grad=True) * 2  # torch has no detach_() of views
    view = base[:1].detach_()
    assert (view.is_leaf, view.requires_grad, base.requires_grad) == (True, False, True)
    view.zero_()
    assert base.tolist() == [0, 4]


def test_setting_data_replaces_elements_of_same_dtype() -> None:
    for m in (mt, torch):
        x = m.ones(2, requires_grad=True)
        x.data = m.tensor([3.0, 4.0, 5.0])
        assert (x.tolist(), x.is_leaf, x.requires_grad) == ([3, 4, 5], True, True)
        (x * x).sum().backward()
        assert x.grad.tolist() == [6, 8, 10]
        del x.grad
        assert x.grad is None
    with pytest.raises(DTypeError, match="float64 on backend 'numpy'; it must be float32"):
        mt.ones(2).data = mt.ones(2, dtype="float64")
    with pytest.raises(TypeError, match="data must be a tensor"):
        mt.ones(2).data = 3


@pytest.mark.parametrize("returned", [None, 1.0, [mt.ones(2)], (mt.ones(2), 1.0)], ids=repr)
def test_forward_that_returns_non_tensor_raises(returned: Any) -> None:
    class Wrong(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return returned

    with pytest.raises(
        TypeError, match="forward of Wrong returned .*; return a tensor, or a tuple"
    ):
        Wrong.apply(mt.ones(2, requires_grad=True))


@pytest.mark.parametrize(
    ("call", "derivative"),
    [
        (lambda x: x + 1.0, 1.0),
        (lambda x: x.view(1).sum(), 1.0),
        (lambda x: x.round(), 0.0),
        (lambda x: x.sign() + x, 1.0),
    ],
)
def test_changing_a_gradient_in_place_affects_no_other_gradient(
    call: Any, derivative: float
) -> None:
    """This includes the next gradient of the same operation."""
    for _ in range(2):
        x = mt.tensor(1.5, requires_grad=True)
        (gradient,) = mt.autograd.grad(call(x), x)
        assert gradient.item() == derivative
        gradient.add_(4.0)
    assert (mt.tensor(2.0) + 1.0).item() == 3.0


# --- autograd.functional --------------------------------------------------------------------------


def _two_results(m):
    return lambda x, y: (x * x * y.sum(), (y**3).sum())


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 2)])
def test_jacobian_matches_torch(shape):
    torch = pytest.importorskip("torch")
    values = [np.cos(np.arange(np.prod(shape, dtype=int)).reshape(shape)), np.arange(1.0, 3.0)]
    result, reference = (
        m.autograd.functional.jacobian(_two_results(m), tuple(m.tensor(value) for value in values))
        for m in (mt, torch)
    )
    for row, expected in zip(result, reference, strict=True):
        for ours, theirs in zip(row, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            assert not ours.requires_grad
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)


def test_hessian_matches_torch():
    torch = pytest.importorskip("torch")
    x, y = np.array([[0.5, 2.0]]), np.array(3.0)
    result, reference = (
        m.autograd.functional.hessian(lambda x, y: (x**3).sum() * y**2, (m.tensor(x), m.tensor(y)))
        for m in (mt, torch)
    )
    for row, expected in zip(result, reference, strict=True):
        for ours, theirs in zip(row, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    one = mt.autograd.functional.hessian(lambda x: x.sum() ** 2, mt.tensor(x))
    np.testing.assert_allclose(one.numpy(), np.full((1, 2, 1, 2), 2.0))


def test_vjp_matches_torch():
    torch = pytest.importorskip("torch")
    x, v = np.array([0.5, 2.0]), np.array([1.0, -1.0])
    result, reference = (
        m.autograd.functional.vjp(lambda x: x**3, m.tensor(x), m.tensor(v)) for m in (mt, torch)
    )
    for ours, theirs in zip(result, reference, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    values, gradients = mt.autograd.functional.vjp(
        lambda x, y: (x * y).sum(), (mt.ones(2), mt.tensor(x))
    )
    assert values.item() == 2.5
    assert len(gradients) == 2
    values, gradients = mt.autograd.functional.vjp(
        lambda x: (x * 2, x.detach()), mt.tensor(x), (mt.tensor(v), mt.tensor(v))
    )
    np.testing.assert_allclose([*map(mt.Tensor.numpy, (*values, gradients))], [x * 2, x, v * 2])
    with pytest.raises(NoGradientError, match=r"^vjp\(\) of a result of shape \(2,\) needs v="):
        mt.autograd.functional.vjp(lambda x: x * 2, mt.ones(2))


@pytest.mark.parametrize(
    ("derivative", "expected"),
    [
        (lambda f, x, **graph: f.jacobian(lambda x: x**3, x, **graph), [6.0, 12.0]),
        (lambda f, x, **graph: f.hessian(lambda x: (x**3).sum(), x, **graph), [6.0, 6.0]),
        (lambda f, x, **graph: f.vjp(lambda x: x**3, x, mt.ones(2).double(), **graph)[0], [3, 12]),
        (lambda f, x, **graph: f.vjp(lambda x: x**3, x, mt.ones(2).double(), **graph)[1], [6, 12]),
    ],
    ids=["jacobian", "hessian", "value", "vjp"],
)
def test_functional_derivatives_with_create_graph_are_differentiable(derivative, expected):
    x = mt.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    assert not derivative(mt.autograd.functional, x).requires_grad
    derivative(mt.autograd.functional, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == expected


def test_jacobian_accepts_empty_and_detached_results():
    x = mt.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    empty = mt.autograd.functional.jacobian(lambda x: x[:0], x)  # torch raises
    assert empty.shape == (0, 2)
    assert mt.autograd.functional.jacobian(lambda x: x.detach(), x).tolist() == [[0, 0], [0, 0]]


def test_functional_derivatives_reject_non_tensors_and_integers():
    with pytest.raises(ShapeError, match="a single number"):
        mt.autograd.functional.hessian(lambda x: x, mt.ones(2))
    with pytest.raises(TypeError, match="must be tensors"):
        mt.autograd.functional.jacobian(lambda x: x, [1.0])
    with pytest.raises(TypeError, match="must return tensors"):
        mt.autograd.functional.jacobian(lambda x: 1.0, mt.ones(2))
    with pytest.raises(mt.errors.DTypeError):
        mt.autograd.functional.jacobian(lambda x: x, mt.arange(2))


# --- Anomaly detection --------------------------------------------------------------------------


def _nan_gradient(x: mt.Tensor) -> mt.Tensor:
    return (x.exp().sub(1.0).sqrt() * mt.tensor([0.0, 1.0])).sum()


def test_detect_anomaly_names_first_operation_with_nan_gradient() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.detect_anomaly(), pytest.raises(GradientError, match="backward of 'sqrt'"):
        _nan_gradient(x).backward()
    with mt.autograd.detect_anomaly():
        (mt.tensor([1.0, np.nan]).isnan() * x).sum().backward()
        assert mt.tensor(np.nan).exp().isnan()  # nan in forward is not an anomaly
    assert x.grad is not None
    _nan_gradient(x).backward()
    assert x.grad.isnan().any()


def test_set_detect_anomaly_can_be_called_or_entered_as_a_context() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.set_detect_anomaly(True), pytest.raises(GradientError):
        _nan_gradient(x).backward()
    _nan_gradient(x).backward()
    mt.autograd.set_detect_anomaly(True)
    try:
        with pytest.raises(GradientError):
            mt.autograd.grad(_nan_gradient(x), x)
        with mt.autograd.set_detect_anomaly(False):
            _nan_gradient(x).backward()
        with pytest.raises(GradientError):
            _nan_gradient(x).backward()
    finally:
        mt.autograd.set_detect_anomaly(False)
    _nan_gradient(x).backward()


def test_set_detect_anomaly_affects_only_its_thread() -> None:
    def run() -> None:
        _nan_gradient(x).backward()
        with mt.autograd.set_detect_anomaly(True), pytest.raises(GradientError):
            _nan_gradient(x).backward()
        mt.autograd.set_detect_anomaly(False)

    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.set_detect_anomaly(True):
        with ThreadPoolExecutor() as pool:
            pool.submit(run).result()
        with pytest.raises(GradientError):
            _nan_gradient(x).backward()
