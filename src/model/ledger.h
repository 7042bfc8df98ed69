/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_LEDGER_H
#define KWHY_MODEL_LEDGER_H

#include "base/arena.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Double-entry bookkeeping of one recording: where every nanosecond and every metered nanojoule of each
 * device went. Read-only once made; all memory lies in its arena.
 */

#define KWHY_UNKNOWN_NJ INT64_MIN
#define KWHY_UNKNOWN_NS INT64_MIN

enum kwhy_category {
	KWHY_CATEGORY_COMPUTE,
	KWHY_CATEGORY_COLLECTIVE,
	KWHY_CATEGORY_COPY,
	KWHY_CATEGORY_MEMSET,
	KWHY_CATEGORY_OVERLAP, /* time only: copy or collective under compute; never an account */
	KWHY_CATEGORY_SYNC,    /* idle, host blocked in a synchronising call */
	KWHY_CATEGORY_LAUNCH,  /* idle, host inside launch calls */
	KWHY_CATEGORY_ALLOC,   /* idle, host inside malloc or free */
	KWHY_CATEGORY_HOST,    /* idle, host elsewhere */
	KWHY_CATEGORY_IDLE,    /* idle, the recording has no API calls to say why */
	KWHY_CATEGORY_OUTSIDE, /* inside the metered window, before the first or after the last activity */
	KWHY_CATEGORY_PROBING, /* what kwhy probe did between the program's work: its activities and gaps */
	KWHY_CATEGORY_UNRECORDED, /* metered, but between the windows in which it is known what ran */
	KWHY_CATEGORY_COUNT
};

const char *kwhy_category_name(enum kwhy_category category);
enum kwhy_category kwhy_category_of_kind(uint32_t kind);  /* enum kwhy_activity_kind, running alone */
enum kwhy_category kwhy_category_of_wait(uint32_t state); /* enum kwhy_host_state (host_wait.h), idle */
bool kwhy_category_is_idle(enum kwhy_category category);  /* sync ... outside */

struct kwhy_copy_sum {
	uint32_t kind, src_memory, dst_memory;
	uint64_t count, bytes,
		unknown_bytes; /* bytes: of those that say; unknown_bytes: copies that do not */
	int64_t total_ns;
};

/*
 * Copies again, by kind and size class: bytes in [2^class, 2^(class+1)); class 0 holds 0 and 1 byte;
 * KWHY_NONE: copies that do not say.
 */
struct kwhy_copy_class_sum {
	uint32_t kind, src_memory, dst_memory, size_class;
	uint64_t count, bytes;
	int64_t total_ns;
};

/*
 * Time of one device. Disjoint: compute + collective + copy + memset + overlap = busy;
 * sync + launch + alloc + host = idle (all four KWHY_UNKNOWN_NS when the recording has no calls);
 * busy + idle + probing + unrecorded = span. All but the counts and totals of activities are of known time
 * alone.
 */
struct kwhy_device_time {
	int64_t first_ns, last_ns; /* first start, last end */
	int64_t span_ns, busy_ns, idle_ns, unrecorded_ns;
	int64_t probing_ns;	 /* in which kwhy probe was at work: no time of the program's */
	int64_t probing_idle_ns; /* of that, in which nothing ran */
	int64_t compute_ns, collective_ns, copy_ns, memset_ns, overlap_ns;
	int64_t sync_ns, launch_ns, alloc_ns, host_ns;
	uint64_t idle_gaps; /* idle intervals inside the span; an activity of zero length splits one */
	uint64_t sync_gaps, launch_gaps, alloc_gaps, host_gaps; /* gaps with some of that in them */

	uint64_t kernel_count; /* all kernels, collectives and graph rows among them */
	int64_t kernel_total_ns, kernel_union_ns;
	uint64_t collective_count;
	int64_t collective_total_ns, collective_union_ns;
	int64_t collective_overlap_ns; /* collective while another kernel computes */
	int64_t collective_exposed_ns; /* collective union less that */
	int64_t copy_total_ns, copy_union_ns;
	uint64_t copy_count;
	uint64_t memset_count, memset_bytes, memset_unknown_bytes;
	int64_t memset_total_ns, memset_union_ns;
	uint64_t small_h2d_count; /* h2d copies under 4096 bytes */
	uint64_t graph_count;

