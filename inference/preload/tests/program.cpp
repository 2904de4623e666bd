// SPDX-License-Identifier: MIT
// A program that copies batches, with functions of CUDA's driver that it finds in one of the ways
// in which programs do. preload_test.py runs it with libbarmap-memcpy loaded first, and without.
//
// Usage: memcpy_program WAY [ACTION [LIBRARY]], or memcpy_program versioned|from LIBRARY.
// A line on stdin lets it go on when the first batch is submitted. It exits with 0 if every byte
// and every status was right.
#include "copying_entries.hpp"
#include "nvidia/cuda.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace barmap::cuda;

// What the program is linked with, where a library that was loaded before it has them.
extern "C" __attribute__((weak)) CUresult cuMemcpyBatchAsync(CUdeviceptr*, CUdeviceptr*,
                                                             std::size_t*, std::size_t,
                                                             CUmemcpyAttributes*, std::size_t*,
                                                             std::size_t, std::size_t*, CUstream);
extern "C" __attribute__((weak)) CUresult cuMemcpyBatchAsync_v2(CUdeviceptr*, CUdeviceptr*,
                                                                std::size_t*, std::size_t,
                                                                CUmemcpyAttributes*, std::size_t*,
                                                                std::size_t, CUstream);

namespace {

using lists_12 = CUresult(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                          CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*, CUstream);
using lists_13 = CUresult(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                          CUmemcpyAttributes*, std::size_t*, std::size_t, CUstream);
using get_address_1 = CUresult(char const*, void**, int, unsigned long long);
using get_address_2 = CUresult(char const*, void**, int, unsigned long long, int*);

[[noreturn]] void fail(std::string const& what) {
    std::printf("%s\n", what.c_str());
    std::fflush(stdout);
    std::_Exit(1);
}

void expect(bool is_so, char const* what) {
    if (!is_so)
        fail(what);
}

void* driver() {
    static void* const library = [] {
        void* const found = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!found)
            fail(::dlerror());
        return found;
    }();
    return library;
}

template <class Function>
Function* plain(char const* symbol) {
    auto* const found = reinterpret_cast<Function*>(::dlsym(driver(), symbol));
    expect(found, symbol);
    return found;
}

/// The two versions of the function, however they are found; null where a way gives one only.
struct found {
    lists_12* twelve = nullptr;
    lists_13* thirteen = nullptr;
};

template <class Function>
Function* as(void* address) {
    return reinterpret_cast<Function*>(address);
}

void* by_address_2(get_address_2* get, char const* name, int version,
                   unsigned long long flags = 0) {
    void* function = nullptr;
    int status = -1;
    expect(get(name, &function, version, flags, &status) == success && status == 0,
           "cuGetProcAddress");
    return function;
}

found find(std::string const& way) {
    char const* const twelve = "cuMemcpyBatchAsync";
    char const* const thirteen = "cuMemcpyBatchAsync_v2";
    if (way == "dlsym")
        return {plain<lists_12>(twelve), plain<lists_13>(thirteen)};
    if (way == "linked")
        return {cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2};
    if (way == "everywhere") { // found only if the driver is there for all to see
        expect(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), "libcuda.so.1");
        return {as<lists_12>(::dlsym(RTLD_DEFAULT, twelve)),
                as<lists_13>(::dlsym(::dlopen(nullptr, RTLD_NOW), thirteen))};
    }
    if (way == "address_1") {
        auto* const get = plain<get_address_1>("cuGetProcAddress");
        found result;
        void* function = nullptr;
        expect(get(twelve, &function, 12080, 0) == success, "cuGetProcAddress");
        result.twelve = as<lists_12>(function);
        expect(get(twelve, &function, 13000, 0) == success, "cuGetProcAddress");
        result.thirteen = as<lists_13>(function);
        return result;
    }
    auto* get = plain<get_address_2>("cuGetProcAddress_v2");
    if (way == "address_of_address") // as CUDA's runtime does
        get = as<get_address_2>(by_address_2(get, "cuGetProcAddress", 12000));
    constexpr unsigned long long per_thread_default_stream = 2;
    if (way == "address_of_address_per_thread") // as one that nvcc has built with that option
        get = as<get_address_2>(
            by_address_2(get, "cuGetProcAddress", 12000, per_thread_default_stream));
    return {as<lists_12>(by_address_2(get, twelve, 12080)),
            as<lists_13>(by_address_2(get, twelve, 13000))};
}

