// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/logged.hpp"
#include "fake/gdrdrv_driver.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/counter.hpp>
#include <barmap/ring.hpp>
#include <barmap/rpc.hpp>
#include <barmap/step_tensors.hpp>

#include <map>
#include <sstream>
#include <string>
#include <utility>

/// Every property of every object is the same before a checkpoint and after the restore.
namespace barmap::contract {
namespace {

/// What objects answer, by the names of the objects and of their properties.
class answers {
public:
    template <class... Values>
    void add(std::string const& object, std::string const& property, Values const&... values) {
        std::ostringstream text;
        ((text << values << ' '), ...);
        auto const [where, is_new] = all_.emplace(object + '.' + property, text.str());
        EXPECT_TRUE(is_new) << where->first;
    }
    void expect_same(answers const& later) const {
        ASSERT_EQ(all_.size(), later.all_.size());
        for (auto const& [name, text] : all_)
            EXPECT_EQ(text, later.all_.at(name)) << name;
    }

private:
    std::map<std::string, std::string> all_;
};

std::string text_of(std::vector<backend_report> const& reports) {
    std::ostringstream text;
    for (backend_report const& each : reports) {
        text << each.name << to_string(each.state) << each.reason << each.advice << each.start_us
             << each.persistent << each.forces_pcie << each.events << each.allocates;
        if (each.module)
            text << each.module->major << '.' << each.module->minor;
        for (memory_kind_report const& kind : each.kinds)
            text << to_string(kind.kind) << kind.usable << kind.reason;
        text << '\n';
    }
    return text.str();
}

/// Without what starts measure, which engines do again: the time that it took, and why they are
/// usable.
std::string text_of(std::vector<engine_report> const& reports) {
    std::ostringstream text;
    for (engine_report const& each : reports)
        text << each.name << to_string(each.state)
             << (each.state == backend_state::usable ? "" : each.reason) << each.advice << ' '
             << each.copies << ' ' << each.bytes << ' ' << each.failures << '\n';
    return text.str();
}

void add(answers& to, std::string const& name, device const& of) {
    to.add(name, "device", of.ordinal(), of.name(), of.pci_address(), of.driver_version(),
           of.simulated());
    to.add(name, "started_backends", text_of(of.started_backends()));
    to.add(name, "backends", text_of(of.backends()));
    to.add(name, "engines", text_of(of.engines()));
    for (backend_report const& each : of.backends())
        if (each.state == backend_state::usable) {
            int place = 0; // on a busy machine a method may win in two ranges of sizes
            for (copy_crossover const& from : of.copy_crossovers(each.name))
                to.add(name + '.' + each.name, "crossover " + std::to_string(place++),
                       to_string(from.direction), to_string(from.host), from.method,
                       from.from_bytes);
        }
}

void add(answers& to, std::string const& name, pin const& of) {
    to.add(name, "range", of.gpu_address(), of.size());
    to.add(name, "memory", to_string(of.memory()));
    to.add(name, "backend", of.backend());
    to.add(name, "revoked", of.revoked());
    to.add(name, "engines", text_of(of.engines()));
    refusal const events = refusal_of([&] { (void)of.event_fd(); });
    to.add(name, "event_fd", events.text);
}

void add(answers& to, std::string const& name, mapping const& of) {
    window const whole = of.window();
    to.add(name, "range", of.data(), of.size(), whole.data, whole.size);
    to.add(name, "kind", to_string(of.kind()));
    to.add(name, "backend", of.backend());
    for (std::size_t bytes = 1; bytes <= 4 * mib; bytes *= 2)
        to.add(name, "routines of " + std::to_string(bytes), of.store_routine(bytes),
               of.load_routine(bytes));
}

template <class Ring>
void add_ring(answers& to, std::string const& name, Ring const& of) {
    to.add(name, "state", of.depth(), of.slots(), of.number(), of.closed());
    auto const handle = of.handle(), here = of.handle_for_thread();
    to.add(name, "handle", handle.slots, handle.control, handle.credits, handle.mask);
    to.add(name, "handle_for_thread", here.slots, here.control, here.credits, here.mask);
}

void add(answers& to, std::string const& name, arena::part const& of) {
    to.add(name, "part", of.data(), of.size(), of.gpu_address(), of.is_of_this_process());
    to.add(name, "window", of.window().data, of.window().size);
}

std::string bytes_of(std::span<std::byte const> bytes) {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// One of each kind of object, of which none is as it was made.
struct objects {
    device gpu = device::open(0);
    std::unique_ptr<memory> block;
    std::vector<pin> pins;
    std::vector<mapping> mappings;
    host_buffer host = gpu.allocate_host(5000);
    arena words{gpu, mib, mib};
    arena::part on_gpu = words.take_gpu(100), on_host = words.take_host(200);
    ring_to_gpu<int> commands{words, 8}, closed_commands{words, 4};
    ring_to_cpu<int> results{words, 16}, closed_results{words, 4};
    counter_to_gpu there{words, 5};
    counter_to_cpu back{words, 6};
    log_ring log{words, 8};
    rpc_to_cpu<int, int> calls{words, 8};
    device_block tensor{100};
    std::vector<step_tensor> const tensors{{tensor.address(), 20}, {tensor.address() + 32, 8}};
    step_inputs inputs{gpu, tensors, 2};
    step_outputs outputs{gpu, tensors, 2};

    explicit objects(std::unique_ptr<memory> of) : block(std::move(of)) {
        (void)gpu.backends(); // starts the others
        pins.push_back(gpu.pin(block->address() + 4099, 10007));
        pins.push_back(gpu.pin(block->address() + 5, 7, {.whole_pages = true}));
        pins.push_back(gpu.pin(block->address(), mib, {.backend = std::string(pins[0].backend())}));
        pins.push_back(gpu.allocate(3 * mib));
        for (pin const& each : pins)
            mappings.push_back(each.map());
        mappings.push_back(pins[3].map());
        for (copy_routine_report const& each : copy_routines())
            if (each.supported && each.name != mappings[3].store_routine(64))
                mappings.back().use_copy_routine(each.name);
        write(mappings[3].window(0, 5000), pattern(5000, 3));
        std::ranges::copy(pattern(5000, 4), host.data());
        write(on_gpu.window(), pattern(100, 5));
        std::ranges::copy(pattern(200, 6), on_host.data());
        use_signals();
    }

    void use_signals() {
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(commands.try_push(i));
            ASSERT_EQ(gpu::push(results.handle_for_thread(), i), gpu::status::ok);
            log_numbered(log.handle_for_thread(), static_cast<std::uint32_t>(i));
        }
        commands.flush();
        ASSERT_EQ(results.try_pop(), 0);
        ASSERT_EQ(gpu::push(closed_results.handle_for_thread(), 7), gpu::status::ok);
        closed_commands.close();
        closed_results.close();
        there.advance(50);
        gpu::advance(back.handle_for_thread(), 60);
        for (std::uint32_t i = 5; i < 11; ++i)
            log_numbered(log.handle_for_thread(), i);
        log_record record;
        ASSERT_EQ(log.read({&record, 1}), 1u);
        ASSERT_EQ(log.lost(), 3u);
        std::ranges::copy(pattern(20, 7), inputs.staging(0).data());
        ASSERT_TRUE(inputs.try_push());
        outputs.enqueue_store(nullptr);
    }

    [[nodiscard]] answers ask() {
        answers all;
        add(all, "device", gpu);
        all.add("device", "bar1", gpu.bar1().total, gpu.bar1().available);
        for (std::size_t i = 0; i < pins.size(); ++i)
            add(all, "pin " + std::to_string(i), pins[i]);
        for (std::size_t i = 0; i < mappings.size(); ++i)
            add(all, "mapping " + std::to_string(i), mappings[i]);
        all.add("host_buffer", "range", host.data(), host.size(), host.gpu_address());
        all.add("host_buffer", "content", bytes_of(host.bytes()));
        std::vector<std::byte> content(5000);
        read(content, mappings[3].window(0, 5000));
        all.add("mapping 3", "content", bytes_of(content));
        all.add("arena", "state", to_string(words.kind()), words.opened(), words.gpu().ordinal());
        add(all, "part on the GPU", on_gpu);
        add(all, "part on the host", on_host);
        content.resize(100);
        read(content, on_gpu.window());
        all.add("part on the GPU", "content", bytes_of(content));
        all.add("part on the host", "content", bytes_of({on_host.data(), on_host.size()}));
        add_ring(all, "ring_to_gpu", commands);
        add_ring(all, "closed ring_to_gpu", closed_commands);
        add_ring(all, "ring_to_cpu", results);
        add_ring(all, "closed ring_to_cpu", closed_results);
        add_counters(all);
        add_others(all);
        return all;
    }

    void add_counters(answers& to) const {
        to.add("counter_to_gpu", "value", there.value(), *there.handle_for_thread().value);
        to.add("counter_to_gpu", "handle", there.handle().value, there.handle_for_thread().value);
        to.add("counter_to_cpu", "value", back.value());
        gpu::counter_to_cpu const on_gpu = back.handle(), here = back.handle_for_thread();
        to.add("counter_to_cpu", "handle", on_gpu.value, on_gpu.arrived, on_gpu.first);
        to.add("counter_to_cpu", "handle_for_thread", here.value, here.arrived, here.first);
    }

    void add_others(answers& to) {
        to.add("log", "state", log.slots(), log.lost());
        to.add("log", "handle", log.handle().records, log.handle().next, log.handle().mask,
               log.handle().shift);
        to.add("log", "handle_for_thread", log.handle_for_thread().records,
               *log.handle_for_thread().next);
        auto const handle = calls.handle();
        to.add("rpc", "handle", handle.requests, handle.replies, handle.owners, handle.control,
               handle.mask);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            std::string const which = std::to_string(i);
            to.add("inputs", which, static_cast<void*>(inputs.staging(i).data()),
                   bytes_of(inputs.staging(i)));
            to.add("outputs", which, static_cast<void const*>(outputs.staging(i).data()),
                   outputs.staging(i).size());
        }
        to.add("inputs", "failed", inputs.failed());
        to.add("outputs", "failed", outputs.failed());
    }
};

using checkpoint_properties_test = contract_test;
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_properties_test, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_properties_test, of_every_object_are_those_of_before) {
    objects all(some_memory(4 * mib));
    answers const before = all.ask();
    for (int i = 0; i < 2; ++i) {
        checkpoint_and_restore();
        before.expect_same(all.ask());
    }
}

