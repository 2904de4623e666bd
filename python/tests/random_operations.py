# SPDX-License-Identifier: MIT
"""Creates, maps, slices, copies, closes and drops at random, with cycles for the garbage collector,
against a model in host memory; at the end nothing may be left: objects (nanobind's leak check is
on), descriptors, mappings, BAR1 memory.

    python random_operations.py SEED OPERATIONS
"""

import gc
import os
import random
import sys

import numpy as np
from which_gpu import REAL_GPU  # noqa: F401: turns the simulated GPU on

import barmap
from barmap import _barmap

_barmap.report_leaks(True)
SIZES = (1, 7, 64, 100, 4096, 4097, 70_000)


def in_use():
    gc.collect()
    maps = open("/proc/self/maps").read()
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings of devices": sum(maps.count(what) for what in ("/dev/nvidia", "memfd", "dmabuf")),
        "BAR1 bytes": barmap.devices()[0].bar1_available,
    }


class Held:
    """GPU memory, and what should be in it. May hold itself in a cycle."""

    def __init__(self, mapping, model, parent=None):
        self.mapping, self.model, self.parent = mapping, model, parent
        self.views = []
        self.cycle = None


def make(chance, held):
    size = chance.choice(SIZES)
    if held and chance.random() < 0.5:
        parent = chance.choice(held)
        start = chance.randrange(len(parent.model))
        size = min(size, len(parent.model) - start)
        if chance.random() < 0.5:
            mapping = barmap.map(parent.mapping.gpu_address + start, size)
        else:
            mapping = barmap.map(Slice(parent.mapping, start, size))
        return Held(mapping, parent.model[start:start + size], parent)
    array = barmap.alloc(size, "u1")
    array.fill(0)
    return Held(array, np.zeros(size, np.uint8))


class Slice:
    """A part of an array as another library would show it."""

    def __init__(self, owner, start, size):
        self.owner = owner
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (size,), "typestr": "|u1", "strides": None,
            "data": (owner.gpu_address + start, False),
        }


def copy(chance, one):
    size = chance.randrange(len(one.model) + 1)
    start = chance.randrange(len(one.model) - size + 1)
    turn = chance.randrange(6)
    if turn == 0:
        data = chance.randbytes(size)
        one.mapping.write(data, start)
        one.model[start:start + size] = np.frombuffer(data, np.uint8)
    elif turn == 1:
        assert one.mapping.read(start, size) == one.model[start:start + size].tobytes()
    elif turn == 2:
        there = bytearray(size)
        one.mapping.read_into(there, start)
        assert there == one.model[start:start + size].tobytes()
    elif turn == 3:
        value = chance.randrange(256)
        one.mapping.fill(value, start, size)
        one.model[start:start + size] = value
    elif turn == 4:
        one.mapping.post(start & 255, start if start < len(one.model) else 0, 1)
        barmap.flush_stores()
        one.model[start if start < len(one.model) else 0] = start & 255
    else:
        view = one.mapping.numpy()[start:start + size]
        assert np.array_equal(view[:16], one.model[start:start + size][:16])
        one.views.append(view)


def run(chance, operations):
    held = []
    for _ in range(operations):
        turn = chance.random()
        if not held or (turn < 0.2 and len(held) < 40):
            held.append(make(chance, held))
        elif turn < 0.7:
            copy(chance, chance.choice(held))
        elif turn < 0.8:
            one = chance.choice(held)
            one.cycle = one
        elif turn < 0.85:
            chance.choice(held).views.clear()
        elif turn < 0.95:
            held.pop(chance.randrange(len(held)))
        else:
            one = held.pop(chance.randrange(len(held)))
            try:
                one.mapping.close()
                assert not one.views
            except BufferError:
                pass  # a view of it, or a DLPack capsule, is alive


def main():
    seed, operations = map(int, sys.argv[1:])
    chance = random.Random(seed)
    run(chance, 2000)
    before = in_use()
    run(chance, operations)
    after = in_use()
    assert before == after, f"before {before}, after {after}"
    print(f"{operations} operations; in use before and after: {after}")


if __name__ == "__main__":
    main()
