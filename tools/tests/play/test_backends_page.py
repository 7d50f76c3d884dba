"""The backends page: results agree on every backend, and the code shown is the code that runs."""

import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.core.kernel import Kernel as GpuKernel
from mt_cuda.core.simulator import Program
from mt_fast.core.kernel import Kernel
from mt_operators import OPERATORS
from mt_tensor.core import registry
from mt_tensor.core.simple import SimpleOps
from mt_tensor.errors import TensorError
from play.comparison import (
    DTYPES,
    PRODUCT,
    REDUCTIONS,
    STEPS_OF_PYTHON,
    Operation,
    agreement,
    measure,
)
from play.compiled import kernels_of
from play.kernels import cuda_kernels, fast_kernels

BACKENDS = {"simple", "numpy", "fast", "cuda, simulated"}
"""The project's own backends; tests of other packages register more."""


def shapes_of(name: str) -> tuple[tuple[int, ...], ...]:
    if name == PRODUCT:
        return (3, 4), (4, 5)
    return ((6, 5),) if name in REDUCTIONS else ((6, 5),) * OPERATORS[name].arity


def dtype_of(name: str) -> str:
    return "int32" if name in OPERATORS and OPERATORS[name].result == "integer" else "float32"


@pytest.mark.parametrize("name", [*REDUCTIONS, PRODUCT, "tanh", "add", "where", "gcd", "gelu"])
def test_every_backend_gives_the_same_result(name: str) -> None:
    operation = Operation(name, shapes_of(name), dtype_of(name))
    measured = {each.backend: each for each in measure(operation)}
    assert measured.keys() >= BACKENDS
    for each in map(measured.__getitem__, BACKENDS):
        assert not each.refusal
        assert 0.0 < each.fastest <= each.median
        assert len(each.times) >= 3
        same, how = agreement(each.result, measured["numpy"].result)
        assert same, (each.backend, how)
    assert all(title and code for title, code in cuda_kernels(operation))
    assert all(title for title, _ in fast_kernels(operation))


@pytest.mark.parametrize("name", [name for name in OPERATORS if OPERATORS[name].arity < 4])
def test_operator_gives_numbers_for_its_sample_input(name: str) -> None:
    operation = Operation(name, shapes_of(name), dtype_of(name))
    result = operation.on("numpy")()
    assert result.shape == (6, 5)
    assert not np.isnan(result.numpy()).all()


@pytest.mark.parametrize("name", ["tanh", "sum"])
def test_shown_kernels_of_fast_are_the_compiled_ones(name: str) -> None:
    operation = Operation(name, ((6, 5),))
    ((title, text),) = fast_kernels(operation)
    assert "one thread" in title
    compiled = [each for each in gc.get_objects() if type(each) is Kernel]
    assert text in {kernel.source.text for kernel in compiled}


def test_operations_that_fast_leaves_to_numpy_have_no_kernel() -> None:
    ((title, code),) = fast_kernels(Operation("add", ((6, 5), (6, 5))))
    assert title.startswith("Left to NumPy")
    assert code == ""
    ((title, code),) = fast_kernels(Operation(PRODUCT, ((3, 4), (4, 5))))
    assert title.startswith("Left to NumPy")


def test_kernels_of_a_call_have_their_number_of_units() -> None:
    x = mt.ones(400, 500, backend="fast")
    assert list(kernels_of(x.tanh).values()) == [200_000]
    assert list(kernels_of(lambda: x.sum(1)).values()) == [400]


def test_shown_kernel_of_cuda_is_the_one_that_the_simulator_runs() -> None:
    ((title, text),) = cuda_kernels(Operation("sum", ((64, 100),)))
    assert title == "For 64 blocks of 256 threads:"
    assert "cuda.shared.array(256, float32)" in text
    loaded = []

    class Noting(Simulator):
        def load(self, kernel: GpuKernel) -> Program:
            loaded.append(kernel.source)
            return super().load(kernel)

    mt.ones(64, 100, backend=CudaOps(Noting(), plain=True)).sum(1)
    assert loaded[-1] == text.replace("256", "8")


