// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/data_checks.hpp"
#include "gdrcopy/programs/programs.hpp"
#include "gdrcopy/programs/short_options.hpp"

namespace barmap::tool::gdrcopy {
namespace {

bool say_result(std::optional<std::string> const& wrong) {
    if (wrong)
        say("check error: {}\n", *wrong);
    return !wrong;
}

int run() {
    constexpr std::size_t size = 5 * GPU_PAGE_SIZE;
    constexpr std::size_t extra_dwords = 5, extra_bytes = 11;
    (void)gdrapi(); // before anything is started
    say("buffer size: {}\n", size);
    selected_gpu const gpu(0);
    gpu_buffer const buffer(gpu, "cuMemAlloc", size);
    session through;
    mapped_range range(through, buffer.address(), size);
    range.map();
    say("off: {}\n", buffer.address() - range.info().va);

    data_checks checks(buffer, range);
    say("check 1: direct access + read back via cuMemcpy D->H\n");
    bool right = say_result(checks.direct_stores(1));
    say("check 2: gdr_copy_to_bar() + read back via cuMemcpy D->H\n");
    right &= say_result(checks.copy_to_mapping(2));
    say("check 3: gdr_copy_to_bar() + read back via gdr_copy_from_bar()\n");
    right &= say_result(checks.round_trip(0, 0, 3));
    say("check 4: gdr_copy_to_bar() + read back via gdr_copy_from_bar() + extra_dwords={}\n",
        extra_dwords);
    right &= say_result(checks.round_trip(extra_dwords * sizeof(std::uint32_t), 0, 4));
    say("check 5: gdr_copy_to_bar() + read back via gdr_copy_from_bar() + extra_bytes={}\n",
        extra_bytes);
    right &= say_result(checks.round_trip(extra_bytes, 0, 5));

    say("unmapping\n");
    range.unmap();
    say("unpinning\n");
    range.unpin();
    through.close();
    return right ? 0 : 1;
}

} // namespace

int run_validate(int argc, char** argv) {
    short_options options("A short test: bytes that are written through a mapping arrive");
    options.footer(
        "Exits 1 after a line `check error: ...` if a byte is wrong. gdr_copy_to_bar and\n"
        "gdr_copy_from_bar are the old names of gdr_copy_to_mapping and\n"
        "gdr_copy_from_mapping. The program's old name is validate; under that it lies in\n"
        "libexec/barmap, since a bare `validate` could hide another command.");
    return options.run(argc, argv, [] { return run(); });
}

} // namespace barmap::tool::gdrcopy
