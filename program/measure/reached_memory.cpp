// SPDX-License-Identifier: MIT
#include "measure/reached_memory.hpp"

namespace barmap::tool {

reached_memory reach(opened_gpu const& gpu, options const& values, std::size_t bytes) {
    reached_memory result;
    result.memory = gpu_memory::named(values.memory, gpu, bytes);
    result.pin = gpu.device().pin(static_cast<std::uintptr_t>(result.memory.address()), bytes,
                                  {.backend = values.backend});
    result.mapping = result.pin.map();
    use_routine(result.mapping, values);
    return result;
}

void use_routine(mapping& of, options const& values) {
    if (values.routine != "auto")
        of.use_copy_routine(values.routine);
}

} // namespace barmap::tool
