"""`compile`: recording, guards, replay, gradients, errors, fusion and memory."""

from __future__ import annotations

import contextlib
import math
import os
import random
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError, GraphFreedError
from mt_tensor.conformance.compiling import check_program, small_as_large
from mt_tensor.conformance.instructions import Draw
from mt_tensor.core import kernels
from mt_tensor.core.numpy_backend import NumpyOps
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError, CompileWarning, IndexingError, InPlaceError, LinAlgError
from mt_tensor.programs import compiling, fusion
from mt_tensor.programs.symbolic_numbers import Guards, SymbolicNumber

BACKENDS = pytest.mark.parametrize("backend", ["numpy", "simple"])
FACTOR = 2.0
NUMBERS = (2.0, 3.0)


class Point(NamedTuple):
    """Two tensors in one argument or result."""

    x: mt.Tensor
    y: mt.Tensor


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        yield


def row(*numbers: float, **options: Any) -> mt.Tensor:
    return mt.tensor([float(each) for each in numbers], **options)


def gradient_of(x: mt.Tensor) -> mt.Tensor:
    """Return `x.grad`, which must not be None."""
    assert x.grad is not None
    return x.grad


def counted(function: Callable[..., Any]) -> tuple[Any, list[int]]:
    """Return a compiled function and a list that grows at each recording."""
    calls: list[int] = []
    count = calls.append

    def body(*args: Any, **kwargs: Any) -> Any:
        count(1)
        return function(*args, **kwargs)

    # The counter is a builtin method, which programs compare by identity only.
    return mt.compile(body), calls


# --- Recording and replay -----------------------------------------------------------------------


@BACKENDS
def test_second_call_replays_the_program(backend: str) -> None:
    with mt.use_backend(backend):
        f, calls = counted(lambda x, y: (x * y + 1).sum())
        assert f(row(1, 2), row(3, 4)).item() == 13
        assert f(row(2, 2), row(3, 5)).item() == 18
        assert len(calls) == 1
        assert len(f.programs) == 1
        assert f.program is f.programs[0]


def test_each_shape_dtype_and_structure_is_recorded_once() -> None:
    f, calls = counted(lambda x: mt.stack(list(x)).sum() if isinstance(x, tuple) else x.sum())
    for argument in (row(1, 2), row(1, 2, 3), row(1).double(), (row(1), row(2)), row(1, 2)):
        f(argument)
    assert len(calls) == 4
    assert f((row(5), row(6))).item() == 11
    assert len(calls) == 4


def test_more_than_16_programs_warn_and_evict_the_oldest() -> None:
    f, calls = counted(lambda x: x + 1)
    for size in range(compiling.MAX_PROGRAMS):
        f(mt.zeros(size))
    with pytest.warns(CompileWarning, match="more than 16 programs.*argument 0 has another shape"):
        f(mt.zeros(compiling.MAX_PROGRAMS))
    for size in range(compiling.MAX_PROGRAMS + 1, 2 * compiling.MAX_PROGRAMS):
        f(mt.zeros(size))
    assert len(f.programs) == compiling.MAX_PROGRAMS
    f(mt.zeros(2 * compiling.MAX_PROGRAMS - 1))
    assert len(calls) == 2 * compiling.MAX_PROGRAMS
    f(mt.zeros(0))
    assert len(calls) == 2 * compiling.MAX_PROGRAMS + 1


def test_nested_arguments_and_results_keep_their_structure() -> None:
    f, calls = counted(
        lambda p, *, more: {"sum": p.x + p.y, "rest": (more["a"] * 2, [p], "text", None, 3)}
    )
    for k in (1.0, 2.0):
        result = f(Point(row(k), row(2)), more={"a": row(k)})
        assert result["sum"].tolist() == [k + 2]
        twice, (point,), *others = result["rest"]
        assert (twice.tolist(), others) == ([2 * k], ["text", None, 3])
        assert isinstance(point, Point)
        assert point.x.tolist() == [k]
    assert len(calls) == 1


def test_arguments_and_closure_tensors_are_returned_by_identity() -> None:
    constant = row(7)
    f = mt.compile(lambda x: (x, constant, x[1:]))
    for _ in range(3):
        x = row(1, 2)
        same, same_constant, part = f(x)
        assert same is x
        assert same_constant is constant
        part += 1
        assert x.tolist() == [1, 3]


def test_methods_and_callable_objects_can_be_compiled() -> None:
    class Scale:
        def __init__(self) -> None:
            self.weight = row(2)

        @mt.compile
        def by(self, x: mt.Tensor) -> mt.Tensor:
            return x * self.weight

        def __call__(self, x: mt.Tensor) -> mt.Tensor:
            result: mt.Tensor = self.by(x) + 1
            return result

    first, second = Scale(), Scale()
    second.weight = row(3)
    for _ in range(2):
        assert first.by(row(5)).item() == 10
        assert second.by(row(5)).item() == 15
    module = mt.compile(first)
    assert [module(row(5)).item() for _ in range(3)] == [11, 11, 11]
    assert len(module.programs) == 1
    assert mt.compile(first.by)(row(1)).item() == 2


def test_compile_rejects_non_function() -> None:
    with pytest.raises(TypeError, match="takes a function; 3"):
        mt.compile(3)  # type: ignore[arg-type]


# --- Backends that run programs -----------------------------------------------------------------


