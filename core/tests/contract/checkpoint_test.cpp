// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"
#include "shared/in_child.hpp"

#include <barmap/checkpoint.hpp>

#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

/// Processes that are prepared for a checkpoint, checkpointed and restored.
namespace barmap::contract {
namespace {

class checkpoint_test : public contract_test {};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_test, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_test, mappings_of_every_kind_come_back_at_their_addresses) {
    device const gpu = device::open(0);
    for (memory_kind const kind : kinds_of_device_memory) {
        if (!adopts(kind))
            continue;
        SCOPED_TRACE(to_string(kind));
        auto const block = make_memory(kind, 3 * mib);
        std::uintptr_t const from = block->address() + 4099;
        constexpr std::size_t bytes = 2 * mib - 5;
        mapping const map = gpu.pin(from, bytes).map();
        window const all = map.window();
        auto const before = pattern(bytes, 1);
        write(all, before);
        checkpoint_prepare();
        EXPECT_TRUE(is_out_of_reach(all.data));
        EXPECT_TRUE(is_out_of_reach(all.data + bytes - 1));
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        EXPECT_EQ(map.data(), all.data);
        std::vector<std::byte> seen(bytes);
        read(seen, all);
        EXPECT_TRUE(seen == before);
        EXPECT_TRUE(read_by_driver(from, bytes) == before);
        expect_same_memory(map, from, 2);
    }
}

TEST_P(checkpoint_test, nothing_is_held_in_between) {
    {
        device const gpu = device::open(0); // what is made once per process
        (void)gpu.allocate(mib).map();
    }
    fake::left_over const before = the_machine().held();
    device const gpu = device::open(0);
    pin const own = gpu.allocate(3 * mib);
    mapping const first = own.map(), second = own.map();
    fake::left_over const running = the_machine().held();
    checkpoint_prepare();
    fake::left_over const prepared = the_machine().held();
    EXPECT_EQ(prepared.driver_objects, before.driver_objects);
    EXPECT_EQ(prepared.descriptors, before.descriptors);
    EXPECT_EQ(prepared.open_files, before.open_files + 1) << "CUDA's, of the memory itself";
    EXPECT_EQ(prepared.gpu_mappings, before.gpu_mappings + 1) << "the simulated driver's";
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_EQ(the_machine().held(), running);
    expect_same_memory(first, own.gpu_address(), 1);
    expect_same_memory(second, own.gpu_address(), 2);
}

TEST_P(checkpoint_test, can_be_done_over_and_over_and_twice) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    mapping const map = gpu.pin(block->address(), 2 * mib).map();
    std::optional<fake::left_over> first;
    checkpoint_restore(); // does nothing
    for (unsigned i = 0; i < 10; ++i) {
        checkpoint_prepare();
        checkpoint_prepare();
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        checkpoint_restore();
        expect_same_memory(map, block->address(), i);
        if (!first)
            first = the_machine().held();
        EXPECT_EQ(the_machine().held(), *first);
    }
    checkpoint_prepare(); // and without a checkpoint
    checkpoint_restore();
    expect_same_memory(map, block->address(), 77);
}

TEST_P(checkpoint_test, every_call_in_between_is_refused) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    pin const held = gpu.pin(block->address(), 2 * mib);
    mapping const map = held.map();
    std::vector<std::byte> host(2 * mib);
    checkpoint_prepare();
    checkpoint_of_cuda::lock();
    checkpoint_of_cuda::checkpoint();
    std::function<void()> const calls[] = {
        [&] { (void)device::open(0); },
        [&] { (void)device::open(7); },
        [&] { (void)device::from_pointer(reinterpret_cast<void*>(block->address())); },
        [&] { (void)device::from_pages(block->address(), 1); },
        [&] { (void)device::probe(0); },
        [&] { (void)gpu.pin(block->address(), 8); },
        [&] { (void)gpu.pin(ipc_handle{}, 0, 8); },
        [&] { (void)gpu.allocate(8); },
        [&] { (void)gpu.allocate_host(8); },
        [&] { (void)gpu.batch_queue(); },
        [&] { (void)gpu.bar1(); },
        [&] { (void)gpu.backends(); },
        [&] { (void)gpu.engines(); },
        [&] { (void)gpu.copy_crossovers(GetParam().backend); },
        [&] { (void)held.map(); },
        [&] { (void)held.map(cache_kind::cached); },
        [&] { (void)held.revoked(); },
        [&] { (void)held.share(); },
        [&] { (void)held.event_fd(); },
        [&] { (void)held.next_event(); },
        [&] { (void)open_shared(0); },
        [&] { map.copy_to_gpu(0, host); },
        [&] { map.copy_to_cpu(host, 0); },
        [&] { (void)arena(gpu, 4096, 4096); },
    };
    for (auto const& call : calls)
        expect_refusal(call, errc::checkpointed, "prepared for a checkpoint",
                       "checkpoint_restore()");
    checkpoint_of_cuda::restore();
    checkpoint_of_cuda::unlock();
    EXPECT_EQ(map.size(), 2 * mib);
    EXPECT_EQ(gpu.started_backends().size(), 1u);
    checkpoint_restore();
    for (auto const& call : calls) {
        try {
            call();
        } catch (error const& failure) {
            EXPECT_NE(failure.code(), errc::checkpointed) << failure.what();
        }
    }
    expect_same_memory(map, block->address(), 1);
}

