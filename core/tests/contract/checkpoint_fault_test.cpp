// SPDX-License-Identifier: MIT
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/machine.hpp"
#include "contract/memory_shortage.hpp"
#include "fake/cuda_watch.hpp"
#include "fake/faults.hpp"
#include "shared/changed_calls.hpp"

#include <barmap/checkpoint.hpp>

#include <cerrno>

/// Every call fails once while the process is prepared and restored: nothing is lost by it.
namespace barmap::contract {
namespace {

using fake::fault_source;
using fake::the_faults;

struct checkpoint_fault {
    fault_source source;
    int code;
};
constexpr checkpoint_fault checkpoint_faults[] = {
    {fault_source::system, ENOMEM},
    {fault_source::system, EMFILE},
    {fault_source::status, 0x1a}, // NV_ERR_INSUFFICIENT_RESOURCES
    {fault_source::cuda, cuda::error_out_of_memory},
};

class checkpoint_fault_test : public contract_test {
protected:
    /// Runs the action with its nth call of the source failing.
    /// @return whether it threw
    static bool fails(checkpoint_fault const& fault, unsigned n, void (*action)()) {
        the_faults().arm(fault.source, n, fault.code);
        bool threw = false;
        try {
            action();
        } catch (error const& failure) {
            threw = true;
            EXPECT_FALSE(failure.operation().empty());
        } catch (std::bad_alloc const&) {
            threw = true;
        }
        the_faults().disarm();
        return threw;
    }

    static void go() { checkpoint_prepare(); }
    static void come_back() { checkpoint_restore(); }
};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_fault_test, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_fault_test, every_call_may_fail_once) {
    fake::cuda_watch const watch;
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    pin const held = gpu.pin(block->address(), 2 * mib), own = gpu.allocate(mib);
    mapping const map = held.map(), second = held.map(), of_own = own.map();
    go();
    checkpoint_of_cuda::whole();
    come_back();
    fake::left_over const running = the_machine().held();
    go();
    fake::left_over const prepared = the_machine().held();
    come_back();
    for (checkpoint_fault const& fault : checkpoint_faults) {
        constexpr unsigned more_than_all = 2000;
        unsigned n = 1;
        for (bool fired = true; fired && n < more_than_all; ++n) {
            SCOPED_TRACE(testing::Message() << "call " << n << " fails with " << fault.code);
            // CUDA's memory that could not be freed for want of an answer is CUDA's to save.
            bool const is_of_cuda = fault.source == fault_source::cuda;
            if (!is_of_cuda && fails(fault, n, go)) { // all is as it was, or nothing is held
                fake::left_over const now = the_machine().held();
                ASSERT_TRUE(now == running || now == prepared) << testing::PrintToString(now);
                ASSERT_NO_THROW(come_back());
            }
            fired = !is_of_cuda && !the_faults().fired().empty();
            ASSERT_NO_THROW(go());
            ASSERT_EQ(the_machine().held(), prepared);
            if (fails(fault, n, come_back)) {
                ASSERT_EQ(the_machine().held(), prepared) << the_faults().fired();
                expect_refusal([&] { (void)held.map(); }, errc::checkpointed, "prepared");
            }
            fired |= !the_faults().fired().empty();
            ASSERT_NO_THROW(come_back());
            ASSERT_EQ(the_machine().held(), running);
        }
        ASSERT_LT(n, more_than_all) << "it never runs through";
        expect_same_memory(map, block->address(), 1);
        expect_same_memory(second, block->address(), 2);
        expect_same_memory(of_own, own.gpu_address(), 3);
    }
}

TEST_P(checkpoint_fault_test, every_allocation_may_fail_once) {
    device const gpu = device::open(0);
    pin const own = gpu.allocate(mib);
    mapping const map = own.map();
    go();
    come_back();
    fake::left_over const running = the_machine().held();
    go();
    fake::left_over const prepared = the_machine().held();
    come_back();
    constexpr unsigned more_than_all = 5000;
    for (auto* const action : {&go, &come_back}) {
        bool has_failed = true;
        unsigned n = 1;
        for (; has_failed && n < more_than_all; ++n) {
            SCOPED_TRACE(testing::Message() << "allocation " << n << " fails");
            if (action == &come_back)
                go();
            {
                memory_shortage const shortage(n);
                try {
                    action();
                } catch (std::exception const&) {
                    // Either all of it is done, or nothing.
                }
                has_failed = shortage.has_failed();
            }
            fake::left_over const now = the_machine().held();
            ASSERT_TRUE(now == running || now == prepared) << testing::PrintToString(now);
            if (now == prepared)
                expect_refusal([&] { (void)own.map(); }, errc::checkpointed, "prepared");
            ASSERT_NO_THROW(come_back());
            ASSERT_EQ(the_machine().held(), running);
            expect_same_memory(map, own.gpu_address(), n);
        }
        ASSERT_LT(n, more_than_all) << "it never runs through";
    }
}

// The addresses are lost for good: the mapping cannot come back, all else does.
TEST_P(checkpoint_fault_test, addresses_that_the_system_gave_away_are_not_mapped_again) {
    device const gpu = device::open(0);
    mapping const stays = gpu.allocate(mib).map();
    auto lost = std::make_unique<mapping>(gpu.allocate(mib).map());
    std::byte* const at = lost->data();
    static std::byte* first;
    first = at;
    changed_calls calls;
    calls->mmap = [](void* where, std::size_t bytes, int protection, int flags, int fd,
                     off_t offset) -> void* {
        if (where && where <= first && first < static_cast<std::byte*>(where) + bytes &&
            protection == 0) {
            errno = ENOMEM;
            return reinterpret_cast<void*>(-1);
        }
        return changed_calls::real.mmap(where, bytes, protection, flags, fd, offset);
    };
    EXPECT_THROW(checkpoint_prepare(), error);
    calls.restore();
    expect_refusal([] { checkpoint_restore(); }, errc::unsupported_operation, "keep the addresses",
                   "destroy the mapping");
    lost.reset();
    checkpoint_restore();
    write_value(stays.window(0, 8), 7);
    EXPECT_EQ(read_value<int>(stays.window(0, 8)), 7);
}

} // namespace
} // namespace barmap::contract
