// SPDX-License-Identifier: MIT
#pragma once

#include "system/calls.hpp"

#include <cerrno>
#include <string>

namespace barmap::os {

/// The real system calls, counted; the next one of a name can be made to fail. One at a time.
class watched_calls {
public:
    watched_calls() {
        counts = {};
        table = linux_calls();
        table.open = [](char const* path, int flags) {
            return fails("open") ? -1 : linux_calls().open(path, flags);
        };
        table.duplicate = [](int fd) {
            return fails("duplicate") ? -1 : linux_calls().duplicate(fd);
        };
        table.close = [](int fd) {
            ++counts.close;
            return linux_calls().close(fd);
        };
        table.mmap = [](void* at, std::size_t bytes, int protection, int flags, int fd,
                        off_t offset) {
            if (fails("mmap"))
                return reinterpret_cast<void*>(-1); // MAP_FAILED
            return linux_calls().mmap(at, bytes, protection, flags, fd, offset);
        };
        table.munmap = [](void* at, std::size_t bytes) {
            ++counts.munmap;
            return linux_calls().munmap(at, bytes);
        };
        table.mprotect = [](void* at, std::size_t bytes, int protection) {
            return fails("mprotect") ? -1 : linux_calls().mprotect(at, bytes, protection);
        };
        table.madvise = [](void* at, std::size_t bytes, int advice) {
            return fails("madvise") ? -1 : linux_calls().madvise(at, bytes, advice);
        };
        table.dlclose = [](void* library) {
            ++counts.dlclose;
            return linux_calls().dlclose(library);
        };
        replace(&table);
    }
    watched_calls(watched_calls const&) = delete;
    watched_calls& operator=(watched_calls const&) = delete;
    ~watched_calls() { replace(nullptr); }

    void fail(std::string call, int code) {
        failing = std::move(call);
        failure = code;
    }

    struct counters {
        int close, munmap, dlclose;
    };
    static inline counters counts;

private:
    static bool fails(char const* call) {
        if (failing != call)
            return false;
        failing.clear();
        errno = failure;
        return true;
    }
    static inline calls table;
    static inline std::string failing;
    static inline int failure = 0;
};

} // namespace barmap::os
