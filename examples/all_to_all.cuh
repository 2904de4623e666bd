// SPDX-License-Identifier: MIT
// The kernels of all_to_all.cu, and the GPUs that run them. Blocks go to two places in turn. A GPU
// begins a round when it has received the blocks of the round before from all others. They sent
// these after they had compared the blocks of the round before that, whose places are free then.
#pragma once

#include "measured_copies.hpp"

#include <barmap/barmap.hpp>
#include <barmap/gpu/kernel_queue.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace gpu = barmap::gpu;

constexpr unsigned most_gpus = 16, most_bytes = 1 << 20; ///< of a block
constexpr unsigned rounds_at_once = 32;                  ///< whose blocks differ
constexpr unsigned most_parts = 32;                      ///< of a block, with a signal each
constexpr gpu::word patience = 2'000'000'000;            ///< ns of a wait

/// Filled by the kernels of a GPU.
struct report {
    unsigned status; ///< gpu::status of the first failure: nothing is copied behind it
    unsigned wrong;  ///< 16 bytes that are wrong
};

/// The memory of all GPUs, as the GPU with the number `me` uses it.
struct exchange {
    unsigned me, gpus;
    char* sent;                    ///< of this GPU, for all others
    char* received[most_gpus];     ///< of each GPU, from all others
    gpu::word* signals[most_gpus]; ///< of each GPU: the last round that has arrived, counted from 1
    report* seen;

    static constexpr unsigned step = 4096; ///< between the blocks of two rounds
    static constexpr unsigned bytes_for_peer = most_bytes + (rounds_at_once - 1) * step;
    [[nodiscard]] std::size_t bytes_sent() const { return std::size_t(gpus) * bytes_for_peer; }
    [[nodiscard]] std::size_t bytes_received() const { return std::size_t(2) * gpus * most_bytes; }
    [[nodiscard]] std::size_t signals_received() const { return std::size_t(gpus) * most_parts; }

    /// The other GPUs, in an order in which not all begin with the same one.
    [[nodiscard]] __host__ __device__ unsigned peer(unsigned i) const {
        return (me + 1 + i) % gpus;
    }
    /// This GPU's block for a peer.
    [[nodiscard]] __host__ __device__ char* block_for(unsigned peer, gpu::word round) const {
        return sent + std::size_t(peer) * bytes_for_peer + round % rounds_at_once * step;
    }
    /// In memory of the GPU `to`.
    [[nodiscard]] __host__ __device__ char* place(unsigned to, unsigned from,
                                                  gpu::word round) const {
        return received[to] + (round % 2 * gpus + from) * most_bytes;
    }
    [[nodiscard]] __host__ __device__ gpu::word* signal(unsigned to, unsigned from,
                                                        unsigned part = 0) const {
        return signals[to] + from * most_parts + part;
    }
};

/// A word of a GPU's blocks for a peer: no two are equal.
__device__ inline unsigned word_of(unsigned from, unsigned to, unsigned index) {
    return ((from * most_gpus + to) << 19 | (index + 1)) * 2654435761U;
}
static_assert(exchange::bytes_for_peer / 4 < 1U << 19);

__global__ void fill_blocks(exchange all) {
    constexpr unsigned words = exchange::bytes_for_peer / 4;
    for (unsigned to = 0; to < all.gpus; ++to)
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
             i += gridDim.x * blockDim.x)
            reinterpret_cast<unsigned*>(all.block_for(to, 0))[i] = word_of(all.me, to, i);
}

/// By `threads` threads, of which each has a number: counts what is wrong from 16 bytes to others.
__device__ inline void compare(exchange const& all, unsigned from, gpu::word round, unsigned begin,
                               unsigned end, unsigned thread, unsigned threads) {
    auto const* const words = reinterpret_cast<uint4 const*>(all.place(all.me, from, round));
    unsigned const first = static_cast<unsigned>(round % rounds_at_once) * exchange::step / 4;
    unsigned wrong = 0;
    for (unsigned i = begin + thread; i < end; i += threads) {
        uint4 const found = words[i];
        unsigned const at = first + 4 * i;
        wrong += found.x != word_of(from, all.me, at) || found.y != word_of(from, all.me, at + 1) ||
                 found.z != word_of(from, all.me, at + 2) ||
                 found.w != word_of(from, all.me, at + 3);
    }
    if (wrong != 0)
        atomicAdd(&all.seen->wrong, wrong);
}

/// Compares each byte that a GPU has received in a round.
__global__ void compare_blocks(exchange all, unsigned bytes, gpu::word round) {
    for (unsigned i = 0; i + 1 < all.gpus; ++i)
        compare(all, all.peer(i), round, 0, bytes / 16, blockIdx.x * blockDim.x + threadIdx.x,
                gridDim.x * blockDim.x);
}

__device__ inline bool has_failed(exchange const& all) {
    return *const_cast<unsigned volatile*>(&all.seen->status) != 0;
}
__device__ inline void report_failure(exchange const& all, gpu::status result) {
    atomicCAS(&all.seen->status, 0U, static_cast<unsigned>(result));
}

