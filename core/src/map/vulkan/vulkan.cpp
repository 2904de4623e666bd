// SPDX-License-Identifier: MIT
#include "map/backend.hpp"
#include "map/shared_view.hpp"
#include "map/vulkan/cuda_view.hpp"
#include "map/vulkan/gpu_session.hpp"
#include "map/vulkan/host_view.hpp"
#include "map/vulkan/memory_reference.hpp"

#include <algorithm>

/// Through Vulkan, which maps memory for the CPU by design: memory that it allocates is imported
/// into CUDA, and VMM memory that CUDA exports is imported into Vulkan. No kernel module, no
/// privilege, documented interfaces only.
namespace barmap::backend {
namespace {

class vulkan_mapped final : public mapped {
public:
    vulkan_mapped(vulkan::gpu_session const& session,
                  std::vector<vulkan::memory_reference> const& objects, std::size_t head)
        : view_(session, objects) {
        data = view_.data() + head;
        bool const all_cached = std::all_of(objects.begin(), objects.end(),
                                            [](auto const& object) { return object.cached(); });
        kind = all_cached ? cache_kind::cached : cache_kind::write_combining;
    }

private:
    vulkan::host_view view_;
};

class vulkan_pinned : public pinned {
public:
    /// @param head where the pinned range starts in the first object
    vulkan_pinned(std::shared_ptr<vulkan::gpu_session const> session,
                  std::vector<vulkan::memory_reference> objects, std::size_t head)
        : session_(std::move(session)), objects_(std::move(objects)), head_(head) {}

    std::unique_ptr<mapped> map(std::optional<cache_kind>, std::shared_ptr<os::region>) override {
        session_->expect_usable("map GPU memory");
        return view_.map(
            [&] { return std::make_unique<vulkan_mapped>(*session_, objects_, head_); });
    }

private:
    std::shared_ptr<vulkan::gpu_session const> session_;
    std::vector<vulkan::memory_reference> objects_;
    std::size_t head_;
    shared_view view_; // since Vulkan maps an object once at a time
};

/// Memory that Vulkan made and CUDA imported.
class vulkan_allocated final : public vulkan_pinned {
public:
    vulkan_allocated(std::shared_ptr<vulkan::gpu_session const> session,
                     std::vector<vulkan::memory_reference> object, CUdevice device,
                     std::shared_ptr<os::fd const> descriptor, std::size_t payload,
                     std::size_t bytes)
        : vulkan_pinned(std::move(session), std::move(object), 0),
          descriptor_(std::move(descriptor)),
          gpu_view_(device, descriptor_->get(), payload, bytes) {}

    CUdeviceptr allocated_address() const noexcept override { return gpu_view_.address(); }
    std::shared_ptr<os::fd const> exported() const noexcept override { return descriptor_; }

private:
    std::shared_ptr<os::fd const> descriptor_;
    vulkan::cuda_view gpu_view_; // goes before Vulkan's memory
};

class vulkan_backend final : public backend {
public:
    explicit vulkan_backend(gpu const& gpu) : gpu_(gpu) {}

    capability_set capabilities() const noexcept override {
        capability_set result;
        result.registers = kinds(memory_kind::virtual_exportable, memory_kind::allocated);
        result.allocates = true;
        result.quick_start = false;
        return result;
    }

    backend_properties properties() const override { return {.forces_pcie = !gpu_.coherent}; }

    void start() override { session_ = std::make_shared<vulkan::gpu_session>(gpu_); }

    std::unique_ptr<pinned> pin(cuda::memory const& memory, pin_options const&) override {
        session_->expect_usable("pin GPU memory");
        check(memory.chunks);
        std::vector<vulkan::memory_reference> objects;
        for (cuda::allocation_part const& chunk : memory.chunks) {
            os::fd made;
            if (!memory.exported)
                made = cuda::export_chunk(chunk);
            int const descriptor = memory.exported ? memory.exported->get() : made.get();
            objects.push_back(
                vulkan::memory_reference::import(session_, descriptor, chunk.capacity));
        }
        std::size_t const head = memory.chunks.front().offset;
        return std::make_unique<vulkan_pinned>(session_, std::move(objects), head);
    }

    std::unique_ptr<pinned> allocate(std::size_t bytes) override {
        session_->expect_usable("allocate GPU memory");
        std::vector<vulkan::memory_reference> object;
        object.push_back(vulkan::memory_reference::allocate(session_, bytes));
        auto descriptor = std::make_shared<os::fd const>(object.front().export_fd());
        std::size_t const payload = object.front().size();
        return std::make_unique<vulkan_allocated>(session_, std::move(object), gpu_.handle,
                                                  std::move(descriptor), payload, bytes);
    }

private:
    /// Vulkan maps objects as a whole, so several make one range only if they fill it together.
    void check(std::vector<cuda::allocation_part> const& chunks) const {
        VkDeviceSize const alignment = session_->placed_alignment();
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            cuda::allocation_part const& chunk = chunks[i];
            bool const inside =
                chunk.offset <= chunk.capacity && chunk.length <= chunk.capacity - chunk.offset &&
                chunk.before == 0 &&
                chunk.after <= vulkan::payload_size(chunk.capacity) - chunk.capacity;
            bool const joins_before = i == 0 || chunk.offset == 0;
            bool const joins_after =
                i + 1 == chunks.size() || (chunk.offset + chunk.length == chunk.capacity &&
                                           vulkan::payload_size(chunk.capacity) == chunk.capacity);
            if (!inside || !joins_before || !joins_after)
                throw error(errc::unsupported_memory, "join VMM chunks into one CPU range", "",
                            "pin the chunks one by one");
            bool const can_be_placed =
                alignment != 0 && vulkan::payload_size(chunk.capacity) % alignment == 0;
            if (chunks.size() > 1 && !can_be_placed)
                throw error(
                    errc::unsupported_operation,
                    "map " + std::to_string(chunks.size()) +
                        " VMM chunks contiguously (VK_EXT_map_memory_placed)",
                    "", "use backend rm, update the GPU's driver, or pin the chunks one by one");
        }
    }

    gpu gpu_;
    std::shared_ptr<vulkan::gpu_session const> session_;
};

} // namespace

std::unique_ptr<backend> make_vulkan(gpu const& gpu) {
    return std::make_unique<vulkan_backend>(gpu);
}

} // namespace barmap::backend
