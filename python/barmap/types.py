# SPDX-License-Identifier: MIT
"""The types that functions of barmap return, for annotations and ``isinstance()``.

`Engine` and `CopyCrossover` are what `barmap.Device` lists, `MappingEvents` what `barmap.Mapping.events` is,
and `MappingEvent` what that yields.
"""

from ._arrays.events import MappingEvent, MappingEvents
from ._base.machine import CopyCrossover, Engine

__all__ = ["CopyCrossover", "Engine", "MappingEvent", "MappingEvents"]

for _each in (CopyCrossover, Engine, MappingEvent, MappingEvents):
    _each.__module__ = __name__
del _each
