// SPDX-License-Identifier: MIT
#include "measure/usable_engines.hpp"

#include <cstring>

namespace barmap::tool {

std::vector<std::string> usable_engines(opened_gpu const& gpu) {
    std::string_view const forced = setting("BARMAP_ENGINE").value_or("");
    std::vector<std::string> result;
    if (forced == "none")
        return result;
    if (!forced.empty())
        return {std::string(forced)};
    for (engine_report const& each : gpu.device().engines())
        if (each.state == backend_state::usable)
            result.push_back(each.name);
    return result;
}

reached_memory reach_for(std::string_view engine, opened_gpu const& gpu, options const& values,
                         std::size_t bytes) {
    try {
        reached_memory result = reach(gpu, values, bytes);
        result.mapping.use_engine(engine);
        return result;
    } catch (error const& failure) {
        if (failure.code() != errc::unsupported_operation)
            throw;
    }
    reached_memory result;
    result.pin = gpu.device().allocate(bytes, values.backend);
    result.mapping = result.pin.map();
    use_routine(result.mapping, values);
    result.mapping.use_engine(engine);
    return result;
}

touched_host::touched_host(host_memory_kind kind, std::size_t bytes) {
    if (kind == host_memory_kind::pinned) {
        pinned_ = std::make_unique<pinned_host>(bytes);
        bytes_ = {pinned_->data(), bytes};
    } else {
        pageable_.resize(bytes);
        bytes_ = pageable_;
    }
    std::memset(bytes_.data(), 0x5a, bytes);
}

} // namespace barmap::tool
