// SPDX-License-Identifier: MIT
/// Queues of copies that kernels submit, for C and languages that call C: a warp of a running
/// kernel tells a copy engine of its GPU what to copy, without the CPU. <barmap/barmap.h> has the
/// rules of errors, ownership, threads and forks; the kernel's side is
/// <barmap/gpu/kernel_queue.cuh>.
#ifndef BARMAP_KERNEL_QUEUE_H
#define BARMAP_KERNEL_QUEUE_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_kernel_queue barmap_kernel_queue; ///< one channel that kernels feed

/// The argument of a kernel: a barmap::gpu::kernel_queue, by value.
typedef struct barmap_kernel_queue_handle {
    uint64_t words[16];
} barmap_kernel_queue_handle;

/// Values of barmap_kernel_queue_options::flags; combine them with |.
enum barmap_kernel_queue_flags {
    BARMAP_KERNEL_QUEUE_SHARED =
        1, ///< warps submit at the same time: <barmap/gpu/shared_queue.cuh>
    /// Where kernels of this GPU cannot ring a doorbell, a thread of the CPU rings it for them.
    /// After a pause of a millisecond it polls every 50 us.
    BARMAP_KERNEL_QUEUE_OR_RUNG_BY_CPU = 2
};

/// How a queue is made. It grows as barmap_pin_options does.
typedef struct barmap_kernel_queue_options {
    size_t size;    ///< sizeof(barmap_kernel_queue_options), as compiled into the program
    uint64_t flags; ///< values of enum barmap_kernel_queue_flags
} barmap_kernel_queue_options;

/// Makes a queue, and shows by one submission that its channel works and that the doorbell starts
/// it at the address for kernels; takes about 15 ms. It needs NVIDIA's kernel driver with a series
/// that barmap knows, no MIG, and a GPU from Hopper on unless the CPU may ring. A thread watches
/// the channel, and wakes up 100 times a second. Any thread.
/// @param or_null options, or NULL for none
/// @param out free it with barmap_kernel_queue_destroy()
/// @return 0; BARMAP_ERROR_BACKEND_ABSENT if kernels of this GPU cannot ring a doorbell, with the
///         reason: let the CPU ring it, or submit from the CPU, by a barmap_batch_queue;
///         BARMAP_ERROR_BACKEND_BROKEN if the channel or the doorbell does not work;
///         BARMAP_ERROR_INVALID_ARGUMENT, also for options that this library does not know;
///         BARMAP_ERROR_CHECKPOINTED; BARMAP_ERROR_NO_MEMORY; BARMAP_ERROR_FORKED_CHILD; what the
///         driver refuses
///
///     barmap_kernel_queue *queue;
///     if (barmap_kernel_queue_create(gpu, NULL, &queue) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_kernel_queue_create(barmap_device* device,
                                          barmap_kernel_queue_options const* or_null,
                                          barmap_kernel_queue** out);

/// Whether a thread of the CPU rings the doorbell: because kernels cannot, or BARMAP_DOORBELL=cpu
/// says so. Any thread.
/// @param is set to 1 or 0
/// @return as barmap_kernel_queue_get()
///
///     if (barmap_kernel_queue_is_rung_by_cpu(queue, &is) == BARMAP_OK && is)
///         puts("the CPU rings");
BARMAP_API int barmap_kernel_queue_is_rung_by_cpu(barmap_kernel_queue* queue, int* is);

/// The kernel's argument, valid until the queue is restarted, destroyed or released for a
/// checkpoint. After a checkpoint this call makes a new channel, at other addresses: capture graphs
/// again. Before barmap_checkpoint_prepare(), kernels that have it must have ended. Any thread.
/// @param handle set
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_BACKEND_BROKEN if the channel has
///         stopped; BARMAP_ERROR_CHECKPOINTED; BARMAP_ERROR_FORKED_CHILD; after a checkpoint, as
///         barmap_kernel_queue_create()
///
///     barmap_kernel_queue_get(queue, &handle);
///     void *arguments[] = {&handle}; // of fetch(barmap::gpu::kernel_queue)
BARMAP_API int barmap_kernel_queue_get(barmap_kernel_queue* queue,
                                       barmap_kernel_queue_handle* handle);

