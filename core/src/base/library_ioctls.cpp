// SPDX-License-Identifier: MIT
#include "base/library_ioctls.hpp"

#include "system/calls.hpp"
#include "system/library.hpp"
#include "system/process.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>

namespace barmap::os {
namespace {

using ioctl_function = int (*)(int, unsigned long, ...);

std::mutex one_watch;
/// The thread that watches; 0, which names no thread, if none does. Not a thread-local, which every
/// thread that calls would have to make.
std::atomic<pthread_t> watching_thread{0};
// Of that thread, which alone reads them.
process_id watching_process; // a forked child has no watch, and may give its threads the same names
library_ioctls::watcher* current_watcher = nullptr;
/// Where the entry led at first. Set once, so that two copies of this code never lead to each other
/// in a circle.
std::atomic<ioctl_function> next_function{nullptr};

bool is_watched() noexcept {
    return ::pthread_equal(watching_thread.load(std::memory_order_relaxed), ::pthread_self()) &&
           is_this_process(watching_process);
}

int arrive(int fd, unsigned long request, ...) {
    std::va_list arguments;
    va_start(arguments, request);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    if (is_watched() && current_watcher->answers(request, argument))
        return 0;
    return next_function.load(std::memory_order_acquire)(fd, request, argument);
}

void* address_of_arrive() noexcept {
    return reinterpret_cast<void*>(&arrive);
}

/// The parts of a library's dynamic section that name what it imports.
struct imports {
    ElfW(Sym) const* symbols = nullptr;
    char const* names = nullptr;
    std::size_t names_bytes = 0;
    ElfW(Rela) const* relocations[2] = {};
    std::size_t counts[2] = {};
};

imports imports_of(::link_map const& object) {
    imports result;
    for (ElfW(Dyn) const* each = object.l_ld; each->d_tag != DT_NULL; ++each) {
        auto const value = static_cast<std::uintptr_t>(each->d_un.d_val);
        switch (each->d_tag) {
        case DT_SYMTAB:
            result.symbols = reinterpret_cast<ElfW(Sym) const*>(value);
            break;
        case DT_STRTAB:
            result.names = reinterpret_cast<char const*>(value);
            break;
        case DT_STRSZ:
            result.names_bytes = value;
            break;
        case DT_JMPREL:
            result.relocations[0] = reinterpret_cast<ElfW(Rela) const*>(value);
            break;
        case DT_PLTRELSZ:
            result.counts[0] = value / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            result.relocations[1] = reinterpret_cast<ElfW(Rela) const*>(value);
            break;
        case DT_RELASZ:
            result.counts[1] = value / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    return result;
}

/// The addresses that the loader makes read-only once it has written them.
struct read_only_range {
    std::uintptr_t base; ///< of the library
    std::uintptr_t begin = 0, end = 0;
};

read_only_range read_only_range_of(::link_map const& object) {
    read_only_range result{object.l_addr};
    auto const look = [](::dl_phdr_info* each, std::size_t, void* argument) {
        auto& found = *static_cast<read_only_range*>(argument);
        if (each->dlpi_addr != found.base)
            return 0;
        for (int i = 0; i < each->dlpi_phnum; ++i) {
            if (each->dlpi_phdr[i].p_type != PT_GNU_RELRO)
                continue;
            // The loader does not protect a last page that the range covers in part: there the
            // entry is writable.
            std::uintptr_t const from = found.base + each->dlpi_phdr[i].p_vaddr;
            found.begin = from / page_size() * page_size();
            found.end = (from + each->dlpi_phdr[i].p_memsz) / page_size() * page_size();
        }
        return 1;
    };
    ::dl_iterate_phdr(look, &result);
    return result;
}

/// Makes the page of an entry writable. It stays so: another copy of this code in the process may
/// be about to write there.
/// @return whether it is; if not, errno says why
bool make_writable(void** place) noexcept {
    auto const page = reinterpret_cast<std::uintptr_t>(place) / page_size() * page_size();
    return current().mprotect(reinterpret_cast<void*>(page), page_size(), PROT_READ | PROT_WRITE) ==
           0;
}

/// @return whether the entry led to `expected`, and now leads to `wanted`
bool exchange(void** place, void* expected, void* wanted) noexcept {
    return __atomic_compare_exchange_n(place, &expected, wanted, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/// @return where the entry led before
void* lead_here(void** place) noexcept {
    for (;;) {
        void* const led_to = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (led_to == address_of_arrive()) // another hook has put back what it found in a watch
            return reinterpret_cast<void*>(next_function.load(std::memory_order_relaxed));
        ioctl_function none = nullptr;
        next_function.compare_exchange_strong(none, reinterpret_cast<ioctl_function>(led_to),
                                              std::memory_order_acq_rel);
        if (exchange(place, led_to, address_of_arrive()))
            return led_to;
    }
}

/// Leaves what another part of the process has put there in the meantime.
void lead_back(void** place, void* before) noexcept {
    exchange(place, address_of_arrive(), before);
}

} // namespace

library_ioctls::library_ioctls(void* library) {
    ::link_map* object = nullptr;
    if (::dlinfo(library, RTLD_DI_LINKMAP, &object) != 0 || !object)
        throw error(errc::backend_absent, "find the ioctls of a library", "",
                    "the loader has no such library");
    imports const found = imports_of(*object);
    read_only_range const read_only = read_only_range_of(*object);
    for (int table = 0; table < 2; ++table) {
        for (std::size_t i = 0; i < found.counts[table]; ++i) {
            ElfW(Rela) const& each = found.relocations[table][i];
            std::size_t const symbol = ELF64_R_SYM(each.r_info);
            std::size_t const name = symbol ? found.symbols[symbol].st_name : 0;
            if (name == 0 || name >= found.names_bytes ||
                std::strcmp(found.names + name, "ioctl") != 0)
                continue;
            std::uintptr_t const place = object->l_addr + each.r_offset;
            entries_.push_back({reinterpret_cast<void**>(place),
                                place >= read_only.begin && place < read_only.end});
        }
    }
    if (entries_.empty())
        throw error(errc::backend_absent, "find the ioctls of a library", "",
                    "it makes its system calls in an unknown way");
    // A thread may still run our function when a watch ends.
    keep_own_code_loaded();
}

std::vector<void**> library_ioctls::places() const {
    std::vector<void**> result;
    for (entry const& each : entries_)
        result.push_back(each.place);
    return result;
}

library_ioctls::watching::watching(library_ioctls const& of, watcher& by) : entries_(of.entries_) {
    std::unique_lock hold(one_watch);
    for (entry& each : entries_) {
        if (!each.read_only || make_writable(each.place)) {
            each.before = lead_here(each.place);
            continue;
        }
        int const code = errno;
        for (entry const& done : entries_) {
            if (&done == &each)
                break;
            lead_back(done.place, done.before);
        }
        throw error({code, std::system_category()}, "watch the ioctls of a library", "",
                    "the system does not allow writing to the loader's table");
    }
    watching_process = this_process();
    current_watcher = &by;
    watching_thread.store(::pthread_self(), std::memory_order_relaxed);
    hold.release(); // until the end
}

library_ioctls::watching::~watching() {
    watching_thread.store(0, std::memory_order_relaxed);
    for (entry const& each : entries_)
        lead_back(each.place, each.before);
    one_watch.unlock();
}

} // namespace barmap::os
