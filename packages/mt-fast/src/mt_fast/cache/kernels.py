"""Keep compiled kernels on disk, so that the next process loads them.

Compiling a kernel takes a tenth of a second or more, loading it a few milliseconds. Each is in a
file that is named by a hash of everything that went into it: its text and its module, the modules
of this package that give the text its meaning, the types of its arguments, the processor, the
options and versions of the compiler. So a file is never out of date, and needs no lock: two
processes that compile the same kernel write the same file, by renaming a complete one. The text of
the kernel lies next to it, for people to read.

Any problem with the folder (see `folder.py`) costs only time: the kernel is compiled.

Numba numbers the functions that it compiles, from 1 in every process, and the symbols in machine
code have these numbers. Of two kernels of one name that two processes have compiled, a third one
that loads both would call the first in place of the second, if they had the same number. So each
process counts from a number of its own.
"""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import compiler, config, serialize
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache

from mt_fast.cache.folder import Folder, hashed
from mt_fast.core.tables import KEEP, START
from mt_operators.core import table

FOLDER = Folder("mt-fast", "MT_FAST_CACHE")
"""Where the kernels are."""

_PACKAGE = __name__.partition(".")[0]

_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Settings of Numba's that decide what machine code it makes."""

UNRELATED = ("examples",)
"""What no kernel uses, in the folder of this package: examples can change, and kernels that were
compiled before are still right."""

NUMBERS = 2**60
"""How many numbers there are to begin with."""

_compiler: Any = compiler  # Numba's functions have no types
_serialize: Any = serialize


def _count_anew() -> None:
    """Let Numba count from a number that no other process has begun with."""
    FunctionIdentity._unique_ids = itertools.count(secrets.randbelow(NUMBERS))


_count_anew()
if hasattr(os, "register_at_fork"):  # two children would go on with the same numbers
    os.register_at_fork(after_in_child=_count_anew)


def cached(dispatcher: Any, name: str, texts: Sequence[str]) -> Any:
    """Return a function compiled by Numba, which from now on looks for its machine code on disk.

    A function of other modules is returned as it is, and compiled by each process: what the names
    in its text stand for there, no hash of its text can know.

    Args:
        dispatcher: what `numba.njit` has returned.
        name: a name for the files.
        texts: its text, and what else decides what it does but for the modules of this package.
    """
    module = dispatcher.__module__
    is_ours = module.partition(".")[0] == _PACKAGE
    if is_ours and hasattr(dispatcher, "_cache"):  # not if Numba has been told not to compile
        options = {
            option: sorted(value) if isinstance(value, set) else value
            for option, value in sorted(dispatcher.targetoptions.items())
        }
        dispatcher._cache = KernelCache(name, texts, repr((module, options)))
    return dispatcher


@functools.cache
def _meaning() -> bytes:
    """Return a hash of what gives the text of a kernel its meaning."""
    package = Path(__file__).parents[1]
    modules = [
        module
        for module in sorted(package.rglob("*.py"))
        if module.relative_to(package).parts[0] not in UNRELATED
    ]
    versions = (sys.version, numba.__version__, llvmlite.__version__)
    options = [getattr(config, name, None) for name in _OPTIONS]
    modules.append(Path(table.__file__))  # whose slopes some kernels call
    sources = [module.read_bytes() for module in modules]
    return hashed(repr((versions, options)), *sources)


class KernelCache(_Cache):
    """Where Numba looks for the machine code of one function, and leaves it."""

    def __init__(self, name: str, texts: Sequence[str], options: str) -> None:
        self._name = name
        self._texts = tuple(texts)
        self._options = options
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder, for Numba's own reports."""
        folder = FOLDER.path()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Look at the disk."""
        self._enabled = True

    def disable(self) -> None:
        """Leave the disk alone."""
        self._enabled = False

    def flush(self) -> None:
        """Forget nothing: no file is out of date."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for some types of arguments; None if there is none."""
        if not self._enabled or FOLDER.path() is None:
            return None
        target_context.refresh()
        payload = FOLDER.read(self._entry(sig, target_context.codegen()))
        if payload is None:
            return None
        try:
            return _compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # noqa: BLE001 - whatever it is, this is no kernel
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if it can be."""
        folder = FOLDER.path() if self._enabled else None
        if folder is None or data.lifted or data.library.has_dynamic_globals:
            return
        FOLDER.write(self._entry(sig, data.codegen), _serialize.dumps(data._reduce()))
        text = f"{self._stem()}.py"
        if not (folder / text).exists():
            FOLDER.write_text(text, ("\n\n\n".join(self._texts) + "\n").encode())

    def _stem(self) -> str:
        digest = hashed(_meaning(), self._options, *self._texts).hex()
        return f"{self._name}-{digest[:16]}"

    def _entry(self, sig: Any, codegen: Any) -> str:
        """Return the name of the function compiled for some types of arguments, here."""
        types = hashed(repr(sig), repr(codegen.magic_tuple())).hex()
        return f"{self._stem()}-{types[:16]}.nbc"


def cache_folder() -> Path | None:
    """Return the folder that keeps compiled kernels; None if they are not kept.

    The environment variable `MT_FAST_CACHE` names it; by default it is a folder for this package
    among the user's caches. With `MT_FAST_CACHE=off`, nothing is kept. The folder may be deleted at
    any time. Nothing is read from a folder that other users may write to.

    Raises:
        BackendUnavailableError: `MT_FAST_CACHE` names the home of a user who does not exist.
    """
    return FOLDER.path()


START.append(FOLDER.path)
KEEP.append(cached)
