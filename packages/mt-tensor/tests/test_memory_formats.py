"""memory_format=, layout= and pin_memory=: strides compared with torch, and errors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.creation.formats import layout, memory_format

FACTORIES: dict[str, Any] = {
    "zeros": lambda **options: mt.zeros(2, 3, **options),
    "ones": lambda **options: mt.ones(2, 3, **options),
    "empty": lambda **options: mt.empty(2, 3, **options),
    "full": lambda **options: mt.full((2, 3), 7, **options),
    "rand": lambda **options: mt.rand(2, 3, **options),
    "randn": lambda **options: mt.randn(2, 3, **options),
    "randint": lambda **options: mt.randint(9, (2, 3), **options),
    "randperm": lambda **options: mt.randperm(4, **options),
    "normal": lambda **options: mt.normal(0.0, 1.0, (2, 3), **options),
    "arange": lambda **options: mt.arange(4, **options),
    "linspace": lambda **options: mt.linspace(0, 1, 4, **options),
    "logspace": lambda **options: mt.logspace(0, 1, 4, **options),
    "eye": lambda **options: mt.eye(3, **options),
    "tril_indices": lambda **options: mt.tril_indices(3, 3, **options),
    "tensor": lambda **options: mt.tensor([1.0, 2.0], **options),
    "zeros_like": lambda **options: mt.zeros_like(mt.ones(3), **options),
    "ones_like": lambda **options: mt.ones_like(mt.ones(3), **options),
    "empty_like": lambda **options: mt.empty_like(mt.ones(3), **options),
    "full_like": lambda **options: mt.full_like(mt.ones(3), 7, **options),
    "rand_like": lambda **options: mt.rand_like(mt.ones(3), **options),
    "randn_like": lambda **options: mt.randn_like(mt.ones(3), **options),
    "randint_like": lambda **options: mt.randint_like(mt.ones(3), 9, **options),
    "new_zeros": lambda **options: mt.ones(3).new_zeros(2, **options),
    "new_ones": lambda **options: mt.ones(3).new_ones(2, **options),
    "new_empty": lambda **options: mt.ones(3).new_empty(2, **options),
    "new_full": lambda **options: mt.ones(3).new_full((2,), 7, **options),
    "new_tensor": lambda **options: mt.ones(3).new_tensor([1, 2], **options),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_layout_and_pin_memory_are_checked_and_do_not_change_the_result(name: str) -> None:
    make = FACTORIES[name]
    for options in ({"pin_memory": True}, {"pin_memory": False, "layout": layout.strided}):
        mt.manual_seed(0)
        result = make(**options)
        mt.manual_seed(0)
        expected = make()
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        if "empty" not in name:
            np.testing.assert_array_equal(result.numpy(), expected.numpy())
    with pytest.raises(errors.DomainError, match="layout= must be strided"):
        make(layout="sparse")
    with pytest.raises(TypeError, match="pin_memory must be True or False; 3"):
        make(pin_memory=3)
    with pytest.raises(TypeError, match="pinned"):
        make(pinned=True)


def test_rand_like_with_memory_format_can_require_grad() -> None:
    images = mt.rand_like(
        mt.ones(2, 3, 4, 5), memory_format=memory_format.channels_last, requires_grad=True
    )
    assert images.is_leaf
    assert images.stride() == (60, 1, 15, 3)
    (images**2).sum().backward()
    np.testing.assert_allclose(images.grad.numpy(), 2 * images.detach().numpy())


OPERATIONS: dict[str, Any] = {
    "clone": lambda lib, x, order: x.clone(memory_format=order),
    "clone as a function": lambda lib, x, order: lib.clone(x, memory_format=order),
    "contiguous": lambda lib, x, order: x.contiguous(memory_format=order),
    "to": lambda lib, x, order: x.to(memory_format=order),
    "to another dtype": lambda lib, x, order: x.to(lib.float64, memory_format=order),
    "to a copy": lambda lib, x, order: x.to(memory_format=order, copy=True),
    "zeros_like": lambda lib, x, order: lib.zeros_like(x, memory_format=order),
    "full_like": lambda lib, x, order: lib.full_like(x, 7, memory_format=order),
    "empty": lambda lib, x, order: lib.empty(tuple(x.shape), memory_format=order).fill_(0),
}


@st.composite
def views(draw: st.DrawFn) -> tuple[Any, ...]:
    """Draw a shape, an order of dimensions, steps, and a dimension to expand or None."""
    shape = draw(st.lists(st.integers(1, 4), min_size=0, max_size=5))
    order = draw(st.permutations(range(len(shape))))
    if len(shape) > 3 and draw(st.booleans()):
        order = [0, len(shape) - 1, *range(1, len(shape) - 1)]  # images with channels last
    steps = draw(st.tuples(*[st.sampled_from([1, 1, 2])] * len(shape)))
    return shape, order, steps, draw(st.sampled_from([None, *range(len(shape))]))


def view_of(lib: Any, view: tuple[Any, ...]) -> Any:
    shape, order, steps, expanded = view
    x = lib.arange(int(np.prod(shape))).reshape(tuple(shape)).to(lib.float32)
    x = x.permute(*order) if shape else x
    x = x[tuple(slice(None, None, step) for step in steps)]
    if expanded is not None and x.shape[expanded] == 1:
        x = x.expand(*[3 if dim == expanded else -1 for dim in range(len(shape))])
    return x


@given(views(), st.sampled_from(sorted(OPERATIONS)), st.sampled_from(memory_format))
def test_operations_with_memory_format_have_strides_of_torch(
    view: tuple[Any, ...], operation: str, order: memory_format
) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = view_of(mt, view), view_of(torch, view)
    if ours.stride() != theirs.stride():  # only for dimensions of size 1
        return
    run = OPERATIONS[operation]
    try:
        expected = run(torch, theirs, getattr(torch, order.name))
    except RuntimeError:
        with pytest.raises((errors.ShapeError, errors.DomainError)):
            run(mt, ours, order)
        return
    result = run(mt, ours, order)
    assert result.stride() == expected.stride()
    assert (result is ours) == (expected is theirs)
    np.testing.assert_array_equal(result.numpy(), expected.numpy())


@pytest.mark.parametrize("order", [each for each in memory_format if "3d" not in each.name])
def test_memory_format_changes_neither_gradients_nor_compiled_results(order: memory_format) -> None:
    def step(x: mt.Tensor) -> mt.Tensor:
        return (x.to(memory_format=order) * 2).clone(memory_format=order) ** 2

    compiled = mt.compile(step)
    for _ in range(3):
        x = mt.randn(2, 3, 4, 5, requires_grad=True)
        step(x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 8 * x.detach().numpy(), rtol=1e-6)
        with mt.no_grad():
            np.testing.assert_array_equal(compiled(x).numpy(), step(x).numpy())


def test_bad_memory_formats_raise() -> None:
    x = mt.zeros(2, 3)
    with pytest.raises(errors.ShapeError, match=r"channels_last needs 4 dimensions; .* has 2"):
        x.to(memory_format=memory_format.channels_last)
    with pytest.raises(errors.ShapeError, match="channels_last_3d needs 5 dimensions"):
        mt.empty(2, 3, memory_format=memory_format.channels_last_3d)
    with pytest.raises(errors.DomainError, match="needs a tensor of the same shape"):
        mt.empty(2, 3, memory_format=memory_format.preserve_format)
    with pytest.raises(errors.DomainError, match="needs a tensor of the same shape"):
        x.new_zeros(5, memory_format=memory_format.preserve_format)
    with pytest.raises(errors.DomainError, match=r"contiguous\(\) takes contiguous_format"):
        x.T.contiguous(memory_format=memory_format.preserve_format)
    for call in (x.clone, x.to, x.contiguous, x.is_contiguous):
        with pytest.raises(TypeError, match=r"memory_format= takes one of .*; 'last' was given"):
            call(memory_format="last")