class RecordingOps(NumpyOps):
    """A backend that records the arguments of each run of a program."""

    name = "recording"

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[list[Any]] = []

    def program(self, calls: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        def run(arguments: list[Any]) -> Any:
            self.runs.append(list(arguments))
            results = calls(arguments)
            assert arguments == []
            return results

        return run


def test_backend_program_method_runs_forward_and_backward() -> None:
    backend, generator = RecordingOps(), mt.Generator().manual_seed(1)

    def f(x: mt.Tensor, y: mt.Tensor, numbers: mt.Generator) -> mt.Tensor:
        return (x * y + mt.rand(2) + mt.rand(2, generator=numbers)).exp() @ w

    with mt.use_backend(backend):
        x, y, w = row(1, 2), row(3, 4), row(5, 6, requires_grad=True)
        step = mt.compile(f)
        step(x, y, generator)
        assert backend.runs == []
        step(x, y, generator).backward()
    forward, backward = backend.runs
    views = [each for each in forward if not isinstance(each, mt.Generator)]
    assert {id(each) for each in views} == {id(x._tensor), id(y._tensor)}
    assert [each for each in forward if each not in views] == [mt.default_generator, generator]
    assert all(isinstance(each, TensorData) for each in backward)


def test_program_method_is_not_used_for_several_backends() -> None:
    backend = RecordingOps()
    x, y = row(1, 2, backend=backend), row(1, 2, backend="simple")
    step = mt.compile(lambda x, y: (x * 2 + 1, y * 2 + 1))
    for _ in range(3):
        step(x, y)
    assert backend.runs == []


# --- Numbers --------------------------------------------------------------------------------------


def test_each_value_of_number_argument_is_recorded_once() -> None:
    f, calls = counted(lambda x, rate: (x * rate).add_(x, alpha=-rate) + (1 - rate**2) / 3)
    for rate in (0.5, 0.25, 0.5, float("nan"), 0.0, -0.0, float("nan")):
        expected = 1 * rate - rate * 1 + (1 - rate**2) / 3
        assert f(row(1), rate).item() == pytest.approx(expected, nan_ok=True)
    assert len(calls) == 5  # 0.5 and nan occur twice


@pytest.mark.parametrize(
    "condition",
    [
        lambda n: isinstance(n, float),
        lambda n: type(n) is float,
        lambda n: hasattr(n, "is_integer"),
        lambda n: {float: True}[type(n)],
        lambda n: math.sqrt(n) > 1.5,
        lambda n: n is NUMBERS[0],
    ],
)
def test_branch_on_number_argument_matches_eager(condition: Any) -> None:
    f = mt.compile(lambda x, n: x * n if condition(n) else -x)
    for n in (*NUMBERS, *NUMBERS):
        assert f(row(3), n).tolist() == f.function(row(3), n).tolist()


def test_each_branch_on_number_argument_is_recorded_once() -> None:
    f, calls = counted(lambda x, rate, n: x * 2 if rate > 0 else x.repeat(n))
    for rate, n, expected in ((1.0, 2, [2]), (-1.0, 2, [1, 1]), (-1.0, 3, [1] * 3), (1.0, 2, [2])):
        assert f(row(1), rate, n).tolist() == expected
    assert len(calls) == 3


def test_each_value_of_closure_number_is_recorded_once() -> None:
    settings = SimpleNamespace(rate=1.0)
    groups = [{"lr": 1.0}]
    calls: list[int] = []
    count = calls.append

    @mt.compile
    def step(x: mt.Tensor) -> Any:
        count(1)
        return x * settings.rate + groups[0]["lr"]

    for k in (0, 1, 2, 1, 0):
        settings.rate, groups[0]["lr"] = 1.0 + k, 2.0 * k
        assert step(row(1)).item() == 1 + k + 2 * k
    assert len(calls) == 3


def test_counter_in_closure_warns_and_keeps_counting() -> None:
    state = {"step": 0, "decay": 1.0}

    @mt.compile
    def step(x: mt.Tensor) -> Any:
        state["step"] += 1
        state["decay"] *= 0.5
        return x / (1 - 0.9 ** state["step"]) * state["decay"]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(1, 9):
            assert step(row(1)).item() == pytest.approx(1 / (1 - 0.9**k) * 0.5**k)
            assert state == {"step": k, "decay": 0.5**k}
    assert "recorded again at each call: it changes the value of 'step'" in str(caught[0].message)
    assert not step.programs


@pytest.mark.parametrize(
    "use",
    [float, int, bool, round, abs, math.sqrt, str, "{}".format, lambda n: n > 1, hash, math.floor],
)
def test_reading_value_of_symbolic_number_adds_a_guard(use: Any) -> None:
    guards: Guards = []
    number = SymbolicNumber(2.5, "n1", guards)
    result = use(number)
    assert (result.value if isinstance(result, SymbolicNumber) else result) == use(2.5)
    if not isinstance(result, SymbolicNumber):
        ((expression, value),) = guards
        assert eval(expression, {"n1": 2.5}) is value
        assert expression.startswith("bool") or eval(expression, {"n1": 0.0}) is not value


# --- Guards on state ------------------------------------------------------------------------------


def test_change_of_any_reachable_state_recompiles() -> None:
    class Layer:
        scale = 1.0

        def __init__(self) -> None:
            self.training = True
            self.names = ["a"]

    layer, bias, table = Layer(), [1.0], np.array([1.0, 2.0])
    switch = {"on": True}

    def body(x: mt.Tensor) -> mt.Tensor:
        x = x * (2 if layer.training else 3) * Layer.scale * len(layer.names) * FACTOR
        return x + bias[0] + mt.tensor(table).sum() if switch["on"] else -x

    f = mt.compile(body)

    def check() -> None:
        for _ in range(2):
            assert f(row(1)).tolist() == body(row(1)).tolist()

    check()
    layer.training = False
    check()
    layer.names.append("b")
    check()
    bias[0] = 5.0
    check()
    table[0] = 9.0
    check()
    switch["on"] = False
    check()
    Layer.scale = 4.0
    check()


def test_global_with_name_of_an_attribute_is_not_a_guard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    doubled = mt.compile(lambda holder: holder["x"].T * 2.0)
    monkeypatch.setitem(globals(), "T", 1)
    doubled({"x": mt.ones(2)})
    monkeypatch.setitem(globals(), "T", 2)
    doubled({"x": mt.ones(2)})
    assert len(doubled.programs) == 1


def test_change_of_global_variable_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    f = mt.compile(lambda x: x * FACTOR)
    assert [f(row(1)).item() for _ in range(2)] == [2, 2]
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert [f(row(1)).item() for _ in range(3)] == [5, 5, 5]


@pytest.mark.parametrize("name", ["installed", "__main__"])
def test_change_of_global_variable_in_installed_module_recompiles(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(name)
    module.__file__ = "/lib/site-packages/installed.py"
    monkeypatch.setitem(sys.modules, name, module)
    vars(module).update(mt=mt, rate=2.0)
    exec("@mt.compile\ndef scaled(x):\n    return x * rate", vars(module))
    x = mt.tensor([1.0, 3.0])
    for rate in (2.0, 2.0, 5.0, 5.0):
        module.rate = rate  # type: ignore[attr-defined]
        assert module.scaled(x).tolist() == [rate, 3.0 * rate]


def test_change_of_grad_mode_dtype_backend_or_autocast_recompiles() -> None:
    weight = row(2, requires_grad=True)
    f = mt.compile(lambda x: (x * weight).sum() + mt.zeros(()))
    assert f(row(3)).requires_grad
    with mt.no_grad():
        assert not f(row(3)).requires_grad
        assert not f(row(3)).requires_grad
    assert f(row(3)).requires_grad
    weight.requires_grad_(False)
    assert not f(row(3)).requires_grad
    ones = mt.compile(lambda: mt.ones(2))
    assert ones().dtype is mt.float32
    previous = mt.get_default_dtype()
    try:
        mt.set_default_dtype("float64")
        assert ones().dtype is mt.float64
    finally:
        mt.set_default_dtype(previous)
    with mt.use_backend("simple"):
        assert [ones().backend.name for _ in range(2)] == ["simple"] * 2
    matrix = mt.compile(lambda x: x @ x)
    x = mt.ones(2, 2)
    assert matrix(x).dtype is mt.float32
    for _ in range(2):
        with mt.autocast("cpu", dtype=mt.bfloat16):
            assert [matrix(x).dtype for _ in range(2)] == [mt.bfloat16] * 2


def test_replay_uses_no_stale_autocast_cache() -> None:
    weight = mt.ones(2, 2).requires_grad_()
    f = mt.compile(lambda x: (x @ weight).float().sum())
    for k in range(3):
        with mt.no_grad():
            weight.fill_(k)
        with mt.autocast("cpu", dtype=mt.bfloat16):
            _ = mt.ones(2, 2) @ weight
            assert f(mt.ones(2, 2)).item() == 8 * k


def test_replay_reads_replaced_closure_tensor() -> None:
    cell = {"state": mt.zeros(2)}
    calls: list[int] = []
    count = calls.append

    @mt.compile
    def step(x: mt.Tensor) -> mt.Tensor:
        count(1)
        cell["state"] = cell["state"] * 0.5 + x
        return cell["state"].sum()

    state = 0.0
    for k in range(8):
        if k == 5:
            cell["state"], state = mt.ones(2), 1.0
        state = state * 0.5 + k
        assert step(row(k, k)).item() == 2 * state
        assert cell["state"].tolist() == [state, state]
    assert len(calls) <= 3


def test_replay_reads_replaced_tuple_of_closure_tensors() -> None:
    """Recurrent networks keep their state like this."""
    states: dict[str, Any] = {"now": (mt.zeros(1), (mt.ones(1), 3))}
    f, calls = counted(lambda x: None)

    @mt.compile
    def step(x: mt.Tensor) -> Any:
        f.function(x)
        first, (second, number) = states["now"]
        states["now"] = (first + x, (second * 2, number))
        return first + second

    first, second = 0.0, 1.0
    for k in range(6):
        if k == 4:
            states["now"], first, second = (row(7), (row(5), 3)), 7.0, 5.0
        assert step(row(k)).item() == first + second
        first, second = first + k, second * 2
        assert states["now"][0].item() == first
        assert states["now"][1][0].item() == second
    states["now"] = (row(1), (row(1), 4))
    step(row(1))
    assert states["now"][1][1] == 4
    assert len(calls) <= 4


def test_each_call_returns_new_tensors() -> None:
    f = mt.compile(lambda x: (mt.zeros(2), x + 1, mt.tensor([1.0])))
    first = f(row(1))
    for each in first:
        each.add_(5)
    second = f(row(1))
    assert [each.tolist() for each in second] == [[0, 0], [2], [1]]


# --- In-place changes -----------------------------------------------------------------------------


@BACKENDS
def test_replay_repeats_in_place_changes(backend: str) -> None:
    with mt.use_backend(backend):
        total = mt.zeros(3)

        @mt.compile
        def add(x: mt.Tensor) -> mt.Tensor:
            x[0] = 7.0
            total.add_(x)
            total[1:].mul_(2.0)
            return total * 1

        expected = np.zeros(3)
        for k in range(4):
            x = mt.full((3,), float(k))
            result = add(x)
            expected += [7, k, k]
            expected[1:] *= 2
            assert total.tolist() == result.tolist() == expected.tolist()
            assert x.tolist() == [7, k, k]
        assert len(add.programs) == 1


def test_in_place_change_by_program_invalidates_outer_graph() -> None:
    weight = row(2).mul_(1.0)
    x = row(3, requires_grad=True)
    change = mt.compile(lambda: weight.mul_(2.0) * 1)
    change()
    y = x * weight
    change()
    with pytest.raises(InPlaceError):
        y.backward()


@pytest.mark.parametrize("view", [lambda x: x[::2], lambda x: x.flip(0), lambda x: x[1:3]])
def test_strided_arguments_match_eager(view: Callable[[mt.Tensor], mt.Tensor]) -> None:
    double, read = mt.compile(lambda x: x.mul_(2.0) * 1), mt.compile(lambda x: x * 2)
    for start in (0.0, 5.0, 9.0):
        base, expected = mt.arange(6.0) + start, mt.arange(6.0) + start
        assert read(view(base)).tolist() == (view(base) * 2).tolist()
        assert double(view(base)).tolist() == view(expected).mul_(2.0).tolist()
        assert base.tolist() == expected.tolist()


def test_slices_of_one_tensor_share_a_program() -> None:
    f, calls = counted(lambda x: x.sum())
    data = mt.arange(12.0).view(4, 3)
    assert [f(data[k : k + 1]).item() for k in range(4)] == [3, 12, 21, 30]
    assert [f(data[:, k]).item() for k in range(3)] == [18, 22, 26]
    assert len(calls) == 2


def test_arguments_that_share_memory_match_eager() -> None:
    def body(x: mt.Tensor, y: mt.Tensor) -> mt.Tensor:
        x += 1
        return y * 10

    f, x = mt.compile(body), row(1, 2, 3)
    for a, b in ((row(1, 2, 3), row(4, 5, 6)), (x, x), (row(1, 2), row(3, 4)), (x[:2], x[1:])) * 2:
        c, d = a.clone(), b.clone()
        if a is b:
            d = c
        elif a._tensor.storage is b._tensor.storage:
            base = x.clone()
            c, d = base[:2], base[1:]
        assert f(a, b).tolist() == body(c, d).tolist()
        assert (a.tolist(), b.tolist()) == (c.tolist(), d.tolist())


def test_argument_that_is_also_in_closure_matches_eager() -> None:
    weight = row(1, 2)

    def body(x: mt.Tensor) -> mt.Tensor:
        weight.add_(1.0)
        return x * 1

    f = mt.compile(body)
    for x in (row(5, 5), row(6, 6), weight, weight, row(7, 7)):
        expected = (x if x is not weight else weight + 1).tolist()
        assert f(x).tolist() == expected


# --- Gradients ------------------------------------------------------------------------------------


def test_backward_inside_sets_new_grad() -> None:
    weight = row(1, 2, requires_grad=True)

    @mt.compile
    def step(x: mt.Tensor) -> mt.Tensor:
        weight.grad = None
        loss = (x * weight).square().sum()
        loss.backward()
        return loss.detach()

    previous = None
    for k in (1.0, 2.0, 3.0):
        assert step(row(k, k)).item() == 5 * k * k
        assert weight.grad is not previous
        previous = weight.grad
        assert previous is not None
        assert previous.tolist() == [2 * k * k, 4 * k * k]


def test_backward_inside_accumulates_in_grad() -> None:
    weight = row(1, 2, requires_grad=True)

    @mt.compile
    def step(x: mt.Tensor) -> None:
        (x * weight).sum().backward()

    for k in range(1, 5):
        step(row(1, 3))
        assert weight.grad is not None
        assert weight.grad.tolist() == [k, 3 * k]
    grad = gradient_of(weight)
    grad.zero_()
    step(row(1, 3))
    assert weight.grad is grad
    assert grad.tolist() == [1, 3]


def test_backward_inside_sets_grad_of_arguments() -> None:
    @mt.compile
    def step(x: mt.Tensor) -> mt.Tensor:
        y = (x * x).sum()
        y.backward()
        return y.detach()

    for k in (1.0, 2.0, 3.0):
        x = row(k, requires_grad=True)
        step(x)
        assert x.grad is not None
        assert x.grad.tolist() == [2 * k]


@BACKENDS
def test_gradients_through_results_match_eager(backend: str) -> None:
    with mt.use_backend(backend):
        weight = row(1, 2, requires_grad=True)
        f = mt.compile(lambda x, s: ((x * weight * s).tanh(), (x + weight).square().sum()))
        for k in range(3):
            results = []
            for function in (f, f.function):
                weight.grad = None
                x = row(0.5 + k, 2, requires_grad=True)
                first, second = function(x * 1.5, 0.5 + k)
                (first.sum() * 3 + second).backward()
                gradients = [gradient_of(x).tolist(), gradient_of(weight).tolist()]
                results.append((first.tolist(), *gradients))
            for a, b in zip(*results, strict=True):
                np.testing.assert_allclose(a, b, 1e-6)
        assert len(f.programs) == 3  # for each number


def test_graph_of_result_is_freed_by_backward() -> None:
    f = mt.compile(lambda x: (x * x).exp().sum())
    for _ in range(2):
        x = row(0.5, requires_grad=True)
        y = f(x)
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad is not None
        assert x.grad.item() == pytest.approx(2 * np.exp(0.25))
        with pytest.raises(GraphFreedError):
            y.backward()


def test_backward_of_result_whose_graph_was_freed_inside_raises() -> None:
    weight = row(2, requires_grad=True)

    @mt.compile
    def step(x: mt.Tensor) -> mt.Tensor:
        weight.grad = None
        loss = (x * weight).sum()
        loss.backward()
        return loss

    for k in (1.0, 2.0, 3.0):
        loss = step(row(k))
        assert loss.item() == 2 * k
        assert loss.requires_grad
        with pytest.raises(GraphFreedError):
            loss.backward()
    assert len(step.programs) == 2


def test_closure_tensor_with_graph_warns_and_runs_eagerly() -> None:
    x = row(2, requires_grad=True)
    state = {"y": x * 3}
    f = mt.compile(lambda a: (a * state["y"]).sum().backward())

    def check() -> None:
        x.grad, state["y"] = None, x * 3
        f(row(5))
        assert gradient_of(x).item() == 15

    for _ in range(compiling.PATIENCE - 1):
        check()
    with pytest.warns(CompileWarning, match="with a graph"):
        check()


def test_hook_registered_after_recording_is_called() -> None:
    weight = row(2, requires_grad=True)

    @mt.compile
    def step(x: mt.Tensor) -> None:
        weight.grad = None
        (x * weight).sum().backward()

    for _ in range(3):
        step(row(5))
    weight.register_hook(lambda grad: grad * 10)
    for _ in range(3):
        step(row(5))
        assert weight.grad is not None
        assert weight.grad.item() == 50


def test_swapped_closure_tensors_match_eager() -> None:
    pair = {"a": row(1), "b": row(2)}

    @mt.compile
    def swap(x: mt.Tensor) -> mt.Tensor:
        pair["a"], pair["b"] = pair["b"], pair["a"]
        pair["a"].add_(x)
        return pair["b"]

    a, b = 1.0, 2.0
    for k in range(7):
        result = swap(row(k))
        a, b = b + k, a
        assert result is pair["b"]
        assert (pair["a"].item(), pair["b"].item()) == (a, b)


def test_program_may_use_several_backends() -> None:
    f = mt.compile(lambda x: x * 1 + mt.ones(1, backend="numpy"))
    with mt.use_backend("simple"):
        g = mt.compile(lambda x: (x * 2, mt.ones(1, backend="numpy") * 3))
        for k in (1.0, 2.0):
            first, second = g(row(k))
            assert (first.item(), second.item()) == (2 * k, 3)
            assert (first.backend.name, second.backend.name) == ("simple", "numpy")
    assert f(row(1)).item() == 2


def test_change_in_long_list_dict_or_array_recompiles() -> None:
    rows, table, array = [0.0] * 5000, dict.fromkeys(range(5000), 0.0), np.zeros(5000)
    f, calls = counted(lambda x: x + rows[3] + table[4] + array[5])
    for k in (0, 1, 2, 2):
        rows[3], table[4], array[5] = float(k), 10.0 * k, 100.0 * k
        assert f(row(1)).item() == 1 + 111 * k
    assert len(calls) == 3


def test_function_that_changes_long_list_changes_it_at_each_call() -> None:
    flags = [0] * 5000

    def mark(x: mt.Tensor) -> mt.Tensor:
        flags[3] = 1
        return x + 1

    f = mt.compile(mark)
    for _ in range(3):
        flags[3] = 0
        f(row(1))
        assert flags[3] == 1


def test_tensors_cached_by_operations_are_constants() -> None:
    x = row(1, 2, 3).expand(3, 3)
    for _ in range(2):  # the first round creates the mask, the second finds it cached
        f = mt.compile(lambda x: x.triu(1) + 1)
        assert [f(k * x).tolist() for k in range(3)] == [
            (x * k).triu(1).add(1).tolist() for k in range(3)
        ]


@pytest.mark.parametrize("data", [[0.0] * 200_000, np.zeros(200_000)], ids=["list", "array"])
def test_too_large_closure_value_raises(data: Any) -> None:
    with pytest.raises(CompileError, match="of 200000 items, more than a program compares"):
        mt.compile(lambda x: x + data[3])(row(1))


def test_unreachable_tensor_raises() -> None:
    cached = lru_cache(lambda: mt.ones(2))
    cached()
    for function in (cached, lambda: mt.from_numpy(np.ones(2, np.float32)).add_(1)):
        with pytest.raises(CompileError, match=r"a tensor of shape \(2,\) and mt_tensor.float32"):
            mt.compile(lambda x, f=function: x + f())(row(1, 2))


def test_backward_raises_if_saved_tensor_was_changed() -> None:
    f, weight = mt.compile(lambda x: (x * x).sum()), row(1, requires_grad=True)
    f(weight)
    y = f(weight)
    with mt.no_grad():
        weight.add_(1.0)
    with pytest.raises(InPlaceError):
        y.backward()


def test_create_graph_raises_for_results_but_works_inside() -> None:
    f = mt.compile(lambda x: (x * x * x).sum())
    f(row(2, requires_grad=True))
    x = row(2, requires_grad=True)
    with pytest.raises(GradientError, match="compiled"):
        mt.autograd.grad(f(x), x, create_graph=True)

    @mt.compile
    def second(x: mt.Tensor) -> Any:
        first: Any
        (first,) = mt.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (derivative,) = mt.autograd.grad(first.sum(), x)
        return derivative

    assert [second(row(k, requires_grad=True)).item() for k in (1.0, 2.0)] == [6, 12]


def test_backward_inside_through_outer_graph_raises() -> None:
    f = mt.compile(lambda y: y.sum().backward())
    x = row(2, requires_grad=True)
    with pytest.raises(CompileError, match="the graph of an argument"):
        f(x * 3)
    assert x.grad is None


# --- Random numbers -------------------------------------------------------------------------------


def add_random(x: mt.Tensor) -> mt.Tensor:
    return x + mt.rand(3) + mt.randn(3) + mt.bernoulli(mt.full((3,), 0.5))


def test_replay_continues_the_random_sequence() -> None:
    f = mt.compile(add_random)
    results = []
    for function in (add_random, f):
        mt.manual_seed(3)
        drawn = [function(mt.zeros(3)).tolist() for _ in range(4)]
        results.append((drawn, mt.rand(2).tolist()))
    assert results[0] == results[1]
    assert len(f.programs) == 1
    mt.manual_seed(3)
    assert f(mt.zeros(3)).tolist() == results[0][0][0]


def test_replay_draws_from_closure_generator() -> None:
    generator = mt.Generator()
    f = mt.compile(lambda: mt.rand(2, generator=generator))
    f()
    for seed in (1, 2, 1):
        generator.manual_seed(seed)
        expected = mt.rand(2, generator=mt.Generator().manual_seed(seed)).tolist()
        assert f().tolist() == expected


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: mt.randint(0, 9, (3,)), "integers, permutations"),
        (lambda: mt.randperm(4), "integers, permutations"),
        (lambda: [mt.manual_seed(3), mt.rand(2)], "restarts a sequence"),
        (lambda: mt.tensor(random.random()), "Python or NumPy"),
        (lambda: mt.tensor(np.random.rand()), "Python or NumPy"),  # noqa: NPY002
    ],
)
def test_random_calls_that_replay_cannot_repeat_raise(
    draw: Callable[[], Any], message: str
) -> None:
    mt.manual_seed(5)
    with pytest.raises(CompileError, match=message):
        mt.compile(draw)()


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        mt.Tensor.item,
        lambda x: x * 2 if x > 0 else x,
        print,
        mt.Tensor.tolist,
        np.asarray,
        mt.Tensor.numpy,
        mt.nonzero,
        lambda x: x[x > 0],
        lambda x: x.to("simple"),
        float,
        lambda x: [1, 2, 3][int(x)],
        lambda x: x in [row(1), row(2)],
    ],
)
def test_reading_elements_raises(read: Callable[[mt.Tensor], Any]) -> None:
    total = mt.zeros(1)
    state = {"count": 1, "items": [1]}

    def step(x: mt.Tensor) -> Any:
        total.add_(1.0)
        state["count"] += 1  # type: ignore[operator]
        state["items"].append(2)  # type: ignore[attr-defined]
        mt.rand(2)
        return read(x * 1)

    with pytest.raises(CompileError, match=r"reads the elements of a tensor.*test_compiling\.py"):
        mt.compile(step)(row(1))
    assert total.tolist() == [1]  # side effects until then remain
    assert state == {"count": 2, "items": [1, 2]}


