"""Calls with changed tensors or settings: mt_nn raises where torch does, or returns the same.

Each tensor of a call in the tables is changed in shape, dtype or values, and each setting gets
another value. Intended differences are listed in `DISAGREEMENTS`, with the reason.
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
from mt_nn.conformance.in_torch import IN_TORCH, constant, torch, torch_function, torch_layer
from mt_tensor.errors import TensorError

pytestmark = pytest.mark.filterwarnings("ignore")
"""Torch warns of many of these calls."""


class KeepDtype(NamedTuple):
    """An array that keeps its dtype; other float arrays are converted to float64."""

    array: np.ndarray[Any, Any]


# --- Changes --------------------------------------------------------------------------------------

DTYPES = ("int64", "int32", "bool", "float16", "float32")


def changes_of(array: Any) -> Iterator[tuple[str, Any]]:
    """Yield changed versions of a tensor, with a name for each change."""
    array = np.asarray(array)
    yield "one more dimension", array[None]
    yield "two more dimensions", array[None, None]
    yield (
        "0-d",
        np.asarray(array.reshape(-1)[:1].reshape(())) if array.size else np.ones((), array.dtype),
    )
    if array.ndim and len(array):
        yield "one dimension less", np.asarray(array[0])
    for dim, length in enumerate(array.shape):
        if length:
            yield f"longer along {dim}", np.concatenate([array, array.take([0], dim)], dim)
            yield f"shorter along {dim}", array.take(range(length - 1), dim)
            yield f"empty along {dim}", array.take([], dim)
    for dtype in DTYPES:
        if array.dtype != dtype or dtype == "float32":
            yield f"to {dtype}", KeepDtype(array.astype(dtype))
    if array.dtype.kind == "i" and array.size:
        yield "too large", array + 1000
        yield "negative", array - 1000


OTHER_SETTINGS = (0, -1, 1, 2, 5, True, (1, 2), (1, 2, 3), [2], (), 0.5, -0.5, "?", None)


class Case(NamedTuple):
    """A changed call and the name of the change."""

    call: Call
    change: str


def cases_of(call: Call) -> list[Case]:
    """Return the call with every change of every tensor."""
    found = []
    fields = {field: getattr(call, field) for field in ("inputs", "options", "settings")}
    if not call.is_function:
        del fields["settings"]
    for number, array in enumerate(arrays_of(fields)):
        for change, value in changes_of(array):
            changed = with_replaced_array(fields, number, value)
            found.append(Case(dataclasses.replace(call, **changed), f"{number}: {change}"))
    return [case for case in found if not crashes_torch(case)]


def crashes_torch(case: Case) -> bool:
    """Return whether the call crashes the process in torch 2.13."""
    name, change = case.call.name, case.change
    has_no_bags = name.endswith(("EmbeddingBag", "embedding_bag")) and "empty along 0" in change
    has_no_heads = "enable_gqa" in case.call.settings and "1: empty along 1" in change
    return has_no_bags or has_no_heads


def resettings_of(call: Call) -> list[Case]:
    """Return the call with every change of every setting."""
    return [
        Case(dataclasses.replace(call, settings={**call.settings, name: other}), f"{name}={other}")
        for name, value in call.settings.items()
        if not isinstance(value, Call | np.ndarray) and not callable(value) and name != "dropout"
        for other in OTHER_SETTINGS
    ]


def with_replaced_array(value: Any, number: int, other: Any) -> Any:
    """Return a nested value with its array number `number` replaced."""
    count = itertools.count()
    other = other if isinstance(other, KeepDtype) else np.asarray(other)

    def replaced(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return other if next(count) == number else part
        if isinstance(part, tuple | list):
            return type(part)(map(replaced, part))
        return {k: replaced(v) for k, v in part.items()} if isinstance(part, dict) else part

    return replaced(value)


# --- Both libraries -------------------------------------------------------------------------------


def tensors(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Return a nested value with its arrays converted to tensors, floats to float64."""
    if isinstance(value, KeepDtype):
        return tensor(value.array)
    if isinstance(value, np.ndarray):
        return tensor(np.asarray(value.astype("float64") if value.dtype.kind == "f" else value))
    if isinstance(value, tuple | list):
        return type(value)(tensors(part, tensor) for part in value)
    return {k: tensors(v, tensor) for k, v in value.items()} if isinstance(value, dict) else value


