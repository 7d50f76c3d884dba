"""`Trainer`: the training loop with what is usually wanted around it.

It goes on exactly where a checkpoint was saved, also in the middle of an epoch: with the same
parameters, the same batches in the same order, and the same random numbers.

Several ranks train a `DataParallel` together, each with its share of the batches. What is measured
of an epoch is measured of all shares; one of them, rank 0, shows and saves it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.optim import Optimizer
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.group import Group
from mt_nn.parallel.sharding import ZeroRedundancyOptimizer
from mt_nn.saving.checkpoint import Checkpoints, Generators, load_checkpoint, save_checkpoint
from mt_nn.saving.values import state_methods
from mt_nn.train.history import History
from mt_nn.train.metrics import Mean, Metric, samples_of
from mt_nn.utils.clipping import clip_grad_norm_, clip_grad_value_
from mt_nn.utils.modes import evaluation
from mt_nn.utils.settings import check, check_either, check_flags
from mt_operators import Module, StateDictError
from mt_tensor import Tensor, cat
from mt_tensor import compile as compiled


class Callback:
    """Methods that a trainer calls at certain moments; here, none does anything.

    A callback with `state_dict` and `load_state_dict` is part of the trainer's checkpoints. If it
    has `consolidate_state_dict`, that is called before, on all ranks.

    Attributes:
        comes_last: whether it is called after all callbacks without this mark, so that it sees what
            they have done.
        everywhere: whether every rank calls it, not only rank 0.
    """

    comes_last = False
    everywhere = False

    def on_fit_start(self, trainer: Trainer) -> None:
        """Before the first epoch, when a checkpoint has been resumed."""

    def on_epoch_start(self, trainer: Trainer) -> None:
        """Before the first batch of an epoch."""

    def on_batch_end(self, trainer: Trainer) -> None:
        """After a batch, whose loss is `trainer.history.losses[-1]`."""

    def on_step_end(self, trainer: Trainer) -> None:
        """After the optimizer has made a step, and the batch has ended."""

    def on_epoch_end(self, trainer: Trainer) -> None:
        """After an epoch and its validation, which are `trainer.history.rows[-1]`."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """After the last epoch, also if an error ended the training."""


def monitored(trainer: Trainer, name: str) -> float:
    """Return a number of the last epoch.

    Raises:
        SettingError: the epoch has no number of that name.
    """
    row = trainer.history.rows[-1]
    value = row.get(name)
    if not isinstance(value, (int, float)):
        raise SettingError(
            f"an epoch has no number {name!r} to go by; it has {', '.join(row)}. Those of the "
            "validation are there if fit() is given validation=."
        )
    return value


class Trainer:
    """Trains, evaluates and applies a model.

    Batches are tuples whose last part is the target; the parts before it are passed to the model.

    Args:
        model: what is trained; a `DataParallel` if several ranks do it.
        optimizer: changes its parameters.
        loss: takes what the model returns and the target, and returns the mean loss of a batch.
        metrics: what else is measured, by name.
        scheduler: has a method `step()`, which changes the learning rate.
        schedule: whether it is called after every "epoch" or after every "step" of the optimizer.
        schedule_by: a name in the history whose number `scheduler.step` is given after an epoch;
            None if it takes nothing.
        clip_norm: the largest norm that all gradients together may have; None for any.
        clip_value: the largest size that an element of a gradient may have; None for any.
        accumulate: how many batches make one step of the optimizer, with the mean of their losses;
            the last step of an epoch has the batches that are left.
        callbacks: what is called on the way, in this order.
        compile: whether the work on a batch is written down once and then run from a program: the
            same losses in less time. See `mt_tensor.compile`, which says what it refuses.

    Attributes:
        group: the ranks that train together.
        epoch: how many epochs have been completed.
        epochs: how many are to be completed.
        batch: how many batches of the running epoch have been completed.
        batches: how many it has; None if the loader does not say.
        step: how many steps the optimizer has made.
        samples: how many samples it has been trained on since `fit` was called.
        history: what each epoch gave.
        should_stop: whether training ends after this epoch; anybody may set it.

    Raises:
        SettingError: an invalid setting.
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
        clip_value: float | None = None,
        accumulate: int = 1,
        callbacks: Sequence[Callback] = (),
        compile: bool = False,
    ) -> None:
        check_either("schedule", schedule, "epoch", "step")
        for name, bound in (("clip_norm", clip_norm), ("clip_value", clip_value)):
            check(name, bound, bound is None or bound >= 0, "a number from 0 on")
        self.model, self.optimizer, self.loss = model, optimizer, loss
        self.scheduler, self.schedule, self.schedule_by = scheduler, schedule, schedule_by
        self.clip_norm, self.clip_value = clip_norm, clip_value
        self.accumulate = integer("accumulate", accumulate, 1)
        self.group = model.process_group if isinstance(model, DataParallel) else Group()
        together = isinstance(model, DataParallel) and self.group.size > 1
        self._ranks: Any = model if together else None
        self.callbacks = sorted(callbacks, key=lambda callback: callback.comes_last)
        self.history = History()
        self.epoch = self.epochs = self.batch = self.step = self.samples = 0
        self.batches: int | None = None
        self.should_stop = False
        check_flags(compile=compile)
        # Ranks talk to each other between programs, and not in them.
        self._averages = compile and together
        learning = _learning(self.network if self._averages else model, loss)
        self._learn = compiled(learning) if compile else learning
        updating = _updating(optimizer, clip_norm, clip_value)
        divided = isinstance(optimizer, ZeroRedundancyOptimizer)
        self._update = compiled(updating) if compile and not divided else updating
        self._meters: dict[str, Metric] = {"loss": Mean(loss), **_checked_metrics(metrics or {})}
        self._loader: Any = None
        self._loader_knows = False  # whether it has taken over its place from a checkpoint
        self._pass: Iterator[Any] | None = None  # over the loader
        self._position = 0  # how many of its batches have been completed
        self._drawn: Any = None  # where the random generators were when it began
        self._waiting = 0  # batches whose gradients no step has used yet

    # --- Training -------------------------------------------------------------------------------

    def fit(
        self,
        loader: Iterable[Any],
        epochs: int,
        validation: Iterable[Any] | None = None,
        resume: str | os.PathLike[str] | None = None,
        steps_per_epoch: int | None = None,
    ) -> History:
        """Train until `epochs` epochs have been completed, those of earlier calls included.

        Args:
            loader: the batches of an epoch; it is iterated over once for each.
            epochs: how many there are in all.
            validation: batches that the model is evaluated on after each epoch.
            resume: a checkpoint to go on from; or a folder, for the last one in it, if there is
                any.
            steps_per_epoch: how many steps of the optimizer make an epoch, instead of all batches:
                more often validated, or of a stream without end. The next epoch goes on with the
                batches that are left, and from the first when there are none.

        Raises:
            FileError: the checkpoint is missing or damaged.
            InputError: a batch is no tuple of inputs and target; or there is none to make a step.
            SettingError: the number of epochs is invalid, or a name to go by does not exist.
            StateDictError: the checkpoint does not fit; nothing has changed.
        """
        self.epochs, self.samples = integer("epochs", epochs, 0), 0
        if loader is not self._loader and self._loader is not None and not self.batch:
            self._position = 0  # a pass over another loader begins with its first batch
        count = None
        if steps_per_epoch is not None:
            count = integer("steps_per_epoch", steps_per_epoch, 1) * self.accumulate
        self._loader, self.batches = loader, count or _length(loader)
        if resume is not None:
            self._resume(Path(resume))
        if not self._waiting:
            self.optimizer.zero_grad()
        self.should_stop = False
        try:
            self._notify("on_fit_start")
            while self.epoch < epochs and not self.should_stop:
                sampler: Any = getattr(loader, "sampler", None)
                if hasattr(sampler, "set_epoch"):  # a DistributedSampler
                    sampler.set_epoch(self.epoch)
                self._run_epoch(self._batches(loader, count), validation)
        finally:
            self._pass = None
            self._notify("on_fit_end")
        return self.history

    def _resume(self, path: Path) -> None:
        found = Checkpoints(path).last() if path.is_dir() else path
        if found is None:
            return
        try:
            self.load(found)
        except StateDictError as error:
            raise StateDictError(f"{found} is not of this training: {error}") from error

    def _notify(self, moment: str) -> None:
        for callback in self.callbacks:
            if callback.everywhere or self.group.rank == 0:
                getattr(callback, moment)(self)

    def _run_epoch(self, batches: Iterator[Any], validation: Iterable[Any] | None) -> None:
        self._notify("on_epoch_start")
        self.model.train()
        if not self.batch:
            for meter in self._meters.values():
                meter.reset()
        for batch in batches:
            self._train_on(batch)
        if self._waiting:
            self._make_step()
        row: dict[str, Any] = {"epoch": self.epoch + 1, "lr": _rate(self.optimizer)}
        row |= _computed(self._of_all_ranks(self._meters))
        if validation is not None:
            measured = self.evaluate(validation)
            row |= {f"validation_{name}": value for name, value in measured.items()}
        self.history.add(row)
        if self.scheduler is not None and self.schedule == "epoch":
            by = self.schedule_by
            self.scheduler.step(*([] if by is None else [monitored(self, by)]))
        self.epoch, self.batch = self.epoch + 1, 0
        self._notify("on_epoch_end")
        self.should_stop = any(self.group.gather(self.should_stop, "end of an epoch"))

    def _batches(self, loader: Iterable[Any], count: int | None) -> Iterator[Any]:
        """Iterate over the batches of this epoch that are still to be done.

        Args:
            loader: where they come from.
            count: how many batches the epoch has, after which the pass over the loader goes on in
                the next one; None if it has one pass.
        """
        while count is None or self.batch < count:
            if self._pass is None:
                self._pass = self._begun(loader)
            for batch in self._pass:
                yield batch
                if count is not None and self.batch >= count:
                    return
            empty, self._pass, self._position = not self._position, None, 0
            if count is None:
                return
            if empty:
                raise InputError("an epoch has steps_per_epoch steps, but the loader no batches.")

    def _begun(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Begin a pass over a loader, or go on with one.

        A loader that has taken over its state goes on by itself. Another one is begun as it was
        when the pass began, and what had been done of it is passed over.
        """
        done, generators = self._position, Generators()
        if not done:
            self._drawn = generators.state_dict()
        if not done or self._loader_knows:
            self._loader_knows = False
            return iter(loader)
        now = generators.state_dict()
        generators.load_state_dict(self._drawn)
        batches = iter(loader)
        for number in range(done):
            if next(batches, None) is None:
                raise StateDictError(
                    f"the checkpoint was saved after {done} batches of an epoch, but the loader "
                    f"has {number}."
                )
        generators.load_state_dict(now)
        return batches

    def _train_on(self, batch: Any) -> None:
        inputs, target = _parts(batch)
        count = self._in_this_step()
        with self._sharing(self.batches is None or self._waiting + 1 == count):
            output, loss = self._learn(inputs, target, count)
        self._waiting += 1
        self.batch, self._position = self.batch + 1, self._position + 1
        self.samples += samples_of(target)
        self.history.losses.append(loss.item())
        self._measure(self._meters, output, target, self.history.losses[-1])
        self._notify("on_batch_end")
        if self._waiting == self.accumulate:
            self._make_step()

    def _in_this_step(self) -> int:
        """Return how many batches the running step is made of."""
        if self.batches is None:
            return self.accumulate
        begun = self.batch - self._waiting
        return max(1, min(self.accumulate, self.batches - begun))

    @contextmanager
    def _sharing(self, averages: bool) -> Iterator[None]:
        """Let gradients be averages over all ranks behind a `with` block, or add up for now."""
        if self._ranks is None:
            yield
        elif self._averages:
            self._ranks.synchronize_buffers()
            with self._ranks.own_random_numbers():
                yield
        else:
            with nullcontext() if averages else self._ranks.no_sync():
                yield

    def _make_step(self) -> None:
        if self._averages:
            self._ranks.average_gradients()
        self._update()
        self._waiting = 0
        self.step += 1
        if self.scheduler is not None and self.schedule == "step":
            self.scheduler.step()
        self._notify("on_step_end")

    def _of_all_ranks(self, meters: dict[str, Metric]) -> dict[str, Metric]:
        """Return metrics that have counted what they have on all ranks."""
        if self.group.size == 1:
            return meters
        counted = {name: meter.state_dict() for name, meter in meters.items()}
        everybodys = self.group.gather(counted, "metrics")
        merged = copy.deepcopy(meters)
        for name, meter in merged.items():
            meter.reset()
            for counts in everybodys:
                for what, value in counts[name].items():
                    meter.add(what, value)
        return merged

    # --- Evaluating -----------------------------------------------------------------------------

    def evaluate(self, loader: Iterable[Any]) -> dict[str, Any]:
        """Return the loss and the metrics of the model in evaluation mode, by name.

        Several ranks each pass the batches of their share, and all get the values of all shares.

        Raises:
            InputError: a batch is no tuple of inputs and target.
        """
        meters = copy.deepcopy(self._meters)
        for meter in meters.values():
            meter.reset()
        with evaluation(self.model):
            for batch in loader:
                inputs, target = _parts(batch)
                output = self.model(*inputs)
                self._measure(meters, output, target, self.loss(output, target).item())
        return _computed(self._of_all_ranks(meters))

    def _measure(self, meters: Mapping[str, Any], output: Any, target: Any, loss: float) -> None:
        for name, meter in meters.items():
            if name == "loss":
                meter.add_mean(loss, samples_of(target))
            else:
                meter.update(output, target)

    def predict(self, loader: Iterable[Any], targets: bool = True) -> Tensor:
        """Return what the model, in evaluation mode, makes of all batches, one after the other.

        Args:
            loader: batches: tensors, or tuples as for `fit`.
            targets: whether the last part of a tuple is a target, which is left out.

        Raises:
            InputError: there are no batches, or one is neither.
        """
        outputs: list[Tensor] = []
        with evaluation(self.model):
            for batch in loader:
                alone = isinstance(batch, Tensor) or not targets
                inputs = _listed(batch) if alone else _parts(batch)[0]
                outputs.append(self.model(*inputs))
        if not outputs:
            raise InputError("predict() was given no batches.")
        return cat(outputs)

    # --- Checkpoints ----------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        """Return what makes a checkpoint of this training, by name; rank 0's is the whole.

        All ranks must call this. They can go on from it in any number, with batches of the same
        size in all.

        Raises:
            SettingError: gradients are being accumulated, which a checkpoint does not hold.
        """
        if self._waiting:
            raise SettingError(
                "a checkpoint cannot hold the gradients that are being accumulated: save one in "
                "on_step_end or on_epoch_end."
            )
        for part in (self.optimizer, *self.callbacks):
            if hasattr(part, "consolidate_state_dict"):
                part.consolidate_state_dict()
        found = {"model": self.network, "optimizer": self.optimizer, "trainer": self}
        others = {"scheduler": self.scheduler, "loader": self._loader}
        found |= {k: part for k, part in others.items() if state_methods(part) is not None}
        callbacks: Any = [each for each in self.callbacks if state_methods(each) is not None]
        return {**found, "callbacks": callbacks}

    @property
    def network(self) -> Module:
        """The model as one rank has it."""
        return self.model.module if isinstance(self.model, DataParallel) else self.model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save a checkpoint, on rank 0; the errors are those of `save_checkpoint` and `parts`."""
        parts = self.parts()
        if self.group.rank == 0:
            save_checkpoint(path, **parts)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go to where the training was when a checkpoint was saved, for `fit` to go on from.

        In the middle of an epoch `fit(resume=path)` is to be called instead, which knows the
        loader, unless that has no state.

        Raises:
            FileError: it is missing or damaged.
            StateDictError: it does not fit; nothing has changed.
        """
        waiting, self._waiting = self._waiting, 0
        parts = self.parts()
        try:
            load_checkpoint(path, **parts)
        except BaseException:
            self._waiting = waiting
            raise
        self._loader_knows = "loader" in parts
        self.optimizer.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Return how far the training is. Model, optimizer and others have their own states."""
        return {
            "epoch": self.epoch,
            "batch": self.batch,
            "step": self.step,
            "history": self.history.state_dict(),
            "meters": {name: meter.state_dict() for name, meter in self._meters.items()},
            "position": self._position,
            "drawn": self._drawn,
            "ranks": None if self._ranks is None else self._ranks.generator.get_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned.

        Raises:
            StateDictError: other metrics were measured.
        """
        meters = state["meters"]
        if meters.keys() != self._meters.keys():
            raise StateDictError(
                f"the checkpoint has the metrics {', '.join(meters)}; this training has "
                f"{', '.join(self._meters)}."
            )
        self.history.load_state_dict(state["history"])
        for name, meter in self._meters.items():
            meter.load_state_dict(meters[name])
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]
        self._position, self._drawn = state["position"], state["drawn"]
        if self._ranks is not None and state["ranks"] is not None:
            self._ranks.generator.set_state(state["ranks"])


def _computed(meters: Mapping[str, Metric]) -> dict[str, Any]:
    return {name: meter.compute() for name, meter in meters.items()}


def _learning(
    model: Module, loss: Callable[[Any, Any], Tensor]
) -> Callable[[Sequence[Any], Any, int], tuple[Any, Tensor]]:
    """Return what adds the gradients of a batch, one of `count` that make a step."""

    def learn(inputs: Sequence[Any], target: Any, count: int) -> tuple[Any, Tensor]:
        output = model(*inputs)
        mean = loss(output, target)
        (mean if count == 1 else mean / count).backward()
        return _without_history(output), mean.detach()

    return learn


def _updating(
    optimizer: Optimizer, clip_norm: float | None, clip_value: float | None
) -> Callable[[], None]:
    """Return what makes a step of an optimizer, with gradients that are clipped."""

    def update() -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        if clip_value is not None:
            clip_grad_value_(parameters, clip_value)
        if clip_norm is not None:
            clip_grad_norm_(parameters, clip_norm)
        optimizer.step()
        optimizer.zero_grad()

    return update


def _without_history(value: Any) -> Any:
    """Return what a model has returned, for those who only look."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, (tuple, list)):
        parts = [_without_history(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _checked_metrics(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return metrics of the trainer's own, unless a name or a metric is none."""
    for name, metric in metrics.items():
        if name in ("epoch", "lr", "loss") or name.startswith("validation_"):
            raise SettingError(f"a metric cannot be called {name!r}: the history has such a name.")
        if not isinstance(metric, Metric):
            raise SettingError(
                f"the metric {name!r} is {metric!r}; it must be a Metric. A function of output and "
                "target becomes one with Mean(function)."
            )
    return copy.deepcopy(dict(metrics))


def _length(loader: Any) -> int | None:
    try:
        return len(loader)
    except TypeError:
        return None


def _rate(optimizer: Optimizer) -> Any:
    return optimizer.param_groups[0].get("lr")


def _listed(batch: Any) -> list[Any]:
    return list(batch) if isinstance(batch, (tuple, list)) else [batch]


def _parts(batch: Any) -> tuple[list[Any], Any]:
    """Return inputs and target of a batch.

    Raises:
        InputError: it does not have both.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        raise InputError(
            "a batch for training is a tuple (inputs..., target); a "
            f"{type(batch).__name__} was given. For a data set of one tensor, add the target."
        )
    *inputs, target = batch
    return inputs, target
