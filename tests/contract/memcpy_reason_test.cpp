// SPDX-License-Identifier: MIT
#include "contract/memcpy_fixture.hpp"
#include "shared/in_child.hpp"

/// Each reason for which libbarmap-memcpy leaves a batch to the driver. What a program gets is what
/// the driver gives it.
namespace barmap::contract {
namespace {

using memcpy_dropin::reason;

class memcpy_reason : public testing::Test {
protected:
    void SetUp() override {
        m_.expect_ready();
        m_.expect_taken(good()); // so that what differs from it is the reason
    }
    [[nodiscard]] copies good(std::size_t count = 100) const {
        return {m_.p.pieces(count, 200), stream_.get()};
    }
    memcpy_program m_{"driver"}; // whose batches CUDA may refuse
    open_stream stream_;
};

TEST_F(memcpy_reason, few_pieces) {
    m_.expect_taken(good(memcpy_dropin::least_pieces));
    m_.expect_passed(good(memcpy_dropin::least_pieces - 1), reason::few_pieces);
    m_.expect_passed(good(0), reason::few_pieces);
}

TEST_F(memcpy_reason, large_pieces) {
    constexpr std::size_t count = memcpy_dropin::least_pieces,
                          most = memcpy_dropin::most_mean_bytes;
    device_block const block(count * most + 1);
    pinned_block const host(count * most + 1);
    copies given(std::vector<copy_piece>(count, {0, 0, most}), stream_.get());
    for (std::size_t i = 0; i < count; ++i) {
        given.to[i] = host.address() + i * most;
        given.from[i] = block.address() + i * most;
    }
    m_.expect_taken(given);
    ++given.bytes.back();
    m_.expect_passed(given, reason::large_pieces);
    given.bytes.assign(count, ~std::size_t{0} / 2); // the sum of which means nothing
    m_.expect_passed(given, reason::large_pieces);
}

TEST_F(memcpy_reason, a_default_stream) {
    for (std::uintptr_t const value : {0, 1, 2}) {
        copies given = good();
        given.stream = reinterpret_cast<CUstream>(value);
        m_.expect_passed(given, reason::default_stream);
    }
}

TEST_F(memcpy_reason, arguments_that_cuda_refuses) {
    auto const expect_refused = [&](auto change) {
        auto given = good().call();
        auto const held = good();
        given = held.call();
        change(given);
        m_.expect_left(given, reason::refused_by_cuda);
        std::size_t failed = 0;
        EXPECT_EQ(cuda::api().memcpy_batch_async(const_cast<CUdeviceptr*>(given.to),
                                                 const_cast<CUdeviceptr*>(given.from),
                                                 const_cast<std::size_t*>(given.bytes), given.count,
                                                 const_cast<CUmemcpyAttributes*>(given.attributes),
                                                 const_cast<std::size_t*>(given.first_of),
                                                 given.attribute_count, &failed, given.stream),
                  cuda::error_invalid_value);
    };
    using call = memcpy_dropin::batch_call;
    expect_refused([](call& it) { it.to = nullptr; });
    expect_refused([](call& it) { it.from = nullptr; });
    expect_refused([](call& it) { it.bytes = nullptr; });
    expect_refused([](call& it) { it.attributes = nullptr; });
    expect_refused([](call& it) { it.first_of = nullptr; });
    expect_refused([](call& it) { it.attribute_count = 0; });
    CUmemcpyAttributes const plain{cuda::source_order_stream, {}, {}, 0};
    std::vector<CUmemcpyAttributes> const many(101, plain);
    std::vector<std::size_t> numbers(101);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = i;
    auto const expect_refused_list = [&](std::vector<std::size_t> const& first) {
        expect_refused([&](call& it) {
            it.attributes = many.data();
            it.first_of = first.data();
            it.attribute_count = first.size();
        });
    };
    expect_refused_list(numbers); // more than pieces
    expect_refused_list({1});
    expect_refused_list({0, 5, 5});
    expect_refused_list({0, 7, 5});
    expect_refused_list({0, 100});
    copies given = good();
    given.bytes[50] = 0;
    m_.expect_passed(given, reason::refused_by_cuda);
    EXPECT_EQ(copy_by(copier::dropin, given), cuda::error_invalid_value);
    given = good();
    given.stream = reinterpret_cast<CUstream>(std::uintptr_t{0x12340});
    m_.expect_passed(given, reason::refused_by_cuda);
}

TEST_F(memcpy_reason, sources_that_are_read_during_the_call) {
    copies given = good();
    given.attributes.push_back({cuda::source_order_during_call, {}, {}, 0});
    given.first_of.push_back(99);
    m_.expect_passed(given, reason::during_call);
}

TEST_F(memcpy_reason, attributes_that_it_does_not_know) {
    auto const expect_unknown = [&](CUmemcpyAttributes const& attribute) {
        copies given = good();
        given.attributes.push_back(attribute);
        given.first_of.push_back(50);
        m_.expect_left(given.call(), reason::unknown_attribute);
    };
    constexpr int stream = cuda::source_order_stream;
    expect_unknown({0, {}, {}, 0});
    expect_unknown({4, {}, {}, 0});
    expect_unknown({stream, {}, {}, 2});
    expect_unknown({stream, {3, 0}, {}, 0});
    expect_unknown({stream, {}, {3, 0}, 0});
    expect_unknown({stream, {}, {1, -1}, 0});
    copies given = good();
    given.attributes = {{cuda::source_order_any, {1, 0}, {2, 0}, 1}, {stream, {}, {}, 0}};
    given.first_of = {0, 99};
    m_.expect_taken(given);
}

TEST_F(memcpy_reason, a_context_that_is_not_the_primary_one) {
    CUcontext primary = nullptr, other = nullptr;
    expect_success(cuda::api().ctx_get_current(&primary));
    expect_success(cuda::api().ctx_create(&other, 0, 0)); // and current
    {
        open_stream const of_other;
        copies given = good();
        given.stream = of_other.get();
        m_.expect_passed(given, reason::other_context);
        m_.expect_passed(good(), reason::other_context); // a stream of the primary one
        expect_success(cuda::api().ctx_set_current(primary));
        m_.expect_left(given.call(), reason::other_context);
        expect_success(cuda::api().ctx_set_current(nullptr));
        m_.expect_left(given.call(), reason::other_context);
        expect_success(cuda::api().ctx_set_current(other));
    }
    expect_success(cuda::api().ctx_destroy(other));
    expect_success(cuda::api().ctx_set_current(primary));
    m_.expect_taken(good());
}

TEST_F(memcpy_reason, a_stream_that_is_captured) {
    changed_driver capturing;
    capturing->stream_is_capturing = [](CUstream, int* status) {
        *status = 1;
        return cuda::success;
    };
    m_.expect_passed(good(), reason::captured);
    // Nothing else is asked, which could end the capture.
    capturing->ctx_get_device = [](CUdevice*) {
        ADD_FAILURE() << "during a capture";
        return cuda::success;
    };
    capturing->ctx_get_current = [](CUcontext*) {
        ADD_FAILURE() << "during a capture";
        return cuda::success;
    };
    capturing->pointer_get_attributes = [](unsigned, int*, void**, CUdeviceptr) {
        ADD_FAILURE() << "during a capture";
        return cuda::success;
    };
    m_.expect_left(good().call(), reason::captured);
}

TEST_F(memcpy_reason, memory_that_is_not_pinned) {
    std::vector<std::byte> pageable(4096);
    auto const at = reinterpret_cast<std::uintptr_t>(pageable.data());
    for (bool const is_target : {true, false}) {
        copies given = good();
        (is_target ? given.to : given.from)[70] = at;
        m_.expect_passed(given, reason::unknown_memory);
    }
    copies given = good(); // reaches beyond its allocation
    given.from[70] = m_.p.block.address() + batch_program::size - 10;
    given.bytes[70] = 11;
    m_.expect_left(given.call(), reason::unknown_memory);
    given.bytes[70] = 10;
    m_.expect_taken(given);
}

TEST_F(memcpy_reason, managed_memory) {
    managed_block const block(4096);
    copies given = good();
    given.from[70] = block.address();
    m_.expect_passed(given, reason::managed_memory);
}

TEST_F(memcpy_reason, memory_whose_copies_are_synchronous) {
    device_block const block(4096);
    copies given = good();
    given.from[70] = block.address();
    m_.expect_taken(given);
    changed_driver synchronous;
    static CUdeviceptr there;
    there = block.address();
    synchronous->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                             CUdeviceptr at) {
        CUresult const result =
            changed_driver::real.pointer_get_attributes(count, names, values, at);
        for (unsigned i = 0; i < count; ++i)
            if (names[i] == cuda::pointer_sync_memops)
                *static_cast<int*>(values[i]) = at == there;
        return result;
    };
    m_.expect_passed(given, reason::synchronous_memory);
}

TEST_F(memcpy_reason, pieces_that_stay_in_host_memory) {
    copies given = good();
    given.to[70] = m_.p.host.address() + batch_program::size - 1000;
    given.from[70] = m_.p.host.address() + batch_program::size - 500;
    m_.expect_passed(given, reason::host_to_host);
}

TEST_F(memcpy_reason, pieces_that_go_both_ways) {
    copies given = good();
    std::swap(given.to[99], given.from[99]);
    m_.expect_passed(given, reason::both_ways);
    given = good();
    given.to[70] = m_.p.block.address() + batch_program::size - 1000;
    given.from[70] = m_.p.block.address() + batch_program::size - 500;
    m_.expect_passed(given, reason::both_ways);
}

TEST_F(memcpy_reason, a_stream_that_the_engine_cannot_have) {
    changed_driver refusing;
    refusing->event_record = [](CUevent, CUstream) { return CUresult{999}; };
    m_.expect_left(good().call(), reason::refused_here);
    refusing.restore();
    m_.expect_taken(good());
}

TEST_F(memcpy_reason, a_forked_child) {
    expect_exit(0, in_child(1, [&] {
                    if (!memcpy_dropin::take(good().call()) && m_.count_of(reason::forked) == 1)
                        ::_exit(0);
                }));
    m_.expect_taken(good());
}

TEST_F(memcpy_reason, calls_of_its_own) {
    memcpy_dropin::own_calls const ours;
    EXPECT_FALSE(memcpy_dropin::take(good().call()));
}

TEST(memcpy_start, the_first_batches_are_the_drivers) {
    memcpy_program m("driver");
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    m.expect_passed(given, reason::starting);
    m.expect_ready();
    m.expect_taken(given);
}

TEST(memcpy_start, makes_no_primary_context) {
    memcpy_program m("driver");
    changed_driver without;
    without->primary_ctx_get_state = [](CUdevice, unsigned* flags, int* is_active) {
        *flags = 0;
        *is_active = 0;
        return cuda::success;
    };
    open_stream const stream;
    m.expect_passed({m.p.pieces(100, 200), stream.get()}, reason::other_context);
    EXPECT_EQ(m.count_of(reason::starting), 0u);
}

TEST(memcpy_start, an_engine_that_cannot_be_had_is_off) {
    engine_machine machine("channel", {.cuda_has_uvm = false});
    device_block const block(mib);
    pinned_block const host(mib);
    open_stream const stream;
    testing::internal::CaptureStderr();
    EXPECT_EQ(memcpy_program::wait_for_the_start(), memcpy_dropin::gpu_batches::state::off);
    std::vector<copy_piece> list;
    for (std::size_t i = 0; i < 100; ++i)
        list.push_back({host.address() + i * 100, block.address() + i * 100, 100});
    for (int i = 0; i < 3; ++i)
        memcpy_program::expect_left(copies(list, stream.get()).call(), reason::off);
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("CUDA's own from now on: cannot copy a batch"), std::string::npos) << said;
    EXPECT_EQ(said.find("from now on"), said.rfind("from now on")) << "said once";
    memcpy_dropin::gpu_batches::destroy_all();
}

