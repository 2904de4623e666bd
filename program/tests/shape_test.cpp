// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>

/// The members of each measurement's rows, in order, and the columns of its table: programs and
/// docs/results read them.
namespace barmap::test {
namespace {

struct shape {
    char const* name;
    char const* line;
    char const* measurement;
    char const* members;  ///< but for "measurement", which is the first
    char const* headings; ///< with two blanks between them
    bool folded = false;  ///< they do not fit into a line
};
void PrintTo(shape const& which, std::ostream* out) {
    *out << which.name;
}

#define TIMES "min_ns p50_ns p99_ns samples operations_per_sample "
#define TAIL TIMES "p90_ns p99_9_ns max_ns "
#define FAULTS "wrong_bytes guard_bytes"

constexpr shape shapes[]{
    {"lat", "lat --sizes 8 --budget 0.01", "copy",
     "direction size method host routine " TIMES "gb_per_s",
     "h2d  min us  p50 us  p99 us  GB/s  routine"},
    {"lat_choice", "lat --compare --sizes 8 --budget 0.01", "choice",
     "direction size auto_routine best auto_over_best",
     "h2d p50 us  auto  auto GB/s  best  auto / best  auto is", true},
    {"lat_adaptive", "lat --compare --sizes 8 --budget 0.01", "adaptive",
     "direction size host adaptive_method best adaptive_over_best",
     "h2d p50 us  adaptive pageable  GB/s  best  adaptive / best  adaptive is", true},
    {"lat_post", "lat --sizes 8 --budget 0.01", "post", "method " TIMES "size",
     "post  min ns  p50 ns  p99 ns"},
    {"bw", "bw --sizes 8 --budget 0.01", "bandwidth",
     "direction size threads routine " TIMES "gb_per_s",
     "size  h2d p50 us  GB/s  best GB/s  routine  d2h p50 us  GB/s  best GB/s  routine", true},
    {"api", "api --max 64K --iterations 2", "api", "call size " TIMES,
     "call  size  min us  p50 us  p99 us  samples"},
    {"api_cycles", "api --max 64K --iterations 2 --cycles 2", "cycles",
     "cycles size fds device_mappings mappings bar1_available leak",
     "after 2 cycles  before  after"},
    {"pingpong", "pingpong --iterations 20", "pingpong", "doorbell answer_in " TIMES "flushed_late",
     "doorbell  answer in  min us  p50 us  p99 us  rounds"},
    {"demo", "demo --sizes 8 --budget 0.01", "copy",
     "direction size method host routine " TIMES "gb_per_s", "p50 us  copy routine"},
    {"fresh", "fresh --sizes 8 --iterations 100", "fresh",
     "size routine polls distinct non_monotonic unjudged caught_up passed",
     "size  routine  polls  distinct  non-monotonic  unjudged  caught up"},
    {"batch", "batch --pool 64K --pieces 1 --sizes 512 --iterations 2 --methods engine,loop",
     "batch",
     "direction order pieces size bytes method " TIMES "in_flight gb_per_s submit_us " FAULTS
     " verified problem",
     "d2h contiguous  p50 us  p99 us  submit us  engine GB/s  loop GB/s"},
    {"batch_both", "batch --both --pool 64K --pieces 1 --sizes 512 --budget 0.001", "both",
     "order pieces size method d2h_gb_per_s h2d_gb_per_s gb_per_s " FAULTS,
     "both directions  order  method  d2h GB/s  h2d GB/s  sum GB/s"},
    {"batch_beside", "batch --beside copy --pool 64K --pieces 1 --sizes 512 --iterations 2",
     "beside copy",
     "batches pieces size method to_cpu_p50_ns to_cpu_p99_ns to_gpu_p50_ns to_gpu_p99_ns "
     "gb_per_s " FAULTS,
     "a copy of 4 KiB beside  by  to CPU us  p99 us  to GPU us  p99 us  batches GB/s", true},
    {"batch_ordered", "batch --ordered --pool 64K --pieces 1 --sizes 512 --iterations 2", "ordered",
     "direction pieces size method " TIMES FAULTS,
     "kernel to kernel  between  min us  p50 us  p99 us"},
    {"ring_rates", "ring --only rates --messages 50 --slots 16", "rate",
     "direction slot_bytes message_bytes gpu_side batch slots load messages seconds messages_per_s "
     "gb_per_s pushed popped lost doubled torn out_of_order checksum_right problem passed",
     "ring  message  GPU's side  at once  link  M messages/s  GB/s"},
    {"ring_pushes", "ring --only rates --messages 50 --slots 16", "push",
     "direction message_bytes burst slots load " TAIL "passed",
     "try_push  burst  link  min ns  p50 ns  p90 ns  p99 ns  p99.9 ns"},
    {"ring_trip", "ring --only trip --iterations 20 --slices 2", "trip",
     "message_bytes way load " TAIL
     "p50_over_doorbell p99_over_doorbell p50_over_bare p99_over_bare passed",
     "round trip  link  min us  p50 us  p90 us  p99 us  p99.9 us  max us  p50 over doorbell  p99 "
     "over doorbell  p50 over bare",
     true},
    {"ring_fifo", "ring --only fifo --iterations 20", "fifo",
     "load ns_per_iteration " TAIL "passed",
     "fifo of one slot  link  us an iteration  min us  p50 us  p99 us  p99.9 us  max us", true},
    {"ring_calls", "ring --only calls --iterations 20", "call",
     "request_bytes reply_bytes threads load calls calls_per_s " TAIL "passed",
     "call of the CPU  threads  link  min us  p50 us  p99 us  p99.9 us  max us  M calls/s", true},
    {"ring_steps", "ring --only steps --iterations 20", "step", "what tensors bytes " TAIL "passed",
     "a step of 48 × 256 B  min us  p50 us  p99 us  p99.9 us  max us"},
    {"ring_soak", "ring --only soak --messages 100 --slots 16", "soak total",
     "direction load rings pushed popped lost doubled torn out_of_order passed",
     "soak  link  rings  pushed  popped  lost  doubled  torn  out of order"},
};

class shape_of_results : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(each, shape_of_results, testing::ValuesIn(shapes),
                         [](auto const& info) { return std::string(info.param.name); });

TEST_P(shape_of_results, is_known) {
    shape const& which = GetParam();
    outcome const run = barmap(std::string(which.line) + " --json");
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    auto const document = nlohmann::ordered_json::parse(run.out);
    std::string members;
    for (auto const& row : document.at("results")) {
        if (row.at("measurement") != which.measurement)
            continue;
        EXPECT_EQ(row.begin().key(), "measurement");
        for (auto member = ++row.begin(); member != row.end(); ++member)
            members += (members.empty() ? "" : " ") + member.key();
        break;
    }
    EXPECT_EQ(members, unfolded(which.members));
    std::string const text = " " + unfolded(barmap(which.line).out) + " ";
    if (!which.folded) {
        EXPECT_NE(text.find(" " + unfolded(which.headings) + " "), std::string::npos) << text;
    }
    std::istringstream words(which.headings);
    for (std::string word; words >> word;)
        EXPECT_NE(text.find(" " + word + " "), std::string::npos) << word << " in" << text;
}

} // namespace
} // namespace barmap::test
