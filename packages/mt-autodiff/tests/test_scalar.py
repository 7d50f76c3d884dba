"""Scalar: values, derivatives of every order, Python operators, user functions, errors."""

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
    IntegerOperatorError,
    Scalar,
    ScalarFunction,
    derivative_check,
    grad,
    no_grad,
)
from mt_autodiff.core.registration import register_method, register_methods
from mt_autodiff.core.scalar import SCALAR_OPERATORS
from mt_operators import OPERATORS
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of, trace
from mt_operators.testing import INTEGER_SPECS, SPECS, OpSpec, high_precision

BOOL_OPERATORS = {name for name, row in OPERATORS.items() if row.result == "bool"}
SPEC_ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]


def test_result_records_operation_inputs_and_saved_values() -> None:
    x, y = Scalar(2.0), Scalar(3.0)
    z = x * y
    assert z.data == 6.0
    assert z.history is not None
    assert (z.history.name, z.history.inputs) == ("mul", (x, y))
    assert z.history.last_fn is SCALAR_OPERATORS["mul"]
    assert z.history.ctx.needs_input_grad == (True, True)
    assert z.history.ctx.saved_values == ((x, y), (2.0, 3.0, 6.0))


def test_parents_are_the_inputs_of_the_operation() -> None:
    x = Scalar(2.0)
    y = x * 3.0
    first, second = y.parents
    assert first is x
    assert (second.data, second.is_constant()) == (3.0, True)
    assert list(x.parents) == []


def test_scalar_without_history_is_a_leaf() -> None:
    x = Scalar(2.0)
    assert x.is_leaf()
    assert not (x + 1.0).is_leaf()
    assert Scalar(2.0, requires_grad=False).is_leaf()


@pytest.mark.parametrize(
    "requires_grad", [(True, True), (True, False), (False, True), (False, False)]
)
def test_result_requires_grad_if_any_input_does(requires_grad: tuple[bool, bool]) -> None:
    x, y = (Scalar(2.0, requires_grad=flag) for flag in requires_grad)
    z = x - y
    assert (z.data, z.is_constant()) == (0.0, not any(requires_grad))
    assert z.is_leaf() is not any(requires_grad)
    if z.history:
        assert z.history.ctx.needs_input_grad == requires_grad


def test_function_under_no_grad_needs_no_gradient() -> None:
    needed = []
    double = function(lambda ctx, x: needed.append(ctx.needs_input_grad) or 2 * x, lambda ctx, d: d)
    double(Scalar(1.0))
    with no_grad():
        double(Scalar(1.0))
    assert needed == [(True,), (False,)]


def test_operator_of_scalars_equals_row_of_table_on_floats() -> None:
    for spec in SPECS.values():
        values = [low + 0.3 * (high - low) for low, high in spec.ranges]
        result = SCALAR_OPERATORS[spec.name](*map(Scalar, values))
        assert result.data == float(OPERATORS[spec.name].function(*values))
        assert result.is_constant() is (spec.name in BOOL_OPERATORS)


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
def test_method_values_match_table_and_derivatives_match_differences(
    spec: OpSpec, data: st.DataObject
) -> None:
    args = arguments(data, spec, margin=1e-4)
    method = operation(spec.name)
    assert method(*args).data == float(OPERATORS[spec.name].function(*(a.data for a in args)))
    derivative_check(method, *args)


def exact_second_derivatives(spec: OpSpec, point: list[float], i: int, j: int) -> list[float]:
    """Return the second derivative with respect to arguments i and j from either side.

    Both values are computed with 100 digits. Where two formulas meet, such as those of `sinc` at
    1/4, their last digits differ, and only the side whose formula is used is right.
    """
    operator = OPERATORS[spec.name]
    with mpmath.workdps(100):
        functions = high_precision(mpmath)
        partial = trace("partial", operator.partials[i], operator.arity + 1)
        step = mpmath.mpf(10) ** -40

        def slope(move: Any) -> Any:
            args = [mpmath.mpf(x) for x in point]
            args[j] += move
            out = evaluate(graph_of(operator.value), args, functions)
            return mpmath.mpf(evaluate(partial, [*args, *out], functions)[0])

        here = slope(0)
        return [float((slope(side) - here) / side) for side in (step, -step)]


