"""Exchange with Python, NumPy, DLPack and pickle; to(); assignment of grad and requires_grad."""

import copy
import gc
import operator
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError, NoGradientError
from mt_tensor import errors
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import DTYPES, as_dtype
from mt_tensor.core.tensor_data import TensorData, as_array
from mt_tensor.testing.specs import ARRAY_TYPES


class RemoteOps(TensorBackend):
    """A backend without operations, whose elements NumPy cannot access, as on a GPU."""

    name = "remote"
    empty = elementwise = reduce = matmul = gather = scatter = copy = None  # type: ignore[assignment]

    def from_host(self, array: npt.NDArray[Any]) -> TensorData:
        row = array.flatten()
        return TensorData([row], array.shape, dtype=as_dtype(array.dtype))

    def to_host(self, data: TensorData) -> npt.NDArray[Any]:
        return as_array(data.storage[0], data.layout).copy()


mt.register_backend("remote", RemoteOps)

LAYOUTS: list[Any] = [
    lambda x: x,
    lambda x: x.T,
    lambda x: x[1:, ::2],
    lambda x: x[1, 2],
    lambda x: x[:0],
    lambda x: x[:1].expand(2, 3, 4),
]


def grid(dtype: str = "float32", **options: Any) -> mt.Tensor:
    return mt.arange(12, dtype="float32").view(3, 4).to(dtype).to(**options)


# --- NumPy --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("layout", [*LAYOUTS, lambda x: x.flip(0, 1)])
@pytest.mark.parametrize("dtype", ARRAY_TYPES)
def test_numpy_arrays_share_memory(backend: str, layout: Any, dtype: str) -> None:
    x = layout(grid(dtype, backend=backend))
    for array in (np.asarray(x), x.numpy(), np.array(x, copy=False), np.array(x, copy=None)):
        assert array.dtype == x.dtype.numpy
        assert array.shape == x.shape
        assert array.tolist() == x.tolist()
        if array.size:
            assert np.shares_memory(array, x.numpy())
            assert array.__array_interface__["data"][0] == x.data_ptr()
    copied = np.array(x)
    assert copied.tolist() == x.tolist()
    assert not np.shares_memory(copied, x.numpy())
    assert np.asarray(x, dtype="float64").dtype == np.float64


def test_converting_bfloat16_to_and_from_numpy_raises_with_advice() -> None:
    x = grid("bfloat16")
    assert not hasattr(x, "__array_interface__")
    for read in (np.asarray, np.array, lambda x: x.numpy(), lambda x: np.ones(4) * x):
        with pytest.raises(TypeError, match=r"x\.float\(\)\.numpy\(\)|on the left of a tensor"):
            read(x)
    bits = np.zeros(3, mt.bfloat16.numpy)  # raw bits, which may mean anything
    for make in (mt.tensor, mt.as_tensor, mt.from_numpy):
        with pytest.raises(errors.DTypeError, match="unsupported dtype"):
            make(bits)


def test_array_keeps_the_memory_of_its_tensor_alive() -> None:
    array = np.asarray(mt.arange(1000))
    mt.zeros(1000)
    assert array.sum() == 499500


def test_array_method_copies_or_raises_as_numpy_does() -> None:
    x = grid()
    for copied in (x.__array__(copy=True), x.__array__(np.float64), x.__array__(None, True)):
        assert not np.shares_memory(copied, x.numpy())
    assert np.shares_memory(x.__array__(), x.numpy())
    with pytest.raises(ValueError, match="avoid copy"):
        np.array(x, dtype=np.int8, copy=False)
    remote = grid(backend="remote")
    assert np.asarray(remote).tolist() == x.tolist()
    assert not hasattr(remote, "__array_interface__")
    with pytest.raises(errors.ExchangeError, match="backend 'remote' stores them elsewhere"):
        np.array(remote, copy=False)
    leaf = grid().requires_grad_()
    assert not hasattr(leaf, "__array_interface__")
    for read in (np.asarray, np.array, lambda x: x.numpy()):
        with pytest.raises(NoGradientError, match=r"use x.detach\(\).numpy\(\)"):
            read(leaf)
    assert np.shares_memory(leaf.numpy(force=True), leaf.detach().numpy())
    assert (leaf * 2).numpy(force=True).sum() == 132


