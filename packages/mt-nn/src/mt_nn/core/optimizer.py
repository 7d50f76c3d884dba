"""`Optimizer`: parameter groups with settings, the state of each parameter, and the method `step`.

A subclass defines the update of one parameter. Like torch's optimizers, it stores the values that
it needs at the next step, such as running averages of gradients, in a dictionary for each
parameter: its *state*.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mt_autodiff import enable_grad, no_grad
from mt_autodiff.core.mode import recording
from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import check, extension
from mt_tensor import Tensor
from mt_tensor.core.dtypes import Settings
from mt_tensor.core.extensions import ACTIVE_TAPES, EXTENSIONS
from mt_tensor.core.in_place import overwrite

if TYPE_CHECKING:
    from mt_nn.hooks.optimizers import Methods
else:  # that file registers its methods when it is imported
    Methods = object


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method `step` so that it calls the optimizer's hooks, if it has any."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._hooks is None or type(self).step is not hooked:  # called by a subclass's `step`
            return step(self, *args, **kwargs)
        return self._hooks.run(step, self, args, kwargs)

    return hooked


class Optimizer(Methods):
    """Base class of optimizers, which update parameters in place, using their gradients.

    A subclass defines `update`, which changes one parameter; `initial_state`, the values stored for
    it; and `check_settings`. The setting `maximize` is implemented here, by negating gradients.
    Alternatively, a subclass overrides `step`, as subclasses written for torch do, and fills
    `state` itself.

    Args:
        params: the parameters; or pairs of a name and a parameter, as `named_parameters()` yields
            them; or dictionaries with either of these under `"params"`, and settings that differ
            from the defaults.
        defaults: the default settings. `lr` may be a tensor of one element, read at each step.

    Attributes:
        defaults: the default settings of groups.
        param_groups: dictionaries with `"params"` and all settings; with `"param_names"` if
            parameters were given with names.
        state: the values stored for each parameter.
    """

    kinds: ClassVar[Mapping[str, str] | None] = None
    """Requirements of settings, such as "at least 0", that differ from `mt_nn.optim.checks`.

    None if only the rate is checked.
    """

    _hooks: Any = None  # set by `mt_nn.hooks` when a hook is registered

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"{type(self).__name__} takes a list of parameters; a single tensor was given. "
                "Write [tensor]."
            )
        members = list(params)
        if not members:
            raise SettingError(f"{type(self).__name__} was given no parameters.")
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        one_group = [{"params": params if isinstance(params, set | frozenset) else members}]
        for group in members if isinstance(members[0], dict) else one_group:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, such as those of layers that were frozen.

        Args:
            param_group: a dictionary with `"params"`, and settings that differ from the defaults.
        """
        check("a group of an optimizer", self, param_group)
        params: Any = param_group["params"]
        members = [params] if isinstance(params, Tensor) else list(params)
        names = [member[0] for member in members if _is_named(member)]
        parameters = [member[1] if _is_named(member) else member for member in members]
        group = Settings({**self.defaults, **param_group, "params": parameters})
        if names:
            group["param_names"] = names
        check("parameters of an optimizer", self, group)
        check("settings of an optimizer", self, group)
        self.check_settings(group)
        self.param_groups.append(group)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise `SettingError` unless the settings of a group are consistent.

        Their types and ranges have already been checked.
        """

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients, or set them to zero."""
        clear_gradients(self._parameters(), set_to_none)

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: called first; recomputes the loss and its gradients, and returns the loss.

        Returns:
            The result of the closure, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        before = recording.set(False)
        try:
            for group in self.param_groups:
                every = [(x, x.grad) for x in group["params"]]
                changing = [(x, grad) for x, grad in every if grad is not None]
                if changing:
                    with changing[0][0].backend.batch_calls():
                        if ACTIVE_TAPES.count:
                            on_tape = EXTENSIONS["operation on tape"]
                            on_tape(type(self).__name__, self._update_each, changing, group)
                        else:
                            self._update_each(changing, group)
        finally:
            recording.reset(before)
        return loss

    def _update_each(self, parameters: list[tuple[Tensor, Tensor]], group: dict[str, Any]) -> None:
        maximize = group.get("maximize", False)
        settings = with_plain_rate(group)
        for parameter, grad in parameters:
            state = self.state.get(parameter)
            if not state:
                first = self.initial_state(parameter, settings)
                if first or state is None:
                    state = self.state[parameter] = Settings(first)
            if "step" in state:
                state["step"] += 1
            self.update(parameter, -grad if maximize else grad, state, settings)

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Update one parameter in place.

        Args:
            parameter: the parameter.
            grad: its gradient; must not be changed.
            state: the values stored for the parameter. The step count `"step"`, if there is one,
                includes this step: it starts at 1.
            group: the settings, with `lr` as a Python number.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(), or step().")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the values to store for a parameter before its first step.

        They are tensors, numbers, or None for a tensor that the first step creates.
        """
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Return the states and the settings, in torch's format.

        Returns:
            `"state"`: for the index of each parameter, the values stored for it, without copying
            tensors; `"param_groups"`: the settings of each group, with the indices of its
            parameters under `"params"`, counted through all groups.
        """
        if self._hooks is not None:
            self._hooks.call("saving", self)
        numbers = {parameter: number for number, parameter in enumerate(self._parameters())}
        state = {
            "state": {
                numbers[parameter]: dict(state) for parameter, state in self.state.items() if state
            },
            "param_groups": [
                {**group, "params": [numbers[parameter] for parameter in group["params"]]}
                for group in self.param_groups
            ],
        }
        return state if self._hooks is None else self._hooks.changed("saved", self, state)

    @no_grad()
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load the state of an optimizer with parameters in the same order.

        `state_dict` is the result of `state_dict()`, here or of torch's optimizer of that name.
        Tensors are copied, and converted to the dtypes and backends of the parameters. If a value
        is invalid, raise `StateDictError` and change nothing.
        """
        extension("loading the state of an optimizer")(self, state_dict)

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap a `step` defined by a subclass so that it calls the hooks, too."""
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]


