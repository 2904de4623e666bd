// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Lets one call of a function wait at its start, so that another thread's calls come in a chosen order with it. */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "fakegpu_memory.h"

#ifdef CONFIG_KPROBES

enum state { FREE, ARMED, REACHED, CONTINUED };

/* As many as nvidia_p2p_get_pages has, the most of all functions that are paused; one with fewer ignores the rest. */
#define PARAMETERS \
	unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e, unsigned long f, unsigned long g
typedef unsigned long (*function)(PARAMETERS);

struct pause {
	struct kprobe probe;
	char name[sizeof_field(struct fakegpu_pause, function)];
	atomic_t state;
};

static DEFINE_MUTEX(lock);
static DECLARE_WAIT_QUEUE_HEAD(changed);
static struct pause pauses[FAKEGPU_PAUSES];

/* Is called in the place of the function, where the caller may sleep; then it is the function's turn. */
static unsigned long wait_and_call(struct pause *pause, PARAMETERS)
{
	function original = (function)(unsigned long)pause->probe.addr;

	wake_up_all(&changed);
	(void)wait_event_killable(changed, atomic_read(&pause->state) != REACHED);
	return original(a, b, c, d, e, f, g);
}

static unsigned long first(PARAMETERS)
{
	return wait_and_call(&pauses[0], a, b, c, d, e, f, g);
}

static unsigned long second(PARAMETERS)
{
	return wait_and_call(&pauses[1], a, b, c, d, e, f, g);
}

static const function instead[FAKEGPU_PAUSES] = { first, second };

static int at_start(struct kprobe *probe, struct pt_regs *registers)
{
	struct pause *pause = container_of(probe, struct pause, probe);

	if (atomic_cmpxchg(&pause->state, ARMED, REACHED) != ARMED)
		return 0;
	instruction_pointer_set(registers, (unsigned long)instead[pause - pauses]);
	return 1;
}

/* As for calls that fail: without one, the probe may be made a jump. */
static void afterwards(struct kprobe *unused, struct pt_regs *registers, unsigned long flags)
{
}

static void end(struct pause *pause)
{
	if (atomic_read(&pause->state) == FREE)
		return;
	atomic_set(&pause->state, CONTINUED);
	wake_up_all(&changed);
	unregister_kprobe(&pause->probe);
	atomic_set(&pause->state, FREE);
}

int fakegpu_pause(struct fakegpu_pause *how)
{
	struct pause *pause;
	int result = 0;

	if (how->which >= FAKEGPU_PAUSES)
		return -EINVAL;
	pause = &pauses[how->which];
	mutex_lock(&lock);
	end(pause);
	memcpy(pause->name, how->function, sizeof(pause->name));
	pause->name[sizeof(pause->name) - 1] = 0;
	if (pause->name[0]) {
		pause->probe = (struct kprobe){ .symbol_name = pause->name, .pre_handler = at_start,
						.post_handler = afterwards };
		atomic_set(&pause->state, ARMED);
		result = register_kprobe(&pause->probe);
		if (result)
			atomic_set(&pause->state, FREE);
	}
	mutex_unlock(&lock);
	return result;
}

int fakegpu_wait_paused(const struct fakegpu_pause *which)
{
	if (which->which >= FAKEGPU_PAUSES)
		return -EINVAL;
	return wait_event_interruptible(changed, atomic_read(&pauses[which->which].state) != ARMED);
}

#else

int fakegpu_pause(struct fakegpu_pause *how)
{
	return how->function[0] ? -EOPNOTSUPP : 0;
}

int fakegpu_wait_paused(const struct fakegpu_pause *which)
{
	return -EOPNOTSUPP;
}

#endif
