// SPDX-License-Identifier: MIT
#include "signal/arena_state.hpp"

#include "base/checkpoint.hpp"
#include "base/forked_child.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>
#include <barmap/signal_words.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace barmap {

free_ranges::free_ranges(std::size_t bytes) {
    if (bytes != 0)
        ranges_.emplace(0, bytes);
}

std::optional<std::size_t> free_ranges::take(std::size_t bytes) {
    auto const found =
        std::ranges::find_if(ranges_, [&](auto const& it) { return it.second >= bytes; });
    if (found == ranges_.end())
        return std::nullopt;
    std::size_t const at = found->first;
    take_at(at, bytes);
    return at;
}

bool free_ranges::take_at(std::size_t at, std::size_t bytes) {
    auto const behind = ranges_.upper_bound(at);
    if (behind == ranges_.begin())
        return false;
    auto const found = std::prev(behind);
    auto const [from, size] = *found;
    std::size_t const before = at - from;
    if (before > size || bytes > size - before)
        return false;
    ranges_.erase(found);
    if (before != 0)
        ranges_.emplace(from, before);
    if (std::size_t const left = size - before - bytes; left != 0)
        ranges_.emplace(at + bytes, left);
    return true;
}

void free_ranges::give_back(std::size_t at, std::size_t bytes) {
    auto next = ranges_.lower_bound(at);
    if (next != ranges_.end() && at + bytes == next->first) {
        bytes += next->second;
        next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
        auto const before = std::prev(next);
        if (before->first + before->second == at) {
            before->second += bytes;
            return;
        }
    }
    ranges_.emplace_hint(next, at, bytes);
}

namespace {

std::size_t whole(std::size_t bytes, std::size_t unit = arena::alignment) {
    return (bytes + unit - 1) / unit * unit;
}

constexpr char open_it[] = "open shared memory";
constexpr char as_received[] = "give a descriptor that share() made, as it was received";

} // namespace

arena_state::arena_state(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
                         std::string_view backend)
    : gpu(of), gpu_block(whole(gpu_bytes)), host_block(whole(host_bytes)) {
    if (gpu_bytes != 0) {
        memory = of.allocate(whole(gpu_bytes), backend);
        map = memory.map();
        gpu_block.data = map.data();
        gpu_block.gpu_address = memory.gpu_address();
    }
    if (host_bytes != 0) {
        std::size_t const bytes = whole(host_bytes, os::page_size());
        host_file = os::memory_file(bytes);
        host = os::region::shared_memory(bytes, host_file.get());
        registration.emplace(cuda::device_with(of.ordinal()), std::span(host.data(), bytes),
                             "it can have no rings to the CPU and no calls");
        host_block.data = host.data();
        host_block.gpu_address = registration->gpu_address();
    }
}

arena_state::arena_state(pin shared, os::fd host_memory, std::vector<std::size_t> gpu_parts,
                         std::vector<std::size_t> host_parts)
    : memory(std::move(shared)), map(memory.map()), host_file(std::move(host_memory)),
      gpu_block(map.size()), host_block(0) {
    gpu_block.data = map.data();
    gpu_block.shared = std::move(gpu_parts);
    host_block.shared = std::move(host_parts);
    // Stores of a whole line fault at any other alignment.
    if (reinterpret_cast<std::uintptr_t>(map.data()) % arena::alignment != 0)
        throw error(errc::invalid_argument, open_it, "", as_received);
    if (!host_file)
        return;
    if (!os::is_lasting_memory(host_file.get()))
        throw error(errc::invalid_argument, open_it, "", as_received);
    // Read the size only now: the file can no longer shrink.
    std::size_t const bytes = os::file_size(host_file.get()).value_or(0);
    if (bytes == 0)
        throw error(errc::invalid_argument, open_it, "", as_received);
    host = os::region::shared_memory(bytes, host_file.get());
    host_block.free = free_ranges(bytes);
    host_block.data = host.data();
}

namespace {

/// Where the next part of an opened arena lies, if all of it is the arena's and no other part's.
std::optional<std::size_t> take_shared(arena_block& from, std::size_t bytes) {
    if (from.shared.empty())
        return std::nullopt;
    std::size_t const at = from.shared.back();
    from.shared.pop_back();
    if (at % arena::alignment != 0 || !from.free.take_at(at, bytes))
        return std::nullopt;
    return at;
}

/// @throws error errc::forked_child
void expect_own_process(arena_state const& memory, std::string const& operation) {
    if (!os::is_this_process(memory.owner))
        throw error(errc::forked_child, operation, "",
                    std::string("use the arena in the process that made it; ") +
                        left_to_forked_children);
}

std::size_t take(arena_state& from, arena_block& block, std::size_t bytes, char const* what) {
    std::string const operation =
        "take " + std::to_string(bytes) + " bytes of " + what + " memory from an arena";
    auto const refuse = [&](errc code, std::string advice) {
        throw error(code, operation, "", std::move(advice));
    };
    expect_own_process(from, operation);
    checkpoint::pass const here(operation); // the caller will write to what it takes
    if (bytes == 0)
        refuse(errc::invalid_argument, "give a size greater than 0");
    std::optional<std::size_t> found;
    if (std::size_t const size = whole(bytes); size >= bytes) { // else it has wrapped round
        std::lock_guard const hold(from.lock);
        found = from.gpu ? block.free.take(size) : take_shared(block, size);
    }
    if (!found && !from.gpu)
        throw error(errc::invalid_argument, open_it, "", as_received);
    if (!found)
        refuse(errc::out_of_range, "make the arena larger: no part of that size is left");
    return *found;
}

} // namespace

