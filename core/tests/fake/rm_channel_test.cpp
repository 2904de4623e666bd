// SPDX-License-Identifier: MIT
#include "fake/rm_channel.hpp"

#include "fake/channel_fixture.hpp"
#include "fake/faults.hpp"

#include <functional>

/// The fake resource manager makes a channel of what is right and refuses all else.
namespace barmap::fake {
namespace {

class rm_channel_test : public channel_fixture {
protected:
    template <class Parameters>
    std::uint32_t make(std::uint32_t object_class, abi::handle parent, Parameters wanted,
                       std::uint32_t size = sizeof(Parameters)) {
        abi::handle made = 0;
        return allocate(object_class, parent, &wanted, size, &made);
    }
    template <class Parameters>
    std::uint32_t refusal_of_mapping(Parameters request) {
        return ioctl(abi::esc_rm_map_memory_dma, request) == 0 ? request.status : ~0u;
    }
    /// Spoils a right request in each way: each is a violation.
    template <class Parameters>
    void expect_refusals(Parameters const& right,
                         std::vector<std::function<void(Parameters&)>> const& mistakes,
                         std::function<std::uint32_t(Parameters)> const& ask) {
        std::size_t const before = driver_->objects();
        for (std::size_t k = 0; k < mistakes.size(); ++k) {
            SCOPED_TRACE(k);
            Parameters wrong = right;
            mistakes[k](wrong);
            EXPECT_NE(ask(wrong), abi::ok);
            expect_violations(1);
        }
        EXPECT_EQ(driver_->objects(), before);
        EXPECT_EQ(ask(right), abi::ok);
        expect_violations(0);
    }
};

TEST_F(rm_channel_test, says_its_version) {
    boot({.series = 535});
    abi::version_parameters asked{};
    asked.command = abi::version_query;
    EXPECT_EQ(ioctl(abi::esc_check_version, asked), 0);
    EXPECT_STREQ(asked.text, "535.288.01");
    EXPECT_EQ(asked.reply, 1u);
    boot({.series = 535, .version = "none of those"});
    EXPECT_EQ(ioctl(abi::esc_check_version, asked), 0);
    EXPECT_STREQ(asked.text, "none of those");
    expect_violations(0);
    asked.command = '1';
    EXPECT_EQ(ioctl(abi::esc_check_version, asked), -1);
    std::uint64_t short_one = abi::version_query;
    EXPECT_EQ(ioctl(abi::esc_check_version, short_one), -1);
    expect_violations(2);
}

TEST_F(rm_channel_test, lists_the_classes_of_its_gpu) {
    boot({.chip = "AD102"});
    abi::class_list_parameters asked{};
    ASSERT_EQ(control(device_, abi::cmd_gpu_get_class_list, asked), abi::ok);
    ASSERT_GT(asked.count, 3u);
    std::vector<std::uint32_t> list(asked.count);
    asked.list = reinterpret_cast<std::uintptr_t>(list.data());
    ASSERT_EQ(control(device_, abi::cmd_gpu_get_class_list, asked), abi::ok);
    for (std::uint32_t const each : {0xc56f, 0xc7b5, 0xc561, 0xc36f, 0xa0b5})
        EXPECT_EQ(std::count(list.begin(), list.end(), each), 1) << each;
    expect_violations(0);
    --asked.count;
    EXPECT_NE(control(device_, abi::cmd_gpu_get_class_list, asked), abi::ok);
    EXPECT_NE(control(subdevice_, abi::cmd_gpu_get_class_list, asked), abi::ok);
    EXPECT_NE(control(device_, abi::cmd_gpu_get_class_list, list), abi::ok) << "size";
    asked.list = 0;
    EXPECT_NE(control(device_, abi::cmd_gpu_get_class_list, asked), abi::ok);
    expect_violations(4);
}

TEST_F(rm_channel_test, tells_its_copy_engines) {
    for (bool const shared : {false, true}) {
        boot({.all_engines_shared = shared});
        for (std::uint32_t k = 0; k < abi::engine_type_copies; ++k) {
            abi::ce_caps_parameters asked{abi::engine_type_copy(k), {}};
            EXPECT_EQ(control(subdevice_, abi::cmd_ce_get_caps, asked),
                      k < 5 ? abi::ok : rm::err_invalid_class);
            EXPECT_EQ((asked.caps[0] & abi::ce_cap_graphics) != 0, k < 2);
            EXPECT_EQ((asked.caps[0] & abi::ce_cap_shared) != 0, k < (shared ? 5 : 4));
        }
        expect_violations(0);
    }
    abi::ce_caps_parameters asked{1, {}};
    EXPECT_NE(control(subdevice_, abi::cmd_ce_get_caps, asked), abi::ok);
    EXPECT_NE(control(device_, abi::cmd_ce_get_caps, asked), abi::ok);
    std::uint32_t word = engine;
    EXPECT_NE(control(subdevice_, abi::cmd_ce_get_caps, word), abi::ok);
    expect_violations(3);
}

TEST_F(rm_channel_test, makes_a_channel_of_each_chip) {
    for (rm::data::chip const& each : rm::data::chips) {
        SCOPED_TRACE(each.name);
        make_all({.chip = each.name});
        run({});
        expect_violations(0);
    }
}

TEST_F(rm_channel_test, speaks_the_sizes_of_its_series) {
    for (rm::data::tagged_series const& each : rm::data::all_series) {
        unsigned const series = each.number;
        SCOPED_TRACE(series);
        boot({.series = series});
        make_parts();
        ASSERT_EQ(first_refusal_, abi::ok);
        bool const long_map = rm::is_size<abi::map_dma_parameters>("NVOS46_PARAMETERS", series);
        auto newer = map_request<abi::map_dma_parameters>(block_, block);
        auto older = map_request<abi::map_dma_parameters_535>(block_, block);
        EXPECT_EQ(ioctl(abi::esc_rm_map_memory_dma, newer), long_map ? 0 : -1);
        EXPECT_EQ(ioctl(abi::esc_rm_map_memory_dma, older), long_map ? -1 : 0);
        expect_violations(1);
        bool const long_unmap = rm::is_size<abi::unmap_dma_parameters>("NVOS47_PARAMETERS", series);
        abi::unmap_dma_parameters back{client_, device_, dma_, block_, 0, block_address_, 0, 0};
        abi::unmap_dma_parameters_535 older_back{
            client_, device_, dma_, block_, 0, long_map ? newer.address : older.address, 0};
        EXPECT_EQ(ioctl(abi::esc_rm_unmap_memory_dma, back), long_unmap ? 0 : -1);
        if (!long_unmap)
            older_back.address = block_address_;
        EXPECT_EQ(ioctl(abi::esc_rm_unmap_memory_dma, older_back), long_unmap ? -1 : 0);
        expect_violations(1);
        block_address_ = map_dma(block_, block);
        make_channel();
        abi::schedule_parameters schedule{1, 0, 0};
        abi::schedule_parameters_535 older_schedule{1, 0};
        EXPECT_EQ(control(channel_, abi::cmd_schedule, schedule),
                  has_third_of_schedule() ? abi::ok : abi::err_invalid_param_struct);
        EXPECT_EQ(control(channel_, abi::cmd_schedule, older_schedule),
                  has_third_of_schedule() ? abi::err_invalid_param_struct : abi::ok);
        expect_violations(1);
        submit(bind());
        run({});
        EXPECT_EQ(first_refusal_, abi::ok);
        expect_violations(0);
    }
}

// RM compares no sizes there: it copies in and out what is its own.
TEST_F(rm_channel_test, copies_the_parameters_of_classes_at_the_size_of_its_series) {
    struct {
        abi::address_space_parameters known;
        std::byte behind[64]{};
    } space{};
    abi::handle made = 0;
    for (std::size_t const grown : {std::size_t{0}, sizeof space.behind}) {
        boot({.grown = 0});
        space = {};
        start({.grown = grown});
        client_ = 0;
        ASSERT_EQ(allocate(abi::class_root_client, 0, nullptr, 0, &client_), abi::ok);
        struct {
            abi::device_alloc_parameters known;
            std::byte behind[64]{};
        } device{};
        device.known.device_id = rm_driver::device_instance(0);
        device.known.client_share = client_;
        ASSERT_EQ(allocate(abi::class_device, client_, &device, sizeof device.known, &device_),
                  abi::ok);
        EXPECT_EQ(allocate(abi::class_address_space, device_, &space, 4, &made), abi::ok);
        EXPECT_EQ(space.behind[0], grown ? std::byte{0xee} : std::byte{0});
        EXPECT_EQ(space.behind[63], grown ? std::byte{0xee} : std::byte{0});
        expect_violations(0);
    }
    space.behind[63] = std::byte{1};
    EXPECT_EQ(allocate(abi::class_address_space, device_, &space, sizeof space.known, &made),
              abi::ok);
    expect_violations(1);
    boot({.series = 535});
    space = {};
    space.known.pasid = 1; // since 580
    EXPECT_EQ(allocate(abi::class_address_space, device_, &space, sizeof space.known, &made),
              abi::ok);
    expect_violations(1);
}

TEST_F(rm_channel_test, refuses_other_memory) {
    boot();
    using video = abi::memory_alloc_parameters;
    expect_refusals<video>(
        video_memory(),
        {[](video& to) { to.size = 4096; }, [](video& to) { to.size = 0; },
         [](video& to) { to.flags |= 2; }, [](video& to) { to.attributes = 0; },
         [](video& to) { to.attributes2 = 0; }, [](video& to) { to.type = 1; },
         [](video& to) { to.owner = 5; }, [](video& to) { to.alignment = 4096; },
         [](video& to) { to.numa_node = 1; }},
        [&](video wanted) { return make(abi::class_local_memory, device_, wanted); });
    EXPECT_NE(make(abi::class_local_memory, subdevice_, video_memory()), abi::ok);
    expect_violations(1);
    using space = abi::address_space_parameters;
    expect_refusals<space>(
        {}, {[](space& to) { to.flags = 1; }, [](space& to) { to.size = 4096; }},
        [&](space wanted) { return make(abi::class_address_space, device_, wanted); });
    using range = abi::virtual_memory_parameters;
    expect_refusals<range>(
        {0, 0, space_}, {[](range& to) { to.limit = 1; }, [](range& to) { to.address_space = 0; }},
        [&](range wanted) { return make(abi::class_virtual_memory, device_, wanted); });
}

TEST_F(rm_channel_test, refuses_other_os_descriptors) {
    boot();
    using wanted = abi::os_descriptor_parameters;
    expect_refusals<wanted>(
        os_descriptor(host_, 2 * page, 0x5001),
        {[](wanted& to) { to.object = 0; }, [&](wanted& to) { to.object = space_; },
         [](wanted& to) { to.object_class = 0x3e; }, [](wanted& to) { to.flags = 0x1010; },
         [](wanted& to) { to.fd = 0; }, [](wanted& to) { to.padding = 1; },
         [](wanted& to) { to.memory += 64; }, [](wanted& to) { to.limit -= 1; },
         [](wanted& to) { to.limit = ~std::uint64_t{0}; }, [](wanted& to) { to.memory = 0; },
         [&](wanted& to) { to.parent = subdevice_; }, [](wanted& to) { to.root = 1; },
         [](wanted& to) { to.status = 1; }},
        [&](wanted request) {
            std::uint32_t const before = request.status, answer = pin(request);
            // A status on entry is noted only.
            return before != 0 && answer == abi::ok && free(device_, request.object) == abi::ok
                       ? before
                       : answer;
        });
    EXPECT_EQ(pin(os_descriptor(host_, page, 0x5001)), rm::err_insert_duplicate_name);
    expect_violations(1);
    void* const gone = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(pin(os_descriptor(gone, page, 0x5002)), rm::err_invalid_address);
    ::munmap(gone, page);
    expect_violations(0);
    open_device_file(1);
    wanted request = os_descriptor(host_, page, 0x5002);
    auto const ask = abi::request<wanted>(abi::esc_rm_alloc_memory);
    EXPECT_EQ(os::current().ioctl(device_file_.get(), ask, &request), 0);
    EXPECT_EQ(request.status, rm::err_invalid_object_parent) << "the other GPU's file";
    device_file_ =
        os::open_file("/dev/nvidia" + std::to_string(rm_driver::minor_number(0)), O_RDWR);
    request = os_descriptor(host_, page, 0x5002);
    EXPECT_EQ(os::current().ioctl(device_file_.get(), ask, &request), 0);
    EXPECT_EQ(request.status, rm::err_invalid_client) << "not registered";
    EXPECT_EQ(ioctl(abi::esc_rm_alloc_memory, request), -1) << "of the control file";
    expect_violations(3);
}

TEST_F(rm_channel_test, refuses_other_mappings_for_the_gpu) {
    boot();
    make_parts();
    using wanted = abi::map_dma_parameters;
    std::vector<std::function<void(wanted&)>> const mistakes{
        [](wanted& to) { to.flags ^= abi::map_dma_flags_host; },
        [](wanted& to) { to.flags2 = 1; },
        [](wanted& to) { to.kind_override = 1; },
        [](wanted& to) { to.address = 4096; },
        [](wanted& to) { to.length = 0; },
        [](wanted& to) { to.length = 100; },
        [](wanted& to) { to.offset = 1; },
        [](wanted& to) { to.offset = 1u << 30; },
        [](wanted& to) { to.length += page; },
        [&](wanted& to) { to.dma = space_; },
        [&](wanted& to) { to.memory = usermode_; },
        [&](wanted& to) { to.device = subdevice_; },
        [](wanted& to) { to.client = 1; },
    };
    for (abi::handle const memory : {block_, notifier_})
        expect_refusals<wanted>(map_request<wanted>(memory, memory == block_ ? block : page),
                                mistakes,
                                [&](wanted request) { return refusal_of_mapping(request); });
    std::uint64_t const other = map_dma(block_, page);
    EXPECT_NE(other, block_address_);
    EXPECT_EQ(other % block, 0u);
    EXPECT_NE(unmap_dma(notifier_, other), abi::ok);
    EXPECT_NE(unmap_dma(block_, other + 1), abi::ok);
    expect_violations(2);
    EXPECT_EQ(unmap_dma(block_, other), abi::ok);
    EXPECT_NE(unmap_dma(block_, other), abi::ok) << "twice";
    expect_violations(1);
    EXPECT_NE(map_dma(block_, page), other) << "used again at once";
}

TEST_F(rm_channel_test, refuses_other_doorbells) {
    boot();
    make_parts();
    using wanted = abi::usermode_parameters;
    expect_refusals<wanted>(
        {1, 0}, {[](wanted& to) { to.bar1_mapping = 0; }, [](wanted& to) { to.privileged = 1; }},
        [&](wanted request) { return make(0xc661, subdevice_, request); });
    EXPECT_NE(make(0xc661, device_, wanted{1, 0}), abi::ok);
    EXPECT_NE(make(0xc561, subdevice_, wanted{1, 0}), abi::ok) << "of another GPU";
    open_device_file();
    EXPECT_NE(map(usermode_, 0, 2 * abi::usermode_bytes).status, abi::ok);
    EXPECT_NE(map(space_, 0, abi::usermode_bytes).status, abi::ok);
    expect_violations(4);
}

TEST_F(rm_channel_test, refuses_other_channels) {
    boot();
    make_parts();
    using of_group = abi::channel_group_parameters;
    expect_refusals<of_group>(
        {0, 0, space_, engine, 0},
        {[](of_group& to) { to.error_notifier = notifier_; },
         [](of_group& to) { to.engine_type = 0; },
         [](of_group& to) { to.engine_type = abi::engine_type_copy0 + 5; },
         [](of_group& to) { to.address_space = 0; }, [](of_group& to) { to.is_vgpu_plugin = 1; }},
        [&](of_group wanted) {
            return allocate(abi::class_channel_group, device_, &wanted, sizeof wanted, &group_);
        });
    using wanted = abi::channel_parameters;
    expect_refusals<wanted>(
        channel(),
        {[](wanted& to) { to.error_notifier = 0; }, [&](wanted& to) { to.error_notifier = block_; },
         [](wanted& to) { to.buffer = 1; }, [](wanted& to) { to.gpfifo_address += block; },
         [](wanted& to) { to.gpfifo_address += 4; }, [](wanted& to) { to.gpfifo_entries = 0; },
         [](wanted& to) { to.gpfifo_entries = 12; },
         [](wanted& to) { to.gpfifo_entries = 1u << 20; }, [](wanted& to) { to.flags = 1; },
         [](wanted& to) { to.context_share = 1; }, [&](wanted& to) { to.address_space = space_; },
         [](wanted& to) { to.userd_memory[0] = 0; }, [](wanted& to) { to.userd_memory[1] = 1; },
         [](wanted& to) { to.userd_offset[0] += 256; },
         [](wanted& to) { to.userd_offset[0] = block; },
         [](wanted& to) { to.userd_offset[1] = 512; }, [](wanted& to) { to.engine_type -= 1; },
         [](wanted& to) { to.reserved[200] = 1; }},
        [&](wanted request) {
            return allocate(0xc86f, group_, &request, sizeof request, &channel_);
        });
    EXPECT_NE(make(0xc86f, group_, channel()), abi::ok) << "a second one";
    EXPECT_NE(make(0xc86f, device_, channel()), abi::ok);
    EXPECT_NE(make(0xc86f, group_, channel(), 128), abi::ok);
    EXPECT_EQ(make(0xc56f, group_, channel()), rm::err_invalid_class) << "of another GPU";
    expect_violations(4);
    using object = abi::copy_object_parameters;
    expect_refusals<object>(
        {1, engine}, {[](object& to) { to.version = 0; }, [](object& to) { to.engine_type -= 1; }},
        [&](object request) { return make(0xc8b5, channel_, request); });
    EXPECT_NE(make(0xc8b5, group_, object{1, engine}), abi::ok);
    using slice = abi::time_slice_parameters;
    slice none{}, some{100};
    EXPECT_NE(control(group_, abi::cmd_set_time_slice, none), abi::ok);
    EXPECT_NE(control(channel_, abi::cmd_set_time_slice, some), abi::ok);
    std::uint64_t token = 0;
    EXPECT_NE(control(channel_, abi::cmd_get_submit_token, token), abi::ok);
    EXPECT_NE(control(group_, abi::cmd_get_submit_token, token), abi::ok);
    abi::schedule_parameters off{0, 0, 0}, skip{1, 1, 0};
    EXPECT_NE(control(channel_, abi::cmd_schedule, off), abi::ok);
    EXPECT_NE(control(channel_, abi::cmd_schedule, skip), abi::ok);
    EXPECT_NE(control(channel_, abi::cmd_schedule, token), abi::ok);
    EXPECT_NE(control(group_, abi::cmd_schedule, skip), abi::ok);
    expect_violations(9);
}

TEST_F(rm_channel_test, what_is_needed_is_not_freed) {
    make_all();
    std::size_t const all = driver_->objects();
    for (abi::handle const each : {notifier_, block_, space_, dma_, abi::handle{0x5003}}) {
        make_all();
        EXPECT_EQ(driver_->objects(), all);
        drop_views();
        EXPECT_EQ(free(device_, each), abi::ok);
        EXPECT_GE(kernel_->violations().size(), 1u) << each;
    }
    make_all();
    EXPECT_EQ(free(device_, group_), abi::ok);
    EXPECT_EQ(driver_->objects(), all - 3) << "channel and copy object go with it";
    EXPECT_EQ(unmap_dma(0x5003, host_address_), abi::ok);
    EXPECT_EQ(free(device_, 0x5003), abi::ok);
    EXPECT_EQ(driver_->objects(), all - 5);
    expect_violations(0);
    control_ = {};
    EXPECT_EQ(driver_->objects(), 0u);
    expect_violations(0);
}

TEST_F(rm_channel_test, each_call_can_be_refused) {
    constexpr unsigned parts_and_channel = 16;
    unsigned calls = 0;
    bool fired = true;
    for (unsigned k = 1; fired; ++k) {
        SCOPED_TRACE(k);
        first_refusal_ = abi::ok;
        boot();
        the_faults().arm(fault_source::status, k, 0x51);
        make_parts();
        if (first_refusal_ == abi::ok)
            make_channel();
        the_faults().disarm();
        fired = !the_faults().fired().empty();
        EXPECT_EQ(first_refusal_, fired ? abi::err_no_memory : abi::ok);
        calls = k - 1;
        control_ = {};
        EXPECT_EQ(driver_->objects(), 0u);
    }
    EXPECT_EQ(calls, parts_and_channel);
}

} // namespace
} // namespace barmap::fake
