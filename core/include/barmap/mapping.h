// SPDX-License-Identifier: MIT
/// CPU addresses of GPU memory, and copies through them, for C and languages that call C.
/// <barmap/barmap.h> includes it, and has the rules of errors, ownership, threads and forks.
#ifndef BARMAP_MAPPING_H
#define BARMAP_MAPPING_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_mapping barmap_mapping; ///< CPU addresses of a pin

/// Makes CPU addresses for the whole pin. The first mapping through a backend takes a few
/// milliseconds, in which barmap measures the copy routines in memory of its own, unless
/// BARMAP_COPY forces one (share/doc/barmap/measuring.md). Any thread.
/// @param out free it with barmap_mapping_destroy()
/// @return 0; BARMAP_ERROR_BAR1_EXHAUSTED; BARMAP_ERROR_FORKED_CHILD; or what the system or the
///         driver reports
///
///     barmap_mapping *map;
///     if (barmap_mapping_create(pin, &map) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_create(barmap_pin* pin, barmap_mapping** out);

/// The same, with a kind of caching.
/// @param kind a value of enum barmap_cache_kind
/// @return as barmap_mapping_create(); BARMAP_ERROR_UNSUPPORTED_OPERATION if the backend cannot
///
///     barmap_mapping_create_as(pin, BARMAP_WRITE_COMBINING, &map);
BARMAP_API int barmap_mapping_create_as(barmap_pin* pin, int kind, barmap_mapping** out);

/// Name of the backend that reaches the memory. Valid as long as the mapping. Any thread.
///
///     puts(barmap_mapping_backend(map));
BARMAP_API char const* barmap_mapping_backend(barmap_mapping const* mapping);

/// The CPU address of the pin's first byte, which may have any alignment. Plain loads and stores
/// through it reach GPU memory; the fences that order them are in share/doc/barmap/ordering.md, and
/// depend on barmap_mapping_kind(). Valid until barmap_mapping_destroy(). Any thread.
///
///     volatile uint32_t *flag = barmap_mapping_data(map);
BARMAP_API void* barmap_mapping_data(barmap_mapping const* mapping);

/// The mapping's size in bytes, that of its pin. Any thread.
///
///     memset(host_copy, 0, barmap_mapping_size(map));
BARMAP_API size_t barmap_mapping_size(barmap_mapping const* mapping);

/// How the CPU caches a mapping.
enum barmap_cache_kind {
    BARMAP_WRITE_COMBINING = 0, ///< stores are collected and posted; loads go to the GPU every time
    BARMAP_CACHED = 1,          ///< coherent memory
    BARMAP_UNCACHED = 2         ///< ordered; slow
};

/// A value of enum barmap_cache_kind. Any thread.
///
///     bool needs_a_flush = barmap_mapping_kind(map) == BARMAP_WRITE_COMBINING;
BARMAP_API int barmap_mapping_kind(barmap_mapping const* mapping);

/// Frees the CPU addresses. Do not call it while another thread copies through them. NULL: does
/// nothing.
///
///     barmap_mapping_destroy(map);
BARMAP_API void barmap_mapping_destroy(barmap_mapping* mapping);

/// Copies to GPU memory with whatever is fastest for this size and this host memory: stores through
/// the mapping, or a copy engine of the GPU. After it has returned, the rules after
/// barmap_mapping_write() apply: later reads and work that is submitted later see the bytes. It
/// does not overtake what this thread wrote and posted before. Any thread. Python: Mapping.write().
///
/// A copy below barmap_mapping_engines_from(), normally 32 KiB, is a barmap_mapping_write() with
/// checks. The first larger one starts the GPU's engines and measures them
/// (share/doc/barmap/copy-engine.md). Larger copies may lock, call the driver, and wait: use
/// barmap_mapping_write() in code that must not.
/// @param data host memory: ordinary, or pinned by CUDA; not NULL unless bytes is 0
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_OUT_OF_RANGE if the range leaves the
///         mapping; BARMAP_ERROR_COPY_UNFINISHED if an engine failed and could not be stopped, so
///         that neither side may be used again (if it could, the copy is made in another way);
///         BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if BARMAP_ENGINE names an engine that is
///         not usable, or that of barmap_mapping_use_engine() fails; BARMAP_ERROR_FORKED_CHILD;
///         BARMAP_ERROR_NO_MEMORY
///
///     if (barmap_mapping_copy_to_gpu(map, 0, weights, sizeof weights) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_copy_to_gpu(barmap_mapping const* mapping, size_t offset,
                                          void const* data, size_t bytes);

