// SPDX-License-Identifier: MIT
#include "moving_bytes.hpp"
#include "world.hpp"

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// One side of a copy of rows, as the simulated driver sees it.
struct side {
    std::byte* at = nullptr;
    std::size_t pitch = 0;
    bool pageable = false; ///< ordinary memory, which the driver stages
};

side find_side(int type, void const* host, CUdeviceptr device, std::size_t pitch, std::size_t x,
               std::size_t y, std::size_t width, std::size_t rows) {
    bool const in_host_memory = type == int(memory_type_host);
    require(in_host_memory || type == int(memory_type_device) || type == int(memory_type_unified));
    require(rows == 1 || pitch >= x + width);
    CUdeviceptr const start =
        (in_host_memory ? reinterpret_cast<CUdeviceptr>(host) : device) + y * pitch + x;
    require(start != 0);
    std::byte* const at = the_world().addresses.resolve(start, pitch * (rows - 1) + width);
    require(at || type != int(memory_type_device));
    if (at)
        return {at, pitch, false};
    auto* const pageable = reinterpret_cast<std::byte*>(start);
    require(is_there(pageable) && is_there(pageable + pitch * (rows - 1) + width - 1));
    return {pageable, pitch, true};
}

struct copy_of_rows {
    side to, from;
    std::size_t width, rows;

    void run() const {
        for (std::size_t row = 0; row < rows; ++row)
            move_bytes(to.at + row * to.pitch, from.at + row * from.pitch, width);
    }
};

copy_of_rows checked(CUDA_MEMCPY2D const* given) {
    require(given != nullptr);
    CUDA_MEMCPY2D const& what = *given;
    return {find_side(what.dstMemoryType, what.dstHost, what.dstDevice, what.dstPitch,
                      what.dstXInBytes, what.dstY, what.WidthInBytes, what.Height),
            find_side(what.srcMemoryType, what.srcHost, what.srcDevice, what.srcPitch,
                      what.srcXInBytes, what.srcY, what.WidthInBytes, what.Height),
            what.WidthInBytes, what.Height};
}

bool is_empty(CUDA_MEMCPY2D const* what) {
    return what && (what->WidthInBytes == 0 || what->Height == 0);
}

CUresult copy_rows_now(char const* name, CUDA_MEMCPY2D const* what) {
    return call(name, [&](world_lock& lock) {
        context& in = current_context();
        if (is_empty(what))
            return;
        copy_of_rows const copy = checked(what);
        run_now(in, lock, [=] { copy.run(); });
    });
}

} // namespace

BARMAP_SIM_ENTRY cuMemcpy2D_v2(CUDA_MEMCPY2D const* what) {
    return copy_rows_now("cuMemcpy2D", what);
}

BARMAP_SIM_ENTRY cuMemcpy2DUnaligned_v2(CUDA_MEMCPY2D const* what) {
    return copy_rows_now("cuMemcpy2DUnaligned", what);
}

// A pageable side is not staged: the call waits instead, which is more than is promised.
BARMAP_SIM_ENTRY cuMemcpy2DAsync_v2(CUDA_MEMCPY2D const* what, CUstream stream) {
    return call("cuMemcpy2DAsync", [&](world_lock& lock) {
        auto const queue = get_stream(stream);
        if (is_empty(what))
            return;
        copy_of_rows const copy = checked(what);
        auto const done = the_world().work.submit(queue, [=] { copy.run(); });
        if (copy.to.pageable || copy.from.pageable)
            wait_for({done}, lock);
    });
}
