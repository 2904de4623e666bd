// SPDX-License-Identifier: MIT
#include "judgement.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "system/environment.hpp"
#include "system/numa.hpp"

#include <barmap/report.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace barmap::memcpy_dropin {
namespace {

using cuda::address_range;
using cuda::memory_side;

/// Those that CUDA refuses: of NULL, and the legacy default stream.
bool is_default(CUstream stream) noexcept {
    constexpr std::uintptr_t legacy = 1; // CU_STREAM_LEGACY
    return reinterpret_cast<std::uintptr_t>(stream) <= legacy;
}

bool is_with_host(memory_pair way) noexcept {
    return way == memory_pair::to_gpu || way == memory_pair::to_cpu;
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
    constexpr int none = 0, host = 2, host_numa = 3;
    if (hint.type == cuda::location_type_device)
        return hint.id >= 0 && hint.id < gpu_count();
    if (hint.type == host_numa)
        return os::has_numa_node(hint.id);
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
    static limits const read = [] {
        auto const of_size = [](std::string_view pieces, std::string_view piece) {
            return limits::of_size{policy_value(pieces), policy_value(piece)};
        };
        limits made{.with_host = of_size("taken_pieces", "taken_piece"),
                    .of_small = of_size("taken_small_pieces", "taken_small_piece"),
                    .busy_mean_bytes = policy_value("taken_busy_piece"),
                    .inside_gpu = of_size("taken_pieces_inside", "taken_piece_inside"),
                    .between_gpus = of_size("taken_pieces_between", "taken_piece_between"),
                    .large_mean_bytes = policy_value("taken_large_piece"),
                    .least_bytes_of_large = policy_value("taken_large_batch"),
                    .short_large_pieces = policy_value("short_large_pieces"),
                    .large_piece = policy_value("large_piece"),
                    .least_pieces = 0};
        made.least_pieces =
            std::min({made.with_host.least_pieces, made.of_small.least_pieces,
                      made.inside_gpu.least_pieces, made.between_gpus.least_pieces});
        return made;
    }();
    return read;
}

limits::of_size const& limits::of(memory_pair way) const noexcept {
    switch (way) {
    case memory_pair::inside_gpu:
        return inside_gpu;
    case memory_pair::between_gpus:
        return between_gpus;
    default:
        return with_host;
    }
}

std::size_t limits::least_pieces_of(memory_pair way) const noexcept {
    std::size_t const least = of(way).least_pieces;
    return is_with_host(way) ? std::min(least, of_small.least_pieces) : least;
}

bool is_turned_off() noexcept {
    static bool const result = [] {
        char const* const engine = os::environment("BARMAP_ENGINE");
        return engine && std::string_view(engine) == "none";
    }();
    return result;
}

std::optional<reason> judge_arguments(batch_call const& call, std::size_t& bytes) {
    if (is_default(call.stream))
        return reason::default_stream;
    if (!call.to || !call.from || !call.bytes || !call.attributes || !call.first_of ||
        !are_in_order(call))
        return reason::refused_by_cuda;
    for (CUmemcpyAttributes const& each : std::span(call.attributes, call.attribute_count))
        if (auto const why = judge_attribute(each))
            return why;
    bytes = 0;
    for (std::size_t const each : std::span(call.bytes, call.count)) {
        if (each == 0)
            return reason::refused_by_cuda;
        if (__builtin_add_overflow(bytes, each, &bytes))
            return reason::large_pieces;
    }
    return std::nullopt;
}

std::optional<reason> judge_lists(batch_call const& call, std::size_t& bytes) {
    if (has_too_few(call))
        return reason::few_pieces;
    if (auto const why = judge_arguments(call, bytes))
        return why;
    limits const& limit = limits::in_force();
    std::size_t const most_mean =
        std::max({limit.with_host.most_mean_bytes, limit.inside_gpu.most_mean_bytes,
                  limit.between_gpus.most_mean_bytes});
    if (bytes > call.count * most_mean)
        return reason::large_pieces;
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
    if (latest.side == memory_side::apart)
        return reason::other_gpu;
    return std::nullopt;
}

/// @param latest the ranges that were asked for last
std::optional<reason> judge_piece(batch_call const& call, std::size_t i,
                                  cuda::address_ranges& asked, sides& latest, memory_pair& way) {
    if (auto const why = judge_side(call.to[i], call.bytes[i], asked, latest.to))
        return why;
    if (auto const why = judge_side(call.from[i], call.bytes[i], asked, latest.from))
        return why;
    bool const to_host = latest.to.side == memory_side::host;
    bool const from_host = latest.from.side == memory_side::host;
    if (to_host && from_host)
        return reason::host_to_host;
    way = to_host     ? memory_pair::to_cpu
          : from_host ? memory_pair::to_gpu
          : latest.to.side == memory_side::gpu && latest.from.side == memory_side::gpu
              ? memory_pair::inside_gpu
              : memory_pair::between_gpus;
    return std::nullopt;
}

} // namespace

