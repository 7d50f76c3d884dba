"""What torch refuses is refused, and what it takes is taken: the rows of the tables, changed.

Every tensor of a row becomes one of other dimensions, lengths or elements, and every setting
another value. Both libraries then refuse, or both return the same. Where they disagree on purpose,
it stands in `DISAGREEMENTS`, with the reason.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls import Call
from mt_nn.conformance.calls.call import arrays_of, constants_of, prepared
from mt_nn.conformance.in_torch import IN_TORCH, constant, theirs, torch, torch_layer
from mt_tensor.errors import TensorError

pytestmark = pytest.mark.filterwarnings("ignore")
"""Torch warns of much that is checked here."""


class Exact(NamedTuple):
    """An array whose element type is meant: that of others is float64, if they are floats."""

    array: np.ndarray[Any, Any]


# --- Changes --------------------------------------------------------------------------------------

DTYPES = ("int64", "int32", "bool", "float16", "float32")


def changes_of(array: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a tensor can be changed to, with a name for the change."""
    array = np.asarray(array)
    yield "a dimension more", array[None]
    yield "two dimensions more", array[None, None]
    yield (
        "a single number",
        np.asarray(array.reshape(-1)[:1].reshape(())) if array.size else np.ones((), array.dtype),
    )
    if array.ndim and len(array):
        yield "a dimension less", np.asarray(array[0])
    for dim, length in enumerate(array.shape):
        if length:
            yield f"more along {dim}", np.concatenate([array, array.take([0], dim)], dim)
            yield f"less along {dim}", array.take(range(length - 1), dim)
            yield f"nothing along {dim}", array.take([], dim)
    for dtype in DTYPES:
        if array.dtype != dtype or dtype == "float32":
            yield f"of {dtype}", Exact(array.astype(dtype))
    if array.dtype.kind == "i" and array.size:
        yield "too large", array + 1000
        yield "negative", array - 1000


SETTINGS = (0, -1, 1, 2, 5, True, (1, 2), (1, 2, 3), [2], (), 0.5, -0.5, "?", None)


class Case(NamedTuple):
    """A call that has been changed somewhere, and what was changed."""

    call: Call
    change: str


def cases_of(call: Call) -> list[Case]:
    """Return a row of the tables with each of its tensors changed in each way."""
    found = []
    whole = {field: getattr(call, field) for field in ("inputs", "options", "settings")}
    if not call.is_function:
        del whole["settings"]
    for number, array in enumerate(arrays_of(whole)):
        for change, value in changes_of(array):
            changed = _with(whole, number, value)
            found.append(Case(dataclasses.replace(call, **changed), f"{number}: {change}"))
    return [case for case in found if not _ends_torch(case)]


def _ends_torch(case: Case) -> bool:
    """Whether torch 2.13 does not return at all, but ends the process."""
    name, change = case.call.name, case.change
    is_without_bags = (
        name.endswith(("EmbeddingBag", "embedding_bag")) and "nothing along 0" in change
    )
    has_no_heads = "enable_gqa" in case.call.settings and "1: nothing along 1" in change
    return is_without_bags or has_no_heads


def resettings_of(call: Call) -> list[Case]:
    """Return a row of the tables with each of its settings changed in each way."""
    return [
        Case(dataclasses.replace(call, settings={**call.settings, name: other}), f"{name}={other}")
        for name, value in call.settings.items()
        if not isinstance(value, Call | np.ndarray) and not callable(value) and name != "dropout"
        for other in SETTINGS
    ]


