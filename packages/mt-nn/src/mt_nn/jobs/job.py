"""`Job`: the base class of jobs, which define data, network, loss, metrics and output.

`command/training.py` trains any job, and `command/prediction.py` predicts with its network.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from mt_nn import optim
from mt_nn.core.settings import integer
from mt_nn.data import BatchSampler, DataLoader, Dataset, RandomSampler, Subset
from mt_nn.data.downloads.published import PUBLISHED
from mt_nn.errors import InputError, MissingFileError, SettingError
from mt_nn.parallel.sampling import SharedBatches
from mt_nn.parallel.world import world
from mt_nn.train.metrics import Metric
from mt_nn.utils.settings import check, check_flags, number
from mt_operators import Module
from mt_tensor import Tensor

if TYPE_CHECKING:
    from mt_nn.train.trainer import Callback, Trainer

EVALUATION_BATCH = 256
"""The batch size of validation and test."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Default settings for training a network, chosen with the validation set.

    Attributes:
        epochs: the number of epochs.
        batch_size: the number of samples per step.
        lr: the highest learning rate.
    """

    epochs: int
    batch_size: int
    lr: float


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a training run.

    Attributes:
        model: the network, one of the job's `models`.
        epochs, batch_size, lr: see `Recipe`.
        seed: the seed of all random numbers.
        data_dir: the folder of all data sets, or of this one.
        batches: the largest number of batches per epoch, validation and test; None for all.
        test: whether to evaluate the test set, which must not be used to choose settings.
    """

    model: str
    epochs: int
    batch_size: int
    lr: float
    seed: int
    data_dir: str
    batches: int | None = None
    test: bool = True

    def __post_init__(self) -> None:
        least = {"epochs": 1, "batch_size": 1, "seed": 0}
        if self.batches is not None:
            least["batches"] = 1
        for name, lowest in least.items():
            if integer(name, getattr(self, name), lowest) > sys.maxsize:
                raise SettingError(f"{name} must be at most {sys.maxsize}.")
        finite = 0 <= number("lr", self.lr) <= sys.float_info.max
        check("lr", self.lr, finite, "a finite, non-negative number")
        check_flags(test=self.test)
        path: Any = self.data_dir
        valid = isinstance(path, str) and "\0" not in path
        check("data_dir", path, valid, "the name of a folder")


class Parts(NamedTuple):
    """Loaders of the training, validation and test sets, and their numbers of samples.

    The validation set is evaluated during training, and used to choose settings; the test set is
    evaluated once, at the end.
    """

    training: DataLoader
    validation: DataLoader
    test: DataLoader
    counts: tuple[int, int, int]


class Job(ABC):
    """Base class of jobs; add subclasses to `JOBS`.

    Attributes:
        about: a description in one line, for `mt-train --help`.
        models: the available networks with their default settings; the first is the default.
        results: the names of additional output files.
        samples: the name of the samples.
        clip_norm: the largest norm of all gradients together; None for no limit.
        settings: the settings of this training run.
    """

    about: ClassVar[str]
    models: ClassVar[Mapping[str, Recipe]]
    results: ClassVar[tuple[str, ...]] = ()
    samples: ClassVar[str] = "images"
    clip_norm: ClassVar[float | None] = None

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def folder(self, name: str) -> Path:
        """Return the folder of a data set: the data folder, or the subfolder `name` if it exists.

        Raises:
            MissingFileError: the data folder does not exist.
        """
        folder = Path(self.settings.data_dir, name)
        try:
            os.lstat(self.settings.data_dir)
        except FileNotFoundError:
            fetch = f"; download them with mt_nn.data.fetch({name!r})" if name in PUBLISHED else ""
            raise MissingFileError(
                f"{self.settings.data_dir}: No such file or directory. Set --data-dir to the "
                f"folder of the data sets; this job reads files from its subfolder {name}{fetch}."
            ) from None
        except OSError:  # opening a file in it will raise a better error
            pass
        return folder if os.path.isdir(folder) else Path(self.settings.data_dir)  # noqa: PTH112

    def in_batches(
        self,
        training: Dataset,
        validation: Dataset,
        test: Dataset,
        collate_fn: Callable[[Any], Any] | None = None,
    ) -> Parts:
        """Return loaders of three data sets, limited to `settings.batches`.

        The training set is shuffled. Each rank gets its part of the training and validation sets.

        Raises:
            InputError: a data set is empty.
        """
        size = self.settings.batch_size
        limit = sys.maxsize if self.settings.batches is None else self.settings.batches * size
        drawn = min(limit, len(training))
        held_out = [Subset(part, range(min(limit, len(part)))) for part in (validation, test)]
        counts = (drawn, len(held_out[0]), len(held_out[1]))
        if not all(counts):
            raise InputError(
                f"{len(training)} {self.samples} for training, {len(validation)} for validation "
                f"and {len(test)} for the test are too few: each needs at least one."
            )
        order = BatchSampler(RandomSampler(training, num_samples=drawn), size, drop_last=False)
        ranks = world()
        rank_part = Subset(held_out[0], range(ranks.rank, counts[1], ranks.size))
        return Parts(
            DataLoader(training, batch_sampler=SharedBatches(order), collate_fn=collate_fn),
            DataLoader(rank_part, EVALUATION_BATCH, collate_fn=collate_fn),
            DataLoader(held_out[1], EVALUATION_BATCH, collate_fn=collate_fn),
            counts,
        )

    # --- Training -------------------------------------------------------------------------------

    @abstractmethod
    def read(self) -> Parts:
        """Read the data.

        Raises:
            FileError: a file is missing or invalid.
            InputError: there are too few samples.
        """

    @abstractmethod
    def network(self) -> Module:
        """Return the untrained network."""

    loss: Callable[[Any, Tensor], Tensor]
    """The loss function: takes the output of the network and the target of a batch."""

    @abstractmethod
    def metrics(self) -> dict[str, Metric]:
        """Return the metrics of training, validation and test, by name."""

    def optimizer(self, network: Module) -> optim.Optimizer:
        """Return the optimizer."""
        return optim.Adam(network.parameters(), self.settings.lr)

    def scheduler(self, optimizer: optim.Optimizer, steps: int) -> Any:
        """Return the learning rate scheduler for a total number of steps, or None."""
        return optim.lr_scheduler.OneCycleLR(optimizer, self.settings.lr, total_steps=steps)

    def callbacks(self, folder: Path) -> list[Callback]:
        """Return additional callbacks, which run before checkpoints and progress bar.

        Args:
            folder: the output folder.
        """
        return []

    # --- Output ---------------------------------------------------------------------------------

    @abstractmethod
    def line(self, row: Mapping[str, Any]) -> str:
        """Return the line to print for an epoch, given its row of the history."""

    @abstractmethod
    def test(self, trainer: Trainer, batches: DataLoader, folder: Path) -> str:
        """Evaluate the test set, write output files, and return the result in one line."""

    # --- Prediction -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the values that `predict` needs besides settings and parameters, for JSON."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state`.

        Raises:
            KeyError, SettingError, TypeError: the state is invalid, since the file is damaged.
        """
        return

    @abstractmethod
    def predict(self, network: Module, text: str) -> str:
        """Return the prediction for the input of a user: the name of a file, or a text.

        Raises:
            FileError: the file is missing or invalid.
            InputError: the network does not support the input.
        """
