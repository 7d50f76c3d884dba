"""`mt-train`: the files it writes, equal losses on every backend, and its errors."""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.library.train import choosing, cli, recipe
from mt_nn.train import LeNet

PNG = b"\x89PNG\r\n\x1a\n"


def losses(folder: Path) -> list[float]:
    with (folder / "losses.csv").open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def test_a_short_training_writes_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--epochs", "2", "--out", str(tmp_path)]) == 0
    parts, loss, *epochs, _, _, _, test = capsys.readouterr().out.splitlines()
    assert re.findall(r"\d+ images|\d+ for", parts) == ["1150 images", "287 for", "360 for"]
    assert "labels smoothed by 0.1" in loss
    assert [line.split()[1] for line in epochs] == ["1", "2"]
    assert all("test" not in line for line in epochs)
    assert (tmp_path / "training.png").read_bytes().startswith(PNG)
    values = losses(tmp_path)
    assert len(values) == 2 * 18
    assert values[-1] < 1.5 < values[0]
    model = LeNet()
    model.load_state_dict(nn.load(tmp_path / "model.safetensors"))
    images, labels = nn.data.digits()[1][:]
    scores = model.eval()(images)
    assert nn.functional.accuracy(scores, labels) > 0.75
    wrong = int((scores.argmax(1) != labels).sum())
    plain = nn.functional.cross_entropy(scores, labels).item()
    assert test == (
        f"test: cross-entropy {plain:.4f}, accuracy {100 - wrong / 3.6:.1f} %, "
        f"{wrong} of 360 images wrong"
    )


class Sealed(nn.data.TensorDataset):
    """Counts how often its samples are asked for."""

    reads = 0

    def __getitem__(self, index: Any) -> tuple[mt.Tensor, ...]:
        self.reads += 1
        return super().__getitem__(index)


def test_the_test_part_is_looked_at_when_the_training_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, test = nn.data.digits()
    sealed = Sealed(*test.tensors)

    def trained(*arguments: Any, **settings: Any) -> Any:
        trainer = recipe.trained(*arguments, **settings)
        assert sealed.reads == 0
        return trainer

    monkeypatch.setattr(cli, "digits", lambda: (images, sealed))
    monkeypatch.setattr(cli, "trained", trained)
    assert cli.main(["--epochs", "1", "--batches", "2", "--out", str(tmp_path)]) == 0
    assert sealed.reads


def test_what_is_held_out_for_the_validation_is_always_the_same() -> None:
    images, _ = nn.data.digits()
    training, validation = recipe.divided(images)
    assert (len(training), len(validation)) == (1150, 287)
    assert set(training.indices) | set(validation.indices) == set(range(1437))
    mt.manual_seed(1)
    again = recipe.divided(images)
    assert [part.indices.tolist() for part in again] == [
        part.indices.tolist() for part in (training, validation)
    ]


def test_settings_are_judged_by_the_validation_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images, _ = nn.data.digits()
    monkeypatch.setattr(choosing, "digits", lambda: (images, None))
    for name, values in {"RATES": [0.0, 0.01], "SMOOTHINGS": [0.1], "DROPOUTS": [0.0]}.items():
        monkeypatch.setattr(choosing, name, values)
    choosing.main(["--seeds", "2", "--epochs", "1"])
    title, _, *rows = capsys.readouterr().out.splitlines()
    assert title == "wrong of 287 images, for each of 2 seeds"
    (*first, nothing), (*second, learnt) = (row.split("  ") for row in rows)
    assert [part.strip() for part in (*first[:-1], *second[:-1]) if part] == [
        "0.0", "0.1", "0.0", "0.01", "0.1", "0.0",
    ]  # fmt: skip
    assert min(json.loads(nothing)) > 200 > max(json.loads(learnt))


