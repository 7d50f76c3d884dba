"""Gradients as results, of both orders, beside torch's."""

from collections.abc import Callable
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


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(
        np.asarray(ours.detach()), theirs.detach().numpy(), rtol=1e-9, atol=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(STEPS) - 1), min_size=1, max_size=5), st.integers(0, 9))
def test_gradients_of_programs_are_torchs(program: list[int], seed: int) -> None:
    ours, theirs = leaves(seed)
    a, b = run(program, *ours), run(program, *theirs)
    weights = np.cos(np.arange(6.0)).reshape(2, 3)
    first = grad(a, ours, mt.tensor(weights), create_graph=True, allow_unused=True)
    expected = torch.autograd.grad(
        b, theirs, torch.tensor(weights), create_graph=True, allow_unused=True
    )
    for mine, its in zip(first, expected, strict=True):
        assert (mine is None) == (its is None)
        if mine is not None:
            same(mine, its)
    total = sum(g.square().sum() for g in first if g is not None)
    its_total = sum(g.square().sum() for g in expected if g is not None)
    assert total.requires_grad == its_total.requires_grad
    if total.requires_grad:
        second = grad(total, ours, allow_unused=True)
        for mine, its in zip(
            second, torch.autograd.grad(its_total, theirs, allow_unused=True), strict=True
        ):
            assert (mine is None) == (its is None)
            if mine is not None:
                same(mine, its)
    assert all(leaf.grad is None for leaf in ours)


def test_what_a_gradient_does_not_read_gets_none() -> None:
    """Of a product, the gradient by `x` is the upstream gradient times `y`, without `x`."""
    (x, y), (u, v) = leaves(0)
    first, _ = grad((x * y).sum(), [x, y], create_graph=True)
    its_first, _ = torch.autograd.grad((u * v).sum(), [u, v], create_graph=True)
    infinite = np.full((2, 3), np.inf)
    by_x, by_y = grad(first, [x, y], mt.tensor(infinite), allow_unused=True)
    by_u, by_v = torch.autograd.grad(its_first, [u, v], torch.tensor(infinite), allow_unused=True)
    assert by_x is by_u is None
    same(by_y, by_v)


def test_a_derivative_of_zero_gives_zero_of_any_upstream_gradient() -> None:
    (x, y), (u, v) = leaves(0)
    infinite = np.full((2, 3), np.inf)
    x.copysign(y).backward(mt.tensor(infinite))
    torch.copysign(u, v).backward(torch.tensor(infinite))
    same(x.grad, u.grad)
    same(y.grad, v.grad)


def test_several_outputs_add_up() -> None:
    (x, y), (u, v) = leaves(0)
    found = grad([(x * y).sum(), x.exp()], [x, y], [None, mt.ones(2, 3).double()])
    expected = torch.autograd.grad(
        [(u * v).sum(), u.exp()], [u, v], [None, torch.ones(2, 3).double()]
    )
    for mine, its in zip(found, expected, strict=True):
        same(mine, its)


def test_gradients_by_what_lies_between() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    middle = x * 3.0
    result = (middle * middle).sum()
    by_middle, by_result = grad(result, [middle, result])
    assert by_middle.tolist() == [6.0, 12.0]
    assert by_result.item() == 1.0


def test_the_graph_is_freed_unless_it_is_kept() -> None:
    x = mt.tensor(3.0, requires_grad=True)
    y = x * x
    grad(y, x, retain_graph=True)
    grad(y, x)
    with pytest.raises(GraphFreedError):
        grad(y, x)


@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
def test_the_graph_of_an_input_is_not_freed(library: str) -> None:
    """Gradient descent without detach: each gradient is with respect to the result of a step."""
    m = pytest.importorskip(library)
    x = first = m.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        x = x - 0.25 * m.autograd.grad((x * x).sum(), x)[0]
    assert x.tolist() == [0.125, 0.25]
    assert m.autograd.grad(x.sum(), first)[0].tolist() == [1.0, 1.0]


def test_what_has_no_gradient() -> None:
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


# --- Checking -----------------------------------------------------------------------------------


