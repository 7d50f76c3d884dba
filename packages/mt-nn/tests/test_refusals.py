"""What layers and functions refuse: settings and inputs that make no sense, here and in torch.

A row names a layer or function, and what it is called with; without inputs, making the layer is
what raises. The message matches the expression `says`.
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


def refused(name: str, *inputs: Any, says: str, **settings: Any) -> Any:
    """Return a row of a table."""
    call = Call(name, inputs, settings)
    return pytest.param(call, says, id=str(call))


ACTIVATION = [
    refused("GLU", draw(3), says="even size"),
    refused("PReLU", draw(2, 3), num_parameters=2, says="one weight for each of 3 channel"),
    refused("Softmax", activation.X, dim=2, says="dimension"),
    refused("Softmax2d", activation.X, says="takes images"),
    refused("Softshrink", activation.X, lambd=-1.0, says="must not be negative"),
    refused("GELU", activation.X, approximate="tan", says="'tan' was given"),
    refused("Hardtanh", min_val=1.0, max_val=0.0, says="must be below"),
    refused("CELU", activation.X, alpha=0.0, says="must not be 0"),
    refused(
        "functional.rrelu", activation.X, lower=0.5, upper=0.2, training=True, says="lower must be"
    ),
    refused(
        "functional.rrelu", activation.X, lower=0.5, upper=np.inf, training=True, says="both finite"
    ),
    refused("functional.gumbel_softmax", np.array([1, 2]), says="floating-point"),
]

ADAPTIVE_SOFTMAX = [
    refused(
        adaptive_softmax.NAME,
        draw(6, 7),
        adaptive_softmax.CLASSES,
        says="8",
        **adaptive_softmax.SETTINGS,
    ),
    refused(
        adaptive_softmax.NAME,
        draw(2, 6, 8),
        adaptive_softmax.CLASSES,
        says="batch",
        **adaptive_softmax.SETTINGS,
    ),
    refused(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES[:5],
        says="integers of shape",
        **adaptive_softmax.SETTINGS,
    ),
    refused(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES + 1,
        says="from 0 to 11",
        **adaptive_softmax.SETTINGS,
    ),
    refused(
        adaptive_softmax.NAME,
        draw(6, 8),
        adaptive_softmax.CLASSES - 1,
        says="from 0 to 11",
        **adaptive_softmax.SETTINGS,
    ),
    refused(
        adaptive_softmax.NAME, in_features=8, n_classes=5, cutoffs=[3, 2], says="cutoffs must be"
    ),
    refused(adaptive_softmax.NAME, in_features=8, n_classes=12, cutoffs=[3, 6], says="no features"),
    refused(adaptive_softmax.NAME, in_features=8, n_classes=5, cutoffs=[5], says="cutoffs must be"),
    refused(
        adaptive_softmax.NAME, in_features=8, n_classes=5, cutoffs=[0, 2], says="a positive integer"
    ),
]

ATTENTION = [
    refused(attention.SCALED, attention.Q, attention.K[..., :4], attention.V, says="shape"),
    refused(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=draw(3, 6),
        says="do not broadcast",
    ),
    refused(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=np.ones((4, 6), np.int64),
        says="bools or floats",
    ),
    refused(
        attention.SCALED,
        attention.Q,
        attention.K,
        attention.V,
        attn_mask=draw(4, 6),
        is_causal=True,
        says="not both",
    ),
    refused(
        attention.SCALED, attention.Q, attention.K, attention.V, dropout_p=1.5, says="probability"
    ),
    refused(
        attention.SCALED,
        attention.Q,
        attention.K[:, :2],
        attention.V[:, :2],
        enable_gqa=True,
        says="divides that of the queries",
    ),
    refused(
        attention.SCALED, attention.Q[0], attention.K[:, :2], attention.V, says="do not broadcast"
    ),
    refused(
        attention.SCALED,
        attention.Q[0, 0, 0],
        attention.K,
        attention.V,
        says="attention takes queries",
    ),
    refused("MultiheadAttention", says="multiple of num_heads", embed_dim=4, num_heads=3),
    refused("MultiheadAttention", says="num_heads", embed_dim=4, num_heads=0),
    refused(
        "MultiheadAttention",
        *(draw(3, 2, 5),) * 3,
        says="with 4, 4 and 4 features",
        **attention.ONE,
    ),
    refused(
        "MultiheadAttention", draw(3, 2, 4), *(draw(3, 4),) * 2, says="shapes", **attention.ONE
    ),
    refused(
        "MultiheadAttention", draw(3, 2, 4), *(draw(3, 1, 4),) * 2, says="shapes", **attention.ONE
    ),
    refused(
        "MultiheadAttention",
        *attention.ALIKE,
        draw(3, 2),
        says="key_padding_mask must hold",
        **attention.ONE,
    ),
    refused(
        "MultiheadAttention",
        *attention.ALIKE,
        draw(3),
        says="key_padding_mask must hold",
        **attention.ONE,
    ),
    refused(
        "MultiheadAttention",
        *attention.ALIKE,
        None,
        False,
        draw(3, 4),
        says="attn_mask must hold",
        **attention.ONE,
    ),
    refused(
        "MultiheadAttention",
        *attention.ALIKE,
        None,
        False,
        None,
        True,
        True,
        says="needs attn_mask, too",
        **attention.ONE,
    ),
]

CONVOLUTION = [
    refused(
        "functional.conv2d",
        convolution.X2,
        draw(2, 3, 3, 3),
        says=r"shape \(2, 3, 3, 3\) expects 3 channels; 4 were given",
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        draw(4, 3, 3, 3),
        groups=2,
        says=r"and groups=2 expects 6 channels; 4 were given",
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        draw(3, 2, 3, 3),
        groups=2,
        says="a weight with a multiple of 2 output channels",
    ),
    refused("functional.conv2d", convolution.X2, draw(2, 4, 9, 3), says="window of 9"),
    refused(
        "functional.conv2d",
        convolution.X2[:, :, :0],
        convolution.W2,
        padding=2,
        says="have no windows",
    ),
    refused(
        "functional.conv2d",
        convolution.X2[0, 0],
        convolution.W2,
        says=r"images of shape .* \(6, 5\)",
    ),
    refused(
        "functional.conv2d", convolution.X2, convolution.W2, draw(3), says="takes a bias of shape"
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        convolution.W1,
        padding="same",
        says="takes a weight of shape",
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        padding="same",
        stride=2,
        says="needs a stride of 1",
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        padding="full",
        says="same, valid; got 'full'",
    ),
    refused(
        "functional.conv2d",
        convolution.X2,
        convolution.W2,
        stride=(1, 2, 3),
        says="stride must be one or two",
    ),
    refused("functional.conv1d", convolution.X2, convolution.W1, says="signals of shape"),
    refused(
        "functional.conv1d",
        convolution.X1,
        convolution.W1,
        stride=0,
        says="stride must be a positive integer",
    ),
    refused("functional.conv3d", convolution.X2[0], convolution.W3, says="volumes of shape"),
    refused("functional.conv3d", convolution.X3, draw(2, 1, 2, 2, 2), says="expects 1 channels"),
    refused("Conv1d", convolution.X2, in_channels=4, out_channels=2, kernel_size=1, says="signals"),
    refused(
        "Conv2d",
        convolution.X2,
        in_channels=3,
        out_channels=2,
        kernel_size=1,
        says="expects 3 channels",
    ),
    refused("Conv2d", in_channels=3, out_channels=2, kernel_size=1, groups=2, says="multiples"),
    refused("Conv2d", in_channels=2, out_channels=2, kernel_size=1, padding="sam", says="'sam'"),
    refused(
        "Conv2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding="same",
        stride=2,
        says="needs a stride of 1",
    ),
    refused(
        "Conv2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding_mode="ring",
        says="padding_mode must be one of zeros",
    ),
    refused(
        "Conv2d",
        convolution.X2,
        in_channels=4,
        out_channels=2,
        kernel_size=3,
        padding=6,
        padding_mode="reflect",
        says="cannot be padded by 6",
    ),
    refused(
        "ConvTranspose2d",
        in_channels=2,
        out_channels=2,
        kernel_size=1,
        padding_mode="reflect",
        says="only padding_mode='zeros'",
    ),
    refused(
        "functional.conv_transpose2d",
        convolution.X2,
        convolution.W2,
        says="takes a weight of shape",
    ),
    refused(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        groups=3,
        says="multiple of 3",
    ),
    refused(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        draw(2),
        says="takes a bias",
    ),
    refused(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        output_padding=1,
        says="must be less than the stride",
    ),
    refused(
        "functional.conv_transpose2d",
        convolution.X2,
        draw(4, 1, 3, 3),
        padding=4,
        says="would leave",
    ),
    refused(
        "functional.conv_transpose1d", convolution.X1[..., :0], draw(4, 1, 3), says="would leave"
    ),
    refused("functional.conv2d", draw(1, 2, 4, 4), np.ones((3, 2, 2, 2), int), says="one dtype"),
    refused("functional.conv1d", draw(1, 2, 4), draw(3, 2, 2), np.ones(3, int), says="one dtype"),
    refused("functional.conv2d", draw(1, 2, 4, 4), draw(0, 2, 2, 2), says="at least one element"),
    refused("functional.conv_transpose1d", draw(1, 2, 4), np.ones((2, 3, 2), int), says="dtype"),
    refused("functional.conv_transpose1d", draw(1, 2, 4), draw(2, 0, 2), says="at least one"),
    refused("functional.conv2d", draw(1, 2, 4, 4), draw(3, 2, 2, 2), stride="2", says="stride"),
]

DISTANCE = [
    refused("functional.normalize", distance.X, dim=2, says="out of range"),
    refused("functional.normalize", np.zeros((2, 2), np.int64), says="int64 was given"),
    refused("CosineSimilarity", distance.X, draw(3, 5), says="broadcast"),
]

DROPOUT = [
    *(refused(layer, p=1.5, says="between 0 and 1") for layer, _ in dropout.SHAPES),
    *(
        refused(function, draw(*shape), p=-0.1, says="between 0 and 1")
        for (_, function), shape in dropout.SHAPES.items()
    ),
    refused("functional.dropout", np.arange(3), says="needs floating-point"),
    refused("functional.dropout1d", draw(3), says="with 2 or 3 dimensions"),
    refused("functional.dropout2d", draw(3, 4), says="with 3 or 4 dimensions"),
    refused("functional.dropout3d", draw(3, 4), says="with 4 or 5 dimensions"),
    refused("functional.drop_path", draw(), says=r"shape \(\) was given"),
    refused("functional.feature_alpha_dropout", draw(3), training=True, says="channels"),
]

EMBEDDING = [
    refused("functional.embedding", embedding.NUMBERS, draw(4, 3), says="out of range"),
    refused("functional.embedding", -embedding.NUMBERS, draw(5, 3), says="out of range"),
    refused(
        "functional.embedding",
        embedding.NUMBERS,
        draw(5, 3),
        padding_idx=5,
        says="less than the 5 rows",
    ),
    refused("functional.embedding", draw(3), draw(5, 3), says="takes integers"),
    refused("Embedding", padding_idx=-6, says="at least -5", **embedding.TABLE),
    refused("EmbeddingBag", mode="min", says="got 'min'", **embedding.TABLE),
    refused(
        "EmbeddingBag",
        embedding.NUMBERS,
        mode="max",
        scale_grad_by_freq=True,
        says="not supported",
        **embedding.TABLE,
    ),
    refused("functional.embedding_bag", embedding.FLAT, draw(5, 3), says="no offsets were given"),
    refused(
        "functional.embedding_bag",
        embedding.NUMBERS,
        draw(5, 3),
        embedding.OFFSETS,
        says="and no offsets",
    ),
    refused(
        "functional.embedding_bag",
        embedding.FLAT,
        draw(5, 3),
        embedding.OFFSETS + 1,
        says="start with 0",
    ),
    refused(
        "functional.embedding_bag",
        embedding.FLAT,
        draw(5, 3),
        embedding.OFFSETS * 2,
        says="end at most",
    ),
    refused(
        "functional.embedding_bag",
        embedding.NUMBERS,
        draw(5, 3),
        per_sample_weights=draw(2, 3),
        says="mode='sum' only",
    ),
    refused("functional.embedding_bag", np.ones((2, 3), int), np.ones((5, 3), int), says="float"),
]

FOLDING = [
    refused("functional.unfold", folding.X, kernel_size=7, says="window of 7"),
    refused("functional.unfold", folding.X[0, 0], kernel_size=2, says="images of shape"),
    refused("Unfold", folding.X, kernel_size=2, stride=0, says="stride must be"),
    refused("functional.fold", draw(8, 8), (4, 4), 2, says="9 windows"),
    refused("functional.fold", draw(7, 9), (4, 4), 2, says="multiple of 4 elements"),
    refused("functional.fold", draw(4, 1), (2, 2), 3, says="window of 3"),
    refused("Fold", draw(8, 9), output_size=(4, 4, 4), kernel_size=2, says="output_size must be"),
    refused("Unfold", draw(2, 0, 4, 4), kernel_size=2, says="have no windows"),
    refused("Fold", draw(2, 0, 9), output_size=4, kernel_size=2, says="have no windows"),
]

LINEAR = [
    refused("Linear", draw(5, 4), in_features=3, out_features=2, says="expects 3 inputs"),
    refused("Flatten", np.zeros((2, 3, 4)), start_dim=2, end_dim=1, says="comes after"),
    refused("Linear", in_features=3, out_features=-1, says="a positive integer"),
    refused("Bilinear", draw(5, 2), draw(5, 3), says="bilinear", **linear.SIZES),
    refused("functional.bilinear", draw(5, 3), draw(4, 2), draw(4, 3, 2), says="bilinear"),
    refused("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(3), says="bilinear"),
    refused("Unflatten", draw(2, 6), dim=1, unflattened_size=(4, -1), says="6"),
    refused("functional.linear", draw(5, 3), draw(2, 4), says="expects 4 inputs"),
    refused("functional.linear", np.array(1.0), draw(2, 4), says="expects 4 inputs"),
    refused("functional.linear", draw(5, 3), np.ones((2, 3), int), says="one dtype"),
    refused("Linear", np.ones((5, 3), int), in_features=3, out_features=2, says="one dtype"),
    refused("functional.linear", draw(5, 3), draw(2, 3), draw(3), says="bias of shape"),
    refused("functional.bilinear", draw(3), np.ones(2, int), draw(4, 3, 2), says="one dtype"),
    refused("Flatten", draw(2, 3, 4), start_dim=3, says="out of range"),
]

SHAPE, DTYPE = "of one shape", "floating-point"

LOSSES = [
    refused("functional.mse_loss", draw(3), draw(3), reduction="maen", says="got 'maen'"),
    refused(
        "functional.mse_loss", losses.X, losses.Y, weight=draw(4), says="a weight for each element"
    ),
    refused("functional.mse_loss", losses.SIGNS, losses.SIGNS, says=DTYPE),
    refused("functional.l1_loss", draw(3), draw(4), says=SHAPE),
    refused(
        "functional.smooth_l1_loss", losses.X, losses.Y, beta=-1.0, says="beta must be at least 0"
    ),
    refused("functional.huber_loss", losses.X, losses.Y, delta=0.0, says="delta must be above 0"),
    refused("functional.nll_loss", losses.SCORES, losses.CLASSES + 2, says="out of range"),
    refused("functional.nll_loss", losses.SCORES, losses.CLASSES[:3], says="targets of shape"),
    refused(
        "functional.nll_loss",
        losses.SCORES,
        losses.CLASSES,
        weight=draw(4),
        says="weight for each class",
    ),
    refused("functional.cross_entropy", losses.SCORES, losses.CLASSES + 2, says="out of range"),
    refused("functional.cross_entropy", losses.SCORES, -losses.CLASSES, says="out of range"),
    refused("functional.cross_entropy", np.array(1.0), np.array(0), says="scores of shape"),
    refused("functional.cross_entropy", losses.SCORES, draw(4), says="class indices of int64"),
    refused(
        "functional.cross_entropy",
        losses.SCORES,
        losses.SCORES,
        weight=draw(4),
        says="for each class",
    ),
    refused(
        "functional.cross_entropy",
        losses.SCORES,
        losses.SCORES,
        ignore_index=1,
        says="does not support ignore_index",
    ),
    refused(
        "functional.cross_entropy",
        losses.SCORES,
        losses.CLASSES,
        label_smoothing=1.5,
        says="from 0 to 1",
    ),
    refused(
        "functional.multi_margin_loss", losses.SCORES, losses.CLASSES, p=3, says="p must be 1 or 2"
    ),
    refused(
        "functional.multi_margin_loss", draw(4, 5, 2), losses.IMAGE_CLASSES, says="scores of shape"
    ),
    refused(
        "functional.binary_cross_entropy",
        losses.X[:2],
        losses.LABELS[:2],
        says="probabilities from 0 to 1",
    ),
    refused(
        "functional.binary_cross_entropy",
        losses.PROBABILITIES,
        2 + losses.LABELS,
        says="from 0 to 1",
    ),
    refused("functional.binary_cross_entropy", losses.PROBABILITIES, losses.LABELS[0], says=SHAPE),
    refused(
        "functional.binary_cross_entropy_with_logits",
        losses.X,
        losses.LABELS[:2],
        says=SHAPE,
    ),
    refused(
        "functional.binary_cross_entropy_with_logits",
        *(losses.X, losses.LABELS),
        pos_weight=draw(3),
        says="pos_weight must broadcast",
    ),
    refused("functional.soft_margin_loss", losses.SIGNS, losses.SIGNS, says=DTYPE),
    refused("functional.multilabel_soft_margin_loss", losses.X, losses.LABELS[:2], says=SHAPE),
    refused(
        "functional.multilabel_margin_loss",
        losses.X,
        losses.LABELLED + 1,
        says="from 0 to 3, or -1",
    ),
    refused(
        "functional.multilabel_margin_loss",
        losses.X,
        losses.LABELS,
        says="int64 labels",
    ),
    refused(
        "functional.kl_div", losses.X, losses.SOFT, reduction="batch", says="'batchmean' or 'none'"
    ),
    refused("functional.kl_div", losses.X, losses.SOFT[:2], says=SHAPE),
    refused("functional.poisson_nll_loss", losses.X, losses.COUNTS[:2], says=SHAPE),
    refused(
        "functional.gaussian_nll_loss", losses.X, losses.Y, -losses.POSITIVE, says="one is negative"
    ),
    refused(
        "functional.gaussian_nll_loss",
        losses.X,
        losses.Y,
        losses.POSITIVE[:2],
        says="variances of shape",
    ),
    refused("functional.gaussian_nll_loss", losses.X, losses.Y, var="?", says="number"),
    refused(
        "functional.cosine_embedding_loss",
        losses.X,
        losses.Y,
        losses.SIGNS,
        says="a target for each pair",
    ),
    refused("functional.hinge_embedding_loss", losses.X, losses.SIGNS[:2], says=SHAPE),
    refused(
        "functional.margin_ranking_loss",
        losses.X,
        losses.Y,
        losses.SIGNS[0],
        says="the same number of dimensions",
    ),
    refused(
        "functional.triplet_margin_loss", *losses.VECTORS, margin=-1.0, says="margin must be above"
    ),
    refused(
        "functional.triplet_margin_loss",
        losses.X,
        losses.Y,
        losses.Y[0],
        says="the same number of dimensions",
    ),
    refused(
        "functional.nll_loss", losses.SCORES, losses.CLASSES, np.ones(5, int), says="one dtype"
    ),
    refused(
        "functional.cross_entropy", losses.SCORES, losses.CLASSES, np.ones(5, int), says="one dtype"
    ),
    refused(
        "functional.nll_loss", losses.SCORES, losses.CLASSES, ignore_index="0", says="an integer"
    ),
    refused(
        "functional.multi_margin_loss", losses.SCORES, losses.CLASSES, margin="1", says="a number"
    ),
]

NORMALIZATION = [
    refused("functional.layer_norm", draw(4, 3), (4,), says="whose shape ends"),
    refused("LayerNorm", draw(4, 3), normalized_shape=4, says="whose shape ends"),
    refused("functional.rms_norm", draw(4, 3), (3,), draw(4), says="parameters of that shape"),
    refused("BatchNorm1d", draw(4, 3, 2, 2), num_features=3, says="takes shape"),
    refused("BatchNorm2d", draw(4, 3), num_features=3, says="takes shape"),
    refused("BatchNorm1d", draw(4, 3), num_features=2, says="shape .channels,."),
    refused("BatchNorm1d", draw(1, 3), num_features=3, says="more than one value"),
    refused("InstanceNorm1d", draw(2, 3, 2, 2), num_features=3, says="takes shape"),
    refused("InstanceNorm1d", draw(2, 3, 1), num_features=3, says="more than one value"),
    refused("functional.instance_norm", draw(2, 3), says="more than one value"),
    refused("GroupNorm", num_groups=3, num_channels=4, says="multiple of num_groups"),
    refused("functional.group_norm", draw(2, 4), 3, says="num_groups to divide"),
    refused("functional.group_norm", draw(1, 4), 4, says="more than one value"),
    refused("functional.group_norm", draw(4), 2, says="channels"),
    refused("functional.local_response_norm", draw(2, 3), 2, says="takes a floating-point tensor"),
    refused("functional.layer_norm", draw(4, 3), (3,), np.ones(3, int), says="one dtype"),
    refused("functional.group_norm", draw(2, 4), 2, np.ones(4, int), says="one dtype"),
    refused("functional.instance_norm", draw(2, 3, 4), np.ones(3, int), says="one dtype"),
    refused("functional.batch_norm", draw(5, 3), None, None, training="no", says="True or False"),
]

PADDING = [
    refused(
        "functional.pad", padding.X[1], (1, 1), mode="mirror", says="mode must be one of constant"
    ),
    refused(
        "functional.pad", padding.X[1], (1, 1), mode="reflect", value=1.0, says="takes a value"
    ),
    refused("functional.pad", padding.X[1], (5, 1), mode="reflect", says="cannot be padded by 5"),
    refused(
        "functional.pad", padding.X[1], (1, 6), mode="circular", says="cannot be padded by 1 and 6"
    ),
    refused(
        "functional.pad", padding.X[1], (-6, 1), mode="replicate", says="cannot be padded by -6"
    ),
    refused("functional.pad", padding.X[1], (1,), mode="reflect", says="pairs of integers"),
    refused(
        "functional.pad", padding.X[2], (1, 1), mode="reflect", says="one or two dimensions more"
    ),
    refused("functional.pad", padding.X[1][:, :, :0], (1, 1), mode="replicate", says="0 element"),
    refused("ReflectionPad1d", padding.X[2], padding=1, says="one or two dimensions more"),
    refused("CircularPad2d", padding.X[1][0, 0], padding=1, says="one or two dimensions more"),
    refused("ZeroPad2d", padding.X[2], padding=(1, 2, 3), says="one integer or 4"),
    refused("ConstantPad1d", padding.X[1], padding=1.5, value=0.0, says="one integer or 2"),
    refused("ReflectionPad1d", draw(2, 0, 4), padding=1, says="no elements to pad with"),
    refused("ReplicationPad2d", draw(2, 0, 4, 4), padding=1, says="no elements to pad with"),
]

POOLING = [
    refused("functional.max_pool2d", pooling.X2, kernel_size=2, padding=2, says="at most half"),
    refused("functional.max_pool2d", pooling.X2, kernel_size=8, says="window of 8"),
    refused(
        "functional.max_pool2d", pooling.X2, kernel_size=9, stride=2, ceil_mode=True, says="of 9"
    ),
    refused("functional.max_pool2d", pooling.X2, kernel_size=2, stride=0, says="stride must be"),
    refused(
        "functional.max_pool2d", pooling.X2, kernel_size=2, dilation=0, says="dilation must be"
    ),
    refused("functional.max_pool2d", pooling.X2[0, 0], kernel_size=2, says="images of shape"),
    refused("functional.max_pool1d", pooling.X2, kernel_size=2, says="signals of shape"),
    refused("functional.max_pool3d", pooling.X2[0], kernel_size=2, says="volumes of shape"),
    refused("MaxPool2d", pooling.X2, kernel_size=(1, 2, 3), says="kernel_size must be one or two"),
    refused(
        "functional.max_pool1d",
        pooling.X1[..., :3],
        kernel_size=2,
        padding=1,
        dilation=4,
        stride=1,
        says="only padding around 3",
    ),
    refused(
        "functional.avg_pool2d", pooling.X2, kernel_size=2, divisor_override=0, says="a nonzero"
    ),
    refused("functional.avg_pool2d", pooling.X2, kernel_size=2, padding=2, says="at most half"),
    refused("functional.avg_pool3d", pooling.X2[0], kernel_size=2, says="volumes of shape"),
    refused("AvgPool1d", pooling.X2, kernel_size=2, says="signals of shape"),
    refused("functional.lp_pool2d", pooling.X2, norm_type=0, kernel_size=2, says="a nonzero"),
    refused("LPPool1d", pooling.X2, norm_type=2, kernel_size=2, says="signals of shape"),
    refused("functional.adaptive_avg_pool2d", pooling.X2, output_size=(3,), says="or 2; got"),
    refused(
        "functional.adaptive_avg_pool2d", pooling.X2, output_size=-1, says="output_size must be"
    ),
    refused("functional.adaptive_max_pool1d", pooling.X2, output_size=2, says="signals of shape"),
    refused("AdaptiveMaxPool2d", pooling.X2[:, :, :0], output_size=2, says="not empty"),
    refused(
        "functional.max_unpool2d", pooling.X2, np.zeros(pooling.X2.shape, np.int32), 2, says="int32"
    ),
    refused(
        "functional.max_unpool2d", pooling.X2, np.zeros((2, 2), np.int64), 2, says="of the shape"
    ),
    refused(
        "functional.max_unpool2d",
        pooling.X2,
        np.full(pooling.X2.shape, 168),
        2,
        says="168 is out of range",
    ),
    refused(
        "functional.max_unpool2d",
        pooling.X2,
        np.zeros(pooling.X2.shape, np.int64),
        2,
        output_size=(16, 12),
        says="less than the stride",
    ),
    refused(
        "functional.max_unpool2d",
        pooling.X2,
        np.zeros(pooling.X2.shape, np.int64),
        2,
        output_size=(16,),
        says="must have 2 sizes",
    ),
    refused("MaxPool2d", draw(2, 0, 4, 4), kernel_size=2, says="have no windows"),
    refused("AvgPool1d", draw(2, 0, 4), kernel_size=2, says="have no windows"),
    refused("AdaptiveMaxPool2d", draw(2, 0, 4, 4), output_size=3, says="have no windows"),
    refused("MaxPool1d", draw(2, 3, 4), kernel_size=2, ceil_mode="yes", says="True or False"),
    refused("functional.lp_pool2d", draw(1, 2, 4, 4), norm_type="2", kernel_size=2, says="number"),
    refused("FractionalMaxPool2d", kernel_size=2, says="either an output_size or an output_ratio"),
    refused("FractionalMaxPool2d", kernel_size=2, output_ratio=1.5, says="below 1"),
    refused(
        "FractionalMaxPool3d",
        draw(1, 2, 3, 3, 3),
        kernel_size=2,
        output_size=3,
        says="different starts",
    ),
    refused("FractionalMaxPool2d", draw(3, 3), kernel_size=2, output_size=2, says="takes"),
    refused(
        "functional.fractional_max_pool2d",
        draw(1, 2, 5, 5),
        kernel_size=2,
        output_size=2,
        _random_samples=draw(1, 3, 2),
        says="random samples of shape",
    ),
]

POSITIONS = [
    refused("SinusoidalPositions", says="even", features=3),
    refused("RotaryPositions", says="even", features=5),
    refused("RotaryPositions", says="base", features=4, base=-1.0),
    refused("RotaryPositions", draw(3, 2), says="with 4 features", features=4),
    refused("SinusoidalPositions", draw(4), says="steps in dimension -2", features=4),
    refused("SinusoidalPositions", draw(3, 4), says="dimension 1", features=4, dim=1),
    refused("RotaryPositions", np.ones((3, 4), np.int64), says="int64", features=4),
    refused("LearnedPositions", draw(3, 4), says="max_steps=2", max_steps=2, features=4),
    refused("LearnedPositions", says="max_steps", max_steps=0, features=4),
]

RECURRENT = [
    refused("GRU", draw(3, 2, 4), says="with 2 features", **recurrent.SIZES),
    refused("LSTM", draw(2), says="takes sequences", **recurrent.SIZES),
    refused("RNN", np.zeros((3, 2, 2), np.int64), says="int64 were given", **recurrent.SIZES),
    refused("RNN", draw(0, 2, 2), says="at least one step", **recurrent.SIZES),
    refused("RNN", recurrent.X, draw(2, 2, 3), says="expects a state of shape", **recurrent.SIZES),
    refused("GRU", recurrent.X, draw(1, 3), says="expects a state of shape", **recurrent.SIZES),
    refused("GRU", draw(3, 2), draw(1, 2, 3), says="expects a state of shape", **recurrent.SIZES),
    refused("LSTM", recurrent.X, draw(1, 2, 3), says="as a pair", **recurrent.SIZES),
    refused(
        "LSTM",
        recurrent.X,
        (draw(1, 2, 3), draw(1, 1, 3)),
        says="expects a state",
        **recurrent.SIZES,
    ),
    refused("LSTM", says="smaller than hidden_size", proj_size=3, **recurrent.SIZES),
    refused("GRU", says="probability", num_layers=2, dropout=1.5, **recurrent.SIZES),
    refused("GRU", says="num_layers", num_layers=0, **recurrent.SIZES),
    refused("RNN", says="hidden_size", input_size=2, hidden_size=0),
    refused("RNN", says="'tanh' or 'relu'", nonlinearity="gelu", **recurrent.SIZES),
    refused("RNNCell", recurrent.X, says="takes an input", **recurrent.SIZES),
    refused("RNNCell", recurrent.X[0], draw(3, 3), says="expects a state", **recurrent.SIZES),
    refused("GRUCell", draw(2, 3), says="takes an input", **recurrent.SIZES),
    refused("LSTMCell", recurrent.X[0], draw(2, 3), says="as a pair", **recurrent.SIZES),
    refused(
        "RNNCell", recurrent.X[0], says="'tanh' or 'relu'", nonlinearity="sin", **recurrent.SIZES
    ),
    refused("GRU", input_size=2, hidden_size=3, bidirectional=2, says="True or False"),
]

RESAMPLING = [
    refused("functional.interpolate", resampling.X2, says="either size or scale_factor"),
    refused("functional.interpolate", resampling.X2, size=3, scale_factor=2, says="either size or"),
    refused("functional.interpolate", resampling.X2, size=(3,), says="one integer or 2"),
    refused("functional.interpolate", resampling.X2, size=0, says="size must be"),
    refused(
        "functional.interpolate", resampling.X1, size=2**62, says="than this machine can address"
    ),
    refused(
        "functional.adaptive_avg_pool1d",
        resampling.X1,
        2**63 - 1,
        says="than this machine can address",
    ),
    refused("functional.interpolate", resampling.X2, scale_factor=(2.0,), says="one number or 2"),
    refused("functional.interpolate", resampling.X2, scale_factor=0.1, says="reduces a size"),
    refused(
        "functional.interpolate", resampling.X2, scale_factor=-1.0, says="scale_factor must be"
    ),
    refused(
        "functional.interpolate", resampling.X2, size=3, mode="closest", says="mode must be one of"
    ),
    refused("functional.interpolate", resampling.X2, size=3, mode="linear", says="'linear' takes"),
    refused(
        "functional.interpolate", resampling.X1, size=3, mode="bicubic", says="'bicubic' takes"
    ),
    refused("functional.interpolate", resampling.X1[0], size=3, says="'nearest' takes"),
    refused(
        "functional.interpolate",
        resampling.X2,
        size=3,
        align_corners=True,
        says="align_corners is for",
    ),
    refused(
        "functional.interpolate", resampling.X2, size=3, antialias=True, says="antialias is for"
    ),
    refused(
        "functional.interpolate",
        resampling.X2,
        size=3,
        recompute_scale_factor=True,
        says="a size was",
    ),
    refused(
        "functional.interpolate", np.zeros((1, 1, 2), np.int64), size=3, says="int64 was given"
    ),
    refused("Upsample", resampling.X2, says="either size or scale_factor"),
    refused("functional.pixel_shuffle", resampling.X2, 2, says="multiple of 4 channels"),
    refused("functional.pixel_shuffle", resampling.X2[0, 0], 1, says="takes images"),
    refused("PixelShuffle", resampling.X2, upscale_factor=0, says="a positive integer"),
    refused("functional.pixel_unshuffle", resampling.X2, 3, says="multiples of 3"),
    refused("functional.channel_shuffle", resampling.X2, 3, says="multiple of 3 channels"),
]

TRANSFORMER = [
    refused(
        "TransformerEncoderLayer",
        says="'relu', 'gelu'",
        **{**transformer.SMALL, "activation": "sin"},
    ),
    refused("TransformerEncoderLayer", says="multiple of num_heads", d_model=3, nhead=2),
    refused(
        "TransformerEncoderLayer",
        draw(3, 2, 5),
        says="with 4, 4 and 4 features",
        **transformer.SMALL,
    ),
    refused(
        "TransformerDecoderLayer",
        transformer.TARGET,
        transformer.SOURCE[:, :1],
        says="shapes",
        **transformer.SMALL,
    ),
    refused(
        "Transformer",
        transformer.SOURCE,
        draw(3, 2, 5),
        says="with 4 features",
        **transformer.SMALL,
    ),
    refused(
        "Transformer",
        transformer.SOURCE,
        transformer.TARGET[:, 0],
        says="with or without a batch",
        **transformer.SMALL,
    ),
    refused(
        "TransformerEncoder", says="num_layers", encoder_layer=transformer.ENCODER, num_layers=0
    ),
]

REFUSED = [
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
    "no features": "its cluster then has a probability that no input changes",
    "only padding around 3": "it returns -inf, and an index that does not exist",
}
"""Refusals that torch does not share, by the expression for their message, with the reason."""


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_invalid_calls_raise(call: Call, says: str) -> None:
    with pytest.raises((nn.NetworkError, TensorError), match=says):
        outcome(call, "float32")


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_invalid_calls_raise_in_torch(call: Call, says: str) -> None:
    pytest.importorskip("torch")
    from mt_nn.conformance.in_torch import NOT_IN_TORCH, leaf, theirs

    if says in ACCEPTED_BY_TORCH or call.name in NOT_IN_TORCH:
        return
    inputs, settings = mapped(leaf, list(call.inputs)), mapped(leaf, dict(call.settings))

    def run() -> None:
        if call.is_function:
            theirs(call.name)(*inputs, **settings)
        else:
            theirs(call.name)(**settings).double()(*inputs)

    with pytest.raises(Exception):  # noqa: B017, PT011 - torch raises many kinds
        run()
