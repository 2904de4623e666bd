// SPDX-License-Identifier: MIT
#pragma once

#include "fake/rm_fixture.hpp"

#include <barmap/gpu/copy_commands.cuh>

#include <array>
#include <chrono>
#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

namespace barmap::fake {

namespace commands = barmap::gpu::commands;

/// A channel on a copy engine, made and used by hand: everything that it needs of the fake.
class channel_fixture : public rm_driver_test {
protected:
    static constexpr std::uint32_t engine = abi::engine_type_copy0 + 4;
    static constexpr std::uint32_t gpfifo_entries = 8;
    // In the block of video memory.
    static constexpr std::uint64_t userd_at = 0x10000, methods_at = 0x20000, data_at = 0x100000;
    // In the host's memory.
    static constexpr std::uint64_t semaphore_at = 0, notifier_at = 0x10000, host_data_at = 0x20000;
    static constexpr std::uint64_t host_bytes = 0x100000;

    using words = std::vector<std::uint32_t>;

    void SetUp() override {
        rm_driver_test::SetUp();
        void* const at =
            ::mmap(nullptr, host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(at, MAP_FAILED);
        host_ = static_cast<std::byte*>(at);
    }
    void TearDown() override {
        drop_views();
        ::munmap(host_, host_bytes);
        rm_driver_test::TearDown();
    }

    [[nodiscard]] std::byte* host_data() { return host_ + host_data_at; }
    [[nodiscard]] gpu::copy_engine& gpu() { return driver_->copy_engine(); }

    /// A fresh machine, whose client has a device, a subdevice and an address space.
    void boot(rm_driver::behaviour how = {}) {
        drop_views();
        start(how);
        open_spaces();
    }
    void open_subdevice() {
        open_device();
        abi::subdevice_alloc_parameters subdevice{};
        note(allocate(abi::class_subdevice, device_, &subdevice, sizeof subdevice, &subdevice_));
    }
    void open_spaces() {
        open_subdevice();
        abi::address_space_parameters space{};
        note(allocate(abi::class_address_space, device_, &space, sizeof space, &space_));
        abi::virtual_memory_parameters range{0, 0, space_};
        note(allocate(abi::class_virtual_memory, device_, &range, sizeof range, &dma_));
    }
    /// What else the channel needs, up to it.
    void make_parts() {
        abi::memory_alloc_parameters wanted = video_memory();
        note(allocate(abi::class_local_memory, device_, &wanted, sizeof wanted, &block_));
        block_address_ = map_dma(block_, block);
        block_view_ = map_whole(block_, block);
        note(pin_host(host_, notifier_at, 0x5001));
        note(pin_host(host_ + notifier_at, page, notifier_));
        note(pin_host(host_ + host_data_at, host_bytes - host_data_at, 0x5003));
        semaphore_address_ = map_dma(0x5001, notifier_at);
        host_address_ = map_dma(0x5003, host_bytes - host_data_at);
        make_doorbell();
    }
    void make_doorbell() {
        auto const classes = rm::classes_of(driver_->how().chip);
        abi::usermode_parameters page_wanted{1, 0};
        bool const with = !rm::structure_of_class(classes.usermode).empty();
        note(allocate(classes.usermode, subdevice_, with ? &page_wanted : nullptr,
                      with ? sizeof page_wanted : 0, &usermode_));
        doorbell_view_ = map_whole(usermode_, abi::usermode_bytes);
    }
    void make_channel(bool scheduled = true) {
        std::memset(host_ + notifier_at, 0, page);
        *word(block_view_, userd_at + commands::userd_gp_put) = put_ = 0;
        auto const classes = rm::classes_of(driver_->how().chip);
        abi::channel_group_parameters group{0, 0, space_, engine, 0};
        note(allocate(abi::class_channel_group, device_, &group, sizeof group, &group_));
        abi::time_slice_parameters slice{1000};
        note(control(group_, abi::cmd_set_time_slice, slice));
        abi::channel_parameters wanted = channel();
        note(allocate(classes.channel, group_, &wanted, sizeof wanted, &channel_));
        abi::copy_object_parameters copy{1, engine};
        note(allocate(classes.copy, channel_, &copy, sizeof copy, &copy_));
        abi::submit_token_parameters token{};
        note(control(channel_, abi::cmd_get_submit_token, token));
        token_ = token.token;
        if (!scheduled)
            return;
        abi::schedule_parameters schedule{1, 0, 0};
        abi::schedule_parameters_535 older{1, 0};
        note(has_third_of_schedule() ? control(channel_, abi::cmd_schedule, schedule)
                                     : control(channel_, abi::cmd_schedule, older));
    }
    [[nodiscard]] bool has_third_of_schedule() const {
        return rm::is_size<abi::schedule_parameters>("NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS",
                                                     driver_->how().series);
    }
    void make_bound_channel() {
        make_channel();
        submit(bind());
    }
    /// All of it, with the copy object bound.
    void make_all(rm_driver::behaviour how = {}) {
        boot(how);
        make_parts();
        make_bound_channel();
        expect_violations(0);
        ASSERT_EQ(first_refusal_, abi::ok);
    }

    [[nodiscard]] static abi::memory_alloc_parameters video_memory() {
        abi::memory_alloc_parameters wanted{};
        wanted.flags = abi::alloc_flags_video_memory;
        wanted.attributes = abi::attributes_contiguous_huge;
        wanted.attributes2 = abi::attributes2_huge_2mb_cacheable;
        wanted.size = block;
        return wanted;
    }
    [[nodiscard]] abi::channel_parameters channel() const {
        abi::channel_parameters wanted{};
        wanted.error_notifier = notifier_;
        wanted.gpfifo_address = block_address_;
        wanted.gpfifo_entries = gpfifo_entries;
        wanted.userd_memory[0] = block_;
        wanted.userd_offset[0] = userd_at;
        wanted.engine_type = engine;
        return wanted;
    }

    [[nodiscard]] abi::os_descriptor_parameters os_descriptor(void* at, std::uint64_t bytes,
                                                              abi::handle name) const {
        abi::os_descriptor_parameters request{};
        request.root = client_;
        request.parent = device_;
        request.object = name;
        request.object_class = abi::class_os_descriptor;
        request.flags = abi::os_descriptor_flags;
        request.memory = reinterpret_cast<std::uintptr_t>(at);
        request.limit = bytes - 1;
        request.fd = -1;
        return request;
    }
    std::uint32_t pin(abi::os_descriptor_parameters request) {
        open_device_file();
        EXPECT_EQ(os::current().ioctl(
                      device_file_.get(),
                      abi::request<abi::os_descriptor_parameters>(abi::esc_rm_alloc_memory),
                      &request),
                  0);
        return request.status;
    }
    std::uint32_t pin_host(void* at, std::uint64_t bytes, abi::handle name) {
        return pin(os_descriptor(at, bytes, name));
    }

    /// As the series wants it. @return where it is
    template <class Parameters>
    [[nodiscard]] Parameters map_request(abi::handle memory, std::uint64_t length) const {
        Parameters request{};
        request.client = client_;
        request.device = device_;
        request.dma = dma_;
        request.memory = memory;
        request.length = length;
        bool const of_host = memory >= 0x5000 && memory < 0x6000;
        request.flags = of_host ? abi::map_dma_flags_host : 0;
        return request;
    }
    std::uint64_t map_dma(abi::handle memory, std::uint64_t length) {
        if (driver_->how().series < 580)
            return map_dma<abi::map_dma_parameters_535>(memory, length);
        return map_dma<abi::map_dma_parameters>(memory, length);
    }
    std::uint32_t unmap_dma(abi::handle memory, std::uint64_t address) {
        abi::unmap_dma_parameters request{client_, device_, dma_, memory, 0, address, 0, 0};
        EXPECT_EQ(ioctl(abi::esc_rm_unmap_memory_dma, request), 0);
        return request.status;
    }

    // Methods.
    static void add(words& to, std::uint32_t method, std::initializer_list<std::uint32_t> values) {
        to.push_back(commands::methods(commands::copy_subchannel, method,
                                       static_cast<std::uint32_t>(values.size())));
        to.insert(to.end(), values);
    }
    static std::uint32_t high(std::uint64_t address) {
        return static_cast<std::uint32_t>(address >> 32);
    }
    static std::uint32_t low(std::uint64_t address) { return static_cast<std::uint32_t>(address); }
    [[nodiscard]] words bind() const {
        words result;
        add(result, commands::method_set_object, {rm::classes_of(driver_->how().chip).copy});
        add(result, commands::method_set_semaphore,
            {high(semaphore_address_), low(semaphore_address_), 0});
        return result;
    }
    static void add_copy(words& to, std::uint64_t from, std::uint64_t at, std::uint32_t bytes,
                         std::uint32_t flags) {
        add(to, commands::method_offset_in, {high(from), low(from), high(at), low(at)});
        add(to, commands::method_line_length, {bytes});
        add(to, commands::method_launch_dma, {flags | commands::launch_linear});
    }
    static words one_copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes,
                          std::uint32_t flags = commands::launch_non_pipelined) {
        words result;
        add_copy(result, from, to, bytes, flags);
        return result;
    }
    /// With a payload that no semaphore had.
    void add_semaphore(words& to, std::uint32_t flags = commands::launch_flush) {
        add(to, commands::method_semaphore_payload, {++payload_});
        add(to, commands::method_launch_dma, {flags | commands::launch_semaphore});
    }

