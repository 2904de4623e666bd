// SPDX-License-Identifier: MIT
#pragma once

#include "system/fd.hpp"
#include "system/parcel.hpp"

#include <cstddef>
#include <cstring>
#include <random>

namespace barmap::contract {

/// What a descriptor has, which a test then changes.
struct changed_parcel {
    explicit changed_parcel(int descriptor) : is(os::parcel::look_into(descriptor)) {}
    os::parcel is;

    template <class Value>
    void put(std::size_t at, Value value) {
        std::memcpy(is.bytes.data() + at, &value, sizeof value);
    }
    /// Changes something at random, or nothing.
    void change(std::mt19937& random, bool all) {
        if (all) {
            is.bytes.resize(random() % 200 + 1);
            for (std::byte& each : is.bytes)
                each = static_cast<std::byte>(random());
            return;
        }
        for (unsigned n = random() % 4; n > 0; --n)
            is.bytes[random() % is.bytes.size()] = static_cast<std::byte>(random());
    }
    [[nodiscard]] os::fd pack() const { return os::parcel::pack(is.bytes, is.files); }
};

} // namespace barmap::contract