def clear_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Remove the gradients of parameters, or set them to zero."""
    for parameter in parameters:
        if set_to_none or parameter.grad is None:
            parameter.grad = None
        else:
            overwrite(parameter.grad, parameter._full((), 0))


def _is_named(member: Any) -> bool:
    return isinstance(member, tuple) and len(member) == 2


def settings_among(scope: dict[str, Any]) -> dict[str, Any]:
    """Return the settings among the local variables of a constructor."""
    return {
        name: value for name, value in scope.items() if name not in ("self", "params", "__class__")
    }


def with_plain_rate(group: dict[str, Any]) -> dict[str, Any]:
    """Return a group with the rate as a Python number."""
    rate = group.get("lr")
    return {**group, "lr": rate.item()} if isinstance(rate, Tensor) else group


# --- Formulas shared by optimizers ---------------------------------------------------------------

Decay = Literal["coupled", "decoupled"] | None
"""Whether weight decay is added to the gradient, or applied to the parameter separately
(Loshchilov and Hutter 2019)."""


def decay_of(group: Mapping[str, Any]) -> tuple[float, Decay]:
    """Return the arguments `amount` and `decay` of `decayed` for the settings of a group."""
    strength = group["weight_decay"]
    if not strength:
        return 0.0, None
    if group.get("decoupled_weight_decay"):
        return 1 - group["lr"] * strength, "decoupled"
    return strength, "coupled"


def decayed(x: Tensor, grad: Tensor, amount: Any, decay: Decay) -> tuple[Tensor, Tensor]:
    """Return a parameter and its gradient after weight decay."""
    if decay == "coupled":
        return x, grad + amount * x
    return (x * amount, grad) if decay == "decoupled" else (x, grad)


def moving_average(average: Tensor, value: Tensor, beta: Any, one_minus_beta: Any) -> Tensor:
    """Return the next running average; `one_minus_beta` is computed in double precision."""
    updated: Tensor = average * beta + value * one_minus_beta
    return updated
