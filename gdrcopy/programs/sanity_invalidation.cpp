// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/sanity.hpp"

namespace barmap::tool::gdrcopy::sanity {
namespace {

void access_after_close(settings const& with) {
    bench on(with);
    mapped_buffer range(on);
    store_word(range.data(), 321);
    expect(!faults(range.data()), "a mapping can be read");
    range.forget();
    on.through.close();
    expect(faults(range.data()), "an access after gdr_close faults");
}

void access_after_free(settings const& with) {
    bench on(with);
    mapped_buffer range(on);
    store_word(range.data(), 321);
    on.buffer.free();
    if (attribute(on.through, GDR_ATTR_USE_PERSISTENT_MAPPING)) {
        // The memory must not go to another owner while it is mapped.
        gpu_buffer const next(on.gpu, with.allocation, GPU_PAGE_SIZE);
        next.fill(0x77);
        expect(load_word(range.data()) == 321, "freed memory keeps its content while it is mapped");
        store_word(range.data(), 322);
        expect(load_word(range.data()) == 322, "freed memory can be written while it is mapped");
        expect(word_by_driver(next.address()) == 0x77777777, "other memory is not reached");
    } else {
        expect(faults(range.data()), "an access to freed memory faults");
    }
    range.undo();
    on.through.close();
}

void free_one_of_two(settings const& with) {
    bench on(with);
    gpu_buffer other(on.gpu, with.allocation, GPU_PAGE_SIZE);
    mapped_buffer freed(on);
    mapped_range kept(on.through, other.address(), GPU_PAGE_SIZE);
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
    freed.undo();
    kept.undo();
    on.through.close();
}

} // namespace

std::span<test const> invalidation_tests() {
    static constexpr test tests[] = {
        {"invalidation_access_after_free_cumemalloc", access_after_free},
        {"invalidation_access_after_free_vmmalloc", access_after_free, "cuMemCreate"},
        {"invalidation_access_after_gdr_close_cumemalloc", access_after_close},
        {"invalidation_access_after_gdr_close_vmmalloc", access_after_close, "cuMemCreate"},
        {"invalidation_two_mappings_cumemalloc", free_one_of_two},
        {"invalidation_two_mappings_vmmalloc", free_one_of_two, "cuMemCreate"},
    };
    return tests;
}

} // namespace barmap::tool::gdrcopy::sanity
