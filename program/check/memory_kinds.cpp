// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "measure/gpu_kernels.hpp"
#include "output/units.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace barmap::tool {
namespace {

/// One kind of memory, and which part of an allocation is mapped.
struct memory_case {
    std::string_view name;
    memory_kind kind;
    std::size_t size;
    std::size_t offset;
    std::size_t length;
    std::function<gpu_memory(opened_gpu const&, std::size_t)> make;
    unsigned chunks = 1;
};

gpu_memory make_device(opened_gpu const&, std::size_t bytes) {
    return gpu_memory::device(bytes);
}

template <unsigned Chunks, bool Exportable>
gpu_memory make_chunks(opened_gpu const& gpu, std::size_t bytes) {
    return gpu_memory::chunks(gpu.handle(), bytes, Chunks, Exportable);
}

/// The one backend whose memory is not VMM memory, which the cases above have.
gpu_memory make_by_vulkan(opened_gpu const& gpu, std::size_t bytes) {
    return gpu_memory::barmap(gpu, bytes, "vulkan");
}

template <bool Exportable>
gpu_memory make_pool(opened_gpu const& gpu, std::size_t bytes) {
    return gpu_memory::pool(gpu, bytes, Exportable);
}

std::vector<memory_case> cases() {
    constexpr std::size_t usual = 8 * MiB, five = 10 * MiB;
    // An address that is a multiple of nothing, a length that is one neither, across a page.
    constexpr std::size_t odd_offset = 4 * KiB - 37, odd_length = 2 * MiB + 12'347;
    using enum memory_kind;
    return {
        {"cuMemAlloc 8 MiB", device, usual, 0, usual, make_device},
        {"cuMemAlloc interior, odd", device, usual, odd_offset, odd_length, make_device},
        {"cuMemAlloc 1 GiB", device, GiB, 0, GiB, make_device},
        {"cuMemCreate exportable", virtual_exportable, usual, 0, usual, make_chunks<1, true>},
        {"cuMemCreate interior, odd", virtual_exportable, usual, odd_offset, odd_length,
         make_chunks<1, true>},
        {"cuMemCreate 5 chunks", virtual_exportable, five, 0, five, make_chunks<5, true>, 5},
        {"cuMemCreate 5 chunks, odd", virtual_exportable, five, odd_offset, five - 2 * odd_offset,
         make_chunks<5, true>, 5},
        {"vulkan allocate, imported", allocated, usual, 0, usual, make_by_vulkan},
        {"cuMemCreate opaque", virtual_opaque, usual, 0, usual, make_chunks<1, false>},
        {"cuMemCreate opaque, 5, odd", virtual_opaque, five, odd_offset, five - 2 * odd_offset,
         make_chunks<5, false>, 5},
        {"pool with POSIX fds", pool_exportable, usual, 0, usual, make_pool<true>},
        {"pool with POSIX fds, odd", pool_exportable, usual, odd_offset, odd_length,
         make_pool<true>},
        {"default pool", pool, usual, 0, usual, make_pool<false>},
        {"default pool interior, odd", pool, usual, odd_offset, odd_length, make_pool<false>},
        {"default pool 100 MiB, odd", pool, 100 * MiB, odd_offset, 100 * MiB - 2 * odd_offset,
         make_pool<false>},
        {"managed", managed, usual, 0, usual,
         [](opened_gpu const&, std::size_t bytes) { return gpu_memory::managed(bytes); }},
        {"host", host, usual, 0, usual,
         [](opened_gpu const&, std::size_t bytes) { return gpu_memory::host(bytes); }},
    };
}

/// Whether a backend says that it imports this kind.
bool imports(backend_report const& which, memory_kind kind) {
    return std::find(which.pins.begin(), which.pins.end(), kind) != which.pins.end();
}

/// Whether it says that device::allocate may use it: barmap allocates VMM memory for it, or itself.
bool says_that_it_allocates(backend_report const& which) {
    return which.allocates || imports(which, memory_kind::virtual_exportable);
}

void import_and_verify(opened_gpu const& gpu, gpu_memory const& memory, memory_case const& which,
                       std::string const& backend, checklist& results) {
    checked_range const range{memory.address(), memory.size(), which.offset, which.length};
    try {
        pin const held =
            gpu.device().pin(std::uintptr_t{range.address()}, range.length, {.backend = backend});
        mapping const through = held.map();
        results.verdict(which.name, backend, verify(range, through, 7),
                        formatted("{} both ways", size_text(range.length)));
    } catch (error const& failure) {
        // A backend may import chunks, but lack the means to map several as adjacent ones.
        bool const adjacent = which.chunks > 1;
        if (adjacent && failure.code() == errc::unsupported_operation)
            results.passed(which.name, backend, formatted("refused: {}", failure.what()));
        else if (failure.code() == errc::bar1_exhausted)
            results.skipped(which.name, backend, failure.what());
        else
            results.failed(which.name, backend, failure.what());
    }
}

void check_case(opened_gpu const& gpu, memory_case const& which, std::string const& backend,
                bool imports, checklist& results) {
    gpu_memory memory;
    try {
        memory = which.make(gpu, which.size);
    } catch (error const& failure) {
        // A backend cannot be blamed for the lack of memory that it would refuse anyway, or that
        // only another backend makes.
        bool const anothers_lack =
            failure.code() == errc::backend_absent && failure.backend() != backend;
        std::string const to_blame = !imports ? "any" : anothers_lack ? failure.backend() : backend;
        results.skipped(which.name, to_blame,
                        formatted("there is no such memory here: {}", failure.what()));
        return;
    }
    if (imports)
        import_and_verify(gpu, memory, which, backend, results);
    else
        results.verdict(which.name, backend,
                        verify_refusal(gpu, memory.address(), which.length, backend,
                                       errc::unsupported_memory,
                                       "pinned, though this backend says that it cannot"),
                        rightly_refused);
}

/// Two small allocations in one page: each must come out at its own offset.
void check_neighbours(opened_gpu const& gpu, std::string const& backend, checklist& results) {
    constexpr std::string_view name = "cuMemAlloc 1 KiB neighbours";
    constexpr std::size_t bytes = KiB, page = 4 * KiB;
    constexpr int tries = 64;
    std::vector<gpu_memory> blocks;
    for (int i = 0; i < tries; ++i) {
        blocks.push_back(gpu_memory::device(bytes));
        if (i == 0 || blocks[blocks.size() - 2].address() / page != blocks.back().address() / page)
            continue;
        gpu_memory const &one = blocks[blocks.size() - 2], &other = blocks.back();
        results.attempt(name, backend, "they share a page", [&] {
            pin const held_one =
                gpu.device().pin(std::uintptr_t{one.address()}, bytes, {.backend = backend});
            pin const held_other =
                gpu.device().pin(std::uintptr_t{other.address()}, bytes, {.backend = backend});
            mapping const to_one = held_one.map(), to_other = held_other.map();
            auto problem = verify({one.address(), bytes, 0, bytes}, to_one, 11);
            if (!problem)
                problem = verify({other.address(), bytes, 0, bytes}, to_other, 13);
            write_through(to_one, 17);
            write_through(to_other, 19);
            if (!problem)
                problem = verify_by_driver(one.address(), bytes, 17);
            if (!problem)
                problem = verify_by_driver(other.address(), bytes, 19);
            return problem;
        });
        return;
    }
    results.skipped(name, backend, "the driver puts no two of them on one page");
}

/// Memory that device::allocate makes for the backend.
void check_own(opened_gpu const& gpu, std::string const& backend, checklist& results) {
    constexpr std::string_view name = "barmap allocate";
    constexpr std::size_t bytes = 8 * MiB;
    results.attempt(name, backend, formatted("{} both ways", size_text(bytes)), [&] {
        pin const held = gpu.device().allocate(bytes, backend);
        mapping const through = held.map();
        return verify({CUdeviceptr{held.gpu_address()}, bytes, 0, bytes}, through, 23);
    });
}

/// Bytes that a GPU kernel stores, and not a copy engine.
void check_gpu_kernel(opened_gpu const& gpu, std::string const& backend, checklist& results) {
    constexpr std::string_view name = "written by a GPU kernel";
    constexpr std::size_t bytes = 8 * MiB;
    constexpr std::uint64_t seed = 29;
    std::optional<gpu_kernels> kernels;
    try {
        kernels.emplace();
    } catch (error const& failure) { // the driver cannot compile them, or the GPU is too old
        results.skipped(name, backend, failure.what());
        return;
    }
    results.attempt(name, backend, formatted("{} read", size_text(bytes)), [&] {
        gpu_memory const memory = gpu_memory::device(bytes);
        pin const held =
            gpu.device().pin(std::uintptr_t{memory.address()}, bytes, {.backend = backend});
        mapping const through = held.map();
        fill_by_kernel(*kernels, memory.address(), bytes, seed);
        std::vector<std::byte> seen(bytes);
        read(seen, through.window());
        std::optional<std::string> problem;
        for (std::size_t k = 0; k < bytes && !problem; ++k)
            if (seen[k] != filled_byte(k, seed))
                problem = formatted("byte {} is not what the kernel stored", k);
        return problem;
    });
}

} // namespace

void check_memory(opened_gpu const& gpu, backend_report const& found, check_options const& values,
                  checklist& results) {
    std::string const& backend = found.name;
    for (memory_case const& which : cases()) {
        if (which.size > values.max_size) {
            results.skipped(which.name, backend,
                            formatted("larger than --max-size {}", size_text(values.max_size)));
            continue;
        }
        check_case(gpu, which, backend, imports(found, which.kind), results);
    }
    if (imports(found, memory_kind::device)) {
        check_neighbours(gpu, backend, results);
        check_gpu_kernel(gpu, backend, results);
    }
    if (says_that_it_allocates(found))
        check_own(gpu, backend, results);
}

} // namespace barmap::tool
