// SPDX-License-Identifier: MIT
#include "map/backend.hpp"
#include "map/gdrdrv/open_module.hpp"
#include "map/pages.hpp"
#include "map/shared_view.hpp"
#include "system/region.hpp"

#include <algorithm>
#include <optional>
#include <utility>

/// Through NVIDIA's gdrdrv kernel module, where an administrator has loaded it.
namespace barmap::backend {
namespace {

using gdrdrv::open_module;

/// A range of whole GPU pages.
struct pages {
    CUdeviceptr start;
    std::size_t bytes;
};

/// One pinned range of whole GPU pages.
class handle {
public:
    handle(std::shared_ptr<open_module const> owner, CUdeviceptr start, std::size_t bytes,
           pin_options const& request)
        : owner_(std::move(owner)), value_(owner_->pin(start, bytes, request)) {}
    handle(handle&&) noexcept = default; // leaves no owner behind
    handle& operator=(handle&&) = delete;
    ~handle() {
        if (owner_)
            owner_->unpin(value_);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::shared_ptr<open_module const> owner_;
    std::uint64_t value_;
};

/// The handles' memory as one range.
class gdrdrv_mapped final : public mapped {
public:
    gdrdrv_mapped(open_module const& owner, std::vector<handle> const& handles,
                  page_layout const& layout, std::optional<cache_kind> wanted,
                  std::shared_ptr<os::region> into)
        : region_(std::move(into)) {
        for (handle const& each : handles)
            owner.request(each.value(), wanted);
        // The file offset names the handle; a mapping always starts at the handle's first page.
        for (page_run const& piece : layout.pieces)
            region_->place(piece.at, piece.length, owner.fd(),
                           static_cast<off_t>(handles[piece.object].value() * os::page_size()));
        data = region_->data() + layout.head;
        kind = owner.kind(handles.front().value());
    }
    std::shared_ptr<os::region> addresses() const noexcept override { return region_; }

private:
    std::shared_ptr<os::region> region_;
};

class gdrdrv_pinned final : public pinned {
public:
    /// @param owner with events, a separate descriptor, so that all events on it belong to this
    ///        pin
    gdrdrv_pinned(std::shared_ptr<open_module const> owner, std::vector<pages> const& ranges,
                  page_layout layout, pin_options const& request)
        : owner_(std::move(owner)), layout_(std::move(layout)), has_events_(request.events) {
        for (pages const& range : ranges)
            handles_.emplace_back(owner_, range.start, range.bytes, request);
    }

    std::unique_ptr<mapped> map(std::optional<cache_kind> wanted,
                                std::shared_ptr<os::region> into) override {
        return view_.map([&] {
            return std::make_unique<gdrdrv_mapped>(*owner_, handles_, layout_, wanted,
                                                   or_anywhere(std::move(into), layout_.total));
        });
    }
    bool revoked() override {
        return std::any_of(handles_.begin(), handles_.end(), [this](handle const& each) {
            return owner_->callback_flag(each.value());
        });
    }
    int event_fd() const noexcept override { return has_events_ ? owner_->fd() : -1; }
    std::optional<pin_event> next_event() override { return owner_->next_event(); }

private:
    std::shared_ptr<open_module const> owner_;
    page_layout layout_;
    bool has_events_;
    std::vector<handle> handles_; // in use until the view is gone
    // Shared, since the module maps a handle once at a time (gdrdrv_mmap returns EINVAL for the
    // second). Pinning the addresses again would reach whatever lies there
    // by then: after cuMemFree that is other memory.
    shared_view view_;
};

class gdrdrv_backend final : public backend {
public:
    capability_set capabilities() const noexcept override {
        capability_set result;
        result.needs_kernel_driver = true;
        result.registers =
            kinds(memory_kind::device, memory_kind::virtual_exportable, memory_kind::virtual_opaque,
                  memory_kind::pool, memory_kind::pool_exportable);
        return result;
    }

    void start() override {
        try {
            module_ = std::make_shared<open_module>();
        } catch (error const& failure) {
            if (failure.code() != std::errc::no_such_file_or_directory &&
                failure.code() != std::errc::no_such_device_or_address &&
                failure.code() != std::errc::no_such_device)
                throw;
            throw error(errc::backend_absent, "open /dev/gdrdrv", "",
                        "the kernel module gdrdrv is not loaded: load it if no other backend is "
                        "usable");
        }
    }

    backend_properties properties() const override { return module_->properties(); }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_options const& request) override {
        std::vector<pages> ranges;
        std::vector<part> parts;
        for (cuda::allocation_part const& chunk : memory.chunks) {
            CUdeviceptr const first = chunk.start();
            CUdeviceptr const start = first / gpu_page_size * gpu_page_size;
            CUdeviceptr const end =
                (first + chunk.extent() + gpu_page_size - 1) / gpu_page_size * gpu_page_size;
            ranges.push_back({start, end - start});
            parts.push_back({first - start, chunk.extent()});
        }
        // Pages of 64 KiB, so that every piece starts where its handle starts.
        page_layout layout = lay_out(parts, gpu_page_size);
        return std::make_unique<gdrdrv_pinned>(request.events ? std::make_shared<open_module>()
                                                              : module_,
                                               ranges, std::move(layout), request);
    }

private:
    std::shared_ptr<open_module const> module_;
};

} // namespace

std::unique_ptr<backend> make_gdrdrv(gpu const&) {
    return std::make_unique<gdrdrv_backend>();
}

} // namespace barmap::backend
