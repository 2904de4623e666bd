// SPDX-License-Identifier: MIT
#include "map/shared_memory.hpp"

#include "system/parcel.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace barmap::backend {
namespace {

constexpr char open_it[] = "open shared memory";

/// The packed header, before the parts.
struct header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t parts;
    std::array<char, 16> backend; ///< filled up with 0
    std::uint32_t memory, caching;
    std::uint32_t force_pcie, simulated;
    std::uint32_t pci_domain, pci_bus, pci_slot;
    std::uint32_t reserved; ///< 0
};
static_assert(sizeof(header) == 64);
constexpr std::array<char, 8> magic{'b', 'a', 'r', 'm', 'a', 'p', 'g', 'm'};
constexpr std::uint32_t version = 1;

struct packed_part {
    std::uint64_t offset, length, beyond;
};
static_assert(sizeof(header) + shared_memory::most_parts * sizeof(packed_part) <=
              os::parcel::most_bytes);

bool is_sound(packed_part const& each) noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 48; // of which no sum wraps around
    constexpr std::uint64_t most_beyond = std::uint64_t{2} << 20;
    return each.length > 0 && each.length < most && each.offset < most &&
           each.beyond <= most_beyond;
}

} // namespace

std::size_t shared_memory::bytes() const noexcept {
    std::size_t sum = 0;
    for (part const& each : parts)
        sum += each.length + each.beyond;
    return sum;
}

void shared_memory::expect_few(std::size_t parts, std::size_t most) {
    if (parts > most)
        throw error(errc::unsupported_operation,
                    "share memory of " + std::to_string(parts) + " objects", "",
                    "pin and share it in smaller pieces");
}

void shared_memory::expect_inside(part const& wanted, std::uint64_t size) {
    if (wanted.offset > size || wanted.length > size - wanted.offset ||
        (wanted.beyond > 0 && wanted.length < size - wanted.offset))
        throw error(errc::out_of_range, open_it, "",
                    "the descriptor names " + std::to_string(wanted.length) + " bytes at " +
                        std::to_string(wanted.offset) + " of an object of " + std::to_string(size) +
                        ": pass on the descriptor of pin::share() unchanged");
}

void shared_memory::refuse() {
    throw error(errc::invalid_argument, open_it, "",
                "give a descriptor that pin::share() made, as it was received");
}

os::fd shared_memory::pack() const {
    header first{};
    first.magic = magic;
    first.version = version;
    first.parts = static_cast<std::uint32_t>(parts.size());
    backend.copy(first.backend.data(), first.backend.size() - 1);
    first.memory = static_cast<std::uint32_t>(memory);
    first.caching = static_cast<std::uint32_t>(caching);
    first.force_pcie = force_pcie;
    first.simulated = simulated;
    first.pci_domain = gpu.domain;
    first.pci_bus = gpu.bus;
    first.pci_slot = gpu.slot;
    std::vector<std::byte> bytes(sizeof first + parts.size() * sizeof(packed_part));
    std::memcpy(bytes.data(), &first, sizeof first);
    std::byte* to = bytes.data() + sizeof first;
    for (part const& each : parts) {
        packed_part const packed{each.offset, each.length, each.beyond};
        std::memcpy(to, &packed, sizeof packed);
        to += sizeof packed;
    }
    return os::parcel::pack(bytes, files);
}

shared_memory shared_memory::unpack(int descriptor) {
    os::parcel content = os::parcel::look_into(descriptor);
    header first{};
    if (content.bytes.size() < sizeof first)
        refuse();
    std::memcpy(&first, content.bytes.data(), sizeof first);
    if (first.magic != magic)
        refuse();
    if (first.version != version)
        throw error(errc::unsupported_operation, open_it, "",
                    "another version of barmap shared it: use one version in both processes");
    auto const name_end = std::ranges::find(first.backend, '\0');
    if (first.parts == 0 || first.parts > most_parts ||
        content.bytes.size() != sizeof first + first.parts * sizeof(packed_part) ||
        name_end == first.backend.end() || first.reserved != 0 || first.force_pcie > 1 ||
        first.simulated > 1 || first.memory > static_cast<std::uint32_t>(memory_kind::unknown) ||
        first.caching > static_cast<std::uint32_t>(cache_kind::uncached))
        refuse();
    shared_memory result;
    result.backend.assign(first.backend.begin(), name_end);
    result.memory = static_cast<memory_kind>(first.memory);
    result.caching = static_cast<cache_kind>(first.caching);
    result.force_pcie = first.force_pcie != 0;
    result.simulated = first.simulated != 0;
    result.gpu = {first.pci_domain, first.pci_bus, first.pci_slot};
    result.files = std::move(content.files);
    std::byte const* from = content.bytes.data() + sizeof first;
    for (std::uint32_t i = 0; i < first.parts; ++i, from += sizeof(packed_part)) {
        packed_part packed{};
        std::memcpy(&packed, from, sizeof packed);
        if (!is_sound(packed))
            refuse();
        result.parts.push_back({packed.offset, packed.length, packed.beyond});
    }
    return result;
}

} // namespace barmap::backend
