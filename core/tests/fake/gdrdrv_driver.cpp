// SPDX-License-Identifier: MIT
#include "fake/gdrdrv_driver.hpp"

#include "fake/simulation.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"

#include <barmap/pin.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace barmap::fake {

namespace gdrdrv_abi = backend::gdrdrv::abi;

namespace {

constexpr unsigned minor_with_info_v2 = 4, minor_with_pin_v2 = 5; // gdrdrv.h
constexpr unsigned minor_with_attributes = 5, minor_with_requests = 5;

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
        std::uint64_t const size = static_cast<std::uint64_t>(about.st_size);
        std::uint64_t const in_pages = (size + gpu_page_size - 1) / gpu_page_size * gpu_page_size;
        std::uint64_t const end = found.offset + bytes;
        // GPUDirect RDMA pins whole pages, also where the object ends inside of its last one.
        if (end > in_pages ||
            (end > size && ::ftruncate(found.fd, static_cast<off_t>(in_pages)) != 0))
            return std::nullopt;
        return found;
    }
    return std::nullopt;
}

} // namespace

class gdrdrv_driver::file final : public open_file {
public:
    explicit file(gdrdrv_driver& driver) : driver_(driver) {
        driver_.files_.insert(this);
        std::array<int, 2> ends{-1, -1};
        if (tells_events() && ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0)
            std::tie(events_out_, events_in_) = std::pair(ends[0], ends[1]);
    }
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file() override {
        for (auto const& [handle, pin] : pins_)
            ::close(pin.fd);
        driver_.pins_ -= pins_.size();
        driver_.files_.erase(this);
        if (events_in_ >= 0)
            ::close(events_in_);
    }

    int descriptor() override { return events_out_; } // the library closes it

    void tell_of_pins(std::uint32_t reason) {
        for (auto pin = pins_.rbegin(); pin != pins_.rend(); ++pin)
            tell({pin->first, reason, 0, pin->second.address, pin->second.size, ++sequence_});
    }

    void take_away(std::uint64_t address) {
        for (auto& [handle, pin] : pins_)
            if (pin.address == address) {
                pin.revoked = true;
                tell({handle, static_cast<std::uint32_t>(gdrdrv_abi::event_reason::revoked), 0,
                      pin.address, pin.size, ++sequence_});
            }
    }

    void tell_half() {
        gdrdrv_abi::event const event{};
        if (events_in_ >= 0 && ::write(events_in_, &event, sizeof(event) / 2) != sizeof(event) / 2)
            refuse("an event that has no room", 0);
    }

    void tell_lost(std::uint64_t events) {
        sequence_ += events;
        tell({0, static_cast<std::uint32_t>(gdrdrv_abi::event_reason::overflow), 0, 0, events, sequence_});
    }

