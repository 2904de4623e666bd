// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "command/exit_codes.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <algorithm>

namespace barmap::tool {

batch_pools batch_bench::pools(std::size_t bytes) const {
    return {bytes, values.seed, other};
}

std::string_view batch_bench::name_of(copy_direction way) const {
    if (values.between == "host")
        return tool::name_of(way);
    if (values.between == "inside")
        return "inside";
    return way == copy_direction::to_gpu ? "from_peer" : "to_peer";
}

std::vector<copy_direction> batch_bench::directions() const {
    if (values.between == "inside")
        return {copy_direction::to_cpu};
    std::vector<copy_direction> found;
    for (std::string const& each : values.directions)
        found.push_back(each == "to_cpu" ? copy_direction::to_cpu : copy_direction::to_gpu);
    return found;
}

std::vector<batch_order> batch_bench::orders() const {
    std::vector<batch_order> found;
    for (std::string const& each : values.orders)
        found.push_back(each == "random" ? batch_order::random : batch_order::contiguous);
    return found;
}

std::size_t batch_bench::rounds(std::size_t usual) const {
    return values.iterations > 0 ? values.iterations : usual;
}

result_row batch_bench::result_of(copy_direction way, batch_shape const& shape,
                                  batch_method const& method) const {
    return result_row({{"direction", name_of(way)}}).with(shape).has("method", method.name());
}

std::vector<named_method> batch_bench::methods() const {
    std::vector<named_method> found;
    std::vector<left_out> missing;
    for (std::string const& each : values.methods)
        if (auto made = make_batch_method(each, gpu, kernels, missing))
            found.push_back({each, std::move(made)});
    tell(missing);
    return found;
}

void batch_bench::tell(std::vector<left_out> const& missing) const {
    for (left_out const& each : missing) {
        out.add(object(
            {{"measurement", "left out"}, {"method", each.method}, {"reason", each.reason}}));
        out.say(formatted("{} is left out: {}\n", each.method, each.reason));
    }
}

std::string batch_shape::text() const {
    return formatted("{} x {}", pieces, size_text(size));
}

void put(json& row, batch_shape const& shape) {
    row["pieces"] = shape.pieces;
    row["size"] = shape.size;
}

std::vector<batch_shape> shapes_of(batch_options const& values,
                                   std::vector<std::size_t> const& pieces,
                                   std::vector<std::size_t> const& sizes) {
    std::vector<batch_shape> shapes;
    for (std::size_t const count : values.pieces.empty() ? pieces : values.pieces)
        for (std::size_t const size : values.sizes.empty() ? sizes : values.sizes)
            if (batch_shape const shape{count, size};
                size <= values.pool && shape.bytes() * values.in_flight <= values.pool / 4)
                shapes.push_back(shape);
    if (shapes.empty())
        throw usage_error("every batch takes more than a quarter of the pools: give a larger "
                          "--pool, or fewer or smaller pieces");
    return shapes;
}

batch_faults verify_batch(batch_pools& pools, copy_direction way, batch_order order,
                          batch_shape const& shape, std::uint64_t seed,
                          std::function<void(std::span<copy_piece const>)> const& copy) {
    // As many guard bytes as bytes of pieces, and some before and after.
    std::size_t const room =
        std::min(pools.size(), 2 * (shape.pieces + 1) * piece_picker::stride(shape.size, order));
    std::vector<copy_place> const places =
        piece_picker(shape.size, room, order, seed).pick(shape.pieces);
    std::vector<copy_piece> const pieces = pools.pieces(way, places);
    pools.clear(way, room);
    copy(pieces);
    return pools.compare(way, places, room);
}

batch_faults verify_batch(batch_method& method, batch_pools& pools, copy_direction way,
                          batch_order order, batch_shape const& shape, std::uint64_t seed) {
    return verify_batch(pools, way, order, shape, seed, [&](std::span<copy_piece const> pieces) {
        method.prepare(pieces);
        method.submit();
        method.wait();
    });
}

void put(json& row, batch_faults const& found) {
    row["wrong_bytes"] = found.wrong;
    row["guard_bytes"] = found.guards;
}

std::string rate_or_wrong(double rate, batch_faults const& found) {
    return found.none() ? formatted("{:.2f}", rate) : "WRONG";
}

} // namespace barmap::tool
