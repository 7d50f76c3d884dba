"""Choose the settings of the job `digits` by validation: `python -m` with this module.

Trains with each of the settings below and five seeds, and prints how many images of the validation
set are classified wrongly. The test set is not used. It takes about eight minutes on two cores;
`--seeds 1` gives a rough result in a fifth of that.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import mt_tensor as mt
from mt_nn.core.lenet import LeNet
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.job import Settings

RATES = (0.003, 0.01, 0.03)
SMOOTHINGS = (0.0, 0.1)
DROPOUTS = (0.0, 0.25, 0.5)


def main(arguments: Sequence[str] | None = None) -> None:
    """Try each setting, and print what came of it."""
    recipe = Digits.models["lenet"]
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="trainings per setting (default: 5)")
    parser.add_argument("--epochs", type=int, default=recipe.epochs)
    options = parser.parse_args(arguments)
    print(f"wrong images of the validation part, for each of {options.seeds} seeds")
    print("  rate  smoothing  dropout   mean  each")
    for rate, smoothing, dropout in itertools.product(RATES, SMOOTHINGS, DROPOUTS):
        wrong = []
        for seed in range(options.seeds):
            settings = Settings(
                model="lenet",
                epochs=options.epochs,
                batch_size=recipe.batch_size,
                lr=rate,
                seed=seed,
                data_dir="",
            )
            wrong.append(_wrong(_variant(smoothing, dropout)(settings)))
        mean = sum(wrong) / len(wrong)
        print(f"{rate:6}  {smoothing:9}  {dropout:7}  {mean:5.1f}  {wrong}", flush=True)


def _variant(label_smoothing: float, dropout: float) -> type[Digits]:
    """Return the job with other settings of its own."""

    class Variant(Digits):
        smoothing: ClassVar = label_smoothing

        def network(self) -> Any:
            return LeNet(8, dropout=dropout)

    return Variant


def _wrong(job: Digits) -> int:
    """Return how many images of the validation are wrong after a training."""
    mt.manual_seed(job.settings.seed)
    parts = job.read()
    trainer = trainer_of(job, parts)
    history = trainer.fit(parts.training, job.settings.epochs, parts.validation)
    images = parts.counts[1]
    return round(images * (1 - float(history["validation_accuracy"][-1])))


if __name__ == "__main__":
    main()
