// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "backend/gdrdrv/abi.hpp"
#include "backend/pages.hpp"
#include "os/calls.hpp"
#include "os/fd.hpp"
#include "os/region.hpp"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

/// Through NVIDIA's gdrdrv kernel module, where an administrator has loaded it.
namespace barmap::backend {
namespace {

namespace abi = gdrdrv::abi;
constexpr std::string_view name = "gdrdrv";
constexpr char path[] = "/dev/gdrdrv";

/// The open module. Its pins go with the last descriptor at the latest. A forked child shares the
/// descriptor, so there destructors only close.
class kernel_module {
public:
    kernel_module() : fd_(os::open_file(path, O_RDWR, name)), owner_(::getpid()) {
        abi::version_parameters version{};
        call(abi::get_version, version, "read the module's version",
             "reload the module: this /dev/gdrdrv does not speak its ioctls");
        version_ = version.driver;
        if (version_ < abi::oldest_version || version_ >> 16 > abi::newest_major)
            throw error(errc::unknown_layout,
                        "use gdrdrv " + std::to_string(version_ >> 16) + "." +
                            std::to_string(version_ & 0xffff),
                        std::string(name), "versions 2.0 to 2.6 are known to this barmap");
    }

    template <class Parameters>
    void call(unsigned long request, Parameters& parameters, char const* what,
              char const* advice) const {
        if (os::current().ioctl(fd_.get(), request, &parameters) != 0) {
            int const code = errno;
            throw error({code, std::system_category()}, what, std::string(name), advice);
        }
    }

    [[nodiscard]] std::uint64_t pin(CUdeviceptr address, std::size_t bytes) const {
        constexpr char what[] = "pin GPU memory";
        constexpr char advice[] = "the kernel log (dmesg) has gdrdrv's reason; the memory must be "
                                  "capable of GPUDirect RDMA and fit into BAR1";
        if (version_ >= abi::version_with_pin_v2) {
            abi::pin_v2_parameters request{address, bytes, 0, 0, 0};
            call(abi::pin_v2, request, what, advice);
            return request.handle;
        }
        abi::pin_parameters request{address, bytes, 0, 0, 0};
        call(abi::pin, request, what, advice);
        return request.handle;
    }

    void unpin(std::uint64_t handle) const noexcept {
        abi::unpin_parameters request{handle};
        if (in_own_process())
            os::current().ioctl(fd_.get(), abi::unpin, &request);
    }

    /// How a mapped handle is cached.
    [[nodiscard]] cache_kind kind(std::uint64_t handle) const {
        constexpr char what[] = "ask how a mapping is cached";
        if (version_ >= abi::version_with_info_v2) {
            abi::info_v2_parameters info{};
            info.handle = handle;
            call(abi::get_info_v2, info, what, "see the kernel log (dmesg)");
            switch (static_cast<abi::mapping_type>(info.mapping)) {
            case abi::mapping_type::caching:
                return cache_kind::cached;
            case abi::mapping_type::device:
                return cache_kind::device;
            default:
                return cache_kind::write_combining;
            }
        }
        abi::info_parameters info{};
        info.handle = handle;
        call(abi::get_info, info, what, "see the kernel log (dmesg)");
        return info.write_combining ? cache_kind::write_combining : cache_kind::cached;
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] bool in_own_process() const noexcept { return os::is_this_process(owner_); }

private:
    os::fd fd_;
    pid_t owner_;
    std::uint32_t version_ = 0;
};

/// A range of whole GPU pages.
struct pages {
    CUdeviceptr start;
    std::size_t bytes;
};

/// One pinned range of whole GPU pages.
class handle {
public:
    handle(std::shared_ptr<kernel_module const> owner, CUdeviceptr start, std::size_t bytes)
        : owner_(std::move(owner)), value_(owner_->pin(start, bytes)) {}
    handle(handle&& other) noexcept
        : owner_(std::move(other.owner_)), value_(std::exchange(other.value_, 0)) {}
    handle& operator=(handle&&) = delete;
    ~handle() {
        if (owner_)
            owner_->unpin(value_);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::shared_ptr<kernel_module const> owner_;
    std::uint64_t value_;
};

/// The handles side by side in the address space.
class view {
public:
    view(kernel_module const& owner, std::vector<handle> const& handles, page_layout const& layout)
        : region_(os::region::reserve(layout.total, name)), data_(region_.data() + layout.head) {
        // The file offset names the handle; a mapping always starts at the handle's first page.
        for (piece const& piece : layout.pieces)
            region_.place(piece.at, piece.length, owner.fd(),
                          static_cast<off_t>(handles[piece.object].value() * os::page_size()),
                          name);
        kind_ = owner.kind(handles.front().value());
    }

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] cache_kind kind() const noexcept { return kind_; }

private:
    os::region region_;
    std::byte* data_;
    cache_kind kind_ = cache_kind::write_combining;
};

class gdrdrv_pinned final : public pinned {
public:
    gdrdrv_pinned(std::shared_ptr<kernel_module const> owner, std::vector<pages> const& ranges,
                  page_layout layout)
        : owner_(std::move(owner)), layout_(std::move(layout)) {
        for (pages const& range : ranges)
            handles_.emplace_back(owner_, range.start, range.bytes);
    }

