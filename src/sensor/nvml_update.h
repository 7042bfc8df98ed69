/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_UPDATE_H
#define KWHY_SENSOR_NVML_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When is the counter updated? A read costs 2 to 15 ms of processor time on an H200, so
 * it is read rarely: reads one after the other catch an edge between them, two edges give the period, and
 * from then on the edges form a grid, whose period and phase each further edge that is caught makes surer.
 * Between catches, `wanted_ns` apart, a read at any other time has the value of the grid's last edge before
 * it. An edge off the grid begins a new one. A counter that stands still is read 4 times a second; one too
 * fast to be resolved as often as wanted. Times: CLOCK_MONOTONIC. One thread.
 */

enum kwhy_nvml_update_phase {
	KWHY_NVML_UPDATE_SEARCH,
	KWHY_NVML_UPDATE_WAIT,
	KWHY_NVML_UPDATE_STILL,
	KWHY_NVML_UPDATE_FAST
};

/* Zero-initialise but for `wanted_ns`. */
struct kwhy_nvml_update {
	int64_t wanted_ns; /* between the edges that are caught */
	enum kwhy_nvml_update_phase phase;
	bool has_value;
	int64_t old_begin_ns;	    /* the read before */
	int64_t took_ns;	    /* the last read */
	int64_t since_ns;	    /* begin of this catch */
	int64_t changes, reads;	    /* of this catch */
	int64_t edge_ns, unsure_ns; /* an edge of the grid, known within +- unsure; unsure 0: no grid */
	int64_t first_ns, first_unsure_ns, updates; /* the grid's first edge, and edges since */
	int64_t period_ns, period_unsure_ns;	    /* 0: unknown */
	bool is_unusual;			    /* the usual period was tried and did not fit */
	int64_t stride;				    /* updates to the next catch */
	int64_t reported_ns, reported_unsure_ns;    /* the last edge told, known within +- that */
	int64_t next_ns;			    /* when to read again */
};

/*
 * What a read between `begin_ns` and `end_ns` told. True: the value it gave is that of the counter from
 * *out_edge_ns on, known within 14 ms (a fast counter: within the read); no edge is reported twice.
 */
bool kwhy_nvml_update_read(struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed,
	int64_t *out_edge_ns);

#endif
