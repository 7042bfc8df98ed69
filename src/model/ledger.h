/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_LEDGER_H
#define KWHY_MODEL_LEDGER_H

#include "base/arena.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The ledger of one recording attributes every nanosecond of each device to one category and every metered
 * nanojoule to one account. Nothing changes a ledger after it was made. All its memory lies in its arena.
 */

#define KWHY_UNKNOWN_NJ INT64_MIN
#define KWHY_UNKNOWN_NS INT64_MIN

enum kwhy_category {
	KWHY_CATEGORY_COMPUTE,
	KWHY_CATEGORY_COLLECTIVE,
	KWHY_CATEGORY_COPY,
	KWHY_CATEGORY_MEMSET,
	KWHY_CATEGORY_OVERLAP, /* a copy or collective runs at the same time as compute; no account has this
				  category */
	KWHY_CATEGORY_SYNC,    /* the device is idle, and the host is blocked in a synchronising call */
	KWHY_CATEGORY_LAUNCH,  /* the device is idle, and the host is inside launch calls */
	KWHY_CATEGORY_ALLOC,   /* the device is idle, and the host is inside malloc or free */
	KWHY_CATEGORY_HOST,    /* the device is idle, and the host is in no call of the three kinds above */
	KWHY_CATEGORY_IDLE, /* the device is idle for an unknown reason, as the recording has no API calls */
	KWHY_CATEGORY_OUTSIDE,	  /* metered time before the first or after the last activity */
	KWHY_CATEGORY_PROBING,	  /* activities that kwhy probe added between the program's own work, and the
				     gaps between these */
	KWHY_CATEGORY_UNRECORDED, /* metered time between the windows in which activities were recorded; what
				     ran then is unknown */
	KWHY_CATEGORY_COUNT
};

const char *kwhy_category_name(enum kwhy_category category);
/* category of the time in which only activities of this kind (enum kwhy_activity_kind) run */
enum kwhy_category kwhy_category_of_kind(uint32_t kind);
/* category of idle time in this enum kwhy_host_state (host_wait.h) */
enum kwhy_category kwhy_category_of_wait(uint32_t state);
/* true for KWHY_CATEGORY_SYNC to KWHY_CATEGORY_OUTSIDE, in the order of the enum */
bool kwhy_category_is_idle(enum kwhy_category category);

struct kwhy_copy_sum {
	uint32_t kind, src_memory, dst_memory;
	/* bytes: sum over the copies of known size; unknown_bytes: number of the copies of unknown size */
	uint64_t count, bytes, unknown_bytes;
	int64_t total_ns;
};

/*
 * Copies of one kind, one pair of memory kinds and one size class. Size class c holds copies of [2^c,
 * 2^(c+1)) bytes; class 0 also holds copies of 0 bytes. size_class is KWHY_NONE for copies of unknown size.
 */
struct kwhy_copy_class_sum {
	uint32_t kind, src_memory, dst_memory, size_class;
	uint64_t count, bytes;
	int64_t total_ns;
};

/*
 * Time of one device by categories that do not overlap. compute + collective + copy + memset + overlap =
 * busy. sync + launch + alloc + host = idle; these four are KWHY_UNKNOWN_NS if the recording has no API
 * calls. busy + idle + probing + unrecorded = span. All times except span_ns, unrecorded_ns and the totals of
 * activities cover recorded time only.
 */
struct kwhy_device_time {
	int64_t first_ns, last_ns; /* start of the first activity, end of the last one */
	int64_t span_ns, busy_ns, idle_ns, unrecorded_ns;
	int64_t probing_ns; /* time in which kwhy probe was at work, which is not part of the program's run */
	int64_t probing_idle_ns; /* part of probing_ns in which nothing ran */
	int64_t compute_ns, collective_ns, copy_ns, memset_ns, overlap_ns;
	int64_t sync_ns, launch_ns, alloc_ns, host_ns;
	uint64_t idle_gaps; /* number of idle intervals inside the span; an activity of zero length splits one
			       into two */
	/* number of idle intervals of which some time is of category sync, launch, alloc or host */
	uint64_t sync_gaps, launch_gaps, alloc_gaps, host_gaps;