def run_mt_nn(case: Case) -> Any:
    """Return the results of mt_nn as arrays, or the error."""
    mt.manual_seed(0)
    return results_or_error(case, mt.tensor, lambda: prepared(case.call, "float64")[0])


def run_torch(case: Case) -> Any:
    """Return the results of torch as arrays, or the error."""

    def make() -> Any:
        if case.call.is_function:
            return functools.partial(
                torch_function(case.call.name), **constants_of(case.call, constant)
            )
        return torch_layer(case.call)

    torch.manual_seed(0)
    return results_or_error(case, lambda array: torch.from_numpy(np.array(array)), make)


def results_or_error(case: Case, tensor: Callable[[Any], Any], make: Callable[[], Any]) -> Any:
    call = case.call
    keywords = {**call.options, **(call.settings if call.is_function else {})}
    try:
        results = make()(*tensors(call.inputs, tensor), **tensors(keywords, tensor))
        return [np.asarray(result.detach().numpy()) for result in arrays_of(results)]
    except Exception as error:  # noqa: BLE001 - torch raises many types
        return error


OUR_TYPE_ERROR = re.compile(
    "(is|must be) (a number|an? [a-z -]*integer|one of|True or False).* given"
)
"""The message of mt-tensor's TypeError for settings of a wrong type."""

ACCIDENTAL_ERROR = re.compile(
    "Dimension (specified as|out of range)|tuple index|index 0 (is )?out of range|"
    "'.*' object is|object of type|unsupported operand|'<=?' not supported|can only concatenate|"
    "only integers, slices|unhashable|expected np.ndarray|float.. argument must be"
)
"""Messages of errors that arise where torch has not checked its arguments."""


def is_caught_alike(mine: Exception, other: Exception) -> bool:
    """Return whether `except` for torch's error catches ours, or torch's error is accidental."""
    accidental = isinstance(other, AssertionError | ZeroDivisionError) or ACCIDENTAL_ERROR.search(
        str(other)
    )
    return isinstance(mine, type(other)) or bool(accidental)


def find_disagreement(case: Case) -> str | None:
    """Return how the two libraries disagree, or None."""
    mine, other = run_mt_nn(case), run_torch(case)
    if isinstance(mine, Exception):
        if not isinstance(mine, nn.NetworkError | TensorError) and not OUR_TYPE_ERROR.search(
            str(mine)
        ):
            return f"unexpected error: {mine!r}"
        if not isinstance(other, Exception):
            return f"rejected: {mine}"
        return (
            None if is_caught_alike(mine, other) else f"another error type: {other!r}, not {mine!r}"
        )
    if isinstance(other, Exception):
        return f"accepted: {other}"
    if [x.shape for x in mine] != [x.shape for x in other]:
        return f"other shapes: {[x.shape for x in mine]}, {[x.shape for x in other]}"
    if [x.dtype for x in mine] != [x.dtype for x in other]:
        return f"other dtypes: {[x.dtype for x in mine]}, {[x.dtype for x in other]}"
    if "to float16" in case.change:
        return None
    for x, y in zip(mine, other, strict=True):
        if not np.allclose(x.astype(float), y.astype(float), 1e-4, 1e-5, equal_nan=True):
            return "other values"
    return None


# --- Intended differences -------------------------------------------------------------------------


class Disagreement(NamedTuple):
    """Regular expressions for the call, the change and the difference, and the reason."""

    names: str
    changes: str
    how: str
    reason: str


