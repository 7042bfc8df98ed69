/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/heads.h"

#include <math.h>
#include <stdlib.h>

/*
 * Divides the energy of devices that several ranks use at the same time, under MPS or in time slices. If each
 * rank is recorded by itself, each digest has the energy of the whole device, so a sum over the digests would
 * count it several times.
 *
 * Each digest gives a mean power of the device. At each moment, the power of the device is taken to be the
 * mean over the digests that cover this moment. It is divided among them in proportion to the share of their
 * time in which they ran something, or equally if none of them did. Modelled energy is not divided, because
 * it is only that of a rank's own activities.
 */

/*
 * Share used for a rank that ran nothing. It is above 0, so that ranks of which none ran anything divide the
 * energy equally.
 */
static const double IDLE_SHARE = 1e-9;

/* The use of a device by one rank. */
struct use {
	struct kwhy_head_device *device;
	int64_t start_ns, end_ns;
	/*
	 * power_w: mean power of the device over the use. share: part of the use in which the rank ran
	 * something, at least IDLE_SHARE.
	 */
	double power_w, share;
	/*
	 * shared_ns: time in which other ranks used the device, too. divided_nj: the energy that counts for
	 * this rank.
	 */
	double shared_ns, divided_nj;
};

/* The start or the end of a use. */
struct event {
	int64_t at_ns;
	struct use *use;
	bool is_end;
};

/* Sums over the uses that cover a moment, and integrals up to this moment. */
struct sums {
	size_t uses;
	double power_w, share;
	/*
	 * shared_ns: time with more than one use. per_share_nj: integral over time of the device's power
	 * (power_w / uses) divided by `share`.
	 */
	double shared_ns, per_share_nj;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *left = a, *right = b;

	if (left->device->key != right->device->key)
		return left->device->key < right->device->key ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int compare_events(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	if (left->at_ns != right->at_ns)
		return left->at_ns < right->at_ns ? -1 : 1;
	return (int)right->is_end - (int)left->is_end;
}

/*
 * Adds a use to the sums at its start and removes it at its end. After its end, its shared_ns and divided_nj
 * are the integrals from its start to its end.
 */
static void take_event(const struct event *event, struct sums *sums)
{
	struct use *use = event->use;
	const double sign = event->is_end ? -1 : 1;

	if (event->is_end)
		sums->uses--;
	else
		sums->uses++;
	sums->power_w = sums->uses ? sums->power_w + sign * use->power_w : 0;
	sums->share = sums->uses ? sums->share + sign * use->share : 0;
	use->shared_ns -= sign * sums->shared_ns;
	use->divided_nj -= sign * sums->per_share_nj * use->share;
}

/* Sets energy_ratio of all uses of one device. `events` has 2 * count items, which are overwritten. */
static void divide(struct use *uses, size_t count, struct event *events)
{
	struct sums sums = {0};

	for (size_t i = 0; i < count; i++) {
		events[2 * i] = (struct event){uses[i].start_ns, &uses[i], false};
		events[2 * i + 1] = (struct event){uses[i].end_ns, &uses[i], true};
	}
	qsort(events, 2 * count, sizeof(*events), compare_events);
	for (size_t i = 0; i < 2 * count; i++) {
		if (i && sums.uses) {
			const double ns = (double)(events[i].at_ns - events[i - 1].at_ns);

			sums.per_share_nj += ns * sums.power_w / (double)sums.uses / sums.share;
			sums.shared_ns += sums.uses > 1 ? ns : 0;
		}
		take_event(&events[i], &sums);
	}
	for (size_t i = 0; i < count; i++)
		if (uses[i].shared_ns > 0) {
			uses[i].device->is_shared = true;
			uses[i].device->energy_ratio = uses[i].divided_nj /
				(uses[i].power_w * (double)(uses[i].end_ns - uses[i].start_ns));
		}
}

/* Adds the use of a device if its energy was measured and it has a key. Sets energy_ratio to 1. */
static void add_use(
	const struct kwhy_head *head, struct kwhy_head_device *device, struct use *out, size_t *count)
{
	struct use use = {.device = device, .start_ns = head->start_ns, .end_ns = head->end_ns};
	int64_t span_ns;

	device->energy_ratio = 1;
	/*
	 * Without Unix times it is unknown when a use began, so all uses are taken to begin at the same time.
	 */
	if (use.end_ns <= use.start_ns)
		use = (struct use){.device = device, .end_ns = device->metered_ns};
	span_ns = use.end_ns - use.start_ns;
	if (!device->key || device->measured_nj <= 0 || span_ns <= 0)
		return;
	use.power_w = (double)device->measured_nj / (double)span_ns;
	use.share = fmin(1, fmax(IDLE_SHARE, (double)device->busy_ns / (double)span_ns));
	out[(*count)++] = use;
}

enum kwhy_status kwhy_heads_share(const struct kwhy_heads *heads, struct kwhy_error *error)
{
	size_t most = 0, count = 0;
	struct event *events;
	struct use *uses;

	for (size_t i = 0; i < heads->count; i++)
		most += heads->items[i].device_count;
	uses = malloc((most + 1) * sizeof(*uses));
	events = malloc((2 * most + 1) * sizeof(*events));
	if (!uses || !events) {
		free(uses);
		free(events);
		return kwhy_fail_memory(error, "devices");
	}
	for (size_t i = 0; i < heads->count; i++)
		for (size_t d = 0; d < heads->items[i].device_count; d++)
			add_use(&heads->items[i], &heads->items[i].each[d], uses, &count);
	qsort(uses, count, sizeof(*uses), compare_uses);
	for (size_t first = 0, end; first < count; first = end) {
		end = first + 1;
		while (end < count && uses[end].device->key == uses[first].device->key)
			end++;
		if (end - first > 1)
			divide(&uses[first], end - first, events);
	}
	free(uses);
	free(events);
	return KWHY_OK;
}
