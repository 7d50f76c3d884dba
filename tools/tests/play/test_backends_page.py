"""The backends page: results agree on every backend, and the code shown is the code that runs."""

import gc
import math
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
    MOST_ELEMENTS,
    PRODUCT,
    REDUCTIONS,
    STEPS_OF_PYTHON,
    Operation,
    agreement,
    kernels,
    measure,
    measuring,
)
from play.compiled import kernels_of
from play.inputs import InputError
from play.testing import Reader, answers

BACKENDS = ("simple", "numpy", "fast", "cuda")
"""The project's own backends; tests of other packages register more."""


def shapes_of(name: str) -> tuple[tuple[int, ...], ...]:
    if name == PRODUCT:
        return (3, 4), (4, 5)
    return ((6, 5),) if name in REDUCTIONS else ((6, 5),) * OPERATORS[name].arity


def dtype_of(name: str) -> str:
    return "int32" if name in OPERATORS and OPERATORS[name].result == "integer" else "float32"


@pytest.mark.parametrize("name", [*REDUCTIONS, PRODUCT, "tanh", "add", "where", "gcd", "gelu"])
def test_every_backend_says_the_same(name: str) -> None:
    operation = Operation(name, shapes_of(name), dtype_of(name))
    measured = {each.backend: each for each in measure(operation)}
    assert tuple(measured)[:4] == BACKENDS
    for each in map(measured.__getitem__, BACKENDS):
        assert not each.refusal
        assert 0.0 < each.fastest <= each.median
        assert len(each.times) >= 3
        same, how = agreement(each.result, measured["numpy"].result)
        assert same, (each.backend, how)
    for backend in BACKENDS:
        assert all(title and code for title, code in kernels(backend, operation))


@pytest.mark.parametrize("name", [name for name in OPERATORS if OPERATORS[name].arity < 4])
def test_every_operator_has_numbers_that_it_takes_and_a_text_for_numpy(name: str) -> None:
    operation = Operation(name, shapes_of(name), dtype_of(name))
    tensors = [mt.tensor(array) for array in operation.arrays()]
    result = operation.function(tensors)()
    assert result.shape == (6, 5)
    assert not np.isnan(result.numpy()).all()
    for backend in ("simple", "numpy"):
        ((_, code),) = kernels(backend, operation)
        assert code


@pytest.mark.parametrize("name", ["tanh", "sum"])
def test_the_kernels_of_fast_are_those_that_it_compiles(name: str) -> None:
    operation = Operation(name, ((6, 5),))
    ((title, text),) = kernels("fast", operation)
    assert "one thread" in title
    compiled = [each for each in gc.get_objects() if type(each) is Kernel]
    assert text in {kernel.source.text for kernel in compiled}


def test_operations_that_fast_delegates_have_no_kernel() -> None:
    ((title, code),) = kernels("fast", Operation("add", ((6, 5), (6, 5))))
    assert title.startswith("left to NumPy")
    assert code == "np.add(x, y)"
    ((title, code),) = kernels("fast", Operation(PRODUCT, ((3, 4), (4, 5))))
    assert title.startswith("left to BLAS")
    assert "dot" in code


def test_the_number_of_units_is_shown() -> None:
    x = mt.ones(400, 500, backend="fast")
    (ran,) = kernels_of(x.tanh)
    assert ran.units == 200_000
    (ran,) = kernels_of(lambda: x.sum(1))
    assert ran.units == 400


def test_the_kernels_of_cuda_are_those_of_the_gpu_and_the_simulator() -> None:
    ((title, text),) = kernels("cuda", Operation("sum", ((64, 100),)))
    assert title == "for 64 blocks of 256 threads"
    assert "cuda.shared.array(256, float32)" in text
    loaded = []

    class Noting(Simulator):
        def load(self, kernel: GpuKernel) -> Program:
            loaded.append(kernel.source)
            return super().load(kernel)

    mt.ones(64, 100, backend=CudaOps(Noting(), plain=True)).sum(1)
    assert loaded[-1] == text.replace("256", "8")


def test_a_failing_backend_is_reported_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_third_party_backends_come_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "FACTORIES", dict(registry.FACTORIES))
    monkeypatch.setattr(registry, "CREATED", dict(registry.CREATED))
    mt.register_backend("fas", SimpleOps)
    names = [each.backend for each in measure(Operation("neg", ((3,),)))]
    assert tuple(names[:4]) == BACKENDS
    assert "fas" in names[4:]


def test_results_are_consumed_without_the_lock() -> None:
    for _ in measure(Operation("neg", ((3,),))):
        assert not measuring.locked()


def test_python_backends_skip_long_computations() -> None:
    measured = {each.backend: each for each in measure(Operation("neg", ((STEPS_OF_PYTHON + 1,),)))}
    for name in ("simple", "cuda"):
        assert measured[name].refusal.startswith("skipped")
    assert not measured["fast"].refusal


@pytest.mark.parametrize(
    "operation",
    [
        Operation("add", ((MOST_ELEMENTS, 1), (1, MOST_ELEMENTS))),
        Operation(PRODUCT, ((10**6, 1), (1, 10**6))),
        Operation(PRODUCT, ((1000, 1000), (1000, 1000))),
    ],
    ids=str,
)
def test_large_computations_are_an_error(operation: Operation) -> None:
    with pytest.raises(InputError, match="this operation has"):
        list(measure(operation))


