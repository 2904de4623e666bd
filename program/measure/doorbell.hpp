// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_kernels.hpp"
#include "measure/reached_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// Round trips: the CPU rings a doorbell in GPU memory, and the kernel barmap_pingpong answers.
namespace barmap::tool {

struct doorbell_variant {
    enum class store { post_word, post_line, write };
    enum class answer { in_host_memory, through_mapping };

    std::string_view name; ///< of the store
    store doorbell;
    answer reply;
    [[nodiscard]] std::string_view name_of_answer() const;
};

inline constexpr doorbell_variant doorbell_variants[] = {
    {"post word", doorbell_variant::store::post_word, doorbell_variant::answer::in_host_memory},
    {"post line", doorbell_variant::store::post_line, doorbell_variant::answer::in_host_memory},
    {"write", doorbell_variant::store::write, doorbell_variant::answer::in_host_memory},
    {"post word", doorbell_variant::store::post_word, doorbell_variant::answer::through_mapping},
};

/// The memory and kernels that all variants share. Needs the GPU's context.
class doorbell {
public:
    doorbell(opened_gpu const& gpu, options const& values); ///< @throws error
    [[nodiscard]] mapping const& through() const { return reached_.mapping; }

private:
    friend class doorbell_rounds;
    gpu_kernels kernels_;
    reached_memory reached_;
    pinned_host host_;
    window bell_{}, reply_{};
    CUdeviceptr bell_address_ = 0;
};

/// Rounds of one variant, while the kernel runs. One at a time.
class doorbell_rounds {
public:
    /// Starts the kernel. @param rounds how many there will be. @throws error
    doorbell_rounds(doorbell& with, doorbell_variant const& how, std::uint64_t rounds);

    /// One round. @return nanoseconds. @throws gpu_timeout
    double play();
    [[nodiscard]] std::size_t late() const { return late_; } ///< rounds that needed a flush
    void wait() const;                                       ///< after the last round

private:
    [[nodiscard]] std::uint64_t look() const;

    doorbell& with_;
    doorbell_variant how_;
    std::uint64_t round_ = 0;
    std::size_t late_ = 0;
    std::optional<running_kernel> kernel_;
};

} // namespace barmap::tool
