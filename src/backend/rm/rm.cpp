// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "backend/pages.hpp"
#include "backend/rm/client.hpp"
#include "backend/rm/ipc_handle.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "os/region.hpp"

#include <list>
#include <unistd.h>
#include <utility>

/// Through the resource manager of NVIDIA's stock driver: the memory's RM object is duplicated or
/// imported into a client of our own and mapped through BAR1. No kernel module, no privilege.
namespace barmap::backend {
namespace {

using rm::name;

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
    rm_mapped(std::vector<memory_object> const& objects, page_layout const& layout)
        : region_(os::region::for_files(layout.total)) {
        for (piece const& piece : layout.pieces) {
            memory_object const& object = objects[piece.object];
            rm::client::view& view = views_.emplace_back(object.client(), object.handle(),
                                                         piece.file_offset, piece.length);
            region_.place(piece.at, piece.length, view.fd(), 0, name);
        }
        data = region_.data() + layout.head;
        kind = cache_kind::write_combining;
    }

private:
    std::list<rm::client::view> views_; // a view does not move; the region goes before them
    os::region region_;
};

class rm_pinned final : public pinned {
public:
    rm_pinned(std::vector<memory_object> objects, page_layout layout)
        : objects_(std::move(objects)), layout_(std::move(layout)) {}
    std::unique_ptr<mapped> map(std::optional<cache_kind>) override {
        return std::make_unique<rm_mapped>(objects_, layout_);
    }

private:
    std::vector<memory_object> objects_;
    page_layout layout_;
};

class rm_backend final : public backend {
public:
    explicit rm_backend(gpu const& gpu) : gpu_(gpu) {}

    capabilities can() const noexcept override {
        capabilities result;
        result.needs_kernel_driver = true;
        result.adopts =
            adopting(memory_kind::device, memory_kind::virtual_exportable, memory_kind::allocated);
        return result;
    }

    // Its mappings go through BAR1; what they would be on a coherent GPU has not been seen.
    traits about() const override { return {std::nullopt, true, !gpu_.coherent}; }

    void start() override { client_ = std::make_shared<rm::client>(gpu_); }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_request const&) override {
        std::vector<memory_object> objects;
        std::vector<part> parts;
        for (cuda::chunk const& chunk : memory.chunks) {
            if (memory.kind == memory_kind::device) {
                parts.push_back(duplicate(memory, chunk, objects));
                continue;
            }
            os::fd made;
            if (!memory.exported)
                made = cuda::export_chunk(chunk, name);
            int const descriptor = memory.exported ? memory.exported->get() : made.get();
            objects.emplace_back(client_, client_->import(descriptor));
            parts.push_back(part_of_object(chunk, 0));
        }
        return std::make_unique<rm_pinned>(std::move(objects),
                                           lay_out(parts, os::page_size(), name));
    }

    std::optional<bar1_info> bar1() override { return client_->bar1(); }

private:
    /// What is wanted of an object in which the allocation starts at `offset`. RM itself refuses
    /// what leaves the object at its end.
    static part part_of_object(cuda::chunk const& chunk, std::uint64_t offset) {
        if (chunk.before > offset + chunk.offset)
            throw error(errc::out_of_range, "map GPU pages that start before their memory object",
                        std::string(name), "pin a range that starts at a GPU page of its own");
        return {offset + chunk.offset - chunk.before, chunk.extent()};
    }

    /// Duplicates the object behind a cudaMalloc and tells which part of it the range is.
    part duplicate(cuda::memory const& memory, cuda::chunk const& chunk,
                   std::vector<memory_object>& objects) const {
        CUipcMemHandle handle{};
        {
            cuda::context_scope scope(memory.context);
            cuda::check(cuda::api().ipc_get_mem_handle(&handle, chunk.base),
                        "get the IPC handle of cudaMalloc memory",
                        "the memory may have been freed, or come from an allocator that CUDA IPC "
                        "does not support",
                        name);
        }
        rm::ipc_fields const fields = rm::parse(handle);
        check(fields, chunk);
        objects.emplace_back(client_, client_->duplicate(fields.client, fields.memory));
        return part_of_object(chunk, fields.object_offset);
    }

    /// Refuses whatever does not look exactly as it should: a wrong mapping is worse than none.
    void check(rm::ipc_fields const& fields, cuda::chunk const& chunk) const {
        constexpr std::uint64_t object_page = 4096;
        if (fields.pid != static_cast<std::uint64_t>(::getpid()))
            throw error(errc::unsupported_memory,
                        "adopt memory of process " + std::to_string(fields.pid), std::string(name),
                        std::string(cuda::advice_for(memory_kind::imported)));
        if (fields.gpu_id != client_->gpu_id())
            throw error(errc::wrong_device, "adopt cudaMalloc memory", std::string(name),
                        "open the device that owns the memory, for example with "
                        "device::from_pointer(pointer)");
        std::uint64_t const object_size = fields.object_pages * object_page;
        if (fields.size != chunk.capacity || fields.object_offset > object_size ||
            chunk.capacity > object_size - fields.object_offset ||
            chunk.after > object_size - fields.object_offset - chunk.capacity)
            throw error(errc::unknown_layout, "read the IPC handle of cudaMalloc memory",
                        std::string(name),
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