# --- DLPack -------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_round_trip_shares_memory(backend: str, layout: Any, dtype: str) -> None:
    x = layout(grid(dtype, backend=backend))
    assert x.__dlpack_device__() == (1, 0)
    back = mt.from_dlpack(x, backend)
    assert back.dtype is x.dtype
    assert back.backend is x.backend
    assert back.tolist() == x.tolist()
    assert back.data_ptr() == x.data_ptr()
    if dtype != "bfloat16":  # NumPy has no bfloat16
        assert np.from_dlpack(x).tolist() == x.tolist()
    torch = pytest.importorskip("torch")
    theirs = torch.from_dlpack(x)
    assert theirs.tolist() == x.tolist()
    assert mt.from_dlpack(theirs, backend).data_ptr() == x.data_ptr()


def test_from_dlpack_shares_memory_with_numpy() -> None:
    theirs = np.zeros((2, 3))
    ours = mt.from_dlpack(theirs.T)
    assert ours.stride() == (1, 3)
    ours[2, 0] = 5.0
    assert theirs.tolist() == [[0, 0, 5], [0, 0, 0]]
    del theirs
    gc.collect()
    assert ours.sum().item() == 5.0


def test_from_dlpack_shares_memory_with_torch() -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.zeros(2, 3)
    ours = mt.from_dlpack(theirs.T)
    ours[2, 0] = 5.0
    assert theirs.tolist() == [[0, 0, 5], [0, 0, 0]]
    again = torch.from_dlpack(ours)
    again[0, 1] = 7
    assert theirs[1, 0].item() == 7
    assert ours.stride() == (1, 3)
    remote = mt.from_dlpack(theirs, "remote")
    assert remote.tolist() == theirs.tolist()
    assert torch.from_dlpack(mt.arange(3).clone()).tolist() == [0, 1, 2]


class WithOptions:
    """A tensor that is exported with options that NumPy 2.0 cannot pass."""

    def __init__(self, x: mt.Tensor, **options: Any) -> None:
        self.x = x
        self.options = options

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(**{**options, **self.options})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dlpack_copy_option_selects_copying_or_sharing(layout: Any) -> None:
    base = grid()
    x = layout(base)
    before = x.tolist()
    shared = np.from_dlpack(WithOptions(x, copy=False, dl_device=(1, 0)))
    copied = np.from_dlpack(WithOptions(x, copy=True))
    base.neg_()
    assert shared.tolist() == x.tolist()
    assert copied.tolist() == before


