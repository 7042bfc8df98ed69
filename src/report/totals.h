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
	int64_t gross_nj, idle_nj,
		net_nj; /* KWHY_UNKNOWN_NJ unless known on every device that has the account */
	int64_t low_nj,
		high_nj; /* 90 % interval; devices are fitted separately, so half-widths add in quadrature */
	double metered_ns; /* part of time_ns that was metered: gross energy over mean power; NAN: unknown */
	uint32_t basis;	   /* weakest basis of any device */
	bool above_samples, above_limit; /* on any device */
};

/* Summary of a whole recording. */
struct kwhy_totals {
	size_t known_count;  /* devices whose energy is known */
	size_t active_count; /* devices with activities */
	bool modelled;	     /* energies are of assumed powers, not of a meter */
	int64_t energy_nj;   /* attributed, of the known devices; KWHY_UNKNOWN_NJ: no known device */
	int64_t idle_nj;     /* part of energy_nj from when the device idled */
	int64_t window_ns, least_window_ns; /* longest and shortest metered window of a device */
	/*
	 * Sums of the devices' energies of the run (model/run_energy.h), or of all that was metered where no
	 * activity is known.
	 */
	double run_nj;	     /* NAN: unknown on some device */
	double recorded_nj;  /* energy that findings are a share of, of the devices where it is known; NAN: no
				such device */
	double unmetered_nj; /* unmetered part, of those devices */
	/*
	 * Distances of run_nj to the ends of its 90 % interval (model/run_energy.h), without the meter's own
	 * gain.
	 */
	double run_below_nj, run_above_nj;
	double run_s;	/* first start to last end of the device that runs longest, or the longest metered
			   window where no run is known; NAN: neither is known */
	double power_w; /* sum of the devices' mean powers; NAN: unknown */
	int64_t span_ns, busy_ns;	/* sums over devices; the span counts recorded time only */
	int64_t unrecorded_nj;		/* part of energy_nj from unrecorded time; KWHY_UNKNOWN_NJ: unknown */
	int64_t probing_ns, probing_nj; /* time and energy of kwhy probe's repeats, sums over devices, which
					   no other figure or row includes */
	struct kwhy_total *rows;	/* sorted by energy, or by time where that is unknown, descending */
	size_t row_count;
	/* Estimated rows of the whole run, where random windows are samples of it; else whole_count is 0. */
	struct kwhy_total *whole_rows;
	size_t whole_count;
	int64_t whole_ns; /* time of the whole run, sum over devices */
};

KWHY_MUST_USE enum kwhy_status kwhy_totals_init(
	struct kwhy_totals *totals, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_totals_done(struct kwhy_totals *totals);

/*
 * Mean power of an account, W, and energy of one activity, J: the mean power over the mean duration, since
 * some activities may lie outside the metered window. NAN where unknown.
 */
double kwhy_total_power_w(const struct kwhy_total *row);
double kwhy_total_each_j(const struct kwhy_total *row);

/* Whether devices were metered over windows whose lengths are more than 1 % apart. */
bool kwhy_totals_windows_differ(const struct kwhy_totals *totals);

/* Energy metered before the first and after the last activity, which is not part of the run. */
int64_t kwhy_totals_outside_nj(const struct kwhy_totals *totals);

/*
 * Metered energy of kernels, collectives, copies and memsets, and the part of it from accounts whose half 90
 * % interval is at most `within_ratio` of their energy.
 */
struct kwhy_totals_known {
	int64_t busy_nj, known_nj;
};
struct kwhy_totals_known kwhy_totals_known_within(const struct kwhy_totals *totals, double within_ratio);

/*
 * Energy that costs and emissions are computed from: the run's with the unmetered part, else all that was
 * metered. NAN where neither is known, as with assumed powers of a run known in windows.
 */
double kwhy_totals_paid_nj(const struct kwhy_totals *totals);

/* The lower end of the run's energy: not below 0, where the interval is wider than the figure. */
double kwhy_totals_run_low_nj(const struct kwhy_totals *totals);

/* Why the energy of some device is unknown, with a remedy where there is one. */
const char *kwhy_totals_no_energy(const struct kwhy_recording *recording);

/* Share of the total energy where that is known, else of the devices' time; NAN where unknown. */
double kwhy_totals_share(const struct kwhy_totals *totals, const struct kwhy_total *row);

#endif
