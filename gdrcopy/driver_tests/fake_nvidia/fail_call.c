// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Makes a function of the kernel's, or of another module's, answer without being run. */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/mutex.h>

#include "fakegpu_memory.h"

#ifdef CONFIG_KPROBES

static DEFINE_MUTEX(lock); /* not the memory's: the kernel's own locks for probes come under it */
static struct fakegpu_fail_call now;
static bool armed;

#ifdef CONFIG_X86_64
#ifndef ASM_RET
#define ASM_RET "ret\n"
#endif
/* The return address is on the stack, where a probe cannot take it away: a function that only returns does. */
void fakegpu_return(void);
asm(".pushsection .text\n"
    ".type fakegpu_return, @function\n"
    "fakegpu_return:\n" ASM_RET ".size fakegpu_return, . - fakegpu_return\n"
    ".popsection\n");
#endif

static int instead(struct kprobe *unused, struct pt_regs *registers)
{
	if (now.after) {
		now.after--;
		return 0;
	}
	now.calls++;
#if defined(CONFIG_X86_64)
	registers->ax = now.result;
	registers->ip = (unsigned long)fakegpu_return;
#elif defined(CONFIG_ARM64)
	registers->regs[0] = now.result;
	registers->pc = registers->regs[30];
#else
	registers->gpr[3] = now.result;
	registers->nip = registers->link;
#endif
	return 1; /* the function is not run */
}

/* Without one, the kernel may make the probe a jump, which continues in the function whatever the handler returns. */
static void afterwards(struct kprobe *unused, struct pt_regs *registers, unsigned long flags)
{
}

static struct kprobe probe;

int fakegpu_fail_call(struct fakegpu_fail_call *how)
{
	int result = 0;

	mutex_lock(&lock);
	if (armed)
		unregister_kprobe(&probe);
	swap(now, *how);
	how->calls = armed ? how->calls : 0;
	armed = false;
	now.calls = 0;
	now.function[sizeof(now.function) - 1] = 0;
	if (now.function[0]) {
		probe = (struct kprobe){ .symbol_name = now.function, .pre_handler = instead,
					 .post_handler = afterwards };
		result = register_kprobe(&probe);
		armed = !result;
	}
	mutex_unlock(&lock);
	return result;
}

#else

int fakegpu_fail_call(struct fakegpu_fail_call *how)
{
	return -EOPNOTSUPP;
}

#endif
