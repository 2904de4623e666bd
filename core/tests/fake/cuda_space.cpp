// SPDX-License-Identifier: MIT
#include "fake/cuda_space.hpp"

#include "fake/simulation.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unistd.h>
#include <utility>

namespace barmap::fake::gpu {
namespace {

/// What CUDA has at an address; good only while it is looked at.
struct spot {
    int fd;
    std::uint64_t offset;
    std::uint64_t view;
    std::uint64_t bytes;
    [[nodiscard]] bool of_host() const noexcept { return fd < 0; }
};

/// @return whether something is there and `use` says so of it
template <class Use>
bool look(int ordinal, std::uint64_t address, Use use) {
    return the_simulation().reach(
               ordinal, address,
               [](void* argument, int fd, std::uint64_t offset, void* view,
                  std::uint64_t contiguous) {
                   auto const at = reinterpret_cast<std::uintptr_t>(view);
                   return (*static_cast<Use*>(argument))(spot{fd, offset, at, contiguous}) ? 1 : 0;
               },
               &use) == 1;
}

class cuda_memory final : public memory {
public:
    cuda_memory(int ordinal, bool of_host, bool is_remote)
        : ordinal_(ordinal), of_host_(of_host), is_remote_(is_remote) {}

    [[nodiscard]] std::uint64_t size() const override {
        return std::numeric_limits<std::uint64_t>::max();
    }
    [[nodiscard]] bool of_host() const override { return of_host_; }
    [[nodiscard]] bool is_remote() const override { return is_remote_; }

    [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t bytes) const override {
        auto* const bytes_to = static_cast<std::byte*>(to);
        return walk(address, bytes, [&](spot const& at, std::size_t done, std::size_t part) {
            if (of_host_)
                return process_.read(at.view, bytes_to + done, part);
            return ::pread(at.fd, bytes_to + done, part, static_cast<off_t>(at.offset)) ==
                   static_cast<ssize_t>(part);
        });
    }

    [[nodiscard]] bool write(std::uint64_t address, void const* from, std::size_t bytes) override {
        auto const* const bytes_from = static_cast<std::byte const*>(from);
        return walk(address, bytes, [&](spot const& at, std::size_t done, std::size_t part) {
            if (of_host_)
                return process_.write(at.view, bytes_from + done, part);
            return ::pwrite(at.fd, bytes_from + done, part, static_cast<off_t>(at.offset)) ==
                   static_cast<ssize_t>(part);
        });
    }

    [[nodiscard]] bool store(std::uint64_t address, std::uint32_t word) override {
        return look(ordinal_, address, [&](spot const& at) {
            return at.of_host() == of_host_ && at.bytes >= sizeof word &&
                   process_memory::store(at.view, word);
        });
    }

    [[nodiscard]] bool fetch(std::uint64_t address, std::uint32_t& word) const override {
        return look(ordinal_, address, [&](spot const& at) {
            return at.of_host() == of_host_ && at.bytes >= sizeof word &&
                   process_memory::fetch(at.view, word);
        });
    }

    /// Calls use(spot, bytes before it, bytes in it) for each part of a range. @return whether all
    /// of it is there, of this kind, and use said so
    template <class Use>
    [[nodiscard]] bool walk(std::uint64_t address, std::size_t bytes, Use use) const {
        for (std::size_t done = 0; done < bytes;) {
            bool const there = look(ordinal_, address + done, [&](spot const& at) {
                std::size_t const part = std::min<std::uint64_t>(bytes - done, at.bytes);
                bool const used = at.of_host() == of_host_ && use(at, done, part);
                done += part;
                return used;
            });
            if (!there)
                return false;
        }
        return true;
    }

private:
    int ordinal_;
    bool of_host_, is_remote_;
    process_memory process_;
};

} // namespace

cuda_space::cuda_space(int ordinal, std::shared_ptr<mapped_objects const> objects)
    : ordinal_(ordinal), objects_(std::move(objects)),
      device_(std::make_shared<cuda_memory>(ordinal, false, false)),
      peer_(std::make_shared<cuda_memory>(ordinal, false, true)),
      host_(std::make_shared<cuda_memory>(ordinal, true, true)) {}

address_space::place cuda_space::find(std::uint64_t address, std::uint64_t bytes) const {
    if (auto next = objects_->upper_bound(address); next != objects_->begin()) {
        auto const& [first, object] = *std::prev(next);
        std::uint64_t const at = address - first, size = object.of->size();
        if (object.ordinal == ordinal_ && at < size && bytes <= size - at)
            return {object.of, at, size - at};
    }
    int owner = ordinal_;
    (void)the_simulation().address(address, nullptr, nullptr, nullptr, &owner);
    for (auto const& each : {owner == ordinal_ ? device_ : peer_, host_})
        if (static_cast<cuda_memory const&>(*each).walk(
                address, bytes, [](spot const&, std::size_t, std::size_t) { return true; }))
            return {each, address, bytes};
    return {};
}

} // namespace barmap::fake::gpu
