from typing import Any, SupportsIndex


class Session:
    def close(self) -> int: ...

    def pin_buffer(self, address: int, size: int, p2p_token: int, va_space: int, /) -> tuple[int, Pinned | None]: ...

    def pin_buffer_v2(self, address: int, size: int, flags: int, /) -> tuple[int, Pinned | None]: ...

    def driver_version(self) -> tuple[int, tuple[int, int]]: ...

    def get_attribute(self, arg: int, /) -> tuple[int, int]: ...

class Pinned:
    @property
    def is_pinned(self) -> bool: ...

    def unpin(self) -> int: ...

    def get_info(self) -> tuple[int, dict[str, Any]]: ...

    def map(self, arg: int, /) -> tuple[int, int]: ...

    def unmap(self, arg0: int, arg1: int, /) -> int: ...

    def get_callback_flag(self) -> tuple[int, bool]: ...

def open() -> Session | None: ...

def copy_to_mapping(pinned: Pinned, mapped: int, host: SupportsIndex, size: SupportsIndex, /) -> int: ...

def copy_from_mapping(pinned: Pinned, host: SupportsIndex, mapped: int, size: SupportsIndex, /) -> int: ...

def runtime_version() -> tuple[int, int]: ...

def last_failure() -> str: ...

MAPPING_TYPE_NONE: int = 0

MAPPING_TYPE_WC: int = 1

MAPPING_TYPE_CACHING: int = 2

MAPPING_TYPE_DEVICE: int = 3

PIN_FLAG_DEFAULT: int = 0

PIN_FLAG_FORCE_PCIE: int = 1

ATTR_USE_PERSISTENT_MAPPING: int = 1

ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE: int = 2

ATTR_USING_DMA_BUF_MMAP: int = 3
