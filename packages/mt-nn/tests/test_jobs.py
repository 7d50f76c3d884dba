"""`mt-train`: output files, resumption, predictions, and errors."""

import csv
import dataclasses
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
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

import mt_nn as nn
import mt_tensor as mt
from mt_autodiff.examples import network as of_scalars
from mt_autodiff.examples import picture
from mt_autodiff.examples import training as by_scalars
from mt_nn.errors import FileError, InputError
from mt_nn.jobs import JOBS, classification, digits, images, job_class, sentiment
from mt_nn.jobs.classification import hold_out
from mt_nn.jobs.command import cli, runs, training
from mt_nn.jobs.job import Settings
from mt_nn.jobs.points import point_of
from mt_nn.train import LeNet, ResNet9, TextCNN
from mt_nn.train.callbacks import TERMINATING
from mt_nn.train.trainer import Trainer
from mt_operators.datasets import Dataset

PNG = b"\x89PNG\r\n\x1a\n"
SHORT = ["--epochs", "1", "--batches", "2", "--batch-size", "8"]


@pytest.fixture
def drawn() -> None:
    """Allow drawing."""


@pytest.fixture(autouse=True)
def in_brief(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which takes most of a short training, and generate short texts."""
    monkeypatch.setattr(job_class("shakespeare"), "length", 40)
    monkeypatch.setattr(picture, "CELLS", 12)
    if "drawn" not in request.fixturenames:
        for module in (classification, images, training):
            monkeypatch.setattr(module, "as_png", lambda figure: PNG)


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def losses(folder: Path) -> list[float]:
    return [float(row["loss"]) for row in table(folder / "losses.csv")]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- Data like that of the publishers, made here --------------------------------------------------


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
    """Write a play in which one line follows another."""
    folder.mkdir()
    lines = (f"KING {number}:\nGood morrow, cousin {number % 7}.\n" for number in range(count))
    (folder / "input.txt").write_text("\n".join(lines))


POINTS = ["simple", "diag", "split", "xor", "circle", "spiral"]
GOOD, BAD = ("fine", "superb", "warm"), ("dull", "stale", "loud")


def reviews(count: int = 120) -> list[tuple[str, int]]:
    """Return labelled sentences, half of them with a good word, half with a bad one."""
    rng = np.random.default_rng(0)
    said = []
    for number in range(count):
        label, length = number % 2, rng.integers(2, 12)
        words = rng.choice(["the", "film", "plot", "is", "in", ",", "it's"], length).tolist()
        words[rng.integers(length)] = rng.choice(GOOD if label else BAD)
        said.append((" ".join(words).capitalize() + f" once{number}.", label))
    return said


def write_reviews(folder: Path) -> None:
    """Write a file of rated reviews."""
    folder.mkdir()
    lines = [f"{n}\t{label - 0.5}\t{text}\n" for n, (text, label) in enumerate(reviews())]
    (folder / "movieReviewSnippets_GroundTruth.txt").write_text("".join(lines))


def write_penn_treebank(folder: Path, parts: Sequence[str] = ("train", "valid", "test")) -> None:
    """Write texts of few words, one of which occurs in one part alone."""
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
"""What writes the data of each job into a data folder."""

EVERY = [
    (job, model)
    for job in JOBS
    for model, recipe in job_class(job).models.items()
    if recipe.epochs  # there is something to learn
]


@pytest.mark.usefixtures("drawn")
@pytest.mark.slow
@pytest.mark.parametrize(("job", "model"), EVERY)
def test_every_job_can_be_trained_and_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], job: str, model: str
) -> None:
    DATA[job](tmp_path)
    out = tmp_path / "out"
    where = ["--data-dir", str(tmp_path), "--out", str(out)]
    assert cli.main([job, "--model", model, *SHORT, *where]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^epoch  1  ", printed, re.MULTILINE)
    assert re.search(r"^test: ", printed, re.MULTILINE)
    assert re.search(r"^took .* MB of memory$", printed, re.MULTILINE)
    assert (out / "training.png").read_bytes().startswith(PNG)
    assert len(table(out / "log.csv")) == len((out / "log.jsonl").read_text().splitlines()) == 1
    assert len(losses(out)) == 2
    assert runs.Run.read(out).finished
    told = set(re.findall(rf"^wrote {re.escape(str(out))}/(.*)$", printed, re.MULTILINE))
    assert told == names_in(out) - {"checkpoints"}


class WideDigits(digits.Digits):
    """A job defined by a user."""

    about = "the digits, by a wider network"

    def network(self) -> nn.Module:
        return LeNet(8, channels=(16, 32))


def test_user_jobs(
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


@pytest.mark.usefixtures("drawn")
@pytest.mark.slow
def test_digits_are_classified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--epochs", "2", "--out", str(tmp_path)]) == 0
    parts, *epochs = capsys.readouterr().out.splitlines()
    epochs, test, wrote = epochs[:2], epochs[2], epochs[4:]
    assert re.findall(r"\d+ images|\d+ for", parts) == ["1150 images", "287 for", "360 for"]
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
    plain = nn.functional.cross_entropy(scores, labels).item()
    assert test == (
        f"test: cross-entropy {plain:.4f}, accuracy {100 - wrong.sum() / 3.6:.1f} %, "
        f"{wrong.sum()} of 360 images wrong"
    )
    rows = table(tmp_path / "mistakes.csv")
    assert {int(row["image"]) for row in rows} == set(np.flatnonzero(wrong).tolist())
    shares = [float(row["probability"]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    confusion = table(tmp_path / "confusion.csv")
    for row, name in zip(confusion, "0123456789", strict=True):
        assert row.pop("right class") == name
        assert sum(map(int, row.values())) == int((labels == int(name)).sum())
    assert sum(int(row[str(n)]) for n, row in enumerate(confusion)) == 360 - wrong.sum()
    assert {Path(line.removeprefix("wrote ")).name for line in wrote} == {
        "confusion.csv", "confusion.png", "log.csv", "log.jsonl", "losses.csv", "mistakes.csv",
        "mistakes.png", "model.safetensors", "run.json", "training.png",
    }  # fmt: skip


class Sealed(nn.data.TensorDataset):
    """Count how often samples are read."""

    reads = 0

    def __getitem__(self, index: Any) -> tuple[mt.Tensor, ...]:
        self.reads += 1
        return super().__getitem__(index)


@pytest.mark.slow
def test_the_test_set_is_evaluated_after_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, test = nn.data.digits()
    sealed = Sealed(*test.tensors)
    fit = Trainer.fit

    def fit_unseen(*arguments: Any, **settings: Any) -> Any:
        history = fit(*arguments, **settings)
        assert sealed.reads == 0
        return history

    monkeypatch.setattr(digits, "digits", lambda: (images, sealed))
    monkeypatch.setattr(Trainer, "fit", fit_unseen)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 0
    assert sealed.reads


def test_the_test_set_can_be_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images, test = nn.data.digits()
    sealed = Sealed(*test.tensors)
    monkeypatch.setattr(digits, "digits", lambda: (images, sealed))
    assert cli.main([*SHORT, "--no-test", "--out", str(tmp_path)]) == 0
    assert "16 for the test, which is skipped" in capsys.readouterr().out
    assert sealed.reads == 0
    assert not (tmp_path / "confusion.csv").exists()


def test_the_validation_set_is_fixed() -> None:
    images, _ = nn.data.digits()
    learnt, validation = hold_out(images, digits.HELD_OUT)
    assert (len(learnt), len(validation)) == (1150, 287)
    assert set(learnt.indices) | set(validation.indices) == set(range(1437))
    mt.manual_seed(1)
    again = hold_out(images, digits.HELD_OUT)
    assert [part.indices.tolist() for part in again] == [
        part.indices.tolist() for part in (learnt, validation)
    ]


@pytest.mark.slow
def test_the_backends_agree(tmp_path: Path) -> None:
    few = ["--epochs", "1", "--batches", "2", "--batch-size", "1", "--no-test"]
    for backend in ("numpy", "simple"):
        arguments = [*few, "--backend", backend, "--out", str(tmp_path / backend)]
        assert cli.main(arguments) == 0
    np.testing.assert_allclose(losses(tmp_path / "simple"), losses(tmp_path / "numpy"), rtol=1e-5)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_losses(tmp_path: Path) -> None:
    for run, seed in {"a": "0", "b": "0", "c": "1"}.items():
        assert cli.main([*SHORT, "--seed", seed, "--out", str(tmp_path / run)]) == 0
    assert losses(tmp_path / "a") == losses(tmp_path / "b") != losses(tmp_path / "c")


@pytest.mark.usefixtures("drawn")
@pytest.mark.slow
def test_plots_do_not_affect_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ["--epochs", "3", "--batches", "2", "--batch-size", "8"]
    assert cli.main([*settings, "--out", str(tmp_path / "drawn")]) == 0
    monkeypatch.setattr(training._Plots, "_draw", lambda self, trainer: None)
    assert cli.main([*settings, "--out", str(tmp_path / "plain")]) == 0
    assert losses(tmp_path / "drawn") == losses(tmp_path / "plain")


# --- Points of the plane --------------------------------------------------------------------------


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("job", POINTS[:-1])
def test_weights_set_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str], job: str) -> None:
    assert cli.main([job, "--model", "weights", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1000 points for the test\ntest: ")
    assert float(re.findall(r"accuracy ([\d.]+) %", printed)[0]) > 98
    assert (tmp_path / "training.png").read_bytes().startswith(PNG)
    assert cli.main(["predict", str(tmp_path), "0.1 0.2", "0.5 0.51"]) == 0
    rule = {"simple": "10", "diag": "10", "split": "10", "xor": "00", "circle": "10"}[job]
    said = [f"class {each} 100.0 %, class {1 - int(each)} 0.0 %\n" for each in rule]
    assert capsys.readouterr().out == "".join(said)


@pytest.mark.parametrize("option", ["--epochs", "--batch-size", "--lr"])
def test_weights_set_by_hand_are_not_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert cli.main(["xor", "--model", "weights", option, "1", *out]) == 1
    assert f"is not trained: remove {option}." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tensors", "scalars"])
def test_points_are_classified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    few = ["--epochs", "3", "--batches", "40", "--out", str(tmp_path)]
    assert cli.main(["simple", "--model", model, *few]) == 0
    assert float(re.findall(r"test: .*accuracy ([\d.]+) %", capsys.readouterr().out)[0]) > 90
    assert cli.main(["predict", str(tmp_path), "0.1 0.5", "0.9,0.5"]) == 0
    left, right = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"class 1 [\d.]+ %, class 0 [\d.]+ %", left)
    assert re.fullmatch(r"class 0 [\d.]+ %, class 1 [\d.]+ %", right)
    mistakes = table(tmp_path / "mistakes.csv")
    assert all((float(row["x1"]) < 0.5) == (row["right class"] == "1") for row in mistakes)


def test_scalars_train_as_in_stage_1() -> None:
    job = job_class("xor")(Settings("scalars", 5, 50, 0.1, 3, ""))
    job.settings = dataclasses.replace(job.settings, batches=1)
    own = of_scalars.Network(hidden=[10], seed=3)
    trainer = training.trainer_of(job, job.read())
    points, labels = (part[:50] for part in next(iter(job.read().training)))
    trainer.fit([(points, labels)], 5)
    dataset = Dataset(tuple(map(tuple, points.tolist())), tuple(labels.tolist()))
    history = by_scalars.train(own, dataset, 5, 0.1)
    assert trainer.history.losses == pytest.approx([epoch.loss for epoch in history], rel=1e-5)
    assert trainer.history["accuracy"] == pytest.approx([epoch.accuracy for epoch in history])


@pytest.mark.parametrize("text", ["", "1", "1 2 3", "1,2,3", "nan 1", "1 inf", "a b", "0x1 2"])
def test_invalid_points(text: str) -> None:
    with pytest.raises(InputError, match="a point must be two finite numbers in quotes"):
        point_of(text)


def test_points_with_nan_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diag", *SHORT, "--out", str(tmp_path)]) == 0
    assert cli.main(["predict", str(tmp_path), "1e300 1"]) == 1
    assert "the scores of the network are nan" in capsys.readouterr().err


# --- Going on -------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def control_c() -> Iterator[None]:
    """Signals end a process also where whoever started the tests lets them be ignored."""
    usual = dict.fromkeys(TERMINATING, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
    before = {each: signal.signal(each, handler) for each, handler in usual.items()}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


def interrupt_after(
    batches: int, monkeypatch: pytest.MonkeyPatch, number: signal.Signals = signal.SIGINT
) -> None:
    """Send SIGINT, or another signal, once during the next batches."""
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
        ("xor", ["--model", "scalars"], 6),
    ],
)
def test_resuming_after_control_c_gives_the_same_result(
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
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    assert cli.main([*settings, "--out", str(whole)]) == 0
    interrupt_after(batches, monkeypatch)
    assert cli.main([*settings, "--out", str(parted)]) == 130
    assert capsys.readouterr().err == (
        f"mt-train: interrupted; resume with mt-train --resume {parted}.\n"
    )
    assert cli.main(["predict", str(parted), "image.png"]) == 1
    assert "is not finished: resume it with mt-train --resume" in capsys.readouterr().err
    assert cli.main([*settings, "--out", str(parted)]) == 1  # nothing is lost by mistake
    assert "contains an unfinished training" in capsys.readouterr().err
    assert cli.main(["--resume", str(parted)]) == 0
    assert losses(parted) == losses(whole)
    for log in ("log.csv", *(["samples.txt"] if job in ("language", "shakespeare") else [])):
        assert (parted / log).read_text() == (whole / log).read_text()
    one, other = (nn.load(folder / "model.safetensors") for folder in (whole, parted))
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_control_c_before_the_first_batch_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(self: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(digits.Digits, "read", stopped)
    assert cli.main(["--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "mt-train: interrupted; nothing was saved.\n"
    assert not (tmp_path / "out").exists()


def test_control_c_while_reading_data_does_not_mention_another_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(self: Any) -> Any:
        raise KeyboardInterrupt

    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 0
    monkeypatch.setattr(digits.Digits, "read", stopped)
    assert cli.main([*SHORT, "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "mt-train: interrupted; nothing was saved.\n"
    assert runs.Run.read(tmp_path).finished


def test_the_folder_is_checked_before_reading_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    monkeypatch.setattr(digits.Digits, "read", lambda self: pytest.fail("it reads"))
    assert cli.main(["--out", str(tmp_path)]) == 1
    assert "contains thesis.tex, but no training: choose an empty" in capsys.readouterr().err


@pytest.mark.parametrize("job", ["language", "sentiment"])
def test_resuming_with_other_data_raises(
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
def test_resuming_cannot_change_settings(
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


@pytest.mark.parametrize(
    ("job", "options", "named"),
    [("diag", [], '"job": "diag"'), ("xor", ["--seed", "1"], '"seed": 1')],
)
def test_checkpoints_of_another_training_are_errors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    job: str,
    options: list[str],
    named: str,
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    interrupt_after(1, monkeypatch)
    assert cli.main(["xor", *SHORT, "--out", str(own)]) == 130
    interrupt_after(1, monkeypatch)
    assert cli.main([job, *SHORT, *options, "--out", str(other)]) == 130
    (checkpoint,) = (own / "checkpoints").iterdir()
    before = checkpoint.read_bytes()
    checkpoint.write_bytes(next((other / "checkpoints").iterdir()).read_bytes())
    capsys.readouterr()
    assert cli.main(["--resume", str(own)]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(f"mt-train: {checkpoint} belongs to another training, ")
    assert named in printed.partition("; the one in")[0]
    checkpoint.write_bytes(before)
    assert cli.main(["--resume", str(own)]) == 0
    assert cli.main(["--resume", str(other)]) == 0
    (own / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    assert cli.main(["predict", str(own), "0.1 0.2"]) == 1
    assert "belongs to another training" in capsys.readouterr().err


def test_resuming_after_removing_a_damaged_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    settings = ["xor", "--epochs", "3", "--batches", "2"]
    assert cli.main([*settings, "--out", str(whole)]) == 0
    interrupt_after(5, monkeypatch)
    assert cli.main([*settings, "--out", str(parted)]) == 130
    *_, last = sorted((parted / "checkpoints").iterdir())
    content = bytearray(last.read_bytes())
    content[-20] ^= 1
    last.write_bytes(content)
    capsys.readouterr()
    assert cli.main(["--resume", str(parted)]) == 1
    message = f"{last} is missing or damaged: remove it, and resume from the previous checkpoint"
    assert message in capsys.readouterr().err
    last.unlink()
    assert cli.main(["--resume", str(parted)]) == 0
    assert "resuming in epoch 3, after 0 batches" in capsys.readouterr().out
    assert losses(parted) == losses(whole)
    (parted / "model.safetensors").write_bytes(content[:50])
    assert cli.main(["predict", str(parted), "0.1 0.2"]) == 1
    assert "is missing or damaged: restore it or train again" in capsys.readouterr().err


@pytest.mark.slow
def test_resuming_uses_the_same_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(1, monkeypatch)
    assert cli.main(["xor", *SHORT, "--backend", "simple", "--out", str(tmp_path)]) == 130
    seen = []
    evaluate = Trainer.evaluate

    def noted(self: Trainer, loader: Any) -> Any:
        seen.append(mt.current_backend().name)
        return evaluate(self, loader)

    monkeypatch.setattr(Trainer, "evaluate", noted)
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert set(seen) == {"simple"}


def test_prediction_without_the_backend_of_the_training(
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


def test_resuming_with_a_moved_data_folder(
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


def test_failing_to_write_a_plot_loses_no_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise FileError(f"could not write {path} (No space left on device).")

    settings = ["xor", "--epochs", "2", "--batches", "2"]
    with monkeypatch.context() as patch:
        patch.setattr(training, "write_atomically", full)
        assert cli.main([*settings, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr().err
    assert printed.endswith(f" Then resume: mt-train --resume {tmp_path}.\n")
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert "resuming in epoch 2, after 0 batches" in capsys.readouterr().out


def test_images_with_a_bright_background_are_errors(
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


def test_checkpoints_of_another_network_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_after(1, monkeypatch)
    assert cli.main([*SHORT, "--out", str(tmp_path / "digits")]) == 130
    write_mnist(tmp_path / "mnist")
    interrupt_after(1, monkeypatch)
    where = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert cli.main(["mnist", *SHORT, *where]) == 130
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
        b'{"job": "digits"}',
        b'{"job": "chess", "settings": {}, "known": {}, "finished": true}',
        b'{"job": ["digits"], "settings": {}, "known": {}, "finished": true}',
        b'{"job": "sentiment", "settings": {"model": "random", "epochs": 1, "batch_size": 1, '
        b'"lr": 0.1, "seed": 0, "data_dir": ""}, "known": {"tokens": 5}, "finished": true}',
        b"[" * 100_000,
    ],
    ids=["nothing", "a list", "cut off", "not all", "another job", "no name", "known", "nested"],
)
def test_damaged_run_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        runs.Run.read(tmp_path)


# --- Asking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "saved", [None, 5, [1, 2], {}, {"x": 1}, {0: mt.ones(2)}, {"weights": {"a": mt.ones(2)}}]
)
def test_invalid_model_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], saved: Any
) -> None:
    runs.Run(tmp_path, "xor", Settings("tensors", 1, 1, 0.1, 0, ""), finished=True).write()
    nn.save(saved, tmp_path / "model.safetensors")
    assert cli.main(["predict", str(tmp_path), "0 0"]) == 1
    message = f"mt-train: {tmp_path}/model.safetensors does not fit this network: "
    assert re.fullmatch(f"{re.escape(message)}.*\n", capsys.readouterr().err)


@pytest.mark.slow
def test_prediction_for_an_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    said = capsys.readouterr().out.splitlines()
    assert np.mean([line[0] == str(n) for line, n in zip(said, labels.tolist(), strict=True)]) > 0.8
    assert all(re.fullmatch(r"\d [\d.]+ %, \d [\d.]+ %, \d [\d.]+ %", line) for line in said)


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
def test_unsupported_images(
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
    frames[1].save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:50])
    job = digits.Digits(Settings("lenet", 1, 1, 0.1, 0, ""))
    run = runs.Run(tmp_path, "digits", job.settings, finished=True)
    run.save(job.network())
    run.write()
    assert cli.main(["predict", str(tmp_path), str(tmp_path / name)]) == 1
    printed = capsys.readouterr().err
    assert re.match(r"mt-train: .*\n\Z", printed)
    assert message in printed


# --- Sentences ------------------------------------------------------------------------------------


def sentiment_of(folder: Path, *arguments: str) -> int:
    where = ["--data-dir", str(folder), "--out", str(folder / "out")]
    return cli.main(["sentiment", "--batch-size", "16", *where, *arguments])


def test_sentences_are_classified_and_decisive_words_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_reviews(tmp_path / "movie-reviews")
    assert sentiment_of(tmp_path, "--epochs", "12", "--lr", "0.03") == 0
    assert "accuracy 100.0 %, 0 of 12 sentences wrong" in capsys.readouterr().out
    asked = ["The film is superb, it's ...", "stale"]
    assert cli.main(["predict", str(tmp_path / "out"), *asked]) == 0
    good, bad = capsys.readouterr().out.splitlines()
    share = r"[\d.]+ %"
    assert re.match(rf"positive {share}, negative {share}; decisive words: superb \([\d.]+\)", good)
    assert re.match(rf"negative {share}, positive {share}; decisive words: stale \([\d.]+\)", bad)


def test_mistakes_are_written_with_their_sentences(tmp_path: Path) -> None:
    write_reviews(tmp_path / "movie-reviews")
    assert sentiment_of(tmp_path, "--epochs", "1", "--lr", "0") == 0
    rows = table(tmp_path / "out" / "mistakes.csv")
    classes = dict(reviews())
    assert rows
    for row in rows:
        assert row["right class"] == ("negative", "positive")[classes[row["sentence"]]]
        assert row["predicted class"] != row["right class"]


def test_the_vocabulary_is_that_of_the_training_set(tmp_path: Path) -> None:
    write_reviews(tmp_path / "movie-reviews")
    job = sentiment.Sentiment(Settings("random", 1, 8, 0.1, 0, str(tmp_path)))
    said, _ = hold_out(reviews(), 0.1)  # type: ignore[arg-type]
    learnt, _ = hold_out(said, 0.1)
    often = Counter(word for text, _ in learnt for word in nn.data.tokenize(text))
    assert job.read().counts == (98, 10, 12)
    assert set(job.vocabulary.tokens) - {"<pad>", "<unk>"} == {w for w in often if often[w] > 1}


def test_sst2_is_used_if_it_exists(tmp_path: Path) -> None:
    lines = [f"{text}\t{label}\n" for text, label in reviews(50)]
    for name, part in {"train.tsv": lines[:40], "dev.tsv": lines[40:]}.items():
        (tmp_path / name).write_text("".join(["sentence\tlabel\n", *part]))
    job = sentiment.Sentiment(Settings("random", 1, 8, 0.1, 0, str(tmp_path)))
    assert job.read().counts == (36, 4, 10)


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [None, 3, 10])
def test_the_parameters_of_the_best_epoch_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: int | None
) -> None:
    write_reviews(tmp_path / "movie-reviews")
    if stopped is not None:
        interrupt_after(stopped, monkeypatch)
    made = sentiment_of(tmp_path, "--epochs", "40", "--lr", "0.03")
    if stopped is not None:
        assert made == 130
        assert cli.main(["--resume", str(tmp_path / "out")]) == 0
    run = runs.Run.read(tmp_path / "out")
    job = run.job()
    trainer = training.trainer_of(job, job.read())
    trainer.model.load_state_dict(nn.load(run.model))
    rows = [
        (float(row["validation_accuracy"]), float(row["validation_cross_entropy"]))
        for row in table(run.folder / "log.csv")
    ]
    best = max(rows, key=lambda row: row[0])
    kept = trainer.evaluate(job.read().validation)
    assert kept["cross_entropy"] == pytest.approx(best[1], rel=1e-5)
    assert len(rows) == rows.index(best) + 4  # three epochs were no better


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
def test_unsupported_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    job = sentiment.Sentiment(Settings("random", 1, 1, 0.1, 0, ""))
    job.load_state({"tokens": ["<pad>", "<unk>", "fine"]})
    run = runs.Run(tmp_path, "sentiment", job.settings, job.state(), finished=True)
    run.save(job.network())
    run.write()
    assert cli.main(["predict", str(tmp_path), "fine", text]) == 1
    out, printed = capsys.readouterr()
    assert out.count("\n") == 1  # what was asked before is answered
    assert re.match(r"mt-train: .*\n\Z", printed)
    assert message in printed


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 9))
def test_weights_of_words_are_changes_without_them(numbers: list[int], padding: int) -> None:
    mt.manual_seed(0)
    network = TextCNN(10, 3, filters=2).eval()

    def ahead(tokens: list[int]) -> float:
        scores = network(mt.tensor([[*tokens, *[0] * padding]], dtype="int64"))[0]
        return (scores[1] - scores[0]).item()

    scores, weights = sentiment.weigh(network, np.array(numbers))
    assert (scores[1] - scores[0]).item() == pytest.approx(ahead(numbers), abs=1e-5)
    for number, weight in enumerate(weights.tolist()):
        without = numbers[:number] + numbers[number + 1 :]
        assert weight == pytest.approx(ahead(numbers) - ahead(without), abs=1e-5)


# --- What is wrong is said ------------------------------------------------------------------------


def test_mnist_without_training_images(tmp_path: Path) -> None:
    write_mnist(tmp_path / "mnist", parts=["t10k"], count=100)
    job = job_class("mnist")(Settings("lenet", 1, 8, 0.1, 0, str(tmp_path)))
    assert job.read().counts == (81, 9, 10)
    write_mnist(tmp_path / "mnist", count=100)
    assert job.read().counts == (90, 10, 100)


def test_too_few_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mnist(tmp_path, count=1)
    where = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    assert cli.main(["mnist", *where]) == 1
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
def test_errors_are_printed_in_one_line(
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
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: Any) -> None:
        Path("/dev/full").write_text("something")

    monkeypatch.setattr("os.fsync", full)
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
def test_invalid_settings_in_run_files(
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
def test_images_of_another_data_set_are_errors(
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


def test_other_files_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.safetensors").write_text("mine")
    assert cli.main(["xor", "--model", "weights", "--out", str(tmp_path)]) == 1
    assert "contains model.safetensors, but no training" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.fixture
def nobody() -> Iterator[None]:
    """Change the user if it is root, who has all permissions."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_folders_without_permission(
    capsys: pytest.CaptureFixture[str], nobody: None, mode: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        out.mkdir()
        out.chmod(mode)
        assert cli.main(["xor", "--model", "weights", "--out", str(out)]) == 1
        out.chmod(0o755)
    printed = capsys.readouterr().err
    assert re.fullmatch(rf"mt-train: .*{out}.* \(Permission denied\).*\n", printed)


@pytest.mark.parametrize("asked", [["--resume"], ["predict"]])
@pytest.mark.parametrize("kind", ["file", "file/below", "loop", "x" * 300])
def test_files_instead_of_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[str], kind: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert cli.main([*asked, str(tmp_path / kind), *["0 0"] * (asked == ["predict"])]) == 1
    assert (
        "is not the folder of a training: it does not contain run.json" in capsys.readouterr().err
    )


def test_run_files_that_are_pipes_do_not_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "run.json")
    for arguments in (["xor", "--out"], ["--resume"]):
        assert cli.main([*arguments, str(tmp_path)]) == 1
        assert "it is a device or a pipe, not a file" in capsys.readouterr().err


