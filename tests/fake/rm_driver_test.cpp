// SPDX-License-Identifier: MIT
#include "fake/rm_driver.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/memory.hpp"
#include "fake/simulation.hpp"
#include "os/fd.hpp"
#include "os/region.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/mman.h>
#include <utility>

/// The fake resource manager is as strict as it says, and as lenient as the real one.
namespace barmap::fake {
namespace {

namespace abi = barmap::rm::abi;
using rm::class_memory;

constexpr std::uint64_t block = 2u << 20;
std::uint64_t const page = os::page_size();

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
        kernel_.reset();
        kernel_.emplace();
        driver_ = std::make_shared<rm_driver>(*kernel_, how);
        kernel_->add(driver_);
        control_ = os::open_file("/dev/nvidiactl", O_RDWR);
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

TEST_F(rm_driver_test, unknown_calls_are_violations) {
    abi::free_parameters parameters{};
    EXPECT_EQ(ioctl(0x7f, parameters), -1) << "escape";
    EXPECT_EQ(errno, EINVAL);
    expect_violations(1);
    EXPECT_EQ(ioctl(abi::esc_rm_alloc, parameters), -1) << "size";
    expect_violations(1);
    EXPECT_EQ(os::current().ioctl(control_.get(), 0x1234, &parameters), -1) << "not RM's";
    expect_violations(1);
    abi::card_info one_card{};
    EXPECT_EQ(ioctl(abi::esc_card_info, one_card), -1) << "a list of another length";
    expect_violations(1);
    EXPECT_THROW((void)os::open_file("/dev/nvidia0", O_RDWR), error) << "no such minor";
    expect_violations(1);
}

TEST_F(rm_driver_test, unknown_classes_commands_and_fields_are_violations) {
    open_device();
    abi::handle made = 0;
    EXPECT_EQ(allocate(0x1234, client_, nullptr, 0, &made), rm::err_invalid_class);
    abi::device_alloc_parameters wanted{};
    wanted.device_id = rm_driver::device_instance(0);
    wanted.client_share = client_;
    wanted.flags = 1;
    EXPECT_EQ(allocate(abi::class_device, client_, &wanted, sizeof wanted, &made),
              rm::err_invalid_argument);
    wanted.flags = 0;
    EXPECT_EQ(allocate(abi::class_device, client_, &wanted, 8, &made),
              abi::err_invalid_param_struct);
    wanted.device_id = 0;
    EXPECT_EQ(allocate(abi::class_device, client_, &wanted, sizeof wanted, &made),
              rm::err_invalid_device);
    expect_violations(4);
    abi::id_info_parameters info{};
    EXPECT_EQ(control(client_, 0x3d00, info), rm::err_invalid_command);
    EXPECT_EQ(control(device_, abi::cmd_gpu_get_id_info_v2, info), abi::err_invalid_param_struct)
        << "of the wrong object";
    EXPECT_EQ(control(client_, abi::cmd_gpu_get_id_info_v2, info), rm::err_invalid_argument)
        << "no such GPU";
    expect_violations(3);
}

TEST_F(rm_driver_test, parents_are_strict) {
    open_device();
    abi::handle made = 0;
    abi::subdevice_alloc_parameters subdevice{};
    EXPECT_EQ(allocate(abi::class_subdevice, client_, &subdevice, sizeof subdevice, &made),
              rm::err_invalid_object_parent);
    EXPECT_EQ(free(0, device_), rm::err_invalid_object_parent);
    EXPECT_EQ(free(client_, 12345), rm::err_object_not_found);
    expect_violations(3);
    abi::handle const own = std::exchange(client_, 0xc1d00000);
    EXPECT_EQ(free(own, device_), rm::err_invalid_client);
    client_ = own;
    expect_violations(1);
}

TEST_F(rm_driver_test, freeing_takes_the_whole_tree) {
    std::size_t const before = driver_->objects();
    open_device();
    abi::handle memory = 0, other = 0;
    ASSERT_EQ(duplicate(&memory), abi::ok);
    ASSERT_EQ(duplicate(&other), abi::ok);
    EXPECT_EQ(driver_->objects(), before + 4);
    EXPECT_EQ(free(device_, other), abi::ok);
    EXPECT_EQ(driver_->objects(), before + 3);
    EXPECT_EQ(free(client_, device_), abi::ok);
    EXPECT_EQ(driver_->objects(), before + 1);
    open_device();
    ASSERT_EQ(duplicate(&memory), abi::ok);
    control_ = {};
    EXPECT_EQ(driver_->objects(), 0u) << "the clients go with their file";
    expect_violations(0);
}

TEST_F(rm_driver_test, a_view_is_mapped_once_and_whole) {
    open_device();
    abi::handle memory = 0;
    ASSERT_EQ(duplicate(&memory), abi::ok);
    open_device_file();
    EXPECT_EQ(mmap(page), nullptr) << "before there is a view";
    expect_violations(1);
    open_device_file();
    abi::map_parameters const view = map(memory, page, 2 * page);
    ASSERT_EQ(view.status, abi::ok);
    EXPECT_EQ(driver_->bar1_used(0), 2 * page);
    std::byte* const cpu = mmap(2 * page);
    ASSERT_NE(cpu, nullptr);
    cpu[5] = std::byte{9};
    std::byte seen{};
    EXPECT_EQ(cu().memcpy_dtoh(&seen, address_ + page + 5, 1), cuda::success);
    EXPECT_EQ(seen, std::byte{9});
    expect_violations(0);
    EXPECT_EQ(mmap(2 * page), nullptr) << "for a second time";
    EXPECT_EQ(map(memory, 0, page).status, rm::err_invalid_argument) << "the file is used up";
    EXPECT_EQ(unmap(memory, view.linear_address + 1), rm::err_invalid_argument);
    expect_violations(3);
    EXPECT_EQ(unmap(memory, view.linear_address), abi::ok);
    expect_violations(1); // the CPU still has it mapped
    os::current().munmap(cpu, 2 * page);
    EXPECT_EQ(driver_->bar1_used(0), 0u);
}

TEST_F(rm_driver_test, a_view_stays_inside_its_object) {
    open_device();
    abi::handle memory = 0;
    ASSERT_EQ(duplicate(&memory), abi::ok);
    for (auto const& [offset, length] :
         std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
             {0, block + page}, {block, page}, {1, page}, {0, 100}, {0, 0}}) {
        open_device_file();
        EXPECT_EQ(map(memory, offset, length).status, rm::err_invalid_limit) << offset;
        expect_violations(1);
    }
    open_device_file(1);
    EXPECT_EQ(map(memory, 0, page).status, rm::err_invalid_argument) << "the other GPU's file";
    expect_violations(1);
}

TEST_F(rm_driver_test, bar1_runs_out_without_a_violation) {
    rm_driver::behaviour how;
    how.bar1 = 4 * page;
    start(how);
    open_device();
    abi::handle memory = 0;
    ASSERT_EQ(duplicate(&memory), abi::ok);
    open_device_file();
    EXPECT_EQ(map(memory, 0, 5 * page).status, abi::err_insufficient_resources);
    EXPECT_EQ(map(memory, 0, 4 * page).status, abi::ok);
    open_device_file();
    EXPECT_EQ(map(memory, 0, page).status, abi::err_insufficient_resources);
    EXPECT_TRUE(kernel_->violations().empty());
}

// The real one does so too: that is why the library has to look.
TEST_F(rm_driver_test, the_wrong_gpu_is_no_error_and_reaches_other_memory) {
    open_device(1);
    abi::handle memory = 0;
    EXPECT_EQ(duplicate(&memory), abi::ok);
    open_device_file(1);
    ASSERT_EQ(map(memory, 0, page).status, abi::ok);
    std::byte* const cpu = mmap(page);
    ASSERT_NE(cpu, nullptr);
    cpu[0] = std::byte{1};
    std::byte seen{2};
    EXPECT_EQ(cu().memset_d8(address_, 3, page), cuda::success);
    EXPECT_EQ(cpu[0], std::byte{1});
    EXPECT_EQ(cu().memcpy_dtoh(&seen, address_, 1), cuda::success);
    EXPECT_EQ(seen, std::byte{3});
    os::current().munmap(cpu, page);
    expect_violations(0);
}

TEST_F(rm_driver_test, export_info_has_the_layout_of_its_series) {
    CUmemAllocationProp properties{};
    properties.type = cuda::allocation_type_pinned;
    properties.requestedHandleTypes = cuda::handle_type_posix_fd;
    properties.location = {cuda::location_type_device, 1};
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_EQ(cu().mem_create(&handle, block, &properties, 0), cuda::success);
    int fd = -1;
    ASSERT_EQ(cu().mem_export_to_shareable_handle(&fd, handle, cuda::handle_type_posix_fd, 0),
              cuda::success);
    os::fd const exported(fd);
    for (unsigned const series : {535u, 580u}) {
        rm_driver::behaviour how;
        how.series = series;
        start(how);
        open_device();
        abi::export_object_info info{};
        abi::export_object_info_535 older{};
        info.fd = older.fd = exported.get();
        bool const old = series == 535;
        EXPECT_EQ(control(client_, abi::cmd_get_export_object_info, info),
                  old ? abi::err_invalid_param_struct : abi::ok);
        EXPECT_EQ(control(client_, abi::cmd_get_export_object_info, older),
                  old ? abi::ok : abi::err_invalid_param_struct);
        EXPECT_EQ(old ? older.device_instance : info.device_instance,
                  rm_driver::device_instance(1));
        EXPECT_TRUE(kernel_->violations().empty());
    }
    cu().mem_release(handle);
}

TEST_F(rm_driver_test, what_carries_no_memory_is_not_imported) {
    open_device();
    abi::import_object_parameters request{};
    request.fd = control_.get();
    request.type = abi::export_type_rm;
    request.device = request.parent = device_;
    EXPECT_EQ(control(client_, abi::cmd_import_object_from_fd, request), rm::err_invalid_argument);
    expect_violations(1);
}

} // namespace
} // namespace barmap::fake
