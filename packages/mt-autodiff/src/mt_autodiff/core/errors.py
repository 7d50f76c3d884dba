"""The errors of this stage, nearly all of differentiation.

Here the lesson begins: what can go wrong once values remember how they were computed.
"""

from __future__ import annotations


class AutodiffError(RuntimeError):
    """Base of the errors raised while differentiating."""


class NoGradientError(AutodiffError):
    """A derivative was asked of something that no computation was recorded for."""


class GraphFreedError(AutodiffError):
    """A graph was differentiated again after its saved values had been freed."""


class CyclicGraphError(AutodiffError):
    """A variable depends on itself, so that no order of differentiation exists."""


class GradientError(AutodiffError):
    """A backward function returned gradients that do not fit its inputs."""


class ForwardError(AutodiffError, TypeError):
    """A forward function returned something that is not a number."""


class WholeNumberError(AutodiffError, TypeError):
    """An operator of whole numbers was given Scalars, which hold floats."""


class GraphTooLargeError(AutodiffError, ValueError):
    """A graph has more variables than were asked to be drawn."""
