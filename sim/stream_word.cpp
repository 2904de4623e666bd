// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <sched.h>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

constexpr int polls_before_sleep = 1000;
constexpr auto between_polls = std::chrono::microseconds(30);

template <class Word>
bool satisfies(Word seen, Word value, unsigned condition) {
    switch (condition) {
    case wait_value_eq:
        return seen == value;
    case wait_value_and:
        return (seen & value) != 0;
    case wait_value_nor:
        return ~(seen | value) != 0;
    default:
        return static_cast<std::make_signed_t<Word>>(seen - value) >= 0;
    }
}

/// A word that the GPU waits for or writes.
template <class Word>
struct shared_word {
    Word* at;

    explicit shared_word(CUdeviceptr address) {
        require(address % sizeof *at == 0);
        at = reinterpret_cast<Word*>(the_world().addresses.resolve(address, sizeof *at));
        require(at != nullptr);
        allocation const* const found = the_world().addresses.find(address);
        require(found->kind != kind::managed);
    }
};

using stream_work = std::function<void()>;

// The word is written after all before it in the stream, as a release.
template <class Word>
stream_work writing(CUdeviceptr address, Word value, unsigned flags) {
    constexpr unsigned no_memory_barrier = 1;
    require((flags & ~no_memory_barrier) == 0);
    // As the driver does (580.159.04).
    allocation const* const found = the_world().addresses.find(address);
    require(!found || found->kind != kind::pooled);
    return [value, word = shared_word<Word>(address)] {
        std::atomic_ref(*word.at).store(value, std::memory_order_release);
    };
}

// The writer of the word sends no notice, so the stream polls it.
template <class Word>
stream_work waiting(stream const& to, CUdeviceptr address, Word value, unsigned flags) {
    unsigned const condition = flags & ~wait_value_flush;
    require(condition <= wait_value_nor);
    return [value, condition, word = shared_word<Word>(address), given_up = to.given_up] {
        for (int polls = 0; !*given_up; ++polls) {
            if (satisfies(std::atomic_ref(*word.at).load(std::memory_order_acquire), value,
                          condition))
                return;
            if (polls < polls_before_sleep)
                sched_yield();
            else
                std::this_thread::sleep_for(between_polls);
        }
    };
}

template <class Word>
CUresult write_value(char const* name, CUstream handle, CUdeviceptr address, Word value,
                     unsigned flags) {
    return call(name, [&](world_lock&) {
        the_world().work.submit(get_stream(handle), writing<Word>(address, value, flags));
    });
}

template <class Word>
CUresult wait_value(char const* name, CUstream handle, CUdeviceptr address, Word value,
                    unsigned flags) {
    return call(name, [&](world_lock&) {
        auto const to = get_stream(handle);
        the_world().work.submit(to, waiting<Word>(*to, address, value, flags));
    });
}

} // namespace

BARMAP_SIM_ENTRY cuStreamWriteValue32_v2(CUstream handle, CUdeviceptr address, std::uint32_t value,
                                         unsigned flags) {
    return write_value("cuStreamWriteValue32", handle, address, value, flags);
}

BARMAP_SIM_ENTRY cuStreamWaitValue32_v2(CUstream handle, CUdeviceptr address, std::uint32_t value,
                                        unsigned flags) {
    return wait_value("cuStreamWaitValue32", handle, address, value, flags);
}

BARMAP_SIM_ENTRY cuStreamWriteValue64_v2(CUstream handle, CUdeviceptr address, std::uint64_t value,
                                         unsigned flags) {
    return write_value("cuStreamWriteValue64", handle, address, value, flags);
}

BARMAP_SIM_ENTRY cuStreamWaitValue64_v2(CUstream handle, CUdeviceptr address, std::uint64_t value,
                                        unsigned flags) {
    return wait_value("cuStreamWaitValue64", handle, address, value, flags);
}

// One entry of the stream: nothing of another thread comes between. All are judged before any is
// done.
BARMAP_SIM_ENTRY cuStreamBatchMemOp_v2(CUstream handle, unsigned count,
                                       CUstreamBatchMemOpParams* operations, unsigned flags) {
    return call("cuStreamBatchMemOp", [&](world_lock&) {
        constexpr unsigned most = 256;
        require(count <= most && flags == 0 && (operations != nullptr || count == 0));
        auto const to = get_stream(handle);
        std::vector<stream_work> all;
        for (CUstreamBatchMemOpParams const& each : std::span(operations, count)) {
            auto const value = static_cast<std::uint32_t>(each.value);
            if (each.operation == operation_wait_value32)
                all.push_back(waiting<std::uint32_t>(*to, each.address, value, each.flags));
            else if (each.operation == operation_write_value32)
                all.push_back(writing<std::uint32_t>(each.address, value, each.flags));
            else
                return error_not_supported;
        }
        for (stream_work& each : all)
            the_world().work.submit(to, std::move(each));
        return success;
    });
}
