// SPDX-License-Identifier: MIT
#pragma once

#include "gdrcopy/programs/mapped_range.hpp"
#include "gdrcopy/programs/selected_gpu.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

/// The tests of gdrcopy_sanity. Each runs in a separate process, which has not used CUDA yet.
namespace barmap::tool::gdrcopy::sanity {

struct settings {
    int device = 0;
    bool verbose = false;
    // The test's:
    std::string allocation = "cuMemAlloc";            ///< or cuMemCreate
    gdr_pin_flags_t pin_flags = GDR_PIN_FLAG_DEFAULT; ///< for gdr_pin_buffer_v2()
};

/// An expectation did not hold.
struct failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The test does not apply here; the text says why.
struct waived : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct test {
    std::string_view name;
    /// Returns when passed; throws waived, or anything else when failed.
    void (*run)(settings const& with);
    char const* allocation = "cuMemAlloc";
    gdr_pin_flags_t pin_flags = GDR_PIN_FLAG_DEFAULT;
    bool extended = false; ///< runs with -e only, or by its name
};

[[nodiscard]] std::span<test const> basic_tests();        ///< pin, map, attributes, threads
[[nodiscard]] std::span<test const> data_tests();         ///< the bytes that arrive
[[nodiscard]] std::span<test const> invalidation_tests(); ///< after gdr_close and after free
[[nodiscard]] std::span<test const> fork_tests();         ///< with another process

/// @throws failed unless it holds
void expect(bool holds, std::string_view what);
/// @throws failed if the call gave 0
void expect_refused(int result, std::string_view call);

constexpr std::size_t some_pages = 5 * GPU_PAGE_SIZE;

/// The set-up of most tests: CUDA, a buffer of known content, and an open libgdrapi.
struct bench {
    explicit bench(settings const& with, std::size_t bytes = GPU_PAGE_SIZE);
    selected_gpu gpu;
    gpu_buffer buffer;
    session through;
};

/// The whole buffer, pinned and mapped.
struct mapped_buffer : mapped_range {
    explicit mapped_buffer(bench const& on)
        : mapped_range(on.through, on.buffer.address(), on.buffer.size()) {
        map();
    }
};

/// The value of an attribute; 0 where the library does not know it.
[[nodiscard]] int attribute(session const& of, gdr_attr_t which);

/// A word of GPU memory as the driver reads it.
[[nodiscard]] std::uint32_t word_by_driver(CUdeviceptr address);

/// A word through a mapping, by plain loads and stores of the CPU. A store has left the CPU when
/// the call returns.
void store_word(std::byte* to, std::uint32_t value);
[[nodiscard]] std::uint32_t load_word(std::byte const* from);

/// Whether a load from there faults (SIGSEGV or SIGBUS). For one thread of the process.
[[nodiscard]] bool faults(std::byte const* at);

/// Waives unless gdr_pin_buffer_v2() takes these flags here.
void waive_unless_pin_flags_work(bench const& on, gdr_pin_flags_t flags);

/// The tokens with which older drivers check that a process owns GPU memory; zeros if the driver
/// has none.
struct p2p_tokens {
    std::uint64_t p2p;
    std::uint32_t address_space;
};
[[nodiscard]] p2p_tokens tokens_of(CUdeviceptr address);

/// Waives for a libgdrapi whose mappings cannot be kept from a forked child: gdrcopy's own without
/// gdrdrv.
void waive_where_forks_inherit(session const& through);

} // namespace barmap::tool::gdrcopy::sanity
