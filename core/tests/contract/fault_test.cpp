// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"
#include "shared/changed_calls.hpp"
#include "shared/in_child.hpp"
#include "system/calls.hpp"
#include "system/fd.hpp"

#include <barmap/ring.hpp>

#include <cerrno>
#include <cstdio>
#include <new>
#include <thread>

/// Every call that the library makes fails once: it says so, and leaves nothing behind.
namespace barmap::contract {
namespace {

using fake::fault_source;
using fake::the_faults;

struct fault {
    fault_source source;
    char const* name;
    int code;
};
constexpr fault faults[] = {
    {fault_source::system, "ENOENT", ENOENT},
    {fault_source::system, "EMFILE", EMFILE},
    {fault_source::system, "ENOMEM", ENOMEM},
    {fault_source::system, "EINVAL", EINVAL},
    {fault_source::status, "NV_ERR_INSUFFICIENT_RESOURCES", 0x1a},
    {fault_source::status, "NV_ERR_INVALID_PARAM_STRUCT", 0x3a},
    {fault_source::status, "NV_ERR_NO_MEMORY", 0x51},
    {fault_source::cuda, "CUDA_ERROR_INVALID_VALUE", cuda::error_invalid_value},
    {fault_source::cuda, "CUDA_ERROR_OUT_OF_MEMORY", cuda::error_out_of_memory},
    {fault_source::cuda, "CUDA_ERROR_NOT_FOUND", cuda::error_not_found},
};

constexpr unsigned more_than_all_calls = 3000;
constexpr std::size_t page = 4 * kib;

class fault_test : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            watch_.emplace();
    }
    void TearDown() override {
        watch_.reset();
        contract_test::TearDown();
    }

    /// Pins, maps, writes, reads, maps once more, unmaps, unpins.
    static void use_memory(device const& gpu, std::uintptr_t address, std::size_t bytes) {
        use_pin(gpu.pin(address, bytes), bytes);
    }

    /// The same in memory that barmap makes.
    static void use_allocated(device const& gpu, std::size_t bytes) {
        use_pin(gpu.allocate(bytes), bytes);
    }

    /// A word of each page goes both ways: every byte is what data_test is about.
    static void use_pin(pin const& pinned, std::size_t bytes) {
        mapping const map = pinned.map();
        for (std::size_t at = 0; at < bytes; at += page)
            write_value(map.window(at, sizeof at), at + 1);
        expect_words(map, bytes);
        mapping const second = pinned.map();
        expect_words(second, bytes);
        // What gives back must work: from here on everything does. Where a call has failed before,
        // the way back was walked already.
        the_faults().disarm();
    }

    static void expect_words(mapping const& map, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += page)
            EXPECT_EQ(read_value<std::size_t>(map.window(at, sizeof at)), at + 1);
    }

    /// Runs the job over and over; the n-th time, its n-th call of the fault's source fails.
    template <class Job>
    void fail_each_call(fault const& fault, Job job) {
        job(); // warms up what is made once per process
        fake::left_over const before = the_machine().held();
        for (unsigned n = 1; n < more_than_all_calls; ++n) {
            bool threw = false;
            the_faults().arm(fault.source, n, fault.code);
            try {
                job();
            } catch (error const& failure) {
                threw = true;
                EXPECT_FALSE(failure.operation().empty());
                if (backend_is_chosen_) {
                    EXPECT_EQ(failure.backend(), GetParam().backend) << failure.what();
                }
            } catch (std::bad_alloc const&) {
                threw = true;
            } catch (std::exception const& failure) {
                ADD_FAILURE() << "another exception: " << failure.what();
            }
            the_faults().disarm();
            std::string const call = the_faults().fired();
            ASSERT_EQ(the_machine().held(), before)
                << "after call " << n << " (" << call << ") failed with " << fault.name;
            if (call.empty()) {
                EXPECT_FALSE(threw) << "it fails though no call does";
                bool const has_calls = fault.source != fault_source::status ||
                                       std::string_view(GetParam().backend) == "rm";
                EXPECT_TRUE(n > least_calls_ || !has_calls) << "no call was made to fail";
                RecordProperty(fault.name, static_cast<int>(n - 1));
                return;
            }
        }
        FAIL() << "it never runs through";
    }

    template <class Job>
    void fail_every_call(Job job) {
        for (fault const& each : faults)
            fail_each_call(each, job);
    }

    /// The kinds of memory that matter to the backend's way of pinning.
    template <class Job>
    void with_each_memory(Job job) {
        if (adopts(memory_kind::device)) {
            SCOPED_TRACE("cudaMalloc memory");
            device_block const neighbour(kib), block(70 * kib);
            job(block.address() + 5, 69 * kib);
        }
        if (adopts(memory_kind::virtual_exportable)) {
            SCOPED_TRACE("VMM chunks");
            virtual_block const chunks(0, {2 * mib, 2 * mib});
            std::uintptr_t const seam = chunks.address() + 2 * mib;
            job(GetParam().joins_chunks ? seam - 3000 : seam, 6000);
        }
        if (adopts(memory_kind::pool)) {
            SCOPED_TRACE("a later piece of a pool");
            pool_block const first(kib, pool_block::from::the_default_pool),
                second(40 * mib, pool_block::from::the_default_pool);
            // From one object into the next one, where the backend knows of objects.
            bool const by_objects = std::string_view(GetParam().backend) == "rm";
            job(second.address() + (by_objects ? 31 : 1) * mib - 5, 2 * mib);
        }
    }

    bool backend_is_chosen_ = false; ///< so that every error must name it
    unsigned least_calls_ = 2;       ///< that a job makes, of each source that it has