class Wrong(mt.Function):
    """A cube whose second derivative is missing: its backward is not recorded."""

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        (x,) = ctx.saved_tensors
        return grad * (3.0 * x * x).detach()


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradgradcheck(fast_mode: bool) -> None:
    (x, y), _ = leaves(1)
    for step in STEPS:
        assert mt.gradgradcheck(step, [x, y], fast_mode=fast_mode)
    assert mt.gradgradcheck(lambda x: x.square(), x, fast_mode=fast_mode)
    assert mt.gradcheck(Wrong.apply, [x], fast_mode=fast_mode)
    with pytest.raises(GradientError, match="with respect to input 0"):
        mt.gradgradcheck(Wrong.apply, [x], fast_mode=fast_mode)


def test_the_fast_mode_finds_one_wrong_element() -> None:
    for at in range(6):
        scale = mt.ones(6, dtype="float64")
        scale[at] = 1.001

        def partly_hidden(x: mt.Tensor, scale: mt.Tensor = scale) -> mt.Tensor:
            return x * (2 * scale) - (x * (scale - 1)).detach()  # whose gradient is not told

        x = mt.arange(1.0, 7.0, dtype="float64", requires_grad=True)
        with pytest.raises(
            GradientError, match="along a random direction, the gradient with respect to input 0"
        ):
            mt.gradcheck(partly_hidden, x, rtol=1e-5, fast_mode=True)


def by_method(m: Any, y: Any, x: Any, **options: Any) -> None:
    y.backward(**options)


def by_chosen_inputs(m: Any, y: Any, x: Any, **options: Any) -> None:
    y.backward(inputs=[x], **options)


def by_function(m: Any, y: Any, x: Any, **options: Any) -> None:
    m.autograd.backward([y, y], **options)


def as_result(m: Any, y: Any, x: Any, **options: Any) -> None:
    m.autograd.grad([y, y], x, **options)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")  # torch's
