// SPDX-License-Identifier: MIT
#include "contract/memory_shortage.hpp"

#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "contract/ways_that_share.hpp"
#include "shared/in_child.hpp"

#include <barmap/barmap.h>
#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <chrono>
#include <thread>

/// Every allocation that the library makes fails once: the caller is told so, nothing is left, and
/// the next call works.
namespace barmap::contract {
namespace {

constexpr unsigned more_than_all = 5000;

/// Opens, pins, maps, copies both ways, and is refused something, by the C interface.
int use_all_of_it(std::uint64_t address, std::size_t bytes, void* host) {
    barmap_device* gpu = nullptr;
    barmap_pin* pin = nullptr;
    barmap_mapping* map = nullptr;
    int status = barmap_device_create(0, &gpu);
    if (!status)
        status = barmap_pin_create(gpu, address, bytes, nullptr, &pin);
    if (!status)
        status = barmap_mapping_create(pin, &map);
    if (!status)
        status = barmap_mapping_copy_to_gpu(map, 0, host, bytes);
    if (!status)
        status = barmap_mapping_copy_to_cpu(map, host, 0, bytes);
    if (!status) {
        barmap_pin* none = nullptr;
        int const refused = barmap_pin_create(gpu, address, 0, nullptr, &none);
        status = refused == BARMAP_ERROR_INVALID_ARGUMENT ? 0 : refused;
    }
    barmap_mapping_destroy(map);
    barmap_pin_destroy(pin);
    barmap_device_destroy(gpu);
    return status;
}

class memory_shortage_test : public contract_test {
protected:
    void SetUp() override {
        if (GetParam().backend == std::string_view("vulkan"))
            GTEST_SKIP() << "Vulkan's library allocates by operator new as well";
        contract_test::SetUp();
    }
    void TearDown() override {
        if (!IsSkipped())
            contract_test::TearDown();
    }

    /// An engine that does not start is stopped by a thread of its own.
    void await_held(fake::left_over const& wanted) {
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (the_machine().held() != wanted && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
    }

    void fail_each_allocation(char const* engine) {
        set_environment("BARMAP_ENGINE", engine);
        constexpr std::size_t bytes = 64 * kib;
        auto const memory = some_memory(2 * mib);
        std::vector<std::byte> host(bytes);
        ASSERT_EQ(use_all_of_it(memory->address(), bytes, host.data()), BARMAP_OK)
            << barmap_error_message(); // warms up what is made once per process
        fake::left_over const before = the_machine().held();
        for (unsigned n = 1; n < more_than_all; ++n) {
            int status = 0;
            bool failed = false;
            {
                memory_shortage const shortage(n);
                status = use_all_of_it(memory->address(), bytes, host.data());
                failed = shortage.has_failed();
            }
            await_held(before);
            ASSERT_EQ(the_machine().held(), before) << "after allocation " << n << " failed";
            if (!failed) {
                EXPECT_EQ(status, BARMAP_OK) << barmap_error_message();
                EXPECT_GT(n, 20u) << "few are made to fail";
                return;
            }
            // Some is for the log, or for a faster way to do it.
            EXPECT_TRUE(status == BARMAP_ERROR_NO_MEMORY || status == BARMAP_OK)
                << "after allocation " << n << " failed: " << barmap_error_message();
        }
        FAIL() << "it never runs through";
    }
};

TEST_P(memory_shortage_test, is_told_and_leaves_nothing_behind) {
    fail_each_allocation("none");
}

TEST_P(memory_shortage_test, is_told_and_leaves_nothing_behind_with_an_engine) {
    fail_each_allocation("driver");
}

TEST_P(memory_shortage_test, leaves_nothing_behind_where_memory_and_rings_are_shared) {
    if (!shares(GetParam()))
        GTEST_SKIP() << GetParam().backend << " cannot share";
    device const gpu = device::open(0);
    pin const given = gpu.allocate(2 * mib);
    ring_to_cpu<int> ring(gpu, 4);
    auto const use = [&] {
        os::fd const descriptor(given.share()), of_ring(ring.share());
        mapping const map = open_shared(descriptor.get()).map();
        auto const opened = ring_to_cpu<int>::open_shared(of_ring.get());
        os::fd const of_counter(counter_to_gpu(arena(gpu, 64, 0)).share());
    };
    use();
    fake::left_over const before = the_machine().held();
    for (unsigned n = 1; n < more_than_all; ++n) {
        bool failed = false;
        {
            memory_shortage const shortage(n);
            try {
                use();
            } catch (std::exception const&) {
                // What counts is what is left.
            }
            failed = shortage.has_failed();
        }
        await_held(before);
        ASSERT_EQ(the_machine().held(), before) << "after allocation " << n << " failed";
        if (!failed)
            return;
    }
    FAIL() << "it never runs through";
}

BARMAP_OVER_NEWEST_WAYS(memory_shortage_test);

TEST(memory_shortage, no_category_of_errors_needs_memory) {
    memory_shortage const shortage(1);
    for (std::error_category const* each :
         {&category(), &cuda_category(), &vulkan_category(), &rm_category()})
        EXPECT_NE(each->name(), nullptr);
    EXPECT_FALSE(shortage.has_failed());
}

// Each allocation while the driver is loaded has a process of its own, which loads it once.
TEST(memory_shortage, GPUs_are_counted_later) {
    set_environment("BARMAP_SIM", "1");
    constexpr int done = 3;
    for (unsigned n = 1; n < more_than_all; ++n) {
        int const status = in_child(0, [&] {
            int seen = 0;
            bool failed = false;
            {
                memory_shortage const shortage(n, false);
                seen = device::count();
                failed = shortage.has_failed();
            }
            bool const right = seen == (failed ? 0 : 1) && device::count() == 1;
            ::_exit(!right ? 1 : failed ? 0 : done);
        });
        ASSERT_TRUE(WIFEXITED(status)) << "allocation " << n << " failed: " << status;
        if (WEXITSTATUS(status) == done) {
            EXPECT_GT(n, 1u);
            return;
        }
        ASSERT_EQ(WEXITSTATUS(status), 0) << "allocation " << n << " failed";
    }
    FAIL() << "it never runs through";
}

// poll() must not throw.
TEST(memory_shortage, a_copy_in_a_context_that_is_gone_has_failed) {
    engine_machine machine("driver");
    auto const engine = engine::make_driver(identify(0), engine::lane::cuda);
    engine->start();
    engine::ticket const number = engine->submit(engine::direction::to_cpu, {}, 0, {});
    bool failed = true;
    for (unsigned n = 1; failed; ++n) {
        ASSERT_LT(n, more_than_all);
        changed_driver gone;
        gone->ctx_get_current = [](CUcontext*) { return CUresult{4}; };
        memory_shortage const shortage(n);
        EXPECT_EQ(engine->poll(number), engine::state::failed) << n;
        failed = shortage.has_failed();
        EXPECT_TRUE(failed || n > 1) << "none is made to fail";
    }
}

} // namespace
} // namespace barmap::contract
