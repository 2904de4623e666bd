// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <numeric>

namespace barmap::sim_test {
namespace {

void* library() {
    static void* const loaded = dlopen(BARMAP_SIM_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
    return loaded;
}

template <class Member>
void bind(Member& member, char const* name) {
    member = reinterpret_cast<Member>(symbol(name));
}

std::map<std::string, peer::code>& peers() {
    static std::map<std::string, peer::code> all;
    return all;
}

} // namespace

void* symbol(char const* name) {
    void* const found = dlsym(library(), name);
    if (!found) {
        std::fprintf(stderr, "the simulated driver lacks %s\n", name);
        std::abort();
    }
    return found;
}

cuda::driver_api const& cu() {
    static cuda::driver_api const table = [] {
        cuda::driver_api made;
#define BARMAP_SIM_TEST_BIND(member, name, signature) bind(made.member, name);
        BARMAP_CUDA_FUNCTIONS(BARMAP_SIM_TEST_BIND)
#undef BARMAP_SIM_TEST_BIND
        return made;
    }();
    return table;
}

peer::peer(char const* name, code run) {
    peers().emplace(name, run);
}

std::string in_other_process(std::string const& environment, std::string const& name,
                             std::string const& argument) {
    std::string const self = std::filesystem::read_symlink("/proc/self/exe");
    std::string const command = environment + " '" + self + "' --peer " + name + " " + argument;
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (!pipe)
        return "";
    std::string output;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
        output.push_back(static_cast<char>(c));
    EXPECT_EQ(pclose(pipe), 0) << command;
    return output;
}

std::string to_hex(void const* bytes, std::size_t size) {
    std::string text;
    for (std::size_t k = 0; k < size; ++k) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char const*>(bytes)[k]);
        text += digits;
    }
    return text;
}

std::vector<unsigned char> from_hex(std::string const& text) {
    std::vector<unsigned char> bytes;
    for (std::size_t k = 0; k + 1 < text.size(); k += 2)
        bytes.push_back(static_cast<unsigned char>(std::stoi(text.substr(k, 2), nullptr, 16)));
    return bytes;
}

std::size_t open_files() {
    auto const all = std::filesystem::directory_iterator("/proc/self/fd");
    return std::size_t(std::distance(begin(all), end(all)));
}

void with_context::SetUp() {
    ASSERT_EQ(cu().init(0), cuda::success);
    files_before_ = open_files();
    live_before_ = BARMAP_SIM_FUNCTION(barmap_sim_live)();
    ASSERT_EQ(cu().ctx_create(&context_, 0, 0), cuda::success);
}

void with_context::TearDown() {
    EXPECT_EQ(cu().ctx_destroy(context_), cuda::success);
    EXPECT_EQ(BARMAP_SIM_FUNCTION(barmap_sim_live)(), live_before_);
    EXPECT_EQ(open_files(), files_before_);
}

CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cu().mem_alloc(&address, bytes), cuda::success);
    return address;
}

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
    std::vector<unsigned char> made(bytes);
    std::iota(made.begin(), made.end(), static_cast<unsigned char>(seed));
    return made;
}

std::vector<unsigned char> read(CUdeviceptr address, std::size_t bytes) {
    std::vector<unsigned char> got(bytes);
    EXPECT_EQ(cu().memcpy_dtoh(got.data(), address, bytes), cuda::success);
    return got;
}

void write(CUdeviceptr address, std::vector<unsigned char> const& bytes) {
    EXPECT_EQ(cu().memcpy_htod(address, bytes.data(), bytes.size()), cuda::success);
}

} // namespace barmap::sim_test

int main(int count, char** arguments) {
    if (count >= 3 && std::strcmp(arguments[1], "--peer") == 0) {
        barmap::sim_test::peers().at(arguments[2])(count > 3 ? arguments[3] : "");
        return 0;
    }
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
