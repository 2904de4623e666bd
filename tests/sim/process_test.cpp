// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;

template <class T>
T field(CUipcMemHandle const& handle, std::size_t offset) {
    T value;
    std::memcpy(&value, handle.reserved + offset, sizeof value);
    return value;
}

class sim_ipc : public with_context {};

TEST_F(sim_ipc, a_handle_has_the_layout_of_r580) {
    (void)allocate(1024);
    CUdeviceptr const there = allocate(1000);
    CUipcMemHandle handle;
    ASSERT_EQ(cu().ipc_get_mem_handle(&handle, there + 5), success);
    EXPECT_EQ(field<std::uint64_t>(handle, 8), std::uint64_t(getpid()));
    EXPECT_EQ(field<std::uint64_t>(handle, 16), 1000u);
    EXPECT_EQ(field<std::uint32_t>(handle, 24), 512u);
    EXPECT_EQ(field<std::uint32_t>(handle, 28), 0x400u);
    EXPECT_EQ(field<std::uint32_t>(handle, 32), BARMAP_SIM_FUNCTION(barmap_sim_gpu_id)(0));
    auto const client = field<std::uint32_t>(handle, 48), memory = field<std::uint32_t>(handle, 52);
    EXPECT_EQ(client >> 16, 0xc1d0u);
    EXPECT_EQ(memory >> 16, 0x5c00u);
    int fd = -1, ordinal = -1;
    std::uint64_t size = 0;
    auto const object = BARMAP_SIM_FUNCTION(barmap_sim_object);
    ASSERT_EQ(object(client, memory, &fd, &size, &ordinal), 0);
    EXPECT_EQ(size, 2u << 20);
    EXPECT_EQ(ordinal, 0);
    EXPECT_EQ(object(client + 1, memory, &fd, &size, &ordinal), -1);
    EXPECT_EQ(object(client, memory + 1000, &fd, &size, &ordinal), -1);
    write(there, pattern(100, 4));
    std::vector<unsigned char> seen(100);
    EXPECT_EQ(pread(fd, seen.data(), 100, 0x400), 100);
    EXPECT_EQ(seen, pattern(100, 4));
    CUdeviceptr opened = 0;
    EXPECT_EQ(cu().ipc_open_mem_handle(&opened, handle, 1), error_invalid_context) << "own handle";
    ASSERT_EQ(cu().ctx_set_current(nullptr), success);
    EXPECT_EQ(cu().ipc_get_mem_handle(&handle, there), error_invalid_context);
    ASSERT_EQ(cu().ctx_set_current(context_), success);
}

BARMAP_SIM_PEER(open_ipc) {
    CUcontext context = nullptr;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    CUipcMemHandle handle;
    std::memcpy(handle.reserved, from_hex(argument).data(), sizeof handle.reserved);
    CUdeviceptr first = 0, second = 0;
    if (CUresult const refused = cu().ipc_open_mem_handle(&first, handle, 1)) {
        std::printf("refused %d", refused);
        return;
    }
    cu().ipc_open_mem_handle(&second, handle, 1);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    cu().mem_get_address_range(&base, &size, first + 1);
    std::printf("%d %d %zu %d ", first == second, base == first, size,
                attribute<int>(pointer_is_legacy_cuda_ipc_capable, first));
    std::printf("%s", to_hex(read(first, 8).data(), 8).c_str());
    write(first, pattern(8, 200));
    for (int k = 0; k < 3; ++k)
        std::printf(" %d", cu().ipc_close_mem_handle(first));
}

TEST_F(sim_ipc, another_process_opens_a_handle) {
    (void)allocate(600);
    CUdeviceptr const there = allocate(1000);
    write(there, pattern(8, 100));
    CUipcMemHandle handle;
    ASSERT_EQ(cu().ipc_get_mem_handle(&handle, there), success);
    std::string const text = to_hex(handle.reserved, sizeof handle.reserved);
    EXPECT_EQ(in_other_process("", "open_ipc", text), "1 1 1000 0 6465666768696a6b 0 0 1");
    EXPECT_EQ(read(there, 8), pattern(8, 200));
    ASSERT_EQ(cu().ctx_destroy(context_), success);
    EXPECT_EQ(in_other_process("", "open_ipc", text), "refused 1") << "stale";
    ASSERT_EQ(cu().ctx_create(&context_, 0, 0), success);
}

