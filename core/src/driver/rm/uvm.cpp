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
        // By another thread it may have been closed since, and become another file.
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
        // Not all are CUDA's for memory: one that was never set up says so.
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

} // namespace barmap::rm
