// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "measure/link_load.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/units.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <optional>

namespace barmap::tool {
namespace {

/// Size of either side of a batch: both sides of 2 MiB fit into a CPU core's cache.
constexpr std::size_t room = 2 * MiB;

/// Batches differ in the length of their longest piece, up to 1 MiB.
std::vector<copy_place> places_of_batch(std::mt19937_64& random) {
    constexpr std::size_t most_pieces = 4096;
    constexpr unsigned magnitudes = 20;
    auto const most = static_cast<unsigned>(random() % (magnitudes + 1));
    return random_places(room, most_pieces, random, [&] { return random_length(most, random); });
}

} // namespace

bool check_batches(batch_bench const& bench) {
    std::uint64_t const batches = bench.values.check, first_beside = batches - batches / 2;
    batch_pools pools = bench.pools(room);
    std::unique_ptr<ordered_method> const engine = make_engine(bench.gpu);
    std::mt19937_64 random(bench.values.seed);
    std::optional<link_load> load;
    progress bar(batches);
    batch_faults faults;
    std::uint64_t done = 0, pieces_done = 0, bytes = 0, wrong_batches = 0;
    std::string problem;
    clock::time_point const begin = clock::now();
    auto const check_one = [&](std::uint64_t i) {
        bar.reach(i, "batches");
        if (i == first_beside)
            load.emplace(bench.gpu);
        copy_direction const way = i % 2 == 0 ? copy_direction::to_cpu : copy_direction::to_gpu;
        std::vector<copy_place> places = places_of_batch(random);
        std::vector<copy_piece> const pieces = pools.pieces(way, places);
        pools.clear(way, room);
        engine->prepare(pieces);
        engine->submit();
        engine->wait();
        pieces_done += places.size();
        for (copy_place const& each : places)
            bytes += each.bytes;
        batch_faults const found = pools.compare(way, std::move(places), room);
        wrong_batches += !found.none();
        faults += found;
        ++done;
    };
    try {
        for (std::uint64_t i = 0; i < batches; ++i)
            check_one(i);
    } catch (error const& failure) {
        problem = failure.what();
    }
    double const seconds = seconds_since(begin);
    json row = object({{"measurement", "check"},
                       {"method", engine->name()},
                       {"batches", done},
                       {"batches_beside_copies", load ? done - first_beside : 0},
                       {"pieces", pieces_done},
                       {"bytes", bytes},
                       {"seconds", seconds},
                       {"wrong_batches", wrong_batches}});
    put(row, faults);
    bool const good = faults.none() && problem.empty();
    row["problem"] = or_null(problem);
    row["passed"] = good;
    bench.out.add(std::move(row));
    bench.out.say(formatted("{}: {} batches, {} pieces, {}, {} wrong bytes, {} guard bytes "
                            "changed, in {:.1f} s: {}\n",
                            engine->name(), done, pieces_done, size_text(bytes), faults.wrong,
                            faults.guards, seconds, verdict(good, problem)));
    return good;
}

} // namespace barmap::tool