	uint32_t stream_count, max_concurrency;
	double mean_concurrency; /* sum of durations over busy; NAN when never busy */

	/* Utilisations, of the known part of the span; NAN where unknown. */
	double busy_ratio;
	double sm_weighted_ratio;	/* blocks resident against what the device holds, over the span;
					   kernels of unknown grid count nothing */
	double sm_weighted_known_ratio; /* share of kernel time whose grid is known */
	double roofline_ratio;		/* that of struct kwhy_roofline_sum, of a device that did work */

	struct kwhy_copy_sum *copies;
	size_t copy_sum_count;
	struct kwhy_copy_class_sum *copy_classes;
	size_t copy_class_count;
};

/* Of the run, without what kwhy probe took of it. */
static inline int64_t kwhy_run_ns(const struct kwhy_device_time *time)
{
	return time->span_ns - time->probing_ns;
}

/* Whether it did anything that was recorded. */
static inline bool kwhy_device_was_active(const struct kwhy_device_time *time)
{
	return time->kernel_count || time->copy_count || time->memset_count;
}

enum kwhy_basis {
	KWHY_BASIS_DATA,     /* the meter readings decide the figure */
	KWHY_BASIS_LEARNT,   /* another recording taught it (--powers), and the readings hardly moved it */
	KWHY_BASIS_ASSUMED,  /* the readings hardly moved it from what was assumed */
	KWHY_BASIS_GROUPED,  /* only the sum of its group is known */
	KWHY_BASIS_MODELLED, /* no meter at all: powers were assumed by the user */
	KWHY_BASIS_NONE,     /* no energy known */
	KWHY_BASIS_COUNT
};

const char *kwhy_basis_name(enum kwhy_basis basis);

/*
 * One row of the ledger. Energies are KWHY_UNKNOWN_NJ without power data. gross = idle + net;
 * idle: what the device would have drawn with its context alone over the account's share of time, or without
 * one where it had none.
 */
struct kwhy_account {
	uint32_t category; /* enum kwhy_category */
	const char *name;  /* kernel; "h2d pageable->device 4-8 KB"; for idle: "idle: host in synchronize" */
	uint64_t count;	   /* activities or gaps */
	uint64_t bytes;	   /* copies and memsets that say; else 0 */
	int64_t time_ns;   /* sum of durations */
	int64_t gross_nj, idle_nj, net_nj;
	int64_t low_nj, high_nj; /* 90 % interval of gross_nj */
	int64_t mean_power_mw;	 /* gross over what of the time was metered; -1: unknown */
	uint32_t basis;		 /* enum kwhy_basis */
	uint32_t group;		 /* index into groups; KWHY_NONE: in none */
	uint32_t power_class;	 /* index into classes: accounts of one class share one power */
	bool is_probing_idle;	 /* probing, while nothing ran */
	bool is_clean;		 /* outside, at the idle level without a context (clean stretches) */
	/* At the low end of its interval, the mean power is ... */
	bool above_samples; /* above the highest sample: averaged away by the meter */
	bool above_limit;   /* above the enforced limit (short turns may) */
	/* Where random windows stand for the whole run: estimates of it. Else nothing. */
	bool has_whole;
	int64_t whole_ns; /* KWHY_UNKNOWN_NS */
	int64_t whole_nj, whole_low_nj,
		whole_high_nj;	  /* 90 % of windows drawn again, and of gross_nj's own */
	double whole_error_ratio; /* half of that of the windows alone, as a share of the whole energy, or of
				     the time where no energy is known; NAN */
};

