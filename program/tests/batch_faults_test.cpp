// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"
#include "kernels/batch_kernels.ptx.hpp"
#include "output/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>

namespace barmap::tool {
namespace {

TEST(piece_picker, chooses_disjoint_places_that_differ_each_time) {
    piece_picker picker(100, 64 * KiB, batch_order::random, 1);
    std::vector<copy_place> const first = picker.pick(200), second = picker.pick(200);
    auto const same = [](copy_place const& a, copy_place const& b) {
        return a.gpu == b.gpu && a.host == b.host;
    };
    EXPECT_FALSE(std::equal(first.begin(), first.end(), second.begin(), same));
    for (auto side : {&copy_place::gpu, &copy_place::host}) {
        std::vector<std::size_t> at;
        for (copy_place const& each : first) {
            EXPECT_EQ(each.bytes, 100u);
            EXPECT_EQ(each.*side % 16, 0u);
            EXPECT_LE(each.*side + each.bytes, 64 * KiB);
            at.push_back(each.*side);
        }
        EXPECT_FALSE(std::is_sorted(at.begin(), at.end()));
        std::sort(at.begin(), at.end());
        for (std::size_t i = 1; i < at.size(); ++i)
            EXPECT_GE(at[i] - at[i - 1], 112u);
    }
}

TEST(piece_picker, chooses_contiguous_places) {
    piece_picker picker(100, 64 * KiB, batch_order::contiguous, 1);
    std::vector<copy_place> const found = picker.pick(200);
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].gpu, found[0].gpu + 100 * i);
        EXPECT_EQ(found[i].host, found[0].host + 100 * i);
    }
    EXPECT_LE(found.back().gpu + 100, 64 * KiB);
}

/// What goes wrong with each copy of the driver's.
enum class fault { none, a_byte_short, a_byte_more, elsewhere, left_out };
std::atomic<fault> now{fault::none};

struct changed_copy {
    CUdeviceptr to, from;
    std::size_t bytes;
};
changed_copy changed(changed_copy copy) {
    switch (now.load()) {
    case fault::a_byte_short:
        --copy.bytes;
        break;
    case fault::a_byte_more:
        ++copy.bytes;
        break;
    case fault::elsewhere:
        copy.to -= copy.to % 128 == 0 ? 0 : 16;
        copy.from += 16;
        break;
    default:
        break;
    }
    return copy;
}

/// The simulated GPU, whose copies go wrong on demand, in the order of streams or not.
class faulty_gpu : public testing::Test {
protected:
    faulty_gpu() {
        setenv("BARMAP_SIM", "1", 1);
        setenv("BARMAP_ENGINE", "driver", 1);
        real_ = &cuda::api();
        static cuda::driver_api table;
        table = *real_;
        table.memcpy_htod_async = [](CUdeviceptr to, void const* from, std::size_t bytes,
                                     CUstream stream) {
            return copy({to, reinterpret_cast<CUdeviceptr>(from), bytes}, stream);
        };
        table.memcpy_dtoh_async = [](void* to, CUdeviceptr from, std::size_t bytes,
                                     CUstream stream) {
            return copy({reinterpret_cast<CUdeviceptr>(to), from, bytes}, stream);
        };
        table.memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                CUstream stream) {
            return copy({to, from, bytes}, stream);
        };
        table.memcpy_batch_async = [](CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                      std::size_t count, CUmemcpyAttributes*, std::size_t*,
                                      std::size_t, std::size_t*, CUstream stream) {
            for (std::size_t i = 0; i < count; ++i)
                if (CUresult const result = copy({to[i], from[i], bytes[i]}, stream))
                    return result;
            return cuda::success;
        };
        cuda::replace_api(&table);
        gpu_.emplace(0);
        scope_.emplace(gpu_->enter());
        kernels_.emplace(ptx::batch_kernels);
        engine_.emplace(gpu_->device().batch_queue()); // tests itself while nothing goes wrong
        values_.json = true;                       // no tables
        values_.pool = MiB;
        values_.pieces = {16};
        values_.sizes = {512};
        values_.iterations = 1;
        values_.check = 4;
        values_.round_trips = 4;
    }
    ~faulty_gpu() override {
        now = fault::none;
        engine_.reset();
        kernels_.reset();
        scope_.reset();
        gpu_.reset();
        cuda::replace_api(nullptr);
    }

    bool runs_well(bool (*part)(batch_bench const&)) {
        report out(values_);
        return part({out, *gpu_, *kernels_, values_, other()});
    }

    /// The GPU that has the other side, if that is not host memory.
    [[nodiscard]] opened_gpu const* other() const {
        return values_.between == "host" ? nullptr : &*gpu_;
    }

    /// What is found of one batch by the loop.
    batch_faults found(copy_direction way, batch_order order) {
        std::vector<left_out> missing;
        auto const loop = make_batch_method("loop", *gpu_, *kernels_, missing);
        batch_pools pools(MiB, 1, other());
        return verify_batch(*loop, pools, way, order, {16, 512}, 1);
    }

    std::optional<opened_gpu> gpu_;
    std::optional<cuda::context_scope> scope_;
    std::optional<gpu_kernels> kernels_;
    std::optional<batch_queue> engine_;
    batch_options values_;

