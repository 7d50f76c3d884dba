"""The report of the conformance kit."""

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [[], ["-n", "2"]])
def test_the_kit_writes_a_report(pytester, processes):
    test = "test_operations::test_operation_gradients"
    run = pytester.runpytest_subprocess(
        "--pyargs", f"mt_tensor.conformance.{test}", "-k", "cumprod or tril",
        "--mt-report", "found/numpy.json", "-p", "no:cacheprovider", *processes,
    )  # fmt: skip
    assert run.ret == pytest.ExitCode.OK
    found = json.loads(Path(pytester.path, "found", "numpy.json").read_text())
    assert found["backend"] == "numpy"
    assert found["kernels"] == ["argmax", "argmin", "log_softmax", "softmax"]
    assert {name: list(counts) for name, counts in found["operations"].items()} == {
        "cumprod": ["passed"],
        "tril": ["passed"],
    }
