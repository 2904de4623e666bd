// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace barmap::sim {
namespace {

CUuuid uuid_of(problem& trouble, int ordinal) {
    CUuuid uuid;
    std::memcpy(uuid.bytes, "barmap-simulated", sizeof uuid.bytes);
    (void)digits_setting(trouble, "BARMAP_SIM_UUID", uuid.bytes);
    uuid.bytes[15] = static_cast<unsigned char>(uuid.bytes[15] + ordinal);
    return uuid;
}

struct driver_series {
    std::uint64_t series;
    int cuda_version;
};
constexpr driver_series known_drivers[] = {
    {535, 12020}, {550, 12040}, {570, 12080}, {580, 13000}, {610, 13030}};
constexpr std::uint64_t first_mappable_dma_buf = 610;

constexpr std::uint64_t most_devices = 16;

} // namespace

world::world() {
    std::uint64_t const series =
        choice_setting(trouble, "BARMAP_SIM_DRIVER", 610, {535, 550, 570, 580, 610});
    for (auto const& known : known_drivers)
        if (known.series == series)
            driver_version = known.cuda_version;
    dma_buf_maps = series >= first_mappable_dma_buf;
    client = 0xc1d00000u | (std::uint32_t(getpid()) & 0xffffu);
    bool const mig = choice_setting(trouble, "BARMAP_SIM_MIG", 0, {0, 1}) != 0;
    std::uint64_t const count = number_setting(trouble, "BARMAP_SIM_DEVICES", 1, 0, most_devices);
    std::uint64_t const bytes =
        round_up(size_setting(trouble, "BARMAP_SIM_MEMORY", 4ull << 30), big_page);
    std::uint64_t const bar1 = size_setting(trouble, "BARMAP_SIM_BAR1", bytes);
    has_vulkan_driver = digits_setting(trouble, "BARMAP_SIM_VULKAN_DRIVER", vulkan_driver);
    failing = planned_failure::read(trouble, "cu", has_function);
    for (std::uint64_t ordinal = 0; ordinal < count; ++ordinal) {
        auto added = std::make_unique<device>();
        added->ordinal = int(ordinal);
        added->memory_size = bytes;
        added->bar1_info = bar1;
        added->bar1_limited = bar1 < bytes;
        added->uuid = uuid_of(trouble, int(ordinal));
        added->name = mig ? "barmap simulated GPU MIG 1g.5gb" : "barmap simulated GPU";
        devices.push_back(std::move(added));
    }
}

device& world::get_device(CUdevice ordinal) {
    require(ordinal >= 0 && std::size_t(ordinal) < devices.size(), cuda::error_invalid_device);
    return *devices[std::size_t(ordinal)];
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

// Values that programs look at; what is not listed is 0, the answer for "no".
int attribute_value(int attribute, device const& of) {
    switch (attribute) {
    case 1: // threads per block
    case 2: // block x, y
    case 3:
        return 1024;
    case 4: // block z
        return 64;
    case 5: // grid x
        return 0x7fffffff;
    case 6: // grid y, z
    case 7:
        return 65535;
    case 8: // shared memory per block
        return 48 << 10;
    case 9:  // constant memory
    case 12: // registers per block
        return 64 << 10;
    case 10: // warp
        return 32;
    case 13: // clock, memory clock: kHz
    case 36:
        return 1'000'000;
    case attribute_multiprocessor_count:
        return 8;
    case 37: // memory bus, bits
        return 256;
    case 38: // L2
        return 4 << 20;
    case 39: // threads per multiprocessor
        return 2048;
    case 15: // overlap of copy and kernel
    case 19: // mapped host memory
    case 31: // concurrent kernels
    case attribute_unified_addressing:
    case 78: // stream priorities
    case attribute_managed_memory:
    case 89:  // concurrent managed access
    case 91:  // host pointer of registered memory
    case 99:  // host register
    case 119: // pool handle types: POSIX fd
    case attribute_virtual_memory_management:
    case attribute_posix_fd_handle:
    case attribute_gpu_direct_rdma_of_virtual_memory:
    case attribute_memory_pools:
    case attribute_gpu_direct_rdma:
    case attribute_flush_writes_options: // by a call from the host
    case attribute_dma_buf:
        return 1;
    case 40: // copy engines
        return 2;
    case attribute_pci_bus_id:
        return int(of.bus());
    case attribute_compute_capability_major:
        return 9;
    case attribute_writes_ordering: // for the owner
        return 100;
    default:
        return 0;
    }
}

// Users who set a variable want to know that it was not understood, before anything runs without
// it.
void expect_sound_environment() {
    std::string const& trouble = the_world().trouble;
    if (trouble.empty())
        return;
    static bool said = false;
    if (!std::exchange(said, true))
        std::fprintf(stderr, "barmap's simulated GPU: %s\n", trouble.c_str());
    refuse(error_invalid_value);
}

CUresult tell_uuid(CUuuid* uuid, CUdevice ordinal) {
    out(uuid) = the_world().get_device(ordinal).uuid;
    return success;
}

} // namespace

