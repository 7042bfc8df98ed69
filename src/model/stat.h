/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_STAT_H
#define KWHY_MODEL_STAT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Results of `kwhy stat`: time, energy by domain, and work of each run of a command; reports compute means
 * over the runs and their intervals from these. NAN: unknown. A domain is what one meter measures. The 95 %
 * interval of the energy of one run covers the errors of the meters apart from their constant gain error. All
 * pointers point into the arena, except for arrays marked "malloc'ed".
 */

enum kwhy_stat_kind {
	KWHY_STAT_DEVICE,
	KWHY_STAT_HOST, /* a CPU package, its memory, or what a board's sensor measures */
	KWHY_STAT_WALL, /* a meter that the user supplies, such as one at the wall socket, which measures what
			   the other domains measure, and more */
	KWHY_STAT_TOTAL, /* sum of the domains with in_total */
	KWHY_STAT_KIND_COUNT
};

const char *kwhy_stat_kind_name(enum kwhy_stat_kind kind); /* "device" */

/* Mean power of a domain before the first run, with its 95 % interval. */
struct kwhy_stat_idle {
	double watts, low_w, high_w;
	int64_t processes; /* number of processes on the device before the first run; -1: unknown */
};

struct kwhy_stat_domain {
	enum kwhy_stat_kind kind;
	const char *name;   /* "gpu 0", "rapl.package-0", "total" */
	const char *device; /* "NVIDIA H200"; NULL: no device, or unknown */
	const char *uuid;   /* NULL: unknown */
	bool in_total;	    /* the domain is part of the total */
	bool is_module;	 /* the meter of the device also measures the CPU and memory on the same module (Grace
			    Hopper) */
	bool is_package; /* a CPU package by RAPL */
	uint64_t bad_line; /* number, from 1, of the first line in a wall meter's file that is not a reading;
			      0: all lines are readings */
	size_t instances;  /* number of MIG instances that share the device; 0: MIG is off */
	bool divided_anew; /* during the runs, the device was divided into other MIG instances, or MIG was
			      switched off */
	struct kwhy_stat_idle idle;
	/*
	 * counter_reset: the energy counter was reset during a run, and the energy of that time is from power
	 * readings; counter_stuck: the counter did not rise although power was drawn, and the energy of the
	 * run is from power readings alone
	 */
	bool counter_reset, counter_stuck;
	bool counter_misread; /* implausible readings of the counter were left out; the counter continued
				 afterwards */
	double clean_idle_w,
		context_idle_w; /* idle powers from the machine profile, without and with a context */
	const char *profile;	/* path of the machine profile; NULL: no profile was found */
};

struct kwhy_stat_energy {
	double joules, low_j, high_j;
	double mean_w, peak_w;
	const char *basis;   /* which readings joules are from: "counter+power"; NULL: joules are unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

struct kwhy_stat_run {
	bool counted; /* the run is one of those over which means are taken (kwhy_stat_choose_runs()) */
	bool interrupted, left_running;
	int exit, signal; /* exit status as a shell reports it; number of the signal that killed the run, 0:
			     the run was not killed */
	double start_s;	  /* time from the start of the first run to the start of this run */
	double seconds, user_s, system_s, max_rss_bytes;
	struct kwhy_stat_energy *energies; /* [domain_count] */
	double *work; /* [work_count] amounts of work of this run, in the order of `work` of struct kwhy_stat;
			 NAN: none was found or reported */
};

/* Where an amount of work comes from. */
enum kwhy_stat_work_from {
	KWHY_STAT_WORK_OUTPUT,	 /* counted by a pattern in the output of the command */
	KWHY_STAT_WORK_STATED,	 /* stated on the command line, the same for each run */
	KWHY_STAT_WORK_REPORTED, /* written by the command to the file that KWHY_WORK_FILE names */
	KWHY_STAT_WORK_FROM_COUNT
};

const char *kwhy_stat_work_from_name(enum kwhy_stat_work_from from); /* "output" */

struct kwhy_stat_work {
	enum kwhy_stat_work_from from;
	const char *unit;    /* "tokens" */
	const char *pattern; /* pattern that finds amounts in the output; only for KWHY_STAT_WORK_OUTPUT */
	uint64_t unreadable; /* number of matches of the pattern that contain no number */
};

struct kwhy_stat_point {
	uint32_t run;
	double time_s,
		joules; /* time since the run's start, and joules that the main domain used since then */
	double value;
};

struct kwhy_stat_metric {
	const char *name, *pattern;
	struct kwhy_stat_point *points; /* malloc'ed */
	size_t count, capacity;
	/* unreadable: matches that contain no number; dropped: points beyond KWHY_STAT_POINTS_MAX */
	uint64_t unreadable, dropped;
};

/* One of the intervals of equal length into which --interval divides a run. */
struct kwhy_stat_interval {
	uint32_t run;
	double start_s, end_s; /* times since the run's start */
};

enum { KWHY_STAT_POINTS_MAX = 1 << 20, KWHY_STAT_INTERVALS_MAX = 1 << 20, KWHY_STAT_RUNS_MAX = 1 << 20 };

