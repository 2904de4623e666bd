// SPDX-License-Identifier: MIT
#include "fake/gdrdrv_driver.hpp"

#include "backend/gdrdrv/abi.hpp"
#include "fake/simulation.hpp"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace barmap::fake {

namespace abi = backend::gdrdrv::abi;

namespace {

constexpr unsigned minor_with_info_v2 = 4, minor_with_pin_v2 = 5; // gdrdrv.h

/// Where a range of whole GPU pages lies in a file of the simulated GPU.
struct located {
    int fd; ///< borrowed
    std::uint64_t offset;
};

// The range may start before the allocation that it was rounded out from, so the first address in
// it that is live tells where all of it lies: small allocations share a backing object.
std::optional<located> locate(std::uint64_t start, std::uint64_t bytes) {
    constexpr std::uint64_t smallest_allocation = 256;
    for (std::uint64_t inside = 0; inside < bytes; inside += smallest_allocation) {
        located found{-1, 0};
        if (the_simulation().address(start + inside, &found.fd, &found.offset, nullptr, nullptr))
            continue;
        struct stat about {};
        if (inside > found.offset || ::fstat(found.fd, &about) != 0)
            return std::nullopt;
        found.offset -= inside;
        if (found.offset + bytes > static_cast<std::uint64_t>(about.st_size))
            return std::nullopt;
        return found;
    }
    return std::nullopt;
}

} // namespace

class gdrdrv_driver::file final : public open_file {
public:
    explicit file(gdrdrv_driver& driver) : driver_(driver) {}
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file() override {
        for (auto const& [handle, pin] : pins_)
            ::close(pin.fd);
        driver_.pins_ -= pins_.size();
    }

    int ioctl(unsigned long request, void* argument) override {
        switch (request) {
        case abi::get_version:
            return version(*static_cast<abi::version_parameters*>(argument));
        case abi::pin: {
            auto& asked = *static_cast<abi::pin_parameters*>(argument);
            if (asked.p2p_token || asked.va_space || asked.handle)
                return refuse("a pin with fields that should be 0", EINVAL);
            return pin(asked.address, asked.size, asked.handle);
        }
        case abi::pin_v2: {
            auto& asked = *static_cast<abi::pin_v2_parameters*>(argument);
            if (driver_.how_.minor < minor_with_pin_v2)
                break;
            if (asked.flags || asked.pad || asked.handle)
                return refuse("a pin with fields that should be 0", EINVAL);
            return pin(asked.address, asked.size, asked.handle);
        }
        case abi::unpin:
            return unpin(static_cast<abi::unpin_parameters*>(argument)->handle);
        case abi::get_info:
            return info(*static_cast<abi::info_parameters*>(argument));
        case abi::get_info_v2:
            if (driver_.how_.minor < minor_with_info_v2)
                break;
            return info_v2(*static_cast<abi::info_v2_parameters*>(argument));
        default:
            break;
        }
        return refuse("this version does not know ioctl " + std::to_string(request), ENOTTY);
    }

    // The offset names the handle; a mapping starts at the handle's first byte.
    int map(std::size_t bytes, off_t offset, placement& where) override {
        auto const page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        auto const found = pins_.find(static_cast<std::uint64_t>(offset) / page);
        if (found == pins_.end())
            return refuse("mmap of what is no handle", EINVAL);
        pinned& pin = found->second;
        if (*pin.mapped)
            return refuse("mmap of a handle that is mapped already", EINVAL);
        if (bytes > pin.size)
            return refuse("mmap of more than was pinned", EINVAL);
        where.fd = pin.fd;
        where.offset = static_cast<off_t>(pin.offset);
        *pin.mapped = true;
        where.hold = {nullptr, [mapped = pin.mapped](void*) { *mapped = false; }};
        return 0;
    }

    [[nodiscard]] bool gives_back(unsigned long request) const override {
        return request == abi::unpin;
    }

private:
    struct pinned {
        std::uint64_t address = 0, size = 0;
        int fd = -1;
        std::uint64_t offset = 0;
        std::shared_ptr<bool> mapped;
    };

    int refuse(std::string what, int code) {
        driver_.kernel_.violation("gdrdrv: " + std::move(what));
        return code;
    }

    int version(abi::version_parameters& told) const {
        told.driver = abi::version(driver_.how_.major, driver_.how_.minor);
        told.minimum_api = abi::version(2, 0);
        return 0;
    }

    int pin(std::uint64_t address, std::uint64_t size, std::uint64_t& handle) {
        if (address % abi::gpu_page_size || size % abi::gpu_page_size || size == 0)
            return refuse("a pin of parts of GPU pages", EINVAL);
        std::optional<located> const where = locate(address, size);
        if (!where)
            return refuse("a pin of what is no memory", EINVAL);
        handle = next_handle_;
        next_handle_ += size / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        pins_[handle] = {address, size, ::fcntl(where->fd, F_DUPFD_CLOEXEC, 0), where->offset,
                         std::make_shared<bool>(false)};
        ++driver_.pins_;
        return 0;
    }

    int unpin(std::uint64_t handle) {
        auto const found = pins_.find(handle);
        if (found == pins_.end())
            return refuse("unpinning of what is no handle", EINVAL);
        if (*found->second.mapped)
            refuse("unpinning of what is still mapped", 0);
        ::close(found->second.fd);
        pins_.erase(found);
        --driver_.pins_;
        return 0;
    }

    template <class Info>
    int describe(Info& info) {
        auto const found = pins_.find(info.handle);
        if (found == pins_.end())
            return refuse("a question about what is no handle", EINVAL);
        info.va = found->second.address;
        info.mapped_size = found->second.size;
        info.page_size = abi::gpu_page_size;
        return 0;
    }

    int info(abi::info_parameters& info) {
        if (int const code = describe(info))
            return code;
        info.mapped = *pins_.at(info.handle).mapped;
        info.write_combining = info.mapped && driver_.how_.mapping_type == 1;
        return 0;
    }

    int info_v2(abi::info_v2_parameters& info) {
        if (int const code = describe(info))
            return code;
        info.mapping = *pins_.at(info.handle).mapped ? driver_.how_.mapping_type : 0;
        return 0;
    }

    gdrdrv_driver& driver_;
    std::map<std::uint64_t, pinned> pins_;
    std::uint64_t next_handle_ = 0; // the module's first handle is 0 as well
};

bool gdrdrv_driver::serves(std::string_view path) const {
    return path == "/dev/gdrdrv";
}

int gdrdrv_driver::open(std::string_view, std::shared_ptr<open_file>& opened) {
    opened = std::make_shared<file>(*this);
    return 0;
}

std::size_t gdrdrv_driver::pins() const {
    std::lock_guard const hold(kernel_.lock());
    return pins_;
}

} // namespace barmap::fake
