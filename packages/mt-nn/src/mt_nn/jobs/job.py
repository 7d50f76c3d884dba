"""`Job`: what a network learns from, which network it is, and how it is judged.

`training.py` trains any job, `prediction.py` asks the network that came of it. What they need to
know is what the methods here return: the data in batches, the network, its loss and metrics, its
optimizer; and, for those who look at it, curves, examples and a prediction in words.
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
"""How many samples are looked at together that are not learnt from."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings of a training that were chosen for a network, by the validation part.

    Attributes:
        epochs: how often each sample is seen; 0 if nothing is learnt.
        batch_size: how many samples make one step.
        lr: the highest learning rate.
    """

    epochs: int
    batch_size: int
    lr: float


@dataclasses.dataclass(frozen=True)
class Settings:
    """What somebody may say about a training.

    Attributes:
        model: the network, one of the job's `models`.
        epochs, batch_size, lr: see `Recipe`.
        seed: what random numbers begin with.
        data_dir: the folder of all data sets, or of this one.
        batches: after how many batches an epoch ends, as do validation and test; None for all.
        test: whether the test part is looked at; whoever chooses settings leaves it alone.
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
        least = {"epochs": 0, "batch_size": 1, "seed": 0}
        if self.batches is not None:
            least["batches"] = 1
        for name, lowest in least.items():
            if integer(name, getattr(self, name), lowest) > sys.maxsize:
                raise SettingError(f"{name} must be at most {sys.maxsize}.")
        holds = 0 <= number("lr", self.lr) <= sys.float_info.max
        check("lr", self.lr, holds, "a finite number from 0 on")
        check_flags(test=self.test)
        path: Any = self.data_dir
        holds = isinstance(path, str) and "\0" not in path
        check("data_dir", path, holds, "the name of a folder")


class Parts(NamedTuple):
    """Loaders of the three parts of the data, and how many samples each part has.

    A network learns from the first part. By the second it is judged while it learns, and its
    settings are chosen. The third is for one look at the end.
    """

    training: DataLoader
    validation: DataLoader
    test: DataLoader
    counts: tuple[int, int, int]


class Job(ABC):
    """Something to learn. Subclass it, and enter it in `JOBS`.

    Attributes:
        about: what is learnt, in one line for `mt-train --help`.
        models: the networks to choose from, each with its settings; the first is taken if none is
            named.
        results: names of the files that it writes, beside those of every training.
        samples: what the samples are called.
        curves: what of the epochs is drawn: names in the history.
        clip_norm: the largest norm that all gradients together may have; None for any.
        settings: what was said about this training.
    """

    about: ClassVar[str]
    models: ClassVar[Mapping[str, Recipe]]
    results: ClassVar[tuple[str, ...]] = ()
    samples: ClassVar[str] = "images"
    curves: ClassVar[tuple[str, ...]] = ("cross_entropy", "accuracy")
    clip_norm: ClassVar[float | None] = None

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def folder(self, name: str) -> Path:
        """Return where the files of a data set lie: in the data folder, or in a folder of it.

        Raises:
            MissingFileError: there is no data folder.
        """
        try:
            os.lstat(self.settings.data_dir)
        except FileNotFoundError:
            fetched = f"; mt_nn.data.fetch({name!r}) makes them" if name in PUBLISHED else ""
            raise MissingFileError(
                f"{self.settings.data_dir}: No such file or directory. --data-dir names the folder "
                f"of the data sets, with those of this job in {name}{fetched}."
            ) from None
        except OSError:  # whoever opens a file in it will say what is wrong
            pass
        folder = Path(self.settings.data_dir, name)
        return folder if os.path.isdir(folder) else Path(self.settings.data_dir)  # noqa: PTH112

    def in_batches(
        self,
        training: Dataset,
        validation: Dataset,
        test: Dataset,
        collate_fn: Callable[[Any], Any] | None = None,
    ) -> Parts:
        """Return loaders of three parts: the first in a new order each epoch, no more than wanted.

        Of the first two, a rank gets its share.

        Raises:
            InputError: a part has no samples.
        """
        size = self.settings.batch_size
        most = sys.maxsize if self.settings.batches is None else self.settings.batches * size
        drawn = min(most, len(training))
        held_out = [Subset(part, range(min(most, len(part)))) for part in (validation, test)]
        counts = (drawn, len(held_out[0]), len(held_out[1]))
        if not all(counts):
            raise InputError(
                f"{len(training)} {self.samples} to learn from, {len(validation)} for the "
                f"validation and {len(test)} for the test are too few."
            )
        order = BatchSampler(RandomSampler(training, num_samples=drawn), size, drop_last=False)
        ranks = world()
        judged = Subset(held_out[0], range(ranks.rank, counts[1], ranks.size))
        return Parts(
            DataLoader(training, batch_sampler=SharedBatches(order), collate_fn=collate_fn),
            DataLoader(judged, EVALUATION_BATCH, collate_fn=collate_fn),
            DataLoader(held_out[1], EVALUATION_BATCH, collate_fn=collate_fn),
            counts,
        )

    # --- Learning -------------------------------------------------------------------------------

    @abstractmethod
    def read(self) -> Parts:
        """Read the data.

        Raises:
            FileError: a file is missing, or is not what it should be.
            InputError: there are too few samples.
        """

    @abstractmethod
    def network(self) -> Module:
        """Return the network before it has learnt anything."""

    loss: Callable[[Any, Tensor], Tensor]
    """What the network learns by: takes what it returns and the target of a batch."""

    @abstractmethod
    def metrics(self) -> dict[str, Metric]:
        """Return what is measured of training, validation and test, by name."""

    def optimizer(self, network: Module) -> optim.Optimizer:
        """Return what changes the parameters."""
        return optim.Adam(network.parameters(), self.settings.lr)

    def scheduler(self, optimizer: optim.Optimizer, steps: int) -> Any:
        """Return what changes the learning rate after each of so many steps, or None."""
        return optim.lr_scheduler.OneCycleLR(optimizer, self.settings.lr, total_steps=steps)

    def callbacks(self, folder: Path) -> list[Callback]:
        """Return what else is to be done while it learns, before pictures, bar and checkpoints.

        Args:
            folder: that of the training, for files.
        """
        return []

    # --- What is shown --------------------------------------------------------------------------

    @abstractmethod
    def line(self, row: Mapping[str, Any]) -> str:
        """Return what is told of an epoch, given its row of the history."""

    def draw(self, figure: Any, trainer: Trainer, batch: Any) -> None:
        """Draw examples, with what the network makes of them, if the job has any to show.

        Args:
            figure: where to; matplotlib's.
            trainer: has the network.
            batch: samples that it does not learn from, and their targets.
        """
        return

    @abstractmethod
    def test(self, trainer: Trainer, batches: DataLoader, folder: Path) -> str:
        """Look at the test part, write what is worth a file, and return the result in one line."""

    # --- Asking what has been learnt ------------------------------------------------------------

    def known(self) -> dict[str, Any]:
        """Return what `predict` needs beside settings and parameters, as JSON has it."""
        return {}

    def recall(self, known: Mapping[str, Any]) -> None:
        """Take over what `known` has returned.

        Raises:
            KeyError, SettingError, TypeError: it has not returned this; the file is damaged.
        """
        return

    @abstractmethod
    def predict(self, network: Module, text: str) -> str:
        """Return what the network says to an input of a user: a file's name, or a text.

        Raises:
            FileError: there is no such file, or it holds something else.
            InputError: it is nothing that the network can take.
        """
