// SPDX-License-Identifier: MIT
#include <barmap/step_tensors.hpp>

#include "base/c_boundary.hpp"
#include "base/checkpoint.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/memory.hpp"
#include "cuda/own_kernel.hpp"
#include "signal/step_kernels.ptx.hpp"

#include <barmap/byte_ring.hpp>
#include <barmap/copy.hpp>
#include <barmap/error.hpp>
#include <barmap/gpu/step.cuh>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap {

constexpr std::size_t step_word_bytes = sizeof(gpu::word);

inline std::size_t words_of_step(std::size_t bytes) {
    return (bytes + step_word_bytes - 1) / step_word_bytes;
}

/// @throws error unless it is memory of this GPU
inline void check_tensor(device const& gpu, step_tensor const& tensor) {
    constexpr char what[] = "make the tensors of a step";
    if (tensor.gpu_address == 0 || tensor.bytes == 0)
        throw error(errc::invalid_argument, what, "", "give each tensor an address and a size");
    cuda::memory const found = cuda::describe(tensor.gpu_address, tensor.bytes,
                                              "make a tensor of a step of");
    std::string const wanted = "give memory of GPU " + std::to_string(gpu.ordinal());
    if (found.kind == memory_kind::unknown || found.kind == memory_kind::host)
        throw error(errc::invalid_argument, what, "",
                    wanted + ": CUDA knows no GPU memory at this address");
    if (found.ordinal != gpu.ordinal())
        throw error(errc::invalid_argument, what, "",
                    wanted + ": a tensor is in memory of GPU " + std::to_string(found.ordinal));
}

/// Refuses tensors that share memory: a load writes them in no order.
inline void expect_apart(std::span<step_tensor const> tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (tensors[i].gpu_address < tensors[k].gpu_address + tensors[k].bytes &&
                tensors[k].gpu_address < tensors[i].gpu_address + tensors[i].bytes)
                throw error(errc::invalid_argument, "make the inputs of a step", "",
                            "tensors " + std::to_string(k) + " and " + std::to_string(i) +
                                " share memory: give each its own");
}

/// Where the tensors' parts lie in a message, by chunks.
struct step_layout {
    std::vector<std::size_t> first_word; ///< of each tensor
    std::vector<std::size_t> bytes;
    std::vector<step::chunk> chunks;
    std::size_t words = 0;

    step_layout(device const& gpu, std::span<step_tensor const> tensors) {
        for (step_tensor const& each : tensors) {
            check_tensor(gpu, each);
            first_word.push_back(words);
            bytes.push_back(each.bytes);
            for (std::size_t at = 0; at < each.bytes; at += step::chunk_bytes)
                chunks.push_back({reinterpret_cast<unsigned char*>(each.gpu_address + at),
                                  words + at / step_word_bytes,
                                  std::min<std::size_t>(each.bytes - at, step::chunk_bytes)});
            words += words_of_step(each.bytes);
        }
        if (tensors.empty())
            throw error(errc::invalid_argument, "make the tensors of a step", "",
                        "give at least one");
    }
};

struct step_state {
    step_state(device const& of, std::span<step_tensor const> tensors, char const* kernel_name)
        : gpu(of), layout(gpu, tensors), staging(layout.words),
          words(gpu, layout.chunks.size() * sizeof(step::chunk), step_word_bytes),
          chunks(words.take_gpu(layout.chunks.size() * sizeof(step::chunk))),
          failures(words.take_host(step_word_bytes)) {
        auto const scope = cuda::context_scope::on_device(cuda::device_with(gpu.ordinal()));
        kernel.emplace(ptx::step_kernels, kernel_name);
        write(chunks.window(), std::as_bytes(std::span(layout.chunks)));
        gpu::store_release(failure(), 0);
    }

    [[nodiscard]] gpu::word* failure() const noexcept {
        return reinterpret_cast<gpu::word*>(failures.data());
    }
    [[nodiscard]] std::size_t message_bytes() const noexcept { return layout.words * step_word_bytes; }
    [[nodiscard]] std::span<std::byte> message() const noexcept {
        return std::as_writable_bytes(std::span(const_cast<std::uint64_t*>(staging.data()),
                                                staging.size()));
    }
    [[nodiscard]] std::span<std::byte> part(std::size_t tensor) const noexcept {
        return message().subspan(layout.first_word[tensor] * step_word_bytes, layout.bytes[tensor]);
    }

    void launch(gpu::ring_handle const& ring, void* stream) const {
        checkpoint::pass const here("launch the kernel of a step");
        constexpr unsigned most_threads = 512, warp = 32;
        constexpr gpu::word nanoseconds = 10'000'000'000;
        step::task task{ring,
                        reinterpret_cast<step::chunk const*>(chunks.gpu_address()),
                        layout.chunks.size(),
                        layout.words,
                        nanoseconds,
                        reinterpret_cast<gpu::word*>(failures.gpu_address())};
        void* arguments[] = {&task};
        auto const threads = static_cast<unsigned>(
            std::min<std::size_t>(most_threads, layout.chunks.size() * warp));
        kernel->launch(threads, arguments, stream, "launch the kernel of a step");
    }