@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
@pytest.mark.parametrize("backward", [by_method, by_chosen_inputs, by_function, as_result])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("retain_graph", [None, False, True])
def test_the_graph_is_kept_if_that_is_asked_for(
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


RIGHT: dict[str, Any] = {
    "a square": lambda m, x: x * x,
    "small beside large": lambda m, x: m.stack([x, x * 1e9]),
    "constants beside": lambda m, x: (x * x, (x * 0.0).detach() + 1e12),
    "several results": lambda m, x: (x.exp() * 1e-9, x.sum(), x[:2].prod()),
    "indices beside": lambda m, x: x.sort(),
    "what does not depend on it": lambda m, x: (x * 2.0, x.detach() * 0.0 + 3.0),
}


@pytest.mark.parametrize("library", ["mt_tensor", "torch"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_raise_no_alarm(library: str, name: str) -> None:
    """However small beside others; torch agrees."""
    m = pytest.importorskip(library)
    x = m.tensor([0.001, 0.002, 0.003, 2000.0], dtype=m.float64, requires_grad=True)
    if name == "several results":
        x = (x.detach() * 1e-3).requires_grad_()
    for fast_mode in (False, True):
        assert m.autograd.gradcheck(lambda x: RIGHT[name](m, x), [x], fast_mode=fast_mode)
    if name in {"a square", "several results"}:
        assert m.autograd.gradgradcheck(lambda x: RIGHT[name](m, x), [x])


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_function_that_counts_its_calls_can_be_checked(fast_mode: bool) -> None:
    """It changes in place what its gradient reads."""
    calls = mt.zeros(2, dtype="float64")

    def func(x: mt.Tensor, y: mt.Tensor) -> mt.Tensor:
        calls.add_(1.0)
        return x * y * (calls / calls) + 0.0 * x * calls

    x, y = (mt.tensor([2.0, 3.0], dtype="float64", requires_grad=True) for _ in range(2))
    assert mt.gradcheck(func, [x, y], fast_mode=fast_mode)


def test_a_small_mistake_beside_a_large_result_is_found() -> None:
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


def test_a_backward_that_is_not_proportional_is_found() -> None:
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


def test_checking_several_outputs_and_what_cannot_be_checked() -> None:
    (x, y), _ = leaves(2)
    assert mt.gradcheck(lambda x, y: (x * y, x.exp().sum()), [x, y])
    for check in (mt.gradcheck, mt.gradgradcheck):
        with pytest.raises(NoGradientError, match="needs an input that requires grad"):
            check(lambda x: x, x.detach())
        with pytest.raises(DTypeError, match="differences in float32 are not precise"):
            check(lambda x: x, x.detach().float().requires_grad_())


def test_the_courses_names() -> None:
    (x, y), _ = leaves(3)
    value = mt.grad_central_difference(lambda a, b: a * b, x, y, arg=1, ind=(1, 2))
    assert value == pytest.approx(x[1, 2].item())
    large = mt.tensor([0.001, 1e9], dtype="float64")
    value = mt.grad_central_difference(lambda a: a * a, large, ind=0)
    assert value == pytest.approx(0.002)
    mt.grad_check(lambda a, b: (a * b).tanh(), x.float().detach(), y)
    with pytest.raises(GradientError):
        mt.grad_check(lambda a: Wrong.apply(a) + a.detach() ** 2, x)


# --- Which gradients are wanted -----------------------------------------------------------------


def used_and_unused(m: Any) -> Any:
    used, unused = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    return (used * used).sum(), used, unused


def test_unused_inputs_get_none_or_zeros_or_an_error() -> None:
    for m in (mt, torch):
        y, used, unused = used_and_unused(m)
        found = m.autograd.grad(y, [used, unused], materialize_grads=True)
        assert [g.tolist() for g in found] == [[2, 4], [0, 0]]
        y, used, unused = used_and_unused(m)
        with pytest.raises(ValueError, match="allow_unused"):
            m.autograd.grad(y, unused, allow_unused=False, materialize_grads=True)


def test_inference_mode() -> None:
    for m in (mt, torch):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        with m.inference_mode():
            assert not (x * x).requires_grad
        with m.no_grad(), m.inference_mode(mode=False):
            assert (x * x).requires_grad
        assert not m.inference_mode(lambda x=x: x * x)().requires_grad


def test_backward_to_some_inputs_only() -> None:
    for m in (mt, torch):
        x, w = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        y = x * 2
        (y * w).sum().backward(inputs=[y, w])
        assert (x.grad, y.grad.tolist(), w.grad.tolist()) == (None, [1, 2], [2, 4])
        (x * w).sum().backward(inputs=x)
        assert (x.grad.tolist(), w.grad.tolist()) == ([1, 2], [2, 4])
        (x * w).sum().backward(inputs=[x, x])  # each of them once
        assert x.grad.tolist() == [2, 4]
        with pytest.raises((ValueError, RuntimeError), match="inputs"):
            x.sum().backward(inputs=[])
        with pytest.raises((ValueError, RuntimeError), match="inputs"):
            m.autograd.grad(x.sum(), [])


def test_backward_of_several_tensors() -> None:
    for m in (mt, torch):
        x, w = (m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        shared = x * w
        m.autograd.backward([shared.sum(), shared, w], [None, m.ones(2), m.ones(2)])
        assert (x.grad.tolist(), w.grad.tolist()) == ([2, 4], [3, 5])


# --- Tensors that leave the graph ---------------------------------------------------------------


def test_detach_in_place() -> None:
    for m in (mt, torch):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        assert y.detach_() is y
        assert (y.is_leaf, y.requires_grad) == (True, False)
        with pytest.raises(RuntimeError if m is torch else NoGradientError, match="view"):
            (x * 2)[0].detach_()


def test_exchanged_elements() -> None:
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
def test_a_function_that_returns_no_tensors_is_refused(returned: Any) -> None:
    class Wrong(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return returned

    with pytest.raises(
        TypeError, match="forward of Wrong returned .*; return a tensor, or a tuple"
    ):
        Wrong.apply(mt.ones(2, requires_grad=True))


@pytest.mark.parametrize(
    ("call", "slope"),
    [
        (lambda x: x + 1.0, 1.0),
        (lambda x: x.view(1).sum(), 1.0),
        (lambda x: x.round(), 0.0),
        (lambda x: x.sign() + x, 1.0),
    ],
)
def test_a_gradient_belongs_to_who_asked_for_it(call: Any, slope: float) -> None:
    """What is done to it changes no other computation, not even the next of the same kind."""
    for _ in range(2):
        x = mt.tensor(1.5, requires_grad=True)
        (gradient,) = mt.autograd.grad(call(x), x)
        assert gradient.item() == slope
        gradient.add_(4.0)
    assert (mt.tensor(2.0) + 1.0).item() == 3.0


# --- Derivatives of functions ---------------------------------------------------------------------


def _two(m):
    return lambda x, y: (x * x * y.sum(), (y**3).sum())


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 2)])
def test_jacobians_are_those_of_torch(shape):
    torch = pytest.importorskip("torch")
    values = [np.cos(np.arange(np.prod(shape, dtype=int)).reshape(shape)), np.arange(1.0, 3.0)]
    found, wanted = (
        m.autograd.functional.jacobian(_two(m), tuple(m.tensor(value) for value in values))
        for m in (mt, torch)
    )
    for row, expected in zip(found, wanted, strict=True):
        for ours, theirs in zip(row, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            assert not ours.requires_grad
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)


def test_hessians_are_those_of_torch():
    torch = pytest.importorskip("torch")
    x, y = np.array([[0.5, 2.0]]), np.array(3.0)
    found, wanted = (
        m.autograd.functional.hessian(lambda x, y: (x**3).sum() * y**2, (m.tensor(x), m.tensor(y)))
        for m in (mt, torch)
    )
    for row, expected in zip(found, wanted, strict=True):
        for ours, theirs in zip(row, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    one = mt.autograd.functional.hessian(lambda x: x.sum() ** 2, mt.tensor(x))
    np.testing.assert_allclose(one.numpy(), np.full((1, 2, 1, 2), 2.0))


def test_vjp_is_that_of_torch():
    torch = pytest.importorskip("torch")
    x, v = np.array([0.5, 2.0]), np.array([1.0, -1.0])
    found, wanted = (
        m.autograd.functional.vjp(lambda x: x**3, m.tensor(x), m.tensor(v)) for m in (mt, torch)
    )
    for ours, theirs in zip(found, wanted, strict=True):
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
    ("derivative", "again"),
    [
        (lambda f, x, **graph: f.jacobian(lambda x: x**3, x, **graph), [6.0, 12.0]),
        (lambda f, x, **graph: f.hessian(lambda x: (x**3).sum(), x, **graph), [6.0, 6.0]),
        (lambda f, x, **graph: f.vjp(lambda x: x**3, x, mt.ones(2).double(), **graph)[0], [3, 12]),
        (lambda f, x, **graph: f.vjp(lambda x: x**3, x, mt.ones(2).double(), **graph)[1], [6, 12]),
    ],
    ids=["jacobian", "hessian", "value", "vjp"],
)
def test_derivatives_of_functions_can_be_differentiated_if_that_is_asked_for(derivative, again):
    x = mt.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    assert not derivative(mt.autograd.functional, x).requires_grad
    derivative(mt.autograd.functional, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == again


def test_derivatives_of_nothing_and_of_what_is_detached():
    x = mt.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    empty = mt.autograd.functional.jacobian(lambda x: x[:0], x)  # which torch cannot
    assert empty.shape == (0, 2)
    assert mt.autograd.functional.jacobian(lambda x: x.detach(), x).tolist() == [[0, 0], [0, 0]]


def test_what_derivatives_of_functions_refuse():
    with pytest.raises(ShapeError, match="a single number"):
        mt.autograd.functional.hessian(lambda x: x, mt.ones(2))
    with pytest.raises(TypeError, match="takes tensors"):
        mt.autograd.functional.jacobian(lambda x: x, [1.0])
    with pytest.raises(TypeError, match="takes tensors"):
        mt.autograd.functional.jacobian(lambda x: 1.0, mt.ones(2))
    with pytest.raises(mt.errors.DTypeError):
        mt.autograd.functional.jacobian(lambda x: x, mt.arange(2))


# --- Anomalies ----------------------------------------------------------------------------------


def _nan(x: mt.Tensor) -> mt.Tensor:
    return (x.exp().sub(1.0).sqrt() * mt.tensor([0.0, 1.0])).sum()


def test_the_first_operation_with_a_nan_gradient_is_named() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.detect_anomaly(), pytest.raises(GradientError, match="backward of 'sqrt'"):
        _nan(x).backward()
    with mt.autograd.detect_anomaly():
        (mt.tensor([1.0, np.nan]).isnan() * x).sum().backward()
        assert mt.tensor(np.nan).exp().isnan()  # nan in forward is no anomaly
    assert x.grad is not None
    _nan(x).backward()
    assert x.grad.isnan().any()


def test_anomalies_are_detected_in_the_whole_program_until_it_ends() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.set_detect_anomaly(True), pytest.raises(GradientError):
        _nan(x).backward()
    _nan(x).backward()
    mt.autograd.set_detect_anomaly(True)
    try:
        with pytest.raises(GradientError):
            mt.autograd.grad(_nan(x), x)
        with mt.autograd.set_detect_anomaly(False):
            _nan(x).backward()
        with pytest.raises(GradientError):
            _nan(x).backward()
    finally:
        mt.autograd.set_detect_anomaly(False)
    _nan(x).backward()
