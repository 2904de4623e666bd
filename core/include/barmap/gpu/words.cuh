// SPDX-License-Identifier: MIT
/// Words that a GPU and a CPU share, as code on either side loads and stores them.
///
/// Compiles as CUDA (sm_70 and newer: nvcc, NVRTC, clang), as HIP, and as C++11 for the CPU, where
/// a thread can act as a kernel. Needs no other header on a GPU.
#pragma once

#if defined(__CUDA__) || defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIP__) ||     \
    defined(__HIPCC__)
#define BARMAP_DEVICE __host__ __device__ inline
#else
#define BARMAP_DEVICE inline
#endif

// Before a loop over the words of a message, which then stay in registers.
#if defined(__clang__) || defined(__CUDA_ARCH__)
#define BARMAP_UNROLL _Pragma("unroll")
#else
#define BARMAP_UNROLL
#endif

#if defined(__SANITIZE_THREAD__)
#define BARMAP_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BARMAP_THREAD_SANITIZER 1
#endif
#endif

// The processor for which this code is being compiled.
#if defined(__CUDA_ARCH__)
#define BARMAP_ON_CUDA 1
#elif defined(__HIP_DEVICE_COMPILE__)
#define BARMAP_ON_HIP 1
#else
#include <time.h>
#endif

namespace barmap {
namespace gpu {

/// The unit of all transfers over the link: 8 bytes, aligned.
typedef unsigned long long word;

/// Loads a word. Later loads of this thread see what the other side stored before its
/// store_release() of the value, or published with it in a push.
BARMAP_DEVICE word load_acquire(word const* from) {
#if defined(BARMAP_ON_CUDA)
    word value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
#elif defined(BARMAP_ON_HIP)
    return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

/// Loads a word, and orders nothing.
BARMAP_DEVICE word load_relaxed(word const* from) {
#if defined(BARMAP_ON_CUDA)
    word value;
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
#elif defined(BARMAP_ON_HIP)
    return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

/// Loads two words, with one load of 16 bytes if the GPU has such a load; otherwise it loads the
/// second word first, with acquire. @pre `from` is aligned to 16 bytes
BARMAP_DEVICE void load_pair_acquire(word const* from, word& first, word& second) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("ld.acquire.sys.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(from)
                 : "memory");
#else
    second = load_acquire(from + 1);
    first = load_relaxed(from);
#endif
}
/// The same, but in CUDA it orders nothing else.
BARMAP_DEVICE void load_pair_relaxed(word const* from, word& first, word& second) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(from)
                 : "memory");
#else
    load_pair_acquire(from, first, second);
#endif
}

/// Loads a commit word that is compared together with one that load_acquire() loads: in CUDA it
/// orders nothing itself.
BARMAP_DEVICE word load_commit(word const* from) {
#if defined(BARMAP_ON_CUDA)
    return load_relaxed(from);
#else
    return load_acquire(from);
#endif
}

/// Loads two words, and orders nothing. @pre `from` is aligned to 16 bytes
BARMAP_DEVICE void load_two(word const* from, word& first, word& second) {
#if defined(BARMAP_ON_CUDA)
    load_pair_relaxed(from, first, second);
#else
    first = load_relaxed(from);
    second = load_relaxed(from + 1);
#endif
}

/// Stores a word after all that this thread loaded and stored before.
BARMAP_DEVICE void store_release(word* to, word value) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
#elif defined(BARMAP_ON_HIP)
    __hip_atomic_store(to, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
#endif
}

/// Stores a word, and orders nothing.
BARMAP_DEVICE void store_relaxed(word* to, word value) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.relaxed.sys.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
#elif defined(BARMAP_ON_HIP)
    __hip_atomic_store(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}

/// Stores two words so that a reader that sees the second one also sees the first: in CUDA with one
/// store of 16 bytes, without a fence. @pre `to` is aligned to 16 bytes
BARMAP_DEVICE void store_pair(word* to, word first, word second) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};"
                 :
                 : "l"(to), "l"(first), "l"(second)
                 : "memory");
#else
    store_relaxed(to, first);
    store_release(to + 1, second);
#endif
}

