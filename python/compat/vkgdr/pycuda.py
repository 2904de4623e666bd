# SPDX-License-Identifier: MIT
"""Memory of vkgdr for PyCUDA, served by `barmap.vkgdr.pycuda`."""

from barmap.vkgdr.pycuda import *  # noqa: F403
