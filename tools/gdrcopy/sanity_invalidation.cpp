// SPDX-License-Identifier: MIT
#include "gdrcopy/sanity.hpp"

namespace barmap::tool::gdrcopy::sanity {
namespace {

bool persistent(session const& through) {
    return attribute(through, GDR_ATTR_USE_PERSISTENT_MAPPING) != 0;
}

void access_after_close(settings const& with, char const* function) {
    bench on(with, function);
    mapped_range range(on.through, on.buffer.address(), GPU_PAGE_SIZE);
    range.map();
    store_word(range.data(), 321);
    expect(!faults(range.data()), "a mapping can be read");
    range.forget();
    on.through.close();
    expect(faults(range.data()), "an access after gdr_close faults");
}

void access_after_free(settings const& with, char const* function) {
    bench on(with, function);
    mapped_range range(on.through, on.buffer.address(), GPU_PAGE_SIZE);
    range.map();
    store_word(range.data(), 321);
    on.buffer.free();
    if (persistent(on.through)) {
        // The memory must not go to another owner while it is mapped.
        gpu_buffer const next(on.gpu, function, GPU_PAGE_SIZE);
        next.fill(0x77);
        expect(load_word(range.data()) == 321, "freed memory keeps its content while it is mapped");
        store_word(range.data(), 322);
        expect(load_word(range.data()) == 322, "freed memory can be written while it is mapped");
        expect(word_by_driver(next.address()) == 0x77777777, "other memory is not reached");
    } else {
        expect(faults(range.data()), "an access to freed memory faults");
    }
    range.unmap();
    range.unpin();
    on.through.close();
}

void free_one_of_two(settings const& with, char const* function) {
    bench on(with, function);
    gpu_buffer other(on.gpu, function, GPU_PAGE_SIZE);
    mapped_range freed(on.through, on.buffer.address(), GPU_PAGE_SIZE);
    mapped_range kept(on.through, other.address(), GPU_PAGE_SIZE);
    freed.map();
    kept.map();
    store_word(freed.data(), 1);
    store_word(kept.data(), 2);
    expect(load_word(freed.data()) == 1 && load_word(kept.data()) == 2,
           "each mapping reads what was written through it");
    on.buffer.free();
    expect(load_word(kept.data()) == 2, "the other mapping is as it was");
    store_word(kept.data(), 3);
    expect(word_by_driver(other.address()) == 3, "the other mapping reaches its memory");
    other.free();
    for (mapped_range* const range : {&freed, &kept}) {
        range->unmap();
        range->unpin();
    }
    on.through.close();
}

} // namespace

std::span<test const> invalidation_tests() {
    static constexpr test tests[] = {
        {"invalidation_access_after_free_cumemalloc",
         [](settings const& with) { access_after_free(with, "cuMemAlloc"); }},
        {"invalidation_access_after_free_vmmalloc",
         [](settings const& with) { access_after_free(with, "cuMemCreate"); }},
        {"invalidation_access_after_gdr_close_cumemalloc",
         [](settings const& with) { access_after_close(with, "cuMemAlloc"); }},
        {"invalidation_access_after_gdr_close_vmmalloc",
         [](settings const& with) { access_after_close(with, "cuMemCreate"); }},
        {"invalidation_two_mappings_cumemalloc",
         [](settings const& with) { free_one_of_two(with, "cuMemAlloc"); }},
        {"invalidation_two_mappings_vmmalloc",
         [](settings const& with) { free_one_of_two(with, "cuMemCreate"); }},
    };
    return tests;
}

} // namespace barmap::tool::gdrcopy::sanity
