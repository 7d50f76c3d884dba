"""Invalid settings and inputs of layers and functions raise, here and in torch.

A row has the name of a layer or function and its arguments. Without inputs, the constructor of the
layer raises. `match` is a regular expression that matches the message.
"""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
from mt_nn.conformance.calls import (
    activation,
    adaptive_softmax,
    attention,
    convolution,
    distance,
    dropout,
    embedding,
    folding,
    linear,
    losses,
    padding,
    pooling,
    recurrent,
    resampling,
    transformer,
)
from mt_nn.conformance.calls.call import Call, mapped, outcome
from mt_nn.conformance.drawing import draw
from mt_tensor.errors import TensorError


def invalid(name: str, *inputs: Any, match: str, **settings: Any) -> Any:
    """Return a row of a table."""
    call = Call(name, inputs, settings)
    return pytest.param(call, match, id=str(call))


ACTIVATION = [
    invalid("GLU", draw(3), match="even size"),
    invalid("PReLU", draw(2, 3), num_parameters=2, match="one weight for each of 3 channel"),
    invalid("Softmax", activation.X, dim=2, match="dimension"),
    invalid("Softmax2d", activation.X, match="takes images"),
    invalid("Softshrink", activation.X, lambd=-1.0, match="must not be negative"),
    invalid("GELU", activation.X, approximate="tan", match="'tan' was given"),
    invalid("Hardtanh", min_val=1.0, max_val=0.0, match="must be below"),
    invalid("CELU", activation.X, alpha=0.0, match="must not be 0"),
    invalid(
        "functional.rrelu",
        activation.X,
        lower=0.5,
        upper=0.2,
        training=True,
        match="lower <= upper",
    ),
    invalid(
        "functional.rrelu",
        activation.X,
        lower=0.5,
        upper=np.inf,
        training=True,
        match="lower <= upper",
    ),
    invalid("functional.gumbel_softmax", np.array([1, 2]), match="floating-point"),
]

ADAPTIVE_SOFTMAX = [
    invalid(
        adaptive_softmax.NAME,
        draw(6, 7),
        adaptive_softmax.CLASSES,
        match="8",
        **adaptive_softmax.SETTINGS,
    ),
    invalid(
        adaptive_softmax.NAME,
        draw(2, 6, 8),
        adaptive_softmax.CLASSES,
        match="batch",
        **adaptive_softmax.SETTINGS,
    ),
    invalid(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES[:5],
        match="integer targets of shape",
        **adaptive_softmax.SETTINGS,
    ),
    invalid(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES + 1,
        match="from 0 to 11",
        **adaptive_softmax.SETTINGS,
    ),
    invalid(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES - 1,
        match="from 0 to 11",
        **adaptive_softmax.SETTINGS,
    ),
    invalid(
        adaptive_softmax.NAME, in_features=8, n_classes=5, cutoffs=[3, 2], match="cutoffs must be"
    ),
    invalid(
        adaptive_softmax.NAME, in_features=8, n_classes=12, cutoffs=[3, 6], match="no features"
    ),
    invalid(
        adaptive_softmax.NAME, in_features=8, n_classes=5, cutoffs=[5], match="cutoffs must be"
    ),
    invalid(
        adaptive_softmax.NAME,
        in_features=8,
        n_classes=5,
        cutoffs=[0, 2],
        match="a positive integer",
    ),
]

ATTENTION = [
    invalid(attention.SCALED, attention.Q, attention.K[..., :4], attention.V, match="shape"),
    invalid(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=draw(3, 6),
        match="do not broadcast",
    ),
    invalid(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=np.ones((4, 6), np.int64),
        match="bools or floats",
    ),
    invalid(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=draw(4, 6),
        is_causal=True,
        match="not both",
    ),
    invalid(
        attention.SCALED, attention.Q, attention.K, attention.V, dropout_p=1.5, match="probability"
    ),
    invalid(
        attention.SCALED,
        attention.Q,
        attention.K[:, :2],
        attention.V[:, :2],
        enable_gqa=True,
        match="divides that of the queries",
    ),
    invalid(
        attention.SCALED, attention.Q[0], attention.K[:, :2], attention.V, match="do not broadcast"
    ),
    invalid(
        attention.SCALED,
        attention.Q[0, 0, 0],
        attention.K,
        attention.V,
        match=r"attention\(\) takes queries",
    ),
    invalid("MultiheadAttention", match="multiple of num_heads", embed_dim=4, num_heads=3),
    invalid("MultiheadAttention", match="num_heads", embed_dim=4, num_heads=0),
    invalid(
        "MultiheadAttention",
        *(draw(3, 2, 5),) * 3,
        match="with 4, 4 and 4 features",
        **attention.ONE,
    ),
    invalid(
        "MultiheadAttention", draw(3, 2, 4), *(draw(3, 4),) * 2, match="shapes", **attention.ONE
    ),
    invalid(
        "MultiheadAttention", draw(3, 2, 4), *(draw(3, 1, 4),) * 2, match="shapes", **attention.ONE
    ),
    invalid(
        "MultiheadAttention",
        *attention.SELF_ATTENTION,
        draw(3, 2),
        match="takes key_padding_mask of bools",
        **attention.ONE,
    ),
    invalid(
        "MultiheadAttention",
        *attention.SELF_ATTENTION,
        draw(3),
        match="takes key_padding_mask of bools",
        **attention.ONE,
    ),
    invalid(
        "MultiheadAttention",
        *attention.SELF_ATTENTION,
        None,
        False,
        draw(3, 4),
        match="takes attn_mask of bools",
        **attention.ONE,
    ),
    invalid(
        "MultiheadAttention",
        *attention.SELF_ATTENTION,
        None,
        False,
        None,
        True,
        True,
        match="needs attn_mask, too",
        **attention.ONE,
    ),
]

