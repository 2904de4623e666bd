// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/captured_graph.hpp"

#include <sys/wait.h>
#include <unistd.h>

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
        queue.emplace(device::open(0).batch_queue());
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

/// A stream of GPU 1, and what marks a place in a stream.
struct stream_of_peer {
    explicit stream_of_peer(peer_program& p) : of(p) {
        of.machine->use(1);
        stream.emplace();
        of.machine->use(0);
    }
    ~stream_of_peer() {
        stream.reset();
        for (CUevent const each : events)
            cuda::api().event_destroy(each);
    }
    /// Has one stream wait for what the other was given so far.
    void bring_behind(CUstream later, CUcontext of_earlier, CUstream earlier) {
        CUcontext now = nullptr;
        expect_success(cuda::api().ctx_get_current(&now));
        expect_success(cuda::api().ctx_set_current(of_earlier));
        expect_success(cuda::api().event_create(&events.emplace_back(), 2));
        expect_success(cuda::api().event_record(events.back(), earlier));
        expect_success(cuda::api().ctx_set_current(now));
        expect_success(cuda::api().stream_wait_event(later, events.back(), 0));
    }

    peer_program& of;
    std::optional<gated_stream> stream;
    std::vector<CUevent> events;
};

// O52: a kernel of the other GPU writes, a batch pulls; a batch pushes, a kernel of the other
// reads.
TEST_P(batch_peer_test, events_order_work_of_the_other_gpu_before_and_behind) {
    peer_program p(machine_);
    p.enable_access();
    std::uintptr_t const peer = p.peer->address(), own = p.own->address();
    auto const pull = p.pieces(own, peer), push = p.pieces(peer, own);
    pinned_block const written(mib), seen(mib);
    for (unsigned round = 0; round < 5; ++round) {
        SCOPED_TRACE(round);
        auto const old = pattern(mib, round), fresh = pattern(mib, round + 50);
        std::vector<std::byte> own_wanted(mib, std::byte{7});
        write_by_driver(peer, old);
        write_by_driver(own, own_wanted);
        written.fill(fresh);
        stream_of_peer theirs(p);
        open_stream ours;
        theirs.stream->copy(peer, written.address(), mib); // "the kernel that writes"
        theirs.bring_behind(ours.get(), p.there, theirs.stream->get());
        batch_ticket const first = p.queue->submit(pull, after{ours.get()}, then{ours.get()});
        batch_ticket const second = p.queue->submit(push, after{ours.get()}, then{ours.get()});
        theirs.bring_behind(theirs.stream->get(), p.here, ours.get());
        theirs.stream->copy(seen.address(), peer, mib); // "the kernel that reads"
        EXPECT_FALSE(p.queue->wait(first, 5ms)) << "the other GPU has not come";
        theirs.stream->open();
        theirs.stream->synchronize();
        EXPECT_TRUE(p.queue->done(first));
        EXPECT_TRUE(p.queue->done(second));
        for (copy_piece const& each : pull)
            std::memcpy(own_wanted.data() + (each.to - own), fresh.data() + (each.from - peer),
                        each.bytes);
        auto peer_wanted = fresh;
        for (copy_piece const& each : push)
            std::memcpy(peer_wanted.data() + (each.to - peer),
                        own_wanted.data() + (each.from - own), each.bytes);
        EXPECT_TRUE(same_bytes(seen.bytes(), peer_wanted));
        EXPECT_TRUE(read_by_driver(own, mib) == own_wanted);
    }
}

// O52: what is submitted on the other GPU once a batch is done, sees it.
TEST_P(batch_peer_test, what_the_other_gpu_is_given_later_sees_a_batch_that_is_done) {
    peer_program p(machine_);
    p.enable_access();
    auto const push = p.pieces(p.peer->address(), p.own->address());
    pinned_block const seen(mib);
    stream_of_peer theirs(p);
    theirs.stream->open();
    for (unsigned round = 0; round < 5; ++round) {
        auto const sent = pattern(mib, round);
        std::vector<std::byte> wanted(mib);
        write_by_driver(p.own->address(), sent);
        write_by_driver(p.peer->address(), wanted);
        EXPECT_TRUE(p.queue->wait(p.queue->submit(push), 100s));
        theirs.stream->copy(seen.address(), p.peer->address(), mib);
        theirs.stream->synchronize();
        for (copy_piece const& each : push)
            std::memcpy(wanted.data() + (each.to - p.peer->address()),
                        sent.data() + (each.from - p.own->address()), each.bytes);
        EXPECT_TRUE(same_bytes(seen.bytes(), wanted));
    }
}

