// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "output/units.hpp"
#include "ring/ring_bench.hpp"

#include <algorithm>

namespace barmap::tool {
namespace {

/// Every size and kind of reader and writer, with rings as small as they get and numbers that wrap.
std::vector<ring_run> short_soaks(ring_bench const& bench) {
    std::uint64_t const messages = bench.simulated() ? 60 : 20'000;
    std::uint64_t const edge_32 = std::uint64_t{1} << 32;
    std::vector<ring_run> all;
    for (std::size_t const slots : {std::size_t{1}, std::size_t{2}, bench.values.slots})
        for (std::uint64_t const first :
             {std::uint64_t{0}, edge_32 - messages / 2, 0 - messages / 2}) {
            for (unsigned const message : messages_to_gpu)
                for (ring_threads const who : {ring_threads::one, ring_threads::warp})
                    all.push_back(
                        {copy_direction::to_gpu, message, who, slots, first, messages, 3});
            for (unsigned const message : messages_to_cpu)
                for (ring_threads const who :
                     {ring_threads::one, ring_threads::warp, ring_threads::many})
                    all.push_back(
                        {copy_direction::to_cpu, message, who, slots, first, messages, 1});
        }
    return all;
}

/// The messages of each direction, spread over the sizes of slots.
std::vector<ring_run> long_soaks(ring_bench const& bench, std::uint64_t messages) {
    std::vector<ring_run> all;
    std::uint64_t const first = 0 - messages / 6; // the number wraps on the way
    auto const add = [&](copy_direction way, std::span<unsigned const> sizes) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            std::uint64_t const here =
                messages * (i + 1) / sizes.size() - messages * i / sizes.size();
            if (here != 0)
                all.push_back(
                    {way, sizes[i], ring_threads::warp, bench.values.slots, first, here, 16});
        }
    };
    add(copy_direction::to_gpu, messages_to_gpu);
    add(copy_direction::to_cpu, messages_to_cpu);
    return all;
}

class soak_report {
public:
    explicit soak_report(ring_bench const& bench) : bench_(bench) {}

    void run(std::string_view part, std::vector<ring_run> const& runs, bool under_load) {
        auto const load = load_if(under_load, bench_.gpu);
        std::uint64_t all = 0, before = 0;
        for (ring_run const& each : runs)
            all += each.messages;
        progress bar(all);
        for (ring_run const& each : runs) {
            std::string const name = formatted("{} {} B {}, {} slots", name_of(each.way),
                                               each.message, name_of(each.who), each.slots);
            ring_result const found =
                run_ring(bench_, each, [&](std::uint64_t done) { bar.reach(before + done, name); });
            before += each.messages;
            bar.reach(before, name);
            bench_.out.add(result_row({{"measurement", "soak"},
                                       {"part", part},
                                       {"direction", name_of(each.way)},
                                       {"message_bytes", each.message},
                                       {"slot_bytes", slot_bytes(each.way, each.message)},
                                       {"gpu_side", name_of(each.who)},
                                       {"slots", each.slots},
                                       {"first", each.first},
                                       {"load", under_load}})
                               .with(found)
                               .row);
            count(name_of(each.way), under_load, found);
            if (!found.good())
                bench_.out.say(formatted("{}, from {}: {}\n", name, each.first, verdict(found)));
        }
    }

    bool finish() const {
        measurement const what("soak total", {column("soak", "direction"), link_column(),
                                              column("rings", "rings"), column("pushed", "pushed"),
                                              column("popped", "popped"), column("lost", "lost"),
                                              column("doubled", "doubled"), column("torn", "torn"),
                                              column("out of order", "out_of_order")});
        results all(bench_.out, what);
        for (sum const& each : sums_)
            all.add(result_row({{"direction", each.direction},
                                {"load", each.under_load},
                                {"rings", each.rings},
                                {"pushed", each.found.pushed},
                                {"popped", each.found.read.count},
                                {"lost", each.lost},
                                {"doubled", each.found.read.doubled},
                                {"torn", each.found.read.torn},
                                {"out_of_order", each.found.read.out_of_order},
                                {"passed", each.good}}),
                    {verdict(each.good, "")}, each.good);
        return all.tell();
    }

private:
    struct sum {
        std::string direction;
        bool under_load;
        std::size_t rings = 0;
        std::uint64_t lost = 0;
        ring_result found{};
        bool good = true;
    };

    void count(std::string_view direction, bool under_load, ring_result const& found) {
        auto at = std::find_if(sums_.begin(), sums_.end(), [&](sum const& each) {
            return each.direction == direction && each.under_load == under_load;
        });
        if (at == sums_.end())
            at = sums_.insert(at, {std::string(direction), under_load});
        ++at->rings;
        at->lost += found.lost();
        at->found.pushed += found.pushed;
        at->found.read = sum_of({at->found.read, found.read});
        at->good &= found.good();
    }

    ring_bench const& bench_;
    std::vector<sum> sums_;
};

} // namespace

bool soak_rings(ring_bench const& bench) {
    std::uint64_t const messages = bench.messages(10'000'000, 4000);
    soak_report found(bench);
    found.run("short", short_soaks(bench), false);
    found.run("long", long_soaks(bench, messages - messages / 2), false);
    found.run("long", long_soaks(bench, messages / 2), true);
    return found.finish();
}

} // namespace barmap::tool