	uint64_t kernel_count; /* number of kernels, collectives and graph launches */
	int64_t kernel_total_ns, kernel_union_ns;
	uint64_t collective_count;
	int64_t collective_total_ns, collective_union_ns;
	int64_t collective_overlap_ns; /* time in which a collective and a computing kernel both ran */
	int64_t collective_exposed_ns; /* collective_union_ns minus collective_overlap_ns */
	int64_t copy_total_ns, copy_union_ns;
	uint64_t copy_count;
	uint64_t memset_count, memset_bytes, memset_unknown_bytes;
	int64_t memset_total_ns, memset_union_ns;
	uint64_t small_h2d_count; /* number of copies from host to device of fewer than 4096 bytes */
	uint64_t graph_count;

	uint32_t stream_count, max_concurrency;
	double mean_concurrency; /* sum of the activities' durations divided by busy_ns; NAN: the device was
				    never busy */

	/*
	 * Utilisations in the recorded part of the span; NAN: unknown. busy_ratio: share of the time in which
	 * anything ran.
	 */
	double busy_ratio;
	double sm_weighted_ratio; /* resident blocks divided by the blocks that the device can hold, as the
				     mean over the recorded part of the span; kernels of unknown grid count as
				     0 blocks. NAN if the grids of all kernels are unknown */
	double sm_weighted_known_ratio; /* share of kernel_total_ns that is of kernels whose grid is known */
	double roofline_ratio; /* `ratio` of struct kwhy_roofline_sum; NAN: unknown, or the device was not
				  active */

	struct kwhy_copy_sum *copies;
	size_t copy_sum_count;
	struct kwhy_copy_class_sum *copy_classes;
	size_t copy_class_count;
};

/*
 * Length of the device's run, from its first activity to the end of its last, without the time in which kwhy
 * probe was at work.
 */
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
	KWHY_BASIS_DATA,    /* the meter readings decide the figure */
	KWHY_BASIS_LEARNT,  /* another recording (--powers) decides the figure; the readings hardly changed it
			     */
	KWHY_BASIS_ASSUMED, /* the figure is close to the assumed one; the readings hardly changed it */
	KWHY_BASIS_GROUPED, /* only the sum of the account's group is known */
	KWHY_BASIS_MODELLED, /* no meter; the user gave the powers */
	KWHY_BASIS_NONE,     /* no energy is known */
	KWHY_BASIS_COUNT
};

const char *kwhy_basis_name(enum kwhy_basis basis);

/*
 * One row of a device's ledger. Energies are KWHY_UNKNOWN_NJ if there are no power data. gross_nj = idle_nj +
 * net_nj. idle_nj is what the device would have drawn in the account's share of the time if nothing had run:
 * the power with a context alone or, where the device had no context, the power without one.
 */
struct kwhy_account {
	uint32_t category; /* enum kwhy_category */
	const char *name;  /* name of a kernel, "h2d pageable->device 4-8 KB", "idle: host in synchronize" */
	uint64_t count;	   /* number of activities, or of idle gaps */
	uint64_t bytes;	   /* sum over copies and memsets of known size; 0 for other accounts */
	int64_t time_ns;   /* sum of durations */
	int64_t gross_nj, idle_nj, net_nj;
	int64_t low_nj, high_nj; /* 90 % interval of gross_nj */
	int64_t mean_power_mw;	 /* gross_nj divided by the metered part of time_ns; -1: unknown */
	uint32_t basis;		 /* enum kwhy_basis */
	uint32_t group;		 /* index into groups; KWHY_NONE: no group */
	uint32_t power_class;	 /* index into classes: accounts of one class share one power */
	bool is_probing_idle;	 /* the account has the time of category probing in which nothing ran */
	bool is_clean; /* the account is the part of category outside in which the device had no context and
			  drew its clean idle power */
	/* Whether the lower end of the 90 % interval of the mean power is above this limit: */
	bool above_samples; /* the highest power sample, which a mean power may exceed because the meter
			       averages */
	bool above_limit;   /* the enforced power limit, which short activities may exceed */
	/*
	 * Estimates for the whole run if only random windows of it were recorded. has_whole false: there are
	 * no estimates, and the fields whole_* are not set.
	 */
	bool has_whole;
	int64_t whole_ns; /* estimated time in the whole run; KWHY_UNKNOWN_NS: unknown */
	int64_t whole_nj, whole_low_nj,
		whole_high_nj; /* energy in the whole run with its 90 % interval, which combines the variation
				  between windows with the interval of gross_nj */
	double whole_error_ratio; /* half-width of the 90 % interval due to the variation between windows
				     alone, as a share of the energy in the whole run or, if no energy is
				     known, of the time; NAN: unknown */
};

