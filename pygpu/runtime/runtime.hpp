// SPDX-License-Identifier: MIT
#pragma once

#include "system/process.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

/// A GPU vendor's runtime as one table of functions, with the CUDA runtime's meaning:
/// a current device per thread, status codes instead of exceptions, the last error per thread.
namespace barmap::runtime {

/// A cudaError_t or hipError_t. The codes below mean the same in both.
using status = int;
inline constexpr status success = 0;
inline constexpr status invalid_value = 1;
inline constexpr status out_of_memory = 2;
inline constexpr status initialization_error = 3;
inline constexpr status invalid_device_pointer = 17;
inline constexpr status insufficient_driver = 35;
inline constexpr status no_device = 100;
inline constexpr status invalid_device = 101;
inline constexpr status invalid_handle = 400;
inline constexpr status not_ready = 600;
inline constexpr status context_is_destroyed = 709;
inline constexpr status not_supported = 801;
inline constexpr status unknown = 999;

/// cudaMemcpyKind and hipMemcpyKind.
enum class memcpy_kind : int { host_to_host = 0, to_device = 1, to_host = 2, on_device = 3 };

struct device_facts {
    std::string name;
    unsigned char uuid[16] = {};
    std::size_t total_memory = 0; ///< bytes
    int pci_domain = 0, pci_bus = 0, pci_device = 0;
    int major = 0, minor = 0; ///< compute capability; on AMD the two numbers of the gfx name
    int multiprocessors = 0;
    int warp_size = 0;
    int max_threads_per_block = 0;
    bool integrated = false;
};

struct function_table {
    char const* vendor; ///< "cuda" or "hip", as in BARMAP_RUNTIME
    /// Whether a write through barmap's mapping may take the place of a blocking copy now: all work
    /// that such a copy would be ordered behind is done. Null where barmap maps no memory. Leaves
    /// the last error alone.
    bool (*nothing_to_wait_for)();

    /// The thread's context, or null; and makes it the thread's again, with its device. Both are
    /// null where devices have no contexts.
    void* (*current_context)();
    void (*use_context)(int device, void*);
    /// The device that owns an address. Null where the runtime does not say; leaves the last error
    /// alone.
    status (*device_of)(int*, void const*);

    status (*device_count)(int*);
    status (*set_device)(int);
    status (*get_device)(int*);
    status (*synchronize_device)();
    status (*reset_device)();
    status (*describe_device)(device_facts*, int);
    status (*memory_info)(std::size_t* available, std::size_t* total);

    status (*last_error)(); ///< and forgets it
    status (*peek_at_last_error)();
    char const* (*error_name)(status);
    char const* (*error_string)(status);

    status (*allocate)(void**, std::size_t); ///< 0 bytes: null, and success
    status (*free)(void*);                   ///< null: success
    status (*pin_host)(void*, std::size_t);  ///< for all devices
    status (*unpin_host)(void*);
    status (*address_range)(void** base, std::size_t* bytes, void* inside);
    status (*copy)(void* to, void const* from, std::size_t bytes, memcpy_kind);
    /// Rows of `width` bytes, each a pitch behind the one before. @pre width <= both pitches
    status (*copy_rows)(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                        std::size_t width, std::size_t rows, memcpy_kind);

    status (*create_stream)(void**, unsigned flags, int priority);
    status (*destroy_stream)(void*);
    status (*synchronize_stream)(void*);
    status (*query_stream)(void*);
    status (*wait_for_event)(void* stream, void* event);
    status (*create_event)(void**, unsigned flags);
    status (*destroy_event)(void*);
    status (*record_event)(void* event, void* stream);
    status (*synchronize_event)(void*);
    status (*query_event)(void*);
    status (*elapsed_time)(float* milliseconds, void* start, void* end);
};

/// The runtime of this process, chosen at the first call: BARMAP_RUNTIME=cuda or hip, else CUDA if
/// it has a GPU, else HIP if it has one. Where there is none, every function of the table returns
/// insufficient_driver or no_device; in a forked child of the process that chose, all answer
/// initialization_error.
/// @throws error errc::invalid_argument for another BARMAP_RUNTIME
[[nodiscard]] function_table const& current();

/// Resets the device that is current in this thread: what was made on it is gone.
[[nodiscard]] status reset_current_device();

/// How often that was done to a device. Thread rule: free.
[[nodiscard]] unsigned resets_of(int device) noexcept;

/// Whether objects that were made in the process `owner` may be freed: neither in a forked
/// child nor while the process exits.
[[nodiscard]] bool may_give_back(os::process_id owner) noexcept;

/// The device that is current in this thread; -1 if the runtime returns an error.
[[nodiscard]] int current_device();

/// Makes a device current for a scope, and the one before again, with the context that was current.
class device_scope {
public:
    explicit device_scope(int device);
    ~device_scope();
    device_scope(device_scope const&) = delete;
    device_scope& operator=(device_scope const&) = delete;

private:
    int before_ = -1;
    void* context_ = nullptr;
};

/// The vendors' tables. Each loads its library at the first call, and is null with a reason where
/// there is none or none that can be used.
struct vendor_table {
    function_table const* functions = nullptr;
    status answer = insufficient_driver; ///< of every call, where there are no functions
    std::string why;
};
[[nodiscard]] vendor_table const& cuda_table();
[[nodiscard]] vendor_table const& hip_table();

/// Whether the CUDA runtime has this code.
[[nodiscard]] bool is_cuda_error(status code) noexcept;

/// Name and text of a cudaError_t; for codes that are unknown, what the CUDA runtime says of them.
[[nodiscard]] char const* cuda_error_name(status code) noexcept;
[[nodiscard]] char const* cuda_error_string(status code) noexcept;

} // namespace barmap::runtime
