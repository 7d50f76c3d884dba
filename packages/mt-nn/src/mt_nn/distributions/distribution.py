"""The base class of distributions: argument checks, broadcasting and shapes.

A distribution is a class with constraints on its parameters and a table of formulas. The base class
turns parameters into tensors, checks and broadcasts them, and calls the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

import mt_tensor as mt
from mt_nn.distributions.constraints import Constraint
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import check_flags
from mt_tensor import Tensor, no_grad
from mt_tensor.backends.extending import no_warnings
from mt_tensor.extending import Array, Shape, as_shape, drawing, require_tensors, shape_broadcast


class Distribution:
    """Base class of batches of independent distributions.

    Attributes:
        batch_shape: the shape of the batch.
        event_shape: the shape of one sample of one distribution, () for a number.
        has_rsample: whether samples can be differentiated with respect to the parameters.
        arg_constraints: the constraints on the parameters.
        formulas: the supported quantities, by name. The distribution is the first argument of each;
            `sample` also takes the shape of the result, and `log_prob`, `cdf` and `icdf` values.
    """

    batch_shape: Shape
    event_shape: Shape
    has_rsample = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    formulas: ClassVar[dict[str, Callable[..., Tensor]]] = {}
    _validates = True

    def __init__(self, validate_args: bool | None = None, **parameters: Any) -> None:
        """Check and broadcast parameters, and store them as attributes.

        Args:
            validate_args: whether to check parameters and values; None for the default.
            **parameters: tensors or numbers, by their names in `arg_constraints`.

        Raises:
            InputError: a parameter is not floating-point, or violates its constraint.
        """
        if validate_args is not None:
            check_flags(validate_args=validate_args)
            self._validates = validate_args
        tensors = [each for each in parameters.values() if isinstance(each, Tensor)]
        batches: list[Shape] = []
        sizes: set[int] = set()
        for name, value in parameters.items():
            constraint = self.arg_constraints[name]
            given = parameters[name] = _floating(name, value, tensors)
            batch = given.ndim - constraint.event_dim
            if batch < 0 or 0 in given.shape[batch:]:
                self._refuse(constraint, f"in the last dimension of {name}", given.shape)
            self._check(constraint, name, given)
            batches.append(given.shape[:batch])
            sizes |= set(given.shape[batch:])
        if len(sizes) > 1:
            shapes = ", ".join(f"{name} {each.shape}" for name, each in parameters.items())
            raise InputError(
                f"the parameters of {type(self).__name__} must have equal event sizes; {shapes} "
                "were given."
            )
        self._sizes, self.batch_shape = tuple(sizes), reduce(shape_broadcast, batches)
        for (name, given), leading in zip(parameters.items(), batches, strict=True):
            shape = self.batch_shape + given.shape[len(leading) :]
            vars(self)[name] = given if given.shape == shape else given.expand(shape)
        self.event_shape = self._sizes * self.support.event_dim

    def __repr__(self) -> str:
        """Return the class and the parameters: a single number by its value, others by shape."""
        given = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = (f"{name}: {x if x.numel() == 1 else x.shape}" for name, x in given.items())
        return f"{type(self).__name__}({', '.join(shown)})"

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether new distributions check parameters and values by default.

        A check copies the elements to the host, and so waits for their device.
        """
        check_flags(value=value)
        Distribution._validates = value

    @property
    def support(self) -> Constraint:
        """The constraint on values."""
        raise NotImplementedError

    def expand(self, batch_shape: Sequence[int]) -> Self:
        """Return the distribution with a larger batch, whose parameters are views.

        Raises:
            ShapeError: the batch cannot be expanded to the shape.
        """
        new = copy(self)
        new.batch_shape = as_shape((tuple(batch_shape),))
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                rest = value.shape[len(self.batch_shape) :]
                setattr(new, name, value.expand(new.batch_shape + rest))
        return new

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of each distribution, without a graph.

        Args:
            sample_shape: the number of samples of each, as a shape.

        Returns:
            Shape (*sample_shape, *batch_shape, *event_shape).

        Raises:
            ShapeError: `sample_shape` is not a shape.
        """
        with no_grad():
            return self._drawn(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples as a differentiable function of the parameters.

        Raises:
            SettingError: samples of the distribution have no derivative.
            ShapeError: `sample_shape` is not a shape.
        """
        if not self.has_rsample:
            raise SettingError(
                f"samples of {type(self).__name__} have no derivative: use sample(), and "
                "log_prob() of the samples."
            )
        return self._drawn(sample_shape)

    def _drawn(self, sample_shape: Sequence[int]) -> Tensor:
        """Draw samples, by inverting the distribution function if there is no other formula."""
        shape = as_shape((tuple(sample_shape),)) + self.batch_shape + self.event_shape
        if "sample" in self.formulas:
            return self.formulas["sample"](self, shape)
        return self.icdf(uniform(getattr(self, next(iter(self.arg_constraints))), shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-probability, or the log-density, of values.

        Args:
            value: a tensor that can be broadcast with (*batch_shape, *event_shape).

        Returns:
            The broadcast shape without the dimensions of the event.

        Raises:
            InputError: a value is outside of the support.
        """
        return self._at("log_prob", value)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the cumulative distribution function: the probability of a sample <= each value.

        Raises:
            InputError: a value is outside of the support.
            SettingError: there is no formula.
        """
        return self._at("cdf", value)

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantiles of the given probabilities, the inverse of `cdf`.

        Raises:
            SettingError: there is no formula.
        """
        require_tensors("icdf", value)
        return self._formula("icdf")(self, value)

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats.

        Raises:
            SettingError: there is no formula.
        """
        return self._formula("entropy")(self)

    @property
    def mean(self) -> Tensor:
        """The mean of each distribution; nan if there is none."""
        return self._formula("mean")(self)

    @property
    def mode(self) -> Tensor:
        """The most probable value of each distribution; nan if there are several."""
        return self._formula("mode")(self)

    @property
    def variance(self) -> Tensor:
        """The variance of each distribution; inf or nan if there is none."""
        return self._formula("variance")(self)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each distribution; inf or nan if there is none."""
        return self.formulas["stddev"](self) if "stddev" in self.formulas else self.variance.sqrt()

    def _formula(self, name: str) -> Callable[..., Tensor]:
        if name not in self.formulas:
            raise SettingError(f"{type(self).__name__} has no formula for {name}.")
        return self.formulas[name]

    def _at(self, name: str, value: Tensor) -> Tensor:
        """Check values, and apply a formula to them."""
        require_tensors(name, value)
        formula = self._formula(name)
        self._check(self.support, f"value of {name}()", value)
        return formula(self, value)

    def _check(self, constraint: Constraint, name: str, given: Tensor) -> None:
        """Raise InputError unless a tensor satisfies a constraint, if validation is enabled."""
        if self._validates:
            satisfied = no_warnings().run(constraint.check, given._numbers())
            if not satisfied.all():
                self._refuse(constraint, f"as {name}", given)

    def _refuse(self, constraint: Constraint, where: str, given: object) -> None:
        kind, expected = type(self).__name__, constraint.description
        raise InputError(f"{kind} takes {expected} {where}; {given} was given.")


def _floating(name: str, value: Any, like: Sequence[Tensor]) -> Any:
    """Return a parameter as a floating-point tensor, numbers with the dtype of a tensor in `like`.

    Raises:
        InputError: it is a tensor that is not floating-point.
    """
    if not isinstance(value, Tensor):
        number = float(value)
        value = like[0].new_full((), number) if like else mt.full((), number)
    if not value.dtype.is_floating_point:
        raise InputError(f"{name} must be floating-point; {value.dtype.name} was given.")
    return value


# --- Formulas -------------------------------------------------------------------------------------


def constant(value: float) -> Callable[[Any], Tensor]:
    """Return the formula of a mean, mode or variance that is the same for all parameters."""
    return lambda d: mt.full_like(getattr(d, next(iter(d.arg_constraints))), value)


def clamped(probs: Tensor) -> Tensor:
    """Clamp probabilities between 0 and 1, exclusively, so that their logarithms are finite."""
    eps = mt.finfo(probs.dtype).eps
    return probs.clamp(eps, 1.0 - eps)


def inside(x: Tensor) -> Tensor:
    """Clamp values between 0 and 1, exclusively, so that their densities are finite."""
    limits = mt.finfo(x.dtype)
    return x.clamp(limits.tiny, 1.0 - limits.eps)


def uniform(like: Tensor, shape: Shape) -> Tensor:
    """Return uniform numbers between 0 and 1, exclusively, with the dtype and backend of `like`."""
    spacing = mt.finfo(like.dtype).eps / 2  # of uniform random numbers
    return mt.rand_like(like.detach().expand(shape)).clamp_min(spacing / 2)


def drawn_on_host(
    draw: Callable[[np.random.Generator, Array], Array], parameter: Tensor, shape: Shape
) -> Tensor:
    """Draw with NumPy in float64, for distributions that use a varying number of random bits.

    Args:
        draw: takes NumPy's generator and the parameter, and returns samples.
        parameter: the parameter.
        shape: the shape of the samples, to which the parameter is expanded.
    """
    values = np.broadcast_to(np.asarray(parameter.detach()._numbers(), np.float64), shape)
    with drawing(None) as numbers:
        return parameter._uploaded(np.asarray(draw(numbers, values)), parameter.dtype)


HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
