// SPDX-License-Identifier: MIT
#include "batch/batch_methods.hpp"

#include "measure/cuda_stream.hpp"
#include "output/formatted.hpp"
#include "command/exit_codes.hpp"

#include <chrono>
#include <cstring>
#include <optional>

namespace barmap::tool {
namespace {

class by_engine final : public ordered_method {
public:
    explicit by_engine(opened_gpu const& gpu)
        : ordered_method("batch_queue"), engine_(gpu.device().batch_queue()) {}

    [[nodiscard]] std::string name() const override {
        return formatted("batch_queue ({})", engine_.engine());
    }
    void prepare(std::span<copy_piece const> pieces) override { pieces_ = pieces; }
    void submit() override { ticket_ = engine_.submit(pieces_); }
    void submit_on(CUstream stream) override {
        ticket_ = engine_.submit(pieces_, batch_queue::after{stream}, batch_queue::then{stream});
    }
    void wait() override {
        constexpr std::chrono::seconds patience{30};
        if (!engine_.wait(ticket_, patience))
            throw gpu_timeout("a batch of the copy engine did not end in time");
    }

private:
    barmap::batch_queue engine_;
    std::span<copy_piece const> pieces_;
    batch_ticket ticket_{};
};

class by_batch_call final : public ordered_method {
public:
    by_batch_call() : ordered_method("cuMemcpyBatchAsync") {}

    void prepare(std::span<copy_piece const> pieces) override {
        to_.clear();
        from_.clear();
        bytes_.clear();
        for (copy_piece const& each : pieces) {
            to_.push_back(each.to);
            from_.push_back(each.from);
            bytes_.push_back(each.bytes);
        }
    }
    void submit() override { submit_on(stream_.get()); }
    void submit_on(CUstream stream) override {
        CUmemcpyAttributes attributes{};
        attributes.srcAccessOrder = cuda::source_order_stream;
        std::size_t first = 0, failed = 0;
        cuda::check(cuda::api().memcpy_batch_async(to_.data(), from_.data(), bytes_.data(),
                                                   to_.size(), &attributes, &first, 1, &failed,
                                                   stream),
                    "copy by cuMemcpyBatchAsync");
    }
    void wait() override { stream_.wait(); }

private:
    cuda_stream stream_;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> bytes_;
};

class by_loop final : public batch_method {
public:
    by_loop() : batch_method("cuMemcpyAsync loop") {}

    void prepare(std::span<copy_piece const> pieces) override { pieces_ = pieces; }
    void submit() override {
        cuda::driver_api const& cu = cuda::api();
        for (copy_piece const& each : pieces_)
            cuda::check(cu.memcpy_async(each.to, each.from, each.bytes, stream_.get()),
                        "copy by cuMemcpyAsync");
    }
    void wait() override { stream_.wait(); }

private:
    cuda_stream stream_;
    std::span<copy_piece const> pieces_;
};

class by_one_copy final : public batch_method {
public:
    by_one_copy() : batch_method("one cuMemcpyAsync") {}
    void prepare(std::span<copy_piece const> pieces) override {
        all_ = pieces.front();
        all_.bytes = pieces.size() * pieces.front().bytes;
    }
    void submit() override {
        cuda::check(cuda::api().memcpy_async(all_.to, all_.from, all_.bytes, stream_.get()),
                    "copy by cuMemcpyAsync");
    }
    void wait() override { stream_.wait(); }

private:
    cuda_stream stream_;
    copy_piece all_{};
};

/// A kernel reads the list of pieces from pinned host memory.
class by_kernel final : public batch_method {
public:
    by_kernel(gpu_kernels const& kernels, unsigned blocks)
        : batch_method(formatted("kernel, {} SMs", blocks)), blocks_(blocks),
          function_(kernels.named("barmap_copy_pieces")) {}

    void prepare(std::span<copy_piece const> pieces) override {
        static_assert(sizeof(copy_piece) == 24, "as the kernel reads it");
        if (room_ < pieces.size_bytes()) {
            room_ = pieces.size_bytes();
            list_.emplace(room_);
        }
        count_ = static_cast<std::uint32_t>(pieces.size());
        std::memcpy(list_->data(), pieces.data(), pieces.size_bytes());
    }
    void submit() override {
        constexpr unsigned threads = 1024;
        launch(function_, blocks_, threads, stream_.get(), {list_->gpu_address(), count_});
    }
    void wait() override { stream_.wait(); }

private:
    cuda_stream stream_;
    unsigned blocks_;
    CUfunction function_;
    std::optional<pinned_host> list_;
    std::size_t room_ = 0; ///< bytes that list_ has room for
    std::uint32_t count_ = 0;
};

/// Submits an empty batch: only a driver without the function returns error_not_found.
bool has_batch_call() {
    cuda_stream const stream;
    CUdeviceptr none = 0;
    std::size_t bytes = 0, first = 0, failed = 0;
    CUmemcpyAttributes attributes{};
    return cuda::api().memcpy_batch_async(&none, &none, &bytes, 0, &attributes, &first, 1, &failed,
                                          stream.get()) != cuda::error_not_found;
}

} // namespace

std::vector<std::string> const& batch_method_names() {
    static std::vector<std::string> const names{"engine", "gpu",      "batch",   "loop",
                                                "graph",  "gpugraph", "kernel4", "kernel32"};
    return names;
}

std::unique_ptr<batch_method> make_one_copy() {
    return std::make_unique<by_one_copy>();
}

std::unique_ptr<ordered_method> make_engine(opened_gpu const& gpu) {
    return std::make_unique<by_engine>(gpu);
}

std::unique_ptr<ordered_method> make_batch_call(std::vector<left_out>& missing) {
    if (has_batch_call())
        return std::make_unique<by_batch_call>();
    missing.push_back({"cuMemcpyBatchAsync", "the driver lacks it: it came with CUDA 12.8"});
    return nullptr;
}

std::unique_ptr<batch_method> make_batch_method(std::string_view name, opened_gpu const& gpu,
                                                gpu_kernels const& kernels,
                                                std::vector<left_out>& missing) {
    if (name == "engine") {
        try {
            return make_engine(gpu);
        } catch (error const& none) {
            missing.push_back({"batch_queue", none.what()});
            return nullptr;
        }
    }
    if (name == "gpu" || name == "gpugraph")
        return make_kernel_queue(gpu, name == "gpugraph", missing);
    if (name == "batch")
        return make_batch_call(missing);
    if (name == "loop")
        return std::make_unique<by_loop>();
    if (name == "graph")
        return make_graph(missing);
    if (name == "one")
        return make_one_copy();
    return std::make_unique<by_kernel>(kernels, name == "kernel4" ? 4 : 32);
}

} // namespace barmap::tool
