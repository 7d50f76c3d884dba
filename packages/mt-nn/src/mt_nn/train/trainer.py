"""`Trainer`: a training loop with metrics, validation, callbacks and checkpoints.

Training can be resumed exactly from a checkpoint, even in the middle of an epoch: with the same
parameters, the same batches in the same order, and the same random numbers.

Several ranks train a `DataParallel` model together, each with its part of the batches. Metrics
cover all ranks; rank 0 reports and saves them.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

from mt_nn.core.settings import integer
from mt_nn.data.loading import length_of
from mt_nn.errors import InputError, SettingError
from mt_nn.optim import Optimizer
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.group import Group
from mt_nn.parallel.sharding import ZeroRedundancyOptimizer
from mt_nn.saving.checkpoint import Checkpoints, Generators, load_checkpoint, save_checkpoint
from mt_nn.saving.values import state_methods
from mt_nn.train.history import History
from mt_nn.train.metrics import Mean, Metric, samples_of
from mt_nn.utils.clipping import clip_grad_norm_
from mt_nn.utils.modes import evaluation
from mt_nn.utils.settings import check, check_flags, choice
from mt_operators import Module, StateDictError
from mt_tensor import Tensor, cat
from mt_tensor import compile as compiled
from mt_tensor.backends.extending import map_leaves


class Callback:
    """Base class of callbacks: methods that a trainer calls; they do nothing here.

    A callback with `state_dict` and `load_state_dict` is part of the trainer's checkpoints. If it
    has `consolidate_state_dict`, that is called first, on all ranks.

    Attributes:
        comes_last: whether it is called after all callbacks that do not set this.
        everywhere: whether it is called on every rank, not only on rank 0.
    """

    comes_last = False
    everywhere = False

    def on_fit_start(self, trainer: Trainer) -> None:
        """Run before the first epoch, after a checkpoint was loaded."""

    def on_epoch_start(self, trainer: Trainer) -> None:
        """Run before the first batch of an epoch."""

    def on_batch_end(self, trainer: Trainer) -> None:
        """Run after a batch, whose loss is `trainer.history.losses[-1]`."""

    def on_step_end(self, trainer: Trainer) -> None:
        """Run after a step of the optimizer, and after `on_batch_end`."""

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Run after an epoch and its validation; results are in `trainer.history.rows[-1]`."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """Run after the last epoch, or after an error."""


def monitored(trainer: Trainer, name: str) -> float:
    """Return a metric of the last epoch, which must be a number.

    Raises:
        SettingError: the metric is unknown, or not a number.
    """
    row = trainer.history.rows[-1]
    value = row.get(name)
    if not isinstance(value, (int, float)):
        raise SettingError(
            f"an epoch has no number {name!r} to monitor; it has {', '.join(row)}. Metrics of the "
            "validation need fit(validation=...)."
        )
    return value


class Trainer:
    """Train and evaluate a model.

    Batches are tuples whose last member is the target; the others are the inputs of the model.

    Args:
        model: the model; a `DataParallel` if several ranks train it.
        optimizer: the optimizer of its parameters.
        loss: takes the output of the model and the target, and returns the mean loss of a batch.
        metrics: additional metrics, by name.
        scheduler: an object with a method `step()`, such as a learning rate scheduler.
        schedule: whether to call it after every "epoch" or after every "step" of the optimizer.
        schedule_by: the name of a metric in the history to pass to `scheduler.step` after an epoch;
            None to call it without arguments.
        clip_norm: the largest norm of all gradients together; None for no limit.
        accumulate: the number of batches per step of the optimizer, whose losses are averaged; the
            last step of an epoch uses the remaining batches.
        callbacks: the callbacks, in order.
        compile: whether to compile the computation of a batch: the same losses in less time, on a
            single rank. See `mt_tensor.compile` for its restrictions.

    Attributes:
        group: the ranks that train together.
        epoch: the number of completed epochs.
        epochs: the number of epochs to complete.
        batch: the number of completed batches of the current epoch.
        batches: the number of batches per epoch; None if unknown.
        step: the number of steps of the optimizer.
        samples: the number of training samples since `fit` was called.
        history: the results of each epoch.
        should_stop: whether to stop after this epoch; callbacks may set it.

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(
        self,
        model: Module,
        optimizer: Optimizer,
        loss: Callable[[Any, Any], Tensor],
        metrics: Mapping[str, Metric] | None = None,
        *,
        scheduler: Any = None,
        schedule: Literal["epoch", "step"] = "epoch",
        schedule_by: str | None = None,
        clip_norm: float | None = None,
        accumulate: int = 1,
        callbacks: Sequence[Callback] = (),
        compile: bool = False,
    ) -> None:
        choice("schedule", schedule, ("epoch", "step"))
        valid = clip_norm is None or clip_norm >= 0
        check("clip_norm", clip_norm, valid, "a non-negative number")
        self.model, self.optimizer, self.loss = model, optimizer, loss
        self.scheduler, self.schedule, self.schedule_by = scheduler, schedule, schedule_by
        self.clip_norm = clip_norm
        self.accumulate = integer("accumulate", accumulate, 1)
        self.group = model.process_group if isinstance(model, DataParallel) else Group()
        self._ranks: Any = model if self.group.size > 1 else None
        self.callbacks = sorted(callbacks, key=lambda callback: callback.comes_last)
        self.history = History()
        self.epoch = self.epochs = self.batch = self.step = self.samples = 0
        self.batches: int | None = None
        self.should_stop = False
        check_flags(compile=compile)
        if compile and self.group.size > 1:
            raise SettingError(
                "compile=True needs a single rank: compiled programs cannot communicate."
            )
        learn = _make_learn(model, loss)
        self._learn = compiled(learn) if compile else learn
        update = _make_update(optimizer, clip_norm)
        sharded = isinstance(optimizer, ZeroRedundancyOptimizer)
        self._update = compiled(update) if compile and not sharded else update
        self._metrics: dict[str, Metric] = {"loss": Mean(loss), **_checked_metrics(metrics or {})}
        self._loader: Any = None
        self._loader_resumes = False  # whether the loader was restored from a checkpoint
        self._generator_states: Any = None  # at the start of the epoch
        self._accumulated = 0  # the number of batches since the last step of the optimizer

    # --- Training -------------------------------------------------------------------------------

    def fit(
        self,
        loader: Iterable[Any],
        epochs: int,
        validation: Iterable[Any] | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> History:
        """Train until `epochs` epochs are completed, including those of earlier calls.

        Args:
            loader: the training batches; iterated over once per epoch.
            epochs: the total number of epochs.
            validation: batches to evaluate the model on after each epoch.
            resume: a checkpoint to continue from; or a folder, for its last checkpoint, if any.

        Raises:
            FileError: the checkpoint is missing or damaged.
            InputError: a batch is not a tuple of inputs and target.
            SettingError: the number of epochs is invalid, or a monitored metric does not exist.
            StateDictError: the checkpoint does not fit; nothing has changed.
        """
        self.epochs, self.samples = integer("epochs", epochs, 0), 0
        self._loader, self.batches = loader, length_of(loader)
        if resume is not None:
            self._resume(Path(resume))
        if not self._accumulated:
            self.optimizer.zero_grad()
        self.should_stop = False
        try:
            self._notify("on_fit_start")
            while self.epoch < epochs and not self.should_stop:
                sampler: Any = getattr(loader, "sampler", None)
                if hasattr(sampler, "set_epoch"):  # a DistributedSampler
                    sampler.set_epoch(self.epoch)
                self._run_epoch(loader, validation)
        finally:
            self._notify("on_fit_end")
        return self.history

    def _resume(self, path: Path) -> None:
        checkpoint = Checkpoints(path).last() if path.is_dir() else path
        if checkpoint is None:
            return
        try:
            self.load(checkpoint)
        except StateDictError as error:
            raise StateDictError(f"{checkpoint} is from another training run: {error}") from error

    def _notify(self, method: str) -> None:
        for callback in self.callbacks:
            if callback.everywhere or self.group.rank == 0:
                getattr(callback, method)(self)

    def _run_epoch(self, loader: Iterable[Any], validation: Iterable[Any] | None) -> None:
        self._notify("on_epoch_start")
        self.model.train()
        if not self.batch:
            for metric in self._metrics.values():
                metric.reset()
        for batch in self._batches(loader):
            self._train_on(batch)
        if self._accumulated:
            self._make_step()
        rate = self.optimizer.param_groups[0].get("lr")
        row: dict[str, Any] = {"epoch": self.epoch + 1, "lr": rate}
        row |= self._computed(self._metrics)
        if validation is not None:
            results = self.evaluate(validation)
            row |= {f"validation_{name}": value for name, value in results.items()}
        self.history.rows.append(row)
        if self.scheduler is not None and self.schedule == "epoch":
            by = self.schedule_by
            self.scheduler.step(*([] if by is None else [monitored(self, by)]))
        self.epoch, self.batch = self.epoch + 1, 0
        self._notify("on_epoch_end")
        self.should_stop = any(self.group.gather(self.should_stop, "end of an epoch"))

    def _batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Iterate over the remaining batches of this epoch.

        A loader whose state was restored from a checkpoint continues by itself. Otherwise, restart
        it with the random generators of that time, and skip the completed batches.
        """
        generators = Generators()
        if not self.batch:
            self._generator_states = generators.state_dict()
        if not self.batch or self._loader_resumes:
            self._loader_resumes = False
            return iter(loader)
        current = generators.state_dict()
        generators.load_state_dict(self._generator_states)
        batches = iter(loader)
        for number in range(self.batch):
            if next(batches, None) is None:
                raise StateDictError(
                    f"the checkpoint was saved after {self.batch} batches of an epoch, but the "
                    f"loader has {number}."
                )
        generators.load_state_dict(current)
        return batches

    def _train_on(self, batch: Any) -> None:
        inputs, target = _inputs_and_target(batch)
        count = self._batches_of_step()
        is_last = self.batches is None or self._accumulated + 1 == count
        with nullcontext() if self._ranks is None or is_last else self._ranks.no_sync():
            output, loss = self._learn(inputs, target, count)
        self._accumulated += 1
        self.batch += 1
        self.samples += samples_of(target)
        self.history.losses.append(loss.item())
        self._measure(self._metrics, output, target, self.history.losses[-1])
        self._notify("on_batch_end")
        if self._accumulated == self.accumulate:
            self._make_step()

    def _batches_of_step(self) -> int:
        """Return the number of batches of the current step of the optimizer."""
        if self.batches is None:
            return self.accumulate
        first = self.batch - self._accumulated
        return max(1, min(self.accumulate, self.batches - first))

    def _make_step(self) -> None:
        self._update()
        self._accumulated = 0
        self.step += 1
        if self.scheduler is not None and self.schedule == "step":
            self.scheduler.step()
        self._notify("on_step_end")

    def _computed(self, metrics: dict[str, Metric]) -> dict[str, Any]:
        """Return the values of metrics over all ranks."""
        if self.group.size > 1:
            counts = {name: metric.state_dict() for name, metric in metrics.items()}
            counts_of_ranks = self.group.gather(counts, "metrics")
            metrics = copy.deepcopy(metrics)
            for name, metric in metrics.items():
                metric.reset()
                for counts in counts_of_ranks:
                    for key, value in counts[name].items():
                        metric.add(key, value)
        return {name: metric.compute() for name, metric in metrics.items()}

    # --- Evaluation -----------------------------------------------------------------------------

    def evaluate(self, loader: Iterable[Any]) -> dict[str, Any]:
        """Return the loss and the metrics of the model in evaluation mode, by name.

        Each rank passes its part of the batches; the values are those over all ranks.

        Raises:
            InputError: a batch is not a tuple of inputs and target.
        """
        metrics = copy.deepcopy(self._metrics)
        for metric in metrics.values():
            metric.reset()
        with evaluation(self.model):
            for batch in loader:
                inputs, target = _inputs_and_target(batch)
                output = self.model(*inputs)
                self._measure(metrics, output, target, self.loss(output, target).item())
        return self._computed(metrics)

    def _measure(self, metrics: Mapping[str, Any], output: Any, target: Any, loss: float) -> None:
        for name, metric in metrics.items():
            if name == "loss":
                metric.add_mean(loss, samples_of(target))
            else:
                metric.update(output, target)

    def predict(self, loader: Iterable[Any]) -> Tensor:
        """Return the outputs of the model in evaluation mode, concatenated over all batches.

        Args:
            loader: batches: tensors; or tuples, whose last member is ignored as the target unless
                it is the only one.

        Raises:
            InputError: there are no batches.
        """
        outputs: list[Tensor] = []
        with evaluation(self.model):
            for batch in loader:
                inputs = [batch] if isinstance(batch, Tensor) else batch[:-1] or batch
                outputs.append(self.model(*inputs))
        if not outputs:
            raise InputError("predict() was given no batches.")
        return cat(outputs)

    # --- Checkpoints ----------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        """Return the parts of a checkpoint, by name; complete only on rank 0.

        All ranks must call this. Training can be resumed with another number of ranks if the total
        batch size is the same.

        Raises:
            SettingError: gradients are being accumulated, which cannot be saved.
        """
        if self._accumulated:
            raise SettingError(
                "a checkpoint does not contain accumulated gradients: save it in on_step_end or "
                "on_epoch_end."
            )
        for part in (self.optimizer, *self.callbacks):
            if hasattr(part, "consolidate_state_dict"):
                part.consolidate_state_dict()
        parts = {"model": self.network, "optimizer": self.optimizer, "trainer": self}
        optional = {"scheduler": self.scheduler, "loader": self._loader}
        parts |= {k: part for k, part in optional.items() if state_methods(part) is not None}
        callbacks: Any = [each for each in self.callbacks if state_methods(each) is not None]
        return {**parts, "callbacks": callbacks}

    @property
    def network(self) -> Module:
        """The model without `DataParallel`."""
        return self.model.module if isinstance(self.model, DataParallel) else self.model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save a checkpoint on rank 0; raise the errors of `save_checkpoint` and `parts`."""
        parts = self.parts()
        if self.group.rank == 0:
            save_checkpoint(path, **parts)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Load a checkpoint; `fit` continues from it.

        In the middle of an epoch, call `fit(resume=path)` instead, which also loads the state of
        the loader, if it has one.

        Raises:
            FileError: the file is missing or damaged.
            StateDictError: the checkpoint does not fit; nothing has changed.
        """
        accumulated, self._accumulated = self._accumulated, 0
        parts = self.parts()
        try:
            load_checkpoint(path, **parts)
        except BaseException:
            self._accumulated = accumulated
            raise
        self._loader_resumes = "loader" in parts
        self.optimizer.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Return the progress of training, without the states of model, optimizer and so on."""
        return {
            "epoch": self.epoch,
            "batch": self.batch,
            "step": self.step,
            "history": self.history.state_dict(),
            "meters": {name: metric.state_dict() for name, metric in self._metrics.items()},
            "drawn": self._generator_states,
            "ranks": None if self._ranks is None else self._ranks.generator.get_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`.

        Raises:
            StateDictError: the metrics are different.
        """
        metrics = state["meters"]
        if metrics.keys() != self._metrics.keys():
            raise StateDictError(
                f"the checkpoint has the metrics {', '.join(metrics)}; this trainer has "
                f"{', '.join(self._metrics)}."
            )
        self.history.load_state_dict(state["history"])
        for name, metric in self._metrics.items():
            metric.load_state_dict(metrics[name])
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]
        self._generator_states = state["drawn"]
        if self._ranks is not None and state["ranks"] is not None:
            self._ranks.generator.set_state(state["ranks"])


def _make_learn(
    model: Module, loss: Callable[[Any, Any], Tensor]
) -> Callable[[Sequence[Any], Any, int], tuple[Any, Tensor]]:
    """Return a function that adds the gradients of a batch, one of `count` per step."""

    def learn(inputs: Sequence[Any], target: Any, count: int) -> tuple[Any, Tensor]:
        output = model(*inputs)
        mean = loss(output, target)
        (mean if count == 1 else mean / count).backward()
        detached = map_leaves(output, lambda x: x.detach() if isinstance(x, Tensor) else x)
        return detached, mean.detach()

    return learn


def _make_update(optimizer: Optimizer, clip_norm: float | None) -> Callable[[], None]:
    """Return a function that clips gradients and performs a step of the optimizer."""

    def update() -> None:
        if clip_norm is not None:
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            clip_grad_norm_(parameters, clip_norm)
        optimizer.step()
        optimizer.zero_grad()

    return update


def _checked_metrics(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return a copy of metrics; raise SettingError for an invalid name or metric."""
    for name, metric in metrics.items():
        if name in ("epoch", "lr", "loss") or name.startswith("validation_"):
            raise SettingError(f"a metric cannot be called {name!r}: the history uses this name.")
        if not isinstance(metric, Metric):
            raise SettingError(
                f"the metric {name!r} must be a Metric; {metric!r} was given. Wrap a function of "
                "output and target as Mean(function)."
            )
    return copy.deepcopy(dict(metrics))


def _inputs_and_target(batch: Any) -> tuple[list[Any], Any]:
    """Return the inputs and the target of a batch.

    Raises:
        InputError: the batch is not a tuple with both.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        raise InputError(
            "a batch for training must be a tuple (inputs..., target); a "
            f"{type(batch).__name__} was given. If the data set has one tensor, add the target."
        )
    *inputs, target = batch
    return inputs, target
