// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "output/units.hpp"

namespace barmap::tool {

std::optional<std::string> verify_refusal(opened_gpu const& gpu, CUdeviceptr address,
                                          std::size_t bytes, std::string const& backend,
                                          errc expected, std::string_view if_pinned) {
    try {
        (void)gpu.device().pin(std::uintptr_t{address}, bytes, {.backend = backend});
    } catch (error const& refused) {
        if (refused.code() == expected && !refused.advice().empty())
            return std::nullopt;
        return formatted("refused in the wrong way: {}", refused.what());
    }
    return std::string(if_pinned);
}

void check_refusals(opened_gpu const& gpu, checklist& results) {
    constexpr std::size_t bytes = 8 * MiB;
    // The core refuses before it chooses a backend.
    auto const expect = [&](CUdeviceptr address, std::size_t length, errc expected,
                            std::string_view name) {
        results.verdict(
            name, "any",
            verify_refusal(gpu, address, length, "", expected, "pinned, though it must be refused"),
            rightly_refused);
    };
    CUdeviceptr freed = 0;
    {
        gpu_memory const memory = gpu_memory::device(bytes);
        freed = memory.address();
        expect(freed, 0, errc::invalid_argument, "size 0");
        expect(0, bytes, errc::invalid_argument, "null pointer");
        expect(freed, bytes + 1, errc::out_of_range, "past the end");
    }
    expect(freed, bytes, errc::unsupported_memory, "freed");
    int ordinary = 0;
    expect(reinterpret_cast<std::uintptr_t>(&ordinary), sizeof ordinary, errc::unsupported_memory,
           "not CUDA memory");
}

} // namespace barmap::tool
