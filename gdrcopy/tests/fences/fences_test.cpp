// SPDX-License-Identifier: MIT
// Which barrier stands before or behind the accesses of libgdrapi's copies, for each kind of
// mapping: the library's own sources over a stand-in for the gdrdrv module, stepped instruction by
// instruction.
#include "access_trace.hpp"
#include "cuda/driver_api.hpp"
#include "fake/faults.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "fake/kernel.hpp"

#include <cerrno>
#include <cstdlib>
#include <gdrapi.h>
#include <gtest/gtest.h>
#include <string>

namespace barmap::dropin {
namespace {

constexpr std::size_t page = 65536;

struct kind {
    char const* name;
    unsigned module_number;
    gdr_mapping_type_t type;
    char const* word_fence;  ///< before a read of an aligned word
    char const* other_fence; ///< before any other
};
constexpr kind kinds[] = {{"write_combining", 1, GDR_MAPPING_TYPE_WC, "K", "M"},
                          {"cached", 2, GDR_MAPPING_TYPE_CACHING, "", ""},
                          {"uncached", 3, GDR_MAPPING_TYPE_DEVICE, "K", "M"}};

class gdrapi_fences : public testing::TestWithParam<kind> {
protected:
    void SetUp() override {
        if (copy::why_no_trace())
            GTEST_SKIP() << copy::why_no_trace();
        ::setenv("BARMAP_SIM", "1", 1);
        ::setenv("BARMAP_SIM_DRIVER", "580", 1);
        ::setenv("BARMAP_BACKEND", "gdrdrv", 1);
        ::setenv("BARMAP_COPY", "portable", 1);
        kernel_.add(std::make_shared<fake::gdrdrv_driver>(
            kernel_, fake::gdrdrv_driver::behaviour{.mapping_type = GetParam().module_number}));

        CUcontext context = nullptr;
        ASSERT_EQ(cuda::api().primary_ctx_retain(&context, 0), cuda::success);
        ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
        ASSERT_EQ(cuda::api().mem_alloc(&block_, 2 * page), cuda::success);
        std::uint64_t const address = (block_ + page - 1) / page * page;
        g_ = gdr_open();
        ASSERT_NE(g_, nullptr);
        ASSERT_EQ(gdr_pin_buffer(g_, address, page, 0, 0, &handle_), 0);
        void* mapped = nullptr;
        ASSERT_EQ(gdr_map(g_, handle_, &mapped, page), 0);
        mapped_ = static_cast<std::byte*>(mapped);
        gdr_info_t info{};
        ASSERT_EQ(gdr_get_info(g_, handle_, &info), 0);
        ASSERT_EQ(info.mapping_type, GetParam().type);
    }
    void TearDown() override {
        if (mapped_) {
            EXPECT_EQ(gdr_unmap(g_, handle_, mapped_, page), 0);
            EXPECT_EQ(gdr_unpin_buffer(g_, handle_), 0);
            EXPECT_EQ(gdr_close(g_), 0);
        }
        if (block_)
            cuda::api().mem_free(block_);
    }

    std::string order_to(std::size_t at, std::size_t bytes) {
        return order(
            [=, this] { return gdr_copy_to_mapping(handle_, mapped_ + at, host_, bytes); });
    }
    std::string order_from(std::size_t at, std::size_t bytes) {
        return order(
            [=, this] { return gdr_copy_from_mapping(handle_, host_, mapped_ + at, bytes); });
    }

private:
    template <class Copy>
    std::string order(Copy copy_once) {
        EXPECT_EQ(copy_once(), 0); // what happens at a first call only
        int result = -1;
        std::string seen = copy::trace_order({mapped_, page}, [&] { result = copy_once(); });
        EXPECT_EQ(result, 0);
        return seen;
    }

    fake::kernel kernel_;
    CUdeviceptr block_ = 0;
    gdr_t g_ = nullptr;
    gdr_mh_t handle_{};
    std::byte* mapped_ = nullptr;
    std::byte host_[512] = {};
};

TEST_P(gdrapi_fences, copies_to_a_mapping_end_with_sfence) {
    for (std::size_t word : {1, 2, 4, 8})
        EXPECT_EQ(order_to(64 + word, word), "aS") << word << " bytes";
    for (std::size_t bytes : {2, 3, 8, 40, 64, 500})
        EXPECT_EQ(order_to(65, bytes), "aS") << bytes << " bytes";
    EXPECT_EQ(order_to(64, 64), "aS");
}

TEST_P(gdrapi_fences, copies_from_a_mapping_begin_with_the_fence_of_its_kind) {
    for (std::size_t word : {1, 2, 4, 8})
        EXPECT_EQ(order_from(64 + word, word), GetParam().word_fence + std::string("a"))
            << word << " bytes";
    for (std::size_t bytes : {2, 3, 8, 40, 64, 500})
        EXPECT_EQ(order_from(65, bytes), GetParam().other_fence + std::string("a"))
            << bytes << " bytes";
    EXPECT_EQ(order_from(64, 64), GetParam().other_fence + std::string("a"));
}

// Programs for gdrcopy expect the module to have the last word.
TEST(gdrapi_with_the_module, takes_no_other_way_where_it_refuses) {
    ::setenv("BARMAP_SIM", "1", 1);
    ::setenv("BARMAP_SIM_DRIVER", "610", 1); // with which dmabuf would do
    ::unsetenv("BARMAP_BACKEND");
    fake::kernel kernel;
    kernel.add(std::make_shared<fake::gdrdrv_driver>(kernel));
    CUcontext context = nullptr;
    ASSERT_EQ(cuda::api().primary_ctx_retain(&context, 0), cuda::success);
    ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
    CUdeviceptr block = 0;
    ASSERT_EQ(cuda::api().mem_alloc(&block, page), cuda::success);
    gdr_t const g = gdr_open();
    ASSERT_NE(g, nullptr);
    gdr_mh_t handle{};
    ASSERT_EQ(gdr_pin_buffer(g, block, page, 0, 0, &handle), 0); // all backends have started
    EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
    fake::the_faults().arm(fake::fault_source::system, 1, EFAULT);
    EXPECT_EQ(gdr_pin_buffer(g, block, page, 0, 0, &handle), EFAULT);
    EXPECT_EQ(fake::the_faults().fired(), "ioctl");
    fake::the_faults().disarm();
    EXPECT_EQ(gdr_close(g), 0);
    cuda::api().mem_free(block);
}

INSTANTIATE_TEST_SUITE_P(kinds, gdrapi_fences, testing::ValuesIn(kinds),
                         [](auto const& test) { return std::string(test.param.name); });

} // namespace
} // namespace barmap::dropin
