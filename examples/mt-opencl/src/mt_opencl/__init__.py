"""A backend for OpenCL devices of any maker: the kernels of mt-cuda, compiled from the same text.

mt-cuda writes its kernels for no machine in particular. This package adds a machine: `prelude`
defines their names in OpenCL, and `device` compiles and runs them. Layouts, plans and kernels are
those of the backend `cuda`.
"""

from __future__ import annotations

from mt_opencl.device import Device, OpenClOps, create_backend

__all__ = ["Device", "OpenClOps", "create_backend"]
