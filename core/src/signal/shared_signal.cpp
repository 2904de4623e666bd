// SPDX-License-Identifier: MIT
#include <barmap/shared_signal.hpp>

#include "signal/arena_state.hpp"
#include "system/parcel.hpp"

#include <barmap/error.hpp>
#include <barmap/pin.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {
namespace {

constexpr char open_it[] = "open shared memory";

constexpr std::size_t most_parts = 2; ///< of each block

/// The packed data. Its files are the descriptor that pin::share() makes of the GPU memory and, if
/// parts are of host memory, the file of that.
struct packed_signal {
    std::array<char, 8> magic;
    std::uint32_t version, kind;
    std::uint64_t message_bytes, slots, first;
    std::array<std::uint64_t, most_parts> gpu_parts,
        host_parts; ///< where they lie, filled up with 0
};
static_assert(sizeof(packed_signal) == 72);
constexpr std::array<char, 8> magic{'b', 'a', 'r', 'm', 'a', 'p', 's', 'g'};
constexpr std::uint32_t version = 1;

struct kind_traits {
    char const* name;
    std::size_t gpu_parts, host_parts;
    bool is_ring;
};
constexpr std::array kinds{
    kind_traits{"ring_to_gpu", 2, 1, true}, kind_traits{"ring_to_cpu", 1, 2, true},
    kind_traits{"counter_to_gpu", 1, 0, false}, kind_traits{"counter_to_cpu", 1, 1, false}};

kind_traits const& traits_of(signal_kind kind) {
    return kinds[static_cast<std::size_t>(kind) - 1];
}

[[noreturn]] void refuse(std::string advice) {
    throw error(errc::invalid_argument, open_it, "", std::move(advice));
}

[[noreturn]] void refuse() {
    refuse("give a descriptor that share() made, as it was received");
}

/// The first places, the next one last. @throws error unless the others are 0
std::vector<std::size_t> places(std::array<std::uint64_t, most_parts> const& packed,
                                std::size_t count) {
    if (std::any_of(packed.begin() + count, packed.end(), [](auto each) { return each != 0; }))
        refuse();
    return {packed.rend() - static_cast<std::ptrdiff_t>(count), packed.rend()};
}

packed_signal unpack(std::span<std::byte const> bytes) {
    packed_signal result{};
    if (bytes.size() < sizeof result.magic + sizeof result.version)
        refuse();
    std::memcpy(&result, bytes.data(), std::min(bytes.size(), sizeof result));
    if (result.magic != magic)
        refuse();
    if (result.version != version)
        throw error(errc::unsupported_operation, open_it, "",
                    "another version of barmap shared it: use one version in both processes");
    if (bytes.size() != sizeof result || result.kind == 0 || result.kind > kinds.size())
        refuse();
    kind_traits const& traits = kinds[result.kind - 1];
    bool const has_first = result.kind == static_cast<std::uint32_t>(signal_kind::counter_to_cpu);
    if ((!traits.is_ring && (result.message_bytes | result.slots) != 0) ||
        (!has_first && result.first != 0))
        refuse();
    return result;
}

} // namespace

int shared_signal::share(std::initializer_list<arena::part const*> parts) const {
    arena_state const& memory = *(*parts.begin())->owner_;
    packed_signal packed{
        magic, version, static_cast<std::uint32_t>(kind), message_bytes, slots, first, {}, {}};
    std::vector<os::fd> files;
    files.push_back(os::fd(memory.memory.share())); // not lost if there is no memory for the list
    auto to_gpu = packed.gpu_parts.begin(), to_host = packed.host_parts.begin();
    for (arena::part const* const each : parts) {
        if (each->plan_)
            *to_gpu++ = static_cast<std::uint64_t>(each->data_ - memory.gpu_block.data);
        else
            *to_host++ = static_cast<std::uint64_t>(each->data_ - memory.host_block.data);
    }
    if (traits_of(kind).host_parts != 0)
        files.push_back(os::duplicate(memory.host_file.get()));
    return os::parcel::pack(std::as_bytes(std::span(&packed, 1)), files).release();
}

opened_signal opened_signal::open(int descriptor, signal_kind wanted) {
    os::parcel content = os::parcel::look_into(descriptor);
    packed_signal const packed = unpack(content.bytes);
    kind_traits const& traits = kinds[packed.kind - 1];
    if (packed.kind != static_cast<std::uint32_t>(wanted))
        refuse("it is a " + std::string(traits.name) + ": open it as one");
    bool const has_host_memory = traits.host_parts != 0;
    if (content.files.size() != (has_host_memory ? 2u : 1u))
        refuse();
    auto memory = std::make_shared<arena_state>(
        open_shared(content.files[0].get()),
        has_host_memory ? std::move(content.files[1]) : os::fd(),
        places(packed.gpu_parts, traits.gpu_parts), places(packed.host_parts, traits.host_parts));
    return {{wanted, packed.message_bytes, packed.slots, packed.first}, arena(std::move(memory))};
}

opened_signal opened_signal::open_ring(int descriptor, signal_kind wanted,
                                       std::uint64_t message_bytes) {
    opened_signal result = open(descriptor, wanted);
    if (result.is.message_bytes != message_bytes)
        refuse("its messages have " + std::to_string(result.is.message_bytes) +
               " bytes, and those of this type " + std::to_string(message_bytes) +
               ": use the same type in both processes");
    return result;
}

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
