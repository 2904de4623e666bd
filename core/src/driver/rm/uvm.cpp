// SPDX-License-Identifier: MIT
#include "driver/rm/uvm.hpp"

#include "nvidia/uvm.hpp"
#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace barmap::rm {
namespace {

constexpr char what[] = "register a channel with /dev/nvidia-uvm";

std::vector<int> open_descriptors() {
    std::vector<int> result;
    std::unique_ptr<DIR, int (*)(DIR*)> const list(::opendir("/proc/self/fd"), ::closedir);
    if (!list)
        return result;
    while (dirent const* const entry = ::readdir(list.get())) {
        int number = -1;
        char const* const end = entry->d_name + std::strlen(entry->d_name);
        if (auto const [rest, problem] = std::from_chars(entry->d_name, end, number);
            problem == std::errc{} && rest == end)
            result.push_back(number);
    }
    return result;
}

bool is_uvm(int descriptor) {
    std::array<char, 64> target{};
    std::string const path = "/proc/self/fd/" + std::to_string(descriptor);
    ssize_t const size = os::current().readlink(path.c_str(), target.data(), target.size());
    return size > 0 &&
           std::string_view(target.data(), static_cast<std::size_t>(size)) == "/dev/nvidia-uvm";
}

template <class Parameters>
void fill(Parameters& to, client const& owner, CUuuid const& gpu, abi::handle channel) {
    if constexpr (requires { to.gpu_uuid; })
        std::memcpy(to.gpu_uuid, gpu.bytes, sizeof to.gpu_uuid);
    to.client = owner.root();
    to.channel = channel;
}

template <class Parameters>
void unregister(int file, client const& owner, CUuuid const& gpu, abi::handle channel) noexcept {
    abi::roomy<Parameters> request;
    fill(request.parameters, owner, gpu, channel);
    (void)os::current().ioctl(file, uvm_abi::unregister_channel, &request);
}

} // namespace

uvm_registration::uvm_registration(client const& owner, CUuuid const& gpu, abi::handle channel,
                                   bool long_unregister)
    : owner_(owner), gpu_(gpu), channel_(channel), long_unregister_(long_unregister) {
    std::uint32_t status = abi::ok;
    bool have_seen_one = false;
    for (int const descriptor : open_descriptors()) {
        if (!is_uvm(descriptor))
            continue;
        have_seen_one = true;
        // Another thread may have closed it since, and its number may name another file.
        os::fd file;
        try {
            file = os::duplicate(descriptor);
        } catch (error const& failure) {
            if (failure.code().value() != EBADF)
                throw;
            continue;
        }
        if (!is_uvm(file.get()))
            continue;
        // Not every such file is CUDA's for memory: one that was never set up refuses this.
        abi::roomy<uvm_abi::register_channel_parameters> request;
        fill(request.parameters, owner, gpu, channel);
        request.parameters.control_fd = owner.control_fd();
        if (os::current().ioctl(file.get(), uvm_abi::register_channel, &request) != 0)
            continue;
        status = request.parameters.status;
        if (status == abi::ok) {
            file_ = std::move(file);
            return;
        }
    }
    if (status != abi::ok)
        client::expect_ok(status, what);
    throw error(errc::backend_absent, what, "",
                have_seen_one ? "the driver's version may be unknown to this barmap"
                              : "CUDA has not opened it in this process");
}

uvm_registration::~uvm_registration() {
    if (!owner_.in_own_process())
        return;
    if (long_unregister_)
        unregister<uvm_abi::unregister_channel_parameters_535>(file_.get(), owner_, gpu_, channel_);
    else
        unregister<uvm_abi::unregister_channel_parameters>(file_.get(), owner_, gpu_, channel_);
}

namespace {

constexpr std::size_t page_of_gpu = std::size_t{64} << 10;
constexpr char mapping_it[] = "map the doorbell for kernels";

/// Makes an ioctl and returns its status. @throws error if it fails
template <class Request>
std::uint32_t answer(int file, unsigned long command, Request& request,
                     std::uint32_t const& status) {
    if (os::current().ioctl(file, command, &request) != 0)
        throw error({errno, std::system_category()}, mapping_it, "",
                    "the driver's version may be unknown to this barmap");
    return status;
}

template <class Parameters>
void free_range(int file, std::uint64_t base, std::size_t bytes) noexcept {
    abi::roomy<Parameters> request;
    request.parameters.base = base;
    if constexpr (requires { request.parameters.length; })
        request.parameters.length = bytes;
    (void)os::current().ioctl(file, uvm_abi::free_range, &request);
}

void free_range(int file, bool long_free, std::uint64_t base, std::size_t bytes) noexcept {
    if (long_free)
        free_range<uvm_abi::free_range_parameters_535>(file, base, bytes);
    else
        free_range<uvm_abi::free_range_parameters>(file, base, bytes);
}

/// Maps the object in a range that is there. @return the NV_STATUS
template <class Parameters>
std::uint32_t map_object(int file, client const& owner, CUuuid const& gpu, abi::handle object,
                         std::uint64_t base, std::size_t bytes) {
    auto const request = std::make_unique<abi::roomy<Parameters>>();
    Parameters& asked = request->parameters;
    asked.base = base;
    asked.length = bytes;
    std::memcpy(asked.gpus[0].gpu_uuid, gpu.bytes, sizeof gpu.bytes);
    asked.gpu_count = 1;
    asked.control_fd = owner.control_fd();
    asked.client = owner.root();
    asked.memory = object;
    asked.status = abi::err_not_supported; // stays if the driver writes its status elsewhere
    return answer(file, uvm_abi::map_external_allocation, *request, asked.status);
}

} // namespace

uvm_mapping::uvm_mapping(client const& owner, uvm_registration const& by, CUuuid const& gpu,
                         abi::handle object, std::size_t bytes, driver_series const& series)
    : owner_(owner), bytes_(bytes), long_free_(series.long_free_range()),
      reserved_(os::region::reserve(bytes + page_of_gpu)), file_(os::duplicate(by.file())) {
    std::uint64_t const first = reinterpret_cast<std::uintptr_t>(reserved_.data());
    address_ = (first + page_of_gpu - 1) / page_of_gpu * page_of_gpu;
    abi::roomy<uvm_abi::create_external_range_parameters> range;
    range.parameters.base = address_;
    range.parameters.length = bytes;
    client::expect_ok(
        answer(file_.get(), uvm_abi::create_external_range, range, range.parameters.status),
        mapping_it);
    try {
        client::expect_ok(series.long_map_external()
                              ? map_object<uvm_abi::map_external_allocation_parameters>(
                                    file_.get(), owner, gpu, object, address_, bytes)
                              : map_object<uvm_abi::map_external_allocation_parameters_535>(
                                    file_.get(), owner, gpu, object, address_, bytes),
                          mapping_it);
    } catch (...) {
        free_range(file_.get(), long_free_, address_, bytes);
        throw;
    }
}

uvm_mapping::~uvm_mapping() {
    if (owner_.in_own_process())
        free_range(file_.get(), long_free_, address_, bytes_);
}

} // namespace barmap::rm
