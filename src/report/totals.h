/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TOTALS_H
#define KWHY_REPORT_TOTALS_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/* An account summed over the devices that have it: same category, same name. */
struct kwhy_total {
	uint32_t category;
	const char *name; /* borrowed from the ledger */
	uint64_t count;
	int64_t time_ns;
	int64_t gross_nj, idle_nj, net_nj; /* KWHY_UNKNOWN_NJ unless known on every device that has it */
	int64_t low_nj, high_nj;	   /* devices are fitted apart: half-widths add in squares */
	double metered_ns; /* of time_ns, in the metered window: gross over mean power; NAN unknown */
	uint32_t basis;	   /* the weakest of the devices' */
	bool above_samples, above_limit; /* on any device */
};

/* A whole recording in a few figures. */
struct kwhy_totals {
	size_t known_count;  /* devices whose energy is known */
	size_t active_count; /* devices with activities */
	bool modelled;	     /* from assumed powers, not from a meter */
	int64_t energy_nj;   /* attributed, of the known devices; KWHY_UNKNOWN_NJ without any */
	int64_t idle_nj;     /* of that, while the device idled */
	int64_t window_ns, least_window_ns; /* how long devices were metered: the longest, and the shortest */
	/* Sums of the devices' energies of the run (model/run_energy.h); of all that was metered where no
	   activity is known. */
	double run_nj;	     /* NAN unless known on all devices */
	double recorded_nj;  /* what findings are parts of: of the devices on which it is known; NAN: none */
	double unmetered_nj; /* of those, the unmetered part */
	/* How far the 90 % interval of run_nj reaches below and above it (model/run_energy.h); the meter's
	   own gain is not in it. */
	double run_below_nj, run_above_nj;
	double run_s;	/* first start to last end of the device that runs longest, or the longest metered
			   window where none is known to; NAN: neither */
	double power_w; /* sum of the devices' mean powers; NAN unknown */
	int64_t span_ns, busy_ns; /* sums over devices; the span where it is known what ran */
	int64_t unrecorded_nj;	  /* of the energy, where it is not; KWHY_UNKNOWN_NJ */
	int64_t probing_ns,
		probing_nj;	 /* what kwhy probe took, sums over devices: in no other figure, nor row */
	struct kwhy_total *rows; /* by energy, else by time, descending */
	size_t row_count;
	/* Where random windows stand for the whole run: rows of it, of estimates. Else none. */
	struct kwhy_total *whole_rows;
	size_t whole_count;
	int64_t whole_ns; /* sum over devices of the time that they stand for */
};

/* Adds nanojoules; the sum is KWHY_UNKNOWN_NJ once a part is, or where it would not fit. */
void kwhy_known_add(int64_t *sum_nj, int64_t more_nj);
/* Adds nanoseconds; stops at the largest number, since a file may claim what it likes. */
void kwhy_time_add(int64_t *sum_ns, int64_t more_ns);

KWHY_MUST_USE enum kwhy_status kwhy_totals_init(
	struct kwhy_totals *totals, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_totals_done(struct kwhy_totals *totals);

/*
 * Mean power of an account in watts, and what one of it draws: that power over its mean duration, since some
 * of them may lie outside the metered window. NAN where unknown.
 */
double kwhy_total_power_w(const struct kwhy_total *row);
double kwhy_total_each_j(const struct kwhy_total *row);

/* Whether devices were metered over windows whose lengths are more than 1 % apart. */
bool kwhy_totals_windows_differ(const struct kwhy_totals *totals);

/* Energy of the time before the first and after the last activity, which is in what was metered and not in
 * the run. */
int64_t kwhy_totals_outside_nj(const struct kwhy_totals *totals);

/*
 * Metered energy of kernels, collectives, copies and memsets, and of those of them whose 90 % interval is at
 * most so wide, as a ratio of half of it to their energy.
 */
struct kwhy_totals_known {
	int64_t busy_nj, known_nj;
};
struct kwhy_totals_known kwhy_totals_known_within(const struct kwhy_totals *totals, double within_ratio);

/* What is paid for and emitted: the run's energy with the unmetered part, else all that was metered; NAN
 * where neither is known, as with assumed powers of a run known in windows. */
double kwhy_totals_paid_nj(const struct kwhy_totals *totals);

/* Why readings, or the want of them, leave the energy of all devices unknown, with the cure where there is
 * one. */
const char *kwhy_totals_no_energy(const struct kwhy_recording *recording);

/* Share of the whole: of the energy where it is known, else of the devices' time; NAN where unknown. */
double kwhy_totals_share(const struct kwhy_totals *totals, const struct kwhy_total *row);

#endif
