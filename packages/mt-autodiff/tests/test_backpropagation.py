"""Backpropagation: order, accumulation, freeing of graphs, grad modes and errors."""

import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from mt_autodiff import (
    AutodiffError,
    CyclicGraphError,
    GradientError,
    GraphFreedError,
    NoGradientError,
    Scalar,
    ScalarFunction,
    backpropagate,
    derivatives,
    enable_grad,
    grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    topological_sort,
)


def test_topological_sort_puts_variable_before_its_inputs() -> None:
    a = Scalar(1.0)
    b = a + a
    c = b + b
    d = c * a + b
    order = topological_sort(d)
    assert len(order) == len(set(order)) == 5
    position = {v.unique_id: i for i, v in enumerate(order)}
    for variable in order:
        for parent in variable.parents:
            assert position[variable.unique_id] < position[parent.unique_id]


def test_topological_sort_omits_constants() -> None:
    x, constant = Scalar(3.0), Scalar(2.0, requires_grad=False)
    y = x * constant
    assert topological_sort(y) == [y, x]
    assert topological_sort(constant) == []


def test_shared_intermediate_is_differentiated_once_with_full_derivative() -> None:
    a = Scalar(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert a.derivative == 4.0


@pytest.mark.slow
def test_backward_of_100_000_operations_does_not_overflow_the_stack() -> None:
    x = Scalar(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.backward()
    assert x.derivative == 1.0


def test_graph_with_2_to_the_60_paths_is_walked_once_per_node() -> None:
    x = Scalar(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.derivative == 2.0**60


class Halving(Scalar):
    """A Scalar whose `completed` halves its derivative."""

    def completed(self, derivative: float) -> float:
        """Return half of the derivative."""
        return derivative / 2.0


def test_completed_is_called_once_and_its_result_is_propagated() -> None:
    x = Halving(3.0)
    y = x * 5.0 + x * 7.0
    assert derivatives(y, 1.0, retain_graph=True)[x] == 6.0
    assert derivatives(y, 1.0, retain_graph=True, leaves=[x])[x] == 12.0
    y.backward()
    assert x.derivative == 6.0


def test_leaves_argument_stops_backpropagation_at_leaves() -> None:
    x = Scalar(3.0)
    middle = x * x
    y = middle * 5.0
    assert topological_sort(y, [middle]) == [y, middle]
    assert derivatives(y, 1.0, retain_graph=True, leaves=[middle]) == {y: 1.0, middle: 5.0}
    assert derivatives(y, 1.0, leaves=[middle])[middle] == 5.0
    factors = [Scalar(2.0) * 1.0, Scalar(3.0) * 1.0]
    derivatives_of = derivatives(factors[0] * factors[1], 1.0, leaves=factors)
    assert [derivatives_of[factor] for factor in factors] == [3.0, 2.0]
    middle.backward()  # its own graph was not freed
    assert x.derivative == 6.0


def test_inputs_argument_does_not_free_graph_of_inputs() -> None:
    x = Scalar(3.0)
    middle = x * x
    assert derivatives(middle * 5.0, 1.0, inputs={middle}) == {middle: 5.0}
    assert derivatives(middle * 7.0, 1.0, inputs={x}) == {x: 42.0}
    with pytest.raises(GraphFreedError, match="'mul' has been freed"):
        derivatives(middle * 5.0, 1.0, inputs={middle})


@pytest.mark.parametrize("enabled", [True, False])
def test_backward_restores_the_grad_mode(enabled: bool) -> None:
    x = Scalar(3.0)
    y = x * x
    with set_grad_enabled(enabled):
        y.backward(retain_graph=True, create_graph=not enabled)
        assert is_grad_enabled() is enabled
        y.backward()
        with pytest.raises(GraphFreedError):
            y.backward(create_graph=not enabled)
        assert is_grad_enabled() is enabled


def test_repeated_backward_accumulates() -> None:
    x = Scalar(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(d_output=10.0)
    assert x.derivative == 66.0


@pytest.mark.parametrize("passing", [0, 1])
def test_none_for_one_input_does_not_stop_backpropagation_to_the_other(passing: int) -> None:
    class OneOfTwo(ScalarFunction):
        @staticmethod
        def forward(ctx: object, *inputs: float) -> float:
            return inputs[passing]

        @staticmethod
        def backward(ctx: object, derivative: float) -> tuple[float | None, ...]:
            return tuple(derivative if place == passing else None for place in (0, 1))

    x = Scalar(3.0), Scalar(4.0)
    OneOfTwo.apply(x[0] * 2.0, x[1] * 2.0).backward()
    assert (x[passing].derivative, x[1 - passing].derivative) == (2.0, None)


def test_second_backward_through_freed_graph_raises() -> None:
    x = Scalar(3.0)
    y = x * x
    y.backward()
    with pytest.raises(GraphFreedError, match=r"'mul' has been freed.*retain_graph=True"):
        y.backward()


def test_backward_of_constant_raises() -> None:
    with pytest.raises(NoGradientError, match="computed from constants only"):
        (Scalar(1.0, requires_grad=False) * 2).backward()


def test_backward_of_leaf_gives_derivative_1() -> None:
    x = Scalar(3.0)
    x.backward()
    assert x.derivative == 1.0


def test_cyclic_graph_raises() -> None:
    x = Scalar(1.0)
    y = x + 1
    z = y + 1
    assert y.history is not None
    y.history.inputs = (z,)
    with pytest.raises(CyclicGraphError, match="computed from itself"):
        z.backward()


def test_backward_with_wrong_number_of_derivatives_raises() -> None:
    class Bad(ScalarFunction):
        @staticmethod
        def forward(ctx: object, x: float, y: float) -> float:
            return x + y

        @staticmethod
        def backward(ctx: object, derivative: float) -> float:
            return derivative

    with pytest.raises(GradientError, match=r"'Bad' returned 1 derivative\(s\) for 2 input"):
        Bad.apply(Scalar(1.0), Scalar(2.0)).backward()


def test_create_graph_gives_second_derivative() -> None:
    x = Scalar(3.0)
    (x * x * x).backward(create_graph=True)
    first = x.derivative
    x.derivative = None
    first.backward()
    assert (first.data, x.derivative) == (27.0, 18.0)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("retain_graph", [None, False, True])
def test_second_backward_raises_unless_graph_is_retained(
    retain_graph: bool | None, create_graph: bool
) -> None:
    x = Scalar(3.0)
    y = x * x
    y.backward(retain_graph=retain_graph, create_graph=create_graph)
    if create_graph if retain_graph is None else retain_graph:
        y.backward()
        assert float(x.derivative) == 12.0
    else:
        with pytest.raises(GraphFreedError, match="'mul' has been freed"):
            y.backward()
        assert float(x.derivative) == 6.0


def test_grad_does_not_accumulate_and_keeps_the_graph() -> None:
    x, unused = Scalar(3.0), Scalar(1.0)
    y = x * x
    assert [d.data for d in grad(y, [x, unused], allow_unused=True)] == [6.0, 0.0]
    assert [d.data for d in grad(y, x)] == [6.0]
    assert x.derivative is None


def test_grad_of_unused_or_constant_input_raises() -> None:
    x, unused, constant = Scalar(3.0), Scalar(1.0), Scalar(2.0, requires_grad=False)
    y = x * constant
    for wrong in (constant, x.detach(), no_grad()(lambda: x * 2.0)()):
        with pytest.raises(NoGradientError, match="has no derivative: it was computed from const"):
            grad(y, wrong)
    with pytest.raises(NoGradientError, match="was not computed from .* allow_unused=True"):
        grad(y, [x, unused])
    with pytest.raises(TypeError, match=r"takes Scalars; 2.0 was given"):
        grad(y, [2.0])
    with pytest.raises(NoGradientError):
        grad(constant, x)


def test_requires_grad_false_on_computed_scalar_raises() -> None:
    x = Scalar(2.0)
    middle = x * 3.0
    with pytest.raises(AutodiffError, match=r"detach\(\)"):
        middle.requires_grad_(False)
    middle.backward()
    assert x.derivative == x.grad == 3.0
    x.grad = None
    assert x.derivative is None


def test_only_leaves_store_derivatives_and_graph_is_freed() -> None:
    x = Scalar(2.0)
    middle = x * 3.0
    result = middle * middle
    result.backward()
    assert (x.derivative, middle.derivative, result.derivative) == (36.0, None, None)
    assert result.history.inputs == middle.history.inputs == ()
    assert result.history.ctx.saved_values == ()


def test_create_graph_raises_if_data_changed_since_forward() -> None:
    x = Scalar(2.0)
    y = x * x
    x.data = 5.0
    assert grad(y, x)[0].data == 4.0
    with pytest.raises(GradientError, match=r"was changed after 'mul' was computed from 2.0"):
        grad(y, x, create_graph=True)
    x.copy_(2.0)
    assert grad(y, x, create_graph=True)[0].data == 4.0


def test_create_graph_records_the_weight_of_the_output() -> None:
    x, weight = Scalar(2.0), Scalar(3.0)
    (x * x).backward(weight, create_graph=True)
    assert x.derivative.data == 12.0
    assert grad(x.derivative, weight)[0].data == 4.0


@pytest.mark.parametrize(
    ("program", "derivative"),
    [
        (lambda x: x.relu().sqrt(), 0.0),
        (lambda x: x.maximum(0.0).log(), 0.0),
        (lambda x: (x * 0.0).where(0.0, 3.0 * x).sqrt(), math.nan),
        (lambda x: x.where(1.0, 0.0 * x).log(), -1.0),
        (lambda x: (x.floor() / 0.0) + x, 1.0),
        (lambda x: (x > math.inf) * 2.0 + x, 1.0),
    ],
)
def test_zero_partials_stop_infinite_derivatives(
    program: Callable[[Scalar], Scalar], derivative: float
) -> None:
    for create_graph in (False, True):
        x = Scalar(-1.0)
        program(x).backward(create_graph=create_graph)
        assert float(x.derivative) == pytest.approx(derivative, nan_ok=True)


def test_comparisons_are_constants() -> None:
    for result in (Scalar(1.0) < 2.0, Scalar(1.0).logical_not(), Scalar(1.0) == Scalar(1.0)):
        assert result.is_constant()
        assert result.is_leaf()


def test_set_grad_enabled_can_be_called_or_entered_as_a_context() -> None:
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    assert is_grad_enabled()
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with pytest.raises(TypeError, match="takes True or False; 'off'"):
        set_grad_enabled("off")


def test_grad_modes_work_as_decorators_but_not_on_generators() -> None:
    @no_grad
    def without_parentheses() -> bool:
        return is_grad_enabled()

    @set_grad_enabled(False)
    def with_parentheses() -> bool:
        return is_grad_enabled()

    assert is_grad_enabled()
    assert not without_parentheses()
    assert not with_parentheses()

    def generator() -> Iterator[bool]:
        yield is_grad_enabled()

    async def coroutine() -> bool:
        return is_grad_enabled()

    async def asynchronous_generator() -> AsyncIterator[bool]:
        yield is_grad_enabled()

    functions: list[Callable[..., Any]] = [generator, coroutine, asynchronous_generator]
    for function in functions:
        name = function.__name__
        with pytest.raises(TypeError, match=f"no_grad cannot decorate '{name}'.*`with` block"):
            no_grad(function)


def test_backpropagate_by_default_frees_the_graph_and_records_nothing() -> None:
    x = Scalar(3.0)
    y = x.square()
    backpropagate(y, 1.0)
    assert type(x.derivative) is float
    with pytest.raises(GraphFreedError):
        backpropagate(y, 1.0)


def test_inference_mode_takes_a_mode() -> None:
    @inference_mode
    def without_parentheses() -> bool:
        return is_grad_enabled()

    @inference_mode()
    def with_parentheses() -> bool:
        return is_grad_enabled()

    @inference_mode(mode=False)
    def recording() -> bool:
        return is_grad_enabled()

    assert (without_parentheses(), with_parentheses(), recording()) == (False, False, True)
    with inference_mode():
        assert not is_grad_enabled()
        assert recording()
        with inference_mode(False):
            assert is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with pytest.raises(TypeError, match=r"inference_mode\(\) takes True or False; None"):
        inference_mode(None)


def test_grad_modes_nest_and_are_local_to_the_thread() -> None:
    elsewhere: list[bool] = []
    with no_grad():
        thread = threading.Thread(target=lambda: elsewhere.append(is_grad_enabled()))
        thread.start()
        thread.join()
        with enable_grad():
            assert is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    assert elsewhere == [True]

    @no_grad()
    def evaluate() -> bool:
        return is_grad_enabled()

    assert not evaluate()
