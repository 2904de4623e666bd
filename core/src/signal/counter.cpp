// SPDX-License-Identifier: MIT
#include <barmap/counter.hpp>

#include "base/checkpoint.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "signal/words.hpp"

#include <barmap/error.hpp>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace {

CUstream as_stream(void* stream) {
    return static_cast<CUstream>(stream);
}

/// @return the result of work for a stream of this GPU @throws error
template <class Entry, class... Arguments>
void on_stream(arena const& memory, Entry entry, char const* what, Arguments... arguments) {
    char const* const advice = "the driver does not let streams wait for 64-bit words and store "
                               "them: use a kernel (barmap/gpu/counter.cuh)";
    if (memory.opened())
        throw error(errc::unsupported_operation, what, "",
                    "call it in the process that made the counter");
    checkpoint::pass const here(what);
    if (!entry)
        throw error(errc::unsupported_operation, what, "", advice);
    auto const scope = cuda::context_scope::on_device(cuda::device_with(memory.gpu().ordinal()));
    CUresult const result = entry(arguments...);
    if (result == cuda::error_not_supported)
        throw error(errc::unsupported_operation, what, "", advice);
    cuda::check(result, what, "give a stream of this GPU that still exists");
}

void write_on(arena const& memory, void* stream, std::uintptr_t word, std::uint64_t value) {
    on_stream(memory, cuda::api().stream_write_value64, "have a stream store a word",
              as_stream(stream), word, value, 0);
}

void wait_on(arena const& memory, void* stream, std::uintptr_t word, std::uint64_t at_least) {
    on_stream(memory, cuda::api().stream_wait_value64, "have a stream wait for a word",
              as_stream(stream), word, at_least, cuda::wait_value_geq);
}

} // namespace

counter_to_gpu::counter_to_gpu(arena const& memory, std::uint64_t first)
    : memory_(memory), word_(memory, 1), value_(first) {
    if (memory.opened())
        value_ = gpu::load_acquire(word_.word(0));
    else
        word_.publish(0, first);
}
counter_to_gpu::counter_to_gpu(detail::opened_signal const& shared)
    : counter_to_gpu(shared.memory) {}
counter_to_gpu::~counter_to_gpu() = default;

int counter_to_gpu::share() const {
    return detail::shared_signal{detail::signal_kind::counter_to_gpu}.share({&word_.part()});
}
gpu::counter_to_gpu counter_to_gpu::handle() const noexcept {
    return {word_at(word_.gpu_address())};
}
gpu::counter_to_gpu counter_to_gpu::handle_for_thread() const noexcept {
    return {word_.word(0)};
}
void counter_to_gpu::wait(void* stream, std::uint64_t at_least) const {
    wait_on(memory_, stream, word_.gpu_address(), at_least);
}

counter_to_cpu::counter_to_cpu(arena const& memory, std::uint64_t first)
    : memory_(memory), word_(memory.take_host(sizeof(gpu::word))), arrived_(memory, 1),
      first_(first) {
    if (!memory.opened())
        gpu::store_release(first_word(word_), first);
}
counter_to_cpu::counter_to_cpu(detail::opened_signal const& shared)
    : counter_to_cpu(shared.memory, shared.is.first) {}
counter_to_cpu::~counter_to_cpu() = default;

int counter_to_cpu::share() const {
    return detail::shared_signal{.kind = detail::signal_kind::counter_to_cpu, .first = first_}.share(
        {&word_, &arrived_.part()});
}
gpu::counter_to_cpu counter_to_cpu::handle() const noexcept {
    return {word_at(word_.gpu_address()), word_at(arrived_.gpu_address()), first_};
}
gpu::counter_to_cpu counter_to_cpu::handle_for_thread() const noexcept {
    return {first_word(word_), arrived_.word(0), first_};
}
void counter_to_cpu::record(void* stream, std::uint64_t value) const {
    write_on(memory_, stream, word_.gpu_address(), value);
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
