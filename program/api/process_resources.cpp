// SPDX-License-Identifier: MIT
#include "api/process_resources.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace barmap::tool {

process_resources process_resources::now() {
    process_resources found;
    std::filesystem::directory_iterator const descriptors("/proc/self/fd");
    found.file_descriptors =
        static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        ++found.mappings;
        for (char const* file : {" /dev/", "/memfd:", "anon_inode:", "/dmabuf"})
            if (line.find(file) != std::string::npos) {
                ++found.device_mappings;
                break;
            }
    }
    return found;
}

bool process_resources::leaves_as_much(process_resources const& later) const {
    constexpr std::size_t heap_growth = 16;
    return later.file_descriptors == file_descriptors && later.device_mappings == device_mappings &&
           later.mappings <= mappings + heap_growth;
}

} // namespace barmap::tool
