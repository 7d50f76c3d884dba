"""In-place methods against torch: values, identity of the tensor, memory and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_tensor.core.dtype_rules import dtype_rules_of
from mt_tensor.errors import DomainError, DTypeError, InPlaceError, ShapeError

torch = pytest.importorskip("torch")

DTYPES = ("float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool")
TENSORS_ONLY = ("atan2", "gcd", "hypot", "lcm", "logical_and", "logical_or", "logical_xor")
"""Operators that take only tensors in torch."""

OTHER_NAMES = {**OPERATORS.aliases, "clip": "clamp"}
UNARY = [
    *(
        name
        for name, operator in OPERATORS.items()
        if dtype_rules_of(operator).in_place and operator.arity == 1
    ),
    *("deg2rad", "frac", "logit", "nan_to_num", "rad2deg", "reciprocal"),
]
BINARY = [
    *(
        name
        for name, operator in OPERATORS.items()
        if dtype_rules_of(operator).in_place and operator.arity == 2
    ),
    *("clamp", "heaviside", "ldexp"),
]
POINTWISE = [
    name
    for name in dict.fromkeys((*UNARY, *BINARY, *OTHER_NAMES))
    if name != "ldexp"  # torch rounds 2 ** other to the dtype of other
    and name != "sub"  # torch rejects bool as its second operand, too
    and hasattr(mt.Tensor, f"{name}_")
    and hasattr(torch.Tensor, f"{name}_")
]
ROWS, COLUMNS = (5, 3)


def numbers(dtype: str, seed: int = 0, low: int = 1) -> Any:
    values = np.random.default_rng(seed).integers(low, 7, (ROWS, COLUMNS))
    return values.astype(dtype) if not dtype.startswith("float") else (values / 4).astype(dtype)


def both(array: Any) -> tuple[Any, Any]:
    return mt.tensor(np.array(array)), torch.from_numpy(np.array(array))


def apply_in_place(tensor: Any, call: Callable[[Any], Any]) -> Any:
    """Return the elements after an in-place call, or None if it raised."""
    before = tensor.numpy().copy()
    try:
        assert call(tensor) is tensor
    except (TypeError, ValueError, RuntimeError, IndexError):
        unchanged = isinstance(tensor, torch.Tensor) or np.array_equal(tensor.numpy(), before)
        assert unchanged, "a call that raised has changed the tensor"
        return None
    return tensor.numpy().copy()


def compare_with_torch(array: Any, call: Callable[[Any, Any], Any]) -> bool:
    """Check that a call has the same effect or raises in both; return whether it succeeded."""
    ours, theirs = both(array)
    results = (
        apply_in_place(ours, lambda x: call(x, mt)),
        apply_in_place(theirs, lambda x: call(x, torch)),
    )
    assert (results[0] is None) == (results[1] is None), results
    if results[0] is None:
        return False
    assert results[0].dtype == array.dtype
    tolerance = {2: 2e-3, 4: 2e-6}.get(array.dtype.itemsize, 1e-12)
    np.testing.assert_allclose(
        results[0].astype("f8"), results[1].astype("f8"), tolerance, tolerance
    )
    return True


OPERANDS = (*DTYPES, 2, 0.5, True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_methods_match_torch(name: str, dtype: str) -> None:
    if dtype == "bool" and name in ("square", "pow"):
        return  # torch returns integers or raises
    array = numbers(dtype)
    operator = OTHER_NAMES.get(name, name)
    if operator in UNARY:
        compare_with_torch(array, lambda x, _: getattr(x, f"{name}_")())
        return
    for operand in OPERANDS:
        if operator in TENSORS_ONLY and not isinstance(operand, str):
            continue
        if isinstance(operand, str):
            other = numbers(operand, 1)[:1]
            compare_with_torch(
                array, lambda x, lib, o=other: getattr(x, f"{name}_")(tensor_of(lib, o))
            )
        else:
            compare_with_torch(array, lambda x, _, o=operand: getattr(x, f"{name}_")(o))


def tensor_of(library: Any, array: Any) -> Any:
    return mt.tensor(np.array(array)) if library is mt else torch.from_numpy(np.array(array))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_methods_match_torch(dtype: str) -> None:
    for name in ("add_", "sub_", "mul_", "div_", "multiply_", "subtract_", "true_divide_"):
        for operand in OPERANDS:
            if name in ("sub_", "subtract_") and operand in ("bool", True):
                continue  # torch rejects these
            if isinstance(operand, str):
                other = numbers(operand, 1)[:, :1]
                compare_with_torch(
                    numbers(dtype), lambda x, lib, n=name, o=other: getattr(x, n)(tensor_of(lib, o))
                )
            else:
                compare_with_torch(numbers(dtype), lambda x, _, n=name, o=operand: getattr(x, n)(o))
    for mode in ("floor", "trunc", None, "up"):
        compare_with_torch(numbers(dtype), lambda x, _, m=mode: x.div_(2, rounding_mode=m))


AUGMENTED_ASSIGNMENTS = (
    "__ifloordiv__",
    "__imod__",
    "__ipow__",
    "__iand__",
    "__ior__",
    "__ixor__",
    "__ilshift__",
    "__irshift__",
)
"""Augmented assignments that call a method of the same name."""


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize(
    "method", [*AUGMENTED_ASSIGNMENTS, "__iadd__", "__isub__", "__imul__", "__itruediv__"]
)
def test_augmented_assignments_match_torch(method: str, dtype: str) -> None:
    def call(x: Any, _: Any, operand: Any) -> Any:
        result = getattr(type(x), method)(x, operand)
        if result is NotImplemented:
            raise TypeError
        return result

    for operand in (2, 1.5, True, "2"):
        if operand is True and method in ("__isub__", "__ipow__"):
            continue  # torch rejects these, or changes nothing
        compare_with_torch(numbers(dtype), lambda x, lib, o=operand: call(x, lib, o))


@pytest.mark.parametrize("method", AUGMENTED_ASSIGNMENTS)
def test_augmented_assignments_return_the_same_tensor(method: str) -> None:
    x = mt.tensor([12, 7])
    original = x
    operator = method.strip("_").removeprefix("i")
    exec(f"x {SYMBOLS[operator]}= y", namespace := {"x": x, "y": np.int64(2)})
    assert namespace["x"] is original


SYMBOLS = {
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}

INDEX = [2, 0]
MASK = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 3 == 1


def index(library: Any) -> Any:
    return library.tensor(INDEX)


def source(x: Any, library: Any, *shape: int) -> Any:
    """Return distinct elements of the dtype of `x`."""
    array = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    return tensor_of(library, array.astype(x.numpy().dtype))


def expanded_index(library: Any) -> Any:
    return library.tensor(INDEX).expand(ROWS, 2)


OTHER_METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda x, _: x.cumsum_(0),
    "cumprod": lambda x, _: x.cumprod_(-1),
    "tril": lambda x, _: x.tril_(-1),
    "triu": lambda x, _: x.triu_(1),
    "masked_fill": lambda x, lib: x.masked_fill_(tensor_of(lib, MASK), 1),
    "masked_scatter": lambda x, lib: x.masked_scatter_(tensor_of(lib, MASK), source(x, lib, 5)),
    "masked_scatter, too few": lambda x, lib: x.masked_scatter_(
        tensor_of(lib, MASK), source(x, lib, 4)
    ),
    "masked_scatter, broadcast": lambda x, lib: x.masked_scatter_(
        tensor_of(lib, MASK[:1]), source(x, lib, 5)
    ),
    "masked_scatter, larger": lambda x, lib: x.masked_scatter_(
        tensor_of(lib, np.stack([MASK] * 2)), source(x, lib, 20)
    ),
    "index_add": lambda x, lib: x.index_add_(1, index(lib), source(x, lib, ROWS, 2)),
    "index_copy": lambda x, lib: x.index_copy_(1, index(lib), source(x, lib, ROWS, 2)),
    "index_copy, wrong shape": lambda x, lib: x.index_copy_(1, index(lib), source(x, lib, ROWS, 3)),
    "index_fill": lambda x, lib: x.index_fill_(0, index(lib), 1),
    "index_fill, tensor": lambda x, lib: x.index_fill_(-1, index(lib), source(x, lib)),
    "index_put": lambda x, lib: x.index_put_((index(lib), index(lib)), source(x, lib, 2)),
    "index_put, one": lambda x, lib: x.index_put_((index(lib),), source(x, lib)),
    "index_put, mask": lambda x, lib: x.index_put_((tensor_of(lib, MASK),), source(x, lib, 5)),
    "index_put, out of range": lambda x, lib: x.index_put_((index(lib) + 4,), source(x, lib)),
    "scatter": lambda x, lib: x.scatter_(1, expanded_index(lib), source(x, lib, ROWS, 2)),
    "scatter_add": lambda x, lib: x.scatter_add_(1, expanded_index(lib), source(x, lib, ROWS, 2)),
    "scatter_reduce": lambda x, lib: x.scatter_reduce_(
        1, expanded_index(lib), source(x, lib, ROWS, 2), "prod"
    ),
    "fill": lambda x, _: x.fill_(1),
    "zero": lambda x, _: x.zero_(),
    "copy": lambda x, lib: x.copy_(tensor_of(lib, np.array([-1.5, 2.5, 0.0]))),
    "copy, wrong shape": lambda x, lib: x.copy_(tensor_of(lib, np.zeros(2))),
    "fill_diagonal": lambda x, _: x.fill_diagonal_(1),
    "fill_diagonal, wrap": lambda x, _: x.fill_diagonal_(0, wrap=True),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool"])
@pytest.mark.parametrize("name", OTHER_METHODS)
def test_in_place_methods_that_are_not_operators_match_torch(name: str, dtype: str) -> None:
    if dtype == "int8" and name.startswith("copy"):
        return  # the result of converting a negative fraction is undefined
    applied = compare_with_torch(numbers(dtype, low=0), OTHER_METHODS[name])
    assert (
        applied
        or dtype == "bool"
        or name.rsplit(", ", maxsplit=1)[-1] in ("too few", "larger", "out of range", "wrong shape")
    )


def test_index_put_can_accumulate() -> None:
    for library in (mt, torch):
        x = library.zeros(3)
        x.index_put_((library.tensor([1, 1, 2]),), library.tensor([1.0, 2.0, 3.0]), accumulate=True)
        assert x.tolist() == [0.0, 3.0, 3.0]


@pytest.mark.parametrize("name", ["squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "t"])
def test_shape_methods_keep_tensor_and_memory(name: str) -> None:
    calls: dict[str, list[tuple[int, ...]]] = {
        "squeeze": [(), (1,), (0,)],
        "unsqueeze": [(0,), (-1,)],
        "t": [()],
    }
    for dims in calls.get(name, [(0, 1), (-1, 0)]):
        array = np.arange(6.0).reshape(2, 3) if name == "t" else np.arange(6.0).reshape(2, 1, 3)
        for tensor in both(array):
            detached = tensor.detach()
            assert getattr(tensor, f"{name}_")(*dims) is tensor
            expected = getattr(torch.from_numpy(array), name)(*dims)
            assert tuple(tensor.shape) == tuple(expected.shape)
            assert np.array_equal(tensor.numpy(), expected.numpy())
            tensor.fill_(7)  # the memory is still shared
            assert np.all(detached.numpy() == 7)


def test_overlapping_operand_is_read_before_it_is_written() -> None:
    for library in (mt, torch):
        x = library.arange(6.0)
        x[1:].pow_(2).sub_(x[:1])
        assert x.tolist() == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    x = mt.arange(4.0)
    x[1:].copy_(x[:-1])
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0]


LEAF = mt.ones(2, requires_grad=True)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (LEAF.exp_, InPlaceError, "requires grad"),
    (lambda: LEAF.unsqueeze_(0), InPlaceError, "requires grad"),
    (lambda: mt.ones(1).expand(2).exp_(), InPlaceError, "of its elements share memory"),
    (lambda: mt.tensor([1]).exp_(), DTypeError, "float32 cannot be stored in place in int64"),
    (lambda: mt.tensor([True]).pow_(2), DTypeError, "int64 cannot be stored in place in bool"),
    (lambda: mt.ones(2).pow_(mt.ones(3, 2)), ShapeError, r"shape \(3, 2\) cannot be stored"),
    (lambda: mt.ones(2, 2, 3).fill_diagonal_(1), ShapeError, "dimensions of equal size"),
    (lambda: mt.ones(2).random_(5, 5), DomainError, "5 and 5 were given"),
    (lambda: mt.ones(2).to("uint8").random_(-1, 3), DomainError, "both from 0 to 256"),
    (lambda: mt.ones(2).random_(2.5), TypeError, "2.5 of type float"),  # type: ignore[arg-type]
    (lambda: mt.ones(2).long().exponential_(), DTypeError, "floating-point"),
    (lambda: mt.ones(2).exponential_(0), DomainError, "positive; 0"),
    (lambda: mt.ones(2).exponential_("1"), TypeError, "lambd must be a number"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_invalid_in_place_call_raises_with_reason(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_gradients_through_in_place_methods_match_torch() -> None:
    grads = []
    for library in (mt, torch):
        x = library.tensor([0.5, 1.5, -2.0]).requires_grad_()
        y = library.tensor([1.0, 3.0]).requires_grad_()
        z = (x * 2).sin_().cumsum_(0)
        z.masked_scatter_(library.tensor([True, False, True]), y).pow_(2)
        z.index_fill_(0, library.tensor([2]), 4.0)
        z[:2].mul_(y).remainder_(2.5)
        (z * library.tensor([1.0, 2.0, 3.0])).sum().backward()
        grads.append([*x.grad.tolist(), *y.grad.tolist()])
    np.testing.assert_allclose(*grads, rtol=1e-5)


def test_leaf_can_be_changed_under_no_grad() -> None:
    x = mt.full((2,), 2.0, requires_grad=True)
    with mt.no_grad():
        assert x.pow_(3).tolist() == [8.0, 8.0]
        x //= 3
    assert x.tolist() == [2.0, 2.0]
    assert x.requires_grad
    assert x.is_leaf


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_draws_integers_from_its_range(dtype: str) -> None:
    mt.manual_seed(0)
    x = mt.empty(4000, dtype=dtype)
    assert x.random_(2) is x
    assert set(x.tolist()) == {0, 1}
    if dtype == "bool":
        return
    values, counts = np.unique(np.asarray(x.random_(3, 7)), return_counts=True)
    assert values.tolist() == [3, 4, 5, 6]
    assert np.all(abs(counts - 1000) < 150)
    theirs = torch.empty(4000, dtype=getattr(torch, dtype)).random_()
    ours = np.asarray(x.random_()).astype("f8")
    assert ours.min() >= 0
    assert 0.95 < ours.max() / theirs.double().max().item() < 1.05


def test_random_covers_the_range_of_int64() -> None:
    x = mt.empty(1000, dtype="int64").random_(-(2**63), 2**63 - 1)
    assert x.amin().item() < -(2**60)
    assert x.amax().item() > 2**60


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_exponential_has_mean_and_median_of_its_rate(dtype: str) -> None:
    mt.manual_seed(0)
    x = np.asarray(mt.empty(20000, dtype=dtype).exponential_(4)).astype("f8")
    assert x.min() >= 0
    assert abs(x.mean() - 0.25) < 0.01
    assert abs(np.mean(x > np.log(2) / 4) - 0.5) < 0.02


@pytest.mark.parametrize("name", ["t_", "squeeze_"])
def test_changing_the_shape_of_a_non_leaf_under_no_grad_raises(name: str) -> None:
    x = mt.ones(1, 3, requires_grad=True)
    y = x.sign()
    with mt.no_grad(), pytest.raises(InPlaceError, match="a tensor that is not a leaf"):
        getattr(y, name)()
    assert y.shape == (1, 3)
    getattr(y, name)()
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (1, 3)
    with mt.no_grad():
        assert getattr(x, name)() is x  # the shape of a leaf may change
