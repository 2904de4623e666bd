// SPDX-License-Identifier: MIT
// What a program meets, whatever it was built with. Prints what must be the same for each.
// Usage: program [PLUGIN...]
#include <barmap/barmap.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace {

void tell(barmap::error const& failure) {
    std::printf("%s | %s | %s | %s | %s %d\n", failure.what(), failure.operation().c_str(),
                failure.backend().c_str(), failure.advice().c_str(),
                failure.code().category().name(), failure.code().value());
}

template <class Body>
void tell_failure(Body body) {
    try {
        body();
        std::puts("nothing was thrown");
    } catch (barmap::error const& failure) {
        tell(failure);
    }
}

void errors(barmap::device const& gpu) {
    tell_failure([] { (void)barmap::device::open(99); });
    tell_failure([&] { (void)gpu.allocate(16, std::string(10'000, 'x')); });
    tell_failure([&] { (void)gpu.allocate(std::size_t{1} << 46); });
    barmap::mapping const map = gpu.allocate(4096).map();
    tell_failure([&] { map.copy_to_gpu(4090, std::array<char, 10>{}); });
    barmap::batch_queue queue = gpu.batch_queue();
    std::array<barmap::copy_piece, 2> pieces{};
    pieces[1] = {1, 0, 8};
    try {
        (void)queue.submit(pieces);
    } catch (barmap::error const& failure) {
        std::printf("piece %zu\n", failure.piece().value_or(99));
    }
    try {
        (void)barmap::read_until<char>(
            map.window(), [](char) -> bool { throw 7; }, {});
    } catch (int thrown) {
        std::printf("a predicate threw %d\n", thrown);
    }
    std::printf("%s; %s\n", std::error_code(2, barmap::cuda_category()).message().c_str(),
                std::error_code(12345, barmap::rm_category()).message().c_str());
}

void uses(barmap::device const& gpu) {
    std::printf("%s %s %d\n", gpu.name().c_str(), gpu.pci_address().c_str(), gpu.ordinal());
    barmap::pin const pin = gpu.allocate(1 << 20);
    barmap::mapping const map = pin.map();
    std::vector<int> numbers(1000, 42), back(1000);
    map.copy_to_gpu(4, numbers);
    map.copy_to_cpu(back, 4);
    barmap::write_value(map.window(), std::uint64_t{7});
    std::printf("%d %d\n", back == numbers, int(barmap::read_value<std::uint64_t>(map.window())));
    barmap::host_buffer const host = gpu.allocate_host(4096);
    barmap::batch_queue queue = gpu.batch_queue(), again = queue;
    barmap::copy_piece const piece{host.gpu_address(), pin.gpu_address(), 8};
    bool const is_done = again.wait(queue.submit({&piece, 1}), std::chrono::seconds(10));
    std::printf("%d %d %d\n", is_done, int(host.data()[0]), again.done({}));
    barmap::arena const words(gpu, 4096, 4096);
    barmap::counter_to_gpu counter(words);
    counter.advance(3);
    barmap::ring_to_gpu<int> ring(words, 4);
    bool const is_pushed = ring.try_push(1);
    std::printf("%d %zu %d\n", int(counter.value()), ring.depth(), is_pushed);
    std::printf("%zu %zu\n", gpu.backends().size(), barmap::settings().size());
}

/// Who catches what a plug-in throws.
void meet(char const* path) {
    void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        std::printf("%s\n", dlerror());
        return;
    }
    auto const catches = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_catches"));
    auto const throws = reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_throws"));
    std::printf("its own: %d\n", catches());
    std::fflush(stdout);
    try {
        throws();
    } catch (barmap::error const& failure) {
        std::printf("an error: %d %d\n", failure.code() == barmap::errc::no_device,
                    failure.code() == barmap::errc::out_of_range);
    } catch (std::system_error const& failure) {
        std::printf("a system_error: %d\n", std::strstr(failure.what(), "cannot open") != nullptr);
    } catch (...) {
        std::puts("something");
    }
}

} // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i)
        meet(arguments[i]);
    if (count > 1)
        return 0;
    barmap::device const gpu = barmap::device::open(0), copy = gpu;
    errors(copy);
    uses(copy);
}
