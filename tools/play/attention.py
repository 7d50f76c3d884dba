"""A small transformer that learns to rewrite words, and where each of its heads looks.

Which letter is right depends on letters elsewhere in the word: without attention nothing could be
learnt but how often letters are.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import mt_tensor as mt
from mt_nn import (
    Embedding,
    LayerNorm,
    Linear,
    Module,
    ModuleList,
    MultiheadAttention,
    ReLU,
    Sequential,
)
from mt_nn.functional import cross_entropy
from mt_nn.optim import Adam
from mt_tensor import Tensor
from mt_tensor.extending import Array, use_generator

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST, LONGEST = 2, 12
"""How many letters a word has."""
WIDTH, LAYERS, HEADS = 32, 2, 4
STEPS, BATCH, RATE = 400, 48, 0.01
"""With these each of the tasks is learnt in some seconds."""


class WordError(ValueError):
    """A text is no word that the network reads; says why, and what can be written instead."""


def reversed_(word: Array) -> Array:
    """Return words from behind, shape (words, letters)."""
    return word[:, ::-1]


def moved(word: Array) -> Array:
    """Return for each letter the one before it; before the first is the last."""
    return np.roll(word, 1, axis=1)


def sorted_(word: Array) -> Array:
    """Return the letters of words in the order of the alphabet."""
    return np.sort(word, axis=1)


TASKS: dict[str, Callable[[Array], Array]] = {
    "reverse it": reversed_,
    "move each letter on": moved,
    "sort its letters": sorted_,
}


class Block(Module):
    """One layer of a transformer: attention, then two linear layers, each added to what it had."""

    def __init__(self) -> None:
        super().__init__()
        self.before = LayerNorm(WIDTH)
        self.attention = MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.rest = Sequential(
            LayerNorm(WIDTH), Linear(WIDTH, 2 * WIDTH), ReLU(), Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the result, of the shape of `x`, and the weights of attention.

        These are of shape (words, heads, letters that look, letters looked at).
        """
        seen = self.before(x)
        result, weights = self.attention(seen, seen, seen, average_attn_weights=False)
        x = x + result
        return x + self.rest(x), weights


class Rewriter(Module):
    """A transformer that gives each place of a word a letter."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = Embedding(len(LETTERS), WIDTH)
        self.from_start = Embedding(LONGEST, WIDTH)
        self.from_end = Embedding(LONGEST, WIDTH)
        self.blocks = ModuleList([Block() for _ in range(LAYERS)])
        self.result = Linear(WIDTH, len(LETTERS))

    def forward(self, words: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the scores of letters, shape (words, letters, 26), and each layer's weights."""
        places = mt.arange(words.shape[1])
        x = self.letters(words) + self.from_start(places) + self.from_end(places.flip(0))
        weights = []
        for block in self.blocks:
            x, seen = block(x)
            weights.append(seen)
        return self.result(x), weights


@cache
def beginner() -> Rewriter:
    """Return a transformer that has learnt nothing, always the same one."""
    with use_generator(mt.Generator()):
        mt.manual_seed(0)
        return Rewriter()


@dataclass(frozen=True)
class Lesson:
    """How far a transformer has come.

    Attributes:
        losses: of every step; they grow while it learns.
        right: the share of letters that were right in the last step.
        network: as it was then.
    """

    losses: Sequence[float]
    right: float
    network: Rewriter


def learn(task: str, report: Callable[[Lesson], None]) -> None:
    """Let a transformer learn a task on words of random letters, and report after each step.

    Raises:
        ValueError: training diverged.
    """
    mt.manual_seed(0)
    random = np.random.default_rng(0)
    network, losses = Rewriter(), list[float]()
    optimizer = Adam(network.parameters(), lr=RATE)
    for _ in range(STEPS):
        words = random.integers(0, len(LETTERS), (BATCH, random.integers(SHORTEST, LONGEST + 1)))
        wanted = np.ascontiguousarray(TASKS[task](words))
        scores, _ = network(mt.tensor(words))
        loss = cross_entropy(scores.reshape(-1, len(LETTERS)), mt.tensor(wanted).reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise ValueError(f"training diverged: the loss is {losses[-1]}.")
        right = float((scores.argmax(-1).numpy() == wanted).mean())
        report(Lesson(losses, right, copy.deepcopy(network)))


def read_word(text: str) -> Array:
    """Return the numbers of the letters of a word that somebody typed.

    Raises:
        WordError: it is none.
    """
    word = text.strip().lower()
    if not SHORTEST <= len(word) <= LONGEST:
        raise WordError(
            f"a word has {SHORTEST} to {LONGEST} letters here; this one has {len(word)}."
        )
    strange = sorted(set(word) - set(LETTERS))
    if strange:
        raise WordError(f"a word has letters from a to z only; {strange[0]!r} is in this one.")
    return np.array([LETTERS.index(each) for each in word])


def spelt(numbers: Array) -> str:
    """Return the word of these letters."""
    return "".join(LETTERS[each] for each in numbers)


def rewrite(network: Rewriter, word: Array) -> tuple[str, Array]:
    """Return what a transformer makes of a word, and the weights of attention.

    Returns:
        The word, and float64 of shape (layers, heads, letters that look, letters looked at); what a
        letter gives to all of them together is 1.
    """
    with mt.no_grad():
        scores, weights = network(mt.tensor(word[None]))
        result = spelt(scores[0].argmax(-1).numpy())
        return result, np.stack([np.array(each, np.float64)[0] for each in weights])