// Its words would lie in memory that the other GPU may not reach.
TEST_P(batch_peer_test, a_stream_of_the_other_gpu_is_refused) {
    peer_program p(machine_);
    p.enable_access();
    stream_of_peer theirs(p);
    theirs.stream->open();
    CUstream const stream = theirs.stream->get();
    auto const list = p.pieces(p.other->address(), p.own->address());
    auto const expect_refused = [&](std::optional<after> begin, std::optional<then> end) {
        expect_refusal([&] { (void)p.queue->submit(list, begin, end); }, errc::wrong_device,
                       "the stream belongs to GPU 1, the batch queue to GPU 0");
    };
    expect_refused(after{stream}, {});
    expect_refused({}, then{stream});
    p.expect_to_copy(p.other->address(), p.own->address(), 3);
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

TEST(batch_reach_test, a_captured_batch_is_refused_as_any_other) {
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    captured_graph graph(device::open(0));
    open_stream own;
    stream_of_peer theirs(p);
    theirs.stream->open();
    graph.capture(own.get());
    graph.capture(theirs.stream->get());
    std::vector<copy_piece> const far{{p.peer->address(), p.own->address(), 8}},
        near{{p.other->address(), p.own->address(), 8}};
    expect_refusal([&] { (void)p.queue->submit(far, after{own.get()}); }, errc::wrong_device,
                   "copy piece 0 of a batch");
    expect_refusal([&] { (void)p.queue->submit(near, after{theirs.stream->get()}); },
                   errc::wrong_device, "the stream belongs to GPU 1");
    graph.end_capture();
    EXPECT_TRUE(graph.nodes().empty());
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

/// A process that has memory of cuMemAlloc on GPU 1, whose bytes are those of pattern(mib, 1), and
/// looks at its end whether they have become others.
class owner_on_peer {
public:
    /// Before this process loads a driver, which does not survive a fork.
    owner_on_peer() {
        int to_parent[2], to_child[2];
        EXPECT_EQ(::pipe(to_parent), 0);
        EXPECT_EQ(::pipe(to_child), 0);
        child_ = ::fork();
        if (child_ == 0) {
            set_environment("BARMAP_SIM", "1");
            set_environment("BARMAP_SIM_DEVICES", "2");
            CUcontext context = nullptr;
            cuda::api().primary_ctx_retain(&context, 1);
            cuda::api().ctx_set_current(context);
            device_block const block(mib);
            write_by_driver(block.address(), pattern(mib, 1));
            CUipcMemHandle handle{};
            cuda::api().ipc_get_mem_handle(&handle, block.address());
            bool told = ::write(to_parent[1], &handle, sizeof handle) == sizeof handle;
            std::vector<std::byte> wanted(mib);
            for (std::size_t at = 0; told && at < mib;) {
                ssize_t const more = ::read(to_child[0], wanted.data() + at, mib - at);
                told = more > 0;
                at += told ? static_cast<std::size_t>(more) : 0;
            }
            ::_exit(told && read_by_driver(block.address(), mib) == wanted ? 0 : 1);
        }
        EXPECT_EQ(::read(to_parent[0], &handle, sizeof handle), ssize_t(sizeof handle));
        for (int const each : {to_parent[0], to_parent[1], to_child[0]})
            ::close(each);
        to_child_ = to_child[1];
    }
    ~owner_on_peer() { ::close(to_child_); }
    /// Whether the bytes are these there. Once.
    [[nodiscard]] bool has(std::vector<std::byte> const& bytes) const {
        EXPECT_EQ(::write(to_child_, bytes.data(), bytes.size()), ssize_t(bytes.size()));
        int status = -1;
        ::waitpid(child_, &status, 0);
        return status == 0;
    }

    CUipcMemHandle handle{};

private:
    pid_t child_ = -1;
    int to_child_ = -1;
};

TEST(batch_reach_test, memory_of_another_process_is_reached_where_it_was_opened) {
    owner_on_peer const owner;
    engine_machine machine = with_two_gpus("channel");
    peer_program p(machine);
    CUdeviceptr there = 0;
    constexpr unsigned lazy_enable_peer_access = 1;
    auto const list_to = [&] { return p.pieces(there, p.own->address()); };
    machine->use(1);
    expect_success(cuda::api().ipc_open_mem_handle(&there, owner.handle, lazy_enable_peer_access));
    machine->use(0);
    expect_refusal([&] { (void)p.queue->submit(list_to()); }, errc::wrong_device, "piece 0");
    expect_success(cuda::api().ipc_close_mem_handle(there));
    expect_success(cuda::api().ipc_open_mem_handle(&there, owner.handle, lazy_enable_peer_access));
    auto const sent = pattern(mib, 5);
    write_by_driver(p.own->address(), sent);
    EXPECT_TRUE(p.queue->wait(p.queue->submit(list_to()), 100s));
    auto wanted = pattern(mib, 1);
    for (copy_piece const& each : list_to())
        std::memcpy(wanted.data() + (each.to - there), sent.data() + (each.from - p.own->address()),
                    each.bytes);
    EXPECT_TRUE(owner.has(wanted));
    expect_success(cuda::api().ipc_close_mem_handle(there));
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