class checkpoint_counts_test : public testing::TestWithParam<char const*> {
protected:
    engine_machine machine_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_counts_test, testing::Values("channel", "driver"),
                         [](auto const& info) { return std::string(info.param); });

TEST_P(checkpoint_counts_test, of_engines_are_those_of_before) {
    batch_program p;
    mapping const map = p.gpu.allocate(4 * mib).map();
    std::vector<std::byte> host(3 * mib);
    (void)p.gpu.backends(); // starts the others
    (void)p.gpu.engines();
    p.expect_to_work(1);
    map.copy_to_gpu(5, host);
    map.copy_to_cpu(host, 7);
    p.expect_done(p.queue.submit(p.pieces(3, 100)));
    auto const ask = [&] {
        answers all;
        all.add("batch_queue", "reports", text_of(p.queue.reports()));
        all.add("device", "started_engines", text_of(p.gpu.started_engines()));
        add(all, "device", p.gpu);
        all.add("batch_queue", "engine", p.queue.engine());
        return all;
    };
    EXPECT_EQ(p.report(GetParam()).copies, 3u);
    answers const before = ask();
    for (int i = 0; i < 2; ++i) {
        checkpoint_and_restore();
        before.expect_same(ask());
    }
    p.expect_to_work(2);
    EXPECT_EQ(p.report(GetParam()).copies, 5u);
}