/*
 * A window: an interval in which all activities were recorded. idle_ns[i] is the device's idle time in the
 * window of category KWHY_CATEGORY_SYNC + i.
 */
struct kwhy_covered_window {
	int64_t start_ns, end_ns;
	int64_t idle_ns[KWHY_CATEGORY_OUTSIDE - KWHY_CATEGORY_SYNC + 1];
};

struct kwhy_unrecorded_interval {
	int64_t start_ns, end_ns;
};

/*
 * Time before the first or after the last activity in which a device had no context. Its power samples show
 * this: they are lower than those close to the activities (ledger/energy/clean_idle.h).
 */
struct kwhy_clean_stretch {
	int64_t start_ns, end_ns;
};

enum { KWHY_CLEAN_STRETCHES_MAX = 2 }; /* one before the first activity, one after the last */

/*
 * Time before the first or after the last activity in which the device drew more than its context idle power
 * (elevated idle).
 */
struct kwhy_elevated_idle {
	int64_t start_ns, end_ns;
	double power_w; /* mean of the power samples in this time */
};

/* Which part of a device's run was recorded, and how well the recorded windows represent the whole run. */
struct kwhy_coverage_sum {
	uint32_t choice;			/* enum kwhy_choice: how the user chose what was recorded */
	int64_t start_ns, end_ns;		/* the interval that the ledger covers */
	int64_t known_ns;			/* length of the recorded part of start_ns to end_ns */
	int64_t select_start_ns, select_end_ns; /* the interval in which the user's `choice` restricted what
						   was recorded; both 0: all of the run was recorded */
	size_t drawn_count; /* number of windows in the interval from select_start_ns to select_end_ns;
			       drawn_ns is the sum of their lengths */
	int64_t drawn_ns;
	double share_error_ratio; /* largest whole_error_ratio of an account; NAN: it cannot be computed from
				     the windows */
	struct kwhy_covered_window *windows;
	size_t window_count;
	struct kwhy_unrecorded_interval *unrecorded; /* intervals between the windows, in order of time */
	size_t unrecorded_count;
	bool is_in_windows; /* true: the recording consists of windows with unrecorded time between them;
			       false: unrecorded time, if any, is only that of kwhy probe */
};

/* Accounts that the readings cannot distinguish, so that only their sum is known. */
struct kwhy_account_group {
	uint32_t *members; /* account indexes */
	size_t member_count;
	int64_t gross_nj, low_nj, high_nj;
};

/*
 * Accounts that share one power. power_w is the posterior mean of the device's gross power while an activity
 * of one of these accounts runs alone, with its 90 % interval.
 */
struct kwhy_power_class {
	double power_w, low_w, high_w;
	double prior_power_w;
	double spread;	/* standard deviation of the power above idle of the class's activities while they run
			   in place, that is between the program's other work, as a share of that power; NAN:
			   unknown */
	bool is_learnt; /* prior_power_w comes from another recording (--powers) */
	bool is_decided; /* the readings decide the power, and only one account is in the class */
};

/*
 * Energy of one device. measured_nj and attributed_nj are equal: both are exactly the sum of gross_nj over
 * the accounts. measured_nj also is the sum of clean_idle_nj (what the device would have drawn without a
 * context), context_idle_nj (what a live context draws above that) and net_nj (what the work drew above
 * both), each over the whole metered window.
 */
