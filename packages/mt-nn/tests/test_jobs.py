"""`mt-train`: output files, resumption, predictions, and errors."""

import contextlib
import csv
import gzip
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

import mt_nn as nn
import mt_tensor as mt
from mt_nn.errors import FileError, InputError
from mt_nn.jobs import JOBS, digits, job_class, sentiment
from mt_nn.jobs.classification import hold_out
from mt_nn.jobs.command import cli, runs, training
from mt_nn.jobs.job import Settings
from mt_nn.jobs.points import point_of
from mt_nn.train import LeNet, ResNet9
from mt_nn.train.callbacks import TERMINATING
from mt_nn.train.trainer import Trainer

PNG = b"\x89PNG\r\n\x1a\n"
SHORT = ["--epochs", "1", "--batches", "2", "--batch-size", "8"]


@pytest.fixture
def with_plots() -> None:
    """Draw plots, which `short_jobs` skips otherwise."""


@pytest.fixture(autouse=True)
def short_jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip plots, which take most of the time of a short training, and generate short texts."""
    monkeypatch.setattr(job_class("shakespeare"), "length", 40)
    if "with_plots" not in request.fixturenames:
        monkeypatch.setattr(training, "draw_curves", lambda history: PNG)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def losses(folder: Path) -> list[float]:
    return [float(row["loss"]) for row in read_csv(folder / "losses.csv")]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- Generated data in the published formats ------------------------------------------------------


def write_idx(path: Path, array: np.ndarray[Any, Any]) -> None:
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


def write_mnist(folder: Path, parts: Sequence[str] = ("train", "t10k"), count: int = 40) -> None:
    """Write files like MNIST's with random images."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for part in parts:
        images = rng.integers(0, 256, (count, 28, 28))
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", np.arange(count) % 10)


