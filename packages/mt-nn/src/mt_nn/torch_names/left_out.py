"""Messages for names of torch that are not supported, from `left_out.toml`."""

from __future__ import annotations

import difflib
import sys
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from pkgutil import iter_modules

LEFT_OUT: Mapping[str, str] = {
    each["message"]: each["names"]
    for each in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["left_out"]
}
"""For each message, the dotted names below torch that it applies to."""


_MESSAGES = [(name, message) for message, names in LEFT_OUT.items() for name in names.split()]
"""Pairs of a name and its message."""


def advice(path: str) -> str | None:
    """Return what to use instead of a name of torch; None if `left_out.toml` does not list it.

    Args:
        path: a dotted name below torch, such as `nn.functional.grid_sample`.
    """
    for pattern, message in _MESSAGES:
        if fnmatchcase(path, pattern) or path.startswith(f"{pattern}."):
            return message
    return None


def sentence(path: str) -> str:
    """Return the message of an error for a missing name."""
    message = advice(path)
    if message is not None:
        return f"torch.{path} is not supported. {message}{_suggestion(path, 0.8)}"
    return f"torch.{path} was not found.{_suggestion(path, 0.6)}"


def _suggestion(path: str, similar: float) -> str:
    """Return a question with the most similar name of the same module, if there is one."""
    root = __name__.rpartition(".")[0]
    parent, _, name = path.rpartition(".")
    module = sys.modules.get(f"{root}.{parent}".rstrip("."))
    if module is None:  # a name in a class
        return ""
    names = {*vars(module), *(submodule.name for submodule in iter_modules(module.__path__))}
    known = {each for each in names if not each.startswith("_")}
    near = difflib.get_close_matches(name, known, 1, similar)
    return f" Did you mean {near[0]}?" if near else ""
