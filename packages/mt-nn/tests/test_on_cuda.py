"""All layers and functions on mt-cuda's kernels, where it is installed, run by its simulator."""

import os
import subprocess
import sys

import pytest

from mt_tensor.backends import backends


@pytest.mark.slow
@pytest.mark.skipif("cuda" not in backends(), reason="mt-cuda is not installed")
def test_the_kit_passes_on_the_simulator() -> None:
    """In a process of its own, for whether kernels are simulated is decided when Numba loads."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--pyargs", "mt_nn.conformance", "--mt-backend", "cuda"]
    found = subprocess.run(
        command, env={**os.environ, "MT_CUDA_SIM": "1"}, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    assert " passed" in found.stdout
    assert " skipped" not in found.stdout
