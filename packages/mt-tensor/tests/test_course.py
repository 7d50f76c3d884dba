"""The classes of the course: TensorData, the loops of `simple`, and TensorOps."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators.core.elementary import exp, maximum
from mt_tensor import errors
from mt_tensor.core.simple import SimpleOps, tensor_map, tensor_reduce, tensor_zip
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.course import TensorOps


def consecutive(*shape):
    return TensorData(list(range(int(np.prod(shape)))), shape)


# --- TensorData ---------------------------------------------------------------------------------


def test_tensor_data_of_list_is_row_major_float64():
    data = TensorData([1, 2, 3, 4, 5, 6], (2, 3))
    assert data.tuple()[1:] == ((2, 3), (3, 1))
    assert data.storage.tolist() == [1, 2, 3, 4, 5, 6]
    assert data.dtype is mt.float64
    assert (data.index((1, 0)), data.get((1, 0))) == (3, 4.0)
    data.set((0, 2), 9)
    assert data.storage.tolist() == [1, 2, 9, 4, 5, 6]
    assert data.is_contiguous()
    assert list(data.indices()) == [(i, j) for i in range(2) for j in range(3)]
    assert data.sample() in set(data.indices())
    assert TensorData.shape_broadcast((2, 1), (3,)) == (2, 3)


def test_tensor_data_shares_memory_and_dtype_of_array():
    row = np.arange(4, dtype=np.int16)
    data = TensorData(row, (2, 2))
    assert data.dtype is mt.int16
    data.set((1, 1), 7)
    assert row.tolist() == [0, 1, 2, 7]


def test_integer_index_requires_one_dimension():
    data = consecutive(4)
    assert data.index(2) == 2
    data.set(3, 8)
    assert data.get(3) == 8
    with pytest.raises(errors.IndexingError, match="outside a tensor of shape"):
        consecutive(2, 2).get(1)


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "expected"),
    [
        ((3, 2), (1, 3), 0, [[0, 3], [1, 4], [2, 5]]),
        ((2, 3), (0, 1), 1, [[1, 2, 3], [1, 2, 3]]),
        ((2, 2), (-3, -1), 5, [[5, 4], [2, 1]]),
        ((0, 9), (1, 1), 0, []),
        ((), (), 4, 4),
    ],
)
def test_tensor_data_with_strides_and_offset_reads_expected_elements(
    shape, strides, offset, expected
):
    data = TensorData(list(range(6)), shape, strides, offset)
    array = np.zeros(shape)
    for index in data.indices():
        array[index] = data.get(index)
    assert array.tolist() == expected
    order = tuple(reversed(range(len(shape))))
    assert data.permute(*order).shape == shape[::-1]
    assert data.permute(*order).permute(*order).tuple() == data.tuple()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: TensorData([1, 2], (3,)),
            errors.ShapeError,
            "spans positions 0 to 2, but the storage",
        ),
        (lambda: TensorData([1, 2], (2,), (-1,)), errors.ShapeError, "spans positions -1 to 0"),
        (lambda: TensorData([1, 2], (2,), (1, 1)), errors.ShapeError, "stride for each size"),
        (lambda: TensorData(np.ones((2, 2)), (4,)), errors.ShapeError, "must be 1-D"),
        (lambda: TensorData(["a"], (1,)), errors.DTypeError, "1-D list of numbers"),
        (lambda: TensorData([[1], [2, 3]], (1,)), errors.DTypeError, "1-D list of numbers"),
        (lambda: TensorData(np.array([1j]), (1,)), errors.DTypeError, "unsupported dtype"),
        (lambda: consecutive(2).get((2,)), errors.IndexingError, "outside"),
        (lambda: consecutive(2).permute(1), errors.IndexingError, "not a permutation"),
    ],
)
def test_tensor_data_rejects_bad_storage_strides_and_indices(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_to_string_prints_nested_rows():
    assert TensorData([1.5], ()).to_string() == "1.50"
    assert consecutive(2, 2).to_string() == "[[0.00 1.00]\n [2.00 3.00]]"
    assert consecutive(2, 1, 2).to_string() == "[[[0.00 1.00]]\n [[2.00 3.00]]]"
    assert consecutive(0).to_string() == "[]"


# --- The loops of `simple` ----------------------------------------------------------------------


def test_tensor_map_zip_and_reduce_read_and_write_views():
    data, out = consecutive(2, 3), consecutive(3, 2)
    tensor_map(lambda x: x + 0.5)(data.permute(1, 0), out)
    assert out.storage.tolist() == [0.5, 3.5, 1.5, 4.5, 2.5, 5.5]
    tensor_zip(lambda x, y: x * y)(out, data.permute(1, 0), out)
    assert out.get((2, 1)) == 5.5 * 5
    row = consecutive(1, 3)
    tensor_reduce(lambda x, y: x + y, 0.0)(data, row, (0,))
    assert row.storage.tolist() == [3, 5, 7]
    tensor_reduce(lambda total, x: 10 * total + x, 0.0)(data, row, (0,))
    assert row.storage.tolist() == [3, 14, 25]  # the total is the first argument
    tensor_reduce(lambda total, x: 10 * total + x, 1.0)(data, row, (0,))
    assert row.storage.tolist() == [103, 114, 125]
    tensor_reduce(max, None)(data, row, (0,))
    assert row.storage.tolist() == [3, 4, 5]  # without a start value, begins with the first element


# --- TensorOps ----------------------------------------------------------------------------------


@pytest.fixture(params=["simple", "numpy"])
def ops(request):
    with mt.use_backend(request.param):
        yield TensorOps()


def test_tensor_ops_accept_any_function(ops):
    x = mt.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True)
    y = mt.tensor([10.0, 20.0])
    assert ops.map(lambda a: 3 * a + 1)(x.T).tolist() == [[4, 10], [-5, 2.5]]
    np.testing.assert_allclose(ops.map(lambda a: exp(a) - 1)(y), np.exp([10, 20]) - 1, rtol=1e-6)
    assert ops.zip(lambda a, b: a + 2 * b)(x, y).tolist() == [[21, 38], [23, 40.5]]
    assert ops.zip(lambda a, b: a * b)(mt.tensor([2, 3]), y).tolist() == [20.0, 60.0]
    assert ops.reduce(lambda a, b: a + b)(x, 1).tolist() == [[-1], [3.5]]
    assert ops.reduce(maximum, -1e9)(x, 0).tolist() == [[3.0, 0.5]]
    assert ops.reduce(lambda a, b: a * b, 1.0)(mt.zeros(2, 0), -1).tolist() == [[1.0], [1.0]]
    assert ops.reduce(lambda a, b: a + b)(mt.tensor(4.0), 0).item() == 4.0
    assert ops.matrix_multiply(x, y).tolist() == [-30.0, 40.0]
    assert not ops.map(lambda a: a)(x).requires_grad


def test_map_on_simple_runs_python_branches():
    def collatz(x):
        return x // 2 if x % 2 == 0 else 3 * x + 1

    x = mt.tensor([6, 7], backend="simple")
    assert TensorOps(SimpleOps.name).map(collatz)(x).tolist() == [3, 22]


def test_tensor_ops_reject_bad_backend_type_shape_and_dim(ops):
    other = "numpy" if ops.backend.name == "simple" else "simple"
    with pytest.raises(errors.BackendMismatchError, match="move it with"):
        ops.map(lambda a: a)(mt.ones(2, backend=other))
    with pytest.raises(TypeError, match="takes tensors"):
        ops.zip(lambda a, b: a)(mt.ones(2), 3)
    with pytest.raises(errors.IndexingError, match="do not broadcast"):
        ops.zip(lambda a, b: a)(mt.ones(2), mt.ones(3))
    with pytest.raises(errors.IndexingError, match="out of range"):
        ops.reduce(lambda a, b: a)(mt.ones(2), 1)


# --- Many dimensions ----------------------------------------------------------------------------


def test_simple_supports_more_dimensions_than_numpy():
    shape = (1,) * 69 + (2,)
    x = mt.ones(2, backend="simple").view(shape)
    y = mt.arange(2, backend="simple").view(shape)
    assert (x + y).sum().item() == 3.0
    assert y.T[1].flatten().tolist() == [1]
    with pytest.raises(
        errors.ShapeError, match="70 dimensions cannot be converted to a NumPy array.*at most 64"
    ):
        x.numpy()
    with pytest.raises(errors.ShapeError, match="at most 64"):
        _ = x.to("numpy") + 1


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("backend", ["simple", "numpy"])
def test_map_of_integers_truncates_only_the_final_result(backend, dtype):
    ops = TensorOps(backend)
    x = mt.tensor([1, 3, 4], dtype=dtype, backend=backend)
    assert ops.map(lambda x: x * 0.5 + 0.5)(x).tolist() == [1, 2, 2]
