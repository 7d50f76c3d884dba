"""How far to go along a direction: a step that meets the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from mt_tensor import Tensor

DECREASE = 1e-4
"""What share of the decrease that the first slope promises a step must bring."""

CURVATURE = 0.9
"""To what share of the first slope that at the end must have become."""


class Place(NamedTuple):
    """What is known of a place on the line.

    Attributes:
        length: how far along the direction it is.
        loss: the loss there.
        grad: the gradient there.
        slope: the derivative of the loss along the direction.
    """

    length: float
    loss: float
    grad: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Place],
    start: Place,
    length: float,
    reach: float,
    tolerance: float,
    most: int,
) -> Place:
    """Return a place where the loss has fallen enough, and its slope is nearly flat.

    Nocedal and Wright 2006, algorithms 3.5 and 3.6: steps become longer until such places lie
    between two of them, and then the interval shrinks. Lengths come from cubic interpolation, with
    the bounds of Schmidt's minFunc.

    Args:
        evaluate: looks at the place at a length.
        start: the place at length 0.
        length: where to look first.
        reach: the largest element of the direction.
        tolerance: it ends when the interval is no longer than that, measured in parameters.
        most: how often to look, besides the first time.
    """

    def is_too_high(place: Place) -> bool:
        return place.loss > start.loss + DECREASE * place.length * start.slope

    def is_flat(place: Place) -> bool:
        return abs(place.slope) <= -CURVATURE * start.slope

    before, here = start, evaluate(length)
    looks = 0
    while looks < most:
        if is_too_high(here) or (looks > 1 and here.loss >= before.loss):
            break
        if is_flat(here):
            return here
        if here.slope >= 0:
            break
        nearest = here.length + 0.01 * (here.length - before.length)
        length = interpolated(before, here, nearest, 10 * here.length)
        before, here = here, evaluate(length)
        looks += 1
    else:
        before = start
    ends = [before, here]
    small_change = False
    while looks < most:
        low = _lower(ends)
        shortest, longest = sorted(place.length for place in ends)
        if (longest - shortest) * reach < tolerance:
            break
        length = interpolated(ends[0], ends[1], shortest, longest)
        margin = 0.1 * (longest - shortest)
        near_end = min(longest - length, length - shortest) < margin
        if near_end and (small_change or not shortest < length < longest):
            towards_longest = abs(length - longest) < abs(length - shortest)
            length = longest - margin if towards_longest else shortest + margin
            near_end = False
        small_change = near_end
        here = evaluate(length)
        looks += 1
        if is_too_high(here) or here.loss >= ends[low].loss:
            ends[1 - low] = here
            continue
        if is_flat(here):
            return here
        if here.slope * (ends[1 - low].length - ends[low].length) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = here
    return ends[_lower(ends)]


def _lower(ends: list[Place]) -> int:
    return 0 if ends[0].loss <= ends[1].loss else 1


def interpolated(a: Place, b: Place, low: float, high: float) -> float:
    """Return where the cubic through two places, with their slopes, has its minimum.

    That is equation 3.59 of Nocedal and Wright, kept between two bounds, and their middle if the
    cubic has no minimum.
    """
    first, second = sorted((a, b), key=lambda place: place.length)
    width = second.length - first.length
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / -width if width else 0.0
    square = d1 * d1 - first.slope * second.slope
    if not (width and square >= 0):
        return (low + high) / 2
    d2 = math.sqrt(square)
    rise, change = second.slope + d2 - d1, second.slope - first.slope + 2 * d2
    if not change:  # a line, which falls for ever
        return high if rise < 0 else low
    return min(max(second.length - width * rise / change, low), high)