private:
    std::optional<fake::cuda_watch> watch_;
};

TEST_P(fault_test, from_the_opening_of_the_device_on) {
    auto const block = some_memory(2 * mib);
    fail_every_call([&] { use_memory(device::open(0), block->address() + 5, 69 * kib); });
}

// What a live device keeps open hides nothing: its objects are counted one by one.
TEST_P(fault_test, on_a_device_that_stays_open) {
    device const gpu = device::open(0);
    with_each_memory([&](std::uintptr_t address, std::size_t bytes) {
        mapping const stays = gpu.pin(address, bytes).map();
        fail_every_call([&] { use_memory(gpu, address, bytes); });
        expect_same_memory(stays, address, 1);
    });
}

TEST_P(fault_test, while_pinned_memory_is_mapped) {
    device const gpu = device::open(0);
    backend_is_chosen_ = true;
    // One ioctl maps a range through RM; Vulkan's library makes its calls by itself.
    least_calls_ = GetParam().backend == std::string_view("vulkan") ? 0 : 1;
    with_each_memory([&](std::uintptr_t address, std::size_t bytes) {
        pin const pinned = gpu.pin(address, bytes);
        { mapping const measures = pinned.map(); }
        for (fault const& each : faults)
            if (each.source != fault_source::cuda) // no backend calls CUDA for it
                fail_each_call(each, [&] {
                    mapping const map = pinned.map();
                    EXPECT_FALSE(pinned.revoked());
                    the_faults().disarm();
                });
    });
}

TEST_P(fault_test, on_a_thread_without_a_context) {
    auto const fail_calls_to_cuda = [&](auto const& job) {
        std::thread([&] {
            for (fault const& each : faults)
                if (each.source == fault_source::cuda)
                    fail_each_call(each, job);
            CUcontext current = nullptr;
            expect_success(cu().ctx_get_current(&current));
            EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
        }).join();
    };
    auto const block = some_memory(2 * mib);
    fail_calls_to_cuda([&] { use_memory(device::open(0), block->address(), kib); });
    device const gpu = device::open(0);
    with_each_memory([&](std::uintptr_t address, std::size_t bytes) {
        fail_calls_to_cuda([&] { use_memory(gpu, address, bytes); });
    });
}

TEST_P(fault_test, while_memory_is_shared_and_opened) {
    std::string_view const backend = GetParam().backend;
    if (backend != "rm" && backend != "dmabuf")
        GTEST_SKIP() << backend << " cannot share";
    device const gpu = device::open(0);
    device_block const block(2 * mib);
    pin const given = gpu.pin(block.address() + 5, mib);
    for (fault const& each : faults)
        if (each.source != fault_source::cuda) // which none of it calls
            fail_each_call(each, [&] {
                os::fd const descriptor(given.share());
                use_pin(open_shared(descriptor.get()), mib);
            });
}

