"""Sentences of praise and blame, a network that learns to tell them apart, and what each word did.

The network is that of `mt-train sentiment`, only smaller, and so is how words are weighed.
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
"""How many words are hidden in training, so that words which are unknown later count for little."""


class SentenceError(ValueError):
    """A text cannot be judged; says why, and what can be written instead."""


@dataclass(frozen=True)
class Judge:
    """A network that judges sentences.

    Attributes:
        vocabulary: the words that it knows.
        network: gives a sentence the scores of blame and of praise.
    """

    vocabulary: Vocabulary
    network: Module


@dataclass(frozen=True)
class Judgement:
    """What a network says of a sentence.

    Attributes:
        words: of the sentence.
        known: whether the network knows each of them.
        weights: how much each speaks for praise, or below 0 for blame, in logarithms of odds.
        praise: the probability that the sentence is praise.
    """

    words: tuple[str, ...]
    known: tuple[bool, ...]
    weights: tuple[float, ...]
    praise: float


@dataclass(frozen=True)
class Progress:
    """How far a training is.

    Attributes:
        losses: of every batch; they grow while it learns.
        right: the share of the sentences held out that is told right, after the last epoch.
        judge: what has learnt.
    """

    losses: Sequence[float]
    right: float | None
    judge: Judge


def sentences(count: int, seed: int) -> list[tuple[str, int]]:
    """Return sentences, each with 1 if it is praise, or 0 if it is blame.

    What is denied is turned into its contrary: a word alone does not decide.
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
    """Return the sentences to learn from, and those held out, none of which is among the first."""
    told = sentences(SENTENCES, 0)
    held_out = told[:HELD_OUT]
    known = set(held_out)
    return [each for each in told[HELD_OUT:] if each not in known], held_out


@cache
def vocabulary() -> Vocabulary:
    """Return the words of the sentences."""
    words = (word for text, _ in sentences(SENTENCES, 0) for word in text.split())
    return Vocabulary.build(words, 1, None, UNKNOWN, PADDING)


def learn(report: Callable[[Progress], None]) -> None:
    """Let a network learn to tell the sentences apart, and report after each batch."""
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
    told, held_out = divided()
    hidden = random.Random(1)
    learnt = [
        (" ".join(UNKNOWN if hidden.random() < UNKNOWN_SHARE else w for w in text.split()), label)
        for text, label in told
    ]
    trainer.fit(_batches(learnt, known, shuffle=True), EPOCHS, _batches(held_out, known))


def _batches(
    told: Sequence[tuple[str, int]], known: Vocabulary, shuffle: bool = False
) -> DataLoader:
    """Return sentences as numbers, filled up to the length of the longest."""
    rows = [known.encode(text.split()) for text, _ in told]
    numbers = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, words in zip(numbers, rows, strict=True):
        row[: len(words)] = words
    labels = np.array([label for _, label in told])
    return DataLoader(TensorDataset(mt.tensor(numbers), mt.tensor(labels)), BATCH, shuffle=shuffle)


class _Reporter(Callback):
    """Reports what a trainer does."""

    def __init__(self, known: Vocabulary, report: Callable[[Progress], None]) -> None:
        self._known = known
        self._report = report

    def on_batch_end(self, trainer: Trainer) -> None:
        """Report."""
        rows = trainer.history.rows
        right = rows[-1]["validation_accuracy"] if rows else None
        judge = Judge(self._known, copy.deepcopy(trainer.model))
        self._report(Progress(trainer.history.losses, right, judge))

    on_epoch_end = on_batch_end


def judge(who: Judge, text: str) -> Judgement:
    """Return what a network says of a sentence, and how much of that each word has done.

    Raises:
        SentenceError: it has no words, too many, or none that the network knows.
    """
    words = tokenize(text)
    if not words:
        raise SentenceError("an empty sentence was given: write some words.")
    if len(words) > LONGEST:
        raise SentenceError(f"a sentence has at most {LONGEST} words; this one has {len(words)}.")
    known = tuple(word in who.vocabulary for word in words)
    if not any(known):
        raise SentenceError("none of these words is known to the network: write others.")
    scores, weights = weigh(who.network, np.array(who.vocabulary.encode(words)))
    praise = float(scores.softmax(0)[1])
    return Judgement(tuple(words), known, tuple(weights.tolist()), praise)
