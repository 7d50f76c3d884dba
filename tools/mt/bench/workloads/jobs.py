"""Steps of the jobs of `mt-train`, on random data of the same shapes.

Network, optimizer, clipping and batch size are those of the job; the learning rate is the maximum
of its schedule. Jobs with the same network and shapes share a row: Fashion-MNIST is the same as
MNIST, and all sets of points are the same as the spiral.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from mt.bench.learning import Learner
from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, workload
from mt_nn.jobs import job_class
from mt_nn.jobs.job import Recipe, Settings

SHORTEST, LONGEST = 5, 45
"""The number of words of a sentence."""

Draw = Callable[[Any, Library], tuple[Any, Any]]
"""A function that returns a random batch of a job in a library: samples and their target."""


def _classes(job: Any, side: Library) -> Any:
    return side.tensors.randint(0, len(job.classes), (job.settings.batch_size,))


def _images(job: Any, side: Library) -> tuple[Any, Any]:
    return side.tensors.randn(job.settings.batch_size, *job.shape), _classes(job, side)


def _points(job: Any, side: Library) -> tuple[Any, Any]:
    return side.tensors.rand(job.settings.batch_size, 2), _classes(job, side)


def _sentences(job: Any, side: Library) -> tuple[Any, Any]:
    size = job.settings.batch_size
    sentences = side.tensors.randint(1, len(job.vocabulary), (size, LONGEST))
    for number, sentence in enumerate(sentences):
        sentence[SHORTEST + (LONGEST - SHORTEST) * number // (size - 1) :] = 0  # padding
    return sentences, _classes(job, side)


def _windows(job: Any, side: Library) -> tuple[Any, Any]:
    tokens, columns = len(job.vocabulary), job.settings.batch_size
    draw = side.tensors.randint
    return draw(0, tokens, (job.window, columns)), draw(0, tokens, (job.window * columns,))


def _job_of(name: str, model: str, recipe: Recipe, tokens: int) -> Any:
    """Return a job; if it reads a text, with a vocabulary of this size."""
    settings = Settings(model=model, seed=0, data_dir="", **dataclasses.asdict(recipe))
    job: Any = job_class(name)(settings)
    if tokens:
        job.load_state(job.state() | {"tokens": ["<pad>", "<unk>", *map(str, range(2, tokens))]})
    return job


def _step_of(job: Any, batch: Draw) -> Make:
    """Return a function that creates a step of a job."""

    def make(side: Library) -> Program:
        learner, samples = Learner(job, side), batch(job, side)
        return lambda: learner.step(*samples)

    return make


for _name, _batch, _tokens in (
    ("digits", _images, 0),
    ("mnist", _images, 0),
    ("cifar10", _images, 0),
    ("sentiment", _sentences, 8925),
    ("language", _windows, 5792),
    ("shakespeare", _windows, 65),
    ("spiral", _points, 0),
):
    for _model, _recipe in job_class(_name).models.items():
        _job = _job_of(_name, _model, _recipe, _tokens)
        _size = f"{_job.window} x " if _batch is _windows else ""
        _title = f"{_name}, {_model}: a step of {_size}{_recipe.batch_size} {_job.samples}"
        workload(_title, 0.8, "jobs")(_step_of(_job, _batch))
