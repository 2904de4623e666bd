# SPDX-License-Identifier: MIT
"""Structs for kernels, with the layout of a NumPy dtype."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Set, Tuple

from .._base.naming import kind_of

# NumPy is imported where it is needed, as in _layout.py.
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

# By kind and bytes of a dtype: type, and how many of them. The alignment is that of the type.
_TYPES: Dict[Tuple[str, int], Tuple[str, int]] = {
    ("b", 1): ("bool", 1),
    ("i", 1): ("signed char", 1),
    ("i", 2): ("short", 1),
    ("i", 4): ("int", 1),
    ("i", 8): ("long long", 1),
    ("u", 1): ("unsigned char", 1),
    ("u", 2): ("unsigned short", 1),
    ("u", 4): ("unsigned int", 1),
    ("u", 8): ("unsigned long long", 1),
    ("f", 2): ("unsigned short", 1),
    ("f", 4): ("float", 1),
    ("f", 8): ("double", 1),
    ("c", 8): ("float", 2),
    ("c", 16): ("double", 2),
    ("M", 8): ("long long", 1),
    ("m", 8): ("long long", 1),
}
_REMARKS = {"f2": "the bits of a float16", "c": "real, imaginary", "U": "UCS-4"}

# Of C++20 and of CUDA.
_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq""".split()
)


class _Member(NamedTuple):
    """A member of a struct: how it is declared, and where it is."""

    type: str
    name: str
    extents: Tuple[int, ...]
    offset: int
    nbytes: int
    alignment: int
    remark: str


def device_struct(dtype: npt.DTypeLike, name: str) -> str:
    """C++ source of a struct that lies in memory as elements of a dtype do.

    Offsets, padding and size are kept, and the source makes the compiler check them. Members that
    are not aligned make it a packed struct, which GPUs read byte by byte: ``align=True`` in the
    dtype avoids that. The source is C++11, needs no header, and compiles for GPUs and CPUs.

    Structured dtypes may be nested and have sub-arrays; of another dtype, the struct has one member,
    ``value``. float16 comes as its bits in an ``unsigned short``, for ``__ushort_as_half``; a
    complex number as two floats or doubles; dates as their 64-bit integer; bytes, texts and raw
    elements as arrays.

    Parameters
    ----------
    dtype : numpy.dtype or what it is made from
    name : str
        The name of the struct; the name of a nested one is that, an underscore and its field.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        For elements that GPUs lack: Python objects, long doubles, another byte order.
    ValueError
        For a name that C++ does not allow or that is there twice, for fields that overlap, and for
        a dtype without bytes.

    Examples
    --------
    >>> print(barmap.device_struct(np.dtype([("id", "u2"), ("at", "f4", 3)], align=True), "hit"))
    struct hit {
        unsigned short id;
        float at[3];
    };
    static_assert(sizeof(hit) == 16, "hit differs from its dtype");
    #ifndef __CUDACC_RTC__
    static_assert(__builtin_offsetof(hit, id) == 0, "hit differs from its dtype");
    static_assert(__builtin_offsetof(hit, at) == 4, "hit differs from its dtype");
    #endif
    <BLANKLINE>
    """
    import numpy as np

    written: List[str] = []
    made = np.dtype(dtype)
    if made.names is None:
        made = np.dtype([("value", made)])
    _write(made, name, written, set())
    return "\n".join(written)


