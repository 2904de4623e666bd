// SPDX-License-Identifier: MIT
// Made by scripts/ptx with clang 14 from step_kernels.cu: change that, and run it again.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" // of clang, for more than 64 KiB in all

namespace barmap::step {

/// The GPU kernels of step_inputs and step_outputs, in PTX 6.4 for sm_70, which every driver from R418
/// on compiles for its GPU.
// clang-format off
inline constexpr char const* ptx_step = R"(.version 6.4
.target sm_70
.address_size 64
)"
R"(.visible .entry barmap_step_load(
.param .align 8 .b8 barmap_step_load_param_0[72]
)
{
.reg .pred %p<41>;
.reg .b32 %r<36>;
.reg .b64 %rd<124>;
mov.b64 %rd55, barmap_step_load_param_0;
mov.u64 %rd1, %rd55;
mov.u32 %r4, %tid.x;
mov.u32 %r5, %tid.y;
mov.u32 %r6, %tid.z;
mov.u32 %r7, %ntid.x;
mov.u32 %r8, %ntid.y;
mad.lo.s32 %r10, %r8, %r6, %r5;
mad.lo.s32 %r11, %r10, %r7, %r4;
mov.u32 %r9, %ntid.z;
mul.lo.s32 %r12, %r8, %r7;
mul.lo.s32 %r13, %r12, %r9;
ld.param.u64 %rd56, [barmap_step_load_param_0+8];
add.s64 %rd109, %rd56, 8;
ld.relaxed.sys.u64 %rd52, [%rd109];
ld.param.u64 %rd3, [barmap_step_load_param_0+48];
setp.lt.u64 %p8, %rd3, 5;
add.s64 %rd57, %rd3, 6;
mul.hi.u64 %rd58, %rd57, 2635249153387078803;
sub.s64 %rd59, %rd57, %rd58;
shr.u64 %rd60, %rd59, 1;
add.s64 %rd61, %rd60, %rd58;
shr.u64 %rd62, %rd61, 2;
selp.b64 %rd4, %rd3, %rd62, %p8;
ld.param.u64 %rd63, [barmap_step_load_param_0];
cvta.to.global.u64 %rd64, %rd63;
ld.param.u64 %rd65, [barmap_step_load_param_0+24];
and.b64 %rd66, %rd65, %rd52;
shl.b64 %rd67, %rd62, 3;
selp.b64 %rd68, 8, %rd67, %p8;
mul.lo.s64 %rd69, %rd68, %rd66;
shl.b64 %rd70, %rd69, 3;
add.s64 %rd71, %rd64, %rd70;
cvta.global.u64 %rd5, %rd71;
cvt.u64.u32 %rd6, %r11;
add.s64 %rd110, %rd52, 1;
cvt.u64.u32 %rd8, %r13;
selp.b64 %rd9, 1, 3, %p8;
selp.b64 %rd10, 1, 7, %p8;
ld.param.u64 %rd11, [barmap_step_load_param_0+56];
mov.u64 %rd113, 0;
ld.param.u64 %rd77, [barmap_step_load_param_0+64];
setp.le.u64 %p10, %rd4, %rd6;
mov.pred %p9, -1;
cvt.u32.u64 %r14, %rd9;
mov.pred %p12, 0;
cvt.u32.u64 %r17, %rd6;
bra.uni LBB0_1;
LBB0_6:
selp.u32 %r16, 1, 0, %p36;
{ .reg .pred p, q; setp.ne.u32 p, %r16, 0; barrier.red.and.pred q, 0, p; selp.u32 %r15, 1, 0, q; }
setp.eq.s32 %p16, %r15, 0;
mov.pred %p39, 0;
mov.pred %p40, %p9;
@%p16 bra LBB0_7;
LBB0_9:
add.s64 %rd113, %rd113, 1;
@%p39 bra LBB0_1;
bra.uni LBB0_10;
LBB0_1:
mov.pred %p36, %p9;
@%p10 bra LBB0_6;
mov.u64 %rd114, %rd6;
mov.pred %p37, %p9;
bra.uni LBB0_3;
LBB0_5:
add.s64 %rd114, %rd114, %rd8;
setp.lt.u64 %p13, %rd114, %rd4;
mov.pred %p37, %p36;
@%p13 bra LBB0_3;
bra.uni LBB0_6;
LBB0_3:
mov.pred %p36, %p12;
@!%p37 bra LBB0_5;
bra.uni LBB0_4;
LBB0_4:
shl.b64 %rd72, %rd114, %r14;
or.b64 %rd73, %rd72, %rd10;
shl.b64 %rd74, %rd73, 3;
add.s64 %rd76, %rd5, %rd74;
ld.acquire.sys.u64 %rd75, [%rd76];
setp.eq.s64 %p36, %rd75, %rd110;
bra.uni LBB0_5;
LBB0_7:
setp.ne.s32 %p18, %r17, 0;
setp.lt.u64 %p39, %rd113, %rd11;
or.pred %p19, %p39, %p18;
mov.pred %p40, 0;
@%p19 bra LBB0_9;
mov.u64 %rd78, 4;
st.release.sys.u64 [%rd77], %rd78;
mov.pred %p39, 0;
mov.pred %p40, %p39;
bra.uni LBB0_9;
LBB0_10:
@!%p40 bra LBB0_17;
bra.uni LBB0_11;
LBB0_11:
cvt.u32.u64 %r18, %rd8;
setp.lt.u32 %p21, %r18, 32;
selp.b32 %r1, %r18, 32, %p21;
div.u32 %r20, %r17, %r1;
cvt.u64.u32 %rd115, %r20;
ld.param.u64 %rd19, [%rd1+40];
setp.le.u64 %p22, %rd19, %rd115;
@%p22 bra LBB0_15;
cvt.u32.u64 %r21, %rd115;
mul.lo.s32 %r22, %r21, %r1;
sub.s32 %r23, %r17, %r22;
shl.b32 %r24, %r23, 3;
cvt.u64.u32 %rd20, %r24;
shl.b32 %r25, %r1, 3;
cvt.u64.u32 %rd21, %r25;
ld.param.u64 %rd79, [%rd1+32];
cvta.to.global.u64 %rd22, %rd79;
setp.gt.u64 %p24, %rd3, 4;
div.u32 %r32, %r18, %r1;
bra.uni LBB0_13;
LBB0_14:
cvt.u64.u32 %rd108, %r32;
add.s64 %rd115, %rd115, %rd108;
setp.lt.u64 %p34, %rd115, %rd19;
@%p34 bra LBB0_13;
bra.uni LBB0_15;
LBB0_13:
mul.lo.s64 %rd80, %rd115, 24;
add.s64 %rd81, %rd22, %rd80;
ld.global.u64 %rd24, [%rd81];
ld.global.u64 %rd25, [%rd81+8];
ld.global.u64 %rd26, [%rd81+16];
setp.le.u64 %p23, %rd26, %rd20;
mov.u64 %rd116, %rd20;
@%p23 bra LBB0_14;
bra.uni LBB0_18;
LBB0_30:
st.u64 [%rd29], %rd92;
LBB0_29:
add.s64 %rd116, %rd116, %rd21;
setp.gt.u64 %p33, %rd26, %rd116;
@%p33 bra LBB0_18;
bra.uni LBB0_14;
LBB0_18:
shr.u64 %rd82, %rd116, 3;
add.s64 %rd30, %rd82, %rd25;
@%p24 bra LBB0_20;
shl.b64 %rd117, %rd30, 1;
bra.uni LBB0_21;
LBB0_20:
mul.hi.u64 %rd84, %rd30, 2635249153387078803;
sub.s64 %rd85, %rd30, %rd84;
shr.u64 %rd86, %rd85, 1;
add.s64 %rd87, %rd86, %rd84;
shr.u64 %rd88, %rd87, 2;
shl.b64 %rd89, %rd88, 3;
mul.lo.s64 %rd90, %rd88, 7;
sub.s64 %rd91, %rd30, %rd90;
or.b64 %rd117, %rd89, %rd91;
LBB0_21:
add.s64 %rd29, %rd24, %rd116;
sub.s64 %rd31, %rd26, %rd116;
shl.b64 %rd94, %rd117, 3;
add.s64 %rd93, %rd5, %rd94;
ld.relaxed.sys.u64 %rd92, [%rd93];
setp.gt.u64 %p25, %rd31, 7;
and.b64 %rd95, %rd29, 7;
setp.eq.s64 %p26, %rd95, 0;
and.pred %p27, %p25, %p26;
@%p27 bra LBB0_30;
min.u64 %rd32, %rd31, 8;
setp.eq.s64 %p28, %rd32, 0;
@%p28 bra LBB0_29;
add.s64 %rd97, %rd32, -1;
setp.lt.u64 %p29, %rd97, 3;
mov.u64 %rd120, 0;
@%p29 bra LBB0_26;
and.b64 %rd38, %rd32, 12;
mov.u64 %rd120, 0;
mov.u64 %rd118, 16;
LBB0_25:
cvt.u32.u64 %r26, %rd118;
add.s32 %r27, %r26, -16;
shr.u64 %rd100, %rd92, %r27;
add.s64 %rd101, %rd29, %rd120;
st.u8 [%rd101], %rd100;
add.s32 %r28, %r26, -8;
shr.u64 %rd102, %rd92, %r28;
st.u8 [%rd101+1], %rd102;
shr.u64 %rd103, %rd92, %r26;
st.u8 [%rd101+2], %rd103;
add.s32 %r29, %r26, 8;
shr.u64 %rd104, %rd92, %r29;
st.u8 [%rd101+3], %rd104;
add.s64 %rd120, %rd120, 4;
add.s64 %rd118, %rd118, 32;
setp.ne.s64 %p30, %rd120, %rd38;
@%p30 bra LBB0_25;
LBB0_26:
and.b64 %rd37, %rd32, 3;
setp.eq.s64 %p31, %rd37, 0;
@%p31 bra LBB0_29;
shl.b64 %rd121, %rd120, 3;
mov.u64 %rd123, 0;
LBB0_28:
.pragma "nounroll";
cvt.u32.u64 %r30, %rd121;
shr.u64 %rd106, %rd92, %r30;
add.s64 %rd107, %rd29, %rd120;
st.u8 [%rd107], %rd106;
add.s64 %rd120, %rd120, 1;
add.s64 %rd123, %rd123, 1;
add.s64 %rd121, %rd121, 8;
setp.ne.s64 %p32, %rd123, %rd37;
@%p32 bra LBB0_28;
bra.uni LBB0_29;
LBB0_15:
mov.u32 %r34, 1;
{ .reg .pred p, q; setp.ne.u32 p, %r34, 0; barrier.red.and.pred q, 0, p; selp.u32 %r33, 1, 0, q; }
setp.ne.s32 %p35, %r17, 0;
@%p35 bra LBB0_17;
st.relaxed.sys.u64 [%rd109], %rd110;
ld.param.u64 %rd111, [%rd1+16];
st.release.sys.u64 [%rd111], %rd110;
LBB0_17:
ret;
}
)"
R"(.visible .entry barmap_step_store(
.param .align 8 .b8 barmap_step_store_param_0[72]
)
{
.reg .pred %p<30>;
.reg .b32 %r<32>;
.reg .b64 %rd<126>;
mov.b64 %rd57, barmap_step_store_param_0;
mov.u64 %rd1, %rd57;
mov.u32 %r8, %tid.x;
mov.u32 %r9, %tid.y;
mov.u32 %r10, %tid.z;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %ntid.y;
mad.lo.s32 %r13, %r12, %r10, %r9;
mad.lo.s32 %r3, %r13, %r11, %r8;
ld.param.u64 %rd59, [barmap_step_store_param_0+16];
add.s64 %rd110, %rd59, 16;
ld.relaxed.sys.u64 %rd54, [%rd110];
ld.param.u64 %rd5, [barmap_step_store_param_0+24];
ld.param.u64 %rd6, [barmap_step_store_param_0+56];
mov.u64 %rd112, 0;
ld.param.u64 %rd61, [barmap_step_store_param_0+64];
mov.pred %p5, -1;
mov.pred %p4, 0;
setp.ne.s32 %p9, %r3, 0;
bra.uni LBB1_1;
LBB1_4:
add.s64 %rd112, %rd112, 1;
@%p28 bra LBB1_1;
bra.uni LBB1_5;
LBB1_1:
ld.acquire.sys.u64 %rd58, [%rd59];
sub.s64 %rd60, %rd54, %rd58;
setp.le.u64 %p6, %rd60, %rd5;
selp.u32 %r15, 1, 0, %p6;
{ .reg .pred p, q; setp.ne.u32 p, %r15, 0; barrier.red.and.pred q, 0, p; selp.u32 %r14, 1, 0, q; }
setp.ne.s32 %p7, %r14, 0;
mov.pred %p28, %p4;
mov.pred %p29, %p5;
@%p7 bra LBB1_4;
setp.lt.u64 %p28, %rd112, %rd6;
or.pred %p10, %p28, %p9;
mov.pred %p29, %p4;
@%p10 bra LBB1_4;
mov.u64 %rd62, 4;
st.release.sys.u64 [%rd61], %rd62;
mov.pred %p28, %p4;
mov.pred %p29, %p4;
bra.uni LBB1_4;
LBB1_5:
@!%p29 bra LBB1_14;
bra.uni LBB1_6;
LBB1_6:
ld.param.u64 %rd10, [%rd1+48];
setp.eq.s64 %p12, %rd10, 1;
add.s64 %rd63, %rd10, 8;
and.b64 %rd64, %rd63, -8;
selp.b64 %rd11, 2, %rd64, %p12;
ld.param.u64 %rd65, [%rd1];
cvta.to.global.u64 %rd66, %rd65;
and.b64 %rd67, %rd5, %rd54;
mul.lo.s64 %rd68, %rd11, %rd67;
shl.b64 %rd69, %rd68, 3;
add.s64 %rd12, %rd66, %rd69;
mov.u32 %r16, %ntid.z;
mul.lo.s32 %r17, %r12, %r11;
mul.lo.s32 %r4, %r17, %r16;
min.u32 %r5, %r4, 32;
div.u32 %r18, %r3, %r5;
cvt.u64.u32 %rd113, %r18;
ld.param.u64 %rd15, [%rd1+40];
setp.le.u64 %p13, %rd15, %rd113;
@%p13 bra LBB1_10;
cvta.global.u64 %rd101, %rd12;
cvt.u32.u64 %r19, %rd113;
mul.lo.s32 %r20, %r19, %r5;
sub.s32 %r21, %r3, %r20;
shl.b32 %r22, %r21, 3;
cvt.u64.u32 %rd16, %r22;
shl.b32 %r23, %r5, 3;
cvt.u64.u32 %rd17, %r23;
add.s64 %rd103, %rd54, 1;
ld.param.u64 %rd70, [%rd1+32];
cvta.to.global.u64 %rd19, %rd70;
setp.ne.s64 %p23, %rd10, 1;
bra.uni LBB1_8;
LBB1_9:
div.u32 %r29, %r4, %r5;
cvt.u64.u32 %rd104, %r29;
add.s64 %rd113, %rd113, %rd104;
setp.lt.u64 %p25, %rd113, %rd15;
@%p25 bra LBB1_8;
bra.uni LBB1_10;
LBB1_8:
mul.lo.s64 %rd71, %rd113, 24;
add.s64 %rd72, %rd19, %rd71;
ld.global.u64 %rd21, [%rd72];
ld.global.u64 %rd22, [%rd72+8];
ld.global.u64 %rd23, [%rd72+16];
setp.le.u64 %p14, %rd23, %rd16;
mov.u64 %rd114, %rd16;
@%p14 bra LBB1_9;
bra.uni LBB1_15;
LBB1_25:
shr.u64 %rd73, %rd114, 3;
add.s64 %rd27, %rd73, %rd22;
shl.b64 %rd100, %rd27, 3;
add.s64 %rd98, %rd101, %rd100;
st.relaxed.sys.u64 [%rd98], %rd125;
LBB1_26:
add.s64 %rd114, %rd114, %rd17;
setp.gt.u64 %p24, %rd23, %rd114;
@%p24 bra LBB1_15;
bra.uni LBB1_9;
LBB1_15:
add.s64 %rd26, %rd21, %rd114;
sub.s64 %rd74, %rd23, %rd114;
setp.gt.u64 %p15, %rd74, 7;
and.b64 %rd75, %rd26, 7;
setp.eq.s64 %p16, %rd75, 0;
and.pred %p17, %p15, %p16;
@%p17 bra LBB1_27;
bra.uni LBB1_16;
LBB1_27:
ld.u64 %rd125, [%rd26];
bra.uni LBB1_23;
LBB1_16:
min.u64 %rd28, %rd74, 8;
setp.eq.s64 %p18, %rd28, 0;
mov.u64 %rd125, 0;
@%p18 bra LBB1_23;
add.s64 %rd79, %rd28, -1;
setp.lt.u64 %p19, %rd79, 3;
mov.u64 %rd119, 0;
mov.u64 %rd125, %rd119;
@%p19 bra LBB1_20;
and.b64 %rd30, %rd28, 12;
mov.u64 %rd119, 0;
mov.u64 %rd115, 16;
mov.u64 %rd125, %rd119;
LBB1_19:
add.s64 %rd82, %rd26, %rd119;
ld.u8 %rd83, [%rd82];
cvt.u32.u64 %r24, %rd115;
add.s32 %r25, %r24, -16;
shl.b64 %rd84, %rd83, %r25;
or.b64 %rd85, %rd84, %rd125;
ld.u8 %rd86, [%rd82+1];
add.s32 %r26, %r24, -8;
shl.b64 %rd87, %rd86, %r26;
or.b64 %rd88, %rd87, %rd85;
ld.u8 %rd89, [%rd82+2];
shl.b64 %rd90, %rd89, %r24;
or.b64 %rd91, %rd90, %rd88;
ld.u8 %rd92, [%rd82+3];
add.s32 %r27, %r24, 8;
shl.b64 %rd93, %rd92, %r27;
or.b64 %rd125, %rd93, %rd91;
add.s64 %rd119, %rd119, 4;
add.s64 %rd115, %rd115, 32;
setp.ne.s64 %p20, %rd119, %rd30;
@%p20 bra LBB1_19;
LBB1_20:
and.b64 %rd29, %rd28, 3;
setp.eq.s64 %p21, %rd29, 0;
@%p21 bra LBB1_23;
shl.b64 %rd121, %rd119, 3;
mov.u64 %rd124, 0;
LBB1_22:
.pragma "nounroll";
add.s64 %rd95, %rd26, %rd119;
ld.u8 %rd96, [%rd95];
cvt.u32.u64 %r28, %rd121;
shl.b64 %rd97, %rd96, %r28;
or.b64 %rd125, %rd97, %rd125;
add.s64 %rd119, %rd119, 1;
add.s64 %rd124, %rd124, 1;
add.s64 %rd121, %rd121, 8;
setp.ne.s64 %p22, %rd124, %rd29;
@%p22 bra LBB1_22;
LBB1_23:
@%p23 bra LBB1_25;
st.relaxed.sys.v2.u64 [%rd101], {%rd125, %rd103};
bra.uni LBB1_26;
LBB1_10:
mov.u32 %r31, 1;
{ .reg .pred p, q; setp.ne.u32 p, %r31, 0; barrier.red.and.pred q, 0, p; selp.u32 %r30, 1, 0, q; }
@%p9 bra LBB1_14;
add.s64 %rd109, %rd54, 1;
@%p12 bra LBB1_13;
shl.b64 %rd105, %rd11, 3;
add.s64 %rd106, %rd12, %rd105;
cvta.global.u64 %rd107, %rd106;
add.s64 %rd108, %rd107, -8;
fence.acq_rel.sys;
st.release.sys.u64 [%rd108], %rd109;
LBB1_13:
st.relaxed.sys.u64 [%rd110], %rd109;
LBB1_14:
ret;
}
)";
// clang-format on

} // namespace barmap::step

#pragma GCC diagnostic pop
