"""Random programs on tensors, run on mt_tensor and on a reference.

A program creates a few tensors and then runs instructions: views, new tensors, changes in place.
After every instruction all live tensors must agree with the reference, so changes must be visible
through all views. The reference is torch if it is installed: then dtypes, shared memory, errors and
gradients are also compared, and most changes are recorded. Otherwise it is NumPy.
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

LARGEST = 128  # the largest size of a tensor that later instructions use
CHANGES = [instruction for instruction in INSTRUCTIONS if instruction.changes]
BOUND = 50.0  # larger numbers are excluded, because they hide small errors


class NumpyReference:
    """NumPy arrays: values and views are compared."""

    no_grad = staticmethod(contextlib.nullcontext)
    differentiates = False

    def make(self, array: Array, requires_grad: bool) -> Array:
        """Return a tensor of the reference with these elements."""
        return array.copy()

    def run(self, instruction: Instruction, operands: Sequence[Array], settings: Any) -> Any:
        """Run an instruction."""
        with np.errstate(all="ignore"):
            arrays = [operand.view(ReferenceArray) for operand in operands]
            return np.asarray(instruction.call(LIBRARY, *arrays, *settings))

    def values(self, tensor: Array) -> Array:
        """Return the elements."""
        return tensor

    def shares(self, a: Array, b: Array) -> bool | None:
        """Whether two arrays share memory."""
        return _owner(a) is _owner(b)

    def same_type(self, ours: mt.Tensor, theirs: Array) -> bool:
        """Return True, since NumPy has other promotion rules."""
        return True

    def adopt(self, ours: mt.Tensor, theirs: Array) -> Array:
        """Return a new reference tensor with exactly our elements."""
        return np.array(ours.detach())

    def correct(self, ours: mt.Tensor, theirs: Array) -> None:
        """Overwrite a changed array with exactly our elements."""
        theirs[...] = np.array(ours.detach())


class TorchReference:
    """torch's tensors: everything is compared."""

    differentiates = True

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.no_grad = torch.no_grad

    def make(self, array: Array, requires_grad: bool) -> Any:
        """Return a tensor of the reference with these elements."""
        return self.torch.tensor(array, requires_grad=requires_grad)

    def run(self, instruction: Instruction, operands: Sequence[Any], settings: Any) -> Any:
        """Run an instruction."""
        for operand in operands:
            operand.grad_fn  # noqa: B018 - reading it updates the graph of a view
        return instruction.call(self.torch, *operands, *settings)

    def values(self, tensor: Any) -> Array:
        """Return the elements."""
        return tensor.detach().numpy()  # type: ignore[no-any-return]

    def shares(self, a: Any, b: Any) -> bool | None:
        """Whether two tensors share memory; None if that is not known."""
        places = [x.untyped_storage().data_ptr() for x in (a, b)]
        return places[0] == places[1] if all(places) else None

    def same_type(self, ours: mt.Tensor, theirs: Any) -> bool:
        """Whether the dtypes agree."""
        return str(theirs.dtype) == f"torch.{ours.dtype.name}"

    def adopt(self, ours: mt.Tensor, theirs: Any) -> Any:
        """Return a new result with exactly our elements, without torch noticing the change."""
        theirs = theirs.contiguous()  # torch keeps the order of its arguments in memory
        self.correct(ours, theirs)
        return theirs

    def correct(self, ours: mt.Tensor, theirs: Any) -> None:
        """Overwrite a changed tensor with exactly our elements, without torch noticing."""
        theirs.detach().numpy()[...] = np.array(ours.detach())


def _owner(array: Any) -> Any:
    """Return the owner of the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


Reference = NumpyReference | TorchReference


@dataclass
class Program:
    """A program and its tensors, here and in the reference.

    Attributes:
        reference: the reference.
        ours: the tensors of mt_tensor.
        theirs: the tensors of the reference.
        leaves: the numbers of the leaves that require a gradient.
        text: the instructions, for messages.
    """

    reference: Reference
    ours: list[mt.Tensor] = field(default_factory=list)
    theirs: list[Any] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def start(self, arrays: Sequence[Array]) -> None:
        """Create the first tensors; all of floats but the last require a gradient."""
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
        """Choose an instruction and its arguments, run it on both sides, and compare.

        Returns:
            False if it does not apply to the chosen tensors.
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
        """Whether the libraries treat a change differently on purpose.

        Here, views that repeat elements cannot be changed, and overlapping arguments are read
        before they are written; in torch some of the first are changed, and the second refused.
        """
        target, *others = [self.ours[i]._tensor for i in chosen]
        return overlaps(target.shape, target.strides) or any(
            other.storage is target.storage for other in others
        )

    def keep(self, ours: mt.Tensor, theirs: Any, operands: Sequence[mt.Tensor]) -> None:
        """Compare a result, and keep it if its elements are neither too large nor too many."""
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
        """Compare the tensors that a result shares memory with; return whether there are any."""
        found = False
        for other, others in zip(self.ours, self.theirs, strict=True):
            if ours.numel() and other.numel():
                shared = ours._tensor.storage is other._tensor.storage
                expected = self.reference.shares(theirs, others)
                self.check(expected in (shared, None), f"shares memory: {shared}", expected)
                found = found or shared
        return found

    def check_identity(self, ours: mt.Tensor, theirs: Any) -> None:
        """Compare whether a result is an earlier tensor itself."""
        if isinstance(self.reference, TorchReference):
            same = [
                [x is y for y in known] for x, known in ((ours, self.ours), (theirs, self.theirs))
            ]
            self.check(same[0] == same[1], f"is an earlier tensor: {same[0]}", same[1])

    def check_all(self) -> None:
        """Compare all live tensors."""
        for ours, theirs in zip(self.ours, self.theirs, strict=True):
            self.compare(ours, theirs, [ours])

    def compare(self, ours: mt.Tensor, theirs: Any, operands: Sequence[mt.Tensor]) -> None:
        """Compare shape, dtype and elements."""
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
        """Compare the gradients of each tensor with respect to the leaves."""
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
                continue  # operations may save other tensors, which then must not be changed
            self.check(isinstance(ours, tuple) and isinstance(theirs, tuple), ours, theirs)
            for our, their in zip(ours, theirs, strict=True):
                self.compare_gradients(our, their)

    def compare_gradients(self, ours: mt.Tensor | None, theirs: Any) -> None:
        """Compare one gradient: None if the tensor does not depend on the leaf.

        torch computes zeros if it depended on the leaf until its elements were overwritten.
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
        """Raise an error with the whole program unless a condition holds."""
        if not holds:
            program = "\n".join(self.text)
            raise AssertionError(f"{program}\n\nhere:\n{ours!r}\n\nreference:\n{theirs!r}")


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call, or the error that it raises."""
    try:
        return call(*args)
    except Exception as error:  # noqa: BLE001 - that both refuse is compared
        return error


def gradients(library: Any, tensor: Any, leaves: Sequence[Any]) -> Any:
    """Return the gradients of a weighted sum of a tensor with respect to leaves."""
    weights = np.cos(np.arange(tensor.numel())).reshape(tuple(tensor.shape))
    total = (tensor.double() * library.tensor(weights)).sum()
    return library.autograd.grad(total, leaves, retain_graph=True, allow_unused=True)
