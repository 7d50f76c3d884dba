"""The tape that records a program: every backend call of a function, while it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from mt_tensor.programs.buffers import BufferTable
from mt_tensor.programs.program import Instruction, Opaque, RandomSource, TensorView, View
from mt_tensor.programs.pytree import leaves_in, map_leaves
from mt_tensor.programs.recorded_kernels import RecordedKernel, Saved
from mt_tensor.programs.storages import storage_key
from mt_tensor.programs.symbolic_numbers import SymbolicNumber, SymbolicNumbers
from mt_tensor.programs.user_code import is_user_module, user_location
from mt_tensor.randomness.state import generator_of
from mt_tensor.tape import Call, Tape, active_tapes

OUT_POSITIONS = {"copy": 1, "scatter": 3}
"""Methods of the contract that may write to an argument, and the position of that argument."""


class Recorder(Tape):
    """A tape that runs the backend calls of one thread, and records each as an instruction.

    Attributes:
        instructions: the instructions so far.
        buffers: the table of the buffers that they use.
        drawn: the number of blocks of random bits that they have drawn from each generator.
        numbers: the settings of optimizers, such as learning rates, that are inputs of the program.
        has_failed: whether a call has raised an error that may depend on elements.
    """

    captures = True

    def __init__(self, name: str, numbers: SymbolicNumbers, buffers: BufferTable) -> None:
        super().__init__()
        self.name = name
        self.numbers = numbers
        self.instructions: list[Instruction] = []
        self.drawn = {current_generator(): 0}
        self.has_failed = False
        self.buffers = buffers

    def run(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function without recording its backend calls."""
        before = [(each, used_blocks(each.numpy)) for each in self.drawn]
        try:
            with self.paused():
                return function(*arguments, **options)
        finally:
            for generator, blocks in before:
                self.drawn[generator] += used_blocks(generator.numpy) - blocks

    def handle(self, call: Call) -> Any:
        """Run a call, and record it.

        Raises:
            CompileError: the call copies elements to the host, where code may depend on them.
        """
        backend, name = call.backend, call.name
        if name == "to_host":
            if not self.buffers.is_constant(self.view(call.arguments[0]).buffer):
                self.refuse(
                    "reads the elements of a tensor, as in `if x > 0`, x.item() or print(x)"
                )
            return call.run()
        if name == "kernel":
            return self._kernel(call)
        changes = [self.view(each) for each in _written(call)]
        checks = name == "checked_indices"
        with self._noting_errors(checks):
            result = self.run(_with_concrete_numbers(call).run)
        if checks:  # the result may be the argument itself, but not at every replay
            result = self.run(backend.copy, result, row_major(result.shape, result.dtype))
        run = call.function
        if name in WITHOUT_ALIASES:
            run = functools.partial(WITHOUT_ALIASES[name], backend, run)
        arguments, options = self.as_operands((call.arguments, call.options))
        results: Any = None if changes else self.results(result)
        if checks:  # at a replay, the result may be the argument itself
            for each in call.arguments:
                if isinstance(each, TensorData):
                    self.buffers.join(results.buffer, self.view(each).buffer)
        pure = not changes and name not in ("empty", "random")
        instruction = Instruction(
            name, backend, run, arguments, options, results, changes, call.formula, pure, checks
        )
        self.note(instruction)
        return result

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Run an operation; make the numbers of our optimizers symbolic while they update.

        Optimizers of users do not get symbolic numbers: their code may depend on the type.
        """
        owner: Any = getattr(function, "__self__", None)
        if not hasattr(owner, "param_groups") or is_user_module(type(owner).update.__module__):
            return function(*arguments)
        with self.numbers.substituted(owner):
            return function(*arguments)

    def _kernel(self, call: Call) -> Any:
        found, name = call.run(), call.arguments[0]
        if isinstance(found, FusedKernel):
            return RecordedKernel(call.backend, name, found)
        return found and self._single_call_kernel(name, found)

    def _single_call_kernel(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs a kernel without gradient as one instruction.

        Where a gradient is required, it runs the composition instead.
        """

        def called(*arguments: Any) -> Any:
            if self not in active_tapes():
                return kernel(*arguments)
            if name == "nonzero":
                self.refuse("makes a tensor whose shape depends on elements")
            if recording.get() and any(
                isinstance(x, Tensor) and x.requires_grad for x in arguments
            ):
                return FUSED[name](*arguments)
            return self.as_single_call(kernel, arguments, {}, name)

        return called

    def as_single_call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        name: str | None = None,
    ) -> Any:
        """Run a function of tensors, and record it as one instruction."""
        enabled = recording.set(False)
        try:
            with self._noting_errors():
                result = self.run(function, *arguments, **options)
        finally:
            recording.reset(enabled)
        backend = next((x.backend for x in arguments if isinstance(x, Tensor)), current_backend())
        name = name or function.__name__
        arguments, options = self.as_operands((arguments, options))
        results = self.results(result)
        instruction = Instruction(
            name, backend, function, arguments, options, results, pure=False, may_fail=True
        )
        self.note(instruction)
        return result

    @contextmanager
    def _noting_errors(self, checks: bool = True) -> Iterator[None]:
        """Note an error inside a `with` block, which a replay with other elements might not raise.

        The recorded function may catch the error.
        """
        try:
            yield
        except Exception:
            self.has_failed |= checks
            raise

    # --- Instructions ---------------------------------------------------------------------------

    def note(self, instruction: Instruction) -> None:
        """Add an instruction to the program."""
        self.instructions.append(instruction)
        is_constant = instruction.pure and all(
            isinstance(each, (View, TensorView)) for each in instruction.operands
        )
        read = [view.buffer for view in instruction.reads]
        is_constant = is_constant and all(map(self.buffers.is_constant, read))
        for view in instruction.makes:
            view.buffer.is_constant = is_constant
            if not is_constant:
                view.buffer.release()
        self.buffers.changed |= instruction.changed_groups

    def view(self, data: TensorData) -> View:
        """Return the operand of a view."""
        return View(self.buffers.buffer(data), data.layout)

    def as_operands(self, value: Any) -> Any:
        """Return nested arguments with operands for values that may differ at a replay."""
        return map_leaves(value, self._as_operand)

    def _as_operand(self, value: Any) -> Any:
        if isinstance(value, TensorData):
            return self.view(value)
        if isinstance(value, Tensor):
            return TensorView(self.view(value._tensor), value.backend)
        if isinstance(value, np.random.Generator):
            try:
                return RandomSource(generator_of(value))
            except LookupError:
                self.refuse("draws from a copy of a generator")
        if isinstance(value, np.ndarray):
            return value.copy()  # the caller may overwrite it
        return self.buffers.as_operand(value)

    def results(self, value: Any) -> Any:
        """Return nested results with operands for new buffers, and None for everything else."""
        return map_leaves(value, self._result)

    def _result(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            view = self._result(value._tensor)
            return view and TensorView(view, value.backend)
        if not isinstance(value, TensorData) or storage_key(value.storage) in self.buffers.buffers:
            return None
        return View(self.buffers.buffer(value, allocated=True), value.layout)

    def opaque(self, value: Saved) -> Opaque:
        """Return a new operand for the values that a kernel has saved."""
        return self.buffers.add_opaque(value, self._groups_in(value.values))

    def _groups_in(self, value: Any) -> Iterator[Any]:
        for leaf in leaves_in(value):
            data = leaf._tensor if isinstance(leaf, Tensor) else leaf
            if isinstance(data, TensorData):
                yield self.buffers.buffer(data, allocated=True).group
            elif isinstance(data, np.ndarray):
                yield self.buffers.group(data)
            elif isinstance(data, Saved):
                yield from self._groups_in(data.values)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for something that a replay could not repeat."""
        raise CompileError(
            f"{self.name} {what}{user_location()}: a program would use the result of this call in "
            "every later call. Do that outside of the compiled function, or choose with where()."
        )


def _written(call: Call) -> list[TensorData]:
    """Return the views that a call writes to."""
    if call.formula is not None:
        out = call.arguments[0]
        return [] if isinstance(out, Layout) else list(out)
    at = OUT_POSITIONS.get(call.name)
    if at is None:
        return []
    out = call.arguments[at] if len(call.arguments) > at else call.options["out"]
    return [out] if isinstance(out, TensorData) else []


def _with_concrete_numbers(call: Call) -> Call:
    """Return a call with values in place of symbolic numbers."""
    values = [x.value if isinstance(x, SymbolicNumber) else x for x in call.arguments]
    return Call(call.backend, call.name, call.function, tuple(values), call.options, call.formula)


def _contiguous(backend: TensorBackend, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the view that a function returns, or a contiguous copy of it."""
    result: TensorData = function(*arguments)
    layout = result.layout
    return result if layout.contiguous is layout else backend.copy(result, layout.contiguous)


def _from_copy(_: TensorBackend, function: Callable[..., Any], array: Array) -> Any:
    """Call a function of an array with a copy of it."""
    return function(array.copy())


WITHOUT_ALIASES: dict[str, Callable[..., Any]] = {
    "checked_indices": _contiguous,
    "from_host": _from_copy,
}
"""Wrappers for methods whose results may share memory with an argument."""
