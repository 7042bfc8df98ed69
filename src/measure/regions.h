/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_REGIONS_H
#define KWHY_MEASURE_REGIONS_H

#include "measure/window.h"

/*
 * What regions have used: folds their beginnings and ends, in order of time, onto the energy curves. Pure.
 */

enum kwhy_event_kind { KWHY_EVENT_BEGIN, KWHY_EVENT_END, KWHY_EVENT_WORK, KWHY_EVENT_KIND_COUNT };

struct kwhy_event {
	int64_t time_ns;
	uint32_t name;
	uint16_t kind;
	uint16_t thread; /* a small number */
	double amount;	 /* of work */
};

/* Thread of a region that every thread is inside. */
#define KWHY_EVENT_EVERY_THREAD UINT16_MAX

struct kwhy_region_work {
	uint32_t unit;
	double amount;
};

struct kwhy_region {
	bool used;
	uint64_t count, unmatched;
	uint64_t active;  /* runs going on */
	int64_t since_ns; /* counted up to here while active */
	int64_t total_ns, wall_ns;
	struct kwhy_region_work *works;
	size_t work_count, work_capacity;
	struct kwhy_window_sum *sums; /* one a meter */
};

struct kwhy_regions;

KWHY_MUST_USE enum kwhy_status kwhy_regions_new(
	size_t meter_count, struct kwhy_regions **out, struct kwhy_error *error);
void kwhy_regions_free(struct kwhy_regions *regions);
KWHY_MUST_USE enum kwhy_status kwhy_regions_copy(
	const struct kwhy_regions *regions, struct kwhy_regions **out, struct kwhy_error *error);

/*
 * Takes events in order of time, then accounts for everything up to until_ns, which lies after the last of
 * them; curves[meter_count] must be known up to there, or the meter's energy is not. An event earlier than
 * what is accounted for already counts as if it came then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_regions_fold(struct kwhy_regions *regions,
	const struct kwhy_event *events, size_t count, struct kwhy_curve *const *curves, int64_t until_ns,
	struct kwhy_error *error);

/* By name; up to kwhy_regions_count(). Names that no event had are not `used`. */
size_t kwhy_regions_count(const struct kwhy_regions *regions);
const struct kwhy_region *kwhy_regions_get(const struct kwhy_regions *regions, size_t name);

#endif
