"""uint16, uint32 and uint64: what they are promoted with, and what only the last of them holds."""

import itertools
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import DTYPES, DType, as_dtype
from mt_tensor.core.simple import SimpleOps

TOP = 2**64 - 1
X = mt.tensor([TOP, 1], dtype="uint64")


def outcome(library: Any, *operands: Any) -> str:
    """Return the name of the type that operands are promoted to, or that they are refused."""
    made = [each(library) if callable(each) else each for each in operands]
    try:
        return str(library.result_type(*made)).rpartition(".")[2]
    except RuntimeError:
        return "refused"


def of(name: str, shape: tuple[int, ...]) -> Any:
    return lambda library: library.zeros(shape, dtype=getattr(library, name))


def test_types_are_promoted_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for first, second in itertools.product(DTYPES, repeat=2):
        for shapes in itertools.product([(), (2,)], repeat=2):
            operands = of(first, shapes[0]), of(second, shapes[1])
            assert outcome(mt, *operands) == outcome(torch, *operands), (first, second, shapes)
        for number in (True, 2, 2.5):
            operands = of(first, (2,)), number
            assert outcome(mt, *operands) == outcome(torch, *operands), (first, number)


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_unsigned_types_meet_floats_alone(name: str) -> None:
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
def test_arrays_share_their_memory(name: str) -> None:
    array = np.array([[1, 2], [3, np.iinfo(name).max]], name)
    x = mt.from_numpy(array.T)
    x[0, 0] = 7
    assert (array[0, 0], x[1, 1].item()) == (7, np.iinfo(name).max)
    assert np.shares_memory(np.asarray(x), array)
    assert np.shares_memory(np.asarray(mt.from_dlpack(array)), array)


class Narrow(SimpleOps):
    """A backend that does not have all element types, and says so."""

    full = TensorBackend.full  # by what it holds data with

    def empty(self, shape: Any, dtype: DType) -> Any:
        self.check(dtype)
        return super().empty(shape, dtype)

    def from_host(self, array: Any) -> Any:
        self.check(as_dtype(array.dtype))
        return super().from_host(array)

    def check(self, dtype: DType) -> None:
        if dtype.kind == "integer" and not dtype.is_signed:
            raise errors.DTypeError(f"narrow has signed integers; {dtype.name} was given.")


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
def test_a_backend_without_a_type_says_so_in_one_line(make: Any) -> None:
    """It is its own sentence, not one from the depths, wherever such elements would come about."""
    backend = Narrow()
    assert mt.ones(2, backend=backend).tolist() == [1, 1]
    with pytest.raises(errors.DTypeError, match="^narrow has signed integers; uint16 was given.$"):
        make(backend)


def test_numbers_beyond_int64() -> None:
    assert mt.tensor([1, 2**63 + 1], dtype="uint64").tolist() == [1, 2**63 + 1]
    assert mt.tensor(np.uint64(TOP)).item() == TOP
    assert mt.full((1,), TOP, dtype="uint64").tolist() == [TOP]
    assert mt.arange(TOP - 1, TOP + 1, dtype="uint64").tolist() == [TOP - 1, TOP]
    assert mt.arange(TOP, TOP - 3, -2, dtype="uint64").tolist() == [TOP, TOP - 2]
    assert (X == TOP).tolist() == [True, False]
    assert (X - (TOP - 4)).tolist() == [4, 6]  # it wraps around
    assert repr(X).startswith("tensor([18446744073709551615,                    1],")
    for refused in ([-1, 2**63], [1, 2**64]):
        with pytest.raises(errors.DTypeError):
            mt.tensor(refused, dtype="uint64")
    with pytest.raises(errors.DTypeError, match="out of range for uint64"):
        _ = X + 2**64
    with pytest.raises(errors.DTypeError, match="out of range for int64"):
        _ = X.long() + 2**63


def test_random_numbers_beyond_int64() -> None:
    drawn = mt.randint(TOP - 1, TOP + 1, (40,), dtype="uint64")
    assert set(drawn.tolist()) == {TOP - 1, TOP}
    filled = mt.empty(200, dtype="uint64").random_()
    assert max(filled.tolist()) > 2**63
    assert min(mt.empty(40, dtype="uint64").random_(TOP - 3, TOP).tolist()) >= TOP - 3


@pytest.mark.parametrize(
    "index",
    [
        lambda x: x[X],
        lambda x: x[np.array([TOP], np.uint64)],
        lambda x: x[[TOP]],
        lambda x: x.index_select(0, X),
        lambda x: mt.unravel_index(X, (2, 2)),
    ],
)
def test_no_index_wraps_around(index: Any) -> None:
    """In int64 the largest number is -1, the last element."""
    with pytest.raises(errors.IndexingError, match=f"{TOP} is out of range"):
        index(mt.arange(4))
    assert mt.arange(4)[X[1:]].tolist() == [1]


def test_counts_of_numbers_that_are_too_large() -> None:
    with pytest.raises(errors.ShapeError, match="more elements than this machine"):
        X.bincount()
