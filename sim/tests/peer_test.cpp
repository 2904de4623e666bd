// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <cstdio>

/// Which memory of another device a context reaches: by peer access, and by access rights.
namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;

/// What a device says of an address: its own context, and its page tables. "-" for not there.
std::string seen_by(CUcontext context, int ordinal, CUdeviceptr address) {
    cu().ctx_set_current(context);
    CUdeviceptr pointer = 0;
    int flags = -1;
    bool const has =
        cu().pointer_get_attribute(&pointer, pointer_device_pointer, address) == success &&
        pointer == address;
    cu().pointer_get_attribute(&flags, 16, address);
    bool const reaches =
        BARMAP_SIM_FUNCTION(barmap_sim_reach)(
            ordinal, address, [](void*, int, std::uint64_t, void*, std::uint64_t) { return 0; },
            nullptr) == 0;
    return std::string(has ? "p" : "-") + (flags == access_read_write ? "f" : "-") +
           (reaches ? "r " : "- ");
}

BARMAP_SIM_PEER(look_at_peers) {
    cu().init(0);
    CUcontext first = nullptr, second = nullptr;
    cu().primary_ctx_retain(&first, 0);
    cu().primary_ctx_retain(&second, 1);
    cu().ctx_set_current(second);
    CUdeviceptr const block = allocate(1024);
    int can = 0;
    cu().device_can_access_peer(&can, 0, 1);
    std::string told =
        std::to_string(can) + " " + seen_by(second, 1, block) + seen_by(first, 0, block);
    cu().ctx_set_current(first);
    cu().ctx_enable_peer_access(second, 0);
    told += seen_by(first, 0, block);
    cu().ctx_disable_peer_access(second);
    told += seen_by(first, 0, block);

    CUmemAllocationProp properties{};
    properties.type = allocation_type_pinned;
    properties.location = {location_type_device, 1};
    constexpr std::size_t bytes = 2 << 20;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr chunk = 0;
    cu().mem_create(&handle, bytes, &properties, 0);
    cu().mem_address_reserve(&chunk, bytes, 0, 0, 0);
    cu().mem_map(chunk, bytes, 0, handle, 0);
    CUmemAccessDesc access{{location_type_device, 1}, access_read_write};
    cu().mem_set_access(chunk, bytes, &access, 1);
    told += "chunk " + seen_by(second, 1, chunk) + seen_by(first, 0, chunk);
    access.location.id = 0;
    cu().mem_set_access(chunk, bytes, &access, 1);
    told += seen_by(first, 0, chunk);

    cu().ctx_set_current(second);
    CUmemoryPool pool = nullptr;
    cu().device_get_default_mem_pool(&pool, 1);
    CUdeviceptr pooled = 0;
    cu().mem_alloc_async(&pooled, 1024, nullptr);
    told += "pool " + seen_by(second, 1, pooled) + seen_by(first, 0, pooled);
    function<CUresult(CUmemoryPool, CUmemAccessDesc const*, std::size_t)>("cuMemPoolSetAccess")(
        pool, &access, 1);
    told += seen_by(first, 0, pooled);
    std::printf("%s", told.c_str());
}

TEST(sim_peer, memory_of_another_device_is_reached_where_that_is_allowed) {
    EXPECT_EQ(in_other_process("BARMAP_SIM_DEVICES=2", "look_at_peers"),
              "1 pfr --- pfr --- chunk pfr --- pfr pool pfr --- pfr ");
}

} // namespace
} // namespace barmap::sim_test
