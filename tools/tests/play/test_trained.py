"""Networks saved by `mt-train` are loaded, and invalid folders are rejected with a message."""

import io
from pathlib import Path

import pytest

import mt_tensor as mt
from mt_nn import FileError
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.command.training import train
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.mnist import MNIST
from mt_nn.jobs.sentiment import Sentiment
from play.drawn import as_seen, shares
from play.inputs import InputError
from play.lenet import Training
from play.trained import saved


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training run of digits."""
    folder = tmp_path_factory.mktemp("runs") / "digits"
    run = Run(folder, "digits", Training(epochs=1).job().settings)
    train(run, io.StringIO())
    return folder


def test_saved_network_classifies_a_drawing(digits: Path) -> None:
    job, network = saved(f" {digits} ", Digits, MNIST)
    given = shares(network, as_seen([[(0.3, 0.2), (0.6, 0.8)]], job.shape[1]))
    assert given.sum() == pytest.approx(1.0)
    assert given.shape == (len(job.classes),)


def test_loading_a_network_leaves_the_random_generator_unchanged(digits: Path) -> None:
    before = mt.get_rng_state()
    saved(str(digits), Digits)
    assert mt.get_rng_state() == before


def test_training_of_another_job_raises_input_error(digits: Path) -> None:
    with pytest.raises(InputError, match="does not contain a training run of sentiment"):
        saved(str(digits), Sentiment)
    with pytest.raises(InputError, match="does not contain a training run of mnist or fashion"):
        saved(str(digits), MNIST)


def test_invalid_folder_raises_input_error_or_file_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="~unknown-here/runs: Could not determine home directory"):
        saved("~unknown-here/runs", Digits)
    for missing in (" ", str(tmp_path), "long" * 2000, "zero\0byte"):
        with pytest.raises(FileError, match="not the folder of a training"):
            saved(missing, Digits)
