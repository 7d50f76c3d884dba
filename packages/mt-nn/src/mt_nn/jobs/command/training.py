"""Training of a job, with validation after each epoch and a test at the end.

After each epoch, a checkpoint, logs and a plot are written to the output folder; at the end, the
network and the results of the test. Of several ranks (`mpiexec -n 4 mt-train ...`) each trains with
its part of the batches, and rank 0 prints and writes.
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import mt_tensor as mt
from mt_nn.data import DataLoader
from mt_nn.errors import FileError, SettingError
from mt_nn.files.writing import write_atomically, write_table
from mt_nn.jobs.command.runs import FILE, Run
from mt_nn.jobs.command.threads import peak_memory
from mt_nn.jobs.job import Job, Parts
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.world import world
from mt_nn.train.callbacks import CSVLog, JSONLinesLog, ProgressBar, SaveCheckpoints
from mt_nn.train.history import History, as_png, draw_curve, make_figure
from mt_nn.train.trainer import Callback, Trainer
from mt_tensor import Generator


def train(run: Run, out: TextIO, resume: bool = False) -> None:
    """Train a job, and write its output files.

    Args:
        run: the job and the output folder.
        out: the stream to print to.
        resume: whether to continue from the last checkpoint, instead of replacing the training.

    Raises:
        FileError: a data file is missing or damaged, or an output file cannot be written; or
            another training in the folder is not finished, or the data have changed.
        InputError: there are too few samples.
        KeyboardInterrupt: Control-C was pressed; a checkpoint was saved.
        MissingPackageError: matplotlib is not installed.
        OSError: `out` cannot be written.
        SettingError: the training has diverged, or is already finished.
        StateDictError: the checkpoint belongs to another training.
    """
    ranks = world()
    if ranks.rank:
        out = io.StringIO()
    start = time.perf_counter()
    mt.manual_seed(run.settings.seed)
    checkpoint = run.checkpoint() if resume else None
    if checkpoint is None:
        run.predecessor()  # raises errors before the data are read, which may take long
        run.job_state = {}
        if resume:
            out.write("no checkpoint was saved: restarting the training\n")
    job = run.job()
    parts = job.read()
    _print_counts(job, parts, out)
    if ranks.rank:
        ranks.barrier()  # the folder is ready
        _fit(run, job, parts, out, checkpoint)
        return
    with run.locked():
        if resume:
            run.check_unfinished()
        if checkpoint is None:
            run.job_state = job.state()
            run.begin()
        else:
            _check_data(run, job)
        ranks.barrier()
        _fit(run, job, parts, out, checkpoint)
        run.finish()
    _print_cost(time.perf_counter() - start, out)
    out.writelines(f"wrote {path}\n" for path in sorted([*run.results(), run.folder / FILE]))


def _check_data(run: Run, job: Job) -> None:
    """Raise FileError if the data have changed since the start of the training."""
    if json.loads(json.dumps(job.state())) != run.job_state:
        raise FileError(
            f"the data in {run.settings.data_dir} have changed since the training in {run.folder} "
            "was started: restore them, or start again with another --out."
        )


def _fit(run: Run, job: Job, parts: Parts, out: TextIO, checkpoint: Path | None) -> None:
    """Train and test, and write the network and the results."""
    trainer = trainer_of(job, parts, _callbacks(run, job, parts, out), run.compile)
    try:
        if checkpoint is not None:
            run.check_identity(checkpoint)
        trainer.fit(parts.training, run.settings.epochs, parts.validation, checkpoint)
    except FileError as error:
        if trainer.step and run.checkpoint():
            raise FileError(f"{error} Then resume: mt-train --resume {run.folder}.") from error
        if trainer.step or checkpoint is None:
            raise
        raise FileError(
            f"{checkpoint} is missing or damaged: remove it, and resume from the previous "
            f"checkpoint, if any, with mt-train --resume {run.folder}."
        ) from error
    if trainer.group.rank:
        return
    run.save(trainer.network)
    losses = enumerate(trainer.history.losses, 1)
    write_table(run.folder / "losses.csv", [("batch", "loss"), *((n, repr(x)) for n, x in losses)])
    if run.settings.test:
        alone = Trainer(trainer.network, trainer.optimizer, job.loss, job.metrics())
        out.write(f"test: {job.test(alone, parts.test, run.folder)}\n")


def _print_counts(job: Job, parts: Parts, out: TextIO) -> None:
    training, validation, test = parts.counts
    what = f"{test} {job.samples} for the test"
    if job.settings.epochs:
        what = f"{training} {job.samples} for training, {validation} for validation, "
        what += f"{test} for the test"
    out.write(f"{what}\n" if job.settings.test else f"{what}, which is skipped\n")


def _print_cost(seconds: float, out: TextIO) -> None:
    minutes, rest = divmod(round(seconds), 60)
    time_taken = f"{minutes} min {rest} s" if minutes else f"{rest} s"
    peak = peak_memory()
    memory = "" if peak is None else f", at most {peak / 2**20:,.0f} MB of memory"
    out.write(f"took {time_taken}{memory}\n")


def trainer_of(
    job: Job,
    parts: Parts,
    callbacks: Sequence[Callback] = (),
    compile: bool = False,
) -> Trainer:
    """Return the trainer of a job on its data."""
    network = job.network()
    optimizer = job.optimizer(network)
    return Trainer(
        DataParallel(network) if world().size > 1 else network,
        optimizer,
        job.loss,
        job.metrics(),
        scheduler=job.scheduler(optimizer, job.settings.epochs * len(parts.training)),
        schedule="step",
        clip_norm=job.clip_norm,
        callbacks=callbacks,
        compile=compile,
    )


def _callbacks(run: Run, job: Job, parts: Parts, out: TextIO) -> list[Callback]:
    """Return the callbacks; those that may fail come after the one that saves checkpoints."""
    return [
        _Divergence(run),
        CSVLog(run.folder / "log.csv"),
        JSONLinesLog(run.folder / "log.jsonl"),
        *job.callbacks(run.folder),
        SaveCheckpoints(run.checkpoints, keep_last=2, metadata=run.metadata()),
        _Progress(job, out),
        _Plots(job, parts, run),
    ]


class _Divergence(Callback):
    """Raise an error if the training diverges."""

    everywhere = True

    def __init__(self, run: Run) -> None:
        self.run = run

    def on_batch_end(self, trainer: Trainer) -> None:
        """Check the loss."""
        loss = trainer.history.losses[-1]
        if not math.isfinite(loss):
            folder = " and another --out" if self.run.checkpoint() else ""
            raise SettingError(
                f"the training has diverged: the loss of batch {trainer.batch} of epoch "
                f"{trainer.epoch + 1} is {loss}. Use a smaller --lr{folder}."
            )


class _Progress(ProgressBar):
    """A progress bar that prints the job's line of each epoch."""

    def __init__(self, job: Job, out: TextIO) -> None:
        super().__init__(out, job.samples)
        self.line = job.line  # type: ignore[method-assign]

    def on_fit_start(self, trainer: Trainer) -> None:
        """Show the bar, and print where the training is resumed."""
        super().on_fit_start(trainer)
        if trainer.step and trainer.epoch < trainer.epochs:
            self._print(f"resuming in epoch {trainer.epoch + 1}, after {trainer.batch} batches")


