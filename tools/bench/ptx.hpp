// SPDX-License-Identifier: MIT
#pragma once

/// The GPU kernels in PTX 6.4 for sm_70, which every driver from R418 on compiles for its GPU.
namespace barmap::tool {

// barmap_pingpong(doorbell, answer, rounds): for i = 1..rounds waits until *doorbell == i, then
// stores i to *answer; relaxed, since no data goes with it: a release would first fence, for 0.7
// us. Ends early when the doorbell's top bit is set, or when nothing has come for 2^35 cycles (17 s
// at 2 GHz).
//
// barmap_count(counter, bytes, last, stop, pace): each thread owns a word of min(bytes, 8) bytes
// and stores 1..last to it, at least `pace` cycles apart. Looks at *stop every 256 steps only: a
// look is a read over PCIe and takes longer than a step.
//
// barmap_fill(address, bytes, seed): see fill_by_kernel().
//
// barmap_consume(gpu_flag, cpu_flags, rounds, data, words): each block has a word of cpu_flags,
// which thread 0 sets to 1 when it runs. Then for i = 1..rounds: waits until *gpu_flag == i, checks
// that its share of the data words are all i & 1, and answers i + 1, with the top bit set if one
// was not.
//
// barmap_produce(gpu_flag, cpu_flags, rounds, data, words, times): for i = 1..rounds+1: sets its
// share of the data words to i & 1, but not in the first round, then its word of cpu_flags to i,
// and waits until *gpu_flag == i. times gets two words of each block: the nanosecond when the first
// round ended, and when the last one did.
//
// Both: without data (words == 0) the flags are relaxed, as in barmap_pingpong; with data they are
// acquired and released. They end early as barmap_pingpong does, at the top bit of *gpu_flag.
inline constexpr char const* ptx = R"(
.version 6.4
.target sm_70
.address_size 64

.visible .entry barmap_pingpong(
    .param .u64 p_doorbell, .param .u64 p_answer, .param .u64 p_rounds)
{
    .reg .pred %p<4>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [p_doorbell];
    ld.param.u64 %rd2, [p_answer];
    ld.param.u64 %rd3, [p_rounds];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u64 %rd4, 0;
ROUND:
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra DONE;
    add.u64 %rd4, %rd4, 1;
    mov.u64 %rd6, %clock64;
    mov.u32 %r1, 0;
SPIN:
    ld.relaxed.sys.global.u64 %rd5, [%rd1];
    setp.eq.u64 %p1, %rd5, %rd4;
    @%p1 bra ANSWER;
    add.u32 %r1, %r1, 1;
    and.b32 %r2, %r1, 1023;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    setp.lt.s64 %p2, %rd5, 0;
    @%p2 bra DONE;
    mov.u64 %rd7, %clock64;
    sub.u64 %rd8, %rd7, %rd6;
    shr.u64 %rd8, %rd8, 35;
    setp.eq.u64 %p3, %rd8, 0;
    @%p3 bra SPIN;
    bra DONE;
ANSWER:
    st.relaxed.sys.global.u64 [%rd2], %rd4;
    bra ROUND;
DONE:
    ret;
}

.visible .entry barmap_count(
    .param .u64 p_counter, .param .u32 p_bytes, .param .u64 p_last, .param .u64 p_stop,
    .param .u32 p_pace)
{
    .reg .pred %p<8>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [p_counter];
    ld.param.u32 %r1, [p_bytes];
    ld.param.u64 %rd2, [p_last];
    ld.param.u64 %rd3, [p_stop];
    ld.param.u32 %r2, [p_pace];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd3, %rd3;
    min.u32 %r4, %r1, 8;
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd4, %r3, %r4;
    add.u64 %rd1, %rd1, %rd4;
    cvt.u64.u32 %rd7, %r2;
    mov.u64 %rd5, 0;
    mov.u64 %rd6, %clock64;
STEP:
    setp.ge.u64 %p1, %rd5, %rd2;
    @%p1 bra DONE;
    add.u64 %rd5, %rd5, 1;
    cvt.u32.u64 %r5, %rd5;
    setp.eq.u32 %p2, %r4, 8;
    @%p2 bra STORE8;
    setp.eq.u32 %p2, %r4, 4;
    @%p2 bra STORE4;
    setp.eq.u32 %p2, %r4, 2;
    @%p2 bra STORE2;
    st.volatile.global.u8 [%rd1], %r5;
    bra STORED;
STORE2:
    st.volatile.global.u16 [%rd1], %r5;
    bra STORED;
STORE4:
    st.volatile.global.u32 [%rd1], %r5;
    bra STORED;
STORE8:
    st.volatile.global.u64 [%rd1], %rd5;
STORED:
    membar.sys;
WAIT:
    mov.u64 %rd8, %clock64;
    sub.u64 %rd9, %rd8, %rd6;
    setp.lt.u64 %p3, %rd9, %rd7;
    @%p3 bra WAIT;
    mov.u64 %rd6, %rd8;
    and.b64 %rd10, %rd5, 255;
    setp.ne.u64 %p4, %rd10, 0;
    @%p4 bra STEP;
    ld.volatile.global.u32 %r6, [%rd3];
    setp.eq.u32 %p5, %r6, 0;
    @%p5 bra STEP;
DONE:
    ret;
}

.visible .entry barmap_fill(
    .param .u64 p_address, .param .u64 p_bytes, .param .u64 p_seed)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [p_address];
    ld.param.u64 %rd2, [p_bytes];
    ld.param.u64 %rd3, [p_seed];
    cvta.to.global.u64 %rd1, %rd1;
    mul.lo.u64 %rd3, %rd3, 29;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %rd4, %r1, %r2;
    cvt.u64.u32 %rd5, %r3;
    add.u64 %rd4, %rd4, %rd5;
    mul.wide.u32 %rd5, %r4, %r2;
NEXT:
    setp.ge.u64 %p1, %rd4, %rd2;
    @%p1 bra DONE;
    mul.lo.u64 %rd6, %rd4, 131;
    add.u64 %rd6, %rd6, %rd3;
    shr.u64 %rd7, %rd4, 8;
    add.u64 %rd6, %rd6, %rd7;
    cvt.u32.u64 %r5, %rd6;
    add.u64 %rd8, %rd1, %rd4;
    st.global.u8 [%rd8], %r5;
    add.u64 %rd4, %rd4, %rd5;
    bra NEXT;
DONE:
    ret;
}

