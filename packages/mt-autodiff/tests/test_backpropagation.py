"""The order of differentiation, accumulation, freeing, and the errors."""

import threading

import pytest

from mt_autodiff import (
    CyclicGraphError,
    GradientError,
    GraphFreedError,
    NoGradientError,
    Scalar,
    ScalarFunction,
    enable_grad,
    is_grad_enabled,
    no_grad,
    topological_sort,
)


def test_order_puts_each_variable_before_its_inputs() -> None:
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


def test_where_the_naive_order_fails() -> None:
    a = Scalar(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert a.derivative == 4.0


def test_a_hundred_thousand_operations() -> None:
    x = Scalar(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.backward()
    assert x.derivative == 1.0


def test_a_graph_with_very_many_paths() -> None:
    x = Scalar(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.derivative == 2.0**60


def test_calls_accumulate() -> None:
    x = Scalar(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(d_output=10.0)
    assert x.derivative == 66.0


def test_a_freed_graph_says_so() -> None:
    x = Scalar(3.0)
    y = x * x
    y.backward()
    with pytest.raises(GraphFreedError, match=r"'mul' has been freed.*retain_graph=True"):
        y.backward()


def test_nothing_recorded() -> None:
    with pytest.raises(NoGradientError, match="computed from constants only"):
        (Scalar(1.0, requires_grad=False) * 2).backward()


def test_a_leaf_differentiates_to_one() -> None:
    x = Scalar(3.0)
    x.backward()
    assert x.derivative == 1.0


def test_a_cycle_is_reported() -> None:
    x = Scalar(1.0)
    y = x + 1
    z = y + 1
    assert y.history is not None
    y.history.inputs = (z,)
    with pytest.raises(CyclicGraphError, match="computed from itself"):
        z.backward()


def test_wrong_number_of_derivatives() -> None:
    class Bad(ScalarFunction):
        @staticmethod
        def forward(ctx: object, x: float, y: float) -> float:
            return x + y

        @staticmethod
        def backward(ctx: object, derivative: float) -> float:
            return derivative

    with pytest.raises(GradientError, match=r"'Bad' returned 1 derivative\(s\) for 2 input"):
        Bad.apply(Scalar(1.0), Scalar(2.0)).backward()


def test_create_graph_through_backward() -> None:
    x = Scalar(3.0)
    (x * x * x).backward(create_graph=True)
    first = x.derivative
    x.derivative = None
    first.backward()
    assert (first.data, x.derivative) == (27.0, 18.0)


def test_grad_accumulates_nothing_and_keeps_the_graph() -> None:
    x, unused = Scalar(3.0), Scalar(1.0)
    y = x * x
    assert [d.data for d in y.grad(x, unused)] == [6.0, 0.0]
    assert [d.data for d in y.grad(x)] == [6.0]
    assert x.derivative is None


def test_modes_nest_and_belong_to_a_thread() -> None:
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
