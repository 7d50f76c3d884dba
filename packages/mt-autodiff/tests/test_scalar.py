"""Scalars lifted from the table: values, derivatives of every order, Python's operators."""

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mt_autodiff import (
    Context,
    ForwardError,
    GradientError,
    Scalar,
    ScalarFunction,
    WholeNumberError,
    derivative_check,
    grad,
    no_grad,
)
from mt_autodiff.core.registration import register_method, register_methods
from mt_autodiff.core.scalar import SCALAR_OPERATORS
from mt_operators import OPERATORS
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of, trace
from mt_operators.testing import SPECS, WHOLE_SPECS, OpSpec, high_precision

TRUTHS = {name for name, row in OPERATORS.items() if row.result == "bool"}
SPEC_ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]


def test_a_result_remembers_how_it_was_computed() -> None:
    x, y = Scalar(2.0), Scalar(3.0)
    z = x * y
    assert z.data == 6.0
    assert z.history is not None
    assert (z.history.name, z.history.inputs) == ("mul", (x, y))
    assert z.history.last_fn is SCALAR_OPERATORS["mul"]
    assert z.history.ctx.needs_input_grad == (True, True)
    assert z.history.ctx.saved_values == ((x, y), (2.0, 3.0, 6.0))


def test_parents_are_what_it_was_computed_from() -> None:
    x = Scalar(2.0)
    y = x * 3.0
    first, second = y.parents
    assert first is x
    assert (second.data, second.is_constant()) == (3.0, True)
    assert list(x.parents) == []


def test_what_nothing_made_is_a_leaf() -> None:
    x = Scalar(2.0)
    assert x.is_leaf()
    assert not (x + 1.0).is_leaf()
    assert Scalar(2.0, requires_grad=False).is_leaf()


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
def test_a_result_wants_a_derivative_if_an_input_does(wanted: tuple[bool, bool]) -> None:
    x, y = (Scalar(2.0, requires_grad=wants) for wants in wanted)
    z = x - y
    assert (z.data, z.is_constant()) == (0.0, not any(wanted))
    assert z.is_leaf() is not any(wanted)
    if z.history:
        assert z.history.ctx.needs_input_grad == wanted


def test_every_operator_computes_on_the_floats_inside() -> None:
    for spec in SPECS.values():
        values = [low + 0.3 * (high - low) for low, high in spec.ranges]
        result = SCALAR_OPERATORS[spec.name](*map(Scalar, values))
        assert result.data == float(OPERATORS[spec.name].function(*values))
        assert result.is_constant() is (spec.name in TRUTHS)


def arguments(data: st.DataObject, spec: OpSpec, margin: float) -> list[Scalar]:
    """Draw arguments at which the operator is differentiable."""
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    assume(abs(spec.kink(*args)) > margin)
    return [Scalar(arg) for arg in args]


def operation(name: str) -> Callable[..., Scalar]:
    """Return the method of an operator; `where` has torch's order of arguments."""
    if name == "where":
        return lambda condition, x, y: x.where(condition, y)
    method: Callable[..., Scalar] = getattr(Scalar, name)
    return method


@pytest.mark.parametrize("spec", SPEC_ROWS)
@given(data=st.data())
def test_values_and_derivatives(spec: OpSpec, data: st.DataObject) -> None:
    args = arguments(data, spec, margin=1e-4)
    method = operation(spec.name)
    assert method(*args).data == float(OPERATORS[spec.name].function(*(a.data for a in args)))
    derivative_check(method, *args)


def exact_seconds(spec: OpSpec, point: list[float], i: int, j: int) -> list[float]:
    """Return the derivative by argument j of the partial derivative by i, from 100 digits.

    From both sides, for at the seam of two formulas, that of `sinc` at 1/4 for example, where their
    last digits do not meet, only the side of the formula that is used there is right.
    """
    operator = OPERATORS[spec.name]
    with mpmath.workdps(100):
        spelling = high_precision(mpmath)
        partial = trace("partial", operator.partials[i], operator.arity + 1)
        step = mpmath.mpf(10) ** -40

        def slope(move: Any) -> Any:
            args = [mpmath.mpf(x) for x in point]
            args[j] += move
            out = evaluate(graph_of(operator.value), args, spelling)
            return mpmath.mpf(evaluate(partial, [*args, *out], spelling)[0])

        here = slope(0)
        return [float((slope(side) - here) / side) for side in (step, -step)]