def test_reading_elements_of_constants_is_allowed() -> None:
    f = mt.compile(lambda x: x * mt.arange(3).sum().item())
    assert [f(row(k)).item() for k in (1.0, 2.0)] == [3, 6]


def test_numpy_array_argument_raises() -> None:
    with pytest.raises(CompileError, match="from_numpy"):
        mt.compile(mt.tensor)(np.ones(2))


def test_error_while_recording_keeps_side_effects() -> None:
    weight = row(1, requires_grad=True)
    state = SimpleNamespace(x=weight, n=1)

    def step(x: mt.Tensor) -> None:
        (x * weight).sum().backward()
        with mt.no_grad():
            weight.mul_(5.0)
        state.n += 1
        state.x = x
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mt.compile(step)(row(2))
    assert weight.tolist() == [5]
    assert weight.grad.tolist() == [2]  # type: ignore[union-attr]
    assert state.n == 2
    assert state.x.tolist() == [2]


def test_error_during_replay_leaves_state_unchanged() -> None:
    total = mt.zeros(2)

    @mt.compile
    def step(x: mt.Tensor, index: mt.Tensor) -> mt.Tensor:
        total.add_(x)
        return x.gather(0, index) * mt.linalg.inv(x.diag()).sum()

    good, bad = mt.tensor([0, 1]), mt.tensor([0, 2])
    step(row(1, 1), good)
    step(row(1, 1), good)
    assert total.tolist() == [2, 2]
    with pytest.raises(IndexingError, match="index 2 is out of range"):
        step(row(1, 1), bad)
    with pytest.raises(LinAlgError):
        step(row(1, 0), good)
    assert total.tolist() == [2, 2]
    assert len(step.programs) == 1


