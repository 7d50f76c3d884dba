"""Random programs on tensors, run side by side on mt_tensor and on a reference.

A program makes a few tensors and then follows instructions: views, new tensors, changes in place.
After every instruction all tensors that are alive must agree with the reference, so that a change
shows through each view as it should. The reference is torch where it is installed: then element
types, shared memory, refusals and gradients are compared, too, and most changes are recorded.
Otherwise it is NumPy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.conformance.instructions import INSTRUCTIONS, Draw, Instruction
from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import overlaps
from mt_tensor.testing.reference import LIBRARY
from mt_tensor.testing.reference import Reference as ReferenceArray

LARGEST = 128  # elements of a tensor that is kept
CHANGES = [instruction for instruction in INSTRUCTIONS if instruction.changes]
BOUND = 50.0  # numbers beyond this are not computed with, for they hide small errors


class NumpyReference:
    """NumPy arrays beside the tensors: values and views."""

    no_grad = staticmethod(contextlib.nullcontext)
    differentiates = False

    def make(self, array: Array, requires_grad: bool) -> Array:
        """Return the reference's own tensor with these elements."""
        return array.copy()

    def run(self, instruction: Instruction, operands: Sequence[Array], settings: Any) -> Any:
        """Follow an instruction."""
        with np.errstate(all="ignore"):
            arrays = [operand.view(ReferenceArray) for operand in operands]
            return np.asarray(instruction.call(LIBRARY, *arrays, *settings))

    def values(self, tensor: Array) -> Array:
        """Return the elements."""
        return tensor

    def shares(self, a: Array, b: Array) -> bool | None:
        """Whether two share memory."""
        return _owner(a) is _owner(b)

    def same_type(self, ours: mt.Tensor, theirs: Array) -> bool:
        """NumPy promotes by other rules."""
        return True

    def adopt(self, ours: mt.Tensor, theirs: Array) -> Array:
        """Return a new result with exactly our elements."""
        return np.array(ours.detach())

    def correct(self, ours: mt.Tensor, theirs: Array) -> None:
        """Make the elements of what was changed exactly ours."""
        theirs[...] = np.array(ours.detach())


class TorchReference:
    """torch's tensors beside ours: all that can be seen of them."""

    differentiates = True

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.no_grad = torch.no_grad

    def make(self, array: Array, requires_grad: bool) -> Any:
        """Return the reference's own tensor with these elements."""
        return self.torch.tensor(array, requires_grad=requires_grad)

    def run(self, instruction: Instruction, operands: Sequence[Any], settings: Any) -> Any:
        """Follow an instruction."""
        for operand in operands:
            operand.grad_fn  # noqa: B018 - a view learns of its base's history when asked for it
        return instruction.call(self.torch, *operands, *settings)

    def values(self, tensor: Any) -> Array:
        """Return the elements."""
        array: Array = tensor.detach().numpy()
        return array

    def shares(self, a: Any, b: Any) -> bool | None:
        """Whether two share memory; None where nothing can be said."""
        places = [x.untyped_storage().data_ptr() for x in (a, b)]
        return places[0] == places[1] if all(places) else None

    def same_type(self, ours: mt.Tensor, theirs: Any) -> bool:
        """Whether the element types agree."""
        return str(theirs.dtype) == f"torch.{ours.dtype.name}"

    def adopt(self, ours: mt.Tensor, theirs: Any) -> Any:
        """Return a new result with exactly our elements, without torch noticing the change."""
        theirs = theirs.contiguous()  # torch keeps the order of its arguments in memory
        self.correct(ours, theirs)
        return theirs

    def correct(self, ours: mt.Tensor, theirs: Any) -> None:
        """Make the elements of what was changed exactly ours, without torch noticing."""
        theirs.detach().numpy()[...] = np.array(ours.detach())


