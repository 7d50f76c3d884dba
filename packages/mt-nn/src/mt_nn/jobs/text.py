"""`Text`: jobs that guess each token of a text from those before it, and so can go on with one.

The text is cut into as many columns as make a batch, and read in windows of all columns. A network
that remembers reads the windows in order, so that each goes on where the one before has ended; one
that does not has them in a new order each epoch.
"""

from __future__ import annotations

import math
import textwrap
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mt_nn.data import BPTTWindows, DataLoader, Dataset, Subset, Vocabulary, batchify
from mt_nn.errors import InputError, SettingError
from mt_nn.files.writing import write_atomically
from mt_nn.functional import cross_entropy, softmax
from mt_nn.jobs.job import Job, Parts, Settings
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_nn.train.trainer import Callback, Trainer
from mt_nn.utils.modes import evaluation
from mt_operators import Module
from mt_tensor import Generator, multinomial, stack, tensor

# --- What a network remembers, in checkpoints -----------------------------------------------------


class Memory(Callback):
    """Keeps the states of an `LSTMLanguageModel` after each window, and reminds it of them.

    Several ranks learn each from some columns of the text: of N, rank r from column r and every
    Nth after it. What is kept are the states of all columns.
    """

    everywhere = True

    def __init__(self) -> None:
        self._group = Group()
        self._network: Any = None
        self._remembered: Any = None

    def on_fit_start(self, trainer: Trainer) -> None:
        """Remind the network."""
        self._group, self._network = trainer.group, trainer.network
        every = slice(self._group.rank, None, self._group.size)
        whole = self._remembered
        self._network.training_state = (
            None if whole is None else tuple(each[:, every] for each in whole)
        )

    def consolidate_state_dict(self) -> None:
        """Ask all ranks what they remember."""
        own = None if self._network is None else self._network.training_state
        everybodys = [own] if self._group.size == 1 else self._group.gather(own, "memory of a text")
        if None not in everybodys:
            columns = zip(*everybodys, strict=True)
            self._remembered = [stack(each, 2).flatten(1, 2) for each in columns]

    def state_dict(self) -> dict[str, Any]:
        """Return what was remembered when all were asked."""
        return {"remembered": self._remembered}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        self._remembered = state["remembered"]


# --- The job --------------------------------------------------------------------------------------


TEMPERATURE = 0.8
"""By what scores are divided before a token is drawn: below 1, likely ones are drawn more often."""


EVALUATION_COLUMNS = 10
"""How many columns a text has that is not learnt from: the same text is then judged in the same
way, whatever `--batch-size` is."""


COLUMNS = 70
"""How many characters a line has in the picture, at most."""


class Windows(BPTTWindows):
    """Windows as a network takes them: tokens, whether a text begins there, and what comes next."""

    def __getitem__(self, index: int) -> Any:
        """Return tokens of shape (steps, columns), a bool, and targets (steps * columns,)."""
        tokens, targets = super().__getitem__(index)
        return tokens, index == 0, targets.flatten()


