# SPDX-License-Identifier: MIT
"""vkgdr's Python package, served by `barmap.vkgdr`."""

from barmap.vkgdr import *  # noqa: F403
