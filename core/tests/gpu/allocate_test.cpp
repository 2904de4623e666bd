// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"
#include "shared/caught.hpp"

#include <thread>

/// Memory that barmap makes, by each backend that is usable here.
namespace barmap::gpu_test {
namespace {

class allocate_test : public real_gpu {
protected:
    template <class Check>
    static void with_each_backend(Check check) {
        device const gpu = device::open(0);
        for (backend_report const& each : gpu.backends()) {
            if (each.state != backend_state::usable)
                continue;
            SCOPED_TRACE(each.name);
            EXPECT_TRUE(each.allocates);
            check(gpu, each.name);
        }
    }
    static std::size_t free_memory() {
        std::size_t free = 0, total = 0;
        expect_success(cu().mem_get_info(&free, &total));
        return free;
    }
};

TEST_F(allocate_test, both_sides_see_one_memory_whatever_its_size) {
    with_each_backend([](device const& gpu, std::string const& name) {
        unsigned seed = 1;
        for (std::size_t const bytes : {std::size_t{1}, std::size_t{4097}, 64 * mib + 3}) {
            pin const pinned = gpu.allocate(bytes, name);
            EXPECT_EQ(pinned.backend(), name);
            expect_same_memory(pinned.map(), pinned.gpu_address(), seed++);
        }
    });
}

TEST_F(allocate_test, a_thread_without_a_context_makes_and_drops_it) {
    with_each_backend([](device const& gpu, std::string const& name) {
        (void)gpu.allocate(64 * mib, name).map(); // what is made once
        std::size_t const before = free_memory();
        std::thread([&] {
            pin const pinned = gpu.allocate(64 * mib, name);
            mapping const map = pinned.map();
            write_value(map.window(), 42);
            EXPECT_EQ(read_value<int>(map.window()), 42);
            CUcontext current = nullptr;
            expect_success(cu().ctx_get_current(&current));
            EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
        }).join();
        EXPECT_EQ(free_memory(), before) << "it is not freed";
    });
}

TEST_F(allocate_test, a_mapping_keeps_the_memory) {
    with_each_backend([](device const& gpu, std::string const& name) {
        mapping map;
        std::uintptr_t address = 0;
        {
            pin const pinned = gpu.allocate(4 * mib, name);
            address = pinned.gpu_address();
            map = pinned.map();
        }
        expect_same_memory(map, address, 1);
    });
}

TEST_F(allocate_test, more_than_there_is_is_out_of_memory) {
    with_each_backend([](device const& gpu, std::string const& name) {
        std::string const text =
            caught([&] { (void)gpu.allocate(1'000'000'000'000'000, name); }).what();
        EXPECT_NE(text.find("OUT_OF"), std::string::npos) << text;
    });
}

} // namespace
} // namespace barmap::gpu_test
