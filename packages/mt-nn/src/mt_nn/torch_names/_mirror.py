"""What the modules of this folder share: lazy submodules, and a sentence for what is not there.

`torch.nn` names layers and modules alike. A layer is a name of the module; a module of the folder
is imported when it is first asked for (type checkers are told of those that no `import *` brings).
Anything else is an error with advice, the same for `torch.jit`, `import torch.jit`, `from torch
import jit` and `from torch.nn.functional import grid_sample`.
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
_OWN = {f"{ROOT}.{name}" for name in ("_mirror", "_settings", "left_out")}
"""The modules of the folder that have no name of torch's."""


class LeftOutError(ModuleNotFoundError):
    """Something of torch's was imported that is not here; says what to use instead."""


class _Finder(MetaPathFinder):
    """Finds the modules of this folder; what is not in it is not there, and it says so."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{ROOT}.") or fullname in _OWN:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            from mt_nn.torch_names.left_out import sentence

            raise LeftOutError(sentence(fullname.removeprefix(f"{ROOT}.")))
        spec.loader = _Mirrored(spec.loader)
        return spec


class _Mirrored(Loader):
    """Loads a module as another loader does, and finishes it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        finish(module.__name__)


sys.meta_path.insert(0, _Finder())


def finish(name: str) -> None:
    """Make a module one of the mirror, when it has all its names.

    Where what it has taken from elsewhere is called like a module of the folder, as `optim` and
    `backends` are, the module is meant.

    Args:
        name: the name that it is imported by.
    """
    module = sys.modules[name]
    # Whoever imports a name from a package that has it not looks for a module of that name, and so
    # comes to the finder. To that end all of the mirror are packages, most of them empty.
    module.__dict__.setdefault("__path__", [])
    for below in iter_modules(module.__path__):
        module.__dict__.pop(below.name, None)

    def __getattr__(attribute: str) -> Any:
        try:
            return import_module(f"{name}.{attribute}")
        except LeftOutError as error:
            raise AttributeError(str(error), name=attribute, obj=module) from None

    module.__dict__["__getattr__"] = __getattr__
