// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/sanity.hpp"

#include <cerrno>
#include <future>
#include <memory>
#include <optional>

namespace barmap::tool::gdrcopy::sanity {
namespace {

void pin_and_unpin(settings const& with) {
    bench on(with, some_pages);
    mapped_range range(on.through, on.buffer.address(), some_pages);
    expect(!range.info().mapped, "a pin without a mapping is reported as not mapped");
    range.unpin();
    on.through.close();
}

void pin_and_unpin_by_v2(settings const& with) {
    bench on(with, some_pages);
    waive_unless_pin_flags_work(on, with.pin_flags);
    mapped_range range(on.through, on.buffer.address(), some_pages, with.pin_flags);
    range.unpin();
    on.through.close();
}

void pin_with_tokens(settings const& with) {
    bench on(with, some_pages);
    if (attribute(on.through, GDR_ATTR_USE_PERSISTENT_MAPPING))
        throw waived("p2p tokens have no meaning where mappings are persistent");
    p2p_tokens const tokens = tokens_of(on.buffer.address());
    gdr_mh_t handle{};
    check_call(gdrapi().pin_buffer(on.through.get(), on.buffer.address(), some_pages, tokens.p2p,
                                   tokens.address_space, &handle),
               "gdr_pin_buffer");
    check_call(gdrapi().unpin_buffer(on.through.get(), handle), "gdr_unpin_buffer");
    on.through.close();
}

/// Maps the range, or finds that the library maps no address but the first of a page, as gdrcopy's
/// own says of itself. barmap's maps every address.
bool maps_unaligned(mapped_range& range) {
    try {
        range.map();
        return true;
    } catch (call_failed const&) {
        if (gdrapi().beside_tool)
            throw;
        return false;
    }
}

/// The words before and after `at` must not change when it does.
void expect_lands_at(mapped_range& range, CUdeviceptr at) {
    std::uint32_t const before = word_by_driver(at - 4), after = word_by_driver(at + 8);
    store_word(range.data(), 0x11223344);
    std::uint32_t const second = 0x55667788;
    range.write(4, &second, sizeof second);
    expect(word_by_driver(at) == 0x11223344, "a store lands at the address that was pinned");
    expect(word_by_driver(at + 4) == second, "gdr_copy_to_mapping lands at its address");
    expect(word_by_driver(at - 4) == before && word_by_driver(at + 8) == after,
           "the words beside it are as they were");
    std::uint32_t seen = 0;
    range.read(&seen, 0, sizeof seen);
    expect(seen == 0x11223344, "gdr_copy_from_mapping reads from its address");
}

void map_unaligned(settings const& with) {
    bench on(with, some_pages);
    CUdeviceptr const unaligned = on.buffer.address() + GPU_PAGE_SIZE + 4108;
    std::size_t const bytes = GPU_PAGE_SIZE + sizeof(int); // into the next page
    mapped_range range(on.through, unaligned, bytes);
    if (maps_unaligned(range)) {
        expect(range.info().va <= unaligned, "info.va is not behind the pinned address");
        expect(range.info().mapped_size >= unaligned + bytes - range.info().va,
               "info.mapped_size reaches to the end of what was pinned");
        expect_lands_at(range, unaligned);
        store_word(range.data() + GPU_PAGE_SIZE, 3);
        expect(word_by_driver(unaligned + GPU_PAGE_SIZE) == 3, "the last word lands in its place");
    }

    // The page after it, and a small allocation that is freed under its mapping.
    CUdeviceptr const aligned = on.buffer.address() + 3 * GPU_PAGE_SIZE;
    mapped_range page(on.through, aligned, sizeof(int));
    page.map();
    store_word(page.data(), 7);
    bool const tiny = gdrapi().beside_tool; // gdrcopy's own needs whole pages
    gpu_memory small = gpu_memory::device(tiny ? sizeof(int) : 2 * GPU_PAGE_SIZE);
    CUdeviceptr const in_small = round_up(small.address(), tiny ? 1 : GPU_PAGE_SIZE);
    mapped_range of_small(on.through, in_small, sizeof(int));
    of_small.map();
    store_word(of_small.data(), 8);
    expect(word_by_driver(in_small) == 8, "a store lands in the small allocation");
    small = gpu_memory();
    expect(load_word(page.data()) == 7, "another mapping is not affected by freed memory");
    store_word(page.data(), 9);
    expect(word_by_driver(aligned) == 9, "a store lands in the page's first word");
}

void map_small_buffers(settings const& with) {
    bench on(with);
    mapped_range first(on.through, on.buffer.address(), sizeof(std::uint64_t));
    mapped_range second(on.through, on.buffer.address() + sizeof(std::uint64_t),
                        sizeof(std::uint64_t));
    first.map();
    store_word(first.data(), 1);
    expect(word_by_driver(on.buffer.address()) == 1, "a store lands in the first buffer");
    if (maps_unaligned(second)) {
        store_word(second.data(), 2);
        expect(word_by_driver(on.buffer.address() + 8) == 2, "a store lands in the second buffer");
        expect(word_by_driver(on.buffer.address()) == 1, "and not in the first");
        second.unmap();
    }
    first.unmap();
    first.unpin();
    second.unpin();
    on.through.close();
}

/// Runs on a separate thread, which has no CUDA context, and rethrows its exceptions.
template <class Work>
std::future<void> in_thread(Work work) {
    return std::async(std::launch::async, std::move(work));
}

void use_threads(settings const& with) {
    bench on(with, some_pages);
    auto const make = [&] { return std::make_unique<mapped_buffer>(on); };
    in_thread([&] { make()->undo(); }).get();

    std::unique_ptr<mapped_buffer> handed_on;
    in_thread([&] { handed_on = make(); }).get();
    in_thread([&] {
        store_word(handed_on->data(), 5);
        handed_on->undo();
    }).get();
    expect(word_by_driver(on.buffer.address()) == 5, "a store by the other thread lands");

    auto both = [&](std::size_t at) {
        for (std::uint32_t i = 1; i <= 20; ++i) {
            auto const range = make();
            store_word(range->data() + at, i);
            expect(load_word(range->data() + at) == i, "a thread reads what it has written");
            range->undo();
        }
    };
    auto one = in_thread([&] { both(0); });
    auto other = in_thread([&] { both(GPU_PAGE_SIZE); });
    one.get();
    other.get();
    in_thread([&] { on.through.close(); }).get();
    expect(word_by_driver(on.buffer.address()) == 20 &&
               word_by_driver(on.buffer.address() + GPU_PAGE_SIZE) == 20,
           "the writes of both threads have arrived");
}

void look_at_attributes(settings const&) {
    session through;
    for (gdr_attr_t const which :
         {GDR_ATTR_USE_PERSISTENT_MAPPING, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE,
          GDR_ATTR_USING_DMA_BUF_MMAP}) {
        int value = -1;
        int const result = gdrapi().get_attribute(through.get(), which, &value);
        // The third is younger than the others.
        if (which != GDR_ATTR_USING_DMA_BUF_MMAP || gdrapi().beside_tool)
            check_call(result, "gdr_get_attribute");
        expect(result != 0 || value == 0 || value == 1, "an attribute is 0 or 1");
    }
    int value = 0;
    expect_refused(gdrapi().get_attribute(through.get(), GDR_ATTR_MAX, &value),
                   "gdr_get_attribute of an attribute that does not exist");
    int major = 0, minor = 0;
    gdrapi().runtime_get_version(&major, &minor);
    expect(major == GDR_API_MAJOR_VERSION && minor >= 5, "the interface is 2.5 or newer");
    // gdrcopy's own 2.6 aborts in this call where it works without its module.
    if (gdrapi().beside_tool || !attribute(through, GDR_ATTR_USING_DMA_BUF_MMAP)) {
        check_call(gdrapi().driver_get_version(through.get(), &major, &minor),
                   "gdr_driver_get_version");
        expect(major == GDR_API_MAJOR_VERSION, "the driver's major version is the interface's");
    }
    for (gdr_mapping_type_t const type : {GDR_MAPPING_TYPE_NONE, GDR_MAPPING_TYPE_WC,
                                          GDR_MAPPING_TYPE_CACHING, GDR_MAPPING_TYPE_DEVICE}) {
        char const* name = nullptr;
        check_call(gdrapi().get_mapping_type_string(type, &name), "gdr_get_mapping_type_string");
        expect(name && *name, "a mapping type has a name");
    }
    through.close();
}

} // namespace

std::span<test const> basic_tests() {
    static constexpr test tests[] = {
        {"attributes_sanity", look_at_attributes},
        {"basic_child_thread_pins_buffer_cumemalloc", use_threads},
        {"basic_child_thread_pins_buffer_vmmalloc", use_threads, "cuMemCreate"},
        {"basic_cumemalloc", pin_and_unpin},
        {"basic_small_buffers_mapping", map_small_buffers},
        {"basic_unaligned_mapping", map_unaligned},
        {"basic_v2_cumemalloc", pin_and_unpin_by_v2},
        {"basic_v2_forcepci_cumemalloc", pin_and_unpin_by_v2, "cuMemAlloc",
         GDR_PIN_FLAG_FORCE_PCIE},
        {"basic_v2_forcepci_vmmalloc", pin_and_unpin_by_v2, "cuMemCreate", GDR_PIN_FLAG_FORCE_PCIE},
        {"basic_v2_vmmalloc", pin_and_unpin_by_v2, "cuMemCreate"},
        {"basic_vmmalloc", pin_and_unpin, "cuMemCreate"},
        {"basic_with_tokens", pin_with_tokens},
    };
    return tests;
}

} // namespace barmap::tool::gdrcopy::sanity
