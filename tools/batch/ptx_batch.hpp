// SPDX-License-Identifier: MIT
#pragma once

/// The GPU kernels of `barmap batch`, in PTX 6.4 for sm_70 as those in ptx.hpp.
namespace barmap::tool {

// barmap_copy_pieces(pieces, count): a warp copies a piece: 16 bytes a load, four of them
// under way at once, where both sides are aligned for that, else single bytes. `pieces` are
// copy_piece: three words of 8 bytes, to, from and bytes. Neighbours go to
// different blocks, so that few pieces use all SMs.
//
// barmap_spin(time, ns): waits that long, then stores the time at the end. ns = 0 stores the time
// at which it began.
//
// barmap_write_words(source, host, back, words, value, ns): one block. source = ~value, which a
// copy that does not wait for this kernel reads; host and back = 0, which a kernel reads that does
// not wait for the copies; after that many nanoseconds source = value. Each has `words` words of 4
// bytes.
//
// barmap_check_words(back, words, value, counts): counts[0] += the words that are ~value;
// counts[1] += the others that are not value.
inline constexpr char const* ptx_batch = R"(
.version 6.4
.target sm_70
.address_size 64

.visible .entry barmap_copy_pieces(
    .param .u64 p_pieces, .param .u32 p_count)
{
    .reg .pred %p<6>;
    .reg .b32 %r<28>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [p_pieces];
    ld.param.u32 %r1, [p_count];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %tid.x;
    mov.u32 %r6, %ntid.x;
    and.b32 %r7, %r5, 31;
    cvt.u64.u32 %rd2, %r7;
    shr.u32 %r5, %r5, 5;
    shr.u32 %r6, %r6, 5;
    mad.lo.u32 %r8, %r5, %r4, %r3;
    mul.lo.u32 %r9, %r6, %r4;
PIECE:
    setp.ge.u32 %p2, %r8, %r1;
    @%p2 bra DONE;
    mul.wide.u32 %rd3, %r8, 24;
    add.u64 %rd3, %rd1, %rd3;
    ld.global.u64 %rd4, [%rd3];
    ld.global.u64 %rd5, [%rd3+8];
    ld.global.u64 %rd6, [%rd3+16];
    cvta.to.global.u64 %rd7, %rd4;
    cvta.to.global.u64 %rd8, %rd5;
    or.b64 %rd9, %rd7, %rd8;
    and.b64 %rd9, %rd9, 15;
    mov.u64 %rd10, 0;
    setp.ne.u64 %p3, %rd9, 0;
    @%p3 bra BYTES;
    and.b64 %rd10, %rd6, -16;
    shl.b64 %rd11, %rd2, 4;
FOUR:
    add.u64 %rd12, %rd11, 1536;
    setp.ge.u64 %p4, %rd12, %rd10;
    @%p4 bra ONE;
    add.u64 %rd13, %rd8, %rd11;
    add.u64 %rd14, %rd7, %rd11;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd13];
    ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd13+512];
    ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%rd13+1024];
    ld.global.v4.u32 {%r22, %r23, %r24, %r25}, [%rd13+1536];
    st.global.v4.u32 [%rd14], {%r10, %r11, %r12, %r13};
    st.global.v4.u32 [%rd14+512], {%r14, %r15, %r16, %r17};
    st.global.v4.u32 [%rd14+1024], {%r18, %r19, %r20, %r21};
    st.global.v4.u32 [%rd14+1536], {%r22, %r23, %r24, %r25};
    add.u64 %rd11, %rd11, 2048;
    bra FOUR;
ONE:
    setp.ge.u64 %p4, %rd11, %rd10;
    @%p4 bra BYTES;
    add.u64 %rd13, %rd8, %rd11;
    add.u64 %rd14, %rd7, %rd11;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd13];
    st.global.v4.u32 [%rd14], {%r10, %r11, %r12, %r13};
    add.u64 %rd11, %rd11, 512;
    bra ONE;
BYTES:
    add.u64 %rd11, %rd10, %rd2;
BYTE:
    setp.ge.u64 %p4, %rd11, %rd6;
    @%p4 bra NEXT;
    add.u64 %rd13, %rd8, %rd11;
    add.u64 %rd14, %rd7, %rd11;
    ld.global.u8 %r10, [%rd13];
    st.global.u8 [%rd14], %r10;
    add.u64 %rd11, %rd11, 32;
    bra BYTE;
NEXT:
    add.u32 %r8, %r8, %r9;
    bra PIECE;
DONE:
    ret;
}

.visible .entry barmap_spin(.param .u64 p_time, .param .u64 p_ns)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p_time];
    ld.param.u64 %rd2, [p_ns];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u64 %rd3, %globaltimer;
SPIN:
    mov.u64 %rd4, %globaltimer;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, %rd2;
    @%p1 bra SPIN;
    st.global.u64 [%rd1], %rd4;
    ret;
}

.visible .entry barmap_write_words(
    .param .u64 p_source, .param .u64 p_host, .param .u64 p_back, .param .u32 p_words,
    .param .u32 p_value, .param .u64 p_ns)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [p_source];
    ld.param.u64 %rd2, [p_host];
    ld.param.u64 %rd3, [p_back];
    ld.param.u32 %r1, [p_words];
    ld.param.u32 %r2, [p_value];
    ld.param.u64 %rd4, [p_ns];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
    not.b32 %r5, %r2;
    mov.u32 %r7, 0;
    mov.u32 %r6, %r3;
CLEAR:
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 bra CLEARED;
    mul.wide.u32 %rd5, %r6, 4;
    add.u64 %rd6, %rd1, %rd5;
    add.u64 %rd7, %rd2, %rd5;
    add.u64 %rd8, %rd3, %rd5;
    st.global.u32 [%rd6], %r5;
    st.global.u32 [%rd7], %r7;
    st.global.u32 [%rd8], %r7;
    add.u32 %r6, %r6, %r4;
    bra CLEAR;
CLEARED:
    membar.sys;
    bar.sync 0;
    mov.u64 %rd9, %globaltimer;
WAIT:
    mov.u64 %rd10, %globaltimer;
    sub.u64 %rd11, %rd10, %rd9;
    setp.lt.u64 %p2, %rd11, %rd4;
    @%p2 bra WAIT;
    mov.u32 %r6, %r3;
FILL:
    setp.ge.u32 %p3, %r6, %r1;
    @%p3 bra DONE;
    mul.wide.u32 %rd5, %r6, 4;
    add.u64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r2;
    add.u32 %r6, %r6, %r4;
    bra FILL;
DONE:
    ret;
}

.visible .entry barmap_check_words(
    .param .u64 p_back, .param .u32 p_words, .param .u32 p_value, .param .u64 p_counts)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p_back];
    ld.param.u32 %r1, [p_words];
    ld.param.u32 %r2, [p_value];
    ld.param.u64 %rd2, [p_counts];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
    not.b32 %r5, %r2;
    mov.u64 %rd3, 1;
LOOK:
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd5, %rd1, %rd4;
    ld.global.u32 %r6, [%rd5];
    add.u32 %r3, %r3, %r4;
    setp.eq.u32 %p2, %r6, %r2;
    @%p2 bra LOOK;
    setp.eq.u32 %p3, %r6, %r5;
    @%p3 red.global.add.u64 [%rd2], %rd3;
    @!%p3 red.global.add.u64 [%rd2+8], %rd3;
    bra LOOK;
DONE:
    ret;
}
)";

} // namespace barmap::tool
