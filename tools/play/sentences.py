"""Generated reviews, a sentiment classifier, and the influence of each word.

The network and the method are those of `mt-train sentiment`, with a smaller network.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import mt_tensor as mt
from mt_nn.data import DataLoader, TensorDataset, Vocabulary, tokenize
from mt_nn.functional import cross_entropy
from mt_nn.jobs.sentiment import LONGEST, PADDING, UNKNOWN, weigh
from mt_nn.optim import Adam
from mt_nn.train.metrics import Accuracy
from mt_nn.train.networks import TextCNN
from mt_nn.train.trainer import Callback, Trainer
from mt_operators import Module

GOOD = (
    "good",
    "great",
    "wonderful",
    "brilliant",
    "charming",
    "clever",
    "funny",
    "warm",
    "moving",
    "lovely",
    "fresh",
    "bright",
    "superb",
    "delightful",
    "fine",
    "strong",
    "beautiful",
    "honest",
    "gripping",
    "perfect",
)
BAD = (
    "bad",
    "awful",
    "terrible",
    "boring",
    "dull",
    "weak",
    "stupid",
    "cold",
    "lifeless",
    "ugly",
    "stale",
    "clumsy",
    "poor",
    "painful",
    "tired",
    "noisy",
    "empty",
    "false",
    "tedious",
    "dreadful",
)
SUBJECTS = (
    "the film",
    "this film",
    "the story",
    "her acting",
    "his voice",
    "the music",
    "the ending",
    "this book",
    "the plot",
    "every scene",
)
VERBS = ("is", "was", "seems", "felt")
STRONGER = ("", "", "", "very", "really", "quite", "so")
DENIALS = ("not", "never", "hardly")

SENTENCES = 1500
HELD_OUT = 300
EPOCHS, BATCH, RATE = 8, 50, 0.005
UNKNOWN_SHARE = 0.1
"""The fraction of words masked in training, so that unknown words have little influence later."""


class SentenceError(ValueError):
    """Text that cannot be classified; the message says why, and what to write instead."""


@dataclass(frozen=True)
class Classifier:
    """A network that classifies sentences.

    Attributes:
        vocabulary: the words that it knows.
        network: returns the scores of blame and praise.
    """

    vocabulary: Vocabulary
    network: Module


@dataclass(frozen=True)
class Prediction:
    """The prediction for a sentence.

    Attributes:
        words: the words of the sentence.
        known: whether each is in the vocabulary.
        weights: the influence of each on the log-odds of praise; negative for blame.
        praise: the probability of praise.
    """

    words: tuple[str, ...]
    known: tuple[bool, ...]
    weights: tuple[float, ...]
    praise: float


@dataclass(frozen=True)
class Progress:
    """The state of a training.

    Attributes:
        losses: the loss of every batch; the list grows during training.
        right: the accuracy on the held-out sentences after the last epoch.
        classifier: the classifier.
    """

    losses: Sequence[float]
    right: float | None
    classifier: Classifier


def sentences(count: int, seed: int) -> list[tuple[str, int]]:
    """Return sentences with labels, 1 for praise and 0 for blame.

    A negation inverts the meaning, so that no word is decisive alone.
    """
    chosen = random.Random(seed)

    def sentence() -> tuple[str, int]:
        praise = chosen.random() < 0.5
        denied = chosen.random() < 0.35
        words = GOOD if praise != denied else BAD
        described = f"{chosen.choice(STRONGER)} {chosen.choice(words)}"
        if chosen.random() < 0.3:
            described += f" and {chosen.choice(words)}"
        denial = chosen.choice(DENIALS) if denied else ""
        parts = (chosen.choice(SUBJECTS), chosen.choice(VERBS), denial, described)
        return " ".join(" ".join(parts).split()), int(praise)

    return [sentence() for _ in range(count)]


@cache
def divided() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the training sentences, and the held-out ones, which are disjoint."""
    labelled = sentences(SENTENCES, 0)
    held_out = labelled[:HELD_OUT]
    known = set(held_out)
    return [each for each in labelled[HELD_OUT:] if each not in known], held_out


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary of the sentences."""
    words = (word for text, _ in sentences(SENTENCES, 0) for word in text.split())
    return Vocabulary.build(words, 1, None, UNKNOWN, PADDING)


def learn(report: Callable[[Progress], None]) -> None:
    """Train a network to classify the sentences, and report after each batch."""
    mt.manual_seed(0)
    known = vocabulary()
    network = TextCNN(len(known), features=16, filters=16, widths=(1, 2, 3), dropout=0.2)
    trainer = Trainer(
        network,
        Adam(network.parameters(), lr=RATE),
        cross_entropy,
        {"accuracy": Accuracy()},
        callbacks=[_Reporter(known, report)],
    )
    labelled, held_out = divided()
    hidden = random.Random(1)
    learnt = [
        (" ".join(UNKNOWN if hidden.random() < UNKNOWN_SHARE else w for w in text.split()), label)
        for text, label in labelled
    ]
    trainer.fit(_batches(learnt, known, shuffle=True), EPOCHS, _batches(held_out, known))


def _batches(
    labelled: Sequence[tuple[str, int]], known: Vocabulary, shuffle: bool = False
) -> DataLoader:
    """Return sentences as batches of token numbers, padded to the longest."""
    rows = [known.encode(text.split()) for text, _ in labelled]
    numbers = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, words in zip(numbers, rows, strict=True):
        row[: len(words)] = words
    labels = np.array([label for _, label in labelled])
    return DataLoader(TensorDataset(mt.tensor(numbers), mt.tensor(labels)), BATCH, shuffle=shuffle)


class _Reporter(Callback):
    """Report the progress of a trainer."""

    def __init__(self, known: Vocabulary, report: Callable[[Progress], None]) -> None:
        self._known = known
        self._report = report

    def on_batch_end(self, trainer: Trainer) -> None:
        """Report."""
        rows = trainer.history.rows
        right = rows[-1]["validation_accuracy"] if rows else None
        classifier = Classifier(self._known, copy.deepcopy(trainer.model))
        self._report(Progress(trainer.history.losses, right, classifier))

    on_epoch_end = on_batch_end


def classify(classifier: Classifier, text: str) -> Prediction:
    """Return the prediction for a sentence, and the influence of each word.

    Raises:
        SentenceError: it has no words, too many, or only unknown ones.
    """
    words = tokenize(text)
    if not words:
        raise SentenceError("the sentence is empty: write some words.")
    if len(words) > LONGEST:
        raise SentenceError(f"a sentence may have at most {LONGEST} words, not {len(words)}.")
    known = tuple(word in classifier.vocabulary for word in words)
    if not any(known):
        raise SentenceError("the network knows none of these words: write others.")
    scores, weights = weigh(classifier.network, np.array(classifier.vocabulary.encode(words)))
    praise = float(scores.softmax(0)[1])
    return Prediction(tuple(words), known, tuple(weights.tolist()), praise)