namespace {

constexpr char wait_it[] = "have a stream wait for a word", write_it[] = "have a stream store a word";

/// @return the result of work for a stream of this GPU @throws error
template <class Entry, class... Arguments>
void on_stream(barmap_arena_part const* part, Entry entry, char const* what, void* stream,
               Arguments... arguments) {
    char const* const advice = "the driver does not let streams wait for 64-bit words and store "
                               "them: use a kernel (barmap/gpu/counter.cuh)";
    arena_state const& memory = *c::expect(part, what, "take a part of an arena first").owner;
    expect_own_process(memory, what);
    if (!memory.gpu)
        throw error(errc::unsupported_operation, what, "",
                    "call it in the process that made the counter");
    checkpoint::pass const here(what);
    if (!entry)
        throw error(errc::unsupported_operation, what, "", advice);
    auto const scope = cuda::context_scope::on_device(cuda::device_with(memory.gpu->ordinal()));
    CUresult const result =
        entry(static_cast<CUstream>(stream), part->block().gpu_address + part->at, arguments...);
    if (result == cuda::error_not_supported)
        throw error(errc::unsupported_operation, what, "", advice);
    cuda::check(result, what, "give a stream of this GPU that still exists");
}

} // namespace
} // namespace barmap

using namespace barmap;
using c::attempt;
using c::make;

barmap_arena_part::barmap_arena_part(std::shared_ptr<arena_state> of, int which, std::size_t bytes)
    : owner(std::move(of)), is_of_gpu(which == BARMAP_OF_GPU), size(bytes),
      at(take(*owner, block(), bytes, is_of_gpu ? "GPU" : "host")) {}

barmap_arena_part::~barmap_arena_part() {
    if (!is_own()) // in a child, the lock may be held forever
        return;
    std::lock_guard const hold(owner->lock);
    try {
        block().free.give_back(at, whole(size));
    } catch (std::bad_alloc const&) {
        // Its bytes become free with the arena.
    }
}

int barmap_arena_create(barmap_device* device, std::size_t gpu_bytes, std::size_t host_bytes,
                        char const* backend, barmap_arena** out) {
    static constexpr char operation[] = "make an arena";
    return make(out, operation, [&] {
        barmap::device const of(
            barmap_device_retain(&c::expect(device, operation, "create a device first")));
        return std::make_unique<barmap_arena>(
            std::make_shared<arena_state>(of, gpu_bytes, host_bytes, backend ? backend : ""));
    });
}

barmap_arena* barmap_arena_retain(barmap_arena* arena) {
    return c::retain(arena);
}

void barmap_arena_destroy(barmap_arena* arena) {
    c::release(arena);
}

barmap_device* barmap_arena_device(barmap_arena const* arena) {
    return arena->state->gpu ? arena->state->gpu->c_handle() : nullptr;
}

int barmap_arena_kind(barmap_arena const* arena) {
    return static_cast<int>(arena->state->map.kind());
}

int barmap_arena_take(barmap_arena* arena, int block, std::size_t bytes, barmap_arena_part** out) {
    static constexpr char operation[] = "take a part of an arena";
    return make(out, operation, [&] {
        auto const& state = c::expect(arena, operation, "make an arena first").state;
        if (block != BARMAP_OF_GPU && block != BARMAP_OF_HOST)
            throw error(errc::invalid_argument, operation, "",
                        "give a value of enum barmap_arena_block");
        return std::make_unique<barmap_arena_part>(state, block, bytes);
    });
}

void barmap_arena_part_place(barmap_arena_part const* part, barmap_part_place* place) {
    arena_block const& block = part->block();
    *place = {block.data + part->at, part->size,
              block.gpu_address == 0 ? 0 : block.gpu_address + part->at,
              part->is_of_gpu ? part->owner->map.window().plan : nullptr};
}

int barmap_arena_part_is_own(barmap_arena_part const* part) {
    return part->is_own() ? 1 : 0;
}

int barmap_arena_part_publish(barmap_arena_part const* part, std::size_t index,
                              std::uint64_t value) {
    return attempt([&] {
        checkpoint::pass const here("store a word of GPU memory");
        auto* const word = reinterpret_cast<gpu::word*>(part->block().data + part->at) + index;
        detail::order_loads_before_stores();
        if (!part->is_of_gpu || part->owner->map.kind() == cache_kind::cached) {
            gpu::store_release(word, value);
            return;
        }
        flush_stores();
        window const whole = part->owner->map.window();
        post(window{reinterpret_cast<std::byte*>(word), sizeof value, whole.plan}, value);
        flush_stores();
    });
}

int barmap_arena_part_stream_wait(barmap_arena_part const* part, void* stream,
                                  std::uint64_t at_least) {
    return attempt([&] {
        on_stream(part, cuda::api().stream_wait_value64, wait_it, stream, at_least,
                  cuda::wait_value_geq);
    });
}

int barmap_arena_part_stream_write(barmap_arena_part const* part, void* stream,
                                   std::uint64_t value) {
    return attempt(
        [&] { on_stream(part, cuda::api().stream_write_value64, write_it, stream, value, 0); });
}

void barmap_arena_part_destroy(barmap_arena_part* part) {
    c::free_handle(part);
}
