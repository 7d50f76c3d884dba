"""Which backends there are, and what is wrong with names that are claimed more than once."""

from __future__ import annotations

from mt_tensor.core import registry
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import AmbiguousBackendError
from mt_tensor.core.registry import BUILT_IN, BackendInfo, Factory, claimed_twice


def backends(refresh: bool = False) -> dict[str, BackendInfo]:
    """Return all known backends by name, without importing any.

    Names that two distributions claim are left out; `get_backend` raises for them.

    Args:
        refresh: whether to look again for packages installed since the first call.
    """
    if refresh:
        registry.installed.cache_clear()
    installed = {name: infos[0] for name, infos in registry.installed().items() if len(infos) == 1}
    return {**installed, **registry.built_in(), **registry._registered}


def contested() -> dict[str, str]:
    """Return the problems of names that are claimed more than once, by name.

    A built-in name is never given away. Any other name that two distributions claim belongs to
    neither of them until one is uninstalled.
    """
    problems = {}
    for name, claims in registry.installed().items():
        if name in BUILT_IN:
            origins = " and ".join(f"{info.distribution} {info.version}" for info in claims)
            problems[name] = f"backend {name!r} is built in; the claim of {origins} is ignored."
        elif len(claims) > 1:
            problems[name] = claimed_twice(claims)
    return problems


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
    registry._registered[name] = BackendInfo(name, "registered in code", "-", lambda: factory)
    registry._created.pop(name, None)


def created() -> list[TensorBackend]:
    """Return the backends that have been used so far."""
    return list(registry._created.values())
