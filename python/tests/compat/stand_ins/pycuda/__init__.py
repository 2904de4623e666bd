# SPDX-License-Identifier: MIT
"""So much of PyCUDA as vkgdr uses, over the driver's functions."""