CONVOLUTION = [
    invalid(
        "functional.conv2d",
        convolution.X2,
        draw(2, 3, 3, 3),
        match=r"shape \(2, 3, 3, 3\) expects 3 channels; 4 were given",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        draw(4, 3, 3, 3),
        groups=2,
        match=r"and groups=2 expects 6 channels; 4 were given",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        draw(3, 2, 3, 3),
        groups=2,
        match="a weight with a multiple of 2 output channels",
    ),
    invalid("functional.conv2d", convolution.X2, draw(2, 4, 9, 3), match="window of 9"),
    invalid(
        "functional.conv2d",
        convolution.X2[:, :, :0],
        convolution.W2,
        padding=2,
        match="at least one element",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2[0, 0],
        convolution.W2,
        match=r"images of shape .* \(6, 5\)",
    ),
    invalid(
        "functional.conv2d", convolution.X2, convolution.W2, draw(3), match="takes a bias of shape"
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        convolution.W1,
        padding="same",
        match="takes a weight of shape",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        padding="same",
        stride=2,
        match="needs a stride of 1",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        padding="full",
        match="same, valid; got 'full'",
    ),
    invalid(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        stride=(1, 2, 3),
        match="stride must be one or two",
    ),
    invalid("functional.conv1d", convolution.X2, convolution.W1, match="signals of shape"),
    invalid(
        "functional.conv1d",
        convolution.X1,
        convolution.W1,
        stride=0,
        match="stride must be a positive integer",
    ),
    invalid("functional.conv3d", convolution.X2[0], convolution.W3, match="volumes of shape"),
    invalid("functional.conv3d", convolution.X3, draw(2, 1, 2, 2, 2), match="expects 1 channels"),
    invalid(
        "Conv1d", convolution.X2, in_channels=4, out_channels=2, kernel_size=1, match="signals"
    ),
    invalid(
        "Conv2d",
        convolution.X2,
        in_channels=3,
        out_channels=2,
        kernel_size=1,
        match="expects 3 channels",
    ),
    invalid("Conv2d", in_channels=3, out_channels=2, kernel_size=1, groups=2, match="multiples"),
    invalid("Conv2d", in_channels=2, out_channels=2, kernel_size=1, padding="sam", match="'sam'"),
    invalid(
        "Conv2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding="same",
        stride=2,
        match="needs a stride of 1",
    ),
    invalid(
        "Conv2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding_mode="ring",
        match="padding_mode must be one of zeros",
    ),
    invalid(
        "Conv2d",
        convolution.X2,
        in_channels=4,
        out_channels=2,
        kernel_size=3,
        padding=6,
        padding_mode="reflect",
        match="cannot be padded by 6",
    ),
    invalid(
        "ConvTranspose2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding_mode="reflect",
        match="only padding_mode='zeros'",
    ),
    invalid(
        "functional.conv_transpose2d",
        convolution.X2,
        convolution.W2,
        match="takes a weight of shape",
    ),
    invalid(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        groups=3,
        match="multiple of 3",
    ),
    invalid(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        draw(2),
        match="takes a bias",
    ),
    invalid(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        output_padding=1,
        match="must be less than the stride",
    ),
    invalid(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        padding=4,
        match="would leave",
    ),
    invalid(
        "functional.conv_transpose1d", convolution.X1[..., :0], draw(4, 1, 3), match="would leave"
    ),
    invalid("functional.conv2d", draw(1, 2, 4, 4), np.ones((3, 2, 2, 2), int), match="one dtype"),
    invalid("functional.conv1d", draw(1, 2, 4), draw(3, 2, 2), np.ones(3, int), match="one dtype"),
    invalid("functional.conv2d", draw(1, 2, 4, 4), draw(0, 2, 2, 2), match="at least one element"),
    invalid("functional.conv_transpose1d", draw(1, 2, 4), np.ones((2, 3, 2), int), match="dtype"),
    invalid("functional.conv_transpose1d", draw(1, 2, 4), draw(2, 0, 2), match="at least one"),
    invalid("functional.conv2d", draw(1, 2, 4, 4), draw(3, 2, 2, 2), stride="2", match="stride"),
]