def test_two_trainings_cannot_share_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs.Run(tmp_path / "out", "xor", Settings("weights", 0, 1, 0.0, 0, ""))
    with run.locked():
        assert cli.main(["xor", "--model", "weights", "--out", str(run.folder)]) == 1
    assert "another mt-train is training in" in capsys.readouterr().err
    assert cli.main(["xor", "--model", "weights", "--out", str(run.folder)]) == 0


@pytest.mark.usefixtures("drawn")
@pytest.mark.filterwarnings("error")
def test_missing_glyphs_cause_no_warning(tmp_path: Path) -> None:
    write_reviews(tmp_path / "movie-reviews")
    (path,) = (tmp_path / "movie-reviews").iterdir()
    path.write_text(path.read_text().replace("film", "\U0001f600 \u6f22 \x07 \x00"))
    assert sentiment_of(tmp_path, *SHORT) == 0


def test_a_folder_contains_the_results_of_one_training(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main([*SHORT, "--out", str(out)]) == 0
    (out / "notes.txt").write_text("mine")
    assert {"confusion.csv", "confusion.png", "mistakes.csv", "mistakes.png"} <= names_in(out)
    assert cli.main(["xor", *SHORT, "--no-test", "--out", str(out)]) == 0
    written = {"log.csv", "log.jsonl", "losses.csv", "model.safetensors", "training.png"}
    assert names_in(out) == {"run.json", "checkpoints", "earlier", "notes.txt", *written}


def test_a_finished_training_is_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert cli.main([*SHORT, "--out", str(out)]) == 0
    Image.new("L", (8, 8)).save(tmp_path / "7.png")
    asked = str(tmp_path / "7.png")
    assert cli.main(["predict", str(out), asked]) == 0
    answer = capsys.readouterr().out.splitlines()[-1]
    for _ in range(2):
        assert cli.main(["xor", "--lr", "1e30", "--out", str(out)]) == 1
        assert cli.main(["predict", str(out / "earlier"), asked]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == answer


def test_restarting_after_divergence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train_on = Trainer._train_on

    def diverged(self: Trainer, batch: Any) -> None:
        if self.epoch == 1:
            self.optimizer.param_groups[0]["params"][0].data.fill_(math.nan)
        train_on(self, batch)

    monkeypatch.setattr(Trainer, "_train_on", diverged)
    again = ["xor", "--epochs", "2", "--batches", "2"]
    assert cli.main([*again, "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.endswith("Use a smaller --lr and another --out.\n")


@pytest.mark.parametrize("model", ["tensors", "scalars"])
def test_divergence(tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    rate = ["--lr", "1e30", "--batches", "9", "--out", str(tmp_path)]
    assert cli.main(["xor", "--model", model, *rate]) == 1
    printed = capsys.readouterr().err
    assert re.fullmatch(r"mt-train: the training has diverged: .* Use a smaller --lr\.\n", printed)


COMMAND = [sys.executable, "-m", "mt_train"]


def run_command(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **settings)


@pytest.mark.slow
def test_a_closed_pipe_ends_the_training(tmp_path: Path) -> None:
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
    assert len(table(out / "log.csv")) == 99


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    out = ["xor", "--epochs", "1", "--batches", "2", "--out", str(tmp_path)]
    for arguments in (out, ["predict", str(tmp_path), "0.1 0.2"]):
        command = shlex.join([*COMMAND, *arguments])
        result = subprocess.run(
            ["sh", "-c", f"{command} {closed}"], capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert bool(result.stdout) != (">&-" in closed.split())


PRESSED = """
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
"""Presses Control-C when a module is imported, or when the process ends."""


@pytest.mark.parametrize("moment", ["numpy", "mt_tensor", "mt_nn.jobs.command.training", "the end"])
def test_control_c_during_imports_and_at_exit(moment: str) -> None:
    command = [sys.executable, "-c", PRESSED, moment, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "mt-train: interrupted.\n")
    assert bool(result.stdout) == (moment == "the end")


def test_terminals_without_unicode(tmp_path: Path) -> None:
    out = tmp_path / "ol\u00e9"
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run_command(
        "xor", "--model", "weights", "--out", str(out), stdout=subprocess.PIPE, env=plain
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "ol\\xe9/training.png" in result.stdout


@pytest.fixture
def own_signals() -> Iterator[None]:
    """Let a test handle signals as it likes, whatever started the tests."""
    before = {each: signal.getsignal(each) for each in TERMINATING}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.usefixtures("own_signals")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("control_c", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_saves_a_checkpoint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    control_c: Any,
    ending: signal.Signals,
) -> None:
    signal.signal(signal.SIGINT, control_c)  # which is ignored behind `nohup`, or in a batch job
    signal.signal(ending, signal.SIG_DFL)
    interrupt_after(3, monkeypatch, ending)
    assert cli.main(["xor", *SHORT, "--batches", "5", "--out", str(tmp_path)]) == 130
    assert signal.getsignal(ending) is signal.SIG_DFL
    assert f"interrupted; resume with mt-train --resume {tmp_path}." in capsys.readouterr().err
    assert cli.main(["--resume", str(tmp_path)]) == 0
    assert len(losses(tmp_path)) == 5


def test_a_full_disk_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 0

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        assert cli.main(["xor", *SHORT, "--out", str(tmp_path)]) == 1
    assert cli.main(["predict", str(tmp_path), "0.1 0.2"]) == 0
    assert "class" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--epochs", "0", "--epochs must be a positive integer; 0 was given"),
        ("--batch-size", "0", "batch_size must be a positive integer; 0 was given"),
        ("--batches", "0", "batches must be a positive integer; 0 was given"),
        ("--seed", "-1", "seed must be a non-negative integer; -1 was given"),
        ("--threads", "0", "--threads must be from 1 to 1024; got 0"),
        ("--threads", "1025", "--threads must be from 1 to 1024; got 1025"),
        ("--lr", "-1", "lr must be a finite, non-negative number; got -1.0"),
        ("--lr", "nan", "lr must be a finite, non-negative number; got nan"),
        ("--lr", "inf", "lr must be a finite, non-negative number; got inf"),
    ],
)
def test_bad_options(
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
def test_options_that_are_not_numbers(
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


def test_importing_is_lightweight() -> None:
    code = (
        "import sys, mt_nn, mt_nn.jobs.command.cli\n"
        "heavy = {'numba', 'sklearn', 'matplotlib', 'rich', 'safetensors', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def test_lenet_on_both_image_sizes() -> None:
    assert LeNet(8)(mt.ones(2, 1, 8, 8)).shape == (2, 10)
    assert LeNet(28)(mt.ones(2, 1, 28, 28)).shape == (2, 10)


@pytest.mark.parametrize("size", [8, 28, 32])
def test_resnet9_on_images_of_any_size(size: int) -> None:
    network = ResNet9(3, classes=4, width=2)
    assert network(mt.ones(2, 3, size, size)).shape == (2, 4)
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len(convolutions) == 9
