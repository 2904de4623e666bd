// SPDX-License-Identifier: MIT
// An all-to-all over NVLink: each GPU of the process sends a block to each other one, as layers of
// experts do that are spread over GPUs. One warp for each peer has a copy engine put its block into
// the peer's memory (barmap::kernel_queue) and set a signal there, and waits for the signal of the
// block that arrives. Beside it NCCL's send and receive, where libnccl.so.2 is found,
// cudaMemcpyPeerAsync, and kernels that store over NVLink. Each method runs alone, and beside a
// matrix product on all GPUs, which it slows down. Every byte is compared. Prints CSV.
//
//     nvcc -std=c++20 -O2 -arch=sm_90 all_to_all.cu $(pkg-config --cflags --libs barmap)
#include "all_to_all.cuh"
#include "all_to_all_by_cpu.cuh"
#include "matrix_product.cuh"

#include <barmap/barmap.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

struct method {
    char const *name, *rounds;
    std::function<void(gpu::word first, bool compares)> start; ///< enqueues rounds_at_once rounds
    figures us = {}, product = {}, us_beside = {};
};

/// Measures methods alone and beside products.
class stopwatch {
public:
    explicit stopwatch(members& gpus) : gpus_(gpus) {
        for (member const& each : gpus.all())
            products_.push_back(std::make_unique<matrix_product>(each.ordinal));
    }
    /// Of an all-to-all, with the calls of CUDA or NCCL that start it.
    [[nodiscard]] double us_alone(method const& of) const {
        constexpr int times = 10;
        auto const begin = clock_type::now();
        for (int i = 0; i < times; ++i)
            of.start(gpus_.next(), false);
        gpus_.wait();
        return microseconds(clock_type::now() - begin).count() / (times * rounds_at_once);
    }
    /// Of the products, on the GPU that takes longest.
    [[nodiscard]] double milliseconds_alone() const {
        start_products();
        return wait_for_products();
    }
    /// Of the products, and the us of an all-to-all, while one follows another.
    [[nodiscard]] std::pair<double, double> beside(method const& of) const {
        start_products();
        auto const begin = clock_type::now();
        auto end = begin;
        unsigned number = 0; // of the times that ended until then
        start(of, 0);
        for (unsigned time = 1;; ++time) { // two are in flight, so that the GPUs never wait
            start(of, time);
            for (member const& each : gpus_.all())
                check(cudaEventSynchronize(each.done[(time - 1) % 2]));
            auto const now = clock_type::now();
            bool const are_running =
                std::all_of(products_.begin(), products_.end(),
                            [](auto const& each) { return each->is_running(); });
            if (are_running || number == 0) {
                end = now;
                number = time;
            }
            if (!are_running)
                break;
        }
        gpus_.wait();
        return {wait_for_products(), microseconds(end - begin).count() / (number * rounds_at_once)};
    }
    void expect_right() const {
        for (auto const& each : products_)
            each->expect_right();
    }

private:
    void start_products() const {
        for (auto const& each : products_)
            each->start();
    }
    [[nodiscard]] double wait_for_products() const {
        double longest = 0;
        for (auto const& each : products_)
            longest = std::max<double>(longest, each->milliseconds());
        return longest;
    }
    void start(method const& of, unsigned time) const {
        of.start(gpus_.next(), false);
        for (member const& each : gpus_.all()) {
            members::use(each);
            check(cudaEventRecord(each.done[time % 2], each.stream));
        }
    }

    members& gpus_;
    std::vector<std::unique_ptr<matrix_product>> products_;
};

} // namespace

