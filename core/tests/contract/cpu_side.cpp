// SPDX-License-Identifier: MIT
#include "contract/cpu_side.hpp"

#include <map>

namespace barmap::contract {
namespace {

using action = other_process::action;

/// What the other process has opened: one of them.
struct opened_object {
    std::unique_ptr<detail::byte_ring_to_gpu> to_gpu;
    std::unique_ptr<detail::byte_ring_to_cpu> to_cpu;
    std::unique_ptr<counter_to_gpu> go;
    std::unique_ptr<counter_to_cpu> done;

    opened_object(barmap_signal_kind kind, int descriptor) {
        using namespace detail;
        if (kind == BARMAP_RING_TO_GPU)
            to_gpu.reset(new byte_ring_to_gpu(byte_ring_to_gpu::open_shared(descriptor)));
        else if (kind == BARMAP_RING_TO_CPU)
            to_cpu.reset(new byte_ring_to_cpu(byte_ring_to_cpu::open_shared(descriptor)));
        else if (kind == BARMAP_COUNTER_TO_GPU)
            go.reset(new counter_to_gpu(counter_to_gpu::open_shared(descriptor)));
        else
            done.reset(new counter_to_cpu(counter_to_cpu::open_shared(descriptor)));
    }

    /// @param bytes what came with the request, or goes with its answer
    std::uint64_t answer(other_process::request const& asked, std::vector<std::byte>& bytes) {
        std::chrono::nanoseconds const time(asked.argument);
        switch (asked.what) {
        case action::push:
            return to_gpu->push_many(bytes);
        case action::flush:
            to_gpu->flush();
            return 0;
        case action::pop:
            return to_cpu->pop_many(bytes);
        case action::wait:
            return to_gpu ? to_gpu->wait_for(time)
                   : to_cpu
                       ? to_cpu->wait_for(time)
                       : done->wait_for(asked.argument, std::chrono::nanoseconds(asked.second));
        case action::depth:
            return to_gpu ? to_gpu->depth() : to_cpu->depth();
        case action::closed:
            return to_gpu ? to_gpu->closed() : to_cpu->closed();
        case action::close:
            to_gpu ? to_gpu->close() : to_cpu->close();
            return 0;
        case action::advance:
            go->advance(asked.argument);
            return 0;
        case action::value:
            return go ? go->value() : done->value();
        default:
            return 0;
        }
    }
};

void serve(line const& to_test) {
    std::map<std::uint64_t, opened_object> objects;
    std::vector<std::byte> bytes;
    for (other_process::request asked{}; to_test.receive(&asked, sizeof asked);) {
        std::uint64_t answer = 0;
        bool const has_bytes = asked.what == action::push || asked.what == action::pop;
        bytes.resize(has_bytes ? asked.second : 0);
        if (asked.what == action::push && !bytes.empty() &&
            !to_test.receive(bytes.data(), bytes.size()))
            return;
        if (asked.what == action::open) {
            os::fd const descriptor(to_test.receive_descriptor());
            objects.emplace(std::piecewise_construct, std::forward_as_tuple(asked.object),
                            std::forward_as_tuple(barmap_signal_kind(asked.argument), descriptor.get()));
        } else if (asked.what == action::destroy) {
            objects.erase(asked.object);
        } else {
            answer = objects.at(asked.object).answer(asked, bytes);
        }
        to_test.send(&answer, sizeof answer);
        if (asked.what == action::pop && !bytes.empty())
            to_test.send(bytes.data(), bytes.size());
    }
}

} // namespace

other_process::other_process() : peer(serve) {}

other_process::~other_process() {
    end();
    int const status = wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

std::uint64_t other_process::open(std::uint64_t kind, int descriptor) {
    std::uint64_t const name = ++opened_;
    request const of{action::open, name, kind};
    send(&of, sizeof of);
    send_descriptor(descriptor);
    std::uint64_t answer = 0;
    if (!receive(&answer, sizeof answer))
        throw std::runtime_error("the other process has ended");
    return name;
}

std::uint64_t other_process::ask(request of, void const* sent, void* answered) {
    send(&of, sizeof of);
    if (sent && of.second != 0)
        send(sent, of.second);
    std::uint64_t answer = 0;
    if (!receive(&answer, sizeof answer) ||
        (answered && of.second != 0 && !receive(answered, of.second)))
        throw std::runtime_error("the other process has ended");
    return answer;
}

} // namespace barmap::contract
