// SPDX-License-Identifier: MIT
#include "bar1.hpp"

#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/stat.h>

namespace barmap::sim {
namespace {

/// How much of [first, end) the simulated driver itself has mapped, as its view.
std::uint64_t own_part(std::uint64_t first, std::uint64_t end) {
    std::uint64_t total = 0;
    for (auto const& [view, size] : reservation::views()) {
        std::uint64_t const from = std::max(first, view), to = std::min(end, view + size);
        total += from < to ? to - from : 0;
    }
    return total;
}

/// Bytes that this process has mapped, by the inode of the file.
std::map<std::uint64_t, std::uint64_t> mapped_files() {
    std::map<std::uint64_t, std::uint64_t> found;
    // No stream: they would be half of this library where the C++ runtime is linked statically.
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    if (!maps)
        return found;
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, maps) > 0) {
        unsigned long long first = 0, end = 0, inode = 0;
        if (std::strstr(line, "/memfd:barmap simulated GPU") &&
            std::sscanf(line, "%llx-%llx %*s %*s %*s %llu", &first, &end, &inode) == 3)
            if (std::uint64_t const bytes = end - first - own_part(first, end))
                found[inode] += bytes;
    }
    std::free(line);
    std::fclose(maps);
    return found;
}

bool is_open(export_record const& exported) {
    struct stat about {};
    return fstat(exported.fd, &about) == 0 && about.st_ino == exported.inode;
}

} // namespace

bool fits_bar1(device const& of, std::uint64_t bytes) {
    if (!of.bar1_limited)
        return true;
    auto mapped = mapped_files();
    std::uint64_t used = 0;
    for (auto const& [number, object] : the_world().objects)
        if (object->ordinal() == of.ordinal)
            if (auto const at = mapped.find(object->inode()); at != mapped.end()) {
                used += at->second;
                at->second = 0; // another object may be of the same file
            }
    for (export_record const& one : of.exports)
        if (is_open(one) && !mapped.contains(one.inode))
            used += one.bytes;
    return used <= of.bar1_info && bytes <= of.bar1_info - used;
}

void count_export(device& of, physical const& memory, int fd, std::uint64_t bytes) {
    if (!of.bar1_limited)
        return;
    std::erase_if(of.exports, [](export_record const& one) { return !is_open(one); });
    of.exports.push_back({fd, memory.inode(), bytes});
}

} // namespace barmap::sim
