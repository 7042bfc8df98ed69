/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_LEDGER_H
#define KWHY_MODEL_LEDGER_H

#include "base/arena.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The ledger of one recording: it attributes every nanosecond of each device to one category and every
 * metered nanojoule to one account. Read-only once made; all memory lies in its arena.
 */

#define KWHY_UNKNOWN_NJ INT64_MIN
#define KWHY_UNKNOWN_NS INT64_MIN

enum kwhy_category {
	KWHY_CATEGORY_COMPUTE,
	KWHY_CATEGORY_COLLECTIVE,
	KWHY_CATEGORY_COPY,
	KWHY_CATEGORY_MEMSET,
	KWHY_CATEGORY_OVERLAP,	  /* time only: copy or collective under compute; never an account */
	KWHY_CATEGORY_SYNC,	  /* idle, host blocked in a synchronising call */
	KWHY_CATEGORY_LAUNCH,	  /* idle, host inside launch calls */
	KWHY_CATEGORY_ALLOC,	  /* idle, host inside malloc or free */
	KWHY_CATEGORY_HOST,	  /* idle, host elsewhere */
	KWHY_CATEGORY_IDLE,	  /* idle; the reason is unknown, as the recording has no API calls */
	KWHY_CATEGORY_OUTSIDE,	  /* inside the metered window, before the first or after the last activity */
	KWHY_CATEGORY_PROBING,	  /* activities and gaps of kwhy probe between the program's work */
	KWHY_CATEGORY_UNRECORDED, /* metered time between the windows in which it is known what ran */
	KWHY_CATEGORY_COUNT
};

const char *kwhy_category_name(enum kwhy_category category);
enum kwhy_category kwhy_category_of_kind(uint32_t kind);  /* enum kwhy_activity_kind, running alone */
enum kwhy_category kwhy_category_of_wait(uint32_t state); /* enum kwhy_host_state (host_wait.h), idle */
bool kwhy_category_is_idle(enum kwhy_category category);  /* sync ... outside */

struct kwhy_copy_sum {
	uint32_t kind, src_memory, dst_memory;
	/* bytes: sum over copies of known size; unknown_bytes: number of copies of unknown size */
	uint64_t count, bytes, unknown_bytes;
	int64_t total_ns;
};

/*
 * The same copies by kind and size class. Class c holds copies of [2^c, 2^(c+1)) bytes, class 0 also those of
 * 0 bytes; KWHY_NONE: size unknown.
 */
struct kwhy_copy_class_sum {
	uint32_t kind, src_memory, dst_memory, size_class;
	uint64_t count, bytes;
	int64_t total_ns;
};

/*
 * Time of one device. Disjoint: compute + collective + copy + memset + overlap = busy; sync + launch + alloc
 * + host = idle (all four KWHY_UNKNOWN_NS when the recording has no calls); busy + idle + probing +
 * unrecorded = span. Apart from the counts and totals of activities, all figures cover recorded time only.
 */
struct kwhy_device_time {
	int64_t first_ns, last_ns; /* first start, last end */
	int64_t span_ns, busy_ns, idle_ns, unrecorded_ns;
	int64_t probing_ns;	 /* kwhy probe was at work; not part of the program's run */
	int64_t probing_idle_ns; /* part of probing_ns in which nothing ran */
	int64_t compute_ns, collective_ns, copy_ns, memset_ns, overlap_ns;
	int64_t sync_ns, launch_ns, alloc_ns, host_ns;
	uint64_t idle_gaps; /* idle intervals inside the span; an activity of zero length splits one */
	uint64_t sync_gaps, launch_gaps, alloc_gaps, host_gaps; /* gaps that hold some time of the category */

	uint64_t kernel_count; /* all kernels, including collectives and graph rows */
	int64_t kernel_total_ns, kernel_union_ns;
	uint64_t collective_count;
	int64_t collective_total_ns, collective_union_ns;
	int64_t collective_overlap_ns; /* collective while another kernel computes */
	int64_t collective_exposed_ns; /* collective_union_ns less collective_overlap_ns */
	int64_t copy_total_ns, copy_union_ns;
	uint64_t copy_count;
	uint64_t memset_count, memset_bytes, memset_unknown_bytes;
	int64_t memset_total_ns, memset_union_ns;
	uint64_t small_h2d_count; /* h2d copies under 4096 bytes */
	uint64_t graph_count;

