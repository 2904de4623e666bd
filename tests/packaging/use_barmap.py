# SPDX-License-Identifier: MIT
"""A program against python3-barmap and python3-barmap-compat, on the simulated GPU."""

import barmap

barmap.sim()
with barmap.alloc((4,), "f4") as memory:
    memory.fill(0)
    memory.write(b"\x00\x00\x80\x3f", offset=4)
    assert memory.numpy()[1] == 1.0

import gdrcopy  # noqa: E402
import vkgdr  # noqa: E402

print("python3-barmap", gdrcopy.__name__, vkgdr.__name__)
