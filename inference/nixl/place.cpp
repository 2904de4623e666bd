// SPDX-License-Identifier: MIT
#include "place.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/memory.hpp"
#include "cuda/peer_access.hpp"
#include "system/random_bytes.hpp"

#include <barmap/device.hpp>
#include <barmap/error.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <tuple>

namespace barmap::nixl {
namespace {

using process_name = std::array<std::byte, 16>;

process_name const& name_of_this_process() {
    static process_name const name = [] {
        process_name made;
        os::fill_with_random_bytes(made);
        return made;
    }();
    return name;
}

/// The description of a range that agents exchange. Both are on one machine.
struct published_place {
    std::uint32_t version = 1;
    std::uint32_t has_handle = 0;
    process_name process{};
    CUuuid gpu{};
    CUipcMemHandle handle{};
    std::uint64_t in_opened = 0;
};

published_place read(std::string const& published) {
    published_place told;
    if (published.size() == sizeof told)
        std::memcpy(&told, published.data(), sizeof told);
    if (published.size() != sizeof told || told.version != published_place{}.version)
        throw error(errc::unknown_layout, "read what another agent says of its memory", "",
                    "both agents need the same version of this plug-in");
    return told;
}

CUuuid uuid_of(int ordinal) {
    CUuuid result{};
    cuda::check(cuda::api().device_get_uuid(&result, cuda::device_with(ordinal)),
                "read the GPU's UUID");
    return result;
}

int ordinal_of(CUuuid const& wanted) {
    for (int i = 0; i < device::count(); ++i)
        if (CUuuid const each = uuid_of(i); std::memcmp(&each, &wanted, sizeof each) == 0)
            return i;
    return place::host;
}

} // namespace

place::place(nixlBasicDesc const& range, nixl_mem_t kind, int gpu_that_pins) {
    if (kind == DRAM_SEG) {
        pinned_ = std::make_shared<pinned_range const>(gpu_that_pins, range.addr, range.len);
        return;
    }
    if (kind != VRAM_SEG)
        throw error(errc::unsupported_memory, "register memory", "",
                    "this plug-in takes DRAM_SEG and VRAM_SEG");
    cuda::memory const memory = cuda::describe(range.addr, range.len, "register");
    if (memory.kind == memory_kind::unknown || memory.kind == memory_kind::managed ||
        memory.kind == memory_kind::host)
        throw error(errc::unsupported_memory, "register GPU memory", "",
                    memory.kind == memory_kind::unknown
                        ? "CUDA knows no GPU memory there"
                        : "it is managed or host memory: register the latter as DRAM_SEG");
    if (range.devId != static_cast<std::uint64_t>(memory.ordinal))
        throw error(errc::invalid_argument,
                    "register GPU memory under the device number " + std::to_string(range.devId), "",
                    "it is memory of GPU " + std::to_string(memory.ordinal) + ": give that number");
    gpu_ = memory.ordinal;
    CUipcMemHandle handle;
    if (memory.kind == memory_kind::device) {
        cuda::context_scope const scope = cuda::context_scope::any(cuda::device_with(gpu_));
        if (cuda::api().ipc_get_mem_handle(&handle, range.addr) == cuda::success) {
            handle_ = handle;
            in_opened_ = memory.chunks.front().offset;
        }
    }
}

place::place(nixlBasicDesc const& range, nixl_mem_t kind, std::string const& published) {
    published_place const told = read(published);
    if (kind != VRAM_SEG) {
        unreachable_ = "it is host memory of another process";
    } else if (!told.has_handle) {
        unreachable_ = "it is GPU memory of another process for which CUDA gives no IPC handle, as "
                       "that of pools and of cuMemCreate";
    } else {
        gpu_ = ordinal_of(told.gpu);
        handle_ = told.handle;
        in_opened_ = told.in_opened;
        elsewhere_ = range;
    }
}

bool place::is_of_this_process(std::string const& published) {
    return read(published).process == name_of_this_process();
}

void place::unpin() noexcept {
    std::lock_guard const hold(lock_);
    pinned_.reset();
}

std::shared_ptr<pinned_range const> place::pinned() const {
    std::lock_guard const hold(lock_);
    return pinned_;
}

std::string place::publish() const {
    published_place told;
    told.process = name_of_this_process();
    if (gpu_ != host)
        told.gpu = uuid_of(gpu_);
    if (handle_) {
        told.has_handle = 1;
        told.handle = *handle_;
        told.in_opened = in_opened_;
    }
    return std::string(reinterpret_cast<char const*>(&told), sizeof told);
}

std::uintptr_t place::offset_for(int gpu) const {
    if (!unreachable_.empty())
        throw error(errc::unsupported_memory, "reach memory of another agent", "", unreachable_);
    if (elsewhere_) {
        std::lock_guard const hold(lock_);
        auto const opened = opened_.try_emplace(gpu, *handle_, gpu).first;
        if (!opened->second.holds(in_opened_, elsewhere_->len))
            throw error(errc::out_of_range, "reach memory of another agent", "",
                        "its metadata names bytes beyond the memory that its IPC handle opens");
        return opened->second.address() + in_opened_ - elsewhere_->addr;
    }
    if (gpu_ != host && gpu_ != gpu)
        cuda::enable_peer_access(
            gpu, gpu_, "these GPUs have no access to each other: copy through host memory");
    return 0;
}

namespace {

struct all_places {
    using owned_range = std::tuple<std::string, nixl_mem_t, std::uintptr_t, std::size_t>;
    std::mutex lock;
    std::multimap<owned_range, std::shared_ptr<place>> by_range;
};

all_places::owned_range range_of(known_place const& one) {
    return {one.agent, one.kind, one.range.addr, one.range.len};
}

/// Never destroyed: agents may outlive every static object of this library.
all_places& places() {
    static auto& all = *new all_places;
    return all;
}

} // namespace

std::shared_ptr<place> known_place::find() const {
    std::shared_ptr<place> found = known;
    if (!found) {
        std::lock_guard const hold(places().lock);
        auto const at = places().by_range.find(range_of(*this));
        if (at != places().by_range.end())
            found = at->second;
    }
    if (found)
        return found;
    throw error(errc::invalid_argument, "find memory of agent " + agent, "",
                "the agent has not registered it, or has deregistered it");
}

void registered_places::add(known_place const& registered) {
    std::lock_guard const hold(places().lock);
    places().by_range.emplace(range_of(registered), registered.known);
}

void registered_places::remove(known_place const& registered) noexcept {
    std::lock_guard const hold(places().lock);
    auto [at, end] = places().by_range.equal_range(range_of(registered));
    while (at != end && at->second != registered.known)
        ++at;
    if (at != end)
        places().by_range.erase(at);
}

} // namespace barmap::nixl
