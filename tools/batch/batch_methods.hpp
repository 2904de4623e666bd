// SPDX-License-Identifier: MIT
#pragma once

#include "batch/pools.hpp"
#include "bench/gpu_kernels.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// One way to copy many pieces. Needs the GPU's context for as long as it lives.
/// Thread rule: one thread; several of one kind may work at once.
class batch_method {
public:
    explicit batch_method(std::string name) : name_(std::move(name)) {}
    batch_method(batch_method const&) = delete;
    batch_method& operator=(batch_method const&) = delete;
    virtual ~batch_method() = default;

    /// As people read it: "batch_queue (channel)", "cuMemcpyAsync loop", ...
    [[nodiscard]] virtual std::string name() const { return name_; }
    /// Whether getting ready takes so long that it is done once, and not for each batch.
    [[nodiscard]] virtual bool keeps_pieces() const { return false; }
    /// Gets ready to copy these, before the time begins. They stay where they are until the next
    /// call. @throws error
    virtual void prepare(std::span<copy_piece const> pieces) = 0;
    virtual void submit() = 0; ///< @throws error
    virtual void wait() = 0;   ///< until all bytes are there. @throws error, gpu_timeout

private:
    std::string name_;
};

/// A method that takes its place in a stream, between other work.
class ordered_method : public batch_method {
public:
    using batch_method::batch_method;
    /// Copies after what the stream was given before, and before what it is given later.
    /// @throws error
    virtual void submit_on(CUstream stream) = 0;
};

/// The names on the command line: engine, batch, loop, graph, kernel4, kernel32. The method "one"
/// beside them copies pieces that follow each other on both sides.
[[nodiscard]] std::vector<std::string> const& batch_method_names();

/// Why a method is not measured.
struct left_out {
    std::string method, reason;
};

/// A name on the command line, and how to make the method that it is for.
/// @return null, with the reason, where the driver lacks it
[[nodiscard]] std::unique_ptr<batch_method> make_batch_method(std::string_view name,
                                                              opened_gpu const& gpu,
                                                              gpu_kernels const& kernels,
                                                              std::vector<left_out>& missing);
[[nodiscard]] std::unique_ptr<batch_method> make_graph(std::vector<left_out>& missing);

/// By one cuMemcpyAsync of as many contiguous bytes as the batch has.
[[nodiscard]] std::unique_ptr<batch_method> make_one_copy();

/// By device::batches(). @throws error
[[nodiscard]] std::unique_ptr<ordered_method> make_engine(opened_gpu const& gpu);
/// By cuMemcpyBatchAsync; null where the driver lacks it.
[[nodiscard]] std::unique_ptr<ordered_method> make_batch_call(std::vector<left_out>& missing);

} // namespace barmap::tool