def _with(value: Any, number: int, other: Any) -> Any:
    """Return a value with the array of this number in it replaced."""
    count = itertools.count()
    other = other if isinstance(other, Exact) else np.asarray(other)

    def exchanged(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return other if next(count) == number else part
        if isinstance(part, tuple | list):
            return type(part)(map(exchanged, part))
        return {k: exchanged(v) for k, v in part.items()} if isinstance(part, dict) else part

    return exchanged(value)


# --- Both libraries -------------------------------------------------------------------------------


def tensors(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Return a value with tensors for arrays: those of floats are leaves of float64."""
    if isinstance(value, Exact):
        return tensor(value.array)
    if isinstance(value, np.ndarray):
        return tensor(np.asarray(value.astype("float64") if value.dtype.kind == "f" else value))
    if isinstance(value, tuple | list):
        return type(value)(tensors(part, tensor) for part in value)
    return {k: tensors(v, tensor) for k, v in value.items()} if isinstance(value, dict) else value


def ours(case: Case) -> Any:
    """Return what the call returns here, as arrays, or the error."""
    mt.manual_seed(0)
    return _outcome(case, mt.tensor, lambda: prepared(case.call, "float64")[0])


def torchs(case: Case) -> Any:
    """Return what the call returns in torch, as arrays, or the error."""

    def made() -> Any:
        if case.call.is_function:
            return functools.partial(theirs(case.call.name), **constants_of(case.call, constant))
        return torch_layer(case.call)

    torch.manual_seed(0)
    return _outcome(case, lambda array: torch.from_numpy(np.array(array)), made)


def _outcome(case: Case, tensor: Callable[[Any], Any], make: Callable[[], Any]) -> Any:
    call = case.call
    keywords = {**call.options, **(call.settings if call.is_function else {})}
    try:
        results = make()(*tensors(call.inputs, tensor), **tensors(keywords, tensor))
        return [np.asarray(result.detach().numpy()) for result in arrays_of(results)]
    except Exception as error:  # noqa: BLE001 - torch raises many kinds
        return error


_SAYS_WHAT = re.compile("(is|must be) (a number|an? [a-z -]*integer|one of|True or False).* given")
"""What mt-tensor says of settings of a wrong type, in a TypeError."""

_UNCHECKED = re.compile(
    "Dimension (specified as|out of range)|tuple index|index 0 (is )?out of range|"
    "'.*' object is|object of type|unsupported operand|'<=?' not supported|can only concatenate|"
    "only integers, slices|unhashable|expected np.ndarray|float.. argument must be"
)
"""What torch, or Python, says from the depths of what torch has not checked."""


def caught_alike(mine: Exception, other: Exception) -> bool:
    """Whether what catches torch's error catches ours, where torch has chosen it."""
    by_chance = isinstance(other, AssertionError | ZeroDivisionError) or _UNCHECKED.search(
        str(other)
    )
    return isinstance(mine, type(other)) or bool(by_chance)


def disagreement(case: Case) -> str | None:
    """Return how the two libraries disagree; None if they do not."""
    mine, other = ours(case), torchs(case)
    if isinstance(mine, Exception):
        if not isinstance(mine, nn.NetworkError | TensorError) and not _SAYS_WHAT.search(str(mine)):
            return f"another kind of error: {mine!r}"
        if not isinstance(other, Exception):
            return f"refused: {mine}"
        return None if caught_alike(mine, other) else f"another class: {other!r}, not {mine!r}"
    if isinstance(other, Exception):
        return f"accepted: {other}"
    if [x.shape for x in mine] != [x.shape for x in other]:
        return f"other shapes: {[x.shape for x in mine]}, {[x.shape for x in other]}"
    if [x.dtype for x in mine] != [x.dtype for x in other]:
        return f"other dtypes: {[x.dtype for x in mine]}, {[x.dtype for x in other]}"
    if "of float16" in case.change:
        return None
    for x, y in zip(mine, other, strict=True):
        if not np.allclose(x.astype(float), y.astype(float), 1e-4, 1e-5, equal_nan=True):
            return "other values"
    return None


# --- Where they disagree on purpose ---------------------------------------------------------------


class Disagreement(NamedTuple):
    """Expressions for names, changes and how the libraries disagree, and the reason."""

    names: str
    changes: str
    how: str
    reason: str


SHAPES = "more .*|less .*|nothing .*|.* dimensions? .*|a single number"
"""Changes of shapes."""

DISAGREEMENTS = [
    Disagreement(
        ".*", "of .*", "accepted: .*not implemented for",
        "torch has no kernel for it on the CPU; element-wise functions take all types here, and "
        "make float32 of integers",
    ),
    Disagreement(
        ".*", "of bool", "accepted: (Subtraction|Negation)",
        "a bool counts as 0 or 1, as it does in torch's mse_loss()",
    ),
    Disagreement(
        ".*[gG]aussian.*", "of (bool|int..)", "accepted: result type",
        "torch changes the variances in place, which integers do not survive",
    ),
    Disagreement(
        ".*attention|MultiheadAttention|Transformer.*", "of float.*", "accepted: .*types?",
        "a mask that is added is converted to the type of the queries",
    ),
    Disagreement(
        ".*attention", "a dimension less|a single number", "accepted: Dimension",
        "a mask broadcasts, as torch says of it",
    ),
    Disagreement(
        "AdaptiveAvgPool3d|functional.adaptive_avg_pool3d", "nothing along 1", "accepted",
        "its likes for signals and images take it in torch, too",
    ),
    Disagreement(
        "FractionalMaxPool3d|functional.fractional_max_pool3d", "less .*", "accepted: .*too large",
        "torch asks for one more element of volumes than it does of images",
    ),
    Disagreement(
        "AvgPool3d|functional.avg_pool3d", "less along 2", "accepted: input image",
        "torch forgets ceil_mode where it compares the sizes",
    ),
    Disagreement(
        "EmbeddingBag|functional.embedding_bag", "nothing along 1", "accepted: step must",
        "bags of nothing are zeros",
    ),
    Disagreement(
        "InstanceNorm.*|functional.instance_norm", "nothing along 0", "accepted: select",
        "torch reads the first sample, and there is none",
    ),
    Disagreement(
        ".*[lL]oss|functional.(kl_div|binary_cross_entropy.*)", SHAPES, "refused: .*of one shape",
        "torch broadcasts them, some with a warning",
    ),
    Disagreement(
        ".*[lL]oss", "of (bool|int..)", "refused: .*floating-point",
        "predictions are floating-point numbers, the only ones with gradients",
    ),
    Disagreement(
        ".*([nN][lL]{2}|cross_entropy|CrossEntropy|[mM]argin).*", "a dimension more",
        "refused: .*scores of shape",
        "torch takes a batch of one sample for a sample without a batch",
    ),
    Disagreement(
        ".*[dD]ropout.*", "of (bool|int..)", "refused: .*floating-point",
        "torch refuses it, too, unless everything or nothing is left out",
    ),
    Disagreement(
        ".*([dD]ropout[23]d|(feature_a|FeatureA)lpha.*)", SHAPES, "refused: .*(dimension|channel)s",
        "torch takes what has no channels, and warns of it",
    ),
    Disagreement(
        "CosineSimilarity|functional.cosine_similarity", "dim=.*", "another class: TypeError",
        "several dimensions may be summed over here",
    ),
    Disagreement(
        ".*[pP]ool[123]d|.*[fF]old", "of (bool|int..)", "refused: .*floating-point",
        "layers of networks take floating-point numbers",
    ),
    Disagreement(
        ".*[lL]ocal.*", "of int64|nothing along 1", "refused",
        "layers of networks take floating-point numbers, and at least one channel",
    ),
    Disagreement(
        "functional.conv.*", "of .*", "refused",
        "torch promotes, or does not look, in a few cases: for a bias, and where there is no batch",
    ),
    Disagreement(
        "functional.rms_norm|RMSNorm", "of .*", "refused: .*one dtype",
        "torch promotes here, and refuses it in its other layers that normalize",
    ),
    Disagreement(
        "InstanceNorm.*", "of float.*", "refused: .*one dtype",
        "torch promotes if the batch's own statistics are used",
    ),
    Disagreement(
        "BatchNorm.*|InstanceNorm.*|functional.instance_norm", "nothing along 1", "refused",
        "torch does not compare the channels if there are no elements",
    ),
    Disagreement(
        "Adaptive.*|functional.adaptive.*|Upsample|functional.interpolate", SHAPES, "refused",
        "torch takes some inputs that have no elements, or too many dimensions to be images",
    ),
    Disagreement(
        ".*attention", "(nothing|less) .*", "refused: .*(broadcast|attention)|other shapes",
        "torch does not look at the values if there is no element",
    ),
    Disagreement(
        "MultiheadAttention|TransformerEncoderLayer", ".*", "refused: attn_mask",
        "torch's shorter way for evaluation does not look at the mask's shape",
    ),
    Disagreement(
        "MultiheadAttention|TransformerEncoderLayer", "of float.*", "other values",
        "torch's shorter way for evaluation takes a mask of floats for one of bools",
    ),
    Disagreement(
        "MultiheadAttention", "add_bias_kv=.*", "other values",
        "torch takes is_causal=True at its word, and hides the added key from all queries but one",
    ),
    Disagreement(
        "EmbeddingBag|functional.embedding_bag", "more along 0|less along 0|of bool", "refused",
        "torch does not compare the last offset with the number of numbers, nor look at the type",
    ),
    Disagreement(
        "LSTM|LSTMCell", "of .*", "refused: .*state",
        "torch converts what is remembered, but not what is shown",
    ),
    Disagreement(
        "functional.linear", SHAPES, "refused: .*weight of shape",
        "torch also takes a row for the weight, and broadcasts the bias",
    ),
    Disagreement(
        ".*Huber.*|.*huber.*|.*[lL]ogits.*", "of float.*", "other dtypes",
        "types are promoted as everywhere; torch returns that of one of the arguments",
    ),
    Disagreement(
        ".*[uU]nshuffle", "nothing .*", "other shapes",
        "torch returns the input if it has no elements",
    ),
    Disagreement(
        ".*[sS]oft_?[mM]argin.*", "too large|negative", "other values",
        "exp() is out of range in torch, where the loss is large",
    ),
    Disagreement(
        "functional.lp_pool.d", "of int64", "other values",
        "torch takes powers of integers, and means of these without their fraction",
    ),
]  # fmt: skip


def expected(case: Case, found: str) -> bool:
    """Whether a disagreement is on the list."""
    change = case.change.partition(": ")[2] or case.change
    return any(
        re.fullmatch(names, case.call.name)
        and re.fullmatch(changes, change)
        and re.match(how, found, re.DOTALL)
        for names, changes, how, _ in DISAGREEMENTS
    )


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_changed_calls_are_refused_as_in_torch(data: st.DataObject) -> None:
    cases = cases_of(data.draw(st.sampled_from(IN_TORCH)))
    case = data.draw(st.sampled_from(cases))
    found = disagreement(case)
    assert found is None or expected(case, found), f"{case.call}, {case.change}: {found}"


WITH_SETTINGS = [
    call
    for call in IN_TORCH
    if resettings_of(call) and not re.search("rrelu|dropout", call.name, re.IGNORECASE)
]
"""Those with settings, and without random numbers."""


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_changed_settings_do_what_they_do_in_torch_or_nothing(data: st.DataObject) -> None:
    """Settings that only one of the two takes are left alone: torch takes much for True, or 1."""
    cases = resettings_of(data.draw(st.sampled_from(WITH_SETTINGS)))
    case = data.draw(st.sampled_from(cases))
    found = disagreement(case)
    if found is not None and not found.startswith(("accepted:", "refused:")):
        assert expected(case, found), f"{case.call}, {case.change}: {found}"