/// Copies from GPU memory with whatever is fastest: loads through the mapping, or a copy engine. It
/// sees what this thread wrote and posted before, and never delivers a value older than one that
/// this thread has already read. A copy below barmap_mapping_engines_from(), normally 1 KiB, is a
/// barmap_mapping_read() with checks. Otherwise as barmap_mapping_copy_to_gpu(). Python: read().
///
///     if (barmap_mapping_copy_to_cpu(map, result, 0, sizeof result) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_mapping_copy_to_cpu(barmap_mapping const* mapping, void* data, size_t offset,
                                          size_t bytes);

/// Which way a copy goes.
enum barmap_direction {
    BARMAP_TO_GPU = 0, ///< from host to GPU memory
    BARMAP_TO_CPU = 1  ///< from GPU to host memory
};

/// The least size, in bytes, for which barmap_mapping_copy_to_gpu() or _to_cpu() may use an engine,
/// lock or wait; a smaller copy takes a microsecond or two. Any thread.
/// @param direction a value of enum barmap_direction
///
///     bool is_quick = bytes < barmap_mapping_engines_from(map, BARMAP_TO_GPU);
BARMAP_API size_t barmap_mapping_engines_from(barmap_mapping const* mapping, int direction);

/// Name of the copy routine that stores or loads that many bytes. An aligned word of up to 8 bytes
/// is stored and loaded without one. Valid as long as the library is loaded. Any thread.
/// @param direction a value of enum barmap_direction
///
///     puts(barmap_mapping_routine(map, BARMAP_TO_GPU, 4096));
BARMAP_API char const* barmap_mapping_routine(barmap_mapping const* mapping, int direction,
                                              size_t bytes);

/// Makes this mapping and all its windows use one copy routine, as BARMAP_COPY does for all
/// mappings. Do not call it while another thread copies through the mapping.
/// @param mapping NULL: only checks the name
/// @param name    of a routine, as barmap_list_copy_routines() has them
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for an unknown name; BARMAP_ERROR_UNSUPPORTED_OPERATION
///         if the CPU or the operating system lacks it
///
///     barmap_mapping_use_routine(map, "avx2");
BARMAP_API int barmap_mapping_use_routine(barmap_mapping* mapping, char const* name);

/// Makes the copies of barmap_mapping_copy_to_gpu() and _to_cpu() through this mapping, of any
/// size, use one engine that BARMAP_ENGINE allows: to compare engines. Starts it. A copy that it
/// cannot make then fails. Do not call it while another thread copies through the mapping.
/// @param name of an engine; "mapping": loads and stores; "auto": again whatever is fastest
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for an unknown name; BARMAP_ERROR_BACKEND_ABSENT or
///         _BACKEND_BROKEN if the engine is not usable; BARMAP_ERROR_UNSUPPORTED_OPERATION if it
///         cannot hold this memory; BARMAP_ERROR_FORKED_CHILD
///
///     barmap_mapping_use_engine(map, "driver");
BARMAP_API int barmap_mapping_use_engine(barmap_mapping* mapping, char const* name);

/// A view of a mapping, or of a part of it. The structure never changes.
typedef struct barmap_window {
    void* data;       ///< CPU address of GPU memory
    size_t size;      ///< bytes
    void const* plan; ///< how to copy; NULL in an empty window
} barmap_window;

/// The first bytes of what barmap_window::plan points at. Later versions append to them.
typedef struct barmap_plan_head {
    unsigned char direct_words; ///< 1: posts of 4 and 8 bytes use MOVDIRI
    unsigned char direct_lines; ///< 1: posts of a line use MOVDIR64B
} barmap_plan_head;

/// The whole mapping as a window, for barmap_copy_write() and the others of that name. Valid as
/// long as the mapping. Any thread.
///
///     barmap_window all;
///     barmap_mapping_window(map, &all);
BARMAP_API void barmap_mapping_window(barmap_mapping const* mapping, barmap_window* window);

/// A part of it. Any thread.
/// @param mapping NULL: an empty mapping
/// @param window  set to the part, unless it is NULL
/// @return 0; BARMAP_ERROR_OUT_OF_RANGE if the part does not lie inside
///
///     barmap_window header;
///     barmap_mapping_part(map, 0, 64, &header);
BARMAP_API int barmap_mapping_part(barmap_mapping const* mapping, size_t offset, size_t bytes,
                                   barmap_window* window);

/// The whole mapping as a window whose writes and reads one routine makes, whatever their size: to
/// compare routines. Any thread.
/// @param mapping NULL: an empty window
/// @return 0; as barmap_mapping_use_routine(); BARMAP_ERROR_NO_MEMORY
///
///     barmap_mapping_window_by(map, "avx2", &by_avx2);
BARMAP_API int barmap_mapping_window_by(barmap_mapping const* mapping, char const* name,
                                        barmap_window* window);

