// SPDX-License-Identifier: MIT
#include "moving_bytes.hpp"
#include "world.hpp"

#include <cstdint>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// One end of a copy, as the caller names it.
struct end_point {
    CUdeviceptr address;
    bool known; ///< must be device, managed or host memory that the driver knows
};

end_point device_end(CUdeviceptr address) {
    return {address, true};
}

/// Any memory: addresses are unified, so that a host pointer may be a device's and the reverse.
end_point any_end(CUdeviceptr address) {
    return {address, false};
}

end_point any_end(void const* pointer) {
    return any_end(reinterpret_cast<CUdeviceptr>(pointer));
}

/// The same as the simulated driver sees it.
struct found_end {
    std::byte* at;
    bool pageable; ///< ordinary memory, which the driver stages
};

found_end find(end_point end, std::size_t bytes) {
    require(end.known || end.address != 0);
    if (std::byte* const at = the_world().addresses.resolve(end.address, bytes))
        return {at, false};
    require(!end.known);
    auto* const at = reinterpret_cast<std::byte*>(end.address);
    require(is_there(at) && is_there(at + bytes - 1)); // freed memory of the GPU is not
    return {at, true};
}

void copy_now(world_lock& lock, end_point to, end_point from, std::size_t bytes) {
    context& in = current_context();
    if (bytes)
        run_now(in, lock, [to = find(to, bytes).at, from = find(from, bytes).at, bytes] {
            move_bytes(to, from, bytes);
        });
}

CUresult copy_now(char const* name, end_point to, end_point from, std::size_t bytes) {
    return call(name, [&](world_lock& lock) { copy_now(lock, to, from, bytes); });
}

// As documented for the real driver: a pageable source has been read when the call returns, and a
// pageable destination has been written.
CUresult copy_later(char const* name, end_point to_end, end_point from_end, std::size_t bytes,
                    CUstream stream) {
    return call(name, [&](world_lock& lock) {
        if (!bytes)
            return;
        found_end const to = find(to_end, bytes), from = find(from_end, bytes);
        auto const queue = get_stream(stream);
        auto& work = the_world().work;
        if (from.pageable && !to.pageable) {
            auto staged = std::make_shared<std::vector<std::byte>>(from.at, from.at + bytes);
            work.submit(queue, [=] { move_bytes(to.at, staged->data(), bytes); });
            return;
        }
        auto const done = work.submit(queue, [=] { move_bytes(to.at, from.at, bytes); });
        if (to.pageable)
            wait_for({done}, lock);
    });
}

template <class Word>
std::uint64_t repeated(Word value) {
    return ~std::uint64_t{0} / static_cast<Word>(~Word{0}) * value;
}

template <class Word>
CUresult set_now(char const* name, CUdeviceptr address, Word value, std::size_t count) {
    return call(name, [&](world_lock& lock) {
        context& in = current_context();
        if (!count)
            return;
        require(address % sizeof value == 0);
        std::byte* const to = find(device_end(address), count * sizeof value).at;
        run_now(in, lock, [=] { fill_bytes(to, repeated(value), count * sizeof value); });
    });
}

template <class Word>
CUresult set_later(char const* name, CUdeviceptr address, Word value, std::size_t count,
                   CUstream stream) {
    return call(name, [&](world_lock&) {
        auto const queue = get_stream(stream);
        if (!count)
            return;
        require(address % sizeof value == 0);
        std::byte* const to = find(device_end(address), count * sizeof value).at;
        the_world().work.submit(queue,
                                [=] { fill_bytes(to, repeated(value), count * sizeof value); });
    });
}

} // namespace

BARMAP_SIM_ENTRY cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_now("cuMemcpy", any_end(to), any_end(from), bytes);
}

BARMAP_SIM_ENTRY cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, std::size_t bytes) {
    return copy_now("cuMemcpyHtoD", device_end(to), any_end(from), bytes);
}

BARMAP_SIM_ENTRY cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return copy_now("cuMemcpyDtoH", any_end(to), device_end(from), bytes);
}

BARMAP_SIM_ENTRY cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_now("cuMemcpyDtoD", device_end(to), device_end(from), bytes);
}

BARMAP_SIM_ENTRY cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                              std::size_t bytes) {
    return call("cuMemcpyPeer", [&](world_lock& lock) {
        (void)current_context();
        (void)live_context(there);
        (void)live_context(here);
        copy_now(lock, device_end(to), device_end(from), bytes);
    });
}

BARMAP_SIM_ENTRY cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                               CUstream stream) {
    return copy_later("cuMemcpyAsync", any_end(to), any_end(from), bytes, stream);
}

BARMAP_SIM_ENTRY cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, std::size_t bytes,
                                      CUstream stream) {
    return copy_later("cuMemcpyHtoDAsync", device_end(to), any_end(from), bytes, stream);
}

BARMAP_SIM_ENTRY cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
    return copy_later("cuMemcpyDtoHAsync", any_end(to), device_end(from), bytes, stream);
}

BARMAP_SIM_ENTRY cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
    return copy_later("cuMemcpyDtoDAsync", device_end(to), device_end(from), bytes, stream);
}

BARMAP_SIM_ENTRY cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
    return set_now("cuMemsetD8", to, value, count);
}

BARMAP_SIM_ENTRY cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
    return set_now("cuMemsetD16", to, value, count);
}

BARMAP_SIM_ENTRY cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
    return set_now("cuMemsetD32", to, value, count);
}

BARMAP_SIM_ENTRY cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                 CUstream stream) {
    return set_later("cuMemsetD8Async", to, value, count, stream);
}

BARMAP_SIM_ENTRY cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                  CUstream stream) {
    return set_later("cuMemsetD32Async", to, value, count, stream);
}
