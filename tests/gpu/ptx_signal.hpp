// SPDX-License-Identifier: MIT
// Made by scripts/ptx with clang 14 from signal_kernels.cu: change that, and run it again.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" // of clang, for more than 64 KiB in all

namespace barmap::gpu_test {

/// The GPU kernels of signal_test, in PTX 6.4 for sm_70.
// clang-format off
inline constexpr char const* ptx_signal = R"(.version 6.4
.target sm_70
.address_size 64
)"
R"(.visible .entry barmap_test_counters(
.param .align 8 .b8 barmap_test_counters_param_0[8],
.param .align 8 .b8 barmap_test_counters_param_1[24],
.param .u64 barmap_test_counters_param_2,
.param .u64 barmap_test_counters_param_3,
.param .u64 barmap_test_counters_param_4,
.param .u64 barmap_test_counters_param_5,
.param .u64 barmap_test_counters_param_6
)
{
.reg .pred %p<8>;
.reg .b64 %rd<37>;
ld.param.u64 %rd12, [barmap_test_counters_param_3];
setp.eq.s64 %p1, %rd12, 0;
@%p1 bra LBB0_9;
ld.param.u64 %rd15, [barmap_test_counters_param_6];
ld.param.u64 %rd31, [barmap_test_counters_param_5];
ld.param.u64 %rd26, [barmap_test_counters_param_4];
ld.param.u64 %rd11, [barmap_test_counters_param_2];
mov.b64 %rd16, barmap_test_counters_param_0;
mov.b64 %rd17, barmap_test_counters_param_1;
mov.u64 %rd1, %rd17;
mov.u64 %rd2, %rd16;
ld.param.u64 %rd21, [%rd2];
ld.param.u64 %rd33, [%rd1];
mov.u64 %rd35, 1;
bra.uni LBB0_2;
LBB0_8:
mul.lo.s64 %rd32, %rd35, 7;
st.relaxed.sys.u64 [%rd31], %rd32;
st.release.sys.u64 [%rd33], %rd6;
add.s64 %rd35, %rd35, 1;
setp.le.u64 %p7, %rd35, %rd12;
@%p7 bra LBB0_2;
bra.uni LBB0_9;
LBB0_2:
add.s64 %rd6, %rd35, %rd11;
mov.u64 %rd36, 20000000;
LBB0_3:
ld.acquire.sys.u64 %rd20, [%rd21];
sub.s64 %rd8, %rd20, %rd6;
setp.gt.s64 %p2, %rd8, -1;
setp.eq.s64 %p3, %rd36, 0;
or.pred %p4, %p2, %p3;
add.s64 %rd36, %rd36, -1;
@!%p4 bra LBB0_3;
bra.uni LBB0_4;
LBB0_4:
@%p2 bra LBB0_6;
bra.uni LBB0_5;
LBB0_6:
ld.relaxed.sys.u64 %rd25, [%rd26];
mul.lo.s64 %rd27, %rd35, 3;
setp.eq.s64 %p6, %rd25, %rd27;
@%p6 bra LBB0_8;
mov.u64 %rd30, 1;
atom.acq_rel.gpu.add.u64 %rd28, [%rd15], %rd30;
bra.uni LBB0_8;
LBB0_5:
mov.u64 %rd24, 1;
atom.acq_rel.gpu.add.u64 %rd22, [%rd15], %rd24;
LBB0_9:
ret;
}
)"
R"(.visible .entry barmap_test_arrivals(
.param .align 8 .b8 barmap_test_arrivals_param_0[8],
.param .align 8 .b8 barmap_test_arrivals_param_1[24],
.param .u64 barmap_test_arrivals_param_2,
.param .u64 barmap_test_arrivals_param_3,
.param .u64 barmap_test_arrivals_param_4
)
{
.reg .pred %p<9>;
.reg .b32 %r<6>;
.reg .b64 %rd<48>;
ld.param.u64 %rd20, [barmap_test_arrivals_param_2];
setp.eq.s64 %p1, %rd20, 0;
@%p1 bra LBB1_12;
ld.param.u64 %rd43, [barmap_test_arrivals_param_4];
ld.param.u64 %rd21, [barmap_test_arrivals_param_3];
mov.b64 %rd23, barmap_test_arrivals_param_0;
mov.b64 %rd24, barmap_test_arrivals_param_1;
mov.u64 %rd1, %rd24;
mov.u64 %rd2, %rd23;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %rd26, %r1, 8;
add.s64 %rd27, %rd21, %rd26;
mov.u32 %r2, %nctaid.x;
cvt.u64.u32 %rd4, %r2;
ld.param.u64 %rd30, [%rd1+8];
ld.param.u64 %rd37, [%rd1];
ld.param.u64 %rd7, [%rd1+16];
ld.param.u64 %rd41, [%rd2];
mov.u64 %rd25, 1;
cvt.u32.u64 %r3, %rd4;
mov.u64 %rd45, %rd25;
LBB1_3:
st.relaxed.sys.u64 [%rd27], %rd45;
atom.acq_rel.gpu.add.u64 %rd29, [%rd30], %rd25;
add.s64 %rd32, %rd29, 1;
or.b64 %rd33, %rd32, %rd4;
and.b64 %rd34, %rd33, -4294967296;
setp.ne.s64 %p2, %rd34, 0;
@%p2 bra LBB1_5;
bra.uni LBB1_4;
LBB1_5:
div.u64 %rd46, %rd32, %rd4;
bra.uni LBB1_6;
LBB1_4:
cvt.u32.u64 %r4, %rd32;
div.u32 %r5, %r4, %r3;
cvt.u64.u32 %rd46, %r5;
LBB1_6:
mul.lo.s64 %rd35, %rd46, %rd4;
sub.s64 %rd36, %rd32, %rd35;
setp.ne.s64 %p3, %rd36, 0;
@%p3 bra LBB1_8;
add.s64 %rd38, %rd46, %rd7;
fence.acq_rel.sys;
st.release.sys.u64 [%rd37], %rd38;
LBB1_8:
mov.u64 %rd47, 20000000;
LBB1_9:
ld.acquire.sys.u64 %rd40, [%rd41];
sub.s64 %rd17, %rd40, %rd45;
setp.gt.s64 %p4, %rd17, -1;
setp.eq.s64 %p5, %rd47, 0;
or.pred %p6, %p4, %p5;
add.s64 %rd47, %rd47, -1;
@!%p6 bra LBB1_9;
bra.uni LBB1_10;
LBB1_10:
@%p4 bra LBB1_2;
bra.uni LBB1_11;
LBB1_2:
add.s64 %rd45, %rd45, 1;
setp.gt.u64 %p8, %rd45, %rd20;
@%p8 bra LBB1_12;
bra.uni LBB1_3;
LBB1_11:
mov.u64 %rd44, 1;
atom.acq_rel.gpu.add.u64 %rd42, [%rd43], %rd44;
LBB1_12:
ret;
}
)"
R"(.visible .entry barmap_test_server(
.param .align 8 .b8 barmap_test_server_param_0[32],
.param .align 8 .b8 barmap_test_server_param_1[32],
.param .u64 barmap_test_server_param_2
)
{
.reg .pred %p<89>;
.reg .b16 %rs<12>;
.reg .b32 %r<41>;
.reg .b64 %rd<605>;
ld.param.u64 %rd436, [barmap_test_server_param_2];
ld.param.u64 %rd289, [barmap_test_server_param_0];
cvta.to.global.u64 %rd1, %rd289;
ld.param.u64 %rd2, [barmap_test_server_param_0+8];
ld.param.u64 %rd440, [barmap_test_server_param_0+16];
ld.param.u64 %rd4, [barmap_test_server_param_0+24];
add.s64 %rd442, %rd2, 8;
ld.relaxed.sys.u64 %rd604, [%rd442];
and.b64 %rd290, %rd604, %rd4;
mul.lo.s64 %rd291, %rd290, 192;
add.s64 %rd473, %rd1, %rd291;
setp.lt.u64 %p14, %rd4, 4;
add.s64 %rd292, %rd4, 1;
shr.u64 %rd293, %rd292, 2;
selp.b64 %rd8, 1, %rd293, %p14;
ld.param.u64 %rd294, [barmap_test_server_param_1];
cvta.to.global.u64 %rd9, %rd294;
ld.param.u64 %rd384, [barmap_test_server_param_1+16];
ld.param.u64 %rd11, [barmap_test_server_param_1+24];
add.s64 %rd438, %rd384, 16;
ld.relaxed.sys.u64 %rd466, [%rd438];
and.b64 %rd295, %rd466, %rd11;
mul.lo.s64 %rd296, %rd295, 192;
add.s64 %rd467, %rd9, %rd296;
ld.acquire.sys.u64 %rd286, [%rd384];
add.s64 %rd15, %rd11, 1;
sub.s64 %rd297, %rd15, %rd466;
add.s64 %rd468, %rd297, %rd286;
add.s64 %rd387, %rd384, 8;
mov.u16 %rs11, 0;
mov.u32 %r19, 0;
mov.pred %p17, -1;
mov.u16 %rs7, 1;
mov.pred %p24, 0;
mov.u64 %rd474, %rd8;
bra.uni LBB2_1;
LBB2_38:
mov.u64 %rd434, 1;
atom.acq_rel.gpu.add.u64 %rd432, [%rd436], %rd434;
LBB2_1:
and.b16 %rs6, %rs11, 255;
setp.eq.s16 %p15, %rs6, 0;
@%p15 bra LBB2_4;
add.s64 %rd604, %rd604, 1;
and.b64 %rd298, %rd604, %rd4;
mul.lo.s64 %rd299, %rd298, 192;
add.s64 %rd473, %rd1, %rd299;
add.s64 %rd474, %rd474, -1;
setp.ne.s64 %p16, %rd474, 0;
@%p16 bra LBB2_4;
st.release.sys.u64 [%rd440], %rd604;
mov.u64 %rd474, %rd8;
LBB2_4:
cvta.global.u64 %rd44, %rd467;
cvta.global.u64 %rd352, %rd473;
add.s64 %rd52, %rd604, 1;
add.s64 %rd344, %rd352, 56;
add.s64 %rd346, %rd352, 120;
add.s64 %rd348, %rd352, 184;
add.s64 %rd355, %rd352, 16;
add.s64 %rd358, %rd352, 32;
add.s64 %rd360, %rd352, 48;
add.s64 %rd363, %rd352, 64;
add.s64 %rd366, %rd352, 80;
add.s64 %rd369, %rd352, 96;
add.s64 %rd371, %rd352, 112;
add.s64 %rd374, %rd352, 128;
add.s64 %rd377, %rd352, 144;
add.s64 %rd380, %rd352, 160;
mov.u64 %rd495, 20000000;
bra.uni LBB2_5;
LBB2_16:
selp.u16 %rs11, 1, 0, %p5;
mov.pred %p85, %p24;
LBB2_18:
add.s64 %rd495, %rd495, -64;
@%p85 bra LBB2_5;
bra.uni LBB2_19;
LBB2_5:
mov.u32 %r1, %r35;
mov.u64 %rd85, %rd595;
mov.u64 %rd84, %rd594;
mov.u64 %rd83, %rd593;
mov.u64 %rd82, %rd592;
mov.u64 %rd81, %rd591;
mov.u64 %rd80, %rd590;
mov.u64 %rd79, %rd589;
mov.u64 %rd78, %rd588;
mov.u64 %rd77, %rd587;
mov.u64 %rd76, %rd586;
mov.u64 %rd75, %rd585;
mov.u64 %rd74, %rd584;
mov.u64 %rd73, %rd583;
mov.u64 %rd72, %rd582;
mov.u64 %rd71, %rd581;
mov.u64 %rd70, %rd580;
mov.u64 %rd69, %rd579;
mov.u64 %rd68, %rd578;
mov.u64 %rd67, %rd577;
mov.u64 %rd66, %rd576;
setp.eq.s64 %p18, %rd495, 0;
cvt.u32.u64 %r20, %rd495;
or.b32 %r21, %r20, 1;
selp.b32 %r2, %r21, 64, %p18;
mov.pred %p84, %p17;
mov.u32 %r32, %r19;
LBB2_6:
ld.relaxed.sys.u64 %rd303, [%rd344];
ld.relaxed.sys.u64 %rd305, [%rd346];
ld.acquire.sys.u64 %rd307, [%rd348];
setp.eq.s64 %p19, %rd307, %rd52;
setp.eq.s64 %p20, %rd305, %rd52;
setp.eq.s64 %p21, %rd303, %rd52;
and.pred %p22, %p21, %p20;
and.pred %p2, %p19, %p22;
@!%p2 bra LBB2_8;
bra.uni LBB2_7;
LBB2_7:
ld.relaxed.sys.v2.u64 {%rd582, %rd581}, [%rd352];
ld.relaxed.sys.v2.u64 {%rd580, %rd579}, [%rd355];
ld.relaxed.sys.v2.u64 {%rd578, %rd577}, [%rd358];
ld.relaxed.sys.u64 %rd576, [%rd360];
ld.relaxed.sys.v2.u64 {%rd583, %rd584}, [%rd363];
ld.relaxed.sys.v2.u64 {%rd585, %rd586}, [%rd366];
ld.relaxed.sys.v2.u64 {%rd587, %rd588}, [%rd369];
ld.relaxed.sys.u64 %rd589, [%rd371];
ld.relaxed.sys.v2.u64 {%rd590, %rd591}, [%rd374];
ld.relaxed.sys.v2.u64 {%rd592, %rd593}, [%rd377];
ld.relaxed.sys.v2.u64 {%rd594, %rd595}, [%rd380];
LBB2_8:
mov.u16 %rs11, %rs7;
mov.u32 %r35, %r19;
@%p2 bra LBB2_10;
add.s32 %r32, %r32, 1;
setp.lt.u32 %p84, %r32, %r2;
setp.ne.s32 %p23, %r2, %r32;
mov.u16 %rs11, 0;
mov.u64 %rd576, %rd66;
mov.u64 %rd577, %rd67;
mov.u64 %rd578, %rd68;
mov.u64 %rd579, %rd69;
mov.u64 %rd580, %rd70;
mov.u64 %rd581, %rd71;
mov.u64 %rd582, %rd72;
mov.u64 %rd583, %rd73;
mov.u64 %rd584, %rd74;
mov.u64 %rd585, %rd75;
mov.u64 %rd586, %rd76;
mov.u64 %rd587, %rd77;
mov.u64 %rd588, %rd78;
mov.u64 %rd589, %rd79;
mov.u64 %rd590, %rd80;
mov.u64 %rd591, %rd81;
mov.u64 %rd592, %rd82;
mov.u64 %rd593, %rd83;
mov.u64 %rd594, %rd84;
mov.u64 %rd595, %rd85;
mov.u32 %r35, %r1;
@%p23 bra LBB2_6;
LBB2_10:
mov.pred %p85, %p24;
@%p84 bra LBB2_18;
ld.acquire.sys.u64 %rd341, [%rd2];
setp.eq.s64 %p25, %rd341, 0;
@%p25 bra LBB2_17;
ld.relaxed.sys.u64 %rd343, [%rd344];
ld.relaxed.sys.u64 %rd345, [%rd346];
ld.acquire.sys.u64 %rd347, [%rd348];
setp.eq.s64 %p26, %rd347, %rd52;
setp.eq.s64 %p27, %rd345, %rd52;
setp.eq.s64 %p28, %rd343, %rd52;
and.pred %p29, %p28, %p27;
and.pred %p5, %p26, %p29;
@!%p5 bra LBB2_14;
bra.uni LBB2_13;
LBB2_13:
ld.relaxed.sys.v2.u64 {%rd555, %rd554}, [%rd352];
ld.relaxed.sys.v2.u64 {%rd553, %rd552}, [%rd355];
ld.relaxed.sys.v2.u64 {%rd551, %rd550}, [%rd358];
ld.relaxed.sys.u64 %rd549, [%rd360];
ld.relaxed.sys.v2.u64 {%rd548, %rd547}, [%rd363];
ld.relaxed.sys.v2.u64 {%rd546, %rd545}, [%rd366];
ld.relaxed.sys.v2.u64 {%rd544, %rd543}, [%rd369];
ld.relaxed.sys.u64 %rd542, [%rd371];
ld.relaxed.sys.v2.u64 {%rd541, %rd540}, [%rd374];
ld.relaxed.sys.v2.u64 {%rd539, %rd538}, [%rd377];
ld.relaxed.sys.v2.u64 {%rd537, %rd536}, [%rd380];
LBB2_14:
mov.u32 %r35, 3;
@!%p5 bra LBB2_16;
bra.uni LBB2_15;
LBB2_15:
mov.u32 %r35, 0;
mov.u64 %rd576, %rd549;
mov.u64 %rd577, %rd550;
mov.u64 %rd578, %rd551;
mov.u64 %rd579, %rd552;
mov.u64 %rd580, %rd553;
mov.u64 %rd581, %rd554;
mov.u64 %rd582, %rd555;
mov.u64 %rd583, %rd548;
mov.u64 %rd584, %rd547;
mov.u64 %rd585, %rd546;
mov.u64 %rd586, %rd545;
mov.u64 %rd587, %rd544;
mov.u64 %rd588, %rd543;
mov.u64 %rd589, %rd542;
mov.u64 %rd590, %rd541;
mov.u64 %rd591, %rd540;
mov.u64 %rd592, %rd539;
mov.u64 %rd593, %rd538;
mov.u64 %rd594, %rd537;
mov.u64 %rd595, %rd536;
bra.uni LBB2_16;
LBB2_17:
setp.ne.s64 %p85, %rd495, 0;
selp.b32 %r35, 4, %r35, %p18;
bra.uni LBB2_18;
LBB2_19:
setp.eq.s32 %p32, %r35, 0;
@%p32 bra LBB2_26;
bra.uni LBB2_20;
LBB2_26:
add.s64 %rd228, %rd582, -7046029254386353131;
setp.ne.s64 %p34, %rd581, %rd228;
add.s64 %rd229, %rd582, 4354685564936845354;
setp.ne.s64 %p35, %rd580, %rd229;
or.pred %p36, %p34, %p35;
add.s64 %rd230, %rd582, -2691343689449507777;
setp.ne.s64 %p37, %rd579, %rd230;
or.pred %p38, %p37, %p36;
add.s64 %rd231, %rd582, 8709371129873690708;
setp.ne.s64 %p39, %rd578, %rd231;
or.pred %p40, %p39, %p38;
add.s64 %rd232, %rd582, 1663341875487337577;
setp.ne.s64 %p41, %rd577, %rd232;
or.pred %p42, %p41, %p40;
add.s64 %rd233, %rd582, -5382687378899015554;
setp.ne.s64 %p43, %rd576, %rd233;
or.pred %p44, %p43, %p42;
add.s64 %rd234, %rd582, 6018027440424182931;
setp.ne.s64 %p45, %rd583, %rd234;
or.pred %p46, %p45, %p44;
add.s64 %rd235, %rd582, -1028001813962170200;
setp.ne.s64 %p47, %rd584, %rd235;
or.pred %p48, %p47, %p46;
add.s64 %rd236, %rd582, -8074031068348523331;
setp.ne.s64 %p49, %rd585, %rd236;
or.pred %p50, %p49, %p48;
add.s64 %rd237, %rd582, 3326683750974675154;
setp.ne.s64 %p51, %rd586, %rd237;
or.pred %p52, %p51, %p50;
add.s64 %rd238, %rd582, -3719345503411677977;
setp.ne.s64 %p53, %rd587, %rd238;
or.pred %p54, %p53, %p52;
add.s64 %rd239, %rd582, 7681369315911520508;
setp.ne.s64 %p55, %rd588, %rd239;
or.pred %p56, %p55, %p54;
add.s64 %rd240, %rd582, 635340061525167377;
setp.ne.s64 %p57, %rd589, %rd240;
or.pred %p58, %p57, %p56;
add.s64 %rd241, %rd582, -6410689192861185754;
setp.ne.s64 %p59, %rd590, %rd241;
or.pred %p60, %p59, %p58;
add.s64 %rd242, %rd582, 4990025626462012731;
setp.ne.s64 %p61, %rd591, %rd242;
or.pred %p62, %p61, %p60;
add.s64 %rd243, %rd582, -2056003627924340400;
setp.ne.s64 %p63, %rd592, %rd243;
or.pred %p64, %p63, %p62;
add.s64 %rd244, %rd582, -9102032882310693531;
setp.ne.s64 %p65, %rd593, %rd244;
or.pred %p66, %p65, %p64;
add.s64 %rd245, %rd582, 2298681937012504954;
setp.ne.s64 %p67, %rd594, %rd245;
or.pred %p68, %p67, %p66;
add.s64 %rd246, %rd582, -4747347317373848177;
setp.ne.s64 %p69, %rd595, %rd246;
or.pred %p70, %p69, %p68;
@%p70 bra LBB2_38;
setp.ne.s64 %p71, %rd468, 0;
@%p71 bra LBB2_36;
bra.uni LBB2_28;
LBB2_36:
mul.lo.s64 %rd389, %rd582, 3;
shl.b64 %rd381, %rd582, 1;
add.s64 %rd391, %rd228, %rd381;
add.s64 %rd393, %rd229, %rd381;
add.s64 %rd395, %rd230, %rd381;
add.s64 %rd397, %rd231, %rd381;
add.s64 %rd399, %rd232, %rd381;
add.s64 %rd401, %rd233, %rd381;
add.s64 %rd403, %rd234, %rd381;
add.s64 %rd405, %rd235, %rd381;
add.s64 %rd407, %rd236, %rd381;
add.s64 %rd409, %rd237, %rd381;
add.s64 %rd411, %rd238, %rd381;
add.s64 %rd413, %rd239, %rd381;
add.s64 %rd415, %rd240, %rd381;
add.s64 %rd417, %rd241, %rd381;
add.s64 %rd419, %rd242, %rd381;
add.s64 %rd421, %rd243, %rd381;
add.s64 %rd423, %rd244, %rd381;
add.s64 %rd425, %rd245, %rd381;
add.s64 %rd427, %rd246, %rd381;
add.s64 %rd466, %rd466, 1;
st.relaxed.sys.u64 [%rd44], %rd389;
add.s64 %rd390, %rd44, 8;
st.relaxed.sys.u64 [%rd390], %rd391;
add.s64 %rd392, %rd44, 16;
st.relaxed.sys.u64 [%rd392], %rd393;
add.s64 %rd394, %rd44, 24;
st.relaxed.sys.u64 [%rd394], %rd395;
add.s64 %rd396, %rd44, 32;
st.relaxed.sys.u64 [%rd396], %rd397;
add.s64 %rd398, %rd44, 40;
st.relaxed.sys.u64 [%rd398], %rd399;
add.s64 %rd400, %rd44, 48;
st.relaxed.sys.u64 [%rd400], %rd401;
add.s64 %rd402, %rd44, 56;
st.relaxed.sys.u64 [%rd402], %rd403;
add.s64 %rd404, %rd44, 64;
st.relaxed.sys.u64 [%rd404], %rd405;
add.s64 %rd406, %rd44, 72;
st.relaxed.sys.u64 [%rd406], %rd407;
add.s64 %rd408, %rd44, 80;
st.relaxed.sys.u64 [%rd408], %rd409;
add.s64 %rd410, %rd44, 88;
st.relaxed.sys.u64 [%rd410], %rd411;
add.s64 %rd412, %rd44, 96;
st.relaxed.sys.u64 [%rd412], %rd413;
add.s64 %rd414, %rd44, 104;
st.relaxed.sys.u64 [%rd414], %rd415;
add.s64 %rd416, %rd44, 112;
st.relaxed.sys.u64 [%rd416], %rd417;
add.s64 %rd418, %rd44, 120;
st.relaxed.sys.u64 [%rd418], %rd419;
add.s64 %rd420, %rd44, 128;
st.relaxed.sys.u64 [%rd420], %rd421;
add.s64 %rd422, %rd44, 136;
st.relaxed.sys.u64 [%rd422], %rd423;
add.s64 %rd424, %rd44, 144;
st.relaxed.sys.u64 [%rd424], %rd425;
add.s64 %rd426, %rd44, 152;
st.relaxed.sys.u64 [%rd426], %rd427;
add.s64 %rd428, %rd44, 184;
st.release.sys.u64 [%rd428], %rd466;
add.s64 %rd468, %rd468, -1;
and.b64 %rd430, %rd466, %rd11;
mul.lo.s64 %rd431, %rd430, 192;
add.s64 %rd467, %rd9, %rd431;
mov.u32 %r39, 0;
LBB2_37:
setp.eq.s32 %p80, %r39, 0;
@%p80 bra LBB2_1;
bra.uni LBB2_38;
LBB2_28:
mov.u64 %rd596, 20000000;
bra.uni LBB2_29;
LBB2_34:
add.s64 %rd596, %rd596, -64;
@%p88 bra LBB2_29;
bra.uni LBB2_35;
LBB2_29:
mov.u32 %r9, %r39;
setp.eq.s64 %p73, %rd596, 0;
cvt.u32.u64 %r27, %rd596;
or.b32 %r28, %r27, 1;
selp.b32 %r10, %r28, 64, %p73;
mov.pred %p87, %p17;
mov.u32 %r37, %r19;
LBB2_31:
ld.acquire.sys.u64 %rd383, [%rd384];
sub.s64 %rd385, %rd383, %rd466;
add.s64 %rd468, %rd15, %rd385;
setp.eq.s64 %p74, %rd468, 0;
mov.u32 %r39, %r19;
@%p74 bra LBB2_30;
bra.uni LBB2_32;
LBB2_30:
add.s32 %r37, %r37, 1;
setp.lt.u32 %p87, %r37, %r10;
setp.eq.s32 %p75, %r10, %r37;
mov.u32 %r39, %r9;
@%p75 bra LBB2_32;
bra.uni LBB2_31;
LBB2_32:
mov.pred %p88, 0;
@%p87 bra LBB2_34;
setp.ne.s64 %p11, %rd596, 0;
selp.b32 %r14, 4, %r39, %p73;
ld.relaxed.sys.u64 %rd386, [%rd387];
setp.eq.s64 %p78, %rd386, 0;
and.pred %p88, %p78, %p11;
selp.b32 %r39, %r14, 3, %p78;
bra.uni LBB2_34;
LBB2_35:
setp.ne.s32 %p79, %r39, 0;
@%p79 bra LBB2_37;
bra.uni LBB2_36;
LBB2_20:
setp.eq.s32 %p33, %r35, 3;
@%p33 bra LBB2_22;
mov.u64 %rd437, 1;
atom.acq_rel.gpu.add.u64 %rd435, [%rd436], %rd437;
LBB2_22:
st.relaxed.sys.u64 [%rd438], %rd466;
setp.eq.s16 %p81, %rs11, 0;
@%p81 bra LBB2_25;
setp.ne.s64 %p82, %rd474, 1;
mov.u64 %rd604, %rd52;
@%p82 bra LBB2_25;
st.release.sys.u64 [%rd440], %rd52;
mov.u64 %rd604, %rd52;
LBB2_25:
st.relaxed.sys.u64 [%rd442], %rd604;
st.release.sys.u64 [%rd440], %rd604;
ret;
}
)"
R"(.visible .entry barmap_test_step(
.param .align 8 .b8 barmap_test_step_param_0[32],
.param .align 8 .b8 barmap_test_step_param_1[32],
.param .u64 barmap_test_step_param_2
)
{
.reg .pred %p<87>;
.reg .b16 %rs<8>;
.reg .b32 %r<41>;
.reg .b64 %rd<524>;
ld.param.u64 %rd387, [barmap_test_step_param_2];
ld.param.u64 %rd230, [barmap_test_step_param_0];
cvta.to.global.u64 %rd231, %rd230;
ld.param.u64 %rd277, [barmap_test_step_param_0+8];
ld.param.u64 %rd392, [barmap_test_step_param_0+16];
ld.param.u64 %rd3, [barmap_test_step_param_0+24];
add.s64 %rd394, %rd277, 8;
ld.relaxed.sys.u64 %rd523, [%rd394];
and.b64 %rd232, %rd523, %rd3;
mul.lo.s64 %rd233, %rd232, 192;
add.s64 %rd234, %rd231, %rd233;
cvta.global.u64 %rd287, %rd234;
ld.param.u64 %rd235, [barmap_test_step_param_1];
cvta.to.global.u64 %rd7, %rd235;
ld.param.u64 %rd340, [barmap_test_step_param_1+16];
ld.param.u64 %rd236, [barmap_test_step_param_1+24];
add.s64 %rd389, %rd340, 16;
ld.relaxed.sys.u64 %rd521, [%rd389];
and.b64 %rd237, %rd521, %rd236;
mul.lo.s64 %rd11, %rd237, 24;
ld.acquire.sys.u64 %rd226, [%rd340];
add.s64 %rd13, %rd236, 1;
add.s64 %rd393, %rd523, 1;
add.s64 %rd279, %rd287, 56;
add.s64 %rd281, %rd287, 120;
add.s64 %rd283, %rd287, 184;
add.s64 %rd290, %rd287, 16;
add.s64 %rd293, %rd287, 32;
add.s64 %rd295, %rd287, 48;
add.s64 %rd298, %rd287, 64;
add.s64 %rd301, %rd287, 80;
add.s64 %rd304, %rd287, 96;
add.s64 %rd306, %rd287, 112;
add.s64 %rd309, %rd287, 128;
add.s64 %rd312, %rd287, 144;
add.s64 %rd315, %rd287, 160;
mov.u64 %rd418, 20000000;
mov.u32 %r19, 0;
mov.pred %p14, -1;
mov.u16 %rs4, 1;
mov.pred %p21, 0;
mov.u16 %rs5, 0;
bra.uni LBB3_1;
LBB3_12:
selp.u16 %rs7, 1, 0, %p5;
mov.pred %p83, %p21;
LBB3_14:
add.s64 %rd418, %rd418, -64;
@%p83 bra LBB3_1;
bra.uni LBB3_15;
LBB3_1:
mov.u32 %r1, %r35;
mov.u64 %rd47, %rd518;
mov.u64 %rd46, %rd517;
mov.u64 %rd45, %rd516;
mov.u64 %rd44, %rd515;
mov.u64 %rd43, %rd514;
mov.u64 %rd42, %rd513;
mov.u64 %rd41, %rd512;
mov.u64 %rd40, %rd511;
mov.u64 %rd39, %rd510;
mov.u64 %rd38, %rd509;
mov.u64 %rd37, %rd508;
mov.u64 %rd36, %rd507;
mov.u64 %rd35, %rd506;
mov.u64 %rd34, %rd505;
mov.u64 %rd33, %rd504;
mov.u64 %rd32, %rd503;
mov.u64 %rd31, %rd502;
mov.u64 %rd30, %rd501;
mov.u64 %rd29, %rd500;
mov.u64 %rd28, %rd499;
setp.eq.s64 %p15, %rd418, 0;
cvt.u32.u64 %r20, %rd418;
or.b32 %r21, %r20, 1;
selp.b32 %r2, %r21, 64, %p15;
mov.pred %p82, %p14;
mov.u32 %r32, %r19;
LBB3_2:
ld.relaxed.sys.u64 %rd238, [%rd279];
ld.relaxed.sys.u64 %rd240, [%rd281];
ld.acquire.sys.u64 %rd242, [%rd283];
setp.eq.s64 %p16, %rd242, %rd393;
setp.eq.s64 %p17, %rd240, %rd393;
setp.eq.s64 %p18, %rd238, %rd393;
and.pred %p19, %p18, %p17;
and.pred %p2, %p16, %p19;
@!%p2 bra LBB3_4;
bra.uni LBB3_3;
LBB3_3:
ld.relaxed.sys.v2.u64 {%rd505, %rd504}, [%rd287];
ld.relaxed.sys.v2.u64 {%rd503, %rd502}, [%rd290];
ld.relaxed.sys.v2.u64 {%rd501, %rd500}, [%rd293];
ld.relaxed.sys.u64 %rd499, [%rd295];
ld.relaxed.sys.v2.u64 {%rd506, %rd507}, [%rd298];
ld.relaxed.sys.v2.u64 {%rd508, %rd509}, [%rd301];
ld.relaxed.sys.v2.u64 {%rd510, %rd511}, [%rd304];
ld.relaxed.sys.u64 %rd512, [%rd306];
ld.relaxed.sys.v2.u64 {%rd513, %rd514}, [%rd309];
ld.relaxed.sys.v2.u64 {%rd515, %rd516}, [%rd312];
ld.relaxed.sys.v2.u64 {%rd517, %rd518}, [%rd315];
LBB3_4:
mov.u16 %rs7, %rs4;
mov.u32 %r35, %r19;
@%p2 bra LBB3_6;
add.s32 %r32, %r32, 1;
setp.lt.u32 %p82, %r32, %r2;
setp.ne.s32 %p20, %r2, %r32;
mov.u64 %rd499, %rd28;
mov.u64 %rd500, %rd29;
mov.u64 %rd501, %rd30;
mov.u64 %rd502, %rd31;
mov.u64 %rd503, %rd32;
mov.u64 %rd504, %rd33;
mov.u64 %rd505, %rd34;
mov.u64 %rd506, %rd35;
mov.u64 %rd507, %rd36;
mov.u64 %rd508, %rd37;
mov.u64 %rd509, %rd38;
mov.u64 %rd510, %rd39;
mov.u64 %rd511, %rd40;
mov.u64 %rd512, %rd41;
mov.u64 %rd513, %rd42;
mov.u64 %rd514, %rd43;
mov.u64 %rd515, %rd44;
mov.u64 %rd516, %rd45;
mov.u64 %rd517, %rd46;
mov.u64 %rd518, %rd47;
mov.u16 %rs7, %rs5;
mov.u32 %r35, %r1;
@%p20 bra LBB3_2;
LBB3_6:
mov.pred %p83, %p21;
@%p82 bra LBB3_14;
ld.acquire.sys.u64 %rd276, [%rd277];
setp.eq.s64 %p22, %rd276, 0;
@%p22 bra LBB3_13;
ld.relaxed.sys.u64 %rd278, [%rd279];
ld.relaxed.sys.u64 %rd280, [%rd281];
ld.acquire.sys.u64 %rd282, [%rd283];
setp.eq.s64 %p23, %rd282, %rd393;
setp.eq.s64 %p24, %rd280, %rd393;
setp.eq.s64 %p25, %rd278, %rd393;
and.pred %p26, %p25, %p24;
and.pred %p5, %p23, %p26;
@!%p5 bra LBB3_10;
bra.uni LBB3_9;
LBB3_9:
ld.relaxed.sys.v2.u64 {%rd478, %rd477}, [%rd287];
ld.relaxed.sys.v2.u64 {%rd476, %rd475}, [%rd290];
ld.relaxed.sys.v2.u64 {%rd474, %rd473}, [%rd293];
ld.relaxed.sys.u64 %rd472, [%rd295];
ld.relaxed.sys.v2.u64 {%rd471, %rd470}, [%rd298];
ld.relaxed.sys.v2.u64 {%rd469, %rd468}, [%rd301];
ld.relaxed.sys.v2.u64 {%rd467, %rd466}, [%rd304];
ld.relaxed.sys.u64 %rd465, [%rd306];
ld.relaxed.sys.v2.u64 {%rd464, %rd463}, [%rd309];
ld.relaxed.sys.v2.u64 {%rd462, %rd461}, [%rd312];
ld.relaxed.sys.v2.u64 {%rd460, %rd459}, [%rd315];
LBB3_10:
mov.u32 %r35, 3;
@!%p5 bra LBB3_12;
bra.uni LBB3_11;
LBB3_11:
mov.u32 %r35, 0;
mov.u64 %rd499, %rd472;
mov.u64 %rd500, %rd473;
mov.u64 %rd501, %rd474;
mov.u64 %rd502, %rd475;
mov.u64 %rd503, %rd476;
mov.u64 %rd504, %rd477;
mov.u64 %rd505, %rd478;
mov.u64 %rd506, %rd471;
mov.u64 %rd507, %rd470;
mov.u64 %rd508, %rd469;
mov.u64 %rd509, %rd468;
mov.u64 %rd510, %rd467;
mov.u64 %rd511, %rd466;
mov.u64 %rd512, %rd465;
mov.u64 %rd513, %rd464;
mov.u64 %rd514, %rd463;
mov.u64 %rd515, %rd462;
mov.u64 %rd516, %rd461;
mov.u64 %rd517, %rd460;
mov.u64 %rd518, %rd459;
bra.uni LBB3_12;
LBB3_13:
setp.ne.s64 %p83, %rd418, 0;
selp.b32 %r35, 4, %r35, %p15;
bra.uni LBB3_14;
LBB3_15:
setp.ne.s32 %p29, %r35, 0;
@%p29 bra LBB3_28;
add.s64 %rd318, %rd505, -7046029254386353131;
setp.ne.s64 %p30, %rd504, %rd318;
add.s64 %rd319, %rd505, 4354685564936845354;
setp.ne.s64 %p31, %rd503, %rd319;
or.pred %p32, %p30, %p31;
add.s64 %rd320, %rd505, -2691343689449507777;
setp.ne.s64 %p33, %rd502, %rd320;
or.pred %p34, %p33, %p32;
add.s64 %rd321, %rd505, 8709371129873690708;
setp.ne.s64 %p35, %rd501, %rd321;
or.pred %p36, %p35, %p34;
add.s64 %rd322, %rd505, 1663341875487337577;
setp.ne.s64 %p37, %rd500, %rd322;
or.pred %p38, %p37, %p36;
add.s64 %rd323, %rd505, -5382687378899015554;
setp.ne.s64 %p39, %rd499, %rd323;
or.pred %p40, %p39, %p38;
add.s64 %rd324, %rd505, 6018027440424182931;
setp.ne.s64 %p41, %rd506, %rd324;
or.pred %p42, %p41, %p40;
add.s64 %rd325, %rd505, -1028001813962170200;
setp.ne.s64 %p43, %rd507, %rd325;
or.pred %p44, %p43, %p42;
add.s64 %rd326, %rd505, -8074031068348523331;
setp.ne.s64 %p45, %rd508, %rd326;
or.pred %p46, %p45, %p44;
add.s64 %rd327, %rd505, 3326683750974675154;
setp.ne.s64 %p47, %rd509, %rd327;
or.pred %p48, %p47, %p46;
add.s64 %rd328, %rd505, -3719345503411677977;
setp.ne.s64 %p49, %rd510, %rd328;
or.pred %p50, %p49, %p48;
add.s64 %rd329, %rd505, 7681369315911520508;
setp.ne.s64 %p51, %rd511, %rd329;
or.pred %p52, %p51, %p50;
add.s64 %rd330, %rd505, 635340061525167377;
setp.ne.s64 %p53, %rd512, %rd330;
or.pred %p54, %p53, %p52;
add.s64 %rd331, %rd505, -6410689192861185754;
setp.ne.s64 %p55, %rd513, %rd331;
or.pred %p56, %p55, %p54;
add.s64 %rd332, %rd505, 4990025626462012731;
setp.ne.s64 %p57, %rd514, %rd332;
or.pred %p58, %p57, %p56;
add.s64 %rd333, %rd505, -2056003627924340400;
setp.ne.s64 %p59, %rd515, %rd333;
or.pred %p60, %p59, %p58;
add.s64 %rd334, %rd505, -9102032882310693531;
setp.ne.s64 %p61, %rd516, %rd334;
or.pred %p62, %p61, %p60;
add.s64 %rd335, %rd505, 2298681937012504954;
setp.ne.s64 %p63, %rd517, %rd335;
or.pred %p64, %p63, %p62;
add.s64 %rd336, %rd505, -4747347317373848177;
setp.ne.s64 %p65, %rd518, %rd336;
or.pred %p66, %p65, %p64;
@%p66 bra LBB3_28;
sub.s64 %rd192, %rd13, %rd521;
neg.s64 %rd337, %rd226;
setp.ne.s64 %p67, %rd192, %rd337;
@%p67 bra LBB3_26;
bra.uni LBB3_18;
LBB3_26:
shl.b64 %rd316, %rd11, 3;
add.s64 %rd317, %rd7, %rd316;
cvta.global.u64 %rd344, %rd317;
add.s64 %rd345, %rd505, 1;
add.s64 %rd347, %rd505, -7046029254386353130;
add.s64 %rd349, %rd505, 4354685564936845355;
add.s64 %rd351, %rd505, -2691343689449507776;
add.s64 %rd353, %rd505, 8709371129873690709;
add.s64 %rd355, %rd505, 1663341875487337578;
add.s64 %rd357, %rd505, -5382687378899015553;
add.s64 %rd359, %rd505, 6018027440424182932;
add.s64 %rd361, %rd505, -1028001813962170199;
add.s64 %rd363, %rd505, -8074031068348523330;
add.s64 %rd365, %rd505, 3326683750974675155;
add.s64 %rd367, %rd505, -3719345503411677976;
add.s64 %rd369, %rd505, 7681369315911520509;
add.s64 %rd371, %rd505, 635340061525167378;
add.s64 %rd373, %rd505, -6410689192861185753;
add.s64 %rd375, %rd505, 4990025626462012732;
add.s64 %rd377, %rd505, -2056003627924340399;
add.s64 %rd379, %rd505, -9102032882310693530;
add.s64 %rd381, %rd505, 2298681937012504955;
add.s64 %rd383, %rd505, -4747347317373848176;
add.s64 %rd521, %rd521, 1;
st.relaxed.sys.u64 [%rd344], %rd345;
add.s64 %rd346, %rd344, 8;
st.relaxed.sys.u64 [%rd346], %rd347;
add.s64 %rd348, %rd344, 16;
st.relaxed.sys.u64 [%rd348], %rd349;
add.s64 %rd350, %rd344, 24;
st.relaxed.sys.u64 [%rd350], %rd351;
add.s64 %rd352, %rd344, 32;
st.relaxed.sys.u64 [%rd352], %rd353;
add.s64 %rd354, %rd344, 40;
st.relaxed.sys.u64 [%rd354], %rd355;
add.s64 %rd356, %rd344, 48;
st.relaxed.sys.u64 [%rd356], %rd357;
add.s64 %rd358, %rd344, 56;
st.relaxed.sys.u64 [%rd358], %rd359;
add.s64 %rd360, %rd344, 64;
st.relaxed.sys.u64 [%rd360], %rd361;
add.s64 %rd362, %rd344, 72;
st.relaxed.sys.u64 [%rd362], %rd363;
add.s64 %rd364, %rd344, 80;
st.relaxed.sys.u64 [%rd364], %rd365;
add.s64 %rd366, %rd344, 88;
st.relaxed.sys.u64 [%rd366], %rd367;
add.s64 %rd368, %rd344, 96;
st.relaxed.sys.u64 [%rd368], %rd369;
add.s64 %rd370, %rd344, 104;
st.relaxed.sys.u64 [%rd370], %rd371;
add.s64 %rd372, %rd344, 112;
st.relaxed.sys.u64 [%rd372], %rd373;
add.s64 %rd374, %rd344, 120;
st.relaxed.sys.u64 [%rd374], %rd375;
add.s64 %rd376, %rd344, 128;
st.relaxed.sys.u64 [%rd376], %rd377;
add.s64 %rd378, %rd344, 136;
st.relaxed.sys.u64 [%rd378], %rd379;
add.s64 %rd380, %rd344, 144;
st.relaxed.sys.u64 [%rd380], %rd381;
add.s64 %rd382, %rd344, 152;
st.relaxed.sys.u64 [%rd382], %rd383;
add.s64 %rd384, %rd344, 184;
st.release.sys.u64 [%rd384], %rd521;
mov.u32 %r39, 0;
LBB3_27:
setp.eq.s32 %p76, %r39, 0;
@%p76 bra LBB3_29;
LBB3_28:
mov.u64 %rd388, 1;
atom.acq_rel.gpu.add.u64 %rd386, [%rd387], %rd388;
LBB3_29:
st.relaxed.sys.u64 [%rd389], %rd521;
setp.eq.s16 %p77, %rs7, 0;
@%p77 bra LBB3_32;
add.s64 %rd190, %rd3, 1;
setp.lt.u64 %p78, %rd3, 4;
and.b64 %rd391, %rd190, -4;
setp.eq.s64 %p79, %rd391, 4;
or.pred %p80, %p78, %p79;
mov.u64 %rd523, %rd393;
@!%p80 bra LBB3_32;
bra.uni LBB3_31;
LBB3_31:
st.release.sys.u64 [%rd392], %rd393;
mov.u64 %rd523, %rd393;
LBB3_32:
st.relaxed.sys.u64 [%rd394], %rd523;
st.release.sys.u64 [%rd392], %rd523;
ret;
LBB3_18:
add.s64 %rd343, %rd340, 8;
mov.u64 %rd519, 20000000;
mov.u32 %r26, 0;
mov.pred %p68, -1;
mov.pred %p72, 0;
bra.uni LBB3_19;
LBB3_24:
add.s64 %rd519, %rd519, -64;
@%p86 bra LBB3_19;
bra.uni LBB3_25;
LBB3_19:
mov.u32 %r9, %r39;
setp.eq.s64 %p69, %rd519, 0;
cvt.u32.u64 %r27, %rd519;
or.b32 %r28, %r27, 1;
selp.b32 %r10, %r28, 64, %p69;
mov.pred %p85, %p68;
mov.u32 %r37, %r26;
LBB3_21:
ld.acquire.sys.u64 %rd339, [%rd340];
sub.s64 %rd341, %rd521, %rd339;
setp.eq.s64 %p70, %rd13, %rd341;
mov.u32 %r39, %r26;
@%p70 bra LBB3_20;
bra.uni LBB3_22;
LBB3_20:
add.s32 %r37, %r37, 1;
setp.lt.u32 %p85, %r37, %r10;
setp.eq.s32 %p71, %r10, %r37;
mov.u32 %r39, %r9;
@%p71 bra LBB3_22;
bra.uni LBB3_21;
LBB3_22:
mov.pred %p86, %p72;
@%p85 bra LBB3_24;
setp.ne.s64 %p11, %rd519, 0;
selp.b32 %r14, 4, %r39, %p69;
ld.relaxed.sys.u64 %rd342, [%rd343];
setp.eq.s64 %p74, %rd342, 0;
and.pred %p86, %p74, %p11;
selp.b32 %r39, %r14, 3, %p74;
bra.uni LBB3_24;
LBB3_25:
setp.ne.s32 %p75, %r39, 0;
@%p75 bra LBB3_27;
bra.uni LBB3_26;
}
)"
R"(.visible .entry barmap_test_killed(
.param .align 8 .b8 barmap_test_killed_param_0[32]
)
{
.reg .pred %p<19>;
.reg .b32 %r<18>;
.reg .b64 %rd<93>;
ld.param.u64 %rd1, [barmap_test_killed_param_0];
ld.param.u64 %rd12, [barmap_test_killed_param_0+16];
ld.param.u64 %rd14, [barmap_test_killed_param_0+24];
add.s64 %rd10, %rd12, 16;
ld.relaxed.sys.u64 %rd9, [%rd10];
ld.acquire.sys.u64 %rd11, [%rd12];
add.s64 %rd5, %rd14, 1;
sub.s64 %rd18, %rd5, %rd9;
neg.s64 %rd19, %rd11;
setp.ne.s64 %p7, %rd18, %rd19;
@%p7 bra LBB4_9;
bra.uni LBB4_1;
LBB4_9:
cvta.to.global.u64 %rd13, %rd1;
and.b64 %rd15, %rd9, %rd14;
mul.lo.s64 %rd16, %rd15, 192;
add.s64 %rd17, %rd13, %rd16;
cvta.global.u64 %rd26, %rd17;
add.s64 %rd67, %rd9, 1;
mov.u64 %rd27, 1;
st.relaxed.sys.u64 [%rd26], %rd27;
add.s64 %rd28, %rd26, 8;
mov.u64 %rd29, -7046029254386353130;
st.relaxed.sys.u64 [%rd28], %rd29;
add.s64 %rd30, %rd26, 16;
mov.u64 %rd31, 4354685564936845355;
st.relaxed.sys.u64 [%rd30], %rd31;
add.s64 %rd32, %rd26, 24;
mov.u64 %rd33, -2691343689449507776;
st.relaxed.sys.u64 [%rd32], %rd33;
add.s64 %rd34, %rd26, 32;
mov.u64 %rd35, 8709371129873690709;
st.relaxed.sys.u64 [%rd34], %rd35;
add.s64 %rd36, %rd26, 40;
mov.u64 %rd37, 1663341875487337578;
st.relaxed.sys.u64 [%rd36], %rd37;
add.s64 %rd38, %rd26, 48;
mov.u64 %rd39, -5382687378899015553;
st.relaxed.sys.u64 [%rd38], %rd39;
add.s64 %rd40, %rd26, 56;
mov.u64 %rd41, 6018027440424182932;
st.relaxed.sys.u64 [%rd40], %rd41;
add.s64 %rd42, %rd26, 64;
mov.u64 %rd43, -1028001813962170199;
st.relaxed.sys.u64 [%rd42], %rd43;
add.s64 %rd44, %rd26, 72;
mov.u64 %rd45, -8074031068348523330;
st.relaxed.sys.u64 [%rd44], %rd45;
add.s64 %rd46, %rd26, 80;
mov.u64 %rd47, 3326683750974675155;
st.relaxed.sys.u64 [%rd46], %rd47;
add.s64 %rd48, %rd26, 88;
mov.u64 %rd49, -3719345503411677976;
st.relaxed.sys.u64 [%rd48], %rd49;
add.s64 %rd50, %rd26, 96;
mov.u64 %rd51, 7681369315911520509;
st.relaxed.sys.u64 [%rd50], %rd51;
add.s64 %rd52, %rd26, 104;
mov.u64 %rd53, 635340061525167378;
st.relaxed.sys.u64 [%rd52], %rd53;
add.s64 %rd54, %rd26, 112;
mov.u64 %rd55, -6410689192861185753;
st.relaxed.sys.u64 [%rd54], %rd55;
add.s64 %rd56, %rd26, 120;
mov.u64 %rd57, 4990025626462012732;
st.relaxed.sys.u64 [%rd56], %rd57;
add.s64 %rd58, %rd26, 128;
mov.u64 %rd59, -2056003627924340399;
st.relaxed.sys.u64 [%rd58], %rd59;
add.s64 %rd60, %rd26, 136;
mov.u64 %rd61, -9102032882310693530;
st.relaxed.sys.u64 [%rd60], %rd61;
add.s64 %rd62, %rd26, 144;
mov.u64 %rd63, 2298681937012504955;
st.relaxed.sys.u64 [%rd62], %rd63;
add.s64 %rd64, %rd26, 152;
mov.u64 %rd65, -4747347317373848176;
st.relaxed.sys.u64 [%rd64], %rd65;
add.s64 %rd66, %rd26, 184;
st.release.sys.u64 [%rd66], %rd67;
LBB4_10:
add.s64 %rd68, %rd1, 192;
mov.u64 %rd69, 2;
st.relaxed.sys.u64 [%rd68], %rd69;
add.s64 %rd70, %rd1, 200;
mov.u64 %rd71, -7046029254386353129;
st.relaxed.sys.u64 [%rd70], %rd71;
add.s64 %rd72, %rd1, 208;
mov.u64 %rd73, 4354685564936845356;
st.relaxed.sys.u64 [%rd72], %rd73;
add.s64 %rd74, %rd1, 216;
mov.u64 %rd75, -2691343689449507775;
st.relaxed.sys.u64 [%rd74], %rd75;
add.s64 %rd76, %rd1, 224;
mov.u64 %rd77, 8709371129873690710;
st.relaxed.sys.u64 [%rd76], %rd77;
add.s64 %rd78, %rd1, 232;
mov.u64 %rd79, 1663341875487337579;
st.relaxed.sys.u64 [%rd78], %rd79;
add.s64 %rd80, %rd1, 240;
mov.u64 %rd81, -5382687378899015552;
st.relaxed.sys.u64 [%rd80], %rd81;
add.s64 %rd82, %rd1, 248;
mov.u64 %rd83, 6018027440424182933;
st.relaxed.sys.u64 [%rd82], %rd83;
add.s64 %rd84, %rd1, 256;
mov.u64 %rd85, -1028001813962170198;
st.relaxed.sys.u64 [%rd84], %rd85;
add.s64 %rd86, %rd1, 264;
mov.u64 %rd87, -8074031068348523329;
st.relaxed.sys.u64 [%rd86], %rd87;
add.s64 %rd88, %rd1, 272;
mov.u64 %rd89, 3326683750974675156;
st.relaxed.sys.u64 [%rd88], %rd89;
add.s64 %rd90, %rd1, 280;
mov.u64 %rd91, -3719345503411677975;
st.relaxed.sys.u64 [%rd90], %rd91;
fence.acq_rel.sys;
trap;
LBB4_1:
add.s64 %rd25, %rd12, 8;
mov.u64 %rd92, 20000000;
mov.u32 %r10, 0;
mov.pred %p8, -1;
mov.pred %p12, 0;
bra.uni LBB4_2;
LBB4_7:
add.s64 %rd92, %rd92, -64;
@%p18 bra LBB4_2;
bra.uni LBB4_8;
LBB4_2:
mov.u32 %r1, %r17;
setp.eq.s64 %p9, %rd92, 0;
cvt.u32.u64 %r11, %rd92;
or.b32 %r12, %r11, 1;
selp.b32 %r2, %r12, 64, %p9;
mov.pred %p17, %p8;
mov.u32 %r15, %r10;
LBB4_4:
ld.acquire.sys.u64 %rd21, [%rd12];
sub.s64 %rd23, %rd9, %rd21;
setp.eq.s64 %p10, %rd5, %rd23;
mov.u32 %r17, %r10;
@%p10 bra LBB4_3;
bra.uni LBB4_5;
LBB4_3:
add.s32 %r15, %r15, 1;
setp.lt.u32 %p17, %r15, %r2;
setp.eq.s32 %p11, %r2, %r15;
mov.u32 %r17, %r1;
@%p11 bra LBB4_5;
bra.uni LBB4_4;
LBB4_5:
mov.pred %p18, %p12;
@%p17 bra LBB4_7;
setp.ne.s64 %p4, %rd92, 0;
selp.b32 %r6, 4, %r17, %p9;
ld.relaxed.sys.u64 %rd24, [%rd25];
setp.eq.s64 %p14, %rd24, 0;
and.pred %p18, %p14, %p4;
selp.b32 %r17, %r6, 3, %p14;
bra.uni LBB4_7;
LBB4_8:
setp.ne.s32 %p15, %r17, 0;
@%p15 bra LBB4_10;
bra.uni LBB4_9;
}
)";
// clang-format on

} // namespace barmap::gpu_test

#pragma GCC diagnostic pop
