"""Helpers that tests of several commands share."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from mt.workspace import ROOT

EXAMPLES = ROOT / "examples"


def example(name: str) -> ModuleType:
    """Return one of the programs in `examples`, freshly imported."""
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no program {name} in {EXAMPLES}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
