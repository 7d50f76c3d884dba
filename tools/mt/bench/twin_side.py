"""One side of `mt.bench.twin`, in a separate process.

It prints a line when its data are read. Then it reads numbers of epochs, or "test", from its
standard input, and prints for each the time of the epoch in seconds, and the loss or accuracy on
the validation or test set.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import mt_tensor as mt
from mt.bench.learning import Learner
from mt.bench.libraries import library
from mt.errors import ToolError, reported
from mt_nn.errors import NetworkError
from mt_nn.jobs import job_class
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.job import Job, Parts, Settings
from mt_nn.jobs.text import Text
from mt_nn.train.trainer import Trainer
from mt_operators import Module
from mt_tensor.errors import TensorError

Learn = Callable[[int], object]
"""A function that trains for the epoch of this number; the first is 1."""


def main(which: str, name: str, settings: str, threads: str) -> None:
    """Read lines from standard input, and print a result for each, until it ends."""
    with reported("bench.twin"):
        try:
            _serve(which, name, Settings(**json.loads(settings)), int(threads))
        except (NetworkError, TensorError) as error:
            raise ToolError(str(error)) from error


def _serve(which: str, name: str, settings: Settings, threads: int) -> None:
    mt.manual_seed(settings.seed)
    job = job_class(name)(settings)
    parts = job.read()
    trainer, learn = _torch(job, parts, threads) if which == "torch" else _project(job, parts)
    print(json.dumps(None), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        test = line.strip() == "test"
        if not test:
            learn(int(line))
        duration = time.perf_counter() - start
        measured = trainer.evaluate(parts.test if test else parts.validation)
        print(json.dumps([duration, _described(job, measured)]), flush=True)


def _described(job: Job, measured: Any) -> str:
    if isinstance(job, Text):
        return job.format_loss(measured["loss"])
    return f"accuracy {100 * measured['accuracy']:.1f} %"


def _project(job: Job, parts: Parts) -> tuple[Trainer, Learn]:
    """Return the trainer of the network of the project, and the function that trains an epoch."""
    trainer = trainer_of(job, parts)
    return trainer, lambda epoch: trainer.fit(parts.training, epoch)


def _torch(job: Job, parts: Parts, threads: int) -> tuple[Trainer, Learn]:
    """Return the trainer of the network of torch, and the function that trains an epoch."""
    side = library("torch", threads)
    torch = side.tensors
    torch.manual_seed(job.settings.seed)
    learner = Learner(job, side)
    steps = job.settings.epochs * len(parts.training)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        learner.optimizer, job.settings.lr, total_steps=steps
    )

    def learn(_: int) -> None:
        learner.network.train()
        for batch in parts.training:
            learner.step(*_as_torch(batch, torch))
            schedule.step()

    evaluated = _Evaluated(learner.network, torch)
    return Trainer(evaluated, job.optimizer(job.network()), job.loss, job.metrics()), learn


class _Evaluated(Module):
    """A network of torch with the interface of the project's, for evaluation."""

    def __init__(self, network: Any, torch: Any) -> None:
        super().__init__()
        self._network, self._torch = network, torch

    def forward(self, *inputs: Any) -> mt.Tensor:
        self._network.eval()
        with self._torch.no_grad():
            return mt.tensor(self._network(*_as_torch(inputs, self._torch)).numpy())


def _as_torch(batch: Sequence[Any], torch: Any) -> list[Any]:
    """Return a batch with torch's tensors."""
    return [torch.from_numpy(x.numpy()) if isinstance(x, mt.Tensor) else x for x in batch]


if __name__ == "__main__":
    main(*sys.argv[1:])
