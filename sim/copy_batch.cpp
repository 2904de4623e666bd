// SPDX-License-Identifier: MIT
#include "moving_bytes.hpp"
#include "world.hpp"

#include <cstdint>
#include <limits>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

constexpr int since = 12080; ///< CUDA_VERSION of the first driver that has batches
constexpr std::size_t no_copy = std::numeric_limits<std::size_t>::max();

/// The lists that a batch is given.
struct batch {
    CUdeviceptr const* to;
    CUdeviceptr const* from;
    std::size_t const* sizes;
    std::size_t count;
    CUmemcpyAttributes const* attributes;
    std::size_t const* first_of;
    std::size_t attribute_count;
};

struct piece {
    std::byte* to;
    std::byte* from;
    std::size_t bytes;
    std::vector<std::byte> staged{}; ///< what was at `from` during the call, if it was read then
};

/// Memory of any kind; ordinary memory has to be there when the call is made.
std::byte* find_end(CUdeviceptr address, std::size_t bytes, bool& waits) {
    require(address != 0);
    if (std::byte* const at = the_world().addresses.resolve(address, bytes))
        return at;
    auto* const at = reinterpret_cast<std::byte*>(address);
    require(is_there(at) && is_there(at + bytes - 1));
    waits = true;
    return at;
}

void check_lists(batch const& given) {
    require(given.to && given.from && given.sizes && given.attributes && given.first_of);
    require(given.attribute_count > 0 && given.attribute_count <= given.count);
    require(given.first_of[0] == 0);
    for (std::size_t k = 1; k < given.attribute_count; ++k)
        require(given.first_of[k] > given.first_of[k - 1] && given.first_of[k] < given.count);
}

/// @param failed the copy that is refused, if one is
/// @param waits set where the call must return when the copies are done
std::vector<piece> checked(batch const& given, std::size_t& failed, bool& waits) {
    std::vector<piece> pieces;
    pieces.reserve(given.count);
    CUmemcpyAttributes const* how = given.attributes;
    for (std::size_t k = 0; k < given.count; ++k) {
        std::size_t const next = std::size_t(how - given.attributes) + 1;
        how += next < given.attribute_count && given.first_of[next] == k;
        failed = k;
        require(how->srcAccessOrder >= source_order_stream &&
                how->srcAccessOrder <= source_order_any && how->flags <= 1);
        std::size_t const bytes = given.sizes[k];
        require(bytes > 0);
        // With the other orders ordinary memory may be read long after the call.
        bool of_source = false;
        std::byte* const from = find_end(given.from[k], bytes, of_source);
        waits = waits || (of_source && how->srcAccessOrder == source_order_stream);
        pieces.push_back({find_end(given.to[k], bytes, waits), from, bytes});
        if (how->srcAccessOrder == source_order_during_call)
            pieces.back().staged.assign(from, from + bytes);
    }
    failed = no_copy;
    return pieces;
}

CUresult copy(world_lock& lock, batch const& given, std::size_t& failed, CUstream stream) {
    constexpr std::uintptr_t legacy = 1;
    failed = no_copy;
    require(the_world().driver_version >= since, error_not_found);
    require(reinterpret_cast<std::uintptr_t>(stream) > legacy);
    auto const queue = get_stream(stream);
    check_lists(given);
    bool waits = false;
    auto pieces = std::make_shared<std::vector<piece>>(checked(given, failed, waits));
    auto const done = the_world().work.submit(queue, [pieces] {
        // They are in no order.
        for (auto at = pieces->rbegin(); at != pieces->rend(); ++at)
            move_bytes(at->to, at->staged.empty() ? at->from : at->staged.data(), at->bytes);
    });
    if (waits)
        wait_for({done}, lock);
    return success;
}

} // namespace

BARMAP_SIM_ENTRY cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                                    std::size_t count, CUmemcpyAttributes* attributes,
                                    std::size_t* first_of, std::size_t attribute_count,
                                    std::size_t* failed, CUstream stream) {
    if (passes_over_a_batch())
        return success;
    return call("cuMemcpyBatchAsync", [&](world_lock& lock) {
        return copy(lock, {to, from, sizes, count, attributes, first_of, attribute_count},
                    out(failed), stream);
    });
}

// As CUDA 13 has it.
BARMAP_SIM_ENTRY cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                                       std::size_t count, CUmemcpyAttributes* attributes,
                                       std::size_t* first_of, std::size_t attribute_count,
                                       CUstream stream) {
    if (passes_over_a_batch())
        return success;
    return call("cuMemcpyBatchAsync", [&](world_lock& lock) {
        std::size_t failed = no_copy;
        return copy(lock, {to, from, sizes, count, attributes, first_of, attribute_count}, failed,
                    stream);
    });
}
