"""Recurrent networks, forward and backward, and a cell in a Python loop."""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, workload


def _network(kind: str, sizes: tuple[int, ...], input: tuple[int, ...], **settings: Any) -> Make:
    def make(side: Library) -> Program:
        network = getattr(side.nn, kind)(*sizes, **settings)
        x = side.tensors.randn(*input)
        upstream = side.tensors.randn(*network(x)[0].shape)

        def step() -> None:
            network.zero_grad()
            network(x)[0].backward(upstream)

        return step

    return make


def _cell(side: Library) -> Program:
    cell, steps = side.nn.LSTMCell(64, 64), side.tensors.randn(20, 32, 64)

    def step() -> None:
        state = None
        for now in steps.unbind():
            state = cell(now, state)
        cell.zero_grad()
        state[0].sum().backward()  # type: ignore[index]

    return step


for _kind in ("RNN", "GRU", "LSTM"):
    workload(f"{_kind} of 128, 20 steps of 32 sequences", 1.0)(
        _network(_kind, (128, 128), (20, 32, 128))
    )
workload("LSTM of 64, two layers both ways, 35 steps of 16", 1.0)(
    _network("LSTM", (64, 64, 2), (16, 35, 64), bidirectional=True, batch_first=True)
)
workload("LSTM of 256, two layers, 64 steps of 64", 1.0)(
    _network("LSTM", (256, 256, 2), (64, 64, 256))
)
workload("LSTM of 650, 35 steps of 20", 1.0)(_network("LSTM", (650, 650), (35, 20, 650)))
workload("LSTM cell of 64, 20 steps of 32", 1.0)(_cell)
