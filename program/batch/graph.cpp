// SPDX-License-Identifier: MIT
#include "batch/batch_methods.hpp"
#include "measure/cuda_stream.hpp"

namespace barmap::tool {
namespace {

/// A CUDA graph with one independent copy node for each piece.
class by_graph final : public batch_method {
public:
    by_graph() : batch_method("graph") {}
    ~by_graph() override { forget(); }

    [[nodiscard]] bool keeps_pieces() const override { return true; }
    void prepare(std::span<copy_piece const> pieces) override {
        cuda::driver_api const& cu = cuda::api();
        forget();
        CUcontext context = nullptr;
        cuda::check(cu.ctx_get_current(&context), "find the GPU's context");
        cuda::check(cu.graph_create(&graph_, 0), "make a CUDA graph");
        for (copy_piece const& each : pieces) {
            CUDA_MEMCPY3D const copy = described(each);
            CUgraphNode node = nullptr;
            cuda::check(cu.graph_add_memcpy_node(&node, graph_, nullptr, 0, &copy, context),
                        "add a copy to a CUDA graph");
        }
        cuda::check(cu.graph_instantiate(&ready_, graph_, 0), "instantiate a CUDA graph");
    }
    void submit() override {
        cuda::check(cuda::api().graph_launch(ready_, stream_.get()), "launch a CUDA graph");
    }
    void wait() override { stream_.wait(); }

private:
    static CUDA_MEMCPY3D described(copy_piece const& piece) {
        CUDA_MEMCPY3D copy{};
        copy.WidthInBytes = piece.bytes;
        copy.Height = copy.Depth = 1;
        copy.srcMemoryType = copy.dstMemoryType = static_cast<int>(cuda::memory_type_unified);
        copy.srcDevice = piece.from;
        copy.dstDevice = piece.to;
        return copy;
    }
    void forget() {
        cuda::driver_api const& cu = cuda::api();
        if (ready_)
            cu.graph_exec_destroy(ready_);
        if (graph_)
            cu.graph_destroy(graph_);
        ready_ = nullptr;
        graph_ = nullptr;
    }

    cuda_stream stream_;
    CUgraph graph_ = nullptr;
    CUgraphExec ready_ = nullptr;
};

} // namespace

std::unique_ptr<batch_method> make_graph(std::vector<left_out>& missing) {
    cuda::driver_api const& cu = cuda::api();
    CUgraph graph = nullptr;
    CUresult const result = cu.graph_create(&graph, 0);
    if (result == cuda::success) {
        cu.graph_destroy(graph);
        return std::make_unique<by_graph>();
    }
    if (result != cuda::error_not_found && result != cuda::error_not_supported)
        cuda::check(result, "make a CUDA graph");
    missing.push_back({"graph", cu.simulated ? "the simulated GPU has no graphs"
                                             : "the driver lacks it: graphs came with CUDA 10.0"});
    return nullptr;
}

} // namespace barmap::tool
