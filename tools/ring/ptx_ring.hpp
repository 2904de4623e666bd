// SPDX-License-Identifier: MIT
// Made by scripts/ptx with clang 14 from ring_kernels.cu: change that, and run it again.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" // of clang, for more than 64 KiB in all

namespace barmap::tool {

/// The GPU kernels of `barmap ring`, in PTX 6.4 for sm_70 as those in ptx.hpp.
/// Each is described by the function in ring_kernels.cuh that it is named for. Parameters are the
/// handles of the rings, a ring_task, and where the ring_findings go; of those for many threads also
/// how many these are.
// clang-format off
inline constexpr char const* ptx_ring = R"(.version 6.4
.target sm_70
.address_size 64
)"
R"(.visible .entry barmap_ring_sink_thread_32(
.param .align 8 .b8 barmap_ring_sink_thread_32_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_32_param_1[24],
.param .u64 barmap_ring_sink_thread_32_param_2
)
{
.reg .pred %p<43>;
.reg .b16 %rs<16>;
.reg .b32 %r<22>;
.reg .b64 %rd<194>;
ld.param.u64 %rd87, [barmap_ring_sink_thread_32_param_2];
cvta.to.global.u64 %rd1, %rd87;
ld.param.u64 %rd88, [barmap_ring_sink_thread_32_param_0];
cvta.to.global.u64 %rd2, %rd88;
ld.param.u64 %rd115, [barmap_ring_sink_thread_32_param_0+8];
ld.param.u64 %rd137, [barmap_ring_sink_thread_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_32_param_0+24];
add.s64 %rd139, %rd115, 8;
ld.relaxed.sys.u64 %rd193, [%rd139];
and.b64 %rd89, %rd193, %rd5;
shl.b64 %rd90, %rd89, 6;
add.s64 %rd174, %rd2, %rd90;
setp.lt.u64 %p8, %rd5, 4;
add.s64 %rd91, %rd5, 1;
shr.u64 %rd92, %rd91, 2;
selp.b64 %rd9, 1, %rd92, %p8;
ld.param.u64 %rd10, [barmap_ring_sink_thread_32_param_1+16];
setp.eq.s64 %p9, %rd10, 0;
selp.b32 %r1, 2, 4, %p9;
mov.u16 %rs6, 0;
mov.u64 %rd161, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_32_param_1];
mov.pred %p12, 0;
mov.u32 %r15, 3;
mov.u16 %rs14, %rs6;
mov.u64 %rd173, %rd9;
mov.u64 %rd165, %rd161;
mov.u64 %rd166, %rd161;
mov.u64 %rd167, %rd161;
mov.u64 %rd168, %rd161;
LBB0_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p10, %rs7, 0;
@%p10 bra LBB0_4;
add.s64 %rd193, %rd193, 1;
and.b64 %rd93, %rd193, %rd5;
shl.b64 %rd94, %rd93, 6;
add.s64 %rd174, %rd2, %rd94;
add.s64 %rd173, %rd173, -1;
setp.ne.s64 %p11, %rd173, 0;
@%p11 bra LBB0_4;
st.relaxed.sys.u64 [%rd137], %rd193;
mov.u64 %rd173, %rd9;
LBB0_4:
cvta.global.u64 %rd118, %rd174;
add.s64 %rd31, %rd193, 1;
add.s64 %rd121, %rd118, 16;
add.s64 %rd124, %rd118, 32;
add.s64 %rd127, %rd118, 48;
mov.u16 %rs14, %rs6;
mov.u64 %rd180, %rd10;
bra.uni LBB0_5;
LBB0_17:
selp.u16 %rs14, 1, 0, %p41;
mov.pred %p42, %p12;
LBB0_19:
add.s64 %rd180, %rd180, -64;
@%p42 bra LBB0_5;
bra.uni LBB0_20;
LBB0_5:
setp.lt.u64 %p13, %rd180, 64;
cvt.u32.u64 %r11, %rd180;
add.s32 %r12, %r11, 1;
selp.b32 %r3, %r12, 64, %p13;
setp.eq.s32 %p14, %r3, 0;
mov.pred %p40, %p12;
@%p14 bra LBB0_11;
mov.u32 %r18, 0;
mov.pred %p40, -1;
bra.uni LBB0_7;
LBB0_10:
add.s32 %r18, %r18, 1;
setp.lt.u32 %p40, %r18, %r3;
setp.ne.s32 %p18, %r3, %r18;
mov.u16 %rs14, 0;
@%p18 bra LBB0_7;
bra.uni LBB0_11;
LBB0_7:
ld.relaxed.sys.v2.u64 {%rd48, %rd98}, [%rd118];
ld.relaxed.sys.v2.u64 {%rd49, %rd101}, [%rd121];
ld.relaxed.sys.v2.u64 {%rd50, %rd104}, [%rd124];
ld.acquire.sys.v2.u64 {%rd51, %rd107}, [%rd127];
setp.ne.s64 %p16, %rd107, %rd31;
@%p16 bra LBB0_10;
xor.b64 %rd109, %rd98, %rd31;
xor.b64 %rd110, %rd101, %rd31;
or.b64 %rd111, %rd110, %rd109;
xor.b64 %rd112, %rd104, %rd31;
or.b64 %rd113, %rd111, %rd112;
setp.ne.s64 %p17, %rd113, 0;
@%p17 bra LBB0_10;
mov.u32 %r19, 0;
mov.u16 %rs14, 1;
mov.u64 %rd181, %rd51;
mov.u64 %rd182, %rd50;
mov.u64 %rd183, %rd49;
mov.u64 %rd184, %rd48;
LBB0_11:
mov.pred %p42, %p12;
@%p40 bra LBB0_19;
ld.acquire.sys.u64 %rd114, [%rd115];
setp.eq.s64 %p20, %rd114, 0;
@%p20 bra LBB0_18;
ld.relaxed.sys.v2.u64 {%rd116, %rd117}, [%rd118];
ld.relaxed.sys.v2.u64 {%rd119, %rd120}, [%rd121];
ld.relaxed.sys.v2.u64 {%rd122, %rd123}, [%rd124];
ld.acquire.sys.v2.u64 {%rd125, %rd126}, [%rd127];
setp.ne.s64 %p22, %rd126, %rd31;
mov.pred %p41, %p12;
@%p22 bra LBB0_15;
xor.b64 %rd128, %rd117, %rd31;
xor.b64 %rd129, %rd120, %rd31;
or.b64 %rd130, %rd129, %rd128;
xor.b64 %rd131, %rd123, %rd31;
or.b64 %rd132, %rd130, %rd131;
setp.eq.s64 %p41, %rd132, 0;
LBB0_15:
mov.u32 %r19, %r15;
@!%p41 bra LBB0_17;
bra.uni LBB0_16;
LBB0_16:
mov.u32 %r19, 0;
mov.u64 %rd181, %rd125;
mov.u64 %rd182, %rd122;
mov.u64 %rd183, %rd119;
mov.u64 %rd184, %rd116;
bra.uni LBB0_17;
LBB0_18:
setp.gt.u64 %p42, %rd180, 63;
selp.b32 %r19, %r1, %r19, %p13;
bra.uni LBB0_19;
LBB0_20:
setp.ne.s32 %p25, %r19, 0;
@%p25 bra LBB0_23;
add.s64 %rd75, %rd11, %rd168;
add.s64 %rd143, %rd184, -3335678366873096957;
xor.b64 %rd144, %rd143, %rd183;
add.s64 %rd145, %rd184, -6671356733746193914;
xor.b64 %rd146, %rd145, %rd182;
or.b64 %rd147, %rd146, %rd144;
add.s64 %rd148, %rd184, 8439708973090260745;
xor.b64 %rd149, %rd148, %rd181;
or.b64 %rd76, %rd147, %rd149;
add.s64 %rd168, %rd168, 1;
add.s64 %rd150, %rd181, %rd161;
add.s64 %rd151, %rd150, %rd182;
add.s64 %rd152, %rd151, %rd183;
add.s64 %rd161, %rd152, %rd184;
mul.lo.s64 %rd153, %rd75, -7046029254386353131;
xor.b64 %rd154, %rd153, %rd184;
or.b64 %rd155, %rd154, %rd76;
setp.eq.s64 %p28, %rd155, 0;
@%p28 bra LBB0_1;
mul.lo.s64 %rd156, %rd184, -1018231460777725123;
sub.s64 %rd157, %rd156, %rd75;
setp.ne.s64 %p29, %rd76, 0;
setp.gt.s64 %p30, %rd157, 1099511627776;
or.pred %p31, %p29, %p30;
setp.lt.s64 %p32, %rd157, -1099511627776;
or.pred %p33, %p31, %p32;
selp.u64 %rd158, 1, 0, %p33;
add.s64 %rd167, %rd167, %rd158;
setp.lt.s64 %p34, %rd157, 0;
not.pred %p35, %p33;
and.pred %p36, %p35, %p34;
selp.u64 %rd159, 1, 0, %p36;
add.s64 %rd166, %rd166, %rd159;
setp.gt.s64 %p37, %rd157, 0;
and.pred %p38, %p35, %p37;
selp.u64 %rd160, 1, 0, %p38;
add.s64 %rd165, %rd165, %rd160;
bra.uni LBB0_1;
LBB0_23:
add.s64 %rd133, %rd137, 8;
mov.u64 %rd134, 1;
st.release.sys.u64 [%rd133], %rd134;
cvt.s64.s32 %rd135, %r19;
st.global.u64 [%rd1], %rd168;
st.global.u64 [%rd1+8], %rd167;
st.global.u64 [%rd1+16], %rd166;
st.global.u64 [%rd1+24], %rd165;
st.global.u64 [%rd1+32], %rd161;
st.global.u64 [%rd1+40], %rd135;
st.global.u64 [%rd1+48], %rd134;
mov.u64 %rd136, 0;
st.global.u64 [%rd1+56], %rd136;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p26, %rs11, 0;
@%p26 bra LBB0_26;
setp.ne.s64 %p27, %rd173, 1;
mov.u64 %rd193, %rd31;
@%p27 bra LBB0_26;
st.relaxed.sys.u64 [%rd137], %rd31;
mov.u64 %rd193, %rd31;
LBB0_26:
st.relaxed.sys.u64 [%rd139], %rd193;
st.relaxed.sys.u64 [%rd137], %rd193;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_32(
.param .align 8 .b8 barmap_ring_sink_warp_32_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_32_param_1[24],
.param .u64 barmap_ring_sink_warp_32_param_2
)
{
.reg .pred %p<44>;
.reg .b32 %r<63>;
.reg .b64 %rd<256>;
ld.param.u64 %rd109, [barmap_ring_sink_warp_32_param_2];
cvta.to.global.u64 %rd1, %rd109;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd110, [barmap_ring_sink_warp_32_param_0];
cvta.to.global.u64 %rd2, %rd110;
ld.param.u64 %rd141, [barmap_ring_sink_warp_32_param_0+8];
ld.param.u64 %rd176, [barmap_ring_sink_warp_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_32_param_0+24];
add.s64 %rd174, %rd141, 8;
ld.relaxed.sys.u64 %rd221, [%rd174];
ld.param.u64 %rd209, [barmap_ring_sink_warp_32_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd111, %rd5, 1;
shr.u64 %rd112, %rd111, 2;
selp.b64 %rd9, 1, %rd112, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_32_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd107, 0;
mov.u32 %r24, 0;
mov.u32 %r27, -1;
mov.pred %p25, -1;
mov.pred %p22, 0;
mov.u64 %rd251, %rd107;
mov.u64 %rd234, %rd221;
mov.u64 %rd252, %rd107;
mov.u64 %rd253, %rd107;
mov.u64 %rd254, %rd107;
mov.u64 %rd255, %rd107;
bra.uni LBB1_1;
LBB1_28:
cvt.u64.u32 %rd196, %r57;
add.s64 %rd209, %rd209, %rd196;
LBB1_1:
mov.u64 %rd216, %rd107;
bra.uni LBB1_2;
LBB1_22:
mov.pred %p43, %p25;
LBB1_23:
add.s64 %rd216, %rd216, 1;
mov.u32 %r62, %r58;
@%p43 bra LBB1_2;
bra.uni LBB1_24;
LBB1_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd31, %r23;
add.s64 %rd126, %rd234, %rd31;
and.b64 %rd127, %rd126, %rd5;
shl.b64 %rd128, %rd127, 6;
add.s64 %rd129, %rd2, %rd128;
cvta.global.u64 %rd116, %rd129;
add.s64 %rd32, %rd126, 1;
ld.relaxed.sys.v2.u64 {%rd114, %rd115}, [%rd116];
add.s64 %rd119, %rd116, 16;
ld.relaxed.sys.v2.u64 {%rd117, %rd118}, [%rd119];
add.s64 %rd122, %rd116, 32;
ld.relaxed.sys.v2.u64 {%rd120, %rd121}, [%rd122];
add.s64 %rd125, %rd116, 48;
ld.acquire.sys.v2.u64 {%rd123, %rd124}, [%rd125];
setp.ne.s64 %p6, %rd124, %rd32;
mov.u32 %r53, %r24;
@%p6 bra LBB1_4;
xor.b64 %rd130, %rd32, %rd115;
xor.b64 %rd131, %rd118, %rd32;
or.b64 %rd132, %rd131, %rd130;
xor.b64 %rd133, %rd121, %rd32;
or.b64 %rd134, %rd132, %rd133;
setp.eq.s64 %p7, %rd134, 0;
selp.u32 %r53, 1, 0, %p7;
LBB1_4:
cvt.u32.u64 %r30, %rd31;
{ .reg .pred p; setp.ne.u32 p, %r53, 0; vote.sync.ballot.b32 %r25, p, %r27; }
not.b32 %r29, %r25;
{ .reg .b32 r; brev.b32 r, %r29; bfind.shiftamt.u32 %r28, r; }
min.u32 %r57, %r28, 32;
setp.ge.u32 %p8, %r30, %r57;
@%p8 bra LBB1_6;
mov.u64 %rd217, %rd123;
mov.u64 %rd218, %rd120;
mov.u64 %rd219, %rd117;
mov.u64 %rd220, %rd114;
LBB1_6:
cvt.u64.u32 %rd135, %r57;
add.s64 %rd234, %rd234, %rd135;
sub.s64 %rd136, %rd234, %rd221;
setp.lt.u64 %p9, %rd136, %rd9;
@%p9 bra LBB1_9;
bar.warp.sync %r27;
setp.ne.s32 %p10, %r30, 0;
mov.u64 %rd221, %rd234;
@%p10 bra LBB1_9;
st.release.sys.u64 [%rd176], %rd234;
mov.u64 %rd221, %rd234;
LBB1_9:
setp.ne.s32 %p11, %r57, 0;
mov.u32 %r62, 0;
@%p11 bra LBB1_24;
setp.lt.u64 %p42, %rd216, %rd11;
and.b64 %rd139, %rd216, 63;
setp.ne.s64 %p12, %rd139, 63;
and.pred %p13, %p42, %p12;
mov.u32 %r57, 0;
@%p13 bra LBB1_22;
ld.acquire.sys.u64 %rd140, [%rd141];
setp.ne.s64 %p14, %rd140, 0;
selp.u32 %r36, 1, 0, %p14;
{ .reg .pred p; setp.ne.u32 p, %r36, 0; vote.sync.ballot.b32 %r35, p, %r27; }
not.b32 %r39, %r35;
{ .reg .b32 r; brev.b32 r, %r39; bfind.shiftamt.u32 %r38, r; }
setp.lt.u32 %p15, %r38, 32;
@%p15 bra LBB1_20;
add.s64 %rd154, %rd234, %rd31;
and.b64 %rd155, %rd154, %rd5;
shl.b64 %rd156, %rd155, 6;
add.s64 %rd157, %rd2, %rd156;
cvta.global.u64 %rd144, %rd157;
add.s64 %rd49, %rd154, 1;
ld.relaxed.sys.v2.u64 {%rd142, %rd143}, [%rd144];
add.s64 %rd147, %rd144, 16;
ld.relaxed.sys.v2.u64 {%rd145, %rd146}, [%rd147];
add.s64 %rd150, %rd144, 32;
ld.relaxed.sys.v2.u64 {%rd148, %rd149}, [%rd150];
add.s64 %rd153, %rd144, 48;
ld.acquire.sys.v2.u64 {%rd151, %rd152}, [%rd153];
setp.ne.s64 %p17, %rd152, %rd49;
mov.u32 %r54, 0;
@%p17 bra LBB1_14;
xor.b64 %rd158, %rd143, %rd49;
xor.b64 %rd159, %rd146, %rd49;
or.b64 %rd160, %rd159, %rd158;
xor.b64 %rd161, %rd149, %rd49;
or.b64 %rd162, %rd160, %rd161;
setp.eq.s64 %p18, %rd162, 0;
selp.u32 %r54, 1, 0, %p18;
LBB1_14:
{ .reg .pred p; setp.ne.u32 p, %r54, 0; vote.sync.ballot.b32 %r42, p, %r27; }
not.b32 %r46, %r42;
{ .reg .b32 r; brev.b32 r, %r46; bfind.shiftamt.u32 %r45, r; }
min.u32 %r57, %r45, 32;
setp.ge.u32 %p19, %r30, %r57;
@%p19 bra LBB1_16;
mov.u64 %rd217, %rd151;
mov.u64 %rd218, %rd148;
mov.u64 %rd219, %rd145;
mov.u64 %rd220, %rd142;
LBB1_16:
cvt.u64.u32 %rd163, %r57;
add.s64 %rd234, %rd234, %rd163;
sub.s64 %rd164, %rd234, %rd221;
setp.lt.u64 %p20, %rd164, %rd9;
@%p20 bra LBB1_19;
bar.warp.sync %r27;
setp.ne.s32 %p21, %r30, 0;
mov.u64 %rd221, %rd234;
@%p21 bra LBB1_19;
st.release.sys.u64 [%rd176], %rd234;
mov.u64 %rd221, %rd234;
LBB1_19:
setp.eq.s32 %p23, %r57, 0;
selp.b32 %r58, 3, 0, %p23;
mov.pred %p42, %p22;
bra.uni LBB1_21;
LBB1_20:
setp.lt.u64 %p16, %rd216, %rd11;
selp.b32 %r58, %r58, %r1, %p16;
mov.u32 %r57, 0;
LBB1_21:
mov.pred %p43, %p22;
@!%p42 bra LBB1_23;
bra.uni LBB1_22;
LBB1_24:
setp.ne.s32 %p26, %r62, 0;
@%p26 bra LBB1_29;
cvt.u32.u64 %r51, %rd10;
setp.le.u32 %p30, %r57, %r51;
@%p30 bra LBB1_28;
add.s64 %rd91, %rd209, %rd10;
add.s64 %rd178, %rd220, -3335678366873096957;
xor.b64 %rd179, %rd178, %rd219;
add.s64 %rd180, %rd220, -6671356733746193914;
xor.b64 %rd181, %rd180, %rd218;
or.b64 %rd182, %rd181, %rd179;
add.s64 %rd183, %rd220, 8439708973090260745;
xor.b64 %rd184, %rd183, %rd217;
or.b64 %rd92, %rd182, %rd184;
add.s64 %rd255, %rd255, 1;
add.s64 %rd185, %rd217, %rd251;
add.s64 %rd186, %rd185, %rd218;
add.s64 %rd187, %rd186, %rd219;
add.s64 %rd251, %rd187, %rd220;
mul.lo.s64 %rd188, %rd91, -7046029254386353131;
xor.b64 %rd189, %rd220, %rd188;
or.b64 %rd190, %rd92, %rd189;
setp.eq.s64 %p31, %rd190, 0;
@%p31 bra LBB1_28;
mul.lo.s64 %rd191, %rd220, -1018231460777725123;
sub.s64 %rd192, %rd191, %rd91;
setp.ne.s64 %p32, %rd92, 0;
setp.gt.s64 %p33, %rd192, 1099511627776;
or.pred %p34, %p32, %p33;
setp.lt.s64 %p35, %rd192, -1099511627776;
or.pred %p36, %p34, %p35;
selp.u64 %rd193, 1, 0, %p36;
add.s64 %rd254, %rd254, %rd193;
setp.lt.s64 %p37, %rd192, 0;
not.pred %p38, %p36;
and.pred %p39, %p38, %p37;
selp.u64 %rd194, 1, 0, %p39;
add.s64 %rd253, %rd253, %rd194;
setp.gt.s64 %p40, %rd192, 0;
and.pred %p41, %p38, %p40;
selp.u64 %rd195, 1, 0, %p41;
add.s64 %rd252, %rd252, %rd195;
bra.uni LBB1_28;
LBB1_29:
setp.ne.s32 %p27, %r30, 0;
mov.u64 %rd197, 1;
@%p27 bra LBB1_31;
add.s64 %rd167, %rd176, 8;
st.release.sys.u64 [%rd167], %rd197;
LBB1_31:
cvt.s64.s32 %rd169, %r62;
shl.b64 %rd170, %rd10, 6;
add.s64 %rd171, %rd1, %rd170;
st.global.u64 [%rd171], %rd255;
st.global.u64 [%rd171+8], %rd254;
st.global.u64 [%rd171+16], %rd253;
st.global.u64 [%rd171+24], %rd252;
st.global.u64 [%rd171+32], %rd251;
st.global.u64 [%rd171+40], %rd169;
st.global.u64 [%rd171+48], %rd197;
mov.u64 %rd173, 0;
st.global.u64 [%rd171+56], %rd173;
@%p27 bra LBB1_33;
st.relaxed.sys.u64 [%rd174], %rd234;
LBB1_33:
bar.warp.sync %r27;
@%p27 bra LBB1_35;
st.release.sys.u64 [%rd176], %rd234;
LBB1_35:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_56(
.param .align 8 .b8 barmap_ring_sink_thread_56_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_56_param_1[24],
.param .u64 barmap_ring_sink_thread_56_param_2
)
{
.reg .pred %p<41>;
.reg .b16 %rs<16>;
.reg .b32 %r<22>;
.reg .b64 %rd<253>;
ld.param.u64 %rd111, [barmap_ring_sink_thread_56_param_2];
cvta.to.global.u64 %rd1, %rd111;
ld.param.u64 %rd112, [barmap_ring_sink_thread_56_param_0];
cvta.to.global.u64 %rd2, %rd112;
ld.param.u64 %rd136, [barmap_ring_sink_thread_56_param_0+8];
ld.param.u64 %rd155, [barmap_ring_sink_thread_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_56_param_0+24];
add.s64 %rd157, %rd136, 8;
ld.relaxed.sys.u64 %rd252, [%rd157];
and.b64 %rd113, %rd252, %rd5;
shl.b64 %rd114, %rd113, 6;
add.s64 %rd207, %rd2, %rd114;
setp.lt.u64 %p6, %rd5, 4;
add.s64 %rd115, %rd5, 1;
shr.u64 %rd116, %rd115, 2;
selp.b64 %rd9, 1, %rd116, %p6;
ld.param.u64 %rd10, [barmap_ring_sink_thread_56_param_1+16];
setp.eq.s64 %p7, %rd10, 0;
selp.b32 %r1, 2, 4, %p7;
mov.u16 %rs6, 0;
mov.u64 %rd191, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_56_param_1];
mov.pred %p10, 0;
mov.u32 %r15, 3;
mov.pred %p13, -1;
mov.u16 %rs14, %rs6;
mov.u64 %rd206, %rd9;
mov.u64 %rd195, %rd191;
mov.u64 %rd196, %rd191;
mov.u64 %rd197, %rd191;
mov.u64 %rd198, %rd191;
LBB2_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p8, %rs7, 0;
@%p8 bra LBB2_4;
add.s64 %rd252, %rd252, 1;
and.b64 %rd117, %rd252, %rd5;
shl.b64 %rd118, %rd117, 6;
add.s64 %rd207, %rd2, %rd118;
add.s64 %rd206, %rd206, -1;
setp.ne.s64 %p9, %rd206, 0;
@%p9 bra LBB2_4;
st.release.sys.u64 [%rd155], %rd252;
mov.u64 %rd206, %rd9;
LBB2_4:
cvta.global.u64 %rd142, %rd207;
add.s64 %rd34, %rd252, 1;
add.s64 %rd138, %rd142, 56;
add.s64 %rd145, %rd142, 16;
add.s64 %rd148, %rd142, 32;
add.s64 %rd150, %rd142, 48;
mov.u16 %rs14, %rs6;
mov.u64 %rd216, %rd10;
bra.uni LBB2_5;
LBB2_17:
setp.eq.s64 %p22, %rd137, %rd34;
selp.u16 %rs14, 1, 0, %p22;
mov.pred %p40, %p10;
LBB2_19:
add.s64 %rd216, %rd216, -64;
@%p40 bra LBB2_5;
bra.uni LBB2_20;
LBB2_5:
mov.u32 %r2, %r19;
mov.u64 %rd45, %rd230;
mov.u64 %rd44, %rd229;
mov.u64 %rd43, %rd228;
mov.u64 %rd42, %rd227;
mov.u64 %rd41, %rd226;
mov.u64 %rd40, %rd225;
mov.u64 %rd39, %rd224;
setp.lt.u64 %p11, %rd216, 64;
cvt.u32.u64 %r11, %rd216;
add.s32 %r12, %r11, 1;
selp.b32 %r3, %r12, 64, %p11;
setp.eq.s32 %p12, %r3, 0;
mov.pred %p39, %p10;
@%p12 bra LBB2_11;
mov.u32 %r18, 0;
mov.pred %p39, %p13;
LBB2_7:
ld.acquire.sys.u64 %rd121, [%rd138];
setp.ne.s64 %p14, %rd121, %rd34;
@%p14 bra LBB2_9;
ld.relaxed.sys.v2.u64 {%rd230, %rd229}, [%rd142];
ld.relaxed.sys.v2.u64 {%rd228, %rd227}, [%rd145];
ld.relaxed.sys.v2.u64 {%rd226, %rd225}, [%rd148];
ld.relaxed.sys.u64 %rd224, [%rd150];
LBB2_9:
setp.eq.s64 %p15, %rd121, %rd34;
mov.u32 %r19, 0;
mov.u16 %rs14, 1;
@%p15 bra LBB2_11;
add.s32 %r18, %r18, 1;
setp.lt.u32 %p39, %r18, %r3;
setp.ne.s32 %p16, %r3, %r18;
mov.u16 %rs14, 0;
mov.u64 %rd224, %rd39;
mov.u64 %rd225, %rd40;
mov.u64 %rd226, %rd41;
mov.u64 %rd227, %rd42;
mov.u64 %rd228, %rd43;
mov.u64 %rd229, %rd44;
mov.u64 %rd230, %rd45;
mov.u32 %r19, %r2;
@%p16 bra LBB2_7;
LBB2_11:
mov.pred %p40, %p10;
@%p39 bra LBB2_19;
ld.acquire.sys.u64 %rd135, [%rd136];
setp.eq.s64 %p18, %rd135, 0;
@%p18 bra LBB2_18;
ld.acquire.sys.u64 %rd137, [%rd138];
setp.ne.s64 %p19, %rd137, %rd34;
@%p19 bra LBB2_15;
ld.relaxed.sys.v2.u64 {%rd237, %rd236}, [%rd142];
ld.relaxed.sys.v2.u64 {%rd235, %rd234}, [%rd145];
ld.relaxed.sys.v2.u64 {%rd233, %rd232}, [%rd148];
ld.relaxed.sys.u64 %rd231, [%rd150];
LBB2_15:
mov.u32 %r19, %r15;
@%p19 bra LBB2_17;
mov.u32 %r19, 0;
mov.u64 %rd224, %rd231;
mov.u64 %rd225, %rd232;
mov.u64 %rd226, %rd233;
mov.u64 %rd227, %rd234;
mov.u64 %rd228, %rd235;
mov.u64 %rd229, %rd236;
mov.u64 %rd230, %rd237;
bra.uni LBB2_17;
LBB2_18:
setp.gt.u64 %p40, %rd216, 63;
selp.b32 %r19, %r1, %r19, %p11;
bra.uni LBB2_19;
LBB2_20:
setp.ne.s32 %p24, %r19, 0;
@%p24 bra LBB2_23;
add.s64 %rd99, %rd11, %rd198;
add.s64 %rd161, %rd230, -3335678366873096957;
xor.b64 %rd162, %rd161, %rd229;
add.s64 %rd163, %rd230, -6671356733746193914;
xor.b64 %rd164, %rd163, %rd228;
or.b64 %rd165, %rd164, %rd162;
add.s64 %rd166, %rd230, 8439708973090260745;
xor.b64 %rd167, %rd166, %rd227;
or.b64 %rd168, %rd165, %rd167;
add.s64 %rd169, %rd230, 5104030606217163788;
xor.b64 %rd170, %rd169, %rd226;
or.b64 %rd171, %rd168, %rd170;
add.s64 %rd172, %rd230, 1768352239344066831;
xor.b64 %rd173, %rd172, %rd225;
or.b64 %rd174, %rd171, %rd173;
add.s64 %rd175, %rd230, -1567326127529030126;
xor.b64 %rd176, %rd175, %rd224;
or.b64 %rd100, %rd174, %rd176;
add.s64 %rd198, %rd198, 1;
add.s64 %rd177, %rd224, %rd191;
add.s64 %rd178, %rd177, %rd225;
add.s64 %rd179, %rd178, %rd226;
add.s64 %rd180, %rd179, %rd227;
add.s64 %rd181, %rd180, %rd228;
add.s64 %rd182, %rd181, %rd229;
add.s64 %rd191, %rd182, %rd230;
mul.lo.s64 %rd183, %rd99, -7046029254386353131;
xor.b64 %rd184, %rd183, %rd230;
or.b64 %rd185, %rd184, %rd100;
setp.eq.s64 %p27, %rd185, 0;
@%p27 bra LBB2_1;
mul.lo.s64 %rd186, %rd230, -1018231460777725123;
sub.s64 %rd187, %rd186, %rd99;
setp.ne.s64 %p28, %rd100, 0;
setp.gt.s64 %p29, %rd187, 1099511627776;
or.pred %p30, %p28, %p29;
setp.lt.s64 %p31, %rd187, -1099511627776;
or.pred %p32, %p30, %p31;
selp.u64 %rd188, 1, 0, %p32;
add.s64 %rd197, %rd197, %rd188;
setp.lt.s64 %p33, %rd187, 0;
not.pred %p34, %p32;
and.pred %p35, %p34, %p33;
selp.u64 %rd189, 1, 0, %p35;
add.s64 %rd196, %rd196, %rd189;
setp.gt.s64 %p36, %rd187, 0;
and.pred %p37, %p34, %p36;
selp.u64 %rd190, 1, 0, %p37;
add.s64 %rd195, %rd195, %rd190;
bra.uni LBB2_1;
LBB2_23:
add.s64 %rd151, %rd155, 8;
mov.u64 %rd152, 1;
st.release.sys.u64 [%rd151], %rd152;
cvt.s64.s32 %rd153, %r19;
st.global.u64 [%rd1], %rd198;
st.global.u64 [%rd1+8], %rd197;
st.global.u64 [%rd1+16], %rd196;
st.global.u64 [%rd1+24], %rd195;
st.global.u64 [%rd1+32], %rd191;
st.global.u64 [%rd1+40], %rd153;
st.global.u64 [%rd1+48], %rd152;
mov.u64 %rd154, 0;
st.global.u64 [%rd1+56], %rd154;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p25, %rs11, 0;
@%p25 bra LBB2_26;
setp.ne.s64 %p26, %rd206, 1;
mov.u64 %rd252, %rd34;
@%p26 bra LBB2_26;
st.release.sys.u64 [%rd155], %rd34;
mov.u64 %rd252, %rd34;
LBB2_26:
st.relaxed.sys.u64 [%rd157], %rd252;
st.release.sys.u64 [%rd155], %rd252;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_56(
.param .align 8 .b8 barmap_ring_sink_warp_56_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_56_param_1[24],
.param .u64 barmap_ring_sink_warp_56_param_2
)
{
.reg .pred %p<44>;
.reg .b32 %r<56>;
.reg .b64 %rd<334>;
ld.param.u64 %rd141, [barmap_ring_sink_warp_56_param_2];
cvta.to.global.u64 %rd1, %rd141;
mov.u32 %r16, %tid.x;
and.b32 %r17, %r16, 31;
ld.param.u64 %rd142, [barmap_ring_sink_warp_56_param_0];
cvta.to.global.u64 %rd2, %rd142;
ld.param.u64 %rd171, [barmap_ring_sink_warp_56_param_0+8];
ld.param.u64 %rd204, [barmap_ring_sink_warp_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_56_param_0+24];
add.s64 %rd202, %rd171, 8;
ld.relaxed.sys.u64 %rd277, [%rd202];
ld.param.u64 %rd252, [barmap_ring_sink_warp_56_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd143, %rd5, 1;
shr.u64 %rd144, %rd143, 2;
selp.b64 %rd9, 1, %rd144, %p4;
cvt.u64.u32 %rd10, %r17;
ld.param.u64 %rd11, [barmap_ring_sink_warp_56_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd139, 0;
mov.u32 %r22, -1;
mov.u32 %r28, 0;
mov.pred %p25, -1;
mov.pred %p22, 0;
mov.u64 %rd329, %rd139;
mov.u64 %rd303, %rd277;
mov.u64 %rd330, %rd139;
mov.u64 %rd331, %rd139;
mov.u64 %rd332, %rd139;
mov.u64 %rd333, %rd139;
bra.uni LBB3_1;
LBB3_28:
cvt.u64.u32 %rd236, %r50;
add.s64 %rd252, %rd252, %rd236;
LBB3_1:
mov.u64 %rd262, %rd139;
bra.uni LBB3_2;
LBB3_22:
mov.pred %p43, %p25;
LBB3_23:
add.s64 %rd262, %rd262, 1;
mov.u32 %r55, %r51;
@%p43 bra LBB3_2;
bra.uni LBB3_24;
LBB3_2:
mov.u32 %r19, %laneid;
cvt.u64.u32 %rd37, %r19;
add.s64 %rd149, %rd303, %rd37;
and.b64 %rd150, %rd149, %rd5;
shl.b64 %rd151, %rd150, 6;
add.s64 %rd152, %rd2, %rd151;
cvta.global.u64 %rd156, %rd152;
add.s64 %rd153, %rd149, 1;
add.s64 %rd147, %rd156, 56;
ld.acquire.sys.u64 %rd146, [%rd147];
setp.eq.s64 %p6, %rd146, %rd153;
selp.u32 %r21, 1, 0, %p6;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r22; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
min.u32 %r50, %r23, 32;
setp.ge.u32 %p7, %r19, %r50;
@%p7 bra LBB3_4;
ld.relaxed.sys.v2.u64 {%rd269, %rd268}, [%rd156];
add.s64 %rd159, %rd156, 16;
ld.relaxed.sys.v2.u64 {%rd267, %rd266}, [%rd159];
add.s64 %rd162, %rd156, 32;
ld.relaxed.sys.v2.u64 {%rd265, %rd264}, [%rd162];
add.s64 %rd164, %rd156, 48;
ld.relaxed.sys.u64 %rd263, [%rd164];
LBB3_4:
cvt.u32.u64 %r25, %rd37;
setp.ge.u32 %p8, %r25, %r50;
@%p8 bra LBB3_6;
mov.u64 %rd270, %rd263;
mov.u64 %rd271, %rd264;
mov.u64 %rd272, %rd265;
mov.u64 %rd273, %rd266;
mov.u64 %rd274, %rd267;
mov.u64 %rd275, %rd268;
mov.u64 %rd276, %rd269;
LBB3_6:
cvt.u64.u32 %rd165, %r50;
add.s64 %rd303, %rd303, %rd165;
sub.s64 %rd166, %rd303, %rd277;
setp.lt.u64 %p9, %rd166, %rd9;
@%p9 bra LBB3_9;
bar.warp.sync %r22;
setp.ne.s32 %p10, %r25, 0;
mov.u64 %rd277, %rd303;
@%p10 bra LBB3_9;
st.release.sys.u64 [%rd204], %rd303;
mov.u64 %rd277, %rd303;
LBB3_9:
setp.ne.s32 %p11, %r50, 0;
mov.u32 %r55, %r28;
@%p11 bra LBB3_24;
setp.lt.u64 %p42, %rd262, %rd11;
and.b64 %rd169, %rd262, 63;
setp.ne.s64 %p12, %rd169, 63;
and.pred %p13, %p42, %p12;
mov.u32 %r50, 0;
@%p13 bra LBB3_22;
ld.acquire.sys.u64 %rd170, [%rd171];
setp.ne.s64 %p14, %rd170, 0;
selp.u32 %r31, 1, 0, %p14;
{ .reg .pred p; setp.ne.u32 p, %r31, 0; vote.sync.ballot.b32 %r30, p, %r22; }
not.b32 %r34, %r30;
{ .reg .b32 r; brev.b32 r, %r34; bfind.shiftamt.u32 %r33, r; }
setp.lt.u32 %p15, %r33, 32;
@%p15 bra LBB3_20;
add.s64 %rd175, %rd303, %rd37;
and.b64 %rd176, %rd175, %rd5;
shl.b64 %rd177, %rd176, 6;
add.s64 %rd178, %rd2, %rd177;
cvta.global.u64 %rd182, %rd178;
add.s64 %rd179, %rd175, 1;
add.s64 %rd173, %rd182, 56;
ld.acquire.sys.u64 %rd172, [%rd173];
setp.eq.s64 %p17, %rd172, %rd179;
selp.u32 %r37, 1, 0, %p17;
{ .reg .pred p; setp.ne.u32 p, %r37, 0; vote.sync.ballot.b32 %r36, p, %r22; }
not.b32 %r40, %r36;
{ .reg .b32 r; brev.b32 r, %r40; bfind.shiftamt.u32 %r39, r; }
min.u32 %r50, %r39, 32;
setp.ge.u32 %p18, %r25, %r50;
@%p18 bra LBB3_14;
ld.relaxed.sys.v2.u64 {%rd284, %rd283}, [%rd182];
add.s64 %rd185, %rd182, 16;
ld.relaxed.sys.v2.u64 {%rd282, %rd281}, [%rd185];
add.s64 %rd188, %rd182, 32;
ld.relaxed.sys.v2.u64 {%rd280, %rd279}, [%rd188];
add.s64 %rd190, %rd182, 48;
ld.relaxed.sys.u64 %rd278, [%rd190];
LBB3_14:
@%p18 bra LBB3_16;
mov.u64 %rd270, %rd278;
mov.u64 %rd271, %rd279;
mov.u64 %rd272, %rd280;
mov.u64 %rd273, %rd281;
mov.u64 %rd274, %rd282;
mov.u64 %rd275, %rd283;
mov.u64 %rd276, %rd284;
LBB3_16:
cvt.u64.u32 %rd191, %r50;
add.s64 %rd303, %rd303, %rd191;
sub.s64 %rd192, %rd303, %rd277;
setp.lt.u64 %p20, %rd192, %rd9;
@%p20 bra LBB3_19;
bar.warp.sync %r22;
setp.ne.s32 %p21, %r25, 0;
mov.u64 %rd277, %rd303;
@%p21 bra LBB3_19;
st.release.sys.u64 [%rd204], %rd303;
mov.u64 %rd277, %rd303;
LBB3_19:
setp.eq.s32 %p23, %r50, 0;
selp.b32 %r51, 3, 0, %p23;
mov.pred %p42, %p22;
bra.uni LBB3_21;
LBB3_20:
setp.lt.u64 %p16, %rd262, %rd11;
selp.b32 %r51, %r51, %r1, %p16;
mov.u32 %r50, 0;
LBB3_21:
mov.pred %p43, %p22;
@!%p42 bra LBB3_23;
bra.uni LBB3_22;
LBB3_24:
setp.ne.s32 %p26, %r55, 0;
@%p26 bra LBB3_29;
cvt.u32.u64 %r46, %rd10;
setp.le.u32 %p30, %r50, %r46;
@%p30 bra LBB3_28;
add.s64 %rd123, %rd252, %rd10;
add.s64 %rd206, %rd276, -3335678366873096957;
xor.b64 %rd207, %rd206, %rd275;
add.s64 %rd208, %rd276, -6671356733746193914;
xor.b64 %rd209, %rd208, %rd274;
or.b64 %rd210, %rd209, %rd207;
add.s64 %rd211, %rd276, 8439708973090260745;
xor.b64 %rd212, %rd211, %rd273;
or.b64 %rd213, %rd210, %rd212;
add.s64 %rd214, %rd276, 5104030606217163788;
xor.b64 %rd215, %rd214, %rd272;
or.b64 %rd216, %rd213, %rd215;
add.s64 %rd217, %rd276, 1768352239344066831;
xor.b64 %rd218, %rd217, %rd271;
or.b64 %rd219, %rd216, %rd218;
add.s64 %rd220, %rd276, -1567326127529030126;
xor.b64 %rd221, %rd220, %rd270;
or.b64 %rd124, %rd219, %rd221;
add.s64 %rd333, %rd333, 1;
add.s64 %rd222, %rd270, %rd329;
add.s64 %rd223, %rd222, %rd271;
add.s64 %rd224, %rd223, %rd272;
add.s64 %rd225, %rd224, %rd273;
add.s64 %rd226, %rd225, %rd274;
add.s64 %rd227, %rd226, %rd275;
add.s64 %rd329, %rd227, %rd276;
mul.lo.s64 %rd228, %rd123, -7046029254386353131;
xor.b64 %rd229, %rd276, %rd228;
or.b64 %rd230, %rd124, %rd229;
setp.eq.s64 %p31, %rd230, 0;
@%p31 bra LBB3_28;
mul.lo.s64 %rd231, %rd276, -1018231460777725123;
sub.s64 %rd232, %rd231, %rd123;
setp.ne.s64 %p32, %rd124, 0;
setp.gt.s64 %p33, %rd232, 1099511627776;
or.pred %p34, %p32, %p33;
setp.lt.s64 %p35, %rd232, -1099511627776;
or.pred %p36, %p34, %p35;
selp.u64 %rd233, 1, 0, %p36;
add.s64 %rd332, %rd332, %rd233;
setp.lt.s64 %p37, %rd232, 0;
not.pred %p38, %p36;
and.pred %p39, %p38, %p37;
selp.u64 %rd234, 1, 0, %p39;
add.s64 %rd331, %rd331, %rd234;
setp.gt.s64 %p40, %rd232, 0;
and.pred %p41, %p38, %p40;
selp.u64 %rd235, 1, 0, %p41;
add.s64 %rd330, %rd330, %rd235;
bra.uni LBB3_28;
LBB3_29:
setp.ne.s32 %p27, %r25, 0;
mov.u64 %rd237, 1;
@%p27 bra LBB3_31;
add.s64 %rd195, %rd204, 8;
st.release.sys.u64 [%rd195], %rd237;
LBB3_31:
cvt.s64.s32 %rd197, %r55;
shl.b64 %rd198, %rd10, 6;
add.s64 %rd199, %rd1, %rd198;
st.global.u64 [%rd199], %rd333;
st.global.u64 [%rd199+8], %rd332;
st.global.u64 [%rd199+16], %rd331;
st.global.u64 [%rd199+24], %rd330;
st.global.u64 [%rd199+32], %rd329;
st.global.u64 [%rd199+40], %rd197;
st.global.u64 [%rd199+48], %rd237;
mov.u64 %rd201, 0;
st.global.u64 [%rd199+56], %rd201;
@%p27 bra LBB3_33;
st.relaxed.sys.u64 [%rd202], %rd303;
LBB3_33:
bar.warp.sync %r22;
@%p27 bra LBB3_35;
st.release.sys.u64 [%rd204], %rd303;
LBB3_35:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_112(
.param .align 8 .b8 barmap_ring_sink_thread_112_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_112_param_1[24],
.param .u64 barmap_ring_sink_thread_112_param_2
)
{
.reg .pred %p<42>;
.reg .b16 %rs<16>;
.reg .b32 %r<22>;
.reg .b64 %rd<422>;
ld.param.u64 %rd177, [barmap_ring_sink_thread_112_param_2];
cvta.to.global.u64 %rd1, %rd177;
ld.param.u64 %rd178, [barmap_ring_sink_thread_112_param_0];
cvta.to.global.u64 %rd2, %rd178;
ld.param.u64 %rd215, [barmap_ring_sink_thread_112_param_0+8];
ld.param.u64 %rd247, [barmap_ring_sink_thread_112_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_112_param_0+24];
add.s64 %rd249, %rd215, 8;
ld.relaxed.sys.u64 %rd421, [%rd249];
and.b64 %rd179, %rd421, %rd5;
shl.b64 %rd180, %rd179, 7;
add.s64 %rd334, %rd2, %rd180;
setp.lt.u64 %p8, %rd5, 4;
add.s64 %rd181, %rd5, 1;
shr.u64 %rd182, %rd181, 2;
selp.b64 %rd9, 1, %rd182, %p8;
ld.param.u64 %rd10, [barmap_ring_sink_thread_112_param_1+16];
setp.eq.s64 %p9, %rd10, 0;
selp.b32 %r1, 2, 4, %p9;
mov.u16 %rs6, 0;
mov.u64 %rd311, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_112_param_1];
mov.pred %p12, 0;
mov.u32 %r15, 3;
mov.u16 %rs14, %rs6;
mov.u64 %rd333, %rd9;
mov.u64 %rd315, %rd311;
mov.u64 %rd316, %rd311;
mov.u64 %rd317, %rd311;
mov.u64 %rd318, %rd311;
LBB4_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p10, %rs7, 0;
@%p10 bra LBB4_4;
add.s64 %rd421, %rd421, 1;
and.b64 %rd183, %rd421, %rd5;
shl.b64 %rd184, %rd183, 7;
add.s64 %rd334, %rd2, %rd184;
add.s64 %rd333, %rd333, -1;
setp.ne.s64 %p11, %rd333, 0;
@%p11 bra LBB4_4;
st.release.sys.u64 [%rd247], %rd421;
mov.u64 %rd333, %rd9;
LBB4_4:
cvta.global.u64 %rd223, %rd334;
add.s64 %rd41, %rd421, 1;
add.s64 %rd217, %rd223, 56;
add.s64 %rd219, %rd223, 120;
add.s64 %rd226, %rd223, 16;
add.s64 %rd229, %rd223, 32;
add.s64 %rd231, %rd223, 48;
add.s64 %rd234, %rd223, 64;
add.s64 %rd237, %rd223, 80;
add.s64 %rd240, %rd223, 96;
add.s64 %rd242, %rd223, 112;
mov.u16 %rs14, %rs6;
mov.u64 %rd350, %rd10;
bra.uni LBB4_5;
LBB4_17:
selp.u16 %rs14, 1, 0, %p5;
mov.pred %p41, %p12;
LBB4_19:
add.s64 %rd350, %rd350, -64;
@%p41 bra LBB4_5;
bra.uni LBB4_20;
LBB4_5:
mov.u32 %r2, %r19;
mov.u64 %rd64, %rd378;
mov.u64 %rd63, %rd377;
mov.u64 %rd62, %rd376;
mov.u64 %rd61, %rd375;
mov.u64 %rd60, %rd374;
mov.u64 %rd59, %rd373;
mov.u64 %rd58, %rd372;
mov.u64 %rd57, %rd371;
mov.u64 %rd56, %rd370;
mov.u64 %rd55, %rd369;
mov.u64 %rd54, %rd368;
mov.u64 %rd53, %rd367;
mov.u64 %rd52, %rd366;
mov.u64 %rd51, %rd365;
setp.lt.u64 %p13, %rd350, 64;
cvt.u32.u64 %r11, %rd350;
add.s32 %r12, %r11, 1;
selp.b32 %r3, %r12, 64, %p13;
setp.eq.s32 %p14, %r3, 0;
mov.pred %p40, %p12;
@%p14 bra LBB4_11;
mov.u32 %r18, 0;
mov.pred %p40, -1;
LBB4_7:
ld.relaxed.sys.u64 %rd187, [%rd217];
ld.acquire.sys.u64 %rd189, [%rd219];
setp.eq.s64 %p16, %rd189, %rd41;
setp.eq.s64 %p17, %rd187, %rd41;
and.pred %p2, %p16, %p17;
@!%p2 bra LBB4_9;
bra.uni LBB4_8;
LBB4_8:
ld.relaxed.sys.v2.u64 {%rd378, %rd377}, [%rd223];
ld.relaxed.sys.v2.u64 {%rd376, %rd375}, [%rd226];
ld.relaxed.sys.v2.u64 {%rd374, %rd373}, [%rd229];
ld.relaxed.sys.u64 %rd372, [%rd231];
ld.relaxed.sys.v2.u64 {%rd371, %rd370}, [%rd234];
ld.relaxed.sys.v2.u64 {%rd369, %rd368}, [%rd237];
ld.relaxed.sys.v2.u64 {%rd367, %rd366}, [%rd240];
ld.relaxed.sys.u64 %rd365, [%rd242];
LBB4_9:
mov.u32 %r19, 0;
mov.u16 %rs14, 1;
@%p2 bra LBB4_11;
add.s32 %r18, %r18, 1;
setp.lt.u32 %p40, %r18, %r3;
setp.ne.s32 %p18, %r3, %r18;
mov.u16 %rs14, 0;
mov.u64 %rd365, %rd51;
mov.u64 %rd366, %rd52;
mov.u64 %rd367, %rd53;
mov.u64 %rd368, %rd54;
mov.u64 %rd369, %rd55;
mov.u64 %rd370, %rd56;
mov.u64 %rd371, %rd57;
mov.u64 %rd372, %rd58;
mov.u64 %rd373, %rd59;
mov.u64 %rd374, %rd60;
mov.u64 %rd375, %rd61;
mov.u64 %rd376, %rd62;
mov.u64 %rd377, %rd63;
mov.u64 %rd378, %rd64;
mov.u32 %r19, %r2;
@%p18 bra LBB4_7;
LBB4_11:
mov.pred %p41, %p12;
@%p40 bra LBB4_19;
ld.acquire.sys.u64 %rd214, [%rd215];
setp.eq.s64 %p20, %rd214, 0;
@%p20 bra LBB4_18;
ld.relaxed.sys.u64 %rd216, [%rd217];
ld.acquire.sys.u64 %rd218, [%rd219];
setp.eq.s64 %p21, %rd218, %rd41;
setp.eq.s64 %p22, %rd216, %rd41;
and.pred %p5, %p21, %p22;
@!%p5 bra LBB4_15;
bra.uni LBB4_14;
LBB4_14:
ld.relaxed.sys.v2.u64 {%rd392, %rd391}, [%rd223];
ld.relaxed.sys.v2.u64 {%rd390, %rd389}, [%rd226];
ld.relaxed.sys.v2.u64 {%rd388, %rd387}, [%rd229];
ld.relaxed.sys.u64 %rd386, [%rd231];
ld.relaxed.sys.v2.u64 {%rd385, %rd384}, [%rd234];
ld.relaxed.sys.v2.u64 {%rd383, %rd382}, [%rd237];
ld.relaxed.sys.v2.u64 {%rd381, %rd380}, [%rd240];
ld.relaxed.sys.u64 %rd379, [%rd242];
LBB4_15:
mov.u32 %r19, %r15;
@!%p5 bra LBB4_17;
bra.uni LBB4_16;
LBB4_16:
mov.u32 %r19, 0;
mov.u64 %rd365, %rd379;
mov.u64 %rd366, %rd380;
mov.u64 %rd367, %rd381;
mov.u64 %rd368, %rd382;
mov.u64 %rd369, %rd383;
mov.u64 %rd370, %rd384;
mov.u64 %rd371, %rd385;
mov.u64 %rd372, %rd386;
mov.u64 %rd373, %rd387;
mov.u64 %rd374, %rd388;
mov.u64 %rd375, %rd389;
mov.u64 %rd376, %rd390;
mov.u64 %rd377, %rd391;
mov.u64 %rd378, %rd392;
bra.uni LBB4_17;
LBB4_18:
setp.gt.u64 %p41, %rd350, 63;
selp.b32 %r19, %r1, %r19, %p13;
bra.uni LBB4_19;
LBB4_20:
setp.ne.s32 %p25, %r19, 0;
@%p25 bra LBB4_23;
add.s64 %rd165, %rd11, %rd318;
add.s64 %rd253, %rd378, -3335678366873096957;
xor.b64 %rd254, %rd253, %rd377;
add.s64 %rd255, %rd378, -6671356733746193914;
xor.b64 %rd256, %rd255, %rd376;
or.b64 %rd257, %rd256, %rd254;
add.s64 %rd258, %rd378, 8439708973090260745;
xor.b64 %rd259, %rd258, %rd375;
or.b64 %rd260, %rd257, %rd259;
add.s64 %rd261, %rd378, 5104030606217163788;
xor.b64 %rd262, %rd261, %rd374;
or.b64 %rd263, %rd260, %rd262;
add.s64 %rd264, %rd378, 1768352239344066831;
xor.b64 %rd265, %rd264, %rd373;
or.b64 %rd266, %rd263, %rd265;
add.s64 %rd267, %rd378, -1567326127529030126;
xor.b64 %rd268, %rd267, %rd372;
or.b64 %rd269, %rd266, %rd268;
add.s64 %rd270, %rd378, -4903004494402127083;
xor.b64 %rd271, %rd270, %rd371;
or.b64 %rd272, %rd269, %rd271;
add.s64 %rd273, %rd378, -8238682861275224040;
xor.b64 %rd274, %rd273, %rd370;
or.b64 %rd275, %rd272, %rd274;
add.s64 %rd276, %rd378, 6872382845561230619;
xor.b64 %rd277, %rd276, %rd369;
or.b64 %rd278, %rd275, %rd277;
add.s64 %rd279, %rd378, 3536704478688133662;
xor.b64 %rd280, %rd279, %rd368;
or.b64 %rd281, %rd278, %rd280;
add.s64 %rd282, %rd378, 201026111815036705;
xor.b64 %rd283, %rd282, %rd367;
or.b64 %rd284, %rd281, %rd283;
add.s64 %rd285, %rd378, -3134652255058060252;
xor.b64 %rd286, %rd285, %rd366;
or.b64 %rd287, %rd284, %rd286;
add.s64 %rd288, %rd378, -6470330621931157209;
xor.b64 %rd289, %rd288, %rd365;
or.b64 %rd166, %rd287, %rd289;
add.s64 %rd318, %rd318, 1;
add.s64 %rd290, %rd365, %rd311;
add.s64 %rd291, %rd290, %rd366;
add.s64 %rd292, %rd291, %rd367;
add.s64 %rd293, %rd292, %rd368;
add.s64 %rd294, %rd293, %rd369;
add.s64 %rd295, %rd294, %rd370;
add.s64 %rd296, %rd295, %rd371;
add.s64 %rd297, %rd296, %rd372;
add.s64 %rd298, %rd297, %rd373;
add.s64 %rd299, %rd298, %rd374;
add.s64 %rd300, %rd299, %rd375;
add.s64 %rd301, %rd300, %rd376;
add.s64 %rd302, %rd301, %rd377;
add.s64 %rd311, %rd302, %rd378;
mul.lo.s64 %rd303, %rd165, -7046029254386353131;
xor.b64 %rd304, %rd303, %rd378;
or.b64 %rd305, %rd304, %rd166;
setp.eq.s64 %p28, %rd305, 0;
@%p28 bra LBB4_1;
mul.lo.s64 %rd306, %rd378, -1018231460777725123;
sub.s64 %rd307, %rd306, %rd165;
setp.ne.s64 %p29, %rd166, 0;
setp.gt.s64 %p30, %rd307, 1099511627776;
or.pred %p31, %p29, %p30;
setp.lt.s64 %p32, %rd307, -1099511627776;
or.pred %p33, %p31, %p32;
selp.u64 %rd308, 1, 0, %p33;
add.s64 %rd317, %rd317, %rd308;
setp.lt.s64 %p34, %rd307, 0;
not.pred %p35, %p33;
and.pred %p36, %p35, %p34;
selp.u64 %rd309, 1, 0, %p36;
add.s64 %rd316, %rd316, %rd309;
setp.gt.s64 %p37, %rd307, 0;
and.pred %p38, %p35, %p37;
selp.u64 %rd310, 1, 0, %p38;
add.s64 %rd315, %rd315, %rd310;
bra.uni LBB4_1;
LBB4_23:
add.s64 %rd243, %rd247, 8;
mov.u64 %rd244, 1;
st.release.sys.u64 [%rd243], %rd244;
cvt.s64.s32 %rd245, %r19;
st.global.u64 [%rd1], %rd318;
st.global.u64 [%rd1+8], %rd317;
st.global.u64 [%rd1+16], %rd316;
st.global.u64 [%rd1+24], %rd315;
st.global.u64 [%rd1+32], %rd311;
st.global.u64 [%rd1+40], %rd245;
st.global.u64 [%rd1+48], %rd244;
mov.u64 %rd246, 0;
st.global.u64 [%rd1+56], %rd246;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p26, %rs11, 0;
@%p26 bra LBB4_26;
setp.ne.s64 %p27, %rd333, 1;
mov.u64 %rd421, %rd41;
@%p27 bra LBB4_26;
st.release.sys.u64 [%rd247], %rd41;
mov.u64 %rd421, %rd41;
LBB4_26:
st.relaxed.sys.u64 [%rd249], %rd421;
st.release.sys.u64 [%rd247], %rd421;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_112(
.param .align 8 .b8 barmap_ring_sink_warp_112_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_112_param_1[24],
.param .u64 barmap_ring_sink_warp_112_param_2
)
{
.reg .pred %p<48>;
.reg .b32 %r<56>;
.reg .b64 %rd<542>;
ld.param.u64 %rd225, [barmap_ring_sink_warp_112_param_2];
cvta.to.global.u64 %rd1, %rd225;
mov.u32 %r16, %tid.x;
and.b32 %r17, %r16, 31;
ld.param.u64 %rd226, [barmap_ring_sink_warp_112_param_0];
cvta.to.global.u64 %rd2, %rd226;
ld.param.u64 %rd268, [barmap_ring_sink_warp_112_param_0+8];
ld.param.u64 %rd314, [barmap_ring_sink_warp_112_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_112_param_0+24];
add.s64 %rd312, %rd268, 8;
ld.relaxed.sys.u64 %rd443, [%rd312];
ld.param.u64 %rd397, [barmap_ring_sink_warp_112_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd227, %rd5, 1;
shr.u64 %rd228, %rd227, 2;
selp.b64 %rd9, 1, %rd228, %p4;
cvt.u64.u32 %rd10, %r17;
ld.param.u64 %rd11, [barmap_ring_sink_warp_112_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd223, 0;
mov.u32 %r22, -1;
mov.u32 %r28, 0;
mov.pred %p29, -1;
mov.pred %p26, 0;
mov.u64 %rd537, %rd223;
mov.u64 %rd490, %rd443;
mov.u64 %rd538, %rd223;
mov.u64 %rd539, %rd223;
mov.u64 %rd540, %rd223;
mov.u64 %rd541, %rd223;
bra.uni LBB5_1;
LBB5_28:
cvt.u64.u32 %rd374, %r50;
add.s64 %rd397, %rd397, %rd374;
LBB5_1:
mov.u64 %rd414, %rd223;
bra.uni LBB5_2;
LBB5_22:
mov.pred %p47, %p29;
LBB5_23:
add.s64 %rd414, %rd414, 1;
mov.u32 %r55, %r51;
@%p47 bra LBB5_2;
bra.uni LBB5_24;
LBB5_2:
mov.u32 %r19, %laneid;
cvt.u64.u32 %rd51, %r19;
add.s64 %rd235, %rd490, %rd51;
and.b64 %rd236, %rd235, %rd5;
shl.b64 %rd237, %rd236, 7;
add.s64 %rd238, %rd2, %rd237;
cvta.global.u64 %rd242, %rd238;
add.s64 %rd239, %rd235, 1;
add.s64 %rd231, %rd242, 56;
ld.relaxed.sys.u64 %rd230, [%rd231];
add.s64 %rd233, %rd242, 120;
ld.acquire.sys.u64 %rd232, [%rd233];
setp.eq.s64 %p6, %rd232, %rd239;
setp.eq.s64 %p7, %rd230, %rd239;
and.pred %p8, %p6, %p7;
selp.u32 %r21, 1, 0, %p8;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r22; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
min.u32 %r50, %r23, 32;
setp.ge.u32 %p9, %r19, %r50;
@%p9 bra LBB5_4;
ld.relaxed.sys.v2.u64 {%rd428, %rd427}, [%rd242];
add.s64 %rd245, %rd242, 16;
ld.relaxed.sys.v2.u64 {%rd426, %rd425}, [%rd245];
add.s64 %rd248, %rd242, 32;
ld.relaxed.sys.v2.u64 {%rd424, %rd423}, [%rd248];
add.s64 %rd250, %rd242, 48;
ld.relaxed.sys.u64 %rd422, [%rd250];
add.s64 %rd253, %rd242, 64;
ld.relaxed.sys.v2.u64 {%rd421, %rd420}, [%rd253];
add.s64 %rd256, %rd242, 80;
ld.relaxed.sys.v2.u64 {%rd419, %rd418}, [%rd256];
add.s64 %rd259, %rd242, 96;
ld.relaxed.sys.v2.u64 {%rd417, %rd416}, [%rd259];
add.s64 %rd261, %rd242, 112;
ld.relaxed.sys.u64 %rd415, [%rd261];
LBB5_4:
cvt.u32.u64 %r25, %rd51;
setp.ge.u32 %p10, %r25, %r50;
@%p10 bra LBB5_6;
mov.u64 %rd429, %rd415;
mov.u64 %rd430, %rd416;
mov.u64 %rd431, %rd417;
mov.u64 %rd432, %rd418;
mov.u64 %rd433, %rd419;
mov.u64 %rd434, %rd420;
mov.u64 %rd435, %rd421;
mov.u64 %rd436, %rd422;
mov.u64 %rd437, %rd423;
mov.u64 %rd438, %rd424;
mov.u64 %rd439, %rd425;
mov.u64 %rd440, %rd426;
mov.u64 %rd441, %rd427;
mov.u64 %rd442, %rd428;
LBB5_6:
cvt.u64.u32 %rd262, %r50;
add.s64 %rd490, %rd490, %rd262;
sub.s64 %rd263, %rd490, %rd443;
setp.lt.u64 %p11, %rd263, %rd9;
@%p11 bra LBB5_9;
bar.warp.sync %r22;
setp.ne.s32 %p12, %r25, 0;
mov.u64 %rd443, %rd490;
@%p12 bra LBB5_9;
st.release.sys.u64 [%rd314], %rd490;
mov.u64 %rd443, %rd490;
LBB5_9:
setp.ne.s32 %p13, %r50, 0;
mov.u32 %r55, %r28;
@%p13 bra LBB5_24;
setp.lt.u64 %p46, %rd414, %rd11;
and.b64 %rd266, %rd414, 63;
setp.ne.s64 %p14, %rd266, 63;
and.pred %p15, %p46, %p14;
mov.u32 %r50, 0;
@%p15 bra LBB5_22;
ld.acquire.sys.u64 %rd267, [%rd268];
setp.ne.s64 %p16, %rd267, 0;
selp.u32 %r31, 1, 0, %p16;
{ .reg .pred p; setp.ne.u32 p, %r31, 0; vote.sync.ballot.b32 %r30, p, %r22; }
not.b32 %r34, %r30;
{ .reg .b32 r; brev.b32 r, %r34; bfind.shiftamt.u32 %r33, r; }
setp.lt.u32 %p17, %r33, 32;
@%p17 bra LBB5_20;
add.s64 %rd274, %rd490, %rd51;
and.b64 %rd275, %rd274, %rd5;
shl.b64 %rd276, %rd275, 7;
add.s64 %rd277, %rd2, %rd276;
cvta.global.u64 %rd281, %rd277;
add.s64 %rd278, %rd274, 1;
add.s64 %rd270, %rd281, 56;
ld.relaxed.sys.u64 %rd269, [%rd270];
add.s64 %rd272, %rd281, 120;
ld.acquire.sys.u64 %rd271, [%rd272];
setp.eq.s64 %p19, %rd271, %rd278;
setp.eq.s64 %p20, %rd269, %rd278;
and.pred %p21, %p19, %p20;
selp.u32 %r37, 1, 0, %p21;
{ .reg .pred p; setp.ne.u32 p, %r37, 0; vote.sync.ballot.b32 %r36, p, %r22; }
not.b32 %r40, %r36;
{ .reg .b32 r; brev.b32 r, %r40; bfind.shiftamt.u32 %r39, r; }
min.u32 %r50, %r39, 32;
setp.ge.u32 %p22, %r25, %r50;
@%p22 bra LBB5_14;
ld.relaxed.sys.v2.u64 {%rd457, %rd456}, [%rd281];
add.s64 %rd284, %rd281, 16;
ld.relaxed.sys.v2.u64 {%rd455, %rd454}, [%rd284];
add.s64 %rd287, %rd281, 32;
ld.relaxed.sys.v2.u64 {%rd453, %rd452}, [%rd287];
add.s64 %rd289, %rd281, 48;
ld.relaxed.sys.u64 %rd451, [%rd289];
add.s64 %rd292, %rd281, 64;
ld.relaxed.sys.v2.u64 {%rd450, %rd449}, [%rd292];
add.s64 %rd295, %rd281, 80;
ld.relaxed.sys.v2.u64 {%rd448, %rd447}, [%rd295];
add.s64 %rd298, %rd281, 96;
ld.relaxed.sys.v2.u64 {%rd446, %rd445}, [%rd298];
add.s64 %rd300, %rd281, 112;
ld.relaxed.sys.u64 %rd444, [%rd300];
LBB5_14:
@%p22 bra LBB5_16;
mov.u64 %rd429, %rd444;
mov.u64 %rd430, %rd445;
mov.u64 %rd431, %rd446;
mov.u64 %rd432, %rd447;
mov.u64 %rd433, %rd448;
mov.u64 %rd434, %rd449;
mov.u64 %rd435, %rd450;
mov.u64 %rd436, %rd451;
mov.u64 %rd437, %rd452;
mov.u64 %rd438, %rd453;
mov.u64 %rd439, %rd454;
mov.u64 %rd440, %rd455;
mov.u64 %rd441, %rd456;
mov.u64 %rd442, %rd457;
LBB5_16:
cvt.u64.u32 %rd301, %r50;
add.s64 %rd490, %rd490, %rd301;
sub.s64 %rd302, %rd490, %rd443;
setp.lt.u64 %p24, %rd302, %rd9;
@%p24 bra LBB5_19;
bar.warp.sync %r22;
setp.ne.s32 %p25, %r25, 0;
mov.u64 %rd443, %rd490;
@%p25 bra LBB5_19;
st.release.sys.u64 [%rd314], %rd490;
mov.u64 %rd443, %rd490;
LBB5_19:
setp.eq.s32 %p27, %r50, 0;
selp.b32 %r51, 3, 0, %p27;
mov.pred %p46, %p26;
bra.uni LBB5_21;
LBB5_20:
setp.lt.u64 %p18, %rd414, %rd11;
selp.b32 %r51, %r51, %r1, %p18;
mov.u32 %r50, 0;
LBB5_21:
mov.pred %p47, %p26;
@!%p46 bra LBB5_23;
bra.uni LBB5_22;
LBB5_24:
setp.ne.s32 %p30, %r55, 0;
@%p30 bra LBB5_29;
cvt.u32.u64 %r46, %rd10;
setp.le.u32 %p34, %r50, %r46;
@%p34 bra LBB5_28;
add.s64 %rd207, %rd397, %rd10;
add.s64 %rd316, %rd442, -3335678366873096957;
xor.b64 %rd317, %rd316, %rd441;
add.s64 %rd318, %rd442, -6671356733746193914;
xor.b64 %rd319, %rd318, %rd440;
or.b64 %rd320, %rd319, %rd317;
add.s64 %rd321, %rd442, 8439708973090260745;
xor.b64 %rd322, %rd321, %rd439;
or.b64 %rd323, %rd320, %rd322;
add.s64 %rd324, %rd442, 5104030606217163788;
xor.b64 %rd325, %rd324, %rd438;
or.b64 %rd326, %rd323, %rd325;
add.s64 %rd327, %rd442, 1768352239344066831;
xor.b64 %rd328, %rd327, %rd437;
or.b64 %rd329, %rd326, %rd328;
add.s64 %rd330, %rd442, -1567326127529030126;
xor.b64 %rd331, %rd330, %rd436;
or.b64 %rd332, %rd329, %rd331;
add.s64 %rd333, %rd442, -4903004494402127083;
xor.b64 %rd334, %rd333, %rd435;
or.b64 %rd335, %rd332, %rd334;
add.s64 %rd336, %rd442, -8238682861275224040;
xor.b64 %rd337, %rd336, %rd434;
or.b64 %rd338, %rd335, %rd337;
add.s64 %rd339, %rd442, 6872382845561230619;
xor.b64 %rd340, %rd339, %rd433;
or.b64 %rd341, %rd338, %rd340;
add.s64 %rd342, %rd442, 3536704478688133662;
xor.b64 %rd343, %rd342, %rd432;
or.b64 %rd344, %rd341, %rd343;
add.s64 %rd345, %rd442, 201026111815036705;
xor.b64 %rd346, %rd345, %rd431;
or.b64 %rd347, %rd344, %rd346;
add.s64 %rd348, %rd442, -3134652255058060252;
xor.b64 %rd349, %rd348, %rd430;
or.b64 %rd350, %rd347, %rd349;
add.s64 %rd351, %rd442, -6470330621931157209;
xor.b64 %rd352, %rd351, %rd429;
or.b64 %rd208, %rd350, %rd352;
add.s64 %rd541, %rd541, 1;
add.s64 %rd353, %rd429, %rd537;
add.s64 %rd354, %rd353, %rd430;
add.s64 %rd355, %rd354, %rd431;
add.s64 %rd356, %rd355, %rd432;
add.s64 %rd357, %rd356, %rd433;
add.s64 %rd358, %rd357, %rd434;
add.s64 %rd359, %rd358, %rd435;
add.s64 %rd360, %rd359, %rd436;
add.s64 %rd361, %rd360, %rd437;
add.s64 %rd362, %rd361, %rd438;
add.s64 %rd363, %rd362, %rd439;
add.s64 %rd364, %rd363, %rd440;
add.s64 %rd365, %rd364, %rd441;
add.s64 %rd537, %rd365, %rd442;
mul.lo.s64 %rd366, %rd207, -7046029254386353131;
xor.b64 %rd367, %rd442, %rd366;
or.b64 %rd368, %rd208, %rd367;
setp.eq.s64 %p35, %rd368, 0;
@%p35 bra LBB5_28;
mul.lo.s64 %rd369, %rd442, -1018231460777725123;
sub.s64 %rd370, %rd369, %rd207;
setp.ne.s64 %p36, %rd208, 0;
setp.gt.s64 %p37, %rd370, 1099511627776;
or.pred %p38, %p36, %p37;
setp.lt.s64 %p39, %rd370, -1099511627776;
or.pred %p40, %p38, %p39;
selp.u64 %rd371, 1, 0, %p40;
add.s64 %rd540, %rd540, %rd371;
setp.lt.s64 %p41, %rd370, 0;
not.pred %p42, %p40;
and.pred %p43, %p42, %p41;
selp.u64 %rd372, 1, 0, %p43;
add.s64 %rd539, %rd539, %rd372;
setp.gt.s64 %p44, %rd370, 0;
and.pred %p45, %p42, %p44;
selp.u64 %rd373, 1, 0, %p45;
add.s64 %rd538, %rd538, %rd373;
bra.uni LBB5_28;
LBB5_29:
setp.ne.s32 %p31, %r25, 0;
mov.u64 %rd375, 1;
@%p31 bra LBB5_31;
add.s64 %rd305, %rd314, 8;
st.release.sys.u64 [%rd305], %rd375;
LBB5_31:
cvt.s64.s32 %rd307, %r55;
shl.b64 %rd308, %rd10, 6;
add.s64 %rd309, %rd1, %rd308;
st.global.u64 [%rd309], %rd541;
st.global.u64 [%rd309+8], %rd540;
st.global.u64 [%rd309+16], %rd539;
st.global.u64 [%rd309+24], %rd538;
st.global.u64 [%rd309+32], %rd537;
st.global.u64 [%rd309+40], %rd307;
st.global.u64 [%rd309+48], %rd375;
mov.u64 %rd311, 0;
st.global.u64 [%rd309+56], %rd311;
@%p31 bra LBB5_33;
st.relaxed.sys.u64 [%rd312], %rd490;
LBB5_33:
bar.warp.sync %r22;
@%p31 bra LBB5_35;
st.release.sys.u64 [%rd314], %rd490;
LBB5_35:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_224(
.param .align 8 .b8 barmap_ring_sink_thread_224_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_224_param_1[24],
.param .u64 barmap_ring_sink_thread_224_param_2
)
{
.reg .pred %p<46>;
.reg .b16 %rs<16>;
.reg .b32 %r<22>;
.reg .b64 %rd<780>;
ld.param.u64 %rd319, [barmap_ring_sink_thread_224_param_2];
cvta.to.global.u64 %rd1, %rd319;
ld.param.u64 %rd320, [barmap_ring_sink_thread_224_param_0];
cvta.to.global.u64 %rd2, %rd320;
ld.param.u64 %rd388, [barmap_ring_sink_thread_224_param_0+8];
ld.param.u64 %rd451, [barmap_ring_sink_thread_224_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_224_param_0+24];
add.s64 %rd453, %rd388, 8;
ld.relaxed.sys.u64 %rd779, [%rd453];
and.b64 %rd321, %rd779, %rd5;
shl.b64 %rd322, %rd321, 8;
add.s64 %rd608, %rd2, %rd322;
setp.lt.u64 %p10, %rd5, 4;
add.s64 %rd323, %rd5, 1;
shr.u64 %rd324, %rd323, 2;
selp.b64 %rd9, 1, %rd324, %p10;
ld.param.u64 %rd10, [barmap_ring_sink_thread_224_param_1+16];
setp.eq.s64 %p11, %rd10, 0;
selp.b32 %r1, 2, 4, %p11;
mov.u16 %rs6, 0;
mov.u64 %rd571, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_224_param_1];
mov.pred %p14, 0;
mov.u32 %r15, 3;
mov.u16 %rs14, %rs6;
mov.u64 %rd607, %rd9;
mov.u64 %rd575, %rd571;
mov.u64 %rd576, %rd571;
mov.u64 %rd577, %rd571;
mov.u64 %rd578, %rd571;
LBB6_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p12, %rs7, 0;
@%p12 bra LBB6_4;
add.s64 %rd779, %rd779, 1;
and.b64 %rd325, %rd779, %rd5;
shl.b64 %rd326, %rd325, 8;
add.s64 %rd608, %rd2, %rd326;
add.s64 %rd607, %rd607, -1;
setp.ne.s64 %p13, %rd607, 0;
@%p13 bra LBB6_4;
st.release.sys.u64 [%rd451], %rd779;
mov.u64 %rd607, %rd9;
LBB6_4:
cvta.global.u64 %rd405, %rd608;
add.s64 %rd55, %rd779, 1;
add.s64 %rd390, %rd405, 56;
add.s64 %rd392, %rd405, 120;
add.s64 %rd394, %rd405, 184;
add.s64 %rd396, %rd405, 248;
add.s64 %rd408, %rd405, 16;
add.s64 %rd411, %rd405, 32;
add.s64 %rd413, %rd405, 48;
add.s64 %rd416, %rd405, 64;
add.s64 %rd419, %rd405, 80;
add.s64 %rd422, %rd405, 96;
add.s64 %rd424, %rd405, 112;
add.s64 %rd427, %rd405, 128;
add.s64 %rd430, %rd405, 144;
add.s64 %rd433, %rd405, 160;
add.s64 %rd435, %rd405, 176;
add.s64 %rd438, %rd405, 192;
add.s64 %rd441, %rd405, 208;
add.s64 %rd444, %rd405, 224;
add.s64 %rd446, %rd405, 240;
mov.u16 %rs14, %rs6;
mov.u64 %rd638, %rd10;
bra.uni LBB6_5;
LBB6_21:
selp.u16 %rs14, 1, 0, %p44;
mov.pred %p45, %p14;
LBB6_23:
add.s64 %rd638, %rd638, -64;
@%p45 bra LBB6_5;
bra.uni LBB6_24;
LBB6_5:
mov.u32 %r2, %r19;
mov.u64 %rd102, %rd694;
mov.u64 %rd101, %rd693;
mov.u64 %rd100, %rd692;
mov.u64 %rd99, %rd691;
mov.u64 %rd98, %rd690;
mov.u64 %rd97, %rd689;
mov.u64 %rd96, %rd688;
mov.u64 %rd95, %rd687;
mov.u64 %rd94, %rd686;
mov.u64 %rd93, %rd685;
mov.u64 %rd92, %rd684;
mov.u64 %rd91, %rd683;
mov.u64 %rd90, %rd682;
mov.u64 %rd89, %rd681;
mov.u64 %rd88, %rd680;
mov.u64 %rd87, %rd679;
mov.u64 %rd86, %rd678;
mov.u64 %rd85, %rd677;
mov.u64 %rd84, %rd676;
mov.u64 %rd83, %rd675;
mov.u64 %rd82, %rd674;
mov.u64 %rd81, %rd673;
mov.u64 %rd80, %rd672;
mov.u64 %rd79, %rd671;
mov.u64 %rd78, %rd670;
mov.u64 %rd77, %rd669;
mov.u64 %rd76, %rd668;
mov.u64 %rd75, %rd667;
setp.lt.u64 %p15, %rd638, 64;
cvt.u32.u64 %r11, %rd638;
add.s32 %r12, %r11, 1;
selp.b32 %r3, %r12, 64, %p15;
setp.eq.s32 %p16, %r3, 0;
mov.pred %p43, %p14;
@%p16 bra LBB6_13;
mov.u32 %r18, 0;
mov.pred %p43, -1;
LBB6_7:
ld.relaxed.sys.u64 %rd329, [%rd390];
ld.relaxed.sys.u64 %rd331, [%rd392];
ld.relaxed.sys.u64 %rd333, [%rd394];
ld.acquire.sys.u64 %rd335, [%rd396];
setp.ne.s64 %p19, %rd335, %rd55;
mov.pred %p42, 0;
@%p19 bra LBB6_9;
xor.b64 %rd337, %rd329, %rd55;
xor.b64 %rd338, %rd331, %rd55;
or.b64 %rd339, %rd338, %rd337;
xor.b64 %rd340, %rd333, %rd55;
or.b64 %rd341, %rd339, %rd340;
setp.eq.s64 %p42, %rd341, 0;
LBB6_9:
@!%p42 bra LBB6_11;
bra.uni LBB6_10;
LBB6_10:
ld.relaxed.sys.v2.u64 {%rd694, %rd693}, [%rd405];
ld.relaxed.sys.v2.u64 {%rd692, %rd691}, [%rd408];
ld.relaxed.sys.v2.u64 {%rd690, %rd689}, [%rd411];
ld.relaxed.sys.u64 %rd688, [%rd413];
ld.relaxed.sys.v2.u64 {%rd687, %rd686}, [%rd416];
ld.relaxed.sys.v2.u64 {%rd685, %rd684}, [%rd419];
ld.relaxed.sys.v2.u64 {%rd683, %rd682}, [%rd422];
ld.relaxed.sys.u64 %rd681, [%rd424];
ld.relaxed.sys.v2.u64 {%rd680, %rd679}, [%rd427];
ld.relaxed.sys.v2.u64 {%rd678, %rd677}, [%rd430];
ld.relaxed.sys.v2.u64 {%rd676, %rd675}, [%rd433];
ld.relaxed.sys.u64 %rd674, [%rd435];
ld.relaxed.sys.v2.u64 {%rd673, %rd672}, [%rd438];
ld.relaxed.sys.v2.u64 {%rd671, %rd670}, [%rd441];
ld.relaxed.sys.v2.u64 {%rd669, %rd668}, [%rd444];
ld.relaxed.sys.u64 %rd667, [%rd446];
LBB6_11:
mov.u32 %r19, 0;
mov.u16 %rs14, 1;
@%p42 bra LBB6_13;
add.s32 %r18, %r18, 1;
setp.lt.u32 %p43, %r18, %r3;
setp.ne.s32 %p20, %r3, %r18;
mov.u16 %rs14, 0;
mov.u64 %rd667, %rd75;
mov.u64 %rd668, %rd76;
mov.u64 %rd669, %rd77;
mov.u64 %rd670, %rd78;
mov.u64 %rd671, %rd79;
mov.u64 %rd672, %rd80;
mov.u64 %rd673, %rd81;
mov.u64 %rd674, %rd82;
mov.u64 %rd675, %rd83;
mov.u64 %rd676, %rd84;
mov.u64 %rd677, %rd85;
mov.u64 %rd678, %rd86;
mov.u64 %rd679, %rd87;
mov.u64 %rd680, %rd88;
mov.u64 %rd681, %rd89;
mov.u64 %rd682, %rd90;
mov.u64 %rd683, %rd91;
mov.u64 %rd684, %rd92;
mov.u64 %rd685, %rd93;
mov.u64 %rd686, %rd94;
mov.u64 %rd687, %rd95;
mov.u64 %rd688, %rd96;
mov.u64 %rd689, %rd97;
mov.u64 %rd690, %rd98;
mov.u64 %rd691, %rd99;
mov.u64 %rd692, %rd100;
mov.u64 %rd693, %rd101;
mov.u64 %rd694, %rd102;
mov.u32 %r19, %r2;
@%p20 bra LBB6_7;
LBB6_13:
mov.pred %p45, %p14;
@%p43 bra LBB6_23;
ld.acquire.sys.u64 %rd387, [%rd388];
setp.eq.s64 %p22, %rd387, 0;
@%p22 bra LBB6_22;
ld.relaxed.sys.u64 %rd389, [%rd390];
ld.relaxed.sys.u64 %rd391, [%rd392];
ld.relaxed.sys.u64 %rd393, [%rd394];
ld.acquire.sys.u64 %rd395, [%rd396];
setp.ne.s64 %p24, %rd395, %rd55;
mov.pred %p44, %p14;
@%p24 bra LBB6_17;
xor.b64 %rd397, %rd389, %rd55;
xor.b64 %rd398, %rd391, %rd55;
or.b64 %rd399, %rd398, %rd397;
xor.b64 %rd400, %rd393, %rd55;
or.b64 %rd401, %rd399, %rd400;
setp.eq.s64 %p44, %rd401, 0;
LBB6_17:
@!%p44 bra LBB6_19;
bra.uni LBB6_18;
LBB6_18:
ld.relaxed.sys.v2.u64 {%rd722, %rd721}, [%rd405];
ld.relaxed.sys.v2.u64 {%rd720, %rd719}, [%rd408];
ld.relaxed.sys.v2.u64 {%rd718, %rd717}, [%rd411];
ld.relaxed.sys.u64 %rd716, [%rd413];
ld.relaxed.sys.v2.u64 {%rd715, %rd714}, [%rd416];
ld.relaxed.sys.v2.u64 {%rd713, %rd712}, [%rd419];
ld.relaxed.sys.v2.u64 {%rd711, %rd710}, [%rd422];
ld.relaxed.sys.u64 %rd709, [%rd424];
ld.relaxed.sys.v2.u64 {%rd708, %rd707}, [%rd427];
ld.relaxed.sys.v2.u64 {%rd706, %rd705}, [%rd430];
ld.relaxed.sys.v2.u64 {%rd704, %rd703}, [%rd433];
ld.relaxed.sys.u64 %rd702, [%rd435];
ld.relaxed.sys.v2.u64 {%rd701, %rd700}, [%rd438];
ld.relaxed.sys.v2.u64 {%rd699, %rd698}, [%rd441];
ld.relaxed.sys.v2.u64 {%rd697, %rd696}, [%rd444];
ld.relaxed.sys.u64 %rd695, [%rd446];
LBB6_19:
mov.u32 %r19, %r15;
@!%p44 bra LBB6_21;
bra.uni LBB6_20;
LBB6_20:
mov.u32 %r19, 0;
mov.u64 %rd667, %rd695;
mov.u64 %rd668, %rd696;
mov.u64 %rd669, %rd697;
mov.u64 %rd670, %rd698;
mov.u64 %rd671, %rd699;
mov.u64 %rd672, %rd700;
mov.u64 %rd673, %rd701;
mov.u64 %rd674, %rd702;
mov.u64 %rd675, %rd703;
mov.u64 %rd676, %rd704;
mov.u64 %rd677, %rd705;
mov.u64 %rd678, %rd706;
mov.u64 %rd679, %rd707;
mov.u64 %rd680, %rd708;
mov.u64 %rd681, %rd709;
mov.u64 %rd682, %rd710;
mov.u64 %rd683, %rd711;
mov.u64 %rd684, %rd712;
mov.u64 %rd685, %rd713;
mov.u64 %rd686, %rd714;
mov.u64 %rd687, %rd715;
mov.u64 %rd688, %rd716;
mov.u64 %rd689, %rd717;
mov.u64 %rd690, %rd718;
mov.u64 %rd691, %rd719;
mov.u64 %rd692, %rd720;
mov.u64 %rd693, %rd721;
mov.u64 %rd694, %rd722;
bra.uni LBB6_21;
LBB6_22:
setp.gt.u64 %p45, %rd638, 63;
selp.b32 %r19, %r1, %r19, %p15;
bra.uni LBB6_23;
LBB6_24:
setp.ne.s32 %p27, %r19, 0;
@%p27 bra LBB6_27;
add.s64 %rd307, %rd11, %rd578;
add.s64 %rd457, %rd694, -3335678366873096957;
xor.b64 %rd458, %rd457, %rd693;
add.s64 %rd459, %rd694, -6671356733746193914;
xor.b64 %rd460, %rd459, %rd692;
or.b64 %rd461, %rd460, %rd458;
add.s64 %rd462, %rd694, 8439708973090260745;
xor.b64 %rd463, %rd462, %rd691;
or.b64 %rd464, %rd461, %rd463;
add.s64 %rd465, %rd694, 5104030606217163788;
xor.b64 %rd466, %rd465, %rd690;
or.b64 %rd467, %rd464, %rd466;
add.s64 %rd468, %rd694, 1768352239344066831;
xor.b64 %rd469, %rd468, %rd689;
or.b64 %rd470, %rd467, %rd469;
add.s64 %rd471, %rd694, -1567326127529030126;
xor.b64 %rd472, %rd471, %rd688;
or.b64 %rd473, %rd470, %rd472;
add.s64 %rd474, %rd694, -4903004494402127083;
xor.b64 %rd475, %rd474, %rd687;
or.b64 %rd476, %rd473, %rd475;
add.s64 %rd477, %rd694, -8238682861275224040;
xor.b64 %rd478, %rd477, %rd686;
or.b64 %rd479, %rd476, %rd478;
add.s64 %rd480, %rd694, 6872382845561230619;
xor.b64 %rd481, %rd480, %rd685;
or.b64 %rd482, %rd479, %rd481;
add.s64 %rd483, %rd694, 3536704478688133662;
xor.b64 %rd484, %rd483, %rd684;
or.b64 %rd485, %rd482, %rd484;
add.s64 %rd486, %rd694, 201026111815036705;
xor.b64 %rd487, %rd486, %rd683;
or.b64 %rd488, %rd485, %rd487;
add.s64 %rd489, %rd694, -3134652255058060252;
xor.b64 %rd490, %rd489, %rd682;
or.b64 %rd491, %rd488, %rd490;
add.s64 %rd492, %rd694, -6470330621931157209;
xor.b64 %rd493, %rd492, %rd681;
or.b64 %rd494, %rd491, %rd493;
add.s64 %rd495, %rd694, 8640735084905297450;
xor.b64 %rd496, %rd495, %rd680;
or.b64 %rd497, %rd494, %rd496;
add.s64 %rd498, %rd694, 5305056718032200493;
xor.b64 %rd499, %rd498, %rd679;
or.b64 %rd500, %rd497, %rd499;
add.s64 %rd501, %rd694, 1969378351159103536;
xor.b64 %rd502, %rd501, %rd678;
or.b64 %rd503, %rd500, %rd502;
add.s64 %rd504, %rd694, -1366300015713993421;
xor.b64 %rd505, %rd504, %rd677;
or.b64 %rd506, %rd503, %rd505;
add.s64 %rd507, %rd694, -4701978382587090378;
xor.b64 %rd508, %rd507, %rd676;
or.b64 %rd509, %rd506, %rd508;
add.s64 %rd510, %rd694, -8037656749460187335;
xor.b64 %rd511, %rd510, %rd675;
or.b64 %rd512, %rd509, %rd511;
add.s64 %rd513, %rd694, 7073408957376267324;
xor.b64 %rd514, %rd513, %rd674;
or.b64 %rd515, %rd512, %rd514;
add.s64 %rd516, %rd694, 3737730590503170367;
xor.b64 %rd517, %rd516, %rd673;
or.b64 %rd518, %rd515, %rd517;
add.s64 %rd519, %rd694, 402052223630073410;
xor.b64 %rd520, %rd519, %rd672;
or.b64 %rd521, %rd518, %rd520;
add.s64 %rd522, %rd694, -2933626143243023547;
xor.b64 %rd523, %rd522, %rd671;
or.b64 %rd524, %rd521, %rd523;
add.s64 %rd525, %rd694, -6269304510116120504;
xor.b64 %rd526, %rd525, %rd670;
or.b64 %rd527, %rd524, %rd526;
add.s64 %rd528, %rd694, 8841761196720334155;
xor.b64 %rd529, %rd528, %rd669;
or.b64 %rd530, %rd527, %rd529;
add.s64 %rd531, %rd694, 5506082829847237198;
xor.b64 %rd532, %rd531, %rd668;
or.b64 %rd533, %rd530, %rd532;
add.s64 %rd534, %rd694, 2170404462974140241;
xor.b64 %rd535, %rd534, %rd667;
or.b64 %rd308, %rd533, %rd535;
add.s64 %rd578, %rd578, 1;
add.s64 %rd536, %rd667, %rd571;
add.s64 %rd537, %rd536, %rd668;
add.s64 %rd538, %rd537, %rd669;
add.s64 %rd539, %rd538, %rd670;
add.s64 %rd540, %rd539, %rd671;
add.s64 %rd541, %rd540, %rd672;
add.s64 %rd542, %rd541, %rd673;
add.s64 %rd543, %rd542, %rd674;
add.s64 %rd544, %rd543, %rd675;
add.s64 %rd545, %rd544, %rd676;
add.s64 %rd546, %rd545, %rd677;
add.s64 %rd547, %rd546, %rd678;
add.s64 %rd548, %rd547, %rd679;
add.s64 %rd549, %rd548, %rd680;
add.s64 %rd550, %rd549, %rd681;
add.s64 %rd551, %rd550, %rd682;
add.s64 %rd552, %rd551, %rd683;
add.s64 %rd553, %rd552, %rd684;
add.s64 %rd554, %rd553, %rd685;
add.s64 %rd555, %rd554, %rd686;
add.s64 %rd556, %rd555, %rd687;
add.s64 %rd557, %rd556, %rd688;
add.s64 %rd558, %rd557, %rd689;
add.s64 %rd559, %rd558, %rd690;
add.s64 %rd560, %rd559, %rd691;
add.s64 %rd561, %rd560, %rd692;
add.s64 %rd562, %rd561, %rd693;
add.s64 %rd571, %rd562, %rd694;
mul.lo.s64 %rd563, %rd307, -7046029254386353131;
xor.b64 %rd564, %rd563, %rd694;
or.b64 %rd565, %rd564, %rd308;
setp.eq.s64 %p30, %rd565, 0;
@%p30 bra LBB6_1;
mul.lo.s64 %rd566, %rd694, -1018231460777725123;
sub.s64 %rd567, %rd566, %rd307;
setp.ne.s64 %p31, %rd308, 0;
setp.gt.s64 %p32, %rd567, 1099511627776;
or.pred %p33, %p31, %p32;
setp.lt.s64 %p34, %rd567, -1099511627776;
or.pred %p35, %p33, %p34;
selp.u64 %rd568, 1, 0, %p35;
add.s64 %rd577, %rd577, %rd568;
setp.lt.s64 %p36, %rd567, 0;
not.pred %p37, %p35;
and.pred %p38, %p37, %p36;
selp.u64 %rd569, 1, 0, %p38;
add.s64 %rd576, %rd576, %rd569;
setp.gt.s64 %p39, %rd567, 0;
and.pred %p40, %p37, %p39;
selp.u64 %rd570, 1, 0, %p40;
add.s64 %rd575, %rd575, %rd570;
bra.uni LBB6_1;
LBB6_27:
add.s64 %rd447, %rd451, 8;
mov.u64 %rd448, 1;
st.release.sys.u64 [%rd447], %rd448;
cvt.s64.s32 %rd449, %r19;
st.global.u64 [%rd1], %rd578;
st.global.u64 [%rd1+8], %rd577;
st.global.u64 [%rd1+16], %rd576;
st.global.u64 [%rd1+24], %rd575;
st.global.u64 [%rd1+32], %rd571;
st.global.u64 [%rd1+40], %rd449;
st.global.u64 [%rd1+48], %rd448;
mov.u64 %rd450, 0;
st.global.u64 [%rd1+56], %rd450;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p28, %rs11, 0;
@%p28 bra LBB6_30;
setp.ne.s64 %p29, %rd607, 1;
mov.u64 %rd779, %rd55;
@%p29 bra LBB6_30;
st.release.sys.u64 [%rd451], %rd55;
mov.u64 %rd779, %rd55;
LBB6_30:
st.relaxed.sys.u64 [%rd453], %rd779;
st.release.sys.u64 [%rd451], %rd779;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_224(
.param .align 8 .b8 barmap_ring_sink_warp_224_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_224_param_1[24],
.param .u64 barmap_ring_sink_warp_224_param_2
)
{
.reg .pred %p<46>;
.reg .b32 %r<65>;
.reg .b64 %rd<974>;
ld.param.u64 %rd401, [barmap_ring_sink_warp_224_param_2];
cvta.to.global.u64 %rd1, %rd401;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd402, [barmap_ring_sink_warp_224_param_0];
cvta.to.global.u64 %rd2, %rd402;
ld.param.u64 %rd474, [barmap_ring_sink_warp_224_param_0+8];
ld.param.u64 %rd550, [barmap_ring_sink_warp_224_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_224_param_0+24];
add.s64 %rd548, %rd474, 8;
ld.relaxed.sys.u64 %rd791, [%rd548];
ld.param.u64 %rd703, [barmap_ring_sink_warp_224_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd403, %rd5, 1;
shr.u64 %rd404, %rd403, 2;
selp.b64 %rd9, 1, %rd404, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_224_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd399, 0;
mov.u32 %r24, 0;
mov.u32 %r27, -1;
mov.pred %p27, -1;
mov.pred %p24, 0;
mov.u64 %rd969, %rd399;
mov.u64 %rd880, %rd791;
mov.u64 %rd970, %rd399;
mov.u64 %rd971, %rd399;
mov.u64 %rd972, %rd399;
mov.u64 %rd973, %rd399;
bra.uni LBB7_1;
LBB7_32:
cvt.u64.u32 %rd666, %r59;
add.s64 %rd703, %rd703, %rd666;
LBB7_1:
mov.u64 %rd734, %rd399;
bra.uni LBB7_2;
LBB7_26:
mov.pred %p45, %p27;
LBB7_27:
add.s64 %rd734, %rd734, 1;
mov.u32 %r64, %r60;
@%p45 bra LBB7_2;
bra.uni LBB7_28;
LBB7_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd79, %r23;
add.s64 %rd414, %rd880, %rd79;
and.b64 %rd415, %rd414, %rd5;
shl.b64 %rd416, %rd415, 8;
add.s64 %rd417, %rd2, %rd416;
cvta.global.u64 %rd426, %rd417;
add.s64 %rd81, %rd414, 1;
add.s64 %rd407, %rd426, 56;
ld.relaxed.sys.u64 %rd406, [%rd407];
add.s64 %rd409, %rd426, 120;
ld.relaxed.sys.u64 %rd408, [%rd409];
add.s64 %rd411, %rd426, 184;
ld.relaxed.sys.u64 %rd410, [%rd411];
add.s64 %rd413, %rd426, 248;
ld.acquire.sys.u64 %rd412, [%rd413];
setp.ne.s64 %p6, %rd412, %rd81;
mov.u32 %r55, %r24;
@%p6 bra LBB7_4;
xor.b64 %rd418, %rd81, %rd406;
xor.b64 %rd419, %rd81, %rd408;
or.b64 %rd420, %rd419, %rd418;
xor.b64 %rd421, %rd410, %rd81;
or.b64 %rd422, %rd420, %rd421;
setp.eq.s64 %p7, %rd422, 0;
selp.u32 %r55, 1, 0, %p7;
LBB7_4:
cvt.u32.u64 %r30, %rd79;
{ .reg .pred p; setp.ne.u32 p, %r55, 0; vote.sync.ballot.b32 %r25, p, %r27; }
not.b32 %r29, %r25;
{ .reg .b32 r; brev.b32 r, %r29; bfind.shiftamt.u32 %r28, r; }
min.u32 %r59, %r28, 32;
setp.ge.u32 %p8, %r30, %r59;
@%p8 bra LBB7_6;
ld.relaxed.sys.v2.u64 {%rd762, %rd761}, [%rd426];
add.s64 %rd429, %rd426, 16;
ld.relaxed.sys.v2.u64 {%rd760, %rd759}, [%rd429];
add.s64 %rd432, %rd426, 32;
ld.relaxed.sys.v2.u64 {%rd758, %rd757}, [%rd432];
add.s64 %rd434, %rd426, 48;
ld.relaxed.sys.u64 %rd756, [%rd434];
add.s64 %rd437, %rd426, 64;
ld.relaxed.sys.v2.u64 {%rd755, %rd754}, [%rd437];
add.s64 %rd440, %rd426, 80;
ld.relaxed.sys.v2.u64 {%rd753, %rd752}, [%rd440];
add.s64 %rd443, %rd426, 96;
ld.relaxed.sys.v2.u64 {%rd751, %rd750}, [%rd443];
add.s64 %rd445, %rd426, 112;
ld.relaxed.sys.u64 %rd749, [%rd445];
add.s64 %rd448, %rd426, 128;
ld.relaxed.sys.v2.u64 {%rd748, %rd747}, [%rd448];
add.s64 %rd451, %rd426, 144;
ld.relaxed.sys.v2.u64 {%rd746, %rd745}, [%rd451];
add.s64 %rd454, %rd426, 160;
ld.relaxed.sys.v2.u64 {%rd744, %rd743}, [%rd454];
add.s64 %rd456, %rd426, 176;
ld.relaxed.sys.u64 %rd742, [%rd456];
add.s64 %rd459, %rd426, 192;
ld.relaxed.sys.v2.u64 {%rd741, %rd740}, [%rd459];
add.s64 %rd462, %rd426, 208;
ld.relaxed.sys.v2.u64 {%rd739, %rd738}, [%rd462];
add.s64 %rd465, %rd426, 224;
ld.relaxed.sys.v2.u64 {%rd737, %rd736}, [%rd465];
add.s64 %rd467, %rd426, 240;
ld.relaxed.sys.u64 %rd735, [%rd467];
LBB7_6:
@%p8 bra LBB7_8;
mov.u64 %rd763, %rd735;
mov.u64 %rd764, %rd736;
mov.u64 %rd765, %rd737;
mov.u64 %rd766, %rd738;
mov.u64 %rd767, %rd739;
mov.u64 %rd768, %rd740;
mov.u64 %rd769, %rd741;
mov.u64 %rd770, %rd742;
mov.u64 %rd771, %rd743;
mov.u64 %rd772, %rd744;
mov.u64 %rd773, %rd745;
mov.u64 %rd774, %rd746;
mov.u64 %rd775, %rd747;
mov.u64 %rd776, %rd748;
mov.u64 %rd777, %rd749;
mov.u64 %rd778, %rd750;
mov.u64 %rd779, %rd751;
mov.u64 %rd780, %rd752;
mov.u64 %rd781, %rd753;
mov.u64 %rd782, %rd754;
mov.u64 %rd783, %rd755;
mov.u64 %rd784, %rd756;
mov.u64 %rd785, %rd757;
mov.u64 %rd786, %rd758;
mov.u64 %rd787, %rd759;
mov.u64 %rd788, %rd760;
mov.u64 %rd789, %rd761;
mov.u64 %rd790, %rd762;
LBB7_8:
cvt.u64.u32 %rd468, %r59;
add.s64 %rd880, %rd880, %rd468;
sub.s64 %rd469, %rd880, %rd791;
setp.lt.u64 %p10, %rd469, %rd9;
@%p10 bra LBB7_11;
bar.warp.sync %r27;
setp.ne.s32 %p11, %r30, 0;
mov.u64 %rd791, %rd880;
@%p11 bra LBB7_11;
st.release.sys.u64 [%rd550], %rd880;
mov.u64 %rd791, %rd880;
LBB7_11:
setp.ne.s32 %p12, %r59, 0;
mov.u32 %r64, 0;
@%p12 bra LBB7_28;
setp.lt.u64 %p44, %rd734, %rd11;
and.b64 %rd472, %rd734, 63;
setp.ne.s64 %p13, %rd472, 63;
and.pred %p14, %p44, %p13;
mov.u32 %r59, 0;
@%p14 bra LBB7_26;
ld.acquire.sys.u64 %rd473, [%rd474];
setp.ne.s64 %p15, %rd473, 0;
selp.u32 %r37, 1, 0, %p15;
{ .reg .pred p; setp.ne.u32 p, %r37, 0; vote.sync.ballot.b32 %r36, p, %r27; }
not.b32 %r40, %r36;
{ .reg .b32 r; brev.b32 r, %r40; bfind.shiftamt.u32 %r39, r; }
setp.lt.u32 %p16, %r39, 32;
@%p16 bra LBB7_24;
add.s64 %rd483, %rd880, %rd79;
and.b64 %rd484, %rd483, %rd5;
shl.b64 %rd485, %rd484, 8;
add.s64 %rd486, %rd2, %rd485;
cvta.global.u64 %rd495, %rd486;
add.s64 %rd172, %rd483, 1;
add.s64 %rd476, %rd495, 56;
ld.relaxed.sys.u64 %rd475, [%rd476];
add.s64 %rd478, %rd495, 120;
ld.relaxed.sys.u64 %rd477, [%rd478];
add.s64 %rd480, %rd495, 184;
ld.relaxed.sys.u64 %rd479, [%rd480];
add.s64 %rd482, %rd495, 248;
ld.acquire.sys.u64 %rd481, [%rd482];
setp.ne.s64 %p18, %rd481, %rd172;
mov.u32 %r56, 0;
@%p18 bra LBB7_16;
xor.b64 %rd487, %rd475, %rd172;
xor.b64 %rd488, %rd477, %rd172;
or.b64 %rd489, %rd488, %rd487;
xor.b64 %rd490, %rd479, %rd172;
or.b64 %rd491, %rd489, %rd490;
setp.eq.s64 %p19, %rd491, 0;
selp.u32 %r56, 1, 0, %p19;
LBB7_16:
{ .reg .pred p; setp.ne.u32 p, %r56, 0; vote.sync.ballot.b32 %r43, p, %r27; }
not.b32 %r47, %r43;
{ .reg .b32 r; brev.b32 r, %r47; bfind.shiftamt.u32 %r46, r; }
min.u32 %r59, %r46, 32;
setp.ge.u32 %p20, %r30, %r59;
@%p20 bra LBB7_18;
ld.relaxed.sys.v2.u64 {%rd819, %rd818}, [%rd495];
add.s64 %rd498, %rd495, 16;
ld.relaxed.sys.v2.u64 {%rd817, %rd816}, [%rd498];
add.s64 %rd501, %rd495, 32;
ld.relaxed.sys.v2.u64 {%rd815, %rd814}, [%rd501];
add.s64 %rd503, %rd495, 48;
ld.relaxed.sys.u64 %rd813, [%rd503];
add.s64 %rd506, %rd495, 64;
ld.relaxed.sys.v2.u64 {%rd812, %rd811}, [%rd506];
add.s64 %rd509, %rd495, 80;
ld.relaxed.sys.v2.u64 {%rd810, %rd809}, [%rd509];
add.s64 %rd512, %rd495, 96;
ld.relaxed.sys.v2.u64 {%rd808, %rd807}, [%rd512];
add.s64 %rd514, %rd495, 112;
ld.relaxed.sys.u64 %rd806, [%rd514];
add.s64 %rd517, %rd495, 128;
ld.relaxed.sys.v2.u64 {%rd805, %rd804}, [%rd517];
add.s64 %rd520, %rd495, 144;
ld.relaxed.sys.v2.u64 {%rd803, %rd802}, [%rd520];
add.s64 %rd523, %rd495, 160;
ld.relaxed.sys.v2.u64 {%rd801, %rd800}, [%rd523];
add.s64 %rd525, %rd495, 176;
ld.relaxed.sys.u64 %rd799, [%rd525];
add.s64 %rd528, %rd495, 192;
ld.relaxed.sys.v2.u64 {%rd798, %rd797}, [%rd528];
add.s64 %rd531, %rd495, 208;
ld.relaxed.sys.v2.u64 {%rd796, %rd795}, [%rd531];
add.s64 %rd534, %rd495, 224;
ld.relaxed.sys.v2.u64 {%rd794, %rd793}, [%rd534];
add.s64 %rd536, %rd495, 240;
ld.relaxed.sys.u64 %rd792, [%rd536];
LBB7_18:
@%p20 bra LBB7_20;
mov.u64 %rd763, %rd792;
mov.u64 %rd764, %rd793;
mov.u64 %rd765, %rd794;
mov.u64 %rd766, %rd795;
mov.u64 %rd767, %rd796;
mov.u64 %rd768, %rd797;
mov.u64 %rd769, %rd798;
mov.u64 %rd770, %rd799;
mov.u64 %rd771, %rd800;
mov.u64 %rd772, %rd801;
mov.u64 %rd773, %rd802;
mov.u64 %rd774, %rd803;
mov.u64 %rd775, %rd804;
mov.u64 %rd776, %rd805;
mov.u64 %rd777, %rd806;
mov.u64 %rd778, %rd807;
mov.u64 %rd779, %rd808;
mov.u64 %rd780, %rd809;
mov.u64 %rd781, %rd810;
mov.u64 %rd782, %rd811;
mov.u64 %rd783, %rd812;
mov.u64 %rd784, %rd813;
mov.u64 %rd785, %rd814;
mov.u64 %rd786, %rd815;
mov.u64 %rd787, %rd816;
mov.u64 %rd788, %rd817;
mov.u64 %rd789, %rd818;
mov.u64 %rd790, %rd819;
LBB7_20:
cvt.u64.u32 %rd537, %r59;
add.s64 %rd880, %rd880, %rd537;
sub.s64 %rd538, %rd880, %rd791;
setp.lt.u64 %p22, %rd538, %rd9;
@%p22 bra LBB7_23;
bar.warp.sync %r27;
setp.ne.s32 %p23, %r30, 0;
mov.u64 %rd791, %rd880;
@%p23 bra LBB7_23;
st.release.sys.u64 [%rd550], %rd880;
mov.u64 %rd791, %rd880;
LBB7_23:
setp.eq.s32 %p25, %r59, 0;
selp.b32 %r60, 3, 0, %p25;
mov.pred %p44, %p24;
bra.uni LBB7_25;
LBB7_24:
setp.lt.u64 %p17, %rd734, %rd11;
selp.b32 %r60, %r60, %r1, %p17;
mov.u32 %r59, 0;
LBB7_25:
mov.pred %p45, %p24;
@!%p44 bra LBB7_27;
bra.uni LBB7_26;
LBB7_28:
setp.ne.s32 %p28, %r64, 0;
@%p28 bra LBB7_33;
cvt.u32.u64 %r53, %rd10;
setp.le.u32 %p32, %r59, %r53;
@%p32 bra LBB7_32;
add.s64 %rd383, %rd703, %rd10;
add.s64 %rd552, %rd790, -3335678366873096957;
xor.b64 %rd553, %rd552, %rd789;
add.s64 %rd554, %rd790, -6671356733746193914;
xor.b64 %rd555, %rd554, %rd788;
or.b64 %rd556, %rd555, %rd553;
add.s64 %rd557, %rd790, 8439708973090260745;
xor.b64 %rd558, %rd557, %rd787;
or.b64 %rd559, %rd556, %rd558;
add.s64 %rd560, %rd790, 5104030606217163788;
xor.b64 %rd561, %rd560, %rd786;
or.b64 %rd562, %rd559, %rd561;
add.s64 %rd563, %rd790, 1768352239344066831;
xor.b64 %rd564, %rd563, %rd785;
or.b64 %rd565, %rd562, %rd564;
add.s64 %rd566, %rd790, -1567326127529030126;
xor.b64 %rd567, %rd566, %rd784;
or.b64 %rd568, %rd565, %rd567;
add.s64 %rd569, %rd790, -4903004494402127083;
xor.b64 %rd570, %rd569, %rd783;
or.b64 %rd571, %rd568, %rd570;
add.s64 %rd572, %rd790, -8238682861275224040;
xor.b64 %rd573, %rd572, %rd782;
or.b64 %rd574, %rd571, %rd573;
add.s64 %rd575, %rd790, 6872382845561230619;
xor.b64 %rd576, %rd575, %rd781;
or.b64 %rd577, %rd574, %rd576;
add.s64 %rd578, %rd790, 3536704478688133662;
xor.b64 %rd579, %rd578, %rd780;
or.b64 %rd580, %rd577, %rd579;
add.s64 %rd581, %rd790, 201026111815036705;
xor.b64 %rd582, %rd581, %rd779;
or.b64 %rd583, %rd580, %rd582;
add.s64 %rd584, %rd790, -3134652255058060252;
xor.b64 %rd585, %rd584, %rd778;
or.b64 %rd586, %rd583, %rd585;
add.s64 %rd587, %rd790, -6470330621931157209;
xor.b64 %rd588, %rd587, %rd777;
or.b64 %rd589, %rd586, %rd588;
add.s64 %rd590, %rd790, 8640735084905297450;
xor.b64 %rd591, %rd590, %rd776;
or.b64 %rd592, %rd589, %rd591;
add.s64 %rd593, %rd790, 5305056718032200493;
xor.b64 %rd594, %rd593, %rd775;
or.b64 %rd595, %rd592, %rd594;
add.s64 %rd596, %rd790, 1969378351159103536;
xor.b64 %rd597, %rd596, %rd774;
or.b64 %rd598, %rd595, %rd597;
add.s64 %rd599, %rd790, -1366300015713993421;
xor.b64 %rd600, %rd599, %rd773;
or.b64 %rd601, %rd598, %rd600;
add.s64 %rd602, %rd790, -4701978382587090378;
xor.b64 %rd603, %rd602, %rd772;
or.b64 %rd604, %rd601, %rd603;
add.s64 %rd605, %rd790, -8037656749460187335;
xor.b64 %rd606, %rd605, %rd771;
or.b64 %rd607, %rd604, %rd606;
add.s64 %rd608, %rd790, 7073408957376267324;
xor.b64 %rd609, %rd608, %rd770;
or.b64 %rd610, %rd607, %rd609;
add.s64 %rd611, %rd790, 3737730590503170367;
xor.b64 %rd612, %rd611, %rd769;
or.b64 %rd613, %rd610, %rd612;
add.s64 %rd614, %rd790, 402052223630073410;
xor.b64 %rd615, %rd614, %rd768;
or.b64 %rd616, %rd613, %rd615;
add.s64 %rd617, %rd790, -2933626143243023547;
xor.b64 %rd618, %rd617, %rd767;
or.b64 %rd619, %rd616, %rd618;
add.s64 %rd620, %rd790, -6269304510116120504;
xor.b64 %rd621, %rd620, %rd766;
or.b64 %rd622, %rd619, %rd621;
add.s64 %rd623, %rd790, 8841761196720334155;
xor.b64 %rd624, %rd623, %rd765;
or.b64 %rd625, %rd622, %rd624;
add.s64 %rd626, %rd790, 5506082829847237198;
xor.b64 %rd627, %rd626, %rd764;
or.b64 %rd628, %rd625, %rd627;
add.s64 %rd629, %rd790, 2170404462974140241;
xor.b64 %rd630, %rd629, %rd763;
or.b64 %rd384, %rd628, %rd630;
add.s64 %rd973, %rd973, 1;
add.s64 %rd631, %rd763, %rd969;
add.s64 %rd632, %rd631, %rd764;
add.s64 %rd633, %rd632, %rd765;
add.s64 %rd634, %rd633, %rd766;
add.s64 %rd635, %rd634, %rd767;
add.s64 %rd636, %rd635, %rd768;
add.s64 %rd637, %rd636, %rd769;
add.s64 %rd638, %rd637, %rd770;
add.s64 %rd639, %rd638, %rd771;
add.s64 %rd640, %rd639, %rd772;
add.s64 %rd641, %rd640, %rd773;
add.s64 %rd642, %rd641, %rd774;
add.s64 %rd643, %rd642, %rd775;
add.s64 %rd644, %rd643, %rd776;
add.s64 %rd645, %rd644, %rd777;
add.s64 %rd646, %rd645, %rd778;
add.s64 %rd647, %rd646, %rd779;
add.s64 %rd648, %rd647, %rd780;
add.s64 %rd649, %rd648, %rd781;
add.s64 %rd650, %rd649, %rd782;
add.s64 %rd651, %rd650, %rd783;
add.s64 %rd652, %rd651, %rd784;
add.s64 %rd653, %rd652, %rd785;
add.s64 %rd654, %rd653, %rd786;
add.s64 %rd655, %rd654, %rd787;
add.s64 %rd656, %rd655, %rd788;
add.s64 %rd657, %rd656, %rd789;
add.s64 %rd969, %rd657, %rd790;
mul.lo.s64 %rd658, %rd383, -7046029254386353131;
xor.b64 %rd659, %rd790, %rd658;
or.b64 %rd660, %rd384, %rd659;
setp.eq.s64 %p33, %rd660, 0;
@%p33 bra LBB7_32;
mul.lo.s64 %rd661, %rd790, -1018231460777725123;
sub.s64 %rd662, %rd661, %rd383;
setp.ne.s64 %p34, %rd384, 0;
setp.gt.s64 %p35, %rd662, 1099511627776;
or.pred %p36, %p34, %p35;
setp.lt.s64 %p37, %rd662, -1099511627776;
or.pred %p38, %p36, %p37;
selp.u64 %rd663, 1, 0, %p38;
add.s64 %rd972, %rd972, %rd663;
setp.lt.s64 %p39, %rd662, 0;
not.pred %p40, %p38;
and.pred %p41, %p40, %p39;
selp.u64 %rd664, 1, 0, %p41;
add.s64 %rd971, %rd971, %rd664;
setp.gt.s64 %p42, %rd662, 0;
and.pred %p43, %p40, %p42;
selp.u64 %rd665, 1, 0, %p43;
add.s64 %rd970, %rd970, %rd665;
bra.uni LBB7_32;
LBB7_33:
setp.ne.s32 %p29, %r30, 0;
mov.u64 %rd667, 1;
@%p29 bra LBB7_35;
add.s64 %rd541, %rd550, 8;
st.release.sys.u64 [%rd541], %rd667;
LBB7_35:
cvt.s64.s32 %rd543, %r64;
shl.b64 %rd544, %rd10, 6;
add.s64 %rd545, %rd1, %rd544;
st.global.u64 [%rd545], %rd973;
st.global.u64 [%rd545+8], %rd972;
st.global.u64 [%rd545+16], %rd971;
st.global.u64 [%rd545+24], %rd970;
st.global.u64 [%rd545+32], %rd969;
st.global.u64 [%rd545+40], %rd543;
st.global.u64 [%rd545+48], %rd667;
mov.u64 %rd547, 0;
st.global.u64 [%rd545+56], %rd547;
@%p29 bra LBB7_37;
st.relaxed.sys.u64 [%rd548], %rd880;
LBB7_37:
bar.warp.sync %r27;
@%p29 bra LBB7_39;
st.release.sys.u64 [%rd550], %rd880;
LBB7_39:
ret;
}
)"
R"(.visible .entry barmap_ring_source_thread_8(
.param .align 8 .b8 barmap_ring_source_thread_8_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_8_param_1[24],
.param .u64 barmap_ring_source_thread_8_param_2
)
{
.reg .pred %p<26>;
.reg .b32 %r<25>;
.reg .b64 %rd<86>;
ld.param.u64 %rd45, [barmap_ring_source_thread_8_param_2];
cvta.to.global.u64 %rd1, %rd45;
ld.param.u64 %rd3, [barmap_ring_source_thread_8_param_0];
ld.param.u64 %rd65, [barmap_ring_source_thread_8_param_0+8];
ld.param.u64 %rd43, [barmap_ring_source_thread_8_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_8_param_0+24];
add.s64 %rd67, %rd43, 16;
ld.relaxed.sys.u64 %rd74, [%rd67];
ld.acquire.sys.u64 %rd42, [%rd43];
ld.param.u64 %rd10, [barmap_ring_source_thread_8_param_1+8];
setp.eq.s64 %p7, %rd10, 0;
mov.u32 %r21, 0;
mov.u64 %rd44, 0;
mov.u64 %rd84, %rd44;
mov.u64 %rd85, %rd44;
@%p7 bra LBB8_14;
mov.b64 %rd46, barmap_ring_source_thread_8_param_1;
mov.u64 %rd2, %rd46;
add.s64 %rd11, %rd6, 1;
sub.s64 %rd48, %rd11, %rd74;
add.s64 %rd79, %rd48, %rd42;
and.b64 %rd49, %rd74, %rd6;
shl.b64 %rd50, %rd49, 4;
add.s64 %rd75, %rd3, %rd50;
add.s64 %rd57, %rd43, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p8, %rd16, 0;
selp.b32 %r1, 1, 4, %p8;
mov.u64 %rd85, 0;
mov.pred %p10, 0;
mov.pred %p13, -1;
mov.u64 %rd84, %rd85;
LBB8_2:
add.s64 %rd51, %rd15, %rd85;
mul.lo.s64 %rd59, %rd51, -7046029254386353131;
setp.ne.s64 %p9, %rd79, 0;
@%p9 bra LBB8_12;
bra.uni LBB8_3;
LBB8_12:
add.s64 %rd74, %rd74, 1;
st.relaxed.sys.v2.u64 [%rd75], {%rd59, %rd74};
add.s64 %rd79, %rd79, -1;
and.b64 %rd61, %rd74, %rd6;
shl.b64 %rd62, %rd61, 4;
add.s64 %rd75, %rd3, %rd62;
mov.u32 %r21, 0;
LBB8_13:
setp.eq.s32 %p20, %r21, 0;
selp.b64 %rd63, %rd59, 0, %p20;
add.s64 %rd84, %rd63, %rd84;
selp.u64 %rd64, 1, 0, %p20;
add.s64 %rd85, %rd85, %rd64;
setp.lt.u64 %p21, %rd85, %rd10;
and.pred %p22, %p20, %p21;
@%p22 bra LBB8_2;
bra.uni LBB8_14;
LBB8_3:
mov.u64 %rd79, 0;
mov.u64 %rd77, %rd16;
mov.u32 %r21, %r19;
bra.uni LBB8_4;
LBB8_10:
add.s64 %rd77, %rd77, -64;
mov.u32 %r19, %r21;
@%p25 bra LBB8_4;
bra.uni LBB8_11;
LBB8_4:
setp.lt.u64 %p11, %rd77, 64;
cvt.u32.u64 %r14, %rd77;
add.s32 %r15, %r14, 1;
selp.b32 %r3, %r15, 64, %p11;
setp.eq.s32 %p12, %r3, 0;
mov.pred %p24, %p10;
@%p12 bra LBB8_8;
mov.u32 %r16, 0;
mov.pred %p24, %p13;
mov.u32 %r20, %r16;
LBB8_7:
ld.acquire.sys.u64 %rd53, [%rd43];
sub.s64 %rd55, %rd53, %rd74;
add.s64 %rd79, %rd11, %rd55;
setp.eq.s64 %p14, %rd79, 0;
mov.u32 %r21, %r16;
@%p14 bra LBB8_6;
bra.uni LBB8_8;
LBB8_6:
add.s32 %r20, %r20, 1;
setp.lt.u32 %p24, %r20, %r3;
setp.eq.s32 %p15, %r3, %r20;
mov.u32 %r21, %r19;
@%p15 bra LBB8_8;
bra.uni LBB8_7;
LBB8_8:
mov.pred %p25, %p10;
@%p24 bra LBB8_10;
setp.gt.u64 %p4, %rd77, 63;
selp.b32 %r7, %r1, %r21, %p11;
ld.relaxed.sys.u64 %rd56, [%rd57];
setp.eq.s64 %p18, %rd56, 0;
and.pred %p25, %p18, %p4;
selp.b32 %r21, %r7, 3, %p18;
bra.uni LBB8_10;
LBB8_11:
setp.ne.s32 %p19, %r21, 0;
@%p19 bra LBB8_13;
bra.uni LBB8_12;
LBB8_14:
mov.u64 %rd66, 1;
st.release.sys.u64 [%rd65], %rd66;
cvt.s64.s32 %rd69, %r21;
st.global.u64 [%rd1], %rd85;
st.global.u64 [%rd1+8], %rd44;
st.global.u64 [%rd1+16], %rd44;
st.global.u64 [%rd1+24], %rd44;
st.global.u64 [%rd1+32], %rd84;
st.global.u64 [%rd1+40], %rd69;
st.global.u64 [%rd1+48], %rd66;
st.global.u64 [%rd1+56], %rd44;
st.relaxed.sys.u64 [%rd67], %rd74;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_8(
.param .align 8 .b8 barmap_ring_source_warp_8_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_8_param_1[24],
.param .u64 barmap_ring_source_warp_8_param_2
)
{
.reg .pred %p<25>;
.reg .b32 %r<48>;
.reg .b64 %rd<91>;
ld.param.u64 %rd43, [barmap_ring_source_warp_8_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd3, [barmap_ring_source_warp_8_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_8_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_8_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_8_param_0+24];
add.s64 %rd39, %rd5, 16;
ld.relaxed.sys.u64 %rd90, [%rd39];
ld.acquire.sys.u64 %rd88, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_8_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r44, 0;
mov.u64 %rd83, 0;
mov.u32 %r40, -1;
mov.u64 %rd82, %rd83;
@%p2 bra LBB9_4;
mov.b64 %rd44, barmap_ring_source_warp_8_param_1;
mov.u64 %rd2, %rd44;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd57, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd81, 0;
mov.u32 %r17, 2;
mov.u64 %rd82, %rd81;
mov.u64 %rd83, %rd81;
bra.uni LBB9_2;
LBB9_18:
setp.eq.s32 %p18, %r44, 0;
setp.lt.u32 %p19, %r1, %r5;
and.pred %p20, %p18, %p19;
selp.b64 %rd66, %rd60, 0, %p20;
add.s64 %rd83, %rd66, %rd83;
selp.u64 %rd67, 1, 0, %p20;
add.s64 %rd82, %rd82, %rd67;
add.s64 %rd81, %rd26, %rd81;
setp.gt.u64 %p21, %rd12, %rd81;
and.pred %p22, %p21, %p18;
@%p22 bra LBB9_2;
bra.uni LBB9_4;
LBB9_2:
mov.u64 %rd24, %rd90;
sub.s64 %rd46, %rd12, %rd81;
min.u64 %rd47, %rd46, %rd11;
and.b64 %rd26, %rd47, 4294967295;
add.s64 %rd27, %rd26, %rd24;
sub.s64 %rd50, %rd27, %rd88;
setp.le.u64 %p4, %rd50, %rd10;
mov.u32 %r45, %r17;
@%p4 bra LBB9_15;
mov.u64 %rd87, 0;
mov.u64 %rd86, %rd88;
LBB9_10:
ld.acquire.sys.u64 %rd88, [%rd5];
sub.s64 %rd54, %rd27, %rd88;
setp.le.u64 %p5, %rd54, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r40; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r45, %r17;
@%p6 bra LBB9_14;
setp.lt.u64 %p7, %rd87, %rd16;
and.b64 %rd55, %rd87, 63;
setp.ne.s64 %p8, %rd55, 63;
and.pred %p9, %p7, %p8;
@%p9 bra LBB9_13;
ld.relaxed.sys.u64 %rd56, [%rd57];
setp.ne.s64 %p10, %rd56, 0;
selp.u32 %r27, 1, 0, %p10;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r40; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p11, %r29, 31;
mov.u32 %r44, 3;
mov.u32 %r45, 1;
mov.u64 %rd88, %rd86;
@%p11 bra LBB9_14;
LBB9_13:
setp.ge.u64 %p13, %rd87, %rd16;
selp.u32 %r45, 1, 0, %p13;
selp.b32 %r44, %r42, %r2, %p7;
mov.u64 %rd88, %rd86;
LBB9_14:
setp.eq.s32 %p14, %r45, 0;
@%p14 bra LBB9_9;
bra.uni LBB9_15;
LBB9_9:
add.s64 %rd87, %rd87, 1;
sub.s64 %rd58, %rd27, %rd88;
setp.le.u64 %p15, %rd58, %rd10;
mov.u64 %rd86, %rd88;
mov.u32 %r42, %r44;
mov.u32 %r45, %r17;
@%p15 bra LBB9_15;
bra.uni LBB9_10;
LBB9_15:
cvt.u32.u64 %r5, %rd47;
add.s64 %rd48, %rd81, %rd13;
add.s64 %rd49, %rd48, %rd15;
mul.lo.s64 %rd60, %rd49, -7046029254386353131;
setp.ne.s32 %p16, %r45, 2;
mov.u64 %rd90, %rd24;
@%p16 bra LBB9_18;
mov.u32 %r34, %laneid;
setp.ge.u32 %p17, %r34, %r5;
mov.u32 %r44, 0;
mov.u64 %rd90, %rd27;
@%p17 bra LBB9_18;
cvt.u64.u32 %rd62, %r34;
add.s64 %rd63, %rd24, %rd62;
and.b64 %rd64, %rd63, %rd6;
shl.b64 %rd65, %rd64, 4;
add.s64 %rd59, %rd3, %rd65;
add.s64 %rd61, %rd63, 1;
st.relaxed.sys.v2.u64 [%rd59], {%rd60, %rd61};
mov.u64 %rd90, %rd27;
bra.uni LBB9_18;
LBB9_4:
cvta.to.global.u64 %rd1, %rd43;
bar.warp.sync %r40;
mov.u32 %r38, %laneid;
setp.ne.s32 %p23, %r38, 0;
mov.u64 %rd77, 1;
@%p23 bra LBB9_6;
st.release.sys.u64 [%rd4], %rd77;
LBB9_6:
cvt.s64.s32 %rd70, %r44;
mul.wide.u32 %rd71, %r1, 64;
add.s64 %rd72, %rd1, %rd71;
st.global.u64 [%rd72], %rd82;
mov.u64 %rd73, 0;
st.global.u64 [%rd72+8], %rd73;
st.global.u64 [%rd72+16], %rd73;
st.global.u64 [%rd72+24], %rd73;
st.global.u64 [%rd72+32], %rd83;
st.global.u64 [%rd72+40], %rd70;
st.global.u64 [%rd72+48], %rd77;
st.global.u64 [%rd72+56], %rd73;
bar.warp.sync %r40;
@%p23 bra LBB9_8;
st.relaxed.sys.u64 [%rd39], %rd90;
LBB9_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_8(
.param .align 8 .b8 barmap_ring_source_many_8_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_8_param_1[24],
.param .u64 barmap_ring_source_many_8_param_2,
.param .u32 barmap_ring_source_many_8_param_3
)
{
.reg .pred %p<13>;
.reg .b32 %r<24>;
.reg .b64 %rd<69>;
ld.param.u64 %rd30, [barmap_ring_source_many_8_param_2];
cvta.to.global.u64 %rd1, %rd30;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_8_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB10_2;
bra.uni LBB10_1;
LBB10_2:
ld.param.u32 %r9, [barmap_ring_source_many_8_param_3];
mov.b64 %rd29, barmap_ring_source_many_8_param_0;
mov.b64 %rd31, barmap_ring_source_many_8_param_1;
mov.u64 %rd2, %rd31;
mov.u64 %rd3, %rd29;
mov.u64 %rd61, 0;
cvt.u64.u32 %rd66, %r1;
cvt.u64.u32 %rd7, %r9;
ld.param.u64 %rd8, [%rd2];
ld.param.u64 %rd9, [%rd2+16];
ld.param.u64 %rd40, [%rd3+16];
add.s64 %rd43, %rd40, 16;
setp.eq.s64 %p2, %rd9, 0;
selp.b32 %r2, 1, 4, %p2;
ld.param.u64 %rd12, [%rd3+24];
ld.param.u64 %rd13, [%rd3];
add.s64 %rd52, %rd40, 8;
mov.u32 %r16, 1;
mov.u64 %rd68, %rd61;
mov.u64 %rd67, %rd61;
bra.uni LBB10_3;
LBB10_11:
setp.eq.s32 %p10, %r21, 0;
selp.b64 %rd53, %rd47, 0, %p10;
add.s64 %rd67, %rd53, %rd67;
selp.u64 %rd54, 1, 0, %p10;
add.s64 %rd68, %rd68, %rd54;
setp.lt.u64 %p11, %rd68, %rd4;
and.pred %p12, %p10, %p11;
@%p12 bra LBB10_3;
bra.uni LBB10_12;
LBB10_3:
mul.lo.s64 %rd34, %rd68, %rd7;
add.s64 %rd35, %rd34, %rd66;
add.s64 %rd36, %rd35, %rd8;
mul.lo.s64 %rd47, %rd36, -7046029254386353131;
mov.u64 %rd18, %rd61;
LBB10_4:
ld.relaxed.sys.u64 %rd44, [%rd43];
ld.acquire.sys.u64 %rd39, [%rd40];
sub.s64 %rd41, %rd44, %rd39;
setp.gt.s64 %p3, %rd41, %rd12;
@%p3 bra LBB10_8;
bra.uni LBB10_5;
LBB10_8:
ld.relaxed.sys.u64 %rd51, [%rd52];
setp.ne.s64 %p5, %rd51, 0;
setp.eq.s64 %p6, %rd51, 0;
setp.eq.s64 %p7, %rd18, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB10_9;
LBB10_5:
add.s64 %rd48, %rd44, 1;
atom.relaxed.gpu.cas.b64 %rd42, [%rd43], %rd44, %rd48;
setp.ne.s64 %p4, %rd42, %rd44;
@%p4 bra LBB10_7;
and.b64 %rd49, %rd12, %rd44;
shl.b64 %rd50, %rd49, 4;
add.s64 %rd46, %rd13, %rd50;
st.relaxed.sys.v2.u64 [%rd46], {%rd47, %rd48};
mov.u32 %r21, 0;
mov.u32 %r22, %r16;
bra.uni LBB10_9;
LBB10_7:
add.s64 %rd18, %rd18, -1;
mov.u32 %r22, 4;
LBB10_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB10_10;
bra.uni LBB10_11;
LBB10_10:
add.s64 %rd18, %rd18, 1;
bra.uni LBB10_4;
LBB10_1:
cvt.u64.u32 %rd66, %r1;
mov.u32 %r21, 0;
mov.u64 %rd67, 0;
mov.u64 %rd68, %rd67;
LBB10_12:
cvt.s64.s32 %rd56, %r21;
shl.b64 %rd57, %rd66, 6;
add.s64 %rd58, %rd1, %rd57;
st.global.u64 [%rd58], %rd68;
mov.u64 %rd59, 0;
st.global.u64 [%rd58+8], %rd59;
st.global.u64 [%rd58+16], %rd59;
st.global.u64 [%rd58+24], %rd59;
st.global.u64 [%rd58+32], %rd67;
st.global.u64 [%rd58+40], %rd56;
mov.u64 %rd60, 1;
st.global.u64 [%rd58+48], %rd60;
st.global.u64 [%rd58+56], %rd59;
ret;
}
)"
R"(.visible .entry barmap_ring_source_thread_56(
.param .align 8 .b8 barmap_ring_source_thread_56_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_56_param_1[24],
.param .u64 barmap_ring_source_thread_56_param_2
)
{
.reg .pred %p<27>;
.reg .b32 %r<25>;
.reg .b64 %rd<115>;
ld.param.u64 %rd54, [barmap_ring_source_thread_56_param_2];
cvta.to.global.u64 %rd1, %rd54;
ld.param.u64 %rd56, [barmap_ring_source_thread_56_param_0];
ld.param.u64 %rd92, [barmap_ring_source_thread_56_param_0+8];
ld.param.u64 %rd52, [barmap_ring_source_thread_56_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_56_param_0+24];
add.s64 %rd94, %rd52, 16;
ld.relaxed.sys.u64 %rd102, [%rd94];
ld.acquire.sys.u64 %rd51, [%rd52];
ld.param.u64 %rd10, [barmap_ring_source_thread_56_param_1+8];
setp.eq.s64 %p7, %rd10, 0;
mov.u32 %r21, 0;
mov.u64 %rd53, 0;
mov.u64 %rd110, %rd53;
mov.u64 %rd111, %rd53;
@%p7 bra LBB11_16;
mov.b64 %rd55, barmap_ring_source_thread_56_param_1;
mov.u64 %rd2, %rd55;
cvta.to.global.u64 %rd3, %rd56;
add.s64 %rd11, %rd6, 1;
sub.s64 %rd58, %rd11, %rd102;
add.s64 %rd106, %rd58, %rd51;
and.b64 %rd59, %rd102, %rd6;
shl.b64 %rd60, %rd59, 6;
add.s64 %rd101, %rd3, %rd60;
add.s64 %rd67, %rd52, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p8, %rd16, 0;
selp.b32 %r1, 1, 4, %p8;
mov.u64 %rd111, 0;
mov.pred %p10, 0;
mov.pred %p13, -1;
mov.u64 %rd110, %rd111;
bra.uni LBB11_2;
LBB11_15:
setp.eq.s32 %p21, %r21, 0;
setp.lt.u64 %p22, %rd111, %rd10;
and.pred %p23, %p21, %p22;
@%p23 bra LBB11_2;
bra.uni LBB11_16;
LBB11_2:
add.s64 %rd61, %rd15, %rd111;
mul.lo.s64 %rd69, %rd61, -7046029254386353131;
add.s64 %rd71, %rd69, -3335678366873096957;
add.s64 %rd73, %rd69, -6671356733746193914;
add.s64 %rd75, %rd69, 8439708973090260745;
add.s64 %rd77, %rd69, 5104030606217163788;
add.s64 %rd79, %rd69, 1768352239344066831;
add.s64 %rd81, %rd69, -1567326127529030126;
setp.ne.s64 %p9, %rd106, 0;
@%p9 bra LBB11_12;
bra.uni LBB11_3;
LBB11_12:
cvta.global.u64 %rd68, %rd101;
add.s64 %rd102, %rd102, 1;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd68, 8;
st.relaxed.sys.u64 [%rd70], %rd71;
add.s64 %rd72, %rd68, 16;
st.relaxed.sys.u64 [%rd72], %rd73;
add.s64 %rd74, %rd68, 24;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd68, 32;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd68, 40;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd68, 48;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd68, 56;
st.release.sys.u64 [%rd82], %rd102;
add.s64 %rd106, %rd106, -1;
and.b64 %rd84, %rd102, %rd6;
shl.b64 %rd85, %rd84, 6;
add.s64 %rd101, %rd3, %rd85;
mov.u32 %r21, 0;
LBB11_13:
setp.ne.s32 %p20, %r21, 0;
@%p20 bra LBB11_15;
add.s64 %rd111, %rd111, 1;
add.s64 %rd86, %rd69, %rd110;
add.s64 %rd87, %rd86, %rd71;
add.s64 %rd88, %rd87, %rd73;
add.s64 %rd89, %rd88, %rd75;
add.s64 %rd90, %rd89, %rd77;
add.s64 %rd91, %rd90, %rd79;
add.s64 %rd110, %rd91, %rd81;
bra.uni LBB11_15;
LBB11_3:
mov.u64 %rd106, 0;
mov.u64 %rd104, %rd16;
mov.u32 %r21, %r19;
bra.uni LBB11_4;
LBB11_10:
add.s64 %rd104, %rd104, -64;
mov.u32 %r19, %r21;
@%p26 bra LBB11_4;
bra.uni LBB11_11;
LBB11_4:
setp.lt.u64 %p11, %rd104, 64;
cvt.u32.u64 %r14, %rd104;
add.s32 %r15, %r14, 1;
selp.b32 %r3, %r15, 64, %p11;
setp.eq.s32 %p12, %r3, 0;
mov.pred %p25, %p10;
@%p12 bra LBB11_8;
mov.u32 %r16, 0;
mov.pred %p25, %p13;
mov.u32 %r20, %r16;
LBB11_7:
ld.acquire.sys.u64 %rd63, [%rd52];
sub.s64 %rd65, %rd63, %rd102;
add.s64 %rd106, %rd11, %rd65;
setp.eq.s64 %p14, %rd106, 0;
mov.u32 %r21, %r16;
@%p14 bra LBB11_6;
bra.uni LBB11_8;
LBB11_6:
add.s32 %r20, %r20, 1;
setp.lt.u32 %p25, %r20, %r3;
setp.eq.s32 %p15, %r3, %r20;
mov.u32 %r21, %r19;
@%p15 bra LBB11_8;
bra.uni LBB11_7;
LBB11_8:
mov.pred %p26, %p10;
@%p25 bra LBB11_10;
setp.gt.u64 %p4, %rd104, 63;
selp.b32 %r7, %r1, %r21, %p11;
ld.relaxed.sys.u64 %rd66, [%rd67];
setp.eq.s64 %p18, %rd66, 0;
and.pred %p26, %p18, %p4;
selp.b32 %r21, %r7, 3, %p18;
bra.uni LBB11_10;
LBB11_11:
setp.ne.s32 %p19, %r21, 0;
@%p19 bra LBB11_13;
bra.uni LBB11_12;
LBB11_16:
mov.u64 %rd93, 1;
st.release.sys.u64 [%rd92], %rd93;
cvt.s64.s32 %rd96, %r21;
st.global.u64 [%rd1], %rd111;
st.global.u64 [%rd1+8], %rd53;
st.global.u64 [%rd1+16], %rd53;
st.global.u64 [%rd1+24], %rd53;
st.global.u64 [%rd1+32], %rd110;
st.global.u64 [%rd1+40], %rd96;
st.global.u64 [%rd1+48], %rd93;
st.global.u64 [%rd1+56], %rd53;
st.relaxed.sys.u64 [%rd94], %rd102;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_56(
.param .align 8 .b8 barmap_ring_source_warp_56_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_56_param_1[24],
.param .u64 barmap_ring_source_warp_56_param_2
)
{
.reg .pred %p<26>;
.reg .b32 %r<48>;
.reg .b64 %rd<120>;
ld.param.u64 %rd51, [barmap_ring_source_warp_56_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd53, [barmap_ring_source_warp_56_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_56_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_56_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_56_param_0+24];
add.s64 %rd47, %rd5, 16;
ld.relaxed.sys.u64 %rd117, [%rd47];
ld.acquire.sys.u64 %rd115, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_56_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r44, 0;
mov.u64 %rd118, 0;
mov.u32 %r40, -1;
mov.u64 %rd119, %rd118;
@%p2 bra LBB12_4;
mov.b64 %rd52, barmap_ring_source_warp_56_param_1;
mov.u64 %rd2, %rd52;
cvta.to.global.u64 %rd3, %rd53;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd66, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd108, 0;
mov.u32 %r17, 2;
mov.u64 %rd119, %rd108;
mov.u64 %rd118, %rd108;
mov.u64 %rd112, %rd117;
bra.uni LBB12_2;
LBB12_20:
add.s64 %rd108, %rd32, %rd108;
setp.gt.u64 %p22, %rd12, %rd108;
and.pred %p23, %p22, %p18;
mov.u64 %rd112, %rd117;
@%p23 bra LBB12_2;
bra.uni LBB12_4;
LBB12_2:
sub.s64 %rd55, %rd12, %rd108;
min.u64 %rd56, %rd55, %rd11;
add.s64 %rd57, %rd108, %rd13;
add.s64 %rd58, %rd57, %rd15;
mul.lo.s64 %rd69, %rd58, -7046029254386353131;
and.b64 %rd32, %rd56, 4294967295;
add.s64 %rd33, %rd32, %rd112;
sub.s64 %rd59, %rd33, %rd115;
setp.le.u64 %p4, %rd59, %rd10;
mov.u32 %r45, %r17;
@%p4 bra LBB12_15;
mov.u64 %rd114, 0;
mov.u64 %rd113, %rd115;
LBB12_10:
ld.acquire.sys.u64 %rd115, [%rd5];
sub.s64 %rd63, %rd33, %rd115;
setp.le.u64 %p5, %rd63, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r40; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r45, %r17;
@%p6 bra LBB12_14;
setp.lt.u64 %p7, %rd114, %rd16;
and.b64 %rd64, %rd114, 63;
setp.ne.s64 %p8, %rd64, 63;
and.pred %p9, %p7, %p8;
@%p9 bra LBB12_13;
ld.relaxed.sys.u64 %rd65, [%rd66];
setp.ne.s64 %p10, %rd65, 0;
selp.u32 %r27, 1, 0, %p10;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r40; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p11, %r29, 31;
mov.u32 %r44, 3;
mov.u32 %r45, 1;
mov.u64 %rd115, %rd113;
@%p11 bra LBB12_14;
LBB12_13:
setp.ge.u64 %p13, %rd114, %rd16;
selp.u32 %r45, 1, 0, %p13;
selp.b32 %r44, %r42, %r2, %p7;
mov.u64 %rd115, %rd113;
LBB12_14:
setp.eq.s32 %p14, %r45, 0;
@%p14 bra LBB12_9;
bra.uni LBB12_15;
LBB12_9:
add.s64 %rd114, %rd114, 1;
sub.s64 %rd67, %rd33, %rd115;
setp.le.u64 %p15, %rd67, %rd10;
mov.u64 %rd113, %rd115;
mov.u32 %r42, %r44;
mov.u32 %r45, %r17;
@%p15 bra LBB12_15;
bra.uni LBB12_10;
LBB12_15:
cvt.u32.u64 %r5, %rd56;
add.s64 %rd71, %rd69, -3335678366873096957;
add.s64 %rd73, %rd69, -6671356733746193914;
add.s64 %rd75, %rd69, 8439708973090260745;
add.s64 %rd77, %rd69, 5104030606217163788;
add.s64 %rd79, %rd69, 1768352239344066831;
add.s64 %rd81, %rd69, -1567326127529030126;
setp.ne.s32 %p16, %r45, 2;
mov.u64 %rd117, %rd112;
@%p16 bra LBB12_18;
mov.u32 %r34, %laneid;
setp.ge.u32 %p17, %r34, %r5;
mov.u32 %r44, 0;
mov.u64 %rd117, %rd33;
@%p17 bra LBB12_18;
cvt.u64.u32 %rd84, %r34;
add.s64 %rd85, %rd112, %rd84;
and.b64 %rd86, %rd85, %rd6;
shl.b64 %rd87, %rd86, 6;
add.s64 %rd88, %rd3, %rd87;
cvta.global.u64 %rd68, %rd88;
add.s64 %rd83, %rd85, 1;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd68, 8;
st.relaxed.sys.u64 [%rd70], %rd71;
add.s64 %rd72, %rd68, 16;
st.relaxed.sys.u64 [%rd72], %rd73;
add.s64 %rd74, %rd68, 24;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd68, 32;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd68, 40;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd68, 48;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd68, 56;
st.release.sys.u64 [%rd82], %rd83;
mov.u64 %rd117, %rd33;
LBB12_18:
setp.eq.s32 %p18, %r44, 0;
setp.lt.u32 %p19, %r1, %r5;
and.pred %p20, %p18, %p19;
@!%p20 bra LBB12_20;
bra.uni LBB12_19;
LBB12_19:
add.s64 %rd119, %rd119, 1;
add.s64 %rd89, %rd69, %rd118;
add.s64 %rd90, %rd89, %rd71;
add.s64 %rd91, %rd90, %rd73;
add.s64 %rd92, %rd91, %rd75;
add.s64 %rd93, %rd92, %rd77;
add.s64 %rd94, %rd93, %rd79;
add.s64 %rd118, %rd94, %rd81;
bra.uni LBB12_20;
LBB12_4:
cvta.to.global.u64 %rd1, %rd51;
bar.warp.sync %r40;
mov.u32 %r38, %laneid;
setp.ne.s32 %p24, %r38, 0;
mov.u64 %rd104, 1;
@%p24 bra LBB12_6;
st.release.sys.u64 [%rd4], %rd104;
LBB12_6:
cvt.s64.s32 %rd97, %r44;
mul.wide.u32 %rd98, %r1, 64;
add.s64 %rd99, %rd1, %rd98;
st.global.u64 [%rd99], %rd119;
mov.u64 %rd100, 0;
st.global.u64 [%rd99+8], %rd100;
st.global.u64 [%rd99+16], %rd100;
st.global.u64 [%rd99+24], %rd100;
st.global.u64 [%rd99+32], %rd118;
st.global.u64 [%rd99+40], %rd97;
st.global.u64 [%rd99+48], %rd104;
st.global.u64 [%rd99+56], %rd100;
bar.warp.sync %r40;
@%p24 bra LBB12_8;
st.relaxed.sys.u64 [%rd47], %rd117;
LBB12_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_56(
.param .align 8 .b8 barmap_ring_source_many_56_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_56_param_1[24],
.param .u64 barmap_ring_source_many_56_param_2,
.param .u32 barmap_ring_source_many_56_param_3
)
{
.reg .pred %p<14>;
.reg .b32 %r<24>;
.reg .b64 %rd<98>;
ld.param.u64 %rd38, [barmap_ring_source_many_56_param_2];
cvta.to.global.u64 %rd1, %rd38;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_56_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB13_2;
bra.uni LBB13_1;
LBB13_2:
ld.param.u32 %r9, [barmap_ring_source_many_56_param_3];
mov.b64 %rd37, barmap_ring_source_many_56_param_0;
mov.b64 %rd39, barmap_ring_source_many_56_param_1;
mov.u64 %rd2, %rd39;
mov.u64 %rd3, %rd37;
mov.u64 %rd88, 0;
cvt.u64.u32 %rd95, %r1;
cvt.u64.u32 %rd7, %r9;
ld.param.u64 %rd8, [%rd2];
ld.param.u64 %rd9, [%rd2+16];
ld.param.u64 %rd49, [%rd3+16];
add.s64 %rd52, %rd49, 16;
setp.eq.s64 %p2, %rd9, 0;
selp.b32 %r2, 1, 4, %p2;
ld.param.u64 %rd12, [%rd3+24];
ld.param.u64 %rd41, [%rd3];
cvta.to.global.u64 %rd13, %rd41;
add.s64 %rd75, %rd49, 8;
mov.u32 %r16, 1;
mov.u64 %rd89, %rd88;
mov.u64 %rd90, %rd88;
bra.uni LBB13_3;
LBB13_11:
setp.ne.s32 %p10, %r21, 0;
@%p10 bra LBB13_13;
bra.uni LBB13_12;
LBB13_13:
setp.eq.s32 %p11, %r21, 0;
setp.lt.u64 %p12, %rd89, %rd4;
and.pred %p13, %p11, %p12;
@%p13 bra LBB13_3;
bra.uni LBB13_14;
LBB13_3:
mul.lo.s64 %rd43, %rd89, %rd7;
add.s64 %rd44, %rd43, %rd95;
add.s64 %rd45, %rd44, %rd8;
mul.lo.s64 %rd56, %rd45, -7046029254386353131;
add.s64 %rd58, %rd56, -3335678366873096957;
add.s64 %rd60, %rd56, -6671356733746193914;
add.s64 %rd62, %rd56, 8439708973090260745;
add.s64 %rd64, %rd56, 5104030606217163788;
add.s64 %rd66, %rd56, 1768352239344066831;
add.s64 %rd68, %rd56, -1567326127529030126;
mov.u64 %rd24, %rd88;
LBB13_4:
ld.relaxed.sys.u64 %rd53, [%rd52];
ld.acquire.sys.u64 %rd48, [%rd49];
sub.s64 %rd50, %rd53, %rd48;
setp.gt.s64 %p3, %rd50, %rd12;
@%p3 bra LBB13_8;
bra.uni LBB13_5;
LBB13_8:
ld.relaxed.sys.u64 %rd74, [%rd75];
setp.ne.s64 %p5, %rd74, 0;
setp.eq.s64 %p6, %rd74, 0;
setp.eq.s64 %p7, %rd24, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB13_9;
LBB13_5:
add.s64 %rd70, %rd53, 1;
atom.relaxed.gpu.cas.b64 %rd51, [%rd52], %rd53, %rd70;
setp.ne.s64 %p4, %rd51, %rd53;
@%p4 bra LBB13_7;
and.b64 %rd71, %rd12, %rd53;
shl.b64 %rd72, %rd71, 6;
add.s64 %rd73, %rd13, %rd72;
cvta.global.u64 %rd55, %rd73;
st.relaxed.sys.u64 [%rd55], %rd56;
add.s64 %rd57, %rd55, 8;
st.relaxed.sys.u64 [%rd57], %rd58;
add.s64 %rd59, %rd55, 16;
st.relaxed.sys.u64 [%rd59], %rd60;
add.s64 %rd61, %rd55, 24;
st.relaxed.sys.u64 [%rd61], %rd62;
add.s64 %rd63, %rd55, 32;
st.relaxed.sys.u64 [%rd63], %rd64;
add.s64 %rd65, %rd55, 40;
st.relaxed.sys.u64 [%rd65], %rd66;
add.s64 %rd67, %rd55, 48;
st.relaxed.sys.u64 [%rd67], %rd68;
add.s64 %rd69, %rd55, 56;
st.release.sys.u64 [%rd69], %rd70;
mov.u32 %r21, 0;
mov.u32 %r22, %r16;
bra.uni LBB13_9;
LBB13_7:
add.s64 %rd24, %rd24, -1;
mov.u32 %r22, 4;
LBB13_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB13_10;
bra.uni LBB13_11;
LBB13_10:
add.s64 %rd24, %rd24, 1;
bra.uni LBB13_4;
LBB13_12:
add.s64 %rd89, %rd89, 1;
add.s64 %rd76, %rd56, %rd90;
add.s64 %rd77, %rd76, %rd58;
add.s64 %rd78, %rd77, %rd60;
add.s64 %rd79, %rd78, %rd62;
add.s64 %rd80, %rd79, %rd64;
add.s64 %rd81, %rd80, %rd66;
add.s64 %rd90, %rd81, %rd68;
bra.uni LBB13_13;
LBB13_1:
cvt.u64.u32 %rd95, %r1;
mov.u32 %r21, 0;
mov.u64 %rd90, 0;
mov.u64 %rd89, %rd90;
LBB13_14:
cvt.s64.s32 %rd83, %r21;
shl.b64 %rd84, %rd95, 6;
add.s64 %rd85, %rd1, %rd84;
st.global.u64 [%rd85], %rd89;
mov.u64 %rd86, 0;
st.global.u64 [%rd85+8], %rd86;
st.global.u64 [%rd85+16], %rd86;
st.global.u64 [%rd85+24], %rd86;
st.global.u64 [%rd85+32], %rd90;
st.global.u64 [%rd85+40], %rd83;
mov.u64 %rd87, 1;
st.global.u64 [%rd85+48], %rd87;
st.global.u64 [%rd85+56], %rd86;
ret;
}
)"
R"(.visible .entry barmap_ring_source_thread_120(
.param .align 8 .b8 barmap_ring_source_thread_120_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_120_param_1[24],
.param .u64 barmap_ring_source_thread_120_param_2
)
{
.reg .pred %p<27>;
.reg .b32 %r<25>;
.reg .b64 %rd<147>;
ld.param.u64 %rd62, [barmap_ring_source_thread_120_param_2];
cvta.to.global.u64 %rd1, %rd62;
ld.param.u64 %rd64, [barmap_ring_source_thread_120_param_0];
ld.param.u64 %rd124, [barmap_ring_source_thread_120_param_0+8];
ld.param.u64 %rd60, [barmap_ring_source_thread_120_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_120_param_0+24];
add.s64 %rd126, %rd60, 16;
ld.relaxed.sys.u64 %rd134, [%rd126];
ld.acquire.sys.u64 %rd59, [%rd60];
ld.param.u64 %rd10, [barmap_ring_source_thread_120_param_1+8];
setp.eq.s64 %p7, %rd10, 0;
mov.u32 %r21, 0;
mov.u64 %rd61, 0;
mov.u64 %rd142, %rd61;
mov.u64 %rd143, %rd61;
@%p7 bra LBB14_16;
mov.b64 %rd63, barmap_ring_source_thread_120_param_1;
mov.u64 %rd2, %rd63;
cvta.to.global.u64 %rd3, %rd64;
add.s64 %rd11, %rd6, 1;
sub.s64 %rd66, %rd11, %rd134;
add.s64 %rd138, %rd66, %rd59;
and.b64 %rd67, %rd134, %rd6;
shl.b64 %rd68, %rd67, 7;
add.s64 %rd133, %rd3, %rd68;
add.s64 %rd75, %rd60, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p8, %rd16, 0;
selp.b32 %r1, 1, 4, %p8;
mov.u64 %rd143, 0;
mov.pred %p10, 0;
mov.pred %p13, -1;
mov.u64 %rd142, %rd143;
bra.uni LBB14_2;
LBB14_15:
setp.eq.s32 %p21, %r21, 0;
setp.lt.u64 %p22, %rd143, %rd10;
and.pred %p23, %p21, %p22;
@%p23 bra LBB14_2;
bra.uni LBB14_16;
LBB14_2:
add.s64 %rd69, %rd15, %rd143;
mul.lo.s64 %rd77, %rd69, -7046029254386353131;
add.s64 %rd79, %rd77, -3335678366873096957;
add.s64 %rd81, %rd77, -6671356733746193914;
add.s64 %rd83, %rd77, 8439708973090260745;
add.s64 %rd85, %rd77, 5104030606217163788;
add.s64 %rd87, %rd77, 1768352239344066831;
add.s64 %rd89, %rd77, -1567326127529030126;
add.s64 %rd91, %rd77, -4903004494402127083;
add.s64 %rd93, %rd77, -8238682861275224040;
add.s64 %rd95, %rd77, 6872382845561230619;
add.s64 %rd97, %rd77, 3536704478688133662;
add.s64 %rd99, %rd77, 201026111815036705;
add.s64 %rd101, %rd77, -3134652255058060252;
add.s64 %rd103, %rd77, -6470330621931157209;
add.s64 %rd105, %rd77, 8640735084905297450;
setp.ne.s64 %p9, %rd138, 0;
@%p9 bra LBB14_12;
bra.uni LBB14_3;
LBB14_12:
cvta.global.u64 %rd76, %rd133;
add.s64 %rd134, %rd134, 1;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd76, 8;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd76, 16;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd76, 24;
st.relaxed.sys.u64 [%rd82], %rd83;
add.s64 %rd84, %rd76, 32;
st.relaxed.sys.u64 [%rd84], %rd85;
add.s64 %rd86, %rd76, 40;
st.relaxed.sys.u64 [%rd86], %rd87;
add.s64 %rd88, %rd76, 48;
st.relaxed.sys.u64 [%rd88], %rd89;
add.s64 %rd90, %rd76, 56;
st.relaxed.sys.u64 [%rd90], %rd91;
add.s64 %rd92, %rd76, 64;
st.relaxed.sys.u64 [%rd92], %rd93;
add.s64 %rd94, %rd76, 72;
st.relaxed.sys.u64 [%rd94], %rd95;
add.s64 %rd96, %rd76, 80;
st.relaxed.sys.u64 [%rd96], %rd97;
add.s64 %rd98, %rd76, 88;
st.relaxed.sys.u64 [%rd98], %rd99;
add.s64 %rd100, %rd76, 96;
st.relaxed.sys.u64 [%rd100], %rd101;
add.s64 %rd102, %rd76, 104;
st.relaxed.sys.u64 [%rd102], %rd103;
add.s64 %rd104, %rd76, 112;
st.relaxed.sys.u64 [%rd104], %rd105;
add.s64 %rd106, %rd76, 120;
st.release.sys.u64 [%rd106], %rd134;
add.s64 %rd138, %rd138, -1;
and.b64 %rd108, %rd134, %rd6;
shl.b64 %rd109, %rd108, 7;
add.s64 %rd133, %rd3, %rd109;
mov.u32 %r21, 0;
LBB14_13:
setp.ne.s32 %p20, %r21, 0;
@%p20 bra LBB14_15;
add.s64 %rd143, %rd143, 1;
add.s64 %rd110, %rd77, %rd142;
add.s64 %rd111, %rd110, %rd79;
add.s64 %rd112, %rd111, %rd81;
add.s64 %rd113, %rd112, %rd83;
add.s64 %rd114, %rd113, %rd85;
add.s64 %rd115, %rd114, %rd87;
add.s64 %rd116, %rd115, %rd89;
add.s64 %rd117, %rd116, %rd91;
add.s64 %rd118, %rd117, %rd93;
add.s64 %rd119, %rd118, %rd95;
add.s64 %rd120, %rd119, %rd97;
add.s64 %rd121, %rd120, %rd99;
add.s64 %rd122, %rd121, %rd101;
add.s64 %rd123, %rd122, %rd103;
add.s64 %rd142, %rd123, %rd105;
bra.uni LBB14_15;
LBB14_3:
mov.u64 %rd138, 0;
mov.u64 %rd136, %rd16;
mov.u32 %r21, %r19;
bra.uni LBB14_4;
LBB14_10:
add.s64 %rd136, %rd136, -64;
mov.u32 %r19, %r21;
@%p26 bra LBB14_4;
bra.uni LBB14_11;
LBB14_4:
setp.lt.u64 %p11, %rd136, 64;
cvt.u32.u64 %r14, %rd136;
add.s32 %r15, %r14, 1;
selp.b32 %r3, %r15, 64, %p11;
setp.eq.s32 %p12, %r3, 0;
mov.pred %p25, %p10;
@%p12 bra LBB14_8;
mov.u32 %r16, 0;
mov.pred %p25, %p13;
mov.u32 %r20, %r16;
LBB14_7:
ld.acquire.sys.u64 %rd71, [%rd60];
sub.s64 %rd73, %rd71, %rd134;
add.s64 %rd138, %rd11, %rd73;
setp.eq.s64 %p14, %rd138, 0;
mov.u32 %r21, %r16;
@%p14 bra LBB14_6;
bra.uni LBB14_8;
LBB14_6:
add.s32 %r20, %r20, 1;
setp.lt.u32 %p25, %r20, %r3;
setp.eq.s32 %p15, %r3, %r20;
mov.u32 %r21, %r19;
@%p15 bra LBB14_8;
bra.uni LBB14_7;
LBB14_8:
mov.pred %p26, %p10;
@%p25 bra LBB14_10;
setp.gt.u64 %p4, %rd136, 63;
selp.b32 %r7, %r1, %r21, %p11;
ld.relaxed.sys.u64 %rd74, [%rd75];
setp.eq.s64 %p18, %rd74, 0;
and.pred %p26, %p18, %p4;
selp.b32 %r21, %r7, 3, %p18;
bra.uni LBB14_10;
LBB14_11:
setp.ne.s32 %p19, %r21, 0;
@%p19 bra LBB14_13;
bra.uni LBB14_12;
LBB14_16:
mov.u64 %rd125, 1;
st.release.sys.u64 [%rd124], %rd125;
cvt.s64.s32 %rd128, %r21;
st.global.u64 [%rd1], %rd143;
st.global.u64 [%rd1+8], %rd61;
st.global.u64 [%rd1+16], %rd61;
st.global.u64 [%rd1+24], %rd61;
st.global.u64 [%rd1+32], %rd142;
st.global.u64 [%rd1+40], %rd128;
st.global.u64 [%rd1+48], %rd125;
st.global.u64 [%rd1+56], %rd61;
st.relaxed.sys.u64 [%rd126], %rd134;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_120(
.param .align 8 .b8 barmap_ring_source_warp_120_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_120_param_1[24],
.param .u64 barmap_ring_source_warp_120_param_2
)
{
.reg .pred %p<26>;
.reg .b32 %r<48>;
.reg .b64 %rd<152>;
ld.param.u64 %rd59, [barmap_ring_source_warp_120_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd61, [barmap_ring_source_warp_120_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_120_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_120_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_120_param_0+24];
add.s64 %rd55, %rd5, 16;
ld.relaxed.sys.u64 %rd149, [%rd55];
ld.acquire.sys.u64 %rd147, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_120_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r44, 0;
mov.u64 %rd150, 0;
mov.u32 %r40, -1;
mov.u64 %rd151, %rd150;
@%p2 bra LBB15_4;
mov.b64 %rd60, barmap_ring_source_warp_120_param_1;
mov.u64 %rd2, %rd60;
cvta.to.global.u64 %rd3, %rd61;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd74, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd140, 0;
mov.u32 %r17, 2;
mov.u64 %rd151, %rd140;
mov.u64 %rd150, %rd140;
mov.u64 %rd144, %rd149;
bra.uni LBB15_2;
LBB15_20:
add.s64 %rd140, %rd40, %rd140;
setp.gt.u64 %p22, %rd12, %rd140;
and.pred %p23, %p22, %p18;
mov.u64 %rd144, %rd149;
@%p23 bra LBB15_2;
bra.uni LBB15_4;
LBB15_2:
sub.s64 %rd63, %rd12, %rd140;
min.u64 %rd64, %rd63, %rd11;
add.s64 %rd65, %rd140, %rd13;
add.s64 %rd66, %rd65, %rd15;
mul.lo.s64 %rd77, %rd66, -7046029254386353131;
and.b64 %rd40, %rd64, 4294967295;
add.s64 %rd41, %rd40, %rd144;
sub.s64 %rd67, %rd41, %rd147;
setp.le.u64 %p4, %rd67, %rd10;
mov.u32 %r45, %r17;
@%p4 bra LBB15_15;
mov.u64 %rd146, 0;
mov.u64 %rd145, %rd147;
LBB15_10:
ld.acquire.sys.u64 %rd147, [%rd5];
sub.s64 %rd71, %rd41, %rd147;
setp.le.u64 %p5, %rd71, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r40; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r45, %r17;
@%p6 bra LBB15_14;
setp.lt.u64 %p7, %rd146, %rd16;
and.b64 %rd72, %rd146, 63;
setp.ne.s64 %p8, %rd72, 63;
and.pred %p9, %p7, %p8;
@%p9 bra LBB15_13;
ld.relaxed.sys.u64 %rd73, [%rd74];
setp.ne.s64 %p10, %rd73, 0;
selp.u32 %r27, 1, 0, %p10;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r40; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p11, %r29, 31;
mov.u32 %r44, 3;
mov.u32 %r45, 1;
mov.u64 %rd147, %rd145;
@%p11 bra LBB15_14;
LBB15_13:
setp.ge.u64 %p13, %rd146, %rd16;
selp.u32 %r45, 1, 0, %p13;
selp.b32 %r44, %r42, %r2, %p7;
mov.u64 %rd147, %rd145;
LBB15_14:
setp.eq.s32 %p14, %r45, 0;
@%p14 bra LBB15_9;
bra.uni LBB15_15;
LBB15_9:
add.s64 %rd146, %rd146, 1;
sub.s64 %rd75, %rd41, %rd147;
setp.le.u64 %p15, %rd75, %rd10;
mov.u64 %rd145, %rd147;
mov.u32 %r42, %r44;
mov.u32 %r45, %r17;
@%p15 bra LBB15_15;
bra.uni LBB15_10;
LBB15_15:
cvt.u32.u64 %r5, %rd64;
add.s64 %rd79, %rd77, -3335678366873096957;
add.s64 %rd81, %rd77, -6671356733746193914;
add.s64 %rd83, %rd77, 8439708973090260745;
add.s64 %rd85, %rd77, 5104030606217163788;
add.s64 %rd87, %rd77, 1768352239344066831;
add.s64 %rd89, %rd77, -1567326127529030126;
add.s64 %rd91, %rd77, -4903004494402127083;
add.s64 %rd93, %rd77, -8238682861275224040;
add.s64 %rd95, %rd77, 6872382845561230619;
add.s64 %rd97, %rd77, 3536704478688133662;
add.s64 %rd99, %rd77, 201026111815036705;
add.s64 %rd101, %rd77, -3134652255058060252;
add.s64 %rd103, %rd77, -6470330621931157209;
add.s64 %rd105, %rd77, 8640735084905297450;
setp.ne.s32 %p16, %r45, 2;
mov.u64 %rd149, %rd144;
@%p16 bra LBB15_18;
mov.u32 %r34, %laneid;
setp.ge.u32 %p17, %r34, %r5;
mov.u32 %r44, 0;
mov.u64 %rd149, %rd41;
@%p17 bra LBB15_18;
cvt.u64.u32 %rd108, %r34;
add.s64 %rd109, %rd144, %rd108;
and.b64 %rd110, %rd109, %rd6;
shl.b64 %rd111, %rd110, 7;
add.s64 %rd112, %rd3, %rd111;
cvta.global.u64 %rd76, %rd112;
add.s64 %rd107, %rd109, 1;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd76, 8;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd76, 16;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd76, 24;
st.relaxed.sys.u64 [%rd82], %rd83;
add.s64 %rd84, %rd76, 32;
st.relaxed.sys.u64 [%rd84], %rd85;
add.s64 %rd86, %rd76, 40;
st.relaxed.sys.u64 [%rd86], %rd87;
add.s64 %rd88, %rd76, 48;
st.relaxed.sys.u64 [%rd88], %rd89;
add.s64 %rd90, %rd76, 56;
st.relaxed.sys.u64 [%rd90], %rd91;
add.s64 %rd92, %rd76, 64;
st.relaxed.sys.u64 [%rd92], %rd93;
add.s64 %rd94, %rd76, 72;
st.relaxed.sys.u64 [%rd94], %rd95;
add.s64 %rd96, %rd76, 80;
st.relaxed.sys.u64 [%rd96], %rd97;
add.s64 %rd98, %rd76, 88;
st.relaxed.sys.u64 [%rd98], %rd99;
add.s64 %rd100, %rd76, 96;
st.relaxed.sys.u64 [%rd100], %rd101;
add.s64 %rd102, %rd76, 104;
st.relaxed.sys.u64 [%rd102], %rd103;
add.s64 %rd104, %rd76, 112;
st.relaxed.sys.u64 [%rd104], %rd105;
add.s64 %rd106, %rd76, 120;
st.release.sys.u64 [%rd106], %rd107;
mov.u64 %rd149, %rd41;
LBB15_18:
setp.eq.s32 %p18, %r44, 0;
setp.lt.u32 %p19, %r1, %r5;
and.pred %p20, %p18, %p19;
@!%p20 bra LBB15_20;
bra.uni LBB15_19;
LBB15_19:
add.s64 %rd151, %rd151, 1;
add.s64 %rd113, %rd77, %rd150;
add.s64 %rd114, %rd113, %rd79;
add.s64 %rd115, %rd114, %rd81;
add.s64 %rd116, %rd115, %rd83;
add.s64 %rd117, %rd116, %rd85;
add.s64 %rd118, %rd117, %rd87;
add.s64 %rd119, %rd118, %rd89;
add.s64 %rd120, %rd119, %rd91;
add.s64 %rd121, %rd120, %rd93;
add.s64 %rd122, %rd121, %rd95;
add.s64 %rd123, %rd122, %rd97;
add.s64 %rd124, %rd123, %rd99;
add.s64 %rd125, %rd124, %rd101;
add.s64 %rd126, %rd125, %rd103;
add.s64 %rd150, %rd126, %rd105;
bra.uni LBB15_20;
LBB15_4:
cvta.to.global.u64 %rd1, %rd59;
bar.warp.sync %r40;
mov.u32 %r38, %laneid;
setp.ne.s32 %p24, %r38, 0;
mov.u64 %rd136, 1;
@%p24 bra LBB15_6;
st.release.sys.u64 [%rd4], %rd136;
LBB15_6:
cvt.s64.s32 %rd129, %r44;
mul.wide.u32 %rd130, %r1, 64;
add.s64 %rd131, %rd1, %rd130;
st.global.u64 [%rd131], %rd151;
mov.u64 %rd132, 0;
st.global.u64 [%rd131+8], %rd132;
st.global.u64 [%rd131+16], %rd132;
st.global.u64 [%rd131+24], %rd132;
st.global.u64 [%rd131+32], %rd150;
st.global.u64 [%rd131+40], %rd129;
st.global.u64 [%rd131+48], %rd136;
st.global.u64 [%rd131+56], %rd132;
bar.warp.sync %r40;
@%p24 bra LBB15_8;
st.relaxed.sys.u64 [%rd55], %rd149;
LBB15_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_120(
.param .align 8 .b8 barmap_ring_source_many_120_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_120_param_1[24],
.param .u64 barmap_ring_source_many_120_param_2,
.param .u32 barmap_ring_source_many_120_param_3
)
{
.reg .pred %p<14>;
.reg .b32 %r<24>;
.reg .b64 %rd<130>;
ld.param.u64 %rd46, [barmap_ring_source_many_120_param_2];
cvta.to.global.u64 %rd1, %rd46;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_120_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB16_2;
bra.uni LBB16_1;
LBB16_2:
ld.param.u32 %r9, [barmap_ring_source_many_120_param_3];
mov.b64 %rd45, barmap_ring_source_many_120_param_0;
mov.b64 %rd47, barmap_ring_source_many_120_param_1;
mov.u64 %rd2, %rd47;
mov.u64 %rd3, %rd45;
mov.u64 %rd120, 0;
cvt.u64.u32 %rd127, %r1;
cvt.u64.u32 %rd7, %r9;
ld.param.u64 %rd8, [%rd2];
ld.param.u64 %rd9, [%rd2+16];
ld.param.u64 %rd57, [%rd3+16];
add.s64 %rd60, %rd57, 16;
setp.eq.s64 %p2, %rd9, 0;
selp.b32 %r2, 1, 4, %p2;
ld.param.u64 %rd12, [%rd3+24];
ld.param.u64 %rd49, [%rd3];
cvta.to.global.u64 %rd13, %rd49;
add.s64 %rd99, %rd57, 8;
mov.u32 %r16, 1;
mov.u64 %rd121, %rd120;
mov.u64 %rd122, %rd120;
bra.uni LBB16_3;
LBB16_11:
setp.ne.s32 %p10, %r21, 0;
@%p10 bra LBB16_13;
bra.uni LBB16_12;
LBB16_13:
setp.eq.s32 %p11, %r21, 0;
setp.lt.u64 %p12, %rd121, %rd4;
and.pred %p13, %p11, %p12;
@%p13 bra LBB16_3;
bra.uni LBB16_14;
LBB16_3:
mul.lo.s64 %rd51, %rd121, %rd7;
add.s64 %rd52, %rd51, %rd127;
add.s64 %rd53, %rd52, %rd8;
mul.lo.s64 %rd64, %rd53, -7046029254386353131;
add.s64 %rd66, %rd64, -3335678366873096957;
add.s64 %rd68, %rd64, -6671356733746193914;
add.s64 %rd70, %rd64, 8439708973090260745;
add.s64 %rd72, %rd64, 5104030606217163788;
add.s64 %rd74, %rd64, 1768352239344066831;
add.s64 %rd76, %rd64, -1567326127529030126;
add.s64 %rd78, %rd64, -4903004494402127083;
add.s64 %rd80, %rd64, -8238682861275224040;
add.s64 %rd82, %rd64, 6872382845561230619;
add.s64 %rd84, %rd64, 3536704478688133662;
add.s64 %rd86, %rd64, 201026111815036705;
add.s64 %rd88, %rd64, -3134652255058060252;
add.s64 %rd90, %rd64, -6470330621931157209;
add.s64 %rd92, %rd64, 8640735084905297450;
mov.u64 %rd32, %rd120;
LBB16_4:
ld.relaxed.sys.u64 %rd61, [%rd60];
ld.acquire.sys.u64 %rd56, [%rd57];
sub.s64 %rd58, %rd61, %rd56;
setp.gt.s64 %p3, %rd58, %rd12;
@%p3 bra LBB16_8;
bra.uni LBB16_5;
LBB16_8:
ld.relaxed.sys.u64 %rd98, [%rd99];
setp.ne.s64 %p5, %rd98, 0;
setp.eq.s64 %p6, %rd98, 0;
setp.eq.s64 %p7, %rd32, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB16_9;
LBB16_5:
add.s64 %rd94, %rd61, 1;
atom.relaxed.gpu.cas.b64 %rd59, [%rd60], %rd61, %rd94;
setp.ne.s64 %p4, %rd59, %rd61;
@%p4 bra LBB16_7;
and.b64 %rd95, %rd12, %rd61;
shl.b64 %rd96, %rd95, 7;
add.s64 %rd97, %rd13, %rd96;
cvta.global.u64 %rd63, %rd97;
st.relaxed.sys.u64 [%rd63], %rd64;
add.s64 %rd65, %rd63, 8;
st.relaxed.sys.u64 [%rd65], %rd66;
add.s64 %rd67, %rd63, 16;
st.relaxed.sys.u64 [%rd67], %rd68;
add.s64 %rd69, %rd63, 24;
st.relaxed.sys.u64 [%rd69], %rd70;
add.s64 %rd71, %rd63, 32;
st.relaxed.sys.u64 [%rd71], %rd72;
add.s64 %rd73, %rd63, 40;
st.relaxed.sys.u64 [%rd73], %rd74;
add.s64 %rd75, %rd63, 48;
st.relaxed.sys.u64 [%rd75], %rd76;
add.s64 %rd77, %rd63, 56;
st.relaxed.sys.u64 [%rd77], %rd78;
add.s64 %rd79, %rd63, 64;
st.relaxed.sys.u64 [%rd79], %rd80;
add.s64 %rd81, %rd63, 72;
st.relaxed.sys.u64 [%rd81], %rd82;
add.s64 %rd83, %rd63, 80;
st.relaxed.sys.u64 [%rd83], %rd84;
add.s64 %rd85, %rd63, 88;
st.relaxed.sys.u64 [%rd85], %rd86;
add.s64 %rd87, %rd63, 96;
st.relaxed.sys.u64 [%rd87], %rd88;
add.s64 %rd89, %rd63, 104;
st.relaxed.sys.u64 [%rd89], %rd90;
add.s64 %rd91, %rd63, 112;
st.relaxed.sys.u64 [%rd91], %rd92;
add.s64 %rd93, %rd63, 120;
st.release.sys.u64 [%rd93], %rd94;
mov.u32 %r21, 0;
mov.u32 %r22, %r16;
bra.uni LBB16_9;
LBB16_7:
add.s64 %rd32, %rd32, -1;
mov.u32 %r22, 4;
LBB16_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB16_10;
bra.uni LBB16_11;
LBB16_10:
add.s64 %rd32, %rd32, 1;
bra.uni LBB16_4;
LBB16_12:
add.s64 %rd121, %rd121, 1;
add.s64 %rd100, %rd64, %rd122;
add.s64 %rd101, %rd100, %rd66;
add.s64 %rd102, %rd101, %rd68;
add.s64 %rd103, %rd102, %rd70;
add.s64 %rd104, %rd103, %rd72;
add.s64 %rd105, %rd104, %rd74;
add.s64 %rd106, %rd105, %rd76;
add.s64 %rd107, %rd106, %rd78;
add.s64 %rd108, %rd107, %rd80;
add.s64 %rd109, %rd108, %rd82;
add.s64 %rd110, %rd109, %rd84;
add.s64 %rd111, %rd110, %rd86;
add.s64 %rd112, %rd111, %rd88;
add.s64 %rd113, %rd112, %rd90;
add.s64 %rd122, %rd113, %rd92;
bra.uni LBB16_13;
LBB16_1:
cvt.u64.u32 %rd127, %r1;
mov.u32 %r21, 0;
mov.u64 %rd122, 0;
mov.u64 %rd121, %rd122;
LBB16_14:
cvt.s64.s32 %rd115, %r21;
shl.b64 %rd116, %rd127, 6;
add.s64 %rd117, %rd1, %rd116;
st.global.u64 [%rd117], %rd121;
mov.u64 %rd118, 0;
st.global.u64 [%rd117+8], %rd118;
st.global.u64 [%rd117+16], %rd118;
st.global.u64 [%rd117+24], %rd118;
st.global.u64 [%rd117+32], %rd122;
st.global.u64 [%rd117+40], %rd115;
mov.u64 %rd119, 1;
st.global.u64 [%rd117+48], %rd119;
st.global.u64 [%rd117+56], %rd118;
ret;
}
)"
R"(.visible .entry barmap_ring_echo_32(
.param .align 8 .b8 barmap_ring_echo_32_param_0[32],
.param .align 8 .b8 barmap_ring_echo_32_param_1[32],
.param .align 8 .b8 barmap_ring_echo_32_param_2[24],
.param .u64 barmap_ring_echo_32_param_3
)
{
.reg .pred %p<69>;
.reg .b16 %rs<16>;
.reg .b32 %r<45>;
.reg .b64 %rd<273>;
ld.param.u64 %rd127, [barmap_ring_echo_32_param_3];
cvta.to.global.u64 %rd1, %rd127;
ld.param.u64 %rd128, [barmap_ring_echo_32_param_0];
cvta.to.global.u64 %rd2, %rd128;
ld.param.u64 %rd158, [barmap_ring_echo_32_param_0+8];
ld.param.u64 %rd213, [barmap_ring_echo_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_echo_32_param_0+24];
add.s64 %rd215, %rd158, 8;
ld.relaxed.sys.u64 %rd272, [%rd215];
and.b64 %rd129, %rd272, %rd5;
shl.b64 %rd130, %rd129, 6;
add.s64 %rd234, %rd2, %rd130;
setp.lt.u64 %p15, %rd5, 4;
add.s64 %rd131, %rd5, 1;
shr.u64 %rd132, %rd131, 2;
selp.b64 %rd9, 1, %rd132, %p15;
ld.param.u64 %rd10, [barmap_ring_echo_32_param_1];
ld.param.u64 %rd11, [barmap_ring_echo_32_param_1+8];
ld.param.u64 %rd178, [barmap_ring_echo_32_param_1+16];
ld.param.u64 %rd13, [barmap_ring_echo_32_param_1+24];
add.s64 %rd209, %rd178, 16;
ld.relaxed.sys.u64 %rd266, [%rd209];
and.b64 %rd133, %rd266, %rd13;
shl.b64 %rd134, %rd133, 4;
add.s64 %rd223, %rd10, %rd134;
ld.acquire.sys.u64 %rd123, [%rd178];
add.s64 %rd17, %rd13, 1;
sub.s64 %rd135, %rd17, %rd266;
add.s64 %rd222, %rd135, %rd123;
add.s64 %rd181, %rd178, 8;
ld.param.u64 %rd20, [barmap_ring_echo_32_param_2+16];
setp.eq.s64 %p16, %rd20, 0;
selp.b32 %r1, 2, 4, %p16;
selp.b32 %r2, 1, 4, %p16;
mov.u64 %rd261, 0;
mov.u16 %rs6, 0;
ld.param.u64 %rd21, [barmap_ring_echo_32_param_2];
mov.pred %p19, 0;
mov.pred %p37, -1;
mov.u64 %rd236, %rd9;
mov.u16 %rs14, %rs6;
mov.u64 %rd262, %rd261;
mov.u64 %rd263, %rd261;
mov.u64 %rd264, %rd261;
mov.u64 %rd265, %rd261;
bra.uni LBB17_1;
LBB17_35:
@%p68 bra LBB17_1;
bra.uni LBB17_36;
LBB17_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p17, %rs7, 0;
@%p17 bra LBB17_4;
add.s64 %rd272, %rd272, 1;
and.b64 %rd136, %rd272, %rd5;
shl.b64 %rd137, %rd136, 6;
add.s64 %rd234, %rd2, %rd137;
add.s64 %rd236, %rd236, -1;
setp.ne.s64 %p18, %rd236, 0;
@%p18 bra LBB17_4;
st.relaxed.sys.u64 [%rd213], %rd272;
mov.u64 %rd236, %rd9;
LBB17_4:
cvta.global.u64 %rd161, %rd234;
add.s64 %rd214, %rd272, 1;
add.s64 %rd164, %rd161, 16;
add.s64 %rd167, %rd161, 32;
add.s64 %rd170, %rd161, 48;
mov.u16 %rs14, %rs6;
mov.u64 %rd241, %rd20;
bra.uni LBB17_5;
LBB17_17:
selp.u16 %rs14, 1, 0, %p63;
mov.pred %p64, 0;
LBB17_19:
add.s64 %rd241, %rd241, -64;
@%p64 bra LBB17_5;
bra.uni LBB17_20;
LBB17_5:
setp.lt.u64 %p20, %rd241, 64;
cvt.u32.u64 %r22, %rd241;
add.s32 %r23, %r22, 1;
selp.b32 %r4, %r23, 64, %p20;
setp.eq.s32 %p21, %r4, 0;
mov.pred %p62, %p19;
@%p21 bra LBB17_11;
mov.u32 %r35, 0;
mov.pred %p62, -1;
bra.uni LBB17_7;
LBB17_10:
add.s32 %r35, %r35, 1;
setp.lt.u32 %p62, %r35, %r4;
setp.ne.s32 %p25, %r4, %r35;
mov.u16 %rs14, 0;
@%p25 bra LBB17_7;
bra.uni LBB17_11;
LBB17_7:
ld.relaxed.sys.v2.u64 {%rd61, %rd141}, [%rd161];
ld.relaxed.sys.v2.u64 {%rd62, %rd144}, [%rd164];
ld.relaxed.sys.v2.u64 {%rd63, %rd147}, [%rd167];
ld.acquire.sys.v2.u64 {%rd64, %rd150}, [%rd170];
setp.ne.s64 %p23, %rd150, %rd214;
@%p23 bra LBB17_10;
xor.b64 %rd152, %rd141, %rd214;
xor.b64 %rd153, %rd144, %rd214;
or.b64 %rd154, %rd153, %rd152;
xor.b64 %rd155, %rd147, %rd214;
or.b64 %rd156, %rd154, %rd155;
setp.ne.s64 %p24, %rd156, 0;
@%p24 bra LBB17_10;
mov.u32 %r36, 0;
mov.u16 %rs14, 1;
mov.u64 %rd242, %rd64;
mov.u64 %rd243, %rd63;
mov.u64 %rd244, %rd62;
mov.u64 %rd245, %rd61;
LBB17_11:
mov.pred %p64, %p19;
@%p62 bra LBB17_19;
ld.acquire.sys.u64 %rd157, [%rd158];
setp.eq.s64 %p27, %rd157, 0;
@%p27 bra LBB17_18;
ld.relaxed.sys.v2.u64 {%rd159, %rd160}, [%rd161];
ld.relaxed.sys.v2.u64 {%rd162, %rd163}, [%rd164];
ld.relaxed.sys.v2.u64 {%rd165, %rd166}, [%rd167];
ld.acquire.sys.v2.u64 {%rd168, %rd169}, [%rd170];
setp.ne.s64 %p29, %rd169, %rd214;
mov.pred %p63, 0;
@%p29 bra LBB17_15;
xor.b64 %rd171, %rd160, %rd214;
xor.b64 %rd172, %rd163, %rd214;
or.b64 %rd173, %rd172, %rd171;
xor.b64 %rd174, %rd166, %rd214;
or.b64 %rd175, %rd173, %rd174;
setp.eq.s64 %p63, %rd175, 0;
LBB17_15:
mov.u32 %r36, 3;
@!%p63 bra LBB17_17;
bra.uni LBB17_16;
LBB17_16:
mov.u32 %r36, 0;
mov.u64 %rd242, %rd168;
mov.u64 %rd243, %rd165;
mov.u64 %rd244, %rd162;
mov.u64 %rd245, %rd159;
bra.uni LBB17_17;
LBB17_18:
setp.gt.u64 %p64, %rd241, 63;
selp.b32 %r36, %r1, %r36, %p20;
bra.uni LBB17_19;
LBB17_20:
setp.ne.s32 %p32, %r36, 0;
@%p32 bra LBB17_36;
setp.ne.s64 %p33, %rd222, 0;
@%p33 bra LBB17_31;
bra.uni LBB17_22;
LBB17_31:
add.s64 %rd266, %rd266, 1;
st.relaxed.sys.v2.u64 [%rd223], {%rd245, %rd266};
add.s64 %rd222, %rd222, -1;
and.b64 %rd185, %rd266, %rd13;
shl.b64 %rd186, %rd185, 4;
add.s64 %rd223, %rd10, %rd186;
mov.u32 %r36, 0;
LBB17_32:
setp.ne.s32 %p45, %r36, 0;
mov.pred %p68, 0;
@%p45 bra LBB17_35;
add.s64 %rd100, %rd21, %rd265;
add.s64 %rd187, %rd245, -3335678366873096957;
xor.b64 %rd188, %rd187, %rd244;
add.s64 %rd189, %rd245, -6671356733746193914;
xor.b64 %rd190, %rd189, %rd243;
or.b64 %rd191, %rd190, %rd188;
add.s64 %rd192, %rd245, 8439708973090260745;
xor.b64 %rd193, %rd192, %rd242;
or.b64 %rd101, %rd191, %rd193;
add.s64 %rd265, %rd265, 1;
add.s64 %rd194, %rd242, %rd261;
add.s64 %rd195, %rd194, %rd243;
add.s64 %rd196, %rd195, %rd244;
add.s64 %rd261, %rd196, %rd245;
mul.lo.s64 %rd197, %rd100, -7046029254386353131;
xor.b64 %rd198, %rd197, %rd245;
or.b64 %rd199, %rd198, %rd101;
setp.eq.s64 %p47, %rd199, 0;
mov.pred %p68, -1;
@%p47 bra LBB17_35;
mul.lo.s64 %rd200, %rd245, -1018231460777725123;
sub.s64 %rd201, %rd200, %rd100;
setp.ne.s64 %p49, %rd101, 0;
setp.gt.s64 %p50, %rd201, 1099511627776;
or.pred %p51, %p49, %p50;
setp.lt.s64 %p52, %rd201, -1099511627776;
or.pred %p53, %p51, %p52;
selp.u64 %rd202, 1, 0, %p53;
add.s64 %rd264, %rd264, %rd202;
setp.lt.s64 %p54, %rd201, 0;
not.pred %p55, %p53;
and.pred %p56, %p55, %p54;
selp.u64 %rd203, 1, 0, %p56;
add.s64 %rd263, %rd263, %rd203;
setp.gt.s64 %p57, %rd201, 0;
and.pred %p58, %p55, %p57;
selp.u64 %rd204, 1, 0, %p58;
add.s64 %rd262, %rd262, %rd204;
bra.uni LBB17_35;
LBB17_22:
mov.u64 %rd222, 0;
mov.u64 %rd255, %rd20;
mov.u32 %r36, %r39;
bra.uni LBB17_23;
LBB17_29:
add.s64 %rd255, %rd255, -64;
mov.u32 %r39, %r36;
@%p67 bra LBB17_23;
bra.uni LBB17_30;
LBB17_23:
setp.lt.u64 %p35, %rd255, 64;
cvt.u32.u64 %r29, %rd255;
add.s32 %r30, %r29, 1;
selp.b32 %r12, %r30, 64, %p35;
setp.eq.s32 %p36, %r12, 0;
mov.pred %p66, %p19;
@%p36 bra LBB17_27;
mov.u32 %r31, 0;
mov.pred %p66, %p37;
mov.u32 %r40, %r31;
LBB17_26:
ld.acquire.sys.u64 %rd177, [%rd178];
sub.s64 %rd179, %rd177, %rd266;
add.s64 %rd222, %rd17, %rd179;
setp.eq.s64 %p38, %rd222, 0;
mov.u32 %r36, %r31;
@%p38 bra LBB17_25;
bra.uni LBB17_27;
LBB17_25:
add.s32 %r40, %r40, 1;
setp.lt.u32 %p66, %r40, %r12;
setp.eq.s32 %p39, %r12, %r40;
mov.u32 %r36, %r39;
@%p39 bra LBB17_27;
bra.uni LBB17_26;
LBB17_27:
mov.pred %p67, %p19;
@%p66 bra LBB17_29;
setp.gt.u64 %p11, %rd255, 63;
selp.b32 %r16, %r2, %r36, %p35;
ld.relaxed.sys.u64 %rd180, [%rd181];
setp.eq.s64 %p42, %rd180, 0;
and.pred %p67, %p42, %p11;
selp.b32 %r36, %r16, 3, %p42;
bra.uni LBB17_29;
LBB17_30:
setp.ne.s32 %p43, %r36, 0;
@%p43 bra LBB17_32;
bra.uni LBB17_31;
LBB17_36:
mov.u64 %rd206, 1;
st.release.sys.u64 [%rd11], %rd206;
add.s64 %rd207, %rd213, 8;
st.release.sys.u64 [%rd207], %rd206;
cvt.s64.s32 %rd211, %r36;
st.global.u64 [%rd1], %rd265;
st.global.u64 [%rd1+8], %rd264;
st.global.u64 [%rd1+16], %rd263;
st.global.u64 [%rd1+24], %rd262;
st.global.u64 [%rd1+32], %rd261;
st.global.u64 [%rd1+40], %rd211;
st.global.u64 [%rd1+48], %rd206;
mov.u64 %rd212, 0;
st.global.u64 [%rd1+56], %rd212;
st.relaxed.sys.u64 [%rd209], %rd266;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p59, %rs11, 0;
@%p59 bra LBB17_39;
setp.ne.s64 %p60, %rd236, 1;
mov.u64 %rd272, %rd214;
@%p60 bra LBB17_39;
st.relaxed.sys.u64 [%rd213], %rd214;
mov.u64 %rd272, %rd214;
LBB17_39:
st.relaxed.sys.u64 [%rd215], %rd272;
st.relaxed.sys.u64 [%rd213], %rd272;
ret;
}
)"
R"(.visible .entry barmap_ring_echo_56(
.param .align 8 .b8 barmap_ring_echo_56_param_0[32],
.param .align 8 .b8 barmap_ring_echo_56_param_1[32],
.param .align 8 .b8 barmap_ring_echo_56_param_2[24],
.param .u64 barmap_ring_echo_56_param_3
)
{
.reg .pred %p<67>;
.reg .b16 %rs<16>;
.reg .b32 %r<45>;
.reg .b64 %rd<332>;
ld.param.u64 %rd151, [barmap_ring_echo_56_param_3];
cvta.to.global.u64 %rd1, %rd151;
ld.param.u64 %rd152, [barmap_ring_echo_56_param_0];
cvta.to.global.u64 %rd2, %rd152;
ld.param.u64 %rd179, [barmap_ring_echo_56_param_0+8];
ld.param.u64 %rd243, [barmap_ring_echo_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_echo_56_param_0+24];
add.s64 %rd245, %rd179, 8;
ld.relaxed.sys.u64 %rd331, [%rd245];
and.b64 %rd153, %rd331, %rd5;
shl.b64 %rd154, %rd153, 6;
add.s64 %rd267, %rd2, %rd154;
setp.lt.u64 %p13, %rd5, 4;
add.s64 %rd155, %rd5, 1;
shr.u64 %rd156, %rd155, 2;
selp.b64 %rd9, 1, %rd156, %p13;
ld.param.u64 %rd10, [barmap_ring_echo_56_param_1];
ld.param.u64 %rd11, [barmap_ring_echo_56_param_1+8];
ld.param.u64 %rd196, [barmap_ring_echo_56_param_1+16];
ld.param.u64 %rd13, [barmap_ring_echo_56_param_1+24];
add.s64 %rd239, %rd196, 16;
ld.relaxed.sys.u64 %rd325, [%rd239];
and.b64 %rd157, %rd325, %rd13;
shl.b64 %rd158, %rd157, 4;
add.s64 %rd253, %rd10, %rd158;
ld.acquire.sys.u64 %rd147, [%rd196];
add.s64 %rd17, %rd13, 1;
sub.s64 %rd159, %rd17, %rd325;
add.s64 %rd252, %rd159, %rd147;
add.s64 %rd199, %rd196, 8;
ld.param.u64 %rd20, [barmap_ring_echo_56_param_2+16];
setp.eq.s64 %p14, %rd20, 0;
selp.b32 %r1, 2, 4, %p14;
selp.b32 %r2, 1, 4, %p14;
mov.u64 %rd320, 0;
mov.u16 %rs6, 0;
ld.param.u64 %rd21, [barmap_ring_echo_56_param_2];
mov.pred %p17, 0;
mov.pred %p36, -1;
mov.u64 %rd269, %rd9;
mov.u16 %rs14, %rs6;
mov.u64 %rd321, %rd320;
mov.u64 %rd322, %rd320;
mov.u64 %rd323, %rd320;
mov.u64 %rd324, %rd320;
bra.uni LBB18_1;
LBB18_35:
@%p66 bra LBB18_1;
bra.uni LBB18_36;
LBB18_1:
and.b16 %rs7, %rs14, 255;
setp.eq.s16 %p15, %rs7, 0;
@%p15 bra LBB18_4;
add.s64 %rd331, %rd331, 1;
and.b64 %rd160, %rd331, %rd5;
shl.b64 %rd161, %rd160, 6;
add.s64 %rd267, %rd2, %rd161;
add.s64 %rd269, %rd269, -1;
setp.ne.s64 %p16, %rd269, 0;
@%p16 bra LBB18_4;
st.release.sys.u64 [%rd243], %rd331;
mov.u64 %rd269, %rd9;
LBB18_4:
cvta.global.u64 %rd185, %rd267;
add.s64 %rd244, %rd331, 1;
add.s64 %rd181, %rd185, 56;
add.s64 %rd188, %rd185, 16;
add.s64 %rd191, %rd185, 32;
add.s64 %rd193, %rd185, 48;
mov.u16 %rs14, %rs6;
mov.u64 %rd277, %rd20;
bra.uni LBB18_5;
LBB18_17:
setp.eq.s64 %p29, %rd180, %rd244;
selp.u16 %rs14, 1, 0, %p29;
mov.pred %p62, %p17;
LBB18_19:
add.s64 %rd277, %rd277, -64;
@%p62 bra LBB18_5;
bra.uni LBB18_20;
LBB18_5:
mov.u32 %r3, %r36;
mov.u64 %rd58, %rd291;
mov.u64 %rd57, %rd290;
mov.u64 %rd56, %rd289;
mov.u64 %rd55, %rd288;
mov.u64 %rd54, %rd287;
mov.u64 %rd53, %rd286;
mov.u64 %rd52, %rd285;
setp.lt.u64 %p18, %rd277, 64;
cvt.u32.u64 %r22, %rd277;
add.s32 %r23, %r22, 1;
selp.b32 %r4, %r23, 64, %p18;
setp.eq.s32 %p19, %r4, 0;
mov.pred %p61, %p17;
@%p19 bra LBB18_11;
mov.u32 %r35, 0;
mov.pred %p61, -1;
LBB18_7:
ld.acquire.sys.u64 %rd164, [%rd181];
setp.ne.s64 %p21, %rd164, %rd244;
@%p21 bra LBB18_9;
ld.relaxed.sys.v2.u64 {%rd291, %rd290}, [%rd185];
ld.relaxed.sys.v2.u64 {%rd289, %rd288}, [%rd188];
ld.relaxed.sys.v2.u64 {%rd287, %rd286}, [%rd191];
ld.relaxed.sys.u64 %rd285, [%rd193];
LBB18_9:
setp.eq.s64 %p22, %rd164, %rd244;
mov.u32 %r36, 0;
mov.u16 %rs14, 1;
@%p22 bra LBB18_11;
add.s32 %r35, %r35, 1;
setp.lt.u32 %p61, %r35, %r4;
setp.ne.s32 %p23, %r4, %r35;
mov.u16 %rs14, 0;
mov.u64 %rd285, %rd52;
mov.u64 %rd286, %rd53;
mov.u64 %rd287, %rd54;
mov.u64 %rd288, %rd55;
mov.u64 %rd289, %rd56;
mov.u64 %rd290, %rd57;
mov.u64 %rd291, %rd58;
mov.u32 %r36, %r3;
@%p23 bra LBB18_7;
LBB18_11:
mov.pred %p62, %p17;
@%p61 bra LBB18_19;
ld.acquire.sys.u64 %rd178, [%rd179];
setp.eq.s64 %p25, %rd178, 0;
@%p25 bra LBB18_18;
ld.acquire.sys.u64 %rd180, [%rd181];
setp.ne.s64 %p26, %rd180, %rd244;
@%p26 bra LBB18_15;
ld.relaxed.sys.v2.u64 {%rd298, %rd297}, [%rd185];
ld.relaxed.sys.v2.u64 {%rd296, %rd295}, [%rd188];
ld.relaxed.sys.v2.u64 {%rd294, %rd293}, [%rd191];
ld.relaxed.sys.u64 %rd292, [%rd193];
LBB18_15:
mov.u32 %r36, 3;
@%p26 bra LBB18_17;
mov.u32 %r36, 0;
mov.u64 %rd285, %rd292;
mov.u64 %rd286, %rd293;
mov.u64 %rd287, %rd294;
mov.u64 %rd288, %rd295;
mov.u64 %rd289, %rd296;
mov.u64 %rd290, %rd297;
mov.u64 %rd291, %rd298;
bra.uni LBB18_17;
LBB18_18:
setp.gt.u64 %p62, %rd277, 63;
selp.b32 %r36, %r1, %r36, %p18;
bra.uni LBB18_19;
LBB18_20:
setp.ne.s32 %p31, %r36, 0;
@%p31 bra LBB18_36;
setp.ne.s64 %p32, %rd252, 0;
@%p32 bra LBB18_31;
bra.uni LBB18_22;
LBB18_31:
add.s64 %rd325, %rd325, 1;
st.relaxed.sys.v2.u64 [%rd253], {%rd291, %rd325};
add.s64 %rd252, %rd252, -1;
and.b64 %rd203, %rd325, %rd13;
shl.b64 %rd204, %rd203, 4;
add.s64 %rd253, %rd10, %rd204;
mov.u32 %r36, 0;
LBB18_32:
setp.ne.s32 %p44, %r36, 0;
mov.pred %p66, 0;
@%p44 bra LBB18_35;
add.s64 %rd124, %rd21, %rd324;
add.s64 %rd205, %rd291, -3335678366873096957;
xor.b64 %rd206, %rd205, %rd290;
add.s64 %rd207, %rd291, -6671356733746193914;
xor.b64 %rd208, %rd207, %rd289;
or.b64 %rd209, %rd208, %rd206;
add.s64 %rd210, %rd291, 8439708973090260745;
xor.b64 %rd211, %rd210, %rd288;
or.b64 %rd212, %rd209, %rd211;
add.s64 %rd213, %rd291, 5104030606217163788;
xor.b64 %rd214, %rd213, %rd287;
or.b64 %rd215, %rd212, %rd214;
add.s64 %rd216, %rd291, 1768352239344066831;
xor.b64 %rd217, %rd216, %rd286;
or.b64 %rd218, %rd215, %rd217;
add.s64 %rd219, %rd291, -1567326127529030126;
xor.b64 %rd220, %rd219, %rd285;
or.b64 %rd125, %rd218, %rd220;
add.s64 %rd324, %rd324, 1;
add.s64 %rd221, %rd285, %rd320;
add.s64 %rd222, %rd221, %rd286;
add.s64 %rd223, %rd222, %rd287;
add.s64 %rd224, %rd223, %rd288;
add.s64 %rd225, %rd224, %rd289;
add.s64 %rd226, %rd225, %rd290;
add.s64 %rd320, %rd226, %rd291;
mul.lo.s64 %rd227, %rd124, -7046029254386353131;
xor.b64 %rd228, %rd227, %rd291;
or.b64 %rd229, %rd228, %rd125;
setp.eq.s64 %p46, %rd229, 0;
mov.pred %p66, -1;
@%p46 bra LBB18_35;
mul.lo.s64 %rd230, %rd291, -1018231460777725123;
sub.s64 %rd231, %rd230, %rd124;
setp.ne.s64 %p48, %rd125, 0;
setp.gt.s64 %p49, %rd231, 1099511627776;
or.pred %p50, %p48, %p49;
setp.lt.s64 %p51, %rd231, -1099511627776;
or.pred %p52, %p50, %p51;
selp.u64 %rd232, 1, 0, %p52;
add.s64 %rd323, %rd323, %rd232;
setp.lt.s64 %p53, %rd231, 0;
not.pred %p54, %p52;
and.pred %p55, %p54, %p53;
selp.u64 %rd233, 1, 0, %p55;
add.s64 %rd322, %rd322, %rd233;
setp.gt.s64 %p56, %rd231, 0;
and.pred %p57, %p54, %p56;
selp.u64 %rd234, 1, 0, %p57;
add.s64 %rd321, %rd321, %rd234;
bra.uni LBB18_35;
LBB18_22:
mov.u64 %rd252, 0;
mov.u64 %rd314, %rd20;
mov.u32 %r36, %r39;
bra.uni LBB18_23;
LBB18_29:
add.s64 %rd314, %rd314, -64;
mov.u32 %r39, %r36;
@%p65 bra LBB18_23;
bra.uni LBB18_30;
LBB18_23:
setp.lt.u64 %p34, %rd314, 64;
cvt.u32.u64 %r29, %rd314;
add.s32 %r30, %r29, 1;
selp.b32 %r12, %r30, 64, %p34;
setp.eq.s32 %p35, %r12, 0;
mov.pred %p64, %p17;
@%p35 bra LBB18_27;
mov.u32 %r31, 0;
mov.pred %p64, %p36;
mov.u32 %r40, %r31;
LBB18_26:
ld.acquire.sys.u64 %rd195, [%rd196];
sub.s64 %rd197, %rd195, %rd325;
add.s64 %rd252, %rd17, %rd197;
setp.eq.s64 %p37, %rd252, 0;
mov.u32 %r36, %r31;
@%p37 bra LBB18_25;
bra.uni LBB18_27;
LBB18_25:
add.s32 %r40, %r40, 1;
setp.lt.u32 %p64, %r40, %r12;
setp.eq.s32 %p38, %r12, %r40;
mov.u32 %r36, %r39;
@%p38 bra LBB18_27;
bra.uni LBB18_26;
LBB18_27:
mov.pred %p65, %p17;
@%p64 bra LBB18_29;
setp.gt.u64 %p9, %rd314, 63;
selp.b32 %r16, %r2, %r36, %p34;
ld.relaxed.sys.u64 %rd198, [%rd199];
setp.eq.s64 %p41, %rd198, 0;
and.pred %p65, %p41, %p9;
selp.b32 %r36, %r16, 3, %p41;
bra.uni LBB18_29;
LBB18_30:
setp.ne.s32 %p42, %r36, 0;
@%p42 bra LBB18_32;
bra.uni LBB18_31;
LBB18_36:
mov.u64 %rd236, 1;
st.release.sys.u64 [%rd11], %rd236;
add.s64 %rd237, %rd243, 8;
st.release.sys.u64 [%rd237], %rd236;
cvt.s64.s32 %rd241, %r36;
st.global.u64 [%rd1], %rd324;
st.global.u64 [%rd1+8], %rd323;
st.global.u64 [%rd1+16], %rd322;
st.global.u64 [%rd1+24], %rd321;
st.global.u64 [%rd1+32], %rd320;
st.global.u64 [%rd1+40], %rd241;
st.global.u64 [%rd1+48], %rd236;
mov.u64 %rd242, 0;
st.global.u64 [%rd1+56], %rd242;
st.relaxed.sys.u64 [%rd239], %rd325;
and.b16 %rs11, %rs14, 255;
setp.eq.s16 %p58, %rs11, 0;
@%p58 bra LBB18_39;
setp.ne.s64 %p59, %rd269, 1;
mov.u64 %rd331, %rd244;
@%p59 bra LBB18_39;
st.release.sys.u64 [%rd243], %rd244;
mov.u64 %rd331, %rd244;
LBB18_39:
st.relaxed.sys.u64 [%rd245], %rd331;
st.release.sys.u64 [%rd243], %rd331;
ret;
}
)"
R"(.visible .entry barmap_ring_echo_bare(
.param .align 8 .b8 barmap_ring_echo_bare_param_0[32],
.param .align 8 .b8 barmap_ring_echo_bare_param_1[32],
.param .align 8 .b8 barmap_ring_echo_bare_param_2[24],
.param .u64 barmap_ring_echo_bare_param_3
)
{
.reg .pred %p<8>;
.reg .b32 %r<4>;
.reg .b64 %rd<58>;
ld.param.u64 %rd26, [barmap_ring_echo_bare_param_3];
cvta.to.global.u64 %rd1, %rd26;
ld.param.u64 %rd7, [barmap_ring_echo_bare_param_2+8];
setp.eq.s64 %p2, %rd7, 0;
mov.u64 %rd24, 0;
mov.u64 %rd56, %rd24;
mov.u64 %rd57, %rd24;
@%p2 bra LBB19_11;
mov.b64 %rd25, barmap_ring_echo_bare_param_0;
mov.b64 %rd27, barmap_ring_echo_bare_param_1;
mov.b64 %rd28, barmap_ring_echo_bare_param_2;
mov.u64 %rd2, %rd28;
mov.u64 %rd3, %rd27;
mov.u64 %rd4, %rd25;
ld.param.u64 %rd5, [barmap_ring_echo_bare_param_0+24];
setp.lt.u64 %p1, %rd5, 4;
add.s64 %rd29, %rd5, 1;
shr.u64 %rd30, %rd29, 2;
selp.b64 %rd6, 1, %rd30, %p1;
ld.param.u64 %rd32, [%rd4];
cvta.to.global.u64 %rd33, %rd32;
add.s64 %rd34, %rd33, 8;
cvta.global.u64 %rd8, %rd34;
ld.param.u64 %rd9, [%rd3];
ld.param.u64 %rd10, [%rd3+24];
ld.param.u64 %rd11, [%rd2+16];
ld.param.u64 %rd48, [%rd4+16];
mov.u64 %rd31, 0;
cvt.u32.u64 %r1, %rd6;
mov.u64 %rd53, %rd31;
LBB19_2:
mov.u64 %rd56, %rd53;
and.b64 %rd36, %rd56, %rd5;
and.b64 %rd37, %rd10, %rd56;
shl.b64 %rd38, %rd37, 4;
add.s64 %rd14, %rd9, %rd38;
shl.b64 %rd39, %rd36, 6;
add.s64 %rd15, %rd8, %rd39;
add.s64 %rd53, %rd56, 1;
mov.u64 %rd54, %rd31;
LBB19_3:
ld.relaxed.sys.u64 %rd40, [%rd15];
setp.eq.s64 %p3, %rd40, %rd53;
@%p3 bra LBB19_5;
add.s64 %rd54, %rd54, 1;
setp.gt.u64 %p4, %rd54, %rd11;
mov.u64 %rd57, 4;
@%p4 bra LBB19_11;
bra.uni LBB19_3;
LBB19_5:
mul.lo.s64 %rd44, %rd56, -7046029254386353131;
st.relaxed.sys.v2.u64 [%rd14], {%rd44, %rd53};
or.b64 %rd46, %rd53, %rd6;
and.b64 %rd47, %rd46, -4294967296;
setp.ne.s64 %p5, %rd47, 0;
@%p5 bra LBB19_7;
bra.uni LBB19_6;
LBB19_7:
rem.u64 %rd55, %rd53, %rd6;
bra.uni LBB19_8;
LBB19_6:
cvt.u32.u64 %r2, %rd53;
rem.u32 %r3, %r2, %r1;
cvt.u64.u32 %rd55, %r3;
LBB19_8:
setp.ne.s64 %p6, %rd55, 0;
@%p6 bra LBB19_10;
st.relaxed.sys.u64 [%rd48], %rd53;
LBB19_10:
setp.ne.s64 %p7, %rd53, %rd7;
mov.u64 %rd57, 0;
mov.u64 %rd56, %rd7;
@%p7 bra LBB19_2;
LBB19_11:
st.global.u64 [%rd1], %rd56;
st.global.u64 [%rd1+8], %rd24;
st.global.u64 [%rd1+16], %rd24;
st.global.u64 [%rd1+24], %rd24;
st.global.u64 [%rd1+32], %rd24;
st.global.u64 [%rd1+40], %rd57;
mov.u64 %rd52, 1;
st.global.u64 [%rd1+48], %rd52;
st.global.u64 [%rd1+56], %rd24;
ret;
}
)"
R"(.visible .entry barmap_ring_call_8_8(
.param .align 8 .b8 barmap_ring_call_8_8_param_0[40],
.param .align 8 .b8 barmap_ring_call_8_8_param_1[24],
.param .u64 barmap_ring_call_8_8_param_2,
.param .u32 barmap_ring_call_8_8_param_3,
.param .u64 barmap_ring_call_8_8_param_4
)
{
.reg .pred %p<96>;
.reg .b32 %r<71>;
.reg .b64 %rd<326>;
ld.param.u32 %r27, [barmap_ring_call_8_8_param_3];
mov.b64 %rd152, barmap_ring_call_8_8_param_0;
ld.param.u64 %rd153, [barmap_ring_call_8_8_param_4];
cvta.to.global.u64 %rd1, %rd153;
mov.b64 %rd154, barmap_ring_call_8_8_param_1;
ld.param.u64 %rd155, [barmap_ring_call_8_8_param_2];
mov.u64 %rd3, %rd154;
mov.u64 %rd4, %rd152;
mov.u32 %r28, %ctaid.x;
mov.u32 %r29, %ntid.x;
mov.u32 %r30, %tid.x;
mad.lo.s32 %r1, %r28, %r29, %r30;
mov.u64 %rd150, %globaltimer;
mov.u64 %rd151, %clock64;
setp.ne.s32 %p10, %r27, 1;
setp.ne.s32 %p86, %r1, 0;
@%p10 bra LBB20_34;
ld.param.u64 %rd7, [%rd4];
ld.param.u64 %rd8, [%rd4+8];
ld.param.u64 %rd10, [%rd4+16];
ld.param.u64 %rd245, [%rd4+24];
ld.param.u64 %rd12, [%rd4+32];
add.s64 %rd261, %rd245, 8;
ld.relaxed.sys.u64 %rd302, [%rd261];
ld.param.u64 %rd320, [%rd3+8];
setp.eq.s64 %p47, %rd320, 0;
mov.u32 %r67, 0;
mov.u64 %rd321, 0;
mov.u64 %rd322, %rd321;
mov.u64 %rd323, %rd321;
mov.u64 %rd324, %rd321;
mov.u64 %rd325, %rd321;
@%p47 bra LBB20_33;
cvta.to.global.u64 %rd9, %rd8;
add.s64 %rd16, %rd12, 1;
cvt.u64.u32 %rd17, %r1;
add.s64 %rd216, %rd9, 8;
cvta.global.u64 %rd18, %rd216;
ld.param.u64 %rd19, [%rd3];
ld.param.u64 %rd20, [%rd3+16];
setp.eq.s64 %p48, %rd20, 0;
selp.b32 %r2, 1, 4, %p48;
add.s64 %rd21, %rd20, 1;
mov.u64 %rd321, 0;
mov.pred %p59, 0;
mov.pred %p69, -1;
mov.u64 %rd322, %rd321;
mov.u64 %rd323, %rd321;
mov.u64 %rd324, %rd321;
mov.u64 %rd280, %rd321;
mov.u64 %rd292, %rd16;
bra.uni LBB20_3;
LBB20_32:
add.s64 %rd280, %rd280, 1;
add.s64 %rd323, %rd290, %rd323;
setp.ne.s64 %p84, %rd280, %rd320;
mov.u64 %rd325, %rd320;
@%p84 bra LBB20_3;
bra.uni LBB20_33;
LBB20_3:
add.s64 %rd218, %rd280, %rd17;
add.s64 %rd30, %rd218, %rd19;
mul.lo.s64 %rd232, %rd30, -7046029254386353131;
mov.u64 %rd217, %clock64;
setp.ne.s64 %p49, %rd292, 0;
and.b64 %rd33, %rd302, %rd12;
shl.b64 %rd275, %rd33, 3;
@%p49 bra LBB20_5;
bra.uni LBB20_4;
LBB20_5:
add.s64 %rd35, %rd10, %rd275;
sub.s64 %rd36, %rd302, %rd12;
add.s64 %rd220, %rd36, -1;
shl.b64 %rd285, %rd302, 1;
shl.b64 %rd221, %rd220, 1;
or.b64 %rd38, %rd221, 1;
and.b64 %rd222, %rd220, %rd12;
shl.b64 %rd223, %rd222, 6;
add.s64 %rd39, %rd18, %rd223;
mov.u64 %rd284, %rd21;
LBB20_6:
ld.acquire.sys.u64 %rd224, [%rd35];
setp.eq.s64 %p51, %rd224, %rd285;
mov.u32 %r67, 3;
mov.pred %p89, -1;
@%p51 bra LBB20_11;
setp.ne.s64 %p52, %rd224, %rd38;
@%p52 bra LBB20_9;
ld.acquire.sys.u64 %rd226, [%rd39];
setp.eq.s64 %p54, %rd226, %rd36;
@%p54 bra LBB20_11;
LBB20_9:
ld.relaxed.sys.u64 %rd228, [%rd245];
setp.ne.s64 %p56, %rd228, 0;
mov.pred %p89, 0;
@%p56 bra LBB20_11;
add.s64 %rd284, %rd284, -1;
setp.ne.s64 %p58, %rd284, 0;
mov.u32 %r67, %r2;
@%p58 bra LBB20_6;
LBB20_11:
@!%p89 bra LBB20_27;
bra.uni LBB20_12;
LBB20_12:
add.s64 %rd286, %rd292, -1;
bra.uni LBB20_13;
LBB20_4:
shl.b64 %rd285, %rd302, 1;
mov.u64 %rd286, 0;
LBB20_13:
shl.b64 %rd234, %rd33, 4;
add.s64 %rd231, %rd7, %rd234;
add.s64 %rd46, %rd302, 1;
st.relaxed.sys.v2.u64 [%rd231], {%rd232, %rd46};
or.b64 %rd252, %rd285, 1;
shl.b64 %rd236, %rd33, 6;
add.s64 %rd248, %rd8, %rd236;
add.s64 %rd251, %rd10, %rd275;
add.s64 %rd237, %rd302, %rd12;
shl.b64 %rd238, %rd237, 1;
add.s64 %rd250, %rd238, 2;
mov.u64 %rd288, %rd20;
bra.uni LBB20_14;
LBB20_22:
st.relaxed.sys.u64 [%rd251], %rd250;
mov.u32 %r67, 0;
mov.u64 %rd290, %rd60;
mov.pred %p92, %p59;
LBB20_25:
add.s64 %rd288, %rd288, -64;
@%p92 bra LBB20_14;
bra.uni LBB20_26;
LBB20_14:
setp.lt.u64 %p60, %rd288, 64;
cvt.u32.u64 %r48, %rd288;
add.s32 %r49, %r48, 1;
selp.b32 %r5, %r49, 64, %p60;
setp.eq.s32 %p61, %r5, 0;
mov.pred %p91, %p59;
@%p61 bra LBB20_19;
mov.u32 %r58, 0;
mov.pred %p91, %p69;
LBB20_17:
ld.acquire.sys.v2.u64 {%rd55, %rd240}, [%rd248];
setp.ne.s64 %p63, %rd240, %rd46;
@%p63 bra LBB20_16;
bra.uni LBB20_18;
LBB20_16:
add.s32 %r58, %r58, 1;
setp.lt.u32 %p91, %r58, %r5;
setp.eq.s32 %p64, %r5, %r58;
@%p64 bra LBB20_19;
bra.uni LBB20_17;
LBB20_18:
st.relaxed.sys.u64 [%rd251], %rd250;
mov.u32 %r67, 0;
mov.u64 %rd290, %rd55;
LBB20_19:
mov.pred %p92, %p59;
@%p91 bra LBB20_25;
ld.acquire.sys.u64 %rd244, [%rd245];
setp.eq.s64 %p66, %rd244, 0;
@%p66 bra LBB20_23;
ld.acquire.sys.v2.u64 {%rd60, %rd247}, [%rd248];
setp.ne.s64 %p67, %rd247, %rd46;
@%p67 bra LBB20_23;
bra.uni LBB20_22;
LBB20_23:
setp.gt.u64 %p71, %rd288, 63;
and.pred %p72, %p71, %p66;
mov.pred %p92, %p69;
@%p72 bra LBB20_25;
selp.b32 %r67, 4, 3, %p66;
st.release.sys.u64 [%rd251], %rd252;
mov.pred %p92, %p59;
bra.uni LBB20_25;
LBB20_26:
setp.eq.s32 %p74, %r67, 0;
selp.b64 %rd292, %rd286, %rd16, %p74;
mov.u64 %rd302, %rd46;
LBB20_27:
mov.u64 %rd253, %clock64;
setp.ne.s32 %p75, %r67, 0;
mov.u64 %rd325, %rd280;
@%p75 bra LBB20_33;
@%p86 bra LBB20_30;
sub.s64 %rd68, %rd253, %rd217;
shl.b64 %rd254, %rd280, 3;
add.s64 %rd69, %rd1, %rd254;
st.global.u64 [%rd69], %rd68;
LBB20_30:
setp.eq.s64 %p77, %rd290, %rd232;
@%p77 bra LBB20_32;
mul.lo.s64 %rd255, %rd290, -1018231460777725123;
sub.s64 %rd256, %rd255, %rd30;
add.s64 %rd257, %rd256, -1099511627777;
setp.gt.u64 %p78, %rd257, -2199023255554;
setp.lt.u64 %p79, %rd257, -2199023255553;
selp.u64 %rd258, 1, 0, %p79;
add.s64 %rd324, %rd324, %rd258;
setp.lt.s64 %p80, %rd256, 0;
and.pred %p81, %p78, %p80;
selp.u64 %rd259, 1, 0, %p81;
add.s64 %rd321, %rd321, %rd259;
setp.gt.s64 %p82, %rd256, 0;
and.pred %p83, %p78, %p82;
selp.u64 %rd260, 1, 0, %p83;
add.s64 %rd322, %rd322, %rd260;
bra.uni LBB20_32;
LBB20_34:
mov.u64 %rd320, 0;
mov.u32 %r67, 0;
ld.param.u64 %rd84, [%rd3+8];
setp.eq.s64 %p11, %rd84, 0;
mov.u64 %rd321, %rd320;
mov.u64 %rd322, %rd320;
mov.u64 %rd323, %rd320;
mov.u64 %rd324, %rd320;
mov.u64 %rd325, %rd320;
@%p11 bra LBB20_64;
mov.u32 %r54, 3;
mov.pred %p87, -1;
mov.pred %p88, 0;
cvt.u64.u32 %rd85, %r1;
cvt.u64.u32 %rd86, %r27;
ld.param.u64 %rd87, [%rd3];
ld.param.u64 %rd88, [%rd3+16];
ld.param.u64 %rd177, [%rd4+24];
add.s64 %rd179, %rd177, 8;
setp.eq.s64 %p12, %rd88, 0;
selp.b32 %r13, 1, 4, %p12;
ld.param.u64 %rd91, [%rd4+16];
ld.param.u64 %rd92, [%rd4+32];
ld.param.u64 %rd93, [%rd4+8];
cvta.to.global.u64 %rd159, %rd93;
add.s64 %rd160, %rd159, 8;
cvta.global.u64 %rd94, %rd160;
ld.param.u64 %rd95, [%rd4];
mov.u64 %rd157, 0;
mov.u64 %rd321, %rd157;
mov.u64 %rd322, %rd157;
mov.u64 %rd323, %rd157;
mov.u64 %rd324, %rd157;
mov.u64 %rd307, %rd157;
bra.uni LBB20_36;
LBB20_63:
add.s64 %rd307, %rd307, 1;
add.s64 %rd323, %rd314, %rd323;
setp.ne.s64 %p46, %rd307, %rd84;
mov.u64 %rd320, %rd84;
mov.u64 %rd325, %rd84;
@%p46 bra LBB20_36;
bra.uni LBB20_64;
LBB20_36:
mul.lo.s64 %rd163, %rd307, %rd86;
add.s64 %rd164, %rd163, %rd85;
add.s64 %rd102, %rd164, %rd87;
mul.lo.s64 %rd183, %rd102, -7046029254386353131;
mov.u64 %rd161, %clock64;
mov.u64 %rd310, %rd157;
LBB20_37:
mov.u32 %r14, %r67;
ld.relaxed.sys.u64 %rd180, [%rd179];
and.b64 %rd108, %rd92, %rd180;
shl.b64 %rd169, %rd108, 3;
add.s64 %rd201, %rd91, %rd169;
ld.acquire.sys.u64 %rd167, [%rd201];
shl.b64 %rd113, %rd180, 1;
setp.eq.s64 %p13, %rd167, %rd113;
mov.u32 %r53, 1;
@%p13 bra LBB20_40;
sub.s64 %rd111, %rd180, %rd92;
add.s64 %rd112, %rd111, -1;
shl.b64 %rd170, %rd112, 1;
or.b64 %rd171, %rd170, 1;
setp.ne.s64 %p14, %rd167, %rd171;
@%p14 bra LBB20_54;
and.b64 %rd174, %rd112, %rd92;
shl.b64 %rd175, %rd174, 6;
add.s64 %rd173, %rd94, %rd175;
ld.acquire.sys.u64 %rd172, [%rd173];
setp.ne.s64 %p15, %rd172, %rd111;
@%p15 bra LBB20_54;
LBB20_40:
add.s64 %rd184, %rd180, 1;
atom.relaxed.gpu.cas.b64 %rd178, [%rd179], %rd180, %rd184;
setp.ne.s64 %p19, %rd178, %rd180;
mov.u32 %r67, %r14;
mov.u32 %r69, %r54;
@%p19 bra LBB20_56;
shl.b64 %rd185, %rd108, 4;
add.s64 %rd182, %rd95, %rd185;
st.relaxed.sys.v2.u64 [%rd182], {%rd183, %rd184};
or.b64 %rd202, %rd113, 1;
shl.b64 %rd186, %rd108, 6;
add.s64 %rd198, %rd93, %rd186;
add.s64 %rd187, %rd92, %rd180;
shl.b64 %rd188, %rd187, 1;
add.s64 %rd200, %rd188, 2;
mov.u64 %rd312, %rd88;
bra.uni LBB20_42;
LBB20_50:
st.relaxed.sys.u64 [%rd201], %rd200;
mov.u32 %r67, 0;
mov.u64 %rd314, %rd127;
mov.pred %p95, %p88;
LBB20_53:
add.s64 %rd312, %rd312, -64;
mov.u32 %r69, %r53;
@%p95 bra LBB20_42;
bra.uni LBB20_56;
LBB20_42:
setp.lt.u64 %p21, %rd312, 64;
cvt.u32.u64 %r37, %rd312;
add.s32 %r38, %r37, 1;
selp.b32 %r16, %r38, 64, %p21;
setp.eq.s32 %p22, %r16, 0;
mov.pred %p94, %p88;
@%p22 bra LBB20_47;
mov.u32 %r65, 0;
mov.pred %p94, %p87;
LBB20_45:
ld.acquire.sys.v2.u64 {%rd122, %rd190}, [%rd198];
setp.ne.s64 %p24, %rd190, %rd184;
@%p24 bra LBB20_44;
bra.uni LBB20_46;
LBB20_44:
add.s32 %r65, %r65, 1;
setp.lt.u32 %p94, %r65, %r16;
setp.eq.s32 %p25, %r16, %r65;
@%p25 bra LBB20_47;
bra.uni LBB20_45;
LBB20_46:
st.relaxed.sys.u64 [%rd201], %rd200;
mov.u32 %r67, 0;
mov.u64 %rd314, %rd122;
LBB20_47:
mov.pred %p95, %p88;
@%p94 bra LBB20_53;
ld.acquire.sys.u64 %rd194, [%rd177];
setp.eq.s64 %p27, %rd194, 0;
@%p27 bra LBB20_51;
ld.acquire.sys.v2.u64 {%rd127, %rd197}, [%rd198];
setp.ne.s64 %p28, %rd197, %rd184;
@%p28 bra LBB20_51;
bra.uni LBB20_50;
LBB20_51:
setp.gt.u64 %p32, %rd312, 63;
and.pred %p33, %p32, %p27;
mov.pred %p95, %p87;
@%p33 bra LBB20_53;
selp.b32 %r67, 4, 3, %p27;
st.release.sys.u64 [%rd201], %rd202;
mov.pred %p95, %p88;
bra.uni LBB20_53;
LBB20_54:
ld.relaxed.sys.u64 %rd176, [%rd177];
setp.ne.s64 %p16, %rd176, 0;
mov.u32 %r67, 3;
mov.u32 %r69, %r53;
@%p16 bra LBB20_56;
setp.ge.u64 %p17, %rd310, %rd88;
setp.lt.u64 %p18, %rd310, %rd88;
add.s64 %rd310, %rd310, 1;
selp.b32 %r67, %r14, %r13, %p18;
selp.u32 %r69, 1, 0, %p17;
LBB20_56:
setp.eq.s32 %p35, %r69, 0;
@%p35 bra LBB20_37;
setp.eq.s32 %p36, %r69, 3;
@%p36 bra LBB20_37;
mov.u64 %rd203, %clock64;
setp.ne.s32 %p37, %r67, 0;
mov.u64 %rd320, %rd84;
mov.u64 %rd325, %rd307;
@%p37 bra LBB20_64;
@%p86 bra LBB20_61;
sub.s64 %rd134, %rd203, %rd161;
shl.b64 %rd204, %rd307, 3;
add.s64 %rd135, %rd1, %rd204;
st.global.u64 [%rd135], %rd134;
LBB20_61:
setp.eq.s64 %p39, %rd314, %rd183;
@%p39 bra LBB20_63;
mul.lo.s64 %rd205, %rd314, -1018231460777725123;
sub.s64 %rd206, %rd205, %rd102;
add.s64 %rd207, %rd206, -1099511627777;
setp.gt.u64 %p40, %rd207, -2199023255554;
setp.lt.u64 %p41, %rd207, -2199023255553;
selp.u64 %rd208, 1, 0, %p41;
add.s64 %rd324, %rd324, %rd208;
setp.lt.s64 %p42, %rd206, 0;
and.pred %p43, %p40, %p42;
selp.u64 %rd209, 1, 0, %p43;
add.s64 %rd321, %rd321, %rd209;
setp.gt.s64 %p44, %rd206, 0;
and.pred %p45, %p40, %p44;
selp.u64 %rd210, 1, 0, %p45;
add.s64 %rd322, %rd322, %rd210;
bra.uni LBB20_63;
LBB20_33:
st.relaxed.sys.u64 [%rd261], %rd302;
LBB20_64:
cvta.to.global.u64 %rd2, %rd155;
@%p86 bra LBB20_66;
mov.u64 %rd263, %globaltimer;
sub.s64 %rd265, %rd263, %rd150;
shl.b64 %rd266, %rd320, 3;
add.s64 %rd267, %rd1, %rd266;
st.global.u64 [%rd267], %rd265;
mov.u64 %rd264, %clock64;
sub.s64 %rd268, %rd264, %rd151;
st.global.u64 [%rd267+8], %rd268;
LBB20_66:
cvt.s64.s32 %rd269, %r67;
mul.wide.u32 %rd270, %r1, 64;
add.s64 %rd271, %rd2, %rd270;
st.global.u64 [%rd271], %rd325;
st.global.u64 [%rd271+8], %rd324;
st.global.u64 [%rd271+16], %rd321;
st.global.u64 [%rd271+24], %rd322;
st.global.u64 [%rd271+32], %rd323;
st.global.u64 [%rd271+40], %rd269;
mov.u64 %rd272, 1;
st.global.u64 [%rd271+48], %rd272;
mov.u64 %rd273, 0;
st.global.u64 [%rd271+56], %rd273;
ret;
}
)"
R"(.visible .entry barmap_ring_call_8_32(
.param .align 8 .b8 barmap_ring_call_8_32_param_0[40],
.param .align 8 .b8 barmap_ring_call_8_32_param_1[24],
.param .u64 barmap_ring_call_8_32_param_2,
.param .u32 barmap_ring_call_8_32_param_3,
.param .u64 barmap_ring_call_8_32_param_4
)
{
.reg .pred %p<110>;
.reg .b32 %r<71>;
.reg .b64 %rd<543>;
ld.param.u32 %r27, [barmap_ring_call_8_32_param_3];
mov.b64 %rd231, barmap_ring_call_8_32_param_0;
ld.param.u64 %rd232, [barmap_ring_call_8_32_param_4];
cvta.to.global.u64 %rd1, %rd232;
mov.b64 %rd233, barmap_ring_call_8_32_param_1;
ld.param.u64 %rd234, [barmap_ring_call_8_32_param_2];
mov.u64 %rd3, %rd233;
mov.u64 %rd4, %rd231;
mov.u32 %r28, %ctaid.x;
mov.u32 %r29, %ntid.x;
mov.u32 %r30, %tid.x;
mad.lo.s32 %r1, %r28, %r29, %r30;
mov.u64 %rd229, %globaltimer;
mov.u64 %rd230, %clock64;
setp.ne.s32 %p10, %r27, 1;
setp.ne.s32 %p100, %r1, 0;
@%p10 bra LBB21_37;
ld.param.u64 %rd7, [%rd4];
ld.param.u64 %rd345, [%rd4+8];
ld.param.u64 %rd9, [%rd4+16];
ld.param.u64 %rd404, [%rd4+24];
ld.param.u64 %rd11, [%rd4+32];
add.s64 %rd445, %rd404, 8;
ld.relaxed.sys.u64 %rd501, [%rd445];
ld.param.u64 %rd537, [%rd3+8];
setp.eq.s64 %p54, %rd537, 0;
mov.u32 %r67, 0;
mov.u64 %rd538, 0;
mov.u64 %rd539, %rd538;
mov.u64 %rd540, %rd538;
mov.u64 %rd541, %rd538;
mov.u64 %rd542, %rd538;
@%p54 bra LBB21_36;
cvta.to.global.u64 %rd8, %rd345;
add.s64 %rd15, %rd11, 1;
cvt.u64.u32 %rd16, %r1;
ld.param.u64 %rd17, [%rd3];
ld.param.u64 %rd18, [%rd3+16];
setp.eq.s64 %p55, %rd18, 0;
selp.b32 %r2, 1, 4, %p55;
add.s64 %rd19, %rd18, 1;
mov.u64 %rd538, 0;
mov.pred %p67, 0;
mov.pred %p79, -1;
mov.u64 %rd539, %rd538;
mov.u64 %rd540, %rd538;
mov.u64 %rd541, %rd538;
mov.u64 %rd464, %rd538;
mov.u64 %rd488, %rd15;
bra.uni LBB21_3;
LBB21_35:
add.s64 %rd464, %rd464, 1;
add.s64 %rd540, %rd437, %rd486;
setp.ne.s64 %p98, %rd464, %rd537;
mov.u64 %rd542, %rd537;
@%p98 bra LBB21_3;
bra.uni LBB21_36;
LBB21_3:
add.s64 %rd349, %rd464, %rd16;
add.s64 %rd31, %rd349, %rd17;
mul.lo.s64 %rd376, %rd31, -7046029254386353131;
mov.u64 %rd348, %clock64;
setp.ne.s64 %p56, %rd488, 0;
and.b64 %rd34, %rd501, %rd11;
shl.b64 %rd459, %rd34, 3;
@%p56 bra LBB21_5;
bra.uni LBB21_4;
LBB21_5:
add.s64 %rd36, %rd9, %rd459;
sub.s64 %rd37, %rd501, %rd11;
add.s64 %rd351, %rd37, -1;
shl.b64 %rd472, %rd501, 1;
shl.b64 %rd352, %rd351, 1;
or.b64 %rd39, %rd352, 1;
and.b64 %rd353, %rd351, %rd11;
shl.b64 %rd354, %rd353, 6;
add.s64 %rd355, %rd8, %rd354;
cvta.global.u64 %rd356, %rd355;
add.s64 %rd40, %rd356, 8;
add.s64 %rd41, %rd356, 24;
add.s64 %rd42, %rd356, 40;
add.s64 %rd43, %rd356, 56;
mov.u64 %rd471, %rd19;
LBB21_6:
ld.acquire.sys.u64 %rd357, [%rd36];
setp.eq.s64 %p58, %rd357, %rd472;
mov.u32 %r67, 3;
mov.pred %p103, -1;
@%p58 bra LBB21_12;
setp.ne.s64 %p59, %rd357, %rd39;
@%p59 bra LBB21_10;
ld.relaxed.sys.u64 %rd359, [%rd40];
ld.relaxed.sys.u64 %rd361, [%rd41];
ld.relaxed.sys.u64 %rd363, [%rd42];
ld.acquire.sys.u64 %rd365, [%rd43];
setp.ne.s64 %p60, %rd365, %rd37;
@%p60 bra LBB21_10;
xor.b64 %rd367, %rd359, %rd37;
xor.b64 %rd368, %rd361, %rd37;
or.b64 %rd369, %rd368, %rd367;
xor.b64 %rd370, %rd363, %rd37;
or.b64 %rd371, %rd369, %rd370;
setp.eq.s64 %p62, %rd371, 0;
@%p62 bra LBB21_12;
LBB21_10:
ld.relaxed.sys.u64 %rd372, [%rd404];
setp.ne.s64 %p64, %rd372, 0;
mov.pred %p103, 0;
@%p64 bra LBB21_12;
add.s64 %rd471, %rd471, -1;
setp.ne.s64 %p66, %rd471, 0;
mov.u32 %r67, %r2;
@%p66 bra LBB21_6;
LBB21_12:
@!%p103 bra LBB21_30;
bra.uni LBB21_13;
LBB21_13:
add.s64 %rd473, %rd488, -1;
bra.uni LBB21_14;
LBB21_4:
shl.b64 %rd472, %rd501, 1;
mov.u64 %rd473, 0;
LBB21_14:
shl.b64 %rd378, %rd34, 4;
add.s64 %rd375, %rd7, %rd378;
add.s64 %rd53, %rd501, 1;
st.relaxed.sys.v2.u64 [%rd375], {%rd376, %rd53};
or.b64 %rd425, %rd472, 1;
shl.b64 %rd380, %rd34, 6;
add.s64 %rd381, %rd8, %rd380;
cvta.global.u64 %rd407, %rd381;
add.s64 %rd410, %rd407, 16;
add.s64 %rd413, %rd407, 32;
add.s64 %rd416, %rd407, 48;
add.s64 %rd424, %rd9, %rd459;
add.s64 %rd382, %rd501, %rd11;
shl.b64 %rd383, %rd382, 1;
add.s64 %rd423, %rd383, 2;
mov.u64 %rd478, %rd18;
bra.uni LBB21_15;
LBB21_25:
st.relaxed.sys.u64 [%rd424], %rd423;
mov.u32 %r67, 0;
mov.u64 %rd483, %rd414;
mov.u64 %rd484, %rd411;
mov.u64 %rd485, %rd408;
mov.u64 %rd486, %rd405;
mov.pred %p106, %p67;
LBB21_28:
add.s64 %rd478, %rd478, -64;
@%p106 bra LBB21_15;
bra.uni LBB21_29;
LBB21_15:
setp.lt.u64 %p68, %rd478, 64;
cvt.u32.u64 %r48, %rd478;
add.s32 %r49, %r48, 1;
selp.b32 %r5, %r49, 64, %p68;
setp.eq.s32 %p69, %r5, 0;
mov.pred %p105, %p67;
@%p69 bra LBB21_21;
mov.u32 %r58, 0;
mov.pred %p105, %p79;
bra.uni LBB21_17;
LBB21_20:
add.s32 %r58, %r58, 1;
setp.lt.u32 %p105, %r58, %r5;
setp.ne.s32 %p73, %r5, %r58;
@%p73 bra LBB21_17;
bra.uni LBB21_21;
LBB21_17:
ld.relaxed.sys.v2.u64 {%rd74, %rd385}, [%rd407];
ld.relaxed.sys.v2.u64 {%rd75, %rd388}, [%rd410];
ld.relaxed.sys.v2.u64 {%rd76, %rd391}, [%rd413];
ld.acquire.sys.v2.u64 {%rd77, %rd394}, [%rd416];
setp.ne.s64 %p71, %rd394, %rd53;
@%p71 bra LBB21_20;
xor.b64 %rd396, %rd385, %rd53;
xor.b64 %rd397, %rd388, %rd53;
or.b64 %rd398, %rd397, %rd396;
xor.b64 %rd399, %rd391, %rd53;
or.b64 %rd400, %rd398, %rd399;
setp.ne.s64 %p72, %rd400, 0;
@%p72 bra LBB21_20;
st.relaxed.sys.u64 [%rd424], %rd423;
mov.u32 %r67, 0;
mov.u64 %rd483, %rd77;
mov.u64 %rd484, %rd76;
mov.u64 %rd485, %rd75;
mov.u64 %rd486, %rd74;
LBB21_21:
mov.pred %p106, %p67;
@%p105 bra LBB21_28;
ld.acquire.sys.u64 %rd403, [%rd404];
setp.eq.s64 %p75, %rd403, 0;
@%p75 bra LBB21_26;
ld.relaxed.sys.v2.u64 {%rd405, %rd406}, [%rd407];
ld.relaxed.sys.v2.u64 {%rd408, %rd409}, [%rd410];
ld.relaxed.sys.v2.u64 {%rd411, %rd412}, [%rd413];
ld.acquire.sys.v2.u64 {%rd414, %rd415}, [%rd416];
setp.ne.s64 %p76, %rd415, %rd53;
@%p76 bra LBB21_26;
xor.b64 %rd417, %rd406, %rd53;
xor.b64 %rd418, %rd409, %rd53;
or.b64 %rd419, %rd418, %rd417;
xor.b64 %rd420, %rd412, %rd53;
or.b64 %rd421, %rd419, %rd420;
setp.ne.s64 %p77, %rd421, 0;
@%p77 bra LBB21_26;
bra.uni LBB21_25;
LBB21_26:
setp.gt.u64 %p81, %rd478, 63;
and.pred %p82, %p81, %p75;
mov.pred %p106, %p79;
@%p82 bra LBB21_28;
selp.b32 %r67, 4, 3, %p75;
st.release.sys.u64 [%rd424], %rd425;
mov.pred %p106, %p67;
bra.uni LBB21_28;
LBB21_29:
setp.eq.s32 %p84, %r67, 0;
selp.b64 %rd488, %rd473, %rd15, %p84;
mov.u64 %rd501, %rd53;
LBB21_30:
mov.u64 %rd426, %clock64;
setp.ne.s32 %p85, %r67, 0;
mov.u64 %rd542, %rd464;
@%p85 bra LBB21_36;
@%p100 bra LBB21_33;
sub.s64 %rd106, %rd426, %rd348;
shl.b64 %rd427, %rd464, 3;
add.s64 %rd107, %rd1, %rd427;
st.global.u64 [%rd107], %rd106;
LBB21_33:
add.s64 %rd428, %rd486, -3335678366873096957;
xor.b64 %rd429, %rd428, %rd485;
add.s64 %rd430, %rd486, -6671356733746193914;
xor.b64 %rd431, %rd430, %rd484;
or.b64 %rd432, %rd431, %rd429;
add.s64 %rd433, %rd486, 8439708973090260745;
xor.b64 %rd434, %rd433, %rd483;
or.b64 %rd108, %rd432, %rd434;
add.s64 %rd435, %rd483, %rd540;
add.s64 %rd436, %rd435, %rd484;
add.s64 %rd437, %rd436, %rd485;
xor.b64 %rd438, %rd486, %rd376;
or.b64 %rd439, %rd108, %rd438;
setp.eq.s64 %p87, %rd439, 0;
@%p87 bra LBB21_35;
mul.lo.s64 %rd440, %rd486, -1018231460777725123;
sub.s64 %rd441, %rd440, %rd31;
setp.ne.s64 %p88, %rd108, 0;
setp.gt.s64 %p89, %rd441, 1099511627776;
or.pred %p90, %p88, %p89;
setp.lt.s64 %p91, %rd441, -1099511627776;
or.pred %p92, %p90, %p91;
selp.u64 %rd442, 1, 0, %p92;
add.s64 %rd541, %rd541, %rd442;
setp.lt.s64 %p93, %rd441, 0;
not.pred %p94, %p92;
and.pred %p95, %p94, %p93;
selp.u64 %rd443, 1, 0, %p95;
add.s64 %rd538, %rd538, %rd443;
setp.gt.s64 %p96, %rd441, 0;
and.pred %p97, %p94, %p96;
selp.u64 %rd444, 1, 0, %p97;
add.s64 %rd539, %rd539, %rd444;
bra.uni LBB21_35;
LBB21_37:
mov.u64 %rd537, 0;
mov.u32 %r67, 0;
ld.param.u64 %rd123, [%rd3+8];
setp.eq.s64 %p11, %rd123, 0;
mov.u64 %rd538, %rd537;
mov.u64 %rd539, %rd537;
mov.u64 %rd540, %rd537;
mov.u64 %rd541, %rd537;
mov.u64 %rd542, %rd537;
@%p11 bra LBB21_70;
mov.u32 %r54, 3;
mov.pred %p101, -1;
mov.pred %p102, 0;
cvt.u64.u32 %rd124, %r1;
cvt.u64.u32 %rd125, %r27;
ld.param.u64 %rd126, [%rd3];
ld.param.u64 %rd127, [%rd3+16];
ld.param.u64 %rd268, [%rd4+24];
add.s64 %rd270, %rd268, 8;
setp.eq.s64 %p12, %rd127, 0;
selp.b32 %r13, 1, 4, %p12;
ld.param.u64 %rd130, [%rd4+16];
ld.param.u64 %rd131, [%rd4+32];
ld.param.u64 %rd238, [%rd4+8];
cvta.to.global.u64 %rd132, %rd238;
ld.param.u64 %rd133, [%rd4];
mov.u64 %rd236, 0;
mov.u64 %rd538, %rd236;
mov.u64 %rd539, %rd236;
mov.u64 %rd540, %rd236;
mov.u64 %rd541, %rd236;
mov.u64 %rd506, %rd236;
bra.uni LBB21_39;
LBB21_69:
add.s64 %rd506, %rd506, 1;
add.s64 %rd540, %rd334, %rd528;
setp.ne.s64 %p53, %rd506, %rd123;
mov.u64 %rd537, %rd123;
mov.u64 %rd542, %rd123;
@%p53 bra LBB21_39;
bra.uni LBB21_70;
LBB21_39:
mul.lo.s64 %rd241, %rd506, %rd125;
add.s64 %rd242, %rd241, %rd124;
add.s64 %rd143, %rd242, %rd126;
mul.lo.s64 %rd274, %rd143, -7046029254386353131;
mov.u64 %rd239, %clock64;
mov.u64 %rd515, %rd236;
LBB21_40:
mov.u32 %r14, %r67;
ld.relaxed.sys.u64 %rd271, [%rd270];
and.b64 %rd152, %rd131, %rd271;
shl.b64 %rd247, %rd152, 3;
add.s64 %rd321, %rd130, %rd247;
ld.acquire.sys.u64 %rd245, [%rd321];
shl.b64 %rd157, %rd271, 1;
setp.eq.s64 %p13, %rd245, %rd157;
mov.u32 %r53, 1;
@%p13 bra LBB21_44;
bra.uni LBB21_41;
LBB21_44:
add.s64 %rd275, %rd271, 1;
atom.relaxed.gpu.cas.b64 %rd269, [%rd270], %rd271, %rd275;
setp.ne.s64 %p20, %rd269, %rd271;
mov.u32 %r67, %r14;
mov.u32 %r69, %r54;
@%p20 bra LBB21_62;
shl.b64 %rd276, %rd152, 4;
add.s64 %rd273, %rd133, %rd276;
st.relaxed.sys.v2.u64 [%rd273], {%rd274, %rd275};
or.b64 %rd322, %rd157, 1;
shl.b64 %rd277, %rd152, 6;
add.s64 %rd278, %rd132, %rd277;
cvta.global.u64 %rd304, %rd278;
add.s64 %rd307, %rd304, 16;
add.s64 %rd310, %rd304, 32;
add.s64 %rd313, %rd304, 48;
add.s64 %rd279, %rd131, %rd271;
shl.b64 %rd280, %rd279, 1;
add.s64 %rd320, %rd280, 2;
mov.u64 %rd520, %rd127;
bra.uni LBB21_46;
LBB21_56:
st.relaxed.sys.u64 [%rd321], %rd320;
mov.u32 %r67, 0;
mov.u64 %rd525, %rd311;
mov.u64 %rd526, %rd308;
mov.u64 %rd527, %rd305;
mov.u64 %rd528, %rd302;
mov.pred %p109, %p102;
LBB21_59:
add.s64 %rd520, %rd520, -64;
mov.u32 %r69, %r53;
@%p109 bra LBB21_46;
bra.uni LBB21_62;
LBB21_46:
setp.lt.u64 %p22, %rd520, 64;
cvt.u32.u64 %r37, %rd520;
add.s32 %r38, %r37, 1;
selp.b32 %r16, %r38, 64, %p22;
setp.eq.s32 %p23, %r16, 0;
mov.pred %p108, %p102;
@%p23 bra LBB21_52;
mov.u32 %r65, 0;
mov.pred %p108, %p101;
bra.uni LBB21_48;
LBB21_51:
add.s32 %r65, %r65, 1;
setp.lt.u32 %p108, %r65, %r16;
setp.ne.s32 %p27, %r16, %r65;
@%p27 bra LBB21_48;
bra.uni LBB21_52;
LBB21_48:
ld.relaxed.sys.v2.u64 {%rd181, %rd282}, [%rd304];
ld.relaxed.sys.v2.u64 {%rd182, %rd285}, [%rd307];
ld.relaxed.sys.v2.u64 {%rd183, %rd288}, [%rd310];
ld.acquire.sys.v2.u64 {%rd184, %rd291}, [%rd313];
setp.ne.s64 %p25, %rd291, %rd275;
@%p25 bra LBB21_51;
xor.b64 %rd293, %rd282, %rd275;
xor.b64 %rd294, %rd285, %rd275;
or.b64 %rd295, %rd294, %rd293;
xor.b64 %rd296, %rd288, %rd275;
or.b64 %rd297, %rd295, %rd296;
setp.ne.s64 %p26, %rd297, 0;
@%p26 bra LBB21_51;
st.relaxed.sys.u64 [%rd321], %rd320;
mov.u32 %r67, 0;
mov.u64 %rd525, %rd184;
mov.u64 %rd526, %rd183;
mov.u64 %rd527, %rd182;
mov.u64 %rd528, %rd181;
LBB21_52:
mov.pred %p109, %p102;
@%p108 bra LBB21_59;
ld.acquire.sys.u64 %rd300, [%rd268];
setp.eq.s64 %p29, %rd300, 0;
@%p29 bra LBB21_57;
ld.relaxed.sys.v2.u64 {%rd302, %rd303}, [%rd304];
ld.relaxed.sys.v2.u64 {%rd305, %rd306}, [%rd307];
ld.relaxed.sys.v2.u64 {%rd308, %rd309}, [%rd310];
ld.acquire.sys.v2.u64 {%rd311, %rd312}, [%rd313];
setp.ne.s64 %p30, %rd312, %rd275;
@%p30 bra LBB21_57;
xor.b64 %rd314, %rd303, %rd275;
xor.b64 %rd315, %rd306, %rd275;
or.b64 %rd316, %rd315, %rd314;
xor.b64 %rd317, %rd309, %rd275;
or.b64 %rd318, %rd316, %rd317;
setp.ne.s64 %p31, %rd318, 0;
@%p31 bra LBB21_57;
bra.uni LBB21_56;
LBB21_57:
setp.gt.u64 %p35, %rd520, 63;
and.pred %p36, %p35, %p29;
mov.pred %p109, %p101;
@%p36 bra LBB21_59;
selp.b32 %r67, 4, 3, %p29;
st.release.sys.u64 [%rd321], %rd322;
mov.pred %p109, %p102;
bra.uni LBB21_59;
LBB21_41:
sub.s64 %rd155, %rd271, %rd131;
add.s64 %rd156, %rd155, -1;
shl.b64 %rd248, %rd156, 1;
or.b64 %rd249, %rd248, 1;
setp.ne.s64 %p14, %rd245, %rd249;
@%p14 bra LBB21_60;
and.b64 %rd258, %rd156, %rd131;
shl.b64 %rd259, %rd258, 6;
add.s64 %rd260, %rd132, %rd259;
cvta.global.u64 %rd261, %rd260;
add.s64 %rd251, %rd261, 8;
ld.relaxed.sys.u64 %rd250, [%rd251];
add.s64 %rd253, %rd261, 24;
ld.relaxed.sys.u64 %rd252, [%rd253];
add.s64 %rd255, %rd261, 40;
ld.relaxed.sys.u64 %rd254, [%rd255];
add.s64 %rd257, %rd261, 56;
ld.acquire.sys.u64 %rd256, [%rd257];
setp.ne.s64 %p15, %rd256, %rd155;
@%p15 bra LBB21_60;
xor.b64 %rd262, %rd250, %rd155;
xor.b64 %rd263, %rd252, %rd155;
or.b64 %rd264, %rd263, %rd262;
xor.b64 %rd265, %rd254, %rd155;
or.b64 %rd266, %rd264, %rd265;
setp.ne.s64 %p16, %rd266, 0;
@%p16 bra LBB21_60;
bra.uni LBB21_44;
LBB21_60:
ld.relaxed.sys.u64 %rd267, [%rd268];
setp.ne.s64 %p17, %rd267, 0;
mov.u32 %r67, 3;
mov.u32 %r69, %r53;
@%p17 bra LBB21_62;
setp.ge.u64 %p18, %rd515, %rd127;
setp.lt.u64 %p19, %rd515, %rd127;
add.s64 %rd515, %rd515, 1;
selp.b32 %r67, %r14, %r13, %p19;
selp.u32 %r69, 1, 0, %p18;
LBB21_62:
setp.eq.s32 %p38, %r69, 0;
@%p38 bra LBB21_40;
setp.eq.s32 %p39, %r69, 3;
@%p39 bra LBB21_40;
mov.u64 %rd323, %clock64;
setp.ne.s32 %p40, %r67, 0;
mov.u64 %rd537, %rd123;
mov.u64 %rd542, %rd506;
@%p40 bra LBB21_70;
@%p100 bra LBB21_67;
sub.s64 %rd212, %rd323, %rd239;
shl.b64 %rd324, %rd506, 3;
add.s64 %rd213, %rd1, %rd324;
st.global.u64 [%rd213], %rd212;
LBB21_67:
add.s64 %rd325, %rd528, -3335678366873096957;
xor.b64 %rd326, %rd325, %rd527;
add.s64 %rd327, %rd528, -6671356733746193914;
xor.b64 %rd328, %rd327, %rd526;
or.b64 %rd329, %rd328, %rd326;
add.s64 %rd330, %rd528, 8439708973090260745;
xor.b64 %rd331, %rd330, %rd525;
or.b64 %rd214, %rd329, %rd331;
add.s64 %rd332, %rd525, %rd540;
add.s64 %rd333, %rd332, %rd526;
add.s64 %rd334, %rd333, %rd527;
xor.b64 %rd335, %rd528, %rd274;
or.b64 %rd336, %rd214, %rd335;
setp.eq.s64 %p42, %rd336, 0;
@%p42 bra LBB21_69;
mul.lo.s64 %rd337, %rd528, -1018231460777725123;
sub.s64 %rd338, %rd337, %rd143;
setp.ne.s64 %p43, %rd214, 0;
setp.gt.s64 %p44, %rd338, 1099511627776;
or.pred %p45, %p43, %p44;
setp.lt.s64 %p46, %rd338, -1099511627776;
or.pred %p47, %p45, %p46;
selp.u64 %rd339, 1, 0, %p47;
add.s64 %rd541, %rd541, %rd339;
setp.lt.s64 %p48, %rd338, 0;
not.pred %p49, %p47;
and.pred %p50, %p49, %p48;
selp.u64 %rd340, 1, 0, %p50;
add.s64 %rd538, %rd538, %rd340;
setp.gt.s64 %p51, %rd338, 0;
and.pred %p52, %p49, %p51;
selp.u64 %rd341, 1, 0, %p52;
add.s64 %rd539, %rd539, %rd341;
bra.uni LBB21_69;
LBB21_36:
st.relaxed.sys.u64 [%rd445], %rd501;
LBB21_70:
cvta.to.global.u64 %rd2, %rd234;
@%p100 bra LBB21_72;
mov.u64 %rd447, %globaltimer;
sub.s64 %rd449, %rd447, %rd229;
shl.b64 %rd450, %rd537, 3;
add.s64 %rd451, %rd1, %rd450;
st.global.u64 [%rd451], %rd449;
mov.u64 %rd448, %clock64;
sub.s64 %rd452, %rd448, %rd230;
st.global.u64 [%rd451+8], %rd452;
LBB21_72:
cvt.s64.s32 %rd453, %r67;
mul.wide.u32 %rd454, %r1, 64;
add.s64 %rd455, %rd2, %rd454;
st.global.u64 [%rd455], %rd542;
st.global.u64 [%rd455+8], %rd541;
st.global.u64 [%rd455+16], %rd538;
st.global.u64 [%rd455+24], %rd539;
st.global.u64 [%rd455+32], %rd540;
st.global.u64 [%rd455+40], %rd453;
mov.u64 %rd456, 1;
st.global.u64 [%rd455+48], %rd456;
mov.u64 %rd457, 0;
st.global.u64 [%rd455+56], %rd457;
ret;
}
)"
R"(.visible .entry barmap_ring_call_56_56(
.param .align 8 .b8 barmap_ring_call_56_56_param_0[40],
.param .align 8 .b8 barmap_ring_call_56_56_param_1[24],
.param .u64 barmap_ring_call_56_56_param_2,
.param .u32 barmap_ring_call_56_56_param_3,
.param .u64 barmap_ring_call_56_56_param_4
)
{
.reg .pred %p<108>;
.reg .b32 %r<71>;
.reg .b64 %rd<676>;
ld.param.u32 %r27, [barmap_ring_call_56_56_param_3];
mov.b64 %rd287, barmap_ring_call_56_56_param_0;
ld.param.u64 %rd288, [barmap_ring_call_56_56_param_4];
cvta.to.global.u64 %rd1, %rd288;
mov.b64 %rd289, barmap_ring_call_56_56_param_1;
ld.param.u64 %rd290, [barmap_ring_call_56_56_param_2];
mov.u64 %rd3, %rd289;
mov.u64 %rd4, %rd287;
mov.u32 %r28, %ctaid.x;
mov.u32 %r29, %ntid.x;
mov.u32 %r30, %tid.x;
mad.lo.s32 %r1, %r28, %r29, %r30;
mov.u64 %rd285, %globaltimer;
mov.u64 %rd286, %clock64;
setp.ne.s32 %p10, %r27, 1;
setp.ne.s32 %p98, %r1, 0;
@%p10 bra LBB22_38;
ld.param.u64 %rd409, [%rd4];
ld.param.u64 %rd410, [%rd4+8];
ld.param.u64 %rd9, [%rd4+16];
ld.param.u64 %rd467, [%rd4+24];
ld.param.u64 %rd11, [%rd4+32];
add.s64 %rd517, %rd467, 8;
ld.relaxed.sys.u64 %rd602, [%rd517];
ld.param.u64 %rd670, [%rd3+8];
setp.eq.s64 %p53, %rd670, 0;
mov.u32 %r67, 0;
mov.u64 %rd671, 0;
mov.u64 %rd672, %rd671;
mov.u64 %rd673, %rd671;
mov.u64 %rd674, %rd671;
mov.u64 %rd675, %rd671;
@%p53 bra LBB22_37;
cvta.to.global.u64 %rd7, %rd409;
cvta.to.global.u64 %rd8, %rd410;
add.s64 %rd15, %rd11, 1;
cvt.u64.u32 %rd16, %r1;
add.s64 %rd413, %rd8, 56;
cvta.global.u64 %rd17, %rd413;
ld.param.u64 %rd18, [%rd3];
ld.param.u64 %rd19, [%rd3+16];
setp.eq.s64 %p54, %rd19, 0;
selp.b32 %r2, 1, 4, %p54;
add.s64 %rd20, %rd19, 1;
mov.u64 %rd671, 0;
mov.pred %p65, 0;
mov.pred %p77, -1;
mov.u64 %rd672, %rd671;
mov.u64 %rd673, %rd671;
mov.u64 %rd674, %rd671;
mov.u64 %rd536, %rd671;
mov.u64 %rd586, %rd15;
bra.uni LBB22_3;
LBB22_36:
add.s64 %rd536, %rd536, 1;
add.s64 %rd673, %rd509, %rd584;
setp.ne.s64 %p96, %rd536, %rd670;
mov.u64 %rd675, %rd670;
@%p96 bra LBB22_3;
bra.uni LBB22_37;
LBB22_3:
add.s64 %rd415, %rd536, %rd16;
add.s64 %rd35, %rd415, %rd18;
mul.lo.s64 %rd429, %rd35, -7046029254386353131;
mov.u64 %rd414, %clock64;
setp.ne.s64 %p55, %rd586, 0;
and.b64 %rd44, %rd602, %rd11;
shl.b64 %rd531, %rd44, 3;
@%p55 bra LBB22_5;
bra.uni LBB22_4;
LBB22_5:
add.s64 %rd46, %rd9, %rd531;
sub.s64 %rd47, %rd602, %rd11;
add.s64 %rd417, %rd47, -1;
shl.b64 %rd547, %rd602, 1;
shl.b64 %rd418, %rd417, 1;
or.b64 %rd49, %rd418, 1;
and.b64 %rd419, %rd417, %rd11;
shl.b64 %rd420, %rd419, 6;
add.s64 %rd50, %rd17, %rd420;
mov.u64 %rd546, %rd20;
LBB22_6:
ld.acquire.sys.u64 %rd421, [%rd46];
setp.eq.s64 %p57, %rd421, %rd547;
mov.u32 %r67, 3;
mov.pred %p101, -1;
@%p57 bra LBB22_11;
setp.ne.s64 %p58, %rd421, %rd49;
@%p58 bra LBB22_9;
ld.acquire.sys.u64 %rd423, [%rd50];
setp.eq.s64 %p60, %rd423, %rd47;
@%p60 bra LBB22_11;
LBB22_9:
ld.relaxed.sys.u64 %rd425, [%rd467];
setp.ne.s64 %p62, %rd425, 0;
mov.pred %p101, 0;
@%p62 bra LBB22_11;
add.s64 %rd546, %rd546, -1;
setp.ne.s64 %p64, %rd546, 0;
mov.u32 %r67, %r2;
@%p64 bra LBB22_6;
LBB22_11:
@!%p101 bra LBB22_31;
bra.uni LBB22_12;
LBB22_12:
add.s64 %rd548, %rd586, -1;
bra.uni LBB22_13;
LBB22_4:
shl.b64 %rd547, %rd602, 1;
mov.u64 %rd548, 0;
LBB22_13:
add.s64 %rd431, %rd429, -3335678366873096957;
add.s64 %rd433, %rd429, -6671356733746193914;
add.s64 %rd435, %rd429, 8439708973090260745;
add.s64 %rd437, %rd429, 5104030606217163788;
add.s64 %rd439, %rd429, 1768352239344066831;
add.s64 %rd441, %rd429, -1567326127529030126;
shl.b64 %rd445, %rd44, 6;
add.s64 %rd446, %rd7, %rd445;
cvta.global.u64 %rd428, %rd446;
add.s64 %rd57, %rd602, 1;
st.relaxed.sys.u64 [%rd428], %rd429;
add.s64 %rd430, %rd428, 8;
st.relaxed.sys.u64 [%rd430], %rd431;
add.s64 %rd432, %rd428, 16;
st.relaxed.sys.u64 [%rd432], %rd433;
add.s64 %rd434, %rd428, 24;
st.relaxed.sys.u64 [%rd434], %rd435;
add.s64 %rd436, %rd428, 32;
st.relaxed.sys.u64 [%rd436], %rd437;
add.s64 %rd438, %rd428, 40;
st.relaxed.sys.u64 [%rd438], %rd439;
add.s64 %rd440, %rd428, 48;
st.relaxed.sys.u64 [%rd440], %rd441;
add.s64 %rd442, %rd428, 56;
st.release.sys.u64 [%rd442], %rd57;
or.b64 %rd485, %rd547, 1;
add.s64 %rd447, %rd8, %rd445;
cvta.global.u64 %rd473, %rd447;
add.s64 %rd469, %rd473, 56;
add.s64 %rd476, %rd473, 16;
add.s64 %rd479, %rd473, 32;
add.s64 %rd481, %rd473, 48;
add.s64 %rd484, %rd9, %rd531;
add.s64 %rd448, %rd602, %rd11;
shl.b64 %rd449, %rd448, 1;
add.s64 %rd483, %rd449, 2;
mov.u64 %rd556, %rd19;
bra.uni LBB22_14;
LBB22_26:
st.release.sys.u64 [%rd484], %rd483;
mov.u32 %r67, 0;
mov.u64 %rd578, %rd571;
mov.u64 %rd579, %rd572;
mov.u64 %rd580, %rd573;
mov.u64 %rd581, %rd574;
mov.u64 %rd582, %rd575;
mov.u64 %rd583, %rd576;
mov.u64 %rd584, %rd577;
mov.pred %p104, %p65;
LBB22_29:
add.s64 %rd556, %rd556, -64;
@%p104 bra LBB22_14;
bra.uni LBB22_30;
LBB22_14:
setp.lt.u64 %p66, %rd556, 64;
cvt.u32.u64 %r48, %rd556;
add.s32 %r49, %r48, 1;
selp.b32 %r5, %r49, 64, %p66;
setp.eq.s32 %p67, %r5, 0;
mov.pred %p103, %p65;
@%p67 bra LBB22_21;
mov.u32 %r58, 0;
mov.pred %p103, %p77;
LBB22_17:
ld.acquire.sys.u64 %rd450, [%rd469];
setp.ne.s64 %p69, %rd450, %rd57;
@%p69 bra LBB22_19;
ld.relaxed.sys.v2.u64 {%rd563, %rd562}, [%rd473];
ld.relaxed.sys.v2.u64 {%rd561, %rd560}, [%rd476];
ld.relaxed.sys.v2.u64 {%rd559, %rd558}, [%rd479];
ld.relaxed.sys.u64 %rd557, [%rd481];
LBB22_19:
@%p69 bra LBB22_16;
bra.uni LBB22_20;
LBB22_16:
add.s32 %r58, %r58, 1;
setp.lt.u32 %p103, %r58, %r5;
setp.eq.s32 %p71, %r5, %r58;
@%p71 bra LBB22_21;
bra.uni LBB22_17;
LBB22_20:
st.release.sys.u64 [%rd484], %rd483;
mov.u32 %r67, 0;
mov.u64 %rd578, %rd557;
mov.u64 %rd579, %rd558;
mov.u64 %rd580, %rd559;
mov.u64 %rd581, %rd560;
mov.u64 %rd582, %rd561;
mov.u64 %rd583, %rd562;
mov.u64 %rd584, %rd563;
LBB22_21:
mov.pred %p104, %p65;
@%p103 bra LBB22_29;
ld.acquire.sys.u64 %rd466, [%rd467];
setp.eq.s64 %p73, %rd466, 0;
@%p73 bra LBB22_27;
ld.acquire.sys.u64 %rd468, [%rd469];
setp.ne.s64 %p74, %rd468, %rd57;
@%p74 bra LBB22_25;
ld.relaxed.sys.v2.u64 {%rd577, %rd576}, [%rd473];
ld.relaxed.sys.v2.u64 {%rd575, %rd574}, [%rd476];
ld.relaxed.sys.v2.u64 {%rd573, %rd572}, [%rd479];
ld.relaxed.sys.u64 %rd571, [%rd481];
LBB22_25:
@%p74 bra LBB22_27;
bra.uni LBB22_26;
LBB22_27:
setp.gt.u64 %p79, %rd556, 63;
and.pred %p80, %p79, %p73;
mov.pred %p104, %p77;
@%p80 bra LBB22_29;
selp.b32 %r67, 4, 3, %p73;
st.release.sys.u64 [%rd484], %rd485;
mov.pred %p104, %p65;
bra.uni LBB22_29;
LBB22_30:
setp.eq.s32 %p82, %r67, 0;
selp.b64 %rd586, %rd548, %rd15, %p82;
mov.u64 %rd602, %rd57;
LBB22_31:
mov.u64 %rd486, %clock64;
setp.ne.s32 %p83, %r67, 0;
mov.u64 %rd675, %rd536;
@%p83 bra LBB22_37;
@%p98 bra LBB22_34;
sub.s64 %rd131, %rd486, %rd414;
shl.b64 %rd487, %rd536, 3;
add.s64 %rd132, %rd1, %rd487;
st.global.u64 [%rd132], %rd131;
LBB22_34:
add.s64 %rd488, %rd584, -3335678366873096957;
xor.b64 %rd489, %rd488, %rd583;
add.s64 %rd490, %rd584, -6671356733746193914;
xor.b64 %rd491, %rd490, %rd582;
or.b64 %rd492, %rd491, %rd489;
add.s64 %rd493, %rd584, 8439708973090260745;
xor.b64 %rd494, %rd493, %rd581;
or.b64 %rd495, %rd492, %rd494;
add.s64 %rd496, %rd584, 5104030606217163788;
xor.b64 %rd497, %rd496, %rd580;
or.b64 %rd498, %rd495, %rd497;
add.s64 %rd499, %rd584, 1768352239344066831;
xor.b64 %rd500, %rd499, %rd579;
or.b64 %rd501, %rd498, %rd500;
add.s64 %rd502, %rd584, -1567326127529030126;
xor.b64 %rd503, %rd502, %rd578;
or.b64 %rd133, %rd501, %rd503;
add.s64 %rd504, %rd578, %rd673;
add.s64 %rd505, %rd504, %rd579;
add.s64 %rd506, %rd505, %rd580;
add.s64 %rd507, %rd506, %rd581;
add.s64 %rd508, %rd507, %rd582;
add.s64 %rd509, %rd508, %rd583;
xor.b64 %rd510, %rd584, %rd429;
or.b64 %rd511, %rd133, %rd510;
setp.eq.s64 %p85, %rd511, 0;
@%p85 bra LBB22_36;
mul.lo.s64 %rd512, %rd584, -1018231460777725123;
sub.s64 %rd513, %rd512, %rd35;
setp.ne.s64 %p86, %rd133, 0;
setp.gt.s64 %p87, %rd513, 1099511627776;
or.pred %p88, %p86, %p87;
setp.lt.s64 %p89, %rd513, -1099511627776;
or.pred %p90, %p88, %p89;
selp.u64 %rd514, 1, 0, %p90;
add.s64 %rd674, %rd674, %rd514;
setp.lt.s64 %p91, %rd513, 0;
not.pred %p92, %p90;
and.pred %p93, %p92, %p91;
selp.u64 %rd515, 1, 0, %p93;
add.s64 %rd671, %rd671, %rd515;
setp.gt.s64 %p94, %rd513, 0;
and.pred %p95, %p92, %p94;
selp.u64 %rd516, 1, 0, %p95;
add.s64 %rd672, %rd672, %rd516;
bra.uni LBB22_36;
LBB22_38:
mov.u64 %rd670, 0;
mov.u32 %r67, 0;
ld.param.u64 %rd148, [%rd3+8];
setp.eq.s64 %p11, %rd148, 0;
mov.u64 %rd671, %rd670;
mov.u64 %rd672, %rd670;
mov.u64 %rd673, %rd670;
mov.u64 %rd674, %rd670;
mov.u64 %rd675, %rd670;
@%p11 bra LBB22_72;
mov.u32 %r54, 3;
mov.pred %p99, -1;
mov.pred %p100, 0;
cvt.u64.u32 %rd149, %r1;
cvt.u64.u32 %rd150, %r27;
ld.param.u64 %rd151, [%rd3];
ld.param.u64 %rd152, [%rd3+16];
ld.param.u64 %rd313, [%rd4+24];
add.s64 %rd315, %rd313, 8;
setp.eq.s64 %p12, %rd152, 0;
selp.b32 %r13, 1, 4, %p12;
ld.param.u64 %rd155, [%rd4+16];
ld.param.u64 %rd156, [%rd4+32];
ld.param.u64 %rd294, [%rd4+8];
cvta.to.global.u64 %rd157, %rd294;
add.s64 %rd295, %rd157, 56;
cvta.global.u64 %rd158, %rd295;
ld.param.u64 %rd296, [%rd4];
cvta.to.global.u64 %rd159, %rd296;
mov.u64 %rd292, 0;
mov.u64 %rd671, %rd292;
mov.u64 %rd672, %rd292;
mov.u64 %rd673, %rd292;
mov.u64 %rd674, %rd292;
mov.u64 %rd607, %rd292;
bra.uni LBB22_40;
LBB22_71:
add.s64 %rd607, %rd607, 1;
add.s64 %rd673, %rd398, %rd658;
setp.ne.s64 %p52, %rd607, %rd148;
mov.u64 %rd670, %rd148;
mov.u64 %rd675, %rd148;
@%p52 bra LBB22_40;
bra.uni LBB22_72;
LBB22_40:
mul.lo.s64 %rd299, %rd607, %rd150;
add.s64 %rd300, %rd299, %rd149;
add.s64 %rd172, %rd300, %rd151;
mul.lo.s64 %rd319, %rd172, -7046029254386353131;
add.s64 %rd321, %rd319, -3335678366873096957;
add.s64 %rd323, %rd319, -6671356733746193914;
add.s64 %rd325, %rd319, 8439708973090260745;
add.s64 %rd327, %rd319, 5104030606217163788;
add.s64 %rd329, %rd319, 1768352239344066831;
add.s64 %rd331, %rd319, -1567326127529030126;
mov.u64 %rd297, %clock64;
mov.u64 %rd622, %rd292;
LBB22_41:
mov.u32 %r14, %r67;
ld.relaxed.sys.u64 %rd316, [%rd315];
and.b64 %rd190, %rd156, %rd316;
shl.b64 %rd305, %rd190, 3;
add.s64 %rd373, %rd155, %rd305;
ld.acquire.sys.u64 %rd303, [%rd373];
shl.b64 %rd195, %rd316, 1;
setp.eq.s64 %p13, %rd303, %rd195;
mov.u32 %r53, 1;
@%p13 bra LBB22_44;
sub.s64 %rd193, %rd316, %rd156;
add.s64 %rd194, %rd193, -1;
shl.b64 %rd306, %rd194, 1;
or.b64 %rd307, %rd306, 1;
setp.ne.s64 %p14, %rd303, %rd307;
@%p14 bra LBB22_62;
and.b64 %rd310, %rd194, %rd156;
shl.b64 %rd311, %rd310, 6;
add.s64 %rd309, %rd158, %rd311;
ld.acquire.sys.u64 %rd308, [%rd309];
setp.ne.s64 %p15, %rd308, %rd193;
@%p15 bra LBB22_62;
LBB22_44:
add.s64 %rd333, %rd316, 1;
atom.relaxed.gpu.cas.b64 %rd314, [%rd315], %rd316, %rd333;
setp.ne.s64 %p19, %rd314, %rd316;
mov.u32 %r67, %r14;
mov.u32 %r69, %r54;
@%p19 bra LBB22_64;
shl.b64 %rd334, %rd190, 6;
add.s64 %rd335, %rd159, %rd334;
cvta.global.u64 %rd318, %rd335;
st.relaxed.sys.u64 [%rd318], %rd319;
add.s64 %rd320, %rd318, 8;
st.relaxed.sys.u64 [%rd320], %rd321;
add.s64 %rd322, %rd318, 16;
st.relaxed.sys.u64 [%rd322], %rd323;
add.s64 %rd324, %rd318, 24;
st.relaxed.sys.u64 [%rd324], %rd325;
add.s64 %rd326, %rd318, 32;
st.relaxed.sys.u64 [%rd326], %rd327;
add.s64 %rd328, %rd318, 40;
st.relaxed.sys.u64 [%rd328], %rd329;
add.s64 %rd330, %rd318, 48;
st.relaxed.sys.u64 [%rd330], %rd331;
add.s64 %rd332, %rd318, 56;
st.release.sys.u64 [%rd332], %rd333;
or.b64 %rd374, %rd195, 1;
add.s64 %rd336, %rd157, %rd334;
cvta.global.u64 %rd362, %rd336;
add.s64 %rd358, %rd362, 56;
add.s64 %rd365, %rd362, 16;
add.s64 %rd368, %rd362, 32;
add.s64 %rd370, %rd362, 48;
add.s64 %rd337, %rd156, %rd316;
shl.b64 %rd338, %rd337, 1;
add.s64 %rd372, %rd338, 2;
mov.u64 %rd630, %rd152;
bra.uni LBB22_46;
LBB22_58:
st.release.sys.u64 [%rd373], %rd372;
mov.u32 %r67, 0;
mov.u64 %rd652, %rd645;
mov.u64 %rd653, %rd646;
mov.u64 %rd654, %rd647;
mov.u64 %rd655, %rd648;
mov.u64 %rd656, %rd649;
mov.u64 %rd657, %rd650;
mov.u64 %rd658, %rd651;
mov.pred %p107, %p100;
LBB22_61:
add.s64 %rd630, %rd630, -64;
mov.u32 %r69, %r53;
@%p107 bra LBB22_46;
bra.uni LBB22_64;
LBB22_46:
setp.lt.u64 %p21, %rd630, 64;
cvt.u32.u64 %r37, %rd630;
add.s32 %r38, %r37, 1;
selp.b32 %r16, %r38, 64, %p21;
setp.eq.s32 %p22, %r16, 0;
mov.pred %p106, %p100;
@%p22 bra LBB22_53;
mov.u32 %r65, 0;
mov.pred %p106, %p99;
LBB22_49:
ld.acquire.sys.u64 %rd339, [%rd358];
setp.ne.s64 %p24, %rd339, %rd333;
@%p24 bra LBB22_51;
ld.relaxed.sys.v2.u64 {%rd637, %rd636}, [%rd362];
ld.relaxed.sys.v2.u64 {%rd635, %rd634}, [%rd365];
ld.relaxed.sys.v2.u64 {%rd633, %rd632}, [%rd368];
ld.relaxed.sys.u64 %rd631, [%rd370];
LBB22_51:
@%p24 bra LBB22_48;
bra.uni LBB22_52;
LBB22_48:
add.s32 %r65, %r65, 1;
setp.lt.u32 %p106, %r65, %r16;
setp.eq.s32 %p26, %r16, %r65;
@%p26 bra LBB22_53;
bra.uni LBB22_49;
LBB22_52:
st.release.sys.u64 [%rd373], %rd372;
mov.u32 %r67, 0;
mov.u64 %rd652, %rd631;
mov.u64 %rd653, %rd632;
mov.u64 %rd654, %rd633;
mov.u64 %rd655, %rd634;
mov.u64 %rd656, %rd635;
mov.u64 %rd657, %rd636;
mov.u64 %rd658, %rd637;
LBB22_53:
mov.pred %p107, %p100;
@%p106 bra LBB22_61;
ld.acquire.sys.u64 %rd355, [%rd313];
setp.eq.s64 %p28, %rd355, 0;
@%p28 bra LBB22_59;
ld.acquire.sys.u64 %rd357, [%rd358];
setp.ne.s64 %p29, %rd357, %rd333;
@%p29 bra LBB22_57;
ld.relaxed.sys.v2.u64 {%rd651, %rd650}, [%rd362];
ld.relaxed.sys.v2.u64 {%rd649, %rd648}, [%rd365];
ld.relaxed.sys.v2.u64 {%rd647, %rd646}, [%rd368];
ld.relaxed.sys.u64 %rd645, [%rd370];
LBB22_57:
@%p29 bra LBB22_59;
bra.uni LBB22_58;
LBB22_59:
setp.gt.u64 %p34, %rd630, 63;
and.pred %p35, %p34, %p28;
mov.pred %p107, %p99;
@%p35 bra LBB22_61;
selp.b32 %r67, 4, 3, %p28;
st.release.sys.u64 [%rd373], %rd374;
mov.pred %p107, %p100;
bra.uni LBB22_61;
LBB22_62:
ld.relaxed.sys.u64 %rd312, [%rd313];
setp.ne.s64 %p16, %rd312, 0;
mov.u32 %r67, 3;
mov.u32 %r69, %r53;
@%p16 bra LBB22_64;
setp.ge.u64 %p17, %rd622, %rd152;
setp.lt.u64 %p18, %rd622, %rd152;
add.s64 %rd622, %rd622, 1;
selp.b32 %r67, %r14, %r13, %p18;
selp.u32 %r69, 1, 0, %p17;
LBB22_64:
setp.eq.s32 %p37, %r69, 0;
@%p37 bra LBB22_41;
setp.eq.s32 %p38, %r69, 3;
@%p38 bra LBB22_41;
mov.u64 %rd375, %clock64;
setp.ne.s32 %p39, %r67, 0;
mov.u64 %rd670, %rd148;
mov.u64 %rd675, %rd607;
@%p39 bra LBB22_72;
@%p98 bra LBB22_69;
sub.s64 %rd268, %rd375, %rd297;
shl.b64 %rd376, %rd607, 3;
add.s64 %rd269, %rd1, %rd376;
st.global.u64 [%rd269], %rd268;
LBB22_69:
add.s64 %rd377, %rd658, -3335678366873096957;
xor.b64 %rd378, %rd377, %rd657;
add.s64 %rd379, %rd658, -6671356733746193914;
xor.b64 %rd380, %rd379, %rd656;
or.b64 %rd381, %rd380, %rd378;
add.s64 %rd382, %rd658, 8439708973090260745;
xor.b64 %rd383, %rd382, %rd655;
or.b64 %rd384, %rd381, %rd383;
add.s64 %rd385, %rd658, 5104030606217163788;
xor.b64 %rd386, %rd385, %rd654;
or.b64 %rd387, %rd384, %rd386;
add.s64 %rd388, %rd658, 1768352239344066831;
xor.b64 %rd389, %rd388, %rd653;
or.b64 %rd390, %rd387, %rd389;
add.s64 %rd391, %rd658, -1567326127529030126;
xor.b64 %rd392, %rd391, %rd652;
or.b64 %rd270, %rd390, %rd392;
add.s64 %rd393, %rd652, %rd673;
add.s64 %rd394, %rd393, %rd653;
add.s64 %rd395, %rd394, %rd654;
add.s64 %rd396, %rd395, %rd655;
add.s64 %rd397, %rd396, %rd656;
add.s64 %rd398, %rd397, %rd657;
xor.b64 %rd399, %rd658, %rd319;
or.b64 %rd400, %rd270, %rd399;
setp.eq.s64 %p41, %rd400, 0;
@%p41 bra LBB22_71;
mul.lo.s64 %rd401, %rd658, -1018231460777725123;
sub.s64 %rd402, %rd401, %rd172;
setp.ne.s64 %p42, %rd270, 0;
setp.gt.s64 %p43, %rd402, 1099511627776;
or.pred %p44, %p42, %p43;
setp.lt.s64 %p45, %rd402, -1099511627776;
or.pred %p46, %p44, %p45;
selp.u64 %rd403, 1, 0, %p46;
add.s64 %rd674, %rd674, %rd403;
setp.lt.s64 %p47, %rd402, 0;
not.pred %p48, %p46;
and.pred %p49, %p48, %p47;
selp.u64 %rd404, 1, 0, %p49;
add.s64 %rd671, %rd671, %rd404;
setp.gt.s64 %p50, %rd402, 0;
and.pred %p51, %p48, %p50;
selp.u64 %rd405, 1, 0, %p51;
add.s64 %rd672, %rd672, %rd405;
bra.uni LBB22_71;
LBB22_37:
st.relaxed.sys.u64 [%rd517], %rd602;
LBB22_72:
cvta.to.global.u64 %rd2, %rd290;
@%p98 bra LBB22_74;
mov.u64 %rd519, %globaltimer;
sub.s64 %rd521, %rd519, %rd285;
shl.b64 %rd522, %rd670, 3;
add.s64 %rd523, %rd1, %rd522;
st.global.u64 [%rd523], %rd521;
mov.u64 %rd520, %clock64;
sub.s64 %rd524, %rd520, %rd286;
st.global.u64 [%rd523+8], %rd524;
LBB22_74:
cvt.s64.s32 %rd525, %r67;
mul.wide.u32 %rd526, %r1, 64;
add.s64 %rd527, %rd2, %rd526;
st.global.u64 [%rd527], %rd675;
st.global.u64 [%rd527+8], %rd674;
st.global.u64 [%rd527+16], %rd671;
st.global.u64 [%rd527+24], %rd672;
st.global.u64 [%rd527+32], %rd673;
st.global.u64 [%rd527+40], %rd525;
mov.u64 %rd528, 1;
st.global.u64 [%rd527+48], %rd528;
mov.u64 %rd529, 0;
st.global.u64 [%rd527+56], %rd529;
ret;
}
)";
// clang-format on

} // namespace barmap::tool

#pragma GCC diagnostic pop
