// SPDX-License-Identifier: MIT
#include "transfer.hpp"
#include "world.hpp"

#include <cstdint>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// One end of a copy, as the simulated driver sees it.
struct end_point {
    std::byte* at = nullptr;
    bool pageable = false; ///< ordinary memory, which the driver stages
};

/// Device, managed or host memory that the driver knows.
end_point device_end(CUdeviceptr address, std::size_t bytes) {
    std::byte* const at = the_world().addresses.resolve(address, bytes);
    require(at != nullptr);
    return {at, false};
}

/// Any memory: addresses are unified, so that a host pointer may be a device's and the reverse.
end_point any_end(CUdeviceptr address, std::size_t bytes) {
    require(address != 0);
    if (std::byte* const at = the_world().addresses.resolve(address, bytes))
        return {at, false};
    return {reinterpret_cast<std::byte*>(address), true};
}

end_point any_end(void const* pointer, std::size_t bytes) {
    return any_end(reinterpret_cast<CUdeviceptr>(pointer), bytes);
}

CUresult copy_now(world_lock& lock, end_point to, end_point from, std::size_t bytes) {
    run_now(current_context(), lock, [=] { move_bytes(to.at, from.at, bytes); });
    return success;
}

// As documented for the real driver: a pageable source has been read when the call returns, and a
// pageable destination has been written.
CUresult copy_later(world_lock& lock, CUstream stream, end_point to, end_point from,
                    std::size_t bytes) {
    auto const queue = get_stream(stream);
    auto& work = the_world().work;
    if (from.pageable && !to.pageable) {
        auto staged = std::make_shared<std::vector<std::byte>>(from.at, from.at + bytes);
        work.submit(queue, [=] { move_bytes(to.at, staged->data(), bytes); });
        return success;
    }
    auto const done = work.submit(queue, [=] { move_bytes(to.at, from.at, bytes); });
    if (to.pageable)
        wait_for({done}, lock);
    return success;
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
        std::byte* const to = device_end(address, count * sizeof value).at;
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
        std::byte* const to = device_end(address, count * sizeof value).at;
        the_world().work.submit(queue,
                                [=] { fill_bytes(to, repeated(value), count * sizeof value); });
    });
}

} // namespace

BARMAP_SIM_ENTRY cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return call("cuMemcpy", [&](world_lock& lock) {
        (void)current_context();
        return bytes ? copy_now(lock, any_end(to, bytes), any_end(from, bytes), bytes) : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, std::size_t bytes) {
    return call("cuMemcpyHtoD", [&](world_lock& lock) {
        (void)current_context();
        return bytes ? copy_now(lock, device_end(to, bytes), any_end(from, bytes), bytes) : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return call("cuMemcpyDtoH", [&](world_lock& lock) {
        (void)current_context();
        return bytes ? copy_now(lock, any_end(to, bytes), device_end(from, bytes), bytes) : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return call("cuMemcpyDtoD", [&](world_lock& lock) {
        (void)current_context();
        return bytes ? copy_now(lock, device_end(to, bytes), device_end(from, bytes), bytes)
                     : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                              std::size_t bytes) {
    return call("cuMemcpyPeer", [&](world_lock& lock) {
        (void)current_context();
        (void)live_context(there);
        (void)live_context(here);
        return bytes ? copy_now(lock, device_end(to, bytes), device_end(from, bytes), bytes)
                     : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                               CUstream stream) {
    return call("cuMemcpyAsync", [&](world_lock& lock) {
        return bytes ? copy_later(lock, stream, any_end(to, bytes), any_end(from, bytes), bytes)
                     : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, std::size_t bytes,
                                      CUstream stream) {
    return call("cuMemcpyHtoDAsync", [&](world_lock& lock) {
        return bytes ? copy_later(lock, stream, device_end(to, bytes), any_end(from, bytes), bytes)
                     : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
    return call("cuMemcpyDtoHAsync", [&](world_lock& lock) {
        return bytes ? copy_later(lock, stream, any_end(to, bytes), device_end(from, bytes), bytes)
                     : success;
    });
}

BARMAP_SIM_ENTRY cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
    return call("cuMemcpyDtoDAsync", [&](world_lock& lock) {
        return bytes
                   ? copy_later(lock, stream, device_end(to, bytes), device_end(from, bytes), bytes)
                   : success;
    });
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