def test_early_check_keeps_order_of_reads_and_writes() -> None:
    first, second = mt.zeros(2, 2), mt.zeros(2, 2)

    @mt.compile
    def step(x: mt.Tensor) -> mt.Tensor:
        first.add_(x)
        scaled = x * 2
        second.add_(scaled)  # reads `scaled` before the next line changes it
        scaled.add_(1)
        return mt.linalg.inv(scaled)

    x = mt.tensor([[1.0, 2.0], [3.0, 5.0]])
    for k in (1, 2, 3):
        step(x)
        assert second.tolist() == (x * 2 * k).tolist()
    assert step.programs


def test_changed_container_arguments_keep_their_identity() -> None:
    def step(x: mt.Tensor, outer: list[Any], options: dict[str, Any]) -> Any:
        outer.append(x * 2)
        options["last"] = outer[0]
        return outer[0]

    inner = [row(1)]
    outer, options = [inner], {"first": inner}
    assert mt.compile(step)(row(3), outer, options) is inner
    assert outer[0] is options["first"] is options["last"] is inner
    assert outer[1].tolist() == [6]  # type: ignore[attr-defined]


def test_appending_to_closure_list_warns_and_runs_eagerly() -> None:
    losses: list[mt.Tensor] = []

    @mt.compile
    def step(x: mt.Tensor) -> None:
        losses.append(x * 2)

    for k in range(compiling.PATIENCE - 1):
        step(row(k))
    with pytest.warns(CompileWarning, match="changes the items of a list"):
        step(row(3))
    assert [x.item() for x in losses] == [0, 2, 4, 6]


