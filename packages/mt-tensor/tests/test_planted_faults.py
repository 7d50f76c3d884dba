"""The conformance kit must fail on a wrong backend: each fault planted here is one it must find."""

import textwrap
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

FAULTS = {
    "wrong value": (
        "test_operator_values",
        """
        def elementwise(self, formula, inputs, outputs):
            super().elementwise(formula, inputs, outputs)
            if formula.name == "tanh":
                self.as_array(outputs[0])[...] *= 1.001
        """,
    ),
    "wrong gradient": (
        "test_operator_gradients",
        """
        def elementwise(self, formula, inputs, outputs):
            super().elementwise(formula, inputs, outputs)
            if formula.name == "sigmoid_gradient_0":
                self.as_array(outputs[0])[...] *= 0.999
        """,
    ),
    "nan swallowed": (
        "test_operator_special_values",
        """
        def elementwise(self, formula, inputs, outputs):
            super().elementwise(formula, inputs, outputs)
            if formula.name == "maximum":
                import numpy as np
                np.fmax(*map(self.as_array, inputs), out=self.as_array(outputs[0]))
        """,
    ),
    "input overwritten": (
        "test_operator_values",
        """
        def elementwise(self, formula, inputs, outputs):
            super().elementwise(formula, inputs, outputs)
            if formula.name == "exp":
                self.as_array(inputs[0])[...] = 0
        """,
    ),
    "strides ignored": (
        "test_host_and_back",
        """
        def copy(self, source, out):
            if 0 not in source.strides:
                source = source.like(source.shape, out.strides, source.offset)
            super().copy(source, out)
        """,
    ),
    "last element left out": (
        "test_reduce",
        """
        def reduce(self, operator, source, out, dims):
            if dims and source.shape[dims[0]] > 1:
                lengths = list(source.shape)
                lengths[dims[0]] -= 1
                zeros, ones = (0,) * source.ndim, (1,) * source.ndim
                source = source.slice(zeros, ones, tuple(lengths))
            super().reduce(operator, source, out, dims)
        """,
    ),
    "repetitions dropped": (
        "test_gather_and_scatter",
        """
        def scatter(self, source, dim, index, out, operator=None):
            import numpy as np
            before = self.as_array(out).copy()
            super().scatter(source, dim, index, out)
            if operator is not None:
                now = self.as_array(out)
                now[...] = np.where(now != before, operator.function(before, now), before)
        """,
    ),
    "transposed operand misread": (
        "test_matmul",
        """
        def matmul(self, a, b, out):
            wrong = b.like(b.shape, tuple(reversed(b.strides)), b.offset)
            super().matmul(a, wrong if b.shape[-1:] == b.shape[-2:-1] else b, out)
        """,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_kit_finds(fault: str, pytester: pytest.Pytester) -> None:
    selected, method = FAULTS[fault]
    plugin = (
        "import mt_tensor as mt\n"
        "from mt_tensor.backends.numpy import NumpyOps\n"
        "class Faulty(NumpyOps):\n"
        "    name = 'faulty'\n"
        f"{textwrap.indent(textwrap.dedent(method), '    ')}\n"
        "mt.register_backend('faulty', Faulty)\n"
    )
    Path(pytester.path, "faulty_plugin.py").write_text(plugin)
    pytester.syspathinsert()
    result = pytester.runpytest_subprocess(
        "-p", "faulty_plugin", "--pyargs", "mt_tensor.conformance", "--mt-backend", "faulty",
        "-x", "-q", "-k", selected, "-p", "no:cacheprovider",
    )  # fmt: skip
    assert result.ret == pytest.ExitCode.TESTS_FAILED, result.stdout.str()
