# SPDX-License-Identifier: MIT
"""A program against python3-barmap and python3-barmap-compat, on the simulated GPU."""

import barmap

barmap.sim()
with barmap.alloc((4,), "f4") as memory:
    memory.fill(0)
    memory.write(b"\x00\x00\x80\x3f", offset=4)
    assert memory.numpy()[1] == 1.0
    assert memory.read() == b"\x00\x00\x00\x00\x00\x00\x80\x3f" + bytes(8)
    try:
        memory.write(b"more", offset=16)
        raise AssertionError("it wrote behind the end")
    except IndexError:
        pass
try:
    barmap.alloc((1 << 60,), "u1")
    raise AssertionError("it gave more memory than there is")
except barmap.Error as refused:  # thrown by the library, and caught by its Python extension
    assert str(refused)

import gdrcopy  # noqa: E402
import vkgdr  # noqa: E402

print("python3-barmap", gdrcopy.__name__, vkgdr.__name__)
