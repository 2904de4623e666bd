// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "command/exit_codes.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/ring.hpp>

#include <algorithm>
#include <array>

namespace barmap::tool {
namespace {

/// The sum of all words of that many messages, modulo 2^64.
std::uint64_t sum_of_all(unsigned bytes, std::uint64_t first, std::uint64_t count) {
    auto const sum_up_to = [](std::uint64_t n) { // 0 + 1 + ... + n - 1
        return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    };
    std::uint64_t const words = bytes / 8;
    return words * seal::unit * (count * first + sum_up_to(count)) +
           count * seal::step * sum_up_to(words);
}

/// @return what is wrong with how they ended; empty if nothing is
std::string end_of(std::vector<ring_findings> const& all, gpu::status wanted) {
    constexpr char const* names[] = {"ok", "full", "empty", "closed", "timed out"};
    for (ring_findings const& each : all)
        if (each.is_done == 1 && each.how != static_cast<gpu::word>(wanted))
            return formatted("the kernel ended: {}", names[std::min<gpu::word>(each.how, 4)]);
    return all.front().is_done == 1 ? std::string() : "the kernel left no result";
}

std::string name_of_kernel(ring_run const& what) {
    return formatted("barmap_ring_{}_{}_{}", what.way == copy_direction::to_gpu ? "sink" : "source",
                     name_of(what.who), what.message);
}

constexpr std::uint64_t messages_between_tells = 1 << 16;

template <unsigned Bytes>
class pushes {
public:
    pushes(ring_to_gpu<sealed_message<Bytes>>& ring, ring_run const& what)
        : ring_(ring), what_(what) {}

    /// Pushes up to this number of messages in all, unless the kernel has ended.
    void reach(std::uint64_t end, std::function<void(std::uint64_t)> const& tell) {
        std::array<sealed_message<Bytes>, 16> several;
        while (done_ < end) {
            std::size_t const count = std::min<std::uint64_t>(what_.batch, end - done_);
            for (std::size_t i = 0; i < count; ++i)
                several[i] = make_sealed<Bytes>(what_.first + done_ + i);
            for (std::size_t pushed = 0; pushed < count;) {
                pushed += ring_.push_many({several.data() + pushed, count - pushed});
                if (pushed < count && !wait_for_room()) {
                    done_ += pushed;
                    return;
                }
            }
            done_ += count;
            if (tell && done_ % messages_between_tells < count)
                tell(done_);
        }
    }
    [[nodiscard]] std::uint64_t done() const { return done_; }

private:
    bool wait_for_room() {
        ring_.flush();
        wait_until([&] { return ring_.depth() < what_.slots || ring_.closed(); },
                   "room in the ring");
        return !ring_.closed();
    }

    ring_to_gpu<sealed_message<Bytes>>& ring_;
    ring_run const& what_;
    std::uint64_t done_ = 0;
};

template <unsigned Bytes>
ring_result run_to_gpu(ring_bench const& bench, ring_run const& what,
                       std::function<void(std::uint64_t)> const& tell) {
    unsigned const threads = what.who == ring_threads::warp ? ring_kernel::lanes : 1;
    auto ring = detail::first_number::of<ring_to_gpu<sealed_message<Bytes>>>(
        bench.memory, what.slots, what.first);
    ring_kernel kernel(bench, name_of_kernel(what), 1, threads);
    kernel.launch({what.first, 0, ring_kernel::nanoseconds}, [&] { ring.close(); },
                  {ring.handle()});
    ring_result result;
    pushes<Bytes> all(ring, what);
    // Credits of a quarter tell that the kernel runs: its start is not what is measured.
    std::uint64_t const quarter = gpu::detail::quarter_of(what.slots - 1);
    if (what.messages > quarter) {
        all.reach(quarter, {});
        ring.flush();
        wait_until([&] { return ring.depth() == 0 || ring.closed(); }, "the kernel's start");
    }
    result.timed_messages = what.messages - all.done();
    clock::time_point const begin = clock::now();
    all.reach(what.messages, tell);
    ring.close();
    wait_until([&] { return ring.closed(); }, "the kernel to read the last message");
    result.seconds = seconds_since(begin);
    result.pushed = all.done();
    std::vector<ring_findings> const found = kernel.wait();
    result.read = sum_of(found);
    result.checksum = result.read.checksum == sum_of_all(Bytes, what.first, what.messages);
    result.problem = end_of(found, gpu::status::closed);
    return result;
}

/// Pops and inspects messages of one or of many sources.
template <unsigned Bytes>
class pops {
public:
    pops(ring_to_cpu<sealed_message<Bytes>>& ring, ring_run const& what, unsigned sources)
        : ring_(ring), first_(what.first), sources_(sources), counts_(sources) {}