.visible .entry barmap_consume(
    .param .u64 p_gpu_flag, .param .u64 p_cpu_flags, .param .u32 p_rounds,
    .param .u64 p_data, .param .u64 p_words)
{
    .reg .pred %p<10>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<14>;
    ld.param.u64 %rd1, [p_gpu_flag];
    ld.param.u64 %rd2, [p_cpu_flags];
    ld.param.u32 %r1, [p_rounds];
    ld.param.u64 %rd3, [p_data];
    ld.param.u64 %rd4, [p_words];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %nctaid.x;
    mul.wide.u32 %rd5, %r2, 4;
    add.u64 %rd2, %rd2, %rd5;
    mul.wide.u32 %rd5, %r2, %r4;
    cvt.u64.u32 %rd6, %r3;
    add.u64 %rd5, %rd5, %rd6;
    mul.wide.u32 %rd6, %r5, %r4;
    setp.ne.u32 %p1, %r3, 0;
    setp.eq.u64 %p2, %rd4, 0;
    mov.u32 %r6, 1;
    @%p1 bra ROUND;
    st.relaxed.sys.global.u32 [%rd2], %r6;
ROUND:
    setp.gt.u32 %p3, %r6, %r1;
    @%p3 bra DONE;
    mov.u32 %r10, 0;
    @%p1 bra WAITED;
    mov.u64 %rd7, %clock64;
    mov.u32 %r7, 0;
SPIN:
    @%p2 ld.relaxed.sys.global.u32 %r8, [%rd1];
    @!%p2 ld.acquire.sys.global.u32 %r8, [%rd1];
    setp.eq.u32 %p4, %r8, %r6;
    @%p4 bra WAITED;
    add.u32 %r7, %r7, 1;
    and.b32 %r9, %r7, 1023;
    setp.ne.u32 %p4, %r9, 0;
    @%p4 bra SPIN;
    mov.u32 %r10, 1;
    setp.lt.s32 %p4, %r8, 0;
    @%p4 bra WAITED;
    mov.u64 %rd8, %clock64;
    sub.u64 %rd8, %rd8, %rd7;
    shr.u64 %rd8, %rd8, 35;
    setp.ne.u64 %p4, %rd8, 0;
    @%p4 bra WAITED;
    mov.u32 %r10, 0;
    bra SPIN;
WAITED:
    setp.ne.u32 %p5, %r10, 0;
    bar.red.or.pred %p6, 0, %p5;
    @%p6 bra DONE;
    mov.u32 %r11, 0;
    @%p2 bra ANSWER;
    and.b32 %r12, %r6, 1;
    mov.u64 %rd9, %rd5;
LOOK:
    setp.ge.u64 %p7, %rd9, %rd4;
    @%p7 bra LOOKED;
    shl.b64 %rd10, %rd9, 2;
    add.u64 %rd10, %rd3, %rd10;
    ld.global.u32 %r13, [%rd10];
    xor.b32 %r13, %r13, %r12;
    or.b32 %r11, %r11, %r13;
    add.u64 %rd9, %rd9, %rd6;
    bra LOOK;
LOOKED:
    setp.ne.u32 %p8, %r11, 0;
    bar.red.or.pred %p9, 0, %p8;
    selp.u32 %r11, 0x80000000, 0, %p9;
ANSWER:
    add.u32 %r6, %r6, 1;
    @%p1 bra ROUND;
    or.b32 %r14, %r6, %r11;
    @%p2 st.relaxed.sys.global.u32 [%rd2], %r14;
    @!%p2 st.release.sys.global.u32 [%rd2], %r14;
    bra ROUND;
DONE:
    ret;
}

