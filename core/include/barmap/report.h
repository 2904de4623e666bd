// SPDX-License-Identifier: MIT
/// Reports about failures, GPUs and the library itself, for C and languages that call C;
/// <barmap/list.h> has the contents of `barmap info`.
///
///     barmap_device *gpu;
///     if (barmap_device_create_current(&gpu) != BARMAP_OK)
///         return fprintf(stderr, "%s\n", barmap_error_advice()), 1;
///     printf("GPU %d at %s\n", barmap_device_ordinal(gpu), barmap_device_pci_address(gpu));
///
/// Errors: as in <barmap/barmap.h>, for functions that return an int which is a value of enum
/// barmap_status. A device that is NULL is the caller's error elsewhere.
///
/// Threads: any thread may call every function at any time.
///
/// fork(): a child may ask all but barmap_device_create_current(), barmap_device_bar1() and
/// barmap_is_pinned(), which ask CUDA.
#ifndef BARMAP_REPORT_H
#define BARMAP_REPORT_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The status of this thread's last call that failed: a value of enum barmap_status; 0 before the
/// first failure. For functions that return no status.
///
///     if (*barmap_batch_queue_engine(queue) == 0 && barmap_error_status() == BARMAP_ERROR_CUDA)
BARMAP_API int barmap_error_status(void);

/// The operation that this thread's last failed call attempted, for example "pin 8 bytes at 0x10":
/// a part of barmap_error_message(). "" before the first failure, and where nothing more than the
/// message is known, as when memory is short. Valid as that message.
///
///     puts(barmap_error_operation());
BARMAP_API char const* barmap_error_operation(void);

/// The name of the backend that refused it; "" if none did. Otherwise as barmap_error_operation().
///
///     puts(barmap_error_backend());
BARMAP_API char const* barmap_error_backend(void);

/// The advice to the user: one line, or one for each backend if several failed; "" if nothing is
/// known to help. Valid as barmap_error_message().
///
///     puts(barmap_error_advice());
BARMAP_API char const* barmap_error_advice(void);

/// Which piece of a batch barmap_batch_queue_submit() refused, before it copied any: its number in
/// the list, from 0. -1 if no piece was to blame, and for other functions.
///
///     if (barmap_error_piece() >= 0)
///         show(&pieces[barmap_error_piece()]);
BARMAP_API int64_t barmap_error_piece(void);

/// Room for every text of barmap_cause_text(), in bytes.
#define BARMAP_CAUSE_TEXT_BYTES 64

/// The cause of a failure in words: of a refusal of barmap by its status, of others by the code
/// that CUDA, Vulkan or the resource manager returned. Needs no driver. Any thread.
/// @param status a value of enum barmap_status
/// @param cause  as barmap_error_cause()
/// @param text   receives the words with their 0, cut after bytes - 1 bytes
/// @param bytes  size of text; BARMAP_CAUSE_TEXT_BYTES is enough
///
///     char text[BARMAP_CAUSE_TEXT_BYTES];
///     barmap_cause_text(BARMAP_ERROR_CUDA, 2, text, sizeof text); // "CUDA_ERROR_OUT_OF_MEMORY"
BARMAP_API void barmap_cause_text(int status, int cause, char* text, size_t bytes);

/// The CUDA ordinal of the GPU whose context is current in this thread; 0 where it has no context,
/// or where there is no driver. Makes no context.
///
///     barmap_device_create(barmap_device_current(), &gpu);
BARMAP_API int barmap_device_current(void);

/// Where the CUDA driver is looked for, real or simulated, in this order: names for dlopen(). Loads
/// nothing. Any thread.
/// @return NULL behind the last, and if memory is short. Valid until the process ends
///
///     void *cuda = NULL;
///     for (size_t i = 0; !cuda && barmap_driver_file(i); ++i)
///         cuda = dlopen(barmap_driver_file(i), RTLD_NOW);
BARMAP_API char const* barmap_driver_file(size_t index);

/// The CUDA driver of the process. Later versions append members: pass one, of which all are set.
typedef struct barmap_driver {
    size_t size;         ///< sizeof(barmap_driver), as compiled into the program
    void* library;       ///< libcuda.so.1 or the simulated one, for dlsym(); NULL if it cannot be loaded
    char const* problem; ///< why it cannot be used; "" if it can. Valid until the process ends
    int is_initialised;  ///< 1 if cuInit was called
    int result_of_init;  ///< its CUresult
    int simulated;       ///< 1 with BARMAP_SIM=1
    int version;         ///< of its CUDA interface: 13000 for CUDA 13.0
} barmap_driver;

/// Loads and initialises the CUDA driver as every function does that needs it: for libraries over
/// barmap that call CUDA themselves, and should call the same. Loaded once, and never unloaded. Any
/// thread.
/// @param driver set to the outcome; the caller sets its size
/// @return 0, also if no driver can be used; BARMAP_ERROR_INVALID_ARGUMENT, also for one of
///         barmap's environment variables that has a wrong value; BARMAP_ERROR_NO_MEMORY
///
///     barmap_driver cuda = {.size = sizeof cuda};
///     if (barmap_driver_load(&cuda) == BARMAP_OK && *cuda.problem == 0)
///         launch = dlsym(cuda.library, "cuLaunchKernel");
BARMAP_API int barmap_driver_load(barmap_driver* driver);

