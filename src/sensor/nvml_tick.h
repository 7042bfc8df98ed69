/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_TICK_H
#define KWHY_SENSOR_NVML_TICK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When does a counter that moves once a tick move? Asked rarely, it is known only that the edge lies between
 * two reads. This keeps an interval that the last edge lies in and one that the period lies in; both shrink
 * with every read that falls near an edge. It searches with reads 3 ms apart until it saw two edges, then
 * reads once just after each expected edge, and in the middle of the interval when that has grown wide. What
 * does not fit begins a new search with more room for jitter. A counter that stands still is read 4 times a
 * second; one too fast to be resolved is read as often as wanted. Times: CLOCK_MONOTONIC. One thread.
 */

enum kwhy_nvml_tick_phase {
	KWHY_NVML_TICK_SEARCH,
	KWHY_NVML_TICK_FOLLOW,
	KWHY_NVML_TICK_STILL,
	KWHY_NVML_TICK_FAST
};

/* Zero-initialise but for `wanted_ns`. */
struct kwhy_nvml_tick {
	int64_t wanted_ns; /* between the edges that are told; shorter ticks are passed over */
	enum kwhy_nvml_tick_phase phase;
	bool has_value, has_edge, has_period;
	int64_t jitter_ns; /* of single edges */
	int64_t took_ns;   /* the last read */
	int64_t old_ns;	   /* begin of the last read before the next edge */
	int64_t since_ns;  /* begin of the search */
	int64_t search_reads, search_changes;
	int64_t edge_lo_ns, edge_hi_ns;	    /* the last edge */
	int64_t period_lo_ns, period_hi_ns; /* between edges */
	int64_t anchor_lo_ns, anchor_hi_ns; /* an earlier edge, `anchor_ticks` back */
	int64_t anchor_ticks;
	int64_t next_ns; /* when to read again */
};

/*
 * What a read between `begin_ns` and `end_ns` told. True: the value it gave is that of the counter from
 * *out_edge_ns on, known within 5 ms (a fast counter: within the read).
 */
bool kwhy_nvml_tick_read(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns);

#endif