TEST_P(checkpoint_test, objects_may_go_in_between) {
    fake::left_over const before = [&] {
        device const gpu = device::open(0);
        (void)gpu.allocate(mib).map();
        return the_machine().held();
    }();
    {
        device const gpu = device::open(0);
        auto const block = some_memory(2 * mib);
        pin const held = gpu.pin(block->address(), 2 * mib);
        auto first = std::make_unique<mapping>(held.map());
        mapping const second = held.map();
        auto other = std::make_unique<mapping>(gpu.pin(block->address() + kib, kib).map());
        checkpoint_prepare();
        first.reset();
        other.reset();
        checkpoint_of_cuda::whole();
        checkpoint_restore();
        expect_same_memory(second, block->address(), 3);
        checkpoint_prepare();
        checkpoint_of_cuda::whole();
    }
    checkpoint_restore();
    device const gpu = device::open(0);
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(checkpoint_test, forced_pages_and_options_are_those_of_before) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    pin const pages = gpu.pin(block->address() + 5, 7, {.whole_pages = true});
    mapping const map = pages.map();
    device_block const before(1000), small(1000);
    pin const around = gpu.pin(small.address() + 5, 7, {.whole_pages = true});
    mapping const around_map = around.map();
    checkpoint_prepare();
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_EQ(pages.size(), gpu_page_size);
    expect_same_memory(map, block->address(), 1);
    EXPECT_EQ(around.size(), gpu_page_size);
    auto const sent = pattern(1000, 2);
    write(around_map.window(small.address() - around.gpu_address(), sent.size()), sent);
    EXPECT_TRUE(read_by_driver(small.address(), sent.size()) == sent);
}

TEST_P(checkpoint_test, calls_of_other_threads_wait_or_are_refused) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    mapping const stays = gpu.pin(block->address(), 2 * mib).map();
    std::atomic<bool> stop{false};
    std::vector<std::jthread> users;
    for (unsigned t = 0; t < 3; ++t)
        users.emplace_back([&, t] {
            std::vector<std::byte> host(64 * kib);
            while (!stop) {
                try {
                    mapping const map = gpu.pin(block->address() + t * kib, kib).map();
                    stays.copy_to_cpu(host, t * 64 * kib);
                } catch (error const& failure) {
                    EXPECT_EQ(failure.code(), errc::checkpointed) << failure.what();
                }
            }
        });
    for (int i = 0; i < 20; ++i) {
        checkpoint_prepare(60s);
        checkpoint_restore();
    }
    stop = true;
    users.clear();
    expect_same_memory(stays, block->address(), 1);
}

TEST_P(checkpoint_test, memory_that_has_been_freed_is_refused) {
    device const gpu = device::open(0);
    auto block = some_memory(2 * mib);
    mapping const other = gpu.allocate(mib).map();
    auto held = std::make_unique<mapping>(gpu.pin(block->address(), 2 * mib).map());
    block.reset();
    try {
        checkpoint_prepare();
        ADD_FAILURE() << "prepared";
    } catch (error const& failure) {
        EXPECT_NE(failure.code(), errc::checkpointed) << failure.what();
    }
    EXPECT_FALSE(is_out_of_reach(other.data())) << "nothing has changed";
    held.reset();
    checkpoint_prepare();
    EXPECT_TRUE(is_out_of_reach(other.data()));
    checkpoint_restore();
    EXPECT_FALSE(is_out_of_reach(other.data()));
}

TEST_P(checkpoint_test, memory_that_is_gone_at_the_restore_is_named) {
    device const gpu = device::open(0);
    mapping const other = gpu.allocate(mib).map();
    auto block = some_memory(64 * mib); // so that barmap's own does not come to lie at its start
    auto held = std::make_unique<mapping>(gpu.pin(block->address(), 2 * mib).map());
    checkpoint_prepare();
    block.reset();
    for (int i = 0; i < 2; ++i) {
        EXPECT_THROW(checkpoint_restore(), error);
        EXPECT_TRUE(is_out_of_reach(held->data()));
        EXPECT_TRUE(is_out_of_reach(other.data())) << "it stays prepared";
        expect_refusal([&] { (void)gpu.allocate(8); }, errc::checkpointed, "prepared");
    }
    held.reset();
    checkpoint_restore();
    write_value(other.window(0, 8), 1);
}

