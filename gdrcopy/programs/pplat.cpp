// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/buckets.hpp"
#include "gdrcopy/programs/polled_memory.hpp"
#include "gdrcopy/programs/programs.hpp"
#include "gdrcopy/programs/short_options.hpp"

#include "command/exit_codes.hpp"
#include "output/timing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <vector>

namespace barmap::tool::gdrcopy {
namespace {

enum benchmark_mode : std::uint64_t { cpu_produces, gpu_produces };

struct pplat_options : memory_options {
    std::uint64_t rounds = 1000;
    std::uint64_t timeout_s = 10; ///< 0: none
    std::uint64_t data_size = 0;  ///< 0: the flags only
    std::uint64_t blocks = 8, threads = 1024;
    std::uint64_t mode = cpu_produces;
    std::string gpu_flag = "gpumem", cpu_flag = "hostmem", data = "gpumem";
};

/// The data of a round: all its words are the round's last bit, so that a word that is late shows.
std::vector<std::uint32_t> data_of(std::uint32_t round, std::size_t bytes) {
    return std::vector<std::uint32_t>(bytes / sizeof(std::uint32_t), round & 1);
}

/// Both sides and what they share. The kernel's and the CPU's flag hold the round; see
/// gpu_kernels.ptx.
class game {
public:
    game(selected_gpu const& gpu, session const& through, pplat_options const& values);

    /// The times of rounds.
    [[nodiscard]] summary play();

private:
    void wait_for_gpu(std::uint32_t round) const;
    [[nodiscard]] summary produce();
    [[nodiscard]] summary consume();
    void start(char const* kernel, std::initializer_list<kernel_parameter> more = {});

