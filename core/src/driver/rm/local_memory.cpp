// SPDX-License-Identifier: MIT
#include "driver/rm/local_memory.hpp"

#include "nvidia/channel.hpp"

namespace barmap::rm {

memory_object allocate_local(std::shared_ptr<client const> const& owner, std::size_t bytes) {
    abi::memory_alloc_parameters wanted{};
    wanted.owner = owner->root();
    wanted.flags = abi::alloc_flags_video_memory;
    wanted.attributes = abi::attributes_contiguous_huge;
    wanted.attributes2 = abi::attributes2_huge_2mb_cacheable;
    wanted.size = bytes;
    wanted.alignment = local_page;
    return {owner, owner->allocate(owner->device(), abi::class_local_memory, wanted,
                                   "allocate GPU memory")};
}

} // namespace barmap::rm