    /// The next message, if the kernel has not ended before it.
    bool pop() {
        // Messages are inspected in the memory to which they are read: passing them on would take as long as
        // the pop.
        if (auto const message = ring_.try_pop()) {
            take(*message);
            return true;
        }
        auto const late = wait_and_pop(ring_, "a message of the kernel");
        if (late)
            take(*late);
        return late.has_value();
    }
    [[nodiscard]] ring_findings const& found() const { return found_; }
    /// Whether there are more than there should be.
    bool extra() { return ring_.try_pop().has_value(); }

private:
    void take(sealed_message<Bytes> const& message) {
        if (sources_ == 1) {
            inspect(message, first_ + found_.count, found_);
        } else { // each source's own come in order
            std::uint64_t const number = message.words[0] * seal::unit_inverse - first_;
            std::uint64_t const source = number & (sources_ - 1);
            inspect(message, first_ + source + counts_[source]++ * sources_, found_);
        }
    }

    ring_to_cpu<sealed_message<Bytes>>& ring_;
    std::uint64_t first_;
    unsigned sources_; ///< a power of two
    std::vector<std::uint64_t> counts_;
    ring_findings found_{};
};

template <unsigned Bytes>
ring_result run_to_cpu(ring_bench const& bench, ring_run const& what,
                       std::function<void(std::uint64_t)> const& tell) {
    bool const is_many = what.who == ring_threads::many;
    // On the simulated GPU they are threads of the CPU.
    unsigned const blocks = !is_many ? 1 : bench.simulated() ? 2 : 8;
    unsigned const threads = what.who == ring_threads::one  ? 1
                             : is_many && bench.simulated() ? 2
                                                            : ring_kernel::lanes;
    unsigned const sources = is_many ? blocks * threads : 1;
    std::uint64_t const each = std::max<std::uint64_t>(what.messages / sources, 1);
    std::uint64_t const messages = each * sources;
    auto ring = detail::first_number::of<ring_to_cpu<sealed_message<Bytes>>>(
        bench.memory, what.slots, what.first);
    ring_kernel kernel(bench, name_of_kernel(what), blocks, threads);
    kernel.launch({what.first, each, ring_kernel::nanoseconds}, [&] { ring.close(); },
                  {ring.handle()});
    pops<Bytes> all(ring, what, sources);
    ring_result result;
    std::uint64_t popped = all.pop() ? 1 : 0; // the kernel's start is not what is measured
    clock::time_point const begin = clock::now();
    while (popped < messages && popped != 0 && all.pop()) {
        ++popped;
        if (tell && popped % messages_between_tells == 0)
            tell(popped);
    }
    result.seconds = seconds_since(begin);
    result.timed_messages = popped > 0 ? popped - 1 : 0;
    std::vector<ring_findings> const kernel_found = kernel.wait();
    ring_findings const pushed = sum_of(kernel_found);
    result.read = all.found();
    result.pushed = pushed.count;
    result.checksum = result.read.checksum == pushed.checksum &&
                      pushed.checksum == sum_of_all(Bytes, what.first, messages);
    result.problem = end_of(kernel_found, gpu::status::ok);
    if (all.extra())
        result.problem = "messages arrived that were never pushed";
    return result;
}

struct ring_size {
    copy_direction way;
    unsigned message;
    ring_result (*run)(ring_bench const&, ring_run const&,
                       std::function<void(std::uint64_t)> const&);
};

constexpr ring_size ring_sizes[] = {
    {copy_direction::to_gpu, 32, run_to_gpu<32>},   {copy_direction::to_gpu, 56, run_to_gpu<56>},
    {copy_direction::to_gpu, 112, run_to_gpu<112>}, {copy_direction::to_gpu, 224, run_to_gpu<224>},
    {copy_direction::to_cpu, 8, run_to_cpu<8>},     {copy_direction::to_cpu, 56, run_to_cpu<56>},
    {copy_direction::to_cpu, 120, run_to_cpu<120>},
};

ring_size const& size_of_ring(copy_direction way, unsigned message) {
    return *std::find_if(std::begin(ring_sizes), std::end(ring_sizes), [&](ring_size const& each) {
        return each.way == way && each.message == message;
    });
}

} // namespace

ring_kernel::ring_kernel(ring_bench const& bench, std::string const& name, unsigned blocks,
                         unsigned threads)
    : blocks_(blocks), threads_(threads), function_(bench.kernels.named(name.c_str())),
      findings_(std::size_t{blocks} * threads * sizeof(ring_findings)) {}

void ring_kernel::launch(ring_task task, std::function<void()> const& close,
                         kernel_parameters handles, CUdeviceptr more) {
    CUdeviceptr const findings = findings_.gpu_address();
    unsigned const count = blocks_ * threads_;
    handles.add({task, findings, count, more});
    running_.emplace(
        function_, blocks_, threads_, [close](CUstream) { close(); }, handles);
}

std::vector<ring_findings> ring_kernel::wait() const {
    constexpr double limit_s = 20;
    running_->wait(limit_s);
    auto const* const first = reinterpret_cast<ring_findings const*>(findings_.data());
    return {first, first + std::size_t{blocks_} * threads_};
}

ring_findings sum_of(std::vector<ring_findings> const& all) {
    ring_findings sum{};
    for (ring_findings const& each : all) {
        sum.count += each.count;
        sum.torn += each.torn;
        sum.doubled += each.doubled;
        sum.out_of_order += each.out_of_order;
        sum.checksum += each.checksum;
    }
    return sum;
}

void say_that_ring_is_late(char const* what) {
    throw gpu_timeout(formatted("waited too long for {}: run `barmap check` to see whether the "
                                "GPU's mapping is right",
                                what));
}

std::string_view name_of(ring_threads who) {
    constexpr std::string_view names[] = {"thread", "warp", "many"};
    return names[static_cast<unsigned>(who)];
}

std::size_t slot_bytes(copy_direction way, unsigned message) {
    return way == copy_direction::to_cpu
               ? detail::slot_to_cpu_bytes(message)
               : detail::slots_to_gpu::lines_of(message) * detail::slots_to_gpu::line_bytes;
}

bool ring_result::good() const {
    return pushed == read.count && faults_of(read) == 0 && checksum && problem.empty();
}

void put(json& row, ring_result const& found) {
    row["pushed"] = found.pushed;
    row["popped"] = found.read.count;
    row["lost"] = found.lost();
    row["doubled"] = found.read.doubled;
    row["torn"] = found.read.torn;
    row["out_of_order"] = found.read.out_of_order;
    row["checksum_right"] = found.checksum;
    row["problem"] = or_null(found.problem);
    row["passed"] = found.good();
}

std::string verdict(ring_result const& found) {
    if (found.good())
        return "passed";
    if (!found.problem.empty())
        return "FAILED: " + found.problem;
    return formatted("FAILED: {} lost, {} doubled, {} torn, {} out of order{}", found.lost(),
                     found.read.doubled, found.read.torn, found.read.out_of_order,
                     found.checksum ? "" : ", wrong sum");
}

ring_result run_ring(ring_bench const& bench, ring_run const& what,
                     std::function<void(std::uint64_t)> const& tell) {
    return size_of_ring(what.way, what.message).run(bench, what, tell);
}

} // namespace barmap::tool
