"""Module trees: a small network with hand-made weights, which you can change.

The networks are those of `mt_operators.examples.manual`, whose weights were found by reasoning.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from mt_operators.datasets import DATASETS
from mt_operators.examples.manual import Network, accuracy, network_for
from play.plane import draw_plane, grid
from play.showing import show_numbers, show_svg
from play.trees import tree_html

DATA = ("xor", "simple", "diag", "split", "circle")
"""The data sets that have a network."""

CELLS = 60
POINTS = 80


def show() -> None:
    """Show the tree, and its classification."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        choices = st.columns([2, 3])
        name = str(choices[0].selectbox("data", DATA))
        network = network_for(name)
        changed: dict[str, float] = st.session_state.setdefault(f"trees.{name}", {})
        network.load_state_dict({**network.state_dict(), **changed})
        names = [parameter for parameter, _ in network.named_parameters()]
        chosen = str(choices[1].selectbox("parameter", names, key=f"{name}.parameter"))
        _change(network, name, chosen, changed)
        if st.toggle("evaluate, as after `network.eval()`"):
            network.eval()
        st.html(tree_html(network, chosen))
    with right:
        _show_plane(network, name)
    with st.expander("in Python"):
        st.code(repr(network), language=None)
        st.markdown("`network.state_dict()`")
        st.json(network.state_dict())


def _change(network: Network, data: str, chosen: str, changed: dict[str, float]) -> None:
    """Let the user change a parameter; changes are kept for each data set."""
    parameter = dict(network.named_parameters())[chosen]
    key = f"{data}.{chosen}.{st.session_state.get('trees.renewed', 0)}"
    value = float(parameter.value)
    value = float(st.slider(chosen, -2.0, 2.0, value, step=0.05, key=key))
    if value != float(parameter.value):
        changed[chosen] = value
        parameter.update(value)
    if st.button("Reset", disabled=not changed):
        changed.clear()
        st.session_state["trees.renewed"] = st.session_state.get("trees.renewed", 0) + 1
        st.rerun()


def _show_plane(network: Network, name: str) -> None:
    dataset = DATASETS[name](POINTS)
    x1, x2 = grid(dataset, CELLS)
    cells = zip(x1.ravel().tolist(), x2.ravel().tolist(), strict=True)
    scores = np.array([network(point) - 0.5 for point in cells]).reshape(x1.shape)
    show_svg(draw_plane(dataset, scores, map(network, dataset.X)), fits=True)
    show_numbers({f"accuracy on {POINTS} points": f"{accuracy(network, dataset):.0%}"})
    st.caption(
        "Each line measures how far a point is on its positive side; class 1 (orange) is where the "
        "weighted sum exceeds the threshold. Points with a thick outline are misclassified."
    )
