// SPDX-License-Identifier: MIT
// When libgdrapi's copies go by a copy engine, and when none is even started: the library's own
// sources on the simulated GPU, so that the core behind them can be asked.
#include "cuda/driver_api.hpp"
#include "cuda/virtual_block.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"

#include <barmap/barmap.hpp>

#include <cerrno>
#include <cstdlib>
#include <gdrapi.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <vector>

namespace barmap::dropin {
namespace {

constexpr std::size_t gpu_page = 65536;
constexpr std::size_t size = 16 * gpu_page;
constexpr std::size_t least_to_gpu = 32768, least_to_cpu = 1024;

using bytes = std::vector<unsigned char>;

bytes random_bytes(std::size_t count) {
    static std::mt19937 source(1);
    bytes result(count);
    for (unsigned char& each : result)
        each = static_cast<unsigned char>(source());
    return result;
}

class gdrapi_engine : public testing::Test {
protected:
    /// @param engine as BARMAP_ENGINE
    void open(char const* engine) {
        pin(engine);
        map(size - 100);
    }
    void pin(char const* engine) {
        ::setenv("BARMAP_SIM", "1", 1);
        ::setenv("BARMAP_ENGINE", engine, 1);
        CUcontext context = nullptr;
        ASSERT_EQ(cuda::api().primary_ctx_retain(&context, 0), cuda::success);
        ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
        // The driver's engine copies no memory that it cannot map once more, such as cuMemAlloc's.
        memory_.emplace(0, size);
        block_ = memory_->address();
        g_ = gdr_open();
        ASSERT_NE(g_, nullptr);
        // Not from its start: GPU pages are pinned, of which this is a part.
        ASSERT_EQ(gdr_pin_buffer(g_, block_ + 100, size - 100, 0, 0, &handle_), 0);
    }
    void map(std::size_t bytes) {
        void* mapped = nullptr;
        ASSERT_EQ(gdr_map(g_, handle_, &mapped, bytes), 0);
        mapped_ = static_cast<unsigned char*>(mapped);
    }
    void TearDown() override {
        if (!g_)
            return;
        EXPECT_EQ(gdr_close(g_), 0);
        memory_.reset();
    }

    /// Both ways, at this offset of what was pinned, checked against the driver's own copies.
    void copy_both_ways(std::size_t at, std::size_t count) {
        SCOPED_TRACE(std::to_string(count) + " bytes at " + std::to_string(at));
        bytes const sent = random_bytes(count);
        EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_ + at, sent.data(), count), 0);
        bytes seen(count);
        ASSERT_EQ(cuda::api().memcpy_dtoh(seen.data(), block_ + 100 + at, count), cuda::success);
        EXPECT_TRUE(seen == sent);
        bytes const there = random_bytes(count);
        ASSERT_EQ(cuda::api().memcpy_htod(block_ + 100 + at, there.data(), count), cuda::success);
        ASSERT_EQ(cuda::api().stream_synchronize(nullptr), cuda::success); // it may return before
        EXPECT_EQ(gdr_copy_from_mapping(handle_, seen.data(), mapped_ + at, count), 0);
        EXPECT_TRUE(seen == there);
    }

    static std::vector<engine_report> started() { return device::open(0).started_engines(); }
    static engine_report driver() {
        for (engine_report& each : started())
            if (each.name == "driver")
                return each;
        return {};
    }

    std::optional<cuda::virtual_block> memory_;
    CUdeviceptr block_ = 0;
    gdr_t g_ = nullptr;
    gdr_mh_t handle_{};
    unsigned char* mapped_ = nullptr;
};

TEST_F(gdrapi_engine, small_copies_start_none) {
    pin("auto");
    map(gpu_page);
    bytes host(least_to_gpu);
    for (std::size_t count = 1; count < least_to_gpu; count += 1 + count / 3)
        EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_ + 1, host.data(), count), 0);
    for (std::size_t count = 1; count < least_to_cpu; count += 1 + count / 3)
        EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_ + 1, count), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_, host.data(), least_to_gpu - 1), 0);
    EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_, least_to_cpu - 1), 0);
    EXPECT_TRUE(started().empty());
    EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_, least_to_cpu), 0);
    EXPECT_FALSE(started().empty()) << "the first that might be faster by one";
}

/// What starting and measuring an engine needs of CUDA, and a copy by a started one does not.
class no_new_memory {
public:
    no_new_memory() {
        calls() = 0;
        table_ = cuda::api();
        table_.mem_alloc = [](CUdeviceptr*, std::size_t) { return ++calls(), refused; };
        table_.stream_create = [](CUstream*, unsigned) { return ++calls(), refused; };
        table_.mem_host_register = [](void*, std::size_t, unsigned) { return ++calls(), refused; };
        cuda::replace_api(&table_);
    }
    no_new_memory(no_new_memory const&) = delete;
    no_new_memory& operator=(no_new_memory const&) = delete;
    ~no_new_memory() { cuda::replace_api(nullptr); }
    static unsigned& calls() {
        static unsigned count;
        return count;
    }

private:
    static constexpr CUresult refused = cuda::error_out_of_memory;
    cuda::driver_api table_;
};

