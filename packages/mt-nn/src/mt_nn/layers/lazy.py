"""Lazy layers, which infer the number of features or channels from their first input.

Until then their parameters have no elements, but can be passed to optimizers. At the first call a
layer changes its class to the regular one, and initializes its parameters, which stay the same
objects. Loading a state dictionary initializes the parameters earlier.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mt_nn.core.convolution import Conv2d
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import InputError
from mt_nn.layers import convolution, normalization
from mt_operators import Buffer
from mt_tensor import Generator, Tensor, empty, tensor
from mt_tensor.extending import Device, require_tensors, use_generator

_class_lock = threading.RLock()
"""Held while a layer is initialized, so that threads that share it get the same parameters."""


class UninitializedParameter(Parameter):
    """A parameter without elements, whose shape and initial values are set later.

    Args:
        requires_grad: whether it is trained.
        device, dtype: those of the parameter.
    """

    def __init__(
        self, requires_grad: bool = True, device: Device = None, dtype: Any = None
    ) -> None:
        super().__init__(empty(0, device=device, dtype=dtype), requires_grad)

    def materialize(self, shape: Sequence[int], device: Device = None, dtype: Any = None) -> None:
        """Become a regular parameter of a shape, whose elements are unspecified.

        Args:
            shape: the shape.
            device: the device; the current one if None.
            dtype: the dtype; the current one if None.
        """
        requires_grad = self.requires_grad
        self._become(_empty_like(self, shape, device, dtype))
        self.__class__ = Parameter  # type: ignore[assignment]
        self.requires_grad_(requires_grad)

    def checked_copy(self, saved: Any) -> Tensor:
        """Return a saved value of any shape as a tensor."""
        return saved if isinstance(saved, Tensor) else tensor(saved)

    def load(self, value: Any) -> None:
        """Become a regular parameter with a saved value."""
        self.materialize(value.shape)
        self.update(value)

    def __repr__(self) -> str:
        """Return a fixed text, since there are no elements."""
        return "<UninitializedParameter>"


class UninitializedBuffer(Buffer):
    """A buffer without elements, whose shape is set later.

    Args:
        persistent: whether the state dictionary contains it.
        device, dtype: those of the buffer.
    """

    def __init__(self, persistent: bool = True, device: Device = None, dtype: Any = None) -> None:
        super().__init__(empty(0, device=device, dtype=dtype), persistent)

    def materialize(self, shape: Sequence[int], device: Device = None, dtype: Any = None) -> None:
        """Become a regular buffer; see `UninitializedParameter.materialize`."""
        self.__class__ = Buffer  # type: ignore[assignment]
        self.update(_empty_like(self.value, shape, device, dtype))

    def checked_copy(self, saved: Any) -> Any:
        """Return a saved value of any shape as a tensor."""
        return saved.detach().clone() if isinstance(saved, Tensor) else tensor(saved)

    def load(self, value: Any) -> None:
        """Become a regular buffer with a saved value."""
        self.__class__ = Buffer  # type: ignore[assignment]
        self.update(value.to(self.value.dtype, backend=self.value.backend))


def _empty_like(x: Tensor, shape: Sequence[int], device: Device, dtype: Any) -> Tensor:
    """Return an uninitialized tensor, by default on the device and with the dtype of `x`."""
    return empty(
        tuple(shape),
        device=x.device if device is None else device,
        dtype=x.dtype if dtype is None else dtype,
    )


class _Lazy(Module):
    """Base class of lazy layers.

    The settings are those of the regular class, without the number of features or channels.
    """

    regular: ClassVar[type[Module]]
    """The class that the layer becomes."""
    size: ClassVar[str]
    """The name of the inferred setting, the first of the regular class."""
    dims: ClassVar[tuple[int, ...]]
    """The numbers of dimensions that inputs may have; any number if empty."""
    dim: ClassVar[int]
    """The dimension of the input with the inferred size."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Defaults of settings, if they differ from those of the regular class."""

    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(
        cls,
        regular: type[Module] | None = None,
        dims: tuple[int, ...] = (),
        dim: int | None = None,
    ) -> None:
        """Set the signature to that of the regular class, without the inferred setting.

        Without `dim`, the size is that of the first dimension of inputs without a batch.
        """
        if regular is None:  # a subclass of a lazy layer
            return
        size, *settings = inspect.signature(regular).parameters.values()
        cls.regular, cls.size, cls.dims = regular, size.name, dims
        cls.dim = -min(dims, default=1) if dim is None else dim
        cls.__signature__ = inspect.Signature(
            [one.replace(default=cls.defaults.get(one.name, one.default)) for one in settings]
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._settings = {**self.defaults, **self.__signature__.bind(*args, **kwargs).arguments}
        with use_generator(Generator()):
            layer = self._regular_layer(self._settings.get("groups", 1))  # for names and settings
        for name, value in vars(layer).items():
            if name not in vars(self):
                setattr(self, name, value)
        setattr(self, self.size, 0)
        for name, parameter in layer._parameters.items():
            like: Any = {"device": parameter.value.device, "dtype": parameter.value.dtype}
            self._parameters[name] = UninitializedParameter(**like)
        for name, buffer in layer._buffers.items():
            self._buffers[name] = buffer
            if buffer.value is not None and buffer.value.ndim:
                like = {"device": buffer.value.device, "dtype": buffer.value.dtype}
                self._buffers[name] = UninitializedBuffer(buffer.persistent, **like)

    def _regular_layer(self, size: int) -> Module:
        """Return a layer of the regular class, for inputs of a size."""
        return self.regular(**{self.size: size}, **self._settings)

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or a buffer has no shape yet."""
        members = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(x, UninitializedParameter | UninitializedBuffer) for x in members)

    def initialize_parameters(self, input: Tensor) -> None:
        """Initialize parameters and buffers for the shape of an input, except for loaded ones.

        Raises:
            TypeError: the input is not a tensor.
            InputError: the number of dimensions is invalid.
        """
        require_tensors(type(self).__name__, input)
        if input.ndim == 0 or (self.dims and input.ndim not in self.dims):
            expected = " or ".join(map(str, self.dims)) or "1 or more"
            raise InputError(
                f"{type(self).__name__} takes inputs of {expected} dimensions; shape "
                f"{input.shape} was given."
            )
        layer = self._regular_layer(input.shape[self.dim])
        for name, parameter in layer._parameters.items():
            target = self._parameters[name]
            if isinstance(target, UninitializedParameter):
                target.load(parameter.value)
        for name, buffer in layer._buffers.items():
            target_buffer = self._buffers[name]
            if isinstance(target_buffer, UninitializedBuffer):
                target_buffer.load(buffer.value)
        setattr(self, self.size, input.shape[self.dim])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Initialize the layer, change its class, and run it."""
        input: Any = args[0] if args else next(iter(kwargs.values()), None)
        with _class_lock:
            if isinstance(self, _Lazy):  # another thread may have initialized it
                self.initialize_parameters(input)
                del self._settings
                self.__class__ = self.regular  # type: ignore[assignment]
        return self(*args, **kwargs)


class LazyLinear(_Lazy, regular=Linear):
    """A `Linear` that infers `in_features` from its first input."""


class LazyConv1d(_Lazy, regular=convolution.Conv1d, dims=(2, 3)):
    """A `Conv1d` that infers `in_channels` from its first input."""


class LazyConv2d(_Lazy, regular=Conv2d, dims=(3, 4)):
    """A `Conv2d` that infers `in_channels` from its first input."""


class LazyConv3d(_Lazy, regular=convolution.Conv3d, dims=(4, 5)):
    """A `Conv3d` that infers `in_channels` from its first input."""


class LazyConvTranspose1d(_Lazy, regular=convolution.ConvTranspose1d, dims=(2, 3)):
    """A `ConvTranspose1d` that infers `in_channels` from its first input."""


class LazyConvTranspose2d(_Lazy, regular=convolution.ConvTranspose2d, dims=(3, 4)):
    """A `ConvTranspose2d` that infers `in_channels` from its first input."""


class LazyConvTranspose3d(_Lazy, regular=convolution.ConvTranspose3d, dims=(4, 5)):
    """A `ConvTranspose3d` that infers `in_channels` from its first input."""


class LazyBatchNorm1d(_Lazy, regular=normalization.BatchNorm1d, dims=(2, 3), dim=1):
    """A `BatchNorm1d` that infers `num_features` from its first input."""


class LazyBatchNorm2d(_Lazy, regular=normalization.BatchNorm2d, dims=(4,), dim=1):
    """A `BatchNorm2d` that infers `num_features` from its first input."""


class LazyBatchNorm3d(_Lazy, regular=normalization.BatchNorm3d, dims=(5,), dim=1):
    """A `BatchNorm3d` that infers `num_features` from its first input."""


_BATCH_NORM_DEFAULTS = {"affine": True, "track_running_stats": True}
"""The defaults of lazy instance normalization, which differ from the regular ones as in torch."""


class LazyInstanceNorm1d(_Lazy, regular=normalization.InstanceNorm1d, dims=(2, 3)):
    """An `InstanceNorm1d` that infers `num_features` from its first input.

    By default it has a weight, a bias and running statistics, as in torch, unlike `InstanceNorm1d`.
    """

    defaults = _BATCH_NORM_DEFAULTS


class LazyInstanceNorm2d(_Lazy, regular=normalization.InstanceNorm2d, dims=(3, 4)):
    """An `InstanceNorm2d` that infers `num_features` from its first input.

    By default it has a weight, a bias and running statistics, as in torch, unlike `InstanceNorm2d`.
    """

    defaults = _BATCH_NORM_DEFAULTS


class LazyInstanceNorm3d(_Lazy, regular=normalization.InstanceNorm3d, dims=(4, 5)):
    """An `InstanceNorm3d` that infers `num_features` from its first input.

    By default it has a weight, a bias and running statistics, as in torch, unlike `InstanceNorm3d`.
    """

    defaults = _BATCH_NORM_DEFAULTS