// Also those of batches in the order of a stream, which have queues of their own.
TEST_P(checkpoint_counts_test, of_tickets_are_those_of_before) {
    batch_program p;
    std::vector<batch_ticket> given;
    std::map<std::uint64_t, std::uint64_t> last_of_queue;
    open_stream stream;
    auto const submit = [&](std::vector<copy_piece> const& pieces, std::optional<after> begin) {
        given.push_back(p.queue.submit(pieces, begin));
        p.expect_done(given.back());
        auto const number = static_cast<std::uint64_t>(given.back());
        last_of_queue[number >> engine::ticket_bits] = number;
    };
    auto const expect_never_given = [&](std::uint64_t number) {
        expect_refusal([&] { (void)p.queue.done(batch_ticket{number}); }, errc::invalid_argument,
                       "ticket");
    };
    for (int i = 0; i < 3; ++i) {
        submit(p.pieces(3, 100), {});
        for (int k = 0; k <= i; ++k)
            submit(turned(p.pieces(3, 100)), after{stream.get()});
        checkpoint_and_restore();
        for (batch_ticket const each : given)
            EXPECT_TRUE(p.queue.done(each));
        for (auto const& [queue, last] : last_of_queue) {
            expect_never_given(last + 1);
            expect_never_given(queue << engine::ticket_bits);
        }
    }
    EXPECT_EQ(last_of_queue.size(), 6u);
}