/// Opens the GPU whose CUDA context is current in this thread; GPU 0 if it has none. Otherwise as
/// barmap_device_create().
/// @param out free it with barmap_device_destroy()
///
///     barmap_device_create_current(&gpu);
BARMAP_API int barmap_device_create_current(barmap_device** out);

/// CUDA's number of the GPU, from 0 on.
///
///     cudaSetDevice(barmap_device_ordinal(gpu));
BARMAP_API int barmap_device_ordinal(barmap_device const* device);

/// Where it is on the PCI bus, for example "0000:65:00.0". Valid as long as the handle.
///
///     puts(barmap_device_pci_address(gpu));
BARMAP_API char const* barmap_device_pci_address(barmap_device const* device);

/// The version of the driver's CUDA interface: 13000 for CUDA 13.0.
///
///     assert(barmap_device_driver_version(gpu) >= 12000);
BARMAP_API int barmap_device_driver_version(barmap_device const* device);

/// 1 if the GPU is simulated (BARMAP_SIM=1), else 0.
///
///     if (barmap_device_simulated(gpu))
///         skip_measurement();
BARMAP_API int barmap_device_simulated(barmap_device const* device);

/// The sizes of the GPU's BAR1 aperture, through which the CPU reaches its memory. Both are 0 if no
/// usable backend reports them; BARMAP_LOG=info says why.
/// @param total     set to all of it, in bytes
/// @param available set to the free part, which limits further mappings
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_FORKED_CHILD
///
///     uint64_t total, available;
///     barmap_device_bar1(gpu, &total, &available);
BARMAP_API int barmap_device_bar1(barmap_device const* device, uint64_t* total,
                                  uint64_t* available);

/// Whether CUDA has pinned all of this host memory, as one allocation or several: by cudaHostAlloc,
/// cudaHostRegister or as a barmap_host_buffer. Asks CUDA, which takes 0.1 us for each allocation
/// and up to 9 us after a pause of the program (H200). 0 too for GPU memory, without CUDA, while
/// the process is prepared for a checkpoint, and for memory that was not pinned when this thread
/// asked less than 10 ms ago; 1 for no bytes. Not for a forked child of a process that uses CUDA.
///
///     if (!barmap_is_pinned(buffer, bytes))
///         cudaHostRegister(buffer, bytes, 0);
BARMAP_API int barmap_is_pinned(void const* data, size_t bytes);

/// The value of one of barmap's environment variables, as this process has read it; NULL while its
/// default is in force, for a name that is none of theirs, and if memory is short. Valid until the
/// process ends.
///
///     char const *engine = barmap_setting("BARMAP_ENGINE");
BARMAP_API char const* barmap_setting(char const* name);

/// Where barmap knows the structures of a version of NVIDIA's kernel driver from.
enum barmap_driver_source {
    BARMAP_DRIVER_UNKNOWN = 0,        ///< nowhere: the engine "channel" is off
    BARMAP_DRIVER_OTHER_PROJECTS = 1, ///< other projects' tables
    BARMAP_DRIVER_HEADERS = 2         ///< NVIDIA's own headers
};

/// Where barmap knows a version of NVIDIA's kernel driver from: a value of enum
/// barmap_driver_source.
///
///     barmap_driver_known_from("580.159.04") == BARMAP_DRIVER_HEADERS
BARMAP_API int barmap_driver_known_from(char const* version);

/// Checks these variables. Functions that open a GPU do so as well, and check the names of backends
/// and copy routines besides.
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for the first one, other than BARMAP_LOG, whose value
///         is not allowed
///
///     if (barmap_settings_check() != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_settings_check(void);

/// One of the numbers by which barmap chooses who copies, and in which parts: `barmap info
/// --verbose` prints their names and units, BARMAP_POLICY overrules them.
/// @param value set to the number in force
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT for an unknown name
///
///     size_t bytes;
///     barmap_policy_value("engines_from_to_gpu", &bytes);
BARMAP_API int barmap_policy_value(char const* name, size_t* value);

/// Values of barmap_log_threshold(): each level prints also what the one before it prints.
enum barmap_log_level {
    BARMAP_LOG_OFF = 0,
    BARMAP_LOG_INFO = 1, ///< each decision, once
    BARMAP_LOG_DEBUG = 2 ///< also each pin
};

/// The level that BARMAP_LOG sets: a value of enum barmap_log_level.
///
///     int is_verbose = barmap_log_threshold() >= BARMAP_LOG_INFO;
BARMAP_API int barmap_log_threshold(void);

/// Prints a line "barmap info: text" to stderr if BARMAP_LOG asks for its level: for libraries over
/// barmap that decide something.
/// @param level BARMAP_LOG_INFO or BARMAP_LOG_DEBUG; others print nothing
/// @param text  without a line's end; NULL prints nothing
///
///     barmap_log_line(BARMAP_LOG_INFO, "mylibrary: staging is off");
BARMAP_API void barmap_log_line(int level, char const* text);

#ifdef __cplusplus
}
#endif

#endif
