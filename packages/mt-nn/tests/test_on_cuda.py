"""Conformance tests of mt-nn on the simulator of mt-cuda, if that is installed."""

import os
import subprocess
import sys

import pytest

from mt_tensor.backends import backends


@pytest.mark.slow
@pytest.mark.skipif("cuda" not in backends(), reason="mt-cuda is not installed")
def test_conformance_tests_pass_on_the_cuda_simulator() -> None:
    """Run in a subprocess, because Numba decides on import whether to simulate kernels."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--pyargs", "mt_nn.conformance", "--mt-backend", "cuda"]
    result = subprocess.run(
        command, env={**os.environ, "MT_CUDA_SIM": "1"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    assert " passed" in result.stdout
    assert " skipped" not in result.stdout