    /// Wait until the word is equal to the value.
    static void add_acquire(words& to, std::uint64_t at, std::uint32_t value,
                            std::uint32_t flags = abi::semaphore_acquire_switch) {
        to.push_back(commands::methods(abi::host_subchannel, abi::method_channel_semaphore, 5));
        to.insert(to.end(), {low(at), high(at), value, 0, abi::semaphore_acquire | flags});
    }

    void write_entry(std::uint64_t entry) {
        std::memcpy(block_view_ + put_ * 8, &entry, 8);
        put_ = (put_ + 1) % gpfifo_entries;
    }
    void ring() {
        __atomic_store_n(word(block_view_, userd_at + commands::userd_gp_put), put_,
                         __ATOMIC_RELEASE);
        __atomic_store_n(word(doorbell_view_, abi::usermode_doorbell), token_, __ATOMIC_RELEASE);
    }
    void submit(words const& methods) {
        std::uint64_t const at = methods_at + put_ * 0x4000;
        std::memcpy(block_view_ + at, methods.data(), methods.size() * 4);
        write_entry(commands::gpfifo_entry(block_address_ + at,
                                           static_cast<std::uint32_t>(methods.size())));
        ring();
    }
    /// The same with a semaphore at the end.
    void submit_with_semaphore(words methods = {}) {
        add_semaphore(methods);
        submit(methods);
    }
    /// And which is waited for.
    void run(words methods) {
        submit_with_semaphore(std::move(methods));
        ASSERT_TRUE(wait_semaphore());
    }

