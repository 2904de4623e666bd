// SPDX-License-Identifier: MIT
#include "contract/memcpy_fixture.hpp"
#include "fake/simulation.hpp"
#include "programs.hpp"
#include "system/numa.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

/// The batches of programs that call CUDA's batch call, on the simulated GPU and by the fake
/// channel.
namespace barmap::contract {
namespace {

class memcpy_programs
    : public testing::TestWithParam<std::tuple<char const*, memcpy_replays::pattern>> {
protected:
    using route = memcpy_replays::route;

    memcpy_programs() {
        set_environment("BARMAP_SIM_DEVICES", "2");
        start();
    }
    ~memcpy_programs() override { stop(); }

    void start() {
        m_.emplace(std::get<0>(GetParam()));
        m_->expect_ready();
        CUcontext here = nullptr, there = nullptr;
        expect_success(cuda::api().ctx_get_current(&here));
        m_->machine->use(1);
        expect_success(cuda::api().ctx_get_current(&there));
        peer_.emplace(room_);
        expect_success(cuda::api().ctx_set_current(here));
        expect_success(cuda::api().ctx_enable_peer_access(there, 0));
        gpu_.emplace(room_);
        other_.emplace(room_);
        host_.emplace(room_);
        stream_.emplace();
    }
    void stop() {
        stream_.reset();
        host_.reset();
        other_.reset();
        gpu_.reset();
        peer_.reset();
        m_.reset();
    }

    [[nodiscard]] static memcpy_replays::pattern const& its() { return std::get<1>(GetParam()); }
    [[nodiscard]] CUdeviceptr from() const {
        return its().where == route::to_gpu ? host_->address() : gpu_->address();
    }
    [[nodiscard]] CUdeviceptr to() const {
        switch (its().where) {
        case route::to_gpu:
            return gpu_->address();
        case route::to_cpu:
            return host_->address();
        case route::inside:
            return other_->address();
        default:
            return peer_->address();
        }
    }
    /// The batches of one round: each piece at a place of its own on both sides.
    [[nodiscard]] std::vector<copies> batches() const {
        std::size_t const all = count_ * calls_;
        std::vector<std::size_t> sources(all), targets(all);
        for (std::size_t i = 0; i < all; ++i)
            sources[i] = targets[i] = i;
        std::mt19937 any(20);
        std::ranges::shuffle(sources, any);
        std::ranges::shuffle(targets, any);
        std::vector<copies> result;
        CUstream const on = its().by_stream_of_thread
                                ? reinterpret_cast<CUstream>(std::uintptr_t{2})
                                : stream_->get();
        for (std::size_t call = 0; call < calls_; ++call) {
            std::vector<copy_piece> list;
            for (std::size_t i = 0; i < count_; ++i) {
                std::size_t const at = call * count_ + i;
                list.push_back(
                    {to() + targets[at] * step_, from() + sources[at] * step_, its().bytes});
            }
            result.emplace_back(list, on).attributes = {its().how};
        }
        return result;
    }
    void fill(CUdeviceptr at, unsigned seed) const {
        auto const bytes = pattern(room_, seed);
        if (at == host_->address())
            host_->fill(bytes);
        else
            write_by_driver(at, bytes);
    }
    [[nodiscard]] std::vector<std::byte> target() const {
        if (to() != host_->address())
            return read_by_driver(to(), room_);
        auto const bytes = host_->bytes();
        return {bytes.begin(), bytes.end()};
    }
    /// Every byte of the target after one round by either, and the first status that is no success.
    std::vector<std::byte> run(copier which, CUresult& status) const {
        fill(from(), 1);
        fill(to(), 2);
        status = cuda::success;
        for (copies const& each : batches())
            if (CUresult const result = copy_by(which, each); status == cuda::success)
                status = result;
        (void)cuda::api().stream_synchronize(batches().front().stream);
        EXPECT_EQ(cuda::api().ctx_synchronize(), cuda::success);
        return target();
    }
    void expect_right() const {
        CUresult wanted = 0, got = 0;
        auto const bytes = run(copier::driver, wanted);
        EXPECT_TRUE(run(copier::dropin, got) == bytes);
        EXPECT_EQ(wanted, cuda::success);
        EXPECT_EQ(got, cuda::success);
    }

    std::size_t const count_ = count_in_tests(its()), calls_ = calls_in_tests(its()),
                      step_ = its().bytes + 16, room_ = count_ * calls_ * step_;
    std::optional<memcpy_program> m_;
    std::optional<device_block> gpu_, other_, peer_;
    std::optional<pinned_block> host_;
    std::optional<open_stream> stream_;
};
class memcpy_programs_that_gain : public memcpy_programs {
}; // elsewhere the driver's own call counts

constexpr auto name_of_program = [](auto const& info) {
    return std::string(std::get<1>(info.param).name) + "_" + std::get<0>(info.param);
};

std::vector<memcpy_replays::pattern> those_that_gain() {
    std::vector<memcpy_replays::pattern> result;
    std::ranges::copy_if(memcpy_replays::patterns, std::back_inserter(result),
                         &memcpy_replays::pattern::is_taken);
    return result;
}

INSTANTIATE_TEST_SUITE_P(by, memcpy_programs,
                         testing::Combine(testing::Values("driver", "channel"),
                                          testing::ValuesIn(memcpy_replays::patterns)),
                         name_of_program);
INSTANTIATE_TEST_SUITE_P(by, memcpy_programs_that_gain,
                         testing::Combine(testing::Values("driver", "channel"),
                                          testing::ValuesIn(those_that_gain())),
                         name_of_program);

TEST_P(memcpy_programs, get_what_the_driver_gives_them) {
    auto const before = m_->taken();
    expect_right();
    bool const may_be_taken = its().how.srcLocHint.type != 3 || os::has_numa_node(0);
    EXPECT_EQ(m_->taken()[0] - before[0], its().is_taken && may_be_taken ? calls_ : 0)
        << m_->words();
}

// A status tells of whatever was not copied, and the next batch is copied.
TEST_P(memcpy_programs_that_gain, lose_nothing_if_a_call_of_the_driver_fails) {
    CUresult status = 0;
    auto const wanted = run(copier::driver, status);
    unsigned failing = 0, made = 0;
    do {
        ++failing;
        SCOPED_TRACE("call " + std::to_string(failing) + " of the driver fails");
        if (!memcpy_dropin::gpu_batches::of(0)->is_ready()) {
            stop();
            start();
        }
        fill(from(), 1);
        fill(to(), 2);
        auto const list = batches();
        auto const& sim = fake::the_simulation();
        unsigned const before = sim.calls();
        sim.fail(failing, failing % 2 == 0 ? cuda::error_unknown : cuda::error_out_of_memory);
        auto const taken = memcpy_dropin::take(list.front().call());
        made = sim.calls() - before;
        sim.fail(0, cuda::success);
        if (!taken || *taken == cuda::success) {
            for (std::size_t i = taken ? 1 : 0; i < list.size(); ++i)
                EXPECT_EQ(copy_by(copier::driver, list[i]), cuda::success);
            (void)cuda::api().stream_synchronize(list.front().stream);
            EXPECT_EQ(cuda::api().ctx_synchronize(), cuda::success);
            EXPECT_TRUE(target() == wanted);
        }
    } while (made >= failing); // it was called
    expect_right();
}

} // namespace
} // namespace barmap::contract
