"""The errors of stage 3."""

from __future__ import annotations

from mt_operators import LiftingError


class TracingError(LiftingError):
    """A formula cannot be written as straight-line code, for example because it branches."""
