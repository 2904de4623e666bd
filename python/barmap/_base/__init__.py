# SPDX-License-Identifier: MIT
"""The ground of all rooms: names of arguments, numbers, errors, waits, streams, and this machine."""
