"""Helpers that tests of several commands share."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

from mt.workspace import ROOT

EXAMPLES = ROOT / "examples"

Shape = Any
"""The structure of JSON: a type, a list or mapping of shapes, or a tuple of a shape and None.

The key `...` of a mapping matches any name, and the type `object` any value.
"""


def example(name: str) -> ModuleType:
    """Return one of the programs in `examples`, freshly imported."""
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no program {name} in {EXAMPLES}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_shape(found: object, shape: Shape) -> None:
    """Assert that parsed JSON has this structure."""
    if isinstance(shape, tuple):
        if found is not None:
            check_shape(found, shape[0])
    elif isinstance(shape, list):
        _assert(isinstance(found, list), found, shape)
        for each in found:  # type: ignore[attr-defined]
            check_shape(each, shape[0])
    elif isinstance(shape, dict):
        _assert(isinstance(found, dict), found, shape)
        members: dict[str, object] = found  # type: ignore[assignment]
        keys = set(members) if ... in shape else set(shape)
        _assert(set(members) == keys, found, shape)
        for key, member in members.items():
            check_shape(member, shape[...] if ... in shape else shape[key])
    else:
        _assert(shape is object or type(found) is shape, found, shape)


def _assert(holds: bool, found: object, shape: Shape) -> None:
    if not holds:
        raise AssertionError(f"{found!r} does not look like {shape!r}")
