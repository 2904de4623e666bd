// SPDX-License-Identifier: MIT
/// The contents of `barmap info`, for C and languages that call C: the backends, copy engines, copy
/// routines, numbers and variables of the library, which of them are in force here, and why.
///
///     barmap_list *engines;
///     if (barmap_device_list_engines(gpu, 1, &engines) != BARMAP_OK)
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     for (size_t i = 0; i < barmap_list_count(engines); ++i) {
///         barmap_engine_row const *row = barmap_list_row(engines, i);
///         printf("%s: %s\n", row->name, row->reason);
///     }
///     barmap_list_destroy(engines);
///
/// Later versions append members to the rows: take them by pointer, never by value, and not by
/// their size.
///
/// Errors: as in <barmap/barmap.h>. Threads: any thread may call every function at any time;
/// destroying a list is exclusive. fork(): a child may call the functions that name no GPU.
#ifndef BARMAP_LIST_H
#define BARMAP_LIST_H

#include <barmap/batch_queue.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_list barmap_list; ///< rows of one kind, which never change

/// How many rows a list has.
///
///     for (size_t i = 0; i < barmap_list_count(list); ++i)
BARMAP_API size_t barmap_list_count(barmap_list const* list);

/// A row, whose type the function that made the list names; NULL if there is none. Valid as long as
/// the list, and so are the texts in it, which are never NULL.
///
///     barmap_policy_row const *row = barmap_list_row(policies, 0);
BARMAP_API void const* barmap_list_row(barmap_list const* list, size_t row);

/// Frees the list. NULL: does nothing.
///
///     barmap_list_destroy(list);
BARMAP_API void barmap_list_destroy(barmap_list* list);

/// Whether a backend or a copy engine works here.
enum barmap_state {
    BARMAP_USABLE = 0, ///< its self-test moved a random value both ways
    BARMAP_ABSENT = 1, ///< this machine does not offer it, which is normal
    BARMAP_BROKEN = 2  ///< present, but its start or self-test failed; never used
};

/// The abilities of a backend; values of barmap_backend_row::flags.
enum barmap_backend_flags {
    BARMAP_BACKEND_PERSISTENT = 1,  ///< mappings outlive cudaFree; else see barmap_pin_revoked()
    BARMAP_BACKEND_FORCES_PCIE = 2, ///< accepts BARMAP_PIN_FORCE_PCIE
    BARMAP_BACKEND_EVENTS = 4,      ///< accepts BARMAP_PIN_EVENTS
    BARMAP_BACKEND_ALLOCATES = 8,   ///< barmap_pin_allocate() may use it, once it is usable
    BARMAP_BACKEND_HAS_MODULE = 16  ///< it has a kernel module that reports a version
};

/// Whether a backend maps a kind of memory, as its self-test found.
typedef struct barmap_memory_kind_row {
    char const* reason; ///< why not; or how the backend finds it, if there are several methods
    int kind;           ///< a value of enum barmap_memory_kind
    int usable;         ///< 1 or 0
} barmap_memory_kind_row;

/// A backend.
typedef struct barmap_backend_row {
    char const* name;
    char const* reason; ///< one sentence: why it is in this state
    char const* advice; ///< what to do to make it usable; "" when it is
    double start_us;    ///< time that its start-up and self-test took, microseconds
    int state;          ///< a value of enum barmap_state
    unsigned flags;     ///< values of enum barmap_backend_flags
    int module_major;   ///< with BARMAP_BACKEND_HAS_MODULE
    int module_minor;
    barmap_memory_kind_row const* kinds; ///< that it may map; none unless it is usable
    size_t kind_count;
    int const* pins; ///< kinds that barmap_pin_create() takes, whether or not tested
    size_t pin_count;
} barmap_backend_row;

/// A copy engine, which copies between host and GPU memory without the CPU.
typedef struct barmap_engine_row {
    char const* name;
    char const* reason; ///< one sentence: why it is in this state
    char const* advice; ///< what to do to make it usable; "" when it is
    double start_us;    ///< time that its start-up and self-test took, microseconds
    uint64_t copies;    ///< number of copies that it made in this process
    uint64_t bytes;     ///< total size of these copies
    int state;          ///< a value of enum barmap_state
    unsigned failures;  ///< copies that it did not end in time; after three it stays off
} barmap_engine_row;

/// From which size on barmap_mapping_copy_to_gpu() and _to_cpu() use a method.
typedef struct barmap_crossover_row {
    char const* method; ///< "mapping": loads and stores; else the engine's name
    size_t from_bytes;  ///< smallest size; it is used up to from_bytes of the next row
    int direction;      ///< a value of enum barmap_direction
    int pinned;         ///< 1: the host's side is pinned by CUDA; 0: it is ordinary memory
    int of_cuda_malloc; ///< 0: not for memory of cudaMalloc, which the engine cannot hold
} barmap_crossover_row;

/// A CPU copy routine of this build.
typedef struct barmap_copy_routine_row {
    char const* name;
    char const* needs; ///< the instruction sets it needs
    int supported;     ///< 1 if the CPU and the operating system have them
} barmap_copy_routine_row;

/// A number by which the library chooses who copies, in what order and in which parts.
typedef struct barmap_policy_row {
    char const* name;
    char const* unit;
    char const* from; ///< "default", "BARMAP_POLICY" or "fixed": that cannot be overruled
    char const* why;  ///< the measurement that it is from, or what it is for
    size_t value;     ///< in force, in `unit`
    size_t least;     ///< what BARMAP_POLICY may give
    size_t most;
} barmap_policy_row;

/// One of barmap's environment variables, as this process has read it.
typedef struct barmap_setting_row {
    char const* name;
    char const* value;   ///< in force; the default's name if that is
    char const* from;    ///< "environment", "default", or why it is ignored
    char const* allowed; ///< which values there are
    char const* meaning;
} barmap_setting_row;

/// Name of a backend of this build, in the order in which they are tried: the values of
/// BARMAP_BACKEND.
/// @return NULL behind the last. Valid as long as the library is loaded
///
///     for (size_t i = 0; barmap_backend_name(i); ++i)
///         puts(barmap_backend_name(i));
BARMAP_API char const* barmap_backend_name(size_t index);

/// Name of a copy engine of this build, in order of preference: the values of BARMAP_ENGINE, beside
/// "auto" and "none". Otherwise as barmap_backend_name().
///
///     puts(barmap_engine_name(0)); // "channel"
BARMAP_API char const* barmap_engine_name(size_t index);

/// All copy routines of this build: the values of BARMAP_COPY. Rows: barmap_copy_routine_row.
/// @param out free it with barmap_list_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_NO_MEMORY
///
///     barmap_list_copy_routines(&routines);
BARMAP_API int barmap_list_copy_routines(barmap_list** out);

/// All numbers by which the library chooses. BARMAP_POLICY may overrule those that are not fixed.
/// Rows: barmap_policy_row. Otherwise as barmap_list_copy_routines().
///
///     barmap_list_policies(&policies);
BARMAP_API int barmap_list_policies(barmap_list** out);

/// All environment variables of barmap but those that tests or other libraries read. Rows:
/// barmap_setting_row. Otherwise as barmap_list_copy_routines().
///
///     barmap_list_settings(&settings);
BARMAP_API int barmap_list_settings(barmap_list** out);

/// Reports of the backends that start quickly, or of the one that BARMAP_BACKEND names, before
/// their self-test: `usable` means that the backend can be tried. Takes about a millisecond, needs
/// no CUDA context and makes none: for programs that only decide whether to use barmap. Rows:
/// barmap_backend_row.
/// @param ordinal CUDA's number of the GPU, from 0 on
/// @return 0; BARMAP_ERROR_NO_DEVICE; BARMAP_ERROR_INVALID_ARGUMENT for an unknown BARMAP_BACKEND;
///         or what CUDA reports
///
///     barmap_list_probed_backends(0, &backends);
BARMAP_API int barmap_list_probed_backends(int ordinal, barmap_list** out);

/// Lists the report of the kernel module gdrdrv: one barmap_backend_row without texts. Makes no
/// call of CUDA, so that children that are forked later may use CUDA.
/// @return 0; BARMAP_ERROR_SYSTEM if there is none, or if this process may not open it;
///         BARMAP_ERROR_UNKNOWN_LAYOUT for a version that this library does not know
///
///     barmap_list_kernel_module(&module);
BARMAP_API int barmap_list_kernel_module(barmap_list** out);

/// A report for each backend, in order. Rows: barmap_backend_row.
/// @param start 1: starts those that have not been needed so far; 0: only reports of those that
///              have been started
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; if it starts them, BARMAP_ERROR_FORKED_CHILD and
///         BARMAP_ERROR_CHECKPOINTED; BARMAP_ERROR_NO_MEMORY
///
///     barmap_device_list_backends(gpu, 1, &backends);
BARMAP_API int barmap_device_list_backends(barmap_device const* device, int start,
                                           barmap_list** out);

/// A report for each copy engine, in order. Rows: barmap_engine_row. Otherwise as
/// barmap_device_list_backends().
///
///     barmap_device_list_engines(gpu, 1, &engines);
BARMAP_API int barmap_device_list_engines(barmap_device const* device, int start,
                                          barmap_list** out);

/// The sizes from which barmap_mapping_copy_to_gpu() and _to_cpu() use each method, for mappings of
/// a backend. Starts and measures the engines, unless a copy has done so before. Rows:
/// barmap_crossover_row.
/// @param backend its name
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for an unknown name; BARMAP_ERROR_BACKEND_ABSENT or
///         _BACKEND_BROKEN if the backend, or the engine that BARMAP_ENGINE names, is not usable;
///         BARMAP_ERROR_FORKED_CHILD
///
///     barmap_device_list_crossovers(gpu, "rm", &crossovers);
BARMAP_API int barmap_device_list_crossovers(barmap_device const* device, char const* backend,
                                             barmap_list** out);

/// A report for each copy engine, in order: whether copies of this memory may use it, and if not,
/// why. Without an engine, they use loads and stores. Starts the engines that were not needed so
/// far. In a process that opened the memory without CUDA, only barmap's channel can copy, and only
/// with backend rm. Rows: barmap_engine_row.
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_FORKED_CHILD
///
///     barmap_pin_list_engines(pin, &engines);
BARMAP_API int barmap_pin_list_engines(barmap_pin const* pin, barmap_list** out);

/// A report for each engine tried for batches, in order, with the number of its batches. Rows:
/// barmap_engine_row. Otherwise as barmap_pin_list_engines().
///
///     barmap_batch_queue_list_engines(queue, &engines);
BARMAP_API int barmap_batch_queue_list_engines(barmap_batch_queue const* queue, barmap_list** out);

#ifdef __cplusplus
}
#endif

#endif
