"""`mt-train`: the files it writes, equal losses on every backend, and its errors."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.train import LeNet, cli

PNG = b"\x89PNG\r\n\x1a\n"


def losses(folder: Path) -> list[float]:
    with (folder / "losses.csv").open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def test_a_short_training_writes_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--epochs", "2", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1].startswith("test accuracy: ")
    assert (tmp_path / "training.png").read_bytes().startswith(PNG)
    values = losses(tmp_path)
    assert len(values) == 2 * 23
    assert values[-1] < 1.2 < values[0]
    model = LeNet()
    model.load_state_dict(nn.load(tmp_path / "model.safetensors"))
    _, test_set = nn.data.digits()
    images, labels = test_set[:]
    assert nn.functional.accuracy(model.eval()(images), labels) > 0.8


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


def test_images_of_mnists_size(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for part in ("train", "t10k"):
        pixels = rng.integers(0, 256, (40, 28, 28), np.uint8).tobytes()
        labels = rng.integers(0, 10, 40, np.uint8).tobytes()
        head = bytes([0, 0, 8, 3]) + np.array([40, 28, 28], ">u4").tobytes()
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + pixels))
        head = bytes([0, 0, 8, 1]) + np.array([40], ">u4").tobytes()
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + labels))
    arguments = ["--mnist", str(tmp_path), "--epochs", "1", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 0


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
        "print(sorted({'mt_nn.inspection', 'mt_nn.profiling'} & set(sys.modules)))\n"
        "import mt_nn.train.cli\n"
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
