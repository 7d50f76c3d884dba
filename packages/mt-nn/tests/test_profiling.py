"""`profile`: what is counted, as what, on every backend, and that nothing stays replaced."""

import json
import sys
import threading
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.functional import cross_entropy
from mt_tensor import exp
from mt_tensor.extending import Node


def counts(p: nn.profile) -> dict[tuple[str, bool], int]:
    return {(row.name, row.backward): row.calls for row in p.rows()}


@mt.fuse
def bump(x: mt.Tensor) -> mt.Tensor:
    return mt.exp(-x * x)


class Twice(mt.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x + x

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        return grad * 2.0


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_every_operation_is_counted_once(backend: str) -> None:
    with mt.use_backend(backend):
        x = mt.ones(2, 3, requires_grad=True)
        bump(x)  # which takes note of what it does, once
        with nn.profile() as p:
            y = 1.0 - exp(x) * x.relu()
            y[0] = 2.0
            mt.softmax(bump(Twice.apply(y)), 1).sum().backward()
            nn.functional.linear(x, mt.ones(4, 3))
            mt.linalg.norm(mt.ones(2, 2))
    found = counts(p)
    forward = {name: calls for (name, backward), calls in found.items() if not backward}
    assert forward == {
        **dict.fromkeys(["exp", "mul", "relu", "sub", "bump", "Twice", "softmax", "sum"], 1),
        **dict.fromkeys(["setitem", "linear", "norm"], 1),
        "ones": 2,
    }
    backward = {name: calls for (name, is_backward), calls in found.items() if is_backward}
    assert {"exp", "mul", "relu", "sub", "bump", "Twice"} <= backward.keys()
    assert backward["add"] >= 1  # of the two gradients of x
    assert sum(event.seconds for event in p.events) <= p.events[-1].start + p.events[-1].seconds


def test_a_step_of_training_is_seen() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    optimizer = nn.optim.SGD(model.parameters(), lr=0.1)
    with nn.profile() as p:
        loss = cross_entropy(model(mt.ones(5, 4)), mt.tensor([0, 1, 0, 1, 0]))
        loss.backward()
        optimizer.step()
    found = counts(p)
    assert (found["linear", False], found["relu", False], found["cross_entropy", False]) == (
        2,
        1,
        1,
    )
    assert found["relu", True] == 1
    assert found["sgd_step", False] == 4
    with nn.profile() as p:
        x = mt.ones(2)
        x += 1
        abs(1 / x)
    assert [event.name for event in p.events] == ["ones", "add_", "div", "abs"]


LAYERS = {
    "gelu": nn.GELU(),
    "sigmoid": nn.Sigmoid(),
    "softplus": nn.Softplus(),
    "tanh": nn.Tanh(),
    "avg_pool1d": nn.AvgPool1d(2),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_one_operation(name: str) -> None:
    with nn.profile() as p:
        LAYERS[name](mt.ones(2, 4))
    assert {row.name: row.calls for row in p.rows() if row.name != "ones"} == {name: 1}


def test_what_a_layer_keeps_of_its_own_is_seen() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, activation="gelu")
    with nn.profile() as p:
        layer(mt.ones(3, 4))
    assert counts(p)["gelu", False] == 1


def test_kernels_have_the_name_of_their_operation() -> None:
    pytest.importorskip("mt_fast")
    scores, classes = (mt.zeros(*shape, backend="fast") for shape in ((5, 3), (5,)))
    with nn.profile() as p:
        cross_entropy(scores, classes.long())
    assert counts(p) == {("long", False): 1, ("cross_entropy", False): 1}


def test_gradients_of_gradients_are_backward() -> None:
    x = mt.ones(3, requires_grad=True)
    with nn.profile() as p:
        (first,) = mt.autograd.grad((x * x * x).sum(), x, create_graph=True)
        mt.autograd.grad(first.sum(), x)
    assert {event.name for event in p.events if not event.backward} == {"mul", "sum"}
    assert sum(event.name == "mul" for event in p.events if not event.backward) == 2


def everything() -> list[Any]:
    """Return what a profile replaces, and more."""
    modules = [m for n, m in sys.modules.items() if n.startswith(("mt_", "test_"))]
    owners = [*modules, *mt.Tensor.__mro__[:-1], mt.Function, Node, *Node.__subclasses__()]
    return [
        (owner, name, value)
        for owner in [*owners, sys.modules[__name__]]
        for name, value in vars(owner).items()
        if isinstance(value, (FunctionType, classmethod))
    ]


def test_everything_is_put_back() -> None:
    before = everything()
    with pytest.raises(mt.errors.ShapeError), nn.profile():
        mt.ones(2) @ mt.ones(3)
    after = everything()
    assert len(before) == len(after)
    assert all(x[2] is y[2] for x, y in zip(before, after, strict=True))


def test_an_error_within_an_operation_does_not_stop_the_counting() -> None:
    with nn.profile() as p:
        with pytest.raises(mt.errors.ShapeError):
            mt.ones(2, 3) @ mt.ones(2, 3)
        mt.ones(1).exp()
    assert counts(p)["exp", False] == 1


def test_other_threads_are_not_counted() -> None:
    with nn.profile() as p:
        other = threading.Thread(target=lambda: mt.ones(2).exp())
        other.start()
        other.join()
    assert not p.events
    assert str(p).count("\n") == 2


def test_one_at_a_time_and_again() -> None:
    with nn.profile() as p:
        with pytest.raises(nn.SettingError, match="is running already"), nn.profile():
            pass
        mt.ones(1)
    with p:
        mt.ones(1)
        kept = mt.ones
    kept(1)
    assert counts(p) == {("ones", False): 2}


def test_table_and_trace(tmp_path: Path) -> None:
    with nn.profile() as p:
        mt.ones(2, requires_grad=True).exp().sum().backward()
    titles, *rows = str(p).splitlines()
    assert titles.split() == ["operation", "calls", "total", "mean", "share"]
    assert any(row.split()[:3] == ["exp", "backward", "1"] for row in rows)
    assert rows[-2].split()[:3] == ["all", "forward", "3"]
    p.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == [event.name for event in p.events]
    assert {event["cat"] for event in events} == {"forward", "backward"}
    assert all(event["dur"] >= 0 <= event["ts"] and event["ph"] == "X" for event in events)
