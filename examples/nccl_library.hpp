// SPDX-License-Identifier: MIT
// NCCL's send and receive, for all_to_all.cu.
#pragma once

#include "measured_copies.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

/// Finds NCCL at run time, so that a program needs it neither for its build nor to start. Functions
/// return NCCL's result, 0 for success.
class nccl_library {
public:
    using communicator = struct ncclComm*;

    nccl_library() : library_(::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) {
        find(version_, "ncclGetVersion");
        find(text_, "ncclGetErrorString");
        find(make_all_, "ncclCommInitAll");
        find(begin_, "ncclGroupStart");
        find(end_, "ncclGroupEnd");
        find(send_, "ncclSend");
        find(receive_, "ncclRecv");
    }
    [[nodiscard]] bool is_there() const { return why_not_.empty(); }

    /// Its version, or why it is not there.
    [[nodiscard]] std::string version() const {
        int number = 0;
        if (!is_there() || version_(&number) != 0)
            return "none: " + why_not_;
        int const of_major = number < 10'000 ? 1000 : 10'000; // the former up to 2.8
        return std::to_string(number / of_major) + "." + std::to_string(number % of_major / 100) +
               "." + std::to_string(number % 100);
    }

    /// One for each GPU, all of this process. @pre is_there(), as of all below
    [[nodiscard]] std::vector<communicator> communicators(std::vector<int> const& gpus) const {
        std::vector<communicator> result(gpus.size());
        expect(make_all_(result.data(), static_cast<int>(gpus.size()), gpus.data()));
        return result;
    }
    void expect(int result) const {
        if (result != 0)
            fail((std::string("NCCL: ") + text_(result)).c_str());
    }
    [[nodiscard]] char const* text(int result) const { return text_(result); }

    [[nodiscard]] int begin_group() const { return begin_(); }
    [[nodiscard]] int end_group() const { return end_(); }
    [[nodiscard]] int send(void const* from, std::size_t bytes, int to, communicator by,
                           cudaStream_t stream) const {
        return send_(from, bytes, of_bytes, to, by, stream);
    }
    [[nodiscard]] int receive(void* to, std::size_t bytes, int from, communicator by,
                              cudaStream_t stream) const {
        return receive_(to, bytes, of_bytes, from, by, stream);
    }

private:
    static constexpr int of_bytes = 0; ///< ncclInt8

    template <class Function>
    void find(Function*& function, char const* name) {
        void* const found = library_ != nullptr ? ::dlsym(library_, name) : nullptr;
        if (found == nullptr && why_not_.empty())
            why_not_ = ::dlerror();
        function = reinterpret_cast<Function*>(found);
    }

    void* library_;
    std::string why_not_;
    int (*version_)(int*);
    char const* (*text_)(int);
    int (*make_all_)(communicator*, int, int const*);
    int (*begin_)();
    int (*end_)();
    int (*send_)(void const*, std::size_t, int, int, communicator, cudaStream_t);
    int (*receive_)(void*, std::size_t, int, int, communicator, cudaStream_t);
};