constexpr unsigned all_lanes = 0xffffffff;

/// By a warp: until a block of this round has arrived. Then the warp sees it.
__device__ inline gpu::status wait_for(gpu::word const* signal, gpu::word round) {
    gpu::word const begin = gpu::nanoseconds_now();
    while (__all_sync(all_lanes, gpu::load_acquire(signal) >= round) == 0)
        if (__any_sync(all_lanes, gpu::nanoseconds_now() - begin > patience) != 0)
            return gpu::status::timed_out;
    return gpu::status::ok;
}

/// The queues of a GPU: each warp has its own.
struct queues {
    gpu::kernel_queue for_peer[most_gpus - 1];
};

/// Of a block of one warp for each peer. Copy engines put the blocks, and set the peers' signals.
/// @param compares each byte, in each round
__global__ void __launch_bounds__(32)
    put_blocks(__grid_constant__ queues const of_gpu, __grid_constant__ exchange const all,
               unsigned bytes, gpu::word first, unsigned rounds, bool compares) {
    unsigned const peer = all.peer(blockIdx.x);
    // All that the warp reads lies in this GPU's memory.
    gpu::warp_submitter copies(of_gpu.for_peer[blockIdx.x], gpu::fence_scope::device);
    gpu::status result = copies.opened();
    if (__any_sync(all_lanes, has_failed(all)) != 0)
        return;
    for (gpu::word round = first; round < first + rounds && result == gpu::status::ok; ++round) {
        auto const block = [&](unsigned) {
            return gpu::copy_piece{reinterpret_cast<gpu::word>(all.place(peer, all.me, round)),
                                   reinterpret_cast<gpu::word>(all.block_for(peer, round)), bytes};
        };
        gpu::copy_signal const arrived = {reinterpret_cast<gpu::word>(all.signal(peer, all.me)),
                                          round, sizeof(gpu::word)};
        gpu::word ticket = 0;
        result = copies.submit(1, block, ticket, arrived, patience);
        if (result == gpu::status::ok)
            result = wait_for(all.signal(all.me, peer), round);
        if (result == gpu::status::ok && compares)
            compare(all, peer, round, 0, bytes / 16, threadIdx.x, blockDim.x);
        if (result == gpu::status::ok)
            result = copies.wait(ticket, patience); // the block that was sent may now change
    }
    if (result != gpu::status::ok && threadIdx.x == 0)
        report_failure(all, result);
}

/// Stores a part of a block, four times 16 bytes a thread at once.
__device__ inline void store_part(char* to, char const* from, unsigned begin, unsigned end) {
    constexpr unsigned at_once = 4;
    auto const* const source = reinterpret_cast<uint4 const*>(from);
    auto* const target = reinterpret_cast<uint4*>(to);
    for (unsigned i = begin + threadIdx.x; i < end; i += at_once * blockDim.x) {
        uint4 some[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            if (i + k * blockDim.x < end)
                some[k] = source[i + k * blockDim.x];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            if (i + k * blockDim.x < end)
                target[i + k * blockDim.x] = some[k];
    }
}

constexpr unsigned store_threads = 1024;

/// Of up to most_parts blocks: each stores a part of each block, and waits for that part of those
/// that arrive.
__global__ void __launch_bounds__(store_threads)
    store_blocks(__grid_constant__ exchange const all, unsigned bytes, gpu::word first,
                 unsigned rounds, bool compares) {
    unsigned const part = bytes / 16 / gridDim.x, begin = part * blockIdx.x, end = begin + part;
    if (__syncthreads_or(has_failed(all)) != 0)
        return;
    for (gpu::word round = first; round < first + rounds; ++round) {
        for (unsigned i = 0; i + 1 < all.gpus; ++i)
            store_part(all.place(all.peer(i), all.me, round), all.block_for(all.peer(i), round),
                       begin, end);
        __syncthreads(); // all threads have stored
        gpu::status result = gpu::status::ok;
        if (threadIdx.x < 32) {
            if (threadIdx.x == 0) {
                gpu::fence_system();
                for (unsigned i = 0; i + 1 < all.gpus; ++i)
                    gpu::store_release(all.signal(all.peer(i), all.me, blockIdx.x), round);
            }
            for (unsigned i = 0; i + 1 < all.gpus && result == gpu::status::ok; ++i)
                result = wait_for(all.signal(all.me, all.peer(i), blockIdx.x), round);
            if (result != gpu::status::ok && threadIdx.x == 0)
                report_failure(all, result);
        }
        if (__syncthreads_or(result != gpu::status::ok) != 0)
            return;
        for (unsigned i = 0; i + 1 < all.gpus && compares; ++i)
            compare(all, all.peer(i), round, begin, end, threadIdx.x, blockDim.x);
    }
}

/// GPUs of which each has access to the memory of all others.
inline std::vector<int> gpus_with_access() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    std::vector<int> result;
    for (int each = 0; each < count && result.size() < most_gpus; ++each)
        if (std::all_of(result.begin(), result.end(), [&](int other) {
                int there = 0, back = 0;
                check(cudaDeviceCanAccessPeer(&there, each, other));
                check(cudaDeviceCanAccessPeer(&back, other, each));
                return there != 0 && back != 0;
            }))
            result.push_back(each);
    if (result.size() < 2)
        fail("all_to_all needs two GPUs with access to each other's memory");
    for (int const each : result) {
        check(cudaSetDevice(each));
        for (int const other : result)
            if (other != each)
                check(cudaDeviceEnablePeerAccess(other, 0));
    }
    return result;
}

