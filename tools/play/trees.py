"""A tree of modules as HTML: each module a box, in it what it holds and the modules below it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from mt_operators import Module

STYLE = """<style>
.mt-tree{font-size:.9rem}
.mt-tree .module{border:1px solid color-mix(in srgb,currentColor 25%,transparent);
border-radius:.5rem;padding:.45rem .7rem;margin:.35rem 0;
background:color-mix(in srgb,currentColor 4%,transparent)}
.mt-tree .name{font-family:ui-monospace,Menlo,Consolas,monospace;opacity:.75}
.mt-tree .mode{float:right;font-size:.8rem;opacity:.75}
.mt-tree .held{display:inline-block;margin:.15rem .3rem .15rem 0;padding:.05rem .5rem;
border-radius:1rem;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.8rem;
background:color-mix(in srgb,#3b82c4 22%,transparent)}
.mt-tree .chosen{outline:2px solid #d1622b}
.mt-tree .below{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));
gap:0 .6rem}
</style>"""


def tree_html(module: Module, chosen: str = "") -> str:
    """Return a module with all below it.

    Args:
        module: the root of the tree.
        chosen: the whole name of a parameter that is marked.
    """
    return f'{STYLE}<div class="mt-tree">{_box(module, "", chosen)}</div>'


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
