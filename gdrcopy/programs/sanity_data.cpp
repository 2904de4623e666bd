// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/sanity.hpp"

#include "gdrcopy/programs/data_checks.hpp"

#include "measure/pattern.hpp"
#include "output/formatted.hpp"

#include <vector>

namespace barmap::tool::gdrcopy::sanity {
namespace {

constexpr std::size_t offsets[] = {1, 2, 3, 4, 5, 6, 7, 11, 129, 1023};

void expect_right(std::optional<std::string> const& wrong, std::string const& check) {
    if (wrong)
        throw failed(formatted("{}: {}", check, *wrong));
}

void validate(bench const& on, mapped_range& range) {
    expect(!range.info().mapped, "a pin without a mapping is reported as not mapped");
    range.map();
    gdr_info_t const info = range.info();
    expect(info.mapped, "a mapped pin is reported as mapped");
    expect(info.mapped_size >= range.size(), "info reports the size");
    // gdrcopy's own tells the CPU's page where it works without its module.
    expect(info.page_size == GPU_PAGE_SIZE || !gdrapi().beside_tool, "info reports the page size");
    expect(info.mapping_type != GDR_MAPPING_TYPE_NONE, "a mapping has a type");
    expect(bool(info.wc_mapping) == (info.mapping_type == GDR_MAPPING_TYPE_WC),
           "info.wc_mapping says the same as info.mapping_type");

    data_checks checks(on.buffer, range);
    std::uint64_t seed = 0;
    // Every one of these looks at each byte; the simulated GPU has no buses to lose one on.
    int const repetitions = cuda::api().simulated ? 20 : 1000;
    for (int i = 0; i < repetitions; ++i)
        expect_right(checks.direct_stores(++seed), "stores by the CPU");
    expect_right(checks.copy_to_mapping(++seed), "gdr_copy_to_mapping");
    expect_right(checks.round_trip(0, 0, ++seed), "copies both ways");
    for (std::size_t const offset : offsets) {
        for (std::size_t const at : {offset, offset * sizeof(std::uint32_t)}) {
            auto const both_ways = formatted("copies both ways at {} bytes in ", at);
            expect_right(checks.round_trip(at, 0, ++seed), both_ways + "the mapping");
            expect_right(checks.round_trip(0, at, ++seed), both_ways + "host memory");
            expect_right(checks.round_trip(at, at, ++seed), both_ways + "both");
        }
    }
    range.undo();
}

void validate_data(settings const& with) {
    bench on(with, some_pages);
    mapped_range range(on.through, on.buffer.address(), some_pages);
    validate(on, range);
    on.through.close();
}

void validate_data_by_v2(settings const& with) {
    bench on(with, some_pages);
    waive_unless_pin_flags_work(on, with.pin_flags);
    mapped_range range(on.through, on.buffer.address(), some_pages, with.pin_flags);
    validate(on, range);
    on.through.close();
}

/// Writes through one mapping and reads through the other.
void across(mapped_range const& to, mapped_range const& from, std::uint64_t seed) {
    std::vector<std::byte> bytes(some_pages);
    fill_pattern(bytes, seed, 0);
    to.write(0, bytes.data(), bytes.size());
    fill_pattern(bytes, seed + 1, 0);
    from.read(bytes.data(), 0, bytes.size());
    expect(!first_difference(bytes, seed, 0), "one mapping reads what the other has written");
}

void validate_two_types(settings const& with) {
    bench on(with, some_pages);
    if (!on.gpu.attribute(attribute_host_page_tables))
        throw waived("cached mappings need a GPU that is coherent with the CPU");
    if (attribute(on.through, GDR_ATTR_USING_DMA_BUF_MMAP))
        throw waived("a dma-buf is mapped in one way only");
    mapped_range combining(on.through, on.buffer.address(), some_pages);
    mapped_range cached(on.through, on.buffer.address(), some_pages);
    combining.map(GDR_MAP_FLAG_REQ_WC_MAPPING);
    cached.map(GDR_MAP_FLAG_REQ_CACHE_MAPPING);
    across(combining, cached, 1);
    across(cached, combining, 3);
}

} // namespace

std::span<test const> data_tests() {
    static constexpr test tests[] = {
        {"data_validation_cumemalloc", validate_data},
        {"data_validation_mix_mappings_cumemalloc", validate_two_types},
        {"data_validation_v2_cumemalloc", validate_data_by_v2},
        {"data_validation_v2_forcepci_cumemalloc", validate_data_by_v2, "cuMemAlloc",
         GDR_PIN_FLAG_FORCE_PCIE},
        {"data_validation_vmmalloc", validate_data, "cuMemCreate"},
    };
    return tests;
}

} // namespace barmap::tool::gdrcopy::sanity
