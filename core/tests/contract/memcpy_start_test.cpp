// SPDX-License-Identifier: MIT
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/exchanged_handles.hpp"
#include "contract/memcpy_fixture.hpp"
#include "system/region.hpp"

#include <barmap/checkpoint.hpp>

#include <csignal>

/// When libbarmap-memcpy begins to take batches, and on which GPUs.
namespace barmap::contract {
namespace {

using memcpy_dropin::reason;

TEST(memcpy_start, the_first_batches_are_the_drivers) {
    memcpy_program m("driver");
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    m.expect_passed(given, reason::starting);
    m.expect_ready();
    m.expect_taken(given);
}

TEST(memcpy_start, its_thread_leaves_signals_to_the_program) {
    static std::atomic<int> has_blocked;
    static std::thread::id caller;
    has_blocked = -1;
    caller = std::this_thread::get_id();
    memcpy_program m("driver");
    changed_driver watched;
    watched->stream_create = [](CUstream* made, unsigned flags) {
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        if (std::this_thread::get_id() != caller)
            has_blocked = ::sigismember(&blocked, SIGUSR1);
        return changed_driver::real.stream_create(made, flags);
    };
    m.expect_ready();
    EXPECT_EQ(has_blocked, 1);
}

// While CUDA pins memory, its calls by the program's threads wait.
TEST(memcpy_start, lets_cuda_pin_one_page_at_once) {
    static std::atomic<std::size_t> most;
    most = 0;
    engine_machine machine(nullptr); // both engines start
    device_block const block(mib); // makes the primary context
    changed_driver watched;
    watched->mem_host_register = [](void* memory, std::size_t bytes, unsigned flags) {
        most = std::max(most.load(), bytes); // by one thread
        return changed_driver::real.mem_host_register(memory, bytes, flags);
    };
    EXPECT_EQ(memcpy_program::wait_for_the_start(), memcpy_dropin::gpu_batches::state::ready);
    memcpy_dropin::gpu_batches::destroy_all();
    EXPECT_EQ(most, os::page_size());
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
    memcpy_dropin::gpu_batches::destroy_all(); // waits for the thread that says it
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("CUDA copies all batches from now on: cannot copy a batch"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("from now on"), said.rfind("from now on")) << "said once";
}

// CUDA's own copies, made by barmap, are no better than CUDA's own.
TEST(memcpy_start, takes_no_batch_for_the_driver_to_copy) {
    memcpy_program m(nullptr, {.cuda_has_uvm = false});
    EXPECT_EQ(m.p.queue.engine(), "driver");
    EXPECT_EQ(m.wait_for_the_start(), memcpy_dropin::gpu_batches::state::off);
}

TEST(memcpy_start, takes_the_channel_by_itself) {
    memcpy_program m(nullptr);
    m.expect_ready();
    EXPECT_EQ(m.p.queue.engine(), "channel");
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

/// A batch from the second GPU's memory, while that GPU is the current one.
class batch_of_the_second_gpu {
public:
    explicit batch_of_the_second_gpu(memcpy_program& m)
        : block_((m.machine->use(1), mib)), given_(m.p.pieces(100, 200), stream_.get()) {
        write_by_driver(block_.address(), pattern(mib, 1));
        for (CUdeviceptr& each : given_.from)
            each = block_.address() + (each - m.p.block.address());
    }
    void start() const {
        memcpy_program::expect_left(given_.call(), reason::starting);
        EXPECT_EQ(memcpy_program::wait_for_the_start(1), memcpy_dropin::gpu_batches::state::ready);
    }
    void expect_taken() const {
        EXPECT_EQ(memcpy_dropin::take(given_.call()), cuda::success);
        stream_.synchronize();
        for (std::size_t i = 0; i < given_.bytes.size(); ++i) {
            auto* const seen = reinterpret_cast<std::byte*>(given_.to[i]);
            EXPECT_TRUE(read_by_driver(given_.from[i], given_.bytes[i]) ==
                        std::vector<std::byte>(seen, seen + given_.bytes[i]));
        }
    }

private:
    device_block block_;
    open_stream stream_;
    copies given_;
};

// As those of a program whose threads leave the first GPU the current one.
TEST(memcpy_gpus, a_stream_of_another_gpu_than_the_current_one) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    CUcontext first = nullptr, now = nullptr;
    expect_success(cuda::api().ctx_get_current(&first));
    batch_of_the_second_gpu const batch(m);
    expect_success(cuda::api().ctx_set_current(first));
    batch.start();
    batch.expect_taken();
    expect_success(cuda::api().ctx_get_current(&now));
    EXPECT_EQ(now, first);
}

TEST(memcpy_gpus, each_has_an_engine_of_its_own) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    batch_of_the_second_gpu const batch(m);
    batch.start();
    batch.expect_taken();
}

TEST(memcpy_gpus, whose_handles_are_not_their_ordinals) {
    set_environment("BARMAP_SIM_DEVICES", "2");
    memcpy_program m("driver");
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    exchanged_handles const exchanged;
    m.expect_left(given.call(), reason::starting);
    EXPECT_EQ(m.wait_for_the_start(1), memcpy_dropin::gpu_batches::state::ready);
    m.expect_taken(given);
}

TEST(memcpy_gpus, there_are_64_at_most) {
    EXPECT_EQ(memcpy_dropin::gpu_batches::of(64), nullptr);
    EXPECT_EQ(memcpy_dropin::gpu_batches::of(-1), nullptr);
}

TEST(memcpy_start, takes_batches_again_after_a_checkpoint) {
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    m.expect_taken(given);
    checkpoint_prepare(60s);
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    m.expect_passed(given, reason::starting);
    memcpy_dropin::gpu_batches* const of = memcpy_dropin::gpu_batches::of(0);
    for (auto const until = std::chrono::steady_clock::now() + 20s;
         of->now() == memcpy_dropin::gpu_batches::state::starting &&
         std::chrono::steady_clock::now() < until;)
        std::this_thread::yield();
    ASSERT_EQ(of->now(), memcpy_dropin::gpu_batches::state::ready);
    m.expect_taken(given);
}

// It takes milliseconds, in which the caller would wait.
TEST(memcpy_start, no_batch_opens_a_queue) {
    memcpy_program m("channel");
    m.expect_ready();
    auto const list = m.p.pieces(100, 200);
    opened_here const queues;
    for (auto const& each : {list, turned(list)}) {
        gated_stream first, second, third, fourth;
        for (gated_stream* const on : {&first, &second, &third, &fourth})
            EXPECT_EQ(memcpy_dropin::take(copies(each, on->get()).call()), cuda::success);
        for (gated_stream* const on : {&first, &second, &third, &fourth}) {
            on->open();
            on->synchronize();
        }
    }
    EXPECT_EQ(queues.count, 0);
}

} // namespace
} // namespace barmap::contract
