// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/channel.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/engine.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace barmap::engine {

/// A private GPU address space. Its mappings hold their memory, so an address never comes to name
/// other memory.
/// Thread rule: threads may map and unmap concurrently; the kernel serialises.
class address_space {
public:
    address_space(std::shared_ptr<rm::client const> client, rm::driver_series series);

    [[nodiscard]] std::shared_ptr<rm::client const> const& client() const noexcept {
        return client_;
    }
    [[nodiscard]] rm::abi::handle handle() const noexcept { return handle_; }

    /// Maps a memory object, or its first bytes, until the destructor.
    class mapping {
    public:
        mapping(address_space const& space, rm::memory_object object, std::uint64_t bytes,
                std::uint32_t flags);
        mapping(mapping&& other) noexcept;
        mapping& operator=(mapping&&) = delete;
        ~mapping();
        [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
        [[nodiscard]] rm::memory_object const& object() const noexcept { return object_; }

    private:
        address_space const* space_;
        rm::memory_object object_;
        std::uint64_t address_;
    };

    /// Maps GPU memory: the whole object. @throws error
    [[nodiscard]] mapping map(rm::memory_object object, std::uint64_t bytes) const;
    /// Maps pages of this process. @throws error
    [[nodiscard]] mapping map_host(void* pages, std::size_t bytes) const;

private:
    std::shared_ptr<rm::client const> client_;
    rm::driver_series series_;
    rm::abi::handle handle_, all_of_it_;
};

} // namespace barmap::engine
