# SPDX-License-Identifier: MIT
__version__ = "0.33.0"
