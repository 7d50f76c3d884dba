"""A job learnt with torch beside `mt-train`, epoch by epoch: `python -m` with this module.

Both sides have the same batches, network, optimizer, schedule and number of epochs, and are judged
by the same metrics; torch's optimizer takes its fastest way. They take turns, so that their times
can be compared on a machine that others use, too. What is drawn at random differs, first values,
dropout and the order of samples: so the results differ by chance, as those of two seeds do.

    cd tools && python -m mt.bench.twin language --model lstm --data-dir ../data
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from statistics import median
from typing import Any

import mt_tensor as mt
from mt.bench.libraries import Library, library
from mt.bench.networks import language_model, lenet, resnet9, text_cnn
from mt.errors import ToolError
from mt_nn.library.jobs import job_class
from mt_nn.library.jobs.classification import Classification
from mt_nn.library.jobs.images import Images
from mt_nn.library.jobs.job import Job, Parts, Settings
from mt_nn.library.jobs.text import Text
from mt_nn.library.jobs.training import trainer_of
from mt_nn.library.train.language_models import LSTMLanguageModel, TransformerLanguageModel
from mt_nn.library.train.lenet import LeNet
from mt_nn.library.train.resnet9 import ResNet9
from mt_nn.library.train.text_cnn import TextCNN
from mt_nn.library.train.trainer import Trainer
from mt_operators import Module

JOBS = ("digits", "mnist", "fashion", "cifar10", "sentiment", "language", "shakespeare")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both, and print what comes of each epoch and of the test, and how the times compare."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--model", help="one of the job's; its first if none is named")
    parser.add_argument("--backend", default="fast")
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batches", type=int, help="after which an epoch ends")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-test", action="store_true")
    options = parser.parse_args(arguments)
    models = job_class(options.job).models
    model = options.model or next(iter(models))
    recipe = models[model]
    epochs, size = options.epochs or recipe.epochs, options.batch_size or recipe.batch_size
    settings = Settings(
        *(model, epochs, size, recipe.lr, options.seed, options.data_dir, options.batches),
        test=not options.no_test,
    )
    sides = {
        name: _Process(name, options.job, settings, options.backend, options.threads)
        for name in ("mt", "torch")
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for epoch in range(1, epochs + 1):
        for name, side in sides.items():
            taken, told = side.ask(epoch)
            seconds[name].append(taken)
            print(f"epoch {epoch:2}  {name:5}  {taken:6.1f} s  {told}", flush=True)
    if settings.test:
        for name, side in sides.items():
            print(f"test      {name:5}  {side.ask(None)[1]}")
    for what, of in (("fastest", min), ("median", median)):
        ours, theirs = (of(seconds[name]) for name in sides)
        print(f"{what} epoch: {ours:.2f} s beside {theirs:.2f} s, ratio {ours / theirs:.2f}")


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for what is started meanwhile, and nothing that comes after."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Process:
    """A side in a process of its own: two libraries in one fight for its threads."""

    def __init__(self, side: str, job: str, settings: Settings, backend: str, threads: int) -> None:
        counts = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        context = get_context("spawn")
        self._answers, answers = context.Pipe()
        arguments = (answers, side, job, settings, threads)
        with _variables(dict.fromkeys(counts, str(threads)) | {"MT_BACKEND": backend}):
            context.Process(target=_answer, args=arguments, daemon=True).start()
        answers.close()

    def ask(self, epoch: int | None) -> Any:
        """Return seconds of an epoch, and what the validation tells; of the test if it is None.

        Raises:
            ToolError: the process has ended.
        """
        try:
            self._answers.send(epoch)
            return self._answers.recv()
        except (EOFError, OSError) as error:
            raise ToolError("the process that learns ended; its own message is above") from error


def _answer(questions: Any, side: str, name: str, settings: Settings, threads: int) -> None:
    """Answer `_Process` until nobody asks any more."""
    mt.manual_seed(settings.seed)
    job = job_class(name)(settings)
    parts = job.read()
    learner = _Torch(job, parts, threads) if side == "torch" else _Own(job, parts)
    with suppress(EOFError):
        while True:
            epoch = questions.recv()
            began = time.perf_counter()
            if epoch is not None:
                learner.learn(epoch)
            taken = time.perf_counter() - began
            held_out = parts.test if epoch is None else parts.validation
            questions.send((taken, _told(job, learner.judge.evaluate(held_out))))


def _told(job: Job, measured: Mapping[str, Any]) -> str:
    if isinstance(job, Text):
        return job.told(measured["loss"])
    return f"accuracy {100 * measured['accuracy']:.1f} %"


class _Side:
    """A network that learns.

    Attributes:
        judge: measures it.
    """

    judge: Trainer

    def learn(self, epoch: int) -> None:
        """Go through the samples to learn from, for the epoch of this number, from 1 on."""
        raise NotImplementedError


class _Own(_Side):
    """What `mt-train` trains."""

    def __init__(self, job: Job, parts: Parts) -> None:
        self.judge, self._batches = trainer_of(job, parts), parts.training

    def learn(self, epoch: int) -> None:
        self.judge.fit(self._batches, epoch)


class _Torch(_Side):
    """The same in torch, with a loop as torch's users write it."""

    def __init__(self, job: Job, parts: Parts, threads: int) -> None:
        side = library("torch", threads)
        torch = side.tensors
        torch.manual_seed(job.settings.seed)
        self._job, self._batches, self._side = job, parts.training, side
        self._network = twin_of(job, side)
        self._optimizer = _optimizer(job, self._network, side)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimizer, job.settings.lr, total_steps=job.settings.epochs * len(parts.training)
        )
        judged = _Answering(self._network, side)
        self.judge = Trainer(judged, job.optimizer(job.network()), job.loss, job.metrics())

    def learn(self, epoch: int) -> None:
        smoothing = self._job.smoothing if isinstance(self._job, Classification) else 0.0
        limit, torch = self._job.clip_norm, self._side.tensors
        self._network.train()
        for batch in self._batches:
            *inputs, target = _as_torch(batch, torch)
            self._optimizer.zero_grad()
            scores = self._network(*inputs)
            loss = self._side.functional.cross_entropy(scores, target, label_smoothing=smoothing)
            loss.backward()
            if limit is not None:
                torch.nn.utils.clip_grad_norm_(self._network.parameters(), limit)
            self._optimizer.step()
            self._schedule.step()


