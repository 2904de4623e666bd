# SPDX-License-Identifier: MIT
"""The plots of `barmap plot`."""
