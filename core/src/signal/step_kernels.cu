// SPDX-License-Identifier: MIT
// The kernels of step_inputs and step_outputs, as packaging/make_ptx.cmake compiles them.
#include <barmap/gpu/step.cuh>

extern "C" BARMAP_KERNEL void barmap_step_load(barmap::step::task task) {
    barmap::step::load(task, barmap::step::give_up());
}

extern "C" BARMAP_KERNEL void barmap_step_store(barmap::step::task task) {
    barmap::step::store(task, barmap::step::give_up());
}
