"""Calls of losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, call
from mt_nn.conformance.drawing import draw

REDUCTIONS: list[dict[str, Any]] = [{"reduction": name} for name in ("mean", "sum", "none")]
MEAN, _, NONE = REDUCTIONS


Rows = Callable[..., list[Call]]


def pair(function: str, layer: str) -> Rows:
    """Return a function that makes rows of a function, and of its layer for the last settings."""

    def rows(
        *inputs: Any, settings: Sequence[dict[str, Any]] = (MEAN, NONE), **constants: Any
    ) -> list[Call]:
        named = [(f"functional.{function}", given) for given in settings] + [(layer, settings[-1])]
        return [call(name, *inputs, constants=constants, **given) for name, given in named]

    return rows


X, Y = draw(3, 4), draw(3, 4, seed=1)
POSITIVE = np.abs(draw(3, 4, seed=2)) + 0.1
SIGNS = np.where(Y > 0, 1, -1)
LABELS = (Y > 0).astype(np.float32)
SOFT = np.exp(Y) / np.exp(Y).sum(1, keepdims=True)
PROBABILITIES = 1 / (1 + np.exp(-X))
CLASSES = np.array([0, 3, 2, 3])
IMAGE_CLASSES = np.stack([CLASSES, CLASSES[::-1]], 1)
SOME_CLASSES = np.array([0, -100, 2, 3])
CLASS_WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 3.0], np.float32)
COUNTS = np.array([[0, 1, 2, 5], [3, 1, 0, 2], [7, 1, 4, 2]], np.float32)
VECTORS = [draw(3, 4, seed=seed) for seed in (3, 4, 5)]
PAIRS = np.array([1, -1, 1])

mse = pair("mse_loss", "MSELoss")
l1 = pair("l1_loss", "L1Loss")
smooth_l1 = pair("smooth_l1_loss", "SmoothL1Loss")
huber = pair("huber_loss", "HuberLoss")

DIFFERENCES = [
    *mse(X, Y, settings=REDUCTIONS),
    *l1(X, Y),
    *smooth_l1(X, Y, settings=[MEAN]),
    *smooth_l1(X, Y, settings=[{"beta": 0.5, **MEAN}]),
    *smooth_l1(X, Y, settings=[{"beta": 0.0, **MEAN}]),
    *huber(X, Y),
    *huber(X, Y, settings=[{"delta": 0.3}]),
    *(
        call(f"functional.{name}", X, Y, weight=POSITIVE, **reduction)
        for name in ("mse_loss", "l1_loss", "huber_loss")
        for reduction in REDUCTIONS
    ),
]

SCORES = draw(4, 5)
MARGINS_JUST_MET = np.eye(5)[CLASSES]  # where the gradient of torch is 0
TARGETS = [
    ({}, SCORES, CLASSES),
    ({}, draw(4, 5, 2), IMAGE_CLASSES),
    ({}, draw(5), np.array(3)),
    ({}, SCORES, SOME_CLASSES),
    ({"ignore_index": 3}, SCORES, CLASSES),
]
SMOOTHED: dict[str, Any] = {"label_smoothing": 0.3}
WIDE_MARGINS: dict[str, Any] = {"p": 2, "margin": 0.7, "reduction": "none"}

nll = pair("nll_loss", "NLLLoss")
cross_entropy = pair("cross_entropy", "CrossEntropyLoss")
multi_margin = pair("multi_margin_loss", "MultiMarginLoss")

CLASS_LOSSES = [
    *(
        row
        for rows in (nll, cross_entropy)
        for given, *inputs in TARGETS
        for row in (
            *rows(*inputs, settings=[{**given, **NONE}]),
            *rows(*inputs, settings=[{**given, **MEAN}], weight=CLASS_WEIGHTS),
        )
    ),
    *cross_entropy(SCORES, CLASSES, settings=REDUCTIONS[:2]),  # the rows above have the third
    *(
        row
        for given, *inputs in TARGETS
        for row in cross_entropy(*inputs, settings=[{**SMOOTHED, **given}], weight=CLASS_WEIGHTS)
    ),
    *(
        row
        for shape in ((4, 5), (2, 5, 3), (5,))
        for soft in [np.abs(draw(*shape, seed=1))]
        for row in cross_entropy(
            draw(*shape), soft, settings=[SMOOTHED, NONE], weight=CLASS_WEIGHTS
        )
    ),
    call("functional.cross_entropy", X, SOFT),
    *multi_margin(SCORES, CLASSES),
    *multi_margin(SCORES, CLASSES, settings=[WIDE_MARGINS], weight=CLASS_WEIGHTS),
    *multi_margin(draw(5), np.array(3), settings=[WIDE_MARGINS], weight=CLASS_WEIGHTS),
    call("functional.multi_margin_loss", MARGINS_JUST_MET, CLASSES),
]

LABELLED = np.array([[2, 0, -1, 1], [3, -1, -1, -1], [1, 0, 3, 2]])

binary = pair("binary_cross_entropy", "BCELoss")
logistic = pair("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")
soft_margin = pair("soft_margin_loss", "SoftMarginLoss")
soft_margins = pair("multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss")
margins = pair("multilabel_margin_loss", "MultiLabelMarginLoss")

LABEL_LOSSES = [
    *binary(PROBABILITIES, LABELS),
    *binary(PROBABILITIES, SOFT, weight=POSITIVE),
    *logistic(X, SOFT),
    *(
        row
        for inputs in ((X, LABELS), (X[:2], SOFT[:2]), (X[0], SOFT[0]))
        for row in logistic(*inputs, settings=[MEAN], weight=POSITIVE[0], pos_weight=POSITIVE[1])
    ),
    *soft_margin(X, SIGNS),
    *soft_margins(X, LABELS),
    *soft_margins(X[0], LABELS[0]),
    *soft_margins(X, LABELS, weight=POSITIVE[0]),
    *margins(X, LABELLED),
    *margins(X[0], LABELLED[0]),
    call("functional.multilabel_margin_loss", *(MARGINS_JUST_MET[:3, :4], LABELLED)),
]

divergence = pair("kl_div", "KLDivLoss")
poisson = pair("poisson_nll_loss", "PoissonNLLLoss")
gaussian = pair("gaussian_nll_loss", "GaussianNLLLoss")

DISTRIBUTIONS = [
    *(
        row
        for target, is_log in ((SOFT, False), (np.log(SOFT), True))
        for per_batch in [{"reduction": "batchmean", "log_target": is_log}]
        for row in divergence(X, target, settings=[{**per_batch, **NONE}, per_batch])
    ),
    *poisson(X, COUNTS, settings=[NONE]),
    *poisson(X, COUNTS + 1, settings=[{"full": True, **NONE}]),
    *poisson(
        POSITIVE, COUNTS + 1, settings=[{"log_input": False, "full": True, "eps": 0.1, **NONE}]
    ),
    *(
        row
        for variance in (POSITIVE, POSITIVE[:, :1], POSITIVE[:, 0], POSITIVE[:1], 0.5)
        for row in gaussian(X, Y, variance, settings=[MEAN, {"full": True, "eps": 0.3, **NONE}])
    ),
]

cosine = pair("cosine_embedding_loss", "CosineEmbeddingLoss")
hinge = pair("hinge_embedding_loss", "HingeEmbeddingLoss")
ranking = pair("margin_ranking_loss", "MarginRankingLoss")
triplet = pair("triplet_margin_loss", "TripletMarginLoss")
triplet_by = pair("triplet_margin_with_distance_loss", "TripletMarginWithDistanceLoss")

SIMILARITIES = [
    *cosine(*VECTORS[:2], PAIRS, settings=[NONE, {"margin": -0.5}]),
    *cosine(VECTORS[0][0], VECTORS[1][0], np.array(-1), settings=[NONE, {"margin": -0.5}]),
    *hinge(POSITIVE, SIGNS, settings=[NONE, {"margin": 0.4}]),
    *ranking(X, Y, SIGNS, settings=[NONE, {"margin": 0.4}]),
    call("functional.margin_ranking_loss", X, Y, SIGNS[:1]),
    *triplet(
        *VECTORS,
        settings=[
            MEAN,
            {"margin": 3.0, "p": 3.0, "eps": 0.1},
            {"swap": True, "margin": 2.0, **NONE},
        ],
    ),
    call("TripletMarginLoss", *(x[0] for x in VECTORS)),
    *triplet_by(*VECTORS, settings=[MEAN, {"margin": 2.0, "swap": True, **NONE}]),
]

CALLS = [*DIFFERENCES, *CLASS_LOSSES, *LABEL_LOSSES, *DISTRIBUTIONS, *SIMILARITIES]
