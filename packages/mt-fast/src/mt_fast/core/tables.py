"""Modules that add to the lesson from beyond it, by name.

No file of the lesson imports the library, or knows what is in it. The package's `__init__` names
here what it adds, and the file that can be added to says where it takes it.
"""

from __future__ import annotations

FUNCTIONS: list[str] = []
"""What spells functions for kernels, see `core/lowering.py`."""

KERNELS: list[str] = []
"""What has kernels for whole operations, see `backend.py`."""
