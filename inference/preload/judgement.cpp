// SPDX-License-Identifier: MIT
#include "judgement.hpp"

#include "cuda/driver_api.hpp"

#include <barmap/report.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

namespace barmap::memcpy_dropin {
namespace {

using cuda::address_range;
using cuda::memory_side;

/// Those of NULL, of the legacy default stream and of the one of each thread, whose one handle does
/// not say which stream it is.
bool is_default(CUstream stream) noexcept {
    constexpr std::uintptr_t per_thread = 2; // CU_STREAM_PER_THREAD
    return reinterpret_cast<std::uintptr_t>(stream) <= per_thread;
}

int gpu_count() {
    static int const count = [] {
        int found = 0;
        return cuda::api().device_get_count(&found) == cuda::success ? found : 0;
    }();
    return count;
}

/// Hints say where managed and pageable memory is, which is not taken. One that CUDA may refuse
/// is left to it: above all a GPU that does not exist.
bool is_known(CUmemLocation const& hint) {
    constexpr int none = 0, host = 2;
    if (hint.type == cuda::location_type_device)
        return hint.id >= 0 && hint.id < gpu_count();
    return (hint.type == none || hint.type == host) && hint.id >= 0;
}

std::optional<reason> judge_attribute(CUmemcpyAttributes const& each) {
    constexpr unsigned prefer_overlap_with_compute = 1; // which the engine does anyway
    if (each.srcAccessOrder == cuda::source_order_during_call)
        return reason::during_call;
    bool const is_order_kept = each.srcAccessOrder == cuda::source_order_stream ||
                               each.srcAccessOrder == cuda::source_order_any;
    if (!is_order_kept || (each.flags & ~prefer_overlap_with_compute) != 0 ||
        !is_known(each.srcLocHint) || !is_known(each.dstLocHint))
        return reason::unknown_attribute;
    return std::nullopt;
}

/// Whether the attributes are for all pieces, in order. A list is read only where its length can be
/// true: CUDA refuses more attributes than pieces without reading them.
bool are_in_order(batch_call const& call) noexcept {
    if (call.attribute_count == 0 || call.attribute_count > call.count)
        return false;
    std::span const first(call.first_of, call.attribute_count);
    return first.front() == 0 && first.back() < call.count &&
           std::ranges::adjacent_find(first, std::ranges::greater_equal{}) == first.end();
}

} // namespace

limits const& limits::in_force() {
    static limits const read{policy_value("taken_piece"), policy_value("taken_large_piece"),
                             policy_value("taken_large_batch"), policy_value("taken_pieces")};
    return read;
}

std::optional<reason> judge_lists(batch_call const& call) {
    limits const& limit = limits::in_force();
    if (call.count < limit.least_pieces)
        return reason::few_pieces;
    if (is_default(call.stream))
        return reason::default_stream;
    if (!call.to || !call.from || !call.bytes || !call.attributes || !call.first_of ||
        !are_in_order(call))
        return reason::refused_by_cuda;
    for (CUmemcpyAttributes const& each : std::span(call.attributes, call.attribute_count))
        if (auto const why = judge_attribute(each))
            return why;
    std::size_t sum = 0;
    for (std::size_t const bytes : std::span(call.bytes, call.count)) {
        if (bytes == 0)
            return reason::refused_by_cuda;
        if (bytes > call.count * limit.most_mean_bytes - sum)
            return reason::large_pieces;
        sum += bytes;
    }
    return std::nullopt;
}

std::optional<reason> judge_capture(CUstream stream) {
    int status = cuda::capture_status_none;
    if (cuda::api().stream_is_capturing(stream, &status) != cuda::success)
        return reason::refused_by_cuda;
    if (status != cuda::capture_status_none)
        return reason::captured;
    return std::nullopt;
}

namespace {

/// One side of a piece.
std::optional<reason> judge_side(CUdeviceptr at, std::size_t bytes, cuda::address_ranges& asked,
                                 address_range& latest) {
    CUdeviceptr const last = at + (bytes - 1);
    if (latest.holds(at) && latest.holds(last)) // which was judged
        return std::nullopt;
    latest = asked.find(at);
    if (latest.side == memory_side::unknown || !latest.holds(last))
        return reason::unknown_memory;
    if (latest.side == memory_side::both)
        return reason::managed_memory;
    if (latest.is_synchronous)
        return reason::synchronous_memory;
    if (latest.side == memory_side::apart)
        return reason::other_gpu;
    return std::nullopt;
}

/// The ranges that were asked for last, of both sides of a piece.
struct sides {
    address_range to, from;
};

std::optional<reason> judge_piece(batch_call const& call, std::size_t i,
                                  cuda::address_ranges& asked, sides& latest,
                                  direction& way) {
    if (auto const why = judge_side(call.to[i], call.bytes[i], asked, latest.to))
        return why;
    if (auto const why = judge_side(call.from[i], call.bytes[i], asked, latest.from))
        return why;
    bool const to_host = latest.to.side == memory_side::host;
    bool const from_host = latest.from.side == memory_side::host;
    if (to_host && from_host)
        return reason::host_to_host;
    way = to_host     ? direction::to_cpu
          : from_host ? direction::to_gpu
                      : direction::among_gpus;
    return std::nullopt;
}

} // namespace

std::optional<reason> judge_first(batch_call const& call, cuda::address_ranges& asked,
                                  judged_batch& batch) {
    batch.bytes = std::accumulate(call.bytes, call.bytes + call.count, std::size_t{0});
    sides latest;
    return judge_piece(call, 0, asked, latest, batch.way);
}

std::optional<reason> judge_size(batch_call const& call, judged_batch const& batch,
                                 bool other_way_is_in_flight) noexcept {
    limits const& limit = limits::in_force();
    if (batch.way == direction::among_gpus ||
        batch.bytes / call.count < limit.large_mean_bytes)
        return std::nullopt;
    if (batch.bytes < limit.least_bytes_of_large)
        return reason::small_batch;
    if (other_way_is_in_flight)
        return reason::beside_other_way;
    return std::nullopt;
}

std::optional<reason> judge_memory(batch_call const& call, cuda::address_ranges& asked,
                                   judged_batch& batch) {
    batch.pieces.reserve(call.count);
    sides latest;
    for (std::size_t i = 0; i < call.count; ++i) {
        direction way = batch.way;
        if (auto const why = judge_piece(call, i, asked, latest, way))
            return why;
        if (way != batch.way)
            return reason::both_ways;
        batch.pieces.push_back({call.to[i], call.from[i], call.bytes[i]});
    }
    return std::nullopt;
}

} // namespace barmap::memcpy_dropin
