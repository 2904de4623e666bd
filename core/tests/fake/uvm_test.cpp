// SPDX-License-Identifier: MIT
#include "fake/uvm.hpp"

#include "fake/cuda_channel_fixture.hpp"
#include "fake/faults.hpp"

#include <cerrno>
#include <functional>

/// CUDA's address spaces are found, and channels in them are registered with UVM.
namespace barmap::fake {
namespace {

namespace uvm_abi = barmap::rm::uvm_abi;

class uvm_test : public cuda_channel_fixture {
protected:
    /// Frees the channel's group. @return how many violations that is
    std::size_t violations_of_freeing() {
        std::size_t const before = kernel_->violations().size();
        EXPECT_EQ(free(device_, group_), abi::ok);
        return kernel_->violations().size() - before;
    }
};

TEST_F(uvm_test, each_gpu_has_two_address_spaces_among_other_objects) {
    start({});
    open_device();
    std::vector<abi::handle> spaces;
    std::size_t others = 0, refused = 0;
    for (abi::handle each = 0x5c000001; each < 0x5c000000 + 4 * handles_of_a_gpu; ++each) {
        abi::handle made = 0;
        if (duplicate_of_cuda(each, &made) != abi::ok) {
            ++refused;
            continue;
        }
        bool const is_space = class_of(made) == abi::class_address_space;
        others += !is_space;
        if (is_space)
            spaces.push_back(each);
        EXPECT_EQ(free(device_, made), abi::ok);
    }
    EXPECT_EQ(spaces, (std::vector<abi::handle>{space_of_cuda, space_of_cuda + 1,
                                                space_of_cuda + handles_of_a_gpu,
                                                space_of_cuda + handles_of_a_gpu + 1}));
    EXPECT_GT(others, 0u);
    EXPECT_GT(refused, 0u);
    expect_violations(0);
    abi::handle_info_parameters asked{0x1234, abi::handle_info_class, 0};
    EXPECT_EQ(control(client_, abi::cmd_get_handle_info, asked), rm::err_object_not_found);
    asked = {device_, 1, 0};
    EXPECT_NE(control(client_, abi::cmd_get_handle_info, asked), abi::ok);
    asked = {device_, abi::handle_info_class, 0};
    EXPECT_NE(control(device_, abi::cmd_get_handle_info, asked), abi::ok);
    expect_violations(3);
    EXPECT_EQ(class_of(device_), abi::class_device);
}

TEST_F(uvm_test, its_files_are_found_among_the_descriptors) {
    make_in(space_of_cuda);
    auto const files = files_of_cuda();
    ASSERT_EQ(files.size(), 3u);
    auto asked = registration();
    for (std::size_t const idle : {0u, 2u}) {
        EXPECT_EQ(os::current().ioctl(files[idle], uvm_abi::register_channel, &asked), 0);
        EXPECT_EQ(asked.status, rm::err_illegal_action);
    }
    std::size_t const before = kernel_->descriptors();
    {
        os::fd const copy = os::duplicate(files[1]);
        EXPECT_EQ(files_of_cuda().size(), 4u);
        EXPECT_EQ(kernel_->descriptors(), before + 1);
        EXPECT_EQ(os::current().ioctl(copy.get(), uvm_abi::register_channel, &asked), 0);
        EXPECT_EQ(asked.status, abi::ok);
    }
    EXPECT_EQ(retire(), abi::ok);
    expect_violations(0);

    auto const tools = files_of_cuda("/dev/nvidia-uvm-tools");
    ASSERT_EQ(tools.size(), 1u);
    EXPECT_EQ(os::current().ioctl(tools[0], uvm_abi::register_channel, &asked), -1);
    EXPECT_EQ(os::current().ioctl(files[1], 29, &asked), -1);
    EXPECT_EQ(os::current().mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, files[1], 0),
              MAP_FAILED);
    os::current().close(files[0]);
    expect_violations(4);
    EXPECT_EQ(files_of_cuda().size(), 2u);

