"""Training a job: it learns, is validated after each epoch, and tested once at the end.

After each epoch the folder of the training has a checkpoint, the log in two forms, and a picture;
at the end, the network and what the test gave. Of several ranks (`mpiexec -n 4 mt-train ...`) all
learn, each with its share of the batches, and rank 0 tells and writes.
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
    """Train a job, and write the files of the training.

    Args:
        run: which job it is, and where its files go.
        out: where what happens is told.
        resume: whether to go on from the last checkpoint, instead of replacing what is there.

    Raises:
        FileError: a file of data is missing or damaged, or one of the training cannot be written;
            or another training in the folder is not finished, or the data of this one have changed.
        InputError: there are too few samples.
        KeyboardInterrupt: somebody pressed Control-C; a checkpoint was saved before.
        MissingPackageError: what draws pictures, or saves networks, is not installed.
        OSError: what happens cannot be told.
        SettingError: the training has diverged, or there is nothing left of it to go on with.
        StateDictError: the checkpoint is of another training.
    """
    ranks = world()
    if ranks.rank:
        out = io.StringIO()
    began = time.perf_counter()
    mt.manual_seed(run.settings.seed)
    checkpoint = run.checkpoint() if resume else None
    if checkpoint is None:
        run.predecessor()  # refused before data are read, which may take long
        run.known = {}  # nothing has been learnt with what was known
        if resume:
            out.write("no checkpoint was saved: the training begins anew\n")
    job = run.job()
    parts = job.read()
    _tell_counts(job, parts, out)
    if ranks.rank:
        ranks.barrier()  # the folder is ready
        _learn(run, job, parts, out, checkpoint)
        return
    with run.held():
        if resume:
            run.check_unfinished()
        if checkpoint is None:
            run.known = job.known()
            run.begin()
        else:
            _check_known(run, job)
        ranks.barrier()
        _learn(run, job, parts, out, checkpoint)
        run.finish()
    _tell_cost(time.perf_counter() - began, out)
    out.writelines(f"wrote {path}\n" for path in sorted([*run.results(), run.folder / FILE]))


def _check_known(run: Run, job: Job) -> None:
    """Raise FileError unless the data are those that a training began with."""
    if json.loads(json.dumps(job.known())) != run.known:
        raise FileError(
            f"the data in {run.settings.data_dir} are not those that the training in {run.folder} "
            "began with: bring those back, or begin again with another --out."
        )


def _learn(run: Run, job: Job, parts: Parts, out: TextIO, checkpoint: Path | None) -> None:
    """Train, test, and write what came of it."""
    trainer = trainer_of(job, parts, _callbacks(run, job, parts, out), run.compile)
    try:
        if checkpoint is not None:
            run.check_identity(checkpoint)
        trainer.fit(parts.training, run.settings.epochs, parts.validation, checkpoint)
    except FileError as error:
        if trainer.step and run.has_checkpoint():
            raise FileError(f"{error} Then mt-train --resume {run.folder} goes on.") from error
        if trainer.step or checkpoint is None:
            raise
        raise FileError(
            f"{checkpoint} is missing or damaged: remove it, and mt-train --resume {run.folder} "
            "goes on from the checkpoint before, or begins anew."
        ) from error
    if trainer.group.rank:
        return
    run.save(trainer.network)
    losses = enumerate(trainer.history.losses, 1)
    write_table(run.folder / "losses.csv", [("batch", "loss"), *((n, repr(x)) for n, x in losses)])
    if run.settings.test:
        alone = Trainer(trainer.network, trainer.optimizer, job.loss, job.metrics())
        out.write(f"test: {job.test(alone, parts.test, run.folder)}\n")


def _tell_counts(job: Job, parts: Parts, out: TextIO) -> None:
    learnt, validated, tested = parts.counts
    if job.settings.epochs:
        what = f"{job.samples} to learn from, {validated} for the validation after each epoch"
        out.write(f"{learnt} {what}, {tested} ")
    else:
        out.write(f"nothing to learn; {tested} {job.samples} ")
    out.write("for one test at the end\n" if job.settings.test else "are left alone\n")


def _tell_cost(seconds: float, out: TextIO) -> None:
    minutes, rest = divmod(round(seconds), 60)
    taken = f"{minutes} min {rest} s" if minutes else f"{rest} s"
    peak = peak_memory()
    memory = "" if peak is None else f", at most {peak / 2**20:,.0f} MB of memory"
    out.write(f"took {taken}{memory}\n")


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
    """Return what is done besides: a checkpoint is saved before what may fail."""
    return [
        _Divergence(run),
        CSVLog(run.folder / "log.csv"),
        JSONLinesLog(run.folder / "log.jsonl"),
        *job.callbacks(run.folder),
        SaveCheckpoints(run.checkpoints, keep_last=2, metadata=run.metadata()),
        _Progress(job, out),
        _Picture(job, parts, run),
    ]


class _Divergence(Callback):
    """Ends a training that leads nowhere."""

    everywhere = True

    def __init__(self, run: Run) -> None:
        self.run = run

    def on_batch_end(self, trainer: Trainer) -> None:
        """Look at the loss."""
        loss = trainer.history.losses[-1]
        if not math.isfinite(loss):
            kept = ", and another --out" if self.run.has_checkpoint() else ""
            raise SettingError(
                f"the training has diverged: the loss of batch {trainer.batch} of epoch "
                f"{trainer.epoch + 1} is {loss}. Take a smaller --lr{kept}."
            )


class _Progress(ProgressBar):
    """Tells of each epoch what its job finds worth telling."""

    def __init__(self, job: Job, out: TextIO) -> None:
        super().__init__(out, job.samples)
        self.line = job.line  # type: ignore[method-assign]

    def on_fit_start(self, trainer: Trainer) -> None:
        """Show the bar, and tell where the training goes on."""
        super().on_fit_start(trainer)
        if trainer.step and trainer.epoch < trainer.epochs:
            self._print(f"goes on in epoch {trainer.epoch + 1}, after {trainer.batch} batches")


class _Picture(Callback):
    """Draws the training anew while it goes on: curves, and examples if the job has any.

    That takes a tenth of the time at most, and so is done after the first epoch, after the last
    one, and after as many of those between as are long enough.
    """

    comes_last = True

    def __init__(self, job: Job, parts: Parts, run: Run) -> None:
        loader = parts.validation
        alone = Generator()  # random numbers of the training are not for pictures
        again = DataLoader(
            loader.dataset, loader.batch_size, collate_fn=loader.collate_fn, generator=alone
        )
        self.job, self.path, self.examples = job, run.folder / "training.png", next(iter(again))
        self._next = 0.0

    def on_fit_start(self, trainer: Trainer) -> None:
        """Draw, if there is nothing left to learn."""
        if trainer.epoch == trainer.epochs:
            self._draw(trainer)

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Draw, if it is time."""
        began = time.perf_counter()
        if began >= self._next or trainer.epoch == trainer.epochs:
            self._draw(trainer)
            self._next = time.perf_counter() + 10 * (time.perf_counter() - began)

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
