"""Decide whether elements differ only by rounding.

Both libraries compute each step from identical elements. If the results are not close, the program
is run again by the oracle in float64, with each value set to what it was before; this shows the
error of each library. The expected rounding error is estimated by perturbing the elements: a small
perturbation shows the effect of rounding the operands, and a larger one, in float64 and in float32,
the rounding errors of the formula itself. A result may differ by a few times as much, or by the
error of the oracle. At a discontinuity, where operands that are rounded give a result that is far
off, or infinite instead of finite, it may differ as much as these results.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from differential.libraries import Torch, namespace
from differential.programs import Step
from mt_tensor.core.dtypes import Array

CLOSE = 8
"""The difference that is always allowed, in units in the last place."""

ROUNDINGS = 8
"""The roundings of operands that a result may differ by; for a gradient, in each step."""

FAR = 1e-3
"""The relative perturbation for estimating the rounding errors of the formula."""

MOVES = 16
"""The number of perturbations."""

FLOATS = re.compile(r"torch\.float(?:16|32|64)\b|\.(?:half|float|double)\(\)")
"""Source that is replaced to make a program compute in float64 or float32."""

BOUND_BY_NORMS = re.compile(r"linalg\.|p?inv(erse)?$|(slog|log)?det$|matrix_power|cov$|corrcoef")
"""Operations on matrices, whose rounding errors are relative to the norm, not to elements."""

POWERS = re.compile(
    r"linalg\.(vector_|matrix_)?norm|norm$|(linalg\.)?det$|p?dist$|.*(pairwise_distance|lp_pool.d)$"
)
"""Operations that compute a power or a product from its logarithm, which errors are relative to."""

State = Mapping[str, Array]
"""Elements changed by a step, by the names of the values."""


def close(ours: Array, theirs: Array) -> Array:
    """Return which elements are equal up to a few units in the last place."""
    if ours.dtype.kind != "f":
        return np.asarray(ours == theirs)
    with np.errstate(all="ignore"):
        bound = CLOSE * (np.finfo(ours.dtype).eps * abs(theirs.astype(np.float64)))
        off = abs(ours.astype(np.float64) - theirs.astype(np.float64))
    smallest = np.finfo(ours.dtype).smallest_subnormal
    return np.asarray(_equal(ours, theirs) | (off <= bound + smallest))


def _equal(a: Array, b: Array) -> Array:
    """Return which elements are equal, including nan."""
    same: Array = (a == b) | (np.isnan(a) & np.isnan(b))
    return same


def within_rounding(
    ours: Array, theirs: Array, name: str, steps: Sequence[Step], states: Sequence[State]
) -> Array:
    """Return which of our elements are as accurate as the oracle's.

    Args:
        ours: our elements.
        theirs: the oracle's.
        name: the name of the value.
        steps: the program up to the step that computed it.
        states: the elements after each step except for the last.
    """
    near = close(ours, theirs)
    if near.all() or ours.dtype.kind != "f":
        return near
    exact = replayed(name, steps, states)
    if exact is None or exact.shape != ours.shape:
        return near
    finite = np.isfinite(exact)
    exact = np.where(finite, exact, theirs).astype(np.float64)
    differentiated = name.endswith(".grad") or steps[-1].operation == "autograd.grad"
    eps = float(np.finfo(ours.dtype).eps)
    if differentiated:
        eps = max([eps, *_kept(steps, states)])
    step = max(1e-6, 16 * eps)
    roundings = ROUNDINGS * (len(steps) if differentiated else 1)
    by_norm, by_power = (
        any(kind.match(step.operation) for step in (steps if differentiated else steps[-1:]))
        for kind in (BOUND_BY_NORMS, POWERS)
    )
    with np.errstate(all="ignore"):
        spread, own, jump = (np.zeros(exact.shape) for _ in range(3))
        stable = np.ones(exact.shape, bool)
        for seed in range(MOVES):
            nearby = replayed(name, steps, states, CLOSE * eps, seed, by_norm=by_norm)
            moved = replayed(name, steps, states, step, seed, by_norm=by_norm)
            wide, narrow = (
                replayed(name, steps, states, FAR, seed, dtype) for dtype in ("float64", "float32")
            )
            spread = np.maximum(spread, _distance(moved, exact))
            own = np.maximum(own, _distance(narrow, wide))
            if nearby is not None and nearby.shape == exact.shape:
                jump = np.maximum(jump, _distance(nearby, exact))
                stable &= np.isfinite(nearby) == finite
        rounded = exact.astype(ours.dtype)
        missed = abs(ours.astype(np.float64) - exact)
        allowed = CLOSE * eps * abs(exact) + roundings * eps * spread / step
        allowed += CLOSE * own * eps / float(np.finfo(np.float32).eps)
        allowed += CLOSE * abs(theirs.astype(np.float64) - exact)
        allowed += jump + 2 * float(np.finfo(ours.dtype).smallest_subnormal)
        if by_power:
            allowed += CLOSE * eps * np.nan_to_num(abs(exact * np.log(abs(exact))))
    if allowed.size and by_norm:
        allowed = np.full_like(allowed, np.nanmax(allowed))
    return np.asarray(near | _equal(ours, rounded) | (missed <= allowed) | ~stable)


def _kept(steps: Sequence[Step], states: Sequence[State]) -> list[float]:
    """Return the machine epsilons of dtypes that in-place operations rounded results to."""
    return [
        float(np.finfo(array.dtype).eps)
        for step, state in zip(steps, states, strict=False)
        if step.operation.endswith("_")
        for array in state.values()
        if array.dtype.kind == "f"
    ]


def _distance(a: Array | None, b: Array | None) -> Array:
    """Return the absolute difference of two results, 0 where it is undefined or infinite."""
    if a is None or b is None or a.shape != b.shape:
        return np.zeros(())
    off = abs(a.astype(np.float64) - b.astype(np.float64))
    return np.where(np.isfinite(off), off, 0.0)


def replayed(
    name: str,
    steps: Sequence[Step],
    states: Sequence[State],
    moved: float = 0.0,
    seed: int = 0,
    dtype: str = "float64",
    by_norm: bool = False,
) -> Array | None:
    """Return the oracle's result for a value in a dtype; None if it raises.

    Args:
        name: the name of the value.
        steps: the program up to the step that computes it.
        states: the elements after each step except for the last.
        moved: the relative perturbation.
        seed: the seed of its directions.
        dtype: the dtype of the computation.
        by_norm: whether the perturbation is relative to the largest element.
    """
    library = Torch()
    rng = np.random.default_rng(seed)
    names = namespace(library)
    torch = library.module
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        for number, step in enumerate(steps[:-1]):
            with contextlib.suppress(Exception):  # both sides have raised
                exec(_in(dtype, step.text(number)), names)
            _set(library, names, states[number], moved, rng, by_norm)
        exec(_in(dtype, steps[-1].text(len(steps) - 1)), names)
        found = value_of(names, name)
        return None if found is None else np.array(library.array(found))
    except Exception:  # noqa: BLE001 - the dtype may not be supported
        return None
    finally:
        torch.set_default_dtype(torch.float32)


def value_of(names: Mapping[str, Any], name: str) -> Any:
    """Return the value of a name: `v3`, `v3[0]`, `v3.grad`."""
    step, part, gradient = re.fullmatch(r"(v\d+)(?:\[(\d+)\])?(\.grad)?", name).groups()  # type: ignore[union-attr]
    value = names[step] if part is None else names[step][int(part)]
    return value.grad if gradient else value


def _in(dtype: str, text: str) -> str:
    """Return a line that computes in a dtype."""
    return FLOATS.sub(lambda x: f"torch.{dtype}" if x[0][0] == "t" else f".to(torch.{dtype})", text)


def _set(library: Torch, names: Any, state: State, moved: float, rng: Any, by_norm: bool) -> None:
    for name, array in state.items():
        if re.split(r"[\[.]", name)[0] not in names:
            continue  # the oracle has no such view in this layout
        new = array
        if moved and array.dtype.kind == "f":
            size = np.max(abs(array), initial=0.0) if by_norm else array
            new = array + moved * rng.uniform(-1, 1, array.shape) * size
        if moved and name in names and 0 in names[name].stride():
            names[name] = names[name].clone()  # elements in the same memory differ, too
        if name in names and names[name].shape != array.shape:
            names[name] = names[name].new_empty(array.shape)  # `unique` found others
        library.array(value_of(names, name))[...] = new