class _Answering(Module):
    """A network of torch as one of the project's, for those who only ask it."""

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


def twin_of(job: Job, side: Library) -> Any:
    """Return the network of a job, with first values of its own, in either library.

    Raises:
        TypeError: it has none here.
    """
    ours: Any = job.network()
    makers: dict[type, Callable[[], Any]] = {
        LeNet: lambda: lenet(
            side,
            size=job.shape[1] if isinstance(job, Images) else 0,
            channels=(ours.features[0].out_channels, ours.features[2].out_channels),
            hidden=ours.classifier[0].out_features,
            dropout=ours.classifier[2].p,
        ),
        ResNet9: lambda: resnet9(
            side,
            channels=ours.features[0][0].in_channels,
            width=ours.features[0][0].out_channels,
        ),
        TextCNN: lambda: text_cnn(
            side,
            tokens=ours.embedding.num_embeddings,
            features=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            word_dropout=ours.word_dropout.p,
        ),
        LSTMLanguageModel: lambda: language_model(
            side,
            tokens=ours.embedding.num_embeddings,
            width=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            layers=ours.lstm.num_layers,
        ),
        TransformerLanguageModel: lambda: language_model(
            side,
            tokens=ours.embedding.num_embeddings,
            width=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            layers=ours.encoder.num_layers,
            heads=ours.encoder.layers[0].self_attn.num_heads,
            window=len(ours.positions.weight),
        ),
    }
    if type(ours) not in makers:
        raise TypeError(f"{type(ours).__name__} has no twin in torch.")
    return makers[type(ours)]()


def _optimizer(job: Job, network: Any, side: Library) -> Any:
    """Return the optimizer of a job with its settings, in torch."""
    ours = job.optimizer(job.network())
    (group,) = ours.param_groups
    settings = {name: group[name] for name in ("lr", "betas", "eps", "weight_decay")}
    kind = getattr(side.optim, type(ours).__name__)
    return kind(network.parameters(), **settings, **side.fastest)


if __name__ == "__main__":
    main()