struct kwhy_device_energy {
	bool known;		  /* metered or modelled energy exists */
	bool modelled;		  /* the user gave the powers; no meter */
	const char *source;	  /* "nvml.energy_mj", "nvml.sample_mw", ... "modelled"; NULL: unknown */
	int64_t start_ns, end_ns; /* start and end of the metered window */
	int64_t metered_ns; /* part of that window that readings cover; with modelled energy, the recorded
			       part */
	int64_t measured_nj, attributed_nj;
	double sampling_ratio; /* half-width of the 90 % interval of measured_nj, as a share of measured_nj.
				  The interval covers changes of the power between readings, the uncertain
				  ends of the recording, and what the averaging of meters hides. The accounts'
				  intervals include it */
	int64_t clean_idle_nj; /* KWHY_UNKNOWN_NJ: the clean idle power is unknown, and context_idle_nj
				  contains both parts */
	int64_t context_idle_nj, execution_idle_nj, net_nj;
	int64_t edge_nj;    /* estimated energy of the run's unmetered time, which is not part of measured_nj:
			       the sum, over the accounts, of an account's unmetered time times its mean power */
	int64_t edge_ns;    /* length of the run's unmetered time; 0 also if the device has no readings */
	int64_t between_nj; /* metered energy in unrecorded time between the start of the device's first
			       activity and the end of its last */
	int64_t between_ns; /* length of the metered part of that unrecorded time; 0: no reading lies in it */
	/* time of the run in which performance counters were enabled, and what that drew; no other energy
	 * contains it */
	int64_t counting_ns, counting_nj;
	double clean_idle_w, context_idle_w; /* idle levels that the ledger uses; NAN: unknown */
	bool clean_idle_measured, /* clean_idle_w was measured in this recording, in time without a context;
				     false: it is from a profile */
		context_idle_measured; /* context_idle_w was measured in this recording, in idle intervals;
					  false: it is from a profile */
	double expected_wrong_ratio; /* expected share of the energy that is on a wrong account; NAN: unknown
				      */
	double counter_check_ratio;  /* root mean square, over the counter's updates, of the relative
					difference between modelled and counted energy; NAN: unknown */
	double highest_sample_w;     /* highest power sample; NAN: no samples */
	/*
	 * time constant of the meter's low-pass filter, and delay of its readings, as posterior means; NAN:
	 * not fitted
	 */
	double time_constant_s, delay_s;
	size_t reading_count; /* number of readings that the powers were fitted to */
};

/*
 * Ratio of metered to modelled energy in consecutive intervals: scale[i] applies from edge_ns[i] to edge_ns[i
 * + 1]. The metered energy of a part of an interval is estimated as the modelled energy of that part times
 * the interval's scale.
 */
struct kwhy_energy_curve {
	int64_t *edge_ns; /* [count + 1] ends of the intervals */
	double *scale;	  /* [count]; NAN: no reading lies in the interval */
	size_t count;
	double unmetered_scale; /* ratio of estimated to modelled energy for the run's time outside of all
				   intervals */
};

/*
 * Modelled power of a device over time. power_mw[i] is the mean over the recorded part of the interval from
 * time_ns[i] to time_ns[i + 1]; -1: no part of the interval was recorded. time_ns[count - 1] is the end of
 * the curve.
 */
struct kwhy_power_curve {
	int64_t *time_ns;
	int64_t *power_mw;
	size_t count; /* number of times; 0: no energy is known */
};

/*
 * Whether a window lies in the interval of which only random windows were recorded (select_start_ns to
 * select_end_ns). False: it lies in the part of the run that was recorded completely.
 */
static inline bool kwhy_window_is_drawn(
	const struct kwhy_coverage_sum *coverage, const struct kwhy_covered_window *window)
{
	return window->start_ns >= coverage->select_start_ns && window->end_ns <= coverage->select_end_ns;
}

/*
 * A copy of the account for reports. An account whose time no reading covers has 0 nJ in the ledger, so that
 * the accounts add up to the metered energy; in the copy its energies are unknown.
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
 * Sum of a device's idle time during which the host's innermost range had one name, kind and source position
 * (model/host_time.h), or, for `what` other than KWHY_HOST_WAIT_RANGE, during which the host was in no known
 * range. The sums of a device add up to its idle time exactly.
 */
struct kwhy_host_sum {
	uint32_t what;	     /* enum kwhy_host_wait_reason */
	uint32_t kind;	     /* kind of the range, enum kwhy_host_kind */
	uint32_t name;	     /* name of the range; 0: all steps together, without the ranges in them */
	uint32_t file, line; /* position in the user's source from which the range was reached; 0: unknown */
	uint64_t gaps;	     /* number of gaps with some of time_ns */
	int64_t time_ns;
	int64_t longest_ns; /* longest part of a single gap */
};

