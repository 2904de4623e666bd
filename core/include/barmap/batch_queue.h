// SPDX-License-Identifier: MIT
/// Batches of scattered copies, for C and languages that call C. <barmap/barmap.h> includes it, and
/// has the rules of errors, ownership, threads and forks.
#ifndef BARMAP_BATCH_QUEUE_H
#define BARMAP_BATCH_QUEUE_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_batch_queue barmap_batch_queue; ///< copies batches for one GPU

/// Makes a queue that copies batches of scattered pieces between GPU memory, also other GPUs', and
/// pinned host memory, without a kernel, in the order of CUDA streams if you want. Starts an
/// engine, in about 15 ms, unless another handle of the GPU's queue exists: keep one. Any thread.
/// @param out free it with barmap_batch_queue_destroy()
/// @return 0; BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if no engine is usable, or
///         BARMAP_ENGINE allows none; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_CHECKPOINTED;
///         BARMAP_ERROR_FORKED_CHILD
///
///     barmap_batch_queue *queue;
///     if (barmap_batch_queue_create(gpu, &queue) != BARMAP_OK)
///         fail(barmap_error_message());
BARMAP_API int barmap_batch_queue_create(barmap_device* device, barmap_batch_queue** out);

/// "channel" or "driver": the engine that takes batches now. Starts one if none is at work, but
/// opens no queues, which barmap_batch_queue_open() does. "" if none works any more;
/// barmap_error_message() then says why. Valid as long as the library is loaded. Any thread.
///
///     puts(barmap_batch_queue_engine(queue));
BARMAP_API char const* barmap_batch_queue_engine(barmap_batch_queue const* queue);

/// Starts an engine, unless one is at work, and opens all queues in which batches with
/// BARMAP_BATCH_AFTER may wait, so that no later submission does: that takes milliseconds. Any
/// thread.
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_BACKEND_ABSENT or _BACKEND_BROKEN if no
///         engine works; BARMAP_ERROR_FORKED_CHILD
///
///     barmap_batch_queue_open(queue);
BARMAP_API int barmap_batch_queue_open(barmap_batch_queue* queue);

/// One contiguous part of a batch: CUDA's addresses, with any alignment. Each side is memory that
/// CUDA has mapped for this GPU, except managed memory: the GPU's own, another GPU's with peer
/// access, pinned host memory. The two sides must not overlap. The structure never grows.
typedef struct barmap_copy_piece {
    uint64_t to;
    uint64_t from;
    uint64_t bytes; ///< 0: nothing is copied
} barmap_copy_piece;

/// Values of barmap_batch_options::flags; combine them with |.
enum barmap_batch_flags {
    BARMAP_BATCH_AFTER = 1, ///< copy after all work already enqueued on the stream `after`
    BARMAP_BATCH_THEN = 2,  ///< later work of the stream `then` waits for, and sees, the bytes
    /// Start no engine, which takes milliseconds and may wait for kernels that run: for code that
    /// others wait for. Call barmap_batch_queue_open() first, in a thread that may wait. Makes no
    /// difference in a stream that is being captured.
    BARMAP_BATCH_STARTED = 4
};

/// A batch's ordering relative to CUDA streams. It grows as barmap_pin_options does.
typedef struct barmap_batch_options {
    size_t size;         ///< sizeof(barmap_batch_options), as compiled into the program
    uint64_t flags;      ///< values of enum barmap_batch_flags
    void* after;         ///< a CUstream or cudaStream_t; NULL: the default stream
    /// How long the batch may wait for `after`, counted from its submission; 0: no limit. On the
    /// channel, a batch that waits longer fails once the batches before it in its queue are done.
    /// CUDA's own copies ignore the limit. In a stream that is being captured: how long each replay
    /// may take to copy the batch; 0: ten seconds.
    uint64_t at_most_ns;
    void* then;          ///< as `after`
} barmap_batch_options;