/// Stores two words as one: a reader sees both or neither. @pre `to` is aligned to 16 bytes
BARMAP_DEVICE void store_as_one(word* to, word first, word second) {
#if defined(BARMAP_ON_CUDA)
    store_pair(to, first, second);
#elif defined(BARMAP_ON_HIP)
    typedef word two __attribute__((ext_vector_type(2)));
    two const value = {first, second};
    *reinterpret_cast<two volatile*>(to) = value;
#elif defined(__x86_64__) // one access if aligned to 16 bytes, on every processor with AVX
    typedef word two __attribute__((vector_size(16)));
    two const value = {first, second};
    asm volatile("movaps %1, %0" : "=m"(*reinterpret_cast<two*>(to)) : "x"(value) : "memory");
#elif defined(__aarch64__)
    word before, behind;
    unsigned has_failed;
    do
        asm volatile("ldxp %0, %1, [%3]\n\tstxp %w2, %4, %5, [%3]"
                     : "=&r"(before), "=&r"(behind), "=&r"(has_failed)
                     : "r"(to), "r"(first), "r"(second)
                     : "memory");
    while (has_failed != 0);
#else // only for CPU threads that act as kernels; kernels store as above
    store_pair(to, first, second);
#endif
}

/// Makes all that this thread has loaded and stored come before all that it loads and stores later,
/// as the CPU and other GPUs see it.
BARMAP_DEVICE void fence_system() {
#if defined(BARMAP_ON_CUDA)
    asm volatile("fence.acq_rel.sys;" : : : "memory");
#elif defined(BARMAP_ON_HIP)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "");
#elif defined(BARMAP_THREAD_SANITIZER) // which knows no fences
    static word anything = 0;
    __atomic_fetch_add(&anything, 0, __ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

/// Replaces a word of GPU memory that only this GPU uses, if it still has the expected value, and
/// orders nothing. @return whether it had
BARMAP_DEVICE bool replace(word* at, word expected, word value) {
#if defined(BARMAP_ON_CUDA)
    word before;
    asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(at), "l"(expected), "l"(value)
                 : "memory");
    return before == expected;
#elif defined(BARMAP_ON_HIP)
    return __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    return __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

/// Adds to a word of GPU memory that only this GPU uses. Threads that add later see what this
/// thread has stored before.
/// @return the value before
BARMAP_DEVICE word add(word* to, word number) {
#if defined(BARMAP_ON_CUDA)
    word before;
    asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(to), "l"(number)
                 : "memory");
    return before;
#elif defined(BARMAP_ON_HIP)
    return __hip_atomic_fetch_add(to, number, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
#else
    return __atomic_fetch_add(to, number, __ATOMIC_ACQ_REL);
#endif
}

/// The same, but orders nothing.
BARMAP_DEVICE word add_relaxed(word* to, word number) {
#if defined(BARMAP_ON_CUDA)
    word before;
    asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(to), "l"(number)
                 : "memory");
    return before;
#elif defined(BARMAP_ON_HIP)
    return __hip_atomic_fetch_add(to, number, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    return __atomic_fetch_add(to, number, __ATOMIC_RELAXED);
#endif
}

/// Nanoseconds since some moment, of a clock with a constant rate. On NVIDIA's GPUs this is
/// %globaltimer, which advances in steps of up to a microsecond; on AMD's, a counter of 100 MHz. On
/// AMD GPUs whose counter is slower, times last longer in proportion.
BARMAP_DEVICE word nanoseconds_now() {
#if defined(BARMAP_ON_CUDA)
    word now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#elif defined(BARMAP_ON_HIP)
    return __builtin_amdgcn_s_memrealtime() * 10;
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<word>(now.tv_sec) * 1000000000 + static_cast<word>(now.tv_nsec);
#endif
}

/// Copies bytes between registers or local memory.
BARMAP_DEVICE void copy_bytes(void* to, void const* from, unsigned long bytes) {
#if defined(__CUDACC_RTC__)
    memcpy(to, from, bytes);
#else
    __builtin_memcpy(to, from, bytes);
#endif
}

} // namespace gpu
} // namespace barmap
