// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "backend/pages.hpp"
#include "backend/rm/ipc_handle.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "os/region.hpp"
#include "rm/client.hpp"

#include <list>
#include <unistd.h>
#include <utility>

/// Through the resource manager of NVIDIA's stock driver: the memory's RM object is duplicated or
/// imported into a client of our own and mapped through BAR1. No kernel module, no privilege.
namespace barmap::backend {
namespace {

/// A reference to one RM memory object.
class memory_object {
public:
    memory_object(std::shared_ptr<rm::client const> client, rm::abi::handle handle) noexcept
        : client_(std::move(client)), handle_(handle) {}
    memory_object(memory_object&& other) noexcept
        : client_(std::move(other.client_)), handle_(std::exchange(other.handle_, 0)) {}
    memory_object& operator=(memory_object&&) = delete;
    ~memory_object() {
        if (handle_)
            client_->free(handle_);
    }
    [[nodiscard]] rm::client const& client() const noexcept { return *client_; }
    [[nodiscard]] rm::abi::handle handle() const noexcept { return handle_; }

private:
    std::shared_ptr<rm::client const> client_;
    rm::abi::handle handle_;
};

class rm_mapped final : public mapped {
public:
    rm_mapped(std::vector<memory_object> const& objects, page_layout const& layout, bool force_pcie,
              cache_kind caching)
        : region_(os::region::for_files(layout.total)) {
        for (piece const& piece : layout.pieces) {
            if (piece.object == no_object) {
                region_.place_zeros(piece.at, piece.length);
                continue;
            }
            memory_object const& object = objects[piece.object];
            rm::client::view& view = views_.emplace_back(
                object.client(), object.handle(), piece.file_offset, piece.length, force_pcie);
            region_.place(piece.at, piece.length, view.fd(), 0);
            view.close_fd();
        }
        data = region_.data() + layout.head;
        kind = caching;
    }

private:
    std::list<rm::client::view> views_; // a view does not move; the region goes before them
    os::region region_;
};

class rm_pinned final : public pinned {
public:
    rm_pinned(std::vector<memory_object> objects, page_layout layout, bool force_pcie,
              cache_kind caching)
        : objects_(std::move(objects)), layout_(std::move(layout)), force_pcie_(force_pcie),
          caching_(caching) {}
    std::unique_ptr<mapped> map(std::optional<cache_kind>) override {
        return std::make_unique<rm_mapped>(objects_, layout_, force_pcie_, caching_);
    }

private:
    std::vector<memory_object> objects_;
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
        result.registers =
            kinds(memory_kind::device, memory_kind::virtual_exportable, memory_kind::allocated);
        return result;
    }

    void start() override {
        client_ = std::make_shared<rm::client>(
            rm::pci_location{gpu_.pci_domain, gpu_.pci_bus, gpu_.pci_slot, gpu_.pci_address});
    }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_options const& how) override {
        std::vector<memory_object> objects;
        std::vector<part> parts;
        for (cuda::chunk const& chunk : memory.chunks) {
            if (memory.kind == memory_kind::device) {
                parts.push_back(duplicate(memory, chunk, objects));
                continue;
            }
            os::fd made;
            if (!memory.exported)
                made = cuda::export_chunk(chunk);
            int const descriptor = memory.exported ? memory.exported->get() : made.get();
            objects.emplace_back(client_, client_->import(descriptor));
            // VMM chunks are whole GPU pages, so that nothing before one is ever wanted.
            parts.push_back({chunk.offset, chunk.length + chunk.after});
        }
        // Where the CPU has a coherent link to the GPU, RM maps by that, unless PCIe is asked for.
        bool const cached = gpu_.coherent && !how.force_pcie;
        return std::make_unique<rm_pinned>(
            std::move(objects), lay_out(parts, os::page_size()), how.force_pcie,
            cached ? cache_kind::cached : cache_kind::write_combining);
    }

    std::optional<bar1_info> bar1() override { return client_->bar1(); }

private:
    /// Duplicates the object behind a cudaMalloc and returns which part of it the range is.
    part duplicate(cuda::memory const& memory, cuda::chunk const& chunk,
                   std::vector<memory_object>& objects) const {
        CUipcMemHandle handle{};
        {
            cuda::context_scope scope(memory.context);
            cuda::check(cuda::api().ipc_get_mem_handle(&handle, chunk.base),
                        "get the IPC handle of cudaMalloc memory",
                        "the memory may have been freed, or come from an allocator that CUDA IPC "
                        "does not support");
        }
        ipc_fields const fields = parse(handle);
        check(fields, chunk);
        objects.emplace_back(client_, client_->duplicate(fields.client, fields.memory));
        // Above 2 MiB the driver rounds an object to 4 KiB only (580.159.04): the last GPU page of
        // 64 KiB may be longer than the object.
        return clip(fields.object_offset + chunk.offset - chunk.before, chunk.extent(),
                    object_size(fields));
    }

    static std::uint64_t object_size(ipc_fields const& fields) noexcept {
        constexpr std::uint64_t object_page = 4096;
        return fields.object_pages * object_page;
    }

    /// Refuses whatever does not look exactly as it should: a wrong mapping is worse than none.
    void check(ipc_fields const& fields, cuda::chunk const& chunk) const {
        if (fields.pid != static_cast<std::uint64_t>(::getpid()))
            throw error(errc::unsupported_memory,
                        "register memory of process " + std::to_string(fields.pid), "",
                        std::string(cuda::advice_for(memory_kind::imported)));
        if (fields.gpu_id != client_->gpu_id())
            throw error(errc::wrong_device, "register cudaMalloc memory", "",
                        "open the device that owns the memory, for example with "
                        "device::from_pointer(pointer)");
        if (fields.size != chunk.capacity || fields.object_offset > object_size(fields) ||
            chunk.capacity > object_size(fields) - fields.object_offset ||
            chunk.before > fields.object_offset + chunk.offset)
            throw error(errc::unknown_layout, "read the IPC handle of cudaMalloc memory", "",
                        "this driver writes it in another way: use VMM memory with a POSIX-fd "
                        "handle type, or another backend");
    }

    gpu gpu_;
    std::shared_ptr<rm::client const> client_;
};

} // namespace

std::unique_ptr<backend> make_rm(gpu const& gpu) {
    return std::make_unique<rm_backend>(gpu);
}

} // namespace barmap::backend