class _Plots(Callback):
    """Draw curves during training, and examples if the job supports that.

    Plots are drawn after the first and the last epoch, and in between only as often as takes at
    most a tenth of the time.
    """

    comes_last = True

    def __init__(self, job: Job, parts: Parts, run: Run) -> None:
        loader = parts.validation
        own = Generator()  # does not affect the random numbers of the training
        copy = DataLoader(
            loader.dataset, loader.batch_size, collate_fn=loader.collate_fn, generator=own
        )
        self.job, self.path, self.examples = job, run.folder / "training.png", next(iter(copy))
        self._next = 0.0

    def on_fit_start(self, trainer: Trainer) -> None:
        """Draw, if there are no epochs left."""
        if trainer.epoch == trainer.epochs:
            self._draw(trainer)

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Draw, unless the last plot was too recent."""
        start = time.perf_counter()
        if start >= self._next or trainer.epoch == trainer.epochs:
            self._draw(trainer)
            self._next = time.perf_counter() + 10 * (time.perf_counter() - start)

    def _draw(self, trainer: Trainer) -> None:
        if len(trainer.history):
            figure = make_figure(13, 5.6)
            curves, examples = figure.subfigures(1, 2, width_ratios=[1.1, 1])
            self._draw_curves(curves, trainer.history)
        else:
            figure = examples = make_figure(6.2, 5.6)
        self.job.draw(examples, trainer, self.examples)
        write_atomically(self.path, as_png(figure))

    def _draw_curves(self, figure: Any, history: History) -> None:
        names = self.job.curves
        axes: Any = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
        for each, name in zip(axes, names, strict=True):
            draw_curve(each, history, name)
        axes[-1].set(xlabel="epoch")