/// Begins to copy the pieces of a batch, in no order, and returns at once. Each queue of the
/// channel accepts 8,191 batches and about a million pieces, or one longer list, before a
/// submission waits for room. With CUDA's own copies a submission waits sooner: behind 1,023
/// batches, and wherever the driver waits. Any thread.
///
/// As with cudaMemcpyAsync, keep both sides of every piece allocated, and the sources unchanged,
/// until the batch is done (with BARMAP_BATCH_THEN: until the stream has passed it). Batches have
/// no order unless streams order them. A batch copies what this thread wrote before, to host memory
/// and through mappings. Rules O32 to O36, O52 and O53 of share/doc/barmap/ordering.md say more.
///
/// A batch fails if CUDA has not mapped an address for this GPU, or if memory is freed while it is
/// copied; all unfinished batches of the same channel fail with it. Within 100 ms,
/// barmap_batch_queue_done() and _wait() report them, and the library releases the streams that
/// wait for them. A batch that waits for a stream never delays batches of the other direction, and
/// delays those of its own only while batches wait for more than three streams.
///
/// In a stream that is being captured into a CUDA graph, a batch becomes a node of the graph: a
/// kernel of one warp, which submits the pieces that the list has now, and waits until they are
/// copied. It comes after earlier work of the stream, and later work sees the bytes, whichever of
/// `after` and `then` names the stream. It needs what a barmap_kernel_queue needs; the first such
/// batch takes about 15 ms. The graph, and what is instantiated or cloned from it, keeps all that
/// the node uses, except the pieces' memory. The batch is done once CUDA has destroyed all of these
/// and the last replay has ended: until then ask barmap_batch_queue_done() for failures. After
/// barmap_checkpoint_prepare(), capture again: no such graph may run any more.
/// @param pieces  `count` many, in any mixture of directions; none may write what another one reads
///                or writes. The batch's direction is that of its first piece that is not empty:
///                from host memory, to it, or neither. A batch is fastest if all pieces go in one
///                direction. You may free the list when the call returns. NULL for none
/// @param or_null options, or NULL for none
/// @param ticket  set to the batch's name, 0 for one without pieces and streams, or without pieces
///                in a stream that is being captured; may be NULL
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for a null address, one that is out of range, and
///         options that this library does not know; BARMAP_ERROR_WRONG_DEVICE for a stream of
///         another GPU and, with the channel, memory of another GPU that is not mapped for this
///         one, because cudaDeviceEnablePeerAccess or access rights are missing (the call checks 64
///         pieces of a long list); BARMAP_ERROR_UNSUPPORTED_OPERATION for a stream that is being
///         captured where this GPU has no kernel queue, with the reason, and for two streams of
///         which one is being captured; BARMAP_ERROR_UNSUPPORTED_MEMORY or _OUT_OF_RANGE (with
///         CUDA's own copies) for an address that CUDA does not know, or a piece beyond its
///         allocation; BARMAP_ERROR_CUDA if CUDA refuses a stream; BARMAP_ERROR_BACKEND_ABSENT or
///         _BACKEND_BROKEN if no engine works any more, the latter also with BARMAP_BATCH_STARTED
///         if the one at work has failed: barmap_batch_queue_open() then starts the next;
///         BARMAP_ERROR_NOT_STARTED, with this flag only, if none is at work, as after
///         barmap_checkpoint_restore(); BARMAP_ERROR_FORKED_CHILD. After a failure no piece is in
///         flight, except after BARMAP_ERROR_COPY_UNFINISHED: CUDA failed half-way and does not
///         report when its copies end, so keep both sides
///
///     barmap_batch_options order = {.size = sizeof order, .after = stream, .then = stream,
///                                   .flags = BARMAP_BATCH_AFTER | BARMAP_BATCH_THEN};
///     barmap_batch_queue_submit(queue, pieces, count, &order, &ticket);
BARMAP_API int barmap_batch_queue_submit(barmap_batch_queue* queue, barmap_copy_piece const* pieces,
                                         size_t count, barmap_batch_options const* or_null,
                                         uint64_t* ticket);

/// Whether a batch is done; if it is, this thread sees its bytes. Any thread.
/// @param ticket of the batch; 0 names none, and counts as done
/// @param done   set to 1 or 0
/// @return 0; BARMAP_ERROR_COPY_UNFINISHED if the batch has failed: which of its bytes were copied
///         is unknown; the same for a batch in a graph if since the last call a replay of it, or of
///         another graph with batches of this GPU's queue, has failed, and in each call if the
///         kernel queue has stopped that its graph uses; BARMAP_ERROR_INVALID_ARGUMENT for a ticket
///         that the GPU's batch queue did not give, or gave before its last handle was destroyed;
///         BARMAP_ERROR_FORKED_CHILD
///
///     while (barmap_batch_queue_done(queue, ticket, &done) == BARMAP_OK && !done)
///         do_something_else();
BARMAP_API int barmap_batch_queue_done(barmap_batch_queue const* queue, uint64_t ticket, int* done);

/// Spins until a batch is done, or the time is over. After a while it lets other threads run
/// between its polls, and may return later on a busy machine. Otherwise as
/// barmap_batch_queue_done().
///
///     barmap_batch_queue_wait(queue, ticket, 1000000000, &done); // for a second
BARMAP_API int barmap_batch_queue_wait(barmap_batch_queue const* queue, uint64_t ticket,
                                       uint64_t nanoseconds, int* done);

/// The part of a ticket that batches of one queue of the engine share. Batches of one queue end in
/// their order; batches of different queues, and those in graphs, which have 0, end in any order.
/// Any thread.
///
///     bool in_order = barmap_batch_queue_of(first) == barmap_batch_queue_of(second);
BARMAP_API uint64_t barmap_batch_queue_of(uint64_t ticket);

/// One more use of a handle: it then takes one more barmap_batch_queue_destroy() to free it. Any
/// thread. @return the handle
///
///     barmap_batch_queue *mine = barmap_batch_queue_retain(queue);
BARMAP_API barmap_batch_queue* barmap_batch_queue_retain(barmap_batch_queue* queue);

/// Ends one use of the handle, and frees it with the last. Batches in flight continue; freeing the
/// last handle of a GPU's queue waits for them, and so for the streams that they wait for: once the
/// process exits, no longer than two seconds. Graphs keep their batches. NULL: does nothing.
///
///     barmap_batch_queue_destroy(queue);
BARMAP_API void barmap_batch_queue_destroy(barmap_batch_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
