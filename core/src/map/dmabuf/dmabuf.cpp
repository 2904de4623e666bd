// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "map/backend.hpp"
#include "map/pages.hpp"
#include "system/fd.hpp"
#include "system/parcel.hpp"
#include "system/region.hpp"

#include <exception>
#include <set>
#include <utility>

/// Through the driver's own dma-buf export (cuMemGetHandleForAddressRange) and mmap of the dma-buf.
/// Drivers before R610 / CUDA 13.3 export the fd but refuse to mmap it (errno 524 on 580.159.04).
namespace barmap::backend {
namespace {

/// Backing blocks of cudaMalloc start at multiples of this; the small allocations share them.
constexpr std::size_t block_size = std::size_t{2} << 20;

os::fd export_range(CUdeviceptr start, std::size_t bytes, bool force_pcie) {
    int descriptor = -1;
    unsigned long long const flags = force_pcie ? cuda::range_flag_dma_buf_pcie : 0;
    char const* const what = "export a GPU address range as a dma-buf";
    CUresult const result = cuda::api().mem_get_handle_for_address_range(
        &descriptor, start, bytes, cuda::range_handle_dma_buf_fd, flags);
    if (result != cuda::success)
        os::expect_descriptors(what);
    // The memory exists already: what it needs more of is address space in BAR1.
    if (result == cuda::error_out_of_memory)
        throw error(errc::bar1_exhausted, what, "",
                    std::to_string(bytes) + " bytes are wanted: map less at a time, unmap "
                                            "something, or enable Resizable BAR");
    cuda::check(result, what, "the memory may not be capable of GPUDirect RDMA");
    os::fd made(descriptor);
    // An access beyond the end of the file would end the program by SIGBUS.
    if (std::optional<std::size_t> const size = os::file_size(descriptor); size && *size < bytes)
        throw error(errc::backend_broken, what, "",
                    "the driver's dma-buf has " + std::to_string(*size) + " of " +
                        std::to_string(bytes) + " bytes: use another backend");
    return made;
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
/// simulated GPU does), and nothing behind the end of the allocation, whose last GPU page may be
/// longer than the memory; so these ranges are tried too.
exported export_chunk(cuda::allocation_part const& chunk, bool force_pcie) {
    std::size_t const page = os::page_size();
    auto const rounded_up = [page](CUdeviceptr address) {
        return (address + page - 1) / page * page;
    };
    CUdeviceptr const first = chunk.start();
    CUdeviceptr const start = first / page * page, block = chunk.base / block_size * block_size;
    CUdeviceptr const end = rounded_up(first + chunk.extent());
    CUdeviceptr const memory_end = rounded_up(chunk.base + chunk.offset + chunk.length);
    std::exception_ptr first_failure; // which is of what was asked for
    std::set<std::pair<CUdeviceptr, CUdeviceptr>> tried;
    for (auto const& [from, to] :
         {std::pair{start, end}, {block, end}, {start, memory_end}, {block, memory_end}}) {
        if (!tried.emplace(from, to).second)
            continue;
        try {
            return {export_range(from, to - from, force_pcie),
                    clip(first - from, chunk.extent(), to - from)};
        } catch (error const& failure) {
            if (!first_failure)
                first_failure = std::current_exception();
            if (!refuses_the_range(failure.code()))
                break;
        }
    }
    std::rethrow_exception(first_failure);
}

class dmabuf_mapped final : public mapped {
public:
    dmabuf_mapped(std::vector<os::fd> const& files, page_layout const& layout, cache_kind caching,
                  std::shared_ptr<os::region> into)
        : region_(std::move(into)) {
        for (page_run const& piece : layout.pieces)
            if (piece.object == no_object)
                region_->place_zeros(piece.at, piece.length);
            else
                region_->place(piece.at, piece.length, files[piece.object].get(),
                               static_cast<off_t>(piece.file_offset));
        data = region_->data() + layout.head;
        kind = caching;
    }
    std::shared_ptr<os::region> addresses() const noexcept override { return region_; }

private:
    std::shared_ptr<os::region> region_;
};

class dmabuf_pinned final : public pinned {
public:
    dmabuf_pinned(std::vector<os::fd> files, std::vector<part> parts, cache_kind caching)
        : files_(std::move(files)), parts_(std::move(parts)),
          layout_(lay_out(parts_, os::page_size())), caching_(caching) {}
    std::unique_ptr<mapped> map(std::optional<cache_kind>,
                                std::shared_ptr<os::region> into) override {
        return std::make_unique<dmabuf_mapped>(files_, layout_, caching_,
                                               or_anywhere(std::move(into), layout_.total));
    }
    shared_memory share() override {
        shared_memory::expect_few(parts_.size(), os::parcel::most_files);
        shared_memory result;
        result.caching = caching_;
        result.parts = parts_;
        for (os::fd const& each : files_)
            result.files.push_back(os::duplicate(each.get()));
        return result;
    }

private:
    std::vector<os::fd> files_;
    std::vector<part> parts_;
    page_layout layout_;
    cache_kind caching_;
};

class dmabuf_backend final : public backend {
public:
    explicit dmabuf_backend(gpu const& gpu) : gpu_(gpu) {}

    capability_set capabilities() const noexcept override {
        capability_set result;
        result.registers = kinds(memory_kind::device, memory_kind::virtual_exportable,
                                 memory_kind::virtual_opaque);
        return result;
    }

    void start() override {
        constexpr int first_version = 13030; // CUDA 13.3, driver R610
        if (gpu_.driver_version < first_version)
            throw error(errc::backend_absent, "mmap dma-bufs of GPU memory", "",
                        "the driver allows this from CUDA 13.3 (R610) on; this one supports CUDA " +
                            std::to_string(gpu_.driver_version / 1000) + "." +
                            std::to_string(gpu_.driver_version % 1000 / 10));
        int supported = 0;
        if (cuda::api().device_get_attribute(&supported, cuda::attribute_dma_buf, gpu_.handle) !=
                cuda::success ||
            !supported)
            throw error(errc::backend_absent, "export dma-bufs of GPU memory", "",
                        "this GPU or driver flavour does not support dma-buf: the open kernel "
                        "modules do");
        // A driver that does not know the question is asked by the self-test.
        int maps = 0;
        if (cuda::api().device_get_attribute(&maps, cuda::attribute_dma_buf_mmap, gpu_.handle) ==
                cuda::success &&
            !maps)
            throw error(errc::backend_absent, "mmap dma-bufs of GPU memory", "",
                        "this GPU's dma-bufs cannot be mapped: use another backend");
    }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_options const& request) override {
        cuda::context_scope const scope = memory.context
                                              ? cuda::context_scope(memory.context)
                                              : cuda::context_scope::on_device(gpu_.handle);
        std::vector<os::fd> files;
        std::vector<part> parts;
        for (cuda::allocation_part const& chunk : memory.chunks) {
            exported range = export_chunk(chunk, request.force_pcie);
            files.push_back(std::move(range.descriptor));
            parts.push_back(range.wanted);
        }
        bool const cached = gpu_.simulated || (gpu_.coherent && !request.force_pcie);
        cache_kind const caching = cached ? cache_kind::cached : cache_kind::write_combining;
        return std::make_unique<dmabuf_pinned>(std::move(files), std::move(parts), caching);
    }

private:
    gpu gpu_;
};

} // namespace

std::unique_ptr<backend> make_dmabuf(gpu const& gpu) {
    return std::make_unique<dmabuf_backend>(gpu);
}

std::unique_ptr<pinned> open_dmabuf(shared_memory shared) {
    if (shared.files.size() != shared.parts.size())
        shared_memory::refuse();
    for (std::size_t i = 0; i < shared.files.size(); ++i) {
        int const file = shared.files[i].get();
        if (!shared.simulated && !os::is_dma_buf(file))
            shared_memory::refuse();
        // An access beyond the end of the file would end the program by SIGBUS.
        shared_memory::expect_inside(shared.parts[i], os::file_size(file).value_or(0));
    }
    return std::make_unique<dmabuf_pinned>(std::move(shared.files), std::move(shared.parts),
                                           shared.caching);
}

} // namespace barmap::backend