    template <class Condition>
    static bool wait(Condition&& condition) {
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return true;
    }
    [[nodiscard]] std::uint32_t semaphore() const {
        return __atomic_load_n(word(host_, semaphore_at), __ATOMIC_ACQUIRE);
    }
    [[nodiscard]] bool wait_semaphore() const {
        return wait([&] { return semaphore() == payload_; });
    }
    [[nodiscard]] bool wait_idle() {
        return wait([&] { return gpu().idle(); });
    }
    /// @return what stopped the channel, or 0
    [[nodiscard]] std::uint32_t wait_error() {
        abi::notification seen{};
        static_cast<void>(wait([&] {
            std::memcpy(&seen, host_ + notifier_at, sizeof seen);
            return seen.status == 0xffff;
        }));
        return seen.status == 0xffff ? seen.info32 : 0;
    }

    [[nodiscard]] static std::uint32_t* word(std::byte* base, std::uint64_t offset) {
        return reinterpret_cast<std::uint32_t*>(base + offset);
    }

    void note(std::uint32_t status) {
        if (first_refusal_ == abi::ok)
            first_refusal_ = status;
    }
    std::byte* map_whole(abi::handle memory, std::uint64_t bytes) {
        open_device_file();
        note(map(memory, 0, bytes).status);
        std::byte* const at = first_refusal_ == abi::ok ? mmap(bytes) : nullptr;
        if (at)
            views_.emplace_back(at, bytes);
        return at;
    }
    void drop_views() {
        for (auto const& [at, bytes] : std::exchange(views_, {}))
            os::current().munmap(at, bytes);
    }

    abi::handle subdevice_ = 0, space_ = 0, dma_ = 0, block_ = 0, usermode_ = 0, group_ = 0,
                channel_ = 0, copy_ = 0;
    static constexpr abi::handle notifier_ = 0x5002;
    std::uint32_t first_refusal_ = abi::ok; ///< while the parts were made
    std::uint64_t block_address_ = 0, semaphore_address_ = 0, host_address_ = 0;
    std::byte *block_view_ = nullptr, *doorbell_view_ = nullptr, *host_ = nullptr;
    std::uint32_t token_ = 0, put_ = 0, payload_ = 100;

private:
    template <class Parameters>
    std::uint64_t map_dma(abi::handle memory, std::uint64_t length) {
        auto request = map_request<Parameters>(memory, length);
        EXPECT_EQ(ioctl(abi::esc_rm_map_memory_dma, request), 0);
        note(request.status);
        return request.address;
    }

    std::vector<std::pair<std::byte*, std::uint64_t>> views_;
};

} // namespace barmap::fake
