"""A job that reads texts, learnt with torch as `mt-train` learns it: `python -m` with this module.

Both read the same batches, have the same network, optimizer, schedule and number of epochs; what is
drawn at random differs, first values and dropout. So the two results differ by chance, as those of
two seeds do, and that is how they are to be compared.

    cd tools && python -m mt.bench.twin language --model lstm --data-dir ../data
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from typing import Any

import mt_tensor as mt
from mt.bench.language_models import language_model
from mt.bench.libraries import library
from mt_nn.library.jobs import job_class
from mt_nn.library.jobs.job import Settings
from mt_nn.library.jobs.text import Text
from mt_nn.library.train.language_models import LSTMLanguageModel

JOBS = ("language", "shakespeare")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print what comes of each epoch and of the test."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--model", choices=("lstm", "transformer"), default="lstm")
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batches", type=int)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    recipe = job_class(options.job).models[options.model]
    epochs, columns = options.epochs or recipe.epochs, options.batch_size or recipe.batch_size
    settings = Settings(
        options.model, epochs, columns, recipe.lr, options.seed, options.data_dir, options.batches
    )
    mt.manual_seed(options.seed)
    job = job_class(options.job)(settings)
    if not isinstance(job, Text):
        raise TypeError(f"{options.job} reads no text.")
    learn(job, options.threads)


def learn(job: Text, threads: int) -> None:
    """Train the network of a job in torch, as the job says."""
    side = library("torch", threads)
    torch, parts = side.tensors, job.read()
    torch.manual_seed(job.settings.seed)
    network = twin_of(job)
    optimizer = twin_optimizer(job, network)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, job.settings.lr, total_steps=job.settings.epochs * len(parts.training)
    )
    for epoch in range(1, job.settings.epochs + 1):
        began = time.perf_counter()
        network.train()
        for tokens, begins, targets in torch_batches(parts.training):
            loss = side.functional.cross_entropy(network(tokens, begins), targets)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), job.clip_norm)
            optimizer.step()
            schedule.step()
        seconds = time.perf_counter() - began
        told = job.told(mean_loss(network, parts.validation))
        print(f"epoch {epoch:2}  validation {told}  {seconds:.1f} s", flush=True)
    print(f"test: {job.told(mean_loss(network, parts.test))}")


def twin_of(job: Text) -> Any:
    """Return the network of a job, before it has learnt anything, in torch."""
    ours: Any = job.network()
    settings = {"dropout": ours.dropout.p}
    if isinstance(ours, LSTMLanguageModel):
        settings |= {"layers": ours.lstm.num_layers}
    else:
        heads = ours.encoder.layers[0].self_attn.num_heads
        settings |= {"layers": ours.encoder.num_layers, "heads": heads, "window": job.window}
    tokens, width = ours.embedding.weight.shape
    return language_model(library("torch", 1), tokens, width, **settings)


def twin_optimizer(job: Text, network: Any) -> Any:
    """Return the optimizer of a job with its settings, in torch."""
    import torch

    (group,) = job.optimizer(job.network()).param_groups
    settings = {name: group[name] for name in ("lr", "betas", "eps", "weight_decay")}
    kind = type(job.optimizer(job.network())).__name__
    return getattr(torch.optim, kind)(network.parameters(), **settings)


def torch_batches(loader: Iterable[Any]) -> Iterable[Any]:
    """Yield the batches of a job as tensors of torch."""
    import torch

    for tokens, begins, targets in loader:
        yield torch.from_numpy(tokens.numpy()), begins, torch.from_numpy(targets.numpy())


def mean_loss(network: Any, loader: Iterable[Any]) -> float:
    """Return the mean cross-entropy of all tokens."""
    import torch

    network.eval()
    total = count = 0.0
    with torch.no_grad():
        for tokens, begins, targets in torch_batches(loader):
            scores = network(tokens, begins)
            total += torch.nn.functional.cross_entropy(scores, targets, reduction="sum").item()
            count += len(targets)
    return total / count


if __name__ == "__main__":
    main()