// CUDA's own copies, made by barmap, are no better than CUDA's own.
TEST(memcpy_start, takes_no_batch_for_the_driver_to_copy) {
    memcpy_program m(nullptr, {.cuda_has_uvm = false});
    EXPECT_EQ(m.p.queue.name(), "driver");
    EXPECT_EQ(m.wait_for_the_start(), memcpy_dropin::gpu_batches::state::off);
}

TEST(memcpy_start, takes_the_channel_by_itself) {
    memcpy_program m(nullptr);
    m.expect_ready();
    EXPECT_EQ(m.p.queue.name(), "channel");
}

TEST(memcpy_gpus, memory_of_another_gpu) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    copies given{m.p.pieces(100, 200), stream.get()};
    m.expect_taken(given);
    CUcontext first = nullptr, second = nullptr;
    expect_success(cuda::api().ctx_get_current(&first));
    m.machine->use(1);
    expect_success(cuda::api().ctx_get_current(&second));
    {
        device_block const block(mib);
        write_by_driver(block.address(), pattern(mib, 4));
        expect_success(cuda::api().ctx_set_current(first));
        for (std::size_t i = 0; i < given.to.size(); ++i) {
            given.to[i] = m.p.block.address() + i * 1000;
            given.from[i] = block.address() + i * 900;
        }
        m.expect_left(given.call(), reason::other_gpu);
        expect_success(cuda::api().ctx_enable_peer_access(second, 0));
        m.expect_taken(given);
        expect_success(cuda::api().ctx_disable_peer_access(second));
    }
}

