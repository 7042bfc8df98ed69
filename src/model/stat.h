/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_STAT_H
#define KWHY_MODEL_STAT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time, energy by domain and work of the runs of a command. These are figures of single runs; reports compute
 * means and intervals from them. NAN: unknown. Intervals of a run are the meters' own, 95 %, without their
 * constant gain error. All pointers point into the arena, except for arrays marked "grown".
 */

enum kwhy_stat_kind {
	KWHY_STAT_DEVICE,
	KWHY_STAT_HOST,	 /* a CPU package, its memory, a board's sensor */
	KWHY_STAT_WALL,	 /* a meter of the user, whose reading includes the other domains */
	KWHY_STAT_TOTAL, /* sum of the domains that add up */
	KWHY_STAT_KIND_COUNT
};

const char *kwhy_stat_kind_name(enum kwhy_stat_kind kind); /* "device" */

/* Power of a domain before the first run. */
struct kwhy_stat_idle {
	double watts, low_w, high_w;
	int64_t processes; /* processes on the device at that time; -1: unknown */
};

struct kwhy_stat_domain {
	enum kwhy_stat_kind kind;
	const char *name;   /* "gpu 0", "rapl.package-0", "total" */
	const char *device; /* "NVIDIA H200"; NULL: no device, or unknown */
	const char *uuid;   /* NULL: unknown */
	bool in_total;	    /* the domain is part of the total */
	bool is_module;	    /* its meter includes CPU and memory of the module */
	bool is_package;    /* a CPU package by RAPL */
	uint64_t bad_line;  /* first line of a wall meter's file that is not a reading of the meter; 0: all
			       lines are */
	size_t instances;   /* MIG instances that share the device; 0: MIG is off */
	struct kwhy_stat_idle idle;
	bool counter_reset, counter_stuck; /* the counter was reset or stuck during a run, and power readings
					      replaced it for that time or for the whole run */
	bool counter_misread; /* implausible readings of the counter were left out; the counter continued
				 afterwards */
	double clean_idle_w,
		context_idle_w; /* idle powers of the machine profile, without and with a context */
	const char *profile;	/* path of that profile; NULL: no profile */
};

struct kwhy_stat_energy {
	double joules, low_j, high_j;
	double mean_w, peak_w;
	const char *basis;   /* "counter+power"; NULL: unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

struct kwhy_stat_run {
	bool counted; /* the means include this run; see kwhy_stat_choose_runs() */
	bool interrupted, left_running;
	int exit, signal; /* exit status as a shell reports it; signal that killed the run, 0: no signal */
	double start_s;	  /* since the first run's start */
	double seconds, user_s, system_s, max_rss_bytes;
	struct kwhy_stat_energy *energies; /* [domain_count] */
	double *work;			   /* [work_count]; NAN: no amount matched or was reported */
};

/* Where an amount of work comes from. */
enum kwhy_stat_work_from {
	KWHY_STAT_WORK_OUTPUT,	 /* counted in what the command writes */
	KWHY_STAT_WORK_STATED,	 /* stated on the command line, the same for each run */
	KWHY_STAT_WORK_REPORTED, /* written by the command to the file that KWHY_WORK_FILE names */
	KWHY_STAT_WORK_FROM_COUNT
};

const char *kwhy_stat_work_from_name(enum kwhy_stat_work_from from); /* "output" */

struct kwhy_stat_work {
	enum kwhy_stat_work_from from;
	const char *unit;    /* "tokens" */
	const char *pattern; /* of KWHY_STAT_WORK_OUTPUT */
	uint64_t unreadable; /* matches without a number */
};

struct kwhy_stat_point {
	uint32_t run;
	double time_s, joules; /* time since the run's start; joules of the main domain since then */
	double value;
};

struct kwhy_stat_metric {
	const char *name, *pattern;
	struct kwhy_stat_point *points; /* grown */
	size_t count, capacity;
	uint64_t unreadable, dropped; /* matches without a number; points beyond KWHY_STAT_POINTS_MAX */
};

/* An interval of a run (--interval). */
struct kwhy_stat_interval {
	uint32_t run;
	double start_s, end_s; /* since the run's start */
};

enum { KWHY_STAT_POINTS_MAX = 1 << 20, KWHY_STAT_INTERVALS_MAX = 1 << 20, KWHY_STAT_RUNS_MAX = 1 << 20 };

/* What measuring cost. */
struct kwhy_stat_cost {
	double running_s, cpu_s; /* during the runs only */
	double busy_s; /* busy time of all CPUs of the machine, by any program, during the runs; NAN: unknown
			*/
	double all_s, all_cpu_s; /* from the first search for the meters' updates to the end */
	uint64_t reads, missed;	 /* number of read tasks; deadlines skipped */
	double longest_read_s;
	double drift_ratio;	 /* drift of Unix time against the monotonic clock; NAN: less than 10 s were
				    measured */
	double step_s;		 /* largest sudden change of Unix time */
	uint64_t lost, failures; /* readings overwritten before they were taken; refused by a meter */
};

struct kwhy_stat_absence {
	const char *backend, *text;
	bool is_refused; /* only a permission is missing */
	bool is_choice;	 /* existing devices that the user left out; always reported */
};

struct kwhy_stat {
	struct kwhy_arena arena;
	const char *command;
	int64_t started_unix_ns;
	uint64_t wanted_runs, warmup_runs;
	int interrupted_by;		  /* number of a signal; 0: not interrupted */
	double idle_s;			  /* length of the idle measurement; NAN: not asked for */
	double interval_s;		  /* NAN: not asked for */
	struct kwhy_stat_domain *domains; /* the total is last, if two or more domains add up */
	struct kwhy_stat_run *runs;	  /* [run_count], capacity wanted_runs */
	struct kwhy_stat_work *work;
	struct kwhy_stat_metric *metrics;
	struct kwhy_stat_interval *intervals; /* grown */
	double *interval_joules;	      /* grown: domain_count values for each interval */
	struct kwhy_stat_absence *absences;
	size_t domain_count, run_count, work_count, metric_count, interval_count, interval_capacity,
		interval_joules_capacity, absence_count;
	uint64_t intervals_dropped;
	struct kwhy_stat_cost cost;
};

void kwhy_stat_done(struct kwhy_stat *stat);

#define KWHY_STAT_NO_DOMAIN SIZE_MAX
/*
 * Index of the domain whose energy work and curves refer to: the total, else the first device, else the first
 * host domain, else a wall meter.
 */
size_t kwhy_stat_main_domain(const struct kwhy_stat *stat);

/* Sums the figures of the domains that add up into the total's; NAN if one of them is NAN. */
void kwhy_stat_sum_energies(const struct kwhy_stat *stat, struct kwhy_stat_energy *energies);

/* Energy above idle; the interval combines those of energy and idle power. NAN: idle was not measured. */
struct kwhy_stat_energy kwhy_stat_net(
	const struct kwhy_stat_domain *domain, const struct kwhy_stat_energy *gross, double seconds);

/*
 * Joules of the sampler's thread during the runs, modelled as the packages' energy times the thread's share
 * of all busy CPU time. The energy is that above idle if idle was measured, else gross, which overestimates.
 * NAN: a package's energy or the busy time is unknown, or no energy lies above idle.
 */
double kwhy_stat_cost_j(const struct kwhy_stat *stat);

/*
 * Sets `counted` of the runs that means are taken over: successful ones; if there are none, those that were
 * not interrupted; else all.
 */
void kwhy_stat_choose_runs(struct kwhy_stat *stat);

#endif
