// SPDX-License-Identifier: MIT
#include "driver/cuda/address_ranges.hpp"

#include "driver/cuda/driver_api.hpp"

#include <algorithm>
#include <array>

namespace barmap::cuda {

address_range find_range(CUdeviceptr address) noexcept {
    unsigned type = 0; // stays 0 for what CUDA does not know
    int is_managed = 0;
    address_range found;
    std::array<int, 4> names{pointer_memory_type, pointer_is_managed, pointer_range_start_addr,
                             pointer_range_size};
    std::array<void*, 4> values{&type, &is_managed, &found.begin, &found.bytes};
    CUresult const result = api().pointer_get_attributes(static_cast<unsigned>(names.size()),
                                                         names.data(), values.data(), address);
    if (result != success || type == 0)
        return {address, 1, memory_side::unknown};
    found.side = is_managed != 0              ? memory_side::both
                 : type == memory_type_device ? memory_side::gpu
                                              : memory_side::host;
    if (!found.holds(address)) // a driver's figures are not relied on
        found = {address, 1, found.side};
    return found;
}

address_range address_ranges::find(CUdeviceptr address) {
    auto const behind = std::ranges::upper_bound(known_, address, {}, &address_range::begin);
    if (behind != known_.begin() && std::prev(behind)->holds(address))
        return *std::prev(behind);
    return find_again(address);
}

address_range address_ranges::find_again(CUdeviceptr address) {
    address_range const found = find_range(address);
    std::erase_if(known_, [&](address_range const& each) {
        return each.begin < found.begin + found.bytes && found.begin < each.begin + each.bytes;
    });
    if (found.side == memory_side::unknown)
        return found;
    if (known_.size() == most)
        known_.clear();
    known_.insert(std::ranges::upper_bound(known_, found.begin, {}, &address_range::begin), found);
    return found;
}

} // namespace barmap::cuda
