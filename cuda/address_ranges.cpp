// SPDX-License-Identifier: MIT
#include "cuda/address_ranges.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"

#include <algorithm>
#include <array>

namespace barmap::cuda {
namespace {

bool is_of(CUdevice gpu, int ordinal) noexcept {
    CUdevice its = -1;
    return api().device_get(&its, ordinal) == success && its == gpu;
}

/// Whether a GPU's page tables have another one's memory: by peer access, by access rights, or
/// because it was opened there. Where the driver cannot be asked, they may.
bool is_mapped_for(CUdevice gpu, CUdeviceptr address) noexcept {
    try {
        context_scope const scope = context_scope::on_device(gpu);
        CUdeviceptr there = 0; // where kernels of the current context reach it
        return api().pointer_get_attribute(&there, pointer_device_pointer, address) == success;
    } catch (error const&) {
        return true;
    }
}

} // namespace

address_range find_range(CUdevice of, CUdeviceptr address) noexcept {
    unsigned type = 0; // stays 0 for what CUDA does not know
    int is_managed = 0;
    address_range found;
    std::array<int, 5> names{pointer_memory_type, pointer_is_managed, pointer_range_start_addr,
                             pointer_range_size, pointer_device_ordinal};
    std::array<void*, 5> values{&type, &is_managed, &found.begin, &found.bytes, &found.ordinal};
    CUresult const result = api().pointer_get_attributes(static_cast<unsigned>(names.size()),
                                                         names.data(), values.data(), address);
    if (result != success || type == 0)
        return {address, 1, memory_side::unknown};
    found.side = is_managed != 0              ? memory_side::both
                 : type != memory_type_device ? memory_side::host
                 : is_of(of, found.ordinal)   ? memory_side::gpu
                 : is_mapped_for(of, address) ? memory_side::peer
                                              : memory_side::apart;
    if (!found.holds(address)) { // a driver's figures are not relied on
        found.begin = address;
        found.bytes = 1;
    }
    return found;
}

bool has_several_gpus() noexcept {
    static bool const has = [] {
        int count = 0;
        return api().device_get_count(&count) == success && count > 1;
    }();
    return has;
}

address_ranges::ranges::iterator address_ranges::remembered(CUdeviceptr address) {
    auto const behind = std::ranges::upper_bound(known_, address, {}, &address_range::begin);
    bool const is_there = behind != known_.begin() && std::prev(behind)->holds(address);
    return is_there ? std::prev(behind) : known_.end();
}

address_range address_ranges::find(CUdeviceptr address) {
    auto const found = remembered(address);
    return found != known_.end() ? *found : find_again(address);
}

void address_ranges::settle(CUdeviceptr address) {
    if (auto const found = remembered(address); found != known_.end())
        found->is_settled = true;
}

address_range address_ranges::find_again(CUdeviceptr address) {
    address_range const found = find_range(gpu_, address);
    std::erase_if(known_, [&](address_range const& each) {
        return each.begin < found.begin + found.bytes && found.begin < each.begin + each.bytes;
    });
    if (found.side == memory_side::unknown || found.side == memory_side::apart)
        return found;
    if (known_.size() == most)
        known_.clear();
    known_.insert(std::ranges::upper_bound(known_, found.begin, {}, &address_range::begin), found);
    return found;
}

} // namespace barmap::cuda
