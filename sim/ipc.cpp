// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// The 64 bytes of an IPC handle, laid out as R580 drivers do. The last two fields are this
/// simulation's own: where another process finds the memory.
struct ipc_handle {
    std::uint64_t pointer;
    std::uint64_t pid;
    std::uint64_t size;
    std::uint32_t pages;  ///< of 4 KiB, in the backing object
    std::uint32_t offset; ///< of the allocation in it
    std::uint32_t gpu_id;
    std::uint32_t marker;
    std::uint64_t serial; ///< here: the inode of the file, so that a stale handle is noticed
    std::uint32_t client;
    std::uint32_t memory;
    std::uint32_t descriptor; ///< of the file in the exporting process
    std::uint32_t reserved;
};
static_assert(sizeof(ipc_handle) == sizeof(CUipcMemHandle));

constexpr std::uint32_t marker_value = 0xff00;

allocation* already_open(ipc_handle const& wanted) {
    for (auto& [base, one] : the_world().addresses.all())
        if (one.kind == kind::ipc && one.memory->inode() == wanted.serial &&
            one.offset == wanted.offset)
            return &one;
    return nullptr;
}

device& owner_of(ipc_handle const& wanted) {
    for (auto const& one : the_world().devices)
        if (one->gpu_id() == wanted.gpu_id)
            return *one;
    refuse(error_invalid_value);
}

std::shared_ptr<physical> memory_of(ipc_handle const& wanted) {
    device& owner = owner_of(wanted);
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/fd/%u",
                  static_cast<unsigned long long>(wanted.pid), wanted.descriptor);
    int const fd = open(path, O_RDWR | O_CLOEXEC);
    require(fd >= 0);
    struct stat about {};
    std::uint64_t const bytes = std::uint64_t(wanted.pages) << 12;
    if (fstat(fd, &about) != 0 || about.st_ino != wanted.serial ||
        std::uint64_t(about.st_size) != bytes || wanted.offset + wanted.size > bytes) {
        close(fd);
        refuse(error_invalid_value);
    }
    return physical::adopt(owner, fd, 0, bytes);
}

} // namespace

BARMAP_SIM_ENTRY cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
    return call("cuIpcGetMemHandle", [&](world_lock&) {
        require(address != 0);
        (void)current_context();
        allocation const* const found = the_world().addresses.find(address);
        require(found && found->kind == kind::device);
        ipc_handle told{};
        told.pointer = found->base;
        told.pid = std::uint64_t(getpid());
        told.size = found->size;
        told.pages = std::uint32_t(found->memory->size() >> 12);
        told.offset = std::uint32_t(found->offset);
        told.gpu_id = the_world().get_device(found->ordinal).gpu_id();
        told.marker = marker_value;
        told.serial = found->memory->inode();
        told.client = the_world().client;
        told.memory = found->memory->number();
        told.descriptor = std::uint32_t(found->memory->fd());
        std::memcpy(out(handle).reserved, &told, sizeof told);
    });
}

BARMAP_SIM_ENTRY cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned) {
    return call("cuIpcOpenMemHandle", [&](world_lock&) {
        context const& here = current_context();
        CUdeviceptr& told = out(address);
        ipc_handle wanted{};
        std::memcpy(&wanted, handle.reserved, sizeof wanted);
        require(wanted.marker == marker_value);
        require(wanted.pid != std::uint64_t(getpid()), error_invalid_context);
        if (allocation* const known = already_open(wanted)) {
            ++known->opens;
            told = known->base;
            return;
        }
        auto const memory = memory_of(wanted);
        auto const range = std::make_shared<reservation>(memory->size(), big_page);
        range->place(0, *memory, 0, memory->size());
        allocation added =
            allocation::in(range, wanted.offset, wanted.size, kind::ipc, memory, wanted.offset);
        added.context = here.self;
        told = the_world().addresses.add(std::move(added)).base;
    });
}

BARMAP_SIM_ENTRY cuIpcCloseMemHandle(CUdeviceptr address) {
    return call("cuIpcCloseMemHandle", [&](world_lock& lock) {
        (void)current_context();
        allocation& found = the_world().addresses.at(address);
        require(found.kind == kind::ipc);
        if (--found.opens > 0)
            return;
        free_and_wait(address, lock);
    });
}
