// SPDX-License-Identifier: MIT
#include "driver/rm/local_memory.hpp"
#include "map/backend.hpp"
#include "map/pages.hpp"
#include "system/region.hpp"

#include <list>
#include <utility>

/// Through the resource manager of NVIDIA's stock driver: the memory's RM object is duplicated or
/// imported into a client of our own and mapped through BAR1. No kernel module, no privilege.
namespace barmap::backend {
namespace {

class rm_mapped final : public mapped {
public:
    rm_mapped(std::vector<rm::memory_object> const& objects, page_layout const& layout,
              bool force_pcie, cache_kind caching, std::shared_ptr<os::region> into)
        : region_(std::move(into)) {
        try {
            for (page_run const& each : layout.pieces)
                place(each, objects, force_pcie);
        } catch (...) {
            region_->vacate(); // before the views go
            throw;
        }
        data = region_->data() + layout.head;
        kind = caching;
    }
    std::shared_ptr<os::region> addresses() const noexcept override { return region_; }

private:
    void place(page_run const& piece, std::vector<rm::memory_object> const& objects,
               bool force_pcie) {
        if (piece.object == no_object)
            return region_->place_zeros(piece.at, piece.length);
        rm::memory_object const& object = objects[piece.object];
        rm::client::view& view = views_.emplace_back(
            object.client(), object.handle(), piece.file_offset, piece.length,
            rm::abi::map_flags_default_caching | (force_pcie ? rm::abi::map_flags_bus_pcie : 0));
        region_->place(piece.at, piece.length, view.fd(), 0);
        view.close_fd();
    }

    std::list<rm::client::view> views_; // a view does not move; the region goes before them
    std::shared_ptr<os::region> region_;
};

class rm_pinned final : public pinned {
public:
    /// @param sizes of the objects, bytes
    rm_pinned(std::vector<rm::memory_object> objects, std::vector<std::uint64_t> sizes,
              char const* way, std::vector<part> parts, bool force_pcie, cache_kind caching)
        : objects_(std::move(objects)), sizes_(std::move(sizes)), way_(way),
          parts_(std::move(parts)), layout_(lay_out(parts_, os::page_size())),
          force_pcie_(force_pcie), caching_(caching) {}
    std::string_view way() const noexcept override { return way_; }
    std::unique_ptr<mapped> map(std::optional<cache_kind>,
                                std::shared_ptr<os::region> into) override {
        return std::make_unique<rm_mapped>(objects_, layout_, force_pcie_, caching_,
                                           or_anywhere(std::move(into), layout_.total));
    }
    shared_memory share() override {
        shared_memory::expect_few(parts_.size());
        std::vector<rm::abi::handle> handles;
        for (rm::memory_object const& each : objects_)
            handles.push_back(each.handle());
        shared_memory result;
        result.caching = caching_;
        result.force_pcie = force_pcie_;
        result.parts = parts_;
        result.files.push_back(objects_.front().client().export_objects(handles));
        return result;
    }
    std::vector<rm::held_object> objects() const override {
        std::vector<rm::held_object> result;
        for (std::size_t i = 0; i < objects_.size(); ++i)
            result.push_back({objects_[i].client().root(), objects_[i].handle(), parts_[i].offset,
                              parts_[i].length + parts_[i].beyond, sizes_[i]});
        return result;
    }

private:
    std::vector<rm::memory_object> objects_;
    std::vector<std::uint64_t> sizes_;
    std::string_view way_;
    std::vector<part> parts_;
    page_layout layout_;
    bool force_pcie_;
    cache_kind caching_;
};

class rm_backend final : public backend {
public:
    explicit rm_backend(gpu const& gpu) : gpu_(gpu) {}

    capability_set capabilities() const noexcept override {
        capability_set result;
        result.needs_kernel_driver = true;
        if (gpu_.without_cuda) {
            result.allocates = true;
            return result;
        }
        result.registers =
            kinds(memory_kind::device, memory_kind::virtual_exportable, memory_kind::virtual_opaque,
                  memory_kind::pool, memory_kind::pool_exportable, memory_kind::graph,
                  memory_kind::imported, memory_kind::allocated);
        return result;
    }

    void start() override {
        client_ = std::make_shared<rm::client>(gpu_.pci);
        (void)client_->subdevice(); // so that nothing has to be made when BAR1 is used up
    }

    backend_properties properties() const override {
        bool const by_pcie = client_->series() && client_->series()->maps_coherent_by_pcie();
        return {.forces_pcie = !gpu_.coherent || by_pcie};
    }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_options const& how) override {
        std::vector<rm::memory_object> objects;
        std::vector<std::uint64_t> sizes;
        std::vector<part> parts;
        char const* way = "";
        for (rm::cuda_object& taken : rm::take(client_, memory)) {
            parts.push_back(clip(taken.offset, taken.length, taken.size));
            objects.push_back(std::move(taken.object));
            sizes.push_back(taken.size);
            way = taken.way;
        }
        // Where the CPU has a coherent link to the GPU, RM maps by that, unless PCIe is asked for.
        bool const cached = gpu_.coherent && !how.force_pcie;
        return std::make_unique<rm_pinned>(
            std::move(objects), std::move(sizes), way, std::move(parts), how.force_pcie,
            cached ? cache_kind::cached : cache_kind::write_combining);
    }

    /// In a process without CUDA.
    std::unique_ptr<pinned> allocate(std::size_t bytes) override {
        std::vector<rm::memory_object> objects;
        std::size_t const whole = (bytes + rm::local_page - 1) / rm::local_page * rm::local_page;
        objects.push_back(rm::allocate_local(client_, whole));
        return std::make_unique<rm_pinned>(
            std::move(objects), std::vector<std::uint64_t>{whole}, "memory of its own",
            std::vector<part>{{0, bytes, 0}}, false,
            gpu_.coherent ? cache_kind::cached : cache_kind::write_combining);
    }

    std::optional<bar1_info> bar1() override { return client_->bar1(); }

private:
    gpu gpu_;
    std::shared_ptr<rm::client const> client_;
};

} // namespace

std::unique_ptr<backend> make_rm(gpu const& gpu) {
    return std::make_unique<rm_backend>(gpu);
}

std::unique_ptr<pinned> open_rm(shared_memory shared) {
    if (shared.files.size() != 1)
        shared_memory::refuse();
    auto const client = std::make_shared<rm::client>(shared.gpu);
    std::vector<rm::memory_object> objects;
    objects.reserve(shared.parts.size());
    for (rm::abi::handle const each :
         client->import_objects(shared.files.front().get(), shared.parts.size()))
        objects.emplace_back(client, each);
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        sizes.push_back(client->size_of(objects[i].handle()));
        shared_memory::expect_inside(shared.parts[i], sizes.back());
    }
    return std::make_unique<rm_pinned>(std::move(objects), std::move(sizes), "a shared descriptor",
                                       std::move(shared.parts), shared.force_pcie, shared.caching);
}

} // namespace barmap::backend
