/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_REGIONS_H
#define KWHY_MEASURE_REGIONS_H

#include "measure/window.h"

/*
 * Energy, time and work of regions of a program, computed from events (beginnings, ends and work) in order of
 * time and from the meters' energy curves. Pure.
 */

enum kwhy_event_kind { KWHY_EVENT_BEGIN, KWHY_EVENT_END, KWHY_EVENT_WORK, KWHY_EVENT_KIND_COUNT };

struct kwhy_event {
	int64_t time_ns;
	uint32_t name;
	uint16_t kind;
	uint16_t thread; /* number of the ring of the thread (recorder.h), or KWHY_EVENT_EVERY_THREAD */
	double amount;	 /* amount of work in units of `name`, if the kind is KWHY_EVENT_WORK */
};

/* Stands for all threads in place of a thread's number. */
#define KWHY_EVENT_EVERY_THREAD UINT16_MAX

struct kwhy_region_work {
	uint32_t unit;
	double amount;
};

struct kwhy_region {
	bool used;
	uint64_t count, unmatched;
	uint64_t active;  /* number of runs that have begun and not ended */
	int64_t since_ns; /* time up to which the time and energy of active runs have been added */
	int64_t total_ns, wall_ns;
	struct kwhy_region_work *works;
	size_t work_count, work_capacity;
	struct kwhy_window_sum *sums; /* [meter_count] energy on each meter */
};

struct kwhy_regions;

KWHY_MUST_USE enum kwhy_status kwhy_regions_new(
	size_t meter_count, struct kwhy_regions **out, struct kwhy_error *error);
void kwhy_regions_free(struct kwhy_regions *regions);
KWHY_MUST_USE enum kwhy_status kwhy_regions_copy(
	const struct kwhy_regions *regions, struct kwhy_regions **out, struct kwhy_error *error);

/*
 * Applies events, which must be in order of time, then adds up time and energy to until_ns, which is not
 * before the last event. curves[meter_count] must be known up to until_ns; if a meter's curve ends earlier,
 * the energy on that meter is unknown. An event whose time is before the until_ns of the previous call counts
 * as if its time were that until_ns.
 */
KWHY_MUST_USE enum kwhy_status kwhy_regions_fold(struct kwhy_regions *regions,
	const struct kwhy_event *events, size_t count, struct kwhy_curve *const *curves, int64_t until_ns,
	struct kwhy_error *error);

/*
 * kwhy_regions_get(): the region of a name, which must be below kwhy_regions_count(). `used` is false if the
 * name has no beginning or end of a region.
 */
size_t kwhy_regions_count(const struct kwhy_regions *regions);
const struct kwhy_region *kwhy_regions_get(const struct kwhy_regions *regions, size_t name);

#endif
