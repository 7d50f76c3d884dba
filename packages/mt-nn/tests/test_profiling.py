"""`profile` and TensorBoard: measured operations, tables, and schedules as in torch."""

import importlib
import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.functional import cross_entropy
from mt_nn.inspection import profiling
from mt_tensor import exp


def counts(p: nn.profile) -> dict[tuple[str, bool], int]:
    return Counter((event.name, event.backward) for event in p.events)


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
        bump(x)  # traced before the profile begins
        with nn.profile() as p:
            y = 1.0 - exp(x) * x.relu()
            y[0] = 2.0
            mt.softmax(bump(Twice.apply(y)), 1).sum().backward()
            mt.ones(4, 3).T @ mt.ones(4, 3)
    measured = counts(p)
    forward = {name: calls for (name, backward), calls in measured.items() if not backward}
    expected = ["exp", "relu", "mul", "sub", "bump", "Twice", "softmax", "reduce add", "matmul"]
    assert forward.pop("full") >= 2
    assert {name: forward.pop(name) for name in expected} == dict.fromkeys(expected, 1)
    assert set(forward) == {"copy", "from_host", "CopySlices"}  # of y[0] = 2.0
    backward = {name: calls for (name, is_backward), calls in measured.items() if is_backward}
    assert {"exp", "mul", "relu", "sub", "bump", "Twice"} <= backward.keys()
    assert backward["add"] >= 1  # of the two gradients of x
    assert sum(event.seconds for event in p.events) <= p.events[-1].start + p.events[-1].seconds


def test_operations_of_a_training_step_are_measured() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    optimizer = nn.optim.SGD(model.parameters(), lr=0.1)
    with nn.profile() as p:
        loss = cross_entropy(model(mt.ones(5, 4)), mt.tensor([0, 1, 0, 1, 0]))
        loss.backward()
        optimizer.step()
    measured = counts(p)
    assert (measured["linear", False], measured["relu", False]) == (2, 1)
    assert measured["cross_entropy", False] == measured["cross_entropy", True] == 1
    assert measured["relu", True] == 1
    assert measured["SGD", False] == 1
    with nn.profile() as p:
        x = mt.ones(2)
        x += 1
        abs(1 / x)
    names = [event.name for event in p.events if event.name != "full"]
    assert names == ["add", "div", "abs"]


LAYERS = {
    "gelu": nn.GELU(),
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "avg_pool2d": nn.AvgPool1d(2),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer_is_measured_as_one_operation(name: str) -> None:
    with nn.profile() as p:
        LAYERS[name](mt.ones(2, 4))
    assert [event.name for event in p.events if event.name != "full"] == [name]


def test_activation_inside_a_layer_is_measured() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, activation="gelu")
    with nn.profile() as p:
        layer(mt.ones(3, 4))
    assert counts(p)["gelu", False] == 1


def test_kernel_is_measured_under_the_name_of_its_operation() -> None:
    pytest.importorskip("mt_fast")
    scores, classes = (mt.zeros(*shape, backend="fast") for shape in ((5, 3), (5,)))
    with nn.profile() as p:
        cross_entropy(scores, classes.long())
    assert counts(p) == {("copy", False): 1, ("cross_entropy", False): 1}


def test_second_backward_is_measured_as_backward() -> None:
    x = mt.ones(3, requires_grad=True)
    with nn.profile() as p:
        (first,) = mt.autograd.grad((x * x * x).sum(), x, create_graph=True)
        mt.autograd.grad(first.sum(), x)
    forward = {event.name for event in p.events if not event.backward}
    assert forward == {"mul", "reduce add", "full"}  # "full": the initial gradient of 1
    assert sum(event.name == "mul" for event in p.events if not event.backward) == 2


def test_error_ends_the_profile() -> None:
    with pytest.raises(mt.errors.ShapeError), nn.profile() as p:
        mt.ones(2) @ mt.ones(3)
    before = len(p.events)
    mt.ones(2).exp()
    assert len(p.events) == before


def test_nested_profiles_both_measure() -> None:
    with nn.profile() as outer:
        mt.ones(1).exp()
        with nn.profile() as inner:
            mt.ones(1).sin()
        mt.ones(1).cos()
    assert [event.name for event in inner.events] == ["full", "sin"]
    assert [event.name for event in outer.events] == ["full", "exp", "full", "sin", "full", "cos"]


def test_compiled_function_is_measured_while_it_is_captured() -> None:
    compiled = mt.compile(lambda x: (x.exp() * 2).sum())
    with nn.profile() as p:
        compiled(mt.ones(2))
    assert {"exp", "mul", "reduce add"} <= {event.name for event in p.events}
    with nn.profile() as inside:
        assert mt.compile(lambda x: x.exp())(mt.ones(1)).item() == pytest.approx(np.e)
    assert "exp" in {event.name for event in inside.events}


def test_caught_error_does_not_end_the_profile() -> None:
    with nn.profile() as p:
        with pytest.raises(mt.errors.ShapeError):
            mt.ones(2, 3) @ mt.ones(2, 3)
        mt.ones(1).exp()
    assert counts(p)["exp", False] == 1


def test_operations_of_other_threads_are_not_measured() -> None:
    with nn.profile() as p:
        other = threading.Thread(target=lambda: mt.ones(2).exp())
        other.start()
        other.join()
    assert not p.events
    assert str(p).endswith("Self CPU time total: 0.000us")


