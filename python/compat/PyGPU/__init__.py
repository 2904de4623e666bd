# SPDX-License-Identifier: MIT
"""PyGPU's interface, served by `barmap.pygpu`."""

from barmap.pygpu import *  # noqa: F403