	uint32_t stream_count, max_concurrency;
	double mean_concurrency; /* sum of durations over busy; NAN when never busy */

	/* Utilisations over the recorded part of the span; NAN: unknown. */
	double busy_ratio;
	double sm_weighted_ratio; /* resident blocks over the blocks that the device holds, mean over the
				     span; kernels of unknown grid count as 0 */
	double sm_weighted_known_ratio; /* share of kernel time whose grid is known */
	double roofline_ratio; /* ratio of struct kwhy_roofline_sum; NAN: unknown, or the device was not
				  active */

	struct kwhy_copy_sum *copies;
	size_t copy_sum_count;
	struct kwhy_copy_class_sum *copy_classes;
	size_t copy_class_count;
};

/* Length of the run without the time that kwhy probe took. */
static inline int64_t kwhy_run_ns(const struct kwhy_device_time *time)
{
	return time->span_ns - time->probing_ns;
}

/* Whether any activity of the device was recorded. */
static inline bool kwhy_device_was_active(const struct kwhy_device_time *time)
{
	return time->kernel_count || time->copy_count || time->memset_count;
}

enum kwhy_basis {
	KWHY_BASIS_DATA,   /* the meter readings decide the figure */
	KWHY_BASIS_LEARNT, /* another recording (--powers) decides the figure; the readings hardly moved it */
	KWHY_BASIS_ASSUMED,  /* the readings hardly moved the figure from the assumed one */
	KWHY_BASIS_GROUPED,  /* only the sum of the account's group is known */
	KWHY_BASIS_MODELLED, /* no meter; the user gave the powers */
	KWHY_BASIS_NONE,     /* no energy is known */
	KWHY_BASIS_COUNT
};

const char *kwhy_basis_name(enum kwhy_basis basis);

/*
 * One row of the ledger. Energies are KWHY_UNKNOWN_NJ without power data. gross = idle + net; idle is what
 * the device would have drawn over the account's share of time with its context alone, or without a context
 * where it had none.
 */
struct kwhy_account {
	uint32_t category; /* enum kwhy_category */
	const char *name;  /* kernel; "h2d pageable->device 4-8 KB"; for idle: "idle: host in synchronize" */
	uint64_t count;	   /* activities or gaps */
	uint64_t bytes;	   /* sum over copies and memsets of known size; 0 for other activities */
	int64_t time_ns;   /* sum of durations */
	int64_t gross_nj, idle_nj, net_nj;
	int64_t low_nj, high_nj; /* 90 % interval of gross_nj */
	int64_t mean_power_mw;	 /* gross over the metered part of the time; -1: unknown */
	uint32_t basis;		 /* enum kwhy_basis */
	uint32_t group;		 /* index into groups; KWHY_NONE: no group */
	uint32_t power_class;	 /* index into classes: accounts of one class share one power */
	bool is_probing_idle;	 /* category probing, while nothing ran */
	bool is_clean;		 /* category outside, at the idle level without a context (clean stretches) */
	/* Whether the mean power, at the low end of its interval, is above a limit. */
	bool above_samples; /* above the highest sample, as the meter averages */
	bool above_limit;   /* above the enforced power limit (short activities may be) */
	/*
	 * Estimates for the whole run where only random windows of it were recorded. has_whole false: the
	 * other fields are not set.
	 */
	bool has_whole;
	int64_t whole_ns; /* KWHY_UNKNOWN_NS */
	int64_t whole_nj, whole_low_nj,
		whole_high_nj; /* 90 % interval, from how windows differ and from the interval of gross_nj */
	double whole_error_ratio; /* half of the 90 % interval from how windows differ, over the energy of the
				     whole run, or over its time where no energy is known; NAN: unknown */
};

