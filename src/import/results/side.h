/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_SIDE_H
#define KWHY_IMPORT_RESULTS_SIDE_H

#include "base/arena.h"
#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>
#include <stddef.h>

/* One side of a comparison, read from a report.json. */

struct kwhy_side_account {
	const char *category, *name; /* borrowed from the side */
	uint64_t count;
	int64_t time_ns;
	int64_t gross_nj, low_nj,
		high_nj; /* KWHY_UNKNOWN_NJ unless known on every device that has the account */
};

struct kwhy_side_finding {
	const char *id, *title;
	int64_t time_ns, energy_nj; /* time and energy that the finding would save */
};

struct kwhy_side_work {
	const char *unit;
	double count;
	double each_j; /* J a unit: of the run, first start to last end, or in a stat.json of the whole
			  command; NAN: unknown */
};

/* One report, summed over its devices. */
struct kwhy_side {
	struct kwhy_arena arena;
	const char *label;  /* name of its file */
	const char *device; /* name of the first device; "": unknown */
	int64_t energy_nj;  /* metered; KWHY_UNKNOWN_NJ: unknown, as in the fields below */
	int64_t run_nj;	    /* from first start to last end, with the unmetered part */
	int64_t idle_nj;    /* metered during the run while devices idled */
	double run_below_nj,
		run_above_nj; /* distances of run_nj to the ends of its 90 % interval; NAN: unknown */
	int64_t seen_run_nj;  /* run_nj where at least half of each device's run was metered, else
				 KWHY_UNKNOWN_NJ */
	/*
	 * Part of run_nj above the mean power of the devices while they idled, or above context idle where
	 * that is unknown.
	 */
	int64_t net_nj, net_low_nj, net_high_nj;
	int64_t span_ns;	    /* longest span of any device */
	int64_t first_ns, last_ns;  /* first start and last end on any device; both 0: no work */
	int64_t idle_ns;	    /* sum over devices */
	double power_w, busy_ratio; /* NAN: unknown */
	double launch_ns; /* mean duration of a call that launches a kernel; NAN: fewer than 1000 calls */
	bool modelled;
	struct kwhy_side_account *accounts; /* sorted by category, then name */
	struct kwhy_side_finding *findings; /* sorted by id, then title */
	struct kwhy_side_work *work;
	size_t account_count, finding_count, work_count;
};

/* KWHY_E_INPUT when `json` is no report of a known version. */
KWHY_MUST_USE enum kwhy_status kwhy_side_read(
	struct kwhy_side *side, const char *label, const char *json, size_t length, struct kwhy_error *error);
void kwhy_side_done(struct kwhy_side *side);

#endif
