// SPDX-License-Identifier: MIT
// The GPU's side of counters and mailboxes, for a thread that stands for a kernel. message.hpp is
// what barmap.device_struct() wrote.
#include "message.hpp"

#include <barmap/gpu/mailbox.cuh>
#include <barmap/gpu/signal.cuh>

namespace gpu = barmap::gpu;

namespace {

gpu::word* at(unsigned long long address) {
    return reinterpret_cast<gpu::word*>(address);
}

} // namespace

extern "C" {

int counter_wait(unsigned long long const* of, unsigned long long at_least) {
    return static_cast<int>(gpu::wait_for(gpu::counter_to_gpu{at(of[0])}, at_least));
}

void counter_advance(unsigned long long const* of, unsigned long long to) {
    gpu::advance(gpu::counter_to_cpu{at(of[0]), at(of[1]), of[2]}, to);
}

int counter_arrive(unsigned long long const* of, unsigned long long expected) {
    return gpu::arrive(gpu::counter_to_cpu{at(of[0]), at(of[1]), of[2]}, expected);
}

int mailbox_read(unsigned long long const* of, message* to) {
    gpu::mailbox_reader<message> reader(gpu::mailbox_to_gpu<message>{at(of[0]), at(of[1]), of[2]});
    return static_cast<int>(reader.read(*to));
}

void mailbox_write(unsigned long long const* of, message const* from) {
    gpu::mailbox_writer<message> writer(gpu::mailbox_to_cpu<message>{at(of[0]), at(of[1]), of[2]});
    writer.write(*from);
}
}
