// SPDX-License-Identifier: MIT
/// The kernels of `barmap ring`: what each does, for a GPU and, with a thread in the place of the
/// kernel, for the simulated one. kernels/ring_kernels.cu makes kernels of it.
#pragma once

#include <barmap/gpu/rpc.cuh>
#include <barmap/gpu/step.cuh>
#include <barmap/gpu/warp_ring.cuh>

#if defined(__clang__)
#define BARMAP_UNROLLED _Pragma("unroll")
#else
#define BARMAP_UNROLLED
#endif

namespace barmap {
namespace tool {

/// A message whose words say which one it is and whether they belong together: word i of number n
/// is n * unit + i * step, so that the number follows from the first word alone.
template <unsigned Bytes>
struct sealed_message {
    static constexpr unsigned count = Bytes / 8;
    gpu::word words[count];
};

struct seal {
    static constexpr gpu::word unit = 0x9e3779b97f4a7c15, unit_inverse = 0xf1de83e19937733d;
    static constexpr gpu::word step = 0xd1b54a32d192ed03;
};
static_assert(seal::unit * seal::unit_inverse == 1, "modulo 2^64");

template <unsigned Bytes>
BARMAP_DEVICE sealed_message<Bytes> make_sealed(gpu::word number) {
    sealed_message<Bytes> made;
    gpu::word next = number * seal::unit;
    for (unsigned i = 0; i < sealed_message<Bytes>::count; ++i, next += seal::step)
        made.words[i] = next;
    return made;
}

/// The findings of a reader, in memory that outlives the kernel.
struct ring_findings {
    gpu::word count;        ///< messages that were read; of a source, that were pushed
    gpu::word torn;         ///< of them: whose words do not belong together
    gpu::word doubled;      ///< whole, and of a number whose turn was before
    gpu::word out_of_order; ///< whole, and of a number whose turn comes later
    gpu::word checksum;     ///< sum of all words modulo 2^64
    gpu::word how;          ///< the last gpu::status
    gpu::word is_done;      ///< 1 at the end
    gpu::word unused;
};

/// Looks at every word of the message whose turn it is.
template <unsigned Bytes>
BARMAP_DEVICE void inspect(sealed_message<Bytes> const& message, gpu::word expected,
                           ring_findings& found) {
    gpu::word const first = message.words[0];
    gpu::word next = first, sum = 0, differences = 0;
    BARMAP_UNROLLED // else clang keeps large messages in memory, and copies them byte by byte
        for (unsigned i = 0; i < sealed_message<Bytes>::count; ++i, next += seal::step) {
        differences |= message.words[i] ^ next;
        sum += message.words[i];
    }
    ++found.count;
    found.checksum += sum;
    if ((differences | (first ^ expected * seal::unit)) == 0)
        return;
    // A word of halves that do not belong together is the first one of a number that is far away.
    long long const ahead = static_cast<long long>(first * seal::unit_inverse - expected);
    constexpr long long far_away = 1ll << 40;
    bool const is_torn = differences != 0 || ahead > far_away || ahead < -far_away;
    found.torn += is_torn ? 1 : 0;
    found.doubled += !is_torn && ahead < 0 ? 1 : 0;
    found.out_of_order += !is_torn && ahead > 0 ? 1 : 0;
}

/// The sum of the words of a message.
template <unsigned Bytes>
BARMAP_DEVICE gpu::word sum_of(sealed_message<Bytes> const& message) {
    gpu::word sum = 0;
    for (unsigned i = 0; i < sealed_message<Bytes>::count; ++i)
        sum += message.words[i];
    return sum;
}

using step::give_up;

/// The parameters of all kernels.
struct ring_task {
    gpu::word first; ///< number of the first message
    gpu::word
        count; ///< of messages that a thread (or the warp) pushes; a reader continues until closed
    gpu::word nanoseconds; ///< how long to wait before giving up
};

BARMAP_DEVICE void leave(ring_findings& found, gpu::status how, ring_findings* findings) {
    found.how = static_cast<gpu::word>(how);
    found.is_done = 1;
    *findings = found;
}

/// One thread reads until the ring is closed.
template <unsigned Bytes, class Again>
BARMAP_DEVICE void sink_of_thread(gpu::ring_to_gpu<sealed_message<Bytes>> const& ring,
                                  ring_task const& task, ring_findings* findings, Again again) {
    ring_findings found = {};
    gpu::consumer<sealed_message<Bytes>> from(ring);
    sealed_message<Bytes> message;
    gpu::status how;
    do {
        while ((how = from.pop(message, task.nanoseconds)) == gpu::status::ok)
            inspect(message, task.first + found.count, found);
    } while (how == gpu::status::timed_out && again());
    from.close();
    leave(found, how, findings);
}

/// A warp reads until the ring is closed. @param findings one for each lane
template <unsigned Bytes, class Again>
BARMAP_DEVICE void sink_of_warp(gpu::ring_to_gpu<sealed_message<Bytes>> const& ring,
                                ring_task const& task, ring_findings* findings, unsigned lane,
                                Again again) {
    ring_findings found = {};
    gpu::warp_consumer<sealed_message<Bytes>> from(ring);
    sealed_message<Bytes> message;
    gpu::word next = task.first;
    unsigned count;
    gpu::status how;
    do {
        while ((how = from.pop(message, count, task.nanoseconds)) == gpu::status::ok) {
            if (lane < count)
                inspect(message, next + lane, found);
            next += count;
        }
    } while (how == gpu::status::timed_out && again());
    from.close();
    leave(found, how, findings + lane);
}

/// One thread pushes.
template <unsigned Bytes, class Again>
BARMAP_DEVICE void source_of_thread(gpu::ring_to_cpu<sealed_message<Bytes>> const& ring,
                                    ring_task const& task, ring_findings* findings, Again again) {
    ring_findings found = {};
    gpu::producer<sealed_message<Bytes>> to(ring);
    gpu::status how = gpu::status::ok;
    while (found.count < task.count && how == gpu::status::ok) {
        sealed_message<Bytes> const message = make_sealed<Bytes>(task.first + found.count);
        do
            how = to.push(message, task.nanoseconds);
        while (how == gpu::status::timed_out && again());
        if (how == gpu::status::ok) {
            ++found.count;
            found.checksum += sum_of(message);
        }
    }
    to.close();
    leave(found, how, findings);
}

/// A warp pushes. @param findings one for each lane
template <unsigned Bytes, class Again>
BARMAP_DEVICE void source_of_warp(gpu::ring_to_cpu<sealed_message<Bytes>> const& ring,
                                  ring_task const& task, ring_findings* findings, unsigned lane,
                                  unsigned lanes, Again again) {
    ring_findings found = {};
    gpu::warp_producer<sealed_message<Bytes>> to(ring);
    gpu::status how = gpu::status::ok;
    gpu::word const most = ring.mask < lanes ? ring.mask + 1 : lanes;
    for (gpu::word done = 0; done < task.count && how == gpu::status::ok;) {
        gpu::word const left = task.count - done;
        unsigned const now = static_cast<unsigned>(left < most ? left : most);
        sealed_message<Bytes> const message = make_sealed<Bytes>(task.first + done + lane);
        do
            how = to.push(message, now, task.nanoseconds);
        while (how == gpu::status::timed_out && again());
        if (how == gpu::status::ok && lane < now) {
            ++found.count;
            found.checksum += sum_of(message);
        }
        done += now;
    }
    to.close();
    leave(found, how, findings + lane);
}

/// One of many threads, which push at once: its i-th message has the number first + index +
/// i * threads. None of them closes the ring. @param findings one for each thread
template <unsigned Bytes, class Again>
BARMAP_DEVICE void source_of_many(gpu::ring_to_cpu<sealed_message<Bytes>> const& ring,
                                  ring_task const& task, ring_findings* findings, unsigned index,
                                  unsigned threads, Again again) {
    ring_findings found = {};
    gpu::status how = gpu::status::ok;
    while (found.count < task.count && how == gpu::status::ok) {
        sealed_message<Bytes> const message =
            make_sealed<Bytes>(task.first + index + found.count * threads);
        do
            how = gpu::push(ring, message, task.nanoseconds);
        while (how == gpu::status::timed_out && again());
        if (how == gpu::status::ok) {
            ++found.count;
            found.checksum += sum_of(message);
        }
    }
    leave(found, how, findings + index);
}

/// One thread answers each message with one of 8 bytes and the same number.
template <unsigned Bytes, class Again>
BARMAP_DEVICE void echo(gpu::ring_to_gpu<sealed_message<Bytes>> const& in,
                        gpu::ring_to_cpu<sealed_message<8>> const& out, ring_task const& task,
                        ring_findings* findings, Again again) {
    ring_findings found = {};
    gpu::consumer<sealed_message<Bytes>> from(in);
    gpu::producer<sealed_message<8>> to(out);
    sealed_message<Bytes> message;
    gpu::status how;
    do {
        while ((how = from.pop(message, task.nanoseconds)) == gpu::status::ok) {
            // The answer first: what is found is for later.
            sealed_message<8> const answer = {{message.words[0]}};
            do
                how = to.push(answer, task.nanoseconds);
            while (how == gpu::status::timed_out && again());
            if (how != gpu::status::ok)
                break;
            inspect(message, task.first + found.count, found);
        }
    } while (how == gpu::status::timed_out && again());
    to.close();
    from.close();
    leave(found, how, findings);
}

/// As echo(), with no more than what a round trip needs: what the rest costs is the difference. Ends
/// after task.count messages, or when none has come for task.nanoseconds.
template <class Again>
BARMAP_DEVICE void echo_bare(gpu::ring_to_gpu<sealed_message<32>> const& in,
                             gpu::ring_to_cpu<sealed_message<8>> const& out, ring_task const& task,
                             ring_findings* findings, Again again) {
    ring_findings found = {};
    gpu::status how = gpu::status::ok;
    gpu::word const quarter = gpu::detail::quarter_of(in.mask);
    for (gpu::word number = 0; number < task.count; ++number) {
        gpu::word const* const slot = in.slots + (number & in.mask) * 8;
        gpu::word* const answer = out.slots + (number & out.mask) * 2;
        gpu::detail::time_limit limit(task.nanoseconds);
        while (how == gpu::status::ok && gpu::load_relaxed(slot + 1) != number + 1)
            if (!limit.polls_again() && limit.is_over() && !again())
                how = gpu::status::timed_out;
        if (how != gpu::status::ok)
            break;
        gpu::store_pair(answer, number * seal::unit, number + 1);
        ++found.count;
        if ((number + 1) % quarter == 0)
            gpu::store_relaxed(in.credits + gpu::ring_words::read, number + 1);
    }
    leave(found, how, findings);
}

/// One of many threads, or the only one, which calls the CPU task.count times, with numbers as
/// those of source_of_many. The answer to number n must also have the number n.
/// @param findings one for each thread
/// @param times of thread 0: the clock's ticks of each call, and then nanoseconds and ticks of all
template <unsigned Request, unsigned Reply, class Clock>
BARMAP_DEVICE void
call_cpu(gpu::rpc_to_cpu<sealed_message<Request>, sealed_message<Reply>> const& cpu,
         ring_task const& task, ring_findings* findings, unsigned index, unsigned threads,
         gpu::word* times, Clock const& clock) {
    ring_findings found = {};
    gpu::status how = gpu::status::ok;
    gpu::word const begin_ns = clock.nanoseconds(), begin = clock.ticks();
    auto const call_all = [&](auto const& call) {
        while (found.count < task.count && how == gpu::status::ok) {
            gpu::word const number = task.first + index + found.count * threads;
            sealed_message<Request> const request = make_sealed<Request>(number);
            sealed_message<Reply> reply;
            gpu::word const before = clock.ticks();
            how = call(request, reply);
            gpu::word const after = clock.ticks();
            if (how != gpu::status::ok)
                break;
            if (index == 0)
                times[found.count] = after - before;
            inspect(reply, number, found);
        }
    };
    if (threads == 1) {
        gpu::caller<sealed_message<Request>, sealed_message<Reply>> one(cpu);
        call_all([&](auto const& request, auto& reply) {
            return one.call(request, reply, task.nanoseconds);
        });
    } else {
        call_all([&](auto const& request, auto& reply) {
            return gpu::call<sealed_message<Request>, sealed_message<Reply>>(cpu, request, reply,
                                                                            task.nanoseconds);
        });
    }
    if (index == 0) {
        times[task.count] = clock.nanoseconds() - begin_ns;
        times[task.count + 1] = clock.ticks() - begin;
    }
    leave(found, how, findings + index);
}

} // namespace tool
} // namespace barmap
