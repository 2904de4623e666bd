// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "cuda/memory.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "map/shared_memory.hpp"
#include "nvidia/cuda.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The contract between the core and a backend. Set-up path only. A backend's errors do not name
/// it: the core adds the name (backend_slot::named). Adding a backend = a directory here, one line
/// in registry.cpp, one line in the contract suite, one section in docs/backends.md.
namespace barmap::backend {

using cuda::gpu;

/// CPU addresses. Its destructor unmaps; it is destroyed before its pinned.
class mapped {
public:
    virtual ~mapped() = default;
    std::byte* data = nullptr; ///< CPU address of the first byte that was pinned
    /// The reserved addresses, for backends that can map to given ones; else null. An owner that
    /// keeps the region must vacate it before the mapping is destroyed.
    [[nodiscard]] virtual std::shared_ptr<os::region> addresses() const noexcept { return {}; }
    cache_kind kind = cache_kind::write_combining;
};

/// The addresses for a mapping of that many bytes: those of an earlier one, or new ones.
/// @throws error errc::unknown_layout if it does not fit there
[[nodiscard]] std::shared_ptr<os::region> or_anywhere(std::shared_ptr<os::region> into,
                                                      std::size_t bytes);

/// A range held reachable. Its destructor unpins.
class pinned {
public:
    virtual ~pinned() = default;
    /// @param wanted how to cache the mapping, for backends that have a choice; the core checks
    /// the result
    /// @param into where an earlier mapping of the same memory was; null: anywhere. After a
    /// failure, the caller vacates it. @throws error
    [[nodiscard]] virtual std::unique_ptr<mapped> map(std::optional<cache_kind> wanted = {},
                                                      std::shared_ptr<os::region> into = {}) = 0;
    /// How the backend found the memory, where it has several ways.
    [[nodiscard]] virtual std::string_view way() const noexcept { return {}; }
    /// The description with which other processes can map the memory; the core adds the backend and
    /// the GPU.
    /// @throws error errc::unsupported_operation where the backend cannot share
    [[nodiscard]] virtual shared_memory share();
    /// The resource manager's objects that it holds, for as long as it lives. Engines use them,
    /// since they stay valid after cudaFree. Empty where it holds none.
    [[nodiscard]] virtual std::vector<rm::held_object> objects() const { return {}; }
    /// Whether the driver has revoked the memory. @throws error
    [[nodiscard]] virtual bool revoked() { return false; }
    /// The descriptor that becomes readable with an event; -1 for a pin without
    /// pin_options::events.
    [[nodiscard]] virtual int event_fd() const noexcept { return -1; }
    /// The oldest event, its range in whole pages. @pre event_fd() is not -1. @throws error
    [[nodiscard]] virtual std::optional<pin_event> next_event() { return std::nullopt; }
    /// Where memory that the backend allocated lies; 0 for registered memory.
    [[nodiscard]] virtual CUdeviceptr allocated_address() const noexcept { return 0; }
    /// The object with which other backends can import memory that this one allocated; null if they
    /// cannot.
    [[nodiscard]] virtual std::shared_ptr<os::fd const> exported() const noexcept { return {}; }
};

/// The capabilities of a backend, as known before it is started.
struct capability_set {
    std::uint32_t registers = 0;      ///< bit 1 << memory_kind for each kind that pin() takes
    bool allocates = false;           ///< overrides allocate()
    bool quick_start = true;          ///< false: started only when it is needed
    bool needs_kernel_driver = false; ///< calls a kernel driver, which no simulated GPU has

    [[nodiscard]] constexpr bool can_register(memory_kind kind) const noexcept {
        return (registers >> static_cast<unsigned>(kind)) & 1u;
    }
    /// The kinds that pin() takes, in the order of their numbers.
    [[nodiscard]] std::vector<memory_kind> registered() const {
        std::vector<memory_kind> result;
        for (unsigned kind = 0; kind < 32; ++kind)
            if (can_register(static_cast<memory_kind>(kind)))
                result.push_back(static_cast<memory_kind>(kind));
        return result;
    }
    /// Whether device::allocate may use it: a backend that does not override allocate() registers
    /// VMM memory that the core makes.
    [[nodiscard]] constexpr bool can_allocate() const noexcept {
        return allocates || can_register(memory_kind::virtual_exportable);
    }
};

template <class... Kinds>
[[nodiscard]] constexpr std::uint32_t kinds(Kinds... kinds) noexcept {
    return ((1u << static_cast<unsigned>(kinds)) | ... | 0u);
}

/// A backend of one GPU. Thread rule: start() once; afterwards pin() and
/// allocate() from any thread at once.
class backend {
public:
    virtual ~backend() = default;
    [[nodiscard]] virtual capability_set capabilities() const noexcept = 0;

    /// Opens what it needs. @throws error errc::backend_absent where this machine does not offer
    /// it; any other error means broken. what() and advice() are what `barmap info` prints.
    virtual void start() = 0;

    /// The properties that the start found. @pre started
    [[nodiscard]] virtual backend_properties properties() const { return {}; }

    /// Registers memory that the caller owns and that capabilities().can_register().
    /// @param how its backend and whole_pages are the core's business
    /// @pre how asks for nothing that properties() does not have. @throws error
    [[nodiscard]] virtual std::unique_ptr<pinned> pin(cuda::memory const& memory,
                                                      pin_options const& how = {}) = 0;

    /// Makes memory, if capabilities().allocates. @throws error
    [[nodiscard]] virtual std::unique_ptr<pinned> allocate(std::size_t bytes);

    /// Total and free BAR1, where this backend can report it.
    [[nodiscard]] virtual std::optional<bar1_info> bar1() { return std::nullopt; }
};

/// One line of the ordered list.
struct registration {
    std::string_view name;
    std::unique_ptr<backend> (*make)(gpu const& gpu);
    /// Opens what a pin of this backend has shared, in a process that need not have started CUDA.
    /// Null where pins cannot be shared. @throws error
    std::unique_ptr<pinned> (*open)(shared_memory shared) = nullptr;
};

/// All backends, in the order in which they are tried.
[[nodiscard]] std::span<registration const> registry() noexcept;

std::unique_ptr<backend> make_gdrdrv(gpu const& gpu);
std::unique_ptr<backend> make_dmabuf(gpu const& gpu);
std::unique_ptr<backend> make_rm(gpu const& gpu);
std::unique_ptr<backend> make_vulkan(gpu const& gpu);
std::unique_ptr<pinned> open_dmabuf(shared_memory shared);
std::unique_ptr<pinned> open_rm(shared_memory shared);

/// Does something with a backend, whose errors then name it.
template <class Action>
decltype(auto) named(std::string_view name, Action&& action) {
    try {
        return std::forward<Action>(action)();
    } catch (error const& failure) {
        throw error(failure.code(), failure.operation(), std::string(name), failure.advice());
    }
}

} // namespace barmap::backend
