"""Whose memory the results of layers and functions lie in, where there is nothing to do.

Where torch gives a view, or the input itself, so does mt_nn; where torch gives a copy, a later
change in place leaves the input as it is.
"""

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls import CALLS
from mt_nn.conformance.calls.call import arrays_of, leaves_of, prepared

ITSELF = {
    "identity": lambda m: m.Identity(),
    "an empty sequence": lambda m: m.Sequential(),
    "flatten": lambda m: m.Flatten(),
    "unflatten": lambda m: m.Unflatten(1, (1, 1)),
}
"""Layers whose result lies in the memory of their input."""

APART = {
    "pad": lambda m: lambda x: m.functional.pad(x, (0, 0)),
    "pad nothing": lambda m: lambda x: m.functional.pad(x, ()),
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
"""Layers and functions whose result lies in memory of its own, set so that nothing is to do."""

DROPOUT = {
    f"{name}({p}){'' if training else ' in evaluation'}": lambda m, n=name, p=p, t=training: (
        getattr(m, n)(p).train(t)
    )
    for name in ("Dropout", "Dropout2d", "AlphaDropout", "FeatureAlphaDropout")
    for p, training in ((0.0, True), (0.5, False))
}
"""Layers that leave out nothing: whether they copy is torch's choice, layer by layer."""

PASSING_ON = ("Flatten", "Unflatten", "Identity", "ropout", "DropPath", "drop_path")
"""Parts of the names of what may pass its input on."""

IMAGES = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)


def shares(make):
    x = mt.tensor(IMAGES)
    result = make(nn)(x)
    shared = x.backend.same_memory(result._tensor.storage, x._tensor.storage)
    result.zero_()
    assert np.array_equal(x, IMAGES) != shared
    return shared


@pytest.mark.parametrize("name", ITSELF)
def test_a_change_of_what_was_only_passed_on_changes_the_input(name):
    assert shares(ITSELF[name])


@pytest.mark.parametrize("name", APART)
def test_a_change_of_a_result_leaves_the_input_as_it_is(name):
    assert not shares(APART[name])


@pytest.mark.parametrize("name", [*ITSELF, *APART, *DROPOUT])
def test_torch_shares_the_same(name):
    torch = pytest.importorskip("torch")
    make = {**ITSELF, **APART, **DROPOUT}[name]
    x = torch.tensor(IMAGES)
    theirs = make(torch.nn)(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert shares(make) == theirs


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_results_lie_in_memory_of_their_own(call):
    """Of all calls of the tables: only what gives another shape, or drops nothing, passes it on."""
    if any(part in call.name for part in PASSING_ON):
        return
    function, parameters = prepared(call, "float32")
    inputs, options = leaves_of(call.inputs, "float32"), leaves_of(call.options, "float32")
    keywords = {**options, **(leaves_of(call.settings, "float32") if call.is_function else {})}
    taken = [*arrays_of([*inputs, keywords]), *parameters]
    for result in arrays_of(function(*inputs, **keywords)):
        for tensor in taken:
            assert not result.backend.same_memory(result._tensor.storage, tensor._tensor.storage)