BARMAP_SIM_ENTRY cuInit(unsigned flags) {
    return call(
        "cuInit",
        [&](world_lock&) {
            require(flags == 0);
            expect_sound_environment();
            require(!the_world().devices.empty(), error_no_device);
            mark_initialised();
        },
        admitted::before_init);
}

BARMAP_SIM_ENTRY cuDriverGetVersion(int* version) {
    return constant_call("cuDriverGetVersion", [&] { out(version) = the_world().driver_version; });
}

BARMAP_SIM_ENTRY cuDeviceGetCount(int* count) {
    return call("cuDeviceGetCount",
                [&](world_lock&) { out(count) = int(the_world().devices.size()); });
}

BARMAP_SIM_ENTRY cuDeviceGet(CUdevice* device, int ordinal) {
    return call("cuDeviceGet",
                [&](world_lock&) { out(device) = the_world().get_device(ordinal).ordinal; });
}

BARMAP_SIM_ENTRY cuDeviceGetName(char* name, int bytes, CUdevice ordinal) {
    return call("cuDeviceGetName", [&](world_lock&) {
        require(name && bytes > 0);
        std::snprintf(name, std::size_t(bytes), "%s", the_world().get_device(ordinal).name.c_str());
    });
}

BARMAP_SIM_ENTRY cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
    return call("cuDeviceGetUuid", [&](world_lock&) { return tell_uuid(uuid, ordinal); });
}

BARMAP_SIM_ENTRY cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
    return call("cuDeviceGetUuid", [&](world_lock&) { return tell_uuid(uuid, ordinal); });
}

BARMAP_SIM_ENTRY cuDeviceGetAttribute(int* value, int attribute, CUdevice ordinal) {
    return call("cuDeviceGetAttribute", [&](world_lock&) {
        constexpr int last_attribute = 150;
        require(attribute > 0 && attribute <= last_attribute);
        out(value) = attribute_value(attribute, the_world().get_device(ordinal));
    });
}

BARMAP_SIM_ENTRY cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
    return call("cuDeviceComputeCapability", [&](world_lock&) {
        auto const& of = the_world().get_device(ordinal);
        out(major) = attribute_value(attribute_compute_capability_major, of);
        out(minor) = attribute_value(attribute_compute_capability_minor, of);
    });
}

BARMAP_SIM_ENTRY cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice ordinal) {
    return call("cuDeviceTotalMem",
                [&](world_lock&) { out(bytes) = the_world().get_device(ordinal).memory_size; });
}

BARMAP_SIM_ENTRY cuDeviceGetPCIBusId(char* text, int bytes, CUdevice ordinal) {
    return call("cuDeviceGetPCIBusId", [&](world_lock&) {
        require(text && bytes > 0);
        int const needed = std::snprintf(text, std::size_t(bytes), "0000:%02X:00.0",
                                         the_world().get_device(ordinal).bus());
        require(needed < bytes);
    });
}

BARMAP_SIM_ENTRY cuDeviceGetByPCIBusId(CUdevice* device, char const* text) {
    return call("cuDeviceGetByPCIBusId", [&](world_lock&) {
        unsigned domain = 0, bus = 0, slot = 0;
        require(text && (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3 ||
                         std::sscanf(text, "%x:%x", &bus, &slot) == 2));
        for (auto const& one : the_world().devices)
            if (domain == 0 && slot == 0 && one->bus() == bus) {
                out(device) = one->ordinal;
                return success;
            }
        return error_invalid_device;
    });
}

BARMAP_SIM_ENTRY cuDeviceCanAccessPeer(int* can, CUdevice one, CUdevice other) {
    return call("cuDeviceCanAccessPeer", [&](world_lock&) {
        out(can) = the_world().get_device(one).ordinal != the_world().get_device(other).ordinal;
    });
}
