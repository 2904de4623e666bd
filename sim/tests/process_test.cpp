// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
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
    ASSERT_EQ(object(client, memory, &fd, nullptr, &size, &ordinal), 0);
    EXPECT_EQ(size, 2u << 20);
    EXPECT_EQ(ordinal, 0);
    EXPECT_EQ(object(client + 1, memory, &fd, nullptr, &size, &ordinal), -1);
    EXPECT_EQ(object(client, memory + 1000, &fd, nullptr, &size, &ordinal), -1);
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

BARMAP_SIM_PEER(start) {
    int version = 0;
    std::printf("%d %d", cu().init(0), cu().init(0));
    cu().driver_get_version(&version);
    char const* const problem = BARMAP_SIM_FUNCTION(barmap_sim_problem)();
    std::printf(" %s", problem ? problem : "");
}

TEST(sim_environment, what_is_not_understood_is_refused) {
    for (char const* const rubbish : {"BARMAP_SIM_DRIVER=999",
                                      "BARMAP_SIM_DRIVER=580x",
                                      "BARMAP_SIM_DRIVER=0x244",
                                      "BARMAP_SIM_DEVICES=99",
                                      "BARMAP_SIM_DEVICES=-1",
                                      "BARMAP_SIM_DEVICES=two",
                                      "BARMAP_SIM_MEMORY=foo",
                                      "BARMAP_SIM_MEMORY=0",
                                      "BARMAP_SIM_MEMORY=4T",
                                      "BARMAP_SIM_MEMORY=18446744073709551616",
                                      "BARMAP_SIM_MEMORY=17179869185G",
                                      "BARMAP_SIM_MEMORY=G",
                                      "BARMAP_SIM_BAR1=1Q",
                                      "BARMAP_SIM_BAR1=0",
                                      "BARMAP_SIM_MIG=2",
                                      "BARMAP_SIM_UUID=0001",
                                      "BARMAP_SIM_UUID=00010203x405060708090a0b0c0d0e0f",
                                      "BARMAP_SIM_VULKAN_DRIVER=12",
                                      "BARMAP_SIM_FAIL=nonsense",
                                      "BARMAP_SIM_FAIL=cuMemAlloc",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:x",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:0",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:2:0",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:2:x",
                                      "BARMAP_SIM_FAIL=cuMemAlloc:10000",
                                      "BARMAP_SIM_FAIL=cuNoSuchCall:2"}) {
        std::string const said = in_other_process(std::string(rubbish) + " exec 2>&1", "start");
        std::string const line = std::string("barmap's simulated GPU: ") + rubbish + ": ";
        EXPECT_EQ(said.rfind(line, 0), 0u) << rubbish << " -> " << said;
        EXPECT_EQ(said.find(line, 1), std::string::npos) << "said twice: " << said;
        EXPECT_NE(said.find("\n1 1 " + std::string(rubbish)), std::string::npos) << said;
    }
    for (char const* const sound :
         {"BARMAP_SIM_DRIVER=", "BARMAP_SIM_DRIVER=535", "BARMAP_SIM_DEVICES=16",
          "BARMAP_SIM_MEMORY=64m", "BARMAP_SIM_MEMORY=9000k", "BARMAP_SIM_BAR1=1G",
          "BARMAP_SIM_UUID=6d657361-3232-2e33-2e36-000000000000", "BARMAP_SIM_FAIL=hipMalloc:2",
          "BARMAP_SIM_FAIL=cuMemAlloc:2:7", "BARMAP_SIM_FAIL=cuCtxCreate_v4:2"})
        EXPECT_EQ(in_other_process(std::string(sound) + " exec 2>&1", "start"), "0 0 ") << sound;
}

BARMAP_SIM_PEER(count_hip_devices) {
    void* const library = dlopen(BARMAP_SIM_TEST_HIP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    auto* const get_count =
        reinterpret_cast<int (*)(int*)>(library ? dlsym(library, "hipGetDeviceCount") : nullptr);
    int count = -1;
    int const first = get_count ? get_count(&count) : -1;
    std::printf("%d %d %d", first, get_count ? get_count(&count) : -1, count);
}

TEST(sim_environment, what_is_not_understood_is_refused_by_hip_too) {
    for (char const* const rubbish :
         {"BARMAP_SIM_DEVICES=99", "BARMAP_SIM_MEMORY=foo", "BARMAP_SIM_FAIL=nonsense",
          "BARMAP_SIM_FAIL=hipNoSuchCall:2"}) {
        std::string const said =
            in_other_process(std::string(rubbish) + " exec 2>&1", "count_hip_devices");
        EXPECT_EQ(said.rfind(std::string("barmap's simulated GPU: ") + rubbish, 0), 0u) << said;
        EXPECT_NE(said.find("\n1 1 -1"), std::string::npos) << said;
    }
    EXPECT_EQ(in_other_process("BARMAP_SIM_DEVICES=3", "count_hip_devices"), "0 0 3");
    EXPECT_EQ(in_other_process("BARMAP_SIM_FAIL=hipGetDeviceCount:2:2", "count_hip_devices"),
              "0 2 1");
    EXPECT_EQ(in_other_process("BARMAP_SIM_FAIL=cuInit:2", "count_hip_devices"), "0 0 1");
}

int export_and_map(CUdeviceptr there, std::size_t bytes, void** mapped, CUresult& refused) {
    int fd = -1;
    refused = cu().mem_get_handle_for_address_range(&fd, there, bytes, range_handle_dma_buf_fd, 0);
    if (mapped && refused == success)
        *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return fd;
}

BARMAP_SIM_PEER(fill_bar1) {
    constexpr std::size_t mib = 1 << 20;
    CUcontext context = nullptr;
    CUresult result = 0;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    CUdeviceptr const large = allocate(8 * mib), third = allocate(3 * mib),
                      other = allocate(3 * mib);
    (void)export_and_map(large, 8 * mib, nullptr, result);
    std::printf("%d ", result); // more than there is
    void* mapped = nullptr;
    int const fd = export_and_map(third, 3 * mib, &mapped, result);
    std::printf("%d ", result);
    (void)export_and_map(other, 2 * mib, nullptr, result);
    std::printf("%d ", result); // one of four MiB is left
    close(fd);
    (void)export_and_map(other, 2 * mib, nullptr, result);
    std::printf("%d ", result); // the mapping holds it
    munmap(mapped, 3 * mib);
    int const kept = export_and_map(other, 2 * mib, nullptr, result);
    std::printf("%d ", result);
    int const not_now = export_and_map(third, 3 * mib, nullptr, result);
    std::printf("%d %d ", result, not_now); // so does a descriptor that may be mapped any time
    close(kept);
    (void)export_and_map(third, 3 * mib, nullptr, result);
    std::printf("%d", result);
}

TEST(sim_environment, limits_bar1) {
    EXPECT_EQ(in_other_process("BARMAP_SIM_BAR1=4M", "fill_bar1"), "2 0 2 2 0 2 -1 0");
    EXPECT_EQ(in_other_process("", "fill_bar1").substr(0, 10), "0 0 0 0 0 ");
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
