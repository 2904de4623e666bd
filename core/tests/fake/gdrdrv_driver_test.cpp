// SPDX-License-Identifier: MIT
#include "fake/gdrdrv_driver.hpp"

#include "cuda/driver_api.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <barmap/pin.hpp>

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/mman.h>

/// The fake module is as strict as it says.
namespace barmap::fake {
namespace {

namespace gdrdrv_abi = backend::gdrdrv::abi;

constexpr std::uint64_t gpu_page = gpu_page_size, block = 2u << 20;
std::uint64_t const page = os::page_size();

class gdrdrv_driver_test : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        CUcontext context = nullptr;
        ASSERT_EQ(cu().primary_ctx_retain(&context, 0), cuda::success);
        ASSERT_EQ(cu().ctx_set_current(context), cuda::success);
        ASSERT_EQ(cu().mem_alloc(&address_, block), cuda::success);
        driver_ =
            std::make_shared<gdrdrv_driver>(kernel_, gdrdrv_driver::behaviour{.minor = GetParam()});
        kernel_.add(driver_);
        module_ = os::open_file("/dev/gdrdrv", O_RDWR);
    }
    void TearDown() override {
        module_ = {};
        EXPECT_EQ(driver_->objects(), 0u) << "pins go with their file";
        cu().mem_free(address_);
    }
    static cuda::driver_api const& cu() { return cuda::api(); }

    template <class Parameters>
    int ioctl(unsigned long request, Parameters& parameters) {
        return os::current().ioctl(module_.get(), request, &parameters) ? errno : 0;
    }
    int pin(std::uint64_t address, std::uint64_t bytes, std::uint64_t* handle) {
        gdrdrv_abi::pin_parameters request{address, bytes, 0, 0, 0};
        int const code = ioctl(gdrdrv_abi::pin, request);
        *handle = request.handle;
        return code;
    }
    std::byte* mmap(std::uint64_t handle, std::size_t bytes) {
        void* const at = os::current().mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                            module_.get(), static_cast<off_t>(handle * page));
        return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    }
    void expect_violations(std::size_t count) {
        EXPECT_EQ(kernel_.violations().size() - seen_, count);
        seen_ = kernel_.violations().size();
    }

    kernel kernel_;
    std::shared_ptr<gdrdrv_driver> driver_;
    os::fd module_;
    CUdeviceptr address_ = 0;

private:
    std::size_t seen_ = 0;
};

TEST_P(gdrdrv_driver_test, each_version_knows_its_calls) {
    gdrdrv_abi::driver_version_parameters version{};
    EXPECT_EQ(ioctl(gdrdrv_abi::get_version, version), 0);
    EXPECT_EQ(version.driver, gdrdrv_abi::version(2, GetParam()));
    std::uint64_t handle = 1;
    ASSERT_EQ(pin(address_, gpu_page, &handle), 0);
    EXPECT_EQ(handle, 0u) << "the first one";
    gdrdrv_abi::info_parameters info{};
    EXPECT_EQ(ioctl(gdrdrv_abi::get_info, info), 0);
    EXPECT_EQ(info.mapped_size, gpu_page);
    EXPECT_FALSE(info.mapped);
    expect_violations(0);
    gdrdrv_abi::info_v2_parameters info_v2{};
    bool const has_info_v2 = GetParam() >= 4, has_pin_v2 = GetParam() >= 5;
    EXPECT_EQ(ioctl(gdrdrv_abi::get_info_v2, info_v2), has_info_v2 ? 0 : ENOTTY);
    gdrdrv_abi::pin_v2_parameters pin_v2{address_, gpu_page, 0, 0, 0};
    EXPECT_EQ(ioctl(gdrdrv_abi::pin_v2, pin_v2), has_pin_v2 ? 0 : ENOTTY);
    expect_violations(!has_info_v2 + !has_pin_v2);
    EXPECT_EQ(ioctl(0xda06, info), ENOTTY);
    EXPECT_EQ(ioctl(_IOWR(gdrdrv_abi::magic, 2, gdrdrv_abi::pin_parameters), info), ENOTTY) << "another size";
    expect_violations(2);
}

TEST_P(gdrdrv_driver_test, pins_are_whole_pages_of_live_memory) {
    std::uint64_t handle = 0;
    for (auto const& [address, bytes] :
         std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
             {address_ + 1, gpu_page},
             {address_, gpu_page + 1},
             {address_, 0},
             {address_, block + gpu_page},
             {gpu_page, gpu_page}}) {
        EXPECT_EQ(pin(address, bytes, &handle), EINVAL) << address << " " << bytes;
        expect_violations(1);
    }
    gdrdrv_abi::pin_parameters with_handle{address_, gpu_page, 0, 0, 1};
    EXPECT_EQ(ioctl(gdrdrv_abi::pin, with_handle), EINVAL);
    expect_violations(1);
}

TEST_P(gdrdrv_driver_test, a_handle_is_mapped_once_at_a_time) {
    std::uint64_t first = 0, second = 0;
    ASSERT_EQ(pin(address_, gpu_page, &first), 0);
    ASSERT_EQ(pin(address_ + gpu_page, 2 * gpu_page, &second), 0);
    EXPECT_NE(first, second);
    EXPECT_EQ(driver_->objects(), 2u);
    EXPECT_EQ(mmap(second + 1, page), nullptr) << "no handle";
    EXPECT_EQ(mmap(second, 2 * gpu_page + page), nullptr) << "more than was pinned";
    expect_violations(2);
    std::byte* cpu = mmap(second, 2 * gpu_page);
    ASSERT_NE(cpu, nullptr);
    cpu[3] = std::byte{4};
    std::byte seen{};
    EXPECT_EQ(cu().memcpy_dtoh(&seen, address_ + gpu_page + 3, 1), cuda::success);
    EXPECT_EQ(seen, std::byte{4});
    EXPECT_EQ(mmap(second, page), nullptr) << "mapped already";
    expect_violations(1);
    gdrdrv_abi::info_parameters info{};
    info.handle = second;
    EXPECT_EQ(ioctl(gdrdrv_abi::get_info, info), 0);
    EXPECT_TRUE(info.mapped && info.write_combining);
    os::current().munmap(cpu, 2 * gpu_page);
    cpu = mmap(second, page);
    EXPECT_NE(cpu, nullptr) << "again";
    gdrdrv_abi::unpin_parameters unpin{second};
    EXPECT_EQ(ioctl(gdrdrv_abi::unpin, unpin), 0);
    expect_violations(1); // it is still mapped
    os::current().munmap(cpu, page);
    EXPECT_EQ(ioctl(gdrdrv_abi::unpin, unpin), EINVAL) << "twice";
    expect_violations(1);
}

INSTANTIATE_TEST_SUITE_P(minor, gdrdrv_driver_test, testing::Range(0u, 7u),
                         [](auto const& info) { return "v2_" + std::to_string(info.param); });

} // namespace
} // namespace barmap::fake