# --- Option check -------------------------------------------------------------------------------


def training(**options: Any) -> tuple[Any, list[mt.Tensor], dict[str, Any]]:
    """Return a compiled training step, its weights and its state."""
    weights, state = [row(1, 2, requires_grad=True), row(3, 4)], {"h": row(0, 0), "n": 0}

    def step(x: mt.Tensor) -> mt.Tensor:
        loss = (weights[0] * x * mt.rand(2)).square().sum()
        loss.backward()
        with mt.no_grad():
            weights[0].sub_(weights[0].grad * 0.1)  # type: ignore[operator]
        weights[1].add_(x)
        state["h"] = state["h"] + x
        return loss.detach()

    return mt.compile(step, **options), weights, state


def test_check_does_not_change_results() -> None:
    results = []
    for check in (0, 1, 3):
        mt.manual_seed(2)
        step, weights, state = training(check=check)
        losses = [step(row(k, 1)).item() for k in range(8)]
        assert step.programs
        results.append((losses, *[x.tolist() for x in (*weights, weights[0].grad, state["h"])]))
    assert results[0] == results[1] == results[2]


def test_check_finds_change_of_unguarded_state(monkeypatch: pytest.MonkeyPatch) -> None:
    f = mt.compile(check=2)(lambda x: x * float(os.environ["FACTOR"]))
    monkeypatch.setenv("FACTOR", "2")
    assert [f(row(3)).item() for _ in range(2)] == [6, 6]
    monkeypatch.setenv("FACTOR", "5")
    with pytest.raises(CompileError, match=r"result 0 is array\(\[6.*instead of array\(\[15"):
        f(row(3))