/// Of the current GPU. Blocks of its kernels come before those of the matrix product.
inline cudaStream_t urgent_stream() {
    int least, greatest;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t result;
    check(cudaStreamCreateWithPriority(&result, cudaStreamNonBlocking, greatest));
    return result;
}

/// One GPU.
struct member {
    int ordinal;
    cudaStream_t stream;
    exchange all = {};
    queues of_kernels = {};
    cudaEvent_t done[2]; ///< of the last two times
    std::vector<barmap::kernel_queue> for_peer;
};

/// All GPUs, and the number of the next round.
class members {
public:
    explicit members(std::vector<int> const& ordinals) : all_(ordinals.size()) {
        for (unsigned i = 0; i < all_.size(); ++i)
            set_up(all_[i], ordinals[i], i);
        for (member& each : all_)
            for (member const& other : all_) {
                each.all.received[other.all.me] = other.all.received[other.all.me];
                each.all.signals[other.all.me] = other.all.signals[other.all.me];
            }
        for (member const& each : all_) {
            use(each);
            fill_blocks<<<256, 256, 0, each.stream>>>(each.all);
            check(cudaGetLastError());
        }
        wait();
    }
    [[nodiscard]] std::vector<member> const& all() const { return all_; }
    [[nodiscard]] std::size_t size() const { return all_.size(); }

    static void use(member const& each) { check(cudaSetDevice(each.ordinal)); }

    /// The first of the next rounds_at_once rounds.
    gpu::word next() { return next_ += rounds_at_once; }
    void wait() const {
        for (member const& each : all_)
            check(cudaStreamSynchronize(each.stream));
    }
    /// Overwrites the blocks that have arrived. @pre nothing is in flight
    void forget() const {
        for (member const& each : all_) {
            use(each);
            check(cudaMemset(each.all.received[each.all.me], 0, each.all.bytes_received()));
            check(cudaDeviceSynchronize());
        }
    }
    void compare_round(unsigned bytes, gpu::word round) const {
        for (member const& each : all_) {
            use(each);
            compare_blocks<<<64, 256, 0, each.stream>>>(each.all, bytes, round);
            check(cudaGetLastError());
        }
    }
    /// Compares the blocks of the last two rounds, which both places hold.
    void expect_right(char const* method, unsigned bytes) const {
        wait();
        gpu::word const end = next_ + rounds_at_once;
        compare_round(bytes, end - 2);
        compare_round(bytes, end - 1);
        wait();
        for (member const& each : all_) {
            for (barmap::kernel_queue const& queue : each.for_peer)
                queue.check();
            report seen;
            check(cudaMemcpy(&seen, each.all.seen, sizeof seen, cudaMemcpyDeviceToHost));
            if (seen.status == 0 && seen.wrong == 0)
                continue;
            std::fprintf(stderr, "%s, blocks of %u B, GPU %d: status %u, %u times 16 B wrong\n",
                         method, bytes, each.ordinal, seen.status, seen.wrong);
            std::exit(1);
        }
    }

private:
    void set_up(member& made, int ordinal, unsigned number) const {
        made.ordinal = ordinal;
        use(made);
        made.stream = urgent_stream();
        for (cudaEvent_t& each : made.done)
            check(cudaEventCreateWithFlags(&each, cudaEventDisableTiming));
        barmap::device const device = barmap::device::open(ordinal);
        for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
            made.for_peer.emplace_back(device); // throws, with the reason, where there are none
            made.of_kernels.for_peer[i] = made.for_peer.back().handle();
        }
        exchange& all = made.all;
        all.me = number;
        all.gpus = static_cast<unsigned>(all_.size());
        all.sent = gpu_memory<char>(all.bytes_sent());
        all.received[number] = gpu_memory<char>(all.bytes_received());
        all.signals[number] = gpu_memory<gpu::word>(all.signals_received());
        all.seen = gpu_memory<report>(1);
        // CUDA loads a kernel when it is first needed, and may then wait for kernels that run.
        cudaFuncAttributes loaded;
        check(cudaFuncGetAttributes(&loaded, put_blocks));
        check(cudaFuncGetAttributes(&loaded, store_blocks));
        check(cudaFuncGetAttributes(&loaded, compare_blocks));
    }

    std::vector<member> all_;
    gpu::word next_ = 0;
};
