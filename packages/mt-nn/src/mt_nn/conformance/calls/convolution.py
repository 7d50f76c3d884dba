"""Convolutions, and what undoes the change of their size."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
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
    call(
        "functional.conv2d", X2, draw(4, 1, 3, 3), draw(4), padding=1, groups=4
    ),
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

REFUSED: list[Refused] = [
    refused("functional.conv2d", X2, draw(2, 3, 3, 3), says="expects 3 channels"),
    refused("functional.conv2d", X2, draw(2, 4, 9, 3), says="window of 9"),
    refused("functional.conv2d", X2[:, :, :0], W2, padding=2, says="have no windows"),
    refused("functional.conv2d", X2[0, 0], W2, says=r"images of shape .* \(6, 5\)"),
    refused("functional.conv2d", X2, W2, draw(3), says="takes a bias of shape"),
    refused("functional.conv2d", X2, W1, padding="same", says="takes a weight of shape"),
    refused("functional.conv2d", X2, W2, padding="same", stride=2, says="for a stride of 1"),
    refused("functional.conv2d", X2, W2, padding="full", says="same, valid; got 'full'"),
    refused("functional.conv2d", X2, W2, stride=(1, 2, 3), says="stride must be one or two"),
    refused("functional.conv1d", X2, W1, says="signals of shape"),
    refused("functional.conv1d", X1, W1, stride=0, says="stride must be a positive integer"),
    refused("functional.conv3d", X2[0], W3, says="volumes of shape"),
    refused("functional.conv3d", X3, draw(2, 1, 2, 2, 2), says="expects 1 channels"),
    refused("Conv1d", X2, in_channels=4, out_channels=2, kernel_size=1, says="signals"),
    refused("Conv2d", X2, in_channels=3, out_channels=2, kernel_size=1, says="expects 3 channels"),
    refused("Conv2d", in_channels=3, out_channels=2, kernel_size=1, groups=2, says="multiples"),
    refused("Conv2d", in_channels=2, out_channels=2, kernel_size=1, padding="sam", says="'sam'"),
    refused("Conv2d", in_channels=2, out_channels=2, kernel_size=1, padding="same", stride=2,
            says="for a stride of 1"),
    refused("Conv2d", in_channels=2, out_channels=2, kernel_size=1, padding_mode="ring",
            says="padding_mode must be one of zeros"),
    refused("Conv2d", X2, in_channels=4, out_channels=2, kernel_size=3, padding=6,
            padding_mode="reflect", says="cannot be padded by 6"),
    refused("ConvTranspose2d", in_channels=2, out_channels=2, kernel_size=1,
            padding_mode="reflect", says="'zeros' alone"),
    refused("functional.conv_transpose2d", X2, W2, says="takes a weight of shape"),
    refused("functional.conv_transpose2d", X2, draw(4, 1, 3, 3), groups=3, says="multiple of 3"),
    refused("functional.conv_transpose2d", X2, draw(4, 1, 3, 3), draw(2), says="takes a bias"),
    refused("functional.conv_transpose2d", X2, draw(4, 1, 3, 3), output_padding=1,
            says="must be less than the stride"),
    refused("functional.conv_transpose2d", X2, draw(4, 1, 3, 3), padding=4, says="would leave"),
    refused("functional.conv_transpose1d", X1[..., :0], draw(4, 1, 3), says="would leave"),
    refused("functional.conv2d", draw(1, 2, 4, 4), np.ones((3, 2, 2, 2), int), says="one dtype"),
    refused("functional.conv1d", draw(1, 2, 4), draw(3, 2, 2), np.ones(3, int), says="one dtype"),
    refused("functional.conv2d", draw(1, 2, 4, 4), draw(0, 2, 2, 2), says="at least one element"),
    refused("functional.conv_transpose1d", draw(1, 2, 4), np.ones((2, 3, 2), int), says="dtype"),
    refused("functional.conv_transpose1d", draw(1, 2, 4), draw(2, 0, 2), says="at least one"),
    refused("functional.conv2d", draw(1, 2, 4, 4), draw(3, 2, 2, 2), stride="2", says="stride"),
]  # fmt: skip
