// SPDX-License-Identifier: MIT
#include "fake/rm_driver.hpp"

#include "fake/rm_fixture.hpp"
#include "fake/simulation.hpp"

#include <initializer_list>
#include <utility>

/// The fake resource manager is as strict as it says, and as lenient as the real one.
namespace barmap::fake {
namespace {

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
    EXPECT_EQ(allocate(abi::class_device, client_, nullptr, 0, &made),
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
    start({.bar1 = 4 * page});
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
        start({.series = series});
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
        expect_violations(1);
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
