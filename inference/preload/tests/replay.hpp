// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "programs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// What replays are made of: the driver, as programs find it, memory whose bytes are known, and
/// batches. Their driver is not barmap's, which libbarmap-memcpy could not stand in front of.
namespace barmap::memcpy_replays {

inline bool is_quick = false;             ///< short lists, without times
inline std::atomic<bool> is_wrong{false}; ///< a byte was

[[noreturn]] inline void give_up(char const* what, CUresult result) {
    std::fprintf(stderr, "memcpy_replay: %s: CUDA answers %d\n", what, result);
    std::_Exit(2);
}
/// Ends the process with the status of a test that cannot run here.
[[noreturn]] inline void skip(char const* reason) {
    std::fprintf(stderr, "skipped: %s\n", reason);
    std::_Exit(77);
}
inline void check(CUresult result, char const* what) {
    if (result != 0)
        give_up(what, result);
}

/// A function of the driver, as a program finds it.
template <class... Arguments>
class driver_function {
public:
    using function = CUresult(Arguments...);
    explicit driver_function(char const* symbol) : symbol_(symbol) {}
    CUresult ask(Arguments... arguments) {
        if (!exists())
            give_up(symbol_, 500);
        return found_.load(std::memory_order_acquire)(arguments...);
    }
    bool exists() {
        if (!found_.load(std::memory_order_acquire)) {
            static void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
            if (driver)
                found_.store(reinterpret_cast<function*>(::dlsym(driver, symbol_)),
                             std::memory_order_release);
        }
        return found_.load(std::memory_order_acquire) != nullptr;
    }
    void operator()(Arguments... arguments) { check(ask(arguments...), symbol_); }

private:
    char const* symbol_;
    std::atomic<function*> found_{nullptr};
};

inline driver_function<unsigned> init("cuInit");
inline driver_function<int*> count_gpus("cuDeviceGetCount");
inline driver_function<CUcontext*, CUdevice> retain("cuDevicePrimaryCtxRetain");
inline driver_function<CUcontext> set_context("cuCtxSetCurrent");
inline driver_function<CUcontext, unsigned> enable_access("cuCtxEnablePeerAccess");
inline driver_function<CUdeviceptr*, std::size_t> allocate("cuMemAlloc_v2");
inline driver_function<void*, std::size_t, unsigned> pin("cuMemHostRegister_v2");
inline driver_function<CUdeviceptr, void const*, std::size_t> write_now("cuMemcpyHtoD_v2");
inline driver_function<void*, CUdeviceptr, std::size_t> read_now("cuMemcpyDtoH_v2");
inline driver_function<CUdeviceptr, void const*, std::size_t, CUstream>
    copy_to_gpu("cuMemcpyHtoDAsync_v2");
inline driver_function<void*, CUdeviceptr, std::size_t, CUstream>
    copy_to_cpu("cuMemcpyDtoHAsync_v2");
inline driver_function<CUstream*, unsigned> make_stream("cuStreamCreate");
inline driver_function<CUstream> synchronize("cuStreamSynchronize");
inline driver_function<CUevent*, unsigned> make_event("cuEventCreate");
inline driver_function<CUevent, CUstream> record("cuEventRecord");
inline driver_function<CUevent> wait_for("cuEventSynchronize");
inline driver_function<CUstream, int> begin_capture("cuStreamBeginCapture_v2");
inline driver_function<CUstream, CUgraph*> end_capture("cuStreamEndCapture");
inline driver_function<CUgraphExec*, CUgraph, unsigned long long>
    instantiate("cuGraphInstantiateWithFlags");
inline driver_function<CUgraphExec, CUstream> launch("cuGraphLaunch");
inline driver_function<CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*,
                       std::size_t*, std::size_t, CUstream>
    copy_batch("cuMemcpyBatchAsync_v2");

/// A function of the driver by the table of symbols in its file, in which no library replaces it.
inline void* in_file_of_driver(char const* symbol) {
    link_map* driver = nullptr;
    void* const opened = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (!opened || ::dlinfo(opened, RTLD_DI_LINKMAP, &driver) != 0)
        return nullptr;
    int const file = ::open(driver->l_name, O_RDONLY | O_CLOEXEC);
    struct stat found {};
    if (file < 0 || ::fstat(file, &found) != 0)
        return nullptr;
    void* const all = ::mmap(nullptr, static_cast<std::size_t>(found.st_size), PROT_READ,
                             MAP_PRIVATE, file, 0); // until the process ends
    ::close(file);
    if (all == MAP_FAILED)
        return nullptr;
    auto const* const bytes = static_cast<char const*>(all);
    auto const& head = *reinterpret_cast<ElfW(Ehdr) const*>(bytes);
    auto const* const sections = reinterpret_cast<ElfW(Shdr) const*>(bytes + head.e_shoff);
    for (unsigned i = 0; i < head.e_shnum; ++i) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        auto const* const symbols =
            reinterpret_cast<ElfW(Sym) const*>(bytes + sections[i].sh_offset);
        char const* const names = bytes + sections[sections[i].sh_link].sh_offset;
        for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k)
            if (symbols[k].st_value != 0 && std::strcmp(names + symbols[k].st_name, symbol) == 0)
                return reinterpret_cast<void*>(driver->l_addr + symbols[k].st_value);
    }
    return nullptr;
}

