// SPDX-License-Identifier: MIT
// A second copy of the core in a process, as a drop-in is beside the library.
#include "base/library_ioctls.hpp"

namespace {

struct silent final : barmap::os::library_ioctls::watcher {
    bool answers(unsigned long, void*) noexcept override { return true; }
};

} // namespace

/// Watches so many times, with a call in each.
extern "C" __attribute__((visibility("default"))) void
watch_by_second_copy(void* library, int rounds, int (*call)(int, unsigned long, void*)) {
    barmap::os::library_ioctls const ioctls(library);
    silent watcher;
    for (int i = 0; i < rounds; ++i)
        ioctls.watch(watcher, [&] { (void)call(-1, 0, nullptr); });
}
