"""Creation of tensors from data and by factory functions, compared with torch."""

import itertools
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core.dtypes import DTYPES


def assert_same(ours: mt.Tensor, theirs: Any, rtol: float = 0) -> None:
    assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=rtol, atol=rtol * 1e-3)


def torch_options(torch: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Replace the name of a dtype by torch's dtype."""
    return {k: getattr(torch, v) if k == "dtype" else v for k, v in options.items()}


# --- From data ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        1,
        True,
        0.5,
        [],
        [[], []],
        [1, 2.5],
        [True, 2],
        [True, 0.5],
        [[1, 2], [3.0, 4]],
        (1, (2)),
        range(3),
        [range(2), range(2)],
        np.float64(1),
        np.float16(1),
        np.int8(1),
        np.bool_(True),
        [np.float64(1)],
        [np.float32(1), 2],
        [np.float16(1), 2.0],
        [np.int8(1), np.int16(300)],
        [np.float32(1), np.float64(2)],
        [np.zeros(2), np.ones(2)],
        [np.zeros(2, "f4"), [1, 2]],
        [[np.zeros(2, "i4"), np.ones(2, "i4")]],
        np.zeros((2, 0), np.int32),
        [float("nan"), float("inf")],
        -(2**63),
    ],
)
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list:UserWarning")
def test_tensor_of_data_matches_torch(data: Any) -> None:
    torch = pytest.importorskip("torch")
    assert_same(mt.tensor(data), torch.tensor(data))
    assert_same(mt.as_tensor(data), torch.as_tensor(data))


def test_tensor_of_buffer_is_uint8() -> None:
    x = mt.tensor(memoryview(b"abc"))
    assert (x.dtype, x.tolist()) == (mt.uint8, [97, 98, 99])


def test_tensor_of_list_with_tensors_copies_values() -> None:
    one, two = mt.tensor(1.0, dtype="float64", requires_grad=True), mt.tensor(2)
    mixed = mt.tensor([[one, two], [3, True]])
    assert mixed.tolist() == [[1, 2], [3, 1]]
    assert mixed.dtype is mt.float64
    assert not mixed.requires_grad
    assert mt.tensor([mt.arange(2), mt.arange(2)]).shape == (2, 2)
    copied = mt.tensor(two.to("simple"))
    assert copied.backend.name == "simple"
    assert mt.tensor(one).requires_grad is False


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([[1, 2], [3]], errors.ShapeError, "equal lengths"),
        ([1, [2]], errors.ShapeError, "equal lengths"),
        ([[1], 2], errors.ShapeError, "equal lengths"),
        ([1, None], errors.DTypeError, "None of type NoneType"),
        ([1, "b"], errors.DTypeError, "'b' of type str"),
        ("12", errors.DTypeError, "'12' of type str"),
        (None, errors.DTypeError, "None of type NoneType"),
        ({1, 2}, errors.DTypeError, "of type set"),
        (1j, errors.DTypeError, "1j of type complex"),
        ([2**70], errors.DTypeError, "at most 64 bits"),
        ([2**63, -1], errors.DTypeError, "out of the range of int64"),
        ([2**63], errors.DTypeError, "out of range for int64"),
        (np.zeros(2, "U3"), errors.DTypeError, "unsupported dtype"),
        (np.zeros(2, "c8"), errors.DTypeError, "unsupported dtype"),
    ],
)
def test_tensor_rejects_ragged_and_non_numeric_data(
    data: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mt.tensor(data)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float16", "float64"])
def test_tensor_of_data_with_dtype_matches_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    for data in ([1.7, 0.0], [True, False], 3, np.array([1.7, 2.0])):
        ours = mt.tensor(data, dtype=dtype)
        assert_same(ours, torch.tensor(data, dtype=getattr(torch, dtype)))


def test_as_tensor_avoids_copies() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    assert mt.as_tensor(x) is x
    mt.as_tensor(x, dtype="float64").sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 1]
    assert mt.as_tensor(x, backend="simple").backend.name == "simple"
    array = np.zeros(3, np.float32)
    assert np.shares_memory(mt.as_tensor(array).numpy(), array)
    assert mt.as_tensor(array, dtype="float64").dtype is mt.float64
    assert mt.as_tensor(array, backend="simple").backend.name == "simple"
    assert mt.as_tensor([1, 2]).dtype is mt.int64
    assert mt.as_tensor(2.5, dtype=mt.int32).item() == 2


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::2],
        lambda a: a[::-1, 1:],
        lambda a: a[1, ::-2],
        lambda a: a[1, 1],
        lambda a: a[:, None],
    ],
)
def test_from_numpy_shares_memory_of_any_layout(view: Any, backend: str) -> None:
    base = np.arange(20, dtype=np.float32).reshape(4, 5)
    array = np.asarray(view(base)) if np.ndim(view(base)) else base[1:2, 1].reshape(())
    x = mt.from_numpy(array, backend)
    assert np.array_equal(x.numpy(), array)
    x.mul_(2)
    assert np.array_equal(x.numpy(), array)
    assert np.shares_memory(x.numpy(), base)
    assert base.sum() > 190


