/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_UPDATE_H
#define KWHY_SENSOR_NVML_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the times of counter updates. A read costs 2 to 15 ms of processor time on an H200, so the counter is
 * read rarely. Consecutive reads catch an update between them, and two caught updates give the period. From
 * then on the updates are taken to form a regular grid, whose period and phase become more precise with each
 * further update caught. Updates are caught `wanted_ns` apart. A read in between has the value of the grid's
 * last update before it. An update off the grid starts a new grid. A counter that does not change is read 4
 * times a second; one that changes too fast to be resolved is read as often as wanted. Times are
 * CLOCK_MONOTONIC. Only one thread may use it.
 */

enum kwhy_nvml_update_phase {
	KWHY_NVML_UPDATE_SEARCH,
	KWHY_NVML_UPDATE_WAIT,
	KWHY_NVML_UPDATE_STILL,
	KWHY_NVML_UPDATE_FAST
};

/* Zero-initialise but for `wanted_ns`. */
struct kwhy_nvml_update {
	int64_t wanted_ns; /* time between caught updates */
	enum kwhy_nvml_update_phase phase;
	bool has_value;
	int64_t old_begin_ns;	/* start of the previous read */
	int64_t took_ns;	/* duration of the last read */
	int64_t since_ns;	/* start of the current catch */
	int64_t changes, reads; /* in the current catch */
	int64_t edge_ns,
		unsure_ns; /* an update on the grid, known within +- unsure_ns; unsure_ns 0: no grid yet */
	int64_t first_ns, first_unsure_ns,
		updates;		     /* the grid's first update, and the number of updates since */
	int64_t period_ns, period_unsure_ns; /* 0: unknown */
	bool is_unusual;		     /* the usual period was tried and did not fit */
	int64_t stride;			     /* number of updates until the next catch */
	int64_t reported_ns,
		reported_unsure_ns; /* the last update reported, known within +- reported_unsure_ns */
	int64_t next_ns;	    /* time of the next read */
};

/*
 * Takes the result of a read between `begin_ns` and `end_ns`. True: the value read is that of the counter
 * since the update at *out_edge_ns, known within 14 ms (for a fast counter, within the read). No update is
 * reported twice.
 */
bool kwhy_nvml_update_read(struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed,
	int64_t *out_edge_ns);

#endif