DISTANCE = [
    invalid("functional.normalize", distance.X, dim=2, match="out of range"),
    invalid("functional.normalize", np.zeros((2, 2), np.int64), match="int64 was given"),
    invalid("CosineSimilarity", distance.X, draw(3, 5), match="broadcast"),
]

DROPOUT = [
    *(invalid(layer, p=1.5, match="between 0 and 1") for layer, _ in dropout.SHAPES),
    *(
        invalid(function, draw(*shape), p=-0.1, match="between 0 and 1")
        for (_, function), shape in dropout.SHAPES.items()
    ),
    invalid("functional.dropout", np.arange(3), match="needs floating-point"),
    invalid("functional.dropout1d", draw(3), match="with 2 or 3 dimensions"),
    invalid("functional.dropout2d", draw(3, 4), match="with 3 or 4 dimensions"),
    invalid("functional.dropout3d", draw(3, 4), match="with 4 or 5 dimensions"),
    invalid("functional.feature_alpha_dropout", draw(3), training=True, match="channels"),
]

EMBEDDING = [
    invalid("functional.embedding", embedding.NUMBERS, draw(4, 3), match="out of range"),
    invalid("functional.embedding", -embedding.NUMBERS, draw(5, 3), match="out of range"),
    invalid(
        "functional.embedding",
        embedding.NUMBERS,
        draw(5, 3),
        padding_idx=5,
        match="less than the 5 rows",
    ),
    invalid("functional.embedding", draw(3), draw(5, 3), match="takes integers"),
    invalid("Embedding", padding_idx=-6, match="at least -5", **embedding.TABLE),
    invalid("EmbeddingBag", mode="min", match="got 'min'", **embedding.TABLE),
    invalid(
        "EmbeddingBag",
        embedding.NUMBERS,
        mode="max",
        scale_grad_by_freq=True,
        match="not supported",
        **embedding.TABLE,
    ),
    invalid("functional.embedding_bag", embedding.FLAT, draw(5, 3), match="no offsets were given"),
    invalid(
        "functional.embedding_bag",
        embedding.NUMBERS,
        draw(5, 3),
        embedding.OFFSETS,
        match="and no offsets",
    ),
    invalid(
        "functional.embedding_bag",
        embedding.FLAT,
        draw(5, 3),
        embedding.OFFSETS + 1,
        match="start with 0",
    ),
    invalid(
        "functional.embedding_bag",
        embedding.FLAT,
        draw(5, 3),
        embedding.OFFSETS * 2,
        match="end at most",
    ),
    invalid(
        "functional.embedding_bag",
        embedding.NUMBERS,
        draw(5, 3),
        per_sample_weights=draw(2, 3),
        match="mode='sum' only",
    ),
    invalid("functional.embedding_bag", np.ones((2, 3), int), np.ones((5, 3), int), match="float"),
]

FOLDING = [
    invalid("functional.unfold", folding.X, kernel_size=7, match="unfold..: a window of 7"),
    invalid("functional.unfold", folding.X[0, 0], kernel_size=2, match="images of shape"),
    invalid("Unfold", folding.X, kernel_size=2, stride=0, match="stride must be"),
    invalid("functional.fold", draw(8, 8), (4, 4), 2, match="9 windows"),
    invalid("functional.fold", draw(7, 9), (4, 4), 2, match="multiple of 4 elements"),
    invalid("functional.fold", draw(4, 1), (2, 2), 3, match="fold..: a window of 3"),
    invalid("Fold", draw(8, 9), output_size=(4, 4, 4), kernel_size=2, match="output_size must be"),
    invalid("Unfold", draw(2, 0, 4, 4), kernel_size=2, match="at least one element"),
    invalid("Fold", draw(2, 0, 9), output_size=4, kernel_size=2, match="at least one element"),
]

