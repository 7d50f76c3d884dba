"""`DataParallel`: a model that several ranks train together, each with a part of every batch.

Every rank has the whole model with the same parameters, and computes the gradient of the mean loss
of its part of the batch. If the parts have equal sizes, the mean of these gradients is the gradient
for the whole batch, so all optimizers make the same step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mt_operators
from mt_autodiff import topological_sort
from mt_nn.core.module import Module
from mt_nn.parallel.averaging import Averaging, broadcast
from mt_nn.parallel.group import Group, check_same
from mt_nn.parallel.world import world
from mt_nn.utils.settings import check
from mt_tensor import Generator, Tensor, get_rng_state, is_grad_enabled
from mt_tensor.extending import check_flags, numbers_of, use_generator


class DataParallel(Module):
    """Average the gradients of a model over all ranks, like torch's `DistributedDataParallel`.

        model = DataParallel(LeNet())

    Parameters and buffers are copied from rank 0. Every `backward()` then averages the gradients,
    overlapped with the computation. With one rank, nothing is sent.

    Args:
        module: the model, which is also an attribute.
        broadcast_buffers: whether to copy buffers, such as running statistics, from rank 0 before
            each call in training mode.
        bucket_cap_mb: the number of megabytes of gradients per message.
        find_unused_parameters: whether results may not depend on all parameters, which costs a
            traversal of the graph and a message per call.
        process_group: the ranks; all ranks of the program if None.

    Attributes:
        generator: the generator of the seeds of each call, which is the same on all ranks; seeded
            with the seed of the default generator.

    Raises:
        RankError: the ranks have different models.
        SettingError: a setting is invalid.
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
        parameters: Any = module.named_parameters()
        self._trained = [(name, p) for name, p in parameters if p.requires_grad]
        check_same(self.process_group, "tensors of the model", _described(module))
        tensors = [*module.parameters(), *module.buffers()]
        broadcast(self.process_group, tensors, "model")
        self._averaging = None
        if self.process_group.size > 1 and self._trained:
            self._averaging = Averaging(self.process_group, self._trained, bucket_cap_mb * 2**20)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the model.

        Raises:
            RankError: some parameters received no gradient from the previous result.
        """
        if self._synchronizes and self.broadcast_buffers and self.training:
            broadcast(self.process_group, self.module.buffers(), "buffers")
        with self._own_random_numbers():
            output = self.module(*args, **kwargs)
        if self._averaging is not None and is_grad_enabled():
            if self._synchronizes:
                unused = self._unused_by(output) if self.find_unused_parameters else None
                self._averaging.expect(unused)
            else:
                self._averaging.active = False
        return output

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate gradients of results computed in a `with` block without averaging them.

            for part in parts[:-1]:
                with model.no_sync():
                    loss(model(part)).backward()
            loss(model(parts[-1])).backward()

        The last line averages the accumulated gradients.
        """
        before, self._synchronizes = self._synchronizes, False
        try:
            yield
        finally:
            self._synchronizes = before

    @contextmanager
    def _own_random_numbers(self) -> Iterator[None]:
        """Draw different random numbers on each rank in a `with` block, for example for dropout.

        The default generator is not affected, so that the order of samples is equal on all ranks.
        """
        if self.process_group.size == 1:
            yield
            return
        drawn = int(numbers_of(self.generator).integers(2**63))
        with use_generator(Generator().manual_seed(drawn << 32 | self.process_group.rank)):
            yield

    def _unused_by(self, output: Any) -> set[int]:
        """Return the ids of the parameters that no tensor in an output depends on."""
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
    """Return one line of text per parameter and buffer."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [
        f"{name} {tuple(x.shape)} of {x.dtype.name}{'' if x.requires_grad else ' without grad'}"
        for name, x in tensors
    ]