def _write(dtype: np.dtype[Any], name: str, written: List[str], names: Set[str]) -> int:
    """Writes a struct after those it consists of.

    Returns
    -------
    int
        Its alignment.
    """
    _expect_name(name, "the struct's name")
    if name in names:
        raise ValueError(f"two structs would be called {name}: rename a field")
    names.add(name)
    if dtype.itemsize == 0:
        raise ValueError(f"{name} has no bytes")
    fields = dtype.names or ()
    for field in fields:
        _expect_name(field, f"a field of {name}")
    members = sorted(
        (_member(dtype, name, field, written, names) for field in fields), key=lambda m: m.offset
    )
    for field in fields:
        if field in names:
            raise ValueError(f"the field {field} of {name} has the name of a struct: rename it")
    alignment = max((member.alignment for member in members), default=1)
    is_packed = dtype.itemsize % alignment != 0 or any(
        member.offset % member.alignment != 0 for member in members
    )
    lines = [f"struct {'__attribute__((packed)) ' if is_packed else ''}{name} {{"]
    end = 0
    for member in members:
        if member.offset < end:
            raise ValueError(f"the field {member.name} of {name} overlaps the one before")
        lines += _padding(end, member.offset, 1 if is_packed else member.alignment, fields)
        extents = "".join(f"[{extent}]" for extent in member.extents)
        remark = f" // {member.remark}" if member.remark else ""
        lines.append(f"    {member.type} {member.name}{extents};{remark}")
        end = member.offset + member.nbytes
    lines += [*_padding(end, dtype.itemsize, 1 if is_packed else alignment, fields), "};"]
    differs = f'"{name} differs from its dtype"'
    lines.append(f"static_assert(sizeof({name}) == {dtype.itemsize}, {differs});")
    lines.append("#ifndef __CUDACC_RTC__")
    for member in members:
        at = f"__builtin_offsetof({name}, {member.name})"
        lines.append(f"static_assert({at} == {member.offset}, {differs});")
    written += [*lines, "#endif\n"]
    return 1 if is_packed else alignment


def _member(
    dtype: np.dtype[Any], name: str, field: str, written: List[str], names: Set[str]
) -> _Member:
    assert dtype.fields is not None
    whole, offset = dtype.fields[field][:2]
    element, shape = whole.subdtype or (whole, ())
    if element.hasobject:
        raise TypeError(f"the field {field} of {name} is a Python object, which no GPU has")
    if whole.itemsize == 0:
        raise ValueError(f"the field {field} of {name} has no bytes")
    remark = ""
    if element.names is not None:
        type_, count = f"{name}_{field}", 1
        alignment = _write(element, type_, written, names)
    elif element.kind in "SV":
        type_, count, alignment = "char" if element.kind == "S" else "unsigned char", 0, 1
        shape += (element.itemsize,)
    elif not element.isnative:
        raise TypeError(f"the field {field} of {name} has another byte order ({element.str})")
    elif element.kind == "U":
        type_, count, alignment, remark = "unsigned int", 0, 4, _REMARKS["U"]
        shape += (element.itemsize // 4,)
    else:
        try:
            type_, count = _TYPES[element.kind, element.itemsize]
        except KeyError:
            raise TypeError(
                f"the field {field} of {name} is {element}, for which GPUs have no type"
            ) from None
        alignment = element.itemsize // count
        remark = _REMARKS.get(element.str[1:], _REMARKS.get(element.kind, ""))
        shape += (count,) if count > 1 else ()
    return _Member(type_, field, shape, offset, whole.itemsize, alignment, remark)


def _padding(begin: int, end: int, alignment: int, fields: Tuple[str, ...]) -> List[str]:
    """Declares the gap between members, as a name that no member has, unless compilers leave as
    much: what they leave needs no value in a list of members' values.
    """
    if end - begin == -begin % alignment:
        return []
    name = f"padding_{begin}"
    while name in fields:
        name += "_"
    return [f"    unsigned char {name}[{end - begin}];"]


def _expect_name(name: str, what: str) -> None:
    """Refuses names that C++ does not allow, or keeps for compilers."""
    if not isinstance(name, str):
        raise TypeError(f"{what} is {kind_of(name)}, not a string")
    is_identifier = re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII) is not None
    if not is_identifier or name in _KEYWORDS or re.match("_[A-Z_]", name):
        raise ValueError(f"{what} is {name!r}, which cannot be a name in C++")