# --- Threads and printing -------------------------------------------------------------------------


def test_threads_may_call_one_compiled_function() -> None:
    f = mt.compile(lambda x: (x * 2 + 1).sum())
    failures: list[Any] = []

    def work(start: int) -> None:
        for k in range(start, start + 30):
            if f(row(k, k)).item() != 4 * k + 2 or (row(k) * 3).item() != 3 * k:
                failures.append(k)  # noqa: PERF401 - for the reader

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_may_record_at_the_same_time() -> None:
    inputs = [mt.linspace(0, 1, 3 * n).view(3, n) for n in range(2, 12)]
    failures: list[Any] = []

    def work(number: int) -> None:
        def original(x: mt.Tensor) -> mt.Tensor:
            folded = (x * 2 + number).exp().sum(1)
            return folded * folded + number

        for x in inputs:
            expected = original(x).tolist()
            compiled = mt.compile(original)
            results = [compiled(x).tolist() for _ in range(2)]
            assert compiled.program is not None
            calls = len(compiled.program.instructions)
            if results != [expected, expected] or calls != 3:
                failures.append((number, results, expected, calls))

    before, interval = dict(vars(mt.get_backend("numpy"))), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert dict(vars(mt.get_backend("numpy"))) == before


def test_recording_leaves_the_backend_unchanged() -> None:
    backend = mt.get_backend("numpy")
    before = dict(vars(backend))
    mt.compile(lambda x: (x @ x.T).sum())(mt.ones(2, 2))
    with pytest.raises(CompileError):
        mt.compile(lambda x: x.item())(row(1))
    assert dict(vars(backend)) == before


