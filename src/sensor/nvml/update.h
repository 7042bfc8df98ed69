/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_UPDATE_H
#define KWHY_SENSOR_NVML_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the times at which an energy counter is updated. A read takes 2 to 15 ms of a core on an H200, so the
 * counter is read rarely. An update is caught if two reads, the second at most 28 ms after the first, have
 * different values; the update happened between them. Two caught updates give the period. From then on
 * updates are assumed to form a regular grid in time, and each further caught update makes the grid's period
 * and phase more precise. An update is reported every `wanted_ns`, and one is caught every `catch_ns`. A read
 * between two catches shows the value of the last grid update before the read. If `catch_ns` is longer than
 * `wanted_ns`, single reads, each midway between two predicted updates, report the earlier of the two; they
 * take a fraction of the time of a catch. A caught update that is not on the grid starts a new grid. If
 * nothing changed for a second, the counter is read 4 times per second until it changes. A counter that
 * changes at more than half of the reads is too fast for single updates to be caught, and is read every
 * `wanted_ns`. Times are those of CLOCK_MONOTONIC. Only one thread may use it.
 */

enum kwhy_nvml_update_phase {
	KWHY_NVML_UPDATE_SEARCH,
	KWHY_NVML_UPDATE_WAIT,
	KWHY_NVML_UPDATE_STILL,
	KWHY_NVML_UPDATE_FAST
};

/* State of the search. Set `wanted_ns` and `catch_ns`, and zero-initialise the rest. */
struct kwhy_nvml_update {
	int64_t wanted_ns; /* time between reported updates */
	int64_t catch_ns;  /* time between caught updates; 0: that between reported ones */
	enum kwhy_nvml_update_phase phase;
	bool has_value;
	int64_t old_begin_ns;	/* start of the previous read */
	int64_t took_ns;	/* duration of the last read */
	int64_t since_ns;	/* start of the current attempt to catch an update */
	int64_t changes, reads; /* number of reads in this attempt whose value differs from that of the read
				   before, and number of all its reads */
	int64_t edge_ns, unsure_ns; /* time of the grid's last caught update, known to within +- unsure_ns;
				       unsure_ns 0: there is no grid yet */
	int64_t first_ns, first_unsure_ns,
		/*
		 * time of the grid's first update, known to within +- first_unsure_ns, and number of updates
		 * after it
		 */
		updates;
	/* period of the grid, known to within +- period_unsure_ns; 0: unknown */
	int64_t period_ns, period_unsure_ns;
	bool is_unusual; /* an update once did not fit the grid, so a period of 100 ms is not assumed any more
			  */
	int64_t stride;	 /* number of updates from edge_ns to the next update to be caught */
	int64_t reported_ns, reported_unsure_ns; /* time of the update that was reported last, known to within
						    +- reported_unsure_ns */
	int64_t catch_at_ns;			 /* start of the next attempt to catch an update */
	int64_t next_ns;			 /* time of the next read */
};

/*
 * Takes the result of a read that lasted from `begin_ns` to `end_ns`; `changed`: the value differs from that
 * of the read before. True: an update is reported: the counter got this value at *out_edge_ns. False: no
 * update is reported, because this read shows none, because the update was reported before, or because its
 * time is too uncertain. *out_edge_ns is known to within 14 ms (30 ms if catch_ns is longer than wanted_ns)
 * or, for a fast counter, to within the duration of the read.
 */
bool kwhy_nvml_update_read(struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed,
	int64_t *out_edge_ns);

#endif