def write_cifar10(folder: Path) -> None:
    """Write files like those of CIFAR-10's binary version, with random images."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"):
        rows = rng.integers(0, 256, (12, 3073), np.uint8)
        rows[:, 0] %= 10
        (folder / name).write_bytes(rows.tobytes())


def write_shakespeare(folder: Path, count: int = 500) -> None:
    """Write a play of lines that repeat."""
    folder.mkdir()
    lines = (f"KING {number}:\nGood morrow, cousin {number % 7}.\n" for number in range(count))
    (folder / "input.txt").write_text("\n".join(lines))


POINTS = ["simple", "diag", "split", "xor", "circle", "spiral"]
GOOD, BAD = ("fine", "superb", "warm"), ("dull", "stale", "loud")


def reviews(count: int = 120) -> list[tuple[str, int]]:
    """Return labelled sentences, half of them with a good word, half with a bad one."""
    rng = np.random.default_rng(0)
    labelled = []
    for number in range(count):
        label, length = number % 2, rng.integers(2, 12)
        words = rng.choice(["the", "film", "plot", "is", "in", ",", "it's"], length).tolist()
        words[rng.integers(length)] = rng.choice(GOOD if label else BAD)
        labelled.append((" ".join(words).capitalize() + f" once{number}.", label))
    return labelled


def write_reviews(folder: Path) -> None:
    """Write a file of rated reviews."""
    folder.mkdir()
    lines = [f"{n}\t{label - 0.5}\t{text}\n" for n, (text, label) in enumerate(reviews())]
    (folder / "movieReviewSnippets_GroundTruth.txt").write_text("".join(lines))


def write_penn_treebank(folder: Path, parts: Sequence[str] = ("train", "valid", "test")) -> None:
    """Write texts of few words, one of which is different in each part."""
    folder.mkdir(exist_ok=True)
    for part in parts:
        lines = (f" the company said N <unk> would {n % 9} and {part} \n" for n in range(600))
        (folder / f"ptb.{part}.txt").write_text("".join(lines))


DATA: dict[str, Callable[[Path], None]] = {
    **dict.fromkeys([*POINTS, "digits"], lambda folder: None),
    "mnist": lambda folder: write_mnist(folder / "mnist"),
    "fashion": lambda folder: write_mnist(folder / "fashion-mnist"),
    "cifar10": lambda folder: write_cifar10(folder / "cifar10"),
    "language": lambda folder: write_penn_treebank(folder / "penn-treebank"),
    "shakespeare": lambda folder: write_shakespeare(folder / "tiny-shakespeare"),
    "sentiment": lambda folder: write_reviews(folder / "movie-reviews"),
}
"""Functions that write the data of each job into a data folder."""

JOBS_AND_MODELS = [(job, model) for job in JOBS for model in job_class(job).models]


@pytest.mark.usefixtures("with_plots")
@pytest.mark.slow
@pytest.mark.parametrize(("job", "model"), JOBS_AND_MODELS)
def test_every_job_trains_and_reports_the_files_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], job: str, model: str
) -> None:
    DATA[job](tmp_path)
    out = tmp_path / "out"
    options = ["--data-dir", str(tmp_path), "--out", str(out)]
    assert cli.main([job, "--model", model, *SHORT, *options]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^epoch  1  ", printed, re.MULTILINE)
    assert re.search(r"^test: ", printed, re.MULTILINE)
    assert re.search(r"^took \d+ s$", printed, re.MULTILINE)
    assert (out / "training.png").read_bytes().startswith(PNG)
    assert len(read_csv(out / "log.csv")) == 1
    assert len(losses(out)) == 2
    assert runs.Run.read(out).finished
    reported = set(re.findall(rf"^wrote {re.escape(str(out))}/(.*)$", printed, re.MULTILINE))
    assert reported == names_in(out) - {"checkpoints"}


class WideDigits(digits.Digits):
    """A job defined by a user."""

    about = "the digits, with a wider network"

    def network(self) -> nn.Module:
        return LeNet(8, channels=(16, 32))


def test_user_defined_job_trains_and_predicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(JOBS, "wide-digits", WideDigits)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["wide-digits", *SHORT]) == 0
    weights = nn.load("runs/wide-digits/model.safetensors").values()
    assert any(weight.shape[:2] == (16, 1) for weight in weights)
    Image.new("L", (8, 8)).save("7.png")
    assert cli.main(["predict", "runs/wide-digits", "7.png"]) == 0
    assert " %, " in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("with_plots")
@pytest.mark.slow
def test_digits_job_learns_and_writes_consistent_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--epochs", "2", "--out", str(tmp_path)]) == 0
    sizes, *epochs = capsys.readouterr().out.splitlines()
    epochs, test, wrote = epochs[:2], epochs[2], epochs[4:]
    assert re.findall(r"\d+ images|\d+ for", sizes) == ["1150 images", "287 for", "360 for"]
    assert [line.split()[1] for line in epochs] == ["1", "2"]
    assert all("test" not in line for line in epochs)
    values = losses(tmp_path)
    assert len(values) == 2 * 18
    assert values[-1] < 1.5 < values[0]
    model = LeNet(dropout=0)
    model.load_state_dict(nn.load(tmp_path / "model.safetensors"))
    images, labels = nn.data.digits()[1][:]
    scores = model.eval()(images)
    assert nn.functional.accuracy(scores, labels) > 0.75
    wrong = (scores.argmax(1) != labels).numpy()
    loss = nn.functional.cross_entropy(scores, labels).item()
    assert test == (
        f"test: cross-entropy {loss:.4f}, accuracy {100 - wrong.sum() / 3.6:.1f} %, "
        f"{wrong.sum()} of 360 images wrong"
    )
    rows = read_csv(tmp_path / "mistakes.csv")
    assert {int(row["sample"]) for row in rows} == set(np.flatnonzero(wrong).tolist())
    probabilities = [float(row["probability"]) for row in rows]
    assert probabilities == sorted(probabilities, reverse=True)
    confusion = read_csv(tmp_path / "confusion.csv")
    for row, name in zip(confusion, "0123456789", strict=True):
        assert row.pop("right class") == name
        assert sum(map(int, row.values())) == int((labels == int(name)).sum())
    assert sum(int(row[str(n)]) for n, row in enumerate(confusion)) == 360 - wrong.sum()
    assert {Path(line.removeprefix("wrote ")).name for line in wrote} == {
        "confusion.csv", "log.csv", "losses.csv", "mistakes.csv", "model.safetensors", "run.json",
        "training.png",
    }  # fmt: skip


class CountingDataset(nn.data.TensorDataset):
    """Count how often samples are read."""

    reads = 0

    def __getitem__(self, index: Any) -> tuple[mt.Tensor, ...]:
        self.reads += 1
        return super().__getitem__(index)


@pytest.mark.slow
def test_test_set_is_not_read_during_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, test = nn.data.digits()
    counted = CountingDataset(*test.tensors)
    fit = Trainer.fit

    def fit_and_check(*arguments: Any, **settings: Any) -> Any:
        history = fit(*arguments, **settings)
        assert counted.reads == 0
        return history

    monkeypatch.setattr(digits, "digits", lambda: (images, counted))
    monkeypatch.setattr(Trainer, "fit", fit_and_check)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 0
    assert counted.reads


def test_no_test_option_never_reads_the_test_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images, test = nn.data.digits()
    counted = CountingDataset(*test.tensors)
    monkeypatch.setattr(digits, "digits", lambda: (images, counted))
    assert cli.main([*SHORT, "--no-test", "--out", str(tmp_path)]) == 0
    assert "16 for the test, which is skipped" in capsys.readouterr().out
    assert counted.reads == 0
    assert not (tmp_path / "confusion.csv").exists()


def test_validation_split_does_not_depend_on_the_seed() -> None:
    images, _ = nn.data.digits()
    train, validation = hold_out(images, digits.HELD_OUT)
    assert (len(train), len(validation)) == (1150, 287)
    assert set(train.indices) | set(validation.indices) == set(range(1437))
    mt.manual_seed(1)
    repeated = hold_out(images, digits.HELD_OUT)
    assert [part.indices.tolist() for part in repeated] == [
        part.indices.tolist() for part in (train, validation)
    ]


@pytest.mark.slow
def test_losses_agree_on_numpy_and_simple_backends(tmp_path: Path) -> None:
    options = ["--epochs", "1", "--batches", "2", "--batch-size", "1", "--no-test"]
    for backend in ("numpy", "simple"):
        arguments = [*options, "--backend", backend, "--out", str(tmp_path / backend)]
        assert cli.main(arguments) == 0
    np.testing.assert_allclose(losses(tmp_path / "simple"), losses(tmp_path / "numpy"), rtol=1e-5)


@pytest.mark.slow
def test_same_seed_gives_same_losses(tmp_path: Path) -> None:
    for run, seed in {"a": "0", "b": "0", "c": "1"}.items():
        assert cli.main([*SHORT, "--seed", seed, "--out", str(tmp_path / run)]) == 0
    assert losses(tmp_path / "a") == losses(tmp_path / "b") != losses(tmp_path / "c")


# --- Points of the plane --------------------------------------------------------------------------


@pytest.mark.slow
def test_point_jobs_learn_and_predict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--epochs", "3", "--batches", "40", "--out", str(tmp_path)]
    assert cli.main(["simple", *options]) == 0
    assert float(re.findall(r"test: .*accuracy ([\d.]+) %", capsys.readouterr().out)[0]) > 90
    assert cli.main(["predict", str(tmp_path), "0.1 0.5", "0.9,0.5"]) == 0
    left, right = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"class 1 [\d.]+ %, class 0 [\d.]+ %", left)
    assert re.fullmatch(r"class 0 [\d.]+ %, class 1 [\d.]+ %", right)
    mistakes = read_csv(tmp_path / "mistakes.csv")
    for row in mistakes:
        assert (float(row["sample"].split()[0]) < 0.5) == (row["right class"] == "class 1")


@pytest.mark.parametrize("text", ["", "1", "1 2 3", "1,2,3", "nan 1", "1 inf", "a b", "0x1 2"])
def test_invalid_point_raises(text: str) -> None:
    with pytest.raises(InputError, match="a point must be two finite numbers in quotes"):
        point_of(text)


def test_prediction_of_nan_scores_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diag", *SHORT, "--out", str(tmp_path)]) == 0
    assert cli.main(["predict", str(tmp_path), "1e300 1"]) == 1
    assert "the scores of the network are nan" in capsys.readouterr().err


# --- Interrupting and resuming --------------------------------------------------------------------


@pytest.fixture(autouse=True)
def default_signal_handlers() -> Iterator[None]:
    """Use the default handlers, even if the parent process ignores signals."""
    defaults = dict.fromkeys(TERMINATING, signal.SIG_DFL) | {
        signal.SIGINT: signal.default_int_handler
    }
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupt_after(
    batches: int, monkeypatch: pytest.MonkeyPatch, number: signal.Signals = signal.SIGINT
) -> None:
    """Send SIGINT, or another signal, after this number of batches."""
    train_on = Trainer._train_on
    count = 0

    def counted(self: Trainer, batch: Any) -> None:
        nonlocal count
        train_on(self, batch)
        count += 1
        if count == batches:
            signal.raise_signal(number)

    monkeypatch.setattr(Trainer, "_train_on", counted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "options", "batches"),
    [
        ("digits", [], 1),
        ("cifar10", [], 5),
        ("sentiment", [], 3),
        ("language", [], 3),
        ("shakespeare", [], 6),
        ("xor", [], 7),
    ],
)
def test_resuming_after_control_c_gives_same_losses_and_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    job: str,
    options: list[str],
    batches: int,
) -> None:
    DATA[job](tmp_path)
    settings = [job, *options, "--epochs", "2", "--batches", "4", "--batch-size", "8"]
    settings += ["--data-dir", str(tmp_path)]
    complete, resumed = tmp_path / "complete", tmp_path / "resumed"
    assert cli.main([*settings, "--out", str(complete)]) == 0
    interrupt_after(batches, monkeypatch)
    assert cli.main([*settings, "--out", str(resumed)]) == 130
    assert capsys.readouterr().err == (
        f"mt-train: interrupted; resume with mt-train --resume {resumed}.\n"
    )
    assert cli.main(["predict", str(resumed), "image.png"]) == 1
    assert "is not finished: resume it with mt-train --resume" in capsys.readouterr().err
    assert cli.main([*settings, "--out", str(resumed)]) == 1  # an unfinished run is not overwritten
    assert "contains an unfinished training" in capsys.readouterr().err
    assert cli.main(["--resume", str(resumed)]) == 0
    assert losses(resumed) == losses(complete)
    assert (resumed / "log.csv").read_text() == (complete / "log.csv").read_text()
    one, other = (nn.load(folder / "model.safetensors") for folder in (complete, resumed))
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_control_c_before_first_batch_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(digits.Digits, "read", interrupt)
    assert cli.main(["--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "mt-train: interrupted; nothing was saved.\n"
    assert not (tmp_path / "out").exists()


def test_control_c_while_reading_data_keeps_the_previous_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: Any) -> Any:
        raise KeyboardInterrupt

    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 0
    monkeypatch.setattr(digits.Digits, "read", interrupt)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "mt-train: interrupted; nothing was saved.\n"
    assert runs.Run.read(tmp_path).finished


def test_output_folder_is_checked_before_reading_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    monkeypatch.setattr(digits.Digits, "read", lambda self: pytest.fail("the data were read"))
    assert cli.main(["--out", str(tmp_path)]) == 1
    assert "contains thesis.tex, but no training run: choose an empty" in capsys.readouterr().err


@pytest.mark.parametrize("job", ["language", "sentiment"])
def test_resuming_with_changed_data_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    job: str,
) -> None:
    DATA[job](tmp_path)
    out = tmp_path / "out"
    interrupt_after(1, monkeypatch)
    assert cli.main([job, *SHORT, "--data-dir", str(tmp_path), "--out", str(out)]) == 130
    for path in [*tmp_path.rglob("*.train.txt"), *tmp_path.rglob("movieReview*.txt")]:
        path.write_text(path.read_text().replace("company", "firm").replace("plot", "story"))
    capsys.readouterr()
    assert cli.main(["--resume", str(out)]) == 1
    printed = capsys.readouterr().err
    assert f"the data in {tmp_path} have changed since the training in {out} was started" in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mnist"], "has job digits, not mnist"),
        (["--lr", "0.5"], "has lr 0.01, not 0.5"),
        (["--batch-size", "9"], "has batch-size 8, not 9"),
        (["--out", "elsewhere"], "has out"),
    ],
)
def test_resuming_with_changed_settings_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    interrupt_after(1, monkeypatch)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 130
    assert cli.main(["--resume", str(tmp_path), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert cli.main(["--resume", str(tmp_path), "digits", "--epochs", "1"]) == 0
    assert cli.main(["--resume", str(tmp_path)]) == 1
    assert "is finished" in capsys.readouterr().err


def test_resuming_works_after_removing_a_damaged_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    complete, resumed = tmp_path / "complete", tmp_path / "resumed"
    settings = ["xor", "--epochs", "3", "--batches", "2"]
    assert cli.main([*settings, "--out", str(complete)]) == 0
    interrupt_after(5, monkeypatch)
    assert cli.main([*settings, "--out", str(resumed)]) == 130
    *_, last = sorted((resumed / "checkpoints").iterdir())
    content = bytearray(last.read_bytes())
    content[-20] ^= 1
    last.write_bytes(content)
    capsys.readouterr()
    assert cli.main(["--resume", str(resumed)]) == 1
    message = f"{last} is missing or damaged: remove it, and resume from the previous checkpoint"
    assert message in capsys.readouterr().err
    last.unlink()
    assert cli.main(["--resume", str(resumed)]) == 0
    assert "resuming in epoch 3, after 0 batches" in capsys.readouterr().out
    assert losses(resumed) == losses(complete)
    (resumed / "model.safetensors").write_bytes(content[:50])
    assert cli.main(["predict", str(resumed), "0.1 0.2"]) == 1
    assert "is missing or damaged: restore it or train again" in capsys.readouterr().err


@pytest.mark.slow
def test_resuming_uses_the_same_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(1, monkeypatch)
    assert cli.main(["xor", *SHORT, "--backend", "simple", "--out", str(tmp_path)]) == 130
    backends = []
    evaluate = Trainer.evaluate

    def evaluate_and_record(self: Trainer, loader: Any) -> Any:
        backends.append(mt.current_backend().name)
        return evaluate(self, loader)

    monkeypatch.setattr(Trainer, "evaluate", evaluate_and_record)
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert set(backends) == {"simple"}


def test_run_of_unknown_backend_predicts_and_resumes_with_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 0
    run = runs.Run.read(tmp_path)
    run.backend = "no_such_backend"
    run.write()
    assert cli.main(["predict", str(tmp_path), "0.1 0.2"]) == 0
    run.finished = False
    run.write()
    assert cli.main(["--resume", str(tmp_path)]) == 1
    assert "no backend is called 'no_such_backend'" in capsys.readouterr().err
    assert cli.main(["--resume", str(tmp_path), "--backend", "numpy"]) == 0


def test_resuming_takes_the_folder_of_moved_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shakespeare(tmp_path / "plays")
    interrupt_after(1, monkeypatch)
    assert cli.main(["shakespeare", *SHORT, "--data-dir", "plays"]) == 130
    Path("plays").rename("moved")
    assert cli.main(["--resume", "runs/shakespeare"]) == 1
    assert "plays: No such file or directory. Set --data-dir to" in capsys.readouterr().err
    assert cli.main(["--resume", "runs/shakespeare", "--data-dir", "moved"]) == 0


def test_training_is_kept_if_its_plot_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: Path, content: bytes) -> None:
        raise FileError(f"could not write {path} (No space left on device).")

    settings = ["xor", "--epochs", "2", "--batches", "2"]
    with monkeypatch.context() as patch:
        patch.setattr(training, "write_atomically", fail)
        assert cli.main([*settings, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr().err
    assert printed.endswith(f" Then resume: mt-train --resume {tmp_path}.\n")
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert len(losses(tmp_path)) == 4


def test_image_with_bright_background_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main([*SHORT, "--out", str(out)]) == 0
    page = Image.new("L", (8, 8), 255)
    page.paste(0, (2, 2, 6, 6))
    page.save(tmp_path / "7.png")
    assert cli.main(["predict", str(out), str(tmp_path / "7.png")]) == 1
    assert "has a bright background" in capsys.readouterr().err
    ImageOps.invert(page).save(tmp_path / "7.png")
    assert cli.main(["predict", str(out), str(tmp_path / "7.png")]) == 0


def test_checkpoint_of_another_network_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_after(1, monkeypatch)
    assert cli.main([*SHORT, "--out", str(tmp_path / "digits")]) == 130
    write_mnist(tmp_path / "mnist")
    interrupt_after(1, monkeypatch)
    options = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert cli.main(["mnist", *SHORT, *options]) == 130
    (checkpoint,) = (tmp_path / "digits" / "checkpoints").glob("*.safetensors")
    for path in (tmp_path / "out" / "checkpoints").glob("*.safetensors"):
        path.write_bytes(checkpoint.read_bytes())
    before = sorted(tmp_path.rglob("*.safetensors"))
    assert cli.main(["--resume", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr().err
    assert "mt-train: " in printed
    assert "Traceback" not in printed
    assert sorted(tmp_path.rglob("*.safetensors")) == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"name": "digits"}',
        b'{"name": "chess", "settings": {"model": "random", "epochs": 1, "batch_size": 1, '
        b'"lr": 0.1, "seed": 0, "data_dir": ""}}',
        b'{"name": ["digits"], "settings": {"model": "random", "epochs": 1, "batch_size": 1, '
        b'"lr": 0.1, "seed": 0, "data_dir": ""}}',
        b'{"name": "sentiment", "settings": {"model": "random", "epochs": 1, "batch_size": 1, '
        b'"lr": 0.1, "seed": 0, "data_dir": ""}, "job_state": {"tokens": 5}}',
        b'{"name": "sentiment", "settings": {"model": "random", "epochs": 1, "batch_size": 1, '
        b'"lr": 0.1, "seed": 0, "data_dir": ""}, "job_state": [5]}',
        b"[" * 100_000,
    ],
    ids=[
        "empty",
        "list",
        "truncated",
        "no settings",
        "unknown job",
        "job of another type",
        "tokens not a list",
        "state not a dictionary",
        "nested",
    ],
)
def test_damaged_run_file_raises(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        runs.Run.read(tmp_path)


# --- Prediction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "saved", [None, 5, [1, 2], {}, {"x": 1}, {0: mt.ones(2)}, {"weights": {"a": mt.ones(2)}}]
)
def test_prediction_with_invalid_model_file_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], saved: Any
) -> None:
    runs.Run(tmp_path, "xor", Settings("tensors", 1, 1, 0.1, 0, ""), finished=True).write()
    nn.save(saved, tmp_path / "model.safetensors")
    assert cli.main(["predict", str(tmp_path), "0 0"]) == 1
    message = f"mt-train: {tmp_path}/model.safetensors does not fit this network: "
    assert re.fullmatch(f"{re.escape(message)}.*\n", capsys.readouterr().err)


@pytest.mark.slow
def test_predicted_classes_of_images_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert cli.main(["--epochs", "5", "--out", str(run)]) == 0
    images, labels = nn.data.digits()[1][:20]
    names = []
    for number, image in enumerate(images):
        names.append(str(tmp_path / f"{number}.png"))
        pixels = (image[0] * 255).numpy().astype(np.uint8)
        Image.fromarray(pixels).save(names[-1])
    capsys.readouterr()
    assert cli.main(["predict", str(run), *names]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        np.mean([line[0] == str(n) for line, n in zip(lines, labels.tolist(), strict=True)]) > 0.8
    )
    assert all(re.fullmatch(r"\d [\d.]+ %, \d [\d.]+ %, \d [\d.]+ %", line) for line in lines)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.png", "No such file"),
        ("text.png", "not an image that can be read"),
        ("large.png", "has 30 x 20 pixels; the network takes images of 8 x 8"),
        (".", "Is a directory"),
        ("pipe.png", "it is a device or a pipe, not a file"),
        ("animated.gif", "contains 2 images: save one of them"),
        ("deep.png", "has more than 8 bits per channel"),
        ("glass.png", "has transparent pixels"),
        ("huge.png", "has 10000 x 9000 pixels"),
        ("cut.png", "not an image that can be read"),
    ],
)
def test_unsupported_image_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    (tmp_path / "text.png").write_text("no image")
    os.mkfifo(tmp_path / "pipe.png")
    Image.new("L", (30, 20)).save(tmp_path / "large.png")
    frames = [Image.new("L", (8, 8), shade) for shade in (0, 99)]
    frames[0].save(tmp_path / "animated.gif", save_all=True, append_images=frames[1:])
    Image.new("I;16", (8, 8)).save(tmp_path / "deep.png")
    Image.new("RGBA", (8, 8)).save(tmp_path / "glass.png")
    Image.new("1", (10000, 9000)).save(tmp_path / "huge.png")
    frames[1].save(tmp_path / "complete.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "complete.png").read_bytes()[:50])
    job = digits.Digits(Settings("lenet", 1, 1, 0.1, 0, ""))
    run = runs.Run(tmp_path, "digits", job.settings, finished=True)
    run.save(job.network())
    run.write()
    assert cli.main(["predict", str(tmp_path), str(tmp_path / name)]) == 1
    printed = capsys.readouterr().err
    assert re.match(r"mt-train: .*\n\Z", printed)
    assert message in printed


# --- Sentences ------------------------------------------------------------------------------------


def train_sentiment(folder: Path, *arguments: str) -> int:
    folders = ["--data-dir", str(folder), "--out", str(folder / "out")]
    return cli.main(["sentiment", "--batch-size", "16", *folders, *arguments])


def test_predicted_classes_of_sentences_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_reviews(tmp_path / "movie-reviews")
    assert train_sentiment(tmp_path, "--epochs", "12", "--lr", "0.03") == 0
    assert "accuracy 100.0 %, 0 of 12 sentences wrong" in capsys.readouterr().out
    sentences = ["The film is superb, it's ...", "stale"]
    assert cli.main(["predict", str(tmp_path / "out"), *sentences]) == 0
    good, bad = capsys.readouterr().out.splitlines()
    percent = r"[\d.]+ %"
    assert re.fullmatch(rf"positive {percent}, negative {percent}", good)
    assert re.fullmatch(rf"negative {percent}, positive {percent}", bad)


def test_mistakes_file_contains_misclassified_sentences(tmp_path: Path) -> None:
    write_reviews(tmp_path / "movie-reviews")
    assert train_sentiment(tmp_path, "--epochs", "1", "--lr", "0") == 0
    rows = read_csv(tmp_path / "out" / "mistakes.csv")
    classes = dict(reviews())
    assert rows
    for row in rows:
        assert row["right class"] == ("negative", "positive")[classes[row["sample"]]]
        assert row["predicted class"] != row["right class"]


def test_vocabulary_has_frequent_words_of_the_training_set(tmp_path: Path) -> None:
    write_reviews(tmp_path / "movie-reviews")
    job = sentiment.Sentiment(Settings("random", 1, 8, 0.1, 0, str(tmp_path)))
    rest, _ = hold_out(reviews(), 0.1)  # type: ignore[arg-type]
    train, _ = hold_out(rest, 0.1)
    counts = Counter(word for text, _ in train for word in nn.data.tokenize(text))
    assert job.read().counts == (98, 10, 12)
    assert set(job.vocabulary.tokens) - {"<pad>", "<unk>"} == {w for w in counts if counts[w] > 1}


def test_sst2_files_are_used_if_they_exist(tmp_path: Path) -> None:
    lines = [f"{text}\t{label}\n" for text, label in reviews(50)]
    for name, part in {"train.tsv": lines[:40], "dev.tsv": lines[40:]}.items():
        (tmp_path / name).write_text("".join(["sentence\tlabel\n", *part]))
    job = sentiment.Sentiment(Settings("random", 1, 8, 0.1, 0, str(tmp_path)))
    assert job.read().counts == (36, 4, 10)


@pytest.mark.slow
@pytest.mark.parametrize("interrupted", [None, 3, 10])
def test_saved_parameters_are_those_of_the_best_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: int | None
) -> None:
    write_reviews(tmp_path / "movie-reviews")
    if interrupted is not None:
        interrupt_after(interrupted, monkeypatch)
    status = train_sentiment(tmp_path, "--epochs", "40", "--lr", "0.03")
    if interrupted is not None:
        assert status == 130
        assert cli.main(["--resume", str(tmp_path / "out")]) == 0
    run = runs.Run.read(tmp_path / "out")
    job = run.job()
    trainer = training.trainer_of(job, job.read())
    trainer.model.load_state_dict(nn.load(run.model))
    rows = [
        (float(row["validation_accuracy"]), float(row["validation_cross_entropy"]))
        for row in read_csv(run.folder / "log.csv")
    ]
    best = max(rows, key=lambda row: row[0])
    metrics = trainer.evaluate(job.read().validation)
    assert metrics["cross_entropy"] == pytest.approx(best[1], rel=1e-5)
    assert len(rows) == rows.index(best) + 4  # it stops after three epochs without improvement


def test_sentences_without_words_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "movieReviewSnippets_GroundTruth.txt"
    path.write_text("".join(f"{n}\t1\t{'' if n % 2 else 'fine'}\n" for n in range(100)))
    job = sentiment.Sentiment(Settings("random", 1, 8, 0.1, 0, str(tmp_path)))
    assert sum(job.read().counts) == 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the sentence is empty"),
        (" \n", "the sentence is empty"),
        ("qwertz uiop", "no word of 'qwertz uiop' occurs in the training sentences"),
        (
            "fine " * 201,
            "a text of 201 words was given; the network takes sentences of at most 200",
        ),
    ],
)
def test_unsupported_sentence_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    job = sentiment.Sentiment(Settings("random", 1, 1, 0.1, 0, ""))
    job.load_state({"tokens": ["<pad>", "<unk>", "fine"]})
    run = runs.Run(tmp_path, "sentiment", job.settings, job.state(), finished=True)
    run.save(job.network())
    run.write()
    assert cli.main(["predict", str(tmp_path), "fine", text]) == 1
    out, printed = capsys.readouterr()
    assert out.count("\n") == 1  # the prediction for the first sentence
    assert re.match(r"mt-train: .*\n\Z", printed)
    assert message in printed


# --- Errors ---------------------------------------------------------------------------------------


def test_mnist_without_training_images_splits_the_test_images(tmp_path: Path) -> None:
    write_mnist(tmp_path / "mnist", parts=["t10k"], count=100)
    job = job_class("mnist")(Settings("lenet", 1, 8, 0.1, 0, str(tmp_path)))
    assert job.read().counts == (81, 9, 10)
    write_mnist(tmp_path / "mnist", count=100)
    assert job.read().counts == (90, 10, 100)


def test_too_few_images_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path, count=1)
    options = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert cli.main(["mnist", *options]) == 1
    message = "1 images for training, 0 for validation and 1 for the test are too few"
    assert capsys.readouterr().err.startswith(f"mt-train: {message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backend", "nunpy"], "Did you mean 'numpy'"),
        (["mnits"], "the job must be one of digits, mnist"),
        (["fashon"], "Did you mean 'fashion'?"),
        ([""], "the job must be one of digits, mnist"),
        (["--model", "lenett"], "Did you mean 'lenet'?"),
        (["--model", ""], "--model of digits must be one of lenet"),
        (["--backend", ""], "no backend is called ''"),
        (["--model", "resnet9"], "--model of digits must be one of lenet"),
        (
            ["mnist", "--data-dir", "no-such-folder"],
            "no-such-folder: No such file or directory. Set --data-dir to the folder of the data "
            "sets; this job reads files from its subfolder mnist; download them with "
            "mt_nn.data.fetch('mnist').",
        ),
        (["mnist", "--data-dir", "."], "does not contain t10k-images-idx3-ubyte"),
        (["mnist", "--data-dir", "{broken}"], "is damaged"),
        (["mnist", "--data-dir", "x" * 300], "could not read"),
        (["--out", "{file}"], "could not create the folder"),
        (["sentiment", "--data-dir", "no-such-folder"], "No such file"),
        (["sentiment", "--data-dir", "{file}"], "Not a directory"),
        (["--resume", "no-such-folder"], "is not the folder of a training"),
        (["predict", "no-such-folder", "x.png"], "is not the folder of a training"),
    ],
)
def test_error_is_printed_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    file, broken = tmp_path / "file", tmp_path / "broken"
    file.write_text("")
    write_mnist(broken, parts=["t10k"])
    for path in broken.iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    assert cli.main([argument.format(file=file, broken=broken) for argument in arguments]) == 1
    printed = capsys.readouterr().err
    assert re.match(r"mt-train: .*\n\Z", printed)
    assert message in printed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_reported_without_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: Any) -> None:
        Path("/dev/full").write_text("something")

    monkeypatch.setattr("os.fsync", fail)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr().err
    assert "No space left on device" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": None}, "damaged"),
        ({"epochs": -1}, "damaged"),
        ({"epochs": True}, "damaged"),
        ({"epochs": 10**30}, "damaged"),
        ({"batch_size": 0}, "damaged"),
        ({"batch_size": "8"}, "damaged"),
        ({"batches": 1.5}, "damaged"),
        ({"lr": math.inf}, "damaged"),
        ({"lr": 10**400}, "damaged"),
        ({"lr": "fast"}, "damaged"),
        ({"seed": -1}, "damaged"),
        ({"data_dir": None}, "damaged"),
        ({"data_dir": "\0"}, "damaged"),
        ({"test": 1}, "damaged"),
        ({"model": 1}, "damaged"),
        ({"seeds": 1}, "damaged"),
    ],
)
def test_invalid_setting_in_run_file_raises(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    run = runs.Run(tmp_path, "digits", Settings("lenet", 1, 1, 0.1, 0, ""))
    run.write()
    content = json.loads((tmp_path / "run.json").read_text())
    content["settings"] |= change
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=message):
        runs.Run.read(tmp_path)


@pytest.mark.parametrize(("size", "label"), [(16, 9), (28, 10)])
def test_mnist_images_of_wrong_size_or_class_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int, label: int
) -> None:
    write_idx(tmp_path / "t10k-images-idx3-ubyte.gz", np.zeros((40, size, size)))
    write_idx(tmp_path / "t10k-labels-idx1-ubyte.gz", np.full(40, label))
    out = tmp_path / "out"
    assert cli.main(["mnist", "--data-dir", str(tmp_path), "--out", str(out)]) == 1
    assert re.fullmatch(
        r"mt-train: .* contains (images of 16 x 16 pixels|an image of class 10); .*\n",
        capsys.readouterr().err,
    )
    assert not out.exists()


def test_folder_with_other_files_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.safetensors").write_text("mine")
    assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 1
    assert "contains model.safetensors, but no training" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


@contextlib.contextmanager
def unprivileged_user() -> Iterator[None]:
    """Switch from root, which has all permissions, to an unprivileged user."""
    before = os.geteuid()
    try:
        if before == 0:
            os.seteuid(65534)
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_folder_without_permission_is_an_error(
    capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        with unprivileged_user():
            out = Path(folder, "out")
            out.mkdir()
            out.chmod(mode)
            assert cli.main(["xor", *SHORT, "--out", str(out)]) == 1
            out.chmod(0o755)
    printed = capsys.readouterr().err
    assert re.fullmatch(rf"mt-train: .*{out}.* \(Permission denied\).*\n", printed)


@pytest.mark.parametrize("command", [["--resume"], ["predict"]])
@pytest.mark.parametrize("kind", ["file", "file/below", "loop", "x" * 300])
def test_path_that_is_not_a_run_folder_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], kind: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert cli.main([*command, str(tmp_path / kind), *["0 0"] * (command == ["predict"])]) == 1
    assert (
        "is not the folder of a training run: it does not contain run.json"
        in capsys.readouterr().err
    )


def test_run_file_that_is_a_pipe_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "run.json")
    for arguments in (["xor", "--out"], ["--resume"]):
        assert cli.main([*arguments, str(tmp_path)]) == 1
        assert "it is a device or a pipe, not a file" in capsys.readouterr().err


def test_folder_contains_results_of_the_latest_training_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main([*SHORT, "--out", str(out)]) == 0
    (out / "notes.txt").write_text("mine")
    assert {"confusion.csv", "mistakes.csv"} <= names_in(out)
    assert cli.main(["xor", *SHORT, "--no-test", "--out", str(out)]) == 0
    written = {"log.csv", "losses.csv", "model.safetensors", "training.png"}
    assert names_in(out) == {"run.json", "checkpoints", "notes.txt", *written}


def test_divergence_after_a_checkpoint_advises_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train_on = Trainer._train_on

    def train_with_nan(self: Trainer, batch: Any) -> None:
        if self.epoch == 1:
            self.optimizer.param_groups[0]["params"][0].data.fill_(math.nan)
        train_on(self, batch)

    monkeypatch.setattr(Trainer, "_train_on", train_with_nan)
    options = ["xor", "--epochs", "2", "--batches", "2"]
    assert cli.main([*options, "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.endswith("Use a smaller --lr and another --out.\n")


def test_divergence_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rate = ["--lr", "1e30", "--batches", "9", "--out", str(tmp_path)]
    assert cli.main(["xor", *rate]) == 1
    printed = capsys.readouterr().err
    assert re.fullmatch(r"mt-train: the training has diverged: .* Use a smaller --lr\.\n", printed)


COMMAND = [sys.executable, "-m", "mt_train"]


def run_command(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **settings)


@pytest.mark.slow
def test_closed_pipe_ends_training_which_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*COMMAND, "xor", "--epochs", "99", "--batches", "3", "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == (
            "mt-train: could not print the progress (Broken pipe); "
            f"resume with mt-train --resume {out}.\n"
        )
    assert process.returncode == 1
    assert not runs.Run.read(out).finished
    assert cli.main(["--resume", str(out)]) == 0
    assert len(read_csv(out / "log.csv")) == 99


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_commands_work_with_closed_streams(tmp_path: Path, closed: str) -> None:
    out = ["xor", "--epochs", "1", "--batches", "2", "--out", str(tmp_path)]
    for arguments in (out, ["predict", str(tmp_path), "0.1 0.2"]):
        command = shlex.join([*COMMAND, *arguments])
        result = subprocess.run(
            ["sh", "-c", f"{command} {closed}"], capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert bool(result.stdout) != (">&-" in closed.split())


CONTROL_C_PROGRAM = """
import atexit, signal, sys
import mt_train