std::optional<reason> judge_first(batch_call const& call, cuda::address_ranges& asked,
                                  judged_batch& batch) {
    return judge_piece(call, 0, asked, batch.first, batch.way);
}

namespace {

/// By how many pieces there are, and how large they are.
std::optional<reason> compare(std::size_t count, std::size_t bytes, memory_pair way) {
    limits const& limit = limits::in_force();
    limits::of_size const& its = limit.of(way);
    bool const is_small = is_with_host(way) && bytes <= count * limit.of_small.most_mean_bytes;
    if (count < (is_small ? limit.of_small.least_pieces : its.least_pieces))
        return reason::few_pieces;
    bool const is_the_cores =
        count <= limit.short_large_pieces && bytes / limit.large_piece >= count;
    if (is_the_cores || bytes > count * its.most_mean_bytes)
        return reason::large_pieces;
    return std::nullopt;
}

} // namespace

std::optional<reason> judge_size(std::size_t count, std::size_t bytes, memory_pair way,
                                 bool beside_stores) {
    limits const& limit = limits::in_force();
    if (auto const why = compare(count, bytes, way))
        return why;
    if (!is_with_host(way) || bytes / count < limit.large_mean_bytes)
        return std::nullopt;
    if (bytes < limit.least_bytes_of_large)
        return reason::small_batch;
    if (beside_stores && way == memory_pair::to_gpu)
        return reason::beside_stores;
    return std::nullopt;
}

bool needs_idle_stream(std::size_t count, std::size_t bytes, memory_pair way) {
    limits const& limit = limits::in_force();
    return is_with_host(way) && count < limit.with_host.least_pieces &&
           bytes > count * limit.busy_mean_bytes;
}

std::optional<reason> judge_place(batch_call const& call, judged_batch const& batch) {
    if (!needs_idle_stream(call.count, batch.bytes, batch.way))
        return std::nullopt;
    cuda::relaxed_capture const relaxed; // keeps a capture of another thread valid
    if (cuda::api().stream_query(call.stream) == cuda::error_not_ready)
        return reason::behind_work;
    return std::nullopt;
}

std::optional<reason> judge_memory(batch_call const& call, cuda::address_ranges& asked,
                                   judged_batch& batch) {
    batch.pieces.reserve(call.count);
    sides latest = batch.first;
    bool any_to_cpu = false, any_to_gpu = false;
    for (std::size_t i = 0; i < call.count; ++i) {
        memory_pair way = batch.way;
        if (auto const why = judge_piece(call, i, asked, latest, way))
            return why;
        any_to_cpu |= way == memory_pair::to_cpu;
        any_to_gpu |= way == memory_pair::to_gpu;
        batch.pieces.push_back({call.to[i], call.from[i], call.bytes[i]});
    }
    batch.way = any_to_cpu ? memory_pair::to_cpu : any_to_gpu ? memory_pair::to_gpu : batch.way;
    return std::nullopt;
}

} // namespace barmap::memcpy_dropin