    device gpu;
    step_layout layout;
    std::vector<std::uint64_t> staging;
    arena words;
    arena::part chunks, failures;
    std::optional<cuda::own_kernel> kernel;
};

} // namespace barmap

using namespace barmap;
using c::attempt;
using c::expect;
using c::make;

struct barmap_step_inputs : step_state {
    barmap_step_inputs(device const& gpu, std::span<step_tensor const> tensors,
                       std::size_t versions)
        : step_state(gpu, (expect_apart(tensors), tensors), "barmap_step_load"),
          ring(gpu, message_bytes(), versions) {}
    detail::byte_ring_to_gpu ring;
};

struct barmap_step_outputs : step_state {
    barmap_step_outputs(device const& gpu, std::span<step_tensor const> tensors,
                        std::size_t versions)
        : step_state(gpu, tensors, "barmap_step_store"), ring(gpu, message_bytes(), versions) {}
    detail::byte_ring_to_cpu ring;
};

namespace {

constexpr char make_tensors[] = "make the tensors of a step", launching[] = "launch the kernel of a step";

template <class Steps>
int make_steps(barmap_device* gpu, barmap_step_tensor const* tensors, std::size_t count,
               std::size_t versions, Steps** out) noexcept {
    return make(out, make_tensors, [&] {
        device const of(barmap_device_retain(&expect(gpu, make_tensors, "create a device first")));
        if (!tensors && count > 0)
            throw error(errc::invalid_argument, make_tensors, "", "pass the tensors, not NULL");
        return std::make_unique<Steps>(
            of, std::span(reinterpret_cast<step_tensor const*>(tensors), count), versions);
    });
}

template <class Steps>
int launch(Steps const* steps, void* stream) noexcept {
    return attempt([&] {
        Steps const& of = expect(steps, launching, "make them first, not NULL");
        of.launch(of.ring.handle(), stream);
    });
}

} // namespace

int barmap_step_inputs_create(barmap_device* device, barmap_step_tensor const* tensors,
                              std::size_t count, std::size_t versions, barmap_step_inputs** out) {
    return make_steps(device, tensors, count, versions, out);
}

void* barmap_step_inputs_staging(barmap_step_inputs const* inputs, std::size_t tensor) {
    return inputs->part(tensor).data();
}

std::size_t barmap_step_inputs_bytes(barmap_step_inputs const* inputs, std::size_t tensor) {
    return inputs->layout.bytes[tensor];
}

int barmap_step_inputs_push(barmap_step_inputs* inputs) {
    if (inputs->ring.push_many(inputs->message()) == 0)
        return 0;
    inputs->ring.flush();
    return 1;
}

int barmap_step_inputs_wait(barmap_step_inputs* inputs, std::uint64_t nanoseconds) {
    return inputs->ring.wait_for(detail::wait_of_ns(nanoseconds));
}

int barmap_step_inputs_enqueue_load(barmap_step_inputs const* inputs, void* stream) {
    return launch(inputs, stream);
}

int barmap_step_inputs_failed(barmap_step_inputs const* inputs) {
    return gpu::load_acquire(inputs->failure()) != 0;
}

void barmap_step_inputs_destroy(barmap_step_inputs* inputs) {
    c::free_handle(inputs);
}

int barmap_step_outputs_create(barmap_device* device, barmap_step_tensor const* tensors,
                               std::size_t count, std::size_t versions, barmap_step_outputs** out) {
    return make_steps(device, tensors, count, versions, out);
}

int barmap_step_outputs_enqueue_store(barmap_step_outputs const* outputs, void* stream) {
    return launch(outputs, stream);
}

int barmap_step_outputs_pop(barmap_step_outputs* outputs) {
    return outputs->ring.pop_many(outputs->message()) == 1;
}

int barmap_step_outputs_wait(barmap_step_outputs const* outputs, std::uint64_t nanoseconds) {
    return outputs->ring.wait_for(detail::wait_of_ns(nanoseconds));
}

void const* barmap_step_outputs_staging(barmap_step_outputs const* outputs, std::size_t tensor) {
    return outputs->part(tensor).data();
}

std::size_t barmap_step_outputs_bytes(barmap_step_outputs const* outputs, std::size_t tensor) {
    return outputs->layout.bytes[tensor];
}

int barmap_step_outputs_failed(barmap_step_outputs const* outputs) {
    return gpu::load_acquire(outputs->failure()) != 0;
}

void barmap_step_outputs_destroy(barmap_step_outputs* outputs) {
    c::free_handle(outputs);
}
