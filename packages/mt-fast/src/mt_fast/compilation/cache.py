"""Compiled kernels on disk: what one process has compiled, the next one loads.

With files that can be trusted, compiled kernels outlive a process. Compiling a kernel takes a tenth
of a second or more, loading it a few milliseconds. Each is in a file that is named by a hash
of everything that went into it: its text and its module, the modules of this package that give the
text its meaning, the types of its arguments, the processor, the options and versions of the
compiler. So a file is never out of date, and needs no lock: two processes that compile the same
kernel write the same file, by renaming a complete one. Beside it lies the text of the kernel, to be
read.

Whatever is wrong with the folder (it cannot be written to, the disk is full, a file is damaged,
others could have written it: see `private.py`) costs time only: the kernel is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import compiler, config, serialize
from numba.core.caching import _Cache

from mt_fast.compilation import private
from mt_operators import table
from mt_tensor.errors import BackendUnavailableError

VARIABLE = "MT_FAST_CACHE"
"""The environment variable that names another folder, or is `off`."""

_PACKAGE = __name__.partition(".")[0]

_DIGEST = hashlib.sha256().digest_size

_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Settings of Numba's that decide what machine code it makes."""

UNRELATED = ("course.py", "examples")
"""What no kernel uses, in the folder of this package: exercises and examples can change, and
kernels that were compiled before are still right."""

_compiler: Any = compiler  # Numba's functions have no types
_serialize: Any = serialize


def cache_folder() -> Path | None:
    """Return the folder; see `mt_fast.cache_folder`.

    Raises:
        BackendUnavailableError: the one chosen is in the home of a user whom nobody knows.
    """
    chosen = os.environ.get(VARIABLE, "")
    if chosen == "off":
        return None
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:
            raise BackendUnavailableError(
                f"{VARIABLE}={chosen} names no folder: there is no such user. Give the path of a "
                f"folder, `off`, or unset {VARIABLE}."
            ) from error
    return _default_folder()


@functools.cache
def _default_folder() -> Path | None:
    import platformdirs  # when first needed only

    try:
        return platformdirs.user_cache_path("mt-fast", appauthor=False)
    except RuntimeError:  # the user has no home
        return None


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


def _hash(*parts: str | bytes) -> Any:
    """Return the hash of some texts, whose ends count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest


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
    digest: bytes = _hash(repr((versions, options)), *sources).digest()
    return digest


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
        folder = cache_folder()
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
        folder = cache_folder() if self._enabled else None
        if folder is None:
            return None
        target_context.refresh()
        data = private.read(self._file(folder, sig, target_context.codegen()))
        if data is None:
            return None
        digest, payload = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(payload).digest() != digest:  # damaged
            return None
        try:
            return _compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # noqa: BLE001 - whatever it is, this is no kernel
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if it can be."""
        folder = cache_folder() if self._enabled else None
        if folder is None or data.lifted or data.library.has_dynamic_globals:
            return
        payload = _serialize.dumps(data._reduce())
        with contextlib.suppress(OSError):
            private.write(
                self._file(folder, sig, data.codegen),
                hashlib.sha256(payload).digest() + payload,
            )
            text = folder / f"{self._stem()}.py"
            if not text.exists():
                private.write(text, ("\n\n\n".join(self._texts) + "\n").encode())

    def _stem(self) -> str:
        digest = _hash(_meaning(), self._options, *self._texts).hexdigest()
        return f"{self._name}-{digest[:16]}"

    def _file(self, folder: Path, sig: Any, codegen: Any) -> Path:
        """Return the path of the function compiled for some types of arguments, here."""
        types = _hash(repr(sig), repr(codegen.magic_tuple()))
        return folder / f"{self._stem()}-{types.hexdigest()[:16]}.nbc"
