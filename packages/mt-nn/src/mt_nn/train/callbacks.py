"""What trainings often need of a `Callback`: to stop early, and to save checkpoints."""

from __future__ import annotations

import copy
import math
import os
import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any, Literal

from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.saving.checkpoint import Checkpoints
from mt_nn.train.trainer import Callback, Trainer, monitored


class EarlyStopping(Callback):
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

    def __init__(
        self,
        monitor: str = "validation_loss",
        patience: int = 3,
        min_delta: float = 0.0,
        mode: Literal["min", "max"] = "min",
        restore_best: bool = False,
    ) -> None:
        if mode not in ("min", "max"):
            raise SettingError(f"mode must be 'min' or 'max'; got {mode!r}.")
        if not min_delta >= 0:
            raise SettingError(f"min_delta must be a number from 0 on; got {min_delta!r}.")
        self.monitor, self.patience = monitor, integer("patience", patience, 0)
        self.min_delta, self.mode, self.restore_best = min_delta, mode, restore_best
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
