# SPDX-License-Identifier: MIT
"""Random calls of gdrcopy and vkgdr with the garbage collector on: nothing is left, nothing breaks."""

import gc
import random

import gdrcopy
import numpy as np
import pytest
import vkgdr

HOST = np.zeros(1 << 16, "u1")
SIZES = (0, 1, 8, 64, 4096, 5000, 60000)


class Caller:
    """Makes, uses and drops objects; keeps a few of each kind."""

    def __init__(self, seed, memory):
        self.random = random.Random(seed)
        self.memory = memory
        self.gpu = vkgdr.Vkgdr.open_current_context()
        self.gdrs, self.handles, self.memories, self.views = [], [], [], []
        self.actions = [self.open, self.close, *[self.pin] * 3, self.unpin, *[self.map] * 2, self.unmap,
                        *[self.copy] * 3, self.allocate, self.free, self.view, self.touch]

    def one_of(self, things):
        return self.random.choice(things)

    def open(self):
        gdr = gdrcopy.GDRCopy()
        gdr.open()
        self.gdrs.append(gdr)

    def close(self):
        if self.random.random() < 0.2:
            self.one_of(self.gdrs).close()

    def pin(self):
        handle = self.one_of(self.gdrs).pin_buffer(
            self.memory.address + self.random.randrange(1 << 19), self.random.randrange(1, 1 << 18))
        if self.random.random() < 0.3:
            handle.myself = handle
        self.handles.append(handle)

    def unpin(self):
        self.one_of(self.handles).unpin()

    def map(self):
        self.one_of(self.handles).map(self.random.randrange(1, 1 << 17))

    def unmap(self):
        self.one_of(self.handles).unmap()

    def copy(self):
        handle = self.one_of(self.handles)
        copy = self.one_of((handle.copy_to_mapping, handle.copy_from_mapping))
        copy(HOST.ctypes.data, self.one_of(SIZES))

    def allocate(self):
        kind = self.one_of((vkgdr.Memory, vkgdr.RawMemory))
        memory = kind(self.gpu, self.random.randrange(1, 1 << 16))
        memory.myself = memory
        self.memories.append(memory)

    def free(self):
        self.one_of(self.memories).free()

    def view(self):
        self.views.append(self.one_of((np.asarray, memoryview))(self.one_of(self.memories)))

    def touch(self):
        view = self.one_of(self.views)
        view[-1] = 7
        assert view[-1] == 7

    def run(self, calls):
        for _ in range(calls):
            try:
                self.one_of(self.actions)()
            except (gdrcopy.GDRError, vkgdr.VkgdrError, BufferError):
                pass
            except IndexError:  # nothing to choose from
                pass
            for things, most in ((self.gdrs, 3), (self.handles, 20), (self.memories, 10),
                                 (self.views, 10)):
                if len(things) > most:
                    things.pop(self.random.randrange(len(things)))


@pytest.mark.parametrize("seed", range(4))
def test_random_calls(memory, seed, no_leak):
    threshold = gc.get_threshold()
    gc.set_threshold(50)
    try:
        Caller(seed, memory).run(2000)
    finally:
        gc.set_threshold(*threshold)