BARMAP_SIM_PEER(describe) {
    int count = 0, version = 0;
    CUresult const started = cu().init(0);
    cu().driver_get_version(&version);
    cu().device_get_count(&count);
    std::printf("%d %d %d", started, version, count);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        char name[64] = "", bus[32] = "";
        CUuuid uuid{};
        std::size_t bytes = 0;
        cu().device_get_name(name, sizeof name, ordinal);
        cu().device_get_uuid(&uuid, ordinal);
        cu().device_total_mem(&bytes, ordinal);
        function<CUresult(char*, int, CUdevice)>("cuDeviceGetPCIBusId")(bus, sizeof bus, ordinal);
        std::printf(
            " | %s, %s, %s, %zu, %llu", name, bus, to_hex(uuid.bytes, 16).c_str(), bytes,
            static_cast<unsigned long long>(BARMAP_SIM_FUNCTION(barmap_sim_bar1_total)(ordinal)));
    }
}

TEST(sim_environment, decides_about_devices) {
    EXPECT_EQ(in_other_process("", "describe"),
              "0 13030 1 | barmap simulated GPU, 0000:01:00.0, "
              "6261726d61702d73696d756c61746564, 4294967296, 4294967296");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=550 BARMAP_SIM_DEVICES=2 BARMAP_SIM_MIG=1 "
                               "BARMAP_SIM_MEMORY=64M BARMAP_SIM_BAR1=16M "
                               "BARMAP_SIM_UUID=000102030405060708090a0b0c0d0e0f",
                               "describe"),
              "0 12040 2 | barmap simulated GPU MIG 1g.5gb, 0000:01:00.0, "
              "000102030405060708090a0b0c0d0e0f, 67108864, 16777216 | barmap simulated GPU MIG "
              "1g.5gb, 0000:02:00.0, 000102030405060708090a0b0c0d0e10, 67108864, 16777216");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DEVICES=0", "describe"), "100 13030 0");
}

BARMAP_SIM_PEER(map_dma_buf) {
    CUcontext context = nullptr;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    int fd = -1;
    CUresult const got = cu().mem_get_handle_for_address_range(&fd, allocate(4096), 4096,
                                                               range_handle_dma_buf_fd, 0);
    void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    std::printf("%d %s", got, mapped == MAP_FAILED ? "refused" : "mapped");
}

TEST(sim_environment, decides_about_dma_bufs) {
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=580", "map_dma_buf"), "0 refused");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=610", "map_dma_buf"), "0 mapped");
}

BARMAP_SIM_PEER(allocate_thrice) {
    CUcontext context = nullptr;
    CUdeviceptr there = 0;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    for (int k = 0; k < 3; ++k)
        std::printf("%d", cu().mem_alloc(&there, 10));
}

TEST(sim_environment, makes_a_call_fail) {
    EXPECT_EQ(in_other_process("BARMAP_SIM_FAIL=cuMemAlloc:2:3", "allocate_thrice"), "002");
    EXPECT_EQ(in_other_process("BARMAP_SIM_FAIL=cuMemAlloc_v2:700", "allocate_thrice"), "70000");
    EXPECT_EQ(in_other_process("BARMAP_SIM_FAIL=cuMemAllocAsync:700", "allocate_thrice"), "000");
}

BARMAP_SIM_PEER(use_before_init) {
    int count = 0;
    CUcontext context = nullptr;
    std::printf("%d ", cu().device_get_count(&count));
    std::printf("%d ", cu().ctx_get_current(&context));
    cu().init(0);
    std::printf("%d ", cu().ctx_synchronize());
    std::fflush(stdout);
    if (fork() == 0) {
        char const* name = nullptr;
        CUdeviceptr there = 0;
        std::printf("%d ", cu().init(0));
        std::printf("%d ", cu().mem_alloc(&there, 10));
        std::printf("%d", cu().get_error_name(error_not_initialized, &name));
        std::fflush(stdout);
        _exit(0);
    }
    wait(nullptr);
}

TEST(sim_process, needs_cu_init_and_a_context_and_no_fork) {
    EXPECT_EQ(in_other_process("", "use_before_init"), "3 3 201 3 3 0");
}

BARMAP_SIM_PEER(use_arrays) {
    auto const create = function<CUresult(void**, void const*)>("cuArrayCreate_v2");
    void* array = nullptr;
    std::printf("%d ", create(&array, nullptr));
    cu().init(0);
    std::printf("%d", create(&array, nullptr));
}

// Programs that are linked to them start, as PyCUDA does.
TEST(sim_process, has_functions_that_it_does_not_simulate) {
    EXPECT_EQ(in_other_process("", "use_arrays"), "3 801");
    for (char const* const name :
         {"cuArray3DCreate_v2", "cuMemcpy3D_v2", "cuTexRefSetAddress2D_v3", "cuLinkCreate_v2",
          "cuModuleGetGlobal_v2", "cuCtxGetLimit", "cuProfilerStart", "cuParamSetv"})
        EXPECT_NE(symbol(name), nullptr);
}

class sim_context : public with_context {};

