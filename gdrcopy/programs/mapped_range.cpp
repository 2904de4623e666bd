// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/mapped_range.hpp"

#include "gdrcopy/programs/programs.hpp"

#include <utility>

namespace barmap::tool::gdrcopy {

session::session() : handle_(gdrapi().open()) {
    if (!handle_)
        throw std::runtime_error(formatted(
            "gdr_open returned NULL: {} reaches no GPU's memory here. `barmap info` lists the "
            "backends and why they are not usable; GDRCOPY_ENABLE_LOGGING=1 GDRCOPY_LOG_LEVEL=1 "
            "makes the library log more; gdrcopy's own library needs its kernel module gdrdrv",
            gdrapi().path));
}

session::~session() {
    if (handle_)
        gdrapi().close(handle_);
}

void session::close() {
    check_call(gdrapi().close(std::exchange(handle_, nullptr)), "gdr_close");
}

mapped_range::mapped_range(session const& through, CUdeviceptr address, std::size_t size,
                           std::optional<gdr_pin_flags_t> by_v2)
    : through_(through.get()), address_(address), size_(size) {
    char const* const call = by_v2 ? "gdr_pin_buffer_v2" : "gdr_pin_buffer";
    check_call(by_v2 ? gdr_.pin_buffer_v2(through_, address, size, *by_v2, &handle_)
                     : gdr_.pin_buffer(through_, address, size, 0, 0, &handle_),
               call);
    if (handle_.h == 0)
        throw call_failed(formatted("{} returned the handle 0, which is never valid", call));
}

mapped_range::~mapped_range() {
    if (handle_.h == 0)
        return;
    if (start_)
        gdr_.unmap(through_, handle_, start_, size_);
    gdr_.unpin_buffer(through_, handle_);
}

void mapped_range::map(int flags) {
    if (flags == GDR_MAP_FLAG_DEFAULT)
        check_call(gdr_.map(through_, handle_, &start_, size_), "gdr_map");
    else
        check_call(gdr_.map_v2(through_, handle_, &start_, size_, flags), "gdr_map_v2");
    data_ = static_cast<std::byte*>(start_) + (address_ - info().va);
}

void mapped_range::unmap() {
    check_call(gdr_.unmap(through_, handle_, std::exchange(start_, nullptr), size_), "gdr_unmap");
    data_ = nullptr;
}

void mapped_range::unpin() {
    check_call(gdr_.unpin_buffer(through_, std::exchange(handle_, {})), "gdr_unpin_buffer");
}

void mapped_range::undo() {
    unmap();
    unpin();
}

gdr_info_t mapped_range::info() const {
    gdr_info_t told{};
    check_call(gdr_.get_info_v2(through_, handle_, &told), "gdr_get_info");
    return told;
}

void mapped_range::write(std::size_t at, void const* from, std::size_t bytes) const {
    check_call(gdr_.copy_to_mapping(handle_, data_ + at, from, bytes), "gdr_copy_to_mapping");
}

void mapped_range::read(void* to, std::size_t at, std::size_t bytes) const {
    check_call(gdr_.copy_from_mapping(handle_, to, data_ + at, bytes), "gdr_copy_from_mapping");
}

void say_mapping(mapped_range const& range, CUdeviceptr address, char const* pointer_label) {
    gdr_info_t const info = range.info();
    auto const number = [](void const* pointer) {
        return reinterpret_cast<std::uintptr_t>(pointer);
    };
    say("map_d_ptr: {:#x}\ninfo.va: {:x}\ninfo.mapped_size: {}\ninfo.page_size: {}\n"
        "info.mapped: {}\ninfo.wc_mapping: {}\npage offset: {}\n{}{:#x}\n",
        number(range.start()), std::uint64_t(info.va), std::uint64_t(info.mapped_size),
        std::uint32_t(info.page_size), unsigned(info.mapped), unsigned(info.wc_mapping),
        address - info.va, pointer_label, number(range.data()));
}

void say_end(mapped_range& range, session& through) {
    say("unmapping buffer\n");
    range.unmap();
    say("unpinning buffer\n");
    range.unpin();
    say("closing gdrdrv\n");
    through.close();
}

} // namespace barmap::tool::gdrcopy
