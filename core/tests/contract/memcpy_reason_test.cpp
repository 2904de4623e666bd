// SPDX-License-Identifier: MIT
#include "contract/memcpy_fixture.hpp"
#include "shared/cancelled_thread.hpp"
#include "shared/in_child.hpp"
#include "system/numa.hpp"

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

/// A stream goes on a moment before the batch that it waited for counts as done.
void expect_no_stores() {
    memcpy_dropin::gpu_batches* const of = memcpy_dropin::gpu_batches::of(0);
    while (of->stores()) {
        EXPECT_FALSE(of->has_a_batch_failed());
        std::this_thread::yield();
    }
}

// barmap copies both directions by one engine, CUDA by two. Loads yield: small copies to the CPU
// starve beside CUDA's stores.
TEST_F(memcpy_reason, loads_of_large_pieces_beside_stores) {
    std::size_t const large = memcpy_dropin::limits::in_force().large_mean_bytes,
                      count = memcpy_dropin::limits::in_force().least_bytes_of_large / large;
    large_memory const memory(count * large);
    auto const stores = memory.to_cpu(count, large), loads = turned(stores);
    for (auto const& first : {stores, memory.to_cpu(100, 200)}) { // small ones, too
        gated_stream held;
        EXPECT_EQ(memcpy_dropin::take(copies(first, held.get()).call()), cuda::success);
        m_.expect_left(copies(loads, stream_.get()).call(), reason::beside_stores);
        EXPECT_EQ(memcpy_dropin::take(
                      copies(turned(memory.to_cpu(count, large - 1)), stream_.get()).call()),
                  cuda::success);
        stream_.synchronize();
        held.open();
        held.synchronize();
        expect_no_stores();
        EXPECT_EQ(memcpy_dropin::take(copies(loads, stream_.get()).call()), cuda::success);
        stream_.synchronize();
    }
    gated_stream held;
    EXPECT_EQ(memcpy_dropin::take(copies(loads, held.get()).call()), cuda::success);
    EXPECT_EQ(memcpy_dropin::take(copies(stores, stream_.get()).call()), cuda::success);
    stream_.synchronize();
    held.open();
    held.synchronize();
}

// Whatever the first piece says.
TEST_F(memcpy_reason, loads_of_large_pieces_beside_stores_in_lists_of_several_ways) {
    std::size_t const large = memcpy_dropin::limits::in_force().large_mean_bytes,
                      count = memcpy_dropin::limits::in_force().least_bytes_of_large / large;
    large_memory const memory((count + 2) * large);
    auto const all = memory.to_cpu(count + 2, large);
    std::vector<copy_piece> stores(all.begin(), all.begin() + 100), loads = turned(all);
    for (copy_piece& each : stores)
        each.bytes = 200;
    std::swap(stores.front().to, stores.front().from); // a load
    loads.erase(loads.begin() + 1);
    loads.front().from = loads.front().to + large; // inside the GPU
    gated_stream held;
    EXPECT_EQ(memcpy_dropin::take(copies(stores, held.get()).call()), cuda::success);
    EXPECT_TRUE(memcpy_dropin::gpu_batches::of(0)->stores());
    m_.expect_left(copies(loads, stream_.get()).call(), reason::beside_stores);
    held.open();
    held.synchronize();
    expect_no_stores();
    EXPECT_EQ(memcpy_dropin::take(copies(loads, stream_.get()).call()), cuda::success);
    EXPECT_FALSE(memcpy_dropin::gpu_batches::of(0)->stores());
    stream_.synchronize();
}

TEST_F(memcpy_reason, a_default_stream) {
    for (std::uintptr_t const value : {0, 1}) {
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
    for (std::size_t const many_more :
         {std::size_t{1'000'000}, std::size_t{1} << 40, ~std::size_t{0}})
        expect_refused([&](call& it) { it.attribute_count = many_more; }); // of lists with one
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
    expect_unknown({stream, {3, -1}, {}, 0});
    expect_unknown({stream, {}, {3, 1000}, 0}); // no such NUMA node
    expect_unknown({stream, {4, 0}, {}, 0});
    expect_unknown({stream, {}, {1, -1}, 0});
    expect_unknown({stream, {}, {1, 1}, 0}); // there is one GPU
    expect_unknown({stream, {1, 7}, {}, 0});
    copies given = good();
    given.attributes = {{cuda::source_order_any, {1, 0}, {2, 0}, 1}, {stream, {}, {}, 0}};
    if (os::has_numa_node(0)) // not in every sandbox
        given.attributes.back().srcLocHint = {3, 0};
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
        m_.expect_taken(good()); // a stream of the primary one
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

// UCX, DPDK and NVSHMEM set the attribute. It makes synchronous copies wait; CUDA's batch call also
// returned at once from memory that has it (H200, 580.159.04).
TEST_F(memcpy_reason, none_for_memory_with_sync_memops) {
    device_block const block(4096);
    copies given = good();
    given.from[70] = block.address();
    changed_driver synchronous;
    synchronous.tell(cuda::pointer_sync_memops, 1, block.address());
    m_.expect_taken(given);
}

TEST_F(memcpy_reason, pieces_that_stay_in_host_memory) {
    copies given = good();
    given.to[70] = m_.p.host.address() + batch_program::size - 1000;
    given.from[70] = m_.p.host.address() + batch_program::size - 500;
    m_.expect_passed(given, reason::host_to_host);
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

// As any of CUDA's calls may; an unwinding thread would end the process at the first noexcept.
TEST_F(memcpy_reason, a_cancelled_thread_ends_after_the_call) {
    CUcontext context = nullptr;
    expect_success(cuda::api().ctx_get_current(&context));
    copies const given = good();
    changed_driver ending;
    ending->stream_is_capturing = [](CUstream stream, int* status) {
        ::pthread_testcancel();
        return changed_driver::real.stream_is_capturing(stream, status);
    };
    std::optional<CUresult> result;
    EXPECT_TRUE(returns_to_a_cancelled_thread([&] {
        expect_success(cuda::api().ctx_set_current(context));
        result = memcpy_dropin::take(given.call());
    }));
    EXPECT_EQ(result, cuda::success);
    stream_.synchronize();
    ending.restore();
    m_.expect_taken(given);
}

TEST_F(memcpy_reason, calls_of_its_own) {
    memcpy_dropin::own_calls const ours;
    EXPECT_FALSE(memcpy_dropin::take(good().call()));
}

} // namespace
} // namespace barmap::contract
