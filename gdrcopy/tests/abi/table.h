/* SPDX-License-Identifier: MIT */
/*
 * The binary interface of libgdrapi 2.6 on 64-bit systems, written down: what programs that were
 * built with the original's header have compiled in. C11 and C++20; a difference does not compile.
 */
#ifndef BARMAP_DROPIN_ABI_TABLE_H
#define BARMAP_DROPIN_ABI_TABLE_H

#include <gdrapi.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <type_traits>
#define HOLDS(condition) static_assert(condition, #condition)
#define IS_A(expression, ...) HOLDS((std::is_same_v<decltype(expression), __VA_ARGS__>))
#define ALIGNMENT(type) alignof(type)
#else
#define HOLDS(condition) _Static_assert(condition, #condition)
#define IS_A(expression, ...) HOLDS(_Generic((expression), __VA_ARGS__ : 1, default : 0))
#define ALIGNMENT(type) _Alignof(type)
#endif

#define MEMBER(type, member, offset, bytes)                                                        \
    HOLDS(offsetof(type, member) == (offset));                                                     \
    HOLDS(sizeof(((type*)0)->member) == (bytes))
#define TYPE(type, bytes, alignment)                                                               \
    HOLDS(sizeof(type) == (bytes));                                                                \
    HOLDS(ALIGNMENT(type) == (alignment))
#define FUNCTION(name, ...) IS_A(&name, __VA_ARGS__)

/* Types */
TYPE(gdr_t, 8, 8);
TYPE(gdr_mh_t, 8, 8);
TYPE(struct gdr_mh_s, 8, 8);
MEMBER(gdr_mh_t, h, 0, 8);
TYPE(gdr_info_v2_t, 48, 8);
TYPE(struct gdr_info_v2, 48, 8);
TYPE(gdr_info_t, 48, 8);
MEMBER(gdr_info_t, va, 0, 8);
MEMBER(gdr_info_t, mapped_size, 8, 8);
MEMBER(gdr_info_t, page_size, 16, 4);
MEMBER(gdr_info_t, tm_cycles, 24, 8);
MEMBER(gdr_info_t, cycles_per_ms, 32, 4);
/* mapped and wc_mapping are bits 0 and 1 of the word at 36: layout.h */
MEMBER(gdr_info_t, mapping_type, 40, 4);
TYPE(gdr_pin_flags_t, 4, 4);
TYPE(enum gdr_pin_flags, 4, 4);
TYPE(gdr_map_flags_t, 4, 4);
TYPE(enum gdr_map_flags, 4, 4);
TYPE(gdr_mapping_type_t, 4, 4);
TYPE(enum gdr_mapping_type, 4, 4);
TYPE(gdr_attr_t, 4, 4);
TYPE(enum gdr_attr, 4, 4);
HOLDS(sizeof(struct gdr*) == sizeof(gdr_t));

/* Constants */
HOLDS(GDR_API_MAJOR_VERSION == 2);
HOLDS(GDR_API_MINOR_VERSION == 6);
HOLDS(GDR_API_VERSION == 0x20006);
HOLDS(MAJOR_VERSION_SHIFT == 16);
HOLDS(MINOR_VERSION_MASK == 0xffff);
HOLDS(MINIMUM_GDRDRV_MAJOR_VERSION == 2);
HOLDS(MINIMUM_GDRDRV_MINOR_VERSION == 0);
HOLDS(MINIMUM_GDRDRV_VERSION == 0x20000);
HOLDS(GPU_PAGE_SHIFT == 16);
HOLDS(GPU_PAGE_SIZE == 65536);
HOLDS(GPU_PAGE_OFFSET == 65535);
HOLDS(GPU_PAGE_MASK == 0xffffffffffff0000);
HOLDS(sizeof(GPU_PAGE_SIZE) == 8 && sizeof(GPU_PAGE_MASK) == 8);
HOLDS(GDR_PIN_FLAG_DEFAULT == 0);
HOLDS(GDR_PIN_FLAG_FORCE_PCIE == 1);
HOLDS(GDR_MAPPING_TYPE_NONE == 0);
HOLDS(GDR_MAPPING_TYPE_WC == 1);
HOLDS(GDR_MAPPING_TYPE_CACHING == 2);
HOLDS(GDR_MAPPING_TYPE_DEVICE == 3);
HOLDS(GDR_MAPPING_TYPE_MAX == 4);
HOLDS(GDR_MAP_FLAG_DEFAULT == 0);
HOLDS(GDR_MAP_FLAG_REQ_WC_MAPPING == 1);
HOLDS(GDR_MAP_FLAG_REQ_CACHE_MAPPING == 2);
HOLDS(GDR_MAP_FLAG_REQ_DEVICE_MAPPING == 3);
HOLDS(GDR_ATTR_USE_PERSISTENT_MAPPING == 1);
HOLDS(GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE == 2);
HOLDS(GDR_ATTR_USING_DMA_BUF_MMAP == 3);
HOLDS(GDR_ATTR_MAX == 4);

/* Functions; `gdr_get_info` is a macro for the second generation. */
FUNCTION(gdr_open, gdr_t (*)(void));
FUNCTION(gdr_close, int (*)(gdr_t));
FUNCTION(gdr_pin_buffer, int (*)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*));
FUNCTION(gdr_pin_buffer_v2, int (*)(gdr_t, unsigned long, size_t, uint32_t, gdr_mh_t*));
FUNCTION(gdr_unpin_buffer, int (*)(gdr_t, gdr_mh_t));
FUNCTION(gdr_get_callback_flag, int (*)(gdr_t, gdr_mh_t, int*));
FUNCTION(gdr_get_info, int (*)(gdr_t, gdr_mh_t, gdr_info_v2_t*));
FUNCTION(gdr_get_info_v2, int (*)(gdr_t, gdr_mh_t, gdr_info_v2_t*));
FUNCTION(gdr_map, int (*)(gdr_t, gdr_mh_t, void**, size_t));
FUNCTION(gdr_map_v2, int (*)(gdr_t, gdr_mh_t, void**, size_t, int));
FUNCTION(gdr_unmap, int (*)(gdr_t, gdr_mh_t, void*, size_t));
FUNCTION(gdr_copy_to_mapping, int (*)(gdr_mh_t, void*, void const*, size_t));
FUNCTION(gdr_copy_from_mapping, int (*)(gdr_mh_t, void*, void const*, size_t));
FUNCTION(gdr_runtime_get_version, void (*)(int*, int*));
FUNCTION(gdr_driver_get_version, int (*)(gdr_t, int*, int*));
FUNCTION(gdr_get_attribute, int (*)(gdr_t, gdr_attr_t, int*));
FUNCTION(gdr_get_mapping_type_string, int (*)(gdr_mapping_type_t, char const**));

#endif /* BARMAP_DROPIN_ABI_TABLE_H */
