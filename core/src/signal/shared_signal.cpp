// SPDX-License-Identifier: MIT
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
namespace {

constexpr char open_signal_text[] = "open shared memory";

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

[[noreturn]] void refuse(std::string advice) {
    throw error(errc::invalid_argument, open_signal_text, "", std::move(advice));
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
        throw error(errc::unsupported_operation, open_signal_text, "",
                    "another version of barmap shared it: use one version in both processes");
    if (bytes.size() != sizeof result || result.kind == 0 || result.kind > kinds.size())
        refuse();
    kind_traits const& traits = kinds[result.kind - 1];
    bool const has_first = result.kind == BARMAP_COUNTER_TO_CPU;
    if ((!traits.is_ring && (result.message_bytes | result.slots) != 0) ||
        (!has_first && result.first != 0))
        refuse();
    return result;
}

kind_traits const& traits_of(std::uint64_t kind, char const* operation) {
    if (kind == 0 || kind > kinds.size())
        throw error(errc::invalid_argument, operation, "",
                    "give a value of enum barmap_signal_kind");
    return kinds[kind - 1];
}

int share(barmap_signal const& what, std::span<barmap_arena_part const* const> parts) {
    constexpr char operation[] = "share a ring or a counter with another process";
    kind_traits const& traits = traits_of(what.kind, operation);
    auto const refuse_parts = [&] {
        throw error(errc::invalid_argument, operation, "",
                    "give all of its parts, which are of one arena");
    };
    packed_signal packed{
        magic, version, static_cast<std::uint32_t>(what.kind), what.message_bytes, what.slots,
        what.first, {}, {}};
    std::size_t of_gpu = 0, of_host = 0;
    for (barmap_arena_part const* const each : parts) {
        if (!each || each->owner != parts.front()->owner ||
            (each->is_of_gpu ? of_gpu : of_host) == most_parts)
            refuse_parts();
        (each->is_of_gpu ? packed.gpu_parts[of_gpu++] : packed.host_parts[of_host++]) = each->at;
    }
    if (of_gpu != traits.gpu_parts || of_host != traits.host_parts)
        refuse_parts();
    bool const is_ring = what.message_bytes != 0 && what.slots != 0;
    if (traits.is_ring != is_ring || (!traits.is_ring && (what.message_bytes | what.slots) != 0) ||
        (what.kind != BARMAP_COUNTER_TO_CPU && what.first != 0))
        throw error(errc::invalid_argument, operation, "",
                    "give message_bytes and slots of a ring, first of a counter to the CPU, and 0 "
                    "for the others");
    arena_state const& memory = *parts.front()->owner;
    std::vector<os::fd> files;
    files.push_back(os::fd(memory.memory.share())); // not lost if there is no memory for the list
    if (traits.host_parts != 0)
        files.push_back(os::duplicate(memory.host_file.get()));
    return os::parcel::pack(std::as_bytes(std::span(&packed, 1)), files).release();
}

std::unique_ptr<barmap_arena> open_signal(int descriptor, int kind, barmap_signal& what) {
    (void)traits_of(static_cast<std::uint64_t>(kind), open_signal_text);
    os::parcel content = os::parcel::look_into(descriptor);
    packed_signal const packed = unpack(content.bytes);
    kind_traits const& traits = kinds[packed.kind - 1];
    if (packed.kind != static_cast<std::uint32_t>(kind))
        refuse("it is a " + std::string(traits.name) + ": open it as one");
    bool const has_host_memory = traits.host_parts != 0;
    if (content.files.size() != (has_host_memory ? 2u : 1u))
        refuse();
    auto memory = std::make_shared<arena_state>(
        open_shared(content.files[0].get()),
        has_host_memory ? std::move(content.files[1]) : os::fd(),
        places(packed.gpu_parts, traits.gpu_parts), places(packed.host_parts, traits.host_parts));
    what = {packed.kind, packed.message_bytes, packed.slots, packed.first};
    return std::make_unique<barmap_arena>(std::move(memory));
}

} // namespace
} // namespace barmap

using namespace barmap;

int barmap_signal_share(barmap_signal const* what, barmap_arena_part const* const* parts,
                        std::size_t count, int* descriptor) {
    static constexpr char operation[] = "share a ring or a counter with another process";
    return c::attempt([&] {
        c::expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        barmap_signal const& is = c::expect(what, operation, "pass its description, not NULL");
        (void)c::expect(parts, operation, "give its parts, not NULL");
        *descriptor = share(is, {parts, count});
    });
}

int barmap_signal_open_shared(int descriptor, int kind, barmap_signal* what, barmap_arena** out) {
    return c::make(out, open_signal_text, [&] {
        barmap_signal& is =
            c::expect(what, open_signal_text, "pass a pointer for the description, not NULL");
        is = {};
        return open_signal(descriptor, kind, is);
    });
}