/* An interval in which everything that ran is known, and the device's idle time in it by reason. */
struct kwhy_covered_window {
	int64_t start_ns, end_ns;
	int64_t idle_ns[KWHY_CATEGORY_OUTSIDE - KWHY_CATEGORY_SYNC + 1];
};

struct kwhy_unrecorded_interval {
	int64_t start_ns, end_ns;
};

/*
 * Time before the first or after the last activity in which a device had no context. Its power samples show
 * this by a lower level than next to the activities (ledger/energy/clean_idle.h).
 */
struct kwhy_clean_stretch {
	int64_t start_ns, end_ns;
};

enum { KWHY_CLEAN_STRETCHES_MAX = 2 }; /* one before, one after */

/* Time without a context in which the device had not settled: it drew more than at idle with a context. */
struct kwhy_elevated_idle {
	int64_t start_ns, end_ns;
	double power_w; /* mean of its samples */
};

/* Which part of a device's run was recorded, and how well the recorded windows represent the run. */
struct kwhy_coverage_sum {
	uint32_t choice;			/* enum kwhy_choice */
	int64_t start_ns, end_ns;		/* interval that the ledger covers */
	int64_t known_ns;			/* recorded part of the interval */
	int64_t select_start_ns, select_end_ns; /* windows lie in between; both 0: nothing left out */
	size_t drawn_count;			/* windows in that interval; drawn_ns: sum of their lengths */
	int64_t drawn_ns;
	double share_error_ratio; /* largest whole_error_ratio of an account; NAN: the windows do not show it
				   */
	struct kwhy_covered_window *windows;
	size_t window_count;
	struct kwhy_unrecorded_interval *unrecorded; /* between the windows, in order */
	size_t unrecorded_count;
	bool is_in_windows; /* true: some of the unrecorded time lies outside of probing; false: a probe was
			       at work in all of it */
};

/* Accounts that the readings cannot distinguish, so that only their sum is known. */
struct kwhy_account_group {
	uint32_t *members; /* account indexes */
	size_t member_count;
	int64_t gross_nj, low_nj, high_nj;
};

/*
 * Accounts that share a power. power_w is the posterior mean of the device's gross power while one of them
 * runs alone.
 */
struct kwhy_power_class {
	double power_w, low_w, high_w;
	double prior_power_w;
	double spread;	 /* standard deviation of the logarithm of its power above idle, in place */
	bool is_learnt;	 /* prior_power_w comes from another recording (--powers) */
	bool is_decided; /* the readings decide the power, and one account alone has it */
};

/*
 * Energy of one device. measured = attributed, exactly = sum of accounts' gross. clean_idle + context_idle +
 * net = measured. These are layers over the whole metered window: the clean idle level, what a live context
 * draws above the clean level, and what the work drew above both.
 */
struct kwhy_device_energy {
	bool known;		  /* metered or modelled energy exists */
	bool modelled;		  /* the user gave the powers; no meter */
	const char *source;	  /* "nvml.energy_mj", "nvml.sample_mw", ... "modelled"; NULL: unknown */
	int64_t start_ns, end_ns; /* metered window */
	int64_t metered_ns; /* part of the window that readings cover; with modelled energy, the part that was
			       recorded */
	int64_t measured_nj, attributed_nj;
	double sampling_ratio; /* half of the 90 % interval of measured_nj over measured_nj. It holds power
				  changes between readings, the uncertain ends of the recording and what
				  averaging meters leave open; the accounts' intervals include it */
	int64_t clean_idle_nj; /* KWHY_UNKNOWN_NJ: the clean level is unknown, and context_idle_nj holds both
				*/
	int64_t context_idle_nj, execution_idle_nj, net_nj;
	int64_t edge_nj;    /* estimate for the run's unmetered time: time of each account in it times the
			       account's mean power; not in measured_nj */
	int64_t edge_ns;    /* length of the run's unmetered time; 0 also where nothing is metered */
	int64_t between_nj; /* metered energy of unrecorded time between the run's first start and last end */
	int64_t between_ns; /* length of that time; 0: no reading lies in it */
	double clean_idle_w, context_idle_w; /* idle levels used; NAN: unknown */
	bool clean_idle_measured,	     /* clean_idle_w is from clean stretches of this recording */
		context_idle_measured; /* context_idle_w is from idle intervals of this recording, not from a
					  profile */
	double expected_wrong_ratio;   /* expected share of energy on the wrong account; NAN: unknown */
	double counter_check_ratio; /* root mean square, over counter updates, of modelled over counted energy
				       less 1; NAN: unknown */
	double highest_sample_w;    /* NAN: no samples */
	double time_constant_s, delay_s; /* posterior means of the meter's response; NAN: not fitted */
	size_t reading_count;		 /* readings used for the powers */
};

