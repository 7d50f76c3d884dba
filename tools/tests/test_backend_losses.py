"""The same training has the same losses on every backend, including the simulated GPU."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FEW = {
    "fast": ["--batches", "3", "--batch-size", "8"],
    "cuda": ["--batches", "1", "--batch-size", "2"],
}


def losses(backend: str, arguments: list[str], folder: Path) -> list[float]:
    """Train on a few batches, in a separate process, and return the loss of each."""
    command = [sys.executable, "-m", "mt_nn.jobs.command.cli", "--epochs", "1", *arguments]
    subprocess.run(
        [*command, "--backend", backend, "--out", str(folder / backend)],
        env={**os.environ, "MT_CUDA_SIM": "1"},
        check=True,
    )
    with (folder / backend / "losses.csv").open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("backend", FEW)
def test_training_losses_of_each_backend_match_numpy(backend: str, tmp_path: Path) -> None:
    theirs = losses("numpy", FEW[backend], tmp_path)
    np.testing.assert_allclose(losses(backend, FEW[backend], tmp_path), theirs, rtol=1e-5)