def test_failing_backend_is_reported_and_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Half(SimpleOps):
        name = "half"

        def reduce(self, *args: Any) -> Any:
            raise NotImplementedError("not written yet")

    monkeypatch.setattr(registry, "FACTORIES", dict(registry.FACTORIES))
    monkeypatch.setattr(registry, "CREATED", dict(registry.CREATED))
    mt.register_backend("half", Half)
    measured = {each.backend: each for each in measure(Operation("sum", ((6, 5),)))}
    assert measured["half"].refusal == "it failed: NotImplementedError: not written yet"
    assert not measured["fast"].refusal


def test_python_backends_skip_long_computations() -> None:
    measured = {each.backend: each for each in measure(Operation("neg", ((STEPS_OF_PYTHON + 1,),)))}
    for name in ("simple", "cuda, simulated"):
        assert measured[name].refusal.startswith("skipped")
    assert not measured["fast"].refusal


@pytest.mark.parametrize(
    "operation",
    [
        Operation("add", ((3,), (4,))),
        Operation(PRODUCT, ((3, 4), (5, 6))),
        Operation("sum", ((),), dim=3),
        Operation("gcd", ((3,), (3,))),
    ],
    ids=str,
)
def test_invalid_shape_dimension_or_dtype_raises_tensor_error(operation: Operation) -> None:
    with pytest.raises(TensorError):
        list(measure(operation))


def test_results_agree_if_they_differ_only_by_rounding() -> None:
    one = np.array([1.0, math.nan], np.float32)
    assert agreement(one, one) == (True, "identical bits")
    near = np.array([1.0 + 1e-6, math.nan], np.float32)
    same, how = agreement(near, one)
    assert same
    assert how == "differs by rounding"
    assert not agreement(np.array([2.0, math.nan], np.float32), one)[0]
    assert not agreement(np.array([1.0, 0.0], np.float32), one)[0]
    assert not agreement(np.array([1, 2]), np.array([1, 3]))[0]
    assert not agreement(np.array([2**62, 7]), np.array([2**62, 1]))[0]
    empty = np.zeros((0,), np.float32)
    assert_array_equal(empty, empty)
    assert agreement(empty, empty)[0]


def test_results_with_different_infinities_or_nan_disagree() -> None:
    right = np.array([math.inf, -math.inf, math.nan, 1.0])
    near = np.array([math.inf, -math.inf, math.nan, 1.0 + 1e-13])
    assert agreement(near, right) == (True, "differs by rounding")
    assert agreement(np.array([math.inf, -math.inf, math.nan, 5.0]), right) == (
        False,
        "different numbers",
    )
    for place, other in ((0, -math.inf), (0, 1.0), (1, math.nan), (2, 1.0), (3, math.inf)):
        wrong = right.copy()
        wrong[place] = other
        assert agreement(wrong, right) == (False, "different numbers")


def test_operation_is_measured_for_every_dtype_of_the_page() -> None:
    assert not set(REDUCTIONS) & set(OPERATORS)
    for dtype in DTYPES:
        assert list(measure(Operation("mul", ((2, 3), (3,)), dtype)))


def test_page_compares_backends_and_shows_kernels(opened: Callable[[str], Any]) -> None:
    page = opened("stage3_backends")
    table = page.table[0].value
    assert set(table["backend"]) >= BACKENDS
    assert not table["result, compared with NumPy's"].str.contains("wrong").any()
    codes = [each.value for each in page.code]
    assert any("def tanh_float32_flat(" in code for code in codes)
    assert any("def tanh_float32_contiguous(" in code for code in codes)
    (picture,) = page.get("html")
    assert "numpy" in picture.value


def test_page_skips_a_large_matrix_product_on_the_simple_backend(
    opened: Callable[[str], Any],
) -> None:
    page = opened("stage3_backends")
    page.selectbox[0].set_value(PRODUCT).run()
    page.number_input[2].set_value(300).run()
    refused = [each.value for each in page.markdown if "skipped" in each.value]
    assert any(each.startswith("**simple**") for each in refused)


def test_page_reports_an_unsupported_dtype(opened: Callable[[str], Any]) -> None:
    page = opened("stage3_backends")
    page.selectbox[0].set_value("gcd").run()
    assert "gcd" in page.error[0].value
    page.selectbox[1].set_value("int32").run()
    assert not page.error