/*
 * Ratio of metered to modelled energy by interval: the energy of an interval is its modelled energy times the
 * scale.
 */
struct kwhy_energy_curve {
	int64_t *edge_ns; /* [count + 1] */
	double *scale;	  /* [count]; NAN: no reading lies in the interval */
	size_t count;
	double unmetered_scale; /* for time outside of all intervals: estimated over modelled energy of the
				   run's unmetered time */
};

/*
 * Modelled power of a device over time. power_mw[i] is the mean over the recorded part of [time_ns[i],
 * time_ns[i + 1]); -1: no part of it was recorded. The last time ends the curve.
 */
struct kwhy_power_curve {
	int64_t *time_ns;
	int64_t *power_mw;
	size_t count; /* 0: no energy is known */
};

/* Whether a window is one of the random ones, and does not lie after them, where everything was recorded. */
static inline bool kwhy_window_is_drawn(
	const struct kwhy_coverage_sum *coverage, const struct kwhy_covered_window *window)
{
	return window->start_ns >= coverage->select_start_ns && window->end_ns <= coverage->select_end_ns;
}

/*
 * The account as it is reported. The ledger has 0 nJ for an account that no reading covers, as its accounts
 * add up to the metered energy; such an account is reported with unknown energy.
 */
static inline struct kwhy_account kwhy_account_reported(
	const struct kwhy_device_energy *energy, const struct kwhy_account *account)
{
	struct kwhy_account reported = *account;

	if (!energy->modelled && account->gross_nj == 0 && account->time_ns > 0) {
		reported.gross_nj = reported.idle_nj = reported.net_nj = reported.low_nj = reported.high_nj =
			KWHY_UNKNOWN_NJ;
		reported.basis = KWHY_BASIS_NONE;
	}
	return reported;
}

/* What an idle device waited for, as far as host ranges show it. */
enum kwhy_host_wait_reason {
	KWHY_HOST_WAIT_RANGE,	 /* the host was in a range */
	KWHY_HOST_WAIT_OUTSIDE,	 /* the host was in no range */
	KWHY_HOST_WAIT_LAUNCHED, /* the work that ended the gap had been launched and had not begun */
	KWHY_HOST_WAIT_UNLINKED, /* no call is known to have issued the work that ended the gap */
	KWHY_HOST_WAIT_REASON_COUNT
};

const char *kwhy_host_wait_reason_name(enum kwhy_host_wait_reason reason); /* "range", "outside", ... */

/*
 * Idle time of a device while one range was the innermost of the host (model/host_time.h). The sums of a
 * device add up to its idle time, exactly.
 */
struct kwhy_host_sum {
	uint32_t what;	     /* enum kwhy_host_wait_reason */
	uint32_t kind;	     /* enum kwhy_host_kind, of a range */
	uint32_t name;	     /* 0: all steps together, without the ranges in them */
	uint32_t file, line; /* position of the user's code in that range; 0: unknown */
	uint64_t gaps;	     /* gaps that hold some of time_ns */
	int64_t time_ns;
	int64_t longest_ns; /* largest share of one gap */
};

