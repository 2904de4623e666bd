# SPDX-License-Identifier: MIT
"""Memory as arrays: mappings, arrays of the GPU, layouts, and what other libraries call an array."""
