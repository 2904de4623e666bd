// SPDX-License-Identifier: MIT
// Made by scripts/ptx with clang 14 from ring_kernels.cu: change that, and run it again.
#pragma once

/// The GPU kernels of `barmap ring`, in PTX 6.4 for sm_70 as those in ptx.hpp.
namespace barmap::tool {

// Each is described by the function in ring_kernels.cuh that it is named for. Parameters are the
// handles of the rings, a ring_task, and where the ring_findings go; of those for many threads also
// how many these are.
// clang-format off
inline constexpr char const* ptx_ring = R"(.version 6.4
.target sm_70
.address_size 64
)"
R"(.visible .entry barmap_ring_sink_thread_64(
.param .align 8 .b8 barmap_ring_sink_thread_64_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_64_param_1[24],
.param .u64 barmap_ring_sink_thread_64_param_2
)
{
.reg .pred %p<30>;
.reg .b32 %r<15>;
.reg .b64 %rd<216>;
ld.param.u64 %rd83, [barmap_ring_sink_thread_64_param_2];
cvta.to.global.u64 %rd1, %rd83;
ld.param.u64 %rd84, [barmap_ring_sink_thread_64_param_0];
cvta.to.global.u64 %rd2, %rd84;
ld.param.u64 %rd95, [barmap_ring_sink_thread_64_param_0+8];
ld.param.u64 %rd140, [barmap_ring_sink_thread_64_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_64_param_0+24];
add.s64 %rd138, %rd95, 8;
ld.relaxed.sys.u64 %rd198, [%rd138];
add.s64 %rd85, %rd2, 56;
cvta.global.u64 %rd8, %rd85;
setp.lt.u64 %p3, %rd5, 4;
add.s64 %rd86, %rd5, 1;
shr.u64 %rd87, %rd86, 2;
selp.b64 %rd9, 1, %rd87, %p3;
ld.param.u64 %rd10, [barmap_ring_sink_thread_64_param_1+16];
setp.eq.s64 %p4, %rd10, 0;
selp.b32 %r1, 2, 4, %p4;
mov.u64 %rd81, 0;
ld.param.u64 %rd11, [barmap_ring_sink_thread_64_param_1];
mov.u32 %r10, 0;
mov.pred %p6, -1;
mov.u32 %r7, 3;
mov.pred %p10, 0;
mov.u64 %rd174, %rd81;
mov.u64 %rd199, %rd198;
mov.u64 %rd177, %rd81;
mov.u64 %rd178, %rd81;
mov.u64 %rd179, %rd81;
mov.u64 %rd180, %rd81;
LBB0_1:
mov.u64 %rd197, %rd81;
bra.uni LBB0_2;
LBB0_10:
setp.lt.u64 %p15, %rd197, %rd10;
selp.b32 %r13, %r13, %r1, %p15;
mov.pred %p29, %p1;
LBB0_11:
add.s64 %rd197, %rd197, 1;
@%p29 bra LBB0_2;
bra.uni LBB0_12;
LBB0_2:
and.b64 %rd91, %rd199, %rd5;
shl.b64 %rd36, %rd91, 3;
add.s64 %rd37, %rd199, 1;
shl.b64 %rd92, %rd91, 6;
add.s64 %rd90, %rd8, %rd92;
ld.acquire.sys.u64 %rd89, [%rd90];
setp.ne.s64 %p5, %rd89, %rd37;
@%p5 bra LBB0_5;
bra.uni LBB0_3;
LBB0_5:
setp.lt.u64 %p1, %rd197, %rd10;
and.b64 %rd93, %rd197, 63;
setp.ne.s64 %p7, %rd93, 63;
and.pred %p8, %p1, %p7;
mov.pred %p29, %p6;
@%p8 bra LBB0_11;
ld.acquire.sys.u64 %rd94, [%rd95];
setp.eq.s64 %p9, %rd94, 0;
@%p9 bra LBB0_10;
ld.acquire.sys.u64 %rd96, [%rd90];
setp.ne.s64 %p11, %rd96, %rd37;
mov.pred %p29, %p10;
mov.u32 %r13, %r7;
@%p11 bra LBB0_11;
shl.b64 %rd112, %rd36, 3;
add.s64 %rd113, %rd2, %rd112;
cvta.global.u64 %rd99, %rd113;
ld.relaxed.sys.u64 %rd206, [%rd99];
add.s64 %rd101, %rd99, 8;
ld.relaxed.sys.u64 %rd205, [%rd101];
add.s64 %rd103, %rd99, 16;
ld.relaxed.sys.u64 %rd204, [%rd103];
add.s64 %rd105, %rd99, 24;
ld.relaxed.sys.u64 %rd203, [%rd105];
add.s64 %rd107, %rd99, 32;
ld.relaxed.sys.u64 %rd202, [%rd107];
add.s64 %rd109, %rd99, 40;
ld.relaxed.sys.u64 %rd201, [%rd109];
add.s64 %rd111, %rd99, 48;
ld.relaxed.sys.u64 %rd200, [%rd111];
sub.s64 %rd114, %rd37, %rd198;
setp.lt.u64 %p13, %rd114, %rd9;
mov.u64 %rd199, %rd37;
mov.pred %p29, %p10;
mov.u32 %r13, %r10;
@%p13 bra LBB0_11;
st.release.sys.u64 [%rd140], %rd37;
mov.u64 %rd198, %rd37;
mov.u64 %rd199, %rd37;
mov.pred %p29, %p10;
mov.u32 %r13, %r10;
bra.uni LBB0_11;
LBB0_3:
shl.b64 %rd131, %rd36, 3;
add.s64 %rd132, %rd2, %rd131;
cvta.global.u64 %rd118, %rd132;
ld.relaxed.sys.u64 %rd206, [%rd118];
add.s64 %rd120, %rd118, 8;
ld.relaxed.sys.u64 %rd205, [%rd120];
add.s64 %rd122, %rd118, 16;
ld.relaxed.sys.u64 %rd204, [%rd122];
add.s64 %rd124, %rd118, 24;
ld.relaxed.sys.u64 %rd203, [%rd124];
add.s64 %rd126, %rd118, 32;
ld.relaxed.sys.u64 %rd202, [%rd126];
add.s64 %rd128, %rd118, 40;
ld.relaxed.sys.u64 %rd201, [%rd128];
add.s64 %rd130, %rd118, 48;
ld.relaxed.sys.u64 %rd200, [%rd130];
sub.s64 %rd133, %rd37, %rd198;
setp.lt.u64 %p16, %rd133, %rd9;
mov.u64 %rd199, %rd37;
mov.u32 %r13, %r10;
@%p16 bra LBB0_12;
st.release.sys.u64 [%rd140], %rd37;
mov.u64 %rd198, %rd37;
mov.u64 %rd199, %rd37;
mov.u32 %r13, %r10;
LBB0_12:
setp.ne.s32 %p17, %r13, 0;
@%p17 bra LBB0_15;
add.s64 %rd72, %rd11, %rd180;
add.s64 %rd144, %rd206, -3335678366873096957;
xor.b64 %rd145, %rd144, %rd205;
add.s64 %rd146, %rd206, -6671356733746193914;
xor.b64 %rd147, %rd146, %rd204;
or.b64 %rd148, %rd147, %rd145;
add.s64 %rd149, %rd206, 8439708973090260745;
xor.b64 %rd150, %rd149, %rd203;
or.b64 %rd151, %rd148, %rd150;
add.s64 %rd152, %rd206, 5104030606217163788;
xor.b64 %rd153, %rd152, %rd202;
or.b64 %rd154, %rd151, %rd153;
add.s64 %rd155, %rd206, 1768352239344066831;
xor.b64 %rd156, %rd155, %rd201;
or.b64 %rd157, %rd154, %rd156;
add.s64 %rd158, %rd206, -1567326127529030126;
xor.b64 %rd159, %rd158, %rd200;
or.b64 %rd73, %rd157, %rd159;
add.s64 %rd180, %rd180, 1;
add.s64 %rd160, %rd200, %rd174;
add.s64 %rd161, %rd160, %rd201;
add.s64 %rd162, %rd161, %rd202;
add.s64 %rd163, %rd162, %rd203;
add.s64 %rd164, %rd163, %rd204;
add.s64 %rd165, %rd164, %rd205;
add.s64 %rd174, %rd165, %rd206;
mul.lo.s64 %rd166, %rd72, -7046029254386353131;
xor.b64 %rd167, %rd166, %rd206;
or.b64 %rd168, %rd167, %rd73;
setp.eq.s64 %p18, %rd168, 0;
@%p18 bra LBB0_1;
mul.lo.s64 %rd169, %rd206, -1018231460777725123;
sub.s64 %rd170, %rd169, %rd72;
setp.ne.s64 %p19, %rd73, 0;
setp.gt.s64 %p20, %rd170, 1099511627776;
or.pred %p21, %p19, %p20;
setp.lt.s64 %p22, %rd170, -1099511627776;
or.pred %p23, %p21, %p22;
selp.u64 %rd171, 1, 0, %p23;
add.s64 %rd179, %rd179, %rd171;
setp.lt.s64 %p24, %rd170, 0;
not.pred %p25, %p23;
and.pred %p26, %p25, %p24;
selp.u64 %rd172, 1, 0, %p26;
add.s64 %rd178, %rd178, %rd172;
setp.gt.s64 %p27, %rd170, 0;
and.pred %p28, %p25, %p27;
selp.u64 %rd173, 1, 0, %p28;
add.s64 %rd177, %rd177, %rd173;
bra.uni LBB0_1;
LBB0_15:
add.s64 %rd136, %rd140, 8;
mov.u64 %rd137, 1;
st.release.sys.u64 [%rd136], %rd137;
cvt.s64.s32 %rd142, %r13;
st.global.u64 [%rd1], %rd180;
st.global.u64 [%rd1+8], %rd179;
st.global.u64 [%rd1+16], %rd178;
st.global.u64 [%rd1+24], %rd177;
st.global.u64 [%rd1+32], %rd174;
st.global.u64 [%rd1+40], %rd142;
st.global.u64 [%rd1+48], %rd137;
mov.u64 %rd143, 0;
st.global.u64 [%rd1+56], %rd143;
st.relaxed.sys.u64 [%rd138], %rd199;
st.release.sys.u64 [%rd140], %rd199;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_64(
.param .align 8 .b8 barmap_ring_sink_warp_64_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_64_param_1[24],
.param .u64 barmap_ring_sink_warp_64_param_2
)
{
.reg .pred %p<42>;
.reg .b32 %r<54>;
.reg .b64 %rd<314>;
ld.param.u64 %rd128, [barmap_ring_sink_warp_64_param_2];
cvta.to.global.u64 %rd1, %rd128;
mov.u32 %r16, %tid.x;
and.b32 %r17, %r16, 31;
ld.param.u64 %rd129, [barmap_ring_sink_warp_64_param_0];
cvta.to.global.u64 %rd2, %rd129;
ld.param.u64 %rd162, [barmap_ring_sink_warp_64_param_0+8];
ld.param.u64 %rd198, [barmap_ring_sink_warp_64_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_64_param_0+24];
add.s64 %rd196, %rd162, 8;
ld.relaxed.sys.u64 %rd264, [%rd196];
ld.param.u64 %rd246, [barmap_ring_sink_warp_64_param_1];
add.s64 %rd130, %rd2, 56;
cvta.global.u64 %rd9, %rd130;
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd131, %rd5, 1;
shr.u64 %rd132, %rd131, 2;
selp.b64 %rd10, 1, %rd132, %p4;
cvt.u64.u32 %rd11, %r17;
ld.param.u64 %rd12, [barmap_ring_sink_warp_64_param_1+16];
setp.eq.s64 %p5, %rd12, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd126, 0;
mov.u32 %r22, -1;
mov.u32 %r27, 0;
mov.pred %p23, -1;
mov.pred %p20, 0;
mov.u64 %rd309, %rd126;
mov.u64 %rd283, %rd264;
mov.u64 %rd310, %rd126;
mov.u64 %rd311, %rd126;
mov.u64 %rd312, %rd126;
mov.u64 %rd313, %rd126;
bra.uni LBB1_1;
LBB1_24:
cvt.u64.u32 %rd230, %r48;
add.s64 %rd246, %rd246, %rd230;
LBB1_1:
mov.u64 %rd256, %rd126;
bra.uni LBB1_2;
LBB1_18:
mov.pred %p41, %p23;
LBB1_19:
add.s64 %rd256, %rd256, 1;
mov.u32 %r53, %r49;
@%p41 bra LBB1_2;
bra.uni LBB1_20;
LBB1_2:
mov.u32 %r19, %laneid;
cvt.u64.u32 %rd38, %r19;
add.s64 %rd136, %rd283, %rd38;
and.b64 %rd137, %rd136, %rd5;
add.s64 %rd138, %rd136, 1;
shl.b64 %rd139, %rd137, 6;
add.s64 %rd135, %rd9, %rd139;
ld.acquire.sys.u64 %rd134, [%rd135];
setp.eq.s64 %p6, %rd134, %rd138;
selp.u32 %r21, 1, 0, %p6;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r22; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
min.u32 %r48, %r23, 32;
setp.ge.u32 %p7, %r19, %r48;
@%p7 bra LBB1_4;
shl.b64 %rd39, %rd137, 3;
shl.b64 %rd154, %rd39, 3;
add.s64 %rd155, %rd2, %rd154;
cvta.global.u64 %rd141, %rd155;
ld.relaxed.sys.u64 %rd281, [%rd141];
add.s64 %rd143, %rd141, 8;
ld.relaxed.sys.u64 %rd280, [%rd143];
add.s64 %rd145, %rd141, 16;
ld.relaxed.sys.u64 %rd279, [%rd145];
add.s64 %rd147, %rd141, 24;
ld.relaxed.sys.u64 %rd278, [%rd147];
add.s64 %rd149, %rd141, 32;
ld.relaxed.sys.u64 %rd277, [%rd149];
add.s64 %rd151, %rd141, 40;
ld.relaxed.sys.u64 %rd276, [%rd151];
add.s64 %rd153, %rd141, 48;
ld.relaxed.sys.u64 %rd275, [%rd153];
LBB1_4:
cvt.u64.u32 %rd156, %r48;
add.s64 %rd283, %rd283, %rd156;
sub.s64 %rd157, %rd283, %rd264;
setp.lt.u64 %p8, %rd157, %rd10;
@%p8 bra LBB1_7;
cvt.u32.u64 %r26, %rd38;
bar.warp.sync %r22;
setp.ne.s32 %p9, %r26, 0;
mov.u64 %rd264, %rd283;
@%p9 bra LBB1_7;
st.release.sys.u64 [%rd198], %rd283;
mov.u64 %rd264, %rd283;
LBB1_7:
setp.ne.s32 %p10, %r48, 0;
mov.u32 %r53, %r27;
@%p10 bra LBB1_20;
setp.lt.u64 %p40, %rd256, %rd12;
and.b64 %rd160, %rd256, 63;
setp.ne.s64 %p11, %rd160, 63;
and.pred %p12, %p40, %p11;
mov.u32 %r48, 0;
@%p12 bra LBB1_18;
ld.acquire.sys.u64 %rd161, [%rd162];
setp.ne.s64 %p13, %rd161, 0;
selp.u32 %r30, 1, 0, %p13;
{ .reg .pred p; setp.ne.u32 p, %r30, 0; vote.sync.ballot.b32 %r29, p, %r22; }
not.b32 %r33, %r29;
{ .reg .b32 r; brev.b32 r, %r33; bfind.shiftamt.u32 %r32, r; }
setp.lt.u32 %p14, %r32, 32;
@%p14 bra LBB1_16;
cvt.u32.u64 %r40, %rd38;
add.s64 %rd165, %rd283, %rd38;
and.b64 %rd166, %rd165, %rd5;
add.s64 %rd167, %rd165, 1;
shl.b64 %rd168, %rd166, 6;
add.s64 %rd164, %rd9, %rd168;
ld.acquire.sys.u64 %rd163, [%rd164];
setp.eq.s64 %p16, %rd163, %rd167;
selp.u32 %r36, 1, 0, %p16;
{ .reg .pred p; setp.ne.u32 p, %r36, 0; vote.sync.ballot.b32 %r35, p, %r22; }
not.b32 %r39, %r35;
{ .reg .b32 r; brev.b32 r, %r39; bfind.shiftamt.u32 %r38, r; }
min.u32 %r48, %r38, 32;
setp.ge.u32 %p17, %r40, %r48;
@%p17 bra LBB1_12;
shl.b64 %rd56, %rd166, 3;
shl.b64 %rd183, %rd56, 3;
add.s64 %rd184, %rd2, %rd183;
cvta.global.u64 %rd170, %rd184;
ld.relaxed.sys.u64 %rd281, [%rd170];
add.s64 %rd172, %rd170, 8;
ld.relaxed.sys.u64 %rd280, [%rd172];
add.s64 %rd174, %rd170, 16;
ld.relaxed.sys.u64 %rd279, [%rd174];
add.s64 %rd176, %rd170, 24;
ld.relaxed.sys.u64 %rd278, [%rd176];
add.s64 %rd178, %rd170, 32;
ld.relaxed.sys.u64 %rd277, [%rd178];
add.s64 %rd180, %rd170, 40;
ld.relaxed.sys.u64 %rd276, [%rd180];
add.s64 %rd182, %rd170, 48;
ld.relaxed.sys.u64 %rd275, [%rd182];
LBB1_12:
cvt.u64.u32 %rd185, %r48;
add.s64 %rd283, %rd283, %rd185;
sub.s64 %rd186, %rd283, %rd264;
setp.lt.u64 %p18, %rd186, %rd10;
@%p18 bra LBB1_15;
bar.warp.sync %r22;
setp.ne.s32 %p19, %r40, 0;
mov.u64 %rd264, %rd283;
@%p19 bra LBB1_15;
st.release.sys.u64 [%rd198], %rd283;
mov.u64 %rd264, %rd283;
LBB1_15:
setp.eq.s32 %p21, %r48, 0;
selp.b32 %r49, 3, 0, %p21;
mov.pred %p40, %p20;
bra.uni LBB1_17;
LBB1_16:
setp.lt.u64 %p15, %rd256, %rd12;
selp.b32 %r49, %r49, %r1, %p15;
mov.u32 %r48, 0;
LBB1_17:
mov.pred %p41, %p20;
@!%p40 bra LBB1_19;
bra.uni LBB1_18;
LBB1_20:
setp.ne.s32 %p24, %r53, 0;
@%p24 bra LBB1_25;
cvt.u32.u64 %r44, %rd11;
setp.le.u32 %p28, %r48, %r44;
@%p28 bra LBB1_24;
add.s64 %rd110, %rd246, %rd11;
add.s64 %rd200, %rd281, -3335678366873096957;
xor.b64 %rd201, %rd200, %rd280;
add.s64 %rd202, %rd281, -6671356733746193914;
xor.b64 %rd203, %rd202, %rd279;
or.b64 %rd204, %rd203, %rd201;
add.s64 %rd205, %rd281, 8439708973090260745;
xor.b64 %rd206, %rd205, %rd278;
or.b64 %rd207, %rd204, %rd206;
add.s64 %rd208, %rd281, 5104030606217163788;
xor.b64 %rd209, %rd208, %rd277;
or.b64 %rd210, %rd207, %rd209;
add.s64 %rd211, %rd281, 1768352239344066831;
xor.b64 %rd212, %rd211, %rd276;
or.b64 %rd213, %rd210, %rd212;
add.s64 %rd214, %rd281, -1567326127529030126;
xor.b64 %rd215, %rd214, %rd275;
or.b64 %rd111, %rd213, %rd215;
add.s64 %rd313, %rd313, 1;
add.s64 %rd216, %rd275, %rd309;
add.s64 %rd217, %rd216, %rd276;
add.s64 %rd218, %rd217, %rd277;
add.s64 %rd219, %rd218, %rd278;
add.s64 %rd220, %rd219, %rd279;
add.s64 %rd221, %rd220, %rd280;
add.s64 %rd309, %rd221, %rd281;
mul.lo.s64 %rd222, %rd110, -7046029254386353131;
xor.b64 %rd223, %rd281, %rd222;
or.b64 %rd224, %rd111, %rd223;
setp.eq.s64 %p29, %rd224, 0;
@%p29 bra LBB1_24;
mul.lo.s64 %rd225, %rd281, -1018231460777725123;
sub.s64 %rd226, %rd225, %rd110;
setp.ne.s64 %p30, %rd111, 0;
setp.gt.s64 %p31, %rd226, 1099511627776;
or.pred %p32, %p30, %p31;
setp.lt.s64 %p33, %rd226, -1099511627776;
or.pred %p34, %p32, %p33;
selp.u64 %rd227, 1, 0, %p34;
add.s64 %rd312, %rd312, %rd227;
setp.lt.s64 %p35, %rd226, 0;
not.pred %p36, %p34;
and.pred %p37, %p36, %p35;
selp.u64 %rd228, 1, 0, %p37;
add.s64 %rd311, %rd311, %rd228;
setp.gt.s64 %p38, %rd226, 0;
and.pred %p39, %p36, %p38;
selp.u64 %rd229, 1, 0, %p39;
add.s64 %rd310, %rd310, %rd229;
bra.uni LBB1_24;
LBB1_25:
cvt.u32.u64 %r15, %rd38;
setp.ne.s32 %p25, %r15, 0;
mov.u64 %rd231, 1;
@%p25 bra LBB1_27;
add.s64 %rd189, %rd198, 8;
st.release.sys.u64 [%rd189], %rd231;
LBB1_27:
cvt.s64.s32 %rd191, %r53;
shl.b64 %rd192, %rd11, 6;
add.s64 %rd193, %rd1, %rd192;
st.global.u64 [%rd193], %rd313;
st.global.u64 [%rd193+8], %rd312;
st.global.u64 [%rd193+16], %rd311;
st.global.u64 [%rd193+24], %rd310;
st.global.u64 [%rd193+32], %rd309;
st.global.u64 [%rd193+40], %rd191;
st.global.u64 [%rd193+48], %rd231;
mov.u64 %rd195, 0;
st.global.u64 [%rd193+56], %rd195;
@%p25 bra LBB1_29;
st.relaxed.sys.u64 [%rd196], %rd283;
LBB1_29:
bar.warp.sync %r22;
@%p25 bra LBB1_31;
st.release.sys.u64 [%rd198], %rd283;
LBB1_31:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_128(
.param .align 8 .b8 barmap_ring_sink_thread_128_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_128_param_1[24],
.param .u64 barmap_ring_sink_thread_128_param_2
)
{
.reg .pred %p<33>;
.reg .b32 %r<16>;
.reg .b64 %rd<341>;
ld.param.u64 %rd124, [barmap_ring_sink_thread_128_param_2];
cvta.to.global.u64 %rd1, %rd124;
ld.param.u64 %rd125, [barmap_ring_sink_thread_128_param_0];
cvta.to.global.u64 %rd2, %rd125;
ld.param.u64 %rd138, [barmap_ring_sink_thread_128_param_0+8];
ld.param.u64 %rd209, [barmap_ring_sink_thread_128_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_thread_128_param_0+24];
add.s64 %rd207, %rd138, 8;
ld.relaxed.sys.u64 %rd309, [%rd207];
setp.lt.u64 %p3, %rd5, 4;
add.s64 %rd126, %rd5, 1;
shr.u64 %rd127, %rd126, 2;
selp.b64 %rd8, 1, %rd127, %p3;
ld.param.u64 %rd9, [barmap_ring_sink_thread_128_param_1+16];
setp.eq.s64 %p4, %rd9, 0;
selp.b32 %r1, 2, 4, %p4;
mov.u64 %rd122, 0;
ld.param.u64 %rd10, [barmap_ring_sink_thread_128_param_1];
mov.u32 %r11, 0;
mov.pred %p7, -1;
mov.u32 %r7, 3;
mov.pred %p11, 0;
mov.u64 %rd271, %rd122;
mov.u64 %rd310, %rd309;
mov.u64 %rd274, %rd122;
mov.u64 %rd275, %rd122;
mov.u64 %rd276, %rd122;
mov.u64 %rd277, %rd122;
LBB2_1:
mov.u64 %rd308, %rd122;
bra.uni LBB2_2;
LBB2_12:
setp.lt.u64 %p18, %rd308, %rd9;
selp.b32 %r14, %r14, %r1, %p18;
mov.pred %p32, %p1;
LBB2_13:
add.s64 %rd308, %rd308, 1;
@%p32 bra LBB2_2;
bra.uni LBB2_14;
LBB2_2:
and.b64 %rd131, %rd310, %rd5;
shl.b64 %rd132, %rd131, 7;
add.s64 %rd133, %rd2, %rd132;
cvta.global.u64 %rd49, %rd133;
add.s64 %rd50, %rd310, 1;
add.s64 %rd130, %rd49, 56;
ld.acquire.sys.u64 %rd129, [%rd130];
setp.ne.s64 %p5, %rd129, %rd50;
@%p5 bra LBB2_6;
add.s64 %rd135, %rd49, 120;
ld.acquire.sys.u64 %rd134, [%rd135];
setp.ne.s64 %p6, %rd134, %rd50;
@%p6 bra LBB2_6;
bra.uni LBB2_4;
LBB2_6:
setp.lt.u64 %p1, %rd308, %rd9;
and.b64 %rd136, %rd308, 63;
setp.ne.s64 %p8, %rd136, 63;
and.pred %p9, %p1, %p8;
mov.pred %p32, %p7;
@%p9 bra LBB2_13;
ld.acquire.sys.u64 %rd137, [%rd138];
setp.eq.s64 %p10, %rd137, 0;
@%p10 bra LBB2_12;
ld.acquire.sys.u64 %rd139, [%rd130];
setp.ne.s64 %p12, %rd139, %rd50;
mov.pred %p32, %p11;
mov.u32 %r14, %r7;
@%p12 bra LBB2_13;
add.s64 %rd142, %rd49, 120;
ld.acquire.sys.u64 %rd141, [%rd142];
setp.ne.s64 %p14, %rd141, %rd50;
mov.pred %p32, %p11;
mov.u32 %r14, %r7;
@%p14 bra LBB2_13;
ld.relaxed.sys.u64 %rd324, [%rd49];
add.s64 %rd146, %rd49, 8;
ld.relaxed.sys.u64 %rd323, [%rd146];
add.s64 %rd148, %rd49, 16;
ld.relaxed.sys.u64 %rd322, [%rd148];
add.s64 %rd150, %rd49, 24;
ld.relaxed.sys.u64 %rd321, [%rd150];
add.s64 %rd152, %rd49, 32;
ld.relaxed.sys.u64 %rd320, [%rd152];
add.s64 %rd154, %rd49, 40;
ld.relaxed.sys.u64 %rd319, [%rd154];
add.s64 %rd156, %rd49, 48;
ld.relaxed.sys.u64 %rd318, [%rd156];
add.s64 %rd158, %rd49, 64;
ld.relaxed.sys.u64 %rd317, [%rd158];
add.s64 %rd160, %rd49, 72;
ld.relaxed.sys.u64 %rd316, [%rd160];
add.s64 %rd162, %rd49, 80;
ld.relaxed.sys.u64 %rd315, [%rd162];
add.s64 %rd164, %rd49, 88;
ld.relaxed.sys.u64 %rd314, [%rd164];
add.s64 %rd166, %rd49, 96;
ld.relaxed.sys.u64 %rd313, [%rd166];
add.s64 %rd168, %rd49, 104;
ld.relaxed.sys.u64 %rd312, [%rd168];
add.s64 %rd170, %rd49, 112;
ld.relaxed.sys.u64 %rd311, [%rd170];
sub.s64 %rd171, %rd50, %rd309;
setp.lt.u64 %p16, %rd171, %rd8;
mov.u64 %rd310, %rd50;
mov.pred %p32, %p11;
mov.u32 %r14, %r11;
@%p16 bra LBB2_13;
st.release.sys.u64 [%rd209], %rd50;
mov.u64 %rd309, %rd50;
mov.u64 %rd310, %rd50;
mov.pred %p32, %p11;
mov.u32 %r14, %r11;
bra.uni LBB2_13;
LBB2_4:
ld.relaxed.sys.u64 %rd324, [%rd49];
add.s64 %rd177, %rd49, 8;
ld.relaxed.sys.u64 %rd323, [%rd177];
add.s64 %rd179, %rd49, 16;
ld.relaxed.sys.u64 %rd322, [%rd179];
add.s64 %rd181, %rd49, 24;
ld.relaxed.sys.u64 %rd321, [%rd181];
add.s64 %rd183, %rd49, 32;
ld.relaxed.sys.u64 %rd320, [%rd183];
add.s64 %rd185, %rd49, 40;
ld.relaxed.sys.u64 %rd319, [%rd185];
add.s64 %rd187, %rd49, 48;
ld.relaxed.sys.u64 %rd318, [%rd187];
add.s64 %rd189, %rd49, 64;
ld.relaxed.sys.u64 %rd317, [%rd189];
add.s64 %rd191, %rd49, 72;
ld.relaxed.sys.u64 %rd316, [%rd191];
add.s64 %rd193, %rd49, 80;
ld.relaxed.sys.u64 %rd315, [%rd193];
add.s64 %rd195, %rd49, 88;
ld.relaxed.sys.u64 %rd314, [%rd195];
add.s64 %rd197, %rd49, 96;
ld.relaxed.sys.u64 %rd313, [%rd197];
add.s64 %rd199, %rd49, 104;
ld.relaxed.sys.u64 %rd312, [%rd199];
add.s64 %rd201, %rd49, 112;
ld.relaxed.sys.u64 %rd311, [%rd201];
sub.s64 %rd202, %rd50, %rd309;
setp.lt.u64 %p19, %rd202, %rd8;
mov.u64 %rd310, %rd50;
mov.u32 %r14, %r11;
@%p19 bra LBB2_14;
st.release.sys.u64 [%rd209], %rd50;
mov.u64 %rd309, %rd50;
mov.u64 %rd310, %rd50;
mov.u32 %r14, %r11;
LBB2_14:
setp.ne.s32 %p20, %r14, 0;
@%p20 bra LBB2_17;
add.s64 %rd113, %rd10, %rd277;
add.s64 %rd213, %rd324, -3335678366873096957;
xor.b64 %rd214, %rd213, %rd323;
add.s64 %rd215, %rd324, -6671356733746193914;
xor.b64 %rd216, %rd215, %rd322;
or.b64 %rd217, %rd216, %rd214;
add.s64 %rd218, %rd324, 8439708973090260745;
xor.b64 %rd219, %rd218, %rd321;
or.b64 %rd220, %rd217, %rd219;
add.s64 %rd221, %rd324, 5104030606217163788;
xor.b64 %rd222, %rd221, %rd320;
or.b64 %rd223, %rd220, %rd222;
add.s64 %rd224, %rd324, 1768352239344066831;
xor.b64 %rd225, %rd224, %rd319;
or.b64 %rd226, %rd223, %rd225;
add.s64 %rd227, %rd324, -1567326127529030126;
xor.b64 %rd228, %rd227, %rd318;
or.b64 %rd229, %rd226, %rd228;
add.s64 %rd230, %rd324, -4903004494402127083;
xor.b64 %rd231, %rd230, %rd317;
or.b64 %rd232, %rd229, %rd231;
add.s64 %rd233, %rd324, -8238682861275224040;
xor.b64 %rd234, %rd233, %rd316;
or.b64 %rd235, %rd232, %rd234;
add.s64 %rd236, %rd324, 6872382845561230619;
xor.b64 %rd237, %rd236, %rd315;
or.b64 %rd238, %rd235, %rd237;
add.s64 %rd239, %rd324, 3536704478688133662;
xor.b64 %rd240, %rd239, %rd314;
or.b64 %rd241, %rd238, %rd240;
add.s64 %rd242, %rd324, 201026111815036705;
xor.b64 %rd243, %rd242, %rd313;
or.b64 %rd244, %rd241, %rd243;
add.s64 %rd245, %rd324, -3134652255058060252;
xor.b64 %rd246, %rd245, %rd312;
or.b64 %rd247, %rd244, %rd246;
add.s64 %rd248, %rd324, -6470330621931157209;
xor.b64 %rd249, %rd248, %rd311;
or.b64 %rd114, %rd247, %rd249;
add.s64 %rd277, %rd277, 1;
add.s64 %rd250, %rd311, %rd271;
add.s64 %rd251, %rd250, %rd312;
add.s64 %rd252, %rd251, %rd313;
add.s64 %rd253, %rd252, %rd314;
add.s64 %rd254, %rd253, %rd315;
add.s64 %rd255, %rd254, %rd316;
add.s64 %rd256, %rd255, %rd317;
add.s64 %rd257, %rd256, %rd318;
add.s64 %rd258, %rd257, %rd319;
add.s64 %rd259, %rd258, %rd320;
add.s64 %rd260, %rd259, %rd321;
add.s64 %rd261, %rd260, %rd322;
add.s64 %rd262, %rd261, %rd323;
add.s64 %rd271, %rd262, %rd324;
mul.lo.s64 %rd263, %rd113, -7046029254386353131;
xor.b64 %rd264, %rd263, %rd324;
or.b64 %rd265, %rd264, %rd114;
setp.eq.s64 %p21, %rd265, 0;
@%p21 bra LBB2_1;
mul.lo.s64 %rd266, %rd324, -1018231460777725123;
sub.s64 %rd267, %rd266, %rd113;
setp.ne.s64 %p22, %rd114, 0;
setp.gt.s64 %p23, %rd267, 1099511627776;
or.pred %p24, %p22, %p23;
setp.lt.s64 %p25, %rd267, -1099511627776;
or.pred %p26, %p24, %p25;
selp.u64 %rd268, 1, 0, %p26;
add.s64 %rd276, %rd276, %rd268;
setp.lt.s64 %p27, %rd267, 0;
not.pred %p28, %p26;
and.pred %p29, %p28, %p27;
selp.u64 %rd269, 1, 0, %p29;
add.s64 %rd275, %rd275, %rd269;
setp.gt.s64 %p30, %rd267, 0;
and.pred %p31, %p28, %p30;
selp.u64 %rd270, 1, 0, %p31;
add.s64 %rd274, %rd274, %rd270;
bra.uni LBB2_1;
LBB2_17:
add.s64 %rd205, %rd209, 8;
mov.u64 %rd206, 1;
st.release.sys.u64 [%rd205], %rd206;
cvt.s64.s32 %rd211, %r14;
st.global.u64 [%rd1], %rd277;
st.global.u64 [%rd1+8], %rd276;
st.global.u64 [%rd1+16], %rd275;
st.global.u64 [%rd1+24], %rd274;
st.global.u64 [%rd1+32], %rd271;
st.global.u64 [%rd1+40], %rd211;
st.global.u64 [%rd1+48], %rd206;
mov.u64 %rd212, 0;
st.global.u64 [%rd1+56], %rd212;
st.relaxed.sys.u64 [%rd207], %rd310;
st.release.sys.u64 [%rd209], %rd310;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_128(
.param .align 8 .b8 barmap_ring_sink_warp_128_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_128_param_1[24],
.param .u64 barmap_ring_sink_warp_128_param_2
)
{
.reg .pred %p<44>;
.reg .b32 %r<63>;
.reg .b64 %rd<498>;
ld.param.u64 %rd201, [barmap_ring_sink_warp_128_param_2];
cvta.to.global.u64 %rd1, %rd201;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd202, [barmap_ring_sink_warp_128_param_0];
cvta.to.global.u64 %rd2, %rd202;
ld.param.u64 %rd248, [barmap_ring_sink_warp_128_param_0+8];
ld.param.u64 %rd298, [barmap_ring_sink_warp_128_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_128_param_0+24];
add.s64 %rd296, %rd248, 8;
ld.relaxed.sys.u64 %rd413, [%rd296];
ld.param.u64 %rd381, [barmap_ring_sink_warp_128_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd203, %rd5, 1;
shr.u64 %rd204, %rd203, 2;
selp.b64 %rd9, 1, %rd204, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_128_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd199, 0;
mov.u32 %r24, 0;
mov.u32 %r27, -1;
mov.pred %p25, -1;
mov.pred %p22, 0;
mov.u64 %rd493, %rd199;
mov.u64 %rd446, %rd413;
mov.u64 %rd494, %rd199;
mov.u64 %rd495, %rd199;
mov.u64 %rd496, %rd199;
mov.u64 %rd497, %rd199;
bra.uni LBB3_1;
LBB3_28:
cvt.u64.u32 %rd358, %r57;
add.s64 %rd381, %rd381, %rd358;
LBB3_1:
mov.u64 %rd398, %rd199;
bra.uni LBB3_2;
LBB3_22:
mov.pred %p43, %p25;
LBB3_23:
add.s64 %rd398, %rd398, 1;
mov.u32 %r62, %r58;
@%p43 bra LBB3_2;
bra.uni LBB3_24;
LBB3_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd51, %r23;
add.s64 %rd208, %rd446, %rd51;
and.b64 %rd209, %rd208, %rd5;
shl.b64 %rd210, %rd209, 7;
add.s64 %rd211, %rd2, %rd210;
cvta.global.u64 %rd215, %rd211;
add.s64 %rd53, %rd208, 1;
add.s64 %rd207, %rd215, 56;
ld.acquire.sys.u64 %rd206, [%rd207];
setp.ne.s64 %p6, %rd206, %rd53;
mov.u32 %r53, %r24;
@%p6 bra LBB3_4;
add.s64 %rd213, %rd215, 120;
ld.acquire.sys.u64 %rd212, [%rd213];
setp.eq.s64 %p7, %rd212, %rd53;
selp.u32 %r53, 1, 0, %p7;
LBB3_4:
cvt.u32.u64 %r30, %rd51;
{ .reg .pred p; setp.ne.u32 p, %r53, 0; vote.sync.ballot.b32 %r25, p, %r27; }
not.b32 %r29, %r25;
{ .reg .b32 r; brev.b32 r, %r29; bfind.shiftamt.u32 %r28, r; }
min.u32 %r57, %r28, 32;
setp.ge.u32 %p8, %r30, %r57;
@%p8 bra LBB3_6;
ld.relaxed.sys.u64 %rd412, [%rd215];
add.s64 %rd217, %rd215, 8;
ld.relaxed.sys.u64 %rd411, [%rd217];
add.s64 %rd219, %rd215, 16;
ld.relaxed.sys.u64 %rd410, [%rd219];
add.s64 %rd221, %rd215, 24;
ld.relaxed.sys.u64 %rd409, [%rd221];
add.s64 %rd223, %rd215, 32;
ld.relaxed.sys.u64 %rd408, [%rd223];
add.s64 %rd225, %rd215, 40;
ld.relaxed.sys.u64 %rd407, [%rd225];
add.s64 %rd227, %rd215, 48;
ld.relaxed.sys.u64 %rd406, [%rd227];
add.s64 %rd229, %rd215, 64;
ld.relaxed.sys.u64 %rd405, [%rd229];
add.s64 %rd231, %rd215, 72;
ld.relaxed.sys.u64 %rd404, [%rd231];
add.s64 %rd233, %rd215, 80;
ld.relaxed.sys.u64 %rd403, [%rd233];
add.s64 %rd235, %rd215, 88;
ld.relaxed.sys.u64 %rd402, [%rd235];
add.s64 %rd237, %rd215, 96;
ld.relaxed.sys.u64 %rd401, [%rd237];
add.s64 %rd239, %rd215, 104;
ld.relaxed.sys.u64 %rd400, [%rd239];
add.s64 %rd241, %rd215, 112;
ld.relaxed.sys.u64 %rd399, [%rd241];
LBB3_6:
cvt.u64.u32 %rd242, %r57;
add.s64 %rd446, %rd446, %rd242;
sub.s64 %rd243, %rd446, %rd413;
setp.lt.u64 %p9, %rd243, %rd9;
@%p9 bra LBB3_9;
bar.warp.sync %r27;
setp.ne.s32 %p10, %r30, 0;
mov.u64 %rd413, %rd446;
@%p10 bra LBB3_9;
st.release.sys.u64 [%rd298], %rd446;
mov.u64 %rd413, %rd446;
LBB3_9:
setp.ne.s32 %p11, %r57, 0;
mov.u32 %r62, 0;
@%p11 bra LBB3_24;
setp.lt.u64 %p42, %rd398, %rd11;
and.b64 %rd246, %rd398, 63;
setp.ne.s64 %p12, %rd246, 63;
and.pred %p13, %p42, %p12;
mov.u32 %r57, 0;
@%p13 bra LBB3_22;
ld.acquire.sys.u64 %rd247, [%rd248];
setp.ne.s64 %p14, %rd247, 0;
selp.u32 %r36, 1, 0, %p14;
{ .reg .pred p; setp.ne.u32 p, %r36, 0; vote.sync.ballot.b32 %r35, p, %r27; }
not.b32 %r39, %r35;
{ .reg .b32 r; brev.b32 r, %r39; bfind.shiftamt.u32 %r38, r; }
setp.lt.u32 %p15, %r38, 32;
@%p15 bra LBB3_20;
add.s64 %rd251, %rd446, %rd51;
and.b64 %rd252, %rd251, %rd5;
shl.b64 %rd253, %rd252, 7;
add.s64 %rd254, %rd2, %rd253;
cvta.global.u64 %rd258, %rd254;
add.s64 %rd86, %rd251, 1;
add.s64 %rd250, %rd258, 56;
ld.acquire.sys.u64 %rd249, [%rd250];
setp.ne.s64 %p17, %rd249, %rd86;
mov.u32 %r54, 0;
@%p17 bra LBB3_14;
add.s64 %rd256, %rd258, 120;
ld.acquire.sys.u64 %rd255, [%rd256];
setp.eq.s64 %p18, %rd255, %rd86;
selp.u32 %r54, 1, 0, %p18;
LBB3_14:
{ .reg .pred p; setp.ne.u32 p, %r54, 0; vote.sync.ballot.b32 %r42, p, %r27; }
not.b32 %r46, %r42;
{ .reg .b32 r; brev.b32 r, %r46; bfind.shiftamt.u32 %r45, r; }
min.u32 %r57, %r45, 32;
setp.ge.u32 %p19, %r30, %r57;
@%p19 bra LBB3_16;
ld.relaxed.sys.u64 %rd412, [%rd258];
add.s64 %rd260, %rd258, 8;
ld.relaxed.sys.u64 %rd411, [%rd260];
add.s64 %rd262, %rd258, 16;
ld.relaxed.sys.u64 %rd410, [%rd262];
add.s64 %rd264, %rd258, 24;
ld.relaxed.sys.u64 %rd409, [%rd264];
add.s64 %rd266, %rd258, 32;
ld.relaxed.sys.u64 %rd408, [%rd266];
add.s64 %rd268, %rd258, 40;
ld.relaxed.sys.u64 %rd407, [%rd268];
add.s64 %rd270, %rd258, 48;
ld.relaxed.sys.u64 %rd406, [%rd270];
add.s64 %rd272, %rd258, 64;
ld.relaxed.sys.u64 %rd405, [%rd272];
add.s64 %rd274, %rd258, 72;
ld.relaxed.sys.u64 %rd404, [%rd274];
add.s64 %rd276, %rd258, 80;
ld.relaxed.sys.u64 %rd403, [%rd276];
add.s64 %rd278, %rd258, 88;
ld.relaxed.sys.u64 %rd402, [%rd278];
add.s64 %rd280, %rd258, 96;
ld.relaxed.sys.u64 %rd401, [%rd280];
add.s64 %rd282, %rd258, 104;
ld.relaxed.sys.u64 %rd400, [%rd282];
add.s64 %rd284, %rd258, 112;
ld.relaxed.sys.u64 %rd399, [%rd284];
LBB3_16:
cvt.u64.u32 %rd285, %r57;
add.s64 %rd446, %rd446, %rd285;
sub.s64 %rd286, %rd446, %rd413;
setp.lt.u64 %p20, %rd286, %rd9;
@%p20 bra LBB3_19;
bar.warp.sync %r27;
setp.ne.s32 %p21, %r30, 0;
mov.u64 %rd413, %rd446;
@%p21 bra LBB3_19;
st.release.sys.u64 [%rd298], %rd446;
mov.u64 %rd413, %rd446;
LBB3_19:
setp.eq.s32 %p23, %r57, 0;
selp.b32 %r58, 3, 0, %p23;
mov.pred %p42, %p22;
bra.uni LBB3_21;
LBB3_20:
setp.lt.u64 %p16, %rd398, %rd11;
selp.b32 %r58, %r58, %r1, %p16;
mov.u32 %r57, 0;
LBB3_21:
mov.pred %p43, %p22;
@!%p42 bra LBB3_23;
bra.uni LBB3_22;
LBB3_24:
setp.ne.s32 %p26, %r62, 0;
@%p26 bra LBB3_29;
cvt.u32.u64 %r51, %rd10;
setp.le.u32 %p30, %r57, %r51;
@%p30 bra LBB3_28;
add.s64 %rd183, %rd381, %rd10;
add.s64 %rd300, %rd412, -3335678366873096957;
xor.b64 %rd301, %rd300, %rd411;
add.s64 %rd302, %rd412, -6671356733746193914;
xor.b64 %rd303, %rd302, %rd410;
or.b64 %rd304, %rd303, %rd301;
add.s64 %rd305, %rd412, 8439708973090260745;
xor.b64 %rd306, %rd305, %rd409;
or.b64 %rd307, %rd304, %rd306;
add.s64 %rd308, %rd412, 5104030606217163788;
xor.b64 %rd309, %rd308, %rd408;
or.b64 %rd310, %rd307, %rd309;
add.s64 %rd311, %rd412, 1768352239344066831;
xor.b64 %rd312, %rd311, %rd407;
or.b64 %rd313, %rd310, %rd312;
add.s64 %rd314, %rd412, -1567326127529030126;
xor.b64 %rd315, %rd314, %rd406;
or.b64 %rd316, %rd313, %rd315;
add.s64 %rd317, %rd412, -4903004494402127083;
xor.b64 %rd318, %rd317, %rd405;
or.b64 %rd319, %rd316, %rd318;
add.s64 %rd320, %rd412, -8238682861275224040;
xor.b64 %rd321, %rd320, %rd404;
or.b64 %rd322, %rd319, %rd321;
add.s64 %rd323, %rd412, 6872382845561230619;
xor.b64 %rd324, %rd323, %rd403;
or.b64 %rd325, %rd322, %rd324;
add.s64 %rd326, %rd412, 3536704478688133662;
xor.b64 %rd327, %rd326, %rd402;
or.b64 %rd328, %rd325, %rd327;
add.s64 %rd329, %rd412, 201026111815036705;
xor.b64 %rd330, %rd329, %rd401;
or.b64 %rd331, %rd328, %rd330;
add.s64 %rd332, %rd412, -3134652255058060252;
xor.b64 %rd333, %rd332, %rd400;
or.b64 %rd334, %rd331, %rd333;
add.s64 %rd335, %rd412, -6470330621931157209;
xor.b64 %rd336, %rd335, %rd399;
or.b64 %rd184, %rd334, %rd336;
add.s64 %rd497, %rd497, 1;
add.s64 %rd337, %rd399, %rd493;
add.s64 %rd338, %rd337, %rd400;
add.s64 %rd339, %rd338, %rd401;
add.s64 %rd340, %rd339, %rd402;
add.s64 %rd341, %rd340, %rd403;
add.s64 %rd342, %rd341, %rd404;
add.s64 %rd343, %rd342, %rd405;
add.s64 %rd344, %rd343, %rd406;
add.s64 %rd345, %rd344, %rd407;
add.s64 %rd346, %rd345, %rd408;
add.s64 %rd347, %rd346, %rd409;
add.s64 %rd348, %rd347, %rd410;
add.s64 %rd349, %rd348, %rd411;
add.s64 %rd493, %rd349, %rd412;
mul.lo.s64 %rd350, %rd183, -7046029254386353131;
xor.b64 %rd351, %rd412, %rd350;
or.b64 %rd352, %rd184, %rd351;
setp.eq.s64 %p31, %rd352, 0;
@%p31 bra LBB3_28;
mul.lo.s64 %rd353, %rd412, -1018231460777725123;
sub.s64 %rd354, %rd353, %rd183;
setp.ne.s64 %p32, %rd184, 0;
setp.gt.s64 %p33, %rd354, 1099511627776;
or.pred %p34, %p32, %p33;
setp.lt.s64 %p35, %rd354, -1099511627776;
or.pred %p36, %p34, %p35;
selp.u64 %rd355, 1, 0, %p36;
add.s64 %rd496, %rd496, %rd355;
setp.lt.s64 %p37, %rd354, 0;
not.pred %p38, %p36;
and.pred %p39, %p38, %p37;
selp.u64 %rd356, 1, 0, %p39;
add.s64 %rd495, %rd495, %rd356;
setp.gt.s64 %p40, %rd354, 0;
and.pred %p41, %p38, %p40;
selp.u64 %rd357, 1, 0, %p41;
add.s64 %rd494, %rd494, %rd357;
bra.uni LBB3_28;
LBB3_29:
setp.ne.s32 %p27, %r30, 0;
mov.u64 %rd359, 1;
@%p27 bra LBB3_31;
add.s64 %rd289, %rd298, 8;
st.release.sys.u64 [%rd289], %rd359;
LBB3_31:
cvt.s64.s32 %rd291, %r62;
shl.b64 %rd292, %rd10, 6;
add.s64 %rd293, %rd1, %rd292;
st.global.u64 [%rd293], %rd497;
st.global.u64 [%rd293+8], %rd496;
st.global.u64 [%rd293+16], %rd495;
st.global.u64 [%rd293+24], %rd494;
st.global.u64 [%rd293+32], %rd493;
st.global.u64 [%rd293+40], %rd291;
st.global.u64 [%rd293+48], %rd359;
mov.u64 %rd295, 0;
st.global.u64 [%rd293+56], %rd295;
@%p27 bra LBB3_33;
st.relaxed.sys.u64 [%rd296], %rd446;
LBB3_33:
bar.warp.sync %r27;
@%p27 bra LBB3_35;
st.release.sys.u64 [%rd298], %rd446;
LBB3_35:
ret;
}
)"
R"(.visible .entry barmap_ring_sink_thread_256(
.param .align 8 .b8 barmap_ring_sink_thread_256_param_0[32],
.param .align 8 .b8 barmap_ring_sink_thread_256_param_1[24],
.param .u64 barmap_ring_sink_thread_256_param_2
)
{
.reg .pred %p<39>;
.reg .b32 %r<18>;
.reg .b64 %rd<603>;
ld.param.u64 %rd208, [barmap_ring_sink_thread_256_param_2];
cvta.to.global.u64 %rd1, %rd208;
mov.b64 %rd209, barmap_ring_sink_thread_256_param_1;
mov.u64 %rd2, %rd209;
ld.param.u64 %rd210, [barmap_ring_sink_thread_256_param_0];
cvta.to.global.u64 %rd3, %rd210;
ld.param.u64 %rd227, [barmap_ring_sink_thread_256_param_0+8];
ld.param.u64 %rd358, [barmap_ring_sink_thread_256_param_0+16];
ld.param.u64 %rd6, [barmap_ring_sink_thread_256_param_0+24];
add.s64 %rd356, %rd227, 8;
ld.relaxed.sys.u64 %rd543, [%rd356];
setp.lt.u64 %p3, %rd6, 4;
add.s64 %rd211, %rd6, 1;
shr.u64 %rd212, %rd211, 2;
selp.b64 %rd9, 1, %rd212, %p3;
mov.u64 %rd206, 0;
mov.u32 %r13, 0;
mov.pred %p9, -1;
mov.u32 %r7, 3;
mov.pred %p13, 0;
mov.u64 %rd477, %rd206;
mov.u64 %rd544, %rd543;
mov.u64 %rd480, %rd206;
mov.u64 %rd481, %rd206;
mov.u64 %rd482, %rd206;
mov.u64 %rd483, %rd206;
LBB4_1:
ld.param.u64 %rd45, [%rd2+16];
setp.eq.s64 %p4, %rd45, 0;
selp.b32 %r1, 2, 4, %p4;
mov.u64 %rd542, %rd206;
bra.uni LBB4_2;
LBB4_16:
setp.lt.u64 %p24, %rd542, %rd45;
selp.b32 %r16, %r16, %r1, %p24;
mov.pred %p38, %p1;
LBB4_17:
add.s64 %rd542, %rd542, 1;
@%p38 bra LBB4_2;
bra.uni LBB4_18;
LBB4_2:
and.b64 %rd216, %rd544, %rd6;
shl.b64 %rd217, %rd216, 8;
add.s64 %rd218, %rd3, %rd217;
cvta.global.u64 %rd77, %rd218;
add.s64 %rd78, %rd544, 1;
add.s64 %rd215, %rd77, 56;
ld.acquire.sys.u64 %rd214, [%rd215];
setp.ne.s64 %p5, %rd214, %rd78;
@%p5 bra LBB4_8;
add.s64 %rd220, %rd77, 120;
ld.acquire.sys.u64 %rd219, [%rd220];
setp.ne.s64 %p6, %rd219, %rd78;
@%p6 bra LBB4_8;
add.s64 %rd222, %rd77, 184;
ld.acquire.sys.u64 %rd221, [%rd222];
setp.ne.s64 %p7, %rd221, %rd78;
@%p7 bra LBB4_8;
add.s64 %rd224, %rd77, 248;
ld.acquire.sys.u64 %rd223, [%rd224];
setp.ne.s64 %p8, %rd223, %rd78;
@%p8 bra LBB4_8;
bra.uni LBB4_6;
LBB4_8:
setp.lt.u64 %p1, %rd542, %rd45;
and.b64 %rd225, %rd542, 63;
setp.ne.s64 %p10, %rd225, 63;
and.pred %p11, %p1, %p10;
mov.pred %p38, %p9;
@%p11 bra LBB4_17;
ld.acquire.sys.u64 %rd226, [%rd227];
setp.eq.s64 %p12, %rd226, 0;
@%p12 bra LBB4_16;
ld.acquire.sys.u64 %rd228, [%rd215];
setp.ne.s64 %p14, %rd228, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r7;
@%p14 bra LBB4_17;
add.s64 %rd231, %rd77, 120;
ld.acquire.sys.u64 %rd230, [%rd231];
setp.ne.s64 %p16, %rd230, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r7;
@%p16 bra LBB4_17;
add.s64 %rd233, %rd77, 184;
ld.acquire.sys.u64 %rd232, [%rd233];
setp.ne.s64 %p18, %rd232, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r7;
@%p18 bra LBB4_17;
add.s64 %rd235, %rd77, 248;
ld.acquire.sys.u64 %rd234, [%rd235];
setp.ne.s64 %p20, %rd234, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r7;
@%p20 bra LBB4_17;
ld.relaxed.sys.u64 %rd572, [%rd77];
add.s64 %rd239, %rd77, 8;
ld.relaxed.sys.u64 %rd571, [%rd239];
add.s64 %rd241, %rd77, 16;
ld.relaxed.sys.u64 %rd570, [%rd241];
add.s64 %rd243, %rd77, 24;
ld.relaxed.sys.u64 %rd569, [%rd243];
add.s64 %rd245, %rd77, 32;
ld.relaxed.sys.u64 %rd568, [%rd245];
add.s64 %rd247, %rd77, 40;
ld.relaxed.sys.u64 %rd567, [%rd247];
add.s64 %rd249, %rd77, 48;
ld.relaxed.sys.u64 %rd566, [%rd249];
add.s64 %rd251, %rd77, 64;
ld.relaxed.sys.u64 %rd565, [%rd251];
add.s64 %rd253, %rd77, 72;
ld.relaxed.sys.u64 %rd564, [%rd253];
add.s64 %rd255, %rd77, 80;
ld.relaxed.sys.u64 %rd563, [%rd255];
add.s64 %rd257, %rd77, 88;
ld.relaxed.sys.u64 %rd562, [%rd257];
add.s64 %rd259, %rd77, 96;
ld.relaxed.sys.u64 %rd561, [%rd259];
add.s64 %rd261, %rd77, 104;
ld.relaxed.sys.u64 %rd560, [%rd261];
add.s64 %rd263, %rd77, 112;
ld.relaxed.sys.u64 %rd559, [%rd263];
add.s64 %rd265, %rd77, 128;
ld.relaxed.sys.u64 %rd558, [%rd265];
add.s64 %rd267, %rd77, 136;
ld.relaxed.sys.u64 %rd557, [%rd267];
add.s64 %rd269, %rd77, 144;
ld.relaxed.sys.u64 %rd556, [%rd269];
add.s64 %rd271, %rd77, 152;
ld.relaxed.sys.u64 %rd555, [%rd271];
add.s64 %rd273, %rd77, 160;
ld.relaxed.sys.u64 %rd554, [%rd273];
add.s64 %rd275, %rd77, 168;
ld.relaxed.sys.u64 %rd553, [%rd275];
add.s64 %rd277, %rd77, 176;
ld.relaxed.sys.u64 %rd552, [%rd277];
add.s64 %rd279, %rd77, 192;
ld.relaxed.sys.u64 %rd551, [%rd279];
add.s64 %rd281, %rd77, 200;
ld.relaxed.sys.u64 %rd550, [%rd281];
add.s64 %rd283, %rd77, 208;
ld.relaxed.sys.u64 %rd549, [%rd283];
add.s64 %rd285, %rd77, 216;
ld.relaxed.sys.u64 %rd548, [%rd285];
add.s64 %rd287, %rd77, 224;
ld.relaxed.sys.u64 %rd547, [%rd287];
add.s64 %rd289, %rd77, 232;
ld.relaxed.sys.u64 %rd546, [%rd289];
add.s64 %rd291, %rd77, 240;
ld.relaxed.sys.u64 %rd545, [%rd291];
sub.s64 %rd292, %rd78, %rd543;
setp.lt.u64 %p22, %rd292, %rd9;
mov.u64 %rd544, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r13;
@%p22 bra LBB4_17;
st.release.sys.u64 [%rd358], %rd78;
mov.u64 %rd543, %rd78;
mov.u64 %rd544, %rd78;
mov.pred %p38, %p13;
mov.u32 %r16, %r13;
bra.uni LBB4_17;
LBB4_6:
ld.relaxed.sys.u64 %rd572, [%rd77];
add.s64 %rd298, %rd77, 8;
ld.relaxed.sys.u64 %rd571, [%rd298];
add.s64 %rd300, %rd77, 16;
ld.relaxed.sys.u64 %rd570, [%rd300];
add.s64 %rd302, %rd77, 24;
ld.relaxed.sys.u64 %rd569, [%rd302];
add.s64 %rd304, %rd77, 32;
ld.relaxed.sys.u64 %rd568, [%rd304];
add.s64 %rd306, %rd77, 40;
ld.relaxed.sys.u64 %rd567, [%rd306];
add.s64 %rd308, %rd77, 48;
ld.relaxed.sys.u64 %rd566, [%rd308];
add.s64 %rd310, %rd77, 64;
ld.relaxed.sys.u64 %rd565, [%rd310];
add.s64 %rd312, %rd77, 72;
ld.relaxed.sys.u64 %rd564, [%rd312];
add.s64 %rd314, %rd77, 80;
ld.relaxed.sys.u64 %rd563, [%rd314];
add.s64 %rd316, %rd77, 88;
ld.relaxed.sys.u64 %rd562, [%rd316];
add.s64 %rd318, %rd77, 96;
ld.relaxed.sys.u64 %rd561, [%rd318];
add.s64 %rd320, %rd77, 104;
ld.relaxed.sys.u64 %rd560, [%rd320];
add.s64 %rd322, %rd77, 112;
ld.relaxed.sys.u64 %rd559, [%rd322];
add.s64 %rd324, %rd77, 128;
ld.relaxed.sys.u64 %rd558, [%rd324];
add.s64 %rd326, %rd77, 136;
ld.relaxed.sys.u64 %rd557, [%rd326];
add.s64 %rd328, %rd77, 144;
ld.relaxed.sys.u64 %rd556, [%rd328];
add.s64 %rd330, %rd77, 152;
ld.relaxed.sys.u64 %rd555, [%rd330];
add.s64 %rd332, %rd77, 160;
ld.relaxed.sys.u64 %rd554, [%rd332];
add.s64 %rd334, %rd77, 168;
ld.relaxed.sys.u64 %rd553, [%rd334];
add.s64 %rd336, %rd77, 176;
ld.relaxed.sys.u64 %rd552, [%rd336];
add.s64 %rd338, %rd77, 192;
ld.relaxed.sys.u64 %rd551, [%rd338];
add.s64 %rd340, %rd77, 200;
ld.relaxed.sys.u64 %rd550, [%rd340];
add.s64 %rd342, %rd77, 208;
ld.relaxed.sys.u64 %rd549, [%rd342];
add.s64 %rd344, %rd77, 216;
ld.relaxed.sys.u64 %rd548, [%rd344];
add.s64 %rd346, %rd77, 224;
ld.relaxed.sys.u64 %rd547, [%rd346];
add.s64 %rd348, %rd77, 232;
ld.relaxed.sys.u64 %rd546, [%rd348];
add.s64 %rd350, %rd77, 240;
ld.relaxed.sys.u64 %rd545, [%rd350];
sub.s64 %rd351, %rd78, %rd543;
setp.lt.u64 %p25, %rd351, %rd9;
mov.u64 %rd544, %rd78;
mov.u32 %r16, %r13;
@%p25 bra LBB4_18;
st.release.sys.u64 [%rd358], %rd78;
mov.u64 %rd543, %rd78;
mov.u64 %rd544, %rd78;
mov.u32 %r16, %r13;
LBB4_18:
setp.ne.s32 %p26, %r16, 0;
@%p26 bra LBB4_21;
ld.param.u64 %rd362, [%rd2];
add.s64 %rd197, %rd362, %rd483;
add.s64 %rd363, %rd572, -3335678366873096957;
xor.b64 %rd364, %rd363, %rd571;
add.s64 %rd365, %rd572, -6671356733746193914;
xor.b64 %rd366, %rd365, %rd570;
or.b64 %rd367, %rd366, %rd364;
add.s64 %rd368, %rd572, 8439708973090260745;
xor.b64 %rd369, %rd368, %rd569;
or.b64 %rd370, %rd367, %rd369;
add.s64 %rd371, %rd572, 5104030606217163788;
xor.b64 %rd372, %rd371, %rd568;
or.b64 %rd373, %rd370, %rd372;
add.s64 %rd374, %rd572, 1768352239344066831;
xor.b64 %rd375, %rd374, %rd567;
or.b64 %rd376, %rd373, %rd375;
add.s64 %rd377, %rd572, -1567326127529030126;
xor.b64 %rd378, %rd377, %rd566;
or.b64 %rd379, %rd376, %rd378;
add.s64 %rd380, %rd572, -4903004494402127083;
xor.b64 %rd381, %rd380, %rd565;
or.b64 %rd382, %rd379, %rd381;
add.s64 %rd383, %rd572, -8238682861275224040;
xor.b64 %rd384, %rd383, %rd564;
or.b64 %rd385, %rd382, %rd384;
add.s64 %rd386, %rd572, 6872382845561230619;
xor.b64 %rd387, %rd386, %rd563;
or.b64 %rd388, %rd385, %rd387;
add.s64 %rd389, %rd572, 3536704478688133662;
xor.b64 %rd390, %rd389, %rd562;
or.b64 %rd391, %rd388, %rd390;
add.s64 %rd392, %rd572, 201026111815036705;
xor.b64 %rd393, %rd392, %rd561;
or.b64 %rd394, %rd391, %rd393;
add.s64 %rd395, %rd572, -3134652255058060252;
xor.b64 %rd396, %rd395, %rd560;
or.b64 %rd397, %rd394, %rd396;
add.s64 %rd398, %rd572, -6470330621931157209;
xor.b64 %rd399, %rd398, %rd559;
or.b64 %rd400, %rd397, %rd399;
add.s64 %rd401, %rd572, 8640735084905297450;
xor.b64 %rd402, %rd401, %rd558;
or.b64 %rd403, %rd400, %rd402;
add.s64 %rd404, %rd572, 5305056718032200493;
xor.b64 %rd405, %rd404, %rd557;
or.b64 %rd406, %rd403, %rd405;
add.s64 %rd407, %rd572, 1969378351159103536;
xor.b64 %rd408, %rd407, %rd556;
or.b64 %rd409, %rd406, %rd408;
add.s64 %rd410, %rd572, -1366300015713993421;
xor.b64 %rd411, %rd410, %rd555;
or.b64 %rd412, %rd409, %rd411;
add.s64 %rd413, %rd572, -4701978382587090378;
xor.b64 %rd414, %rd413, %rd554;
or.b64 %rd415, %rd412, %rd414;
add.s64 %rd416, %rd572, -8037656749460187335;
xor.b64 %rd417, %rd416, %rd553;
or.b64 %rd418, %rd415, %rd417;
add.s64 %rd419, %rd572, 7073408957376267324;
xor.b64 %rd420, %rd419, %rd552;
or.b64 %rd421, %rd418, %rd420;
add.s64 %rd422, %rd572, 3737730590503170367;
xor.b64 %rd423, %rd422, %rd551;
or.b64 %rd424, %rd421, %rd423;
add.s64 %rd425, %rd572, 402052223630073410;
xor.b64 %rd426, %rd425, %rd550;
or.b64 %rd427, %rd424, %rd426;
add.s64 %rd428, %rd572, -2933626143243023547;
xor.b64 %rd429, %rd428, %rd549;
or.b64 %rd430, %rd427, %rd429;
add.s64 %rd431, %rd572, -6269304510116120504;
xor.b64 %rd432, %rd431, %rd548;
or.b64 %rd433, %rd430, %rd432;
add.s64 %rd434, %rd572, 8841761196720334155;
xor.b64 %rd435, %rd434, %rd547;
or.b64 %rd436, %rd433, %rd435;
add.s64 %rd437, %rd572, 5506082829847237198;
xor.b64 %rd438, %rd437, %rd546;
or.b64 %rd439, %rd436, %rd438;
add.s64 %rd440, %rd572, 2170404462974140241;
xor.b64 %rd441, %rd440, %rd545;
or.b64 %rd198, %rd439, %rd441;
add.s64 %rd483, %rd483, 1;
add.s64 %rd442, %rd545, %rd477;
add.s64 %rd443, %rd442, %rd546;
add.s64 %rd444, %rd443, %rd547;
add.s64 %rd445, %rd444, %rd548;
add.s64 %rd446, %rd445, %rd549;
add.s64 %rd447, %rd446, %rd550;
add.s64 %rd448, %rd447, %rd551;
add.s64 %rd449, %rd448, %rd552;
add.s64 %rd450, %rd449, %rd553;
add.s64 %rd451, %rd450, %rd554;
add.s64 %rd452, %rd451, %rd555;
add.s64 %rd453, %rd452, %rd556;
add.s64 %rd454, %rd453, %rd557;
add.s64 %rd455, %rd454, %rd558;
add.s64 %rd456, %rd455, %rd559;
add.s64 %rd457, %rd456, %rd560;
add.s64 %rd458, %rd457, %rd561;
add.s64 %rd459, %rd458, %rd562;
add.s64 %rd460, %rd459, %rd563;
add.s64 %rd461, %rd460, %rd564;
add.s64 %rd462, %rd461, %rd565;
add.s64 %rd463, %rd462, %rd566;
add.s64 %rd464, %rd463, %rd567;
add.s64 %rd465, %rd464, %rd568;
add.s64 %rd466, %rd465, %rd569;
add.s64 %rd467, %rd466, %rd570;
add.s64 %rd468, %rd467, %rd571;
add.s64 %rd477, %rd468, %rd572;
mul.lo.s64 %rd469, %rd197, -7046029254386353131;
xor.b64 %rd470, %rd469, %rd572;
or.b64 %rd471, %rd470, %rd198;
setp.eq.s64 %p27, %rd471, 0;
@%p27 bra LBB4_1;
mul.lo.s64 %rd472, %rd572, -1018231460777725123;
sub.s64 %rd473, %rd472, %rd197;
setp.ne.s64 %p28, %rd198, 0;
setp.gt.s64 %p29, %rd473, 1099511627776;
or.pred %p30, %p28, %p29;
setp.lt.s64 %p31, %rd473, -1099511627776;
or.pred %p32, %p30, %p31;
selp.u64 %rd474, 1, 0, %p32;
add.s64 %rd482, %rd482, %rd474;
setp.lt.s64 %p33, %rd473, 0;
not.pred %p34, %p32;
and.pred %p35, %p34, %p33;
selp.u64 %rd475, 1, 0, %p35;
add.s64 %rd481, %rd481, %rd475;
setp.gt.s64 %p36, %rd473, 0;
and.pred %p37, %p34, %p36;
selp.u64 %rd476, 1, 0, %p37;
add.s64 %rd480, %rd480, %rd476;
bra.uni LBB4_1;
LBB4_21:
add.s64 %rd354, %rd358, 8;
mov.u64 %rd355, 1;
st.release.sys.u64 [%rd354], %rd355;
cvt.s64.s32 %rd360, %r16;
st.global.u64 [%rd1], %rd483;
st.global.u64 [%rd1+8], %rd482;
st.global.u64 [%rd1+16], %rd481;
st.global.u64 [%rd1+24], %rd480;
st.global.u64 [%rd1+32], %rd477;
st.global.u64 [%rd1+40], %rd360;
st.global.u64 [%rd1+48], %rd355;
mov.u64 %rd361, 0;
st.global.u64 [%rd1+56], %rd361;
st.relaxed.sys.u64 [%rd356], %rd544;
st.release.sys.u64 [%rd358], %rd544;
ret;
}
)"
R"(.visible .entry barmap_ring_sink_warp_256(
.param .align 8 .b8 barmap_ring_sink_warp_256_param_0[32],
.param .align 8 .b8 barmap_ring_sink_warp_256_param_1[24],
.param .u64 barmap_ring_sink_warp_256_param_2
)
{
.reg .pred %p<48>;
.reg .b32 %r<67>;
.reg .b64 %rd<870>;
ld.param.u64 %rd341, [barmap_ring_sink_warp_256_param_2];
cvta.to.global.u64 %rd1, %rd341;
mov.u32 %r20, %tid.x;
and.b32 %r21, %r20, 31;
ld.param.u64 %rd342, [barmap_ring_sink_warp_256_param_0];
cvta.to.global.u64 %rd2, %rd342;
ld.param.u64 %rd420, [barmap_ring_sink_warp_256_param_0+8];
ld.param.u64 %rd502, [barmap_ring_sink_warp_256_param_0+16];
ld.param.u64 %rd5, [barmap_ring_sink_warp_256_param_0+24];
add.s64 %rd500, %rd420, 8;
ld.relaxed.sys.u64 %rd715, [%rd500];
ld.param.u64 %rd655, [barmap_ring_sink_warp_256_param_1];
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd343, %rd5, 1;
shr.u64 %rd344, %rd343, 2;
selp.b64 %rd9, 1, %rd344, %p4;
cvt.u64.u32 %rd10, %r21;
ld.param.u64 %rd11, [barmap_ring_sink_warp_256_param_1+16];
setp.eq.s64 %p5, %rd11, 0;
selp.b32 %r1, 2, 4, %p5;
mov.u64 %rd339, 0;
mov.u32 %r24, 0;
mov.u32 %r29, -1;
mov.pred %p29, -1;
mov.pred %p26, 0;
mov.u64 %rd865, %rd339;
mov.u64 %rd776, %rd715;
mov.u64 %rd866, %rd339;
mov.u64 %rd867, %rd339;
mov.u64 %rd868, %rd339;
mov.u64 %rd869, %rd339;
bra.uni LBB5_1;
LBB5_32:
cvt.u64.u32 %rd618, %r61;
add.s64 %rd655, %rd655, %rd618;
LBB5_1:
mov.u64 %rd686, %rd339;
bra.uni LBB5_2;
LBB5_26:
mov.pred %p47, %p29;
LBB5_27:
add.s64 %rd686, %rd686, 1;
mov.u32 %r66, %r62;
@%p47 bra LBB5_2;
bra.uni LBB5_28;
LBB5_2:
mov.u32 %r23, %laneid;
cvt.u64.u32 %rd79, %r23;
add.s64 %rd348, %rd776, %rd79;
and.b64 %rd349, %rd348, %rd5;
shl.b64 %rd350, %rd349, 8;
add.s64 %rd351, %rd2, %rd350;
cvta.global.u64 %rd359, %rd351;
add.s64 %rd81, %rd348, 1;
add.s64 %rd347, %rd359, 56;
ld.acquire.sys.u64 %rd346, [%rd347];
setp.ne.s64 %p6, %rd346, %rd81;
mov.u32 %r57, %r24;
@%p6 bra LBB5_6;
add.s64 %rd353, %rd359, 120;
ld.acquire.sys.u64 %rd352, [%rd353];
setp.ne.s64 %p7, %rd352, %rd81;
mov.u32 %r57, %r24;
@%p7 bra LBB5_6;
add.s64 %rd355, %rd359, 184;
ld.acquire.sys.u64 %rd354, [%rd355];
setp.ne.s64 %p8, %rd354, %rd81;
mov.u32 %r57, %r24;
@%p8 bra LBB5_6;
add.s64 %rd357, %rd359, 248;
ld.acquire.sys.u64 %rd356, [%rd357];
setp.eq.s64 %p9, %rd356, %rd81;
selp.u32 %r57, 1, 0, %p9;
LBB5_6:
cvt.u32.u64 %r32, %rd79;
{ .reg .pred p; setp.ne.u32 p, %r57, 0; vote.sync.ballot.b32 %r27, p, %r29; }
not.b32 %r31, %r27;
{ .reg .b32 r; brev.b32 r, %r31; bfind.shiftamt.u32 %r30, r; }
min.u32 %r61, %r30, 32;
setp.ge.u32 %p10, %r32, %r61;
@%p10 bra LBB5_8;
ld.relaxed.sys.u64 %rd743, [%rd359];
add.s64 %rd361, %rd359, 8;
ld.relaxed.sys.u64 %rd742, [%rd361];
add.s64 %rd363, %rd359, 16;
ld.relaxed.sys.u64 %rd741, [%rd363];
add.s64 %rd365, %rd359, 24;
ld.relaxed.sys.u64 %rd740, [%rd365];
add.s64 %rd367, %rd359, 32;
ld.relaxed.sys.u64 %rd739, [%rd367];
add.s64 %rd369, %rd359, 40;
ld.relaxed.sys.u64 %rd738, [%rd369];
add.s64 %rd371, %rd359, 48;
ld.relaxed.sys.u64 %rd737, [%rd371];
add.s64 %rd373, %rd359, 64;
ld.relaxed.sys.u64 %rd736, [%rd373];
add.s64 %rd375, %rd359, 72;
ld.relaxed.sys.u64 %rd735, [%rd375];
add.s64 %rd377, %rd359, 80;
ld.relaxed.sys.u64 %rd734, [%rd377];
add.s64 %rd379, %rd359, 88;
ld.relaxed.sys.u64 %rd733, [%rd379];
add.s64 %rd381, %rd359, 96;
ld.relaxed.sys.u64 %rd732, [%rd381];
add.s64 %rd383, %rd359, 104;
ld.relaxed.sys.u64 %rd731, [%rd383];
add.s64 %rd385, %rd359, 112;
ld.relaxed.sys.u64 %rd730, [%rd385];
add.s64 %rd387, %rd359, 128;
ld.relaxed.sys.u64 %rd729, [%rd387];
add.s64 %rd389, %rd359, 136;
ld.relaxed.sys.u64 %rd728, [%rd389];
add.s64 %rd391, %rd359, 144;
ld.relaxed.sys.u64 %rd727, [%rd391];
add.s64 %rd393, %rd359, 152;
ld.relaxed.sys.u64 %rd726, [%rd393];
add.s64 %rd395, %rd359, 160;
ld.relaxed.sys.u64 %rd725, [%rd395];
add.s64 %rd397, %rd359, 168;
ld.relaxed.sys.u64 %rd724, [%rd397];
add.s64 %rd399, %rd359, 176;
ld.relaxed.sys.u64 %rd723, [%rd399];
add.s64 %rd401, %rd359, 192;
ld.relaxed.sys.u64 %rd722, [%rd401];
add.s64 %rd403, %rd359, 200;
ld.relaxed.sys.u64 %rd721, [%rd403];
add.s64 %rd405, %rd359, 208;
ld.relaxed.sys.u64 %rd720, [%rd405];
add.s64 %rd407, %rd359, 216;
ld.relaxed.sys.u64 %rd719, [%rd407];
add.s64 %rd409, %rd359, 224;
ld.relaxed.sys.u64 %rd718, [%rd409];
add.s64 %rd411, %rd359, 232;
ld.relaxed.sys.u64 %rd717, [%rd411];
add.s64 %rd413, %rd359, 240;
ld.relaxed.sys.u64 %rd716, [%rd413];
LBB5_8:
cvt.u64.u32 %rd414, %r61;
add.s64 %rd776, %rd776, %rd414;
sub.s64 %rd415, %rd776, %rd715;
setp.lt.u64 %p11, %rd415, %rd9;
@%p11 bra LBB5_11;
bar.warp.sync %r29;
setp.ne.s32 %p12, %r32, 0;
mov.u64 %rd715, %rd776;
@%p12 bra LBB5_11;
st.release.sys.u64 [%rd502], %rd776;
mov.u64 %rd715, %rd776;
LBB5_11:
setp.ne.s32 %p13, %r61, 0;
mov.u32 %r66, 0;
@%p13 bra LBB5_28;
setp.lt.u64 %p46, %rd686, %rd11;
and.b64 %rd418, %rd686, 63;
setp.ne.s64 %p14, %rd418, 63;
and.pred %p15, %p46, %p14;
mov.u32 %r61, 0;
@%p15 bra LBB5_26;
ld.acquire.sys.u64 %rd419, [%rd420];
setp.ne.s64 %p16, %rd419, 0;
selp.u32 %r38, 1, 0, %p16;
{ .reg .pred p; setp.ne.u32 p, %r38, 0; vote.sync.ballot.b32 %r37, p, %r29; }
not.b32 %r41, %r37;
{ .reg .b32 r; brev.b32 r, %r41; bfind.shiftamt.u32 %r40, r; }
setp.lt.u32 %p17, %r40, 32;
@%p17 bra LBB5_24;
add.s64 %rd423, %rd776, %rd79;
and.b64 %rd424, %rd423, %rd5;
shl.b64 %rd425, %rd424, 8;
add.s64 %rd426, %rd2, %rd425;
cvta.global.u64 %rd434, %rd426;
add.s64 %rd142, %rd423, 1;
add.s64 %rd422, %rd434, 56;
ld.acquire.sys.u64 %rd421, [%rd422];
setp.ne.s64 %p19, %rd421, %rd142;
mov.u32 %r58, 0;
@%p19 bra LBB5_18;
add.s64 %rd428, %rd434, 120;
ld.acquire.sys.u64 %rd427, [%rd428];
setp.ne.s64 %p20, %rd427, %rd142;
@%p20 bra LBB5_18;
add.s64 %rd430, %rd434, 184;
ld.acquire.sys.u64 %rd429, [%rd430];
setp.ne.s64 %p21, %rd429, %rd142;
@%p21 bra LBB5_18;
add.s64 %rd432, %rd434, 248;
ld.acquire.sys.u64 %rd431, [%rd432];
setp.eq.s64 %p22, %rd431, %rd142;
selp.u32 %r58, 1, 0, %p22;
LBB5_18:
{ .reg .pred p; setp.ne.u32 p, %r58, 0; vote.sync.ballot.b32 %r46, p, %r29; }
not.b32 %r50, %r46;
{ .reg .b32 r; brev.b32 r, %r50; bfind.shiftamt.u32 %r49, r; }
min.u32 %r61, %r49, 32;
setp.ge.u32 %p23, %r32, %r61;
@%p23 bra LBB5_20;
ld.relaxed.sys.u64 %rd743, [%rd434];
add.s64 %rd436, %rd434, 8;
ld.relaxed.sys.u64 %rd742, [%rd436];
add.s64 %rd438, %rd434, 16;
ld.relaxed.sys.u64 %rd741, [%rd438];
add.s64 %rd440, %rd434, 24;
ld.relaxed.sys.u64 %rd740, [%rd440];
add.s64 %rd442, %rd434, 32;
ld.relaxed.sys.u64 %rd739, [%rd442];
add.s64 %rd444, %rd434, 40;
ld.relaxed.sys.u64 %rd738, [%rd444];
add.s64 %rd446, %rd434, 48;
ld.relaxed.sys.u64 %rd737, [%rd446];
add.s64 %rd448, %rd434, 64;
ld.relaxed.sys.u64 %rd736, [%rd448];
add.s64 %rd450, %rd434, 72;
ld.relaxed.sys.u64 %rd735, [%rd450];
add.s64 %rd452, %rd434, 80;
ld.relaxed.sys.u64 %rd734, [%rd452];
add.s64 %rd454, %rd434, 88;
ld.relaxed.sys.u64 %rd733, [%rd454];
add.s64 %rd456, %rd434, 96;
ld.relaxed.sys.u64 %rd732, [%rd456];
add.s64 %rd458, %rd434, 104;
ld.relaxed.sys.u64 %rd731, [%rd458];
add.s64 %rd460, %rd434, 112;
ld.relaxed.sys.u64 %rd730, [%rd460];
add.s64 %rd462, %rd434, 128;
ld.relaxed.sys.u64 %rd729, [%rd462];
add.s64 %rd464, %rd434, 136;
ld.relaxed.sys.u64 %rd728, [%rd464];
add.s64 %rd466, %rd434, 144;
ld.relaxed.sys.u64 %rd727, [%rd466];
add.s64 %rd468, %rd434, 152;
ld.relaxed.sys.u64 %rd726, [%rd468];
add.s64 %rd470, %rd434, 160;
ld.relaxed.sys.u64 %rd725, [%rd470];
add.s64 %rd472, %rd434, 168;
ld.relaxed.sys.u64 %rd724, [%rd472];
add.s64 %rd474, %rd434, 176;
ld.relaxed.sys.u64 %rd723, [%rd474];
add.s64 %rd476, %rd434, 192;
ld.relaxed.sys.u64 %rd722, [%rd476];
add.s64 %rd478, %rd434, 200;
ld.relaxed.sys.u64 %rd721, [%rd478];
add.s64 %rd480, %rd434, 208;
ld.relaxed.sys.u64 %rd720, [%rd480];
add.s64 %rd482, %rd434, 216;
ld.relaxed.sys.u64 %rd719, [%rd482];
add.s64 %rd484, %rd434, 224;
ld.relaxed.sys.u64 %rd718, [%rd484];
add.s64 %rd486, %rd434, 232;
ld.relaxed.sys.u64 %rd717, [%rd486];
add.s64 %rd488, %rd434, 240;
ld.relaxed.sys.u64 %rd716, [%rd488];
LBB5_20:
cvt.u64.u32 %rd489, %r61;
add.s64 %rd776, %rd776, %rd489;
sub.s64 %rd490, %rd776, %rd715;
setp.lt.u64 %p24, %rd490, %rd9;
@%p24 bra LBB5_23;
bar.warp.sync %r29;
setp.ne.s32 %p25, %r32, 0;
mov.u64 %rd715, %rd776;
@%p25 bra LBB5_23;
st.release.sys.u64 [%rd502], %rd776;
mov.u64 %rd715, %rd776;
LBB5_23:
setp.eq.s32 %p27, %r61, 0;
selp.b32 %r62, 3, 0, %p27;
mov.pred %p46, %p26;
bra.uni LBB5_25;
LBB5_24:
setp.lt.u64 %p18, %rd686, %rd11;
selp.b32 %r62, %r62, %r1, %p18;
mov.u32 %r61, 0;
LBB5_25:
mov.pred %p47, %p26;
@!%p46 bra LBB5_27;
bra.uni LBB5_26;
LBB5_28:
setp.ne.s32 %p30, %r66, 0;
@%p30 bra LBB5_33;
cvt.u32.u64 %r55, %rd10;
setp.le.u32 %p34, %r61, %r55;
@%p34 bra LBB5_32;
add.s64 %rd323, %rd655, %rd10;
add.s64 %rd504, %rd743, -3335678366873096957;
xor.b64 %rd505, %rd504, %rd742;
add.s64 %rd506, %rd743, -6671356733746193914;
xor.b64 %rd507, %rd506, %rd741;
or.b64 %rd508, %rd507, %rd505;
add.s64 %rd509, %rd743, 8439708973090260745;
xor.b64 %rd510, %rd509, %rd740;
or.b64 %rd511, %rd508, %rd510;
add.s64 %rd512, %rd743, 5104030606217163788;
xor.b64 %rd513, %rd512, %rd739;
or.b64 %rd514, %rd511, %rd513;
add.s64 %rd515, %rd743, 1768352239344066831;
xor.b64 %rd516, %rd515, %rd738;
or.b64 %rd517, %rd514, %rd516;
add.s64 %rd518, %rd743, -1567326127529030126;
xor.b64 %rd519, %rd518, %rd737;
or.b64 %rd520, %rd517, %rd519;
add.s64 %rd521, %rd743, -4903004494402127083;
xor.b64 %rd522, %rd521, %rd736;
or.b64 %rd523, %rd520, %rd522;
add.s64 %rd524, %rd743, -8238682861275224040;
xor.b64 %rd525, %rd524, %rd735;
or.b64 %rd526, %rd523, %rd525;
add.s64 %rd527, %rd743, 6872382845561230619;
xor.b64 %rd528, %rd527, %rd734;
or.b64 %rd529, %rd526, %rd528;
add.s64 %rd530, %rd743, 3536704478688133662;
xor.b64 %rd531, %rd530, %rd733;
or.b64 %rd532, %rd529, %rd531;
add.s64 %rd533, %rd743, 201026111815036705;
xor.b64 %rd534, %rd533, %rd732;
or.b64 %rd535, %rd532, %rd534;
add.s64 %rd536, %rd743, -3134652255058060252;
xor.b64 %rd537, %rd536, %rd731;
or.b64 %rd538, %rd535, %rd537;
add.s64 %rd539, %rd743, -6470330621931157209;
xor.b64 %rd540, %rd539, %rd730;
or.b64 %rd541, %rd538, %rd540;
add.s64 %rd542, %rd743, 8640735084905297450;
xor.b64 %rd543, %rd542, %rd729;
or.b64 %rd544, %rd541, %rd543;
add.s64 %rd545, %rd743, 5305056718032200493;
xor.b64 %rd546, %rd545, %rd728;
or.b64 %rd547, %rd544, %rd546;
add.s64 %rd548, %rd743, 1969378351159103536;
xor.b64 %rd549, %rd548, %rd727;
or.b64 %rd550, %rd547, %rd549;
add.s64 %rd551, %rd743, -1366300015713993421;
xor.b64 %rd552, %rd551, %rd726;
or.b64 %rd553, %rd550, %rd552;
add.s64 %rd554, %rd743, -4701978382587090378;
xor.b64 %rd555, %rd554, %rd725;
or.b64 %rd556, %rd553, %rd555;
add.s64 %rd557, %rd743, -8037656749460187335;
xor.b64 %rd558, %rd557, %rd724;
or.b64 %rd559, %rd556, %rd558;
add.s64 %rd560, %rd743, 7073408957376267324;
xor.b64 %rd561, %rd560, %rd723;
or.b64 %rd562, %rd559, %rd561;
add.s64 %rd563, %rd743, 3737730590503170367;
xor.b64 %rd564, %rd563, %rd722;
or.b64 %rd565, %rd562, %rd564;
add.s64 %rd566, %rd743, 402052223630073410;
xor.b64 %rd567, %rd566, %rd721;
or.b64 %rd568, %rd565, %rd567;
add.s64 %rd569, %rd743, -2933626143243023547;
xor.b64 %rd570, %rd569, %rd720;
or.b64 %rd571, %rd568, %rd570;
add.s64 %rd572, %rd743, -6269304510116120504;
xor.b64 %rd573, %rd572, %rd719;
or.b64 %rd574, %rd571, %rd573;
add.s64 %rd575, %rd743, 8841761196720334155;
xor.b64 %rd576, %rd575, %rd718;
or.b64 %rd577, %rd574, %rd576;
add.s64 %rd578, %rd743, 5506082829847237198;
xor.b64 %rd579, %rd578, %rd717;
or.b64 %rd580, %rd577, %rd579;
add.s64 %rd581, %rd743, 2170404462974140241;
xor.b64 %rd582, %rd581, %rd716;
or.b64 %rd324, %rd580, %rd582;
add.s64 %rd869, %rd869, 1;
add.s64 %rd583, %rd716, %rd865;
add.s64 %rd584, %rd583, %rd717;
add.s64 %rd585, %rd584, %rd718;
add.s64 %rd586, %rd585, %rd719;
add.s64 %rd587, %rd586, %rd720;
add.s64 %rd588, %rd587, %rd721;
add.s64 %rd589, %rd588, %rd722;
add.s64 %rd590, %rd589, %rd723;
add.s64 %rd591, %rd590, %rd724;
add.s64 %rd592, %rd591, %rd725;
add.s64 %rd593, %rd592, %rd726;
add.s64 %rd594, %rd593, %rd727;
add.s64 %rd595, %rd594, %rd728;
add.s64 %rd596, %rd595, %rd729;
add.s64 %rd597, %rd596, %rd730;
add.s64 %rd598, %rd597, %rd731;
add.s64 %rd599, %rd598, %rd732;
add.s64 %rd600, %rd599, %rd733;
add.s64 %rd601, %rd600, %rd734;
add.s64 %rd602, %rd601, %rd735;
add.s64 %rd603, %rd602, %rd736;
add.s64 %rd604, %rd603, %rd737;
add.s64 %rd605, %rd604, %rd738;
add.s64 %rd606, %rd605, %rd739;
add.s64 %rd607, %rd606, %rd740;
add.s64 %rd608, %rd607, %rd741;
add.s64 %rd609, %rd608, %rd742;
add.s64 %rd865, %rd609, %rd743;
mul.lo.s64 %rd610, %rd323, -7046029254386353131;
xor.b64 %rd611, %rd743, %rd610;
or.b64 %rd612, %rd324, %rd611;
setp.eq.s64 %p35, %rd612, 0;
@%p35 bra LBB5_32;
mul.lo.s64 %rd613, %rd743, -1018231460777725123;
sub.s64 %rd614, %rd613, %rd323;
setp.ne.s64 %p36, %rd324, 0;
setp.gt.s64 %p37, %rd614, 1099511627776;
or.pred %p38, %p36, %p37;
setp.lt.s64 %p39, %rd614, -1099511627776;
or.pred %p40, %p38, %p39;
selp.u64 %rd615, 1, 0, %p40;
add.s64 %rd868, %rd868, %rd615;
setp.lt.s64 %p41, %rd614, 0;
not.pred %p42, %p40;
and.pred %p43, %p42, %p41;
selp.u64 %rd616, 1, 0, %p43;
add.s64 %rd867, %rd867, %rd616;
setp.gt.s64 %p44, %rd614, 0;
and.pred %p45, %p42, %p44;
selp.u64 %rd617, 1, 0, %p45;
add.s64 %rd866, %rd866, %rd617;
bra.uni LBB5_32;
LBB5_33:
setp.ne.s32 %p31, %r32, 0;
mov.u64 %rd619, 1;
@%p31 bra LBB5_35;
add.s64 %rd493, %rd502, 8;
st.release.sys.u64 [%rd493], %rd619;
LBB5_35:
cvt.s64.s32 %rd495, %r66;
shl.b64 %rd496, %rd10, 6;
add.s64 %rd497, %rd1, %rd496;
st.global.u64 [%rd497], %rd869;
st.global.u64 [%rd497+8], %rd868;
st.global.u64 [%rd497+16], %rd867;
st.global.u64 [%rd497+24], %rd866;
st.global.u64 [%rd497+32], %rd865;
st.global.u64 [%rd497+40], %rd495;
st.global.u64 [%rd497+48], %rd619;
mov.u64 %rd499, 0;
st.global.u64 [%rd497+56], %rd499;
@%p31 bra LBB5_37;
st.relaxed.sys.u64 [%rd500], %rd776;
LBB5_37:
bar.warp.sync %r29;
@%p31 bra LBB5_39;
st.release.sys.u64 [%rd502], %rd776;
LBB5_39:
ret;
}
)"
R"(.visible .entry barmap_ring_source_thread_16(
.param .align 8 .b8 barmap_ring_source_thread_16_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_16_param_1[24],
.param .u64 barmap_ring_source_thread_16_param_2
)
{
.reg .pred %p<11>;
.reg .b32 %r<12>;
.reg .b64 %rd<71>;
ld.param.u64 %rd36, [barmap_ring_source_thread_16_param_2];
cvta.to.global.u64 %rd1, %rd36;
ld.param.u64 %rd3, [barmap_ring_source_thread_16_param_0];
ld.param.u64 %rd54, [barmap_ring_source_thread_16_param_0+8];
ld.param.u64 %rd34, [barmap_ring_source_thread_16_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_16_param_0+24];
add.s64 %rd56, %rd34, 16;
ld.relaxed.sys.u64 %rd66, [%rd56];
ld.acquire.sys.u64 %rd67, [%rd34];
ld.param.u64 %rd10, [barmap_ring_source_thread_16_param_1+8];
setp.eq.s64 %p1, %rd10, 0;
mov.u32 %r9, 0;
mov.u64 %rd35, 0;
mov.u64 %rd69, %rd35;
mov.u64 %rd70, %rd35;
@%p1 bra LBB6_10;
mov.b64 %rd37, barmap_ring_source_thread_16_param_1;
mov.u64 %rd2, %rd37;
add.s64 %rd46, %rd34, 8;
ld.param.u64 %rd12, [%rd2];
ld.param.u64 %rd39, [%rd2+16];
setp.eq.s64 %p2, %rd39, 0;
selp.b32 %r1, 1, 4, %p2;
add.s64 %rd13, %rd39, 1;
mov.u64 %rd70, 0;
mov.u32 %r6, 0;
mov.u32 %r7, 3;
mov.u64 %rd69, %rd70;
bra.uni LBB6_2;
LBB6_8:
and.b64 %rd50, %rd66, %rd6;
shl.b64 %rd51, %rd50, 4;
add.s64 %rd47, %rd3, %rd51;
add.s64 %rd66, %rd66, 1;
st.relaxed.sys.v2.u64 [%rd47], {%rd48, %rd66};
mov.u32 %r9, %r6;
LBB6_9:
setp.eq.s32 %p8, %r9, 0;
selp.b64 %rd52, %rd48, 0, %p8;
add.s64 %rd69, %rd52, %rd69;
selp.u64 %rd53, 1, 0, %p8;
add.s64 %rd70, %rd70, %rd53;
setp.lt.u64 %p9, %rd70, %rd10;
and.pred %p10, %p8, %p9;
@%p10 bra LBB6_2;
bra.uni LBB6_10;
LBB6_2:
add.s64 %rd40, %rd12, %rd70;
mul.lo.s64 %rd48, %rd40, -7046029254386353131;
sub.s64 %rd41, %rd66, %rd67;
setp.le.u64 %p3, %rd41, %rd6;
@%p3 bra LBB6_8;
mov.u64 %rd64, %rd13;
LBB6_4:
ld.acquire.sys.u64 %rd67, [%rd34];
sub.s64 %rd44, %rd66, %rd67;
setp.le.u64 %p4, %rd44, %rd6;
mov.u32 %r9, %r6;
@%p4 bra LBB6_7;
ld.relaxed.sys.u64 %rd45, [%rd46];
setp.ne.s64 %p5, %rd45, 0;
mov.u32 %r9, %r7;
@%p5 bra LBB6_7;
add.s64 %rd64, %rd64, -1;
setp.ne.s64 %p6, %rd64, 0;
mov.u32 %r9, %r1;
@%p6 bra LBB6_4;
LBB6_7:
setp.ne.s32 %p7, %r9, 0;
@%p7 bra LBB6_9;
bra.uni LBB6_8;
LBB6_10:
mov.u64 %rd55, 1;
st.release.sys.u64 [%rd54], %rd55;
cvt.u64.u32 %rd58, %r9;
st.global.u64 [%rd1], %rd70;
st.global.u64 [%rd1+8], %rd35;
st.global.u64 [%rd1+16], %rd35;
st.global.u64 [%rd1+24], %rd35;
st.global.u64 [%rd1+32], %rd69;
st.global.u64 [%rd1+40], %rd58;
st.global.u64 [%rd1+48], %rd55;
st.global.u64 [%rd1+56], %rd35;
st.relaxed.sys.u64 [%rd56], %rd66;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_16(
.param .align 8 .b8 barmap_ring_source_warp_16_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_16_param_1[24],
.param .u64 barmap_ring_source_warp_16_param_2
)
{
.reg .pred %p<22>;
.reg .b32 %r<47>;
.reg .b64 %rd<89>;
ld.param.u64 %rd43, [barmap_ring_source_warp_16_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd3, [barmap_ring_source_warp_16_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_16_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_16_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_16_param_0+24];
add.s64 %rd39, %rd5, 16;
ld.relaxed.sys.u64 %rd88, [%rd39];
ld.acquire.sys.u64 %rd87, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_16_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r43, 0;
mov.u64 %rd81, 0;
mov.u32 %r39, -1;
mov.u64 %rd80, %rd81;
@%p2 bra LBB7_4;
mov.b64 %rd44, barmap_ring_source_warp_16_param_1;
mov.u64 %rd2, %rd44;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd55, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd79, 0;
mov.u32 %r17, 2;
mov.u64 %rd80, %rd79;
mov.u64 %rd81, %rd79;
bra.uni LBB7_2;
LBB7_16:
setp.eq.s32 %p15, %r43, 0;
setp.lt.u32 %p16, %r1, %r5;
and.pred %p17, %p15, %p16;
selp.b64 %rd64, %rd58, 0, %p17;
add.s64 %rd81, %rd64, %rd81;
selp.u64 %rd65, 1, 0, %p17;
add.s64 %rd80, %rd80, %rd65;
add.s64 %rd79, %rd26, %rd79;
setp.gt.u64 %p18, %rd12, %rd79;
and.pred %p19, %p18, %p15;
@%p19 bra LBB7_2;
bra.uni LBB7_4;
LBB7_2:
mov.u64 %rd24, %rd88;
sub.s64 %rd46, %rd12, %rd79;
min.u64 %rd47, %rd46, %rd11;
and.b64 %rd26, %rd47, 4294967295;
add.s64 %rd27, %rd26, %rd24;
sub.s64 %rd50, %rd27, %rd87;
setp.le.u64 %p4, %rd50, %rd10;
mov.u32 %r44, %r17;
@%p4 bra LBB7_13;
mov.u64 %rd84, %rd16;
mov.u64 %rd85, %rd87;
LBB7_10:
ld.acquire.sys.u64 %rd87, [%rd5];
sub.s64 %rd53, %rd27, %rd87;
setp.le.u64 %p5, %rd53, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r39; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r44, %r17;
@%p6 bra LBB7_12;
ld.relaxed.sys.u64 %rd54, [%rd55];
setp.ne.s64 %p7, %rd54, 0;
selp.u32 %r27, 1, 0, %p7;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r39; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p8, %r29, 31;
setp.eq.s64 %p9, %rd84, 0;
selp.b32 %r31, %r2, %r43, %p9;
or.pred %p10, %p8, %p9;
selp.u32 %r44, 1, 0, %p10;
selp.b32 %r43, 3, %r31, %p8;
mov.u64 %rd87, %rd85;
LBB7_12:
setp.eq.s32 %p11, %r44, 0;
@%p11 bra LBB7_9;
bra.uni LBB7_13;
LBB7_9:
sub.s64 %rd56, %rd27, %rd87;
setp.le.u64 %p12, %rd56, %rd10;
add.s64 %rd84, %rd84, -1;
mov.u64 %rd85, %rd87;
mov.u32 %r44, %r17;
@%p12 bra LBB7_13;
bra.uni LBB7_10;
LBB7_13:
cvt.u32.u64 %r5, %rd47;
add.s64 %rd48, %rd79, %rd13;
add.s64 %rd49, %rd48, %rd15;
mul.lo.s64 %rd58, %rd49, -7046029254386353131;
setp.ne.s32 %p13, %r44, 2;
mov.u64 %rd88, %rd24;
@%p13 bra LBB7_16;
mov.u32 %r33, %laneid;
setp.ge.u32 %p14, %r33, %r5;
mov.u32 %r43, 0;
mov.u64 %rd88, %rd27;
@%p14 bra LBB7_16;
cvt.u64.u32 %rd60, %r33;
add.s64 %rd61, %rd24, %rd60;
and.b64 %rd62, %rd61, %rd6;
shl.b64 %rd63, %rd62, 4;
add.s64 %rd57, %rd3, %rd63;
add.s64 %rd59, %rd61, 1;
st.relaxed.sys.v2.u64 [%rd57], {%rd58, %rd59};
mov.u64 %rd88, %rd27;
bra.uni LBB7_16;
LBB7_4:
cvta.to.global.u64 %rd1, %rd43;
bar.warp.sync %r39;
mov.u32 %r37, %laneid;
setp.ne.s32 %p20, %r37, 0;
mov.u64 %rd75, 1;
@%p20 bra LBB7_6;
st.release.sys.u64 [%rd4], %rd75;
LBB7_6:
cvt.s64.s32 %rd68, %r43;
mul.wide.u32 %rd69, %r1, 64;
add.s64 %rd70, %rd1, %rd69;
st.global.u64 [%rd70], %rd80;
mov.u64 %rd71, 0;
st.global.u64 [%rd70+8], %rd71;
st.global.u64 [%rd70+16], %rd71;
st.global.u64 [%rd70+24], %rd71;
st.global.u64 [%rd70+32], %rd81;
st.global.u64 [%rd70+40], %rd68;
st.global.u64 [%rd70+48], %rd75;
st.global.u64 [%rd70+56], %rd71;
bar.warp.sync %r39;
@%p20 bra LBB7_8;
st.relaxed.sys.u64 [%rd39], %rd88;
LBB7_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_16(
.param .align 8 .b8 barmap_ring_source_many_16_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_16_param_1[24],
.param .u64 barmap_ring_source_many_16_param_2,
.param .u32 barmap_ring_source_many_16_param_3
)
{
.reg .pred %p<13>;
.reg .b32 %r<24>;
.reg .b64 %rd<69>;
ld.param.u64 %rd30, [barmap_ring_source_many_16_param_2];
cvta.to.global.u64 %rd1, %rd30;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_16_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB8_2;
bra.uni LBB8_1;
LBB8_2:
ld.param.u32 %r9, [barmap_ring_source_many_16_param_3];
mov.b64 %rd29, barmap_ring_source_many_16_param_0;
mov.b64 %rd31, barmap_ring_source_many_16_param_1;
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
bra.uni LBB8_3;
LBB8_11:
setp.eq.s32 %p10, %r21, 0;
selp.b64 %rd53, %rd47, 0, %p10;
add.s64 %rd67, %rd53, %rd67;
selp.u64 %rd54, 1, 0, %p10;
add.s64 %rd68, %rd68, %rd54;
setp.lt.u64 %p11, %rd68, %rd4;
and.pred %p12, %p10, %p11;
@%p12 bra LBB8_3;
bra.uni LBB8_12;
LBB8_3:
mul.lo.s64 %rd34, %rd68, %rd7;
add.s64 %rd35, %rd34, %rd66;
add.s64 %rd36, %rd35, %rd8;
mul.lo.s64 %rd47, %rd36, -7046029254386353131;
mov.u64 %rd18, %rd61;
LBB8_4:
ld.relaxed.sys.u64 %rd44, [%rd43];
ld.acquire.sys.u64 %rd39, [%rd40];
sub.s64 %rd41, %rd44, %rd39;
setp.gt.s64 %p3, %rd41, %rd12;
@%p3 bra LBB8_8;
bra.uni LBB8_5;
LBB8_8:
ld.relaxed.sys.u64 %rd51, [%rd52];
setp.ne.s64 %p5, %rd51, 0;
setp.eq.s64 %p6, %rd51, 0;
setp.eq.s64 %p7, %rd18, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB8_9;
LBB8_5:
add.s64 %rd48, %rd44, 1;
atom.relaxed.gpu.cas.b64 %rd42, [%rd43], %rd44, %rd48;
setp.ne.s64 %p4, %rd42, %rd44;
@%p4 bra LBB8_7;
and.b64 %rd49, %rd12, %rd44;
shl.b64 %rd50, %rd49, 4;
add.s64 %rd46, %rd13, %rd50;
st.relaxed.sys.v2.u64 [%rd46], {%rd47, %rd48};
mov.u32 %r21, 0;
mov.u32 %r22, %r16;
bra.uni LBB8_9;
LBB8_7:
add.s64 %rd18, %rd18, -1;
mov.u32 %r22, 4;
LBB8_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB8_10;
bra.uni LBB8_11;
LBB8_10:
add.s64 %rd18, %rd18, 1;
bra.uni LBB8_4;
LBB8_1:
cvt.u64.u32 %rd66, %r1;
mov.u32 %r21, 0;
mov.u64 %rd67, 0;
mov.u64 %rd68, %rd67;
LBB8_12:
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
R"(.visible .entry barmap_ring_source_thread_64(
.param .align 8 .b8 barmap_ring_source_thread_64_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_64_param_1[24],
.param .u64 barmap_ring_source_thread_64_param_2
)
{
.reg .pred %p<12>;
.reg .b32 %r<12>;
.reg .b64 %rd<100>;
ld.param.u64 %rd44, [barmap_ring_source_thread_64_param_2];
cvta.to.global.u64 %rd1, %rd44;
ld.param.u64 %rd46, [barmap_ring_source_thread_64_param_0];
ld.param.u64 %rd81, [barmap_ring_source_thread_64_param_0+8];
ld.param.u64 %rd42, [barmap_ring_source_thread_64_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_64_param_0+24];
add.s64 %rd83, %rd42, 16;
ld.relaxed.sys.u64 %rd93, [%rd83];
ld.acquire.sys.u64 %rd94, [%rd42];
ld.param.u64 %rd10, [barmap_ring_source_thread_64_param_1+8];
setp.eq.s64 %p1, %rd10, 0;
mov.u32 %r9, 0;
mov.u64 %rd43, 0;
mov.u64 %rd95, %rd43;
mov.u64 %rd96, %rd43;
@%p1 bra LBB9_12;
mov.b64 %rd45, barmap_ring_source_thread_64_param_1;
mov.u64 %rd2, %rd45;
cvta.to.global.u64 %rd3, %rd46;
add.s64 %rd55, %rd42, 8;
ld.param.u64 %rd12, [%rd2];
ld.param.u64 %rd48, [%rd2+16];
setp.eq.s64 %p2, %rd48, 0;
selp.b32 %r1, 1, 4, %p2;
add.s64 %rd13, %rd48, 1;
mov.u64 %rd96, 0;
mov.u32 %r6, 0;
mov.u32 %r7, 3;
mov.u64 %rd95, %rd96;
bra.uni LBB9_2;
LBB9_11:
setp.eq.s32 %p9, %r9, 0;
setp.lt.u64 %p10, %rd96, %rd10;
and.pred %p11, %p9, %p10;
@%p11 bra LBB9_2;
bra.uni LBB9_12;
LBB9_2:
add.s64 %rd49, %rd12, %rd96;
mul.lo.s64 %rd57, %rd49, -7046029254386353131;
add.s64 %rd59, %rd57, -3335678366873096957;
add.s64 %rd61, %rd57, -6671356733746193914;
add.s64 %rd63, %rd57, 8439708973090260745;
add.s64 %rd65, %rd57, 5104030606217163788;
add.s64 %rd67, %rd57, 1768352239344066831;
add.s64 %rd69, %rd57, -1567326127529030126;
sub.s64 %rd50, %rd93, %rd94;
setp.le.u64 %p3, %rd50, %rd6;
@%p3 bra LBB9_8;
mov.u64 %rd91, %rd13;
LBB9_4:
ld.acquire.sys.u64 %rd94, [%rd42];
sub.s64 %rd53, %rd93, %rd94;
setp.le.u64 %p4, %rd53, %rd6;
mov.u32 %r9, %r6;
@%p4 bra LBB9_7;
ld.relaxed.sys.u64 %rd54, [%rd55];
setp.ne.s64 %p5, %rd54, 0;
mov.u32 %r9, %r7;
@%p5 bra LBB9_7;
add.s64 %rd91, %rd91, -1;
setp.ne.s64 %p6, %rd91, 0;
mov.u32 %r9, %r1;
@%p6 bra LBB9_4;
LBB9_7:
setp.ne.s32 %p7, %r9, 0;
@%p7 bra LBB9_9;
LBB9_8:
and.b64 %rd72, %rd93, %rd6;
shl.b64 %rd73, %rd72, 6;
add.s64 %rd74, %rd3, %rd73;
cvta.global.u64 %rd56, %rd74;
add.s64 %rd93, %rd93, 1;
st.relaxed.sys.u64 [%rd56], %rd57;
add.s64 %rd58, %rd56, 8;
st.relaxed.sys.u64 [%rd58], %rd59;
add.s64 %rd60, %rd56, 16;
st.relaxed.sys.u64 [%rd60], %rd61;
add.s64 %rd62, %rd56, 24;
st.relaxed.sys.u64 [%rd62], %rd63;
add.s64 %rd64, %rd56, 32;
st.relaxed.sys.u64 [%rd64], %rd65;
add.s64 %rd66, %rd56, 40;
st.relaxed.sys.u64 [%rd66], %rd67;
add.s64 %rd68, %rd56, 48;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd56, 56;
st.release.sys.u64 [%rd70], %rd93;
mov.u32 %r9, %r6;
LBB9_9:
setp.ne.s32 %p8, %r9, 0;
@%p8 bra LBB9_11;
add.s64 %rd96, %rd96, 1;
add.s64 %rd75, %rd57, %rd95;
add.s64 %rd76, %rd75, %rd59;
add.s64 %rd77, %rd76, %rd61;
add.s64 %rd78, %rd77, %rd63;
add.s64 %rd79, %rd78, %rd65;
add.s64 %rd80, %rd79, %rd67;
add.s64 %rd95, %rd80, %rd69;
bra.uni LBB9_11;
LBB9_12:
mov.u64 %rd82, 1;
st.release.sys.u64 [%rd81], %rd82;
cvt.u64.u32 %rd85, %r9;
st.global.u64 [%rd1], %rd96;
st.global.u64 [%rd1+8], %rd43;
st.global.u64 [%rd1+16], %rd43;
st.global.u64 [%rd1+24], %rd43;
st.global.u64 [%rd1+32], %rd95;
st.global.u64 [%rd1+40], %rd85;
st.global.u64 [%rd1+48], %rd82;
st.global.u64 [%rd1+56], %rd43;
st.relaxed.sys.u64 [%rd83], %rd93;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_64(
.param .align 8 .b8 barmap_ring_source_warp_64_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_64_param_1[24],
.param .u64 barmap_ring_source_warp_64_param_2
)
{
.reg .pred %p<23>;
.reg .b32 %r<47>;
.reg .b64 %rd<118>;
ld.param.u64 %rd51, [barmap_ring_source_warp_64_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd53, [barmap_ring_source_warp_64_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_64_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_64_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_64_param_0+24];
add.s64 %rd47, %rd5, 16;
ld.relaxed.sys.u64 %rd115, [%rd47];
ld.acquire.sys.u64 %rd114, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_64_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r43, 0;
mov.u64 %rd116, 0;
mov.u32 %r39, -1;
mov.u64 %rd117, %rd116;
@%p2 bra LBB10_4;
mov.b64 %rd52, barmap_ring_source_warp_64_param_1;
mov.u64 %rd2, %rd52;
cvta.to.global.u64 %rd3, %rd53;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd64, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd106, 0;
mov.u32 %r17, 2;
mov.u64 %rd117, %rd106;
mov.u64 %rd116, %rd106;
mov.u64 %rd110, %rd115;
bra.uni LBB10_2;
LBB10_18:
add.s64 %rd106, %rd32, %rd106;
setp.gt.u64 %p19, %rd12, %rd106;
and.pred %p20, %p19, %p15;
mov.u64 %rd110, %rd115;
@%p20 bra LBB10_2;
bra.uni LBB10_4;
LBB10_2:
sub.s64 %rd55, %rd12, %rd106;
min.u64 %rd56, %rd55, %rd11;
add.s64 %rd57, %rd106, %rd13;
add.s64 %rd58, %rd57, %rd15;
mul.lo.s64 %rd67, %rd58, -7046029254386353131;
and.b64 %rd32, %rd56, 4294967295;
add.s64 %rd33, %rd32, %rd110;
sub.s64 %rd59, %rd33, %rd114;
setp.le.u64 %p4, %rd59, %rd10;
mov.u32 %r44, %r17;
@%p4 bra LBB10_13;
mov.u64 %rd111, %rd16;
mov.u64 %rd112, %rd114;
LBB10_10:
ld.acquire.sys.u64 %rd114, [%rd5];
sub.s64 %rd62, %rd33, %rd114;
setp.le.u64 %p5, %rd62, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r39; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r44, %r17;
@%p6 bra LBB10_12;
ld.relaxed.sys.u64 %rd63, [%rd64];
setp.ne.s64 %p7, %rd63, 0;
selp.u32 %r27, 1, 0, %p7;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r39; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p8, %r29, 31;
setp.eq.s64 %p9, %rd111, 0;
selp.b32 %r31, %r2, %r43, %p9;
or.pred %p10, %p8, %p9;
selp.u32 %r44, 1, 0, %p10;
selp.b32 %r43, 3, %r31, %p8;
mov.u64 %rd114, %rd112;
LBB10_12:
setp.eq.s32 %p11, %r44, 0;
@%p11 bra LBB10_9;
bra.uni LBB10_13;
LBB10_9:
sub.s64 %rd65, %rd33, %rd114;
setp.le.u64 %p12, %rd65, %rd10;
add.s64 %rd111, %rd111, -1;
mov.u64 %rd112, %rd114;
mov.u32 %r44, %r17;
@%p12 bra LBB10_13;
bra.uni LBB10_10;
LBB10_13:
cvt.u32.u64 %r5, %rd56;
add.s64 %rd69, %rd67, -3335678366873096957;
add.s64 %rd71, %rd67, -6671356733746193914;
add.s64 %rd73, %rd67, 8439708973090260745;
add.s64 %rd75, %rd67, 5104030606217163788;
add.s64 %rd77, %rd67, 1768352239344066831;
add.s64 %rd79, %rd67, -1567326127529030126;
setp.ne.s32 %p13, %r44, 2;
mov.u64 %rd115, %rd110;
@%p13 bra LBB10_16;
mov.u32 %r33, %laneid;
setp.ge.u32 %p14, %r33, %r5;
mov.u32 %r43, 0;
mov.u64 %rd115, %rd33;
@%p14 bra LBB10_16;
cvt.u64.u32 %rd82, %r33;
add.s64 %rd83, %rd110, %rd82;
and.b64 %rd84, %rd83, %rd6;
shl.b64 %rd85, %rd84, 6;
add.s64 %rd86, %rd3, %rd85;
cvta.global.u64 %rd66, %rd86;
add.s64 %rd81, %rd83, 1;
st.relaxed.sys.u64 [%rd66], %rd67;
add.s64 %rd68, %rd66, 8;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd66, 16;
st.relaxed.sys.u64 [%rd70], %rd71;
add.s64 %rd72, %rd66, 24;
st.relaxed.sys.u64 [%rd72], %rd73;
add.s64 %rd74, %rd66, 32;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd66, 40;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd66, 48;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd66, 56;
st.release.sys.u64 [%rd80], %rd81;
mov.u64 %rd115, %rd33;
LBB10_16:
setp.eq.s32 %p15, %r43, 0;
setp.lt.u32 %p16, %r1, %r5;
and.pred %p17, %p15, %p16;
@!%p17 bra LBB10_18;
bra.uni LBB10_17;
LBB10_17:
add.s64 %rd117, %rd117, 1;
add.s64 %rd87, %rd67, %rd116;
add.s64 %rd88, %rd87, %rd69;
add.s64 %rd89, %rd88, %rd71;
add.s64 %rd90, %rd89, %rd73;
add.s64 %rd91, %rd90, %rd75;
add.s64 %rd92, %rd91, %rd77;
add.s64 %rd116, %rd92, %rd79;
bra.uni LBB10_18;
LBB10_4:
cvta.to.global.u64 %rd1, %rd51;
bar.warp.sync %r39;
mov.u32 %r37, %laneid;
setp.ne.s32 %p21, %r37, 0;
mov.u64 %rd102, 1;
@%p21 bra LBB10_6;
st.release.sys.u64 [%rd4], %rd102;
LBB10_6:
cvt.s64.s32 %rd95, %r43;
mul.wide.u32 %rd96, %r1, 64;
add.s64 %rd97, %rd1, %rd96;
st.global.u64 [%rd97], %rd117;
mov.u64 %rd98, 0;
st.global.u64 [%rd97+8], %rd98;
st.global.u64 [%rd97+16], %rd98;
st.global.u64 [%rd97+24], %rd98;
st.global.u64 [%rd97+32], %rd116;
st.global.u64 [%rd97+40], %rd95;
st.global.u64 [%rd97+48], %rd102;
st.global.u64 [%rd97+56], %rd98;
bar.warp.sync %r39;
@%p21 bra LBB10_8;
st.relaxed.sys.u64 [%rd47], %rd115;
LBB10_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_64(
.param .align 8 .b8 barmap_ring_source_many_64_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_64_param_1[24],
.param .u64 barmap_ring_source_many_64_param_2,
.param .u32 barmap_ring_source_many_64_param_3
)
{
.reg .pred %p<14>;
.reg .b32 %r<24>;
.reg .b64 %rd<98>;
ld.param.u64 %rd38, [barmap_ring_source_many_64_param_2];
cvta.to.global.u64 %rd1, %rd38;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_64_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB11_2;
bra.uni LBB11_1;
LBB11_2:
ld.param.u32 %r9, [barmap_ring_source_many_64_param_3];
mov.b64 %rd37, barmap_ring_source_many_64_param_0;
mov.b64 %rd39, barmap_ring_source_many_64_param_1;
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
bra.uni LBB11_3;
LBB11_11:
setp.ne.s32 %p10, %r21, 0;
@%p10 bra LBB11_13;
bra.uni LBB11_12;
LBB11_13:
setp.eq.s32 %p11, %r21, 0;
setp.lt.u64 %p12, %rd89, %rd4;
and.pred %p13, %p11, %p12;
@%p13 bra LBB11_3;
bra.uni LBB11_14;
LBB11_3:
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
LBB11_4:
ld.relaxed.sys.u64 %rd53, [%rd52];
ld.acquire.sys.u64 %rd48, [%rd49];
sub.s64 %rd50, %rd53, %rd48;
setp.gt.s64 %p3, %rd50, %rd12;
@%p3 bra LBB11_8;
bra.uni LBB11_5;
LBB11_8:
ld.relaxed.sys.u64 %rd74, [%rd75];
setp.ne.s64 %p5, %rd74, 0;
setp.eq.s64 %p6, %rd74, 0;
setp.eq.s64 %p7, %rd24, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB11_9;
LBB11_5:
add.s64 %rd70, %rd53, 1;
atom.relaxed.gpu.cas.b64 %rd51, [%rd52], %rd53, %rd70;
setp.ne.s64 %p4, %rd51, %rd53;
@%p4 bra LBB11_7;
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
bra.uni LBB11_9;
LBB11_7:
add.s64 %rd24, %rd24, -1;
mov.u32 %r22, 4;
LBB11_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB11_10;
bra.uni LBB11_11;
LBB11_10:
add.s64 %rd24, %rd24, 1;
bra.uni LBB11_4;
LBB11_12:
add.s64 %rd89, %rd89, 1;
add.s64 %rd76, %rd56, %rd90;
add.s64 %rd77, %rd76, %rd58;
add.s64 %rd78, %rd77, %rd60;
add.s64 %rd79, %rd78, %rd62;
add.s64 %rd80, %rd79, %rd64;
add.s64 %rd81, %rd80, %rd66;
add.s64 %rd90, %rd81, %rd68;
bra.uni LBB11_13;
LBB11_1:
cvt.u64.u32 %rd95, %r1;
mov.u32 %r21, 0;
mov.u64 %rd90, 0;
mov.u64 %rd89, %rd90;
LBB11_14:
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
R"(.visible .entry barmap_ring_source_thread_128(
.param .align 8 .b8 barmap_ring_source_thread_128_param_0[32],
.param .align 8 .b8 barmap_ring_source_thread_128_param_1[24],
.param .u64 barmap_ring_source_thread_128_param_2
)
{
.reg .pred %p<12>;
.reg .b32 %r<12>;
.reg .b64 %rd<132>;
ld.param.u64 %rd52, [barmap_ring_source_thread_128_param_2];
cvta.to.global.u64 %rd1, %rd52;
ld.param.u64 %rd54, [barmap_ring_source_thread_128_param_0];
ld.param.u64 %rd113, [barmap_ring_source_thread_128_param_0+8];
ld.param.u64 %rd50, [barmap_ring_source_thread_128_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_thread_128_param_0+24];
add.s64 %rd115, %rd50, 16;
ld.relaxed.sys.u64 %rd125, [%rd115];
ld.acquire.sys.u64 %rd126, [%rd50];
ld.param.u64 %rd10, [barmap_ring_source_thread_128_param_1+8];
setp.eq.s64 %p1, %rd10, 0;
mov.u32 %r9, 0;
mov.u64 %rd51, 0;
mov.u64 %rd127, %rd51;
mov.u64 %rd128, %rd51;
@%p1 bra LBB12_12;
mov.b64 %rd53, barmap_ring_source_thread_128_param_1;
mov.u64 %rd2, %rd53;
cvta.to.global.u64 %rd3, %rd54;
add.s64 %rd63, %rd50, 8;
ld.param.u64 %rd12, [%rd2];
ld.param.u64 %rd56, [%rd2+16];
setp.eq.s64 %p2, %rd56, 0;
selp.b32 %r1, 1, 4, %p2;
add.s64 %rd13, %rd56, 1;
mov.u64 %rd128, 0;
mov.u32 %r6, 0;
mov.u32 %r7, 3;
mov.u64 %rd127, %rd128;
bra.uni LBB12_2;
LBB12_11:
setp.eq.s32 %p9, %r9, 0;
setp.lt.u64 %p10, %rd128, %rd10;
and.pred %p11, %p9, %p10;
@%p11 bra LBB12_2;
bra.uni LBB12_12;
LBB12_2:
add.s64 %rd57, %rd12, %rd128;
mul.lo.s64 %rd65, %rd57, -7046029254386353131;
add.s64 %rd67, %rd65, -3335678366873096957;
add.s64 %rd69, %rd65, -6671356733746193914;
add.s64 %rd71, %rd65, 8439708973090260745;
add.s64 %rd73, %rd65, 5104030606217163788;
add.s64 %rd75, %rd65, 1768352239344066831;
add.s64 %rd77, %rd65, -1567326127529030126;
add.s64 %rd79, %rd65, -4903004494402127083;
add.s64 %rd81, %rd65, -8238682861275224040;
add.s64 %rd83, %rd65, 6872382845561230619;
add.s64 %rd85, %rd65, 3536704478688133662;
add.s64 %rd87, %rd65, 201026111815036705;
add.s64 %rd89, %rd65, -3134652255058060252;
add.s64 %rd91, %rd65, -6470330621931157209;
add.s64 %rd93, %rd65, 8640735084905297450;
sub.s64 %rd58, %rd125, %rd126;
setp.le.u64 %p3, %rd58, %rd6;
@%p3 bra LBB12_8;
mov.u64 %rd123, %rd13;
LBB12_4:
ld.acquire.sys.u64 %rd126, [%rd50];
sub.s64 %rd61, %rd125, %rd126;
setp.le.u64 %p4, %rd61, %rd6;
mov.u32 %r9, %r6;
@%p4 bra LBB12_7;
ld.relaxed.sys.u64 %rd62, [%rd63];
setp.ne.s64 %p5, %rd62, 0;
mov.u32 %r9, %r7;
@%p5 bra LBB12_7;
add.s64 %rd123, %rd123, -1;
setp.ne.s64 %p6, %rd123, 0;
mov.u32 %r9, %r1;
@%p6 bra LBB12_4;
LBB12_7:
setp.ne.s32 %p7, %r9, 0;
@%p7 bra LBB12_9;
LBB12_8:
and.b64 %rd96, %rd125, %rd6;
shl.b64 %rd97, %rd96, 7;
add.s64 %rd98, %rd3, %rd97;
cvta.global.u64 %rd64, %rd98;
add.s64 %rd125, %rd125, 1;
st.relaxed.sys.u64 [%rd64], %rd65;
add.s64 %rd66, %rd64, 8;
st.relaxed.sys.u64 [%rd66], %rd67;
add.s64 %rd68, %rd64, 16;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd64, 24;
st.relaxed.sys.u64 [%rd70], %rd71;
add.s64 %rd72, %rd64, 32;
st.relaxed.sys.u64 [%rd72], %rd73;
add.s64 %rd74, %rd64, 40;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd64, 48;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd64, 56;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd64, 64;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd64, 72;
st.relaxed.sys.u64 [%rd82], %rd83;
add.s64 %rd84, %rd64, 80;
st.relaxed.sys.u64 [%rd84], %rd85;
add.s64 %rd86, %rd64, 88;
st.relaxed.sys.u64 [%rd86], %rd87;
add.s64 %rd88, %rd64, 96;
st.relaxed.sys.u64 [%rd88], %rd89;
add.s64 %rd90, %rd64, 104;
st.relaxed.sys.u64 [%rd90], %rd91;
add.s64 %rd92, %rd64, 112;
st.relaxed.sys.u64 [%rd92], %rd93;
add.s64 %rd94, %rd64, 120;
st.release.sys.u64 [%rd94], %rd125;
mov.u32 %r9, %r6;
LBB12_9:
setp.ne.s32 %p8, %r9, 0;
@%p8 bra LBB12_11;
add.s64 %rd128, %rd128, 1;
add.s64 %rd99, %rd65, %rd127;
add.s64 %rd100, %rd99, %rd67;
add.s64 %rd101, %rd100, %rd69;
add.s64 %rd102, %rd101, %rd71;
add.s64 %rd103, %rd102, %rd73;
add.s64 %rd104, %rd103, %rd75;
add.s64 %rd105, %rd104, %rd77;
add.s64 %rd106, %rd105, %rd79;
add.s64 %rd107, %rd106, %rd81;
add.s64 %rd108, %rd107, %rd83;
add.s64 %rd109, %rd108, %rd85;
add.s64 %rd110, %rd109, %rd87;
add.s64 %rd111, %rd110, %rd89;
add.s64 %rd112, %rd111, %rd91;
add.s64 %rd127, %rd112, %rd93;
bra.uni LBB12_11;
LBB12_12:
mov.u64 %rd114, 1;
st.release.sys.u64 [%rd113], %rd114;
cvt.u64.u32 %rd117, %r9;
st.global.u64 [%rd1], %rd128;
st.global.u64 [%rd1+8], %rd51;
st.global.u64 [%rd1+16], %rd51;
st.global.u64 [%rd1+24], %rd51;
st.global.u64 [%rd1+32], %rd127;
st.global.u64 [%rd1+40], %rd117;
st.global.u64 [%rd1+48], %rd114;
st.global.u64 [%rd1+56], %rd51;
st.relaxed.sys.u64 [%rd115], %rd125;
ret;
}
)"
R"(.visible .entry barmap_ring_source_warp_128(
.param .align 8 .b8 barmap_ring_source_warp_128_param_0[32],
.param .align 8 .b8 barmap_ring_source_warp_128_param_1[24],
.param .u64 barmap_ring_source_warp_128_param_2
)
{
.reg .pred %p<23>;
.reg .b32 %r<47>;
.reg .b64 %rd<150>;
ld.param.u64 %rd59, [barmap_ring_source_warp_128_param_2];
mov.u32 %r16, %tid.x;
and.b32 %r1, %r16, 31;
ld.param.u64 %rd61, [barmap_ring_source_warp_128_param_0];
ld.param.u64 %rd4, [barmap_ring_source_warp_128_param_0+8];
ld.param.u64 %rd5, [barmap_ring_source_warp_128_param_0+16];
ld.param.u64 %rd6, [barmap_ring_source_warp_128_param_0+24];
add.s64 %rd55, %rd5, 16;
ld.relaxed.sys.u64 %rd147, [%rd55];
ld.acquire.sys.u64 %rd146, [%rd5];
ld.param.u64 %rd12, [barmap_ring_source_warp_128_param_1+8];
setp.eq.s64 %p2, %rd12, 0;
mov.u32 %r43, 0;
mov.u64 %rd148, 0;
mov.u32 %r39, -1;
mov.u64 %rd149, %rd148;
@%p2 bra LBB13_4;
mov.b64 %rd60, barmap_ring_source_warp_128_param_1;
mov.u64 %rd2, %rd60;
cvta.to.global.u64 %rd3, %rd61;
setp.lt.u64 %p1, %rd6, 32;
add.s64 %rd10, %rd6, 1;
selp.b64 %rd11, %rd10, 32, %p1;
cvt.u64.u32 %rd13, %r1;
add.s64 %rd72, %rd5, 8;
ld.param.u64 %rd15, [%rd2];
ld.param.u64 %rd16, [%rd2+16];
setp.eq.s64 %p3, %rd16, 0;
selp.b32 %r2, 1, 4, %p3;
mov.u64 %rd138, 0;
mov.u32 %r17, 2;
mov.u64 %rd149, %rd138;
mov.u64 %rd148, %rd138;
mov.u64 %rd142, %rd147;
bra.uni LBB13_2;
LBB13_18:
add.s64 %rd138, %rd40, %rd138;
setp.gt.u64 %p19, %rd12, %rd138;
and.pred %p20, %p19, %p15;
mov.u64 %rd142, %rd147;
@%p20 bra LBB13_2;
bra.uni LBB13_4;
LBB13_2:
sub.s64 %rd63, %rd12, %rd138;
min.u64 %rd64, %rd63, %rd11;
add.s64 %rd65, %rd138, %rd13;
add.s64 %rd66, %rd65, %rd15;
mul.lo.s64 %rd75, %rd66, -7046029254386353131;
and.b64 %rd40, %rd64, 4294967295;
add.s64 %rd41, %rd40, %rd142;
sub.s64 %rd67, %rd41, %rd146;
setp.le.u64 %p4, %rd67, %rd10;
mov.u32 %r44, %r17;
@%p4 bra LBB13_13;
mov.u64 %rd143, %rd16;
mov.u64 %rd144, %rd146;
LBB13_10:
ld.acquire.sys.u64 %rd146, [%rd5];
sub.s64 %rd70, %rd41, %rd146;
setp.le.u64 %p5, %rd70, %rd10;
selp.u32 %r21, 1, 0, %p5;
{ .reg .pred p; setp.ne.u32 p, %r21, 0; vote.sync.ballot.b32 %r20, p, %r39; }
not.b32 %r24, %r20;
{ .reg .b32 r; brev.b32 r, %r24; bfind.shiftamt.u32 %r23, r; }
setp.gt.u32 %p6, %r23, 31;
mov.u32 %r44, %r17;
@%p6 bra LBB13_12;
ld.relaxed.sys.u64 %rd71, [%rd72];
setp.ne.s64 %p7, %rd71, 0;
selp.u32 %r27, 1, 0, %p7;
{ .reg .pred p; setp.ne.u32 p, %r27, 0; vote.sync.ballot.b32 %r26, p, %r39; }
not.b32 %r30, %r26;
{ .reg .b32 r; brev.b32 r, %r30; bfind.shiftamt.u32 %r29, r; }
setp.gt.u32 %p8, %r29, 31;
setp.eq.s64 %p9, %rd143, 0;
selp.b32 %r31, %r2, %r43, %p9;
or.pred %p10, %p8, %p9;
selp.u32 %r44, 1, 0, %p10;
selp.b32 %r43, 3, %r31, %p8;
mov.u64 %rd146, %rd144;
LBB13_12:
setp.eq.s32 %p11, %r44, 0;
@%p11 bra LBB13_9;
bra.uni LBB13_13;
LBB13_9:
sub.s64 %rd73, %rd41, %rd146;
setp.le.u64 %p12, %rd73, %rd10;
add.s64 %rd143, %rd143, -1;
mov.u64 %rd144, %rd146;
mov.u32 %r44, %r17;
@%p12 bra LBB13_13;
bra.uni LBB13_10;
LBB13_13:
cvt.u32.u64 %r5, %rd64;
add.s64 %rd77, %rd75, -3335678366873096957;
add.s64 %rd79, %rd75, -6671356733746193914;
add.s64 %rd81, %rd75, 8439708973090260745;
add.s64 %rd83, %rd75, 5104030606217163788;
add.s64 %rd85, %rd75, 1768352239344066831;
add.s64 %rd87, %rd75, -1567326127529030126;
add.s64 %rd89, %rd75, -4903004494402127083;
add.s64 %rd91, %rd75, -8238682861275224040;
add.s64 %rd93, %rd75, 6872382845561230619;
add.s64 %rd95, %rd75, 3536704478688133662;
add.s64 %rd97, %rd75, 201026111815036705;
add.s64 %rd99, %rd75, -3134652255058060252;
add.s64 %rd101, %rd75, -6470330621931157209;
add.s64 %rd103, %rd75, 8640735084905297450;
setp.ne.s32 %p13, %r44, 2;
mov.u64 %rd147, %rd142;
@%p13 bra LBB13_16;
mov.u32 %r33, %laneid;
setp.ge.u32 %p14, %r33, %r5;
mov.u32 %r43, 0;
mov.u64 %rd147, %rd41;
@%p14 bra LBB13_16;
cvt.u64.u32 %rd106, %r33;
add.s64 %rd107, %rd142, %rd106;
and.b64 %rd108, %rd107, %rd6;
shl.b64 %rd109, %rd108, 7;
add.s64 %rd110, %rd3, %rd109;
cvta.global.u64 %rd74, %rd110;
add.s64 %rd105, %rd107, 1;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd74, 8;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd74, 16;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd74, 24;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd74, 32;
st.relaxed.sys.u64 [%rd82], %rd83;
add.s64 %rd84, %rd74, 40;
st.relaxed.sys.u64 [%rd84], %rd85;
add.s64 %rd86, %rd74, 48;
st.relaxed.sys.u64 [%rd86], %rd87;
add.s64 %rd88, %rd74, 56;
st.relaxed.sys.u64 [%rd88], %rd89;
add.s64 %rd90, %rd74, 64;
st.relaxed.sys.u64 [%rd90], %rd91;
add.s64 %rd92, %rd74, 72;
st.relaxed.sys.u64 [%rd92], %rd93;
add.s64 %rd94, %rd74, 80;
st.relaxed.sys.u64 [%rd94], %rd95;
add.s64 %rd96, %rd74, 88;
st.relaxed.sys.u64 [%rd96], %rd97;
add.s64 %rd98, %rd74, 96;
st.relaxed.sys.u64 [%rd98], %rd99;
add.s64 %rd100, %rd74, 104;
st.relaxed.sys.u64 [%rd100], %rd101;
add.s64 %rd102, %rd74, 112;
st.relaxed.sys.u64 [%rd102], %rd103;
add.s64 %rd104, %rd74, 120;
st.release.sys.u64 [%rd104], %rd105;
mov.u64 %rd147, %rd41;
LBB13_16:
setp.eq.s32 %p15, %r43, 0;
setp.lt.u32 %p16, %r1, %r5;
and.pred %p17, %p15, %p16;
@!%p17 bra LBB13_18;
bra.uni LBB13_17;
LBB13_17:
add.s64 %rd149, %rd149, 1;
add.s64 %rd111, %rd75, %rd148;
add.s64 %rd112, %rd111, %rd77;
add.s64 %rd113, %rd112, %rd79;
add.s64 %rd114, %rd113, %rd81;
add.s64 %rd115, %rd114, %rd83;
add.s64 %rd116, %rd115, %rd85;
add.s64 %rd117, %rd116, %rd87;
add.s64 %rd118, %rd117, %rd89;
add.s64 %rd119, %rd118, %rd91;
add.s64 %rd120, %rd119, %rd93;
add.s64 %rd121, %rd120, %rd95;
add.s64 %rd122, %rd121, %rd97;
add.s64 %rd123, %rd122, %rd99;
add.s64 %rd124, %rd123, %rd101;
add.s64 %rd148, %rd124, %rd103;
bra.uni LBB13_18;
LBB13_4:
cvta.to.global.u64 %rd1, %rd59;
bar.warp.sync %r39;
mov.u32 %r37, %laneid;
setp.ne.s32 %p21, %r37, 0;
mov.u64 %rd134, 1;
@%p21 bra LBB13_6;
st.release.sys.u64 [%rd4], %rd134;
LBB13_6:
cvt.s64.s32 %rd127, %r43;
mul.wide.u32 %rd128, %r1, 64;
add.s64 %rd129, %rd1, %rd128;
st.global.u64 [%rd129], %rd149;
mov.u64 %rd130, 0;
st.global.u64 [%rd129+8], %rd130;
st.global.u64 [%rd129+16], %rd130;
st.global.u64 [%rd129+24], %rd130;
st.global.u64 [%rd129+32], %rd148;
st.global.u64 [%rd129+40], %rd127;
st.global.u64 [%rd129+48], %rd134;
st.global.u64 [%rd129+56], %rd130;
bar.warp.sync %r39;
@%p21 bra LBB13_8;
st.relaxed.sys.u64 [%rd55], %rd147;
LBB13_8:
ret;
}
)"
R"(.visible .entry barmap_ring_source_many_128(
.param .align 8 .b8 barmap_ring_source_many_128_param_0[32],
.param .align 8 .b8 barmap_ring_source_many_128_param_1[24],
.param .u64 barmap_ring_source_many_128_param_2,
.param .u32 barmap_ring_source_many_128_param_3
)
{
.reg .pred %p<14>;
.reg .b32 %r<24>;
.reg .b64 %rd<130>;
ld.param.u64 %rd46, [barmap_ring_source_many_128_param_2];
cvta.to.global.u64 %rd1, %rd46;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.s32 %r1, %r10, %r11, %r12;
ld.param.u64 %rd4, [barmap_ring_source_many_128_param_1+8];
setp.ne.s64 %p1, %rd4, 0;
@%p1 bra LBB14_2;
bra.uni LBB14_1;
LBB14_2:
ld.param.u32 %r9, [barmap_ring_source_many_128_param_3];
mov.b64 %rd45, barmap_ring_source_many_128_param_0;
mov.b64 %rd47, barmap_ring_source_many_128_param_1;
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
bra.uni LBB14_3;
LBB14_11:
setp.ne.s32 %p10, %r21, 0;
@%p10 bra LBB14_13;
bra.uni LBB14_12;
LBB14_13:
setp.eq.s32 %p11, %r21, 0;
setp.lt.u64 %p12, %rd121, %rd4;
and.pred %p13, %p11, %p12;
@%p13 bra LBB14_3;
bra.uni LBB14_14;
LBB14_3:
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
LBB14_4:
ld.relaxed.sys.u64 %rd61, [%rd60];
ld.acquire.sys.u64 %rd56, [%rd57];
sub.s64 %rd58, %rd61, %rd56;
setp.gt.s64 %p3, %rd58, %rd12;
@%p3 bra LBB14_8;
bra.uni LBB14_5;
LBB14_8:
ld.relaxed.sys.u64 %rd98, [%rd99];
setp.ne.s64 %p5, %rd98, 0;
setp.eq.s64 %p6, %rd98, 0;
setp.eq.s64 %p7, %rd32, %rd9;
selp.b32 %r17, %r2, %r21, %p7;
selp.b32 %r21, %r17, 3, %p6;
or.pred %p8, %p5, %p7;
selp.u32 %r22, 1, 0, %p8;
bra.uni LBB14_9;
LBB14_5:
add.s64 %rd94, %rd61, 1;
atom.relaxed.gpu.cas.b64 %rd59, [%rd60], %rd61, %rd94;
setp.ne.s64 %p4, %rd59, %rd61;
@%p4 bra LBB14_7;
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
bra.uni LBB14_9;
LBB14_7:
add.s64 %rd32, %rd32, -1;
mov.u32 %r22, 4;
LBB14_9:
or.b32 %r18, %r22, 4;
setp.eq.s32 %p9, %r18, 4;
@%p9 bra LBB14_10;
bra.uni LBB14_11;
LBB14_10:
add.s64 %rd32, %rd32, 1;
bra.uni LBB14_4;
LBB14_12:
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
bra.uni LBB14_13;
LBB14_1:
cvt.u64.u32 %rd127, %r1;
mov.u32 %r21, 0;
mov.u64 %rd122, 0;
mov.u64 %rd121, %rd122;
LBB14_14:
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
R"(.visible .entry barmap_ring_echo(
.param .align 8 .b8 barmap_ring_echo_param_0[32],
.param .align 8 .b8 barmap_ring_echo_param_1[32],
.param .align 8 .b8 barmap_ring_echo_param_2[24],
.param .u64 barmap_ring_echo_param_3
)
{
.reg .pred %p<41>;
.reg .b32 %r<25>;
.reg .b64 %rd<281>;
ld.param.u64 %rd116, [barmap_ring_echo_param_3];
cvta.to.global.u64 %rd1, %rd116;
ld.param.u64 %rd117, [barmap_ring_echo_param_0];
cvta.to.global.u64 %rd2, %rd117;
ld.param.u64 %rd128, [barmap_ring_echo_param_0+8];
ld.param.u64 %rd218, [barmap_ring_echo_param_0+16];
ld.param.u64 %rd5, [barmap_ring_echo_param_0+24];
add.s64 %rd216, %rd128, 8;
ld.relaxed.sys.u64 %rd248, [%rd216];
ld.param.u64 %rd8, [barmap_ring_echo_param_1];
ld.param.u64 %rd210, [barmap_ring_echo_param_1+8];
ld.param.u64 %rd171, [barmap_ring_echo_param_1+16];
ld.param.u64 %rd11, [barmap_ring_echo_param_1+24];
add.s64 %rd214, %rd171, 16;
ld.relaxed.sys.u64 %rd269, [%rd214];
ld.acquire.sys.u64 %rd268, [%rd171];
add.s64 %rd118, %rd2, 56;
cvta.global.u64 %rd15, %rd118;
setp.lt.u64 %p4, %rd5, 4;
add.s64 %rd119, %rd5, 1;
shr.u64 %rd120, %rd119, 2;
selp.b64 %rd16, 1, %rd120, %p4;
add.s64 %rd174, %rd171, 8;
ld.param.u64 %rd18, [barmap_ring_echo_param_2+16];
setp.eq.s64 %p5, %rd18, 0;
selp.b32 %r1, 2, 4, %p5;
selp.b32 %r2, 1, 4, %p5;
ld.param.u64 %rd19, [barmap_ring_echo_param_2];
add.s64 %rd20, %rd18, 1;
mov.u64 %rd114, 0;
mov.u32 %r14, 0;
mov.u32 %r17, 3;
mov.pred %p24, 0;
mov.pred %p26, -1;
mov.u64 %rd249, %rd248;
mov.u64 %rd270, %rd114;
mov.u64 %rd271, %rd114;
mov.u64 %rd272, %rd114;
mov.u64 %rd273, %rd114;
mov.u64 %rd274, %rd114;
bra.uni LBB15_1;
LBB15_23:
@%p40 bra LBB15_1;
bra.uni LBB15_24;
LBB15_1:
mov.u64 %rd247, %rd114;
bra.uni LBB15_2;
LBB15_10:
setp.lt.u64 %p16, %rd247, %rd18;
selp.b32 %r20, %r20, %r1, %p16;
mov.pred %p39, %p1;
LBB15_11:
add.s64 %rd247, %rd247, 1;
@%p39 bra LBB15_2;
bra.uni LBB15_12;
LBB15_2:
and.b64 %rd124, %rd248, %rd5;
shl.b64 %rd47, %rd124, 3;
add.s64 %rd48, %rd248, 1;
shl.b64 %rd125, %rd124, 6;
add.s64 %rd123, %rd15, %rd125;
ld.acquire.sys.u64 %rd122, [%rd123];
setp.ne.s64 %p6, %rd122, %rd48;
@%p6 bra LBB15_5;
bra.uni LBB15_3;
LBB15_5:
setp.lt.u64 %p1, %rd247, %rd18;
and.b64 %rd126, %rd247, 63;
setp.ne.s64 %p8, %rd126, 63;
and.pred %p9, %p1, %p8;
mov.pred %p39, %p26;
@%p9 bra LBB15_11;
ld.acquire.sys.u64 %rd127, [%rd128];
setp.eq.s64 %p10, %rd127, 0;
@%p10 bra LBB15_10;
ld.acquire.sys.u64 %rd129, [%rd123];
setp.ne.s64 %p12, %rd129, %rd48;
mov.u32 %r20, 3;
mov.pred %p39, 0;
@%p12 bra LBB15_11;
shl.b64 %rd145, %rd47, 3;
add.s64 %rd146, %rd2, %rd145;
cvta.global.u64 %rd132, %rd146;
ld.relaxed.sys.u64 %rd256, [%rd132];
add.s64 %rd134, %rd132, 8;
ld.relaxed.sys.u64 %rd255, [%rd134];
add.s64 %rd136, %rd132, 16;
ld.relaxed.sys.u64 %rd254, [%rd136];
add.s64 %rd138, %rd132, 24;
ld.relaxed.sys.u64 %rd253, [%rd138];
add.s64 %rd140, %rd132, 32;
ld.relaxed.sys.u64 %rd252, [%rd140];
add.s64 %rd142, %rd132, 40;
ld.relaxed.sys.u64 %rd251, [%rd142];
add.s64 %rd144, %rd132, 48;
ld.relaxed.sys.u64 %rd250, [%rd144];
sub.s64 %rd147, %rd48, %rd249;
setp.lt.u64 %p14, %rd147, %rd16;
mov.u32 %r20, 0;
mov.u64 %rd248, %rd48;
@%p14 bra LBB15_11;
st.release.sys.u64 [%rd218], %rd48;
mov.u64 %rd248, %rd48;
mov.u64 %rd249, %rd48;
bra.uni LBB15_11;
LBB15_3:
shl.b64 %rd164, %rd47, 3;
add.s64 %rd165, %rd2, %rd164;
cvta.global.u64 %rd151, %rd165;
ld.relaxed.sys.u64 %rd256, [%rd151];
add.s64 %rd153, %rd151, 8;
ld.relaxed.sys.u64 %rd255, [%rd153];
add.s64 %rd155, %rd151, 16;
ld.relaxed.sys.u64 %rd254, [%rd155];
add.s64 %rd157, %rd151, 24;
ld.relaxed.sys.u64 %rd253, [%rd157];
add.s64 %rd159, %rd151, 32;
ld.relaxed.sys.u64 %rd252, [%rd159];
add.s64 %rd161, %rd151, 40;
ld.relaxed.sys.u64 %rd251, [%rd161];
add.s64 %rd163, %rd151, 48;
ld.relaxed.sys.u64 %rd250, [%rd163];
sub.s64 %rd166, %rd48, %rd249;
setp.lt.u64 %p17, %rd166, %rd16;
mov.u64 %rd248, %rd48;
mov.u32 %r20, %r14;
@%p17 bra LBB15_12;
st.release.sys.u64 [%rd218], %rd48;
mov.u64 %rd248, %rd48;
mov.u64 %rd249, %rd48;
mov.u32 %r20, %r14;
LBB15_12:
setp.ne.s32 %p18, %r20, 0;
@%p18 bra LBB15_24;
sub.s64 %rd169, %rd269, %rd268;
setp.le.u64 %p19, %rd169, %rd11;
@%p19 bra LBB15_19;
mov.u64 %rd266, %rd20;
LBB15_15:
ld.acquire.sys.u64 %rd268, [%rd171];
sub.s64 %rd172, %rd269, %rd268;
setp.le.u64 %p20, %rd172, %rd11;
mov.u32 %r20, %r14;
@%p20 bra LBB15_18;
ld.relaxed.sys.u64 %rd173, [%rd174];
setp.ne.s64 %p21, %rd173, 0;
mov.u32 %r20, %r17;
@%p21 bra LBB15_18;
add.s64 %rd266, %rd266, -1;
setp.ne.s64 %p22, %rd266, 0;
mov.u32 %r20, %r2;
@%p22 bra LBB15_15;
LBB15_18:
setp.ne.s32 %p23, %r20, 0;
@%p23 bra LBB15_20;
LBB15_19:
and.b64 %rd178, %rd269, %rd11;
shl.b64 %rd179, %rd178, 4;
add.s64 %rd175, %rd8, %rd179;
add.s64 %rd269, %rd269, 1;
st.relaxed.sys.v2.u64 [%rd175], {%rd256, %rd269};
mov.u32 %r20, %r14;
LBB15_20:
setp.ne.s32 %p25, %r20, 0;
mov.pred %p40, %p24;
@%p25 bra LBB15_23;
add.s64 %rd90, %rd19, %rd274;
add.s64 %rd180, %rd256, -3335678366873096957;
xor.b64 %rd181, %rd180, %rd255;
add.s64 %rd182, %rd256, -6671356733746193914;
xor.b64 %rd183, %rd182, %rd254;
or.b64 %rd184, %rd183, %rd181;
add.s64 %rd185, %rd256, 8439708973090260745;
xor.b64 %rd186, %rd185, %rd253;
or.b64 %rd187, %rd184, %rd186;
add.s64 %rd188, %rd256, 5104030606217163788;
xor.b64 %rd189, %rd188, %rd252;
or.b64 %rd190, %rd187, %rd189;
add.s64 %rd191, %rd256, 1768352239344066831;
xor.b64 %rd192, %rd191, %rd251;
or.b64 %rd193, %rd190, %rd192;
add.s64 %rd194, %rd256, -1567326127529030126;
xor.b64 %rd195, %rd194, %rd250;
or.b64 %rd91, %rd193, %rd195;
add.s64 %rd274, %rd274, 1;
add.s64 %rd196, %rd250, %rd270;
add.s64 %rd197, %rd196, %rd251;
add.s64 %rd198, %rd197, %rd252;
add.s64 %rd199, %rd198, %rd253;
add.s64 %rd200, %rd199, %rd254;
add.s64 %rd201, %rd200, %rd255;
add.s64 %rd270, %rd201, %rd256;
mul.lo.s64 %rd202, %rd90, -7046029254386353131;
xor.b64 %rd203, %rd202, %rd256;
or.b64 %rd204, %rd203, %rd91;
setp.eq.s64 %p27, %rd204, 0;
mov.pred %p40, %p26;
@%p27 bra LBB15_23;
mul.lo.s64 %rd205, %rd256, -1018231460777725123;
sub.s64 %rd206, %rd205, %rd90;
setp.ne.s64 %p29, %rd91, 0;
setp.gt.s64 %p30, %rd206, 1099511627776;
or.pred %p31, %p29, %p30;
setp.lt.s64 %p32, %rd206, -1099511627776;
or.pred %p33, %p31, %p32;
selp.u64 %rd207, 1, 0, %p33;
add.s64 %rd273, %rd273, %rd207;
setp.lt.s64 %p34, %rd206, 0;
not.pred %p35, %p33;
and.pred %p36, %p35, %p34;
selp.u64 %rd208, 1, 0, %p36;
add.s64 %rd272, %rd272, %rd208;
setp.gt.s64 %p37, %rd206, 0;
and.pred %p38, %p35, %p37;
selp.u64 %rd209, 1, 0, %p38;
add.s64 %rd271, %rd271, %rd209;
mov.pred %p40, %p26;
bra.uni LBB15_23;
LBB15_24:
mov.u64 %rd211, 1;
st.release.sys.u64 [%rd210], %rd211;
add.s64 %rd212, %rd218, 8;
st.release.sys.u64 [%rd212], %rd211;
cvt.s64.s32 %rd220, %r20;
st.global.u64 [%rd1], %rd274;
st.global.u64 [%rd1+8], %rd273;
st.global.u64 [%rd1+16], %rd272;
st.global.u64 [%rd1+24], %rd271;
st.global.u64 [%rd1+32], %rd270;
st.global.u64 [%rd1+40], %rd220;
st.global.u64 [%rd1+48], %rd211;
mov.u64 %rd221, 0;
st.global.u64 [%rd1+56], %rd221;
st.relaxed.sys.u64 [%rd214], %rd269;
st.relaxed.sys.u64 [%rd216], %rd248;
st.release.sys.u64 [%rd218], %rd248;
ret;
}
)";
// clang-format on

} // namespace barmap::tool