struct kwhy_device_ledger {
	struct kwhy_coverage_sum coverage;
	struct kwhy_device_time time;
	struct kwhy_clean_stretch clean[KWHY_CLEAN_STRETCHES_MAX];
	size_t clean_count;
	struct kwhy_elevated_idle elevated_idle[KWHY_CLEAN_STRETCHES_MAX];
	size_t elevated_idle_count;
	struct kwhy_device_energy energy;
	struct kwhy_account *accounts; /* sorted by gross energy, or by time without energy, descending */
	size_t account_count;
	struct kwhy_account_group *groups;
	size_t group_count;
	struct kwhy_power_class *classes;
	size_t class_count;
	struct kwhy_energy_curve curve;
	struct kwhy_host_sum *host_sums; /* by time_ns, descending */
	size_t host_sum_count;
	uint32_t *account_of; /* [activities of this device], by row less activities.first[device] */
};

struct kwhy_api_sum {
	uint32_t name;
	uint64_t count;
	int64_t total_ns;
};

/*
 * All ranges of one name and kind, or one step. The work of a range is what its own thread launched inside
 * it; of a step, what the whole process launched; of a range of unknown thread, what all processes launched.
 * Nested ranges count the same work each. The window is the range itself, on every device on which its
 * process has streams.
 */
struct kwhy_range_sum {
	uint32_t name;
	uint32_t kind;
	uint64_t count;
	int64_t host_ns;	 /* sum of lengths */
	int64_t start_ns;	 /* start of the first range */
	uint64_t activity_count; /* activities launched inside; 0 is a known count if `linked` */
	bool linked;		 /* activities could be linked to calls */
	int64_t device_ns;	 /* sum of the durations of these activities */
	int64_t busy_ns;   /* union of device activity inside the range's window, summed over all devices of
			      its process */
	int64_t energy_nj; /* energy of the activities launched inside; KWHY_UNKNOWN_NJ */
	int64_t window_energy_nj; /* energy of the devices in the window, idle included; KWHY_UNKNOWN_NJ */
	/*
	 * Means over the devices; NAN: unknown. sm_weighted_ratio is NAN where kernels of unknown grid ran
	 * for more than a tenth of the busy time.
	 */
	double busy_ratio, sm_weighted_ratio;
};

/*
 * All steps together. The steps of a process form loops; other work in a long pause between two steps begins
 * a new loop (sums/sums_loop.c). A loop lasts from the start of its first step to the end of the work
 * launched in it. Divided by the number of steps this is the time of one step with the work that it queues.
 */
struct kwhy_loop_sum {
	int64_t start_ns, end_ns; /* earliest start, latest end */
	int64_t time_ns;	  /* sum over loops */
	int64_t energy_nj;	  /* all devices of the loops' processes, idle included; KWHY_UNKNOWN_NJ */
};

/* Devices with work, for comparison; imbalance is the range of a column's values. */
struct kwhy_rank_sum {
	uint32_t rank;
	uint32_t device;
	int64_t span_ns, busy_ns;
	int64_t compute_ns; /* union of kernels that are not collectives, overlapped or not */
	int64_t collective_exposed_ns;
	int64_t energy_nj; /* measured, else modelled; KWHY_UNKNOWN_NJ */
};

struct kwhy_stream_sum {
	uint32_t stream;
	uint64_t count;
	int64_t busy_ns, total_ns;
	int64_t alone_ns; /* busy while no other stream of the device was busy */
};

struct kwhy_memory_sum {
	uint32_t device;
	uint64_t peak_allocated_bytes, peak_reserved_bytes, device_bytes; /* KWHY_UNKNOWN_BYTES */
	uint64_t unused_bytes; /* device less peak reserved (or allocated); KWHY_UNKNOWN_BYTES */
	size_t point_count;
	/* How often the processes' memory grew and shrank, and the sum of the growths. */
	uint64_t taken_count, given_back_count, taken_bytes;
};

struct kwhy_host_energy {
	const char *source; /* "rapl.package-0_uj" */
	const char *host;   /* set where the recording has meters of several machines; NULL: one machine, or
			       unknown */
	uint32_t machine;   /* index into the recording's machines; KWHY_NONE: unknown */
	int64_t start_ns, end_ns;
	int64_t measured_nj;
};