struct kwhy_device_ledger {
	struct kwhy_coverage_sum coverage;
	struct kwhy_device_time time;
	struct kwhy_clean_stretch clean[KWHY_CLEAN_STRETCHES_MAX];
	size_t clean_count;
	struct kwhy_elevated_idle elevated_idle[KWHY_CLEAN_STRETCHES_MAX];
	size_t elevated_idle_count;
	struct kwhy_device_energy energy;
	/* sorted by gross_nj, the largest first, or by time_ns if no energy is known */
	struct kwhy_account *accounts;
	size_t account_count;
	struct kwhy_account_group *groups;
	size_t group_count;
	struct kwhy_power_class *classes;
	size_t class_count;
	struct kwhy_energy_curve curve;
	struct kwhy_host_sum *host_sums; /* sorted by time_ns, the longest first */
	size_t host_sum_count;
	uint32_t *account_of; /* account index of each activity of this device; its position is the activity's
				 row minus activities.first[device] */
};

struct kwhy_api_sum {
	uint32_t name;
	uint64_t count;
	int64_t total_ns;
};

/*
 * Sum over all ranges of one name and kind, or over one step. The activities of a range are those that its
 * own thread launched inside it; the activities of a step are those that any thread of its process launched
 * during it. If the thread of a range is unknown, the activities of the range are those that any process
 * launched during it. An activity launched inside nested ranges counts in each of them. The window of a range
 * is the range's own interval, on every device on which its process has streams.
 */
struct kwhy_range_sum {
	uint32_t name;
	uint32_t kind;
	uint64_t count;
	int64_t host_ns;	 /* sum of the ranges' lengths */
	int64_t start_ns;	 /* start of the first of the ranges */
	uint64_t activity_count; /* number of activities launched inside the ranges; if `linked` is false, 0
				    means unknown */
	bool linked;		 /* true: the recording links activities to calls */
	int64_t device_ns;	 /* sum of the durations of the activities launched inside the ranges */
	int64_t busy_ns;   /* time in which a device was active during the windows, summed over all devices of
			      the process */
	int64_t energy_nj; /* energy of the activities launched inside; KWHY_UNKNOWN_NJ: unknown */
	int64_t window_energy_nj; /* energy of the devices in the windows, idle included; KWHY_UNKNOWN_NJ:
				     unknown */
	/*
	 * Means over the devices; NAN: unknown. sm_weighted_ratio is NAN where kernels of unknown grid ran
	 * for more than a tenth of the busy time.
	 */
	double busy_ratio, sm_weighted_ratio;
};

/*
 * All steps together. The consecutive steps of a process form a loop. A long pause between two steps in which
 * the process launches other work ends a loop (ledger/sums/sums_loop.c). A loop lasts from the start of its
 * first step to the end of its last step or, if later, of the activities launched in its steps. time_ns
 * divided by the number of steps is the mean time of a step with its activities.
 */
struct kwhy_loop_sum {
	int64_t start_ns, end_ns; /* start of the first loop, end of the last one */
	int64_t time_ns;	  /* sum of the lengths of the loops */
	int64_t energy_nj; /* energy of all devices of the loops' processes, idle included; KWHY_UNKNOWN_NJ:
			      unknown */
};

/*
 * Figures of one device that had activities, for comparing the ranks of a distributed program. Reports
 * compute the imbalance of the ranks from these figures.
 */
struct kwhy_rank_sum {
	uint32_t rank;
	uint32_t device;
	int64_t span_ns, busy_ns;
	int64_t compute_ns; /* time in which at least one kernel other than a collective ran, whether or not a
			       collective ran, too */
	int64_t collective_exposed_ns;
	int64_t energy_nj; /* measured energy, else modelled energy; KWHY_UNKNOWN_NJ: unknown */
};

struct kwhy_stream_sum {
	uint32_t stream;
	uint64_t count;
	int64_t busy_ns, total_ns;
	int64_t alone_ns; /* time in which this stream was the only busy one of the device */
};