class Finder:
    def find_spec(self, name, *others):
        if name == moment:
            signal.raise_signal(signal.SIGINT)

moment, *sys.argv[1:] = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
if moment == "the end":
    atexit.register(signal.raise_signal, signal.SIGINT)
sys.exit(mt_train.main())
"""
"""A program that raises SIGINT when a module is imported, or when the process ends."""


@pytest.mark.parametrize("moment", ["numpy", "mt_tensor", "mt_nn.jobs.command.training", "the end"])
def test_control_c_during_imports_or_at_exit_prints_interrupted(moment: str) -> None:
    command = [sys.executable, "-c", CONTROL_C_PROGRAM, moment, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "mt-train: interrupted.\n")
    assert bool(result.stdout) == (moment == "the end")


def test_output_is_escaped_on_ascii_terminals(tmp_path: Path) -> None:
    out = tmp_path / "ol\u00e9"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run_command("xor", *SHORT, "--out", str(out), stdout=subprocess.PIPE, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert "ol\\xe9/training.png" in result.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("sigint_handler", [signal.default_int_handler, signal.SIG_IGN])
def test_terminating_signal_saves_a_checkpoint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sigint_handler: Any,
    number: signal.Signals,
) -> None:
    signal.signal(signal.SIGINT, sigint_handler)  # ignored by `nohup` and in batch jobs
    signal.signal(number, signal.SIG_DFL)
    interrupt_after(3, monkeypatch, number)
    assert cli.main(["xor", *SHORT, "--batches", "5", "--out", str(tmp_path)]) == 130
    assert signal.getsignal(number) is signal.SIG_DFL
    assert f"interrupted; resume with mt-train --resume {tmp_path}." in capsys.readouterr().err
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert len(losses(tmp_path)) == 5


def test_full_disk_keeps_the_previous_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 0

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 1
    assert cli.main(["predict", str(tmp_path), "0.1 0.2"]) == 0
    assert "class" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--epochs", "0", "epochs must be a positive integer; 0 was given"),
        ("--batch-size", "0", "batch_size must be a positive integer; 0 was given"),
        ("--batches", "0", "batches must be a positive integer; 0 was given"),
        ("--seed", "-1", "seed must be a non-negative integer; -1 was given"),
        ("--lr", "-1", "lr must be a finite, non-negative number; got -1.0"),
        ("--lr", "nan", "lr must be a finite, non-negative number; got nan"),
        ("--lr", "inf", "lr must be a finite, non-negative number; got inf"),
    ],
)
def test_option_out_of_range_is_an_error(
    capsys: pytest.CaptureFixture[str], option: str, value: str, message: str
) -> None:
    assert cli.main([option, value]) == 1
    assert capsys.readouterr().err == f"mt-train: {message}.\n"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--batches", "many", "invalid int value: 'many'"),
        ("--lr", "fast", "invalid float value: 'fast'"),
    ],
)
def test_option_that_is_not_a_number_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], option: str, value: str, message: str
) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([option, value])
    assert exit_.value.code == 2
    assert f"argument {option}: {message}" in capsys.readouterr().err


def test_help_lists_every_job(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["--help"])
    assert exit_.value.code == 0
    printed = capsys.readouterr().out
    assert all(re.search(rf"^  {name} +\S", printed, re.MULTILINE) for name in JOBS)


def test_import_does_not_load_heavy_libraries() -> None:
    code = (
        "import sys, mt_nn, mt_nn.jobs.command.cli\n"
        "heavy = {'numba', 'sklearn', 'matplotlib', 'rich', 'safetensors', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def test_lenet_takes_8x8_and_28x28_images() -> None:
    assert LeNet(8)(mt.ones(2, 1, 8, 8)).shape == (2, 10)
    assert LeNet(28)(mt.ones(2, 1, 28, 28)).shape == (2, 10)


@pytest.mark.parametrize("size", [8, 28, 32])
def test_resnet9_takes_images_of_any_size(size: int) -> None:
    network = ResNet9(3, classes=4, width=2)
    assert network(mt.ones(2, 3, size, size)).shape == (2, 4)
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len(convolutions) == 9
