"""Layers without an effect: the result is a view of the input only where torch's is.

Where torch copies, an in-place change of the result does not affect the input.
"""

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls import CALLS
from mt_nn.conformance.calls.call import arrays_of, leaves_of, prepared

VIEWS = {
    "identity": lambda m: m.Identity(),
    "empty Sequential": lambda m: m.Sequential(),
    "flatten": lambda m: m.Flatten(),
    "unflatten": lambda m: m.Unflatten(1, (1, 1)),
}
"""Layers whose result shares memory with the input."""

COPIES = {
    "pad": lambda m: lambda x: m.functional.pad(x, (0, 0)),
    "pad of no dimension": lambda m: lambda x: m.functional.pad(x, ()),
    "pad that crops": lambda m: lambda x: m.functional.pad(x, (-1, 0)),
    "reflect": lambda m: m.ReflectionPad2d(0),
    "replicate": lambda m: m.ReplicationPad2d(0),
    "circular": lambda m: m.CircularPad2d(0),
    "circular that crops": lambda m: lambda x: m.functional.pad(x, (-1, 0, 0, 0), "circular"),
    "zeros": lambda m: m.ZeroPad2d(0),
    "constant": lambda m: m.ConstantPad2d(0, 1.0),
    "nearest": lambda m: lambda x: m.functional.interpolate(x, scale_factor=1),
    "bilinear": lambda m: m.Upsample(size=(4, 4), mode="bilinear"),
    "bicubic": lambda m: m.Upsample(scale_factor=1.0, mode="bicubic"),
    "area": lambda m: lambda x: m.functional.interpolate(x, size=4, mode="area"),
    "pixel_shuffle": lambda m: m.PixelShuffle(1),
    "pixel_unshuffle": lambda m: m.PixelUnshuffle(1),
    "channel_shuffle": lambda m: m.ChannelShuffle(1),
    "unfold": lambda m: m.Unfold(1),
    "fold": lambda m: lambda x: m.functional.fold(x.flatten(2), (4, 4), 1),
    "max_pool": lambda m: m.MaxPool2d(1),
    "avg_pool": lambda m: m.AvgPool2d(1),
    "lp_pool": lambda m: m.LPPool2d(1.0, 1),
    "adaptive_avg_pool": lambda m: m.AdaptiveAvgPool2d(4),
    "adaptive_max_pool": lambda m: m.AdaptiveMaxPool2d(4),
    "relu": lambda m: m.ReLU(),
    "hardtanh": lambda m: m.Hardtanh(-99.0, 99.0),
    "leaky_relu": lambda m: m.LeakyReLU(1.0),
    "normalize": lambda m: m.functional.normalize,
    "l1_loss": lambda m: lambda x: m.functional.l1_loss(x, x * 0, reduction="none"),
}
"""Layers and functions whose result is a copy, with settings that leave the values unchanged."""

DROPOUT = {
    f"{name}({p}){'' if training else ' in evaluation'}": lambda m, n=name, p=p, t=training: (
        getattr(m, n)(p).train(t)
    )
    for name in ("Dropout", "Dropout2d", "AlphaDropout", "FeatureAlphaDropout")
    for p, training in ((0.0, True), (0.5, False))
}
"""Dropout layers that drop nothing; some copy the input, others share its memory, as in torch."""

MAY_RETURN_A_VIEW = ("Flatten", "Unflatten", "Identity", "ropout")
"""Substrings of the names of layers that may return their input or a view of it."""

IMAGES = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)


def shares_memory_with_input(make):
    x = mt.tensor(IMAGES)
    result = make(nn)(x)
    shared = x.backend.same_memory(result._tensor.storage, x._tensor.storage)
    result.zero_()
    assert np.array_equal(x, IMAGES) != shared
    return shared


@pytest.mark.parametrize("name", VIEWS)
def test_in_place_change_of_view_changes_the_input(name):
    assert shares_memory_with_input(VIEWS[name])


@pytest.mark.parametrize("name", COPIES)
def test_in_place_change_of_copy_keeps_the_input(name):
    assert not shares_memory_with_input(COPIES[name])


@pytest.mark.parametrize("name", [*VIEWS, *COPIES, *DROPOUT])
def test_memory_is_shared_where_torch_shares_it(name):
    torch = pytest.importorskip("torch")
    make = {**VIEWS, **COPIES, **DROPOUT}[name]
    x = torch.tensor(IMAGES)
    shared = make(torch.nn)(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert shares_memory_with_input(make) == shared


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_results_do_not_share_memory_with_inputs(call):
    """Only reshaping layers, identity and dropout may return their input or a view of it."""
    if any(part in call.name for part in MAY_RETURN_A_VIEW):
        return
    function, parameters = prepared(call, "float32")
    inputs, options = leaves_of(call.inputs, "float32"), leaves_of(call.options, "float32")
    keywords = {**options, **(leaves_of(call.settings, "float32") if call.is_function else {})}
    sources = [*arrays_of([*inputs, keywords]), *parameters]
    for result in arrays_of(function(*inputs, **keywords)):
        for tensor in sources:
            assert not result.backend.same_memory(result._tensor.storage, tensor._tensor.storage)