def test_str_of_program_lists_calls_and_costs() -> None:
    f = mt.compile(lambda x, y: ((x @ y) * 2 + 1).tanh().sum(1))
    f(mt.ones(4, 3), mt.ones(3, 5))
    program = f.program
    assert program is not None
    head, memory, *calls, end = str(program).splitlines()
    assert [line.split("  ")[1].split(" = ")[1].split("(")[0] for line in calls] == [
        "matmul",
        "mul_add_tanh",
        "reduce",
    ]
    assert "float32 (4, 5)" in calls[0]
    assert f"  {2 * 4 * 3 * 5} FLOP" in calls[0]
    assert end.strip().startswith("return m")
    assert program.operations == 2 * 60 + 3 * 20 + 20
    assert "3 calls, of 7 as recorded" in head
    assert program.peak <= program.eager_peak
    assert memory == f"  at most {program.peak} B in use, of {program.eager_peak} B as recorded"
    one = mt.compile(lambda x: x + 1)
    one(mt.ones(3))
    assert ": 1 call, of 2 as recorded; 3 FLOP, 28 B read" in str(one.program)


def test_program_omits_unused_results_and_constants() -> None:
    def body(x: mt.Tensor) -> mt.Tensor:
        x.exp()
        return x.cos().sum() + (mt.ones(3) * 2).sum()

    f = mt.compile(body)
    x = row(1, 2, 3)
    assert f(x).tolist() == f(x).tolist() == body(x).tolist()
    assert f.program is not None
    assert [call.name for call in f.program.instructions] == ["cos", "reduce", "add"]


# --- Fusion, copies and buffers -------------------------------------------------------------------


def add_to_transpose(x: mt.Tensor) -> mt.Tensor:
    x = x.clone()
    x.transpose(0, 1).add_(x * 2 + 1)
    return x


def add_to_next_row(x: mt.Tensor) -> mt.Tensor:
    x = x.clone()
    x[1:].add_(x[:-1] * 2 + 1)
    return x


def read_before_change(x: mt.Tensor) -> mt.Tensor:
    x = x.clone()
    before = x * 2
    x.add_(1)
    return before + x


@BACKENDS
@pytest.mark.parametrize("function", [add_to_transpose, add_to_next_row, read_before_change])
def test_fusion_reads_elements_before_they_are_overwritten(backend: str, function: Any) -> None:
    with mt.use_backend(backend):
        compiled = mt.compile(function)
        for _ in range(2):
            x = mt.randn(4, 4)
            assert compiled(x).tolist() == function(x).tolist()
        assert compiled.programs


def test_reused_buffer_has_shape_of_new_result() -> None:
    @mt.compile
    def f(x: mt.Tensor) -> mt.Tensor:
        y = x.sum(1, keepdim=True).view(4)
        z = y * 2
        return z.cumsum(0) + z

    with small_as_large():
        for _ in range(2):
            x = mt.randn(4, 3)
            y = x.sum(1) * 2
            np.testing.assert_allclose(f(x).numpy(), (y.cumsum(0) + y).numpy(), rtol=1e-6)


@BACKENDS
def test_result_that_is_only_copied_is_computed_without_copy(backend: str) -> None:
    with mt.use_backend(backend):
        f = mt.compile(lambda x, y: (x @ y).clone())
        g = mt.compile(lambda x, y: [z := x @ y, z.clone(), z + 1])
        h = mt.compile(lambda x, y: (x @ y).clone().mul_(2).add_((x @ y).sum()))
        for _ in range(2):
            x, y = mt.randn(2, 3), mt.randn(3, 2)
            assert f(x, y).tolist() == (x @ y).tolist()
            first, second, _ = g(x, y)
            first.zero_()
            assert second.tolist() == (x @ y).tolist()
            assert h(x, y).tolist() == h.function(x, y).tolist()
        assert [call.name for call in f.program.instructions] == ["matmul"]
        assert [call.name for call in g.program.instructions].count("copy") == 1


