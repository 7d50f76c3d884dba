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
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from statistics import median
from typing import Any

from mt.arguments import parser_of, positive
from mt.bench.libraries import environment
from mt.errors import ToolError, reported
from mt.programs import Server
from mt.torch_environment import missing
from mt_nn.errors import SettingError
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.job import Settings
from mt_nn.utils.settings import choice


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both, and print the results of each epoch and the test, and the ratio of times."""
    options = _parser().parse_args(arguments)
    with reported("bench.twin"):
        if missing(["torch"]):
            raise ToolError("torch is not installed here: use `hatch run torch:twin`")
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
    models = job_class(options.job).models
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


class Twin(Server):
    """A running process of `mt.bench.twin_side`: two libraries would compete for its threads."""

    def __init__(self, side: str, job: str, settings: Settings, backend: str, threads: int) -> None:
        arguments = [side, job, json.dumps(asdict(settings)), str(threads)]
        super().__init__("mt.bench.twin_side", arguments, environment(side, backend, threads))

    def send_request(self, request: int | str | None = None) -> Any:
        """Run an epoch or the test, and return its time in seconds and a description of the result.

        Args:
            request: the number of the epoch, or "test"; None waits until the data are read, and
                returns None.

        Raises:
            ToolError: the process has ended.
        """
        if request is not None:
            self.request(str(request))
        line = self.reply()
        if not line:
            raise ToolError("the training process ended; its own message is above")
        return json.loads(line)


def _compare(options: argparse.Namespace, settings: Settings) -> None:
    """Train both sides in turn, and print the results.

    Raises:
        ToolError: a side cannot continue.
    """
    with ExitStack() as stack:
        sides = {
            name: stack.enter_context(
                Twin(name, options.job, settings, options.backend, options.threads)
            )
            for name in ("mt", "torch")
        }
        for side in sides.values():
            side.send_request()
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for epoch in range(1, settings.epochs + 1):
            for name, side in sides.items():
                duration, result = side.send_request(epoch)
                seconds[name].append(duration)
                print(f"epoch {epoch:2}  {name:5}  {duration:6.2f} s  {result}", flush=True)
        for name, side in sides.items() if settings.test else ():
            print(f"test      {name:5}  {side.send_request('test')[1]}")
    for what, of in (("fastest", min), ("median", median)):
        ours, theirs = (of(seconds[name]) for name in sides)
        print(f"{what} epoch: {ours:.2f} s against {theirs:.2f} s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
