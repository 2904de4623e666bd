// SPDX-License-Identifier: MIT
#include "measure/doorbell.hpp"
#include "output/formatted.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/ring.hpp>

#include <algorithm>
#include <array>

namespace barmap::tool {
namespace {

/// Round trips through two rings, while the kernel runs.
template <unsigned Bytes>
class ring_trips {
public:
    /// @param bare whether the kernel does no more than what a round trip needs, so often
    explicit ring_trips(ring_bench const& bench, bool bare = false, std::uint64_t rounds = 0)
        : there_(bench.memory, bench.values.slots), back_(bench.memory, bench.values.slots),
          kernel_(bench, bare ? "barmap_ring_echo_bare" : formatted("barmap_ring_echo_{}", Bytes)),
          rounds_(rounds) {}
    void start() {
        kernel_.launch({0, rounds_, ring_kernel::nanoseconds}, [this] { there_.close(); },
                       {there_.handle(), back_.handle()});
    }

    /// One round trip. @return nanoseconds
    double play() {
        sealed_message<Bytes> const request = make_sealed<Bytes>(number_);
        clock::time_point const begin = clock::now();
        bool const is_pushed = there_.try_push(request);
        there_.flush();
        auto const answer = wait_and_pop(back_, "the answer");
        double const elapsed = nanoseconds_since(begin) - clock_cost_ns();
        wrong_ += !is_pushed || !answer || answer->words[0] != number_ * seal::unit;
        ++number_;
        return elapsed;
    }

