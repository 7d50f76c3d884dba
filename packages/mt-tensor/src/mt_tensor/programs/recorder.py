"""Recording a function while it runs: every call that it makes of a backend, with its results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from mt_autodiff.core.mode import recording
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array
from mt_tensor.core.generator import current_generator, used_blocks
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.named import FUSED
from mt_tensor.core.registry import current_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError
from mt_tensor.kernels.fused import FusedKernel
from mt_tensor.programs.buffers import Storages, key_of
from mt_tensor.programs.program import Box, Draw, Instruction, TensorView, View
from mt_tensor.programs.recorded_kernels import RecordedKernel, Saved
from mt_tensor.programs.symbolic_numbers import Numbers, Varying
from mt_tensor.programs.user_code import is_users, where_in_users_code
from mt_tensor.randomness.state import generator_of
from mt_tensor.tape import Call, Tape, active_tapes

CHANGING = {"copy": 1, "scatter": 3}
"""Calls that may write to an argument, and its position."""


class Recorder(Tape):
    """Records the calls that one thread makes of backends, and runs each at once.

    Attributes:
        instructions: what has been recorded.
        storages: what is known of all memory that is alive.
        drawn: how many blocks of random bits calls have taken from the current generator.
        numbers: the numbers of optimizers that the program takes as inputs.
    """

    captures = True

    def __init__(self, name: str, numbers: Numbers) -> None:
        super().__init__()
        self.name = name
        self.numbers = numbers
        self.instructions: list[Instruction] = []
        self.drawn = 0
        self.storages = Storages()

    def run(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function without recording what it asks."""
        drawn, generator = _drawn(), current_generator()
        try:
            with self.paused():
                return function(*arguments, **options)
        finally:
            if generator is current_generator():
                self.drawn += _drawn() - drawn

    def handle(self, call: Call) -> Any:
        """Run a call, and record it.

        Raises:
            CompileError: it gives elements to the host, which may decide by them.
        """
        backend, name = call.backend, call.name
        if name == "to_host":
            if not self.view(call.arguments[0]).memory.known:
                self.refuse("looks at elements, as in `if x > 0`, x.item() or print(x)")
            return call.run()
        if name == "kernel":
            return self._kernel(call)
        changed = self._changed(call)
        result = self.run(_with_numbers(call).run)
        checks = name == "checked_indices"
        if checks:  # it may be the argument itself now, and not at the next run
            result = self.run(backend.copy, result, row_major(result.shape, result.dtype))
        again = call.function
        if name in AGAIN:
            again = functools.partial(AGAIN[name], backend, again)
        self.note(
            Instruction(
                name,
                backend,
                again,
                self.marked(call.arguments),
                self.marked(call.options),
                None if changed else self.results(result, call.arguments if checks else ()),
                [self.view(each) for each in changed],
                call.formula,
                pure=not changed and name not in ("empty", "random"),
                may_fail=checks,
            )
        )
        return result

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Run an operation; let the numbers of one of our optimizers vary while it updates.

        Code of users does not see them: it might ask which type they have.
        """
        owner: Any = getattr(function, "__self__", None)
        if not hasattr(owner, "param_groups") or is_users(type(owner).update.__module__):
            return function(*arguments)
        with self.numbers.varying(owner):
            return function(*arguments)

    def _changed(self, call: Call) -> list[TensorData]:
        """Return the views that a call writes to."""
        if call.formula is not None:
            out = call.arguments[0]
            return [] if isinstance(out, Layout) else list(out)
        at = CHANGING.get(call.name)
        if at is None:
            return []
        target = call.arguments[at] if len(call.arguments) > at else call.options["out"]
        return [target] if isinstance(target, TensorData) else []

    def _kernel(self, call: Call) -> Any:
        found, name = call.run(), call.arguments[0]
        if isinstance(found, FusedKernel):
            return RecordedKernel(call.backend, name, found)
        return found and self._by_function(name, found)

    def _by_function(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel without a gradient as one call, where no gradient is wanted."""

        def called(*arguments: Any) -> Any:
            if self not in active_tapes():
                return kernel(*arguments)
            if name == "nonzero":
                self.refuse("makes a tensor whose shape depends on elements")
            wanted = [x for x in arguments if isinstance(x, Tensor) and x.requires_grad]
            if wanted and recording.get():
                return FUSED[name](*arguments)
            return self.whole(kernel, arguments, {}, name)

        return called

    def whole(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        name: str | None = None,
    ) -> Any:
        """Run a function of tensors as one call, and note it."""
        enabled = recording.set(False)
        try:
            result = self.run(function, *arguments, **options)
        finally:
            recording.reset(enabled)
        home = next((x.backend for x in arguments if isinstance(x, Tensor)), current_backend())
        self.note(
            Instruction(
                function.__name__ if name is None else name,
                home,
                function,
                self.marked(arguments),
                self.marked(options),
                self.results(result),
                pure=False,
                may_fail=True,
            )
        )
        return result

    # --- Noting ---------------------------------------------------------------------------------

    def note(self, instruction: Instruction) -> None:
        """Add an instruction to the program."""
        self.instructions.append(instruction)
        reads = instruction.reads
        known = instruction.pure and not instruction.boxes and not self._varies(instruction)
        known = known and all(view.memory.known for view in reads)
        for view in instruction.makes:
            view.memory.known = known
            if not known:
                view.memory.forget()
        for view in instruction.changes:
            view.memory.known = False

    def _varies(self, instruction: Instruction) -> bool:
        return any(isinstance(x, Varying) for x in instruction.arguments)

    def view(self, data: TensorData) -> View:
        """Return the view of a program that elements are."""
        return View(self.storages.memory(data, False), data.layout)

    def marked(self, value: Any) -> Any:
        """Return arguments with marks for what stands there at the next run."""
        if isinstance(value, TensorData):
            return self.view(value)
        if isinstance(value, Tensor):
            return TensorView(self.view(value._tensor), value.backend)
        if isinstance(value, np.random.Generator):
            return self._draw(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.marked, value))
        if isinstance(value, (tuple, list)):
            return type(value)([self.marked(each) for each in value])
        if type(value) is dict:
            return {name: self.marked(each) for name, each in value.items()}
        if isinstance(value, np.ndarray):
            return value.copy()  # which somebody may fill again
        return self.storages.mark(value)

    def _draw(self, numbers: np.random.Generator) -> Draw:
        try:
            return Draw(generator_of(numbers))
        except LookupError:
            self.refuse("draws from a copy of a generator")

    def results(self, value: Any, sources: Sequence[Any] = ()) -> Any:
        """Return results with marks; memory that was not seen before is made by the call.

        Args:
            value: what a call returned.
            sources: arguments whose memory the results may turn out to share.
        """
        if isinstance(value, TensorData):
            if key_of(value.storage) in self.storages.memories:
                return None  # an argument, or what another call has made
            memory = self.storages.memory(value, True)
            for source in sources:
                if isinstance(source, TensorData):
                    self.storages.join(memory, self.view(source).memory)
            return View(memory, value.layout)
        if isinstance(value, Tensor):
            view = self.results(value._tensor)
            return None if view is None else TensorView(view, value.backend)
        if isinstance(value, (tuple, list)):
            return type(value)([self.results(each) for each in value])
        return None

    def box(self, value: Any) -> Box:
        """Return the mark of something that a call leaves for another."""
        return self.storages.box(value, self._groups_in(value))

    def _groups_in(self, value: Any) -> Iterable[Any]:
        """Yield the groups of memory that something holds."""
        if isinstance(value, Tensor):
            value = value._tensor
        if isinstance(value, TensorData):
            yield self.storages.memory(value, True).group
        elif isinstance(value, np.ndarray):
            yield self.storages.group(value)
        elif isinstance(value, (tuple, list)):
            for each in value:
                yield from self._groups_in(each)
        elif isinstance(value, Saved):
            yield from self._groups_in(value.values)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for something that no program can do again."""
        raise CompileError(
            f"{self.name} {what}{where_in_users_code()}: a program would have what it found now "
            "for ever. Leave that to the caller of what is compiled, or choose with where()."
        )


def _with_numbers(call: Call) -> Call:
    """Return a call with the numbers that varying ones are now."""
    plain = [x.value if isinstance(x, Varying) else x for x in call.arguments]
    name, formula = call.name, call.formula
    return Call(call.backend, name, call.function, tuple(plain), call.options, formula)


def _in_rows(backend: TensorBackend, function: Callable[..., Any], *arguments: Any) -> TensorData:
    """Return the view that a function returns, or a copy of it in order."""
    result: TensorData = function(*arguments)
    layout = result.layout
    return result if layout.contiguous is layout else backend.copy(result, layout.contiguous)


def _of_a_copy(_: TensorBackend, function: Callable[..., Any], array: Array) -> TensorData:
    """Return elements of an array that are in nobody else's memory."""
    result: TensorData = function(array.copy())
    return result


AGAIN: dict[str, Callable[..., TensorData]] = {
    "checked_indices": _in_rows,
    "from_host": _of_a_copy,
}
"""Calls whose results may share memory with an argument, and how they are called by a program."""


def _drawn() -> int:
    return used_blocks(current_generator().numpy)
