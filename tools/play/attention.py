"""A small transformer that learns to rewrite words, with the attention weights of its heads.

The correct letter depends on letters elsewhere in the word: without attention, only letter
frequencies could be learned.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import mt_nn as nn
import mt_tensor as mt
from mt_nn.functional import cross_entropy
from mt_nn.optim import Adam
from mt_tensor import Tensor
from mt_tensor.extending import Array, use_generator
from play.background import Progress
from play.inputs import InputError

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST, LONGEST = 2, 12
"""The limits of the length of a word."""
WIDTH, LAYERS, HEADS = 32, 2, 4
STEPS, BATCH, RATE = 400, 48, 0.01
"""With these settings, each task is learned in a few seconds."""


TASKS: dict[str, Callable[[Array], Array]] = {
    "reverse it": lambda words: words[:, ::-1],
    "move each letter on": lambda words: np.roll(words, 1, axis=1),
    "sort its letters": lambda words: np.sort(words, axis=1),
}
"""What to learn: functions of words, shape (words, letters)."""


class Block(nn.Module):
    """A transformer layer: attention, then two linear layers, each with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.rest = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the result, of the shape of `x`, and the attention weights.

        The weights have shape (words, heads, query letters, key letters).
        """
        attended = self.before(x)
        result, weights = self.attention(attended, attended, attended, average_attn_weights=False)
        x = x + result
        return x + self.rest(x), weights


class Rewriter(nn.Module):
    """A transformer that predicts a letter for each position of a word."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), WIDTH)
        self.from_start = nn.Embedding(LONGEST, WIDTH)
        self.from_end = nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.result = nn.Linear(WIDTH, len(LETTERS))

    def forward(self, words: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the scores of letters, shape (words, letters, 26), and each layer's weights."""
        places = mt.arange(words.shape[1])
        x = self.letters(words) + self.from_start(places) + self.from_end(places.flip(0))
        weights = []
        for block in self.blocks:
            x, attended = block(x)
            weights.append(attended)
        return self.result(x), weights


@cache
def untrained() -> Rewriter:
    """Return an untrained transformer, always the same one."""
    with use_generator(mt.Generator()):
        mt.manual_seed(0)
        return Rewriter()


def learn(task: str, report: Callable[[Progress], None]) -> None:
    """Train a transformer on words of random letters, and report after each step."""
    mt.manual_seed(0)
    random = np.random.default_rng(0)
    network, losses = Rewriter(), list[float]()
    optimizer = Adam(network.parameters(), lr=RATE)
    for _ in range(STEPS):
        words = random.integers(0, len(LETTERS), (BATCH, random.integers(SHORTEST, LONGEST + 1)))
        expected = np.ascontiguousarray(TASKS[task](words))
        scores, _ = network(mt.tensor(words))
        loss = cross_entropy(scores.reshape(-1, len(LETTERS)), mt.tensor(expected).reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        right = float((scores.argmax(-1).numpy() == expected).mean())
        report(Progress(losses, right, copy.deepcopy(network)))


def read_word(text: str) -> Array:
    """Return the numbers of the letters of a word that a user typed.

    Raises:
        InputError: the text is not a valid word.
    """
    word = text.strip().lower()
    if not SHORTEST <= len(word) <= LONGEST:
        raise InputError(
            f"a word must have {SHORTEST} to {LONGEST} letters; this one has {len(word)}."
        )
    strange = sorted(set(word) - set(LETTERS))
    if strange:
        raise InputError(f"a word may only have letters from a to z; found {strange[0]!r}.")
    return np.array([LETTERS.index(each) for each in word])


def as_letters(numbers: Array) -> str:
    """Return the word with these letters."""
    return "".join(LETTERS[each] for each in numbers)


def rewrite(network: Any, word: Array) -> tuple[str, Array]:
    """Return the result of a transformer for a word, and its attention weights.

    Returns:
        The word, and float64 of shape (layers, heads, query letters, key letters), whose rows sum
        to 1.
    """
    with mt.no_grad():
        scores, weights = network(mt.tensor(word[None]))
        result = as_letters(scores[0].argmax(-1).numpy())
        return result, np.stack([np.array(each, np.float64)[0] for each in weights])
