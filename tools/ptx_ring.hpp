// SPDX-License-Identifier: MIT
// Made by scripts/ptx with clang 14 from ring_kernels.cu: change that, and run it again.
#pragma once

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
.reg .pred %p<38>;
.reg .b32 %r<22>;
.reg .b64 %rd<207>;
ld.param.u64 %rd93, [barmap_ring_sink_thread_32_param_2];
cvta.to.global.u64 %rd1, %rd93;
ld.param.u64 %rd94, [barmap_ring_sink_thread_32_param_0];
cvta.to.global.u64 %rd2, %rd94;
ld.param.u64 %rd123, [barmap_ring_sink_thread_32_param_0+8];
ld.param.u64 %rd151, [barmap_ring_sink_thread_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_32_param_0+24];
add.s64 %rd149, %rd123, 8;
ld.relaxed.sys.u64 %rd202, [%rd149];
and.b64 %rd95, %rd202, %rd5;
shl.b64 %rd96, %rd95, 6;
add.s64 %rd201, %rd2, %rd96;
setp.lt.u64 %p6, %rd5, 4;
add.s64 %rd97, %rd5, 1;
shr.u64 %rd98, %rd97, 2;
selp.b64 %rd9, 1, %rd98, %p6;
ld.param.u64 %rd10, [barmap_ring_sink_thread_32_param_1+16];
setp.eq.s64 %p7, %rd10, 0;
selp.b32 %r1, 2, 4, %p7;
mov.u64 %rd173, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_32_param_1];
mov.pred %p8, 0;
mov.u32 %r15, 3;
mov.pred %p11, -1;
mov.u64 %rd200, %rd9;
mov.u64 %rd177, %rd173;
mov.u64 %rd178, %rd173;
mov.u64 %rd179, %rd173;
mov.u64 %rd180, %rd173;
LBB0_1:
mov.u64 %rd192, %rd10;
bra.uni LBB0_2;
LBB0_13:
setp.gt.u64 %p37, %rd192, 63;
selp.b32 %r21, %r1, %r21, %p9;
LBB0_14:
add.s64 %rd192, %rd192, -64;
@%p37 bra LBB0_2;
bra.uni LBB0_15;
LBB0_2:
setp.lt.u64 %p9, %rd192, 64;
cvt.u32.u64 %r10, %rd192;
add.s32 %r11, %r10, 1;
selp.b32 %r3, %r11, 64, %p9;
setp.eq.s32 %p10, %r3, 0;
mov.pred %p36, %p8;
@%p10 bra LBB0_8;
cvta.global.u64 %rd32, %rd201;
add.s64 %rd33, %rd202, 1;
add.s64 %rd34, %rd32, 16;
add.s64 %rd35, %rd32, 32;
add.s64 %rd36, %rd32, 48;
mov.u32 %r19, 0;
mov.pred %p36, %p11;
LBB0_4:
ld.relaxed.sys.v2.u64 {%rd99, %rd100}, [%rd32];
ld.relaxed.sys.v2.u64 {%rd102, %rd103}, [%rd34];
ld.relaxed.sys.v2.u64 {%rd105, %rd106}, [%rd35];
ld.acquire.sys.v2.u64 {%rd108, %rd109}, [%rd36];
xor.b64 %rd111, %rd106, %rd33;
xor.b64 %rd112, %rd103, %rd33;
xor.b64 %rd113, %rd100, %rd33;
or.b64 %rd114, %rd112, %rd113;
or.b64 %rd115, %rd114, %rd111;
xor.b64 %rd116, %rd109, %rd33;
or.b64 %rd117, %rd115, %rd116;
setp.ne.s64 %p12, %rd117, 0;
@%p12 bra LBB0_7;
bra.uni LBB0_5;
LBB0_7:
add.s32 %r19, %r19, 1;
setp.lt.u32 %p36, %r19, %r3;
setp.ne.s32 %p13, %r3, %r19;
@%p13 bra LBB0_4;
bra.uni LBB0_8;
LBB0_5:
and.b64 %rd118, %rd33, %rd5;
shl.b64 %rd119, %rd118, 6;
add.s64 %rd201, %rd2, %rd119;
add.s64 %rd200, %rd200, -1;
setp.ne.s64 %p14, %rd200, 0;
mov.u32 %r21, 0;
mov.u64 %rd202, %rd33;
mov.u64 %rd203, %rd108;
mov.u64 %rd204, %rd105;
mov.u64 %rd205, %rd102;
mov.u64 %rd206, %rd99;
@%p14 bra LBB0_8;
st.release.sys.u64 [%rd151], %rd33;
mov.u64 %rd200, %rd9;
mov.u64 %rd202, %rd33;
mov.u64 %rd203, %rd108;
mov.u64 %rd204, %rd105;
mov.u64 %rd205, %rd102;
mov.u64 %rd206, %rd99;
LBB0_8:
mov.pred %p37, %p8;
@%p36 bra LBB0_14;
ld.acquire.sys.u64 %rd122, [%rd123];
setp.eq.s64 %p16, %rd122, 0;
@%p16 bra LBB0_13;
cvta.global.u64 %rd126, %rd201;
add.s64 %rd146, %rd202, 1;
ld.relaxed.sys.v2.u64 {%rd124, %rd125}, [%rd126];
add.s64 %rd129, %rd126, 16;
ld.relaxed.sys.v2.u64 {%rd127, %rd128}, [%rd129];
add.s64 %rd132, %rd126, 32;
ld.relaxed.sys.v2.u64 {%rd130, %rd131}, [%rd132];
add.s64 %rd135, %rd126, 48;
ld.acquire.sys.v2.u64 {%rd133, %rd134}, [%rd135];
xor.b64 %rd136, %rd131, %rd146;
xor.b64 %rd137, %rd128, %rd146;
xor.b64 %rd138, %rd125, %rd146;
or.b64 %rd139, %rd137, %rd138;
or.b64 %rd140, %rd139, %rd136;
xor.b64 %rd141, %rd134, %rd146;
or.b64 %rd142, %rd140, %rd141;
setp.ne.s64 %p18, %rd142, 0;
mov.u32 %r21, %r15;
mov.pred %p37, %p8;
@%p18 bra LBB0_14;
and.b64 %rd143, %rd146, %rd5;
shl.b64 %rd144, %rd143, 6;
add.s64 %rd201, %rd2, %rd144;
add.s64 %rd200, %rd200, -1;
setp.ne.s64 %p20, %rd200, 0;
mov.u32 %r21, 0;
mov.u64 %rd202, %rd146;
mov.u64 %rd203, %rd133;
mov.u64 %rd204, %rd130;
mov.u64 %rd205, %rd127;
mov.u64 %rd206, %rd124;
mov.pred %p37, %p8;
@%p20 bra LBB0_14;
st.release.sys.u64 [%rd151], %rd146;
mov.u64 %rd200, %rd9;
mov.u64 %rd202, %rd146;
mov.u64 %rd203, %rd133;
mov.u64 %rd204, %rd130;
mov.u64 %rd205, %rd127;
mov.u64 %rd206, %rd124;
mov.pred %p37, %p8;
bra.uni LBB0_14;
LBB0_15:
setp.ne.s32 %p23, %r21, 0;
@%p23 bra LBB0_18;
add.s64 %rd82, %rd11, %rd180;
add.s64 %rd155, %rd206, -3335678366873096957;
xor.b64 %rd156, %rd155, %rd205;
add.s64 %rd157, %rd206, -6671356733746193914;
xor.b64 %rd158, %rd157, %rd204;
or.b64 %rd159, %rd158, %rd156;
add.s64 %rd160, %rd206, 8439708973090260745;
xor.b64 %rd161, %rd160, %rd203;
or.b64 %rd83, %rd159, %rd161;
add.s64 %rd180, %rd180, 1;
add.s64 %rd162, %rd203, %rd173;
add.s64 %rd163, %rd162, %rd204;
add.s64 %rd164, %rd163, %rd205;
add.s64 %rd173, %rd164, %rd206;
mul.lo.s64 %rd165, %rd82, -7046029254386353131;
xor.b64 %rd166, %rd165, %rd206;
or.b64 %rd167, %rd166, %rd83;
setp.eq.s64 %p24, %rd167, 0;
@%p24 bra LBB0_1;
mul.lo.s64 %rd168, %rd206, -1018231460777725123;
sub.s64 %rd169, %rd168, %rd82;
setp.ne.s64 %p25, %rd83, 0;
setp.gt.s64 %p26, %rd169, 1099511627776;
or.pred %p27, %p25, %p26;
setp.lt.s64 %p28, %rd169, -1099511627776;
or.pred %p29, %p27, %p28;
selp.u64 %rd170, 1, 0, %p29;
add.s64 %rd179, %rd179, %rd170;
setp.lt.s64 %p30, %rd169, 0;
not.pred %p31, %p29;
and.pred %p32, %p31, %p30;
selp.u64 %rd171, 1, 0, %p32;
add.s64 %rd178, %rd178, %rd171;
setp.gt.s64 %p33, %rd169, 0;
and.pred %p34, %p31, %p33;
selp.u64 %rd172, 1, 0, %p34;
add.s64 %rd177, %rd177, %rd172;
bra.uni LBB0_1;
LBB0_18:
add.s64 %rd147, %rd151, 8;
mov.u64 %rd148, 1;
st.release.sys.u64 [%rd147], %rd148;
cvt.s64.s32 %rd153, %r21;
st.global.u64 [%rd1], %rd180;
st.global.u64 [%rd1+8], %rd179;
st.global.u64 [%rd1+16], %rd178;
st.global.u64 [%rd1+24], %rd177;
st.global.u64 [%rd1+32], %rd173;
st.global.u64 [%rd1+40], %rd153;
st.global.u64 [%rd1+48], %rd148;
mov.u64 %rd154, 0;
st.global.u64 [%rd1+56], %rd154;
st.relaxed.sys.u64 [%rd149], %rd202;
st.release.sys.u64 [%rd151], %rd202;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_32(
.param .align 8 .b8 barmap_ring_sink_warp_32_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_32_param_1[24],
.param .u64 barmap_ring_sink_warp_32_param_2
)
{
.reg .pred %p<42>;
.reg .b32 %r<54>;
.reg .b64 %rd<248>;
ld.param.u64 %rd95, [barmap_ring_sink_warp_32_param_2];
cvta.to.global.u64 %rd1, %rd95;
mov.u32 %r16, %tid.x;
and.b32 %r17, %r16, 31;
ld.param.u64 %rd96, [barmap_ring_sink_warp_32_param_0];
cvta.to.global.u64 %rd2, %rd96;
ld.param.u64 %rd130, [barmap_ring_sink_warp_32_param_0+8];
ld.param.u64 %rd168, [barmap_ring_sink_warp_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_32_param_0+24];
add.s64 %rd166, %rd130, 8;
ld.relaxed.sys.u64 %rd213, [%rd166];
ld.param.u64 %rd201, [barmap_ring_sink_warp_32_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd97, %rd5, 1;
shr.u64 %rd98, %rd97, 2;
selp.b64 %rd9, 1, %rd98, %p4;
cvt.u64.u32 %rd10, %r17;
ld.param.u64 %rd11, [barmap_ring_sink_warp_32_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd93, 0;
mov.u32 %r22, -1;
mov.u32 %r27, 0;
mov.pred %p23, -1;
mov.pred %p20, 0;
mov.u64 %rd243, %rd93;
mov.u64 %rd226, %rd213;
mov.u64 %rd244, %rd93;
mov.u64 %rd245, %rd93;
mov.u64 %rd246, %rd93;
mov.u64 %rd247, %rd93;
bra.uni LBB1_1;
LBB1_24:
cvt.u64.u32 %rd188, %r48;
add.s64 %rd201, %rd201, %rd188;
LBB1_1:
mov.u64 %rd208, %rd93;
bra.uni LBB1_2;
LBB1_18:
mov.pred %p41, %p23;
LBB1_19:
add.s64 %rd208, %rd208, 1;
mov.u32 %r53, %r49;
@%p41 bra LBB1_2;
bra.uni LBB1_20;
LBB1_2:
mov.u32 %r19, %laneid;
cvt.u64.u32 %rd31, %r19;
add.s64 %rd112, %rd226, %rd31;
and.b64 %rd113, %rd112, %rd5;
shl.b64 %rd114, %rd113, 6;
add.s64 %rd115, %rd2, %rd114;
cvta.global.u64 %rd102, %rd115;
add.s64 %rd116, %rd112, 1;
ld.relaxed.sys.v2.u64 {%rd100, %rd101}, [%rd102];
add.s64 %rd105, %rd102, 16;
ld.relaxed.sys.v2.u64 {%rd103, %rd104}, [%rd105];
add.s64 %rd108, %rd102, 32;
ld.relaxed.sys.v2.u64 {%rd106, %rd107}, [%rd108];
add.s64 %rd111, %rd102, 48;
ld.acquire.sys.v2.u64 {%rd109, %rd110}, [%rd111];
xor.b64 %rd117, %rd107, %rd116;
xor.b64 %rd118, %rd104, %rd116;
xor.b64 %rd119, %rd116, %rd101;
or.b64 %rd120, %rd118, %rd119;
or.b64 %rd121, %rd120, %rd117;
xor.b64 %rd122, %rd110, %rd116;
or.b64 %rd123, %rd121, %rd122;
setp.eq.s64 %p6, %rd123, 0;
selp.u32 %r21, 1, 0, %p6;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r22; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
min.u32 %r48, %r23, 32;
setp.ge.u32 %p7, %r19, %r48;
@%p7 bra LBB1_4;
mov.u64 %rd221, %rd109;
mov.u64 %rd222, %rd106;
mov.u64 %rd223, %rd103;
mov.u64 %rd224, %rd100;
LBB1_4:
cvt.u64.u32 %rd124, %r48;
add.s64 %rd226, %rd226, %rd124;
sub.s64 %rd125, %rd226, %rd213;
setp.lt.u64 %p8, %rd125, %rd9;
@%p8 bra LBB1_7;
cvt.u32.u64 %r26, %rd31;
bar.warp.sync %r22;
setp.ne.s32 %p9, %r26, 0;
mov.u64 %rd213, %rd226;
@%p9 bra LBB1_7;
st.release.sys.u64 [%rd168], %rd226;
mov.u64 %rd213, %rd226;
LBB1_7:
setp.ne.s32 %p10, %r48, 0;
mov.u32 %r53, %r27;
@%p10 bra LBB1_20;
setp.lt.u64 %p40, %rd208, %rd11;
and.b64 %rd128, %rd208, 63;
setp.ne.s64 %p11, %rd128, 63;
and.pred %p12, %p40, %p11;
mov.u32 %r48, 0;
@%p12 bra LBB1_18;
ld.acquire.sys.u64 %rd129, [%rd130];
setp.ne.s64 %p13, %rd129, 0;
selp.u32 %r30, 1, 0, %p13;
{ .reg .pred p; setp.ne.u32 p, %r30, 0; vote.sync.ballot.b32 %r29, p, %r22; }
not.b32 %r33, %r29;
{ .reg .b32 r; brev.b32 r, %r33; bfind.shiftamt.u32 %r32, r; }
setp.lt.u32 %p14, %r32, 32;
@%p14 bra LBB1_16;
cvt.u32.u64 %r40, %rd31;
add.s64 %rd143, %rd226, %rd31;
and.b64 %rd144, %rd143, %rd5;
shl.b64 %rd145, %rd144, 6;
add.s64 %rd146, %rd2, %rd145;
cvta.global.u64 %rd133, %rd146;
add.s64 %rd147, %rd143, 1;
ld.relaxed.sys.v2.u64 {%rd131, %rd132}, [%rd133];
add.s64 %rd136, %rd133, 16;
ld.relaxed.sys.v2.u64 {%rd134, %rd135}, [%rd136];
add.s64 %rd139, %rd133, 32;
ld.relaxed.sys.v2.u64 {%rd137, %rd138}, [%rd139];
add.s64 %rd142, %rd133, 48;
ld.acquire.sys.v2.u64 {%rd140, %rd141}, [%rd142];
xor.b64 %rd148, %rd138, %rd147;
xor.b64 %rd149, %rd135, %rd147;
xor.b64 %rd150, %rd132, %rd147;
or.b64 %rd151, %rd149, %rd150;
or.b64 %rd152, %rd151, %rd148;
xor.b64 %rd153, %rd141, %rd147;
or.b64 %rd154, %rd152, %rd153;
setp.eq.s64 %p16, %rd154, 0;
selp.u32 %r36, 1, 0, %p16;
{ .reg .pred p; setp.ne.u32 p, %r36, 0; vote.sync.ballot.b32 %r35, p, %r22; }
not.b32 %r39, %r35;
{ .reg .b32 r; brev.b32 r, %r39; bfind.shiftamt.u32 %r38, r; }
min.u32 %r48, %r38, 32;
setp.ge.u32 %p17, %r40, %r48;
@%p17 bra LBB1_12;
mov.u64 %rd221, %rd140;
mov.u64 %rd222, %rd137;
mov.u64 %rd223, %rd134;
mov.u64 %rd224, %rd131;
LBB1_12:
cvt.u64.u32 %rd155, %r48;
add.s64 %rd226, %rd226, %rd155;
sub.s64 %rd156, %rd226, %rd213;
setp.lt.u64 %p18, %rd156, %rd9;
@%p18 bra LBB1_15;
bar.warp.sync %r22;
setp.ne.s32 %p19, %r40, 0;
mov.u64 %rd213, %rd226;
@%p19 bra LBB1_15;
st.release.sys.u64 [%rd168], %rd226;
mov.u64 %rd213, %rd226;
LBB1_15:
setp.eq.s32 %p21, %r48, 0;
selp.b32 %r49, 3, 0, %p21;
mov.pred %p40, %p20;
bra.uni LBB1_17;
LBB1_16:
setp.lt.u64 %p15, %rd208, %rd11;
selp.b32 %r49, %r49, %r1, %p15;
mov.u32 %r48, 0;
LBB1_17:
mov.pred %p41, %p20;
@!%p40 bra LBB1_19;
bra.uni LBB1_18;
LBB1_20:
setp.ne.s32 %p24, %r53, 0;
@%p24 bra LBB1_25;
cvt.u32.u64 %r44, %rd10;
setp.le.u32 %p28, %r48, %r44;
@%p28 bra LBB1_24;
add.s64 %rd77, %rd201, %rd10;
add.s64 %rd170, %rd224, -3335678366873096957;
xor.b64 %rd171, %rd170, %rd223;
add.s64 %rd172, %rd224, -6671356733746193914;
xor.b64 %rd173, %rd172, %rd222;
or.b64 %rd174, %rd173, %rd171;
add.s64 %rd175, %rd224, 8439708973090260745;
xor.b64 %rd176, %rd175, %rd221;
or.b64 %rd78, %rd174, %rd176;
add.s64 %rd247, %rd247, 1;
add.s64 %rd177, %rd221, %rd243;
add.s64 %rd178, %rd177, %rd222;
add.s64 %rd179, %rd178, %rd223;
add.s64 %rd243, %rd179, %rd224;
mul.lo.s64 %rd180, %rd77, -7046029254386353131;
xor.b64 %rd181, %rd224, %rd180;
or.b64 %rd182, %rd78, %rd181;
setp.eq.s64 %p29, %rd182, 0;
@%p29 bra LBB1_24;
mul.lo.s64 %rd183, %rd224, -1018231460777725123;
sub.s64 %rd184, %rd183, %rd77;
setp.ne.s64 %p30, %rd78, 0;
setp.gt.s64 %p31, %rd184, 1099511627776;
or.pred %p32, %p30, %p31;
setp.lt.s64 %p33, %rd184, -1099511627776;
or.pred %p34, %p32, %p33;
selp.u64 %rd185, 1, 0, %p34;
add.s64 %rd246, %rd246, %rd185;
setp.lt.s64 %p35, %rd184, 0;
not.pred %p36, %p34;
and.pred %p37, %p36, %p35;
selp.u64 %rd186, 1, 0, %p37;
add.s64 %rd245, %rd245, %rd186;
setp.gt.s64 %p38, %rd184, 0;
and.pred %p39, %p36, %p38;
selp.u64 %rd187, 1, 0, %p39;
add.s64 %rd244, %rd244, %rd187;
bra.uni LBB1_24;
LBB1_25:
cvt.u32.u64 %r15, %rd31;
setp.ne.s32 %p25, %r15, 0;
mov.u64 %rd189, 1;
@%p25 bra LBB1_27;
add.s64 %rd159, %rd168, 8;
st.release.sys.u64 [%rd159], %rd189;
LBB1_27:
cvt.s64.s32 %rd161, %r53;
shl.b64 %rd162, %rd10, 6;
add.s64 %rd163, %rd1, %rd162;
st.global.u64 [%rd163], %rd247;
st.global.u64 [%rd163+8], %rd246;
st.global.u64 [%rd163+16], %rd245;
st.global.u64 [%rd163+24], %rd244;
st.global.u64 [%rd163+32], %rd243;
st.global.u64 [%rd163+40], %rd161;
st.global.u64 [%rd163+48], %rd189;
mov.u64 %rd165, 0;
st.global.u64 [%rd163+56], %rd165;
@%p25 bra LBB1_29;
st.relaxed.sys.u64 [%rd166], %rd226;
LBB1_29:
bar.warp.sync %r22;
@%p25 bra LBB1_31;
st.release.sys.u64 [%rd168], %rd226;
LBB1_31:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_56(
.param .align 8 .b8 barmap_ring_sink_thread_56_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_56_param_1[24],
.param .u64 barmap_ring_sink_thread_56_param_2
)
{
.reg .pred %p<40>;
.reg .b32 %r<22>;
.reg .b64 %rd<263>;
ld.param.u64 %rd115, [barmap_ring_sink_thread_56_param_2];
cvta.to.global.u64 %rd1, %rd115;
ld.param.u64 %rd116, [barmap_ring_sink_thread_56_param_0];
cvta.to.global.u64 %rd2, %rd116;
ld.param.u64 %rd143, [barmap_ring_sink_thread_56_param_0+8];
ld.param.u64 %rd169, [barmap_ring_sink_thread_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_56_param_0+24];
add.s64 %rd167, %rd143, 8;
ld.relaxed.sys.u64 %rd255, [%rd167];
and.b64 %rd117, %rd255, %rd5;
shl.b64 %rd118, %rd117, 6;
add.s64 %rd254, %rd2, %rd118;
setp.lt.u64 %p6, %rd5, 4;
add.s64 %rd119, %rd5, 1;
shr.u64 %rd120, %rd119, 2;
selp.b64 %rd9, 1, %rd120, %p6;
ld.param.u64 %rd10, [barmap_ring_sink_thread_56_param_1+16];
setp.eq.s64 %p7, %rd10, 0;
selp.b32 %r1, 2, 4, %p7;
mov.u64 %rd203, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_56_param_1];
mov.pred %p8, 0;
mov.u32 %r15, 3;
mov.pred %p11, -1;
mov.u64 %rd253, %rd9;
mov.u64 %rd207, %rd203;
mov.u64 %rd208, %rd203;
mov.u64 %rd209, %rd203;
mov.u64 %rd210, %rd203;
LBB2_1:
mov.u64 %rd228, %rd10;
bra.uni LBB2_2;
LBB2_17:
setp.gt.u64 %p39, %rd228, 63;
selp.b32 %r21, %r1, %r21, %p9;
LBB2_18:
add.s64 %rd228, %rd228, -64;
@%p39 bra LBB2_2;
bra.uni LBB2_19;
LBB2_2:
setp.lt.u64 %p9, %rd228, 64;
cvt.u32.u64 %r10, %rd228;
add.s32 %r11, %r10, 1;
selp.b32 %r3, %r11, 64, %p9;
setp.eq.s32 %p10, %r3, 0;
mov.pred %p38, %p8;
@%p10 bra LBB2_10;
cvta.global.u64 %rd38, %rd254;
add.s64 %rd39, %rd255, 1;
add.s64 %rd40, %rd38, 56;
add.s64 %rd41, %rd38, 8;
add.s64 %rd42, %rd38, 16;
add.s64 %rd43, %rd38, 24;
add.s64 %rd44, %rd38, 32;
add.s64 %rd45, %rd38, 40;
add.s64 %rd46, %rd38, 48;
mov.u32 %r19, 0;
mov.pred %p38, %p11;
LBB2_4:
ld.acquire.sys.u64 %rd121, [%rd40];
setp.ne.s64 %p12, %rd121, %rd39;
@%p12 bra LBB2_6;
ld.relaxed.sys.u64 %rd235, [%rd38];
ld.relaxed.sys.u64 %rd234, [%rd41];
ld.relaxed.sys.u64 %rd233, [%rd42];
ld.relaxed.sys.u64 %rd232, [%rd43];
ld.relaxed.sys.u64 %rd231, [%rd44];
ld.relaxed.sys.u64 %rd230, [%rd45];
ld.relaxed.sys.u64 %rd229, [%rd46];
LBB2_6:
@%p12 bra LBB2_9;
bra.uni LBB2_7;
LBB2_9:
add.s32 %r19, %r19, 1;
setp.lt.u32 %p38, %r19, %r3;
setp.ne.s32 %p14, %r3, %r19;
@%p14 bra LBB2_4;
bra.uni LBB2_10;
LBB2_7:
and.b64 %rd138, %rd39, %rd5;
shl.b64 %rd139, %rd138, 6;
add.s64 %rd254, %rd2, %rd139;
add.s64 %rd253, %rd253, -1;
setp.ne.s64 %p15, %rd253, 0;
mov.u32 %r21, 0;
mov.u64 %rd255, %rd39;
mov.u64 %rd256, %rd229;
mov.u64 %rd257, %rd230;
mov.u64 %rd258, %rd231;
mov.u64 %rd259, %rd232;
mov.u64 %rd260, %rd233;
mov.u64 %rd261, %rd234;
mov.u64 %rd262, %rd235;
@%p15 bra LBB2_10;
st.release.sys.u64 [%rd169], %rd39;
mov.u64 %rd253, %rd9;
mov.u64 %rd255, %rd39;
mov.u64 %rd256, %rd229;
mov.u64 %rd257, %rd230;
mov.u64 %rd258, %rd231;
mov.u64 %rd259, %rd232;
mov.u64 %rd260, %rd233;
mov.u64 %rd261, %rd234;
mov.u64 %rd262, %rd235;
LBB2_10:
mov.pred %p39, %p8;
@%p38 bra LBB2_18;
ld.acquire.sys.u64 %rd142, [%rd143];
setp.eq.s64 %p17, %rd142, 0;
@%p17 bra LBB2_17;
cvta.global.u64 %rd148, %rd254;
add.s64 %rd164, %rd255, 1;
add.s64 %rd145, %rd148, 56;
ld.acquire.sys.u64 %rd144, [%rd145];
setp.ne.s64 %p18, %rd144, %rd164;
@%p18 bra LBB2_14;
ld.relaxed.sys.u64 %rd252, [%rd148];
add.s64 %rd150, %rd148, 8;
ld.relaxed.sys.u64 %rd251, [%rd150];
add.s64 %rd152, %rd148, 16;
ld.relaxed.sys.u64 %rd250, [%rd152];
add.s64 %rd154, %rd148, 24;
ld.relaxed.sys.u64 %rd249, [%rd154];
add.s64 %rd156, %rd148, 32;
ld.relaxed.sys.u64 %rd248, [%rd156];
add.s64 %rd158, %rd148, 40;
ld.relaxed.sys.u64 %rd247, [%rd158];
add.s64 %rd160, %rd148, 48;
ld.relaxed.sys.u64 %rd246, [%rd160];
LBB2_14:
mov.u32 %r21, %r15;
mov.pred %p39, %p8;
@%p18 bra LBB2_18;
and.b64 %rd161, %rd164, %rd5;
shl.b64 %rd162, %rd161, 6;
add.s64 %rd254, %rd2, %rd162;
add.s64 %rd253, %rd253, -1;
setp.ne.s64 %p22, %rd253, 0;
mov.u32 %r21, 0;
mov.u64 %rd255, %rd164;
mov.u64 %rd256, %rd246;
mov.u64 %rd257, %rd247;
mov.u64 %rd258, %rd248;
mov.u64 %rd259, %rd249;
mov.u64 %rd260, %rd250;
mov.u64 %rd261, %rd251;
mov.u64 %rd262, %rd252;
mov.pred %p39, %p8;
@%p22 bra LBB2_18;
st.release.sys.u64 [%rd169], %rd164;
mov.u64 %rd253, %rd9;
mov.u64 %rd255, %rd164;
mov.u64 %rd256, %rd246;
mov.u64 %rd257, %rd247;
mov.u64 %rd258, %rd248;
mov.u64 %rd259, %rd249;
mov.u64 %rd260, %rd250;
mov.u64 %rd261, %rd251;
mov.u64 %rd262, %rd252;
mov.pred %p39, %p8;
bra.uni LBB2_18;
LBB2_19:
setp.ne.s32 %p25, %r21, 0;
@%p25 bra LBB2_22;
add.s64 %rd104, %rd11, %rd210;
add.s64 %rd173, %rd262, -3335678366873096957;
xor.b64 %rd174, %rd173, %rd261;
add.s64 %rd175, %rd262, -6671356733746193914;
xor.b64 %rd176, %rd175, %rd260;
or.b64 %rd177, %rd176, %rd174;
add.s64 %rd178, %rd262, 8439708973090260745;
xor.b64 %rd179, %rd178, %rd259;
or.b64 %rd180, %rd177, %rd179;
add.s64 %rd181, %rd262, 5104030606217163788;
xor.b64 %rd182, %rd181, %rd258;
or.b64 %rd183, %rd180, %rd182;
add.s64 %rd184, %rd262, 1768352239344066831;
xor.b64 %rd185, %rd184, %rd257;
or.b64 %rd186, %rd183, %rd185;
add.s64 %rd187, %rd262, -1567326127529030126;
xor.b64 %rd188, %rd187, %rd256;
or.b64 %rd105, %rd186, %rd188;
add.s64 %rd210, %rd210, 1;
add.s64 %rd189, %rd256, %rd203;
add.s64 %rd190, %rd189, %rd257;
add.s64 %rd191, %rd190, %rd258;
add.s64 %rd192, %rd191, %rd259;
add.s64 %rd193, %rd192, %rd260;
add.s64 %rd194, %rd193, %rd261;
add.s64 %rd203, %rd194, %rd262;
mul.lo.s64 %rd195, %rd104, -7046029254386353131;
xor.b64 %rd196, %rd195, %rd262;
or.b64 %rd197, %rd196, %rd105;
setp.eq.s64 %p26, %rd197, 0;
@%p26 bra LBB2_1;
mul.lo.s64 %rd198, %rd262, -1018231460777725123;
sub.s64 %rd199, %rd198, %rd104;
setp.ne.s64 %p27, %rd105, 0;
setp.gt.s64 %p28, %rd199, 1099511627776;
or.pred %p29, %p27, %p28;
setp.lt.s64 %p30, %rd199, -1099511627776;
or.pred %p31, %p29, %p30;
selp.u64 %rd200, 1, 0, %p31;
add.s64 %rd209, %rd209, %rd200;
setp.lt.s64 %p32, %rd199, 0;
not.pred %p33, %p31;
and.pred %p34, %p33, %p32;
selp.u64 %rd201, 1, 0, %p34;
add.s64 %rd208, %rd208, %rd201;
setp.gt.s64 %p35, %rd199, 0;
and.pred %p36, %p33, %p35;
selp.u64 %rd202, 1, 0, %p36;
add.s64 %rd207, %rd207, %rd202;
bra.uni LBB2_1;
LBB2_22:
add.s64 %rd165, %rd169, 8;
mov.u64 %rd166, 1;
st.release.sys.u64 [%rd165], %rd166;
cvt.s64.s32 %rd171, %r21;
st.global.u64 [%rd1], %rd210;
st.global.u64 [%rd1+8], %rd209;
st.global.u64 [%rd1+16], %rd208;
st.global.u64 [%rd1+24], %rd207;
st.global.u64 [%rd1+32], %rd203;
st.global.u64 [%rd1+40], %rd171;
st.global.u64 [%rd1+48], %rd166;
mov.u64 %rd172, 0;
st.global.u64 [%rd1+56], %rd172;
st.relaxed.sys.u64 [%rd167], %rd255;
st.release.sys.u64 [%rd169], %rd255;
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
.reg .b64 %rd<340>;
ld.param.u64 %rd141, [barmap_ring_sink_warp_56_param_2];
cvta.to.global.u64 %rd1, %rd141;
mov.u32 %r16, %tid.x;
and.b32 %r17, %r16, 31;
ld.param.u64 %rd142, [barmap_ring_sink_warp_56_param_0];
cvta.to.global.u64 %rd2, %rd142;
ld.param.u64 %rd174, [barmap_ring_sink_warp_56_param_0+8];
ld.param.u64 %rd210, [barmap_ring_sink_warp_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_56_param_0+24];
add.s64 %rd208, %rd174, 8;
ld.relaxed.sys.u64 %rd283, [%rd208];
ld.param.u64 %rd258, [barmap_ring_sink_warp_56_param_1];
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
mov.u64 %rd335, %rd139;
mov.u64 %rd309, %rd283;
mov.u64 %rd336, %rd139;
mov.u64 %rd337, %rd139;
mov.u64 %rd338, %rd139;
mov.u64 %rd339, %rd139;
bra.uni LBB3_1;
LBB3_28:
cvt.u64.u32 %rd242, %r50;
add.s64 %rd258, %rd258, %rd242;
LBB3_1:
mov.u64 %rd268, %rd139;
bra.uni LBB3_2;
LBB3_22:
mov.pred %p43, %p25;
LBB3_23:
add.s64 %rd268, %rd268, 1;
mov.u32 %r55, %r51;
@%p43 bra LBB3_2;
bra.uni LBB3_24;
LBB3_2:
mov.u32 %r19, %laneid;
cvt.u64.u32 %rd37, %r19;
add.s64 %rd149, %rd309, %rd37;
and.b64 %rd150, %rd149, %rd5;
shl.b64 %rd151, %rd150, 6;
add.s64 %rd152, %rd2, %rd151;
cvta.global.u64 %rd155, %rd152;
add.s64 %rd153, %rd149, 1;
add.s64 %rd147, %rd155, 56;
ld.acquire.sys.u64 %rd146, [%rd147];
setp.eq.s64 %p6, %rd146, %rd153;
selp.u32 %r21, 1, 0, %p6;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r22; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
min.u32 %r50, %r23, 32;
setp.ge.u32 %p7, %r19, %r50;
@%p7 bra LBB3_4;
ld.relaxed.sys.u64 %rd275, [%rd155];
add.s64 %rd157, %rd155, 8;
ld.relaxed.sys.u64 %rd274, [%rd157];
add.s64 %rd159, %rd155, 16;
ld.relaxed.sys.u64 %rd273, [%rd159];
add.s64 %rd161, %rd155, 24;
ld.relaxed.sys.u64 %rd272, [%rd161];
add.s64 %rd163, %rd155, 32;
ld.relaxed.sys.u64 %rd271, [%rd163];
add.s64 %rd165, %rd155, 40;
ld.relaxed.sys.u64 %rd270, [%rd165];
add.s64 %rd167, %rd155, 48;
ld.relaxed.sys.u64 %rd269, [%rd167];
LBB3_4:
cvt.u32.u64 %r25, %rd37;
setp.ge.u32 %p8, %r25, %r50;
@%p8 bra LBB3_6;
mov.u64 %rd276, %rd269;
mov.u64 %rd277, %rd270;
mov.u64 %rd278, %rd271;
mov.u64 %rd279, %rd272;
mov.u64 %rd280, %rd273;
mov.u64 %rd281, %rd274;
mov.u64 %rd282, %rd275;
LBB3_6:
cvt.u64.u32 %rd168, %r50;
add.s64 %rd309, %rd309, %rd168;
sub.s64 %rd169, %rd309, %rd283;
setp.lt.u64 %p9, %rd169, %rd9;
@%p9 bra LBB3_9;
bar.warp.sync %r22;
setp.ne.s32 %p10, %r25, 0;
mov.u64 %rd283, %rd309;
@%p10 bra LBB3_9;
st.release.sys.u64 [%rd210], %rd309;
mov.u64 %rd283, %rd309;
LBB3_9:
setp.ne.s32 %p11, %r50, 0;
mov.u32 %r55, %r28;
@%p11 bra LBB3_24;
setp.lt.u64 %p42, %rd268, %rd11;
and.b64 %rd172, %rd268, 63;
setp.ne.s64 %p12, %rd172, 63;
and.pred %p13, %p42, %p12;
mov.u32 %r50, 0;
@%p13 bra LBB3_22;
ld.acquire.sys.u64 %rd173, [%rd174];
setp.ne.s64 %p14, %rd173, 0;
selp.u32 %r31, 1, 0, %p14;
{ .reg .pred p; setp.ne.u32 p, %r31, 0; vote.sync.ballot.b32 %r30, p, %r22; }
not.b32 %r34, %r30;
{ .reg .b32 r; brev.b32 r, %r34; bfind.shiftamt.u32 %r33, r; }
setp.lt.u32 %p15, %r33, 32;
@%p15 bra LBB3_20;
add.s64 %rd178, %rd309, %rd37;
and.b64 %rd179, %rd178, %rd5;
shl.b64 %rd180, %rd179, 6;
add.s64 %rd181, %rd2, %rd180;
cvta.global.u64 %rd184, %rd181;
add.s64 %rd182, %rd178, 1;
add.s64 %rd176, %rd184, 56;
ld.acquire.sys.u64 %rd175, [%rd176];
setp.eq.s64 %p17, %rd175, %rd182;
selp.u32 %r37, 1, 0, %p17;
{ .reg .pred p; setp.ne.u32 p, %r37, 0; vote.sync.ballot.b32 %r36, p, %r22; }
not.b32 %r40, %r36;
{ .reg .b32 r; brev.b32 r, %r40; bfind.shiftamt.u32 %r39, r; }
min.u32 %r50, %r39, 32;
setp.ge.u32 %p18, %r25, %r50;
@%p18 bra LBB3_14;
ld.relaxed.sys.u64 %rd290, [%rd184];
add.s64 %rd186, %rd184, 8;
ld.relaxed.sys.u64 %rd289, [%rd186];
add.s64 %rd188, %rd184, 16;
ld.relaxed.sys.u64 %rd288, [%rd188];
add.s64 %rd190, %rd184, 24;
ld.relaxed.sys.u64 %rd287, [%rd190];
add.s64 %rd192, %rd184, 32;
ld.relaxed.sys.u64 %rd286, [%rd192];
add.s64 %rd194, %rd184, 40;
ld.relaxed.sys.u64 %rd285, [%rd194];
add.s64 %rd196, %rd184, 48;
ld.relaxed.sys.u64 %rd284, [%rd196];
LBB3_14:
@%p18 bra LBB3_16;
mov.u64 %rd276, %rd284;
mov.u64 %rd277, %rd285;
mov.u64 %rd278, %rd286;
mov.u64 %rd279, %rd287;
mov.u64 %rd280, %rd288;
mov.u64 %rd281, %rd289;
mov.u64 %rd282, %rd290;
LBB3_16:
cvt.u64.u32 %rd197, %r50;
add.s64 %rd309, %rd309, %rd197;
sub.s64 %rd198, %rd309, %rd283;
setp.lt.u64 %p20, %rd198, %rd9;
@%p20 bra LBB3_19;
bar.warp.sync %r22;
setp.ne.s32 %p21, %r25, 0;
mov.u64 %rd283, %rd309;
@%p21 bra LBB3_19;
st.release.sys.u64 [%rd210], %rd309;
mov.u64 %rd283, %rd309;
LBB3_19:
setp.eq.s32 %p23, %r50, 0;
selp.b32 %r51, 3, 0, %p23;
mov.pred %p42, %p22;
bra.uni LBB3_21;
LBB3_20:
setp.lt.u64 %p16, %rd268, %rd11;
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
add.s64 %rd123, %rd258, %rd10;
add.s64 %rd212, %rd282, -3335678366873096957;
xor.b64 %rd213, %rd212, %rd281;
add.s64 %rd214, %rd282, -6671356733746193914;
xor.b64 %rd215, %rd214, %rd280;
or.b64 %rd216, %rd215, %rd213;
add.s64 %rd217, %rd282, 8439708973090260745;
xor.b64 %rd218, %rd217, %rd279;
or.b64 %rd219, %rd216, %rd218;
add.s64 %rd220, %rd282, 5104030606217163788;
xor.b64 %rd221, %rd220, %rd278;
or.b64 %rd222, %rd219, %rd221;
add.s64 %rd223, %rd282, 1768352239344066831;
xor.b64 %rd224, %rd223, %rd277;
or.b64 %rd225, %rd222, %rd224;
add.s64 %rd226, %rd282, -1567326127529030126;
xor.b64 %rd227, %rd226, %rd276;
or.b64 %rd124, %rd225, %rd227;
add.s64 %rd339, %rd339, 1;
add.s64 %rd228, %rd276, %rd335;
add.s64 %rd229, %rd228, %rd277;
add.s64 %rd230, %rd229, %rd278;
add.s64 %rd231, %rd230, %rd279;
add.s64 %rd232, %rd231, %rd280;
add.s64 %rd233, %rd232, %rd281;
add.s64 %rd335, %rd233, %rd282;
mul.lo.s64 %rd234, %rd123, -7046029254386353131;
xor.b64 %rd235, %rd282, %rd234;
or.b64 %rd236, %rd124, %rd235;
setp.eq.s64 %p31, %rd236, 0;
@%p31 bra LBB3_28;
mul.lo.s64 %rd237, %rd282, -1018231460777725123;
sub.s64 %rd238, %rd237, %rd123;
setp.ne.s64 %p32, %rd124, 0;
setp.gt.s64 %p33, %rd238, 1099511627776;
or.pred %p34, %p32, %p33;
setp.lt.s64 %p35, %rd238, -1099511627776;
or.pred %p36, %p34, %p35;
selp.u64 %rd239, 1, 0, %p36;
add.s64 %rd338, %rd338, %rd239;
setp.lt.s64 %p37, %rd238, 0;
not.pred %p38, %p36;
and.pred %p39, %p38, %p37;
selp.u64 %rd240, 1, 0, %p39;
add.s64 %rd337, %rd337, %rd240;
setp.gt.s64 %p40, %rd238, 0;
and.pred %p41, %p38, %p40;
selp.u64 %rd241, 1, 0, %p41;
add.s64 %rd336, %rd336, %rd241;
bra.uni LBB3_28;
LBB3_29:
setp.ne.s32 %p27, %r25, 0;
mov.u64 %rd243, 1;
@%p27 bra LBB3_31;
add.s64 %rd201, %rd210, 8;
st.release.sys.u64 [%rd201], %rd243;
LBB3_31:
cvt.s64.s32 %rd203, %r55;
shl.b64 %rd204, %rd10, 6;
add.s64 %rd205, %rd1, %rd204;
st.global.u64 [%rd205], %rd339;
st.global.u64 [%rd205+8], %rd338;
st.global.u64 [%rd205+16], %rd337;
st.global.u64 [%rd205+24], %rd336;
st.global.u64 [%rd205+32], %rd335;
st.global.u64 [%rd205+40], %rd203;
st.global.u64 [%rd205+48], %rd243;
mov.u64 %rd207, 0;
st.global.u64 [%rd205+56], %rd207;
@%p27 bra LBB3_33;
st.relaxed.sys.u64 [%rd208], %rd309;
LBB3_33:
bar.warp.sync %r22;
@%p27 bra LBB3_35;
st.release.sys.u64 [%rd210], %rd309;
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
.reg .pred %p<46>;
.reg .b32 %r<22>;
.reg .b64 %rd<428>;
ld.param.u64 %rd178, [barmap_ring_sink_thread_112_param_2];
cvta.to.global.u64 %rd1, %rd178;
ld.param.u64 %rd179, [barmap_ring_sink_thread_112_param_0];
cvta.to.global.u64 %rd2, %rd179;
ld.param.u64 %rd222, [barmap_ring_sink_thread_112_param_0+8];
ld.param.u64 %rd264, [barmap_ring_sink_thread_112_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_112_param_0+24];
add.s64 %rd262, %rd222, 8;
ld.relaxed.sys.u64 %rd413, [%rd262];
and.b64 %rd180, %rd413, %rd5;
shl.b64 %rd181, %rd180, 7;
add.s64 %rd412, %rd2, %rd181;
setp.lt.u64 %p10, %rd5, 4;
add.s64 %rd182, %rd5, 1;
shr.u64 %rd183, %rd182, 2;
selp.b64 %rd9, 1, %rd183, %p10;
ld.param.u64 %rd10, [barmap_ring_sink_thread_112_param_1+16];
setp.eq.s64 %p11, %rd10, 0;
selp.b32 %r1, 2, 4, %p11;
mov.u64 %rd326, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_112_param_1];
mov.pred %p12, 0;
mov.u32 %r15, 3;
mov.u64 %rd411, %rd9;
mov.u64 %rd330, %rd326;
mov.u64 %rd331, %rd326;
mov.u64 %rd332, %rd326;
mov.u64 %rd333, %rd326;
LBB4_1:
mov.u64 %rd365, %rd10;
bra.uni LBB4_2;
LBB4_21:
setp.gt.u64 %p45, %rd365, 63;
selp.b32 %r21, %r1, %r21, %p13;
LBB4_22:
add.s64 %rd365, %rd365, -64;
@%p45 bra LBB4_2;
bra.uni LBB4_23;
LBB4_2:
setp.lt.u64 %p13, %rd365, 64;
cvt.u32.u64 %r10, %rd365;
add.s32 %r11, %r10, 1;
selp.b32 %r3, %r11, 64, %p13;
setp.eq.s32 %p14, %r3, 0;
mov.pred %p43, %p12;
@%p14 bra LBB4_12;
cvta.global.u64 %rd52, %rd412;
add.s64 %rd53, %rd413, 1;
add.s64 %rd54, %rd52, 56;
add.s64 %rd55, %rd52, 120;
add.s64 %rd56, %rd52, 8;
add.s64 %rd57, %rd52, 16;
add.s64 %rd58, %rd52, 24;
add.s64 %rd59, %rd52, 32;
add.s64 %rd60, %rd52, 40;
add.s64 %rd61, %rd52, 48;
add.s64 %rd62, %rd52, 64;
add.s64 %rd63, %rd52, 72;
add.s64 %rd64, %rd52, 80;
add.s64 %rd65, %rd52, 88;
add.s64 %rd66, %rd52, 96;
add.s64 %rd67, %rd52, 104;
add.s64 %rd68, %rd52, 112;
mov.u32 %r19, 0;
mov.pred %p43, -1;
LBB4_4:
ld.acquire.sys.u64 %rd184, [%rd54];
setp.ne.s64 %p17, %rd184, %rd53;
mov.pred %p42, 0;
@%p17 bra LBB4_6;
ld.acquire.sys.u64 %rd186, [%rd55];
setp.eq.s64 %p42, %rd186, %rd53;
LBB4_6:
@!%p42 bra LBB4_8;
bra.uni LBB4_7;
LBB4_7:
ld.relaxed.sys.u64 %rd379, [%rd52];
ld.relaxed.sys.u64 %rd378, [%rd56];
ld.relaxed.sys.u64 %rd377, [%rd57];
ld.relaxed.sys.u64 %rd376, [%rd58];
ld.relaxed.sys.u64 %rd375, [%rd59];
ld.relaxed.sys.u64 %rd374, [%rd60];
ld.relaxed.sys.u64 %rd373, [%rd61];
ld.relaxed.sys.u64 %rd372, [%rd62];
ld.relaxed.sys.u64 %rd371, [%rd63];
ld.relaxed.sys.u64 %rd370, [%rd64];
ld.relaxed.sys.u64 %rd369, [%rd65];
ld.relaxed.sys.u64 %rd368, [%rd66];
ld.relaxed.sys.u64 %rd367, [%rd67];
ld.relaxed.sys.u64 %rd366, [%rd68];
LBB4_8:
@!%p42 bra LBB4_11;
bra.uni LBB4_9;
LBB4_11:
add.s32 %r19, %r19, 1;
setp.lt.u32 %p43, %r19, %r3;
setp.ne.s32 %p18, %r3, %r19;
@%p18 bra LBB4_4;
bra.uni LBB4_12;
LBB4_9:
and.b64 %rd217, %rd53, %rd5;
shl.b64 %rd218, %rd217, 7;
add.s64 %rd412, %rd2, %rd218;
add.s64 %rd411, %rd411, -1;
setp.ne.s64 %p19, %rd411, 0;
mov.u32 %r21, 0;
mov.u64 %rd413, %rd53;
mov.u64 %rd414, %rd366;
mov.u64 %rd415, %rd367;
mov.u64 %rd416, %rd368;
mov.u64 %rd417, %rd369;
mov.u64 %rd418, %rd370;
mov.u64 %rd419, %rd371;
mov.u64 %rd420, %rd372;
mov.u64 %rd421, %rd373;
mov.u64 %rd422, %rd374;
mov.u64 %rd423, %rd375;
mov.u64 %rd424, %rd376;
mov.u64 %rd425, %rd377;
mov.u64 %rd426, %rd378;
mov.u64 %rd427, %rd379;
@%p19 bra LBB4_12;
st.release.sys.u64 [%rd264], %rd53;
mov.u64 %rd411, %rd9;
mov.u64 %rd413, %rd53;
mov.u64 %rd414, %rd366;
mov.u64 %rd415, %rd367;
mov.u64 %rd416, %rd368;
mov.u64 %rd417, %rd369;
mov.u64 %rd418, %rd370;
mov.u64 %rd419, %rd371;
mov.u64 %rd420, %rd372;
mov.u64 %rd421, %rd373;
mov.u64 %rd422, %rd374;
mov.u64 %rd423, %rd375;
mov.u64 %rd424, %rd376;
mov.u64 %rd425, %rd377;
mov.u64 %rd426, %rd378;
mov.u64 %rd427, %rd379;
LBB4_12:
mov.pred %p45, %p12;
@%p43 bra LBB4_22;
ld.acquire.sys.u64 %rd221, [%rd222];
setp.eq.s64 %p21, %rd221, 0;
@%p21 bra LBB4_21;
cvta.global.u64 %rd229, %rd412;
add.s64 %rd259, %rd413, 1;
add.s64 %rd224, %rd229, 56;
ld.acquire.sys.u64 %rd223, [%rd224];
setp.ne.s64 %p23, %rd223, %rd259;
mov.pred %p44, %p12;
@%p23 bra LBB4_16;
add.s64 %rd226, %rd229, 120;
ld.acquire.sys.u64 %rd225, [%rd226];
setp.eq.s64 %p44, %rd225, %rd259;
LBB4_16:
@!%p44 bra LBB4_18;
bra.uni LBB4_17;
LBB4_17:
ld.relaxed.sys.u64 %rd410, [%rd229];
add.s64 %rd231, %rd229, 8;
ld.relaxed.sys.u64 %rd409, [%rd231];
add.s64 %rd233, %rd229, 16;
ld.relaxed.sys.u64 %rd408, [%rd233];
add.s64 %rd235, %rd229, 24;
ld.relaxed.sys.u64 %rd407, [%rd235];
add.s64 %rd237, %rd229, 32;
ld.relaxed.sys.u64 %rd406, [%rd237];
add.s64 %rd239, %rd229, 40;
ld.relaxed.sys.u64 %rd405, [%rd239];
add.s64 %rd241, %rd229, 48;
ld.relaxed.sys.u64 %rd404, [%rd241];
add.s64 %rd243, %rd229, 64;
ld.relaxed.sys.u64 %rd403, [%rd243];
add.s64 %rd245, %rd229, 72;
ld.relaxed.sys.u64 %rd402, [%rd245];
add.s64 %rd247, %rd229, 80;
ld.relaxed.sys.u64 %rd401, [%rd247];
add.s64 %rd249, %rd229, 88;
ld.relaxed.sys.u64 %rd400, [%rd249];
add.s64 %rd251, %rd229, 96;
ld.relaxed.sys.u64 %rd399, [%rd251];
add.s64 %rd253, %rd229, 104;
ld.relaxed.sys.u64 %rd398, [%rd253];
add.s64 %rd255, %rd229, 112;
ld.relaxed.sys.u64 %rd397, [%rd255];
LBB4_18:
mov.u32 %r21, %r15;
mov.pred %p45, %p12;
@!%p44 bra LBB4_22;
bra.uni LBB4_19;
LBB4_19:
and.b64 %rd256, %rd259, %rd5;
shl.b64 %rd257, %rd256, 7;
add.s64 %rd412, %rd2, %rd257;
add.s64 %rd411, %rd411, -1;
setp.ne.s64 %p26, %rd411, 0;
mov.u32 %r21, 0;
mov.u64 %rd413, %rd259;
mov.u64 %rd414, %rd397;
mov.u64 %rd415, %rd398;
mov.u64 %rd416, %rd399;
mov.u64 %rd417, %rd400;
mov.u64 %rd418, %rd401;
mov.u64 %rd419, %rd402;
mov.u64 %rd420, %rd403;
mov.u64 %rd421, %rd404;
mov.u64 %rd422, %rd405;
mov.u64 %rd423, %rd406;
mov.u64 %rd424, %rd407;
mov.u64 %rd425, %rd408;
mov.u64 %rd426, %rd409;
mov.u64 %rd427, %rd410;
mov.pred %p45, %p12;
@%p26 bra LBB4_22;
st.release.sys.u64 [%rd264], %rd259;
mov.u64 %rd411, %rd9;
mov.u64 %rd413, %rd259;
mov.u64 %rd414, %rd397;
mov.u64 %rd415, %rd398;
mov.u64 %rd416, %rd399;
mov.u64 %rd417, %rd400;
mov.u64 %rd418, %rd401;
mov.u64 %rd419, %rd402;
mov.u64 %rd420, %rd403;
mov.u64 %rd421, %rd404;
mov.u64 %rd422, %rd405;
mov.u64 %rd423, %rd406;
mov.u64 %rd424, %rd407;
mov.u64 %rd425, %rd408;
mov.u64 %rd426, %rd409;
mov.u64 %rd427, %rd410;
mov.pred %p45, %p12;
bra.uni LBB4_22;
LBB4_23:
setp.ne.s32 %p29, %r21, 0;
@%p29 bra LBB4_26;
add.s64 %rd167, %rd11, %rd333;
add.s64 %rd268, %rd427, -3335678366873096957;
xor.b64 %rd269, %rd268, %rd426;
add.s64 %rd270, %rd427, -6671356733746193914;
xor.b64 %rd271, %rd270, %rd425;
or.b64 %rd272, %rd271, %rd269;
add.s64 %rd273, %rd427, 8439708973090260745;
xor.b64 %rd274, %rd273, %rd424;
or.b64 %rd275, %rd272, %rd274;
add.s64 %rd276, %rd427, 5104030606217163788;
xor.b64 %rd277, %rd276, %rd423;
or.b64 %rd278, %rd275, %rd277;
add.s64 %rd279, %rd427, 1768352239344066831;
xor.b64 %rd280, %rd279, %rd422;
or.b64 %rd281, %rd278, %rd280;
add.s64 %rd282, %rd427, -1567326127529030126;
xor.b64 %rd283, %rd282, %rd421;
or.b64 %rd284, %rd281, %rd283;
add.s64 %rd285, %rd427, -4903004494402127083;
xor.b64 %rd286, %rd285, %rd420;
or.b64 %rd287, %rd284, %rd286;
add.s64 %rd288, %rd427, -8238682861275224040;
xor.b64 %rd289, %rd288, %rd419;
or.b64 %rd290, %rd287, %rd289;
add.s64 %rd291, %rd427, 6872382845561230619;
xor.b64 %rd292, %rd291, %rd418;
or.b64 %rd293, %rd290, %rd292;
add.s64 %rd294, %rd427, 3536704478688133662;
xor.b64 %rd295, %rd294, %rd417;
or.b64 %rd296, %rd293, %rd295;
add.s64 %rd297, %rd427, 201026111815036705;
xor.b64 %rd298, %rd297, %rd416;
or.b64 %rd299, %rd296, %rd298;
add.s64 %rd300, %rd427, -3134652255058060252;
xor.b64 %rd301, %rd300, %rd415;
or.b64 %rd302, %rd299, %rd301;
add.s64 %rd303, %rd427, -6470330621931157209;
xor.b64 %rd304, %rd303, %rd414;
or.b64 %rd168, %rd302, %rd304;
add.s64 %rd333, %rd333, 1;
add.s64 %rd305, %rd414, %rd326;
add.s64 %rd306, %rd305, %rd415;
add.s64 %rd307, %rd306, %rd416;
add.s64 %rd308, %rd307, %rd417;
add.s64 %rd309, %rd308, %rd418;
add.s64 %rd310, %rd309, %rd419;
add.s64 %rd311, %rd310, %rd420;
add.s64 %rd312, %rd311, %rd421;
add.s64 %rd313, %rd312, %rd422;
add.s64 %rd314, %rd313, %rd423;
add.s64 %rd315, %rd314, %rd424;
add.s64 %rd316, %rd315, %rd425;
add.s64 %rd317, %rd316, %rd426;
add.s64 %rd326, %rd317, %rd427;
mul.lo.s64 %rd318, %rd167, -7046029254386353131;
xor.b64 %rd319, %rd318, %rd427;
or.b64 %rd320, %rd319, %rd168;
setp.eq.s64 %p30, %rd320, 0;
@%p30 bra LBB4_1;
mul.lo.s64 %rd321, %rd427, -1018231460777725123;
sub.s64 %rd322, %rd321, %rd167;
setp.ne.s64 %p31, %rd168, 0;
setp.gt.s64 %p32, %rd322, 1099511627776;
or.pred %p33, %p31, %p32;
setp.lt.s64 %p34, %rd322, -1099511627776;
or.pred %p35, %p33, %p34;
selp.u64 %rd323, 1, 0, %p35;
add.s64 %rd332, %rd332, %rd323;
setp.lt.s64 %p36, %rd322, 0;
not.pred %p37, %p35;
and.pred %p38, %p37, %p36;
selp.u64 %rd324, 1, 0, %p38;
add.s64 %rd331, %rd331, %rd324;
setp.gt.s64 %p39, %rd322, 0;
and.pred %p40, %p37, %p39;
selp.u64 %rd325, 1, 0, %p40;
add.s64 %rd330, %rd330, %rd325;
bra.uni LBB4_1;
LBB4_26:
add.s64 %rd260, %rd264, 8;
mov.u64 %rd261, 1;
st.release.sys.u64 [%rd260], %rd261;
cvt.s64.s32 %rd266, %r21;
st.global.u64 [%rd1], %rd333;
st.global.u64 [%rd1+8], %rd332;
st.global.u64 [%rd1+16], %rd331;
st.global.u64 [%rd1+24], %rd330;
st.global.u64 [%rd1+32], %rd326;
st.global.u64 [%rd1+40], %rd266;
st.global.u64 [%rd1+48], %rd261;
mov.u64 %rd267, 0;
st.global.u64 [%rd1+56], %rd267;
st.relaxed.sys.u64 [%rd262], %rd413;
st.release.sys.u64 [%rd264], %rd413;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_112(
.param .align 8 .b8 barmap_ring_sink_warp_112_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_112_param_1[24],
.param .u64 barmap_ring_sink_warp_112_param_2
)
{
.reg .pred %p<46>;
.reg .b32 %r<65>;
.reg .b64 %rd<556>;
ld.param.u64 %rd229, [barmap_ring_sink_warp_112_param_2];
cvta.to.global.u64 %rd1, %rd229;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd230, [barmap_ring_sink_warp_112_param_0];
cvta.to.global.u64 %rd2, %rd230;
ld.param.u64 %rd277, [barmap_ring_sink_warp_112_param_0+8];
ld.param.u64 %rd328, [barmap_ring_sink_warp_112_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_112_param_0+24];
add.s64 %rd326, %rd277, 8;
ld.relaxed.sys.u64 %rd457, [%rd326];
ld.param.u64 %rd411, [barmap_ring_sink_warp_112_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd231, %rd5, 1;
shr.u64 %rd232, %rd231, 2;
selp.b64 %rd9, 1, %rd232, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_112_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd227, 0;
mov.u32 %r24, 0;
mov.u32 %r27, -1;
mov.pred %p27, -1;
mov.pred %p24, 0;
mov.u64 %rd551, %rd227;
mov.u64 %rd504, %rd457;
mov.u64 %rd552, %rd227;
mov.u64 %rd553, %rd227;
mov.u64 %rd554, %rd227;
mov.u64 %rd555, %rd227;
bra.uni LBB5_1;
LBB5_32:
cvt.u64.u32 %rd388, %r59;
add.s64 %rd411, %rd411, %rd388;
LBB5_1:
mov.u64 %rd428, %rd227;
bra.uni LBB5_2;
LBB5_26:
mov.pred %p45, %p27;
LBB5_27:
add.s64 %rd428, %rd428, 1;
mov.u32 %r64, %r60;
@%p45 bra LBB5_2;
bra.uni LBB5_28;
LBB5_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd51, %r23;
add.s64 %rd236, %rd504, %rd51;
and.b64 %rd237, %rd236, %rd5;
shl.b64 %rd238, %rd237, 7;
add.s64 %rd239, %rd2, %rd238;
cvta.global.u64 %rd244, %rd239;
add.s64 %rd53, %rd236, 1;
add.s64 %rd235, %rd244, 56;
ld.acquire.sys.u64 %rd234, [%rd235];
setp.ne.s64 %p6, %rd234, %rd53;
mov.u32 %r55, %r24;
@%p6 bra LBB5_4;
add.s64 %rd241, %rd244, 120;
ld.acquire.sys.u64 %rd240, [%rd241];
setp.eq.s64 %p7, %rd240, %rd53;
selp.u32 %r55, 1, 0, %p7;
LBB5_4:
cvt.u32.u64 %r30, %rd51;
{ .reg .pred p; setp.ne.u32 p, %r55, 0; vote.sync.ballot.b32 %r25, p, %r27; }
not.b32 %r29, %r25;
{ .reg .b32 r; brev.b32 r, %r29; bfind.shiftamt.u32 %r28, r; }
min.u32 %r59, %r28, 32;
setp.ge.u32 %p8, %r30, %r59;
@%p8 bra LBB5_6;
ld.relaxed.sys.u64 %rd442, [%rd244];
add.s64 %rd246, %rd244, 8;
ld.relaxed.sys.u64 %rd441, [%rd246];
add.s64 %rd248, %rd244, 16;
ld.relaxed.sys.u64 %rd440, [%rd248];
add.s64 %rd250, %rd244, 24;
ld.relaxed.sys.u64 %rd439, [%rd250];
add.s64 %rd252, %rd244, 32;
ld.relaxed.sys.u64 %rd438, [%rd252];
add.s64 %rd254, %rd244, 40;
ld.relaxed.sys.u64 %rd437, [%rd254];
add.s64 %rd256, %rd244, 48;
ld.relaxed.sys.u64 %rd436, [%rd256];
add.s64 %rd258, %rd244, 64;
ld.relaxed.sys.u64 %rd435, [%rd258];
add.s64 %rd260, %rd244, 72;
ld.relaxed.sys.u64 %rd434, [%rd260];
add.s64 %rd262, %rd244, 80;
ld.relaxed.sys.u64 %rd433, [%rd262];
add.s64 %rd264, %rd244, 88;
ld.relaxed.sys.u64 %rd432, [%rd264];
add.s64 %rd266, %rd244, 96;
ld.relaxed.sys.u64 %rd431, [%rd266];
add.s64 %rd268, %rd244, 104;
ld.relaxed.sys.u64 %rd430, [%rd268];
add.s64 %rd270, %rd244, 112;
ld.relaxed.sys.u64 %rd429, [%rd270];
LBB5_6:
@%p8 bra LBB5_8;
mov.u64 %rd443, %rd429;
mov.u64 %rd444, %rd430;
mov.u64 %rd445, %rd431;
mov.u64 %rd446, %rd432;
mov.u64 %rd447, %rd433;
mov.u64 %rd448, %rd434;
mov.u64 %rd449, %rd435;
mov.u64 %rd450, %rd436;
mov.u64 %rd451, %rd437;
mov.u64 %rd452, %rd438;
mov.u64 %rd453, %rd439;
mov.u64 %rd454, %rd440;
mov.u64 %rd455, %rd441;
mov.u64 %rd456, %rd442;
LBB5_8:
cvt.u64.u32 %rd271, %r59;
add.s64 %rd504, %rd504, %rd271;
sub.s64 %rd272, %rd504, %rd457;
setp.lt.u64 %p10, %rd272, %rd9;
@%p10 bra LBB5_11;
bar.warp.sync %r27;
setp.ne.s32 %p11, %r30, 0;
mov.u64 %rd457, %rd504;
@%p11 bra LBB5_11;
st.release.sys.u64 [%rd328], %rd504;
mov.u64 %rd457, %rd504;
LBB5_11:
setp.ne.s32 %p12, %r59, 0;
mov.u32 %r64, 0;
@%p12 bra LBB5_28;
setp.lt.u64 %p44, %rd428, %rd11;
and.b64 %rd275, %rd428, 63;
setp.ne.s64 %p13, %rd275, 63;
and.pred %p14, %p44, %p13;
mov.u32 %r59, 0;
@%p14 bra LBB5_26;
ld.acquire.sys.u64 %rd276, [%rd277];
setp.ne.s64 %p15, %rd276, 0;
selp.u32 %r37, 1, 0, %p15;
{ .reg .pred p; setp.ne.u32 p, %r37, 0; vote.sync.ballot.b32 %r36, p, %r27; }
not.b32 %r40, %r36;
{ .reg .b32 r; brev.b32 r, %r40; bfind.shiftamt.u32 %r39, r; }
setp.lt.u32 %p16, %r39, 32;
@%p16 bra LBB5_24;
add.s64 %rd280, %rd504, %rd51;
and.b64 %rd281, %rd280, %rd5;
shl.b64 %rd282, %rd281, 7;
add.s64 %rd283, %rd2, %rd282;
cvta.global.u64 %rd288, %rd283;
add.s64 %rd100, %rd280, 1;
add.s64 %rd279, %rd288, 56;
ld.acquire.sys.u64 %rd278, [%rd279];
setp.ne.s64 %p18, %rd278, %rd100;
mov.u32 %r56, 0;
@%p18 bra LBB5_16;
add.s64 %rd285, %rd288, 120;
ld.acquire.sys.u64 %rd284, [%rd285];
setp.eq.s64 %p19, %rd284, %rd100;
selp.u32 %r56, 1, 0, %p19;
LBB5_16:
{ .reg .pred p; setp.ne.u32 p, %r56, 0; vote.sync.ballot.b32 %r43, p, %r27; }
not.b32 %r47, %r43;
{ .reg .b32 r; brev.b32 r, %r47; bfind.shiftamt.u32 %r46, r; }
min.u32 %r59, %r46, 32;
setp.ge.u32 %p20, %r30, %r59;
@%p20 bra LBB5_18;
ld.relaxed.sys.u64 %rd471, [%rd288];
add.s64 %rd290, %rd288, 8;
ld.relaxed.sys.u64 %rd470, [%rd290];
add.s64 %rd292, %rd288, 16;
ld.relaxed.sys.u64 %rd469, [%rd292];
add.s64 %rd294, %rd288, 24;
ld.relaxed.sys.u64 %rd468, [%rd294];
add.s64 %rd296, %rd288, 32;
ld.relaxed.sys.u64 %rd467, [%rd296];
add.s64 %rd298, %rd288, 40;
ld.relaxed.sys.u64 %rd466, [%rd298];
add.s64 %rd300, %rd288, 48;
ld.relaxed.sys.u64 %rd465, [%rd300];
add.s64 %rd302, %rd288, 64;
ld.relaxed.sys.u64 %rd464, [%rd302];
add.s64 %rd304, %rd288, 72;
ld.relaxed.sys.u64 %rd463, [%rd304];
add.s64 %rd306, %rd288, 80;
ld.relaxed.sys.u64 %rd462, [%rd306];
add.s64 %rd308, %rd288, 88;
ld.relaxed.sys.u64 %rd461, [%rd308];
add.s64 %rd310, %rd288, 96;
ld.relaxed.sys.u64 %rd460, [%rd310];
add.s64 %rd312, %rd288, 104;
ld.relaxed.sys.u64 %rd459, [%rd312];
add.s64 %rd314, %rd288, 112;
ld.relaxed.sys.u64 %rd458, [%rd314];
LBB5_18:
@%p20 bra LBB5_20;
mov.u64 %rd443, %rd458;
mov.u64 %rd444, %rd459;
mov.u64 %rd445, %rd460;
mov.u64 %rd446, %rd461;
mov.u64 %rd447, %rd462;
mov.u64 %rd448, %rd463;
mov.u64 %rd449, %rd464;
mov.u64 %rd450, %rd465;
mov.u64 %rd451, %rd466;
mov.u64 %rd452, %rd467;
mov.u64 %rd453, %rd468;
mov.u64 %rd454, %rd469;
mov.u64 %rd455, %rd470;
mov.u64 %rd456, %rd471;
LBB5_20:
cvt.u64.u32 %rd315, %r59;
add.s64 %rd504, %rd504, %rd315;
sub.s64 %rd316, %rd504, %rd457;
setp.lt.u64 %p22, %rd316, %rd9;
@%p22 bra LBB5_23;
bar.warp.sync %r27;
setp.ne.s32 %p23, %r30, 0;
mov.u64 %rd457, %rd504;
@%p23 bra LBB5_23;
st.release.sys.u64 [%rd328], %rd504;
mov.u64 %rd457, %rd504;
LBB5_23:
setp.eq.s32 %p25, %r59, 0;
selp.b32 %r60, 3, 0, %p25;
mov.pred %p44, %p24;
bra.uni LBB5_25;
LBB5_24:
setp.lt.u64 %p17, %rd428, %rd11;
selp.b32 %r60, %r60, %r1, %p17;
mov.u32 %r59, 0;
LBB5_25:
mov.pred %p45, %p24;
@!%p44 bra LBB5_27;
bra.uni LBB5_26;
LBB5_28:
setp.ne.s32 %p28, %r64, 0;
@%p28 bra LBB5_33;
cvt.u32.u64 %r53, %rd10;
setp.le.u32 %p32, %r59, %r53;
@%p32 bra LBB5_32;
add.s64 %rd211, %rd411, %rd10;
add.s64 %rd330, %rd456, -3335678366873096957;
xor.b64 %rd331, %rd330, %rd455;
add.s64 %rd332, %rd456, -6671356733746193914;
xor.b64 %rd333, %rd332, %rd454;
or.b64 %rd334, %rd333, %rd331;
add.s64 %rd335, %rd456, 8439708973090260745;
xor.b64 %rd336, %rd335, %rd453;
or.b64 %rd337, %rd334, %rd336;
add.s64 %rd338, %rd456, 5104030606217163788;
xor.b64 %rd339, %rd338, %rd452;
or.b64 %rd340, %rd337, %rd339;
add.s64 %rd341, %rd456, 1768352239344066831;
xor.b64 %rd342, %rd341, %rd451;
or.b64 %rd343, %rd340, %rd342;
add.s64 %rd344, %rd456, -1567326127529030126;
xor.b64 %rd345, %rd344, %rd450;
or.b64 %rd346, %rd343, %rd345;
add.s64 %rd347, %rd456, -4903004494402127083;
xor.b64 %rd348, %rd347, %rd449;
or.b64 %rd349, %rd346, %rd348;
add.s64 %rd350, %rd456, -8238682861275224040;
xor.b64 %rd351, %rd350, %rd448;
or.b64 %rd352, %rd349, %rd351;
add.s64 %rd353, %rd456, 6872382845561230619;
xor.b64 %rd354, %rd353, %rd447;
or.b64 %rd355, %rd352, %rd354;
add.s64 %rd356, %rd456, 3536704478688133662;
xor.b64 %rd357, %rd356, %rd446;
or.b64 %rd358, %rd355, %rd357;
add.s64 %rd359, %rd456, 201026111815036705;
xor.b64 %rd360, %rd359, %rd445;
or.b64 %rd361, %rd358, %rd360;
add.s64 %rd362, %rd456, -3134652255058060252;
xor.b64 %rd363, %rd362, %rd444;
or.b64 %rd364, %rd361, %rd363;
add.s64 %rd365, %rd456, -6470330621931157209;
xor.b64 %rd366, %rd365, %rd443;
or.b64 %rd212, %rd364, %rd366;
add.s64 %rd555, %rd555, 1;
add.s64 %rd367, %rd443, %rd551;
add.s64 %rd368, %rd367, %rd444;
add.s64 %rd369, %rd368, %rd445;
add.s64 %rd370, %rd369, %rd446;
add.s64 %rd371, %rd370, %rd447;
add.s64 %rd372, %rd371, %rd448;
add.s64 %rd373, %rd372, %rd449;
add.s64 %rd374, %rd373, %rd450;
add.s64 %rd375, %rd374, %rd451;
add.s64 %rd376, %rd375, %rd452;
add.s64 %rd377, %rd376, %rd453;
add.s64 %rd378, %rd377, %rd454;
add.s64 %rd379, %rd378, %rd455;
add.s64 %rd551, %rd379, %rd456;
mul.lo.s64 %rd380, %rd211, -7046029254386353131;
xor.b64 %rd381, %rd456, %rd380;
or.b64 %rd382, %rd212, %rd381;
setp.eq.s64 %p33, %rd382, 0;
@%p33 bra LBB5_32;
mul.lo.s64 %rd383, %rd456, -1018231460777725123;
sub.s64 %rd384, %rd383, %rd211;
setp.ne.s64 %p34, %rd212, 0;
setp.gt.s64 %p35, %rd384, 1099511627776;
or.pred %p36, %p34, %p35;
setp.lt.s64 %p37, %rd384, -1099511627776;
or.pred %p38, %p36, %p37;
selp.u64 %rd385, 1, 0, %p38;
add.s64 %rd554, %rd554, %rd385;
setp.lt.s64 %p39, %rd384, 0;
not.pred %p40, %p38;
and.pred %p41, %p40, %p39;
selp.u64 %rd386, 1, 0, %p41;
add.s64 %rd553, %rd553, %rd386;
setp.gt.s64 %p42, %rd384, 0;
and.pred %p43, %p40, %p42;
selp.u64 %rd387, 1, 0, %p43;
add.s64 %rd552, %rd552, %rd387;
bra.uni LBB5_32;
LBB5_33:
setp.ne.s32 %p29, %r30, 0;
mov.u64 %rd389, 1;
@%p29 bra LBB5_35;
add.s64 %rd319, %rd328, 8;
st.release.sys.u64 [%rd319], %rd389;
LBB5_35:
cvt.s64.s32 %rd321, %r64;
shl.b64 %rd322, %rd10, 6;
add.s64 %rd323, %rd1, %rd322;
st.global.u64 [%rd323], %rd555;
st.global.u64 [%rd323+8], %rd554;
st.global.u64 [%rd323+16], %rd553;
st.global.u64 [%rd323+24], %rd552;
st.global.u64 [%rd323+32], %rd551;
st.global.u64 [%rd323+40], %rd321;
st.global.u64 [%rd323+48], %rd389;
mov.u64 %rd325, 0;
st.global.u64 [%rd323+56], %rd325;
@%p29 bra LBB5_37;
st.relaxed.sys.u64 [%rd326], %rd504;
LBB5_37:
bar.warp.sync %r27;
@%p29 bra LBB5_39;
st.release.sys.u64 [%rd328], %rd504;
LBB5_39:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_224(
.param .align 8 .b8 barmap_ring_sink_thread_224_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_224_param_1[24],
.param .u64 barmap_ring_sink_thread_224_param_2
)
{
.reg .pred %p<54>;
.reg .b32 %r<22>;
.reg .b64 %rd<760>;
ld.param.u64 %rd306, [barmap_ring_sink_thread_224_param_2];
cvta.to.global.u64 %rd1, %rd306;
ld.param.u64 %rd307, [barmap_ring_sink_thread_224_param_0];
cvta.to.global.u64 %rd2, %rd307;
ld.param.u64 %rd382, [barmap_ring_sink_thread_224_param_0+8];
ld.param.u64 %rd456, [barmap_ring_sink_thread_224_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_224_param_0+24];
add.s64 %rd454, %rd382, 8;
ld.relaxed.sys.u64 %rd731, [%rd454];
and.b64 %rd308, %rd731, %rd5;
shl.b64 %rd309, %rd308, 8;
add.s64 %rd730, %rd2, %rd309;
setp.lt.u64 %p10, %rd5, 4;
add.s64 %rd310, %rd5, 1;
shr.u64 %rd311, %rd310, 2;
selp.b64 %rd9, 1, %rd311, %p10;
ld.param.u64 %rd10, [barmap_ring_sink_thread_224_param_1+16];
setp.eq.s64 %p11, %rd10, 0;
selp.b32 %r1, 2, 4, %p11;
mov.u64 %rd574, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_224_param_1];
mov.pred %p12, 0;
mov.u32 %r15, 3;
mov.u64 %rd729, %rd9;
mov.u64 %rd578, %rd574;
mov.u64 %rd579, %rd574;
mov.u64 %rd580, %rd574;
mov.u64 %rd581, %rd574;
LBB6_1:
mov.u64 %rd641, %rd10;
bra.uni LBB6_2;
LBB6_25:
setp.gt.u64 %p53, %rd641, 63;
selp.b32 %r21, %r1, %r21, %p13;
LBB6_26:
add.s64 %rd641, %rd641, -64;
@%p53 bra LBB6_2;
bra.uni LBB6_27;
LBB6_2:
setp.lt.u64 %p13, %rd641, 64;
cvt.u32.u64 %r10, %rd641;
add.s32 %r11, %r10, 1;
selp.b32 %r3, %r11, 64, %p13;
setp.eq.s32 %p14, %r3, 0;
mov.pred %p51, %p12;
@%p14 bra LBB6_14;
cvta.global.u64 %rd80, %rd730;
add.s64 %rd81, %rd731, 1;
add.s64 %rd82, %rd80, 56;
add.s64 %rd83, %rd80, 120;
add.s64 %rd84, %rd80, 184;
add.s64 %rd85, %rd80, 248;
add.s64 %rd86, %rd80, 8;
add.s64 %rd87, %rd80, 16;
add.s64 %rd88, %rd80, 24;
add.s64 %rd89, %rd80, 32;
add.s64 %rd90, %rd80, 40;
add.s64 %rd91, %rd80, 48;
add.s64 %rd92, %rd80, 64;
add.s64 %rd93, %rd80, 72;
add.s64 %rd94, %rd80, 80;
add.s64 %rd95, %rd80, 88;
add.s64 %rd96, %rd80, 96;
add.s64 %rd97, %rd80, 104;
add.s64 %rd98, %rd80, 112;
add.s64 %rd99, %rd80, 128;
add.s64 %rd100, %rd80, 136;
add.s64 %rd101, %rd80, 144;
add.s64 %rd102, %rd80, 152;
add.s64 %rd103, %rd80, 160;
add.s64 %rd104, %rd80, 168;
add.s64 %rd105, %rd80, 176;
add.s64 %rd106, %rd80, 192;
add.s64 %rd107, %rd80, 200;
add.s64 %rd108, %rd80, 208;
add.s64 %rd109, %rd80, 216;
add.s64 %rd110, %rd80, 224;
add.s64 %rd111, %rd80, 232;
add.s64 %rd112, %rd80, 240;
mov.u32 %r19, 0;
mov.pred %p51, -1;
LBB6_4:
ld.acquire.sys.u64 %rd312, [%rd82];
setp.ne.s64 %p17, %rd312, %rd81;
mov.pred %p50, 0;
@%p17 bra LBB6_8;
ld.acquire.sys.u64 %rd314, [%rd83];
setp.ne.s64 %p19, %rd314, %rd81;
@%p19 bra LBB6_8;
ld.acquire.sys.u64 %rd316, [%rd84];
setp.ne.s64 %p21, %rd316, %rd81;
@%p21 bra LBB6_8;
ld.acquire.sys.u64 %rd318, [%rd85];
setp.eq.s64 %p50, %rd318, %rd81;
LBB6_8:
@!%p50 bra LBB6_10;
bra.uni LBB6_9;
LBB6_9:
ld.relaxed.sys.u64 %rd669, [%rd80];
ld.relaxed.sys.u64 %rd668, [%rd86];
ld.relaxed.sys.u64 %rd667, [%rd87];
ld.relaxed.sys.u64 %rd666, [%rd88];
ld.relaxed.sys.u64 %rd665, [%rd89];
ld.relaxed.sys.u64 %rd664, [%rd90];
ld.relaxed.sys.u64 %rd663, [%rd91];
ld.relaxed.sys.u64 %rd662, [%rd92];
ld.relaxed.sys.u64 %rd661, [%rd93];
ld.relaxed.sys.u64 %rd660, [%rd94];
ld.relaxed.sys.u64 %rd659, [%rd95];
ld.relaxed.sys.u64 %rd658, [%rd96];
ld.relaxed.sys.u64 %rd657, [%rd97];
ld.relaxed.sys.u64 %rd656, [%rd98];
ld.relaxed.sys.u64 %rd655, [%rd99];
ld.relaxed.sys.u64 %rd654, [%rd100];
ld.relaxed.sys.u64 %rd653, [%rd101];
ld.relaxed.sys.u64 %rd652, [%rd102];
ld.relaxed.sys.u64 %rd651, [%rd103];
ld.relaxed.sys.u64 %rd650, [%rd104];
ld.relaxed.sys.u64 %rd649, [%rd105];
ld.relaxed.sys.u64 %rd648, [%rd106];
ld.relaxed.sys.u64 %rd647, [%rd107];
ld.relaxed.sys.u64 %rd646, [%rd108];
ld.relaxed.sys.u64 %rd645, [%rd109];
ld.relaxed.sys.u64 %rd644, [%rd110];
ld.relaxed.sys.u64 %rd643, [%rd111];
ld.relaxed.sys.u64 %rd642, [%rd112];
LBB6_10:
@!%p50 bra LBB6_13;
bra.uni LBB6_11;
LBB6_13:
add.s32 %r19, %r19, 1;
setp.lt.u32 %p51, %r19, %r3;
setp.ne.s32 %p22, %r3, %r19;
@%p22 bra LBB6_4;
bra.uni LBB6_14;
LBB6_11:
and.b64 %rd377, %rd81, %rd5;
shl.b64 %rd378, %rd377, 8;
add.s64 %rd730, %rd2, %rd378;
add.s64 %rd729, %rd729, -1;
setp.ne.s64 %p23, %rd729, 0;
mov.u32 %r21, 0;
mov.u64 %rd731, %rd81;
mov.u64 %rd732, %rd642;
mov.u64 %rd733, %rd643;
mov.u64 %rd734, %rd644;
mov.u64 %rd735, %rd645;
mov.u64 %rd736, %rd646;
mov.u64 %rd737, %rd647;
mov.u64 %rd738, %rd648;
mov.u64 %rd739, %rd649;
mov.u64 %rd740, %rd650;
mov.u64 %rd741, %rd651;
mov.u64 %rd742, %rd652;
mov.u64 %rd743, %rd653;
mov.u64 %rd744, %rd654;
mov.u64 %rd745, %rd655;
mov.u64 %rd746, %rd656;
mov.u64 %rd747, %rd657;
mov.u64 %rd748, %rd658;
mov.u64 %rd749, %rd659;
mov.u64 %rd750, %rd660;
mov.u64 %rd751, %rd661;
mov.u64 %rd752, %rd662;
mov.u64 %rd753, %rd663;
mov.u64 %rd754, %rd664;
mov.u64 %rd755, %rd665;
mov.u64 %rd756, %rd666;
mov.u64 %rd757, %rd667;
mov.u64 %rd758, %rd668;
mov.u64 %rd759, %rd669;
@%p23 bra LBB6_14;
st.release.sys.u64 [%rd456], %rd81;
mov.u64 %rd729, %rd9;
mov.u64 %rd731, %rd81;
mov.u64 %rd732, %rd642;
mov.u64 %rd733, %rd643;
mov.u64 %rd734, %rd644;
mov.u64 %rd735, %rd645;
mov.u64 %rd736, %rd646;
mov.u64 %rd737, %rd647;
mov.u64 %rd738, %rd648;
mov.u64 %rd739, %rd649;
mov.u64 %rd740, %rd650;
mov.u64 %rd741, %rd651;
mov.u64 %rd742, %rd652;
mov.u64 %rd743, %rd653;
mov.u64 %rd744, %rd654;
mov.u64 %rd745, %rd655;
mov.u64 %rd746, %rd656;
mov.u64 %rd747, %rd657;
mov.u64 %rd748, %rd658;
mov.u64 %rd749, %rd659;
mov.u64 %rd750, %rd660;
mov.u64 %rd751, %rd661;
mov.u64 %rd752, %rd662;
mov.u64 %rd753, %rd663;
mov.u64 %rd754, %rd664;
mov.u64 %rd755, %rd665;
mov.u64 %rd756, %rd666;
mov.u64 %rd757, %rd667;
mov.u64 %rd758, %rd668;
mov.u64 %rd759, %rd669;
LBB6_14:
mov.pred %p53, %p12;
@%p51 bra LBB6_26;
ld.acquire.sys.u64 %rd381, [%rd382];
setp.eq.s64 %p25, %rd381, 0;
@%p25 bra LBB6_25;
cvta.global.u64 %rd393, %rd730;
add.s64 %rd451, %rd731, 1;
add.s64 %rd384, %rd393, 56;
ld.acquire.sys.u64 %rd383, [%rd384];
setp.ne.s64 %p27, %rd383, %rd451;
mov.pred %p52, %p12;
@%p27 bra LBB6_20;
add.s64 %rd386, %rd393, 120;
ld.acquire.sys.u64 %rd385, [%rd386];
setp.ne.s64 %p29, %rd385, %rd451;
mov.pred %p52, %p12;
@%p29 bra LBB6_20;
add.s64 %rd388, %rd393, 184;
ld.acquire.sys.u64 %rd387, [%rd388];
setp.ne.s64 %p31, %rd387, %rd451;
mov.pred %p52, %p12;
@%p31 bra LBB6_20;
add.s64 %rd390, %rd393, 248;
ld.acquire.sys.u64 %rd389, [%rd390];
setp.eq.s64 %p52, %rd389, %rd451;
LBB6_20:
@!%p52 bra LBB6_22;
bra.uni LBB6_21;
LBB6_21:
ld.relaxed.sys.u64 %rd728, [%rd393];
add.s64 %rd395, %rd393, 8;
ld.relaxed.sys.u64 %rd727, [%rd395];
add.s64 %rd397, %rd393, 16;
ld.relaxed.sys.u64 %rd726, [%rd397];
add.s64 %rd399, %rd393, 24;
ld.relaxed.sys.u64 %rd725, [%rd399];
add.s64 %rd401, %rd393, 32;
ld.relaxed.sys.u64 %rd724, [%rd401];
add.s64 %rd403, %rd393, 40;
ld.relaxed.sys.u64 %rd723, [%rd403];
add.s64 %rd405, %rd393, 48;
ld.relaxed.sys.u64 %rd722, [%rd405];
add.s64 %rd407, %rd393, 64;
ld.relaxed.sys.u64 %rd721, [%rd407];
add.s64 %rd409, %rd393, 72;
ld.relaxed.sys.u64 %rd720, [%rd409];
add.s64 %rd411, %rd393, 80;
ld.relaxed.sys.u64 %rd719, [%rd411];
add.s64 %rd413, %rd393, 88;
ld.relaxed.sys.u64 %rd718, [%rd413];
add.s64 %rd415, %rd393, 96;
ld.relaxed.sys.u64 %rd717, [%rd415];
add.s64 %rd417, %rd393, 104;
ld.relaxed.sys.u64 %rd716, [%rd417];
add.s64 %rd419, %rd393, 112;
ld.relaxed.sys.u64 %rd715, [%rd419];
add.s64 %rd421, %rd393, 128;
ld.relaxed.sys.u64 %rd714, [%rd421];
add.s64 %rd423, %rd393, 136;
ld.relaxed.sys.u64 %rd713, [%rd423];
add.s64 %rd425, %rd393, 144;
ld.relaxed.sys.u64 %rd712, [%rd425];
add.s64 %rd427, %rd393, 152;
ld.relaxed.sys.u64 %rd711, [%rd427];
add.s64 %rd429, %rd393, 160;
ld.relaxed.sys.u64 %rd710, [%rd429];
add.s64 %rd431, %rd393, 168;
ld.relaxed.sys.u64 %rd709, [%rd431];
add.s64 %rd433, %rd393, 176;
ld.relaxed.sys.u64 %rd708, [%rd433];
add.s64 %rd435, %rd393, 192;
ld.relaxed.sys.u64 %rd707, [%rd435];
add.s64 %rd437, %rd393, 200;
ld.relaxed.sys.u64 %rd706, [%rd437];
add.s64 %rd439, %rd393, 208;
ld.relaxed.sys.u64 %rd705, [%rd439];
add.s64 %rd441, %rd393, 216;
ld.relaxed.sys.u64 %rd704, [%rd441];
add.s64 %rd443, %rd393, 224;
ld.relaxed.sys.u64 %rd703, [%rd443];
add.s64 %rd445, %rd393, 232;
ld.relaxed.sys.u64 %rd702, [%rd445];
add.s64 %rd447, %rd393, 240;
ld.relaxed.sys.u64 %rd701, [%rd447];
LBB6_22:
mov.u32 %r21, %r15;
mov.pred %p53, %p12;
@!%p52 bra LBB6_26;
bra.uni LBB6_23;
LBB6_23:
and.b64 %rd448, %rd451, %rd5;
shl.b64 %rd449, %rd448, 8;
add.s64 %rd730, %rd2, %rd449;
add.s64 %rd729, %rd729, -1;
setp.ne.s64 %p34, %rd729, 0;
mov.u32 %r21, 0;
mov.u64 %rd731, %rd451;
mov.u64 %rd732, %rd701;
mov.u64 %rd733, %rd702;
mov.u64 %rd734, %rd703;
mov.u64 %rd735, %rd704;
mov.u64 %rd736, %rd705;
mov.u64 %rd737, %rd706;
mov.u64 %rd738, %rd707;
mov.u64 %rd739, %rd708;
mov.u64 %rd740, %rd709;
mov.u64 %rd741, %rd710;
mov.u64 %rd742, %rd711;
mov.u64 %rd743, %rd712;
mov.u64 %rd744, %rd713;
mov.u64 %rd745, %rd714;
mov.u64 %rd746, %rd715;
mov.u64 %rd747, %rd716;
mov.u64 %rd748, %rd717;
mov.u64 %rd749, %rd718;
mov.u64 %rd750, %rd719;
mov.u64 %rd751, %rd720;
mov.u64 %rd752, %rd721;
mov.u64 %rd753, %rd722;
mov.u64 %rd754, %rd723;
mov.u64 %rd755, %rd724;
mov.u64 %rd756, %rd725;
mov.u64 %rd757, %rd726;
mov.u64 %rd758, %rd727;
mov.u64 %rd759, %rd728;
mov.pred %p53, %p12;
@%p34 bra LBB6_26;
st.release.sys.u64 [%rd456], %rd451;
mov.u64 %rd729, %rd9;
mov.u64 %rd731, %rd451;
mov.u64 %rd732, %rd701;
mov.u64 %rd733, %rd702;
mov.u64 %rd734, %rd703;
mov.u64 %rd735, %rd704;
mov.u64 %rd736, %rd705;
mov.u64 %rd737, %rd706;
mov.u64 %rd738, %rd707;
mov.u64 %rd739, %rd708;
mov.u64 %rd740, %rd709;
mov.u64 %rd741, %rd710;
mov.u64 %rd742, %rd711;
mov.u64 %rd743, %rd712;
mov.u64 %rd744, %rd713;
mov.u64 %rd745, %rd714;
mov.u64 %rd746, %rd715;
mov.u64 %rd747, %rd716;
mov.u64 %rd748, %rd717;
mov.u64 %rd749, %rd718;
mov.u64 %rd750, %rd719;
mov.u64 %rd751, %rd720;
mov.u64 %rd752, %rd721;
mov.u64 %rd753, %rd722;
mov.u64 %rd754, %rd723;
mov.u64 %rd755, %rd724;
mov.u64 %rd756, %rd725;
mov.u64 %rd757, %rd726;
mov.u64 %rd758, %rd727;
mov.u64 %rd759, %rd728;
mov.pred %p53, %p12;
bra.uni LBB6_26;
LBB6_27:
setp.ne.s32 %p37, %r21, 0;
@%p37 bra LBB6_30;
add.s64 %rd295, %rd11, %rd581;
add.s64 %rd460, %rd759, -3335678366873096957;
xor.b64 %rd461, %rd460, %rd758;
add.s64 %rd462, %rd759, -6671356733746193914;
xor.b64 %rd463, %rd462, %rd757;
or.b64 %rd464, %rd463, %rd461;
add.s64 %rd465, %rd759, 8439708973090260745;
xor.b64 %rd466, %rd465, %rd756;
or.b64 %rd467, %rd464, %rd466;
add.s64 %rd468, %rd759, 5104030606217163788;
xor.b64 %rd469, %rd468, %rd755;
or.b64 %rd470, %rd467, %rd469;
add.s64 %rd471, %rd759, 1768352239344066831;
xor.b64 %rd472, %rd471, %rd754;
or.b64 %rd473, %rd470, %rd472;
add.s64 %rd474, %rd759, -1567326127529030126;
xor.b64 %rd475, %rd474, %rd753;
or.b64 %rd476, %rd473, %rd475;
add.s64 %rd477, %rd759, -4903004494402127083;
xor.b64 %rd478, %rd477, %rd752;
or.b64 %rd479, %rd476, %rd478;
add.s64 %rd480, %rd759, -8238682861275224040;
xor.b64 %rd481, %rd480, %rd751;
or.b64 %rd482, %rd479, %rd481;
add.s64 %rd483, %rd759, 6872382845561230619;
xor.b64 %rd484, %rd483, %rd750;
or.b64 %rd485, %rd482, %rd484;
add.s64 %rd486, %rd759, 3536704478688133662;
xor.b64 %rd487, %rd486, %rd749;
or.b64 %rd488, %rd485, %rd487;
add.s64 %rd489, %rd759, 201026111815036705;
xor.b64 %rd490, %rd489, %rd748;
or.b64 %rd491, %rd488, %rd490;
add.s64 %rd492, %rd759, -3134652255058060252;
xor.b64 %rd493, %rd492, %rd747;
or.b64 %rd494, %rd491, %rd493;
add.s64 %rd495, %rd759, -6470330621931157209;
xor.b64 %rd496, %rd495, %rd746;
or.b64 %rd497, %rd494, %rd496;
add.s64 %rd498, %rd759, 8640735084905297450;
xor.b64 %rd499, %rd498, %rd745;
or.b64 %rd500, %rd497, %rd499;
add.s64 %rd501, %rd759, 5305056718032200493;
xor.b64 %rd502, %rd501, %rd744;
or.b64 %rd503, %rd500, %rd502;
add.s64 %rd504, %rd759, 1969378351159103536;
xor.b64 %rd505, %rd504, %rd743;
or.b64 %rd506, %rd503, %rd505;
add.s64 %rd507, %rd759, -1366300015713993421;
xor.b64 %rd508, %rd507, %rd742;
or.b64 %rd509, %rd506, %rd508;
add.s64 %rd510, %rd759, -4701978382587090378;
xor.b64 %rd511, %rd510, %rd741;
or.b64 %rd512, %rd509, %rd511;
add.s64 %rd513, %rd759, -8037656749460187335;
xor.b64 %rd514, %rd513, %rd740;
or.b64 %rd515, %rd512, %rd514;
add.s64 %rd516, %rd759, 7073408957376267324;
xor.b64 %rd517, %rd516, %rd739;
or.b64 %rd518, %rd515, %rd517;
add.s64 %rd519, %rd759, 3737730590503170367;
xor.b64 %rd520, %rd519, %rd738;
or.b64 %rd521, %rd518, %rd520;
add.s64 %rd522, %rd759, 402052223630073410;
xor.b64 %rd523, %rd522, %rd737;
or.b64 %rd524, %rd521, %rd523;
add.s64 %rd525, %rd759, -2933626143243023547;
xor.b64 %rd526, %rd525, %rd736;
or.b64 %rd527, %rd524, %rd526;
add.s64 %rd528, %rd759, -6269304510116120504;
xor.b64 %rd529, %rd528, %rd735;
or.b64 %rd530, %rd527, %rd529;
add.s64 %rd531, %rd759, 8841761196720334155;
xor.b64 %rd532, %rd531, %rd734;
or.b64 %rd533, %rd530, %rd532;
add.s64 %rd534, %rd759, 5506082829847237198;
xor.b64 %rd535, %rd534, %rd733;
or.b64 %rd536, %rd533, %rd535;
add.s64 %rd537, %rd759, 2170404462974140241;
xor.b64 %rd538, %rd537, %rd732;
or.b64 %rd296, %rd536, %rd538;
add.s64 %rd581, %rd581, 1;
add.s64 %rd539, %rd732, %rd574;
add.s64 %rd540, %rd539, %rd733;
add.s64 %rd541, %rd540, %rd734;
add.s64 %rd542, %rd541, %rd735;
add.s64 %rd543, %rd542, %rd736;
add.s64 %rd544, %rd543, %rd737;
add.s64 %rd545, %rd544, %rd738;
add.s64 %rd546, %rd545, %rd739;
add.s64 %rd547, %rd546, %rd740;
add.s64 %rd548, %rd547, %rd741;
add.s64 %rd549, %rd548, %rd742;
add.s64 %rd550, %rd549, %rd743;
add.s64 %rd551, %rd550, %rd744;
add.s64 %rd552, %rd551, %rd745;
add.s64 %rd553, %rd552, %rd746;
add.s64 %rd554, %rd553, %rd747;
add.s64 %rd555, %rd554, %rd748;
add.s64 %rd556, %rd555, %rd749;
add.s64 %rd557, %rd556, %rd750;
add.s64 %rd558, %rd557, %rd751;
add.s64 %rd559, %rd558, %rd752;
add.s64 %rd560, %rd559, %rd753;
add.s64 %rd561, %rd560, %rd754;
add.s64 %rd562, %rd561, %rd755;
add.s64 %rd563, %rd562, %rd756;
add.s64 %rd564, %rd563, %rd757;
add.s64 %rd565, %rd564, %rd758;
add.s64 %rd574, %rd565, %rd759;
mul.lo.s64 %rd566, %rd295, -7046029254386353131;
xor.b64 %rd567, %rd566, %rd759;
or.b64 %rd568, %rd567, %rd296;
setp.eq.s64 %p38, %rd568, 0;
@%p38 bra LBB6_1;
mul.lo.s64 %rd569, %rd759, -1018231460777725123;
sub.s64 %rd570, %rd569, %rd295;
setp.ne.s64 %p39, %rd296, 0;
setp.gt.s64 %p40, %rd570, 1099511627776;
or.pred %p41, %p39, %p40;
setp.lt.s64 %p42, %rd570, -1099511627776;
or.pred %p43, %p41, %p42;
selp.u64 %rd571, 1, 0, %p43;
add.s64 %rd580, %rd580, %rd571;
setp.lt.s64 %p44, %rd570, 0;
not.pred %p45, %p43;
and.pred %p46, %p45, %p44;
selp.u64 %rd572, 1, 0, %p46;
add.s64 %rd579, %rd579, %rd572;
setp.gt.s64 %p47, %rd570, 0;
and.pred %p48, %p45, %p47;
selp.u64 %rd573, 1, 0, %p48;
add.s64 %rd578, %rd578, %rd573;
bra.uni LBB6_1;
LBB6_30:
add.s64 %rd452, %rd456, 8;
mov.u64 %rd453, 1;
st.release.sys.u64 [%rd452], %rd453;
cvt.s64.s32 %rd458, %r21;
st.global.u64 [%rd1], %rd581;
st.global.u64 [%rd1+8], %rd580;
st.global.u64 [%rd1+16], %rd579;
st.global.u64 [%rd1+24], %rd578;
st.global.u64 [%rd1+32], %rd574;
st.global.u64 [%rd1+40], %rd458;
st.global.u64 [%rd1+48], %rd453;
mov.u64 %rd459, 0;
st.global.u64 [%rd1+56], %rd459;
st.relaxed.sys.u64 [%rd454], %rd731;
st.release.sys.u64 [%rd456], %rd731;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_224(
.param .align 8 .b8 barmap_ring_sink_warp_224_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_224_param_1[24],
.param .u64 barmap_ring_sink_warp_224_param_2
)
{
.reg .pred %p<50>;
.reg .b32 %r<69>;
.reg .b64 %rd<984>;
ld.param.u64 %rd397, [barmap_ring_sink_warp_224_param_2];
cvta.to.global.u64 %rd1, %rd397;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd398, [barmap_ring_sink_warp_224_param_0];
cvta.to.global.u64 %rd2, %rd398;
ld.param.u64 %rd477, [barmap_ring_sink_warp_224_param_0+8];
ld.param.u64 %rd560, [barmap_ring_sink_warp_224_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_224_param_0+24];
add.s64 %rd558, %rd477, 8;
ld.relaxed.sys.u64 %rd801, [%rd558];
ld.param.u64 %rd713, [barmap_ring_sink_warp_224_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd399, %rd5, 1;
shr.u64 %rd400, %rd399, 2;
selp.b64 %rd9, 1, %rd400, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_224_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd395, 0;
mov.u32 %r24, 0;
mov.u32 %r29, -1;
mov.pred %p31, -1;
mov.pred %p28, 0;
mov.u64 %rd979, %rd395;
mov.u64 %rd890, %rd801;
mov.u64 %rd980, %rd395;
mov.u64 %rd981, %rd395;
mov.u64 %rd982, %rd395;
mov.u64 %rd983, %rd395;
bra.uni LBB7_1;
LBB7_36:
cvt.u64.u32 %rd676, %r63;
add.s64 %rd713, %rd713, %rd676;
LBB7_1:
mov.u64 %rd744, %rd395;
bra.uni LBB7_2;
LBB7_30:
mov.pred %p49, %p31;
LBB7_31:
add.s64 %rd744, %rd744, 1;
mov.u32 %r68, %r64;
@%p49 bra LBB7_2;
bra.uni LBB7_32;
LBB7_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd79, %r23;
add.s64 %rd404, %rd890, %rd79;
and.b64 %rd405, %rd404, %rd5;
shl.b64 %rd406, %rd405, 8;
add.s64 %rd407, %rd2, %rd406;
cvta.global.u64 %rd416, %rd407;
add.s64 %rd81, %rd404, 1;
add.s64 %rd403, %rd416, 56;
ld.acquire.sys.u64 %rd402, [%rd403];
setp.ne.s64 %p6, %rd402, %rd81;
mov.u32 %r59, %r24;
@%p6 bra LBB7_6;
add.s64 %rd409, %rd416, 120;
ld.acquire.sys.u64 %rd408, [%rd409];
setp.ne.s64 %p7, %rd408, %rd81;
mov.u32 %r59, %r24;
@%p7 bra LBB7_6;
add.s64 %rd411, %rd416, 184;
ld.acquire.sys.u64 %rd410, [%rd411];
setp.ne.s64 %p8, %rd410, %rd81;
mov.u32 %r59, %r24;
@%p8 bra LBB7_6;
add.s64 %rd413, %rd416, 248;
ld.acquire.sys.u64 %rd412, [%rd413];
setp.eq.s64 %p9, %rd412, %rd81;
selp.u32 %r59, 1, 0, %p9;
LBB7_6:
cvt.u32.u64 %r32, %rd79;
{ .reg .pred p; setp.ne.u32 p, %r59, 0; vote.sync.ballot.b32 %r27, p, %r29; }
not.b32 %r31, %r27;
{ .reg .b32 r; brev.b32 r, %r31; bfind.shiftamt.u32 %r30, r; }
min.u32 %r63, %r30, 32;
setp.ge.u32 %p10, %r32, %r63;
@%p10 bra LBB7_8;
ld.relaxed.sys.u64 %rd772, [%rd416];
add.s64 %rd418, %rd416, 8;
ld.relaxed.sys.u64 %rd771, [%rd418];
add.s64 %rd420, %rd416, 16;
ld.relaxed.sys.u64 %rd770, [%rd420];
add.s64 %rd422, %rd416, 24;
ld.relaxed.sys.u64 %rd769, [%rd422];
add.s64 %rd424, %rd416, 32;
ld.relaxed.sys.u64 %rd768, [%rd424];
add.s64 %rd426, %rd416, 40;
ld.relaxed.sys.u64 %rd767, [%rd426];
add.s64 %rd428, %rd416, 48;
ld.relaxed.sys.u64 %rd766, [%rd428];
add.s64 %rd430, %rd416, 64;
ld.relaxed.sys.u64 %rd765, [%rd430];
add.s64 %rd432, %rd416, 72;
ld.relaxed.sys.u64 %rd764, [%rd432];
add.s64 %rd434, %rd416, 80;
ld.relaxed.sys.u64 %rd763, [%rd434];
add.s64 %rd436, %rd416, 88;
ld.relaxed.sys.u64 %rd762, [%rd436];
add.s64 %rd438, %rd416, 96;
ld.relaxed.sys.u64 %rd761, [%rd438];
add.s64 %rd440, %rd416, 104;
ld.relaxed.sys.u64 %rd760, [%rd440];
add.s64 %rd442, %rd416, 112;
ld.relaxed.sys.u64 %rd759, [%rd442];
add.s64 %rd444, %rd416, 128;
ld.relaxed.sys.u64 %rd758, [%rd444];
add.s64 %rd446, %rd416, 136;
ld.relaxed.sys.u64 %rd757, [%rd446];
add.s64 %rd448, %rd416, 144;
ld.relaxed.sys.u64 %rd756, [%rd448];
add.s64 %rd450, %rd416, 152;
ld.relaxed.sys.u64 %rd755, [%rd450];
add.s64 %rd452, %rd416, 160;
ld.relaxed.sys.u64 %rd754, [%rd452];
add.s64 %rd454, %rd416, 168;
ld.relaxed.sys.u64 %rd753, [%rd454];
add.s64 %rd456, %rd416, 176;
ld.relaxed.sys.u64 %rd752, [%rd456];
add.s64 %rd458, %rd416, 192;
ld.relaxed.sys.u64 %rd751, [%rd458];
add.s64 %rd460, %rd416, 200;
ld.relaxed.sys.u64 %rd750, [%rd460];
add.s64 %rd462, %rd416, 208;
ld.relaxed.sys.u64 %rd749, [%rd462];
add.s64 %rd464, %rd416, 216;
ld.relaxed.sys.u64 %rd748, [%rd464];
add.s64 %rd466, %rd416, 224;
ld.relaxed.sys.u64 %rd747, [%rd466];
add.s64 %rd468, %rd416, 232;
ld.relaxed.sys.u64 %rd746, [%rd468];
add.s64 %rd470, %rd416, 240;
ld.relaxed.sys.u64 %rd745, [%rd470];
LBB7_8:
@%p10 bra LBB7_10;
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
mov.u64 %rd791, %rd763;
mov.u64 %rd792, %rd764;
mov.u64 %rd793, %rd765;
mov.u64 %rd794, %rd766;
mov.u64 %rd795, %rd767;
mov.u64 %rd796, %rd768;
mov.u64 %rd797, %rd769;
mov.u64 %rd798, %rd770;
mov.u64 %rd799, %rd771;
mov.u64 %rd800, %rd772;
LBB7_10:
cvt.u64.u32 %rd471, %r63;
add.s64 %rd890, %rd890, %rd471;
sub.s64 %rd472, %rd890, %rd801;
setp.lt.u64 %p12, %rd472, %rd9;
@%p12 bra LBB7_13;
bar.warp.sync %r29;
setp.ne.s32 %p13, %r32, 0;
mov.u64 %rd801, %rd890;
@%p13 bra LBB7_13;
st.release.sys.u64 [%rd560], %rd890;
mov.u64 %rd801, %rd890;
LBB7_13:
setp.ne.s32 %p14, %r63, 0;
mov.u32 %r68, 0;
@%p14 bra LBB7_32;
setp.lt.u64 %p48, %rd744, %rd11;
and.b64 %rd475, %rd744, 63;
setp.ne.s64 %p15, %rd475, 63;
and.pred %p16, %p48, %p15;
mov.u32 %r63, 0;
@%p16 bra LBB7_30;
ld.acquire.sys.u64 %rd476, [%rd477];
setp.ne.s64 %p17, %rd476, 0;
selp.u32 %r39, 1, 0, %p17;
{ .reg .pred p; setp.ne.u32 p, %r39, 0; vote.sync.ballot.b32 %r38, p, %r29; }
not.b32 %r42, %r38;
{ .reg .b32 r; brev.b32 r, %r42; bfind.shiftamt.u32 %r41, r; }
setp.lt.u32 %p18, %r41, 32;
@%p18 bra LBB7_28;
add.s64 %rd480, %rd890, %rd79;
and.b64 %rd481, %rd480, %rd5;
shl.b64 %rd482, %rd481, 8;
add.s64 %rd483, %rd2, %rd482;
cvta.global.u64 %rd492, %rd483;
add.s64 %rd170, %rd480, 1;
add.s64 %rd479, %rd492, 56;
ld.acquire.sys.u64 %rd478, [%rd479];
setp.ne.s64 %p20, %rd478, %rd170;
mov.u32 %r60, 0;
@%p20 bra LBB7_20;
add.s64 %rd485, %rd492, 120;
ld.acquire.sys.u64 %rd484, [%rd485];
setp.ne.s64 %p21, %rd484, %rd170;
@%p21 bra LBB7_20;
add.s64 %rd487, %rd492, 184;
ld.acquire.sys.u64 %rd486, [%rd487];
setp.ne.s64 %p22, %rd486, %rd170;
@%p22 bra LBB7_20;
add.s64 %rd489, %rd492, 248;
ld.acquire.sys.u64 %rd488, [%rd489];
setp.eq.s64 %p23, %rd488, %rd170;
selp.u32 %r60, 1, 0, %p23;
LBB7_20:
{ .reg .pred p; setp.ne.u32 p, %r60, 0; vote.sync.ballot.b32 %r47, p, %r29; }
not.b32 %r51, %r47;
{ .reg .b32 r; brev.b32 r, %r51; bfind.shiftamt.u32 %r50, r; }
min.u32 %r63, %r50, 32;
setp.ge.u32 %p24, %r32, %r63;
@%p24 bra LBB7_22;
ld.relaxed.sys.u64 %rd829, [%rd492];
add.s64 %rd494, %rd492, 8;
ld.relaxed.sys.u64 %rd828, [%rd494];
add.s64 %rd496, %rd492, 16;
ld.relaxed.sys.u64 %rd827, [%rd496];
add.s64 %rd498, %rd492, 24;
ld.relaxed.sys.u64 %rd826, [%rd498];
add.s64 %rd500, %rd492, 32;
ld.relaxed.sys.u64 %rd825, [%rd500];
add.s64 %rd502, %rd492, 40;
ld.relaxed.sys.u64 %rd824, [%rd502];
add.s64 %rd504, %rd492, 48;
ld.relaxed.sys.u64 %rd823, [%rd504];
add.s64 %rd506, %rd492, 64;
ld.relaxed.sys.u64 %rd822, [%rd506];
add.s64 %rd508, %rd492, 72;
ld.relaxed.sys.u64 %rd821, [%rd508];
add.s64 %rd510, %rd492, 80;
ld.relaxed.sys.u64 %rd820, [%rd510];
add.s64 %rd512, %rd492, 88;
ld.relaxed.sys.u64 %rd819, [%rd512];
add.s64 %rd514, %rd492, 96;
ld.relaxed.sys.u64 %rd818, [%rd514];
add.s64 %rd516, %rd492, 104;
ld.relaxed.sys.u64 %rd817, [%rd516];
add.s64 %rd518, %rd492, 112;
ld.relaxed.sys.u64 %rd816, [%rd518];
add.s64 %rd520, %rd492, 128;
ld.relaxed.sys.u64 %rd815, [%rd520];
add.s64 %rd522, %rd492, 136;
ld.relaxed.sys.u64 %rd814, [%rd522];
add.s64 %rd524, %rd492, 144;
ld.relaxed.sys.u64 %rd813, [%rd524];
add.s64 %rd526, %rd492, 152;
ld.relaxed.sys.u64 %rd812, [%rd526];
add.s64 %rd528, %rd492, 160;
ld.relaxed.sys.u64 %rd811, [%rd528];
add.s64 %rd530, %rd492, 168;
ld.relaxed.sys.u64 %rd810, [%rd530];
add.s64 %rd532, %rd492, 176;
ld.relaxed.sys.u64 %rd809, [%rd532];
add.s64 %rd534, %rd492, 192;
ld.relaxed.sys.u64 %rd808, [%rd534];
add.s64 %rd536, %rd492, 200;
ld.relaxed.sys.u64 %rd807, [%rd536];
add.s64 %rd538, %rd492, 208;
ld.relaxed.sys.u64 %rd806, [%rd538];
add.s64 %rd540, %rd492, 216;
ld.relaxed.sys.u64 %rd805, [%rd540];
add.s64 %rd542, %rd492, 224;
ld.relaxed.sys.u64 %rd804, [%rd542];
add.s64 %rd544, %rd492, 232;
ld.relaxed.sys.u64 %rd803, [%rd544];
add.s64 %rd546, %rd492, 240;
ld.relaxed.sys.u64 %rd802, [%rd546];
LBB7_22:
@%p24 bra LBB7_24;
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
mov.u64 %rd791, %rd820;
mov.u64 %rd792, %rd821;
mov.u64 %rd793, %rd822;
mov.u64 %rd794, %rd823;
mov.u64 %rd795, %rd824;
mov.u64 %rd796, %rd825;
mov.u64 %rd797, %rd826;
mov.u64 %rd798, %rd827;
mov.u64 %rd799, %rd828;
mov.u64 %rd800, %rd829;
LBB7_24:
cvt.u64.u32 %rd547, %r63;
add.s64 %rd890, %rd890, %rd547;
sub.s64 %rd548, %rd890, %rd801;
setp.lt.u64 %p26, %rd548, %rd9;
@%p26 bra LBB7_27;
bar.warp.sync %r29;
setp.ne.s32 %p27, %r32, 0;
mov.u64 %rd801, %rd890;
@%p27 bra LBB7_27;
st.release.sys.u64 [%rd560], %rd890;
mov.u64 %rd801, %rd890;
LBB7_27:
setp.eq.s32 %p29, %r63, 0;
selp.b32 %r64, 3, 0, %p29;
mov.pred %p48, %p28;
bra.uni LBB7_29;
LBB7_28:
setp.lt.u64 %p19, %rd744, %rd11;
selp.b32 %r64, %r64, %r1, %p19;
mov.u32 %r63, 0;
LBB7_29:
mov.pred %p49, %p28;
@!%p48 bra LBB7_31;
bra.uni LBB7_30;
LBB7_32:
setp.ne.s32 %p32, %r68, 0;
@%p32 bra LBB7_37;
cvt.u32.u64 %r57, %rd10;
setp.le.u32 %p36, %r63, %r57;
@%p36 bra LBB7_36;
add.s64 %rd379, %rd713, %rd10;
add.s64 %rd562, %rd800, -3335678366873096957;
xor.b64 %rd563, %rd562, %rd799;
add.s64 %rd564, %rd800, -6671356733746193914;
xor.b64 %rd565, %rd564, %rd798;
or.b64 %rd566, %rd565, %rd563;
add.s64 %rd567, %rd800, 8439708973090260745;
xor.b64 %rd568, %rd567, %rd797;
or.b64 %rd569, %rd566, %rd568;
add.s64 %rd570, %rd800, 5104030606217163788;
xor.b64 %rd571, %rd570, %rd796;
or.b64 %rd572, %rd569, %rd571;
add.s64 %rd573, %rd800, 1768352239344066831;
xor.b64 %rd574, %rd573, %rd795;
or.b64 %rd575, %rd572, %rd574;
add.s64 %rd576, %rd800, -1567326127529030126;
xor.b64 %rd577, %rd576, %rd794;
or.b64 %rd578, %rd575, %rd577;
add.s64 %rd579, %rd800, -4903004494402127083;
xor.b64 %rd580, %rd579, %rd793;
or.b64 %rd581, %rd578, %rd580;
add.s64 %rd582, %rd800, -8238682861275224040;
xor.b64 %rd583, %rd582, %rd792;
or.b64 %rd584, %rd581, %rd583;
add.s64 %rd585, %rd800, 6872382845561230619;
xor.b64 %rd586, %rd585, %rd791;
or.b64 %rd587, %rd584, %rd586;
add.s64 %rd588, %rd800, 3536704478688133662;
xor.b64 %rd589, %rd588, %rd790;
or.b64 %rd590, %rd587, %rd589;
add.s64 %rd591, %rd800, 201026111815036705;
xor.b64 %rd592, %rd591, %rd789;
or.b64 %rd593, %rd590, %rd592;
add.s64 %rd594, %rd800, -3134652255058060252;
xor.b64 %rd595, %rd594, %rd788;
or.b64 %rd596, %rd593, %rd595;
add.s64 %rd597, %rd800, -6470330621931157209;
xor.b64 %rd598, %rd597, %rd787;
or.b64 %rd599, %rd596, %rd598;
add.s64 %rd600, %rd800, 8640735084905297450;
xor.b64 %rd601, %rd600, %rd786;
or.b64 %rd602, %rd599, %rd601;
add.s64 %rd603, %rd800, 5305056718032200493;
xor.b64 %rd604, %rd603, %rd785;
or.b64 %rd605, %rd602, %rd604;
add.s64 %rd606, %rd800, 1969378351159103536;
xor.b64 %rd607, %rd606, %rd784;
or.b64 %rd608, %rd605, %rd607;
add.s64 %rd609, %rd800, -1366300015713993421;
xor.b64 %rd610, %rd609, %rd783;
or.b64 %rd611, %rd608, %rd610;
add.s64 %rd612, %rd800, -4701978382587090378;
xor.b64 %rd613, %rd612, %rd782;
or.b64 %rd614, %rd611, %rd613;
add.s64 %rd615, %rd800, -8037656749460187335;
xor.b64 %rd616, %rd615, %rd781;
or.b64 %rd617, %rd614, %rd616;
add.s64 %rd618, %rd800, 7073408957376267324;
xor.b64 %rd619, %rd618, %rd780;
or.b64 %rd620, %rd617, %rd619;
add.s64 %rd621, %rd800, 3737730590503170367;
xor.b64 %rd622, %rd621, %rd779;
or.b64 %rd623, %rd620, %rd622;
add.s64 %rd624, %rd800, 402052223630073410;
xor.b64 %rd625, %rd624, %rd778;
or.b64 %rd626, %rd623, %rd625;
add.s64 %rd627, %rd800, -2933626143243023547;
xor.b64 %rd628, %rd627, %rd777;
or.b64 %rd629, %rd626, %rd628;
add.s64 %rd630, %rd800, -6269304510116120504;
xor.b64 %rd631, %rd630, %rd776;
or.b64 %rd632, %rd629, %rd631;
add.s64 %rd633, %rd800, 8841761196720334155;
xor.b64 %rd634, %rd633, %rd775;
or.b64 %rd635, %rd632, %rd634;
add.s64 %rd636, %rd800, 5506082829847237198;
xor.b64 %rd637, %rd636, %rd774;
or.b64 %rd638, %rd635, %rd637;
add.s64 %rd639, %rd800, 2170404462974140241;
xor.b64 %rd640, %rd639, %rd773;
or.b64 %rd380, %rd638, %rd640;
add.s64 %rd983, %rd983, 1;
add.s64 %rd641, %rd773, %rd979;
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
add.s64 %rd658, %rd657, %rd790;
add.s64 %rd659, %rd658, %rd791;
add.s64 %rd660, %rd659, %rd792;
add.s64 %rd661, %rd660, %rd793;
add.s64 %rd662, %rd661, %rd794;
add.s64 %rd663, %rd662, %rd795;
add.s64 %rd664, %rd663, %rd796;
add.s64 %rd665, %rd664, %rd797;
add.s64 %rd666, %rd665, %rd798;
add.s64 %rd667, %rd666, %rd799;
add.s64 %rd979, %rd667, %rd800;
mul.lo.s64 %rd668, %rd379, -7046029254386353131;
xor.b64 %rd669, %rd800, %rd668;
or.b64 %rd670, %rd380, %rd669;
setp.eq.s64 %p37, %rd670, 0;
@%p37 bra LBB7_36;
mul.lo.s64 %rd671, %rd800, -1018231460777725123;
sub.s64 %rd672, %rd671, %rd379;
setp.ne.s64 %p38, %rd380, 0;
setp.gt.s64 %p39, %rd672, 1099511627776;
or.pred %p40, %p38, %p39;
setp.lt.s64 %p41, %rd672, -1099511627776;
or.pred %p42, %p40, %p41;
selp.u64 %rd673, 1, 0, %p42;
add.s64 %rd982, %rd982, %rd673;
setp.lt.s64 %p43, %rd672, 0;
not.pred %p44, %p42;
and.pred %p45, %p44, %p43;
selp.u64 %rd674, 1, 0, %p45;
add.s64 %rd981, %rd981, %rd674;
setp.gt.s64 %p46, %rd672, 0;
and.pred %p47, %p44, %p46;
selp.u64 %rd675, 1, 0, %p47;
add.s64 %rd980, %rd980, %rd675;
bra.uni LBB7_36;
LBB7_37:
setp.ne.s32 %p33, %r32, 0;
mov.u64 %rd677, 1;
@%p33 bra LBB7_39;
add.s64 %rd551, %rd560, 8;
st.release.sys.u64 [%rd551], %rd677;
LBB7_39:
cvt.s64.s32 %rd553, %r68;
shl.b64 %rd554, %rd10, 6;
add.s64 %rd555, %rd1, %rd554;
st.global.u64 [%rd555], %rd983;
st.global.u64 [%rd555+8], %rd982;
st.global.u64 [%rd555+16], %rd981;
st.global.u64 [%rd555+24], %rd980;
st.global.u64 [%rd555+32], %rd979;
st.global.u64 [%rd555+40], %rd553;
st.global.u64 [%rd555+48], %rd677;
mov.u64 %rd557, 0;
st.global.u64 [%rd555+56], %rd557;
@%p33 bra LBB7_41;
st.relaxed.sys.u64 [%rd558], %rd890;
LBB7_41:
bar.warp.sync %r29;
@%p33 bra LBB7_43;
st.release.sys.u64 [%rd560], %rd890;
LBB7_43:
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
bra.uni LBB8_2;
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
LBB8_2:
add.s64 %rd51, %rd15, %rd85;
mul.lo.s64 %rd59, %rd51, -7046029254386353131;
setp.ne.s64 %p9, %rd79, 0;
@%p9 bra LBB8_12;
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
bra.uni LBB11_13;
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
bra.uni LBB14_13;
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
.reg .pred %p<64>;
.reg .b32 %r<46>;
.reg .b64 %rd<286>;
ld.param.u64 %rd133, [barmap_ring_echo_32_param_3];
cvta.to.global.u64 %rd1, %rd133;
ld.param.u64 %rd134, [barmap_ring_echo_32_param_0];
cvta.to.global.u64 %rd2, %rd134;
ld.param.u64 %rd166, [barmap_ring_echo_32_param_0+8];
ld.param.u64 %rd227, [barmap_ring_echo_32_param_0+16];
ld.param.u64 %rd5, [barmap_ring_echo_32_param_0+24];
add.s64 %rd225, %rd166, 8;
ld.relaxed.sys.u64 %rd261, [%rd225];
and.b64 %rd135, %rd261, %rd5;
shl.b64 %rd136, %rd135, 6;
add.s64 %rd262, %rd2, %rd136;
setp.lt.u64 %p13, %rd5, 4;
add.s64 %rd137, %rd5, 1;
shr.u64 %rd138, %rd137, 2;
selp.b64 %rd9, 1, %rd138, %p13;
ld.param.u64 %rd10, [barmap_ring_echo_32_param_1];
ld.param.u64 %rd219, [barmap_ring_echo_32_param_1+8];
ld.param.u64 %rd192, [barmap_ring_echo_32_param_1+16];
ld.param.u64 %rd13, [barmap_ring_echo_32_param_1+24];
add.s64 %rd223, %rd192, 16;
ld.relaxed.sys.u64 %rd280, [%rd223];
and.b64 %rd139, %rd280, %rd13;
shl.b64 %rd140, %rd139, 4;
add.s64 %rd235, %rd10, %rd140;
ld.acquire.sys.u64 %rd129, [%rd192];
add.s64 %rd17, %rd13, 1;
sub.s64 %rd141, %rd17, %rd280;
add.s64 %rd234, %rd141, %rd129;
add.s64 %rd195, %rd192, 8;
ld.param.u64 %rd20, [barmap_ring_echo_32_param_2+16];
setp.eq.s64 %p14, %rd20, 0;
selp.b32 %r1, 2, 4, %p14;
selp.b32 %r2, 1, 4, %p14;
mov.u64 %rd275, 0;
ld.param.u64 %rd21, [barmap_ring_echo_32_param_2];
mov.pred %p15, 0;
mov.pred %p35, -1;
mov.u64 %rd263, %rd9;
mov.u64 %rd276, %rd275;
mov.u64 %rd277, %rd275;
mov.u64 %rd278, %rd275;
mov.u64 %rd279, %rd275;
bra.uni LBB17_1;
LBB17_30:
@%p63 bra LBB17_1;
bra.uni LBB17_31;
LBB17_1:
mov.u64 %rd253, %rd20;
bra.uni LBB17_2;
LBB17_13:
setp.gt.u64 %p59, %rd253, 63;
selp.b32 %r39, %r1, %r39, %p16;
LBB17_14:
add.s64 %rd253, %rd253, -64;
@%p59 bra LBB17_2;
bra.uni LBB17_15;
LBB17_2:
setp.lt.u64 %p16, %rd253, 64;
cvt.u32.u64 %r21, %rd253;
add.s32 %r22, %r21, 1;
selp.b32 %r4, %r22, 64, %p16;
setp.eq.s32 %p17, %r4, 0;
mov.pred %p58, %p15;
@%p17 bra LBB17_8;
cvta.global.u64 %rd45, %rd262;
mov.u32 %r37, 0;
add.s64 %rd46, %rd261, 1;
add.s64 %rd47, %rd45, 16;
add.s64 %rd48, %rd45, 32;
add.s64 %rd49, %rd45, 48;
mov.pred %p58, -1;
LBB17_4:
ld.relaxed.sys.v2.u64 {%rd142, %rd143}, [%rd45];
ld.relaxed.sys.v2.u64 {%rd145, %rd146}, [%rd47];
ld.relaxed.sys.v2.u64 {%rd148, %rd149}, [%rd48];
ld.acquire.sys.v2.u64 {%rd151, %rd152}, [%rd49];
xor.b64 %rd154, %rd149, %rd46;
xor.b64 %rd155, %rd146, %rd46;
xor.b64 %rd156, %rd143, %rd46;
or.b64 %rd157, %rd155, %rd156;
or.b64 %rd158, %rd157, %rd154;
xor.b64 %rd159, %rd152, %rd46;
or.b64 %rd160, %rd158, %rd159;
setp.ne.s64 %p19, %rd160, 0;
@%p19 bra LBB17_7;
bra.uni LBB17_5;
LBB17_7:
add.s32 %r37, %r37, 1;
setp.lt.u32 %p58, %r37, %r4;
setp.ne.s32 %p20, %r4, %r37;
@%p20 bra LBB17_4;
bra.uni LBB17_8;
LBB17_5:
and.b64 %rd161, %rd46, %rd5;
shl.b64 %rd162, %rd161, 6;
add.s64 %rd262, %rd2, %rd162;
add.s64 %rd263, %rd263, -1;
setp.ne.s64 %p21, %rd263, 0;
mov.u32 %r39, 0;
mov.u64 %rd261, %rd46;
mov.u64 %rd264, %rd151;
mov.u64 %rd265, %rd148;
mov.u64 %rd266, %rd145;
mov.u64 %rd267, %rd142;
@%p21 bra LBB17_8;
st.release.sys.u64 [%rd227], %rd46;
mov.u64 %rd261, %rd46;
mov.u64 %rd263, %rd9;
mov.u64 %rd264, %rd151;
mov.u64 %rd265, %rd148;
mov.u64 %rd266, %rd145;
mov.u64 %rd267, %rd142;
LBB17_8:
mov.pred %p59, %p15;
@%p58 bra LBB17_14;
ld.acquire.sys.u64 %rd165, [%rd166];
setp.eq.s64 %p23, %rd165, 0;
@%p23 bra LBB17_13;
cvta.global.u64 %rd169, %rd262;
add.s64 %rd189, %rd261, 1;
ld.relaxed.sys.v2.u64 {%rd167, %rd168}, [%rd169];
add.s64 %rd172, %rd169, 16;
ld.relaxed.sys.v2.u64 {%rd170, %rd171}, [%rd172];
add.s64 %rd175, %rd169, 32;
ld.relaxed.sys.v2.u64 {%rd173, %rd174}, [%rd175];
add.s64 %rd178, %rd169, 48;
ld.acquire.sys.v2.u64 {%rd176, %rd177}, [%rd178];
xor.b64 %rd179, %rd174, %rd189;
xor.b64 %rd180, %rd171, %rd189;
xor.b64 %rd181, %rd168, %rd189;
or.b64 %rd182, %rd180, %rd181;
or.b64 %rd183, %rd182, %rd179;
xor.b64 %rd184, %rd177, %rd189;
or.b64 %rd185, %rd183, %rd184;
setp.ne.s64 %p25, %rd185, 0;
mov.u32 %r39, 3;
mov.pred %p59, %p15;
@%p25 bra LBB17_14;
and.b64 %rd186, %rd189, %rd5;
shl.b64 %rd187, %rd186, 6;
add.s64 %rd262, %rd2, %rd187;
add.s64 %rd263, %rd263, -1;
setp.ne.s64 %p27, %rd263, 0;
mov.u32 %r39, 0;
mov.u64 %rd261, %rd189;
mov.u64 %rd264, %rd176;
mov.u64 %rd265, %rd173;
mov.u64 %rd266, %rd170;
mov.u64 %rd267, %rd167;
mov.pred %p59, %p15;
@%p27 bra LBB17_14;
st.release.sys.u64 [%rd227], %rd189;
mov.u64 %rd261, %rd189;
mov.u64 %rd263, %rd9;
mov.u64 %rd264, %rd176;
mov.u64 %rd265, %rd173;
mov.u64 %rd266, %rd170;
mov.u64 %rd267, %rd167;
mov.pred %p59, %p15;
bra.uni LBB17_14;
LBB17_15:
setp.ne.s32 %p30, %r39, 0;
@%p30 bra LBB17_31;
setp.ne.s64 %p31, %rd234, 0;
@%p31 bra LBB17_26;
bra.uni LBB17_17;
LBB17_26:
add.s64 %rd280, %rd280, 1;
st.relaxed.sys.v2.u64 [%rd235], {%rd267, %rd280};
add.s64 %rd234, %rd234, -1;
and.b64 %rd199, %rd280, %rd13;
shl.b64 %rd200, %rd199, 4;
add.s64 %rd235, %rd10, %rd200;
mov.u32 %r39, 0;
bra.uni LBB17_27;
LBB17_17:
mov.u64 %rd234, 0;
mov.u64 %rd269, %rd20;
mov.u32 %r39, %r40;
bra.uni LBB17_18;
LBB17_24:
add.s64 %rd269, %rd269, -64;
mov.u32 %r40, %r39;
@%p62 bra LBB17_18;
bra.uni LBB17_25;
LBB17_18:
setp.lt.u64 %p33, %rd269, 64;
cvt.u32.u64 %r30, %rd269;
add.s32 %r31, %r30, 1;
selp.b32 %r11, %r31, 64, %p33;
setp.eq.s32 %p34, %r11, 0;
mov.pred %p61, %p15;
@%p34 bra LBB17_22;
mov.u32 %r32, 0;
mov.pred %p61, %p35;
mov.u32 %r41, %r32;
LBB17_21:
ld.acquire.sys.u64 %rd191, [%rd192];
sub.s64 %rd193, %rd191, %rd280;
add.s64 %rd234, %rd17, %rd193;
setp.eq.s64 %p36, %rd234, 0;
mov.u32 %r39, %r32;
@%p36 bra LBB17_20;
bra.uni LBB17_22;
LBB17_20:
add.s32 %r41, %r41, 1;
setp.lt.u32 %p61, %r41, %r11;
setp.eq.s32 %p37, %r11, %r41;
mov.u32 %r39, %r40;
@%p37 bra LBB17_22;
bra.uni LBB17_21;
LBB17_22:
mov.pred %p62, %p15;
@%p61 bra LBB17_24;
setp.gt.u64 %p9, %rd269, 63;
selp.b32 %r15, %r2, %r39, %p33;
ld.relaxed.sys.u64 %rd194, [%rd195];
setp.eq.s64 %p40, %rd194, 0;
and.pred %p62, %p40, %p9;
selp.b32 %r39, %r15, 3, %p40;
bra.uni LBB17_24;
LBB17_25:
setp.ne.s32 %p41, %r39, 0;
@%p41 bra LBB17_27;
bra.uni LBB17_26;
LBB17_27:
setp.ne.s32 %p43, %r39, 0;
mov.pred %p63, 0;
@%p43 bra LBB17_30;
add.s64 %rd107, %rd21, %rd279;
add.s64 %rd201, %rd267, -3335678366873096957;
xor.b64 %rd202, %rd201, %rd266;
add.s64 %rd203, %rd267, -6671356733746193914;
xor.b64 %rd204, %rd203, %rd265;
or.b64 %rd205, %rd204, %rd202;
add.s64 %rd206, %rd267, 8439708973090260745;
xor.b64 %rd207, %rd206, %rd264;
or.b64 %rd108, %rd205, %rd207;
add.s64 %rd279, %rd279, 1;
add.s64 %rd208, %rd264, %rd275;
add.s64 %rd209, %rd208, %rd265;
add.s64 %rd210, %rd209, %rd266;
add.s64 %rd275, %rd210, %rd267;
mul.lo.s64 %rd211, %rd107, -7046029254386353131;
xor.b64 %rd212, %rd211, %rd267;
or.b64 %rd213, %rd212, %rd108;
setp.eq.s64 %p45, %rd213, 0;
mov.pred %p63, -1;
@%p45 bra LBB17_30;
mul.lo.s64 %rd214, %rd267, -1018231460777725123;
sub.s64 %rd215, %rd214, %rd107;
setp.ne.s64 %p47, %rd108, 0;
setp.gt.s64 %p48, %rd215, 1099511627776;
or.pred %p49, %p47, %p48;
setp.lt.s64 %p50, %rd215, -1099511627776;
or.pred %p51, %p49, %p50;
selp.u64 %rd216, 1, 0, %p51;
add.s64 %rd278, %rd278, %rd216;
setp.lt.s64 %p52, %rd215, 0;
not.pred %p53, %p51;
and.pred %p54, %p53, %p52;
selp.u64 %rd217, 1, 0, %p54;
add.s64 %rd277, %rd277, %rd217;
setp.gt.s64 %p55, %rd215, 0;
and.pred %p56, %p53, %p55;
selp.u64 %rd218, 1, 0, %p56;
add.s64 %rd276, %rd276, %rd218;
bra.uni LBB17_30;
LBB17_31:
mov.u64 %rd220, 1;
st.release.sys.u64 [%rd219], %rd220;
add.s64 %rd221, %rd227, 8;
st.release.sys.u64 [%rd221], %rd220;
cvt.s64.s32 %rd229, %r39;
st.global.u64 [%rd1], %rd279;
st.global.u64 [%rd1+8], %rd278;
st.global.u64 [%rd1+16], %rd277;
st.global.u64 [%rd1+24], %rd276;
st.global.u64 [%rd1+32], %rd275;
st.global.u64 [%rd1+40], %rd229;
st.global.u64 [%rd1+48], %rd220;
mov.u64 %rd230, 0;
st.global.u64 [%rd1+56], %rd230;
st.relaxed.sys.u64 [%rd223], %rd280;
st.relaxed.sys.u64 [%rd225], %rd261;
st.release.sys.u64 [%rd227], %rd261;
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
.reg .pred %p<66>;
.reg .b32 %r<46>;
.reg .b64 %rd<342>;
ld.param.u64 %rd155, [barmap_ring_echo_56_param_3];
cvta.to.global.u64 %rd1, %rd155;
ld.param.u64 %rd156, [barmap_ring_echo_56_param_0];
cvta.to.global.u64 %rd2, %rd156;
ld.param.u64 %rd186, [barmap_ring_echo_56_param_0+8];
ld.param.u64 %rd257, [barmap_ring_echo_56_param_0+16];
ld.param.u64 %rd5, [barmap_ring_echo_56_param_0+24];
add.s64 %rd255, %rd186, 8;
ld.relaxed.sys.u64 %rd314, [%rd255];
and.b64 %rd157, %rd314, %rd5;
shl.b64 %rd158, %rd157, 6;
add.s64 %rd315, %rd2, %rd158;
setp.lt.u64 %p13, %rd5, 4;
add.s64 %rd159, %rd5, 1;
shr.u64 %rd160, %rd159, 2;
selp.b64 %rd9, 1, %rd160, %p13;
ld.param.u64 %rd10, [barmap_ring_echo_56_param_1];
ld.param.u64 %rd249, [barmap_ring_echo_56_param_1+8];
ld.param.u64 %rd210, [barmap_ring_echo_56_param_1+16];
ld.param.u64 %rd13, [barmap_ring_echo_56_param_1+24];
add.s64 %rd253, %rd210, 16;
ld.relaxed.sys.u64 %rd336, [%rd253];
and.b64 %rd161, %rd336, %rd13;
shl.b64 %rd162, %rd161, 4;
add.s64 %rd265, %rd10, %rd162;
ld.acquire.sys.u64 %rd151, [%rd210];
add.s64 %rd17, %rd13, 1;
sub.s64 %rd163, %rd17, %rd336;
add.s64 %rd264, %rd163, %rd151;
add.s64 %rd213, %rd210, 8;
ld.param.u64 %rd20, [barmap_ring_echo_56_param_2+16];
setp.eq.s64 %p14, %rd20, 0;
selp.b32 %r1, 2, 4, %p14;
selp.b32 %r2, 1, 4, %p14;
mov.u64 %rd331, 0;
ld.param.u64 %rd21, [barmap_ring_echo_56_param_2];
mov.pred %p15, 0;
mov.pred %p37, -1;
mov.u64 %rd316, %rd9;
mov.u64 %rd332, %rd331;
mov.u64 %rd333, %rd331;
mov.u64 %rd334, %rd331;
mov.u64 %rd335, %rd331;
bra.uni LBB18_1;
LBB18_34:
@%p65 bra LBB18_1;
bra.uni LBB18_35;
LBB18_1:
mov.u64 %rd289, %rd20;
bra.uni LBB18_2;
LBB18_17:
setp.gt.u64 %p61, %rd289, 63;
selp.b32 %r39, %r1, %r39, %p16;
LBB18_18:
add.s64 %rd289, %rd289, -64;
@%p61 bra LBB18_2;
bra.uni LBB18_19;
LBB18_2:
setp.lt.u64 %p16, %rd289, 64;
cvt.u32.u64 %r21, %rd289;
add.s32 %r22, %r21, 1;
selp.b32 %r4, %r22, 64, %p16;
setp.eq.s32 %p17, %r4, 0;
mov.pred %p60, %p15;
@%p17 bra LBB18_10;
cvta.global.u64 %rd51, %rd315;
mov.u32 %r37, 0;
add.s64 %rd52, %rd314, 1;
add.s64 %rd53, %rd51, 56;
add.s64 %rd54, %rd51, 8;
add.s64 %rd55, %rd51, 16;
add.s64 %rd56, %rd51, 24;
add.s64 %rd57, %rd51, 32;
add.s64 %rd58, %rd51, 40;
add.s64 %rd59, %rd51, 48;
mov.pred %p60, -1;
LBB18_4:
ld.acquire.sys.u64 %rd164, [%rd53];
setp.ne.s64 %p19, %rd164, %rd52;
@%p19 bra LBB18_6;
ld.relaxed.sys.u64 %rd296, [%rd51];
ld.relaxed.sys.u64 %rd295, [%rd54];
ld.relaxed.sys.u64 %rd294, [%rd55];
ld.relaxed.sys.u64 %rd293, [%rd56];
ld.relaxed.sys.u64 %rd292, [%rd57];
ld.relaxed.sys.u64 %rd291, [%rd58];
ld.relaxed.sys.u64 %rd290, [%rd59];
LBB18_6:
@%p19 bra LBB18_9;
bra.uni LBB18_7;
LBB18_9:
add.s32 %r37, %r37, 1;
setp.lt.u32 %p60, %r37, %r4;
setp.ne.s32 %p21, %r4, %r37;
@%p21 bra LBB18_4;
bra.uni LBB18_10;
LBB18_7:
and.b64 %rd181, %rd52, %rd5;
shl.b64 %rd182, %rd181, 6;
add.s64 %rd315, %rd2, %rd182;
add.s64 %rd316, %rd316, -1;
setp.ne.s64 %p22, %rd316, 0;
mov.u32 %r39, 0;
mov.u64 %rd314, %rd52;
mov.u64 %rd317, %rd290;
mov.u64 %rd318, %rd291;
mov.u64 %rd319, %rd292;
mov.u64 %rd320, %rd293;
mov.u64 %rd321, %rd294;
mov.u64 %rd322, %rd295;
mov.u64 %rd323, %rd296;
@%p22 bra LBB18_10;
st.release.sys.u64 [%rd257], %rd52;
mov.u64 %rd314, %rd52;
mov.u64 %rd316, %rd9;
mov.u64 %rd317, %rd290;
mov.u64 %rd318, %rd291;
mov.u64 %rd319, %rd292;
mov.u64 %rd320, %rd293;
mov.u64 %rd321, %rd294;
mov.u64 %rd322, %rd295;
mov.u64 %rd323, %rd296;
LBB18_10:
mov.pred %p61, %p15;
@%p60 bra LBB18_18;
ld.acquire.sys.u64 %rd185, [%rd186];
setp.eq.s64 %p24, %rd185, 0;
@%p24 bra LBB18_17;
cvta.global.u64 %rd191, %rd315;
add.s64 %rd207, %rd314, 1;
add.s64 %rd188, %rd191, 56;
ld.acquire.sys.u64 %rd187, [%rd188];
setp.ne.s64 %p25, %rd187, %rd207;
@%p25 bra LBB18_14;
ld.relaxed.sys.u64 %rd313, [%rd191];
add.s64 %rd193, %rd191, 8;
ld.relaxed.sys.u64 %rd312, [%rd193];
add.s64 %rd195, %rd191, 16;
ld.relaxed.sys.u64 %rd311, [%rd195];
add.s64 %rd197, %rd191, 24;
ld.relaxed.sys.u64 %rd310, [%rd197];
add.s64 %rd199, %rd191, 32;
ld.relaxed.sys.u64 %rd309, [%rd199];
add.s64 %rd201, %rd191, 40;
ld.relaxed.sys.u64 %rd308, [%rd201];
add.s64 %rd203, %rd191, 48;
ld.relaxed.sys.u64 %rd307, [%rd203];
LBB18_14:
mov.u32 %r39, 3;
mov.pred %p61, %p15;
@%p25 bra LBB18_18;
and.b64 %rd204, %rd207, %rd5;
shl.b64 %rd205, %rd204, 6;
add.s64 %rd315, %rd2, %rd205;
add.s64 %rd316, %rd316, -1;
setp.ne.s64 %p29, %rd316, 0;
mov.u32 %r39, 0;
mov.u64 %rd314, %rd207;
mov.u64 %rd317, %rd307;
mov.u64 %rd318, %rd308;
mov.u64 %rd319, %rd309;
mov.u64 %rd320, %rd310;
mov.u64 %rd321, %rd311;
mov.u64 %rd322, %rd312;
mov.u64 %rd323, %rd313;
mov.pred %p61, %p15;
@%p29 bra LBB18_18;
st.release.sys.u64 [%rd257], %rd207;
mov.u64 %rd314, %rd207;
mov.u64 %rd316, %rd9;
mov.u64 %rd317, %rd307;
mov.u64 %rd318, %rd308;
mov.u64 %rd319, %rd309;
mov.u64 %rd320, %rd310;
mov.u64 %rd321, %rd311;
mov.u64 %rd322, %rd312;
mov.u64 %rd323, %rd313;
mov.pred %p61, %p15;
bra.uni LBB18_18;
LBB18_19:
setp.ne.s32 %p32, %r39, 0;
@%p32 bra LBB18_35;
setp.ne.s64 %p33, %rd264, 0;
@%p33 bra LBB18_30;
bra.uni LBB18_21;
LBB18_30:
add.s64 %rd336, %rd336, 1;
st.relaxed.sys.v2.u64 [%rd265], {%rd323, %rd336};
add.s64 %rd264, %rd264, -1;
and.b64 %rd217, %rd336, %rd13;
shl.b64 %rd218, %rd217, 4;
add.s64 %rd265, %rd10, %rd218;
mov.u32 %r39, 0;
bra.uni LBB18_31;
LBB18_21:
mov.u64 %rd264, 0;
mov.u64 %rd325, %rd20;
mov.u32 %r39, %r40;
bra.uni LBB18_22;
LBB18_28:
add.s64 %rd325, %rd325, -64;
mov.u32 %r40, %r39;
@%p64 bra LBB18_22;
bra.uni LBB18_29;
LBB18_22:
setp.lt.u64 %p35, %rd325, 64;
cvt.u32.u64 %r30, %rd325;
add.s32 %r31, %r30, 1;
selp.b32 %r11, %r31, 64, %p35;
setp.eq.s32 %p36, %r11, 0;
mov.pred %p63, %p15;
@%p36 bra LBB18_26;
mov.u32 %r32, 0;
mov.pred %p63, %p37;
mov.u32 %r41, %r32;
LBB18_25:
ld.acquire.sys.u64 %rd209, [%rd210];
sub.s64 %rd211, %rd209, %rd336;
add.s64 %rd264, %rd17, %rd211;
setp.eq.s64 %p38, %rd264, 0;
mov.u32 %r39, %r32;
@%p38 bra LBB18_24;
bra.uni LBB18_26;
LBB18_24:
add.s32 %r41, %r41, 1;
setp.lt.u32 %p63, %r41, %r11;
setp.eq.s32 %p39, %r11, %r41;
mov.u32 %r39, %r40;
@%p39 bra LBB18_26;
bra.uni LBB18_25;
LBB18_26:
mov.pred %p64, %p15;
@%p63 bra LBB18_28;
setp.gt.u64 %p9, %rd325, 63;
selp.b32 %r15, %r2, %r39, %p35;
ld.relaxed.sys.u64 %rd212, [%rd213];
setp.eq.s64 %p42, %rd212, 0;
and.pred %p64, %p42, %p9;
selp.b32 %r39, %r15, 3, %p42;
bra.uni LBB18_28;
LBB18_29:
setp.ne.s32 %p43, %r39, 0;
@%p43 bra LBB18_31;
bra.uni LBB18_30;
LBB18_31:
setp.ne.s32 %p45, %r39, 0;
mov.pred %p65, 0;
@%p45 bra LBB18_34;
add.s64 %rd129, %rd21, %rd335;
add.s64 %rd219, %rd323, -3335678366873096957;
xor.b64 %rd220, %rd219, %rd322;
add.s64 %rd221, %rd323, -6671356733746193914;
xor.b64 %rd222, %rd221, %rd321;
or.b64 %rd223, %rd222, %rd220;
add.s64 %rd224, %rd323, 8439708973090260745;
xor.b64 %rd225, %rd224, %rd320;
or.b64 %rd226, %rd223, %rd225;
add.s64 %rd227, %rd323, 5104030606217163788;
xor.b64 %rd228, %rd227, %rd319;
or.b64 %rd229, %rd226, %rd228;
add.s64 %rd230, %rd323, 1768352239344066831;
xor.b64 %rd231, %rd230, %rd318;
or.b64 %rd232, %rd229, %rd231;
add.s64 %rd233, %rd323, -1567326127529030126;
xor.b64 %rd234, %rd233, %rd317;
or.b64 %rd130, %rd232, %rd234;
add.s64 %rd335, %rd335, 1;
add.s64 %rd235, %rd317, %rd331;
add.s64 %rd236, %rd235, %rd318;
add.s64 %rd237, %rd236, %rd319;
add.s64 %rd238, %rd237, %rd320;
add.s64 %rd239, %rd238, %rd321;
add.s64 %rd240, %rd239, %rd322;
add.s64 %rd331, %rd240, %rd323;
mul.lo.s64 %rd241, %rd129, -7046029254386353131;
xor.b64 %rd242, %rd241, %rd323;
or.b64 %rd243, %rd242, %rd130;
setp.eq.s64 %p47, %rd243, 0;
mov.pred %p65, -1;
@%p47 bra LBB18_34;
mul.lo.s64 %rd244, %rd323, -1018231460777725123;
sub.s64 %rd245, %rd244, %rd129;
setp.ne.s64 %p49, %rd130, 0;
setp.gt.s64 %p50, %rd245, 1099511627776;
or.pred %p51, %p49, %p50;
setp.lt.s64 %p52, %rd245, -1099511627776;
or.pred %p53, %p51, %p52;
selp.u64 %rd246, 1, 0, %p53;
add.s64 %rd334, %rd334, %rd246;
setp.lt.s64 %p54, %rd245, 0;
not.pred %p55, %p53;
and.pred %p56, %p55, %p54;
selp.u64 %rd247, 1, 0, %p56;
add.s64 %rd333, %rd333, %rd247;
setp.gt.s64 %p57, %rd245, 0;
and.pred %p58, %p55, %p57;
selp.u64 %rd248, 1, 0, %p58;
add.s64 %rd332, %rd332, %rd248;
bra.uni LBB18_34;
LBB18_35:
mov.u64 %rd250, 1;
st.release.sys.u64 [%rd249], %rd250;
add.s64 %rd251, %rd257, 8;
st.release.sys.u64 [%rd251], %rd250;
cvt.s64.s32 %rd259, %r39;
st.global.u64 [%rd1], %rd335;
st.global.u64 [%rd1+8], %rd334;
st.global.u64 [%rd1+16], %rd333;
st.global.u64 [%rd1+24], %rd332;
st.global.u64 [%rd1+32], %rd331;
st.global.u64 [%rd1+40], %rd259;
st.global.u64 [%rd1+48], %rd250;
mov.u64 %rd260, 0;
st.global.u64 [%rd1+56], %rd260;
st.relaxed.sys.u64 [%rd253], %rd336;
st.relaxed.sys.u64 [%rd255], %rd314;
st.release.sys.u64 [%rd257], %rd314;
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
.reg .pred %p<41>;
.reg .b32 %r<25>;
.reg .b64 %rd<147>;
ld.param.u64 %rd66, [barmap_ring_call_8_8_param_4];
cvta.to.global.u64 %rd1, %rd66;
ld.param.u64 %rd67, [barmap_ring_call_8_8_param_2];
cvta.to.global.u64 %rd2, %rd67;
ld.param.u32 %rd6, [barmap_ring_call_8_8_param_3];
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r13, %r10, %r11, %r12;
mov.u64 %rd62, %globaltimer;
mov.u64 %rd63, %clock64;
cvt.u64.u32 %rd5, %r13;
ld.param.u64 %rd7, [barmap_ring_call_8_8_param_1+8];
ld.param.u64 %rd8, [barmap_ring_call_8_8_param_1];
ld.param.u64 %rd9, [barmap_ring_call_8_8_param_1+16];
ld.param.u64 %rd102, [barmap_ring_call_8_8_param_0+24];
add.s64 %rd88, %rd102, 8;
ld.param.u64 %rd12, [barmap_ring_call_8_8_param_0+16];
ld.param.u64 %rd13, [barmap_ring_call_8_8_param_0+32];
ld.param.u64 %rd14, [barmap_ring_call_8_8_param_0+8];
cvta.to.global.u64 %rd68, %rd14;
add.s64 %rd69, %rd68, 8;
cvta.global.u64 %rd15, %rd69;
setp.eq.s64 %p6, %rd9, 0;
selp.b32 %r1, 1, 4, %p6;
mov.u32 %r9, 0;
mov.u64 %rd128, 0;
ld.param.u64 %rd16, [barmap_ring_call_8_8_param_0];
mov.u32 %r15, 3;
mov.pred %p17, -1;
mov.pred %p20, 0;
mov.u64 %rd129, %rd128;
mov.u64 %rd139, %rd128;
mov.u64 %rd131, %rd128;
mov.u64 %rd141, %rd128;
mov.u32 %r21, %r9;
bra.uni LBB19_1;
LBB19_12:
add.s64 %rd107, %rd13, %rd74;
shl.b64 %rd108, %rd107, 1;
add.s64 %rd106, %rd108, 2;
st.release.sys.u64 [%rd29], %rd106;
mov.u64 %rd136, %rd41;
mov.u32 %r21, %r9;
LBB19_13:
mov.u64 %rd109, %clock64;
setp.ne.s32 %p26, %r21, 0;
mov.pred %p40, %p20;
@%p26 bra LBB19_18;
bra.uni LBB19_14;
LBB19_18:
@%p40 bra LBB19_1;
bra.uni LBB19_19;
LBB19_1:
setp.ge.u64 %p7, %rd141, %rd7;
setp.ne.s32 %p8, %r21, 0;
or.pred %p9, %p8, %p7;
@%p9 bra LBB19_19;
mul.lo.s64 %rd72, %rd141, %rd6;
add.s64 %rd73, %rd72, %rd5;
add.s64 %rd23, %rd73, %rd8;
mul.lo.s64 %rd92, %rd23, -7046029254386353131;
mov.u64 %rd134, 0;
mov.u64 %rd70, %clock64;
bra.uni LBB19_3;
LBB19_6:
add.s64 %rd90, %rd74, 1;
atom.relaxed.gpu.cas.b64 %rd87, [%rd88], %rd74, %rd90;
setp.eq.s64 %p18, %rd87, %rd74;
mov.pred %p38, %p17;
mov.u32 %r21, %r15;
@%p18 bra LBB19_9;
LBB19_3:
ld.relaxed.sys.u64 %rd74, [%rd88];
and.b64 %rd28, %rd13, %rd74;
shl.b64 %rd78, %rd28, 3;
add.s64 %rd29, %rd12, %rd78;
ld.acquire.sys.u64 %rd76, [%rd29];
shl.b64 %rd33, %rd74, 1;
setp.eq.s64 %p10, %rd76, %rd33;
@%p10 bra LBB19_6;
sub.s64 %rd31, %rd74, %rd13;
add.s64 %rd32, %rd31, -1;
shl.b64 %rd79, %rd32, 1;
or.b64 %rd80, %rd79, 1;
setp.ne.s64 %p11, %rd76, %rd80;
@%p11 bra LBB19_7;
and.b64 %rd83, %rd32, %rd13;
shl.b64 %rd84, %rd83, 6;
add.s64 %rd82, %rd15, %rd84;
ld.acquire.sys.u64 %rd81, [%rd82];
setp.ne.s64 %p12, %rd81, %rd31;
@%p12 bra LBB19_7;
bra.uni LBB19_6;
LBB19_7:
ld.relaxed.sys.u64 %rd85, [%rd102];
setp.ne.s64 %p14, %rd85, 0;
mov.pred %p38, 0;
mov.u32 %r21, %r15;
@%p14 bra LBB19_9;
add.s64 %rd34, %rd134, 1;
setp.lt.u64 %p16, %rd134, %rd9;
mov.u64 %rd134, %rd34;
mov.u32 %r21, %r1;
@%p16 bra LBB19_3;
LBB19_9:
@!%p38 bra LBB19_13;
bra.uni LBB19_10;
LBB19_10:
shl.b64 %rd95, %rd28, 4;
add.s64 %rd91, %rd16, %rd95;
add.s64 %rd93, %rd74, 1;
st.relaxed.sys.v2.u64 [%rd91], {%rd92, %rd93};
shl.b64 %rd96, %rd28, 6;
add.s64 %rd36, %rd14, %rd96;
or.b64 %rd37, %rd33, 1;
mov.u64 %rd135, 0;
bra.uni LBB19_11;
LBB19_26:
add.s64 %rd135, %rd135, 1;
@!%p4 bra LBB19_11;
bra.uni LBB19_13;
LBB19_11:
ld.acquire.sys.v2.u64 {%rd41, %rd98}, [%rd36];
setp.ne.s64 %p19, %rd98, %rd93;
@%p19 bra LBB19_22;
bra.uni LBB19_12;
LBB19_22:
setp.lt.u64 %p21, %rd135, %rd9;
and.b64 %rd100, %rd135, 63;
setp.ne.s64 %p22, %rd100, 63;
and.pred %p23, %p21, %p22;
mov.pred %p39, %p20;
@%p23 bra LBB19_24;
ld.relaxed.sys.u64 %rd101, [%rd102];
setp.ne.s64 %p39, %rd101, 0;
LBB19_24:
setp.ge.u64 %p24, %rd135, %rd9;
or.pred %p4, %p24, %p39;
@!%p4 bra LBB19_26;
bra.uni LBB19_25;
LBB19_25:
selp.b32 %r21, 3, 4, %p39;
st.release.sys.u64 [%rd29], %rd37;
bra.uni LBB19_26;
LBB19_14:
cvt.u32.u64 %r17, %rd5;
setp.ne.s32 %p27, %r17, 0;
@%p27 bra LBB19_16;
sub.s64 %rd45, %rd109, %rd70;
shl.b64 %rd110, %rd141, 3;
add.s64 %rd46, %rd1, %rd110;
st.global.u64 [%rd46], %rd45;
LBB19_16:
add.s64 %rd141, %rd141, 1;
add.s64 %rd139, %rd136, %rd139;
setp.eq.s64 %p29, %rd136, %rd92;
mov.pred %p40, %p17;
@%p29 bra LBB19_18;
mul.lo.s64 %rd111, %rd136, -1018231460777725123;
sub.s64 %rd112, %rd111, %rd23;
add.s64 %rd113, %rd112, -1099511627777;
setp.gt.u64 %p31, %rd113, -2199023255554;
setp.lt.u64 %p32, %rd113, -2199023255553;
selp.u64 %rd114, 1, 0, %p32;
add.s64 %rd131, %rd131, %rd114;
setp.lt.s64 %p33, %rd112, 0;
and.pred %p34, %p31, %p33;
selp.u64 %rd115, 1, 0, %p34;
add.s64 %rd128, %rd128, %rd115;
setp.gt.s64 %p35, %rd112, 0;
and.pred %p36, %p31, %p35;
selp.u64 %rd116, 1, 0, %p36;
add.s64 %rd129, %rd129, %rd116;
mov.pred %p40, %p17;
bra.uni LBB19_18;
LBB19_19:
cvt.u32.u64 %r18, %rd5;
setp.ne.s32 %p37, %r18, 0;
@%p37 bra LBB19_21;
mov.u64 %rd117, %globaltimer;
sub.s64 %rd119, %rd117, %rd62;
shl.b64 %rd120, %rd7, 3;
add.s64 %rd121, %rd1, %rd120;
st.global.u64 [%rd121], %rd119;
mov.u64 %rd118, %clock64;
sub.s64 %rd122, %rd118, %rd63;
st.global.u64 [%rd121+8], %rd122;
LBB19_21:
cvt.u64.u32 %rd123, %r21;
shl.b64 %rd124, %rd5, 6;
add.s64 %rd125, %rd2, %rd124;
st.global.u64 [%rd125], %rd141;
st.global.u64 [%rd125+8], %rd131;
st.global.u64 [%rd125+16], %rd128;
st.global.u64 [%rd125+24], %rd129;
st.global.u64 [%rd125+32], %rd139;
st.global.u64 [%rd125+40], %rd123;
mov.u64 %rd126, 1;
st.global.u64 [%rd125+48], %rd126;
mov.u64 %rd127, 0;
st.global.u64 [%rd125+56], %rd127;
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
.reg .pred %p<48>;
.reg .b32 %r<25>;
.reg .b64 %rd<206>;
ld.param.u64 %rd85, [barmap_ring_call_8_32_param_4];
cvta.to.global.u64 %rd1, %rd85;
ld.param.u64 %rd86, [barmap_ring_call_8_32_param_2];
cvta.to.global.u64 %rd2, %rd86;
ld.param.u32 %rd6, [barmap_ring_call_8_32_param_3];
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r13, %r10, %r11, %r12;
mov.u64 %rd81, %globaltimer;
mov.u64 %rd82, %clock64;
cvt.u64.u32 %rd5, %r13;
ld.param.u64 %rd7, [barmap_ring_call_8_32_param_1+8];
ld.param.u64 %rd8, [barmap_ring_call_8_32_param_1];
ld.param.u64 %rd9, [barmap_ring_call_8_32_param_1+16];
ld.param.u64 %rd144, [barmap_ring_call_8_32_param_0+24];
add.s64 %rd113, %rd144, 8;
ld.param.u64 %rd12, [barmap_ring_call_8_32_param_0+16];
ld.param.u64 %rd13, [barmap_ring_call_8_32_param_0+32];
ld.param.u64 %rd87, [barmap_ring_call_8_32_param_0+8];
cvta.to.global.u64 %rd14, %rd87;
setp.eq.s64 %p6, %rd9, 0;
selp.b32 %r1, 1, 4, %p6;
mov.u32 %r9, 0;
mov.u64 %rd181, 0;
ld.param.u64 %rd15, [barmap_ring_call_8_32_param_0];
mov.u32 %r15, 3;
mov.pred %p20, -1;
mov.pred %p23, 0;
mov.u64 %rd182, %rd181;
mov.u64 %rd198, %rd181;
mov.u64 %rd184, %rd181;
mov.u64 %rd200, %rd181;
mov.u32 %r21, %r9;
bra.uni LBB20_1;
LBB20_15:
add.s64 %rd149, %rd13, %rd92;
shl.b64 %rd150, %rd149, 1;
add.s64 %rd148, %rd150, 2;
st.release.sys.u64 [%rd31], %rd148;
mov.u64 %rd192, %rd56;
mov.u64 %rd193, %rd55;
mov.u64 %rd194, %rd54;
mov.u64 %rd195, %rd53;
mov.u32 %r21, %r9;
LBB20_16:
mov.u64 %rd151, %clock64;
setp.ne.s32 %p29, %r21, 0;
mov.pred %p47, %p23;
@%p29 bra LBB20_21;
bra.uni LBB20_17;
LBB20_21:
@%p47 bra LBB20_1;
bra.uni LBB20_22;
LBB20_1:
setp.ge.u64 %p7, %rd200, %rd7;
setp.ne.s32 %p8, %r21, 0;
or.pred %p9, %p8, %p7;
@%p9 bra LBB20_22;
mul.lo.s64 %rd90, %rd200, %rd6;
add.s64 %rd91, %rd90, %rd5;
add.s64 %rd25, %rd91, %rd8;
mul.lo.s64 %rd117, %rd25, -7046029254386353131;
mov.u64 %rd190, 0;
mov.u64 %rd88, %clock64;
bra.uni LBB20_3;
LBB20_9:
add.s64 %rd115, %rd92, 1;
atom.relaxed.gpu.cas.b64 %rd112, [%rd113], %rd92, %rd115;
setp.eq.s64 %p21, %rd112, %rd92;
mov.pred %p45, %p20;
mov.u32 %r21, %r15;
@%p21 bra LBB20_12;
LBB20_3:
ld.relaxed.sys.u64 %rd92, [%rd113];
and.b64 %rd30, %rd13, %rd92;
shl.b64 %rd96, %rd30, 3;
add.s64 %rd31, %rd12, %rd96;
ld.acquire.sys.u64 %rd94, [%rd31];
shl.b64 %rd35, %rd92, 1;
setp.eq.s64 %p10, %rd94, %rd35;
@%p10 bra LBB20_9;
sub.s64 %rd33, %rd92, %rd13;
add.s64 %rd34, %rd33, -1;
shl.b64 %rd97, %rd34, 1;
or.b64 %rd98, %rd97, 1;
setp.ne.s64 %p11, %rd94, %rd98;
@%p11 bra LBB20_10;
and.b64 %rd101, %rd34, %rd13;
shl.b64 %rd102, %rd101, 6;
add.s64 %rd103, %rd14, %rd102;
cvta.global.u64 %rd36, %rd103;
add.s64 %rd100, %rd36, 8;
ld.acquire.sys.u64 %rd99, [%rd100];
setp.ne.s64 %p12, %rd99, %rd33;
@%p12 bra LBB20_10;
add.s64 %rd105, %rd36, 24;
ld.acquire.sys.u64 %rd104, [%rd105];
setp.ne.s64 %p13, %rd104, %rd33;
@%p13 bra LBB20_10;
add.s64 %rd107, %rd36, 40;
ld.acquire.sys.u64 %rd106, [%rd107];
setp.ne.s64 %p14, %rd106, %rd33;
@%p14 bra LBB20_10;
add.s64 %rd109, %rd36, 56;
ld.acquire.sys.u64 %rd108, [%rd109];
setp.ne.s64 %p15, %rd108, %rd33;
@%p15 bra LBB20_10;
bra.uni LBB20_9;
LBB20_10:
ld.relaxed.sys.u64 %rd110, [%rd144];
setp.ne.s64 %p17, %rd110, 0;
mov.pred %p45, 0;
mov.u32 %r21, %r15;
@%p17 bra LBB20_12;
add.s64 %rd37, %rd190, 1;
setp.lt.u64 %p19, %rd190, %rd9;
mov.u64 %rd190, %rd37;
mov.u32 %r21, %r1;
@%p19 bra LBB20_3;
LBB20_12:
@!%p45 bra LBB20_16;
bra.uni LBB20_13;
LBB20_13:
shl.b64 %rd120, %rd30, 4;
add.s64 %rd116, %rd15, %rd120;
add.s64 %rd118, %rd92, 1;
st.relaxed.sys.v2.u64 [%rd116], {%rd117, %rd118};
shl.b64 %rd121, %rd30, 6;
add.s64 %rd122, %rd14, %rd121;
cvta.global.u64 %rd39, %rd122;
add.s64 %rd40, %rd39, 16;
add.s64 %rd41, %rd39, 32;
add.s64 %rd42, %rd39, 48;
or.b64 %rd43, %rd35, 1;
mov.u64 %rd191, 0;
bra.uni LBB20_14;
LBB20_29:
add.s64 %rd191, %rd191, 1;
@!%p4 bra LBB20_14;
bra.uni LBB20_16;
LBB20_14:
ld.relaxed.sys.v2.u64 {%rd53, %rd124}, [%rd39];
ld.relaxed.sys.v2.u64 {%rd54, %rd127}, [%rd40];
ld.relaxed.sys.v2.u64 {%rd55, %rd130}, [%rd41];
ld.acquire.sys.v2.u64 {%rd56, %rd133}, [%rd42];
xor.b64 %rd135, %rd130, %rd118;
xor.b64 %rd136, %rd127, %rd118;
xor.b64 %rd137, %rd124, %rd118;
or.b64 %rd138, %rd136, %rd137;
or.b64 %rd139, %rd138, %rd135;
xor.b64 %rd140, %rd133, %rd118;
or.b64 %rd141, %rd139, %rd140;
setp.ne.s64 %p22, %rd141, 0;
@%p22 bra LBB20_25;
bra.uni LBB20_15;
LBB20_25:
setp.lt.u64 %p24, %rd191, %rd9;
and.b64 %rd142, %rd191, 63;
setp.ne.s64 %p25, %rd142, 63;
and.pred %p26, %p24, %p25;
mov.pred %p46, %p23;
@%p26 bra LBB20_27;
ld.relaxed.sys.u64 %rd143, [%rd144];
setp.ne.s64 %p46, %rd143, 0;
LBB20_27:
setp.ge.u64 %p27, %rd191, %rd9;
or.pred %p4, %p27, %p46;
@!%p4 bra LBB20_29;
bra.uni LBB20_28;
LBB20_28:
selp.b32 %r21, 3, 4, %p46;
st.release.sys.u64 [%rd31], %rd43;
bra.uni LBB20_29;
LBB20_17:
cvt.u32.u64 %r17, %rd5;
setp.ne.s32 %p30, %r17, 0;
@%p30 bra LBB20_19;
sub.s64 %rd63, %rd151, %rd88;
shl.b64 %rd152, %rd200, 3;
add.s64 %rd64, %rd1, %rd152;
st.global.u64 [%rd64], %rd63;
LBB20_19:
add.s64 %rd153, %rd195, -3335678366873096957;
xor.b64 %rd154, %rd153, %rd194;
add.s64 %rd155, %rd195, -6671356733746193914;
xor.b64 %rd156, %rd155, %rd193;
or.b64 %rd157, %rd156, %rd154;
add.s64 %rd158, %rd195, 8439708973090260745;
xor.b64 %rd159, %rd158, %rd192;
or.b64 %rd65, %rd157, %rd159;
add.s64 %rd200, %rd200, 1;
add.s64 %rd160, %rd192, %rd198;
add.s64 %rd161, %rd160, %rd193;
add.s64 %rd162, %rd161, %rd194;
add.s64 %rd198, %rd162, %rd195;
xor.b64 %rd163, %rd195, %rd117;
or.b64 %rd164, %rd65, %rd163;
setp.eq.s64 %p32, %rd164, 0;
mov.pred %p47, %p20;
@%p32 bra LBB20_21;
mul.lo.s64 %rd165, %rd195, -1018231460777725123;
sub.s64 %rd166, %rd165, %rd25;
setp.ne.s64 %p34, %rd65, 0;
setp.gt.s64 %p35, %rd166, 1099511627776;
or.pred %p36, %p34, %p35;
setp.lt.s64 %p37, %rd166, -1099511627776;
or.pred %p38, %p36, %p37;
selp.u64 %rd167, 1, 0, %p38;
add.s64 %rd184, %rd184, %rd167;
setp.lt.s64 %p39, %rd166, 0;
not.pred %p40, %p38;
and.pred %p41, %p40, %p39;
selp.u64 %rd168, 1, 0, %p41;
add.s64 %rd181, %rd181, %rd168;
setp.gt.s64 %p42, %rd166, 0;
and.pred %p43, %p40, %p42;
selp.u64 %rd169, 1, 0, %p43;
add.s64 %rd182, %rd182, %rd169;
mov.pred %p47, %p20;
bra.uni LBB20_21;
LBB20_22:
cvt.u32.u64 %r18, %rd5;
setp.ne.s32 %p44, %r18, 0;
@%p44 bra LBB20_24;
mov.u64 %rd170, %globaltimer;
sub.s64 %rd172, %rd170, %rd81;
shl.b64 %rd173, %rd7, 3;
add.s64 %rd174, %rd1, %rd173;
st.global.u64 [%rd174], %rd172;
mov.u64 %rd171, %clock64;
sub.s64 %rd175, %rd171, %rd82;
st.global.u64 [%rd174+8], %rd175;
LBB20_24:
cvt.u64.u32 %rd176, %r21;
shl.b64 %rd177, %rd5, 6;
add.s64 %rd178, %rd2, %rd177;
st.global.u64 [%rd178], %rd200;
st.global.u64 [%rd178+8], %rd184;
st.global.u64 [%rd178+16], %rd181;
st.global.u64 [%rd178+24], %rd182;
st.global.u64 [%rd178+32], %rd198;
st.global.u64 [%rd178+40], %rd176;
mov.u64 %rd179, 1;
st.global.u64 [%rd178+48], %rd179;
mov.u64 %rd180, 0;
st.global.u64 [%rd178+56], %rd180;
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
.reg .pred %p<46>;
.reg .b32 %r<25>;
.reg .b64 %rd<256>;
ld.param.u64 %rd104, [barmap_ring_call_56_56_param_4];
cvta.to.global.u64 %rd1, %rd104;
ld.param.u64 %rd105, [barmap_ring_call_56_56_param_2];
cvta.to.global.u64 %rd2, %rd105;
ld.param.u32 %rd6, [barmap_ring_call_56_56_param_3];
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r13, %r10, %r11, %r12;
mov.u64 %rd100, %globaltimer;
mov.u64 %rd101, %clock64;
cvt.u64.u32 %rd5, %r13;
ld.param.u64 %rd7, [barmap_ring_call_56_56_param_1+8];
ld.param.u64 %rd8, [barmap_ring_call_56_56_param_1];
ld.param.u64 %rd9, [barmap_ring_call_56_56_param_1+16];
ld.param.u64 %rd169, [barmap_ring_call_56_56_param_0+24];
add.s64 %rd127, %rd169, 8;
ld.param.u64 %rd12, [barmap_ring_call_56_56_param_0+16];
ld.param.u64 %rd13, [barmap_ring_call_56_56_param_0+32];
ld.param.u64 %rd106, [barmap_ring_call_56_56_param_0+8];
cvta.to.global.u64 %rd14, %rd106;
add.s64 %rd107, %rd14, 56;
cvta.global.u64 %rd15, %rd107;
setp.eq.s64 %p6, %rd9, 0;
selp.b32 %r1, 1, 4, %p6;
ld.param.u64 %rd108, [barmap_ring_call_56_56_param_0];
cvta.to.global.u64 %rd16, %rd108;
mov.u32 %r9, 0;
mov.u64 %rd246, 0;
mov.u32 %r15, 3;
mov.pred %p17, -1;
mov.pred %p21, 0;
mov.u64 %rd219, %rd246;
mov.u64 %rd220, %rd246;
mov.u64 %rd221, %rd246;
mov.u64 %rd250, %rd246;
mov.u32 %r21, %r9;
bra.uni LBB21_1;
LBB21_14:
add.s64 %rd174, %rd13, %rd113;
shl.b64 %rd175, %rd174, 1;
add.s64 %rd173, %rd175, 2;
st.release.sys.u64 [%rd41], %rd173;
mov.u64 %rd239, %rd232;
mov.u64 %rd240, %rd233;
mov.u64 %rd241, %rd234;
mov.u64 %rd242, %rd235;
mov.u64 %rd243, %rd236;
mov.u64 %rd244, %rd237;
mov.u64 %rd245, %rd238;
mov.u32 %r21, %r9;
LBB21_15:
mov.u64 %rd176, %clock64;
setp.ne.s32 %p27, %r21, 0;
mov.pred %p45, %p21;
@%p27 bra LBB21_20;
bra.uni LBB21_16;
LBB21_20:
@%p45 bra LBB21_1;
bra.uni LBB21_21;
LBB21_1:
setp.ge.u64 %p7, %rd250, %rd7;
setp.ne.s32 %p8, %r21, 0;
or.pred %p9, %p8, %p7;
@%p9 bra LBB21_21;
mul.lo.s64 %rd111, %rd250, %rd6;
add.s64 %rd112, %rd111, %rd5;
add.s64 %rd29, %rd112, %rd8;
mul.lo.s64 %rd131, %rd29, -7046029254386353131;
add.s64 %rd133, %rd131, -3335678366873096957;
add.s64 %rd135, %rd131, -6671356733746193914;
add.s64 %rd137, %rd131, 8439708973090260745;
add.s64 %rd139, %rd131, 5104030606217163788;
add.s64 %rd141, %rd131, 1768352239344066831;
add.s64 %rd143, %rd131, -1567326127529030126;
mov.u64 %rd230, 0;
mov.u64 %rd109, %clock64;
bra.uni LBB21_3;
LBB21_6:
add.s64 %rd129, %rd113, 1;
atom.relaxed.gpu.cas.b64 %rd126, [%rd127], %rd113, %rd129;
setp.eq.s64 %p18, %rd126, %rd113;
mov.pred %p43, %p17;
mov.u32 %r21, %r15;
@%p18 bra LBB21_9;
LBB21_3:
ld.relaxed.sys.u64 %rd113, [%rd127];
and.b64 %rd40, %rd13, %rd113;
shl.b64 %rd117, %rd40, 3;
add.s64 %rd41, %rd12, %rd117;
ld.acquire.sys.u64 %rd115, [%rd41];
shl.b64 %rd45, %rd113, 1;
setp.eq.s64 %p10, %rd115, %rd45;
@%p10 bra LBB21_6;
sub.s64 %rd43, %rd113, %rd13;
add.s64 %rd44, %rd43, -1;
shl.b64 %rd118, %rd44, 1;
or.b64 %rd119, %rd118, 1;
setp.ne.s64 %p11, %rd115, %rd119;
@%p11 bra LBB21_7;
and.b64 %rd122, %rd44, %rd13;
shl.b64 %rd123, %rd122, 6;
add.s64 %rd121, %rd15, %rd123;
ld.acquire.sys.u64 %rd120, [%rd121];
setp.ne.s64 %p12, %rd120, %rd43;
@%p12 bra LBB21_7;
bra.uni LBB21_6;
LBB21_7:
ld.relaxed.sys.u64 %rd124, [%rd169];
setp.ne.s64 %p14, %rd124, 0;
mov.pred %p43, 0;
mov.u32 %r21, %r15;
@%p14 bra LBB21_9;
add.s64 %rd46, %rd230, 1;
setp.lt.u64 %p16, %rd230, %rd9;
mov.u64 %rd230, %rd46;
mov.u32 %r21, %r1;
@%p16 bra LBB21_3;
LBB21_9:
@!%p43 bra LBB21_15;
bra.uni LBB21_10;
LBB21_10:
shl.b64 %rd147, %rd40, 6;
add.s64 %rd148, %rd16, %rd147;
cvta.global.u64 %rd130, %rd148;
add.s64 %rd145, %rd113, 1;
st.relaxed.sys.u64 [%rd130], %rd131;
add.s64 %rd132, %rd130, 8;
st.relaxed.sys.u64 [%rd132], %rd133;
add.s64 %rd134, %rd130, 16;
st.relaxed.sys.u64 [%rd134], %rd135;
add.s64 %rd136, %rd130, 24;
st.relaxed.sys.u64 [%rd136], %rd137;
add.s64 %rd138, %rd130, 32;
st.relaxed.sys.u64 [%rd138], %rd139;
add.s64 %rd140, %rd130, 40;
st.relaxed.sys.u64 [%rd140], %rd141;
add.s64 %rd142, %rd130, 48;
st.relaxed.sys.u64 [%rd142], %rd143;
add.s64 %rd144, %rd130, 56;
st.release.sys.u64 [%rd144], %rd145;
add.s64 %rd149, %rd14, %rd147;
cvta.global.u64 %rd48, %rd149;
add.s64 %rd49, %rd48, 56;
add.s64 %rd50, %rd48, 8;
add.s64 %rd51, %rd48, 16;
add.s64 %rd52, %rd48, 24;
add.s64 %rd53, %rd48, 32;
add.s64 %rd54, %rd48, 40;
add.s64 %rd55, %rd48, 48;
or.b64 %rd56, %rd45, 1;
mov.u64 %rd231, 0;
bra.uni LBB21_11;
LBB21_28:
add.s64 %rd231, %rd231, 1;
@!%p4 bra LBB21_11;
bra.uni LBB21_15;
LBB21_11:
ld.acquire.sys.u64 %rd150, [%rd49];
setp.ne.s64 %p19, %rd150, %rd145;
@%p19 bra LBB21_13;
ld.relaxed.sys.u64 %rd238, [%rd48];
ld.relaxed.sys.u64 %rd237, [%rd50];
ld.relaxed.sys.u64 %rd236, [%rd51];
ld.relaxed.sys.u64 %rd235, [%rd52];
ld.relaxed.sys.u64 %rd234, [%rd53];
ld.relaxed.sys.u64 %rd233, [%rd54];
ld.relaxed.sys.u64 %rd232, [%rd55];
LBB21_13:
@%p19 bra LBB21_24;
bra.uni LBB21_14;
LBB21_24:
setp.lt.u64 %p22, %rd231, %rd9;
and.b64 %rd167, %rd231, 63;
setp.ne.s64 %p23, %rd167, 63;
and.pred %p24, %p22, %p23;
mov.pred %p44, %p21;
@%p24 bra LBB21_26;
ld.relaxed.sys.u64 %rd168, [%rd169];
setp.ne.s64 %p44, %rd168, 0;
LBB21_26:
setp.ge.u64 %p25, %rd231, %rd9;
or.pred %p4, %p25, %p44;
@!%p4 bra LBB21_28;
bra.uni LBB21_27;
LBB21_27:
selp.b32 %r21, 3, 4, %p44;
st.release.sys.u64 [%rd41], %rd56;
bra.uni LBB21_28;
LBB21_16:
cvt.u32.u64 %r17, %rd5;
setp.ne.s32 %p28, %r17, 0;
@%p28 bra LBB21_18;
sub.s64 %rd82, %rd176, %rd109;
shl.b64 %rd177, %rd250, 3;
add.s64 %rd83, %rd1, %rd177;
st.global.u64 [%rd83], %rd82;
LBB21_18:
add.s64 %rd178, %rd245, -3335678366873096957;
xor.b64 %rd179, %rd178, %rd244;
add.s64 %rd180, %rd245, -6671356733746193914;
xor.b64 %rd181, %rd180, %rd243;
or.b64 %rd182, %rd181, %rd179;
add.s64 %rd183, %rd245, 8439708973090260745;
xor.b64 %rd184, %rd183, %rd242;
or.b64 %rd185, %rd182, %rd184;
add.s64 %rd186, %rd245, 5104030606217163788;
xor.b64 %rd187, %rd186, %rd241;
or.b64 %rd188, %rd185, %rd187;
add.s64 %rd189, %rd245, 1768352239344066831;
xor.b64 %rd190, %rd189, %rd240;
or.b64 %rd191, %rd188, %rd190;
add.s64 %rd192, %rd245, -1567326127529030126;
xor.b64 %rd193, %rd192, %rd239;
or.b64 %rd84, %rd191, %rd193;
add.s64 %rd250, %rd250, 1;
add.s64 %rd194, %rd239, %rd246;
add.s64 %rd195, %rd194, %rd240;
add.s64 %rd196, %rd195, %rd241;
add.s64 %rd197, %rd196, %rd242;
add.s64 %rd198, %rd197, %rd243;
add.s64 %rd199, %rd198, %rd244;
add.s64 %rd246, %rd199, %rd245;
xor.b64 %rd200, %rd245, %rd131;
or.b64 %rd201, %rd84, %rd200;
setp.eq.s64 %p30, %rd201, 0;
mov.pred %p45, %p17;
@%p30 bra LBB21_20;
mul.lo.s64 %rd202, %rd245, -1018231460777725123;
sub.s64 %rd203, %rd202, %rd29;
setp.ne.s64 %p32, %rd84, 0;
setp.gt.s64 %p33, %rd203, 1099511627776;
or.pred %p34, %p32, %p33;
setp.lt.s64 %p35, %rd203, -1099511627776;
or.pred %p36, %p34, %p35;
selp.u64 %rd204, 1, 0, %p36;
add.s64 %rd221, %rd221, %rd204;
setp.lt.s64 %p37, %rd203, 0;
not.pred %p38, %p36;
and.pred %p39, %p38, %p37;
selp.u64 %rd205, 1, 0, %p39;
add.s64 %rd220, %rd220, %rd205;
setp.gt.s64 %p40, %rd203, 0;
and.pred %p41, %p38, %p40;
selp.u64 %rd206, 1, 0, %p41;
add.s64 %rd219, %rd219, %rd206;
mov.pred %p45, %p17;
bra.uni LBB21_20;
LBB21_21:
cvt.u32.u64 %r18, %rd5;
setp.ne.s32 %p42, %r18, 0;
@%p42 bra LBB21_23;
mov.u64 %rd207, %globaltimer;
sub.s64 %rd209, %rd207, %rd100;
shl.b64 %rd210, %rd7, 3;
add.s64 %rd211, %rd1, %rd210;
st.global.u64 [%rd211], %rd209;
mov.u64 %rd208, %clock64;
sub.s64 %rd212, %rd208, %rd101;
st.global.u64 [%rd211+8], %rd212;
LBB21_23:
cvt.u64.u32 %rd213, %r21;
shl.b64 %rd214, %rd5, 6;
add.s64 %rd215, %rd2, %rd214;
st.global.u64 [%rd215], %rd250;
st.global.u64 [%rd215+8], %rd221;
st.global.u64 [%rd215+16], %rd220;
st.global.u64 [%rd215+24], %rd219;
st.global.u64 [%rd215+32], %rd246;
st.global.u64 [%rd215+40], %rd213;
mov.u64 %rd216, 1;
st.global.u64 [%rd215+48], %rd216;
mov.u64 %rd217, 0;
st.global.u64 [%rd215+56], %rd217;
ret;
}
)";
// clang-format on

} // namespace barmap::tool
