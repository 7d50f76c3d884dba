"""`DataParallel`: a model that several ranks train together, each with a share of every batch.

Every rank holds the whole model, with the same parameters. Each computes the gradient of the mean
loss of its share; the mean of these gradients is that of the whole batch, if shares are of equal
size; and so all optimizers make the same step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mt_operators
from mt_autodiff import topological_sort
from mt_nn.core.module import Module
from mt_nn.parallel.averaging import Averaging, broadcast
from mt_nn.parallel.group import Group, agree
from mt_nn.parallel.world import world
from mt_nn.utils.settings import check
from mt_tensor import Generator, Tensor, get_rng_state, is_grad_enabled
from mt_tensor.extending import check_flags, numbers_of, use_generator


class DataParallel(Module):
    """A model whose gradients are the means over all ranks; torch's DistributedDataParallel.

        model = DataParallel(LeNet())

    Parameters and buffers become those of rank 0. From then on every `backward()` averages the
    gradients, while it goes on. With one rank nothing is sent.

    Args:
        module: the model; `module` of the result.
        broadcast_buffers: whether buffers become those of rank 0 again before each call in training
            mode, such as the statistics of batch norm, which each rank takes of its own share.
        bucket_cap_mb: how many megabytes of gradients are added up at once.
        find_unused_parameters: whether results may depend on other parameters at each call. It
            costs a walk through the graph, and a message.
        process_group: the ranks; all of the program if None.

    Attributes:
        generator: from what all ranks draw alike, at each call, what the random numbers of each
            follow from; it begins with the seed of the default one.

    Raises:
        RankError: the ranks have different models.
        SettingError: an invalid setting.
    """

    def __init__(
        self,
        module: mt_operators.Module,
        *,
        broadcast_buffers: bool = True,
        bucket_cap_mb: float = 25.0,
        find_unused_parameters: bool = False,
        process_group: Group | None = None,
    ) -> None:
        super().__init__()
        flags = {"broadcast_buffers": broadcast_buffers}
        check_flags(**flags, find_unused_parameters=find_unused_parameters)
        check("bucket_cap_mb", bucket_cap_mb, bucket_cap_mb > 0, "a positive number")
        self.module = module
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.process_group = world() if process_group is None else process_group
        self.generator = Generator().manual_seed(get_rng_state()["seed"])
        self._synchronizes = True
        parameters: Any = module.named_parameters()  # of tensors, as all of this stage
        self._trained = [(name, p) for name, p in parameters if p.requires_grad]
        agree(self.process_group, "tensors of the model", _described(module))
        tensors = [*module.parameters(), *module.buffers()]
        broadcast(self.process_group, tensors, "model")
        self._averaging = None
        if self.process_group.size > 1 and self._trained:
            self._averaging = Averaging(self.process_group, self._trained, bucket_cap_mb * 2**20)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the model.

        Raises:
            RankError: at the call before, some parameters got no gradient.
        """
        if self._synchronizes:
            self.synchronize_buffers()
        with self.own_random_numbers():
            output = self.module(*args, **kwargs)
        if self._averaging is not None and is_grad_enabled():
            if self._synchronizes:
                looks = self.find_unused_parameters
                self._averaging.expect(self._unused_by(output) if looks else None)
            else:
                self._averaging.active = False
        return output

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let gradients of results that are computed in a `with` block add up without a message.

            for share in shares[:-1]:
                with model.no_sync():
                    loss(model(share)).backward()
            loss(model(shares[-1])).backward()

        The last line averages all that has been added up.
        """
        before, self._synchronizes = self._synchronizes, False
        try:
            yield
        finally:
            self._synchronizes = before

    def synchronize_buffers(self) -> None:
        """Let buffers be those of rank 0, in training mode, if that is wanted."""
        if self.broadcast_buffers and self.training:
            broadcast(self.process_group, self.module.buffers(), "buffers")

    def average_gradients(self) -> None:
        """Let the gradients that there are be their means over all ranks.

        Backpropagation has done so, unless the model was called by itself, as `module`.
        """
        if self._averaging is not None:
            self._averaging.average()

    @contextmanager
    def own_random_numbers(self) -> Iterator[None]:
        """Let each rank draw other random numbers in a `with` block, such as those of dropout.

        The default generator is as before behind it, on all ranks: orders of samples are the same.
        """
        if self.process_group.size == 1:
            yield
            return
        drawn = int(numbers_of(self.generator).integers(2**63))
        with use_generator(Generator().manual_seed(drawn << 32 | self.process_group.rank)):
            yield

    def _unused_by(self, output: Any) -> set[int]:
        """Return the parameters, by `id`, that no tensor in an output depends on."""
        used = {
            id(variable)
            for tensor in _tensors_in(output)
            if tensor.requires_grad
            for variable in topological_sort(tensor.variable)
        }
        return {id(p) for _, p in self._trained if id(p.variable) not in used}


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors_in(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _tensors_in(each)


def _described(module: Any) -> list[str]:
    """Return a line for each parameter and buffer."""
    parameters = [
        f"{name} {tuple(p.shape)} of {p.dtype.name}{'' if p.requires_grad else ', frozen'}"
        for name, p in module.named_parameters()
    ]
    buffers = [f"{name} {tuple(b.shape)} of {b.dtype.name}" for name, b in module.named_buffers()]
    return parameters + buffers
