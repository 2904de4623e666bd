# SPDX-License-Identifier: MIT
"""What all rooms stand on: names of what callers give, numbers, errors, waits, streams, and this machine."""