@pytest.mark.slow
def test_the_backends_agree(tmp_path: Path) -> None:
    few = ["--epochs", "1", "--batches", "2", "--batch-size", "4"]
    for backend in ("numpy", "simple"):
        arguments = [*few, "--backend", backend, "--out", str(tmp_path / backend)]
        assert cli.main(arguments) == 0
    np.testing.assert_allclose(losses(tmp_path / "simple"), losses(tmp_path / "numpy"), rtol=1e-5)


def test_the_same_seed_gives_the_same_losses(tmp_path: Path) -> None:
    for run in ("a", "b", "c"):
        seed = "1" if run == "c" else "0"
        arguments = [
            "--epochs",
            "1",
            "--batches",
            "3",
            "--seed",
            seed,
            "--out",
            str(tmp_path / run),
        ]
        assert cli.main(arguments) == 0
    assert losses(tmp_path / "a") == losses(tmp_path / "b") != losses(tmp_path / "c")


def write_mnist(folder: Path, count: int) -> list[str]:
    """Write files like MNIST's with random images, and return the arguments to train on them."""
    rng = np.random.default_rng(0)
    for part in ("train", "t10k"):
        pixels = rng.integers(0, 256, (count, 28, 28), np.uint8).tobytes()
        labels = rng.integers(0, 10, count, np.uint8).tobytes()
        head = bytes([0, 0, 8, 3]) + np.array([count, 28, 28], ">u4").tobytes()
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + pixels))
        head = bytes([0, 0, 8, 1]) + np.array([count], ">u4").tobytes()
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + labels))
    return ["--mnist", str(folder), "--epochs", "1", "--out", str(folder / "out")]


def test_images_of_mnists_size(tmp_path: Path) -> None:
    assert cli.main(write_mnist(tmp_path, 40)) == 0


def test_too_few_images_end_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(write_mnist(tmp_path, 1)) == 1
    message = "1 images to learn from and 1 for the test are too few to train"
    assert capsys.readouterr().err.startswith(f"mt-train: {message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backend", "nunpy"], "Did you mean 'numpy'"),
        (["--mnist", "no-such-folder"], "holds no train-images-idx3-ubyte"),
        (["--out", "{file}"], "could not make the folder"),
    ],
)
def test_mistakes_end_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    given = [argument.format(file=file) for argument in arguments]
    assert cli.main(["--epochs", "1", "--out", str(tmp_path / "out"), *given]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("mt-train: ")
    assert message in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--epochs", "0", "must be at least 1, got 0"),
        ("--batches", "many", "must be an integer, got 'many'"),
        ("--seed", "-1", "must be at least 0, got -1"),
        ("--lr", "-1", "must be a finite number from 0 on, got '-1'"),
        ("--lr", "nan", "must be a finite number from 0 on, got 'nan'"),
        ("--lr", "inf", "must be a finite number from 0 on, got 'inf'"),
        ("--lr", "fast", "must be a finite number from 0 on, got 'fast'"),
    ],
)
def test_bad_options(
    capsys: pytest.CaptureFixture[str], option: str, value: str, message: str
) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([option, value])
    assert exit_.value.code == 2
    assert f"argument {option}: {message}" in capsys.readouterr().err


def test_where_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.parse([]).out == Path("runs/digits")
    assert cli.parse(["--mnist", "data/fashion"]).out == Path("runs/fashion")
    assert cli.parse(["--mnist", "."]).out == Path("runs", tmp_path.name)
    assert cli.parse(["--mnist", "data", "--out", "here"]).out == Path("here")


def test_importing_is_light() -> None:
    code = (
        "import sys, mt_nn\n"
        "watching = {'mt_nn.library.inspection', 'mt_nn.library.profiling'}\n"
        "print(sorted(watching & set(sys.modules)))\n"
        "import mt_nn.library.train.cli\n"
        "heavy = {'numba', 'sklearn', 'matplotlib', 'rich', 'safetensors'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n[]\n"


def test_lenet_on_both_image_sizes() -> None:
    assert LeNet(8)(mt.ones(2, 1, 8, 8)).shape == (2, 10)
    assert LeNet(28)(mt.ones(2, 1, 28, 28)).shape == (2, 10)
