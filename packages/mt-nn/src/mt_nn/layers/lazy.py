"""Layers that learn from their first input how many features or channels it has.

Until then they have all other settings, and parameters without elements, which optimizers may know
already; with the first call a layer becomes one of the usual kind. So do its parameters, which stay
the same objects, if a state dictionary is loaded before.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping
from typing import Any, ClassVar

from mt_nn.core.convolution import Conv2d
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import InputError
from mt_nn.layers import convolution, normalization
from mt_operators import Buffer
from mt_tensor import Generator, Tensor, tensor
from mt_tensor.extending import require_tensors, use_generator

_becoming = threading.RLock()
"""Held while a layer becomes the usual one: threads that share it find the same parameters."""


class UninitializedParameter(Parameter):
    """A parameter without elements, which gets its shape and first values later."""

    def __init__(self, requires_grad: bool = True) -> None:
        super().__init__(tensor([]), requires_grad)

    def materialize(self, values: Tensor) -> None:
        """Become a usual parameter of the shape and values of a tensor."""
        needed = self.requires_grad
        self._become(values.detach().to(self.dtype, backend=self.backend))
        self.__class__ = Parameter  # type: ignore[assignment]
        self.requires_grad_(needed)

    def fitting(self, saved: Any) -> Tensor:
        """Return a saved value as a tensor: any shape fits."""
        return saved.detach().clone() if isinstance(saved, Tensor) else tensor(saved)

    def load(self, fitting: Any) -> None:
        """Become a usual parameter of a saved value."""
        self.materialize(fitting)

    def __repr__(self) -> str:
        """Say what it is."""
        return "<UninitializedParameter>"


class UninitializedBuffer(Buffer):
    """A buffer without elements, which gets its shape later."""

    def __init__(self, persistent: bool = True) -> None:
        super().__init__(tensor([]), persistent)

    def fitting(self, saved: Any) -> Any:
        """Return a saved value as a tensor: any shape fits."""
        return saved.detach().clone() if isinstance(saved, Tensor) else tensor(saved)

    def load(self, fitting: Any) -> None:
        """Become a usual buffer of a saved value."""
        self.__class__ = Buffer  # type: ignore[assignment]
        self.update(fitting.to(self.value.dtype, backend=self.value.backend))


class _Lazy(Module):
    """What lazy layers share: how they become the layers that they stand for.

    Their settings are those of these layers, without the number of features or channels.
    """

    stands_for: ClassVar[type[Module]]
    size: ClassVar[str]
    """The name of the setting that is found out."""
    dim: ClassVar[int]
    """The dimension of an input whose size it is."""
    dims: ClassVar[tuple[int, ...]] = ()
    """How many dimensions inputs may have; any number if empty."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Settings that have another default than those of the layer that it stands for."""

    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        """Take over the settings of the layer that a class stands for."""
        settings = inspect.signature(cls.stands_for).parameters.values()
        cls.__signature__ = inspect.Signature(
            [
                one.replace(default=cls.defaults.get(one.name, one.default))
                for one in settings
                if one.name != cls.size
            ]
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._settings = {**self.defaults, **self.__signature__.bind(*args, **kwargs).arguments}
        with use_generator(Generator()):
            usual = self._usual(self._settings.get("groups", 1))  # for its names and settings alone
        for name, value in vars(usual).items():
            if name not in vars(self):
                setattr(self, name, value)
        setattr(self, self.size, 0)
        for name in usual._parameters:
            self._parameters[name] = UninitializedParameter()
        for name, buffer in usual._buffers.items():
            is_known = buffer.value is None or buffer.value.ndim == 0
            self._buffers[name] = buffer if is_known else UninitializedBuffer(buffer.persistent)

    def _usual(self, size: int) -> Module:
        """Return a layer of the usual kind, for inputs of a size."""
        return self.stands_for(**{self.size: size}, **self._settings)

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or a buffer has no shape yet."""
        held = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(one, UninitializedParameter | UninitializedBuffer) for one in held)

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers the shapes and first values that an input asks for.

        Those that have been loaded stay as they are.

        Raises:
            TypeError: the input is no tensor.
            InputError: it has another number of dimensions.
        """
        require_tensors(type(self).__name__, input)
        if input.ndim == 0 or (self.dims and input.ndim not in self.dims):
            raise InputError(
                f"{type(self).__name__} takes inputs of {_named(self.dims)} dimensions; shape "
                f"{input.shape} was given."
            )
        usual = self._usual(input.shape[self.dim])
        for name, parameter in usual._parameters.items():
            held = self._parameters[name]
            if isinstance(held, UninitializedParameter):
                held.materialize(parameter.value)
        for name, buffer in usual._buffers.items():
            kept = self._buffers[name]
            if isinstance(kept, UninitializedBuffer):
                kept.load(buffer.value)
        setattr(self, self.size, input.shape[self.dim])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Become a layer of the usual kind, and run it."""
        input: Any = args[0] if args else next(iter(kwargs.values()), None)
        with _becoming:
            if isinstance(self, _Lazy):  # and not what another thread has made of it
                self.initialize_parameters(input)
                del self._settings
                self.__class__ = self.stands_for  # type: ignore[assignment]
        return self(*args, **kwargs)


def _named(dims: tuple[int, ...]) -> str:
    return " or ".join(map(str, dims)) or "1 or more"


class LazyLinear(_Lazy):
    """A `Linear` that learns `in_features` from its first input."""

    stands_for, size, dim = Linear, "in_features", -1


class LazyConv1d(_Lazy):
    """A `Conv1d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = convolution.Conv1d, "in_channels", -2, (2, 3)


class LazyConv2d(_Lazy):
    """A `Conv2d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = Conv2d, "in_channels", -3, (3, 4)


class LazyConv3d(_Lazy):
    """A `Conv3d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = convolution.Conv3d, "in_channels", -4, (4, 5)


class LazyConvTranspose1d(_Lazy):
    """A `ConvTranspose1d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = convolution.ConvTranspose1d, "in_channels", -2, (2, 3)


class LazyConvTranspose2d(_Lazy):
    """A `ConvTranspose2d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = convolution.ConvTranspose2d, "in_channels", -3, (3, 4)


class LazyConvTranspose3d(_Lazy):
    """A `ConvTranspose3d` that learns `in_channels` from its first input."""

    stands_for, size, dim, dims = convolution.ConvTranspose3d, "in_channels", -4, (4, 5)


class LazyBatchNorm1d(_Lazy):
    """A `BatchNorm1d` that learns `num_features` from its first input."""

    stands_for, size, dim, dims = normalization.BatchNorm1d, "num_features", 1, (2, 3)


class LazyBatchNorm2d(_Lazy):
    """A `BatchNorm2d` that learns `num_features` from its first input."""

    stands_for, size, dim, dims = normalization.BatchNorm2d, "num_features", 1, (4,)


class LazyBatchNorm3d(_Lazy):
    """A `BatchNorm3d` that learns `num_features` from its first input."""

    stands_for, size, dim, dims = normalization.BatchNorm3d, "num_features", 1, (5,)


_LEARNED = {"affine": True, "track_running_stats": True}
"""What lazy layers of instance normalization do by default, unlike the usual ones: torch's."""


class LazyInstanceNorm1d(_Lazy):
    """An `InstanceNorm1d` that learns `num_features` from its first input.

    Unlike that it has a weight, a bias and running statistics by default, as in torch.
    """

    defaults = _LEARNED
    stands_for, size, dim, dims = normalization.InstanceNorm1d, "num_features", -2, (2, 3)


class LazyInstanceNorm2d(_Lazy):
    """An `InstanceNorm2d` that learns `num_features` from its first input.

    Unlike that it has a weight, a bias and running statistics by default, as in torch.
    """

    defaults = _LEARNED
    stands_for, size, dim, dims = normalization.InstanceNorm2d, "num_features", -3, (3, 4)


class LazyInstanceNorm3d(_Lazy):
    """An `InstanceNorm3d` that learns `num_features` from its first input.

    Unlike that it has a weight, a bias and running statistics by default, as in torch.
    """

    defaults = _LEARNED
    stands_for, size, dim, dims = normalization.InstanceNorm3d, "num_features", -4, (4, 5)
