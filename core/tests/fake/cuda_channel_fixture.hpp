// SPDX-License-Identifier: MIT
#pragma once

#include "fake/channel_fixture.hpp"
#include "fake/simulation.hpp"
#include "fake/uvm.hpp"

namespace barmap::fake {

/// The same in CUDA's own address space of a GPU, where its pointers are the channel's addresses.
class cuda_channel_fixture : public channel_fixture {
protected:
    static constexpr abi::handle space_of_cuda = 0x5c000009; ///< of the first GPU
    static constexpr abi::handle handles_of_a_gpu = 0x20;

    void SetUp() override {
        channel_fixture::SetUp();
        ASSERT_EQ(cu().mem_host_register(host_, host_bytes, 0), cuda::success);
    }
    void TearDown() override {
        cu().mem_host_unregister(host_);
        channel_fixture::TearDown();
    }

    std::uint32_t duplicate_of_cuda(abi::handle which, abi::handle* made) {
        abi::dup_parameters request{};
        request.client = client_;
        request.parent = device_;
        request.source_client = the_simulation().client();
        request.source_object = which;
        EXPECT_EQ(ioctl(abi::esc_rm_dup_object, request), 0);
        *made = request.object;
        return request.status;
    }
    std::uint32_t class_of(abi::handle object) {
        abi::handle_info_parameters asked{object, abi::handle_info_class, 0};
        EXPECT_EQ(control(client_, abi::cmd_get_handle_info, asked), abi::ok);
        return static_cast<std::uint32_t>(asked.result);
    }

    /// Up to the channel. @param space one of CUDA's
    void make_in(abi::handle space, rm_driver::behaviour how = {}) {
        drop_views();
        start(how);
        open_subdevice();
        note(duplicate_of_cuda(space, &space_));
        note(duplicate(&block_));
        block_address_ = address_;
        block_view_ = map_whole(block_, block);
        std::memset(block_view_, 0, methods_at);
        note(pin_host(host_ + notifier_at, page, notifier_));
        semaphore_address_ = address_of(host_ + semaphore_at);
        host_address_ = address_of(host_ + host_data_at);
        make_doorbell();
        make_channel();
    }
    /// All of it, registered, with the copy object bound.
    void make_registered(rm_driver::behaviour how = {}) {
        make_in(space_of_cuda, how);
        ASSERT_EQ(enrol(), abi::ok);
        begin();
        expect_violations(0);
        ASSERT_EQ(first_refusal_, abi::ok);
    }
    /// The first submission, as the block lies beyond what an entry alone reaches.
    void begin() {
        write_entry(commands::gpfifo_extended_base(block_address_));
        submit(bind());
    }

    /// CUDA's descriptors with this path.
    static std::vector<int> files_of_cuda(std::string_view path = "/dev/nvidia-uvm") {
        std::vector<int> found;
        for (int fd = 0; fd < 1024; ++fd) {
            char target[64];
            ssize_t const length = os::current().readlink(
                ("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target);
            if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == path)
                found.push_back(fd);
        }
        return found;
    }
    [[nodiscard]] rm::uvm_abi::register_channel_parameters registration(int ordinal = 0) const {
        rm::uvm_abi::register_channel_parameters asked{};
        CUuuid uuid{};
        EXPECT_EQ(cu().device_get_uuid(&uuid, ordinal), cuda::success);
        std::memcpy(asked.gpu_uuid, uuid.bytes, sizeof asked.gpu_uuid);
        asked.control_fd = control_.get();
        asked.client = client_;
        asked.channel = channel_;
        return asked;
    }
    /// Through the one file of three that answers.
    static std::uint32_t enrol(rm::uvm_abi::register_channel_parameters asked) {
        EXPECT_EQ(os::current().ioctl(files_of_cuda().at(1), rm::uvm_abi::register_channel, &asked),
                  0);
        return asked.status;
    }
    std::uint32_t enrol() { return enrol(registration()); }
    template <class Parameters>
    static std::uint32_t retire(Parameters asked) {
        EXPECT_EQ(
            os::current().ioctl(files_of_cuda().at(1), rm::uvm_abi::unregister_channel, &asked), 0);
        return asked.status;
    }
    std::uint32_t retire() {
        rm::uvm_abi::unregister_channel_parameters_535 asked{};
        std::memcpy(asked.gpu_uuid, registration().gpu_uuid, sizeof asked.gpu_uuid);
        asked.client = client_;
        asked.channel = channel_;
        return retire(asked);
    }

    [[nodiscard]] static std::uint64_t address_of(void const* pointer) {
        return reinterpret_cast<std::uintptr_t>(pointer);
    }
    /// A submission that stops the channel. @return what its error notifier says
    [[nodiscard]] std::uint32_t error_of(words methods) {
        auto const before = semaphore();
        submit_with_semaphore(std::move(methods));
        std::uint32_t const error = wait_error();
        EXPECT_TRUE(wait_idle());
        EXPECT_EQ(semaphore(), before);
        return error;
    }
};

} // namespace barmap::fake