def test_from_numpy_copies_memory_it_cannot_share() -> None:
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    packed = np.zeros(3, [("a", "i1"), ("b", "f4")])["b"]
    for array in (fixed, np.arange(4, dtype=">f8"), packed, np.zeros((0, 3)), fixed[::2]):
        x = mt.from_numpy(array)
        assert np.array_equal(x.numpy(), array)
        assert not np.shares_memory(x.numpy(), array)
    mt.from_numpy(fixed).zero_()
    assert fixed.tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="takes a NumPy array; an object of type list was given"):
        mt.from_numpy([1, 2])  # type: ignore[arg-type]
    with pytest.raises(errors.DTypeError, match="unsupported dtype"):
        mt.from_numpy(np.zeros(2, complex))


# --- Factory functions --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_zeros_ones_and_empty_take_sizes_and_options(name: str, dtype: str) -> None:
    make = getattr(mt, name)
    for x in (make(2, 3, dtype=dtype), make((2, 3), dtype=dtype), make([2, 3], dtype=dtype)):
        assert (x.shape, x.dtype.name) == ((2, 3), dtype)
    assert make(2).dtype is make(2, dtype=None).dtype is mt.float32
    assert make(()).shape == ()
    like = getattr(mt, f"{name}_like")
    y = like(make(2, 3, dtype=dtype, backend="simple"))
    assert (y.shape, y.dtype.name, y.backend.name) == ((2, 3), dtype, "simple")
    z = like(x, dtype="float64", backend="simple", requires_grad=True)
    assert (z.shape, z.dtype, z.backend.name) == ((2, 3), mt.float64, "simple")
    assert z.requires_grad
    assert z.is_leaf
    with pytest.raises(TypeError, match="takes tensors"):
        like([1, 2])
    for bad in ((2.0,), (True,), (-1,), ("2",), ([2], 3), (mt.tensor(2),)):
        error = errors.ShapeError if bad == (-1,) else TypeError
        with pytest.raises(error, match="non-negative integers"):
            make(*bad)
    with pytest.raises(errors.DTypeError, match="only floating-point"):
        make(2, dtype="int64", requires_grad=True)


def test_full_and_full_like_match_torch() -> None:
    torch = pytest.importorskip("torch")
    for value, dtype in itertools.product((1, 2.5, True), (None, "int64", "float16", "bool")):
        theirs = torch.full((2,), value, dtype=dtype and getattr(torch, dtype))
        assert_same(mt.full((2,), value, dtype), theirs)
    assert mt.full((2,), mt.tensor(3, dtype="int8")).dtype is mt.int8
    assert mt.full((), np.float32(2)).item() == 2
    assert mt.full_like(mt.ones(2, dtype="int32"), 2.5).tolist() == [2, 2]
    with pytest.raises(errors.ShapeError, match="as a sequence"):
        mt.full(3, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fill_value must be a number; 'a'"):
        mt.full((3,), "a")
    with pytest.raises(errors.DTypeError, match="out of range for uint8"):
        mt.full((3,), 300, dtype="uint8")


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((5,), {}),
        ((0,), {}),
        ((2.5,), {}),
        ((1, 5), {}),
        ((3, 3), {}),
        ((5, 0, -2), {}),
        ((-3, 3, 2), {}),
        ((0, 1, 0.1), {}),
        ((1, 0, -0.3), {}),
        ((0.5, 5.2, 1.7), {"dtype": "int64"}),
        ((5,), {"dtype": "float16"}),
        ((0, 5, 0.5), {"dtype": "float64"}),
        ((127,), {"dtype": "int8"}),
        ((2**53, 2**53 + 3), {}),
        ((), {"end": 3}),
        ((True,), {}),
    ],
)
def test_arange_matches_torch(args: Any, options: Any) -> None:
    torch = pytest.importorskip("torch")
    assert_same(
        mt.arange(*args, **options), torch.arange(*args, **torch_options(torch, options)), 1e-6
    )


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((5, 0), {}),
        ((0, 5, -1), {}),
        ((0, 5, 0), {}),
        ((3, 3, 0), {}),
        ((0, 5, 0.5), {"dtype": "int64"}),
        ((0, float("inf")), {}),
        ((float("nan"),), {}),
        ((2,), {"dtype": "bool"}),
        (("a",), {}),
        ((), {}),
    ],
)
def test_arange_raises_where_torch_raises(args: Any, options: Any) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        torch.arange(*args, **torch_options(torch, options))
    with pytest.raises((errors.TensorError, TypeError)):
        mt.arange(*args, **options)


def test_arange_raises_where_dtype_would_overflow() -> None:
    assert mt.arange(256, dtype="uint8")[-1].item() == 255
    with pytest.raises(errors.DTypeError, match="299 is out of range for uint8"):
        mt.arange(300, dtype="uint8")


