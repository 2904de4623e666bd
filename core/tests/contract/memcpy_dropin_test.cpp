// SPDX-License-Identifier: MIT
#include "contract/memcpy_fixture.hpp"
#include "contract/memory_shortage.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"

/// What libbarmap-memcpy takes is what the driver would have copied, in the same order.
namespace barmap::contract {
namespace {

using memcpy_dropin::reason;

class memcpy_dropin_test : public testing::TestWithParam<char const*> {
protected:
    void SetUp() override { m_.expect_ready(); }
    memcpy_program m_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ways, memcpy_dropin_test, testing::Values("driver", "channel"),
                         [](auto const& info) { return std::string(info.param); });

TEST_P(memcpy_dropin_test, copies_what_the_driver_copies) {
    open_stream const stream;
    for (auto const way : {copy_direction::to_cpu, copy_direction::to_gpu})
        for (std::size_t const count : {64u, 100u, 1000u})
            m_.expect_taken({going(way, m_.p.pieces(count, 600)), stream.get()});
}

TEST_P(memcpy_dropin_test, copies_between_every_kind_of_memory) {
    open_stream const stream;
    for (memory_kind const kind : kinds_of_device_memory) {
        auto const block = make_memory(kind, mib);
        std::vector<copy_piece> list;
        for (std::size_t i = 0; i < 100; ++i)
            list.push_back({m_.p.host.address() + i * 1000, block->address() + i * 1000, 990});
        write_by_driver(block->address(), pattern(mib, 3));
        m_.expect_taken({list, stream.get()});
        m_.expect_taken({turned(list), stream.get()});
    }
}

TEST_P(memcpy_dropin_test, copies_inside_a_gpu) {
    open_stream const stream;
    std::vector<copy_piece> list;
    for (std::size_t i = 0; i < 100; ++i)
        list.push_back({m_.p.block.address() + (batch_program::size / 2) + i * 1000,
                        m_.p.block.address() + (99 - i) * 1000, 990});
    m_.expect_taken({list, stream.get()});
}

TEST_P(memcpy_dropin_test, takes_host_memory_that_was_registered) {
    open_stream const stream;
    std::vector<std::byte> memory(2 * mib);
    auto* const page = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) & ~std::uintptr_t{4095});
    std::vector<copy_piece> list;
    for (std::size_t i = 0; i < 100; ++i)
        list.push_back({m_.p.block.address() + i * 1000,
                        reinterpret_cast<std::uintptr_t>(page) + i * 1000, 990});
    m_.expect_passed({list, stream.get()}, reason::unknown_memory);
    expect_success(cuda::api().mem_host_register(page, mib, 0));
    m_.expect_taken({list, stream.get()});
    expect_success(cuda::api().mem_host_unregister(page));
    m_.expect_passed({list, stream.get()},
                     reason::unknown_memory); // what was pinned once is not now
}

/// What a stream's work sees that comes before and after a batch, while it is held up and at last.
struct sequence {
    std::vector<std::byte> held_up, behind;
    bool operator==(sequence const&) const = default;
};

sequence run_between(copier which, batch_program& p, copy_direction way) {
    auto const list = going(way, p.pieces(100, 200));
    device_block const before(batch_program::size), behind(batch_program::size);
    pinned_block const seen(batch_program::size);
    write_by_driver(before.address(), pattern(batch_program::size, 5));
    write_by_driver(p.block.address(), pattern(batch_program::size, 6));
    p.host.fill(pattern(batch_program::size, 7));
    bool const to_cpu = way == copy_direction::to_cpu;
    std::uintptr_t const source = to_cpu ? p.block.address() : p.host.address();
    std::uintptr_t const target = to_cpu ? p.host.address() : p.block.address();
    gated_stream stream;
    stream.copy(source, before.address(), batch_program::size); // the batch reads this
    EXPECT_EQ(copy_by(which, {list, stream.get()}), cuda::success);
    stream.copy(behind.address(), target, batch_program::size); // and this reads the batch's
    std::this_thread::sleep_for(20ms);
    sequence result;
    result.held_up.assign(p.host.bytes().begin(), p.host.bytes().end());
    stream.open();
    stream.synchronize();
    result.behind = read_by_driver(behind.address(), batch_program::size);
    return result;
}

TEST_P(memcpy_dropin_test, keeps_the_order_of_the_stream) {
    for (auto const way : {copy_direction::to_cpu, copy_direction::to_gpu}) {
        auto const wanted = run_between(copier::driver, m_.p, way);
        auto const before = m_.passed(m_.words());
        EXPECT_TRUE(run_between(copier::dropin, m_.p, way) == wanted);
        EXPECT_EQ(m_.passed(m_.words()), before);
    }
}

