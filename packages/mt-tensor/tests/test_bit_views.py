"""`x.view(dtype)`: the same memory as elements of another dtype, compared with torch."""

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core.dtypes import DTYPES, as_dtype
from mt_tensor.core.tensor_data import TensorData

NAMES = [name for name in DTYPES if name != "bool"]

LAYOUTS: list[Any] = [
    lambda x: x,
    lambda x: x.T,
    lambda x: x[1:],
    lambda x: x[:, 8:],
    lambda x: x[:, 1:9],
    lambda x: x[:, :3],
    lambda x: x[::2],
    lambda x: x[:, ::2],
    lambda x: x[:, :0],
    lambda x: x[:0],
    lambda x: x[0].expand(3, 16),
    lambda x: x[1, 2],
]


def outcome(lib: Any, x: Any, name: str) -> Any:
    try:
        y = x.view(getattr(lib, name))
    except RuntimeError as error:
        return type(error)
    bits = y.view(lib.int16) if name == "bfloat16" else y
    return tuple(y.shape), y.stride(), y.storage_offset(), np.asarray(bits).tobytes()


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("name", NAMES)
def test_view_dtype_matches_torch(name: str, backend: str) -> None:
    torch = pytest.importorskip("torch")
    array = np.random.default_rng(0).integers(0, 100, (4, 16))
    tensors = (
        mt.tensor(array, name, backend=backend),
        torch.tensor(array, dtype=getattr(torch, name)),
    )
    for layout in LAYOUTS:
        x, y = map(layout, tensors)
        for other in NAMES:
            our_view, their_view = outcome(mt, x, other), outcome(torch, y, other)
            if isinstance(their_view, type):
                assert issubclass(our_view, their_view), (name, other)
            else:
                assert our_view == their_view, (name, other)


def test_view_dtype_shares_memory() -> None:
    x = mt.tensor([1.0, -2.0, 3.0])
    bits = x.view(mt.int32)
    bits &= 0x7FFFFFFF  # all but the sign
    assert x.tolist() == [1, 2, 3]
    x[0] = -0.0
    assert bits[0].item() == -(2**31)
    assert bits.view(mt.float32).data_ptr() == bits.view(dtype=mt.int8).data_ptr() == x.data_ptr()
    x.copy_(bits.to(mt.float32))  # overlapping memory is read before it is written
    assert x[1].item() == 2.0**30


def test_in_place_change_through_dtype_view_makes_backward_raise() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    assert not x.view(mt.int32).requires_grad
    assert not x.view(mt.float32).requires_grad
    y = x * 1.0
    z = y.exp() * y
    y.view(mt.int32).zero_()
    with pytest.raises(mt.errors.InPlaceError, match="has been changed in place, so"):
        z.sum().backward()


def test_view_dtype_of_slice_ignores_bytes_after_it() -> None:
    x = mt.arange(5, dtype="int32")
    assert x[:4].view(mt.int64).tolist() == [2**32, 2 + 3 * 2**32]


def test_view_to_bool_raises_but_view_from_bool_works() -> None:
    with pytest.raises(mt.errors.DTypeError, match="as in x != 0"):
        mt.tensor([0, 1, 255], dtype="uint8").view(mt.bool_)
    assert mt.tensor([True, False]).view(mt.uint8).tolist() == [1, 0]


class ElsewhereOps(NumpyOps):
    """A backend whose elements NumPy cannot read."""

    name = "elsewhere"

    def from_host(self, array: Any) -> TensorData:
        return TensorData([array.reshape(-1)], array.shape, dtype=as_dtype(array.dtype))


def test_view_dtype_raises_for_backend_without_numpy_memory() -> None:
    mt.register_backend("elsewhere", ElsewhereOps)
    x = mt.tensor([1.0, 2.0], backend="elsewhere")
    with pytest.raises(mt.errors.ExchangeError, match=r"x.to\('numpy'\).view\(dtype\)"):
        x.view(mt.int32)
    for wrong in ("int32", float, None):
        with pytest.raises(TypeError, match="must be integers"):
            x.view(wrong)
