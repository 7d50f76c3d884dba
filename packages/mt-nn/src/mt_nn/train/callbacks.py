"""Callbacks for early stopping, checkpoints, logs and progress."""

from __future__ import annotations

import copy
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Literal, TextIO

from mt_nn.core.settings import integer
from mt_nn.files.writing import make_folder, write_table
from mt_nn.saving.checkpoint import Checkpoints
from mt_nn.train.trainer import Callback, Trainer, monitored
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check, choice


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
        choice("mode", self.mode, ("min", "max"))
        check("min_delta", self.min_delta, self.min_delta >= 0, "a non-negative number")
        self.patience = integer("patience", self.patience, 0)
        self.best = math.inf
        self.waited = 0
        self.best_model: dict[str, Any] | None = None

    def on_fit_start(self, trainer: Trainer) -> None:
        """Stop at once if this callback had stopped the training before it was resumed."""
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

    Control-C, SIGTERM and SIGHUP end the training after the current step, with a checkpoint; a
    second one ends it at once. This works only in the main thread, and if no other handler was
    installed.

    Args:
        folder: the folder of the checkpoints.
        every_steps: the number of optimizer steps between checkpoints; None to save only after
            epochs.
        keep_last: the number of most recent checkpoints to keep.
        keep_best: the number of best checkpoints to keep in addition, among those after epochs.
        monitor: the metric that defines the best checkpoints, a name in the history.
        mode: "min" if smaller is better, "max" if larger is.

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
    ) -> None:
        self.every_steps = None if every_steps is None else integer("every_steps", every_steps, 1)
        self.checkpoints = Checkpoints(folder, keep_last, keep_best, mode)
        self.monitor = monitor
        self._interrupted = False
        self._handlers: dict[signal.Signals, Any] = {}  # as they were before

    def on_fit_start(self, trainer: Trainer) -> None:
        """Install handlers of the terminating signals."""
        if threading.current_thread() is threading.main_thread():
            for each in TERMINATING:
                if signal.getsignal(each) in (signal.default_int_handler, signal.SIG_DFL):
                    self._handlers[each] = signal.signal(each, self._interrupt)

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
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        if self._interrupted:
            self._stop()


# --- Logs -----------------------------------------------------------------------------------------


class CSVLog(Callback):
    """Write the history as comma-separated values, with a header and one line per epoch.

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
        names = trainer.history.names()
        columns = [trainer.history[name] for name in names]
        write_table(self.path, [names, *zip(*columns, strict=True)])


class ProgressBar(Callback):
    """Show a progress bar of training batches, with rich, and print a line per epoch.

    Next to the bar are the epoch, the loss of the last batch, samples per second, and the estimated
    remaining time. The bar is shown only on a terminal or in a notebook. Without rich, only the
    lines are printed, after a note.

    Args:
        file: the output; standard error if None.
        samples: the name of the samples, such as "images".
        line: returns the line to print for an epoch, a row of the history; by default, one with all
            its numbers.
    """

    comes_last = True

    def __init__(
        self,
        file: TextIO | None = None,
        samples: str = "samples",
        line: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        self.file, self.samples, self.line = file, samples, _line if line is None else line
        self._progress: Any = None
        self._task: Any = None
        self._start = 0.0

    def on_fit_start(self, trainer: Trainer) -> None:
        """Show the bar."""
        self._start = time.perf_counter()
        try:
            from rich import progress
            from rich.console import Console
        except ImportError:
            self._print("no progress bar: install rich (pip install 'mt-nn[train]').")
        else:
            console = Console(file=self.file or sys.stderr)
            if console.is_terminal or console.is_jupyter:
                columns = progress.Progress.get_default_columns()
                speed = progress.TextColumn("{task.fields[speed]}")
                self._progress = progress.Progress(*columns, speed, console=console, transient=True)
                total = trainer.batches and trainer.batches * trainer.epochs
                self._task = self._progress.add_task("", total=total, speed="")
                self._progress.start()
        if trainer.step and trainer.epoch < trainer.epochs:
            self._print(f"resuming in epoch {trainer.epoch + 1}, after {trainer.batch} batches")

    def _print(self, text: str) -> None:
        if self._progress is None:
            # Not with rich, which would exit the process if the file were closed.
            print(text, file=self.file or sys.stderr, flush=True)
        else:
            # Without wrapping, which is not appropriate for a file.
            self._progress.console.print(text, soft_wrap=True, markup=False, emoji=False)

    def on_batch_end(self, trainer: Trainer) -> None:
        """Advance the bar."""
        if self._progress is not None:
            speed = trainer.samples / (time.perf_counter() - self._start)
            self._progress.update(
                self._task,
                completed=trainer.epoch * (trainer.batches or 0) + trainer.batch,
                description=f"epoch {trainer.epoch + 1}  loss {trainer.history.losses[-1]:.4f}",
                speed=f"{speed:,.0f} {self.samples}/s",
            )

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Print the line of the epoch."""
        self._print(self.line(trainer.history.rows[-1]))

    def on_fit_end(self, trainer: Trainer) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _line(row: Mapping[str, Any]) -> str:
    values = [f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, float)]
    return "  ".join([f"epoch {row['epoch']:3}", *values])
