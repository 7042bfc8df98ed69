/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TOTALS_H
#define KWHY_REPORT_TOTALS_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/* An account, or the sum of the accounts with the same category and name on several devices. */
struct kwhy_total {
	uint32_t category;
	const char *name; /* borrowed from the ledger */
	uint64_t count;
	int64_t time_ns;
	/* KWHY_UNKNOWN_NJ unless the energy is known on every device that has the account */
	int64_t gross_nj, idle_nj, net_nj;
	/*
	 * ends of the 90 % interval of gross_nj; the distances of the devices' ends from their energies add
	 * in quadrature, since the devices' powers are fitted separately
	 */
	int64_t low_nj, high_nj;
	/* metered part of time_ns, computed as gross energy divided by mean power; NAN: unknown */
	double metered_ns;
	uint32_t basis; /* the weakest basis that the account has on any device */
	/* whether the account of any device has this flag (struct kwhy_account) */
	bool above_samples, above_limit;
};

/* Sums over all devices of a recording. */
struct kwhy_totals {
	size_t known_count;  /* number of devices whose energy is known */
	size_t active_count; /* number of devices with activities */
	bool modelled;	     /* whether energies come from assumed powers and not from a meter */
	/*
	 * energy put on accounts, of the devices whose energy is known, without probing_nj; KWHY_UNKNOWN_NJ:
	 * the energy of no device is known
	 */
	int64_t energy_nj;
	int64_t idle_nj; /* part of energy_nj on accounts of idle time */
	/* longest and shortest metered time of the devices whose energy is known, without probing_ns */
	int64_t window_ns, least_window_ns;
	/*
	 * run_nj, recorded_nj and unmetered_nj are sums of the devices' energies of the run
	 * (model/run_energy.h). If no device has activities, run_nj and recorded_nj are all metered energy.
	 */
	double run_nj; /* energy of the run with its unmetered part; NAN: unknown on some device */
	/*
	 * energy of the run in recorded time, its unmetered part included, which is 100 % in the findings'
	 * shares; a sum over the active devices where it is known; NAN: it is known on none
	 */
	double recorded_nj;
	/* estimated energy of the unmetered part of the run, of the devices with a known recorded_nj */
	double unmetered_nj;
	/*
	 * Distances from run_nj to the lower and upper end of its 90 % interval (model/run_energy.h). The
	 * interval does not include the uncertainty of the meter's own gain.
	 */
	double run_below_nj, run_above_nj;
	/*
	 * longest run of any device in s, from first start to last end; if no device has activities, the
	 * longest metered time; NAN: neither is known
	 */
	double run_s;
	/* sum over devices of their mean power in metered time, W; NAN: unknown */
	double power_w;
	/*
	 * sums over devices of the time from first start to last end, less unrecorded time, and of the part
	 * of it in which something ran
	 */
	int64_t span_ns, busy_ns;
	/* part of energy_nj that was drawn in unrecorded time; KWHY_UNKNOWN_NJ: unknown */
	int64_t unrecorded_nj;
	/*
	 * run_metered_nj: part of energy_nj drawn in recorded time between first start and last end.
	 * run_idle_nj: part of run_metered_nj on accounts of idle time. KWHY_UNKNOWN_NJ: unknown
	 */
	int64_t run_metered_nj, run_idle_nj;
	int64_t run_unrecorded_ns; /* unrecorded time between first start and last end, summed over devices */
	/*
	 * time in which kwhy probe was at work and the energy that was drawn in it, summed over devices; no
	 * other field includes them
	 */
	int64_t probing_ns, probing_nj;
	int64_t counting_nj; /* energy that enabled performance counters drew; no other energy contains it */
	/* accounts but those of kwhy probe, sorted by gross energy, then by time, largest first */
	struct kwhy_total *rows;
	size_t row_count;
	/*
	 * The same accounts as far as they belong to the run, from first start to last end: without the
	 * account of time outside of the run, and with only that unrecorded time that lies inside.
	 */
	struct kwhy_total *run_rows;
	size_t run_row_count;
	/*
	 * The same accounts with times and energies estimated for the whole run from random windows; none if
	 * no device was recorded in random windows.
	 */
	struct kwhy_total *whole_rows;
	size_t whole_count;
	/*
	 * length of the intervals of which only random windows were recorded, summed over devices; 0: no
	 * device was recorded in random windows
	 */
	int64_t whole_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_totals_init(
	struct kwhy_totals *totals, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_totals_done(struct kwhy_totals *totals);

/*
 * kwhy_total_power_w(): mean power of an account in metered time, W. kwhy_total_each_j(): energy of one of
 * its activities, J: mean power times mean duration. Gross energy over the number of activities would be too
 * low, since only metered time has gross energy. NAN: unknown.
 */
double kwhy_total_power_w(const struct kwhy_total *row);
double kwhy_total_each_j(const struct kwhy_total *row);

/* Sums over the accounts of one category, or over all accounts. */
struct kwhy_category_sum {
	struct kwhy_total sum; /* only count, time, the three energies and the category are set */
	size_t account_count;
};

/* Sums totals->rows by category; the last element, of category KWHY_CATEGORY_COUNT, is the sum of all. */
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
 * Whether reports, which show energies with three significant digits, show two energies equally. A share of
 * one is then also a share of the other for the reader.
 */
bool kwhy_totals_look_equal(double a_nj, double b_nj);

/*
 * busy_nj: gross energy of kernels, collectives, copies and memsets. known_nj: the part of busy_nj on
 * accounts that are known well: half the width of their 90 % interval is at most `within_ratio` of their
 * energy. An account without a known interval is not known well if within_ratio is below 1.
 */
struct kwhy_totals_known {
	int64_t busy_nj, known_nj;
	double half_nj; /* sum of the half-widths of the 90 % intervals of all accounts in busy_nj */
};
struct kwhy_totals_known kwhy_totals_known_within(const struct kwhy_totals *totals, double within_ratio);

/*
 * Energy in nJ from which costs and emissions are computed: the energy of the run, its unmetered part
 * included, or, if that is unknown, all metered or modelled energy. NAN: neither is known, as with assumed
 * powers for a run of which only windows were recorded.
 */
double kwhy_totals_paid_nj(const struct kwhy_totals *totals);

/* The lower end of the interval of the run's energy, nJ; 0 if the interval reaches below 0. */
double kwhy_totals_run_low_nj(const struct kwhy_totals *totals);

/* Sentence on why the energy of the devices is unknown, with a remedy if there is one. */
const char *kwhy_totals_no_energy(const struct kwhy_recording *recording);

/* A row's share of energy_nj or, if that is unknown, of span_ns; NAN: unknown. */
double kwhy_totals_share(const struct kwhy_totals *totals, const struct kwhy_total *row);

#endif