private:
    static CUresult copy(changed_copy wanted, CUstream stream) {
        changed_copy const one = changed(wanted);
        if (now == fault::left_out)
            return cuda::success;
        return real_->memcpy_async(one.to, one.from, one.bytes, stream);
    }
    static inline cuda::driver_api const* real_ = nullptr;
};

constexpr copy_direction both[] = {copy_direction::to_cpu, copy_direction::to_gpu};

TEST_F(faulty_gpu, is_right_without_a_fault) {
    for (copy_direction const way : both)
        for (batch_order const order : {batch_order::contiguous, batch_order::random})
            EXPECT_TRUE(found(way, order).none());
    for (auto* part :
         {measure_batches, measure_both_ways, measure_order, check_batches, make_round_trips})
        EXPECT_TRUE(runs_well(part));
}

TEST_F(faulty_gpu, missing_bytes_are_counted) {
    now = fault::a_byte_short;
    for (copy_direction const way : both) {
        batch_faults const random = found(way, batch_order::random);
        EXPECT_EQ(random.wrong, 16u);
        EXPECT_EQ(random.guards, 0u);
    }
    now = fault::left_out;
    for (copy_direction const way : both)
        EXPECT_GT(found(way, batch_order::random).wrong, std::uint64_t{16 * 512 * 9 / 10});
}

TEST_F(faulty_gpu, changed_guard_bytes_are_counted) {
    now = fault::a_byte_more;
    for (copy_direction const way : both) {
        batch_faults const contiguous = found(way, batch_order::contiguous);
        EXPECT_EQ(contiguous.guards, 1u) << "behind the last one";
        EXPECT_GT(found(way, batch_order::random).guards, 1u);
    }
}

TEST_F(faulty_gpu, bytes_of_another_place_are_wrong) {
    now = fault::elsewhere;
    for (copy_direction const way : both)
        EXPECT_GT(found(way, batch_order::random).wrong, std::uint64_t{16 * 512 * 9 / 10});
}

TEST_F(faulty_gpu, both_sides_may_be_gpu_memory) {
    values_.between = "inside";
    for (auto* part : {measure_batches, measure_both_ways, measure_order, check_batches})
        EXPECT_TRUE(runs_well(part));
    for (copy_direction const way : both) {
        now = fault::a_byte_short;
        EXPECT_EQ(found(way, batch_order::random).wrong, 16u);
        now = fault::a_byte_more;
        EXPECT_EQ(found(way, batch_order::contiguous).guards, 1u);
        now = fault::elsewhere;
        EXPECT_GT(found(way, batch_order::random).wrong, std::uint64_t{16 * 512 * 9 / 10});
    }
    for (auto* part : {measure_batches, measure_both_ways, measure_order, check_batches})
        EXPECT_FALSE(runs_well(part));
}

TEST_F(faulty_gpu, every_measurement_that_verifies_fails) {
    now = fault::a_byte_short;
    for (auto* part : {measure_batches, measure_both_ways, measure_order, check_batches})
        EXPECT_FALSE(runs_well(part));
    now = fault::a_byte_more;
    for (auto* part : {measure_batches, measure_both_ways, measure_order, check_batches})
        EXPECT_FALSE(runs_well(part));
}

TEST_F(faulty_gpu, round_trips_whose_copies_do_not_come_are_stale) {
    now = fault::left_out;
    EXPECT_FALSE(runs_well(make_round_trips));
}

TEST_F(faulty_gpu, words_that_are_early_or_stale_are_counted) {
    constexpr std::uint32_t words = 8;
    pinned_host data(words * sizeof(std::uint32_t)), counts(2 * sizeof(std::uint64_t));
    auto* const word = reinterpret_cast<std::uint32_t*>(data.data());
    std::uint32_t value = 5, count = words;
    std::fill_n(word, words, value);
    word[2] = ~value;
    word[3] = 0;
    word[7] = 4;
    CUdeviceptr at = data.gpu_address(), to = counts.gpu_address();
    std::array<void*, 4> arguments{&at, &count, &value, &to};
    ASSERT_EQ(cuda::api().launch_kernel(kernels_->named("barmap_check_words"), 1, 1, 1, 1, 1, 1, 0,
                                        nullptr, arguments.data(), nullptr),
              cuda::success);
    ASSERT_EQ(cuda::api().ctx_synchronize(), cuda::success);
    EXPECT_EQ(counts.word()[0], 1u);
    EXPECT_EQ(counts.word()[1], 2u);
}

} // namespace
} // namespace barmap::tool