    /// @return whether all messages and answers were right
    bool end() {
        there_.close();
        ring_findings const found = kernel_.wait().front();
        return wrong_ == 0 && found.count == number_ && faults_of(found) == 0;
    }

private:
    ring_to_gpu<sealed_message<Bytes>> there_;
    ring_to_cpu<sealed_message<8>> back_;
    ring_kernel kernel_;
    std::uint64_t rounds_, number_ = 0, wrong_ = 0;
};

/// Reads the clock until so much time has passed: what is more was taken by the machine.
double read_clock_for(double nanoseconds) {
    clock::time_point const begin = clock::now();
    double elapsed;
    do
        elapsed = nanoseconds_since(begin);
    while (elapsed < nanoseconds);
    return elapsed;
}

struct trip_times {
    samples ring, bare, doorbell, clock_only;
    bool good = false;
};

template <unsigned Bytes>
trip_times take_turns(ring_bench const& bench, doorbell& bell, std::size_t rounds, progress& bar) {
    // A kernel whose turn does not come for seconds gives up.
    constexpr std::size_t most_in_turn = 100'000;
    std::size_t const slices = std::clamp(bench.values.slices, rounds / most_in_turn + 1,
                                          std::max(rounds, rounds / most_in_turn + 1));
    std::size_t const warm_up = bench.simulated() ? 20 : 1000;
    ring_trips<Bytes> trips(bench);
    ring_trips<32> bare(bench, true, rounds + warm_up);
    // The second kernel is loaded by then: a kernel that runs could hold that up.
    doorbell_rounds doorbells(bell, doorbell_variants[0], rounds + warm_up);
    trips.start();
    bare.start();
    trip_times found;
    for (samples* each : {&found.ring, &found.bare, &found.doorbell, &found.clock_only})
        each->reserve(rounds);
    samples first;
    for (std::size_t i = 0; i < warm_up; ++i) {
        (void)trips.play();
        (void)bare.play();
        first.add(doorbells.play());
    }
    double const usual = first.summarise().p50_ns;
    for (std::size_t slice = 0, done = 0; slice < slices; ++slice) {
        bar.step("trip");
        std::size_t const end = rounds * (slice + 1) / slices;
        for (std::size_t i = done; i < end; ++i)
            found.ring.add(trips.play());
        for (std::size_t i = done; i < end; ++i)
            found.bare.add(bare.play());
        for (std::size_t i = done; i < end; ++i)
            found.doorbell.add(doorbells.play());
        for (std::size_t i = done; i < end; ++i)
            found.clock_only.add(read_clock_for(usual));
        done = end;
    }
    found.good = trips.end() && bare.end();
    doorbells.wait();
    return found;
}

} // namespace

bool measure_ring_trips(ring_bench const& bench) {
    std::size_t const rounds = bench.iterations(100'000, 2000);
    doorbell bell(bench.gpu, bench.values);
    progress bar(bench.values.slices * bench.loads().size() * 2);
    measurement const what("trip", {"round trip", link_column(), us("min"), us("p50"), us("p90"),
                                    us("p99"), us("p99.9"), us("max"),
                                    column("p50 over doorbell", "p50_over_doorbell", fixed<3>),
                                    column("p99 over doorbell", "p99_over_doorbell", fixed<3>),
                                    column("p50 over bare", "p50_over_bare", fixed<3>)});
    auto const measure_one = [&](results& into, bool under_load, unsigned bytes) {
        trip_times const found = bytes == 32 ? take_turns<32>(bench, bell, rounds, bar)
                                             : take_turns<56>(bench, bell, rounds, bar);
        summary const base = found.doorbell.summarise(), bare = found.bare.summarise();
        auto const add = [&](char const* way, std::string text, samples const& taken) {
            summary const times = taken.summarise();
            into.add(result_row({{"message_bytes", bytes}, {"way", way}, {"load", under_load}})
                         .with_tail(times)
                         .has("p50_over_doorbell", times.p50_ns / base.p50_ns)
                         .has("p99_over_doorbell", times.p99_ns / base.p99_ns)
                         .has("p50_over_bare", times.p50_ns / bare.p50_ns)
                         .has("p99_over_bare", times.p99_ns / bare.p99_ns)
                         .has("passed", found.good),
                     {std::move(text)}, found.good);
        };
        add("ring", formatted("rings, {} B in 64 B, and 8 in 16", bytes), found.ring);
        add("bare", "the same slots, bare kernel", found.bare);
        add("doorbell", "doorbell (pingpong)", found.doorbell);
        add("clock", "clock alone, no GPU", found.clock_only);
        if (!found.good)
            bench.out.say("FAILED: a message or an answer was wrong\n");
    };
    return bench.measure(what, every(std::array{32u, 56u}), measure_one);
}

bool measure_ring_fifo(ring_bench const& bench) {
    constexpr std::size_t warm_up = 100;
    std::size_t const rounds = bench.iterations(100'000, 2000);
    measurement const what("fifo", {"fifo of one slot", link_column(),
                                    column("us an iteration", "ns_per_iteration", us_of), us("min"),
                                    us("p50"), us("p99"), us("p99.9"), us("max")});
    return bench.measure(what, every(), [&](results& into, bool under_load) {
        ring_to_cpu<sealed_message<8>> ring(bench.memory, 1);
        ring_kernel kernel(bench, "barmap_ring_source_thread_8");
        kernel.launch({0, rounds + warm_up, ring_kernel::nanoseconds}, [&] { ring.close(); },
                      {ring.handle()});
        samples taken;
        taken.reserve(rounds);
        ring_findings found{};
        clock::time_point begin, before;
        for (std::size_t i = 0; i < rounds + warm_up; ++i) {
            auto const message = wait_and_pop(ring, "a message of the kernel");
            clock::time_point const now = clock::now();
            if (i >= warm_up)
                taken.add(std::chrono::duration<double, std::nano>(now - before).count());
            else
                begin = now;
            before = now;
            inspect(message.value_or(sealed_message<8>{}), i, found);
        }
        double const each =
            std::chrono::duration<double, std::nano>(before - begin).count() / double(rounds);
        ring_findings const pushed = kernel.wait().front();
        bool const right = pushed.count == found.count && pushed.checksum == found.checksum &&
                           faults_of(found) == 0;
        into.add(result_row({{"load", under_load}, {"ns_per_iteration", each}})
                     .with_tail(taken.summarise())
                     .has("passed", right),
                 {"push, pop, credit back", right ? "" : "FAILED: a message was wrong"}, right);
    });
}

} // namespace barmap::tool
