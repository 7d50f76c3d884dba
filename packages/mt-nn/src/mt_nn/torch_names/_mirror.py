"""Lazy submodules of the modules of this folder, and errors for missing names.

A submodule is imported at the first access. Any other missing name is an error with advice, which
is the same for `torch.jit`, `import torch.jit`, `from torch import jit` and `from
torch.nn.functional import grid_sample`.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

ROOT = __name__.rpartition(".")[0]
_REAL_MODULES = {f"{ROOT}.{name}" for name in ("_functions", "_mirror", "_settings", "left_out")}
"""The modules of the folder that torch does not have."""


class LeftOutError(ModuleNotFoundError):
    """A name of torch that does not exist here was imported; the message suggests another."""


class _Finder(MetaPathFinder):
    """Find the modules of this folder; raise LeftOutError for others below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{ROOT}.") or fullname in _REAL_MODULES:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            from mt_nn.torch_names.left_out import sentence

            raise LeftOutError(sentence(fullname.removeprefix(f"{ROOT}.")))
        spec.loader = _Mirrored(spec.loader)
        return spec


class _Mirrored(Loader):
    """Load a module with another loader, and finish it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        finish(module.__name__)


sys.meta_path.insert(0, _Finder())


def finish(name: str) -> None:
    """Add lazy submodules to a module, after its other names are defined.

    If it has imported a name that is also that of a submodule, such as `optim` or `backends`, the
    submodule replaces it.

    Args:
        name: the name of the module.
    """
    module = sys.modules[name]
    # `from package import name` looks for a submodule if the name is missing, and so calls the
    # finder. Therefore all modules are packages, most of them empty.
    module.__dict__.setdefault("__path__", [])
    for submodule in iter_modules(module.__path__):
        module.__dict__.pop(submodule.name, None)

    def __getattr__(attribute: str) -> Any:
        try:
            return import_module(f"{name}.{attribute}")
        except LeftOutError as error:
            raise AttributeError(str(error), name=attribute, obj=module) from None

    module.__dict__["__getattr__"] = __getattr__
