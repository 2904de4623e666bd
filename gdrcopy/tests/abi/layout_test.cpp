// SPDX-License-Identifier: MIT
// That gdrapi.h gives the original's layouts, constants and signatures, to C and to C++: most of it
// is checked by compiling, the rest here. Links with the library, so every name of the header is
// there.
#include "layout.h"

#include <cstdio>

extern "C" int check_layout_in_c(void);

namespace {

// Reached through the linker, as a program's calls are.
void const* const functions[] = {
    reinterpret_cast<void const*>(&gdr_open),
    reinterpret_cast<void const*>(&gdr_close),
    reinterpret_cast<void const*>(&gdr_pin_buffer),
    reinterpret_cast<void const*>(&gdr_pin_buffer_v2),
    reinterpret_cast<void const*>(&gdr_unpin_buffer),
    reinterpret_cast<void const*>(&gdr_get_callback_flag),
    reinterpret_cast<void const*>(&gdr_get_info),
    reinterpret_cast<void const*>(&gdr_map),
    reinterpret_cast<void const*>(&gdr_map_v2),
    reinterpret_cast<void const*>(&gdr_unmap),
    reinterpret_cast<void const*>(&gdr_copy_to_mapping),
    reinterpret_cast<void const*>(&gdr_copy_from_mapping),
    reinterpret_cast<void const*>(&gdr_runtime_get_version),
    reinterpret_cast<void const*>(&gdr_driver_get_version),
    reinterpret_cast<void const*>(&gdr_get_attribute),
    reinterpret_cast<void const*>(&gdr_get_mapping_type_string),
    reinterpret_cast<void const*>(&gdr_barmap_checkpoint_prepare),
    reinterpret_cast<void const*>(&gdr_barmap_checkpoint_restore),
};

} // namespace

int main() {
    int const wrong = check_layout_in_c() + check_bit_fields();
    int missing = 0;
    for (void const* each : functions)
        missing += each == nullptr;
    int major = 0, minor = 0;
    gdr_runtime_get_version(&major, &minor);
    bool const version = major == GDR_API_MAJOR_VERSION && minor == GDR_API_MINOR_VERSION;
    std::printf("bit-fields misplaced: %d, functions missing: %d, version %d.%d\n", wrong, missing,
                major, minor);
    return wrong == 0 && missing == 0 && version ? 0 : 1;
}
