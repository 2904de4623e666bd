# SPDX-License-Identifier: MIT
"""gdrcopy's Python package, served by `barmap.gdrcopy`."""

from barmap.gdrcopy import *  # noqa: F403
