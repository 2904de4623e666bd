# SPDX-License-Identifier: MIT
"""Structs with the layout of a dtype, as compilers see them; and the folder of headers."""

import ctypes
import os

import barmap
import numpy as np
import pytest

from compiled import compile_library

POINT = np.dtype([("x", "f4"), ("y", "f8")])
DTYPES = {
    "packed": POINT,
    "aligned": np.dtype([("x", "i1"), ("y", "f8"), ("z", "u2")], align=True),
    "offsets": np.dtype({"names": ["late", "early"], "formats": ["i4", "u1"], "offsets": [8, 3],
                         "itemsize": 32}),
    "odd_size": np.dtype({"names": ["x", "y"], "formats": ["f8", "u1"], "itemsize": 11}),
    "all_numbers": np.dtype([(f"a{number}", code) for number, code in enumerate(
        "? i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 M8[s] m8[ns]".split())], align=True),
    "nested": np.dtype([("flag", "?"), ("at", POINT), ("to", POINT, 2)]),
    "nested_aligned": np.dtype([("flag", "?"), ("at", np.dtype([("x", "f4"), ("y", "f8")], align=True))],
                               align=True),
    "nested_packed": np.dtype({"names": ["flag", "at"], "formats": ["?", POINT], "offsets": [0, 8],
                               "itemsize": 24}),
    "sub_arrays": np.dtype([("m", "f4", (2, 3)), ("n", "i2", 5)]),
    "one": np.dtype("i4"),
    "one_array": np.dtype(("f8", (2, 2))),
    "padding_name": np.dtype({"names": ["padding_0", "x"], "formats": ["u1", "i4"],
                              "offsets": [4, 8]}),
}


def plain_fields(dtype, path="", offset=0):
    """Paths of all numbers, as C++ and NumPy write them, with dtype and offset."""
    if dtype.names is not None:
        for name in dtype.names:
            inner, at = dtype.fields[name][:2]
            yield from plain_fields(inner, f"{path}.{name}" if path else name, offset + at)
    elif dtype.subdtype is not None:
        base, shape = dtype.subdtype
        for number, index in enumerate(np.ndindex(*shape)):
            where = path + "".join(f"[{i}]" for i in index)
            yield from plain_fields(base, where, offset + number * base.itemsize)
    else:
        yield path, dtype, offset


def struct_of(dtype):
    return dtype if dtype.names is not None else np.dtype([("value", dtype)])


@pytest.mark.parametrize("name", DTYPES)
def test_compilers_lay_the_struct_out_as_numpy(tmp_path, name):
    dtype = DTYPES[name]
    source = barmap.device_struct(dtype, "thing")
    fields = list(plain_fields(struct_of(dtype)))
    source += "extern \"C\" int size() { return sizeof(thing); }\n"
    for number, (path, _, _) in enumerate(fields):
        source += (f"extern \"C\" double get_{number}(thing const* of) "
                   f"{{ return static_cast<double>(of->{path}); }}\n")
    (tmp_path / "thing.cpp").write_text(source)
    library = compile_library(tmp_path / "thing.cpp", tmp_path)
    assert library.size() == dtype.itemsize
    for number, (path, each, offset) in enumerate(fields):
        content = np.zeros(dtype.itemsize + 8, "u1")
        value = np.ones(1, "u1").view("?") if each.kind == "b" else np.array([-5]).astype(each)
        content[offset : offset + each.itemsize] = np.frombuffer(value.tobytes(), "u1")
        get = getattr(library, f"get_{number}")
        get.restype, get.argtypes = ctypes.c_double, [ctypes.c_void_p]
        assert get(content.ctypes.data) == float(value.view("i8" if each.kind in "mM" else each)[0]), path


def test_elements_that_cpp_lacks_come_as_what_they_consist_of(tmp_path):
    dtype = np.dtype([("half", "f2", 2), ("z", "c8"), ("zz", "c16", 3), ("s", "S5"), ("u", "U3"),
                      ("raw", "V7")], align=True)
    source = barmap.device_struct(dtype, "thing")
    for line in ("unsigned short half[2]; // the bits of a float16", "float z[2]; // real, imaginary",
                 "double zz[3][2]; // real, imaginary", "char s[5];", "unsigned int u[3]; // UCS-4",
                 "unsigned char raw[7];"):
        assert f"    {line}\n" in source
    (tmp_path / "thing.cpp").write_text(source)
    compile_library(tmp_path / "thing.cpp", tmp_path)


