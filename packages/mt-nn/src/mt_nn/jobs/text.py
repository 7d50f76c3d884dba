"""`Text`: the base class of language models, which predict the next token and generate text.

The text is divided into one column per sequence of the batch, and read in windows of all columns.
A recurrent network reads the windows in order, and keeps its state from one to the next; others
read them in random order.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mt_nn.data import BPTTWindows, DataLoader, Dataset, Subset, Vocabulary, batchify
from mt_nn.errors import InputError
from mt_nn.functional import cross_entropy, softmax
from mt_nn.jobs.job import Job, Parts, Settings
from mt_nn.layers.key_value_cache import KeyValueCache
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_nn.train.trainer import Callback, Trainer
from mt_nn.utils.modes import evaluation
from mt_nn.utils.settings import check
from mt_operators import Module
from mt_tensor import Generator, Tensor, multinomial, stack, tensor

# --- Hidden states in checkpoints -----------------------------------------------------------------


class SaveHiddenState(Callback):
    """Include the state of an `LSTMLanguageModel` in checkpoints, and restore it.

    With N ranks, rank r trains on column r of the text and every Nth after it. Checkpoints contain
    the states of all columns.
    """

    everywhere = True

    def __init__(self) -> None:
        self._group = Group()
        self._network: Any = None
        self._states: Any = None  # hidden and cell states of all columns

    def on_fit_start(self, trainer: Trainer) -> None:
        """Restore the state of the network."""
        self._group, self._network = trainer.group, trainer.network
        columns = slice(self._group.rank, None, self._group.size)
        self._network.training_state = (
            None if self._states is None else tuple(each[:, columns] for each in self._states)
        )

    def consolidate_state_dict(self) -> None:
        """Gather the states of all ranks."""
        state = None if self._network is None else self._network.training_state
        states = self._group.gather(state, "hidden states")
        if None not in states:
            self._states = [stack(each, 2).flatten(1, 2) for each in zip(*states, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Return the states that were gathered last."""
        return {"remembered": self._states}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`."""
        self._states = state["remembered"]


# --- The job --------------------------------------------------------------------------------------


TEMPERATURE = 0.8
"""The divisor of scores before a token is drawn; below 1, it favors probable tokens."""


EVALUATION_COLUMNS = 10
"""The number of columns for validation and test, which is independent of `--batch-size`."""


class Windows(BPTTWindows):
    """A data set of windows of a text: tokens, whether the text begins there, and targets."""

    def __getitem__(self, index: int) -> Any:
        """Return tokens of shape (steps, columns), a bool, and targets (steps * columns,)."""
        tokens, targets = super().__getitem__(index)
        return tokens, index == 0, targets.flatten()


class Text(Job):
    """Base class of language models.

    Attributes:
        window: the number of tokens of a column per window; also the context of networks that are
            not recurrent.
        separator: the text between two tokens.
        end: the token that ends a line, and starts generated text.
        length: the number of tokens to generate.
        vocabulary: the tokens, after the data have been read.
        generated: the text generated after the last epoch.
    """

    clip_norm = 1.0
    window: ClassVar[int]
    separator: ClassVar[str]
    end: ClassVar[str]
    length: ClassVar[int]

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.vocabulary = Vocabulary([])
        self.generated = ""

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """Split a text into tokens."""

    def is_recurrent(self) -> bool:
        """Return whether the network keeps a state from one window to the next."""
        return self.settings.model == "lstm"

    loss = staticmethod(cross_entropy)

    def in_windows(self, *texts: Sequence[str]) -> Parts:
        """Return loaders of three texts: for training, validation and test.

        Each rank gets its part of the columns of the first, and all of the others.

        Raises:
            InputError: a text is too short.
            SettingError: the columns cannot be divided evenly among ranks.
        """
        columns = (self.settings.batch_size, EVALUATION_COLUMNS, EVALUATION_COLUMNS)
        limit = self.settings.batches
        ranks = world()
        multiple = f"a multiple of the number of ranks, {ranks.size}"
        check("--batch-size", columns[0], columns[0] % ranks.size == 0, multiple)
        parts: list[Dataset] = []
        for text, each in zip(texts, columns, strict=True):
            if len(text) < 2 * each:
                raise InputError(
                    f"a text of {len(text)} {self.samples} was given; training, validation and "
                    f"test need at least {', '.join(str(2 * least) for least in columns)}."
                )
            batch = batchify(self.vocabulary.encode(text), each)
            own = batch if parts else batch[:, ranks.rank :: ranks.size]
            windows = Windows(own, self.window)
            parts.append(Subset(windows, range(min(limit or len(windows), len(windows)))))
        counts = [sum(len(part[index][-1]) for index in range(len(part))) for part in parts]
        counts[0] *= ranks.size
        return Parts(
            DataLoader(parts[0], None, shuffle=not self.is_recurrent()),
            DataLoader(parts[1], None),
            DataLoader(parts[2], None),
            (counts[0], counts[1], counts[2]),
        )

    def metrics(self) -> dict[str, Any]:
        """Return no metrics besides the loss."""
        return {}

    # --- Output ---------------------------------------------------------------------------------

    @abstractmethod
    def format_loss(self, loss: float) -> str:
        """Format the mean cross-entropy in the usual measure, such as perplexity."""

    def line(self, row: Mapping[str, Any]) -> str:
        """Return the losses of an epoch, and the generated text."""
        return (
            f"epoch {row['epoch']:2}  training {self.format_loss(row['loss'])}, "
            f"validation {self.format_loss(row['validation_loss'])}\n\n{self.generated}\n"
        )

    def callbacks(self, folder: Path) -> list[Callback]:
        """Return callbacks that generate text after each epoch, and save hidden states."""
        return [_Samples(self), SaveHiddenState()] if self.is_recurrent() else [_Samples(self)]

    def test(self, trainer: Trainer, batches: DataLoader, folder: Path) -> str:
        """Return the loss."""
        return self.format_loss(trainer.evaluate(batches)["loss"])

    # --- Text generation ------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the tokens of the vocabulary and its unknown token, for JSON."""
        return {"tokens": self.vocabulary.tokens, "unknown": self.vocabulary.unknown}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Load the vocabulary, if there is one yet."""
        self.vocabulary = Vocabulary(state.get("tokens", ()), state.get("unknown"))

    def predict(self, network: Module, text: str) -> str:
        """Continue a text.

        Raises:
            InputError: the text is empty, or a token is not in the vocabulary; or scores are nan.
        """
        tokens = self.tokenize(text)
        if not tokens:
            raise InputError(f"the text is empty: pass some {self.samples} to continue.")
        for token in tokens:
            if token not in self.vocabulary:
                raise InputError(
                    f"{token!r} is not one of the {len(self.vocabulary)} {self.samples} of the "
                    "training text: remove it, or write it as in that text."
                )
        return self.generate(network, tokens)

    def generate(self, network: Module, tokens: Sequence[str]) -> str:
        """Return the text of tokens, continued by `length` tokens drawn with the seed of the run.

        Raises:
            InputError: the scores are nan.
        """
        generator = Generator().manual_seed(self.settings.seed)
        numbers, unknown = self.vocabulary.encode(tokens), self.vocabulary.unknown
        cache = KeyValueCache(self.window)
        with evaluation(network):
            for step in range(self.length):
                scores = self._scores(network, numbers, step == 0, cache)
                if unknown is not None:
                    scores[self.vocabulary[unknown]] = -math.inf
                probabilities = softmax(scores / TEMPERATURE, 0)
                if not probabilities.isfinite().all():
                    raise InputError(
                        "no text can be generated: the scores of the network are nan, for example "
                        "after training with too high a --lr."
                    )
                drawn = multinomial(probabilities, 1, generator=generator)
                numbers.append(int(drawn.item()))
        return self.join(self.vocabulary.decode(numbers))

    def _scores(
        self, network: Any, numbers: Sequence[int], begins: bool, cache: KeyValueCache
    ) -> Tensor:
        """Return the scores of the token after `numbers`.

        Recurrent networks are called with the new tokens only; others, too, as long as all tokens
        fit into their context.
        """
        if self.is_recurrent():
            new = tensor(numbers if begins else numbers[-1:])
            scores: Tensor = network(new.unsqueeze(1), begins)
        elif len(numbers) <= self.window:
            scores = network(tensor(numbers[cache.steps :]).unsqueeze(1), cache=cache)
        else:
            scores = network(tensor(numbers[-self.window :]).unsqueeze(1))
        return scores[-1]

    def join(self, tokens: Sequence[str]) -> str:
        """Join tokens into a text."""
        lines = self.separator.join(tokens).replace(self.end, "\n").splitlines()
        return "\n".join(line.strip() for line in lines).strip()


class _Samples(Callback):
    """Generate text after each epoch."""

    def __init__(self, job: Text) -> None:
        self.job = job

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Generate a text."""
        try:
            self.job.generated = self.job.generate(trainer.network, [self.job.end])
        except InputError as error:
            self.job.generated = f"({error})"
