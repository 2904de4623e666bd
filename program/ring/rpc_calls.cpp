// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/rpc.hpp>

#include <array>

namespace barmap::tool {
namespace {

/// Calls of a number of GPU threads, all answered by this one.
struct call_run {
    unsigned request, reply; ///< bytes
    unsigned threads;
    std::uint64_t each; ///< calls of each thread
};

struct call_result {
    samples times; ///< of the first thread
    std::uint64_t calls = 0;
    double seconds = 0;
    bool good = true;
};

template <unsigned Request, unsigned Reply>
call_result run_calls(ring_bench const& bench, call_run const& what) {
    rpc_to_cpu<sealed_message<Request>, sealed_message<Reply>> calls(bench.memory,
                                                                     bench.values.slots);
    constexpr unsigned most_in_block = 128;
    unsigned const in_block = std::min(what.threads, most_in_block);
    ring_kernel kernel(bench, formatted("barmap_ring_call_{}_{}", Request, Reply),
                       what.threads / in_block, in_block);
    pinned_host const times((what.each + 2) * sizeof(gpu::word));
    std::uint64_t const all = what.each * what.threads;
    std::uint64_t wrong = 0, served = 0;
    auto const serve = [&](sealed_message<Request> const& asked) {
        std::uint64_t const number = asked.words[0] * seal::unit_inverse;
        ring_findings found{};
        inspect(asked, number, found);
        wrong += found.torn + (number >= all);
        return make_sealed<Reply>(number);
    };
    call_result result;
    clock::time_point const begin = clock::now();
    kernel.launch(
        {0, what.each, ring_kernel::nanoseconds}, [&] { calls.close(); }, {calls.handle()},
        times.gpu_address());
    while (served < all)
        wait_until([&] { return calls.try_serve(serve) && ++served != 0; }, "a call of the kernel");
    result.seconds = seconds_since(begin);
    result.calls = served;
    for (ring_findings const& each : kernel.wait()) {
        wrong += faults_of(each);
        result.good &= each.is_done == 1 && each.count == what.each &&
                       each.how == static_cast<gpu::word>(gpu::status::ok);
    }
    result.good &= wrong == 0;
    auto const* const ticks = reinterpret_cast<gpu::word const*>(times.data());
    double const ns_per_tick = double(ticks[what.each]) / double(ticks[what.each + 1]);
    result.times.reserve(what.each);
    for (std::uint64_t i = what.each / 10; i < what.each; ++i) // the first ones find it cold
        result.times.add(double(ticks[i]) * ns_per_tick);
    return result;
}

struct call_size {
    unsigned request, reply;
    call_result (*run)(ring_bench const&, call_run const&);
};

constexpr call_size call_sizes[] = {
    {8, 8, run_calls<8, 8>}, {8, 32, run_calls<8, 32>}, {56, 56, run_calls<56, 56>}};

} // namespace

bool measure_ring_calls(ring_bench const& bench) {
    std::uint64_t const rounds = bench.iterations(100'000, 200);
    unsigned const many = bench.simulated() ? 4 : 1024;
    measurement const what("call", {"call of the CPU", column("threads", "threads"), link_column(),
                                    us("min"), us("p50"), us("p99"), us("p99.9"), us("max"),
                                    column("M calls/s", "calls_per_s", fixed<3, 1'000'000>)});
    auto const measure_one = [&](results& into, bool under_load, call_size const& size,
                                 unsigned threads) {
        into.now(formatted("calls of {} and {} B", size.request, size.reply));
        std::uint64_t const each = threads == 1 ? rounds : rounds / 100 + 1;
        call_result const found = size.run(bench, {size.request, size.reply, threads, each});
        into.add(result_row({{"request_bytes", size.request},
                             {"reply_bytes", size.reply},
                             {"threads", threads},
                             {"load", under_load},
                             {"calls", found.calls},
                             {"calls_per_s", double(found.calls) / found.seconds}})
                     .with_tail(found.times.summarise())
                     .has("passed", found.good),
                 {formatted("{} B, answer {} B", size.request, size.reply),
                  found.good ? "" : "FAILED: a call or an answer was wrong"},
                 found.good);
    };
    return bench.measure(what, every(call_sizes, std::array{1u, many}), measure_one);
}

} // namespace barmap::tool
