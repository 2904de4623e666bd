// SPDX-License-Identifier: MIT
#include "driver/rm/ipc_handle.hpp"

#include <cstring>

namespace barmap::rm {
namespace {

template <class Field>
void take(Field& field, CUipcMemHandle const& handle, std::size_t offset) noexcept {
    std::memcpy(&field, handle.reserved + offset, sizeof field);
}

} // namespace

ipc_fields parse(CUipcMemHandle const& handle) noexcept {
    ipc_fields fields{};
    take(fields.pid, handle, 8);
    take(fields.size, handle, 16);
    take(fields.object_pages, handle, 24);
    take(fields.object_offset, handle, 28);
    take(fields.gpu_id, handle, 32);
    take(fields.client, handle, 48);
    take(fields.memory, handle, 52);
    return fields;
}

} // namespace barmap::rm
