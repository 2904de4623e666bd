# SPDX-License-Identifier: MIT
"""The high-level interface alone, served by `barmap.pygpu.gpuarray`."""

from barmap.pygpu.gpuarray import *  # noqa: F403
