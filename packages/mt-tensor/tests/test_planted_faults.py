"""The conformance kit fails on a wrong backend or a wrong operation.

Each fault planted here is a likely mistake, and names the test of the kit that finds it.
"""

from collections.abc import Sequence

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.backends.extending import UFUNCS, NumpyOps
from mt_tensor.conformance import (  # noqa: F401 - imported once, not in every pytest run
    test_elementwise,
    test_operations,
    test_primitives,
    test_promotion,
    test_updates,
)
from mt_tensor.core import registry
from mt_tensor.core.layout import Layout
from mt_tensor.core.matmul import MatMul
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.extending import FUSED, FusedKernel

pytest_plugins = ["pytester"]

FAULTS = []
"""Backends with one fault each, and the test that finds it."""


def found_by(test):
    """Return a decorator that adds a faulty backend, which the test must find, to `FAULTS`."""

    def decorate(backend):
        FAULTS.append(pytest.param(backend, test, id=backend.__name__))
        return backend

    return decorate


class FaultyElementwise(NumpyOps):
    """Base class of backends that change the inputs or results of elementwise formulas."""

    def elementwise(self, formula):
        run = super().elementwise(formula)

        def run_with_fault(out, *inputs):
            inputs = self.change_inputs(formula, inputs)
            computed = run(out, *inputs)
            results = computed if isinstance(out, Layout) else out
            self.change_results(
                formula, inputs, results if isinstance(results, Sequence) else [results]
            )
            return computed

        return run_with_fault

    def change_inputs(self, formula, inputs):
        return inputs

    def change_results(self, formula, inputs, results):
        pass


