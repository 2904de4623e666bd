// SPDX-License-Identifier: MIT
#include "contract/memory_shortage.hpp"

#include "cuda/driver_api.hpp"
#include "system/calls.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace barmap::contract {
namespace {

thread_local unsigned remaining = 0; ///< allocations until the one that fails; 0: none does
thread_local unsigned beneath = 0;   ///< calls under way that are not the library's code

bool fails_now() noexcept {
    return remaining > 0 && beneath == 0 && --remaining == 0;
}

class beneath_the_library {
public:
    beneath_the_library() noexcept { ++beneath; }
    beneath_the_library(beneath_the_library const&) = delete;
    beneath_the_library& operator=(beneath_the_library const&) = delete;
    ~beneath_the_library() { --beneath; }
};

/// The table that was in force.
template <class Table>
Table behind{};

template <auto Member, class Table, class Result, class... Arguments>
void exempt(Table& table, Result (*Table::*)(Arguments...)) {
    table.*Member = [](Arguments... arguments) -> Result {
        beneath_the_library const here;
        return (behind<Table>.*Member)(arguments...);
    };
}

// The driver is loaded by dlsym, before there is a table of its calls: those that loading makes.
template <int Which>
void* exempted_function(void* function) {
    static void* real;
    real = function;
    if constexpr (Which == 0) {
        CUresult (*const call)(unsigned) = [](unsigned flags) {
            beneath_the_library const here;
            return reinterpret_cast<CUresult (*)(unsigned)>(real)(flags);
        };
        return reinterpret_cast<void*>(call);
    } else {
        CUresult (*const call)(int*) = [](int* result) {
            beneath_the_library const here;
            return reinterpret_cast<CUresult (*)(int*)>(real)(result);
        };
        return reinterpret_cast<void*>(call);
    }
}

void* find_symbol(void* library, char const* symbol) {
    beneath_the_library const here;
    void* const found = behind<os::calls>.dlsym(library, symbol);
    std::string_view const name = symbol;
    if (!found)
        return found;
    if (name == "cuInit")
        return exempted_function<0>(found);
    if (name == "cuDriverGetVersion")
        return exempted_function<1>(found);
    if (name == "cuDeviceGetCount")
        return exempted_function<2>(found);
    return found;
}

os::calls system_calls() {
    os::calls result = behind<os::calls>;
    exempt<&os::calls::open>(result, &os::calls::open);
    exempt<&os::calls::access>(result, &os::calls::access);
    exempt<&os::calls::close>(result, &os::calls::close);
    exempt<&os::calls::duplicate>(result, &os::calls::duplicate);
    exempt<&os::calls::ioctl>(result, &os::calls::ioctl);
    exempt<&os::calls::read>(result, &os::calls::read);
    exempt<&os::calls::readlink>(result, &os::calls::readlink);
    exempt<&os::calls::mmap>(result, &os::calls::mmap);
    exempt<&os::calls::munmap>(result, &os::calls::munmap);
    exempt<&os::calls::dlopen>(result, &os::calls::dlopen);
    exempt<&os::calls::dlclose>(result, &os::calls::dlclose);
    exempt<&os::calls::send_message>(result, &os::calls::send_message);
    exempt<&os::calls::peek_message>(result, &os::calls::peek_message);
    result.dlsym = find_symbol;
    return result;
}

cuda::driver_api driver_calls() {
    cuda::driver_api result = behind<cuda::driver_api>;
#define BARMAP_CUDA_EXEMPT(member, symbol, signature)                                              \
    exempt<&cuda::driver_api::member>(result, &cuda::driver_api::member);
    BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_EXEMPT)
#undef BARMAP_CUDA_EXEMPT
    return result;
}

os::calls const* system_before = nullptr;
os::calls system_table;
cuda::driver_api driver_table;

} // namespace

memory_shortage::memory_shortage(unsigned which, bool driver_is_loaded) {
    system_before = &os::current();
    behind<os::calls> = *system_before;
    system_table = system_calls();
    os::replace(&system_table);
    if (driver_is_loaded) {
        behind<cuda::driver_api> = cuda::api();
        driver_table = driver_calls();
        cuda::replace_api(&driver_table);
    }
    remaining = which;
}

memory_shortage::~memory_shortage() {
    remaining = 0;
    os::replace(system_before);
    cuda::replace_api(nullptr);
}

bool memory_shortage::has_failed() const noexcept {
    return remaining == 0;
}

} // namespace barmap::contract

void* operator new(std::size_t bytes) {
    void* const result = barmap::contract::fails_now() ? nullptr : std::malloc(bytes ? bytes : 1);
    if (!result)
        throw std::bad_alloc();
    return result;
}

void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return barmap::contract::fails_now() ? nullptr : std::malloc(bytes ? bytes : 1);
}

// Not inlined: beside a call of operator new, the compiler takes free() for a mistake.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::nothrow_t const&) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
