// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

/// Memory that another thread frees while a mapping of it is copied by an engine.
namespace barmap::contract {
namespace {

class freed_memory_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};
};
INSTANTIATE_TEST_SUITE_P(ways, freed_memory_test, over(held_ways()), name_of_way);

/// Runs `meanwhile` on a thread, before the n-th call of CUDA that a copy makes.
class thread_within_a_copy : changed_driver {
public:
    thread_within_a_copy(unsigned call, std::function<void()> meanwhile) {
        left_ = call;
        run_ = std::move(meanwhile);
        (*this)->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                             CUdeviceptr at) {
            step();
            return real.pointer_get_attributes(count, names, values, at);
        };
        (*this)->memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                   CUstream stream) {
            step();
            return real.memcpy_async(to, from, bytes, stream);
        };
    }
    /// At last, if the copy made fewer calls.
    ~thread_within_a_copy() {
        left_ = 0;
        step();
    }

private:
    static void step() {
        if (!run_ || left_-- > 0)
            return;
        std::thread(std::exchange(run_, nullptr)).join(); // its own calls run nothing
    }
    static inline unsigned left_ = 0;
    static inline std::function<void()> run_;
};

/// Memory that a thread frees, and whose addresses it then takes.
struct short_lived_memory {
    mapping map;
    std::uintptr_t address = 0;
    std::function<void()> free;
    std::function<std::unique_ptr<memory>()> take;
};

std::unique_ptr<memory> virtual_memory_at(std::uintptr_t address) {
    return std::make_unique<virtual_block>(0, std::vector{2 * mib, 2 * mib},
                                           cuda::handle_type_posix_fd, address);
}

/// The next owner's is VMM memory, which can be asked to lie there.
short_lived_memory some_of_cuda_malloc(device const& gpu) {
    auto const block = std::make_shared<device_block>(4 * mib);
    std::uintptr_t const address = block->address();
    return {gpu.pin(address, 4 * mib).map(), address, [block] { block->release(); },
            [=] { return virtual_memory_at(address); }};
}

short_lived_memory some_of_cuda_mem_create(device const& gpu) {
    auto const block = std::make_shared<std::unique_ptr<memory>>(virtual_memory_at(0));
    std::uintptr_t const address = (*block)->address();
    return {gpu.pin(address, 4 * mib).map(), address, [block] { block->reset(); },
            [=] { return virtual_memory_at(address); }};
}

/// Pinned once more, since the mapping of the pin that allocated it would keep it.
short_lived_memory some_of_barmap(device const& gpu) {
    auto const block = std::make_shared<pin>(gpu.allocate(4 * mib));
    std::uintptr_t const address = block->gpu_address();
    return {gpu.pin(address, 4 * mib).map(), address, [block] { *block = pin(); },
            [=] { return virtual_memory_at(address); }};
}

// The mapping stays with its memory, and the new owner's bytes stay theirs.
TEST_P(freed_memory_test, is_copied_on_and_the_addresss_next_owner_is_not) {
    device const gpu = device::open(0);
    host_buffer const pinned = gpu.allocate_host(3 * mib);
    std::vector<std::byte> pageable(3 * mib);
    CUcontext context = nullptr;
    expect_success(cuda::api().ctx_get_current(&context));
    auto const ours = pattern(3 * mib, 70), theirs = pattern(4 * mib, 71);
    for (auto const make : {some_of_cuda_malloc, some_of_cuda_mem_create, some_of_barmap})
        for (bool const copied_before : {true, false})
            for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
                for (std::span<std::byte> const host : {pinned.bytes(), std::span(pageable)})
                    for (unsigned const call : {0u, 1u, 2u, 5u}) {
                        short_lived_memory const memory = make(gpu);
                        if (copied_before)
                            memory.map.copy_to_cpu(host, 5);
                        bool const up = which == copy_direction::to_gpu;
                        std::memset(host.data(), 0, host.size());
                        if (up)
                            std::ranges::copy(ours, host.begin());
                        else
                            write(memory.map.window(5, host.size()), ours);
                        std::unique_ptr<test::memory> other;
                        {
                            thread_within_a_copy const thread(call, [&] {
                                expect_success(cuda::api().ctx_set_current(context));
                                memory.free();
                                other = memory.take();
                                ASSERT_EQ(other->address(), memory.address);
                                write_by_driver(memory.address, theirs);
                            });
                            if (up)
                                memory.map.copy_to_gpu(5, host);
                            else
                                memory.map.copy_to_cpu(host, 5);
                        }
                        if (up)
                            read(host, memory.map.window(5, host.size()));
                        EXPECT_TRUE(std::ranges::equal(host, ours));
                        EXPECT_TRUE(read_by_driver(memory.address, 4 * mib) == theirs);
                    }
}

} // namespace
} // namespace barmap::contract
