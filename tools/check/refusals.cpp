// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "output/units.hpp"

namespace barmap::tool {
namespace {

/// @param backend for the line only: the core refuses before it chooses one
void expect(opened_gpu const& gpu, CUdeviceptr address, std::size_t bytes, errc expected,
            std::string_view name, checklist& results) {
    constexpr std::string_view backend = "any";
    try {
        (void)gpu.device().pin(std::uintptr_t{address}, bytes);
    } catch (error const& refused) {
        bool const right = refused.code() == expected && !refused.advice().empty();
        right ? results.passed(name, backend, "refused, as it should be")
              : results.failed(name, backend,
                               formatted("refused in the wrong way: {}", refused.what()));
        return;
    }
    results.failed(name, backend, "pinned, though it must be refused");
}

} // namespace

void check_refusals(opened_gpu const& gpu, checklist& results) {
    constexpr std::size_t bytes = 8 * MiB;
    CUdeviceptr freed = 0;
    {
        gpu_memory const memory = gpu_memory::device(bytes);
        freed = memory.address();
        expect(gpu, freed, 0, errc::invalid_argument, "size 0", results);
        expect(gpu, 0, bytes, errc::invalid_argument, "null pointer", results);
        expect(gpu, freed, bytes + 1, errc::out_of_range, "past the end", results);
    }
    expect(gpu, freed, bytes, errc::unsupported_memory, "freed", results);
    int ordinary = 0;
    expect(gpu, reinterpret_cast<std::uintptr_t>(&ordinary), sizeof ordinary,
           errc::unsupported_memory, "not CUDA memory", results);
}

} // namespace barmap::tool