def test_profile_can_be_entered_again_but_not_within_itself() -> None:
    with nn.profile() as p:
        with pytest.raises(nn.SettingError, match="is already active"), p:
            pass
        mt.ones(1)
    assert counts(p) == {("full", False): 1}
    with p:
        mt.ones(1).exp()
    mt.ones(1)
    assert counts(p) == {("full", False): 1, ("exp", False): 1}


def test_table_and_trace_list_the_operations(tmp_path: Path) -> None:
    with nn.profile() as p:
        mt.ones(2, requires_grad=True).exp().sum().backward()
    rows = [row.split() for row in str(p).splitlines()]
    assert any(row[:2] == ["exp", "(backward)"] and row[-1] == "1" for row in rows)
    p.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == [event.name for event in p.events]
    assert {event["cat"] for event in events} == {"forward", "backward"}
    assert all(event["dur"] >= 0 <= event["ts"] and event["ph"] == "X" for event in events)


# --- torch's profiler -----------------------------------------------------------------------------


def test_key_averages_count_blocks_and_operations() -> None:
    x = mt.ones(3, 4, requires_grad=True)
    with profiling.profile() as prof, profiling.record_function("outer"):
        for _ in range(2):
            with profiling.record_function("inner"):
                y = x.exp()
        y.softmax(1).sum().backward()
    rows = {row.key: row for row in prof.key_averages()}
    calls = {key: row.count for key, row in rows.items()}
    assert calls["outer"] == calls["softmax"] == calls["softmax (backward)"] == 1
    assert calls["inner"] == calls["exp"] == 2
    inner_time = sum(row.self_cpu_time_total for key, row in rows.items() if key != "outer")
    outer = rows["outer"]
    assert outer.cpu_time_total == pytest.approx(outer.self_cpu_time_total + inner_time)
    assert rows["inner"].cpu_time_total >= rows["exp"].cpu_time_total
    assert rows["exp"].cpu_time == rows["exp"].cpu_time_total / 2


def test_table_has_the_columns_of_torch() -> None:
    torch = pytest.importorskip("torch")

    def columns(library: Any, profiler: Any) -> list[str]:
        with profiler.profile() as prof:
            library.ones(3).exp().exp()
        table: str = prof.key_averages().table(sort_by="count", row_limit=1)
        return next(line for line in table.splitlines() if "Name" in line).split()

    theirs = columns(torch, importlib.import_module("torch.profiler"))
    assert columns(mt, profiling) == theirs


def test_table_is_sorted_and_limited() -> None:
    events = profiling.EventList(
        profiling.FunctionEventAvg(key, count, 1e3 * count, 500.0 * count)
        for key, count in (("b" * 60, 2), ("a", 5000), ("c", 1))
    )
    lines = events.table(sort_by="cpu_time_total", row_limit=2).splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["a", "b" * 55]
    assert lines[3].split()[1:] == ["99.94%", "2.500s", "199.88%", "5.000s", "1.000ms", "5000"]
    assert lines[-1] == "Self CPU time total: 2.502s"
    with pytest.raises(nn.SettingError, match="sort_by"):
        events.table(sort_by="gpu")


def test_schedule_matches_torch() -> None:
    torch = pytest.importorskip("torch")
    settings = {"wait": 1, "warmup": 2, "active": 3, "repeat": 2, "skip_first": 1}
    theirs, ours = torch.profiler.schedule(**settings), profiling.schedule(**settings)
    assert [ours(step).name for step in range(20)] == [theirs(step).name for step in range(20)]
    with pytest.raises(nn.SettingError, match="active=0"):
        profiling.schedule(wait=0, warmup=0, active=0)


def test_on_trace_ready_is_called_after_each_cycle(tmp_path: Path) -> None:
    cycles: list[dict[str, int]] = []

    def report(prof: profiling.profile) -> None:
        cycles.append({row.key: row.count for row in prof.key_averages()})
        prof.export_chrome_trace(tmp_path / "trace.json")

    cycle = profiling.schedule(wait=1, warmup=0, active=2)
    with profiling.profile(schedule=cycle, on_trace_ready=report) as prof:
        for step in range(8):
            (mt.ones(2) + step).exp()
            prof.step()
    assert [counts["exp"] for counts in cycles] == [2, 2, 1]
    assert "exp" in (tmp_path / "trace.json").read_text()


# --- TensorBoard ----------------------------------------------------------------------------------


def test_summary_writer_takes_tensors(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    from mt_nn.torch_names.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", mt.tensor(0.5, requires_grad=True) * 3, 7)
        writer.add_scalars("both", {"a": mt.tensor(1.0, dtype=mt.bfloat16)}, 7)
        writer.add_histogram("weights", mt.arange(5), 7)
        writer.add_image("picture", mt.rand(3, 4, 5), 7)
    values: dict[str, Any] = {}
    for file in tmp_path.rglob("events*"):
        content = file.read_bytes()
        while content:  # the length, its checksum, the event, its checksum
            length = int.from_bytes(content[:8], "little")
            event = Event.FromString(content[12 : 12 + length])
            content = content[16 + length :]
            values |= {value.tag: (event.step, value) for value in event.summary.value}
    step, loss = values["loss"]
    assert (step, loss.simple_value) == (7, 1.5)
    assert values["both"][1].simple_value == 1.0
    assert values["weights"][1].histo.sum == 10
    assert (values["picture"][1].image.height, values["picture"][1].image.width) == (4, 5)
