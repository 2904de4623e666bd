// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The owner of a descriptor, and the limits of each user. */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gdrdrv.h"

/*
 * The driver cannot hold a struct pid (put_pid is GPL-only), and the kernel may reuse one without a reference for
 * another process. It does not reuse a PID together with the start time. All threads have that of the group's leader.
 */
void gdrdrv_remember_process(struct gdrdrv_process *process)
{
	process->tgid = task_tgid_nr(current);
	process->start_time = current->group_leader->start_boottime;
	process->exec_id = current->self_exec_id;
}

/* Also after an exec, with which the process runs another program. */
bool gdrdrv_is_current_process(const struct gdrdrv_process *process)
{
	return process->tgid == task_tgid_nr(current) &&
	       process->start_time == current->group_leader->start_boottime;
}

/* GPU memory belongs to the program that allocated it: not to its children, nor to what it executes. */
bool gdrdrv_is_current_program(const struct gdrdrv_process *process)
{
	return gdrdrv_is_current_process(process) && process->exec_id == current->self_exec_id;
}

/* Whether the last thread of the process is closing its files. */
bool gdrdrv_is_exiting_process(const struct gdrdrv_process *process)
{
	return (current->flags & PF_EXITING) && !atomic_read(&current->signal->live) &&
	       gdrdrv_is_current_process(process);
}

static DEFINE_MUTEX(users_lock);
static LIST_HEAD(users);

unsigned long gdrdrv_max_user_pins, gdrdrv_max_user_bytes;

/* With a reference for the caller; NULL without memory. */
struct gdrdrv_user *gdrdrv_user_find(kuid_t uid)
{
	struct gdrdrv_user *user, *made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);

	if (!made)
		return NULL;
	mutex_lock(&users_lock);
	list_for_each_entry(user, &users, node)
		if (uid_eq(user->uid, uid)) {
			gdrdrv_user_get(user);
			goto found;
		}
	user = made;
	made = NULL;
	user->uid = uid;
	refcount_set(&user->refs, 1);
	list_add(&user->node, &users);
	gdrdrv_count(user_objects, 1);
found:
	mutex_unlock(&users_lock);
	kfree(made);
	return user;
}

void gdrdrv_user_get(struct gdrdrv_user *user)
{
	refcount_inc(&user->refs);
}

void gdrdrv_user_put(struct gdrdrv_user *user)
{
	if (!refcount_dec_and_mutex_lock(&user->refs, &users_lock))
		return;
	list_del(&user->node);
	mutex_unlock(&users_lock);
	kfree(user);
	gdrdrv_count(user_objects, -1);
}

static bool gdrdrv_exceeds(atomic64_t *held, u64 more, unsigned long limit)
{
	u64 now = atomic64_add_return(more, held);

	return limit && now > limit;
}

int gdrdrv_user_charge(struct gdrdrv_user *user, u64 bytes)
{
	bool pins = gdrdrv_exceeds(&user->pins, 1, READ_ONCE(gdrdrv_max_user_pins));
	bool size = gdrdrv_exceeds(&user->bytes, bytes, READ_ONCE(gdrdrv_max_user_bytes));

	if (!pins && !size)
		return 0;
	gdrdrv_user_uncharge(user, bytes);
	pr_debug("a user's limit on %s is reached\n", pins ? "pins" : "bytes");
	return -EDQUOT;
}

void gdrdrv_user_uncharge(struct gdrdrv_user *user, u64 bytes)
{
	atomic64_dec(&user->pins);
	atomic64_sub(bytes, &user->bytes);
}
