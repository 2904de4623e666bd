// SPDX-License-Identifier: MIT
// Replays the batches of programs (programs.hpp) by CUDA's batch call, compares every byte, and
// tells times and rates. Run it without libbarmap-memcpy and with it (replays.py does both):
//
//     memcpy_replay CASE [--quick]
//
// CASE is `programs`, or one of
//     both     loads and stores at once, by two threads, with small copies beside them
//     chain    batches behind one another in one stream
//     turns    the same by the library and by the driver's own function in turn: ratios
//     beside   small copies beside loads and beside stores
//     first    the first calls of a process
//     left     calls that the library leaves: of 1, 8 and 59 pieces
//     capture  batches in captured streams
// Each line is CASE,what,unit,value. --quick: short lists, for tests, without times. The exit
// status is 1 if a byte is wrong, and 2 if CUDA refuses something.
#include "replay.hpp"

#include <atomic>
#include <string_view>

namespace {

using namespace barmap::memcpy_replays;

constexpr int rounds = 5;

void replay(pattern const& which) {
    if (which.where == route::to_peer && contexts.size() < 2)
        return;
    std::size_t const count = is_quick ? count_in_tests(which) : which.count,
                      calls = is_quick ? calls_in_tests(which) : which.calls,
                      bytes = count * calls * which.bytes * 5 / 4 + which.bytes;
    memory from = which.where == route::to_gpu ? memory::of_host(bytes) : memory::of_gpu(bytes);
    memory to = which.where == route::to_cpu    ? memory::of_host(bytes)
                : which.where == route::to_peer ? memory::of_gpu(bytes, 1)
                                                : memory::of_gpu(bytes);
    auto lists = scattered(to, from, calls, count, which.bytes, which.how);
    CUstream const stream =
        which.by_stream_of_thread ? reinterpret_cast<CUstream>(std::uintptr_t{2}) : new_stream();
    std::vector<double> until_done, of_calls;
    int const last = is_quick ? 1 : rounds;
    for (int round = 0; round <= last; ++round) {
        bool const compares = round == 0 || round == last; // which takes longer than the batches
        if (compares) {
            from.fill(static_cast<std::uint64_t>(round) + 1);
            to.fill(99);
        }
        auto const begin = clock_type::now();
        double calling = 0;
        for (batch& each : lists) {
            auto const call = clock_type::now();
            each.submit(stream);
            calling += microseconds_since(call);
        }
        synchronize(stream);
        if (round > 0) { // the first warms up
            until_done.push_back(microseconds_since(begin));
            of_calls.push_back(calling / double(calls));
        }
        if (compares) {
            expect_copied(to, from, lists);
            to.expect(which.name);
        }
    }
    std::string const name = std::string("programs,") + which.name;
    if (is_quick)
        return tell(name, "rounds", 2);
    tell(name + ",rate", "GB/s",
         double(count * calls * which.bytes) / quantile(until_done, 0.5) / 1000);
    tell(name + ",call", "us", quantile(of_calls, 0.5));
}

void all_programs() {
    for (pattern const& each : patterns)
        replay(each);
}

/// Batches of one direction until told to stop, at most two in flight.
double rate_until(std::atomic<bool> const& stops, std::vector<batch>& lists) {
    set_context(contexts[0]);
    CUstream const stream = new_stream();
    CUevent ended[2];
    for (CUevent& each : ended)
        make_event(&each, 2);
    auto const begin = clock_type::now();
    std::size_t bytes = 0;
    for (std::size_t i = 0; !stops; ++i) {
        if (i > 1)
            wait_for(ended[i % 2]);
        batch& next = lists[i % lists.size()];
        next.submit(stream);
        record(ended[i % 2], stream);
        bytes += next.bytes();
    }
    synchronize(stream);
    return double(bytes) / microseconds_since(begin) / 1000;
}

/// Small copies on a stream of their own until told to stop. @return their times
std::vector<double> small_copies_until(std::atomic<bool> const& stops, bool is_to_gpu,
                                       memory const& on_gpu, memory const& on_host) {
    set_context(contexts[0]);
    CUstream const stream = new_stream();
    std::vector<double> times;
    while (!stops) {
        auto const begin = clock_type::now();
        if (is_to_gpu)
            copy_to_gpu(on_gpu.at, reinterpret_cast<void*>(on_host.at), 8, stream);
        else
            copy_to_cpu(reinterpret_cast<void*>(on_host.at), on_gpu.at, 8, stream);
        synchronize(stream);
        times.push_back(microseconds_since(begin));
    }
    return times;
}

/// Loads, stores or both, with small copies of both directions beside them.
void bulk(std::string const& name, std::size_t size, std::size_t count, bool loads, bool stores) {
    std::size_t const bytes = is_quick ? 4 * mib : 256 * mib;
    count = std::min(count, bytes / size);
    static memory gpu_in, gpu_out, host_in, host_out, small_gpu[2], small_host[2];
    if (gpu_in.at == 0) {
        for (memory* const each : {&gpu_in, &gpu_out})
            *each = memory::of_gpu(bytes);
        for (memory* const each : {&host_in, &host_out})
            *each = memory::of_host(bytes);
        for (int i = 0; i < 2; ++i) {
            small_gpu[i] = memory::of_gpu(4 * kib);
            small_host[i] = memory::of_host(4 * kib);
        }
    }
    auto up = scattered(gpu_in, host_in, bytes / size / count, count, size, {1, {}, {}, 0}, 1);
    auto down = scattered(host_out, gpu_out, bytes / size / count, count, size, {1, {}, {}, 0}, 2);
    for (memory* const each : {&gpu_in, &gpu_out, &host_in, &host_out})
        each->fill(each->at + size);
    std::atomic<bool> stops{false};
    double rate[2] = {};
    std::vector<double> small[2];
    std::vector<std::thread> all;
    if (loads)
        all.emplace_back([&] { rate[0] = rate_until(stops, up); });
    if (stores)
        all.emplace_back([&] { rate[1] = rate_until(stops, down); });
    for (int i = 0; i < 2; ++i)
        all.emplace_back(
            [&, i] { small[i] = small_copies_until(stops, i == 0, small_gpu[i], small_host[i]); });
    std::this_thread::sleep_for(std::chrono::milliseconds(is_quick ? 20 : 300));
    stops = true;
    for (std::thread& each : all)
        each.join();
    if (!is_quick) {
        if (loads || stores)
            tell(name + ",rate", "GB/s", rate[0] + rate[1]);
        for (int i = 0; i < 2; ++i) {
            std::string const what = name + (i == 0 ? ",8 B to the GPU" : ",8 B to the CPU");
            tell(what + " p50", "us", quantile(small[i], 0.5));
            tell(what + " p99", "us", quantile(small[i], 0.99));
        }
    } else if (loads && stores) { // long enough for each list
        CUstream const stream = new_stream();
        for (batch& each : up)
            each.submit(stream);
        for (batch& each : down)
            each.submit(stream);
        synchronize(stream);
        expect_copied(gpu_in, host_in, up);
        expect_copied(host_out, gpu_out, down);
        gpu_in.expect("both");
        host_out.expect("both");
        tell(name, "rounds", 1);
    }
}

void both() {
    for (std::size_t const size : {8 * kib, 32 * kib, 64 * kib, 128 * kib})
        for (std::size_t const count : {std::size_t{128}, std::size_t{2048}})
            bulk("both," + std::to_string(count) + " of " + std::to_string(size), size, count, true,
                 true);
}

void beside() {
    bulk("beside,nothing", 64 * kib, 64, false, false);
    for (std::size_t const size : {4 * kib, 8 * kib, 64 * kib})
        for (bool const is_load : {true, false})
            bulk("beside," + std::string(is_load ? "loads" : "stores") + " of " +
                     std::to_string(size),
                 size, 4096, is_load, !is_load);
}

void chain() {
    std::size_t const bytes = is_quick ? 4 * mib : 512 * mib;
    memory gpu = memory::of_gpu(bytes), other = memory::of_gpu(bytes),
           host = memory::of_host(bytes);
    CUstream const stream = new_stream();
    for (route const where : {route::to_gpu, route::to_cpu, route::inside})
        for (std::size_t const size : {2 * kib, 8 * kib, 32 * kib, 64 * kib, 128 * kib, 2 * mib})
            for (std::size_t const count : {16u, 32u, 64u, 256u, 1024u, 4096u}) {
                std::size_t const calls = std::min<std::size_t>(32, bytes / size / count);
                if (calls < (is_quick ? 1 : 4))
                    continue;
                memory& from = where == route::to_gpu ? host : gpu;
                memory& to = where == route::to_gpu ? gpu : where == route::to_cpu ? host : other;
                auto lists = scattered(to, from, calls, count, size, {1, {}, {}, 0});
                if (is_quick) {
                    from.fill(size);
                    to.fill(count);
                }
                std::vector<double> times;
                for (int round = 0; round < (is_quick ? 1 : rounds); ++round) {
                    auto const begin = clock_type::now();
                    for (batch& each : lists)
                        each.submit(stream);
                    synchronize(stream);
                    times.push_back(microseconds_since(begin) / double(calls));
                }
                std::string const name = std::string("chain,") +
                                         (where == route::to_gpu   ? "to the GPU"
                                          : where == route::to_cpu ? "to the CPU"
                                                                   : "inside") +
                                         " " + std::to_string(count) + " of " +
                                         std::to_string(size);
                if (is_quick) {
                    expect_copied(to, from, lists);
                    to.expect(name.c_str());
                } else {
                    tell(name, "us a batch", quantile(times, 0.5));
                }
            }
    if (is_quick)
        tell("chain", "rounds", 1);
}

/// Batches behind one another as a program calls them, and by the driver's own function, in turn,
/// since two processes may run on CPUs of two speeds. Without the library the ratios show the
/// noise.
void turns() {
    std::size_t const bytes = is_quick ? 4 * mib : 256 * mib;
    memory gpu = memory::of_gpu(bytes), host = memory::of_host(bytes);
    CUstream const stream = new_stream();
    struct {
        std::size_t count, size;
    } const lists_of[] = {{1, 8},        {8, 64 * kib},  {59, 64 * kib},  {16, 2 * kib},
                          {32, 2 * kib}, {64, 2 * kib},  {256, 2 * kib},  {32, 4 * kib},
                          {64, 4 * kib}, {16, 8 * kib},  {32, 8 * kib},   {63, 8 * kib},
                          {64, 8 * kib}, {256, 8 * kib}, {16, 128 * kib}, {64, 128 * kib}};
    for (bool const is_load : {true, false})
        for (auto const& [count, size] : lists_of) {
            memory& from = is_load ? host : gpu;
            memory& to = is_load ? gpu : host;
            std::size_t const calls = std::min<std::size_t>(32, bytes / size / count);
            if (calls == 0)
                continue;
            auto lists = scattered(to, from, calls, count, size, {1, {}, {}, 0});
            std::string const name = std::string("turns,to the ") + (is_load ? "GPU " : "CPU ") +
                                     std::to_string(count) + " of " + std::to_string(size);
            std::vector<double> until_done, more;
            for (int turn = 0; turn < (is_quick ? 2 : 60); ++turn) {
                double done[2], calling[2] = {}; // as a program calls, and by the driver
                for (int j = 0; j < 2; ++j) {
                    bool const by_driver = (turn + j) % 2 != 0;
                    if (is_quick) {
                        from.fill(size + static_cast<std::size_t>(j));
                        to.fill(count);
                    }
                    auto const begin = clock_type::now();
                    for (batch& each : lists) {
                        auto const call = clock_type::now();
                        by_driver ? each.submit_to_driver(stream) : each.submit(stream);
                        calling[by_driver] += microseconds_since(call);
                    }
                    synchronize(stream);
                    done[by_driver] = microseconds_since(begin);
                    if (is_quick) {
                        expect_copied(to, from, lists);
                        to.expect((name + (by_driver ? ", by the driver" : "")).c_str());
                    }
                }
                until_done.push_back(done[0] / done[1]);
                more.push_back((calling[0] - calling[1]) / double(calls) * 1000);
            }
            if (is_quick)
                continue;
            tell(name + ",until done", "ratio", quantile(until_done, 0.5));
            tell(name + ",until done: lower quartile", "ratio", quantile(until_done, 0.25));
            tell(name + ",until done: upper quartile", "ratio", quantile(until_done, 0.75));
            tell(name + ",in the call", "ns more", quantile(more, 0.5));
        }
    if (is_quick)
        tell("turns", "rounds", 2);
}

/// What each call of a new process takes, in each direction.
void first() {
    memory gpu = memory::of_gpu(8 * mib), other = memory::of_gpu(8 * mib),
           host = memory::of_host(8 * mib);
    CUstream const stream = new_stream();
    for (route const where : {route::to_gpu, route::to_cpu, route::inside}) {
        memory& from = where == route::to_gpu ? host : gpu;
        memory& to = where == route::to_gpu ? gpu : where == route::to_cpu ? host : other;
        auto lists = scattered(to, from, 1, 100, 4 * kib, {1, {}, {}, 0});
        std::vector<double> times;
        for (int i = 0; i < (is_quick ? 5 : 200); ++i) {
            auto const begin = clock_type::now();
            lists.front().submit(stream);
            times.push_back(microseconds_since(begin));
            synchronize(stream);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
        std::string const name = std::string("first,") + (where == route::to_gpu   ? "to the GPU"
                                                          : where == route::to_cpu ? "to the CPU"
                                                                                   : "inside");
        tell(name + ",longest but the first", "us", quantile({times.begin() + 1, times.end()}, 1));
        tell(name + ",p50", "us", quantile(times, 0.5));
    }
}

void left() {
    memory gpu = memory::of_gpu(8 * mib), other = memory::of_gpu(8 * mib),
           host = memory::of_host(8 * mib);
    CUstream const stream = new_stream();
    for (std::size_t const count : {1u, 8u, 59u})
        for (route const where : {route::to_gpu, route::to_cpu, route::inside}) {
            if (where == route::inside && count > 8)
                continue; // the library takes these
            memory& from = where == route::to_gpu ? host : gpu;
            memory& to = where == route::to_gpu ? gpu : where == route::to_cpu ? host : other;
            auto lists = scattered(to, from, 1, count, 32 * kib, {1, {}, {}, 0});
            std::vector<double> times;
            for (int i = 0; i < (is_quick ? 10 : 2000); ++i) {
                auto const begin = clock_type::now();
                lists.front().submit(stream);
                times.push_back(microseconds_since(begin) * 1000);
                if (i % 16 == 15)
                    synchronize(stream);
            }
            synchronize(stream);
            tell("left," + std::to_string(count) + " " +
                     (where == route::to_gpu   ? "to the GPU"
                      : where == route::to_cpu ? "to the CPU"
                                               : "inside"),
                 "ns", quantile(times, 0.5));
        }
}

/// Whether the launch of a graph copies what was submitted while its stream was captured: 1 or 0.
void capture() {
    memory gpu = memory::of_gpu(16 * mib), host = memory::of_host(16 * mib);
    for (int mode = 0; mode < 3; ++mode) // global, of the thread, relaxed
        for (std::size_t const count : {1u, 8u, 128u}) {
            auto lists = scattered(gpu, host, 1, count, 4 * kib, {1, {}, {}, 0});
            CUstream const stream = new_stream();
            host.fill(count);
            gpu.fill(1);
            std::string const name =
                "capture,mode " + std::to_string(mode) + ", " + std::to_string(count) + " pieces";
            if (CUresult const result = begin_capture.ask(stream, mode); result == 801)
                return tell("capture,not simulated", "rounds", 0);
            CUresult const answer = lists.front().ask(stream);
            CUgraph graph = nullptr;
            end_capture(stream, &graph);
            CUgraphExec runs = nullptr;
            instantiate(&runs, graph, 0);
            launch(runs, stream);
            synchronize(stream);
            if (answer == 0)
                expect_copied(gpu, host, lists);
            else if (std::getenv("LD_PRELOAD")) // the library
                is_wrong = true;
            gpu.expect(name.c_str());
            tell(name, "copied", answer == 0 ? 1 : 0);
        }
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const wanted = argc > 1 ? argv[1] : "";
    is_quick = argc > 2 && std::string_view(argv[2]) == "--quick";
    struct {
        std::string_view name;
        void (*run)();
        bool is_warm = true;
    } const cases[] = {{"programs", all_programs}, {"both", both},         {"chain", chain},
                       {"beside", beside},         {"left", left},         {"capture", capture},
                       {"turns", turns},           {"first", first, false}};
    auto const found =
        std::ranges::find_if(cases, [&](auto const& each) { return each.name == wanted; });
    if (found == std::end(cases)) {
        std::fprintf(stderr, "usage: memcpy_replay programs|both|chain|turns|beside|first|left|"
                             "capture [--quick]\n");
        return 2;
    }
    start_driver();
    if (found->is_warm)
        warm_up();
    found->run();
    std::fflush(stdout);
    return is_wrong ? 1 : 0; // by the exit, at which the library tells what it took
}
