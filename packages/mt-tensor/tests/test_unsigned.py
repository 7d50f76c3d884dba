"""uint16, uint32 and uint64: promotion, shared memory, missing support, and large numbers."""

import itertools
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import DTYPES, DType, as_dtype
from mt_tensor.core.simple import SimpleOps

MAX = 2**64 - 1
X = mt.tensor([MAX, 1], dtype="uint64")


def outcome(library: Any, *operands: Any) -> str:
    """Return the name of the dtype that operands are promoted to, or "error"."""
    values = [operand(library) if callable(operand) else operand for operand in operands]
    try:
        return str(library.result_type(*values)).rpartition(".")[2]
    except RuntimeError:
        return "error"


def zeros_of(name: str, shape: tuple[int, ...]) -> Any:
    return lambda library: library.zeros(shape, dtype=getattr(library, name))


def test_result_type_matches_torch() -> None:
    torch = pytest.importorskip("torch")
    for first, second in itertools.product(DTYPES, repeat=2):
        for shapes in itertools.product([(), (2,)], repeat=2):
            operands = zeros_of(first, shapes[0]), zeros_of(second, shapes[1])
            assert outcome(mt, *operands) == outcome(torch, *operands), (first, second, shapes)
        for number in (True, 2, 2.5):
            operands = zeros_of(first, (2,)), number
            assert outcome(mt, *operands) == outcome(torch, *operands), (first, number)


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_unsigned_dtypes_promote_with_floats_only(name: str) -> None:
    dtype = DTYPES[name]
    for other in DTYPES.values():
        if other.is_floating_point or other is dtype:
            assert mt.promote_types(dtype, other) is other
            continue
        for pair in ((dtype, other), (other, dtype)):
            with pytest.raises(errors.DTypeError, match="not promoted to a common type"):
                mt.promote_types(*pair)
        with pytest.raises(errors.DTypeError, match=r"convert one of the two, as in x.long\(\)"):
            mt.ones(2, dtype=dtype) + mt.ones(2, dtype=other)
    assert (mt.ones(2, dtype=dtype) + 1).dtype is dtype


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_unsigned_arrays_share_memory(name: str) -> None:
    array = np.array([[1, 2], [3, np.iinfo(name).max]], name)
    x = mt.from_numpy(array.T)
    x[0, 0] = 7
    assert (array[0, 0], x[1, 1].item()) == (7, np.iinfo(name).max)
    assert np.shares_memory(np.asarray(x), array)
    assert np.shares_memory(np.asarray(mt.from_dlpack(array)), array)


class SignedOnly(SimpleOps):
    """A backend without unsigned dtypes."""

    full = TensorBackend.full  # calls from_host

    def empty(self, shape: Any, dtype: DType) -> Any:
        self.check(dtype)
        return super().empty(shape, dtype)

    def from_host(self, array: Any) -> Any:
        self.check(as_dtype(array.dtype))
        return super().from_host(array)

    def check(self, dtype: DType) -> None:
        if dtype.kind == "integer" and not dtype.is_signed:
            raise errors.DTypeError(f"only signed integers are supported; {dtype.name} was given.")


@pytest.mark.parametrize(
    "make",
    [
        lambda backend: mt.zeros(2, dtype="uint16", backend=backend),
        lambda backend: mt.tensor([1, 2], dtype="uint16", backend=backend),
        lambda backend: mt.as_tensor(np.ones(2, np.uint16), backend=backend),
        lambda backend: mt.from_numpy(np.ones(2, np.uint16), backend=backend),
        lambda backend: mt.ones(2, dtype="uint16").to(backend),
        lambda backend: mt.ones(2, backend=backend).to("uint16"),
        lambda backend: mt.full((2,), 3, dtype="uint16", backend=backend),
        lambda backend: mt.arange(3, dtype="uint16", backend=backend),
    ],
)
def test_missing_dtype_raises_error_of_backend(make: Any) -> None:
    """Every function that creates a tensor raises the backend's own message."""
    backend = SignedOnly()
    assert mt.ones(2, backend=backend).tolist() == [1, 1]
    message = "^only signed integers are supported; uint16 was given.$"
    with pytest.raises(errors.DTypeError, match=message):
        make(backend)


def test_uint64_holds_numbers_beyond_int64() -> None:
    assert mt.tensor([1, 2**63 + 1], dtype="uint64").tolist() == [1, 2**63 + 1]
    assert mt.tensor(np.uint64(MAX)).item() == MAX
    assert mt.full((1,), MAX, dtype="uint64").tolist() == [MAX]
    assert mt.arange(MAX - 1, MAX + 1, dtype="uint64").tolist() == [MAX - 1, MAX]
    assert mt.arange(MAX, MAX - 3, -2, dtype="uint64").tolist() == [MAX, MAX - 2]
    assert (X == MAX).tolist() == [True, False]
    assert (X - (MAX - 4)).tolist() == [4, 6]  # it wraps around
    assert repr(X).startswith("tensor([18446744073709551615,                    1],")
    for values in ([-1, 2**63], [1, 2**64]):
        with pytest.raises(errors.DTypeError):
            mt.tensor(values, dtype="uint64")
    with pytest.raises(errors.DTypeError, match="out of range for uint64"):
        _ = X + 2**64
    with pytest.raises(errors.DTypeError, match="out of range for int64"):
        _ = X.long() + 2**63


def test_random_uint64_numbers_may_exceed_int64() -> None:
    drawn = mt.randint(MAX - 1, MAX + 1, (40,), dtype="uint64")
    assert set(drawn.tolist()) == {MAX - 1, MAX}
    filled = mt.empty(200, dtype="uint64").random_()
    assert max(filled.tolist()) > 2**63
    assert min(mt.empty(40, dtype="uint64").random_(MAX - 3, MAX).tolist()) >= MAX - 3


@pytest.mark.parametrize(
    "index",
    [
        lambda x: x[X],
        lambda x: x[np.array([MAX], np.uint64)],
        lambda x: x[[MAX]],
        lambda x: x.index_select(0, X),
        lambda x: mt.unravel_index(X, (2, 2)),
    ],
)
def test_uint64_index_does_not_wrap_around(index: Any) -> None:
    """As int64, the largest uint64 would be -1, which is the last element."""
    with pytest.raises(errors.IndexingError, match=f"{MAX} is out of range"):
        index(mt.arange(4))
    assert mt.arange(4)[X[1:]].tolist() == [1]


def test_bincount_of_too_large_numbers_raises() -> None:
    with pytest.raises(errors.ShapeError, match="more elements than this machine"):
        X.bincount()
