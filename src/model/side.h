/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_SIDE_H
#define KWHY_MODEL_SIDE_H

#include "base/arena.h"
#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>
#include <stddef.h>

/* One side of a comparison. Its figures come from a run that was analysed now, or from a report.json. */

struct kwhy_side_account {
	const char *category, *name; /* strings live as long as the side */
	uint64_t count;
	int64_t time_ns;
	/*
	 * Gross energy with its 90 % interval. Each of the three is KWHY_UNKNOWN_NJ if it is unknown on any
	 * device that has the account.
	 */
	int64_t gross_nj, low_nj, high_nj;
};

struct kwhy_side_finding {
	const char *id, *title;
	int64_t time_ns, energy_nj; /* time and energy that the finding's cure would save */
};

struct kwhy_side_work {
	const char *unit;
	double count;
	double each_j; /* joules per unit of work: the energy is that of the run from first start to last end,
			  or in a stat.json that of the whole command; NAN: unknown */
};

/* One run, summed over its devices. */
struct kwhy_side {
	struct kwhy_arena arena;
	const char *label;  /* name of its file */
	const char *device; /* name of the first device; "": unknown */
	int64_t energy_nj;  /* metered energy; KWHY_UNKNOWN_NJ: unknown, as in the energy fields below */
	int64_t run_nj;	    /* energy from first start to last end, estimates for unmetered time included */
	int64_t idle_nj;    /* energy metered in the devices' idle time within the run */
	double run_below_nj,
		run_above_nj; /* distances of run_nj to the ends of its 90 % interval; NAN: unknown */
	int64_t seen_run_nj;  /* equal to run_nj if at least half of each device's run was metered, else
				 KWHY_UNKNOWN_NJ */
	/*
	 * Part of run_nj above the idle level, with its 90 % interval. The idle level is the mean power of
	 * the devices while they idled or, if that is unknown, their context idle power.
	 */
	int64_t net_nj, net_low_nj, net_high_nj;
	int64_t span_ns; /* time from first start to last end of work on a device, of the device on which it
			    is longest */
	int64_t first_ns, last_ns; /* first start and last end on any device; both 0: no device worked */
	/* idle time, and time from first start to last end, each summed over the devices */
	int64_t idle_ns, spans_ns;
	double power_w; /* mean power of the run, or if its energy is unknown or modelled, of what was metered
			   or modelled; NAN: unknown */
	double busy_ratio; /* busy time divided by the time from first start to last end, both summed over the
			      devices; NAN: unknown */
	/*
	 * Steps of all processes, and time and energy of their loops (struct kwhy_loop_sum); 0 steps: none
	 * are known
	 */
	uint64_t step_count;
	int64_t loop_ns, loop_nj;
	double launch_ns; /* mean duration of a call that launches a kernel; NAN: fewer than 1000 calls */
	bool modelled;
	bool truncated; /* the recording ends early: all figures are of the part that could be read */
	struct kwhy_side_account *accounts; /* sorted by category, then name */
	struct kwhy_side_finding *findings; /* sorted by id, then title */
	struct kwhy_side_work *work;
	size_t account_count, finding_count, work_count;
};

void kwhy_side_done(struct kwhy_side *side);

/* The account of a side with this category and name; NULL: there is none. */
const struct kwhy_side_account *kwhy_side_account_of(
	const struct kwhy_side *side, const char *category, const char *name);

/* The work of a side that is counted in `unit`; NULL: the side has none. */
const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit);

/*
 * Whether any device activity was recorded in a run. Without any, the run has no accounts, and these are
 * unknown rather than 0 s and 0 J.
 */
static inline bool kwhy_side_has_work(const struct kwhy_side *run)
{
	return run->spans_ns > 0;
}

/* Whether a side has a finding with this id. */
bool kwhy_side_has_finding(const struct kwhy_side *side, const char *id);

/*
 * Adds up several runs of one program: accounts, work, numbers of steps, times and energies of the runs. A
 * finding is kept if more than half of the runs have a finding of its id. Powers, ratios, the loop of the
 * steps and figures for projections stay unknown, as a comparison takes the mean of these figures of the
 * single runs. Strings are borrowed from `runs`. The label is the label of the first run, followed by the
 * number of further runs.
 */
KWHY_MUST_USE enum kwhy_status kwhy_side_sum(
	struct kwhy_side *side, const struct kwhy_side *runs, size_t count, struct kwhy_error *error);

/*
 * How a struct kwhy_side is filled from the rows of a run, which come from its analysis
 * (report/compare/from_report.c) or from a report.json (import/results/side.c). Strings of rows must live in
 * the side's arena. Call kwhy_side_begin(), then for each device kwhy_side_add_account() for its accounts and
 * kwhy_side_add_device(), then the functions for calls, steps, findings and work, and last kwhy_side_end().
 */

struct kwhy_side_counts {
	size_t accounts, findings, work; /* numbers of rows to be added; accounts are those of all devices */
};

/* The figures of a device apart from its accounts. KWHY_UNKNOWN_NJ and KWHY_UNKNOWN_NS: unknown. */
struct kwhy_side_device {
	const char *name; /* "": unknown */
	int64_t first_ns, last_ns;
	int64_t span_ns, busy_ns, idle_ns; /* 0: unknown */
	int64_t attributed_nj;
	double metered_ns;
	double unseen_ns;      /* part of the time from first start to last end that was not metered */
	double context_idle_w; /* NAN: unknown */
	bool modelled;
};

/* Sums over the devices added so far. */
struct kwhy_side_sums {
	struct kwhy_side *side;
	int64_t span_ns, busy_ns;
	double idle_nj, idle_half_ci90_nj; /* NAN: unknown for one of the devices */
	size_t known_count;		   /* number of devices whose energy is known */
	bool energy_missing, is_unseen; /* energy_missing: the energy of a device is unknown; is_unseen: the
					   run of a device is mostly unmetered */
	double launch_ns, launch_count;
	/*
	 * Sums over the idle accounts added since the last device: energy, half-width of its 90 % interval,
	 * and time.
	 */
	double own_idle_nj, own_half_ci90_nj, own_idle_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_side_begin(struct kwhy_side_sums *sums, struct kwhy_side *side,
	const struct kwhy_side_counts *counts, struct kwhy_error *error);
/* mean_power_mw is the mean power of the account; 0: unknown. */
void kwhy_side_add_account(
	struct kwhy_side_sums *sums, const struct kwhy_side_account *account, int64_t mean_power_mw);
void kwhy_side_add_device(struct kwhy_side_sums *sums, const struct kwhy_side_device *device);
void kwhy_side_add_call(struct kwhy_side_sums *sums, const char *name, double count, double total_ns);
/* Steps of all processes, and time and energy of their loops. */
void kwhy_side_add_steps(struct kwhy_side_sums *sums, uint64_t count, int64_t loop_ns, int64_t loop_nj);
void kwhy_side_add_finding(struct kwhy_side_sums *sums, const struct kwhy_side_finding *finding);
void kwhy_side_add_work(struct kwhy_side_sums *sums, const struct kwhy_side_work *work);
/*
 * Takes the energy of the run from first start to last end, with its 90 % interval, and completes the side.
 */
void kwhy_side_end(struct kwhy_side_sums *sums, int64_t run_nj, int64_t low_nj, int64_t high_nj);

#endif