CUcontext make_context() {
    CUcontext context = nullptr;
    expect(plain<CUresult(unsigned)>("cuInit")(0) == success, "cuInit");
    expect(plain<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&context, 0) ==
               success,
           "cuDevicePrimaryCtxRetain");
    return context;
}

/// Batches of one thread, of 100 pieces that come back through the GPU.
class batches {
public:
    explicit batches(CUcontext context) {
        expect(plain<CUresult(CUcontext)>("cuCtxSetCurrent")(context) == success, "context");
        expect(plain<CUresult(CUstream*, unsigned)>("cuStreamCreate")(&stream, 1) == success,
               "cuStreamCreate");
        void* memory = nullptr;
        auto* const pinned = plain<CUresult(void**, std::size_t, unsigned)>("cuMemHostAlloc");
        expect(pinned(&memory, 2 * size, 0) == success, "cuMemHostAlloc");
        host = static_cast<unsigned char*>(memory);
        expect(plain<CUresult(CUdeviceptr*, std::size_t)>("cuMemAlloc_v2")(&gpu, size) == success,
               "cuMemAlloc");
        order.srcAccessOrder = source_order_stream;
    }
    void run(found const& by, unsigned seed) {
        for (std::size_t i = 0; i < size; ++i) {
            host[i] = static_cast<unsigned char>(i * 7 + seed);
            host[size + i] = 0;
        }
        auto const there = reinterpret_cast<CUdeviceptr>(host);
        copy(by, gpu, there);
        copy(by, there + size, gpu);
        expect(plain<CUresult(CUstream)>("cuStreamSynchronize")(stream) == success, "synchronize");
        expect(std::memcmp(host, host + size, size) == 0, "a byte is wrong");
    }
    void list(CUdeviceptr to, CUdeviceptr from) {
        for (std::size_t i = 0; i < count; ++i) {
            tos[i] = to + i * piece;
            froms[i] = from + i * piece;
            sizes[i] = piece;
        }
    }
    void copy(found const& by, CUdeviceptr to, CUdeviceptr from) {
        list(to, from);
        std::size_t first = 0, failed = 0;
        if (by.twelve)
            expect(by.twelve(tos.data(), froms.data(), sizes.data(), count, &order, &first, 1,
                             &failed, stream) == success,
                   "cuMemcpyBatchAsync");
        if (by.twelve && are_taken)
            expect(failed == SIZE_MAX, "a copy failed, though none did");
        if (by.thirteen)
            expect(by.thirteen(tos.data(), froms.data(), sizes.data(), count, &order, &first, 1,
                               stream) == success,
                   "cuMemcpyBatchAsync_v2");
    }
    /// What CUDA says to a batch.
    CUresult status(found const& by, bool without_failed = false) {
        list(gpu, reinterpret_cast<CUdeviceptr>(host));
        std::size_t first = 0, failed = 0;
        return by.twelve(tos.data(), froms.data(), sizes.data(), count, &order, &first, 1,
                         without_failed ? nullptr : &failed, stream);
    }

    /// Whether the library copies, which says that no copy failed.
    bool are_taken = false;

private:
    static constexpr std::size_t count = 100, piece = 64, size = count * piece;
    unsigned char* host = nullptr;
    CUdeviceptr gpu = 0;
    CUstream stream = nullptr;
    CUmemcpyAttributes order{};
    std::array<CUdeviceptr, count> tos{}, froms{};
    std::array<std::size_t, count> sizes{};
};

void wait_for_a_line() {
    while (int const next = std::getchar())
        if (next == '\n' || next == EOF)
            return;
}

int in_child(auto action) {
    pid_t const child = ::fork();
    if (child == 0)
        std::exit(action());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool driver_is_loaded() {
    bool is_loaded = false;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* seen) {
            *static_cast<bool*>(seen) |= std::strstr(info->dlpi_name, "libcuda") != nullptr;
            return 0;
        },
        &is_loaded);
    return is_loaded;
}

/// A program that never loads CUDA sees none.
int without_cuda() {
    for (char const* const symbol : {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2",
                                     "cuGetProcAddress", "cuGetProcAddress_v2"}) {
        expect(!::dlsym(RTLD_DEFAULT, symbol), "a function of a driver that is not loaded");
        expect(!::dlsym(::dlopen(nullptr, RTLD_NOW), symbol), "the same, of the program");
    }
    expect(::dlerror() != nullptr, "a search that failed has no error");
    expect(!driver_is_loaded(), "libcuda is loaded");
    expect(::dlsym(RTLD_DEFAULT, "cuNoSuchFunction") == nullptr, "what does not exist");
    return 0;
}