SHAPES = "longer .*|shorter .*|empty .*|.*dimension.*|0-d"
"""All changes of the shape."""

DISAGREEMENTS = [
    Disagreement(
        ".*", "to .*", "accepted: .*not implemented for",
        "torch has no CPU kernel for this dtype; elementwise functions accept all dtypes here, and "
        "convert integers to float32",
    ),
    Disagreement(
        ".*", "to bool", "accepted: (Subtraction|Negation)",
        "bools are converted to 0 and 1, as in torch's mse_loss()",
    ),
    Disagreement(
        ".*[gG]aussian.*", "to (bool|int..)", "accepted: result type",
        "torch clamps the variances in place, which fails for integers",
    ),
    Disagreement(
        ".*attention|MultiheadAttention|Transformer.*", "to float.*", "accepted: .*types?",
        "an additive mask is converted to the dtype of the queries",
    ),
    Disagreement(
        ".*attention", "one dimension less|0-d", "accepted: Dimension",
        "masks broadcast, as the documentation of torch says",
    ),
    Disagreement(
        "AdaptiveAvgPool3d|functional.adaptive_avg_pool3d", "empty along 1", "accepted",
        "torch accepts it in 1-d and 2-d",
    ),
    Disagreement(
        "FractionalMaxPool3d|functional.fractional_max_pool3d", "shorter .*",
        "accepted: .*too large",
        "torch requires one more element in 3-d than in 2-d",
    ),
    Disagreement(
        "AvgPool3d|functional.avg_pool3d", "shorter along 2", "accepted: input image",
        "torch ignores ceil_mode when it checks the sizes",
    ),
    Disagreement(
        "EmbeddingBag|functional.embedding_bag", "empty along 1", "accepted: step must",
        "empty bags give zeros",
    ),
    Disagreement(
        "InstanceNorm.*|functional.instance_norm", "empty along 0", "accepted: select",
        "torch reads the first sample of an empty batch",
    ),
    Disagreement(
        ".*[lL]oss|functional.(kl_div|binary_cross_entropy.*)", SHAPES, "rejected: .*of one shape",
        "torch broadcasts, in some losses with a warning",
    ),
    Disagreement(
        ".*[lL]oss", "to (bool|int..)", "rejected: .*floating-point",
        "predictions must be floating-point: only these have gradients",
    ),
    Disagreement(
        ".*([nN][lL]{2}|cross_entropy|CrossEntropy|[mM]argin).*", "one more dimension",
        "rejected: .*scores of shape",
        "torch treats a batch of one sample as a sample without a batch dimension",
    ),
    Disagreement(
        ".*[dD]ropout.*", "to (bool|int..)", "rejected: .*floating-point",
        "torch rejects it as well, unless p is 0 or 1",
    ),
    Disagreement(
        ".*([dD]ropout[23]d|(feature_a|FeatureA)lpha.*)", SHAPES,
        "rejected: .*(dimension|channel)s",
        "torch accepts inputs without channels, with a warning",
    ),
    Disagreement(
        "CosineSimilarity|functional.cosine_similarity", "dim=.*", "another error type: TypeError",
        "dim may be a tuple here",
    ),
    Disagreement(
        ".*[pP]ool[123]d|.*[fF]old", "to (bool|int..)", "rejected: .*floating-point",
        "layers take floating-point inputs",
    ),
    Disagreement(
        ".*[lL]ocal.*", "to int64|empty along 1", "rejected",
        "layers take floating-point inputs with at least one channel",
    ),
    Disagreement(
        "functional.conv.*", "to .*", "rejected",
        "torch promotes or does not check in a few cases: for a bias, and without a batch",
    ),
    Disagreement(
        "functional.rms_norm|RMSNorm", "to .*", "rejected: .*one dtype",
        "torch promotes here, but raises in its other normalization layers",
    ),
    Disagreement(
        "InstanceNorm.*", "to float.*", "rejected: .*one dtype",
        "torch promotes if the statistics of the batch are used",
    ),
    Disagreement(
        "BatchNorm.*|InstanceNorm.*|functional.instance_norm", "empty along 1", "rejected",
        "torch does not check the number of channels of empty inputs",
    ),
    Disagreement(
        "Adaptive.*|functional.adaptive.*|Upsample|functional.interpolate", SHAPES, "rejected",
        "torch accepts some inputs that are empty or have too many dimensions",
    ),
    Disagreement(
        ".*attention", "(empty|shorter) .*", "rejected: .*(broadcast|attention)|other shapes",
        "torch does not check the values of empty inputs",
    ),
    Disagreement(
        "MultiheadAttention|TransformerEncoderLayer", ".*", "rejected: .*attn_mask",
        "torch's fast path for evaluation does not check the shape of the mask",
    ),
    Disagreement(
        "MultiheadAttention|TransformerEncoderLayer", "to float.*", "other values",
        "torch's fast path for evaluation treats a float mask as a bool mask",
    ),
    Disagreement(
        "MultiheadAttention", "add_bias_kv=.*", "other values",
        "with is_causal=True, torch hides the added key from all queries but one",
    ),
    Disagreement(
        "EmbeddingBag|functional.embedding_bag", "longer along 0|shorter along 0|to bool",
        "rejected",
        "torch checks neither the last offset against the number of indices nor the dtype",
    ),
    Disagreement(
        "LSTM|LSTMCell", "to .*", "rejected: .*state",
        "torch converts the state, but not the input",
    ),
    Disagreement(
        "functional.linear", SHAPES, "rejected: .*weight of shape",
        "torch also accepts a 1-d weight, and broadcasts the bias",
    ),
    Disagreement(
        ".*Huber.*|.*huber.*|.*[lL]ogits.*", "to float.*", "other dtypes",
        "dtypes are promoted as in all functions; torch returns the dtype of one argument",
    ),
    Disagreement(
        ".*[uU]nshuffle", "empty .*", "other shapes",
        "torch returns an empty input unchanged",
    ),
    Disagreement(
        ".*[sS]oft_?[mM]argin.*", "too large|negative", "other values",
        "exp() overflows in torch if the loss is large",
    ),
    Disagreement(
        "functional.lp_pool.d", "to int64", "other values",
        "torch computes powers of integers, and truncates their means",
    ),
]  # fmt: skip


