"""The backend registry: choose a backend by name.

The backend is chosen by the first of these that is given: an argument `backend=`, a block
`with use_backend("fast"):`, the environment variable `MT_BACKEND`, which is read at import; the
default is `numpy`. Installing a package never changes results.

Other packages provide backends through the entry-point group `mt_tensor.backends`. Each is imported
and created at its first use, so a broken backend raises an error only when it is chosen.
"""

from __future__ import annotations

import contextvars
import copyreg
import functools
import os
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from mt_autodiff.core.mode import undo
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import BackendLoadError, BackendUnavailableError, UnknownBackendError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.numpy_backend import NumpyOps
from mt_tensor.core.simple import SimpleOps

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DEFAULT = "numpy"
SELECTED = os.environ.get("MT_BACKEND") or DEFAULT

Factory = Callable[[], TensorBackend]

FACTORIES: dict[str, Factory] = {"simple": SimpleOps, "numpy": NumpyOps}
"""Factories of the built-in backends, and of those that `register_backend` adds."""

CREATED: dict[str, TensorBackend] = {}
"""The backends created so far, by name."""

_creating = threading.RLock()
_chosen: contextvars.ContextVar[TensorBackend | None] = contextvars.ContextVar(
    "mt_tensor_backend", default=None
)


@functools.cache
def installed() -> dict[str, list[EntryPoint]]:
    """Return the entry points of installed backends by name, without duplicates."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    claims: defaultdict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for entry in entry_points(group="mt_tensor.backends"):
        claims[entry.name][entry.dist.name if entry.dist else "", entry.value] = entry
    return {name: list(entries.values()) for name, entries in claims.items()}


def get_backend(name: str | TensorBackend | None = None) -> TensorBackend:
    """Return the backend called `name`, importing and creating it at its first use.

    Args:
        name: a name; a backend, which is returned unchanged; or None for the current backend.

    Raises:
        UnknownBackendError: the backend is unknown; the message lists the known ones.
        AmbiguousBackendError: two distributions provide this name.
        BackendLoadError: importing or creating the backend failed; the cause is attached.
        BackendUnavailableError: the backend cannot run on this machine; the message says why.
    """
    if name is None:
        return current_backend()
    if isinstance(name, str):
        return CREATED.get(name) or _created_once(name)
    if isinstance(name, TensorBackend):
        return name
    raise UnknownBackendError(f"backend= takes a backend or its name; {name!r} was given.")


def _created_once(name: str) -> TensorBackend:
    """Return a backend; create it unless another thread has done so meanwhile."""
    with _creating:
        if name not in CREATED:
            try:
                CREATED[name] = _create(name)
            except BackendUnavailableError:
                raise
            except Exception as error:
                explained = EXTENSIONS.get("error of a backend", BackendLoadError)
                raise explained(name, error) from error
        return CREATED[name]


def _create(name: str) -> TensorBackend:
    """Import, create and check a backend, and make it picklable by name."""
    factory = FACTORIES.get(name)
    if factory is None:
        entries = installed().get(name, [])
        if len(entries) != 1:
            raise UnknownBackendError(f"{len(entries)} packages have a backend called {name!r}.")
        factory = entries[0].load()
    backend = factory()
    if not isinstance(backend, TensorBackend):
        raise BackendLoadError(f"its factory returned {backend!r}, which is not a TensorBackend")
    if getattr(backend, "name", None) != name:
        raise BackendLoadError(f"its name is {getattr(backend, 'name', None)!r}")
    copyreg.pickle(type(backend), lambda backend: (get_backend, (backend.name,)))
    return backend


def current_backend() -> TensorBackend:
    """Return the backend of new tensors: that of `use_backend`, else that named by `MT_BACKEND`."""
    return _chosen.get() or get_backend(SELECTED)


class use_backend(ContextDecorator):  # noqa: N801 - reads as a statement
    """Set the current backend inside a `with` block or a decorated function."""

    def __init__(self, name: str | TensorBackend) -> None:
        self._name = name
        self._tokens: list[contextvars.Token[TensorBackend | None]] = []

    def _recreate_cm(self) -> use_backend:
        """Return a new instance for each call of a decorated function, in any thread."""
        return use_backend(self._name)

    def __enter__(self) -> Self:
        """Set the backend, raising the errors of `get_backend`."""
        self._tokens.append(_chosen.set(get_backend(self._name)))
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous backend."""
        undo(_chosen, self._tokens)


class AnyDevice(Protocol):
    """The interface of `mt_tensor.device`."""

    type: str
    index: int | None


Device: TypeAlias = str | AnyDevice | TensorBackend | None
"""The argument `device=`: a device, its name, or a backend."""

Backend: TypeAlias = str | TensorBackend | None
"""The argument `backend=`: a backend or its name; None for the current one."""


def as_backend(backend: Backend, device: Device, own: TensorBackend | None = None) -> TensorBackend:
    """Return the backend that arguments `backend=` and `device=` choose.

    Args:
        backend: the argument `backend=`.
        device: the argument `device=`.
        own: the backend that the elements come from, which is the default.

    Raises:
        TypeError: both arguments were given.
        UnknownBackendError: the backend or device is unknown.
    """
    if device is None:
        if own is not None and (backend is None or backend is own):
            return own
        return get_backend(backend)
    if backend is not None:
        raise TypeError(f"give backend={backend!r} or device={device!r}, not both.")
    if "backend of a device" in EXTENSIONS:
        return EXTENSIONS["backend of a device"](device, own)  # type: ignore[no-any-return]
    return get_backend(device)  # type: ignore[arg-type]
