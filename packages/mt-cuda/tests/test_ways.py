"""Which way operations go on a device: what is counted, and how it is told."""

import json

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator, bench
from mt_cuda.bench import operations
from mt_cuda.recording import Record, Recorder
from mt_tensor.extending import FUSED


def leaf():
    return mt.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, 1.0]], requires_grad=True)


def call(function):
    """What prepares a call of a function of one tensor."""

    def prepare():
        x = leaf()
        return lambda: [function(x)], [x]

    return prepare


WAYS = [
    ("view", lambda x: x.T, "view", "view"),
    ("exp", lambda x: x.exp(), "one kernel", "one kernel"),
    ("softplus of exp", lambda x: x.exp().softplus(), "composed", "composed"),
    ("data", lambda x: x + mt.tensor([1.0, 2.0, 3.0]), "one kernel", "view"),
    ("constant", lambda x: x + x._uploaded(np.ones(3, "f4")), "sends numbers", "view"),
    ("choice", lambda x: x.exp() if (x > 0).any() else x, "waits for a number", "one kernel"),
    ("other choice", lambda x: x.exp() if (x > 9).any() else x, "waits for a number", None),
    ("elements", lambda x: x * len(x.tolist()), "by way of the host", "one kernel"),
    ("no gradient", lambda x: x.isnan(), "one kernel", None),
]


@pytest.mark.parametrize(
    ("function", "forward", "backward"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS]
)
def test_ways(function, forward, backward):
    count = operations.counted("mine", call(function))
    assert operations.way(count.forward) == forward
    if backward is not None:
        assert operations.way(count.backward) == backward


def test_without_a_gradient_there_is_no_way_back():
    assert operations.counted("mine", call(lambda x: x.isnan())).backward is None


def test_preparing_a_call_may_ask_what_it_likes(monkeypatch):
    def prepare():
        x = leaf()
        x.tolist()
        return lambda: [x.exp()], [x]

    monkeypatch.setattr(operations, "Simulator", None)  # it is not needed
    assert operations.way(operations.counted("mine", prepare).forward) == "one kernel"


@pytest.fixture
def offered(monkeypatch):
    calls = [("lists", name, call(function)) for name, function, *_ in WAYS]
    calls.append(("lists", "exp", call(lambda x: x.exp().exp())))
    monkeypatch.setattr(operations, "calls", lambda: iter(calls))


def test_the_table_names_all_ways_of_an_operation(offered, capsys):
    assert bench.main(["operations"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# ")
    assert "\n\n## lists\n\n| operation | forward | backward |\n|---|---|---|\n" in text
    assert "\n| `exp` | one kernel, composed | one kernel, composed |\n" in text
    assert "\n| `no gradient` | one kernel |  |\n" in text


def test_some_operations_are_told_of_alone(offered, capsys):
    assert bench.main(["operations", "view", "data"]) == 0
    rows = ["| `view` | view | view |", "| `data` | one kernel | view |"]
    assert capsys.readouterr().out.splitlines()[2:] == rows


def test_counts_are_for_programs(offered, capsys):
    assert bench.main(["operations", "--json", "elements", "no gradient"]) == 0
    elements, other = json.loads(capsys.readouterr().out)
    assert elements["operation"] == "elements"
    assert elements["forward"] == {
        "way": "by way of the host",
        "launches": 1,
        "allocations": 1,
        "uploads": 0,
        "downloads": 1,
        "synchronisations": 1,
    }
    assert other["backward"] is None


def test_every_operation_of_the_sample_tables_is_called():
    from mt_operators.testing import SPECS, WHOLE_SPECS
    from mt_tensor.testing import TENSOR_SPECS

    names = {name for heading, name, _ in operations.calls() if heading == "mt-tensor"}
    rows = {row.name for row in TENSOR_SPECS if not row.optional}
    assert names == {*SPECS, *WHOLE_SPECS, *rows}


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_a_recorder_counts_what_another_machine_computes(order):
    machine = Recorder(Simulator(order))
    x = mt.tensor(np.arange(300.0).reshape(3, 100), backend=CudaOps(machine))
    machine.record = Record()
    assert x.sum(1).tolist() == [4950.0, 14950.0, 24950.0]
    assert machine.record.launches
    assert [machine.record.downloads, machine.record.downloaded] == [1, 3]
    np.testing.assert_allclose((x @ x.mT).numpy(), x.numpy() @ x.numpy().T, 1e-6)


# --- Evenly spaced numbers, which need no host ----------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "uint64", "float32", "bfloat16"])
@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize(
    "bounds", [(0, 5), (9, -4, -2), (100, 20, -7), (0.5, 3.0, 1.5), (1.0, 4.0), (0, 40), (3, 3)]
)
def test_evenly_spaced_numbers_are_those_of_every_backend(bounds, dtype, order):
    if min(bounds[:2]) < 0 and dtype.startswith("u"):
        bounds = (9, 0, -2)
    ours = mt.arange(*bounds, dtype=dtype, backend=CudaOps(Simulator(order)))
    theirs = mt.arange(*bounds, dtype=dtype, backend="numpy")
    assert ours.dtype is theirs.dtype
    assert ours.tolist() == theirs.tolist()


def test_evenly_spaced_numbers_are_not_sent():
    with mt.use_backend(CudaOps(machine := Recorder())):
        assert mt.arange(1000, dtype="float32", requires_grad=True).requires_grad
        assert [len(machine.record.launches), machine.record.uploads] == [1, 0]
        mt.arange(0.0, 1.0, 0.1)
        assert machine.record.uploads == 1


def test_whole_numbers_beyond_those_of_float64_are_exact():
    bounds = 2**60, 2**60 + 3
    assert mt.arange(*bounds, backend=CudaOps(Simulator())).tolist() == list(range(*bounds))
    assert "arange" in FUSED
