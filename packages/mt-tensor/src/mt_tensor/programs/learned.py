"""What calls of a function have taught about places: what is another number, or another tensor."""

from __future__ import annotations

VARYING = "varying"
"""Of a number: that it is another one at each call, and an input of programs."""

PLAINLY = "plain"
"""Of a number: that somebody must know which one it is; it is written down for each."""

MOVING = "moving"
"""Of a place: that other tensors lie there at each call."""

Learned = dict[object, str]
"""What has been learned, by `Place.id`, or by ("argument", number)."""