struct kwhy_memory_sum {
	uint32_t device;
	uint64_t peak_allocated_bytes, peak_reserved_bytes, device_bytes; /* KWHY_UNKNOWN_BYTES: unknown */
	uint64_t unused_bytes; /* device_bytes minus peak_reserved_bytes, or minus peak_allocated_bytes where
				  that is unknown; KWHY_UNKNOWN_BYTES: unknown */
	size_t point_count;
	/*
	 * Number of times that the memory held by a process on the device grew (taken_count) and shrank
	 * (given_back_count), and sum of the growths in bytes.
	 */
	uint64_t taken_count, given_back_count, taken_bytes;
};

struct kwhy_host_energy {
	const char *source; /* "rapl.package-0_uj" */
	const char *host; /* name of the machine if the recording has meters of several machines; NULL: it has
			     meters of one machine, or the name is unknown */
	uint32_t machine; /* index into the recording's machines; KWHY_NONE: unknown */
	int64_t start_ns, end_ns;
	int64_t measured_nj;
};

/*
 * What recording a run cost, as processor time or as time that the program waited. The first kinds are those
 * of enum kwhy_cost_kind, with the same numbers. The energy of processor time is modelled if the CPU
 * packages' energy (RAPL) and the busy time summed over all CPUs are known: it is the packages' energy times
 * the ratio of the processor time to that busy time. The energy of waiting is unknown.
 */
enum kwhy_overhead_kind {
	KWHY_OVERHEAD_PROFILER = KWHY_COST_KIND_COUNT, /* time taken from threads of the program, as the
							  profiler itself reports */
	KWHY_OVERHEAD_DEVICE, /* idle time of a device during the profiler's overhead; its energy is modelled
				 from the device's idle power */
	KWHY_OVERHEAD_COUNTERS, /* time of a device's run in which its performance counters were enabled */
	KWHY_OVERHEAD_KIND_COUNT
};

/* Name of an overhead's kind: "thread", "buffers", ... "sampler", "profiler", "device_idle". */
const char *kwhy_overhead_kind_name(uint32_t kind);

struct kwhy_overhead_sum {
	uint32_t kind;	 /* enum kwhy_overhead_kind */
	uint32_t device; /* KWHY_NONE: the host */
	uint64_t count;	 /* number of events that cost this time; 0: not counted */
	int64_t time_ns;
	int64_t energy_nj; /* KWHY_UNKNOWN_NJ: unknown */
};

/*
 * Roofline of the run: the least time in which all active devices together can do the stated work at the
 * peaks of the machine profile. Work in "flop_fp32", "flop_bf16", ... is limited by the peaks of arithmetic,
 * work in "bytes" by the peak rate of the device's memory. Stated work is that of the whole run; the time of
 * the run is the span of the device that runs longest, unrecorded time included.
 */
struct kwhy_roofline_sum {
	double arithmetic_s, memory_s; /* NAN: no work of this kind was stated, or `ratio` is unknown */
	double ratio; /* the larger of arithmetic_s and memory_s, divided by the time of the run; NAN:
			 unknown, or above 1.02, which the errors of measured peaks do not explain */
};

struct kwhy_ledger {
	struct kwhy_arena arena;
	size_t device_count;
	struct kwhy_device_ledger *devices; /* in the order of the recording */
	struct kwhy_api_sum *api;	    /* sorted by total_ns, the longest first */
	struct kwhy_range_sum *ranges, *steps;
	struct kwhy_loop_sum loop; /* the loops of all steps; all 0 without steps */
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
 * Energy of one activity in nanojoules, from the power of its account and the ratio of metered to modelled
 * energy at that time; NAN: unknown. Each of several concurrent activities has its whole power here, so sums
 * over activities may exceed the metered energy; the accounts' sums do not.
 */
double kwhy_ledger_activity_nj(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, size_t activity);

/* Index of the curve's interval that contains time_ns; curve->count: none does. */
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

/* Whether [start_ns, end_ns) contains unrecorded time, that is, time between the windows. */
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

/* Energy in nanojoules of a device that idles with its context in [start_ns, end_ns); NAN: unknown. */
double kwhy_ledger_idle_nj(
	const struct kwhy_ledger *ledger, uint32_t device, int64_t start_ns, int64_t end_ns);

#endif
