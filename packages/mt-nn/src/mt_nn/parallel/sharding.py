"""`ZeroRedundancyOptimizer`: each rank stores the optimizer state of a part of the parameters.

Adam's state has two numbers per parameter, equal on all ranks that train a model. Here each rank
updates only its own parameters and sends them to the others (Rajbhandari et al. 2020, "ZeRO", stage
1). The results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.optim import Optimizer
from mt_nn.parallel.averaging import broadcast
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_tensor import enable_grad


class ZeroRedundancyOptimizer(Optimizer):
    """Shard the state of an optimizer among ranks, as in torch.

        optimizer = ZeroRedundancyOptimizer(model.parameters(), Adam, lr=1e-3)

    Gradients must be equal on all ranks, as with `DataParallel`.

    Args:
        params: parameters or groups; see the optimizer.
        optimizer_class: the class of the optimizer, which must update each parameter separately,
            unlike `LBFGS`.
        process_group: the ranks; all ranks of the program if None.
        **defaults: the settings of the optimizer.

    Attributes:
        optim: the optimizer, without the states of other ranks' parameters.

    Raises:
        SettingError: the optimizer does not update parameters separately, or a setting is invalid.
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
                f"ZeroRedundancyOptimizer does not support {type(self.optim).__name__}, which "
                "updates all parameters at once."
            )
        self.process_group = world() if process_group is None else process_group
        self._others: dict[int, dict[str, Any]] = {}  # states of other ranks, by parameter index
        super().__init__(self.optim.param_groups, self.optim.defaults)
        self.param_groups = self.optim.param_groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters; see `mt_nn.optim.Optimizer`."""
        if not any(param_group is known for known in self.optim.param_groups):
            self.optim.add_param_group(param_group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; all ranks must call this."""
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
            pairs = zip(self.optim._parameters(), owners, strict=True)
            local = [parameter for parameter, owner in pairs if owner == rank]
            broadcast(self.process_group, local, f"parameters of rank {rank}", rank)
        return loss

    def _owners(self) -> list[int]:
        """Assign each parameter to a rank: the largest first, to the rank with the least load."""
        parameters = self.optim._parameters()
        loads, owners = [0] * self.process_group.size, [0] * len(parameters)
        for index in sorted(range(len(parameters)), key=lambda each: -parameters[each].numel()):
            owners[index] = loads.index(min(loads))
            loads[owners[index]] += parameters[index].numel()
        return owners

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all ranks on the rank `to`, whose `state_dict` is then complete.

        All ranks must call this.
        """
        local = self.optim.state_dict()["state"]
        self._others = {}
        for rank in range(self.process_group.size):
            given = local if rank == self.process_group.rank != to else None
            states = self.process_group.gather(given, f"states of rank {rank}")[rank]
            if states is not None and self.process_group.rank == to:
                self._others |= states

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the optimizer without sharding.

        With several ranks, it is complete only after `consolidate_state_dict`, on one rank.
        """
        state = self.optim.state_dict()
        return {**state, "state": {**state["state"], **self._others}}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load the state of an optimizer without sharding; see `mt_nn.optim.Optimizer`."""
        self.optim.load_state_dict(state_dict)
        for parameter, owner in zip(self.optim._parameters(), self._owners(), strict=True):
            if owner != self.process_group.rank:
                self.optim.state.pop(parameter, None)
        self.param_groups, self._others = self.optim.param_groups, {}
