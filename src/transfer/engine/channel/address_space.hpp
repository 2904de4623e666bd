// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/channel_abi.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/engine.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace barmap::engine {

/// A GPU address space of our own. What is mapped in it is held by it, so that an address never
/// becomes that of other memory.
/// Thread rule: map() and unmap() may be called at once; the kernel serialises.
class address_space {
public:
    address_space(std::shared_ptr<rm::client const> client, driver_series series);

    [[nodiscard]] std::shared_ptr<rm::client const> const& client() const noexcept {
        return client_;
    }
    [[nodiscard]] rm::abi::handle handle() const noexcept { return handle_; }

    /// A memory object, or its first bytes, for as long as it lives.
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

    /// GPU memory, all of the object. @throws error
    [[nodiscard]] mapping map(rm::memory_object object, std::uint64_t bytes) const;
    /// Pages of this process. @throws error
    [[nodiscard]] mapping map_host(void* pages, std::size_t bytes) const;

private:
    std::shared_ptr<rm::client const> client_;
    driver_series series_;
    rm::abi::handle handle_, all_of_it_;
};

} // namespace barmap::engine
