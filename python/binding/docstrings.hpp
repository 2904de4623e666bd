// SPDX-License-Identifier: MIT
#pragma once

/// The contracts of the methods of MappedMemory, in NumPy's style, each after its signature in the
/// form that Python reads. Their examples are run by python/tests/examples_test.py.
namespace barmap::python::docstrings {

inline constexpr char write[] = "write($self, /, buf, offset=0)\n--\n\n"
                                R"(Copies a buffer to GPU memory.

It does what `copy_to_gpu` of C++ and C does, whose own `write` only stores.

Its stores leave the CPU before any later store of this thread, so that work which is submitted
to the GPU afterwards sees them. An aligned write of 1, 2, 4 or 8 bytes is never torn.
From 32768 bytes on, the copy releases the GIL and takes the fastest way: stores, or a copy engine
of the GPU. The first such copy starts the engines and measures them, which takes about
30 ms; BARMAP_ENGINE=none turns them off.

Parameters
----------
buf : bytes-like, or array of the mapping's dtype
    C-contiguous; must not be a view of the same GPU memory. Bytes are copied as they are. A mapping
    of an address, or of raw elements (V2), has no dtype of its own and takes arrays of any.
offset : int, optional
    Where to start in the mapping, in bytes.

Raises
------
IndexError
    If the range leaves the mapping.
TypeError
    If buf has elements of another dtype, or is no buffer; if the mapping is read-only.
ValueError
    If it is closed.
barmap.Error
    If a copy engine has failed and could not be stopped. Some of the copy may then arrive later,
    so that neither side may be used again.

Examples
--------
>>> array = barmap.alloc(4, "<u4")
>>> array.write(b"barmap", offset=4)
>>> array.write(np.uint32(7))
>>> array.read(0, 10)
b'\x07\x00\x00\x00barmap'
>>> array.write(np.float64(7).tobytes())
>>> try:
...     array.write(np.float64(7))
... except TypeError as refused:
...     print(refused)
cannot copy elements of float64, since the mapping has uint32: convert them (astype), or give their bytes (tobytes))";

inline constexpr char read[] = "read($self, /, offset=0, n=None)\n--\n\n"
                               R"(Copies from GPU memory.

It does what `copy_to_cpu` of C++ and C does, whose own `read` only loads.

Never delivers a value older than one that this thread has already read from the same place. An
aligned read of 1, 2, 4 or 8 bytes is never torn. More than 1024 bytes are copied without the GIL,
and by what is fastest: loads, or a copy engine of the GPU, as with `write`.

Parameters
----------
offset : int, optional
n : int, optional
    Bytes to read; to the end of the mapping if not given.

Returns
-------
bytes

Raises
------
IndexError
    If the range leaves the mapping.
ValueError
    If n is negative, or the mapping is closed.
barmap.Error
    As with `write`.

Examples
--------
>>> word = barmap.alloc(1, "<u8")
>>> word.write(np.uint64(258))
>>> int.from_bytes(word.read(0, 8), "little")
258)";

inline constexpr char read_into[] = "read_into($self, /, buf, offset=0)\n--\n\n"
                                    R"(Copies from GPU memory into a buffer, as `read` does.

Parameters
----------
buf : bytes-like, or array of the mapping's dtype
    Writable and C-contiguous; its size says how much to read. Must not be a view of the same GPU
    memory. As with `write`, bytes go with every mapping.
offset : int, optional

Returns
-------
int
    Bytes that were read: the size of buf.

Examples
--------
>>> array = barmap.alloc(4, "f4")
>>> array.write(np.array([1, 2, 3, 4], "f4"))
>>> there = np.empty(2, "f4")
>>> array.read_into(there, offset=8)
8
>>> there
array([3., 4.], dtype=float32))";

inline constexpr char post[] = "post($self, /, value, offset, size=8)\n--\n\n"
                               R"(Issues one word with no fence: a doorbell.

When it leaves the CPU is up to the CPU: at the latest with `barmap.flush_stores` or the next
`write` of this thread.

Parameters
----------
value : int
    Negative numbers in two's complement.
offset : int
    Where it goes; aligned to size.
size : int, optional
    1, 2, 4 or 8 bytes.

Raises
------
IndexError
    If the word leaves the mapping.
OverflowError
    If the value has more bits.
ValueError
    If the word is not aligned, or size is another.

Examples
--------
>>> doorbell = barmap.alloc(2, "u4")
>>> doorbell.post(1, 4, size=4)
>>> barmap.flush_stores()
>>> int(doorbell.numpy()[1])
1)";

} // namespace barmap::python::docstrings