.visible .entry barmap_produce(
    .param .u64 p_gpu_flag, .param .u64 p_cpu_flags, .param .u32 p_rounds,
    .param .u64 p_data, .param .u64 p_words, .param .u64 p_times)
{
    .reg .pred %p<10>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [p_gpu_flag];
    ld.param.u64 %rd2, [p_cpu_flags];
    ld.param.u32 %r1, [p_rounds];
    ld.param.u64 %rd3, [p_data];
    ld.param.u64 %rd4, [p_words];
    ld.param.u64 %rd11, [p_times];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    cvta.to.global.u64 %rd11, %rd11;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %nctaid.x;
    mul.wide.u32 %rd5, %r2, 4;
    add.u64 %rd2, %rd2, %rd5;
    mul.wide.u32 %rd5, %r2, 16;
    add.u64 %rd11, %rd11, %rd5;
    mul.wide.u32 %rd5, %r2, %r4;
    cvt.u64.u32 %rd6, %r3;
    add.u64 %rd5, %rd5, %rd6;
    mul.wide.u32 %rd6, %r5, %r4;
    setp.ne.u32 %p1, %r3, 0;
    setp.eq.u64 %p2, %rd4, 0;
    add.u32 %r1, %r1, 1;
    mov.u32 %r6, 1;
    mov.u64 %rd12, 0;
STEP:
    setp.eq.u32 %p3, %r6, 1;
    or.pred %p3, %p3, %p2;
    @%p3 bra FILLED;
    and.b32 %r12, %r6, 1;
    mov.u64 %rd9, %rd5;
FILL:
    setp.ge.u64 %p7, %rd9, %rd4;
    @%p7 bra FILLED;
    shl.b64 %rd10, %rd9, 2;
    add.u64 %rd10, %rd3, %rd10;
    st.global.u32 [%rd10], %r12;
    add.u64 %rd9, %rd9, %rd6;
    bra FILL;
FILLED:
    bar.sync 0;
    mov.u32 %r10, 0;
    @%p1 bra WAITED;
    @%p2 st.relaxed.sys.global.u32 [%rd2], %r6;
    @!%p2 st.release.sys.global.u32 [%rd2], %r6;
    mov.u64 %rd7, %clock64;
    mov.u32 %r7, 0;
SPIN:
    @%p2 ld.relaxed.sys.global.u32 %r8, [%rd1];
    @!%p2 ld.acquire.sys.global.u32 %r8, [%rd1];
    setp.eq.u32 %p4, %r8, %r6;
    @%p4 bra WAITED;
    add.u32 %r7, %r7, 1;
    and.b32 %r9, %r7, 1023;
    setp.ne.u32 %p4, %r9, 0;
    @%p4 bra SPIN;
    mov.u32 %r10, 1;
    setp.lt.s32 %p4, %r8, 0;
    @%p4 bra WAITED;
    mov.u64 %rd8, %clock64;
    sub.u64 %rd8, %rd8, %rd7;
    shr.u64 %rd8, %rd8, 35;
    setp.ne.u64 %p4, %rd8, 0;
    @%p4 bra WAITED;
    mov.u32 %r10, 0;
    bra SPIN;
WAITED:
    setp.ne.u32 %p5, %r10, 0;
    bar.red.or.pred %p6, 0, %p5;
    @%p6 bra DONE;
    mov.u64 %rd13, %globaltimer;
    setp.eq.u32 %p8, %r6, 1;
    @%p8 mov.u64 %rd12, %rd13;
    add.u32 %r6, %r6, 1;
    setp.le.u32 %p9, %r6, %r1;
    @%p9 bra STEP;
    @%p1 bra DONE;
    st.global.u64 [%rd11], %rd12;
    st.global.u64 [%rd11+8], %rd13;
DONE:
    ret;
}
)";

} // namespace barmap::tool