    drop_views();
    start({.cuda_has_uvm = false});
    EXPECT_TRUE(files_of_cuda().empty());
}

TEST_F(uvm_test, a_fault_of_a_registered_channel_is_reported) {
    make_registered();
    run(one_copy(block_address_ + data_at, host_address_, 64));
    EXPECT_EQ(error_of(one_copy(0, host_address_, 64)), gpu::channel::info_mmu_fault);
    EXPECT_EQ(retire(), abi::ok);
    EXPECT_EQ(violations_of_freeing(), 0u);
}

TEST_F(uvm_test, a_registration_is_verified) {
    make_in(space_of_cuda);
    std::size_t const before = driver_->objects();
    struct {
        std::function<void(uvm_abi::register_channel_parameters&)> spoil;
        std::uint32_t status;
    } const all[] = {
        {[](auto& asked) { asked.gpu_uuid[3] ^= 1; }, rm::err_invalid_device},
        {[](auto& asked) { asked.control_fd = -1; }, rm::err_invalid_client},
        {[&](auto& asked) { asked.control_fd = device_file_.get(); }, rm::err_invalid_client},
        {[](auto& asked) { ++asked.client; }, rm::err_invalid_client},
        {[](auto& asked) { asked.channel = 0x1234; }, rm::err_invalid_object_handle},
        {[&](auto& asked) { asked.channel = group_; }, rm::err_invalid_object_handle},
    };
    for (auto const& each : all) {
        auto asked = registration();
        each.spoil(asked);
        EXPECT_EQ(enrol(asked), each.status);
        expect_violations(1);
    }
    EXPECT_EQ(driver_->objects(), before);
    EXPECT_EQ(enrol(), abi::ok);
    EXPECT_EQ(driver_->objects(), before + 1);
    expect_violations(0);
    EXPECT_EQ(enrol(), rm::err_invalid_channel) << "twice";
    expect_violations(1);
    EXPECT_EQ(retire(), abi::ok);
    EXPECT_EQ(driver_->objects(), before);
}

// Not violations: an address space says of itself neither whose it is nor what for.
TEST_F(uvm_test, only_a_channel_in_cudas_address_space_of_the_gpu_is_registered) {
    make_in(space_of_cuda);
    EXPECT_EQ(enrol(registration(1)), rm::err_other_device_found);
    for (abi::handle const other : {space_of_cuda + 1, space_of_cuda + handles_of_a_gpu,
                                    space_of_cuda + handles_of_a_gpu + 1}) {
        make_in(other);
        EXPECT_EQ(enrol(), rm::err_invalid_channel) << other;
        EXPECT_EQ(violations_of_freeing(), 0u);
    }
    boot();
    make_parts();
    make_channel();
    EXPECT_EQ(enrol(), rm::err_invalid_channel);
    expect_violations(0);
}

TEST_F(uvm_test, unregistering_has_the_size_of_its_series) {
    for (unsigned const series : {535u, 580u, 590u, 595u}) {
        SCOPED_TRACE(series);
        make_registered({.series = series});
        uvm_abi::unregister_channel_parameters const newer{client_, channel_, 0};
        EXPECT_EQ(series < 590 ? retire() : retire(newer), abi::ok);
        expect_violations(0);
        EXPECT_EQ(series < 590 ? retire() : retire(newer), rm::err_invalid_channel);
        expect_violations(1);
        EXPECT_EQ(violations_of_freeing(), 0u);
    }
    make_registered();
    uvm_abi::unregister_channel_parameters_535 asked{};
    std::memcpy(asked.gpu_uuid, registration(1).gpu_uuid, sizeof asked.gpu_uuid);
    asked.client = client_;
    asked.channel = channel_;
    EXPECT_EQ(retire(asked), abi::ok) << "nobody looks at it";
    expect_violations(1);
    auto const unused = files_of_cuda().at(0);
    EXPECT_EQ(os::current().ioctl(unused, uvm_abi::unregister_channel, &asked), 0);
    EXPECT_EQ(asked.status, rm::err_illegal_action);
    expect_violations(1);
}

TEST_F(uvm_test, an_unregistered_channel_has_stopped) {
    make_registered();
    run(one_copy(block_address_ + data_at, host_address_, 64));
    EXPECT_EQ(retire(), abi::ok);
    auto const before = gpu().done().entries;
    submit_with_semaphore();
    EXPECT_TRUE(wait_idle());
    EXPECT_EQ(gpu().done().entries, before);
    expect_violations(0);
}

TEST_F(uvm_test, a_registered_channel_is_not_freed) {
    make_registered();
    EXPECT_EQ(violations_of_freeing(), 1u);
    make_registered();
    std::size_t const before = driver_->objects();
    abi::free_parameters request{client_, 0, client_, 0};
    drop_views();
    EXPECT_EQ(ioctl(abi::esc_rm_free, request), 0);
    EXPECT_GE(kernel_->violations().size(), 1u);
    EXPECT_EQ(driver_->objects(), 1u) << "of " << before << " the registration is left";
    make_registered();
    control_ = {};
    EXPECT_EQ(kernel_->violations().size(), 1u);
}

TEST_F(uvm_test, each_call_can_be_refused) {
    make_in(space_of_cuda);
    the_faults().arm(fault_source::status, 1, 0x51);
    EXPECT_EQ(enrol(), 0x51u);
    EXPECT_EQ(enrol(), abi::ok);
    the_faults().arm(fault_source::status, 1, 0x51);
    EXPECT_EQ(retire(), abi::ok) << "gives back: not counted";
    abi::handle made = 0;
    EXPECT_EQ(duplicate_of_cuda(space_of_cuda, &made), 0x51u);
    ASSERT_EQ(duplicate_of_cuda(space_of_cuda, &made), abi::ok);
    the_faults().arm(fault_source::status, 1, 0x51);
    abi::handle_info_parameters asked{made, abi::handle_info_class, 0};
    EXPECT_EQ(control(client_, abi::cmd_get_handle_info, asked), 0x51u);
    auto const file = files_of_cuda().at(1);
    the_faults().arm(fault_source::system, 2, EACCES);
    char target[8];
    for (int const each : {0, file})
        EXPECT_GT(os::current().readlink(("/proc/self/fd/" + std::to_string(each)).c_str(), target,
                                         sizeof target),
                  0);
    EXPECT_EQ(os::current().readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), target,
                                     sizeof target),
              -1);
    EXPECT_EQ(errno, EACCES);
    auto request = registration();
    the_faults().arm(fault_source::system, 1, EIO);
    EXPECT_EQ(os::current().ioctl(file, uvm_abi::register_channel, &request), -1);
    EXPECT_EQ(errno, EIO);
    the_faults().disarm();
    expect_violations(0);
}

} // namespace
} // namespace barmap::fake
