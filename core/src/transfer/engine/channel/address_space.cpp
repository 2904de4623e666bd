// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/address_space.hpp"

#include <barmap/error.hpp>

#include <utility>

namespace barmap::engine {

namespace abi = rm::abi;

address_space::address_space(std::shared_ptr<rm::client const> client, rm::driver_series series)
    : client_(std::move(client)), series_(series) {
    abi::address_space_parameters space{};
    handle_ = client_->allocate(client_->device(), abi::class_address_space, space,
                                "make a GPU address space");
    abi::virtual_memory_parameters all{};
    all.address_space = handle_;
    all_of_it_ = client_->allocate(client_->device(), abi::class_virtual_memory, all,
                                   "reserve a GPU address space");
}

namespace {

template <class Parameters>
std::uint64_t map_with(rm::client const& client, abi::handle dma, abi::handle memory,
                       std::uint64_t bytes, std::uint32_t flags) {
    Parameters request{};
    request.client = client.root();
    request.device = client.device();
    request.dma = dma;
    request.memory = memory;
    request.length = bytes;
    request.flags = flags;
    client.request(abi::esc_rm_map_memory_dma, request, "map memory into a GPU address space");
    return request.address;
}

template <class Parameters>
void unmap_with(rm::client const& client, abi::handle dma, abi::handle memory,
                std::uint64_t address) {
    Parameters request{};
    request.client = client.root();
    request.device = client.device();
    request.dma = dma;
    request.memory = memory;
    request.address = address;
    client.request(abi::esc_rm_unmap_memory_dma, request, "unmap memory of a GPU address space");
}

} // namespace

address_space::mapping::mapping(address_space const& space, rm::memory_object object,
                                std::uint64_t bytes, std::uint32_t flags)
    : space_(&space), object_(std::move(object)),
      address_(space.series_.long_map()
                   ? map_with<abi::map_dma_parameters>(*space.client_, space.all_of_it_,
                                                       object_.handle(), bytes, flags)
                   : map_with<abi::map_dma_parameters_535>(*space.client_, space.all_of_it_,
                                                           object_.handle(), bytes, flags)) {}

address_space::mapping::mapping(mapping&& other) noexcept
    : space_(std::exchange(other.space_, nullptr)), object_(std::move(other.object_)),
      address_(other.address_) {}

address_space::mapping::~mapping() {
    if (!space_ || !space_->client_->in_own_process())
        return;
    try {
        if (space_->series_.long_unmap())
            unmap_with<abi::unmap_dma_parameters>(*space_->client_, space_->all_of_it_,
                                                  object_.handle(), address_);
        else
            unmap_with<abi::unmap_dma_parameters_535>(*space_->client_, space_->all_of_it_,
                                                      object_.handle(), address_);
    } catch (error const&) {
        // Freeing the object also unmaps it.
    }
}

address_space::mapping address_space::map(rm::memory_object object, std::uint64_t bytes) const {
    return {*this, std::move(object), bytes, 0};
}

address_space::mapping address_space::map_host(void* pages, std::size_t bytes) const {
    return {*this, {client_, client_->describe_host(pages, bytes)}, bytes, abi::map_dma_flags_host};
}

} // namespace barmap::engine