/// Searches for a version, in a library that is not the driver.
int versioned_searches(char const* library) {
    void* const versioned = ::dlopen(library, RTLD_NOW);
    expect(versioned, library);
    for (char const* const symbol : {"cuMemcpyBatchAsync", "cuGetProcAddress"}) {
        void* const found = ::dlvsym(versioned, symbol, "TEST_1");
        Dl_info where{};
        expect(found && ::dladdr(found, &where), symbol);
        expect(std::strstr(where.dli_fname, library) != nullptr, where.dli_fname);
        expect(!::dlvsym(versioned, symbol, "TEST_2") && ::dlerror(),
               "a version that is not there");
    }
    std::vector<CUdeviceptr> lists(100, 0x1000);
    std::vector<std::size_t> sizes(100, 64);
    CUmemcpyAttributes order{source_order_stream, {}, {}, 0};
    std::size_t first = 0, failed = 0;
    auto* const copy = as<lists_12>(::dlvsym(versioned, "cuMemcpyBatchAsync", "TEST_1"));
    expect(copy(lists.data(), lists.data(), sizes.data(), 100, &order, &first, 1, &failed,
                reinterpret_cast<CUstream>(std::uintptr_t{0x1230})) == 12,
           "a call that is not passed on");
    expect(!driver_is_loaded(), "libcuda is loaded");
    return 0;
}

/// What a search finds is what it finds without the library, from the caller's place.
int other_searches(char const* library) {
    auto* const self = reinterpret_cast<void*>(&other_searches);
    Dl_info here{}, next{};
    void* const behind = ::dlsym(RTLD_NEXT, "l64a");
    expect(::dladdr(self, &here) && behind && ::dladdr(behind, &next), "RTLD_NEXT");
    expect(here.dli_fbase != next.dli_fbase, "RTLD_NEXT finds the program's own");
    expect(::dlsym(RTLD_NEXT, "memcpy_program_marker") == nullptr, "RTLD_NEXT begins too early");
    expect(::dlsym(RTLD_DEFAULT, "memcpy_program_marker") != nullptr, "RTLD_DEFAULT");
    ::dlerror();
    expect(::dlsym(driver(), "cuMemcpyBatchAsync") && !::dlerror(), "an error of a found symbol");
    expect(!::dlsym(driver(), "cuMemcpyBatchAsync_v9") && ::dlerror(), "no error");
    expect(::dlvsym(RTLD_DEFAULT, "l64a", "GLIBC_0.0") == nullptr, "a version that is not there");
    // Once the driver's function is known, another library's of its name stays what it is.
    void* const versioned = ::dlvsym(::dlopen(library, RTLD_NOW), "cuMemcpyBatchAsync", "TEST_1");
    expect(versioned && ::dladdr(versioned, &next), library);
    expect(std::strstr(next.dli_fname, library) != nullptr, next.dli_fname);
    return 0;
}

void print_place(char const* way, std::string const& name, void* found) {
    Dl_info where{};
    if (!found || !::dladdr(found, &where))
        std::printf("%s %s: none\n", way, name.c_str());
    else
        std::printf("%s %s: %s+%zx\n", way, name.c_str(), where.dli_fname,
                    static_cast<std::size_t>(static_cast<char*>(found) -
                                             static_cast<char*>(where.dli_fbase)));
}

/// Prints what every look-up finds for every entry but the batch call.
int other_entries() {
    void* const handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    auto* const get = plain<get_address_2>("cuGetProcAddress_v2");
    auto* const own_get = as<get_address_2>(by_address_2(get, "cuGetProcAddress", 12000));
    (void)make_context();
    for (std::string const name : barmap::memcpy_replays::copying_entries) {
        for (char const* const suffix : {"", "_v2", "_ptds", "_ptsz", "_v2_ptds", "_v2_ptsz"}) {
            print_place("dlsym", name + suffix, ::dlsym(handle, (name + suffix).c_str()));
            print_place("everywhere", name + suffix,
                        ::dlsym(RTLD_DEFAULT, (name + suffix).c_str()));
        }
        for (int const version : {12000, 12080, 13000, 13020, 13050})
            for (unsigned long long const flags : {0, 1, 2})
                for (get_address_2* const each : {get, own_get}) {
                    void* function = nullptr;
                    int status = -1;
                    (void)each(name.c_str(), &function, version, flags, &status);
                    print_place("address", name + " " + std::to_string(version), function);
                }
    }
    return 0;
}

