"""Tensors: creation, dtypes, views, differentiation, errors and attributes."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError, GraphFreedError, NoGradientError
from mt_operators import OPERATORS, OperatorExistsError
from mt_tensor import errors
from mt_tensor.core.dtypes import DTYPES
from mt_tensor.creation.formats import layout, memory_format

# --- Creation and dtypes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1.5, "float32", ()),
        (3, "int64", ()),
        (True, "bool", ()),
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        ([1, 2.5], "float32", (2,)),
        ([], "float32", (0,)),
        (np.zeros((2, 1), np.float64), "float64", (2, 1)),
        (np.float16(1), "float16", ()),
        (np.arange(3, dtype=np.uint8), "uint8", (3,)),
        (np.zeros(2, ">f4"), "float32", (2,)),
    ],
)
def test_tensor_infers_dtype_and_shape(data: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = mt.tensor(data)
    assert (x.dtype.name, x.shape) == (dtype, shape)
    assert np.array_equal(x, data)


def test_creation_rejects_invalid_data_dtype_and_shape() -> None:
    with pytest.raises(errors.ShapeError, match="equal lengths"):
        mt.tensor([[1, 2], [3]])
    with pytest.raises(errors.DTypeError, match="'a' of type"):
        mt.tensor(["a"])
    with pytest.raises(errors.DTypeError, match="must be numbers"):
        mt.tensor("a", dtype="float32")
    with pytest.raises(errors.DTypeError, match="complex"):
        mt.tensor(np.zeros(2, complex))
    with pytest.raises(errors.DTypeError, match="unsupported dtype 'float23'.*float16, float32"):
        mt.zeros(2, dtype="float23")
    with pytest.raises(errors.ShapeError, match="non-negative integers"):
        mt.zeros(2, -1)
    with pytest.raises(errors.DTypeError, match="only floating-point tensors"):
        mt.tensor([1, 2], requires_grad=True)


def test_creation_functions_return_expected_values() -> None:
    assert mt.arange(3).tolist() == [0, 1, 2]
    assert mt.arange(1, 2, 0.5).tolist() == [1.0, 1.5]
    assert mt.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert mt.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert mt.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert mt.full((2,), True).dtype is mt.bool_
    assert mt.zeros_like(mt.ones(2, dtype="int32")).dtype is mt.int32
    assert mt.full_like(mt.ones(2), 3).tolist() == [3, 3]
    with pytest.raises(errors.ShapeError, match="cannot reach 5 from 0 in steps of -1"):
        mt.arange(0, 5, -1)


def test_random_functions_follow_seed_and_distribution() -> None:
    mt.manual_seed(1)
    x = mt.rand(1000)
    assert 0 <= float(x.amin()) < 0.05
    assert 0.95 < float(x.amax()) < 1
    y = mt.randn(1000, dtype="float64")
    assert abs(float(y.mean())) < 0.2
    assert 0.8 < float(y.std()) < 1.2
    assert sorted(mt.randperm(5).tolist()) == [0, 1, 2, 3, 4]
    assert set(mt.randint(2, 4, (100,)).tolist()) == {2, 3}
    mt.manual_seed(1)
    assert np.array_equal(mt.rand(1000), x)
    with pytest.raises(errors.DomainError, match="low < high"):
        mt.randint(2, 2, (1,))


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (lambda: (mt.ones(2), 2), "float32"),
        (lambda: (mt.ones(2, dtype="int32"), 2), "int32"),
        (lambda: (mt.ones(2, dtype="int32"), 2.0), "float32"),
        (lambda: (mt.ones(2, dtype="bool"), 2), "int64"),
        (lambda: (mt.ones(2, dtype="float16"), 2.0), "float16"),
        (lambda: (mt.ones(2, dtype="float16"), mt.ones(2, dtype="int64")), "float16"),
        (lambda: (mt.ones(2, dtype="float16"), mt.ones((), dtype="float64")), "float16"),
        (lambda: (mt.ones(2, dtype="int8"), mt.ones((), dtype="float64")), "float64"),
        (lambda: (mt.ones(2, dtype="int8"), mt.ones(2, dtype="uint8")), "int16"),
        (lambda: (mt.ones((), dtype="int32"), 2.5), "float32"),
        (lambda: (mt.ones(2, dtype="float32"), mt.ones(2, dtype="float64")), "float64"),
        (lambda: (mt.ones(2, dtype="bfloat16"), 2), "bfloat16"),
        (lambda: (mt.ones(2, dtype="bfloat16"), mt.ones(2, dtype="float16")), "float32"),
        (lambda: (mt.ones(2, dtype="float32"), mt.ones(2, dtype="bfloat16")), "float32"),
        (lambda: (mt.ones(2, dtype="bfloat16"), mt.ones(2, dtype="float64")), "float64"),
        (lambda: (mt.ones(2, dtype="int64"), mt.ones(2, dtype="bfloat16")), "bfloat16"),
        (lambda: (mt.ones(2, dtype="bfloat16"), mt.ones(2, dtype="uint8")), "bfloat16"),
        (lambda: (mt.ones(2, dtype="bfloat16"), mt.ones(2, dtype="bool")), "bfloat16"),
    ],
)
def test_addition_promotes_dtypes(operands: Callable[[], tuple[Any, Any]], expected: str) -> None:
    x, y = operands()
    assert mt.result_type(x, y).name == expected
    assert (x + y).dtype.name == expected


def test_conversions_change_dtype_or_backend() -> None:
    x = mt.tensor([1.7, -2.7, 0.0])
    assert x.long().tolist() == [1, -2, 0]
    assert x.bool().tolist() == [True, True, False]
    assert x.double().dtype is mt.float64
    assert x.half().dtype is mt.float16
    assert x.int().float().dtype is mt.float32
    assert x.to(np.int8).dtype is mt.int8
    assert x.to(mt.ones(1, dtype="float64")).dtype is mt.float64
    assert x.type_as(mt.ones(1, dtype="int16")).dtype is mt.int16
    assert x.to("simple").backend.name == "simple"
    assert x.to("float32") is x
    assert not x.detach().requires_grad_().long().requires_grad
    with pytest.raises(errors.UnknownBackendError, match="no backend is called 'floot'"):
        x.to("floot")


def test_pickled_or_copied_dtype_is_the_same_object() -> None:
    for dtype in DTYPES.values():
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


def test_from_numpy_and_numpy_share_memory_and_tensor_copies() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = mt.from_numpy(array)
    array[0, 0] = 7
    assert x[0, 0].item() == 7
    assert np.shares_memory(x.T.numpy(), array)
    copied = mt.tensor(array)
    array[0, 0] = 8
    assert copied[0, 0].item() == 7
    assert np.asarray(x).dtype == np.float32
    for product in (np.float32(2) * x, x * np.int64(2)):
        assert isinstance(product, mt.Tensor)
        assert product.dtype is mt.float32
    assert mt.tensor([1, 2]).copy_(np.array([3, 4], ">i8")).tolist() == [3, 4]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_deepcopy_and_pickle_return_leaves_on_the_same_backend(duplicate: Any) -> None:
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], backend="simple", requires_grad=True)
    (x * x).sum().backward()
    copies = duplicate({"view": x.detach().T, "leaf": x, "again": x})
    assert copies["leaf"] is copies["again"]
    assert copies["leaf"].backend is x.backend
    assert copies["leaf"].requires_grad
    assert copies["leaf"].grad.tolist() == [[2, 4], [6, 8]]
    assert copies["view"].tolist() == [[1, 3], [2, 4]]
    with mt.no_grad():
        copies["leaf"].zero_()
    assert x.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(NoGradientError, match="can be copied or pickled"):
        duplicate(x * 2)


# --- Views ---------------------------------------------------------------------------------------


def test_data_ptr_of_an_empty_tensor_is_0() -> None:
    assert mt.zeros(0, 2).data_ptr() == 0


def test_tensor_of_the_constructor_does_not_require_grad() -> None:
    assert not mt.Tensor([1.0]).requires_grad
    assert not mt.Tensor(2, 3).requires_grad


def test_views_share_memory() -> None:
    x = mt.arange(6, dtype="float32").view(2, 3)
    x.T[0, 1] = 9.0
    x[:, 1:].mul_(10)
    assert x.tolist() == [[0, 10, 20], [9, 40, 50]]
    assert x.T.stride() == (1, 3)
    assert x[1:].storage_offset() == 3
    assert not x.T.is_contiguous()
    assert x.T.contiguous().is_contiguous()
    assert x[:, ::-1].stride() == (3, -1)
    assert (x.size(), x.size(-1), x.stride(0), len(x), x.dim(), x.numel()) == (
        (2, 3),
        3,
        3,
        2,
        2,
        6,
    )
    assert [row.tolist() for row in x] == x.tolist()


def test_in_place_change_of_overlapping_elements_raises_and_overlapping_copy_is_exact() -> None:
    with pytest.raises(errors.InPlaceError, match="of its elements share memory"):
        mt.zeros(5).unfold(0, 3, 1).add_(1)
    assert mt.zeros(6).unfold(0, 3, 3).add_(1).shape == (2, 3)
    for backend in ("numpy", "simple"):
        array = np.arange(4.0)
        mt.from_numpy(array[1:], backend).copy_(mt.from_numpy(array[:-1], backend))
        assert array.tolist() == [0, 0, 1, 2]


def test_0d_tensor_converts_to_number_and_is_no_sequence() -> None:
    x = mt.tensor(2.5)
    assert (float(x), int(x), bool(x), x.item()) == (2.5, 2, True, 2.5)
    assert [10, 20, 30][mt.tensor(1)] == 20
    with pytest.raises(TypeError, match="at least one dimension"):
        len(x)
    with pytest.raises(TypeError, match="cannot be iterated"):
        iter(x)
    with pytest.raises(TypeError, match="cannot be an index"):
        _ = [1, 2][x]
    with pytest.raises(errors.ShapeError, match="exactly one element"):
        mt.ones(2).item()
    with pytest.raises(errors.ShapeError, match=r"use x.any\(\)"):
        bool(mt.ones(2) > 0)


# --- Differentiation ----------------------------------------------------------------------------


def test_backward_accumulates_and_frees_graph() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()


def test_backward_of_several_elements_requires_gradient() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(
        NoGradientError, match=r"shape \(2,\) needs gradient=, one value per element"
    ):
        (x * 2).backward()
    with pytest.raises(errors.ShapeError, match=r"gradient has shape \(3,\)"):
        (x * 2).backward(mt.ones(3))
    (x * 2).backward(mt.tensor([1.0, 10.0]))
    assert x.grad is not None
    assert x.grad.tolist() == [2, 20]


def test_backward_no_grad_detach_and_numpy_follow_requires_grad() -> None:
    with pytest.raises(NoGradientError, match="without requires_grad"):
        mt.ones(1).backward()
    x = mt.ones(1, requires_grad=True)
    with mt.no_grad():
        assert not (x * 2).requires_grad
    assert not (x.detach() * 2).requires_grad
    assert not (x.requires_grad_(False) * 2).requires_grad
    with pytest.raises(NoGradientError, match="only applies to leaves"):
        (x.requires_grad_() * 2).requires_grad_(False)
    with pytest.raises(NoGradientError, match=r"detach\(\).numpy"):
        x.numpy()


def test_gradients_of_leaves_do_not_share_memory() -> None:
    x, y = mt.zeros(2, requires_grad=True), mt.zeros(2, requires_grad=True)
    mt.stack([x, y]).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    x.grad.add_(5)
    assert (x.grad.tolist(), y.grad.tolist()) == ([6, 6], [1, 1])


def test_gradient_has_dtype_of_its_leaf() -> None:
    x = mt.ones(2, dtype="float16", requires_grad=True)
    y = mt.ones(2, dtype="float64", requires_grad=True)
    (x * y).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.dtype, y.grad.dtype) == (mt.float16, mt.float64)


class WrongShape(mt.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor, factor: float) -> mt.Tensor:
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        return grad.sum(), None


def test_gradient_of_wrong_shape_raises_and_names_function() -> None:
    x = mt.ones(3, requires_grad=True)
    with pytest.raises(
        GradientError, match=r"'WrongShape'.*shape \(\) for a tensor of shape \(3,\)"
    ):
        WrongShape.apply(x, 2.0).sum().backward()


def test_gradcheck_finds_wrong_gradient() -> None:
    class Wrong(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: mt.Tensor) -> Any:
            return grad

    x = mt.tensor([3.0, 0.5], dtype="float64", requires_grad=True)
    with pytest.raises(GradientError, match=r"input 0 at index \(0,\) is 1.0.*1 of 4 differ"):
        mt.gradcheck(Wrong.apply, [x])


def test_function_without_forward_or_with_integer_result_raises() -> None:
    x = mt.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="static method forward"):
        mt.Function.apply(x)

    class Integers(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            return x.long()

    with pytest.raises(errors.DTypeError, match="Integers returned a tensor of int64"):
        Integers.apply(x)


def test_backward_raises_if_saved_tensor_was_changed_in_place() -> None:
    w, x = mt.ones(2, requires_grad=True), mt.tensor([3.0, 4.0])
    cases = [
        ((w * x).sum(), lambda: x.mul_(10)),
        ((w.view(1, 2) @ x.view(2, 1)).sum(), x[1:].zero_),
        ((y := w.exp()).sum(), lambda: y.detach().zero_()),
        (w.amax(), lambda: w.detach().add_(1)),
    ]
    for result, change in cases:
        change()
        with pytest.raises(errors.InPlaceError, match=r"has been changed in place, so.*clone\(\)"):
            result.backward()


def test_in_place_change_of_tensor_not_needed_by_backward_is_allowed() -> None:
    w, b = mt.ones(2, requires_grad=True), mt.ones(2, requires_grad=True)
    y = ((w + b) - 3.0).sum()
    with mt.no_grad():
        b.add_(1)
        w.add_(1)
    y.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [1, 1]


class WrongGradient(mt.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor, error: str) -> mt.Tensor:
        ctx.error = error
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        gradients = {"dtype": grad.double(), "number": 2.0, "backend": grad.to("simple")}
        return gradients[ctx.error], None


def test_gradient_of_other_dtype_is_converted_but_number_or_other_backend_raises() -> None:
    x = mt.ones(2, backend="numpy", requires_grad=True)
    WrongGradient.apply(x, "dtype").sum().backward()
    assert x.grad is not None
    assert x.grad.dtype is mt.float32
    for error in ("number", "backend"):
        with pytest.raises(GradientError, match="must be a tensor of backend 'numpy'"):
            WrongGradient.apply(x, error).sum().backward()


# --- Errors and attributes ----------------------------------------------------------------------


def test_wrong_mask_shape_and_zero_step_raise_and_flatten_accepts_empty_tensor() -> None:
    with pytest.raises(errors.IndexingError, match=r"must have shape \(5,\)"):
        mt.arange(5)[mt.tensor([True, False])]
    assert mt.zeros(0, 2, 3).flatten(1).shape == (0, 6)
    with pytest.raises(errors.DomainError, match="slice step cannot be zero"):
        mt.arange(5)[::0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mt.ones(6).view(2.0, 3), TypeError, r"must be integers; \(2.0, 3\)"),
        (lambda: mt.ones(1).expand(2.5), TypeError, "must be integers"),
        (lambda: mt.pad(mt.ones(2), (1.5, 1)), TypeError, "must be integers"),
        (lambda: mt.ones(2).sum("a"), TypeError, "a dimension must be an integer; 'a'"),
        (lambda: mt.ones(2).sum(0.0), TypeError, "a dimension must be an integer; 0.0"),
        (lambda: mt.tensor(1.0).unfold(0, 1, 1), errors.IndexingError, "at least one dimension"),
        (lambda: mt.tensor(1.0).narrow(0, 0, 1), errors.IndexingError, "at least one dimension"),
        (lambda: mt.tensor(1.0).gather(0, mt.tensor(0)), errors.IndexingError, "at least one"),
        (lambda: mt.arange(0, float("nan")), errors.ShapeError, "cannot reach nan"),
        (lambda: mt.linspace(0, 1, -3), errors.ShapeError, "non-negative number of steps"),
        (lambda: mt.eye(-2), errors.ShapeError, "non-negative integers"),
        (lambda: mt.manual_seed(-1), ValueError, "non-negative integer; -1"),
        (lambda: mt.where(mt.ones(2), 1.0, 0.0), errors.DTypeError, "must be bool; float32"),
    ],
)
def test_invalid_argument_raises_error_with_message(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_numpy_integers_are_accepted_as_dims_and_sizes() -> None:
    x = mt.ones(2, 3)
    assert x.sum(np.int64(1)).shape == (2,)
    assert x.view(np.int32(3), -1).shape == (3, 2)


def test_number_out_of_range_of_dtype_raises() -> None:
    for call in (
        lambda: mt.tensor(300, dtype="uint8"),
        lambda: mt.tensor(2**63),
        lambda: mt.full((2,), -1, dtype="uint8"),
        lambda: mt.zeros(2, dtype="int8").fill_(1e5),
        lambda: mt.zeros(2, dtype="int8").masked_fill(mt.zeros(2).bool(), float("inf")),
        lambda: mt.arange(2) + 2**64,
    ):
        with pytest.raises(errors.DTypeError, match="out of range for"):
            call()
    with pytest.raises(errors.DTypeError, match="at most 64 bits"):
        mt.tensor(2**70)


def test_mean_of_float16_does_not_overflow() -> None:
    assert mt.full((100,), 1000.0, dtype="float16").mean().item() == 1000.0


def test_adding_operator_with_name_of_method_raises() -> None:
    for name in ("sum", "shape", "derivative"):
        with pytest.raises(OperatorExistsError, match=name):
            OPERATORS.add(name, lambda x: x, lambda x, out: 1.0)


def test_no_grad_and_use_backend_decorators_work_in_several_threads() -> None:
    barrier = threading.Barrier(2)

    @mt.no_grad()
    @mt.use_backend("simple")
    def work() -> tuple[bool, str]:
        barrier.wait(5)
        return mt.is_grad_enabled(), mt.current_backend().name

    with ThreadPoolExecutor(2) as pool:
        assert {f.result() for f in [pool.submit(work) for _ in range(2)]} == {(False, "simple")}
        assert pool.submit(mt.is_grad_enabled).result()


def test_wrong_operands_and_unknown_names_raise_errors_that_name_them() -> None:
    assert mt.softmax(input=mt.zeros(2), dim=0).tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match=r"matmul\(\) takes tensors; 3 of type int"):
        mt.matmul(mt.ones(1), 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"cat\(\) takes tensors"):
        mt.cat([mt.ones(1), [1.0]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="add_\\(\\) takes a tensor or a number"):
        mt.ones(2).add_([1, 2])
    with pytest.raises(errors.DTypeError, match=r"sub\(\) is not defined on bool"):
        mt.zeros(2).bool().sub_(True)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'sofmax'"):
        mt.ones(2).sofmax(0)
    with pytest.raises(TypeError, match="unsupported operand"):
        mt.ones(2) + "a"  # type: ignore[operator]
    with pytest.raises(TypeError, match=r"maximum\(\) was given"):
        mt.ones(2).maximum(np.ones(2))
    with pytest.raises(TypeError, match=r"missing 1 required .*'other'"):
        mt.ones(2).maximum()
    with pytest.raises(TypeError, match="takes 2 argument"):
        mt.elementwise("maximum", mt.ones(2))
    with pytest.raises(errors.DTypeError, match="use logical_not"):
        _ = -(mt.ones(2) > 0)
    for name in ("abs", "relu", "floor", "ceil", "trunc", "round"):
        with pytest.raises(errors.DTypeError, match=rf"{name}\(\) is not defined on bool"):
            getattr(mt.ones(2) > 0, name)()
    with pytest.raises(errors.DTypeError, match="works on integers and bool"):
        _ = mt.ones(2) & mt.ones(2)
    for exponent in (-1, mt.tensor([2, -1])):
        with pytest.raises(errors.DTypeError, match="negative integer -1"):
            _ = mt.tensor([2, 3]) ** exponent
    assert mt.zeros(2, dtype=None).dtype is mt.rand(2, dtype=None).dtype is mt.float32
    mask = (mt.tensor([1.0, -1.0]) > 0) | ~(mt.tensor([1.0, 1.0]) > 0)
    assert mask.tolist() == [True, False]


def test_operator_methods_have_docstrings() -> None:
    assert mt.Tensor.tanh.__doc__ == "Element by element: the hyperbolic tangent."


def test_custom_attributes_are_copied_but_not_passed_to_results() -> None:
    x = mt.ones(2)
    x.tag = ["a"]
    assert not hasattr(x + 1.0, "tag")
    for duplicate in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert duplicate.tag == ["a"]
        assert duplicate.tag is not x.tag
    del x.tag
    assert not hasattr(x, "tag")


PREDICATES = """
    is_conj is_inference is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_pinned is_quantized
    is_shared is_sparse is_vulkan is_xpu