    std::unique_ptr<mapped> map() override;

private:
    class shared_mapped;
    view const& enter();
    void leave() noexcept;

    std::shared_ptr<kernel_module const> owner_;
    page_layout layout_;
    std::vector<handle> handles_; // in use until the view is gone
    // All mappings share one view, since the module maps a handle once at a time (gdrdrv_mmap
    // answers EINVAL for the second). Pinning the addresses again would reach whatever lies there
    // by then: after cuMemFree that is other memory.
    std::mutex lock_;
    unsigned users_ = 0;
    std::optional<view> view_;
};

class gdrdrv_pinned::shared_mapped final : public mapped {
public:
    explicit shared_mapped(gdrdrv_pinned& owner) : owner_(owner) {
        view const& shared = owner.enter();
        data = shared.data();
        kind = shared.kind();
    }
    shared_mapped(shared_mapped const&) = delete;
    shared_mapped& operator=(shared_mapped const&) = delete;
    ~shared_mapped() override { owner_.leave(); }

private:
    gdrdrv_pinned& owner_;
};

std::unique_ptr<mapped> gdrdrv_pinned::map() {
    return std::make_unique<shared_mapped>(*this);
}

view const& gdrdrv_pinned::enter() {
    std::lock_guard const guard(lock_);
    if (!view_)
        view_.emplace(*owner_, handles_, layout_);
    ++users_;
    return *view_;
}

void gdrdrv_pinned::leave() noexcept {
    if (!owner_->in_own_process()) // another thread may have held the lock at the fork
        return;
    std::lock_guard const guard(lock_);
    if (--users_ == 0)
        view_.reset(); // under the lock, so that it is unmapped before it is mapped again
}

class gdrdrv_backend final : public backend {
public:
    capabilities can() const noexcept override {
        capabilities result;
        result.needs_kernel_driver = true;
        result.adopts =
            adopting(memory_kind::device, memory_kind::virtual_exportable,
                     memory_kind::virtual_opaque, memory_kind::pool, memory_kind::pool_exportable);
        return result;
    }

    void start() override {
        try {
            module_ = std::make_shared<kernel_module>();
        } catch (error const& failure) {
            if (failure.code() != std::errc::no_such_file_or_directory &&
                failure.code() != std::errc::no_such_device_or_address &&
                failure.code() != std::errc::no_such_device)
                throw;
            throw error(errc::backend_absent, "open /dev/gdrdrv", std::string(name),
                        "the kernel module gdrdrv is not loaded; nothing needs to be done, the "
                        "other backends need no module");
        }
    }

    std::unique_ptr<pinned> pin(cuda::memory const& memory) override {
        std::vector<pages> ranges;
        std::vector<part> parts;
        for (cuda::chunk const& chunk : memory.chunks) {
            CUdeviceptr const first = chunk.base + chunk.offset;
            CUdeviceptr const start = first / abi::gpu_page_size * abi::gpu_page_size;
            CUdeviceptr const end = (first + chunk.length + abi::gpu_page_size - 1) /
                                    abi::gpu_page_size * abi::gpu_page_size;
            ranges.push_back({start, end - start});
            parts.push_back({first - start, chunk.length});
        }
        // Pages of 64 KiB, so that every piece starts where its handle starts.
        page_layout layout = lay_out(parts, abi::gpu_page_size, name);
        return std::make_unique<gdrdrv_pinned>(module_, ranges, std::move(layout));
    }

private:
    std::shared_ptr<kernel_module const> module_;
};

} // namespace

std::unique_ptr<backend> make_gdrdrv(gpu const&) {
    return std::make_unique<gdrdrv_backend>();
}

} // namespace barmap::backend
