// SPDX-License-Identifier: MIT
// What the copies of libgdrapi cost beside gdrcopy's own, in one process, on one mapping, taking
// turns. A measurement, not a test:
//
//   copy_cost OURS THEIRS [ROUNDS]
//
// OURS is barmap's libgdrapi.so; it pins and maps. THEIRS is gdrcopy 2.6's, built from its source;
// it copies through the same addresses. Prints a line of JSON for each direction and size: the
// median over the rounds of each round's fastest batch, in ns per copy. `theirs_fenced_ns` has a
// fence before each read, without which gdrcopy's streaming loads can be stale.
#include "shared/taking_turns.hpp"
#include "shared/gpu_memory.h"

#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <gdrapi.h>
#include <string_view>
#include <sys/ioctl.h>
#include <vector>

namespace {

constexpr std::string_view gdrdrv = "/dev/gdrdrv";
bool pretend = false; ///< that the kernel module is there
int pretended_fd = -1;

/// The function of libc that one of this program's stands before.
template <class Function>
Function next(char const* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

} // namespace

// gdrcopy chooses its copy routines in gdr_open(), which needs its kernel module. These two, which
// its library finds before libc's, answer for a module of version 2.6.
extern "C" __attribute__((visibility("default"))) int open(char const* path, int flags, ...) {
    if (pretend && path == gdrdrv)
        return pretended_fd = next<int (*)(char const*, int, ...)>("open")("/dev/null", O_RDWR);
    va_list arguments;
    va_start(arguments, flags);
    mode_t const mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return next<int (*)(char const*, int, ...)>("open")(path, flags, mode);
}

extern "C" __attribute__((visibility("default"))) int ioctl(int fd, unsigned long request,
                                                            ...) noexcept {
    va_list arguments;
    va_start(arguments, request);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    if (pretend && fd == pretended_fd) {
        std::uint32_t const versions[] = {GDR_API_VERSION, MINIMUM_GDRDRV_VERSION};
        std::memcpy(argument, versions, sizeof versions); // GDRDRV_IOC_GET_VERSION
        return 0;
    }
    return next<int (*)(int, unsigned long, ...)>("ioctl")(fd, request, argument);
}

namespace {

using copy_function = int (*)(gdr_mh_t, void* to, void const* from, std::size_t);

struct gdrapi {
    decltype(&gdr_open) open;
    decltype(&gdr_pin_buffer) pin;
    decltype(&gdr_map) map;
    copy_function to_mapping, from_mapping;
};

gdrapi load(char const* path) {
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("%s", ::dlerror());
    gdrapi loaded{};
    take_symbol(library, "gdr_open", &loaded.open);
    take_symbol(library, "gdr_pin_buffer", &loaded.pin);
    take_symbol(library, "gdr_map", &loaded.map);
    take_symbol(library, "gdr_copy_to_mapping", &loaded.to_mapping);
    take_symbol(library, "gdr_copy_from_mapping", &loaded.from_mapping);
    REQUIRE(loaded.open && loaded.pin && loaded.map && loaded.to_mapping && loaded.from_mapping);
    return loaded;
}

/// What gdrcopy 2.6 has behind a handle, as far as its copies look: how it is mapped.
struct their_handle {
    void* list[2];
    gdr_mapping_type_t type;
    char rest[256];
};

struct copy {
    copy_function function;
    gdr_mh_t handle;
    void* to;
    void const* from;
    bool fenced = false;

    void operator()(std::size_t bytes) const {
        if (fenced)
            load_fence();
        (void)function(handle, to, from, bytes);
    }
};

} // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::printf("usage: copy_cost OURS THEIRS [ROUNDS]\n");
        return 2;
    }
    gdrapi const ours = load(arguments[1]), theirs = load(arguments[2]);
    unsigned const rounds = count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 21;
    pretend = true;
    if (!theirs.open())
        fail("gdrcopy's gdr_open() fails");
    pretend = false;

    constexpr std::size_t most = 1 << 20;
    cuda_driver const cuda = start_cuda(0);
    gpu_block const block = allocate_block(&cuda, most, 1);
    gdr_t const g = ours.open();
    REQUIRE(g);
    gdr_mh_t handle{};
    void* va = nullptr;
    REQUIRE_0(ours.pin(g, block.address, most, 0, 0, &handle));
    REQUIRE_0(ours.map(g, handle, &va, most));
    their_handle as_theirs{};
    as_theirs.type = GDR_MAPPING_TYPE_WC;
    gdr_mh_t const other{reinterpret_cast<unsigned long>(&as_theirs)};
    void* const host = ::aligned_alloc(4096, most);
    std::memset(host, 0x5a, most);

    auto const all_sizes = [&](char const* direction, std::vector<copy> const& copies) {
        for (std::size_t bytes = 1; bytes <= most; bytes *= bytes < 16384 ? 2 : 4) {
            std::vector<double> const ns = taking_turns(copies, bytes, rounds);
            std::printf("{\"direction\":\"%s\",\"bytes\":%zu,\"ours_ns\":%.1f,\"theirs_ns\":%.1f,"
                        "\"ratio\":%.3f",
                        direction, bytes, ns[0], ns[1], ns[0] / ns[1]);
            if (ns.size() > 2)
                std::printf(",\"theirs_fenced_ns\":%.1f,\"ratio_fenced\":%.3f", ns[2],
                            ns[0] / ns[2]);
            std::printf("}\n");
            std::fflush(stdout);
        }
    };
    all_sizes("to", {{ours.to_mapping, handle, va, host}, {theirs.to_mapping, other, va, host}});
    all_sizes("from", {{ours.from_mapping, handle, host, va},
                       {theirs.from_mapping, other, host, va},
                       {theirs.from_mapping, other, host, va, true}});
    std::free(host);
    return 0;
}
