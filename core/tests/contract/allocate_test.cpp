// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "shared/in_child.hpp"

#include <cstdlib>
#include <limits>
#include <thread>

/// Memory that barmap makes: reached in every way, and alive as long as somebody holds it.
namespace barmap::contract {
namespace {

class allocate_test : public contract_test {
protected:
    static std::size_t free_gpu_memory() {
        std::size_t free = 0, total = 0;
        expect_success(cu().mem_get_info(&free, &total));
        return free;
    }

    /// The driver does not work in a forked child, and what it holds is its parent's.
    static CUresult reached_by_child() { ::_exit(fake::kernel::reached_by_child); }
};

TEST_P(allocate_test, both_sides_see_one_memory_whatever_its_size) {
    device const gpu = device::open(0);
    unsigned seed = 1;
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4097}, 64 * kib,
                                    2 * mib - 1, 2 * mib, 2 * mib + 1, 64 * mib}) {
        pin const pinned = gpu.allocate(bytes);
        EXPECT_EQ(pinned.size(), bytes);
        EXPECT_EQ(pinned.memory(), memory_kind::allocated);
        EXPECT_EQ(pinned.backend(), GetParam().backend);
        mapping const map = pinned.map();
        EXPECT_EQ(map.size(), bytes);
        expect_same_memory(map, pinned.gpu_address(), seed++);
    }
}

TEST_P(allocate_test, it_is_named_or_chosen) {
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.allocate(mib, GetParam().backend).backend(), GetParam().backend);
    for (backend_report const& each : gpu.backends())
        if (each.name == GetParam().backend) {
            EXPECT_TRUE(each.allocates);
        }
}

TEST_P(allocate_test, it_can_be_pinned_like_the_callers_own) {
    device const gpu = device::open(0);
    pin const owner = gpu.allocate(3 * mib);
    mapping const whole = owner.map();
    std::uintptr_t const inside = owner.gpu_address() + 4097;
    mapping const part = gpu.pin(inside, mib).map();
    expect_same_memory(part, inside, 1);
    auto const written = pattern(mib, 9);
    write(whole.window(4097, mib), written);
    std::vector<std::byte> seen(mib);
    read(seen, part.window());
    EXPECT_TRUE(seen == written) << "O29";
}

TEST_P(allocate_test, two_keep_apart) {
    device const gpu = device::open(0);
    pin const one = gpu.allocate(mib), other = gpu.allocate(mib);
    mapping const to_one = one.map(), to_other = other.map();
    write(to_one.window(), pattern(mib, 1));
    write(to_other.window(), pattern(mib, 2));
    EXPECT_TRUE(read_by_driver(one.gpu_address(), mib) == pattern(mib, 1));
    EXPECT_TRUE(read_by_driver(other.gpu_address(), mib) == pattern(mib, 2));
}

TEST_P(allocate_test, it_lives_as_long_as_its_last_pin_or_mapping) {
    device const gpu = device::open(0);
    (void)gpu.allocate(mib).map(); // what is made once
    fake::left_over const before = the_machine().held();
    std::size_t const free = free_gpu_memory();
    {
        mapping last;
        std::uintptr_t address = 0;
        {
            pin const pinned = gpu.allocate(8 * mib);
            address = pinned.gpu_address();
            mapping const first = pinned.map();
            last = pinned.map();
        }
        EXPECT_GT(the_machine().held().cuda_objects, before.cuda_objects);
        expect_same_memory(last, address, 1);
    }
    EXPECT_EQ(the_machine().held(), before);
    EXPECT_EQ(free_gpu_memory(), free);
}

TEST_P(allocate_test, it_outlives_the_handle_of_its_device) {
    pin const pinned = device::open(0).allocate(mib);
    expect_same_memory(pinned.map(), pinned.gpu_address(), 1);
}

TEST_P(allocate_test, many_cycles_leave_nothing_behind) {
    device const gpu = device::open(0);
    mapping const stays = gpu.allocate(mib).map();
    fake::left_over const before = the_machine().held();
    for (std::size_t i = 1; i <= 50; ++i)
        (void)gpu.allocate(i * 10'007).map();
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(allocate_test, more_than_there_is_is_the_drivers_out_of_memory) {
    device const gpu = device::open(0);
    fake::left_over const before = the_machine().held();
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (std::size_t const bytes :
         {std::size_t{1'000'000'000'000'000}, most, most - 65535, most - 2 * mib}) {
        refusal const seen = refusal_of([&] { (void)gpu.allocate(bytes); });
        EXPECT_NE(seen.text.find("OUT_OF"), std::string::npos) << seen.text;
        EXPECT_NE(seen.text.find("_MEMORY"), std::string::npos) << seen.text;
        EXPECT_NE(seen.text.find(std::to_string(bytes) + " bytes"), std::string::npos) << seen.text;
        EXPECT_NE(seen.text.find(GetParam().backend), std::string::npos) << seen.text;
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(allocate_test, without_a_context_on_a_thread) {
    device const gpu = device::open(0);
    fake::left_over before = the_machine().held();
    pin pinned;
    mapping map;
    std::thread([&] {
        pinned = gpu.allocate(mib);
        map = pinned.map();
        CUcontext current = nullptr;
        expect_success(cu().ctx_get_current(&current));
        EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
    }).join();
    expect_same_memory(map, pinned.gpu_address(), 1);
    std::thread([&] {
        map = {};
        pinned = {};
    }).join();
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(allocate_test, a_forked_child_may_drop_it) {
    device const gpu = device::open(0);
    auto pinned = std::make_unique<pin>(gpu.allocate(mib));
    auto map = std::make_unique<mapping>(pinned->map());
    auto const written = pattern(mib, 1);
    write(map->window(), written);
    expect_segmentation_fault(
        in_child(0, [&] { *static_cast<std::byte volatile*>(map->data()) = std::byte{1}; }));
    expect_exit(7, in_child(7, [&] {
                    static cuda::driver_api table = cu();
                    table.ctx_synchronize = [] { return reached_by_child(); };
                    table.mem_unmap = [](auto...) { return reached_by_child(); };
                    table.mem_address_free = [](auto...) { return reached_by_child(); };
                    table.mem_free = [](auto...) { return reached_by_child(); };
                    cuda::replace_api(&table);
                    map.reset();
                    pinned.reset();
                }));
    std::vector<std::byte> seen(mib);
    read(seen, map->window());
    EXPECT_TRUE(seen == written) << "O24";
    expect_same_memory(*map, pinned->gpu_address(), 2);
}

TEST_P(allocate_test, a_process_may_end_with_it) {
    auto const end_with_it = [] {
        static mapping early; // goes last: made before anything that the library keeps
        static pin const pinned = device::open(0).allocate(mib);
        early = pinned.map();
        write(early.window(0, 8), pattern(8, 6));
        std::exit(0);
    };
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: CUDA does not fork
    EXPECT_EXIT(end_with_it(), testing::ExitedWithCode(0), "") << "O25";
}

BARMAP_OVER_ALL_WAYS(allocate_test);

} // namespace
} // namespace barmap::contract