/* An interval in which everything that ran is known, and for each reason to idle how long the device did. */
struct kwhy_covered_window {
	int64_t start_ns, end_ns;
	int64_t idle_ns[KWHY_CATEGORY_OUTSIDE - KWHY_CATEGORY_SYNC + 1];
};

struct kwhy_unrecorded_interval {
	int64_t start_ns, end_ns;
};

/*
 * Time before the first or after the last activity in which a device had no context, as its power samples
 * show: they lie at another, lower level than next to the activities (ledger/energy/clean_idle.h).
 */
struct kwhy_clean_stretch {
	int64_t start_ns, end_ns;
};

enum { KWHY_CLEAN_STRETCHES_MAX = 2 }; /* one before, one after */

/* Such time in which it had not become idle: it drew more than with a context. */
struct kwhy_elevated_idle {
	int64_t start_ns, end_ns;
	double power_w; /* mean of its samples */
};

/* What is known of a device's run, and how well known windows stand for it. */
struct kwhy_coverage_sum {
	uint32_t choice;			/* enum kwhy_choice */
	int64_t start_ns, end_ns;		/* books are kept of all in between */
	int64_t known_ns;			/* of that */
	int64_t select_start_ns, select_end_ns; /* where windows could lie; both 0: nothing was left out */
	size_t drawn_count;			/* windows in there, and the time that they hold */
	int64_t drawn_ns;
	double share_error_ratio; /* largest whole_error_ratio of an account; NAN: windows do not tell */
	struct kwhy_covered_window *windows;
	size_t window_count;
	struct kwhy_unrecorded_interval *unrecorded; /* between the windows, in order */
	size_t unrecorded_count;
	bool is_in_windows; /* some of that was not recorded; else a probe was at work in all of it */
};

/* Accounts that the readings cannot distinguish: only the sum is known. */
struct kwhy_account_group {
	uint32_t *members; /* account indexes */
	size_t member_count;
	int64_t gross_nj, low_nj, high_nj;
};

/* Accounts that share a power. power_w: mean of the posterior, gross, alone on the device. */
struct kwhy_power_class {
	double power_w, low_w, high_w;
	double prior_power_w;
	bool is_learnt; /* that prior is what another recording taught */
};

/*
 * Energy of one device. measured = attributed, exactly = sum of accounts' gross.
 * clean_idle + context_idle + net = measured: layers over the whole metered window (clean idle level,
 * what a live context draws above it while there is one, what the work drew above that).
 */
struct kwhy_device_energy {
	bool known;	    /* a meter's or modelled energy is there */
	bool modelled;	    /* powers assumed by the user, no meter */
	const char *source; /* "nvml.energy_mj", "nvml.sample_mw", ... "modelled"; NULL when not known */
	int64_t start_ns, end_ns; /* of the metered window */
	int64_t metered_ns;	  /* of that, what readings tell of; of assumed powers what was recorded */
	int64_t measured_nj, attributed_nj;
	double sampling_ratio; /* half of the 90 % interval of measured_nj over it: what came and went between
				  readings of a power, what is not known of the recording's ends, and of
				  means what they leave open; the accounts' intervals have it */
	int64_t clean_idle_nj; /* KWHY_UNKNOWN_NJ where the clean level is unknown; then context_idle holds
				  both */
	int64_t context_idle_nj, execution_idle_nj, net_nj;
	int64_t edge_nj; /* of the run, what no reading saw: its accounts' time there times their mean power,
			    work and idling; not in measured */
	int64_t edge_ns; /* how long no reading saw the run; 0 where nothing is metered */
	int64_t between_nj; /* metered of the run's time that was not recorded: without what of that account
			       lies before the first start or after the last end */
	int64_t between_ns; /* how long that is; 0: no reading was in such time */
	double clean_idle_w, context_idle_w; /* levels used; NAN unknown */
	bool clean_idle_measured,	     /* from clean stretches of this recording */
		context_idle_measured;	     /* from quiet ones, not from a profile */
	double expected_wrong_ratio;	     /* expected share of energy on the wrong account; NAN unknown */
	double counter_check_ratio; /* rms of (model from samples / counter tick) - 1; NAN: cannot tell */
	double highest_sample_w;    /* NAN: none */
	double time_constant_s, delay_s; /* posterior means of the meter response; NAN: none used */
	size_t reading_count;		 /* readings used for the powers */
};

