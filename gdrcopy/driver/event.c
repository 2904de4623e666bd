// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Invalidation events: what nvidia.ko revoked, delivered by read() and poll(). */
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gdrdrv.h"

int gdrdrv_init_events(struct gdrdrv_events *events)
{
	spin_lock_init(&events->lock);
	mutex_init(&events->readers);
	init_waitqueue_head(&events->wait);
	if (gdrdrv_persistent())
		return 0;
	events->ring = kcalloc(GDRDRV_EVENT_CAPACITY, sizeof(*events->ring), GFP_KERNEL_ACCOUNT);
	return events->ring ? 0 : -ENOMEM;
}

void gdrdrv_free_events(struct gdrdrv_events *events)
{
	kfree(events->ring);
	mutex_destroy(&events->readers);
}

static void gdrdrv_event_append(struct gdrdrv_events *events, const struct gdrdrv_event *event)
{
	events->ring[(events->first + events->count) % GDRDRV_EVENT_CAPACITY] = *event;
	events->count++;
}

/* The record for all events that were lost since the last one in the ring. */
static struct gdrdrv_event gdrdrv_overflow_record(const struct gdrdrv_events *events, u64 last_lost)
{
	return (struct gdrdrv_event){ .reason = GDRDRV_EVENT_OVERFLOW,
				      .size = events->lost,
				      .sequence = last_lost };
}

/* Called under locks of nvidia.ko's: it neither waits nor allocates. */
void gdrdrv_push_event(struct gdrdrv_events *events, const struct gdrdrv_pin *pin)
{
	struct gdrdrv_event event = {
		.handle = pin->handle,
		.reason = GDRDRV_EVENT_REVOKED,
		.va = pin->va,
		.size = pin->size,
	};
	unsigned int needed;

	spin_lock(&events->lock);
	needed = events->lost ? 2 : 1; /* the overflow record comes before this one, or this one is lost too */
	event.sequence = ++events->sequence;
	if (events->count + needed > GDRDRV_EVENT_CAPACITY) {
		events->lost++;
		gdrdrv_count(events_lost, 1);
	} else {
		if (events->lost) {
			struct gdrdrv_event record = gdrdrv_overflow_record(events, event.sequence - 1);

			gdrdrv_event_append(events, &record);
			events->lost = 0;
		}
		gdrdrv_event_append(events, &event);
	}
	spin_unlock(&events->lock);
	wake_up_interruptible_poll(&events->wait, EPOLLIN | EPOLLRDNORM);
}

static bool gdrdrv_has_events(struct gdrdrv_events *events)
{
	bool result;

	spin_lock(&events->lock);
	result = events->count || events->lost;
	spin_unlock(&events->lock);
	return result;
}

/* Gives events that were lost after the last record in the ring a separate record. */
static bool gdrdrv_event_peek(struct gdrdrv_events *events, struct gdrdrv_event *event)
{
	bool found;

	spin_lock(&events->lock);
	if (!events->count && events->lost) {
		struct gdrdrv_event record = gdrdrv_overflow_record(events, events->sequence);

		gdrdrv_event_append(events, &record);
		events->lost = 0;
	}
	found = events->count;
	if (found)
		*event = events->ring[events->first];
	spin_unlock(&events->lock);
	return found;
}

static void gdrdrv_event_drop(struct gdrdrv_events *events)
{
	spin_lock(&events->lock);
	events->first = (events->first + 1) % GDRDRV_EVENT_CAPACITY;
	events->count--;
	spin_unlock(&events->lock);
}

/* A record is dropped only after it has reached the caller. */
static ssize_t gdrdrv_read_records(struct gdrdrv_events *events, char __user *to, size_t bytes)
{
	struct gdrdrv_event event;
	size_t done = 0;

	while (bytes - done >= sizeof(event) && gdrdrv_event_peek(events, &event)) {
		if (copy_to_user(to + done, &event, sizeof(event)))
			return done ? (ssize_t)done : -EFAULT;
		gdrdrv_event_drop(events);
		done += sizeof(event);
	}
	return done;
}

ssize_t gdrdrv_read(struct file *filp, char __user *to, size_t bytes, loff_t *offset)
{
	struct gdrdrv_file *file = filp->private_data;
	struct gdrdrv_events *events = &file->events;
	ssize_t result;

	if (!gdrdrv_is_current_program(&file->owner))
		return -EACCES;
	if (!events->ring)
		return -EOPNOTSUPP;
	if (bytes < sizeof(struct gdrdrv_event))
		return -EINVAL;
	for (;;) {
		if (mutex_lock_interruptible(&events->readers))
			return -ERESTARTSYS;
		result = gdrdrv_read_records(events, to, bytes);
		mutex_unlock(&events->readers);
		if (result)
			return result;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(events->wait, gdrdrv_has_events(events)))
			return -ERESTARTSYS;
	}
}

__poll_t gdrdrv_poll(struct file *filp, struct poll_table_struct *table)
{
	struct gdrdrv_file *file = filp->private_data;

	poll_wait(filp, &file->events.wait, table);
	if (!gdrdrv_is_current_program(&file->owner))
		return EPOLLERR;
	return gdrdrv_has_events(&file->events) ? EPOLLIN | EPOLLRDNORM : 0;
}
