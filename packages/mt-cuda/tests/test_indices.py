"""Index checks on the device: valid indices do not synchronize, invalid ones raise later."""

import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.indexing import checks as indices
from mt_cuda.recording import Record, Recorder
from mt_tensor.backends import use_backend
from mt_tensor.errors import IndexingError


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    """Return the default backend on the simulator, with threads in both orders."""
    ops = CudaOps(Simulator(request.param))
    with use_backend(ops):
        yield ops


def test_repeated_indexing_step_does_not_copy_or_synchronize():
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        x, index = mt.ones(8, 8, requires_grad=True), mt.tensor([[0, -1], [2, 3]])
        for _ in range(2):
            machine.record = Record()
            mask = mt.rand(8, 8) < 0.5
            total = x[index] + x.index_select(0, index[1]).gather(1, index)[:, :1]
            total = total.sum() + x.take(index).sum() + (x * mask).sum()
            x.index_add(0, index[1], x[:2]).sum().add(total).backward()
            mt.empty(5).uniform_(1, 2).bernoulli_(0.3)
    record = machine.record
    assert record.launches
    assert [record.uploads, record.downloads, record.synchronisations] == [0, 0, 0]


def test_index_error_flag_is_read_with_the_next_download():
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        x = mt.ones(4, 4)
        for reads in (2, 1):  # all indices are checked after the first download
            y = x.gather(0, mt.tensor([[1, 2]])) if reads == 2 else x
            machine.record = Record()
            y.numpy()
            assert [machine.record.downloads, machine.record.synchronisations] == [reads, 1]


@pytest.mark.parametrize("wait", ["synchronize", "numpy", "another tensor"])
def test_first_invalid_index_raises_once_at_next_synchronization(ops, wait):
    x = mt.arange(12.0).view(3, 4)
    other = x + 1
    wrong = x.index_select(1, mt.tensor([0, -7, 9, 3]))
    _ = x[mt.tensor([5])] + wrong[:1, :1]
    waits = {"synchronize": ops.synchronize, "numpy": wrong.numpy, "another tensor": other.tolist}
    with pytest.raises(
        IndexingError, match=r"index_select\(\): index -7 is out .* 1 with 4 .*device"
    ):
        waits[wait]()
    waits[wait]()
    assert wrong.tolist() == x.numpy()[:, [0, 0, 0, 3]].tolist()


def test_number_of_operations_that_index_errors_name_is_bounded(ops, monkeypatch):
    monkeypatch.setattr(indices, "MOST_PLACES", 1)
    x = mt.ones(3)
    for name, prefix in (("gather", "gather"), ("index_select", "an operation")):
        with pytest.raises(
            IndexingError, match=rf"^{prefix}.*index 3 is out of range .* 3 element"
        ):
            getattr(x, name)(0, mt.tensor([3])).numpy()
