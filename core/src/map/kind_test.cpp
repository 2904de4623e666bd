// SPDX-License-Identifier: MIT
#include "map/kind_test.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/pool_block.hpp"
#include "cuda/virtual_block.hpp"
#include "map/self_test.hpp"

#include <new>

namespace barmap::backend {
namespace {

constexpr std::size_t piece_bytes = 64 << 10;

/// @return the way by which the backend reaches it
std::string expect_mapped(backend& backend, gpu const& gpu, memory_kind kind, CUdeviceptr address,
                          std::size_t bytes) {
    cuda::memory const memory = cuda::describe(address, bytes);
    if (memory.kind != kind)
        throw error(errc::unknown_layout, "find " + std::string(to_string(kind)), "",
                    "the driver says that it is " + std::string(to_string(memory.kind)));
    std::unique_ptr<pinned> const held = backend.pin(memory);
    std::unique_ptr<mapped> const through = held->map();
    self_test(gpu.handle, address, {through->data, bytes});
    return std::string(held->way());
}

std::string try_kind(backend& backend, gpu const& gpu, memory_kind kind) {
    cuda::context_scope const scope = cuda::context_scope::on_device(gpu.handle);
    if (kind == memory_kind::virtual_exportable || kind == memory_kind::virtual_opaque) {
        cuda::virtual_block const block(gpu.handle, 1, kind == memory_kind::virtual_exportable);
        return expect_mapped(backend, gpu, kind, block.address(), block.size());
    }
    cuda::pool_block const block(gpu.handle, piece_bytes, kind == memory_kind::pool_exportable);
    (void)expect_mapped(backend, gpu, kind, block.first(), piece_bytes);
    return expect_mapped(backend, gpu, kind, block.second(), piece_bytes);
}

} // namespace

std::vector<memory_kind_report> test_kinds(backend& backend, gpu const& gpu) {
    std::vector<memory_kind_report> reports;
    for (memory_kind const kind : {memory_kind::virtual_exportable, memory_kind::virtual_opaque,
                                   memory_kind::pool, memory_kind::pool_exportable}) {
        if (!backend.capabilities().can_register(kind))
            continue;
        memory_kind_report found{kind, false, {}};
        try {
            found.reason = try_kind(backend, gpu, kind);
            found.usable = true;
        } catch (error const& failure) {
            found.reason = failure.what();
        }
        reports.push_back(std::move(found));
    }
    return reports;
}

} // namespace barmap::backend
