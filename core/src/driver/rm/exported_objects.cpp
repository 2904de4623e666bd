// SPDX-License-Identifier: MIT
#include "driver/rm/exported_objects.hpp"

#include "base/library_ioctls.hpp"
#include "base/log_lines.hpp"
#include "cuda/driver_api.hpp"
#include "system/fd.hpp"

#include <barmap/error.hpp>

#include <algorithm>

namespace barmap::rm {
namespace {

/// Takes the one ioctl by which libcuda exports a dma-buf.
class export_reader final : public os::library_ioctls::watcher {
public:
    bool answers(unsigned long request, void* argument) noexcept override {
        request = static_cast<std::uint32_t>(request); // a caller may have it as an int
        if (request == abi::request<abi::export_to_dma_buf_parameters>(esc))
            return take(*static_cast<abi::export_to_dma_buf_parameters*>(argument));
        if (request == abi::request<abi::export_to_dma_buf_parameters_535>(esc))
            return take(*static_cast<abi::export_to_dma_buf_parameters_535*>(argument));
        return false;
    }
    [[nodiscard]] std::optional<exported_objects> result() const {
        if (count_ == 0)
            return std::nullopt;
        exported_objects result{client_, in_all_, {}};
        for (std::uint32_t i = 0; i < count_; ++i)
            result.parts.push_back({handles_[i], offsets_[i], sizes_[i]});
        return result;
    }

private:
    static constexpr unsigned esc = abi::esc_export_to_dma_buf_fd;

    // Allocates nothing: libcuda holds locks.
    template <class Parameters>
    bool take(Parameters& told) noexcept {
        if (told.index == 0 && count_ == 0) {
            client_ = told.client;
            in_all_ = told.total_objects;
            count_ = std::min(told.objects, abi::export_max_objects);
            std::copy_n(told.handles, count_, handles_);
            std::copy_n(told.offsets, count_, offsets_);
            std::copy_n(told.sizes, count_, sizes_);
        }
        told.status = abi::err_invalid_argument; // libcuda then gives up
        return true;
    }

    abi::handle client_ = 0;
    std::uint32_t in_all_ = 0, count_ = 0;
    abi::handle handles_[abi::export_max_objects];
    std::uint64_t offsets_[abi::export_max_objects], sizes_[abi::export_max_objects];
};

/// libcuda's, or nothing where it makes its system calls in an unknown way.
os::library_ioctls const* ioctls_of_cuda() {
    static os::library_ioctls const* const instance = []() -> os::library_ioctls const* {
        try {
            return new os::library_ioctls(cuda::api().library);
        } catch (error const& failure) {
            if (failure.code() == errc::backend_absent)
                return nullptr;
            throw;
        }
    }();
    return instance;
}

void export_range(CUdeviceptr from, std::size_t bytes) {
    int descriptor = -1;
    CUresult const result = cuda::api().mem_get_handle_for_address_range(
        &descriptor, from, bytes, cuda::range_handle_dma_buf_fd, 0);
    if (result == cuda::success) // by a call that is not known here
        os::fd{descriptor};
}

} // namespace

std::optional<exported_objects> exported_objects::of(CUdeviceptr from, std::size_t bytes) {
    os::library_ioctls const* const ioctls = ioctls_of_cuda();
    if (!ioctls)
        return std::nullopt;
    // Another copy of this library in the process may take a question's ioctl away.
    constexpr int most_tries = 3;
    for (int i = 0; i < most_tries; ++i) {
        export_reader reader;
        try {
            ioctls->watch(reader, [&] { export_range(from, bytes); });
        } catch (error const& failure) {
            log::info(failure.what());
            return std::nullopt;
        }
        if (auto result = reader.result())
            return result;
    }
    return std::nullopt;
}

} // namespace barmap::rm
