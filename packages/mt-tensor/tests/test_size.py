"""`Size`: shapes are tuples with a method `numel`, as in torch."""

import copy
import json
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

OPERATIONS: list[Any] = [
    lambda s: s[1:],
    lambda s: s[:-1],
    lambda s: s[::-1],
    lambda s: s + s,
    lambda s: operator.add(s, (5,)),
    lambda s: operator.add((5,), s),
    lambda s: s * 2,
    lambda s: 2 * s,
    copy.copy,
    copy.deepcopy,
    lambda s: pickle.loads(pickle.dumps(s)),
]


def test_shape_is_a_size_and_equals_a_tuple() -> None:
    x = mt.zeros(2, 3, 4)
    for shape in (x.shape, x.size(), x.T.shape, x[0].shape, (x + x[0]).shape, mt.ones(()).shape):
        assert isinstance(shape, mt.Size)
        assert isinstance(shape, tuple)
        assert shape == tuple(shape)
        assert hash(shape) == hash(tuple(shape))
        assert repr(shape) == str(shape) == f"{shape}" == str(tuple(shape))
        assert json.dumps(shape) == json.dumps(tuple(shape))
    assert x.shape is x.clone().shape  # cached by the layout
    assert x.shape[1] == x.shape[np.int64(1)] == 3
    assert type(x._tensor.shape) is tuple  # as backends use it


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_on_size_return_size_as_in_torch(operation: Any) -> None:
    shape = mt.zeros(2, 3, 4).shape
    assert isinstance(operation(shape), mt.Size)
    assert operation(shape) == operation(tuple(shape))
    torch = pytest.importorskip("torch")
    theirs = operation(torch.zeros(2, 3, 4).shape)
    assert tuple(theirs) == operation(shape)
    assert isinstance(theirs, torch.Size)
    assert theirs.numel() == operation(shape).numel()


def test_size_accepts_only_integers() -> None:
    assert mt.Size([2, 3]).numel() == mt.Size((np.int64(2), mt.tensor(3))).numel() == 6
    assert mt.Size().numel() == 1
    assert mt.zeros(mt.Size([2, 3])).shape == (2, 3)
    assert mt.zeros(6).view(mt.Size([2, -1])).shape == mt.zeros(1, 3).expand(2, 3).shape
    for value in ([1.5], ["a"], 3):
        with pytest.raises(TypeError):
            mt.Size(value)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        operator.add(mt.Size([2]), [3])
