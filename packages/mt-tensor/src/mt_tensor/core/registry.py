"""Finding backends by name, and choosing one.

Backends are built in, registered in code, or installed by other packages, which announce them under
the entry-point group `mt_tensor.backends`. A name is looked up in package metadata. A backend is
imported at its first use: if it is broken, only its users get an error.

The choice, first that applies: an explicit `backend=` argument, `with use_backend("fast"):`, the
environment variable `MT_BACKEND`, then `numpy`. Installing a package never changes results.
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
from importlib import import_module
from typing import NamedTuple, Protocol, Self, TypeAlias

from mt_autodiff.core.mode import undo
from mt_operators.core.errors import nearest
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import (
    AmbiguousBackendError,
    BackendError,
    BackendLoadError,
    BackendUnavailableError,
    UnknownBackendError,
)
from mt_tensor.core.extensions import EXTENSIONS

GROUP = "mt_tensor.backends"
DEFAULT = "numpy"
VARIABLE = "MT_BACKEND"

BUILT_IN = {
    "simple": ("mt_tensor.core.simple", "SimpleOps"),
    "numpy": ("mt_tensor.core.numpy_backend", "NumpyOps"),
}
"""The module and class of the backends of this package."""

ELSEWHERE = {
    "fast": "pip install mt-fast",
    "cuda": "pip install 'mt-cuda[cu13]' (or [cu12], by the CUDA version of the driver)",
}
"""How to install the backends of this project that other packages bring."""

Factory = Callable[[], TensorBackend]


class BackendInfo(NamedTuple):
    """A backend that may not have been imported: `load()` imports it and returns its factory."""

    name: str
    distribution: str
    version: str
    load: Callable[[], Factory]

    def status(self) -> str:
        """Try the backend: `"ready"`, `"unavailable: reason"` or `"broken: reason"`."""
        try:
            get_backend(self.name)
        except BackendUnavailableError as error:
            return f"unavailable: {error}"
        except BackendError as error:
            return f"broken: {error}"
        return "ready"


_registered: dict[str, BackendInfo] = {}
_created: dict[str, TensorBackend] = {}
_creating = threading.RLock()
_chosen: contextvars.ContextVar[TensorBackend | None] = contextvars.ContextVar(
    "mt_tensor_backend", default=None
)


@functools.cache
def built_in() -> dict[str, BackendInfo]:
    """Return the backends of this package."""
    from mt_tensor import __version__

    return {
        name: BackendInfo(name, "mt-tensor", __version__, functools.partial(_load, *place))
        for name, place in BUILT_IN.items()
    }


def _load(module: str, factory: str) -> Factory:
    found: Factory = getattr(import_module(module), factory)
    return found


@functools.cache
def installed() -> dict[str, list[BackendInfo]]:
    """Return the installed backends by name; one found twice on the path counts once."""
    from importlib.metadata import entry_points  # slow to import, and often not needed

    claims: defaultdict[str, dict[tuple[str, ...], BackendInfo]] = defaultdict(dict)
    for entry in entry_points(group=GROUP):
        origin = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "unknown")
        claims[entry.name][*origin, entry.value] = BackendInfo(entry.name, *origin, entry.load)
    return {name: list(infos.values()) for name, infos in claims.items()}


def _find(name: str) -> BackendInfo:
    """Return a backend's info; package metadata is read only if it is needed."""
    claims = [info] if (info := _registered.get(name) or built_in().get(name)) else None
    claims = claims or installed().get(name, [])
    if len(claims) == 1:
        return claims[0]
    if claims:
        raise AmbiguousBackendError(claimed_twice(claims))
    known = sorted({*BUILT_IN, *installed(), *_registered})
    hint = "" if name in ELSEWHERE else nearest(name.lower(), {*known, *ELSEWHERE})
    advice = "Install the package that provides it, or call register_backend()."
    for absent in ELSEWHERE.keys() - known:
        if name == absent or repr(absent) in hint:
            advice = f"To install {absent!r}: {ELSEWHERE[absent]}."
    raise UnknownBackendError(
        f"no backend is called {name!r}.{hint} Installed: {', '.join(known)}. {advice}"
    )


def claimed_twice(claims: list[BackendInfo]) -> str:
    """Return the message for a name that several distributions claim."""
    origins = " and ".join(f"{info.distribution} {info.version}" for info in claims)
    return f"backend {claims[0].name!r} is claimed by {origins}: uninstall one of them."