inline std::vector<CUcontext> contexts; ///< of the first two GPUs

inline CUstream new_stream() {
    CUstream made = nullptr;
    make_stream(&made, 1);
    return made;
}

using clock_type = std::chrono::steady_clock;
inline double microseconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
}

/// The value below which a share of all lies.
inline double quantile(std::vector<double> of, double share) {
    if (of.empty())
        return 0;
    std::ranges::sort(of);
    return of[std::min(of.size() - 1, static_cast<std::size_t>(share * double(of.size())))];
}

inline void tell(std::string const& what, char const* unit, double value) {
    static std::mutex one_at_a_time;
    std::lock_guard const hold(one_at_a_time);
    std::printf("%s,%s,%.4g\n", what.c_str(), unit, value);
    std::fflush(stdout);
}

/// Memory of either kind, with bytes that a seed tells.
struct memory {
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    bool is_host = false;
    std::vector<std::uint64_t> expected{};

    static memory of_host(std::size_t bytes) {
        void* const pages =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ::madvise(pages, bytes, MADV_HUGEPAGE);
        std::memset(pages, 0, bytes);
        pin(pages, bytes, 0);
        return {reinterpret_cast<CUdeviceptr>(pages), bytes, true};
    }
    /// @param gpu whose; the first one is current afterwards
    static memory of_gpu(std::size_t bytes, std::size_t gpu = 0) {
        memory made{0, bytes, false};
        set_context(contexts[gpu]);
        allocate(&made.at, bytes);
        set_context(contexts[0]);
        return made;
    }
    void fill(std::uint64_t seed) {
        expected.resize((bytes + 7) / 8);
        for (std::uint64_t& each : expected)
            each = seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (is_host)
            std::memcpy(reinterpret_cast<void*>(at), expected.data(), bytes);
        else {
            write_now(at, expected.data(), bytes);
            synchronize(nullptr); // the call may return before pageable bytes have arrived
        }
    }
    [[nodiscard]] char* bytes_expected() { return reinterpret_cast<char*>(expected.data()); }
    /// Compares all of it.
    void expect(char const* what) const {
        std::vector<std::uint64_t> found(expected.size());
        if (is_host)
            std::memcpy(found.data(), reinterpret_cast<void const*>(at), bytes);
        else
            read_now(found.data(), at, bytes);
        if (std::memcmp(found.data(), expected.data(), bytes) == 0)
            return;
        is_wrong = true;
        std::size_t wrong = 0, first = 0;
        for (std::size_t i = found.size(); i-- > 0;)
            if (found[i] != expected[i]) {
                ++wrong;
                first = i;
            }
        std::fprintf(stderr,
                     "memcpy_replay: %s: %zu words of 8 bytes are wrong, from byte %zu of %zu\n",
                     what, wrong, first * 8, bytes);
    }
};

