"""Finding what somebody asks for: by a name, or by the words of a question.

A name, in any spelling, leads to its concept at once. Anything else is compared word by word with
the names and questions of concepts and of comparisons of stages. A word counts by how few of these
have it, so that `depth` says much and `tensor` little; those of grammar count nothing.
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
"""What share of what the asked words say must be found, for a concept to be an answer."""

GRAMMAR = """
a an and are as at be by can do does for from how i in is it its many my not of on one or order s so
that the then there this to two was what when where which who why will with
"""
"""Words that say nothing of what is asked for."""

ENDINGS = ("ing", "ed", "es", "s", "e")
"""Endings of words that are taken off, so that `fails` finds `fail`."""


class ConceptError(ToolError):
    """There is no such concept."""


def found(order: Order, asked: str) -> Answer:
    """Return what answers a question, or has a name in any spelling.

    Args:
        order: all that there is.
        asked: a name, or some words.

    Raises:
        ConceptError: nothing does; names the nearest.
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
    """Return answers that share words with what is asked, and what share of it they have.

    Of several that share as much, the one comes first of which a name or question reads likest.
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
    """Return names and sentences by which an answer can be found."""
    if isinstance(answer, Addition):
        return list(answer.asks)
    return [answer.name, *answer.also, *answer.asks, answer.text]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()


def _words(text: str) -> frozenset[str]:
    """Return the words of a text that say something, without their endings."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(_stem(word) for word in words if word not in GRAMMAR.split())


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