/// Opens a library that has the driver's names, as one of stubs, and searches there.
void expect_own(char const* library) {
    void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    expect(opened, library);
    void* const found = ::dlsym(opened, "cuMemcpyBatchAsync");
    Dl_info where{};
    expect(found && ::dladdr(found, &where), "cuMemcpyBatchAsync");
    expect(std::strstr(where.dli_fname, library) != nullptr, where.dli_fname);
    expect(as<int()>(found)() == 12, "what it returns");
}

/// What is not there for all to see is found from a library that was loaded with it.
int searches_from(char const* library) {
    expect(!::dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync") && ::dlerror(), "nothing is loaded");
    void* const linked = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    expect(linked, library);
    expect(!::dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync") && ::dlerror(), "it is not for all");
    expect(!::dlsym(::dlopen(nullptr, RTLD_NOW), "cuMemcpyBatchAsync"), "nor for the program");
    auto* const find = as<void*(char const*)>(::dlsym(linked, "memcpy_linked_find"));
    expect(find && find("cuMemcpyBatchAsync"), "its own");
    return 0;
}

int act(std::string const& way, std::string const& action, char const* library) {
    if (action == "stub")
        expect_own(library);
    if (action == "next_of_other") { // is the driver's, and not what comes before that library
        expect(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), "libcuda.so.1");
        auto* const ask = as<void*(char const*)>(::dlsym(RTLD_DEFAULT, "memcpy_other_next"));
        Dl_info where{};
        expect(ask && ::dladdr(ask("cuMemcpyBatchAsync"), &where), "memcpy_other_next");
        expect(std::strstr(where.dli_fname, "libcuda.so.1"), where.dli_fname);
        return 0;
    }
    if (action == "reload") {
        found const early = find(way);
        expect(::dlclose(driver()) == 0, "dlclose");
        expect(early.thirteen(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr) !=
                   success,
               "a call without lists");
        expect(::dlopen("libcuda.so.1", RTLD_NOW) != nullptr, "dlopen");
    }
    static found by_then;
    static CUcontext context_then = nullptr;
    if (action == "last") // after what the first batch registers, and from another thread
        std::atexit([] { std::thread([] { batches(context_then).run(by_then, 9); }).join(); });
    CUcontext const context = context_then = make_context();
    found const by = by_then = find(way);
    batches mine(context);
    auto const tell_status_in_child = [&] {
        std::printf("in a child: %d\n",
                    in_child([&] { return static_cast<int>(mine.status(by)); }));
    };
    if (action == "child_first")
        tell_status_in_child();
    mine.run(by, 1); // is CUDA's own, while the engine starts
    wait_for_a_line();
    mine.are_taken = std::getenv("TEST_ARE_TAKEN");
    for (unsigned i = 0; i < 3; ++i)
        mine.run(by, i);
    if (action == "without_failed")
        expect(mine.status(by, true) == success, "without a place for the failed copy");
    if (action == "threads") {
        std::vector<std::thread> threads;
        for (unsigned n = 0; n < 4; ++n)
            threads.emplace_back([&, n] {
                batches its(context);
                for (unsigned i = 0; i < 50; ++i)
                    its.run(by, n * 100 + i);
            });
        for (std::thread& each : threads)
            each.join();
    }
    if (action == "child")
        tell_status_in_child();
    if (action == "late") {
        static batches& then_mine = *new batches(context);
        std::atexit([] { then_mine.run(by_then, 9); });
    }
    return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"), used)) int memcpy_program_marker() {
    return 1;
}

/// A function of the C library that NVIDIA's driver does not call: it would call this one.
extern "C" __attribute__((visibility("default"), used)) char* l64a(long) noexcept {
    fail("nobody calls this");
}

int main(int argc, char** argv) {
    std::string const way = argc > 1 ? argv[1] : "", action = argc > 2 ? argv[2] : "";
    int const result = way == "nothing"     ? without_cuda()
                       : way == "others"    ? other_entries()
                       : way == "versioned" ? versioned_searches(argv[2])
                       : way == "from"      ? searches_from(argv[2])
                       : action == "search" ? other_searches(argv[3])
                                            : act(way, action, argc > 3 ? argv[3] : "");
    std::printf("right\n");
    return result;
}