// A program's timed loop of copies, which comes next, contains no start.
TEST_F(gdrapi_engine, a_large_mapping_starts_it) {
    pin("auto");
    EXPECT_TRUE(started().empty());
    map(gpu_page + 1);
    EXPECT_FALSE(started().empty());
    {
        no_new_memory const refused;
        bytes host(gpu_page);
        EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_, host.data(), host.size()), 0);
        EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_, host.size()), 0);
    }
    EXPECT_EQ(no_new_memory::calls(), 0u);
}

TEST_F(gdrapi_engine, a_mapping_without_it_is_a_mapping_all_the_same) {
    pin("auto");
    {
        no_new_memory const refused;
        map(size - 100);
    }
    EXPECT_GT(no_new_memory::calls(), 0u);
    copy_both_ways(1, size / 2);
}

TEST_F(gdrapi_engine, large_copies_go_by_it) {
    open("driver");
    engine_report const before = driver();
    ASSERT_EQ(before.state, backend_state::usable);
    copy_both_ways(0, least_to_gpu);
    copy_both_ways(3, 500'001);
    copy_both_ways(size - 100 - 123'457, 123'457);
    engine_report const after = driver();
    unsigned const late = after.failures - before.failures; // on a busy machine
    EXPECT_EQ(after.copies - before.copies + late, 6u);
    EXPECT_TRUE(late > 0 || after.bytes - before.bytes == 2 * (least_to_gpu + 500'001u + 123'457u));
    bytes host(least_to_gpu);
    EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_, host.data(), least_to_gpu - 1), 0);
    EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_, least_to_cpu - 1), 0);
    EXPECT_EQ(driver().copies, after.copies);
}

TEST_F(gdrapi_engine, large_copies_are_right_by_what_was_measured) {
    open("auto");
    for (std::size_t count = least_to_cpu; count < size - 107; count += 1 + count / 2)
        copy_both_ways(7, count);
}

TEST_F(gdrapi_engine, can_be_switched_off) {
    open("none");
    bytes host(300'000);
    {
        fake::cuda_watch const watch;
        fake::the_faults().arm(fake::fault_source::cuda, 1, cuda::error_out_of_memory);
        EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_ + 5, host.data(), host.size()), 0);
        EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_ + 5, host.size()), 0);
        fake::the_faults().disarm();
    }
    EXPECT_EQ(fake::the_faults().fired(), "") << "and then CUDA is not called";
    copy_both_ways(5, 300'000);
    EXPECT_TRUE(started().empty());
}

TEST_F(gdrapi_engine, that_is_asked_for_must_be_usable) {
    ::setenv("BARMAP_SIM", "1", 1);
    ::setenv("BARMAP_ENGINE", "channel", 1); // which needs NVIDIA's driver
    CUcontext context = nullptr;
    ASSERT_EQ(cuda::api().primary_ctx_retain(&context, 0), cuda::success);
    ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
    ASSERT_EQ(cuda::api().mem_alloc(&block_, size), cuda::success);
    EXPECT_EQ(gdr_open(), nullptr) << "where it opens the GPU of this context";
    ASSERT_EQ(cuda::api().ctx_set_current(nullptr), cuda::success);
    g_ = gdr_open();
    ASSERT_NE(g_, nullptr);
    EXPECT_EQ(gdr_pin_buffer(g_, block_, size, 0, 0, &handle_), ENODEV);
    ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
}

// As with small ones: gdrcopy looks at the range and at nothing else.
TEST_F(gdrapi_engine, large_copies_are_refused_as_small_ones_are) {
    open("driver");
    bytes host(size);
    EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_ + 1, host.data(), size), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_ - 101, least_to_cpu), EINVAL);
    EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_, nullptr, least_to_gpu), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle_, nullptr, mapped_, ~std::size_t{0}), EINVAL);
    EXPECT_EQ(gdr_unmap(g_, handle_, mapped_, size - 100), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle_, mapped_, host.data(), least_to_gpu), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle_, host.data(), mapped_, least_to_cpu), EINVAL);
}

// To measure the engines takes GPU memory. Without, a mapping is enough.
TEST_F(gdrapi_engine, large_copies_are_made_where_the_memory_of_the_GPU_is_used_up) {
    ::setenv("BARMAP_SIM_MEMORY", "64M", 1);
    open("auto");
    std::vector<CUdeviceptr> taken(1);
    while (cuda::api().mem_alloc(&taken.back(), std::size_t{2} << 20) == cuda::success)
        taken.push_back(0);
    taken.pop_back();
    EXPECT_THROW((void)device::open(0).allocate(1), error) << "all of it is";
    copy_both_ways(1, size / 2);
    for (CUdeviceptr const block : taken)
        EXPECT_EQ(cuda::api().mem_free(block), cuda::success);
    copy_both_ways(1, size / 2);
}

} // namespace
} // namespace barmap::dropin
