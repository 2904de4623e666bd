# SPDX-License-Identifier: MIT
"""What errors and reprs call things."""


import pydoc
import re

import barmap
import numpy as np
import pytest
from barmap._base.naming import array_name, dtype_name, kind_of
from concurrency import in_child

PLAIN = np.dtype([("id", "u4"), ("x", "f8")])
ALIGNED = np.dtype([("id", "u4"), ("x", "f8")], align=True)
SWAPPED = np.dtype({"names": ["x", "y"], "formats": ["i4", "i4"], "offsets": [4, 0]})


@pytest.mark.parametrize("dtype, name", [
    ("f4", "float32"), (">i4", ">i4"), ("V2", "|V2"), ("M8[s]", "datetime64[s]"),
    (("i4", (2, 3)), "int32[2, 3]"),
    (PLAIN, "id: uint32, x: float64"), (ALIGNED, "id: uint32, x: float64 (aligned)"),
    (SWAPPED, "x: int32, y: int32 (at [4, 0] of 8 bytes)"),
    ([("at", PLAIN), ("m", "i1", (2, 2)), ("many", PLAIN, 3)],
     "at: (id: uint32, x: float64), m: int8[2, 2], many: (id: uint32, x: float64)[3]"),
])
def test_dtypes(dtype, name):
    assert dtype_name(np.dtype(dtype)) == name


def test_arrays_and_kinds():
    assert array_name(np.dtype("f4"), (2, 3)) == "float32[2, 3]"
    assert array_name(PLAIN, (2,)) == "(id: uint32, x: float64)[2]"
    found = [kind_of(x) for x in (1, "", np.float32(1), barmap.devices()[0], object())]
    assert found == ["an int", "a str", "a numpy.float32", "a barmap.Device", "an object"]


def test_errors_about_messages_name_fields():
    with barmap.RingToGpu(ALIGNED, slots=2) as ring:
        with pytest.raises(TypeError, match=r"an int: give a tuple for id: uint32, x: float64 \(aligned\)$"):
            ring.try_push(5)
        with pytest.raises(TypeError, match="the message's id is a str, and not uint32$"):
            ring.try_push(("5", 1.0))
        with pytest.raises(TypeError, match=r"elements of id: uint32, x: float64, and the ring's messages "
                                            r"are id: uint32, x: float64 \(aligned\): convert"):
            ring.push_many(np.zeros(2, PLAIN))
    records = barmap.alloc(2, PLAIN)
    with pytest.raises(TypeError, match="elements of float32, since the mapping has id: uint32, x: float64: "):
        records.write(np.zeros(2, "f4"))
    with pytest.raises(TypeError, match="to has elements of float32, and from_ of id: uint32, x: float64$"):
        barmap.copy_rows(barmap.pinned(2, "f4"), records, from_rows=[0])
    with barmap.StepInputs({"x": records}) as inputs:
        with pytest.raises(TypeError, match=r"elements of id: .* \(aligned\), and the input has id: uint32, x: f"):
            inputs.push(x=np.zeros(2, ALIGNED))


def test_reprs_of_arrays_and_rings():
    assert re.fullmatch(r"Array\(cuda:0, 24 B, \(id: uint32, x: float64\)\[2\], [a-z]+, [a-z-]+\)",
                        repr(barmap.alloc(2, PLAIN)))
    with barmap.map(barmap.alloc((1024, 512), "f4")) as mapping:
        assert repr(mapping) == f"Mapping(cuda:0, 2.0 MiB, float32[1024, 512], {mapping.backend}, {mapping.kind})"
    assert repr(mapping) == "Mapping(cuda:0, 2.0 MiB, float32[1024, 512], closed)"
    with barmap.RingToCpu(PLAIN, slots=4) as ring:
        assert repr(ring) == "RingToCpu((id: uint32, x: float64), 4 slots)"


@pytest.mark.simulated
def test_the_repr_of_an_engine():
    assert repr(barmap.batch_queue()) == "BatchQueue(cuda:0, driver)"


def test_reprs_say_values():
    with barmap.CounterToGpu(first=3) as counter:
        assert repr(counter) == "CounterToGpu(3)"
        counter.advance(17)
        assert repr(counter) == "CounterToGpu(17)"
    with barmap.CounterToCpu(first=5) as counter:
        assert repr(counter) == "CounterToCpu(5)"


@pytest.mark.simulated
def test_reprs_in_a_forked_child():
    with barmap.CounterToGpu() as there, barmap.CounterToCpu() as back:
        queue = barmap.batch_queue()

        def child():
            assert [repr(there), repr(back), repr(queue)] == [
                "CounterToGpu()", "CounterToCpu()", "BatchQueue(cuda:0, none usable)"]

        assert in_child(child) == 0


def test_help_begins_with_a_page_that_names_everything():
    page = pydoc.plain(pydoc.render_doc(barmap)).partition("\nPACKAGE CONTENTS\n")[0].splitlines()
    assert len(page) <= 60 and max(map(len, page)) <= 80, page
    named = set(re.findall(r"``(\w+)", barmap.__doc__))
    assert set(barmap.__all__) - {"__version__"} <= named
