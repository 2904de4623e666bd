// SPDX-License-Identifier: MIT
#include <barmap/barmap.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// libbarmap's events on the driver under test: in callback mode they come, in persistent mode they
/// are refused.
namespace {

int failures = 0;

void check(bool holds, char const* what) {
    if (holds)
        return;
    std::printf("    not so: %s\n", what);
    ++failures;
}

/// What of CUDA is needed to have memory, and to free it.
struct cuda {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
    template <class Function>
    [[nodiscard]] Function* find(char const* name) const {
        return reinterpret_cast<Function*>(::dlsym(library, name));
    }
    cuda() {
        void* context = nullptr;
        find<int(unsigned)>("cuInit")(0);
        find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0);
        find<int(void*)>("cuCtxSetCurrent")(context);
    }
    [[nodiscard]] std::uintptr_t allocate(std::size_t bytes) const {
        unsigned long long address = 0;
        find<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&address, bytes);
        return address;
    }
    void free(std::uintptr_t address) const {
        find<int(unsigned long long)>("cuMemFree_v2")(address);
    }
};

bool is_readable(barmap::pin const& pinned, int milliseconds) {
    pollfd waiting{pinned.event_fd(), POLLIN, 0};
    return ::poll(&waiting, 1, milliseconds) == 1 && waiting.revents == POLLIN;
}

bool is_gone(std::byte const* address) {
    // A child has no mapping, so the kernel shall look, which answers EFAULT where we had SIGBUS.
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        return false;
    bool const refused = ::write(ends[1], address, 8) < 0;
    ::close(ends[0]);
    ::close(ends[1]);
    return refused;
}

void in_callback_mode(cuda const& driver, barmap::device const& gpu) {
    constexpr std::size_t bytes = 256 * 1024;
    barmap::pin_options how;
    how.events = true;
    std::uintptr_t const first = driver.allocate(bytes), second = driver.allocate(bytes);
    barmap::pin const kept = gpu.pin(first, bytes, how);
    barmap::pin const lost = gpu.pin(second + 100, 1000, how);
    barmap::mapping const map = lost.map();
    barmap::write(map.window(0, 8), std::array<std::byte, 8>{std::byte{1}});
    check(!is_gone(map.data()), "it can be read while it is there");
    check(!is_readable(lost, 0) && !lost.next_event(), "nothing has happened");

    std::thread freeing([&] {
        ::usleep(50'000);
        driver.free(second);
    });
    check(is_readable(lost, 60'000), "a waiter is woken");
    std::optional<barmap::pin_event> const event = lost.next_event();
    freeing.join();
    check(event && event->gpu_address == second + 100 && event->size == 1000, "the revoked range");
    check(event && event->sequence == 1 && event->lost == 0, "it is the first event");
    check(lost.revoked(), "and it says so when it is asked");
    check(is_gone(map.data()), "the mapping is revoked before the event is delivered");
    check(!is_readable(kept, 0) && !kept.next_event(), "another pin does not hear of it");
    check(!kept.revoked(), "nor is it gone");
    driver.free(first);
    check(is_readable(kept, 60'000) && kept.next_event().has_value(), "until it is");
}

void in_persistent_mode(cuda const& driver, barmap::device const& gpu) {
    std::uintptr_t const address = driver.allocate(65536);
    barmap::pin_options how;
    how.events = true;
    try {
        (void)gpu.pin(address, 65536, how);
        check(false, "events are refused");
    } catch (barmap::error const& failure) {
        std::printf("    %s\n", failure.what());
        check(failure.code() == barmap::errc::unsupported_operation, "as not supported");
    }
    driver.free(address);
}

} // namespace

int main(int count, char** words) {
    cuda const driver;
    barmap::device const gpu = barmap::device::open(0);
    std::string_view const mode = count == 2 ? words[1] : "";
    check(gpu.backends().front().events == (mode == "callback"), "its report mentions events");
    if (mode == "callback")
        in_callback_mode(driver, gpu);
    else
        in_persistent_mode(driver, gpu);
    return failures != 0;
}
