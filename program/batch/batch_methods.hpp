// SPDX-License-Identifier: MIT
#pragma once

#include "batch/pools.hpp"
#include "measure/gpu_kernels.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// A method of copying many pieces. Needs the GPU's context while it lives.
/// Thread rule: one thread; several objects may work concurrently.
class batch_method {
public:
    explicit batch_method(std::string name) : name_(std::move(name)) {}
    batch_method(batch_method const&) = delete;
    batch_method& operator=(batch_method const&) = delete;
    virtual ~batch_method() = default;

    /// The name in the output: "batch_queue (channel)", "cuMemcpyAsync loop", ...
    [[nodiscard]] virtual std::string name() const { return name_; }
    /// Whether prepare() takes so long that the program calls it once, and not for each batch.
    [[nodiscard]] virtual bool keeps_pieces() const { return false; }
    /// Prepares a copy, outside the measured time. The pieces must stay valid until the next call.
    /// @throws error
    virtual void prepare(std::span<copy_piece const> pieces) = 0;
    virtual void submit() = 0; ///< @throws error
    virtual void wait() = 0;   ///< for the end of the copies. @throws error, gpu_timeout

private:
    std::string name_;
};

/// A method that copies in stream order.
class ordered_method : public batch_method {
public:
    using batch_method::batch_method;
    /// Copies after the stream's earlier work and before its later work. @throws error
    virtual void submit_on(CUstream stream) = 0;
};

/// The names on the command line: engine, gpu, batch, loop, graph, gpugraph, kernel4, kernel32. The
/// additional method "one" copies pieces that are contiguous on both sides.
[[nodiscard]] std::vector<std::string> const& batch_method_names();

/// Why a method is not measured.
struct left_out {
    std::string method, reason;
};

/// Makes the method with this name on the command line.
/// @return null, with the reason in `missing`, if the driver lacks it
[[nodiscard]] std::unique_ptr<batch_method> make_batch_method(std::string_view name,
                                                              opened_gpu const& gpu,
                                                              gpu_kernels const& kernels,
                                                              std::vector<left_out>& missing);
[[nodiscard]] std::unique_ptr<batch_method> make_graph(std::vector<left_out>& missing);
/// kernel_queue::enqueue(), by itself or captured into a graph.
[[nodiscard]] std::unique_ptr<batch_method> make_kernel_queue(opened_gpu const& gpu, bool in_graph,
                                                              std::vector<left_out>& missing);

/// One cuMemcpyAsync of as many contiguous bytes as the batch has.
[[nodiscard]] std::unique_ptr<batch_method> make_one_copy();

/// device::batch_queue(). @throws error
[[nodiscard]] std::unique_ptr<ordered_method> make_engine(opened_gpu const& gpu);
/// cuMemcpyBatchAsync; null if the driver lacks it.
[[nodiscard]] std::unique_ptr<ordered_method> make_batch_call(std::vector<left_out>& missing);

} // namespace barmap::tool
