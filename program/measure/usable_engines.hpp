// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_kernels.hpp"
#include "measure/opened_gpu.hpp"

#include "transfer/engine/transfer.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace barmap::tool {

/// A copy engine, the very one by which mapping::copy_to_gpu() and copy_to_cpu() copy: a second
/// channel would share its time slices.
struct running_engine {
    std::string name;
    std::shared_ptr<engine::worker> worker;
};

/// The engines that are usable and that BARMAP_ENGINE allows, in order. Starts them.
/// @throws error if the one that it names is not usable
[[nodiscard]] std::vector<running_engine> usable_engines(opened_gpu const& gpu);

/// Stops an engine that was late, and takes another one in its place, as an adaptive copy does.
/// @return whether there is one
[[nodiscard]] bool replace(opened_gpu const& gpu, running_engine& late);

inline constexpr host_memory_kind both_kinds[] = {host_memory_kind::pageable,
                                                  host_memory_kind::pinned};

/// Touched host memory of one kind.
class touched_host {
public:
    /// Pinned memory needs the GPU's context. @throws error
    touched_host(host_memory_kind kind, std::size_t bytes);
    [[nodiscard]] host_memory_kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    host_memory_kind kind_;
    std::vector<std::byte> pageable_;
    std::unique_ptr<pinned_host> pinned_;
    std::span<std::byte> bytes_;
};

/// GPU memory and pinned host memory in the reach of one engine.
struct engine_path {
    /// @param host empty if there is none. @throws error
    engine_path(std::shared_ptr<engine::worker> engine, CUdeviceptr gpu, std::size_t bytes,
                std::span<std::byte> host);
    /// What the engine reaches is known already.
    engine_path(std::shared_ptr<engine::worker> engine, std::unique_ptr<engine::reachable> gpu,
                std::unique_ptr<engine::reachable> host);

    /// Appends what copies between these places: several pieces where the GPU's side is not
    /// contiguous for the engine.
    void add(std::vector<engine::piece>& pieces, engine::direction way, std::size_t gpu_offset,
             std::size_t host_offset, std::size_t bytes) const;

    /// Submits them at once, and waits. @throws error if they do not end in time
    void copy(std::span<engine::piece const> pieces) const;
    /// One copy, as mapping::copy_to_gpu() and copy_to_cpu() would do it. @throws error
    void copy_direct(engine::direction way, std::size_t gpu_offset, std::size_t host_offset,
                     std::size_t bytes) const;
    void copy_staged(engine::direction way, std::size_t gpu_offset,
                     std::span<std::byte> host) const;

    std::shared_ptr<engine::worker> worker;
    std::unique_ptr<engine::reachable> gpu, host; // go before it
};

/// Copies by one engine and, where that is late, by the next one in its place.
class engine_user {
public:
    /// @param host empty if there is none. @throws error if the engine does not reach the memory
    engine_user(opened_gpu const& gpu, running_engine which, CUdeviceptr address, std::size_t bytes,
                std::span<std::byte> host);

    /// Does something with a path; from its beginning again if a copy of it was late.
    /// @throws error, also if too many copies were late
    template <class Work>
    auto use(Work&& work) {
        for (;;) {
            try {
                return work(*path_);
            } catch (error const& failure) {
                if (failure.code() != errc::copy_unfinished)
                    throw;
                path_.reset();
                if (!replace(gpu_, which_))
                    throw;
                ++late_;
                path_ = std::make_unique<engine_path>(which_.worker, address_, bytes_, host_);
            }
        }
    }
    [[nodiscard]] unsigned late() const noexcept { return late_; } ///< copies

private:
    opened_gpu const& gpu_;
    running_engine which_;
    CUdeviceptr address_;
    std::size_t bytes_;
    std::span<std::byte> host_;
    std::unique_ptr<engine_path> path_;
    unsigned late_ = 0;
};

} // namespace barmap::tool