@pytest.mark.parametrize(
    "operation",
    [
        Operation("add", ((3,), (4,))),
        Operation(PRODUCT, ((3, 4), (5, 6))),
        Operation(PRODUCT, ((), ())),
        Operation("sum", ((),), dim=3),
        Operation("gcd", ((3,), (3,))),
    ],
    ids=str,
)
def test_mismatched_shapes_are_an_error(operation: Operation) -> None:
    with pytest.raises(TensorError):
        list(measure(operation))


@pytest.mark.parametrize(
    "operation",
    [
        Operation("sum", ((0, 3 * 10**7),), dim=0),
        Operation("sum", ((10**6, 0, 10**6),), dim=1),
        Operation(PRODUCT, ((2000, 0), (0, 2000))),
    ],
    ids=str,
)
def test_a_large_result_of_empty_inputs_is_an_error(operation: Operation) -> None:
    with pytest.raises(InputError, match="this operation has"):
        list(measure(operation))


@pytest.mark.parametrize(
    "operation",
    [Operation("sum", ((0, 10**5),), dim=0), Operation(PRODUCT, ((300, 0), (0, 300)))],
    ids=str,
)
def test_backends_of_python_leave_out_a_result_of_nothing(operation: Operation) -> None:
    measured = {each.backend: each for each in measure(operation)}
    for name in ("simple", "cuda"):
        assert measured[name].refusal.startswith("skipped")
    assert not measured["fast"].result.any()


@pytest.mark.parametrize("name", [*REDUCTIONS, PRODUCT, "tanh", "add", "where"])
@pytest.mark.parametrize("dim", [0, -1])
def test_the_size_is_that_of_the_result(name: str, dim: int) -> None:
    operation = Operation(name, shapes_of(name), dim=dim)
    result = operation.function([mt.tensor(array) for array in operation.arrays()])()
    assert operation.size() == result.numel()


def test_results_are_compared() -> None:
    one = np.array([1.0, math.nan], np.float32)
    assert agreement(one, one) == (True, "identical bits")
    near = np.array([1.0 + 1e-6, math.nan], np.float32)
    same, how = agreement(near, one)
    assert same
    assert how.startswith("differs by rounding")
    assert not agreement(np.array([2.0, math.nan], np.float32), one)[0]
    assert not agreement(np.array([1.0, 0.0], np.float32), one)[0]
    assert not agreement(np.array([1, 2]), np.array([1, 3]))[0]
    assert not agreement(np.array([2**62, 7]), np.array([2**62, 1]))[0]
    empty = np.zeros((0,), np.float32)
    assert_array_equal(empty, empty)
    assert agreement(empty, empty)[0]


def test_results_with_infinities_are_compared() -> None:
    right = np.array([math.inf, -math.inf, math.nan, 1.0])
    near = np.array([math.inf, -math.inf, math.nan, 1.0 + 1e-13])
    assert agreement(near, right) == (True, "differs by rounding, 1e-13")
    assert agreement(np.array([math.inf, -math.inf, math.nan, 5.0]), right) == (
        False,
        "differs by rounding, 4e+00",
    )
    for place, other in ((0, -math.inf), (0, 1.0), (1, math.nan), (2, 1.0), (3, math.inf)):
        wrong = right.copy()
        wrong[place] = other
        assert agreement(wrong, right) == (False, "nan or infinity at different positions")


def test_the_page_offers_the_operations_of_the_table() -> None:
    assert not set(REDUCTIONS) & set(OPERATORS)
    for dtype in DTYPES:
        assert list(measure(Operation("mul", ((2, 3), (3,)), dtype)))


ROWS = "[...document.querySelectorAll('tbody tr')].map(row => row.innerText)"


def test_a_reader_compares_backends_and_looks_at_kernels(reader: Reader) -> None:
    reader.open("backends")
    reader.sees("The code that runs")
    for backend in BACKENDS:
        reader.until(f"{ROWS}.some(row => row.startsWith({backend!r}))")
    assert not reader.holds(f"{ROWS}.some(row => row.includes('wrong'))")
    reader.press("cuda")
    reader.sees("def tanh_float32_contiguous(")
    reader.press("fast")
    reader.sees("def tanh_float32_flat(")
    reader.press("numpy")
    reader.sees("np.tanh(x)")
    reader.press("Measure again")
    reader.sees("The code that runs")


def test_a_reader_multiplies_matrices(reader: Reader) -> None:
    reader.open("backends")
    reader.sees("The code that runs")
    reader.choose("operation", "matrix product")
    reader.sees("shape of b")
    reader.write("shape of b", "20, 300")
    reader.sees("skipped: simple needs a Python step for each of 144,000 elements")
    reader.press("numpy")
    reader.sees("np.matmul(a, b)")


def test_the_page_reports_requests_beyond_its_limits(reader: Reader) -> None:
    reader.open("backends")
    reader.sees("The code that runs")
    reader.choose("operation", "gcd")
    reader.sees("gcd", "[data-testid=stAlert]")
    reader.choose("operation", "tanh")
    reader.sees("The code that runs")
    for shape, said in (
        ("1000000, 1000000", "has 1,000,000,000,000."),
        ("many", "found 'many'"),
        ("-1", "must be integers of 0 or more"),
    ):
        reader.write("shape", shape)
        reader.sees(said)
    assert answers(reader.address)
    reader.write("shape", "0, 3")
    reader.sees("The code that runs")
