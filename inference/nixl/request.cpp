// SPDX-License-Identifier: MIT
#include "request.hpp"

#include <barmap/error.hpp>

#include <algorithm>

namespace barmap::nixl {
namespace {

/// One side of a transfer, whose descriptors mostly are of few places.
class side {
public:
    side(int gpu, kept_pieces& keeps) : gpu_(gpu), keeps_(keeps) {}

    void go_to(nixlMetaDesc const& descriptor) {
        if (descriptor.metadataP != known_) {
            std::shared_ptr<place const> at = place_of(descriptor);
            offset_ = at->offset_for(gpu_);
            pinned_ = at->pinned();
            keeps_.places.push_back(std::move(at));
            known_ = descriptor.metadataP;
        }
        address_ = descriptor.addr;
    }
    /// How many bytes from here on one piece may have.
    [[nodiscard]] std::size_t most() const noexcept {
        return pinned_ ? pinned_->bytes_in_one_registration(address_) : ~std::size_t{0};
    }
    [[nodiscard]] std::uintptr_t take(std::size_t bytes) noexcept {
        return offset_ + std::exchange(address_, address_ + bytes);
    }

private:
    int gpu_;
    kept_pieces& keeps_;
    nixlBackendMD const* known_ = nullptr;
    std::shared_ptr<pinned_range const> pinned_;
    std::uintptr_t offset_ = 0;
    std::uintptr_t address_ = 0;
};

} // namespace

std::shared_ptr<place const> place_of(nixlMetaDesc const& descriptor) {
    return static_cast<known_place const&>(*descriptor.metadataP).find();
}

kept_pieces make_pieces(nixl_xfer_op_t operation, nixl_meta_dlist_t const& local,
                        nixl_meta_dlist_t const& remote, int gpu) {
    auto const count = static_cast<std::size_t>(local.descCount());
    kept_pieces made;
    made.list.reserve(count);
    side here(gpu, made);
    side there(gpu, made);
    side& to = operation == NIXL_WRITE ? there : here;
    side& from = operation == NIXL_WRITE ? here : there;
    for (std::size_t i = 0; i < count; ++i) {
        here.go_to(local[i]);
        there.go_to(remote[i]);
        for (std::size_t left = local[i].len; left != 0;) {
            std::size_t const bytes = std::min({left, to.most(), from.most()});
            made.list.push_back({to.take(bytes), from.take(bytes), bytes});
            left -= bytes;
        }
    }
    std::ranges::sort(made.places);
    made.places.erase(std::unique(made.places.begin(), made.places.end()), made.places.end());
    return made;
}

} // namespace barmap::nixl
