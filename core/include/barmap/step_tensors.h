// SPDX-License-Identifier: MIT
/// The inputs and results of a program's steps, such as those of a language model's decode loop,
/// for C and languages that call C: many small tensors go to the GPU at once, with no call of the
/// driver, and results come back without a synchronisation. The kernels and graphs that use them
/// need no change.
///
///     barmap_step_inputs *inputs;
///     if (barmap_step_inputs_create(gpu, tensors, 2, 4, &inputs) ||
///         barmap_step_inputs_enqueue_load(inputs, stream))
///         return fprintf(stderr, "%s\n", barmap_error_message()), 1;
///     memcpy(barmap_step_inputs_staging(inputs, 0), positions, sizeof positions);
///     barmap_step_inputs_push(inputs);
///
/// Loads and pushes pair up in order. On the GPU, a load waits for its push for at most 10 seconds;
/// if none comes, the tensors stay as they were, later work of the stream continues, and
/// barmap_step_inputs_failed() returns 1. Stores wait for room in the same way.
///
/// Errors: as in <barmap/barmap.h>, for functions that make a handle and those that take a stream.
/// The others cannot fail, and check nothing. Threads: one at a time fills and pushes, or pops.
/// fork(): a child may only destroy the handles. Destroy them when no stream and no graph uses them
/// any more.
#ifndef BARMAP_STEP_TENSORS_H
#define BARMAP_STEP_TENSORS_H

#include <barmap/barmap.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct barmap_step_inputs barmap_step_inputs;   ///< tensors that the CPU fills
typedef struct barmap_step_outputs barmap_step_outputs; ///< tensors whose contents the CPU gets

/// A contiguous tensor in GPU memory that a step reads or writes. The structure never changes.
typedef struct barmap_step_tensor {
    uint64_t gpu_address;
    uint64_t bytes;
} barmap_step_tensor;

/// Prepares tensors that the CPU fills for each step. Any thread.
/// @param tensors  memory of this GPU, at most 1 MiB in all, without overlaps; stays the caller's
/// @param count    of the tensors, at least 1
/// @param versions how many steps may be pushed before the first is loaded, a power of two
/// @param out      free it with barmap_step_inputs_destroy()
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT, also for memory that is not of this GPU;
///         BARMAP_ERROR_OUT_OF_RANGE for a tensor that leaves its allocation; or as
///         barmap_arena_create()
///
///     barmap_step_inputs_create(gpu, tensors, 2, 4, &inputs);
BARMAP_API int barmap_step_inputs_create(barmap_device* device, barmap_step_tensor const* tensors,
                                         size_t count, size_t versions, barmap_step_inputs** out);

/// Bytes to fill for the next step, aligned to 8, as many as the tensor has. They keep their
/// contents after a push. @pre tensor < count
///
///     memcpy(barmap_step_inputs_staging(inputs, 0), positions, sizeof positions);
BARMAP_API void* barmap_step_inputs_staging(barmap_step_inputs const* inputs, size_t tensor);

/// Size of a tensor in bytes. @pre tensor < count
///
///     memset(barmap_step_inputs_staging(inputs, 0), 0, barmap_step_inputs_bytes(inputs, 0));
BARMAP_API size_t barmap_step_inputs_bytes(barmap_step_inputs const* inputs, size_t tensor);

/// Publishes the staging bytes of all tensors, at once. @return 1, or 0 if no version is free
///
///     if (barmap_step_inputs_push(inputs))
///         cudaGraphLaunch(graph, stream);
BARMAP_API int barmap_step_inputs_push(barmap_step_inputs* inputs);

/// Waits for a free version. @return 1 if there is one within that many nanoseconds, else 0
///
///     barmap_step_inputs_wait(inputs, 1000000000);
BARMAP_API int barmap_step_inputs_wait(barmap_step_inputs* inputs, uint64_t nanoseconds);

/// Makes a stream copy the next push into the tensors, with a kernel of one block, before its later
/// work. Each replay of a graph that has captured this loads the next push again. Any thread.
/// @param stream of the GPU's context that was current when the object was made, or else of its
///               primary one; NULL: the default stream of that context
/// @return 0; BARMAP_ERROR_INVALID_ARGUMENT; BARMAP_ERROR_CUDA
///
///     barmap_step_inputs_enqueue_load(inputs, stream);
BARMAP_API int barmap_step_inputs_enqueue_load(barmap_step_inputs const* inputs, void* stream);

/// 1 if a load has given up waiting: pushes and loads may not pair up any more, so make a new
/// object. Else 0.
///
///     if (barmap_step_inputs_failed(inputs))
///         make_anew();
BARMAP_API int barmap_step_inputs_failed(barmap_step_inputs const* inputs);

/// Frees it. NULL: does nothing.
///
///     barmap_step_inputs_destroy(inputs);
BARMAP_API void barmap_step_inputs_destroy(barmap_step_inputs* inputs);

/// Prepares tensors whose contents the CPU gets after each step. As barmap_step_inputs_create(),
/// but tensors may overlap.
/// @param versions how many steps may be stored before the first is popped, a power of two
///
///     barmap_step_outputs_create(gpu, tensors, 1, 64, &tokens);
BARMAP_API int barmap_step_outputs_create(barmap_device* device, barmap_step_tensor const* tensors,
                                          size_t count, size_t versions, barmap_step_outputs** out);

/// Makes a stream publish the contents of the tensors, with a kernel of one block, after its
/// earlier work. As barmap_step_inputs_enqueue_load().
///
///     barmap_step_outputs_enqueue_store(tokens, stream);
BARMAP_API int barmap_step_outputs_enqueue_store(barmap_step_outputs const* outputs, void* stream);

/// Copies the results of the oldest step that was not popped to the staging bytes. @return 1, or 0
/// if there is none
///
///     if (barmap_step_outputs_pop(tokens))
BARMAP_API int barmap_step_outputs_pop(barmap_step_outputs* outputs);

/// Waits for results. @return 1 if there are any within that many nanoseconds, else 0
///
///     barmap_step_outputs_wait(tokens, 50000000);
BARMAP_API int barmap_step_outputs_wait(barmap_step_outputs const* outputs, uint64_t nanoseconds);

/// The results that were popped last, aligned to 8. @pre tensor < count
///
///     use(barmap_step_outputs_staging(tokens, 0));
BARMAP_API void const* barmap_step_outputs_staging(barmap_step_outputs const* outputs,
                                                   size_t tensor);

/// As barmap_step_inputs_bytes().
///
///     size_t const bytes = barmap_step_outputs_bytes(tokens, 0);
BARMAP_API size_t barmap_step_outputs_bytes(barmap_step_outputs const* outputs, size_t tensor);

/// 1 if a store has given up waiting for room: the results of a step are lost. Else 0.
///
///     if (barmap_step_outputs_failed(tokens))
BARMAP_API int barmap_step_outputs_failed(barmap_step_outputs const* outputs);

/// Frees it. NULL: does nothing.
///
///     barmap_step_outputs_destroy(tokens);
BARMAP_API void barmap_step_outputs_destroy(barmap_step_outputs* outputs);

#ifdef __cplusplus
}
#endif

#endif
