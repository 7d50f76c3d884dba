"""`mt-train`: train LeNet on real handwritten digits, with a progress bar.

What is held out, and how the settings were chosen, is said in `recipe.py`. It writes three
files, in place of those of an earlier training: the model, the loss of every batch, which is that
of smoothed labels, and a picture of the training.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mt_tensor as mt
from mt_nn import saving
from mt_nn.data import DataLoader, Dataset, Subset, digits, mnist
from mt_nn.errors import InputError, NetworkError
from mt_nn.library.files.writing import make_folder, write_atomically
from mt_nn.library.train import picture
from mt_nn.library.train.logs import ProgressBar
from mt_nn.library.train.recipe import Recipe, divided, in_batches, trained
from mt_nn.library.train.trainer import Trainer
from mt_tensor.errors import BackendError


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the settings given on the command line."""
    parser = argparse.ArgumentParser(prog="mt-train", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--backend", help="where to compute (default: MT_BACKEND, then numpy)")
    parser.add_argument("--epochs", type=_integer_from(1), default=Recipe.epochs)
    parser.add_argument("--batch-size", type=_integer_from(1), default=Recipe.batch_size)
    parser.add_argument(
        "--lr", type=_rate, default=Recipe.rate, help="highest learning rate of Adam"
    )
    parser.add_argument("--seed", type=_integer_from(0), default=0)
    parser.add_argument(
        "--mnist", type=Path, metavar="DIR", help="train on MNIST's or Fashion-MNIST's IDX files"
    )
    parser.add_argument(
        "--batches", type=_integer_from(1), help="stop each epoch after so many batches"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="where files go, in place of those of an earlier training (default: runs/digits, or "
        "runs/ and DIR's name)",
    )
    settings = parser.parse_args(arguments)
    if settings.out is None:
        name = settings.mnist.resolve().name or "mnist" if settings.mnist else "digits"
        settings.out = Path("runs", name)
    return settings


def _integer_from(least: int) -> Callable[[str], int]:
    """Return what reads an integer from `least` on."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be an integer, got {text!r}") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {text}")
        return value

    return read


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number from 0 on, got {text!r}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after printing what was wrong."""
    settings = parse(arguments)
    try:
        with mt.use_backend(settings.backend or mt.current_backend()):
            train(settings)
    except (BackendError, NetworkError) as error:
        print(f"mt-train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("mt-train: interrupted; nothing was saved.", file=sys.stderr)
        return 130
    return 0


def train(settings: argparse.Namespace) -> None:
    """Train, validate after each epoch, test once in the end, and write the files."""
    mt.manual_seed(settings.seed)
    images, test_images = mnist(settings.mnist) if settings.mnist else digits()
    training, validation_images = divided(images)
    # A short run looks at as many images as it learns from.
    most = settings.batches * settings.batch_size if settings.batches else sys.maxsize
    drawn = min(most, len(training))
    validation, test = (
        Subset(part, range(min(most, len(part)))) for part in (validation_images, test_images)
    )
    if not (drawn and validation and test):
        raise InputError(
            f"{len(images)} images to learn from and {len(test_images)} for the test are too few "
            "to train, validate and test with."
        )
    make_folder(settings.out)
    recipe = Recipe(settings.epochs, settings.batch_size, settings.lr)
    print(
        f"{drawn} images to learn from, {len(validation)} for the validation after each epoch, "
        f"{len(test)} for one test at the end"
    )
    print(
        f"learns by cross-entropy with labels smoothed by {recipe.smoothing}; the cross-entropy "
        "shown is without smoothing"
    )
    trainer = trained(
        recipe,
        training,
        validation,
        image_size=images.tensors[0].shape[-1],
        drawn=drawn,
        callbacks=[_Progress(sys.stdout)],
    )
    tested = trainer.evaluate(in_batches(test))
    right = round(tested["accuracy"] * len(test))
    _write(settings.out, trainer, test, f"test: {right} of {len(test)} right")
    print(
        f"test: cross-entropy {tested['cross_entropy']:.4f}, accuracy "
        f"{100 * tested['accuracy']:.1f} %, {len(test) - right} of {len(test)} images wrong"
    )


class _Progress(ProgressBar):
    """Shows what training and validation gave, without the smoothing of labels."""

    def line(self, row: Mapping[str, Any]) -> str:
        """Return cross-entropy and accuracy."""
        return (
            f"epoch {row['epoch']:2}  cross-entropy: training {row['cross_entropy']:.4f}, "
            f"validation {row['validation_cross_entropy']:.4f}  "
            f"validation accuracy {100 * row['validation_accuracy']:.1f} %"
        )


def _write(folder: Path, trainer: Trainer, test: Dataset, title: str) -> None:
    """Write model, losses and picture, whose samples have a title."""
    saving.save(trainer.model.state_dict(), folder / "model.safetensors")
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["epoch", "batch", "loss"])
    history = trainer.history
    batches = len(history.losses) // len(history)
    for number, loss in enumerate(history.losses):
        rows.writerow([number // batches + 1, number % batches + 1, repr(loss)])
    write_atomically(folder / "losses.csv", table.getvalue().encode())
    images, labels = next(iter(DataLoader(test, picture.SAMPLES)))
    predictions = trainer.predict([images]).argmax(1)
    samples = picture.Samples(
        title, *(each.numpy() for each in (images[:, 0], labels, predictions))
    )
    write_atomically(folder / "training.png", picture.draw(history, samples))
    for name in ("model.safetensors", "losses.csv", "training.png"):
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    sys.exit(main())
