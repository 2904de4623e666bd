// SPDX-License-Identifier: MIT
#pragma once

/// The fences of a copy. Each name says what it guarantees; docs/ordering.md says why callers need
/// that. Kernels contain none of them but speculation_barrier(): fenced_copy.hpp places one per
/// transfer.
namespace barmap::copy {

/// Earlier stores to GPU memory, write-combining and direct ones included, have left this CPU
/// before any later store of this thread does.
///
/// It does not guarantee that they have arrived. A PCIe write is posted; only a later read of the
/// same GPU, or the GPU itself, can confirm that. x86: stores to write-back memory need no fence
/// among themselves, but write-combining buffers drain in any order until SFENCE. arm64: DMB would
/// order them, but leaves a gathered store in the merge buffer until another one follows; DSB makes
/// it leave.
inline void flush_wc_stores() noexcept {
#if defined(__x86_64__)
    __asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dsb st" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("sync" ::: "memory");
#else
#error "barmap does not know how this processor sends write-combined stores to a PCIe device"
#endif
}

/// Later loads from GPU memory, streaming ones included, see it as it is from now on, and not as
/// an earlier load of this thread left it in a buffer.
///
/// Counter-example without it: a streaming load (MOVNTDQA) is answered from the line buffer that
/// the previous one filled, even after a plain load has returned a newer value; and two loads that
/// are both in flight may reach the GPU in either order. x86: LFENCE does not empty the streaming
/// buffers. On an H200 behind PCIe Gen5, 20,000 polls of a counting kernel went back in time 4191
/// times without a fence and 0 times with MFENCE, which costs 6 ns of 976.
inline void order_device_loads() noexcept {
#if defined(__x86_64__)
    __asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dmb ld" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("sync" ::: "memory");
#else
#error "barmap does not know how this processor orders loads from a PCIe device"
#endif
}

/// The same, if the later load is a plain one of a word. Those are never answered from a streaming
/// load's buffer, so that what orders stores and plain loads is enough: the load starts after every
/// earlier load has returned, and after every earlier store has left.
/// x86: a locked instruction, 7 ns of 959 where MFENCE takes 13; LFENCE would take 4, but leave the
/// stores behind. It adds nothing to a word of the stack. On an H200 a counting kernel's word never
/// went back in 10^6 polls behind it, nor in 300,000 polls each, behind weaker fences or none, in
/// turn with streaming loads of its line (word-fences.csv and fresh.csv in docs/results).
inline void order_device_words() noexcept {
#if defined(__x86_64__)
    __asm__ volatile("lock addl $0, -8(%%rsp)" ::: "memory", "cc");
#else
    order_device_loads();
#endif
}

/// The same for coherent memory (cache_kind::cached).
/// x86: the CPU keeps such loads in order, streaming ones too, since the hint is ignored there;
/// only the compiler must be held back.
inline void order_coherent_loads() noexcept {
#if defined(__x86_64__)
    __asm__ volatile("" ::: "memory");
#else
    order_device_loads();
#endif
}

/// No later load is started before every earlier branch is decided: none is started in vain.
/// It orders nothing that a caller could see; it saves round trips that a wrong guess would cost.
inline void speculation_barrier() noexcept {
#if defined(__x86_64__)
    __asm__ volatile("lfence" ::: "memory");
#endif
}

} // namespace barmap::copy
