"""The results of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["fine", "note", "fault"]
"""Everything is fine; something optional is missing; or something is wrong."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one subject.

    Attributes:
        subject: what was checked, such as a package.
        state: whether there is a problem.
        text: the finding.
        fix: how to fix it; empty if nothing needs to be done.
    """

    subject: str
    state: State
    text: str
    fix: str = ""


def fine(subject: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(subject, "fine", text)


def note(subject: str, text: str, fix: str) -> Finding:
    """Return a finding on something optional that is missing or slow."""
    return Finding(subject, "note", text, fix)


def fault(subject: str, text: str, fix: str) -> Finding:
    """Return a finding on something that is wrong."""
    return Finding(subject, "fault", text, fix)