class OnGPU:
    """An array that reports a GPU as its DLPack device."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **options: Any) -> Any:
        raise NotImplementedError


def test_dlpack_raises_for_unsupported_tensors_and_options() -> None:
    for x, message in (
        (grid().requires_grad_(), "export x.detach"),
        (grid(backend="remote"), "backend 'remote' stores them elsewhere"),
        (grid()[::-1], "negative strides"),
    ):
        with pytest.raises(errors.ExchangeError, match=message):
            x.__dlpack__()
    with pytest.raises(errors.ExchangeError, match="elsewhere"):
        grid(backend="remote").__dlpack_device__()
    with pytest.raises(errors.ExchangeError, match="no streams; stream=1"):
        grid().__dlpack__(stream=1)
    with pytest.raises(errors.ExchangeError, match=r"cannot be exported to DLPack device \(2, 0\)"):
        grid().__dlpack__(dl_device=(2, 0))
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    with pytest.raises(errors.ExchangeError, match="read-?only"):
        mt.from_dlpack(read_only)
    with pytest.raises(errors.ExchangeError, match=r"on DLPack device \(2, 0\)"):
        mt.from_dlpack(OnGPU())
    with pytest.raises(TypeError, match=r"with __dlpack__; \[1\] of type list"):
        mt.from_dlpack([1])
    with pytest.raises(errors.DTypeError, match="unsupported dtype"):
        mt.from_dlpack(np.zeros(2, complex))
    torch = pytest.importorskip("torch")
    with pytest.raises(errors.ExchangeError, match="cannot be shared"):
        mt.from_dlpack(torch.zeros(2, dtype=torch.float8_e5m2))
    with pytest.raises(errors.ExchangeError, match="cannot be shared"):
        mt.from_dlpack(torch.zeros(2, requires_grad=True))


# --- Copies and pickles -------------------------------------------------------------------------


def test_shallow_copy_shares_memory() -> None:
    x = mt.ones(2, 2, backend="simple", requires_grad=True)
    x.sum().backward()
    twin = copy.copy(x)
    assert twin is not x
    assert (twin.requires_grad, twin.is_leaf, twin.backend) == (True, True, x.backend)
    assert twin.grad is x.grad
    assert twin.data_ptr() == x.data_ptr()
    assert copy.copy(grid().T).stride() == (1, 4)
    with pytest.raises(NoGradientError, match=r"use x.detach\(\)"):
        copy.copy(x * 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pickle_and_deepcopy_keep_values_dtype_and_backend(layout: Any, dtype: str) -> None:
    for backend in ("numpy", "simple"):
        x = layout(grid(dtype, backend=backend))
        for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert twin.tolist() == x.tolist()
            assert twin.dtype is x.dtype
            assert twin.backend is x.backend
            assert not twin.requires_grad


# --- Python -------------------------------------------------------------------------------------


def test_conversions_to_numbers_len_iter_and_contains_match_torch() -> None:
    torch = pytest.importorskip("torch")
    for value in (2, -3.5, True, float("nan"), float("inf")):
        for make in (mt.tensor, torch.tensor):
            for shape in ((), (1,), (1, 1)):
                x: Any = make(value).reshape(shape)
                assert type(x.item()) is type(value)
                np.testing.assert_equal([float(x), complex(x), x.item()], [value] * 3)
                assert bool(x)
    for make in (mt.tensor, torch.tensor):
        for shape in ((), (1,)):
            assert operator.index(make(7).reshape(shape)) == 7
            assert operator.index(make(True).reshape(shape)) == 1
        for bad in (make(1.0), make([1, 2]), make([])):
            with pytest.raises(TypeError, match="ind"):
                operator.index(bad)
        for convert in (int, float, bool, lambda x: x.item()):
            for bad in (make([1.0, 2.0]), make([])):
                with pytest.raises((RuntimeError, ValueError)):
                    convert(bad)
        with pytest.raises(ValueError, match="NaN"):
            int(make(float("nan")))
        assert len(make([[1], [2]])) == 2
        for function in (len, iter, lambda x: [*x]):
            with pytest.raises(TypeError, match="0-d"):
                function(make(1))
        assert 2 in make([[1.0, 2.0]])
        assert 3 not in make([[1, 2]])
        assert make([1, 2]) in make([[3, 2]])
        assert 1 not in make([])
        for bad in ("a", [1], None):
            with pytest.raises((TypeError, RuntimeError)):
                assert bad in make([1])


def test_hash_is_by_identity() -> None:
    x, y = mt.ones(2), mt.ones(2)
    assert len({x, y, x}) == 2
    assert {x: 1}[x] == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_offsets_and_pointers_match_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = grid(dtype), torch.arange(12.0).view(3, 4).to(getattr(torch, dtype))
    for layout in LAYOUTS:
        x, y = layout(ours), layout(theirs)
        assert x.nbytes == y.nbytes
        assert x.itemsize == x.element_size() == y.element_size()
        assert x.storage_offset() == y.storage_offset()
        assert bool(x.data_ptr()) == bool(y.data_ptr())
        if x.numel():
            assert x.data_ptr() - ours.data_ptr() == y.data_ptr() - theirs.data_ptr()
    with pytest.raises(errors.ExchangeError, match=r"data_ptr\(\) needs"):
        grid(backend="remote").data_ptr()


# --- to -----------------------------------------------------------------------------------------


def test_to_takes_backend_dtype_or_both() -> None:
    x = grid()
    other = mt.ones(1, dtype="float64", backend="simple")
    for moved in (
        x.to("simple", "float64"),
        x.to("simple", dtype="float64"),
        x.to("float64", backend="simple"),
        x.to(dtype=mt.float64, backend=mt.get_backend("simple")),
        x.to(other),
    ):
        assert (moved.dtype, moved.backend) == (other.dtype, other.backend)
        assert moved.tolist() == x.tolist()
    assert x.to() is x.to("numpy") is x.to(mt.float32) is x.to(x) is x.to(dtype=None) is x
    twin = x.to("float32", copy=True)
    assert twin is not x
    assert twin.data_ptr() != x.data_ptr()
    assert x.to("int8", copy=True).tolist() == x.tolist()
    names = {"short": "int16", "char": "int8", "byte": "uint8", "long": "int64", "half": "float16"}
    assert all(getattr(x, name)().dtype.name == dtype for name, dtype in names.items())


def test_gradient_passes_through_to() -> None:
    x = grid().requires_grad_()
    (x.to(dtype="float64", backend="simple") * 2).sum().backward()
    assert x.grad is not None
    assert (x.grad.dtype, x.grad.backend) == (x.dtype, x.backend)
    assert x.grad.tolist() == [[2] * 4] * 3
    assert not x.to("simple", "int64").requires_grad


def test_to_with_repeated_or_unknown_targets_raises() -> None:
    x = grid()
    for call in (
        lambda: x.to("simple", backend="simple"),
        lambda: x.to("float64", "float32"),
        lambda: x.to(x, "float64"),
        lambda: x.to(x, backend="simple"),
    ):
        with pytest.raises(TypeError, match="twice"):
            call()
    with pytest.raises(errors.UnknownBackendError):
        x.to("gpu")
    with pytest.raises(errors.DTypeError, match="unsupported dtype"):
        x.to(dtype="float23")
    with pytest.raises(errors.DTypeError, match="unsupported dtype 3"):
        x.to(3)


# --- Assigning requires_grad and grad -----------------------------------------------------------


def test_requires_grad_rejects_the_same_values_as_torch() -> None:
    torch = pytest.importorskip("torch")
    for lib in (mt, torch):
        x = lib.ones(2)
        x.requires_grad = True
        y = x * 2
        for value in (True, False):
            with pytest.raises(RuntimeError, match="leaf variables|detach"):
                y.requires_grad = value
        assert y.requires_grad_() is y
        with pytest.raises(RuntimeError, match=r"detach\(\)"):
            y.requires_grad_(False)
        x.requires_grad = False
        assert not x.requires_grad
        for value in (1, None, "yes"):
            with pytest.raises((TypeError, RuntimeError)):
                x.requires_grad = value
            with pytest.raises(TypeError):
                x.requires_grad_(value)
        for dtype in (lib.int64, lib.bool_ if lib is mt else lib.bool):
            integers = lib.ones(2, dtype=dtype)
            integers.requires_grad = False
            with pytest.raises((TypeError, RuntimeError), match="floating"):
                integers.requires_grad = True
    with pytest.raises(TypeError, match="True or False; 1 was given"):
        mt.ones(2).requires_grad = 1  # type: ignore[assignment]


def test_grad_rejects_the_same_values_as_torch() -> None:
    torch = pytest.importorskip("torch")
    for lib in (mt, torch):
        x = lib.ones(2, requires_grad=True)
        x.grad = expected = lib.ones(2)
        assert x.grad is expected
        for bad in (1.0, [1.0, 1.0], lib.ones(3), lib.ones(1, 2), lib.ones(2).double(), x):
            with pytest.raises((TypeError, RuntimeError, ValueError)):
                x.grad = bad
            assert x.grad is expected
        x.grad = None
        assert x.grad is None


@pytest.mark.parametrize(
    ("grad", "error", "message"),
    [
        (1.0, TypeError, "1.0 of type float"),
        (mt.ones(3), errors.ShapeError, r"shape \(3,\); it must have the tensor's, \(2,\)"),
        (mt.ones(2, dtype="float64"), errors.DTypeError, "float64; it must be float32"),
        (mt.ones(2, backend="simple"), errors.BackendMismatchError, "'simple'; .* 'numpy'"),
    ],
)
def test_assigning_unsuitable_grad_raises_with_reason(
    grad: Any, error: type[Exception], message: str
) -> None:
    x = mt.ones(2, requires_grad=True, backend="numpy")
    with pytest.raises(error, match=message):
        x.grad = grad
    with pytest.raises(GradientError, match="its own gradient"):
        x.grad = x


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_deep_copies_share_memory_as_the_originals_do(backend: str) -> None:
    x = mt.arange(6.0, backend=backend)
    base, part, rows = copy.deepcopy([x, x[1:3], x.view(2, 3).T])
    part[0] = 9.0
    assert base.tolist() == [0, 9, 2, 3, 4, 5]
    assert rows.tolist() == [[0, 3], [9, 4], [2, 5]]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert copy.deepcopy(x[4:]).tolist() == [4, 5]
