"""The same training gives the same losses on every backend."""

import csv
from pathlib import Path

import numpy as np
import pytest

from mt_nn.train import cli

FEW = ["--epochs", "1", "--batches", "2", "--batch-size", "4"]


def losses(backend: str, folder: Path) -> list[float]:
    """Train on a few batches and return the loss of each."""
    assert cli.main([*FEW, "--backend", backend, "--out", str(folder / backend)]) == 0
    with (folder / backend / "losses.csv").open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("backend", ["fast"])
def test_losses_are_numpys(backend: str, tmp_path: Path) -> None:
    np.testing.assert_allclose(losses(backend, tmp_path), losses("numpy", tmp_path), rtol=1e-5)
