"""Find a concept by name, or by the words of a question.

A name is matched regardless of case, underscores and dashes. Any other query is compared word by
word with the names and questions of concepts and of comparisons of stages. Words are weighted by
inverse frequency, so that `depth` weighs more than `tensor`; stop words are ignored.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable

from mt.concept.maps import Concept, spoken
from mt.concept.order import Addition, Order
from mt.errors import ToolError

Answer = Concept | Addition

ENOUGH = 0.6
"""The fraction of the query's weight that a concept must match to be an answer."""

STOP_WORDS = """
a an and are as at be by can do does for from how i in is it its many my not of on one or order s so
that the then there this to two was what when where which who why will with
"""
"""Words that are ignored in queries."""

ENDINGS = ("ing", "ed", "es", "s", "e")
"""Suffixes that are removed from words, so that `fails` finds `fail`."""


class ConceptError(ToolError):
    """There is no such concept."""


def found(order: Order, asked: str) -> Answer:
    """Return the concept with a name, or the best match for a question.

    Args:
        order: all concepts and comparisons.
        asked: a name, or some words.

    Raises:
        ConceptError: nothing matches; the message suggests similar names.
    """
    concepts = order.concepts
    by_name = {each: concept for concept in concepts.values() for each in concept.also}
    by_name |= concepts
    wanted = spoken(asked)
    if wanted in by_name:
        return by_name[wanted]
    ranked = _ranked([*concepts.values(), *order.additions], asked)
    if ranked and ranked[0][0] >= ENOUGH:
        return ranked[0][1]
    near = difflib.get_close_matches(wanted, by_name, 3, 0.5)
    if not near:
        near = [each.name for _, each in ranked[:3] if isinstance(each, Concept)]
    hint = f"Is it {' or '.join(near)}? " if near else ""
    raise ConceptError(f"no concept is called {asked!r}. {hint}`mt concept` lists all.")


def _ranked(answers: Iterable[Answer], asked: str) -> list[tuple[float, Answer]]:
    """Return the matches for a query, best first, each with the fraction of weight it matches.

    Ties are broken by the similarity of the query to a name or question.
    """
    known = [(answer, _words(" ".join(_texts(answer)))) for answer in answers]
    owners = Counter(word for _, words in known for word in words)
    weights = {word: math.log(1 + len(known) / max(1, owners[word])) for word in _words(asked)}
    ranked = []
    for answer, words in known:
        share = sum(weights[word] for word in weights if word in words)
        if share:
            likeness = max(_likeness(text, asked) for text in _texts(answer))
            ranked.append((share / sum(weights.values()), likeness, answer))
    ranked.sort(key=lambda each: each[:2], reverse=True)
    return [(share, answer) for share, _, answer in ranked]


def _texts(answer: Answer) -> list[str]:
    """Return the names and sentences to search."""
    if isinstance(answer, Addition):
        return list(answer.asks)
    return [answer.name, *answer.also, *answer.asks, answer.text]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()


def _words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, except for stop words."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(_stem(word) for word in words if word not in STOP_WORDS.split())


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
