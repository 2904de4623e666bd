// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"
#include "cuda/memory.hpp"
#include "fake/rm_driver.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/mman.h>

namespace barmap::fake {

namespace abi = barmap::rm::abi;
using rm::class_memory;

inline constexpr std::uint64_t block = 2u << 20;
inline std::uint64_t const page = os::page_size();

/// Speaks to the fake resource manager by hand. There are two GPUs, and 2 MiB of CUDA's memory on
/// the first.
class rm_driver_test : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("BARMAP_SIM_DEVICES", "2", 1);
        start({});
        CUcontext context = nullptr;
        ASSERT_EQ(cu().primary_ctx_retain(&context, 0), cuda::success);
        ASSERT_EQ(cu().ctx_set_current(context), cuda::success);
        ASSERT_EQ(cu().mem_alloc(&address_, block), cuda::success);
    }
    void TearDown() override {
        cu().mem_free(address_);
        control_ = {};
        device_file_ = {};
    }

    void start(rm_driver::behaviour how) {
        control_ = {};
        device_file_ = {};
        driver_.reset();
        kernel_.reset();
        seen_ = 0;
        kernel_.emplace();
        driver_ = std::make_shared<rm_driver>(*kernel_, how);
        kernel_->add(driver_);
        control_ = os::open_file("/dev/nvidiactl", O_RDWR);
        // Who was told the version has no reason to try other sizes.
        abi::version_parameters asked{};
        asked.command = abi::version_query;
        ASSERT_EQ(ioctl(abi::esc_check_version, asked), 0);
    }

    static cuda::driver_api const& cu() { return cuda::api(); }

    /// Expects so many violations since the last call.
    void expect_violations(std::size_t count) {
        std::size_t const now = kernel_->violations().size();
        EXPECT_EQ(now - seen_, count) << (now ? kernel_->violations().back() : "");
        seen_ = now;
    }

    template <class Parameters>
    int ioctl(unsigned escape, Parameters& parameters) {
        return os::current().ioctl(control_.get(), abi::request<Parameters>(escape), &parameters);
    }
    std::uint32_t allocate(std::uint32_t object_class, abi::handle parent, void* parameters,
                           std::uint32_t size, abi::handle* made) {
        abi::alloc_parameters request{};
        request.root = client_;
        request.parent = parent;
        request.object_class = object_class;
        request.parameters = reinterpret_cast<std::uintptr_t>(parameters);
        request.parameters_size = size;
        EXPECT_EQ(ioctl(abi::esc_rm_alloc, request), 0);
        *made = request.object;
        return request.status;
    }
    template <class Parameters>
    std::uint32_t control(abi::handle object, std::uint32_t command, Parameters& parameters) {
        abi::control_parameters request{};
        request.client = client_;
        request.object = object;
        request.command = command;
        request.parameters = reinterpret_cast<std::uintptr_t>(&parameters);
        request.parameters_size = sizeof parameters;
        EXPECT_EQ(ioctl(abi::esc_rm_control, request), 0);
        return request.status;
    }
    std::uint32_t free(abi::handle parent, abi::handle object) {
        abi::free_parameters request{client_, parent, object, 0};
        EXPECT_EQ(ioctl(abi::esc_rm_free, request), 0);
        return request.status;
    }

    /// A client with a device.
    void open_device(int ordinal = 0) {
        client_ = 0;
        ASSERT_EQ(allocate(abi::class_root_client, 0, nullptr, 0, &client_), abi::ok);
        abi::device_alloc_parameters wanted{};
        wanted.device_id = rm_driver::device_instance(ordinal);
        wanted.client_share = client_;
        ASSERT_EQ(allocate(abi::class_device, client_, &wanted, sizeof wanted, &device_), abi::ok);
    }
    /// A duplicate of the CUDA allocation's object.
    std::uint32_t duplicate(abi::handle* made) {
        CUipcMemHandle handle{};
        EXPECT_EQ(cu().ipc_get_mem_handle(&handle, address_), cuda::success);
        abi::dup_parameters request{};
        request.client = client_;
        request.parent = device_;
        std::memcpy(&request.source_client, handle.reserved + 48, 4);
        std::memcpy(&request.source_object, handle.reserved + 52, 4);
        EXPECT_EQ(ioctl(abi::esc_rm_dup_object, request), 0);
        *made = request.object;
        return request.status;
    }
    /// A fresh device file, registered.
    void open_device_file(int ordinal = 0) {
        device_file_ =
            os::open_file("/dev/nvidia" + std::to_string(rm_driver::minor_number(ordinal)), O_RDWR);
        abi::register_fd_parameters registration{control_.get()};
        ASSERT_EQ(
            os::current().ioctl(device_file_.get(),
                                abi::request<abi::register_fd_parameters>(abi::esc_register_fd),
                                &registration),
            0);
    }
    abi::map_parameters map(abi::handle memory, std::uint64_t offset, std::uint64_t length) {
        abi::map_parameters request{};
        request.client = client_;
        request.device = device_;
        request.memory = memory;
        request.offset = offset;
        request.length = length;
        request.flags = abi::map_flags_default_caching;
        request.fd = device_file_.get();
        EXPECT_EQ(ioctl(abi::esc_rm_map_memory, request), 0);
        return request;
    }
    std::uint32_t unmap(abi::handle memory, std::uint64_t linear_address) {
        abi::unmap_parameters request{client_, device_, memory, linear_address, 0, 0};
        EXPECT_EQ(ioctl(abi::esc_rm_unmap_memory, request), 0);
        return request.status;
    }
    std::byte* mmap(std::size_t bytes, off_t offset = 0) {
        void* const at = os::current().mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                            device_file_.get(), offset);
        return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    }

    std::optional<kernel> kernel_;
    std::shared_ptr<rm_driver> driver_;
    os::fd control_, device_file_;
    abi::handle client_ = 0, device_ = 0;
    CUdeviceptr address_ = 0;

private:
    std::size_t seen_ = 0;
};

} // namespace barmap::fake