@found_by("test_elementwise::test_operator_values_match_numpy")
class WrongValue(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "tanh":
            results[0].array[...] *= 1.001


@found_by("test_elementwise::test_operator_values_match_numpy")
class SwappedArguments(FaultyElementwise):
    def change_inputs(self, formula, inputs):
        return inputs[::-1] if formula.name == "sub" else inputs


@found_by("test_elementwise::test_operator_gradients_match_operator_table")
class FactorMissingInFusedGradient(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name.startswith("sin_gradient"):
            results[0].array[...] = np.cos(inputs[1].array)


@found_by("test_elementwise::test_operator_gradients_match_operator_table")
class InexactGradient(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "sigmoid_gradient_0":
            results[0].array[...] *= 0.999


@found_by("test_elementwise::test_operator_special_values_match_numpy")
class NanLostByMaximum(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "maximum":
            np.fmax(*(view.array for view in inputs), out=results[0].array)


@found_by("test_elementwise::test_operator_values_match_numpy")
class InputOverwritten(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "exp":
            inputs[0].array[...] = 0


@found_by("test_elementwise::test_large_int64_results_are_exact")
class IntegersComputedAsFloats(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "add" and results[0].dtype.kind == "integer":
            a, b = (view.array.astype(np.float64) for view in inputs)
            results[0].array[...] = (a + b).astype(np.int64)


@found_by("test_elementwise::test_integer_operator_is_exact_at_limits_of_dtype")
class IntegersSaturate(FaultyElementwise):
    def change_results(self, formula, inputs, results):
        if formula.name == "add" and results[0].dtype.name == "int8":
            total = sum(view.array.astype(np.int64) for view in inputs)
            results[0].array[...] = np.clip(total, -128, 127)


@found_by("test_updates::test_formula_computes_all_results_before_writing_any")
class ResultsWrittenOneByOne(NumpyOps):
    def elementwise(self, formula):
        run = super().elementwise(formula)

        def one_by_one(out, *inputs):
            if isinstance(out, Layout):
                return run(out, *inputs)
            for number, view in enumerate(out):
                results = run(view.layout.contiguous, *inputs)
                self.copy(results[number] if len(out) > 1 else results, view)
            return None

        return one_by_one


@found_by("test_promotion::test_16_bit_in_place_formula_rounds_once")
class NumbersRoundedToFloat16(NumpyOps):
    def elementwise(self, formula):
        run = super().elementwise(formula)

        def rounded(out, *inputs):
            views = [x for x in inputs if isinstance(x, TensorData)]
            if views and views[0].dtype.name == "float16":
                inputs = [x if x in views else float(np.float16(x)) for x in inputs]
            return run(out, *inputs)

        return rounded


@found_by("test_primitives::test_round_trip_through_host_preserves_values")
class StridesIgnored(NumpyOps):
    def copy(self, source, out):
        if 0 not in source.strides:
            source = source.like(source.shape, out.strides, source.offset)
        return super().copy(source, out)


@found_by("test_primitives::test_round_trip_through_host_preserves_values")
class NegativeStridesIgnored(NumpyOps):
    def copy(self, source, out):
        strides = tuple(map(abs, source.strides))
        if strides != source.strides:
            source = source.like(source.shape, strides, 0)
        return super().copy(source, out)


@found_by("test_primitives::test_round_trip_through_host_preserves_values")
class OffsetIgnored(NumpyOps):
    def copy(self, source, out):
        if min(source.strides, default=0) >= 0:
            source = source.like(source.shape, source.strides, 0)
        return super().copy(source, out)


@found_by("test_primitives::test_reduce_reads_every_element")
class LastElementLeftOut(NumpyOps):
    def reduce(self, operator, source, dims, keepdim=False):
        if dims and source.shape[dims[0]] > 1:
            lengths = list(source.shape)
            lengths[dims[0]] -= 1
            zeros, ones = (0,) * source.ndim, (1,) * source.ndim
            source = source.slice(zeros, ones, tuple(lengths))
        return super().reduce(operator, source, dims, keepdim)


@found_by("test_primitives::test_reduce_reads_every_element")
class DimensionDropped(NumpyOps):
    def reduce(self, operator, source, dims, keepdim=False):
        if len(dims) > 1 and source.size:
            zeros, ones = (0,) * source.ndim, (1,) * source.ndim
            first = tuple(
                min(length, 1) if d == dims[-1] else length for d, length in enumerate(source.shape)
            )
            source = source.slice(zeros, ones, first)
        return super().reduce(operator, source, dims, keepdim)


@found_by("test_primitives::test_reduce_over_empty_dimension_gives_identity")
class WrongReductionOfEmpty(NumpyOps):
    def reduce(self, operator, source, dims, keepdim=False):
        result = super().reduce(operator, source, dims, keepdim)
        if source.size == 0:
            result.array[...] = 0
        return result


@found_by("test_primitives::test_reduce_with_nan_and_infinity_matches_numpy")
class NanLostByReduction(NumpyOps):
    def reduce(self, operator, source, dims, keepdim=False):
        if operator.name == "maximum":
            result = np.fmax.reduce(source.array, axis=dims, keepdims=keepdim)
            return self.from_host(np.asarray(result))
        return super().reduce(operator, source, dims, keepdim)


@found_by("test_primitives::test_long_sums_keep_precision")
class Float16SummedInFloat16(NumpyOps):
    def reduce(self, operator, source, dims, keepdim=False):
        result = super().reduce(operator, source, dims, keepdim)
        if operator.name == "add" and source.dtype.name == "float16" and dims:
            running = np.add.accumulate(source.array.reshape(-1))
            result.array[...] = running[-1]
        return result


@found_by("test_primitives::test_batched_matmul_matches_numpy")
class BatchIgnored(NumpyOps):
    def matmul(self, a, b):
        result = super().matmul(a, b)
        if result.ndim > 2 and result.size:
            result.array[...] = result.array[(0,) * (result.ndim - 2)]
        return result


@found_by("test_primitives::test_matmul_matches_numpy")
class TransposedOperandMisread(NumpyOps):
    def matmul(self, a, b):
        *batch, row, column = b.strides
        wrong = b.like(b.shape, (*batch, column, row), b.offset)
        return super().matmul(a, wrong if b.shape[-1:] == b.shape[-2:-1] else b)


@found_by("test_primitives::test_gather_and_scatter_match_numpy")
class GatherOffByOne(NumpyOps):
    def gather(self, source, dim, index):
        last = source.shape[dim] - 1
        where = np.minimum(self.to_host(index) + 1, last)
        return super().gather(source, dim, self.from_host(where))


@found_by("test_primitives::test_gather_and_scatter_match_numpy")
class ScatterOverwrites(NumpyOps):
    def scatter(self, source, dim, index, out, operator=None):
        super().scatter(source, dim, index, out)


@found_by("test_primitives::test_gather_and_scatter_match_numpy")
class RepeatedIndicesCountedOnce(NumpyOps):
    def scatter(self, source, dim, index, out, operator=None):
        before = self.to_host(out).copy()
        super().scatter(source, dim, index, out)
        if operator is not None:
            now = self.to_host(out)
            now[...] = np.where(now != before, UFUNCS[operator.name](before, now), before)


@found_by("test_operations::test_fused_kernel_matches_composition")
class KernelAlongWrongDimension(NumpyOps):
    def kernel(self, name):
        return (lambda x, dim: FUSED[name](x, -1)) if name == "softmax" else None


class _SoftmaxWithoutDerivative(FusedKernel):
    def value(self, needs, x, dim):
        return FUSED["softmax"](x, dim), ()

    def gradient(self, grad, saved, needs, x, dim):
        return grad, None


@found_by("test_operations::test_fused_kernel_matches_composition")
class KernelWithoutDerivative(NumpyOps):
    def kernel(self, name):
        return _SoftmaxWithoutDerivative() if name == "softmax" else None


def _not_summed(x, *shape):
    return x


def _not_promoted(x, dim, original=mt.Tensor.cumsum):
    return original(x, dim).to(x.dtype)


def _not_recorded(*args, original=MatMul.backward):
    return tuple(g if g is None else g.detach() for g in original(*args))


def _not_checked(x, index):
    return mt.take(x, index % x.numel())


CHANGES = [
    (
        mt.Tensor,
        "sum_to_size",
        _not_summed,
        "test_elementwise::test_broadcast_values_and_gradients_match_numpy",
    ),
    (
        mt.Tensor,
        "cumsum",
        _not_promoted,
        "test_operations::test_operation_promotes_dtype_or_raises -k cumsum",
    ),
    (mt.Tensor, "take", _not_checked, "test_operations::test_invalid_call_raises"),
    (
        MatMul,
        "backward",
        staticmethod(_not_recorded),
        "test_operations::test_operation_second_derivatives_match_finite_differences -k matmul",
    ),
]
"""Faults of mt_tensor itself: class, attribute, its replacement, and the test that finds it."""


@pytest.fixture
def run_kit(pytester, monkeypatch):
    """Return a function that runs one test of the kit on a backend and returns its reports."""
    monkeypatch.setattr(registry, "FACTORIES", dict(registry.FACTORIES))
    monkeypatch.setattr(registry, "CREATED", dict(registry.CREATED))

    def run(backend, test):
        mt.register_backend("faulty", type("Faulty", (backend,), {"name": "faulty"}))
        return pytester.inline_run(
            "--pyargs", *f"mt_tensor.conformance.{test}".split(), "--mt-backend", "faulty",
            "-x", "-q", "--tb=short", "-p", "no:cacheprovider", "--hypothesis-seed=0",
        )  # fmt: skip

    return run


def assert_found(run):
    """Check that the test failed, and that the planted fault itself raised no exception."""
    failures = run.getfailures()
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert [failure.when for failure in failures] == ["call"]
    # Hypothesis adds an explanation that names every file.
    traceback = str(failures[0].longrepr).partition("Explanation:")[0]
    assert "test_planted_faults.py" not in traceback


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "test"), FAULTS)
def test_kit_finds_fault_of_backend(backend, test, run_kit):
    assert_found(run_kit(backend, test))


@pytest.mark.parametrize(("owner", "name", "fault", "test"), CHANGES)
def test_kit_finds_fault_of_operation(owner, name, fault, test, run_kit, monkeypatch):
    monkeypatch.setattr(owner, name, fault)
    assert_found(run_kit(NumpyOps, test))


def test_kit_passes_without_fault(run_kit):
    assert run_kit(NumpyOps, "test_primitives").ret == pytest.ExitCode.OK
