// SPDX-License-Identifier: MIT
#pragma once

#include "base/c_boundary.hpp"
#include "cuda/host_registration.hpp"
#include "system/fd.hpp"
#include "system/process.hpp"
#include "system/region.hpp"

#include <barmap/arena.hpp>
#include <barmap/device.hpp>
#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace barmap {

/// Which bytes of an arena's block are free.
class free_ranges {
public:
    explicit free_ranges(std::size_t bytes);

    /// @return where, or nothing
    std::optional<std::size_t> take(std::size_t bytes);
    /// @return whether they were free
    bool take_at(std::size_t at, std::size_t bytes);
    void give_back(std::size_t at, std::size_t bytes);

private:
    std::map<std::size_t, std::size_t> ranges_; ///< sizes by where they begin
};

/// The GPU memory or the host memory of an arena.
struct arena_block {
    explicit arena_block(std::size_t bytes) : free(bytes) {}

    free_ranges free;
    std::byte* data = nullptr;
    std::uintptr_t gpu_address = 0; ///< 0 in an opened arena
    std::vector<std::size_t> shared; ///< of an opened arena: where the parts lie, the next one last
};

struct arena_state {
    arena_state(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
                std::string_view backend);

    /// An arena in memory that another process has shared, with the offsets of the parts to
    /// allocate.
    /// @param host_memory empty: none. @throws error
    arena_state(pin shared, os::fd host_memory, std::vector<std::size_t> gpu_parts,
                std::vector<std::size_t> host_parts);

    std::optional<device> gpu; ///< none of an opened arena
    pin memory;
    mapping map;
    os::fd host_file;
    os::region host;
    std::optional<cuda::host_registration> registration; ///< goes before it
    os::process_id const owner = os::this_process();
    std::mutex lock;
    arena_block gpu_block, host_block; ///< under its lock
};

} // namespace barmap

struct barmap_arena : barmap::c::shared_handle {
    explicit barmap_arena(std::shared_ptr<barmap::arena_state> of) : state(std::move(of)) {}
    std::shared_ptr<barmap::arena_state> const state;
};

struct barmap_arena_part {
    barmap_arena_part(std::shared_ptr<barmap::arena_state> of, int block, std::size_t bytes);
    barmap_arena_part(barmap_arena_part const&) = delete;
    barmap_arena_part& operator=(barmap_arena_part const&) = delete;
    ~barmap_arena_part();

    [[nodiscard]] bool is_own() const noexcept { return barmap::os::is_this_process(owner->owner); }
    [[nodiscard]] barmap::arena_block& block() const noexcept {
        return is_of_gpu ? owner->gpu_block : owner->host_block;
    }

    std::shared_ptr<barmap::arena_state> const owner;
    bool const is_of_gpu;
    std::size_t const size, at; ///< bytes, as requested; and where it begins in its block
};