LINEAR = [
    invalid("Linear", draw(5, 4), in_features=3, out_features=2, match="expects 3 inputs"),
    invalid("Flatten", np.zeros((2, 3, 4)), start_dim=2, end_dim=1, match="comes after"),
    invalid("Linear", in_features=3, out_features=-1, match="a positive integer"),
    invalid("Bilinear", draw(5, 2), draw(5, 3), match="bilinear", **linear.SIZES),
    invalid("functional.bilinear", draw(5, 3), draw(4, 2), draw(4, 3, 2), match="bilinear"),
    invalid("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(3), match="bilinear"),
    invalid("Unflatten", draw(2, 6), dim=1, unflattened_size=(4, -1), match="6"),
    invalid("functional.linear", draw(5, 3), draw(2, 4), match="expects 4 inputs"),
    invalid("functional.linear", np.array(1.0), draw(2, 4), match="expects 4 inputs"),
    invalid("functional.linear", draw(5, 3), np.ones((2, 3), int), match="one dtype"),
    invalid("Linear", np.ones((5, 3), int), in_features=3, out_features=2, match="one dtype"),
    invalid("functional.linear", draw(5, 3), draw(2, 3), draw(3), match="bias of shape"),
    invalid("functional.bilinear", draw(3), np.ones(2, int), draw(4, 3, 2), match="one dtype"),
    invalid("Flatten", draw(2, 3, 4), start_dim=3, match="out of range"),
]

SHAPE, DTYPE = "of one shape", "floating-point"

LOSSES = [
    invalid("functional.mse_loss", draw(3), draw(3), reduction="maen", match="got 'maen'"),
    invalid(
        "functional.mse_loss", losses.X, losses.Y, weight=draw(4), match="a weight for each element"
    ),
    invalid("functional.mse_loss", losses.SIGNS, losses.SIGNS, match=DTYPE),
    invalid("functional.l1_loss", draw(3), draw(4), match=SHAPE),
    invalid(
        "functional.smooth_l1_loss", losses.X, losses.Y, beta=-1.0, match="beta must be at least 0"
    ),
    invalid("functional.huber_loss", losses.X, losses.Y, delta=0.0, match="delta must be above 0"),
    invalid("functional.nll_loss", losses.SCORES, losses.CLASSES + 2, match="out of range"),
    invalid("functional.nll_loss", losses.SCORES, losses.CLASSES[:3], match="targets of shape"),
    invalid(
        "functional.nll_loss",
        losses.SCORES,
        losses.CLASSES,
        weight=draw(4),
        match="weight for each class",
    ),
    invalid("functional.cross_entropy", losses.SCORES, losses.CLASSES + 2, match="out of range"),
    invalid("functional.cross_entropy", losses.SCORES, -losses.CLASSES, match="out of range"),
    invalid("functional.cross_entropy", np.array(1.0), np.array(0), match="scores of shape"),
    invalid("functional.cross_entropy", losses.SCORES, draw(4), match="class indices of int64"),
    invalid(
        "functional.cross_entropy",
        losses.SCORES,
        losses.SCORES,
        weight=draw(4),
        match="for each class",
    ),
    invalid(
        "functional.cross_entropy",
        losses.SCORES,
        losses.SCORES,
        ignore_index=1,
        match="does not support ignore_index",
    ),
    invalid(
        "functional.cross_entropy",
        losses.SCORES,
        losses.CLASSES,
        label_smoothing=1.5,
        match="from 0 to 1",
    ),
    invalid(
        "functional.multi_margin_loss", losses.SCORES, losses.CLASSES, p=3, match="p must be 1 or 2"
    ),
    invalid(
        "functional.multi_margin_loss", draw(4, 5, 2), losses.IMAGE_CLASSES, match="scores of shape"
    ),
    invalid(
        "functional.binary_cross_entropy",
        losses.X[:2],
        losses.LABELS[:2],
        match="probabilities from 0 to 1",
    ),
    invalid(
        "functional.binary_cross_entropy",
        losses.PROBABILITIES,
        2 + losses.LABELS,
        match="from 0 to 1",
    ),
    invalid("functional.binary_cross_entropy", losses.PROBABILITIES, losses.LABELS[0], match=SHAPE),
    invalid(
        "functional.binary_cross_entropy_with_logits",
        losses.X,
        losses.LABELS[:2],
        match=SHAPE,
    ),
    invalid(
        "functional.binary_cross_entropy_with_logits",
        *(losses.X, losses.LABELS),
        pos_weight=draw(3),
        match="pos_weight must broadcast",
    ),
    invalid("functional.soft_margin_loss", losses.SIGNS, losses.SIGNS, match=DTYPE),
    invalid("functional.multilabel_soft_margin_loss", losses.X, losses.LABELS[:2], match=SHAPE),
    invalid(
        "functional.multilabel_margin_loss",
        losses.X,
        losses.LABELLED + 1,
        match="from 0 to 3, or -1",
    ),
    invalid(
        "functional.multilabel_margin_loss",
        losses.X,
        losses.LABELS,
        match="int64 labels",
    ),
    invalid(
        "functional.kl_div", losses.X, losses.SOFT, reduction="batch", match="'batchmean' or 'none'"
    ),
    invalid("functional.kl_div", losses.X, losses.SOFT[:2], match=SHAPE),
    invalid("functional.poisson_nll_loss", losses.X, losses.COUNTS[:2], match=SHAPE),
    invalid(
        "functional.gaussian_nll_loss",
        losses.X,
        losses.Y,
        -losses.POSITIVE,
        match="one is negative",
    ),
    invalid(
        "functional.gaussian_nll_loss",
        losses.X,
        losses.Y,
        losses.POSITIVE[:2],
        match="variances of shape",
    ),
    invalid("functional.gaussian_nll_loss", losses.X, losses.Y, var="?", match="number"),
    invalid(
        "functional.cosine_embedding_loss",
        losses.X,
        losses.Y,
        losses.SIGNS,
        match="a target for each pair",
    ),
    invalid("functional.hinge_embedding_loss", losses.X, losses.SIGNS[:2], match=SHAPE),
    invalid(
        "functional.margin_ranking_loss",
        losses.X,
        losses.Y,
        losses.SIGNS[0],
        match="the same number of dimensions",
    ),
    invalid(
        "functional.triplet_margin_loss", *losses.VECTORS, margin=-1.0, match="margin must be above"
    ),
    invalid(
        "functional.triplet_margin_loss",
        losses.X,
        losses.Y,
        losses.Y[0],
        match="the same number of dimensions",
    ),
    invalid(
        "functional.nll_loss", losses.SCORES, losses.CLASSES, np.ones(5, int), match="one dtype"
    ),
    invalid(
        "functional.cross_entropy",
        losses.SCORES,
        losses.CLASSES,
        np.ones(5, int),
        match="one dtype",
    ),
    invalid(
        "functional.nll_loss", losses.SCORES, losses.CLASSES, ignore_index="0", match="an integer"
    ),
    invalid(
        "functional.multi_margin_loss", losses.SCORES, losses.CLASSES, margin="1", match="a number"
    ),
]

NORMALIZATION = [
    invalid("functional.layer_norm", draw(4, 3), (4,), match="whose shape ends"),
    invalid("LayerNorm", draw(4, 3), normalized_shape=4, match="whose shape ends"),
    invalid("functional.rms_norm", draw(4, 3), (3,), draw(4), match="parameters of that shape"),
    invalid("BatchNorm1d", draw(4, 3, 2, 2), num_features=3, match="takes shape"),
    invalid("BatchNorm2d", draw(4, 3), num_features=3, match="takes shape"),
    invalid("BatchNorm1d", draw(4, 3), num_features=2, match="shape .channels,."),
    invalid("BatchNorm1d", draw(1, 3), num_features=3, match="more than one value"),
    invalid("InstanceNorm1d", draw(2, 3, 2, 2), num_features=3, match="takes shape"),
    invalid("InstanceNorm1d", draw(2, 3, 1), num_features=3, match="more than one value"),
    invalid("functional.instance_norm", draw(2, 3), match="more than one value"),
    invalid("GroupNorm", num_groups=3, num_channels=4, match="multiple of num_groups"),
    invalid("functional.group_norm", draw(2, 4), 3, match="num_groups to divide"),
    invalid("functional.group_norm", draw(1, 4), 4, match="more than one value"),
    invalid("functional.group_norm", draw(4), 2, match="channels"),
    invalid("functional.local_response_norm", draw(2, 3), 2, match="takes a floating-point tensor"),
    invalid("functional.layer_norm", draw(4, 3), (3,), np.ones(3, int), match="one dtype"),
    invalid("functional.group_norm", draw(2, 4), 2, np.ones(4, int), match="one dtype"),
    invalid("functional.instance_norm", draw(2, 3, 4), np.ones(3, int), match="one dtype"),
    invalid("functional.batch_norm", draw(5, 3), None, None, training="no", match="True or False"),
]

PADDING = [
    invalid(
        "functional.pad", padding.X[1], (1, 1), mode="mirror", match="mode must be one of constant"
    ),
    invalid(
        "functional.pad", padding.X[1], (1, 1), mode="reflect", value=1.0, match="takes a value"
    ),
    invalid("functional.pad", padding.X[1], (5, 1), mode="reflect", match="cannot be padded by 5"),
    invalid(
        "functional.pad", padding.X[1], (1, 6), mode="circular", match="cannot be padded by 1 and 6"
    ),
    invalid(
        "functional.pad", padding.X[1], (-6, 1), mode="replicate", match="cannot be padded by -6"
    ),
    invalid("functional.pad", padding.X[1], (1,), mode="reflect", match="pairs of integers"),
    invalid(
        "functional.pad", padding.X[2], (1, 1), mode="reflect", match="one or two dimensions more"
    ),
    invalid("functional.pad", padding.X[1][:, :, :0], (1, 1), mode="replicate", match="0 element"),
    invalid("ReflectionPad1d", padding.X[2], padding=1, match="one or two dimensions more"),
    invalid("CircularPad2d", padding.X[1][0, 0], padding=1, match="one or two dimensions more"),
    invalid("ZeroPad2d", padding.X[2], padding=(1, 2, 3), match="one integer or 4"),
    invalid("ConstantPad1d", padding.X[1], padding=1.5, value=0.0, match="one integer or 2"),
    invalid("ReflectionPad1d", draw(2, 0, 4), padding=1, match="repeats elements"),
    invalid("ReplicationPad2d", draw(2, 0, 4, 4), padding=1, match="repeats elements"),
]

POOLING = [
    invalid("functional.max_pool2d", pooling.X2, kernel_size=2, padding=2, match="at most half"),
    invalid(
        "functional.max_pool2d", pooling.X2, kernel_size=8, match="max_pool2d..: a window of 8"
    ),
    invalid(
        "functional.max_pool2d", pooling.X2, kernel_size=9, stride=2, ceil_mode=True, match="of 9"
    ),
    invalid("functional.max_pool2d", pooling.X2, kernel_size=2, stride=0, match="stride must be"),
    invalid(
        "functional.max_pool2d", pooling.X2, kernel_size=2, dilation=0, match="dilation must be"
    ),
    invalid("functional.max_pool2d", pooling.X2[0, 0], kernel_size=2, match="images of shape"),
    invalid("functional.max_pool1d", pooling.X2, kernel_size=2, match="signals of shape"),
    invalid("functional.max_pool3d", pooling.X2[0], kernel_size=2, match="volumes of shape"),
    invalid("MaxPool2d", pooling.X2, kernel_size=(1, 2, 3), match="kernel_size must be one or two"),
    invalid(
        "functional.max_pool1d",
        pooling.X1[..., :3],
        kernel_size=2,
        padding=1,
        dilation=4,
        stride=1,
        match="only padding around 3",
    ),
    invalid(
        "functional.avg_pool2d", pooling.X2, kernel_size=2, divisor_override=0, match="a nonzero"
    ),
    invalid("functional.avg_pool2d", pooling.X2, kernel_size=2, padding=2, match="at most half"),
    invalid("functional.avg_pool3d", pooling.X2[0], kernel_size=2, match="volumes of shape"),
    invalid("AvgPool1d", pooling.X2, kernel_size=2, match="signals of shape"),
    invalid("functional.lp_pool2d", pooling.X2, norm_type=0, kernel_size=2, match="a nonzero"),
    invalid("LPPool1d", pooling.X2, norm_type=2, kernel_size=2, match="signals of shape"),
    invalid("functional.adaptive_avg_pool2d", pooling.X2, output_size=(3,), match="or 2; got"),
    invalid(
        "functional.adaptive_avg_pool2d", pooling.X2, output_size=-1, match="output_size must be"
    ),
    invalid("functional.adaptive_max_pool1d", pooling.X2, output_size=2, match="signals of shape"),
    invalid("AdaptiveMaxPool2d", pooling.X2[:, :, :0], output_size=2, match="non-empty"),
    invalid(
        "functional.max_unpool2d",
        pooling.X2,
        np.zeros(pooling.X2.shape, np.int32),
        2,
        match="int32",
    ),
    invalid(
        "functional.max_unpool2d", pooling.X2, np.zeros((2, 2), np.int64), 2, match="of the shape"
    ),
    invalid(
        "functional.max_unpool2d",
        pooling.X2,
        np.full(pooling.X2.shape, 168),
        2,
        match="168 is out of range",
    ),
    invalid(
        "functional.max_unpool2d",
        pooling.X2,
        np.zeros(pooling.X2.shape, np.int64),
        2,
        output_size=(16, 12),
        match="less than the stride",
    ),
    invalid(
        "functional.max_unpool2d",
        pooling.X2,
        np.zeros(pooling.X2.shape, np.int64),
        2,
        output_size=(16,),
        match="must have 2 size",
    ),
    invalid("MaxPool2d", draw(2, 0, 4, 4), kernel_size=2, match="at least one element"),
    invalid("AvgPool1d", draw(2, 0, 4), kernel_size=2, match="at least one element"),
    invalid("AdaptiveMaxPool2d", draw(2, 0, 4, 4), output_size=3, match="at least one element"),
    invalid("MaxPool1d", draw(2, 3, 4), kernel_size=2, ceil_mode="yes", match="True or False"),
    invalid("functional.lp_pool2d", draw(1, 2, 4, 4), norm_type="2", kernel_size=2, match="number"),
    invalid("FractionalMaxPool2d", draw(2, 5, 5), kernel_size=2, match="either an output_size or"),
    invalid("FractionalMaxPool2d", draw(2, 5, 5), kernel_size=2, output_ratio=1.5, match="below 1"),
    invalid(
        "FractionalMaxPool3d",
        draw(1, 2, 3, 3, 3),
        kernel_size=2,
        output_size=3,
        match="different starts",
    ),
    invalid("FractionalMaxPool2d", draw(3, 3), kernel_size=2, output_size=2, match="takes"),
    invalid(
        "functional.fractional_max_pool2d",
        draw(1, 2, 5, 5),
        kernel_size=2,
        output_size=2,
        _random_samples=draw(1, 3, 2),
        match="takes _random_samples of shape",
    ),
]

POSITIONS = [
    invalid("SinusoidalPositions", match="even", features=3),
    invalid("RotaryPositions", match="even", features=5),
    invalid("RotaryPositions", match="base", features=4, base=-1.0),
    invalid("RotaryPositions", draw(3, 2), match="with 4 features", features=4),
    invalid("SinusoidalPositions", draw(4), match="steps in dimension -2", features=4),
    invalid("SinusoidalPositions", draw(3, 4), match="dimension 1", features=4, dim=1),
    invalid("RotaryPositions", np.ones((3, 4), np.int64), match="int64", features=4),
    invalid("LearnedPositions", draw(3, 4), match="max_steps=2", max_steps=2, features=4),
    invalid("LearnedPositions", match="max_steps", max_steps=0, features=4),
]

RECURRENT = [
    invalid("GRU", draw(3, 2, 4), match="with 2 features", **recurrent.SIZES),
    invalid("LSTM", draw(2), match="takes sequences", **recurrent.SIZES),
    invalid("RNN", np.zeros((3, 2, 2), np.int64), match="int64 were given", **recurrent.SIZES),
    invalid("RNN", draw(0, 2, 2), match="at least one step", **recurrent.SIZES),
    invalid("RNN", recurrent.X, draw(2, 2, 3), match="expects a state of shape", **recurrent.SIZES),
    invalid("GRU", recurrent.X, draw(1, 3), match="expects a state of shape", **recurrent.SIZES),
    invalid("GRU", draw(3, 2), draw(1, 2, 3), match="expects a state of shape", **recurrent.SIZES),
    invalid("LSTM", recurrent.X, draw(1, 2, 3), match="as a pair", **recurrent.SIZES),
    invalid(
        "LSTM",
        recurrent.X,
        (draw(1, 2, 3), draw(1, 1, 3)),
        match="expects a state",
        **recurrent.SIZES,
    ),
    invalid("LSTM", match="smaller than hidden_size", proj_size=3, **recurrent.SIZES),
    invalid("GRU", match="probability", num_layers=2, dropout=1.5, **recurrent.SIZES),
    invalid("GRU", match="num_layers", num_layers=0, **recurrent.SIZES),
    invalid("RNN", match="hidden_size", input_size=2, hidden_size=0),
    invalid("RNN", match="one of tanh, relu", nonlinearity="gelu", **recurrent.SIZES),
    invalid("RNNCell", recurrent.X, match="takes an input", **recurrent.SIZES),
    invalid("RNNCell", recurrent.X[0], draw(3, 3), match="expects a state", **recurrent.SIZES),
    invalid("GRUCell", draw(2, 3), match="takes an input", **recurrent.SIZES),
    invalid("LSTMCell", recurrent.X[0], draw(2, 3), match="as a pair", **recurrent.SIZES),
    invalid(
        "RNNCell", recurrent.X[0], match="one of tanh, relu", nonlinearity="sin", **recurrent.SIZES
    ),
    invalid("GRU", input_size=2, hidden_size=3, bidirectional=2, match="True or False"),
]

RESAMPLING = [
    invalid("functional.interpolate", resampling.X2, match="either size or scale_factor"),
    invalid(
        "functional.interpolate", resampling.X2, size=3, scale_factor=2, match="either size or"
    ),
    invalid("functional.interpolate", resampling.X2, size=(3,), match="one integer or 2"),
    invalid("functional.interpolate", resampling.X2, size=0, match="size must be"),
    invalid(
        "functional.interpolate", resampling.X1, size=2**62, match="than this machine can address"
    ),
    invalid(
        "functional.adaptive_avg_pool1d",
        resampling.X1,
        2**63 - 1,
        match="than this machine can address",
    ),
    invalid("functional.interpolate", resampling.X2, scale_factor=(2.0,), match="one number or 2"),
    invalid("functional.interpolate", resampling.X2, scale_factor=0.1, match="reduces a size"),
    invalid(
        "functional.interpolate", resampling.X2, scale_factor=-1.0, match="scale_factor must be"
    ),
    invalid(
        "functional.interpolate", resampling.X2, size=3, mode="closest", match="mode must be one of"
    ),
    invalid("functional.interpolate", resampling.X2, size=3, mode="linear", match="'linear' takes"),
    invalid(
        "functional.interpolate", resampling.X1, size=3, mode="bicubic", match="'bicubic' takes"
    ),
    invalid("functional.interpolate", resampling.X1[0], size=3, match="'nearest' takes"),
    invalid(
        "functional.interpolate",
        resampling.X2,
        size=3,
        align_corners=True,
        match="align_corners is for",
    ),
    invalid(
        "functional.interpolate", resampling.X2, size=3, antialias=True, match="antialias is for"
    ),
    invalid(
        "functional.interpolate",
        resampling.X2,
        size=3,
        recompute_scale_factor=True,
        match="a size was",
    ),
    invalid(
        "functional.interpolate", np.zeros((1, 1, 2), np.int64), size=3, match="int64 was given"
    ),
    invalid("Upsample", resampling.X2, match="either size or scale_factor"),
    invalid("functional.pixel_shuffle", resampling.X2, 2, match="multiple of 4 channels"),
    invalid("functional.pixel_shuffle", resampling.X2[0, 0], 1, match="takes images"),
    invalid("PixelShuffle", resampling.X2, upscale_factor=0, match="a positive integer"),
    invalid("functional.pixel_unshuffle", resampling.X2, 3, match="multiples of 3"),
    invalid("functional.channel_shuffle", resampling.X2, 3, match="multiple of 3 channels"),
]

TRANSFORMER = [
    invalid(
        "TransformerEncoderLayer",
        match="'relu', 'gelu'",
        **{**transformer.SMALL, "activation": "sin"},
    ),
    invalid("TransformerEncoderLayer", match="multiple of num_heads", d_model=3, nhead=2),
    invalid(
        "TransformerEncoderLayer",
        draw(3, 2, 5),
        match="with 4, 4 and 4 features",
        **transformer.SMALL,
    ),
    invalid(
        "TransformerDecoderLayer",
        transformer.TARGET,
        transformer.SOURCE[:, :1],
        match="shapes",
        **transformer.SMALL,
    ),
    invalid(
        "Transformer",
        transformer.SOURCE,
        draw(3, 2, 5),
        match="with 4 features",
        **transformer.SMALL,
    ),
    invalid(
        "Transformer",
        transformer.SOURCE,
        transformer.TARGET[:, 0],
        match="with or without a batch",
        **transformer.SMALL,
    ),
    invalid(
        "TransformerEncoder", match="num_layers", encoder_layer=transformer.ENCODER, num_layers=0
    ),
]

INVALID = [
    *ACTIVATION,
    *ADAPTIVE_SOFTMAX,
    *ATTENTION,
    *CONVOLUTION,
    *DISTANCE,
    *DROPOUT,
    *EMBEDDING,
    *FOLDING,
    *LINEAR,
    *LOSSES,
    *NORMALIZATION,
    *PADDING,
    *POOLING,
    *POSITIONS,
    *RECURRENT,
    *RESAMPLING,
    *TRANSFORMER,
]

ACCEPTED_BY_TORCH: dict[str, str] = {
    "no features": "the probability of its cluster does not depend on the input",
    "only padding around 3": "it returns -inf and an index out of range",
}
"""Calls that torch accepts, by the expression for our message, with the reason."""


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_invalid_call_raises(call: Call, match: str) -> None:
    with pytest.raises((nn.NetworkError, TensorError), match=match):
        outcome(call, "float32")


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_invalid_call_raises_in_torch_too(call: Call, match: str) -> None:
    pytest.importorskip("torch")
    from mt_nn.conformance.in_torch import NOT_IN_TORCH, leaf, torch_function

    if match in ACCEPTED_BY_TORCH or call.name in NOT_IN_TORCH:
        return
    inputs, settings = mapped(leaf, list(call.inputs)), mapped(leaf, dict(call.settings))

    def run() -> None:
        if call.is_function:
            torch_function(call.name)(*inputs, **settings)
        else:
            torch_function(call.name)(**settings).double()(*inputs)

    with pytest.raises(Exception):  # noqa: B017, PT011 - torch raises many kinds
        run()
