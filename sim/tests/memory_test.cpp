// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;

CUresult host_register(void* pointer, std::size_t bytes) {
    return function<CUresult(void*, std::size_t, unsigned)>("cuMemHostRegister_v2")(pointer, bytes,
                                                                                    0);
}
CUresult host_unregister(void* pointer) {
    return function<CUresult(void*)>("cuMemHostUnregister")(pointer);
}

class sim_memory : public with_context {};

TEST_F(sim_memory, small_allocations_share_an_object_and_large_ones_do_not) {
    CUdeviceptr const first = allocate(1024), second = allocate(1024), large = allocate(3 << 20);
    EXPECT_EQ(first % (2 << 20), 0u);
    EXPECT_EQ(second, first + 0x400);
    EXPECT_EQ(large % (2 << 20), 0u);
    EXPECT_EQ(cu().mem_free(first), success);
    EXPECT_EQ(allocate(100), first) << "freed room is used again";
}

/// Whether the system gives the program these addresses, which it asks for.
bool gives_the_program(CUdeviceptr address, std::size_t bytes) {
    auto* const wish = reinterpret_cast<void*>(address);
    void* const got = mmap(wish, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(got, bytes);
    return got == wish;
}

TEST_F(sim_memory, freed_addresses_go_to_the_next_gpu_memory_of_that_size_only) {
    CUdeviceptr const gone = allocate(6 << 20);
    EXPECT_EQ(cu().mem_free(gone), success);
    EXPECT_FALSE(gives_the_program(gone, 6 << 20));
    CUdeviceptr const larger = allocate(8 << 20), smaller = allocate(4 << 20);
    EXPECT_NE(larger, gone);
    EXPECT_NE(smaller, gone);
    CUdeviceptr reserved = 0;
    ASSERT_EQ(cu().mem_address_reserve(&reserved, 6 << 20, 0, 0, 0), success);
    EXPECT_EQ(reserved, gone);
    EXPECT_EQ(cu().mem_address_free(reserved, 6 << 20), success);
    EXPECT_EQ(allocate(6 << 20), gone);
    for (CUdeviceptr const each : {gone, larger, smaller})
        EXPECT_EQ(cu().mem_free(each), success);
}

TEST_F(sim_memory, reservations_get_freed_addresses_that_they_ask_for) {
    CUdeviceptr base = 0, part = 0;
    ASSERT_EQ(cu().mem_address_reserve(&base, 6 << 20, 0, 0, 0), success);
    EXPECT_EQ(cu().mem_address_free(base, 6 << 20), success);
    ASSERT_EQ(cu().mem_address_reserve(&part, 2 << 20, 0, base + (2 << 20), 0), success);
    EXPECT_EQ(part, base + (2 << 20));
    EXPECT_FALSE(gives_the_program(base, 2 << 20));
    EXPECT_FALSE(gives_the_program(base + (4 << 20), 2 << 20));
    EXPECT_EQ(cu().mem_address_free(part, 2 << 20), success);
    // Three freed ranges, side by side.
    ASSERT_EQ(cu().mem_address_reserve(&part, 6 << 20, 0, base, 0), success);
    EXPECT_EQ(part, base);
    EXPECT_EQ(cu().mem_address_free(part, 6 << 20), success);
}

// A large allocation's object ends with its last 4 KiB, wherever it is asked for.
TEST_F(sim_memory, objects_end_as_drivers_make_them_end) {
    struct {
        std::size_t asked, object;
    } const cases[] = {{100, 2 << 20},
                       {1 << 20, 2 << 20},
                       {(1 << 20) + 1, 2 << 20},
                       {2 << 20, 2 << 20},
                       {(2 << 20) + 1, (2 << 20) + 4096},
                       {4194324, (4 << 20) + 4096},
                       {8000000, 8003584},
                       {4256768, 65 << 16}};
    for (auto const& [asked, object] : cases) {
        SCOPED_TRACE(asked);
        CUdeviceptr const there = allocate(asked);
        CUipcMemHandle handle;
        ASSERT_EQ(cu().ipc_get_mem_handle(&handle, there), success);
        std::uint32_t pages = 0, client = 0, memory = 0;
        std::memcpy(&pages, handle.reserved + 24, sizeof pages);
        std::memcpy(&client, handle.reserved + 48, sizeof client);
        std::memcpy(&memory, handle.reserved + 52, sizeof memory);
        EXPECT_EQ(pages, object / 4096);
        int fd = -1, ordinal = -1;
        std::uint64_t size = 0;
        ASSERT_EQ(
            BARMAP_SIM_FUNCTION(barmap_sim_object)(client, memory, &fd, nullptr, &size, &ordinal),
            0);
        EXPECT_EQ(size, object);
        struct stat about {};
        ASSERT_EQ(fstat(fd, &about), 0);
        EXPECT_EQ(std::size_t(about.st_size), object);
        EXPECT_EQ(attribute<std::size_t>(pointer_range_size, there), asked);
        if (object % std::size_t(sysconf(_SC_PAGESIZE)) == 0) {
            CUdeviceptr const whole = there / (2 << 20) * (2 << 20);
            int exported = -1;
            auto const range = cu().mem_get_handle_for_address_range;
            EXPECT_EQ(range(&exported, whole, object + 4096, range_handle_dma_buf_fd, 0),
                      error_invalid_value);
            EXPECT_EQ(range(&exported, whole + object, 4096, range_handle_dma_buf_fd, 0),
                      error_invalid_value);
            ASSERT_EQ(range(&exported, whole, object, range_handle_dma_buf_fd, 0), success);
            ASSERT_EQ(fstat(exported, &about), 0);
            EXPECT_EQ(std::size_t(about.st_size), object);
            close(exported);
        }
        write(there + asked - 1, {7});
        EXPECT_EQ(read(there + asked - 1, 1), std::vector<unsigned char>{7});
        EXPECT_EQ(cu().mem_free(there), success);
    }
}

TEST_F(sim_memory, copies_reach_every_byte) {
    std::size_t const bytes = (5 << 20) + 123;
    CUdeviceptr const there = allocate(bytes), other = allocate(bytes);
    write(there, pattern(bytes, 3));
    EXPECT_EQ(cu().memcpy_dtod(other, there, bytes), success);
    EXPECT_EQ(read(other, bytes), pattern(bytes, 3));
    EXPECT_EQ(cu().memset_d8(other + 7, 0xee, 5), success);
    EXPECT_EQ(read(other + 7, 5), std::vector<unsigned char>(5, 0xee));
    EXPECT_EQ(read(other + 12, 4), (std::vector<unsigned char>{15, 16, 17, 18}));
}

TEST_F(sim_memory, copies_past_the_end_are_refused) {
    CUdeviceptr const there = allocate(600);
    (void)allocate(600); // the neighbour in the same object
    std::vector<unsigned char> const bytes(2048);
    EXPECT_EQ(cu().memcpy_htod(there, bytes.data(), 601), error_invalid_value);
    EXPECT_EQ(cu().memcpy_htod(there + 599, bytes.data(), 2), error_invalid_value);
    EXPECT_EQ(cu().memcpy_htod(0x1000, bytes.data(), 1), error_invalid_value);
    EXPECT_EQ(cu().memset_d8(there, 0, 601), error_invalid_value);
    EXPECT_EQ(cu().mem_free(there + 8), error_invalid_value);
    EXPECT_EQ(cu().mem_free(there), success);
    EXPECT_EQ(cu().mem_free(there), error_invalid_value);
    EXPECT_EQ(cu().memcpy_htod(there, bytes.data(), 1), error_invalid_value);
}

TEST_F(sim_memory, freeing_needs_no_context) {
    CUdeviceptr const there = allocate(600);
    std::thread([=] {
        EXPECT_EQ(cu().ctx_synchronize(), error_invalid_context);
        EXPECT_EQ(cu().mem_free(there), success);
    }).join();
    unsigned type = 0;
    EXPECT_EQ(cu().pointer_get_attribute(&type, pointer_memory_type, there), error_invalid_value);
}

TEST_F(sim_memory, rows_are_padded) {
    auto const allocate_rows =
        function<CUresult(CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned)>(
            "cuMemAllocPitch_v2");
    CUdeviceptr there = 0;
    std::size_t pitch = 0;
    ASSERT_EQ(allocate_rows(&there, &pitch, 700, 3, 4), success);
    EXPECT_EQ(pitch, 1024u);
    EXPECT_EQ(attribute<std::size_t>(pointer_range_size, there), 3072u);
    EXPECT_EQ(cu().mem_free(there), success);
    there = 0;
    EXPECT_EQ(allocate_rows(&there, &pitch, 700, 3, 5), error_invalid_value);
    EXPECT_EQ(allocate_rows(&there, nullptr, 700, 3, 4), error_invalid_value);
    EXPECT_EQ(allocate_rows(&there, &pitch, 700, 0, 4), error_invalid_value);
    EXPECT_EQ(allocate_rows(&there, &pitch, ~std::size_t{0}, 3, 4), error_out_of_memory);
    EXPECT_EQ(allocate_rows(&there, &pitch, std::size_t{1} << 62, 8, 4), error_out_of_memory);
    EXPECT_EQ(there, 0u);
}

TEST_F(sim_memory, p2p_tokens_are_of_device_memory) {
    struct tokens {
        unsigned long long p2p;
        unsigned va_space;
    } told{}, again{};
    constexpr int p2p_tokens = 5;
    CUdeviceptr const there = allocate(1000);
    ASSERT_EQ(cu().pointer_get_attribute(&told, p2p_tokens, there + 5), success);
    EXPECT_NE(told.p2p, 0u);
    EXPECT_NE(told.va_space, 0u);
    int name = p2p_tokens;
    void* where = &again;
    ASSERT_EQ(cu().pointer_get_attributes(1, &name, &where, there), success);
    EXPECT_EQ(again.p2p, told.p2p);
    EXPECT_EQ(again.va_space, told.va_space);
    CUdeviceptr managed = 0;
    ASSERT_EQ(cu().mem_alloc_managed(&managed, 1000, mem_attach_global), success);
    EXPECT_EQ(cu().pointer_get_attribute(&told, p2p_tokens, managed), error_invalid_value);
    EXPECT_EQ(cu().mem_free(managed), success);
}

TEST_F(sim_memory, the_cpu_cannot_use_a_device_address) {
    CUdeviceptr const there = allocate(4096);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    // The kernel refuses to read from it on the process's behalf.
    EXPECT_EQ(::write(ends[1], reinterpret_cast<void const*>(there), 8), -1);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(sim_memory, attributes_of_device_memory) {
    CUdeviceptr const there = allocate(1000), inside = there + 500;
    EXPECT_EQ(attribute<unsigned>(pointer_memory_type, inside), memory_type_device);
    EXPECT_EQ(attribute<CUcontext>(pointer_context, inside), context_);
    EXPECT_EQ(attribute<int>(pointer_device_ordinal, inside), 0);
    EXPECT_EQ(attribute<int>(pointer_is_managed, inside), 0);
    EXPECT_EQ(attribute<int>(pointer_is_legacy_cuda_ipc_capable, inside), 1);
    EXPECT_EQ(attribute<int>(pointer_allowed_handle_types, inside), 0);
    EXPECT_EQ(attribute<CUmemoryPool>(pointer_mempool_handle, inside), nullptr);
    EXPECT_EQ(attribute<CUdeviceptr>(pointer_range_start_addr, inside), there);
    EXPECT_EQ(attribute<std::size_t>(pointer_range_size, inside), 1000u);
    EXPECT_EQ(attribute<int>(pointer_mapped, inside), 1);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    EXPECT_EQ(cu().mem_get_address_range(&base, &size, inside), success);
    EXPECT_EQ(base, there);
    EXPECT_EQ(size, 1000u);
    auto const id = attribute<std::uint64_t>(pointer_buffer_id, inside);
    EXPECT_EQ(cu().mem_free(there), success);
    CUdeviceptr const again = allocate(1000);
    EXPECT_EQ(again, there);
    EXPECT_NE(attribute<std::uint64_t>(pointer_buffer_id, again), id);
}

TEST_F(sim_memory, unknown_pointers_have_no_attributes) {
    int on_stack = 0;
    auto const address = reinterpret_cast<CUdeviceptr>(&on_stack);
    unsigned type = 77;
    EXPECT_EQ(cu().pointer_get_attribute(&type, pointer_memory_type, address), error_invalid_value);
    int ordinal = 77;
    int names[] = {pointer_memory_type, pointer_device_ordinal};
    void* values[] = {&type, &ordinal};
    EXPECT_EQ(cu().pointer_get_attributes(2, names, values, address), success);
    EXPECT_EQ(type, 0u);
    EXPECT_EQ(ordinal, -2);
    CUdeviceptr base = 0;
    EXPECT_EQ(cu().mem_get_address_range(&base, nullptr, address), error_not_found);
}

TEST_F(sim_memory, managed_memory_is_the_cpus_too) {
    CUdeviceptr there = 0;
    ASSERT_EQ(cu().mem_alloc_managed(&there, 1000, mem_attach_global), success);
    std::memset(reinterpret_cast<void*>(there), 9, 1000);
    EXPECT_EQ(read(there, 1000), std::vector<unsigned char>(1000, 9));
    EXPECT_EQ(attribute<int>(pointer_is_managed, there), 1);
    EXPECT_EQ(attribute<unsigned>(pointer_memory_type, there), memory_type_device);
    CUipcMemHandle handle;
    EXPECT_EQ(cu().ipc_get_mem_handle(&handle, there), error_invalid_value);
    EXPECT_EQ(cu().mem_free(there), success);
}

TEST_F(sim_memory, host_memory_has_one_address_for_both) {
    void* pointer = nullptr;
    ASSERT_EQ(cu().mem_host_alloc(&pointer, 1000, 0), success);
    auto const address = reinterpret_cast<CUdeviceptr>(pointer);
    CUdeviceptr seen = 0;
    EXPECT_EQ(cu().mem_host_get_device_pointer(&seen, pointer, 0), success);
    EXPECT_EQ(seen, address);
    EXPECT_EQ(attribute<unsigned>(pointer_memory_type, address + 5), memory_type_host);
    EXPECT_EQ(attribute<void*>(pointer_host_pointer, address + 5),
              reinterpret_cast<void*>(address + 5));
    EXPECT_EQ(cu().memset_d8(address, 4, 1000), success);
    EXPECT_EQ(static_cast<unsigned char*>(pointer)[999], 4);
    EXPECT_EQ(cu().mem_free(address), error_invalid_value);
    EXPECT_EQ(cu().mem_free_host(pointer), success);
}

TEST_F(sim_memory, registered_memory_is_known_until_unregistered) {
    auto const bytes = std::make_unique<unsigned char[]>(8192);
    auto const address = reinterpret_cast<CUdeviceptr>(bytes.get());
    unsigned type = 0;
    EXPECT_EQ(host_register(bytes.get(), 8192), success);
    EXPECT_EQ(host_register(bytes.get() + 100, 10), 712);
    EXPECT_EQ(attribute<unsigned>(pointer_memory_type, address + 8191), memory_type_host);
    EXPECT_EQ(host_unregister(bytes.get() + 1), 713);
    EXPECT_EQ(host_unregister(bytes.get()), success);
    EXPECT_EQ(cu().pointer_get_attribute(&type, pointer_memory_type, address), error_invalid_value);
}

TEST_F(sim_memory, memory_runs_out_and_comes_back) {
    std::size_t unused = 0, total = 0, after = 0;
    ASSERT_EQ(cu().mem_get_info(&unused, &total), success);
    CUdeviceptr there = 0;
    EXPECT_EQ(cu().mem_alloc(&there, total + 1), error_out_of_memory);
    ASSERT_EQ(cu().mem_alloc(&there, unused - (8 << 20)), success);
    CUdeviceptr more = 0;
    EXPECT_EQ(cu().mem_alloc(&more, 16 << 20), error_out_of_memory);
    EXPECT_EQ(cu().mem_free(there), success);
    ASSERT_EQ(cu().mem_get_info(&after, &total), success);
    EXPECT_EQ(after, unused);
    EXPECT_EQ(cu().mem_alloc(&there, 0), error_invalid_value);
}

TEST_F(sim_memory, pool_memory) {
    CUmemoryPool pool = nullptr;
    ASSERT_EQ(cu().device_get_default_mem_pool(&pool, 0), success);
    CUdeviceptr there = 0;
    ASSERT_EQ(cu().mem_alloc_async(&there, 1000, nullptr), success);
    EXPECT_EQ(attribute<CUmemoryPool>(pointer_mempool_handle, there), pool);
    EXPECT_EQ(attribute<CUcontext>(pointer_context, there), nullptr);
    EXPECT_EQ(attribute<int>(pointer_allowed_handle_types, there), 0);
    EXPECT_EQ(attribute<int>(pointer_is_legacy_cuda_ipc_capable, there), 0);
    write(there, pattern(1000, 1));
    EXPECT_EQ(read(there, 1000), pattern(1000, 1));
    CUipcMemHandle handle;
    EXPECT_EQ(cu().ipc_get_mem_handle(&handle, there), error_invalid_value);
    int fd = -1;
    EXPECT_EQ(cu().mem_pool_export(&fd, pool, handle_type_posix_fd, 0), error_invalid_value);
    EXPECT_EQ(cu().mem_free_async(there, nullptr), success);
    EXPECT_EQ(cu().mem_free_async(there, nullptr), error_invalid_value);
    EXPECT_EQ(cu().mem_pool_destroy(pool), error_invalid_value);
    EXPECT_EQ(cu().ctx_synchronize(), success);
    unsigned type = 0;
    EXPECT_EQ(cu().pointer_get_attribute(&type, pointer_memory_type, there), error_invalid_value);
}

// As driver 580.159.04 has them: the first piece of an object has a dma-buf, a later one has none.
TEST_F(sim_memory, a_pool_has_objects_of_32_mib) {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = allocation_type_pinned;
    properties.location = {location_type_device, 0};
    ASSERT_EQ(cu().mem_pool_create(&pool, &properties), success);
    CUdeviceptr first = 0, second = 0;
    ASSERT_EQ(cu().mem_alloc_from_pool_async(&first, 8192, pool, nullptr), success);
    ASSERT_EQ(cu().mem_alloc_from_pool_async(&second, 40 << 20, pool, nullptr), success);
    EXPECT_EQ(second, first + 8192);
    int fd = -1;
    auto const range = cu().mem_get_handle_for_address_range;
    ASSERT_EQ(range(&fd, first, 8192, range_handle_dma_buf_fd, 0), success);
    close(fd);
    EXPECT_EQ(range(&fd, second, 8192, range_handle_dma_buf_fd, 0), error_invalid_value);
    auto const address = BARMAP_SIM_FUNCTION(barmap_sim_address);
    int one = -1, other = -1, ordinal = -1;
    std::uint64_t offset = 0, contiguous = 0;
    ASSERT_EQ(address(second, &one, &offset, &contiguous, &ordinal), 0);
    EXPECT_EQ(offset, 8192u);
    EXPECT_EQ(contiguous, (32u << 20) - 8192);
    ASSERT_EQ(address(first + (33 << 20), &other, &offset, &contiguous, &ordinal), 0);
    EXPECT_NE(one, other);
    EXPECT_EQ(offset, 1u << 20);
    EXPECT_EQ(contiguous, (7u << 20) + 8192);
    write(second + (31 << 20), pattern(2 << 20, 3));
    EXPECT_EQ(read(second + (31 << 20), 2 << 20), pattern(2 << 20, 3));
    // The second object goes with its allocation, the first one stays.
    EXPECT_EQ(cu().mem_free(second), success);
    EXPECT_EQ(address(first, &one, &offset, &contiguous, &ordinal), 0);
    EXPECT_EQ(cu().mem_free(first), success);
    EXPECT_EQ(cu().mem_pool_destroy(pool), success);
}

TEST_F(sim_memory, a_pool_with_handles_can_be_exported) {
    CUmemPoolProps properties{};
    properties.allocType = allocation_type_pinned;
    properties.handleTypes = handle_type_posix_fd;
    properties.location = {location_type_device, 0};
    CUmemoryPool pool = nullptr;
    ASSERT_EQ(cu().mem_pool_create(&pool, &properties), success);
    CUdeviceptr there = 0;
    ASSERT_EQ(cu().mem_alloc_from_pool_async(&there, 4096, pool, nullptr), success);
    EXPECT_EQ(attribute<int>(pointer_allowed_handle_types, there), handle_type_posix_fd);
    write(there, pattern(4096, 8));
    int fd = -1;
    ASSERT_EQ(cu().mem_pool_export(&fd, pool, handle_type_posix_fd, 0), success);
    std::uint64_t offset = 0;
    ASSERT_EQ(BARMAP_SIM_FUNCTION(barmap_sim_address)(there, nullptr, &offset, nullptr, nullptr),
              0);
    std::vector<unsigned char> seen(4096);
    EXPECT_EQ(pread(fd, seen.data(), seen.size(), off_t(offset)), 4096);
    EXPECT_EQ(seen, pattern(4096, 8));
    close(fd);
    EXPECT_EQ(cu().mem_free(there), success);
    EXPECT_EQ(cu().mem_pool_destroy(pool), success);
}

} // namespace
} // namespace barmap::sim_test
