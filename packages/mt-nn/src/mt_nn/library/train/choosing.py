"""The settings of `mt-train`, judged by the validation part: `python -m` with this module.

Each of the settings below is tried with five seeds, and the table says how many images of the
validation part it read wrongly in the end. The test part is not looked at. It takes about eight
minutes on two cores; `--seeds 1` gives a rough answer in a fifth of that.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

import mt_tensor as mt
from mt_nn.data import digits
from mt_nn.library.train.recipe import Recipe, divided, trained

RATES = (0.003, 0.01, 0.03)
SMOOTHINGS = (0.0, 0.1)
DROPOUTS = (0.0, 0.25, 0.5)


def main(arguments: Sequence[str] | None = None) -> None:
    """Try each setting, and print what came of it."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="how often each setting is tried (5)")
    parser.add_argument("--epochs", type=int, default=Recipe.epochs)
    options = parser.parse_args(arguments)
    training, validation = divided(digits()[0])
    print(f"wrong of {len(validation)} images, for each of {options.seeds} seeds")
    print("  rate  smoothing  dropout   mean  each")
    for rate, smoothing, dropout in itertools.product(RATES, SMOOTHINGS, DROPOUTS):
        recipe = Recipe(options.epochs, rate=rate, smoothing=smoothing, dropout=dropout)
        wrong = []
        for seed in range(options.seeds):
            mt.manual_seed(seed)
            history = trained(recipe, training, validation, image_size=8).history
            right = history["validation_accuracy"][-1] * len(validation)
            wrong.append(len(validation) - round(right))
        mean = sum(wrong) / len(wrong)
        print(f"{rate:6}  {smoothing:9}  {dropout:7}  {mean:5.1f}  {wrong}", flush=True)


if __name__ == "__main__":
    main()
