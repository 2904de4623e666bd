// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "transfer/batch_pieces.hpp"

/// Batches inside one GPU, between two, and what of another GPU's memory is out of reach.
namespace barmap::contract {
namespace {

engine_machine with_two_gpus(char const* engine) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    return engine_machine(engine);
}

/// A program with memory on two GPUs, which runs batches by the first one. GPU 0 is current.
struct peer_program {
    static constexpr std::size_t size = mib;

    explicit peer_program(engine_machine& with) : machine(with) {
        machine->use(1);
        expect_success(cuda::api().ctx_get_current(&there));
        peer.emplace(size);
        machine->use(0);
        expect_success(cuda::api().ctx_get_current(&here));
        queue.emplace(device::open(0).batches());
        own.emplace(size);
        other.emplace(size);
    }
    void enable_access() const { expect_success(cuda::api().ctx_enable_peer_access(there, 0)); }

    /// Pieces of odd sizes at odd places of both.
    [[nodiscard]] static std::vector<copy_piece> pieces(std::uintptr_t to, std::uintptr_t from) {
        constexpr std::size_t count = 1000, stride = 1000;
        std::vector<copy_piece> result;
        for (std::size_t i = 0; i < count; ++i)
            result.push_back({to + (i * 7 + 3) % count * stride + i % 5, from + i * stride + i % 3,
                              1 + i * 13 % (stride - 8)});
        return result;
    }

    /// Copies a batch from one block to the other, and looks at every byte of both.
    void expect_to_copy(std::uintptr_t to, std::uintptr_t from, unsigned seed) {
        auto const list = pieces(to, from);
        auto const source = pattern(size, seed), before = pattern(size, seed + 1);
        write_by_driver(from, source);
        write_by_driver(to, before);
        EXPECT_TRUE(queue->wait(queue->submit(list), 100s));
        EXPECT_TRUE(read_by_driver(from, size) == source);
        auto expected = before;
        for (copy_piece const& each : list)
            std::memcpy(expected.data() + (each.to - to), source.data() + (each.from - from),
                        each.bytes);
        EXPECT_TRUE(read_by_driver(to, size) == expected);
    }

    engine_machine& machine;
    CUcontext here = nullptr, there = nullptr;
    std::optional<device_block> peer, own, other;
    std::optional<batch_queue> queue;
};

class batch_peer_test : public testing::TestWithParam<char const*> {
protected:
    engine_machine machine_ = with_two_gpus(GetParam());
};
INSTANTIATE_TEST_SUITE_P(ways, batch_peer_test, testing::Values("driver", "channel"),
                         [](auto const& info) { return std::string(info.param); });

TEST_P(batch_peer_test, moves_pieces_inside_a_gpu_and_to_and_from_a_peer) {
    peer_program p(machine_);
    p.enable_access();
    p.expect_to_copy(p.other->address(), p.own->address(), 1);
    p.expect_to_copy(p.peer->address(), p.own->address(), 3);
    p.expect_to_copy(p.own->address(), p.peer->address(), 5);
    pinned_block const host(mib);
    p.expect_to_copy(host.address(), p.peer->address(), 7);
    p.expect_to_copy(p.peer->address(), host.address(), 9);
}

TEST(batch_reach_test, memory_of_a_gpu_without_peer_access_is_refused) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    p.expect_to_copy(p.other->address(), p.own->address(), 1);
    std::uintptr_t const own = p.own->address(), other = p.other->address(),
                         peer = p.peer->address();
    auto const before = pattern(mib, 3);
    write_by_driver(other, before);
    std::vector<copy_piece> list(3, {other, own, 8});
    auto const expect_refused = [&](copy_piece bad, std::string_view side) {
        list[1] = bad;
        auto const refusal = refusal_of([&] { (void)p.queue->submit(list); });
        expect_refusal(refusal, errc::wrong_device, "copy piece 1 of a batch");
        expect_refusal(refusal, errc::wrong_device, side, "call cudaDeviceEnablePeerAccess");
        expect_refusal(refusal, errc::wrong_device, "is memory of GPU 1", "for GPU 1");
        EXPECT_TRUE(read_by_driver(other, mib) == before) << "nothing is copied";
    };
    expect_refused({peer, own, 8}, "its `to`, 0x");
    expect_refused({own, peer, 8}, "its `from`, 0x");
    p.enable_access();
    p.expect_to_copy(peer, own, 5); // what was refused is asked for again
    EXPECT_EQ(p.queue->reports().back().failures, 0u);
}

