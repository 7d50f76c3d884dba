"""`ZeroRedundancyOptimizer`: each rank remembers what an optimizer needs for a part of parameters.

Adam remembers two numbers for each parameter, and with ranks that train the same model, all of them
remember the same. Here a rank steps only the parameters that are its own and sends them to the
others (Rajbhandari and others, ZeRO, 2020: the first stage). The results are those of the optimizer
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.optim import Optimizer
from mt_nn.parallel.averaging import broadcast
from mt_nn.parallel.group import Group, world
from mt_tensor import enable_grad


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state is divided between the ranks; torch's.

        optimizer = ZeroRedundancyOptimizer(model.parameters(), Adam, lr=1e-3)

    Gradients must be the same on all ranks, as those of `DataParallel` are.

    Args:
        params: as for the optimizer.
        optimizer_class: which one: one that changes each parameter by itself, not `LBFGS`.
        process_group: the ranks; all of the program if None.
        **defaults: the settings of the optimizer.

    Attributes:
        optim: the optimizer, which remembers nothing of the parameters of other ranks.

    Raises:
        SettingError: the optimizer looks at all parameters at once, or refuses something.
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: Callable[..., Optimizer],
        *,
        process_group: Group | None = None,
        **defaults: Any,
    ) -> None:
        self.optim = optimizer_class(params, **defaults)
        if type(self.optim).update is Optimizer.update:
            raise SettingError(
                f"{type(self.optim).__name__} changes all parameters at once, so that they cannot "
                "be divided between ranks."
            )
        self.process_group = world() if process_group is None else process_group
        self._others: dict[int, dict[str, Any]] = {}  # states of other ranks, by number
        super().__init__(self.optim.param_groups, self.optim.defaults)
        self.param_groups = self.optim.param_groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize more parameters; see `Optimizer`."""
        if not any(param_group is known for known in self.optim.param_groups):
            self.optim.add_param_group(param_group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; all ranks must call this."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        owners = self._owners()
        hidden = [
            (parameter, parameter.grad)
            for parameter, owner in zip(self.optim._parameters(), owners, strict=True)
            if owner != self.process_group.rank
        ]
        for parameter, _ in hidden:
            parameter.grad = None
        try:
            self.optim.step()
        finally:
            for parameter, grad in hidden:
                parameter.grad = grad
        for rank in range(self.process_group.size):
            both = zip(self.optim._parameters(), owners, strict=True)
            own = [parameter for parameter, owner in both if owner == rank]
            broadcast(self.process_group, own, f"parameters of rank {rank}", rank)
        return loss

    def _owners(self) -> list[int]:
        """Return the rank of each parameter: the largest first, to who has least so far."""
        parameters = self.optim._parameters()
        loads, owners = [0] * self.process_group.size, [0] * len(parameters)
        for number in sorted(range(len(parameters)), key=lambda each: -parameters[each].numel()):
            owners[number] = loads.index(min(loads))
            loads[owners[number]] += parameters[number].numel()
        return owners

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all ranks at one, `to`, whose `state_dict` is then the whole one.

        All ranks must call this.
        """
        own = self.optim.state_dict()["state"]
        self._others = {}
        for rank in range(self.process_group.size):
            given = own if rank == self.process_group.rank != to else None
            states = self.process_group.gather(given, f"states of rank {rank}")[rank]
            if states is not None and self.process_group.rank == to:
                self._others |= states

    def state_dict(self) -> dict[str, Any]:
        """Return the state of an optimizer that is not divided.

        On several ranks it is whole on the one where `consolidate_state_dict` has gathered it.
        """
        state = self.optim.state_dict()
        return {**state, "state": {**state["state"], **self._others}}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over the state of an optimizer that is not divided; see `Optimizer`."""
        self.optim.load_state_dict(state_dict)
        for parameter, owner in zip(self.optim._parameters(), self._owners(), strict=True):
            if owner != self.process_group.rank:
                self.optim.state.pop(parameter, None)
        self.param_groups, self._others = self.optim.param_groups, {}
