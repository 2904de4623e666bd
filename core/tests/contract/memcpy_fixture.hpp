// SPDX-License-Identifier: MIT
#pragma once

#include "contract/batch_fixture.hpp"

#include "account.hpp"
#include "gpu_batches.hpp"
#include "judgement.hpp"
#include "own_calls.hpp"
#include "take.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

/// cuMemcpyBatchAsync, as the driver serves it and as libbarmap-memcpy does.
namespace barmap::contract {

/// What a program gives to the function.
struct copies {
    std::vector<CUdeviceptr> to, from;
    std::vector<std::size_t> bytes;
    std::vector<CUmemcpyAttributes> attributes{{cuda::source_order_stream, {}, {}, 0}};
    std::vector<std::size_t> first_of{0};
    CUstream stream = nullptr;

    copies(std::vector<copy_piece> const& list, CUstream on) : stream(on) {
        for (copy_piece const& each : list) {
            to.push_back(each.to);
            from.push_back(each.from);
            bytes.push_back(each.bytes);
        }
    }
    [[nodiscard]] memcpy_dropin::batch_call call() const {
        return {to.data(),         from.data(),     bytes.data(),      to.size(),
                attributes.data(), first_of.data(), attributes.size(), stream};
    }
};

/// Either of the two that are compared.
enum class copier { driver, dropin };

/// What the program gets. Of the drop-in: the driver's answer too, where it passes the batch on.
inline CUresult copy_by(copier which, copies given) {
    if (which == copier::dropin)
        if (auto const result = memcpy_dropin::take(given.call()))
            return *result;
    std::size_t failed = 0;
    return cuda::api().memcpy_batch_async(given.to.data(), given.from.data(), given.bytes.data(),
                                          given.to.size(), given.attributes.data(),
                                          given.first_of.data(), given.attributes.size(), &failed,
                                          given.stream);
}

/// A program, on a machine with an engine, in which the drop-in is ready.
class memcpy_program {
public:
    explicit memcpy_program(char const* engine, fake::rm_driver::behaviour how = {})
        : machine(engine, how) {}
    ~memcpy_program() { memcpy_dropin::gpu_batches::destroy_all(); }

    [[nodiscard]] static memcpy_dropin::gpu_batches::state wait_for_the_start(int gpu = 0) {
        using enum memcpy_dropin::gpu_batches::state;
        memcpy_dropin::gpu_batches* const of = memcpy_dropin::gpu_batches::of(gpu);
        for (;;) {
            auto const is = of->now();
            if (is != starting && is != idle)
                return is;
            std::this_thread::yield();
        }
    }
    void expect_ready() {
        ASSERT_EQ(wait_for_the_start(), memcpy_dropin::gpu_batches::state::ready);
    }
    /// Every byte of both sides after a batch each way, by either of them.
    struct result {
        std::vector<CUresult> status;
        std::vector<std::byte> host, gpu;
        bool operator==(result const&) const = default;
    };
    [[nodiscard]] result run(copier which, copies const& given) {
        write_by_driver(p.block.address(), pattern(batch_program::size, 11));
        p.host.fill(pattern(batch_program::size, 12));
        result seen;
        seen.status.push_back(copy_by(which, given));
        (void)cuda::api().stream_synchronize(given.stream); // of whichever context
        EXPECT_EQ(cuda::api().ctx_synchronize(), cuda::success);
        seen.host.assign(p.host.bytes().begin(), p.host.bytes().end());
        seen.gpu = read_by_driver(p.block.address(), batch_program::size);
        return seen;
    }
    /// Both do the same, and the drop-in by itself.
    void expect_taken(copies const& given) {
        auto const before = words();
        auto const wanted = run(copier::driver, given), seen = run(copier::dropin, given);
        EXPECT_TRUE(wanted == seen);
        EXPECT_EQ(seen.status.front(), cuda::success);
        EXPECT_NE(before, words());
        EXPECT_EQ(passed(before), passed(words()));
    }
    /// Both do the same, since the drop-in leaves it to the driver.
    void expect_passed(copies const& given, memcpy_dropin::reason why) {
        auto const before = count_of(why);
        auto const wanted = run(copier::driver, given), seen = run(copier::dropin, given);
        EXPECT_TRUE(wanted == seen);
        EXPECT_EQ(count_of(why), before + 1) << words();
    }
    /// The drop-in leaves it to the driver, which is not asked.
    static void expect_left(memcpy_dropin::batch_call const& call, memcpy_dropin::reason why) {
        auto const before = count_of(why);
        EXPECT_FALSE(memcpy_dropin::take(call));
        EXPECT_EQ(count_of(why), before + 1) << words();
    }
    /// How many batches were left for this reason, as the report at exit tells it.
    [[nodiscard]] static unsigned long count_of(memcpy_dropin::reason why) {
        std::string const all = words();
        std::string const word(memcpy_dropin::words_of_reasons[static_cast<std::size_t>(why)]);
        std::size_t const at = all.find(" (" + word + ")");
        return at == std::string::npos ? 0 : std::stoul(all.substr(all.rfind(' ', at - 1)));
    }
    /// How many batches, pieces and bytes the drop-in has copied.
    [[nodiscard]] static std::array<unsigned long, 3> taken() {
        std::string const all = words();
        std::array<unsigned long, 3> counts{};
        auto& [batches, pieces, bytes] = counts;
        std::size_t const at = std::min(all.find("took "), all.size());
        std::sscanf(all.c_str() + at, "took %lu batches of %lu pieces and %lu bytes", &batches,
                    &pieces, &bytes);
        return counts;
    }
    [[nodiscard]] static std::string words() { return memcpy_dropin::account(); }
    [[nodiscard]] static std::string passed(std::string const& of) {
        return of.substr(of.find("CUDA copied"));
    }

    engine_machine machine;
    batch_program p{};
};

/// Memory on both sides for pieces that the program's is too small for.
class large_memory {
public:
    explicit large_memory(std::size_t bytes) : gpu_(bytes), host_(bytes), bytes_(bytes) {}
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::vector<copy_piece> to_cpu(std::size_t count, std::size_t bytes) const {
        std::vector<copy_piece> list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({host_.address() + i * bytes, gpu_.address() + i * bytes, bytes});
        return list;
    }

private:
    device_block gpu_;
    pinned_block host_;
    std::size_t bytes_;
};

/// Counts the queues that this thread opens, each of which registers memory.
struct opened_here : changed_driver {
    opened_here() {
        count = 0;
        caller = std::this_thread::get_id();
        (*this)->mem_host_register = [](auto... arguments) {
            count += std::this_thread::get_id() == caller;
            return real.mem_host_register(arguments...);
        };
    }
    static inline std::atomic<int> count;
    static inline std::thread::id caller;
};

} // namespace barmap::contract