"""


@pytest.mark.parametrize("name", PREDICATES.split())
def test_predicate_of_unsupported_kind_of_tensor_is_false(name: str) -> None:
    value = getattr(mt.ones(2), name)
    assert (value() if callable(value) else value) is False


@pytest.mark.parametrize(
    "name", ["conj", "pin_memory", "resolve_conj", "share_memory_", "to_dense"]
)
def test_method_without_effect_returns_the_tensor(name: str) -> None:
    x = mt.ones(2)
    assert getattr(x, name)() is x


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_storage_returns_memory_shared_by_views(backend: str) -> None:
    x = mt.arange(6, backend=backend).view(2, 3)
    storage = x[1, 1:].storage()
    assert storage.tolist() == [0, 1, 2, 3, 4, 5]
    storage[0] = 9
    assert x[0, 0].item() == 9
    assert x.get_device() == -1


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "BoolTensor", "BFloat16Tensor"])
def test_legacy_tensor_types_create_check_and_convert(name: str) -> None:
    legacy_type = getattr(mt, name)
    x = legacy_type([1, 0])
    assert isinstance(x, legacy_type)
    assert not isinstance(x.double(), legacy_type)
    for target in (legacy_type, name, f"torch.{name}"):
        assert x.double().type(target).dtype is x.dtype


def test_is_contiguous_distinguishes_memory_formats() -> None:
    images = mt.ones(2, 3, 4, 5)
    assert images.layout is layout.strided
    channels_last = images.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    for x, is_last in ((images, False), (channels_last, True)):
        assert x.is_contiguous(memory_format=memory_format.contiguous_format) is not is_last
        assert x.is_contiguous(memory_format=memory_format.channels_last) is is_last
        assert not x.is_contiguous(memory_format=memory_format.channels_last_3d)