    pplat_options const& values_;
    std::uint32_t const rounds_;
    polled_memory::place const place_;
    gpu_kernels kernels_;
    polled_memory gpu_flag_, cpu_flags_;
    gpu_buffer times_;
    std::optional<polled_memory> data_;
    std::uint32_t const stop_ = flag_stop;
    std::optional<running_kernel> kernel_; ///< ends before the memory that it uses
};

game::game(selected_gpu const& gpu, session const& through, pplat_options const& values)
    : values_(values),
      rounds_(std::uint32_t(values.rounds)), place_{gpu, through, values.allocation,
                                                    map_flags(values.mapping_type)},
      gpu_flag_(place_, values.gpu_flag, sizeof(std::uint32_t)),
      cpu_flags_(place_, values.cpu_flag, values.blocks * sizeof(std::uint32_t)),
      times_(gpu, values.allocation, values.blocks * 2 * sizeof(std::uint64_t)) {
    if (values.data_size)
        data_.emplace(place_, values.data, values.data_size);
}

/// @param more parameters than both kernels have
void game::start(char const* kernel, std::initializer_list<kernel_parameter> more) {
    CUdeviceptr const flag = gpu_flag_.gpu_address(), flags = cpu_flags_.gpu_address(),
                      data = data_ ? data_->gpu_address() : 0;
    std::uint64_t const words = values_.data_size / sizeof(std::uint32_t);
    kernel_parameters parameters{flag, flags, rounds_, data, words};
    parameters.add(more);
    kernel_.emplace(
        kernels_.named(kernel), unsigned(values_.blocks), unsigned(values_.threads),
        [this](CUstream control) { gpu_flag_.force_flag(stop_, control); }, parameters);
    wait_for_gpu(1); // every block runs
}

void game::wait_for_gpu(std::uint32_t round) const {
    constexpr unsigned polls_until_look = 4096;
    clock::time_point const begin = clock::now();
    for (std::size_t block = 0; block < values_.blocks; ++block) {
        unsigned polls = 0;
        for (;;) {
            std::uint32_t const flag = cpu_flags_.read_flag(block);
            if (flag == round)
                break;
            if (flag == (round | flag_stop))
                throw std::runtime_error(
                    formatted("the GPU saw data of another round in round {}", round - 1));
            if (++polls % polls_until_look != 0)
                continue;
            if (values_.timeout_s && seconds_since(begin) > double(values_.timeout_s))
                throw gpu_timeout(formatted(
                    "TIMEOUT: block {} of {} did not answer round {} within {} s{}", block,
                    values_.blocks, round, values_.timeout_s,
                    round == 1 ? "; all blocks must fit on the GPU at once, see -B and -T" : ""));
            if (kernel_->finished() && cpu_flags_.read_flag(block) != round)
                throw gpu_timeout("the GPU kernel ended too early");
            std::this_thread::yield();
        }
    }
}

summary game::produce() {
    std::array const contents{data_of(0, values_.data_size), data_of(1, values_.data_size)};
    start("barmap_consume");
    std::uint32_t round = 1;
    return in_buckets(rounds_, [&](unsigned times) {
        return time_of(times, [&] {
            for (unsigned i = 0; i < times; ++i, ++round) {
                if (data_)
                    data_->write(contents[round & 1].data(), values_.data_size);
                gpu_flag_.write_flag(round);
                wait_for_gpu(round + 1);
            }
        });
    });
}

summary game::consume() {
    std::vector<std::uint32_t> seen(values_.data_size / sizeof(std::uint32_t));
    start("barmap_produce", {times_.address()});

    gpu_flag_.write_flag(1); // the kernel's clock starts
    for (std::uint32_t round = 2; round <= rounds_ + 1; ++round) {
        wait_for_gpu(round);
        if (data_) {
            data_->read(seen.data(), values_.data_size);
            // The last word only, since this is timed; all of them after the last round.
            if (seen.back() != (round & 1))
                throw std::runtime_error(
                    formatted("the CPU saw data of another round in round {}", round - 1));
        }
        gpu_flag_.write_flag(round);
    }
    if (seen != data_of(rounds_ + 1, values_.data_size))
        throw std::runtime_error("the CPU saw data of another round in the last round");
    kernel_->wait(double(values_.timeout_s ? values_.timeout_s : 60));

    std::vector<std::uint64_t> told(values_.blocks * 2); // begin and end of each block
    read_gpu(std::as_writable_bytes(std::span(told)), times_.address());
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    for (std::size_t i = 0; i < told.size(); i += 2) {
        first = std::min(first, told[i]);
        last = std::max(last, told[i + 1]);
    }
    samples all;
    all.add(double(last - first) / rounds_);
    return all.summarise();
}

summary game::play() {
    summary const times = values_.mode == cpu_produces ? produce() : consume();
    kernel_->wait(double(values_.timeout_s ? values_.timeout_s : 60));
    kernel_.reset();
    return times;
}

void say_what_is_measured(pplat_options const& values) {
    if (values.data_size)
        say("Measuring the latency of data + flag model.\nRunning {} iterations with data size {} "
            "bytes and flag size {} bytes.\n",
            values.rounds, values.data_size, sizeof(std::uint32_t));
    else
        say("Measuring the visibility latency of the flag value.\nRunning {} iterations with flag "
            "size {} bytes.\n",
            values.rounds, sizeof(std::uint32_t));
    bool const cpu_first = values.mode == cpu_produces;
    char const *const cpu = "CPU", *const gpu = "GPU";
    std::string const gpu_flag = "gpu_flag in " + values.gpu_flag,
                      cpu_flag = "cpu_flag in " + values.cpu_flag;
    say("A round: the {} writes{} the {}, the {} sees it and answers by the {}. The {}'s "
        "clock.\n\n",
        cpu_first ? cpu : gpu, values.data_size ? " the data in " + values.data + ", then" : "",
        cpu_first ? gpu_flag : cpu_flag, cpu_first ? gpu : cpu, cpu_first ? cpu_flag : gpu_flag,
        cpu_first ? cpu : gpu);
}

int run(pplat_options values) {
    if (values.data_size % sizeof(std::uint32_t) != 0)
        throw std::runtime_error("-s: the data size must be a multiple of 4 bytes");
    if (values.mode > gpu_produces)
        throw std::runtime_error("-m: the mode is 0 (CPU produces) or 1 (GPU produces)");
    if (values.blocks > std::uint64_t(std::numeric_limits<int>::max()))
        throw std::runtime_error("-B: a grid has at most 2147483647 blocks");
    // The flags hold the round and, in their top bit, the end.
    constexpr std::uint64_t most_rounds = flag_stop / 2;
    if (values.rounds > most_rounds)
        throw std::runtime_error(formatted("-t: at most {} iterations", most_rounds));
    values.rounds = whole_buckets(values.rounds, "-t");

    selected_gpu const gpu = say_and_select_gpu(values.device);
    auto const most_threads = std::uint64_t(gpu.attribute(attribute_threads_per_block));
    if (values.threads > most_threads)
        throw std::runtime_error(formatted("-T: at most {} threads on this GPU", most_threads));
    if (!values.data_size && (values.blocks != 1 || values.threads != 1)) {
        say("Without data (-s), one block of one thread is enough: setting nblocks and nthreads to "
            "1.\n");
        values.blocks = values.threads = 1;
    }
    say("Benchmark mode: {}\ngpu alloc fn: {}\n",
        values.mode == cpu_produces ? "CPU produces and GPU consumes"
                                    : "GPU produces and CPU consumes",
        values.allocation);
    say_what_is_measured(values);
    std::fflush(stdout);

    session through;
    summary const times = game(gpu, through, values).play();
    say("Round-trip latency per iteration is (min) {:g}, (median) {:g} us\n", times.min_ns / 1000,
        times.p50_ns / 1000);
    say("closing gdrdrv\n");
    through.close();
    return 0;
}

} // namespace

int run_pplat(int argc, char** argv) {
    pplat_options values;
    std::vector<std::string> const locations{"gpumem", "hostmem"};
    short_options options("Round trips between the CPU and a running GPU kernel");
    options.device(values.device);
    options.number('t', values.rounds, "how many iterations", 1);
    options.number('u', values.timeout_s, "seconds to wait for the GPU; 0: forever");
    options.allocation(values.allocation);
    options.number('s', values.data_size, "bytes of data in a round; 0: flags only");
    options.number('B', values.blocks, "blocks of the GPU kernel", 1);
    options.number('T', values.threads, "threads of a block", 1);
    options.number('m', values.mode,
                   "0: the CPU writes and the GPU answers; 1: the GPU writes and the CPU answers");
    options.choice('G', values.gpu_flag, locations,
                   "memory of the flag that the CPU sets for the GPU");
    options.choice('C', values.cpu_flag, locations,
                   "memory of the flag that the GPU sets for the CPU");
    options.choice('D', values.data, locations, "memory of the data");
    options.mapping_type(values.mapping_type);
    options.footer("Fails if a side sees data of another round than its flag's.");
    return options.run(argc, argv, [&] { return run(values); });
}

} // namespace barmap::tool::gdrcopy
