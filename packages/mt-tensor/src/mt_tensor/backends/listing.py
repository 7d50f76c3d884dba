"""Which backends there are, and what is wrong with names that are claimed more than once."""

from __future__ import annotations

from mt_tensor.core import registry
from mt_tensor.core.registry import BUILT_IN, BackendInfo, claimed_twice


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
