"""Tests of creating, printing, copying and exchanging tensors on every backend."""

import copy
import pickle

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.core.contract import TensorBackend
from mt_tensor.testing.specs import ARRAY_TYPES


@pytest.mark.parametrize("dtype", ARRAY_TYPES)
def test_numpy_pickle_and_copy_round_trips_preserve_values(
    backend: TensorBackend, dtype: str
) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    for make in (mt.tensor, mt.as_tensor, mt.from_numpy):
        for layout in (array, array.T, array[:, ::-2], array[1, 1:2].reshape(()), array[:0]):
            x = make(layout, backend=backend)
            assert x.backend is backend
            assert x.dtype.name == dtype
            assert x.tolist() == layout.tolist()
            assert np.array_equal(np.asarray(x), layout)
            for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
                assert twin.backend is backend
                assert twin.tolist() == layout.tolist()


def test_numpy_shares_memory_of_cpu_tensors_only(backend: TensorBackend) -> None:
    x = mt.arange(6, dtype="float32", backend=backend).view(2, 3).T
    try:
        device = x.__dlpack_device__()
    except mt.errors.ExchangeError:
        device = None
    if device != (1, 0):  # not in this machine's memory, which NumPy shares
        assert not hasattr(x, "__array_interface__")
        assert hasattr(x, "__cuda_array_interface__") == (device is not None and device[0] == 2)
        return
    shared = np.from_dlpack(x)
    assert np.shares_memory(shared, np.asarray(x))
    x[0, 0] = 5.0
    assert shared.tolist() == x.tolist()
    assert shared.__array_interface__["data"][0] == x.data_ptr()