TEST_F(sim_context, each_thread_has_its_stack) {
    CUcontext current = nullptr;
    std::thread([] {
        CUcontext here = nullptr;
        EXPECT_EQ(cu().ctx_get_current(&here), success);
        EXPECT_EQ(here, nullptr);
        CUdeviceptr there = 0;
        EXPECT_EQ(cu().mem_alloc(&there, 1), error_invalid_context);
    }).join();
    ASSERT_EQ(cu().ctx_push_current(context_), success);
    ASSERT_EQ(cu().ctx_set_current(nullptr), success);
    ASSERT_EQ(cu().ctx_get_current(&current), success);
    EXPECT_EQ(current, context_);
    EXPECT_EQ(cu().ctx_pop_current(&current), success);
    EXPECT_EQ(cu().ctx_pop_current(&current), error_invalid_context);
    ASSERT_EQ(cu().ctx_push_current(context_), success);
}

TEST_F(sim_context, destroying_frees_what_belongs_to_it) {
    CUcontext second = nullptr;
    ASSERT_EQ(cu().ctx_create(&second, 0, 0), success);
    CUdeviceptr const there = allocate(10);
    CUstream stream = nullptr;
    ASSERT_EQ(cu().stream_create(&stream, 0), success);
    ASSERT_EQ(cu().ctx_push_current(second), success);
    ASSERT_EQ(cu().ctx_destroy(second), success);
    unsigned type = 0;
    EXPECT_EQ(cu().pointer_get_attribute(&type, pointer_memory_type, there), error_invalid_value);
    EXPECT_EQ(cu().stream_query(stream), error_invalid_handle);
    EXPECT_EQ(cu().ctx_synchronize(), error_context_is_destroyed) << "still on the stack";
    EXPECT_EQ(cu().ctx_pop_current(nullptr), success);
    EXPECT_EQ(cu().ctx_synchronize(), success);
}

TEST_F(sim_context, the_primary_context_is_counted) {
    CUcontext first = nullptr, second = nullptr;
    unsigned flags = 0;
    int active = 0;
    EXPECT_EQ(cu().primary_ctx_release(0), error_invalid_context);
    ASSERT_EQ(cu().primary_ctx_retain(&first, 0), success);
    ASSERT_EQ(cu().primary_ctx_retain(&second, 0), success);
    EXPECT_EQ(first, second);
    EXPECT_EQ(cu().ctx_destroy(first), error_invalid_context);
    ASSERT_EQ(cu().ctx_push_current(first), success);
    CUdeviceptr const there = allocate(10);
    ASSERT_EQ(cu().primary_ctx_release(0), success);
    EXPECT_EQ(read(there, 10).size(), 10u);
    ASSERT_EQ(cu().primary_ctx_release(0), success);
    EXPECT_EQ(cu().ctx_synchronize(), error_context_is_destroyed);
    EXPECT_EQ(cu().primary_ctx_get_state(0, &flags, &active), success);
    EXPECT_EQ(active, 0);
    ASSERT_EQ(cu().ctx_pop_current(nullptr), success);
}

TEST_F(sim_context, the_nth_call_fails_and_does_nothing) {
    auto const fail = BARMAP_SIM_FUNCTION(barmap_sim_fail);
    auto const calls = BARMAP_SIM_FUNCTION(barmap_sim_calls);
    unsigned const before = calls();
    fail(2, error_unknown);
    CUcontext current = nullptr;
    CUdeviceptr there = 0;
    EXPECT_EQ(cu().ctx_get_current(&current), success);
    EXPECT_EQ(cu().mem_alloc(&there, 10), error_unknown);
    EXPECT_EQ(there, 0u);
    EXPECT_EQ(cu().mem_alloc(&there, 10), success);
    EXPECT_EQ(calls(), before + 3);
    fail(1, error_unknown);
    fail(0, success);
    EXPECT_EQ(cu().mem_free(there), success);
}

TEST_F(sim_context, newer_entry_points_are_found_by_version) {
    auto const find = function<CUresult(char const*, void**, int, unsigned long long, int*)>(
        "cuGetProcAddress_v2");
    void* found = nullptr;
    int status = -1;
    EXPECT_EQ(find("cuMemAlloc", &found, 12000, 0, &status), success);
    EXPECT_EQ(found, symbol("cuMemAlloc_v2"));
    EXPECT_EQ(find("cuCtxCreate", &found, 11000, 0, &status), success);
    EXPECT_EQ(found, symbol("cuCtxCreate_v2"));
    EXPECT_EQ(find("cuCtxCreate", &found, 13000, 0, &status), success);
    EXPECT_EQ(found, symbol("cuCtxCreate_v4"));
    EXPECT_EQ(find("cuMemAlloc_v2", &found, 12000, 0, &status), success);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(status, 1);
}

} // namespace
} // namespace barmap::sim_test
