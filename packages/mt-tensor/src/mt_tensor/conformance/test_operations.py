"""Every operation of the tensor sample table: values, gradients, inputs unchanged, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.kernels import assert_kernel_agrees
from mt_tensor.conformance.layouts import LAYOUTS, contiguous
from mt_tensor.conformance.rows import parametrized
from mt_tensor.core.dtypes import Array
from mt_tensor.core.named import FUSED
from mt_tensor.errors import ExchangeError
from mt_tensor.testing import BAD_CALLS, PROMOTION, TENSOR_SPECS, BadCall, TensorOpSpec, arguments

OTHER_DTYPES = ["float16", "int64", "int32", "uint8", "bool"]
"""The dtypes that are tested besides float32 and float64."""

VIEWS = frozenset(
    """
    H T adjoint as_strided atleast_1d atleast_2d atleast_3d broadcast_to cartesian_prod chunk
    contiguous diagonal dsplit einsum expand flatten getitem hsplit mH mT moveaxis movedim narrow
    permute ravel reshape select split split_with_sizes squeeze squeeze_ swapaxes swapaxes_ swapdims
    swapdims_ t t_ tensor_split transpose transpose_ unbind unflatten unfold unsqueeze unsqueeze_
    view vsplit
    """.split()  # noqa: SIM905 - a list would be a page long
)
"""The operations whose result may share memory with an argument."""

IN_TURN = list(LAYOUTS.values())

ROWS = parametrized(TENSOR_SPECS)
SMOOTH = parametrized([row for row in TENSOR_SPECS if row.differentiable])
INVALID = parametrized(BAD_CALLS)


@pytest.fixture(autouse=True)
def _skip_unsupported(request: pytest.FixtureRequest, backend: TensorBackend) -> None:
    """Skip an optional operation that the backend does not support."""
    spec = request.node.callspec.params.get("spec")
    if spec is not None and spec.optional:
        try:
            spec.call(*(mt.zeros(shape, backend=backend) for shape in spec.samples[0]))
        except ExchangeError as error:
            pytest.skip(str(error))


@pytest.mark.parametrize("spec", ROWS)
def test_operation_values_match_numpy(backend: TensorBackend, spec: TensorOpSpec) -> None:
    for shapes in spec.samples:
        for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-12)):
            arrays = arguments(spec, shapes, dtype)
            wanted = spec.oracle(*(array.astype(np.float64) for array in arrays))
            for name, layout in LAYOUTS.items():
                if spec.name == "view" and name != "contiguous":
                    continue  # view() of a strided tensor may raise an error
                args = [layout(array, backend) for array in arrays]
                result = spec.call(*args)
                assert result.shape == np.shape(wanted), name
                assert result.backend is backend
                np.testing.assert_allclose(
                    np.asarray(result), wanted, rtol=tolerance, atol=tolerance, err_msg=name
                )
                for arg, array in zip(args, arrays, strict=True):
                    assert np.array_equal(arg, array), "an input was changed"
                    if spec.name not in VIEWS:
                        assert not backend.same_memory(
                            result._tensor.storage, arg._tensor.storage
                        ), "the result shares memory with an input"


@pytest.mark.parametrize("spec", ROWS)
def test_operation_promotes_dtype_or_raises(backend: TensorBackend, spec: TensorOpSpec) -> None:
    """Dtypes that the rule of the row does not list must raise an error."""
    for first, dtype in enumerate(OTHER_DTYPES):
        for turn, shapes in enumerate(spec.samples, first):
            layout = contiguous if spec.name == "view" else IN_TURN[turn % len(IN_TURN)]
            arrays = arguments(spec, shapes, dtype)
            args = [layout(array, backend) for array in arrays]
            check_element_type(spec, arrays, args, dtype)
            for arg, array in zip(args, arrays, strict=True):
                assert np.array_equal(arg, array), "an input was changed"


def check_element_type(
    spec: TensorOpSpec, arrays: list[Array], args: list[mt.Tensor], dtype: str
) -> None:
    """Check the dtype and the values of a result, or that the dtype is rejected."""
    rule = PROMOTION[spec.dtypes]
    if dtype not in rule:
        with pytest.raises((mt.errors.TensorError, TypeError)):
            spec.call(*args)
        return
    result = spec.call(*args)
    assert result.dtype.name == rule[dtype], dtype
    with np.errstate(all="ignore"):
        wanted = np.asarray(spec.oracle(*(array.astype(np.float64) for array in arrays)))
    if result.dtype.is_floating_point:
        tolerance = 8e-3 if dtype == "float16" else 2e-5
        np.testing.assert_allclose(
            np.asarray(result), wanted, rtol=tolerance, atol=tolerance, err_msg=dtype
        )
    else:  # integers wrap around, as when they are stored
        wrapped = (wanted != 0) if rule[dtype] == "bool" else wanted.astype(np.int64)
        assert np.array_equal(np.asarray(result), wrapped.astype(result.dtype.numpy)), dtype


@pytest.mark.parametrize("spec", SMOOTH)
def test_operation_gradients_match_finite_differences(
    backend: TensorBackend, spec: TensorOpSpec
) -> None:
    for shapes in spec.samples:
        arrays = arguments(spec, shapes, "float64")
        leaves = [mt.tensor(a, backend=backend, requires_grad=True) for a in arrays]
        assert mt.gradcheck(spec.call, leaves)


@pytest.mark.parametrize("spec", SMOOTH)
def test_operation_gradients_do_not_depend_on_layout(
    backend: TensorBackend, spec: TensorOpSpec
) -> None:
    """Vary the layouts of the arguments and of the upstream gradient."""
    if spec.name == "view":
        return  # view() of a strided tensor may raise an error
    for turn, shapes in enumerate(spec.samples, TENSOR_SPECS.index(spec)):
        arrays = arguments(spec, shapes, "float64")
        strided = gradients(spec, arrays, IN_TURN[turn % len(IN_TURN)], backend)
        wanted = gradients(spec, arrays, contiguous, backend)
        for ours, right in zip(strided, wanted, strict=True):
            np.testing.assert_allclose(ours, right, rtol=1e-12, atol=1e-12)


def gradients(
    spec: TensorOpSpec,
    arrays: list[Array],
    layout: Callable[..., mt.Tensor],
    backend: TensorBackend,
) -> list[Array]:
    """Return the gradient of each argument; zeros if the result does not depend on it."""
    leaves = [layout(array, backend).detach().requires_grad_() for array in arrays]
    result = spec.call(*leaves)
    upstream = np.cos(np.arange(result.numel())).reshape(result.shape)
    result.backward(layout(upstream, backend))
    return [np.zeros(x.shape) if x.grad is None else np.array(x.grad) for x in leaves]


@pytest.mark.parametrize("spec", SMOOTH)
def test_operation_second_derivatives_match_finite_differences(
    backend: TensorBackend, spec: TensorOpSpec
) -> None:
    for shapes in spec.samples:
        arrays = [0.3 * array for array in arguments(spec, shapes, "float64")]
        leaves = [mt.tensor(a, backend=backend, requires_grad=True) for a in arrays]
        assert mt.gradgradcheck(spec.call, leaves, rtol=1e-5, fast_mode=True)


@pytest.mark.parametrize("bad", INVALID)
def test_invalid_call_raises(backend: TensorBackend, bad: BadCall) -> None:
    x = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], backend=backend)

    def called() -> None:
        bad.call(x)
        backend.synchronize()  # a wrong index may be reported only here

    with pytest.raises(bad.error, match=bad.message):
        called()


EXTREME = np.array(
    [[1e30, -1e30, 0, 1], [np.inf, 0, 1, 2], [np.nan, 0, 1, 2], [-np.inf, 0, 1, 2]], np.float32
)
KERNELS = sorted(name for name, form in FUSED.items() if form.__module__.startswith("mt_tensor."))
ARGUMENTS: dict[str, Callable[[Array, int], tuple[Any, ...]]] = {
    "arange": lambda x, dim: (x[0], x.size, 3 - x.shape[1], 2 - 3 * dim),
    "argsort": lambda x, dim: (x, dim, x.shape[1] > 4),
    "glu": lambda x, dim: (np.concatenate((x, -x[::-1, ::-1]), dim), dim),  # of even size
    "isin": lambda x, dim: (np.round(x), np.round(x[:2]), False, dim > 0),
    "linear_scan": lambda x, dim: (
        x,
        np.cos(np.arange(x.size)).reshape(x.shape).astype(x.dtype),
        dim,
    ),
    "nonzero": lambda x, dim: (np.where(x > dim, x, 0),),
    "searchsorted": lambda x, dim: (
        np.sort(np.round(x)) if dim else np.sort(np.round(x[0])),
        np.round(x),
        x.shape[1] > 4,
    ),
}
"""The arguments of operations that take more than a tensor and a dimension."""


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", KERNELS)
def test_fused_kernel_matches_composition(backend: TensorBackend, name: str, dim: int) -> None:
    """Compare values and gradients, also for large numbers, infinities and nan."""
    known = {"arange", "linear_scan", *(row.name for row in TENSOR_SPECS)}
    assert name in known, f"no sample of {name!r}"
    ordinary = np.random.default_rng(0).standard_normal((5, 37)).astype(np.float32)
    for array in (ordinary, ordinary.astype(np.float64), ordinary[:, :1], EXTREME):
        given = ARGUMENTS[name](array, dim) if name in ARGUMENTS else (array, dim)
        assert_kernel_agrees(backend, name, *given)
