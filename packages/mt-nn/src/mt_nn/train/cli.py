"""`mt-train`: train LeNet on real handwritten digits, with a progress bar.

It writes three files: the model, the losses of every batch, and a picture of the training.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mt_tensor as mt
from mt_nn import optim, saving
from mt_nn.data import DataLoader, TensorDataset, digits
from mt_nn.data.dataset import Subset
from mt_nn.data.idx import mnist
from mt_nn.errors import FileError, MissingPackageError, NetworkError
from mt_nn.train import picture
from mt_nn.train.lenet import LeNet
from mt_nn.train.loop import Epoch, evaluate, train_epoch
from mt_tensor.errors import BackendError

EVALUATION_BATCH = 256


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the settings given on the command line."""
    parser = argparse.ArgumentParser(prog="mt-train", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--backend", help="where to compute (default: MT_BACKEND, then numpy)")
    parser.add_argument("--epochs", type=_integer_from(1), default=30)
    parser.add_argument("--batch-size", type=_integer_from(1), default=64)
    parser.add_argument("--lr", type=_rate, default=3e-3, help="learning rate of Adam")
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
    _make_folder(settings.out)
    model = LeNet(image_size=training_set.tensors[0].shape[-1])
    optimizer = optim.Adam(model.parameters(), lr=settings.lr)
    test_loader = DataLoader(test_set, EVALUATION_BATCH)
    if settings.batches:  # a short run tests on as many batches as it trains on
        few = range(min(len(test_set), settings.batches * settings.batch_size))
        test_loader = DataLoader(Subset(test_set, few), EVALUATION_BATCH)
    training, testing = _run_epochs(settings, model, optimizer, training_set, test_loader)
    _write(settings.out, model, training, testing, test_set)
    print(f"test accuracy: {100 * testing[-1].accuracy:.1f} %")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"could not make the folder {folder} ({error.strerror or error}): choose another "
            "with --out."
        ) from error


def _run_epochs(
    settings: argparse.Namespace,
    model: LeNet,
    optimizer: optim.Optimizer,
    training_set: TensorDataset,
    test_loader: DataLoader,
) -> tuple[list[Epoch], list[Epoch]]:
    """Train for all epochs behind a progress bar."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed
    except ImportError as error:
        raise MissingPackageError(
            "the progress bar is drawn with rich: pip install 'mt-nn[train]'."
        ) from error
    loader = DataLoader(training_set, settings.batch_size, shuffle=True)
    per_epoch = min(len(loader), settings.batches or len(loader))
    training: list[Epoch] = []
    testing: list[Epoch] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns) as progress:
        bar = progress.add_task("epoch 1", total=settings.epochs * per_epoch)
        for number in range(1, settings.epochs + 1):

            def report(loss: float, number: int = number) -> None:
                progress.update(bar, advance=1, description=f"epoch {number}  loss {loss:.4f}")

            batches = (batch for _, batch in zip(range(per_epoch), loader, strict=False))
            training.append(train_epoch(model, batches, optimizer, report))
            testing.append(evaluate(model, test_loader))
            progress.console.print(
                f"epoch {number:2}  training loss {training[-1].loss:.4f}  "
                f"test loss {testing[-1].loss:.4f}  accuracy {100 * testing[-1].accuracy:.1f} %"
            )
    return training, testing


def _write(
    folder: Path,
    model: LeNet,
    training: Sequence[Epoch],
    testing: Sequence[Epoch],
    test_set: TensorDataset,
) -> None:
    """Write model, losses and picture."""
    saving.save(model.state_dict(), folder / "model.safetensors")
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["epoch", "batch", "loss"])
    for number, epoch in enumerate(training, 1):
        rows.writerows([number, batch, repr(loss)] for batch, loss in enumerate(epoch.losses, 1))
    saving.write_atomically(folder / "losses.csv", table.getvalue().encode())
    images, labels = test_set[: picture.SAMPLES]
    with mt.no_grad():
        predictions = model.eval()(images).argmax(1)
    content = picture.draw(
        training, testing, images.numpy()[:, 0], labels.numpy(), predictions.numpy()
    )
    saving.write_atomically(folder / "training.png", content)
    for name in ("model.safetensors", "losses.csv", "training.png"):
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    sys.exit(main())
