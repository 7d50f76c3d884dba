"""Finding backends and choosing one.

Two backends are defined; this is how one of them, or another, comes to a tensor. Backends are built
in, registered in code, or installed by other packages, which announce them under the entry-point
group `mt_tensor.backends`. Looking for names reads package metadata and imports nothing; a backend
is imported when it is first asked for. A broken backend raises when it is asked for, and never
stands in the way of another.

The choice, first that applies: an explicit `backend=` argument, `with use_backend("fast"):`, the
environment variable `MT_BACKEND`, then `numpy`. Installing a package never changes results.
"""

from __future__ import annotations

import contextvars
import functools
import os
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ContextDecorator
from importlib import import_module
from typing import Any, NamedTuple, Self

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

GROUP = "mt_tensor.backends"
DEFAULT = "numpy"
VARIABLE = "MT_BACKEND"

BUILT_IN = {
    "simple": "mt_tensor.core.simple:SimpleOps",
    "numpy": "mt_tensor.core.numpy_backend:NumpyOps",
}
"""The factories of the backends of this package, said as in an entry point."""

ELSEWHERE = {
    "fast": "pip install mt-fast",
    "cuda": "pip install 'mt-cuda[cu13]' (or [cu12], by the CUDA version of the driver)",
}
"""How to install the backends of this project that other packages bring."""

Factory = Callable[[], TensorBackend]


class BackendInfo(NamedTuple):
    """What is known of a backend without importing it.

    Attributes:
        name: the name to choose it by.
        distribution: the package it comes from.
        version: the version of that package.
        load: returns its factory; this is where the import happens.
    """

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
def _built_in() -> dict[str, BackendInfo]:
    from mt_tensor import __version__

    def load(place: str) -> Any:
        module, _, factory = place.partition(":")
        return getattr(import_module(module), factory)

    return {
        name: BackendInfo(name, "mt-tensor", __version__, functools.partial(load, place))
        for name, place in BUILT_IN.items()
    }


@functools.cache
def _installed() -> dict[str, list[BackendInfo]]:
    """Return who claims each name. A distribution that lies on the path twice does so once."""
    from importlib.metadata import entry_points  # slow to import, and often not needed

    claims: defaultdict[str, dict[tuple[str, ...], BackendInfo]] = defaultdict(dict)
    for entry in entry_points(group=GROUP):
        origin = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "unknown")
        info = BackendInfo(entry.name, *origin, entry.load)
        claims[entry.name][*origin, entry.value] = info
    return {name: list(infos.values()) for name, infos in claims.items()}


def backends(refresh: bool = False) -> dict[str, BackendInfo]:
    """Return all known backends by name, without importing any.

    Names that two distributions claim are left out; `get_backend` says so when asked.

    Args:
        refresh: whether to look again for packages installed since the first call.
    """
    if refresh:
        _installed.cache_clear()
    installed = {name: infos[0] for name, infos in _installed().items() if len(infos) == 1}
    return {**installed, **_built_in(), **_registered}


def contested() -> dict[str, str]:
    """Return what is wrong with names that are claimed more than once, by name.

    A built-in name is never given away. Any other name that two distributions claim belongs to
    neither of them until one is uninstalled.
    """
    problems = {}
    for name, claims in _installed().items():
        who = " and ".join(f"{info.distribution} {info.version}" for info in claims)
        if name in BUILT_IN:
            problems[name] = f"backend {name!r} is built in; the claim of {who} is ignored."
        elif len(claims) > 1:
            problems[name] = f"backend {name!r} is claimed by {who}: uninstall one of them."
    return problems


def register_backend(name: str, factory: Factory) -> None:
    """Make a backend known from code; `factory()` is called when it is first asked for.

    Registering a name again replaces the earlier registration. Built-in names are taken.

    Raises:
        AmbiguousBackendError: the name is that of a built-in backend.
    """
    if name in BUILT_IN:
        raise AmbiguousBackendError(
            f"{name!r} is the name of a built-in backend: choose another name."
        )
    _registered[name] = BackendInfo(name, "registered in code", "-", lambda: factory)
    _created.pop(name, None)


def _find(name: str) -> BackendInfo:
    """Return what is known of a backend; other packages are looked for only if need be."""
    info = _registered.get(name) or _built_in().get(name)
    if info is not None:
        return info
    claims = _installed().get(name, [])
    if not claims:
        raise _unknown(name)
    if len(claims) > 1:
        raise AmbiguousBackendError(contested()[name])
    return claims[0]


def _unknown(name: str) -> UnknownBackendError:
    known = sorted({*BUILT_IN, *_installed(), *_registered})
    hint = "" if name in ELSEWHERE else nearest(name.lower(), {*known, *ELSEWHERE})
    cure = "Install the package that offers it, or call register_backend()."
    for absent in ELSEWHERE.keys() - known:
        if name == absent or repr(absent) in hint:
            cure = f"To install {absent!r}: {ELSEWHERE[absent]}."
    return UnknownBackendError(
        f"no backend is called {name!r}.{hint} Installed: {', '.join(known)}. {cure}"
    )


def get_backend(name: str | TensorBackend | None = None) -> TensorBackend:
    """Return the backend called `name`, importing and creating it if need be.

    Args:
        name: a name; a backend, which is returned as it is; or None for the current backend.

    Raises:
        UnknownBackendError: no such backend is installed; names those that are, the nearest, and
            what to install.
        AmbiguousBackendError: two distributions claim the name.
        BackendLoadError: importing or creating it failed; the cause is attached.
        BackendUnavailableError: it cannot run on this machine; the message says why.
    """
    if name is None:
        return current_backend()
    if isinstance(name, TensorBackend):
        return name
    if not isinstance(name, str):
        raise UnknownBackendError(f"a backend is given itself or by name; {name!r} was given.")
    if name not in _created:
        with _creating:  # so that two threads get the same instance
            if name not in _created:
                _created[name] = _create(_find(name))
    return _created[name]


def created() -> list[TensorBackend]:
    """Return the backends that somebody has asked for so far."""
    return list(_created.values())


def _create(info: BackendInfo) -> TensorBackend:
    """Import and create a backend, and check that it is one."""
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
    return backend


def _broken(info: BackendInfo, reason: str) -> BackendLoadError:
    origin = f"from {info.distribution} {info.version}"
    cure = "Reinstall or uninstall that package"
    if info.name in _registered:
        origin, cure = info.distribution, "Mend the factory that was given to register_backend()"
    return BackendLoadError(
        f"backend {info.name!r} {origin} could not be loaded ({reason}). {cure}; other backends "
        "are not affected."
    )


def current_backend() -> TensorBackend:
    """Return the backend that new tensors live on: see the order of choice above."""
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
        """Return a fresh instance: `ContextDecorator` asks for one at each call, in any thread."""
        return use_backend(self._name)

    def __enter__(self) -> Self:
        """Choose the backend; raises what `get_backend` raises."""
        self._tokens.append(_chosen.set(get_backend(self._name)))
        return self

    def __exit__(self, *_: object) -> None:
        """Return to the backend before."""
        undo(_chosen, self._tokens)


def _by_name(backend: TensorBackend) -> tuple[Callable[[str], TensorBackend], tuple[str]]:
    """Pickle a backend by its name."""
    return get_backend, (backend.name,)


TensorBackend.__reduce__ = _by_name  # type: ignore[assignment, method-assign]
