"""The errors of stage 1."""

from __future__ import annotations


class AutodiffError(RuntimeError):
    """Base class of errors of differentiation."""


class NoGradientError(AutodiffError):
    """A value does not depend on an input, or its computation was not recorded."""


class GraphFreedError(AutodiffError):
    """A graph was differentiated again after its saved values had been freed."""


class CyclicGraphError(AutodiffError):
    """A variable depends on itself."""


class GradientError(AutodiffError):
    """A gradient is invalid: a backward does not match its function, or an input has changed."""


class ForwardError(AutodiffError, TypeError):
    """A forward function returned something other than a number."""


class IntegerOperatorError(AutodiffError, TypeError):
    """An integer operator was applied to Scalars, which hold floats."""


class GraphTooLargeError(AutodiffError, ValueError):
    """A graph has too many variables for a drawing."""
