// SPDX-License-Identifier: MIT
// What barmap's copies cost beside what a program of vkgdr does: memcpy through the address that
// vkgdr gave it. In one process, each over memory of its own on one GPU, taking turns. A
// measurement, not a test:
//
//   vkgdr_cost THEIRS [ROUNDS]
//
// THEIRS is vkgdr's own libvkgdr.so, built from its source. Prints a line of JSON for each
// direction and size: the median over the rounds of each round's fastest batch, in ns per copy; and
// one with how long the first opening and allocation took, in ms. `write_ns` and `read_ns` go
// through the mapping alone, `adaptive_ns` is copy_to_gpu() or copy_to_cpu() with pageable memory,
// which take a copy engine where that is faster. `memcpy_fenced_ns` has a fence after each copy to
// the GPU, which makes the bytes leave the CPU, and one before each copy from it, so that it sees
// no value older than an earlier one saw, as barmap's do.
#include "shared/taking_turns.hpp"
#include "shared/gpu_memory.h"

#include <barmap/barmap.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <vector>
#include <vkgdr.h>

namespace {

struct vkgdr_functions {
    decltype(&vkgdr_open) open;
    decltype(&vkgdr_memory_alloc) allocate;
    decltype(&vkgdr_memory_get_host_ptr) host_address;
    decltype(&vkgdr_memory_is_coherent) is_coherent;
    decltype(&vkgdr_last_error) last_error;
    decltype(&vkgdr_memory_free) free;
    decltype(&vkgdr_close) close;
};

vkgdr_functions load(char const* path) {
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("%s", ::dlerror());
    vkgdr_functions loaded{};
    take_symbol(library, "vkgdr_open", &loaded.open);
    take_symbol(library, "vkgdr_memory_alloc", &loaded.allocate);
    take_symbol(library, "vkgdr_memory_get_host_ptr", &loaded.host_address);
    take_symbol(library, "vkgdr_memory_is_coherent", &loaded.is_coherent);
    take_symbol(library, "vkgdr_last_error", &loaded.last_error);
    take_symbol(library, "vkgdr_memory_free", &loaded.free);
    take_symbol(library, "vkgdr_close", &loaded.close);
    REQUIRE(loaded.open && loaded.allocate && loaded.host_address && loaded.is_coherent &&
            loaded.last_error && loaded.free && loaded.close);
    return loaded;
}

struct memories {
    barmap::mapping const* ours;
    barmap::window window; ///< of all of it
    void* theirs;
    std::byte* host;
};

struct copy {
    void (*function)(memories const&, std::size_t bytes);
    memories const* all;

    void operator()(std::size_t bytes) const { function(*all, bytes); }
};

void write_through_mapping(memories const& all, std::size_t bytes) {
    barmap::write(all.window.subwindow(0, bytes), std::span<std::byte const>(all.host, bytes));
}

void read_through_mapping(memories const& all, std::size_t bytes) {
    barmap::read(std::span(all.host, bytes), all.window.subwindow(0, bytes));
}

void copy_to_gpu(memories const& all, std::size_t bytes) {
    all.ours->copy_to_gpu(0, std::span<std::byte const>(all.host, bytes));
}

void copy_to_cpu(memories const& all, std::size_t bytes) {
    all.ours->copy_to_cpu(std::span(all.host, bytes), 0);
}

void memcpy_to_gpu(memories const& all, std::size_t bytes) {
    std::memcpy(all.theirs, all.host, bytes);
}

void fenced_memcpy_to_gpu(memories const& all, std::size_t bytes) {
    memcpy_to_gpu(all, bytes);
    store_fence();
}

void memcpy_to_cpu(memories const& all, std::size_t bytes) {
    std::memcpy(all.host, all.theirs, bytes);
}

void fenced_memcpy_to_cpu(memories const& all, std::size_t bytes) {
    load_fence();
    memcpy_to_cpu(all, bytes);
}

double ms_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void measure(char const* direction, char const* mapped, std::vector<copy> const& copies,
             std::size_t most, unsigned rounds) {
    for (std::size_t bytes = 1; bytes <= most; bytes *= bytes < 16384 ? 2 : 4) {
        std::vector<double> const ns = taking_turns(copies, bytes, rounds);
        std::printf("{\"direction\":\"%s\",\"bytes\":%zu,\"%s_ns\":%.1f,\"adaptive_ns\":%.1f,"
                    "\"memcpy_ns\":%.1f,\"memcpy_fenced_ns\":%.1f,\"ratio\":%.3f,"
                    "\"adaptive_ratio\":%.3f}\n",
                    direction, bytes, mapped, ns[0], ns[1], ns[2], ns[3], ns[0] / ns[3],
                    ns[1] / ns[3]);
        std::fflush(stdout);
    }
}

} // namespace

int main(int count, char** arguments) try {
    if (count < 2) {
        std::printf("usage: vkgdr_cost THEIRS [ROUNDS]\n");
        return 2;
    }
    vkgdr_functions const vkgdr = load(arguments[1]);
    unsigned const rounds = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : 21;

    constexpr std::size_t most = 1 << 20;
    start_cuda(0);
    auto start = std::chrono::steady_clock::now();
    vkgdr_t const opened = vkgdr.open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    if (!opened)
        fail("vkgdr_open: %s", vkgdr.last_error());
    vkgdr_memory_t const memory = vkgdr.allocate(opened, most, 0);
    if (!memory)
        fail("vkgdr_memory_alloc: %s", vkgdr.last_error());
    double const theirs_ms = ms_since(start);
    REQUIRE(vkgdr.is_coherent(memory));

    start = std::chrono::steady_clock::now();
    auto const pin = barmap::device::open(0).allocate(most);
    auto const map = pin.map();
    double const ours_ms = ms_since(start);
    std::printf("{\"opened\":\"%s\",\"bytes\":%zu,\"ours_ms\":%.2f,\"vkgdr_ms\":%.2f}\n",
                std::string(map.backend()).c_str(), most, ours_ms, theirs_ms);
    std::vector<std::byte> host(most);
    fill_pattern(host.data(), most, 1);
    memories const all{&map, map.window(), vkgdr.host_address(memory), host.data()};

    // Each writes all, then reads it back: what it is that takes so long works.
    auto const round_trip = [&](auto to_gpu, auto to_cpu, unsigned seed, char const* what) {
        fill_pattern(host.data(), most, seed);
        to_gpu(all, most);
        std::fill(host.begin(), host.end(), std::byte{0});
        to_cpu(all, most);
        require_pattern(host.data(), most, seed, what);
    };
    round_trip(write_through_mapping, read_through_mapping, 2, "the mapping");
    round_trip(copy_to_gpu, copy_to_cpu, 3, "adaptive copies");
    round_trip(fenced_memcpy_to_gpu, fenced_memcpy_to_cpu, 4, "vkgdr's memory");

    measure("to", "write",
            {{write_through_mapping, &all},
             {copy_to_gpu, &all},
             {memcpy_to_gpu, &all},
             {fenced_memcpy_to_gpu, &all}},
            most, rounds);
    measure("from", "read",
            {{read_through_mapping, &all},
             {copy_to_cpu, &all},
             {memcpy_to_cpu, &all},
             {fenced_memcpy_to_cpu, &all}},
            most, rounds);
    vkgdr.free(memory);
    vkgdr.close(opened);
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
