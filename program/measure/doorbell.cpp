// SPDX-License-Identifier: MIT
#include "measure/doorbell.hpp"

#include "output/formatted.hpp"
#include "output/timing.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"

#include <barmap/copy.hpp>

#include <cstring>

namespace barmap::tool {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t answer_offset = 4 * KiB; ///< of the answer, where it lies in GPU memory
constexpr double answer_within_s = 10;

void ring(window bell, doorbell_variant::store how, std::uint64_t value) {
    switch (how) {
    case doorbell_variant::store::post_word:
        post(bell, value);
        break;
    case doorbell_variant::store::post_line: {
        std::array<std::byte, line_bytes> content{};
        std::memcpy(content.data(), &value, sizeof value);
        post_line(bell, content);
        break;
    }
    case doorbell_variant::store::write:
        write_value(bell, value);
        break;
    }
}

} // namespace

std::string_view doorbell_variant::name_of_answer() const {
    return reply == answer::in_host_memory ? "host memory" : "mapping";
}

doorbell::doorbell(opened_gpu const& gpu, options const& values)
    : reached_(reach(gpu, values, 64 * KiB)), host_(line_bytes) {
    std::size_t const gap = gap_to_multiple(reached_.mapping.data(), line_bytes);
    bell_ = reached_.mapping.window(gap, line_bytes);
    reply_ = reached_.mapping.window(gap + answer_offset, line_bytes);
    bell_address_ = reached_.memory.address() + gap;
}

doorbell_rounds::doorbell_rounds(doorbell& with, doorbell_variant const& how, std::uint64_t rounds)
    : with_(with), how_(how) {
    CUdeviceptr const bell = with.bell_address_;
    fill_gpu(bell, 0, answer_offset + line_bytes);
    *with.host_.word() = 0;
    CUdeviceptr const reply = how.reply == doorbell_variant::answer::in_host_memory
                                  ? with.host_.gpu_address()
                                  : bell + answer_offset;
    auto const end = [bell](CUstream control) {
        static constexpr std::uint64_t stop = doorbell_stop;
        cuda::api().memcpy_htod_async(bell, &stop, sizeof stop, control);
    };
    kernel_.emplace(with.kernels_.named("barmap_pingpong"), 1, 1, end,
                    kernel_parameters{bell, reply, rounds});
}

std::uint64_t doorbell_rounds::look() const {
    return how_.reply == doorbell_variant::answer::in_host_memory
               ? *with_.host_.word()
               : read_value<std::uint64_t>(with_.reply_);
}

double doorbell_rounds::play() {
    constexpr unsigned spins_until_flush = 100'000;
    std::uint64_t const round = ++round_;
    clock::time_point const begin = clock::now();
    ring(with_.bell_, how_.doorbell, round);
    unsigned spins = 0;
    while (look() != round) {
        if (++spins % spins_until_flush != 0)
            continue;
        // A posted word may wait in the CPU where there are no direct stores.
        if (spins == spins_until_flush && how_.doorbell != doorbell_variant::store::write) {
            flush_stores();
            ++late_;
        }
        if (seconds_since(begin) > answer_within_s)
            throw gpu_timeout(
                formatted("the GPU did not answer doorbell {} ({}, answer in {}) within {} s: run "
                          "`barmap check` to see whether its mapping is right",
                          round, how_.name, how_.name_of_answer(), answer_within_s));
    }
    return nanoseconds_since(begin) - clock_cost_ns();
}

void doorbell_rounds::wait() const {
    kernel_->wait(answer_within_s);
}

} // namespace barmap::tool