/* Ratio of metered to modelled energy by interval: energy of any stretch = model power x scale. */
struct kwhy_energy_curve {
	int64_t *edge_ns; /* [count + 1] */
	double *scale;	  /* [count]; NAN: no reading saw it */
	size_t count;
	double unmetered_scale; /* of time in no piece: what was estimated of the run's over what is modelled
				 */
};

/*
 * Modelled power of a device over time: mean over the known part of [time_ns[i], time_ns[i + 1]), -1 where
 * there is none; the last value closes.
 */
struct kwhy_power_curve {
	int64_t *time_ns;
	int64_t *power_mw;
	size_t count; /* 0: no energy is known */
};

/* Whether a window lies where windows could lie, and not after it, where all is known. */
static inline bool kwhy_window_is_drawn(
	const struct kwhy_coverage_sum *coverage, const struct kwhy_covered_window *window)
{
	return window->start_ns >= coverage->select_start_ns && window->end_ns <= coverage->select_end_ns;
}

/*
 * The account as it is reported: where no reading saw any of it no energy of it is known, though the ledger,
 * which add up to what was metered, have 0.
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

/* What an idle device waited for, as far as host ranges tell. */
enum kwhy_host_wait_reason {
	KWHY_HOST_WAIT_RANGE,	 /* the host was in a range */
	KWHY_HOST_WAIT_OUTSIDE,	 /* ... in none */
	KWHY_HOST_WAIT_LAUNCHED, /* the work had been launched and had not begun */
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
	uint32_t name;	     /* 0: steps, all together, outside of ranges in them */
	uint32_t file, line; /* where the user's code had got there; 0: unknown */
	uint64_t gaps;	     /* with some of that in them */
	int64_t time_ns;
	int64_t longest_ns; /* in one gap */
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
 * All ranges of one name and kind, or one step. A range gets the device work that its own thread launched
 * inside it, a step that of its whole process, a range of no known thread that of all; nested ranges each
 * get the work. The window is the range itself, on every device its process has streams on.
 */
struct kwhy_range_sum {
	uint32_t name;
	uint32_t kind;
	uint64_t count;
	int64_t host_ns;	 /* sum of lengths */
	int64_t start_ns;	 /* of the first */
	uint64_t activity_count; /* launched inside; 0 is a count, see `linked` */
	bool linked;		 /* activities could be linked to calls */
	int64_t device_ns;	 /* sum of durations of those */
	int64_t busy_ns;   /* union of device activity inside the range's window, summed over all devices of
			      its process */
	int64_t energy_nj; /* of the activities launched inside; KWHY_UNKNOWN_NJ */
	int64_t window_energy_nj; /* all of the device's energy inside the window, idle included;
				     KWHY_UNKNOWN_NJ */
	/* Means over the devices; NAN unknown, as the second is where kernels of unknown grid ran for more
	   than a tenth of the busy time. */
	double busy_ratio, sm_weighted_ratio;
};

/*
 * All steps together: of each process from the start of its first to the end of its last, or of the work
 * launched meanwhile where that ends later. Shared by the steps this is what one takes with what it queues.
 */
struct kwhy_loop_sum {
	int64_t start_ns, end_ns; /* earliest and latest */
	int64_t time_ns;	  /* sum over processes */
	int64_t energy_nj;	  /* of all devices of each, idle included; KWHY_UNKNOWN_NJ */
};

/* Devices with work side by side; imbalance is the spread of a column. */
struct kwhy_rank_sum {
	uint32_t rank;
	uint32_t device;
	int64_t span_ns, busy_ns;
	int64_t compute_ns; /* union of kernels that are no collectives, overlapped or not */
	int64_t collective_exposed_ns;
	int64_t energy_nj; /* measured, else modelled; KWHY_UNKNOWN_NJ */
};

struct kwhy_stream_sum {
	uint32_t stream;
	uint64_t count;
	int64_t busy_ns, total_ns;
	int64_t alone_ns; /* busy while no other stream of the device was */
};

struct kwhy_memory_sum {
	uint32_t device;
	uint64_t peak_allocated_bytes, peak_reserved_bytes, device_bytes; /* KWHY_UNKNOWN_BYTES */
	uint64_t unused_bytes; /* device less peak reserved (or allocated); KWHY_UNKNOWN_BYTES */
	size_t point_count;
	/* How often the processes held more than before, and less, and how much more in all. */
	uint64_t taken_count, given_back_count, taken_bytes;
};

struct kwhy_host_energy {
	const char *source; /* "rapl.package-0_uj" */
	const char *host;   /* where meters of several machines are in the recording; NULL: not, or unknown */
	uint32_t machine;   /* index into the recording's machines; KWHY_NONE: unknown */
	int64_t start_ns, end_ns;
	int64_t measured_nj;
};

/*
 * What the measuring itself took of a run. Kinds of cost come first, with their own numbers: processor time,
 * whose joules are modelled where RAPL's and all CPUs' busy time are known (of the packages' energy as much
 * as of that time), or time that the program waited, of which no joules are known.
 */
enum kwhy_overhead_kind {
	KWHY_OVERHEAD_PROFILER = KWHY_COST_KIND_COUNT, /* taken from threads of the program, as the profiler
							  says itself */
	KWHY_OVERHEAD_DEVICE, /* a device idled meanwhile: modelled, at its idle level */
	KWHY_OVERHEAD_KIND_COUNT
};

/* "thread", "buffers", ... "sampler", "profiler", "device_idle". */
const char *kwhy_overhead_kind_name(uint32_t kind);

struct kwhy_overhead_sum {
	uint32_t kind;	 /* enum kwhy_overhead_kind */
	uint32_t device; /* KWHY_NONE: of the host */
	uint64_t count;	 /* how often; 0: not counted */
	int64_t time_ns;
	int64_t energy_nj; /* KWHY_UNKNOWN_NJ */
};

/*
 * The least time of the work that was stated, shared by all devices that did some, at the peaks of the
 * machine profile: of "flop_fp32", "flop_bf16", ... those of arithmetic, of "bytes" that of the device's
 * memory. Stated work is of the whole run, so what it took is the span of the device that runs longest, known
 * or not.
 */
struct kwhy_roofline_sum {
	double arithmetic_s, memory_s; /* NAN: none stated, or `ratio` is unknown */
	double ratio;		       /* the larger over what the run took; at most 1.02; NAN unknown */
};

struct kwhy_ledger {
	struct kwhy_arena arena;
	size_t device_count;
	struct kwhy_device_ledger *devices; /* as in the recording */
	struct kwhy_api_sum *api;	    /* by total_ns, descending */
	struct kwhy_range_sum *ranges, *steps;
	struct kwhy_loop_sum loop; /* of the steps; nothing without any */
	struct kwhy_rank_sum *ranks;
	struct kwhy_stream_sum *streams;
	struct kwhy_memory_sum *memory;
	struct kwhy_host_energy *hosts;
	struct kwhy_overhead_sum *overheads;
	struct kwhy_roofline_sum roofline;
	size_t api_count, range_count, step_count, rank_count, stream_count, memory_count, host_count,
		overhead_count;
	struct kwhy_note *notes; /* what the ledger has to say beside its figures */
	size_t note_count;
};

/*
 * Energy of one activity row, from its account's power and the metered scale at its time; NAN when unknown.
 * Concurrent work is not shared out here: use accounts for sums that must balance.
 */
double kwhy_ledger_activity_nj(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, size_t activity);

/* The piece of the curve that holds time_ns; its count where none does. */
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

/* True when some of [start_ns, end_ns) is hidden: between the windows in which it is known what ran. */
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