class Text(Job):
    """A job that guesses each token of a text.

    Attributes:
        window: how many tokens of a column make a window, and how many of a text a network sees
            that remembers nothing.
        between: what stands between two tokens.
        end: the token that ends a line; with it begins what the network writes of its own.
        length: how many tokens it writes.
        vocabulary: the tokens, once the data have been read.
        written: what the network has written after the last epoch.
    """

    results = ("samples.txt",)
    curves = ("loss",)
    clip_norm = 1.0
    window: ClassVar[int]
    between: ClassVar[str]
    end: ClassVar[str]
    length: ClassVar[int]

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.vocabulary = Vocabulary([])
        self.written = ""

    @abstractmethod
    def tokens_of(self, text: str) -> list[str]:
        """Return the tokens of what a user has written."""

    def remembers(self) -> bool:
        """Return whether the network goes on from window to window."""
        return self.settings.model == "lstm"

    loss = staticmethod(cross_entropy)

    def in_windows(self, *texts: Sequence[str]) -> Parts:
        """Return loaders of three texts: to learn from, for the validation, and for the test.

        Of the first, a rank gets its share of the columns; every rank reads all of the others.

        Raises:
            InputError: a text is too short.
            SettingError: the columns cannot be divided evenly.
        """
        columns = (self.settings.batch_size, EVALUATION_COLUMNS, EVALUATION_COLUMNS)
        most = self.settings.batches
        least = [2 * each for each in columns]
        if any(len(text) < each for text, each in zip(texts, least, strict=True)):
            had = "{} {} to learn from, {} for the validation and {} for the test".format(
                len(texts[0]), self.samples, *map(len, texts[1:])
            )
            raise InputError(
                f"{had} are too few for batches of {columns[0]}: {', '.join(map(str, least))} are "
                "needed at least."
            )
        ranks = world()
        if columns[0] % ranks.size:
            raise SettingError(
                f"a batch of {columns[0]} columns cannot be divided evenly between {ranks.size} "
                "ranks: take another --batch-size."
            )
        parts: list[Dataset] = []
        for text, each in zip(texts, columns, strict=True):
            whole = batchify(self.vocabulary.encode(text), each)
            own = whole if parts else whole[:, ranks.rank :: ranks.size]
            windows = Windows(own, self.window)
            parts.append(Subset(windows, range(min(most or len(windows), len(windows)))))
        counts = [sum(len(part[number][-1]) for number in range(len(part))) for part in parts]
        counts[0] *= ranks.size
        return Parts(
            DataLoader(parts[0], None, shuffle=not self.remembers()),
            DataLoader(parts[1], None),
            DataLoader(parts[2], None),
            (counts[0], counts[1], counts[2]),
        )

    def metrics(self) -> dict[str, Any]:
        """Measure nothing but the loss, which says it all."""
        return {}

    # --- What is shown --------------------------------------------------------------------------

    @abstractmethod
    def told(self, loss: float) -> str:
        """Return in words how well tokens are guessed, given their mean cross-entropy."""

    def line(self, row: Mapping[str, Any]) -> str:
        """Tell how well it guesses, and what it writes."""
        return (
            f"epoch {row['epoch']:2}  training {self.told(row['loss'])}, "
            f"validation {self.told(row['validation_loss'])}\n\n{self.written}\n"
        )

    def callbacks(self, folder: Path) -> list[Callback]:
        """Let the network write after each epoch, and remember when it is interrupted in one."""
        samples = _Samples(self, folder / "samples.txt")
        return [samples, Memory()] if self.remembers() else [samples]

    def draw(self, figure: Any, trainer: Trainer, batch: Any) -> None:
        """Show what it has written."""
        figure.suptitle("what it writes")
        lines = "\n".join(textwrap.fill(line, COLUMNS) for line in self.written.splitlines())
        figure.text(0.02, 0.9, lines, va="top", family="monospace", parse_math=False)

    def test(self, trainer: Trainer, batches: DataLoader, folder: Path) -> str:
        """Measure."""
        return self.told(trainer.evaluate(batches)["loss"])

    # --- Going on with a text -------------------------------------------------------------------

    def known(self) -> dict[str, Any]:
        """Return the vocabulary."""
        return {"tokens": self.vocabulary.tokens, "unknown": self.vocabulary.unknown}

    def recall(self, known: Mapping[str, Any]) -> None:
        """Take over the vocabulary, if there is one yet."""
        self.vocabulary = Vocabulary(known.get("tokens", ()), known.get("unknown"))

    def predict(self, network: Module, text: str) -> str:
        """Go on with a text.

        Raises:
            InputError: it is empty, or a token of it has not been learnt; or the scores are nan.
        """
        tokens = self.tokens_of(text)
        if not tokens:
            raise InputError(f"an empty text was given: give some {self.samples} to go on with.")
        for token in tokens:
            if token not in self.vocabulary:
                raise InputError(
                    f"{token!r} is none of the {len(self.vocabulary)} {self.samples} that the "
                    "network has learnt: leave it out, or write it as the texts do that it has "
                    "learnt from."
                )
        return self.go_on(network, tokens)

    def go_on(self, network: Module, tokens: Sequence[str]) -> str:
        """Return a text with as many more tokens as are written, always the same ones.

        Raises:
            InputError: the scores are nan.
        """
        generator = Generator().manual_seed(self.settings.seed)
        numbers, unknown = self.vocabulary.encode(tokens), self.vocabulary.unknown
        remembers = self.remembers()
        seen, begins = numbers if remembers else numbers[-self.window :], True
        with evaluation(network):
            for _ in range(self.length):
                scores = network(tensor(seen).unsqueeze(1), begins)[-1]
                if unknown is not None:
                    scores[self.vocabulary[unknown]] = -math.inf
                shares = softmax(scores / TEMPERATURE, 0)
                if not shares.isfinite().all():
                    raise InputError(
                        "the network writes nothing: its scores are nan, as after learning with "
                        "too high a --lr."
                    )
                drawn = multinomial(shares, 1, generator=generator)
                numbers.append(int(drawn.item()))
                seen, begins = (
                    (numbers[-1:], False) if remembers else (numbers[-self.window :], True)
                )
        return self.joined(self.vocabulary.decode(numbers))

    def joined(self, tokens: Sequence[str]) -> str:
        """Return the text that tokens make."""
        lines = self.between.join(tokens).replace(self.end, "\n").splitlines()
        return "\n".join(line.strip() for line in lines).strip()


class _Samples(Callback):
    """Lets the network write after each epoch, and keeps in a file what it has written."""

    def __init__(self, job: Text, path: Path) -> None:
        self.job, self.path = job, path
        self.samples: list[str] = []

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Write."""
        try:
            self.job.written = self.job.go_on(trainer.network, [self.job.end])
        except InputError as error:
            self.job.written = f"({error})"
        self.samples.append(f"--- epoch {trainer.epoch} ---\n\n{self.job.written}\n")
        write_atomically(self.path, "\n".join(self.samples).encode())

    def state_dict(self) -> dict[str, Any]:
        """Return what it has written so far."""
        return {"samples": self.samples}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        self.samples = list(state["samples"])
