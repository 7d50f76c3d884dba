"""Random programs on tensors, compared with NumPy after every step.

A program creates a few tensors and then runs instructions: views, new tensors, changes in place.
After every instruction all live tensors must agree with the arrays, so changes must be visible
through all views.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.backends import use_backend
from mt_tensor.conformance.compiling import outcome
from mt_tensor.conformance.instructions import LARGEST, Draw, Instruction, drawn_call, some_arrays
from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import overlaps
from mt_tensor.core.views import Permute
from mt_tensor.testing.reference import LIBRARY, Reference

BOUND = 50.0  # larger numbers are excluded, because they hide small errors


def on_arrays(instruction: Instruction, arrays: Sequence[Array], settings: Any) -> Any:
    """Run an instruction on arrays."""
    with np.errstate(all="ignore"):
        views = [array.view(Reference) for array in arrays]
        return np.asarray(instruction.call(LIBRARY, *views, *settings))


def _owner(array: Any) -> Any:
    """Return the owner of the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


@dataclass
class Program:
    """A program, its tensors, and the arrays with the same elements.

    Attributes:
        ours: the tensors.
        theirs: the arrays.
        text: the instructions, for messages.
    """

    ours: list[mt.Tensor] = field(default_factory=list)
    theirs: list[Array] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def start(self, arrays: Sequence[Array]) -> None:
        """Create the initial tensors; floating-point ones require grad, except for the last."""
        for array in arrays:
            wanted = array.dtype.kind == "f" and array is not arrays[-1]
            self.text.append(
                f"t{len(self.ours)} = tensor({array.tolist()}, dtype={array.dtype}, "
                f"requires_grad={wanted})"
            )
            self.ours.append(mt.tensor(array, requires_grad=wanted))
            self.theirs.append(array.copy())

    def step(self, draw: Draw) -> bool:
        """Choose an instruction and its arguments, run it on both sides, and compare.

        Returns:
            Whether the instruction applies to the chosen tensors and was run.
        """
        instruction, chosen, settings = drawn_call(draw, self.ours)
        if settings is None or (instruction.changes and self.not_alike(chosen)):
            return False
        operands = [self.ours[i] for i in chosen]
        names = [f"t{i}" for i in chosen]
        call = f"{instruction.name}({', '.join(names + [repr(s) for s in settings])})"
        self.text.append(call if instruction.changes else f"t{len(self.ours)} = {call}")
        with mt.no_grad() if instruction.changes else nullcontext():
            ours = outcome(instruction.call, mt, *operands, *settings)
        theirs = outcome(on_arrays, instruction, [self.theirs[i] for i in chosen], settings)
        self.check(isinstance(ours, Exception) == isinstance(theirs, Exception), ours, theirs)
        if isinstance(ours, Exception):
            self.check(isinstance(ours, (mt.errors.TensorError, TypeError, ValueError)), ours, "")
            self.text[-1] = f"{call} is refused"
        elif instruction.changes:
            for tensor, array in zip(self.ours, self.theirs, strict=True):
                self.compare(tensor, array, [tensor])
            self.theirs[chosen[0]][...] = np.array(operands[0].detach())
        else:
            self.keep(ours, theirs, operands)
        return True

    def not_alike(self, chosen: Sequence[int]) -> bool:
        """Return whether an in-place change intentionally differs from NumPy.

        In mt_tensor, views that repeat elements cannot be changed, and overlapping arguments are
        read before they are written.
        """
        target, *others = [self.ours[i]._tensor for i in chosen]
        return overlaps(target.shape, target.strides) or any(
            other.storage is target.storage for other in others
        )

    def keep(self, ours: mt.Tensor, theirs: Array, operands: Sequence[mt.Tensor]) -> None:
        """Compare a result, and keep it if its elements are neither too large nor too many."""
        self.compare(ours, theirs, operands)
        if not self.check_memory(ours, theirs):
            if ours.is_floating_point() and not (abs(ours.detach()) <= BOUND).all():
                self.text.pop()
                return
            ours = ours.contiguous()
            theirs = np.array(ours.detach())
        if ours.numel() <= LARGEST:
            self.ours.append(ours)
            self.theirs.append(theirs)
        else:
            self.text.pop()

    def check_memory(self, ours: mt.Tensor, theirs: Array) -> bool:
        """Compare the tensors that a result shares memory with; return whether there are any."""
        found = False
        for other, others in zip(self.ours, self.theirs, strict=True):
            if ours.numel() and other.numel():
                shared = ours._tensor.storage is other._tensor.storage
                expected = _owner(theirs) is _owner(others)
                self.check(expected is shared, f"shares memory: {shared}", expected)
                found = found or shared
        return found

    def compare(self, ours: mt.Tensor, theirs: Array, operands: Sequence[mt.Tensor]) -> None:
        """Compare shape and elements, but not dtype: NumPy has other promotion rules."""
        self.check(ours.shape == theirs.shape, ours.shape, theirs.shape)
        array = np.array(ours.detach())
        if array.dtype.kind != "f":
            self.check(np.array_equal(array, theirs.astype(array.dtype)), array, theirs)
            return
        scale = max(float(np.abs(np.array(x.detach())).max(initial=1)) for x in operands)
        error = 16 * np.finfo(array.dtype).eps
        close = np.isclose(
            array, theirs, rtol=error, atol=error * LARGEST * scale * scale, equal_nan=True
        )
        self.check(bool(close.all()), array, theirs)

    def check(self, holds: bool, ours: object, theirs: object) -> None:
        """Raise an error with the whole program unless a condition holds."""
        if not holds:
            program = "\n".join(self.text)
            raise AssertionError(f"{program}\n\nhere:\n{ours!r}\n\nin NumPy:\n{theirs!r}")


def run(draw: Draw) -> Program:
    """Create tensors and run a number of instructions."""
    program = Program()
    program.start(some_arrays(draw))
    left = draw.between(5, 20)
    while left:
        left -= program.step(draw)
    return program


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_random_programs_match_numpy(backend: str, data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with use_backend(backend):
        run(draw)


def _copied(x: Any, order: Any, original: Any = Permute.apply) -> Any:
    return original(x, order).clone()


@pytest.mark.parametrize(
    ("owner", "name", "fault", "message"),
    [
        (Permute, "apply", staticmethod(_copied), "shares memory: False"),
        (mt.Tensor, "fill_", lambda x, value: x, "fill_"),
        (mt.Tensor, "contiguous", lambda x: x.clone(), "shares memory: False"),
    ],
)
def test_random_programs_find_fault(
    owner: Any, name: str, fault: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(AssertionError, match=message):
        run_programs(100)


def run_programs(count: int) -> None:
    rng = random.Random(0)
    for _ in range(count):
        run(Draw(rng.randrange))
