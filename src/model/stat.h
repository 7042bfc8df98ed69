/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_STAT_H
#define KWHY_MODEL_STAT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the runs of a command took: time, energy by domain, work done. Figures of single runs; means and
 * intervals are made of them where they are shown. NAN is not known. Intervals of a run are the meters' own,
 * 95 %, without their constant gain error. All pointers lie in the arena but for the arrays marked "grown".
 */

enum kwhy_stat_kind {
	KWHY_STAT_DEVICE,
	KWHY_STAT_HOST,	 /* a CPU package, its memory, a board's sensor */
	KWHY_STAT_WALL,	 /* a meter of the user's: what it feeds holds the others */
	KWHY_STAT_TOTAL, /* of the domains that add up */
	KWHY_STAT_KIND_COUNT
};

const char *kwhy_stat_kind_name(enum kwhy_stat_kind kind); /* "device" */

/* What a domain drew before the first run. */
struct kwhy_stat_idle {
	double watts, low_w, high_w;
	int64_t processes; /* that held the device then; -1: not known */
};

struct kwhy_stat_domain {
	enum kwhy_stat_kind kind;
	const char *name;   /* "gpu 0", "rapl.package-0", "total" */
	const char *device; /* "NVIDIA H200"; NULL: no device, or unknown */
	const char *uuid;   /* NULL: unknown */
	bool in_total;	    /* a part of the sum */
	bool is_module;	    /* its meter counts CPU and memory of the module too */
	bool is_package;    /* a CPU package by RAPL */
	uint64_t bad_line;  /* of a wall meter's file: the first that was no reading of it; 0: none */
	size_t instances;   /* MIG instances that share the device; 0: it is not split */
	struct kwhy_stat_idle idle;
	bool counter_reset, counter_stuck; /* while it ran: the power readings bridged it, or did it alone */
	bool counter_misread;		   /* readings of it left its course, which then went on: left out */
	double clean_idle_w,
		context_idle_w; /* by the machine profile: without and with a context, nothing running */
	const char *profile;	/* where that was read; NULL: nowhere */
};

struct kwhy_stat_energy {
	double joules, low_j, high_j;
	double mean_w, peak_w;
	const char *basis;   /* "counter+power"; NULL: unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

struct kwhy_stat_run {
	bool counted; /* in the means: it ended by itself with status 0, or nothing better ran */
	bool interrupted, left_running;
	int exit, signal; /* as a shell tells it; the signal that killed it, 0: none */
	double start_s;	  /* since the first run's start */
	double seconds, user_s, system_s, max_rss_bytes;
	struct kwhy_stat_energy *energies; /* [domain_count] */
	double *work;			   /* [work_count]; NAN: nothing matched or was reported */
};

/* Where an amount of work comes from. */
enum kwhy_stat_work_from {
	KWHY_STAT_WORK_OUTPUT,	 /* counted in what the command writes */
	KWHY_STAT_WORK_STATED,	 /* on the command line, the same for each run */
	KWHY_STAT_WORK_REPORTED, /* by the command, in the file that KWHY_WORK_FILE names */
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
	double time_s, joules; /* since the run's start; joules of the main domain */
	double value;
};

struct kwhy_stat_metric {
	const char *name, *pattern;
	struct kwhy_stat_point *points; /* grown */
	size_t count, capacity;
	uint64_t unreadable, dropped; /* dropped: beyond KWHY_STAT_POINTS_MAX */
};

/* A stretch of a run: --interval. */
struct kwhy_stat_interval {
	uint32_t run;
	double start_s, end_s; /* since the run's start */
};

enum { KWHY_STAT_POINTS_MAX = 1 << 20, KWHY_STAT_INTERVALS_MAX = 1 << 20, KWHY_STAT_RUNS_MAX = 1 << 20 };

/* What measuring took. */
struct kwhy_stat_cost {
	double running_s, cpu_s; /* of the runs alone */
	double busy_s;		 /* of all CPUs of the machine, by anybody, during the runs; NAN: not known */
	double all_s, all_cpu_s; /* from the first search for the meters' ticks to the end */
	uint64_t reads, missed;	 /* tasks run; deadlines skipped */
	double longest_read_s;
	double drift_ratio;	 /* of Unix time against the monotonic clock; NAN under 10 s */
	double step_s;		 /* largest sudden change of Unix time */
	uint64_t lost, failures; /* readings overwritten before they were taken; refused by a meter */
};

struct kwhy_stat_absence {
	const char *backend, *text;
	bool is_refused; /* for want of permission alone */
	bool is_choice;	 /* of devices that are there and were left out: reported in any case */
};

struct kwhy_stat {
	struct kwhy_arena arena;
	const char *command;
	int64_t started_unix_ns;
	uint64_t wanted_runs, warmup_runs;
	int interrupted_by;		  /* a signal; 0: none */
	double idle_s;			  /* length of the idle measurement; NAN: none was asked for */
	double interval_s;		  /* NAN: not asked for */
	struct kwhy_stat_domain *domains; /* the total last, where two or more add up */
	struct kwhy_stat_run *runs;	  /* [run_count], room for wanted_runs */
	struct kwhy_stat_work *work;
	struct kwhy_stat_metric *metrics;
	struct kwhy_stat_interval *intervals; /* grown */
	double *interval_joules;	      /* grown: [domain_count] an interval, one after the other */
	struct kwhy_stat_absence *absences;
	size_t domain_count, run_count, work_count, metric_count, interval_count, interval_capacity,
		interval_joules_capacity, absence_count;
	uint64_t intervals_dropped;
	struct kwhy_stat_cost cost;
};

void kwhy_stat_done(struct kwhy_stat *stat);

#define KWHY_STAT_NO_DOMAIN SIZE_MAX
/*
 * The one that work and curves are held against: the total, else the first device, else the first of the
 * host, else a wall meter.
 */
size_t kwhy_stat_main_domain(const struct kwhy_stat *stat);

/* Figures of the domains that add up, summed: NAN as soon as one is. */
void kwhy_stat_sum_energies(const struct kwhy_stat *stat, struct kwhy_stat_energy *energies);

/* The energy above idle, with the interval of both; NAN where idle was not measured. */
struct kwhy_stat_energy kwhy_stat_net(
	const struct kwhy_stat_domain *domain, const struct kwhy_stat_energy *gross, double seconds);

/*
 * Joules of the sampler's thread during the runs, modelled: the packages' energy times the thread's part of
 * all busy CPU time. Of the energy above idle where idle was measured, else of all of it, which is too much
 * rather than too little. NAN: a package or the busy time is not known, or no energy is left above idle.
 */
double kwhy_stat_cost_j(const struct kwhy_stat *stat);

/* Which runs the means are of: those that went well; if none did, those that were not interrupted; else all.
 */
void kwhy_stat_choose_runs(struct kwhy_stat *stat);

#endif
