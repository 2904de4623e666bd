// SPDX-License-Identifier: MIT
#include "batch/batch_methods.hpp"
#include "measure/cuda_stream.hpp"
#include "measure/gpu_memory.hpp"

#include <barmap/error.hpp>
#include <barmap/kernel_queue.hpp>

#include <chrono>
#include <cstdint>

namespace barmap::tool {
namespace {

/// A kernel of one warp submits the list, which lies in GPU memory.
class by_kernel_queue : public batch_method {
public:
    explicit by_kernel_queue(opened_gpu const& gpu, std::string name = "kernel_queue")
        : batch_method(std::move(name)), queue_(gpu.device()),
          count_(gpu_memory::device(sizeof(std::uint64_t))) {}

    void prepare(std::span<copy_piece const> pieces) override {
        if (room_ < pieces.size()) {
            room_ = pieces.size();
            list_ = gpu_memory::device(pieces.size_bytes());
            has_new_list();
        }
        std::uint64_t const count = pieces.size();
        write_gpu(list_.address(), std::as_bytes(pieces));
        write_gpu(count_.address(), std::as_bytes(std::span(&count, 1)));
    }
    void submit() override { enqueue(); }
    void wait() override {
        stream_.wait();
        queue_.check();
    }

protected:
    void enqueue() const {
        constexpr std::chrono::seconds patience{10};
        queue_.enqueue(reinterpret_cast<copy_piece const*>(list_.address()),
                       reinterpret_cast<std::uint64_t const*>(count_.address()), room_, patience,
                       stream_.get());
    }
    virtual void has_new_list() {}
    [[nodiscard]] CUstream stream() const { return stream_.get(); }

private:
    kernel_queue queue_;
    cuda_stream stream_; ///< goes before the queue
    gpu_memory list_, count_;
    std::size_t room_ = 0; ///< pieces that list_ has room for
};

/// The same as the node of a CUDA graph, which reads the list at each launch.
class by_queue_graph final : public by_kernel_queue {
public:
    explicit by_queue_graph(opened_gpu const& gpu)
        : by_kernel_queue(gpu, "graph of kernel_queue") {}
    ~by_queue_graph() override { forget(); }

    void submit() override {
        cuda::check(cuda::api().graph_launch(ready_, stream()), "launch a CUDA graph");
    }

private:
    void has_new_list() override {
        cuda::driver_api const& cu = cuda::api();
        forget();
        cuda::check(cu.stream_begin_capture(stream(), cuda::capture_mode_thread_local),
                    "capture a CUDA stream");
        enqueue();
        cuda::check(cu.stream_end_capture(stream(), &graph_), "end a capture");
        cuda::check(cu.graph_instantiate(&ready_, graph_, 0), "instantiate a CUDA graph");
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

    CUgraph graph_ = nullptr;
    CUgraphExec ready_ = nullptr;
};

} // namespace

std::unique_ptr<batch_method> make_kernel_queue(opened_gpu const& gpu, bool in_graph,
                                                std::vector<left_out>& missing) {
    try {
        if (in_graph)
            return std::make_unique<by_queue_graph>(gpu);
        return std::make_unique<by_kernel_queue>(gpu);
    } catch (error const& none) {
        missing.push_back({in_graph ? "graph of kernel_queue" : "kernel_queue", none.what()});
        return nullptr;
    }
}

} // namespace barmap::tool
