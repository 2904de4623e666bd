# SPDX-License-Identifier: MIT
"""PybindGPU's interface, served by `barmap.pygpu`."""

from barmap.pygpu import *  # noqa: F403
