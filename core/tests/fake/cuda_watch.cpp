// SPDX-License-Identifier: MIT
#include "fake/cuda_watch.hpp"

#include "cuda/driver_api.hpp"
#include "fake/faults.hpp"
#include "fake/simulation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace barmap::fake {
namespace {

cuda::driver_api behind; // the table that the watched calls go on to

// Calls that give something back or only name an error.
constexpr std::array<std::string_view, 15> never_failing{
    "cuMemFree_v2",        "cuMemFreeHost",      "cuMemFreeAsync",
    "cuMemRelease",        "cuMemUnmap",         "cuMemAddressFree",
    "cuMemPoolDestroy",    "cuStreamDestroy_v2", "cuEventDestroy_v2",
    "cuCtxDestroy_v2",     "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
    "cuIpcCloseMemHandle", "cuGetErrorName",     "cuDestroyExternalMemory"};

int refusal_of(std::string_view symbol) {
    if (std::find(never_failing.begin(), never_failing.end(), symbol) != never_failing.end())
        return 0;
    return the_faults().next(fault_source::cuda, symbol);
}

#define BARMAP_CUDA_TAG(member, symbol, signature)                                                 \
    struct member##_tag {                                                                          \
        static constexpr std::string_view name = symbol;                                           \
        static constexpr auto where = &cuda::driver_api::member;                                   \
    };
BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_TAG)
#undef BARMAP_CUDA_TAG

template <class Tag, class... Arguments>
CUresult watched(Arguments... arguments) {
    if (int const code = refusal_of(Tag::name))
        return code;
    return (behind.*Tag::where)(arguments...);
}

template <class Tag, class... Arguments>
void watch(CUresult (*&member)(Arguments...)) {
    member = &watched<Tag, Arguments...>;
}

cuda::driver_api const& table() {
    static cuda::driver_api const watching = [] {
        behind = cuda::api();
        cuda::driver_api result = behind;
#define BARMAP_CUDA_WATCH(member, symbol, signature) watch<member##_tag>(result.member);
        BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_WATCH)
#undef BARMAP_CUDA_WATCH
        return result;
    }();
    return watching;
}

} // namespace

cuda_watch::cuda_watch() {
    (void)the_simulation(); // is found by the table that is replaced here
    cuda::replace_api(&table());
}

cuda_watch::~cuda_watch() {
    cuda::replace_api(nullptr);
}

} // namespace barmap::fake
