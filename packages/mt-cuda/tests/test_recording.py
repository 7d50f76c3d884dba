"""Recorder: counts of launches, allocations, copies and synchronizations."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.recording import Record, Recorder
from mt_tensor.backends import use_backend


@pytest.fixture
def machine():
    machine = Recorder()
    with use_backend(CudaOps(machine, plain=True)):
        yield machine


def counts_of_second_call(machine, action):
    """Return the counts of the second call, for which constants are on the device already."""
    action()
    machine.record = Record()
    action()
    record = machine.record
    return [
        len(record.launches),
        record.allocations,
        record.uploads,
        record.downloads,
        record.synchronisations,
    ]


@pytest.mark.parametrize(
    ("action", "counts"),
    [
        (lambda x: x + x, [1, 1, 0, 0, 0]),
        (lambda x: x * 2.5 + 1, [2, 2, 0, 0, 0]),
        (lambda x: x.add_(1.5), [1, 0, 0, 0, 0]),
        (lambda x: mt.ones(3, 4), [1, 1, 0, 0, 0]),
        (lambda x: mt.tensor([1.0, 2.0]), [0, 1, 1, 0, 1]),
        (lambda x: x.numpy(), [0, 0, 0, 1, 1]),
        (lambda x: x.mT.numpy(), [1, 1, 0, 1, 1]),
        (lambda x: mt.sum(mt.ones(4096, 4096)), [3, 3, 0, 0, 0]),
        (lambda x: x @ x.mT, [1, 1, 0, 0, 0]),
    ],
    ids=["add", "numbers", "in place", "ones", "data", "numpy", "transposed", "sum", "matmul"],
)
def test_operation_has_expected_counts(machine, action, counts):
    x = mt.ones(3, 4)
    assert counts_of_second_call(machine, lambda: action(x)) == counts


def test_item_downloads_one_element(machine, monkeypatch):
    read = []
    x = mt.ones(4096, 4096)
    download = machine.download
    monkeypatch.setattr(
        machine, "download", lambda memory, count: read.append(count) or download(memory, count)
    )
    x[7, 8].item()
    assert read == [1]


def test_launch_counts_its_operations():
    machine = Recorder()
    with use_backend(CudaOps(machine, plain=True)):
        x, y = mt.ones(5, 30, 70), mt.ones(5, 70, 20)
        machine.record = Record()
        x @ y
        x.exp()
    product, exponential = machine.record.launches
    assert product.operations == 5 * 30 * 70 * 20
    assert exponential.operations == 5 * 30 * 70
    assert machine.record.least_blocks(1000) == min(product.blocks, exponential.blocks)
    assert machine.record.least_blocks(10**7) is None


def test_recorder_keeps_uploads_and_returns_zeros_for_results(machine):
    x = mt.tensor(np.arange(3.0))
    assert x.tolist() == [0, 1, 2]
    assert (x + 1).tolist() == [0, 0, 0]


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_recorder_with_simulator_counts_and_computes(order):
    machine = Recorder(order)
    x = mt.tensor(np.arange(300.0).reshape(3, 100), backend=CudaOps(machine))
    machine.record = Record()
    assert x.sum(1).tolist() == [4950.0, 14950.0, 24950.0]
    assert machine.record.launches
    assert [machine.record.downloads, machine.record.downloaded] == [1, 3]
    np.testing.assert_allclose((x @ x.mT).numpy(), x.numpy() @ x.numpy().T, 1e-6)