@pytest.mark.parametrize("name", INTEGER_SPECS)
def test_integer_operators_raise_for_scalars(name: str) -> None:
    args = [Scalar(6.0)] * OPERATORS[name].arity
    with pytest.raises(IntegerOperatorError, match="a Scalar holds a float"):
        operation(name)(*args)


def test_aliases_are_the_same_methods() -> None:
    for other, name in OPERATORS.aliases.items():
        assert getattr(Scalar, other) is getattr(Scalar, name), other


def test_floor_division_and_remainder_match_python() -> None:
    x = Scalar(7.5)
    assert [v.data for v in (x // 2, x % -2, 17 // x, 17 % x)] == [3.0, -0.5, 2.0, 2.0]
    assert [v.data for v in (*divmod(x, 2), *divmod(17, x))] == [3.0, 1.5, 2.0, 2.0]
    (x % 2 + 17 % x).backward()
    assert x.derivative == 1.0 - 2.0


@pytest.mark.parametrize(
    "spec", [row for row in SPEC_ROWS if row.values[0].name not in BOOL_OPERATORS]
)
@given(data=st.data())
def test_second_derivatives_match_100_digit_references(spec: OpSpec, data: st.DataObject) -> None:
    args = arguments(data, spec, margin=1e-3)
    point = [arg.data for arg in args]
    first = grad(operation(spec.name)(*args), args, create_graph=True)
    for i, slope in enumerate(first):
        if slope.requires_grad:
            second = grad(slope, args, allow_unused=True)
        else:
            second = (Scalar(0.0),) * len(args)
        for j, value in enumerate(second):
            exact = exact_second_derivatives(spec, point, i, j)
            assert any(value.data == pytest.approx(x, rel=1e-9, abs=1e-9) for x in exact)


def test_third_derivative_of_sine_is_minus_cosine() -> None:
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
def test_python_operators_match_floats_and_differentiate(a: float, b: float) -> None:
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


def test_conversions_and_formatting_return_plain_numbers() -> None:
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
def test_non_numbers_raise_type_error(bad: object) -> None:
    x = Scalar(1.0)
    for use in (Scalar, x.maximum, x.backward):
        with pytest.raises(TypeError, match="a Scalar holds a number; .* was given"):
            use(bad)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copy_is_a_new_leaf(duplicate: Callable[[Scalar], Scalar]) -> None:
    x = Scalar(2.0, name="x")
    for original in (x, x * x):
        twin = duplicate(original)
        assert (twin.data, twin.name) == (original.data, original.name)
        assert twin.is_leaf()
        assert twin.unique_id != original.unique_id
        (twin * original).backward()
        assert twin.derivative == original.data
    assert not duplicate(Scalar(1.0, requires_grad=False)).requires_grad


def test_clone_has_gradient_and_detach_has_none() -> None:
    x = Scalar(3.0)
    y = x.clone() * x.detach()
    y.backward()
    assert (y.data, x.derivative) == (9.0, 3.0)
    assert not x.detach().requires_grad


def test_changing_data_after_forward_does_not_affect_backward() -> None:
    x = Scalar(3.0)
    y = x.square()
    x.data = 100.0
    y.backward()
    assert x.derivative == 6.0


def test_operators_with_non_numbers_return_not_implemented() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        Scalar(1.0) + "one"  # type: ignore[operator]
    assert (Scalar(1.0) == "one") is False


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_expression_from_micrograd_differentiates(a: float, b: float) -> None:
    def expression(x: Scalar, y: Scalar) -> Scalar:
        c = x + y
        d = x * y + y * y * y
        c = c + c + 1
        d = d + d * 2 + (y + x).tanh()
        return (c - d) * (c - d) + (d * 0.01).exp()

    derivative_check(expression, Scalar(a), Scalar(b))


def test_user_function_with_saved_value_differentiates() -> None:
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


def test_derivative_check_finds_wrong_backward() -> None:
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
    """Return `apply` of a ScalarFunction called Made with this forward and backward."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (ScalarFunction,), methods).apply  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", ["one", None, (1.0,), 1j, Scalar(1.0)])
def test_forward_returning_no_number_raises(bad: object) -> None:
    made = function(lambda ctx, x: bad, lambda ctx, d: d)
    with pytest.raises(ForwardError, match="forward of 'Made' returned .*must return a float"):
        made(Scalar(1.0))


def test_forward_may_return_any_real_number() -> None:
    for number in (2, True, np.float32(2.0), np.int64(2)):
        result = function(lambda ctx, x, number=number: number, lambda ctx, d: d)(Scalar(1.0))
        assert type(result.data) is float


@pytest.mark.parametrize("bad", ["one", [1.0], 1j])
def test_backward_returning_no_numbers_raises(bad: object) -> None:
    made = function(lambda ctx, x: x, lambda ctx, d: bad)
    with pytest.raises(
        GradientError, match="backward of 'Made' returned .* number or None for each"
    ):
        made(Scalar(1.0)).backward()


@pytest.mark.parametrize("derivative", [5, 5.0, True])
def test_chain_rule_takes_any_number(derivative: float) -> None:
    half = function(lambda ctx, x: x / 2, lambda ctx, d: d / 2)
    for made in (half(Scalar(3.0)), Scalar(3.0) * 0.5):
        ((_, result),) = made.chain_rule(derivative)
        assert result == derivative / 2


def test_chain_rule_of_function_keeps_the_graph() -> None:
    result = function(lambda ctx, x: x / 2, lambda ctx, d: d / 2)(Scalar(3.0))
    assert list(result.chain_rule(1.0)) == list(result.chain_rule(1.0))


def test_function_without_forward_or_backward_raises_and_names_the_method() -> None:
    with pytest.raises(NotImplementedError, match="static method forward"):
        ScalarFunction.apply(Scalar(1.0))

    class Half(ScalarFunction):
        @staticmethod
        def forward(ctx: Context, x: float) -> float:
            return x / 2

    with pytest.raises(NotImplementedError, match="static method backward"):
        Half.apply(Scalar(1.0)).backward()


def test_second_derivative_of_float_function_raises() -> None:
    cube = function(lambda ctx, x: x**3, lambda ctx, d: d * 12.0)
    x = Scalar(2.0)
    y = cube(x) * x  # half of its second derivative would be missing
    with pytest.raises(GradientError, match="'Made' computes with floats.*Compose"):
        grad(y, x, create_graph=True)
    assert grad(y, x)[0].data == 12.0 * 2.0 + 8.0


@pytest.mark.parametrize("point", [1e12, 1e-6, 1e-7, 1.0, 5e-324])
def test_derivative_check_passes_at_large_and_small_points(point: float) -> None:
    derivative_check(lambda x: x * x, Scalar(point))
    if point > 1e-300:
        derivative_check(Scalar.log, Scalar(point))
        derivative_check(Scalar.sqrt, Scalar(point))
    with no_grad():
        derivative_check(lambda x: x * x + 1.0, Scalar(2.0))


def test_derivative_check_of_constant_function_passes() -> None:
    derivative_check(lambda x: 3.0, Scalar(1.0))  # type: ignore[arg-type, return-value]


def test_data_is_converted_to_float_and_name_must_be_str() -> None:
    x = Scalar(2.0)
    x.data = np.float32(0.5)
    assert type(x.data) is float
    with pytest.raises(TypeError, match="a number; '12' of type str"):
        x.data = "12"  # type: ignore[assignment]
    x.data -= 0.1 * Scalar(1.0)
    assert x.data == 0.4
    with pytest.raises(TypeError, match="name of a Scalar must be a string; False"):
        Scalar(1.0, False)  # type: ignore[arg-type]


def test_constants_and_no_grad_record_no_history() -> None:
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


def test_operator_added_to_table_becomes_a_differentiable_method() -> None:
    # In a separate process: operators are never removed from the table.
    result = subprocess.run(
        [sys.executable, "-c", NEW_OPERATOR], capture_output=True, text=True, check=True
    )
    assert result.stdout == "54.0 54.0 36.0\n"


def test_unknown_method_and_wrong_argument_count_raise() -> None:
    with pytest.raises(AttributeError, match="'Scalar' object has no attribute 'sigmod'"):
        Scalar(1.0).sigmod()
    with pytest.raises(TypeError, match=r"maximum\(\) takes 2 argument"):
        Scalar(1.0).maximum()


def test_repr_shows_value_name_and_operation() -> None:
    x = Scalar(2.0, name="x")
    assert repr(x) == "Scalar(2.0, name='x')"
    assert repr(x * x) == "Scalar(4.0, made by mul)"


def test_register_method_raises_for_existing_method() -> None:
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