    int ioctl(unsigned long request, void* argument) override {
        switch (request) {
        case gdrdrv_abi::get_version:
            return version(*static_cast<gdrdrv_abi::driver_version_parameters*>(argument));
        case gdrdrv_abi::pin: {
            auto& asked = *static_cast<gdrdrv_abi::pin_parameters*>(argument);
            if (asked.handle)
                return refuse("a pin with fields that should be 0", EINVAL);
            driver_.last_token_ = asked.p2p_token;
            driver_.last_va_space_ = asked.va_space;
            return pin(asked.address, asked.size, asked.handle);
        }
        case gdrdrv_abi::pin_v2: {
            auto& asked = *static_cast<gdrdrv_abi::pin_v2_parameters*>(argument);
            if (driver_.how_.minor < minor_with_pin_v2)
                break;
            if (asked.pad || asked.handle)
                return refuse("a pin with fields that should be 0", EINVAL);
            if (asked.flags &&
                (asked.flags != gdrdrv_abi::pin_flag_force_pcie || !driver_.how_.force_pcie))
                return refuse("a pin with flags that are not offered", EINVAL);
            driver_.last_flags_ = asked.flags;
            return pin(asked.address, asked.size, asked.handle);
        }
        case gdrdrv_abi::get_callback_flag: {
            auto& asked = *static_cast<gdrdrv_abi::callback_flag_parameters*>(argument);
            auto const found = pins_.find(asked.handle);
            if (found == pins_.end())
                return refuse("a question about what is no handle", EINVAL);
            asked.flag =
                !driver_.how_.persistent && (driver_.revoked_ || found->second.revoked);
            return 0;
        }
        case gdrdrv_abi::get_attribute:
            if (driver_.how_.minor < minor_with_attributes)
                break;
            return attribute(*static_cast<gdrdrv_abi::attribute_parameters*>(argument));
        case gdrdrv_abi::get_features:
            if (!driver_.how_.events)
                break;
            return features(*static_cast<gdrdrv_abi::features_parameters*>(argument));
        case gdrdrv_abi::get_usage:
            if (!driver_.how_.events)
                break;
            return usage(*static_cast<gdrdrv_abi::usage_parameters*>(argument));
        case gdrdrv_abi::request_mapping_type:
            if (driver_.how_.minor < minor_with_requests)
                break;
            return request_type(*static_cast<gdrdrv_abi::mapping_type_parameters*>(argument));
        case gdrdrv_abi::unpin:
            return unpin(static_cast<gdrdrv_abi::unpin_parameters*>(argument)->handle);
        case gdrdrv_abi::get_info:
            return info(*static_cast<gdrdrv_abi::info_parameters*>(argument));
        case gdrdrv_abi::get_info_v2:
            if (driver_.how_.minor < minor_with_info_v2)
                break;
            return info_v2(*static_cast<gdrdrv_abi::info_v2_parameters*>(argument));
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
        return request == gdrdrv_abi::unpin;
    }

private:
    struct pinned {
        std::uint64_t address = 0, size = 0;
        int fd = -1;
        std::uint64_t offset = 0;
        std::shared_ptr<bool> mapped;
        unsigned type = 0; ///< as requested; 0: the driver's own
        bool revoked = false;
    };

    [[nodiscard]] bool tells_events() const {
        return driver_.how_.events && !driver_.how_.persistent;
    }

    void tell(gdrdrv_abi::event const& event) {
        if (events_in_ >= 0 && ::write(events_in_, &event, sizeof(event)) != sizeof(event))
            refuse("an event that has no room", 0);
    }

    int features(gdrdrv_abi::features_parameters& asked) {
        if (asked.reserved)
            return refuse("a question with fields that should be 0", EINVAL);
        asked.features = tells_events() ? gdrdrv_abi::feature_events : 0;
        asked.event_size = sizeof(gdrdrv_abi::event);
        asked.event_capacity = 256;
        return 0;
    }

    int usage(gdrdrv_abi::usage_parameters& asked) {
        if (asked.reserved)
            return refuse("a question with fields that should be 0", EINVAL);
        asked.pins = pins_.size();
        asked.user_pins = driver_.pins_;
        asked.max_user_pins = driver_.how_.max_user_pins;
        return 0;
    }

    int attribute(gdrdrv_abi::attribute_parameters& asked) const {
        switch (asked.attribute) {
        case gdrdrv_abi::attribute_persistent:
            asked.value = driver_.how_.persistent;
            return 0;
        case gdrdrv_abi::attribute_force_pcie:
            asked.value = driver_.how_.force_pcie;
            return 0;
        default:
            return EINVAL;
        }
    }

    int request_type(gdrdrv_abi::mapping_type_parameters const& asked) {
        auto const found = pins_.find(asked.handle);
        if (found == pins_.end() || *found->second.mapped || asked.mapping > 3)
            return refuse("a mapping type for what cannot have one", EINVAL);
        if (asked.mapping == 3 && driver_.how_.mapping_type != 3)
            return EINVAL; // as on x86, where nothing offers device mappings
        found->second.type = asked.mapping;
        return 0;
    }

    int refuse(std::string what, int code) {
        driver_.kernel_.violation("gdrdrv: " + std::move(what));
        return code;
    }

    int version(gdrdrv_abi::driver_version_parameters& told) const {
        told.driver = gdrdrv_abi::version(driver_.how_.major, driver_.how_.minor);
        told.minimum_api = gdrdrv_abi::version(2, 0);
        return 0;
    }

    int pin(std::uint64_t address, std::uint64_t size, std::uint64_t& handle) {
        if (address % gpu_page_size || size % gpu_page_size || size == 0)
            return refuse("a pin of parts of GPU pages", EINVAL);
        if (driver_.how_.max_user_pins && driver_.pins_ >= driver_.how_.max_user_pins)
            return EDQUOT;
        std::optional<located> const where = locate(address, size);
        if (!where)
            return refuse("a pin of what is no memory", EINVAL);
        handle = next_handle_;
        next_handle_ += size / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        pins_[handle] = {address,
                         size,
                         ::fcntl(where->fd, F_DUPFD_CLOEXEC, 0),
                         where->offset,
                         std::make_shared<bool>(false),
                         0,
                         false};
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
        info.page_size = gpu_page_size;
        return 0;
    }

    int info(gdrdrv_abi::info_parameters& info) {
        if (int const code = describe(info))
            return code;
        info.mapped = *pins_.at(info.handle).mapped;
        info.write_combining = info.mapped && driver_.how_.mapping_type == 1;
        return 0;
    }

    int info_v2(gdrdrv_abi::info_v2_parameters& info) {
        if (int const code = describe(info))
            return code;
        pinned const& pin = pins_.at(info.handle);
        unsigned const type = pin.type ? pin.type : driver_.how_.mapping_type;
        info.mapping = *pin.mapped ? type : 0;
        return 0;
    }

    gdrdrv_driver& driver_;
    std::map<std::uint64_t, pinned> pins_;
    std::uint64_t sequence_ = 0;           // of events
    int events_out_ = -1, events_in_ = -1; // the ends of a pipe; its reading end is the library's
    std::uint64_t next_handle_ = 0;        // the module's first handle is 0 as well
};

bool gdrdrv_driver::serves(std::string_view path) const {
    return path == "/dev/gdrdrv";
}

int gdrdrv_driver::open(std::string_view, std::shared_ptr<open_file>& opened) {
    opened = std::make_shared<file>(*this);
    return 0;
}

void gdrdrv_driver::take_away() {
    std::lock_guard const hold(kernel_.lock());
    revoked_ = true;
    for (file* each : files_)
        each->tell_of_pins(static_cast<std::uint32_t>(gdrdrv_abi::event_reason::revoked));
}

void gdrdrv_driver::take_away(std::uint64_t address) {
    std::lock_guard const hold(kernel_.lock());
    for (file* each : files_)
        each->take_away(address);
}

void gdrdrv_driver::tell_unknown() {
    std::lock_guard const hold(kernel_.lock());
    for (file* each : files_)
        each->tell_of_pins(static_cast<std::uint32_t>(gdrdrv_abi::event_reason::overflow) + 1);
}

void gdrdrv_driver::tell_half() {
    std::lock_guard const hold(kernel_.lock());
    for (file* each : files_)
        each->tell_half();
}

void gdrdrv_driver::lose(std::uint64_t events) {
    std::lock_guard const hold(kernel_.lock());
    for (file* each : files_)
        each->tell_lost(events);
}

std::uint64_t gdrdrv_driver::last_token() const {
    std::lock_guard const hold(kernel_.lock());
    return last_token_;
}

std::uint32_t gdrdrv_driver::last_va_space() const {
    std::lock_guard const hold(kernel_.lock());
    return last_va_space_;
}

std::uint32_t gdrdrv_driver::last_flags() const {
    std::lock_guard const hold(kernel_.lock());
    return last_flags_;
}

std::size_t gdrdrv_driver::objects() const {
    std::lock_guard const hold(kernel_.lock());
    return pins_;
}

} // namespace barmap::fake