@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((0, 1, 5), {}),
        ((1, -1, 4), {}),
        ((0, 3, 1), {}),
        ((0, 3, 0), {}),
        ((0.0, 3, 4), {"dtype": "int64"}),
        ((-2.5, 2.5, 7), {"dtype": "float64"}),
        ((0, 1, 3), {"dtype": "float16"}),
    ],
)
def test_linspace_and_logspace_match_torch(name: str, args: Any, options: Any) -> None:
    torch = pytest.importorskip("torch")
    theirs = getattr(torch, name)(*args, **torch_options(torch, options))
    assert_same(getattr(mt, name)(*args, **options), theirs, 1e-3 if "16" in str(options) else 1e-6)
    for bad in ((0, 1, -1), (0, 1, 2.5)):
        error = RuntimeError if bad[2] == -1 else TypeError
        for library in (torch, mt):
            with pytest.raises(error, match="steps"):
                getattr(library, name)(*bad)
    with pytest.raises(errors.DTypeError, match="not support dtype=bool"):
        getattr(mt, name)(0, 1, 2, dtype="bool")


@pytest.mark.parametrize("steps", [2, 5, 6, 11, 40])
def test_linspace_is_symmetric(steps: int) -> None:
    spaced = mt.linspace(-1, 1, steps, dtype="float64").numpy()
    np.testing.assert_array_equal(spaced, -spaced[::-1])
    assert mt.linspace(0, 2, 6, dtype="float64").tolist() == [0.0, 0.4, 0.8, 1.2, 1.6, 2.0]


def test_logspace_takes_a_base() -> None:
    assert mt.logspace(0, 3, 4, base=2).tolist() == [1, 2, 4, 8]
    assert mt.logspace(0, 3, 4, 2, dtype="int32").tolist() == [1, 2, 4, 8]


@pytest.mark.parametrize("sizes", [(2,), (2, 3), (3, 2), (0,), (0, 2)])
def test_eye_matches_torch(sizes: Any) -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("float32", "int64", "bool", "float16"):
        assert_same(mt.eye(*sizes, dtype=dtype), torch.eye(*sizes, dtype=getattr(torch, dtype)))
    with pytest.raises(TypeError, match="non-negative integers"):
        mt.eye(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: mt.zeros(2, **options),
        lambda **options: mt.ones(2, **options),
        lambda **options: mt.empty(2, **options),
        lambda **options: mt.full((2,), 1.0, **options),
        lambda **options: mt.tensor([1.0], **options),
        lambda **options: mt.arange(2.0, **options),
        lambda **options: mt.linspace(0, 1, 2, **options),
        lambda **options: mt.logspace(0, 1, 2, **options),
        lambda **options: mt.eye(2, **options),
        lambda **options: mt.rand(2, **options),
        lambda **options: mt.randn(2, **options),
    ],
)
def test_factory_functions_take_the_same_options(make: Any) -> None:
    x = make(dtype="float64", backend="simple", requires_grad=True)
    assert (x.dtype, x.backend.name, x.requires_grad, x.is_leaf) == (
        mt.float64,
        "simple",
        True,
        True,
    )
    with mt.use_backend("simple"):
        assert make().backend.name == "simple"
    assert isinstance(make(backend=mt.get_backend("numpy")).backend, NumpyOps)
    with pytest.raises(errors.UnknownBackendError, match="no backend is called"):
        make(backend="nowhere")


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
@pytest.mark.parametrize("args", [(3, 4), (4, 2, 1), (2, 3, -1), (0, 3), (3, 0), (3, 3, 9)])
def test_tril_and_triu_indices_match_torch(name: str, args: Any) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(mt, name)(*args), getattr(torch, name)(*args)
    assert ours.dtype is mt.int64
    assert ours.shape == tuple(theirs.shape)
    assert ours.tolist() == theirs.tolist()
    assert getattr(mt, name)(*args, dtype="int32", backend="simple").tolist() == theirs.tolist()


def test_tril_and_triu_indices_reject_bad_dtype_and_size() -> None:
    with pytest.raises(mt.errors.DTypeError, match="int32 and int64; dtype=float32"):
        mt.tril_indices(2, 2, dtype="float32")
    with pytest.raises(mt.errors.ShapeError, match="non-negative"):
        mt.triu_indices(2, -2)


def test_factory_functions_agree_between_backends() -> None:
    factories = (
        lambda backend: mt.full((2, 3), 1.5, backend=backend),
        lambda backend: mt.arange(1, 9, 3, backend=backend),
        lambda backend: mt.linspace(0, 1, 7, backend=backend),
        lambda backend: mt.logspace(0, 1, 7, backend=backend),
        lambda backend: mt.eye(2, 3, backend=backend),
        lambda backend: mt.ones_like(mt.zeros(3, dtype="int8", backend=backend)),
    )
    for make in factories:
        x, y = make("simple"), make("numpy")
        assert x.backend is mt.get_backend("simple")
        assert x.dtype is y.dtype
        assert x.tolist() == y.tolist()
        assert repr(x) == repr(y)
    assert mt.empty(2, 0, backend="simple").shape == (2, 0)
