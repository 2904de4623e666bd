// SPDX-License-Identifier: MIT
// Random batches of eight threads by CUDA's batch call, each byte compared: loads, stores, copies
// inside a GPU and between two, of few and of many, small and large pieces, in streams of the
// program and of each thread, behind one another, in captured streams, of memory that is freed
// afterwards, and lists that CUDA refuses. Beside them, one process after another has a batch that
// fails. Run it with libbarmap-memcpy loaded:
//
//     LD_PRELOAD=libbarmap-memcpy.so memcpy_soak [seconds] [seed]
//
// It ends with the number of calls and of pieces. The exit status is 1 if a byte was wrong, memory
// or descriptors were left, or a failure was not told as docs/memcpy.md says.
#include "replay.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace barmap::memcpy_replays;

driver_function<CUdeviceptr> release("cuMemFree_v2");
driver_function<CUgraph> destroy_graph("cuGraphDestroy");
driver_function<CUgraphExec> destroy_executable("cuGraphExecDestroy");

constexpr std::size_t room = 2 * mib; // of each of a thread's memories
std::atomic<std::uint64_t> calls{0}, pieces{0}, refused{0}, captured{0};

/// One thread's work: a model of its memories, which the CPU copies as the driver does.
class soak_thread {
public:
    soak_thread(std::uint64_t seed, bool graphs) : any_(seed), graphs_(graphs) {
        set_context(contexts[0]);
        all_.push_back(memory::of_host(room));
        all_.push_back(memory::of_host(room));
        all_.push_back(memory::of_gpu(room));
        all_.push_back(memory::of_gpu(room));
        if (contexts.size() > 1)
            all_.push_back(memory::of_gpu(room, 1));
        set_context(contexts[0]);
        for (memory& each : all_)
            each.fill(any_());
        for (CUstream& each : streams_)
            each = new_stream();
        streams_.back() = reinterpret_cast<CUstream>(std::uintptr_t{2}); // of each thread
    }

    void run_until(std::chrono::steady_clock::time_point end) {
        while (std::chrono::steady_clock::now() < end && !is_wrong)
            round();
    }

private:
    std::size_t below(std::size_t limit) { return any_() % limit; }

    /// Some batches in one stream, then every byte of where they went.
    void round() {
        CUstream const stream = streams_[below(streams_.size())];
        memory& to = all_[below(all_.size())];
        bool const in_graph = graphs_ && stream != streams_.back() && below(8) == 0;
        if (in_graph)
            begin_capture(stream, 1); // of the thread
        for (std::size_t left = 1 + below(4); left > 0; --left)
            one_batch(to, stream);
        if (in_graph)
            replay(stream);
        synchronize(stream);
        if (below(16) == 0)
            refuse(stream);
        if (below(32) == 0)
            copy_to_what_is_freed(stream);
        to.expect("soak");
    }

    void one_batch(memory& to, CUstream stream) {
        memory* from = &to;
        while (from == &to || (from->is_host && to.is_host))
            from = &all_[below(all_.size())];
        constexpr std::array<std::size_t, 7> counts{1, 5, 9, 32, 64, 300, 2000},
            sizes{7, 100, 656, 4 * kib, 8 * kib, 33 * kib, 100 * kib};
        std::size_t const size = sizes[below(sizes.size())],
                          count = std::min(counts[below(counts.size())], room / size);
        constexpr std::array<CUmemcpyAttributes, 4> attributes{
            {{1, {}, {}, 0}, any_order, overlapping, with_hints}};
        // In a round all batches go to one memory, which none of them reads: `any` order is as
        // good.
        CUmemcpyAttributes const how = attributes[below(attributes.size())];
        batch one = std::move(
            scattered(to, *from, 1, count, size, how, static_cast<unsigned>(any_())).front());
        one.submit(stream);
        expect_copied(to, *from, {one});
        ++calls;
        pieces += count;
    }

    void replay(CUstream stream) {
        CUgraph graph = nullptr;
        CUgraphExec runs = nullptr;
        end_capture(stream, &graph);
        instantiate(&runs, graph, 0);
        launch(runs, stream);
        launch(runs, stream);
        synchronize(stream);
        destroy_executable(runs);
        destroy_graph(graph);
        ++captured;
    }

    /// CUDA refuses such a list, and copies the pieces before the wrong one.
    void refuse(CUstream stream) {
        memory& to = all_[2];
        batch bad = scattered(to, all_[0], 1, 100, 64, {1, {}, {}, 0}).front();
        bad.sizes[below(100)] = 0;
        if (bad.ask(stream) == 0)
            is_wrong = true;
        synchronize(stream);
        to.fill(any_());
        ++refused;
    }

    void copy_to_what_is_freed(CUstream stream) {
        memory gone = memory::of_gpu(room);
        gone.fill(any_());
        batch one = scattered(gone, all_[0], 1, 200, 4 * kib, {1, {}, {}, 0}).front();
        one.submit(stream);
        synchronize(stream);
        expect_copied(gone, all_[0], {one});
        gone.expect("soak, of memory that is freed");
        release(gone.at);
        ++calls;
        pieces += one.sizes.size();
    }

    std::mt19937_64 any_;
    bool graphs_;
    std::vector<memory> all_;
    std::array<CUstream, 3> streams_{};
};