// Of a long list some pieces are looked at: the engine stops at what is not among them.
TEST(batch_reach_test, some_pieces_of_a_long_list_are_looked_at) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    copy_piece const good{p.other->address(), p.own->address(), 8},
        bad{p.peer->address(), p.own->address(), 8};
    std::vector<copy_piece> list(2000, good);
    std::fill(list.begin() + 1000, list.begin() + 1040, bad);
    expect_refusal([&] { (void)p.queue->submit(list); }, errc::wrong_device, "copy piece 10");
    std::ranges::fill(list, good);
    list[1] = bad;
    batch_ticket const ticket = p.queue->submit(list);
    expect_refusal([&] { (void)p.queue->wait(ticket, 20s); }, errc::copy_unfinished, "");
    p.expect_to_copy(p.other->address(), p.own->address(), 3);
}

TEST(batch_reach_test, gpus_that_cannot_access_each_other_are_told_so) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    changed_driver apart;
    apart->device_can_access_peer = [](int* can, CUdevice, CUdevice) {
        *can = 0;
        return cuda::success;
    };
    std::vector<copy_piece> const list{{p.peer->address(), p.own->address(), 8}};
    expect_refusal([&] { (void)p.queue->submit(list); }, errc::wrong_device, "piece 0",
                   "cannot access each other's memory");
}

// CUDA's own copies go through host memory then.
TEST(batch_reach_test, the_driver_reaches_a_gpu_without_peer_access) {
    engine_machine machine = with_two_gpus("driver");
    peer_program p(machine);
    p.expect_to_copy(p.peer->address(), p.own->address(), 1);
    p.expect_to_copy(p.own->address(), p.peer->address(), 3);
}

// Memory of cuMemCreate and of pools has access rights of its own.
TEST(batch_reach_test, rights_of_a_chunk_and_of_a_pool_are_looked_at) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    p.enable_access(); // which says nothing of these
    machine->use(1);
    virtual_block const chunk(1, {2 * mib});
    pool_block const pooled(mib, pool_block::from::the_default_pool);
    machine->use(0);
    for (std::uintptr_t const each : {chunk.address(), pooled.address()}) {
        std::vector<copy_piece> const list{{each, p.own->address(), 8}};
        expect_refusal([&] { (void)p.queue->submit(list); }, errc::wrong_device, "piece 0",
                       "cuMemSetAccess");
    }
    CUmemAccessDesc const access{{cuda::location_type_device, 0}, cuda::access_read_write};
    expect_success(cuda::api().mem_set_access(chunk.address(), 2 * mib, &access, 1));
    p.expect_to_copy(chunk.address(), p.own->address(), 1);
}

// What is no longer mapped, and was looked at before, fails as any address that is not mapped.
TEST(batch_reach_test, access_that_ends_is_noticed_by_the_engine) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    p.enable_access();
    p.expect_to_copy(p.peer->address(), p.own->address(), 1);
    expect_success(cuda::api().ctx_disable_peer_access(p.there));
    batch_ticket const ticket =
        p.queue->submit(std::vector<copy_piece>{{p.peer->address(), p.own->address(), 8}});
    expect_refusal([&] { (void)p.queue->wait(ticket, 20s); }, errc::copy_unfinished, "");
    p.expect_to_copy(p.other->address(), p.own->address(), 3); // the next channel
}

// One GPU's batches are looked at no further, and several's cost no call of the driver each.
TEST(batch_reach_test, known_memory_costs_no_call_of_the_driver) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    p.enable_access();
    for (auto const& [to, from] : {std::pair{p.peer->address(), p.own->address()},
                                   {p.own->address(), p.peer->address()},
                                   {p.other->address(), p.own->address()}}) {
        auto const list = p.pieces(to, from);
        EXPECT_TRUE(p.queue->wait(p.queue->submit(list), 100s));
        static std::atomic<int> calls;
        calls = 0;
        changed_driver counting;
        counting->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                              CUdeviceptr at) {
            ++calls;
            return changed_driver::real.pointer_get_attributes(count, names, values, at);
        };
        counting->pointer_get_attribute = [](void* value, int name, CUdeviceptr at) {
            ++calls;
            return changed_driver::real.pointer_get_attribute(value, name, at);
        };
        EXPECT_TRUE(p.queue->wait(p.queue->submit(list), 100s));
        EXPECT_EQ(calls, 0);
    }
}

} // namespace
} // namespace barmap::contract
