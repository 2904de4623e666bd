# SPDX-License-Identifier: MIT
"""Rings, counters, steps and logs between the CPU and running kernels."""
