// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "backend/gdrdrv/abi.hpp"
#include "backend/pages.hpp"
#include "os/calls.hpp"
#include "os/fd.hpp"
#include "os/region.hpp"

#include <algorithm>
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

    [[nodiscard]] std::uint64_t pin(CUdeviceptr address, std::size_t bytes,
                                    pin_request const& asked) const {
        constexpr char what[] = "pin GPU memory";
        constexpr char advice[] = "the kernel log (dmesg) has gdrdrv's reason; the memory must be "
                                  "capable of GPUDirect RDMA and fit into BAR1";
        if (version_ >= abi::version_with_pin_v2) {
            std::uint32_t const flags = asked.force_pcie ? abi::pin_flag_force_pcie : 0;
            abi::pin_v2_parameters request{address, bytes, flags, 0, 0};
            call(abi::pin_v2, request, what, advice);
            return request.handle;
        }
        abi::pin_parameters request{address, bytes, asked.p2p_token, asked.va_space, 0};
        call(abi::pin, request, what, advice);
        return request.handle;
    }

    void unpin(std::uint64_t handle) const noexcept {
        abi::unpin_parameters request{handle};
        if (in_own_process())
            os::current().ioctl(fd_.get(), abi::unpin, &request);
    }

    /// What the module says of itself. Versions before 2.5 cannot be asked: they had no persistent
    /// mappings and no flag.
    [[nodiscard]] traits about() const {
        module_version const version{static_cast<int>(version_ >> 16),
                                     static_cast<int>(version_ & 0xffff)};
        return {version, attribute(abi::attribute_persistent),
                attribute(abi::attribute_force_pcie)};
    }

    [[nodiscard]] bool callback_flag(std::uint64_t handle) const {
        abi::callback_flag_parameters request{handle, 0};
        call(abi::get_callback_flag, request, "ask whether memory was taken away",
             "see the kernel log (dmesg)");
        return request.flag != 0;
    }

    /// How the next mapping of the handle shall be cached.
    void request(std::uint64_t handle, std::optional<cache_kind> wanted) const {
        if (version_ < abi::version_with_requests)
            return; // one way only; the core compares it with what was wanted
        abi::mapping_type const type = !wanted ? abi::mapping_type::none
                                       : *wanted == cache_kind::cached ? abi::mapping_type::caching
                                       : *wanted == cache_kind::device
                                           ? abi::mapping_type::device
                                           : abi::mapping_type::write_combining;
        abi::mapping_type_parameters request{handle, static_cast<std::uint32_t>(type)};
        call(abi::request_mapping_type, request, "choose how a mapping is cached",
             "this memory cannot be mapped in this way: let the module choose");
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
    /// An attribute that the module does not know is 0.
    [[nodiscard]] bool attribute(std::uint32_t which) const {
        if (version_ < abi::version_with_attributes)
            return false;
        abi::attribute_parameters request{which, 0};
        return os::current().ioctl(fd_.get(), abi::get_attribute, &request) == 0 &&
               request.value != 0;
    }

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
    handle(std::shared_ptr<kernel_module const> owner, CUdeviceptr start, std::size_t bytes,
           pin_request const& request)
        : owner_(std::move(owner)), value_(owner_->pin(start, bytes, request)) {}
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
    view(kernel_module const& owner, std::vector<handle> const& handles, page_layout const& layout,
         std::optional<cache_kind> wanted)
        : region_(os::region::reserve(layout.total, name)), data_(region_.data() + layout.head) {
        for (handle const& each : handles)
            owner.request(each.value(), wanted);
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
                  page_layout layout, pin_request const& request)
        : owner_(std::move(owner)), layout_(std::move(layout)) {
        for (pages const& range : ranges)
            handles_.emplace_back(owner_, range.start, range.bytes, request);
    }

    std::unique_ptr<mapped> map(std::optional<cache_kind> wanted) override;
    bool taken_away() override {
        return std::any_of(handles_.begin(), handles_.end(), [this](handle const& each) {
            return owner_->callback_flag(each.value());
        });
    }

private:
    class shared_mapped;
    view const& enter(std::optional<cache_kind> wanted);
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
    shared_mapped(gdrdrv_pinned& owner, std::optional<cache_kind> wanted) : owner_(owner) {
        view const& shared = owner.enter(wanted);
        data = shared.data();
        kind = shared.kind();
    }
    shared_mapped(shared_mapped const&) = delete;
    shared_mapped& operator=(shared_mapped const&) = delete;
    ~shared_mapped() override { owner_.leave(); }

private:
    gdrdrv_pinned& owner_;
};

std::unique_ptr<mapped> gdrdrv_pinned::map(std::optional<cache_kind> wanted) {
    return std::make_unique<shared_mapped>(*this, wanted);
}

view const& gdrdrv_pinned::enter(std::optional<cache_kind> wanted) {
    std::lock_guard const guard(lock_);
    if (!view_)
        view_.emplace(*owner_, handles_, layout_, wanted);
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

    traits about() const override { return module_->about(); }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_request const& request) override {
        std::vector<pages> ranges;
        std::vector<part> parts;
        for (cuda::chunk const& chunk : memory.chunks) {
            CUdeviceptr const first = chunk.start();
            CUdeviceptr const start = first / gpu_page_size * gpu_page_size;
            CUdeviceptr const end = (first + chunk.extent() + gpu_page_size - 1) /
                                    gpu_page_size * gpu_page_size;
            ranges.push_back({start, end - start});
            parts.push_back({first - start, chunk.extent()});
        }
        // Pages of 64 KiB, so that every piece starts where its handle starts.
        page_layout layout = lay_out(parts, gpu_page_size, name);
        return std::make_unique<gdrdrv_pinned>(module_, ranges, std::move(layout), request);
    }

private:
    std::shared_ptr<kernel_module const> module_;
};

} // namespace

std::unique_ptr<backend> make_gdrdrv(gpu const&) {
    return std::make_unique<gdrdrv_backend>();
}

} // namespace barmap::backend
