"""`mt-train`: train LeNet on real handwritten digits, with a progress bar.

It writes three files: the model, the losses of every batch, and a picture of the training.
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
from mt_nn import optim, saving
from mt_nn.data import DataLoader, RandomSampler, Subset, TensorDataset, digits, mnist
from mt_nn.errors import NetworkError
from mt_nn.files.writing import make_folder, write_atomically
from mt_nn.layers.loss import CrossEntropyLoss
from mt_nn.train import picture
from mt_nn.train.lenet import LeNet
from mt_nn.train.logs import ProgressBar
from mt_nn.train.metrics import Accuracy
from mt_nn.train.trainer import Trainer
from mt_tensor.errors import BackendError

EVALUATION_BATCH = 256


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the settings given on the command line."""
    parser = argparse.ArgumentParser(prog="mt-train", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--backend", help="where to compute (default: MT_BACKEND, then numpy)")
    parser.add_argument("--epochs", type=_integer_from(1), default=30)
    parser.add_argument("--batch-size", type=_integer_from(1), default=64)
    parser.add_argument("--lr", type=_rate, default=0.01, help="highest learning rate of Adam")
    parser.add_argument("--seed", type=_integer_from(0), default=0)
    parser.add_argument(
        "--mnist", type=Path, metavar="DIR", help="train on MNIST's or Fashion-MNIST's IDX files"
    )
    parser.add_argument(
        "--batches", type=_integer_from(1), help="stop each epoch after so many batches"
    )
    parser.add_argument(
        "--out", type=Path, help="where files go (default: runs/digits, or runs/ and DIR's name)"
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
    """Train, test after each epoch, and write the files."""
    mt.manual_seed(settings.seed)
    training_set, test_set = mnist(settings.mnist) if settings.mnist else digits()
    make_folder(settings.out)
    drawn, tested = len(training_set), len(test_set)
    if settings.batches:  # a short run tests on as many samples as it trains on
        few = settings.batches * settings.batch_size
        drawn, tested = min(drawn, few), min(tested, few)
    order = RandomSampler(training_set, num_samples=drawn)
    loader = DataLoader(training_set, settings.batch_size, sampler=order)
    model = LeNet(image_size=training_set.tensors[0].shape[-1])
    optimizer = optim.Adam(model.parameters())
    trainer = Trainer(
        model,
        optimizer,
        CrossEntropyLoss(label_smoothing=0.1),
        {"accuracy": Accuracy()},
        # A rate that rises and falls, and smoothed labels, leave a quarter of the errors.
        scheduler=optim.lr_scheduler.OneCycleLR(
            optimizer, settings.lr, total_steps=settings.epochs * len(loader)
        ),
        schedule="step",
        callbacks=[_Progress(sys.stdout)],
    )
    test_loader = DataLoader(Subset(test_set, range(tested)), EVALUATION_BATCH)
    history = trainer.fit(loader, settings.epochs, validation=test_loader)
    _write(settings.out, trainer, test_set)
    print(f"test accuracy: {100 * history['validation_accuracy'][-1]:.1f} %")


class _Progress(ProgressBar):
    """Shows of an epoch what the validation, here the test, has given."""

    def line(self, row: Mapping[str, Any]) -> str:
        """Return losses and accuracy."""
        return (
            f"epoch {row['epoch']:2}  training loss {row['loss']:.4f}  "
            f"test loss {row['validation_loss']:.4f}  "
            f"accuracy {100 * row['validation_accuracy']:.1f} %"
        )


def _write(folder: Path, trainer: Trainer, test_set: TensorDataset) -> None:
    """Write model, losses and picture."""
    saving.save(trainer.model.state_dict(), folder / "model.safetensors")
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["epoch", "batch", "loss"])
    history = trainer.history
    batches = len(history.losses) // len(history)
    for number, loss in enumerate(history.losses):
        rows.writerow([number // batches + 1, number % batches + 1, repr(loss)])
    write_atomically(folder / "losses.csv", table.getvalue().encode())
    images, labels = test_set[: picture.SAMPLES]
    predictions = trainer.predict([images]).argmax(1)
    content = picture.draw(history, images.numpy()[:, 0], labels.numpy(), predictions.numpy())
    write_atomically(folder / "training.png", content)
    for name in ("model.safetensors", "losses.csv", "training.png"):
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    sys.exit(main())