def _owner(array: Any) -> Any:
    """Return what owns the memory that an array is a view of."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


Reference = NumpyReference | TorchReference


@dataclass
class Program:
    """What has been computed so far, here and by the reference.

    Attributes:
        reference: what is compared with.
        ours: the tensors of mt_tensor.
        theirs: those of the reference.
        leaves: which of them want a gradient from the start.
        text: the instructions, to be shown where something disagrees.
    """

    reference: Reference
    ours: list[mt.Tensor] = field(default_factory=list)
    theirs: list[Any] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def start(self, arrays: Sequence[Array]) -> None:
        """Make the first tensors; those of floats want a gradient, but for the last."""
        for array in arrays:
            wanted = array.dtype.kind == "f" and array is not arrays[-1]
            self.text.append(
                f"t{len(self.ours)} = tensor({array.tolist()}, dtype={array.dtype}, "
                f"requires_grad={wanted})"
            )
            self.leaves += [len(self.ours)] * wanted
            self.ours.append(mt.tensor(array, requires_grad=wanted))
            self.theirs.append(self.reference.make(array, wanted))

    def step(self, draw: Draw) -> bool:
        """Choose an instruction and its arguments, follow it on both sides, and compare.

        Returns:
            False if it did not apply to the tensors that were chosen.
        """
        instruction = draw.one_of(CHANGES if draw.below(4) == 3 else INSTRUCTIONS)
        chosen = [draw.below(len(self.ours)) for _ in range(instruction.operands)]
        operands = [self.ours[i] for i in chosen]
        settings = instruction.settings(draw, *operands)
        if settings is None or (instruction.changes and self.not_alike(chosen)):
            return False
        unrecorded = instruction.changes and not (self.reference.differentiates and draw.below(4))
        names = [f"t{i}" for i in chosen]
        said = f"{instruction.name}({', '.join(names + [repr(s) for s in settings])})"
        said += " under no_grad()" * unrecorded
        self.text.append(f"t{len(self.ours)} = {said}")
        with contextlib.ExitStack() as stack:
            if unrecorded:
                stack.enter_context(mt.no_grad())
                stack.enter_context(self.reference.no_grad())
            ours = outcome(instruction.call, mt, *operands, *settings)
            theirs = outcome(
                self.reference.run, instruction, [self.theirs[i] for i in chosen], settings
            )
        self.check(isinstance(ours, Exception) == isinstance(theirs, Exception), ours, theirs)
        if isinstance(ours, Exception):
            self.check(isinstance(ours, (mt.errors.TensorError, TypeError, ValueError)), ours, "")
            self.text[-1] = f"{said} is refused"
        elif instruction.changes:
            self.text[-1] = said
            self.check_all()
            self.reference.correct(operands[0], self.theirs[chosen[0]])
        else:
            self.keep(ours, theirs, operands)
        return True

    def not_alike(self, chosen: Sequence[int]) -> bool:
        """Whether a change would meet what the libraries treat differently on purpose.

        Here, a view that repeats elements is never changed, and torch does not say when; arguments
        that overlap are read before they are written, and torch refuses.
        """
        target, *others = [self.ours[i]._tensor for i in chosen]
        return overlaps(target.shape, target.strides) or any(
            other.storage is target.storage for other in others
        )

    def keep(self, ours: mt.Tensor, theirs: Any, operands: Sequence[mt.Tensor]) -> None:
        """Compare a result, and go on with it if it is neither too large nor too long."""
        self.compare(ours, theirs, operands)
        self.check_identity(ours, theirs)
        if not self.check_memory(ours, theirs):
            if ours.is_floating_point() and not (abs(ours.detach()) <= BOUND).all():
                self.text.pop()
                return
            ours = ours.contiguous()
            theirs = self.reference.adopt(ours, theirs)
        if ours.numel() <= LARGEST:
            self.ours.append(ours)
            self.theirs.append(theirs)
        else:
            self.text.pop()

    def check_memory(self, ours: mt.Tensor, theirs: Any) -> bool:
        """Compare what a result shares its memory with, and return whether it shares any."""
        found = False
        for other, others in zip(self.ours, self.theirs, strict=True):
            if ours.numel() and other.numel():
                shared = ours._tensor.storage is other._tensor.storage
                expected = self.reference.shares(theirs, others)
                self.check(expected in (shared, None), f"shares memory: {shared}", expected)
                found = found or shared
        return found

    def check_identity(self, ours: mt.Tensor, theirs: Any) -> None:
        """Compare which earlier tensor, if any, a result itself is."""
        if isinstance(self.reference, TorchReference):
            same = [
                [x is y for y in known] for x, known in ((ours, self.ours), (theirs, self.theirs))
            ]
            self.check(same[0] == same[1], f"is an earlier tensor: {same[0]}", same[1])

    def check_all(self) -> None:
        """Compare everything that is alive."""
        for ours, theirs in zip(self.ours, self.theirs, strict=True):
            self.compare(ours, theirs, [ours])

    def compare(self, ours: mt.Tensor, theirs: Any, operands: Sequence[mt.Tensor]) -> None:
        """Compare shape, element type and elements."""
        values = self.reference.values(theirs)
        self.check(ours.shape == values.shape, ours.shape, values.shape)
        self.check(self.reference.same_type(ours, theirs), ours.dtype, values.dtype)
        array = np.array(ours.detach())
        if array.dtype.kind != "f":
            self.check(np.array_equal(array, values.astype(array.dtype)), array, values)
            return
        scale = max(float(np.abs(np.array(x.detach())).max(initial=1)) for x in operands)
        error = 16 * np.finfo(array.dtype).eps
        close = np.isclose(
            array, values, rtol=error, atol=error * LARGEST * scale * scale, equal_nan=True
        )
        self.check(bool(close.all()), array, values)

    def check_gradients(self) -> None:
        """Compare the gradients by the leaves of each tensor that has some."""
        if isinstance(self.reference, NumpyReference):
            return
        for number, (x, y) in enumerate(zip(self.ours, self.theirs, strict=True)):
            self.text.append(f"gradients of t{number}")
            self.check(x.requires_grad == y.requires_grad, x.requires_grad, y.requires_grad)
            self.check(x.is_leaf == y.is_leaf, x.is_leaf, y.is_leaf)
            if not x.requires_grad:
                continue
            ours = outcome(gradients, mt, x, [self.ours[i] for i in self.leaves])
            theirs = outcome(
                gradients, self.reference.torch, y, [self.theirs[i] for i in self.leaves]
            )
            if isinstance(ours, mt.errors.InPlaceError) or "modified by an inplace" in str(theirs):
                continue  # what an operation saves, and so may not be changed, is its own business
            self.check(isinstance(ours, tuple) and isinstance(theirs, tuple), ours, theirs)
            for our, their in zip(ours, theirs, strict=True):
                self.compare_gradients(our, their)

    def compare_gradients(self, ours: mt.Tensor | None, theirs: Any) -> None:
        """Compare one gradient: None where nothing depends on the leaf.

        For what depended on it until all was replaced by a copy, torch computes zeros.
        """
        if ours is None:
            self.check(theirs is None or not theirs.any(), ours, theirs)
        else:
            self.check(theirs is not None, ours, theirs)
            values = theirs.numpy()
            scale = float(np.abs(values).max(initial=1.0))
            close = np.isclose(np.array(ours), values, rtol=1e-4, atol=1e-5 * scale)
            self.check(bool(close.all()), ours, values)

    def check(self, holds: bool, ours: object, theirs: object) -> None:
        """Raise with the whole program unless something holds."""
        if not holds:
            program = "\n".join(self.text)
            raise AssertionError(f"{program}\n\nhere:\n{ours!r}\n\nreference:\n{theirs!r}")


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return what a call gives, or the error it raises."""
    try:
        return call(*args)
    except Exception as error:  # noqa: BLE001 - that both refuse is compared
        return error


def gradients(library: Any, tensor: Any, leaves: Sequence[Any]) -> Any:
    """Return the gradients by leaves of a sum in which each element has another weight."""
    weights = np.cos(np.arange(tensor.numel())).reshape(tuple(tensor.shape))
    total = (tensor.double() * library.tensor(weights)).sum()
    return library.autograd.grad(total, leaves, retain_graph=True, allow_unused=True)
