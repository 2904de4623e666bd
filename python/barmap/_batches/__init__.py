# SPDX-License-Identifier: MIT
"""Batches of copies, by the CPU and by kernels."""
