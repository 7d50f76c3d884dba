"""Callbacks for early stopping, checkpoints, logs and progress."""

from __future__ import annotations

import copy
import csv
import io
import json
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
    """Stop training when a metric has stopped improving.

    Args:
        monitor: the name of the metric in the history.
        patience: the number of epochs without improvement that are tolerated.
        min_delta: the smallest change that counts as an improvement.
        mode: "min" if smaller is better, "max" if larger is.
        restore_best: whether to restore the parameters of the best epoch at the end.

    Raises:
        SettingError: a setting is invalid.
    """

    everywhere = True

    monitor: str = "validation_loss"
    patience: int = 3
    min_delta: float = 0.0
    mode: Literal["min", "max"] = "min"
    restore_best: bool = False

    def _check(self) -> None:
        check_either("mode", self.mode, "min", "max")
        check("min_delta", self.min_delta, self.min_delta >= 0, "a non-negative number")
        self.patience = integer("patience", self.patience, 0)
        self.best = math.inf
        self.waited = 0
        self.best_model: dict[str, Any] | None = None

    def on_fit_start(self, trainer: Trainer) -> None:
        """Stop at once if the resumed training had been stopped."""
        trainer.should_stop |= self.waited > self.patience

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Stop if the epoch is not better than the best one, and patience is exhausted."""
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
        """Restore the best parameters if `restore_best` is set."""
        if self.best_model is not None:
            trainer.network.load_state_dict(self.best_model)

    def state_dict(self) -> dict[str, Any]:
        """Return the best value and model, and the number of epochs since."""
        return {"best": self.best, "waited": self.waited, "best_model": self.best_model}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`."""
        best, waited, best_model = (state[name] for name in ("best", "waited", "best_model"))
        self.best, self.waited, self.best_model = best, waited, best_model


