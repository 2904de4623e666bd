// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"

namespace barmap::backend {
namespace {

class vulkan_backend final : public backend {
public:
    explicit vulkan_backend(gpu const& gpu) : gpu_(gpu) {}
    capabilities can() const noexcept override {
        capabilities result;
        result.quick_start = false;
        return result;
    }
    void start() override {
        throw error(errc::backend_absent, "start Vulkan on " + gpu_.name, "vulkan",
                    "use another backend");
    }
    std::unique_ptr<pinned> pin(cuda::memory const&) override {
        throw error(errc::unsupported_operation, "pin memory", "vulkan", "use another backend");
    }

private:
    gpu gpu_;
};

} // namespace

std::unique_ptr<backend> make_vulkan(gpu const& gpu) {
    return std::make_unique<vulkan_backend>(gpu);
}

} // namespace barmap::backend
