"""`--mt-report`: the report of the conformance kit."""

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_kit_writes_report_with_and_without_worker_processes(pytester, options):
    test = "test_operations::test_operation_gradients_match_finite_differences"
    run = pytester.runpytest_subprocess(
        "--pyargs", f"mt_tensor.conformance.{test}", "-k", "cumprod or tril",
        "--mt-report", "report/numpy.json", "-p", "no:cacheprovider", *options,
    )  # fmt: skip
    assert run.ret == pytest.ExitCode.OK
    report = json.loads(Path(pytester.path, "report", "numpy.json").read_text())
    assert report["backend"] == "numpy"
    assert report["kernels"] == ["argmax", "argmin", "log_softmax", "softmax"]
    assert {name: list(counts) for name, counts in report["operations"].items()} == {
        "cumprod": ["passed"],
        "tril": ["passed"],
    }
