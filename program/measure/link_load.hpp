// SPDX-License-Identifier: MIT
#pragma once

#include "measure/cuda_stream.hpp"
#include "measure/gpu_memory.hpp"
#include "measure/usable_engines.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace barmap::tool {

/// Keeps the PCIe link busy both ways by cuMemcpy for as long as it lives. Needs the GPU's context.
class link_load {
public:
    explicit link_load(opened_gpu const& gpu); ///< @throws error
    link_load(link_load const&) = delete;
    link_load& operator=(link_load const&) = delete;
    ~link_load();

private:
    void work();

    opened_gpu const& gpu_;
    touched_host host_;
    gpu_memory memory_;
    std::array<cuda_stream, 2> streams_;
    std::atomic<bool> ending_{false};
    std::thread thread_; // the last to be made
};

/// One where it is wanted, else null.
[[nodiscard]] inline std::unique_ptr<link_load> load_if(bool wanted, opened_gpu const& gpu) {
    return wanted ? std::make_unique<link_load>(gpu) : nullptr;
}

} // namespace barmap::tool
