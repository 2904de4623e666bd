/* SPDX-License-Identifier: MIT */
/* Which processor the program is built for, in the names that programs for gdrcopy test. */
#ifndef BARMAP_GDRCONFIG_H
#define BARMAP_GDRCONFIG_H

#if defined(__x86_64__) || defined(__i386__)
#define GDRAPI_X86
#elif defined(__aarch64__)
#define GDRAPI_ARM64
#elif defined(__powerpc__)
#define GDRAPI_POWER
#else
#error "gdrapi serves x86-64, arm64 and ppc64le"
#endif

#endif /* BARMAP_GDRCONFIG_H */