TEST(memcpy_gpus, there_are_64_at_most) {
    EXPECT_EQ(memcpy_dropin::gpu_batches::of(64), nullptr);
    EXPECT_EQ(memcpy_dropin::gpu_batches::of(-1), nullptr);
}

TEST(memcpy_gpus, each_has_an_engine_of_its_own) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    m.machine->use(1);
    device_block const block(mib);
    open_stream const stream;
    copies given{m.p.pieces(100, 200), stream.get()};
    for (CUdeviceptr& each : given.from)
        each = block.address() + (each - m.p.block.address());
    m.expect_left(given.call(), reason::starting);
    EXPECT_EQ(m.wait_for_the_start(1), memcpy_dropin::gpu_batches::state::ready);
    write_by_driver(block.address(), pattern(mib, 1));
    auto const taken = memcpy_dropin::take(given.call());
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, cuda::success);
    stream.synchronize();
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_TRUE(
            read_by_driver(given.from[i], given.bytes[i]) ==
            std::vector<std::byte>(reinterpret_cast<std::byte*>(given.to[i]),
                                   reinterpret_cast<std::byte*>(given.to[i]) + given.bytes[i]));
}

/// Submits a batch that fails: from an address that CUDA has not mapped, but says to know.
void submit_one_that_fails(copies given) {
    given.from[70] = 0x10;
    changed_driver lying;
    lying->pointer_get_attributes = [](unsigned count, int* names, void** values, CUdeviceptr at) {
        CUresult const result =
            changed_driver::real.pointer_get_attributes(count, names, values, at);
        for (unsigned i = 0; i < count && at == 0x10; ++i) {
            if (names[i] == cuda::pointer_memory_type)
                *static_cast<unsigned*>(values[i]) = cuda::memory_type_device;
            else if (names[i] == cuda::pointer_device_ordinal)
                *static_cast<int*>(values[i]) = 0;
            else if (names[i] == cuda::pointer_range_start_addr)
                *static_cast<CUdeviceptr*>(values[i]) = 0x10;
            else if (names[i] == cuda::pointer_range_size)
                *static_cast<std::size_t*>(values[i]) = mib;
        }
        return result;
    };
    EXPECT_EQ(copy_by(copier::dropin, given), cuda::success);
}