TEST_P(fault_test, while_rings_are_made_shared_and_opened) {
    std::string_view const backend = GetParam().backend;
    if (backend != "rm" && backend != "dmabuf")
        GTEST_SKIP() << backend << " cannot share";
    device const gpu = device::open(0);
    fail_every_call([&] {
        ring_to_gpu<int> there(gpu, 4);
        ring_to_cpu<int> back(gpu, 4);
        auto far_there = ring_to_gpu<int>::open_shared(os::fd(there.share()).get());
        auto far_back = ring_to_cpu<int>::open_shared(os::fd(back.share()).get());
        EXPECT_TRUE(far_there.try_push(1));
        EXPECT_FALSE(far_back.try_pop());
        the_faults().disarm();
    });
}

TEST_P(fault_test, while_memory_is_allocated) {
    device const gpu = device::open(0);
    mapping const stays = gpu.allocate(mib).map();
    backend_is_chosen_ = true;
    fail_every_call([&] { use_allocated(gpu, 3 * mib); });
}

TEST_P(fault_test, while_memory_is_allocated_on_a_thread_without_a_context) {
    device const gpu = device::open(0);
    std::thread([&] {
        for (fault const& each : faults)
            if (each.source == fault_source::cuda)
                fail_each_call(each, [&] { use_allocated(gpu, mib); });
        CUcontext current = nullptr;
        expect_success(cu().ctx_get_current(&current));
        EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
    }).join();
}

// A backend that fails to start is reported, not thrown.
TEST_P(fault_test, while_backends_are_probed) {
    set_environment("BARMAP_BACKEND", "auto");
    for (fault const& each : faults)
        fail_each_call(each, [&] {
            std::optional<device> gpu;
            if (each.source == fault_source::cuda)
                gpu = device::open(0);
            else
                EXPECT_NO_THROW(gpu = device::open(0));
            the_faults().disarm();
        });
}

BARMAP_OVER_ALL_WAYS(fault_test);

constexpr int done = 3; // the child's last call came before the fault

/// Loads the driver and maps some memory, the n-th call of the system failing. Without the test
/// framework: this runs in a forked child.
int load_and_map(way const& which, unsigned n) {
    the_faults().arm(fault_source::system, n, ENOENT);
    try {
        machine booted(which);
        cuda::driver_api const& cu = cuda::api();
        CUcontext context = nullptr;
        CUdeviceptr address = 0;
        if (cu.primary_ctx_retain(&context, 0) || cu.ctx_set_current(context) ||
            cu.mem_alloc(&address, mib))
            return 0; // one that the test itself needs
        mapping const map = device::open(0).pin(std::uintptr_t{address}, mib).map();
        write_value(map.window(8, 8), 42);
        if (read_value<int>(map.window(8, 8)) != 42)
            return 1;
    } catch (error const& failure) {
        return failure.advice().empty() && failure.code().category() == category() ? 2 : 0;
    }
    return the_faults().fired().empty() ? done : 0;
}

[[noreturn]] void open_without_a_driver(char const* simulated) {
    set_environment("BARMAP_SIM", simulated);
    changed_calls calls;
    calls->dlopen = [](char const*, int) -> void* { return nullptr; };
    try {
        (void)device::open(0);
    } catch (error const& failure) {
        std::fputs(failure.what(), stderr);
    }
    ::_exit(0);
}

TEST(loading, a_driver_that_cannot_be_loaded_is_named) {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process, without a driver yet
    EXPECT_EXIT(open_without_a_driver("1"), testing::ExitedWithCode(0),
                "the simulated GPU cannot be loaded: .*libcuda");
    EXPECT_EXIT(open_without_a_driver("0"), testing::ExitedWithCode(0),
                "the CUDA driver cannot be loaded: .*libcuda");
}

class loading_test : public testing::TestWithParam<way> {};

// The driver is loaded once in a process, so each failure has a process of its own.
TEST_P(loading_test, every_symbol_can_be_missing) {
    set_environment("BARMAP_BACKEND", GetParam().backend);
    for (unsigned n = 1; n < more_than_all_calls; ++n) {
        int const status = in_child(0, [&] { ::_exit(load_and_map(GetParam(), n)); });
        ASSERT_TRUE(WIFEXITED(status)) << "call " << n << " of the system failed: " << status;
        if (WEXITSTATUS(status) == done)
            return;
        ASSERT_EQ(WEXITSTATUS(status), 0) << "call " << n << " of the system failed";
    }
    FAIL() << "it never runs through";
}

INSTANTIATE_TEST_SUITE_P(ways, loading_test,
                         testing::Values(way_of("dmabuf"), way_of("rm"), way_of("gdrdrv")),
                         [](auto const& info) { return name_of(info.param); });

} // namespace
} // namespace barmap::contract
