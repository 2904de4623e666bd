# SPDX-License-Identifier: MIT
__version__ = "0.24.0"
