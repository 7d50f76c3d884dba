"""Logs of a training: a file with a line for each epoch, and a progress bar.

A file is written anew after each epoch, so that one which went on from a checkpoint has every epoch
once.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from mt_nn.files.writing import make_folder, write_atomically
from mt_nn.train.history import History
from mt_nn.train.trainer import Callback

if TYPE_CHECKING:
    from mt_nn.train.trainer import Trainer


class _File(Callback):
    """A file that is written after each epoch.

    Args:
        path: the file; its folder is made if need be.

    Raises:
        FileError: the folder cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        make_folder(self.path.parent)

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Write the file."""
        write_atomically(self.path, self.content(trainer.history).encode())

    def content(self, history: History) -> str:
        """Return what the file holds."""
        raise NotImplementedError


class CSVLog(_File):
    """A table with a line for each epoch, comma-separated, under the names of the columns."""

    def content(self, history: History) -> str:
        """Return the table."""
        text = io.StringIO()
        table = csv.DictWriter(text, history.names(), lineterminator="\n")
        table.writeheader()
        table.writerows(history.rows)
        return text.getvalue()


class JSONLinesLog(_File):
    """A JSON object for each epoch, one a line; arrays are lists, and nan is null."""

    def content(self, history: History) -> str:
        """Return the lines."""
        import json

        rows = [{name: _json(value) for name, value in row.items()} for row in history]
        return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_json(part) for part in value.tolist()]
    if isinstance(value, list):
        return [_json(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


SHORTEST_BAR = 8
"""How many letters wide a bar is at least, where that is possible."""


class ProgressBar(Callback):
    """A bar for the batches of an epoch, drawn with rich, and a line for each epoch.

    Beside the bar are the loss of the last batch, the metrics of the epoch so far, the samples a
    second, and the time until the last epoch will end, if the next batches take as long as those
    before, with validation and whatever else lies between them; a narrow terminal shows fewer of
    these. Only a terminal or a notebook shows the bar; a file gets the lines alone. Without rich
    there are the lines, and a first one that says so.

    Args:
        file: where to; the standard error output if None.
        samples: what to call the samples, "images" for example.
    """

    comes_last = True

    def __init__(self, file: TextIO | None = None, samples: str = "samples") -> None:
        self.file, self.samples = file, samples
        self._progress: Any = None
        self._task: Any = None
        self._began = 0.0
        self._batches = 0

    def on_fit_start(self, trainer: Trainer) -> None:
        """Show the bar."""
        self._began, self._batches = time.perf_counter(), 0
        self._progress = self._made()
        if self._progress is None:
            self._print("no progress bar: it is drawn with rich (pip install 'mt-nn[train]').")
        else:
            self._progress.start()

    def _made(self) -> Any:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        except ImportError:
            return None
        pace = TextColumn("{task.fields[pace]}")
        bar = BarColumn(bar_width=None)  # as wide as what is said leaves room for
        columns = (TextColumn("{task.description}"), bar, MofNCompleteColumn(), pace)
        console = Console(file=self.file or sys.stderr)
        hidden = not (console.is_terminal or console.is_jupyter)
        return Progress(*columns, console=console, transient=True, disable=hidden, expand=True)

    def _print(self, text: str) -> None:
        if self._progress is None or self._progress.disable:
            # Not by rich, which would end the process where somebody has closed the file.
            print(text, file=self.file or sys.stderr, flush=True)
        else:
            # As it is: rich would break the line at a width that a file does not have.
            self._progress.console.print(text, soft_wrap=True, markup=False, emoji=False)

    def line(self, row: Mapping[str, Any]) -> str:
        """Return what is shown of an epoch, a row of the history; override it to show another."""
        shown = [f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, float)]
        return "  ".join([f"epoch {row['epoch']:3}", *shown])

    def on_epoch_start(self, trainer: Trainer) -> None:
        """Begin a bar."""
        if self._progress is not None:
            total = trainer.batches
            self._task = self._progress.add_task(
                f"epoch {trainer.epoch + 1}", total=total, completed=trainer.batch, pace=""
            )

    def on_batch_end(self, trainer: Trainer) -> None:
        """Move the bar."""
        if self._progress is not None:
            self._batches += 1
            text = f"epoch {trainer.epoch + 1}  loss {trainer.history.losses[-1]:.4f}"
            counted = f" {trainer.batches}/{trainer.batches} "
            width = self._progress.console.width - len(text) - len(counted) - SHORTEST_BAR - 1
            pace = _fitted(self._pace(trainer), width)
            self._progress.update(self._task, completed=trainer.batch, description=text, pace=pace)

    def _pace(self, trainer: Trainer) -> Iterator[str]:
        """Yield how long it will take, how fast it goes, and what the epoch measures so far."""
        seconds = time.perf_counter() - self._began
        if trainer.batches is not None:
            batches = (trainer.epochs - trainer.epoch) * trainer.batches - trainer.batch
            left = round(batches * seconds / self._batches)
            hours, minutes = divmod(left // 60, 60)
            yield f"{hours}:{minutes:02}:{left % 60:02} left"
        yield f"{trainer.samples / seconds:,.0f} {self.samples}/s"
        for name, value in trainer.measured().items():
            if isinstance(value, float) and name != "loss":
                yield f"{name} {value:.4g}"

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Replace the bar by a line."""
        if self._progress is not None:
            self._progress.remove_task(self._task)
        self._print(self.line(trainer.history.rows[-1]))

    def on_fit_end(self, trainer: Trainer) -> None:
        """Take the bar away."""
        if self._progress is not None:
            if not self._progress.disable:  # rich before 14.3 would print an empty line
                self._progress.stop()
            self._progress = None


def _fitted(parts: Iterable[str], width: int) -> str:
    """Return parts beside each other that fit a width together; the earlier come first."""
    line = ""
    for part in parts:
        if len(line) + len(part) <= width:
            line += f"{part}  "
    return line.rstrip()
