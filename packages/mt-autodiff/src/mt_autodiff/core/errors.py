"""The errors of stage 1."""

from __future__ import annotations


class AutodiffError(RuntimeError):
    """Base of the errors raised while differentiating."""


class NoGradientError(AutodiffError):
    """No computation was recorded for the value that should be differentiated."""


class GraphFreedError(AutodiffError):
    """A graph was differentiated again after its saved values had been freed."""


class CyclicGraphError(AutodiffError):
    """A variable depends on itself, so that no order of differentiation exists."""


class GradientError(AutodiffError):
    """A backward function returned gradients that do not fit its inputs."""


class ForwardError(AutodiffError, TypeError):
    """A forward function returned something other than a number."""


class WholeNumberError(AutodiffError, TypeError):
    """An operator of integers was applied to Scalars, which hold floats."""


class GraphTooLargeError(AutodiffError, ValueError):
    """A graph has more variables than the limit for a drawing."""
