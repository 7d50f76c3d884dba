"""Making, showing, copying and exchanging tensors works the same on every backend."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.core.contract import TensorBackend
from mt_tensor.testing.specs import ARRAY_TYPES


@pytest.mark.parametrize("dtype", ARRAY_TYPES)
def test_data_comes_and_goes_unchanged(backend: TensorBackend, dtype: str) -> None:
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


def test_rules_give_the_same_everywhere(backend: TensorBackend) -> None:
    makers: tuple[Callable[[TensorBackend | str], mt.Tensor], ...] = (
        lambda place: mt.full((2, 3), 1.5, backend=place),
        lambda place: mt.arange(1, 9, 3, backend=place),
        lambda place: mt.linspace(0, 1, 7, backend=place),
        lambda place: mt.logspace(0, 1, 7, backend=place),
        lambda place: mt.eye(2, 3, backend=place),
        lambda place: mt.ones_like(mt.zeros(3, dtype="int8", backend=place)),
    )
    for make in makers:
        here, there = make(backend), make("numpy")
        assert here.backend is backend
        assert here.dtype is there.dtype
        assert here.tolist() == there.tolist()
        assert repr(here) == repr(there)
    assert mt.empty(2, 0, backend=backend).shape == (2, 0)


def test_random_numbers_are_the_same_everywhere(backend: TensorBackend) -> None:
    def draw(place: TensorBackend | str) -> list[mt.Tensor]:
        random = mt.Generator().manual_seed(8)
        weights = mt.rand(2, 5, generator=random, backend=place)
        return [
            weights,
            mt.randint(9, (4,), generator=random, backend=place),
            mt.normal(weights, 0.5, generator=random),
            weights.bernoulli(generator=random),
            weights.multinomial(3, generator=random),
            mt.empty(3, 2, backend=place).T.uniform_(-1, 1, generator=random),
            mt.empty(3, backend=place).normal_(generator=random),
            mt.empty(3, dtype="bool", backend=place).bernoulli_(generator=random),
        ]

    for here, there in zip(draw(backend), draw("numpy"), strict=True):
        assert here.backend is backend
        assert here.dtype is there.dtype
        assert here.tolist() == there.tolist()


def test_elements_are_shared_or_refused(backend: TensorBackend) -> None:
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
