# SPDX-License-Identifier: MIT
"""Memory and signals of other processes: shared, and inherited by a forked child."""
