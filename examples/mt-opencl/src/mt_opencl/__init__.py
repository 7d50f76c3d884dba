"""A backend for OpenCL devices of any vendor: the kernels of mt-cuda, compiled from the same text.

The kernels of mt-cuda do not depend on the machine that runs them. This package adds a machine:
`prelude` defines the names of kernels in OpenCL, and `device` compiles and runs kernels. Layouts,
plans and kernels are those of the backend `cuda`.
"""

from __future__ import annotations

from mt_opencl.device import Device, OpenClOps, create_backend

__all__ = ["Device", "OpenClOps", "create_backend"]
