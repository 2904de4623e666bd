// SPDX-License-Identifier: MIT
#include "software_gpu.hpp"

#include "base/config.hpp"
#include "cuda/driver_api.hpp"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace barmap::test {
namespace {

std::string& problem() {
    static std::string text;
    return text;
}

std::string find_driver_file() {
    for (char const* folder :
         {"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
        std::error_code ignored;
        for (auto const& entry : std::filesystem::directory_iterator(folder, ignored))
            if (entry.path().filename().string().starts_with("lvp_icd."))
                return entry.path();
    }
    return {};
}

/// The first Vulkan device's UUID in hexadecimal digits, or empty with the reason in problem().
std::string device_uuid() {
    void* const loader = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        problem() = "the Vulkan loader is not installed (libvulkan1)";
        return {};
    }
    auto const get =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(loader, "vkGetInstanceProcAddr"));
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    VkInstance instance = nullptr;
    auto const create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
    if (create(&info, nullptr, &instance) != VK_SUCCESS) {
        problem() = "the software Vulkan device does not start";
        return {};
    }
    auto const enumerate = reinterpret_cast<PFN_vkEnumeratePhysicalDevices>(
        get(instance, "vkEnumeratePhysicalDevices"));
    auto const properties_of = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
        get(instance, "vkGetPhysicalDeviceProperties2"));
    std::uint32_t count = 1;
    VkPhysicalDevice physical = nullptr;
    std::string digits;
    enumerate(instance, &count, &physical);
    if (count == 0) {
        problem() = "the software Vulkan driver shows no device";
    } else {
        VkPhysicalDeviceIDProperties id{};
        id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &id;
        properties_of(physical, &properties);
        char two[3];
        for (unsigned const byte : id.deviceUUID) {
            std::snprintf(two, sizeof two, "%02x", byte);
            digits += two;
        }
    }
    reinterpret_cast<PFN_vkDestroyInstance>(get(instance, "vkDestroyInstance"))(instance, nullptr);
    return digits;
}

/// A control function of the simulated GPU, once it is loaded.
template <class Function>
Function simulation(char const* symbol) {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Function>(::dlsym(driver, symbol));
}

std::size_t live_in_cuda() {
    return simulation<std::size_t (*)()>("barmap_sim_live")();
}

} // namespace

void choose_software_gpu() {
    ::setenv("BARMAP_SIM", "1", 1);
    config::read_again();
    std::string const file = find_driver_file();
    if (file.empty()) {
        problem() = "there is no software Vulkan device (mesa-vulkan-drivers)";
        return;
    }
    ::setenv("VK_ICD_FILENAMES", file.c_str(), 1);
    ::unsetenv("VK_DRIVER_FILES"); // would override it
    std::string const uuid = device_uuid();
    if (!uuid.empty())
        ::setenv("BARMAP_SIM_UUID", uuid.c_str(), 1);
}

std::string const& why_no_software_gpu() {
    return problem();
}

backend::gpu simulated_gpu() {
    cuda::driver_api const& cu = cuda::api();
    backend::gpu gpu;
    cuda::check(cu.device_get(&gpu.handle, gpu.ordinal), "open the GPU");
    cuda::check(cu.device_get_uuid(&gpu.uuid, gpu.handle), "read the GPU's UUID");
    gpu.name = "simulated GPU";
    gpu.driver_version = cu.version;
    gpu.simulated = cu.simulated;
    return gpu;
}

void software_gpu_test::SetUp() {
    std::string const& why = why_no_software_gpu();
    if (why.empty())
        return;
    char const* const required = std::getenv("BARMAP_REQUIRE");
    if (required && std::strstr(required, "vulkan"))
        FAIL() << why;
    GTEST_SKIP() << why;
}

void cuda_test::SetUp() {
    software_gpu_test::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    cuda::driver_api const& cu = cuda::api();
    backend::gpu const gpu = simulated_gpu();
    live_before_ = live_in_cuda();
    cuda::check(cu.primary_ctx_retain(&context_, gpu.handle), "retain the context");
    cuda::check(cu.ctx_push_current(context_), "make the context current");
}

void cuda_test::TearDown() {
    if (!context_)
        return;
    CUcontext popped = nullptr;
    cuda::api().ctx_pop_current(&popped);
    EXPECT_EQ(popped, context_) << "a context was left on the thread";
    cuda::api().primary_ctx_release(0);
    EXPECT_EQ(live_in_cuda(), live_before_) << "CUDA objects were left behind";
}

std::unique_ptr<backend::backend> cuda_test::started() {
    std::unique_ptr<backend::backend> made = backend::make_vulkan(simulated_gpu());
    made->start();
    return made;
}

void expect_same_memory(std::byte* cpu, CUdeviceptr gpu, std::size_t bytes) {
    std::vector<std::byte> const there = pattern(bytes, 1), back = pattern(bytes, 2);
    std::memcpy(cpu, there.data(), bytes);
    EXPECT_TRUE(read_by_driver(gpu, bytes) == there) << "CPU to GPU, " << bytes << " bytes";
    write_by_driver(gpu, back);
    EXPECT_EQ(std::memcmp(cpu, back.data(), bytes), 0) << "GPU to CPU, " << bytes << " bytes";
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

std::size_t memory_mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);)
        count += line.find("/memfd:") != std::string::npos;
    return count;
}

} // namespace barmap::test
