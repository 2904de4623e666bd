// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "backend/pages.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "os/fd.hpp"
#include "os/region.hpp"

#include <utility>

/// Through the driver's own dma-buf export (cuMemGetHandleForAddressRange) and mmap of the dma-buf.
/// Drivers before R610 / CUDA 13.3 export the fd but refuse to mmap it (errno 524 on 580.159.04).
namespace barmap::backend {
namespace {

constexpr std::string_view name = "dmabuf";

/// Backing blocks of cudaMalloc start at multiples of this; the small allocations share them.
constexpr std::size_t block_size = std::size_t{2} << 20;

os::fd export_range(CUdeviceptr start, std::size_t bytes, bool force_pcie) {
    int descriptor = -1;
    unsigned long long const flags = force_pcie ? cuda::range_flag_dma_buf_pcie : 0;
    CUresult const exported = cuda::api().mem_get_handle_for_address_range(
        &descriptor, start, bytes, cuda::range_handle_dma_buf_fd, flags);
    constexpr char const* operation = "export a GPU address range as a dma-buf";
    if (exported != cuda::success)
        if (int const code = os::why_no_descriptor())
            throw error({code, std::system_category()}, operation, std::string(name),
                        "raise the limit of open files (ulimit -n)");
    cuda::check(exported, operation, "the memory may not be capable of GPUDirect RDMA", name);
    return os::fd(descriptor);
}

/// A dma-buf and the part of it that was asked for.
struct exported {
    os::fd descriptor;
    part wanted;
};

/// Whether another range may do; nothing else is worth a second try.
bool refuses_the_range(std::error_code const& code) {
    return code.category() == cuda_category() &&
           (code.value() == cuda::error_not_supported || code.value() == cuda::error_invalid_value);
}

/// A dma-buf covers whole pages. A driver may export from the start of a backing block only (the
/// simulated GPU does), so that is the second try.
exported export_chunk(cuda::chunk const& chunk, bool force_pcie) {
    std::size_t const page = os::page_size();
    CUdeviceptr const first = chunk.start();
    CUdeviceptr const end = (first + chunk.extent() + page - 1) / page * page;
    CUdeviceptr const start = first / page * page;
    try {
        return {export_range(start, end - start, force_pcie), {first - start, chunk.extent()}};
    } catch (error const& failure) {
        CUdeviceptr const block = chunk.base / block_size * block_size;
        if (!refuses_the_range(failure.code()) || block == start)
            throw;
        try {
            return {export_range(block, end - block, force_pcie), {first - block, chunk.extent()}};
        } catch (error const&) {
            // The first failure is of what was asked for.
        }
        throw;
    }
}

class dmabuf_mapped final : public mapped {
public:
    dmabuf_mapped(std::vector<os::fd> const& files, page_layout const& layout, cache_kind caching)
        : region_(os::region::for_files(layout.total)) {
        for (piece const& piece : layout.pieces)
            region_.place(piece.at, piece.length, files[piece.object].get(),
                          static_cast<off_t>(piece.file_offset), name);
        data = region_.data() + layout.head;
        kind = caching;
    }

private:
    os::region region_;
};

class dmabuf_pinned final : public pinned {
public:
    dmabuf_pinned(std::vector<os::fd> files, page_layout layout, cache_kind caching)
        : files_(std::move(files)), layout_(std::move(layout)), caching_(caching) {}
    std::unique_ptr<mapped> map(std::optional<cache_kind>) override {
        return std::make_unique<dmabuf_mapped>(files_, layout_, caching_);
    }

private:
    std::vector<os::fd> files_;
    page_layout layout_;
    cache_kind caching_;
};

class dmabuf_backend final : public backend {
public:
    explicit dmabuf_backend(gpu const& gpu) : gpu_(gpu) {}

    capabilities can() const noexcept override {
        capabilities result;
        result.adopts = adopting(memory_kind::device, memory_kind::virtual_exportable,
                                 memory_kind::virtual_opaque);
        return result;
    }

    void start() override {
        constexpr int first_version = 13030; // CUDA 13.3, driver R610
        if (gpu_.driver_version < first_version)
            throw error(errc::backend_absent, "mmap dma-bufs of GPU memory", std::string(name),
                        "the driver allows it from CUDA 13.3 (R610) on, this one speaks CUDA " +
                            std::to_string(gpu_.driver_version / 1000) + "." +
                            std::to_string(gpu_.driver_version % 1000 / 10));
        int supported = 0;
        if (cuda::api().device_get_attribute(&supported, cuda::attribute_dma_buf, gpu_.handle) !=
                cuda::success ||
            !supported)
            throw error(errc::backend_absent, "export dma-bufs of GPU memory", std::string(name),
                        "this GPU or driver flavour does not support dma-buf: the open kernel "
                        "modules do");
    }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_request const& request) override {
        cuda::context_scope const scope = memory.context
                                              ? cuda::context_scope(memory.context)
                                              : cuda::context_scope::on_device(gpu_.handle);
        std::vector<os::fd> files;
        std::vector<part> parts;
        for (cuda::chunk const& chunk : memory.chunks) {
            exported range = export_chunk(chunk, request.force_pcie);
            files.push_back(std::move(range.descriptor));
            parts.push_back(range.wanted);
        }
        page_layout layout = lay_out(parts, os::page_size(), name);
        bool const cached = gpu_.simulated || (gpu_.coherent && !request.force_pcie);
        cache_kind const caching = cached ? cache_kind::cached : cache_kind::write_combining;
        return std::make_unique<dmabuf_pinned>(std::move(files), std::move(layout), caching);
    }

private:
    gpu gpu_;
};

} // namespace

std::unique_ptr<backend> make_dmabuf(gpu const& gpu) {
    return std::make_unique<dmabuf_backend>(gpu);
}

} // namespace barmap::backend
