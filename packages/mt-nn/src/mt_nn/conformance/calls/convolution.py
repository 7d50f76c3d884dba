"""Calls of convolutions and transposed convolutions."""

from __future__ import annotations

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

X1, X2, X3 = draw(2, 4, 9), draw(1, 4, 6, 5), draw(1, 2, 4, 5, 3)
W1, W2, W3 = draw(2, 4, 3), draw(2, 4, 3, 2), draw(2, 2, 2, 3, 1)

CALLS = [
    *(
        call("Conv2d", X2, in_channels=4, out_channels=4, **settings)
        for settings in (
            {"kernel_size": 3},
            {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 2), "bias": False},
            {"kernel_size": 2, "dilation": (2, 3), "groups": 2},
            {"kernel_size": (4, 3), "padding": "same", "dilation": (1, 2)},
            {"kernel_size": 3, "padding": "valid"},
            {"kernel_size": 3, "padding": (2, 1), "padding_mode": "reflect", "stride": 2},
            {"kernel_size": (3, 2), "padding": "same", "padding_mode": "replicate"},
            {"kernel_size": 3, "padding": 1, "padding_mode": "circular"},
        )
    ),
    call("Conv2d", X2[0], in_channels=4, out_channels=2, kernel_size=3),
    call("Conv1d", X1, in_channels=4, out_channels=2, kernel_size=3),
    call(
        "Conv1d", X1[0], in_channels=4, out_channels=4, kernel_size=(4,), padding="same", groups=2,
        padding_mode="reflect"),
    call(
        "Conv3d", X3, in_channels=2, out_channels=2, kernel_size=2, stride=(2, 1, 1), padding=1,
        groups=2, padding_mode="circular"),
    call(
        "Conv3d", X3, in_channels=2, out_channels=1, kernel_size=(2, 3, 2), dilation=(2, 1, 1),
        padding="same"),
    call("functional.conv2d", X2, draw(4, 1, 3, 3), draw(4), padding=1, groups=4),
    call("functional.conv2d", X2[0], W2, draw(2), padding="same"),
    call("functional.conv2d", X2, W2, stride=(2,), padding="valid"),
    call("functional.conv2d", draw(0, 4, 6, 5), W2),
    call("functional.conv1d", draw(2, 3, 9), draw(2, 3, 4), stride=2),
    call("functional.conv1d", X1[0], W1, draw(2), dilation=2, padding="same"),
    call("functional.conv3d", X3, W3, draw(2)),
    call("functional.conv3d", X3[0], W3, stride=2, padding=(1, 2, 0)),
    call("functional.conv3d", X3, W3, padding="same", dilation=(2, 1, 3)),
    *(
        call("ConvTranspose2d", draw(2, 4, 3, 2), in_channels=4, out_channels=2,
             options=options, **settings)
        for settings, options in (
            ({"kernel_size": 3}, {}),
            ({"kernel_size": (2, 3), "stride": 2, "padding": (0, 1), "bias": False}, {}),
            ({"kernel_size": 3, "stride": 3, "output_padding": (2, 1), "groups": 2}, {}),
            ({"kernel_size": 2, "dilation": (2, 3), "padding": 1, "output_padding": 1}, {}),
            ({"kernel_size": 3, "stride": 2, "padding": 1}, {"output_size": [6, 3]}),
            ({"kernel_size": 3, "stride": 2}, {"output_size": [2, 2, 8, 5]}),
        )
    ),
    call(
        "ConvTranspose1d", draw(4, 5), in_channels=4, out_channels=4, kernel_size=3, stride=2,
        padding=1, output_padding=1, groups=2),
    call(
        "ConvTranspose3d", draw(1, 2, 2, 3, 2), in_channels=2, out_channels=2, kernel_size=2,
        stride=(2, 1, 1)),
    call(
        "functional.conv_transpose2d", draw(4, 3, 4), draw(4, 2, 2, 3), draw(2), stride=(1, 2)),
    call(
        "functional.conv_transpose2d", draw(1, 2, 4, 4), draw(2, 2, 1, 2), draw(2), padding=1,
        stride=2, output_padding=1),
    call("functional.conv_transpose1d", draw(2, 4, 5), draw(4, 1, 2), stride=2),
    call(
        "functional.conv_transpose3d", draw(2, 2, 3, 2), draw(2, 1, 2, 2, 1), draw(1), stride=2,
        padding=(1, 0, 0)),
]  # fmt: skip
