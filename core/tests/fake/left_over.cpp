// SPDX-License-Identifier: MIT
#include "fake/left_over.hpp"

#include "fake/kernel.hpp"
#include "fake/simulation.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace barmap::fake {
namespace {

std::size_t count_open_files() {
    auto const files = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::size_t count_gpu_mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t lines = 0;
    for (std::string line; std::getline(maps, line);)
        lines += line.find("barmap simulated GPU") != std::string::npos;
    return lines;
}

} // namespace

left_over left_over::now(kernel const& kernel) {
    left_over result;
    result.open_files = count_open_files();
    result.gpu_mappings = count_gpu_mappings();
    result.descriptors = kernel.descriptors();
    result.mappings = kernel.mappings();
    result.cuda_objects = the_simulation().live();
    return result;
}

void PrintTo(left_over const& what, std::ostream* out) {
    *out << what.open_files << " open files, " << what.gpu_mappings
         << " mappings of simulated GPU memory, " << what.descriptors
         << " descriptors of fake devices, " << what.mappings << " mappings by the library, "
         << what.cuda_objects << " CUDA objects, " << what.driver_objects << " driver objects";
}

} // namespace barmap::fake