@pytest.mark.parametrize("name", WHOLE_SPECS)
def test_operators_of_whole_numbers_are_refused(name: str) -> None:
    args = [Scalar(6.0)] * OPERATORS[name].arity
    with pytest.raises(WholeNumberError, match="a Scalar holds a float"):
        operation(name)(*args)


def test_other_names_are_the_same_methods() -> None:
    for other, name in OPERATORS.aliases.items():
        assert getattr(Scalar, other) is getattr(Scalar, name), other


def test_rounded_division_by_pythons_operators() -> None:
    x = Scalar(7.5)
    assert [v.data for v in (x // 2, x % -2, 17 // x, 17 % x)] == [3.0, -0.5, 2.0, 2.0]
    assert [v.data for v in (*divmod(x, 2), *divmod(17, x))] == [3.0, 1.5, 2.0, 2.0]
    (x % 2 + 17 % x).backward()
    assert x.derivative == 1.0 - 2.0


@pytest.mark.parametrize("spec", [row for row in SPEC_ROWS if row.values[0].name not in TRUTHS])
@given(data=st.data())
def test_second_derivatives(spec: OpSpec, data: st.DataObject) -> None:
    args = arguments(data, spec, margin=1e-3)
    point = [arg.data for arg in args]
    first = grad(operation(spec.name)(*args), args, create_graph=True)
    for i, slope in enumerate(first):
        if slope.requires_grad:
            second = grad(slope, args, allow_unused=True)
        else:
            second = (Scalar(0.0),) * len(args)
        for j, value in enumerate(second):
            exact = exact_seconds(spec, point, i, j)
            assert any(value.data == pytest.approx(x, rel=1e-9, abs=1e-9) for x in exact)


def test_third_derivative() -> None:
    x = Scalar(0.7)
    (first,) = grad(x.sin(), x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.data, second.data, third.data) == (
        math.cos(0.7),
        -math.sin(0.7),
        -math.cos(0.7),
    )


@given(st.floats(0.5, 4.0), st.floats(0.5, 4.0))
def test_python_operators(a: float, b: float) -> None:
    x, y = Scalar(a), Scalar(b)
    for mixed in (
        lambda u, v: u + v,
        lambda u, v: u - v,
        lambda u, v: u * v,
        lambda u, v: u / v,
        lambda u, v: u**v,
    ):
        for left, right in ((x, y), (x, b), (a, y)):
            assert float(mixed(left, right)) == pytest.approx(mixed(a, b))
        derivative_check(mixed, x, y)
        derivative_check(lambda u, mixed=mixed: mixed(2.0, u) + mixed(u, 2.0), x)
    assert bool(x < y) == (a < b)
    assert bool(x <= y) == (a <= b)
    assert bool(x > y) == (a > b)
    assert bool(x >= y) == (a >= b)
    assert bool(x == y) == (a == b)
    assert bool(x != y) == (a != b)
    assert float(-x) == -a
    assert float(abs(-x)) == a
    assert +x is x


def test_plain_numbers_come_out() -> None:
    x = Scalar(-2.567)
    assert (float(x), int(x), math.trunc(x), math.floor(x), math.ceil(x)) == (
        -2.567,
        -2,
        -2,
        -3,
        -2,
    )
    assert (round(x), round(x, 1), f"{x:.2f}", f"{x}") == (-3, -2.6, "-2.57", "Scalar(-2.567)")
    assert all(type(n) is int for n in (int(x), math.trunc(x), math.floor(x), round(x)))
    assert math.exp(Scalar(0.0)) == 1.0
    assert sum([Scalar(1.0), Scalar(2.0)]).data == 3.0
    assert ((Scalar(1.0) > 0) & (Scalar(2.0) > 3)).data == 0.0
    assert (False | (Scalar(1.0) > 0)).data == 1.0
    assert (1.0 & Scalar(2.0)).data == (Scalar(2.0) | 0.0).data == 1.0


@pytest.mark.parametrize("bad", ["1.5", b"1", [1.0], 1j])
def test_only_numbers_become_scalars(bad: object) -> None:
    x = Scalar(1.0)
    for use in (Scalar, x.maximum, x.backward):
        with pytest.raises(TypeError, match="a Scalar holds a number; .* was given"):
            use(bad)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_is_a_new_leaf(duplicate: Callable[[Scalar], Scalar]) -> None:
    x = Scalar(2.0, name="x")
    for original in (x, x * x):
        twin = duplicate(original)
        assert (twin.data, twin.name) == (original.data, original.name)
        assert twin.is_leaf()
        assert twin.unique_id != original.unique_id
        (twin * original).backward()
        assert twin.derivative == original.data
    assert not duplicate(Scalar(1.0, requires_grad=False)).requires_grad


def test_detach_and_clone() -> None:
    x = Scalar(3.0)
    y = x.clone() * x.detach()
    y.backward()
    assert (y.data, x.derivative) == (9.0, 3.0)
    assert not x.detach().requires_grad


def test_a_change_after_forward_does_not_reach_backward() -> None:
    x = Scalar(3.0)
    y = x.square()
    x.data = 100.0
    y.backward()
    assert x.derivative == 6.0


def test_operators_leave_strangers_alone() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        Scalar(1.0) + "one"  # type: ignore[operator]
    assert (Scalar(1.0) == "one") is False


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_an_expression_from_micrograd(a: float, b: float) -> None:
    def expression(x: Scalar, y: Scalar) -> Scalar:
        c = x + y
        d = x * y + y * y * y
        c = c + c + 1
        d = d + d * 2 + (y + x).tanh()
        return (c - d) * (c - d) + (d * 0.01).exp()

    derivative_check(expression, Scalar(a), Scalar(b))


def test_a_function_of_ones_own() -> None:
    class Scale(ScalarFunction):
        @staticmethod
        def forward(ctx: Context, x: float, factor: float) -> float:
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx: Context, derivative: float) -> tuple[float, None]:
            (factor,) = ctx.saved_values
            return derivative * factor, None

    x = Scalar(2.0)
    y = Scale.apply(x, 5.0)
    y.backward()
    assert (y.data, x.derivative) == (10.0, 5.0)


def test_a_wrong_derivative_is_found() -> None:
    class Wrong(ScalarFunction):
        @staticmethod
        def forward(ctx: Context, x: float) -> float:
            return x * x

        @staticmethod
        def backward(ctx: Context, derivative: float) -> float:
            return derivative

    with pytest.raises(GradientError, match=r"argument 0 at \[3.0\] is 1.0.*difference is 6"):
        derivative_check(Wrong.apply, Scalar(3.0))


def function(forward: Callable[..., object], backward: Callable[..., object]) -> Any:
    """Return a function of Scalars called Made."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (ScalarFunction,), methods).apply  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", ["one", None, (1.0,), 1j, Scalar(1.0)])
def test_a_forward_must_return_a_number(bad: object) -> None:
    made = function(lambda ctx, x: bad, lambda ctx, d: d)
    with pytest.raises(ForwardError, match="forward of 'Made' returned .*must return a float"):
        made(Scalar(1.0))


def test_a_forward_may_return_any_real_number() -> None:
    for number in (2, True, np.float32(2.0), np.int64(2)):
        result = function(lambda ctx, x, number=number: number, lambda ctx, d: d)(Scalar(1.0))
        assert type(result.data) is float


@pytest.mark.parametrize("bad", ["one", [1.0], 1j])
def test_a_backward_must_return_numbers(bad: object) -> None:
    made = function(lambda ctx, x: x, lambda ctx, d: bad)
    with pytest.raises(
        GradientError, match="backward of 'Made' returned .* number or None for each"
    ):
        made(Scalar(1.0)).backward()


@pytest.mark.parametrize("derivative", [5, 5.0, True])
def test_the_chain_rule_takes_any_number(derivative: float) -> None:
    half = function(lambda ctx, x: x / 2, lambda ctx, d: d / 2)
    for made in (half(Scalar(3.0)), Scalar(3.0) * 0.5):
        ((_, share),) = made.chain_rule(derivative)
        assert share == derivative / 2


def test_a_function_without_methods_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="static method forward"):
        ScalarFunction.apply(Scalar(1.0))

    class Half(ScalarFunction):
        @staticmethod
        def forward(ctx: Context, x: float) -> float:
            return x / 2

    with pytest.raises(NotImplementedError, match="static method backward"):
        Half.apply(Scalar(1.0)).backward()


def test_a_function_on_floats_has_no_second_derivative() -> None:
    cube = function(lambda ctx, x: x**3, lambda ctx, d: d * 12.0)
    x = Scalar(2.0)
    y = cube(x) * x  # half of its second derivative would be missing
    with pytest.raises(GradientError, match="'Made' computes with floats.*Compose"):
        grad(y, x, create_graph=True)
    assert grad(y, x)[0].data == 12.0 * 2.0 + 8.0


@pytest.mark.parametrize("point", [1e12, 1e-6, 1e-7, 1.0, 5e-324])
def test_checks_at_large_and_small_points(point: float) -> None:
    derivative_check(lambda x: x * x, Scalar(point))
    if point > 1e-300:
        derivative_check(Scalar.log, Scalar(point))
        derivative_check(Scalar.sqrt, Scalar(point))
    with no_grad():
        derivative_check(lambda x: x * x + 1.0, Scalar(2.0))


def test_what_does_not_depend_on_its_argument_has_derivative_0() -> None:
    derivative_check(lambda x: 3.0, Scalar(1.0))  # type: ignore[arg-type, return-value]


def test_data_is_always_a_float() -> None:
    x = Scalar(2.0)
    x.data = np.float32(0.5)
    assert type(x.data) is float
    with pytest.raises(TypeError, match="a number; '12' of type str"):
        x.data = "12"  # type: ignore[assignment]
    x.data -= 0.1 * Scalar(1.0)
    assert x.data == 0.4
    with pytest.raises(TypeError, match="name of a Scalar must be a string; False"):
        Scalar(1.0, False)  # type: ignore[arg-type]


def test_constants_and_no_grad_record_nothing() -> None:
    x = Scalar(2.0).requires_grad_(False)
    assert (x * 3).history is None
    y = Scalar(2.0)
    with no_grad():
        assert (y * 3).history is None
    assert (y * 3).history is not None


NEW_OPERATOR = """
from mt_autodiff import Scalar, grad
from mt_operators import OPERATORS

OPERATORS.add("double_cube", lambda x: 2.0 * x * x * x, lambda x, out: 6.0 * x * x, note="2 x^3")
x = Scalar(3.0)
y = x.double_cube()
(first,) = grad(y, x, create_graph=True)
(second,) = grad(first, x)
print(y.data, first.data, second.data)
"""


def test_a_new_operator_appears_with_its_derivatives() -> None:
    # In a process of its own: an operator is never taken out of the table again.
    result = subprocess.run(
        [sys.executable, "-c", NEW_OPERATOR], capture_output=True, text=True, check=True
    )
    assert result.stdout == "54.0 54.0 36.0\n"


def test_misspelt_and_miscounted() -> None:
    with pytest.raises(AttributeError, match="'Scalar' object has no attribute 'sigmod'"):
        Scalar(1.0).sigmod()
    with pytest.raises(TypeError, match="maximum takes 2 argument"):
        Scalar(1.0).maximum()


def test_repr() -> None:
    x = Scalar(2.0, name="x")
    assert repr(x) == "Scalar(2.0, name='x')"
    assert repr(x * x) == "Scalar(4.0, made by mul)"


def test_registered_methods_replace_nothing() -> None:
    class Half:
        def __float__(self) -> float:
            return 0.5

    class Table:
        size = 1  # neither method nor property

        def doubled(self) -> float:
            return 2.0 * float(self)  # type: ignore[arg-type]

        @property
        def known(self) -> bool:
            return True

    register_methods(Half, Table)
    half: Any = Half()
    assert (half.doubled(), half.known, hasattr(half, "size")) == (1.0, True, False)
    with pytest.raises(TypeError, match="Half already has a method '__float__'"):
        register_method(Half, "__float__", lambda self: 0.0)
