"""Store compiled kernels on disk, so that the next process loads them.

Compiling a kernel takes a tenth of a second or more, loading it a few milliseconds. Each kernel is
in a file that is named by a hash of everything that determines its machine code: its text and its
module, the modules of this package that the text uses, the types of its arguments, the processor,
the options and versions of the compiler. So a file is never out of date, and needs no lock: two
processes that compile the same kernel write the same file, by renaming a complete one. The text of
the kernel is next to it, for people to read.

Any problem with the folder (see `folder.py`) costs only time: the kernel is compiled.

Numba numbers the functions that it compiles, from 1 in every process, and the symbols in machine
code contain these numbers. If two processes compiled two kernels of one name with the same number,
a third process that loads both would call the first in place of the second. So each process starts
counting at a random number.
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
from mt_fast.core.tables import DISPATCHER_HOOKS, START
from mt_operators.core import table

FOLDER = Folder("mt-fast", "MT_FAST_CACHE")
"""The folder of the kernels."""

_PACKAGE = __name__.partition(".")[0]

_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Settings of Numba that affect machine code."""

UNRELATED = ("examples",)
"""Folders of this package that no kernel uses: if examples change, compiled kernels stay valid."""

NUMBERS = 2**60
"""The first number that a process uses is below this."""

_compiler: Any = compiler  # Numba's functions have no types
_serialize: Any = serialize


def _randomize_numbers() -> None:
    """Make Numba count from a random number, different from that of other processes."""
    FunctionIdentity._unique_ids = itertools.count(secrets.randbelow(NUMBERS))


_randomize_numbers()
if hasattr(os, "register_at_fork"):  # two children would continue with the same numbers
    os.register_at_fork(after_in_child=_randomize_numbers)


def cached(dispatcher: Any, name: str, texts: Sequence[str]) -> Any:
    """Make a function compiled by Numba look up its machine code on disk, and return it.

    A function of another package is returned unchanged, and compiled by each process: a hash of its
    text does not cover the meaning of the names in it.

    Args:
        dispatcher: the result of `numba.njit`.
        name: a name for the files.
        texts: its text, and everything else that determines its behavior except the modules of this
            package.
    """
    module = dispatcher.__module__
    is_ours = module.partition(".")[0] == _PACKAGE
    if is_ours and hasattr(dispatcher, "_cache"):  # absent with NUMBA_DISABLE_JIT
        options = {
            option: sorted(value) if isinstance(value, set) else value
            for option, value in sorted(dispatcher.targetoptions.items())
        }
        dispatcher._cache = KernelCache(name, texts, repr((module, options)))
    return dispatcher


@functools.cache
def _meaning() -> bytes:
    """Return a hash of everything that the text of a kernel refers to."""
    package = Path(__file__).parents[1]
    modules = [
        module
        for module in sorted(package.rglob("*.py"))
        if module.relative_to(package).parts[0] not in UNRELATED
    ]
    versions = (sys.version, numba.__version__, llvmlite.__version__)
    options = [getattr(config, name, None) for name in _OPTIONS]
    modules.append(Path(table.__file__))  # some kernels call its derivatives
    sources = [module.read_bytes() for module in modules]
    return hashed(repr((versions, options)), *sources)


class KernelCache(_Cache):
    """Numba's interface to the machine code of one function on disk."""

    def __init__(self, name: str, texts: Sequence[str], options: str) -> None:
        self._name = name
        self._texts = tuple(texts)
        self._options = options
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder, for Numba's reports."""
        folder = FOLDER.path()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Use the disk."""
        self._enabled = True

    def disable(self) -> None:
        """Stop using the disk."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: no file is out of date."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for some argument types; None if there is none."""
        if not self._enabled or FOLDER.path() is None:
            return None
        target_context.refresh()
        payload = FOLDER.read(self._entry(sig, target_context.codegen()))
        if payload is None:
            return None
        try:
            return _compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # noqa: BLE001 - the content is not a kernel, and may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function, if possible."""
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
        """Return the file name of the machine code for some argument types and this processor."""
        types = hashed(repr(sig), repr(codegen.magic_tuple())).hex()
        return f"{self._stem()}-{types[:16]}.nbc"


def cache_folder() -> Path | None:
    """Return the folder of compiled kernels; None if they are not stored.

    The environment variable `MT_FAST_CACHE` names it; by default it is a folder for this package in
    the user's cache directory. With `MT_FAST_CACHE=off`, nothing is stored. The folder may be
    deleted at any time. Nothing is read from a folder that other users may write to.

    Raises:
        BackendUnavailableError: `MT_FAST_CACHE` names the home of a user who does not exist.
    """
    return FOLDER.path()


START.append(FOLDER.path)
DISPATCHER_HOOKS.append(cached)
