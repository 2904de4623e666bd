// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "measure/cuda_stream.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/units.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace barmap::tool {
namespace {

constexpr std::uint32_t pieces_each = 64, words_of_piece = 64;
constexpr std::uint32_t words = pieces_each * words_of_piece;
constexpr std::size_t bytes = words * sizeof(std::uint32_t);
constexpr unsigned threads = 256; ///< of a kernel

/// Copies a buffer of GPU memory to host memory, and from there to another GPU buffer.
class round_trip {
public:
    explicit round_trip(batch_bench const& bench)
        : engine_(bench.gpu.device().batch_queue()), write_(bench.kernels.named("barmap_write_words")),
          check_(bench.kernels.named("barmap_check_words")), source_(gpu_memory::device(bytes)),
          back_(gpu_memory::device(bytes)), host_(bytes), counts_(2 * sizeof(std::uint64_t)),
          random_(bench.values.seed) {}

    /// Submits a trip in stream order, without a wait.
    void submit(std::uint64_t number) {
        // Starts at 1, and so is neither 0 nor the complement of a value that is near.
        std::uint32_t const value = static_cast<std::uint32_t>(number & 0x7fffffff) + 1;
        // Sometimes 0, to catch copies that are only slightly early.
        std::uint64_t const wait_ns = random_() % 4 * 1000;
        launch(write_, 1, threads, stream_.get(),
               {source_.address(), host_.gpu_address(), back_.address(), words, value, wait_ns});
        choose();
        engine_.submit(out_, batch_queue::after{stream_.get()}, batch_queue::then{stream_.get()});
        ticket_ = engine_.submit(in_, batch_queue::after{stream_.get()},
                                 batch_queue::then{stream_.get()});
        launch(check_, 1, threads, stream_.get(),
               {back_.address(), words, value, counts_.gpu_address()});
    }

    /// @throws error if the stream or the last batch has failed
    void wait() const {
        stream_.wait();
        if (!engine_.wait(ticket_, std::chrono::seconds(30)))
            throw error(errc::copy_unfinished, "copy by the copy engine", "",
                        "the stream continued, but the batch before is not done");
    }
    [[nodiscard]] std::uint64_t early() const { return counts_.word()[0]; }
    [[nodiscard]] std::uint64_t stale() const { return counts_.word()[1]; }
    [[nodiscard]] std::string engine() const { return std::string(engine_.engine()); }

private:
    /// Divides all words into pieces, with another order of the pieces on the host.
    void choose() {
        std::array<std::uint32_t, pieces_each> slots{};
        std::iota(slots.begin(), slots.end(), 0u);
        std::shuffle(slots.begin(), slots.end(), random_);
        constexpr std::size_t size = words_of_piece * sizeof(std::uint32_t);
        auto const host = reinterpret_cast<std::uintptr_t>(host_.data());
        for (std::size_t i = 0; i < pieces_each; ++i) {
            out_[i] = {host + slots[i] * size,
                       static_cast<std::uintptr_t>(source_.address()) + i * size, size};
            in_[i] = {static_cast<std::uintptr_t>(back_.address()) + i * size,
                      host + slots[i] * size, size};
        }
    }

    batch_queue engine_;
    cuda_stream stream_;
    CUfunction write_, check_;
    gpu_memory source_, back_;
    pinned_host host_, counts_;
    std::mt19937_64 random_;
    std::array<copy_piece, pieces_each> out_{}, in_{};
    batch_ticket ticket_{};
};

} // namespace

bool make_round_trips(batch_bench const& bench) {
    std::uint64_t const trips = bench.values.round_trips;
    constexpr std::uint64_t at_once = 64;
    round_trip trip(bench);
    progress bar(trips);
    clock::time_point const begin = clock::now();
    std::uint64_t done = 0;
    std::string problem;
    try {
        for (std::uint64_t i = 0; i < trips; ++i) {
            trip.submit(i);
            if ((i + 1) % at_once != 0 && i + 1 < trips)
                continue;
            trip.wait();
            done = i + 1;
            bar.reach(done, "round trips");
        }
    } catch (error const& failure) {
        problem = failure.what();
    }
    double const seconds = seconds_since(begin);
    bool const good = trip.early() == 0 && trip.stale() == 0 && problem.empty();
    bench.out.add(object({{"measurement", "round trips"},
                          {"engine", trip.engine()},
                          {"round_trips", done},
                          {"words", words},
                          {"early", trip.early()},
                          {"stale", trip.stale()},
                          {"seconds", seconds},
                          {"problem", or_null(problem)},
                          {"passed", good}}));
    bench.out.say(formatted("{}: {} round trips in the order of a stream, {} words early, {} "
                            "stale, in {:.1f} s: {}\n",
                            trip.engine(), done, trip.early(), trip.stale(), seconds,
                            verdict(good, problem)));
    return good;
}

} // namespace barmap::tool
