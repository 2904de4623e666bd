// SPDX-License-Identifier: MIT
// The methods of all_to_all.cu in which the CPU starts each round: NCCL, and copies in streams.
#pragma once

#include "all_to_all.cuh"
#include "nccl_library.hpp"

#include <vector>

/// NCCL's send and receive, as a group for each round.
struct by_nccl {
    nccl_library const& nccl;
    std::vector<nccl_library::communicator> const& communicators;
    members const& gpus;
    unsigned bytes;

    /// @return NCCL's result
    [[nodiscard]] int start(gpu::word first, bool compares) const {
        for (gpu::word round = first; round < first + rounds_at_once; ++round) {
            int result = nccl.begin_group();
            for (member const& each : gpus.all()) {
                exchange const& all = each.all;
                auto* const by = communicators[all.me];
                for (unsigned i = 0; i + 1 < all.gpus && result == 0; ++i) {
                    unsigned const peer = all.peer(i);
                    result = nccl.send(all.block_for(peer, round), bytes, static_cast<int>(peer),
                                       by, each.stream);
                    if (result == 0)
                        result = nccl.receive(all.place(all.me, peer, round), bytes,
                                              static_cast<int>(peer), by, each.stream);
                }
            }
            int const at_end = nccl.end_group();
            if (result != 0 || at_end != 0)
                return result != 0 ? result : at_end;
            if (compares)
                gpus.compare_round(bytes, round);
        }
        return 0;
    }
    void operator()(gpu::word first, bool compares) const { nccl.expect(start(first, compares)); }
};

/// The same rounds as a CUDA graph for each GPU. Places and blocks repeat after rounds_at_once
/// rounds, so that each replay is right.
class by_nccl_graph {
public:
    explicit by_nccl_graph(by_nccl const& rounds) : gpus_(rounds.gpus) {
        for (bool const compares : {false, true})
            capture(rounds, compares);
    }
    [[nodiscard]] char const* why_not() const { return why_not_; }
    void operator()(gpu::word, bool compares) const {
        for (member const& each : gpus_.all()) {
            members::use(each);
            check(cudaGraphLaunch(graphs_[compares][each.all.me], each.stream));
        }
    }

private:
    void capture(by_nccl const& rounds, bool compares) {
        for (member const& each : gpus_.all()) {
            members::use(each);
            check(cudaStreamBeginCapture(each.stream, cudaStreamCaptureModeThreadLocal));
        }
        int const result = rounds.start(0, compares);
        if (result != 0)
            why_not_ = rounds.nccl.text(result);
        std::vector<cudaError_t> ends;
        std::vector<cudaGraph_t> made(gpus_.size());
        for (member const& each : gpus_.all()) { // while one is captured, none can be made ready
            members::use(each);
            ends.push_back(cudaStreamEndCapture(each.stream, &made[each.all.me]));
        }
        for (member const& each : gpus_.all()) {
            members::use(each);
            cudaGraph_t const graph = made[each.all.me];
            cudaGraphExec_t ready = nullptr;
            cudaError_t error = ends[each.all.me];
            if (error == cudaSuccess && why_not_ == nullptr)
                error = cudaGraphInstantiate(&ready, graph, 0);
            if (error == cudaSuccess && ready != nullptr)
                error = cudaGraphUpload(ready, each.stream);
            if (error != cudaSuccess && why_not_ == nullptr)
                why_not_ = cudaGetErrorString(error);
            (void)cudaGetLastError();
            if (graph != nullptr)
                check(cudaGraphDestroy(graph));
            graphs_[compares].push_back(ready);
        }
    }

    members const& gpus_;
    char const* why_not_ = nullptr;
    std::vector<cudaGraphExec_t> graphs_[2]; ///< kept until the program ends
};

/// A copy for each block, in a stream for each two GPUs. Events order them as the signals do.
class by_streams {
public:
    explicit by_streams(members const& gpus)
        : gpus_(gpus), ready_(gpus.size()), pairs_(gpus.size() * gpus.size()) {
        for (member const& each : gpus.all()) {
            members::use(each);
            check(cudaEventCreateWithFlags(&ready_[each.all.me], cudaEventDisableTiming));
            for (unsigned i = 0; i + 1 < each.all.gpus; ++i) {
                pair& made = between(each, each.all.peer(i));
                made.stream = urgent_stream();
                check(cudaEventCreateWithFlags(&made.sent, cudaEventDisableTiming));
            }
        }
    }
    void start(unsigned bytes, gpu::word first, bool compares) {
        for (gpu::word round = first; round < first + rounds_at_once; ++round) {
            for (member const& each : gpus_.all())
                send(each, bytes, round);
            for (member const& each : gpus_.all())
                receive(each);
            if (compares)
                gpus_.compare_round(bytes, round);
        }
    }

private:
    struct pair {
        cudaStream_t stream;
        cudaEvent_t sent;
    };
    [[nodiscard]] pair& between(member const& from, unsigned to) {
        return pairs_[from.all.me * gpus_.size() + to];
    }
    void send(member const& from, unsigned bytes, gpu::word round) {
        members::use(from);
        exchange const& all = from.all;
        check(cudaEventRecord(ready_[all.me], from.stream));
        for (unsigned i = 0; i + 1 < all.gpus; ++i) {
            unsigned const peer = all.peer(i);
            pair const& with = between(from, peer);
            check(cudaStreamWaitEvent(with.stream, ready_[all.me], 0));
            check(cudaMemcpyPeerAsync(all.place(peer, all.me, round), gpus_.all()[peer].ordinal,
                                      all.block_for(peer, round), from.ordinal, bytes,
                                      with.stream));
            check(cudaEventRecord(with.sent, with.stream));
        }
    }
    void receive(member const& to) {
        members::use(to);
        for (unsigned i = 0; i + 1 < to.all.gpus; ++i) {
            unsigned const peer = to.all.peer(i);
            check(cudaStreamWaitEvent(to.stream, between(gpus_.all()[peer], to.all.me).sent, 0));
            check(cudaStreamWaitEvent(to.stream, between(to, peer).sent, 0)); // may now change
        }
    }

    members const& gpus_;
    std::vector<cudaEvent_t> ready_;
    std::vector<pair> pairs_;
};