int main() try {
    ::setenv("NCCL_NVLS_ENABLE", "0", 0); // send and receive need no multicast
    std::vector<int> const ordinals = gpus_with_access();
    members gpus(ordinals);
    stopwatch const watch(gpus);
    nccl_library const nccl;
    std::vector<nccl_library::communicator> communicators, of_graphs;
    if (nccl.is_there()) {
        communicators = nccl.communicators(ordinals);
        of_graphs = nccl.communicators(ordinals);
    }
    by_streams streams(gpus);

    double const product_ms = watch.milliseconds_alone();
    std::printf("# GPUs: %zu\n# NCCL: %s\n", gpus.size(), nccl.version().c_str());
    std::printf("# product: %d of FP16 matrices of %u x %u take %.1f ms alone, %.0f TFLOPS\n",
                matrix_product::times, products::size, products::size, product_ms,
                matrix_product::operations * matrix_product::times / product_ms * 1e-9);
    std::puts("# us: of an all-to-all alone, with the calls that start it; gb_per_s: of a GPU, in\n"
              "# each direction; product: its time with / alone; us_beside: of an all-to-all\n"
              "# beside it. Medians of five runs, with the least and the greatest");
    std::puts("bytes,method,rounds,us,us_least,us_greatest,gb_per_s,product,product_least,"
              "product_greatest,us_beside,us_beside_least,us_beside_greatest");

    for (unsigned const bytes : {16U << 10, 64U << 10, 256U << 10, 1U << 20}) {
        auto const in_kernels = [&](auto const& launch, unsigned rounds) {
            return [&gpus, launch, rounds](gpu::word first, bool compares) {
                for (gpu::word i = 0; i < rounds_at_once; i += rounds)
                    for (member const& each : gpus.all()) {
                        members::use(each);
                        launch(each, first + i, rounds, compares);
                        check(cudaGetLastError());
                    }
            };
        };
        auto const put = [bytes](member const& by, gpu::word first, unsigned rounds,
                                 bool compares) {
            put_blocks<<<by.all.gpus - 1, 32, 0, by.stream>>>(by.of_kernels, by.all, bytes, first,
                                                              rounds, compares);
        };
        auto const store = [bytes](unsigned blocks) {
            return
                [bytes, blocks](member const& by, gpu::word first, unsigned rounds, bool compares) {
                    store_blocks<<<blocks, store_threads, 0, by.stream>>>(by.all, bytes, first,
                                                                          rounds, compares);
                };
        };
        auto const copy = [&](gpu::word first, bool compares) {
            streams.start(bytes, first, compares);
        };
        char const *const one = "one kernel", *const each_one = "a start each";
        std::vector<method> methods = {
            {"nothing", "none", [](gpu::word, bool) { std::this_thread::sleep_for(1ms); }},
            {"kernel_queue", one, in_kernels(put, rounds_at_once)},
            {"stores of 1 multiprocessor", one, in_kernels(store(1), rounds_at_once)},
            {"stores of 32 multiprocessors", one, in_kernels(store(32), rounds_at_once)},
            {"kernel_queue", each_one, in_kernels(put, 1)},
            {"stores of 1 multiprocessor", each_one, in_kernels(store(1), 1)},
            {"stores of 32 multiprocessors", each_one, in_kernels(store(32), 1)},
            {"cudaMemcpyPeerAsync", each_one, copy}};
        std::unique_ptr<by_nccl_graph> graph;
        if (nccl.is_there()) {
            methods.push_back({"NCCL", each_one, by_nccl{nccl, communicators, gpus, bytes}});
            by_nccl const rounds{nccl, of_graphs, gpus, bytes};
            nccl.expect(rounds.start(gpus.next(), false)); // connects, which no capture allows
            gpus.wait();
            graph = std::make_unique<by_nccl_graph>(rounds);
            if (graph->why_not() == nullptr)
                methods.push_back({"NCCL", "a graph", std::ref(*graph)});
            else
                std::printf("# no graph of NCCL: %s\n", graph->why_not());
        }
        for (int run = 0; run < 5; ++run)
            for (std::size_t i = 0; i < methods.size(); ++i) {
                method& next = methods[(i + run) % methods.size()];
                bool const copies = &next != methods.data();
                auto const right = [&] {
                    if (copies)
                        gpus.expect_right(next.name, bytes);
                    gpus.forget();
                };
                gpus.forget();
                next.start(gpus.next(), true); // compares each round
                right();
                double const us = watch.us_alone(next);
                right();
                double const alone = watch.milliseconds_alone();
                auto const [with, us_beside] = watch.beside(next);
                right();
                next.us.of_runs.push_back(us);
                next.product.of_runs.push_back(with / alone);
                next.us_beside.of_runs.push_back(us_beside);
            }
        watch.expect_right();
        for (method const& each : methods) {
            double const us = each.us.median();
            std::printf("%u,\"%s\",\"%s\",", bytes, each.name, each.rounds);
            bool const copies = &each != methods.data();
            if (copies)
                std::printf("%.2f,%.2f,%.2f,%.1f,", us, each.us.least(), each.us.greatest(),
                            1e-3 * bytes * static_cast<double>(gpus.size() - 1) / us);
            else
                std::printf(",,,,");
            std::printf("%.3f,%.3f,%.3f,", each.product.median(), each.product.least(),
                        each.product.greatest());
            if (copies)
                std::printf("%.2f,%.2f,%.2f\n", each.us_beside.median(), each.us_beside.least(),
                            each.us_beside.greatest());
            else
                std::puts(",,");
        }
        std::fflush(stdout);
    }
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
