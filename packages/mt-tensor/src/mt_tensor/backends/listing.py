"""List backends, register them, and explain why one cannot be used."""

from __future__ import annotations

from typing import NamedTuple

from mt_operators.core.errors import nearest
from mt_tensor.core import registry
from mt_tensor.core.errors import (
    AmbiguousBackendError,
    BackendError,
    BackendLoadError,
    BackendUnavailableError,
    UnknownBackendError,
)
from mt_tensor.core.extensions import extends
from mt_tensor.core.registry import Factory, get_backend

BUILT_IN = tuple(registry.FACTORIES)
"""The names of the backends of this package, which are reserved."""

INSTALL = {
    "fast": "pip install mt-fast",
    "cuda": "pip install 'mt-cuda[cu13]' (or mt-cuda[cu12] if the driver supports only CUDA 12)",
}
"""How to install the backends of this project that are in other packages."""


class BackendInfo(NamedTuple):
    """A backend, imported or not, and its distribution."""

    name: str
    distribution: str
    version: str

    def status(self) -> str:
        """Load the backend; return `"ready"`, `"unavailable: reason"` or `"broken: reason"`."""
        try:
            get_backend(self.name)
        except BackendUnavailableError as error:
            return f"unavailable: {error}"
        except BackendError as error:
            return f"broken: {error}"
        return "ready"


def _claims(name: str) -> list[BackendInfo]:
    """Return the distributions that provide a backend of this name."""
    infos = []
    for entry in registry.installed().get(name, []):
        origin = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "unknown")
        infos.append(BackendInfo(name, *origin))
    return infos


def backends(refresh: bool = False) -> dict[str, BackendInfo]:
    """Return all known backends by name, without importing any.

    Names that two distributions claim are omitted; `get_backend` raises for them.

    Args:
        refresh: whether to look again for packages installed since the first call.
    """
    from mt_tensor import __version__

    if refresh:
        registry.installed.cache_clear()
    known = {}
    for name in registry.installed():
        if len(claims := _claims(name)) == 1:
            known[name] = claims[0]
    for name in registry.FACTORIES:
        origin = ("mt-tensor", __version__) if name in BUILT_IN else ("registered in code", "-")
        known[name] = BackendInfo(name, *origin)
    return known


def contested() -> dict[str, str]:
    """Return the conflicts of names that are claimed more than once, by name.

    Claims of built-in names are ignored. Any other name that two distributions claim cannot be used
    until one of them is uninstalled.
    """
    conflicts = {}
    for name in registry.installed():
        claims = _claims(name)
        origins = " and ".join(f"{info.distribution} {info.version}" for info in claims)
        if name in BUILT_IN:
            conflicts[name] = f"backend {name!r} is built in; the claim of {origins} is ignored."
        elif len(claims) > 1:
            conflicts[name] = f"backend {name!r} is claimed by {origins}: uninstall one of them."
    return conflicts


def register_backend(name: str, factory: Factory) -> None:
    """Register a backend; `factory()` is called at its first use.

    Registering a name again replaces the earlier registration.

    Raises:
        AmbiguousBackendError: the name is that of a built-in backend.
    """
    if name in BUILT_IN:
        raise AmbiguousBackendError(
            f"{name!r} is the name of a built-in backend: choose another name."
        )
    registry.FACTORIES[name] = factory
    registry.CREATED.pop(name, None)


@extends("error of a backend")
def load_error(name: str, error: Exception) -> BackendError:
    """Return the error that says why a backend cannot be used, and what to do."""
    if name in registry.FACTORIES:
        origin, advice = "registered in code", "Fix the factory given to register_backend()"
    else:
        if name not in registry.installed():
            return _unknown(name)
        if name in (conflicts := contested()):
            return AmbiguousBackendError(conflicts[name])
        (info,) = _claims(name)
        origin = f"from {info.distribution} {info.version}"
        advice = "Reinstall or uninstall that package"
    kind = "" if isinstance(error, BackendLoadError) else f"{type(error).__name__}: "
    return BackendLoadError(
        f"backend {name!r} {origin} could not be loaded ({kind}{error}). {advice}; other backends "
        "are not affected."
    )


def _unknown(name: str) -> UnknownBackendError:
    """Return the error for an unknown name."""
    known = sorted({*registry.installed(), *registry.FACTORIES})
    hint = "" if name in INSTALL else nearest(name.lower(), {*known, *INSTALL})
    advice = "Install the package that provides it, or call register_backend()."
    for absent in INSTALL.keys() - known:
        if name == absent or repr(absent) in hint:
            advice = f"To install {absent!r}: {INSTALL[absent]}."
    return UnknownBackendError(
        f"no backend is called {name!r}.{hint} Installed: {', '.join(known)}. {advice}"
    )
