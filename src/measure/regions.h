/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_REGIONS_H
#define KWHY_MEASURE_REGIONS_H

#include "measure/window.h"

/*
 * Energy and time of regions, computed from the energy curves and the regions' beginnings and ends in order
 * of time. Pure.
 */

enum kwhy_event_kind { KWHY_EVENT_BEGIN, KWHY_EVENT_END, KWHY_EVENT_WORK, KWHY_EVENT_KIND_COUNT };

struct kwhy_event {
	int64_t time_ns;
	uint32_t name;
	uint16_t kind;
	uint16_t thread; /* number of the thread's ring, or KWHY_EVENT_EVERY_THREAD */
	double amount;	 /* amount of work */
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
	int64_t since_ns; /* time up to which active runs are accounted for */
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
 * Applies events in order of time, then adds up time and energy to until_ns, which is after the last event.
 * curves[meter_count] must be known up to until_ns; if a meter's curve ends earlier, the energy on that meter
 * is unknown. If an event comes too late, because its time has already been added up, it counts as if it came
 * at the end of that time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_regions_fold(struct kwhy_regions *regions,
	const struct kwhy_event *events, size_t count, struct kwhy_curve *const *curves, int64_t until_ns,
	struct kwhy_error *error);

/*
 * kwhy_regions_get(): region with a name, which must be below kwhy_regions_count(). `used` is false for names
 * without events.
 */
size_t kwhy_regions_count(const struct kwhy_regions *regions);
const struct kwhy_region *kwhy_regions_get(const struct kwhy_regions *regions, size_t name);

#endif