/// The lists of one call.
struct batch {
    std::vector<CUdeviceptr> to, from;
    std::vector<std::size_t> sizes;
    CUmemcpyAttributes how{1, {}, {}, 0};

    [[nodiscard]] std::size_t bytes() const {
        return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    }
    CUresult ask(CUstream stream) {
        std::size_t first = 0;
        return copy_batch.ask(to.data(), from.data(), sizes.data(), sizes.size(), &how, &first, 1,
                              stream);
    }
    /// The same by the driver, also where a library is loaded in front of it.
    void submit_to_driver(CUstream stream) {
        static auto* const own = reinterpret_cast<decltype(copy_batch)::function*>(
            in_file_of_driver("cuMemcpyBatchAsync_v2"));
        std::size_t first = 0;
        check(own ? own(to.data(), from.data(), sizes.data(), sizes.size(), &how, &first, 1, stream)
                  : 500,
              "cuMemcpyBatchAsync, of the driver's file");
    }
    void submit(CUstream stream) { check(ask(stream), "cuMemcpyBatchAsync"); }
};

/// Batches of pieces at random places, each place once.
inline std::vector<batch> scattered(memory const& to, memory const& from, std::size_t calls,
                                    std::size_t count, std::size_t size, CUmemcpyAttributes how,
                                    unsigned seed = 1) {
    std::vector<std::size_t> targets(std::min(to.bytes, from.bytes) / size), sources;
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    sources = targets;
    std::mt19937 any(seed);
    std::ranges::shuffle(targets, any);
    std::ranges::shuffle(sources, any);
    std::vector<batch> result(calls);
    for (std::size_t i = 0; i < calls * count; ++i) {
        batch& one = result[i / count];
        one.to.push_back(to.at + targets[i] * size);
        one.from.push_back(from.at + sources[i] * size);
        one.sizes.push_back(size);
        one.how = how;
    }
    return result;
}

/// Copies as the batches do, in what is expected.
inline void expect_copied(memory& to, memory& from, std::vector<batch> const& by) {
    for (batch const& each : by)
        for (std::size_t i = 0; i < each.sizes.size(); ++i)
            std::memcpy(to.bytes_expected() + (each.to[i] - to.at),
                        from.bytes_expected() + (each.from[i] - from.at), each.sizes[i]);
}

/// Makes the first GPU's context current, and the second one's memory accessible to it. Without a
/// driver, a GPU or CUDA's batch call, there is nothing to replay.
inline void start_driver() {
    if (!init.exists())
        skip("there is no CUDA driver");
    CUresult const started = init.ask(0);
    if (started == 100)
        skip("there is no GPU");
    check(started, "cuInit");
    if (!copy_batch.exists())
        skip("the driver has no cuMemcpyBatchAsync_v2, which came with CUDA 13.0");
    int gpus = 0;
    count_gpus(&gpus);
    for (CUdevice gpu = 0; gpu < std::min(gpus, 2); ++gpu) {
        contexts.push_back(nullptr);
        retain(&contexts.back(), gpu);
    }
    if (contexts.empty())
        give_up("cuDeviceGetCount", 100);
    set_context(contexts[0]);
    if (contexts.size() > 1)
        (void)enable_access.ask(contexts[1], 0);
}

/// Until the library, if there is one, has started its engine.
inline void warm_up() {
    memory to = memory::of_gpu(mib), from = memory::of_host(mib);
    CUstream const stream = new_stream();
    auto lists = scattered(to, from, 1, 100, 4 * kib, {1, {}, {}, 0});
    for (int i = 0; i < 25; ++i) {
        lists.front().submit(stream);
        synchronize(stream);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

} // namespace barmap::memcpy_replays