/// The same for a thread that acts as a kernel in a test, with addresses of the CPU. Not for a real
/// GPU, for which the thread's stores would not be in order.
///
///     barmap_kernel_queue_get_for_thread(queue, &handle);
BARMAP_API int barmap_kernel_queue_get_for_thread(barmap_kernel_queue* queue,
                                                  barmap_kernel_queue_handle* handle);

/// Enqueues a kernel of one warp, which submits a list of pieces and waits until they are copied:
/// later work of the stream sees the bytes. The list and its length lie in memory, and are read
/// when the stream comes there, so that earlier work of the stream may write them; in a stream that
/// is being captured, the kernel becomes a node of the graph, and each replay reads them again.
/// Until a graph has run for the last time, keep the list, and do not restart the queue, whose
/// channel the graph keeps. Several streams, and replays in flight, take turns; in a shared queue
/// they copy at the same time. Any thread.
/// @param pieces     the address, for kernels, of `most` structures barmap_copy_piece
/// @param count      the address, for kernels, of a uint64_t: how many of them to copy
/// @param most       room in the list: with a longer count, nothing is copied
/// @param at_most_ns how long the kernel may wait, in all, for other streams and for the copies
/// @param stream     a CUstream or cudaStream_t of the GPU's primary context; NULL: the default
///                   stream
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_CUDA if CUDA refuses the launch; as
///         barmap_kernel_queue_get(). barmap_kernel_queue_check() reports later errors of the
///         kernel
///
///     barmap_kernel_queue_enqueue(queue, pieces, count, 4096, 1000000000, stream);
BARMAP_API int barmap_kernel_queue_enqueue(barmap_kernel_queue* queue, uint64_t pieces,
                                           uint64_t count, size_t most, uint64_t at_most_ns,
                                           void* stream);

/// Fails if the channel has stopped (kernels that wait then get `failed` within 10 ms), or if an
/// enqueued list was not copied whole since the last call. Any thread.
/// @return 0; BARMAP_ERROR_COPY_UNFINISHED with the reason, for a stopped channel with the driver's
///         number (Xid): which bytes of the unfinished submissions were copied is unknown;
///         BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_CHECKPOINTED; BARMAP_ERROR_FORKED_CHILD
///
///     while (cudaStreamQuery(stream) == cudaErrorNotReady)
///         if (barmap_kernel_queue_check(queue) != BARMAP_OK)
///             fail(barmap_error_message());
BARMAP_API int barmap_kernel_queue_check(barmap_kernel_queue* queue);

/// Waits for the GPU and makes a new channel, in about 15 ms. Lists whose doorbell was not rung
/// never run. Get the handle again, and capture graphs again: an access of a later kernel with the
/// old one would lose the CUDA context. Not while a stream of the GPU's primary context is being
/// captured, which would end the capture. Exclusive.
/// @return as barmap_kernel_queue_create()
///
///     cudaStreamSynchronize(stream); // kernels that use the queue
///     barmap_kernel_queue_restart(queue);
BARMAP_API int barmap_kernel_queue_restart(barmap_kernel_queue* queue);

/// Waits for the GPU, stops the channel, and frees the queue. No kernel may use it later;
/// submissions that are not done may never be. While CUDA has a graph that has captured an enqueued
/// list, or an instance of it, the channel remains, for such graphs alone. Not while a stream of
/// the GPU's primary context is being captured, which would end the capture. NULL: does nothing.
/// Exclusive.
///
///     barmap_kernel_queue_destroy(queue);
BARMAP_API void barmap_kernel_queue_destroy(barmap_kernel_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