def is_intended(case: Case, found: str) -> bool:
    """Return whether a disagreement is listed in `DISAGREEMENTS`."""
    change = case.change.partition(": ")[2] or case.change
    return any(
        re.fullmatch(names, case.call.name)
        and re.fullmatch(changes, change)
        and re.match(how, found, re.DOTALL)
        for names, changes, how, _ in DISAGREEMENTS
    )


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_calls_with_changed_tensors_match_torch_or_raise(data: st.DataObject) -> None:
    cases = cases_of(data.draw(st.sampled_from(IN_TORCH)))
    case = data.draw(st.sampled_from(cases))
    found = find_disagreement(case)
    assert found is None or is_intended(case, found), f"{case.call}, {case.change}: {found}"


CALLS_WITH_SETTINGS = [
    call
    for call in IN_TORCH
    if resettings_of(call) and not re.search("rrelu|dropout", call.name, re.IGNORECASE)
]
"""Calls that have settings and draw no random numbers."""


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_settings_accepted_by_both_libraries_give_the_same(data: st.DataObject) -> None:
    """Settings that only one library accepts are skipped: torch converts many values to bool."""
    cases = resettings_of(data.draw(st.sampled_from(CALLS_WITH_SETTINGS)))
    case = data.draw(st.sampled_from(cases))
    found = find_disagreement(case)
    if found is not None and not found.startswith(("accepted:", "rejected:")):
        assert is_intended(case, found), f"{case.call}, {case.change}: {found}"
