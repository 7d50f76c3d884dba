"""What of torch is left out, and what to use instead: errors that are made from `left_out.toml`."""

from __future__ import annotations

import difflib
import sys
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

LEFT_OUT: Mapping[str, str] = {
    each["say"]: each["names"]
    for each in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["left_out"]
}
"""What is said, and to whom: dotted names below torch."""


@cache
def _patterns() -> list[tuple[str, str]]:
    """Return each name with what is said of it."""
    return [(name, advice) for advice, names in LEFT_OUT.items() for name in names.split()]


def advice(path: str) -> str | None:
    """Return what to use instead of something of torch's; None if it is not left out knowingly.

    Args:
        path: a dotted name below torch, as `nn.functional.grid_sample`.
    """
    for pattern, said in _patterns():
        if fnmatchcase(path, pattern) or path.startswith(f"{pattern}."):
            return said
    return None


def sentence(path: str) -> str:
    """Return what an error says of something that is not in a module of the mirror."""
    said = advice(path)
    if said is not None:
        return f"torch.{path} is left out. {said}{_near(path, 0.8)}"
    return f"torch.{path} is not here.{_near(path, 0.6)}"


def _near(path: str, similar: float) -> str:
    """Return a question after the name in the same module that is most like it, if one is."""
    root = __name__.rpartition(".")[0]
    parent, _, name = path.rpartition(".")
    module = sys.modules.get(f"{root}.{parent}".rstrip("."))
    if module is None:  # within a class
        return ""
    names = {*vars(module), *(below.name for below in iter_modules(module.__path__))}
    known = {each for each in names if not each.startswith("_")}
    near = difflib.get_close_matches(name, known, 1, similar)
    return f" Did you mean {near[0]}?" if near else ""
