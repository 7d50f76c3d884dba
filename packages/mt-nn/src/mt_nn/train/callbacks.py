"""What trainings often need of a `Callback`: to stop early, to save checkpoints, and logs."""

from __future__ import annotations

import copy
import csv
import io
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any, Literal, TextIO

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.files.writing import make_folder, write_atomically
from mt_nn.saving.checkpoint import Checkpoints
from mt_nn.train.history import History
from mt_nn.train.trainer import Callback, Trainer, monitored
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check, check_either


class EarlyStopping(Declared, Callback):
    """Stops the training when a number has not become better for some epochs.

    Args:
        monitor: what of the epoch to go by, a name in the history.
        patience: how many epochs without improvement are borne; the next one ends the training.
        min_delta: by how much a better number must be better.
        mode: whether less is better, "min", or more, "max".
        restore_best: whether the model has the parameters of the best epoch in the end.

    Raises:
        SettingError: an invalid setting.
    """

    everywhere = True

    monitor: str = "validation_loss"
    patience: int = 3
    min_delta: float = 0.0
    mode: Literal["min", "max"] = "min"
    restore_best: bool = False

    def _check(self) -> None:
        check_either("mode", self.mode, "min", "max")
        check("min_delta", self.min_delta, self.min_delta >= 0, "a number from 0 on")
        self.patience = integer("patience", self.patience, 0)
        self.best = math.inf
        self.waited = 0
        self.best_model: dict[str, Any] | None = None

    def on_fit_start(self, trainer: Trainer) -> None:
        """Stop at once where a training goes on that had been stopped already."""
        trainer.should_stop |= self.waited > self.patience

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Compare the epoch with the best one."""
        value = monitored(trainer, self.monitor) * (1 if self.mode == "min" else -1)
        if value < self.best - self.min_delta:
            self.best, self.waited = value, 0
            if self.restore_best:
                self.best_model = copy.deepcopy(trainer.network.state_dict())
        else:
            self.waited += 1
            if self.waited > self.patience:
                trainer.should_stop = True

    def on_fit_end(self, trainer: Trainer) -> None:
        """Give the model the best parameters, if that was asked for."""
        if self.best_model is not None:
            trainer.network.load_state_dict(self.best_model)

    def state_dict(self) -> dict[str, Any]:
        """Return what has been the best so far."""
        return {"best": self.best, "waited": self.waited, "best_model": self.best_model}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        best, waited, best_model = (state[name] for name in ("best", "waited", "best_model"))
        self.best, self.waited, self.best_model = best, waited, best_model


ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""The signals by which somebody, the system, or the terminal that is closed ends a process."""


class SaveCheckpoints(Callback):
    """Saves checkpoints of the training in a folder, from which `fit(resume=folder)` goes on.

    Control-C waits for the end of the step and saves one, too, before it ends the training; pressed
    again, it ends it at once. So do SIGTERM and SIGHUP where `signal.default_int_handler` handles
    them. (In Python's main thread only, and if nobody else handles the signal.)

    Args:
        folder: where they lie.
        every_steps: after how many steps of the optimizer one is saved; None for only after epochs.
        keep_last: how many of the last are kept.
        keep_best: how many of the best are kept beside those, of the ones at the end of an epoch.
        monitor: what of an epoch says how good it is.
        mode: whether less is better, "min", or more, "max".
        metadata: as `Checkpoints` takes it.

    Raises:
        FileError: the folder cannot be made.
        SettingError: an invalid setting.
    """

    comes_last = True
    everywhere = True

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every_steps: int | None = None,
        keep_last: int = 1,
        keep_best: int = 0,
        monitor: str = "validation_loss",
        mode: Literal["min", "max"] = "min",
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.every_steps = None if every_steps is None else integer("every_steps", every_steps, 1)
        self.checkpoints = Checkpoints(folder, keep_last, keep_best, mode, metadata)
        self.monitor = monitor
        self._interrupted = False
        self._handled: list[signal.Signals] = []

    def on_fit_start(self, trainer: Trainer) -> None:
        """Take over Control-C, and what is answered like it."""
        if threading.current_thread() is not threading.main_thread():
            return
        for each in ENDING:
            if signal.getsignal(each) is signal.default_int_handler:
                signal.signal(each, self._interrupt)
                self._handled.append(each)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            self._end()
        self._interrupted = True

    def _end(self) -> None:
        self._interrupted = False
        raise KeyboardInterrupt

    def _ends(self, trainer: Trainer) -> bool:
        """Return whether training is to end, which all ranks do at the same step."""
        if trainer.group.size == 1:
            return self._interrupted
        return any(trainer.group.gather(self._interrupted, "whether to end"))

    def on_step_end(self, trainer: Trainer) -> None:
        """Save if it is time, or the last chance."""
        ends = self._ends(trainer)
        if ends or (self.every_steps is not None and trainer.step % self.every_steps == 0):
            self._save(trainer)
        if ends:
            self._end()

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Save, with how good the epoch was if the best are kept."""
        score = monitored(trainer, self.monitor) if self.checkpoints.keep_best else None
        self._save(trainer, score)
        if self._ends(trainer):
            self._end()

    def _save(self, trainer: Trainer, score: float | None = None) -> None:
        parts = trainer.parts()
        if trainer.group.rank == 0:
            self.checkpoints.save(trainer.step, score, **parts)

    def on_fit_end(self, trainer: Trainer) -> None:
        """Give Control-C back."""
        while self._handled:
            signal.signal(self._handled.pop(), signal.default_int_handler)
        if self._interrupted:
            self._end()


# --- Logs -----------------------------------------------------------------------------------------


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


class ProgressBar(Callback):
    """A bar for the batches of an epoch, drawn with rich, and a line for each epoch.

    Beside the bar are the loss of the last batch, the samples a second, and the time until the last
    epoch will end, if the next batches take as long as those before, with validation and whatever
    else lies between them. Only a terminal or a notebook shows the bar; a file gets the lines
    alone. Without rich there are the lines, and a first one that says so.

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
            pace = self._pace(trainer)
            self._progress.update(self._task, completed=trainer.batch, description=text, pace=pace)

    def _pace(self, trainer: Trainer) -> str:
        """Return how long it will take, and how fast it goes."""
        seconds = time.perf_counter() - self._began
        speed = f"{trainer.samples / seconds:,.0f} {self.samples}/s"
        if trainer.batches is None:
            return speed
        batches = (trainer.epochs - trainer.epoch) * trainer.batches - trainer.batch
        left = timedelta(seconds=round(batches * seconds / self._batches))
        return f"{left} left  {speed}"

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
