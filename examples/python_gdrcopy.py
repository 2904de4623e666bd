#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies to and from GPU memory through the package gdrcopy.

Needs the distribution barmap-compat, or gdrcopy's own Python package. Runs without a GPU as well:
BARMAP_SIM=1 python3 examples/python_gdrcopy.py
"""

import barmap
import numpy as np
from gdrcopy import GDR_ATTR_USING_DMA_BUF_MMAP, GDRCopy, get_driver_version, get_version

# Stands for an array of yours. Its GPU address is array.data.ptr in CuPy, tensor.data_ptr() in
# PyTorch.
array = barmap.alloc(1000, np.float32)
array.fill(0)
address, nbytes = array.gpu_address, array.nbytes

with GDRCopy() as gdr:
    print("libgdrapi {}.{}, driver {}.{}".format(*get_version(), *get_driver_version(gdr)))
    print("over dma-buf:", bool(gdr.get_attribute(GDR_ATTR_USING_DMA_BUF_MMAP)))

    handle = gdr.pin_buffer(address, nbytes)
    handle.map(nbytes)
    print("pinned:", handle.get_info())

    host = np.arange(1000, dtype=np.float32)
    handle.copy_to_mapping(host.ctypes.data, host.nbytes)
    back = np.empty_like(host)
    handle.copy_from_mapping(back.ctypes.data, back.nbytes)
    assert (back == host).all()

    handle.unmap()
    handle.unpin()