// The hot path. These functions take no lock, allocate nothing, make no system call and cannot
// fail. They check nothing: the mapping must not be NULL, and the range must lie inside it. Any
// number of threads may copy through one mapping at once.

/// Copies to GPU memory by stores alone, which leave this CPU before any later store of this
/// thread. An aligned 1, 2, 4 or 8-byte write is one transaction. (Not Mapping.write() of Python.)
/// @pre offset + bytes <= barmap_mapping_size(mapping)
///
///     barmap_mapping_write(map, 0, &job, sizeof job);
BARMAP_API void barmap_mapping_write(barmap_mapping const* mapping, size_t offset, void const* from,
                                     size_t bytes);

/// Copies from GPU memory by loads alone. Never delivers a value older than one that this thread
/// has already read from the same address. An aligned 1, 2, 4 or 8-byte read is one transaction.
/// @pre offset + bytes <= barmap_mapping_size(mapping)
///
///     barmap_mapping_read(map, &result, 64, sizeof result);
BARMAP_API void barmap_mapping_read(barmap_mapping const* mapping, void* to, size_t offset,
                                    size_t bytes);

/// Stores an aligned word with no fence, as for a doorbell. One transaction; it leaves the CPU at
/// the latest with barmap_flush_stores().
/// @pre barmap_mapping_data() + offset is a multiple of the word's size, and the word lies inside
///
///     barmap_mapping_post32(map, doorbell, sequence);
BARMAP_API void barmap_mapping_post32(barmap_mapping const* mapping, size_t offset, uint32_t value);
/// As barmap_mapping_post32().
///
///     barmap_mapping_post64(map, doorbell, sequence);
BARMAP_API void barmap_mapping_post64(barmap_mapping const* mapping, size_t offset, uint64_t value);

/// Stores an aligned line of 64 bytes with no fence: one transaction if the CPU can make one,
/// otherwise normally one.
/// @param line 64 bytes, with any alignment
/// @pre barmap_mapping_data() + offset is a multiple of 64, and the line lies inside
///
///     barmap_mapping_post_line(map, slot * 64, message);
BARMAP_API void barmap_mapping_post_line(barmap_mapping const* mapping, size_t offset,
                                         void const* line);

// The same by a window's address and plan, for code that has them at hand. They return 0, so that a
// function that returns an int may end in a jump to one of them.

/// As barmap_mapping_write().
/// @param plan barmap_window::plan of the window in which all of the bytes lie; not NULL
///
///     return barmap_copy_write((char *)all.data + offset, host, bytes, all.plan);
BARMAP_API int barmap_copy_write(void* gpu, void const* host, size_t bytes, void const* plan);
/// As barmap_mapping_read(). @param plan as above
///
///     return barmap_copy_read(host, (char *)all.data + offset, bytes, all.plan);
BARMAP_API int barmap_copy_read(void* host, void const* gpu, size_t bytes, void const* plan);
/// Sets every byte; ordered as barmap_copy_write(). @param plan as above
///
///     barmap_copy_fill(all.data, 0, all.size, all.plan);
BARMAP_API int barmap_copy_fill(void* gpu, unsigned char value, size_t bytes, void const* plan);
/// As barmap_mapping_post32(), of 1, 2, 4 or 8 bytes. @param plan as above
///
///     barmap_copy_post_word(all.data, 1, 4, all.plan);
BARMAP_API int barmap_copy_post_word(void* gpu, uint64_t word, unsigned bytes, void const* plan);
/// As barmap_mapping_post_line(). @param plan as above
///
///     barmap_copy_post_line(all.data, message, all.plan);
BARMAP_API int barmap_copy_post_line(void* gpu, void const* line, void const* plan);

/// Makes every earlier store of this thread to a mapping leave the CPU before its later stores.
/// x86: SFENCE. arm64: DSB ST. ppc64le: SYNC.
///
///     barmap_mapping_post64(map, doorbell, sequence);
///     barmap_flush_stores();
BARMAP_API void barmap_flush_stores(void);

/// Makes every later load of this thread from a mapping happen after its earlier loads, streaming
/// loads included. For programs that load through barmap_mapping_data(); barmap_mapping_read() does
/// not need it. x86: MFENCE. arm64: DMB LD. ppc64le: SYNC.
///
///     while (*flag == 0)
///         barmap_order_loads();
BARMAP_API void barmap_order_loads(void);

#ifdef __cplusplus
}
#endif

#endif
