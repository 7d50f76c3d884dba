"""A tree of modules as HTML: each module is a box with its parameters and child modules."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from mt_operators import Module


def tree_html(module: Module, chosen: str = "") -> str:
    """Return a module with all of its descendants.

    Args:
        module: the root of the tree.
        chosen: the full name of a parameter to highlight.
    """
    return f'<div class="mt-tree">{_box(module, "", chosen)}</div>'


def _box(module: Module, path: str, chosen: str) -> str:
    prefix = f"{path}." if path else ""
    held: Mapping[str, Any] = {
        name: parameter.value for name, parameter in module.named_parameters(recurse=False)
    }
    kind, name = type(module).__name__, path.rpartition(".")[2]
    heading = f"<b>{escape(kind)}</b>"
    if name:
        heading += f' <span class="name">{escape(name)}</span>'
    mode = "training" if module.training else "evaluating"
    chips = "".join(
        f'<span class="held{" chosen" if prefix + key == chosen else ""}">'
        f"{escape(key)} = {float(value):.4g}</span>"
        for key, value in held.items()
    )
    below = "".join(_box(child, prefix + key, chosen) for key, child in module.named_children())
    return (
        f'<div class="module"><span class="mode">{mode}</span>{heading}<div>{chips}</div>'
        f'<div class="below">{below}</div></div>'
    )
