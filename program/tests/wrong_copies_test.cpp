// SPDX-License-Identifier: MIT
#include "command/program.hpp"
#include "cuda/driver_api.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

/// Whole runs of subcommands that verify, in this process, on a simulated GPU of which one copy
/// goes wrong: one check fails among others that pass, and the program exits with 1.
namespace barmap::tool {
namespace {

struct whole_run {
    int exit_code;
    std::string out, err;
    [[nodiscard]] nlohmann::json results() const {
        return nlohmann::json::parse(out).at("results");
    }
};

whole_run run(std::vector<std::string> words) {
    words.insert(words.begin(), "barmap");
    std::vector<char*> pointers;
    for (std::string& each : words)
        pointers.push_back(each.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int const code = run_program(static_cast<int>(pointers.size()), pointers.data());
    std::string err = testing::internal::GetCapturedStderr();
    return {code, testing::internal::GetCapturedStdout(), std::move(err)};
}

class wrong_copies : public testing::Test {
protected:
    wrong_copies() {
        setenv("BARMAP_SIM", "1", 1);
        setenv("BARMAP_SIM_DEVICES", "2", 1);
        setenv("BARMAP_COPY", "portable", 1);
        real_ = &cuda::api();
        static cuda::driver_api table;
        table = *real_;
        table.memcpy_htod = [](CUdeviceptr to, void const* from, std::size_t bytes) {
            std::vector<std::byte> sent(static_cast<std::byte const*>(from),
                                        static_cast<std::byte const*>(from) + bytes);
            if (++writes_ == wrong_write_)
                sent.back() ^= std::byte{1};
            return real_->memcpy_htod(to, sent.data(), bytes);
        };
        table.memcpy_dtoh = [](void* to, CUdeviceptr from, std::size_t bytes) {
            CUresult const result = real_->memcpy_dtoh(to, from, bytes);
            if (++reads_ == wrong_read_)
                static_cast<std::byte*>(to)[bytes - 1] ^= std::byte{1};
            return result;
        };
        table.memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                CUstream stream) {
            bool const lost = lost_of_engine_ != 0 && ++engine_copies_ % lost_of_engine_ == 0;
            return lost ? cuda::success : real_->memcpy_async(to, from, bytes, stream);
        };
        cuda::replace_api(&table);
    }
    ~wrong_copies() override { cuda::replace_api(nullptr); }

    /// Runs the program with the read and the write of these numbers wrong, counted from 1; 0:
    /// none.
    static whole_run with_wrong(std::uint64_t read, std::uint64_t write,
                                std::vector<std::string> const& words) {
        reads_ = writes_ = 0;
        wrong_read_ = read;
        wrong_write_ = write;
        whole_run found = run(words);
        EXPECT_GE(reads_, read);
        EXPECT_GE(writes_, write);
        EXPECT_EQ(found.err, "");
        return found;
    }
    /// Runs the program with every nth copy of the engine `driver` lost.
    static whole_run with_lost_by_engine(std::uint64_t nth, std::vector<std::string> const& words) {
        engine_copies_ = 0;
        lost_of_engine_ = nth;
        whole_run found = with_wrong(0, 0, words);
        EXPECT_GE(engine_copies_, nth);
        lost_of_engine_ = 0;
        return found;
    }
    [[nodiscard]] static std::uint64_t reads() { return reads_; }
    [[nodiscard]] static std::uint64_t writes() { return writes_; }

private:
    static inline cuda::driver_api const* real_ = nullptr;
    static inline std::atomic<std::uint64_t> reads_{0}, writes_{0}, wrong_read_{0}, wrong_write_{0},
        engine_copies_{0}, lost_of_engine_{0};
};

std::size_t count_of(nlohmann::json const& rows, char const* member, nlohmann::json const& value) {
    return static_cast<std::size_t>(std::ranges::count_if(
        rows, [&](auto const& row) { return row.value(member, nlohmann::json()) == value; }));
}

/// What `check` tells of one wrong copy: one failure, and all else as ever.
void expect_one_failure(whole_run const& found) {
    EXPECT_EQ(found.exit_code, 1);
    nlohmann::json const rows = found.results();
    EXPECT_EQ(count_of(rows, "result", "failed"), 1u) << found.out;
    std::size_t const passed = count_of(rows, "result", "passed");
    EXPECT_GT(passed, 5u);
    nlohmann::json const& sums = rows.back();
    EXPECT_EQ(sums.at("failed"), 1);
    EXPECT_EQ(sums.at("passed"), passed);
    EXPECT_EQ(sums.at("skipped"), count_of(rows, "result", "skipped"));
}

/// What `check` says of the failure.
std::string detail_of_failure(whole_run const& found) {
    nlohmann::json const rows = found.results();
    auto const failed = std::ranges::find_if(
        rows, [](auto const& row) { return row.value("result", "") == "failed"; });
    return failed == rows.end() ? "" : failed->at("detail").get<std::string>();
}

struct wrong_copy {
    std::uint64_t read, write;
    char const* says;
};
void PrintTo(wrong_copy const& which, std::ostream* out) {
    *out << which.read << '/' << which.write;
}

class check_of_a_wrong_copy : public wrong_copies,
                              public testing::WithParamInterface<wrong_copy> {};
// Of the first kind of memory, check reads 2 large pieces and 256 small ones; of the second, which
// lies inside its allocation, 1 and 256, and what lies before and behind it.
INSTANTIATE_TEST_SUITE_P(
    each, check_of_a_wrong_copy,
    testing::Values(
        wrong_copy{1, 0, "written through the mapping: byte 4194303 of 8388608 is wrong"},
        wrong_copy{2, 0, "written through the mapping: byte 8388607 of 8388608 is wrong"},
        wrong_copy{3, 0, "a write of "}, wrong_copy{258, 0, "a write of "},
        wrong_copy{516, 0, "bytes before the mapped range were changed"},
        wrong_copy{517, 0, "bytes after the mapped range were changed"}, wrong_copy{1500, 0, ""},
        wrong_copy{0, 1, "read through the mapping: byte 4194303 of 8388608 is wrong"},
        wrong_copy{0, 2, "read through the mapping: byte 8388607 of 8388608 is wrong"},
        wrong_copy{0, 20, ""}),
    [](auto const& info) {
        return info.param.read ? "read_" + std::to_string(info.param.read)
                               : "write_" + std::to_string(info.param.write);
    });

TEST_P(check_of_a_wrong_copy, is_one_failure_among_many) {
    whole_run const found =
        with_wrong(GetParam().read, GetParam().write,
                   {"check", "--max-size", "8M", "--backend", "dmabuf", "--json"});
    expect_one_failure(found);
    EXPECT_EQ(detail_of_failure(found).find(GetParam().says), 0u) << detail_of_failure(found);
}

TEST_F(wrong_copies, are_told_in_words) {
    whole_run const found = with_wrong(1, 0, {"check", "--max-size", "64K", "--backend", "dmabuf"});
    EXPECT_EQ(found.exit_code, 1);
    EXPECT_NE(found.out.find("  failed   "), std::string::npos) << found.out;
    EXPECT_NE(found.out.find(" passed, 1 failed, "), std::string::npos) << found.out;
}

// The last thing that check does.
TEST_F(wrong_copies, on_all_devices_at_once_are_a_failure) {
    std::vector<std::string> const words{"check",     "--all-devices", "--max-size", "64K",
                                         "--backend", "dmabuf",        "--json"};
    whole_run const right = with_wrong(0, 0, words);
    EXPECT_EQ(right.exit_code, 0);
    for (int const gpu : {0, 1}) // each is checked by itself before
        EXPECT_GT(count_of(right.results(), "gpu", gpu), 10u);
    EXPECT_EQ(count_of(right.results(), "memory", "barmap allocate"), 2u);
    std::uint64_t const last_read = reads(), last_write = writes();
    for (auto const& [read, write] :
         {std::pair(last_read, std::uint64_t{0}), std::pair(std::uint64_t{0}, last_write)}) {
        whole_run const found = with_wrong(read, write, words);
        expect_one_failure(found);
        EXPECT_EQ(detail_of_failure(found).find("GPU 1: "), 0u) << detail_of_failure(found);
        EXPECT_EQ(count_of(found.results(), "memory", "vmm on 2 GPUs at once"), 1u);
    }
}

TEST_F(wrong_copies, of_an_engine_are_a_failure_of_stress) {
    std::vector<std::string> const words{"stress", "--threads", "1",   "--iterations",
                                         "1",      "--pieces",  "500", "--pairs",
                                         "1000",   "--json"};
    // Rarely enough for the engine's self-test, and an odd number: two threads may take turns.
    whole_run const found = with_lost_by_engine(49, words);
    EXPECT_EQ(found.exit_code, 1);
    nlohmann::json const rows = found.results();
    std::size_t parts = 0;
    for (auto const& row : rows) {
        if (!row.contains("wrong") && !row.contains("stale"))
            continue;
        ++parts;
        EXPECT_GT(row.value(row.contains("wrong") ? "wrong" : "stale", 0), 0) << row;
        EXPECT_EQ(row.at("passed"), false) << row;
        EXPECT_TRUE(row.at("problem").is_null()) << row;
    }
    EXPECT_EQ(parts, 3u) << found.out;
}

/// What a row tells of its part: whether it is right, or nothing.
std::optional<bool> verdict_of(nlohmann::json const& row) {
    if (row.contains("passed"))
        return row.at("passed").get<bool>();
    if (row.contains("wrong_bytes"))
        return row.at("wrong_bytes") == 0 && row.at("guard_bytes") == 0;
    return std::nullopt;
}

std::ptrdiff_t count_of_verdicts(nlohmann::json const& rows, bool wanted) {
    return std::ranges::count_if(rows, [&](auto const& row) { return verdict_of(row) == wanted; });
}

/// A run whose first part fails, and whose others pass.
struct first_of_many {
    char const* name;
    std::vector<std::string> words;
    std::ptrdiff_t others; ///< rows that have passed, at least
    char const* says = "FAILED";
};
void PrintTo(first_of_many const& which, std::ostream* out) {
    *out << which.name;
}

class first_wrong_copy : public wrong_copies, public testing::WithParamInterface<first_of_many> {};
INSTANTIATE_TEST_SUITE_P(
    each, first_wrong_copy,
    testing::Values(
        first_of_many{
            "stress",
            {"stress", "--threads", "3", "--iterations", "20", "--pieces", "9", "--pairs", "9"},
            4},
        first_of_many{
            "batch", {"batch", "--pool", "64K", "--pieces", "1", "--iterations", "1"}, 9, "WRONG"},
        first_of_many{
            "batch_parts", {"batch", "--pool", "64K", "--check", "2", "--round-trips", "3"}, 1},
        first_of_many{"fresh", {"fresh", "--sizes", "8,16", "--iterations", "100"}, 1},
        first_of_many{"fresh_routines",
                      {"fresh", "--sizes", "8", "--iterations", "100", "--every-routine"},
                      1},
        first_of_many{"demo", {"demo", "--sizes", "8", "--budget", "0.01"}, 0}),
    [](auto const& info) { return std::string(info.param.name); });

TEST_P(first_wrong_copy, fails_the_whole) {
    std::vector<std::string> words = GetParam().words;
    words.emplace_back("--json");
    EXPECT_EQ(with_wrong(0, 0, words).exit_code, 0);
    whole_run const found = with_wrong(1, 0, words);
    EXPECT_EQ(found.exit_code, 1);
    EXPECT_EQ(count_of_verdicts(found.results(), false), 1) << found.out;
    EXPECT_GE(count_of_verdicts(found.results(), true), GetParam().others) << found.out;
    words.pop_back();
    whole_run const in_words = with_wrong(1, 0, words);
    EXPECT_EQ(in_words.exit_code, 1);
    EXPECT_NE(in_words.out.find(GetParam().says), std::string::npos) << in_words.out;
}

// Each pin leaves a descriptor behind.
TEST(leak, of_a_descriptor_in_each_cycle_is_a_failure) {
    setenv("BARMAP_SIM", "1", 1);
    static cuda::driver_api const* const real = &cuda::api();
    static cuda::driver_api table = *real;
    std::vector<std::string> const words{"api", "--max",    "64K", "--iterations",
                                         "1",   "--cycles", "3",   "--json"};
    whole_run const kept = run(words);
    EXPECT_EQ(kept.exit_code, 0) << kept.err;
    EXPECT_EQ(count_of(kept.results(), "leak", false), 1u);
    static std::vector<int> left;
    table.mem_get_handle_for_address_range = [](void* handle, CUdeviceptr address,
                                                std::size_t bytes, int type,
                                                unsigned long long flags) {
        left.push_back(::dup(1));
        return real->mem_get_handle_for_address_range(handle, address, bytes, type, flags);
    };
    cuda::replace_api(&table);
    whole_run const leaky = run(words);
    cuda::replace_api(nullptr);
    std::ranges::for_each(left, ::close);
    EXPECT_EQ(leaky.exit_code, 1) << leaky.err;
    EXPECT_EQ(count_of(leaky.results(), "leak", true), 1u);
}

} // namespace
} // namespace barmap::tool