/* What measuring cost, and how well it went. */
struct kwhy_stat_cost {
	double running_s, cpu_s; /* elapsed time and CPU time of the sampler (the thread that reads the
				    meters), during the runs only */
	double busy_s; /* busy time of all CPUs of the machine, by any program, during the runs; NAN: unknown
			*/
	double all_s, all_cpu_s; /* elapsed time and CPU time of the sampler from its start, before the first
				    run, to its end */
	uint64_t reads, missed;	 /* reads: number of times that a meter was read; missed: number of scheduled
				    reads that were left out because an earlier one was late */
	double longest_read_s;
	double drift_ratio; /* drift of Unix time against the monotonic clock, in seconds per second; NAN:
			       less than 10 s were measured */
	double step_s;	    /* largest step by which Unix time was set, s */
	uint64_t lost,
		failures; /* lost: number of readings that were overwritten in a buffer before they could be
			     used; failures: number of reads that a meter answered with an error */
};

struct kwhy_stat_absence {
	const char *backend, *text;
	bool is_refused; /* the meters exist, and only a permission to read them is missing */
	bool is_choice;	 /* the user chose to leave out devices that exist; reports always say so */
};

/*
 * A kernel, collective, copy or memset of the recorded run, which is an additional run after the others, made
 * with --powers FILE. Its energy is from a ledger that uses the powers of that file.
 */
struct kwhy_stat_kernel {
	const char *name, *category; /* name and category of the ledger's account */
	const char *basis;	     /* what decides the energy: "learnt", "data", "prior", "joint" */
	uint64_t count;
	double seconds, joules, low_j, high_j; /* low_j, high_j: 90 % interval of joules */
};

/* The additional run that is recorded if --powers is given. */
struct kwhy_stat_recorded {
	bool is_made;		/* --powers was given, and the run was recorded */
	double seconds, joules; /* time and energy from the first start to the last end of device work; NAN:
				   unknown */
	double low_j, high_j;	/* 90 % interval of joules */
	struct kwhy_stat_kernel *kernels; /* the largest energy first */
	size_t kernel_count;
};

struct kwhy_stat {
	struct kwhy_arena arena;
	const char *command;
	int64_t started_unix_ns;
	uint64_t wanted_runs, warmup_runs;
	int interrupted_by; /* number of a signal; 0: not interrupted */
	double idle_s;	    /* length of the idle measurement; NAN: idle was not measured */
	double interval_s;  /* length of the intervals of --interval; NAN: the user did not ask for intervals
			     */
	/* if two or more domains have in_total set, the total is the last item */
	struct kwhy_stat_domain *domains;
	struct kwhy_stat_run *runs; /* [run_count], capacity wanted_runs */
	struct kwhy_stat_work *work;
	struct kwhy_stat_metric *metrics;
	struct kwhy_stat_interval *intervals; /* malloc'ed */
	double *interval_joules;	      /* malloc'ed; domain_count values for each interval */
	struct kwhy_stat_absence *absences;
	size_t domain_count, run_count, work_count, metric_count, interval_count, interval_capacity,
		interval_joules_capacity, absence_count;
	uint64_t intervals_dropped;
	struct kwhy_stat_cost cost;
	struct kwhy_stat_recorded recorded;
};

void kwhy_stat_done(struct kwhy_stat *stat);

#define KWHY_STAT_NO_DOMAIN SIZE_MAX
/*
 * Index of the main domain, whose energy is divided by the work and shown in curves: the total, else the
 * first device, else the first host domain, else a wall meter.
 */
size_t kwhy_stat_main_domain(const struct kwhy_stat *stat);

/*
 * Sets the energy of the total in energies[domain_count] to the sum over the domains with in_total. A figure
 * that is NAN in one of these domains is NAN in the total. The peak power of the total is always NAN, because
 * peaks of domains do not coincide. Does nothing if there is no total.
 */
void kwhy_stat_sum_energies(const struct kwhy_stat *stat, struct kwhy_stat_energy *energies);

/*
 * Energy of a domain above its idle energy in a run of `seconds`: gross less idle power times `seconds`. The
 * half-widths of the intervals of both add in quadrature. NAN: idle was not measured.
 */
struct kwhy_stat_energy kwhy_stat_net(
	const struct kwhy_stat_domain *domain, const struct kwhy_stat_energy *gross, double seconds);

/*
 * Joules of the sampler's thread during the runs, modelled as the energy of the CPU packages times the
 * thread's share of the busy time of all CPUs. The energy of the packages is their energy above idle if idle
 * was measured. Otherwise it is their gross energy, and the result is too high. NAN: a package's energy or
 * the busy time is unknown, or the packages drew no more than their idle energy.
 */
double kwhy_stat_cost_j(const struct kwhy_stat *stat);

/*
 * Sets `counted` of the runs over which means are taken: the successful ones; if there are none, those that
 * were not interrupted; else all.
 */
void kwhy_stat_choose_runs(struct kwhy_stat *stat);

#endif