/*
 * What the measuring itself took of a run. The kinds of enum kwhy_cost_kind come first, with their own
 * numbers. They are processor time or time that the program waited. The joules of processor time are modelled
 * where RAPL's energy and the busy time of all CPUs are known: their share of the packages' energy is their
 * share of the busy time. The joules of waiting are unknown.
 */
enum kwhy_overhead_kind {
	KWHY_OVERHEAD_PROFILER = KWHY_COST_KIND_COUNT, /* time taken from threads of the program, as the
							  profiler itself reports */
	KWHY_OVERHEAD_DEVICE, /* idle time of a device during the overhead, modelled at its idle level */
	KWHY_OVERHEAD_KIND_COUNT
};

/* "thread", "buffers", ... "sampler", "profiler", "device_idle". */
const char *kwhy_overhead_kind_name(uint32_t kind);

struct kwhy_overhead_sum {
	uint32_t kind;	 /* enum kwhy_overhead_kind */
	uint32_t device; /* KWHY_NONE: the host */
	uint64_t count;	 /* number of occurrences; 0: not counted */
	int64_t time_ns;
	int64_t energy_nj; /* KWHY_UNKNOWN_NJ */
};

/*
 * The least time of the stated work at the peaks of the machine profile, with the work divided among all
 * active devices: "flop_fp32", "flop_bf16", ... at the peaks of arithmetic, "bytes" at the peak rate of the
 * device's memory. Stated work is that of the whole run, so its time is the span of the device that runs
 * longest, unrecorded time included.
 */
struct kwhy_roofline_sum {
	double arithmetic_s, memory_s; /* NAN: no such work was stated, or `ratio` is unknown */
	double ratio; /* the larger of both over the time of the run; at most 1.02; NAN: unknown */
};

struct kwhy_ledger {
	struct kwhy_arena arena;
	size_t device_count;
	struct kwhy_device_ledger *devices; /* in the order of the recording */
	struct kwhy_api_sum *api;	    /* by total_ns, descending */
	struct kwhy_range_sum *ranges, *steps;
	struct kwhy_loop_sum loop; /* of all steps; zeros without steps */
	struct kwhy_rank_sum *ranks;
	struct kwhy_stream_sum *streams;
	struct kwhy_memory_sum *memory;
	struct kwhy_host_energy *hosts;
	struct kwhy_overhead_sum *overheads;
	struct kwhy_roofline_sum roofline;
	size_t api_count, range_count, step_count, rank_count, stream_count, memory_count, host_count,
		overhead_count;
	struct kwhy_note *notes; /* remarks on the figures */
	size_t note_count;
};

/*
 * Energy of one activity row, from its account's power and the metered scale at its time; NAN when unknown.
 * Energy is not divided among concurrent activities here; use accounts for sums that must balance.
 */
double kwhy_ledger_activity_nj(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, size_t activity);

/* Index of the curve's interval that holds time_ns; curve->count: time_ns is in no interval. */
static inline size_t kwhy_energy_curve_piece(const struct kwhy_energy_curve *curve, int64_t time_ns)
{
	size_t low = 0, high = curve->count;

	if (curve->count == 0 || time_ns < curve->edge_ns[0] || time_ns >= curve->edge_ns[curve->count])
		return curve->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (curve->edge_ns[middle] <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Whether some of [start_ns, end_ns) is unrecorded time, between the windows in which it is known what ran.
 */
static inline bool kwhy_ledger_is_unrecorded(
	const struct kwhy_device_ledger *device_ledger, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_coverage_sum *sum = &device_ledger->coverage;
	size_t low = 0, high = sum->unrecorded_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sum->unrecorded[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sum->unrecorded_count && sum->unrecorded[low].start_ns < end_ns;
}

/* Energy that an idle interval of a device drew; NAN when unknown. */
double kwhy_ledger_idle_nj(
	const struct kwhy_ledger *ledger, uint32_t device, int64_t start_ns, int64_t end_ns);

#endif