TEST_P(checkpoint_test, a_restore_that_reaches_other_memory_is_refused) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    mapping const map = gpu.pin(block->address(), 2 * mib).map();
    checkpoint_prepare();
    {
        changed_driver lying;
        lying->memcpy_dtoh_async = [](void* to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
            CUresult const result = changed_driver::real.memcpy_dtoh_async(to, from, bytes, stream);
            changed_driver::real.stream_synchronize(stream);
            static_cast<char*>(to)[0] ^= 1;
            return result;
        };
        expect_refusal([] { checkpoint_restore(); }, errc::backend_broken, "random value");
        EXPECT_TRUE(is_out_of_reach(map.data()));
    }
    checkpoint_restore();
    expect_same_memory(map, block->address(), 1);
}

TEST_P(checkpoint_test, a_forked_child_is_refused) {
    device const gpu = device::open(0);
    mapping const map = gpu.allocate(mib).map();
    for (bool const is_prepared : {false, true}) {
        if (is_prepared)
            checkpoint_prepare();
        expect_exit(7, in_child(1, [] {
                        int refused = 0;
                        for (auto* const call :
                             {+[] { checkpoint_prepare(); }, +[] { checkpoint_restore(); },
                              +[] { (void)device::open(0); }}) {
                            try {
                                call();
                            } catch (error const& failure) {
                                refused = refused * 2 + (failure.code() == errc::forked_child);
                            }
                        }
                        ::_exit(refused);
                    }));
    }
    checkpoint_restore();
}

TEST_P(checkpoint_test, a_child_whose_parent_opened_no_gpu_is_prepared) {
    expect_refusal([] { (void)open_shared(-1); }, errc::invalid_argument, "open shared memory");
    expect_exit(7, in_child(0, [] {
                    checkpoint_prepare();
                    refusal const seen = refusal_of([] { (void)device::open(0); });
                    checkpoint_restore();
                    ::_exit(seen.code == errc::checkpointed ? 7 : 2);
                }));
}

TEST_P(checkpoint_test, a_child_of_a_prepared_process_is_refused) {
    device const gpu = device::open(0);
    pin const held = gpu.allocate(mib);
    mapping const map = held.map();
    std::function<void()> const calls[] = {
        [&] { (void)held.revoked(); }, [&] { (void)held.map(); },
        [&] { (void)gpu.bar1(); },     [&] { (void)gpu.backends(); },
        [&] { (void)gpu.engines(); },  [&] { (void)gpu.copy_crossovers(GetParam().backend); },
    };
    checkpoint_prepare();
    for (auto const& call : calls)
        expect_exit(7, in_child(0, [&] {
                        try {
                            call();
                        } catch (error const& failure) {
                            ::_exit(failure.code() == errc::forked_child ? 7 : 2);
                        }
                    }));
    expect_exit(7, in_child(0, [&] {
                    for (auto const& call :
                         {std::function<void()>([&] { (void)held.event_fd(); }),
                          std::function<void()>([&] { (void)held.next_event(); })})
                        if (refusal_of(call).code != errc::invalid_argument)
                            ::_exit(2);
                    ::_exit(7);
                }));
    checkpoint_restore();
}

class checkpoint_of_two_gpus : public two_gpus {};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_of_two_gpus, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_of_two_gpus, both_come_back) {
    the_machine().use(1);
    device const one = device::open(1);
    pin const of_one = one.allocate(2 * mib);
    mapping const on_one = of_one.map();
    the_machine().use(0);
    device const zero = device::open(0);
    pin const of_zero = zero.allocate(2 * mib);
    mapping const on_zero = of_zero.map();
    checkpoint_prepare();
    EXPECT_TRUE(is_out_of_reach(on_zero.data()));
    EXPECT_TRUE(is_out_of_reach(on_one.data()));
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    expect_same_memory(on_zero, of_zero.gpu_address(), 1);
    expect_same_memory(on_one, of_one.gpu_address(), 2);
}

using checkpoint_refusal_test = contract_test;
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_refusal_test, testing::Values(way_of("vulkan")),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_refusal_test, what_vulkan_maps_or_allocates_is_named) {
    device const gpu = device::open(0);
    {
        pin const own = gpu.allocate(mib);
        expect_refusal([] { checkpoint_prepare(); }, errc::unsupported_operation,
                       "memory that the backend allocated", "backend rm or dmabuf");
        expect_same_memory(own.map(), own.gpu_address(), 1);
    }
    auto const block = some_memory(2 * mib);
    pin const held = gpu.pin(block->address(), 2 * mib);
    {
        mapping const map = held.map();
        expect_refusal([] { checkpoint_prepare(); }, errc::unsupported_operation, "a mapping",
                       "another one");
        expect_same_memory(map, block->address(), 2);
    }
    checkpoint_prepare();
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    expect_same_memory(held.map(), block->address(), 3);
}

} // namespace
} // namespace barmap::contract