// The failure comes with the next call, as those of CUDA's asynchronous copies do; then CUDA
// copies.
TEST(memcpy_failure, is_told_once_and_then_the_driver_copies) {
    memcpy_program m("channel");
    m.expect_ready();
    open_stream const stream;
    copies const next{m.p.pieces(100, 200), stream.get()};
    testing::internal::CaptureStderr();
    submit_one_that_fails(next);
    stream.synchronize(); // it is released
    EXPECT_EQ(copy_by(copier::dropin, next), 700);
    m.expect_passed(next, reason::off);
    m.expect_passed(next, reason::off);
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("CUDA's own from now on: a batch of copies has failed"), std::string::npos)
        << said;
    EXPECT_EQ(said.find("from now on"), said.rfind("from now on")) << "said once";
}

TEST(memcpy_failure, is_told_at_the_exit) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            memcpy_program m("channel");
            m.expect_ready();
            open_stream const stream;
            submit_one_that_fails({m.p.pieces(100, 200), stream.get()});
            stream.synchronize();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "a batch of copies has failed");
}

// Nobody knows what is still copied, so that the driver may not copy it again. Takes the 10 seconds
// for which the engine waits.
TEST(memcpy_failure, what_may_be_in_flight_is_not_copied_again) {
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    changed_driver stuck;
    stuck->event_record = [](CUevent, CUstream) { return CUresult{719}; };
    stuck->stream_query = [](CUstream) { return cuda::error_not_ready; };
    auto const taken = memcpy_dropin::take(given.call());
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, cuda::error_unknown);
    m.expect_left(given.call(), reason::off);
}

} // namespace
} // namespace barmap::contract