def get_backend(name: str | TensorBackend | None = None) -> TensorBackend:
    """Return the backend called `name`, importing and creating it at its first use.

    Args:
        name: a name; a backend, which is returned as it is; or None for the current backend.

    Raises:
        UnknownBackendError: there is no such backend; the message lists those that there are.
        AmbiguousBackendError: two distributions claim the name.
        BackendLoadError: importing or creating it failed; the cause is attached.
        BackendUnavailableError: it cannot run on this machine; the message says why.
    """
    if name is None:
        return current_backend()
    if isinstance(name, str):
        return _created.get(name) or _created_once(name)
    if isinstance(name, TensorBackend):
        return name
    raise UnknownBackendError(f"backend= takes a backend or its name; {name!r} was given.")


def _created_once(name: str) -> TensorBackend:
    """Create a backend, unless another thread has done so meanwhile."""
    with _creating:
        if name not in _created:
            _created[name] = _create(_find(name))
        return _created[name]


def _create(info: BackendInfo) -> TensorBackend:
    """Import and create a backend, and check that it is one. It is pickled by its name."""
    try:
        backend = info.load()()
    except BackendUnavailableError:
        raise
    except Exception as error:
        raise _broken(info, f"{type(error).__name__}: {error}") from error
    if not isinstance(backend, TensorBackend):
        raise _broken(info, f"its factory returned {backend!r}, which is no TensorBackend")
    if getattr(backend, "name", None) != info.name:
        raise _broken(info, f"it calls itself {getattr(backend, 'name', None)!r}")
    copyreg.pickle(type(backend), lambda backend: (get_backend, (backend.name,)))
    return backend


def _broken(info: BackendInfo, reason: str) -> BackendLoadError:
    origin = f"from {info.distribution} {info.version}"
    advice = "Reinstall or uninstall that package"
    if info.name in _registered:
        origin, advice = info.distribution, "Fix the factory that was given to register_backend()"
    return BackendLoadError(
        f"backend {info.name!r} {origin} could not be loaded ({reason}). {advice}; other backends "
        "are not affected."
    )


def current_backend() -> TensorBackend:
    """Return the backend of new tensors: see the order of choice above."""
    return _chosen.get() or get_backend(os.environ.get(VARIABLE) or DEFAULT)


class use_backend(ContextDecorator):  # noqa: N801 - reads as a statement
    """Make a backend the current one inside a `with` block or a decorated function.

    >>> with use_backend("simple"):
    ...     print(current_backend().name)
    simple
    """

    def __init__(self, name: str | TensorBackend) -> None:
        self._name = name
        self._tokens: list[contextvars.Token[TensorBackend | None]] = []

    def _recreate_cm(self) -> use_backend:
        """Return a new instance for each call of a decorated function, in any thread."""
        return use_backend(self._name)

    def __enter__(self) -> Self:
        """Choose the backend; raises what `get_backend` raises."""
        self._tokens.append(_chosen.set(get_backend(self._name)))
        return self

    def __exit__(self, *_: object) -> None:
        """Return to the backend before."""
        undo(_chosen, self._tokens)


class AnyDevice(Protocol):
    """An `mt_tensor.device`: torch's word for where elements are."""

    type: str
    index: int | None


Device: TypeAlias = str | AnyDevice | TensorBackend | None
"""The argument `device=`: a device, its name, or a backend."""

Backend: TypeAlias = str | TensorBackend | None
"""The argument `backend=`: a backend or its name; None for the current one."""


def place(backend: Backend, where: Device, own: TensorBackend | None = None) -> TensorBackend:
    """Return the backend that arguments `backend=` and `device=` choose.

    Args:
        backend: the one argument.
        where: the other one.
        own: the backend of the elements now, which is the default; it may be on that device.

    Raises:
        TypeError: both were given.
        UnknownBackendError: there is no such backend or device.
    """
    if where is None:
        if own is not None and (backend is None or backend is own):
            return own
        return get_backend(backend)
    if backend is not None:
        raise TypeError(f"a place was given twice, as backend={backend!r} and device={where!r}.")
    if "backend of a device" in EXTENSIONS:
        return EXTENSIONS["backend of a device"](where, own)  # type: ignore[no-any-return]
    return get_backend(where)  # type: ignore[arg-type]