std::size_t open_descriptors() {
    namespace fs = std::filesystem;
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{}));
}

/// In pages.
std::size_t resident() {
    std::size_t all = 0, here = 0;
    std::ifstream("/proc/self/statm") >> all >> here;
    return here;
}

bool can_capture() {
    CUstream const stream = new_stream();
    if (begin_capture.ask(stream, 1) != 0)
        return false; // the simulated GPU
    CUgraph graph = nullptr;
    end_capture(stream, &graph);
    destroy_graph(graph);
    return true;
}

/// How the process of a batch that fails ends.
enum fault_end : int { told_once = 0, other_answers = 1, context_lost = 10, cannot_fail = 77 };

/// A batch to pages that the GPU may only read. CUDA then ends the context; the library tells it
/// once, in the next call.
fault_end fail_a_batch() {
    constexpr unsigned read_only = 8; // CU_MEMHOSTREGISTER_READ_ONLY
    constexpr CUresult illegal_address = 700;
    warm_up();
    void* const pages =
        ::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pin.ask(pages, mib, read_only) != 0)
        return cannot_fail;
    memory const unwritable{reinterpret_cast<CUdeviceptr>(pages), mib, true};
    memory from = memory::of_gpu(mib), to = memory::of_host(mib);
    from.fill(1);
    to.fill(2);
    CUstream const stream = new_stream();
    scattered(unwritable, from, 1, 100, 4 * kib, {1, {}, {}, 0}).front().submit(stream);
    if (synchronize.ask(stream) == illegal_address)
        return context_lost;
    if (std::any_of(static_cast<char*>(pages), static_cast<char*>(pages) + mib,
                    [](char each) { return each != 0; }))
        return cannot_fail; // the simulated GPU writes there
    batch next = scattered(to, from, 1, 100, 4 * kib, {1, {}, {}, 0}).front();
    CUresult const first = next.ask(stream), second = next.ask(stream);
    synchronize(stream);
    expect_copied(to, from, {next});
    to.expect("after a batch that has failed");
    return first == illegal_address && second == 0 && !is_wrong ? told_once : other_answers;
}

/// Processes with a batch that fails, one after another.
class failing_processes {
public:
    void run_until(std::chrono::steady_clock::time_point end) {
        while (std::chrono::steady_clock::now() < end && can_fail_) {
            int const status = run_one();
            told_ += status == told_once;
            lost_ += status == context_lost;
            can_fail_ = status == told_once || status == context_lost;
            is_wrong_ = !can_fail_ && status != cannot_fail;
        }
    }
    [[nodiscard]] bool is_wrong() const { return is_wrong_; }
    void print() const {
        std::printf("%u processes were told of a batch that failed, %u lost their context%s\n",
                    told_, lost_, is_wrong_ ? ", one had other answers" : "");
    }

private:
    static int run_one() {
        std::vector<char*> quiet; // the report at exit is the parent's
        for (char** each = environ; *each; ++each)
            if (!std::string_view(*each).starts_with("BARMAP_LOG="))
                quiet.push_back(*each);
        quiet.push_back(nullptr);
        char name[] = "memcpy_soak", what[] = "fail";
        char* const arguments[] = {name, what, nullptr};
        pid_t child = 0;
        int status = 0;
        if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, quiet.data()) !=
                0 ||
            ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return other_answers;
        return WEXITSTATUS(status);
    }

    unsigned told_ = 0, lost_ = 0;
    bool can_fail_ = true, is_wrong_ = false;
};

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "fail") {
        start_driver();
        return fail_a_batch();
    }
    std::chrono::seconds const time(argc > 1 ? std::atoi(argv[1]) : 10);
    std::uint64_t const seed =
        argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    start_driver();
    warm_up();
    bool const graphs = can_capture();
    constexpr int threads = 8;
    std::vector<std::optional<soak_thread>> all(threads);
    failing_processes failing;
    auto const run_for = [&](std::chrono::milliseconds some) {
        auto const end = std::chrono::steady_clock::now() + some;
        std::vector<std::thread> running;
        running.emplace_back([&] { failing.run_until(end); });
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                set_context(contexts[0]);
                auto& mine = all[static_cast<std::size_t>(i)];
                if (!mine)
                    mine.emplace(seed + static_cast<std::uint64_t>(i), graphs);
                mine->run_until(end);
            });
        for (std::thread& each : running)
            each.join();
    };
    run_for(std::chrono::milliseconds(time) / 2);
    std::size_t const descriptors = open_descriptors(), pages = resident();
    run_for(std::chrono::milliseconds(time) / 2);
    std::printf("%llu calls, %llu pieces, %llu lists refused, %llu graphs; descriptors %zu to %zu, "
                "pages %zu to %zu; %s\n",
                static_cast<unsigned long long>(calls), static_cast<unsigned long long>(pieces),
                static_cast<unsigned long long>(refused), static_cast<unsigned long long>(captured),
                descriptors, open_descriptors(), pages, resident(),
                is_wrong ? "a byte was wrong" : "every byte right");
    bool const is_more = open_descriptors() > descriptors || resident() > pages + pages / 4 + 4096;
    failing.print();
    std::fflush(stdout);
    return is_wrong || is_more || failing.is_wrong() ? 1 : 0;
}