TERMINATING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""The signals that end a process."""


class SaveCheckpoints(Callback):
    """Save checkpoints of the training in a folder; `fit(resume=folder)` continues from the last.

    Control-C ends the training after the current step, with a checkpoint; a second Control-C ends
    it at once. SIGTERM and SIGHUP do the same if their handler is `signal.default_int_handler`.
    This works only in the main thread, and if no other handler was installed.

    Args:
        folder: the folder of the checkpoints.
        every_steps: the number of optimizer steps between checkpoints; None to save only after
            epochs.
        keep_last: the number of most recent checkpoints to keep.
        keep_best: the number of best checkpoints to keep in addition, among those after epochs.
        monitor: the metric that defines the best checkpoints, a name in the history.
        mode: "min" if smaller is better, "max" if larger is.
        metadata: see `Checkpoints`.

    Raises:
        FileError: the folder cannot be created.
        SettingError: a setting is invalid.
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
        """Install handlers of the terminating signals."""
        if threading.current_thread() is not threading.main_thread():
            return
        for each in TERMINATING:
            if signal.getsignal(each) is signal.default_int_handler:
                signal.signal(each, self._interrupt)
                self._handled.append(each)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            self._stop()
        self._interrupted = True

    def _stop(self) -> None:
        self._interrupted = False
        raise KeyboardInterrupt

    def _must_stop(self, trainer: Trainer) -> bool:
        """Return whether any rank was interrupted, so that all stop after the same step."""
        return any(trainer.group.gather(self._interrupted, "whether to end"))

    def on_step_end(self, trainer: Trainer) -> None:
        """Save a checkpoint every `every_steps` steps, or if training must stop."""
        must_stop = self._must_stop(trainer)
        if must_stop or (self.every_steps is not None and trainer.step % self.every_steps == 0):
            self._save(trainer)
        if must_stop:
            self._stop()

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Save a checkpoint, with the monitored metric if the best ones are kept."""
        score = monitored(trainer, self.monitor) if self.checkpoints.keep_best else None
        self._save(trainer, score)
        if self._must_stop(trainer):
            self._stop()

    def _save(self, trainer: Trainer, score: float | None = None) -> None:
        parts = trainer.parts()
        if trainer.group.rank == 0:
            self.checkpoints.save(trainer.step, score, **parts)

    def on_fit_end(self, trainer: Trainer) -> None:
        """Restore the signal handlers."""
        while self._handled:
            signal.signal(self._handled.pop(), signal.default_int_handler)
        if self._interrupted:
            self._stop()


# --- Logs -----------------------------------------------------------------------------------------


class _File(Callback):
    """Base of logs: write a file after each epoch.

    Args:
        path: the path of the file; its folder is created if necessary.

    Raises:
        FileError: the folder cannot be created.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        make_folder(self.path.parent)

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Write the file."""
        write_atomically(self.path, self.content(trainer.history).encode())

    def content(self, history: History) -> str:
        """Return the content of the file."""
        raise NotImplementedError


class CSVLog(_File):
    """Write the history as comma-separated values, with a header and one line per epoch."""

    def content(self, history: History) -> str:
        """Return the table."""
        text = io.StringIO()
        table = csv.DictWriter(text, history.names(), lineterminator="\n")
        table.writeheader()
        table.writerows(history.rows)
        return text.getvalue()


class JSONLinesLog(_File):
    """Write one JSON object per epoch and line; arrays become lists, and nan null."""

    def content(self, history: History) -> str:
        """Return the lines."""
        rows = [{name: _json(value) for name, value in row.items()} for row in history]
        return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [_json(member) for member in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


class ProgressBar(Callback):
    """Show a progress bar for the batches of an epoch, with rich, and print a line per epoch.

    Next to the bar are the loss of the last batch, samples per second, and the estimated time to
    the end of the last epoch, including validation. The bar is shown only on a terminal or in a
    notebook. Without rich, only the lines are printed, after a note.

    Args:
        file: the output; standard error if None.
        samples: the name of the samples, such as "images".
    """

    comes_last = True

    def __init__(self, file: TextIO | None = None, samples: str = "samples") -> None:
        self.file, self.samples = file, samples
        self._progress: Any = None
        self._task: Any = None
        self._start = 0.0
        self._batches = 0

    def on_fit_start(self, trainer: Trainer) -> None:
        """Show the bar."""
        self._start, self._batches = time.perf_counter(), 0
        self._progress = self._create()
        if self._progress is None:
            self._print("no progress bar: install rich (pip install 'mt-nn[train]').")
        else:
            self._progress.start()

    def _create(self) -> Any:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        except ImportError:
            return None
        speed = TextColumn("{task.fields[speed]}")
        bar = BarColumn(bar_width=None)  # fills the rest of the line
        columns = (TextColumn("{task.description}"), bar, MofNCompleteColumn(), speed)
        console = Console(file=self.file or sys.stderr)
        hidden = not (console.is_terminal or console.is_jupyter)
        return Progress(*columns, console=console, transient=True, disable=hidden, expand=True)

    def _print(self, text: str) -> None:
        if self._progress is None or self._progress.disable:
            # Not with rich, which would exit the process if the file was closed.
            print(text, file=self.file or sys.stderr, flush=True)
        else:
            # Without wrapping, which is not appropriate for a file.
            self._progress.console.print(text, soft_wrap=True, markup=False, emoji=False)

    def line(self, row: Mapping[str, Any]) -> str:
        """Return the line to print for an epoch, a row of the history; may be overridden."""
        values = [f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, float)]
        return "  ".join([f"epoch {row['epoch']:3}", *values])

    def on_epoch_start(self, trainer: Trainer) -> None:
        """Start a bar."""
        if self._progress is not None:
            total = trainer.batches
            self._task = self._progress.add_task(
                f"epoch {trainer.epoch + 1}", total=total, completed=trainer.batch, speed=""
            )

    def on_batch_end(self, trainer: Trainer) -> None:
        """Advance the bar."""
        if self._progress is not None:
            self._batches += 1
            text = f"epoch {trainer.epoch + 1}  loss {trainer.history.losses[-1]:.4f}"
            speed = self._speed(trainer)
            self._progress.update(
                self._task, completed=trainer.batch, description=text, speed=speed
            )

    def _speed(self, trainer: Trainer) -> str:
        """Return the remaining time, if it is known, and the speed."""
        seconds = time.perf_counter() - self._start
        speed = f"{trainer.samples / seconds:,.0f} {self.samples}/s"
        if trainer.batches is None:
            return speed
        batches = (trainer.epochs - trainer.epoch) * trainer.batches - trainer.batch
        remaining = timedelta(seconds=round(batches * seconds / self._batches))
        return f"{remaining} left  {speed}"

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Replace the bar by a line."""
        if self._progress is not None:
            self._progress.remove_task(self._task)
        self._print(self.line(trainer.history.rows[-1]))

    def on_fit_end(self, trainer: Trainer) -> None:
        """Remove the bar."""
        if self._progress is not None:
            if not self._progress.disable:  # rich before 14.3 would print an empty line
                self._progress.stop()
            self._progress = None
