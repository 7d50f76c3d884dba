"""Train a job of `mt-train` with torch, too, and compare both epoch by epoch.

Both sides have the same batches, network, optimizer, schedule and number of epochs, and the same
metrics; torch's optimizer uses its fastest mode. Each reads its batches itself, torch's side with
NumPy, which is included in the times. They take turns, so that their times can be compared on a
shared machine. Random numbers differ (initialization, dropout and the order of samples), so the
results differ as between two seeds.

    hatch run torch:twin language --model lstm --data-dir data
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from statistics import median
from typing import Any

import mt_tensor as mt
from mt.arguments import parser_of, positive
from mt.bench.learning import Learner, models_of
from mt.bench.libraries import Library, environment, library
from mt.elsewhere import missing
from mt.errors import ToolError, reported
from mt_nn.errors import NetworkError, SettingError
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.job import Job, Parts, Settings
from mt_nn.jobs.text import Text
from mt_nn.train.trainer import Trainer
from mt_nn.utils.settings import choice
from mt_operators import Module
from mt_tensor.errors import TensorError


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both, and print the results of each epoch and the test, and the ratio of times."""
    options = _parser().parse_args(arguments)
    with reported("bench.twin"):
        if missing(["torch"]):
            raise ToolError("torch is not installed here: hatch run torch:twin")
        _compare(options, _settings(options))


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("python -m mt.bench.twin", __doc__)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--model", help="a network of the job (the first)")
    parser.add_argument("--backend", default="fast", help="the backend")
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--epochs", type=positive)
    parser.add_argument("--batches", type=positive, help="end each epoch after this many batches")
    parser.add_argument("--batch-size", type=positive)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--no-test", action="store_true")
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    """Return the given settings, with the defaults of the model for the others.

    Raises:
        ToolError: a setting is invalid.
    """
    models = models_of(options.job)
    try:
        model = choice("--model", options.model or next(iter(models)), models)
        return Settings(
            model=model,
            epochs=options.epochs or models[model].epochs,
            batch_size=options.batch_size or models[model].batch_size,
            lr=models[model].lr,
            seed=options.seed,
            data_dir=options.data_dir,
            batches=options.batches,
            test=not options.no_test,
        )
    except SettingError as error:
        raise ToolError(str(error)) from error


def _compare(options: argparse.Namespace, settings: Settings) -> None:
    """Train both sides in turn, and print the results.

    Raises:
        ToolError: a side cannot continue.
    """
    sides = {
        name: _Process(name, options.job, settings, options.backend, options.threads)
        for name in ("mt", "torch")
    }
    for side in sides.values():
        side.wait()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for epoch in range(1, settings.epochs + 1):
        for name, side in sides.items():
            taken, told = side.ask(epoch)
            seconds[name].append(taken)
            print(f"epoch {epoch:2}  {name:5}  {taken:6.2f} s  {told}", flush=True)
    if settings.test:
        for name, side in sides.items():
            print(f"test      {name:5}  {side.ask(None)[1]}")
    for what, of in (("fastest", min), ("median", median)):
        ours, theirs = (of(seconds[name]) for name in sides)
        print(f"{what} epoch: {ours:.2f} s beside {theirs:.2f} s, ratio {ours / theirs:.2f}")


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes that are started in this context."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Process:
    """A side in a separate process: two libraries in one would compete for its threads."""

    def __init__(self, side: str, job: str, settings: Settings, backend: str, threads: int) -> None:
        context = get_context("spawn")
        self._answers, answers = context.Pipe()
        arguments = (answers, side, job, settings, threads)
        with _variables(environment(side, backend, threads)):
            context.Process(target=_answer, args=arguments, daemon=True).start()
        answers.close()

    def wait(self) -> None:
        """Wait until it is ready: reading its data would disturb measurements.

        Raises:
            ToolError: it failed.
        """
        self._receive()

    def ask(self, epoch: int | None) -> Any:
        """Return the time of an epoch in seconds, and its validation; of the test if it is None.

        Raises:
            ToolError: the process cannot continue, or has ended.
        """
        with suppress(OSError):  # there will be no answer
            self._answers.send(epoch)
        return self._receive()

    def _receive(self) -> Any:
        try:
            answer = self._answers.recv()
        except (EOFError, OSError) as error:
            raise ToolError("the training process ended; its own message is above") from error
        if isinstance(answer, ToolError):
            raise answer
        return answer


def _answer(questions: Any, side: str, name: str, settings: Settings, threads: int) -> None:
    """Report when the job is ready, and answer the requests of `_Process`."""
    with suppress(EOFError, BrokenPipeError):
        try:
            mt.manual_seed(settings.seed)
            job = job_class(name)(settings)
            parts = job.read()
            learner = _Torch(job, parts, threads) if side == "torch" else _Own(job, parts)
            questions.send(None)
            while True:
                questions.send(_answered(learner, questions.recv(), job, parts))
        except (NetworkError, TensorError) as error:
            questions.send(ToolError(str(error)))


def _answered(learner: _Side, epoch: int | None, job: Job, parts: Parts) -> tuple[float, str]:
    """Return the answer to a request of `_Process.ask`."""
    began = time.perf_counter()
    if epoch is not None:
        learner.learn(epoch)
    taken = time.perf_counter() - began
    held_out = parts.test if epoch is None else parts.validation
    return taken, _told(job, learner.judge.evaluate(held_out))


def _told(job: Job, measured: Mapping[str, Any]) -> str:
    if isinstance(job, Text):
        return job.format_loss(measured["loss"])
    return f"accuracy {100 * measured['accuracy']:.1f} %"


class _Side:
    """A network in training.

    Attributes:
        judge: evaluates it.
    """

    judge: Trainer

    def learn(self, epoch: int) -> None:
        """Train for the epoch of this number; the first is 1."""
        raise NotImplementedError


class _Own(_Side):
    """The side of `mt-train`."""

    def __init__(self, job: Job, parts: Parts) -> None:
        self.judge, self._batches = trainer_of(job, parts), parts.training

    def learn(self, epoch: int) -> None:
        self.judge.fit(self._batches, epoch)


class _Torch(_Side):
    """The side of torch."""

    def __init__(self, job: Job, parts: Parts, threads: int) -> None:
        side = library("torch", threads)
        torch = side.tensors
        torch.manual_seed(job.settings.seed)
        self._learner, self._batches, self._torch = Learner(job, side), parts.training, torch
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._learner.optimizer,
            job.settings.lr,
            total_steps=job.settings.epochs * len(parts.training),
        )
        judged = _Answering(self._learner.network, side)
        self.judge = Trainer(judged, job.optimizer(job.network()), job.loss, job.metrics())

    def learn(self, epoch: int) -> None:
        self._learner.network.train()
        for batch in self._batches:
            self._learner.step(*_as_torch(batch, self._torch))
            self._schedule.step()


class _Answering(Module):
    """A network of torch with the interface of the project's, for evaluation."""

    def __init__(self, network: Any, side: Library) -> None:
        super().__init__()
        self._network, self._torch = network, side.tensors

    def forward(self, *inputs: Any) -> mt.Tensor:
        self._network.eval()
        with self._torch.no_grad():
            return mt.tensor(self._network(*_as_torch(inputs, self._torch)).numpy())


def _as_torch(batch: Sequence[Any], torch: Any) -> list[Any]:
    """Return a batch with torch's tensors."""
    return [torch.from_numpy(x.numpy()) if isinstance(x, mt.Tensor) else x for x in batch]


if __name__ == "__main__":
    main()
