"""Generated reviews, a sentiment classifier, and the influence of each word.

The network is that of `mt-train sentiment`, but smaller.
"""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import mt_tensor as mt
from mt_nn.data import Vocabulary, tokenize
from mt_nn.functional import cross_entropy
from mt_nn.jobs.sentiment import LONGEST, PADDING, UNKNOWN
from mt_nn.optim import Adam
from mt_nn.train.networks import TextCNN
from mt_nn.utils.modes import evaluation
from mt_operators import Module
from mt_tensor.extending import Array
from play.background import Progress
from play.inputs import InputError

WORDS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
SENTENCES = 1500
HELD_OUT = 300
EPOCHS, BATCH, RATE = 8, 50, 0.005
UNKNOWN_SHARE = 0.1
"""The fraction of words masked in training, so that unknown words have little influence later."""

Labelled = list[tuple[str, int]]
"""Sentences with labels, 1 for praise and 0 for blame."""


@dataclass(frozen=True)
class Prediction:
    """The prediction for a sentence.

    Attributes:
        words: the words of the sentence.
        known: whether each is in the vocabulary.
        weights: the influence of each on the log-odds of praise; negative for blame.
        praise: the probability of praise.
    """

    words: list[str]
    known: list[bool]
    weights: list[float]
    praise: float


def sentences(count: int, seed: int) -> Labelled:
    """Return labelled sentences.

    A negation inverts the meaning, so that no word is decisive alone.
    """
    chosen = random.Random(seed)

    def sentence() -> tuple[str, int]:
        praise = chosen.random() < 0.5
        denied = chosen.random() < 0.35
        words = WORDS["good" if praise != denied else "bad"]
        parts = [chosen.choice(WORDS[kind]) for kind in ("subject", "verb", "denial", "stronger")]
        if not denied:
            parts[2] = ""
        parts.append(chosen.choice(words))
        if chosen.random() < 0.3:
            parts += ["and", chosen.choice(words)]
        return " ".join(filter(None, parts)), int(praise)

    return [sentence() for _ in range(count)]


@cache
def divided() -> tuple[Labelled, Labelled]:
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
    order = np.random.default_rng(0)
    network = TextCNN(len(vocabulary()), 16, 2, 16, (1, 2, 3), 0.2)
    optimizer = Adam(network.parameters(), lr=RATE)
    (numbers, labels), held_out = map(_encoded, divided())
    (unknown,) = vocabulary().encode([UNKNOWN])
    losses, right = list[float](), None
    for _ in range(EPOCHS):
        for batch in np.array_split(order.permutation(len(labels)), len(labels) // BATCH):
            words = numbers[batch]
            words[(words > 0) & (order.random(words.shape) < UNKNOWN_SHARE)] = unknown
            loss = cross_entropy(network(mt.tensor(words)), mt.tensor(labels[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            report(Progress(losses, right, copy.deepcopy(network)))
        right = _accuracy(network, *held_out)
    report(Progress(losses, right, network))


def _encoded(labelled: Labelled) -> tuple[Array, Array]:
    """Return sentences as rows of token numbers, padded to the longest, and their labels."""
    rows = [vocabulary().encode(text.split()) for text, _ in labelled]
    numbers = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, words in zip(numbers, rows, strict=True):
        row[: len(words)] = words
    return numbers, np.array([label for _, label in labelled])


def _accuracy(network: Module, numbers: Array, labels: Array) -> float:
    network.eval()
    with mt.no_grad():
        predicted = network(mt.tensor(numbers)).argmax(1).numpy()
    network.train()
    return float((predicted == labels).mean())


def classify(network: Module, known: Vocabulary, text: str) -> Prediction:
    """Return the prediction for a sentence, and the influence of each word.

    Args:
        network: returns the scores of blame and praise.
        known: the vocabulary of the network.
        text: the sentence.

    Raises:
        InputError: the sentence has no words, too many, or only unknown ones.
    """
    words = tokenize(text)
    if not words:
        raise InputError("the sentence is empty: write some words.")
    if len(words) > LONGEST:
        raise InputError(f"a sentence may have at most {LONGEST} words, not {len(words)}.")
    if not any(word in known for word in words):
        raise InputError("the network knows none of these words: write others.")
    scores, weights = weigh(network, np.array(known.encode(words)))
    praise = float(scores.softmax(0)[1])
    return Prediction(words, [word in known for word in words], weights.tolist(), praise)


@mt.no_grad()
def weigh(network: Module, numbers: Array) -> tuple[mt.Tensor, Array]:
    """Return the scores of a sentence, and the weight of each word in the decision.

    Args:
        network: a classifier of two classes whose scores do not depend on padding.
        numbers: the numbers of the words, shape (length,), without padding.

    Returns:
        The scores, shape (2,); and for each word the decrease of the log odds of the second class
        when that word is removed, shape (length,).
    """
    length = len(numbers)
    padded = np.append(numbers, 0)
    variants = np.tile(padded, (length + 1, 1))
    for removed in range(length):
        variants[removed + 1, removed:-1] = padded[removed + 1 :]
    with evaluation(network):
        scores: mt.Tensor = network(mt.tensor(variants))
    log_odds = (scores[:, 1] - scores[:, 0]).numpy()
    return scores[0], log_odds[0] - log_odds[1:]