@pytest.mark.parametrize("dtype, is_packed", [
    (POINT, True), (DTYPES["aligned"], False), (DTYPES["offsets"], False), (DTYPES["odd_size"], True),
])
def test_only_what_is_not_aligned_is_packed(dtype, is_packed):
    assert ("packed" in barmap.device_struct(dtype, "thing")) == is_packed


def test_only_what_compilers_would_not_leave_is_padding(tmp_path):
    aligned = barmap.device_struct(DTYPES["aligned"], "thing")
    assert "padding" not in aligned
    (tmp_path / "thing.cpp").write_text(aligned + "thing made() { return thing{1, 2.5, 3}; }\n")
    compile_library(tmp_path / "thing.cpp", tmp_path)
    offsets = barmap.device_struct(DTYPES["offsets"], "thing")
    assert "    unsigned char padding_0[3];\n" in offsets and "    unsigned char padding_12[20];\n" in offsets
    assert "    unsigned char padding_0_[4];\n" in barmap.device_struct(DTYPES["padding_name"], "thing")


def test_a_struct_that_differs_does_not_compile(tmp_path):
    source = barmap.device_struct(DTYPES["aligned"], "thing")
    for was, wrong in (("short z;", "short z[9];"), ("== 24", "== 23"), ("y) == 8", "y) == 4")):
        assert was in source
        (tmp_path / "thing.cpp").write_text(source.replace(was, wrong))
        with pytest.raises(AssertionError, match="thing differs from its dtype"):
            compile_library(tmp_path / "thing.cpp", tmp_path)


def test_nvrtc_is_spared_what_it_lacks(tmp_path):
    (tmp_path / "thing.cpp").write_text(barmap.device_struct(DTYPES["nested"], "thing"))
    compile_library(tmp_path / "thing.cpp", tmp_path, "-D__CUDACC_RTC__", "-D__builtin_offsetof=none")


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "a::b", "int", "class", "_A", "__a", "ä", "a\n"])
def test_names_that_cpp_does_not_allow_are_refused(name):
    with pytest.raises(ValueError, match="cannot be a name in C"):
        barmap.device_struct("f4", name)
    if name:
        with pytest.raises(ValueError, match="a field of thing is .* cannot be a name in C"):
            barmap.device_struct(np.dtype([(name, "f4")]), "thing")


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="the struct's name is an int, not a string"):
        barmap.device_struct("f4", 1)


@pytest.mark.parametrize("dtype, error, reason", [
    ([("x", "O")], TypeError, "field x of thing is a Python object"),
    ("O", TypeError, "field value of thing is a Python object"),
    ([("x", "g")], TypeError, "for which GPUs have no type"),
    ([("x", ">i4")], TypeError, "has another byte order"),
    ([("x", ">U2")], TypeError, "has another byte order"),
    ([("x", "S0"), ("y", "i4")], ValueError, "field x of thing has no bytes"),
    ([("x", "i4", 0), ("y", "i4")], ValueError, "field x of thing has no bytes"),
    ([], ValueError, "thing has no bytes"),
    ({"names": ["x", "y"], "formats": ["i4", "i4"], "offsets": [0, 2]}, ValueError,
     "field y of thing overlaps the one before"),
    ([("thing", "i4")], ValueError, "field thing of thing has the name of a struct"),
    ([("a", [("x", "i4")]), ("thing_a", "i4")], ValueError, "thing_a of thing has the name of a struct"),
    ([("a", [("b_c", [("x", "i4")])]), ("a_b", [("c", [("x", "i4")])])], ValueError,
     "two structs would be called thing_a_b_c"),
])
def test_dtypes_without_a_struct_are_refused(dtype, error, reason):
    with pytest.raises(error, match=reason):
        barmap.device_struct(np.dtype(dtype), "thing")


def test_the_headers_are_there():
    for name in ("ring.cuh", "warp_ring.cuh", "words.cuh"):
        assert os.path.isfile(os.path.join(barmap.include_dir(), "barmap", "gpu", name))
    assert os.path.isabs(barmap.include_dir())


def test_a_package_without_headers_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("barmap._base.headers._PACKAGE", str(tmp_path / "a" / "b"))
    with pytest.raises(FileNotFoundError, match="no barmap/gpu/ring.cuh in .*: reinstall"):
        barmap.include_dir()
    headers = tmp_path / "core" / "include" / "barmap" / "gpu"  # where they are in the sources
    headers.mkdir(parents=True)
    (headers / "ring.cuh").write_text("")
    assert barmap.include_dir() == str(tmp_path / "core" / "include")
