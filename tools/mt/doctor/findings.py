"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["fine", "note", "fault"]
"""Whether all is well; something is missing that not everybody needs; or something is wrong."""


@dataclass(frozen=True)
class Finding:
    """What is known of one thing.

    Attributes:
        subject: what was looked at.
        state: how it is.
        text: what was found.
        cure: what to do; empty if there is nothing to be done.
    """

    subject: str
    state: State
    text: str
    cure: str = ""


def fine(subject: str, text: str) -> Finding:
    """Return that all is well."""
    return Finding(subject, "fine", text)


def note(subject: str, text: str, cure: str) -> Finding:
    """Return that something is missing, or not as fast as it could be."""
    return Finding(subject, "note", text, cure)


def fault(subject: str, text: str, cure: str) -> Finding:
    """Return that something is wrong."""
    return Finding(subject, "fault", text, cure)