// Also a caching that the module does not choose by itself.
TEST(checkpoint_options, of_a_mapping_are_asked_for_again) {
    machine machine("580");
    machine.add<fake::gdrdrv_driver>({.minor = 6});
    set_environment("BARMAP_BACKEND", "gdrdrv");
    machine.use();
    device const gpu = device::open(0);
    device_block const block(2 * mib);
    auto const map = [&](auto... kind) { return gpu.pin(block.address(), mib).map(kind...); };
    mapping const its_own = map(), cached = map(cache_kind::cached),
                  combining = map(cache_kind::write_combining);
    for (int i = 0; i < 2; ++i) {
        checkpoint_and_restore();
        EXPECT_EQ(its_own.kind(), cache_kind::write_combining);
        EXPECT_EQ(cached.kind(), cache_kind::cached);
        EXPECT_EQ(combining.kind(), cache_kind::write_combining);
    }
    expect_same_memory(cached, block.address(), 1);
}

// The module maps a pin once, and what is mapped later has the caching of the first mapping.
TEST(checkpoint_options, of_a_mapping_that_has_gone_are_those_of_the_others) {
    machine machine("580");
    machine.add<fake::gdrdrv_driver>({.minor = 6});
    set_environment("BARMAP_BACKEND", "gdrdrv");
    machine.use();
    device_block const block(2 * mib);
    pin const pinned = device::open(0).pin(block.address(), mib);
    auto first = std::make_unique<mapping>(pinned.map(cache_kind::cached));
    mapping const second = pinned.map();
    EXPECT_EQ(second.kind(), cache_kind::cached);
    first.reset();
    checkpoint_and_restore();
    EXPECT_EQ(second.kind(), cache_kind::cached);
    expect_same_memory(second, block.address(), 1);
}

// Where CUDA does not say which handle memory has, an engine uses the library's own memory at its
// addresses, and the program's not.
TEST(checkpoint_options, of_own_memory_are_those_of_before) {
    machine machine("610");
    set_environment("BARMAP_BACKEND", "dmabuf");
    machine.use();
    device const gpu = device::open(0);
    auto const block = make_memory(memory_kind::virtual_exportable, 4 * mib);
    pin const own = gpu.allocate(4 * mib), other = gpu.pin(block->address(), 4 * mib);
    auto const state_of_driver = [&](pin const& of) {
        (void)gpu.engines(); // starts them
        changed_driver silent;
        silent->mem_retain_allocation_handle = [](CUmemGenericAllocationHandle*,
                                                  void*) -> CUresult {
            return cuda::error_not_supported;
        };
        for (engine_report const& each : of.engines())
            if (each.name == "driver")
                return each.state;
        return backend_state::broken;
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(state_of_driver(own), backend_state::usable) << i;
        EXPECT_EQ(state_of_driver(other), backend_state::absent) << i;
        checkpoint_and_restore();
    }
}

// What a pin was asked for shows in what the driver is asked for.
TEST(checkpoint_options, of_a_pin_are_asked_for_again) {
    machine machine("580");
    auto const module = machine.add<fake::gdrdrv_driver>({.minor = 4});
    set_environment("BARMAP_BACKEND", "gdrdrv");
    machine.use();
    device const gpu = device::open(0);
    device_block const block(2 * mib), other(2 * mib);
    pin const first = gpu.pin(other.address(), mib);
    pin const asked = gpu.pin(block.address(), mib, {.p2p_token = 77, .va_space = 5});
    checkpoint_and_restore();
    EXPECT_EQ(module->last_token(), 77u);
    EXPECT_EQ(module->last_va_space(), 5u);
}

} // namespace
} // namespace barmap::contract
