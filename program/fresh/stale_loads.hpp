// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// Loads as barmap does NOT do them: streaming ones with no fence, which may deliver a value older
/// than one already read. For showing that the freshness test notices.
namespace barmap::tool {

/// Name of the widest such load that this CPU has; empty if it has none.
[[nodiscard]] std::string_view stale_load_name();
/// Fewest bytes that it reads.
[[nodiscard]] std::size_t stale_load_width();
/// @pre bytes is a multiple of the width, and `from` is aligned to it
void stale_load(void* to, void const* from, std::size_t bytes);

} // namespace barmap::tool