def test_backend_kernel_may_fuse_elementwise_with_reduction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel is looked up once, and its function runs at each replay."""
    lookups = []

    def fold(backend: Any, formula: Any, inputs: Any, out: Any, *reduction: Any) -> Any:
        lookups.append((formula.name, inputs, out.shape))
        operator, *rest = reduction
        compute = backend.elementwise(formula)
        return lambda *views: backend.reduce(operator, compute(out, *views), *rest)

    monkeypatch.setitem(kernels._kernels["numpy"], fusion.FOLD, fold)
    f = mt.compile(lambda x, y, n: ((x - y) * n).sum(1))
    x, y = mt.ones(200, 100), mt.zeros(100)
    first, second = f(x, y, 3.0), f(x, y, 0.5)
    assert first.tolist() == [300] * 200
    assert second.tolist() == f(x, y, 0.5).tolist() == [50] * 200
    (call,) = f.program.instructions
    assert str(call) == "m5 = add_of_sub_mul(x0, x1, k3)"
    assert call.operations == 3 * x.numel()
    assert [(name, shape) for name, _, shape in lookups] == [("sub_mul", x.shape)] * 2
    unfused = mt.compile(lambda x: (y := x.square()).sum() + y.amax())
    assert [each.name for each in unfused(x) and unfused.program.instructions].count("reduce") == 2


# --- Results and memory ---------------------------------------------------------------------------


def test_tensor_created_on_host_is_new_at_each_call() -> None:
    @mt.compile
    def f() -> mt.Tensor:
        return mt.triu_indices(2, 3, 1).neg_()

    first, second = f(), f()
    assert first.tolist() == second.tolist() == f().tolist()
    first.zero_()
    assert f().tolist() == second.tolist()
    assert f.programs


def test_dtype_views_and_new_leaves_run_eagerly() -> None:
    for function in (
        lambda x: x.view(mt.int32) + 0,
        lambda x: mt.zeros(2, requires_grad=True),
    ):
        f, calls = counted(function)
        for value in (1.0, 2.0):
            x = row(value, 3)
            result, expected = f(x), function(x)
            assert result.tolist() == expected.tolist()
            assert result.requires_grad == expected.requires_grad
        assert len(calls) == 2
        assert not f.programs


def test_backward_uses_indices_from_before_in_place_change() -> None:
    f = mt.compile(lambda x, i: (x.gather(0, i), i.add_(1))[0])
    for _ in range(2):
        x, i = row(1, 2, 3, requires_grad=True), mt.tensor([0, 0])
        f(x, i).sum().backward()
        assert gradient_of(x).tolist() == [2, 0, 0]
        assert i.tolist() == [1, 1]


def test_shape_and_dtype_may_be_results() -> None:
    f = mt.compile(lambda x: (x * 2, x.shape, x.dtype))
    for _ in range(2):
        assert f(row(1, 2))[1:] == (mt.Size((2,)), mt.float32)
    assert f.programs


def test_invalid_in_place_graph_raises_only_in_backward() -> None:
    f = mt.compile(lambda x: mt.tanh(x).trunc_())
    for _ in range(2):
        y = f(row(0.5, 2.5, requires_grad=True))
        assert y.tolist() == [0.0, 0.0]
        with pytest.raises(InPlaceError):
            y.sum().backward()


def allocated_and_peak(function: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """Return the bytes that a call leaves allocated, and the peak during it."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    function(*arguments)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before, peak - before


def test_recording_keeps_no_memory_and_has_no_higher_peak() -> None:
    def chain(x: mt.Tensor) -> mt.Tensor:
        for _ in range(20):
            x = x.exp().tanh()
        return x.sum()

    x = mt.ones(300, 1000)
    mt.compile(chain)(x)
    _, eager = allocated_and_peak(chain, x)
    f = mt.compile(chain)
    allocated, recorded = allocated_and_peak(f, x)
    assert allocated < x.nbytes
    assert recorded < eager + x.nbytes
    assert allocated_and_peak(f, x)[1] < eager + x.nbytes
    assert f.programs


@pytest.mark.parametrize("reads", [False, True])
def test_recording_frees_gradients_that_are_set_to_none(reads: bool) -> None:
    weights = [mt.ones(300, 300, requires_grad=True) for _ in range(8)]

    def step(x: mt.Tensor) -> mt.Tensor:
        old = weights[0].grad if reads else None
        for weight in weights:
            weight.grad = None
        y = x
        for weight in weights:
            y = y @ weight / 300
        y.sum().backward()
        return y.detach() if old is None else y.detach() + old.sum()

    mt.compile(mt.sum)(mt.ones(1))  # imports what compile needs
    x, f = mt.ones(1, 300), mt.compile(step)
    peaks = []
    tracemalloc.start()
    for function in (step, step, f, f):
        tracemalloc.reset_peak()
        function(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert f.programs
    assert max(peaks[2:]) < peaks[1] + 2 * weights[0].nbytes


# --- Planted faults -------------------------------------------------------------------------------


def swap_last_inputs(composed: Callable[..., Any]) -> Callable[..., Any]:
    """Return a fusion that swaps the last two inputs."""

    def wrong(producer: Any, reader: Any) -> Any:
        fused = composed(producer, reader)
        if fused is not None and len(fused.arguments) > 2:
            *first, x, y = fused.arguments
            fused.arguments = (*first, y, x)
        return fused

    return wrong


def ignore_changes(_: Any) -> Callable[..., bool]:
    """Return a check of a fusion that never finds a change."""
    return lambda *_: True


def check_programs(count: int) -> None:
    """Compare random functions with their compiled programs."""
    with small_as_large(), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for number in range(count):
            with contextlib.suppress(CompileError):
                check_program(Draw(random.Random(number).randrange))


@pytest.mark.parametrize(
    ("name", "fault"), [("composed", swap_last_inputs), ("_unchanged_until", ignore_changes)]
)
def test_comparison_of_random_programs_finds_planted_fault(
    name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, name, fault(getattr(fusion, name)))
    with pytest.raises(AssertionError, match="compiled:"):
        check_programs(400)
