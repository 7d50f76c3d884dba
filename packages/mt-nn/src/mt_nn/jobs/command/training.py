"""Training for a job, with validation after each epoch and a test at the end.

After each epoch, a checkpoint and a log are written to the output folder; at the end, curves, the
network and the results of the test. With several ranks (`mpiexec -n 4 mt-train ...`), each trains
on its part of the batches, and rank 0 prints and writes.
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import mt_tensor as mt
from mt_nn.errors import FileError, SettingError
from mt_nn.files.writing import write_atomically, write_table
from mt_nn.jobs.command.runs import FILE, Run
from mt_nn.jobs.job import Job, Parts
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.world import world
from mt_nn.train.callbacks import CSVLog, ProgressBar, SaveCheckpoints
from mt_nn.train.history import draw_curves
from mt_nn.train.trainer import Callback, Trainer


def train(run: Run, out: TextIO, resume: bool = False) -> None:
    """Train the network of a job, and write the output files.

    Args:
        run: the job and the output folder.
        out: the stream to print to.
        resume: whether to continue from the last checkpoint, instead of starting again.

    Raises:
        FileError: a data file is missing or damaged, or an output file cannot be written; or
            another run in the folder is not finished, or the data have changed.
        InputError: there are too few samples.
        KeyboardInterrupt: Control-C was pressed; a checkpoint was saved.
        MissingPackageError: matplotlib is not installed.
        OSError: `out` cannot be written.
        SettingError: the training has diverged.
        StateDictError: the checkpoint belongs to another run.
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
    counts = "{} {samples} for training, {} for validation, {} for the test{skipped}\n"
    skipped = "" if run.settings.test else ", which is skipped"
    out.write(counts.format(*parts.counts, samples=job.samples, skipped=skipped))
    if checkpoint is not None:
        _check_data(run, job)
    elif not ranks.rank:
        run.job_state = job.state()
        run.begin()
    ranks.barrier()  # the folder is ready
    _fit(run, job, parts, out, checkpoint)
    if ranks.rank:
        return
    run.finished = True
    run.write()
    minutes, seconds = divmod(round(time.perf_counter() - start), 60)
    out.write(f"took {minutes} min {seconds} s\n" if minutes else f"took {seconds} s\n")
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
    callbacks = [
        _Divergence(run),
        CSVLog(run.folder / "log.csv"),
        *job.callbacks(run.folder),
        SaveCheckpoints(run.checkpoints, keep_last=2),
        ProgressBar(out, job.samples, job.line),
    ]
    trainer = trainer_of(job, parts, callbacks, run.compile)
    try:
        trainer.fit(parts.training, run.settings.epochs, parts.validation, checkpoint)
        if not trainer.group.rank:
            _write_results(run, job, parts, trainer, out)
    except FileError as error:
        if trainer.step and run.checkpoint():
            raise FileError(f"{error} Then resume: mt-train --resume {run.folder}.") from error
        if trainer.step or checkpoint is None:
            raise
        raise FileError(
            f"{checkpoint} is missing or damaged: remove it, and resume from the previous "
            f"checkpoint, if any, with mt-train --resume {run.folder}."
        ) from error


def _write_results(run: Run, job: Job, parts: Parts, trainer: Trainer, out: TextIO) -> None:
    run.save(trainer.network)
    losses = enumerate(trainer.history.losses, 1)
    write_table(run.folder / "losses.csv", [("batch", "loss"), *((n, repr(x)) for n, x in losses)])
    write_atomically(run.folder / "training.png", draw_curves(trainer.history))
    if run.settings.test:
        test_trainer = Trainer(trainer.network, trainer.optimizer, job.loss, job.metrics())
        out.write(f"test: {job.test(test_trainer, parts.test, run.folder)}\n")


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