// Batches that are taken and those that are not, in turns, each of which moves on what came before.
TEST_P(memcpy_dropin_test, keeps_the_order_with_batches_that_it_passes_on) {
    auto const run = [&](copier which) {
        device_block const third(batch_program::size);
        write_by_driver(m_.p.block.address(), pattern(batch_program::size, 8));
        gated_stream stream;
        for (int round = 0; round < 10; ++round) {
            std::vector<copy_piece> down, up;
            for (std::size_t i = 0; i < 64; ++i) {
                std::size_t const at = i * 500, next = (i + 1) % 64 * 500;
                down.push_back({m_.p.host.address() + next, m_.p.block.address() + at, 500});
                up.push_back({m_.p.block.address() + at, m_.p.host.address() + at, 500});
            }
            EXPECT_EQ(copy_by(which, {down, stream.get()}), cuda::success);
            for (std::size_t i = 0; i < 64; i += 16) // few pieces
                EXPECT_EQ(copy_by(which, {{up.begin() + i, up.begin() + i + 16}, stream.get()}),
                          cuda::success);
        }
        stream.open();
        stream.synchronize();
        return read_by_driver(m_.p.block.address(), batch_program::size);
    };
    auto const wanted = run(copier::driver);
    auto const [batches, pieces, bytes] = m_.taken();
    auto const few = m_.count_of(reason::few_pieces);
    EXPECT_TRUE(run(copier::dropin) == wanted);
    EXPECT_EQ(m_.taken(), (std::array{batches + 10, pieces + 640, bytes + 320000}));
    EXPECT_EQ(m_.count_of(reason::few_pieces), few + 40);
}

TEST_P(memcpy_dropin_test, streams_that_wait_hold_up_no_other_stream) {
    gated_stream held;
    open_stream const ready;
    auto const list = m_.p.pieces(100, 200);
    auto const before = m_.passed(m_.words());
    EXPECT_EQ(copy_by(copier::dropin, {list, held.get()}), cuda::success);
    EXPECT_EQ(copy_by(copier::dropin, {list, ready.get()}), cuda::success);
    ready.synchronize();
    EXPECT_FALSE(held.is_idle());
    EXPECT_EQ(m_.passed(m_.words()), before);
    held.open();
}

// One call of the driver or of the system fails: the batch is copied all the same, by one of the
// two.
TEST_P(memcpy_dropin_test, every_call_fails_once) {
    fake::cuda_watch const watched;
    auto const list = m_.p.pieces(100, 200);
    for (auto const& [source, code] :
         {std::pair{fake::fault_source::cuda, 999}, {fake::fault_source::system, EIO}}) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; ++n) {
            ASSERT_LT(n, 500u);
            open_stream const stream;
            write_by_driver(m_.p.block.address(), pattern(batch_program::size, n));
            auto const wanted = m_.p.host_after(list, pattern(batch_program::size, n + 1),
                                                pattern(batch_program::size, n));
            m_.p.host.fill(pattern(batch_program::size, n + 1));
            copies const given{list, stream.get()};
            fake::the_faults().arm(source, n, code);
            auto const taken = memcpy_dropin::take(given.call());
            has_failed = !fake::the_faults().fired().empty();
            fake::the_faults().disarm();
            EXPECT_EQ(taken.value_or(cuda::success), cuda::success);
            if (!taken) {
                EXPECT_EQ(copy_by(copier::driver, given), cuda::success);
            }
            stream.synchronize();
            EXPECT_TRUE(same_bytes(m_.p.host.bytes(), wanted)) << n;
        }
    }
}

TEST_P(memcpy_dropin_test, every_allocation_fails_once) {
    auto const list = m_.p.pieces(100, 200);
    open_stream const stream;
    bool has_failed = true;
    for (unsigned n = 1; has_failed; ++n) {
        ASSERT_LT(n, 500u);
        write_by_driver(m_.p.block.address(), pattern(batch_program::size, n));
        auto const wanted = m_.p.host_after(list, pattern(batch_program::size, n + 1),
                                            pattern(batch_program::size, n));
        m_.p.host.fill(pattern(batch_program::size, n + 1));
        copies const given{list, stream.get()};
        std::optional<CUresult> taken;
        {
            memory_shortage const one(n);
            taken = memcpy_dropin::take(given.call());
            has_failed = one.has_failed();
        }
        EXPECT_EQ(taken.value_or(cuda::success), cuda::success);
        if (!taken) {
            EXPECT_EQ(copy_by(copier::driver, given), cuda::success);
        }
        stream.synchronize();
        EXPECT_TRUE(same_bytes(m_.p.host.bytes(), wanted)) << n;
    }
}

// From the first batch on, which starts the engine.
TEST(memcpy_threads, copy_at_once) {
    memcpy_program m("channel");
    CUcontext context = nullptr;
    expect_success(cuda::api().ctx_get_current(&context));
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < 4; ++n)
        threads.emplace_back([&, n] {
            expect_success(cuda::api().ctx_set_current(context));
            device_block const block(64 * kib);
            pinned_block const out(64 * kib), back(64 * kib);
            open_stream const stream;
            std::vector<copy_piece> up, down;
            for (std::size_t i = 0; i < 64; ++i) {
                up.push_back({block.address() + i * kib, out.address() + i * kib, kib});
                down.push_back({back.address() + i * kib, block.address() + i * kib, kib});
            }
            for (unsigned round = 0; round < 30; ++round) {
                auto const sent = pattern(64 * kib, n * 100 + round);
                out.fill(sent);
                EXPECT_EQ(copy_by(copier::dropin, {up, stream.get()}), cuda::success);
                EXPECT_EQ(copy_by(copier::dropin, {down, stream.get()}), cuda::success);
                stream.synchronize();
                EXPECT_TRUE(same_bytes(back.bytes(), sent));
            }
        });
    for (std::thread& each : threads)
        each.join();
    m.expect_ready();
}

} // namespace
} // namespace barmap::contract
