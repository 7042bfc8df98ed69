/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TOTALS_H
#define KWHY_REPORT_TOTALS_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/* An account summed over the devices that have an account of the same category and name. */
struct kwhy_total {
	uint32_t category;
	const char *name; /* name, borrowed from the ledger */
	uint64_t count;
	int64_t time_ns;
	/* KWHY_UNKNOWN_NJ unless the energy is known on every device that has the account */
	int64_t gross_nj, idle_nj, net_nj;
	/*
	 * ends of the 90 % interval of gross_nj; the devices' powers are fitted separately, so half-widths
	 * add in quadrature
	 */
	int64_t low_nj, high_nj;
	/* metered part of time_ns, computed as gross energy divided by mean power; NAN: unknown */
	double metered_ns;
	uint32_t basis;			 /* the weakest basis that the account has on any device */
	bool above_samples, above_limit; /* whether any device's account has the flag of this name */
};

/* Sums over all devices of a recording. */
struct kwhy_totals {
	size_t known_count;  /* number of devices whose energy is known */
	size_t active_count; /* number of devices with activities */
	bool modelled;	     /* whether energies come from assumed powers and not from a meter */
	/*
	 * energy attributed on the devices whose energy is known; KWHY_UNKNOWN_NJ: the energy of no device is
	 * known
	 */
	int64_t energy_nj;
	int64_t idle_nj;		    /* part of energy_nj that was drawn while the devices idled */
	int64_t window_ns, least_window_ns; /* longest and shortest metered window of any device */
	/*
	 * Sums of the devices' energies of the run (model/run_energy.h). If there are no activities, they
	 * are sums of all that was metered.
	 */
	double run_nj; /* energy of the run with its unmetered part; NAN: unknown on some device */
	/*
	 * energy that is 100 % in the findings' shares, summed over the devices where it is known; NAN: it
	 * is known on no device
	 */
	double recorded_nj;
	double unmetered_nj; /* unmetered part of the run on the devices with a known recorded_nj */
	/*
	 * Distances from run_nj to the lower and upper end of its 90 % interval (model/run_energy.h). The
	 * interval does not include the uncertainty of the meter's own gain.
	 */
	double run_below_nj, run_above_nj;
	/*
	 * longest run of any device, from first start to last end; if no run is known, the longest metered
	 * window; NAN: neither is known
	 */
	double run_s;
	double power_w;		  /* sum of the mean powers of the devices; NAN: unknown */
	int64_t span_ns, busy_ns; /* sums over devices; span_ns counts recorded time only */
	/* part of energy_nj that was drawn in unrecorded time; KWHY_UNKNOWN_NJ: unknown */
	int64_t unrecorded_nj;
	/*
	 * run_metered_nj: part of energy_nj that was drawn in recorded time of the run. run_idle_nj: part
	 * of run_metered_nj that was drawn while nothing ran. KWHY_UNKNOWN_NJ: unknown
	 */
	int64_t run_metered_nj, run_idle_nj;
	int64_t run_unrecorded_ns; /* unrecorded time between first start and last end, summed over devices */
	/*
	 * time in which kwhy probe was at work and the energy that was drawn in it, summed over devices; no
	 * other field includes them
	 */
	int64_t probing_ns, probing_nj;
	int64_t counting_nj; /* energy that enabled performance counters drew; no other energy contains it */
	/* accounts, sorted by energy (by time where that is unknown), largest first */
	struct kwhy_total *rows;
	size_t row_count;
	/*
	 * Totals of the accounts in the run alone, from first start to last end: without accounts of time
	 * before and after the activities, and with unrecorded time only inside the run.
	 */
	struct kwhy_total *run_rows;
	size_t run_row_count;
	/*
	 * Accounts as estimated for the whole run from random windows. whole_count is 0 if there are no such
	 * windows.
	 */
	struct kwhy_total *whole_rows;
	size_t whole_count;
	int64_t whole_ns; /* time of the whole run, summed over devices */
};

KWHY_MUST_USE enum kwhy_status kwhy_totals_init(
	struct kwhy_totals *totals, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_totals_done(struct kwhy_totals *totals);

/*
 * kwhy_total_power_w(): mean power of an account, W. kwhy_total_each_j(): energy of one of its activities, J,
 * which is mean power times mean duration. The total energy divided by the number of activities would be too
 * low, since some of them may lie outside of the metered window. NAN: unknown.
 */
double kwhy_total_power_w(const struct kwhy_total *row);
double kwhy_total_each_j(const struct kwhy_total *row);

/* Sums over the accounts of one category, or over all accounts. */
struct kwhy_category_sum {
	struct kwhy_total sum; /* the account's interval and basis are not set */
	size_t account_count;
};

/* Sums the accounts of each category; the last entry, of category KWHY_CATEGORY_COUNT, has those of all. */
void kwhy_totals_categories(
	const struct kwhy_totals *totals, struct kwhy_category_sum out_sums[KWHY_CATEGORY_COUNT + 1]);

/* Whether the metered windows of devices differ in length by more than 1 %. */
bool kwhy_totals_windows_differ(const struct kwhy_totals *totals);

/*
 * kwhy_totals_shown_nj(): the total at the top of a report, nJ. It is the energy of the run or, if that is
 * unknown or modelled, all that was metered or modelled. kwhy_totals_shows_run(): whether it is the energy
 * of the run.
 */
bool kwhy_totals_shows_run(const struct kwhy_totals *totals);
double kwhy_totals_shown_nj(const struct kwhy_totals *totals);

/*
 * Whether two energies look equal with the digits that reports show. To the reader, a share of one is then
 * also a share of the other.
 */
bool kwhy_totals_look_equal(double a_nj, double b_nj);

/*
 * busy_nj: metered energy of kernels, collectives, copies and memsets. known_nj: the part of busy_nj that is
 * known well. The energy of an account is known well if the half-width of its 90 % interval is at most
 * `within_ratio` of the energy.
 */
struct kwhy_totals_known {
	int64_t busy_nj, known_nj;
	double half_nj; /* sum of the half-widths of the 90 % intervals of all accounts in busy_nj */
};
struct kwhy_totals_known kwhy_totals_known_within(const struct kwhy_totals *totals, double within_ratio);

/*
 * Energy in nJ from which costs and emissions are computed. It is the energy of the run, its unmetered part
 * included, or, if that is unknown, all metered energy. NAN: neither is known, as with assumed powers for a
 * run of which only windows were recorded.
 */
double kwhy_totals_paid_nj(const struct kwhy_totals *totals);

/* The lower end of the interval of the run's energy, nJ; 0 if the interval reaches below 0. */
double kwhy_totals_run_low_nj(const struct kwhy_totals *totals);

/* Text that says why the energy of some device is unknown, with a remedy if there is one. */
const char *kwhy_totals_no_energy(const struct kwhy_recording *recording);

/* A row's share of all energy or, if that is unknown, of the devices' time; NAN: unknown. */
double kwhy_totals_share(const struct kwhy_totals *totals, const struct kwhy_total *row);

#endif
